//! Loops that add to several rows of an array, beside the evaluator of the IR.

use crate::Math;
use crate::beside::Beside;
use crate::loops::walk::every;
use crate::loops::{Program as Loops, Stmt};
use wengert_ir::eval::{Items, Value};

/// What goes backward through a step of elimination: each number goes to its own place, to one of the row, and to the row of the step.
const TEXT: &str = "func f(zs: [][]Real, xs: []Real, ys: []Real, i: Int, k: Int, n: Int) -> [][]Real {
        us = for backward j < n, us += zs {
            x = xs[j]
            y = ys[j]
            a = add_at(us, i, j, x)
            z = mul_zero(x, y)
            b = add_at(a, i, k, z)
            w = -z
            c = add_at(b, k, j, w)
            yield c
        }
        return us
    }
    entry f = f";

fn loops(text: &str) -> Loops {
    let program = wengert_ir::parse::parse(text).expect("the text is a program");
    assert_eq!(wengert_ir::verify::verify(&program), Ok(()));
    let mut loops = crate::lower::lower(&program);
    crate::dead::clean(&mut loops);
    loops
}

/// How many loops there are.
fn count(loops: &Loops) -> usize {
    let mut found = 0;
    loops.funcs.iter().for_each(|(_, func)| {
        every(&func.body, &mut |stmt| found += usize::from(matches!(stmt, Stmt::For { .. })));
    });
    found
}

/// How many loops are made of one more.
fn more(text: &str) -> usize {
    let mut loops = loops(text);
    let before = count(&loops);
    let any = super::split(&mut loops);
    let after = count(&loops);
    assert_eq!(any, after != before || any);
    after - before
}

/// Sums of these are exact, so that their order does not matter.
fn number(k: i64) -> f64 {
    (k * 7919 % 257) as f64 * 0.125 - 16.0
}

fn same(text: &str) {
    let mut beside = Beside::of_text(text, &[Math::Strict, Math::Fast]);
    for (rows, columns) in [(1, 1), (3, 5), (40, 40), (2, 67)] {
        let matrix = (0..rows * columns).map(number).collect();
        let matrix = Value::array([rows as usize, columns as usize], Items::Reals(matrix));
        for n in [0, 1, columns - 1, columns, columns + 1] {
            let [xs, ys] =
                [3, 5].map(|step| Value::reals((0..n).map(|k| number(k * step)).collect::<Vec<_>>()));
            for (i, k) in [(0, 0), (rows - 1, 0), (0, rows - 1), (rows, 0), (0, columns), (-1, 0), (0, -1)] {
                let args =
                    [matrix.clone(), xs.clone(), ys.clone(), Value::Int(i), Value::Int(k), Value::Int(n)];
                let what = format_args!("{rows} x {columns}, row {i}, step {k}, {n} iterations");
                beside.agrees(&args, what);
            }
        }
    }
}

#[test]
fn each_row_has_a_loop_of_its_own() {
    assert_eq!(more(TEXT), 1);
    same(TEXT);
    // Several updates at one place stay together, in the first loop and in another one.
    let again = TEXT.replace(
        "c = add_at(b, k, j, w)",
        "e = add_at(b, k, j, w) d = add_at(e, k, j, y) c = add_at(d, i, j, y)",
    );
    assert_eq!(more(&again), 1);
    same(&again);
}

#[test]
fn loops_stay_that_do_something_else_with_the_array_or_much_in_between() {
    // Places that move otherwise, and what costs more than to add it where it is.
    for (from, to) in [
        ("add_at(b, k, j, w)", "add_at(b, j, k, w)"),
        ("z = mul_zero(x, y)", "z = sin(y)"),
        ("add_at(a, i, k, z)\n            w = -z", "add_at(a, i, j, z)\n            w = sin(z)"),
    ] {
        let text = TEXT.replace(from, to);
        assert_ne!(text, TEXT, "{from}");
        assert_eq!(more(&text), 0, "{text}");
    }
    // One row and nothing besides.
    let text = TEXT.replace("c = add_at(b, k, j, w)", "c = b").replace("b = add_at(a, i, k, z)", "b = a");
    assert_eq!(more(&text), 0);
}
