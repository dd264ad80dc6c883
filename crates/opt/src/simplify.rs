//! Known operands: copies, arithmetic on constants, branches on constants, matches on known constructors, elements of known
//! arrays. Arithmetic on reals is only simplified where no bit can change.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed stays as it is")]

mod zeros;

use crate::facts::Lengths;
use crate::known::is_same;
use crate::numbers;
use crate::walk::{Forward, Names, one, sides};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_base::Name;
use wengert_ir::op::{ArrayOp, Compare, Convert, IntOp, Op};
use wengert_ir::{Atom, Block, Elem, Func, Program, Stmt, Ty, Var};
use wengert_prim::RealOp;

/// See the module.
pub(crate) fn run(program: &mut Program) {
    for (_, func) in program.funcs.iter_mut() {
        function(func);
    }
}

/// The same where derivatives are still to be made that must add up in the order of the source.
pub(crate) fn in_order(program: &mut Program) {
    for (_, func) in program.funcs.iter_mut() {
        function_in_order(func);
    }
}

/// The same where numbers must be exact, to the signs of zeros.
pub(crate) fn exactly(program: &mut Program) {
    for (_, func) in program.funcs.iter_mut() {
        Simplifier { exact: true, ..Simplifier::default() }.function(func);
    }
}

/// The same for one function.
pub(crate) fn function(func: &mut Func) {
    Simplifier::default().function(func);
}

/// The same for one function, and in order.
pub(crate) fn function_in_order(func: &mut Func) {
    Simplifier { in_order: true, exact: true, ..Simplifier::default() }.function(func);
}

/// Arrays of so many elements are lists of them where that makes something simpler.
pub(crate) const FEW: usize = 8;

/// The operand that is the result of an operation, from its operands alone; exactly, or but for the sign of a derivative that is zero.
pub(crate) fn known(func: &Func, op: &Op, exact: bool) -> Option<Atom> {
    Simplifier { exact, ..Simplifier::default() }.known(func, op)
}

#[derive(Default)]
struct Simplifier {
    names: Names,
    lengths: Lengths,
    /// Constructors with their fields, and elements of array literals, by variable.
    made: FxHashMap<Var, Made>,
    /// Arrays that have the shape of others, to which they add something.
    alike: FxHashMap<Var, Var>,
    /// Strong zeros: who adds them adds nothing.
    strong_zeros: FxHashSet<Var>,
    /// Derivatives are still to be made, which must add up in the order of the source.
    in_order: bool,
    /// Numbers must be exact, to the signs of zeros.
    exact: bool,
    /// Integers that are others with a constant added.
    steps: FxHashMap<Var, (Var, i64)>,
    /// Numbers that are never -0.
    never_minus_zero: FxHashSet<Var>,
}

#[derive(Clone)]
enum Made {
    Data(u32, Vec<Atom>),
    Literal(Vec<Atom>),
    Not(Atom),
    /// Whether two are equal, or whether they are not.
    Equal(Compare, Atom, Atom),
    /// Zeros in the shape of this.
    Zeros(Atom),
    /// So many rows of zeros.
    Rows(Vec<Atom>),
    /// So many times the same.
    Same(Atom, Atom),
    /// As many rows as these, places or what was sorted.
    AsMany(Atom),
}

impl Forward for Simplifier {
    fn names(&mut self) -> &mut Names {
        &mut self.names
    }

