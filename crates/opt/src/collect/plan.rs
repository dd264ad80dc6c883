//! Which loops add to neighbors and to nothing else, and where.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is no loop of this kind")]

use super::facts::{Facts, Walk, settled};
use crate::linear::Linear;
use crate::walk::mentioned;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::{ArrayOp, Loop, Mode, Op};
use wengert_ir::{Atom, Block, Elem, Func, Stmt, Ty, Var};

/// Bodies with more statements are not copied.
pub(super) const MOST: usize = 160;
/// So many places at most are added to in one iteration.
const PLACES: usize = 16;
/// The same of two loops, one in the other, which have more edges.
const MOST_OF_TWO: usize = 80;
const PLACES_OF_TWO: usize = 10;
/// So many elements at most may be there to which nothing is added, in an array that was there before.
const MORE: i64 = 64;

/// How far along an axis an iteration adds from its own place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Move {
    /// So many places.
    By(i64),
    /// So many places, around the end.
    Round(i64),
}

/// An array to which a loop adds.
pub(super) struct Acc {
    /// Which of the accumulators it is.
    pub(super) at: usize,
    pub(super) start: Atom,
    pub(super) sizes: Vec<Linear>,
    /// Where iterations add to it, along each axis.
    pub(super) moves: Vec<Vec<Move>>,
}

impl Acc {
    /// Whether there are hardly more elements than those to which something is added.
    pub(super) fn is_covered(&self, lens: &[Linear]) -> bool {
        let few = |(size, len): (&Linear, &Linear)| matches!(size.minus(len).atom(), Some(Atom::Int(n)) if n <= MORE);
        self.sizes.iter().zip(lens).all(few)
    }
}

/// The accumulators to which a loop, or one in it, adds at a place that is the same in all iterations, or at one that is not near its own;
/// and beside tables to which it adds elsewhere, those that are no tables: which of them they are.
pub(super) fn with_cells(func: &Func, facts: &Facts<'_>, parts: &Loop) -> FxHashSet<usize> {
    let accs = parts.body.params.iter().skip(1 + parts.init.len()).take(parts.accs.len());
    let mut cells = Cells {
        facts,
        tracked: accs.copied().zip(0..).collect(),
        inside: FxHashSet::default(),
        found: FxHashSet::default(),
    };
    cells.level(parts);
    let axes = |at: usize| parts.accs.get(at).map_or(0, |acc| func.type_of(acc).rank());
    let mut found = cells.found;
    if (0..parts.accs.len()).any(|at| axes(at) == 2 && !found.contains(&at)) {
        found.extend((0..parts.accs.len()).filter(|at| axes(*at) == 1));
    }
    found
}

/// A walk that looks for them.
struct Cells<'f> {
    facts: &'f Facts<'f>,
    /// What the accumulators are called: which of them they are.
    tracked: FxHashMap<Var, usize>,
    /// What the loops bind.
    inside: FxHashSet<Var>,
    found: FxHashSet<usize>,
}

impl Cells<'_> {
    fn level(&mut self, parts: &Loop) {
        let Some(index) = parts.body.params.first().map(|index| Linear::of(*index)) else { return };
        self.inside.extend(&parts.body.params);
        for stmt in &parts.body.stmts {
            self.inside.extend(&stmt.outs);
            match &stmt.op {
                Op::Array(ArrayOp::AddAt, args) => {
                    let ([array, places @ .., _], [out]) = (args.as_slice(), stmt.outs.as_slice()) else {
                        continue;
                    };
                    let Some(which) = array.var().and_then(|var| self.tracked.get(&var)).copied() else {
                        continue;
                    };
                    self.tracked.insert(*out, which);
                    let is_cell = |place: &Atom| place.var().is_none_or(|var| !self.inside.contains(&var));
                    let is_far = matches!(places, [place] if self.is_far(place, &index));
                    if is_far || places.iter().any(is_cell) {
                        self.found.insert(which);
                    }
                }
                Op::Loop(inner) => {
                    let params = inner.body.params.iter().skip(1 + inner.init.len());
                    let outs = stmt.outs.iter().skip(inner.init.len());
                    for ((acc, param), out) in inner.accs.iter().zip(params).zip(outs) {
                        if let Some(which) = acc.var().and_then(|var| self.tracked.get(&var)).copied() {
                            self.tracked.extend([(*param, which), (*out, which)]);
                        }
                    }
                    self.level(inner);
                }
                _ => {}
            }
        }
    }

    /// Whether a place is not some fixed number of places away, also around an end.
    fn is_far(&self, place: &Atom, index: &Linear) -> bool {
        let away = self.facts.value(place).and_then(|place| place.minus(index).atom());
        !matches!(away, Some(Atom::Int(_))) && self.facts.remainder(place).is_none()
    }
}

