//! Each pass alone on a small program: what it does, and what it must leave.

mod added;
mod addends;
mod again;
mod apart;
mod around;
mod cases;
mod changes;
mod choices;
mod collect;
mod compose;
mod copies;
mod counted;
mod doubles;
mod elements;
mod extremes;
mod filters;
mod finite;
mod flattened;
mod flow;
mod given;
mod held;
mod idle;
mod joined;
mod known;
mod leaves;
mod lines;
mod listed;
mod lists;
mod loops;
mod needed;
mod onward;
mod opened;
mod paths;
mod picked;
mod powers;
mod reading;
mod reciprocals;
mod roots;
mod rounds;
mod shares;
mod shifted;
mod short;
mod sides;
mod single;
mod sizes;
mod slopes;
mod small;
mod stages;
mod sums;
mod supposed;
mod terms;
mod times;
mod turned;
mod twofold;
mod waits;
mod within;
mod zeros;

use crate::PASSES;
use expect_test::Expect;

/// The program after one pass, as text.
pub(crate) fn after(pass: &str, text: &str) -> String {
    let mut program = wengert_ir::parse(text).expect("the text is a program");
    assert_eq!(wengert_ir::verify(&program), Ok(()), "before");
    let pass = PASSES.iter().find(|known| known.name == pass).expect("there is such a pass");
    (pass.run)(&mut program);
    assert_eq!(wengert_ir::verify(&program), Ok(()), "after:\n{}", wengert_ir::print(&program));
    wengert_ir::print(&program)
}

/// The program after one pass.
pub(crate) fn check(pass: &str, text: &str, expected: &Expect) {
    expected.assert_eq(&after(pass, text));
}

/// A pass leaves the program as it is.
pub(crate) fn stays(pass: &str, text: &str) {
    let program = wengert_ir::parse(text).expect("the text is a program");
    assert_eq!(after(pass, text), wengert_ir::print(&program));
}
