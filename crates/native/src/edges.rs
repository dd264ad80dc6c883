//! Loops over what has edges: the iterations between them go apart, without asking where the edges are.
//!
//! ```text
//! for i in 0..n {                                     for i in 0..1 { … as before … }
//!     if i == 0 || i == n - 1 { v[i] = u[i] }         for k in 0..n - 2 {
//!     else {                                becomes       i = 1 + k
//!         check i - 1 and i + 1 are in u                  v[i] = u[i - 1] + u[i + 1]
//!         v[i] = u[i - 1] + u[i + 1]                  }
//!     }                                               for k in 0..1 { i = n - 1 + k … as before … }
//! }
//! ```
//!
//! So it is with comparisons of the index with what does not change in the loop, with remainders (`(i + 1) % n` is `i + 1` but at the
//! end), and with checks of indices: these are made once for the first and the last iteration between the edges, and if one of them does
//! not hold, the whole loop runs as it was. Iterations keep their order, and no bit changes.

mod fold;
mod plan;
mod ranges;

use crate::loops::walk::{Uses, every, is_straight, map_parts, reads, renamed, writes};
use crate::loops::{Func, Int, Local, Operand, Program, Stmt, Value, Word};
use plan::{Body, Places};
use rustc_hash::{FxHashMap, FxHashSet};

/// Loops with fewer iterations run as they are.
const SHORT: i64 = 16;
/// The same of loops with loops in them: an iteration is work enough.
const FEW: i64 = 4;
/// Nor with as many as no array can have elements.
const HUGE: i64 = 1 << 40;
/// Bodies with more statements would be too much to have three times.
const MOST: usize = 200;
/// Functions with more statements stay as they are.
const LARGE: usize = 4000;

/// Splits the loops of a program for which that can be done; those without edges, too, if `checks` are to be made before them.
pub(crate) fn split(program: &mut Program, checks: bool) {
    for (_, func) in program.funcs.iter_mut() {
        let mut asks = false;
        every(&func.body, &mut |stmt| asks |= matches!(stmt, Stmt::Set(_, value) if plan::asks(value)));
        if asks && size(&func.body) <= LARGE {
            let body = std::mem::take(&mut func.body);
            let mut mentions = Mentions::default();
            let Uses { reads, sets } = Uses::of(func, &body);
            let sums = sums(&body, &sets);
            for (local, n) in reads.into_iter().chain(sets) {
                *mentions.entry(local).or_default() += n;
            }
            let body = Edges { func, mentions, sums, checks, nested: 0 }.stmts(body);
            func.body = body;
        }
    }
}

/// How often each variable is read or assigned.
type Mentions = FxHashMap<Local, usize>;

/// The sums of what is assigned once that are assigned once; and sizes that are asked not to be negative.
fn sums(body: &[Stmt], sets: &FxHashMap<Local, usize>) -> FxHashMap<Local, Value> {
    let mut sums = FxHashMap::default();
    let once = |operand: &Operand| operand.local().is_none_or(|local| sets.get(&local) == Some(&1));
    every(body, &mut |stmt| {
        if let Stmt::Set(local, value) = stmt
            && let Value::Int(Int::Add | Int::Sub | Int::Max, a, b) = value
            && once(&Operand::Local(*local))
            && once(a)
            && once(b)
        {
            sums.insert(*local, value.clone());
        }
    });
    sums
}

fn mentions(stmts: &[Stmt]) -> Mentions {
    let mut all = Mentions::default();
    every(stmts, &mut |stmt| {
        for local in reads(stmt).chain(writes(stmt)) {
            *all.entry(local).or_default() += 1;
        }
    });
    all
}

fn size(stmts: &[Stmt]) -> usize {
    let mut size = 0;
    every(stmts, &mut |_| size += 1);
    size
}

