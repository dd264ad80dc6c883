//! Loops that add up what they read of an array and update it: two loops, where no iteration reads what another one writes.

use expect_test::{Expect, expect};
use wengert_ir::eval::{Evaluator, Items, Limits, Value};

/// What goes backward through a step of elimination.
const TEXT: &str = "func f(zs: [][]Real, xs: []Real, i: Int, k: Int, n: Int) -> ([][]Real, Real) {
        us, s = for backward j < n, us = zs, s += 0.0 {
            p = j + 1
            x = xs[p]
            y = us[i, p]
            z = mul_zero(x, y)
            t = s + z
            w = y * 2.0
            vs = us with [k, p] += w
            yield vs, t
        }
        return us, s
    }
    entry f = f";

/// The program with such loops divided, which gives what it gave.
fn divided(text: &str) -> (bool, String) {
    let before = wengert_ir::parse(text).expect("the text is a program");
    assert_eq!(wengert_ir::verify(&before), Ok(()), "before");
    let mut after = before.clone();
    let any = crate::twofold::run(&mut after);
    assert_eq!(wengert_ir::verify(&after), Ok(()), "after:\n{}", wengert_ir::print(&after));
    let matrix = Value::array([3, 4], Items::Reals((0..12).map(f64::from).collect()));
    let numbers = Value::reals([2.0, 3.0, 5.0, 7.0]);
    let entry = *before.entries.values().next().expect("it has an entry");
    for (i, k, n) in [(0, 1, 3), (1, 1, 3), (2, 0, 0), (2, 0, 4), (3, 0, 2), (0, 3, 2), (0, 3, 4), (-1, 0, 1)]
    {
        let args = [matrix.clone(), numbers.clone(), Value::Int(i), Value::Int(k), Value::Int(n)];
        let by =
            |program| format!("{:?}", Evaluator::new(program, Limits::default()).call(entry, args.to_vec()));
        assert_eq!(by(&before), by(&after), "{i} {k} {n}");
    }
    (any, wengert_ir::print(&after))
}

fn check(text: &str, expected: &Expect) {
    expected.assert_eq(&divided(text).1);
}

#[test]
fn what_is_added_up_of_an_array_that_is_updated_is_added_up_before() {
    check(
        TEXT,
        &expect![[r#"
        func f(zs: [][]Real, xs: []Real, i: Int, k: Int, n: Int) -> ([][]Real, Real) {
          s = each backward j < n, s2 += 0.0 {
            p = j + 1
            x = xs[p]
            y = zs[i, p]
            z = mul_zero(x, y)
            t = s2 + z
            w = y * 2.0
            looked = zs[k, p]
            yield t
          }
          us = for j2 < n, us2 = zs {
            p2 = j2 + 1
            y2 = us2[i, p2]
            w2 = y2 * 2.0
            vs = us2 with [k, p2] += w2
            yield vs
          }
          return us, s
        }

        entry f = f
    "#]],
    );
}

#[test]
fn loops_stay_whose_iterations_read_what_others_write_or_that_cost_much() {
    for (from, to) in [
        // Another element of the row.
        ("us[i, p]", "us[i, j]"),
        // Rows that may be those of others.
        ("us[i, p]", "us[j, i]"),
        ("us with [k, p] += w", "us with [p, k] += w"),
        // What is written already, and what costs much.
        ("y = us[i, p]", "y = x"),
        ("z = mul_zero(x, y)", "z = sin(y)"),
    ] {
        let text = TEXT.replace(from, to);
        assert_ne!(text, TEXT, "{from}");
        let (any, after) = divided(&text);
        assert!(!any, "{after}");
    }
}
