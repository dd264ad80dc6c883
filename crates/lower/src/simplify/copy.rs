//! Copies of terms with fresh variables, and what is counted before copying.

#![expect(clippy::wildcard_enum_match_arm, reason = "the terms that bind variables are named")]

use rustc_hash::FxHashMap;
use std::rc::Rc;
use wengert_base::Name;
use wengert_mono::simple::{Notes, Term, TermKind, Ty, Var};

/// Makes variables that nothing else uses.
pub(super) struct Copies<'a> {
    next: u32,
    notes: &'a mut Notes,
}

impl<'a> Copies<'a> {
    /// Variables above those of a program.
    pub(super) fn above(program: &Term, notes: &'a mut Notes) -> Copies<'a> {
        let mut next = 0;
        let mut stack = vec![program];
        while let Some(term) = stack.pop() {
            match &term.kind {
                TermKind::Var(var) | TermKind::Lam(var, ..) | TermKind::Let(var, ..) => {
                    next = next.max(var.id + 1);
                }
                TermKind::LetRec(bindings, _) => {
                    bindings.iter().for_each(|(var, ..)| next = next.max(var.id + 1));
                }
                TermKind::Case(_, arms) => {
                    let vars = arms.iter().flat_map(|(vars, _)| vars);
                    vars.for_each(|(var, _)| next = next.max(var.id + 1));
                }
                _ => {}
            }
            stack.extend(term.children());
        }
        Copies { next, notes }
    }

    /// The number of the variable that is made next.
    pub(super) fn next(&self) -> u32 {
        self.next
    }

    /// Whether the scope of a variable is a check of a size, which stays next to it.
    pub(super) fn checks_size(&self, var: Var) -> bool {
        self.notes.sizes.contains_key(&var)
    }

    /// Notes what a lambda is called, unless it has a name already.
    pub(super) fn name(&mut self, lambda: &Term, name: Name) {
        if let TermKind::Lam(param, ..) = &lambda.kind {
            self.notes.functions.entry(*param).or_insert(name);
        }
    }

    /// A variable of its own.
    pub(super) fn fresh(&mut self, name: Name) -> Var {
        let id = self.next;
        self.next += 1;
        Var { name, id }
    }

    /// The same term with binders of its own.
    pub(super) fn copy(&mut self, term: &Term) -> Term {
        self.rename(term, &mut FxHashMap::default())
    }

    fn renamed(&mut self, var: Var, names: &mut FxHashMap<Var, Var>) -> Var {
        let fresh = self.fresh(var.name);
        names.insert(var, fresh);
        if let Some(size) = self.notes.sizes.get(&var).copied() {
            self.notes.sizes.insert(fresh, size);
        }
        if let Some(name) = self.notes.functions.get(&var).copied() {
            self.notes.functions.insert(fresh, name);
        }
        if let Some(shown) = self.notes.shown.get(&var).cloned() {
            self.notes.shown.insert(fresh, shown);
        }
        fresh
    }

    fn shared(&mut self, term: &Term, names: &mut FxHashMap<Var, Var>) -> Rc<Term> {
        Rc::new(self.rename(term, names))
    }

    fn all(&mut self, terms: &[Term], names: &mut FxHashMap<Var, Var>) -> Vec<Term> {
        terms.iter().map(|term| self.rename(term, names)).collect()
    }

    fn rename(&mut self, term: &Term, names: &mut FxHashMap<Var, Var>) -> Term {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let kind = match &term.kind {
                TermKind::Var(var) => TermKind::Var(names.get(var).copied().unwrap_or(*var)),
                TermKind::Real(_) | TermKind::Int(_) | TermKind::Bool(_) | TermKind::String(_) => {
                    term.kind.clone()
                }
                TermKind::Lam(var, ty, body) => {
                    let var = self.renamed(*var, names);
                    TermKind::Lam(var, ty.clone(), self.shared(body, names))
                }
                TermKind::App(func, arg) => TermKind::App(self.shared(func, names), self.shared(arg, names)),
                TermKind::Let(var, ty, value, body) => {
                    let value = self.shared(value, names);
                    let var = self.renamed(*var, names);
                    TermKind::Let(var, ty.clone(), value, self.shared(body, names))
                }
                TermKind::LetRec(bindings, body) => {
                    let vars: Vec<Var> = bindings.iter().map(|(var, ..)| self.renamed(*var, names)).collect();
                    let values: Vec<Term> =
                        bindings.iter().map(|(_, _, value)| self.rename(value, names)).collect();
                    let types = bindings.iter().map(|(_, ty, _)| ty.clone());
                    let bindings =
                        vars.into_iter().zip(types).zip(values).map(|((var, ty), value)| (var, ty, value));
                    TermKind::LetRec(bindings.collect(), self.shared(body, names))
                }
                TermKind::If(cond, then, otherwise) => TermKind::If(
                    self.shared(cond, names),
                    self.shared(then, names),
                    self.shared(otherwise, names),
                ),
                TermKind::Tuple(items) => TermKind::Tuple(self.all(items, names)),
                TermKind::Proj(tuple, index, count) => {
                    TermKind::Proj(self.shared(tuple, names), *index, *count)
                }
                TermKind::Prim(prim, args) => TermKind::Prim(*prim, self.all(args, names)),
                TermKind::Derive(operator, args) => TermKind::Derive(*operator, self.all(args, names)),
                TermKind::Ctor(index, fields) => TermKind::Ctor(*index, self.all(fields, names)),
                TermKind::Case(scrutinee, arms) => {
                    let scrutinee = self.shared(scrutinee, names);
                    let mut copied = Vec::with_capacity(arms.len());
                    for (vars, body) in arms {
                        let vars =
                            vars.iter().map(|(var, ty)| (self.renamed(*var, names), ty.clone())).collect();
                        copied.push((vars, self.rename(body, names)));
                    }
                    TermKind::Case(scrutinee, copied)
                }
                TermKind::Array(items) => TermKind::Array(self.all(items, names)),
            };
            Term { kind, ty: term.ty.clone(), span: term.span }
        })
    }
}

