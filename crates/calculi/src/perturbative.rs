//! **perturbative**: O. Manzyuk, *A Simply Typed λ-Calculus of Forward Automatic Differentiation*, ENTCS 286 (2012).
//!
//! A λ-calculus in which the pushforward `T` is a term former: `T s : T σ → T τ` if `s : σ → τ`, where `T σ = σ × σ` holds
//! a perturbation and a primal. The calculus needs no names for perturbations, hence cannot confuse them.
//!
//! | the paper | here |
//! |---|---|
//! | section 4, terms and sugar | [`syntax`], [`parse`], [`mod@print`] |
//! | Figure 1, typing | [`types`] |
//! | Figure 2, substitution; Figure 4, `T_x` and `⋄` | [`subst`] |
//! | Figure 3, reduction | [`reduce`]: on graphs; [`step`]: single steps in any order |
//! | terms up to ≡ | [`canon`] |
//! | section 2, the examples | [`examples`]; [`naive`]: dual numbers without names, which confuse |
//! | Lemma 4.1, section 5, Theorem 5.6, the conjectures of section 6 | `tests/theorems.rs`, with a model in `tests/model.rs` |
//!
//! Numbers and primitive functions are constants added to the paper's terms; `T c` is their pushforward from the table
//! of derivative rules.

pub mod canon;
pub mod errors;
pub mod examples;
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "it looks for a few shapes; every other one is treated alike"
)]
pub mod from_core;
pub mod naive;
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "it looks for a few shapes; every other one is treated alike"
)]
pub mod parse;
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "it looks for a few shapes; every other one is treated alike"
)]
pub mod print;
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "it looks for a few shapes; every other one is treated alike"
)]
pub mod reduce;
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "it looks for a few shapes; every other one is treated alike"
)]
pub mod step;
pub mod subst;
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "it looks for a few shapes; every other one is treated alike"
)]
mod symbolic;
pub mod syntax;
#[cfg(test)]
mod tests;
pub mod types;

use crate::kit::simple::Program;
use crate::kit::system::{Rule, System, Variant};
use crate::kit::trace::{Limits, Trace};
use reduce::Order;
use syntax::{Kind, Term};
use wengert_base::codes::Code;
use wengert_base::{Diagnostic, SourceId};

/// The system, for the registry.
pub struct Perturbative;

/// Figure 3, and what numbers need.
pub const RULES: &[Rule] = &[
    Rule { name: "β", place: "Figure 3", what: "(λx. s) N becomes s[N/x]" },
    Rule { name: "×", place: "Figure 3", what: "π_k(ι_k s) becomes s, and π_k(ι_l s) becomes 0" },
    Rule {
        name: "T",
        place: "Figures 3 and 4",
        what: "T(λx. s) becomes λx. T_x s; T c becomes the pushforward of c",
    },
    Rule { name: "δ", place: "added", what: "a primitive function of numbers becomes its value" },
    Rule { name: "+", place: "added", what: "the numbers in a bag become one" },
];

/// What section 2 compares with, and the other order of reduction.
pub const VARIANTS: &[Variant] = &[
    Variant {
        name: "product rule",
        what: "symbolic differentiation, each occurrence of a part evaluated by itself (section 2)",
        trace: symbolic::trace,
    },
    Variant { name: "T first", what: "T of an abstraction is reduced before its body is", trace: outermost },
];

fn outermost(program: &Program, limits: &Limits) -> Result<Trace, Vec<Diagnostic>> {
    traced(program, Order::Outermost, limits)
}

fn traced(program: &Program, order: Order, limits: &Limits) -> Result<Trace, Vec<Diagnostic>> {
    let (term, ty) = from_core::translate(program).map_err(|error| vec![error])?;
    let mut trace = reduce::reduce(&term, order, limits);
    trace.result = trace.result.map(|_| from_core::ground(&term, &ty));
    Ok(trace)
}

fn parsed(source: SourceId, text: &str) -> Result<(Term, String), Vec<Diagnostic>> {
    let one = |error| vec![error];
    let program = parse::parse(source, text).map_err(one)?;
    let ty = types::check(&program).map_err(one)?;
    Ok((program.term, ty))
}

impl System for Perturbative {
    fn name(&self) -> &'static str {
        "perturbative"
    }

    fn about(&self) -> &'static str {
        "Manzyuk, A Simply Typed λ-Calculus of Forward AD: a first-class pushforward T, without names for perturbations"
    }

    fn check(&self, source: SourceId, text: &str) -> Result<String, Vec<Diagnostic>> {
        parsed(source, text).map(|(_, ty)| ty)
    }

    fn reduce(&self, source: SourceId, text: &str, limits: &Limits) -> Result<Trace, Vec<Diagnostic>> {
        let (term, _) = parsed(source, text)?;
        Ok(reduce::reduce(&term, Order::BodyFirst, limits))
    }

    fn translate(
        &self,
        source: SourceId,
        text: &str,
    ) -> Result<Vec<(&'static str, String)>, Vec<Diagnostic>> {
        let (term, _) = parsed(source, text)?;
        if let Kind::Lam(x, s) = term.kind() {
            let pushed = subst::push_lambda(&x, &s);
            let mut translations = vec![("λx. T_x s, by Figure 4", print::term(&pushed))];
            if reduce::reduce(&pushed, Order::BodyFirst, &quiet()).stopped.is_none() {
                translations.push(("its normal form", print::term(&pushed)));
            }
            return Ok(translations);
        }
        let naive = naive::value(&term);
        let normal = reduce::reduce(&term, Order::BodyFirst, &quiet());
        let mut translations = vec![("its normal form", normal.end)];
        if let Some(text) = naive.and_then(|value| value.text()) {
            translations.push(("its value by dual numbers without names, section 2", text));
        }
        Ok(translations)
    }

    fn trace(&self, program: &Program, limits: &Limits) -> Result<Trace, Vec<Diagnostic>> {
        traced(program, Order::BodyFirst, limits)
    }

    fn variants(&self) -> &'static [Variant] {
        VARIANTS
    }

    fn rules(&self) -> &'static [Rule] {
        RULES
    }

    fn codes(&self) -> &'static [Code] {
        errors::CODES
    }
}

fn quiet() -> Limits {
    Limits { recorded: 0, ..Limits::default() }
}
