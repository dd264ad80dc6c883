//! Conquer (3.3, Figure 3): the reduction of `((Ω λy.E)·ω) V` to `(λv.S)*·(ω E[V/y])` by the form of the elementary term
//! E, reductions 9 to 20b.
//!
//! `λv.S` is the Jacobian of `λy.E` at V; [`Reducer::jacobian`] finds S. The paper's y is a tuple `⟨y,z₁,…⟩` with
//! projections yπᵢ; here it is a pattern, yπᵢ is one of its variables x, Vπᵢ the component of V there ("V of x") and vπᵢ
//! the component of the mirrored pattern ("v of x"). The premises of 16b, 16c, 17, 18, 19b and 19c are reductions of
//! their own; that of 20a is the one step that `jacobian` names.

use super::a_reduction;
use super::reduce::Reducer;
use super::stuck::Stuck;
use super::subst::{Subst, deep};
use super::syntax::{Kind, Pat, Term, Type, Var, is_pattern, paired};
use crate::kit::trace::Stopped;

/// What `λy.E` has at V.
pub(crate) enum Jacobian {
    /// y is not free in E.
    Constant,
    /// By this rule, S.
    Along(&'static str, Term),
    /// Reduction 17: the same with this E.
    Instead(Term),
    /// Values 1 and 2 of remark 3.6, or a premise that ends in one.
    None,
}

/// A normal form of a premise.
enum Premise {
    /// `(λv.S)* · (ω' …)`
    Form(Pat, Term),
    /// 0
    Zero,
    /// Neither.
    Stuck,
}

type Result<T> = std::result::Result<T, Stopped>;

impl Reducer<'_> {
    /// `((Ω λpat.body)·form) value`, reductions 9 to 20b.
    pub(crate) fn pull_at(
        &mut self,
        pat: &Pat,
        body: &Term,
        form: &Term,
        value: &Term,
    ) -> Result<Option<(&'static str, Term)>> {
        let mirror = self.mirror(pat);
        let (elementary, pair) = match paired(pat, body) {
            Some(elementary) => (elementary, true),
            None => (body, false),
        };
        let at = |elementary: &Term| {
            let image = Subst::pat(pat, value, elementary).apply(elementary);
            Term::app(form.clone(), if pair { Term::pair(value.clone(), image) } else { image })
        };
        let before = self.stuck.take();
        let jacobian = deep(|| self.jacobian(pat, &mirror, elementary, value))?;
        if !matches!(jacobian, Jacobian::None) {
            self.stuck = before;
        }
        Ok(match (jacobian, pair) {
            (Jacobian::Constant, false) => Some(("9", Term::zero(Type::dual(pat.ty().clone())))),
            (Jacobian::Constant, true) => {
                let zero = Term::zero(elementary.ty().clone());
                let body = Term::pair(mirror.term(), zero);
                Some(("20b", Term::dual_map(mirror, body, at(elementary))))
            }
            (Jacobian::Along(rule, s), false) => Some((rule, Term::dual_map(mirror, s, at(elementary)))),
            (Jacobian::Along(rule, s), true) => {
                self.note_premise(rule);
                let body = Term::pair(mirror.term(), s);
                Some(("20a", Term::dual_map(mirror, body, at(elementary))))
            }
            (Jacobian::Instead(instead), false) => {
                Some(("17", Term::app(Term::pull(pat.clone(), instead, form.clone()), value.clone())))
            }
            (Jacobian::Instead(instead), true) => {
                let body = Term::pair(pat.term(), instead);
                Some(("17", Term::app(Term::pull(pat.clone(), body, form.clone()), value.clone())))
            }
            (Jacobian::None, _) => None,
        })
    }

