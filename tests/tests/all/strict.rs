//! In strict mode derivatives in reverse mode are the interpreter's to the last bit: sums are added up in the order of the
//! source, whatever the optimizer would make one computation of.

mod series;
mod sums;
mod tapes;

use wengert_driver::scope::Scope;
use wengert_driver::{Engine, Options, Session, show};
use wengert_tests::property::complaints;

/// What a program with its derivative gives by an engine, in strict mode.
fn given(session: &mut Session, scope: &Scope, engine: Engine, program: &str) -> String {
    let options = Options { engine, strict: true, ..Options::default() };
    let evaluated = session.eval_in(scope, "strict.wg", program, &options);
    let evaluated = evaluated.map_err(|errors| complaints(&errors)).expect(program);
    assert_eq!(evaluated.engine, engine, "nothing of {program} is left to the interpreter");
    show(&evaluated.value)
}
