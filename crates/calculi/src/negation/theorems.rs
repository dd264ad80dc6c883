//! The paper's theorems on random well-typed terms: Propositions 2, 4–6, 8, 12, Lemmas 3, 7, 11, 13, 14, Corollaries 9
//! and 16 with Theorem 15. `WENGERT_PROPERTY_CASES` sets the number of terms of each.

use super::equivalence::{Law, equivalents, unfold};
use super::generate::{Language, term, ty};
use super::reduce::{
    Redex, Rule, Rules, Strategy, factors_as_printed, node_at, normalize, redexes, replace_at, step,
};
use super::syntax::{Kind, Tm, Ty, Var, alpha_eq, num, sub};
use super::{ground, machine, parse, print, transform, types};
use crate::kit::trace::Limits;
use arbitrary::Unstructured;
use rustc_hash::FxHashMap;
use std::rc::Rc;
use wengert_base::SourceId;

/// Runs `property` on as many random inputs as asked for.
pub(super) fn check(default: u64, mut property: impl FnMut(&mut Unstructured<'_>) -> arbitrary::Result<()>) {
    let cases = std::env::var("WENGERT_PROPERTY_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(default);
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    for _ in 0..cases {
        let bytes: Vec<u8> = (0..512)
            .map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                (state >> 24) as u8
            })
            .collect();
        let _ = property(&mut Unstructured::new(&bytes));
    }
}

/// The denotation of section 4, as a function of the denotations of free variables.
#[derive(Clone)]
enum Sem {
    Num(f64),
    Pair(Rc<(Sem, Sem)>),
    Fun(Rc<dyn Fn(Sem) -> Sem>),
}

type Env = FxHashMap<u64, Sem>;

fn denote(tm: &Tm, env: &Env) -> Sem {
    let bound = |x: &Var, t: &Tm, value: Sem| {
        let mut env = env.clone();
        env.insert(x.id, value);
        denote(t, &env)
    };
    match &tm.kind {
        Kind::Var(x) => env[&x.id].clone(),
        Kind::Num(r) => Sem::Num(*r),
        Kind::Lam(x, t) => {
            let (x, t, env) = (x.clone(), t.clone(), env.clone());
            Sem::Fun(Rc::new(move |value| {
                let mut env = env.clone();
                env.insert(x.id, value);
                denote(&t, &env)
            }))
        }
        Kind::App(t, u) => match denote(t, env) {
            Sem::Fun(f) => f(denote(u, env)),
            Sem::Num(_) | Sem::Pair(_) => panic!("no function"),
        },
        Kind::Pair(t, u) => Sem::Pair(Rc::new((denote(t, env), denote(u, env)))),
        Kind::Sub(t, x, u) => bound(x, t, denote(u, env)),
        Kind::SubPair(t, x, y, u) => match denote(u, env) {
            Sem::Pair(parts) => {
                let mut env = env.clone();
                env.insert(x.id, parts.0.clone());
                env.insert(y.id, parts.1.clone());
                denote(t, &env)
            }
            Sem::Num(_) | Sem::Fun(_) => panic!("no pair"),
        },
        Kind::Add(t, u) => plus(&denote(t, env), &denote(u, env)),
        Kind::Fun(f, args) => {
            let args: Vec<f64> = args.iter().map(|arg| real(&denote(arg, env))).collect();
            Sem::Num(f.eval(&args))
        }
    }
}

fn real(sem: &Sem) -> f64 {
    match sem {
        Sem::Num(r) => *r,
        Sem::Pair(_) | Sem::Fun(_) => panic!("no number"),
    }
}

fn plus(a: &Sem, b: &Sem) -> Sem {
    match (a, b) {
        (Sem::Pair(a), Sem::Pair(b)) => Sem::Pair(Rc::new((plus(&a.0, &b.0), plus(&a.1, &b.1)))),
        (a, b) => Sem::Num(real(a) + real(b)),
    }
}

