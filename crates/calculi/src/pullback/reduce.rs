//! Combine (3.4): call-by-value contexts, redexes 1 to 6, and the whole strategy.
//!
//! ```text
//! C ::= [] | C + P | V + C | C P | V C | πᵢ(C) | ⟨C,S⟩ | ⟨V,C⟩ | f(C) | J f·C | (λx.S)*·C | (λx.C)*·V
//!     | (Ω λy.C_A)·S | (Ω λy.E)·C | (Ω λy.⟨y,E⟩)·C
//! ```
//!
//! The context is a stack of frames, so that finding the next redex costs nothing that depends on the size of the term;
//! `decompose` finds context and redex from scratch, for lemma 3.8. Steps inside premises are counted, also by rule, and
//! not shown. Three rules the paper leaves to its conventions have names here: `≡+` (sums in linear positions, 3.1.1),
//! `≡0` (0 as the unit and in linear positions) and `+` (sums of numbers and of dual constants, which appendix A.2 uses).

use super::a_reduction;
use super::print::{Notation, print_marked};
use super::stuck::{Stuck, has_stuck};
use super::subst::{Subst, deep, mirror};
use super::syntax::{Kind, Pat, PatKind, Term, Type, Var, live_nodes, paired};
use super::transpose::{add, transpose};
use crate::kit::ground::Ground;
use crate::kit::trace::{Counts, Limits, Step, Stopped, Trace};
use rustc_hash::FxHashMap;

/// A frame of a context.
#[derive(Clone)]
pub(crate) enum Frame {
    SumLeft(Term),
    SumRight(Term),
    Func(Term),
    Arg(Term),
    LetValue(Var, Term),
    Proj(u8),
    PairLeft(Term),
    PairRight(Term),
    Fun(super::func::Func),
    Jac(super::func::Func),
    DualArg(Pat, Term),
    DualBody(Pat, Term),
    PullArg(Pat, Term),
}

impl Frame {
    pub(crate) fn plug(&self, hole: Term) -> Term {
        match self {
            Frame::SumLeft(b) => Term::sum(hole, b.clone()),
            Frame::SumRight(a) => Term::sum(a.clone(), hole),
            Frame::Func(arg) => Term::app(hole, arg.clone()),
            Frame::Arg(func) => Term::app(func.clone(), hole),
            Frame::LetValue(var, body) => Term::let_in(var.clone(), hole, body.clone()),
            Frame::Proj(index) => Term::proj(*index, hole),
            Frame::PairLeft(b) => Term::pair(hole, b.clone()),
            Frame::PairRight(a) => Term::pair(a.clone(), hole),
            Frame::Fun(f) => Term::fun(f.clone(), hole),
            Frame::Jac(f) => Term::jac(f.clone(), hole),
            Frame::DualArg(pat, body) => Term::dual_map(pat.clone(), body.clone(), hole),
            Frame::DualBody(pat, s) => Term::dual_map(pat.clone(), hole, s.clone()),
            Frame::PullArg(pat, body) => Term::pull(pat.clone(), body.clone(), hole),
        }
    }
}

/// Puts a term into a context.
pub(crate) fn plug(frames: &[Frame], hole: Term) -> Term {
    frames.iter().rev().fold(hole, |term, frame| frame.plug(term))
}

/// Where a term that is no value is to be reduced first.
enum Focus {
    /// In the hole of this frame.
    Inside(Frame, Term),
    /// Here: it is a redex, or a value after all.
    Here,
    /// Here, in the body of a pullback: A-reduction, 7 or 8.
    Body,
}

