//! Zeros in the shape of what was made of zeros.

use super::check;
use expect_test::expect;

#[test]
fn zeros_like_a_sum_are_made_as_the_zeros_to_which_it_adds() {
    let text = r"
        func f(xs: []Real, ys: []Real, n: Int) -> ([][]Real, [][]Real, []Real, []Real) {
            row = replicate(n, 0.0)
            rows = replicate(n, row)
            a = add_product(rows, xs, ys)
            like_a = zeros(a)
            b = add_product(like_a, ys, xs)
            none = zeros(xs)
            c = each i < n, acc += none { d = acc with [i] += 1.0 yield d }
            e = zeros(c)
            g = zeros(ys)
            h = g with [0] += 2.0
            k = zeros(h)
            return b, rows, e, k
        }
        entry f = f";
    check(
        "simplify",
        text,
        &expect![[r#"
        func f(xs: []Real, ys: []Real, n: Int) -> ([][]Real, [][]Real, []Real, []Real) {
          row = replicate(n, 0.0)
          rows = replicate(n, row)
          a = add_product(rows, xs, ys)
          like_a = replicate(n, row)
          b = add_product(like_a, ys, xs)
          none = zeros(xs)
          c = each i < n, acc += none {
            d = acc with [i] += 1.0
            yield d
          }
          e = zeros(xs)
          g = zeros(ys)
          h = g with [0] += 2.0
          k = zeros(ys)
          return b, rows, e, k
        }

        entry f = f
    "#]],
    );
}

#[test]
fn zeros_like_other_arrays_stay() {
    // Of what the sum was added to nothing is known but that it was there.
    let text = r"func f(xs: []Real) -> ([]Real, []Real) {
        a = xs with [0] += 2.0
        ones = replicate(3, 1.0)
        b = ones with [0] += 2.0
        c = zeros(a)
        d = zeros(b)
        e = c with [0] += 3.0
        return e, d
    }
    entry f = f";
    let mut program = wengert_ir::parse(text).expect("the text is a program");
    let before = wengert_ir::print(&program);
    crate::simplify::run(&mut program);
    assert_eq!(wengert_ir::print(&program), before);
}

#[test]
fn squares_of_tangents_are_squares_and_what_is_the_same_everywhere_is_so_in_part_and_from_behind() {
    let text = r"
        func f(x: Real, xs: []Real) -> (Real, []Real, []Real, []Real, Int) {
            a = mul_zero(x, x)
            n = length(xs)
            ones = replicate(n, 1.0)
            b = reverse(ones)
            some = replicate(5, x)
            c = slice(some, 1, 4)
            d = slice(some, 1, 6)
            e = reverse(xs)
            m = length(e)
            return a, b, c, d, m
        }
        entry f = f";
    check(
        "simplify",
        text,
        &expect![[r#"
            func f(x: Real, xs: []Real) -> (Real, []Real, []Real, []Real, Int) {
              a = x * x
              n = length(xs)
              ones = replicate(n, 1.0)
              some = replicate(5, x)
              c = replicate(3, x)
              d = slice(some, 1, 6)
              e = reverse(xs)
              return a, ones, c, d, n
            }

            entry f = f
        "#]],
    );
}
