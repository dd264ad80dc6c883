//! The calculus of *Provably Correct, Asymptotically Efficient, Higher-Order Reverse-Mode Automatic Differentiation*
//! (Krawiec, Krishnaswami, Peyton Jones, Ellis, Fitzgibbon, Eisenberg).
//!
//! | in the paper | here |
//! |---|---|
//! | Figure 1: the language; appendix A.1: typing | `syntax`, `lex`, `parse`, `print`, `names`; `types` |
//! | Figure 1: ⊗ ⊕ ⊙ primal; Figure 15: delta zip initVars initZeros lookup | `polytypic`, `each` |
//! | Figures 3, 4, 14: forward mode `𝒟⃗`, `ℱ` | `forward`, on the common rules in `translate` |
//! | Figures 5, 6: `𝒟⃖¹`, `ℛ¹` | `naive` |
//! | Figures 7, 8: `𝒟⃖²`, `ℛ²`, `eval₂` | `staged`, `reduce` |
//! | Figures 9, 10, 11, 14: `𝒟⃖`, `runDelta`, `eval`, `ℛ` | `monadic`, `reduce` |
//! | Figure 15: first-order `S → T` | the general wrappers in `forward` and `monadic` |
//! | 10.2 arrays, 10.3 recursion, 10.4 higher order | `monadic`; `syntax`, `types`; `tower`, `unshade` |
//! | Figure 12, right column, as a drawing | `picture` |
//! | Figures 2, 12, Lemmas 1 and 6, Theorem 3, section 7.4 | the tests: `examples`, `theorems` |
//!
//! Every translation is a function from terms to terms; its result prints, type-checks and runs by the same rules as its
//! argument. The map from displacements to displacements that all four calculi compute is here the data type `Delta`.

mod builtins;
mod each;
mod errors;
mod forward;
mod from_core;
mod lex;
mod monadic;
mod naive;
mod names;
mod parse;
mod picture;
mod polytypic;
mod print;
mod readback;
mod reduce;
mod resolve;
mod staged;
mod syntax;
mod tower;
mod translate;
mod types;
mod unshade;
mod value;

#[cfg(test)]
mod by_hand;
#[cfg(test)]
mod examples;
#[cfg(test)]
mod generate;
#[cfg(test)]
mod higher;
#[cfg(test)]
mod slips;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod theorems;

use crate::kit::graph::graph;
use crate::kit::ground::Ground;
use crate::kit::simple::Program;
use crate::kit::svg;
use crate::kit::system::{Rule, System, Variant};
use crate::kit::trace::{Limits, Trace};
use from_core::Method;
use syntax::{E, Ty};
use value::Value;
use wengert_base::codes::Code;
use wengert_base::{Diagnostic, SourceId};

/// The calculus as the command sees it.
pub struct Delta;

const fn rule(name: &'static str, place: &'static str, what: &'static str) -> Rule {
    Rule { name, place, what }
}

/// The rules of [`reduce`].
const RULES: &[Rule] = &[
    rule(
        "β",
        "Figure 1",
        "a function applied to a value; pair patterns count as the `fst` and `snd` they stand for",
    ),
    rule("let", "Figure 1", "a value is bound"),
    rule("letrec", "section 10.3", "a recursive function is bound"),
    rule("fst", "Figure 1", "the first component of a pair"),
    rule("snd", "Figure 1", "the second component of a pair"),
    rule("case-inl", "Figure 1", "a case of a left injection"),
    rule("case-inr", "Figure 1", "a case of a right injection"),
    rule("unroll", "section 10.3", "the content of a value of a recursive type"),
    rule("op", "Figure 1", "a primitive function applied to values"),
    rule("⊗", "section 2", "each real of a displacement times a real"),
    rule("⊕", "section 5.1", "the sum of two displacements"),
    rule("⊙", "section 11.2", "the dot product of two displacements"),
    rule("primal", "section 4.1", "the primal component of all dual numbers"),
    rule("onehot", "Figure 6", "the unit vector of one direction"),
    rule("delta", "Figure 15", "the second component of all dual numbers"),
    rule("zip", "Figure 15", "two values of one type as one of dual numbers"),
    rule("initVars", "Figure 15", "each real with a variable of its own"),
    rule("initZeros", "Figure 15", "each real with Zero"),
    rule("lookup", "Figure 15", "for each real what the map says about its variable"),
    rule("pure", "Figure 10", "return x = λs → (x, s)"),
    rule("bind", "Figure 10", "m >>= n = λs → case m s of (r, s') → n r s'"),
    rule("deltaLet", "Figure 10", "a delta is bound to a fresh identifier"),
    rule("runDelta", "Figure 10", "the computation is over: its delta is wrapped in its bindings"),
    rule("sequence", "section 10.2", "an array of computations as one computation of an array"),
    rule("build", "section 10.2", "an array from a function of the index"),
    rule("index", "section 10.2", "an element of an array"),
    rule("length", "section 10.2", "the number of elements of an array"),
    rule("eval-Zero", "Figure 10", "eval x Zero um = um"),
    rule("eval-Scale", "Figure 10", "eval x (Scale y u) um = eval (x × y) u um"),
    rule("eval-Add", "Figure 10", "eval x (Add u₁ u₂) um = eval x u₂ (eval x u₁ um)"),
    rule("eval-Var", "Figure 10", "eval x (Var uid) um = addDelta uid x um"),
    rule("eval-OneHot", "Figure 7", "as eval-Var: OneHot is what Var replaced"),
    rule("eval-Let", "Figure 10", "eval x (Let uid u₁ u₂) um: u₂ comes first"),
    rule("eval-Nothing", "Figure 10", "u₂ did not contribute to uid, and so nothing reaches u₁"),
    rule("eval-Just", "Figure 10", "what u₂ contributed to uid is passed on to u₁"),
    rule("lookupOrZero", "Figure 10", "what a map has for an identifier"),
    rule("eval₂-Zero", "Figure 8", "eval₂ x Zero v = v"),
    rule("eval₂-OneHot", "Figure 8", "eval₂ x (OneHot i) v = updateAt i x v"),
    rule("eval₂-Scale", "Figure 8", "eval₂ x (Scale y u) v = eval₂ (x × y) u v"),
    rule("eval₂-Add", "Figure 8", "eval₂ x (Add u₁ u₂) v = eval₂ x u₂ (eval₂ x u₁ v)"),
];

