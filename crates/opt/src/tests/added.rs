//! What one side of a branch adds to a sum.

use expect_test::{Expect, expect};
use wengert_ir::Program;
use wengert_ir::eval::{Evaluator, Limits, Value};

/// A function of four numbers that gives two.
fn program(body: &str) -> Program {
    let head = "func f(x: Real, y: Real, z: Real, w: Real) -> (Real, Real)";
    wengert_ir::parse(&format!("{head} {{ {body} return s, u }} entry f = f")).expect("it is a program")
}

fn check_added(body: &str, expected: &Expect) {
    let mut program = program(body);
    assert!(crate::added::run(&mut program));
    assert_eq!(wengert_ir::verify(&program), Ok(()));
    expected.assert_eq(&wengert_ir::print(&program));
}

#[test]
fn what_one_side_of_a_branch_adds_is_chosen_first() {
    check_added(
        "s, u = for i < 9, s = 0.0, u = y { c = u < x a, v = if c { yield s, z } else { b = s + u yield b, w } yield a, v }",
        &expect![[r#"
            func f(x: Real, y: Real, z: Real, w: Real) -> (Real, Real) {
              s, u = for i < 9, s2 = 0.0, u2 = y {
                c = u2 < x
                more, v = if c {
                  yield -0.0, z
                } else {
                  b = u2
                  yield b, w
                }
                a = s2 + more
                yield a, v
              }
              return s, u
            }

            entry f = f
        "#]],
    );
    // Several terms, in branches in each other.
    check_added(
        "s, u = for i < 9, s = 0.0, u = y { c = u < x a, v = if c { e = exp(u) d = s - e yield d, z } else { k = u < z g, h = if k { l = u + s m = l - z yield m, u } else { yield s, x } b = g + w yield b, h } yield a, v }",
        &expect![[r#"
            func f(x: Real, y: Real, z: Real, w: Real) -> (Real, Real) {
              s, u = for i < 9, s2 = 0.0, u2 = y {
                c = u2 < x
                more, v = if c {
                  e = exp(u2)
                  d = -e
                  yield d, z
                } else {
                  k = u2 < z
                  g, h = if k {
                    l = u2
                    m = l - z
                    yield m, u2
                  } else {
                    yield -0.0, x
                  }
                  b = g + w
                  yield b, h
                }
                a = s2 + more
                yield a, v
              }
              return s, u
            }

            entry f = f
        "#]],
    );
}

/// What each iteration adds to an element of its own stands against no vectors.
#[test]
fn a_sum_beside_what_is_added_at_the_index_is_chosen_too() {
    let text = |place: &str| {
        format!(
            "func f(xs: []Real, k: Int) -> (Real, []Real) {{
                n = length(xs)
                z = zeros(xs)
                s, ys = each i < n, s += 0.0, ys += z, x in xs {{
                    c = i == k
                    a = if c {{ b = s + x yield b }} else {{ yield s }}
                    t = x * x
                    ys2 = ys with [{place}] += t
                    yield a, ys2
                }}
                return s, ys
            }}
            entry f = f"
        )
    };
    for (place, chosen) in [("i", true), ("k", false)] {
        let mut program = wengert_ir::parse(&text(place)).expect("it is a program");
        assert_eq!(crate::added::run(&mut program), chosen, "{place}");
        assert_eq!(wengert_ir::verify(&program), Ok(()));
    }
}

#[test]
fn sums_stay_in_branches_that_stay_or_see_them() {
    // Somebody looks at the sum; it is not only added to; what is added takes too long; there is nothing to choose.
    for body in [
        "c = s < x a, v = if c { yield s, z } else { b = s + u yield b, w }",
        "c = u < x a, v = if c { yield s, s } else { b = s + u yield b, w }",
        "c = u < x a, v = if c { yield s, z } else { b = s * u yield b, w }",
        "c = u < x a, v = if c { yield s, z } else { b = u - s yield b, w }",
        "c = u < x a, v = if c { yield s, z } else { b = s + u yield b, b }",
        "c = u < x a, v = if c { yield s, z } else { p = u ** x b = s + p yield b, w }",
        "c = u < x a, v = if c { yield s, z } else { p = for j < 3, p = u { q = sin(p) yield q } b = s + p yield b, w }",
    ] {
        let mut program = program(&format!("s, u = for i < 9, s = 0.0, u = y {{ {body} yield a, v }}"));
        assert!(!crate::added::run(&mut program), "{body}");
    }
}

#[test]
fn nothing_is_added_to_a_negative_zero() {
    let text = r"
        func f(n: Int, x: Real) -> Real {
            s = for i < n, s = -0.0 { c = x < 0.0 a = if c { yield s } else { b = s - x yield b } yield a }
            return s
        }
        entry f = f";
    let mut program = wengert_ir::parse(text).expect("it is a program");
    assert!(crate::added::run(&mut program));
    assert_eq!(wengert_ir::verify(&program), Ok(()));
    for (x, bits) in [(-1.0, -0.0_f64), (0.0, -0.0), (1.0, -2.0), (f64::INFINITY, f64::NEG_INFINITY)] {
        let entry = *program.entries.values().next().expect("it has an entry");
        let args = vec![Value::Int(2), Value::Real(x)];
        let given = Evaluator::new(&program, Limits::default()).call(entry, args).expect("it does not fail");
        assert!(matches!(given.as_slice(), [Value::Real(s)] if s.to_bits() == bits.to_bits()), "{x}");
    }
}
