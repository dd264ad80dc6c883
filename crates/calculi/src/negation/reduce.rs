//! Table 2 as it stands: the reduction rules (7)–(17) and (23) in any context, one step at a time, and normal forms for
//! any set X of rules.
//!
//! Every contraction builds the term that the paper writes. Finding a redex takes time proportional to the term: this is
//! the reference, for people, for open terms and for the theorems; [`super::machine`] is for large closed ones.
//!
//! Two readings of the table, each with a test among the slips: rule (16) is allowed a substitution context `α` behind the
//! pair as its neighbors are (Lemma 3 fails without it), and (23) counts among the evaluation rules β (Proposition 5
//! fails without it). The η rules would expand their own results for ever: here (15) is not applied to abstractions
//! and functions that are being applied, nor (16) to a pair of variables and numerals.

use super::print;
use super::syntax::{self, Kind, Symbol, Tm, Ty, Var, add, app, deep, lam, num, pair, sub, sub_pair, var};
use super::types::type_of;
use crate::kit::trace::{Counts, Limits, Step, Stopped, WORK};
use wengert_prim::RealOp;

/// A reduction rule, by its number in Table 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the number is the rule; `super::RULES` describes each")]
pub enum Rule {
    R7,
    R8,
    R9,
    R10,
    R11,
    R12,
    R13,
    R14,
    R15,
    R16,
    R17,
    R23,
}

impl Rule {
    /// All rules.
    pub const ALL: [Rule; 12] = [
        Rule::R7,
        Rule::R8,
        Rule::R9,
        Rule::R10,
        Rule::R11,
        Rule::R12,
        Rule::R13,
        Rule::R14,
        Rule::R15,
        Rule::R16,
        Rule::R17,
        Rule::R23,
    ];

    /// Its number in the paper.
    pub fn name(self) -> &'static str {
        match self {
            Rule::R7 => "7",
            Rule::R8 => "8",
            Rule::R9 => "9",
            Rule::R10 => "10",
            Rule::R11 => "11",
            Rule::R12 => "12",
            Rule::R13 => "13",
            Rule::R14 => "14",
            Rule::R15 => "15",
            Rule::R16 => "16",
            Rule::R17 => "17",
            Rule::R23 => "23",
        }
    }
}

/// A set X of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    bits: u32,
    numerals_only: bool,
}

impl Rules {
    /// β, Table 2a with (23).
    pub const BETA: Rules = Rules { bits: 0b1000_1111_1111, numerals_only: false };
    /// η, Table 2b.
    pub const ETA: Rules = Rules { bits: 0b11 << 8, numerals_only: false };
    /// ℓ, Table 2c: linear factoring.
    pub const LINEAR: Rules = Rules { bits: 1 << 10, numerals_only: false };

    /// These rules.
    pub fn of(rules: &[Rule]) -> Rules {
        Rules { bits: rules.iter().fold(0, |bits, rule| bits | 1 << (*rule as u32)), numerals_only: false }
    }

    /// The union, which the paper writes by juxtaposition.
    pub const fn and(self, other: Rules) -> Rules {
        Rules { bits: self.bits | other.bits, numerals_only: self.numerals_only || other.numerals_only }
    }

    /// With rule (9) restricted to numerals: (9)ⁿ.
    pub fn with_numerals_only(self) -> Rules {
        Rules { numerals_only: true, ..self }
    }

    /// Whether it has the rule.
    pub fn has(self, rule: Rule) -> bool {
        self.bits & (1 << (rule as u32)) != 0
    }
}

/// A substitution context: the substitutions behind a term, outermost first.
type Alpha = Vec<(Vec<Var>, Tm)>;

/// `t = sα` with `s` no substitution.
fn peel(tm: &Tm) -> (&Tm, Alpha) {
    let (mut core, mut alpha) = (tm, Vec::new());
    loop {
        match &core.kind {
            Kind::Sub(t, x, u) => {
                alpha.push((vec![x.clone()], u.clone()));
                core = t;
            }
            Kind::SubPair(t, x, y, u) => {
                alpha.push((vec![x.clone(), y.clone()], u.clone()));
                core = t;
            }
            Kind::Var(_) | Kind::Num(_) | Kind::Lam(..) | Kind::App(..) | Kind::Pair(..) => {
                return (core, alpha);
            }
            Kind::Add(..) | Kind::Fun(..) => return (core, alpha),
        }
    }
}

