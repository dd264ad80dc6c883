//! Places that are the same in all iterations of a loop are computed before it: those of a row, or of an element of a small array, which the
//! lowering of arrays computes wherever it needs them.
//!
//! ```text
//! for j in 0..m { r = i * m  p = r + j … }      r = i * m  for j in 0..m { p = r + j … }
//! ```
//!
//! A compiler does that itself, but what looks for neighbors and for elements that do not move sees more of them then. Nothing is moved that may fail.

use crate::loops::walk::{every, map_parts, operands_of, renamed, writes};
use crate::loops::{Int, Local, Program, Stmt, Sum, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// Does that in all functions of a program.
pub(crate) fn places(program: &mut Program) {
    for (_, func) in program.funcs.iter_mut() {
        let mut before = Before::default();
        let mut any = false;
        every(&func.body, &mut |stmt| {
            any |= matches!(stmt, Stmt::For { .. });
            writes(stmt).into_iter().for_each(|local| *before.count.entry(local).or_default() += 1);
        });
        if any {
            let body = before.stmts(std::mem::take(&mut func.body));
            let again = before.again;
            func.body =
                if again.is_empty() { body } else { renamed(&body, &mut |local| named(&again, local)) };
        }
    }
}

/// What a variable is called that may be another one computed again.
fn named(again: &FxHashMap<Local, Local>, mut local: Local) -> Local {
    while let Some(other) = again.get(&local) {
        local = *other;
    }
    local
}

#[derive(Default)]
struct Before {
    /// How often each variable is assigned.
    count: FxHashMap<Local, usize>,
    /// Variables that are what another one is.
    again: FxHashMap<Local, Local>,
}

impl Before {
    fn stmts(&mut self, body: Vec<Stmt>) -> Vec<Stmt> {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut out = Vec::with_capacity(body.len());
            for stmt in body {
                let mut stmt = map_parts(stmt, &mut |inner| self.stmts(inner));
                if let Stmt::For { index, sums, body, .. } = &mut stmt {
                    out.extend(self.same(*index, sums, body));
                }
                out.push(stmt);
            }
            out
        })
    }

    /// Takes what is the same in all iterations out of the body of a loop, each once. Addresses in the arrays to which the loop adds stay in
    /// it: whoever looks at it knows such an array by one address only.
    fn same(&mut self, index: Local, sums: &[Sum], body: &mut Vec<Stmt>) -> Vec<Stmt> {
        if !body.iter().any(|stmt| place(stmt).is_some()) {
            return Vec::new();
        }
        let added_to = sums.iter().flat_map(|sum| match sum {
            Sum::Array { object, first, .. } => [*object, Some(*first)],
            Sum::Near(first) => [None, Some(*first)],
            Sum::Word(..) => [None, None],
        });
        let mut assigned: FxHashSet<Local> = added_to.flatten().chain([index]).collect();
        every(body, &mut |stmt| assigned.extend(writes(stmt)));
        let (mut before, mut rest) = (Vec::new(), Vec::with_capacity(body.len()));
        for stmt in std::mem::take(body) {
            let stays = |value: &Value| {
                operands_of(value)
                    .iter()
                    .filter_map(|operand| operand.local())
                    .all(|local| !assigned.contains(&local))
            };
            let Some((local, _)) =
                place(&stmt).filter(|(local, value)| self.count.get(local) == Some(&1) && stays(value))
            else {
                rest.push(stmt);
                continue;
            };
            assigned.remove(&local);
            let stmt = renamed(std::slice::from_ref(&stmt), &mut |local| named(&self.again, local)).pop();
            let value = stmt.as_ref().and_then(place).map(|(_, value)| value);
            match before.iter().filter_map(place).find(|(_, other)| Some(*other) == value) {
                Some((other, _)) => _ = self.again.insert(local, other),
                None => before.extend(stmt),
            }
        }
        *body = rest;
        before
    }
}

/// If a statement computes a place or an address: what that is called, and how.
fn place(stmt: &Stmt) -> Option<(Local, &Value)> {
    let Stmt::Set(local, value) = stmt else { return None };
    let is_place = matches!(value, Value::Int(Int::Add | Int::Sub | Int::Mul, ..) | Value::Address { .. });
    is_place.then_some((*local, value))
}

