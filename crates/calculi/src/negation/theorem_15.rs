//! Lemma 14 and Theorem 15 as they are stated: the term that `D⃖(t)` reduces to, up to `≡`, against the parts of `bp(G)`
//! for the ground term `G` that `t` reduces to, and the number of steps against `m + |G|`.
//!
//! Terms are compared with their substitutions carried out, which `≡` does not see, and with sums as the paper's Σ: in any
//! order, without zeros. The slips say why that is needed.

use super::equivalence::unfold;
use super::generate::Language;
use super::reduce::{Rule, Rules, Strategy, normalize};
use super::syntax::{Kind, Tm, Ty, Var, add, app, lam, num, pair, sub, var};
use super::theorems::{check, finite_differences, function, near, numerals, value_at};
use super::{examples, ground, machine, print, transform, types};
use crate::kit::trace::Limits;

/// A term as text in which sums are bunches: brackets, order and zeros of `+` are gone, bound variables are numbered.
fn canonical(tm: &Tm, bound: &mut Vec<u64>) -> String {
    let summands = |tm: &Tm| {
        let (mut out, mut waiting) = (Vec::new(), vec![tm.clone()]);
        while let Some(tm) = waiting.pop() {
            if let Kind::Add(t, u) = &tm.kind {
                waiting.extend([t.clone(), u.clone()]);
            } else if !matches!(tm.kind, Kind::Num(0.0)) {
                out.push(tm);
            }
        }
        out
    };
    match &tm.kind {
        Kind::Var(x) => match bound.iter().rposition(|id| *id == x.id) {
            Some(at) => format!("#{at}"),
            None => format!("{}", x.id),
        },
        Kind::Num(r) => format!("{r:?}"),
        Kind::Lam(x, t) => {
            bound.push(x.id);
            let body = canonical(t, bound);
            bound.pop();
            format!("λ({body})")
        }
        Kind::Add(..) => {
            let mut all: Vec<String> = summands(tm).iter().map(|t| canonical(t, bound)).collect();
            all.sort();
            match all.as_slice() {
                [] => "0.0".into(),
                [one] => one.clone(),
                _ => format!("Σ({})", all.join(" ")),
            }
        }
        Kind::App(t, u) => format!("({} {})", canonical(t, bound), canonical(u, bound)),
        Kind::Pair(t, u) => format!("⟨{} {}⟩", canonical(t, bound), canonical(u, bound)),
        Kind::Fun(f, args) => {
            let args: Vec<String> = args.iter().map(|arg| canonical(arg, bound)).collect();
            format!("{}({})", print::symbol(*f), args.join(" "))
        }
        Kind::Sub(..) | Kind::SubPair(..) => panic!("left over: {}", print::term(tm)),
    }
}

/// The right-hand side of Lemma 14: `⟨G₀, λa.(Σ xⱼ′ Gⱼ)α⟩β`.
fn stated(g: &Tm, xs: &[Var], tags: &[Var]) -> Tm {
    let a = Var::exponential("a", Ty::Real);
    let parts = ground::parts(g, &a).unwrap();
    let summands = xs.iter().zip(tags).filter_map(|(x, tag)| {
        let entry = parts.entries.get(&x.id).filter(|entry| !matches!(entry.kind, Kind::Num(0.0)))?;
        Some(app(var(tag), entry.clone()))
    });
    let sum = summands.reduce(add).unwrap_or_else(|| num(0.0));
    let with = |tm: Tm, context: &std::collections::VecDeque<(Var, Tm)>| {
        context.iter().fold(tm, |tm, (x, u)| sub(tm, x, u.clone()))
    };
    with(pair(parts.value.clone(), lam(&a, with(sum, &parts.alpha))), &parts.beta)
}

fn rules() -> Rules {
    Rules::BETA.and(Rules::LINEAR).and(Rules::of(&[Rule::R16]))
}

fn patient() -> Limits {
    Limits { steps: 20_000, size: 60_000, recorded: 0 }
}

/// Reduces `D⃖(t)[x := ⟨x, λa.x′a⟩]` and compares with what the theorem states for `G`: the number of steps.
fn reaches_what_is_stated(t: &Tm, g: &Tm, xs: &[Var]) -> Option<u64> {
    let tags = transform::tags(xs, 1);
    let (tagged, primals) = transform::tagged(t, xs, &tags, 1).unwrap();
    types::infer(&tagged).unwrap();
    // Numerals must not be computed with before bp sees them.
    let run = normalize(&tagged, rules(), Strategy::Unfolding, &patient());
    if run.stopped.is_some() {
        return None;
    }
    let goal = stated(g, xs, &tags);
    let goal = normalize(&goal, rules(), Strategy::Unfolding, &patient());
    let goal = xs.iter().zip(&primals).fold(goal.end, |tm, (x, primal)| sub(tm, x, var(primal)));
    let (found, wanted) = (unfold(&run.end), unfold(&goal));
    let texts = (canonical(&found, &mut Vec::new()), canonical(&wanted, &mut Vec::new()));
    assert_eq!(
        texts.0,
        texts.1,
        "\nfor G = {}\n{}\n≡ {}",
        print::term(g),
        print::term(&found),
        print::term(&wanted)
    );
    Some(run.counts.steps)
}