    fn stmt(&mut self, func: &mut Func, out: &mut Vec<Stmt>, stmt: &mut Stmt) -> Option<Vec<Atom>> {
        if matches!(&stmt.op, Op::Require { left, right, .. } if left == right) {
            return Some(Vec::new());
        }
        if let Some(results) = self.branch(func, out, stmt) {
            return Some(results);
        }
        self.common(stmt);
        if let Some(result) = self.known(func, &stmt.op) {
            if matches!(stmt.op, Op::Real(RealOp::MulZero | RealOp::DivZero, _)) && self.is_zero(&result) {
                self.strong_zeros.extend(&stmt.outs);
            }
            return Some(vec![result]);
        }
        // Of what differs it is still known that it is not equal.
        let negated = if let Op::Not(x) = &stmt.op { Some(Made::Not(x.clone())) } else { None };
        if let Some(better) = self
            .better(&stmt.op)
            .or_else(|| self.unequal(&stmt.op))
            .or_else(|| self.as_many(&stmt.op))
            .or_else(|| self.part(&stmt.op))
        {
            stmt.op = better;
        }
        if let (Op::Real(op, args), Some(out)) = (&stmt.op, stmt.outs.first())
            && self.gives_no_minus_zero(*op, args)
        {
            self.never_minus_zero.insert(*out);
        }
        if let (Op::Int(op, args), [out]) = (&stmt.op, stmt.outs.as_slice()) {
            self.steps.extend(step(*op, args).map(|step| (*out, step)));
        }
        self.note_sums(stmt);
        if let Some(listed) = self.listed(func, out, stmt) {
            stmt.op = listed;
        }
        if let Some(zeros) = self.zeros(func, &stmt.op) {
            stmt.op = zeros;
        }
        self.note_alike(func, stmt);
        self.lengths.note(func, &stmt.outs, &stmt.op);
        let made = self.made(&stmt.op);
        if let (Some(made), Some(var)) = (negated.or(made), stmt.outs.first()) {
            self.made.insert(*var, made);
        }
        None
    }

    fn one(&mut self, func: &mut Func, out: &mut Vec<Stmt>, stmt: &mut Stmt) {
        if let Some(other) = self.without_strong_zero(&stmt.op) {
            stmt.op = Op::Copy(other);
        }
        one(self, func, out, stmt);
    }

    /// In the arms of a match it is known what is matched.
    fn inside(&mut self, func: &mut Func, op: &mut Op) {
        let Op::Match { on: Atom::Var(on), arms } = op else { return sides(self, func, op) };
        for (ctor, arm) in (0..).zip(arms) {
            let fields = arm.params.iter().map(|param| Atom::Var(*param)).collect();
            let before = self.made.insert(*on, Made::Data(ctor, fields));
            self.block(func, arm);
            match before {
                Some(before) => self.made.insert(*on, before),
                None => self.made.remove(on),
            };
        }
    }

    fn enter(&mut self) -> usize {
        self.lengths.mark()
    }

    fn leave(&mut self, mark: usize) {
        self.lengths.forget(mark);
    }
}

impl Simplifier {
    fn is_zero(&self, atom: &Atom) -> bool {
        let made = atom.var().and_then(|var| self.made.get(&var));
        matches!(atom, Atom::Real(x) if x.to_bits() == 0)
            || matches!(made, Some(Made::Zeros(_) | Made::Rows(_)))
    }

    /// What is known of what an operation makes.
    fn made(&self, op: &Op) -> Option<Made> {
        match op {
            Op::Make { data: _, ctor, fields } => Some(Made::Data(*ctor, fields.clone())),
            Op::Array(ArrayOp::Literal, items) => Some(Made::Literal(items.clone())),
            Op::Compare(op @ (Compare::Eq | Compare::Ne), a, b) => {
                Some(Made::Equal(*op, a.clone(), b.clone()))
            }
            Op::Array(ArrayOp::Zeros, like) => like.first().cloned().map(Made::Zeros),
            Op::Array(ArrayOp::Gather, args) => args.get(1).cloned().map(Made::AsMany),
            Op::Array(ArrayOp::ArgSort | ArrayOp::Sort | ArrayOp::Reverse, args) => {
                args.first().cloned().map(Made::AsMany)
            }
            Op::Array(ArrayOp::Replicate, args) if args.get(1).is_some_and(|row| self.is_zero(row)) => {
                Some(Made::Rows(args.clone()))
            }
            Op::Array(ArrayOp::Replicate, args) => match args.as_slice() {
                [count, row] => Some(Made::Same(count.clone(), row.clone())),
                _ => None,
            },
            _ => None,
        }
    }

