//! Loops over unit vectors, and branches whose sides give the same.

use super::check;
use expect_test::expect;

#[test]
fn what_vanishes_but_at_one_element_is_done_there() {
    let text = r"
        func f(xs: []Real, ws: []Real) -> ([][]Real, []Real) {
            n = length(xs)
            m, s = each j < n {
                zeros = zeros(xs)
                e = zeros with [j] = 1.0
                y, s = for i < n, s = 0.0, x in xs, w in ws, d in e {
                    c = cos(x)
                    t = mul_zero(d, c)
                    u = mul_zero(d, w)
                    v = s + u
                    yield v, t
                }
                yield s, y
            }
            mt = transpose(m)
            return mt, s
        }
        entry f = f";
    check(
        "abreast",
        text,
        &expect![[r#"
        func f(xs: []Real, ws: []Real) -> ([][]Real, []Real) {
          n = length(xs)
          m, s = each j < n, x in xs {
            w = ws[j]
            c = cos(x)
            zeros = zeros(xs)
            s2 = zeros with [j] = c
            yield s2, w
          }
          return m, s
        }

        entry f = f
    "#]],
    );
}

#[test]
fn what_adds_up_beside_it_or_may_fail_stays() {
    let text = r"
        func f(xs: []Real, places: []Int) -> ([][]Real, []Real, []Real) {
            n = length(xs)
            m, s, q = each j < n {
                zeros = zeros(xs)
                e = zeros with [j] = 1.0
                s, q, y = for i < n, s = 0.0, q = 0.0, x in xs, p in places, d in e {
                    a = s + x
                    t = mul_zero(d, a)
                    z = xs[p]
                    b = mul_zero(d, z)
                    r = q + b
                    yield a, r, t
                }
                yield y, s, q
            }
            return m, s, q
        }
        entry f = f";
    check(
        "abreast",
        text,
        &expect![[r#"
        func f(xs: []Real, places: []Int) -> ([][]Real, []Real, []Real) {
          n = length(xs)
          m, s, q = each j < n {
            zeros = zeros(xs)
            e = zeros with [j] = 1.0
            s2, q2, y = for i < n, s3 = 0.0, q3 = 0.0, x in xs, p in places, d in e {
              a = s3 + x
              t = mul_zero(d, a)
              z = xs[p]
              b = mul_zero(d, z)
              r = q3 + b
              yield a, r, t
            }
            yield y, s2, q2
          }
          return m, s, q
        }

        entry f = f
    "#]],
    );
}

#[test]
fn sides_that_give_the_same_are_one() {
    let text = r"
        func f(x: Real, k: Int, xs: []Real) -> (Real, Real, [][]Real, [][]Real, Real) {
            c = k == 0
            y = if c { a = x * x b = sin(a) yield b } else { a = x * x b = sin(a) yield b }
            z = if c { a = x * 0.0 yield a } else { a = x * -0.0 yield a }
            n = length(xs)
            none = n == 0
            m = if none { a = each i < n { z = zeros(xs) yield z } yield a } else {
                a = each j < n { z = zeros(xs) e = z with [j] = 1.0 yield e }
                b = transpose(a)
                yield b
            }
            w = if none { a = each i < n { z = zeros(xs) yield z } yield a } else {
                first = xs[0]
                a = each j < n { z = zeros(xs) e = z with [j] = first yield e }
                yield a
            }
            v = if none { q = cos(x) yield q } else { q = cos(x) p = q + 1.0 yield p }
            return y, z, m, w, v
        }
        entry f = f";
    check(
        "branches",
        text,
        &expect![[r#"
        func f(x: Real, k: Int, xs: []Real) -> (Real, Real, [][]Real, [][]Real, Real) {
          c = k == 0
          a = x * x
          b = sin(a)
          y = b
          z = if c {
            a2 = x * 0.0
            yield a2
          } else {
            a3 = x * -0.0
            yield a3
          }
          n = length(xs)
          none = n == 0
          a4 = each j < n {
            z2 = zeros(xs)
            e = z2 with [j] = 1.0
            yield e
          }
          b2 = transpose(a4)
          m = b2
          w = if none {
            a5 = each i < n {
              z3 = zeros(xs)
              yield z3
            }
            yield a5
          } else {
            first = xs[0]
            a6 = each j2 < n {
              z4 = zeros(xs)
              e2 = z4 with [j2] = first
              yield e2
            }
            yield a6
          }
          v = if none {
            q = cos(x)
            yield q
          } else {
            q2 = cos(x)
            p = q2 + 1.0
            yield p
          }
          return y, z, m, w, v
        }

        entry f = f
    "#]],
    );
}

#[test]
fn zeros_that_are_added_to_elements_are_nothing() {
    let text = r"
        func f(x: Real, y: Real) -> []Real {
            a = [x, 0.0]
            b = a with [0] += -0.0
            c = b with [1] += y
            d = c with [0] += 0.0
            return d
        }
        entry f = f";
    check(
        "simplify",
        text,
        &expect![[r#"
        func f(x: Real, y: Real) -> []Real {
          a = [x, 0.0]
          b = [x, 0.0]
          c = [x, y]
          d = [x, y]
          return d
        }

        entry f = f
    "#]],
    );
}

#[test]
fn sums_that_do_not_change_leave_loops() {
    let text = r"
        func f(xs: []Real, ys: []Real) -> ([]Real, []Real) {
            n = length(xs)
            r = each i < n, x in xs {
                d = dot(xs, xs)
                s = for k < n, s = 0.0, y in xs { t = s + y yield t }
                a = x / d
                b = a + s
                yield b
            }
            q = each i < n, x in xs {
                d = dot(xs, ys)
                s = for k < n, s = 0.0 { y = ys[k] t = s + y yield t }
                a = x / d
                b = a + s
                yield b
            }
            return r, q
        }
        entry f = f";
    check(
        "hoist",
        text,
        &expect![[r#"
        func f(xs: []Real, ys: []Real) -> ([]Real, []Real) {
          n = length(xs)
          d = dot(xs, xs)
          s = for k < n, s2 = 0.0, y in xs {
            t = s2 + y
            yield t
          }
          r = each i < n, x in xs {
            a = x / d
            b = a + s
            yield b
          }
          q = each i2 < n, x2 in xs {
            d2 = dot(xs, ys)
            s3 = for k2 < n, s4 = 0.0 {
              y2 = ys[k2]
              t2 = s4 + y2
              yield t2
            }
            a2 = x2 / d2
            b2 = a2 + s3
            yield b2
          }
          return r, q
        }

        entry f = f
    "#]],
    );
}

#[test]
fn a_product_with_a_unit_vector_is_a_column_or_a_row() {
    let text = r"
        func f(a: [][]Real, b: [][]Real, xs: []Real) -> ([][]Real, [][]Real, [][]Real) {
            n = length(xs)
            k = length(a)
            columns, rows, sums = each j < n {
                zeros = zeros(xs)
                e = zeros with [j] = 1.0
                blank = replicate(k, 0.0)
                column = add_product(blank, a, e)
                row = add_product_tn(zeros, b, e)
                sum = add_product_tn_backward(column, b, e)
                yield column, row, sum
            }
            return columns, rows, sums
        }
        entry f = f";
    check(
        "abreast",
        text,
        &expect![[r#"
            func f(a: [][]Real, b: [][]Real, xs: []Real) -> ([][]Real, [][]Real, [][]Real) {
              n = length(xs)
              k = length(a)
              n2 = length(b, 1)
              columns, rows, sums = each j < n {
                column = each i < k, row in a {
                  x = row[j]
                  yield x
                }
                row2 = b[j]
                sum = each i2 < n2, x2 in row2 {
                  sum2 = column[i2]
                  t = sum2 + x2
                  yield t
                }
                yield column, row2, sum
              }
              return columns, rows, sums
            }

            entry f = f
        "#]],
    );
}

/// What goes back through the largest of some sums, with this in the loop.
fn through_the_largest(added: &str, besides: &str) -> String {
    format!(
        "func f(xs: []Real, m: [][]Real, place: Int, k: Int, s: Real) -> ([]Real, [][]Real) {{
            n = length(m)
            zeros = zeros(m)
            e0 = replicate(n, 0.0)
            z = replicate(n, 0.0)
            e = z with [place] += s
            xs_bar, m_bar = each backward i < n, a += e0, b += zeros, d in e {{
                c = a with [i] += d
                {besides}
                t = mul_zero(d, 2.0)
                g = b with {added} += t
                yield c, g
            }}
            return xs_bar, m_bar
        }}
        entry f = f"
    )
}

#[test]
fn what_fails_in_each_iteration_alike_is_done_at_the_one() {
    check(
        "abreast",
        &through_the_largest("[i, k]", ""),
        &expect![[r#"
        func f(xs: []Real, m: [][]Real, place: Int, k: Int, s: Real) -> ([]Real, [][]Real) {
          n = length(m)
          zeros = zeros(m)
          e0 = replicate(n, 0.0)
          z = replicate(n, 0.0)
          e = z with [place] += s
          c = e0 with [place] += s
          t = s * 2.0
          g = zeros with [place, k] += t
          return c, g
        }

        entry f = f
    "#]],
    );
}

#[test]
fn what_may_fail_in_some_iterations_only_stays() {
    // The place moves, or is in an array that may have fewer rows; and something else may fail.
    let stays = |text: &str, run: fn(&mut wengert_ir::Program) -> bool| {
        let mut program = wengert_ir::parse(text).expect("the text is a program");
        assert_eq!(wengert_ir::verify(&program), Ok(()), "{text}");
        assert!(!run(&mut program), "{}", wengert_ir::print(&program));
    };
    for added in ["[k, i]", "[j, k]"] {
        stays(&through_the_largest(added, "j = i + 1"), crate::single::run);
    }
    stays(&through_the_largest("[i, k]", "fails = xs[k]"), crate::single::run);
    // An element that is -0 is 0 when zero was added.
    stays(&through_the_largest("[i, k]", ""), crate::single::exactly);
}

#[test]
fn what_both_sides_of_a_branch_add_is_added_at_one_element() {
    // The second adds where there may be no element, on one side only.
    let text = r"
        func f(xs: []Real, ks: []Int, p: Int, w: Real) -> ([]Real, []Real) {
            n = length(xs)
            zeros = zeros(xs)
            m = zeros with [p] += w
            e = m with [p] += w
            s = each i < n, s += zeros, x in xs, k in ks, d in e {
                c = k == 0
                s2 = if c {
                    t = mul_zero(d, x)
                    s3 = s with [i] += t
                    yield s3
                } else {
                    s4 = s with [i] += d
                    yield s4
                }
                yield s2
            }
            u = each i2 < n, u += zeros, k2 in ks, d2 in e {
                c2 = k2 == 0
                u2 = if c2 {
                    u3 = u with [k2] += d2
                    yield u3
                } else {
                    yield u
                }
                yield u2
            }
            return s, u
        }
        entry f = f";
    check(
        "abreast",
        text,
        &expect![[r#"
        func f(xs: []Real, ks: []Int, p: Int, w: Real) -> ([]Real, []Real) {
          n = length(xs)
          zeros = zeros(xs)
          m = zeros with [p] += w
          sum = w + w
          e = zeros with [p] += sum
          x = xs[p]
          k = ks[p]
          c = k == 0
          s2 = if c {
            t = mul_zero(sum, x)
            s3 = zeros with [p] += t
            yield s3
          } else {
            yield e
          }
          u = each i2 < n, u2 += zeros, k2 in ks, d2 in e {
            c2 = k2 == 0
            u2_2 = if c2 {
              u3 = u2 with [k2] += d2
              yield u3
            } else {
              yield u2
            }
            yield u2_2
          }
          return s2, u
        }

        entry f = f
    "#]],
    );
}
