//! Loops that add to elements which other iterations add to, too, a fixed number of places away: the derivative of what looks at
//! neighbors. So that vectors can be made of them, they go strip by strip.
//!
//! ```text
//! for i in 0..n backward { g[i] += a  g[i + 1] += b }
//!
//! for each strip of iterations backward {
//!     for i in the strip backward { g[i] += a  u[k] = b }
//!     for i in the strip { g[i + 1] += u[k] }
//! }
//! ```
//!
//! Each element gets what it gets in the same order as before: from the iteration that comes first. So no bit changes. Where the order does
//! not matter, only running need tell how far neighbors are from each other, and the loop may add to variables, too.
//!
//! What adds to rows only, each at the iteration's own place, needs no strips where the rows lie apart, which is asked before the loop:
//!
//! ```text
//! for j in 0..m { g[i, j] += a  g[k, j] += b }      for j in 0..m independent { g[i, j] += a  g[k, j] += b }
//! ```

use crate::forms::{DEEP, Form};
use crate::loops::walk::{Uses, every, is_failure, map_parts, writes};
use crate::loops::{Failure, Func, Int, Kind, Local, Operand, Program, Site, Stmt, Sum, Value, Word};
use crate::memory::Reads;
use crate::parallel::words;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::Compare;
use wengert_prim::RealOp;

/// Iterations of a strip.
const STRIP: i64 = 512;
/// Loops with fewer iterations run as they are.
const SHORT: i64 = 32;
/// Variables go into places so often at most.
const FAR: u64 = 64;
/// More updates than this would be too much to keep.
const MOST: usize = 8;

/// Makes strips of the loops of a program for which that can be done. If not `exact`, reals may be added in any order.
pub(crate) fn split(program: &mut Program, exact: bool) {
    for (_, func) in program.funcs.iter_mut() {
        let mut found = false;
        every(&func.body, &mut |stmt| {
            let adds = |sum: &Sum| matches!(sum, Sum::Array { .. } | Sum::Near(_));
            found |= matches!(stmt, Stmt::For { sums, .. } if sums.iter().any(adds));
        });
        if found {
            let site = u32::try_from(program.sites.len()).unwrap_or(u32::MAX);
            program.sites.push(Site { failure: Failure::Memory, span: func.span });
            let known = Known::of(func);
            let body = std::mem::take(&mut func.body);
            func.body = stmts(func, &known, Manner { site, exact }, body);
        }
    }
}

/// What is known of the variables of a function.
pub(crate) struct Known {
    /// How often each is read.
    reads: FxHashMap<Local, usize>,
    /// What each that is assigned once is assigned.
    values: FxHashMap<Local, Value>,
    params: FxHashSet<Local>,
    /// What loops only read.
    only: Reads,
}

/// How strips are made.
#[derive(Clone, Copy)]
struct Manner {
    /// Where it fails if there is no memory for strips.
    site: u32,
    /// Whether an element gets what it gets in the same order as before: else only running need tell how far neighbors are from each other.
    exact: bool,
}

impl Known {
    pub(crate) fn of(func: &Func) -> Known {
        let Uses { reads, sets } = Uses::of(func, &func.body);
        let mut values = FxHashMap::default();
        every(&func.body, &mut |stmt| {
            if let Stmt::Set(local, value) = stmt {
                values.insert(*local, value.clone());
            }
        });
        values.retain(|local, _| sets.get(local) == Some(&1));
        Known { reads, values, params: func.params.iter().copied().collect(), only: Reads::of(func) }
    }

    /// The variable that an address is computed from, and how many places from there it is.
    fn root(&self, base: Operand) -> Option<(Local, Form)> {
        let mut form = Form::default();
        let mut at = base.local()?;
        loop {
            match self.values.get(&at) {
                Some(Value::Address { base: Operand::Local(base), index, offset }) => {
                    form.add(&self.form(*index, DEEP), 1);
                    form.places = form.places.wrapping_add(i64::from(*offset));
                    at = *base;
                }
                Some(Value::Copy(Operand::Local(base))) => at = *base,
                Some(_) => return Some((at, form)),
                None => return self.params.contains(&at).then_some((at, form)),
            }
        }
    }

