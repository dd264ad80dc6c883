//! Which functions flow where: types with classes of functions, inferred by unification.
//!
//! Every function type starts with a class of its own ([`Flow`]); wherever two types meet (an argument and a parameter, two
//! branches) their classes are united. What makes a function puts it into its class: a lambda, a lambda with some of its
//! arguments, the `back` of a `vjp`. In the end a class holds every function that a value of the type can be.
//!
//! Unification is coarser than following subsets, but a value has to be represented in one way wherever it goes, and
//! that unites the same classes in any case. What would be lost by uniting the callers of a higher-order function is
//! won back before, by copying such functions for the functions that they are given ([`mod@crate::simplify`]).
//!
//! The fields of a data type are the same for all values of the type (at the same arguments).

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "types that meet are of one form; operators other than those named make no function"
)]

use crate::errors;
use crate::tree::{
    Class, DataInfo, DataIx, Elem, Flow, Kind, LamId, Lambda, Node, Operator, Site, SiteId, Tree, Type,
    VarId, VarInfo,
};
use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use std::sync::Arc;
use wengert_base::{Diagnostic, Name};
use wengert_core as core;
use wengert_ir::ty::Table;
use wengert_mono::simple::{self, Derive, Term, TermKind};
use wengert_prim::Prim;

/// The classes: a forest of which the roots count.
#[derive(Debug, Default)]
pub(crate) struct Flows {
    parents: Table<Flow, Flow>,
    classes: Table<Flow, Class>,
}

impl Flows {
    /// A class without functions.
    pub(crate) fn fresh(&mut self) -> Flow {
        let flow = self.classes.push(Class::default());
        self.parents.push(flow);
        flow
    }

    /// The number that stands for the whole class.
    pub(crate) fn find(&self, mut flow: Flow) -> Flow {
        loop {
            let parent = *self.parents.at(flow);
            if parent == flow {
                return flow;
            }
            flow = parent;
        }
    }

    /// The class.
    pub(crate) fn class(&self, flow: Flow) -> &Class {
        self.classes.at(self.find(flow))
    }

    /// The class, to be changed.
    pub(crate) fn class_mut(&mut self, flow: Flow) -> &mut Class {
        let root = self.find(flow);
        self.classes.at_mut(root)
    }

    fn unite(&mut self, a: Flow, b: Flow) {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return;
        }
        // The smaller goes into the larger, so that paths stay short.
        let (large, small) =
            if self.classes.at(a).elems.len() >= self.classes.at(b).elems.len() { (a, b) } else { (b, a) };
        *self.parents.at_mut(small) = large;
        let class = std::mem::take(self.classes.at_mut(small));
        let into = self.classes.at_mut(large);
        into.elems.extend(class.elems);
        into.active |= class.active;
        into.boxed |= class.boxed;
    }
}

/// The program with its flows.
pub(crate) fn analyze(program: &simple::Program, notes: &simple::Notes) -> Result<Tree, Diagnostic> {
    let mut infer = Infer {
        program,
        notes,
        vars: Table::default(),
        lams: Table::default(),
        sites: Table::default(),
        data: Table::default(),
        data_of: IndexMap::new(),
        flows: Flows::default(),
        scope: FxHashMap::default(),
        within: Vec::new(),
        names: Vec::new(),
    };
    let root = infer.term(&program.term)?;
    let Infer { vars, lams, sites, data, flows, .. } = infer;
    let shown_data = notes.shown_data.clone();
    Ok(Tree { root: Rc::new(root), vars, lams, sites, data, shown_data, flows })
}

struct Infer<'p> {
    program: &'p simple::Program,
    notes: &'p simple::Notes,
    vars: Table<VarId, VarInfo>,
    lams: Table<LamId, Lambda>,
    sites: Table<SiteId, Site>,
    data: Table<DataIx, DataInfo>,
    data_of: IndexMap<simple::Ty, DataIx>,
    flows: Flows,
    scope: FxHashMap<simple::Var, VarId>,
    /// The lambdas around, from the outermost in.
    within: Vec<LamId>,
    /// Names of the functions around, for lambdas without one.
    names: Vec<Name>,
}

