//! Neighbors around the ends.

use super::check;
use expect_test::expect;

#[test]
fn neighbors_around_the_ends_are_found_by_remainders() {
    check(
        "around",
        "func f(u: []Real) -> ([]Real, []Real) {
            n = length(u)
            last = n - 1
            ys = each i < n, x in u {
                c = i == 0
                l = if c { a = u[last] yield a } else { j = i - 1 a = u[j] yield a }
                k = i + 1
                d = k < n
                r = if d { a = u[k] yield a } else { a = u[0] yield a }
                m = i - 1
                e = i > 0
                p = select(e, m, last)
                q = u[p]
                s = l + r
                t = s * q
                yield t
            }
            zeros = zeros(u)
            zs = each i < n, a += zeros, x in u {
                c = i == last
                b = if c { b = a with [0] += x yield b } else { j = i + 1 b = a with [j] += x yield b }
                yield b
            }
            return ys, zs
        }
        entry f = f",
        &expect![[r#"
            func f(u: []Real) -> ([]Real, []Real) {
              n = length(u)
              last = n - 1
              ys = each i < n, x in u {
                c = i == 0
                n2 = i + n
                n3 = n2 - 1
                n4 = n3 % n
                l = u[n4]
                k = i + 1
                d = k < n
                n5 = i + 1
                n6 = n5 % n
                r = u[n6]
                m = i - 1
                e = i > 0
                n7 = i + n
                n8 = n7 - 1
                n9 = n8 % n
                p = n9
                q = u[p]
                s = l + r
                t = s * q
                yield t
              }
              zeros = zeros(u)
              zs = each i2 < n, a += zeros, x2 in u {
                c2 = i2 == last
                n10 = i2 + 1
                n11 = n10 % n
                b = a with [n11] += x2
                yield b
              }
              return ys, zs
            }

            entry f = f
        "#]],
    );
}

#[test]
fn other_choices_stay() {
    for body in [
        // Another iteration, another place, another array, or one of which it is not known that it is so long.
        "c = i == 1 y = if c { a = u[last] yield a } else { j = i - 1 k = max(j, 0) a = u[k] yield a }",
        "c = i == 0 y = if c { a = u[0] yield a } else { j = i - 1 a = u[j] yield a }",
        "c = i == last y = if c { a = u[last] yield a } else { j = i + 1 a = u[j] yield a }",
        "c = i < 2 y = if c { a = u[last] yield a } else { j = i - 1 a = u[j] yield a }",
        "c = i != 0 y = if c { a = u[last] yield a } else { a = u[i] yield a }",
        "c = i == 0 y = if c { a = v[last] yield a } else { j = i - 1 a = v[j] yield a }",
        "c = i == 0 y = if c { a = u[last] yield a } else { j = i - 1 a = w[j] yield a }",
        "c = i == 0 y = if c { a = u[last] yield a } else { j = i - 1 a = u[j] b = a * 2.0 yield b }",
        "c = i == 0 j = i - 1 p = select(c, 0, j) q = max(p, 0) y = u[q]",
        // A division that may fail.
        "c = i == 0 y = if c { d = last % n a = u[last] yield a } else { j = i - 1 a = u[j] yield a }",
        "c = x == 0.0 y = if c { a = u[last] yield a } else { a = u[i] yield a }",
    ] {
        let text = format!(
            "func f(u: []Real, v: []Real) -> []Real {{ n = length(u) last = n - 1 w = zeros(u) \
             ys = each i < n, x in u {{ {body} yield y }} return ys }} entry f = f"
        );
        let mut program = wengert_ir::parse(&text).expect("the text is a program");
        assert!(!crate::around::run(&mut program), "{body}");
    }
}
