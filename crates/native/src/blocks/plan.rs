//! Into which phases the statements of a loop's body are put.
//!
//! A statement can belong to the first phase in which all that it reads is known; the result of a kernel is known one phase
//! after its argument. It does if a kernel needs it there, else it is put off to the phase that reads it. What is carried from one iteration to the next, and what depends on it, belongs to the last phase.
//! A load comes no earlier than the stores before it, a store no earlier than the loads and stores before it.
//!
//! A value that a later phase needs is computed again there if that is no more than an address or a load, which must not
//! meet a store in between; else it is kept in a buffer.

use super::units::{self, Reads, Unit};
use crate::loops::{Func, Local, Operand, Stmt, Value, Word};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_vmath::Function;

/// So many buffers at most: more would not stay in the cache.
const MOST_BUFFERS: usize = 48;
/// So many values may be kept for each kernel; else keeping them costs what the kernels save.
const KEPT_FOR_EACH: usize = 6;

/// The phases.
pub(super) struct Plan<'a> {
    /// The statements in their order.
    units: Vec<Placed<'a>>,
    /// How many phases there are: at least 2.
    pub(super) phases: usize,
    /// How many buffers.
    pub(super) buffers: usize,
    /// For each phase, what it needs from earlier ones, in the order of the statements.
    needed: Vec<Vec<Source<'a>>>,
}

/// A statement in its phase.
pub(super) struct Placed<'a> {
    pub(super) stmt: &'a Stmt,
    phase: usize,
    /// If it is a kernel's.
    pub(super) call: Option<Call>,
    /// What of it is kept in buffers.
    pub(super) kept: Vec<(Local, usize)>,
}

/// A kernel's call, after its phase.
pub(super) struct Call {
    pub(super) function: Function,
    pub(super) args: Vec<Operand>,
    /// One for each argument; the result replaces the first.
    pub(super) buffers: Vec<usize>,
    /// Whether the argument is another kernel's result and stands in its buffer already.
    pub(super) chained: bool,
}

/// How a phase comes to a value of an earlier one.
#[derive(Clone, Copy)]
pub(super) enum Source<'a> {
    /// From a buffer.
    Buffer(Local, usize),
    /// By doing the same again.
    Again(&'a Stmt),
}

impl<'a> Plan<'a> {
    /// The statements of a phase.
    pub(super) fn of(&self, phase: usize) -> impl Iterator<Item = &Placed<'a>> {
        self.units.iter().filter(move |unit| unit.phase == phase)
    }

    /// What a phase needs from earlier ones.
    pub(super) fn needed(&self, phase: usize) -> Vec<Source<'a>> {
        self.needed.get(phase).cloned().unwrap_or_default()
    }
}

/// The phases of a body, if it is worth it.
pub(super) fn plan<'a>(
    func: &Func,
    reads: &Reads,
    index: Local,
    independent: bool,
    body: &'a [Stmt],
) -> Option<Plan<'a>> {
    let units = units::units(body, reads)?;
    if units.iter().all(|unit| unit.function.is_none()) {
        return None;
    }
    let inside = units::reads_in(body);
    let outlives = |local: Local| units::all_reads(reads, local) > inside.get(&local).copied().unwrap_or(0);
    let carried = carried(&units, index, outlives)?;
    let (definitions, phases, again) = (FxHashMap::default(), Vec::new(), Vec::new());
    let mut planner = Planner { func, units, definitions, phases, last: 0, again };
    planner.place(&carried, independent)?;
    planner.finish()
}

