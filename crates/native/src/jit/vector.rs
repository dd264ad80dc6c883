//! Which innermost loops work on several numbers at a time, in vectors of two.
//!
//! A loop is taken if its body can be written as straight-line code ([`crate::choices`]) whose iterations do not meet in memory, and whose carried values are
//! sums or extremes (only where numbers may be added in another order). Each variable is classified by how it differs from
//! one iteration to the next; [`super::lanes`] makes the code accordingly. Checks may stand before the first store: where one
//! would fail, the rest of the loop runs one iteration at a time, and fails where it would have failed.

use super::zeros;
use crate::choices::{self, Words};
use crate::live;
use crate::loops::walk::{every, operands, pieces};
use crate::loops::{Func, Int, Local, Operand, Round, Stmt, Value, Word};
use indexmap::IndexSet;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::Compare;
use wengert_prim::RealOp;

/// Powers up to here are products, as in `wengert_prim`.
const MULTIPLIED_OUT: u64 = 32;
/// Steps of numbers that move with a loop are at most this, in bytes.
const LARGEST_STEP: i64 = 1 << 20;

/// How to run a loop in vectors.
pub(super) struct Plan<'f> {
    pub(super) index: Local,
    /// What is carried from one iteration to the next.
    pub(super) carried: Vec<Carried>,
    /// Whether the last iteration is to be run alone, because variables that it assigns are read later.
    pub(super) keep_last: bool,
    /// How many vectors at a time.
    pub(super) unroll: usize,
    /// For how many products and quotients one need not look for strong zeros first.
    pub(super) strong: usize,
    /// Whether it is a piece of a long loop: it has many iterations, but for the last piece.
    pub(super) is_piece: bool,
    /// The body without branches, and its variables.
    pub(super) body: Vec<Stmt>,
    pub(super) words: Words<'f>,
}

impl Plan<'_> {
    /// Whether it is done without looking for strong zeros first, also where the text is there a second time only for that.
    pub(super) fn is_quick(&self) -> bool {
        self.strong >= zeros::WORTH
    }
}

/// A real number that is carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Carried {
    pub(super) local: Local,
    pub(super) how: How,
}

/// What a carried number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// What it was, and something added or subtracted.
    Sum,
    /// The greater (or the less) of what it was and something; no number, if one of them is none.
    Extreme(Compare),
}

/// How a variable differs from one iteration to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Not at all.
    Uniform,
    /// An integer or address that moves by so much.
    Moving(i64),
    /// An integer, each computed for itself.
    Each,
    /// A real.
    Vector,
    /// A truth value that comparisons of reals give.
    Mask,
}

/// The loops of a function that are run in vectors.
pub(super) fn plans(func: &Func, any_order: bool) -> FxHashMap<*const Stmt, Plan<'_>> {
    let known = live::after_loops(func, &|body| !body.is_empty() && choices::is_convertible(body));
    let mut made = FxHashMap::default();
    let pieces = lengths(&func.body);
    each_loop(&func.body, &mut |stmt| {
        let (Stmt::For { index, len, independent, body, .. }, Some(after)) =
            (stmt, known.get(&std::ptr::from_ref(stmt)))
        else {
            return;
        };
        let (body, words) = choices::convert(func, body, after);
        let planner = Planner { words: &words, index: *index, body: &body, after, any_order };
        let index = *index;
        if let Some(found) = planner.plan(*independent) {
            let Found { carried, keep_last, unroll } = found;
            let strong = if any_order { zeros::strong(&body) } else { 0 };
            let is_piece = len.local().is_some_and(|len| pieces.contains(&len));
            let plan = Plan { index, carried, keep_last, unroll, strong, is_piece, body, words };
            made.insert(std::ptr::from_ref(stmt), plan);
        }
    });
    made
}

