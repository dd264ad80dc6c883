//! The paper's theorems as properties of generated well-typed terms, and the slips found in it.

use super::denotation::{Env, Val, close, differential, environment, eval, sample};
use super::differential::{Normalizer, translate, translate_type};
use super::examples::{reduce, term};
use super::func::Func;
use super::print::{Notation, print, print_marked, print_type};
use super::reduce::{Reducer, decompose, numbers, plug};
use super::subst::alpha_equal;
use super::syntax::{Binder, Kind, Pat, Term, Type, TypeKind, Var, each_child};
use super::types::{Language, linear, literal_lin};
use crate::kit::trace::Limits;
use arbitrary::{Result, Unstructured};
use wengert_base::SourceId;
use wengert_prim::RealOp;

const LIMITS: Limits = Limits { steps: 20_000, size: 200_000, recorded: 0 };

pub(super) fn cases() -> u32 {
    std::env::var("WENGERT_PROPERTY_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(1500)
}

/// Runs `property` on that many random inputs, each from a seed that a failure names.
pub(super) fn for_all(mut property: impl FnMut(&mut Unstructured<'_>) -> Result<()>) {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    for _ in 0..cases() {
        let bytes: Vec<u8> = (0..400)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 56) as u8
            })
            .collect();
        let _ = property(&mut Unstructured::new(&bytes));
    }
}

fn any_type(u: &mut Unstructured<'_>, depth: u32) -> Result<Type> {
    Ok(match u.int_in_range(0..=if depth == 0 { 1 } else { 6 })? {
        0..=2 => Type::real(),
        3 | 4 => Type::product(any_type(u, depth - 1)?, Type::real()),
        _ => Type::function(any_type(u, depth - 1)?, any_type(u, depth - 1)?),
    })
}

fn unary(u: &mut Unstructured<'_>) -> Result<Func> {
    let ops = [RealOp::Sin, RealOp::Cos, RealOp::Tanh, RealOp::PowInt(2), RealOp::Neg];
    Ok(Func::Prim(*u.choose(&ops)?))
}

fn binary(u: &mut Unstructured<'_>) -> Result<Func> {
    Ok(Func::Prim(*u.choose(&[RealOp::Add, RealOp::Mul, RealOp::Sub])?))
}

/// A term of the type with free variables from the scope.
fn any_term(u: &mut Unstructured<'_>, scope: &mut Vec<Var>, ty: &Type, depth: u32) -> Result<Term> {
    let fitting: Vec<Var> = scope.iter().filter(|var| var.ty() == ty).cloned().collect();
    if !fitting.is_empty() && (depth == 0 || u.ratio(2, 5)?) {
        return Ok(Term::var(u.choose(&fitting)?.clone()));
    }
    if depth == 0 {
        return small(u, scope, ty);
    }
    match u.int_in_range(0..=9)? {
        0 => {
            let arg = any_type(u, 1)?;
            let x = Var::named("x", arg.clone());
            let value = any_term(u, scope, &arg, depth - 1)?;
            scope.push(x.clone());
            let body = any_term(u, scope, ty, depth - 1)?;
            scope.pop();
            Ok(if u.arbitrary()? {
                Term::let_in(x, value, body)
            } else {
                Term::app(Term::lam(Pat::var(x), body), value)
            })
        }
        1 => {
            let other = any_type(u, 1)?;
            let (a, b) = (any_term(u, scope, ty, depth - 1)?, any_term(u, scope, &other, depth - 1)?);
            Ok(if u.arbitrary()? { Term::proj(1, Term::pair(a, b)) } else { Term::proj(2, Term::pair(b, a)) })
        }
        2 => Ok(Term::sum(any_term(u, scope, ty, depth - 1)?, any_term(u, scope, ty, depth - 1)?)),
        3 | 4 => {
            let functions: Vec<Var> = scope
                .iter()
                .filter(|var| matches!(var.ty().kind(), TypeKind::Function(_, b) if b == ty))
                .cloned()
                .collect();
            if functions.is_empty() {
                return small_or_built(u, scope, ty, depth);
            }
            let f = u.choose(&functions)?.clone();
            let TypeKind::Function(a, _) = f.ty().kind() else { return small(u, scope, ty) };
            let arg = any_term(u, scope, &a.clone(), depth - 1)?;
            Ok(Term::app(Term::var(f), arg))
        }
        _ => small_or_built(u, scope, ty, depth),
    }
}

fn small(u: &mut Unstructured<'_>, scope: &mut Vec<Var>, ty: &Type) -> Result<Term> {
    Ok(match ty.kind() {
        TypeKind::Real => Term::real(f64::from(u.int_in_range(-4i8..=4)?) / 2.0),
        TypeKind::Product(a, b) => Term::pair(small(u, scope, a)?, small(u, scope, b)?),
        TypeKind::Function(a, b) => {
            let x = Var::named("x", a.clone());
            scope.push(x.clone());
            let body = any_term(u, scope, b, 0)?;
            scope.pop();
            Term::lam(Pat::var(x), body)
        }
        TypeKind::Dual(a) => match a.width() {
            Some(n) => {
                let numbers: Result<Vec<f64>> =
                    (0..n).map(|_| Ok(f64::from(u.int_in_range(-3i8..=3)?))).collect();
                Term::dual_const(Term::vector(&numbers?))
            }
            None => Term::zero(ty.clone()),
        },
    })
}

fn small_or_built(u: &mut Unstructured<'_>, scope: &mut Vec<Var>, ty: &Type, depth: u32) -> Result<Term> {
    match ty.kind() {
        TypeKind::Real => match u.int_in_range(0..=5)? {
            0 => small(u, scope, ty),
            1 | 2 => Ok(Term::fun(unary(u)?, any_term(u, scope, ty, depth - 1)?)),
            3 => {
                // (J f·s) t
                let (along, at) = (any_term(u, scope, ty, depth - 1)?, any_term(u, scope, ty, depth - 1)?);
                Ok(Term::app(Term::jac(unary(u)?, along), at))
            }
            _ => {
                let pair = Term::pair(any_term(u, scope, ty, depth - 1)?, any_term(u, scope, ty, depth - 1)?);
                Ok(Term::fun(binary(u)?, pair))
            }
        },
        TypeKind::Product(a, b) => {
            Ok(Term::pair(any_term(u, scope, a, depth - 1)?, any_term(u, scope, b, depth - 1)?))
        }
        TypeKind::Function(a, b) => {
            let x = Var::named("x", a.clone());
            scope.push(x.clone());
            let body = any_term(u, scope, b, depth - 1)?;
            scope.pop();
            Ok(Term::lam(Pat::var(x), body))
        }
        TypeKind::Dual(a) => any_dual(u, scope, a, depth),
    }
}