/// `tα`
fn wrap(tm: Tm, alpha: &Alpha) -> Tm {
    alpha.iter().rev().fold(tm, |tm, (binders, u)| match binders.as_slice() {
        [x, y] => sub_pair(tm, x, y, u.clone()),
        [x] => sub(tm, x, u.clone()),
        _ => tm,
    })
}

/// Contracts the redex of `rule` at the root; for (9), the occurrence number `occurrence` of the variable.
pub fn contract(tm: &Tm, rule: Rule, occurrence: u64) -> Option<Tm> {
    match (rule, &tm.kind) {
        (Rule::R7, Kind::App(f, u)) => {
            let (f, alpha) = peel(f);
            let Kind::Lam(x, t) = &f.kind else { return None };
            Some(wrap(sub(t.clone(), x, u.clone()), &alpha))
        }
        (Rule::R8, Kind::SubPair(s, x, y, p)) => {
            let (p, alpha) = peel(p);
            let Kind::Pair(t, u) = &p.kind else { return None };
            Some(wrap(sub(sub(s.clone(), x, t.clone()), y, u.clone()), &alpha))
        }
        (Rule::R9, Kind::Sub(c, x, u)) if !x.linear => {
            let (v, alpha) = peel(u);
            let replaced = v.is_value.then(|| replace_occurrence(c, x, v, occurrence)).flatten()?;
            Some(wrap(sub(replaced, x, v.clone()), &alpha))
        }
        (Rule::R10, Kind::Sub(t, x, u)) if !x.linear => {
            let (v, alpha) = peel(u);
            (v.is_value && syntax::occurrences(t, x) == 0).then(|| wrap(t.clone(), &alpha))
        }
        (Rule::R11, Kind::Sub(t, x, u)) if x.linear => {
            let (v, alpha) = peel(u);
            let replaced = || syntax::map_vars(t, &mut |y| (y == x).then(|| v.clone()));
            v.is_value.then(|| wrap(replaced(), &alpha))
        }
        (Rule::R12 | Rule::R13 | Rule::R17, Kind::Add(t, u)) => contract_sum(rule, t, u),
        (Rule::R14, Kind::Fun(f, _)) if *f == Symbol::Op(RealOp::Mul) => numeric(tm),
        (Rule::R23, Kind::Fun(f, _)) if *f != Symbol::Op(RealOp::Mul) => numeric(tm),
        (Rule::R15, _) => match type_of(tm) {
            Ty::Fun(a, _) => {
                let y = Var::exponential("y", (*a).clone());
                Some(lam(&y, app(tm.clone(), var(&y))))
            }
            Ty::Neg(_) => {
                let y = Var::linear("a");
                Some(lam(&y, app(tm.clone(), var(&y))))
            }
            Ty::Real | Ty::Prod(..) => None,
        },
        (Rule::R16, Kind::Sub(t, x, p)) if !x.linear => {
            let (p, alpha) = peel(p);
            let (Kind::Pair(u, w), Ty::Prod(a, b)) = (&p.kind, &x.ty) else { return None };
            let (y, z) = component_variables(x, a, b);
            let expanded = sub(t.clone(), x, pair(var(&y), var(&z)));
            Some(wrap(sub_pair(expanded, &y, &z, pair(u.clone(), w.clone())), &alpha))
        }
        _ => None,
    }
}

/// The variables of (16), named after the one they are parts of: `x` and `x′`.
pub(crate) fn component_variables(x: &Var, a: &Ty, b: &Ty) -> (Var, Var) {
    (Var::exponential(x.name.clone(), a.clone()), Var::exponential(format!("{}'", x.name), b.clone()))
}

