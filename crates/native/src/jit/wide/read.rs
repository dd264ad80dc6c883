//! What a loop does to several iterations at a time, read from the statements of its body: what is the same in all iterations and what moves
//! with the loop is computed before it; arithmetic on the rest becomes steps on vectors.

use super::super::vector::{How, Plan};
use super::super::zeros::WORTH_OF_LOOKING;
use super::program::{self, Arg, Carried, Join, Mask, Op, Program, Real, Step, Test};
use crate::loops::{Int, Local, Operand, Round, Stmt, Value as Expr, Word};
use rustc_hash::FxHashMap;
use wengert_ir::op::Compare;
use wengert_ir::ty::Id;
use wengert_prim::RealOp;

/// Powers up to here are products, as in `wengert_prim`.
const MULTIPLIED_OUT: u64 = 32;
/// The text of a body with at most so many steps is repeated.
const SMALL: [(usize, usize); 2] = [(8, 4), (24, 2)];

/// What is done before the loop.
pub(super) enum Before {
    /// A variable that is the same in all iterations, or what it is in the first.
    Set(Local, Word, Expr),
    /// A check that is the same in all iterations.
    Check(Operand),
    /// Whether an index, in the first iteration this and then so much more in each, is in a range.
    Range(Operand, i64, Operand),
}

/// What a variable is.
#[derive(Clone, Copy, Debug)]
enum Known {
    /// The same in all iterations.
    Same(Operand),
    /// An integer or address: this in iteration 0, and so much more in each.
    Moving(Operand, i64),
    /// A vector of reals, or of integers.
    Real(Arg),
    Int(Arg),
    /// Truth values.
    Mask(Mask),
    /// Whether what moves is not in a range.
    Range(Operand, i64, Operand),
}

/// Reads the statements of a body.
pub(super) struct Reader<'p, 'f> {
    plan: &'p Plan<'f>,
    /// The next variable for what is computed before the loop.
    next: usize,
    known: FxHashMap<Local, Known>,
    pub(super) before: Vec<Before>,
    pub(super) given: Vec<Operand>,
    /// Where variables are among these.
    places: FxHashMap<Local, usize>,
    pub(super) program: Program,
}

impl<'p, 'f> Reader<'p, 'f> {
    pub(super) fn new(plan: &'p Plan<'f>, variables: usize) -> Reader<'p, 'f> {
        let (known, before, given) = (FxHashMap::default(), Vec::new(), Vec::new());
        let (places, program) = (FxHashMap::default(), Program::default());
        let mut reader = Reader { plan, next: variables, known, before, given, places, program };
        reader.known.insert(plan.index, Known::Moving(Operand::Int(0), 1));
        for carried in &plan.carried {
            let before = reader.id();
            let first = match carried.how {
                How::Sum => None,
                How::Extreme(_) => Some(reader.place(Operand::Local(carried.local))),
            };
            reader.program.carried.push(Carried { before, after: Arg::Vector(before), first });
            reader.known.insert(carried.local, Known::Real(Arg::Vector(before)));
        }
        reader
    }

    /// Notes what is carried on, when all is read; so many registers can hold that.
    pub(super) fn finish(&mut self, plan: &Plan<'_>, registers: usize) -> Option<()> {
        for (place, carried) in plan.carried.iter().enumerate() {
            let Some(Known::Real(after)) = self.known.get(&carried.local).copied() else { return None };
            self.program.carried.get_mut(place)?.after = after;
        }
        self.program.given = self.given.len();
        self.program.quick = plan.strong >= WORTH_OF_LOOKING;
        let steps = self.program.steps.len();
        let sums = plan.carried.iter().all(|carried| carried.how == How::Sum);
        let copies = SMALL.iter().find(|(most, _)| steps <= *most && sums);
        let room = registers / self.program.carried.len().max(1);
        self.program.copies = copies.map_or(1, |(_, copies)| *copies).min(room.max(1));
        Some(())
    }

    fn id(&mut self) -> usize {
        self.program.vectors += 1;
        self.program.vectors - 1
    }

