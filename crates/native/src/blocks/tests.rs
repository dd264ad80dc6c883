//! Programs with loops that are cut, beside themselves uncut, and what the cut ones look like.

use super::split;
use crate::{Compiled, Math};
use expect_test::expect;
use std::sync::Arc;
use wengert_fault::Fault;
use wengert_ir::eval::{Array, Items, Value};

fn compiled(text: &str, math: Math) -> Compiled {
    let program = wengert_ir::parse::parse(text).expect("the text is a program");
    assert_eq!(wengert_ir::verify::verify(&program), Ok(()));
    Compiled::with_math(program, math, 1 << 32, Arc::default()).expect("it compiles")
}

/// The results, or the fault.
fn run(text: &str, math: Math, args: &[Value]) -> Result<Vec<Value>, Fault> {
    let mut compiled = compiled(text, math);
    let entry = *compiled.program().entries.values().next().expect("it has an entry");
    compiled.call(entry, args).map_err(|failure| failure.fault)
}

fn reals(xs: Vec<f64>) -> Value {
    Value::array(vec![xs.len()], Items::Reals(xs))
}

/// The reals that a result is made of.
fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Real(x) => vec![*x],
        Value::Int(n) => vec![*n as f64],
        Value::Array(array) => items(array),
        Value::Unit | Value::Bool(_) | Value::Text(_) | Value::Data(_) => panic!("no numbers"),
    }
}

fn items(array: &Array) -> Vec<f64> {
    match array.items() {
        Items::Reals(xs) => xs.clone(),
        Items::Ints(ns) => ns.iter().map(|n| *n as f64).collect(),
        Items::Bools(_) | Items::Texts(_) | Items::Units(_) | Items::Data(_) => panic!("no numbers"),
    }
}

/// Whether the loop IR of a program has a call of a kernel.
fn is_cut(text: &str) -> bool {
    let program = wengert_ir::parse::parse(text).expect("the text is a program");
    let mut loops = crate::lower::lower(&program);
    crate::memory::mark(&mut loops);
    split(&mut loops);
    crate::loops::print(&loops).contains("map(")
}

/// That cut and uncut loops agree for arrays of many sizes.
fn agrees(text: &str) {
    assert!(is_cut(text), "no loop was cut in {text}");
    for size in [0_usize, 1, 5, 31, 32, 33, 63, 64, 65, 255, 256, 257, 511, 512, 513, 1000, 2049] {
        let xs: Vec<f64> = (0..size).map(|k| (k as f64 * 0.731).sin() * 3.0).collect();
        let args = [reals(xs)];
        let (fast, strict) = (run(text, Math::Fast, &args), run(text, Math::Strict, &args));
        let (fast, strict) = match (fast, strict) {
            (Ok(fast), Ok(strict)) => (fast, strict),
            (fast, strict) => {
                assert_eq!(fast.is_err(), strict.is_err());
                assert_eq!(format!("{:?}", fast.err()), format!("{:?}", strict.err()));
                continue;
            }
        };
        for (fast, strict) in fast.iter().zip(&strict) {
            let (fast, strict) = (numbers(fast), numbers(strict));
            assert_eq!(fast.len(), strict.len());
            for (k, (a, b)) in fast.iter().zip(&strict).enumerate() {
                let near = (a - b).abs() <= 1e-13 * b.abs().max(1.0);
                assert!(near || a.is_nan() && b.is_nan(), "size {size}, {k}: {a} and {b} in {text}");
            }
        }
    }
}

#[test]
fn maps() {
    agrees(
        "func f(xs: []Real) -> []Real {
            n = length(xs)
            ys = each i < n, x in xs { y = exp(x) z = y + x w = sin(z) v = w * y yield v }
            return ys
        }
        entry f = f",
    );
}

#[test]
fn two_arguments_and_the_same_argument_twice() {
    agrees(
        "func f(xs: []Real) -> []Real {
            n = length(xs)
            ys = each i < n, x in xs {
                a = abs(x)
                p = a ** x
                s = sin(x)
                c = cos(x)
                t = atan2(s, c)
                u = p + t
                yield u
            }
            return ys
        }
        entry f = f",
    );
}