fn contract_sum(rule: Rule, t: &Tm, u: &Tm) -> Option<Tm> {
    let ((s, alpha), (w, beta)) = (peel(t), peel(u));
    match (rule, &s.kind, &w.kind) {
        (Rule::R12, Kind::Num(r), Kind::Num(q)) => Some(wrap(wrap(num(r + q), &alpha), &beta)),
        (Rule::R13, Kind::Pair(t1, t2), Kind::Pair(u1, u2)) => {
            let sum = pair(add(t1.clone(), u1.clone()), add(t2.clone(), u2.clone()));
            Some(wrap(wrap(sum, &alpha), &beta))
        }
        (Rule::R17, Kind::App(f, a), Kind::App(g, b)) => {
            let ((x, inner_alpha), (y, inner_beta)) = (peel(f), peel(g));
            let (Kind::Var(x), Kind::Var(y)) = (&x.kind, &y.kind) else { return factor_bunch(t, u) };
            let binds = |alpha: &Alpha| alpha.iter().any(|(binders, _)| binders.contains(x));
            let hidden = [&alpha, &beta, &inner_alpha, &inner_beta].into_iter().any(binds);
            if x != y || hidden || !matches!(x.ty, Ty::Neg(_)) {
                return None;
            }
            let factored = app(var(x), add(a.clone(), b.clone()));
            Some([&inner_alpha, &alpha, &inner_beta, &beta].into_iter().fold(factored, wrap))
        }
        (Rule::R17, _, _) => factor_bunch(t, u),
        _ => None,
    }
}

/// (17) between a summand of the bunch `t` and one of the bunch `u`, of which at least one is a sum: the paper writes Σ
/// for sums whatever their order and brackets, and by (21) and (22) whatever substitutions stand behind their parts.
fn factor_bunch(t: &Tm, u: &Tm) -> Option<Tm> {
    let is_sum = |tm: &Tm| matches!(peel(tm).0.kind, Kind::Add(..));
    if !is_sum(t) && !is_sum(u) {
        return None;
    }
    let mut contexts = Alpha::new();
    let (left, right) = (summands(t, &mut contexts), summands(u, &mut contexts));
    for (i, s) in left.iter().enumerate() {
        for (j, w) in right.iter().enumerate() {
            if let Some(factored) = contract_sum(Rule::R17, s, w) {
                let others = right.iter().enumerate().filter(|(k, _)| *k != j).map(|(_, w)| (*w).clone());
                let left = left.iter().enumerate().map(|(k, s)| if k == i { &factored } else { *s });
                let left = left.cloned().reduce(add)?;
                let sum = match others.reduce(add) {
                    Some(others) => add(left, others),
                    None => left,
                };
                return Some(wrap(sum, &contexts));
            }
        }
    }
    None
}

/// The summands of a bunch, from left to right, and the substitutions behind its sums.
fn summands<'a>(tm: &'a Tm, contexts: &mut Alpha) -> Vec<&'a Tm> {
    let (mut out, mut waiting) = (Vec::new(), vec![tm]);
    while let Some(tm) = waiting.pop() {
        let (core, alpha) = peel(tm);
        if let Kind::Add(t, u) = &core.kind {
            contexts.extend(alpha);
            waiting.extend([u, t]);
        } else {
            out.push(tm);
        }
    }
    out
}

/// Whether (17) applies to `t + u` as Table 2c is printed, without regard to order and brackets of sums.
pub fn factors_as_printed(tm: &Tm) -> bool {
    let Kind::Add(t, u) = &tm.kind else { return false };
    let single = |tm: &Tm| !matches!(tm.kind, Kind::Add(..));
    single(t) && single(u) && contract_sum(Rule::R17, t, u).is_some()
}

/// (14) and (23): the symbol at numerals.
fn numeric(tm: &Tm) -> Option<Tm> {
    let Kind::Fun(f, args) = &tm.kind else { return None };
    let mut values = Vec::with_capacity(args.len());
    let mut alphas = Vec::new();
    for arg in args {
        let (r, alpha) = peel(arg);
        let Kind::Num(r) = r.kind else { return None };
        values.push(r);
        alphas.push(alpha);
    }
    Some(alphas.iter().fold(num(f.eval(&values)), wrap))
}

fn replace_occurrence(tm: &Tm, x: &Var, v: &Tm, occurrence: u64) -> Option<Tm> {
    let (mut seen, mut done) = (0, false);
    let replaced = syntax::map_vars(tm, &mut |y| {
        if y != x {
            return None;
        }
        seen += 1;
        (seen == occurrence + 1).then(|| {
            done = true;
            syntax::renew(v)
        })
    });
    done.then_some(replaced)
}

/// Where a rule applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redex {
    /// The rule.
    pub rule: Rule,
    /// Which child to follow at each node from the root.
    pub path: Vec<usize>,
    /// For (9), which occurrence.
    pub occurrence: u64,
}

