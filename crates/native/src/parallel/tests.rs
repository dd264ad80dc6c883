//! Loops that are divided: with one thread and with four they give the same bits, and about what whole loops give.

#![expect(clippy::wildcard_enum_match_arm, reason = "results are numbers")]

mod objects;

use super::divide;
use crate::loops::walk::every;
use crate::loops::{Stmt, Sum};
use crate::{Compiled, Manner, Math};
use std::sync::Arc;
use wengert_fault::Fault;
use wengert_ir::eval::{Evaluator, Items, Limits, Value};

/// How many parts of loops there are.
fn parts(text: &str, exact: bool) -> usize {
    let program = wengert_ir::parse::parse(text).expect("the text is a program");
    assert_eq!(wengert_ir::verify::verify(&program), Ok(()));
    let mut loops = crate::lower::lower(&program);
    let before = loops.funcs.len();
    divide(&mut loops, exact, false);
    loops.funcs.len() - before
}

fn run(text: &str, math: Math, threads: usize, args: &[Value]) -> Result<Vec<Value>, Fault> {
    let program = wengert_ir::parse::parse(text).expect("the text is a program");
    // As if all loops were long.
    let manner = Manner { math, mark: None, short_loops: true, lanes: crate::LANES };
    let (mut compiled, _) = Compiled::made(program, manner, 1 << 32, Arc::default()).expect("it compiles");
    compiled.set_threads(threads);
    let entry = *compiled.program().entries.values().next().expect("it has an entry");
    let before = compiled.words_in_use();
    let first = compiled.call(entry, args);
    if first.is_ok() {
        assert_eq!(compiled.words_in_use(), before, "memory is left with {threads} threads");
    }
    let again = compiled.call(entry, args).map_err(|failure| failure.fault);
    let first = first.map_err(|failure| failure.fault);
    assert_eq!(bits(&first), bits(&again), "with {threads} threads");
    first
}

fn reals(n: usize) -> Value {
    Value::array(vec![n], Items::Reals((0..n).map(|k| (k as f64 * 0.731).sin() * 3.0).collect()))
}

/// The numbers of a result, as bits.
fn bits(result: &Result<Vec<Value>, Fault>) -> String {
    let one = |value: &Value| match value {
        Value::Real(x) => format!("{:x} ", x.to_bits()),
        Value::Array(array) => match array.items() {
            Items::Reals(xs) => xs.iter().map(|x| format!("{:x} ", x.to_bits())).collect(),
            _ => format!("{value:?} "),
        },
        _ => format!("{value:?} "),
    };
    match result {
        Ok(values) => values.iter().map(one).collect(),
        Err(fault) => format!("{fault:?}"),
    }
}

fn numbers(values: &[Value]) -> Vec<f64> {
    let one = |value: &Value| match value {
        Value::Real(x) => vec![*x],
        Value::Int(n) => vec![*n as f64],
        Value::Array(array) => match array.items() {
            Items::Reals(xs) => xs.clone(),
            Items::Ints(ns) => ns.iter().map(|n| *n as f64).collect(),
            _ => panic!("no numbers"),
        },
        _ => panic!("no numbers"),
    };
    values.iter().flat_map(one).collect()
}

/// That a program has so many parts, and that threads change nothing.
fn agrees(text: &str, expected: (usize, usize), sizes: &[usize]) {
    assert_eq!((parts(text, true), parts(text, false)), expected, "parts if exact, and if not");
    for size in sizes {
        let args = [reals(*size)];
        let whole = wengert_ir::parse::parse(text).expect("the text is a program");
        let entry = *whole.entries.values().next().expect("it has an entry");
        let limits = Limits { max_steps: None, max_memory: 1 << 32, ..Limits::default() };
        let truth =
            Evaluator::new(&whole, limits).call(entry, args.to_vec()).map_err(|failure| failure.fault);
        for math in [Math::Strict, Math::Fast] {
            let one = run(text, math, 1, &args);
            for threads in [2, 4] {
                assert_eq!(
                    bits(&run(text, math, threads, &args)),
                    bits(&one),
                    "{math:?}, {threads} threads, {size}"
                );
            }
            match (&one, &truth) {
                (Ok(one), Ok(truth)) if math == Math::Fast => {
                    for (a, b) in numbers(one).iter().zip(numbers(truth)) {
                        let near = (a - b).abs() <= 1e-10 * b.abs().max(1.0) || a.is_nan() && b.is_nan();
                        assert!(near, "size {size}: {a} and {b}");
                    }
                }
                (one, truth) => assert_eq!(bits(one), bits(truth), "size {size}"),
            }
        }
    }
}

