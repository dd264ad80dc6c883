//! Simplification of the higher-order program, so that fewer functions are values and the code reads well.
//!
//! The language is strict, and a call may fail or not end, so nothing moves across anything else; only functions are
//! copied or dropped, which costs nothing at run time.
//!
//! - A call of a lambda becomes `let`s: `(\x y -> b) a c` is `let x = a in let y = c in b`.
//! - A function that is mentioned once goes where it is mentioned; one that is not mentioned goes away.
//! - A call that gives a function a known function is replaced by the function's body ("known": a lambda, or the name of
//!   one). So `newton (\x -> x ^ 2 - 2) 1` becomes a loop without function values. The same where the result is a function.
//! - A recursive function that hands a function parameter on unchanged is split: `fold f z xs` becomes a function that
//!   is not recursive around a recursive one without the parameter ([`statics`]), and the rule before applies.
//! - A known function with too few arguments becomes a lambda of the missing ones, and a `let` of a tuple that holds
//!   functions becomes a `let` for each component.
//!
//! Passes repeat until nothing changes, at most [`PASSES`] times; copies are made within a budget.

#![expect(clippy::wildcard_enum_match_arm, reason = "the terms for which there is a rule are named")]

mod copy;
mod statics;

pub(crate) use copy::dismantle;
use copy::{Copies, contains_function, size};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use wengert_base::{Name, SourceId, Span};
use wengert_mono::simple::{Notes, Program, Term, TermKind, Ty, Var};

/// How often the program is gone through.
const PASSES: usize = 8;
/// A function of this size or larger is not copied.
const LARGEST: usize = 3_000;
/// A function without function parameters whose result is a function is copied if it is smaller than this.
const LARGEST_MAKER: usize = 300;
/// Copies grow the program by so many nodes at most, and a multiple of its size.
const GROWTH: usize = 20_000;

/// The program, simplified; what is noted on variables is noted on their copies, too.
pub fn simplify(program: &Program, notes: &mut Notes, is_library: &dyn Fn(SourceId) -> bool) -> Program {
    let mut term = program.term.clone();
    let mut simplifier = Simplifier {
        copies: Copies::above(&term, notes),
        uses: FxHashMap::default(),
        known: FxHashMap::default(),
        once: FxHashMap::default(),
        recursive: FxHashMap::default(),
        aliases: FxHashMap::default(),
        limit: 0,
        budget: GROWTH + 3 * size(&term),
        changed: false,
        is_library,
    };
    for _ in 0..PASSES {
        simplifier.changed = false;
        simplifier.limit = simplifier.copies.next();
        simplifier.uses = copy::uses(&term);
        simplifier.known.clear();
        simplifier.once.clear();
        simplifier.aliases.clear();
        let simplified = simplifier.term(&term);
        dismantle(std::mem::replace(&mut term, simplified));
        if !simplifier.changed {
            break;
        }
    }
    Program { term, data: program.data.clone() }
}

struct Simplifier<'a> {
    copies: Copies<'a>,
    uses: FxHashMap<Var, usize>,
    /// Names of lambdas.
    known: FxHashMap<Var, Term>,
    /// Lambdas that are mentioned once, on their way there.
    once: FxHashMap<Var, Term>,
    /// Recursive functions with their types.
    recursive: FxHashMap<Var, usize>,
    /// What stands for a variable: another one, or a tuple of variables.
    aliases: FxHashMap<Var, Term>,
    /// Variables from here on were made in this pass.
    limit: u32,
    budget: usize,
    changed: bool,
    is_library: &'a dyn Fn(SourceId) -> bool,
}

