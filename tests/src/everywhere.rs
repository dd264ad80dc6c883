//! Expressions that every engine must evaluate alike: what the suites of the language are made of.

use crate::command::{Ran, wengert_in};
use crate::project;
use crate::property::complaints;
use crate::text::{close, unsigned};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use wengert_driver::scope::Scope;
use wengert_driver::{Engine, Options, Session, show};

/// The C compiler is slow: one of so many texts is for it.
const C_IN_TURN: u64 = 32;

/// The engines besides the interpreter, and whether in strict mode.
fn ways(text: &impl Hash) -> Vec<(Engine, bool)> {
    let mut ways = vec![(Engine::Ir, true), (Engine::Native, true), (Engine::Native, false)];
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let number = hasher.finish();
    if number.is_multiple_of(C_IN_TURN) && Engine::C.require().is_ok() {
        ways.push((Engine::C, (number / C_IN_TURN).is_multiple_of(2)));
    }
    ways
}

/// How far numbers may differ: in strict mode reverse mode may add in another order where the same is computed twice.
fn tolerance(strict: bool) -> f64 {
    if strict { 1e-12 } else { 1e-9 }
}

/// What the interpreter prints for an expression, or its messages. Panics if another engine gives something else.
pub fn eval(session: &mut Session, scope: &Scope, text: &str) -> String {
    ran(session, scope, text).0
}

/// The same, and in which modes machine code was made.
fn ran(session: &mut Session, scope: &Scope, text: &str) -> (String, Vec<bool>) {
    let mut made = Vec::new();
    let mut by = |engine: Engine, strict: bool| {
        let options = Options { engine, strict, ..Options::default() };
        match session.eval_in(scope, "test.wg", text, &options) {
            Ok(evaluated) => {
                if evaluated.engine == Engine::Native {
                    made.push(strict);
                }
                show(&evaluated.value)
            }
            Err(diagnostics) => diagnostics.iter().map(|d| format!("{}: {}\n", d.code, d.message)).collect(),
        }
    };
    let expected = by(Engine::Interp, true);
    for (engine, strict) in ways(&text) {
        let found = by(engine, strict);
        let name = engine.name();
        assert!(
            close(&unsigned(&expected), &unsigned(&found), tolerance(strict)),
            "{text}\nthe interpreter gives {expected}, {name} (strict: {strict}) {found}"
        );
    }
    (expected, made)
}

/// A session in which these definitions are in scope.
pub fn session_with(definitions: &str) -> (Session, Scope) {
    let mut session = Session::new();
    let report = session.check_text("definitions.wg", definitions, Path::new("."));
    assert!(!report.has_errors(), "{}", complaints(&report.diagnostics));
    let scope = Scope::of_file(&report.modules);
    (session, scope)
}

/// As [`eval`], of what machine code must be made: strict or not, as these say. An error if it is not.
pub fn compiled(session: &mut Session, scope: &Scope, text: &str, strict: &[bool]) -> Result<String, String> {
    let (value, made) = ran(session, scope, text);
    match strict.iter().find(|strict| !made.contains(strict)) {
        Some(strict) => {
            Err(format!("{text}\nis not run by machine code (strict: {strict}), and gives {value}"))
        }
        None => Ok(value),
    }
}

/// What `wengert eval` does with these arguments; an error if some engine does something else.
pub fn command(arguments: &[&str]) -> Result<Ran, String> {
    command_in(project::root(), arguments)
}

/// The same in a folder.
pub fn command_in(folder: &Path, arguments: &[&str]) -> Result<Ran, String> {
    let by = |engine: Engine, strict: bool| {
        let strict = if strict { &["--strict"][..] } else { &[] };
        wengert_in(folder, &[&["eval", "--engine", engine.name()], strict, arguments].concat(), "")
    };
    let expected = by(Engine::Interp, true);
    let mut ways = ways(&arguments);
    // Each is a process of its own: one of the two that are most alike will do.
    ways.remove(arguments.concat().len() % 2);
    for (engine, strict) in ways {
        let found = by(engine, strict).without_note();
        let [a, b] = [&expected, &found].map(|ran| unsigned(&ran.transcript()));
        if !close(&a, &b, tolerance(strict)) {
            let name = engine.name();
            return Err(format!("{arguments:?}\nthe interpreter gives\n{a}\n{name} (strict: {strict})\n{b}"));
        }
    }
    Ok(expected)
}
