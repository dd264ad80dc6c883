//! Rows that are looked at after their array is updated.

use super::stays;
use expect_test::{Expect, expect};

fn check(text: &str, expected: &Expect) {
    super::check("held", text, expected);
}

#[test]
fn a_row_that_is_looked_at_after_an_update_is_copied() {
    check(
        "func f(t: [][]Real, i: Int, x: Real) -> ([][]Real, Real) {
            row = t[i]
            zeros = zeros(row)
            ts = t with [i] = zeros
            s = for k < 3, s = x { y = row[k] z = s + y yield z }
            return ts, s
        }
        entry f = f",
        &expect![[r#"
            func f(t: [][]Real, i: Int, x: Real) -> ([][]Real, Real) {
              row = t[i]
              zeros = zeros(row)
              n = length(row)
              row2 = each i2 < n, row3 in row {
                yield row3
              }
              ts = t with [i] = zeros
              s = for k < 3, s2 = x {
                y = row2[k]
                z = s2 + y
                yield z
              }
              return ts, s
            }

            entry f = f
        "#]],
    );
    // What is put in is a row of the same array, and a part of a row is looked at.
    check(
        "func f(t: [][]Real, i: Int, j: Int) -> ([][]Real, []Real) {
            row = t[j]
            part = slice(row, 0, 1)
            ts = t with [i] = row
            return ts, part
        }
        entry f = f",
        &expect![[r#"
            func f(t: [][]Real, i: Int, j: Int) -> ([][]Real, []Real) {
              row = t[j]
              part = slice(row, 0, 1)
              n = length(part)
              part2 = each i2 < n, part3 in part {
                yield part3
              }
              n2 = length(row)
              row2 = each i3 < n2, row3 in row {
                yield row3
              }
              ts = t with [i] = row2
              return ts, part2
            }

            entry f = f
        "#]],
    );
}

#[test]
fn other_rows_are_not_copied() {
    // Nobody looks at it later; somebody looks at the array, too; it is a row of the array after the update.
    check(
        "func f(t: [][]Real, u: [][]Real, i: Int, x: Real) -> ([][]Real, [][]Real, Real, Real, []Real) {
            row = t[i]
            s = sum(row)
            ts = t with [i, 0] = s
            other = u[i]
            us = u with [i, 0] = x
            v = sum(other)
            w = u[0, 0]
            z = v + w
            last = ts[i]
            return ts, us, s, z, last
        }
        entry f = f",
        &expect![[r#"
            func f(t: [][]Real, u: [][]Real, i: Int, x: Real) -> ([][]Real, [][]Real, Real, Real, []Real) {
              row = t[i]
              s = sum(row)
              ts = t with [i, 0] = s
              other = u[i]
              us = u with [i, 0] = x
              v = sum(other)
              w = u[0, 0]
              z = v + w
              last = ts[i]
              return ts, us, s, z, last
            }

            entry f = f
        "#]],
    );
}

#[test]
fn a_row_that_is_looked_at_after_a_loop_has_updated_its_array_is_copied() {
    check(
        "func f(t: [][]Real, i: Int, xs: []Real) -> ([][]Real, []Real) {
            n = length(xs)
            row = t[i]
            ts = for k < n, t2 = t, x in xs { y = t2[i, k] z = y * x t3 = t2 with [i, k] = z yield t3 }
            return ts, row
        }
        entry f = f",
        &expect![[r#"
            func f(t: [][]Real, i: Int, xs: []Real) -> ([][]Real, []Real) {
              n = length(xs)
              row = t[i]
              n2 = length(row)
              row2 = each i2 < n2, row3 in row {
                yield row3
              }
              ts = for k < n, t2 = t, x in xs {
                y = t2[i, k]
                z = y * x
                t3 = t2 with [i, k] = z
                yield t3
              }
              return ts, row2
            }

            entry f = f
        "#]],
    );
    check(
        "func f(t: [][]Real, i: Int, xs: []Real) -> ([][]Real, []Real) {
            n = length(xs)
            row = t[i]
            ts = each k < n, t2 += t, x in xs { t3 = t2 with [i, k] += x yield t3 }
            return ts, row
        }
        entry f = f",
        &expect![[r#"
            func f(t: [][]Real, i: Int, xs: []Real) -> ([][]Real, []Real) {
              n = length(xs)
              row = t[i]
              n2 = length(row)
              row2 = each i2 < n2, row3 in row {
                yield row3
              }
              ts = each k < n, t2 += t, x in xs {
                t3 = t2 with [i, k] += x
                yield t3
              }
              return ts, row2
            }

            entry f = f
        "#]],
    );
    // A loop that hands the array on as it is, and one that looks at the array itself.
    for loops in [
        "ts, s = for k < n, t2 = t, s = 0.0, x in xs { y = t2[i, k] z = y * x s2 = s + z yield t2, s2 }",
        "ts = for k < n, t2 = t, x in xs { y = t[i, k] z = y * x t3 = t2 with [i, k] = z yield t3 }",
    ] {
        let text = format!(
            "func f(t: [][]Real, i: Int, xs: []Real) -> ([][]Real, []Real) {{ n = length(xs) row = t[i] {loops} return ts, row }} entry f = f"
        );
        stays("held", &text);
    }
}