/// Some element of a type.
fn sample(ty: &Ty, seed: f64) -> Sem {
    match ty {
        Ty::Real => Sem::Num(seed),
        Ty::Prod(a, b) => Sem::Pair(Rc::new((sample(a, seed), sample(b, seed * 0.7 - 0.3)))),
        Ty::Fun(_, b) => {
            let b = b.clone();
            Sem::Fun(Rc::new(move |x| sample(&b, weigh(&x) * 0.5 + seed)))
        }
        Ty::Neg(d) => {
            let d = *d;
            Sem::Fun(Rc::new(move |x| {
                let parts = (0..d).map(|i| Sem::Num(real(&x) * (seed + i as f64))).rev();
                parts.reduce(|rest, part| Sem::Pair(Rc::new((part, rest)))).unwrap()
            }))
        }
    }
}

fn weigh(sem: &Sem) -> f64 {
    match sem {
        Sem::Num(r) => *r,
        Sem::Pair(parts) => weigh(&parts.0) - weigh(&parts.1),
        Sem::Fun(_) => 0.25,
    }
}

pub(super) fn near(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs())) || (!a.is_finite() && !b.is_finite())
}

fn same(a: &Sem, b: &Sem, ty: &Ty) -> bool {
    match (ty, a, b) {
        (Ty::Real, Sem::Num(a), Sem::Num(b)) => near(*a, *b, 1e-9),
        (Ty::Prod(t, u), Sem::Pair(a), Sem::Pair(b)) => same(&a.0, &b.0, t) && same(&a.1, &b.1, u),
        (Ty::Fun(t, u), Sem::Fun(f), Sem::Fun(g)) => {
            [0.3, -1.1].iter().all(|seed| same(&f(sample(t, *seed)), &g(sample(t, *seed)), u))
        }
        (Ty::Neg(d), Sem::Fun(f), Sem::Fun(g)) => {
            [1.0, -2.5].iter().all(|r| same(&f(Sem::Num(*r)), &g(Sem::Num(*r)), &Ty::euclid(*d)))
        }
        _ => false,
    }
}

/// Free variables of several types, and their denotations.
fn context(language: Language) -> (Vec<Var>, Env) {
    let mut types = vec![Ty::Real, Ty::Real];
    if language != Language::Ground {
        types.extend([Ty::fun(Ty::Real, Ty::Real), Ty::prod(Ty::Real, Ty::Real)]);
    }
    if language == Language::Negation {
        types.push(Ty::Neg(1));
    }
    let vars: Vec<Var> = types.into_iter().map(|ty| Var::exponential("v", ty)).collect();
    let env = vars.iter().enumerate().map(|(i, x)| (x.id, sample(&x.ty, 0.4 + i as f64 * 0.3))).collect();
    (vars, env)
}

fn open(u: &mut Unstructured<'_>, language: Language, fuel: u32) -> arbitrary::Result<(Tm, Ty, Env)> {
    let (mut scope, env) = context(language);
    let a = if language == Language::Ground { Ty::Real } else { ty(u, language, 2)? };
    let tm = term(u, language, &mut scope, &a, fuel)?;
    assert_eq!(types::infer(&tm).as_ref().ok(), Some(&a), "generated {}", print::term(&tm));
    Ok((tm, a, env))
}

fn all() -> Rules {
    Rules::BETA.and(Rules::ETA).and(Rules::LINEAR)
}

fn paths(tm: &Tm) -> Vec<Vec<usize>> {
    let mut out = vec![Vec::new()];
    for (i, child) in tm.kind.children().into_iter().enumerate() {
        out.extend(paths(child).into_iter().map(|mut path| {
            path.insert(0, i);
            path
        }));
    }
    out
}

