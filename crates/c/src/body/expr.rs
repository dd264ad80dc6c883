//! Expressions.

use super::{Body, Pending, rare, real};
use crate::scopes::for_each_operand;
use crate::text::{Expr, Level, int, real as constant};
use wengert_ir::op::Compare;
use wengert_native::loops::{Int, Kind, Local, Operand, Round, Value, Word};
use wengert_prim::RealOp;

impl Body<'_, '_> {
    /// A variable, or the value that waits under its name.
    pub(super) fn local(&mut self, local: Local) -> Expr {
        match self.pending.iter().position(|pending| pending.local == local) {
            Some(place) => self.pending.remove(place).expr,
            None => Expr::primary(self.name(local)),
        }
    }

    /// An operand as it is.
    pub(super) fn operand(&mut self, operand: Operand) -> Expr {
        match operand {
            Operand::Local(local) => self.local(local),
            Operand::Real(x) => constant(x),
            Operand::Int(n) => int(n),
            Operand::Text(number) => {
                Expr { text: format!("(ref)&{}", self.unit.text(number)), level: Level::Unary }
            }
        }
    }

    fn word_of(&self, operand: Operand) -> Word {
        match operand {
            Operand::Local(local) => self.word(local),
            Operand::Real(_) => Word::Real,
            Operand::Int(_) => Word::Int,
            Operand::Text(_) => Word::Ref,
        }
    }

    pub(super) fn is_real(&self, operand: Operand) -> bool {
        self.word_of(operand) == Word::Real
    }

    /// An operand as an integer.
    pub(super) fn integer(&mut self, operand: Operand) -> Expr {
        let word = self.word_of(operand);
        let expr = self.operand(operand);
        match word {
            Word::Int => expr,
            Word::Real => Expr::call("wg_word_of", &[expr]),
            Word::Ref | Word::Address => Expr::unary("(word)", &expr),
        }
    }

    /// An operand as a real.
    pub(super) fn number(&mut self, operand: Operand) -> Expr {
        match (self.word_of(operand), operand) {
            (Word::Real, operand) => self.operand(operand),
            (_, Operand::Int(0)) => constant(0.0),
            (_, operand) => {
                let bits = self.integer(operand);
                Expr::call("wg_of_bits", &[bits])
            }
        }
    }

    /// An operand as a reference.
    pub(super) fn reference(&mut self, operand: Operand) -> Expr {
        match self.word_of(operand) {
            Word::Ref => self.operand(operand),
            Word::Int | Word::Address | Word::Real => {
                let expr = self.integer(operand);
                Expr::unary("(ref)", &expr)
            }
        }
    }

    /// An operand as an address of reals or of other words.
    pub(super) fn address(&mut self, operand: Operand, reals: bool) -> Expr {
        let is_reals = |this: &Self, local| this.pointers.at_reals(this.id, local);
        match operand {
            Operand::Local(local) if self.word(local) == Word::Address => {
                let already = is_reals(self, local);
                let expr = self.local(local);
                match (already, reals) {
                    (true, true) | (false, false) => expr,
                    (true, false) => Expr::unary("(word *)", &expr),
                    (false, true) => Expr::unary("(double *)", &expr),
                }
            }
            Operand::Local(_) | Operand::Real(_) | Operand::Int(_) | Operand::Text(_) => {
                let expr = self.reference(operand);
                if reals { Expr::call("wg_reals", &[expr]) } else { expr }
            }
        }
    }

    /// An operand for a parameter of this kind; without one it is given as it is.
    pub(super) fn argument(&mut self, operand: Operand, param: Option<(Word, bool)>) -> Expr {
        match param {
            None => self.operand(operand),
            Some((Word::Real, _)) => self.number(operand),
            Some((Word::Int, _)) => self.integer(operand),
            Some((Word::Ref, _)) => self.reference(operand),
            Some((Word::Address, reals)) => self.address(operand, reals),
        }
    }

    /// An operand that is stored.
    pub(super) fn stored(&mut self, operand: Operand) -> Expr {
        if self.is_real(operand) { self.operand(operand) } else { self.integer(operand) }
    }

    /// The word at `base + 8·(index + offset)`.
    pub(super) fn element(&mut self, base: Operand, index: Operand, offset: i32, real: bool) -> Expr {
        if let Some(cell) = self.cell(base, index, offset) {
            return cell;
        }
        let base = self.address(base, real);
        let place = self.place(index, offset);
        Expr::primary(format!("{}[{}]", base.at(Level::Primary), place.text))
    }