impl Simplifier<'_> {
    fn term(&mut self, term: &Term) -> Term {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || self.term_inner(term))
    }

    fn shared(&mut self, term: &Term) -> Rc<Term> {
        Rc::new(self.term(term))
    }

    fn all(&mut self, terms: &[Term]) -> Vec<Term> {
        terms.iter().map(|term| self.term(term)).collect()
    }

    fn term_inner(&mut self, term: &Term) -> Term {
        let kind = match &term.kind {
            TermKind::Var(var) => return self.variable(*var, term),
            TermKind::Real(_) | TermKind::Int(_) | TermKind::Bool(_) | TermKind::String(_) => {
                term.kind.clone()
            }
            TermKind::Lam(var, ty, body) => TermKind::Lam(*var, ty.clone(), self.shared(body)),
            TermKind::App(..) => {
                let mut args = Vec::new();
                let mut head = term;
                while let TermKind::App(func, arg) = &head.kind {
                    args.push((arg, head.span));
                    head = func;
                }
                let head = match &head.kind {
                    // A name in front of its arguments is looked at together with them.
                    TermKind::Var(var) if !self.once.contains_key(var) && !self.aliases.contains_key(var) => {
                        head.clone()
                    }
                    _ => self.term(head),
                };
                let args = args.into_iter().rev().map(|(arg, span)| (self.term(arg), span)).collect();
                return self.call(head, args);
            }
            TermKind::Let(var, ty, value, body) => {
                let value = self.term(value);
                return self.bind(*var, ty.clone(), value, body, term.span);
            }
            TermKind::LetRec(bindings, body) => return self.let_rec(bindings, body, term.span),
            TermKind::If(cond, then, otherwise) => {
                TermKind::If(self.shared(cond), self.shared(then), self.shared(otherwise))
            }
            TermKind::Tuple(items) => TermKind::Tuple(self.all(items)),
            TermKind::Proj(tuple, index, count) => {
                let tuple = self.term(tuple);
                if let TermKind::Tuple(items) = &tuple.kind
                    && items.iter().all(|item| matches!(item.kind, TermKind::Var(_)))
                    && let Some(item) = items.get(*index)
                {
                    return item.clone();
                }
                TermKind::Proj(Rc::new(tuple), *index, *count)
            }
            TermKind::Prim(prim, args) => TermKind::Prim(*prim, self.all(args)),
            TermKind::Derive(operator, args) => TermKind::Derive(*operator, self.all(args)),
            TermKind::Ctor(index, fields) => TermKind::Ctor(*index, self.all(fields)),
            TermKind::Case(scrutinee, arms) => {
                let scrutinee = self.term(scrutinee);
                return self.case(scrutinee, arms, term);
            }
            TermKind::Array(items) => TermKind::Array(self.all(items)),
        };
        Term { kind, ty: term.ty.clone(), span: term.span }
    }

    /// How often a variable was mentioned when the pass began; of those made since nothing is known.
    fn mentions(&self, var: Var) -> usize {
        let known = var.id < self.limit;
        self.uses.get(&var).copied().unwrap_or(if known { 0 } else { usize::MAX })
    }

    fn variable(&mut self, var: Var, term: &Term) -> Term {
        if let Some(lambda) = self.once.remove(&var) {
            self.changed = true;
            return lambda;
        }
        match self.aliases.get(&var) {
            Some(alias) => Term { span: term.span, ..alias.clone() },
            None => term.clone(),
        }
    }

    /// `let var = value in body`, of which `body` is still to be simplified.
    fn bind(&mut self, var: Var, ty: Ty, value: Term, body: &Term, span: Span) -> Term {
        match value.kind {
            // `let x = (let y = a in b) in c` is `let y = a in let x = b in c`.
            TermKind::Let(inner, inner_ty, first, rest) if !self.copies.checks_size(inner) => {
                let whole = self.bind(var, ty, unshared(rest), body, span);
                let ty = whole.ty.clone();
                return Term {
                    kind: TermKind::Let(inner, inner_ty, first, Rc::new(whole)),
                    ty,
                    span: value.span,
                };
            }
            TermKind::LetRec(bindings, rest) => {
                let whole = self.bind(var, ty, unshared(rest), body, span);
                let ty = whole.ty.clone();
                return Term { kind: TermKind::LetRec(bindings, Rc::new(whole)), ty, span: value.span };
            }
            TermKind::Lam(..) => match self.mentions(var) {
                0 => {
                    self.changed = true;
                    return self.term(body);
                }
                1 => {
                    self.copies.name(&value, var.name);
                    self.once.insert(var, value);
                    let body = self.term(body);
                    // What is left was mentioned in something that went away.
                    self.once.remove(&var);
                    return body;
                }
                _ => {
                    self.copies.name(&value, var.name);
                    self.known.insert(var, value.clone());
                }
            },
            TermKind::Var(_) if matches!(ty, Ty::Fun(..)) => {
                self.aliases.insert(var, value);
                return self.term(body);
            }
            TermKind::Tuple(_) if contains_function(&ty) => return self.bind_tuple(var, value, body, span),
            _ => {}
        }
        let body = self.term(body);
        let whole = body.ty.clone();
        Term { kind: TermKind::Let(var, ty, Rc::new(value), Rc::new(body)), ty: whole, span }
    }

    /// A `let` of a tuple that holds functions: a `let` for each component.
    fn bind_tuple(&mut self, var: Var, value: Term, body: &Term, span: Span) -> Term {
        let TermKind::Tuple(items) = value.kind else { return self.term(body) };
        let mut parts = Vec::with_capacity(items.len());
        let mut lets = Vec::new();
        for item in items {
            if let TermKind::Var(_) = item.kind {
                parts.push(item);
                continue;
            }
            let part = self.copies.fresh(var.name);
            parts.push(Term { kind: TermKind::Var(part), ty: item.ty.clone(), span: item.span });
            lets.push((part, item));
        }
        self.changed |= !lets.is_empty();
        let tuple = Term { kind: TermKind::Tuple(parts), ty: value.ty, span: value.span };
        self.aliases.insert(var, tuple);
        let mut whole = self.term(body);
        for (part, item) in lets.into_iter().rev() {
            let ty = whole.ty.clone();
            let kind = TermKind::Let(part, item.ty.clone(), Rc::new(item), Rc::new(whole));
            whole = Term { kind, ty, span };
        }
        whole
    }

    fn let_rec(&mut self, bindings: &[(Var, Ty, Term)], body: &Term, span: Span) -> Term {
        if bindings.iter().all(|(var, ..)| self.mentions(*var) == 0) {
            self.changed = true;
            return self.term(body);
        }
        if let [(var, ty, value)] = bindings
            && let Some(function) = statics::split(&mut self.copies, *var, value)
        {
            self.changed = true;
            let function = self.term(&function);
            // It is used as often as before, but for the calls inside, which are of the new function.
            self.known.insert(*var, function.clone());
            let body = self.term(body);
            let whole = body.ty.clone();
            let kind = TermKind::Let(*var, ty.clone(), Rc::new(function), Rc::new(body));
            return Term { kind, ty: whole, span };
        }
        for (var, _, value) in bindings {
            self.recursive.insert(*var, parameters(value));
        }
        let bindings = bindings.iter().map(|(var, ty, value)| (*var, ty.clone(), self.term(value))).collect();
        let body = self.term(body);
        let ty = body.ty.clone();
        Term { kind: TermKind::LetRec(bindings, Rc::new(body)), ty, span }
    }

    /// Case analysis of a constructor is settled.
    fn case(&mut self, scrutinee: Term, arms: &[(Vec<(Var, Ty)>, Term)], term: &Term) -> Term {
        match scrutinee.kind {
            TermKind::Let(var, ty, value, rest) => {
                let whole = self.case(unshared(rest), arms, term);
                let kind = TermKind::Let(var, ty, value, Rc::new(whole));
                Term { kind, ty: term.ty.clone(), span: scrutinee.span }
            }
            TermKind::Ctor(index, fields) => {
                self.changed = true;
                let Some((vars, body)) = arms.get(index as usize) else { return term.clone() };
                let lets: Vec<_> =
                    vars.iter().zip(fields).map(|((var, ty), field)| (*var, ty.clone(), field)).collect();
                self.bind_all(lets, body, term.span)
            }
            _ => {
                let arms = arms.iter().map(|(vars, body)| (vars.clone(), self.term(body))).collect();
                let kind = TermKind::Case(Rc::new(scrutinee), arms);
                Term { kind, ty: term.ty.clone(), span: term.span }
            }
        }
    }

    /// `let`s around a body that is still to be simplified.
    fn bind_all(&mut self, mut lets: Vec<(Var, Ty, Term)>, body: &Term, span: Span) -> Term {
        let Some((var, ty, value)) = (if lets.is_empty() { None } else { Some(lets.remove(0)) }) else {
            return self.term(body);
        };
        // The later values are evaluated before the body, and do not mention the variable.
        let rest = lets.into_iter().rev().fold(body.clone(), |body, (var, ty, value)| {
            let whole = body.ty.clone();
            Term { kind: TermKind::Let(var, ty, Rc::new(value), Rc::new(body)), ty: whole, span }
        });
        self.bind(var, ty, value, &rest, span)
    }

    /// A call of something simplified with simplified arguments, each with the place of its call.
    fn call(&mut self, head: Term, args: Vec<(Term, Span)>) -> Term {
        let span = args.last().map_or(head.span, |(_, span)| *span);
        match &head.kind {
            TermKind::Let(var, ty, value, rest) => {
                self.changed = true;
                let whole = self.call(rest.as_ref().clone(), args);
                let result = whole.ty.clone();
                let kind = TermKind::Let(*var, ty.clone(), Rc::clone(value), Rc::new(whole));
                return Term { kind, ty: result, span: head.span };
            }
            TermKind::LetRec(bindings, rest) => {
                self.changed = true;
                let whole = self.call(rest.as_ref().clone(), args);
                let result = whole.ty.clone();
                let kind = TermKind::LetRec(bindings.clone(), Rc::new(whole));
                return Term { kind, ty: result, span: head.span };
            }
            TermKind::Lam(..) => {
                self.changed = true;
                return self.beta(head, args, span);
            }
            TermKind::Var(var) => {
                if let Some(function) = self.worth_copying(*var, &args) {
                    self.changed = true;
                    let function = self.copies.copy(&function);
                    return self.beta(function, args, span);
                }
                let arity = self.known.get(var).map(parameters).or_else(|| self.recursive.get(var).copied());
                if arity.is_some_and(|arity| args.len() < arity) {
                    self.changed = true;
                    let missing = arity.unwrap_or_default() - args.len();
                    return self.expand(head, args, missing, span);
                }
            }
            _ => {}
        }
        apply(head, args)
    }

    /// The function to put in place of a call, if it gets better by that.
    fn worth_copying(&mut self, var: Var, args: &[(Term, Span)]) -> Option<Term> {
        let function = self.known.get(&var)?;
        let arity = parameters(function);
        if args.len() < arity {
            return None;
        }
        let gives = args.iter().any(|(arg, _)| self.is_known(arg));
        let mut result = &function.ty;
        for _ in 0..arity {
            if let Ty::Fun(_, to) = result {
                result = to;
            }
        }
        let makes = contains_function(result);
        let size = size(function);
        let small = size < if gives { LARGEST } else { LARGEST_MAKER };
        if !(gives || makes) || !small || size > self.budget {
            return None;
        }
        self.budget -= size;
        Some(function.clone())
    }

    /// Whether a term is a known function, or holds one.
    fn is_known(&self, term: &Term) -> bool {
        let mut todo = vec![term];
        while let Some(term) = todo.pop() {
            match &term.kind {
                TermKind::Lam(..) => return true,
                TermKind::Var(var) if self.known.contains_key(var) || self.recursive.contains_key(var) => {
                    return true;
                }
                TermKind::Let(_, _, _, body) | TermKind::LetRec(_, body) => todo.push(body),
                TermKind::Tuple(items) if contains_function(&term.ty) => todo.extend(items),
                _ => {}
            }
        }
        false
    }

    /// A lambda with its arguments.
    fn beta(&mut self, lambda: Term, args: Vec<(Term, Span)>, span: Span) -> Term {
        let library = (self.is_library)(lambda.span.source);
        let mut lets = Vec::new();
        let mut body = lambda;
        let mut args = args.into_iter();
        let mut rest = Vec::new();
        for (arg, at) in args.by_ref() {
            match body.kind {
                TermKind::Lam(var, ty, inner) => {
                    lets.push((var, ty, arg, at));
                    body = unshared(inner);
                }
                _ => {
                    rest.push((arg, at));
                    break;
                }
            }
        }
        rest.extend(args);
        if !rest.is_empty() {
            // All arguments are evaluated before the body.
            let mut named = Vec::with_capacity(rest.len());
            for (arg, at) in rest {
                let var = self.copies.fresh(Name::new("x"));
                named.push((Term { kind: TermKind::Var(var), ty: arg.ty.clone(), span: at }, at));
                lets.push((var, arg.ty.clone(), arg, at));
            }
            body = apply(body, named);
        }
        if library {
            body.span = span;
        }
        lets.into_iter().rev().fold(body, |body, (var, ty, value, at)| {
            let whole = body.ty.clone();
            Term { kind: TermKind::Let(var, ty, Rc::new(value), Rc::new(body)), ty: whole, span: at }
        })
    }

    /// A known function with too few arguments: `let a = … in \x -> f a x`.
    fn expand(&mut self, head: Term, args: Vec<(Term, Span)>, missing: usize, span: Span) -> Term {
        let mut lets = Vec::new();
        let mut given = Vec::with_capacity(args.len() + missing);
        let mut ty = head.ty.clone();
        for (arg, at) in args {
            let var = self.copies.fresh(Name::new("given"));
            given.push((Term { kind: TermKind::Var(var), ty: arg.ty.clone(), span: at }, at));
            lets.push((var, arg, at));
            ty = result(&ty);
        }
        let mut params = Vec::with_capacity(missing);
        for _ in 0..missing {
            let Ty::Fun(from, _) = &ty else { break };
            let from = from.as_ref().clone();
            let var = self.copies.fresh(Name::new("x"));
            given.push((Term { kind: TermKind::Var(var), ty: from.clone(), span }, span));
            params.push((var, from));
            ty = result(&ty);
        }
        let mut whole = apply(head, given);
        for (var, from) in params.into_iter().rev() {
            let ty = Ty::Fun(Rc::new(from.clone()), Rc::new(whole.ty.clone()));
            whole = Term { kind: TermKind::Lam(var, from, Rc::new(whole)), ty, span };
        }
        lets.into_iter().rev().fold(whole, |body, (var, value, at)| {
            let whole = body.ty.clone();
            let kind = TermKind::Let(var, value.ty.clone(), Rc::new(value), Rc::new(body));
            Term { kind, ty: whole, span: at }
        })
    }
}

/// How many parameters a function has at once.
fn parameters(mut function: &Term) -> usize {
    let mut count = 0;
    while let TermKind::Lam(_, _, body) = &function.kind {
        count += 1;
        function = body;
    }
    count
}

fn result(ty: &Ty) -> Ty {
    if let Ty::Fun(_, to) = ty { to.as_ref().clone() } else { ty.clone() }
}

/// Nested calls.
fn apply(head: Term, args: Vec<(Term, Span)>) -> Term {
    args.into_iter().fold(head, |func, (arg, span)| {
        let ty = result(&func.ty);
        Term { kind: TermKind::App(Rc::new(func), Rc::new(arg)), ty, span }
    })
}

fn unshared(term: Rc<Term>) -> Term {
    Rc::try_unwrap(term).unwrap_or_else(|shared| Term::clone(&shared))
}
