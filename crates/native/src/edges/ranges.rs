//! Loops that do something else below an index than from it on become one loop for each range of indices.
//!
//! ```text
//! for j in 0..n {                                     cut = min(max(k, 0), n)
//!     if j < k { check j is in u; v[j] = u[j] }       for j in 0..cut { check j is in u; v[j] = u[j] }
//!     else { v[j] = u[j] - f * w[j] }      becomes    for t in 0..n - cut { j = cut + t; v[j] = u[j] - f * w[j] }
//! }
//! ```
//!
//! Where something else is done at one index only, there are a loop below it and one above it; that is for C, too.
//!
//! What is asked of the index near to the ends is left to those who look for edges. Iterations keep their order. A loop that is short
//! runs as it was, and so does one where a sum that is compared may be too large for an integer.

use super::fold::{self, Known};
use super::plan::{Body, Builder, Question, TERMS};
use super::{Edges, SHORT, mentions, size};
use crate::forms::Form;
use crate::loops::walk::{every, is_straight, parts, renamed};
use crate::loops::{Int, Local, Operand, Stmt, Value, Word};
use rustc_hash::FxHashSet;

/// Bodies with more statements would be too much to have four times.
const MOST: usize = 64;
/// The same where one range is a single iteration.
const LARGE: usize = 96;
/// At so many places a loop is divided at most.
const CUTS: usize = 2;
/// So often is a range divided again, at another place.
const NESTED: usize = 2;

/// Where a loop is divided.
struct Cuts {
    /// All that is asked about one place, or its neighbors.
    questions: Vec<Question>,
    /// How far from it the loop is divided, in order.
    places: Vec<i64>,
}

impl Edges<'_> {
    /// The loops for the ranges of a loop that asks where it is.
    pub(super) fn ranges(&mut self, stmt: &Stmt) -> Option<Vec<Stmt>> {
        let Stmt::For { index, len, backward, independent, sums, body } = stmt else { return None };
        let short = matches!(len, Operand::Int(n) if *n < SHORT);
        if short || self.nested == NESTED || size(body) > LARGE || !is_flat(body) {
            return None;
        }
        let all: FxHashSet<Local> = mentions(body).into_keys().collect();
        let questions = Body::of(body, *index, &all, &self.sums).questions(*len);
        // A compiler of C divides a loop by itself where it does something else from an index on, but not where it does at one, nor
        // where it fails in a branch.
        let about_one = questions.iter().all(Question::is_about_one);
        let is_wanted = about_one || size(body) <= MOST && (self.checks || checks_in_branches(body));
        if questions.is_empty() || !is_wanted {
            return None;
        }
        let (index, body) = self.copied(body, *index);
        let cuts = self.cuts(index, *len, &body)?;
        let mut builder = Builder::new(self.func, *len, SHORT);
        let strange = builder.is_strange(&cuts.terms());
        let mut made = builder.code();
        let at: Vec<Operand> = cuts.forms().iter().map(|form| builder.cut(form)).collect();
        let mut code = builder.code();
        let starts: Vec<Operand> = std::iter::once(Operand::Int(0)).chain(at.iter().copied()).collect();
        let mut ranges = Vec::with_capacity(starts.len());
        for (range, start) in starts.iter().enumerate() {
            let end = at.get(range).copied().unwrap_or(*len);
            let count = if *start == Operand::Int(0) {
                end
            } else {
                let count = self.func.fresh(Word::Int);
                code.push(Stmt::Set(count, Value::Int(Int::Sub, end, *start)));
                Operand::Local(count)
            };
            let (step, body) = self.range(index, &body, *start, &cuts.answers(range));
            if self.does_something(&body) {
                ranges.push((step, count, body));
            }
        }
        if *backward {
            ranges.reverse();
        }
        for (index, len, body) in ranges {
            let sums = sums.clone();
            code.push(Stmt::For { index, len, backward: *backward, independent: *independent, sums, body });
        }
        self.count(&code);
        self.nested += 1;
        let otherwise = self.stmts(code);
        self.nested -= 1;
        made.push(Stmt::If { cond: strange, then: vec![stmt.clone()], otherwise });
        Some(made)
    }

    /// Where a loop is divided.
    fn cuts(&self, index: Local, len: Operand, body: &[Stmt]) -> Option<Cuts> {
        let own = self.own(body);
        let mut questions = Body::of(body, index, &own, &self.sums).questions(len);
        let base = questions.first()?.point.terms.clone();
        questions.retain(|question| question.point.terms == base && question.terms.len() <= TERMS);
        let mut places: Vec<i64> = questions.iter().flat_map(Question::changes).collect();
        places.sort_unstable();
        places.dedup();
        ((1..=CUTS).contains(&places.len())).then_some(Cuts { questions, places })
    }

    /// The iterations from one index on, for which the answers are these.
    fn range(
        &mut self,
        index: Local,
        body: &[Stmt],
        start: Operand,
        answers: &[(Local, i64)],
    ) -> (Local, Vec<Stmt>) {
        let names = self.names(body, index);
        let name = |local: Local| names.get(&local).copied().unwrap_or(local);
        let index = name(index);
        let body = renamed(body, &mut |local| name(local));
        let own = self.own(&body);
        let known = answers.iter().map(|(local, answer)| (name(*local), Known::Number(*answer))).collect();
        let mut body = fold::fold(body, known, &own);
        if start == Operand::Int(0) {
            return (index, body);
        }
        let step = self.func.fresh(Word::Int);
        body.insert(0, Stmt::Set(index, Value::Int(Int::Add, start, Operand::Local(step))));
        (step, body)
    }

    /// Whether a body does more than to find out what only it asks for.
    fn does_something(&self, body: &[Stmt]) -> bool {
        let own = self.own(body);
        !body.iter().all(|stmt| matches!(stmt, Stmt::Set(local, _) if own.contains(local)))
    }

    /// Variables of a body alone.
    fn own(&self, body: &[Stmt]) -> FxHashSet<Local> {
        mentions(body).into_keys().filter(|local| !self.mentions.contains_key(local)).collect()
    }
}