    /// `index + offset`
    fn place(&mut self, index: Operand, offset: i32) -> Expr {
        if let Some(place) = self.masked(index, offset) {
            return place;
        }
        match (index, offset) {
            (Operand::Int(n), offset) => int(n + i64::from(offset)),
            (index, 0) => self.integer(index),
            (index, offset) => {
                let index = self.integer(index);
                if index.text == "0" {
                    return int(i64::from(offset));
                }
                let (sign, size) = if offset < 0 { ("-", -offset) } else { ("+", offset) };
                Expr::binary(Level::Sum, sign, &index, &int(i64::from(size)))
            }
        }
    }

    /// A value for a variable, and what it is made of.
    pub(super) fn value(&mut self, local: Local, value: &Value) -> Pending {
        let mut changing = Vec::new();
        let mut reads = matches!(value, Value::Load { .. } | Value::Tag(..) | Value::Unique(..));
        for_each_operand(value, &mut |operand| {
            let Operand::Local(used) = operand else { return };
            match self.pending.iter().find(|pending| pending.local == *used) {
                Some(pending) => {
                    reads |= pending.reads;
                    changing.extend(&pending.changing);
                }
                None if !self.assigned_once(*used) => changing.push(*used),
                None => {}
            }
        });
        let mut product = None;
        let fast = self.unit.fast;
        let is_product = |op: RealOp| op == RealOp::Mul || op == RealOp::MulZero && self.plain;
        let expr = if let (true, Value::Real(op, args)) = (fast, value)
            && is_product(*op)
        {
            let factors: Vec<Expr> = args.iter().map(|arg| self.number(*arg)).collect();
            if let [a, b] = factors.as_slice() {
                product = Some((a.clone(), b.clone()));
            }
            real::apply(self.unit, RealOp::Mul, &factors)
        } else if let (true, Value::Real(RealOp::Neg, args)) = (fast, value) {
            // Less a product is a product.
            product = args.first().and_then(|arg| self.product(*arg)).map(|(a, b)| (Expr::unary("-", &a), b));
            self.expr(local, value)
        } else if let (true, Value::Real(op @ (RealOp::Add | RealOp::Sub), args)) = (fast, value) {
            self.fused(*op, args).unwrap_or_else(|| self.expr(local, value))
        } else {
            self.expr(local, value)
        };
        Pending { local, expr, reads, changing, depth: self.depth, product }
    }

    /// The factors of a product that waits.
    fn product(&self, operand: Operand) -> Option<(Expr, Expr)> {
        let Operand::Local(local) = operand else { return None };
        self.pending.iter().find(|pending| pending.local == local)?.product.clone()
    }

    /// A sum of a product and something, which is rounded once.
    fn fused(&mut self, op: RealOp, args: &[Operand]) -> Option<Expr> {
        let [left, right] = *args else { return None };
        let (of_left, of_right) = (self.product(left), self.product(right));
        let minus = |x: &Expr| Expr::unary("-", x);
        if [left, right].iter().any(|operand| self.is_summed(*operand)) {
            return None;
        }
        // Of two products the one that changes is taken: the other one may be made before the loop.
        let changes = |this: &Self, operand: Operand| {
            let is = |pending: &&Pending| operand == Operand::Local(pending.local);
            this.pending.iter().find(is).is_some_and(|pending| !pending.changing.is_empty())
        };
        let left_changes = of_left.is_some() && changes(self, left) && !changes(self, right);
        let (a, b, rest) = match (of_left, of_right) {
            (_, Some((a, b))) if !left_changes => {
                self.number(right);
                let a = if op == RealOp::Sub { minus(&a) } else { a };
                (a, b, self.number(left))
            }
            (Some((a, b)), _) => {
                self.number(left);
                let rest = self.number(right);
                (a, b, if op == RealOp::Sub { minus(&rest) } else { rest })
            }
            (None, _) => return None,
        };
        Some(Expr::call("wg_fma", &[a, b, rest]))
    }