    /// Zeros in the shape of what was made by adding something to zeros are made as these were.
    fn zeros(&self, func: &Func, op: &Op) -> Option<Op> {
        let Op::Array(ArrayOp::Zeros, like) = op else { return None };
        let mut like = like.first()?.var()?;
        while let Some(other) = self.alike.get(&like) {
            like = *other;
        }
        match self.made.get(&like)? {
            Made::Zeros(of) => Some(Op::Array(ArrayOp::Zeros, vec![of.clone()])),
            Made::Rows(args) => Some(Op::Array(ArrayOp::Replicate, args.clone())),
            Made::Literal(items) if items.len() <= FEW && func.type_of(&Atom::Var(like)).rank() == 1 => {
                Some(Op::Array(ArrayOp::Literal, vec![Atom::Real(0.0); items.len()]))
            }
            Made::Data(..)
            | Made::Literal(_)
            | Made::Not(_)
            | Made::Equal(..)
            | Made::Same(..)
            | Made::AsMany(_) => None,
        }
    }

    /// The elements of an array, if it has few and they are listed.
    fn items(&self, array: &Atom) -> Option<&[Atom]> {
        let Made::Literal(items) = self.made.get(&array.var()?)? else { return None };
        (items.len() <= FEW).then_some(items)
    }

    /// A short list with something in the place of an element, or added to it; the transpose of short lists.
    fn listed(&self, func: &mut Func, out: &mut Vec<Stmt>, stmt: &Stmt) -> Option<Op> {
        let Op::Array(op, args) = &stmt.op else { return None };
        let span = stmt.span;
        match (op, args.as_slice()) {
            (ArrayOp::Set | ArrayOp::AddAt, [array, Atom::Int(index), new]) => {
                let mut items = self.items(array)?.to_vec();
                let item = items.get_mut(usize::try_from(*index).ok()?)?;
                if func.type_of(new).rank() > 0 {
                    return None;
                }
                // Only derivatives are added up so, and of those the sign of a zero does not count.
                if *op == ArrayOp::Set || matches!(item, Atom::Real(0.0)) {
                    *item = new.clone();
                } else if !matches!(new, Atom::Real(0.0)) {
                    let sum = func.fresh(Name::new("sum"), Ty::REAL);
                    let op = Op::Real(RealOp::Add, vec![item.clone(), new.clone()]);
                    out.push(Stmt { outs: vec![sum], op, span });
                    *item = Atom::Var(sum);
                }
                Some(Op::Array(ArrayOp::Literal, items))
            }
            (ArrayOp::Index, [rows, Atom::Int(index), places @ ..]) if !places.is_empty() => {
                let row = self.items(rows)?.get(usize::try_from(*index).ok()?)?;
                Some(Op::Array(ArrayOp::Index, [std::slice::from_ref(row), places].concat()))
            }
            (ArrayOp::Transpose, [rows, ..]) => {
                let rows: Option<Vec<&[Atom]>> =
                    self.items(rows)?.iter().map(|row| self.items(row)).collect();
                let rows = rows?;
                let columns = rows.first()?.len();
                let first = rows.first()?.first()?;
                if rows.iter().any(|row| row.len() != columns) || func.type_of(first).rank() > 0 {
                    return None;
                }
                let ty = func.type_of(&Atom::Var(*stmt.outs.first()?));
                let Ty::Array(elem, 2) = ty else { return None };
                let listed = (0..columns).map(|place| {
                    let items = rows.iter().filter_map(|row| row.get(place)).cloned().collect();
                    let column = func.fresh(Name::new("row"), Ty::Array(elem, 1));
                    out.push(Stmt { outs: vec![column], op: Op::Array(ArrayOp::Literal, items), span });
                    Atom::Var(column)
                });
                Some(Op::Array(ArrayOp::Literal, listed.collect()))
            }
            _ => None,
        }
    }

