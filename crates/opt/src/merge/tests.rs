//! Loops that wait, and become one.

use crate::tests::check;
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
