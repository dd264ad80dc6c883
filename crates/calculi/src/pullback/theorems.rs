//! The paper's theorems as properties of generated well-typed terms, and the slips found in it.

mod meanings;
mod slips;
mod steps;
pub(super) mod terms;
mod translation;

use super::print::{Notation, print_marked};
use super::reduce::numbers;
use super::syntax::{Kind, Term, Type, TypeKind, each_child};
use super::types::linear;
use crate::kit::trace::Limits;
use arbitrary::{Result, Unstructured};

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
