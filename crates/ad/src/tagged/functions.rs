//! A function of the program, written down for numbers that know what they vary by: operation by operation.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "operations that numbers change are named, the others stay"
)]

use super::numbers::Number;
use super::walks::Walk;
use super::work::Work;
use super::{Tagged, arrays};
use crate::{BEYOND, deep};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::Builder;
use wengert_ir::op::{Atom, Block, Convert, Loop, Mode, Op, Stmt, TextOp, Var, While};
use wengert_ir::program::{Func, FuncId, Program};
use wengert_ir::ty::{DataId, Elem, Role, Ty};

/// Whether a type is that of functions.
pub(super) fn is_function(program: &Program, data: DataId) -> bool {
    matches!(program.data.at(data).role, Role::Closure | Role::Tangent(_) | Role::Residual)
}

/// Whether values of a type are or hold functions.
pub(super) fn holds_functions(program: &Program, data: DataId) -> bool {
    let (mut seen, mut todo) = (FxHashSet::from_iter([data]), vec![data]);
    while let Some(next) = todo.pop() {
        if is_function(program, next) {
            return true;
        }
        let fields = program.data.at(next).ctors.iter().flat_map(|ctor| &ctor.fields);
        todo.extend(fields.filter_map(|ty| match ty.elem() {
            Elem::Data(inner) if seen.insert(inner) => Some(inner),
            _ => None,
        }));
    }
    false
}

/// What a function is here.
pub(super) fn rewritten(to: &mut Tagged, id: FuncId) -> Func {
    let source = to.program.funcs.at(id).clone();
    let touches = to.touching.contains(&id);
    let mut work = Work::new(to, Builder::new(source.name));
    work.b.set_func_span(source.span);
    work.b.set_span(source.span);
    if touches {
        work.state_params();
    }
    let mut rewrite = Rewrite { work, id, source: &source, meaning: FxHashMap::default() };
    rewrite.params(&source.body);
    let results = rewrite.block(&source.body);
    rewrite.work.finish(results)
}

/// A function that is written down.
pub(super) struct Rewrite<'a, 's> {
    pub(super) work: Work<'a>,
    /// The function of the program.
    pub(super) id: FuncId,
    pub(super) source: &'s Func,
    meaning: FxHashMap<Var, Atom>,
}

impl Rewrite<'_, '_> {
    /// Parameters for those of a block.
    fn params(&mut self, block: &Block) -> Vec<Atom> {
        let mut all = Vec::new();
        for param in &block.params {
            let info = *self.source.vars.at(*param);
            let ty = self.work.to.ty(info.ty);
            let atom = self.work.b.param(info.name, ty);
            self.meaning.insert(*param, atom.clone());
            all.push(atom);
        }
        all
    }

    /// The statements of a block; its results.
    pub(super) fn block(&mut self, block: &Block) -> Vec<Atom> {
        deep(|| {
            for stmt in &block.stmts {
                self.work.b.set_span(stmt.span);
                let found = self.stmt(stmt);
                self.mean(&stmt.outs, found);
            }
        });
        self.atoms(&block.results)
    }

    fn mean(&mut self, vars: &[Var], atoms: Vec<Atom>) {
        self.meaning.extend(vars.iter().copied().zip(atoms));
    }

    pub(super) fn atom(&mut self, atom: &Atom) -> Atom {
        match atom {
            Atom::Var(var) => self.meaning.get(var).cloned().unwrap_or(Atom::Unit),
            Atom::Real(_) => self.work.plain(atom.clone()),
            other => other.clone(),
        }
    }

    pub(super) fn atoms(&mut self, atoms: &[Atom]) -> Vec<Atom> {
        atoms.iter().map(|atom| self.atom(atom)).collect()
    }

    pub(super) fn types(&self, outs: &[Var]) -> Vec<Ty> {
        outs.iter().map(|out| self.source.ty(*out)).collect()
    }

    /// The innermost number of a real that is written down.
    fn shown(&mut self, atom: &Atom) -> Atom {
        if let Atom::Real(_) = atom {
            return atom.clone();
        }
        let found = self.atom(atom);
        if self.source.type_of(atom) == Ty::REAL { self.work.value(&found) } else { found }
    }

