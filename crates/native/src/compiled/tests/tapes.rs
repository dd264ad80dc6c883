//! Tapes, and other data that derivatives make: what of it is no object, and only counted.

use super::{fault, gives, real};
use wengert_fault::Fault;
use wengert_ir::eval::Value;

#[test]
fn tapes_are_freed_as_they_are_taken_apart_unless_somebody_else_has_them() {
    let text = r"
        residual Tape { Leaf(Real); Node([]Tape) }
        func make(n: Int, x: Real) -> Tape {
            leaf = n == 0
            t = if leaf { a = Leaf(x) yield a } else {
                m = n - 1
                ts = each i < 3 { k = real(i) y = x + k u = make(m, y) yield u }
                a = Node(ts)
                yield a
            }
            return t
        }
        func back(t: Tape, w: Real) -> Real {
            s = match t {
                Leaf(x) { p = x * w yield p }
                Node(ts) {
                    n = length(ts)
                    q = for i < n, q = 0.0, u in ts { r = back(u, w) v = q + r yield v }
                    yield q
                }
            }
            return s
        }
        func f(n: Int, x: Real) -> (Real, Real, Real) {
            t = make(n, x)
            a = back(t, 1.0)
            b = back(t, 2.0)
            ts = [t]
            c = for i < 2, c = 0.0 {
                d = for j < 1, d = 0.0, u in ts { r = back(u, 1.0) v = d + r yield v }
                e = c + d
                yield e
            }
            return a, b, c
        }
        entry f = f";
    let loops = crate::loops::print(&crate::lower::lower(&wengert_ir::parse(text).expect("a program")));
    let back =
        loops.split("func back").nth(1).and_then(|rest| rest.split("func ").next()).unwrap_or_default();
    // The leaf, the node, and the array of the node's children.
    assert_eq!(back.matches(" free(").count(), 3, "{loops}");
    gives(text, &[Value::Int(3), real(1.0)], &[real(108.0), real(216.0), real(216.0)]);
}

#[test]
fn of_units_there_is_only_the_count_unless_somebody_looks_at_them() {
    let text = r"
        func f(n: Int) -> (Int, Int) {
            m, k, us = while m = n, k = 0 { c = m > 0 yield c } do m, k { a = m - 1 b = k + 2 yield a, b, () }
            p = length(us)
            return k, p
        }
        entry f = f";
    let loops =
        |text: &str| crate::loops::print(&crate::lower::lower(&wengert_ir::parse(text).expect("a program")));
    assert!(!loops(text).contains("] = 0"), "{}", loops(text));
    gives(text, &[Value::Int(100)], &[Value::Int(200), Value::Int(100)]);
    gives(text, &[Value::Int(0)], &[Value::Int(0), Value::Int(0)]);
    let seen = text.replace("-> (Int, Int)", "-> (Int, []Unit)").replace("return k, p", "return p, us");
    assert!(loops(&seen).contains("] = 0"), "{}", loops(&seen));
    // The count is limited by the memory that there would have to be.
    let endless = text.replace("c = m > 0", "c = m > -1").replace("a = m - 1", "a = m + 1");
    assert!(matches!(fault(&endless, &[Value::Int(1)]), Fault::Memory { .. }));
}

#[test]
fn a_constructor_of_a_tape_that_only_holds_another_is_that() {
    let text = r"
        residual Maybe { Nothing(); Just(Tape) }
        residual Tape { End(Real); More([]Maybe, Real) }
        func make(n: Int, x: Real) -> Maybe {
            none = n < 0
            t = if none { a = Nothing() yield a } else {
                end = n == 0
                u = if end { e = End(x) yield e } else {
                    ts = each i < 3 { k = n - i m = k - 1 y = real(m) u = make(m, y) yield u }
                    b = More(ts, x)
                    yield b
                }
                j = Just(u)
                yield j
            }
            return t
        }
        func back(t: Maybe, w: Real) -> Real {
            s = match t {
                Nothing() { yield w }
                Just(u) {
                    p = match u {
                        End(x) { p = x * w yield p }
                        More(ts, x) {
                            n = length(ts)
                            q = for i < n, q = x, t in ts { r = back(t, w) v = q + r yield v }
                            yield q
                        }
                    }
                    yield p
                }
            }
            return s
        }
        func f(n: Int, x: Real) -> (Real, Real, Bool) {
            t = make(n, x)
            a = back(t, 1.0)
            some = match t { Nothing() { yield false } Just(u) { yield true } }
            b = back(t, 2.0)
            return a, b, some
        }
        entry f = f";
    let program = wengert_ir::parse(text).expect("a program");
    let loops = crate::loops::print(&crate::lower::lower(&program));
    // An end, an array and a node, and nothing around them.
    assert_eq!(loops.matches("= alloc(").count(), 3, "{loops}");
    let entry = *program.entries.values().next().expect("it has an entry");
    for n in [-1, 0, 1, 4] {
        let args = [Value::Int(n), real(1.5)];
        let expected = wengert_ir::eval::Evaluator::new(&program, wengert_ir::eval::Limits::default())
            .call(entry, args.to_vec())
            .expect("it runs");
        gives(text, &args, &expected);
    }
}

