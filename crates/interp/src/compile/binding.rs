//! `let`, `let rec` and lambdas.
//!
//! A `let` whose scheme has `Num` variables is compiled once for each instantiation that its scope asks for: the scope
//! is compiled first, which finds out what is asked for, and the values are put before it. (Jumps are relative, so
//! blocks can be put together.)
//!
//! The functions of a recursive group share what they capture, so one of them finds another by its code alone.

use super::function::{Block, Captures, Nums, Place, VarKey};
use super::instr::{CodeId, Instr, Member, NumType, Operand};
use super::library::num_params;
use super::lower::{Lowering, Target, lambda_parameters};
use crate::value::{Fields, Fun, Value};
use std::rc::Rc;
use wengert_base::{Name, Span};
use wengert_core::{RecBinding, Scheme, Term, TermKind, Var};

/// A function of a group: how it is called, its code, how many arguments it takes.
struct Entry<'t> {
    binding: &'t RecBinding,
    code: CodeId,
    arity: u32,
}

impl Lowering<'_> {
    /// `let var : scheme = value in body`
    pub(crate) fn let_in(&mut self, var: Var, scheme: &Scheme, value: &Term, body: &Term, target: Target) {
        let params: Rc<[usize]> = num_params(&scheme.params).collect();
        if params.is_empty() {
            let operand = self.named_operand(value, var.name);
            self.current().scope.insert(var.id, Place::At(operand));
            return self.term(body, target);
        }
        let place = Place::PerInstance { params: params.clone(), registers: Vec::new() };
        self.current().scope.insert(var.id, place);
        let before = std::mem::take(&mut self.current().block);
        self.term(body, target);
        let scope = std::mem::replace(&mut self.current().block, before);
        let mut instances = self.instances(var.id);
        if instances.is_empty() && !matches!(value.kind, TermKind::Lam { .. }) {
            // Nobody asks, but the language is strict.
            instances.push((params.iter().map(|_| NumType::Int).collect(), self.current().register()));
        }
        for (nums, register) in instances {
            self.instantiate(scheme, &params, &nums);
            let operand = self.named_operand(value, var.name);
            self.emit(value.span, Instr::Move { dst: register, src: operand });
        }
        self.append(scope);
    }

    /// `let rec … in body`
    pub(crate) fn let_rec(&mut self, bindings: &[RecBinding], body: &Term, target: Target) {
        // All functions of a group have the same parameters.
        let none = Scheme { params: Vec::new(), ty: wengert_core::Type::unit() };
        let scheme = bindings.first().map_or(&none, |binding| &binding.scheme);
        let params: Rc<[usize]> = num_params(&scheme.params).collect();
        for binding in bindings {
            let place = Place::PerInstance { params: params.clone(), registers: Vec::new() };
            self.current().scope.insert(binding.var.id, place);
        }
        let before = std::mem::take(&mut self.current().block);
        self.term(body, target);
        let scope = std::mem::replace(&mut self.current().block, before);
        let mut asked: Vec<(Nums, Vec<(u32, u32)>)> = Vec::new();
        for binding in bindings {
            for (nums, register) in self.instances(binding.var.id) {
                match asked.iter_mut().find(|(known, _)| *known == nums) {
                    Some((_, registers)) => registers.push((binding.var.id, register)),
                    None => asked.push((nums, vec![(binding.var.id, register)])),
                }
            }
        }
        for (nums, registers) in asked {
            self.instantiate(scheme, &params, &nums);
            self.group(bindings, &registers);
        }
        self.append(scope);
    }

    /// Compiles a group once, and puts the functions that are asked for into their registers.
    fn group(&mut self, bindings: &[RecBinding], registers: &[(u32, u32)]) {
        let entries: Vec<Entry<'_>> = bindings
            .iter()
            .map(|binding| {
                let arity = lambda_parameters(&binding.value).0.len() as u32;
                Entry { binding, code: self.library.reserve_code(), arity }
            })
            .collect();
        let mut captures = Captures::default();
        for entry in &entries {
            let (params, body) = lambda_parameters(&entry.binding.value);
            let (code, used) = self.function(entry.binding.var.name, &params, body, captures, |function| {
                for Entry { binding, code, arity } in &entries {
                    function.scope.insert(binding.var.id, Place::Sibling { code: *code, arity: *arity });
                }
            });
            captures = used;
            self.library.set_code(entry.code, Rc::new(code));
        }
        let span = bindings.first().map_or(Span::NOWHERE, |binding| binding.value.span);
        let captured = self.captured(captures, span);
        let captured = self.current().operands(captured);
        let members: Vec<Member> = registers
            .iter()
            .filter_map(|(id, dst)| {
                let entry = entries.iter().find(|entry| entry.binding.var.id == *id)?;
                Some(Member { code: entry.code, dst: *dst })
            })
            .collect();
        let members = self.current().members(members);
        self.emit(span, Instr::Group { captured, members });
    }

    /// A lambda as a value. One that captures nothing is a constant.
    pub(crate) fn lambda(&mut self, term: &Term, name: Name) -> Operand {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let (params, body) = lambda_parameters(term);
            let (code, captures) = self.function(name, &params, body, Captures::default(), |_| {});
            let code = Rc::new(code);
            if captures.keys.is_empty() {
                let function = Fun::Closure { code, captured: Rc::new(Fields::default()) };
                return Operand::Const(self.current().constant(Value::Fun(Rc::new(function))));
            }
            let id = self.library.reserve_code();
            self.library.set_code(id, code);
            let captured = self.captured(captures, term.span);
            let captured = self.current().operands(captured);
            let dst = self.current().register();
            self.emit(term.span, Instr::Closure { dst, code: id, captured });
            Operand::Local(dst)
        })
    }

    /// Compiles a term to an operand; a lambda gets that name.
    fn named_operand(&mut self, term: &Term, name: Name) -> Operand {
        if matches!(term.kind, TermKind::Lam { .. }) { self.lambda(term, name) } else { self.operand(term) }
    }

    /// Where the innermost function finds what a function inside it captures.
    fn captured(&mut self, captures: Captures, span: Span) -> Vec<Operand> {
        let depth = self.functions.len().saturating_sub(1);
        captures.keys.iter().map(|key: &VarKey| self.resolve(depth, key, span)).collect()
    }

    fn instances(&mut self, id: u32) -> Vec<(Nums, u32)> {
        match self.current().scope.get(&id) {
            Some(Place::PerInstance { registers, .. }) => registers.clone(),
            Some(Place::At(_) | Place::Sibling { .. }) | None => Vec::new(),
        }
    }

    fn instantiate(&mut self, scheme: &Scheme, params: &[usize], nums: &Nums) {
        for (i, num) in params.iter().zip(nums) {
            if let Some(param) = scheme.params.get(*i) {
                self.nums.insert(param.name, *num);
            }
        }
    }

    fn append(&mut self, block: Block) {
        let current = &mut self.current().block;
        current.instrs.extend(block.instrs);
        current.spans.extend(block.spans);
    }
}
