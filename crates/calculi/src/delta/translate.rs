//! What the translations have in common: the translation of types, the rules that "are as in Figure 3", and the partial
//! derivatives of a primitive as terms.
//!
//! A translation that is not monadic differs from the others only in what it does to reals ([`Mode`]) and to constants
//! ([`Dual`]); [`homomorphic`] is the rest of Figure 3. The monadic one has its own rules in [`super::monadic`].

#![expect(clippy::wildcard_enum_match_arm, reason = "a product of reals has no other leaves")]

use super::errors;
use super::names;
use super::polytypic;
use super::syntax::{Builtin, Compare, Const, E, Expr, Fresh, Kind, LeafOp, Pat, Poly, Ty, grow, make};
use std::rc::Rc;
use wengert_base::{Diagnostic, Span};
use wengert_prim::{RealOp, Rule, Test, rules};

/// Which translation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Mode {
    /// `𝒟⃗`, Figure 3: a real becomes `ℝ × δℝ`.
    Forward,
    /// `𝒟⃖¹_S`, Figure 5: a real becomes `ℝ × δS`.
    Naive(Ty),
    /// `𝒟⃖²`, Figure 7: a real becomes `ℝ × Delta`.
    Staged,
    /// `𝒟⃖`, Figure 9: a real becomes `ℝ × Delta`, a function `A → M B`.
    Monadic,
    /// Section 10.4: a real becomes the tower of its derivatives up to this order.
    Tower(usize),
}

/// The translation on types.
pub(crate) fn dual_type(ty: &Ty, mode: &Mode) -> Ty {
    let again = |ty: &Rc<Ty>| Rc::new(grow(|| dual_type(ty, mode)));
    match ty {
        Ty::Real => match mode {
            Mode::Forward => Ty::prod(Ty::Real, Ty::Real),
            Mode::Naive(s) => Ty::prod(Ty::Real, s.clone()),
            Mode::Staged | Mode::Monadic => Ty::prod(Ty::Real, Ty::Delta),
            Mode::Tower(order) => Ty::tuple(vec![Ty::Real; order + 1]),
        },
        Ty::Prod(a, b) => Ty::Prod(again(a), again(b)),
        Ty::Sum(a, b) => Ty::Sum(again(a), again(b)),
        Ty::Fun(a, b) if *mode == Mode::Monadic => Ty::Fun(again(a), Rc::new(Ty::Monad(again(b)))),
        Ty::Fun(a, b) => Ty::Fun(again(a), again(b)),
        Ty::Vector(a) => Ty::Vector(again(a)),
        Ty::Rec(name, a) => Ty::Rec(*name, again(a)),
        Ty::Monad(a) => Ty::Monad(again(a)),
        Ty::Int | Ty::String | Ty::Unit | Ty::Delta | Ty::DeltaMap | Ty::Var(_) | Ty::Meta(_) => ty.clone(),
    }
}

/// What a translation does to constants.
pub(crate) trait Dual {
    /// Which one it is.
    fn mode(&self) -> Mode;
    /// `𝒟{r}`
    fn literal(&self, r: f64) -> E;
    /// `𝒟{op}` for a primitive function on reals.
    fn real_op(&self, op: RealOp) -> E;
}

