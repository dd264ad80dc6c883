//! The body of a loop without branches: both sides of a choice are computed, and then one is taken.
//!
//! ```text
//! if c { y = a + b } else { y = a }      t = a + b   y = if c then t else a
//! ```
//!
//! That can be done where neither side can fail or costs much: arithmetic without loads or divisions of integers, and with functions
//! only where they are computed in vectors then.

use crate::jit::is_vector_op;
use crate::loops::walk::{is_failure, is_straight, parts, reads};
use crate::loops::{Func, Int, Local, Operand, Stmt, Value, Word};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::ty::Id;
use wengert_prim::RealOp;
use wengert_vmath::function_of;

/// So many functions may be computed for nothing, and so many for each one that is computed in any case.
const FUNCTIONS: usize = 4;
const FUNCTIONS_FOR_EACH: usize = 2;

/// Whether a body can be written so; checks that fail stay.
pub(crate) fn is_convertible(body: &[Stmt]) -> bool {
    is_convertible_with(body, &is_vector_op)
}

/// Whether a body can be written so if functions of vector math may be on its sides, and pays if they are computed in vectors then: one
/// that is called by itself takes as long as several in a vector.
pub(crate) fn pays(body: &[Stmt]) -> bool {
    let (mut chosen, mut always) = (0, 0);
    for stmt in body {
        functions(stmt, if matches!(stmt, Stmt::If { .. }) { &mut chosen } else { &mut always });
    }
    chosen > 0
        && chosen <= FUNCTIONS + FUNCTIONS_FOR_EACH * always
        && is_convertible_with(body, &|op| is_vector_op(op) || function_of(op).is_some())
}

/// How many functions a statement calls.
fn functions(stmt: &Stmt, number: &mut usize) {
    if let Stmt::Set(_, Value::Real(op, _)) = stmt {
        *number += usize::from(!is_vector_op(*op));
    }
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        parts(stmt).into_iter().flatten().for_each(|inner| functions(inner, number));
    });
}

fn is_convertible_with(body: &[Stmt], fine: &dyn Fn(RealOp) -> bool) -> bool {
    let chooses = |stmt: &Stmt| matches!(stmt, Stmt::If { then, otherwise, .. } if is_choice(then, fine) && is_choice(otherwise, fine));
    body.iter().all(|stmt| is_straight(stmt) || chooses(stmt))
}

/// Whether the statements of a side can be done in any case, with operations that are fine.
fn is_choice(side: &[Stmt], fine: &dyn Fn(RealOp) -> bool) -> bool {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        side.iter().all(|stmt| match stmt {
            Stmt::Set(_, value) => match value {
                Value::Real(op, _) => fine(*op),
                Value::Int(op, ..) => !matches!(op, Int::Div | Int::Rem),
                Value::Copy(_)
                | Value::CompareReal(..)
                | Value::CompareInt(..)
                | Value::OutOfRange(..)
                | Value::Select(..)
                | Value::IntToReal(_)
                | Value::Round(..) => true,
                Value::RealToInt(_)
                | Value::Bits(_)
                | Value::Load { .. }
                | Value::Address { .. }
                | Value::Tag(..)
                | Value::Unique(..)
                | Value::Alloc(..) => false,
            },
            Stmt::If { then, otherwise, .. } => is_choice(then, fine) && is_choice(otherwise, fine),
            Stmt::Store { .. }
            | Stmt::Switch { .. }
            | Stmt::For { .. }
            | Stmt::While { .. }
            | Stmt::Parallel { .. }
            | Stmt::Call { .. }
            | Stmt::Runtime { .. }
            | Stmt::Retain(..)
            | Stmt::Release(..)
            | Stmt::Free(..)
            | Stmt::Fail(..) => false,
        })
    })
}

/// The words of the variables of a function, and of those that are needed in addition.
pub(crate) struct Words<'f> {
    func: &'f Func,
    more: Vec<(Word, Local)>,
}

impl Words<'_> {
    pub(crate) fn get(&self, local: Local) -> Option<Word> {
        match local.index().checked_sub(self.func.locals.len()) {
            None => self.func.locals.get(local).copied(),
            Some(place) => self.more.get(place).map(|(word, _)| *word),
        }
    }

    fn push(&mut self, word: Word, like: Local) -> Local {
        self.more.push((word, like));
        Local::new(self.func.locals.len() + self.more.len() - 1)
    }

    /// The words of those in addition, and the variables that they are like.
    pub(crate) fn added(self) -> Vec<(Word, Local)> {
        self.more
    }
}

