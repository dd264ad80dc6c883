//! The shaded constructs of Figure 1, written in the rest of the language: what section 10.4 needs, and has not worked out.
//!
//! "Many forms of our language appear only in the output of differentiation and cannot be used in the input", so that
//! `ℛ{ℛ{e}}` does not exist as it stands. But with the recursive types of section 10.3 none of these forms is primitive: `Delta`
//! is a recursive type, `M A` is the state transformer that Figure 10 says it is, `eval` is a recursive function, a `DeltaMap`
//! can be a search tree, and the polytypic functions of Figure 15 are λ-definable like the others. [`unshade`] replaces each
//! by its definition; the result means the same, and every translation applies to it.
//!
//! The mutable array of section 7.3 becomes a tree, so `eval` pays a logarithmic factor for each order of derivatives.

#![expect(clippy::wildcard_enum_match_arm, reason = "one form is looked for")]

use super::each;
use super::parse;
use super::resolve::children;
use super::syntax::{Builtin, Const, E, Expr, Fresh, Kind, Pat, Poly, Ty, grow, make};
use super::translate::{Mode, dual_type, shaded};
use make::{app, pair, var};
use std::rc::Rc;
use wengert_base::{Diagnostic, Name, Span};

/// `data Delta` of Figure 10, with the summands Zero, Scale, Add, Var and Let; `OneHot` is `Var`.
const DELTA: &str = "(μD. 1 + (ℝ × D) + (D × D) + ℤ + (ℤ × D × D))";
/// `DeltaBinds` of Figure 10, the latest first.
const BINDS: &str = "(μB. 1 + ((ℤ × DELTA) × B))";
/// `DeltaMap`: a node has what is known about 1, and two subtrees for even and odd identifiers, halved.
const MAP: &str = "(μT. 1 + ((1 + ℝ) × T × T))";

/// Figure 10 in the language of Figure 1. Names begin with `$` until they are made fresh.
const FIGURE_10: &str = "
letrec $find = λ((k, t) : ℤ × MAP). case unroll t of
    inl _ → inl (),
    inr (here, even, odd) →
        if k ≤ℤ 1 then here else if k %ℤ 2 ==ℤ 0 then $find (k /ℤ 2, even) else $find (k /ℤ 2, odd) in
letrec $set = λ((k, v, t) : ℤ × (1 + ℝ) × MAP).
    let (here, even, odd) = case unroll t of
        inl _ → (inl (), roll_{MAP} inl (), roll_{MAP} inl ()),
        inr node → node in
    roll_{MAP} inr (
        if k ≤ℤ 1 then (v, even, odd)
        else if k %ℤ 2 ==ℤ 0 then (here, $set (k /ℤ 2, v, even), odd)
        else (here, even, $set (k /ℤ 2, v, odd))) in
letrec $eval = λ(x : ℝ). λ(u : DELTA). λ(um : MAP). case unroll u of
    inl _ → um,
    inr u → case u of
    inl (y, u) → $eval (mul_zero (x, y)) u um,
    inr u → case u of
    inl (u1, u2) → $eval x u2 ($eval x u1 um),
    inr u → case u of
    inl uid → $set (uid, inr (case $find (uid, um) of inl _ → x, inr sum → sum +ℝ x), um),
    inr (uid, u1, u2) →
        let um2 = $eval x u2 um in
        case $find (uid, um2) of
            inl _ → um2,
            inr x → $eval x u1 ($set (uid, inl (), um2)) in
letrec $wrap = λ((body, binds) : DELTA × BINDS). case unroll binds of
    inl _ → body,
    inr ((id, rhs), rest) → $wrap (roll_{DELTA} inr inr inr inr (id, rhs, body), rest) in ()";