/// All terms that one law makes somewhere in `tm`.
fn all_equivalents(tm: &Tm) -> Vec<(Law, Tm)> {
    let at = |path: &Vec<usize>| {
        let node = node_at(tm, path).unwrap();
        let new = equivalents(node);
        new.into_iter().map(|(law, new)| (law, replace_at(tm, path, new))).collect::<Vec<_>>()
    };
    paths(tm).iter().flat_map(at).collect()
}

#[test]
fn what_is_printed_reads_back() {
    check(1500, |u| {
        let (tm, ty, _) = open(u, Language::Negation, 5)?;
        let text = print::sequent(&tm);
        let (again, found) =
            parse::parse(SourceId(0), &text).unwrap_or_else(|error| panic!("{text}\n{error:?}"));
        assert_eq!(found, ty, "{text}");
        assert_eq!(print::sequent(&again), text);
        assert_eq!(again.size, tm.size);
        Ok(())
    });
}

#[test]
fn propositions_2_and_8_subject_reduction_and_soundness() {
    let mut seen: FxHashMap<&str, u32> = FxHashMap::default();
    check(1500, |u| {
        let (tm, ty, env) = open(u, Language::Negation, 5)?;
        let before = denote(&tm, &env);
        if moves_linear(&tm) {
            return Ok(());
        }
        for redex in redexes(&tm, all()).into_iter().take(40) {
            let after = step(&tm, &redex).unwrap();
            let shown = || format!("({}) {}\n→ {}", redex.rule.name(), print::term(&tm), print::term(&after));
            let found = types::infer(&after).unwrap_or_else(|e| panic!("{}\n{}", shown(), e.message));
            assert_eq!(found, ty, "{}", shown());
            assert!(same(&before, &denote(&after, &env), &ty), "{}", shown());
            *seen.entry(redex.rule.name()).or_default() += 1;
        }
        Ok(())
    });
    for rule in Rule::ALL {
        assert!(
            seen.get(rule.name()).copied().unwrap_or(0) >= 3,
            "({}) was hardly tested: {seen:?}",
            rule.name()
        );
    }
}

#[test]
fn propositions_2_and_8_for_structural_equivalence() {
    let mut seen: FxHashMap<Law, u32> = FxHashMap::default();
    check(1000, |u| {
        let (tm, ty, env) = open(u, Language::Negation, 5)?;
        let (before, flat) = (denote(&tm, &env), unfold(&tm));
        for (law, other) in all_equivalents(&tm).into_iter().take(40) {
            if moves_linear(&tm) || moves_linear(&other) {
                continue;
            }
            let shown = || format!("{law:?} {}\n≡ {}", print::term(&tm), print::term(&other));
            let found = types::infer(&other).unwrap_or_else(|e| panic!("{}\n{}", shown(), e.message));
            assert_eq!(found, ty, "{}", shown());
            assert!(same(&before, &denote(&other, &env), &ty), "{}", shown());
            assert!(alpha_eq(&unfold(&other), &flat) || has_stuck_pair(&tm), "{}", shown());
            *seen.entry(law).or_default() += 1;
        }
        Ok(())
    });
    for law in [Law::E18, Law::E19, Law::E20, Law::E21, Law::E22] {
        assert!(seen.get(&law).copied().unwrap_or(0) >= 10, "{law:?} was hardly tested: {seen:?}");
    }
}

/// Whether a substitution of a linear variable stands right under a sum, pair, product, application or another one: moving it out
/// breaks typing, see the slips.
fn moves_linear(tm: &Tm) -> bool {
    fn behind(mut tm: &Tm) -> bool {
        loop {
            match &tm.kind {
                Kind::Sub(_, x, _) if x.linear => return true,
                Kind::Sub(t, ..) | Kind::SubPair(t, ..) => tm = t,
                Kind::Var(_) | Kind::Num(_) | Kind::Lam(..) | Kind::App(..) => return false,
                Kind::Pair(..) | Kind::Add(..) | Kind::Fun(..) => return false,
            }
        }
    }
    let children = tm.kind.children();
    // (18) exchanges two linear substitutions where only one order is typable.
    let here = matches!(tm.kind, Kind::Add(..) | Kind::Pair(..) | Kind::App(..) | Kind::Fun(..))
        || matches!(&tm.kind, Kind::Sub(_, x, _) if x.linear);
    (here && children.iter().any(|child| behind(child))) || children.into_iter().any(moves_linear)
}