/// How many statements do more than to compare, to copy, or to choose between reals.
fn other_than_choices(func: &Func, stmts: &[Stmt]) -> usize {
    let mut others = 0;
    every(stmts, &mut |stmt| {
        let is_real = |local: &Local| func.locals.get(*local) == Some(&Word::Real);
        let chooses = matches!(stmt, Stmt::Set(_, Value::CompareInt(..) | Value::Copy(_)))
            || matches!(stmt, Stmt::Set(local, Value::Select(..)) if is_real(local));
        others += usize::from(!chooses);
    });
    others
}

struct Edges<'f> {
    func: &'f mut Func,
    /// In the whole function.
    mentions: Mentions,
    sums: FxHashMap<Local, Value>,
    /// Whether checks alone are made before loops.
    checks: bool,
    /// In how many ranges of loops it is.
    nested: usize,
}

/// The iterations between the edges.
struct Between {
    /// What finds the edges.
    before: Vec<Stmt>,
    places: Places,
    index: Local,
    body: Vec<Stmt>,
    /// Whether some iterations after these are to be as before.
    has_end: bool,
    /// Whether the others may be most of all.
    is_anywhere: bool,
}

impl Edges<'_> {
    fn stmts(&mut self, body: Vec<Stmt>) -> Vec<Stmt> {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut made = Vec::with_capacity(body.len());
            for stmt in body {
                if let Some(ranges) = self.ranges(&stmt) {
                    made.extend(ranges);
                    continue;
                }
                match self.between(&stmt) {
                    Some(mut between) => {
                        between.body = self.stmts(between.body);
                        self.parts(stmt, between, &mut made);
                    }
                    None => made.push(map_parts(stmt, &mut |inner| self.stmts(inner))),
                }
            }
            made
        })
    }

    /// What is to be done between the edges of a loop, if it has some.
    fn between(&mut self, stmt: &Stmt) -> Option<Between> {
        let Stmt::For { index, len, body, .. } = stmt else { return None };
        let mut short = SHORT;
        every(body, &mut |stmt| short = if matches!(stmt, Stmt::For { .. }) { FEW } else { short });
        if size(body) > MOST || matches!(len, Operand::Int(n) if *n < short) {
            return None;
        }
        let all: FxHashSet<Local> = mentions(body).into_keys().collect();
        let from = self.func.part.as_ref().and_then(|_| self.func.params.first()).copied();
        let here = Body::of(body, *index, &all, &self.sums).beginning(from);
        let has_checks = self.checks && here.checks_all() && is_plain(body);
        if here.edges(*len).is_empty() && !has_checks {
            return None;
        }
        let others = other_than_choices(self.func, body);
        let (index, body) = self.copied(body, *index);
        let own: FxHashSet<Local> = mentions(&body).into_keys().collect();
        let own = own.into_iter().filter(|local| !self.mentions.contains_key(local)).collect();
        let edges = Body::of(&body, index, &own, &self.sums).beginning(from).edges(*len);
        let mut builder = plan::Builder::new(self.func, *len, short);
        let (has_end, is_anywhere) = (!edges.is_empty(), edges.iter().any(|edge| edge.is_anywhere));
        let known = builder.edges(&edges);
        let body = fold::fold(body, known, &own);
        let known = builder.checks(&Body::of(&body, index, &own, &self.sums));
        if !has_end && known.is_empty() {
            return None;
        }
        let body = fold::fold(body, known, &own);
        let (before, places) = builder.finish();
        // To choose takes next to nothing beside a loop.
        if short == FEW && other_than_choices(self.func, &body) == others {
            return None;
        }
        self.count(&body);
        Some(Between { before, places, index, body, has_end, is_anywhere })
    }

    /// Statements have been added.
    fn count(&mut self, added: &[Stmt]) {
        let added: Vec<(Local, usize)> = mentions(added).into_iter().collect();
        for (local, n) in added {
            *self.mentions.entry(local).or_default() += n;
        }
    }

    /// A body with variables of its own, but for what it shares with others.
    fn copied(&mut self, body: &[Stmt], index: Local) -> (Local, Vec<Stmt>) {
        let names = self.names(body, index);
        let made = renamed(body, &mut |local| names.get(&local).copied().unwrap_or(local));
        (names.get(&index).copied().unwrap_or(index), made)
    }

    /// New variables for what a body shares with nobody.
    fn names(&mut self, body: &[Stmt], index: Local) -> FxHashMap<Local, Local> {
        let here = mentions(body);
        let mut names: FxHashMap<Local, Local> = FxHashMap::default();
        let mut assigned: Vec<Local> = vec![index];
        every(body, &mut |stmt| assigned.extend(writes(stmt)));
        for local in assigned {
            // The loop itself assigns its index.
            let elsewhere = usize::from(local == index);
            let all = self.mentions.get(&local).copied().unwrap_or(0);
            if !names.contains_key(&local) && here.get(&local).copied().unwrap_or(0) + elsewhere >= all {
                names.insert(local, self.func.another(local));
            }
        }
        names
    }

    /// The three loops.
    fn parts(&mut self, stmt: Stmt, between: Between, made: &mut Vec<Stmt>) {
        let Stmt::For { index, len, backward, independent, sums, body } = stmt else {
            return made.push(stmt);
        };
        let Between { before, places, index: inner, body: mut within, has_end, is_anywhere } = between;
        let (after, body, rest_body) = self.outside(index, body, is_anywhere);
        made.extend(before);
        let [step, rest] = [(); 2].map(|()| self.func.fresh(Word::Int));
        let (low, high) = (Operand::Local(places.low), Operand::Local(places.high));
        let count = Operand::Local(places.count);
        within.insert(0, Stmt::Set(inner, Value::Int(Int::Add, low, Operand::Local(step))));
        let looped = |index, len, sums, body| Stmt::For { index, len, backward, independent, sums, body };
        let between = looped(step, count, sums.clone(), within);
        if !has_end {
            let otherwise = vec![looped(index, len, sums, body)];
            return made.push(Stmt::If { cond: count, then: vec![between], otherwise });
        }
        let mut parts = vec![looped(index, low, sums.clone(), body), between];
        let (last, mut body) = (self.func.fresh(Word::Int), rest_body);
        body.insert(0, Stmt::Set(after, Value::Int(Int::Add, high, Operand::Local(last))));
        made.push(Stmt::Set(rest, Value::Int(Int::Sub, len, high)));
        parts.push(looped(last, Operand::Local(rest), sums, body));
        if backward {
            parts.reverse();
        }
        made.extend(parts);
    }

    /// The bodies of the loops before and after the iterations between the edges, and the index of the second. Where these may be most of
    /// all, loops in them have edges too.
    fn outside(&mut self, index: Local, body: Vec<Stmt>, is_most: bool) -> (Local, Vec<Stmt>, Vec<Stmt>) {
        if !is_most {
            return (index, body.clone(), body);
        }
        let (after, rest) = self.copied(&body, index);
        self.count(&rest);
        (after, self.stmts(body), self.stmts(rest))
    }
}

/// Whether a body has no loops or calls, nor makes anything, nor adds to what is there, which is for passes that know sums: without checks
/// it can be run in vectors.
fn is_plain(body: &[Stmt]) -> bool {
    let (mut makes, mut stored, mut loaded) = (false, Vec::new(), Vec::new());
    every(body, &mut |stmt| {
        if let Stmt::Set(_, value) = stmt {
            makes |= matches!(value, Value::Alloc(..));
            if let Value::Load { base, .. } = value {
                loaded.push(*base);
            }
        }
        if let Stmt::Store { base, .. } = stmt {
            stored.push(*base);
        }
    });
    !makes && body.iter().all(is_straight) && !loaded.iter().any(|base| stored.contains(base))
}

#[cfg(test)]
mod tests;