/// How many iterations pieces of long loops have, and what lies between their edges.
pub(super) fn lengths(stmts: &[Stmt]) -> FxHashSet<Local> {
    let mut known: FxHashSet<Local> = pieces(stmts).into_keys().collect();
    every(stmts, &mut |stmt| {
        let Stmt::Set(local, value) = stmt else { return };
        let is_known = |operand: &Operand| operand.local().is_some_and(|local| known.contains(&local));
        let is_one = match value {
            Value::Copy(x) | Value::Int(Int::Sub, x, _) => is_known(x),
            Value::Int(Int::Min | Int::Max, x, y) => is_known(x) || is_known(y),
            Value::Real(..)
            | Value::Int(..)
            | Value::CompareReal(..)
            | Value::CompareInt(..)
            | Value::OutOfRange(..)
            | Value::Select(..)
            | Value::IntToReal(_)
            | Value::RealToInt(_)
            | Value::Round(..)
            | Value::Bits(_)
            | Value::Load { .. }
            | Value::Address { .. }
            | Value::Tag(..)
            | Value::Unique(..)
            | Value::Alloc(..) => false,
        };
        if is_one {
            known.insert(*local);
        }
    });
    known
}

fn each_loop(stmts: &[Stmt], see: &mut dyn FnMut(&Stmt)) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        for stmt in stmts {
            if matches!(stmt, Stmt::For { .. }) {
                see(stmt);
            }
            crate::loops::walk::parts(stmt).into_iter().for_each(|part| each_loop(part, see));
        }
    });
}

/// The parts of a plan.
struct Found {
    carried: Vec<Carried>,
    keep_last: bool,
    unroll: usize,
}

struct Planner<'a> {
    words: &'a Words<'a>,
    index: Local,
    body: &'a [Stmt],
    /// What is read after the loop.
    after: &'a FxHashSet<Local>,
    any_order: bool,
}

/// What gain and cost there is.
#[derive(Default)]
struct Balance {
    vectors: usize,
    scalars: usize,
}

