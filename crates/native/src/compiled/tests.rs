//! Small programs in the text form of the IR, compiled and called.

use super::Compiled;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use wengert_fault::Fault;
use wengert_ir::eval::Value;

fn compiled(text: &str) -> Compiled {
    let program = wengert_ir::parse::parse(text).expect("the text is a program");
    assert_eq!(wengert_ir::verify::verify(&program), Ok(()));
    Compiled::new(program, 1 << 32, Arc::default()).expect("it compiles")
}

fn real(x: f64) -> Value {
    Value::Real(x)
}

/// Calls the entry twice: a run leaves nothing behind.
fn call(text: &str, args: &[Value]) -> Vec<Value> {
    let mut compiled = compiled(text);
    let entry = *compiled.program().entries.values().next().expect("it has an entry");
    let first = compiled.call(entry, args).expect("it runs");
    let words = compiled.words_in_use();
    let second = compiled.call(entry, args).expect("it runs");
    assert!(first.iter().zip(&second).all(|(a, b)| a.same(b)));
    assert_eq!(compiled.words_in_use(), words, "something was not freed");
    first
}

fn gives(text: &str, args: &[Value], expected: &[Value]) {
    let given = call(text, args);
    assert!(given.len() == expected.len() && given.iter().zip(expected).all(|(a, b)| a.same(b)), "{given:?}");
}

fn fault(text: &str, args: &[Value]) -> Fault {
    let mut compiled = compiled(text);
    let entry = *compiled.program().entries.values().next().expect("it has an entry");
    compiled.call(entry, args).expect_err("it fails").fault
}

#[test]
fn arithmetic() {
    let text = "func f(x: Real, y: Real) -> Real { a = x + 1.0 b = x * y c = sin(b) d = a / c return d } entry f = f";
    gives(text, &[real(2.0), real(3.0)], &[real(3.0 / wengert_prim::RealOp::Sin.eval1(6.0))]);
    let text = "func f(x: Real) -> (Real, Real, Int) { a = x ^ 3 b = abs(x) n = floor(x) return a, b, n } entry f = f";
    gives(text, &[real(-2.5)], &[real(-15.625), real(2.5), Value::Int(-3)]);
}

#[test]
fn quotients_by_powers_of_two_keep_every_bit() {
    // Of the last two, the reciprocal has fewer bits or is no number.
    for by in [
        "2.0",
        "0.25",
        "-8.0",
        "3.0",
        "0.0",
        "1e308",
        "1.1125369292536007e-308",
        "8.98846567431158e307",
        "5e-324",
    ] {
        let text = format!("func f(x: Real) -> Real {{ y = x / {by} return y }} entry f = f");
        let divisor: f64 = by.parse().expect("it is a number");
        let some =
            [1.0, -0.0, 0.1, 5e-324, 1.5e-323, f64::MIN_POSITIVE, f64::MAX, -1e-300, f64::INFINITY, f64::NAN];
        for x in some {
            gives(&text, &[real(x)], &[real(x / divisor)]);
        }
    }
}

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
fn recursion_a_million_deep() {
    let text = r"
        func upto(n: Int) -> Real {
            done = n == 0
            s = if done { yield 0.0 } else { m = n - 1 rest = upto(m) x = real(n) t = x + rest yield t }
            return s
        }
        entry upto = upto";
    gives(text, &[Value::Int(1_000_000)], &[real(500_000_500_000.0)]);
}

