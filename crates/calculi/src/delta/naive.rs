//! The first reverse mode, `𝒟⃖¹_S` of Figure 5 with its wrapper of Figure 6: every real carries its whole gradient. Correct,
//! and inefficient twice over: each operation works on a value of type `δS`.

use super::syntax::{E, Fresh, Pat, Poly, Ty, make};
use super::translate::{
    Coefficient, Dual, Mode, dual_arguments, homomorphic, linear_form, shaped, shaped_term, with_result,
};
use std::rc::Rc;
use wengert_base::Diagnostic;
use wengert_prim::RealOp;

struct Naive<'a>(&'a Fresh, &'a Ty);

impl Naive<'_> {
    fn poly(&self, poly: Poly, args: Vec<E>) -> E {
        make::app(make::poly(poly, self.1), make::tuple(args))
    }
}

impl Dual for Naive<'_> {
    fn mode(&self) -> Mode {
        Mode::Naive(self.1.clone())
    }

    /// `𝒟⃖¹{r} = (r, zero_S)`
    fn literal(&self, r: f64) -> E {
        make::pair(make::real(r), make::poly(Poly::Zero, self.1))
    }

    /// `𝒟⃖¹{×} = λ((x, ds₁), (y, ds₂)). (x × y, (y ⊗ ds₁) ⊕ (x ⊗ ds₂))`
    fn real_op(&self, op: RealOp) -> E {
        let (pattern, primals, seconds) = dual_arguments(op, ["ds1", "ds2"], self.0);
        let zero = || make::poly(Poly::Zero, self.1);
        let summand = |(arg, coefficient): (usize, Coefficient)| {
            let ds = seconds.get(arg).map_or_else(zero, Rc::clone);
            match coefficient {
                Coefficient::One => ds,
                Coefficient::Term(c) => self.poly(Poly::Scale, vec![c, ds]),
            }
        };
        let body = with_result(op, &primals, self.0, |out| {
            let gradient = linear_form(op, &primals, out, &|terms| {
                let sum = |a, b| self.poly(Poly::Add, vec![a, b]);
                terms.into_iter().map(summand).reduce(sum).unwrap_or_else(zero)
            });
            make::pair(Rc::clone(out), gradient)
        });
        make::lam(pattern, body)
    }
}

/// `𝒟⃖¹_S{e}`
pub(crate) fn translate(e: &E, s: &Ty) -> Result<E, Diagnostic> {
    let fresh = Fresh::avoiding(e);
    homomorphic(e, &Naive(&fresh, s), &fresh)
}

/// `ℛ¹{e}` of Figure 6, for `e : ℝᵃ → ℝ`.
pub(crate) fn wrapper(e: &E, s: &Ty) -> Result<E, Diagnostic> {
    let fresh = Fresh::avoiding(e);
    let (pattern, values) = shaped(s, "s", &fresh);
    let dt = fresh.name("dt");
    let scaled = |i: i64| {
        let onehot = make::app(make::poly(Poly::OneHot, s), make::int(i));
        make::app(make::poly(Poly::Scale, s), make::pair(make::var(dt), onehot))
    };
    let duals = values.into_iter().zip(1..).map(|(value, i)| make::pair(value, scaled(i))).collect();
    let applied = make::app(translate(e, s)?, shaped_term(s, duals));
    Ok(make::lam(Pat::pair(pattern, Pat::Var(dt)), make::snd(applied)))
}