impl Planner<'_> {
    fn plan(&self, independent: bool) -> Option<Found> {
        let (carried, keep_last) = self.carried()?;
        let mut classes: FxHashMap<Local, Class> = FxHashMap::default();
        classes.insert(self.index, Class::Moving(1));
        classes.extend(carried.iter().map(|carried| (carried.local, Class::Vector)));
        let sums: FxHashSet<Local> = carried.iter().map(|carried| carried.local).collect();
        let ranges = self.ranges();
        let (mut balance, mut stored) = (Balance::default(), false);
        for stmt in self.body {
            match stmt {
                Stmt::Set(local, value) => {
                    let word = self.words.get(*local)?;
                    let class = self.class(value, word, &classes, &mut balance)?;
                    if sums.contains(local) && class != Class::Vector
                        || word == Word::Ref && class != Class::Uniform
                    {
                        return None;
                    }
                    classes.insert(*local, class);
                }
                Stmt::Store { base, index, value, .. } => {
                    stored = true;
                    let of = |operand| self.of(operand, &classes);
                    store(of(base)?, of(index)?, of(value)?, &mut balance)?;
                }
                Stmt::If { cond, .. } => {
                    let class = self.of(cond, &classes)?;
                    // What a check looks at must not depend on what the same iterations have stored.
                    if stored && (class == Class::Mask || self.reads_integers()) {
                        return None;
                    }
                    let asked = cond.local().and_then(|cond| ranges.get(&cond));
                    let is_range = asked.is_some_and(|asked| self.moves(asked, &classes));
                    balance.scalars += usize::from(class == Class::Each && !is_range);
                }
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
        }
        if stored && !independent || balance.vectors == 0 || balance.scalars > balance.vectors {
            return None;
        }
        let size = balance.vectors + 2 * balance.scalars;
        let unroll = match (size, carried.is_empty()) {
            (0..=5, false) => 4,
            (0..=24, _) => 2,
            (_, _) => 1,
        };
        Some(Found { carried, keep_last, unroll })
    }

    /// Whether integers come from memory or from reals.
    fn reads_integers(&self) -> bool {
        self.body.iter().any(|stmt| {
            let Stmt::Set(local, value) = stmt else { return false };
            let is_load = matches!(value, Value::Load { .. });
            is_load && self.words.get(*local) != Some(Word::Real)
                || matches!(value, Value::RealToInt(_) | Value::Bits(_))
        })
    }

    /// The truth values that ask whether something is not in a range, with what they ask.
    fn ranges(&self) -> FxHashMap<Local, Vec<(&Operand, &Operand)>> {
        let mut found: FxHashMap<Local, Vec<(&Operand, &Operand)>> = FxHashMap::default();
        for stmt in self.body {
            if let Stmt::Set(local, Value::OutOfRange(index, size)) = stmt {
                found.entry(*local).or_default().push((index, size));
            }
        }
        found
    }

    /// Whether one of these asks of what moves.
    fn moves(&self, ranges: &[(&Operand, &Operand)], classes: &FxHashMap<Local, Class>) -> bool {
        let of = |operand| self.of(operand, classes);
        let moves =
            |index, size| matches!((of(index), of(size)), (Some(Class::Moving(_)), Some(Class::Uniform)));
        ranges.iter().any(|(index, size)| moves(*index, *size))
    }

    fn of(&self, operand: &Operand, classes: &FxHashMap<Local, Class>) -> Option<Class> {
        match operand {
            Operand::Local(local) => Some(classes.get(local).copied().unwrap_or(Class::Uniform)),
            Operand::Real(_) | Operand::Int(_) => Some(Class::Uniform),
            Operand::Text(_) => None,
        }
    }

    /// The class of what an expression gives; `None` if it cannot be in vectors.
    fn class(
        &self,
        value: &Value,
        word: Word,
        classes: &FxHashMap<Local, Class>,
        balance: &mut Balance,
    ) -> Option<Class> {
        let of = |operand: &Operand| self.of(operand, classes);
        let class = match value {
            Value::Copy(x) => return of(x),
            Value::Real(op, args) => real(*op, args.iter().map(of).collect::<Option<Vec<Class>>>()?)?,
            Value::Int(op, a, b) => integer(*op, of(a)?, of(b)?, constant(a), constant(b))?,
            Value::CompareReal(_, a, b) => match (of(a)?, of(b)?) {
                (Class::Uniform, Class::Uniform) => Class::Uniform,
                (a, b) => (is_real(a) && is_real(b)).then_some(Class::Mask)?,
            },
            // A check looks at the first and the last.
            Value::OutOfRange(a, b) if matches!((of(a)?, of(b)?), (Class::Moving(_), Class::Uniform)) => {
                return Some(Class::Each);
            }
            // It does not hold.
            Value::CompareInt(Compare::Eq, a, Operand::Int(0)) if of(a)? == Class::Mask => Class::Mask,
            Value::CompareInt(_, a, b) | Value::OutOfRange(a, b) => test(of(a)?, of(b)?)?,
            Value::Select(cond, a, b) => {
                let (cond, x, y) = (of(cond)?, of(a)?, of(b)?);
                if truths(cond, x, y) { Class::Mask } else { select(word, cond, x, y)? }
            }
            Value::IntToReal(x) => match of(x)? {
                Class::Uniform => Class::Uniform,
                Class::Moving(_) | Class::Each => {
                    balance.scalars += 1;
                    Class::Vector
                }
                Class::Vector | Class::Mask => return None,
            },
            Value::RealToInt(x) => {
                if of(x)? == Class::Uniform {
                    Class::Uniform
                } else {
                    return None;
                }
            }
            Value::Round(round, x) => match (round, of(x)?) {
                (_, Class::Uniform) => Class::Uniform,
                (Round::Floor | Round::Ceil | Round::Truncate, Class::Vector) => Class::Vector,
                (_, _) => return None,
            },
            Value::Load { base, index, .. } => load(word, bytes(of(base)?, of(index)?)?, balance)?,
            Value::Address { base, index, .. } => match bytes(of(base)?, of(index)?)? {
                Some(0) => Class::Uniform,
                Some(step) => Class::Moving(step),
                None => return None,
            },
            Value::Bits(_) | Value::Tag(..) | Value::Unique(..) | Value::Alloc(..) => return None,
        };
        balance.vectors += usize::from(matches!(class, Class::Vector | Class::Mask));
        balance.scalars += usize::from(class == Class::Each);
        Some(class)
    }

    /// What is carried, and whether what the last iteration assigns is read later.
    fn carried(&self) -> Option<(Vec<Carried>, bool)> {
        let mut definitions: FxHashMap<Local, Vec<&Value>> = FxHashMap::default();
        let mut reads: FxHashMap<Local, usize> = FxHashMap::default();
        let mut exposed: IndexSet<Local> = IndexSet::new();
        let mut read = |operand: &Operand, definitions: &FxHashMap<Local, Vec<&Value>>| {
            if let Operand::Local(local) = operand {
                *reads.entry(*local).or_insert(0) += 1;
                if !definitions.contains_key(local) {
                    exposed.insert(*local);
                }
            }
        };
        for stmt in self.body {
            operands(stmt).iter().for_each(|operand| read(operand, &definitions));
            if let Stmt::If { then, .. } = stmt {
                let inner = then.iter().flat_map(operands);
                inner.for_each(|operand| read(&operand, &definitions));
            }
            if let Stmt::Set(local, value) = stmt {
                definitions.entry(*local).or_default().push(value);
            }
        }
        if definitions.contains_key(&self.index) {
            return None;
        }
        let mut carried = Vec::new();
        for local in exposed.into_iter().filter(|local| definitions.contains_key(local)) {
            let sums = Sums { planner: self, definitions: &definitions, reads: &reads, local };
            carried.push(Carried { local, how: sums.how()? });
        }
        if !carried.is_empty() && !self.any_order {
            return None;
        }
        let sums: FxHashSet<Local> = carried.iter().map(|carried| carried.local).collect();
        let keep_last = self.after.iter().any(|local| !sums.contains(local));
        Some((carried, keep_last || self.after.contains(&self.index)))
    }
}