/// A functional on the type: a pullback at a point, or a dual map along a linear function.
fn any_dual(u: &mut Unstructured<'_>, scope: &mut Vec<Var>, ty: &Type, depth: u32) -> Result<Term> {
    if u.ratio(1, 4)? {
        return small(u, scope, &Type::dual(ty.clone()));
    }
    let result = any_type(u, 1)?;
    let x = Var::named("y", ty.clone());
    if u.ratio(1, 3)? {
        let functional = small(u, scope, &Type::dual(Type::real()))?;
        return Ok(match linear_to_real(&Term::var(x.clone()), ty) {
            Some(body) => Term::dual_map(Pat::var(x), body, functional),
            None => Term::zero(Type::dual(ty.clone())),
        });
    }
    scope.push(x.clone());
    let body = any_term(u, scope, &result, depth - 1)?;
    scope.pop();
    let form = any_term(u, scope, &Type::omega(result), depth - 1)?;
    let at = any_term(u, scope, ty, depth - 1)?;
    Ok(Term::app(Term::pull(Pat::var(x), body, form), at))
}

fn linear_to_real(x: &Term, ty: &Type) -> Option<Term> {
    match ty.kind() {
        TypeKind::Real => Some(x.clone()),
        TypeKind::Product(a, _) => linear_to_real(&Term::proj(1, x.clone()), a),
        TypeKind::Function(..) | TypeKind::Dual(_) => None,
    }
}

/// Values 1 and 2 of remark 3.6: a chain of dual maps that ends in a pullback at a point.
fn stuck(term: &Term) -> bool {
    match term.kind() {
        Kind::DualMap(_, _, s) => stuck(s),
        Kind::App(f, _) => matches!(f.kind(), Kind::Pull(..)),
        _ => false,
    }
}

/// A program `((Ω λy.P)·ω) P'` with its parts.
pub(super) struct Sample {
    pub(super) term: Term,
    y: Var,
    body: Term,
    at: Term,
    omega: Var,
    env: Env,
}

pub(super) fn any_pullback(u: &mut Unstructured<'_>, first_order: bool) -> Result<Sample> {
    let reals = |u: &mut Unstructured<'_>| Ok(Type::reals(u.int_in_range(1..=3)?));
    let (from, to) = if first_order { (reals(u)?, reals(u)?) } else { (any_type(u, 2)?, any_type(u, 2)?) };
    let (y, omega) = (Var::named("y", from.clone()), Var::named("ω", Type::omega(to.clone())));
    let c = Var::named("c", Type::real());
    let mut scope = if first_order { Vec::new() } else { vec![c.clone()] };
    let at = any_term(u, &mut scope, &from, 2)?;
    scope.push(y.clone());
    let body = any_term(u, &mut scope, &to, 5)?;
    let form = Term::var(omega.clone());
    let term = Term::app(Term::pull(Pat::var(y.clone()), body.clone(), form), at.clone());
    let env = environment(&[omega.clone(), c]);
    Ok(Sample { term, y, body, at, omega, env })
}

/// Whether every node's type is what Figure 2 says, with the linearity condition.
fn well_typed(term: &Term) -> bool {
    let mut ok = true;
    each_child(term.kind(), |_, child| ok = ok && well_typed(child));
    ok && match term.kind() {
        Kind::App(f, a) => *f.ty() == Type::function(a.ty().clone(), term.ty().clone()),
        Kind::Sum(a, b) => a.ty() == b.ty(),
        Kind::Let(var, value, _) => var.ty() == value.ty(),
        Kind::Proj(_, a) => matches!(a.ty().kind(), TypeKind::Product(..)),
        Kind::Fun(f, a) | Kind::Jac(f, a) => *a.ty() == Type::reals(f.inputs()),
        Kind::DualConst(vector) => numbers(vector).is_some(),
        Kind::DualMap(pat, body, s) => *s.ty() == Type::dual(body.ty().clone()) && linear(pat, body),
        Kind::Pull(_, body, s) => *s.ty() == Type::omega(body.ty().clone()),
        Kind::Diff(f, a) => matches!(f.ty().kind(), TypeKind::Function(x, _) if x == a.ty()),
        Kind::Zero | Kind::Var(_) | Kind::Lam(..) | Kind::Pair(..) | Kind::Real(_) => true,
    }
}

fn text(term: &Term) -> String {
    print_marked(term, None, Notation::Typed).0
}

