//! Values 1 and 2 of remark 3.6: pullbacks at a point that no reduction of Figure 3 takes further, and why.
//!
//! The Jacobian of `λy. f t` with y in t needs the Jacobian of f. If f is an abstraction, 19b finds it by a reduction of its own.
//! If f is a variable (value 1), nobody knows it: that happens inside the premise of 18, which looks at `λf. L` without an argument
//! for f. And `J g · t` or a pullback in the place of f is no abstraction (value 2). DPPL has no term for the derivative of
//! such an f, since a pullback of it is an element of σ*, and no term leads from σ* back to σ; so the paper calls both values.

use super::errors;
use super::print::{Notation, print_marked};
use super::syntax::{Binder, Kind, Term, each_child};
use crate::kit::simple;
use wengert_base::{Diagnostic, Span};

/// An application `f t` in a pullback that no reduction differentiates.
#[derive(Clone, Debug)]
pub(crate) struct Stuck {
    /// What stands for f.
    pub(crate) function: Term,
    /// `f t`
    pub(crate) call: Term,
}

impl Stuck {
    /// For the term in the calculus's own notation, of which it is a value.
    pub(crate) fn note(&self) -> String {
        let call = text(&self.call);
        match self.function.kind() {
            Kind::Var(f) => format!(
                "a pullback stays: value 1 of remark 3.6, no reduction differentiates `{call}` where `{}` is a variable",
                f.name()
            ),
            _ => format!(
                "a pullback stays: value 2 of remark 3.6, no reduction differentiates `{call}` where `{}` is no abstraction",
                text(&self.function)
            ),
        }
    }

    /// For a program, of which it is no result.
    pub(crate) fn diagnostic(&self, program: &simple::Program) -> Diagnostic {
        let name = if let Kind::Var(f) = self.function.kind() { Some(f.name()) } else { None };
        match name.and_then(|name| Some((name, call_of(program, name)?))) {
            Some((name, span)) => errors::stuck(span, Some(name)),
            None => errors::stuck(program.term.span, None),
        }
    }
}

/// Whether a pullback is applied somewhere where evaluation has been.
pub(super) fn has_stuck(end: &Term) -> bool {
    let mut stack = vec![end.clone()];
    let mut seen = rustc_hash::FxHashSet::default();
    while let Some(term) = stack.pop() {
        if matches!(term.kind(), Kind::App(f, _) if matches!(f.kind(), Kind::Pull(..))) {
            return true;
        }
        each_child(term.kind(), |binder, child| {
            if matches!(binder, Binder::None) && seen.insert(child.ptr()) {
                stack.push(child.clone());
            }
        });
    }
    false
}

/// The first application of a variable of that name in the program.
fn call_of(program: &simple::Program, name: &str) -> Option<Span> {
    let mut stack = vec![&program.term];
    while let Some(term) = stack.pop() {
        if let simple::TermKind::App(f, _) = &term.kind
            && matches!(&f.kind, simple::TermKind::Var(var) if var.name.as_str() == name)
            && matches!(f.ty, simple::Ty::Fun(..))
        {
            return Some(term.span);
        }
        let inside: Vec<&simple::Term> = term.children().collect();
        stack.extend(inside.into_iter().rev());
    }
    None
}

fn text(term: &Term) -> String {
    print_marked(term, None, Notation::Paper).0
}