/// The rules of Figure 3 that every translation but the monadic one shares.
pub(crate) fn homomorphic(e: &E, dual: &dyn Dual, fresh: &Fresh) -> Result<E, Diagnostic> {
    let d = |e: &E| grow(|| homomorphic(e, dual, fresh));
    let on_type = |ty: &Ty| dual_type(ty, &dual.mode());
    let kind = match &e.kind {
        Kind::Var(..) => return Ok(Rc::clone(e)),
        Kind::Const(constant) => return homomorphic_constant(constant, e.span, dual, fresh),
        Kind::Let(pat, a, b) => Kind::Let(pat.clone(), d(a)?, d(b)?),
        Kind::LetRec(name, ty, a, b) => Kind::LetRec(*name, ty.as_ref().map(on_type), d(a)?, d(b)?),
        Kind::Lam(pat, ty, body) => Kind::Lam(pat.clone(), ty.as_ref().map(on_type), d(body)?),
        Kind::App(a, b) => Kind::App(d(a)?, d(b)?),
        Kind::Inl(a) => Kind::Inl(d(a)?),
        Kind::Inr(a) => Kind::Inr(d(a)?),
        Kind::Case(e, p, a, q, b) => Kind::Case(d(e)?, p.clone(), d(a)?, q.clone(), d(b)?),
        Kind::Pair(a, b) => Kind::Pair(d(a)?, d(b)?),
        Kind::Fst(a) => Kind::Fst(d(a)?),
        Kind::Snd(a) => Kind::Snd(d(a)?),
        Kind::Roll(ty, a) => Kind::Roll(on_type(ty), d(a)?),
        Kind::Unroll(a) => Kind::Unroll(d(a)?),
        Kind::Ann(a, _) => return d(a),
        Kind::Pure(_) | Kind::Do(..) | Kind::Opaque(_) => return Err(shaded(e.span, "computation in M")),
    };
    Ok(Expr::at(kind, e.span))
}

fn homomorphic_constant(
    constant: &Const,
    span: Span,
    dual: &dyn Dual,
    fresh: &Fresh,
) -> Result<E, Diagnostic> {
    use make::{lam, leaf_op, var};
    let (x, y) = (fresh.name("x"), fresh.name("y"));
    // `λ((x, _), …). op (x, …)`: the primal components of the translated arguments.
    let primal = |name| Pat::pair(Pat::Var(name), Pat::Wild);
    Ok(match constant {
        Const::Real(r) => dual.literal(*r),
        Const::RealOp(op) => dual.real_op(*op),
        Const::Leaf(LeafOp::ToReal) => {
            // A primitive with no real argument (Figure 14 with n = 0).
            let zero = dual.literal(0.0);
            let Kind::Pair(_, tail) = &zero.kind else { return Ok(zero) };
            lam(Pat::Var(x), make::pair(leaf_op(LeafOp::ToReal, vec![var(x)]), Rc::clone(tail)))
        }
        Const::Leaf(LeafOp::Floor) => lam(primal(x), leaf_op(LeafOp::Floor, vec![var(x)])),
        Const::Leaf(op @ LeafOp::CompareReal(_)) => {
            lam(Pat::pair(primal(x), primal(y)), leaf_op(*op, vec![var(x), var(y)]))
        }
        Const::Int(_) | Const::Str(_) | Const::Unit => make::constant(constant.clone()),
        Const::Leaf(LeafOp::Int(_) | LeafOp::CompareInt(_) | LeafOp::CompareString(_) | LeafOp::Append) => {
            make::constant(constant.clone())
        }
        Const::Fun(Builtin::Build | Builtin::Index | Builtin::Length | Builtin::Fail) => {
            make::constant(constant.clone())
        }
        Const::Fun(builtin) => return Err(shaded(span, &format!("`{}`", names::builtin(*builtin)))),
        Const::Poly(poly, Some(ty)) => return homomorphic(&definition(*poly, ty, span)?, dual, fresh),
        Const::Poly(poly, None) => return Err(errors::subscript(span, names::poly(*poly))),
        Const::Overloaded(op) => return Err(errors::overloaded(span, op.sign(), "?")),
    })
}

/// The λ-term that a polytypic function of the source stands for ("each should be understood as an infinite family of
/// ordinary, lambda-definable functions").
pub(crate) fn definition(poly: Poly, ty: &Ty, span: Span) -> Result<E, Diagnostic> {
    match poly {
        Poly::Scale | Poly::Add | Poly::Dot => Ok(polytypic::definition(poly, ty)),
        Poly::Primal | Poly::OneHot | Poly::Zero | Poly::Delta | Poly::Zip => {
            Err(shaded(span, names::poly(poly)))
        }
        Poly::InitVars | Poly::InitZeros | Poly::Lookup => Err(shaded(span, names::poly(poly))),
    }
}

