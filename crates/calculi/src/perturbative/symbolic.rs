//! What section 2 compares the pushforward with: symbolic differentiation by the product rule and its like, for other
//! primitives. The function is reduced to a formula of its arguments, the formula is differentiated, and every occurrence
//! of a part is a part of its own that is evaluated by itself: that is the loss of sharing.
//!
//! ```text
//! (f · g)′ = f′ · g + f · g′        c(s₁, s₂)′ = ∂₁c(s₁, s₂) · s₁′ + ∂₂c(s₁, s₂) · s₂′
//! ```

use super::canon;
use super::errors;
use super::from_core;
use super::reduce::{Order, halves_of, is_zero, reduce};
use super::subst::from_rule;
use super::syntax;
use super::syntax::{Const, Kind, Node, Shape, Term, Var, app, deep, lam, num, sum, zero};
use crate::kit::simple::Program;
use crate::kit::trace::{Counts, Limits, Stopped, Trace};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use wengert_base::{Diagnostic, Span};

/// Derivatives of formulas by one variable.
struct Formulas<'a> {
    x: &'a Var,
    known: FxHashMap<*const Node, Term>,
}

impl Formulas<'_> {
    /// The derivative of a formula; `None` if it is none.
    fn of(&mut self, formula: &Term) -> Option<Term> {
        if let Some(known) = self.known.get(&Rc::as_ptr(formula)) {
            return Some(known.clone());
        }
        let made = deep(|| match formula.kind() {
            Kind::Var(y) => Some(if y == *self.x { num(1.0) } else { zero() }),
            Kind::Num(_) => Some(zero()),
            Kind::Sum(parts) => {
                let parts: Option<Vec<Term>> = parts.iter().map(|part| self.of(part)).collect();
                Some(sum(parts?.into_iter().filter(|part| !is_zero(part))))
            }
            Kind::App(c, n) => match c.kind() {
                Kind::Const(Const::Op(f)) => {
                    let inputs = match Const::Op(f).shape() {
                        Shape::Real => vec![n.clone()],
                        Shape::Pair | Shape::Pairs => halves_of(&n)?.to_vec(),
                    };
                    let slopes = inputs.iter().map(|part| self.of(part)).collect::<Option<Vec<_>>>()?;
                    if slopes.iter().all(is_zero) {
                        return Some(zero());
                    }
                    Some(from_rule(f, &inputs, &slopes, &n))
                }
                Kind::Const(choose @ Const::Choose(_)) => {
                    let [compared, branches] = halves_of(&n)?;
                    let [then, otherwise] = halves_of(&branches)?;
                    let slopes = syntax::pair(self.of(&then)?, self.of(&otherwise)?);
                    Some(app(syntax::constant(choose), syntax::pair(compared, slopes)))
                }
                _ => None,
            },
            Kind::Same(s) => self.of(&s),
            Kind::Const(_) | Kind::Lam(..) | Kind::Push(_) | Kind::Inj(..) | Kind::Proj(..) => None,
        })?;
        self.known.insert(Rc::as_ptr(formula), made.clone());
        Some(made)
    }
}

/// `grad f x` or `derivative f x` by symbolic differentiation.
pub(super) fn trace(program: &Program, limits: &Limits) -> Result<Trace, Vec<Diagnostic>> {
    let outside = |span: Span| vec![errors::outside(span, "symbolic differentiation of this program")];
    let formula = from_core::formula(program).map_err(|error| vec![error])?;
    let Some(formula) = formula else { return Err(outside(program.term.span)) };
    let quiet = Limits { recorded: 0, ..*limits };
    let reduced = reduce(&formula.body, Order::BodyFirst, &quiet);
    let mut counts = reduced.counts;
    let stopped = |counts: Counts, stopped| {
        let (start, end) = (reduced.start.clone(), String::new());
        Ok(Trace { start, steps: Vec::new(), end, result: None, counts, stopped: Some(stopped), note: None })
    };
    if let Some(limit) = reduced.stopped {
        return stopped(counts, limit);
    }
    let mut slopes = Vec::new();
    for x in &formula.variables {
        let slope = Formulas { x, known: FxHashMap::default() }.of(&formula.body);
        slopes.push(slope.ok_or_else(|| outside(program.term.span))?);
    }
    let gradient = formula.gradient(slopes).ok_or_else(|| outside(program.term.span))?;
    // Written out, which is what makes it long.
    let size = canon::written_size(&gradient);
    counts.size(size);
    if size > limits.size {
        return stopped(counts, Stopped::Size);
    }
    let mut whole = canon::copy(&gradient);
    counts.more.insert("nodes of the formula", size);
    for x in formula.variables.iter().rev() {
        whole = lam(x, whole);
    }
    let whole = formula.point.iter().cloned().fold(whole, app);
    let left = Limits { steps: limits.steps.saturating_sub(counts.steps), ..*limits };
    let mut trace = reduce(&whole, Order::BodyFirst, &left);
    counts.steps += trace.counts.steps;
    for (rule, count) in &trace.counts.by_rule {
        *counts.by_rule.entry(rule).or_default() += count;
    }
    counts.size(trace.counts.max_size);
    trace.counts = counts;
    trace.result = trace.result.map(|_| from_core::ground(&whole, &program.term.ty));
    Ok(trace)
}