/// Substitutions of pairs that are no pairs yet: unfolding keeps them where they are.
fn has_stuck_pair(tm: &Tm) -> bool {
    matches!(tm.kind, Kind::SubPair(..)) || tm.kind.children().into_iter().any(has_stuck_pair)
}

/// The laws and rules for which Lemma 3 holds: without splitting (20), and without moving substitutions into pairs, which
/// then are no values any more. The slips have the counterexamples.
fn bisimilar(tm: &Tm) -> Vec<Tm> {
    let pairs = |tm: &Tm| {
        count(tm, &|kind| matches!(kind, Kind::Pair(a, b) if holds_substitution(a) || holds_substitution(b)))
    };
    let kept = all_equivalents(tm).into_iter().filter(|(law, _)| *law != Law::E20);
    kept.map(|(_, other)| other).filter(|other| pairs(other) == pairs(tm)).collect()
}

fn holds_substitution(tm: &Tm) -> bool {
    matches!(tm.kind, Kind::Sub(..) | Kind::SubPair(..))
}

fn count(tm: &Tm, is: &dyn Fn(&Kind) -> bool) -> usize {
    usize::from(is(&tm.kind)) + tm.kind.children().into_iter().map(|child| count(child, is)).sum::<usize>()
}

/// Whether some step of `tm` by `rule` gives a term that unfolds to `flat`.
fn steps_to(tm: &Tm, rule: Rule, flat: &Tm) -> Option<Tm> {
    redexes(tm, Rules::of(&[rule]))
        .iter()
        .filter_map(|redex| step(tm, redex))
        .find(|after: &Tm| alpha_eq(&unfold(after), flat))
}

#[test]
fn lemma_3_structural_equivalence_is_a_strong_bisimulation() {
    let rules =
        [Rule::R7, Rule::R8, Rule::R9, Rule::R10, Rule::R11, Rule::R12, Rule::R14, Rule::R17, Rule::R23];
    let mut tested = 0;
    check(1000, |u| {
        let (tm, _, _) = open(u, Language::Negation, 4)?;
        if has_stuck_pair(&tm) {
            return Ok(());
        }
        let others = bisimilar(&tm);
        let printed =
            |redex: &Redex| redex.rule != Rule::R17 || factors_as_printed(node_at(&tm, &redex.path).unwrap());
        for redex in redexes(&tm, Rules::of(&rules)).into_iter().filter(printed).take(6) {
            let after = unfold(&step(&tm, &redex).unwrap());
            for other in others.iter().take(6) {
                let found = steps_to(other, redex.rule, &after);
                assert!(
                    found.is_some(),
                    "({})\n{}\n≡ {}",
                    redex.rule.name(),
                    print::term(&tm),
                    print::term(other)
                );
                tested += 1;
            }
        }
        Ok(())
    });
    assert!(tested > 200, "{tested}");
}

