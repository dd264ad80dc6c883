//! The final reverse mode: the monadic translation `𝒟⃖` of Figure 9 with its wrappers of Figures 11 and 15, arbitrary
//! primitives by Figure 14, arrays by section 10.2, recursion by section 10.3.
//!
//! `𝒟⃖{e} : M 𝒟⃖{A}`. Every dual number carries `Zero` or `Var uid`, so that copying it copies no work; `deltaLet` gives each
//! new delta a name. Figure 14 pairs `yᵢ` with the identifier that `deltaLet` returns; as in Figure 9 it must be `Var` of it.
//!
//! The equations of section 10.2, which are lost in our text of the paper:
//!
//! ```text
//! 𝒟⃖{Vector A} = Vector 𝒟⃖{A}
//! 𝒟⃖{index}    = pure λ(v, i). pure (index (v, i))
//! 𝒟⃖{build}    = pure λ(n, f). sequence (build (n, f))
//! ```

#![expect(clippy::wildcard_enum_match_arm, reason = "only one form can come here")]

use super::errors;
use super::names;
use super::polytypic;
use super::staged::delta_of;
use super::syntax::{Builtin, Const, E, Expr, Fresh, Kind, LeafOp, Pat, Poly, Ty, grow, make};
use super::translate::{
    Mode, definition, dual_arguments, dual_type, shaded, shaped, shaped_term, with_result,
};
use make::{app, builtin, monadic, pure, var};
use std::rc::Rc;
use wengert_base::{Diagnostic, Name, Span};
use wengert_prim::RealOp;

/// `𝒟⃖{e}`
pub(crate) fn translate(e: &E) -> Result<E, Diagnostic> {
    let fresh = Fresh::avoiding(e);
    let name = |base: &str| fresh.name(base);
    Translation { f: name("f"), x: name("x"), y: name("y"), fresh: &fresh }.term(e)
}

struct Translation<'a> {
    f: Name,
    x: Name,
    y: Name,
    fresh: &'a Fresh,
}