/// Terms for the rules that generated terms meet rarely or never.
const DIRECTED: &[&str] = &[
    // 9
    "{ω : Ω R} ⊢ ((Ω λy. 2) · ω) 3",
    // 10a, 10b
    "{ω : Ω R, c : R} ⊢ ((Ω λy. y + c) · ω) 3",
    "{ω : Ω R, c : R} ⊢ ((Ω λy. c + y) · ω) 3",
    "{ω : Ω R} ⊢ ((Ω λ⟨x, y⟩. x + y) · ω) ⟨3, 4⟩",
    // 11, 12
    "{ω : Ω (R × R)} ⊢ ((Ω λ⟨x, y⟩. ⟨x, y⟩) · ω) ⟨3, 4⟩",
    "{ω : Ω R} ⊢ ((Ω λ⟨x, y⟩. y) · ω) ⟨3, 4⟩",
    // 13a, 13b, 13c
    "{ω : Ω (R × R), c : R} ⊢ ((Ω λ⟨x, y⟩. ⟨y, c⟩) · ω) ⟨3, 4⟩",
    "{ω : Ω (R × R), c : R} ⊢ ((Ω λy. ⟨c, y⟩) · ω) 3",
    "{ω : Ω (R × R)} ⊢ ((Ω λ⟨x, y⟩. ⟨y, x⟩) · ω) ⟨3, 4⟩",
    // 14, 15
    "{ω : Ω (R ⇒ R)} ⊢ ((Ω λy. J sin · y) · ω) 3",
    "{ω : Ω R} ⊢ ((Ω λ⟨x, y⟩. mult(⟨x, y⟩)) · ω) ⟨3, 4⟩",
    // 16a, 16b, 16c
    "{ω : Ω (R*)} ⊢ ((Ω λk. (λx. ⟨x, x⟩)* · k) · ω) [2; 3]*",
    "{ω : Ω (R*), k : R*} ⊢ ((Ω λy. (λx. (J mult · ⟨x, x⟩) ⟨y, y⟩)* · k) · ω) 0.5",
    "{ω : Ω (R*)} ⊢ ((Ω λ⟨y, k⟩. (λx. (J sin · x) y)* · k) · ω) ⟨0.5, [2]*⟩",
    "{ω : Ω (R*), k : R*} ⊢ ((Ω λy. (λx. let b = y; z = x in z)* · k) · ω) 0.5",
    "{ω : Ω (R*)} ⊢ ((Ω λy. (λx. (J mult · ⟨x, x⟩) ⟨y, y⟩)* · [2]*) · ω) 0.5",
    "{ω : Ω ((R ⇒ R)*)} ⊢ ((Ω λ⟨y, k⟩. (λx. x (sin(y)))* · k) · ω) ⟨0.5, [2]*⟩",
    "{ω : Ω (R*)} ⊢ ((Ω λ⟨y, k⟩. (λx. (λb. x) y)* · k) · ω) ⟨0.5, [2]*⟩",
    // 17
    "{ω : Ω (Ω R)} ⊢ ((Ω λk. (Ω λx. sin(x)) · k) · ω) (λu. [2]*)",
    "{ω : Ω (Ω R)} ⊢ ((Ω λk. (Ω λx. 3) · k) · ω) (λu. [2]*)",
    "{ω : Ω (R*), k : Ω R} ⊢ ((Ω λy. ((Ω λx. mult(x, y)) · k) 2) · ω) 3",
    // 18, 19a, 19b, 19c
    "{ω : Ω (R ⇒ R)} ⊢ ((Ω λy. λx. mult(x, y)) · ω) 3",
    "{ω : Ω R, c : R} ⊢ ((Ω λf. f c) · ω) (λx. sin(x))",
    "{ω : Ω R} ⊢ ((Ω λ⟨f, x⟩. f x) · ω) ⟨λx. sin(x), 3⟩",
    "{ω : Ω R} ⊢ ((Ω λ⟨f, x⟩. f x) · ω) ⟨λx. 7, 3⟩",
    // 18 with x ∈ FV(V): c's own b is free in what c is given.
    "{ω : Ω (R ⇒ R ⇒ R)} ⊢ ((Ω λy. let c = λf a b. f (f a b) b in c (c (λp q. mult(y, mult(p, q))))) · ω) 0.5",
    // 20a, 20b, 1 to 6
    "{ω : Ω R} ⊢ ((Ω λx. let a = 2; b = mult(a, x); c = sin(b) in mult(b, c)) · ω) 3",
    "((Ω λx. let a = 2; b = mult(a, x); c = sin(b) in mult(b, c)) · Ω [1]) 3",
    "{ω : Ω R} ⊢ ((Ω λp. mult(π1(p), π2(p))) · ω) ⟨(J sin · 2) 3, π2(⟨1, 4⟩)⟩",
    "{k : (R × R)*} ⊢ (λx. ⟨x, x⟩)* · (λ⟨a, b⟩. ⟨b, a⟩)* · k",
    "[2]* + [3]*",
    "{k : R*} ⊢ (λx. 0 + x)* · (0 + k)",
];

/// Variables that are free in a term.
fn free_vars(term: &Term) -> Vec<Var> {
    let (mut bound, mut seen, mut stack) =
        (std::collections::HashSet::new(), Vec::<Var>::new(), vec![term.clone()]);
    while let Some(term) = stack.pop() {
        if let Kind::Var(var) = term.kind() {
            seen.push(var.clone());
        }
        each_child(term.kind(), |binder, child| {
            match binder {
                Binder::None => {}
                Binder::Var(var) => drop(bound.insert(var.id())),
                Binder::Pat(pat) => bound.extend(pat.vars().iter().map(Var::id)),
            }
            stack.push(child.clone());
        });
    }
    seen.retain(|var| !bound.contains(&var.id()));
    seen
}

/// Theorem 4.6 and corollary 4.7 along the reduction of one term. Gives the rules by which it went, also in premises.
fn steps_keep_meaning_and_type(term: &Term, env: &Env, rules: &mut std::collections::BTreeSet<&'static str>) {
    assert!(well_typed(term), "{}", text(term));
    let (meaning, ty) = (eval(term, env), term.ty().clone());
    let mut watch = |rule: &'static str, before: &Term, after: &Term| {
        assert!(*after.ty() == ty && well_typed(after), "{rule}:\n{}\n{}", text(before), text(after));
        if after.size() < 3000 {
            let now = eval(after, env);
            assert!(close(&ty, &meaning, &now, 5), "{rule}:\n{}\n{}", text(before), text(after));
        }
    };
    let (trace, _) = Reducer::new(&LIMITS, Notation::Paper).observed(&mut watch).trace(term);
    rules.extend(trace.counts.by_rule.keys());
}

#[test]
fn theorem_4_6_and_corollary_4_7_every_step_keeps_meaning_and_type() {
    let mut rules = std::collections::BTreeSet::new();
    for_all(|u| {
        let sample = any_pullback(u, false)?;
        steps_keep_meaning_and_type(&sample.term, &sample.env, &mut rules);
        Ok(())
    });
    for text in DIRECTED {
        let term = term(text);
        let env = environment(&free_vars(&term));
        steps_keep_meaning_and_type(&term, &env, &mut rules);
    }
    // Every rule that the command lists was used: Figure 3, 1 to 6, and the A-reductions.
    let missing: Vec<&str> =
        super::rules::RULES.iter().map(|rule| rule.name).filter(|name| !rules.contains(name)).collect();
    assert!(missing.is_empty(), "never used: {missing:?}");
}

#[test]
fn lemma_3_8_decomposition_is_unique() {
    for_all(|u| {
        let sample = any_pullback(u, false)?;
        let mut terms = Vec::new();
        let mut watch = |_: &'static str, before: &Term, _: &Term| {
            if terms.len() < 40 && before.size() < 2000 {
                terms.push(before.clone());
            }
        };
        let (_, end) = Reducer::new(&LIMITS, Notation::Paper).observed(&mut watch).trace(&sample.term);
        let limits = LIMITS;
        for term in &terms {
            let mut reducer = Reducer::new(&limits, Notation::Paper);
            let found = decompose(term, &mut reducer);
            let (frames, redex) = found.unwrap_or_else(|| panic!("no redex in {}", text(term)));
            assert!(alpha_equal(&plug(&frames, redex), term), "{}", text(term));
        }
        let mut reducer = Reducer::new(&limits, Notation::Paper);
        assert!(decompose(&end, &mut reducer).is_none(), "{} is no value", text(&end));
        Ok(())
    });
}