    /// The innermost number of a real that is looked at, any other scalar as it is.
    fn scalar(&mut self, atom: &Atom) -> Atom {
        if let Atom::Real(_) = atom {
            return atom.clone();
        }
        let found = self.atom(atom);
        if self.source.type_of(atom) == Ty::REAL { self.work.observed(&found) } else { found }
    }

    fn one(&mut self, op: Op, ty: Ty) -> Vec<Atom> {
        vec![self.work.b.typed1(ty, op)]
    }

    /// What a statement gives.
    fn stmt(&mut self, stmt: &Stmt) -> Vec<Atom> {
        match &stmt.op {
            Op::Copy(x) => vec![self.atom(x)],
            Op::Real(op, args) => {
                let args = self.atoms(args);
                vec![self.work.real(*op, &args)]
            }
            Op::Power { base, exponent } => {
                let [x, n] = [base, exponent].map(|atom| self.atom(atom));
                vec![self.work.numbered(Number::Power, n, &x)]
            }
            Op::Polygamma { order, x } => {
                let [x, n] = [x, order].map(|atom| self.atom(atom));
                vec![self.work.numbered(Number::Polygamma, n, &x)]
            }
            Op::Compare(op, x, y) => {
                let [x, y] = [x, y].map(|atom| self.scalar(atom));
                vec![self.work.b.compare(*op, x, y)]
            }
            Op::Convert(Convert::IntToReal, x) => {
                let x = self.atom(x);
                let found = self.work.b.convert(Convert::IntToReal, x);
                vec![self.work.plain(found)]
            }
            Op::Convert(op, x) => {
                let x = self.scalar(x);
                vec![self.work.b.convert(*op, x)]
            }
            Op::Text(op @ TextOp::ShowReal, args) => {
                let args = args.iter().map(|arg| self.shown(arg)).collect();
                self.one(Op::Text(*op, args), Ty::TEXT)
            }
            Op::Make { data, ctor, fields } => {
                let (data, fields) = (self.work.to.data(*data), self.atoms(fields));
                vec![self.work.b.make(data, *ctor, fields)]
            }
            Op::Call { func, args, checkpoint: false } => self.call(*func, args, &stmt.outs),
            Op::Call { func, args, checkpoint: true } => self.checkpoint(*func, args, &stmt.outs),
            Op::Array(op, args) => {
                let args = args.clone();
                arrays::array(self, *op, &args, &stmt.outs)
            }
            Op::Match { .. } | Op::If { .. } | Op::Loop(_) | Op::While(_) => self.control(stmt),
            Op::Jvp { .. }
            | Op::Linearize { .. }
            | Op::Forward { .. }
            | Op::Backward { .. }
            | Op::Custom(_)
            | Op::StopGradient(_)
            | Op::Taylor { .. } => self.request(stmt),
            other => {
                let mut op = other.clone();
                op.for_each_atom_mut(&mut |atom| *atom = self.atom(atom));
                let types = self.types(&stmt.outs);
                let types = self.work.to.tys(&types);
                self.work.b.typed(&types, op)
            }
        }
    }

    fn checkpoint(&mut self, func: FuncId, args: &[Atom], outs: &[Var]) -> Vec<Atom> {
        let noted = self.work.to.checkpointed_function(func);
        let Some(noted) = noted else { return self.call(func, args, outs) };
        let (args, results) = (self.atoms(args), self.types(outs));
        self.work.call_touching(noted, true, args, &results)
    }

    pub(super) fn call(&mut self, func: FuncId, args: &[Atom], outs: &[Var]) -> Vec<Atom> {
        let (args, results) = (self.atoms(args), self.types(outs));
        self.call_with(func, args, &results)
    }

    /// Calls what a function of the program is here.
    pub(super) fn call_with(&mut self, func: FuncId, args: Vec<Atom>, results: &[Ty]) -> Vec<Atom> {
        let (own, touches) = (self.work.to.func(func), self.work.to.touching.contains(&func));
        self.work.call_touching(own, touches, args, results)
    }

    fn touches(&self, block: &Block) -> bool {
        self.work.to.touches(block, self.source, &self.work.to.touching)
    }

    /// Does something that hands on what is to be handed on, if a block needs it.
    fn where_needed<R>(&mut self, needed: bool, run: impl FnOnce(&mut Self) -> R) -> R {
        if needed {
            return run(self);
        }
        let before = self.work.state();
        self.work.forget();
        let found = run(self);
        self.work.set_state(before);
        found
    }