#[test]
fn proposition_4_postponement() {
    let rules = Rules::of(&[Rule::R7, Rule::R12, Rule::R14, Rule::R23, Rule::R11]);
    let mut tested = 0;
    check(1200, |u| {
        let (tm, _, _) = open(u, Language::Negation, 4)?;
        let pick = |u: &mut Unstructured<'_>, all: Vec<Tm>| -> arbitrary::Result<Option<Tm>> {
            if all.is_empty() { Ok(None) } else { Ok(Some(u.choose(&all)?.clone())) }
        };
        if has_stuck_pair(&tm) {
            return Ok(());
        }
        let Some(t1) = pick(u, bisimilar(&tm))? else { return Ok(()) };
        let first = redexes(&t1, rules);
        let Some(first) = first.first() else { return Ok(()) };
        let u1 = step(&t1, first).unwrap();
        let t2 = pick(u, bisimilar(&u1))?.unwrap_or_else(|| u1.clone());
        let second = redexes(&t2, rules);
        let Some(second) = second.first() else { return Ok(()) };
        let flat = unfold(&step(&t2, second).unwrap());
        let middle = unfold(&u1);
        let reached = redexes(&tm, Rules::of(&[first.rule]))
            .iter()
            .filter_map(|redex| step(&tm, redex))
            .filter(|v| alpha_eq(&unfold(v), &middle))
            .any(|v| steps_to(&v, second.rule, &flat).is_some());
        assert!(reached, "{}\n({}) ({})", print::term(&tm), first.rule.name(), second.rule.name());
        tested += 1;
        Ok(())
    });
    assert!(tested > 50, "{tested}");
}

fn closed(u: &mut Unstructured<'_>, language: Language, a: &Ty, fuel: u32) -> arbitrary::Result<Tm> {
    term(u, language, &mut Vec::new(), a, fuel)
}

fn small() -> Limits {
    Limits { steps: 4000, size: 20_000, recorded: 0 }
}

#[test]
fn proposition_5_closed_normal_forms_are_values() {
    let mut reached = 0;
    check(400, |u| {
        let a = ty(u, Language::Negation, 2)?;
        let tm = closed(u, Language::Negation, &a, 4)?;
        let run = normalize(&tm, Rules::BETA, Strategy::BodiesFirst, &small());
        if run.stopped.is_none() {
            assert!(run.end.is_value, "{}\n→ {}", print::term(&tm), print::term(&run.end));
            reached += 1;
        }
        Ok(())
    });
    assert!(reached > 300, "{reached}");
}

#[test]
fn proposition_6_weak_normalization_for_sets_of_rules() {
    check(400, |u| {
        let (tm, _, _) = open(u, Language::Negation, 4)?;
        let candidates: Vec<Rule> =
            Rule::ALL.into_iter().filter(|rule| Rules::BETA.and(Rules::LINEAR).has(*rule)).collect();
        let mut chosen = Vec::new();
        for rule in candidates {
            if u.arbitrary()? {
                chosen.push(rule);
            }
        }
        let set = Rules::of(&chosen);
        let run =
            normalize(&tm, set, Strategy::BodiesFirst, &Limits { steps: 20_000, size: 100_000, recorded: 0 });
        assert!(run.stopped.is_none(), "{chosen:?} {}", print::term(&tm));
        assert!(redexes(&run.end, set).is_empty());
        Ok(())
    });
}

#[test]
fn lemma_7_reductions_that_copy_numerals_only_are_linear() {
    let set = Rules::of(&[Rule::R9, Rule::R10, Rule::R12, Rule::R13, Rule::R14]).with_numerals_only();
    check(1000, |u| {
        let (tm, _, _) = open(u, Language::Negation, 5)?;
        let (mut at, mut steps) = (tm.clone(), 0u64);
        loop {
            let all = redexes(&at, set);
            if all.is_empty() {
                break;
            }
            let pick = u.int_in_range(0..=all.len() - 1).unwrap_or(0);
            at = step(&at, &all[pick]).unwrap();
            steps += 1;
            assert!(steps <= 2 * tm.size, "{}", print::term(&tm));
        }
        Ok(())
    });
}