    fn jacobian(&mut self, pat: &Pat, mirror: &Pat, elementary: &Term, value: &Term) -> Result<Jacobian> {
        if !elementary.mentions_pat(pat) {
            return Ok(Jacobian::Constant);
        }
        let along = |term: &Term| linear(pat, mirror, term);
        let of_value = |term: &Term| Subst::pat(pat, value, term).apply(term);
        let inside = |term: &Term| term.mentions_pat(pat);
        let whole = is_pattern(pat, elementary);
        Ok(match elementary.kind() {
            Kind::Var(_) if whole => Jacobian::Along("11", along(elementary)),
            Kind::Pair(..) if whole => Jacobian::Along("11", mirror.term()),
            Kind::Sum(a, b) => match (inside(a), inside(b)) {
                (true, true) => Jacobian::Along("10b", Term::sum(along(a), along(b))),
                (true, false) => Jacobian::Along("10a", along(a)),
                (false, _) => Jacobian::Along("10a", along(b)),
            },
            Kind::Var(_) | Kind::Proj(..) => Jacobian::Along("12", along(elementary)),
            Kind::Pair(a, b) => {
                let rule = match (inside(a), inside(b)) {
                    (true, true) => "13c",
                    (true, false) => "13a",
                    (false, _) => "13b",
                };
                Jacobian::Along(rule, along(elementary))
            }
            Kind::Jac(..) => Jacobian::Along("14", along(elementary)),
            Kind::Fun(f, x) => Jacobian::Along("15", Term::app(Term::jac(f.clone(), along(x)), of_value(x))),
            Kind::DualMap(inner, series, z) if !series.mentions_pat(pat) => {
                Jacobian::Along("16a", Term::dual_map(inner.clone(), series.clone(), along(z)))
            }
            Kind::DualMap(inner, series, z) => {
                let (inner, series) = apart(inner, series, value);
                let Some(s) = self.of_series(pat, mirror, &series, value)? else { return Ok(Jacobian::None) };
                if !inside(z) {
                    return Ok(Jacobian::Along("16b", Term::dual_map(inner, s, z.clone())));
                }
                let first = Term::dual_map(inner.clone(), of_value(&series), along(z));
                Jacobian::Along("16c", Term::sum(first, Term::dual_map(inner, s, of_value(z))))
            }
            Kind::Pull(inner, series, z) => self.pull_inside(inner, series, z)?,
            Kind::Lam(inner, series) => {
                let (inner, series) = apart(inner, series, value);
                match self.of_series(pat, mirror, &series, value)? {
                    Some(s) => Jacobian::Along("18", Term::lam(inner, s)),
                    None => Jacobian::None,
                }
            }
            Kind::App(f, x) if !inside(x) => Jacobian::Along("19a", Term::app(along(f), x.clone())),
            Kind::App(f, _) if !inside(f) => self.unknown(f, elementary),
            Kind::App(f, x) => {
                let (first, second) = (along(f), along(x));
                self.application(first, second, &of_value(f), &of_value(x), elementary)?
            }
            Kind::Zero | Kind::Real(_) | Kind::DualConst(_) | Kind::Let(..) | Kind::Diff(..) => {
                Jacobian::None
            }
        })
    }

    /// Values 1 and 2 of remark 3.6: the innermost one is the reason.
    fn unknown(&mut self, function: &Term, call: &Term) -> Jacobian {
        self.stuck.get_or_insert_with(|| Stuck { function: function.clone(), call: call.clone() });
        Jacobian::None
    }

    /// Reductions 19b and 19c, with v and V of the function and of the argument.
    fn application(
        &mut self,
        along_f: Term,
        along_x: Term,
        f: &Term,
        x: &Term,
        call: &Term,
    ) -> Result<Jacobian> {
        let first = Term::app(along_f, x.clone());
        Ok(match self.of_function(f, x)? {
            Premise::Form(v, s) => {
                let second = Subst::pat(&v, &along_x, &s).apply(&s);
                Jacobian::Along("19b", Term::sum(first, second))
            }
            Premise::Zero => Jacobian::Along("19c", first),
            Premise::Stuck => self.unknown(f, call),
        })
    }

    /// S for `(Ω λpat.series)·ω'` at `value`, in the variables of `mirror`: the premise of 16b, 16c and 18.
    fn of_series(&mut self, pat: &Pat, mirror: &Pat, series: &Term, value: &Term) -> Result<Option<Term>> {
        Ok(match self.premise(pat, series, value)? {
            Premise::Form(v, s) => Some(Subst::pat(&v, &mirror.term(), &s).apply(&s)),
            Premise::Zero => Some(Term::zero(series.ty().clone())),
            Premise::Stuck => None,
        })
    }

