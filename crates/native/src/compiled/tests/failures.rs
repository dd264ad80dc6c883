//! Programs that fail, or do not end.

use super::{compiled, fault, real};
use crate::compiled::Compiled;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use wengert_fault::Fault;
use wengert_ir::eval::Value;

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

/// However often a call fails: what it has made is given up, and what was loaded before.
#[test]
fn what_fails_leaves_nothing_in_memory() {
    let text = r#"
        data List { Nil() Cons([]Real, List) }
        func f(n: Int) -> Real {
            xs = each i < 20000 { x = real(i) yield x }
            nil = Nil()
            list = Cons(xs, nil)
            r = match list { Nil() { yield 0.0 } Cons(ys, rest) { y = ys[n] yield y } }
            s = match list { Nil() { yield r } Cons(ys, rest) { y = ys[1] t = y + r yield t } }
            return s
        }
        entry f = f"#;
    let mut program = compiled(text);
    let entry = *program.program().entries.values().next().expect("it has an entry");
    assert!(program.call(entry, &[Value::Int(7)]).expect("it runs").iter().all(|x| x.same(&real(8.0))));
    let words = program.words_in_use();
    let mut loaded = program.load(entry, &[Value::Int(2)]).expect("there is room");
    for _ in 0..20 {
        let failure = program.call(entry, &[Value::Int(20_000)]).expect_err("it fails");
        assert_eq!(failure.fault, Fault::Index { index: 20_000, size: 20_000 });
    }
    assert_eq!(program.words_in_use(), words);
    assert!(program.peak_bytes() >= 160_000);
    assert!(program.call_loaded(&mut loaded).is_err());
    program.forget(&mut loaded);
    program.unload(loaded);
    let mut loaded = program.load(entry, &[Value::Int(2)]).expect("there is room");
    assert!(program.call_loaded(&mut loaded).is_ok());
    assert!(program.read(&mut loaded).iter().all(|x| x.same(&real(3.0))));
}