    /// There are as many rows as in what these were made of.
    fn as_many(&self, op: &Op) -> Option<Op> {
        let Op::Array(ArrayOp::Length(0), args) = op else { return None };
        let Made::AsMany(like) = self.made.get(&args.first()?.var()?)? else { return None };
        Some(Op::Array(ArrayOp::Length(0), vec![like.clone()]))
    }

    /// Of what is the same everywhere a part is so many of it.
    fn part(&self, op: &Op) -> Option<Op> {
        let Op::Array(ArrayOp::Slice, args) = op else { return None };
        let [array, Atom::Int(from), Atom::Int(to)] = args.as_slice() else { return None };
        let Made::Same(Atom::Int(count), row) = self.made.get(&array.var()?)? else { return None };
        let there = 0 <= *from && from <= to && to <= count;
        there.then(|| Op::Array(ArrayOp::Replicate, vec![Atom::Int(to - from), row.clone()]))
    }

    /// Notes which arrays have the shape of others, because something is added to those.
    fn note_alike(&mut self, func: &Func, stmt: &Stmt) {
        let mut note = |out: Option<&Var>, from: Option<&Atom>| {
            if let (Some(out), Some(from)) = (out, from.and_then(Atom::var))
                && func.ty(*out).rank() > 0
            {
                self.alike.insert(*out, from);
            }
        };
        match &stmt.op {
            Op::Array(ArrayOp::AddProduct(_) | ArrayOp::AddAt | ArrayOp::Set, args) => {
                note(stmt.outs.first(), args.first());
            }
            Op::Loop(parts) => {
                let outs = stmt.outs.iter().skip(parts.init.len());
                parts.accs.iter().zip(outs).for_each(|(acc, out)| note(Some(out), Some(acc)));
            }
            _ => {}
        }
    }

