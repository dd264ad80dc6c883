//! Small programs in the text form of the IR, as C text, compiled and called. Without a compiler nothing is compiled.

use crate::{Input, Math, source};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use wengert_fault::Fault;
use wengert_ir::eval::{Failure, Value};
use wengert_ir::{FuncId, Program, Ty};
use wengert_native::Compiled;
use wengert_native::library::Made;

mod columns;
mod doubt;
mod extremes;
mod finite;
mod heap;
mod powers;
mod products;
mod slopes;
mod steps;
mod straight;
mod strips;
mod sums;
mod tables;
mod text;
mod threads;
mod trial;
mod waiting;

/// The compiler, if there is one.
fn compiler() -> Option<&'static str> {
    ["cc", "gcc", "clang"].into_iter().find(|cc| Command::new(cc).arg("--version").output().is_ok())
}

/// The place of a new file.
fn place(ending: &str) -> PathBuf {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("wengert-c-{}-{number}.{ending}", std::process::id()))
}

fn kinds(program: &Program, entry: FuncId) -> Vec<wengert_native::loops::Kind> {
    let func = program.funcs.get(entry).expect("the entry is there");
    let types: Vec<Ty> = func.param_types().into_iter().chain(func.results.iter().copied()).collect();
    types.into_iter().map(wengert_native::lower::kind).collect()
}

fn with_options(text: &str, math: Math, options: &[&str]) -> Option<(Compiled, FuncId)> {
    let program = wengert_ir::parse::parse(text).expect("the text is a program");
    assert_eq!(wengert_ir::verify::verify(&program), Ok(()));
    let entry = *program.entries.values().next().expect("it has an entry");
    let loops = wengert_native::lower::lower(&program);
    with_loops(program, loops, entry, math, options)
}

/// The same, of loops that were made of the program.
fn with_loops(
    program: Program,
    loops: wengert_native::loops::Program,
    entry: FuncId,
    math: Math,
    options: &[&str],
) -> Option<(Compiled, FuncId)> {
    let cc = compiler()?;
    let input = Input { program: &loops, entries: vec![entry], kinds: kinds(&program, entry) };
    let made = source(&input, math, &|_| None);
    let (from, to) = (place("c"), place("so"));
    std::fs::write(&from, &made.text).expect("there is room");
    let flags = [
        "-std=gnu11",
        "-O2",
        "-Wall",
        "-Werror",
        "-fwrapv",
        "-fno-optimize-sibling-calls",
        "-ffp-contract=off",
        "-fPIC",
        "-shared",
        "-o",
    ];
    let output = Command::new(cc).args(flags).arg(&to).args(options).arg(&from).arg("-lm").output();
    let output = output.expect("the compiler runs");
    assert!(output.status.success(), "{}\n{}", made.text, String::from_utf8_lossy(&output.stderr));
    let parts = Made { program, loops, entries: vec![entry], kinds: made.kinds };
    let library =
        Compiled::open(to.to_str().expect("a path"), parts, 1 << 32, Arc::default()).expect("it opens");
    let _ = (std::fs::remove_file(from), std::fs::remove_file(to));
    Some((library, entry))
}

fn library(text: &str) -> Option<(Compiled, FuncId)> {
    with_options(text, Math::Host, &[])
}

fn real(x: f64) -> Value {
    Value::Real(x)
}

/// Calls the entry twice: a run leaves nothing behind.
fn gives(text: &str, args: &[Value], expected: &[Value]) {
    let Some((mut library, entry)) = library(text) else { return };
    let given = library.call(entry, args).expect("it runs");
    assert!(given.len() == expected.len() && given.iter().zip(expected).all(|(a, b)| a.same(b)), "{given:?}");
    let words = library.words_in_use();
    library.call(entry, args).expect("it runs again");
    assert_eq!(library.words_in_use(), words, "something was not freed");
}

fn failure(text: &str, args: &[Value]) -> Option<Failure> {
    let (mut library, entry) = library(text)?;
    Some(library.call(entry, args).expect_err("it fails"))
}

