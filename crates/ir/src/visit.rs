//! Walks over operations and blocks: operands, nested blocks, what a block needs from around it.
//!
//! [`Op::for_each_atom`] and its like look at the operands of one operation and not into the blocks inside it;
//! [`Op::blocks`] gives those. [`Block::for_each_stmt`] and [`Block::free_vars`] go all the way down, on a grown stack.

use crate::op::{Atom, Block, Custom, Loop, Op, Stmt, Var, While};
use indexmap::IndexSet;
use rustc_hash::FxHashSet;

/// Goes on with `walk` on a stack that is large enough: blocks nest as deep as the source's expressions, and deeper
/// after inlining.
pub(crate) fn deep<R>(walk: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, walk)
}

/// The operands of an operation, for `&Op` and for `&mut Op`.
macro_rules! operands {
    ($op:expr, $visit:expr, $iter:ident, $($reference:tt)+) => {
        match $op {
            Op::Copy(x)
            | Op::Convert(_, x)
            | Op::Not(x)
            | Op::Whole(x)
            | Op::Fail { message: x }
            | Op::Match { on: x, arms: _ }
            | Op::If { cond: x, then: _, otherwise: _ } => $visit(x),
            Op::Power { base: x, exponent: y }
            | Op::Polygamma { order: x, x: y }
            | Op::Compare(_, x, y)
            | Op::Require { what: _, left: x, right: y } => {
                $visit(x);
                $visit(y);
            }
            Op::Select { cond, then, otherwise } => {
                $visit(cond);
                $visit(then);
                $visit(otherwise);
            }
            Op::Real(_, args)
            | Op::Int(_, args)
            | Op::Text(_, args)
            | Op::Make { data: _, ctor: _, fields: args }
            | Op::Call { func: _, args, checkpoint: _ }
            | Op::Array(_, args)
            | Op::Linearize { linear: _, args }
            | Op::StopGradient(args) => args.$iter().for_each($visit),
            Op::Loop(parts) => {
                let Loop { mode: _, backward: _, len, inputs, init, accs, body: _ } = $($reference)+ **parts;
                $visit(len);
                init.$iter().chain(accs.$iter()).chain(inputs.$iter()).for_each($visit);
            }
            Op::While(parts) => {
                let While { init, cond: _, body: _ } = $($reference)+ **parts;
                init.$iter().for_each($visit);
            }
            Op::Jvp { func: _, args, tangents } => {
                args.$iter().for_each(&mut *$visit);
                tangents.$iter().flatten().for_each($visit);
            }
            Op::Forward { linear: _, residual, tangents: rest }
            | Op::Backward { linear: _, residual, cotangents: rest } => {
                $visit(residual);
                rest.$iter().for_each($visit);
            }
            Op::Custom(parts) => {
                let Custom { func: _, captured, rule: _, rule_captured, point } = $($reference)+ **parts;
                captured.$iter().chain(rule_captured.$iter()).chain(point.$iter()).for_each($visit);
            }
            Op::Taylor { func: _, captured, order, at } => {
                captured.$iter().for_each(&mut *$visit);
                $visit(order);
                $visit(at);
            }
        }
    };
}

/// A pattern: the operations without blocks inside.
macro_rules! flat_op {
    () => {
        Op::Copy(_)
            | Op::Real(..)
            | Op::Power { .. }
            | Op::Polygamma { .. }
            | Op::Int(..)
            | Op::Compare(..)
            | Op::Convert(..)
            | Op::Not(_)
            | Op::Select { .. }
            | Op::Text(..)
            | Op::Fail { .. }
            | Op::Require { .. }
            | Op::Whole(_)
            | Op::Make { .. }
            | Op::Call { .. }
            | Op::Array(..)
            | Op::Jvp { .. }
            | Op::Linearize { .. }
            | Op::Forward { .. }
            | Op::Backward { .. }
            | Op::Custom(_)
            | Op::StopGradient(_)
            | Op::Taylor { .. }
    };
}
pub(crate) use flat_op;

/// The blocks directly inside an operation, for `&Op` and for `&mut Op`.
macro_rules! blocks {
    ($op:expr, $iter:ident, $($reference:tt)+) => {
        match $op {
            Op::Match { on: _, arms } => arms.$iter().collect(),
            Op::If { cond: _, then, otherwise } => vec![then, otherwise],
            Op::Loop(parts) => vec![$($reference)+ parts.body],
            Op::While(parts) => {
                let While { init: _, cond, body } = $($reference)+ **parts;
                vec![cond, body]
            }
flat_op!() => Vec::new(),
        }
    };
}

