//! Terms to instructions.
//!
//! A term is compiled either to an operand, which needs no instruction for variables and constants, or to a target: a
//! register, or the result of the function, where calls become tail calls.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function names the terms and primitives that it treats in a way of its own"
)]

use super::function::{Captures, Function, Nums, PendingJump, Place, VarKey};
use super::instr::{Arith, Code, CodeId, Compare, InstanceId, Instr, NumType, Operand, Range};
use super::library::{Library, NumScope, num_of};
use crate::value::{Text, Value};
use std::rc::Rc;
use std::sync::Arc;
use wengert_base::{Name, Span};
use wengert_core::{Binder, Def, Lit, Term, TermKind, TypeArg};
use wengert_prim::{Prim, RealOp};

/// Where a result goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A register.
    Register(u32),
    /// The result of the function.
    Return,
}

/// Compiles one definition.
pub(crate) struct Lowering<'a> {
    /// Where other definitions and finished code are.
    pub(crate) library: &'a mut Library,
    /// What `Num` variables stand for.
    pub(crate) nums: NumScope,
    /// The functions under construction, from the outermost in.
    pub(crate) functions: Vec<Function>,
    /// The definition, for names of its anonymous functions.
    name: Name,
}

/// The parameters of directly nested lambdas, and the body inside them.
pub(crate) fn lambda_parameters(term: &Term) -> (Vec<&Binder>, &Term) {
    let mut params = Vec::new();
    let mut body = term;
    while let TermKind::Lam { param, body: inner } = &body.kind {
        params.push(param);
        body = inner;
    }
    (params, body)
}