#[test]
fn arithmetic() {
    let text = "func f(x: Real, y: Real) -> Real { a = x + 1.0 b = x * y c = sin(b) d = a / c return d } entry f = f";
    gives(text, &[real(2.0), real(3.0)], &[real(3.0 / wengert_prim::RealOp::Sin.eval1(6.0))]);
    let text = "func f(x: Real) -> (Real, Real, Int) { a = x ^ 3 b = abs(x) n = floor(x) return a, b, n } entry f = f";
    gives(text, &[real(-2.5)], &[real(-15.625), real(2.5), Value::Int(-3)]);
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
    if let Some((mut library, entry)) = with_options(text, Math::Library, &["-DWG_PORTABLE"]) {
        let given =
            library.call(entry, &[Value::Int(1_000_000)]).expect("it runs on the system's own functions");
        assert!(given.iter().all(|value| value.same(&real(500_000_500_000.0))));
    }
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
    let fault = |text, args: &[Value]| failure(text, args).map(|failure| failure.fault);
    let Some(index) = fault(text, &[Value::Int(7)]) else { return };
    assert_eq!(index, Fault::Index { index: 7, size: 3 });
    let text = "func f(n: Int) -> Int { x = 1 / n return x } entry f = f";
    let division = Fault::Division { function: "/".into(), dividend: 1 };
    assert_eq!(fault(text, &[Value::Int(0)]), Some(division));
    let text =
        "func f(x: Real) -> Int { t = show(x) m = \"no \" ++ t y: Int = fail(m) return y } entry f = f";
    assert_eq!(fault(text, &[real(1.5)]), Some(Fault::Failed { message: "no 1.5".into() }));
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
    for options in [&[][..], &["-DWG_PORTABLE"]] {
        let Some((mut library, entry)) = with_options(text, Math::Host, options) else { return };
        let stopped = library.call(entry, &[Value::Int(1)]).expect_err("the stack is full");
        assert!(matches!(stopped.fault, Fault::Memory { .. }));
        assert!(matches!(library.call(entry, &[Value::Int(0)]).as_deref(), Ok([Value::Int(1)])));
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

/// The entry's results by the interpreter of the IR, and by vectors.
fn is_close(text: &str, args: &[Value]) {
    are_close(text, &[args.to_vec()]);
}

/// The same for several lists of arguments: the C compiler runs once for all.
fn are_close(text: &str, all: &[Vec<Value>]) {
    let Some((mut library, entry)) =
        with_options(text, Math::Library, &["-O3", "-fopenmp-simd", "-march=native"])
    else {
        return;
    };
    are_strict_but_rounded(text, (&mut library, entry), all);
}

/// Whether a library gives what the program gives with nothing made faster.
fn are_strict_but_rounded(text: &str, (library, entry): (&mut Compiled, FuncId), all: &[Vec<Value>]) {
    let Some((mut strict, _)) = with_options(text, Math::Host, &[]) else { return };
    for args in all {
        let (found, expected) = (library.call(entry, args), strict.call(entry, args));
        compare_but_rounded(&found.expect("it runs"), &expected.expect("it runs"));
    }
}

/// Whether the results of two calls are the same but for rounding.
fn compare_but_rounded(found: &[Value], expected: &[Value]) {
    for (a, b) in found.iter().zip(expected) {
        let real = |value: &Value| if let Value::Real(x) = value { *x } else { f64::NAN };
        let numbers = |value: &Value| -> Vec<f64> {
            let Value::Array(array) = value else { return vec![real(value)] };
            let items = array.items();
            (0..items.len()).filter_map(|place| items.get(place)).map(|item| real(&item)).collect()
        };
        let (a, b) = (numbers(a), numbers(b));
        assert!(a.len() == b.len() && !a.is_empty());
        assert!(a.iter().zip(&b).all(|(x, y)| (x - y).abs() <= 1e-11 * y.abs().max(1.0)), "{a:?}\n{b:?}");
    }
}

#[test]
fn sums_in_any_order_are_the_same_but_for_rounding() {
    let xs = Value::reals((0..1000).map(|i| f64::from(i) * 0.37 - 100.0).collect::<Vec<_>>());
    let scan = r"
        func f(xs: []Real) -> (Real, Real, []Real) {
            n = length(xs)
            s, q, out = for i < n, s = 0.0, q = 1.0, x in xs {
                t = s + x
                y = x * x
                u = q + y
                yield t, u, t
            }
            return s, q, out
        }
        entry f = f";
    is_close(scan, std::slice::from_ref(&xs));
    let sum_of_sums = r"
        func f(xs: []Real) -> (Real, Real) {
            n = length(xs)
            s, q = for i < n, s = 0.0, q = 1.0, x in xs { t = s + x u = q + t yield t, u }
            return s, q
        }
        entry f = f";
    is_close(sum_of_sums, std::slice::from_ref(&xs));
    let sine = r"
        func f(xs: []Real) -> (Real, []Real) {
            n = length(xs)
            s = for i < n, s = 2.0, x in xs { y = sin(x) e = y * x t = s + e yield t }
            z = each i < n, x in xs { y = x * 1.0e200 c = cos(y) yield c }
            return s, z
        }
        entry f = f";
    is_close(sine, std::slice::from_ref(&xs));
}

#[test]
fn few_numbers_are_added_one_by_one() {
    let text = r"
        func f(xs: []Real) -> (Real, Real) {
            n = length(xs)
            s = for i < n, s = 0.0, x in xs { y = x * x t = s + y yield t }
            ys = [2.0, 3.0, 4.0]
            q = for i < 3, q = 0.0, y in ys { t = q + y yield t }
            return s, q
        }
        entry f = f";
    let program = wengert_ir::parse::parse(text).expect("the text is a program");
    let loops = wengert_native::lower::lower(&program);
    let entries: Vec<FuncId> = program.entries.values().copied().collect();
    let kinds = entries.iter().flat_map(|entry| kinds(&program, *entry)).collect();
    let made = source(&Input { program: &loops, entries, kinds }, Math::Library, &|_| None);
    // The longer loop is there twice, once in vectors; the one of three is there once and never in vectors.
    assert_eq!(made.text.matches("#pragma omp simd reduction").count(), 1, "{}", made.text);
    assert_eq!(made.text.matches("if (xs_size < 16) {").count(), 1, "{}", made.text);
    let numbers = |count: u32| vec![Value::reals((0..count).map(f64::from).collect::<Vec<_>>())];
    are_close(text, &[0, 1, 15, 16, 17, 40].map(numbers));
}

fn text_of(text: &str, math: Math) -> String {
    let program = wengert_ir::parse::parse(text).expect("the text is a program");
    let loops = wengert_native::lower::lower(&program);
    let entries: Vec<FuncId> = program.entries.values().copied().collect();
    source(&Input { program: &loops, entries, kinds: Vec::new() }, math, &|_| None).text
}

#[test]
fn checks_that_do_not_depend_on_the_iteration_are_made_before_a_loop() {
    let text = r"
        func f(xs: []Real, ys: []Real, k: Int) -> (Real, Real) {
            n = length(xs)
            s = for i < n, s = 0.0, x in xs {
                y = ys[k]
                rows = each j < 2 { t = x * y yield t }
                u = rows[1]
                v = s + u
                yield v
            }
            q = for i < n, q = 0.0 {
                x = xs[i]
                p = x * x
                y = ys[k]
                a = p * y
                b = q + a
                yield b
            }
            return s, q
        }
        entry f = f";
    let made = text_of(text, Math::Host);
    assert_eq!(made.matches("if (WG_RARELY(xs_size > 0 && wg_outside(k, ys_size))) {").count(), 2, "{made}");
    assert_eq!(made.matches("wg_outside(k, ys_size)").count(), 2, "{made}");
    let (xs, ys) = (Value::reals([1.0, 2.0]), Value::reals([3.0]));
    gives(text, &[xs.clone(), ys.clone(), Value::Int(0)], &[real(9.0), real(15.0)]);
    // A loop without iterations checks nothing.
    gives(text, &[Value::reals([]), ys.clone(), Value::Int(7)], &[real(0.0), real(0.0)]);
    if let Some(failure) = failure(text, &[xs, ys, Value::Int(7)]) {
        assert_eq!(failure.fault, Fault::Index { index: 7, size: 1 });
    }
}

#[test]
fn independent_iterations_run_upwards_unless_one_of_them_may_fail() {
    let text = |read: &str| {
        format!(
            "func f(xs: []Real, n: Int) -> []Real {{
                m = length(xs)
                ys = each backward i < m, x in xs {{ k = i * n {read} s = sin(y) yield s }}
                return ys
            }}
            entry f = f"
        )
    };
    let safe = text("y = x * 2.0");
    let made = text_of(&safe, Math::Library);
    assert_eq!((made.matches("i--)").count(), made.matches("wg_sin_main(").count() > 1), (0, true), "{made}");
    is_close(&safe, &[Value::reals([1.0, 2.0, 1e300]), Value::Int(1)]);
    let unsafe_text = text("y = xs[k]");
    assert_eq!(text_of(&unsafe_text, Math::Library).matches("i--)").count(), 1);
    // The last iteration is the first.
    if let Some(failure) = failure(&unsafe_text, &[Value::reals([1.0, 2.0, 3.0]), Value::Int(7)]) {
        assert_eq!(failure.fault, Fault::Index { index: 14, size: 3 });
    }
}