fn focus(term: &Term) -> Focus {
    match term.kind() {
        Kind::Sum(a, b) => Focus::Inside(Frame::SumLeft(b.clone()), a.clone()),
        Kind::App(f, a) => Focus::Inside(Frame::Func(a.clone()), f.clone()),
        Kind::Let(var, value, body) => {
            Focus::Inside(Frame::LetValue(var.clone(), body.clone()), value.clone())
        }
        Kind::Proj(i, a) => Focus::Inside(Frame::Proj(*i), a.clone()),
        Kind::Pair(a, b) => Focus::Inside(Frame::PairLeft(b.clone()), a.clone()),
        Kind::Fun(f, a) => Focus::Inside(Frame::Fun(f.clone()), a.clone()),
        Kind::Jac(f, a) => Focus::Inside(Frame::Jac(f.clone()), a.clone()),
        Kind::DualMap(pat, body, s) => Focus::Inside(Frame::DualArg(pat.clone(), body.clone()), s.clone()),
        Kind::Pull(pat, body, s) if body.is_elementary() || paired(pat, body).is_some() => {
            Focus::Inside(Frame::PullArg(pat.clone(), body.clone()), s.clone())
        }
        Kind::Pull(..) => Focus::Body,
        Kind::Zero | Kind::Var(_) | Kind::Real(_) | Kind::Lam(..) | Kind::DualConst(_) | Kind::Diff(..) => {
            Focus::Here
        }
    }
}

/// After a value has been found in a hole: the next hole of the same term, or the term itself.
fn after(frame: Frame, value: Term) -> Result<(Frame, Term), Term> {
    match frame {
        Frame::SumLeft(b) => Ok((Frame::SumRight(value), b)),
        Frame::Func(arg) => Ok((Frame::Arg(value), arg)),
        Frame::PairLeft(b) => Ok((Frame::PairRight(value), b)),
        Frame::DualArg(pat, body) => Ok((Frame::DualBody(pat, value), body)),
        Frame::SumRight(_)
        | Frame::Arg(_)
        | Frame::LetValue(..)
        | Frame::Proj(_)
        | Frame::PairRight(_)
        | Frame::Fun(_)
        | Frame::Jac(_)
        | Frame::DualBody(..)
        | Frame::PullArg(..) => Err(frame.plug(value)),
    }
}

/// The numbers of a vector of Rⁿ.
pub(crate) fn numbers(term: &Term) -> Option<Vec<f64>> {
    let width = term.ty().width()?;
    if let Kind::Real(x) = term.kind() {
        return Some(vec![*x]);
    }
    let (mut leaves, mut stack) = (Vec::new(), vec![term.clone()]);
    while let Some(part) = stack.pop() {
        match part.kind() {
            Kind::Real(x) => leaves.push(*x),
            Kind::Zero => leaves.extend((0..part.ty().width().unwrap_or(0)).map(|_| 0.0)),
            Kind::Pair(a, b) => {
                stack.push(b.clone());
                stack.push(a.clone());
            }
            _ => return None,
        }
    }
    (leaves.len() as u64 == width).then_some(leaves)
}

/// How much text of a recorded trace is kept.
const MAX_TEXT: usize = 24 << 20;

/// What is told of each step: rule, term before, term after.
type Observer<'a> = dyn FnMut(&'static str, &Term, &Term) + 'a;

/// The strategy with its counts.
pub(crate) struct Reducer<'a> {
    limits: &'a Limits,
    notation: Notation,
    pub(super) counts: Counts,
    steps: Vec<Step>,
    text: usize,
    pub(super) flops: u64,
    /// How deep in premises.
    premises: u32,
    pub(super) premise_steps: u64,
    base: u64,
    mirrors: FxHashMap<*const (), (Pat, Pat)>,
    /// Told of each step outside premises, for the theorems.
    observer: Option<&'a mut Observer<'a>>,
    /// Rule, redex and reduct of the first steps outside premises, as many as are wanted.
    redexes: Vec<(&'static str, Term, Term)>,
    wanted: usize,
    /// Why the last pullback without a reduction has none.
    pub(super) stuck: Option<Stuck>,
    /// Reductions 6 are taken one by one as long as there are more frames than this.
    pub(super) one_by_one: usize,
}

