//! Removes what a derivative does not need, so that it reads as if written by hand:
//!
//! * copies: their operands stand in their place;
//! * a match on a value whose constructor was just applied, an `if` on a constant: the block that is taken stands there;
//! * what a loop carries without changing it;
//! * statements that cannot fail and whose results nobody uses, and results of branches and loops that nobody uses.
//!
//! Then variables are numbered in the order in which they are bound.

#![expect(clippy::wildcard_enum_match_arm, reason = "operations that change are named, the others stay")]

use crate::deep;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::{ArrayOp, Atom, Block, IntOp, Mode, Op, Stmt, Var};
use wengert_ir::program::{Func, Program};
use wengert_ir::ty::Table;

/// The same function without what is not needed.
pub(crate) fn tidy(mut func: Func, _program: &Program) -> Func {
    let mut simplify = Simplify::default();
    simplify.block(&mut func.body);
    loop {
        let mut dead = Dead { used: FxHashSet::default(), vars: &func.vars, changed: false };
        let mut body = std::mem::take(&mut func.body);
        dead.block(&mut body);
        let changed = dead.changed;
        func.body = body;
        if !changed {
            break;
        }
    }
    renumber(&mut func);
    func
}

/// Forward: what stands for what.
#[derive(Default)]
struct Simplify {
    meaning: FxHashMap<Var, Atom>,
    /// Constructors with their fields.
    made: FxHashMap<Var, (u32, Vec<Atom>)>,
}

impl Simplify {
    fn atom(&self, atom: &mut Atom) {
        if let Some(known) = atom.var().and_then(|var| self.meaning.get(&var)) {
            *atom = known.clone();
        }
    }

    fn mean(&mut self, vars: &[Var], atoms: &[Atom]) {
        for (var, atom) in vars.iter().zip(atoms) {
            let mut atom = atom.clone();
            self.atom(&mut atom);
            self.meaning.insert(*var, atom);
        }
    }

    fn block(&mut self, block: &mut Block) {
        deep(|| {
            let mut stmts = Vec::new();
            for stmt in std::mem::take(&mut block.stmts) {
                self.stmt(stmt, &mut stmts);
            }
            block.stmts = stmts;
            block.results.iter_mut().for_each(|atom| self.atom(atom));
        });
    }

    /// The block stands where `outs` are bound.
    fn inline(&mut self, outs: &[Var], block: Block, fields: &[Atom], into: &mut Vec<Stmt>) {
        self.mean(&block.params, fields);
        for stmt in block.stmts {
            self.stmt(stmt, into);
        }
        self.mean(outs, &block.results);
    }

    fn stmt(&mut self, mut stmt: Stmt, into: &mut Vec<Stmt>) {
        stmt.op.for_each_atom_mut(&mut |atom| self.atom(atom));
        match stmt.op {
            Op::Copy(atom) => self.mean(&stmt.outs, &[atom]),
            Op::If { cond: Atom::Bool(cond), then, otherwise } => {
                self.inline(&stmt.outs, if cond { then } else { otherwise }, &[], into);
            }
            Op::Match { on, mut arms } => {
                let known = on.var().and_then(|var| self.made.get(&var)).cloned();
                if let Some((ctor, fields)) = known
                    && (ctor as usize) < arms.len()
                {
                    let arm = arms.swap_remove(ctor as usize);
                    return self.inline(&stmt.outs, arm, &fields, into);
                }
                arms.iter_mut().for_each(|arm| self.block(arm));
                into.push(Stmt { op: Op::Match { on, arms }, ..stmt });
            }
            Op::Make { data, ctor, fields } => {
                if let [out] = &*stmt.outs {
                    self.made.insert(*out, (ctor, fields.clone()));
                }
                into.push(Stmt { op: Op::Make { data, ctor, fields }, ..stmt });
            }
            Op::Loop(mut parts) => {
                // What is carried unchanged is known all along.
                for i in (0..parts.init.len()).rev() {
                    let param = parts.body.params.get(i + 1).copied();
                    let same = param
                        .is_some_and(|param| parts.body.results.get(i).and_then(Atom::var) == Some(param));
                    if let (true, Some(param)) = (same, param) {
                        let init = parts.init.remove(i);
                        parts.body.params.remove(i + 1);
                        parts.body.results.remove(i);
                        let out = stmt.outs.remove(i);
                        if parts.mode == Mode::Reduce {
                            // That carries as many values as it goes through arrays.
                            parts.mode = Mode::Sequence;
                        }
                        self.mean(&[param, out], &[init.clone(), init]);
                    }
                }
                if parts.init.is_empty() && parts.mode == Mode::Sequence {
                    parts.mode = Mode::Each;
                }
                self.block(&mut parts.body);
                into.push(Stmt { op: Op::Loop(parts), ..stmt });
            }
            mut op => {
                op.blocks_mut().into_iter().for_each(|inner| self.block(inner));
                into.push(Stmt { op, ..stmt });
            }
        }
    }
}