    fn expr(&mut self, local: Local, value: &Value) -> Expr {
        match value {
            Value::Copy(x) => self.copied(local, *x),
            Value::Real(op, args) => {
                let over = self.reciprocal(value);
                let op = if self.plain && *op == RealOp::MulZero {
                    &RealOp::Mul
                } else if self.plain && *op == RealOp::DivZero {
                    &RealOp::Div
                } else {
                    op
                };
                let args: Vec<Expr> = args.iter().map(|arg| self.number(*arg)).collect();
                match args.as_slice() {
                    [arg, _] if over.is_some() && self.plain => {
                        Expr::binary(Level::Product, "*", arg, &Expr::primary(over.unwrap_or_default()))
                    }
                    [arg, _] if over.is_some() => {
                        let name = if self.unit.in_vectors { "wg_each_times_over" } else { "wg_times_over" };
                        Expr::call(name, &[arg.clone(), Expr::primary(over.unwrap_or_default())])
                    }
                    [arg] if self.rare.is_some() && rare::has_rare_arguments(*op) => self.main_path(*op, arg),
                    args => real::apply(self.unit, *op, args),
                }
            }
            Value::Int(op, a, b) => self.arithmetic(*op, *a, *b),
            Value::CompareReal(compare, a, b) => {
                let (a, b) = (self.number(*a), self.number(*b));
                comparison(*compare, &a, &b)
            }
            Value::CompareInt(compare, a, b) => {
                let (a, b) = (self.integer(*a), self.integer(*b));
                comparison(*compare, &a, &b)
            }
            Value::OutOfRange(index, size) => {
                let (index, size) = (self.integer(*index), self.integer(*size));
                Expr::call("wg_outside", &[index, size])
            }
            Value::Select(cond, then, otherwise) => {
                if let Some(slope) = self.slope(local, *cond, [*then, *otherwise]) {
                    return slope;
                }
                self.read_before(&[*then, *otherwise]);
                let cond = self.integer(*cond);
                let (then, otherwise) = (self.copied(local, *then), self.copied(local, *otherwise));
                let [then, otherwise] =
                    if self.word(local) == Word::Int { unfolded(then, otherwise) } else { [then, otherwise] };
                Expr::conditional(&cond, &then, &otherwise)
            }
            Value::IntToReal(x) => {
                let x = self.integer(*x);
                if self.unit.in_vectors {
                    Expr::call("wg_each_real", &[x])
                } else {
                    Expr::unary("(double)", &x)
                }
            }
            Value::RealToInt(x) => {
                // GCC makes `trunc(x)` of `(double)(word)x`, which is -0 where the integer is 0: nothing that is added to 0 is -0.
                let x = self.number(*x);
                self.tried_integer(&x).unwrap_or_else(|| {
                    Expr::unary("(word)", &Expr::binary(Level::Sum, "+", &x, &Expr::primary("0.0")))
                })
            }
            Value::Round(round, x) => {
                let name = match round {
                    Round::Floor => "floor",
                    Round::Ceil => "ceil",
                    Round::Truncate => "trunc",
                    Round::Nearest => "wg_nearest",
                };
                let x = self.number(*x);
                Expr::call(name, &[x])
            }
            Value::Bits(x) => {
                let x = self.number(*x);
                Expr::call("wg_word_of", &[x])
            }
            Value::Load { base, index, offset } => self.load(local, *base, *index, *offset),
            Value::Address { base, index, offset } => {
                let reals = self.pointers.at_reals(self.id, local);
                let base = self.address(*base, reals);
                let place = self.place(*index, *offset);
                if place.text == "0" { base } else { Expr::binary(Level::Sum, "+", &base, &place) }
            }
            Value::Tag(object, is_object) => {
                let object = self.reference(*object);
                Expr::call(if *is_object { "wg_constructor" } else { "wg_tag" }, &[object])
            }
            Value::Unique(object, kind) => {
                let object = self.reference(*object);
                let data = if matches!(kind, Kind::Data(_)) { "_data" } else { "" };
                let shared = if self.func.shared { "_shared" } else { "" };
                Expr::call(&format!("wg_unique{data}{shared}"), &[object])
            }
            Value::Alloc(words, site, ctor) => {
                let words = self.integer(*words);
                let (run, site) = (Expr::primary("r"), Expr::primary(site.to_string()));
                let far = self.far();
                match ctor {
                    None => Expr::call(&format!("wg_alloc{far}"), &[run, words, site]),
                    Some(ctor) => {
                        let ctor = Expr::primary(ctor.to_string());
                        Expr::call(&format!("wg_make{far}"), &[run, words, ctor, site])
                    }
                }
            }
        }
    }

