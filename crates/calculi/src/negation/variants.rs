//! The ways to a gradient that the paper compares with its own.

use super::errors;
use super::reduce::{self, Rule, Rules, Strategy};
use super::syntax::{self, Kind, Tm, mk};
use super::{by_machine, from_core, gradient_value, trace_by};
use crate::kit::simple::Program;
use crate::kit::system::Variant;
use crate::kit::trace::{Counts, Limits, Trace};
use wengert_base::Diagnostic;

/// The other ways.
pub const VARIANTS: &[Variant] = &[
    Variant {
        name: "no factoring",
        what: "without rule (17): each occurrence of a variable of type R^⊥ is replaced by itself",
        trace: without_factoring,
    },
    Variant {
        name: "bodies first",
        what: "section 6.2: abstractions are reduced before they are copied",
        trace: bodies_first,
    },
    Variant {
        name: "forward",
        what: "section 2.2: the forward transformation D⃗, once for each input",
        trace: forward,
    },
    Variant {
        name: "injections",
        what: "after Corollary 16: D⃖_n with injections for the tags, and their tuples added",
        trace: with_injections,
    },
];

fn without_factoring(program: &Program, limits: &Limits) -> Result<Trace, Vec<Diagnostic>> {
    let reduce = |tm: &Tm, limits: &Limits| {
        by_machine(tm, false, limits).unwrap_or_else(|| super::reduce_term(tm, limits))
    };
    trace_by(program, reduce, limits)
}

/// Bodies up to this size are reduced before the machine runs: finding a redex takes time proportional to the term.
const BODY: u64 = 2_000;

fn bodies_first(program: &Program, limits: &Limits) -> Result<Trace, Vec<Diagnostic>> {
    let reduce = |tm: &Tm, limits: &Limits| {
        let mut before = Counts::default();
        let prepared = reduced_bodies(tm, limits, &mut before);
        let (end, mut trace) =
            by_machine(&prepared, true, limits).unwrap_or_else(|| super::reduce_term(&prepared, limits));
        include(&mut trace.counts, &before);
        (end, trace)
    };
    trace_by(program, reduce, limits)
}

/// The term with the bodies of its abstractions in normal form, innermost first.
fn reduced_bodies(tm: &Tm, limits: &Limits, counts: &mut Counts) -> Tm {
    syntax::deep(|| {
        let old = tm.kind.children();
        let new: Vec<Tm> = old.iter().map(|child| reduced_bodies(child, limits, counts)).collect();
        let tm = mk(tm.kind.with_children(new));
        if let Kind::Lam(x, body) = &tm.kind
            && !x.linear
            && body.size <= BODY
        {
            let rules = Rules::BETA.and(Rules::LINEAR).and(Rules::of(&[Rule::R16]));
            let limits = Limits { recorded: 0, ..*limits };
            let run = reduce::normalize(body, rules, Strategy::BodiesFirst, &limits);
            include(counts, &run.counts);
            return syntax::lam(x, run.end);
        }
        tm
    })
}

/// Adds the counts of a reduction that belongs to the same computation.
fn include(counts: &mut Counts, other: &Counts) {
    counts.steps += other.steps;
    for (rule, count) in &other.by_rule {
        *counts.by_rule.entry(rule).or_default() += count;
    }
    counts.size(other.max_size);
}

fn gradient_of(program: &Program) -> Result<Box<from_core::Gradient>, Vec<Diagnostic>> {
    match from_core::translate(program).map_err(|error| vec![error])? {
        from_core::Translated::Gradient(gradient) => Ok(gradient),
        from_core::Translated::Value(..) => Err(vec![errors::no_gradient(program.term.span)]),
    }
}

/// A trace of a reduction by the machine that is part of a variant.
fn run(tm: &Tm, limits: &Limits) -> (Tm, Trace) {
    by_machine(tm, true, limits).unwrap_or_else(|| super::reduce_term(tm, limits))
}

fn forward(program: &Program, limits: &Limits) -> Result<Trace, Vec<Diagnostic>> {
    let gradient = gradient_of(program)?;
    let (mut slopes, mut value) = (Vec::new(), None);
    let mut whole: Option<Trace> = None;
    for direction in 0..gradient.variables.len() {
        let Some(tm) = gradient.term_forward(direction) else { break };
        let spent = whole.as_ref().map_or(0, |trace| trace.counts.steps);
        let left = Limits { steps: limits.steps.saturating_sub(spent), ..*limits };
        let (end, mut trace) = run(&tm, &left);
        if let Some(before) = whole {
            include(&mut trace.counts, &before.counts);
        }
        let mut slope = end.clone();
        if let Kind::Pair(first, second) = &end.kind {
            value = Some(first.clone());
            slope = second.clone();
        }
        slopes.extend(if let Kind::Num(r) = slope.kind { Some(r) } else { None });
        let stopped = trace.stopped.is_some();
        whole = Some(trace);
        if stopped {
            break;
        }
    }
    let Some(mut trace) = whole else { return Err(vec![errors::no_gradient(program.term.span)]) };
    trace.result = None;
    if trace.stopped.is_none() && slopes.len() == gradient.variables.len() {
        trace.result = gradient_value(&gradient, value.as_ref(), slopes);
    }
    Ok(trace)
}

fn with_injections(program: &Program, limits: &Limits) -> Result<Trace, Vec<Diagnostic>> {
    let gradient = gradient_of(program)?;
    let Some(tm) = gradient.term_with_injections() else {
        return Err(vec![errors::no_gradient(program.term.span)]);
    };
    let (end, mut trace) = run(&tm, limits);
    let (value, tuple) = match (&end.kind, gradient.with_value) {
        (Kind::Pair(value, tuple), true) => (Some(value.clone()), tuple.clone()),
        _ => (None, end),
    };
    trace.result = None;
    if trace.stopped.is_none() {
        let (mut reals, mut rest) = (Vec::new(), &tuple);
        while let Kind::Pair(first, others) = &rest.kind {
            reals.extend(if let Kind::Num(r) = first.kind { Some(r) } else { None });
            rest = others;
        }
        reals.extend(if let Kind::Num(r) = rest.kind { Some(r) } else { None });
        if reals.len() == gradient.variables.len() {
            trace.result = gradient_value(&gradient, value.as_ref(), reals);
        }
    }
    Ok(trace)
}