/// Backward: what is used.
struct Dead<'a> {
    used: FxHashSet<Var>,
    vars: &'a Table<Var, wengert_ir::program::VarInfo>,
    changed: bool,
}

impl Dead<'_> {
    fn is_used(&self, var: Var) -> bool {
        self.used.contains(&var)
    }

    fn block(&mut self, block: &mut Block) {
        deep(|| {
            self.used.extend(block.results.iter().filter_map(Atom::var));
            let mut kept = Vec::new();
            while let Some(mut stmt) = block.stmts.pop() {
                if !stmt.outs.iter().any(|out| self.is_used(*out)) && self.is_harmless(&stmt.op) {
                    self.changed = true;
                    continue;
                }
                self.trim(&mut stmt);
                stmt.op.blocks_mut().into_iter().for_each(|inner| self.block(inner));
                stmt.op.for_each_atom(&mut |atom| self.used.extend(atom.var()));
                kept.push(stmt);
            }
            kept.reverse();
            block.stmts = kept;
        });
    }

    /// Takes away results of branches and rows of loops that nobody uses.
    fn trim(&mut self, stmt: &mut Stmt) {
        let unused = |this: &Self, from: usize, stmt: &Stmt| -> Vec<usize> {
            let all = stmt.outs.iter().enumerate().skip(from);
            all.filter(|(_, out)| !this.is_used(**out)).map(|(i, _)| i).rev().collect()
        };
        let from = match &stmt.op {
            Op::If { .. } | Op::Match { .. } if !stmt.op.never_returns() => 0,
            Op::Loop(parts) if parts.mode != Mode::Reduce => parts.init.len() + parts.accs.len(),
            Op::While(parts) => parts.init.len(),
            _ => return,
        };
        for i in unused(self, from, stmt) {
            self.changed = true;
            stmt.outs.remove(i);
            match &mut stmt.op {
                Op::If { then, otherwise, .. } => {
                    then.results.remove(i);
                    otherwise.results.remove(i);
                }
                Op::Match { arms, .. } => arms.iter_mut().for_each(|arm| {
                    arm.results.remove(i);
                }),
                Op::Loop(parts) => {
                    parts.body.results.remove(i);
                }
                Op::While(parts) => {
                    parts.body.results.remove(i);
                }
                _ => {}
            }
        }
    }

    /// Whether an operation may be left out if nobody uses its results: it ends, and does not fail.
    fn is_harmless(&self, op: &Op) -> bool {
        match op {
            Op::Copy(_)
            | Op::Real(..)
            | Op::Power { .. }
            | Op::Compare(..)
            | Op::Not(_)
            | Op::Select { .. }
            | Op::Text(..)
            | Op::Make { .. }
            | Op::StopGradient(_) => true,
            Op::Int(op, _) => !matches!(
                op,
                IntOp::Div
                    | IntOp::Rem
                    | IntOp::DivFloor
                    | IntOp::ModFloor
                    | IntOp::Power
                    | IntOp::ShiftLeft
                    | IntOp::ShiftRight
            ),
            Op::Array(op, args) => match op {
                ArrayOp::Literal => args.iter().all(|arg| match arg.var() {
                    Some(var) => self.vars.at(var).ty.rank() == 0,
                    None => true,
                }),
                ArrayOp::Empty(..)
                | ArrayOp::Length(_)
                | ArrayOp::Zeros
                | ArrayOp::AddProduct(_)
                | ArrayOp::Reverse
                | ArrayOp::Transpose
                | ArrayOp::Sum
                | ArrayOp::Product
                | ArrayOp::Sort
                | ArrayOp::ArgSort
                | ArrayOp::Ravel => true,
                ArrayOp::Index
                | ArrayOp::Set
                | ArrayOp::AddAt
                | ArrayOp::Add
                | ArrayOp::Iota
                | ArrayOp::Replicate
                | ArrayOp::Concat
                | ArrayOp::Flatten
                | ArrayOp::UnflattenLike
                | ArrayOp::Slice
                | ArrayOp::Gather
                | ArrayOp::ScatterAdd
                | ArrayOp::Filter
                | ArrayOp::Maximum
                | ArrayOp::Minimum
                | ArrayOp::ArgMax
                | ArrayOp::ArgMin
                | ArrayOp::Dot
                | ArrayOp::MatVec
                | ArrayOp::MatMul
                | ArrayOp::Reshape => false,
            },
            Op::If { then, otherwise, .. } => self.all_harmless(then) && self.all_harmless(otherwise),
            Op::Match { arms, .. } => arms.iter().all(|arm| self.all_harmless(arm)),
            // Rows of arrays may differ in size, which is an error; scalars do not.
            Op::Loop(parts) => {
                let outputs = parts.body.results.iter().skip(parts.init.len() + parts.accs.len());
                let scalars = outputs.filter_map(Atom::var).all(|var| self.vars.at(var).ty.rank() == 0);
                scalars && self.all_harmless(&parts.body)
            }
            Op::Convert(op, _) => {
                matches!(op, wengert_ir::op::Convert::IntToReal | wengert_ir::op::Convert::IsNan)
            }
            Op::Polygamma { .. }
            | Op::Fail { .. }
            | Op::Require { .. }
            | Op::Whole(_)
            | Op::Call { .. }
            | Op::While(_)
            | Op::Jvp { .. }
            | Op::Linearize { .. }
            | Op::Forward { .. }
            | Op::Backward { .. }
            | Op::Custom(_)
            | Op::Taylor { .. } => false,
        }
    }

    fn all_harmless(&self, block: &Block) -> bool {
        deep(|| block.stmts.iter().all(|stmt| self.is_harmless(&stmt.op)))
    }
}

