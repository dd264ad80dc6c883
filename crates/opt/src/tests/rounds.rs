//! How often passes are done.

use crate::{Options, optimize};

/// Two statements go, and the check of an array that nobody needs is two statements more; the next round finds that it holds.
#[test]
fn what_leaves_a_program_as_large_as_it_was_may_have_changed_it() {
    let text = "func f(xs: []Real, x: Real) -> Real {
        n = length(xs)
        is = iota(n)
        a = x * 1.0
        b = x * x
        c = x * x
        d = b * c
        e = a + d
        return e
    }
    entry f = f";
    let mut program = wengert_ir::parse(text).expect("the text is a program");
    assert!(optimize(&mut program, &Options::default()), "nothing is left to do");
    let made = wengert_ir::print(&program);
    assert!(!made.contains("require") && !made.contains("length"), "{made}");
}
