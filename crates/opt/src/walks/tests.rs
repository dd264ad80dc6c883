//! Which walks are counted.

use crate::tests::check;
use expect_test::expect;

const TEXT: &str = r#"
    data List { Nil() Cons(Real, Real, List) }
    func f(list: List, d: Real) -> (Real, List, []Real) {
        rest, y, xs = while l = list, y = 1.0 {
            more = match l { Nil() { yield false } Cons(a, b, r) { yield true } }
            yield more
        } do l, y {
            x, z, s = match l {
                Nil() { u: Real, v: Real, e: List = fail("over") yield u, v, e }
                Cons(a, b, r) { t = a * y yield a, t, r }
            }
            yield s, z, x
        }
        c, rest2, ws = while c = d, l = list {
            more = match l { Nil() { yield false } Cons(a, b, r) { yield true } }
            yield more
        } do c, l {
            w, s = match l {
                Nil() { u: Real, e: List = fail("over") yield u, e }
                Cons(a, b, r) { t = a + c yield t, r }
            }
            k = sin(w)
            yield k, s, w
        }
        return y, rest2, ws
    }
    entry f = f"#;

#[test]
fn the_second_of_two_walks_is_counted() {
    check(
        "walks",
        TEXT,
        &expect![[r#"
            data List {
              Nil()
              Cons(Real, Real, List)
            }

            func f(list: List, d: Real) -> (Real, List, []Real) {
              rest, y, xs = while l = list, y2 = 1.0 {
                more = match l {
                  Nil() {
                    yield false
                  }
                  Cons(a, b, r) {
                    yield true
                  }
                }
                yield more
              } do l2, y3 {
                x, z, s = match l2 {
                  Nil() {
                    u: Real, v: Real, e: List = fail("over")
                    yield u, v, e
                  }
                  Cons(a2, b2, r2) {
                    t = a2 * y3
                    yield a2, t, r2
                  }
                }
                yield s, z, x
              }
              rest2 = rest
              n = length(xs)
              c, ws = for i < n, c2 = d, a3 in xs {
                t2 = a3 + c2
                w = t2
                k = sin(w)
                yield k, w
              }
              return y, rest2, ws
            }

            entry f = f
        "#]],
    );
}

#[test]
fn other_walks_stay() {
    let (before, second) = TEXT.split_at(TEXT.find("c, rest2").expect("it is there"));
    let changes = [
        // It begins elsewhere, asks about more, goes another way, or needs what the first one has not collected.
        ("l = list", "l = other"),
        ("Cons(a, b, r) { yield true }", "Cons(a, b, r) { big = a > 9.0 yield big }"),
        ("t = a + c", "t = b + c"),
        ("yield t, r }", "yield t, l }"),
    ];
    for (from, to) in changes {
        assert!(second.contains(from), "{from}");
        let text = format!("{before}{}", second.replacen(from, to, 1))
            .replace("(list: List,", "(list: List, other: List,");
        let mut program = wengert_ir::parse(&text).expect("the text is a program");
        assert_eq!(wengert_ir::verify(&program), Ok(()));
        let before = wengert_ir::print(&program);
        super::run(&mut program);
        assert_eq!(wengert_ir::print(&program), before);
    }
}