    fn mask_id(&mut self) -> usize {
        self.program.masks += 1;
        self.program.masks - 1
    }

    /// The place of a number that is given.
    fn place(&mut self, operand: Operand) -> usize {
        let known = match operand {
            Operand::Local(local) => self.places.get(&local).copied(),
            Operand::Real(_) | Operand::Int(_) | Operand::Text(_) => {
                self.given.iter().position(|known| *known == operand)
            }
        };
        known.unwrap_or_else(|| {
            let place = self.given.len();
            self.given.push(operand);
            self.places.extend(operand.local().map(|local| (local, place)));
            place
        })
    }

    fn of(&self, operand: Operand) -> Known {
        let known = if let Operand::Local(local) = operand { self.known.get(&local) } else { None };
        known.copied().unwrap_or(Known::Same(operand))
    }

    /// An operand that is the same in all iterations, or what it is in the first.
    fn first(&self, operand: Operand) -> Option<Operand> {
        match self.of(operand) {
            Known::Same(first) | Known::Moving(first, _) => Some(first),
            Known::Real(_) | Known::Int(_) | Known::Mask(_) | Known::Range(..) => None,
        }
    }

    /// By how much an operand moves.
    fn step(&self, operand: Operand) -> Option<i64> {
        match self.of(operand) {
            Known::Same(_) => Some(0),
            Known::Moving(_, step) => Some(step),
            Known::Real(_) | Known::Int(_) | Known::Mask(_) | Known::Range(..) => None,
        }
    }

    /// Computes something before the loop.
    fn set(&mut self, word: Word, value: Expr) -> Operand {
        let local = Local::new(self.next);
        self.next += 1;
        self.before.push(Before::Set(local, word, value));
        Operand::Local(local)
    }

    fn vector(&mut self, op: Op) -> Arg {
        let id = self.id();
        self.program.steps.push(Step::Vector(id, op));
        Arg::Vector(id)
    }

    fn given(&mut self, operand: Operand) -> Arg {
        match operand {
            Operand::Real(x) => Arg::Constant(x.to_bits()),
            Operand::Int(n) => Arg::Constant(n.cast_unsigned()),
            Operand::Local(_) | Operand::Text(_) => Arg::Given(self.place(operand)),
        }
    }

    /// An operand as a vector of reals.
    fn real(&mut self, operand: Operand) -> Option<Arg> {
        match self.of(operand) {
            Known::Same(operand) => Some(self.given(operand)),
            Known::Real(arg) => Some(arg),
            Known::Moving(..) | Known::Int(_) | Known::Mask(_) | Known::Range(..) => None,
        }
    }

    /// An operand as a vector of integers.
    fn int(&mut self, operand: Operand) -> Option<Arg> {
        match self.of(operand) {
            Known::Same(operand) => Some(self.given(operand)),
            Known::Int(arg) => Some(arg),
            Known::Moving(first, step) => {
                i32::try_from(step).ok()?;
                let is_zero = first == Operand::Int(0);
                let first = if is_zero { Arg::Constant(0) } else { Arg::Given(self.place(first)) };
                Some(self.vector(Op::Index { first, step }))
            }
            Known::Real(_) | Known::Mask(_) | Known::Range(..) => None,
        }
    }

    fn mask(&mut self, operand: Operand) -> Option<Mask> {
        match self.of(operand) {
            Known::Same(operand) => Some(Mask::Given(self.place(operand))),
            Known::Mask(mask) => Some(mask),
            Known::Int(arg @ Arg::Vector(_)) => {
                match self.compared(Test::Int(number_of(Compare::Ne, false)), arg, Arg::Constant(0)) {
                    Known::Mask(mask) => Some(mask),
                    Known::Same(_)
                    | Known::Moving(..)
                    | Known::Real(_)
                    | Known::Int(_)
                    | Known::Range(..) => None,
                }
            }
            Known::Moving(..) | Known::Real(_) | Known::Int(_) | Known::Range(..) => None,
        }
    }

