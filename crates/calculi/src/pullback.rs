//! The pullback calculus DPPL of Mak and Ong, *A Differential-form Pullback Programming Language for Higher-order
//! Reverse-mode Automatic Differentiation*: `(Ω λx.P)·S` is the pullback of the 1-form S along λx.P, and its call-by-value
//! reduction is reverse mode, at any higher-order type.
//!
//! | paper | here |
//! |---|---|
//! | Figure 1, 3.1.3 | `syntax`, `parse`, `print`, `func` |
//! | Figure 2, lin(S) | `types` |
//! | 3.2, appendix B | `a_reduction` |
//! | Figure 3 (7–20b) | `conquer` (9–20b), `reduce` (7, 8) |
//! | 3.4 (1–6) | `reduce`, `transpose` (5), `compose` (6) |
//! | remark 3.6 | `stuck` |
//! | 3.5 | `machine` |
//! | 5.1, appendix D | `differential` |
//! | 2.1, Figure 4, the two phases as a picture | `picture` |
//! | programs of the core | `from_core`, with functions as symbols of F in `straight` |
//! | examples 3.1–3.9, A.2 | `examples` |
//! | 3.8, 4.6, 4.7, 4.8, 5.1, 5.2 | `theorems`, with the model of section 4 in `denotation` |
//!
//! Results are linear maps as terms: `(λv.S)*·(ω V)` holds the Jacobian as `λv.S` and only ever applies its transpose.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "rules are partial: a term that none of them names is left as it is"
)]

mod a_reduction;
mod compose;
mod conquer;
mod definition;
mod differential;
mod errors;
mod from_core;
mod func;
mod lexer;
mod machine;
mod parse;
mod pattern;
mod picture;
mod print;
mod raw;
mod reduce;
mod rules;
mod straight;
mod stuck;
mod subst;
mod syntax;
mod transpose;
mod ty;
mod types;

#[cfg(test)]
mod denotation;
#[cfg(test)]
mod examples;
#[cfg(test)]
mod theorems;
#[cfg(test)]
mod together;

pub use differential::Differential;
pub use errors::CODES;

use self::from_core::{Functionals, Translated};
use self::print::{Notation, print_type};
use self::reduce::{Outcome, Reducer};
use self::syntax::Term;
use self::types::Language;
use crate::kit::graph::graph;
use crate::kit::simple::Program;
use crate::kit::svg::draw;
use crate::kit::system::{Rule, System};
use crate::kit::trace::{Limits, Trace};
use wengert_base::codes::Code;
use wengert_base::{Diagnostic, SourceId};

/// The pullback calculus.
pub struct Pullback;

/// Parses and types a term of one of the paper's two calculi.
fn read(source: SourceId, text: &str, language: Language) -> Result<Term, Vec<Diagnostic>> {
    let file = parse::parse(source, text)?;
    types::elaborate(&file, language).map_err(|error| vec![error])
}

/// The translation of a program, reduced: first with functions of functions as terms; if a pullback stays, then with these
/// applied where they are known before the reduction. If one stays all the same, that is an error.
fn run(program: &Program, limits: &Limits) -> Result<(Translated, Outcome), Vec<Diagnostic>> {
    let reduced = |functionals| -> Result<(Translated, Outcome), Vec<Diagnostic>> {
        let translated = from_core::translate(program, functionals).map_err(|error| vec![error])?;
        let outcome = Reducer::new(limits, Notation::Paper).outcome(&translated.term);
        Ok((translated, outcome))
    };
    let named = reduced(Functionals::Named)?;
    let Some(stuck) = &named.1.stuck else { return Ok(named) };
    match reduced(Functionals::Applied) {
        Ok(applied) if applied.1.stuck.is_none() => Ok(applied),
        Ok(_) | Err(_) => Err(vec![stuck.diagnostic(program)]),
    }
}

impl System for Pullback {
    fn name(&self) -> &'static str {
        "pullback"
    }

    fn about(&self) -> &'static str {
        "Mak and Ong's DPPL: reverse mode as the call-by-value reduction of pullbacks of differential 1-forms"
    }

    fn check(&self, source: SourceId, text: &str) -> Result<String, Vec<Diagnostic>> {
        read(source, text, Language::Pullback).map(|term| print_type(term.ty()))
    }

    fn reduce(&self, source: SourceId, text: &str, limits: &Limits) -> Result<Trace, Vec<Diagnostic>> {
        let term = read(source, text, Language::Pullback)?;
        let outcome = Reducer::new(limits, Notation::Paper).outcome(&term);
        Ok(Trace { note: outcome.stuck.map(|stuck| stuck.note()), ..outcome.trace })
    }

    fn translate(
        &self,
        source: SourceId,
        text: &str,
    ) -> Result<Vec<(&'static str, String)>, Vec<Diagnostic>> {
        let term = read(source, text, Language::Pullback)?;
        let series = a_reduction::all(
            &term,
            &syntax::Pat::var(syntax::Var::fresh("y", syntax::Type::real())),
            &mut |_| {},
        );
        let show = |term: &Term| print::print_marked(term, None, Notation::Paper).0;
        Ok(vec![
            ("the let series of 3.2", show(&series)),
            ("as a configuration (3.5)", machine::configuration(&term)),
            ("in the differential λ-calculus (5.1)", show(&differential::translate(&term))),
        ])
    }

    fn trace(&self, program: &Program, limits: &Limits) -> Result<Trace, Vec<Diagnostic>> {
        let (translated, Outcome { mut trace, end, .. }) = run(program, limits)?;
        if trace.result.is_some() {
            trace.result = Some(from_core::ground(&end, &translated.shape));
        }
        Ok(trace)
    }

    fn picture(&self, program: &Program, limits: &Limits) -> Result<String, Vec<Diagnostic>> {
        let (translated, _) = run(program, &Limits { recorded: 0, ..*limits })?;
        Ok(picture::picture(&translated.term, limits).unwrap_or_else(|| draw(&graph(program))))
    }

    fn rules(&self) -> &'static [Rule] {
        rules::RULES
    }

    fn codes(&self) -> &'static [Code] {
        CODES
    }
}