#[test]
fn loops_and_arrays() {
    let text = r"
        func f(n: Int) -> (Real, Real) {
            xs = each i < n { x = real(i) y = x * x yield y }
            s = for i < n, s = 0.0, x in xs { t = s + x yield t }
            ys = each i < n, x in xs { row = each j < 3 { b = real(j) c = x + b yield c } yield row }
            e = ys[2, 1]
            return s, e
        }
        entry f = f";
    gives(text, &[Value::Int(4)], &[real(14.0), real(5.0)]);
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

/// Rows that come out of branches are made where they belong too: nothing is made but `xs` and `ys`.
#[test]
fn rows_of_branches_are_made_in_their_places() {
    let text = r"
        func f(n: Int) -> (Real, Real, Real, Real) {
            xs = [2.0, 3.0]
            m = length(xs)
            ys = each i < n {
                first = i == 0
                row = if first {
                    yield xs
                } else {
                    second = i == 1
                    other = if second {
                        z = zeros(xs)
                        yield z
                    } else {
                        scaled = each j < m, x in xs { f = real(i) y = x * f yield y }
                        yield scaled
                    }
                    yield other
                }
                yield row
            }
            a = ys[0, 1]
            b = ys[1, 0]
            c = ys[2, 1]
            d = ys[3, 0]
            return a, b, c, d
        }
        entry f = f";
    let program = wengert_ir::parse(text).expect("a program");
    let loops = crate::loops::print(&crate::lower::lower(&program));
    assert_eq!(loops.matches("= alloc(").count(), 2, "{loops}");
    gives(text, &[Value::Int(4)], &[real(3.0), real(0.0), real(6.0), real(6.0)]);
}

/// Arrays that a loop makes, shifted by a place, are not copied: the number beside them goes where there is room for it.
#[test]
fn shifted_arrays_are_not_copied() {
    let text = |more: &str| {
        format!(
            "func f(n: Int, xs: []Real) -> (Real, Real, Real) {{
                m = n - 1
                ys, zs = each i < n, x in xs {{ y = x * 2.0 z = x * 3.0 yield y, z }}
                one = [1.0]
                before = slice(ys, 0, m)
                as = concat(one, before)
                two = [5.0, 7.0]
                after = slice(ys, 1, n)
                bs = concat(after, two)
                {more}
                s = for j < n, s0 = 0.0, a in as, y2 in ys {{ t = a * y2 s1 = s0 + t yield s1 }}
                b = bs[n]
                c = last[0]
                return s, b, c
            }}
            entry f = f"
        )
    };
    for (more, copies) in [
        ("last = concat(one, zs)", 0),
        // Of the room before an array there is one.
        ("nine = [9.0] last = concat(nine, before)", 2),
        // Another array is none of a loop.
        ("part = slice(xs, 0, m) last = concat(one, part)", 2),
        // It does not begin at its first element.
        ("part = slice(zs, 1, n) last = concat(one, part)", 2),
        // It is given away.
        ("ws = set(zs, 0, 2.0) last = concat(one, zs)", 3),
    ] {
        let text = text(more);
        let program = wengert_ir::parse(&text).expect("a program");
        assert_eq!(wengert_ir::verify(&program), Ok(()), "{text}");
        let loops = crate::loops::print(&crate::lower::lower(&program));
        assert_eq!(loops.matches("copy_words(").count(), copies, "{more}: {loops}");
        let entry = *program.entries.values().next().expect("it has an entry");
        for size in [1, 2, 9, 40] {
            let xs = Value::reals((0..size).map(|i| f64::from(i) + 0.5).collect::<Vec<f64>>());
            let args = [Value::Int(i64::from(size)), xs];
            let expected = wengert_ir::eval::Evaluator::new(&program, wengert_ir::eval::Limits::default())
                .call(entry, args.to_vec())
                .expect("it runs");
            gives(&text, &args, &expected);
        }
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
fn while_loops_collect_rows() {
    let text = r"
        func f(x: Real) -> (Real, Int, Real) {
            y, ys = while v = x { c = v < 1000.0 yield c } do u { w = u * 2.0 yield w, u }
            n = length(ys)
            s = sum(ys)
            return y, n, s
        }
        entry f = f";
    gives(text, &[real(1.0)], &[real(1024.0), Value::Int(10), real(1023.0)]);
}

#[test]
fn failures_say_what_and_where() {
    let text = "func f(n: Int) -> Int { xs = iota(3) x = xs[n] return x } entry f = f";
    assert_eq!(fault(text, &[Value::Int(7)]), Fault::Index { index: 7, size: 3 });
    let text = "func f(n: Int) -> Int { x = 1 / n return x } entry f = f";
    assert_eq!(fault(text, &[Value::Int(0)]), Fault::Division { function: "/".into(), dividend: 1 });
}

#[test]
fn endless_recursion_fails_and_the_program_can_be_called_again() {
    let text = r"
        func f(n: Int) -> Int {
            zero = n == 0
            r = if zero { yield 1 } else { m = n + 1 r = f(m) s = r + 1 yield s }
            return r
        }
        entry f = f";
    let mut compiled = compiled(text);
    let entry = *compiled.program().entries.values().next().expect("it has an entry");
    let stopped = compiled.call(entry, &[Value::Int(1)]).expect_err("the stack is full");
    assert!(matches!(stopped.fault, Fault::Memory { .. }));
    assert!(matches!(compiled.call(entry, &[Value::Int(0)]).as_deref(), Ok([Value::Int(1)])));
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

#[test]
fn sizes_whose_product_no_integer_holds_are_too_much_memory() {
    let text = r"
        func f(n: Int, m: Int) -> [][]Real {
            xs = each i < n { row = each j < m { yield 1.0 } yield row }
            return xs
        }
        entry f = f";
    let wrapping = [Value::Int(1 << 43), Value::Int(1 << 21)];
    assert!(matches!(fault(text, &wrapping), Fault::Memory { .. }));
    assert!(matches!(fault(text, &[Value::Int(1 << 40), Value::Int(1 << 40)]), Fault::Memory { .. }));
}

#[test]
fn endless_loops_are_stopped_from_outside() {
    let programs = [
        "func f() -> Int { r = f() return r } entry f = f",
        "func f() -> Int { r = while x = 0 { yes = x == x yield yes } do x2 { y = x2 + 1 yield y } return r } entry f = f",
    ];
    for text in programs {
        let program = wengert_ir::parse::parse(text).expect("the text is a program");
        let stopped = Arc::new(AtomicU64::new(0));
        let mut compiled = Compiled::new(program, 1 << 30, stopped.clone()).expect("it compiles");
        let entry = *compiled.program().entries.values().next().expect("it has an entry");
        let watch = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(20));
            stopped.store(1, Ordering::Relaxed);
        });
        let failure = compiled.call(entry, &[]).expect_err("it is stopped");
        assert!(matches!(failure.fault, Fault::Interrupted), "{failure:?}");
        watch.join().expect("nothing goes wrong in it");
    }
}

