//! Elements that are read before their array is updated, and rows that are changed where they are.

use super::check;
use expect_test::expect;

#[test]
fn what_is_read_after_an_update_is_read_before() {
    check(
        "elements",
        "func f(xs: []Real, i: Int, j: Int) -> []Real {
            a = xs[j]
            ys = xs with [i] = a
            b = xs[i]
            zs = ys with [j] = b
            return zs
        }
        entry f = f",
        &expect![[r#"
            func f(xs: []Real, i: Int, j: Int) -> []Real {
              a = xs[j]
              b = xs[i]
              ys = xs with [i] = a
              zs = ys with [j] = b
              return zs
            }

            entry f = f
        "#]],
    );
}

#[test]
fn what_may_fail_is_read_where_it_stands() {
    // At another place, which may not be there if that of the update is.
    check(
        "elements",
        "func f(xs: []Real, i: Int, j: Int) -> ([]Real, Real) {
            ys = xs with [i] = 1.0
            b = xs[j]
            return ys, b
        }
        entry f = f",
        &expect![[r#"
            func f(xs: []Real, i: Int, j: Int) -> ([]Real, Real) {
              ys = xs with [i] = 1.0
              b = xs[j]
              return ys, b
            }

            entry f = f
        "#]],
    );
    // Something else looks at the array.
    check(
        "elements",
        "func f(xs: []Real, i: Int) -> ([]Real, Real, Real) {
            ys = xs with [i] = 1.0
            b = xs[i]
            c = sum(xs)
            return ys, b, c
        }
        entry f = f",
        &expect![[r#"
            func f(xs: []Real, i: Int) -> ([]Real, Real, Real) {
              ys = xs with [i] = 1.0
              b = xs[i]
              c = sum(xs)
              return ys, b, c
            }

            entry f = f
        "#]],
    );
    // Where it is known that all places are there, nothing fails.
    check(
        "elements",
        "func f(xs: []Real) -> []Real {
            n = length(xs)
            m = n - 1
            zs = for i < m, xs2 = xs {
                j = i + 1
                ys = xs2 with [i] = 1.0
                b = xs2[j]
                c = sin(b)
                zs = ys with [j] = c
                yield zs
            }
            return zs
        }
        entry f = f",
        &expect![[r#"
            func f(xs: []Real) -> []Real {
              n = length(xs)
              m = n - 1
              zs = for i < m, xs2 = xs {
                j = i + 1
                b = xs2[j]
                ys = xs2 with [i] = 1.0
                c = sin(b)
                zs2 = ys with [j] = c
                yield zs2
              }
              return zs
            }

            entry f = f
        "#]],
    );
}

#[test]
fn a_row_that_is_put_back_is_changed_where_it_is() {
    check(
        "elements",
        "func f(t: [][]Real, i: Int, j: Int, x: Real) -> [][]Real {
            row = t[i]
            y = row[j]
            new = row with [j] = x
            newer = new with [1] += y
            ts = t with [i] = newer
            return ts
        }
        entry f = f",
        &expect![[r#"
            func f(t: [][]Real, i: Int, j: Int, x: Real) -> [][]Real {
              row = t[i]
              y = row[j]
              t2 = t with [i, j] = x
              ts = t2 with [i, 1] += y
              return ts
            }

            entry f = f
        "#]],
    );
}

#[test]
fn a_row_that_is_needed_stays() {
    // Another place, the row itself, and the array in between.
    check(
        "elements",
        "func f(t: [][]Real, i: Int, j: Int, x: Real) -> ([][]Real, [][]Real, []Real, [][]Real, Real) {
            row = t[i]
            new = row with [j] = x
            ts = t with [j] = new
            other = row with [1] = x
            us = t with [i] = other
            last = row with [2] = x
            a = t[j, 0]
            vs = t with [i] = last
            return ts, us, other, vs, a
        }
        entry f = f",
        &expect![[r#"
            func f(t: [][]Real, i: Int, j: Int, x: Real) -> ([][]Real, [][]Real, []Real, [][]Real, Real) {
              row = t[i]
              new = row with [j] = x
              ts = t with [j] = new
              other = row with [1] = x
              us = t with [i] = other
              last = row with [2] = x
              a = t[j, 0]
              vs = t with [i] = last
              return ts, us, other, vs, a
            }

            entry f = f
        "#]],
    );
}