#[cfg(test)]
mod tests {
    use crate::Math;
    use crate::beside::Beside;
    use wengert_ir::eval::{Items, Value};

    /// Elements of two rows and of one that stays, in a loop in a loop.
    const ROWS: &str = "func f(m: [][]Real, k: Int, l: Int) -> []Real {
        n = length(m)
        ys = each i < n {
            h = i + k
            s = for j < l, s = 0.0 { a = m[h, j] b = m[i, j] c = m[h, j] d = m[k, l] e = a * b g = c + d t = e * g u = s + t yield u }
            yield s
        }
        return ys
    } entry f = f";

    #[test]
    fn where_rows_begin_is_computed_once_before_the_loop() {
        let program = wengert_ir::parse::parse(ROWS).expect("the text is a program");
        let mut loops = crate::lower::lower(&program);
        super::places(&mut loops);
        let printed = crate::loops::print(&loops);
        let (before, inside) = printed.rsplit_once("for ").expect("there is a loop");
        // Two rows, of which one is read twice, and that of the element that stays, which is the same in both loops.
        assert_eq!((before.matches(" * ").count(), inside.matches(" * ").count()), (3, 0), "{printed}");
        let mut beside = Beside::new(&program, &[Math::Strict, Math::Fast]);
        let matrix = |n: usize, l: usize| {
            Value::array([n, l], Items::Reals((0..n * l).map(|i| (i * 7 % 11) as f64 - 4.5).collect()))
        };
        for (n, l, k, to) in [(3, 5, 0, 4), (4, 20, 0, 17), (1, 3, 0, 0), (3, 5, 1, 4), (2, 2, 0, 9)] {
            beside.agrees(&[matrix(n, l), Value::Int(k), Value::Int(to)], format_args!("{n} {l} {k} {to}"));
        }
    }

    #[test]
    fn addresses_in_arrays_to_which_a_loop_adds_stay_in_it() {
        // The product is added to all of `g`, whose address is the same in all iterations; parts have to have `g` for themselves.
        let text = "func f(v: [][]Real, xs: [][]Real) -> ([][]Real, Real) {
            n = length(xs)
            zeros = zeros(v)
            h, s = each i < n, g += zeros, s += 0.0, x in xs {
                us = each j < 2 { r = real(j) yield r }
                g2 = add_product_backward(g, us, x)
                t = for k < 2, t = 0.0, u in us { t2 = t + u yield t2 }
                y = x[1]
                w = t * y
                s2 = s + w
                yield g2, s2
            }
            return h, s
        } entry f = f";
        let program = wengert_ir::parse::parse(text).expect("the text is a program");
        let mut loops = crate::lower::lower(&program);
        super::places(&mut loops);
        let printed = crate::loops::print(&loops);
        let (outside, inside) = printed.split_once("for ").expect("there is a loop");
        let whole = |text: &str| text.lines().any(|line| line.contains(" = &") && line.ends_with("[0]"));
        assert!(!whole(outside) && whole(inside), "{printed}");
        let mut beside = Beside::new(&program, &[Math::Strict, Math::Fast]);
        let matrix = |n: usize, l: usize| {
            Value::array([n, l], Items::Reals((0..n * l).map(|i| (i * 7 % 11) as f64 - 4.5).collect()))
        };
        // The last is so much work that it is made by parts.
        for (n, l) in [(0, 3), (3, 5), (300, 3000)] {
            beside.agrees(&[matrix(2, l), matrix(n, l)], format_args!("{n} {l}"));
        }
    }

    #[test]
    fn what_may_fail_or_changes_stays() {
        let text = "func f(xs: []Real, k: Int) -> Real {
            n = length(xs)
            s, m = for i < n, s = 0.0, m = k { q = n / k p = m + k x = xs[q] t = s + x yield t, p }
            return s
        } entry f = f";
        let program = wengert_ir::parse::parse(text).expect("the text is a program");
        let mut loops = crate::lower::lower(&program);
        let printed = crate::loops::print(&loops);
        super::places(&mut loops);
        assert_eq!(crate::loops::print(&loops), printed);
    }
}
