//! One term of all instances: each where it is used if it is a function used once, else in a `let` around the rest, in
//! the order in which they need each other; those that need each other in a circle (the strongly connected components
//! of the graph of uses) are a `LetRec`.
//!
//! A constant is computed when it is first needed, and perhaps never. In a `let` it would always be; so a constant that may fail and
//! costs little to compute (`def nothing = fail "…"`) stands where it is used, however often that is. Whoever runs the program has to
//! know that the others may fail though nobody needs them.

use super::MAX_DEPTH;
use super::terms::apply;
use crate::errors;
use crate::simple::{Term, TermKind, Ty, Var};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use wengert_base::Diagnostic;
use wengert_prim::Prim;

/// So many nodes a constant that is put into another term has at most.
const MAX_CONSTANT: usize = 24;

/// How deep a term may be to be put into another.
const MAX_INLINED_DEPTH: u32 = 500;

/// The whole term.
pub(super) fn assemble(term: Term, instances: Vec<(Var, Term)>) -> Result<Term, Diagnostic> {
    let places: FxHashMap<Var, usize> = instances.iter().enumerate().map(|(i, (var, _))| (*var, i)).collect();
    let mut uses: FxHashMap<Var, usize> = FxHashMap::default();
    count_uses(&term, &places, &mut uses);
    let mut edges: Vec<Vec<usize>> = Vec::with_capacity(instances.len());
    for (_, body) in &instances {
        let mut own = FxHashMap::default();
        count_uses(body, &places, &mut own);
        let mut needed: Vec<usize> = own.keys().filter_map(|var| places.get(var).copied()).collect();
        needed.sort_unstable();
        for (var, _) in needed.iter().filter_map(|place| instances.get(*place)) {
            *uses.entry(*var).or_default() += own.get(var).copied().unwrap_or(0);
        }
        edges.push(needed);
    }
    let mut terms: Vec<Option<(Var, Term)>> = instances.into_iter().map(Some).collect();
    let mut inlined = Inlined::default();
    let mut around: Vec<Vec<(Var, Term)>> = Vec::new();
    for component in components(&edges) {
        let recursive = component.len() > 1
            || component.iter().any(|i| edges.get(*i).is_some_and(|needed| needed.contains(i)));
        let mut group = Vec::with_capacity(component.len());
        for index in component {
            let Some((var, body)) = terms.get_mut(index).and_then(Option::take) else { continue };
            let body = inline(body, &mut inlined);
            let function = matches!(body.kind, TermKind::Lam(..));
            if recursive && !function {
                return Err(errors::recursive_value(body.span, var.name));
            }
            let once = !recursive && uses.get(&var).copied().unwrap_or(0) == 1;
            if once && function && depth(&body) <= MAX_INLINED_DEPTH {
                inlined.once.insert(var, body);
            } else if may_fail_at_once(&body) {
                inlined.constants.insert(var, body);
            } else {
                group.push((var, body));
            }
        }
        if !group.is_empty() {
            around.push(group);
        }
    }
    let mut whole = inline(term, &mut inlined);
    for group in around.into_iter().rev() {
        whole = bound(group, whole);
    }
    if depth(&whole) > MAX_DEPTH {
        return Err(errors::too_large(whole.span, "it is nested thousands of levels deep"));
    }
    Ok(whole)
}

/// The term in a `let` of definitions that need each other.
fn bound(mut group: Vec<(Var, Term)>, whole: Term) -> Term {
    let (ty, span) = (whole.ty.clone(), whole.span);
    let alone = group.len() == 1 && group.first().is_some_and(|(var, body)| !occurs(*var, body));
    let kind = match group.pop() {
        Some((var, body)) if alone => TermKind::Let(var, body.ty.clone(), Rc::new(body), Rc::new(whole)),
        last => {
            group.extend(last);
            let bindings = group.into_iter().map(|(var, body)| (var, body.ty.clone(), body)).collect();
            TermKind::LetRec(bindings, Rc::new(whole))
        }
    };
    Term { kind, ty, span }
}

