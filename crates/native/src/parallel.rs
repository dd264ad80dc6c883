//! Loops divided between threads.
//!
//! A loop that may be long, and whose iterations need each other at most for sums, is put into a function, its *part*, that
//! makes so many iterations from a first one. If the loop turns out to be much work, it is made by parts; else as it was.
//!
//! ```text
//! for i in 0..n adding to s { s = s + a[i] }
//!
//! if work(n) { s = in parallel 0..n adding to s do part(a) } else { for i in 0..n … }
//! func part(from, count, a, s) -> s { b = &a[from]  for k in 0..count { s = s + b[k] } }
//! ```
//!
//! Into how many parts a loop is divided depends on its length and work alone, sums of parts are added in the order of the
//! parts, and with one thread the parts are made one after the other: so results do not depend on the number of threads. Since
//! the order in which numbers are added does differ from that of the source, loops with sums of reals stay whole if numbers are
//! to be exact.
//!
//! What a part makes may outlive it. References are counted as elsewhere if parts change no counts but those of their own
//! objects ([`quiet`]); else atomically, while several threads are at it ([`shared`]).

mod again;
mod alone;
mod bounds;
pub(crate) mod near;
mod quiet;
mod shared;
mod work;

use crate::loops::walk::{every, map_parts, operands, renamed, writes};
use crate::loops::{Func, Int, Join, Local, Operand, Origin, Part as Named, Program, Stmt, Sum, Value, Word};
use bounds::Bounds;
use quiet::Quiet;
use rustc_hash::{FxHashMap, FxHashSet};
use shared::Held;
use wengert_base::Name;
use wengert_ir::op::Compare;
use wengert_ir::program::FuncId;
use wengert_ir::ty::{Id, Table};
use work::Work;

/// Loops with less work than this are made whole.
const MUCH: f64 = 524_288.0;
/// Loops of which it is known before that they have no more work than this are never divided: so little less than much, that nothing
/// is rounded up to that.
const LITTLE: f64 = MUCH * (1.0 - 1e-9);

/// Bodies with more statements are not repeated; in large programs, of which each part is a small part of the time, none that is worth
/// a call.
const LONG: usize = 40;
const LARGE: usize = 4_000;
const WORTH_A_CALL: usize = 6;
/// So many sums are described by a word.
const MOST_SUMS: usize = 16;
/// Where references are counted atomically, iterations with less work than this would be little more than that, and those with less
/// work than the second would wait for each other if all refer to the same object.
const ATOMIC: f64 = 128.0;
const WAITING: f64 = 4096.0;
/// With this factor, any loop is much work.
const MUCH_MORE: f64 = 1e8;

/// Divides the loops of a program for which that may be worth it. If `exact`, reals are added in the order of the source. For
/// tests, short loops are divided too.
pub(crate) fn divide(program: &mut Program, exact: bool, short_loops: bool) {
    let scale = if short_loops { MUCH_MORE } else { 1.0 };
    let (quiet, held) = (Quiet::of(program), Held::of(program));
    let works = work::of_functions(program);
    let first = program.funcs.len();
    let large = program.funcs.iter().map(|(_, func)| size(&func.body)).sum::<usize>() >= LARGE;
    let repeated = if large { WORTH_A_CALL } else { LONG };
    let mut parts = Vec::new();
    for (_, func) in program.funcs.iter_mut() {
        let body = std::mem::take(&mut func.body);
        let known = Known::of(func, &body);
        let mut divider = Divider {
            func,
            known,
            quiet: &quiet,
            held: &held,
            works: &works,
            exact,
            scale,
            repeated,
            first,
            parts,
        };
        let body = divider.stmts(body);
        parts = divider.parts;
        func.body = body;
    }
    for part in parts {
        program.funcs.push(part);
    }
    shared::mark(program);
}

/// What is known of the variables of a function.
struct Known {
    /// How often each is read.
    reads: FxHashMap<Local, usize>,
    /// How often each is assigned.
    sets: FxHashMap<Local, usize>,
    /// The variable that an address is computed from, or that is copied.
    sources: FxHashMap<Local, Local>,
    /// References that are constructors without fields, which nobody counts.
    constants: FxHashSet<Local>,
    /// Sums of integers.
    sums: FxHashMap<Local, Value>,
    /// Between which numbers integers are.
    bounds: Bounds,
}

