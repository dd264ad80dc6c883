//! Brunel, Mazza & Pagani, *Backpropagation in the Simply Typed Lambda-calculus with Linear Negation*.
//!
//! A linear map is a function of type `R^⊥`, a λ-abstraction over a linear variable: `D⃖(R) = R × R^⊥`. The transformation
//! `D⃖` (Table 3) is compositional, and rule (17), `x t + x u → x (t + u)` for `x` of type `R^⊥`, makes its result as cheap
//! to reduce as backpropagation on the computational graph.
//!
//! | in the paper | here |
//! |---|---|
//! | Section 4, grammar (5)–(6) | [`syntax`], read by [`parse`], written by [`mod@print`] |
//! | Table 1, typing | [`types`] |
//! | Table 2, rules (7)–(17), (23) | [`reduce`], one step at a time; [`machine`], at the cost that the paper claims |
//! | Table 2d, structural equivalence (18)–(22) | [`equivalence`] |
//! | Table 3, `D⃖_d`; section 2.3, `D⃗`; read-back after Corollary 16 | [`transform`] |
//! | Section 5.1, ground terms, `⊕`, `bp` | [`mod@ground`] |
//! | Sections 2, 3, 6 | [`examples`] |
//! | Section 2.2 and 6.2, the other ways to a gradient | [`variants`] |

pub mod equivalence;
pub mod errors;
pub mod examples;
pub mod from_core;
pub mod ground;
pub mod machine;
pub mod parse;
pub mod print;
pub mod reduce;
pub mod syntax;
pub mod transform;
pub mod types;
pub mod variants;

#[cfg(test)]
mod generate;
mod lex;
#[cfg(test)]
mod slips;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod theorem_15;
#[cfg(test)]
mod theorems;

use crate::kit::ground::Ground;
use crate::kit::simple;
use crate::kit::system::{Rule, System, Variant};
use crate::kit::trace::{Limits, Stopped, Trace};
use from_core::{Gradient, Shape, Translated};
use machine::Halt;
use reduce::{Rules, Strategy};
use syntax::{Kind, Tm, Ty, Var};
use wengert_base::codes::Code;
use wengert_base::{Diagnostic, SourceId, Span};

/// The linear substitution calculus with negation.
pub struct Negation;

/// The rules of Table 2.
pub const RULES: &[Rule] = &[
    Rule {
        name: "7",
        place: "Table 2a",
        what: "(λx.t)α u → t[x := u]α: application becomes an explicit substitution",
    },
    Rule {
        name: "8",
        place: "Table 2a",
        what: "s[⟨x, y⟩ := ⟨t, u⟩α] → s[x := t][y := u]α: takes a pair apart",
    },
    Rule {
        name: "9",
        place: "Table 2a",
        what: "C{x}[x := vα] → C{v}[x := v]α: replaces one occurrence by a value",
    },
    Rule {
        name: "10", place: "Table 2a", what: "t[x := vα] → tα: drops a substitution that nothing uses"
    },
    Rule { name: "11", place: "Table 2a", what: "t[x := vα] → t{v/x}α for linear x" },
    Rule { name: "12", place: "Table 2a", what: "rα + qβ → (r + q)αβ: adds numerals" },
    Rule {
        name: "13", place: "Table 2a", what: "⟨t₁, t₂⟩α + ⟨u₁, u₂⟩β → ⟨t₁ + u₁, t₂ + u₂⟩αβ: adds pairs"
    },
    Rule { name: "14", place: "Table 2a", what: "rα · qβ → (rq)αβ: multiplies numerals" },
    Rule { name: "15", place: "Table 2b", what: "t → λy.t y for t of type A → B or R^⊥" },
    Rule {
        name: "16",
        place: "Table 2b",
        what: "t[x := ⟨u, u′⟩α] → t[x := ⟨y, y′⟩][⟨y, y′⟩ := ⟨u, u′⟩]α: names the parts of a pair",
    },
    Rule {
        name: "17", place: "Table 2c", what: "x t + x u → x (t + u) for x of type R^⊥: linear factoring"
    },
    Rule { name: "23", place: "section 4", what: "f(r₁, …) → the value: function symbols at numerals" },
];

/// Terms up to this size are reduced as Table 2 is printed, with a trace; larger ones by the machine, with counts only.
const TRACED: u64 = 3_000;

/// Reduces for people: β and ℓ; of η, (16) alone, which names what a pair holds before it is copied.
fn rules_of_traces() -> Rules {
    Rules::BETA.and(Rules::LINEAR).and(Rules::of(&[reduce::Rule::R16]))
}

