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
/// And of those that are made for loops.
const C_OFTEN: u64 = 3;

/// The engines besides the interpreter, and whether in strict mode.
fn ways(text: &impl Hash) -> Vec<(Engine, bool)> {
    let mut ways = vec![(Engine::Ir, true), (Engine::Native, true), (Engine::Native, false)];
    let number = number(text);
    if number.is_multiple_of(C_IN_TURN) && Engine::C.require().is_ok() {
        ways.push((Engine::C, (number / C_IN_TURN).is_multiple_of(2)));
    }
    ways
}

/// A number that goes with a text.
fn number(text: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
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

/// An error unless machine code for which no derivative is made beforehand, and sometimes the evaluator of the IR and C, give what the
/// interpreter gives, to the last bit, or its messages.
pub fn tagged(definitions: &str, expression: &str) -> Result<(), String> {
    let (mut session, scope) = session_with(definitions);
    let mut by = |engine: Engine| {
        let options = Options { engine, strict: true, tagged: true, ..Options::default() };
        let evaluated = session.eval_in(&scope, "it.wg", expression, &options);
        evaluated
            .map(|evaluated| (show(&evaluated.value), evaluated.engine == engine))
            .unwrap_or_else(|errors| (complaints(&errors), true))
    };
    let (expected, _) = by(Engine::Interp);
    let number = number(&expression);
    let others =
        [(Engine::Ir, number.is_multiple_of(C_OFTEN)), (Engine::C, number.is_multiple_of(C_IN_TURN))];
    let others = others.into_iter().filter(|(engine, in_turn)| *in_turn && engine.require().is_ok());
    for engine in others.map(|(engine, _)| engine).chain([Engine::Native]) {
        let (found, compiled) = by(engine);
        if found != expected || !compiled {
            let name = engine.name();
            return Err(format!(
                "{expression}: {name} gives {found} instead of {expected}; by itself: {compiled}"
            ));
        }
    }
    Ok(())
}

/// An error unless machine code, strict or not, and sometimes C give what the interpreter gives with these definitions: a value, in strict
/// mode to the last bit, the signs of zeros included, or messages with their place.
pub fn same(definitions: &str, expression: &str) -> Result<(), String> {
    same_but_for(definitions, expression, &str::to_owned)
}

/// The same, of what is left of texts.
pub fn same_but_for(
    definitions: &str,
    expression: &str,
    left: &dyn Fn(&str) -> String,
) -> Result<(), String> {
    let (mut session, scope) = session_with(definitions);
    let mut by = |engine: Engine, strict: bool| {
        let options = Options { engine, strict, ..Options::default() };
        match session.eval_in(&scope, "it.wg", expression, &options) {
            Ok(evaluated) => left(&show(&evaluated.value)),
            Err(errors) => {
                let place = errors.first().map(|error| error.primary.span.start);
                format!("{} at {place:?}", complaints(&errors))
            }
        }
    };
    let expected = by(Engine::Interp, true);
    let mut ways = vec![(Engine::Native, false), (Engine::Native, true)];
    if number(&expression).is_multiple_of(C_OFTEN) {
        ways.push((Engine::C, false));
    }
    for (engine, strict) in ways {
        let found = by(engine, strict);
        if found != expected && (strict || !close(&unsigned(&expected), &unsigned(&found), 1e-9)) {
            let name = engine.name();
            return Err(format!(
                "{expression}: {name} (strict {strict}) gives {found} instead of {expected}"
            ));
        }
    }
    Ok(())
}

/// Panics if threads change what machine code or C give.
pub fn same_by_threads(definitions: &str, expressions: &[&str]) {
    for (engine, expression) in [Engine::Native, Engine::C]
        .into_iter()
        .flat_map(|engine| expressions.iter().map(move |e| (engine, e)))
    {
        let (mut session, scope) = session_with(definitions);
        let mut by = |threads: usize| {
            let options = Options { engine, threads, ..Options::default() };
            let evaluated = session.eval_in(&scope, "it.wg", expression, &options);
            evaluated.map(|evaluated| show(&evaluated.value)).map_err(|errors| complaints(&errors))
        };
        let one = by(1);
        assert!(one.is_ok(), "{one:?}");
        for threads in [2, 3] {
            assert_eq!(by(threads), one, "{expression} by {} with {threads} threads", engine.name());
        }
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
