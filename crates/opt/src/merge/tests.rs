//! Loops that wait, and become one.

use crate::tests::{check, stays};
use expect_test::expect;

const TEXT: &str = r"
    data List { Nil() Cons(Real, List) }
    func f(xs: []Real, k: Int) -> (Real, List) {
        n = length(xs)
        z, ys = for backward i < n, y = 1.0, x in xs { t = sin(y) u = t * x yield u, t }
        nil = Nil()
        list = for backward j < n, l = nil, y in ys, x in xs { v = y + x c = Cons(v, l) yield c }
        return z, list
    }
    entry f = f";

#[test]
fn a_loop_that_takes_rows_of_one_that_waits_becomes_part_of_it() {
    check(
        "merge",
        TEXT,
        &expect![[r#"
        data List {
          Nil()
          Cons(Real, List)
        }

        func f(xs: []Real, k: Int) -> (Real, List) {
          n = length(xs)
          nil = Nil()
          z, list, ys = for backward i < n, y = 1.0, l = nil, x in xs {
            t = sin(y)
            u = t * x
            v = t + x
            c = Cons(v, l)
            yield u, c, t
          }
          return z, list
        }

        entry f = f
    "#]],
    );
}

#[test]
fn loops_that_go_otherwise_only_add_or_need_the_end_stay() {
    let changes = [
        ("list = for backward j < n", "list = for j < n"),
        ("list = for backward j < n", "list = for backward j < k"),
        ("t = sin(y) u = t * x yield u, t", "u = y + x t = sin(x) yield u, t"),
        ("nil = Nil()", "e = Nil() nil = Cons(z, e)"),
        ("v = y + x", "v = y + z"),
    ];
    for (from, to) in changes {
        assert!(TEXT.contains(from), "{from}");
        let mut program = wengert_ir::parse(&TEXT.replacen(from, to, 1)).expect("the text is a program");
        assert_eq!(wengert_ir::verify(&program), Ok(()));
        let before = wengert_ir::print(&program);
        super::run(&mut program);
        assert_eq!(wengert_ir::print(&program), before);
    }
}

const SUMS: &str = r"
    func f(xs: []Real, ys: []Real, k: Real) -> (Real, Real, Real) {
        n = length(xs)
        n2 = length(ys)
        require n == n2, shape inner
        s = for i < n, a = 0.0, x in xs { b = a + x yield b }
        q = s / k
        m = exp(k)
        t = for j < n, c = 0.0, x2 in xs, y in ys { u = x2 * y w = u * m d = c + w yield d }
        v = for l < n, e = 0.0, y2 in ys { z = y2 * y2 g = e + z yield g }
        return q, t, v
    }
    entry f = f";

#[test]
fn sums_over_the_same_elements_become_one_loop() {
    check(
        "merge",
        SUMS,
        &expect![[r#"
        func f(xs: []Real, ys: []Real, k: Real) -> (Real, Real, Real) {
          n = length(xs)
          n2 = length(ys)
          require n == n2, shape inner
          m = exp(k)
          s, t, v = for i < n, a = 0.0, c = 0.0, e = 0.0, x in xs, y in ys {
            b = a + x
            u = x * y
            w = u * m
            d = c + w
            z = y * y
            g = e + z
            yield b, d, g
          }
          q = s / k
          return q, t, v
        }

        entry f = f
    "#]],
    );
}

#[test]
fn sums_that_are_looked_at_or_go_over_other_elements_stay() {
    let changes = [
        ("yield b }", "o = b * 2.0 yield o }"),
        ("u = x2 * y w = u * m d = c + w", "u = x2 * c w = u * m d = c + w"),
        ("x2 in xs, y in ys { u = x2 * y", "y in ys { u = s * y"),
        ("t = for j < n", "t = for backward j < n"),
        ("w = u * m", "w = u * q"),
    ];
    for (from, to) in changes {
        let text = SUMS.replacen(from, to, 1);
        assert_ne!(text, SUMS, "{from}");
        let mut program = wengert_ir::parse(&text).expect("the text is a program");
        assert_eq!(wengert_ir::verify(&program), Ok(()));
        super::run(&mut program);
        let text = wengert_ir::print(&program);
        assert!(text.contains("s = for"), "{from}: {text}");
    }
}

#[test]
fn sums_of_elements_that_another_sum_goes_over_are_part_of_its_loop() {
    let text = r"
    func f(xs: []Real, ys: []Real, zs: []Real) -> (Real, Real, Real, Real, Real) {
        n = length(xs)
        a = sum(xs)
        b = sum(ys)
        k = exp(b)
        t = for j < n, c = 0.0, x in xs, y in ys { u = x * y w = u * k d = c + w yield d }
        e = sum(ys)
        g = sum(zs)
        return a, b, t, e, g
    }
    entry f = f";
    check(
        "merge",
        text,
        &expect![[r#"
        func f(xs: []Real, ys: []Real, zs: []Real) -> (Real, Real, Real, Real, Real) {
          n = length(xs)
          b = sum(ys)
          k = exp(b)
          t, a, e = for j < n, c = 0.0, a2 = 0.0, e2 = 0.0, x in xs, y in ys {
            u = x * y
            w = u * k
            d = c + w
            a3 = a2 + x
            e3 = e2 + y
            yield d, a3, e3
          }
          g = sum(zs)
          return a, b, t, e, g
        }

        entry f = f
    "#]],
    );
}

/// A loop goes beside another one over what is asked in between only if its arrays are known to be as long before; and what is asked
/// comes first if nothing else fails.
#[test]
fn what_is_asked_in_between_is_asked_before() {
    let text = "func f(xs: []Real, ys: []Real, k: Int) -> ([]Real, []Real) {
            n = length(xs)
            m = length(ys)
            a = each i < n, x in xs { t = x * x yield t }
            require n == m, same_size map2
            b = each j < n, x2 in xs, y in ys { u = x2 * y yield u }
            return a, b
        }
        entry f = f";
    check(
        "merge",
        text,
        &expect![[r#"
        func f(xs: []Real, ys: []Real, k: Int) -> ([]Real, []Real) {
          n = length(xs)
          m = length(ys)
          require n == m, same_size map2
          a, b = each i < n, x in xs, y in ys {
            t = x * x
            u = x * y
            yield t, u
          }
          return a, b
        }

        entry f = f
    "#]],
    );
    // What fails in the first loop fails before anything is asked.
    let mut program =
        wengert_ir::parse(&text.replace("t = x * x", "t = xs[k]")).expect("the text is a program");
    let before = wengert_ir::print(&program);
    super::run(&mut program);
    assert_eq!(wengert_ir::print(&program), before);
}

/// Reading an element that is there does not fail: two sums over rows of which the length is known become one loop. What is there only for
/// something that was asked in between is not taken for it.
#[test]
fn what_is_in_range_does_not_fail() {
    let text = "func f(xs: []Real, ys: []Real, k: Int) -> (Real, Real) {
            n = length(xs)
            m = length(ys)
            rows = each i < n, x in xs { t = x * x row = [x, t, 1.0] yield row }
            a = for j < n, s = 0.0, r in rows { u = r[0] v = r[1] w = u * v s2 = s + w yield s2 }
            b = for l < n, q = 0.0, r2 in rows { u2 = r2[2] q2 = q + u2 yield q2 }
            return a, b
        }
        entry f = f";
    check(
        "merge",
        text,
        &expect![[r#"
        func f(xs: []Real, ys: []Real, k: Int) -> (Real, Real) {
          n = length(xs)
          m = length(ys)
          rows = each i < n, x in xs {
            t = x * x
            row = [x, t, 1.0]
            yield row
          }
          a, b = for j < n, s = 0.0, q = 0.0, r in rows {
            u = r[0]
            v = r[1]
            w = u * v
            s2 = s + w
            u2 = r[2]
            q2 = q + u2
            yield s2, q2
          }
          return a, b
        }

        entry f = f
    "#]],
    );
    stays("merge", &text.replace("r2[2]", "r2[3]").replace("r[1]", "r[k]"));
    let asked = text
        .replace("b = for", "require n == m, same_size map2 b = for")
        .replace("u2 = r2[2]", "u2 = ys[l]")
        .replace("w = u * v", "w = xs[k]");
    stays("merge", &asked);
}