/// The body so written, and the variables that it needs.
pub(crate) fn convert<'f>(func: &'f Func, body: &[Stmt], after: &FxHashSet<Local>) -> (Vec<Stmt>, Words<'f>) {
    let mut reads = Reads::default();
    reads.note(body);
    let (words, now) = (Words { func, more: Vec::new() }, Now::default());
    let mut converter = Converter { words, made: Vec::new(), reads, after, now };
    for stmt in body {
        match stmt {
            Stmt::If { cond, then, otherwise } if !is_failure(then) => {
                converter.choice(stmt, *cond, [then, otherwise], true);
            }
            Stmt::If { .. }
            | Stmt::Set(..)
            | Stmt::Store { .. }
            | Stmt::Switch { .. }
            | Stmt::For { .. }
            | Stmt::While { .. }
            | Stmt::Parallel { .. }
            | Stmt::Call { .. }
            | Stmt::Runtime { .. }
            | Stmt::Retain(..)
            | Stmt::Release(..)
            | Stmt::Free(..)
            | Stmt::Fail(..) => converter.made.push(stmt.clone()),
        }
    }
    (converter.made, converter.words)
}

/// When variables are read, in the order of the statements.
#[derive(Default)]
struct Reads {
    /// How many reads there were.
    before: usize,
    /// The first read of a variable, and the last one.
    ends: FxHashMap<Local, (usize, usize)>,
    /// Of each branch, by its address, how many reads there were before its sides, and after them.
    sides: FxHashMap<*const Stmt, (usize, usize)>,
}

impl Reads {
    fn note(&mut self, stmts: &[Stmt]) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            for stmt in stmts {
                for local in reads(stmt) {
                    self.ends.entry(local).or_insert((self.before, self.before)).1 = self.before;
                    self.before += 1;
                }
                let start = self.before;
                parts(stmt).into_iter().for_each(|part| self.note(part));
                if matches!(stmt, Stmt::If { .. }) {
                    self.sides.insert(std::ptr::from_ref(stmt), (start, self.before));
                }
            }
        });
    }

    /// Whether a variable is read elsewhere than on the sides of a branch.
    fn has_outside(&self, local: Local, branch: &Stmt) -> bool {
        let (start, end) = self.sides.get(&std::ptr::from_ref(branch)).copied().unwrap_or_default();
        self.ends.get(&local).is_some_and(|(first, last)| *first < start || *last >= end)
    }
}

/// What variables are on the sides around, and what they were before: what a side has made of them is taken back at its end.
#[derive(Default)]
struct Now {
    known: FxHashMap<Local, Operand>,
    before: Vec<(Local, Option<Operand>)>,
}

impl Now {
    fn of(&self, operand: Operand) -> Operand {
        match operand {
            Operand::Local(local) => self.known.get(&local).copied().unwrap_or(operand),
            Operand::Real(_) | Operand::Int(_) | Operand::Text(_) => operand,
        }
    }

    fn set(&mut self, local: Local, operand: Operand) {
        self.before.push((local, self.known.insert(local, operand)));
    }

    /// Goes back to where so many were set. Gives what was set since then, and to what in the end.
    fn take_back(&mut self, mark: usize) -> FxHashMap<Local, Operand> {
        let mut side = FxHashMap::default();
        for (local, before) in self.before.drain(mark..).rev() {
            let now = match before {
                Some(before) => self.known.insert(local, before),
                None => self.known.remove(&local),
            };
            if let Some(now) = now {
                side.entry(local).or_insert(now);
            }
        }
        side
    }
}

struct Converter<'c, 'f> {
    words: Words<'f>,
    made: Vec<Stmt>,
    reads: Reads,
    after: &'c FxHashSet<Local>,
    now: Now,
}

