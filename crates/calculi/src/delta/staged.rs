//! The second reverse mode, `𝒟⃖²` of Figure 7 with its wrapper of Figure 8: every real carries a [`Delta`](super::value),
//! a description of its gradient. What `let` shared in the program is no longer shared in the description.

use super::syntax::{Builtin, E, Fresh, Pat, Ty, make};
use super::translate::{
    Coefficient, Dual, Mode, dual_arguments, homomorphic, linear_form, shaped, shaped_term, with_result,
};
use std::rc::Rc;
use wengert_base::Diagnostic;
use wengert_prim::RealOp;

struct Staged<'a>(&'a Fresh);

/// `Add (Scale c₁ u₁) (Scale c₂ u₂)` for the arguments that count, `Zero` for none: what `𝒟⃖²` and `𝒟⃖` do to primitives
/// (Figures 7, 9 and 14).
pub(super) fn delta_of(op: RealOp, primals: &[E], deltas: &[E], out: &E) -> E {
    let zero = || make::builtin(Builtin::Zero);
    let summand = |(arg, coefficient): (usize, Coefficient)| {
        let u = deltas.get(arg).map_or_else(zero, Rc::clone);
        match coefficient {
            Coefficient::One => u,
            Coefficient::Term(c) => make::apps(make::builtin(Builtin::Scale), [c, u]),
        }
    };
    linear_form(op, primals, out, &|terms| {
        let sum = |a, b| make::apps(make::builtin(Builtin::Add), [a, b]);
        terms.into_iter().map(summand).reduce(sum).unwrap_or_else(zero)
    })
}

impl Dual for Staged<'_> {
    fn mode(&self) -> Mode {
        Mode::Staged
    }

    /// `𝒟⃖²{r} = (r, Zero)`
    fn literal(&self, r: f64) -> E {
        make::pair(make::real(r), make::builtin(Builtin::Zero))
    }

    /// `𝒟⃖²{×} = λ((x, u₁), (y, u₂)). (x × y, Add (Scale y u₁) (Scale x u₂))`
    fn real_op(&self, op: RealOp) -> E {
        let (pattern, primals, deltas) = dual_arguments(op, ["u1", "u2"], self.0);
        let body = with_result(op, &primals, self.0, |out| {
            make::pair(Rc::clone(out), delta_of(op, &primals, &deltas, out))
        });
        make::lam(pattern, body)
    }
}

/// `𝒟⃖²{e}`
pub(crate) fn translate(e: &E) -> Result<E, Diagnostic> {
    let fresh = Fresh::avoiding(e);
    homomorphic(e, &Staged(&fresh), &fresh)
}

/// `ℛ²{e}` of Figure 8, for `e : ℝᵃ → ℝ`.
pub(crate) fn wrapper(e: &E, s: &Ty) -> Result<E, Diagnostic> {
    let fresh = Fresh::avoiding(e);
    let (pattern, values) = shaped(s, "s", &fresh);
    let name = |base: &str| fresh.name(base);
    let (dt, s0, z, u) = (name("dt"), name("s0"), name("z"), name("u"));
    let zeros = shaped_term(s, vec![make::real(0.0); values.len()]);
    let one_hot = |i: i64| make::app(make::builtin(Builtin::OneHot), make::int(i));
    let duals = values.into_iter().zip(1..).map(|(value, i)| make::pair(value, one_hot(i))).collect();
    let run = make::apps(make::builtin(Builtin::Eval2), [make::var(dt), make::var(u), make::var(z)]);
    let applied = make::app(translate(e)?, make::var(s0));
    let body = make::bind(Pat::pair(Pat::Wild, Pat::Var(u)), applied, run);
    let body = make::bind(Pat::Var(s0), shaped_term(s, duals), make::bind(Pat::Var(z), zeros, body));
    Ok(make::lam(Pat::pair(pattern, Pat::Var(dt)), body))
}
