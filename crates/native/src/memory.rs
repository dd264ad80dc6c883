//! Which loops have iterations that do not meet in memory, beyond those that were made so.
//!
//! A loop that carries values and stores into arrays that it makes, as the forward run of a derivative does, is as
//! independent in memory as a map. That is seen from where addresses come from: what a function allocates itself is none
//! of what it was given, and two allocations are different.

mod reads;

pub use reads::Reads;

use crate::loops::walk::{every, parts, parts_mut, writes};
use crate::loops::{Func, Int, Local, Operand, Program, Stmt, Sum, Value, Word};
use rustc_hash::{FxHashMap, FxHashSet};

/// Notes it of each innermost loop of which it can be seen.
pub(crate) fn mark(program: &mut Program) {
    for (_, func) in program.funcs.iter_mut() {
        let origins = Origins::of(func);
        let mut body = std::mem::take(&mut func.body);
        loops(&mut body, &origins, &mut 0);
        func.body = body;
    }
}

/// Statements are numbered in the order in which they stand, as where they are looked through for addresses.
fn loops(stmts: &mut [Stmt], origins: &Origins, number: &mut usize) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        for stmt in stmts {
            *number += 1;
            if let Stmt::For { index, independent: independent @ false, sums, body, .. } = stmt {
                let but_for_words = sums.iter().all(|sum| matches!(sum, Sum::Word(..)));
                let seen = !sums.is_empty() && but_for_words && stores(body);
                *independent = seen || is_independent(body, *index, sums, (origins, *number));
            }
            parts_mut(stmt).into_iter().for_each(|part| loops(part, origins, number));
        }
    });
}

/// Where an address points into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// An object that is allocated in one place of the function, or that a part of a loop is given and nothing else that it is given
    /// leads to.
    Made(Local),
    /// One that is there before the function is called.
    Given,
    /// The one that this address, computed in one place of the function, points into.
    Part(Local),
    /// Any object.
    Unknown,
}

/// Where the addresses of a function point into.
#[derive(Default)]
struct Origins {
    of: FxHashMap<Local, Origin>,
    /// Objects whose references go elsewhere than into addresses.
    shared: FxHashSet<Local>,
    /// For each of the places where objects are allocated or addresses computed: the number of the statement, and of the last one of the
    /// block in which it stands.
    scopes: FxHashMap<Local, (usize, usize)>,
}

impl Origins {
    fn of(func: &Func) -> Origins {
        let mut counts = FxHashMap::default();
        every(&func.body, &mut |stmt| {
            writes(stmt).into_iter().for_each(|local| *counts.entry(local).or_insert(0) += 1);
        });
        let mut origins = Origins::default();
        let own = func.part.as_deref().unwrap_or_default();
        for param in func.params.iter().filter(|param| !counts.contains_key(*param)) {
            let origin = if own.contains(param) { Origin::Made(*param) } else { Origin::Given };
            origins.of.insert(*param, origin);
        }
        origins.stmts((func, &counts), &func.body, &mut 0);
        origins
    }

