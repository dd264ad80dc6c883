//! Reduction (Figure 3) on graphs: a redex that is shared is reduced once, for all its occurrences.
//!
//! ```text
//! (λx. s) N →β s[N/x]       π_k(ι_k s) →× s       π_k(ι_l s) →× 0       T(λx. s) →T λx. T_x s
//! ```
//!
//! To these come, for numbers: `T c →T λz. ⟨…⟩` with the pushforward of the constant `c`, `c ⟨r, …⟩ →δ r'`, and
//! `r + r' →+ r''` for numbers of one bag. The sugar for sums in linear places is equality of terms and no step, see
//! [`super::syntax`]; a step whose redex has a sum there is the same step of every summand, and counts once.
//!
//! The order is outermost first, by need. Figure 4 forces no order between `T` and the steps in a body, but the cost
//! depends on it: by [`Order::BodyFirst`] the body of an abstraction is normal before it is pushed forward.

use super::print;
use super::subst::{push_constant, push_lambda, substitute};
use super::syntax::{
    Const, Half, Kind, Node, Shape, State, Term, app, deep, inj, lam, live_nodes, number_kind, proj, push,
    sum, var, zero,
};
use crate::kit::ground::Ground;
use crate::kit::trace::{Counts, Limits, Step, Stopped, Trace};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// How many bytes of a term a recorded step shows.
const LONGEST_STEP: usize = 4_000;

/// When `T(λx. s)` is reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// After `s` is normal.
    BodyFirst,
    /// As soon as it is met.
    Outermost,
}

/// Reduces a term to its normal form; the term itself is changed, and is that normal form afterwards.
pub fn reduce(term: &Term, order: Order, limits: &Limits) -> Trace {
    let start = print::term(term);
    let mut machine = Machine {
        root: term.clone(),
        order,
        limits: *limits,
        counts: Counts::default(),
        steps: Vec::new(),
        base: 0,
    };
    let own = super::syntax::size(term);
    machine.base = live_nodes().saturating_sub(own);
    machine.counts.size(own);
    let stopped = machine.normal(term).err();
    let result = match stopped {
        None => Some(ground(term)),
        Some(_) => None,
    };
    Trace {
        start,
        steps: machine.steps,
        end: print::term(term),
        result,
        counts: machine.counts,
        stopped,
        note: None,
    }
}

/// A value with more parts is shown as a term. A graph of `n` pairs can stand for `2ⁿ` numbers.
pub(super) const LARGEST_VALUE: usize = 100_000;

/// A normal form as a value.
pub fn ground(term: &Term) -> Ground {
    plain(term, 1_000, &mut LARGEST_VALUE.clone()).unwrap_or_else(|| Ground::Term(print::term(term)))
}

fn plain(term: &Term, depth: usize, left: &mut usize) -> Option<Ground> {
    let depth = depth.checked_sub(1)?;
    *left = left.checked_sub(1)?;
    match term.kind() {
        Kind::Num(r) => Some(Ground::Real(r)),
        Kind::Sum(parts) if parts.is_empty() => Some(Ground::Real(0.0)),
        Kind::Sum(parts) => {
            let (mut first, mut second) = (Ground::Real(0.0), Ground::Real(0.0));
            for part in parts.iter() {
                match part.kind() {
                    Kind::Inj(Half::First, s) => first = plain(&s, depth, left)?,
                    Kind::Inj(Half::Second, s) => second = plain(&s, depth, left)?,
                    _ => return None,
                }
            }
            Some(Ground::Tuple(vec![first, second]))
        }
        Kind::Inj(Half::First, s) => Some(Ground::Tuple(vec![plain(&s, depth, left)?, Ground::Real(0.0)])),
        Kind::Inj(Half::Second, s) => Some(Ground::Tuple(vec![Ground::Real(0.0), plain(&s, depth, left)?])),
        Kind::Var(_)
        | Kind::Const(_)
        | Kind::Lam(..)
        | Kind::App(..)
        | Kind::Push(_)
        | Kind::Proj(..)
        | Kind::Same(_) => None,
    }
}

struct Machine {
    root: Term,
    order: Order,
    limits: Limits,
    counts: Counts,
    steps: Vec<Step>,
    /// Nodes of other terms.
    base: u64,
}