#[test]
fn corollary_4_8_1_rows_of_the_jacobian() {
    for_all(|u| {
        let sample = any_pullback(u, true)?;
        let (rows, columns) = (sample.body.ty().width().unwrap_or(0), sample.y.ty().width().unwrap_or(0));
        for row in 0..rows {
            let e: Vec<f64> = (0..rows).map(|i| if i == row { 1.0 } else { 0.0 }).collect();
            let form = Term::lam(
                Pat::var(Var::named("x", sample.body.ty().clone())),
                Term::dual_const(Term::vector(&e)),
            );
            let pull = Term::pull(Pat::var(sample.y.clone()), sample.body.clone(), form);
            let (trace, end) =
                Reducer::new(&LIMITS, Notation::Paper).trace(&Term::app(pull, sample.at.clone()));
            if trace.stopped.is_some() {
                return Ok(());
            }
            let gradient = match end.kind() {
                Kind::DualConst(vector) => numbers(vector).unwrap_or_default(),
                Kind::Zero => (0..columns).map(|_| 0.0).collect(),
                // Values 1 and 2 of remark 3.6.
                _ if stuck(&end) => return Ok(()),
                _ => panic!("{} ends in {}", text(&sample.term), text(&end)),
            };
            let at = eval(&sample.at, &sample.env);
            let f = |x: &Val| {
                eval(
                    &Term::app(
                        Term::lam(Pat::var(sample.y.clone()), sample.body.clone()),
                        Term::var(sample.y.clone()),
                    ),
                    &std::rc::Rc::new([(sample.y.id(), x.clone())].into_iter().collect()),
                )
            };
            for (column, entry) in gradient.iter().enumerate() {
                let unit: Vec<f64> =
                    (0..columns as usize).map(|i| if i == column { 1.0 } else { 0.0 }).collect();
                let v = eval(&Term::vector(&unit), &sample.env);
                let mut derivative = Vec::new();
                differential(&f, &v, &at).leaves(&mut derivative);
                let expected = derivative[row as usize].plain();
                assert!(
                    (entry - expected).abs() <= 1e-7 * (1.0 + expected.abs()) || expected.abs() > 1e9,
                    "{}: {entry} instead of {expected}",
                    text(&sample.term)
                );
            }
        }
        Ok(())
    });
}

#[test]
fn corollary_4_8_2_derivatives_at_higher_types() {
    let mut seen = 0;
    for_all(|u| {
        let s = any_pullback(u, false)?;
        let (_, end) = Reducer::new(&LIMITS, Notation::Paper).trace(&s.term);
        let Kind::DualMap(v, jacobian, form) = end.kind() else { return Ok(()) };
        match form.kind() {
            Kind::App(f, _) if matches!(f.kind(), Kind::Var(x) if *x == s.omega) => {}
            _ if stuck(&end) => return Ok(()),
            _ => panic!("{}", text(&end)),
        }
        let along = sample(s.y.ty(), 41);
        let found = eval(&Term::lam(v.clone(), jacobian.clone()), &s.env).apply(&along);
        let function = eval(&Term::lam(Pat::var(s.y.clone()), s.body.clone()), &s.env);
        let expected = differential(&|x| function.apply(x), &along, &eval(&s.at, &s.env));
        assert!(close(s.body.ty(), &found, &expected, 3), "{}\n{}", text(&s.term), text(&end));
        seen += 1;
        Ok(())
    });
    assert!(seen > cases() / 10, "only {seen} Jacobians");
}

#[test]
fn corollary_5_2_reduction_ends() {
    let far = Limits { steps: 5_000_000, size: 50_000_000, recorded: 0 };
    let mut met = Vec::new();
    for_all(|u| {
        let sample = any_pullback(u, false)?;
        let (trace, _) = Reducer::new(&LIMITS, Notation::Paper).trace(&sample.term);
        // A term that outgrows the limits of the other tests still has an end.
        if let Some(stopped) = trace.stopped {
            let (trace, _) = Reducer::new(&far, Notation::Paper).trace(&sample.term);
            assert!(trace.stopped.is_none(), "no end within {} steps: {}", far.steps, text(&sample.term));
            met.push((stopped, trace.counts.steps, trace.counts.max_size));
        }
        Ok(())
    });
    eprintln!("runs beyond the limits of the other tests: {met:?}");
    assert!(met.len() as u32 <= cases() / 100, "{met:?}");
}

#[test]
fn printing_and_parsing_are_inverse() {
    for_all(|u| {
        let sample = any_pullback(u, false)?;
        let header = format!("{{ω : {}, c : R}} ⊢ ", print_type(sample.omega.ty()));
        let check = |term: &Term| {
            let text = text(term);
            let parsed = super::read(SourceId(0), &format!("{header}{text}"), Language::Pullback);
            let parsed = parsed.unwrap_or_else(|errors| panic!("{header}{text}: {errors:?}"));
            assert_eq!(print_marked(&parsed, None, Notation::Typed).0, text);
            assert!(term.is_zero() || parsed.ty() == term.ty());
        };
        check(&sample.term);
        check(&Reducer::new(&LIMITS, Notation::Paper).trace(&sample.term).1);
        Ok(())
    });
}

#[test]
fn lemma_5_1_2_translation_keeps_meaning() {
    for_all(|u| {
        let sample = any_pullback(u, false)?;
        let translated = translate(&sample.term);
        assert!(well_typed(&translated), "{}", text(&translated));
        assert!(*translated.ty() == translate_type(sample.term.ty()));
        // Variables of dual types become variables of function types of the same name.
        let (a, b) = (eval(&sample.term, &sample.env), eval_named(&translated, &sample));
        assert!(close(sample.term.ty(), &a, &b, 9), "{}\n{}", text(&sample.term), text(&translated));
        Ok(())
    });
}

/// The translation's own ω has the same meaning as the original.
fn eval_named(translated: &Term, sample: &Sample) -> Val {
    let mut env = (*sample.env).clone();
    let omega = sample.env[&sample.omega.id()].clone();
    let mut stack = vec![translated.clone()];
    while let Some(term) = stack.pop() {
        if let Kind::Var(var) = term.kind()
            && var.name() == "ω"
        {
            env.insert(var.id(), omega.clone());
        }
        each_child(term.kind(), |_, child| stack.push(child.clone()));
    }
    eval(translated, &std::rc::Rc::new(env))
}

#[test]
fn example_3_9_in_the_differential_calculus() {
    let start = term("((Ω λ⟨x,y⟩. pow2(mult(add(x,1), add(mult(2,x), pow2(y))))) · Ω [1]) ⟨1,3⟩");
    for (unit, expected) in [([1.0, 0.0], 660.0), ([0.0, 1.0], 528.0)] {
        let applied = Term::app(translate(&start), Term::vector(&unit));
        let end = Normalizer::new(&LIMITS).normalize(&applied).expect("within limits");
        assert_eq!(numbers(&end), Some(vec![expected]));
    }
}

/// n doublings `let z = mult(x,x) in …`, differentiated at 1.
fn nested(n: usize) -> Term {
    let lets: Vec<String> = (1..=n).map(|i| format!("z{i} = mult(z{}, z{})", i - 1, i - 1)).collect();
    term(&format!("((Ω λz0. let {} in z{n}) · Ω [1]) 1", lets.join("; ")))
}