#[test]
fn corollary_9_any_order_gives_the_same_numbers() {
    let mut finished = 0;
    check(500, |u| {
        let d = u.int_in_range(1..=2)?;
        let tm = closed(u, Language::Negation, &Ty::euclid(d), 4)?;
        let run = normalize(&tm, Rules::BETA, Strategy::Unfolding, &small());
        if run.stopped.is_some() {
            return Ok(());
        }
        let expected = denote(&run.end, &Env::default());
        let set = Rules::BETA.and(Rules::LINEAR);
        let (mut at, mut left) = (tm.clone(), 300);
        while left > 0 && at.size < 2000 {
            let all: Vec<Redex> = redexes(&at, set);
            if all.is_empty() {
                break;
            }
            let pick = u.int_in_range(0..=all.len() - 1).unwrap_or(left % all.len());
            at = step(&at, &all[pick]).unwrap();
            left -= 1;
        }
        if at.is_value {
            finished += 1;
        }
        assert!(same(&denote(&at, &Env::default()), &expected, &Ty::euclid(d)), "{}", print::term(&tm));
        for factoring in [true, false] {
            let outcome = machine::run(&tm, factoring, &Limits::default());
            let outcome = outcome.unwrap_or_else(|halt| panic!("{halt:?} {}", print::term(&tm)));
            assert!(outcome.end.is_value, "{}\n→ {}", print::term(&tm), print::term(&outcome.end));
            assert!(
                same(&denote(&outcome.end, &Env::default()), &expected, &Ty::euclid(d)),
                "{}",
                print::term(&tm)
            );
        }
        Ok(())
    });
    assert!(finished > 200, "{finished}");
}

/// Two reals, a term of them, and a point.
pub(super) fn function(
    u: &mut Unstructured<'_>,
    language: Language,
    fuel: u32,
) -> arbitrary::Result<(Vec<Var>, Tm, Vec<f64>)> {
    let xs: Vec<Var> = ["x1", "x2", "x3"].iter().map(|name| Var::exponential(*name, Ty::Real)).collect();
    let tm = term(u, language, &mut xs.clone(), &Ty::Real, fuel)?;
    let at = vec![0.75, -1.25, 0.5];
    Ok((xs, tm, at))
}

pub(super) fn value_at(tm: &Tm, xs: &[Var], at: &[f64]) -> f64 {
    let env = xs.iter().zip(at).map(|(x, r)| (x.id, Sem::Num(*r))).collect();
    real(&denote(tm, &env))
}

pub(super) fn finite_differences(tm: &Tm, xs: &[Var], at: &[f64]) -> Vec<f64> {
    let h = 1e-5;
    let moved = |i: usize, by: f64| {
        let at: Vec<f64> = at.iter().enumerate().map(|(j, r)| if i == j { r + by } else { *r }).collect();
        value_at(tm, xs, &at)
    };
    (0..xs.len()).map(|i| (moved(i, h) - moved(i, -h)) / (2.0 * h)).collect()
}

pub(super) fn numerals(tm: &Tm) -> Vec<f64> {
    match &tm.kind {
        Kind::Num(r) => vec![*r],
        Kind::Pair(t, u) => numerals(t).into_iter().chain(numerals(u)).collect(),
        Kind::Var(_) | Kind::Lam(..) | Kind::App(..) | Kind::Sub(..) => panic!("{}", print::term(tm)),
        Kind::SubPair(..) | Kind::Add(..) | Kind::Fun(..) => panic!("{}", print::term(tm)),
    }
}

fn all_near(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| near(*a, *b, tolerance))
}

#[test]
fn lemma_11_and_proposition_12_bp_is_linear_and_right() {
    check(1000, |u| {
        let (xs, g, at) = function(u, Language::Ground, 6)?;
        let a = Var::exponential("a", Ty::Real);
        let bp = ground::bp(&g, &xs, &a).unwrap();
        assert!(bp.size <= 12 * g.size + 2 * xs.len() as u64 + 2, "{}", print::term(&g));
        assert_eq!(types::infer(&bp).unwrap(), Ty::euclid(1 + xs.len()));
        let with_a = sub(bp, &a, num(1.0));
        let closed = xs.iter().zip(&at).fold(with_a, |tm, (x, r)| sub(tm, x, num(*r)));
        let rules = [Rule::R9, Rule::R10, Rule::R12, Rule::R14, Rule::R23];
        let run = normalize(
            &closed,
            Rules::of(&rules).with_numerals_only(),
            Strategy::Unfolding,
            &Limits { recorded: 0, ..Limits::default() },
        );
        assert!(run.counts.steps <= 2 * closed.size, "{}", print::term(&g));
        let found = numerals(&run.end);
        assert!(near(found[0], value_at(&g, &xs, &at), 1e-12));
        assert!(all_near(&found[1..], &finite_differences(&g, &xs, &at), 1e-4), "{}", print::term(&g));
        Ok(())
    });
}