    /// Statements in their order: an address is made of addresses that were made before.
    fn stmts(&mut self, known: (&Func, &FxHashMap<Local, usize>), stmts: &[Stmt], number: &mut usize) {
        let (func, counts) = known;
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut here: Vec<(Local, usize)> = Vec::new();
            for stmt in stmts {
                *number += 1;
                match stmt {
                    Stmt::Set(local, value) => {
                        let origin = match value {
                            Value::Alloc(..) => Some(Origin::Made(*local)),
                            Value::Address { base, .. } => {
                                let origin = self.origin(*base);
                                let known = origin != Origin::Unknown;
                                Some(if known { origin } else { Origin::Part(*local) })
                            }
                            Value::Copy(_)
                            | Value::Real(..)
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
                            | Value::Tag(..)
                            | Value::Unique(..) => None,
                        };
                        match origin.filter(|_| counts.get(local) == Some(&1)) {
                            Some(origin) => {
                                self.of.insert(*local, origin);
                                here.push((*local, *number));
                            }
                            None => self.shares(&handed_on(value)),
                        }
                    }
                    Stmt::Store { value, .. } => self.shares(&[*value]),
                    Stmt::Call { args, .. } | Stmt::Runtime { args, .. } => {
                        let object = |arg: &&Operand| matches!(arg, Operand::Local(arg) if func.locals.get(*arg) == Some(&Word::Ref));
                        let objects: Vec<Operand> = args.iter().filter(object).copied().collect();
                        self.shares(&objects);
                    }
                    Stmt::Retain(object, _) => self.shares(&[*object]),
                    // Its addresses are those of arrays that only it adds to, while it runs.
                    Stmt::Parallel { .. } => {}
                    Stmt::If { .. }
                    | Stmt::Switch { .. }
                    | Stmt::For { .. }
                    | Stmt::While { .. }
                    | Stmt::Release(..)
                    | Stmt::Free(..)
                    | Stmt::Fail(..) => {}
                }
                parts(stmt).into_iter().for_each(|part| self.stmts(known, part, number));
            }
            self.scopes.extend(here.into_iter().map(|(local, first)| (local, (first, *number))));
        });
    }

    /// References that something else may hold from now on. (Reading through one gives none away.)
    fn shares(&mut self, operands: &[Operand]) {
        for operand in operands {
            if let Origin::Made(made) = self.origin(*operand) {
                self.shared.insert(made);
            }
        }
    }

    fn origin(&self, base: Operand) -> Origin {
        match base {
            Operand::Local(local) => self.of.get(&local).copied().unwrap_or(Origin::Unknown),
            Operand::Text(_) => Origin::Given,
            Operand::Int(_) | Operand::Real(_) => Origin::Unknown,
        }
    }

    /// Whether an address was computed before an object was allocated, each time that a statement is reached: then what it points into was there.
    fn is_before(&self, address: Local, object: Local, number: usize) -> bool {
        let (Some((from, to)), Some((made, end))) = (self.scopes.get(&address), self.scopes.get(&object))
        else {
            return false;
        };
        from < made && made <= to && (made..=end).contains(&&number)
    }

    /// Whether two addresses never point into the same object, in the statement of this number.
    fn differ(&self, a: Operand, b: Operand, number: usize) -> bool {
        match (self.origin(a), self.origin(b)) {
            (Origin::Made(a), Origin::Made(b)) => a != b,
            (Origin::Made(_), Origin::Given) | (Origin::Given, Origin::Made(_)) => true,
            (Origin::Made(made), Origin::Part(part)) | (Origin::Part(part), Origin::Made(made))
                if self.is_before(part, made, number) =>
            {
                true
            }
            (Origin::Made(made), Origin::Unknown | Origin::Part(_))
            | (Origin::Unknown | Origin::Part(_), Origin::Made(made)) => !self.shared.contains(&made),
            (
                Origin::Given | Origin::Unknown | Origin::Part(_),
                Origin::Given | Origin::Unknown | Origin::Part(_),
            ) => false,
        }
    }
}

/// What an expression may give on as it is.
fn handed_on(value: &Value) -> Vec<Operand> {
    match value {
        Value::Copy(x) => vec![*x],
        Value::Select(_, x, y) => vec![*x, *y],
        Value::Address { base, .. } => vec![*base],
        Value::Real(..)
        | Value::Int(..)
        | Value::CompareReal(..)
        | Value::CompareInt(..)
        | Value::OutOfRange(..)
        | Value::IntToReal(_)
        | Value::RealToInt(_)
        | Value::Round(..)
        | Value::Bits(_)
        | Value::Load { .. }
        | Value::Tag(..)
        | Value::Unique(..)
        | Value::Alloc(..) => Vec::new(),
    }
}

/// A place in memory: base, index, offset.
type Place = (Operand, Operand, i32);

/// Whether statements store anything.
fn stores(body: &[Stmt]) -> bool {
    let mut found = false;
    every(body, &mut |stmt| found |= matches!(stmt, Stmt::Store { .. }));
    found
}

/// Whether the iterations of a loop do not meet in memory: each stores at its own index, and what is read is stored by the
/// same iteration or by none.
/// What iterations add to is read and written for that only, by whatever address.
fn is_independent(body: &[Stmt], index: Local, sums: &[Sum], (origins, number): (&Origins, usize)) -> bool {
    let (mut loads, mut stores) = (Vec::new(), Vec::new());
    let mut assigned = FxHashSet::default();
    if !places(body, &mut loads, &mut stores, &mut assigned) || stores.is_empty() || assigned.contains(&index)
    {
        return false;
    }
    let fixed = |operand: &Operand| !matches!(operand, Operand::Local(local) if assigned.contains(local));
    let own = |(base, at, _): &Place| fixed(base) && moves(*at, index, body, &fixed);
    let added_to: Vec<Origin> = sums
        .iter()
        .filter_map(|sum| match sum {
            Sum::Array { first, .. } | Sum::Near(first) => Some(origins.origin(Operand::Local(*first))),
            Sum::Word(..) => None,
        })
        .filter(|origin| !matches!(origin, Origin::Unknown | Origin::Given))
        .collect();
    let apart = |a: &Place, b: &Place| {
        let both = [origins.origin(a.0), origins.origin(b.0)];
        let alone = both[0] != both[1]
            && !both.contains(&Origin::Unknown)
            && both.iter().any(|origin| added_to.contains(origin));
        a == b || alone || origins.differ(a.0, b.0, number)
    };
    stores.iter().all(|store| own(store) && loads.iter().chain(&stores).all(|other| apart(store, other)))
}