/// A construct that "appears only in the output of AD" (Figure 1).
pub(crate) fn shaded(span: Span, what: &str) -> Diagnostic {
    errors::fragment(
        span,
        &format!("translation of {what}"),
        "the shaded constructs of Figure 1 appear in the output of a translation only (section 10.4)",
    )
}

/// The coefficient of an argument's displacement in the derivative of a primitive.
pub(crate) enum Coefficient {
    /// 1
    One,
    /// A real term over the arguments and the result.
    Term(E),
}

/// Whether the rule of `op` mentions the result.
pub(crate) fn uses_result(op: RealOp) -> bool {
    rule_uses_result(&rules::lookup(op))
}

fn rule_uses_result(rule: &Rule) -> bool {
    match rule {
        Rule::Linear { terms, divisor } => {
            let in_coefficients = terms.iter().filter_map(|term| term.coef.as_ref()).any(expr_uses_result);
            in_coefficients || divisor.as_ref().is_some_and(expr_uses_result)
        }
        Rule::Case(test, a, b) => test_uses_result(test) || rule_uses_result(a) || rule_uses_result(b),
    }
}

fn expr_uses_result(expr: &wengert_prim::Expr) -> bool {
    match expr {
        wengert_prim::Expr::Out => true,
        wengert_prim::Expr::In(_) | wengert_prim::Expr::Const(_) => false,
        wengert_prim::Expr::Op(_, operands) => operands.iter().any(expr_uses_result),
        wengert_prim::Expr::If(test, a, b) => {
            test_uses_result(test) || expr_uses_result(a) || expr_uses_result(b)
        }
    }
}

fn test_uses_result(test: &Test) -> bool {
    match test {
        Test::Eq(a, b) | Test::Lt(a, b) | Test::Le(a, b) => expr_uses_result(a) || expr_uses_result(b),
        Test::Or(a, b) => test_uses_result(a) || test_uses_result(b),
    }
}

/// Whether the coefficients of `op` can be infinite or undefined where the derivative is zero, so that scaling has to
/// let an exact zero win.
pub(crate) fn needs_strong_zero(op: RealOp) -> bool {
    if op == RealOp::MulZero {
        return true;
    }
    match &*rules::lookup(op) {
        Rule::Linear { divisor, .. } => divisor.is_some(),
        Rule::Case(..) => true,
    }
}

/// The derivative of `op` at `args` with result `out`, from the table of `wengert_prim` (the `df_ij` of Figure 14):
/// `leaf` gets the arguments that count, with their coefficients, in each case of the rule.
pub(crate) fn linear_form(
    op: RealOp,
    args: &[E],
    out: &E,
    leaf: &dyn Fn(Vec<(usize, Coefficient)>) -> E,
) -> E {
    form(&rules::lookup(op), args, out, leaf)
}

fn form(rule: &Rule, args: &[E], out: &E, leaf: &dyn Fn(Vec<(usize, Coefficient)>) -> E) -> E {
    match rule {
        Rule::Case(test, a, b) => {
            make::choice(condition(test, args, out), form(a, args, out, leaf), form(b, args, out, leaf))
        }
        Rule::Linear { terms, divisor } => {
            let divisor = divisor.as_ref().map(|divisor| scalar(divisor, args, out));
            let coefficient = |term: &wengert_prim::Term| {
                let coef = term.coef.as_ref().map(|coef| scalar(coef, args, out));
                let coef = match (coef, term.negative) {
                    (None, true) => Some(make::real(-1.0)),
                    (Some(coef), true) => Some(make::real_op(RealOp::Neg, vec![coef])),
                    (coef, false) => coef,
                };
                match (coef, &divisor) {
                    (None, None) => Coefficient::One,
                    (Some(coef), None) => Coefficient::Term(coef),
                    (coef, Some(divisor)) => {
                        let coef = coef.unwrap_or_else(|| make::real(1.0));
                        Coefficient::Term(make::real_op(RealOp::Div, vec![coef, Rc::clone(divisor)]))
                    }
                }
            };
            leaf(terms.iter().map(|term| (term.arg, coefficient(term))).collect())
        }
    }
}