/// The variables whose values come from earlier iterations or go on after the loop.
fn carried(units: &[Unit<'_>], index: Local, outlives: impl Fn(Local) -> bool) -> Option<FxHashSet<Local>> {
    let assigned: FxHashSet<Local> = units.iter().flat_map(|unit| unit.writes.iter().copied()).collect();
    if assigned.contains(&index) || outlives(index) {
        return None;
    }
    let (mut carried, mut seen) = (FxHashSet::default(), FxHashSet::default());
    for unit in units {
        carried.extend(unit.reads.iter().filter(|read| assigned.contains(read) && !seen.contains(*read)));
        for local in &unit.writes {
            if !seen.insert(*local) || outlives(*local) {
                carried.insert(*local);
            }
        }
    }
    Some(carried)
}

struct Planner<'f, 'a> {
    func: &'f Func,
    units: Vec<Unit<'a>>,
    /// Which statement assigns a variable that is not carried.
    definitions: FxHashMap<Local, usize>,
    /// The phase of each statement.
    phases: Vec<usize>,
    last: usize,
    /// Which statements may be done again.
    again: Vec<bool>,
}

impl<'a> Planner<'_, 'a> {
    /// The phase from which on a variable is known, if the body assigns it.
    fn known(&self, local: Local) -> Option<usize> {
        let unit = *self.definitions.get(&local)?;
        let phase = self.phases.get(unit).copied()?;
        Some(phase + usize::from(self.is_call(unit)))
    }

    fn is_call(&self, unit: usize) -> bool {
        self.units.get(unit).is_some_and(|unit| unit.function.is_some())
    }

    /// Gives each statement its phase.
    fn place(&mut self, carried: &FxHashSet<Local>, independent: bool) -> Option<()> {
        let pinned = self.pinned(carried);
        if !independent && self.units.iter().any(|unit| unit.stores) {
            return None;
        }
        let (mut after_loads, mut after_stores, mut guarded) = (0, 0, None);
        for (number, is_pinned) in pinned.iter().enumerate() {
            let unit = self.units.get(number)?;
            let known = unit.reads.iter().filter_map(|local| self.known(*local)).max();
            let mut phase = known.unwrap_or(0);
            if unit.loads {
                phase = phase.max(after_stores);
            }
            if unit.stores {
                phase = phase.max(after_loads).max(after_stores);
                after_stores = phase;
            }
            if unit.loads {
                after_loads = after_loads.max(phase);
            }
            // In one phase, iterations fail in their order.
            if unit.guards && (*is_pinned || *guarded.get_or_insert(phase) != phase) {
                return None;
            }
            if !is_pinned {
                self.last = self.last.max(phase + usize::from(unit.function.is_some()));
                for local in &unit.writes {
                    self.definitions.insert(*local, number);
                }
            }
            self.phases.push(phase);
        }
        for (phase, is_pinned) in self.phases.iter_mut().zip(&pinned) {
            if *is_pinned {
                *phase = self.last;
            }
        }
        let late = |(unit, phase): (&Unit<'_>, &usize)| !unit.stores || *phase == self.last;
        let loads = self.units.iter().zip(&self.phases).all(late);
        self.put_off(&pinned, loads);
        self.again = repeatable(&self.units, &self.definitions, loads);
        (self.last > 0).then_some(())
    }

    /// Which statements wait for what is carried. So do loads and stores that come after a store that waits, and stores after a load:
    /// they may be at the same place.
    fn pinned(&mut self, carried: &FxHashSet<Local>) -> Vec<bool> {
        let mut pinned_locals = carried.clone();
        let (mut pinned, mut loaded, mut stored) = (Vec::new(), false, false);
        for unit in &mut self.units {
            let touches = unit.reads.iter().chain(&unit.writes).any(|local| pinned_locals.contains(local));
            let waits = touches || stored && (unit.loads || unit.stores) || loaded && unit.stores;
            if waits {
                pinned_locals.extend(unit.writes.iter().copied());
                unit.function = None;
                loaded |= unit.loads;
                stored |= unit.stores;
            }
            pinned.push(waits);
        }
        pinned
    }

    /// What no kernel waits for is computed where it is used, so that it need not be kept.
    fn put_off(&mut self, pinned: &[bool], loads: bool) {
        // The first phase in which each variable is read.
        let mut wanted: FxHashMap<Local, usize> = FxHashMap::default();
        let all = self.units.iter().zip(&mut self.phases).zip(pinned);
        for ((unit, phase), is_pinned) in all.rev() {
            let has_place = unit.function.is_some() || unit.stores || unit.guards || unit.loads && !loads;
            if !is_pinned && !has_place {
                let first = unit.writes.iter().filter_map(|local| wanted.get(local).copied()).min();
                *phase = first.unwrap_or(*phase).max(*phase);
            }
            for local in &unit.reads {
                wanted.entry(*local).and_modify(|first| *first = (*first).min(*phase)).or_insert(*phase);
            }
        }
    }

    /// Buffers, and what each phase needs.
    fn finish(mut self) -> Option<Plan<'a>> {
        let mut buffers = Buffers { count: 0, of: FxHashMap::default() };
        let mut calls = self.calls(&mut buffers)?;
        let needed = self.needed(&calls, &mut buffers)?;
        let kernels = calls.iter().filter(|call| call.is_some()).count();
        let kept = buffers.of.len().saturating_sub(kernels);
        if buffers.count > MOST_BUFFERS || kept > KEPT_FOR_EACH * kernels {
            return None;
        }
        let phases = self.last + 1;
        let units = std::mem::take(&mut self.units);
        let placed = units.iter().zip(&self.phases).zip(&mut calls).map(|((unit, phase), call)| {
            let is_call = call.is_some();
            let buffer = |local: &Local| buffers.of.get(local).map(|buffer| (*local, *buffer));
            let kept = if is_call { Vec::new() } else { unit.writes.iter().filter_map(buffer).collect() };
            Placed { stmt: unit.stmt, phase: *phase, call: call.take(), kept }
        });
        Some(Plan { units: placed.collect(), phases, buffers: buffers.count, needed })
    }

    /// The kernels' calls and their buffers.
    fn calls(&self, buffers: &mut Buffers) -> Option<Vec<Option<Call>>> {
        let mut uses: FxHashMap<Local, usize> = FxHashMap::default();
        for read in self.units.iter().flat_map(|unit| &unit.reads) {
            *uses.entry(*read).or_insert(0) += 1;
        }
        let mut calls = Vec::new();
        for unit in &self.units {
            let (Some(function), Stmt::Set(out, Value::Real(_, args))) = (unit.function, unit.stmt) else {
                calls.push(None);
                continue;
            };
            let chained = match args.as_slice() {
                [Operand::Local(arg)] if uses.get(arg) == Some(&1) => {
                    let by_kernel = self.definitions.get(arg).is_some_and(|unit| self.is_call(*unit));
                    buffers.of.get(arg).copied().filter(|_| by_kernel)
                }
                _ => None,
            };
            let own = match chained {
                Some(buffer) => vec![buffer],
                None => args.iter().map(|_| buffers.fresh()).collect(),
            };
            buffers.of.insert(*out, *own.first()?);
            let chained = chained.is_some();
            calls.push(Some(Call { function, args: args.clone(), buffers: own, chained }));
        }
        Some(calls)
    }

    /// What each phase needs from earlier ones; what must be kept is given buffers.
    fn needed(&self, calls: &[Option<Call>], buffers: &mut Buffers) -> Option<Vec<Vec<Source<'a>>>> {
        let mut all = Vec::new();
        for phase in 0..=self.last {
            let mut wanted: FxHashSet<usize> = FxHashSet::default();
            let mut work: Vec<Local> = Vec::new();
            let here = self.units.iter().zip(&self.phases).zip(calls).filter(|((_, at), _)| **at == phase);
            let chained = |call: &Option<Call>| call.as_ref().is_some_and(|call| call.chained);
            for ((unit, _), _) in here.filter(|(_, call)| !chained(call)) {
                work.extend(&unit.reads);
            }
            while let Some(local) = work.pop() {
                let Some(definition) = self.definitions.get(&local).copied() else { continue };
                let here = self.phases.get(definition) == Some(&phase) && !self.is_call(definition);
                if here || !wanted.insert(definition) {
                    continue;
                }
                if self.again.get(definition) == Some(&true) {
                    work.extend(self.units.get(definition).iter().flat_map(|unit| &unit.reads));
                }
            }
            let mut wanted: Vec<usize> = wanted.into_iter().collect();
            wanted.sort_unstable();
            let mut sources = Vec::new();
            for definition in wanted {
                self.source(definition, buffers, &mut sources)?;
            }
            all.push(sources);
        }
        Some(all)
    }

    /// How a later phase comes to what a statement assigns.
    fn source(&self, definition: usize, buffers: &mut Buffers, sources: &mut Vec<Source<'a>>) -> Option<()> {
        let unit = self.units.get(definition)?;
        if self.again.get(definition) == Some(&true) {
            sources.push(Source::Again(unit.stmt));
            return Some(());
        }
        for local in &unit.writes {
            if *self.func.locals.get(*local)? == Word::Ref {
                return None;
            }
            let buffer = match buffers.of.get(local) {
                Some(buffer) => *buffer,
                None => buffers.fresh_for(*local),
            };
            sources.push(Source::Buffer(*local, buffer));
        }
        Some(())
    }
}