#[test]
fn constructors_around_and_inside_of_what_is_no_object_are_told_apart() {
    // `Outer` has its own numbers and objects beside those of `Inner`, and that beside those of `Tape`.
    let text = r"
        residual Outer { Far(Real, Real); Held(Inner); Nothing(); Further(Real) }
        residual Inner { Near(Int); Kept(Tape); None() }
        residual Tape { End(); More([]Outer, Real); Last(Real) }
        func make(n: Int, x: Real) -> Outer {
            which = n % 7
            far = which == 1
            t = if far { a = Far(x, 2.0) yield a } else {
                nothing = which == 2
                t = if nothing { a = Nothing() yield a } else {
                    further = which == 3
                    t = if further { a = Further(x) yield a } else {
                        near = which == 4
                        i = if near { i = Near(n) yield i } else {
                            none = which == 5
                            i = if none { i = None() yield i } else {
                                small = n < 1
                                u = if small {
                                    end = n == 0
                                    u = if end { e = End() yield e } else { e = Last(x) yield e }
                                    yield u
                                } else {
                                    ts = each i < 4 { k = n - i m = k - 1 y = real(m) u = make(m, y) yield u }
                                    b = More(ts, x)
                                    yield b
                                }
                                j = Kept(u)
                                yield j
                            }
                            yield i
                        }
                        o = Held(i)
                        yield o
                    }
                    yield t
                }
                yield t
            }
            return t
        }
        func back(t: Outer, w: Real) -> Real {
            s = match t {
                Far(x, y) { s = x * y yield s }
                Held(i) {
                    r = match i {
                        Near(n) { s = real(n) t = s * w yield t }
                        Kept(u) {
                            p = match u {
                                End() { yield w }
                                More(ts, x) {
                                    n = length(ts)
                                    q = for i < n, q = x, t in ts { r = back(t, w) v = q + r yield v }
                                    yield q
                                }
                                Last(x) { p = x - w yield p }
                            }
                            yield p
                        }
                        None() { s = w * 3.0 yield s }
                    }
                    yield r
                }
                Nothing() { s = w * 5.0 yield s }
                Further(x) { s = x * 7.0 yield s }
            }
            return s
        }
        func f(n: Int, x: Real) -> (Real, Real, Int) {
            t = make(n, x)
            a = back(t, 1.0)
            kind = match t { Far(x, y) { yield 0 } Held(i) { k = match i { Near(n) { yield n } Kept(u) { yield 100 } None() { yield 200 } } yield k } Nothing() { yield 2 } Further(x) { yield 3 } }
            b = back(t, 2.0)
            return a, b, kind
        }
        entry f = f";
    let program = wengert_ir::parse(text).expect("a program");
    let loops = crate::loops::print(&crate::lower::lower(&program));
    // Two of `Outer`, one of `Inner`, two of `Tape`, and an array; nothing that only holds another.
    assert_eq!(loops.matches("= alloc(").count(), 6, "{loops}");
    let entry = *program.entries.values().next().expect("it has an entry");
    for n in -7..=14 {
        let args = [Value::Int(n), real(1.5)];
        let expected = wengert_ir::eval::Evaluator::new(&program, wengert_ir::eval::Limits::default())
            .call(entry, args.to_vec())
            .expect("it runs");
        gives(text, &args, &expected);
    }
}

#[test]
fn what_holds_itself_is_an_object() {
    let text = r"
        residual List { End(Real); Next(List) }
        residual A { EndA(Real); ToB(B) }
        residual B { EndB(Real); ToA(A) }
        func f(n: Int, x: Real) -> Real {
            l = End(x)
            m = for i < n, l = l { m = Next(l) yield m }
            a = EndA(x)
            b = for i < n, a = a { b = ToA(a) c = ToB(b) yield c }
            p = depth(m)
            q = down(b)
            r = p + q
            return r
        }
        func depth(l: List) -> Real { r = match l { End(x) { yield x } Next(m) { d = depth(m) e = d + 1.0 yield e } } return r }
        func down(a: A) -> Real {
            r = match a { EndA(x) { yield x } ToB(b) { c = match b { EndB(x) { yield x } ToA(a) { d = down(a) e = d + 10.0 yield e } } yield c } }
            return r
        }
        entry f = f";
    for n in [0, 1, 3] {
        gives(text, &[Value::Int(n), real(0.5)], &[real(1.0 + 11.0 * n as f64)]);
    }
}