/// `G` and `m`: a ground term that `t` reduces to by β-steps that compute no numbers, and how many there are.
fn to_ground(t: &Tm) -> Option<(Tm, u64)> {
    let rules = Rules::of(&[Rule::R7, Rule::R8, Rule::R9, Rule::R10, Rule::R16]);
    let run = normalize(t, rules, Strategy::Unfolding, &patient());
    if run.stopped.is_some() {
        return None;
    }
    assert!(ground::is_ground(&run.end), "{}\n→ {}", print::term(t), print::term(&run.end));
    Some((run.end, run.counts.steps))
}

#[test]
fn lemma_14_the_reverse_gradient_of_a_ground_term_is_bp() {
    let (mut compared, mut worst) = (0, 0.0_f64);
    check(700, |u| {
        let (xs, g, _) = function(u, Language::Ground, 5)?;
        if let Some(steps) = reaches_what_is_stated(&g, &g, &xs) {
            compared += 1;
            worst = worst.max(steps as f64 / (g.size + xs.len() as u64) as f64);
        }
        Ok(())
    });
    assert!(compared > 500, "{compared}");
    assert!(worst < 8.0, "{worst} steps for each symbol of G");
}

#[test]
fn theorem_15_reaches_bp_of_the_ground_term_in_steps_linear_in_m_and_its_size() {
    let (mut compared, mut higher_order, mut worst) = (0, 0, 0.0_f64);
    check(900, |u| {
        let (xs, t, _) = function(u, Language::Ordinary, 6)?;
        let Some((g, m)) = to_ground(&t) else { return Ok(()) };
        if let Some(steps) = reaches_what_is_stated(&t, &g, &xs) {
            compared += 1;
            higher_order += u32::from(!ground::is_ground(&t));
            worst = worst.max(steps as f64 / (m + g.size + xs.len() as u64) as f64);
        }
        Ok(())
    });
    assert!(compared > 500 && higher_order > 200, "{compared} {higher_order}");
    assert!(worst < 8.0, "{worst} steps for each of m + |G|");
}

/// [`measured`] for each n.
type Family<'a> = &'a dyn Fn(usize) -> (u64, u64, Option<u64>);

/// `m + |G|` for a term, and the steps of the machine for its gradient with and without (17).
fn measured(t: &Tm, xs: &[Var], at: &[f64]) -> (u64, u64, Option<u64>) {
    let (g, m) = to_ground(t).unwrap();
    let tags = transform::tags(xs, 1);
    let gradient = transform::gradient_term(t, xs, &tags, at, 1).unwrap();
    let steps = |factoring| machine::run(&gradient, factoring, &patient()).ok().map(|o| o.counts.steps);
    (m + g.size, steps(true).unwrap(), steps(false))
}

#[test]
fn corollary_16_the_machine_takes_steps_linear_in_m_and_the_size_of_g() {
    // A network, whose steps are copied; lets that double; a product; functions that are built by a fold.
    let network = |n: usize| {
        let items: Vec<f64> = (0..n).map(|i| 0.1 * i as f64).collect();
        let net = examples::network(&items);
        measured(&net.applied, &[net.epsilon, net.rho], &[0.7, -0.4])
    };
    let doubling = |n: usize| {
        let (x, tm) = examples::doubling(n);
        measured(&tm, &[x], &[0.5])
    };
    let product = |n: usize| {
        let x = Var::exponential("x", Ty::Real);
        let tm = (0..n).map(|_| var(&x)).reduce(super::syntax::mul).unwrap();
        measured(&tm, &[x], &[0.9])
    };
    let families: [(&str, Family<'_>); 3] =
        [("network", &network), ("doubling", &doubling), ("product", &product)];
    for (name, family) in families {
        let ratio = |n: usize| {
            let (bound, steps, _) = family(n);
            steps as f64 / bound as f64
        };
        let (small, large) = (ratio(8), ratio(48));
        assert!(large < 12.0 && large < 1.25 * small, "{name}: {small} {large} steps for each of m + |G|");
    }
    // The blow-up without (17): twice the steps for one let more.
    let without = |n: usize| doubling(n).2.unwrap();
    assert!(10 * without(9) > 18 * without(8) && without(9) > 6 * doubling(9).1);
    assert_eq!(doubling(16).2, None, "the limit of 20,000 steps is met");
}

#[test]
fn proposition_1_the_forward_transformation_gives_each_partial_derivative() {
    let (mut compared, mut worst) = (0, 0.0_f64);
    check(600, |u| {
        let (xs, t, at) = function(u, Language::Ordinary, 6)?;
        let expected = finite_differences(&t, &xs, &at);
        for (j, slope) in expected.iter().enumerate() {
            let seed = |i: usize| pair(num(at[i]), num(if i == j { 1.0 } else { 0.0 }));
            let seeds: Vec<(Var, Tm)> = xs.iter().cloned().enumerate().map(|(i, x)| (x, seed(i))).collect();
            let term = transform::seeded(&t, &seeds, transform::Mode::Forward).unwrap();
            assert_eq!(types::infer(&term).unwrap(), Ty::euclid(2));
            let outcome = machine::run(&term, true, &Limits::default()).ok().unwrap();
            let found = numerals(&outcome.end);
            assert!(near(found[0], value_at(&t, &xs, &at), 1e-12) && near(found[1], *slope, 1e-4));
            compared += 1;
            worst = worst.max(outcome.counts.steps as f64 / term.size as f64);
        }
        Ok(())
    });
    assert!(compared > 1500, "{compared}");
    // O(|D⃗(G)|) for computational graphs; folds and functions are none.
    assert!(worst < 40.0, "{worst} steps for each symbol");
}
