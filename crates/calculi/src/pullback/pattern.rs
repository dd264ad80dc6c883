//! Variables and the patterns that λ binds: `λ⟨x,y⟩.S` of 3.1.3 is kept as written, and patterns that extend each other
//! share what they have in common.

use super::subst::deep;
use super::syntax::{Kind, Term};
use super::ty::Type;
use std::cell::{Cell, OnceCell};
use std::rc::Rc;

/// A variable with its type; equal if the numbers are.
#[derive(Clone, Debug)]
pub(crate) struct Var(Rc<VarData>);

#[derive(Debug)]
struct VarData {
    name: Rc<str>,
    id: u32,
    ty: Type,
    /// Made by a reduction: printed with a number.
    fresh: bool,
}

impl Var {
    fn make(name: &str, ty: Type, fresh: bool) -> Var {
        thread_local!(static NEXT: Cell<u32> = const { Cell::new(0) });
        let id = NEXT.with(|next| {
            let id = next.get();
            next.set(id.wrapping_add(1));
            id
        });
        Var(Rc::new(VarData { name: name.into(), id, ty, fresh }))
    }

    /// A variable that the user wrote.
    pub(crate) fn named(name: &str, ty: Type) -> Var {
        Var::make(name, ty, false)
    }

    /// A variable that a reduction makes: `z` of A-reduction, `v` of a Jacobian, ….
    pub(crate) fn fresh(base: &str, ty: Type) -> Var {
        Var::make(base, ty, true)
    }

    /// Another variable of the same name and type.
    pub(crate) fn renamed(&self) -> Var {
        Var::make(&self.0.name, self.0.ty.clone(), self.0.fresh)
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id
    }

    pub(crate) fn name(&self) -> &str {
        &self.0.name
    }

    pub(crate) fn is_fresh(&self) -> bool {
        self.0.fresh
    }

    pub(crate) fn ty(&self) -> &Type {
        &self.0.ty
    }
}

impl PartialEq for Var {
    fn eq(&self, other: &Var) -> bool {
        self.id() == other.id()
    }
}

/// What a λ binds: a variable, or `⟨p,q⟩` by the sugar of 3.1.3.
#[derive(Clone, Debug)]
pub(crate) struct Pat(Rc<PatNode>);

#[derive(Debug)]
struct PatNode {
    kind: PatKind,
    ty: Type,
    term: OnceCell<Term>,
}

/// What a pattern is.
#[derive(Clone, Debug)]
pub(crate) enum PatKind {
    /// `x`
    Var(Var),
    /// `⟨p,q⟩`
    Pair(Pat, Pat),
}

impl Pat {
    pub(crate) fn var(var: Var) -> Pat {
        let ty = var.ty().clone();
        Pat(Rc::new(PatNode { kind: PatKind::Var(var), ty, term: OnceCell::new() }))
    }

    pub(crate) fn pair(a: Pat, b: Pat) -> Pat {
        let ty = Type::product(a.ty().clone(), b.ty().clone());
        Pat(Rc::new(PatNode { kind: PatKind::Pair(a, b), ty, term: OnceCell::new() }))
    }

    pub(crate) fn kind(&self) -> &PatKind {
        &self.0.kind
    }

    pub(crate) fn ty(&self) -> &Type {
        &self.0.ty
    }

    /// The tuple, if it was made already.
    pub(crate) fn known_term(&self) -> Option<&Term> {
        self.0.term.get()
    }

    pub(crate) fn ptr(&self) -> *const () {
        Rc::as_ptr(&self.0).cast()
    }

    /// The pattern as a term: the tuple that it matches. Made once, so that it is found again by its address.
    pub(crate) fn term(&self) -> Term {
        let mut spine = Vec::new();
        let mut pat = self.clone();
        while pat.0.term.get().is_none() {
            let PatKind::Pair(first, _) = pat.kind() else { break };
            let first = first.clone();
            spine.push(std::mem::replace(&mut pat, first));
        }
        let mut term = pat.0.term.get_or_init(|| leaf_term(&pat)).clone();
        while let Some(pat) = spine.pop() {
            if let PatKind::Pair(_, second) = pat.kind() {
                term = pat.0.term.get_or_init(|| Term::pair(term.clone(), second.term())).clone();
            }
        }
        term
    }

    /// Its variables, last first.
    pub(crate) fn vars(&self) -> Vec<Var> {
        let (mut vars, mut stack) = (Vec::new(), vec![self.clone()]);
        while let Some(pat) = stack.pop() {
            match pat.kind() {
                PatKind::Var(var) => vars.push(var.clone()),
                PatKind::Pair(a, b) => {
                    stack.push(a.clone());
                    stack.push(b.clone());
                }
            }
        }
        vars
    }

    /// Whether it binds the variable `id`; the last components are looked at first, since rules mention those.
    pub(crate) fn binds(&self, id: u32) -> bool {
        let mut here = self;
        loop {
            match here.kind() {
                PatKind::Var(var) => return var.id() == id,
                PatKind::Pair(first, second) => {
                    let found = match second.kind() {
                        PatKind::Var(var) => var.id() == id,
                        PatKind::Pair(..) => deep(|| second.binds(id)),
                    };
                    if found {
                        return true;
                    }
                    here = first;
                }
            }
        }
    }

    /// What the variable `id` stands for if the pattern matches `value`. The way to the first components of a long tuple
    /// is long, so nothing is made on it.
    pub(crate) fn component(&self, value: &Term, id: u32) -> Option<Term> {
        let (mut here, mut value) = (self, value);
        loop {
            match (here.kind(), value.kind()) {
                (PatKind::Var(var), _) => return (var.id() == id).then(|| value.clone()),
                (PatKind::Pair(first, second), Kind::Pair(left, right)) => {
                    match second.kind() {
                        PatKind::Var(var) if var.id() == id => return Some(right.clone()),
                        PatKind::Var(_) => {}
                        PatKind::Pair(..) => {
                            if let Some(found) = deep(|| second.component(right, id)) {
                                return Some(found);
                            }
                        }
                    }
                    (here, value) = (first, left);
                }
                (PatKind::Pair(first, second), _) => {
                    let in_second = deep(|| second.component(&value.project(2), id));
                    return in_second.or_else(|| deep(|| first.component(&value.project(1), id)));
                }
            }
        }
    }
}

fn leaf_term(pat: &Pat) -> Term {
    match pat.kind() {
        PatKind::Var(var) => Term::var(var.clone()),
        PatKind::Pair(a, b) => Term::pair(a.term(), b.term()),
    }
}

impl Drop for PatNode {
    fn drop(&mut self) {
        let PatKind::Pair(a, b) = &self.kind else { return };
        let nothing = a.0.nothing();
        let mut stack = vec![a.clone(), b.clone()];
        self.kind = nothing.clone();
        while let Some(pat) = stack.pop() {
            if let Some(mut node) = Rc::into_inner(pat.0)
                && let PatKind::Pair(a, b) = std::mem::replace(&mut node.kind, nothing.clone())
            {
                stack.push(a);
                stack.push(b);
            }
        }
    }
}

impl PatNode {
    fn nothing(&self) -> PatKind {
        thread_local!(static NOTHING: Var = Var::named("_", Type::real()));
        PatKind::Var(NOTHING.with(Clone::clone))
    }
}