/// Rules of `set` that apply at the root of `tm`, with the number of ways (occurrences, for (9)).
fn at_root(tm: &Tm, set: Rules, applied: bool) -> Vec<(Rule, u64)> {
    let mut found = Vec::new();
    for rule in Rule::ALL.into_iter().filter(|rule| set.has(*rule)) {
        let ways = match (rule, &tm.kind) {
            (Rule::R9, Kind::Sub(c, x, u)) if !x.linear => {
                let v = peel(u).0;
                let copied = v.is_value && (!set.numerals_only || matches!(v.kind, Kind::Num(_)));
                if copied { syntax::occurrences(c, x) } else { 0 }
            }
            (Rule::R15, Kind::Lam(..)) => 0,
            (Rule::R15, _) if applied => 0,
            (Rule::R16, Kind::Sub(_, _, p)) if is_pair_of_atoms(p) => 0,
            _ => u64::from(contract(tm, rule, 0).is_some()),
        };
        found.extend((0..ways).map(|way| (rule, way)));
    }
    found
}

fn is_pair_of_atoms(tm: &Tm) -> bool {
    matches!(&peel(tm).0.kind, Kind::Pair(a, b) if is_atom(a) && is_atom(b))
}

/// A numeral, a variable, or what (15) makes of one.
fn is_atom(tm: &Tm) -> bool {
    match &tm.kind {
        Kind::Var(_) | Kind::Num(_) => true,
        Kind::Lam(_, body) => {
            matches!(&body.kind, Kind::App(f, x) if deep(|| is_applied_atom(f) && is_atom(x)))
        }
        Kind::Pair(t, u) => deep(|| is_atom(t) && is_atom(u)),
        Kind::App(..) | Kind::Sub(..) | Kind::SubPair(..) | Kind::Add(..) | Kind::Fun(..) => false,
    }
}

fn is_applied_atom(tm: &Tm) -> bool {
    match &tm.kind {
        Kind::App(f, x) => deep(|| is_applied_atom(f) && is_atom(x)),
        Kind::Var(_) => true,
        Kind::Num(_) | Kind::Lam(..) | Kind::Pair(..) | Kind::Add(..) | Kind::Fun(..) => false,
        Kind::Sub(..) | Kind::SubPair(..) => false,
    }
}

/// Whether child `i` of this node is a function being applied, where (15) would expand its own result.
fn is_applied(kind: &Kind, child: usize, applied: bool) -> bool {
    match kind {
        Kind::App(..) => child == 0,
        Kind::Sub(..) | Kind::SubPair(..) => child == 0 && applied,
        Kind::Var(_) | Kind::Num(_) | Kind::Lam(..) | Kind::Pair(..) | Kind::Add(..) | Kind::Fun(..) => false,
    }
}

/// All redexes of `set`.
pub fn redexes(tm: &Tm, set: Rules) -> Vec<Redex> {
    fn go(tm: &Tm, set: Rules, applied: bool, path: &mut Vec<usize>, out: &mut Vec<Redex>) {
        deep(|| {
            for (rule, occurrence) in at_root(tm, set, applied) {
                out.push(Redex { rule, path: path.clone(), occurrence });
            }
            for (i, child) in tm.kind.children().into_iter().enumerate() {
                path.push(i);
                go(child, set, is_applied(&tm.kind, i, applied), path, out);
                path.pop();
            }
        });
    }
    let mut out = Vec::new();
    go(tm, set, false, &mut Vec::new(), &mut out);
    out
}

/// The node at the end of a path.
pub fn node_at<'a>(tm: &'a Tm, path: &[usize]) -> Option<&'a Tm> {
    path.iter().try_fold(tm, |tm, i| tm.kind.children().get(*i).copied())
}

/// The term with the node at the end of a path replaced.
pub fn replace_at(tm: &Tm, path: &[usize], new: Tm) -> Tm {
    let mut spine = Vec::with_capacity(path.len());
    let mut at = tm;
    for i in path {
        spine.push((at, *i));
        match at.kind.children().get(*i).copied() {
            Some(child) => at = child,
            None => return tm.clone(),
        }
    }
    spine.into_iter().rev().fold(new, |new, (node, i)| {
        let children = node.kind.children().into_iter().enumerate();
        let children = children.map(|(j, child)| if i == j { new.clone() } else { child.clone() }).collect();
        syntax::mk(node.kind.with_children(children))
    })
}

