//! The computational graph of a program: what a derivative operator differentiates, as a graph of operations in which
//! what is shared is one node.
//!
//! The function of the outermost derivative operator is run on symbols: `let` names a node, a call of a known function goes
//! into it, a component of a tuple of nodes is that node. What depends on values (`if`, recursion, loops over arrays of
//! unknown length) is one node that uses what it is given.

use super::simple::{Program, Term, TermKind, Ty, Var};
use super::svg::{Graph, Kind};
use std::rc::Rc;
use wengert_base::{Name, real};

/// Nodes at most; a larger graph is no picture.
const MAX_NODES: usize = 400;
/// Calls inside of each other at most.
const MAX_CALLS: u32 = 200;

/// The graph of the first derivative in the program, or of the whole program.
pub fn graph(program: &Program) -> Graph {
    let mut drawing = Drawing { graph: Graph::default(), calls: 0 };
    let differentiated = first_derivative(&program.term);
    let result = match differentiated.map(|term| &term.kind) {
        Some(TermKind::Lam(var, ty, body)) => {
            let input = drawing.input(var.name.as_str(), ty);
            drawing.value(body, &Env::default().with(*var, input))
        }
        _ => drawing.value(&program.term, &Env::default()),
    };
    for node in drawing.nodes(&result) {
        if let Some((_, kind)) = drawing.graph.nodes.get_mut(node) {
            *kind = Kind::Output;
        }
    }
    drawing.graph
}

/// The function that is differentiated first, if it stands there itself or is bound to the name that stands there.
fn first_derivative(term: &Term) -> Option<&Term> {
    let mut stack = vec![term];
    let mut bound: Vec<(Var, &Term)> = Vec::new();
    while let Some(term) = stack.pop() {
        if let TermKind::Let(var, _, value, _) = &term.kind {
            bound.push((*var, value));
        }
        if let TermKind::Derive(_, args) = &term.kind {
            let func = args.first()?;
            let TermKind::Var(name) = &func.kind else { return Some(func) };
            return bound.iter().find(|(var, _)| var == name).map(|(_, value)| *value);
        }
        let children: Vec<&Term> = term.children().collect();
        stack.extend(children.into_iter().rev());
    }
    None
}

/// A symbolic value.
#[derive(Clone)]
enum Value {
    Node(usize),
    Tuple(Rc<Vec<Value>>),
    Function(Rc<(Var, Term, Env)>),
}

/// What variables stand for: a list, newest first.
#[derive(Clone, Default)]
struct Env(Option<Rc<(Var, Value, Env)>>);

impl Env {
    fn with(&self, var: Var, value: Value) -> Env {
        Env(Some(Rc::new((var, value, self.clone()))))
    }

    fn get(&self, var: Var) -> Option<Value> {
        let mut at = self;
        while let Some(entry) = &at.0 {
            if entry.0 == var {
                return Some(entry.1.clone());
            }
            at = &entry.2;
        }
        None
    }
}

struct Drawing {
    graph: Graph,
    calls: u32,
}

impl Drawing {
    /// A value of that type that is given.
    fn input(&mut self, name: &str, ty: &Ty) -> Value {
        match ty {
            Ty::Tuple(items) if items.len() < 20 => {
                let parts =
                    items.iter().enumerate().map(|(i, item)| self.input(&format!("{name}.{i}"), item));
                Value::Tuple(Rc::new(parts.collect()))
            }
            Ty::Real
            | Ty::Int
            | Ty::Bool
            | Ty::String
            | Ty::Tuple(_)
            | Ty::Array(_)
            | Ty::Fun(..)
            | Ty::Data(..)
            | Ty::Dual(_) => Value::Node(self.graph.node(name, Kind::Input, &[])),
        }
    }

    /// The nodes of a value.
    fn nodes(&self, value: &Value) -> Vec<usize> {
        let mut found = Vec::new();
        let mut stack = vec![value];
        while let Some(value) = stack.pop() {
            match value {
                Value::Node(node) => found.push(*node),
                Value::Tuple(items) => stack.extend(items.iter().rev()),
                Value::Function(_) => {}
            }
        }
        found
    }