impl Translation<'_> {
    fn term(&self, e: &E) -> Result<E, Diagnostic> {
        let translated = grow(|| self.node(e))?;
        Ok(Expr::at(translated.kind.clone(), e.span))
    }

    /// `do { x ← 𝒟⃖{e}; pure (form x) }`
    fn under(&self, e: &E, form: impl FnOnce(E) -> Kind) -> Result<E, Diagnostic> {
        let result = Expr::new(form(var(self.x)));
        Ok(monadic(Pat::Var(self.x), self.term(e)?, pure(result)))
    }

    fn node(&self, e: &E) -> Result<E, Diagnostic> {
        let on_type = |ty: &Ty| dual_type(ty, &Mode::Monadic);
        let (x, y, f) = (Pat::Var(self.x), Pat::Var(self.y), Pat::Var(self.f));
        Ok(match &e.kind {
            Kind::Var(..) => pure(Rc::clone(e)),
            Kind::Lam(pat, ty, body) => {
                pure(Expr::new(Kind::Lam(pat.clone(), ty.as_ref().map(on_type), self.term(body)?)))
            }
            Kind::Let(pat, a, b) => monadic(pat.clone(), self.term(a)?, self.term(b)?),
            Kind::App(a, b) => {
                let call = app(var(self.f), var(self.x));
                monadic(f, self.term(a)?, monadic(x, self.term(b)?, call))
            }
            Kind::Inl(a) => self.under(a, Kind::Inl)?,
            Kind::Inr(a) => self.under(a, Kind::Inr)?,
            Kind::Case(scrutinee, p, a, q, b) => {
                let case = make::case(var(self.x), p.clone(), self.term(a)?, q.clone(), self.term(b)?);
                monadic(x, self.term(scrutinee)?, case)
            }
            Kind::Pair(a, b) => {
                let result = pure(make::pair(var(self.x), var(self.y)));
                monadic(x, self.term(a)?, monadic(y, self.term(b)?, result))
            }
            Kind::Fst(a) => self.under(a, Kind::Fst)?,
            Kind::Snd(a) => self.under(a, Kind::Snd)?,
            Kind::Roll(ty, a) => self.under(a, |x| Kind::Roll(on_type(ty), x))?,
            Kind::Unroll(a) => self.under(a, Kind::Unroll)?,
            // Section 10.3: a recursive function is a λ, and λ translates to a λ under `pure`.
            Kind::LetRec(name, ty, a, b) => {
                let value = match &self.term(a)?.kind {
                    Kind::Pure(lambda) => Rc::clone(lambda),
                    _ => return Err(errors::recursion(e.span, name.as_str())),
                };
                Expr::new(Kind::LetRec(*name, ty.as_ref().map(on_type), value, self.term(b)?))
            }
            Kind::Const(constant) => self.constant(constant, e.span)?,
            Kind::Ann(a, _) => self.term(a)?,
            Kind::Pure(_) | Kind::Do(..) | Kind::Opaque(_) => {
                return Err(shaded(e.span, "a computation in M"));
            }
        })
    }

    fn constant(&self, constant: &Const, span: Span) -> Result<E, Diagnostic> {
        let here = make::constant(constant.clone());
        let (x, y) = (self.x, self.y);
        let primal = |name| Pat::pair(Pat::Var(name), Pat::Wild);
        // `λp. pure (op …)`
        let function =
            |pat, args: Vec<E>| pure(make::lam(pat, pure(app(Rc::clone(&here), make::tuple(args)))));
        let two = || Pat::pair(Pat::Var(x), Pat::Var(y));
        Ok(match constant {
            Const::Real(_) => pure(make::pair(here, builtin(Builtin::Zero))),
            Const::Int(_) | Const::Str(_) | Const::Unit => pure(here),
            Const::RealOp(op) => pure(self.real_op(*op)),
            Const::Leaf(LeafOp::ToReal) => {
                // Figure 14 with no real argument: the empty sum is Zero, and it gets a name all the same.
                let u = self.fresh.name("u");
                let delta = app(builtin(Builtin::DeltaLet), builtin(Builtin::Zero));
                let result = pure(make::pair(app(here, var(x)), app(builtin(Builtin::Var), var(u))));
                pure(make::lam(Pat::Var(x), monadic(Pat::Var(u), delta, result)))
            }
            Const::Leaf(LeafOp::Floor) => function(primal(x), vec![var(x)]),
            Const::Leaf(LeafOp::CompareReal(_)) => {
                function(Pat::pair(primal(x), primal(y)), vec![var(x), var(y)])
            }
            Const::Leaf(LeafOp::Int(super::syntax::IntOp::Neg)) => function(Pat::Var(x), vec![var(x)]),
            Const::Leaf(
                LeafOp::Int(_) | LeafOp::CompareInt(_) | LeafOp::CompareString(_) | LeafOp::Append,
            ) => function(two(), vec![var(x), var(y)]),
            Const::Fun(Builtin::Index) => function(two(), vec![var(x), var(y)]),
            Const::Fun(Builtin::Length | Builtin::Fail) => function(Pat::Var(x), vec![var(x)]),
            Const::Fun(Builtin::Build) => {
                let build = app(here, make::pair(var(x), var(y)));
                pure(make::lam(two(), app(builtin(Builtin::Sequence), build)))
            }
            Const::Fun(other) => return Err(shaded(span, &format!("`{}`", names::builtin(*other)))),
            Const::Poly(poly, Some(ty)) => self.term(&definition(*poly, ty, span)?)?,
            Const::Poly(poly, None) => return Err(errors::subscript(span, names::poly(*poly))),
            Const::Overloaded(op) => return Err(errors::overloaded(span, op.sign(), "?")),
        })
    }

    /// `λ((x, u₁), (y, u₂)). do { u ← deltaLet (Add (Scale y u₁) (Scale x u₂)); pure (x × y, Var u) }`
    fn real_op(&self, op: RealOp) -> E {
        let (pattern, primals, deltas) = dual_arguments(op, ["u1", "u2"], self.fresh);
        let u = self.fresh.name("u");
        let body = with_result(op, &primals, self.fresh, |out| {
            let delta = app(builtin(Builtin::DeltaLet), delta_of(op, &primals, &deltas, out));
            let result = make::pair(Rc::clone(out), app(builtin(Builtin::Var), var(u)));
            monadic(Pat::Var(u), delta, pure(result))
        });
        make::lam(pattern, body)
    }
}

