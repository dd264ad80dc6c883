//! Calls: of known functions directly, of one of several by a function that looks which it is.
//!
//! A function with parameters `x y z` called with fewer arguments gives a closure that holds them; called with more, its
//! result is called with the rest. `apply` functions consist of one `match` on the closure, which is their first
//! parameter; closures are taken apart nowhere else. That is how derivatives find them: what the tangent of a closure
//! does that is a function of the user's is known to them only.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the terms that are looked through are named, the others are values"
)]

use crate::context::{Key, Lower};
use crate::layout::Rep;
use crate::tree::{Elem, Flow, Kind, LamId, Node, Type};
use std::rc::Rc;
use std::sync::Arc;
use wengert_base::Name;
use wengert_ir as ir;
use wengert_ir::op::{Atom, Op, Var};
use wengert_ir::program::FuncId;

/// A function that is going to be called, once or often.
pub(crate) enum Callee<'n> {
    /// A lambda that stands here and nowhere else: its body is put in place.
    Literal(LamId, &'n Node),
    /// A lambda with a name.
    Known(LamId, Type),
    /// A value.
    Value(Type, Vec<Atom>),
}

impl Lower<'_> {
    /// The values that a lambda captures, where it is made.
    pub(crate) fn captured(&mut self, lam: LamId) -> Vec<Atom> {
        let tree = self.tree;
        let mut atoms = Vec::new();
        for var in &tree.lams.at(lam).captures {
            atoms.extend(self.current.env.get(var).cloned().unwrap_or_default());
        }
        atoms
    }

    /// A lambda with so many arguments given, as a value of the function type `ty`.
    pub(crate) fn lambda_value(&mut self, lam: LamId, given: u32, fields: Vec<Atom>, ty: &Type) -> Vec<Atom> {
        let Some((_, flow, _)) = ty.fun() else { return fields };
        self.function_value(flow, Elem::Lam(lam, given), fields)
    }

    /// A function as a value of its class.
    pub(crate) fn function_value(&mut self, flow: Flow, elem: Elem, fields: Vec<Atom>) -> Vec<Atom> {
        match self.rep(flow) {
            Rep::Nothing | Rep::Inline(_) => fields,
            Rep::Data(data) => {
                let ctor = self.ctor_of(flow, elem);
                let ty = ir::Ty::Scalar(ir::Elem::Data(data));
                self.emit(Op::Make { data, ctor, fields }, &[ty])
            }
        }
    }

    /// What is known of a function that is going to be called. Evaluates the term, but for lambdas.
    pub(crate) fn callee<'n>(&mut self, node: &'n Node) -> Callee<'n> {
        match &node.kind {
            Kind::Lam(lam) => Callee::Literal(*lam, node),
            Kind::Var(var) => match self.tree.vars.at(*var).known {
                Some(lam) => Callee::Known(lam, node.ty.clone()),
                None => Callee::Value(node.ty.clone(), self.term(node)),
            },
            Kind::Let(var, value, body) => {
                self.spanned(node.span, |lower| lower.bind_let(*var, value));
                self.callee(body)
            }
            Kind::LetRec(_, body) => self.callee(body),
            _ => Callee::Value(node.ty.clone(), self.term(node)),
        }
    }

    /// Calls it.
    pub(crate) fn call_with(&mut self, callee: &Callee<'_>, args: Vec<Vec<Atom>>) -> Vec<Atom> {
        match callee {
            Callee::Literal(lam, node) => {
                let tree = self.tree;
                let lambda = tree.lams.at(*lam);
                if args.len() < lambda.params.len() {
                    return self.call_lambda(*lam, &node.ty, args);
                }
                let mut args = args.into_iter();
                for (param, arg) in lambda.params.iter().zip(args.by_ref()) {
                    self.bind(*param, arg);
                }
                let body = Rc::clone(&lambda.body);
                let result = self.term(&body);
                self.apply(&body.ty, result, args.collect())
            }
            Callee::Known(lam, ty) => self.call_lambda(*lam, ty, args),
            Callee::Value(ty, atoms) => self.apply(ty, atoms.clone(), args),
        }
    }

    /// Function and arguments.
    pub(crate) fn application(&mut self, func: &Node, args: &[Node]) -> Vec<Atom> {
        let callee = self.callee(func);
        let args = args.iter().map(|arg| self.term(arg)).collect();
        self.call_with(&callee, args)
    }

    /// Calls a lambda where its captured variables are in scope.
    fn call_lambda(&mut self, lam: LamId, ty: &Type, args: Vec<Vec<Atom>>) -> Vec<Atom> {
        let captured = self.captured(lam);
        self.call_elem(Elem::Lam(lam, 0), captured, ty, args)
    }

    /// Calls a value of type `ty`.
    pub(crate) fn apply(&mut self, ty: &Type, func: Vec<Atom>, args: Vec<Vec<Atom>>) -> Vec<Atom> {
        let Some((_, flow, _)) = ty.fun() else { return func };
        if args.is_empty() {
            return func;
        }
        match self.rep(flow) {
            Rep::Nothing => self.unreachable(&ty.result(args.len())),
            Rep::Inline(elem) => self.call_elem(elem, func, ty, args),
            Rep::Data(_) => {
                let apply = self.apply_function(ty, args.len());
                self.call(apply, func.into_iter().chain(args.into_iter().flatten()).collect())
            }
        }
    }

    /// No function gets here.
    fn unreachable(&mut self, ty: &Type) -> Vec<Atom> {
        let types = self.flat(ty);
        self.emit(Op::Fail { message: Atom::Text(Arc::from("there is no such function")) }, &types)
    }

    /// The function that applies a function of type `ty` to so many arguments.
    pub(crate) fn apply_function(&mut self, ty: &Type, count: usize) -> FuncId {
        let flow = ty.fun().map_or(Flow(0), |(_, flow, _)| self.tree.flows.find(flow));
        let results = self.flat(&ty.result(count));
        self.request(Key::Apply(flow, count), ty.clone(), Name::new("apply"), results)
    }

    /// Calls a function of which it is known which it is; `fields` is what it captured, `ty` its type.
    fn call_elem(&mut self, elem: Elem, fields: Vec<Atom>, ty: &Type, mut args: Vec<Vec<Atom>>) -> Vec<Atom> {
        if args.is_empty() {
            return ty.fun().map_or_else(Vec::new, |(_, flow, _)| self.function_value(flow, elem, fields));
        }
        match elem {
            Elem::Lam(lam, given) => {
                let arity = self.tree.lams.at(lam).params.len();
                let wanted = arity.saturating_sub(given as usize);
                if args.len() < wanted {
                    let given = given + u32::try_from(args.len()).unwrap_or(u32::MAX);
                    let result = ty.result(args.len());
                    let fields = fields.into_iter().chain(args.into_iter().flatten()).collect();
                    return self.lambda_value(lam, given, fields, &result);
                }
                let rest = args.split_off(wanted);
                let func = self.code_of(lam);
                let fields = fields.into_iter().chain(args.into_iter().flatten()).collect();
                let result = self.call(func, fields);
                self.apply(&ty.result(wanted), result, rest)
            }
            Elem::Back(_) | Elem::Forward(_) | Elem::TangentMap(_) | Elem::Functional(_) => {
                let rest = args.split_off(1);
                let result = self.call_made(elem, fields, ty, args.into_iter().flatten().collect());
                self.apply(&ty.result(1), result, rest)
            }
        }
    }

    /// The function that is the code of a lambda.
    pub(crate) fn code_of(&mut self, lam: LamId) -> FuncId {
        let tree = self.tree;
        let lambda = tree.lams.at(lam);
        let results = self.flat(&lambda.body.ty);
        self.request(Key::Lam(lam), Type::unit(), lambda.name, results)
    }

    /// A function of one argument as a function of the IR and the first arguments for it.
    pub(crate) fn as_function(&mut self, callee: &Callee<'_>) -> (FuncId, Vec<Atom>) {
        let (lam, ty) = match callee {
            Callee::Literal(lam, node) => (*lam, &node.ty),
            Callee::Known(lam, ty) => (*lam, ty),
            Callee::Value(ty, atoms) => {
                if let Some((_, flow, _)) = ty.fun()
                    && let Rep::Inline(Elem::Lam(lam, given)) = self.rep(flow)
                    && self.tree.lams.at(lam).params.len() == given as usize + 1
                {
                    return (self.code_of(lam), atoms.clone());
                }
                return (self.apply_function(ty, 1), atoms.clone());
            }
        };
        let captured = self.captured(lam);
        if self.tree.lams.at(lam).params.len() == 1 {
            return (self.code_of(lam), captured);
        }
        let closure = self.lambda_value(lam, 0, captured, ty);
        (self.apply_function(ty, 1), closure)
    }

    /// The value of a function that is going to be called.
    pub(crate) fn callee_value(&mut self, callee: &Callee<'_>) -> (Type, Vec<Atom>) {
        let (lam, ty) = match callee {
            Callee::Literal(lam, node) => (*lam, node.ty.clone()),
            Callee::Known(lam, ty) => (*lam, ty.clone()),
            Callee::Value(ty, atoms) => return (ty.clone(), atoms.clone()),
        };
        let captured = self.captured(lam);
        let value = self.lambda_value(lam, 0, captured, &ty);
        (ty, value)
    }

    /// Makes the code of a lambda.
    pub(crate) fn make_code(&mut self, id: FuncId, lam: LamId) {
        let tree = self.tree;
        let lambda = tree.lams.at(lam);
        let mut params = Vec::new();
        let mut places = Vec::new();
        for var in lambda.captures.iter().chain(&lambda.params) {
            let own = self.signature_of(*var);
            places.push((*var, own.len()));
            params.extend(own);
        }
        self.define(id, lambda.span, &params, |lower, atoms| {
            let mut atoms = atoms.into_iter();
            for (var, count) in places {
                let own: Vec<Atom> = atoms.by_ref().take(count).collect();
                if matches!(tree.vars.at(var).ty, Type::Tuple(_)) {
                    lower.rename_later(&own);
                }
                lower.current.env.insert(var, own);
            }
            lower.term(&lambda.body)
        });
    }

    /// Makes the function that applies a function of a class to arguments.
    pub(crate) fn make_apply(&mut self, id: FuncId, flow: Flow, count: usize, ty: &Type) {
        let mut params: Vec<(Name, ir::Ty)> =
            self.flat(ty).into_iter().map(|ty| (Name::new("f"), ty)).collect();
        let own = params.len();
        let mut counts = Vec::new();
        let mut rest = ty.clone();
        for _ in 0..count {
            let types = self.flat(&crate::layout::parameter(&rest));
            counts.push(types.len());
            params.extend(types.into_iter().map(|ty| (Name::new("x"), ty)));
            rest = rest.result(1);
        }
        let results = self.flat(&rest);
        self.define(id, wengert_base::Span::NOWHERE, &params, |lower, mut atoms| {
            let mut given = atoms.split_off(own).into_iter();
            let args: Vec<Vec<Atom>> = counts.iter().map(|n| given.by_ref().take(*n).collect()).collect();
            let Rep::Data(_) = lower.rep(flow) else { return lower.apply(ty, atoms, args) };
            let tree = lower.tree;
            let on = atoms.pop().unwrap_or(Atom::Unit);
            let mut arms = Vec::new();
            for elem in &tree.flows.class(flow).elems {
                let vars = lower.field_variables(*elem);
                let fields = vars.iter().copied().map(Atom::Var).collect();
                arms.push(lower.block_of(vars, |lower| lower.call_elem(*elem, fields, ty, args.clone())));
            }
            if let Some(tangent) = lower.tangents.get(&flow).copied() {
                let func = lower.called("f", lower.ty(&on));
                let tangent = lower.called("df", ir::Ty::Scalar(ir::Elem::Data(tangent)));
                arms.push(lower.block_of(vec![func, tangent], |lower| {
                    lower.apply_tangent(id, func, tangent, &args, &results)
                }));
            }
            lower.emit(Op::Match { on, arms }, &results)
        });
    }

    /// The tangent of a function that depends on what varies, at arguments that do not.
    fn apply_tangent(
        &mut self,
        apply: FuncId,
        func: Var,
        tangent: Var,
        args: &[Vec<Atom>],
        results: &[ir::Ty],
    ) -> Vec<Atom> {
        let rest = args.iter().flatten().cloned();
        let args: Vec<Atom> = std::iter::once(Atom::Var(func)).chain(rest).collect();
        let mut tangents = vec![None; args.len()];
        if let Some(first) = tangents.first_mut() {
            *first = Some(Atom::Var(tangent));
        }
        let types: Vec<ir::Ty> = results.iter().chain(results).copied().collect();
        let mut both = self.emit(Op::Jvp { func: apply, args, tangents }, &types);
        both.split_off(results.len())
    }

    /// Variables for what a function has captured.
    fn field_variables(&mut self, elem: Elem) -> Vec<Var> {
        let tree = self.tree;
        let types = self.captured_types(elem);
        let names: Vec<Name> = match elem {
            Elem::Lam(lam, given) => {
                let lambda = tree.lams.at(lam);
                let vars = lambda.captures.iter().chain(lambda.params.iter().take(given as usize));
                vars.flat_map(|var| self.signature_of(*var)).map(|(name, _)| name).collect()
            }
            Elem::Back(_) | Elem::Forward(_) => vec![Name::new("residual")],
            Elem::TangentMap(_) | Elem::Functional(_) => vec![Name::new("x"); types.len()],
        };
        types.into_iter().zip(names).map(|(ty, name)| self.variable(name, ty)).collect()
    }
}
