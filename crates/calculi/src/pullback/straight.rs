//! A function on Rⁿ as a function symbol of F: its body is run on symbols, and what is left of it is a straight-line program
//! over the primitives, *easily differentiable* in the sense of Figure 1, so that `J f · t` has a meaning.

use super::func::{Def, Func, Instr};
use super::subst::deep;
use super::syntax::{Kind, Pat, PatKind, Term};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use wengert_prim::RealOp;

/// Instructions at most.
const MAX_CODE: usize = 20_000;

/// A symbolic value.
#[derive(Clone)]
enum Wire {
    /// The result of an instruction.
    Number(usize),
    /// A pair.
    Pair(Rc<(Wire, Wire)>),
    /// A function and what its variables stand for.
    Function(Rc<(Pat, Term, Env)>),
}

/// What variables stand for: a list, newest first.
#[derive(Clone, Default)]
struct Env(Option<Rc<(u32, Wire, Env)>>);

impl Env {
    fn with(&self, id: u32, wire: Wire) -> Env {
        Env(Some(Rc::new((id, wire, self.clone()))))
    }

    fn get(&self, id: u32) -> Option<Wire> {
        let mut at = self;
        while let Some(entry) = &at.0 {
            if entry.0 == id {
                return Some(entry.1.clone());
            }
            at = &entry.2;
        }
        None
    }

    fn matched(&self, pat: &Pat, wire: &Wire) -> Option<Env> {
        match (pat.kind(), wire) {
            (PatKind::Var(var), _) => Some(self.with(var.id(), wire.clone())),
            (PatKind::Pair(a, b), Wire::Pair(parts)) => self.matched(a, &parts.0)?.matched(b, &parts.1),
            (PatKind::Pair(..), Wire::Number(_) | Wire::Function(_)) => None,
        }
    }
}

/// `λpat.body` as the function symbol `name`; `None` if it is no function between vectors made of primitives.
/// Variables that are free in it stand for the terms in `known`.
pub(crate) fn symbol(name: &str, pat: &Pat, body: &Term, known: &FxHashMap<u32, Term>) -> Option<Func> {
    let inputs = usize::try_from(pat.ty().width()?).ok()?;
    body.ty().width()?;
    let mut program = Program { code: Vec::new(), known };
    let argument = program.input(pat.ty())?;
    let env = Env::default().matched(pat, &argument)?;
    let result = program.run(body, &env)?;
    let mut outputs = Vec::new();
    flat(&result, &mut outputs)?;
    let text =
        format!("fun {name} = {}", super::print::print_marked(body, None, super::print::Notation::Typed).0);
    Some(Func::Defined(Rc::new(Def { name: name.to_string(), inputs, code: program.code, outputs, text })))
}

/// A program under construction.
struct Program<'a> {
    code: Vec<Instr>,
    known: &'a FxHashMap<u32, Term>,
}

impl Program<'_> {
    fn input(&mut self, ty: &super::syntax::Type) -> Option<Wire> {
        match ty.kind() {
            super::syntax::TypeKind::Product(a, b) => {
                let first = self.input(a)?;
                Some(Wire::Pair(Rc::new((first, self.input(b)?))))
            }
            super::syntax::TypeKind::Real => self.emit(Instr::Input(self.code.len())),
            super::syntax::TypeKind::Function(..) | super::syntax::TypeKind::Dual(_) => None,
        }
    }

    fn emit(&mut self, instr: Instr) -> Option<Wire> {
        self.code.push(instr);
        (self.code.len() <= MAX_CODE).then(|| Wire::Number(self.code.len() - 1))
    }

    fn run(&mut self, term: &Term, env: &Env) -> Option<Wire> {
        deep(|| match term.kind() {
            Kind::Var(var) => match env.get(var.id()) {
                Some(wire) => Some(wire),
                None => {
                    let known = self.known.get(&var.id())?.clone();
                    self.run(&known, &Env::default())
                }
            },
            Kind::Real(x) => self.emit(Instr::Const(*x)),
            Kind::Pair(a, b) => {
                let first = self.run(a, env)?;
                Some(Wire::Pair(Rc::new((first, self.run(b, env)?))))
            }
            Kind::Proj(index, a) => match self.run(a, env)? {
                Wire::Pair(parts) => Some(if *index == 1 { parts.0.clone() } else { parts.1.clone() }),
                Wire::Number(_) | Wire::Function(_) => None,
            },
            Kind::Lam(pat, body) => Some(Wire::Function(Rc::new((pat.clone(), body.clone(), env.clone())))),
            Kind::Let(var, value, body) => {
                let value = self.run(value, env)?;
                self.run(body, &env.with(var.id(), value))
            }
            Kind::App(f, a) => {
                let (f, a) = (self.run(f, env)?, self.run(a, env)?);
                let Wire::Function(closure) = f else { return None };
                self.run(&closure.1, &closure.2.matched(&closure.0, &a)?)
            }
            Kind::Fun(Func::Prim(op), a) => {
                let argument = self.run(a, env)?;
                let mut args = Vec::new();
                flat(&argument, &mut args)?;
                (args.len() == op.arity()).then_some(())?;
                self.emit(Instr::Op(*op, args))
            }
            Kind::Sum(a, b) => match (self.run(a, env)?, self.run(b, env)?) {
                (Wire::Number(a), Wire::Number(b)) => self.emit(Instr::Op(RealOp::Add, vec![a, b])),
                _ => None,
            },
            _ => None,
        })
    }
}

fn flat(wire: &Wire, numbers: &mut Vec<usize>) -> Option<()> {
    match wire {
        Wire::Number(number) => numbers.push(*number),
        Wire::Pair(parts) => {
            flat(&parts.0, numbers)?;
            flat(&parts.1, numbers)?;
        }
        Wire::Function(_) => return None,
    }
    Some(())
}