/// `ℛ{e}` of Figure 11, for `e : ℝᵃ → ℝ`.
///
/// Step 2 of section 7.2 applies `𝒟⃖{e}` to `s₀`. Since `e` is a term that denotes a function, `𝒟⃖{e}` is a computation *of* a
/// function, and it runs first: `do { f ← 𝒟⃖{e}; f s₀ }`.
pub(crate) fn wrapper(e: &E, s: &Ty) -> Result<E, Diagnostic> {
    let mut fresh = Fresh::avoiding(e);
    let (pattern, values) = shaped(s, "s", &fresh);
    let count = i64::try_from(values.len()).unwrap_or(i64::MAX);
    let mut name = |base: &str| fresh.once(base);
    let (dt, s0, u, map, f) = (name("dt"), name("s0"), name("u"), name("finalMap"), name("f"));
    let variable = |i: i64| app(builtin(Builtin::Var), make::int(i));
    let duals = values.into_iter().zip(1..).map(|(value, i)| make::pair(value, variable(i))).collect();
    let lookup = |i: i64| make::apps(builtin(Builtin::LookupOrZero), [make::int(i), var(map)]);
    let gradient = shaped_term(s, (1..=count).map(lookup).collect());
    let main = monadic(Pat::Var(f), translate(e)?, app(var(f), var(s0)));
    let run = make::apps(builtin(Builtin::RunDelta), [make::int(count + 1), main]);
    let eval = make::apps(builtin(Builtin::Eval), [var(dt), var(u), builtin(Builtin::EmptyMap)]);
    let body = make::bind(Pat::Var(u), run, make::bind(Pat::Var(map), eval, gradient));
    let body = make::bind(Pat::Var(s0), shaped_term(s, duals), body);
    Ok(make::lam(Pat::pair(pattern, Pat::Var(dt)), body))
}

/// `ℛ{e}` of Figure 15, for first-order `S` and `T`: `𝒟⃖` is applied to `λ(s, dt). e s ⊙_T dt`.
pub(crate) fn general_wrapper(e: &E, s: &Ty, t: &Ty) -> Result<E, Diagnostic> {
    open_wrapper(e, s, t, &[])
}

/// The same for a function that needs the values of variables from outside. They are constants, as `dt` is, and alike
/// become arguments whose reals are paired with `Zero`.
pub(crate) fn open_wrapper(e: &E, s: &Ty, t: &Ty, given: &[(Name, Ty)]) -> Result<E, Diagnostic> {
    let mut fresh = Fresh::avoiding(e);
    let mut name = |base: &str| fresh.once(base);
    let (sv, dt, s0, dv, dt0) = (name("s"), name("dt"), name("s0"), name("dv"), name("dt0"));
    let (u, map, f) = (name("u"), name("finalMap"), name("f"));
    let dot = app(polytypic::definition(Poly::Dot, t), make::pair(app(Rc::clone(e), var(sv)), var(dt)));
    let zeros = |ty: &Ty, value| app(make::poly(Poly::InitZeros, ty), value);
    let mut pattern = Pat::pair(Pat::Var(sv), Pat::Var(dt));
    let mut typed = Ty::prod(s.clone(), t.clone());
    let mut argument = make::pair(var(s0), var(dt0));
    for (variable, ty) in given {
        pattern = Pat::pair(Pat::Var(*variable), pattern);
        typed = Ty::prod(ty.clone(), typed);
        argument = make::pair(zeros(ty, var(*variable)), argument);
    }
    let main = Expr::new(Kind::Lam(pattern, Some(typed), dot));
    let applied = monadic(Pat::Var(f), translate(&main)?, app(var(f), argument));
    let first = make::leaf_op(LeafOp::Int(super::syntax::IntOp::Add), vec![var(dv), make::int(1)]);
    let run = make::apps(builtin(Builtin::RunDelta), [first, applied]);
    let eval = make::apps(builtin(Builtin::Eval), [make::real(1.0), var(u), builtin(Builtin::EmptyMap)]);
    let gradient = app(make::poly(Poly::Lookup, s), make::pair(var(map), var(s0)));
    let body = make::bind(Pat::Var(u), run, make::bind(Pat::Var(map), eval, gradient));
    let body = make::bind(Pat::Var(dt0), zeros(t, var(dt)), body);
    let init = app(make::poly(Poly::InitVars, s), make::pair(var(sv), make::int(0)));
    let body = make::bind(Pat::pair(Pat::Var(s0), Pat::Var(dv)), init, body);
    Ok(make::lam(Pat::pair(Pat::Var(sv), Pat::Var(dt)), body))
}