/// A loop, or two, one in the other, that add to neighbors.
pub(super) struct Plan<'s> {
    /// The loops, the outermost first.
    pub(super) levels: Vec<&'s Loop>,
    pub(super) lens: Vec<Linear>,
    /// Which statement of the first loop is the second one.
    pub(super) inner: Option<&'s Stmt>,
    pub(super) accs: Vec<Acc>,
    /// What the arrays are called in the loops: which of `accs` they are.
    pub(super) tracked: FxHashMap<Var, usize>,
    /// What updates give: which of `accs`, and which of its moves.
    pub(super) updates: FxHashMap<Var, (usize, usize)>,
    /// What must not be negative.
    pub(super) needed: Vec<Linear>,
    /// Sizes that are taken to be others, which is needed.
    equal: Vec<(Var, Linear)>,
    /// What is the same in all iterations and can be computed before them, if what is needed holds.
    pub(super) steady: FxHashSet<Var>,
}

impl<'s> Plan<'s> {
    /// The plan for a loop, which goes on adding to the accumulators that are `kept`.
    pub(super) fn of(
        func: &Func,
        facts: &Facts<'_>,
        stmt: &'s Stmt,
        kept: &FxHashSet<usize>,
    ) -> Option<Plan<'s>> {
        let Op::Loop(outer) = &stmt.op else { return None };
        let mut plan = Plan {
            levels: vec![outer],
            lens: vec![facts.value(&outer.len)?],
            inner: None,
            accs: Vec::new(),
            tracked: FxHashMap::default(),
            updates: FxHashMap::default(),
            needed: Vec::new(),
            equal: Vec::new(),
            steady: FxHashSet::default(),
        };
        let axes = plan.accumulators(func, facts, outer, kept)?;
        let mut places = PLACES;
        if axes == 2 {
            (outer.body.size() <= MOST_OF_TWO).then_some(())?;
            places = PLACES_OF_TWO;
            plan.second(facts, outer)?;
        }
        let body = &plan.levels.last()?.body;
        plan.alike();
        plan.track(func, facts, body)?;
        let body = &plan.levels.last()?.body;
        plan.ends(body)?;
        let counts = plan.accs.iter().map(|acc| acc.moves.len());
        let elsewhere = |acc: &Acc| {
            let moves = acc.moves.iter().flatten().any(|step| *step != Move::By(0));
            moves || acc.sizes.iter().zip(&plan.lens).any(|(size, len)| size != len)
        };
        if !plan.accs.iter().any(elsewhere) || counts.sum::<usize>() > places {
            return None;
        }
        let mut walk = Walk::new(facts, &plan.equal);
        walk.enter(outer)?;
        walk.block(&outer.body)?;
        let mut needed = walk.needed;
        plan.needed.append(&mut needed);
        plan.find_steady(facts);
        Some(plan)
    }

    /// Finds what is the same in all iterations, and cannot fail even if there are none.
    fn find_steady(&mut self, facts: &Facts<'_>) {
        let mut inside: FxHashSet<Var> = FxHashSet::default();
        for parts in &self.levels {
            inside.extend(&parts.body.params);
            for stmt in &parts.body.stmts {
                let can_be = match &stmt.op {
                    Op::Array(ArrayOp::Index, args) => self.is_there(facts, args),
                    Op::Real(..) | Op::Copy(_) => true,
                    _ => false,
                };
                if can_be && mentioned(&stmt.op).all(|var| !inside.contains(&var)) {
                    self.steady.extend(&stmt.outs);
                } else {
                    inside.extend(&stmt.outs);
                }
            }
        }
    }

    /// Whether there is such a place in an array, if what is needed holds.
    fn is_there(&self, facts: &Facts<'_>, args: &[Atom]) -> bool {
        let [array, places @ ..] = args else { return false };
        places.iter().enumerate().all(|(axis, place)| {
            let (Atom::Int(0..), Some(place)) = (place, facts.value(place)) else { return false };
            let size = facts.size(array, axis).map(|size| settled(size, &self.equal));
            let rest = size.map(|size| size.minus(&place).minus(&Linear::constant(1)));
            rest.is_some_and(|rest| {
                let more = |needed: &Linear| matches!(rest.minus(needed).atom(), Some(Atom::Int(0..)));
                matches!(rest.atom(), Some(Atom::Int(0..))) || self.needed.iter().any(more)
            })
        })
    }

    /// The arrays to which the loop adds, which have one or two axes.
    fn accumulators(
        &mut self,
        func: &Func,
        facts: &Facts<'_>,
        outer: &Loop,
        kept: &FxHashSet<usize>,
    ) -> Option<usize> {
        let mut all = None;
        for (at, start) in outer.accs.iter().enumerate() {
            let ty = func.type_of(start);
            if ty.rank() == 0 || kept.contains(&at) {
                continue;
            }
            let axes = usize::from(ty.rank());
            let fits = ty.elem() == Elem::Real && axes <= 2 && all.is_none_or(|all| all == axes);
            if !fits {
                return None;
            }
            all = Some(axes);
            let sizes: Option<Vec<Linear>> = (0..axes).map(|axis| facts.size(start, axis)).collect();
            let param = *outer.body.params.get(1 + outer.init.len() + at)?;
            self.tracked.insert(param, self.accs.len());
            self.accs.push(Acc { at, start: start.clone(), sizes: sizes?, moves: Vec::new() });
        }
        all
    }

    /// The loop in the loop.
    fn second(&mut self, facts: &Facts<'_>, outer: &'s Loop) -> Option<()> {
        let known = self.tracked.clone();
        let names = |var: &Var| known.contains_key(var);
        let mut uses = outer.body.stmts.iter().filter(|stmt| mentioned(&stmt.op).any(|var| names(&var)));
        let (stmt, None) = (uses.next()?, uses.next()) else { return None };
        let Op::Loop(inner) = &stmt.op else { return None };
        let inside = outer.body.params.iter().chain(outer.body.stmts.iter().flat_map(|stmt| &stmt.outs));
        let fixed = inner.len.var().is_none_or(|len| inside.into_iter().all(|var| *var != len));
        if inner.mode != Mode::Each || !fixed || inner.accs.len() < self.accs.len() {
            return None;
        }
        let mut outs = FxHashMap::default();
        for (at, acc) in inner.accs.iter().enumerate() {
            let (out, param) = (stmt.outs.get(at)?, inner.body.params.get(1 + at)?);
            // What else is added up is no matter of neighbors.
            let Some(which) = acc.var().and_then(|var| self.tracked.get(&var)).copied() else { continue };
            outs.insert(*out, which);
            self.tracked.insert(*param, which);
        }
        let used = |atom: &Atom| atom.var().is_some_and(|var| names(&var));
        let inputs = inner.inputs.iter().chain([&inner.len]).any(used);
        let others = inner.body.free_vars().iter().any(names);
        if inputs || others || outs.len() != self.accs.len() {
            return None;
        }
        for (at, result) in outer.body.results.iter().enumerate() {
            let which = result.var().and_then(|var| outs.get(&var));
            let expected = self.accs.iter().position(|acc| outer.init.len() + acc.at == at);
            if which.copied() != expected {
                return None;
            }
        }
        self.lens.push(facts.value(&inner.len)?);
        self.levels.push(inner);
        self.inner = Some(stmt);
        Some(())
    }

    /// Takes sizes of arrays to be the numbers of iterations, or to be a fixed number more, if it is not known how they compare.
    fn alike(&mut self) {
        let known = |size: &Linear, len: &Linear| matches!(size.minus(len).atom(), Some(Atom::Int(_)));
        for which in 0..self.accs.len() {
            for axis in 0..self.lens.len() {
                let acc = self.accs.get(which).and_then(|acc| acc.sizes.get(axis));
                let (Some(size), Some(len)) = (acc, self.lens.get(axis)) else { continue };
                let (size, len) = (settled(size.clone(), &self.equal), settled(len.clone(), &self.equal));
                if known(&size, &len) {
                    continue;
                }
                let more = size.minus(&len);
                if let Some((var, other)) = more.solve() {
                    self.needed.extend([more.times(-1), more]);
                    self.equal.push((var, other));
                }
            }
        }
        for acc in &mut self.accs {
            for size in &mut acc.sizes {
                *size = settled(size.clone(), &self.equal);
            }
        }
        for len in &mut self.lens {
            *len = settled(len.clone(), &self.equal);
        }
    }

    /// Goes along with what is added to the arrays.
    fn track(&mut self, func: &Func, facts: &Facts<'_>, block: &'s Block) -> Option<()> {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            for stmt in &block.stmts {
                match &stmt.op {
                    Op::Array(ArrayOp::AddAt, args) if self.which(args.first()?).is_some() => {
                        self.update(func, facts, stmt, args)?;
                    }
                    Op::If { cond, then, otherwise } => {
                        if self.which(cond).is_some() {
                            return None;
                        }
                        self.track(func, facts, then)?;
                        self.track(func, facts, otherwise)?;
                        for (at, out) in stmt.outs.iter().enumerate() {
                            let which = self.which(then.results.get(at)?);
                            if which != self.which(otherwise.results.get(at)?) {
                                return None;
                            }
                            self.tracked.extend(which.map(|which| (*out, which)));
                        }
                    }
                    op if mentioned(op).any(|var| self.tracked.contains_key(&var)) => return None,
                    _ => {}
                }
            }
            Some(())
        })
    }

    /// Which array it is.
    pub(super) fn which(&self, atom: &Atom) -> Option<usize> {
        self.tracked.get(&atom.var()?).copied()
    }

    fn update(&mut self, func: &Func, facts: &Facts<'_>, stmt: &Stmt, args: &[Atom]) -> Option<()> {
        let ([array, places @ .., added], [out]) = (args, stmt.outs.as_slice()) else { return None };
        let which = self.which(array)?;
        let number = func.type_of(added) == Ty::REAL && self.which(added).is_none();
        if !number || places.len() != self.levels.len() {
            return None;
        }
        let steps: Option<Vec<Move>> =
            places.iter().enumerate().map(|(axis, place)| self.step(facts, which, axis, place)).collect();
        let (steps, acc) = (steps?, self.accs.get_mut(which)?);
        let known = acc.moves.iter().position(|other| *other == steps);
        let number = known.unwrap_or_else(|| {
            acc.moves.push(steps);
            acc.moves.len() - 1
        });
        self.tracked.insert(*out, which);
        self.updates.insert(*out, (which, number));
        Some(())
    }

    /// How far a place is from the iteration's own.
    fn step(&mut self, facts: &Facts<'_>, which: usize, axis: usize, place: &Atom) -> Option<Move> {
        let index = Linear::of(*self.levels.get(axis)?.body.params.first()?);
        if let Some(Atom::Int(by)) = facts.value(place)?.minus(&index).atom() {
            return Some(Move::By(by));
        }
        let (whole, by) = facts.remainder(place)?;
        let (whole, by) = (settled(whole.clone(), &self.equal), settled(by.clone(), &self.equal));
        let (size, len) = (self.accs.get(which)?.sizes.get(axis)?, self.lens.get(axis)?);
        if by != *len || size != len {
            return None;
        }
        let rest = whole.minus(&index);
        let steps = [0, 1, 2].into_iter().find_map(|times| match rest.minus(&len.times(times)).atom() {
            Some(Atom::Int(n)) => Some(n),
            _ => None,
        })?;
        let steps = match len.atom() {
            Some(Atom::Int(n)) if n > 0 => steps.rem_euclid(n),
            _ => steps,
        };
        if steps > 1 {
            self.needed.push(len.minus(&Linear::constant(steps)));
        }
        Some(Move::Round(steps))
    }

    /// The arrays come out where they should, and nowhere else.
    fn ends(&self, body: &Block) -> Option<()> {
        let innermost = self.levels.last()?;
        let (first, accs) = (innermost.init.len(), innermost.accs.len());
        let inner = self.levels.len() > 1;
        let fine = body.results.iter().enumerate().all(|(at, result)| {
            let expected = if inner {
                let param = body.params.get(1 + at);
                param.and_then(|param| self.tracked.get(param)).copied().filter(|_| at < accs)
            } else {
                self.accs.iter().position(|acc| first + acc.at == at)
            };
            self.which(result) == expected
        });
        fine.then_some(())
    }
}