#[test]
fn sums_and_extremes() {
    agrees(
        "func f(xs: []Real) -> (Real, Real) {
            n = length(xs)
            m, s = for i < n, m = -1000.0, s = 0.0, x in xs {
                e = exp(x)
                t = s + e
                l = max(m, e)
                yield l, t
            }
            return m, s
        }
        entry f = f",
    );
}

/// What is kept of each iteration of what is carried, beside what functions give.
#[test]
fn what_is_carried_and_stored_waits_for_functions() {
    agrees(
        "func f(xs: []Real) -> (Real, []Real, []Real, []Real) {
            n = length(xs)
            m, ms, cs, bs = for i < n, m = 0.0, x in xs {
                e = sin(x)
                g = m < e
                b = select(g, 1.0, m)
                c = cos(e)
                y = max(m, e)
                z = y * 0.99
                k = i / 2
                w = xs[k]
                v = z + w
                yield v, v, c, b
            }
            return m, ms, cs, bs
        }
        entry f = f",
    );
}

#[test]
fn what_depends_on_the_last_iteration_is_not_cut() {
    let text = "func f(xs: []Real) -> Real {
            n = length(xs)
            s = for i < n, s = 0.0, x in xs { t = s + x u = sin(t) yield u }
            return s
        }
        entry f = f";
    assert!(!is_cut(text));
    agrees(
        "func f(xs: []Real) -> Real {
            n = length(xs)
            s = for i < n, s = 0.0, x in xs { e = exp(x) t = s + e u = sin(t) yield u }
            return s
        }
        entry f = f",
    );
}

#[test]
fn backward_loops() {
    agrees(
        "func f(xs: []Real) -> (Real, []Real) {
            n = length(xs)
            s = for backward i < n, s = 0.0, x in xs { e = exp(x) h = s * 0.5 t = h + e yield t }
            ys = each i < n, x in xs { c = cos(x) r = real(i) y = c * r yield y }
            return s, ys
        }
        entry f = f",
    );
}

#[test]
fn branches_and_integers() {
    agrees(
        "func f(xs: []Real) -> ([]Real, []Int) {
            n = length(xs)
            ys, ks = each i < n, x in xs {
                pos = x > 0.0
                y = if pos { a = x * 2.0 yield a } else { b = x - 1.0 yield b }
                t = tanh(y)
                z = t + y
                g = t * 100.0
                k = floor(g)
                j = k + i
                yield z, j
            }
            return ys, ks
        }
        entry f = f",
    );
}

#[test]
fn indices_out_of_range_fail_as_before() {
    agrees(
        "func f(xs: []Real) -> []Real {
            n = length(xs)
            ys = each i < n, x in xs {
                j = i * 3
                k = j % 1000
                a = xs[k]
                e = exp(a)
                y = e + x
                yield y
            }
            return ys
        }
        entry f = f",
    );
}

#[test]
fn rows() {
    agrees(
        "func f(xs: []Real) -> []Real {
            n = length(xs)
            ys = each i < n, x in xs {
                row = each j < 40 { r = real(j) a = r * x b = sin(a) yield b }
                s = sum(row)
                yield s
            }
            return ys
        }
        entry f = f",
    );
}

#[test]
fn the_scalar_functions_give_the_bits_of_the_kernels() {
    let of_one = "func f(x: Real) -> Real { a = tanh(x) b = exp(a) c = sin(b) return c } entry f = f";
    let of_many = "func f(xs: []Real) -> []Real {
            n = length(xs)
            ys = each i < n, x in xs { a = tanh(x) b = exp(a) c = sin(b) yield c }
            return ys
        }
        entry f = f";
    let xs: Vec<f64> = (0..500).map(|k| f64::from(k) * 0.0137 - 3.0).collect();
    let many = run(of_many, Math::Fast, &[reals(xs.clone())]).expect("it runs");
    for (x, y) in xs.iter().zip(numbers(&many[0])) {
        let one = run(of_one, Math::Fast, &[Value::Real(*x)]).expect("it runs");
        assert_eq!(numbers(&one[0])[0].to_bits(), y.to_bits(), "{x}");
    }
}