/// Whether a variable occurs.
fn occurs(var: Var, term: &Term) -> bool {
    let mut found = FxHashMap::default();
    count_uses(term, &FxHashMap::from_iter([(var, 0)]), &mut found);
    !found.is_empty()
}

/// Counts the occurrences of the variables in `places`.
fn count_uses(term: &Term, places: &FxHashMap<Var, usize>, uses: &mut FxHashMap<Var, usize>) {
    let mut stack = vec![term];
    while let Some(term) = stack.pop() {
        if let TermKind::Var(var) = &term.kind
            && places.contains_key(var)
        {
            *uses.entry(*var).or_default() += 1;
        }
        stack.extend(term.children());
    }
}

/// How deep a term is, by levels: those of a level are the children of those before.
fn depth(term: &Term) -> u32 {
    let mut deepest = 0;
    let mut stack = vec![(term, 1)];
    while let Some((term, depth)) = stack.pop() {
        deepest = deepest.max(depth);
        stack.extend(term.children().map(|child| (child, depth + 1)));
    }
    deepest
}

/// What stands where it is used.
#[derive(Default)]
struct Inlined {
    /// Functions, each of which occurs once.
    once: FxHashMap<Var, Term>,
    /// Constants.
    constants: FxHashMap<Var, Term>,
}

/// Whether it is a small term without functions and loops that may fail.
fn may_fail_at_once(term: &Term) -> bool {
    let (mut nodes, mut may_fail) = (0, false);
    let mut stack = vec![term];
    while let Some(term) = stack.pop() {
        nodes += 1;
        let cheap = match &term.kind {
            TermKind::Var(_) => !matches!(term.ty, Ty::Fun(..)),
            TermKind::Real(_) | TermKind::Int(_) | TermKind::Bool(_) | TermKind::String(_) => true,
            TermKind::If(..) | TermKind::Tuple(_) | TermKind::Proj(..) | TermKind::Ctor(..) => true,
            TermKind::Prim(prim, _) => {
                let of_integers = matches!(prim, Prim::Div | Prim::Power) && term.ty == Ty::Int;
                let fails = of_integers || may_fail_itself(*prim);
                may_fail |= fails;
                fails || is_of_scalars(*prim)
            }
            TermKind::Lam(..)
            | TermKind::App(..)
            | TermKind::Let(..)
            | TermKind::LetRec(..)
            | TermKind::Derive(..)
            | TermKind::Case(..)
            | TermKind::Array(_) => false,
        };
        if !cheap || nodes > MAX_CONSTANT {
            return false;
        }
        stack.extend(term.children());
    }
    may_fail
}

fn may_fail_itself(prim: Prim) -> bool {
    matches!(
        prim,
        Prim::Fail
            | Prim::Index
            | Prim::Rem
            | Prim::DivFloor
            | Prim::ModFloor
            | Prim::Floor
            | Prim::Ceil
            | Prim::Round
            | Prim::Truncate
    )
}

fn is_of_scalars(prim: Prim) -> bool {
    let basic =
        matches!(prim, Prim::Add | Prim::Sub | Prim::Mul | Prim::Div | Prim::Neg | Prim::Power | Prim::Real);
    basic || matches!(prim, Prim::Length | Prim::Append | Prim::Sqrt | Prim::Exp | Prim::Log | Prim::Abs)
}