/// What a carried variable is.
struct Sums<'s> {
    planner: &'s Planner<'s>,
    definitions: &'s FxHashMap<Local, Vec<&'s Value>>,
    reads: &'s FxHashMap<Local, usize>,
    local: Local,
}

impl Sums<'_> {
    fn how(&self) -> Option<How> {
        if self.planner.words.get(self.local) != Some(Word::Real) {
            return None;
        }
        let value = self.definition(self.local)?;
        if let Some(how) = self.extreme(value) {
            return Some(how);
        }
        (self.reads.get(&self.local) == Some(&1) && self.is_sum_of(value)).then_some(How::Sum)
    }

    /// The one expression that a variable is assigned in the loop.
    fn definition(&self, local: Local) -> Option<&Value> {
        match self.definitions.get(&local).map(Vec::as_slice) {
            Some([value]) => Some(value),
            _ => None,
        }
    }

    /// Whether an expression is the carried variable and something added to it or subtracted.
    fn is_sum_of(&self, value: &Value) -> bool {
        match value {
            Value::Copy(x) => self.is_sum(x),
            Value::Real(RealOp::Add, args) => args.iter().any(|arg| self.is_sum(arg)),
            Value::Real(RealOp::Sub, args) => args.first().is_some_and(|arg| self.is_sum(arg)),
            Value::Real(..)
            | Value::Int(..)
            | Value::CompareReal(..)
            | Value::CompareInt(..)
            | Value::OutOfRange(..)
            | Value::Select(..)
            | Value::IntToReal(_)
            | Value::RealToInt(_)
            | Value::Round(..)
            | Value::Bits(_)
            | Value::Load { .. }
            | Value::Address { .. }
            | Value::Tag(..)
            | Value::Unique(..)
            | Value::Alloc(..) => false,
        }
    }

    /// Partial sums are read by the next addition only.
    fn is_sum(&self, operand: &Operand) -> bool {
        let Operand::Local(local) = operand else { return false };
        if *local == self.local {
            return true;
        }
        let own = self.reads.get(local) == Some(&1) && !self.planner.after.contains(local);
        own && self
            .definition(*local)
            .is_some_and(|value| stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || self.is_sum_of(value)))
    }

    /// `if old >= x then old else if old == old then x else old`, or with less.
    fn extreme(&self, value: &Value) -> Option<How> {
        let old = Operand::Local(self.local);
        let known = |operand: &Operand| match operand {
            Operand::Local(local) => self.definition(*local),
            Operand::Real(_) | Operand::Int(_) | Operand::Text(_) => None,
        };
        let Value::Select(cond, kept, next) = value else { return None };
        let Value::CompareReal(compare, compared, x) = known(cond)? else { return None };
        let Value::Select(was_one, taken, otherwise) = known(next)? else { return None };
        let was_one = *known(was_one)? == Value::CompareReal(Compare::Eq, old, old);
        let same = [kept, compared, otherwise] == [&old; 3] && taken == x && *x != old;
        // It is read in these four expressions, one of them reads it twice.
        let alone = self.reads.get(&self.local) == Some(&5);
        let better = match compare {
            Compare::Ge => Compare::Gt,
            Compare::Le => Compare::Lt,
            Compare::Eq | Compare::Ne | Compare::Lt | Compare::Gt => return None,
        };
        (was_one && same && alone).then_some(How::Extreme(better))
    }
}