/// An expression of a rule as a term.
fn scalar(expr: &wengert_prim::Expr, args: &[E], out: &E) -> E {
    match expr {
        wengert_prim::Expr::In(i) => args.get(*i).map_or_else(|| make::real(f64::NAN), Rc::clone),
        wengert_prim::Expr::Out => Rc::clone(out),
        wengert_prim::Expr::Const(x) => make::real(*x),
        wengert_prim::Expr::Op(op, operands) => {
            make::real_op(*op, operands.iter().map(|operand| scalar(operand, args, out)).collect())
        }
        wengert_prim::Expr::If(test, a, b) => {
            make::choice(condition(test, args, out), scalar(a, args, out), scalar(b, args, out))
        }
    }
}

/// A test of a rule as a term of type `1 + 1`.
pub(crate) fn condition(test: &Test, args: &[E], out: &E) -> E {
    let compare = |compare, a, b| {
        make::leaf_op(LeafOp::CompareReal(compare), vec![scalar(a, args, out), scalar(b, args, out)])
    };
    match test {
        Test::Eq(a, b) => compare(Compare::Eq, a, b),
        Test::Lt(a, b) => compare(Compare::Lt, a, b),
        Test::Le(a, b) => compare(Compare::Le, a, b),
        Test::Or(a, b) => {
            let truth = Expr::new(Kind::Inl(make::constant(Const::Unit)));
            make::choice(condition(a, args, out), truth, condition(b, args, out))
        }
    }
}

/// The term `op args` and the place where its result is used: named by a `let` if the rule mentions it.
pub(crate) fn with_result(op: RealOp, args: &[E], fresh: &Fresh, body: impl FnOnce(&E) -> E) -> E {
    let value = make::real_op(op, args.to_vec());
    if !uses_result(op) {
        return body(&value);
    }
    let z = fresh.name("z");
    make::bind(Pat::Var(z), value, body(&make::var(z)))
}

/// The pattern of a translated argument list, `(x, dx)` or `((x, dx), (y, dy))`, with the primal and the second halves
/// as terms.
pub(crate) fn dual_arguments(op: RealOp, second: [&str; 2], fresh: &Fresh) -> (Pat, Vec<E>, Vec<E>) {
    let names =
        |texts: [&str; 2]| -> Vec<_> { texts.iter().take(op.arity()).map(|t| fresh.name(t)).collect() };
    let (primals, seconds) = (names(["x", "y"]), names(second));
    let pairs = primals.iter().zip(&seconds).map(|(x, dx)| Pat::pair(Pat::Var(*x), Pat::Var(*dx))).collect();
    let terms = |names: Vec<_>| names.into_iter().map(make::var).collect();
    (Pat::tuple(pairs), terms(primals), terms(seconds))
}

/// A pattern of the shape of a product of reals with variables `base1`, `base2`, …, and these as terms.
pub(crate) fn shaped(ty: &Ty, base: &str, fresh: &Fresh) -> (Pat, Vec<E>) {
    let count = ty.real_arity().unwrap_or(0);
    let names: Vec<_> = (1..=count).map(|i| fresh.name(&format!("{base}{i}"))).collect();
    let pattern = fill(ty, &mut names.iter().map(|name| Pat::Var(*name)), &Pat::pair);
    (pattern.unwrap_or(Pat::Wild), names.into_iter().map(make::var).collect())
}

/// A term of the shape of a product of reals, with `leaves` at its leaves.
pub(crate) fn shaped_term(ty: &Ty, leaves: Vec<E>) -> E {
    fill(ty, &mut leaves.into_iter(), &make::pair).unwrap_or_else(|| make::constant(Const::Unit))
}

fn fill<T>(ty: &Ty, leaves: &mut dyn Iterator<Item = T>, pair: &dyn Fn(T, T) -> T) -> Option<T> {
    match ty {
        Ty::Prod(a, b) => grow(|| {
            let left = fill(a, leaves, pair)?;
            Some(pair(left, fill(b, leaves, pair)?))
        }),
        _ => leaves.next(),
    }
}