impl Machine {
    /// One step: the redex `at` becomes `to`.
    fn step(&mut self, rule: &'static str, at: &Term, to: Kind) -> Result<(), Stopped> {
        if self.counts.steps >= self.limits.steps {
            return Err(Stopped::Steps);
        }
        self.counts.step(rule);
        if self.counts.steps <= self.limits.recorded {
            let (before, redex) = print::highlighted(&self.root, Some(at), LONGEST_STEP);
            at.set(to);
            let after = print::highlighted(&self.root, None, LONGEST_STEP).0;
            self.steps.push(Step { rule, before, redex, after });
        } else {
            at.set(to);
        }
        let size = live_nodes().saturating_sub(self.base);
        self.counts.size(size);
        if size > self.limits.size { Err(Stopped::Size) } else { Ok(()) }
    }

    /// Makes a term normal.
    fn normal(&mut self, term: &Term) -> Result<(), Stopped> {
        self.head(term)?;
        if term.state.get() == State::Normal {
            return Ok(());
        }
        deep(|| match term.kind() {
            Kind::Var(_) | Kind::Num(_) | Kind::Const(_) => Ok(()),
            Kind::Lam(_, s) | Kind::Push(s) | Kind::Inj(_, s) | Kind::Proj(_, s) | Kind::Same(s) => {
                self.normal(&s)
            }
            Kind::App(s, n) => {
                self.normal(&s)?;
                self.normal(&n)
            }
            Kind::Sum(parts) => {
                let grouped = group(&parts);
                if grouped.len() < parts.len() {
                    term.set(Kind::Sum(grouped.clone().into()));
                }
                for part in &grouped {
                    self.normal(part)?;
                }
                // A summand may have turned out to be zero.
                let left: Vec<Term> = grouped.iter().filter(|part| !is_zero(part)).cloned().collect();
                match left.as_slice() {
                    [only] => term.set(Kind::Same(only.clone())),
                    _ if left.len() < grouped.len() => term.set(Kind::Sum(left.into())),
                    _ => {}
                }
                Ok(())
            }
        })?;
        if let Kind::Lam(_, s) | Kind::Inj(_, s) = term.kind()
            && is_zero(&s)
        {
            term.set(zero().kind());
        }
        term.state.set(State::Normal);
        Ok(())
    }

    /// Reduces until the head is no redex.
    fn head(&mut self, term: &Term) -> Result<(), Stopped> {
        while term.state.get() == State::Raw {
            deep(|| self.head_once(term))?;
        }
        Ok(())
    }

    /// Reduces at the head, or finds it normal.
    fn head_once(&mut self, term: &Term) -> Result<(), Stopped> {
        match term.kind() {
            Kind::App(s, n) => self.application(term, &s, &n),
            Kind::Push(s) => self.pushforward(term, &s),
            Kind::Proj(k, s) => self.projection(term, k, &s),
            Kind::Sum(parts) => self.bag(term, &parts),
            Kind::Var(_) | Kind::Num(_) | Kind::Const(_) | Kind::Lam(..) | Kind::Inj(..) | Kind::Same(_) => {
                finished(term)
            }
        }
    }

    /// `s N`
    fn application(&mut self, term: &Term, s: &Term, n: &Term) -> Result<(), Stopped> {
        self.head(s)?;
        match s.kind() {
            Kind::Lam(x, body) => {
                let to = substitute(&body, &x, n);
                self.step("β", term, Kind::Same(to.clone()))?;
                self.become_head_of(term, &to)
            }
            Kind::Sum(parts) => {
                term.set(Kind::Sum(each(&parts, |part| app(part, n.clone()))));
                Ok(())
            }
            Kind::Const(c) => {
                if let Some(args) = self.numbers(c.shape(), n)? {
                    self.step("δ", term, number_kind(c.eval(&args)))?;
                }
                finished(term)
            }
            _ => finished(term),
        }
    }

    /// `T s`
    fn pushforward(&mut self, term: &Term, s: &Term) -> Result<(), Stopped> {
        self.head(s)?;
        match s.kind() {
            Kind::Lam(x, body) => {
                if self.order == Order::BodyFirst {
                    self.normal(&body)?;
                }
                let to = push_lambda(&x, &body);
                self.step("T", term, to.kind())?;
                finished(term)
            }
            Kind::Const(c) => {
                let to = push_constant(c);
                self.step("T", term, to.kind())?;
                finished(term)
            }
            Kind::Sum(parts) => {
                term.set(Kind::Sum(each(&parts, push)));
                Ok(())
            }
            _ => finished(term),
        }
    }

