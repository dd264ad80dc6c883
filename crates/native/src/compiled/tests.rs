//! Small programs in the text form of the IR, compiled and called.

use super::Compiled;
use crate::loops::Failure;
use std::sync::Arc;

fn compiled(text: &str) -> Compiled {
    let program = wengert_ir::parse::parse(text).expect("the text is a program");
    assert_eq!(wengert_ir::verify::verify(&program), Ok(()));
    Compiled::new(&program, 1 << 32, Arc::default()).expect("it compiles")
}

fn real(x: f64) -> u64 {
    x.to_bits()
}

fn call(text: &str, args: &[u64]) -> Vec<u64> {
    let mut compiled = compiled(text);
    let entry = *compiled.entries.values().next().expect("it has an entry");
    compiled.call_words(entry, args).expect("it runs")
}

fn call_real(text: &str, args: &[f64]) -> f64 {
    let args: Vec<u64> = args.iter().map(|x| x.to_bits()).collect();
    f64::from_bits(call(text, &args)[0])
}

fn failure(text: &str, args: &[u64]) -> (Failure, Vec<i64>) {
    let mut compiled = compiled(text);
    let entry = *compiled.entries.values().next().expect("it has an entry");
    let failed = compiled.call_words(entry, args).expect_err("it fails");
    (failed.failure, failed.numbers.iter().map(|n| *n as i64).collect())
}

#[test]
fn arithmetic() {
    let text = "func f(x: Real, y: Real) -> Real { a = x + 1.0 b = x * y c = sin(b) d = a / c return d } entry f = f";
    assert_eq!(call_real(text, &[2.0, 3.0]), 3.0 / 6.0_f64.sin());
    let text = "func f(x: Real) -> (Real, Real, Int) { a = x ^ 3 b = abs(x) n = floor(x) return a, b, n } entry f = f";
    assert_eq!(call(text, &[real(-2.5)]), [real(-15.625), real(2.5), -3_i64 as u64]);
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
    assert_eq!(f64::from_bits(call(text, &[1_000_000])[0]), 500_000_500_000.0);
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
    assert_eq!(call(text, &[4]), [real(14.0), real(5.0)]);
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
            return u2
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
    let text = text.replace("return u2", "return s");
    assert_eq!(f64::from_bits(call(&text, &[1_000_000])[0]), 1_000_001_000_000.0);
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
    assert_eq!(call(text, &[3]), [real(1.0), real(6.0)]);
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
    assert_eq!(call(text, &[real(1.0)]), [real(1024.0), 10, real(1023.0)]);
}

#[test]
fn failures_say_what_and_where() {
    let text = "func f(n: Int) -> Int { xs = iota(3) x = xs[n] return x } entry f = f";
    assert_eq!(failure(text, &[7]), (Failure::Index, vec![7, 3]));
    let text = "func f(n: Int) -> Int { x = 1 / n return x } entry f = f";
    assert!(matches!(failure(text, &[0]), (Failure::Division(_), numbers) if numbers == [1, 0]));
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
    let entry = *compiled.entries.values().next().expect("it has an entry");
    let failed = compiled.call_words(entry, &[1]).expect_err("the stack is full");
    assert_eq!(failed.failure, Failure::Memory);
    assert_eq!(compiled.call_words(entry, &[0]), Ok(vec![1]));
}