/// Whether an index is that of the loop and something fixed.
fn moves(at: Operand, index: Local, body: &[Stmt], fixed: &dyn Fn(&Operand) -> bool) -> bool {
    moves_in(&at, index, body, fixed, 0)
}

fn moves_in(
    at: &Operand,
    index: Local,
    body: &[Stmt],
    fixed: &dyn Fn(&Operand) -> bool,
    depth: usize,
) -> bool {
    const DEEP: usize = 3;
    if *at == Operand::Local(index) || depth > DEEP {
        return depth <= DEEP;
    }
    let Some(Value::Int(Int::Add, a, b)) = definition(at, body) else { return false };
    let sum =
        |a: &Operand, b: &Operand| fixed_in(a, body, fixed, 0) && moves_in(b, index, body, fixed, depth + 1);
    sum(a, b) || sum(b, a)
}

/// Whether an operand is the same in all iterations: from outside, or computed from such, but not deeply.
fn fixed_in(operand: &Operand, body: &[Stmt], fixed: &dyn Fn(&Operand) -> bool, depth: usize) -> bool {
    const DEEP: usize = 8;
    if fixed(operand) || depth > DEEP {
        return fixed(operand);
    }
    let Some(Value::Int(_, a, b)) = definition(operand, body) else { return false };
    fixed_in(a, body, fixed, depth + 1) && fixed_in(b, body, fixed, depth + 1)
}

/// The one expression that a variable is assigned in a body.
fn definition<'b>(operand: &Operand, body: &'b [Stmt]) -> Option<&'b Value> {
    let mut values = body.iter().filter_map(|stmt| {
        let Stmt::Set(known, value) = stmt else { return None };
        (Operand::Local(*known) == *operand).then_some(value)
    });
    values.next().filter(|_| values.next().is_none())
}