#[test]
fn the_example_is_cut_as_the_page_says() {
    let text = "func f(xs: []Real) -> []Real {
            n = length(xs)
            ys = each i < n, x in xs { e = exp(x) y = e + x l = log(y) yield l }
            return ys
        }
        entry f = f";
    let program = wengert_ir::parse::parse(text).expect("the text is a program");
    let mut loops = crate::lower::lower(&program);
    split(&mut loops);
    expect![[r#"
        func f_0(p1: address, i2: int) -> (o0: object) {
            i5 = i2 + 2
            o6 = alloc(i5)
            o6[1] = i2
            p7 = &o6[2]
            i26 = i2 >= 8
            if i26 {
                p17 = scratch(1024)
                p12 = &p17[0]
                p13 = &p17[512]
                i18 = i2 + 511
                i19 = i18 / 512
                for i20 in 0..i19 {
                    i14 = i20 * 512
                    i21 = i2 - i14
                    i15 = min(i21, 512)
                    p22 = &p1[i14]
                    p23 = &p12[0]
                    copy_words(p22, p23, i15)
                    map(0, p12, 0, i15)
                    for i16 in 0..i15 independent {
                        i3 = i14 + i16
                        r8 = real p1[i3]
                        r9 = real p12[i16]
                        r10 = add(r9, r8)
                        p13[i16] = r10
                    }
                    map(3, p13, 0, i15)
                    p24 = &p13[0]
                    p25 = &p7[i14]
                    copy_words(p24, p25, i15)
                }
            }
            else {
                for i3 in 0..i2 independent {
                    r8 = real p1[i3]
                    r9 = exp(r8)
                    r10 = add(r9, r8)
                    r11 = log(r10)
                    p7[i3] = r11
                }
            }
            o0 = o6
        }
    "#]]
    .assert_eq(&crate::loops::print(&loops));
}

#[test]
fn what_no_kernel_waits_for_is_not_kept() {
    let before: String = (0..9).map(|k| format!("a{k} = x * {k}.5 b{k} = a{k} - 1.0 ")).collect();
    let after: String = (1..9).map(|k| format!("s{k} = s{} + b{k} ", k - 1)).collect();
    let text = format!(
        "func f(xs: []Real) -> []Real {{
            n = length(xs)
            ys = each i < n, x in xs {{ {before} e = exp(x) s0 = e * b0 {after} yield s8 }}
            return ys
        }}
        entry f = f"
    );
    agrees(&text);
    // One buffer: what the kernel is given, and gives.
    let program = wengert_ir::parse::parse(&text).expect("the text is a program");
    let mut loops = crate::lower::lower(&program);
    split(&mut loops);
    assert!(crate::loops::print(&loops).contains("scratch(512)"), "{}", crate::loops::print(&loops));
}

/// Small, large and negative exponents, odd and even, of numbers on both sides of zero.
#[test]
fn powers_with_whole_exponents() {
    agrees(
        "func f(xs: []Real) -> []Real {
            n = length(xs)
            h = n / 2
            ys = each i < n, x in xs {
                k = i - h
                b = x < 0.0
                y = select(b, -1.0, 1.0)
                z = x * 0.0078125
                w = y + z
                p = power(w, k)
                yield p
            }
            return ys
        }
        entry f = f",
    );
    let edges = "func f(xs: []Real, k: Int) -> []Real {
        n = length(xs)
        ys = each i < n, x in xs { j = i / n l = j + k p = power(x, l) yield p }
        return ys
    }
    entry f = f";
    assert!(is_cut(edges));
    let xs = [0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 2.0, -2.0, 0.5];
    for exponent in [0, 1, 2, 3, 32, 33, 34, 1001, -1, -2, -31, -33, -34, -1001, i64::MAX, i64::MIN] {
        let args = [reals(xs.repeat(3)), Value::Int(exponent)];
        let given = [Math::Fast, Math::Strict].map(|math| format!("{:?}", run(edges, math, &args)));
        assert_eq!(given[0], given[1], "{exponent}");
    }
}
