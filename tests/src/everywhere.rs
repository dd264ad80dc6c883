//! The value of an expression, which every engine must give alike.

use crate::text::unsigned;
use wengert_driver::scope::Scope;
use wengert_driver::{Engine, Options, Session, show};

/// What the interpreter prints for an expression, or its messages. Panics if machine code gives something else; in reverse mode it may
/// add in another order.
pub fn eval(session: &mut Session, scope: &Scope, text: &str) -> String {
    let mut by = |engine: Engine| {
        let options = Options { engine, strict: true, ..Options::default() };
        match session.eval_in(scope, "test.wg", text, &options) {
            Ok(evaluated) => show(&evaluated.value),
            Err(diagnostics) => diagnostics.iter().map(|d| format!("{}: {}\n", d.code, d.message)).collect(),
        }
    };
    let (expected, found) = (by(Engine::Interp), by(Engine::Native));
    assert!(
        crate::text::close(&unsigned(&expected), &unsigned(&found), 1e-12),
        "{text}\nthe interpreter gives {expected}, machine code {found}"
    );
    expected
}