/// Parses and checks a term.
fn read(source: SourceId, text: &str) -> Result<(E, Ty), Vec<Diagnostic>> {
    let parsed = parse::parse(source, text).map_err(|error| vec![error])?;
    types::check(&parsed).map_err(|error| vec![error])
}

/// Evaluates a term, with its steps.
fn run(e: &E, limits: &Limits, ground: impl FnOnce(&Value) -> Ground) -> Result<Trace, Vec<Diagnostic>> {
    let reduction = reduce::reduce(e, limits).map_err(|error| vec![error])?;
    // On the way to the first step the machine may have built values, which are then marked where they stand.
    let start = reduction.steps.first().map_or_else(|| print::term(e), |step| step.before.clone());
    Ok(Trace {
        start,
        steps: reduction.steps,
        end: reduction.end,
        result: reduction.value.as_ref().map(ground),
        counts: reduction.counts,
        stopped: reduction.stopped,
        note: None,
    })
}

/// A value as plain data. Pairs nested to the right are one tuple, as they print; `1 + 1` are truth values if the type says so.
fn ground(value: &Value, ty: &Ty) -> Ground {
    syntax::grow(|| match (value, ty) {
        (Value::Real(x), _) => Ground::Real(*x),
        (Value::Int(n), _) => Ground::Int(*n),
        (Value::Str(text), _) => Ground::String(text.to_string()),
        (Value::Unit, _) => Ground::Tuple(Vec::new()),
        (Value::Pair(_), Ty::Prod(..)) => {
            let mut parts = Vec::new();
            let (mut value, mut ty) = (value, ty);
            while let (Value::Pair(cell), Ty::Prod(a, b)) = (value, ty) {
                parts.push(ground(&cell.a, a));
                (value, ty) = (&cell.b, b);
            }
            parts.push(ground(value, ty));
            Ground::Tuple(parts)
        }
        (Value::Inl(_) | Value::Inr(_), ty) if *ty == Ty::truth() => {
            Ground::Bool(matches!(value, Value::Inl(_)))
        }
        (Value::Inl(cell), Ty::Sum(a, _)) => Ground::Ctor("inl".into(), vec![ground(&cell.a, a)]),
        (Value::Inr(cell), Ty::Sum(_, b)) => Ground::Ctor("inr".into(), vec![ground(&cell.a, b)]),
        (Value::Roll(cell, _), ty) => match ty.unrolled() {
            Some(ty) => Ground::Ctor("roll".into(), vec![ground(&cell.a, &ty)]),
            None => Ground::Term(readback::value(value)),
        },
        (Value::Vector(items), Ty::Vector(ty)) => {
            Ground::Array(items.iter().map(|item| ground(item, ty)).collect())
        }
        _ => Ground::Term(readback::value(value)),
    })
}

