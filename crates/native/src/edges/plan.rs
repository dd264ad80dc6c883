//! Where the edges of a loop are: what a body asks of its index, and the code that finds the iterations for which the answer is the same.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed asks nothing")]

use super::fold::Known;
use super::{HUGE, SHORT};
use crate::forms::{DEEP, Form};
use crate::loops::walk::{every, is_failure, operands_of, parts, writes};
use crate::loops::{Func, Int, Local, Operand, Stmt, Value, Word};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::Compare;

/// So near to the ends is an edge at which something begins or ends.
const NEAR: i64 = 8;
/// Into a place an index goes less often, so that from one iteration to another less than 2^63 is added to it.
const WIDE: u64 = 1 << 16;
/// So many edges are looked for at most.
const EDGES: usize = 24;
/// So many checks are made before the loop at most.
const CHECKS: usize = 16;

/// Sums of so many variables that are smaller than this do not wrap, nor do they with an index.
pub(super) const TERMS: usize = 8;
const LARGE: i64 = 1 << 58;

/// Whether something is asked that may have the same answer in most iterations.
pub(super) fn asks(value: &Value) -> bool {
    matches!(value, Value::CompareInt(..) | Value::OutOfRange(..) | Value::Int(Int::Rem, ..))
}

/// A body of a loop.
pub(super) struct Body<'b> {
    stmts: &'b [Stmt],
    index: Local,
    /// In a part of a loop: its first iteration.
    from: Option<Local>,
    assigned: FxHashSet<Local>,
    /// What its own variables are that are assigned once, in order.
    values: FxHashMap<Local, Value>,
    order: Vec<Local>,
}

/// What a body asks.
pub(super) struct Edge {
    /// The answer.
    local: Local,
    kind: Kind,
    /// What is compared with the index and may be as large as numbers are.
    terms: Vec<Local>,
    /// Whether it may be anywhere, and not just near to the ends.
    pub(super) is_anywhere: bool,
}

enum Kind {
    /// Whether this is the index: no (0) or yes (1) where it is not.
    Point(Form, i64),
    /// From this index on the answer is that.
    From(Form, i64),
    /// Up to this index it was that.
    UpTo(Form, i64),
    /// The remainder of a number with the index in it, or what is taken from it, by a divisor.
    Rem { whole: Operand, rest: Form, falls: bool, by: Form },
}

/// What is asked of the index that decides of a branch.
pub(super) struct Question {
    /// The answer.
    pub(super) local: Local,
    /// Where it changes.
    pub(super) point: Form,
    /// Below that index, there, and above.
    pub(super) answers: [i64; 3],
    /// The variables that are compared with the index.
    pub(super) terms: Vec<Local>,
}

/// Whether a place is a number near to 0.
fn is_near(form: &Form) -> bool {
    form.terms.is_empty() && (-NEAR..=NEAR).contains(&form.places)
}

/// Whether a place is near to the end.
fn is_near_end(form: &Form, lengths: &[Form]) -> bool {
    lengths.iter().any(|len| {
        let mut from_end = form.clone();
        from_end.add(len, -1);
        is_near(&from_end)
    })
}