impl Atom {
    /// The variable, if it is one.
    pub fn var(&self) -> Option<Var> {
        match self {
            Atom::Var(var) => Some(*var),
            Atom::Real(_) | Atom::Int(_) | Atom::Bool(_) | Atom::Text(_) | Atom::Unit => None,
        }
    }
}

impl From<Var> for Atom {
    fn from(var: Var) -> Atom {
        Atom::Var(var)
    }
}

impl Op {
    /// Looks at each operand; not at operands inside of nested blocks.
    pub fn for_each_atom<'a>(&'a self, visit: &mut dyn FnMut(&'a Atom)) {
        operands!(self, visit, iter, &);
    }

    /// Changes each operand in place; not those inside of nested blocks.
    pub fn for_each_atom_mut(&mut self, visit: &mut dyn FnMut(&mut Atom)) {
        operands!(self, visit, iter_mut, &mut);
    }

    /// The variables among the operands, repeated as they repeat; not those inside of nested blocks.
    pub fn operand_vars(&self) -> Vec<Var> {
        let mut found = Vec::new();
        self.for_each_atom(&mut |atom| found.extend(atom.var()));
        found
    }

    /// The blocks directly inside, in order: arms, branches, bodies; the condition of a `while` before its body.
    pub fn blocks(&self) -> Vec<&Block> {
        blocks!(self, iter, &)
    }

    /// The same, to be changed.
    pub fn blocks_mut(&mut self) -> Vec<&mut Block> {
        blocks!(self, iter_mut, &mut)
    }

    /// Whether it never gives a result: a failure, or a match on a type without constructors. Its results may have any
    /// types.
    pub fn never_returns(&self) -> bool {
        matches!(self, Op::Fail { .. }) || matches!(self, Op::Match { arms, .. } if arms.is_empty())
    }
}

impl Block {
    /// Looks at each statement, and those of nested blocks after the statement that they are part of.
    pub fn for_each_stmt<'a>(&'a self, visit: &mut dyn FnMut(&'a Stmt)) {
        deep(|| {
            for stmt in &self.stmts {
                visit(stmt);
                stmt.op.blocks().into_iter().for_each(|block| block.for_each_stmt(visit));
            }
        });
    }

    /// Whether all statements are so, those of nested blocks included. Ends at the first that is not.
    pub fn all_stmts<'a>(&'a self, test: &mut dyn FnMut(&'a Stmt) -> bool) -> bool {
        deep(|| {
            self.stmts
                .iter()
                .all(|stmt| test(stmt) && stmt.op.blocks().into_iter().all(|block| block.all_stmts(test)))
        })
    }

    /// Changes each operand and each result in place, in nested blocks too.
    pub fn for_each_atom_mut(&mut self, visit: &mut dyn FnMut(&mut Atom)) {
        deep(|| {
            for stmt in &mut self.stmts {
                stmt.op.for_each_atom_mut(visit);
                stmt.op.blocks_mut().into_iter().for_each(|block| block.for_each_atom_mut(visit));
            }
            self.results.iter_mut().for_each(visit);
        });
    }

    /// The variables that it uses, nested blocks included, and that are bound outside: in the order of their first use.
    pub fn free_vars(&self) -> Vec<Var> {
        let mut walk = FreeVars::default();
        walk.block(self);
        walk.free.into_iter().collect()
    }

    /// The variables that it binds, nested blocks included, its own parameters among them.
    pub fn bound_vars(&self) -> FxHashSet<Var> {
        let mut bound: FxHashSet<Var> = self.params.iter().copied().collect();
        self.for_each_stmt(&mut |stmt| {
            bound.extend(&stmt.outs);
            bound.extend(stmt.op.blocks().into_iter().flat_map(|inner| &inner.params));
        });
        bound
    }

    /// How many statements there are, nested ones included.
    pub fn size(&self) -> usize {
        let mut size = 0;
        self.for_each_stmt(&mut |_| size += 1);
        size
    }
}

/// Finds free variables. As no variable is bound twice, what is bound anywhere in the block is not free.
#[derive(Default)]
struct FreeVars {
    bound: FxHashSet<Var>,
    free: IndexSet<Var>,
}

impl FreeVars {
    fn block(&mut self, block: &Block) {
        deep(|| {
            self.bound.extend(&block.params);
            for stmt in &block.stmts {
                stmt.op.for_each_atom(&mut |atom| self.atom(atom));
                stmt.op.blocks().into_iter().for_each(|block| self.block(block));
                self.bound.extend(&stmt.outs);
            }
            block.results.iter().for_each(|atom| self.atom(atom));
        });
    }

    fn atom(&mut self, atom: &Atom) {
        if let Some(var) = atom.var()
            && !self.bound.contains(&var)
        {
            self.free.insert(var);
        }
    }
}
