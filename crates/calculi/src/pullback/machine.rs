//! The reduction in continuation-passing style (3.5): `⟨P | S⟩_y` is `(Ω λy.P)·S`, a term in y and its continuation S.
//!
//! The rules for `⟨L | S⟩_y`, `⟨E | V₁⟩_y V₂` and `⟨⟨y,E⟩ | V₁⟩_y V₂` are reductions 7 to 20b in that notation, as the paper says;
//! reduction 8 reads `⟨let x = E in L | ω⟩_y ⟶ ⟨⟨y,E⟩ | ⟨L | ω⟩_⟨y,x⟩⟩_y`. So the machine is the same reducer, and only what
//! is written differs: a test runs both side by side.

use super::print::{Notation, print_marked};
#[cfg(test)]
use super::reduce::Reducer;
use super::syntax::Term;
#[cfg(test)]
use crate::kit::trace::{Limits, Trace};

/// The term with its pullbacks as configurations.
pub(crate) fn configuration(term: &Term) -> String {
    print_marked(term, None, Notation::Machine).0
}

/// The reduction as a sequence of configurations.
#[cfg(test)]
pub(crate) fn run(term: &Term, limits: &Limits) -> (Trace, Term) {
    Reducer::new(limits, Notation::Machine).trace(term)
}