/// One function or value of Figures 9 and 10 each.
fn definition_of(builtin: Builtin) -> Option<&'static str> {
    Some(match builtin {
        Builtin::Zero => "roll_{DELTA} inl ()",
        Builtin::Scale => "λ(x : ℝ). λ(u : DELTA). roll_{DELTA} inr inl (x, u)",
        Builtin::Add => "λ(u1 : DELTA). λ(u2 : DELTA). roll_{DELTA} inr inr inl (u1, u2)",
        Builtin::Var | Builtin::OneHot => "λ(uid : ℤ). roll_{DELTA} inr inr inr inl uid",
        Builtin::Let => {
            "λ(uid : ℤ). λ(u1 : DELTA). λ(u2 : DELTA). roll_{DELTA} inr inr inr inr (uid, u1, u2)"
        }
        Builtin::DeltaLet => {
            "λ(u : DELTA). λ((uid, binds) : ℤ × BINDS). (uid, uid +ℤ 1, roll_{BINDS} inr ((uid, u), binds))"
        }
        Builtin::RunDelta => {
            "λ(uid : ℤ). λm. let ((_, u), (_, binds)) = m (uid, roll_{BINDS} inl ()) in $wrap (u, binds)"
        }
        Builtin::Eval => "$eval",
        Builtin::EmptyMap => "roll_{MAP} inl ()",
        Builtin::LookupOrZero => "λ(uid : ℤ). λ(um : MAP). case $find (uid, um) of inl _ → 0.0, inr x → x",
        // The computations run one after the other, by halves; each half is a function of the index.
        Builtin::Sequence => {
            "λv. λs. let n = length v in
             letrec go = λ((from, to), s). if to -ℤ from ≤ℤ 1
                 then let (x, s) = index (v, from) s in ((λi. x), s)
                 else let half = (from +ℤ to) /ℤ 2 in
                      let (low, s) = go ((from, half), s) in
                      let (high, s) = go ((half, to), s) in
                      ((λi. if i <ℤ half then low i else high i), s) in
             if n ==ℤ 0 then (build (0, λi. letrec never = λx. never x in never i), s)
             else let (at, s) = go ((0, n), s) in (build (n, at), s)"
        }
        Builtin::Build | Builtin::Index | Builtin::Length | Builtin::Fail | Builtin::Eval2 => return None,
    })
}

/// Whether a term has a construct that the input of a translation may not have.
pub(crate) fn is_shaded(e: &E) -> bool {
    let mut open = vec![e];
    while let Some(e) = open.pop() {
        let shaded = match &e.kind {
            Kind::Pure(_) | Kind::Do(..) => true,
            Kind::Const(Const::Fun(builtin)) => {
                !matches!(builtin, Builtin::Build | Builtin::Index | Builtin::Length | Builtin::Fail)
            }
            Kind::Const(Const::Poly(poly, _)) => !matches!(poly, Poly::Scale | Poly::Add | Poly::Dot),
            Kind::Const(_) | Kind::Var(..) | Kind::Lam(..) | Kind::App(..) | Kind::Let(..) => false,
            Kind::LetRec(..) | Kind::Pair(..) | Kind::Fst(_) | Kind::Snd(_) | Kind::Inl(_) => false,
            Kind::Inr(_) | Kind::Case(..) | Kind::Roll(..) | Kind::Unroll(_) | Kind::Ann(..) => false,
            Kind::Opaque(_) => false,
        };
        if shaded {
            return true;
        }
        open.extend(children(e));
    }
    false
}

/// The term without shaded constructs.
pub(crate) fn unshade(e: &E) -> Result<E, Diagnostic> {
    let fresh = Fresh::avoiding(e);
    let (s, m) = (fresh.name("s"), fresh.name("m"));
    let unshading = Unshading { s, m, fresh };
    let body = unshading.term(e)?;
    Ok(replace_end(&unshading.written(FIGURE_10)?, &body))
}