    /// A branch that is known: its statements stand where it stood.
    fn branch(&mut self, func: &mut Func, out: &mut Vec<Stmt>, stmt: &mut Stmt) -> Option<Vec<Atom>> {
        let block = match &mut stmt.op {
            Op::If { cond: Atom::Bool(cond), then, otherwise } => {
                std::mem::take(if *cond { then } else { otherwise })
            }
            Op::If { cond, then, otherwise } => {
                if let Some(Made::Not(x)) = cond.var().and_then(|var| self.made.get(&var)) {
                    *cond = x.clone();
                    std::mem::swap(then, otherwise);
                }
                self.select_of(stmt);
                return None;
            }
            Op::Match { on, arms } => {
                let Some(Made::Data(ctor, fields)) = on.var().and_then(|var| self.made.get(&var)).cloned()
                else {
                    return None;
                };
                let arm = std::mem::take(arms.get_mut(ctor as usize)?);
                for (param, field) in arm.params.iter().zip(fields) {
                    self.names.set(*param, field);
                }
                arm
            }
            _ => return None,
        };
        let Block { params: _, stmts, mut results } = block;
        let ends = stmts.iter().any(|stmt| stmt.op.never_returns());
        // Inside of it another may be known too, and so on.
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            stmts.into_iter().for_each(|mut inner| self.one(func, out, &mut inner));
        });
        for atom in &mut results {
            self.names.replace(atom);
        }
        // A branch that fails gives nothing: its results are whatever its last statement's are said to be.
        if ends && results.len() != stmt.outs.len() {
            return Some(stmt.outs.iter().map(|var| any(func.ty(*var))).collect());
        }
        Some(results)
    }

    /// What all blocks of a branch give that return is known after it.
    fn common(&mut self, stmt: &Stmt) {
        let arms: Vec<&Block> = match &stmt.op {
            Op::If { .. } | Op::Match { .. } => stmt.op.blocks(),
            _ => return,
        };
        let returns = |arm: &&Block| !arm.stmts.iter().any(|stmt| stmt.op.never_returns());
        let returning: Vec<&Block> = arms.into_iter().filter(returns).collect();
        let inside = |var: Var| {
            let binds = |stmt: &Stmt| stmt.outs.contains(&var);
            returning.iter().any(|arm| arm.params.contains(&var) || arm.stmts.iter().any(binds))
        };
        for (place, out) in stmt.outs.iter().enumerate() {
            let mut given = returning.iter().map(|arm| {
                let mut atom = arm.results.get(place).cloned();
                atom.iter_mut().for_each(|atom| self.names.replace(atom));
                atom
            });
            let Some(Some(first)) = given.next() else { continue };
            if given.all(|other| other.is_some_and(|other| is_same(&other, &first)))
                && !first.var().is_some_and(inside)
            {
                self.names.set(*out, first);
            }
        }
    }

    /// An operation whose result is an operand.
    fn known(&self, func: &Func, op: &Op) -> Option<Atom> {
        match op {
            Op::Copy(atom) => Some(atom.clone()),
            Op::Real(op, args) => numbers::real(*op, args).or_else(|| self.neutral(*op, args)),
            Op::Int(op, args) => numbers::integer(*op, args).or_else(|| self.there_and_back(*op, args)),
            Op::Compare(compare, a, b) => numbers::comparison(*compare, a, b),
            Op::Convert(Convert::IntToReal, Atom::Int(n)) => Some(Atom::Real(*n as f64)),
            Op::Not(Atom::Bool(x)) => Some(Atom::Bool(!x)),
            Op::Not(atom) => match self.made.get(&atom.var()?)? {
                Made::Not(x) => Some(x.clone()),
                Made::Data(..)
                | Made::Literal(_)
                | Made::Equal(..)
                | Made::Zeros(_)
                | Made::Rows(_)
                | Made::Same(..)
                | Made::AsMany(_) => None,
            },
            Op::Select { cond: Atom::Bool(cond), then, otherwise } => {
                Some(if *cond { then.clone() } else { otherwise.clone() })
            }
            Op::Select { cond: _, then, otherwise } if is_same(then, otherwise) => Some(then.clone()),
            Op::Select { cond, then: Atom::Bool(true), otherwise: Atom::Bool(false) } => Some(cond.clone()),
            Op::Array(ArrayOp::Length(0), args) => self.lengths.of(args.first()?).cloned(),
            Op::Array(ArrayOp::Index, args) => {
                let [array, Atom::Int(index)] = args.as_slice() else { return None };
                match self.made.get(&array.var()?)? {
                    Made::Literal(items) => items.get(usize::try_from(*index).ok()?).cloned(),
                    Made::Same(Atom::Int(count), item) => (0..*count).contains(index).then(|| item.clone()),
                    _ => None,
                }
            }
            Op::Array(ArrayOp::Zeros, args) if func.type_of(args.first()?).rank() == 0 => {
                Some(Atom::Real(0.0))
            }
            // What is the same everywhere is so from behind.
            Op::Array(ArrayOp::Reverse, args) => {
                let array = args.first()?;
                let same = matches!(self.made.get(&array.var()?)?, Made::Same(..) | Made::Rows(_));
                same.then(|| array.clone())
            }
            _ => None,
        }
    }

    /// What it is to which something is added that was subtracted before, or the other way round.
    fn there_and_back(&self, op: IntOp, args: &[Atom]) -> Option<Atom> {
        let (from, by) = step(op, args)?;
        let (start, before) = self.steps.get(&from)?;
        (before.wrapping_add(by) == 0).then_some(Atom::Var(*start))
    }

    /// What is not equal differs, NaN included.
    fn unequal(&self, op: &Op) -> Option<Op> {
        let Op::Not(Atom::Var(var)) = op else { return None };
        let Some(Made::Equal(op, a, b)) = self.made.get(var) else { return None };
        let other = if *op == Compare::Eq { Compare::Ne } else { Compare::Eq };
        Some(Op::Compare(other, a.clone(), b.clone()))
    }

    /// `if c { yield a } else { yield b }` with one result that is a number is a choice between operands.
    fn select_of(&self, stmt: &mut Stmt) {
        let Op::If { cond, then, otherwise } = &stmt.op else { return };
        if !then.stmts.is_empty() || !otherwise.stmts.is_empty() {
            return;
        }
        if let ([a], [b], [_]) = (then.results.as_slice(), otherwise.results.as_slice(), stmt.outs.as_slice())
        {
            let (mut a, mut b) = (a.clone(), b.clone());
            self.names.replace(&mut a);
            self.names.replace(&mut b);
            stmt.op = Op::Select { cond: cond.clone(), then: a, otherwise: b };
        }
    }
}

