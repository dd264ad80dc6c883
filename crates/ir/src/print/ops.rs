//! Operations without blocks, and the operands in them, which may be expressions of their own.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not written with a symbol is a call")]

use super::FuncPrinter;
use super::shapes::Shape;
use crate::op::{ArrayOp, Atom, Compare, Custom, IntOp, Lie, Op, Rule, TextOp};
use crate::program::{FuncId, LinearId};
use crate::ty::Ty;
use crate::visit::deep;
use crate::words;
use wengert_base::real;
use wengert_prim::RealOp;

/// How strongly names, literals and calls hold together.
const CALL: u8 = 9;
/// Powers.
const POWER: u8 = 6;
/// Products and quotients, and `-x`.
const PRODUCT: u8 = 5;
/// Sums and differences.
const SUM: u8 = 4;
/// Comparisons, and what has another symbol.
const COMPARISON: u8 = 3;
/// `c && d`.
const AND: u8 = 2;
/// `c || d`.
const OR: u8 = 1;

/// How strongly an operator binds.
fn level(symbol: &str) -> u8 {
    match symbol {
        "^" | "**" => POWER,
        "*" | "/" | "%" => PRODUCT,
        "+" | "-" | "++" => SUM,
        "&&" => AND,
        "||" => OR,
        _ => COMPARISON,
    }
}

fn is_negation(op: &Op) -> bool {
    matches!(op, Op::Real(RealOp::Neg, _) | Op::Int(IntOp::Neg, _))
}

/// A literal without its minus, if it has one.
fn less_minus(atom: &Atom) -> Option<Atom> {
    match atom {
        Atom::Real(x) if x.is_sign_negative() && !x.is_nan() => Some(Atom::Real(-x)),
        Atom::Int(n) if *n < 0 => n.checked_neg().map(Atom::Int),
        _ => None,
    }
}

/// How strongly the text of an operation holds together, if it is shown as it is computed.
fn plain_strength(op: &Op) -> u8 {
    match op {
        Op::Real(RealOp::Neg, _) | Op::Int(IntOp::Neg, _) => PRODUCT,
        Op::Real(RealOp::PowInt(_), _) | Op::Power { base: _, exponent: Atom::Var(_) } => POWER,
        Op::Real(op, _) if !words::is_named(*op) => level(op.name()),
        Op::Int(op, _) => match words::int(*op) {
            (symbol, true) => level(symbol),
            (_, false) => CALL,
        },
        Op::Compare(..) => COMPARISON,
        Op::Text(TextOp::Append, _) | Op::Array(ArrayOp::Add | ArrayOp::AddProduct(_), _) => SUM,
        Op::Array(ArrayOp::Set | ArrayOp::AddAt, _) => 0,
        _ => CALL,
    }
}

impl<'a> FuncPrinter<'a> {
    /// How strongly the text of an operation holds together.
    fn strength(&self, op: &Op) -> u8 {
        match self.shapes.of(op) {
            Some(Shape::Twice(_)) => PRODUCT,
            Some(Shape::Or(..)) => OR,
            Some(Shape::And(..)) => AND,
            Some(Shape::Bracket(..)) => CALL,
            None => plain_strength(op),
        }
    }

    /// An operand that stands by itself, between commas or words.
    pub(super) fn whole(&self, atom: &Atom) -> String {
        match self.place(atom) {
            Some(op) => deep(|| self.flat(op)),
            None => self.leaf(atom),
        }
    }

    /// An operand beside other words: in parentheses unless it is a name, a literal or a call.
    pub(super) fn atom(&self, atom: &Atom) -> String {
        self.within(atom, CALL)
    }

    /// An operand in parentheses, if it binds less than this.
    fn within(&self, atom: &Atom, least: u8) -> String {
        let text = self.whole(atom);
        let bare = self.place(atom).is_none_or(|op| self.strength(op) >= least);
        if bare { text } else { format!("({text})") }
    }