    /// `π_k s`
    fn projection(&mut self, term: &Term, k: Half, s: &Term) -> Result<(), Stopped> {
        self.head(s)?;
        match s.kind() {
            Kind::Inj(l, inner) if k == l => {
                self.step("×", term, Kind::Same(inner.clone()))?;
                self.become_head_of(term, &inner)
            }
            Kind::Inj(..) => {
                self.step("×", term, zero().kind())?;
                finished(term)
            }
            Kind::Sum(parts) => {
                term.set(Kind::Sum(each(&parts, |part| proj(k, part))));
                Ok(())
            }
            _ => finished(term),
        }
    }

    /// `term` is now the same as `to`, whose head is made normal too.
    fn become_head_of(&mut self, term: &Term, to: &Term) -> Result<(), Stopped> {
        self.head(to)?;
        term.state.set(to.state.get());
        Ok(())
    }

    /// The summands of a bag get normal heads, bags in it are united with it, its numbers are added, and its injections
    /// and abstractions are grouped. A bag of terms that stay what they are is kept as one part, which may be shared: of
    /// `x + x` for `x = y + y` there are two occurrences of `y + y`, not four of `y`.
    fn bag(&mut self, term: &Term, parts: &Rc<[Term]>) -> Result<(), Stopped> {
        let (mut left, mut numbers) = (Vec::with_capacity(parts.len()), Vec::new());
        for part in parts.iter() {
            self.head(part)?;
            match part.kind() {
                Kind::Num(r) => numbers.push(r),
                Kind::Sum(inner) if inner.len() > 1 && inner.iter().all(is_neutral) => {
                    left.push(part.clone())
                }
                // Bags in a bag whose head is normal have been united with it.
                Kind::Sum(inner) => {
                    for part in inner.iter() {
                        match part.kind() {
                            Kind::Num(r) => numbers.push(r),
                            _ => left.push(part.clone()),
                        }
                    }
                }
                _ => left.push(part.clone()),
            }
        }
        let mut left = group(&left);
        let number = numbers.iter().sum::<f64>();
        if number != 0.0 || number.is_nan() {
            if left.len() > 1 && left.iter().all(is_neutral) {
                left = vec![sum(left)];
                left.iter().for_each(|part| part.state.set(State::Head));
            }
            left.push(super::syntax::num(number));
        }
        let kind = match left.as_slice() {
            [only] => Kind::Same(only.clone()),
            _ => Kind::Sum(left.into()),
        };
        if numbers.len() > 1 {
            self.step("+", term, kind)?;
        } else {
            term.set(kind);
        }
        finished(term)
    }

    /// The numbers that a constant is applied to, if they all are numbers.
    fn numbers(&mut self, shape: Shape, n: &Term) -> Result<Option<Vec<f64>>, Stopped> {
        self.head(n)?;
        let halves = match shape {
            Shape::Real => {
                return Ok(match n.kind() {
                    Kind::Num(r) => Some(vec![r]),
                    Kind::Sum(parts) if parts.is_empty() => Some(vec![0.0]),
                    _ => None,
                });
            }
            Shape::Pair => Shape::Real,
            Shape::Pairs => Shape::Pair,
        };
        let parts = match n.kind() {
            Kind::Sum(parts) => group(&parts),
            _ => vec![n.clone()],
        };
        let (mut first, mut second) = (zero(), zero());
        for part in &parts {
            match part.kind() {
                Kind::Inj(Half::First, s) => first = s,
                Kind::Inj(Half::Second, s) => second = s,
                _ => return Ok(None),
            }
        }
        let Some(mut numbers) = self.numbers(halves, &first)? else { return Ok(None) };
        let Some(more) = self.numbers(halves, &second)? else { return Ok(None) };
        numbers.extend(more);
        if parts.len() > 1
            && let Kind::Sum(before) = n.kind()
            && parts.len() < before.len()
        {
            // The sums below the injections were found once and for all.
            n.set(Kind::Sum(parts.into()));
        }
        Ok(Some(numbers))
    }
}

