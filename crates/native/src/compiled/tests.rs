//! Small programs in the text form of the IR, compiled and called.

mod failures;
mod memory;
mod places;
mod tapes;

use super::Compiled;
use std::sync::Arc;
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