#[test]
fn expression_swells_there_and_not_here() {
    let mut measured = Vec::new();
    for n in [2, 4, 8] {
        let start = nested(n);
        let (trace, end) = Reducer::new(&LIMITS, Notation::Paper).trace(&start);
        assert_eq!(print(&end), format!("[{}]*", 1 << n));
        let mut normalizer = Normalizer::new(&LIMITS);
        let normal =
            normalizer.normalize(&Term::app(translate(&start), Term::real(1.0))).expect("within limits");
        assert_eq!(numbers(&normal), Some(vec![f64::from(1 << n)]));
        measured.push((trace.counts.steps, normalizer.counts().steps));
    }
    let [(s2, d2), (s4, d4), (s8, d8)] = measured[..] else { panic!("three sizes") };
    // Twice as many lets: at most twice as many steps here, and far more there.
    assert!(s4 <= 2 * s2 && s8 <= 2 * s4, "{measured:?}");
    assert!(d8 > 8 * d4 && d4 > 2 * d2, "{measured:?}");
}

#[test]
fn a_long_let_series_is_linear() {
    let series = |n: usize| {
        let x = Var::named("x", Type::real());
        let mut last = x.clone();
        let mut lets = Vec::new();
        for _ in 0..n {
            let next = Var::named("z", Type::real());
            lets.push((next.clone(), Term::fun(Func::Prim(RealOp::Sin), Term::var(last))));
            last = next;
        }
        let body =
            lets.into_iter().rev().fold(Term::var(last), |body, (var, value)| Term::let_in(var, value, body));
        let form = Term::lam(Pat::var(Var::named("x", Type::real())), Term::dual_const(Term::real(1.0)));
        Term::app(Term::pull(Pat::var(x), body, form), Term::real(0.5))
    };
    let limits = Limits { recorded: 0, ..Limits::default() };
    let count = |n: usize| {
        let (trace, end) = Reducer::new(&limits, Notation::Paper).trace(&series(n));
        assert!(trace.stopped.is_none() && matches!(end.kind(), Kind::DualConst(_)));
        (trace.counts.steps as usize, trace.counts.max_size as usize)
    };
    let ((small_steps, small_size), (steps, size)) = (count(1000), count(10_000));
    assert_eq!(steps, 10 * small_steps);
    assert!(size <= 11 * small_size, "{small_size} {size}");
}

#[test]
fn slip_iteration_of_2_1_starts_at_1_3() {
    let g = "fun g⟨x,y⟩ = ⟨add(x,1), add(mult(2,x), pow2(y))⟩;\n";
    let values = |point: &str| print(&reduce(&format!("{g}pow2(mult(g({point})))")).1);
    assert_eq!((values("⟨1,3⟩").as_str(), values("⟨3,1⟩").as_str()), ("484", "784"));
}

#[test]
fn slip_16c_needs_v_for_y() {
    // (λy.(λx.y x)*·…) with y in both places: Figure 3 has (λx.S)*·Vπᵢ, the text (λx.S)*·yπᵢ, in which y is unbound.
    let (trace, end) = reduce("{ω : Ω(R*)} ⊢ ((Ω λ⟨y, k⟩. (λx. (λb. x) y)* · k) · ω) ⟨0.5, [2]*⟩");
    assert!(trace.counts.by_rule.contains_key("16c"), "{:?}", trace.counts.by_rule);
    assert!(!end.mentions(&|_| false) && print(&end).starts_with("(λ⟨v1, v2⟩. "), "{}", print(&end));
    assert!(well_typed(&end) && !print(&end).contains('y'), "{}", print(&end));
}

#[test]
fn slip_lin_of_figure_2_does_not_survive_reduction() {
    // Reduction 20b makes (λv.⟨v,0⟩)*, but lin(0) = ∅ by 3.1.1, so lin(⟨v,0⟩) = ∅.
    let v = Var::named("v", Type::real());
    let pair = Term::pair(Term::var(v.clone()), Term::zero(Type::real()));
    assert!(!literal_lin(&v, &pair) && linear(&Pat::var(v.clone()), &pair));
    // Reductions 16c and 19b make sums under dual maps, and lin(S+P) = ∅.
    let sum = Term::sum(Term::var(v.clone()), Term::var(v.clone()));
    assert!(!literal_lin(&v, &sum) && linear(&Pat::var(v.clone()), &sum));
    // A-reduction turns (λv.π₁ v)* into (λv.let z = v; …)*, and lin(S P) leaves out FV(P).
    let z = Var::named("z", Type::real());
    let series = Term::let_in(z.clone(), Term::var(v.clone()), Term::var(z));
    assert!(!literal_lin(&v, &series) && linear(&Pat::var(v), &series));
}

#[test]
fn a_dual_map_is_linear_in_its_body_or_in_its_form_not_in_both() {
    let v = Var::named("v", Type::real());
    let (there, absent) = (|| Term::var(v.clone()), || Term::real(2.0));
    let dual = |body: Term, form: Term| {
        let term = Term::dual_map(Pat::var(Var::named("y", Type::real())), body, form);
        (linear(&Pat::var(v.clone()), &term), literal_lin(&v, &term))
    };
    assert_eq!(dual(there(), absent()), (true, true));
    assert_eq!(dual(absent(), there()), (true, true));
    assert_eq!(dual(there(), there()), (false, false));
    assert_eq!(dual(absent(), absent()), (false, false));
}

#[test]
fn slip_example_3_2_needs_a_form_on_the_result() {
    let sum = |omega: &str| format!("{{ω : {omega}}} ⊢ ((Ω λl. l (λx y. x + y) 0) · ω) [7, -1]");
    let check = |text: &str| super::read(SourceId(0), text, Language::Pullback);
    let ok = check(&sum("Ω R")).expect("ω is a form on the result of sum");
    assert_eq!(print_type(ok.ty()), "((R ⇒ R ⇒ R) ⇒ R ⇒ R)*");
    assert!(check(&sum("Ω(List(R))")).is_err());
}

#[test]
fn slip_lemma_5_1_1_fails_for_functionals() {
    // Reduction 9 gives 0, whose translation is 0; the translation of the redex ends in ω r 0, and ω is any function there.
    let limits = LIMITS;
    let normal = |text: &str| {
        let translated = translate(&term(text));
        Normalizer::new(&limits).normalize(&translated).expect("within limits")
    };
    let redex = normal("{ω : Ω R} ⊢ ((Ω λy. 2) · ω) 3");
    assert_eq!(print(&redex), "λv1. ω 2 0");
    assert_eq!(print(&reduce("{ω : Ω R} ⊢ ((Ω λy. 2) · ω) 3").1), "0");
}

