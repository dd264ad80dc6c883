//! The derivatives of a definition, as definitions of their own. They are made of terms of the core, at the types at which the
//! definition itself is built: nothing is left to be inferred, and no name of the file can be in the way.
//!
//! ```text
//! jvp: \x y dx dy -> jvp (\p -> f p.0 p.1) ((x, y), (dx, dy))
//! vjp: \x y cotangent -> let both = vjp (\p -> f p.0 p.1) (x, y) in (both.0, both.1 cotangent)
//! ```

use super::entry::Entry;
use std::sync::Arc;
use wengert_base::{Name, Span};
use wengert_core::{Binder, Def, Scheme, Term, TermKind, Type, TypeArg, Var};
use wengert_prim::Prim;

/// Of arguments and tangents, the value and its tangent.
pub(super) fn jvp(entry: &Entry) -> Def {
    let mut terms = Terms::new(entry.span);
    let (points, tangents) = (terms.binders("x", &entry.params), terms.binders("t", &entry.params));
    let both = Type::Tuple(vec![entry.result.clone(), entry.result.clone()]);
    let pair = terms.term(TermKind::Tuple(vec![terms.tuple(&points), terms.tuple(&tangents)]));
    let body = terms.operator(Prim::Jvp, entry, pair);
    terms.function("<build>.jvp", [points, tangents].concat(), both, body)
}

/// Of arguments and a cotangent, the value and the cotangents of the arguments.
pub(super) fn vjp(entry: &Entry) -> Def {
    let mut terms = Terms::new(entry.span);
    let points = terms.binders("x", &entry.params);
    let cotangent = terms.binder("cotangent", &entry.result);
    let (point, result) = (point_type(entry), entry.result.clone());
    let pullback = Type::fun(result.clone(), point.clone());
    let both = terms.binder("both", &Type::Tuple(vec![result.clone(), pullback]));
    let applied = terms.operator(Prim::Vjp, entry, terms.tuple(&points));
    let back = terms.component(terms.var(both.var), 1);
    let given = vec![terms.component(terms.var(both.var), 0), terms.app(back, terms.var(cotangent.var))];
    let body = terms.term(TermKind::Let {
        var: both.var,
        scheme: Scheme::mono(both.ty),
        value: Arc::new(applied),
        body: Arc::new(terms.term(TermKind::Tuple(given))),
    });
    let params = points.into_iter().chain([cotangent]).collect();
    terms.function("<build>.vjp", params, Type::Tuple(vec![result, point]), body)
}

/// The type of the arguments, taken as one.
pub(super) fn point_type(entry: &Entry) -> Type {
    match entry.params.as_slice() {
        [one] => one.clone(),
        several => Type::Tuple(several.to_vec()),
    }
}

/// Makes terms that stand for the definition at that place.
struct Terms {
    span: Span,
    /// How many variables there are.
    variables: u32,
}

impl Terms {
    fn new(span: Span) -> Terms {
        Terms { span, variables: 0 }
    }

    fn term(&self, kind: TermKind) -> Term {
        Term { kind, span: self.span }
    }

    fn binder(&mut self, name: &str, ty: &Type) -> Binder {
        let id = self.variables;
        self.variables += 1;
        Binder { var: Var { name: Name::new(name), id }, ty: ty.clone() }
    }

    fn binders(&mut self, name: &str, types: &[Type]) -> Vec<Binder> {
        types.iter().map(|ty| self.binder(name, ty)).collect()
    }

    fn var(&self, var: Var) -> Term {
        self.term(TermKind::Var { var, args: Vec::new() })
    }

    fn app(&self, func: Term, arg: Term) -> Term {
        self.term(TermKind::App { func: Arc::new(func), arg: Arc::new(arg) })
    }

    fn component(&self, tuple: Term, index: u32) -> Term {
        self.term(TermKind::Proj { tuple: Arc::new(tuple), index })
    }

    /// One variable, or several as a tuple.
    fn tuple(&self, binders: &[Binder]) -> Term {
        match binders {
            [one] => self.var(one.var),
            several => self.term(TermKind::Tuple(several.iter().map(|one| self.var(one.var)).collect())),
        }
    }

    /// An operator applied to the definition as a function of one argument.
    fn operator(&mut self, prim: Prim, entry: &Entry, arg: Term) -> Term {
        let of_one = self.of_one(entry);
        let type_args = vec![TypeArg::Type(point_type(entry)), TypeArg::Type(entry.result.clone())];
        self.term(TermKind::Prim { prim, type_args, args: vec![of_one, arg] })
    }

    /// The definition as a function of one argument.
    fn of_one(&mut self, entry: &Entry) -> Term {
        let own = self.term(TermKind::Global { name: entry.def, args: entry.type_args.clone() });
        if entry.params.len() == 1 {
            return own;
        }
        let param = self.binder("p", &point_type(entry));
        let component = |index| self.component(self.var(param.var), index);
        let body = (0..).take(entry.params.len()).fold(own, |func, index| self.app(func, component(index)));
        self.term(TermKind::Lam { param, body: Arc::new(body) })
    }

    /// `def name = \params… -> body`
    fn function(&self, name: &str, params: Vec<Binder>, result: Type, body: Term) -> Def {
        let around = |(body, ty), param: Binder| {
            let ty = Type::fun(param.ty.clone(), ty);
            (self.term(TermKind::Lam { param, body: Arc::new(body) }), ty)
        };
        let (body, ty) = params.into_iter().rev().fold((body, result), around);
        Def { name: Name::new(name), scheme: Scheme::mono(ty), body, span: self.span }
    }
}