const SIZES: &[usize] = &[0, 1, 2, 63, 100, 20_000, 100_003];

#[test]
fn maps() {
    agrees(
        "func f(xs: []Real) -> []Real {
            n = length(xs)
            ys = each i < n, x in xs { y = exp(x) r = real(i) z = y * r yield z }
            return ys
        }
        entry f = f",
        (1, 1),
        SIZES,
    );
}

#[test]
fn maps_backward_and_of_integers() {
    agrees(
        "func f(xs: []Real) -> (Int, []Real) {
            n = length(xs)
            s = for backward i < n, s = 0, x in xs { k = floor(x) p = k * i t = s + p yield t }
            ys = each backward i < n, x in xs { y = sin(x) yield y }
            return s, ys
        }
        entry f = f",
        (2, 2),
        SIZES,
    );
}

#[test]
fn sums_of_reals_are_made_in_order_if_numbers_are_to_be_exact() {
    agrees(
        "func f(xs: []Real) -> (Real, Real) {
            n = length(xs)
            s, q = for i < n, s = 0.5, q = 1.0, x in xs {
                e = exp(x)
                pos = x > 0.0
                t = if pos { u = s + e yield u } else { yield s }
                p = q - x
                yield t, p
            }
            return s, q
        }
        entry f = f",
        (0, 1),
        SIZES,
    );
}

#[test]
fn inner_loops_and_their_sums() {
    agrees(
        "func f(xs: []Real) -> (Real, []Real) {
            n = length(xs)
            s = for i < n, s = 0.0, x in xs {
                m = i % 7
                t = for j < m, t = s { r = real(j) y = r * x u = t + y yield u }
                yield t
            }
            ys = each i < n, x in xs {
                m = i % 5
                z = for j < m, t = x { u = sin(t) yield u }
                yield z
            }
            return s, ys
        }
        entry f = f",
        (1, 2),
        SIZES,
    );
}

#[test]
fn sums_in_arrays() {
    agrees(
        "func f(xs: []Real) -> []Real {
            n = length(xs)
            row = each j < 17 { yield 0.5 }
            g = for i < n, g += row, x in xs {
                k = i % 17
                e = exp(x)
                h = g with [k] += e
                yield h
            }
            return g
        }
        entry f = f",
        (0, 1),
        SIZES,
    );
}

/// The derivative of what looks at neighbors: each part may add to the array itself, if it is not a neighbor's turn.
#[test]
fn sums_near_to_the_place_of_an_iteration() {
    let near = |way: &str, shift: &str| {
        format!(
            "func f(xs: []Real) -> []Real {{
                n = length(xs)
                m = n - 3
                l = max(m, 0)
                zeros = zeros(xs)
                s = each{way} i < l, g += zeros {{
                    j = i + 1
                    k = j + {shift}
                    x = xs[j]
                    y = sin(x)
                    g1 = g with [i] += x
                    g2 = g1 with [j] += y
                    g3 = g2 with [k] += x
                    yield g3
                }}
                return s
            }}
            entry f = f"
        )
    };
    for (way, shift, is_near) in [("", "1", true), (" backward", "1", true), ("", "40", false)] {
        let text = near(way, shift);
        let mut found = Vec::new();
        let mut loops = crate::lower::lower(&wengert_ir::parse::parse(&text).expect("the text is a program"));
        divide(&mut loops, false, true);
        for (_, func) in loops.funcs.iter() {
            every(&func.body, &mut |stmt| {
                if let Stmt::Parallel { sums, .. } = stmt {
                    found.extend(sums.iter().map(|sum| matches!(sum, Sum::Near(_))));
                }
            });
        }
        assert_eq!(found, [is_near], "{}", crate::loops::print(&loops));
        if is_near {
            agrees(&text, (0, 1), &[0, 3, 4, 5, 19, 20, 35, 36, 37, 51, 52, 1000]);
        }
    }
}