    fn compared(&mut self, test: Test, a: Arg, b: Arg) -> Known {
        let id = self.mask_id();
        self.program.steps.push(Step::Compare(id, test, a, b));
        Known::Mask(Mask::Made(id))
    }

    fn joined(&mut self, join: Join, a: Mask, b: Mask) -> Known {
        let id = self.mask_id();
        self.program.steps.push(Step::Join(id, join, a, b));
        Known::Mask(Mask::Made(id))
    }

    fn compare_int(&mut self, compare: Compare, a: Operand, b: Operand) -> Option<Known> {
        if let (Compare::Eq, Known::Mask(mask), Operand::Int(0)) = (compare, self.of(a), b) {
            // It does not hold.
            let always = self.mask(Operand::Int(1))?;
            return Some(self.joined(Join::Xor, mask, always));
        }
        let (a, b) = (self.int(a)?, self.int(b)?);
        Some(self.compared(Test::Int(number_of(compare, false)), a, b))
    }

    fn chosen(&mut self, cond: Operand, (a, b): (Operand, Operand), word: Word) -> Option<Known> {
        let cond = self.mask(cond)?;
        if [a, b].into_iter().any(|side| matches!(self.of(side), Known::Mask(_))) {
            return self.chosen_truth(cond, a, b);
        }
        let (a, b) = match word {
            Word::Real => (self.real(a)?, self.real(b)?),
            Word::Int => (self.int(a)?, self.int(b)?),
            Word::Ref | Word::Address => return None,
        };
        let chosen = self.vector(Op::Choose(cond, a, b));
        Some(if word == Word::Real { Known::Real(chosen) } else { Known::Int(chosen) })
    }

    /// One of two truth values: the second, but where both differ and the condition holds.
    fn chosen_truth(&mut self, cond: Mask, a: Operand, b: Operand) -> Option<Known> {
        let (a, b) = (self.mask(a)?, self.mask(b)?);
        let Known::Mask(differ) = self.joined(Join::Xor, a, b) else { return None };
        let Known::Mask(change) = self.joined(Join::And, cond, differ) else { return None };
        Some(self.joined(Join::Xor, change, b))
    }

    pub(super) fn stmt(&mut self, stmt: &Stmt) -> Option<()> {
        match stmt {
            Stmt::Set(local, value) => {
                let word = self.plan.words.get(*local)?;
                let known = self.value(value, word)?;
                self.known.insert(*local, known);
            }
            Stmt::Store { base, index, offset, value } => self.store((*base, *index, *offset), *value)?,
            Stmt::If { cond, .. } => match self.of(*cond) {
                Known::Same(cond) => self.before.push(Before::Check(cond)),
                Known::Range(first, step, size) => self.before.push(Before::Range(first, step, size)),
                Known::Moving(..) | Known::Real(_) | Known::Int(_) | Known::Mask(_) => return None,
            },
            Stmt::Switch { .. }
            | Stmt::For { .. }
            | Stmt::While { .. }
            | Stmt::Parallel { .. }
            | Stmt::Call { .. }
            | Stmt::Runtime { .. }
            | Stmt::Retain(..)
            | Stmt::Release(..)
            | Stmt::Free(..)
            | Stmt::Fail(..) => return None,
        }
        Some(())
    }