impl<'b> Body<'b> {
    /// `own` are variables of the body alone, `sums` what others are.
    pub(super) fn of(
        stmts: &'b [Stmt],
        index: Local,
        own: &FxHashSet<Local>,
        sums: &FxHashMap<Local, Value>,
    ) -> Body<'b> {
        let mut sets: FxHashMap<Local, usize> = FxHashMap::default();
        let (mut values, mut order) = (FxHashMap::default(), Vec::new());
        every(stmts, &mut |stmt| {
            writes(stmt).into_iter().for_each(|local| *sets.entry(local).or_default() += 1);
            if let Stmt::Set(local, value) = stmt {
                values.insert(*local, value.clone());
                order.push(*local);
            }
        });
        values.retain(|local, _| sets.get(local) == Some(&1) && own.contains(local));
        let mut assigned: FxHashSet<Local> = sets.into_keys().collect();
        assigned.insert(index);
        order.retain(|local| values.contains_key(local));
        let others = sums.iter().filter(|(local, _)| !values.contains_key(*local));
        let others: Vec<_> = others.map(|(local, sum)| (*local, sum.clone())).collect();
        values.extend(others);
        Body { stmts, index, from: None, assigned, values, order }
    }

    /// The same in a part of a loop that begins there.
    pub(super) fn beginning(self, from: Option<Local>) -> Body<'b> {
        Body { from, ..self }
    }

    /// How often the index goes into a sum, and the rest of that, which does not change in the loop.
    fn split(&self, form: &Form) -> Option<(i64, Form)> {
        let mut rest = form.clone();
        let times = rest.terms.remove(&self.index).unwrap_or(0);
        let fixed = rest.terms.keys().all(|local| !self.assigned.contains(local));
        (fixed && times.unsigned_abs() < WIDE).then_some((times, rest))
    }

    /// The same of what the index goes into once.
    fn split_once(&self, form: &Form) -> Option<(i64, Form)> {
        self.split(form).filter(|(times, _)| times.abs() == 1)
    }

    fn form(&self, operand: Operand) -> Form {
        Form::of(&self.values, operand, DEEP)
    }

    /// How many iterations there are, as it is called: of `max n 0` that is `n` too, if there are any.
    fn lengths(&self, len: Operand) -> Vec<Form> {
        let mut lengths = vec![self.form(len)];
        if let Some(Value::Int(Int::Max, n, Operand::Int(0)) | Value::Int(Int::Max, Operand::Int(0), n)) =
            len.local().and_then(|len| self.values.get(&len))
        {
            lengths.push(self.form(*n));
        }
        lengths
    }

    /// What does not change in the loop.
    fn fixed(&self, operand: Operand) -> Option<Form> {
        self.split(&self.form(operand)).filter(|(times, _)| *times == 0).map(|(_, rest)| rest)
    }

    /// What is asked of the index.
    pub(super) fn edges(&self, len: Operand) -> Vec<Edge> {
        let lengths = self.lengths(len);
        let edge = |local: &Local| {
            let (kind, terms) = match self.values.get(local)? {
                Value::CompareInt(compare, a, b) => {
                    (self.compared(*compare, *a, *b, &lengths)?, self.unknown([*a, *b], &lengths)?)
                }
                Value::Int(Int::Rem, whole, by) => {
                    let (times, rest) = self.split_once(&self.form(*whole))?;
                    let by = self.fixed(*by)?;
                    if by.terms.is_empty() && by.places < SHORT {
                        return None;
                    }
                    (Kind::Rem { whole: *whole, rest, falls: times < 0, by }, Vec::new())
                }
                _ => return None,
            };
            let is_anywhere = matches!(&kind, Kind::UpTo(point, _) if !is_near_end(point, &lengths));
            Some(Edge { local: *local, kind, terms, is_anywhere })
        };
        let edges: Vec<Edge> = self.order.iter().filter_map(edge).collect();
        if edges.len() > EDGES { Vec::new() } else { edges }
    }

    /// The variables in what is compared of which nothing is known, if sums of them that do not wrap can be told by looking at each.
    fn unknown(&self, compared: [Operand; 2], lengths: &[Form]) -> Option<Vec<Local>> {
        let forms = compared.map(|of| self.form(of));
        let known = |local: &Local| {
            [self.index].iter().chain(&self.from).any(|other| other == local)
                || lengths.iter().any(|len| {
                    let times = len.terms.get(local).filter(|_| len.terms.len() == 1);
                    times.is_some_and(|times| times.abs() == 1) && len.places.unsigned_abs() < WIDE
                })
        };
        let all = forms.iter().flat_map(|form| &form.terms).filter(|(local, _)| !known(local));
        let mut unknown: Vec<Local> = all.clone().map(|(local, _)| *local).collect();
        unknown.sort_unstable();
        unknown.dedup();
        let few = all.into_iter().all(|(_, times)| times.abs() == 1) && unknown.len() <= TERMS;
        let small = forms.iter().all(|form| {
            let times = form.terms.values().all(|times| times.unsigned_abs() < WIDE);
            times && form.places.unsigned_abs() < LARGE.unsigned_abs()
        });
        // Of what is assigned in the body, nobody can say before the loop whether it is small, though it may cancel in the difference.
        let before = !unknown.iter().any(|local| self.assigned.contains(local));
        (few && small && before).then_some(unknown)
    }

    /// Where a comparison changes its answer, and its answers below that index, there, and above.
    fn answers(&self, compare: Compare, a: Operand, b: Operand) -> Option<(Form, [bool; 3])> {
        let mut all = self.form(a);
        all.add(&self.form(b), -1);
        let (times, rest) = self.split_once(&all)?;
        // The index for which both are equal.
        let mut point = Form::default();
        point.add(&rest, -times);
        let sides = if times < 0 { [1, 0, -1] } else { [-1, 0, 1] };
        Some((point, sides.map(|side| compare.holds(&side, &0))))
    }

    fn compared(&self, compare: Compare, a: Operand, b: Operand, lengths: &[Form]) -> Option<Kind> {
        let (mut point, [below, there, above]) = self.answers(compare, a, b)?;
        let is_point = below == above;
        // Below `point + end`, or not.
        point.places = point.places.wrapping_add(i64::from(below == there && !is_point));
        // In a part, what is near to the first iteration of all is so only if that is in the part.
        let in_part = self.from.filter(|from| point.terms.get(from) == Some(&-1));
        let mut of_all = point.clone();
        in_part.into_iter().for_each(|from| of_all.terms.retain(|local, _| *local != from));
        if is_point {
            // In the middle it would leave half of the iterations to the loop that asks.
            let at_end = is_near(&of_all) || is_near_end(&point, lengths) || in_part.is_some();
            at_end.then(|| Kind::Point(point, i64::from(below)))
        } else if is_near(&of_all) {
            Some(Kind::From(point, i64::from(above)))
        } else {
            (is_near_end(&point, lengths) || in_part.is_some()).then(|| Kind::UpTo(point, i64::from(below)))
        }
    }

    /// What decides of branches where the index is, if that may change anywhere in the loop.
    pub(super) fn questions(&self, len: Operand) -> Vec<Question> {
        let deciding = self.deciding();
        let lengths = self.lengths(len);
        let question = |local: &Local| {
            let Value::CompareInt(compare, a, b) = self.values.get(local)? else { return None };
            let (point, answers) = self.answers(*compare, *a, *b)?;
            let terms = [self.form(*a), self.form(*b)].into_iter().flat_map(|form| form.terms.into_keys());
            let (mut terms, of): (Vec<Local>, _) =
                (terms.filter(|term| *term != self.index).collect(), [a, b]);
            terms.sort_unstable();
            terms.dedup();
            let small = of.into_iter().all(|of| {
                let form = self.form(*of);
                form.places.unsigned_abs() < WIDE && form.terms.values().all(|times| times.abs() == 1)
            });
            let before = !terms.iter().any(|local| self.assigned.contains(local));
            let apart = small && before && !is_near(&point) && !is_near_end(&point, &lengths);
            apart.then(|| Question { local: *local, point, answers: answers.map(i64::from), terms })
        };
        self.order.iter().filter(|local| deciding.contains(local)).filter_map(question).collect()
    }

    /// What conditions of branches are made of that do something else than fail.
    fn deciding(&self) -> FxHashSet<Local> {
        let mut found: FxHashSet<Local> = FxHashSet::default();
        every(self.stmts, &mut |stmt| {
            if let Stmt::If { cond: Operand::Local(cond), then, .. } = stmt
                && !is_failure(then)
            {
                found.insert(*cond);
            }
        });
        for local in self.order.iter().rev() {
            if found.contains(local)
                && let Some(Value::Int(..) | Value::Select(..) | Value::Copy(_)) = self.values.get(local)
                && let Some(value) = self.values.get(local)
            {
                found.extend(operands_of(value).into_iter().filter_map(Operand::local));
            }
        }
        found
    }

    /// The variables that say that something fails, if they say it of the first or last iteration or of none.
    fn checks(&self) -> Vec<(Local, Check)> {
        let mut found = Vec::new();
        self.checks_in(self.stmts, &mut found);
        found
    }

    fn checks_in(&self, stmts: &[Stmt], found: &mut Vec<(Local, Check)>) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            for stmt in stmts {
                match stmt {
                    Stmt::If { cond: Operand::Local(cond), then, otherwise }
                        if is_failure(then) && otherwise.is_empty() =>
                    {
                        found.extend(self.check(*cond).map(|check| (*cond, check)));
                    }
                    Stmt::For { .. } => parts(stmt).into_iter().for_each(|part| self.checks_in(part, found)),
                    // What is done in some cases only need not hold in all.
                    _ => {}
                }
            }
        });
    }

    fn check(&self, cond: Local) -> Option<Check> {
        match self.values.get(&cond)? {
            Value::OutOfRange(place, size) => {
                let (times, rest) = self.split(&self.form(*place))?;
                Some(Check { compare: None, times, rest, with: self.fixed(*size)? })
            }
            Value::CompareInt(compare, a, b) => Some(Check {
                compare: Some(*compare),
                times: 0,
                rest: self.fixed(*a)?,
                with: self.fixed(*b)?,
            }),
            _ => None,
        }
    }

    /// Whether there are checks, and all can be made before the loop.
    pub(super) fn checks_all(&self) -> bool {
        let failing = |stmt: &&Stmt| matches!(stmt, Stmt::If { then, .. } if is_failure(then));
        let count = self.stmts.iter().filter(failing).count();
        count > 0 && self.checks().len() == count
    }
}