/// What a reduction came to.
pub(crate) struct Outcome {
    pub(crate) trace: Trace,
    pub(crate) end: Term,
    /// Why the end is an application of a pullback, if it is.
    pub(crate) stuck: Option<Stuck>,
}

impl<'a> Reducer<'a> {
    pub(crate) fn new(limits: &'a Limits, notation: Notation) -> Reducer<'a> {
        Reducer {
            limits,
            notation,
            counts: Counts::default(),
            steps: Vec::new(),
            text: 0,
            flops: 0,
            premises: 0,
            premise_steps: 0,
            base: 0,
            mirrors: FxHashMap::default(),
            observer: None,
            redexes: Vec::new(),
            wanted: 0,
            stuck: None,
            one_by_one: usize::MAX,
        }
    }

    /// Rule, redex and reduct of the steps outside premises, the first `wanted` of them.
    pub(crate) fn redexes(mut self, start: &Term, wanted: usize) -> Vec<(&'static str, Term, Term)> {
        self.base = live_nodes().saturating_sub(start.shared_size());
        self.wanted = wanted;
        // Where a limit is met, the steps before it are what there is to see.
        let _ = self.run(start.clone(), &mut Vec::new());
        self.redexes
    }

    /// Calls `observer` with rule, term before and term after each step.
    #[cfg(test)]
    pub(crate) fn observed(mut self, observer: &'a mut Observer<'a>) -> Reducer<'a> {
        self.observer = Some(observer);
        self
    }

    /// Reduces as far as the strategy and the limits go.
    #[cfg(test)]
    pub(crate) fn trace(self, start: &Term) -> (Trace, Term) {
        let outcome = self.outcome(start);
        (outcome.trace, outcome.end)
    }

    /// The same, and what is stuck at the end.
    pub(crate) fn outcome(mut self, start: &Term) -> Outcome {
        self.base = live_nodes().saturating_sub(start.shared_size());
        let mut frames = Vec::new();
        let (end, stopped) = match self.run(start.clone(), &mut frames) {
            Ok(end) => (end, None),
            Err((here, stopped)) => (plug(&frames, here), Some(stopped)),
        };
        let result = stopped.is_none().then(|| ground(&end));
        self.counts.more.insert("arithmetic operations", self.flops);
        self.counts.more.insert("steps in premises", self.premise_steps);
        self.counts.more.insert("size of the result as a tree", end.size());
        let trace = Trace {
            start: print_marked(start, None, self.notation).0,
            steps: self.steps,
            end: print_marked(&end, None, self.notation).0,
            result,
            counts: self.counts,
            stopped,
            note: None,
        };
        let stuck = self.stuck.filter(|_| stopped.is_none() && has_stuck(&end));
        Outcome { trace, end, stuck }
    }

    pub(super) fn run(&mut self, start: Term, frames: &mut Vec<Frame>) -> Result<Term, (Term, Stopped)> {
        let bottom = frames.len();
        let mut term = start;
        loop {
            let mut here = !term.is_value();
            if here {
                match focus(&term) {
                    Focus::Inside(frame, inside) => {
                        frames.push(frame);
                        term = inside;
                        continue;
                    }
                    Focus::Body => {
                        term = self.split(&term, frames)?;
                        continue;
                    }
                    Focus::Here => here = false,
                }
            }
            // `term` is a value: go to the next hole, or contract what is complete.
            while !here {
                if frames.len() == bottom {
                    return Ok(term);
                }
                let next = match self.composed(&term, frames, bottom) {
                    Some(complete) => Err(complete),
                    None => match frames.pop() {
                        Some(frame) => after(frame, term),
                        None => return Ok(term),
                    },
                };
                match next {
                    Ok((frame, next)) => {
                        frames.push(frame);
                        term = next;
                        here = true;
                    }
                    Err(complete) => {
                        let contracted = self.contract(&complete);
                        term = match contracted.map_err(|stopped| (complete.clone(), stopped))? {
                            Some((rule, reduct)) => {
                                here = true;
                                self.stepped(rule, &complete, reduct, frames)?
                            }
                            None => {
                                complete.found_value();
                                complete
                            }
                        };
                    }
                }
            }
        }
    }