    /// An expression with what its operands are before the loop, and whether they are the same in all iterations.
    fn same(&self, value: &Expr) -> Option<(Expr, bool)> {
        let mut same = true;
        let mut of = |operand: &Operand| {
            same &= self.step(*operand)? == 0;
            self.first(*operand)
        };
        let value = match value {
            Expr::Copy(x) => Expr::Copy(of(x)?),
            Expr::Real(op, args) => Expr::Real(*op, args.iter().map(of).collect::<Option<Vec<Operand>>>()?),
            Expr::Int(op, a, b) => Expr::Int(*op, of(a)?, of(b)?),
            Expr::CompareReal(compare, a, b) => Expr::CompareReal(*compare, of(a)?, of(b)?),
            Expr::CompareInt(compare, a, b) => Expr::CompareInt(*compare, of(a)?, of(b)?),
            Expr::OutOfRange(a, b) => Expr::OutOfRange(of(a)?, of(b)?),
            Expr::Select(cond, a, b) => Expr::Select(of(cond)?, of(a)?, of(b)?),
            Expr::IntToReal(x) => Expr::IntToReal(of(x)?),
            Expr::RealToInt(x) => Expr::RealToInt(of(x)?),
            Expr::Round(round, x) => Expr::Round(*round, of(x)?),
            Expr::Bits(x) => Expr::Bits(of(x)?),
            Expr::Load { base, index, offset } => {
                Expr::Load { base: of(base)?, index: of(index)?, offset: *offset }
            }
            Expr::Address { base, index, offset } => {
                Expr::Address { base: of(base)?, index: of(index)?, offset: *offset }
            }
            Expr::Tag(..) | Expr::Unique(..) | Expr::Alloc(..) => return None,
        };
        Some((value, same))
    }

    fn value(&mut self, value: &Expr, word: Word) -> Option<Known> {
        if let Expr::Copy(x) = value {
            return Some(self.of(*x));
        }
        if let Some((value, true)) = self.same(value) {
            return Some(Known::Same(self.set(word, value)));
        }
        Some(match value {
            Expr::Real(op, args) => Known::Real(self.arithmetic(*op, args)?),
            Expr::Int(op, a, b) => self.integer(*op, *a, *b, value)?,
            Expr::CompareReal(compare, a, b) => {
                let (a, b) = (self.real(*a)?, self.real(*b)?);
                self.compared(Test::Real(number_of(*compare, true)), a, b)
            }
            Expr::CompareInt(compare, a, b) => self.compare_int(*compare, *a, *b)?,
            Expr::OutOfRange(index, size) => match (self.of(*index), self.of(*size)) {
                (Known::Moving(first, step), Known::Same(size)) => Known::Range(first, step, size),
                (_, _) => return None,
            },
            Expr::Select(cond, a, b) => self.chosen(*cond, (*a, *b), word)?,
            Expr::IntToReal(x) => match self.int(*x)? {
                Arg::Vector(x) => Known::Real(self.vector(Op::ToReal(x))),
                Arg::Given(_) | Arg::Constant(_) => return None,
            },
            Expr::Round(round, x) => {
                let x = self.real(*x)?;
                let how = match round {
                    Round::Floor => 1,
                    Round::Ceil => 2,
                    Round::Truncate => 3,
                    Round::Nearest => return None,
                };
                Known::Real(self.vector(Op::Round(how, x)))
            }
            Expr::Load { base, index, offset } => self.load((*base, *index, *offset), word)?,
            Expr::Address { base, index, .. } => {
                let step = self.step(*base)? + 8 * self.step(*index)?;
                let (value, _) = self.same(value)?;
                Known::Moving(self.set(word, value), step)
            }
            Expr::Copy(_)
            | Expr::RealToInt(_)
            | Expr::Bits(_)
            | Expr::Tag(..)
            | Expr::Unique(..)
            | Expr::Alloc(..) => return None,
        })
    }

    /// The address of words in iteration 0, and by how many bytes it moves or which vector of indices it has.
    fn words(
        &mut self,
        (base, index, offset): (Operand, Operand, i32),
    ) -> Option<(usize, Result<i64, usize>)> {
        let first = self.first(base)?;
        let step = self.step(base)?;
        let (at, how) = match self.of(index) {
            Known::Int(Arg::Vector(indices)) if step == 0 => (Operand::Int(0), Err(indices)),
            Known::Same(at) => (at, Ok(step)),
            Known::Moving(at, more) => (at, Ok(step + 8 * more)),
            Known::Int(_) | Known::Real(_) | Known::Mask(_) | Known::Range(..) => return None,
        };
        let address = self.set(Word::Address, Expr::Address { base: first, index: at, offset });
        Some((self.place(address), how))
    }