#[test]
fn zeros_stay_strong_where_nobody_looks_for_them_first() {
    let products: String = (0..6)
        .map(|i| format!("a{i} = mul_zero(t{i}, c) b{i} = div_zero(a{i}, d) t{} = b{i} + a{i} ", i + 1))
        .collect();
    let text = format!(
        "func f(n: Int, t0: Real, c: Real, d: Real) -> Real {{
            z = n == 0
            r = if z {{ yield t0 }} else {{ m = n - 1 {products} e = mul_zero(t3, d) g = t6 + e r = f(m, g, c, d) yield r }}
            return r
        }}
        entry f = f"
    );
    // The run is there twice, once with plain products.
    let made = text_of(&text, Math::Library);
    let (products, checks) = (made.matches("wg_mul_zero(").count(), made.matches(" != 0.0)) {").count());
    assert_eq!((checks, products > 7), (1, true), "{made}");
    assert_eq!(text_of(&text, Math::Host).matches(" != 0.0)) {").count(), 0);
    let Some((mut fast, entry)) = with_options(&text, Math::Library, &["-O3"]) else { return };
    let Some((mut strict, _)) = with_options(&text, Math::Host, &[]) else { return };
    let numbers = [0.0, -0.0, 1.0, -0.5, f64::INFINITY, f64::NAN, 1e200];
    for t in numbers {
        for (c, d) in numbers.into_iter().flat_map(|c| numbers.map(|d| (c, d))) {
            let args = [Value::Int(2), real(t), real(c), real(d)];
            let (a, b) =
                (fast.call(entry, &args).expect("it runs"), strict.call(entry, &args).expect("it runs"));
            let [Value::Real(a), Value::Real(b)] =
                [a.first(), b.first()].map(|x| x.cloned().unwrap_or(Value::Unit))
            else {
                continue;
            };
            assert!(
                a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= 1e-13 * b.abs(),
                "{t} {c} {d}: {a} {b}"
            );
        }
    }
}