    /// Reduces a premise to its normal form.
    pub(crate) fn run_premise(&mut self, start: Term) -> Result<Term, Stopped> {
        let outside =
            (std::mem::take(&mut self.mirrors), std::mem::replace(&mut self.one_by_one, usize::MAX));
        self.premises += 1;
        let end = deep(|| self.run(start, &mut Vec::new())).map_err(|(_, stopped)| stopped);
        self.premises -= 1;
        (self.mirrors, self.one_by_one) = outside;
        end
    }

    /// Counts a step that belongs to the proof of another.
    pub(crate) fn note_premise(&mut self, rule: &'static str) {
        self.counts.step(rule);
        self.premise_steps += 1;
    }

    /// The pattern of v for the pattern of y. Patterns that extend each other have mirrors that do.
    pub(crate) fn mirror(&mut self, pat: &Pat) -> Pat {
        let (mut spine, mut here) = (Vec::new(), pat.clone());
        let mut result = loop {
            if let Some((_, known)) = self.mirrors.get(&here.ptr()) {
                break known.clone();
            }
            let next = match here.kind() {
                PatKind::Pair(first, _) => first.clone(),
                PatKind::Var(_) => {
                    let fresh = mirror(&here, &mut |var| Var::fresh("v", var.ty().clone()));
                    self.mirrors.insert(here.ptr(), (here.clone(), fresh.clone()));
                    break fresh;
                }
            };
            spine.push(std::mem::replace(&mut here, next));
        };
        while let Some(pat) = spine.pop() {
            if let PatKind::Pair(_, second) = pat.kind() {
                let second = self.mirror(second);
                result = Pat::pair(result, second);
                self.mirrors.insert(pat.ptr(), (pat.clone(), result.clone()));
            }
        }
        result
    }

    fn step(&mut self, rule: &'static str, from: &Term, to: &Term, frames: &[Frame]) -> Result<(), Stopped> {
        self.counts.step(rule);
        let size = live_nodes().saturating_sub(self.base);
        self.counts.size(size);
        if self.premises > 0 {
            self.premise_steps += 1;
        } else {
            if self.redexes.len() < self.wanted {
                self.redexes.push((rule, from.clone(), to.clone()));
            }
            if let Some(observer) = &mut self.observer {
                observer(rule, &plug(frames, from.clone()), &plug(frames, to.clone()));
            }
            if self.recording() {
                let redex = from.copy();
                let (before, range) =
                    print_marked(&plug(frames, redex.clone()), Some(redex.ptr()), self.notation);
                let (after, _) = print_marked(&plug(frames, to.clone()), None, self.notation);
                self.text += before.len() + after.len();
                self.steps.push(Step { rule, before, redex: range, after });
            }
        }
        self.met(size).map_or(Ok(()), Err)
    }

    /// Whether each step is seen by somebody.
    pub(super) fn watched(&self) -> bool {
        let noted = self.observer.is_some() || self.redexes.len() < self.wanted;
        self.recording() || (noted && self.premises == 0)
    }

    /// Counts steps that are taken together; the limits hold for their sum.
    pub(super) fn note_together(&mut self, rule: &'static str, count: usize) -> Result<(), Stopped> {
        for _ in 0..count {
            self.counts.step(rule);
        }
        if self.premises > 0 {
            self.premise_steps += count as u64;
        }
        let size = live_nodes().saturating_sub(self.base);
        self.counts.size(size);
        self.met(size).map_or(Ok(()), Err)
    }

    fn recording(&self) -> bool {
        self.premises == 0 && (self.steps.len() as u64) < self.limits.recorded && self.text < MAX_TEXT
    }