/// Reduces a term: step by step where steps are wanted and the term is small or open, else by the machine.
pub fn reduce_term(tm: &Tm, limits: &Limits) -> (Tm, Trace) {
    let traced = limits.recorded > 0 && tm.size <= TRACED;
    if !traced && let Some(outcome) = by_machine(tm, true, limits) {
        return outcome;
    }
    let run = reduce::normalize(tm, rules_of_traces(), Strategy::Unfolding, limits);
    if run.stopped == Some(Stopped::Work)
        && let Some((end, outcome)) = by_machine(tm, true, limits)
    {
        // The first steps as they were recorded, and the end by the machine, which does not look for redexes.
        return (end, Trace { steps: run.steps, ..outcome });
    }
    let trace = Trace {
        start: print::plain(tm),
        steps: run.steps,
        end: print::plain(&run.end),
        result: ground(&run.end),
        counts: run.counts,
        stopped: run.stopped,
        note: None,
    };
    (run.end, trace)
}

/// The machine's reduction, without steps; `None` if the term is open.
fn by_machine(tm: &Tm, factoring: bool, limits: &Limits) -> Option<(Tm, Trace)> {
    let blank = |counts, stopped| Trace {
        start: print::plain(tm),
        steps: Vec::new(),
        end: String::new(),
        result: None,
        counts,
        stopped,
        note: None,
    };
    match machine::run(tm, factoring, limits) {
        Ok(outcome) => {
            let (end, result) = (print::plain(&outcome.end), ground(&outcome.end));
            Some((outcome.end, Trace { end, result, ..blank(outcome.counts, None) }))
        }
        Err(Halt::Limit(stopped, counts)) => {
            let end = print::plain(tm);
            Some((tm.clone(), Trace { end, ..blank(*counts, Some(stopped)) }))
        }
        Err(Halt::Open) => None,
    }
}

/// A normal form as a value: numerals, pairs, and for everything else the term.
pub fn ground(tm: &Tm) -> Option<Ground> {
    syntax::deep(|| match &tm.kind {
        Kind::Num(r) => Some(Ground::Real(*r)),
        Kind::Pair(t, u) => {
            let (first, rest) = (ground(t)?, ground(u)?);
            if let Ground::Tuple(mut parts) = rest {
                parts.insert(0, first);
                return Some(Ground::Tuple(parts));
            }
            Some(Ground::Tuple(vec![first, rest]))
        }
        Kind::Var(_) | Kind::Lam(..) | Kind::App(..) | Kind::Add(..) | Kind::Fun(..) => {
            Some(Ground::Term(print::plain(tm)))
        }
        Kind::Sub(..) | Kind::SubPair(..) => Some(Ground::Term(print::plain(tm))),
    })
}

/// A normal form as a value of a type of the core, where tuples keep their shape.
fn ground_at(tm: &Tm, ty: &simple::Ty) -> Option<Ground> {
    match (ty, &tm.kind) {
        (simple::Ty::Tuple(parts), _) => {
            let mut out = Vec::with_capacity(parts.len());
            let mut at = tm;
            for (i, part) in parts.iter().enumerate() {
                if i + 1 == parts.len() {
                    out.push(ground_at(at, part)?);
                } else if let Kind::Pair(first, rest) = &at.kind {
                    out.push(ground_at(first, part)?);
                    at = rest;
                } else {
                    return ground(tm);
                }
            }
            Some(Ground::Tuple(out))
        }
        _ => ground(tm),
    }
}

/// A value of the core with these values for its terms.
fn shaped(shape: &Shape, next: &mut dyn FnMut(&simple::Ty) -> Option<Ground>) -> Option<Ground> {
    let mut all = |parts: &[Shape]| -> Option<Vec<Ground>> {
        parts.iter().map(|part| shaped(part, &mut *next)).collect()
    };
    match shape {
        Shape::Unit(ty) => next(ty),
        Shape::Tuple(parts) => Some(Ground::Tuple(all(parts)?)),
        Shape::Array(items) => Some(Ground::Array(all(items)?)),
        Shape::Int(n) => Some(Ground::Int(*n)),
        Shape::Bool(b) => Some(Ground::Bool(*b)),
    }
}

/// The last term of a program's reduction as a value of the core: the tuple of the terms in it.
fn value_of(end: &Tm, shape: &Shape) -> Option<Ground> {
    fn count(shape: &Shape) -> usize {
        match shape {
            Shape::Unit(_) => 1,
            Shape::Tuple(parts) | Shape::Array(parts) => parts.iter().map(count).sum(),
            Shape::Int(_) | Shape::Bool(_) => 0,
        }
    }
    let (mut left, mut rest) = (count(shape), end.clone());
    let plain = Ground::Term(print::plain(end));
    let read = shaped(shape, &mut |ty| {
        left = left.saturating_sub(1);
        if left == 0 {
            return ground_at(&rest, ty);
        }
        let Kind::Pair(first, others) = &rest.kind else { return None };
        let (first, others) = (first.clone(), others.clone());
        rest = others;
        ground_at(&first, ty)
    });
    read.or(Some(plain))
}

