//! The derivative operators: of the prelude by name, and of the primitives. A call with enough arguments becomes
//! [`TermKind::Derive`]; with fewer it is first expanded to a function: `grad f` is `\x -> grad f x`.

use super::types::{parameters, result};
use super::{Bridge, Typed};
use crate::simple::{Derive, Term, TermKind, Var};
use wengert_base::{Diagnostic, Name, Span};
use wengert_core::Type;
use wengert_prim::Prim;

/// The operator that a definition is.
pub(super) fn of_definition(name: Name) -> Option<Derive> {
    match name.as_str() {
        "prelude.grad" => Some(Derive::Grad),
        "prelude.value_and_grad" => Some(Derive::ValueAndGrad),
        "prelude.derivative" => Some(Derive::Derivative),
        _ => None,
    }
}

/// The operator that a primitive is.
pub(super) fn of_prim(prim: Prim) -> Option<Derive> {
    match prim.info().name {
        "jvp" => Some(Derive::Jvp),
        "vjp" => Some(Derive::Vjp),
        "pullback" => Some(Derive::Pullback),
        _ => None,
    }
}

impl Bridge<'_> {
    /// `operator` of type `ty` at `args`, at most as many as it takes.
    pub(super) fn operator(
        &mut self,
        operator: Derive,
        ty: &Type,
        mut args: Vec<Typed>,
        span: Span,
    ) -> Result<Typed, Diagnostic> {
        let arity = operator.arity();
        let given = args.len();
        let mut lets = Vec::new();
        if given < arity {
            // What was given is computed once, before the function is called.
            for (arg, arg_ty) in &mut args {
                if !is_value(arg) {
                    let var = self.fresh(Name::new("given"));
                    let variable = self.node(TermKind::Var(var), arg_ty, arg.span)?;
                    lets.push((var, std::mem::replace(arg, variable)));
                }
            }
        }
        let mut params = Vec::new();
        for (index, missing) in parameters(ty, arity).into_iter().enumerate().skip(given) {
            let name = if index == 0 { "f" } else { "x" };
            let var = self.fresh(Name::new(name));
            let variable = self.node(TermKind::Var(var), &missing, span)?;
            let erased = variable.ty.clone();
            args.push((variable, missing));
            params.push((var, erased));
        }
        let args = args.into_iter().map(|(arg, _)| arg).collect();
        let mut term = self.node(TermKind::Derive(operator, args), &result(ty, arity), span)?;
        for (missing, (var, param)) in params.into_iter().enumerate().rev() {
            let ty = result(ty, given + missing);
            term = self.node(TermKind::Lam(var, param, term.into()), &ty, span)?;
        }
        Ok(inside(lets, (term, result(ty, given))))
    }
}

/// Variables and what they hold, in the order in which it is computed.
pub(super) type Lets = Vec<(Var, Term)>;

/// The term with the variables bound around it.
pub(super) fn inside(lets: Lets, (mut term, ty): Typed) -> Typed {
    for (var, value) in lets.into_iter().rev() {
        let (ty, span) = (term.ty.clone(), term.span);
        let kind = TermKind::Let(var, value.ty.clone(), value.into(), term.into());
        term = Term { kind, ty, span };
    }
    (term, ty)
}

/// Whether computing it is no work.
pub(super) fn is_value(term: &Term) -> bool {
    matches!(
        term.kind,
        TermKind::Var(_)
            | TermKind::Real(_)
            | TermKind::Int(_)
            | TermKind::Bool(_)
            | TermKind::String(_)
            | TermKind::Lam(..)
    )
}
