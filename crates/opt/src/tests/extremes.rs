//! The largest and smallest of what loops make.

use expect_test::{Expect, expect};

fn check(text: &str, expected: &Expect) {
    let mut program = wengert_ir::parse(text).expect("the text is a program");
    assert_eq!(wengert_ir::verify(&program), Ok(()), "before");
    crate::extremes::run(&mut program);
    assert_eq!(wengert_ir::verify(&program), Ok(()), "after:\n{}", wengert_ir::print(&program));
    expected.assert_eq(&wengert_ir::print(&program));
}

#[test]
fn they_are_found_in_the_loops() {
    check(
        r"
        func f(xs: []Real, yss: [][]Real, n: Int) -> ([]Real, []Real, Real) {
            a, b = each j < n, ys in yss {
                us, vs = each i < n, x in xs { u = x + x v = x * x yield u, v }
                m = maximum(us)
                w = vs[0]
                yield m, w
            }
            zs = each i < n, x in xs { z = x * x yield z }
            l = minimum(zs)
            return a, b, l
        }
        entry f = f",
        &expect![[r#"
            func f(xs: []Real, yss: [][]Real, n: Int) -> ([]Real, []Real, Real) {
              a, b = each j < n, ys in yss {
                m, vs = for i < n, most = -Infinity, x in xs {
                  u = x + x
                  v = x * x
                  most2 = max(most, u)
                  yield most2, v
                }
                w = vs[0]
                yield m, w
              }
              most3 = for i2 < n, most4 = Infinity, x2 in xs {
                z = x2 * x2
                most5 = min(most4, z)
                yield most5
              }
              some = n > 0
              l = if some {
                yield most3
              } else {
                none = empty []Real
                most6 = minimum(none)
                yield most6
              }
              return a, b, l
            }

            entry f = f
        "#]],
    );
}

#[test]
fn they_are_not_where_the_rest_is_asked_for() {
    let text = "func f(xs: []Real, n: Int) -> (Real, Int) {\n  zs = each i < n, x in xs {\n    z = x * x\n    yield z\n  }\n  m = maximum(zs)\n  k = argmax(zs)\n  return m, k\n}\n\nentry f = f\n";
    check(
        text,
        &expect![[r#"
        func f(xs: []Real, n: Int) -> (Real, Int) {
          zs = each i < n, x in xs {
            z = x * x
            yield z
          }
          m = maximum(zs)
          k = argmax(zs)
          return m, k
        }

        entry f = f
    "#]],
    );
    check(
        "func f(xs: []Int) -> Int { n = length(xs) ys = each i < n, x in xs { y = x + x yield y } m = maximum(ys) return m } entry f = f",
        &expect![[r#"
            func f(xs: []Int) -> Int {
              n = length(xs)
              ys = each i < n, x in xs {
                y = x + x
                yield y
              }
              m = maximum(ys)
              return m
            }

            entry f = f
        "#]],
    );
}
