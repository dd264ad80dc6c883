//! What a calculus offers to the command: the same five verbs for all.

use super::simple::Program;
use super::trace::{Limits, Trace};
use wengert_base::codes::Code;
use wengert_base::{Diagnostic, SourceId};

/// A calculus.
pub trait System: Sync {
    /// Its name on the command line: `pullback`.
    fn name(&self) -> &'static str;

    /// The paper, and what the calculus is about, in one sentence.
    fn about(&self) -> &'static str;

    /// Parses and type-checks a term in the calculus's own notation; gives its type.
    fn check(&self, source: SourceId, text: &str) -> Result<String, Vec<Diagnostic>>;

    /// Reduces a term in the calculus's own notation.
    fn reduce(&self, source: SourceId, text: &str, limits: &Limits) -> Result<Trace, Vec<Diagnostic>>;

    /// Applies the calculus's transformations to a term in its own notation: pairs of a title and the resulting term.
    fn translate(&self, source: SourceId, text: &str)
    -> Result<Vec<(&'static str, String)>, Vec<Diagnostic>>;

    /// Translates a program of the core into the calculus and reduces it.
    fn trace(&self, program: &Program, limits: &Limits) -> Result<Trace, Vec<Diagnostic>>;

    /// The rules by name, with one sentence each and the place in the paper.
    fn rules(&self) -> &'static [Rule];

    /// The kinds of diagnostics it makes.
    fn codes(&self) -> &'static [Code];
}

/// A rule of a calculus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// `19b`
    pub name: &'static str,
    /// Where it stands: `Figure 3`.
    pub place: &'static str,
    /// What it does.
    pub what: &'static str,
}
