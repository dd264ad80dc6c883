//! Sizes that are checked, beside the evaluator of the IR.

use crate::Math;
use crate::beside::Beside;
use wengert_ir::eval::{Items, Value};

/// Rows of a size that is looked at where there are rows, and a matrix of one that must be known.
const ROWS: &str = "func f(xs: [][]Real, m: [][]Real, k: Int) -> ([]Real, Int) {
        n = length(xs)
        some = n > 0
        if some { w = length(xs, 1) require 3 == w, named_size k 1 } else { }
        l = length(m, 1)
        require 2 == l, named_size l 1
        ys = each i < n, row in xs { a = row[2] b = row[k] c = m[0, 1] d = a * b e = d + c yield e }
        v = length(xs, 1)
        return ys, v
    } entry f = f";

/// A matrix; without rows there are no columns.
fn matrix(n: usize, m: usize) -> Value {
    let m = if n == 0 { 0 } else { m };
    Value::array([n, m], Items::Reals((0..n * m).map(|i| 1.0 / (i as f64 + 1.5)).collect()))
}

/// The loops of the program, as text.
fn loops() -> String {
    let program = wengert_ir::parse::parse(ROWS).expect("the text is a program");
    let mut loops = crate::lower::lower(&program);
    super::use_numbers(&mut loops);
    crate::dead::clean(&mut loops);
    crate::loops::print(&loops)
}

#[test]
fn rows_of_a_known_size_lie_at_known_distances() {
    let loops = loops();
    let (before, inside) = loops.split_once("for ").expect("there is a loop");
    assert!(inside.contains(" * 3\n"), "{loops}");
    // Where rows are is known, but not whether there is a place that only running tells; outside of the loop nothing is known of rows.
    assert_eq!(
        inside.matches("out_of_range").count(),
        1 + usize::from(inside.contains("out_of_range(0, ")),
        "{loops}"
    );
    assert!(inside.contains(", 3)\n") && before.contains("3 != "), "{loops}");
}

#[test]
fn sizes_are_what_they_are_where_there_are_no_rows() {
    let program = wengert_ir::parse::parse(ROWS).expect("the text is a program");
    let mut beside = Beside::new(&program, &[Math::Strict, Math::Fast]);
    for n in [0, 1, 2, 40] {
        for columns in [0, 2, 3, 4] {
            for m in [0, 1, 2] {
                for k in [-1, 0, 2, 3] {
                    let args = [matrix(n, columns), matrix(1, m), Value::Int(k)];
                    beside.agrees(&args, format_args!("{n} {columns} {m} {k}"));
                }
            }
        }
    }
}

/// Rows that are looked at on one side of a branch only.
const ON_ONE_SIDE: &str = "func f(c: Bool, xs: [][]Real) -> ([]Real, Real) {
        n = length(xs)
        w = length(xs, 1)
        a = if c {
            some = n > 0
            if some { require 3 == w, named_size k 1 } else { }
            a = for i < n, a = 0.0, row in xs { x = row[2] b = a + x yield b }
            yield a
        } else { yield 0.0 }
        ys = each i < n, row in xs { y = for j < w, y = 0.0, x in row { z = y * 2.0 u = z + x yield u } yield y }
        return ys, a
    } entry f = f";

#[test]
fn what_was_checked_on_one_side_is_not_known_after_it() {
    let program = wengert_ir::parse::parse(ON_ONE_SIDE).expect("the text is a program");
    let mut beside = Beside::new(&program, &[Math::Strict, Math::Fast]);
    for c in [false, true] {
        for columns in [0, 1, 3, 4] {
            let args = [Value::Bool(c), matrix(5, columns)];
            beside.agrees(&args, format_args!("{c} {columns}"));
        }
    }
}
