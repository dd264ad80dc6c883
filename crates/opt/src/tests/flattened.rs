//! Flattened arrays.

use super::check;
use expect_test::expect;

#[test]
fn a_sum_of_all_elements_goes_through_the_rows() {
    let text = r"
        func f(xs: [][]Real, n: Int) -> Real {
            m = length(xs)
            ys = each i < m, row in xs { zs = each j < n, x in row { y = x * x yield y } yield zs }
            flat = flatten(ys)
            s = sum(flat)
            return s
        }
        entry f = f";
    check(
        "fuse",
        text,
        &expect![[r#"
        func f(xs: [][]Real, n: Int) -> Real {
          m = length(xs)
          ys = each i < m, row in xs {
            zs = each j < n, x in row {
              y = x * x
              yield y
            }
            yield zs
          }
          flat = flatten(ys)
          n2 = length(ys)
          s = for i2 < n2, s2 = 0.0, row2 in ys {
            n3 = length(row2)
            s3 = for i3 < n3, s4 = s2, x2 in row2 {
              s5 = s4 + x2
              yield s5
            }
            yield s3
          }
          return s
        }

        entry f = f
    "#]],
    );
    let deeper = r"
        func f(m: Int) -> Int {
            ys = each i < m { zs = replicate(m, i) us = replicate(m, zs) yield us }
            rows = flatten(ys)
            flat = flatten(rows)
            s = sum(flat)
            return s
        }
        entry f = f";
    check(
        "fuse",
        deeper,
        &expect![[r#"
        func f(m: Int) -> Int {
          ys = each i < m {
            zs = replicate(m, i)
            us = replicate(m, zs)
            yield us
          }
          rows = flatten(ys)
          flat = flatten(rows)
          n = length(ys)
          s = for i2 < n, s2 = 0, row in ys {
            n2 = length(row)
            s3 = for i3 < n2, s4 = s2, row2 in row {
              n3 = length(row2)
              s5 = for i4 < n3, s6 = s4, x in row2 {
                s7 = s6 + x
                yield s7
              }
              yield s5
            }
            yield s3
          }
          return s
        }

        entry f = f
    "#]],
    );
}

#[test]
fn rows_that_are_there_anyway_are_added_up_at_once() {
    let text = r"
        func f(xs: [][]Real) -> (Real, Real, [][]Real) {
            a = flatten(xs)
            s = sum(a)
            m = length(xs)
            ys = each i < m, row in xs { zs = reverse(row) yield zs }
            flat = flatten(ys)
            t = sum(flat)
            return s, t, ys
        }
        entry f = f";
    check(
        "fuse",
        text,
        &expect![[r#"
        func f(xs: [][]Real) -> (Real, Real, [][]Real) {
          a = flatten(xs)
          s = sum(a)
          m = length(xs)
          ys = each i < m, row in xs {
            zs = reverse(row)
            yield zs
          }
          flat = flatten(ys)
          t = sum(flat)
          return s, t, ys
        }

        entry f = f
    "#]],
    );
}

#[test]
fn the_same_everywhere_in_the_shape_of_an_array_is_rows_of_it() {
    let text = r"
        func f(xs: [][]Real, c: Real) -> ([][]Real, [][]Real) {
            flat = flatten(xs)
            n = length(flat)
            ys = replicate(n, c)
            zs = unflatten_like(ys, xs)
            us = reverse(flat)
            vs = unflatten_like(us, xs)
            return zs, vs
        }
        entry f = f";
    check(
        "rows",
        text,
        &expect![[r#"
        func f(xs: [][]Real, c: Real) -> ([][]Real, [][]Real) {
          flat = flatten(xs)
          n = length(flat)
          ys = replicate(n, c)
          n2 = length(xs)
          n3 = length(xs, 1)
          zs = each i < n2 {
            zs2 = replicate(n3, c)
            yield zs2
          }
          us = reverse(flat)
          vs = unflatten_like(us, xs)
          return zs, vs
        }

        entry f = f
    "#]],
    );
}

#[test]
fn what_the_other_loop_uses_twice_stays_an_array() {
    let text = r"
        func f(xs: [][]Real, m: Int) -> ([]Real, []Real) {
            n = length(xs)
            ys = each i < n, row in xs { zs = each j < m, x in row { y = x * x yield y } yield zs }
            ss, ts = each i < n, zs in ys { s = sum(zs) t = maximum(zs) yield s, t }
            return ss, ts
        }
        entry f = f";
    check(
        "fuse",
        text,
        &expect![[r#"
        func f(xs: [][]Real, m: Int) -> ([]Real, []Real) {
          n = length(xs)
          ss, ts = each i < n, row in xs {
            zs = each j < m, x in row {
              y = x * x
              yield y
            }
            s = sum(zs)
            t = maximum(zs)
            yield s, t
          }
          return ss, ts
        }

        entry f = f
    "#]],
    );
}
