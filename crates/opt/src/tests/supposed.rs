//! Loops that hand arrays on of which the shapes are not known to be equal.

use super::{check, stays};
use expect_test::expect;

fn program(first: &str) -> String {
    format!(
        "func f(u: []Real, v: []Real) -> []Real {{
            n = length(u)
            {first}
            x, y = for i < 10, x = u, y = v {{
                a, b = each j < n, p in x {{
                    q = y[j]
                    s = p + q
                    d = p - q
                    yield s, d
                }}
                yield a, b
            }}
            return y
        }}
        entry f = f"
    )
}

#[test]
fn fields_are_supposed_to_have_one_shape() {
    check(
        "supposed",
        &program(""),
        &expect![[r#"
        func f(u: []Real, v: []Real) -> []Real {
          n = length(u)
          x, y = for i < 10, x2 = u, y2 = v {
            a, b = each j < n, p in x2 {
              q = y2[j]
              s = p + q
              d = p - q
              yield s, d
            }
            yield a, b
          }
          return y
        }

        func f2(u: []Real, v: []Real) -> []Real {
          n = length(v)
          n2 = length(u)
          require n == n2, beside
          n3 = length(u)
          x, y = for i < 10, x2 = u, y2 = v {
            a, b = each j < n3, p in x2 {
              q = y2[j]
              s = p + q
              d = p - q
              yield s, d
            }
            yield a, b
          }
          return y
        }

        func f3(u: []Real, v: []Real) -> []Real {
          k = length(v)
          k2 = length(u)
          c = k == k2
          ts = if c {
            ts2 = f2(u, v)
            yield ts2
          } else {
            ts3 = f(u, v)
            yield ts3
          }
          return ts
        }

        entry f = f3
    "#]],
    );
}

#[test]
fn what_is_known_to_be_equal_is_not_supposed() {
    stays("supposed", &program("m = length(v) require n == m, same_size map2"));
    // Of what has another shape each time nothing is supposed.
    stays(
        "supposed",
        "func f(u: []Real) -> []Real { x = for i < 10, x = u { n = length(x) m = n + 1 a = each j < m { yield 1.0 } yield a } return x } entry f = f",
    );
}
