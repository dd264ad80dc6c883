//! The paper's examples: Figure 1, section 3's comparison, and section 6's recurrent network over Church lists.

use super::syntax::{Symbol, add};
use super::syntax::{Tm, Ty, Var, app, fun, lam, mul, num, op, sub, var};
use wengert_prim::RealOp;

/// Figure 1: `sin(z₂)[z₂ := z₁·z₁][z₁ := x₁ − x₂]`, of free variables `x₁`, `x₂`.
pub const FIGURE_1: &str = "x1:!R, x2:!R ⊢ sin(z2)[z2 := z1·z1][z1 := x1 - x2]";

/// The type `List(A, X) = (A → X → X) → (X → X)` of section 6.1.
pub fn list_type(element: &Ty, result: &Ty) -> Ty {
    let step = Ty::fun(element.clone(), Ty::fun(result.clone(), result.clone()));
    Ty::fun(step, Ty::fun(result.clone(), result.clone()))
}

/// `[a₁; …; a_n]_X := λf.λx. f a₁ (f a₂ … (f a_n x) …)`, section 6.1.
pub fn church_list(items: Vec<Tm>, element: &Ty, result: &Ty) -> Tm {
    let f = Var::exponential("f", Ty::fun(element.clone(), Ty::fun(result.clone(), result.clone())));
    let x = Var::exponential("x", result.clone());
    let folded = items.into_iter().rev().fold(var(&x), |rest, item| app(app(var(&f), item), rest));
    lam(&f, lam(&x, folded))
}

/// The parameters of the network of section 6.1.
pub struct Network {
    /// `ε`
    pub epsilon: Var,
    /// `ρ`
    pub rho: Var,
    /// `L := λx.λh.σ(ε·x + ρ·h)`
    pub layer: Tm,
    /// `N l` with `N := λl. l L 0`
    pub applied: Tm,
}

/// The network applied to the list of `items`, with `ε` and `ρ` free.
pub fn network(items: &[f64]) -> Network {
    let (epsilon, rho) = (Var::exponential("ε", Ty::Real), Var::exponential("ρ", Ty::Real));
    let layer = layer(&epsilon, &rho);
    let l = Var::exponential("l", list_type(&Ty::Real, &Ty::Real));
    let run = lam(&l, app(app(var(&l), layer.clone()), num(0.0)));
    let list = church_list(items.iter().map(|a| num(*a)).collect(), &Ty::Real, &Ty::Real);
    Network { applied: app(run, list), epsilon, rho, layer }
}

fn layer(epsilon: &Var, rho: &Var) -> Tm {
    let (x, h) = (Var::exponential("x", Ty::Real), Var::exponential("h", Ty::Real));
    let weighted = add(mul(var(epsilon), var(&x)), mul(var(rho), var(&h)));
    lam(&x, lam(&h, op(RealOp::Sigmoid, vec![weighted])))
}

/// `z_n[z_n := z_{n−1} + z_{n−1}]…[z₁ := sin(x)]`: nested doubling lets, of free variable `x`.
pub fn doubling(n: usize) -> (Var, Tm) {
    let x = Var::exponential("x", Ty::Real);
    let zs: Vec<Var> = (0..=n).map(|_| Var::exponential("z", Ty::Real)).collect();
    let mut tm = zs.last().map_or_else(|| num(0.0), var);
    for (z, before) in zs.iter().skip(1).zip(&zs).rev() {
        tm = sub(tm, z, add(var(before), var(before)));
    }
    match zs.first() {
        Some(z) => (x.clone(), sub(tm, z, fun(Symbol::Op(RealOp::Sin), vec![var(&x)]))),
        None => (x, tm),
    }
}