impl<'a> Lowering<'a> {
    /// For a definition whose `Num` variables stand for `nums`.
    pub(crate) fn new(library: &'a mut Library, nums: NumScope) -> Lowering<'a> {
        Lowering { library, nums, functions: Vec::new(), name: Name::new("?") }
    }

    /// The code of a definition: of its function, or of its value.
    pub(crate) fn definition(&mut self, def: &Def) -> (Code, Captures) {
        self.name = def.name;
        let (params, body) = lambda_parameters(&def.body);
        self.function(def.name, &params, body, Captures::default(), |_| {})
    }

    /// The innermost function.
    pub(crate) fn current(&mut self) -> &mut Function {
        if self.functions.is_empty() {
            self.functions.push(Function::default());
        }
        self.functions.last_mut().expect("a function was pushed if there was none")
    }

    /// The code of a function; `prepare` may bind more in its scope.
    pub(crate) fn function(
        &mut self,
        name: Name,
        params: &[&Binder],
        body: &Term,
        captures: Captures,
        prepare: impl FnOnce(&mut Function),
    ) -> (Code, Captures) {
        let mut function = Function::default();
        function.captures = captures;
        prepare(&mut function);
        for param in params {
            let register = function.register();
            function.scope.insert(param.var.id, Place::At(Operand::Local(register)));
        }
        self.functions.push(function);
        self.term(body, Target::Return);
        let function = self.functions.pop().unwrap_or_default();
        function.finish(name, params.len() as u32)
    }

    /// The name for an anonymous function.
    pub(crate) fn anonymous(&self) -> Name {
        self.name
    }

    /// Emits into the innermost function.
    pub(crate) fn emit(&mut self, span: Span, instr: Instr) {
        self.current().emit(span, instr);
    }

    /// Compiles `term` to where its value can be read.
    pub(crate) fn operand(&mut self, term: &Term) -> Operand {
        match &term.kind {
            TermKind::Var { var, args } => self.variable(var.id, args, term.span),
            TermKind::Lit(lit) => self.literal(lit),
            TermKind::Lam { .. } => self.lambda(term, self.anonymous()),
            _ => {
                let register = self.current().register();
                self.term(term, Target::Register(register));
                Operand::Local(register)
            }
        }
    }

    /// Compiles `term` so that its value ends in `target`.
    pub(crate) fn term(&mut self, term: &Term, target: Target) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || self.term_inner(term, target));
    }

    fn term_inner(&mut self, term: &Term, target: Target) {
        let span = term.span;
        match &term.kind {
            TermKind::Var { .. } | TermKind::Lit(_) | TermKind::Lam { .. } => {
                let src = self.operand(term);
                self.deliver(src, target, span);
            }
            TermKind::Global { name, args } => self.global(*name, args, target, span),
            TermKind::App { .. } => self.application(term, target),
            TermKind::Let { var, scheme, value, body } => self.let_in(*var, scheme, value, body, target),
            TermKind::LetRec { bindings, body } => self.let_rec(bindings, body, target),
            TermKind::If { cond, then, otherwise } => {
                let to_else = self.condition(cond);
                self.term(then, target);
                let to_end = self.jump_to_end(target, span);
                self.land_all(to_else);
                self.term(otherwise, target);
                self.land_all(to_end);
            }
            TermKind::Tuple(items) => {
                let args = self.operands(items);
                self.result(target, span, |dst| Instr::Tuple { dst, args });
            }
            TermKind::Proj { tuple, index } => {
                let (src, index) = (self.operand(tuple), *index);
                self.result(target, span, |dst| Instr::Component { dst, src, index });
            }
            TermKind::Record(fields) => {
                let (shape, args) = self.record_fields(fields);
                self.result(target, span, |dst| Instr::Record { dst, shape, args });
            }
            TermKind::Field { record, field } => {
                let (src, name) = (self.operand(record), *field);
                self.result(target, span, |dst| Instr::Field { dst, src, name });
            }
            TermKind::Update { record, fields } => {
                let record = self.operand(record);
                let (shape, args) = self.record_fields(fields);
                self.result(target, span, |dst| Instr::Update { dst, record, shape, args });
            }
            TermKind::Ctor { ctor, fields, .. } => {
                let info = self.library.ctor(*ctor);
                let ctor = self.current().ctor(info);
                let args = self.operands(fields);
                self.result(target, span, |dst| Instr::Data { dst, ctor, args });
            }
            TermKind::Match { scrutinee, arms } => self.match_of(scrutinee, arms, target, span),
            TermKind::Array { items, .. } => {
                let args = self.operands(items);
                self.result(target, span, |dst| Instr::Array { dst, args });
            }
            TermKind::Prim { prim, type_args, args } => self.primitive(*prim, type_args, args, target, span),
            TermKind::CheckSize { array, axis, expected, name } => {
                let (array, expected) = (self.operand(array), self.operand(expected));
                let (axis, name) = (*axis, *name);
                self.result(target, span, |dst| Instr::CheckSize { dst, array, expected, axis, name });
            }
        }
    }

    /// Emits an instruction with a result.
    pub(crate) fn result(&mut self, target: Target, span: Span, instr: impl FnOnce(u32) -> Instr) {
        match target {
            Target::Register(dst) => self.emit(span, instr(dst)),
            Target::Return => {
                let dst = self.current().register();
                self.emit(span, instr(dst));
                self.emit(span, Instr::Return { src: Operand::Local(dst) });
            }
        }
    }

    /// Brings a value where it is wanted.
    pub(crate) fn deliver(&mut self, src: Operand, target: Target, span: Span) {
        match target {
            Target::Register(dst) => self.emit(span, Instr::Move { dst, src }),
            Target::Return => self.emit(span, Instr::Return { src }),
        }
    }

    /// After a branch: the jump past the other branches, unless the function has returned.
    pub(crate) fn jump_to_end(&mut self, target: Target, span: Span) -> Vec<PendingJump> {
        match target {
            Target::Register(_) => vec![self.current().emit_jump(span, Instr::Jump { skip: 0 })],
            Target::Return => Vec::new(),
        }
    }

    /// Lets jumps arrive here.
    pub(crate) fn land_all(&mut self, jumps: Vec<PendingJump>) {
        for jump in jumps {
            self.current().land(jump);
        }
    }

    fn operands(&mut self, terms: &[Term]) -> Range {
        let operands: Vec<Operand> = terms.iter().map(|term| self.operand(term)).collect();
        self.current().operands(operands)
    }

    /// Compiles a condition; the jumps are taken if it is false. `a && b` is `if a then b else false`.
    fn condition(&mut self, cond: &Term) -> Vec<PendingJump> {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || self.condition_inner(cond))
    }

    fn condition_inner(&mut self, cond: &Term) -> Vec<PendingJump> {
        let is_false = |term: &Term| matches!(term.kind, TermKind::Lit(Lit::Bool(false)));
        match &cond.kind {
            TermKind::If { cond: first, then, otherwise } if is_false(otherwise) => {
                let mut jumps = self.condition(first);
                jumps.extend(self.condition(then));
                jumps
            }
            TermKind::Prim { prim, args, .. }
                if let (Some(op), [a, b]) = (comparison(*prim), args.as_slice()) =>
            {
                let (a, b) = (self.operand(a), self.operand(b));
                vec![self.current().emit_jump(cond.span, Instr::JumpUnlessCompare { op, a, b, skip: 0 })]
            }
            _ => {
                let value = self.operand(cond);
                vec![self.current().emit_jump(cond.span, Instr::JumpUnless { cond: value, skip: 0 })]
            }
        }
    }

    fn literal(&mut self, lit: &Lit) -> Operand {
        let value = self.literal_value(lit);
        Operand::Const(self.current().constant(value))
    }

    /// The value of a literal.
    pub(crate) fn literal_value(&self, lit: &Lit) -> Value {
        match lit {
            Lit::Real(x) => Value::Real(*x),
            Lit::Int(n) => Value::Int(*n),
            Lit::Num(n, var) => match self.nums.get(var) {
                Some(NumType::Real) => Value::Real(*n as f64),
                Some(NumType::Int) | None => Value::Int(*n),
            },
            Lit::Bool(b) => Value::Bool(*b),
            Lit::String(text) => Value::String(Rc::new(Text::new(&**text))),
        }
    }

    /// Field operands in the order of the (sorted) shape; evaluated in the order written.
    fn record_fields(&mut self, fields: &[(Name, Term)]) -> (u32, Range) {
        let mut operands: Vec<(Name, Operand)> =
            fields.iter().map(|(name, term)| (*name, self.operand(term))).collect();
        operands.sort_by_key(|(name, _)| *name);
        let shape: Rc<[Name]> = operands.iter().map(|(name, _)| *name).collect();
        let args = self.current().operands(operands.into_iter().map(|(_, operand)| operand));
        (self.current().shape(shape), args)
    }

    fn primitive(&mut self, prim: Prim, types: &[TypeArg], args: &[Term], target: Target, span: Span) {
        let operands: Vec<Operand> = args.iter().map(|arg| self.operand(arg)).collect();
        if let [a, b] = *operands.as_slice() {
            if let Some(op) = comparison(prim) {
                return self.result(target, span, |dst| Instr::Compare { op, dst, a, b });
            }
            if let Some(op) = arithmetic(prim) {
                return self.result(target, span, |dst| Instr::Arith { op, dst, a, b });
            }
            if prim == Prim::Index {
                return self.result(target, span, |dst| Instr::Index { dst, array: a, index: b });
            }
        }
        if let ([a], Some(op)) = (operands.as_slice(), function_of_one_real(prim)) {
            let a = *a;
            return self.result(target, span, |dst| Instr::Real1 { op, dst, a });
        }
        let of_type = types.iter().find(|arg| matches!(arg, TypeArg::Type(_)));
        let num = of_type.map_or(NumType::Int, |arg| num_of(arg, &self.nums));
        let args = self.current().operands(operands);
        self.result(target, span, |dst| Instr::Builtin { prim, num, dst, args });
    }

    fn global(&mut self, name: Name, args: &[TypeArg], target: Target, span: Span) {
        if let Some((id, _)) = self.library.instance(name, args, &self.nums) {
            return self.result(target, span, |dst| Instr::Global { dst, id });
        }
        // The verifier refuses such programs; running one says which name is missing.
        let text = format!("the definition `{name}` is missing");
        let message = self.current().constant(Value::String(Rc::new(Text::new(text))));
        let args = self.current().operands([Operand::Const(message)]);
        self.result(target, span, |dst| Instr::Builtin { prim: Prim::Fail, num: NumType::Int, dst, args });
    }

    fn application(&mut self, term: &Term, target: Target) {
        let mut spine: Vec<(&Arc<Term>, Span)> = Vec::new();
        let mut head = term;
        while let TermKind::App { func, arg } = &head.kind {
            spine.push((arg, head.span));
            head = func;
        }
        spine.reverse();
        let known = match &head.kind {
            TermKind::Global { name, args } => {
                self.library.instance(*name, args, &self.nums).map(|(id, arity)| (Known::Global(id), arity))
            }
            TermKind::Var { var, .. } => {
                self.sibling(var.id).map(|(code, arity)| (Known::Sibling(code), arity))
            }
            _ => None,
        };
        let known = known.filter(|(_, arity)| *arity > 0 && *arity as usize <= spine.len());
        let Some((callee, arity)) = known else {
            let func = self.operand(head);
            let args: Vec<Operand> = spine.iter().map(|(arg, _)| self.operand(arg)).collect();
            let args = self.current().operands(args);
            return match target {
                Target::Return => self.emit(term.span, Instr::TailCall { func, args }),
                Target::Register(dst) => self.emit(term.span, Instr::Call { dst, func, args }),
            };
        };
        let args: Vec<Operand> = spine.iter().map(|(arg, _)| self.operand(arg)).collect();
        let (first, rest) = args.split_at(arity as usize);
        let span = spine.get(arity as usize - 1).map_or(term.span, |(_, span)| *span);
        let first = self.current().operands(first.iter().copied());
        if rest.is_empty() {
            return self.known_call(callee, first, target, span);
        }
        let func = self.current().register();
        self.known_call(callee, first, Target::Register(func), span);
        let (func, args) = (Operand::Local(func), self.current().operands(rest.iter().copied()));
        match target {
            Target::Return => self.emit(term.span, Instr::TailCall { func, args }),
            Target::Register(dst) => self.emit(term.span, Instr::Call { dst, func, args }),
        }
    }

    fn known_call(&mut self, callee: Known, args: Range, target: Target, span: Span) {
        let instr = match (callee, target) {
            (Known::Global(id), Target::Return) => Instr::TailCallGlobal { id, args },
            (Known::Global(id), Target::Register(dst)) => Instr::CallGlobal { dst, id, args },
            (Known::Sibling(code), Target::Return) => Instr::TailCallSibling { code, args },
            (Known::Sibling(code), Target::Register(dst)) => Instr::CallSibling { dst, code, args },
        };
        self.emit(span, instr);
    }

    /// The code of a function of the group that the innermost function belongs to.
    fn sibling(&mut self, id: u32) -> Option<(CodeId, u32)> {
        match self.current().scope.get(&id) {
            Some(Place::Sibling { code, arity }) => Some((*code, *arity)),
            Some(Place::At(_) | Place::PerInstance { .. }) | None => None,
        }
    }

    fn variable(&mut self, id: u32, args: &[TypeArg], span: Span) -> Operand {
        let depth = self.functions.len().saturating_sub(1);
        let nums = self.instantiation(id, args);
        self.resolve(depth, &VarKey { id, nums }, span)
    }

    /// The `Num` choices of a variable that is compiled per instance; nothing for any other.
    fn instantiation(&self, id: u32, args: &[TypeArg]) -> Nums {
        let place = self.functions.iter().rev().find_map(|function| function.scope.get(&id));
        match place {
            Some(Place::PerInstance { params, .. }) => params
                .iter()
                .map(|i| args.get(*i).map_or(NumType::Int, |arg| num_of(arg, &self.nums)))
                .collect(),
            Some(Place::At(_) | Place::Sibling { .. }) | None => Nums::new(),
        }
    }

    /// Where the function at `depth` finds a variable: its own, or captured from the functions around it.
    pub(crate) fn resolve(&mut self, depth: usize, key: &VarKey, span: Span) -> Operand {
        let Some(function) = self.functions.get_mut(depth) else { return Operand::Captured(0) };
        match function.scope.get_mut(&key.id) {
            Some(Place::At(operand)) => *operand,
            Some(Place::PerInstance { registers, .. }) => {
                if let Some((_, register)) = registers.iter().find(|(nums, _)| *nums == key.nums) {
                    return Operand::Local(*register);
                }
                let register = function.register();
                if let Some(Place::PerInstance { registers, .. }) = function.scope.get_mut(&key.id) {
                    registers.push((key.nums.clone(), register));
                }
                Operand::Local(register)
            }
            Some(Place::Sibling { code, .. }) => {
                let code = *code;
                let dst = function.register();
                function.emit(span, Instr::Sibling { dst, code });
                Operand::Local(dst)
            }
            None => {
                let captures = &mut function.captures;
                let next = captures.keys.len() as u32;
                let place = *captures.places.entry(key.clone()).or_insert(next);
                if place == next {
                    captures.keys.push(key.clone());
                }
                Operand::Captured(place)
            }
        }
    }
}

