//! Short arrays that are lists of their elements, updates, and what is checked first.

use super::check;
use super::slopes::check_relaxed;
use expect_test::expect;

#[test]
fn what_is_added_at_one_place_twice_is_added_at_once() {
    check_relaxed(
        r"
        func f(xs: []Real, i: Int, j: Int, a: Real, b: Real) -> ([]Real, []Real, []Real) {
            x = xs[i]
            ys = xs with [i] += a
            zs = ys with [i] += b
            nothing = xs with [i] += 0.0
            us = xs with [i] += a
            vs = us with [j] += b
            return zs, vs, nothing
        }
        entry f = f",
        &expect![[r#"
            func f(xs: []Real, i: Int, j: Int, a: Real, b: Real) -> ([]Real, []Real, []Real) {
              x = xs[i]
              sum = a + b
              zs = xs with [i] += sum
              us = xs with [i] += a
              vs = us with [j] += b
              return zs, vs, xs
            }

            entry f = f
        "#]],
    );
}

#[test]
fn an_update_between_which_something_may_fail_stays() {
    check_relaxed(
        r"
        func f(xs: []Real, n: Int, i: Int, a: Real, b: Real) -> []Real {
            ys = xs with [i] += a
            require n == i, count build
            zs = ys with [i] += b
            us = zs with [n] += 0.0
            return us
        }
        entry f = f",
        &expect![[r#"
            func f(xs: []Real, n: Int, i: Int, a: Real, b: Real) -> []Real {
              ys = xs with [i] += a
              require n == i, count build
              zs = ys with [i] += b
              us = zs with [n] += 0.0
              return us
            }

            entry f = f
        "#]],
    );
}

#[test]
fn short_lists_are_updated_and_transposed_as_lists() {
    check(
        "simplify",
        r"
        func f(a: Real, b: Real, i: Int) -> ([]Real, [][]Real, []Real) {
            xs = [a, b]
            ys = xs with [1] = 2.0
            zs = ys with [0] += b
            os = zeros(xs)
            us = os with [1] += a
            m = [zs, us]
            t = transpose(m)
            vs = xs with [i] = a
            return us, t, vs
        }
        entry f = f",
        &expect![[r#"
            func f(a: Real, b: Real, i: Int) -> ([]Real, [][]Real, []Real) {
              xs = [a, b]
              ys = [a, 2.0]
              sum = a + b
              zs = [sum, 2.0]
              os = [0.0, 0.0]
              us = [0.0, a]
              m = [zs, us]
              row = [sum, 0.0]
              row2 = [2.0, a]
              t = [row, row2]
              vs = xs with [i] = a
              return us, t, vs
            }

            entry f = f
        "#]],
    );
}

#[test]
fn strong_zeros_add_nothing() {
    check(
        "simplify",
        r"
        func f(x: Real, y: Real) -> (Real, Real, Real) {
            a = mul_zero(0.0, y)
            b = x + a
            c = b - a
            d = a + c
            e = a - x
            g = x + 0.0
            return d, e, g
        }
        entry f = f",
        &expect![[r#"
            func f(x: Real, y: Real) -> (Real, Real, Real) {
              e = 0.0 - x
              g = x + 0.0
              return x, e, g
            }

            entry f = f
        "#]],
    );
}

#[test]
fn zeros_of_a_known_size_are_a_list_and_what_was_read_is_no_empty_array() {
    check(
        "sizes",
        r"
        func f(xs: []Real, ys: []Real) -> ([]Real, Bool, Real) {
            n = length(xs)
            require 2 == n, named_size `2` 0
            os = zeros(xs)
            m = length(ys)
            c = m == 0
            y = ys[1]
            z = if c { yield 1.0 } else { yield y }
            return os, c, z
        }
        entry f = f",
        &expect![[r#"
            func f(xs: []Real, ys: []Real) -> ([]Real, Bool, Real) {
              n = length(xs)
              m = length(ys)
              require 2 == n, named_size `2` 0
              os = [0.0, 0.0]
              c = m == 0
              y = ys[1]
              z = if false {
                yield 1.0
              } else {
                yield y
              }
              return os, c, z
            }

            entry f = f
        "#]],
    );
}

#[test]
fn what_is_checked_first_in_a_loop_that_runs_is_checked_before_it() {
    check(
        "hoist",
        r"
        func f(xs: []Real, k: Int) -> Real {
            n = length(xs)
            c = n == 0
            s = if c {
                a = xs[k]
                yield a
            } else {
                t = for i < n, t = 0.0 {
                    zs = zeros(xs)
                    us = zs with [i] = 1.0
                    b = xs[k]
                    d = us[k]
                    e = b + d
                    yield e
                }
                yield t
            }
            return s
        }
        entry f = f",
        &expect![[r#"
            func f(xs: []Real, k: Int) -> Real {
              n = length(xs)
              c = n == 0
              a = xs[k]
              s = if c {
                yield a
              } else {
                t = for i < n, t2 = 0.0 {
                  zs = zeros(xs)
                  us = zs with [i] = 1.0
                  d = us[k]
                  e = a + d
                  yield e
                }
                yield t
              }
              return s
            }

            entry f = f
        "#]],
    );
}

#[test]
fn what_may_not_be_checked_at_all_stays_where_it_is() {
    check(
        "hoist",
        r"
        func f(xs: []Real, n: Int, k: Int) -> Real {
            t = for i < n, t = 0.0 {
                b = xs[k]
                yield b
            }
            u = for i2 < 3, u = 0.0 {
                a = xs[i2]
                b2 = xs[k]
                e = b2 + a
                yield e
            }
            v = t + u
            return v
        }
        entry f = f",
        &expect![[r#"
            func f(xs: []Real, n: Int, k: Int) -> Real {
              t = for i < n, t2 = 0.0 {
                b = xs[k]
                yield b
              }
              u = for i2 < 3, u2 = 0.0 {
                a = xs[i2]
                b2 = xs[k]
                e = b2 + a
                yield e
              }
              v = t + u
              return v
            }

            entry f = f
        "#]],
    );
}

#[test]
fn short_loops_with_unit_vectors_are_their_iterations() {
    check(
        "abreast",
        r"
        func f(x: Real, y: Real) -> [][]Real {
            like = [x, y]
            m = each i < 2 {
                zs = zeros(like)
                us = zs with [i] = 1.0
                a = us[0]
                b = us[1]
                p = mul_zero(a, y)
                q = mul_zero(b, x)
                r = p + q
                row = [r, p]
                yield row
            }
            return m
        }
        entry f = f",
        &expect![[r#"
            func f(x: Real, y: Real) -> [][]Real {
              row = [y, y]
              row2 = [x, 0.0]
              m = [row, row2]
              return m
            }

            entry f = f
        "#]],
    );
}

#[test]
fn twos_go_out_of_loops() {
    check_relaxed(
        r"
        func f(xs: []Real) -> []Real {
            n = length(xs)
            s = for i < n, s = 0.0, x in xs {
                q = x * x
                t = s + q
                yield t
            }
            r = sqrt(s)
            d = r + r
            e = 1.0 / d
            ys = each j < n, x2 in xs {
                a = mul_zero(e, x2)
                b = a + a
                yield b
            }
            return ys
        }
        entry f = f",
        &expect![[r#"
            func f(xs: []Real) -> []Real {
              n = length(xs)
              s = for i < n, s2 = 0.0, x in xs {
                q = x * x
                t = s2 + q
                yield t
              }
              r = sqrt(s)
              e = 1.0 / r
              ys = each j < n, x2 in xs {
                b = mul_zero(e, x2)
                yield b
              }
              return ys
            }

            entry f = f
        "#]],
    );
}

#[test]
fn sums_of_what_is_not_minus_zero_never_are() {
    check(
        "simplify",
        r"
        func f(xs: []Real, k: Real) -> (Real, Real) {
            n = length(xs)
            s, u = for i < n, s = 0.0, u = k, x in xs {
                t = s + x
                v = u + x
                yield t, v
            }
            a = 0.0 + s
            b = 0.0 + u
            return a, b
        }
        entry f = f",
        &expect![[r#"
            func f(xs: []Real, k: Real) -> (Real, Real) {
              n = length(xs)
              s, u = for i < n, s2 = 0.0, u2 = k, x in xs {
                t = s2 + x
                v = u2 + x
                yield t, v
              }
              b = 0.0 + u
              return s, b
            }

            entry f = f
        "#]],
    );
}