    /// The premise of 19b and 19c, for Vπᵢ ≡ λz.P'. A sum of functions is a sum of such (3.1.1).
    fn of_function(&mut self, function: &Term, argument: &Term) -> Result<Premise> {
        match function.kind() {
            Kind::Lam(z, body) => self.premise(z, body, argument),
            Kind::Zero => Ok(Premise::Zero),
            Kind::Sum(a, b) => {
                let (a, b) = (self.of_function(a, argument)?, self.of_function(b, argument)?);
                Ok(match (a, b) {
                    (Premise::Form(v, s), Premise::Form(w, t)) => {
                        let t = Subst::pat(&w, &v.term(), &t).apply(&t);
                        Premise::Form(v, Term::sum(s, t))
                    }
                    (form @ Premise::Form(..), Premise::Zero) => form,
                    (Premise::Zero, other) => other,
                    (Premise::Stuck, _) | (_, Premise::Stuck) => Premise::Stuck,
                })
            }
            _ => Ok(Premise::Stuck),
        }
    }

    /// `((Ω λpat.body)·ω') value` for a fresh ω'.
    fn premise(&mut self, pat: &Pat, body: &Term, value: &Term) -> Result<Premise> {
        let form = Term::var(Var::fresh("ω", Type::omega(body.ty().clone())));
        let start = Term::app(Term::pull(pat.clone(), body.clone(), form.clone()), value.clone());
        self.read_premise(start, &form)
    }

    fn read_premise(&mut self, start: Term, form: &Term) -> Result<Premise> {
        let end = self.run_premise(start)?;
        Ok(match end.kind() {
            Kind::Zero => Premise::Zero,
            Kind::DualMap(v, s, at) => match at.kind() {
                Kind::App(f, _) if f.is_value() && same_var(f, form) => Premise::Form(v.clone(), s.clone()),
                _ => Premise::Stuck,
            },
            _ => Premise::Stuck,
        })
    }

    /// Reduction 17: `(Ω λx.L)·z` becomes `λa.(λv.S)*·(z L[a/x])`, which is reduced to an elementary term.
    fn pull_inside(&mut self, inner: &Pat, series: &Term, z: &Term) -> Result<Jacobian> {
        let a = Var::fresh("a", inner.ty().clone());
        let at = Term::var(a.clone());
        let start = Term::app(Term::pull(inner.clone(), series.clone(), z.clone()), at.clone());
        let body = match self.read_premise(start, z)? {
            Premise::Form(v, s) => {
                let image = Subst::pat(inner, &at, series).apply(series);
                Term::dual_map(v, s, Term::app(z.clone(), image))
            }
            Premise::Zero => Term::zero(Type::dual(inner.ty().clone())),
            Premise::Stuck => return Ok(Jacobian::None),
        };
        let pat = Pat::var(a);
        let body = a_reduction::all(&body, &pat, &mut |rule| self.note_premise(rule));
        Ok(Jacobian::Instead(Term::lam(pat, body)))
    }
}

fn same_var(a: &Term, b: &Term) -> bool {
    matches!((a.kind(), b.kind()), (Kind::Var(x), Kind::Var(y)) if x == y)
}

/// E with v for y, where y is linear in E: reductions 10 to 14. What is not of y contributes 0.
fn linear(pat: &Pat, mirror: &Pat, term: &Term) -> Term {
    deep(|| match term.kind() {
        Kind::Var(var) => {
            let component = pat.component(&mirror.term(), var.id());
            component.unwrap_or_else(|| Term::zero(term.ty().clone()))
        }
        Kind::Pair(a, b) => Term::pair(linear(pat, mirror, a), linear(pat, mirror, b)),
        Kind::Proj(i, a) => linear(pat, mirror, a).project(*i),
        Kind::Jac(f, a) => Term::jac(f.clone(), linear(pat, mirror, a)),
        Kind::Zero
        | Kind::Lam(..)
        | Kind::App(..)
        | Kind::Let(..)
        | Kind::Real(_)
        | Kind::Fun(..)
        | Kind::DualMap(..)
        | Kind::DualConst(_)
        | Kind::Pull(..)
        | Kind::Sum(..)
        | Kind::Diff(..) => term.clone(),
    })
}

/// The side condition of 18, x ∉ FV(V), by renaming.
fn apart(inner: &Pat, body: &Term, value: &Term) -> (Pat, Term) {
    if !value.mentions_pat(inner) {
        return (inner.clone(), body.clone());
    }
    let renamed = super::subst::mirror(inner, &mut |var| var.renamed());
    let body = Subst::pat(inner, &renamed.term(), body).apply(body);
    (renamed, body)
}