/// A function that is known when compiling its call.
enum Known {
    /// A definition.
    Global(InstanceId),
    /// A function of the same recursive group.
    Sibling(CodeId),
}

fn comparison(prim: Prim) -> Option<Compare> {
    match prim {
        Prim::Eq => Some(Compare::Eq),
        Prim::Ne => Some(Compare::Ne),
        Prim::Lt => Some(Compare::Lt),
        Prim::Le => Some(Compare::Le),
        Prim::Gt => Some(Compare::Gt),
        Prim::Ge => Some(Compare::Ge),
        _ => None,
    }
}

fn arithmetic(prim: Prim) -> Option<Arith> {
    match prim {
        Prim::Add => Some(Arith::Add),
        Prim::Sub => Some(Arith::Sub),
        Prim::Mul => Some(Arith::Mul),
        Prim::Div => Some(Arith::Div),
        _ => None,
    }
}

/// The operation behind a primitive of type `Real -> Real`.
pub(crate) fn function_of_one_real(prim: Prim) -> Option<RealOp> {
    match prim {
        Prim::Exp => Some(RealOp::Exp),
        Prim::Expm1 => Some(RealOp::Expm1),
        Prim::Log => Some(RealOp::Log),
        Prim::Log1p => Some(RealOp::Log1p),
        Prim::Log2 => Some(RealOp::Log2),
        Prim::Log10 => Some(RealOp::Log10),
        Prim::Sqrt => Some(RealOp::Sqrt),
        Prim::Cbrt => Some(RealOp::Cbrt),
        Prim::Sin => Some(RealOp::Sin),
        Prim::Cos => Some(RealOp::Cos),
        Prim::Tan => Some(RealOp::Tan),
        Prim::Asin => Some(RealOp::Asin),
        Prim::Acos => Some(RealOp::Acos),
        Prim::Atan => Some(RealOp::Atan),
        Prim::Sinh => Some(RealOp::Sinh),
        Prim::Cosh => Some(RealOp::Cosh),
        Prim::Tanh => Some(RealOp::Tanh),
        Prim::Asinh => Some(RealOp::Asinh),
        Prim::Acosh => Some(RealOp::Acosh),
        Prim::Atanh => Some(RealOp::Atanh),
        Prim::Gamma => Some(RealOp::Gamma),
        Prim::Lgamma => Some(RealOp::Lgamma),
        Prim::Digamma => Some(RealOp::Digamma),
        Prim::Erf => Some(RealOp::Erf),
        Prim::Erfc => Some(RealOp::Erfc),
        Prim::Relu => Some(RealOp::Relu),
        Prim::Sigmoid => Some(RealOp::Sigmoid),
        Prim::Softplus => Some(RealOp::Softplus),
        _ => None,
    }
}