/// The definitions around `()`, around `body` instead.
fn replace_end(definitions: &E, body: &E) -> E {
    match &definitions.kind {
        Kind::LetRec(name, ty, value, rest) => {
            Expr::new(Kind::LetRec(*name, ty.clone(), Rc::clone(value), replace_end(rest, body)))
        }
        Kind::Const(_) | Kind::Var(..) | Kind::Lam(..) | Kind::App(..) | Kind::Let(..) => Rc::clone(body),
        Kind::Pair(..) | Kind::Fst(_) | Kind::Snd(_) | Kind::Inl(_) | Kind::Inr(_) => Rc::clone(body),
        Kind::Case(..) | Kind::Roll(..) | Kind::Unroll(_) | Kind::Ann(..) => Rc::clone(body),
        Kind::Pure(_) | Kind::Do(..) | Kind::Opaque(_) => Rc::clone(body),
    }
}

struct Unshading {
    /// A state of the monad.
    s: Name,
    /// A computation that runs.
    m: Name,
    fresh: Fresh,
}

impl Unshading {
    /// A definition of this file as a term.
    fn written(&self, text: &str) -> Result<E, Diagnostic> {
        let mut text = text.replace("BINDS", BINDS).replace("DELTA", DELTA).replace("MAP", MAP);
        for name in ["find", "set", "eval", "wrap"] {
            let unused = self.fresh.name(&format!("{name}'"));
            text = text.replace(&format!("${name}"), unused.as_str());
        }
        parse::parse(Span::NOWHERE.source, &text)
    }

    fn ty(&self, ty: &Ty) -> Result<Ty, Diagnostic> {
        let named = |text: &str| match &self.written(&format!("(() : {text})"))?.kind {
            Kind::Ann(_, ty) => Ok(ty.clone()),
            _ => Ok(Ty::Unit),
        };
        let again = |ty: &Rc<Ty>| Ok(Rc::new(grow(|| self.ty(ty))?));
        Ok(match ty {
            Ty::Delta => named(DELTA)?,
            Ty::DeltaMap => named(MAP)?,
            Ty::Monad(a) => {
                let state = named(&format!("ℤ × {BINDS}"))?;
                Ty::fun(state.clone(), Ty::prod(self.ty(a)?, state))
            }
            Ty::Prod(a, b) => Ty::Prod(again(a)?, again(b)?),
            Ty::Sum(a, b) => Ty::Sum(again(a)?, again(b)?),
            Ty::Fun(a, b) => Ty::Fun(again(a)?, again(b)?),
            Ty::Vector(a) => Ty::Vector(again(a)?),
            Ty::Rec(name, a) => Ty::Rec(*name, again(a)?),
            Ty::Real | Ty::Int | Ty::String | Ty::Unit | Ty::Var(_) | Ty::Meta(_) => ty.clone(),
        })
    }

    fn annotation(&self, ty: Option<&Ty>) -> Result<Option<Ty>, Diagnostic> {
        ty.map(|ty| self.ty(ty)).transpose()
    }

    fn term(&self, e: &E) -> Result<E, Diagnostic> {
        let e2 = grow(|| self.node(e))?;
        Ok(if e2.span.is_nowhere() { Expr::at(e2.kind.clone(), e.span) } else { e2 })
    }

    fn node(&self, e: &E) -> Result<E, Diagnostic> {
        let d = |e: &E| self.term(e);
        let state = |body| make::lam(Pat::Var(self.s), body);
        Ok(Expr::new(match &e.kind {
            Kind::Var(..) | Kind::Opaque(_) => return Ok(Rc::clone(e)),
            Kind::Const(constant) => return self.constant(constant, e),
            // `return x = λs → (x, s)`
            Kind::Pure(a) => {
                let value = d(a)?;
                return Ok(make::bind(Pat::Var(self.m), value, state(pair(var(self.m), var(self.s)))));
            }
            // `m >>= n = λs → case m s of (r, s') → n r s'`
            Kind::Do(pat, a, b) => {
                let run = app(d(a)?, var(self.s));
                let rest = app(d(b)?, var(self.s));
                return Ok(state(make::bind(Pat::pair(pat.clone(), Pat::Var(self.s)), run, rest)));
            }
            Kind::Lam(pat, ty, body) => Kind::Lam(pat.clone(), self.annotation(ty.as_ref())?, d(body)?),
            Kind::LetRec(name, ty, a, b) => Kind::LetRec(*name, self.annotation(ty.as_ref())?, d(a)?, d(b)?),
            Kind::Roll(ty, a) => Kind::Roll(self.ty(ty)?, d(a)?),
            Kind::Ann(a, ty) => Kind::Ann(d(a)?, self.ty(ty)?),
            Kind::App(a, b) => Kind::App(d(a)?, d(b)?),
            Kind::Let(pat, a, b) => Kind::Let(pat.clone(), d(a)?, d(b)?),
            Kind::Pair(a, b) => Kind::Pair(d(a)?, d(b)?),
            Kind::Fst(a) => Kind::Fst(d(a)?),
            Kind::Snd(a) => Kind::Snd(d(a)?),
            Kind::Inl(a) => Kind::Inl(d(a)?),
            Kind::Inr(a) => Kind::Inr(d(a)?),
            Kind::Case(e, p, a, q, b) => Kind::Case(d(e)?, p.clone(), d(a)?, q.clone(), d(b)?),
            Kind::Unroll(a) => Kind::Unroll(d(a)?),
        }))
    }