    /// Writes down what is read from memory for these operands. Both operands of a choice are there whatever is chosen; what C reads only
    /// if it is chosen, compilers read with a mask in vectors. GCC before 11.5, 12.4 and 13.3 mixes masks up where it
    /// puts elements of several iterations beside each other (its bug 114375). Where choices are flat, those among them, too.
    fn read_before(&mut self, operands: &[Operand]) {
        let is_choice = |operand: &&Operand| {
            let value = operand.local().and_then(|local| self.values.get(&local));
            self.flat && matches!(value, Some(Value::Select(..)))
        };
        let choices: Vec<Operand> = operands.iter().filter(is_choice).copied().collect();
        self.flush(|pending| {
            let operand = Operand::Local(pending.local);
            pending.reads && operands.contains(&operand) || choices.contains(&operand)
        });
    }

    /// An operand for a variable that may be of another type.
    pub(super) fn copied(&mut self, local: Local, operand: Operand) -> Expr {
        let reals = self.pointers.at_reals(self.id, local);
        self.argument(operand, Some((self.word(local), reals)))
    }

    fn load(&mut self, local: Local, base: Operand, index: Operand, offset: i32) -> Expr {
        match self.word(local) {
            Word::Real => self.element(base, index, offset, true),
            Word::Int => self.element(base, index, offset, false),
            Word::Ref => {
                let element = self.element(base, index, offset, false);
                Expr::unary("(ref)", &element)
            }
            Word::Address => {
                let element = self.element(base, index, offset, false);
                let pointer = self.declarator(local).trim_end();
                Expr::unary(&format!("({pointer})"), &element)
            }
        }
    }

    fn arithmetic(&mut self, op: Int, a: Operand, b: Operand) -> Expr {
        let known = matches!(b, Operand::Int(n) if n != -1);
        let zero = a == Operand::Int(0);
        let both = matches!((a, b), (Operand::Int(_), Operand::Int(_)));
        let (a, b) = (self.integer(a), self.integer(b));
        // Small constants are 32-bit integers in C.
        let a = if both { Expr::unary("(word)", &a) } else { a };
        match op {
            Int::Mul if a.text == "0" || b.text == "0" => int(0),
            Int::Add if a.text == "0" => b,
            Int::Add | Int::Sub if b.text == "0" => a,
            Int::Add => Expr::binary(Level::Sum, "+", &a, &b),
            Int::Sub if zero => Expr::unary("-", &b),
            Int::Sub => Expr::binary(Level::Sum, "-", &a, &b),
            Int::Mul => Expr::binary(Level::Product, "*", &a, &b),
            Int::Div if known => Expr::binary(Level::Product, "/", &a, &b),
            Int::Rem if known => Expr::binary(Level::Product, "%", &a, &b),
            Int::Div => Expr::call("wg_div", &[a, b]),
            Int::Rem => Expr::call("wg_rem", &[a, b]),
            Int::And => Expr::binary(Level::And, "&", &a, &b),
            Int::Or => Expr::binary(Level::Or, "|", &a, &b),
            Int::Xor => Expr::binary(Level::Xor, "^", &a, &b),
            Int::ShiftLeft | Int::ShiftRight => {
                let sign = if op == Int::ShiftLeft { "<<" } else { ">>" };
                let bits = Expr::binary(Level::Shift, sign, &Expr::unary("(uint64_t)", &a), &b);
                Expr::unary("(word)", &bits)
            }
            Int::Min => Expr::call("wg_min_int", &[a, b]),
            Int::Max => Expr::call("wg_max_int", &[a, b]),
        }
    }
}

fn comparison(compare: Compare, a: &Expr, b: &Expr) -> Expr {
    let level = match compare {
        Compare::Eq | Compare::Ne => Level::Equality,
        Compare::Lt | Compare::Le | Compare::Gt | Compare::Ge => Level::Relation,
    };
    Expr::binary(level, compare.symbol(), a, b)
}

/// Integers to choose from. GCC takes `(x < 0 ? -x : x) < 2` for false where `x` is the smallest integer, though it is told that integers wrap; not so if
/// it does not see at once that one is the other's negation.
fn unfolded(then: Expr, otherwise: Expr) -> [Expr; 2] {
    let negates = |a: &Expr, b: &Expr| a.text == Expr::unary("-", b).text;
    let negated = |x: &Expr| Expr::call("wg_negated", std::slice::from_ref(x));
    if negates(&then, &otherwise) {
        [negated(&otherwise), otherwise]
    } else if negates(&otherwise, &then) {
        let other = negated(&then);
        [then, other]
    } else {
        [then, otherwise]
    }
}