/// Where a part of the second turn fails before one of the first, that is the failure.
#[test]
fn the_first_failure_of_turns_is_the_loop_s() {
    let text = r"
        func f(xs: []Real) -> []Real {
            n = length(xs)
            m = n - 1
            zeros = zeros(xs)
            s = each i < m, g += zeros {
                j = i + 1
                x = xs[i]
                a = x < -2.9
                b = if a { q = 0 r = i / q yield r } else { yield i }
                c = real(b)
                g1 = g with [i] += c
                g2 = g1 with [j] += x
                yield g2
            }
            return s
        }
        entry f = f";
    agrees(text, (0, 1), &[2, 17, 40, 100, 400]);
}

#[test]
fn extremes() {
    agrees(
        "func f(xs: []Real) -> (Real, Real, Int) {
            n = length(xs)
            ys = each i < n, x in xs { y = sin(x) z = y * x yield z }
            m = for i < n, m = 0.0, y in ys { l = max(m, y) yield l }
            none = n == 0
            s, k = if none { yield 0.0, 0 } else {
                a = minimum(ys)
                p = argmax(ys)
                yield a, p
            }
            return m, s, k
        }
        entry f = f",
        (4, 4),
        SIZES,
    );
}

#[test]
fn the_first_that_is_no_number_is_the_largest_and_the_smallest() {
    agrees(
        "func f(xs: []Real) -> (Int, Int, Real) {
            n = length(xs)
            ys = each i < n, x in xs {
                a = i < 40000
                y = if a { yield x } else { b = 0.0 / 0.0 yield b }
                yield y
            }
            none = n == 0
            p, q, m = if none { yield 0, 0, 0.0 } else {
                p = argmax(ys)
                q = argmin(ys)
                m = maximum(ys)
                yield p, q, m
            }
            return p, q, m
        }
        entry f = f",
        (3, 3),
        SIZES,
    );
}

#[test]
fn long_bodies_are_not_repeated() {
    let lines: String = (0..60).map(|k| format!("a{} = a{k} * 1.01\n", k + 1)).collect();
    let text = format!(
        "func f(xs: []Real) -> ([]Real, Int) {{
            n = length(xs)
            s, ys = for i < n, s = 3, x in xs {{ a0 = sin(x) {lines} k = i % 5 t = s + k yield t, a60 }}
            return ys, s
        }}
        entry f = f"
    );
    agrees(&text, (1, 1), SIZES);
    let program = wengert_ir::parse::parse(&text).expect("the text is a program");
    let mut loops = crate::lower::lower(&program);
    divide(&mut loops, false, false);
    assert_eq!(crate::loops::print(&loops).matches("sin(").count(), 1);
}

#[test]
fn what_needs_the_last_iteration_stays_whole() {
    agrees(
        "func f(xs: []Real) -> (Real, Real) {
            n = length(xs)
            s, last = for i < n, s = 0.0, last = 0.0, x in xs { t = s + x u = t * 0.5 yield u, x }
            return s, last
        }
        entry f = f",
        (0, 0),
        SIZES,
    );
}

#[test]
fn the_first_failure_is_the_loop_s() {
    agrees(
        "func f(xs: []Real) -> []Int {
            n = length(xs)
            ys = each i < n, x in xs {
                a = i - 70001
                b = i - 50001
                c = a * b
                q = 1000 / c
                yield q
            }
            return ys
        }
        entry f = f",
        (1, 1),
        SIZES,
    );
}

#[test]
fn arrays_and_data_of_a_part_are_its_own() {
    agrees(
        "data list { Nil() Cons(Real, list) }
        func total(l: list) -> Real {
            s = match l {
                Nil() { yield 0.0 }
                Cons(x, rest) { t = total(rest) u = x + t yield u }
            }
            return s
        }
        func f(xs: []Real) -> []Real {
            n = length(xs)
            ys = each i < n, x in xs {
                nil = list::Nil()
                one = list::Cons(x, nil)
                y = sin(x)
                two = list::Cons(y, one)
                s = total(two)
                m = i % 3
                zs = each j < m { r = real(j) z = r * x yield z }
                k = length(zs)
                q = real(k)
                t = s + q
                yield t
            }
            return ys
        }
        entry f = f",
        (1, 1),
        SIZES,
    );
}