/// To which integer an operation adds a constant, and which.
fn step(op: IntOp, args: &[Atom]) -> Option<(Var, i64)> {
    match (op, args) {
        (IntOp::Add, [Atom::Var(from), Atom::Int(by)] | [Atom::Int(by), Atom::Var(from)]) => {
            Some((*from, *by))
        }
        (IntOp::Sub, [Atom::Var(from), Atom::Int(by)]) => Some((*from, by.wrapping_neg())),
        (_, _) => None,
    }
}

/// An operand of a type, where it does not matter which.
fn any(ty: Ty) -> Atom {
    match ty.elem() {
        Elem::Real => Atom::Real(0.0),
        Elem::Int => Atom::Int(0),
        Elem::Bool => Atom::Bool(false),
        Elem::Text => Atom::Text("".into()),
        Elem::Unit | Elem::Data(_) => Atom::Unit,
    }
}

/// The same by a cheaper operation.
fn better(op: &Op) -> Option<Op> {
    match op {
        Op::Power { base, exponent: Atom::Int(n) } => Some(Op::Real(RealOp::PowInt(*n), vec![base.clone()])),
        Op::Polygamma { order: Atom::Int(0), x } => Some(Op::Real(RealOp::Digamma, vec![x.clone()])),
        Op::Polygamma { order: Atom::Int(n), x } => {
            let n = u32::try_from(*n).ok()?;
            Some(Op::Real(RealOp::Polygamma(n), vec![x.clone()]))
        }
        // With a finite positive factor nothing special happens.
        Op::Real(RealOp::DivZero, args) => match args.as_slice() {
            // What is no zero is divided as ever.
            [x @ Atom::Real(t), d] if *t != 0.0 => Some(Op::Real(RealOp::Div, vec![x.clone(), d.clone()])),
            [x, Atom::Real(d)] if d.is_finite() && *d > 0.0 => {
                Some(Op::Real(RealOp::Div, vec![x.clone(), Atom::Real(*d)]))
            }
            _ => None,
        },
        Op::Real(RealOp::MulZero, args) => match args.as_slice() {
            // A zero gives 0 either way, never -0.
            [x, Atom::Real(-1.0)] | [Atom::Real(-1.0), x] => {
                Some(Op::Real(RealOp::Sub, vec![Atom::Real(0.0), x.clone()]))
            }
            [x, Atom::Real(c)] | [Atom::Real(c), x] if c.is_finite() && *c > 0.0 => {
                Some(Op::Real(RealOp::Mul, vec![x.clone(), Atom::Real(*c)]))
            }
            // A square is zero only of a zero.
            [x, y] if x == y => Some(Op::Real(RealOp::Mul, args.clone())),
            _ => None,
        },
        Op::Real(RealOp::Mul, args) => match args.as_slice() {
            [x, Atom::Real(-1.0)] | [Atom::Real(-1.0), x] => Some(Op::Real(RealOp::Neg, vec![x.clone()])),
            _ => None,
        },
        _ => None,
    }
}
