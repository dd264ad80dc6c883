//! Derivative operators: requests in the IR, which later stages turn into code.
//!
//! The differentiated function becomes a function of the IR whose first parameters are what it captured; these do not
//! vary. A function that nobody knows is differentiated through the function that applies its class, the closure not
//! varying.
//!
//! ```text
//! grad f x          y, r = linearize f(captured; x)      backward r 1.0
//! vjp f x           y, r = linearize f(captured; x)      y, back[r]          back[r] applied to w:  backward r w
//! linearize f x     the same, with `forward`
//! pullback f form x                                      backward r (form y)
//! ```
//!
//! Where functions are in the point or the result, the tangent map runs the function again, and a functional is itself
//! a function: `\t -> apply_dual (form (f x)) (snd (jvp f (x, t)))`. At a first-order point that one, being linear, is
//! turned into a vector by its gradient at zero.

use crate::calls::Callee;
use crate::context::{Key, Lower, Vector};
use crate::flow::is_first_order;
use crate::layout::parameter;
use crate::tree::{Elem, Node, Operator, SiteId, Type};
use wengert_base::{Name, Span};
use wengert_ir as ir;
use wengert_ir::op::{Atom, Custom, Op, Rule};
use wengert_ir::program::{FuncId, Linear, LinearId};
use wengert_prim::Prim;