impl Cuts {
    /// Sums at which the loop is divided.
    fn forms(&self) -> Vec<Form> {
        let base = self.questions.first().map(|question| question.point.terms.clone()).unwrap_or_default();
        self.places.iter().map(|places| Form { terms: base.clone(), places: *places }).collect()
    }

    /// What is compared with the index.
    fn terms(&self) -> Vec<Local> {
        let mut terms: Vec<Local> =
            self.questions.iter().flat_map(|question| question.terms.iter().copied()).collect();
        terms.sort_unstable();
        terms.dedup();
        terms
    }

    /// What is known in one of the ranges.
    fn answers(&self, range: usize) -> Vec<(Local, i64)> {
        let start = range.checked_sub(1).and_then(|before| self.places.get(before)).copied();
        let end = self.places.get(range).copied();
        self.questions
            .iter()
            .filter_map(|question| Some((question.local, question.between(start, end)?)))
            .collect()
    }
}

impl Question {
    /// Whether the answer is another one at one index only.
    fn is_about_one(&self) -> bool {
        let [below, there, above] = self.answers;
        below == above && below != there
    }

    /// The places where the answer changes.
    fn changes(&self) -> impl Iterator<Item = i64> {
        let [below, there, above] = self.answers;
        let at = self.point.places;
        [(below != there, at), (there != above, at + 1)]
            .into_iter()
            .filter(|(changes, _)| *changes)
            .map(|(_, at)| at)
    }

    /// The answer from a place on, before another one, if it is the same there.
    fn between(&self, start: Option<i64>, end: Option<i64>) -> Option<i64> {
        let [below, there, above] = self.answers;
        let at = self.point.places;
        let possible = [
            (below, start.is_none_or(|start| start < at)),
            (there, start.is_none_or(|start| start <= at) && end.is_none_or(|end| at < end)),
            (above, end.is_none_or(|end| end > at + 1)),
        ];
        let mut answers = possible.into_iter().filter(|(_, possible)| *possible).map(|(answer, _)| answer);
        let first = answers.next()?;
        answers.all(|answer| answer == first).then_some(first)
    }
}

/// Whether a body holds no loops or calls, nor makes or frees anything.
fn is_flat(body: &[Stmt]) -> bool {
    let mut flat = true;
    every(body, &mut |stmt| {
        flat &= match stmt {
            Stmt::Set(_, value) => !matches!(value, Value::Alloc(..)),
            Stmt::Store { .. } | Stmt::If { .. } | Stmt::Switch { .. } | Stmt::Fail(..) => true,
            Stmt::For { .. }
            | Stmt::While { .. }
            | Stmt::Parallel { .. }
            | Stmt::Call { .. }
            | Stmt::Runtime { .. }
            | Stmt::Retain(..)
            | Stmt::Release(..)
            | Stmt::Free(..) => false,
        };
    });
    flat
}

/// Whether there are checks on one side of something.
fn checks_in_branches(body: &[Stmt]) -> bool {
    let is_check = |stmt: &Stmt| is_straight(stmt) && matches!(stmt, Stmt::If { .. });
    body.iter().any(|stmt| {
        let inner = if is_check(stmt) { Vec::new() } else { parts(stmt) };
        inner
            .into_iter()
            .flatten()
            .any(|stmt| is_check(stmt) || checks_in_branches(std::slice::from_ref(stmt)))
    })
}
