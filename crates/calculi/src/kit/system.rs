//! What a calculus offers to the command: the same five verbs for all.

use super::graph::graph;
use super::simple::Program;
use super::svg;
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

    /// Other ways to compute the same, which the papers compare with their own: the growth table measures each.
    fn variants(&self) -> &'static [Variant] {
        &[]
    }

    /// A picture of the program in the calculus, as SVG: its computational graph, unless the calculus has more to show.
    fn picture(&self, program: &Program, _limits: &Limits) -> Result<String, Vec<Diagnostic>> {
        Ok(svg::draw(&graph(program)))
    }

    /// The rules by name, with one sentence each and the place in the paper.
    fn rules(&self) -> &'static [Rule];

    /// The kinds of diagnostics it makes.
    fn codes(&self) -> &'static [Code];
}

/// A way to compute that the paper compares with its own, such as the same transformation without sharing.
#[derive(Clone, Copy)]
pub struct Variant {
    /// Its name in tables, after the calculus: `D1`.
    pub name: &'static str,
    /// What is different, in one sentence.
    pub what: &'static str,
    /// As [`System::trace`].
    pub trace: fn(&Program, &Limits) -> Result<Trace, Vec<Diagnostic>>,
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
