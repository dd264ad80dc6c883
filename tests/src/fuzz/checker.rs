//! The checker: any program is accepted or refused with messages; what is accepted passes the verifier of the core; and
//! checking again, in a session that has seen nothing else, says the same.

use super::{Corpus, Random, judge};
use std::cell::RefCell;
use std::path::Path;
use wengert_driver::{Report, Session};

/// A session keeps all it has seen; after so many inputs a new one starts.
const INPUTS_PER_SESSION: u32 = 300;

thread_local! {
    static SESSION: RefCell<Option<(Session, u32)>> = const { RefCell::new(None) };
}

/// Gives `work` a session that knows the prelude. If the work panics, the session is gone with it.
pub(super) fn with_session<R>(work: impl FnOnce(&mut Session) -> R) -> R {
    let (mut session, used) = SESSION.take().unwrap_or_else(|| (Session::new(), 0));
    let result = work(&mut session);
    if used < INPUTS_PER_SESSION {
        SESSION.set(Some((session, used + 1)));
    }
    result
}

/// A program: mostly one that parses, for others never reach the checker.
pub fn input(corpus: &Corpus, random: &mut Random) -> String {
    match random.below(4) {
        0 => super::interp::generated(random),
        1 => corpus.wild(random),
        _ => corpus.changed(random),
    }
}

/// Holds one program against the promises.
pub fn check(text: &str) -> Result<(), String> {
    let first = with_session(|session| check_in(session, text))?;
    if !text.len().is_multiple_of(8) {
        return Ok(());
    }
    let second = check_in(&mut Session::new(), text)?;
    if first == second {
        Ok(())
    } else {
        Err(format!("checking again differs:\n{first}\n--- again\n{second}"))
    }
}

/// Checks a program; gives everything that is said about it.
fn check_in(session: &mut Session, text: &str) -> Result<String, String> {
    let report = session.check_text("fuzz.wg", text, Path::new("no such folder"));
    judge::diagnostics(session.sources(), &report.diagnostics)?;
    if !report.has_errors() {
        verify(&report)?;
    }
    let types = report.signatures().iter().map(|s| format!("{} : {}\n", s.name, s.ty)).collect::<String>();
    Ok(wengert_driver::render::text::render(session.sources(), &report.diagnostics, Default::default())
        + &types)
}

fn verify(report: &Report) -> Result<(), String> {
    let mut program = wengert_core::Program::default();
    for module in &report.modules {
        program.types.extend(module.program.types.iter().map(|(name, data)| (*name, data.clone())));
        program.defs.extend(module.program.defs.iter().map(|(name, def)| (*name, def.clone())));
    }
    wengert_core::verify(&program)
        .map_err(|errors| format!("the verifier refuses an accepted program: {errors:?}"))
}