/// The term with variables replaced by what stands for them; calls of functions become `let`s.
fn inline(term: Term, functions: &mut Inlined) -> Term {
    if functions.once.is_empty() && functions.constants.is_empty() {
        return term;
    }
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let Term { kind, ty, span } = term;
        let mut go = |term: Rc<Term>| Rc::new(inline(unshared(term), functions));
        let kind = match kind {
            TermKind::Var(var) => match functions.once.remove(&var) {
                Some(function) => return function,
                None => match functions.constants.get(&var) {
                    Some(constant) => return constant.clone(),
                    None => TermKind::Var(var),
                },
            },
            TermKind::Real(_) | TermKind::Int(_) | TermKind::Bool(_) | TermKind::String(_) => kind,
            TermKind::Lam(var, ty, body) => TermKind::Lam(var, ty, go(body)),
            TermKind::App(func, arg) => {
                let mut args = vec![(go(arg), span)];
                let mut head = unshared(func);
                while let TermKind::App(func, arg) = head.kind {
                    args.push((go(arg), head.span));
                    head = unshared(func);
                }
                args.reverse();
                let args = args.into_iter().map(|(arg, span)| (unshared(arg), span)).collect();
                return apply(inline(head, functions), args);
            }
            TermKind::Let(var, ty, value, body) => TermKind::Let(var, ty, go(value), go(body)),
            TermKind::LetRec(bindings, body) => {
                let bindings = bindings
                    .into_iter()
                    .map(|(var, ty, value)| (var, ty, inline(value, functions)))
                    .collect();
                TermKind::LetRec(bindings, Rc::new(inline(unshared(body), functions)))
            }
            TermKind::If(cond, then, otherwise) => TermKind::If(go(cond), go(then), go(otherwise)),
            TermKind::Tuple(items) => TermKind::Tuple(inline_all(items, functions)),
            TermKind::Proj(tuple, index, count) => TermKind::Proj(go(tuple), index, count),
            TermKind::Prim(prim, args) => TermKind::Prim(prim, inline_all(args, functions)),
            TermKind::Derive(operator, args) => TermKind::Derive(operator, inline_all(args, functions)),
            TermKind::Ctor(index, fields) => TermKind::Ctor(index, inline_all(fields, functions)),
            TermKind::Case(scrutinee, arms) => {
                let scrutinee = go(scrutinee);
                let arms = arms.into_iter().map(|(vars, body)| (vars, inline(body, functions))).collect();
                TermKind::Case(scrutinee, arms)
            }
            TermKind::Array(items) => TermKind::Array(inline_all(items, functions)),
        };
        Term { kind, ty, span }
    })
}

fn inline_all(terms: Vec<Term>, functions: &mut Inlined) -> Vec<Term> {
    terms.into_iter().map(|term| inline(term, functions)).collect()
}

fn unshared(term: Rc<Term>) -> Term {
    Rc::try_unwrap(term).unwrap_or_else(|shared| Term::clone(&shared))
}

/// The strongly connected components, those first that others need: Tarjan's algorithm on a stack of its own.
pub(super) fn components(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut search = Search {
        number: vec![None; edges.len()],
        low: vec![0; edges.len()],
        open: Vec::new(),
        is_open: FxHashSet::default(),
        next: 0,
        found: Vec::new(),
    };
    for start in 0..edges.len() {
        search.from(start, edges);
    }
    search.found
}

struct Search {
    number: Vec<Option<usize>>,
    low: Vec<usize>,
    open: Vec<usize>,
    is_open: FxHashSet<usize>,
    next: usize,
    found: Vec<Vec<usize>>,
}

#[expect(clippy::indexing_slicing, reason = "nodes are the places of `edges`, and all lists are as long")]
impl Search {
    fn from(&mut self, start: usize, edges: &[Vec<usize>]) {
        let mut path = Vec::new();
        if self.number[start].is_none() {
            self.enter(start);
            path.push((start, 0));
        }
        while let Some((node, edge)) = path.pop() {
            if let Some(&to) = edges[node].get(edge) {
                path.push((node, edge + 1));
                match self.number[to] {
                    None => {
                        self.enter(to);
                        path.push((to, 0));
                    }
                    Some(number) if self.is_open.contains(&to) => self.low[node] = self.low[node].min(number),
                    Some(_) => {}
                }
                continue;
            }
            if let Some((above, _)) = path.last() {
                self.low[*above] = self.low[*above].min(self.low[node]);
            }
            if self.number[node] == Some(self.low[node]) {
                self.close(node);
            }
        }
    }

    fn enter(&mut self, node: usize) {
        self.number[node] = Some(self.next);
        self.low[node] = self.next;
        self.next += 1;
        self.open.push(node);
        self.is_open.insert(node);
    }

    fn close(&mut self, node: usize) {
        let mut component = Vec::new();
        while let Some(member) = self.open.pop() {
            self.is_open.remove(&member);
            component.push(member);
            if member == node {
                break;
            }
        }
        component.sort_unstable();
        self.found.push(component);
    }
}