/// Contracts a redex.
pub fn step(tm: &Tm, redex: &Redex) -> Option<Tm> {
    let node = node_at(tm, &redex.path)?;
    Some(replace_at(tm, &redex.path, contract(node, redex.rule, redex.occurrence)?))
}

/// In which order redexes are contracted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Bodies of abstractions last: functions are copied as they are. Section 6.2's unfolding strategy.
    Unfolding,
    /// Bodies of abstractions first: functions are copied in normal form. Section 6.2's cheaper strategy.
    BodiesFirst,
}

/// The next redex: substituted terms first, then the scope. A variable of type R^⊥ is replaced only when nothing else is
/// left to do in its scope, bodies of abstractions included, so that (17) has found all its occurrences.
pub fn next(tm: &Tm, set: Rules, strategy: Strategy) -> Option<Redex> {
    let search = |bodies| {
        let mut path = Vec::new();
        let (rule, occurrence) = find(tm, set, bodies, false, &mut path)?;
        Some(Redex { rule, path, occurrence })
    };
    match strategy {
        Strategy::Unfolding => search(false).or_else(|| search(true)),
        Strategy::BodiesFirst => search(true),
    }
}

fn find(tm: &Tm, set: Rules, bodies: bool, applied: bool, path: &mut Vec<usize>) -> Option<(Rule, u64)> {
    deep(|| {
        let child_with = |i: usize, bodies: bool, path: &mut Vec<usize>| {
            let t = tm.kind.children().get(i).copied()?;
            path.push(i);
            let found = find(t, set, bodies, is_applied(&tm.kind, i, applied), path);
            if found.is_none() {
                path.pop();
            }
            found
        };
        let child = |i: usize, path: &mut Vec<usize>| child_with(i, bodies, path);
        let own = || {
            let found = at_root(tm, set, applied);
            let expansion = found.iter().find(|(rule, _)| *rule == Rule::R16);
            expansion.or_else(|| found.first()).copied()
        };
        match &tm.kind {
            Kind::Lam(..) if !bodies => own(),
            Kind::Sub(t, x, _) if is_pending(x, t) => {
                child(1, path).or_else(|| child(0, path)).or_else(|| child_with(0, true, path)).or_else(own)
            }
            Kind::Sub(..) | Kind::SubPair(..) => child(1, path).or_else(own).or_else(|| child(0, path)),
            Kind::Var(_)
            | Kind::Num(_)
            | Kind::Lam(..)
            | Kind::App(..)
            | Kind::Pair(..)
            | Kind::Add(..)
            | Kind::Fun(..) => (0..tm.kind.children().len()).find_map(|i| child(i, path)).or_else(own),
        }
    })
}

/// Whether `x` is a variable of type R^⊥ that occurs in `t`.
fn is_pending(x: &Var, t: &Tm) -> bool {
    matches!(x.ty, Ty::Neg(_)) && !x.linear && syntax::occurrences(t, x) > 0
}

/// A reduction of Table 2, with its steps.
pub struct Run {
    /// The last term.
    pub end: Tm,
    /// The recorded steps.
    pub steps: Vec<Step>,
    /// Counts.
    pub counts: Counts,
    /// Why it is no normal form.
    pub stopped: Option<Stopped>,
}

/// Reduces to a normal form for the rules of `set`.
pub fn normalize(tm: &Tm, set: Rules, strategy: Strategy, limits: &Limits) -> Run {
    let mut run = Run { end: tm.clone(), steps: Vec::new(), counts: Counts::default(), stopped: None };
    run.counts.size(tm.size);
    let mut work = 0;
    while let Some(redex) = next(&run.end, set, strategy) {
        if run.counts.steps >= limits.steps {
            run.stopped = Some(Stopped::Steps);
            break;
        }
        // Finding a redex looks through the term.
        work += run.end.size;
        if work > WORK {
            run.stopped = Some(Stopped::Work);
            break;
        }
        let Some(after) = step(&run.end, &redex) else { break };
        if run.counts.steps < limits.recorded {
            let focus = node_at(&run.end, &redex.path);
            let (before, range) = print::highlighted(&run.end, focus);
            run.steps.push(Step {
                rule: redex.rule.name(),
                before,
                redex: range,
                after: print::plain(&after),
            });
        }
        run.counts.step(redex.rule.name());
        run.counts.size(after.size);
        run.end = after;
        if run.end.size > limits.size {
            run.stopped = Some(Stopped::Size);
            break;
        }
    }
    run
}