    /// A node that uses these values.
    fn step(&mut self, text: &str, uses: &[Value]) -> Value {
        let uses: Vec<usize> = uses.iter().flat_map(|value| self.nodes(value)).collect();
        if self.graph.nodes.len() >= MAX_NODES {
            return uses.first().map_or_else(|| Value::Tuple(Rc::default()), |node| Value::Node(*node));
        }
        let kind = if uses.is_empty() { Kind::Constant } else { Kind::Step };
        Value::Node(self.graph.node(text, kind, &uses))
    }

    fn all(&mut self, terms: &[Term], env: &Env) -> Vec<Value> {
        terms.iter().map(|term| self.value(term, env)).collect()
    }

    fn value(&mut self, term: &Term, env: &Env) -> Value {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || self.value_inner(term, env))
    }

    fn value_inner(&mut self, term: &Term, env: &Env) -> Value {
        match &term.kind {
            TermKind::Var(var) => env.get(*var).unwrap_or_else(|| self.step(var.name.as_str(), &[])),
            TermKind::Real(x) => self.step(&real::show(*x), &[]),
            TermKind::Int(n) => self.step(&n.to_string(), &[]),
            TermKind::Bool(b) => self.step(&b.to_string(), &[]),
            TermKind::String(text) => self.step(&format!("{text:?}"), &[]),
            TermKind::Lam(var, _, body) => {
                Value::Function(Rc::new((*var, body.as_ref().clone(), env.clone())))
            }
            TermKind::App(func, arg) => {
                let func = self.value(func, env);
                let arg = self.value(arg, env);
                self.call(func, arg)
            }
            TermKind::Let(var, _, value, body) => {
                let value = self.value(value, env);
                self.rename(&value, var.name);
                self.value(body, &env.with(*var, value))
            }
            TermKind::LetRec(bindings, body) => {
                let names = bindings.iter().map(|(var, _, _)| *var);
                let inner =
                    names.fold(env.clone(), |env, var| env.with(var, self.step(var.name.as_str(), &[])));
                self.value(body, &inner)
            }
            TermKind::If(cond, then, otherwise) => {
                let parts = [self.value(cond, env), self.value(then, env), self.value(otherwise, env)];
                self.step("if", &parts)
            }
            TermKind::Tuple(items) => Value::Tuple(Rc::new(self.all(items, env))),
            TermKind::Proj(tuple, index, _) => {
                let tuple = self.value(tuple, env);
                match &tuple {
                    Value::Tuple(items) => items.get(*index).cloned().unwrap_or_else(|| tuple.clone()),
                    Value::Node(_) | Value::Function(_) => self.step(&format!(".{index}"), &[tuple]),
                }
            }
            TermKind::Prim(prim, args) => {
                let args = self.all(args, env);
                self.step(prim.info().name, &args)
            }
            TermKind::Derive(operator, args) => {
                let args = self.all(args, env);
                self.step(super::simple_show::name_of(*operator), &args)
            }
            TermKind::Ctor(_, fields) => {
                let fields = self.all(fields, env);
                self.step("constructor", &fields)
            }
            TermKind::Case(scrutinee, _) => {
                let scrutinee = self.value(scrutinee, env);
                self.step("match", &[scrutinee])
            }
            TermKind::Array(items) => {
                let items = self.all(items, env);
                self.step("array", &items)
            }
        }
    }

    fn call(&mut self, func: Value, arg: Value) -> Value {
        let Value::Function(closure) = &func else { return self.step("call", &[func, arg]) };
        if self.calls >= MAX_CALLS || self.graph.nodes.len() >= MAX_NODES {
            return self.step("…", &[arg]);
        }
        self.calls += 1;
        let (var, body, env) = closure.as_ref();
        let result = self.value(body, &env.with(*var, arg));
        self.calls -= 1;
        result
    }

    /// An input that has no name of its own gets the user's.
    fn rename(&mut self, value: &Value, name: Name) {
        if let Value::Node(node) = value
            && let Some((text, Kind::Input)) = self.graph.nodes.get_mut(*node)
            && text.contains('.')
        {
            *text = name.to_string();
        }
    }
}