#[test]
fn value_1_is_reached_by_closed_functions() {
    // Corollary 4.8 (2) assumes the form (λv.P)*·(ω P'); λx.λf. f x does not reach it.
    let end = print(&reduce("{ω : Ω((R ⇒ R) ⇒ R)} ⊢ ((Ω λx. λf. f x) · ω) 3").1);
    assert!(end.starts_with("((Ω λx. λf."), "{end}");
}

/// The premise of 19b, where the function is a sum of one that is constant and one that is not.
#[test]
fn a_constant_summand_of_a_function_does_not_hide_the_other() {
    for sum in ["(λy. sin(y)) + (λy. 7)", "(λy. 7) + (λy. sin(y))"] {
        let end = print(&reduce(&format!("{{ω : Ω R}} ⊢ ((Ω λ⟨f, x⟩. f x) · ω) ⟨{sum}, 3⟩")).1);
        assert!(end.contains("v1 3 + (J sin · v2) 3"), "{end}");
    }
}

#[test]
fn values_of_remark_3_6_say_why_they_stay() {
    let why = |text: &str| {
        let outcome = Reducer::new(&LIMITS, Notation::Paper).outcome(&term(text));
        outcome.stuck.map(|stuck| stuck.note()).unwrap_or_default()
    };
    let value_1 = "a pullback stays: value 1 of remark 3.6, no reduction differentiates ";
    let value_2 = "a pullback stays: value 2 of remark 3.6, no reduction differentiates ";
    let cases = [
        ("{ω : Ω R, g : R ⇒ R} ⊢ ((Ω λx. g x) · ω) 3", value_1, "`g x` where `g` is a variable"),
        ("{ω : Ω R, g : R ⇒ R} ⊢ ((Ω λ⟨f, x⟩. f x) · ω) ⟨g, 3⟩", value_1, "`f x` where `g` is a variable"),
        ("{ω : Ω((R ⇒ R) ⇒ R)} ⊢ ((Ω λx. λf. f x) · ω) 3", value_1, "`z1 z2` where `f` is a variable"),
        // In a premise of a premise, and in the first of two components.
        (
            "{ω : Ω(R ⇒ (R ⇒ R) ⇒ R)} ⊢ ((Ω λx. λy. λf. f x) · ω) 3",
            value_1,
            "`z1 z2` where `f` is a variable",
        ),
        (
            "{k : R* ⇒ R} ⊢ ⟨k (((Ω λx. (λf. f x)) · (λg. 0)) 3), ((Ω λx. sin(x)) · Ω [1]) 0⟩",
            value_1,
            "`z1 z2` where `f` is a variable",
        ),
        (
            "{ω : Ω R} ⊢ ((Ω λ⟨f, x⟩. f x) · ω) ⟨J sin · 1, 3⟩",
            value_2,
            "`f x` where `J sin · 1` is no abstraction",
        ),
        (
            "{ω : Ω(R*)} ⊢ ((Ω λ⟨f, x⟩. f x) · ω) ⟨(Ω λx. sin(x)) · (λx. [1]*), 3⟩",
            value_2,
            "`f x` where `(Ω λx. sin(x)) · (λx. [1]*)` is no abstraction",
        ),
    ];
    for (text, kind, call) in cases {
        assert_eq!(why(text), format!("{kind}{call}"), "{text}");
    }
    // Known functions, functions of pairs, and what is thrown away do not stay.
    for text in [
        "{ω : Ω R} ⊢ ((Ω λx. (λf. f x) (λy. mult(y, y))) · ω) 3",
        "{ω : Ω((R ⇒ R) × R ⇒ R)} ⊢ ((Ω λx. λ⟨f, y⟩. f y) · ω) 3",
        "{ω : Ω(R ⇒ R)} ⊢ (λu. 5) (((Ω λx. λf. f x) · (λg. 0)) 3)",
        "{ω : Ω R} ⊢ ω",
    ] {
        assert_eq!(why(text), "", "{text}");
    }
}

#[test]
fn lemma_5_1_1_translations_of_a_reduction_join_at_vectors() {
    let limits = Limits { steps: 3_000, size: 20_000, recorded: 0 };
    let (mut joined, mut left) = (0, 12);
    for_all(|u| {
        let s = any_pullback(u, true)?;
        let (rows, columns) = (s.body.ty().width().unwrap_or(1), s.y.ty().width().unwrap_or(1));
        if left == 0 || s.term.size() > 24 {
            return Ok(());
        }
        left -= 1;
        let ones = |n: u64| Term::vector(&(0..n).map(|i| 1.0 + i as f64).collect::<Vec<f64>>());
        let form = Term::lam(Pat::var(Var::named("x", s.body.ty().clone())), Term::dual_const(ones(rows)));
        let start = Term::app(Term::pull(Pat::var(s.y.clone()), s.body.clone(), form), s.at.clone());
        let number = |term: &Term| {
            let applied = Term::app(translate(term), ones(columns));
            let normal = Normalizer::new(&limits).normalize(&applied).ok()?;
            numbers(&normal)?.first().copied()
        };
        let Some(first) = number(&start) else { return Ok(()) };
        let mut watch = |rule: &'static str, _: &Term, after: &Term| {
            if let Some(now) = number(after) {
                joined += 1;
                let same = (now - first).abs() <= 1e-7 * (1.0 + first.abs());
                assert!(same || first.abs() > 1e9, "{rule}: {now} instead of {first} at {}", text(after));
            }
        };
        let _ = Reducer::new(&LIMITS, Notation::Paper).observed(&mut watch).trace(&start);
        Ok(())
    });
    assert!(joined > 30, "only {joined} steps");
}

#[test]
fn deep_terms_do_not_overflow() {
    let limits = Limits { recorded: 0, ..Limits::default() };
    let x = Var::named("x", Type::real());
    let sin = |term: Term| Term::fun(Func::Prim(RealOp::Sin), term);
    let body = (0..20_000).fold(Term::var(x.clone()), |term, _| sin(term));
    let form = Term::lam(Pat::var(Var::named("w", Type::real())), Term::dual_const(Term::real(1.0)));
    let start = Term::app(Term::pull(Pat::var(x), body, form), Term::real(0.5));
    let (trace, end) = Reducer::new(&limits, Notation::Paper).trace(&start);
    assert!(trace.stopped.is_none() && matches!(end.kind(), Kind::DualConst(_)));
}