#[test]
fn lemma_13_the_transformation_commutes() {
    let mut tested = 0;
    check(600, |u| {
        let (tm, _, _) = open(u, Language::Ordinary, 4)?;
        let Some(image) = transform::reverse(&tm, 1) else { return Ok(()) };
        let expected = types::infer(&image).unwrap();
        assert_eq!(Some(expected), transform::reverse_type(&types::infer(&tm).unwrap(), 1));
        for (_, other) in all_equivalents(&tm).into_iter().take(6) {
            let other = transform::reverse(&other, 1).unwrap();
            let (flat, other_flat) = (unfold(&image), unfold(&other));
            assert!(alpha_eq(&flat, &other_flat) || has_stuck_pair(&image), "{}", print::term(&tm));
        }
        let rules = Rules::of(&[Rule::R7, Rule::R8, Rule::R9, Rule::R10, Rule::R15, Rule::R16]);
        for redex in redexes(&tm, rules).into_iter().take(6) {
            let after = transform::reverse(&step(&tm, &redex).unwrap(), 1).unwrap();
            let reached = redexes(&image, Rules::of(&[redex.rule]))
                .iter()
                .filter_map(|redex| step(&image, redex))
                .any(|v| alpha_eq(&v, &after));
            assert!(reached, "({}) {}", redex.rule.name(), print::term(&tm));
            tested += 1;
        }
        Ok(())
    });
    assert!(tested > 300, "{tested}");
}

#[test]
fn theorem_15_and_corollary_16_gradients_at_the_cost_of_the_program() {
    let mut higher_order = 0;
    check(1500, |u| {
        let (xs, tm, at) = function(u, Language::Ordinary, 7)?;
        let point = |tm: Tm| xs.iter().zip(&at).fold(tm, |tm, (x, r)| sub(tm, x, num(*r)));
        let plain = machine::run(&point(tm.clone()), true, &Limits::default()).ok().unwrap();
        assert!(near(numerals(&plain.end)[0], value_at(&tm, &xs, &at), 1e-12));
        let tags = transform::tags(&xs, 1);
        let gradient = transform::gradient_term(&tm, &xs, &tags, &at, 1).unwrap();
        assert_eq!(types::infer(&gradient).unwrap(), Ty::Real);
        let outcome = machine::run(&gradient, true, &Limits::default()).ok().unwrap();
        let found = transform::read_back(&outcome.end, &tags)
            .unwrap_or_else(|| panic!("{}", print::term(&outcome.end)))
            .gradient;
        let expected = finite_differences(&tm, &xs, &at);
        assert!(all_near(&found, &expected, 1e-4), "{}\n{found:?} {expected:?}", print::term(&tm));
        let unfactored = machine::run(&gradient, false, &Limits::default()).ok().unwrap();
        let same = transform::read_back(&unfactored.end, &tags).unwrap().gradient;
        assert!(all_near(&found, &same, 1e-9), "{}", print::term(&tm));
        let bound = 20 * (plain.counts.steps + tm.size) + 60;
        assert!(outcome.counts.steps <= bound, "{} > {bound}: {}", outcome.counts.steps, print::term(&tm));
        higher_order += u32::from(count(&tm, &|kind| matches!(kind, Kind::Lam(..))) > 0);
        Ok(())
    });
    assert!(higher_order > 300, "{higher_order}");
}
