//! Forward mode: `𝒟⃗` of Figure 3, its wrappers of Figures 4 and 15, arbitrary primitives by Figure 14.

use super::each;
use super::syntax::{E, Fresh, Pat, Poly, Ty, make};
use super::translate::{
    Coefficient, Dual, Mode, dual_arguments, dual_type, homomorphic, linear_form, needs_strong_zero, shaped,
    shaped_term, with_result,
};
use std::rc::Rc;
use wengert_base::{Diagnostic, Name};
use wengert_prim::RealOp;

struct Forward<'a>(&'a Fresh);

impl Dual for Forward<'_> {
    fn mode(&self) -> Mode {
        Mode::Forward
    }

    /// `𝒟⃗{r} = (r, 0)`
    fn literal(&self, r: f64) -> E {
        make::pair(make::real(r), make::real(0.0))
    }

    /// `𝒟⃗{×} = λ((x, dx), (y, dy)). (x × y, y × dx + x × dy)`, and alike for every primitive.
    fn real_op(&self, op: RealOp) -> E {
        let (pattern, primals, tangents) = dual_arguments(op, ["dx", "dy"], self.0);
        let scaling = if needs_strong_zero(op) { RealOp::MulZero } else { RealOp::Mul };
        let summand = |(arg, coefficient): (usize, Coefficient)| {
            let tangent = tangents.get(arg).map_or_else(|| make::real(0.0), Rc::clone);
            match coefficient {
                Coefficient::One => tangent,
                // The zero that wins is the tangent, the first operand.
                Coefficient::Term(c) if scaling == RealOp::MulZero => {
                    make::real_op(scaling, vec![tangent, c])
                }
                Coefficient::Term(c) => make::real_op(scaling, vec![c, tangent]),
            }
        };
        let body = with_result(op, &primals, self.0, |out| {
            let tangent = linear_form(op, &primals, out, &|terms| {
                let sum = |a, b| make::real_op(RealOp::Add, vec![a, b]);
                terms.into_iter().map(summand).reduce(sum).unwrap_or_else(|| make::real(0.0))
            });
            make::pair(Rc::clone(out), tangent)
        });
        make::lam(pattern, body)
    }
}

/// `𝒟⃗{e}`
pub(crate) fn translate(e: &E) -> Result<E, Diagnostic> {
    let fresh = Fresh::avoiding(e);
    homomorphic(e, &Forward(&fresh), &fresh)
}

/// `ℱ{e}` of Figure 4, for `e : ℝᵃ → ℝ`.
pub(crate) fn wrapper(e: &E, s: &Ty) -> Result<E, Diagnostic> {
    let fresh = Fresh::avoiding(e);
    let ((values, value), (tangents, tangent)) = (shaped(s, "s", &fresh), shaped(s, "ds", &fresh));
    let duals = value.into_iter().zip(tangent).map(|(s, ds)| make::pair(s, ds)).collect();
    let applied = make::app(translate(e)?, shaped_term(s, duals));
    Ok(make::lam(Pat::pair(values, tangents), make::snd(applied)))
}

/// `ℱ{e} = λx. delta_T (𝒟⃗{e} (zip_S x))` of Figure 15, for first-order `S` and `T`.
pub(crate) fn general_wrapper(e: &E, s: &Ty, t: &Ty) -> Result<E, Diagnostic> {
    let x = Fresh::avoiding(e).name("x");
    let zipped = make::app(make::poly(Poly::Zip, s), make::var(x));
    let applied = make::app(translate(e)?, zipped);
    Ok(make::lam(Pat::Var(x), make::app(make::poly(Poly::Delta, t), applied)))
}

/// The same for a function that needs the values of variables from outside: their reals are paired with 0.
pub(crate) fn open_wrapper(e: &E, s: &Ty, t: &Ty, given: &[(Name, Ty)]) -> Result<E, Diagnostic> {
    let wrapper = general_wrapper(e, s, t)?;
    let constant = |body: E, (variable, ty): &(Name, Ty)| -> Result<E, Diagnostic> {
        let same = |ty: &Ty| Ok(ty.clone());
        let dual = |ty: &Ty| Ok(dual_type(ty, &Mode::Forward));
        let zeros = each::map(ty, &same, &dual, &|x| make::pair(x, make::real(0.0)))?;
        Ok(make::bind(Pat::Var(*variable), make::app(zeros, make::var(*variable)), body))
    };
    given.iter().try_fold(wrapper, constant)
}