/// Where a body reads and writes, and what it assigns; `false` if it does more than that.
fn places(
    body: &[Stmt],
    loads: &mut Vec<Place>,
    stores: &mut Vec<Place>,
    assigned: &mut FxHashSet<Local>,
) -> bool {
    body.iter().all(|stmt| match stmt {
        Stmt::Set(local, value) => {
            assigned.insert(*local);
            match value {
                Value::Load { base, index, offset } => loads.push((*base, *index, *offset)),
                Value::Tag(object, true) => loads.push((*object, Operand::Int(0), -1)),
                Value::Alloc(..) | Value::Tag(_, false) | Value::Unique(..) => return false,
                Value::Copy(_)
                | Value::Real(..)
                | Value::Int(..)
                | Value::CompareReal(..)
                | Value::CompareInt(..)
                | Value::OutOfRange(..)
                | Value::Select(..)
                | Value::IntToReal(_)
                | Value::RealToInt(_)
                | Value::Round(..)
                | Value::Bits(_)
                | Value::Address { .. } => {}
            }
            true
        }
        Stmt::Store { base, index, offset, .. } => {
            stores.push((*base, *index, *offset));
            true
        }
        Stmt::If { then, otherwise, .. } => stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            places(then, loads, stores, assigned) && places(otherwise, loads, stores, assigned)
        }),
        Stmt::Fail(..) => true,
        Stmt::Switch { .. }
        | Stmt::For { .. }
        | Stmt::While { .. }
        | Stmt::Parallel { .. }
        | Stmt::Call { .. }
        | Stmt::Runtime { .. }
        | Stmt::Retain(..)
        | Stmt::Release(..)
        | Stmt::Free(..) => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the loops of a program are independent, in their order.
    fn independent(text: &str) -> Vec<bool> {
        marked(text, false)
    }

    /// The same, with loops divided between threads first, if it is said so.
    fn marked(text: &str, divided: bool) -> Vec<bool> {
        fn see(stmts: &[Stmt], found: &mut Vec<bool>) {
            for stmt in stmts {
                if let Stmt::For { independent, .. } = stmt {
                    found.push(*independent);
                }
                parts(stmt).into_iter().for_each(|part| see(part, found));
            }
        }
        let program = wengert_ir::parse::parse(text).expect("the text is a program");
        let mut loops = crate::lower::lower(&program);
        if divided {
            crate::parallel::divide(&mut loops, false, true);
        }
        mark(&mut loops);
        let mut found = Vec::new();
        loops.funcs.iter().for_each(|(_, func)| see(&func.body, &mut found));
        found
    }

    #[test]
    fn what_is_made_is_not_what_is_given() {
        let text = "func f(xs: []Real) -> (Real, []Real) {
            n = length(xs)
            s, ys = for i < n, s = 0.0, x in xs { y = x * x t = s + y yield t, y }
            return s, ys
        }
        entry f = f";
        assert_eq!(independent(text), [true]);
    }

    #[test]
    fn rows_of_what_is_made_and_places_that_are_sums_are_seen() {
        let text = |place: &str| {
            format!(
                "func f(xs: []Real, k: Int, l: Int) -> [][]Real {{
                    n = length(xs)
                    row = replicate(n, 0.0)
                    zs = replicate(9, row)
                    us = for i < n, us += zs, x in xs {{
                        a = i + l b = a + k c = b * 2 d = l - i
                        u = add_at(us, k, {place}, x)
                        yield u
                    }}
                    return us
                }}
                entry f = f"
            )
        };
        for (place, expected) in
            [("i", true), ("a", true), ("b", true), ("c", false), ("d", false), ("l", false)]
        {
            assert_eq!(independent(&text(place)).last(), Some(&expected), "{place}");
        }
    }

    /// The inner loop adds to an array that the function makes and to one that each iteration makes, and reads what is given.
    #[test]
    fn what_parts_of_loops_are_given_is_what_it_was() {
        let text = "func f(ws: [][]Real, xs: [][]Real, n: Int, m: Int) -> []Real {
            row = xs[0]
            start = zeros(row)
            all = for i < n, all += start, w in ws, x in xs {
                none = zeros(row)
                own, sum = for j < m, own += none, sum += all, y in x, v in w {
                    a = add_at(own, j, y)
                    b = y * v
                    c = add_at(sum, j, b)
                    yield a, c
                }
                k = own[0]
                more = add_at(sum, 0, k)
                yield more
            }
            return all
        }
        entry f = f";
        let (whole, parts) = (marked(text, false), marked(text, true));
        assert_eq!(whole.iter().filter(|independent| **independent).count(), 1, "{whole:?}");
        assert!(parts.iter().filter(|independent| **independent).count() > 1, "{parts:?}");
    }

    #[test]
    fn what_the_last_iteration_has_stored_may_be_read() {
        let text = "func f(n: Int, start: []Real) -> []Real {
            ys = for i < n, ys = start { j = max(i, 1) k = j - 1 y = ys[k] z = y * 2.0 zs = set(ys, i, z) yield zs }
            return ys
        }
        entry f = f";
        assert!(independent(text).contains(&false));
    }

    /// What a loop hands on was there before an iteration makes the next, and what another loop has made was not.
    #[test]
    fn what_an_iteration_makes_is_none_of_what_was_there_before() {
        let text = |read: &str| {
            format!(
                "func f(n: Int, sums: []Real, start: []Real) -> ([]Real, []Real) {{
                    m = length(start)
                    own = zeros(start)
                    ys, all = for i < n, ys = start, all += own {{
                        zs, more = each j < m, all += all, y in ys {{
                            t = add_at(all, j, y)
                            z = {read}
                            yield t, z
                        }}
                        yield zs, more
                    }}
                    return ys, all
                }}
                entry f = f"
            )
        };
        assert_eq!(independent(&text("y * y")).last(), Some(&true));
        assert_eq!(independent(&text("all[0]")).last(), Some(&false));
    }

    /// For each loop with none inside, of how many addresses it is known that it only reads there.
    #[test]
    fn what_only_is_read_is_known() {
        let text = "func f(n: Int, start: []Real) -> ([]Real, Real) {
            m = length(start)
            ys = for i < n, ys = start {
                none = zeros(start)
                zs = each j < m, all += none, y in ys { t = add_at(all, j, y) yield t }
                us = each k < m, z in zs, y2 in ys { u = z * y2 yield u }
                yield us
            }
            s = for l < m, s = 0.0, y3 in ys { s2 = s + y3 yield s2 }
            return ys, s
        }
        entry f = f";
        let program = wengert_ir::parse::parse(text).expect("the text is a program");
        let loops = crate::lower::lower(&program);
        let mut found = Vec::new();
        for (_, func) in loops.funcs.iter() {
            let reads = Reads::of(func);
            every(&func.body, &mut |stmt| {
                let Stmt::For { index, body, .. } = stmt else { return };
                let (mut all, mut only) = (FxHashSet::default(), 0);
                every(body, &mut |stmt| {
                    if let Stmt::Set(_, Value::Load { base, .. }) = stmt
                        && all.insert(format!("{base:?}"))
                    {
                        only += usize::from(reads.only(*index, *base));
                    }
                });
                found.push((all.len(), only));
            });
        }
        // The first loop inside reads what it adds to, too; of the one around them nothing is said.
        assert_eq!(found.last(), Some(&(1, 1)), "{found:?}");
        assert!(found.contains(&(2, 1)) && found.contains(&(2, 2)), "{found:?}");
        assert!(found.iter().any(|(all, only)| *all > 2 && *only == 0), "{found:?}");
    }
}