impl Lower<'_> {
    /// An operator at its arguments; `ty` is the type of the result.
    pub(crate) fn derive(&mut self, operator: Operator, site: SiteId, args: &[Node], ty: &Type) -> Vec<Atom> {
        let Some((func, rest)) = args.split_first() else { return Vec::new() };
        let func_ty = func.ty.clone();
        let func = self.callee(func);
        match (operator, rest) {
            (Operator::Grad, [point]) => {
                let point = self.term(point);
                self.gradient(site, &func, &func_ty, point).1
            }
            (Operator::ValueAndGrad, [point]) => {
                let point = self.term(point);
                let (mut value, gradient) = self.gradient(site, &func, &func_ty, point);
                value.extend(gradient);
                value
            }
            (Operator::Derivative, [point]) => {
                let point = self.term(point);
                self.jvp(&func, &func_ty, point, vec![Atom::Real(1.0)]).1
            }
            (Operator::Jvp, [pair]) => {
                let mut point = self.term(pair);
                let tangent = point.split_off(point.len() / 2);
                let (mut value, tangent) = self.jvp(&func, &func_ty, point, tangent);
                value.extend(tangent);
                value
            }
            (Operator::Vjp, [point]) => {
                let point = self.term(point);
                let (mut value, residual) = self.linearize(site, &func, &func_ty, point);
                value.extend(self.made(&ty.component(1), Elem::Back(site), vec![residual]));
                value
            }
            (Operator::Linearize, [point]) => {
                let point = self.term(point);
                self.tangent_map(site, &func, &func_ty, point, &ty.component(1))
            }
            (Operator::Pullback, [form, point]) => {
                let form_ty = form.ty.clone();
                let form = self.callee(form);
                let point = self.term(point);
                self.pullback(site, &func, &func_ty, (&form, &form_ty), point, ty)
            }
            _ => Vec::new(),
        }
    }

    fn made(&mut self, ty: &Type, elem: Elem, fields: Vec<Atom>) -> Vec<Atom> {
        match ty.fun() {
            Some((_, flow, _)) => self.function_value(flow, elem, fields),
            None => fields,
        }
    }

    /// Value and tangent.
    fn jvp(
        &mut self,
        func: &Callee<'_>,
        ty: &Type,
        point: Vec<Atom>,
        tangent: Vec<Atom>,
    ) -> (Vec<Atom>, Vec<Atom>) {
        let results = self.flat(&ty.result(1));
        let (func, captured) = self.as_function(func);
        self.request_jvp(func, captured, point, tangent, &results)
    }

    fn request_jvp(
        &mut self,
        func: FuncId,
        captured: Vec<Atom>,
        point: Vec<Atom>,
        tangent: Vec<Atom>,
        results: &[ir::Ty],
    ) -> (Vec<Atom>, Vec<Atom>) {
        let tangents = captured.iter().map(|_| None).chain(tangent.into_iter().map(Some)).collect();
        let args = captured.into_iter().chain(point).collect();
        let types: Vec<ir::Ty> = results.iter().chain(results).copied().collect();
        let mut value = self.emit(Op::Jvp { func, args, tangents }, &types);
        let tangent = value.split_off(results.len());
        (value, tangent)
    }

    /// The linearization that a site asks for, of a function that it will know.
    fn linear(&mut self, site: SiteId) -> LinearId {
        if let Some(known) = self.linears.get(&site) {
            return *known;
        }
        let residual = self.residual(site);
        let linear = self.program.linears.push(Linear { func: FuncId(0), active: Vec::new(), residual });
        self.linears.insert(site, linear);
        linear
    }

    /// Value and residual.
    fn linearize(
        &mut self,
        site: SiteId,
        func: &Callee<'_>,
        ty: &Type,
        point: Vec<Atom>,
    ) -> (Vec<Atom>, Atom) {
        let (func, captured) = self.as_function(func);
        let results = self.flat(&ty.result(1));
        self.request_linearize(site, func, captured, point, results)
    }

    fn request_linearize(
        &mut self,
        site: SiteId,
        func: FuncId,
        captured: Vec<Atom>,
        point: Vec<Atom>,
        results: Vec<ir::Ty>,
    ) -> (Vec<Atom>, Atom) {
        let linear = self.linear(site);
        self.known_linears.insert(site);
        let entry = self.program.linears.at_mut(linear);
        entry.func = func;
        entry.active = captured.iter().map(|_| false).chain(point.iter().map(|_| true)).collect();
        let residual = ir::Ty::Scalar(ir::Elem::Data(entry.residual));
        let mut types = results;
        types.push(residual);
        let args = captured.into_iter().chain(point).collect();
        let mut value = self.emit(Op::Linearize { linear, args }, &types);
        let residual = value.pop().unwrap_or(Atom::Unit);
        self.name(std::slice::from_ref(&residual), Name::new("residual"), true);
        (value, residual)
    }

    fn backward(
        &mut self,
        site: SiteId,
        residual: Atom,
        cotangents: Vec<Atom>,
        types: &[ir::Ty],
    ) -> Vec<Atom> {
        let linear = self.linear(site);
        self.emit(Op::Backward { linear, residual, cotangents }, types)
    }

    /// Value and gradient.
    fn gradient(
        &mut self,
        site: SiteId,
        func: &Callee<'_>,
        ty: &Type,
        point: Vec<Atom>,
    ) -> (Vec<Atom>, Vec<Atom>) {
        let types = self.flat(&parameter(ty));
        let (value, residual) = self.linearize(site, func, ty, point);
        let gradient = self.backward(site, residual, vec![Atom::Real(1.0)], &types);
        (value, gradient)
    }

    fn tangent_map(
        &mut self,
        site: SiteId,
        func: &Callee<'_>,
        ty: &Type,
        point: Vec<Atom>,
        map: &Type,
    ) -> Vec<Atom> {
        if self.is_first_order(&parameter(ty)) && self.is_first_order(&ty.result(1)) {
            let (mut value, residual) = self.linearize(site, func, ty, point);
            value.extend(self.made(map, Elem::Forward(site), vec![residual]));
            return value;
        }
        let (ty, mut fields) = self.callee_value(func);
        let mut value = self.apply(&ty, fields.clone(), vec![point.clone()]);
        fields.extend(point);
        value.extend(self.made(map, Elem::TangentMap(site), fields));
        value
    }

    fn is_first_order(&self, ty: &Type) -> bool {
        is_first_order(&self.tree.data, ty)
    }

    fn pullback(
        &mut self,
        site: SiteId,
        func: &Callee<'_>,
        ty: &Type,
        form: (&Callee<'_>, &Type),
        point: Vec<Atom>,
        dual: &Type,
    ) -> Vec<Atom> {
        let (from, to) = (parameter(ty), ty.result(1));
        let types = self.flat(&from);
        if self.is_first_order(&from) && self.is_first_order(&to) {
            let (value, residual) = self.linearize(site, func, ty, point);
            let cotangents = self.call_with(form.0, vec![value]);
            return self.backward(site, residual, cotangents, &types);
        }
        let (func_ty, closure) = self.callee_value(func);
        let value = self.apply(&func_ty, closure.clone(), vec![point.clone()]);
        let mut fields = self.call_with(form.0, vec![value]);
        fields.extend(closure);
        fields.extend(point.iter().cloned());
        if !self.is_first_order(&from) {
            return self.made(dual, Elem::Functional(site), fields);
        }
        // Linear in the tangent: its gradient is the same everywhere, so take it at zero.
        let zero = self.vector_call(Vector::Zero, &from, vec![point]);
        let func = self.functional(site);
        let (_, residual) = self.request_linearize(site, func, fields, zero, vec![ir::Ty::REAL]);
        self.backward(site, residual, vec![Atom::Real(1.0)], &types)
    }

    /// The function of functional, function, point and tangent to a number.
    fn functional(&mut self, site: SiteId) -> FuncId {
        let ty = self.tree.sites.at(site).func.clone();
        self.request(Key::Functional(site), ty, Name::new("functional"), vec![ir::Ty::REAL])
    }

    /// Makes that function.
    pub(crate) fn make_functional(&mut self, id: FuncId, site: SiteId) {
        let site = self.tree.sites.at(site);
        let from = parameter(&site.func);
        let types = [site.functional.clone(), site.func.clone(), from.clone(), from];
        let mut params = Vec::new();
        for (name, ty) in ["d", "f", "x", "dx"].into_iter().zip(&types) {
            params.extend(self.flat(ty).into_iter().map(|ty| (Name::new(name), ty)));
        }
        self.define(id, Span::NOWHERE, &params, |lower, atoms| {
            let mut parts = lower.split(&types, atoms).into_iter();
            let mut next = || parts.next().unwrap_or_default();
            let (functional, func, point, tangent) = (next(), next(), next(), next());
            let callee = Callee::Value(site.func.clone(), func);
            let (_, tangent) = lower.jvp(&callee, &site.func, point, tangent);
            lower.apply_dual(&site.functional, &site.func.result(1), functional, tangent)
        });
    }

    /// A functional at a tangent of type `of`.
    fn apply_dual(&mut self, ty: &Type, of: &Type, functional: Vec<Atom>, tangent: Vec<Atom>) -> Vec<Atom> {
        if ty.fun().is_some() {
            return self.apply(ty, functional, vec![tangent]);
        }
        vec![self.pairing(of, functional, tangent)]
    }

    /// Calls a function that a derivative operator made.
    pub(crate) fn call_made(
        &mut self,
        elem: Elem,
        mut fields: Vec<Atom>,
        ty: &Type,
        arg: Vec<Atom>,
    ) -> Vec<Atom> {
        let results = self.flat(&ty.result(1));
        match elem {
            Elem::Lam(..) => Vec::new(),
            Elem::Back(site) => {
                let residual = fields.pop().unwrap_or(Atom::Unit);
                self.backward(site, residual, arg, &results)
            }
            Elem::Forward(site) => {
                let residual = fields.pop().unwrap_or(Atom::Unit);
                let linear = self.linear(site);
                self.emit(Op::Forward { linear, residual, tangents: arg }, &results)
            }
            Elem::TangentMap(site) => {
                let func = self.tree.sites.at(site).func.clone();
                let own = self.flat(&func).len();
                let point = fields.split_off(own);
                self.jvp(&Callee::Value(func.clone(), fields), &func, point, arg).1
            }
            Elem::Functional(site) => {
                let func = self.functional(site);
                self.call(func, fields.into_iter().chain(arg).collect())
            }
        }
    }

    /// The other primitives of the chapter on derivatives.
    pub(crate) fn derivative_primitive(&mut self, prim: Prim, args: &[Node], ty: &Type) -> Vec<Atom> {
        match (prim, args) {
            (Prim::ApplyDual, [functional, tangent]) => {
                let (d, t) = (self.term(functional), self.term(tangent));
                self.apply_dual(&functional.ty, &tangent.ty, d, t)
            }
            (Prim::ToDual | Prim::FromDual, [vector]) => self.term(vector),
            (Prim::Taylor, [order, func, at]) => {
                let order = self.single(order);
                let func = self.callee(func);
                let at = self.single(at);
                let (func, captured) = self.as_function(&func);
                let types = self.flat(ty);
                self.emit(Op::Taylor { func, captured, order, at }, &types)
            }
            (Prim::CustomJvp | Prim::CustomVjp, [func, rule, point]) => {
                let rule_ty = rule.ty.clone();
                let func = self.callee(func);
                let rule = self.callee(rule);
                let point = self.term(point);
                let (func, captured) = self.as_function(&func);
                let (rule, rule_captured) = self.as_function(&rule);
                let rule = if prim == Prim::CustomJvp {
                    Rule::Jvp(rule)
                } else {
                    let back = rule_ty.result(1).component(1);
                    Rule::Vjp(rule, self.apply_function(&back, 1))
                };
                let types = self.flat(ty);
                let custom = Custom { func, captured, rule, rule_captured, point };
                self.emit(Op::Custom(Box::new(custom)), &types)
            }
            (Prim::StopGradient, [x]) => {
                let atoms = self.term(x);
                let types: Vec<ir::Ty> = atoms.iter().map(|atom| self.ty(atom)).collect();
                if atoms.is_empty() { atoms } else { self.emit(Op::StopGradient(atoms), &types) }
            }
            (Prim::Checkpoint, [func, point]) => {
                let func = self.callee(func);
                let point = self.term(point);
                let (func, captured) = self.as_function(&func);
                let types = self.flat(ty);
                let args = captured.into_iter().chain(point).collect();
                self.emit(Op::Call { func, args, checkpoint: true }, &types)
            }
            _ => Vec::new(),
        }
    }

    /// Whether every linearization knows its function; if not, asks for the code in which that becomes known.
    pub(crate) fn complete_linears(&mut self) -> bool {
        let mut sites: Vec<SiteId> = self.linears.keys().copied().collect();
        sites.sort_unstable();
        sites.retain(|site| !self.known_linears.contains(site));
        let mut complete = true;
        for site in sites {
            self.known_linears.insert(site);
            if let Some(lam) = self.tree.sites.at(site).within {
                self.code_of(lam);
                complete = false;
            }
        }
        complete
    }
}