    /// The indices of words that are further from each other.
    fn apart(&mut self, step: i64) -> Option<usize> {
        if step % 8 != 0 || i32::try_from(step).is_err() {
            return None;
        }
        self.vector(Op::Index { first: Arg::Constant(0), step: step / 8 }).vector()
    }

    fn load(&mut self, place: (Operand, Operand, i32), word: Word) -> Option<Known> {
        let (from, how) = self.words(place)?;
        let op = match how {
            Ok(8) => Op::Load { from },
            Ok(step) => Op::Gather { from, index: self.apart(step)? },
            Err(index) => Op::Gather { from, index },
        };
        let loaded = self.vector(op);
        match word {
            Word::Real => Some(Known::Real(loaded)),
            Word::Int => Some(Known::Int(loaded)),
            Word::Ref | Word::Address => None,
        }
    }

    fn store(&mut self, place: (Operand, Operand, i32), value: Operand) -> Option<()> {
        let value = match self.of(value) {
            Known::Real(arg) => arg,
            Known::Same(operand) => self.given(operand),
            Known::Int(_) | Known::Moving(..) => self.int(value)?,
            Known::Mask(mask) => self.vector(Op::Choose(mask, Arg::Constant(1), Arg::Constant(0))),
            Known::Range(..) => return None,
        };
        let (to, how) = self.words(place)?;
        let step = match how {
            Ok(0) => return None,
            Ok(8) => Step::Store { to, value },
            Ok(step) => Step::Scatter { to, index: self.apart(step)?, value },
            Err(index) => Step::Scatter { to, index, value },
        };
        self.program.steps.push(step);
        Some(())
    }

    fn integer(&mut self, op: Int, a: Operand, b: Operand, value: &Expr) -> Option<Known> {
        if let (Some(first), Some(second)) = (self.step(a), self.step(b)) {
            let step = match (op, a, b) {
                (Int::Add, _, _) => first.checked_add(second),
                (Int::Sub, _, _) => first.checked_sub(second),
                (Int::Mul, _, Operand::Int(n)) => first.checked_mul(n),
                (Int::Mul, Operand::Int(n), _) => second.checked_mul(n),
                (_, _, _) => None,
            };
            if let Some(step) = step.filter(|step| step.abs() <= 1 << 24) {
                let (value, _) = self.same(value)?;
                let first = self.set(Word::Int, value);
                return Some(if step == 0 { Known::Same(first) } else { Known::Moving(first, step) });
            }
        }
        let is_mask = |this: &Self, operand| matches!(this.of(operand), Known::Mask(_));
        if is_mask(self, a) || is_mask(self, b) {
            let join = match op {
                Int::And => Join::And,
                Int::Or => Join::Or,
                Int::Xor => Join::Xor,
                Int::Add
                | Int::Sub
                | Int::Mul
                | Int::Div
                | Int::Rem
                | Int::ShiftLeft
                | Int::ShiftRight
                | Int::Min
                | Int::Max => return None,
            };
            let (a, b) = (self.mask(a)?, self.mask(b)?);
            let id = self.mask_id();
            self.program.steps.push(Step::Join(id, join, a, b));
            return Some(Known::Mask(Mask::Made(id)));
        }
        let op = match op {
            Int::Add => program::Int::Add,
            Int::Sub => program::Int::Sub,
            Int::Mul => program::Int::Mul,
            Int::And => program::Int::And,
            Int::Or => program::Int::Or,
            Int::Xor => program::Int::Xor,
            Int::Min => program::Int::Min,
            Int::Max => program::Int::Max,
            Int::ShiftLeft => program::Int::ShiftLeft,
            Int::ShiftRight => program::Int::ShiftRight,
            Int::Div | Int::Rem => return None,
        };
        let (a, b) = (self.int(a)?, self.int(b)?);
        Some(Known::Int(self.vector(Op::Int(op, a, b))))
    }