impl Known {
    fn of(func: &Func, body: &[Stmt]) -> Known {
        let mut known = Known {
            reads: FxHashMap::default(),
            sets: func.params.iter().map(|param| (*param, 1)).collect(),
            sources: FxHashMap::default(),
            constants: FxHashSet::default(),
            sums: FxHashMap::default(),
            bounds: Bounds::default(),
        };
        func.results.iter().for_each(|result| *known.reads.entry(*result).or_default() += 1);
        every(body, &mut |stmt| {
            reads(stmt, &mut |local| *known.reads.entry(local).or_default() += 1);
            writes(stmt).into_iter().for_each(|local| *known.sets.entry(local).or_default() += 1);
            if let Stmt::Set(
                local,
                Value::Address { base: Operand::Local(base), .. } | Value::Copy(Operand::Local(base)),
            ) = stmt
            {
                known.sources.insert(*local, *base);
            }
            if let Stmt::Set(local, Value::Copy(Operand::Int(_))) = stmt {
                known.constants.insert(*local);
            }
        });
        known.constants.retain(|local| known.sets.get(local) == Some(&1));
        known.sums = again::sums(func, body, &known.sets);
        known.bounds = Bounds::of(func, body, &known.sets);
        known
    }

    /// The object, or the parameter, that a reference or address leads to, if that is known.
    fn root(&self, func: &Func, mut local: Local) -> Option<Local> {
        loop {
            let once = self.sets.get(&local) == Some(&1);
            match (func.locals.get(local)?, self.sources.get(&local)) {
                (Word::Ref | Word::Address, Some(source)) if once => local = *source,
                (Word::Ref, _) => return Some(local),
                (Word::Address, _) => return (once && func.params.contains(&local)).then_some(local),
                (Word::Real | Word::Int, _) => return None,
            }
        }
    }
}

fn size(body: &[Stmt]) -> usize {
    let mut size = 0;
    every(body, &mut |_| size += 1);
    size
}

fn reads(stmt: &Stmt, see: &mut dyn FnMut(Local)) {
    for operand in operands(stmt) {
        if let Operand::Local(local) = operand {
            see(local);
        }
    }
}

struct Divider<'f> {
    func: &'f mut Func,
    known: Known,
    quiet: &'f Quiet,
    held: &'f Held,
    works: &'f Table<FuncId, f64>,
    exact: bool,
    /// Work is taken to be so many times what it is.
    scale: f64,
    /// How many statements are repeated.
    repeated: usize,
    /// The number of the first part.
    first: usize,
    parts: Vec<Func>,
}

/// A loop that can be divided.
struct Loop<'s> {
    index: Local,
    len: Operand,
    backward: bool,
    independent: bool,
    sums: &'s [Sum],
    body: &'s [Stmt],
}