/// A store of what has this class.
fn store(base: Class, index: Class, value: Class, balance: &mut Balance) -> Option<()> {
    match (bytes(base, index)?, value) {
        (Some(0), _) => return None,
        (Some(8), Class::Vector | Class::Mask) => balance.vectors += 1,
        (_, _) => balance.scalars += 1,
    }
    Some(())
}

fn is_real(class: Class) -> bool {
    matches!(class, Class::Uniform | Class::Vector)
}

fn is_integer(class: Class) -> bool {
    matches!(class, Class::Uniform | Class::Moving(_) | Class::Each)
}

fn constant(operand: &Operand) -> Option<i64> {
    if let Operand::Int(n) = operand { Some(*n) } else { None }
}

/// By how many bytes an address moves; `Some(None)` if not by the same each time.
#[expect(clippy::option_option, reason = "there may be no address, and one may have no step")]
fn bytes(base: Class, index: Class) -> Option<Option<i64>> {
    let base = match base {
        Class::Uniform => 0,
        Class::Moving(step) => step,
        Class::Each | Class::Vector | Class::Mask => return None,
    };
    match index {
        Class::Uniform => Some(Some(base)),
        Class::Moving(step) => {
            let step = base + 8 * step;
            (step.abs() <= LARGEST_STEP).then_some(Some(step))
        }
        Class::Each if base == 0 => Some(None),
        Class::Each | Class::Vector | Class::Mask => None,
    }
}

