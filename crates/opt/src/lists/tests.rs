//! Which lists become arrays.

use crate::tests::check;
use expect_test::expect;

const TEXT: &str = r#"
    data List { Nil() Cons(Real, List, Int) }
    func f(as: []Real, k: Int) -> (Real, []Real) {
        n = length(as)
        nil = Nil()
        list = for i < n, l = nil, a in as { b = sin(a) c = Cons(b, l, k) yield c }
        rest, y, ys = while l = list, y = 1.0 {
            more = match l { Nil() { yield false } Cons(x, r, m) { yield true } }
            yield more
        } do l, y {
            z, s = match l {
                Nil() { v: Real, e: List = fail("no") yield v, e }
                Cons(x, r, m) { t = real(m) u = x * y w = u + t yield w, r }
            }
            yield s, z, y
        }
        q = length(ys)
        e, zs = for j < q, e = y, p in ys { g = p * e yield g, e }
        return e, zs
    }
    entry f = f"#;

#[test]
fn lists_between_two_loops_become_arrays() {
    check(
        "lists",
        TEXT,
        &expect![[r#"
            data List {
              Nil()
              Cons(Real, List, Int)
            }

            func f(as: []Real, k: Int) -> (Real, []Real) {
              n = length(as)
              nil = Nil()
              bs, ks = each i < n, a in as {
                b = sin(a)
                yield b, k
              }
              rest = nil
              y, ys = for backward i2 < n, y2 = 1.0, x in bs, m in ks {
                t = real(m)
                u = x * y2
                w = u + t
                z = w
                yield z, y2
              }
              ys2 = reverse(ys)
              q = length(ys2)
              e, zs = for j < q, e2 = y, p in ys2 {
                g = p * e2
                yield g, e2
              }
              return e, zs
            }

            entry f = f
        "#]],
    );
}

#[test]
fn lists_that_are_seen_otherwise_stay() {
    let changes = [
        // The list is used twice, is asked about more, ends with another constructor, or is not gone through one by one.
        (
            "e, zs = for j",
            "rest2 = match list { Nil() { yield 0 } Cons(x2, r2, m2) { yield m2 } } e, zs = for j",
        ),
        ("Cons(x, r, m) { yield true }", "Cons(x, r, m) { big = x > 9.0 yield big }"),
        ("nil = Nil()", "end = Nil() nil = Cons(1.0, end, 2)"),
        ("c = Cons(b, l, k) yield c", "h = Cons(a, l, k) c = Cons(b, h, k) yield c"),
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

#[test]
fn a_list_that_several_loops_take_apart_is_arrays_too() {
    let walk = "rest, y = while l = list, y = 1.0 {
            more = match l { Nil() { yield false } Cons(x, r) { yield true } }
            yield more
        } do l, y {
            z, s = match l {
                Nil() { v: Real, e: List = fail(\"no\") yield v, e }
                Cons(x, r) { u = x * y yield u, r }
            }
            yield s, z
        }";
    let again = walk.replace("rest, y =", "rest2, y2 =").replace("u = x * y", "u = x + y");
    let text = format!(
        "data List {{ Nil() Cons(Real, List) }}
        func f(as: []Real) -> (Real, Real) {{
            n = length(as)
            nil = Nil()
            list = for i < n, l = nil, a in as {{ b = sin(a) c = Cons(b, l) yield c }}
            {walk} {again}
            return y, y2
        }}
        entry f = f"
    );
    let mut program = wengert_ir::parse(&text).expect("the text is a program");
    super::run(&mut program);
    assert_eq!(wengert_ir::verify(&program), Ok(()));
    crate::PASSES.iter().filter(|pass| pass.name == "dce").for_each(|pass| (pass.run)(&mut program));
    let made = wengert_ir::print(&program);
    assert!(!made.contains("while") && !made.contains("= Cons("), "{made}");
}

/// A loop that goes as often as the list is long, the same way or the other one.
fn counted(made: &str, taken: &str, inputs: &str) -> String {
    format!(
        "data List {{ Nil() Cons(Real, List) }}
        func f(as: []Real, k: Int) -> (Real, []Real) {{
            n = length(as)
            nil = Nil()
            list = for {made} < n, l = nil, a in as {{ b = sin(a) c = Cons(b, l) yield c }}
            rest, y, ys = for {taken} < n, l = list, y = 1.0{inputs} {{
                z, s = match l {{
                    Nil() {{ v: Real, e: List = fail(\"no\") yield v, e }}
                    Cons(x, r) {{ u = x * y yield u, r }}
                }}
                yield s, z, y
            }}
            return y, ys
        }}
        entry f = f"
    )
}

#[test]
fn a_loop_that_is_counted_takes_lists_apart_too() {
    check(
        "lists",
        &counted("backward i", "i", ", a in as"),
        &expect![[r#"
        data List {
          Nil()
          Cons(Real, List)
        }

        func f(as: []Real, k: Int) -> (Real, []Real) {
          n = length(as)
          nil = Nil()
          bs = each backward i < n, a in as {
            b = sin(a)
            yield b
          }
          rest = nil
          y, ys = for i2 < n, y2 = 1.0, a2 in as, x in bs {
            u = x * y2
            z = u
            yield z, y2
          }
          return y, ys
        }

        entry f = f
    "#]],
    );
    check(
        "lists",
        &counted("i", "i", ""),
        &expect![[r#"
        data List {
          Nil()
          Cons(Real, List)
        }

        func f(as: []Real, k: Int) -> (Real, []Real) {
          n = length(as)
          nil = Nil()
          bs = each i < n, a in as {
            b = sin(a)
            yield b
          }
          rest = nil
          y, ys = for backward i2 < n, y2 = 1.0, x in bs {
            u = x * y2
            z = u
            yield z, y2
          }
          ys2 = reverse(ys)
          return y, ys2
        }

        entry f = f
    "#]],
    );
}

#[test]
fn a_loop_that_is_counted_otherwise_takes_no_list_apart() {
    for text in
        [counted("i", "i", ", a in as"), counted("i", "i", "").replace("s = for i < n", "s = for i < k")]
    {
        let mut program = wengert_ir::parse(&text).expect("the text is a program");
        assert_eq!(wengert_ir::verify(&program), Ok(()));
        let before = wengert_ir::print(&program);
        super::run(&mut program);
        assert_eq!(wengert_ir::print(&program), before);
    }
}