    /// `(Ω λy.P)·S`: an A-reduction step (all of them where nobody looks), 7 or 8.
    fn split(&mut self, term: &Term, frames: &[Frame]) -> Result<Term, (Term, Stopped)> {
        let Kind::Pull(pat, body, form) = term.kind() else { return Ok(term.clone()) };
        let rebuilt = |body: Term| Term::pull(pat.clone(), body, form.clone());
        if let Kind::Let(var, elementary, rest) = body.kind()
            && body.is_series()
        {
            let last = matches!(rest.kind(), Kind::Var(z) if z == var);
            let (rule, reduct) = if last {
                ("7", rebuilt(elementary.clone()))
            } else {
                let inner =
                    Term::pull(Pat::pair(pat.clone(), Pat::var(var.clone())), rest.clone(), form.clone());
                ("8", Term::pull(pat.clone(), Term::pair(pat.term(), elementary.clone()), inner))
            };
            return self.stepped(rule, term, reduct, frames);
        }
        if self.recording() || (self.observer.is_some() && self.premises == 0) {
            let pats = [pat.clone()];
            if let Some((rule, body)) = a_reduction::step(body, &pats) {
                return self.stepped(rule, term, rebuilt(body), frames);
            }
        }
        let (counts, premises) = (&mut self.counts, self.premises);
        let mut steps = 0;
        let series = a_reduction::of_pullback(body, pat, &mut |rule| {
            counts.step(rule);
            steps += 1;
        });
        if premises > 0 {
            self.premise_steps += steps;
        }
        let (series, size) = (rebuilt(series), live_nodes().saturating_sub(self.base));
        self.counts.size(size);
        // The steps of one A-reduction are taken together; the limits hold for their sum.
        match self.met(size) {
            Some(stopped) => Err((series, stopped)),
            None => Ok(series),
        }
    }

    /// Notes a step; gives the reduct, also where a limit is met: it is the term after the last counted step.
    fn stepped(
        &mut self,
        rule: &'static str,
        term: &Term,
        reduct: Term,
        frames: &[Frame],
    ) -> Result<Term, (Term, Stopped)> {
        match self.step(rule, term, &reduct, frames) {
            Ok(()) => Ok(reduct),
            Err(stopped) => Err((reduct, stopped)),
        }
    }

    /// The limit that is met.
    fn met(&self, size: u64) -> Option<Stopped> {
        let steps = (self.counts.steps >= self.limits.steps).then_some(Stopped::Steps);
        steps.or_else(|| (size > self.limits.size).then_some(Stopped::Size))
    }

    /// Contracts a term whose parts are values; `None` if it is a value itself.
    fn contract(&mut self, term: &Term) -> Result<Option<(&'static str, Term)>, Stopped> {
        Ok(match term.kind() {
            Kind::App(f, a) => match f.kind() {
                Kind::Lam(pat, body) => Some(("1", Subst::pat(pat, a, body).apply(body))),
                Kind::Sum(f, g) => {
                    Some(("≡+", Term::sum(Term::app(f.clone(), a.clone()), Term::app(g.clone(), a.clone()))))
                }
                Kind::Zero => Some(("≡0", Term::zero(term.ty().clone()))),
                Kind::Jac(f, along) => numbers(a).zip(numbers(along)).map(|(at, along)| {
                    self.flops += 2 * f.cost();
                    ("4", Term::vector(&f.tangent(&at, &along)))
                }),
                Kind::Pull(pat, body, form) => self.pull_at(pat, body, form, a)?,
                _ => None,
            },
            Kind::Let(var, value, body) => Some(("1", Subst::var(var, value).apply(body))),
            Kind::Proj(i, a) => match a.kind() {
                Kind::Pair(..) => Some(("2", a.project(*i))),
                Kind::Zero => Some(("≡0", a.project(*i))),
                Kind::Sum(a, b) => {
                    Some(("≡+", Term::sum(Term::proj(*i, a.clone()), Term::proj(*i, b.clone()))))
                }
                _ => None,
            },
            Kind::Fun(f, a) => numbers(a).map(|at| {
                self.flops += f.cost();
                ("3", Term::vector(&f.eval(&at)))
            }),
            Kind::Jac(f, a) => match a.kind() {
                Kind::Zero => Some(("≡0", Term::zero(term.ty().clone()))),
                Kind::Sum(a, b) => {
                    Some(("≡+", Term::sum(Term::jac(f.clone(), a.clone()), Term::jac(f.clone(), b.clone()))))
                }
                _ => None,
            },
            Kind::DualMap(pat, body, s) => self.dual(pat, body, s),
            Kind::Sum(a, b) => self.sum(a, b),
            Kind::Pair(..)
            | Kind::Zero
            | Kind::Var(_)
            | Kind::Lam(..)
            | Kind::Real(_)
            | Kind::DualConst(_)
            | Kind::Pull(..)
            | Kind::Diff(..) => None,
        })
    }

