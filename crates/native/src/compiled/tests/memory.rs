//! What is made, shared, changed in place and freed.

use super::{compiled, gives, real};
use wengert_ir::eval::Value;

#[test]
fn a_list_that_is_walked_through_twice_at_once_is_freed_once() {
    let text = r#"
        data List { Nil() Cons(List) }
        func f(n: Int) -> Int {
            t = List::Nil()
            list = for i < n, l = t { m = List::Cons(l) yield m }
            x, y, ys = while x2 = list, y2 = list {
                c = match x2 {
                    Nil() { yield false }
                    Cons(x3) { c2 = match y2 { Nil() { yield false } Cons(y3) { yield true } } yield c2 }
                }
                yield c
            } do x4, y4 {
                dx, dy = match x4 {
                    Nil() { d6: List, d7: List = fail("x") yield d6, d7 }
                    Cons(x5) {
                        d8 = match y4 { Nil() { d9: List = fail("y") yield d9 } Cons(y5) { yield y5 } }
                        yield x5, d8
                    }
                }
                yield dx, dy, y4
            }
            k = length(ys)
            return k
        }
        entry f = f"#;
    gives(text, &[Value::Int(20)], &[Value::Int(20)]);
}

#[test]
fn lists_a_million_long_are_made_matched_and_freed() {
    let text = r"
        data List { Nil(); Cons(Real, List) }
        func build(n: Int, rest: List) -> List {
            done = n == 0
            l = if done { yield rest } else { x = real(n) c = Cons(x, rest) m = n - 1 l = build(m, c) yield l }
            return l
        }
        func total(l: List) -> Real {
            s = match l { Nil() { yield 0.0 } Cons(x, rest) { t = total(rest) u = x + t yield u } }
            return s
        }
        func main(n: Int) -> Real {
            empty_ = Nil()
            l = build(n, empty_)
            s = total(l)
            t = total(l)
            u = s + t
            return u
        }
        entry main = main";
    gives(text, &[Value::Int(1_000_000)], &[real(1_000_001_000_000.0)]);
}

/// An object that was made just now is not asked whether somebody else refers to it; one from before a loop is, and one that
/// was given away once.
#[test]
fn what_is_new_is_updated_without_asking() {
    let text = |more: &str| {
        format!(
            "func f(n: Int) -> Real {{
                xs = replicate(n, 0.0)
                {more}
                zs = for i < n, zs = xs {{ z = real(i) w = set(zs, i, z) yield w }}
                b = zs[1]
                c = ys[1]
                d = b + c
                return d
            }}
            entry f = f"
        )
    };
    for (more, asked) in [
        ("ys = replicate(n, 1.0)", 0),
        ("ys = xs", 1),
        ("ys = for j < 3, ys = xs { t = real(j) us = replicate(n, t) vs = set(us, 0, t) yield vs }", 1),
    ] {
        let text = text(more);
        let program = wengert_ir::parse(&text).expect("a program");
        let loops = crate::loops::print(&crate::lower::lower(&program));
        assert_eq!(loops.matches("unique(").count(), asked, "{more}: {loops}");
        let entry = *program.entries.values().next().expect("it has an entry");
        let expected = wengert_ir::eval::Evaluator::new(&program, wengert_ir::eval::Limits::default())
            .call(entry, vec![Value::Int(3)])
            .expect("it runs");
        gives(&text, &[Value::Int(3)], &expected);
    }
}

#[test]
fn updates_are_in_place_unless_somebody_else_looks() {
    let text = r"
        func f(n: Int) -> (Real, Real) {
            xs = replicate(n, 1.0)
            ys = set(xs, 0, 5.0)
            a = xs[0]
            zs = for i < n, zs = ys { y = zs[i] z = y + 1.0 w = set(zs, i, z) yield w }
            b = zs[0]
            return a, b
        }
        entry f = f";
    gives(text, &[Value::Int(3)], &[real(1.0), real(6.0)]);
}

#[test]
fn what_was_carried_into_an_iteration_can_be_collected_and_is_freed() {
    let text = r"
        func f(n: Int, start: []Real) -> ([]Real, [][]Real) {
            last, all = for i < n, s = start {
                t = each j < 2, x in s { y = x * 2.0 yield y }
                yield t, s
            }
            return last, all
        }
        entry f = f";
    let rows = Value::array([3, 2], wengert_ir::eval::Items::Reals(vec![1.0, 2.0, 2.0, 4.0, 4.0, 8.0]));
    gives(text, &[Value::Int(3), Value::reals([1.0, 2.0])], &[Value::reals([8.0, 16.0]), rows]);
}

/// What a slice is of dies with the call that starts the function again: the parameter that held it is the slice by then.
#[test]
fn what_dies_with_a_call_that_starts_again_is_freed_before() {
    let text = "
        func f(n: Int) -> Real { k = n + 8 xs = each i < k { x = real(i) yield x } y = last(xs, n) return y }
        func last(xs: []Real, n: Int) -> Real {
            c = n == 0
            y = if c { t = sum(xs) yield t } else {
                m = n - 1
                k = m + 8
                ys = slice(xs, 0, k)
                zs = each i < k { t2 = real(i) yield t2 }
                t3 = zs[m]
                c2 = t3 < 0.0
                y2 = if c2 { yield t3 } else { y3 = last(ys, m) yield y3 }
                yield y2
            }
            return y
        }
        entry f = f
    ";
    gives(text, &[Value::Int(5)], &[real(28.0)]);
}

#[test]
fn what_somebody_else_keeps_is_walked_through_without_counting() {
    let text = r#"
        data List { Nil() Cons(Real, List) }
        func total(xs: List) -> (Real, List) {
            t, rest = while t = 0.0, c = xs {
                more = match c { Nil() { yield false } Cons(x, r) { b = x > -1.0 yield b } }
                yield more
            } do t, c {
                u, d = match c {
                    Nil() { v: Real, e: List = fail("no") yield v, e }
                    Cons(x, r) { b = x > 5.0 s = t + x d = if b { yield r } else { yield r } yield s, d }
                }
                yield u, d
            }
            return t, rest
        }
        func f(n: Int) -> (Real, Real, List) {
            nil = Nil()
            xs = for i < n, l = nil { x = real(i) m = Cons(x, l) yield m }
            end = Cons(-2.0, xs)
            ys = Cons(3.0, end)
            a, rest = total(xs)
            b, there = total(ys)
            return a, b, there
        }
        entry f = f"#;
    let loops = crate::loops::print(&crate::lower::lower(&wengert_ir::parse(text).expect("a program")));
    let total =
        loops.split("func total").nth(1).and_then(|rest| rest.split("func ").next()).unwrap_or_default();
    // Only where the walk ends is there a reference of its own.
    assert_eq!((total.matches("retain(").count(), total.matches("free(").count()), (1, 0), "{loops}");
    let mut compiled = compiled(text);
    let entry = *compiled.program().entries.values().next().expect("it has an entry");
    let before = compiled.words_in_use();
    let given = compiled.call(entry, &[Value::Int(3)]).expect("it runs");
    assert!(
        given.first().is_some_and(|a| a.same(&real(3.0))) && given.get(1).is_some_and(|b| b.same(&real(3.0)))
    );
    assert!(
        matches!(given.get(2), Some(Value::Data(node)) if node.fields().first().is_some_and(|x| x.same(&real(-2.0))))
    );
    assert_eq!(compiled.words_in_use(), before, "something was not freed");
}
