//! A simple program as text, close to the surface language: for tests and for whoever works on a translation.
//!
//! `let x = 1.0 in (+ x (sin x))`: primitives stand before their arguments, variables that share a name are told apart
//! by a number, `x` and `x2`.

use crate::simple::{Derive, Program, Term, TermKind, Ty, Var};
use rustc_hash::FxHashMap;
use wengert_base::{Name, real};

/// The program's term.
pub fn show(program: &Program) -> String {
    let mut shower =
        Shower { program, names: FxHashMap::default(), used: FxHashMap::default(), out: String::new() };
    shower.term(&program.term);
    shower.out
}

struct Shower<'p> {
    program: &'p Program,
    names: FxHashMap<Var, String>,
    used: FxHashMap<Name, usize>,
    out: String,
}

impl Shower<'_> {
    fn name(&mut self, var: Var) -> String {
        if let Some(known) = self.names.get(&var) {
            return known.clone();
        }
        let count = self.used.entry(var.name).or_default();
        *count += 1;
        let name = if *count == 1 { var.name.to_string() } else { format!("{}{count}", var.name) };
        self.names.insert(var, name.clone());
        name
    }

    fn text(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn bound(&mut self, var: Var) {
        let name = self.name(var);
        self.text(&name);
    }

    fn term(&mut self, term: &Term) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || self.term_inner(term));
    }

    /// A term that stands as an argument.
    fn atom(&mut self, term: &Term) {
        let closed = match &term.kind {
            TermKind::Var(_)
            | TermKind::Real(_)
            | TermKind::Int(_)
            | TermKind::Bool(_)
            | TermKind::String(_)
            | TermKind::Tuple(_)
            | TermKind::Proj(..)
            | TermKind::Array(_) => true,
            TermKind::Ctor(_, fields) => fields.is_empty(),
            TermKind::Lam(..)
            | TermKind::App(..)
            | TermKind::Let(..)
            | TermKind::LetRec(..)
            | TermKind::If(..)
            | TermKind::Prim(..)
            | TermKind::Derive(..)
            | TermKind::Case(..) => false,
        };
        if closed {
            return self.term(term);
        }
        self.text("(");
        self.term(term);
        self.text(")");
    }

    fn term_inner(&mut self, term: &Term) {
        match &term.kind {
            TermKind::Var(var) => self.bound(*var),
            TermKind::Real(x) => self.text(&real::show(*x)),
            TermKind::Int(n) => self.text(&n.to_string()),
            TermKind::Bool(b) => self.text(if *b { "true" } else { "false" }),
            TermKind::String(text) => self.text(&format!("{text:?}")),
            TermKind::Lam(var, _, body) => {
                self.text("\\");
                self.bound(*var);
                self.text(" -> ");
                self.term(body);
            }
            TermKind::App(func, arg) => {
                if matches!(func.kind, TermKind::App(..)) {
                    self.term(func)
                } else {
                    self.atom(func)
                }
                self.text(" ");
                self.atom(arg);
            }
            TermKind::Let(var, _, value, body) => {
                self.text("let ");
                self.bound(*var);
                self.text(" = ");
                self.term(value);
                self.text(" in ");
                self.term(body);
            }
            TermKind::LetRec(bindings, body) => self.let_rec(bindings, body),
            TermKind::If(cond, then, otherwise) => {
                for (word, part) in [("if ", cond), (" then ", then), (" else ", otherwise)] {
                    self.text(word);
                    self.term(part);
                }
            }
            TermKind::Tuple(items) => self.list("(", items, ")"),
            TermKind::Array(items) => self.list("[", items, "]"),
            TermKind::Proj(tuple, index, _) => {
                self.atom(tuple);
                self.text(&format!(".{index}"));
            }
            TermKind::Prim(prim, args) => self.call(prim.info().name, args),
            TermKind::Derive(operator, args) => self.call(name_of(*operator), args),
            TermKind::Ctor(index, fields) => {
                let name = self.constructor(term, *index as usize);
                self.call(&name, fields);
            }
            TermKind::Case(scrutinee, arms) => self.case(scrutinee, arms),
        }
    }

    fn let_rec(&mut self, bindings: &[(Var, Ty, Term)], body: &Term) {
        for (index, (var, _, value)) in bindings.iter().enumerate() {
            self.text(if index == 0 { "let rec " } else { " and " });
            self.bound(*var);
            self.text(" = ");
            self.term(value);
        }
        self.text(" in ");
        self.term(body);
    }

    fn case(&mut self, scrutinee: &Term, arms: &[(Vec<(Var, Ty)>, Term)]) {
        self.text("case ");
        self.term(scrutinee);
        self.text(" of");
        for (index, (vars, body)) in arms.iter().enumerate() {
            self.text(" | ");
            let name = self.constructor(scrutinee, index);
            self.text(&name);
            for (var, _) in vars {
                self.text(" ");
                self.bound(*var);
            }
            self.text(" -> ");
            if matches!(body.kind, TermKind::Case(..)) { self.atom(body) } else { self.term(body) }
        }
    }

    fn call(&mut self, name: &str, args: &[Term]) {
        self.text(name);
        for arg in args {
            self.text(" ");
            self.atom(arg);
        }
    }

    fn list(&mut self, open: &str, items: &[Term], close: &str) {
        self.text(open);
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.text(", ");
            }
            self.term(item);
        }
        self.text(close);
    }

    fn constructor(&self, term: &Term, index: usize) -> String {
        let data = self.program.data.get(&term.ty);
        data.and_then(|data| data.ctors.get(index)).map_or_else(|| "?".into(), |(name, _)| name.to_string())
    }
}

/// The name of an operator as in the surface language.
pub fn name_of(operator: Derive) -> &'static str {
    match operator {
        Derive::Grad => "grad",
        Derive::ValueAndGrad => "value_and_grad",
        Derive::Derivative => "derivative",
        Derive::Jvp => "jvp",
        Derive::Vjp => "vjp",
        Derive::Pullback => "pullback",
    }
}
