//! Loops that add to neighbors, beside the evaluator of the IR.

use crate::Math;
use crate::beside::Beside;
use wengert_ir::Program;
use wengert_ir::eval::Value;

/// Adds at the places `shifts` away from `i`, for the places from 2 on.
fn program(backward: bool, shifts: &[i64]) -> Program {
    let mut body = String::from("j = i + 2 x = xs[j] ");
    let mut sum = "g".to_string();
    for (number, shift) in shifts.iter().enumerate() {
        body += &format!(
            "k{number} = j + {shift} c{number} = x * {}.0 g{number} = {sum} with [k{number}] += c{number} ",
            // Such products are exact, so that it does not matter whether a product and a sum are rounded once.
            2 << number
        );
        sum = format!("g{number}");
    }
    let way = if backward { "each backward" } else { "each" };
    let text = format!(
        "func f(xs: []Real, l: Int) -> []Real {{
            zeros = zeros(xs)
            s = {way} i < l, g += zeros {{ {body} yield {sum} }}
            return s
        }}
        entry f = f"
    );
    wengert_ir::parse::parse(&text).expect("the text is a program")
}

/// How many loops more a program has when loops of it go strip by strip.
fn strips(program: &Program, exact: bool) -> usize {
    let mut loops = crate::lower::lower(program);
    crate::dead::clean(&mut loops);
    let count = |loops: &crate::loops::Program| crate::loops::print(loops).matches("for ").count();
    let before = count(&loops);
    super::split(&mut loops, exact);
    count(&loops) - before
}

#[test]
fn neighbors_are_added_to_in_strips_and_in_order() {
    let many = [[0, 1, 0], [1, 0, -1], [-2, 2, 1], [2, 2, -1]];
    for (backward, shifts) in [true, false].into_iter().flat_map(|way| many.map(|shifts| (way, shifts))) {
        let program = program(backward, &shifts);
        assert!(strips(&program, true) >= 3, "{backward} {shifts:?}");
        let mut beside = Beside::new(&program, &[Math::Strict, Math::Fast]);
        for count in [0, 3, 4, 5, 19, 35, 36, 37, 515, 516, 517, 1028, 1700] {
            // In another order the sums would be others.
            let xs: Vec<f64> = (0..count).map(|i| 1.0 / f64::from(i % 37 + 1)).collect();
            // In the last case, an index is out of range.
            for more in [-4, -2] {
                let args = [Value::reals(xs.clone()), Value::Int((i64::from(count) + more).max(0))];
                beside.agrees(&args, format_args!("{backward} {shifts:?} {count} {more}"));
            }
        }
    }
}

#[test]
fn what_comes_first_is_added_at_once() {
    // Kept are the numbers that are added later, in strips of 512.
    for (backward, shifts, kept) in [(true, [0, 1, 0], 1), (false, [0, 1, 0], 2), (true, [2, 1, 0], 2)] {
        let mut loops = crate::lower::lower(&program(backward, &shifts));
        crate::dead::clean(&mut loops);
        super::split(&mut loops, true);
        let made = crate::loops::print(&loops);
        assert!(made.contains(&format!("alloc({})", 512 * kept + 1)), "{backward} {shifts:?}: {made}");
    }
}

#[test]
fn what_each_iteration_has_for_itself_needs_no_strips() {
    assert_eq!(strips(&program(true, &[1, 1]), true), 0);
}

/// Adds to three pieces of an array that begin anywhere, to one of them twice.
const PIECES: &str = "func f(xs: []Real, a: Int, b: Int, l: Int) -> []Real {
        zeros = zeros(xs)
        s = each i < l, g += zeros {
            x = xs[i] p = a + i q = b + i y = x * 4.0 z = x * 0.5
            g1 = g with [p] += x g2 = g1 with [q] += y g3 = g2 with [p] += z g4 = g3 with [i] += y
            yield g4
        }
        return s
    }
    entry f = f";

#[test]
fn what_adds_to_pieces_that_lie_apart_adds_to_them_at_once() {
    let program = wengert_ir::parse::parse(PIECES).expect("the text is a program");
    // One more, whose iterations do not meet.
    assert_eq!((strips(&program, true), strips(&program, false)), (1, 1));
    let mut beside = Beside::new(&program, &[Math::Strict, Math::Fast]);
    let xs: Vec<f64> = (0..40).map(|i| 1.0 / f64::from(i % 37 + 1)).collect();
    // Apart, touching, one over the other, one and the same, and beyond the end.
    for (a, b) in
        [(12, 25), (20, 10), (10, 20), (4, 20), (20, 22), (9, 9), (0, 0), (0, 12), (12, 0), (35, 12)]
    {
        for len in [0, 1, 9, 10, 11, 18] {
            let args = [Value::reals(xs.clone()), Value::Int(a), Value::Int(b), Value::Int(len)];
            beside.agrees(&args, format_args!("{a} {b} {len}"));
        }
    }
}

/// Adds to neighbors, and besides to a number.
const BESIDE: &str = "func f(xs: []Real, l: Int) -> ([]Real, Real) {
        zeros = zeros(xs)
        s, t = each backward i < l, g += zeros, a += 0.0 {
            x = xs[i] k = i + 1 y = xs[k] z = x * 4.0 w = x + y
            b = g with [i] += x c = b with [k] += z d = a + w yield c, d
        }
        return s, t
    }
    entry f = f";

#[test]
fn variables_are_added_to_in_strips_where_the_order_does_not_matter() {
    let program = wengert_ir::parse::parse(BESIDE).expect("the text is a program");
    assert_eq!((strips(&program, true), strips(&program, false)), (0, 3));
    let mut beside = Beside::new(&program, &[Math::Strict, Math::Fast]);
    for count in [2, 19, 36, 515, 516, 1700] {
        // Such sums are exact in any order.
        let xs: Vec<f64> = (0..count).map(|i| f64::from(i % 37 - 9)).collect();
        // In the last case, an index is out of range.
        for more in [-1, 0] {
            let args = [Value::reals(xs.clone()), Value::Int(i64::from(count) + more)];
            beside.agrees(&args, format_args!("{count} {more}"));
        }
    }
}

/// A loop that carries what the one inside of it reads, and the array that this one makes.
#[test]
fn what_a_loop_carries_may_be_read_where_neighbors_are_added_to() {
    let text = |read: &str| {
        format!(
            "func f(xs: []Real, n: Int) -> []Real {{
                m = length(xs)
                l = m - 1
                ys = for i < n, ys = xs {{
                    zeros = zeros(xs)
                    zs = each backward j < l, g += zeros {{
                        y = {read}
                        k = j + 1
                        g1 = g with [j] += y
                        g2 = g1 with [k] += y
                        yield g2
                    }}
                    yield zs
                }}
                return ys
            }}
            entry f = f"
        )
    };
    let [carried, own] =
        ["ys[j]", "g[j]"].map(|read| wengert_ir::parse::parse(&text(read)).expect("the text is a program"));
    assert_eq!((strips(&carried, true), strips(&own, true)), (3, 0));
    let mut beside = Beside::new(&carried, &[Math::Strict, Math::Fast]);
    for count in [1, 3, 37, 600] {
        let xs: Vec<f64> = (0..count).map(|i| 1.0 / f64::from(i % 37 + 1)).collect();
        beside.agrees(&[Value::reals(xs), Value::Int(4)], format_args!("{count}"));
    }
}