impl Divider<'_> {
    fn stmts(&mut self, stmts: Vec<Stmt>) -> Vec<Stmt> {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut made = Vec::with_capacity(stmts.len());
            for stmt in stmts {
                self.stmt(stmt, &mut made);
            }
            made
        })
    }

    fn stmt(&mut self, stmt: Stmt, made: &mut Vec<Stmt>) {
        if let Stmt::For { index, len, backward, independent, sums, body } = &stmt {
            let (index, len, backward, independent) = (*index, *len, *backward, *independent);
            let parts = Loop { index, len, backward, independent, sums, body };
            if let Some((much, parallel, whole)) = self.divided(&parts, made) {
                let otherwise = vec![whole.unwrap_or(stmt)];
                made.push(Stmt::If { cond: much, then: vec![parallel], otherwise });
                return;
            }
        }
        made.push(map_parts(stmt, &mut |inner| self.stmts(inner)));
    }

    /// When the loop is to be made by parts, and how; the part is one of the parts then. If the loop is long as a text, it is
    /// not repeated where it is made whole: then that is a part too.
    fn divided(&mut self, parts: &Loop<'_>, made: &mut Vec<Stmt>) -> Option<(Operand, Stmt, Option<Stmt>)> {
        if words(parts.sums).count() > MOST_SUMS {
            return None;
        }
        if !parts.independent && parts.sums.is_empty() || self.exact && self.rounds(parts.sums) {
            return None;
        }
        let inside = inside(parts);
        let work = work::of(self.func, parts.body, self.works, &inside).times(self.scale);
        if work.most(&self.known.bounds) * self.known.bounds.most(parts.len) <= LITTLE {
            return None;
        }
        let words: Vec<Local> = words(parts.sums).map(|(local, _)| local).collect();
        let objects = |sum: &Sum| {
            matches!(sum, Sum::Array { object: Some(object), .. }
            if alone::reads_any(parts.body, *object))
        };
        let alone = alone::is_alone(parts.body, parts.index, &words, &inside)
            && !self.outlive(inside.iter().filter(|local| !words.contains(local)), parts.body)
            && !parts.sums.iter().any(objects);
        if !alone {
            return None;
        }
        let own: FxHashSet<Local> = inside.union(&self.known.constants).copied().collect();
        let shared = !self.quiet.is_quiet(self.func, parts.body, &own);
        if shared {
            let least = if self.held.meet(parts.body, &own) { WAITING } else { ATOMIC };
            if work.guess() < least {
                return None;
            }
        }
        let mut captured = captured(parts.body, &inside, &words);
        if !are_given(parts.sums, &captured) {
            return None;
        }
        let again = again::computed(&self.known, &mut captured);
        let number = self.first + self.parts.len();
        let part = Func { shared, ..self.part(parts, (&captured, &again), &words) };
        self.parts.push(part);
        let work = self.amount(&work, parts.len, made);
        let much = self.func.fresh(Word::Int);
        made.push(Stmt::Set(much, Value::CompareReal(Compare::Ge, work, Operand::Real(MUCH))));
        let part = FuncId::new(number);
        let whole = (size(parts.body) > self.repeated).then(|| {
            let locals = captured.iter().chain(&words).map(|local| Operand::Local(*local));
            let args = [Operand::Int(0), parts.len].into_iter().chain(locals).collect();
            Stmt::Call { func: part, args, outs: words }
        });
        let parallel = Stmt::Parallel {
            part,
            len: parts.len,
            backward: parts.backward,
            work,
            captured,
            sums: sums_of(parts),
        };
        Some((Operand::Local(much), parallel, whole))
    }

    fn rounds(&self, sums: &[Sum]) -> bool {
        sums.iter().any(|sum| match sum {
            Sum::Word(local, join) => *join == Join::Add && self.func.locals.get(*local) == Some(&Word::Real),
            Sum::Array { .. } | Sum::Near(_) => true,
        })
    }

    /// Whether one of these variables is read outside of a loop.
    fn outlive<'l>(&self, mut locals: impl Iterator<Item = &'l Local>, body: &[Stmt]) -> bool {
        let mut here: FxHashMap<Local, usize> = FxHashMap::default();
        every(body, &mut |stmt| reads(stmt, &mut |read| *here.entry(read).or_default() += 1));
        locals.any(|local| self.known.reads.get(local) > here.get(local))
    }

    /// Computes how much work a loop is.
    fn amount(&mut self, work: &Work, len: Operand, made: &mut Vec<Stmt>) -> Operand {
        let each = work.compute(self.func, made);
        let times = work::real(self.func, len, made);
        let work = self.func.fresh(Word::Real);
        made.push(Stmt::Set(work, Value::Real(wengert_prim::RealOp::Mul, vec![each, times])));
        Operand::Local(work)
    }

    /// The function that makes some of the iterations.
    fn part(&self, parts: &Loop<'_>, (captured, again): (&[Local], &[Stmt]), words: &[Local]) -> Func {
        let mut part = Func {
            name: Name::new(&format!("{}_part", self.func.name)),
            params: Vec::new(),
            results: Vec::new(),
            locals: Table::default(),
            body: Vec::new(),
            recursive: None,
            pauses: false,
            passing: Vec::new(),
            borrowed: Vec::new(),
            span: self.func.span,
            origins: FxHashMap::default(),
            part: Some(Vec::new()),
            shared: false,
        };
        let (from, count) = (part.fresh(Word::Int), part.fresh(Word::Int));
        part.params = vec![from, count];
        for (local, name) in [(from, "from"), (count, "count")] {
            let origin = Origin { name: Name::new(name), part: Named::Value, span: self.func.span };
            part.origins.insert(local, origin);
        }
        let mut names: FxHashMap<Local, Local> = FxHashMap::default();
        for local in captured.iter().chain(words) {
            let name = *names.entry(*local).or_insert_with(|| self.like(&mut part, *local));
            part.params.push(name);
        }
        part.part = Some(self.distinct(captured).iter().filter_map(|own| names.get(own).copied()).collect());
        part.results = words.iter().filter_map(|local| names.get(local).copied()).collect();
        let mut name = |local: Local| *names.entry(local).or_insert_with(|| self.like(&mut part, local));
        let again = renamed(again, &mut name);
        let body = renamed(parts.body, &mut name);
        let index = name(parts.index);
        let sums = parts.sums.iter().map(|sum| match sum {
            Sum::Word(local, join) => Sum::Word(name(*local), *join),
            Sum::Near(first) => Sum::Near(name(*first)),
            // Which object it is in and how large it is, nobody asks in a part.
            Sum::Array { object: _, first, size: _ } => {
                Sum::Array { object: None, first: name(*first), size: Operand::Int(0) }
            }
        });
        let sums: Vec<Sum> = sums.collect();
        let place = self.like(&mut part, parts.index);
        let given = given(&part, &body, index);
        let mut shift = Shift { part: &mut part, index, place, given, bases: Vec::new() };
        let mut body = shift.stmts(body);
        let bases = std::mem::take(&mut shift.bases);
        part.body = again;
        for (base, moved) in bases {
            let value = Value::Address { base: Operand::Local(base), index: Operand::Local(from), offset: 0 };
            part.body.push(Stmt::Set(moved, value));
        }
        if alone::reads_any(&body, index) {
            let now = Value::Int(Int::Add, Operand::Local(from), Operand::Local(place));
            body.insert(0, Stmt::Set(index, now));
        }
        let (len, backward, independent) = (Operand::Local(count), parts.backward, parts.independent);
        part.body.push(Stmt::For { index: place, len, backward, independent, sums, body });
        part
    }

    /// A variable of a part for one of the function.
    fn like(&self, part: &mut Func, local: Local) -> Local {
        let made = part.fresh(self.func.locals.get(local).copied().unwrap_or(Word::Int));
        if let Some(origin) = self.func.origins.get(&local) {
            part.origins.insert(made, *origin);
        }
        made
    }

    /// The addresses among what is captured that lead to objects which nothing else of it leads to.
    fn distinct(&self, captured: &[Local]) -> Vec<Local> {
        let is_pointer =
            |local: &&Local| matches!(self.func.locals.get(**local), Some(Word::Ref | Word::Address));
        let pointers: Vec<Local> = captured.iter().filter(is_pointer).copied().collect();
        let roots: Option<Vec<Local>> =
            pointers.iter().map(|local| self.known.root(self.func, *local)).collect();
        let Some(roots) = roots else { return Vec::new() };
        let alone = |root: &Local| roots.iter().filter(|other| *other == root).count() == 1;
        let is_address = |local: &Local| self.func.locals.get(*local) == Some(&Word::Address);
        let own = pointers.iter().zip(&roots).filter(|(local, root)| is_address(local) && alone(root));
        own.map(|(local, _)| *local).collect()
    }
}

