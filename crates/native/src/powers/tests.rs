//! Powers in loops, beside the evaluator of the IR.

use crate::Math;
use crate::beside::Beside;
use wengert_ir::Program;
use wengert_ir::eval::Value;

/// Powers of some numbers with exponents that are this.
fn program(exponent: &str) -> Program {
    let text = format!(
        "func f(xs: []Real, k: Int) -> ([]Real, Real) {{
            n = length(xs)
            s, ys = for i < n, s = 0.0, x in xs {{
                {exponent}
                p = power(x, e)
                q = abs(p)
                t = s + q
                yield t, p
            }}
            return ys, s
        }}
        entry f = f"
    );
    wengert_ir::parse::parse(&text).expect("the text is a program")
}

/// How many loops, and how many calls of the runtime's function, there are afterwards.
fn loops(program: &Program, fixed: bool) -> (usize, usize) {
    let mut loops = crate::lower::lower(program);
    super::split(&mut loops, fixed);
    let made = crate::loops::print(&loops);
    (made.matches("for ").count(), made.matches("= power(").count())
}

#[test]
fn powers_with_small_exponents_are_products_as_running_tells() {
    let step = ["j = i * 3 l = j - k e = l + 1", "j = 2 - i e = j - k", "e = k * 2", "e = 5 - 9"];
    let other =
        ["e = i * k", "j = i * 1000 e = j + k", "j = i / 2 e = j + k", "j = i + k l = max(j, 0) e = l + 1"];
    for exponent in step {
        assert_eq!(loops(&program(exponent), false), (3, 1), "{exponent}");
        let moves = exponent.contains('i');
        assert_eq!(loops(&program(exponent), true).0, if moves { 1 } else { 3 }, "{exponent}");
    }
    for exponent in other {
        assert_eq!(loops(&program(exponent), false), (1, 1), "{exponent}");
    }
    // What waits for the iteration before gains nothing.
    let waits = "func f(n: Int, x: Real) -> Real { y = for i < n, y = x { p = power(y, i) z = p * 0.5 yield z } return y } entry f = f";
    assert_eq!(loops(&wengert_ir::parse::parse(waits).expect("the text is a program"), false), (1, 1));
    for exponent in step.into_iter().chain(other) {
        let mut beside = Beside::new(&program(exponent), &[Math::Strict, Math::Fast]);
        for count in [0, 1, 2, 3, 7, 11, 12, 22, 23, 35] {
            // Powers of these are exact, or infinite, or zero.
            let edges = [2.0, -2.0, 1.0, -1.0, 0.5, 0.0, -0.0, -0.25, f64::INFINITY, f64::NEG_INFINITY];
            let xs: Vec<f64> = edges.into_iter().cycle().take(count).collect();
            for k in [0, 1, -1, 16, -16, 30, 31, 32, 33, 34, -31, -32, -33, i64::MAX, i64::MIN, i64::MIN + 31]
            {
                let args = [Value::reals(xs.clone()), Value::Int(k)];
                beside.agrees(&args, format_args!("{exponent} {count} {k}"));
            }
        }
    }
}