/// Corollary 16 and the read-back for a gradient of the core.
fn trace_gradient(gradient: &Gradient, term: &Tm, reduce: Reducer, limits: &Limits) -> Trace {
    let (end, mut trace) = reduce(term, limits);
    let (value, sum) = match (&end.kind, gradient.with_value) {
        (Kind::Pair(value, sum), true) => (Some(value.clone()), sum.clone()),
        _ => (None, end),
    };
    if trace.stopped.is_none()
        && let Some(read) = transform::read_back(&sum, &gradient.tags)
    {
        trace.result = gradient_value(gradient, value.as_ref(), read.gradient);
        trace.counts.more.insert("operations of the read-back", read.operations);
    }
    trace.counts.more.insert("size of the program", gradient.body.size);
    trace.counts.more.insert("size of the transformed program", term.size);
    trace
}

/// The numbers of a gradient as the core has them.
fn gradient_value(gradient: &Gradient, value: Option<&Tm>, reals: Vec<f64>) -> Option<Ground> {
    let mut reals = reals.into_iter();
    let derivative = shaped(&gradient.shape, &mut |_| reals.next().map(Ground::Real))?;
    match value {
        Some(value) => Some(Ground::Tuple(vec![ground(value)?, derivative])),
        None => Some(derivative),
    }
}

/// A way to reduce a term.
type Reducer = fn(&Tm, &Limits) -> (Tm, Trace);

/// A program, translated and reduced.
fn trace_by(program: &simple::Program, reduce: Reducer, limits: &Limits) -> Result<Trace, Vec<Diagnostic>> {
    match from_core::translate(program).map_err(|error| vec![error])? {
        Translated::Gradient(gradient) => {
            let term = gradient.term().unwrap_or_else(|| gradient.body.clone());
            Ok(trace_gradient(&gradient, &term, reduce, limits))
        }
        Translated::Value(tm, shape) => {
            let (end, trace) = reduce(&tm, limits);
            let result = if trace.stopped.is_some() { None } else { value_of(&end, &shape) };
            Ok(Trace { result, ..trace })
        }
    }
}

/// Free variables and type of a parsed term of Λ(𝓕), or why `D⃖` does not take it.
fn transformable(tm: &Tm, span: Span) -> Result<(Vec<Var>, Tm), Diagnostic> {
    let outside = |message: &str| errors::outside_domain(span, message.to_owned());
    let reverse = transform::reverse(tm, 1).ok_or_else(|| outside("this term is not one of Λ(𝓕)"))?;
    Ok((syntax::free_vars(tm), reverse))
}

impl System for Negation {
    fn name(&self) -> &'static str {
        "negation"
    }

    fn about(&self) -> &'static str {
        "Brunel, Mazza & Pagani, Backpropagation in the Simply Typed Lambda-calculus with Linear Negation: \
         a linear map is a function of type R^⊥, and linear factoring makes it as cheap as backpropagation."
    }

    fn check(&self, source: SourceId, text: &str) -> Result<String, Vec<Diagnostic>> {
        parse::parse(source, text).map(|(_, ty)| print::ty(&ty)).map_err(|error| vec![error])
    }

    fn reduce(&self, source: SourceId, text: &str, limits: &Limits) -> Result<Trace, Vec<Diagnostic>> {
        let (tm, _) = parse::parse(source, text).map_err(|error| vec![error])?;
        Ok(reduce_term(&tm, limits).1)
    }

    fn translate(
        &self,
        source: SourceId,
        text: &str,
    ) -> Result<Vec<(&'static str, String)>, Vec<Diagnostic>> {
        let (tm, ty) = parse::parse(source, text).map_err(|error| vec![error])?;
        let span = Span::new(source, 0, u32::try_from(text.len()).unwrap_or(u32::MAX));
        let (free, reverse) = transformable(&tm, span).map_err(|error| vec![error])?;
        let mut out = vec![("D⃖ (Table 3)", print::sequent(&reverse))];
        if let Some(forward) = transform::forward(&tm) {
            out.push(("D⃗ (section 2.3)", print::sequent(&forward)));
        }
        if ty == Ty::Real && free.iter().all(|x| x.ty == Ty::Real) {
            let tags = transform::tags(&free, 1);
            if let Some((tagged, _)) = transform::tagged(&tm, &free, &tags, 1) {
                out.push(("D⃖ with tagged variables (Theorem 15)", print::sequent(&tagged)));
            }
            if let Some(bp) = ground::bp(&tm, &free, &Var::exponential("a", Ty::Real)) {
                out.push(("bp (Definition 10)", print::sequent(&bp)));
            }
        }
        Ok(out)
    }

    fn trace(&self, program: &simple::Program, limits: &Limits) -> Result<Trace, Vec<Diagnostic>> {
        trace_by(program, reduce_term, limits)
    }

    fn variants(&self) -> &'static [Variant] {
        variants::VARIANTS
    }

    fn rules(&self) -> &'static [Rule] {
        RULES
    }

    fn codes(&self) -> &'static [Code] {
        errors::CODES
    }
}
