//! What a reduction leaves behind, in every calculus alike: named steps, counts, and a result.

use super::ground::Ground;
use std::collections::BTreeMap;
use std::ops::Range;

/// A reduction, step by step.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The term before the first step.
    pub start: String,
    /// The steps that were recorded, see [`Limits::recorded`].
    pub steps: Vec<Step>,
    /// The last term.
    pub end: String,
    /// The last term as a value, if it is one.
    pub result: Option<Ground>,
    /// Counts over all steps, recorded or not.
    pub counts: Counts,
    /// Why the reduction did not reach a normal form.
    pub stopped: Option<Stopped>,
    /// What a person should know about the last term, in a sentence.
    pub note: Option<String>,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The rule as the paper names it, `19b`.
    pub rule: &'static str,
    /// The term *before* the step, in the calculus's notation.
    pub before: String,
    /// Which bytes of `before` are the redex.
    pub redex: Option<Range<usize>>,
    /// The term after the step.
    pub after: String,
}

/// How much work a reduction was.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Steps in all.
    pub steps: u64,
    /// Steps by rule.
    pub by_rule: BTreeMap<&'static str, u64>,
    /// Nodes of the largest term on the way, shared parts counted once.
    pub max_size: u64,
    /// Further counts that a calculus makes, by name: numeric operations, sizes of translations, ….
    pub more: BTreeMap<&'static str, u64>,
}

impl Counts {
    /// Notes a step by `rule`.
    pub fn step(&mut self, rule: &'static str) {
        self.steps += 1;
        *self.by_rule.entry(rule).or_default() += 1;
    }

    /// Notes that a term of `size` nodes was met.
    pub fn size(&mut self, size: u64) {
        self.max_size = self.max_size.max(size);
    }
}

/// Where a reduction stops by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Steps at most.
    pub steps: u64,
    /// Nodes at most, in the largest term.
    pub size: u64,
    /// How many steps are recorded with their terms (the first ones); all are counted.
    pub recorded: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { steps: 1_000_000, size: 10_000_000, recorded: 10_000 }
    }
}

/// Nodes at most in all terms of a reduction together, where each step looks through the whole term.
pub const WORK: u64 = 30_000_000;

/// Which limit a reduction met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// [`Limits::steps`]
    Steps,
    /// [`Limits::size`]
    Size,
    /// [`WORK`]
    Work,
}
