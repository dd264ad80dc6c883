//! Whether a simple program is well typed: every node has the type that its parts give it, every variable is bound
//! once and in scope, every primitive is used at an instance of its signature. The bridge and the translations are tested
//! with it.

use crate::simple::{Data, Derive, Program, Term, TermKind, Ty, Var};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use wengert_base::Name;
use wengert_core::{Kind, Pred, Type, signature};
use wengert_prim::Prim;

/// What is wrong with a program, one sentence each.
pub fn check(program: &Program) -> Vec<String> {
    let mut checker =
        Checker { program, scope: FxHashMap::default(), seen: FxHashSet::default(), errors: Vec::new() };
    checker.term(&program.term);
    checker.errors
}

struct Checker<'p> {
    program: &'p Program,
    scope: FxHashMap<Var, Ty>,
    /// Every variable that has been bound anywhere.
    seen: FxHashSet<u32>,
    errors: Vec<String>,
}

impl Checker<'_> {
    fn error(&mut self, message: String) {
        self.errors.push(message);
    }

    fn same(&mut self, found: &Ty, wanted: &Ty, what: &str) {
        if found != wanted {
            self.error(format!("{what} has type {found:?} instead of {wanted:?}"));
        }
    }

    fn bind(&mut self, var: Var, ty: &Ty) {
        if !self.seen.insert(var.id) {
            self.error(format!("{}%{} is bound twice", var.name, var.id));
        }
        self.scope.insert(var, ty.clone());
    }

    /// Checks a term, whose type is then the one it carries.
    fn term(&mut self, term: &Term) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || self.term_inner(term));
    }

    fn term_inner(&mut self, term: &Term) {
        let ty = &term.ty;
        match &term.kind {
            TermKind::Var(var) => match self.scope.get(var).cloned() {
                Some(bound) => self.same(ty, &bound, "a variable"),
                None => self.error(format!("{}%{} is not in scope", var.name, var.id)),
            },
            TermKind::Real(_) => self.same(ty, &Ty::Real, "a real number"),
            TermKind::Int(_) => self.same(ty, &Ty::Int, "an integer"),
            TermKind::Bool(_) => self.same(ty, &Ty::Bool, "a truth value"),
            TermKind::String(_) => self.same(ty, &Ty::String, "a text"),
            TermKind::Lam(var, param, body) => {
                self.bind(*var, param);
                self.term(body);
                self.scope.remove(var);
                self.same(ty, &fun(param, &body.ty), "a function");
            }
            TermKind::App(func, arg) => {
                self.term(func);
                self.term(arg);
                self.same(&func.ty, &fun(&arg.ty, ty), "what is called");
            }
            TermKind::Let(var, bound, value, body) => {
                self.term(value);
                self.same(&value.ty, bound, "what is bound");
                self.bind(*var, bound);
                self.term(body);
                self.scope.remove(var);
                self.same(ty, &body.ty, "a let");
            }
            TermKind::LetRec(bindings, body) => self.let_rec(bindings, body, ty),
            TermKind::If(cond, then, otherwise) => {
                self.all([cond.as_ref(), then, otherwise]);
                self.same(&cond.ty, &Ty::Bool, "a condition");
                self.same(&then.ty, ty, "a branch");
                self.same(&otherwise.ty, ty, "a branch");
            }
            TermKind::Tuple(items) => {
                self.all(items);
                let types = items.iter().map(|item| item.ty.clone()).collect();
                self.same(ty, &Ty::Tuple(types), "a tuple");
            }
            TermKind::Proj(tuple, index, count) => self.component(tuple, *index, *count, ty),
            TermKind::Prim(prim, args) => self.primitive(*prim, args, ty),
            TermKind::Derive(operator, args) => self.derive(*operator, args, ty),
            TermKind::Ctor(index, fields) => self.constructor(*index, fields, ty),
            TermKind::Case(scrutinee, arms) => self.case(scrutinee, arms, ty),
            TermKind::Array(items) => {
                self.all(items);
                for item in items {
                    self.same(ty, &Ty::Array(Rc::new(item.ty.clone())), "an array");
                }
                if !matches!(ty, Ty::Array(_)) {
                    self.error(format!("an array has type {ty:?}"));
                }
            }
        }
    }

    fn let_rec(&mut self, bindings: &[(Var, Ty, Term)], body: &Term, ty: &Ty) {
        bindings.iter().for_each(|(var, bound, _)| self.bind(*var, bound));
        for (_, bound, value) in bindings {
            if !matches!(value.kind, TermKind::Lam(..)) {
                self.error("a recursive binding is not a function".into());
            }
            self.term(value);
            self.same(&value.ty, bound, "what is bound");
        }
        self.term(body);
        bindings.iter().for_each(|(var, _, _)| drop(self.scope.remove(var)));
        self.same(ty, &body.ty, "a let rec");
    }

    fn component(&mut self, tuple: &Term, index: usize, count: usize, ty: &Ty) {
        self.term(tuple);
        let component = if let Ty::Tuple(items) = &tuple.ty
            && items.len() == count
        {
            items.get(index)
        } else {
            None
        };
        match component {
            Some(component) => self.same(ty, component, "a component"),
            None => self.error(format!("{:?} has no component {index} of {count}", tuple.ty)),
        }
    }

    fn constructor(&mut self, index: u32, fields: &[Term], ty: &Ty) {
        self.all(fields);
        let wanted = self.constructors(ty).and_then(|data| data.ctors.get(index as usize).cloned());
        let types: Vec<Ty> = fields.iter().map(|field| field.ty.clone()).collect();
        if wanted.is_none_or(|(_, wanted)| wanted != types) {
            self.error(format!("constructor {index} of {ty:?} has fields {types:?}"));
        }
    }

    fn all<'t>(&mut self, terms: impl IntoIterator<Item = &'t Term>) {
        terms.into_iter().for_each(|term| self.term(term));
    }

    fn constructors(&self, ty: &Ty) -> Option<Data> {
        self.program.data.get(ty).cloned()
    }

    fn case(&mut self, scrutinee: &Term, arms: &[(Vec<(Var, Ty)>, Term)], ty: &Ty) {
        self.term(scrutinee);
        let Some(data) = self.constructors(&scrutinee.ty) else {
            return self.error(format!("{:?} has no constructors", scrutinee.ty));
        };
        if data.ctors.len() != arms.len() {
            self.error(format!("{} constructors and {} arms", data.ctors.len(), arms.len()));
        }
        for ((vars, body), (name, fields)) in arms.iter().zip(&data.ctors) {
            let types: Vec<&Ty> = vars.iter().map(|(_, ty)| ty).collect();
            if types != fields.iter().collect::<Vec<_>>() {
                self.error(format!("the arm of {name} has fields {types:?}"));
            }
            vars.iter().for_each(|(var, ty)| self.bind(*var, ty));
            self.term(body);
            vars.iter().for_each(|(var, _)| drop(self.scope.remove(var)));
            self.same(&body.ty, ty, "an arm");
        }
    }

    fn primitive(&mut self, prim: Prim, args: &[Term], ty: &Ty) {
        self.all(args);
        let info = prim.info();
        if args.len() != info.arity {
            self.error(format!("`{}` has {} arguments", info.name, args.len()));
        }
        let whole = args.iter().rev().fold(ty.clone(), |result, arg| fun(&arg.ty, &result));
        let scheme = &signature(prim).scheme;
        let mut found: FxHashMap<Name, Ty> = FxHashMap::default();
        if !matches(&scheme.ty, &whole, &mut found) {
            return self.error(format!("`{}` is used as {whole:?}", info.name));
        }
        for param in &scheme.params {
            let Kind::Type(preds) = &param.kind else { continue };
            let number = found.get(&param.name).is_none_or(|ty| matches!(ty, Ty::Int | Ty::Real));
            if preds.contains(&Pred::Num) && !number {
                self.error(format!("`{}` is used at what is no number", info.name));
            }
        }
    }

    fn derive(&mut self, operator: Derive, args: &[Term], ty: &Ty) {
        self.all(args);
        if args.len() != operator.arity() {
            self.error(format!("{operator:?} has {} arguments", args.len()));
        }
        let (Some(func), Some(last)) = (args.first(), args.last()) else { return };
        let Ty::Fun(from, to) = &func.ty else {
            return self.error(format!("{operator:?} of {:?}", func.ty));
        };
        let (from, to) = (from.as_ref(), to.as_ref());
        let pair = |a: &Ty, b: &Ty| Ty::Tuple(vec![a.clone(), b.clone()]);
        let dual = |of: &Ty| Ty::Dual(Rc::new(of.clone()));
        let (point, result) = match operator {
            Derive::Grad => (from.clone(), from.clone()),
            Derive::ValueAndGrad => (from.clone(), pair(to, from)),
            Derive::Derivative => (Ty::Real, to.clone()),
            Derive::Jvp => (pair(from, from), pair(to, to)),
            Derive::Vjp => (from.clone(), pair(to, &fun(to, from))),
            Derive::Pullback => (from.clone(), dual(from)),
        };
        self.same(&last.ty, &point, "the point of a derivative");
        self.same(ty, &result, "a derivative");
        if let (Derive::Pullback, [_, form, _]) = (operator, args) {
            self.same(&form.ty, &fun(to, &dual(to)), "a 1-form");
        }
        if matches!(operator, Derive::Grad | Derive::ValueAndGrad) {
            self.same(to, &Ty::Real, "the result of a function with a gradient");
        }
    }
}

fn fun(from: &Ty, to: &Ty) -> Ty {
    Ty::Fun(Rc::new(from.clone()), Rc::new(to.clone()))
}

/// Whether a type is an instance of a pattern with variables.
fn matches(pattern: &Type, ty: &Ty, found: &mut FxHashMap<Name, Ty>) -> bool {
    match (pattern, ty) {
        (Type::Real, Ty::Real)
        | (Type::Int, Ty::Int)
        | (Type::Bool, Ty::Bool)
        | (Type::String, Ty::String) => true,
        (Type::Tuple(patterns), Ty::Tuple(types)) => {
            patterns.len() == types.len() && patterns.iter().zip(types).all(|(p, t)| matches(p, t, found))
        }
        (Type::Array(_, pattern), Ty::Array(elem)) => matches(pattern, elem, found),
        (Type::Fun(from, to), Ty::Fun(a, b)) => matches(from, a, found) && matches(to, b, found),
        (Type::Dual(pattern), Ty::Dual(of)) => matches(pattern, of, found),
        (Type::Var(name), _) => found.entry(*name).or_insert_with(|| ty.clone()) == ty,
        _ => false,
    }
}