impl Converter<'_, '_> {
    /// Both sides, and what they differ in. On a side of another choice, its variables are renamed.
    fn choice(&mut self, branch: &Stmt, cond: Operand, sides: [&[Stmt]; 2], is_outermost: bool) {
        let cond = self.now.of(cond);
        let [yes, no] = sides.map(|side| self.side(side));
        let mut assigned: Vec<Local> = yes.keys().chain(no.keys()).copied().collect();
        assigned.sort_by_key(|local| local.index());
        assigned.dedup();
        let mut chosen = Vec::new();
        for local in assigned {
            let was = self.now.of(Operand::Local(local));
            let [a, b] = [&yes, &no].map(|side| side.get(&local).copied().unwrap_or(was));
            let outside = self.reads.has_outside(local, branch) || self.after.contains(&local);
            // Both sides may give it the same, which is not what it was.
            if outside && (a, b) != (Operand::Local(local), Operand::Local(local)) {
                chosen.push((local, a, b));
            }
        }
        if !is_outermost {
            for (local, a, b) in chosen {
                let made = self.fresh(local);
                self.made.push(Stmt::Set(made, either(cond, a, b)));
                self.now.set(local, Operand::Local(made));
            }
            return;
        }
        // All at once: one may be what another was.
        let made: Vec<_> = chosen.iter().map(|(local, ..)| self.fresh(*local)).collect();
        let alone = chosen.len() == 1;
        for ((local, a, b), made) in chosen.iter().zip(&made) {
            let to = if alone { *local } else { *made };
            self.made.push(Stmt::Set(to, either(cond, *a, *b)));
        }
        for ((local, ..), made) in chosen.iter().zip(&made).filter(|_| !alone) {
            self.made.push(Stmt::Set(*local, Value::Copy(Operand::Local(*made))));
        }
    }

    fn fresh(&mut self, like: Local) -> Local {
        let word = self.words.get(like).unwrap_or(Word::Int);
        self.words.push(word, like)
    }

    /// A side's statements on variables of their own. Gives what those that it assigns are at its end.
    fn side(&mut self, stmts: &[Stmt]) -> FxHashMap<Local, Operand> {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mark = self.now.before.len();
            for stmt in stmts {
                match stmt {
                    Stmt::Set(local, Value::Copy(x)) => self.now.set(*local, self.now.of(*x)),
                    Stmt::Set(local, value) => {
                        let value = renamed(value, &self.now);
                        let made = self.fresh(*local);
                        self.made.push(Stmt::Set(made, value));
                        self.now.set(*local, Operand::Local(made));
                    }
                    Stmt::If { cond, then, otherwise } => {
                        self.choice(stmt, *cond, [then, otherwise], false);
                    }
                    Stmt::Store { .. }
                    | Stmt::Switch { .. }
                    | Stmt::For { .. }
                    | Stmt::While { .. }
                    | Stmt::Parallel { .. }
                    | Stmt::Call { .. }
                    | Stmt::Runtime { .. }
                    | Stmt::Retain(..)
                    | Stmt::Release(..)
                    | Stmt::Free(..)
                    | Stmt::Fail(..) => {}
                }
            }
            self.now.take_back(mark)
        })
    }
}

/// One of two operands, which may be the same.
fn either(cond: Operand, a: Operand, b: Operand) -> Value {
    if a == b { Value::Copy(a) } else { Value::Select(cond, a, b) }
}

/// An expression with a side's variables.
fn renamed(value: &Value, side: &Now) -> Value {
    let of = |operand: &Operand| side.of(*operand);
    match value {
        Value::Copy(x) => Value::Copy(of(x)),
        Value::Real(op, args) => Value::Real(*op, args.iter().map(of).collect()),
        Value::Int(op, a, b) => Value::Int(*op, of(a), of(b)),
        Value::CompareReal(compare, a, b) => Value::CompareReal(*compare, of(a), of(b)),
        Value::CompareInt(compare, a, b) => Value::CompareInt(*compare, of(a), of(b)),
        Value::OutOfRange(a, b) => Value::OutOfRange(of(a), of(b)),
        Value::Select(cond, a, b) => Value::Select(of(cond), of(a), of(b)),
        Value::IntToReal(x) => Value::IntToReal(of(x)),
        Value::Round(round, x) => Value::Round(*round, of(x)),
        // A choice has no others.
        Value::RealToInt(_)
        | Value::Bits(_)
        | Value::Load { .. }
        | Value::Address { .. }
        | Value::Tag(..)
        | Value::Unique(..)
        | Value::Alloc(..) => value.clone(),
    }
}