    fn control(&mut self, stmt: &Stmt) -> Vec<Atom> {
        let needed = stmt.op.blocks().into_iter().any(|block| self.touches(block));
        let types = self.types(&stmt.outs);
        let types = self.work.to.tys(&types);
        self.where_needed(needed, |own| match &stmt.op {
            Op::Match { on, arms } => {
                if let Elem::Data(data) = own.source.type_of(on).elem()
                    && own.work.to.functions.contains(&data)
                {
                    return own.applied(stmt, data).unwrap_or_else(|| own.work.fail(&types, BEYOND));
                }
                let on = own.atom(on);
                let arms = arms.iter().map(|arm| own.side(arm)).collect();
                own.joined(Op::Match { on, arms }, types)
            }
            Op::If { cond, then, otherwise } => {
                let cond = own.atom(cond);
                let [then, otherwise] = [then, otherwise].map(|side| own.side(side));
                own.joined(Op::If { cond, then, otherwise }, types)
            }
            Op::Loop(parts) => own.repeat(parts, types),
            Op::While(parts) => own.repeat_while(parts, types),
            _ => own.work.fail(&types, BEYOND),
        })
    }

    /// A block that gives what is handed on before its results. What is handed on afterwards is what it was.
    pub(super) fn side(&mut self, block: &Block) -> Block {
        let before = self.work.state();
        self.work.b.open();
        self.params(block);
        let results = self.block(block);
        let all = self.work.state_atoms().into_iter().chain(results).collect();
        self.work.set_state(before);
        self.work.b.close(all)
    }

    pub(super) fn joined(&mut self, op: Op, types: Vec<Ty>) -> Vec<Atom> {
        let types: Vec<Ty> = self.work.state_types().into_iter().chain(types).collect();
        let found = self.work.b.typed(&types, op);
        self.work.take_state(found)
    }

    fn repeat(&mut self, parts: &Loop, types: Vec<Ty>) -> Vec<Atom> {
        let (len, inputs) = (self.atom(&parts.len), self.atoms(&parts.inputs));
        // What is added to arrays is carried.
        let init = [parts.init.as_slice(), &parts.accs].concat();
        let init: Vec<Atom> = self.work.state_atoms().into_iter().chain(self.atoms(&init)).collect();
        let before = self.work.state();
        self.work.b.open();
        let mut all = parts.body.params.iter();
        let (first, rest) = (all.next().copied(), all.copied().collect());
        let first = Block { params: first.into_iter().collect(), ..Block::default() };
        let rest = Block { params: rest, ..Block::default() };
        self.params(&first);
        self.work.state_again();
        self.params(&rest);
        let results = self.block(&parts.body);
        let results = self.work.state_atoms().into_iter().chain(results).collect();
        let body = self.work.b.close(results);
        self.work.set_state(before);
        let mode = match parts.mode {
            Mode::Each if init.is_empty() => Mode::Each,
            Mode::Reduce if self.work.state_atoms().is_empty() => Mode::Reduce,
            Mode::Each | Mode::Reduce | Mode::Sequence => Mode::Sequence,
        };
        let backward = parts.backward;
        self.joined(
            Op::Loop(Box::new(Loop { mode, backward, len, inputs, init, accs: Vec::new(), body })),
            types,
        )
    }

    fn repeat_while(&mut self, parts: &While, types: Vec<Ty>) -> Vec<Atom> {
        let init: Vec<Atom> = self.work.state_atoms().into_iter().chain(self.atoms(&parts.init)).collect();
        let before = self.work.state();
        self.work.b.open();
        self.work.state_again();
        self.params(&parts.cond);
        // What the condition notes nobody looks at.
        let results = self.block(&parts.cond);
        let cond = self.work.b.close(results);
        self.work.set_state(before.clone());
        self.work.b.open();
        self.work.state_again();
        self.params(&parts.body);
        let results = self.block(&parts.body);
        let results = self.work.state_atoms().into_iter().chain(results).collect();
        let body = self.work.b.close(results);
        self.work.set_state(before);
        self.joined(Op::While(Box::new(While { init, cond, body })), types)
    }

    /// A walk through a value of the program, which carries nothing.
    pub(super) fn walked(&mut self, walk: Walk, ty: Ty, given: &[Atom], xs: &[Atom]) -> Atom {
        self.work.walked(walk, ty, given, xs)
    }
}