fn finished(term: &Term) -> Result<(), Stopped> {
    term.state.set(State::Head);
    Ok(())
}

/// The same for every summand; what is shared is made once.
fn each(parts: &[Term], make: impl Fn(Term) -> Term) -> Rc<[Term]> {
    let mut made: FxHashMap<*const Node, Term> = FxHashMap::default();
    let one = |part: &Term| made.entry(Rc::as_ptr(part)).or_insert_with(|| make(part.clone())).clone();
    parts.iter().map(one).collect()
}

/// Whether a term of normal head is one that no other summand can meet: no number, injection or abstraction.
fn is_neutral(term: &Term) -> bool {
    match term.kind() {
        Kind::Var(_) | Kind::Const(_) | Kind::App(..) | Kind::Push(_) | Kind::Proj(..) => true,
        Kind::Sum(parts) => parts.len() > 1 && parts.first().is_some_and(is_neutral),
        Kind::Num(_) | Kind::Inj(..) | Kind::Lam(..) | Kind::Same(_) => false,
    }
}

/// Whether it is the empty bag.
pub(super) fn is_zero(term: &Term) -> bool {
    matches!(term.kind(), Kind::Sum(parts) if parts.is_empty())
}

/// The paper's sugar backwards: `ι_k M + ι_k N` is `ι_k(M + N)`, `λx. M + λx. N` is `λx. (M + N)`.
fn group(parts: &[Term]) -> Vec<Term> {
    let mut others = Vec::new();
    let (mut first, mut second, mut lambdas) = (Vec::new(), Vec::new(), Vec::new());
    for part in parts {
        match part.kind() {
            Kind::Inj(Half::First, s) => first.push((part, s)),
            Kind::Inj(Half::Second, s) => second.push((part, s)),
            Kind::Lam(x, s) => lambdas.push((part, x, s)),
            _ => others.push(part.clone()),
        }
    }
    for (k, group) in [(Half::First, first), (Half::Second, second)] {
        match group.as_slice() {
            [] => {}
            [(only, _)] => others.push((*only).clone()),
            more => others.push(inj(k, sum(more.iter().map(|(_, s)| s.clone())))),
        }
    }
    match lambdas.as_slice() {
        [] => {}
        [(only, _, _)] => others.push((*only).clone()),
        [(_, x, _), ..] => {
            let bodies =
                lambdas.iter().map(|(_, y, s)| if y == x { s.clone() } else { substitute(s, y, &var(x)) });
            others.push(lam(x, sum(bodies)));
        }
    }
    others
}

/// The numbers in `n`, if it is already made of numbers only: what a single step of `c n` can see.
pub(super) fn literal_numbers(shape: Shape, parts: &[Term]) -> Option<Vec<f64>> {
    let halves = match shape {
        Shape::Real => {
            let mut total = 0.0;
            for part in parts {
                match part.kind() {
                    Kind::Num(r) => total += r,
                    _ => return None,
                }
            }
            return Some(vec![total]);
        }
        Shape::Pair => Shape::Real,
        Shape::Pairs => Shape::Pair,
    };
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for part in parts {
        match part.kind() {
            Kind::Inj(Half::First, s) => first.push(s),
            Kind::Inj(Half::Second, s) => second.push(s),
            _ => return None,
        }
    }
    let mut numbers = literal_numbers(halves, &first)?;
    numbers.extend(literal_numbers(halves, &second)?);
    Some(numbers)
}

/// `M` and `N` of a pair `⟨M, N⟩`, which may be written in several parts.
pub(super) fn halves_of(term: &Term) -> Option<[Term; 2]> {
    let parts = match term.kind() {
        Kind::Sum(parts) => group(&parts),
        _ => vec![term.clone()],
    };
    let (mut first, mut second) = (zero(), zero());
    for part in parts {
        match part.kind() {
            Kind::Inj(Half::First, s) => first = s,
            Kind::Inj(Half::Second, s) => second = s,
            _ => return None,
        }
    }
    Some([first, second])
}

/// A constant at numbers.
pub(super) fn delta(c: Const, numbers: &[f64]) -> Term {
    super::syntax::num(c.eval(numbers))
}