/// Every translation that applies to a term, with its title.
fn translations(e: &E, ty: &Ty) -> Result<Vec<(&'static str, E)>, Diagnostic> {
    let mut all = vec![("𝒟⃗ (Figure 3)", forward::translate(e)?)];
    let parts = if let Ty::Fun(s, t) = ty { Some((&**s, &**t)) } else { None };
    let main = parts.filter(|(s, t)| s.is_first_order() && t.is_first_order());
    let scalar = main.filter(|(s, t)| s.real_arity().is_some() && **t == Ty::Real);
    if let Some((s, _)) = scalar {
        all.push(("ℱ (Figure 4)", forward::wrapper(e, s)?));
    }
    if let Some((s, t)) = main {
        all.push(("ℱ for S → T (Figure 15)", forward::general_wrapper(e, s, t)?));
    }
    if let Some((s, _)) = scalar {
        all.push(("𝒟⃖¹ (Figure 5)", naive::translate(e, s)?));
        all.push(("ℛ¹ (Figure 6)", naive::wrapper(e, s)?));
    }
    all.push(("𝒟⃖² (Figure 7)", staged::translate(e)?));
    if let Some((s, _)) = scalar {
        all.push(("ℛ² (Figure 8)", staged::wrapper(e, s)?));
    }
    all.push(("𝒟⃖ (Figure 9)", monadic::translate(e)?));
    if let Some((s, _)) = scalar {
        all.push(("ℛ (Figure 11)", monadic::wrapper(e, s)?));
    }
    if let Some((s, t)) = main {
        let reverse = monadic::general_wrapper(e, s, t)?;
        let unshaded = unshade::unshade(&reverse)?;
        all.push(("ℛ for S → T (Figure 15)", reverse));
        all.push(("ℛ without shaded constructs (section 10.4)", unshaded));
    }
    if let Some((s, _)) = scalar {
        all.push(("derivatives up to order 2 (section 10.4)", tower::wrapper(e, s, 2)?));
    }
    Ok(all)
}

/// The trace of a program whose reverse derivatives are computed in this way.
fn trace_by(method: Method, program: &Program, limits: &Limits) -> Result<Trace, Vec<Diagnostic>> {
    let e = from_core::translate(program, method).map_err(|error| vec![error])?;
    run(&e, limits, |value| from_core::ground(value, &program.term.ty, &program.data))
}

/// The translations that the final one is compared with.
const VARIANTS: &[Variant] = &[
    Variant {
        name: "D1",
        what: "𝒟⃖¹ of Figure 5: every number carries its whole gradient",
        trace: |program, limits| trace_by(Method::Naive, program, limits),
    },
    Variant {
        name: "D2",
        what: "𝒟⃖² of Figure 7: every number carries a Delta, without sharing",
        trace: |program, limits| trace_by(Method::Staged, program, limits),
    },
    Variant {
        name: "forward",
        what: "ℱ of Figure 4, once for each input: the Forward Plan of section 3.2",
        trace: |program, limits| trace_by(Method::Forward, program, limits),
    },
];

impl System for Delta {
    fn name(&self) -> &'static str {
        "delta"
    }

    fn about(&self) -> &'static str {
        "Krawiec et al.: dual numbers all the way, from forward mode to a monadic trace of deltas that is evaluated once"
    }

    fn check(&self, source: SourceId, text: &str) -> Result<String, Vec<Diagnostic>> {
        read(source, text).map(|(_, ty)| print::ty(&ty))
    }

    fn reduce(&self, source: SourceId, text: &str, limits: &Limits) -> Result<Trace, Vec<Diagnostic>> {
        let (e, ty) = read(source, text)?;
        run(&e, limits, |value| ground(value, &ty))
    }

    fn translate(
        &self,
        source: SourceId,
        text: &str,
    ) -> Result<Vec<(&'static str, String)>, Vec<Diagnostic>> {
        let (e, ty) = read(source, text)?;
        let all = translations(&e, &ty).map_err(|error| vec![error])?;
        Ok(all.into_iter().map(|(title, e)| (title, print::term(&e))).collect())
    }

    fn trace(&self, program: &Program, limits: &Limits) -> Result<Trace, Vec<Diagnostic>> {
        trace_by(Method::Monadic, program, limits)
    }

    fn variants(&self) -> &'static [Variant] {
        VARIANTS
    }

    fn picture(&self, program: &Program, limits: &Limits) -> Result<String, Vec<Diagnostic>> {
        let e = from_core::translate(program, Method::Monadic).map_err(|error| vec![error])?;
        let reduction =
            reduce::reduce(&e, &Limits { recorded: 0, ..*limits }).map_err(|error| vec![error])?;
        Ok(match &reduction.first_eval {
            Some((dt, u)) => picture::draw(*dt, u, &picture::input_names(program)),
            // Forward mode leaves no trace.
            None => svg::draw(&graph(program)),
        })
    }

    fn rules(&self) -> &'static [Rule] {
        RULES
    }

    fn codes(&self) -> &'static [Code] {
        errors::CODES
    }
}