    fn dual(&mut self, pat: &Pat, body: &Term, s: &Term) -> Option<(&'static str, Term)> {
        if body.is_zero() || s.is_zero() {
            return Some(("≡0", Term::zero(Type::dual(pat.ty().clone()))));
        }
        match s.kind() {
            Kind::DualConst(vector) => {
                let result = transpose(pat, body, vector, &mut self.flops)?;
                Some(("5", Term::dual_const(result)))
            }
            Kind::DualMap(inner, second, rest) => {
                let composed = Subst::pat(inner, body, second).apply(second);
                Some(("6", Term::dual_map(pat.clone(), composed, rest.clone())))
            }
            Kind::Sum(a, b) => {
                let on = |s: &Term| Term::dual_map(pat.clone(), body.clone(), s.clone());
                Some(("≡+", Term::sum(on(a), on(b))))
            }
            _ => None,
        }
    }

    fn sum(&mut self, a: &Term, b: &Term) -> Option<(&'static str, Term)> {
        if a.is_zero() {
            return Some(("≡0", b.clone()));
        }
        if b.is_zero() {
            return Some(("≡0", a.clone()));
        }
        if let (Kind::DualConst(a), Kind::DualConst(b)) = (a.kind(), b.kind()) {
            return Some(("+", Term::dual_const(add(a, b, &mut self.flops))));
        }
        numbers(a).zip(numbers(b)).map(|_| ("+", add(a, b, &mut self.flops)))
    }
}

/// A value as plain data: numbers, vectors and dual constants, or the term's text.
pub(crate) fn ground(term: &Term) -> Ground {
    let vector = match term.kind() {
        Kind::DualConst(vector) => numbers(vector),
        Kind::Zero => match term.ty().kind() {
            super::syntax::TypeKind::Dual(ty) => {
                ty.width().and_then(|n| usize::try_from(n).ok()).map(|n| vec![0.0; n])
            }
            _ => numbers(term),
        },
        _ => numbers(term),
    };
    match vector.as_deref() {
        Some([x]) => Ground::Real(*x),
        Some(all) => Ground::Tuple(all.iter().map(|x| Ground::Real(*x)).collect()),
        None => Ground::Term(print_marked(term, None, Notation::Paper).0),
    }
}

/// Lemma 3.8: context and candidate redex of a term, found from scratch; `None` for values.
#[cfg(test)]
pub(crate) fn decompose(term: &Term, reducer: &mut Reducer<'_>) -> Option<(Vec<Frame>, Term)> {
    let (mut frames, mut term) = (Vec::new(), term.clone());
    loop {
        if !term.is_value() {
            match focus(&term) {
                Focus::Inside(frame, inside) => {
                    frames.push(frame);
                    term = inside;
                    continue;
                }
                Focus::Body => return Some((frames, term)),
                Focus::Here => {}
            }
        }
        loop {
            match after(frames.pop()?, term) {
                Ok((frame, next)) => {
                    frames.push(frame);
                    term = next;
                    break;
                }
                Err(complete) => {
                    if let Ok(Some(_)) = reducer.contract(&complete) {
                        return Some((frames, complete));
                    }
                    term = complete;
                }
            }
        }
    }
}