/// Something that may fail.
#[derive(Clone, PartialEq)]
struct Check {
    /// Where two numbers compare so; or where the first is not a place of so many.
    compare: Option<Compare>,
    /// How often the index goes into the first, and the rest of it.
    times: i64,
    rest: Form,
    with: Form,
}

/// Where the parts of a loop begin and end.
#[derive(Clone, Copy)]
pub(super) struct Places {
    /// Where the edge at the beginning ends.
    pub(super) low: Local,
    /// Where the one at the end begins.
    pub(super) high: Local,
    /// How many iterations there are between them.
    pub(super) count: Local,
}

/// Makes the code that finds them.
pub(super) struct Builder<'f> {
    func: &'f mut Func,
    len: Operand,
    /// Loops with fewer iterations run as they are.
    short: i64,
    made: Vec<Stmt>,
    low: Operand,
    high: Operand,
    /// What must not be.
    bad: Vec<Operand>,
}

impl Builder<'_> {
    /// The index that a sum is, or the first or the end of all.
    pub(super) fn cut(&mut self, form: &Form) -> Operand {
        let at = self.number(form);
        let at = self.int(Int::Max, at, Operand::Int(0));
        self.int(Int::Min, at, self.len)
    }

    /// Whether the loop is short, or sums of these variables may wrap.
    pub(super) fn is_strange(&mut self, terms: &[Local]) -> Operand {
        let long = self.int(Int::Sub, self.len, Operand::Int(self.short));
        let mut bad = self.set(Value::OutOfRange(long, Operand::Int(HUGE)));
        for term in terms {
            let large = self.is_large(*term);
            bad = self.int(Int::Or, bad, large);
        }
        bad
    }

    fn is_large(&mut self, term: Local) -> Operand {
        let place = self.int(Int::Add, Operand::Local(term), Operand::Int(LARGE));
        self.set(Value::OutOfRange(place, Operand::Int(2 * LARGE)))
    }

    /// The code so far.
    pub(super) fn code(&mut self) -> Vec<Stmt> {
        std::mem::take(&mut self.made)
    }

    pub(super) fn new(func: &mut Func, len: Operand, short: i64) -> Builder<'_> {
        Builder { func, len, short, made: Vec::new(), low: Operand::Int(0), high: len, bad: Vec::new() }
    }

    fn set(&mut self, value: Value) -> Operand {
        let local = self.func.fresh(Word::Int);
        self.made.push(Stmt::Set(local, value));
        Operand::Local(local)
    }

    fn int(&mut self, op: Int, a: Operand, b: Operand) -> Operand {
        match (op, a, b) {
            (Int::Add, x, Operand::Int(0))
            | (Int::Sub, x, Operand::Int(0))
            | (Int::Add, Operand::Int(0), x) => x,
            (Int::Max, Operand::Int(x), Operand::Int(y)) => Operand::Int(x.max(y)),
            (Int::Mul, Operand::Int(x), Operand::Int(y)) => Operand::Int(x.wrapping_mul(y)),
            (_, _, _) => self.set(Value::Int(op, a, b)),
        }
    }

    /// The number that a sum is.
    fn number(&mut self, form: &Form) -> Operand {
        let mut sum = Operand::Int(form.places);
        for (local, n) in &form.terms {
            let (local, one) = (Operand::Local(*local), n.unsigned_abs() == 1);
            let term = if one { local } else { self.int(Int::Mul, local, Operand::Int(*n)) };
            sum = self.int(if one && *n < 0 { Int::Sub } else { Int::Add }, sum, term);
        }
        sum
    }

    /// Where the edges are, and what is known between them.
    pub(super) fn edges(&mut self, edges: &[Edge]) -> FxHashMap<Local, Known> {
        let mut known = FxHashMap::default();
        for edge in edges {
            let answer = match &edge.kind {
                Kind::Point(at, answer) => {
                    self.point(at);
                    Known::Number(*answer)
                }
                Kind::From(first, answer) => {
                    let first = self.number(first);
                    self.low = self.int(Int::Max, self.low, first);
                    Known::Number(*answer)
                }
                Kind::UpTo(end, answer) => {
                    let end = self.number(end);
                    self.high = self.int(Int::Min, self.high, end);
                    Known::Number(*answer)
                }
                Kind::Rem { whole, rest, falls, by } => {
                    let base = self.rem(rest, *falls, by);
                    Known::Difference(*whole, base)
                }
            };
            known.insert(edge.local, answer);
        }
        let mut terms: Vec<Local> = edges.iter().flat_map(|edge| &edge.terms).copied().collect();
        terms.sort_unstable();
        terms.dedup();
        for term in terms {
            let large = self.is_large(term);
            self.bad.push(large);
        }
        if !edges.is_empty() {
            // Most of the iterations are to be between the edges, which may be far from all of them.
            self.low = self.int(Int::Min, self.low, self.len);
            self.high = self.int(Int::Max, self.high, self.low);
            let count = self.int(Int::Sub, self.high, self.low);
            let twice = self.int(Int::Mul, count, Operand::Int(2));
            let few = self.set(Value::CompareInt(Compare::Lt, twice, self.len));
            self.bad.push(few);
        }
        known
    }

    /// An index that is apart: all up to it, or all from it on, whatever is less.
    fn point(&mut self, at: &Form) {
        let at = self.number(at);
        let next = self.int(Int::Add, at, Operand::Int(1));
        let low = self.int(Int::Max, self.low, next);
        if matches!(at, Operand::Int(n) if (0..NEAR).contains(&n)) {
            self.low = low;
            return;
        }
        let rest = self.int(Int::Sub, self.len, next);
        let outside = self.set(Value::OutOfRange(at, self.len));
        let early = self.set(Value::CompareInt(Compare::Lt, at, rest));
        let high = self.int(Int::Min, self.high, at);
        let low = self.set(Value::Select(early, low, self.low));
        let high = self.set(Value::Select(early, self.high, high));
        self.low = self.set(Value::Select(outside, self.low, low));
        self.high = self.set(Value::Select(outside, self.high, high));
    }

    /// What is to be taken from a number to have its remainder, for as many iterations as that is the same which it is for the one in the
    /// middle.
    fn rem(&mut self, rest: &Form, falls: bool, by: &Form) -> Operand {
        let (rest, by) = (self.number(rest), self.number(by));
        let middle = self.int(Int::ShiftRight, self.len, Operand::Int(1));
        let whole = self.int(if falls { Int::Sub } else { Int::Add }, rest, middle);
        let less = self.int(Int::Sub, by, Operand::Int(1));
        let strange = self.set(Value::OutOfRange(less, Operand::Int(HUGE)));
        let large = self.set(Value::OutOfRange(whole, Operand::Int(HUGE)));
        self.bad.extend([strange, large]);
        let by = self.set(Value::Select(strange, Operand::Int(1), by));
        let times = self.int(Int::Div, whole, by);
        let base = self.int(Int::Mul, times, by);
        let (first, end) = if falls {
            let last = self.int(Int::Sub, rest, base);
            let end = self.int(Int::Add, last, Operand::Int(1));
            (self.int(Int::Sub, end, by), end)
        } else {
            let first = self.int(Int::Sub, base, rest);
            (first, self.int(Int::Add, first, by))
        };
        self.low = self.int(Int::Max, self.low, first);
        self.high = self.int(Int::Min, self.high, end);
        base
    }

    /// Makes the checks of a body for its first and last iteration. What they say is known then.
    pub(super) fn checks(&mut self, body: &Body) -> FxHashMap<Local, Known> {
        let (mut known, mut made): (_, Vec<Check>) = (FxHashMap::default(), Vec::new());
        for (local, check) in body.checks() {
            if made.contains(&check) {
                known.insert(local, Known::Number(0));
            } else if made.len() < CHECKS {
                self.check(&check);
                made.push(check);
                known.insert(local, Known::Number(0));
            }
        }
        known
    }

    fn check(&mut self, check: &Check) {
        let with = self.number(&check.with);
        let rest = self.number(&check.rest);
        if let Some(compare) = check.compare {
            let fails = self.set(Value::CompareInt(compare, rest, with));
            return self.bad.push(fails);
        }
        if check.times == 0 {
            let fails = self.set(Value::OutOfRange(rest, with));
            return self.bad.push(fails);
        }
        let last = self.int(Int::Sub, self.high, Operand::Int(1));
        for index in [self.low, last] {
            let far = match check.times.abs() {
                1 => index,
                times => self.int(Int::Mul, index, Operand::Int(times)),
            };
            let place = self.int(if check.times < 0 { Int::Sub } else { Int::Add }, rest, far);
            let fails = self.set(Value::OutOfRange(place, with));
            self.bad.push(fails);
        }
    }

    /// The code, and where it leaves what it has found: of loops that are short or do not fit, nothing is between edges.
    pub(super) fn finish(mut self) -> (Vec<Stmt>, Places) {
        let mut bad = self.set(Value::CompareInt(Compare::Ge, self.len, Operand::Int(HUGE)));
        for fails in std::mem::take(&mut self.bad) {
            bad = self.int(Int::Or, bad, fails);
        }
        let [low, high, count] = [(); 3].map(|()| self.func.fresh(Word::Int));
        self.made.push(Stmt::Set(low, Value::Select(bad, self.len, self.low)));
        self.made.push(Stmt::Set(high, Value::Select(bad, self.len, self.high)));
        let long = self.func.fresh(Word::Int);
        let before = vec![
            Stmt::Set(low, Value::Copy(self.len)),
            Stmt::Set(high, Value::Copy(self.len)),
            Stmt::Set(long, Value::CompareInt(Compare::Ge, self.len, Operand::Int(self.short))),
            Stmt::If { cond: Operand::Local(long), then: self.made, otherwise: Vec::new() },
            Stmt::Set(count, Value::Int(Int::Sub, Operand::Local(high), Operand::Local(low))),
        ];
        (before, Places { low, high, count })
    }
}