#[test]
fn checks_stay_behind_what_may_fail_first() {
    let text = r"
        func f(xs: []Real, ys: []Real, places: []Int, k: Int) -> Real {
            n = length(places)
            s = for i < n, s = 0.0, place in places {
                x = xs[place]
                y = ys[k]
                t = x * y
                u = s + t
                yield u
            }
            return s
        }
        entry f = f";
    let args = [Value::reals([1.0]), Value::reals([2.0]), Value::ints([5]), Value::Int(9)];
    if let Some(failure) = failure(text, &args) {
        assert_eq!(failure.fault, Fault::Index { index: 5, size: 1 });
    }
}

#[test]
fn loops_with_many_checks_run_without_them() {
    let reads: String = (0..20).map(|i| format!("a{i} = xs{i}[i] t{} = t{i} + a{i} ", i + 1)).collect();
    let params: String = (0..20).map(|i| format!("xs{i}: []Real, ")).collect();
    let text = format!(
        "func f({params} n: Int) -> Real {{ s = for i < n, t0 = 0.0 {{ {reads} yield t20 }} return s }} entry f = f"
    );
    let made = text_of(&text, Math::Host);
    let guard = made.lines().find(|line| line.trim_start().starts_with("if (WG_USUALLY(wg_inside"));
    assert_eq!(guard.map(|line| line.matches("wg_inside(").count()), Some(20), "{made}");
}