    /// An index as a sum of variables.
    fn form(&self, operand: Operand, depth: usize) -> Form {
        Form::of(&self.values, operand, depth)
    }
}

/// How far a place is from others of its object: which of those it is that are a number of places from each other, and this number.
type Shift = (usize, i64);

/// `base[place + offset] = base[place + offset] + value`
pub(crate) struct Update {
    base: Operand,
    place: Form,
    /// From where the object begins.
    pub(crate) whole: Form,
    offset: i32,
    value: Operand,
    /// The variables with what was there, and with the sum.
    old: Local,
    sum: Local,
    /// In the order of iterations, how far after the first one of the same object.
    shift: Shift,
    /// The object.
    pub(crate) object: Local,
    /// Whether nothing is added to an element of the object before, so that this is added at once.
    at_once: bool,
}

fn stmts(func: &mut Func, known: &Known, manner: Manner, body: Vec<Stmt>) -> Vec<Stmt> {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let mut made = Vec::with_capacity(body.len());
        for stmt in body {
            let stmt = map_parts(stmt, &mut |inner| stmts(func, known, manner, inner));
            match updates(known, &stmt, manner.exact) {
                Some(updates) if are_rows(&stmt, &updates) => rows(func, stmt, &updates, &mut made),
                Some(updates) if !manner.exact || updates.iter().all(|update| update.shift.0 == 0) => {
                    strips(func, stmt, &updates, manner.site, &mut made);
                }
                Some(_) | None => made.push(stmt),
            }
        }
        made
    })
}

/// The arrays to which a loop adds.
fn roots(known: &Known, sums: &[Sum]) -> Option<FxHashSet<Local>> {
    let first = |sum: &Sum| match sum {
        Sum::Array { first, .. } | Sum::Near(first) => Some(*first),
        Sum::Word(..) => None,
    };
    let root = |first: Local| Some(known.root(Operand::Local(first))?.0);
    sums.iter().filter_map(first).map(root).collect()
}

/// What a loop adds where, if strips can be made of it, or it adds to rows.
fn updates(known: &Known, stmt: &Stmt, exact: bool) -> Option<Vec<Update>> {
    let Stmt::For { index, backward, .. } = stmt else { return None };
    let mut updates = additions(known, stmt, !exact)?;
    let mut first: FxHashMap<Local, Vec<Form>> = FxHashMap::default();
    for update in &mut updates {
        let terms = &update.place.terms;
        let times =
            |local: &Local, n: i64| n == 1 || n == -1 && local != index || !exact && n.unsigned_abs() <= FAR;
        if !terms.iter().all(|(local, n)| times(local, *n)) {
            return None;
        }
        let begun = first.entry(update.object).or_default();
        let which = which(begun, &update.whole);
        let shift = update.whole.places.wrapping_sub(begun.get(which)?.places);
        update.shift = (which, if *backward { shift } else { -shift });
    }
    // Elements at the iteration's own place alone need no strips.
    let neighbors = updates.iter().any(|update| update.shift != (0, 0)) && updates.len() <= MOST;
    set_at_once(&mut updates);
    neighbors.then_some(updates)
}