    fn place(&self, atom: &Atom) -> Option<&'a Op> {
        atom.var().and_then(|var| self.places.get(&var).copied())
    }

    fn leaf(&self, atom: &Atom) -> String {
        match atom {
            Atom::Var(var) => self.var(*var).to_owned(),
            Atom::Real(x) => real::show(*x),
            Atom::Int(n) => n.to_string(),
            Atom::Bool(truth) => truth.to_string(),
            Atom::Text(text) => format!("\"{}\"", words::escaped(text, '"')),
            Atom::Unit => "()".into(),
        }
    }

    pub(super) fn atoms(&self, atoms: &[Atom]) -> String {
        let shown: Vec<String> = atoms.iter().map(|atom| self.whole(atom)).collect();
        shown.join(", ")
    }

    fn infix(&self, symbol: &str, args: &[Atom]) -> String {
        match args {
            [x, y] => {
                let level = level(symbol);
                if let Some(difference) = self.difference(symbol, x, y) {
                    return difference;
                }
                let left = self.within(x, if level == POWER { CALL } else { level });
                let minus = self.place(y).is_some_and(is_negation);
                format!("{left} {symbol} {}", self.within(y, if minus { CALL } else { level + 1 }))
            }
            other => format!("({symbol})({})", self.atoms(other)),
        }
    }

    /// A sum with the negative of something, which is a difference to the last bit: `x + (-y)`, `x + -1.0`, `x + y * -2.0`.
    fn difference(&self, symbol: &str, x: &Atom, y: &Atom) -> Option<String> {
        let plus = match symbol {
            _ if !self.in_place => return None,
            "+" => " - ",
            "-" => " + ",
            _ => return None,
        };
        // Without the minus.
        let rest = |y: &Atom| match (less_minus(y), self.place(y)) {
            (Some(number), _) => Some(self.whole(&number)),
            (None, Some(Op::Real(RealOp::Neg, args))) if symbol == "+" => {
                args.first().filter(|x| x.var().is_some()).map(|negated| self.within(negated, SUM + 1))
            }
            (None, Some(Op::Real(RealOp::Mul, args))) => match args.as_slice() {
                [number, z] | [z, number] if less_minus(number).is_some() => {
                    less_minus(number).map(|number| self.product(&number, z))
                }
                _ => None,
            },
            _ => None,
        };
        if let Some(rest) = rest(y) {
            return Some(format!("{}{plus}{rest}", self.within(x, SUM)));
        }
        let rest = rest(x).filter(|_| symbol == "+" && y.var().is_some())?;
        Some(format!("{} - {rest}", self.within(y, SUM)))
    }

    /// A number times something else, as people write it.
    fn product(&self, number: &Atom, other: &Atom) -> String {
        format!("{} * {}", self.whole(number), self.within(other, PRODUCT + 1))
    }

    fn call(&self, word: &str, args: &[Atom]) -> String {
        format!("{word}({})", self.atoms(args))
    }

    /// `-x`; a literal keeps the word, for `-1.0` is a number.
    fn negated(&self, args: &[Atom]) -> String {
        match args {
            [x @ Atom::Var(_)] => format!("-{}", self.atom(x)),
            other => self.call("negate", other),
        }
    }

    fn real(&self, op: RealOp, args: &[Atom]) -> String {
        if op == RealOp::Neg {
            self.negated(args)
        } else if let (true, RealOp::Mul, [other @ Atom::Var(_), number @ Atom::Real(_)]) =
            (self.in_place, op, args)
        {
            self.product(number, other)
        } else if let RealOp::PowInt(n) = op {
            format!("{} ^ {n}", args.first().map_or_else(String::new, |x| self.atom(x)))
        } else if let RealOp::Polygamma(n) = op {
            format!("polygamma[{n}]({})", self.atoms(args))
        } else if words::is_named(op) {
            self.call(op.name(), args)
        } else {
            self.infix(op.name(), args)
        }
    }

    /// `x < y`; for people the number is on the right.
    fn comparison(&self, op: Compare, x: &Atom, y: &Atom) -> String {
        let turn = self.in_place && x.var().is_none() && y.var().is_some();
        let (op, x, y) = if turn { (op.turned(), y, x) } else { (op, x, y) };
        self.infix(op.symbol(), &[x.clone(), y.clone()])
    }

    fn shape(&self, shape: Shape<'_>) -> String {
        match shape {
            Shape::Twice(x) => format!("2.0 * {}", self.within(x, PRODUCT + 1)),
            Shape::Or(c, d) => self.infix("||", &[c.clone(), d.clone()]),
            Shape::And(c, d) => self.infix("&&", &[c.clone(), d.clone()]),
            Shape::Bracket(op, x, y) => format!("[{}]", self.comparison(op, x, y)),
        }
    }

    /// An operation without blocks.
    pub(super) fn flat(&self, op: &Op) -> String {
        match self.shapes.of(op) {
            Some(shape) => self.shape(shape),
            None => self.plain(op),
        }
    }

    fn plain(&self, op: &Op) -> String {
        match op {
            Op::Copy(x) => self.atom(x),
            Op::Real(op, args) => self.real(*op, args),
            Op::Power { base, exponent: exponent @ Atom::Var(_) } => {
                format!("{} ^ {}", self.atom(base), self.atom(exponent))
            }
            Op::Power { base, exponent } => format!("power({}, {})", self.whole(base), self.whole(exponent)),
            Op::Polygamma { order, x } => format!("polygamma({}, {})", self.whole(order), self.whole(x)),
            Op::Int(IntOp::Neg, args) => self.negated(args),
            Op::Int(op, args) => match words::int(*op) {
                (symbol, true) => self.infix(symbol, args),
                (word, false) => self.call(word, args),
            },
            Op::Compare(op, x, y) => self.comparison(*op, x, y),
            Op::Convert(op, x) => format!("{}({})", words::convert(*op), self.whole(x)),
            Op::Not(x) => format!("not({})", self.whole(x)),
            Op::Whole(x) => format!("whole({})", self.whole(x)),
            Op::Select { cond, then, otherwise } => {
                format!("select({}, {}, {})", self.whole(cond), self.whole(then), self.whole(otherwise))
            }
            Op::Text(TextOp::Append, args) => self.infix("++", args),
            Op::Text(op, args) => self.call(words::text(*op), args),
            Op::Fail { message } => format!("fail({})", self.whole(message)),
            Op::Require { what, left, right } => {
                let is_limit = right.var().is_some_and(|right| self.limits.contains(&right));
                let right = if is_limit { ">= 0".to_owned() } else { format!("== {}", self.whole(right)) };
                format!("require {} {right}, {}", self.whole(left), self.names.requirement(*what))
            }
            Op::Make { data, ctor, fields } => self.call(self.names.ctor(*data, *ctor as usize), fields),
            Op::Call { func, args, checkpoint } => {
                let prefix = if *checkpoint { "checkpoint " } else { "" };
                prefix.to_owned() + &self.call(self.names.func(*func), args)
            }
            Op::Array(op, args) => self.array(*op, args),
            Op::StopGradient(args) => self.call("stop_gradient", args),
            Op::Jvp { func, args, tangents } => self.jvp(*func, args, tangents),
            Op::Linearize { linear, args } => {
                format!("linearize {}", self.call(self.names.linear(*linear), args))
            }
            Op::Forward { linear, residual, tangents: rest } => {
                self.linear("forward", *linear, residual, rest)
            }
            Op::Backward { linear, residual, cotangents: rest } => {
                self.linear("backward", *linear, residual, rest)
            }
            Op::Custom(parts) => self.custom(parts),
            Op::Taylor { func, captured, order, at } => {
                format!("taylor {} {}({})", self.atom(order), self.captures(*func, captured), self.whole(at))
            }
            Op::Match { .. } | Op::If { .. } | Op::Loop(_) | Op::While(_) => String::new(),
        }
    }

    fn jvp(&self, func: FuncId, args: &[Atom], tangents: &[Option<Atom>]) -> String {
        let tangent = |tangent: &Option<Atom>| tangent.as_ref().map_or("_".into(), |atom| self.whole(atom));
        let tangents: Vec<String> = tangents.iter().map(tangent).collect();
        format!("jvp {}({}; {})", self.names.func(func), self.atoms(args), tangents.join(", "))
    }

    fn captures(&self, func: FuncId, captured: &[Atom]) -> String {
        format!("{}[{}]", self.names.func(func), self.atoms(captured))
    }

    fn custom(&self, parts: &Custom) -> String {
        let Custom { func, captured, rule, rule_captured, point } = parts;
        let (kind, rule, apply) = match rule {
            Rule::Jvp(rule) => ("jvp", *rule, String::new()),
            Rule::Vjp(rule, apply) => ("vjp", *rule, format!(", {}", self.names.func(*apply))),
        };
        let (func, rule) = (self.captures(*func, captured), self.captures(rule, rule_captured));
        format!("custom {kind} {func}({}), {rule}{apply}", self.atoms(point))
    }

    fn linear(&self, word: &str, linear: LinearId, residual: &Atom, rest: &[Atom]) -> String {
        let comma = if rest.is_empty() { "" } else { ", " };
        format!("{word} {}({}{comma}{})", self.names.linear(linear), self.whole(residual), self.atoms(rest))
    }

    /// What something is the negative of, as it is shown to people.
    fn negative(&self, atom: &Atom) -> Option<String> {
        match self.place(atom) {
            _ if !self.in_place => None,
            Some(Op::Real(RealOp::Neg, args)) => args.first().map(|x| self.whole(x)),
            Some(_) => None,
            None => less_minus(atom).map(|x| self.whole(&x)),
        }
    }

    /// Products that are added to an array, or to a row of it, as people write them: where it is zeros they stand alone.
    fn products(&self, lie: Lie, to: &Atom, rest: &[Atom]) -> String {
        let indices = rest.len() % 2 + usize::from(self.is_place(rest)) * 2;
        let (indices, factors) = rest.split_at_checked(indices).unwrap_or((&[], rest));
        let all: Vec<String> = factors.chunks_exact(2).map(|pair| self.factors(lie, pair)).collect();
        let sum = all.join(" + ");
        if !indices.is_empty() {
            return format!("{} with [{}] += {sum}", self.atom(to), self.atoms(indices));
        }
        if self.shapes.is_zeros(to) { sum } else { format!("{} + {sum}", self.within(to, SUM)) }
    }

    /// Whether what two operands begin with is a place, as factors are arrays.
    fn is_place(&self, rest: &[Atom]) -> bool {
        matches!(rest, [first, second, ..] if [first, second].iter().all(|atom| self.func.type_of(atom).rank() == 0))
    }

    /// A product of two matrices, a matrix and a vector, or a column and a row.
    fn factors(&self, lie: Lie, pair: &[Atom]) -> String {
        let [a, b] = pair else { return String::new() };
        let turned = |atom: &Atom, is_turned: bool| {
            if is_turned { format!("transpose({})", self.whole(atom)) } else { self.whole(atom) }
        };
        match [a, b].map(|factor| self.func.type_of(factor).rank()) {
            [1, 1] => format!("outer({}, {})", self.whole(a), self.whole(b)),
            [2, 1] => format!("matvec({}, {})", turned(a, lie.first), self.whole(b)),
            [1, 2] => format!("matvec({}, {})", turned(b, !lie.second), self.whole(a)),
            _ => format!("matmul({}, {})", turned(a, lie.first), turned(b, lie.second)),
        }
    }

    fn array(&self, op: ArrayOp, args: &[Atom]) -> String {
        match (op, args) {
            (ArrayOp::Literal, args) => format!("[{}]", self.atoms(args)),
            (ArrayOp::Empty(elem, rank), _) => format!("empty {}", self.names.ty(Ty::Array(elem, rank))),
            (ArrayOp::Length(0), args) => self.call("length", args),
            (ArrayOp::Length(axis), args) => format!("length({}, {axis})", self.atoms(args)),
            (ArrayOp::Index, [xs, indices @ ..]) => format!("{}[{}]", self.atom(xs), self.atoms(indices)),
            (ArrayOp::Set, [xs, indices @ .., row]) if !indices.is_empty() => {
                format!("{} with [{}] = {}", self.atom(xs), self.atoms(indices), self.whole(row))
            }
            (ArrayOp::AddAt, [xs, indices @ .., row]) if !indices.is_empty() => {
                let (sign, row) = match self.negative(row) {
                    Some(row) => ("-=", row),
                    None => ("+=", self.whole(row)),
                };
                format!("{} with [{}] {sign} {row}", self.atom(xs), self.atoms(indices))
            }
            (ArrayOp::AddProduct(lie), [to, rest @ ..]) if self.in_place => self.products(lie, to, rest),
            (ArrayOp::Add, args) => self.infix("+", args),
            (op, args) => self.call(words::array(op).unwrap_or("?"), args),
        }
    }
}