/// Numbers the variables in the order in which they are bound; those that are bound nowhere are gone.
fn renumber(func: &mut Func) {
    let mut order: Vec<Var> = Vec::new();
    bound(&func.body, &mut order);
    let mut vars = Table::default();
    let mut new: FxHashMap<Var, Var> = FxHashMap::default();
    for var in order {
        new.insert(var, vars.push(*func.vars.at(var)));
    }
    func.body.for_each_atom_mut(&mut |atom| {
        if let Atom::Var(var) = atom
            && let Some(known) = new.get(var)
        {
            *var = *known;
        }
    });
    rebind(&mut func.body, &new);
    func.vars = vars;
}

fn bound(block: &Block, order: &mut Vec<Var>) {
    deep(|| {
        order.extend(&block.params);
        for stmt in &block.stmts {
            stmt.op.blocks().into_iter().for_each(|inner| bound(inner, order));
            order.extend(&stmt.outs);
        }
    });
}

fn rebind(block: &mut Block, new: &FxHashMap<Var, Var>) {
    let rename = |var: &mut Var| *var = new.get(var).copied().unwrap_or(*var);
    deep(|| {
        block.params.iter_mut().for_each(rename);
        for stmt in &mut block.stmts {
            stmt.op.blocks_mut().into_iter().for_each(|inner| rebind(inner, new));
            stmt.outs.iter_mut().for_each(rename);
        }
    });
}
