//! Functions as the inputs that are differentiated: functionals (`pullback`) against forward mode (`jvp`, which perturbs the
//! function) and difference quotients, for functionals that apply the function in all kinds of places:
//! inside other derivatives, loops, checkpoints, custom rules, data. And custom rules that capture variables of
//! derivatives around them, against the same function without the rule.

mod curried;
mod holders;
mod reverse;
mod series;
mod transposed;

use std::path::Path;
use wengert_driver::scope::Scope;
use wengert_driver::{Options, Session, show};
use wengert_tests::everywhere;

/// The value of an expression as every engine prints it, or the message of the error.
fn eval(text: &str) -> String {
    let mut session = Session::new();
    let report = session.check_text("empty.wg", "def nothing = 0\n", Path::new("."));
    let scope = Scope::of_file(&report.modules);
    everywhere::eval(&mut session, &scope, text)
}

fn number(text: &str) -> f64 {
    let value = eval(text);
    value.parse().unwrap_or_else(|_| panic!("{text}\ngives {value}"))
}

fn agree(first: &str, second: &str) {
    let (a, b) = (number(first), number(second));
    assert!((a - b).abs() <= 1e-9 * (1.0 + a.abs()), "{first}\ngives {a}, but\n{second}\ngives {b}");
}

/// A function and a multiple of another one added, for functions as a functional takes them.
fn plus(functional: &str) -> &'static str {
    match functional {
        of if of.contains("let (a, g) =") => {
            "\\f h -> \\x -> let (a, g) = f x in let (b, k) = h x in (a + s * b, \\y -> g y + s * k y)"
        }
        of if of.contains("let (g, h) =") => {
            "\\f h -> \\x -> let (a, g) = f x in let (b, k) = h x in ((\\y -> a y + s * b y), \\y -> g y + s * k y)"
        }
        of if of.contains("let h = g x") => "\\f h -> \\x y z -> f x y z + s * h x y z",
        _ => "\\f h -> \\x y -> f x y + s * h x y",
    }
}

/// The number that the interpreter gives for an expression: for closed forms and difference quotients.
fn interpreted(session: &mut Session, scope: &Scope, text: &str) -> f64 {
    let evaluated = session.eval_in(scope, "test.wg", text, &Options::default());
    let value = show(&evaluated.unwrap_or_else(|_| panic!("{text}")).value);
    value.parse().unwrap_or_else(|_| panic!("{text}\ngives {value}"))
}

/// The number that every engine gives, where machine code is made, strict or not.
fn compiled(session: &mut Session, scope: &Scope, text: &str, modes: &[bool]) -> f64 {
    let value = everywhere::compiled(session, scope, text, modes).unwrap_or_else(|error| panic!("{error}"));
    value.parse().unwrap_or_else(|_| panic!("{text}\ngives {value}"))
}