    /// Arithmetic on reals, as `wengert_prim` defines it.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the plan has no others")]
    fn arithmetic(&mut self, op: RealOp, args: &[Operand]) -> Option<Arg> {
        let args = args.iter().map(|arg| self.real(*arg)).collect::<Option<Vec<Arg>>>()?;
        let constant = |x: f64| Arg::Constant(x.to_bits());
        let (zero, one) = (constant(0.0), constant(1.0));
        Some(match (op, args.as_slice()) {
            (RealOp::Neg, [x]) => self.vector(Op::Real(Real::Xor, *x, Arg::Constant(1 << 63))),
            (RealOp::Abs, [x]) => self.vector(Op::Real(Real::And, *x, Arg::Constant(u64::MAX >> 1))),
            (RealOp::Sqrt, [x]) => self.vector(Op::Sqrt(*x)),
            (RealOp::PowInt(n), [x]) if n.unsigned_abs() <= MULTIPLIED_OUT => self.multiplied_out(*x, n),
            (RealOp::Relu, [x]) => {
                let low = self.is(Compare::Le, *x, zero);
                self.vector(Op::Choose(low, zero, *x))
            }
            (RealOp::Sign, [x]) => {
                let is_zero = self.is(Compare::Eq, *x, zero);
                let rest = self.vector(Op::Choose(is_zero, zero, *x));
                let negative = self.is(Compare::Lt, *x, zero);
                let rest = self.vector(Op::Choose(negative, constant(-1.0), rest));
                let positive = self.is(Compare::Gt, *x, zero);
                self.vector(Op::Choose(positive, one, rest))
            }
            (RealOp::Add, [x, y]) => self.vector(Op::Real(Real::Add, *x, *y)),
            (RealOp::Sub, [x, y]) => self.vector(Op::Real(Real::Sub, *x, *y)),
            (RealOp::Mul, [x, y]) => self.vector(Op::Real(Real::Mul, *x, *y)),
            (RealOp::Div, [x, y]) => self.vector(Op::Real(Real::Div, *x, *y)),
            (RealOp::MulZero, [x, y]) => self.vector(Op::Real(Real::MulZero, *x, *y)),
            (RealOp::DivZero, [x, y]) => self.vector(Op::Real(Real::DivZero, *x, *y)),
            (RealOp::Min | RealOp::Max, [x, y]) => {
                let (first, second) = match op {
                    RealOp::Min => (Compare::Le, Compare::Lt),
                    _ => (Compare::Ge, Compare::Gt),
                };
                let second = self.is(second, *y, *x);
                let rest = self.vector(Op::Choose(second, *y, constant(f64::NAN)));
                let first = self.is(first, *x, *y);
                self.vector(Op::Choose(first, *x, rest))
            }
            (_, _) => return None,
        })
    }

    fn is(&mut self, compare: Compare, a: Arg, b: Arg) -> Mask {
        let id = self.mask_id();
        self.program.steps.push(Step::Compare(id, Test::Real(number_of(compare, true)), a, b));
        Mask::Made(id)
    }

    /// As `wengert_prim` multiplies: by repeated squaring from the lowest bit.
    fn multiplied_out(&mut self, x: Arg, n: i64) -> Arg {
        let one = Arg::Constant(1f64.to_bits());
        let (mut rest, mut square, mut power) = (n.unsigned_abs(), x, None);
        while rest > 0 {
            if rest & 1 == 1 {
                power = Some(match power {
                    Some(power) => self.vector(Op::Real(Real::Mul, power, square)),
                    None => square,
                });
            }
            rest >>= 1;
            if rest > 0 {
                square = self.vector(Op::Real(Real::Mul, square, square));
            }
        }
        let power = power.unwrap_or(one);
        if n < 0 { self.vector(Op::Real(Real::Div, one, power)) } else { power }
    }
}

/// The processor's number of a comparison, of reals or of integers.
fn number_of(compare: Compare, real: bool) -> u8 {
    match compare {
        Compare::Eq => 0,
        Compare::Lt => 1,
        Compare::Le => 2,
        Compare::Ne => 4,
        // With NaN these are false.
        Compare::Ge if real => 13,
        Compare::Gt if real => 14,
        Compare::Ge => 5,
        Compare::Gt => 6,
    }
}