#[test]
fn values_go_in_and_come_out() {
    let text = r"
        data List { Nil(); Cons(Real, Text, List) }
        func f(l: List, xs: [][]Real) -> (List, [][]Real, Real) {
            s = match l { Nil() { yield 0.0 } Cons(x, t, rest) { yield x } }
            ys = set(xs, 1, 0, s)
            y = xs[1, 0]
            return l, ys, y
        }
        entry f = f";
    let mut list = Value::data(0, []);
    for i in 0..1_000_000 {
        list = Value::data(1, [real(f64::from(i)), Value::text("é"), list]);
    }
    let matrix = |x: f64| Value::array([2, 2], wengert_ir::eval::Items::Reals(vec![1.0, 2.0, x, 4.0]));
    gives(text, &[list.clone(), matrix(3.0)], &[list, matrix(999_999.0), real(3.0)]);
}

#[test]
fn arrays_are_handed_through_calls_of_itself() {
    let text = r"
        data Tree { Leaf(Real); Name(Text); Node(Tree, Tree); Wrap(Tree) }
        func fill(t: Tree, out: []Real, at: Int) -> ([]Real, Int) {
            o, p = match t {
                Leaf(x) { a = set(out, at, x) b = at + 1 yield a, b }
                Name(s) { yield out, at }
                Node(l, r) { a, b = fill(l, out, at) c, d = fill(r, a, b) yield c, d }
                Wrap(l) { a, b = fill(l, out, at) yield a, b }
            }
            return o, p
        }
        func f(t: Tree) -> []Real {
            empty_ = replicate(3, 0.0)
            o, p = fill(t, empty_, 0)
            return o
        }
        entry f = f";
    let leaf = |x: f64| Value::data(0, [real(x)]);
    let name = Value::data(1, [Value::text("x")]);
    let tree = Value::data(
        2,
        [Value::data(2, [leaf(1.0), name.clone()]), Value::data(3, [Value::data(2, [leaf(2.0), name])])],
    );
    gives(text, &[tree], &[Value::reals([1.0, 2.0, 0.0])]);
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
fn loaded_arguments_are_called_with_again_and_again() {
    let text = r"
        func down(n: Int, xs: []Real) -> Real {
            t = n == 0
            r = if t { x = xs[0] yield x } else { m = n - 1 y = down(m, xs) z = y + 1.0 yield z }
            return r
        }
        func f(n: Int, xs: []Real) -> ([]Real, Real) {
            y = down(n, xs)
            ys = set(xs, 0, y)
            return ys, y
        }
        entry f = f";
    let mut compiled = compiled(text);
    let entry = *compiled.program().entries.values().next().expect("it has an entry");
    let before = compiled.words_in_use();
    // The first goes deeper than what the stack keeps, the others do not.
    for depth in [1_000_000, 3, 0] {
        let args = [Value::Int(depth), Value::reals([2.5, 1.0])];
        let mut loaded = compiled.load(entry, &args).expect("there is memory");
        for _ in 0..3 {
            compiled.call_loaded(&mut loaded).expect("it runs");
            compiled.forget(&mut loaded);
        }
        compiled.call_loaded(&mut loaded).expect("it runs");
        let y = depth as f64 + 2.5;
        let expected = [Value::reals([y, 1.0]), real(y)];
        assert_eq!(format!("{:?}", compiled.read(&mut loaded)), format!("{expected:?}"));
        compiled.unload(loaded);
        assert_eq!(compiled.words_in_use(), before);
    }
}

#[test]
fn rows_that_are_joined_are_made_in_their_place() {
    let text = r"
        func shifts(xs: []Real, k: Int) -> [][]Real {
            n = length(xs)
            m = n - 1
            out = each i < k {
                first = [1.0]
                rest = slice(xs, 0, m)
                row = concat(first, rest)
                yield row
            }
            return out
        }
        entry shifts = shifts";
    let loops = crate::loops::print(&crate::lower::lower(&wengert_ir::parse(text).expect("a program")));
    // One copy of each part, none of the row.
    assert_eq!(loops.matches("copy_words").count(), 2, "{loops}");
    let xs = Value::reals([2.0, 3.0, 4.0]);
    let given = call(text, &[xs, Value::Int(2)]);
    assert_eq!(
        given.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["[[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]"]
    );
    let none = Value::reals([]);
    let given = call(text, &[none.clone(), Value::Int(0)]);
    assert_eq!(given.iter().map(ToString::to_string).collect::<Vec<_>>(), ["[]"]);
    assert_eq!(fault(text, &[none, Value::Int(1)]).message(), "`slice xs 0 -1`: the array has 0 elements");
}

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

/// Zeros to which a product is added at once are filled in where the product is made; not if somebody looks at them before or after,
/// and not where they may be another array's.
#[test]
fn zeros_that_only_a_product_is_added_to_are_not_filled_first() {
    let text = |more: &str, result: &str| {
        format!(
            "func f(x: []Real, y: []Real, z: []Real, w: Bool) -> ([][]Real, Real) {{
                n = length(x)
                m = length(y)
                row = replicate(m, 0.0)
                zeros = replicate(n, row)
                {more}
                p = add_product_backward({result}, x, z)
                some = p[0, 0]
                return p, some
            }}
            entry f = f"
        )
    };
    let row = |xs: &[f64]| Value::reals(xs.to_vec());
    let long: Vec<f64> = (0..40).map(|i| f64::from(i) - 3.5).collect();
    for (more, result, fills) in [
        // That of the row, and of the matrix where the sizes differ.
        ("", "zeros", 2),
        ("before = sin(0.5)", "zeros", 2),
        // What it is added to was looked at: it is filled before, and not filled where the sizes differ.
        ("seen = zeros[0, 0] other = set(zeros, 0, 0, seen)", "other", 2),
        ("view = zeros[0] seen = sum(view) other = set(zeros, 0, 0, seen)", "other", 2),
        ("one = if w { yield zeros } else { yield zeros }", "one", 2),
        ("one = set(zeros, 0, 0, 2.0)", "zeros", 2),
    ] {
        let text = text(more, result);
        let program = wengert_ir::parse(&text).expect("a program");
        assert_eq!(wengert_ir::verify(&program), Ok(()), "{text}");
        let loops = crate::loops::print(&crate::lower::lower(&program));
        assert_eq!(loops.matches("zero_words(").count(), fills, "{more}: {loops}");
        let first = loops.find("add_product(").expect("a product");
        let before = loops.get(..first).map_or(0, |text| text.matches("zero_words(").count());
        assert_eq!(before == 1, matches!(more, "" | "before = sin(0.5)"), "{more}: {loops}");
        let entry = *program.entries.values().next().expect("it has an entry");
        for (x, y, z) in [
            (row(&[1.0, -2.0]), row(&[3.0, 0.0]), row(&[3.0, f64::INFINITY])),
            (row(&[0.0, -2.0]), row(&long), row(&long)),
            (row(&long), row(&long), row(&long)),
            (row(&long), row(&[1.0, 2.0, 3.0]), row(&long)),
        ] {
            let args = [x, y, z, Value::Bool(true)];
            let expected = wengert_ir::eval::Evaluator::new(&program, wengert_ir::eval::Limits::default())
                .call(entry, args.to_vec())
                .expect("it runs");
            gives(&text, &args, &expected);
        }
    }
}

