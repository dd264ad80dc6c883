//! Sums to which an iteration adds several numbers, elements to which something is added twice, and truth values.

use super::doubles::check;
use super::slopes::check_relaxed;
use expect_test::expect;

#[test]
fn what_an_iteration_adds_is_added_up_first() {
    check(
        "s = for i < 3, s = 0.0 { r = real(i) x2 = sin(r) y2 = exp(r) z2 = cos(r) a = s + x2 b = a - y2 c = z2 + b yield c } return s",
        &expect![[r#"
            s = for i < 3, s2 = 0.0 {
            r = real(i)
            x2 = sin(r)
            y2 = exp(r)
            z2 = cos(r)
            sum = x2 + z2
            sum2 = sum - y2
            c = s2 + sum2
            yield c
            }
            return s
        "#]],
    );
    // What is used in between stays.
    check(
        "s = for i < 3, s = 0.0 { a = s + x w = a * a b = a + w yield b } return s",
        &expect![[r#"
            s = for i < 3, s2 = 0.0 {
            a = s2 + x
            w = a * a
            b = a + w
            yield b
            }
            return s
        "#]],
    );
    check(
        "s = for i < 3, s = 0.0 { r = real(i) x2 = sin(r) y2 = exp(r) a = s - x2 b = a - y2 yield b } return s",
        &expect![[r#"
            s = for i < 3, s2 = 0.0 {
            r = real(i)
            x2 = sin(r)
            y2 = exp(r)
            sum = x2 + y2
            b = s2 - sum
            yield b
            }
            return s
        "#]],
    );
}

#[test]
fn what_is_added_at_one_place_is_added_at_once() {
    check_relaxed(
        "func f(x: Real, y: Real, i: Int) -> []Real {
            e = replicate(3, x)
            a = e with [0] += x b = a with [1] += y c = b with [0] += y
            g = c with [i] += x h = g with [1] += y k = h with [i] += y
            return k
        }
        entry f = f",
        &expect![[r#"
            func f(x: Real, y: Real, i: Int) -> []Real {
              e = replicate(3, x)
              sum = x + y
              c = e with [0] += sum
              g = c with [i] += x
              sum2 = y + y
              h = g with [1] += sum2
              k = h with [i] += y
              return k
            }

            entry f = f
        "#]],
    );
}

#[test]
fn what_is_added_to_what_was_set_is_set() {
    check_relaxed(
        "func f(xs: []Real, i: Int, j: Int, x: Real) -> ([]Real, []Real, []Real) {
            t = xs[i] a = xs with [i] = 0.0 b = a with [j] += x c = b with [i] += t
            u = c[i] d = c with [i] = 0.0 e = d with [i] += x g = e with [j] = x h = g with [i] += u
            y = h[j] k = h with [i] = y l = k with [j] = y
            return c, h, l
        }
        entry f = f",
        &expect![[r#"
            func f(xs: []Real, i: Int, j: Int, x: Real) -> ([]Real, []Real, []Real) {
              t = xs[i]
              b = xs with [j] += x
              u = b[i]
              e = b with [i] = x
              g = e with [j] = x
              h = g with [i] += u
              y = h[j]
              k = h with [i] = y
              l = k with [j] = y
              return b, h, l
            }

            entry f = f
        "#]],
    );
}

#[test]
fn a_row_that_is_taken_out_and_put_back_stays() {
    let text = "func f(xs: [][]Real, i: Int, k: Int) -> ([][]Real, Real) {
            row = xs[i]
            none = zeros(row)
            ys = xs with [i] = none
            n = length(row)
            s, zs = each j < n, s += 0.0, a += ys, x in row {
                b = a with [i, j] += x
                y = sin(x)
                t = s + y
                yield t, b
            }
            us = zs with [k, 0] += s
            return us, s
        }
        entry f = f";
    check_relaxed(
        text,
        &expect![[r#"
        func f(xs: [][]Real, i: Int, k: Int) -> ([][]Real, Real) {
          row = xs[i]
          n = length(xs, 1)
          s = each j < n, s2 += 0.0, x in row {
            y = sin(x)
            t = s2 + y
            yield t
          }
          us = xs with [k, 0] += s
          return us, s
        }

        entry f = f
    "#]],
    );
    // What is added elsewhere, or something else, or more.
    for (from, to) in [
        ("[i, j] += x", "[k, j] += x"),
        ("b = a with [i, j] += x\n                y = sin(x)", "y = sin(x) b = a with [i, j] += y"),
        ("b = a with [i, j] += x", "c = a with [i, j] += x b = c with [k, j] += x"),
        ("x in row", "x in none"),
    ] {
        let other = text.replace(from, to);
        assert_ne!(other, text, "{from}");
        let mut program = wengert_ir::parse(&other).expect("the text is a program");
        crate::updates::run(&mut program);
        assert!(wengert_ir::print(&program).contains("xs with [i] ="), "{other}");
    }
}

#[test]
fn truth_values_of_branches_that_compute_little_are_choices() {
    super::check(
        "branches",
        "func f(n: Int, m: Int, xs: []Real) -> (Bool, Bool) {
            p = n == 0
            a = if p { yield true } else { l = m - 1 q = n == l yield q }
            b = if p { x = xs[n] r = x < 0.0 yield r } else { yield false }
            return a, b
        }
        entry f = f",
        &expect![[r#"
            func f(n: Int, m: Int, xs: []Real) -> (Bool, Bool) {
              p = n == 0
              l = m - 1
              q = n == l
              a = select(p, true, q)
              b = if p {
                x = xs[n]
                r = x < 0.0
                yield r
              } else {
                yield false
              }
              return a, b
            }

            entry f = f
        "#]],
    );
}

#[test]
fn integers_of_branches_that_take_nothing_are_choices() {
    // What may fail stays, and so does what takes more.
    super::check(
        "branches",
        "func f(n: Int, i: Int) -> (Int, Int, Int) {
            p = i == 0
            a = if p { l = n - 1 yield l } else { l = i - 1 yield l }
            b = if p { q = n / i yield q } else { yield 0 }
            c = if p { u = n - 1 v = u * u yield v } else { l = i - 1 m = l + n yield m }
            d = if p { u = n - 1 v = u * u w = v + i yield w } else { yield n }
            e = c + d
            return a, b, e
        }
        entry f = f",
        &expect![[r#"
            func f(n: Int, i: Int) -> (Int, Int, Int) {
              p = i == 0
              l = n - 1
              l2 = i - 1
              a = select(p, l, l2)
              b = if p {
                q = n / i
                yield q
              } else {
                yield 0
              }
              u = n - 1
              v = u * u
              l3 = i - 1
              m = l3 + n
              c = select(p, v, m)
              d = if p {
                u2 = n - 1
                v2 = u2 * u2
                w = v2 + i
                yield w
              } else {
                yield n
              }
              e = c + d
              return a, b, e
            }

            entry f = f
        "#]],
    );
}

#[test]
fn what_is_added_to_an_element_that_was_set_is_added_before() {
    check_relaxed(
        "func f(xs: []Real, x: Real, y: Real, i: Int, j: Int) -> ([]Real, []Real, []Real) {
            a = xs with [i] = 0.0 b = a with [i] += x c = b with [i] += y
            d = xs with [i] = x e = d with [j] += y
            g = xs with [i] = x h = g[j] k = g with [i] += h
            return c, e, k
        }
        entry f = f",
        &expect![[r#"
            func f(xs: []Real, x: Real, y: Real, i: Int, j: Int) -> ([]Real, []Real, []Real) {
              sum = x + y
              c = xs with [i] = sum
              d = xs with [i] = x
              e = d with [j] += y
              g = xs with [i] = x
              h = g[j]
              k = g with [i] += h
              return c, e, k
            }

            entry f = f
        "#]],
    );
}