/// For each statement whether it may be done again in a later phase, and costs next to nothing: addresses, and loads
/// unless something is stored before the last phase.
fn repeatable(units: &[Unit<'_>], definitions: &FxHashMap<Local, usize>, loads: bool) -> Vec<bool> {
    let mut all: Vec<bool> = Vec::with_capacity(units.len());
    for unit in units {
        let is_address = matches!(
            unit.stmt,
            Stmt::Set(_, Value::Int(..) | Value::Copy(_) | Value::Address { .. } | Value::IntToReal(_))
        );
        let cheap = is_address || loads && matches!(unit.stmt, Stmt::Set(_, Value::Load { .. }));
        let known = |local: &Local| {
            definitions.get(local).is_none_or(|definition| all.get(*definition) == Some(&true))
        };
        let repeatable = cheap && unit.reads.iter().all(known);
        all.push(repeatable);
    }
    all
}

/// The buffers so far.
struct Buffers {
    count: usize,
    /// Which variable's values stand where.
    of: FxHashMap<Local, usize>,
}

impl Buffers {
    fn fresh(&mut self) -> usize {
        self.count += 1;
        self.count - 1
    }

    fn fresh_for(&mut self, local: Local) -> usize {
        let buffer = self.fresh();
        self.of.insert(local, buffer);
        buffer
    }
}