fn deep<R>(walk: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, walk)
}

impl Infer<'_> {
    /// The type with classes of its own.
    fn fresh(&mut self, ty: &simple::Ty) -> Type {
        deep(|| match ty {
            simple::Ty::Real => Type::Real,
            simple::Ty::Int => Type::Int,
            simple::Ty::Bool => Type::Bool,
            simple::Ty::String => Type::Text,
            simple::Ty::Tuple(items) => Type::Tuple(items.iter().map(|item| self.fresh(item)).collect()),
            simple::Ty::Array(elem) => Type::Array(Rc::new(self.fresh(elem))),
            simple::Ty::Fun(from, to) => {
                let (from, to) = (self.fresh(from), self.fresh(to));
                Type::Fun(Rc::new(from), self.flows.fresh(), Rc::new(to))
            }
            simple::Ty::Data(..) => Type::Data(self.data_type(ty)),
            simple::Ty::Dual(of) => {
                let of = self.fresh(of);
                self.dual(of)
            }
        })
    }

    fn dual(&mut self, of: Type) -> Type {
        if is_first_order(&self.data, &of) {
            Type::Dual(Rc::new(of))
        } else {
            Type::Fun(Rc::new(of), self.flows.fresh(), Rc::new(Type::Real))
        }
    }

    fn data_type(&mut self, ty: &simple::Ty) -> DataIx {
        if let Some(known) = self.data_of.get(ty) {
            return *known;
        }
        let name = if let simple::Ty::Data(name, _) = ty { *name } else { Name::new("?") };
        let short = Name::new(name.as_str().rsplit('.').next().unwrap_or_default());
        let uniform = self.notes.uniform.as_ref().filter(|uniform| uniform.ty == *ty);
        let heads = uniform.map(|uniform| uniform.heads.clone()).unwrap_or_default();
        let data = self.data.push(DataInfo { name: short, ctors: Vec::new(), heads });
        self.data_of.insert(ty.clone(), data);
        let declared = self.program.data.get(ty).map(|data| data.ctors.clone()).unwrap_or_default();
        let mut ctors = Vec::with_capacity(declared.len());
        for (name, fields) in declared {
            ctors.push((name, fields.iter().map(|field| self.fresh(field)).collect()));
        }
        self.data.at_mut(data).ctors = ctors;
        data
    }

    /// Two types meet.
    fn unify(&mut self, a: &Type, b: &Type) {
        deep(|| match (a, b) {
            (Type::Tuple(a), Type::Tuple(b)) => {
                a.iter().zip(b.iter()).for_each(|(a, b)| self.unify(a, b));
            }
            (Type::Array(a), Type::Array(b)) | (Type::Dual(a), Type::Dual(b)) => self.unify(a, b),
            (Type::Fun(a, f, x), Type::Fun(b, g, y)) => {
                self.flows.unite(*f, *g);
                self.unify(a, b);
                self.unify(x, y);
            }
            _ => {}
        });
    }

    /// Whether derivative operators see functions of this type.
    fn activate(&mut self, ty: &Type, seen: &mut FxHashSet<DataIx>) {
        deep(|| match ty {
            Type::Real | Type::Int | Type::Bool | Type::Text => {}
            Type::Tuple(items) => items.iter().for_each(|item| self.activate(item, seen)),
            Type::Array(of) | Type::Dual(of) => self.activate(of, seen),
            Type::Fun(from, flow, to) => {
                let class = self.flows.class_mut(*flow);
                class.active = true;
                self.activate(from, seen);
                self.activate(to, seen);
            }
            Type::Data(data) => {
                if seen.insert(*data) {
                    let fields: Vec<Type> =
                        self.data.at(*data).ctors.iter().flat_map(|(_, fields)| fields.clone()).collect();
                    fields.iter().for_each(|field| self.activate(field, seen));
                }
            }
        });
    }

    fn bind(&mut self, var: simple::Var, ty: Type) -> VarId {
        let shown = self.notes.shown.get(&var).cloned();
        let id = self.vars.push(VarInfo { name: var.name, ty, known: None, shown });
        self.scope.insert(var, id);
        id
    }

    fn terms(&mut self, terms: &[Term]) -> Result<Vec<Node>, Diagnostic> {
        terms.iter().map(|term| self.term(term)).collect()
    }

    fn term(&mut self, term: &Term) -> Result<Node, Diagnostic> {
        deep(|| self.term_inner(term))
    }

    fn term_inner(&mut self, term: &Term) -> Result<Node, Diagnostic> {
        let span = term.span;
        let (kind, ty) = match &term.kind {
            TermKind::Var(var) => {
                let Some(id) = self.scope.get(var) else { return Err(errors::unbound(span, var.name)) };
                (Kind::Var(*id), self.vars.at(*id).ty.clone())
            }
            TermKind::Real(x) => (Kind::Real(*x), Type::Real),
            TermKind::Int(n) => (Kind::Int(*n), Type::Int),
            TermKind::Bool(b) => (Kind::Bool(*b), Type::Bool),
            TermKind::String(text) => (Kind::Text(Arc::from(text.as_ref())), Type::Text),
            TermKind::Lam(..) => {
                let (lam, ty) = self.lambda(term)?;
                (Kind::Lam(lam), ty)
            }
            TermKind::App(..) => self.application(term)?,
            TermKind::Let(var, _, value, body) => self.let_in(*var, value, body)?,
            TermKind::LetRec(bindings, body) => self.let_rec(bindings, body)?,
            TermKind::If(cond, then, otherwise) => {
                let cond = self.term(cond)?;
                let then = self.term(then)?;
                let otherwise = self.term(otherwise)?;
                self.unify(&then.ty, &otherwise.ty);
                let ty = then.ty.clone();
                (Kind::If(Box::new(cond), Box::new(then), Box::new(otherwise)), ty)
            }
            TermKind::Tuple(items) => {
                let items = self.terms(items)?;
                let ty = Type::Tuple(items.iter().map(|item| item.ty.clone()).collect());
                (Kind::Tuple(items), ty)
            }
            TermKind::Proj(tuple, index, _) => {
                let tuple = self.term(tuple)?;
                let ty = tuple.ty.component(*index);
                (Kind::Proj(Box::new(tuple), *index), ty)
            }
            TermKind::Prim(prim, args) => self.primitive(*prim, args, &term.ty)?,
            TermKind::Derive(operator, args) => self.derive(*operator, args, &term.ty)?,
            TermKind::Ctor(index, fields) => self.constructor(*index, fields, &term.ty)?,
            TermKind::Case(scrutinee, arms) => self.case(scrutinee, arms, &term.ty)?,
            TermKind::Array(items) => {
                let items = self.terms(items)?;
                let ty = self.fresh(&term.ty);
                let elem = ty.elem();
                items.iter().for_each(|item| self.unify(&item.ty, &elem));
                (Kind::Array(items), ty)
            }
        };
        Ok(Node { kind, ty, span })
    }

    /// `let`, or the check of a size that the user named.
    fn let_in(&mut self, var: simple::Var, value: &Term, body: &Term) -> Result<(Kind, Type), Diagnostic> {
        if let (Some((name, axis)), TermKind::If(_, array, _)) =
            (self.notes.sizes.get(&var).copied(), &body.kind)
        {
            let (expected, array) = (self.term(value)?, self.term(array)?);
            let ty = array.ty.clone();
            let kind = Kind::CheckSize { array: Box::new(array), axis, expected: Box::new(expected), name };
            return Ok((kind, ty));
        }
        let around = self.names.len();
        if let TermKind::Lam(..) = value.kind {
            self.names.push(var.name);
        }
        let value = self.term(value);
        self.names.truncate(around);
        let value = value?;
        let id = self.bind(var, value.ty.clone());
        if let Kind::Lam(lam) = value.kind {
            self.vars.at_mut(id).known = Some(lam);
        }
        let body = self.term(body)?;
        let ty = body.ty.clone();
        Ok((Kind::Let(id, Box::new(value), Box::new(body)), ty))
    }

    fn constructor(
        &mut self,
        index: u32,
        fields: &[Term],
        ty: &simple::Ty,
    ) -> Result<(Kind, Type), Diagnostic> {
        let fields = self.terms(fields)?;
        let data = self.data_type(ty);
        let wanted = self.data.at(data).ctors.get(index as usize).map(|(_, types)| types.clone());
        for (field, wanted) in fields.iter().zip(wanted.unwrap_or_default()) {
            self.unify(&field.ty, &wanted);
        }
        Ok((Kind::Ctor(index, fields), Type::Data(data)))
    }

    /// What a function is called: as the source calls it, or as the primitive that it is, or as the function that it stands in.
    fn name_of(&self, lambda: &Term, body: &Term) -> Name {
        if let TermKind::Lam(param, ..) = &lambda.kind
            && let Some(name) = self.notes.functions.get(param)
        {
            return *name;
        }
        if let TermKind::Prim(prim, args) = &body.kind
            && args.iter().all(|arg| matches!(arg.kind, TermKind::Var(_)))
            && prim.info().name.starts_with(|c: char| c.is_ascii_alphabetic())
        {
            return Name::new(prim.info().name);
        }
        self.names.last().copied().unwrap_or_else(|| Name::new("lambda"))
    }

    /// A lambda with all its parameters.
    fn lambda(&mut self, term: &Term) -> Result<(LamId, Type), Diagnostic> {
        let mut params = Vec::new();
        let mut types = Vec::new();
        let mut body = term;
        while let TermKind::Lam(var, ty, inner) = &body.kind {
            let ty = self.fresh(ty);
            params.push(self.bind(*var, ty.clone()));
            types.push(ty);
            body = inner;
        }
        let name = self.name_of(term, body);
        let nothing = Node { kind: Kind::Tuple(Vec::new()), ty: Type::unit(), span: term.span };
        let lam = self.lams.push(Lambda {
            name,
            params,
            body: Rc::new(nothing),
            span: term.span,
            captures: Vec::new(),
        });
        self.within.push(lam);
        let body = self.term(body);
        self.within.pop();
        let body = body?;
        let mut ty = body.ty.clone();
        for (given, from) in types.into_iter().enumerate().rev() {
            let flow = self.flows.fresh();
            self.flows.class_mut(flow).elems.insert(Elem::Lam(lam, u32::try_from(given).unwrap_or(u32::MAX)));
            ty = Type::Fun(Rc::new(from), flow, Rc::new(ty));
        }
        self.lams.at_mut(lam).body = Rc::new(body);
        Ok((lam, ty))
    }

    /// A call with all its arguments.
    fn application(&mut self, term: &Term) -> Result<(Kind, Type), Diagnostic> {
        let mut args = Vec::new();
        let mut head = term;
        while let TermKind::App(func, arg) = &head.kind {
            args.push(arg);
            head = func;
        }
        let func = self.term(head)?;
        let mut ty = func.ty.clone();
        let mut given = Vec::with_capacity(args.len());
        for arg in args.into_iter().rev() {
            let arg = self.term(arg)?;
            let Some((from, _, to)) = ty.fun() else { return Err(errors::not_a_function(term.span)) };
            let (from, to) = (from.clone(), to.clone());
            self.unify(&from, &arg.ty);
            given.push(arg);
            ty = to;
        }
        Ok((Kind::App(Box::new(func), given), ty))
    }

    fn let_rec(
        &mut self,
        bindings: &[(simple::Var, simple::Ty, Term)],
        body: &Term,
    ) -> Result<(Kind, Type), Diagnostic> {
        let mut ids = Vec::with_capacity(bindings.len());
        for (var, ty, _) in bindings {
            let ty = self.fresh(ty);
            ids.push(self.bind(*var, ty));
        }
        for (id, (var, _, value)) in ids.iter().zip(bindings) {
            self.names.push(var.name);
            let lambda = self.lambda(value);
            self.names.pop();
            let (lam, ty) = lambda?;
            let bound = self.vars.at(*id).ty.clone();
            self.unify(&bound, &ty);
            self.vars.at_mut(*id).known = Some(lam);
        }
        let body = self.term(body)?;
        let ty = body.ty.clone();
        Ok((Kind::LetRec(ids, Box::new(body)), ty))
    }

    fn case(
        &mut self,
        scrutinee: &Term,
        arms: &[(Vec<(simple::Var, simple::Ty)>, Term)],
        result: &simple::Ty,
    ) -> Result<(Kind, Type), Diagnostic> {
        let data = self.data_type(&scrutinee.ty);
        let scrutinee = self.term(scrutinee)?;
        let ctors = self.data.at(data).ctors.clone();
        let ty = self.fresh(result);
        let mut all = Vec::with_capacity(arms.len());
        for ((vars, body), (_, fields)) in arms.iter().zip(ctors) {
            let ids = vars.iter().zip(fields).map(|((var, _), field)| self.bind(*var, field)).collect();
            let body = self.term(body)?;
            self.unify(&body.ty, &ty);
            all.push((ids, body));
        }
        Ok((Kind::Case(Box::new(scrutinee), all), ty))
    }

    /// A primitive: its signature says which types are the same.
    fn primitive(
        &mut self,
        prim: Prim,
        args: &[Term],
        result: &simple::Ty,
    ) -> Result<(Kind, Type), Diagnostic> {
        let nodes = self.terms(args)?;
        let mut found = FxHashMap::default();
        let mut pattern = &core::signature(prim).scheme.ty;
        for (arg, node) in args.iter().zip(&nodes) {
            let core::Type::Fun(from, to) = pattern else { break };
            let wanted = self.instance(from, &arg.ty, &mut found);
            self.unify(&node.ty, &wanted);
            pattern = to;
        }
        let ty = self.instance(pattern, result, &mut found);
        let operator = match prim.info().name {
            "jvp" => Some(Operator::Jvp),
            "vjp" => Some(Operator::Vjp),
            "linearize" => Some(Operator::Linearize),
            "pullback" => Some(Operator::Pullback),
            _ => None,
        };
        if let Some(operator) = operator {
            let site = self.site(operator, &nodes, &ty);
            return Ok((Kind::Derive(operator, site, nodes), ty));
        }
        if matches!(prim, Prim::CustomJvp | Prim::CustomVjp)
            && let Some((from, _, to)) = nodes.first().and_then(|func| func.ty.fun())
        {
            let (from, to) = (from.clone(), to.clone());
            let mut seen = FxHashSet::default();
            self.activate(&from, &mut seen);
            self.activate(&to, &mut seen);
        }
        if prim == Prim::CustomVjp {
            // A rule gives its function from cotangents to cotangents as one value.
            if let Some((_, _, pair)) = nodes.get(1).and_then(|rule| rule.ty.fun())
                && let Type::Fun(_, flow, _) = pair.component(1)
            {
                self.flows.class_mut(flow).boxed = true;
            }
        }
        Ok((Kind::Prim(prim, nodes), ty))
    }

    /// The type of which `pattern` is the form and `ty` what it is without classes.
    fn instance(&mut self, pattern: &core::Type, ty: &simple::Ty, found: &mut FxHashMap<Name, Type>) -> Type {
        match (pattern, ty) {
            (core::Type::Var(name), ty) => match found.get(name) {
                Some(known) => known.clone(),
                None => {
                    let fresh = self.fresh(ty);
                    found.insert(*name, fresh.clone());
                    fresh
                }
            },
            (core::Type::Tuple(patterns), simple::Ty::Tuple(items)) => Type::Tuple(
                patterns.iter().zip(items).map(|(pattern, ty)| self.instance(pattern, ty, found)).collect(),
            ),
            (core::Type::Array(_, pattern), simple::Ty::Array(elem)) => {
                Type::Array(Rc::new(self.instance(pattern, elem, found)))
            }
            (core::Type::Fun(a, b), simple::Ty::Fun(from, to)) => {
                let from = self.instance(a, from, found);
                let to = self.instance(b, to, found);
                Type::Fun(Rc::new(from), self.flows.fresh(), Rc::new(to))
            }
            (core::Type::Dual(pattern), simple::Ty::Dual(of)) => {
                let of = self.instance(pattern, of, found);
                self.dual(of)
            }
            (_, ty) => self.fresh(ty),
        }
    }

    fn derive(
        &mut self,
        operator: Derive,
        args: &[Term],
        result: &simple::Ty,
    ) -> Result<(Kind, Type), Diagnostic> {
        let (operator, ty) = match operator {
            Derive::Jvp => return self.primitive(Prim::Jvp, args, result),
            Derive::Vjp => return self.primitive(Prim::Vjp, args, result),
            Derive::Pullback => return self.primitive(Prim::Pullback, args, result),
            Derive::Grad => (Operator::Grad, self.fresh(result)),
            Derive::ValueAndGrad => (Operator::ValueAndGrad, self.fresh(result)),
            Derive::Derivative => (Operator::Derivative, self.fresh(result)),
        };
        let nodes = self.terms(args)?;
        if let [func, point] = nodes.as_slice()
            && let Some((from, _, to)) = func.ty.fun()
        {
            let (from, to) = (from.clone(), to.clone());
            self.unify(&from, &point.ty);
            match operator {
                Operator::Grad => self.unify(&ty, &from),
                Operator::ValueAndGrad => self.unify(&ty.component(1), &from),
                _ => self.unify(&ty, &to),
            }
        }
        let site = self.site(operator, &nodes, &ty);
        Ok((Kind::Derive(operator, site, nodes), ty))
    }

    /// Notes a call of an operator, and the functions that it makes.
    fn site(&mut self, operator: Operator, args: &[Node], ty: &Type) -> SiteId {
        let func = args.first().map_or_else(Type::unit, |func| func.ty.clone());
        let functional = match operator {
            Operator::Pullback => args.get(1).map_or_else(Type::unit, |form| form.ty.result(1)),
            Operator::Grad
            | Operator::ValueAndGrad
            | Operator::Derivative
            | Operator::Jvp
            | Operator::Vjp
            | Operator::Linearize => Type::unit(),
        };
        let within = self.within.last().copied();
        let site = self.sites.push(Site { within, func: func.clone(), functional });
        let Some((from, _, to)) = func.fun() else { return site };
        let mut seen = FxHashSet::default();
        self.activate(from, &mut seen);
        self.activate(to, &mut seen);
        let first_order = is_first_order(&self.data, from) && is_first_order(&self.data, to);
        let made = match operator {
            Operator::Vjp => Some((ty.component(1), Elem::Back(site))),
            Operator::Linearize if first_order => Some((ty.component(1), Elem::Forward(site))),
            Operator::Linearize => Some((ty.component(1), Elem::TangentMap(site))),
            Operator::Pullback => Some((ty.clone(), Elem::Functional(site))),
            Operator::Grad | Operator::ValueAndGrad | Operator::Derivative | Operator::Jvp => None,
        };
        if let Some((Type::Fun(_, flow, _), elem)) = made {
            self.flows.class_mut(flow).elems.insert(elem);
        }
        site
    }
}

/// Whether there is no function in values of the type.
pub(crate) fn is_first_order(data: &Table<DataIx, DataInfo>, ty: &Type) -> bool {
    let mut todo = vec![ty.clone()];
    let mut seen = FxHashSet::default();
    while let Some(ty) = todo.pop() {
        match ty {
            Type::Real | Type::Int | Type::Bool | Type::Text | Type::Dual(_) => {}
            Type::Tuple(items) => todo.extend(items.iter().cloned()),
            Type::Array(elem) => todo.push(elem.as_ref().clone()),
            Type::Fun(..) => return false,
            Type::Data(ix) => {
                if seen.insert(ix) {
                    todo.extend(data.at(ix).ctors.iter().flat_map(|(_, fields)| fields.iter().cloned()));
                }
            }
        }
    }
    true
}