#[test]
fn premise_of_16b_finds_zero_or_is_stuck() {
    for (text, expected) in [
        ("{ω : Ω (R*), k : R*} ⊢ ((Ω λy. (λx. let b = y; z = x in z)* · k) · ω) 0.5", "0"),
        // x at something with y: value 1 in the premise.
        ("{ω : Ω ((R ⇒ R)*), k : R*} ⊢ ((Ω λy. (λx. let a = x; b = y; z = a b in z)* · k) · ω) 0.5", "((Ω"),
        // J f·x at something with y: value 2.
        ("{ω : Ω (R*), k : R*} ⊢ ((Ω λy. (λx. let a = J sin · x; b = y; z = a b in z)* · k) · ω) 0.5", "((Ω"),
    ] {
        let (trace, end) = reduce(text);
        assert!(print(&end).starts_with(expected), "{text}: {}", print(&end));
        assert_eq!(trace.counts.by_rule.contains_key("16b"), expected == "0", "{text}");
    }
}

#[test]
fn curried_lists_cannot_fold_functions() {
    let step = "(λa k. λy. k (mult(a, y)))";
    let curried = format!("((Ω λx. (λf d. f 3 (f 2 d)) {step} (λy. y) x) · Ω [1]) 0.5");
    let paired = "((Ω λx. ((λ⟨f, d⟩. f ⟨3, f ⟨2, d⟩⟩) ⟨λ⟨a, k⟩. λy. k (mult(a, y)), λy. y⟩) x) · Ω [1]) 0.5";
    assert!(print(&reduce(&curried).1).contains("(Ω"), "{}", print(&reduce(&curried).1));
    assert_eq!(print(&reduce(paired).1), "[6]*");
}