/// Adds to two elements in each iteration of the inner loop, one of which does not move.
const PAIRS: &str = "func f(xs: []Real) -> []Real {
        n = length(xs)
        zs = zeros(xs)
        us = for i < n, us += zs {
            x = xs[i]
            vs = for j < n, vs += us {
                y = xs[j]
                z = x * y
                w = z * 0.25
                as = add_at(vs, i, z)
                bs = add_at(as, j, w)
                yield bs
            }
            yield vs
        }
        return us
    }
    entry f = f";

#[test]
fn what_loops_in_a_part_add_to_has_one_address_there() {
    let program = wengert_ir::parse::parse(PAIRS).expect("the text is a program");
    let mut loops = crate::lower::lower(&program);
    divide(&mut loops, false, false);
    let (_, part) = loops.funcs.iter().last().expect("there is a part");
    let mut moved = Vec::new();
    every(&part.body, &mut |stmt| {
        if let Stmt::Set(_, crate::loops::Value::Address { base, .. }) = stmt {
            moved.push(*base);
        }
    });
    // That of the numbers that are only read.
    assert_eq!((part.part.is_some(), moved.len()), (true, 1));
    agrees(PAIRS, (0, 1), &[0, 1, 5, 33, 300]);
}

/// An array that a loop changes at its index and elsewhere has one address in a part: elements that had two would be taken for two, although
/// they may be one.
#[test]
fn what_is_changed_at_two_places_has_one_address_in_a_part() {
    let text = "func f(xs: []Real, k: Int) -> []Real {
            n = length(xs)
            m = 2 * n
            zs = replicate(m, 1.0)
            ys = each i < n, y += zs, x in xs {
                a = sin(x)
                j = i + k
                y1 = add_at(y, j, a)
                y2 = add_at(y1, i, x)
                yield y2
            }
            return ys
        }
        entry f = f";
    let program = wengert_ir::parse::parse(text).expect("the text is a program");
    let mut loops = crate::lower::lower(&program);
    divide(&mut loops, false, false);
    let (_, part) = loops.funcs.iter().last().expect("there is a part");
    let mut bases: Vec<crate::loops::Operand> = Vec::new();
    every(&part.body, &mut |stmt| {
        if let Stmt::Store { base, .. } = stmt {
            bases.push(*base);
        }
    });
    bases.dedup();
    assert_eq!((part.part.is_some(), bases.len()), (true, 1));
    for k in [0, 1, 3] {
        let args = [reals(300), Value::Int(k)];
        let given = |math: Math| numbers(&run(text, math, 1, &args).expect("it does not fail"));
        let pairs: Vec<(f64, f64)> = given(Math::Fast).into_iter().zip(given(Math::Strict)).collect();
        assert!(pairs.len() == 600 && pairs.iter().all(|(x, y)| (x - y).abs() < 1e-12), "{k}: {pairs:?}");
    }
}

#[test]
fn loops_that_cannot_be_much_work_are_not_divided() {
    let text = |count: &str| {
        format!(
            "func f(xs: []Real, n: Int) -> []Real {{
                ys = for i < {count}, ys = xs {{
                    s = for j < i, s = 0.0 {{ r = real(j) t = s + r yield t }}
                    zs = set(ys, i, s)
                    yield zs
                }}
                return ys
            }}
            entry f = f"
        )
    };
    assert_eq!((parts(&text("4"), false), parts(&text("n"), false)), (0, 1));
}

#[test]
fn bodies_are_not_repeated_in_large_programs() {
    let lines =
        |count: usize| -> String { (0..count).map(|k| format!("a{} = a{k} * 1.01\n", k + 1)).collect() };
    let text = |count: usize| {
        format!(
            "func f(xs: []Real, a0: Real) -> ([]Real, Real) {{
                n = length(xs)
                ys = each i < n, x in xs {{ y = sin(x) b0 = y * y b1 = b0 + x b2 = b1 / y b3 = b2 * b1 yield b3 }}
                {}
                return ys, a{count}
            }}
            entry f = f",
            lines(count)
        )
    };
    let sines = |count: usize| {
        let program = wengert_ir::parse::parse(&text(count)).expect("the text is a program");
        let mut loops = crate::lower::lower(&program);
        divide(&mut loops, false, false);
        crate::loops::print(&loops).matches("sin(").count()
    };
    assert_eq!((sines(10), sines(4_000)), (2, 1));
}