/// Arms that only fail free nothing, for a run that fails gives up all that it has; and those that fail alike are one.
#[test]
fn arms_that_fail_alike_are_made_once() {
    let text = r#"
        data Shape { Point() Circle(Real) Square([]Real) Pair(Shape, Shape) }
        func f(n: Int) -> Real {
            x = 2.0
            xs = [x, x]
            circle = Circle(x)
            is_circle = n == 1
            s = if is_circle { yield circle } else {
                is_square = n == 2
                s = if is_square { s = Square(xs) yield s } else {
                    is_pair = n == 3
                    s = if is_pair { s = Pair(circle, circle) yield s } else { s = Point() yield s }
                    yield s
                }
                yield s
            }
            r = match s {
                Point() { r: Real = fail("none") yield r }
                Circle(x) { r = x + x yield r }
                Square(xs) { r: Real = fail("none") yield r }
                Pair(a, b) { r: Real = fail("none") yield r }
            }
            return r
        }
        entry f = f"#;
    let mut program = compiled(text);
    let entry = *program.program().entries.values().next().expect("it has an entry");
    for _ in 0..2 {
        for n in [0, 2, 3] {
            let failure = program.call(entry, &[Value::Int(n)]).expect_err("it fails");
            assert_eq!(failure.fault, Fault::Failed { message: "none".into() });
        }
        assert!(program.call(entry, &[Value::Int(1)]).expect("it runs").iter().all(|x| x.same(&real(4.0))));
    }
}
