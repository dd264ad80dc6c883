//! Sums of what is used elsewhere, too.

use super::slopes::check_relaxed;
use expect_test::expect;

#[test]
fn what_is_only_added_up_is_added_up_where_it_is_made() {
    let text = r"
        func f(xs: []Real) -> (Real, []Real, []Real) {
            n = length(xs)
            ys, zs, us = each i < n, x in xs { y = x * 2.0 z = y + 1.0 yield y, z, x }
            m = n + 1
            s = for j < n, s0 = 0.0, y2 in ys { s1 = s0 + y2 yield s1 }
            ws = each k < n, z2 in zs { w = z2 * s yield w }
            return s, ws, us
        }
        entry f = f";
    check_relaxed(
        text,
        &expect![[r#"
        func f(xs: []Real) -> (Real, []Real, []Real) {
          n = length(xs)
          m = n + 1
          s, zs, us = for j < n, s0 = 0.0, x in xs {
            y = x * 2.0
            z = y + 1.0
            s1 = s0 + y
            yield s1, z, x
          }
          ws = each k < n, z2 in zs {
            w = z2 * s
            yield w
          }
          return s, ws, us
        }

        entry f = f
    "#]],
    );
}

#[test]
fn what_something_else_looks_at_first_or_what_may_fail_stays() {
    // The other loop stands before the sum.
    let before = r"
        func f(xs: []Real) -> (Real, []Real) {
            n = length(xs)
            ys, zs = each i < n, x in xs { y = x * 2.0 z = y + 1.0 yield y, z }
            ws = each k < n, z2 in zs { w = z2 * 3.0 yield w }
            s = for j < n, s0 = 0.0, y2 in ys { s1 = s0 + y2 yield s1 }
            return s, ws
        }
        entry f = f";
    // A step that is no sum: the other loop would be no vector code any more.
    let step = r"
        func f(xs: []Real) -> (Real, []Real) {
            n = length(xs)
            ys, zs = each i < n, x in xs { y = x * 2.0 z = y + 1.0 yield y, z }
            s = for j < n, s0 = 0.0, y2 in ys { a = s0 * 0.5 s1 = a + y2 yield s1 }
            return s, zs
        }
        entry f = f";
    let fails = r"
        func f(ns: []Int) -> (Real, []Real) {
            n = length(ns)
            ys, zs = each i < n, k in ns { q = 6 / k y = real(q) z = y + 1.0 yield y, z }
            s = for j < n, s0 = 0.0, y2 in ys { s1 = s0 + y2 yield s1 }
            return s, zs
        }
        entry f = f";
    for text in [before, step, fails] {
        let mut program = wengert_ir::parse(text).expect("the text is a program");
        let before = wengert_ir::print(&program);
        crate::relax(&mut program, &crate::Options::default());
        assert_eq!(wengert_ir::print(&program), before);
    }
}