/// The variables that are sums, and how they are put together.
pub(crate) fn words(sums: &[Sum]) -> impl Iterator<Item = (Local, Join)> + '_ {
    sums.iter().filter_map(|sum| if let Sum::Word(local, join) = sum { Some((*local, *join)) } else { None })
}

/// How the variables that are sums are put together: four bits for each, the first in the lowest.
pub fn joins(sums: &[Sum], is_real: &dyn Fn(Local) -> bool) -> u64 {
    (0..).zip(words(sums)).map(|(place, (local, join))| join.code(is_real(local)) << (4 * place)).sum()
}

/// The sums of a loop that is made by parts: arrays to which parts may add that are not neighbors, if there are no others.
fn sums_of(parts: &Loop<'_>) -> Vec<Sum> {
    let near = |sum: &Sum| match sum {
        Sum::Array { first, .. } if near::is_near(parts.body, parts.index, *first) => Some(Sum::Near(*first)),
        Sum::Array { .. } | Sum::Word(..) | Sum::Near(_) => None,
    };
    let all: Option<Vec<Sum>> = parts.sums.iter().map(near).collect();
    all.unwrap_or_else(|| parts.sums.to_vec())
}

/// What a part is given and may know by an address of its own for its first iteration. Not arrays that loops in its body add to: whoever
/// looks for their elements knows them by one address. Nor those that it changes and looks at elsewhere than at its index: elements that have
/// two addresses look like two.
fn given(part: &Func, body: &[Stmt], index: Local) -> FxHashSet<Local> {
    let mut given: FxHashSet<Local> = part.params.iter().copied().collect();
    let (mut changed, mut elsewhere): (FxHashSet<Local>, FxHashSet<Local>) = Default::default();
    every(body, &mut |stmt| {
        if let Stmt::For { sums, .. } = stmt {
            for sum in sums {
                if let Sum::Array { first, .. } | Sum::Near(first) = sum {
                    given.remove(first);
                }
            }
        }
        let own = Operand::Local(index);
        if let Stmt::Store { base, index, value, .. } = stmt {
            changed.extend(base.local());
            elsewhere.extend(base.local().filter(|_| *index != own));
            elsewhere.extend(value.local());
        } else if !matches!(stmt, Stmt::Set(_, Value::Load { index, .. }) if *index == own) {
            reads(stmt, &mut |local| {
                elsewhere.insert(local);
            });
        }
    });
    given.retain(|local| !(changed.contains(local) && elsewhere.contains(local)));
    given
}