/// How often each variable is mentioned.
pub(super) fn uses(term: &Term) -> FxHashMap<Var, usize> {
    let mut uses = FxHashMap::default();
    let mut stack = vec![term];
    while let Some(term) = stack.pop() {
        if let TermKind::Var(var) = &term.kind {
            *uses.entry(*var).or_default() += 1;
        }
        stack.extend(term.children());
    }
    uses
}

/// How many nodes a term has.
pub(super) fn size(term: &Term) -> usize {
    let mut size = 0;
    let mut stack = vec![term];
    while let Some(term) = stack.pop() {
        size += 1;
        stack.extend(term.children());
    }
    size
}

/// Whether a type is that of a function, or of a tuple that holds one.
pub(super) fn contains_function(ty: &Ty) -> bool {
    let mut stack = vec![ty];
    while let Some(ty) = stack.pop() {
        match ty {
            Ty::Fun(..) => return true,
            Ty::Tuple(items) => stack.extend(items),
            Ty::Real | Ty::Int | Ty::Bool | Ty::String | Ty::Array(_) | Ty::Data(..) | Ty::Dual(_) => {}
        }
    }
    false
}

/// Drops a term without recursion: `let`s may be nested very deeply.
pub(crate) fn dismantle(term: Term) {
    let mut stack = vec![term];
    let mut shared: Vec<Rc<Term>> = Vec::new();
    while let Some(term) = stack.pop() {
        match term.kind {
            TermKind::Var(_)
            | TermKind::Real(_)
            | TermKind::Int(_)
            | TermKind::Bool(_)
            | TermKind::String(_) => {}
            TermKind::Lam(_, _, body) | TermKind::Proj(body, ..) => shared.push(body),
            TermKind::App(a, b) | TermKind::Let(_, _, a, b) => shared.extend([a, b]),
            TermKind::LetRec(bindings, body) => {
                stack.extend(bindings.into_iter().map(|(_, _, value)| value));
                shared.push(body);
            }
            TermKind::If(cond, then, otherwise) => shared.extend([cond, then, otherwise]),
            TermKind::Tuple(items)
            | TermKind::Prim(_, items)
            | TermKind::Derive(_, items)
            | TermKind::Ctor(_, items)
            | TermKind::Array(items) => stack.extend(items),
            TermKind::Case(scrutinee, arms) => {
                shared.push(scrutinee);
                stack.extend(arms.into_iter().map(|(_, body)| body));
            }
        }
        stack.extend(shared.drain(..).filter_map(|term| Rc::try_unwrap(term).ok()));
    }
}
