//! The paper's theorems as properties of generated terms: each test names its statement.

#![expect(clippy::wildcard_enum_match_arm, reason = "terms and values without reals are alike")]

use super::examples::{close, evaluate, quiet, reals};
use super::generate::{data_type, main_expression, real, value, vector_type};
use super::syntax::{Builtin, Const, E, Expr, Kind, Pat, Poly, Ty, make};
use super::tests::cases;
use super::translate::{Mode, dual_type};
use super::value::{Delta, DeltaNode, Value};
use super::{forward, monadic, naive, parse, polytypic, print, reduce, staged, tower, translations, types};
use arbitrary::{Result, Unstructured};
use make::{app, pair, var};
use std::collections::BTreeMap;
use std::rc::Rc;
use wengert_base::{Name, SourceId};

/// Step of finite differences.
const STEP: f64 = 1e-4;

fn call(f: &E, x: E) -> Value {
    evaluate(&app(Rc::clone(f), x)).0
}

fn numbers(f: &E, x: E) -> Vec<f64> {
    reals(&call(f, x))
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// The term of a value with its reals replaced, from left to right.
fn with_reals(e: &E, reals: &mut dyn Iterator<Item = f64>) -> E {
    let kind = match &e.kind {
        Kind::Const(Const::Real(_)) => return make::real(reals.next().unwrap()),
        Kind::Pair(a, b) => Kind::Pair(with_reals(a, reals), with_reals(b, reals)),
        Kind::Inl(a) => Kind::Inl(with_reals(a, reals)),
        Kind::Inr(a) => Kind::Inr(with_reals(a, reals)),
        Kind::Roll(ty, a) => Kind::Roll(ty.clone(), with_reals(a, reals)),
        _ => return Rc::clone(e),
    };
    Expr::new(kind)
}

/// A random main expression `ℝᵃ → ℝ`, its argument type, and a point as numbers and as a term.
fn scalar_case(u: &mut Unstructured<'_>) -> Result<(E, Ty, Vec<f64>, E)> {
    let s = vector_type(u)?;
    let e = main_expression(u, &s, &Ty::Real, 12)?;
    let at: Vec<f64> = (0..s.real_arity().unwrap()).map(|_| real(u)).collect::<Result<_>>()?;
    let point = with_reals(&value(u, &s, 0)?, &mut at.iter().copied());
    Ok((e, s, at, point))
}

/// The directional derivative by central differences at two steps; `None` where they differ: near a kink, or too wild.
fn difference(e: &E, point: &E, at: &[f64], direction: &[f64]) -> Option<f64> {
    let quotient = |h: f64| {
        let moved = |h: f64| {
            let mut moved = at.iter().zip(direction).map(|(x, d)| x + h * d);
            numbers(e, with_reals(point, &mut moved))[0]
        };
        (moved(h) - moved(-h)) / (2.0 * h)
    };
    let (coarse, fine) = (quotient(STEP), quotient(STEP / 2.0));
    let same = (coarse - fine).abs() <= 1e-4 * (1.0 + fine.abs());
    (same && fine.abs() < 1e6).then_some(fine)
}

fn near(a: f64, b: f64, what: &str, e: &E) {
    let same = (a - b).abs() <= 1e-3 * (1.0 + a.abs().max(b.abs()));
    assert!(same || !a.is_finite(), "{what}: {a} and {b} for {}", print::term(e));
}

#[test]
fn figure_2_and_theorem_3_every_gradient_is_the_derivative() {
    let judged = std::cell::Cell::new(0);
    cases(1000, |u| {
        let (e, s, at, point) = scalar_case(u)?;
        let dt = real(u)?;
        let gradient = numbers(&monadic::wrapper(&e, &s).unwrap(), pair(point.clone(), make::real(dt)));
        let direction: Vec<f64> = at.iter().map(|_| real(u)).collect::<Result<_>>()?;
        let along = with_reals(&point, &mut direction.iter().copied());
        let tangent = numbers(&forward::wrapper(&e, &s).unwrap(), pair(point.clone(), along))[0];
        if let Some(expected) = difference(&e, &point, &at, &direction) {
            judged.set(judged.get() + 1);
            near(tangent, expected, "ℱ and finite differences", &e);
            near(dot(&gradient, &direction), dt * expected, "ℛ and finite differences", &e);
        }
        Ok(())
    });
    assert!(judged.get() > 900, "only {} cases were smooth", judged.get());
}

#[test]
fn all_reverse_translations_agree() {
    cases(1000, |u| {
        let (e, s, _, point) = scalar_case(u)?;
        let argument = pair(point, make::real(real(u)?));
        let expected = numbers(&monadic::wrapper(&e, &s).unwrap(), argument.clone());
        for (name, wrapper) in [
            ("ℛ¹", naive::wrapper(&e, &s)),
            ("ℛ²", staged::wrapper(&e, &s)),
            ("Figure 15", monadic::general_wrapper(&e, &s, &Ty::Real)),
        ] {
            let gradient = numbers(&wrapper.unwrap(), argument.clone());
            assert!(close(&gradient, &expected), "{name}: {gradient:?} {expected:?}\n{}", print::term(&e));
        }
        Ok(())
    });
}

/// `dt • ℱ{e}(s, ds) = ℛ{e}(s, dt) • ds`, for arbitrary first-order S and T (Figure 15).
#[test]
fn lemma_1_forward_and_reverse_are_transposes() {
    cases(1000, |u| {
        let (s, t) = (data_type(u, 2)?, data_type(u, 2)?);
        let e = main_expression(u, &s, &t, 10)?;
        let shape = u.int_in_range(0..=1000)?;
        let (point, ds) = (value(u, &s, shape)?, value(u, &s, shape)?);
        // A displacement of the result has the shape of the result, which only running the program tells.
        let result = call(&e, point.clone());
        let dt = displaced(u, &result)?;
        let forward =
            numbers(&forward::general_wrapper(&e, &s, &t).unwrap(), pair(point.clone(), ds.clone()));
        let reverse = call_value(&monadic::general_wrapper(&e, &s, &t).unwrap(), &point, &dt);
        let left = dot(&reals(&dt), &forward);
        let right = dot(&reals(&reverse), &reals(&evaluate(&ds).0));
        assert!(
            close(&[left], &[right]) || !left.is_finite() || left.abs() > 1e9,
            "{left} {right}\n{}\n{}",
            print::term(&e),
            print::term(&point)
        );
        Ok(())
    });
}

/// A value with other reals.
fn displaced(u: &mut Unstructured<'_>, v: &Value) -> Result<Value> {
    Ok(match v {
        Value::Real(_) => Value::Real(real(u)?),
        Value::Pair(cell) => Value::pair(displaced(u, &cell.a)?, displaced(u, &cell.b)?),
        Value::Inl(cell) => Value::inl(displaced(u, &cell.a)?),
        Value::Inr(cell) => Value::inr(displaced(u, &cell.a)?),
        Value::Roll(cell, ty) => Value::roll(displaced(u, &cell.a)?, ty.clone()),
        Value::Vector(items) => {
            let items: Result<Vec<Value>> = items.iter().map(|item| displaced(u, item)).collect();
            Value::Vector(Rc::new(items?))
        }
        other => other.clone(),
    })
}

/// A function applied to a term and a value, the value written as a term.
fn call_value(f: &E, x: &E, v: &Value) -> Value {
    call(f, pair(x.clone(), term_of(v)))
}

fn term_of(v: &Value) -> E {
    match v {
        Value::Real(x) => make::real(*x),
        Value::Int(n) => make::int(*n),
        Value::Str(text) => make::constant(Const::Str(text.clone())),
        Value::Pair(cell) => pair(term_of(&cell.a), term_of(&cell.b)),
        Value::Inl(cell) => Expr::new(Kind::Inl(term_of(&cell.a))),
        Value::Inr(cell) => Expr::new(Kind::Inr(term_of(&cell.a))),
        Value::Roll(cell, ty) => Expr::new(Kind::Roll((**ty).clone(), term_of(&cell.a))),
        Value::Vector(items) => {
            let i = Name::new("i");
            let last = make::constant(Const::Unit);
            let pick = |rest: E, (at, item): (i64, &Value)| {
                let here = super::syntax::LeafOp::CompareInt(super::syntax::Compare::Eq);
                let test = make::leaf_op(here, vec![var(i), make::int(at)]);
                make::choice(test, term_of(item), rest)
            };
            let body = (0..).zip(items.iter()).fold(last, pick);
            let count = make::int(i64::try_from(items.len()).unwrap());
            app(make::builtin(Builtin::Build), pair(count, make::lam(Pat::Var(i), body)))
        }
        _ => make::constant(Const::Unit),
    }
}

/// `primal_T (𝒟⃗{e} s) = e (primal_S s)` (section 4.1)
#[test]
fn the_first_component_of_a_dual_number_is_the_primal_value() {
    cases(500, |u| {
        let (s, t) = (data_type(u, 2)?, data_type(u, 2)?);
        let e = main_expression(u, &s, &t, 10)?;
        let shape = u.int_in_range(0..=1000)?;
        let (point, ds) = (value(u, &s, shape)?, value(u, &s, shape)?);
        let zipped = app(make::poly(Poly::Zip, &s), pair(point.clone(), ds));
        let dual = app(forward::translate(&e).unwrap(), zipped);
        let primal = reals(&evaluate(&app(make::poly(Poly::Primal, &t), dual)).0);
        let expected = numbers(&e, point);
        assert!(close(&primal, &expected), "{primal:?} {expected:?} {}", print::term(&e));
        Ok(())
    });
}

/// The invariants of Figures 3, 5, 7 and 9: if `Γ ⊢ e : A` then `𝒟{Γ} ⊢ 𝒟{e} : 𝒟{A}` (`M 𝒟{A}` for the last).
#[test]
fn translated_terms_have_translated_types_and_print_what_parses() {
    cases(500, |u| {
        let s = vector_type(u)?;
        let t = data_type(u, 1)?;
        let e = main_expression(u, &s, &t, 10)?;
        let (e, ty) = types::check(&e).unwrap_or_else(|error| panic!("{}\n{error:?}", print::term(&e)));
        let order = 2;
        for (mode, translated) in [
            (Mode::Forward, forward::translate(&e)),
            (Mode::Naive(s.clone()), naive::translate(&e, &s)),
            (Mode::Staged, staged::translate(&e)),
            (Mode::Monadic, monadic::translate(&e)),
            (Mode::Tower(order), tower::translate(&e, order)),
        ] {
            let translated = translated.unwrap();
            let expected = dual_type(&ty, &mode);
            let expected = if mode == Mode::Monadic { Ty::monad(expected) } else { expected };
            let annotated = Expr::new(Kind::Ann(translated.clone(), expected));
            let checked = types::check(&annotated);
            assert!(
                checked.is_ok(),
                "{mode:?} {checked:?}\n{}\n{}",
                print::term(&e),
                print::term(&translated)
            );
        }
        for (title, translated) in translations(&e, &ty).unwrap() {
            let text = print::term(&translated);
            let parsed =
                parse::parse(SourceId(0), &text).unwrap_or_else(|error| panic!("{title}\n{text}\n{error:?}"));
            assert_eq!(print::term(&parsed), text, "{title}");
        }
        Ok(())
    });
}

/// The meaning `⟦u⟧γ` of a delta (section 9): an ordinary expression language with `Let`.
fn meaning(u: &Delta, env: &mut BTreeMap<i64, f64>) -> f64 {
    match &**u {
        DeltaNode::Zero => 0.0,
        DeltaNode::Scale(x, u) => x * meaning(u, env),
        DeltaNode::Add(a, b) => meaning(a, env) + meaning(b, env),
        DeltaNode::Var(id) | DeltaNode::OneHot(id) => env[id],
        DeltaNode::Let(id, a, b) => {
            let bound = meaning(a, env);
            let outer = env.insert(*id, bound);
            let result = meaning(b, env);
            env.remove(id);
            env.extend(outer.map(|outer| (*id, outer)));
            result
        }
    }
}

fn random_delta(u: &mut Unstructured<'_>, vars: &mut Vec<i64>, depth: u32) -> Result<Delta> {
    let pick = u.int_in_range(0..=if depth == 0 { 1 } else { 6 })?;
    Ok(Rc::new(match pick {
        0 => DeltaNode::Zero,
        1 => DeltaNode::Var(*u.choose(vars)?),
        2 | 3 => DeltaNode::Scale(real(u)?, random_delta(u, vars, depth - 1)?),
        4 => DeltaNode::Add(random_delta(u, vars, depth - 1)?, random_delta(u, vars, depth - 1)?),
        _ => {
            let bound = random_delta(u, vars, depth - 1)?;
            let id = i64::try_from(vars.len()).unwrap() + 100;
            vars.push(id);
            let body = random_delta(u, vars, depth - 1)?;
            vars.pop();
            DeltaNode::Let(id, bound, body)
        }
    }))
}

fn delta_term(u: &Delta) -> E {
    let builtin = make::builtin;
    match &**u {
        DeltaNode::Zero => builtin(Builtin::Zero),
        DeltaNode::OneHot(i) => app(builtin(Builtin::OneHot), make::int(*i)),
        DeltaNode::Var(i) => app(builtin(Builtin::Var), make::int(*i)),
        DeltaNode::Scale(x, u) => make::apps(builtin(Builtin::Scale), [make::real(*x), delta_term(u)]),
        DeltaNode::Add(a, b) => make::apps(builtin(Builtin::Add), [delta_term(a), delta_term(b)]),
        DeltaNode::Let(id, a, b) => {
            make::apps(builtin(Builtin::Let), [make::int(*id), delta_term(a), delta_term(b)])
        }
    }
}

/// `s · ⟦u⟧γ = Σ [(lookup (eval s u m) a) − (lookup m a)] · γ(a)`, with a map `m` that is not empty.
#[test]
fn lemma_6_eval_is_correct() {
    cases(2000, |u| {
        let delta = random_delta(u, &mut vec![1, 2, 3], 6)?;
        let mut gamma: BTreeMap<i64, f64> = BTreeMap::new();
        let mut before: BTreeMap<i64, f64> = BTreeMap::new();
        let mut map = make::builtin(Builtin::EmptyMap);
        for id in [1, 2, 3] {
            gamma.insert(id, real(u)?);
            before.insert(id, real(u)?);
            let start = app(make::builtin(Builtin::Var), make::int(id));
            map = make::apps(make::builtin(Builtin::Eval), [make::real(before[&id]), start, map]);
        }
        let s = real(u)?;
        let run = make::apps(make::builtin(Builtin::Eval), [make::real(s), delta_term(&delta), map]);
        let Value::Map(after) = evaluate(&run).0 else { panic!() };
        let sum: f64 = [1, 2, 3].iter().map(|id| (after[id] - before[id]) * gamma[id]).sum();
        let expected = s * meaning(&delta, &mut gamma);
        assert!((sum - expected).abs() <= 1e-6 * (1.0 + expected.abs()), "{sum} {expected} {delta:?}");
        assert_eq!(after.len(), 3, "what Let binds is deleted again");
        Ok(())
    });
}

/// Section 7.4: run time and memory of `ℛ{e}` are linear in those of `e`, with one constant for all programs.
#[test]
fn the_final_translation_costs_a_constant_factor() {
    cases(500, |u| {
        let (e, s, _, point) = scalar_case(u)?;
        let limits = quiet();
        let primal = reduce::reduce(&app(e.clone(), point.clone()), &limits).unwrap().counts;
        let argument = pair(point, make::real(1.0));
        let reverse =
            reduce::reduce(&app(monadic::wrapper(&e, &s).unwrap(), argument), &limits).unwrap().counts;
        let inputs = s.real_arity().unwrap() as u64;
        // Values make no step in e, but their translation `pure v` does: hence the nodes of the program.
        let work = primal.steps + primal.more["program nodes"] + 4 * inputs + 10;
        assert!(reverse.steps <= 30 * work, "{} steps for {work}: {}", reverse.steps, print::term(&e));
        assert!(reverse.max_size <= 60 * work, "{} cells for {work}: {}", reverse.max_size, print::term(&e));
        let bindings = reverse.more.get("delta bindings").copied().unwrap_or(0);
        let eval: u64 =
            reverse.by_rule.iter().filter(|(rule, _)| rule.starts_with("eval-")).map(|(_, n)| n).sum();
        assert!(eval <= 7 * bindings + 1, "{eval} steps of eval for {bindings} bindings");
        Ok(())
    });
}

/// Section 7.1: what a dual number carries is `Zero` or `Var`, and a binding has constant size.
#[test]
fn deltas_are_shared_by_name_only() {
    cases(500, |u| {
        let (e, _, at, point) = scalar_case(u)?;
        let f = Name::new("f''");
        let mut next = 0;
        let dual = dual_point(&point, &mut next);
        let main = make::monadic(Pat::Var(f), monadic::translate(&e).unwrap(), app(var(f), dual));
        let first = make::int(i64::try_from(at.len()).unwrap() + 1);
        let run = make::apps(make::builtin(Builtin::RunDelta), [first, main]);
        let mut rest = evaluate(&run).0.delta().unwrap().clone();
        while let DeltaNode::Let(_, bound, body) = &*rest.clone() {
            assert!(delta_size(bound) <= 5, "{bound:?}");
            rest = body.clone();
        }
        assert!(matches!(*rest, DeltaNode::Zero | DeltaNode::Var(_)), "{rest:?}");
        Ok(())
    });
}

fn delta_size(u: &Delta) -> usize {
    match &**u {
        DeltaNode::Zero | DeltaNode::Var(_) | DeltaNode::OneHot(_) => 1,
        DeltaNode::Scale(_, u) => 1 + delta_size(u),
        DeltaNode::Add(a, b) => 1 + delta_size(a) + delta_size(b),
        DeltaNode::Let(..) => panic!("bindings have no bindings"),
    }
}

fn dual_point(e: &E, next: &mut i64) -> E {
    if let Kind::Pair(a, b) = &e.kind {
        let a = dual_point(a, next);
        return pair(a, dual_point(b, next));
    }
    *next += 1;
    pair(e.clone(), app(make::builtin(Builtin::Var), make::int(*next)))
}

/// Section 7.5: the translation of a definition never needs its use sites, nor the type of the main expression.
#[test]
fn definitions_are_translated_separately() {
    cases(500, |u| {
        let library_type = Ty::fun(Ty::Real, Ty::Real);
        let library = main_expression(u, &Ty::Real, &Ty::Real, 8)?;
        let s = vector_type(u)?;
        let (f, rest) = (Name::new("library"), Name::new("g''"));
        let user = main_expression(u, &s, &Ty::Real, 8)?;
        let (p, y) = (Name::new("p''"), Name::new("y''"));
        // The user's function calls the library's on its result.
        let body = make::bind(Pat::Var(y), app(user, var(p)), app(var(f), var(y)));
        let open = Expr::new(Kind::Lam(Pat::Var(p), Some(s.clone()), body));
        let whole = make::bind(Pat::Var(f), library.clone(), open.clone());
        // Linking: each part translated without the other.
        let (library_rev, user_rev) =
            (monadic::translate(&library).unwrap(), monadic::translate(&open).unwrap());
        types::check_open(&user_rev, &[(f, dual_type(&library_type, &Mode::Monadic))]).unwrap();
        let linked = make::monadic(Pat::Var(f), library_rev, user_rev);
        let point = dual_point(&value(u, &s, 0)?, &mut 0);
        let count = make::int(i64::try_from(s.real_arity().unwrap()).unwrap() + 1);
        let run = |d: E| {
            let main = make::monadic(Pat::Var(rest), d, app(var(rest), point.clone()));
            let delta = make::apps(make::builtin(Builtin::RunDelta), [count.clone(), main]);
            let Value::Delta(delta) = evaluate(&delta).0 else { panic!() };
            format!("{delta:?}")
        };
        assert_eq!(run(linked), run(monadic::translate(&whole).unwrap()));
        // In contrast, 𝒟⃖¹ has the type of the main expression's argument in it.
        let naive = naive::translate(&library, &s).unwrap();
        types::check(&Expr::new(Kind::Ann(naive, dual_type(&library_type, &Mode::Naive(s))))).unwrap();
        Ok(())
    });
}

/// "Each should be understood as an infinite family of ordinary, lambda-definable functions" (section 2).
#[test]
fn polytypic_functions_are_what_their_definitions_say() {
    cases(500, |u| {
        let ty = data_type(u, 3)?;
        let shape = u.int_in_range(0..=1000)?;
        let (x, y) = (value(u, &ty, shape)?, value(u, &ty, shape)?);
        for poly in [Poly::Scale, Poly::Add, Poly::Dot] {
            let argument =
                pair(if poly == Poly::Scale { make::real(real(u)?) } else { x.clone() }, y.clone());
            let written = polytypic::definition(poly, &ty);
            types::check(&written).unwrap_or_else(|error| panic!("{}\n{error:?}", print::term(&written)));
            let (defined, native) =
                (numbers(&written, argument.clone()), numbers(&make::poly(poly, &ty), argument));
            assert!(close(&defined, &native), "{defined:?} {native:?} {}", print::ty(&ty));
        }
        Ok(())
    });
}

/// Section 10.4: the tower of order 2 is value, `ℱ`, and `ℱ` of `ℱ`; `ℛ` of `ℱ` has the second derivative too.
#[test]
fn higher_derivatives_agree() {
    cases(300, |u| {
        let (e, s, _, point) = scalar_case(u)?;
        let ds = value(u, &s, 0)?;
        let tower = numbers(&tower::wrapper(&e, &s, 2).unwrap(), pair(point.clone(), ds.clone()));
        let f = forward::wrapper(&e, &s).unwrap();
        let pairs = Ty::prod(s.clone(), s.clone());
        let argument = pair(point.clone(), ds.clone());
        let value = numbers(&e, point.clone())[0];
        let first = numbers(&f, argument.clone())[0];
        let zeros = with_reals(&ds, &mut std::iter::repeat(0.0));
        let twice = pair(argument.clone(), pair(ds.clone(), zeros));
        let second = numbers(&forward::wrapper(&f, &pairs).unwrap(), twice)[0];
        let reverse = numbers(&monadic::wrapper(&f, &pairs).unwrap(), pair(argument, make::real(1.0)));
        let along = dot(&reverse[..reverse.len() / 2], &reals(&evaluate(&ds).0));
        let expected = [value, first, second];
        let finite = expected.iter().all(|x| x.is_finite() && x.abs() < 1e9);
        assert!(!finite || close(&tower, &expected), "{tower:?} {expected:?} {}", print::term(&e));
        assert!(!finite || close(&[along], &[second]), "{along} {second} {}", print::term(&e));
        Ok(())
    });
}

#[test]
fn arbitrary_text_is_answered_without_panic() {
    let words = [
        "λ", "x", ".", "(", ")", ",", "let", "in", "=", "case", "of", "inl", "inr", "→", "+", "×", "⊗", "_{",
        "}", "ℝ", "1", "2.0", "do", "{", "←", ";", "pure", "letrec", "fst", "μ", ":", "-", "^", "<", "Add",
        "Zero", "eval", "sin", "roll", "unroll", "Vector", "\"a\"", "_", "if", "then", "else", "build",
        "runDelta", "⊙", "M", "%", "++",
    ];
    cases(5000, |u| {
        let count = u.int_in_range(1..=30)?;
        let text: Result<Vec<&str>> = (0..count).map(|_| Ok(*u.choose(&words)?)).collect();
        let text = text?.join(" ");
        if let Ok(e) = parse::parse(SourceId(0), &text) {
            let printed = print::term(&e);
            let again = parse::parse(SourceId(0), &printed)
                .unwrap_or_else(|error| panic!("{text}\n{printed}\n{error:?}"));
            assert_eq!(print::term(&again), printed, "{text}");
            if let Ok((e, ty)) = types::check(&e) {
                let limits = crate::kit::trace::Limits { steps: 2000, size: 100_000, recorded: 20 };
                let _ = reduce::reduce(&e, &limits);
                let _ = translations(&e, &ty);
            }
        }
        Ok(())
    });
}