/// What a loop adds where, if nothing else is done to the arrays to which it adds, and it carries nothing, or only sums in any order.
pub(crate) fn additions(known: &Known, stmt: &Stmt, any_order: bool) -> Option<Vec<Update>> {
    let Stmt::For { index, sums, body, .. } = stmt else { return None };
    let roots = roots(known, sums)?;
    let words: FxHashSet<Local> = words(sums).map(|(local, _)| local).collect();
    if !any_order && !words.is_empty() {
        return None;
    }
    let inside: FxHashSet<Local> = body.iter().flat_map(writes).collect();
    let (mut loads, mut updates) = (Vec::new(), Vec::new());
    let is_sum = |base: Operand| known.root(base).map(|(root, form)| (roots.contains(&root), root, form));
    for stmt in body {
        match stmt {
            Stmt::Set(local, value) if known.values.contains_key(local) => {
                if let Value::Load { base, .. } = value
                    && !known.only.only(*index, *base)
                    && is_sum(*base).is_none_or(|(is_sum, ..)| is_sum)
                {
                    loads.push(*local);
                }
            }
            Stmt::Set(local, _) if words.contains(local) => {}
            Stmt::Store { base, index: at, offset, value } => {
                let (is_sum, object, mut whole) = is_sum(*base)?;
                if !is_sum {
                    continue;
                }
                let place = known.form(*at, DEEP);
                if !is_outside(&place, *base, *index, &inside) {
                    return None;
                }
                whole.add(&place, 1);
                whole.places = whole.places.wrapping_add(i64::from(*offset));
                let (old, sum, value) = update(known, body, (*base, *at, *offset), *value)?;
                let (base, offset, shift, at_once) = (*base, *offset, (0, 0), false);
                updates.push(Update { base, place, whole, offset, value, old, sum, shift, object, at_once });
            }
            Stmt::If { then, otherwise, .. } if otherwise.is_empty() && is_failure(then) => {}
            Stmt::Set(..)
            | Stmt::If { .. }
            | Stmt::Switch { .. }
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
    // What is added to is read for that only.
    let only = loads.iter().all(|local| updates.iter().any(|update| update.old == *local));
    only.then_some(updates)
}

/// Which of some places one is a known number of places from; it becomes one of them if there is none.
fn which(begun: &mut Vec<Form>, place: &Form) -> usize {
    begun.iter().position(|begin| begin.terms == place.terms).unwrap_or_else(|| {
        begun.push(place.clone());
        begun.len() - 1
    })
}

/// Notes what comes first of all that is added to an element.
fn set_at_once(updates: &mut [Update]) {
    let mut least: FxHashMap<Local, Shift> = FxHashMap::default();
    for update in &*updates {
        let least = least.entry(update.object).or_insert(update.shift);
        *least = update.shift.min(*least);
    }
    for update in updates {
        update.at_once = least.get(&update.object) == Some(&update.shift);
    }
}

/// Whether a place is that of the iteration and others from there, which can be computed outside of the loop.
fn is_outside(place: &Form, base: Operand, index: Local, inside: &FxHashSet<Local>) -> bool {
    let is_fixed = place.terms.keys().all(|local| *local == index || !inside.contains(local));
    let has_base = base.local().is_some_and(|base| !inside.contains(&base));
    is_fixed && has_base && place.terms.contains_key(&index)
}

/// The variables of an update, and what it adds.
fn update(
    known: &Known,
    body: &[Stmt],
    (base, index, offset): (Operand, Operand, i32),
    value: Operand,
) -> Option<(Local, Local, Operand)> {
    let sum = value.local()?;
    let Some(Value::Real(RealOp::Add, args)) = known.values.get(&sum) else { return None };
    let [Operand::Local(old), value] = *args.as_slice() else { return None };
    let here = |wanted: Local| body.iter().any(|stmt| matches!(stmt, Stmt::Set(set, _) if *set == wanted));
    let is_old = known.values.get(&old) == Some(&Value::Load { base, index, offset });
    let once = |local: Local| known.reads.get(&local) == Some(&1);
    (is_old && here(old) && here(sum) && once(old) && once(sum)).then_some((old, sum, value))
}

/// Whether no update is a number of places from another one, and all move with the index: then they are rows.
fn are_rows(stmt: &Stmt, updates: &[Update]) -> bool {
    let Stmt::For { index, sums, .. } = stmt else { return false };
    let moves = |update: &Update| update.whole.terms.get(index) == Some(&1);
    let carries = words(sums).next().is_some();
    !carries && updates.iter().all(|update| update.shift.1 == 0 && moves(update))
}

/// The loop whose iterations do not meet if its rows lie apart, and the loop as it was if they do not.
fn rows(func: &mut Func, stmt: Stmt, updates: &[Update], made: &mut Vec<Stmt>) {
    let Stmt::For { index, len, backward, body, .. } = &stmt else { return made.push(stmt) };
    let mut begun: Vec<&Update> = Vec::new();
    let mut apart: Option<Operand> = None;
    for update in updates {
        let others = begun.iter().filter(|other| other.object == update.object);
        if others.clone().any(|other| other.shift == update.shift) {
            continue;
        }
        for other in others {
            let is_far = is_far(func, (update, other), *len, made);
            apart = Some(apart.map_or(is_far, |apart| int(func, made, Int::And, apart, is_far)));
        }
        begun.push(update);
    }
    let Some(cond) = apart else { return made.push(stmt) };
    let all: Vec<&Update> = updates.iter().collect();
    let body = computed(body, (&all, &[]), &[], *index);
    let (index, len, backward, sums, independent) = (*index, *len, *backward, Vec::new(), true);
    let then = vec![Stmt::For { index, len, backward, independent, sums, body }];
    made.push(Stmt::If { cond, then, otherwise: vec![stmt] });
}

/// Whether two rows begin so many places from each other.
fn is_far(func: &mut Func, (one, other): (&Update, &Update), len: Operand, made: &mut Vec<Stmt>) -> Operand {
    let mut far = one.whole.clone();
    far.add(&other.whole, -1);
    let far = far.written(None, &mut |op, a, b| int(func, made, op, a, b));
    let back = int(func, made, Int::Sub, Operand::Int(0), far);
    let far = int(func, made, Int::Max, far, back);
    let is_far = func.fresh(Word::Int);
    made.push(Stmt::Set(is_far, Value::CompareInt(Compare::Ge, far, len)));
    Operand::Local(is_far)
}

/// The loop over the strips, and the loop as it was if it is short.
fn strips(func: &mut Func, stmt: Stmt, updates: &[Update], site: u32, made: &mut Vec<Stmt>) {
    let (first, updates): (Vec<&Update>, Vec<&Update>) = updates.iter().partition(|update| update.at_once);
    let Stmt::For { index, len, backward, sums, body, .. } = &stmt else { return made.push(stmt) };
    let (index, len, backward) = (*index, *len, *backward);
    let own: Vec<Sum> = words(sums).map(|(local, join)| Sum::Word(local, join)).collect();
    let [start, count, place, number] = [(); 4].map(|()| func.fresh(Word::Int));
    let (room, mut strips) = (func.fresh(Word::Ref), Vec::new());
    let words = i64::try_from(updates.len()).unwrap_or(0) * STRIP + 1;
    strips.push(Stmt::Set(room, Value::Alloc(Operand::Int(words), site, None)));
    let mut kept = Vec::new();
    for offset in (0..).take(updates.len()) {
        let (buffer, index) = (func.fresh(Word::Address), Operand::Int(offset * STRIP + 1));
        strips.push(Stmt::Set(buffer, Value::Address { base: Operand::Local(room), index, offset: 0 }));
        kept.push(Operand::Local(buffer));
    }
    let more = int(func, &mut strips, Int::Add, len, Operand::Int(STRIP - 1));
    let all = int(func, &mut strips, Int::Div, more, Operand::Int(STRIP));
    let mut each = vec![Stmt::Set(start, Value::Int(Int::Mul, Operand::Local(number), Operand::Int(STRIP)))];
    let rest = int(func, &mut each, Int::Sub, len, Operand::Local(start));
    each.push(Stmt::Set(count, Value::Int(Int::Min, rest, Operand::Int(STRIP))));
    let now = Stmt::Set(index, Value::Int(Int::Add, Operand::Local(start), Operand::Local(place)));
    let looped = |backward: bool, sums: Vec<Sum>, mut body: Vec<Stmt>| {
        body.insert(0, now.clone());
        let len = Operand::Local(count);
        Stmt::For { index: place, len, backward, independent: true, sums, body }
    };
    each.push(looped(backward, own, computed(body, (&first, &updates), &kept, place)));
    let mut shifts: Vec<Shift> = updates.iter().map(|update| update.shift).collect();
    shifts.sort_unstable();
    shifts.dedup();
    for shift in shifts {
        let mut body = Vec::new();
        for (update, kept) in updates.iter().zip(&kept).filter(|(update, _)| update.shift == shift) {
            add(func, update, (*kept, place), &mut body);
        }
        each.push(looped(false, Vec::new(), body));
    }
    let (sums, independent) = (Vec::new(), false);
    strips.push(Stmt::For { index: number, len: all, backward, independent, sums, body: each });
    strips.push(Stmt::Free(Operand::Local(room), Kind::Array(1)));
    let long = func.fresh(Word::Int);
    made.push(Stmt::Set(long, Value::CompareInt(Compare::Ge, len, Operand::Int(SHORT))));
    made.push(Stmt::If { cond: Operand::Local(long), then: strips, otherwise: vec![stmt] });
}

/// The body without its updates: what the `first` ones add to an element is added to it at once, what the later ones add is kept. All is stored
/// after everything was read.
fn computed(
    body: &[Stmt],
    (first, later): (&[&Update], &[&Update]),
    kept: &[Operand],
    place: Local,
) -> Vec<Stmt> {
    let (mut made, mut stores): (Vec<Stmt>, Vec<Stmt>) = (Vec::new(), Vec::new());
    let before = |update: &Update| {
        let others = first.iter().take_while(|other| other.sum != update.sum);
        let same = |other: &Update| other.object == update.object && other.shift == update.shift;
        others.filter(|other| same(other)).last()
    };
    for stmt in body {
        match stmt {
            Stmt::Set(local, _) if later.iter().any(|update| [update.old, update.sum].contains(local)) => {}
            Stmt::Set(local, _) => match first.iter().find(|update| [update.old, update.sum].contains(local))
            {
                Some(update) => match before(update) {
                    Some(other) if *local == update.sum => {
                        let args = vec![Operand::Local(other.sum), update.value];
                        made.push(Stmt::Set(*local, Value::Real(RealOp::Add, args)));
                    }
                    Some(_) => {}
                    None => made.push(stmt.clone()),
                },
                None => made.push(stmt.clone()),
            },
            Stmt::Store { value, .. } => {
                let is_its = |update: &Update| *value == Operand::Local(update.sum);
                if let Some((update, base)) = later.iter().zip(kept).find(|(update, _)| is_its(update)) {
                    let (base, index) = (*base, Operand::Local(place));
                    stores.push(Stmt::Store { base, index, offset: 0, value: update.value });
                } else if let Some(update) = first.iter().find(|update| is_its(update)) {
                    let before = before(update).map(|other| Operand::Local(other.sum));
                    stores
                        .retain(|stmt| !matches!(stmt, Stmt::Store { value, .. } if Some(*value) == before));
                    stores.push(stmt.clone());
                } else {
                    made.push(stmt.clone());
                }
            }
            Stmt::If { .. }
            | Stmt::Switch { .. }
            | Stmt::For { .. }
            | Stmt::While { .. }
            | Stmt::Parallel { .. }
            | Stmt::Call { .. }
            | Stmt::Runtime { .. }
            | Stmt::Retain(..)
            | Stmt::Release(..)
            | Stmt::Free(..)
            | Stmt::Fail(..) => made.push(stmt.clone()),
        }
    }
    made.extend(stores);
    made
}

/// Adds what is kept.
fn add(func: &mut Func, update: &Update, (kept, place): (Operand, Local), made: &mut Vec<Stmt>) {
    let at = update.place.written(None, &mut |op, a, b| int(func, made, op, a, b));
    let [old, more, sum] = [(); 3].map(|()| func.fresh(Word::Real));
    let (base, offset) = (update.base, update.offset);
    made.push(Stmt::Set(old, Value::Load { base, index: at, offset }));
    made.push(Stmt::Set(more, Value::Load { base: kept, index: Operand::Local(place), offset: 0 }));
    made.push(Stmt::Set(sum, Value::Real(RealOp::Add, vec![Operand::Local(old), Operand::Local(more)])));
    made.push(Stmt::Store { base, index: at, offset, value: Operand::Local(sum) });
}

fn int(func: &mut Func, made: &mut Vec<Stmt>, op: Int, a: Operand, b: Operand) -> Operand {
    let local = func.fresh(Word::Int);
    made.push(Stmt::Set(local, Value::Int(op, a, b)));
    Operand::Local(local)
}

#[cfg(test)]
mod tests;