fn integer(op: Int, a: Class, b: Class, constant_a: Option<i64>, constant_b: Option<i64>) -> Option<Class> {
    let small = |step: i64| step.abs() <= LARGEST_STEP;
    match (op, a, b) {
        (_, Class::Uniform, Class::Uniform) => Some(Class::Uniform),
        (Int::And | Int::Or | Int::Xor, Class::Mask, Class::Mask) => Some(Class::Mask),
        (_, Class::Mask | Class::Vector, _) | (_, _, Class::Mask | Class::Vector) => None,
        (Int::Add, Class::Moving(step), Class::Uniform)
        | (Int::Add | Int::Sub, Class::Uniform, Class::Moving(step))
            if small(step) =>
        {
            Some(Class::Moving(if op == Int::Sub { -step } else { step }))
        }
        (Int::Sub, Class::Moving(step), Class::Uniform) => Some(Class::Moving(step)),
        (Int::Add, Class::Moving(a), Class::Moving(b)) if small(a + b) => Some(Class::Moving(a + b)),
        (Int::Sub, Class::Moving(a), Class::Moving(b)) if small(a - b) => Some(Class::Moving(a - b)),
        (Int::Mul, Class::Moving(step), Class::Uniform) => {
            let step = constant_b.and_then(|n| n.checked_mul(step)).filter(|step| small(*step));
            Some(step.map_or(Class::Each, Class::Moving))
        }
        (Int::Mul, Class::Uniform, Class::Moving(step)) => {
            let step = constant_a.and_then(|n| n.checked_mul(step)).filter(|step| small(*step));
            Some(step.map_or(Class::Each, Class::Moving))
        }
        (_, _, _) => Some(Class::Each),
    }
}

fn real(op: RealOp, args: Vec<Class>) -> Option<Class> {
    if !is_vector_op(op) || args.iter().any(|class| !is_real(*class)) {
        return None;
    }
    Some(if args.contains(&Class::Vector) { Class::Vector } else { Class::Uniform })
}

/// A comparison of integers.
fn test(a: Class, b: Class) -> Option<Class> {
    match (a, b) {
        (Class::Uniform, Class::Uniform) => Some(Class::Uniform),
        (a, b) => (is_integer(a) && is_integer(b)).then_some(Class::Each),
    }
}

/// A word from addresses that move by so many bytes.
fn load(word: Word, step: Option<i64>, balance: &mut Balance) -> Option<Class> {
    match (word, step) {
        (Word::Real | Word::Int, Some(0)) => Some(Class::Uniform),
        (Word::Real, Some(8)) => Some(Class::Vector),
        (Word::Real, _) => {
            balance.scalars += 1;
            Some(Class::Vector)
        }
        (Word::Int, _) => Some(Class::Each),
        (Word::Ref | Word::Address, _) => None,
    }
}

/// Whether a choice is one between truth values, of which comparisons of reals give one: then the other side is a truth value, too. Where both
/// are 0 and 1, they may be any integers, and one of them goes on to be chosen beside others.
fn truths(cond: Class, a: Class, b: Class) -> bool {
    !matches!(cond, Class::Moving(_) | Class::Vector)
        && [a, b].contains(&Class::Mask)
        && [a, b].into_iter().all(|side| matches!(side, Class::Mask | Class::Each | Class::Uniform))
}

fn select(word: Word, cond: Class, a: Class, b: Class) -> Option<Class> {
    let uniform = cond == Class::Uniform && a == Class::Uniform && b == Class::Uniform;
    match word {
        _ if uniform => Some(Class::Uniform),
        Word::Real if is_real(a) && is_real(b) && !matches!(cond, Class::Moving(_) | Class::Vector) => {
            Some(Class::Vector)
        }
        Word::Int if is_integer(cond) && is_integer(a) && is_integer(b) => Some(Class::Each),
        Word::Real | Word::Int | Word::Ref | Word::Address => None,
    }
}

/// Whether there are instructions for an operation on vectors.
#[expect(clippy::wildcard_enum_match_arm, reason = "operations that are not listed are functions")]
pub(crate) fn is_vector_op(op: RealOp) -> bool {
    match op {
        RealOp::Neg | RealOp::Abs | RealOp::Sqrt | RealOp::Sign | RealOp::Relu => true,
        RealOp::Add | RealOp::Sub | RealOp::Mul | RealOp::Div => true,
        RealOp::MulZero | RealOp::DivZero | RealOp::Min | RealOp::Max => true,
        RealOp::PowInt(n) => n.unsigned_abs() <= MULTIPLIED_OUT,
        _ => false,
    }
}