/// Rule and reduct of the first step outside premises that names nothing and splits nothing, and the end.
#[test]
fn figure_3_rule_by_rule() {
    let limits = LIMITS;
    let mut shown = String::new();
    for text in DIRECTED {
        let steps = Reducer::new(&limits, Notation::Paper).redexes(&term(text), 40);
        let first = steps.iter().find(|(rule, ..)| !rule.starts_with("A-") && !["7", "8"].contains(rule));
        match first {
            Some((rule, redex, reduct)) if redex.size() < 40 => {
                shown += &format!("{rule:4} {}\n     {}\n", print(redex), print(reduct));
            }
            Some(_) => {}
            None => shown += "none\n",
        }
        let end = print(&reduce(text).1);
        shown += &format!("     … {}\n", end.chars().take(200).collect::<String>());
    }
    expect_test::expect![[r#"
        9    ((Ω λy. 2) · ω) 3
             0
             … 0
        10a  ((Ω λy. y + c) · ω) 3
             (λv1. v1)* · ω (3 + c)
             … (λv1. v1)* · ω (3 + c)
        10a  ((Ω λy. c + y) · ω) 3
             (λv1. v1)* · ω (c + 3)
             … (λv1. v1)* · ω (c + 3)
        10b  ((Ω λ⟨x, y⟩. x + y) · ω) ⟨3, 4⟩
             (λ⟨v1, v2⟩. v1 + v2)* · ω (3 + 4)
             … (λ⟨v1, v2⟩. v1 + v2)* · ω 7
        11   ((Ω λ⟨x, y⟩. ⟨x, y⟩) · ω) ⟨3, 4⟩
             (λ⟨v1, v2⟩. ⟨v1, v2⟩)* · ω ⟨3, 4⟩
             … (λ⟨v1, v2⟩. ⟨v1, v2⟩)* · ω ⟨3, 4⟩
        12   ((Ω λ⟨x, y⟩. y) · ω) ⟨3, 4⟩
             (λ⟨v1, v2⟩. v2)* · ω 4
             … (λ⟨v1, v2⟩. v2)* · ω 4
        13a  ((Ω λ⟨x, y⟩. ⟨y, c⟩) · ω) ⟨3, 4⟩
             (λ⟨v1, v2⟩. ⟨v2, 0⟩)* · ω ⟨4, c⟩
             … (λ⟨v1, v2⟩. ⟨v2, 0⟩)* · ω ⟨4, c⟩
        13b  ((Ω λy. ⟨c, y⟩) · ω) 3
             (λv1. ⟨0, v1⟩)* · ω ⟨c, 3⟩
             … (λv1. ⟨0, v1⟩)* · ω ⟨c, 3⟩
        13c  ((Ω λ⟨x, y⟩. ⟨y, x⟩) · ω) ⟨3, 4⟩
             (λ⟨v1, v2⟩. ⟨v2, v1⟩)* · ω ⟨4, 3⟩
             … (λ⟨v1, v2⟩. ⟨v2, v1⟩)* · ω ⟨4, 3⟩
        14   ((Ω λy. J sin · y) · ω) 3
             (λv1. J sin · v1)* · ω (J sin · 3)
             … (λv1. J sin · v1)* · ω (J sin · 3)
        20a  ((Ω λ⟨x, y⟩. ⟨x, y, ⟨x, y⟩⟩) · (Ω λ⟨x, y, z1⟩. mult(z1)) · ω) ⟨3, 4⟩
             (λ⟨v1, v2⟩. ⟨v1, v2, ⟨v1, v2⟩⟩)* · ((Ω λ⟨x, y, z1⟩. mult(z1)) · ω) ⟨3, 4, ⟨3, 4⟩⟩
             … (λ⟨v1, v2⟩. (J mult · ⟨v1, v2⟩) ⟨3, 4⟩)* · ω 12
        16a  ((Ω λk. (λx. let z1 = x; z2 = x; z3 = ⟨z1, z2⟩ in z3)* · k) · ω) [2; 3]*
             (λv1. (λx. let z1 = x; z2 = x; z3 = ⟨z1, z2⟩ in z3)* · v1)* · ω ((λx. let z1 = x; z2 = x; z3 = ⟨z1, z2⟩ in z3)* · [2; 3]*)
             … (λv1. (λx. ⟨x, x⟩)* · v1)* · ω [5]*
        none
             … ((Ω λy. (λx. let z1 = x; z2 = x; z3 = ⟨z1, z2⟩; z4 = J mult · z3; z5 = y; z6 = y; z7 = ⟨z5, z6⟩; z8 = z4 z7 in z8)* · k) · ω) 0.5
        none
             … ((Ω λ⟨y, k⟩. (λx. let z1 = x; z2 = J sin · z1; z3 = y; z4 = z2 z3 in z4)* · k) · ω) ⟨0.5, [2]*⟩
        16b  ((Ω λy. (λx. let b = y; z = x in z)* · k) · ω) 0.5
             (λv1. (λx. 0)* · k)* · ω ((λx. let b = 0.5; z = x in z)* · k)
             … 0
        20b  ((Ω λy. ⟨y, [2]*⟩) · (Ω λ⟨y, z1⟩. (λx. let z2 = x; z3 = x; z4 = ⟨z2, z3⟩; z5 = J mult · z4; z6 = y; z7 = y; z8 = ⟨z6, z7⟩; z9 = z5 z8 in z9)* · z1) · ω) 0.5
             (λv1. ⟨v1, 0⟩)* · ((Ω λ⟨y, z1⟩. (λx. let z2 = x; z3 = x; z4 = ⟨z2, z3⟩; z5 = J mult · z4; z6 = y; z7 = y; z8 = ⟨z6, z7⟩; z9 = z5 z8 in z9)* · z1) · ω) ⟨0.5, [2]*⟩
             … (λv1. ⟨v1, 0⟩)* · ((Ω λ⟨y, z1⟩. (λx. let z2 = x; z3 = x; z4 = ⟨z2, z3⟩; z5 = J mult · z4; z6 = y; z7 = y; z8 = ⟨z6, z7⟩; z9 = z5 z8 in z9)* · z1) · ω) ⟨0.5, [2]*⟩
        none
             … ((Ω λ⟨y, k⟩. (λx. let z1 = x; z2 = y; z3 = sin(z2); z4 = z1 z3 in z4)* · k) · ω) ⟨0.5, [2]*⟩
        16c  ((Ω λ⟨y, k⟩. (λx. let b = y; z1 = x in z1)* · k) · ω) ⟨0.5, [2]*⟩
             (λ⟨v1, v2⟩. (λx. let b = 0.5; z1 = x in z1)* · v2 + (λx. 0)* · [2]*)* · ω ((λx. let b = 0.5; z1 = x in z1)* · [2]*)
             … (λ⟨v1, v2⟩. (λx. x)* · v2)* · ω [2]*
        17   ((Ω λk. (Ω λx. let z1 = x; z2 = sin(z1) in z2) · k) · ω) (λu. [2]*)
             ((Ω λk. λa1. let z1 = k; z2 = a1; z3 = sin(z2); z4 = z1 z3; z5 = (λv1. let z5 = v1; z6 = J sin · z5; z7 = a1; z8 = z6 z7 in z8)* · z4 in z5) · ω) (λu. [2]*)
             … (λv1. λa1. (λv2. (J sin · v2) a1)* · v1 sin(a1))* · ω (λa1. let z1 = λu. [2]*; z2 = a1; z3 = sin(z2); z4 = z1 z3; z5 = (λv1. let z5 = v1; z6 = J sin · z5; z7 = a1; z8 = z6 z7 in z8)* · z4 in z5)
        17   ((Ω λk. (Ω λx. let z1 = 3 in z1) · k) · ω) (λu. [2]*)
             ((Ω λk. λa1. let z1 = 0 in z1) · ω) (λu. [2]*)
             … 0
        20b  ((Ω λy. ⟨y, k⟩) · (Ω λ⟨y, z1⟩. ⟨y, z1, (Ω λx. let z2 = x; z3 = y; z4 = ⟨z2, z3⟩; z5 = mult(z4) in z5) · z1⟩) · (Ω λ⟨y, z1, z2⟩. ⟨y, z1, z2, 2⟩) · (Ω λ⟨y, z1, z2, z3⟩. z2 z3) · ω) 3
             (λv1. ⟨v1, 0⟩)* · ((Ω λ⟨y, z1⟩. ⟨y, z1, (Ω λx. let z2 = x; z3 = y; z4 = ⟨z2, z3⟩; z5 = mult(z4) in z5) · z1⟩) · (Ω λ⟨y, z1, z2⟩. ⟨y, z1, z2, 2⟩) · (Ω λ⟨y, z1, z2, z3⟩. z2 z3) · ω) ⟨3, k⟩
             … (λv1. ⟨v1, 0⟩)* · ((Ω λ⟨y, z1⟩. ⟨y, z1, λa1. let z2 = z1; z3 = a1; z4 = y; z5 = ⟨z3, z4⟩; z6 = mult(z5); z7 = z2 z6; z8 = (λv1. let z8 = v1; z9 = 0; z10 = ⟨z8, z9⟩; z11 = J mult · z10; z12 = a1; z13 =
        18   ((Ω λy. λx. let z1 = x; z2 = y; z3 = ⟨z1, z2⟩; z4 = mult(z3) in z4) · ω) 3
             (λv1. λx. (J mult · ⟨0, v1⟩) ⟨x, 3⟩)* · ω (λx. let z1 = x; z2 = 3; z3 = ⟨z1, z2⟩; z4 = mult(z3) in z4)
             … (λv1. λx. (J mult · ⟨0, v1⟩) ⟨x, 3⟩)* · ω (λx. let z1 = x; z2 = 3; z3 = ⟨z1, z2⟩; z4 = mult(z3) in z4)
        19a  ((Ω λf. f c) · ω) (λx. sin(x))
             (λv1. v1 c)* · ω ((λx. sin(x)) c)
             … (λv1. v1 c)* · ω sin(c)
        19b  ((Ω λ⟨f, x⟩. f x) · ω) ⟨λx. sin(x), 3⟩
             (λ⟨v1, v2⟩. v1 3 + (J sin · v2) 3)* · ω ((λx. sin(x)) 3)
             … (λ⟨v1, v2⟩. v1 3 + (J sin · v2) 3)* · ω 0.1411200080598672
        19c  ((Ω λ⟨f, x⟩. f x) · ω) ⟨λx. 7, 3⟩
             (λ⟨v1, v2⟩. v1 3)* · ω ((λx. 7) 3)
             … (λ⟨v1, v2⟩. v1 3)* · ω 7
             … (λv1. λa. λb. ((0 (λp. let z1 = λq. let z1 = 0.5; z2 = p; z3 = q; z4 = ⟨z2, z3⟩; z5 = mult(z4); z6 = ⟨z1, z5⟩; z7 = mult(z6) in z7 in z1) + (λa1. λb1. ((λp. λq. (J mult · ⟨v1, (J mult · ⟨0, 0⟩) ⟨p, q⟩
             … (λv1. (J mult · ⟨(J mult · ⟨0, v1⟩) ⟨2, 3⟩, (J sin · (J mult · ⟨0, v1⟩) ⟨2, 3⟩) 6⟩) ⟨6, -0.27941549819892586⟩)* · ω -1.6764929891935552
             … [10.96321244340654]*
        4    (J sin · 2) 3
             -1.9799849932008908
             … (λv1. (J mult · ⟨π1(v1), π2(v1)⟩) ⟨-1.9799849932008908, 4⟩)* · ω -7.919939972803563
        6    (λx. ⟨x, x⟩)* · (λ⟨a, b⟩. ⟨b, a⟩)* · k
             (λx. ⟨x, x⟩)* · k
             … (λx. ⟨x, x⟩)* · k
        +    [2]* + [3]*
             [5]*
             … [5]*
        ≡0   0 + k
             k
             … (λx. x)* · k
    "#]].assert_eq(&shown);
}