    fn constant(&self, constant: &Const, e: &E) -> Result<E, Diagnostic> {
        match constant {
            Const::Fun(Builtin::Eval2) => Err(shaded(e.span, "`eval₂`")),
            Const::Fun(builtin) => match definition_of(*builtin) {
                Some(text) => self.written(text),
                None => Ok(Rc::clone(e)),
            },
            Const::Poly(poly, Some(ty)) => self.polytypic(*poly, ty, e.span),
            Const::Poly(_, None) | Const::Overloaded(_) | Const::RealOp(_) | Const::Leaf(_) => {
                Ok(Rc::clone(e))
            }
            Const::Real(_) | Const::Int(_) | Const::Str(_) | Const::Unit => Ok(Rc::clone(e)),
        }
    }

    /// A polytypic function as a λ-term.
    fn polytypic(&self, poly: Poly, ty: &Ty, span: Span) -> Result<E, Diagnostic> {
        let reverse = |ty: &Ty| self.ty(&dual_type(ty, &Mode::Monadic));
        let forward = |ty: &Ty| Ok(dual_type(ty, &Mode::Forward));
        let same = |ty: &Ty| Ok(ty.clone());
        Ok(match poly {
            Poly::Scale | Poly::Add | Poly::Dot | Poly::Zip => super::polytypic::definition(poly, ty),
            Poly::Primal => each::map(ty, &forward, &same, &make::fst)?,
            Poly::Delta => each::map(ty, &forward, &same, &make::snd)?,
            Poly::InitZeros => {
                let zero = self.written("roll_{DELTA} inl ()")?;
                each::map(ty, &same, &reverse, &|x| pair(x, Rc::clone(&zero)))?
            }
            Poly::InitVars => {
                let variable = self.written("λ(uid : ℤ). roll_{DELTA} inr inr inr inl uid")?;
                each::number(ty, &reverse, &|x, n| pair(x, app(Rc::clone(&variable), n)))?
            }
            Poly::Lookup => {
                // A dual number that a wrapper looks up carries `Var uid`.
                let entry = self.written(
                    "λ((um, _, u) : MAP × ℝ × DELTA). case unroll u of inl _ → 0.0, inr u →
                     case u of inl _ → 0.0, inr u → case u of inl _ → 0.0, inr u → case u of
                     inl uid → (case $find (uid, um) of inl _ → 0.0, inr x → x), inr _ → 0.0",
                )?;
                let (um, x) = (Name::new("um"), Name::new("x"));
                let found = |x| app(Rc::clone(&entry), pair(var(um), x));
                let map = each::map(ty, &reverse, &same, &found)?;
                make::lam(Pat::pair(Pat::Var(um), Pat::Var(x)), app(map, var(x)))
            }
            Poly::OneHot | Poly::Zero => each::unit(ty, poly).ok_or_else(|| {
                shaded(span, &format!("`{}` at a type that is no product of reals", super::names::poly(poly)))
            })?,
        })
    }
}