#[test]
fn tangents_are_multiplied_with_reciprocals_unless_strict() {
    let text = r"
        func f(x: Real, y: Real, d: Real) -> (Real, Real, Real, Real, Real) {
            a = div_zero(x, d)
            b = div_zero(y, d)
            c = x / d
            e = mul_zero(x, d)
            g = y / d
            return a, b, c, e, g
        }
        entry f = f";
    // One reciprocal for two tangents; other quotients are not touched.
    let fast = text_of(text, Math::Library);
    let counts = ["1.0 / d", "wg_times_over(", " / d;", "x / d"].map(|what| fast.matches(what).count());
    assert_eq!(counts, [1, 3, 3, 1], "{fast}");
    assert!(!text_of(text, Math::Host).contains("1.0 / d"));
    let Some((mut strict, entry)) = with_options(text, Math::Host, &[]) else { return };
    let Some((mut fast, _)) = with_options(text, Math::Library, &["-O3", "-fno-trapping-math"]) else {
        return;
    };
    let numbers = [0.0, -0.0, 1.0, -3.0, f64::INFINITY, f64::NAN, 1e-300];
    for (x, d) in numbers.into_iter().flat_map(|x| numbers.map(|d| (x, d))) {
        let (args, expected) = ([real(x), real(2.0), real(d)], strong(x, 2.0, d));
        let given = strict.call(entry, &args).expect("it runs");
        assert!(
            given.iter().zip(&expected).all(|(a, b)| a.same(&real(*b))),
            "{x} {d}: {given:?} {expected:?}"
        );
        let given = fast.call(entry, &args).expect("it runs");
        let close = |a: &Value, b: f64| {
            matches!(a, Value::Real(a) if (a - b).abs() <= 1e-15 * b.abs()) || a.same(&real(b))
        };
        assert!(given.iter().zip(&expected).all(|(a, b)| close(a, *b)), "{x} {d}: {given:?} {expected:?}");
    }
}

/// What the function above gives, by the interpreter's operations.
fn strong(x: f64, y: f64, d: f64) -> [f64; 5] {
    use wengert_prim::RealOp::{DivZero, MulZero};
    [DivZero.eval2(x, d), DivZero.eval2(y, d), x / d, MulZero.eval2(x, d), y / d]
}

#[test]
fn cells_and_elements_are_added_to_in_any_order() {
    let xs = Value::reals((0..100).map(|i| f64::from(i) * 0.37 - 10.0).collect::<Vec<_>>());
    // Each element is also once the cell.
    let pairs = r"
        func f(xs: []Real) -> []Real {
            n = length(xs)
            zero = zeros(xs)
            out = for i < n, out = zero {
                x = xs[i]
                more = for j < n, acc = out {
                    y = xs[j]
                    d = y - x
                    e = d * d
                    a = add_at(acc, j, e)
                    m = -e
                    h = m * 0.5
                    b = add_at(a, i, h)
                    yield b
                }
                yield more
            }
            return out
        }
        entry f = f";
    is_close(pairs, std::slice::from_ref(&xs));
    // What is added to is also read: the order counts.
    let recurrence = r"
        func f(xs: []Real) -> []Real {
            n = length(xs)
            m = n - 1
            out = for i < m, acc = xs {
                y = acc[i]
                h = y * 0.5
                j = i + 1
                a = add_at(acc, j, h)
                yield a
            }
            return out
        }
        entry f = f";
    is_close(recurrence, std::slice::from_ref(&xs));
    let cell = r"
        func f(xs: []Real) -> []Real {
            n = length(xs)
            out = for i < n, acc = xs {
                y = acc[3]
                h = y * 0.001
                a = add_at(acc, i, h)
                yield a
            }
            return out
        }
        entry f = f";
    is_close(cell, std::slice::from_ref(&xs));
}

#[test]
fn zeros_that_a_product_is_added_to_need_not_be_filled() {
    let text = "func f(x: []Real, y: []Real, z: []Real) -> [][]Real {
            n = length(x)
            m = length(y)
            row = replicate(m, 0.0)
            zeros = replicate(n, row)
            p = add_product_backward(zeros, x, z)
            return p
        }
        entry f = f";
    let program = wengert_ir::parse(text).expect("a program");
    let entry = *program.entries.values().next().expect("it has an entry");
    let row = |xs: &[f64]| Value::reals(xs.to_vec());
    let long: Vec<f64> = (0..40).map(|i| f64::from(i) - 3.0).collect();
    for (x, y, z) in [
        (row(&[1.0, -2.0]), row(&[3.0, 0.0]), row(&[3.0, f64::INFINITY])),
        (row(&[0.0, -2.0]), row(&long), row(&long)),
        (row(&long), row(&long), row(&long)),
        (row(&long), row(&[1.0, 2.0, 3.0]), row(&long)),
    ] {
        let args = [x, y, z];
        let expected = wengert_ir::eval::Evaluator::new(&program, wengert_ir::eval::Limits::default())
            .call(entry, args.to_vec())
            .expect("it runs");
        gives(text, &args, &expected);
    }
}