/// Parts are told which of what they are given is an array of their own to add to: whether each is there, by its name.
fn are_given(sums: &[Sum], captured: &[Local]) -> bool {
    sums.iter().all(|sum| match sum {
        Sum::Array { first, .. } => captured.contains(first),
        Sum::Word(..) | Sum::Near(_) => true,
    })
}

/// What a loop assigns.
fn inside(parts: &Loop<'_>) -> FxHashSet<Local> {
    let mut inside = FxHashSet::from_iter([parts.index]);
    every(parts.body, &mut |stmt| inside.extend(writes(stmt)));
    inside
}

/// What a body reads that is assigned before it, except sums: in the order of its variables.
fn captured(body: &[Stmt], inside: &FxHashSet<Local>, words: &[Local]) -> Vec<Local> {
    let mut captured: Vec<Local> = Vec::new();
    every(body, &mut |stmt| {
        reads(stmt, &mut |local| {
            if !inside.contains(&local) && !words.contains(&local) {
                captured.push(local);
            }
        });
    });
    captured.sort_unstable();
    captured.dedup();
    captured
}

/// Elements at the index of the loop, of arrays that are given to a part, become elements at the place in the part.
struct Shift<'f> {
    part: &'f mut Func,
    index: Local,
    place: Local,
    given: FxHashSet<Local>,
    /// Addresses, and the same moved by the first iteration.
    bases: Vec<(Local, Local)>,
}

impl Shift<'_> {
    fn stmts(&mut self, stmts: Vec<Stmt>) -> Vec<Stmt> {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            stmts.into_iter().map(|stmt| self.stmt(stmt)).collect()
        })
    }

    fn stmt(&mut self, stmt: Stmt) -> Stmt {
        if let Stmt::Set(local, Value::Load { base, index, offset }) = stmt {
            let (base, index) = self.moved(base, index);
            return Stmt::Set(local, Value::Load { base, index, offset });
        }
        if let Stmt::Store { base, index, offset, value } = stmt {
            let (base, index) = self.moved(base, index);
            return Stmt::Store { base, index, offset, value };
        }
        map_parts(stmt, &mut |inner| self.stmts(inner))
    }

    fn moved(&mut self, base: Operand, index: Operand) -> (Operand, Operand) {
        let Operand::Local(address) = base else { return (base, index) };
        if index != Operand::Local(self.index) || !self.given.contains(&address) {
            return (base, index);
        }
        let known = self.bases.iter().find(|(own, _)| *own == address).map(|(_, moved)| *moved);
        let moved = known.unwrap_or_else(|| {
            let moved = self.part.fresh(Word::Address);
            if let Some(origin) = self.part.origins.get(&address).copied() {
                self.part.origins.insert(moved, origin);
            }
            self.bases.push((address, moved));
            moved
        });
        (Operand::Local(moved), Operand::Local(self.place))
    }
}

#[cfg(test)]
mod tests;
