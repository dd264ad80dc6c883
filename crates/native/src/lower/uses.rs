//! Where variables are used: what views look into, and when a variable is needed for the last time.
//!
//! A row `r = index xs i` is no copy, so that each use of `r` is a use of `xs`.

use indexmap::IndexSet;
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::collections::BTreeSet;
use wengert_ir::op::{ArrayOp, Op, TextOp};
use wengert_ir::{Atom, Block, Func, Stmt, Ty, Var};

/// A set of variables, in order, so that the code is the same each time.
pub(super) type Vars = BTreeSet<Var>;

/// What each view looks into.
pub(super) fn views(func: &Func) -> FxHashMap<Var, Var> {
    let mut views = FxHashMap::default();
    func.body.for_each_stmt(&mut |stmt| {
        if let ([out], Some(source)) = (stmt.outs.as_slice(), viewed(func, stmt)) {
            views.insert(*out, source);
        }
    });
    views
}

/// What the result of a statement looks into, if it is no array of its own.
pub(super) fn viewed(func: &Func, stmt: &Stmt) -> Option<Var> {
    let Op::Array(op, args) = &stmt.op else { return None };
    let is_array = stmt.outs.first().is_some_and(|out| matches!(func.ty(*out), Ty::Array(..)));
    let views = match op {
        ArrayOp::Index => is_array,
        ArrayOp::Slice | ArrayOp::Flatten | ArrayOp::Ravel | ArrayOp::Reshape | ArrayOp::UnflattenLike => {
            is_array
        }
        ArrayOp::Literal
        | ArrayOp::Empty(..)
        | ArrayOp::Length(_)
        | ArrayOp::Set
        | ArrayOp::AddAt
        | ArrayOp::Add
        | ArrayOp::Zeros
        | ArrayOp::Iota
        | ArrayOp::Replicate
        | ArrayOp::Concat
        | ArrayOp::Reverse
        | ArrayOp::Transpose
        | ArrayOp::Gather
        | ArrayOp::ScatterAdd
        | ArrayOp::AddProduct(_)
        | ArrayOp::Filter
        | ArrayOp::Sum
        | ArrayOp::Product
        | ArrayOp::Maximum
        | ArrayOp::Minimum
        | ArrayOp::ArgMax
        | ArrayOp::ArgMin
        | ArrayOp::Dot
        | ArrayOp::MatVec
        | ArrayOp::MatMul
        | ArrayOp::Sort
        | ArrayOp::ArgSort => false,
    };
    if views { args.first().and_then(Atom::var) } else { None }
}

/// The free variables of the blocks of a function. Blocks nest, and are asked about at each level: each is looked through once.
#[derive(Default)]
pub(super) struct Free {
    /// By where the blocks are in memory.
    known: FxHashMap<*const Block, Vec<Var>>,
}

impl Free {
    pub(super) fn of_function(func: &Func) -> Free {
        let mut free = Free::default();
        func.body.stmts.iter().flat_map(|stmt| stmt.op.blocks()).for_each(|block| free.look_through(block));
        free
    }

    /// As [`Block::free_vars`].
    pub(super) fn of(&self, block: &Block) -> Cow<'_, [Var]> {
        match self.known.get(&std::ptr::from_ref(block)) {
            Some(known) => Cow::Borrowed(known),
            None => Cow::Owned(block.free_vars()),
        }
    }

    fn look_through(&mut self, block: &Block) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut bound: FxHashSet<Var> = block.params.iter().copied().collect();
            let mut used: IndexSet<Var> = IndexSet::new();
            for stmt in &block.stmts {
                stmt.op.for_each_atom(&mut |atom| used.extend(atom.var()));
                for inner in stmt.op.blocks() {
                    self.look_through(inner);
                    used.extend(self.known.get(&std::ptr::from_ref(inner)).into_iter().flatten());
                }
                bound.extend(&stmt.outs);
            }
            used.extend(block.results.iter().filter_map(Atom::var));
            used.retain(|var| !bound.contains(var));
            self.known.insert(block, used.into_iter().collect());
        });
    }
}

/// The place of the last use of each variable in a block, statements counted from 0 and its results as one more.
pub(super) fn last_uses(block: &Block, views: &FxHashMap<Var, Var>, free: &Free) -> FxHashMap<Var, usize> {
    let mut last = FxHashMap::default();
    let mut note = |mut var: Var, place: usize| {
        loop {
            last.insert(var, place);
            match views.get(&var) {
                Some(source) => var = *source,
                None => break,
            }
        }
    };
    for (place, stmt) in block.stmts.iter().enumerate() {
        stmt.op.for_each_atom(&mut |atom| atom.var().into_iter().for_each(|var| note(var, place)));
        for inner in stmt.op.blocks() {
            free.of(inner).iter().for_each(|var| note(*var, place));
        }
    }
    for atom in &block.results {
        atom.var().into_iter().for_each(|var| note(var, block.stmts.len()));
    }
    last
}

/// A variable and what it looks into.
pub(super) fn with_sources(var: Var, views: &FxHashMap<Var, Var>) -> impl Iterator<Item = Var> + '_ {
    std::iter::successors(Some(var), |var| views.get(var).copied())
}

/// Which operands of an operation it takes over, if they are references; the others it only reads. A text to which another is
/// appended is not given away, but its memory may be the result's if it dies there.
pub(super) fn takes(op: &Op, passing: &dyn Fn(usize) -> bool) -> Vec<Var> {
    let mut taken = Vec::new();
    let mut take = |atoms: &[Atom]| taken.extend(atoms.iter().filter_map(Atom::var));
    match op {
        Op::Copy(atom) => take(std::slice::from_ref(atom)),
        Op::Make { data: _, ctor: _, fields } => take(fields),
        Op::Select { cond: _, then, otherwise } => {
            take(std::slice::from_ref(then));
            take(std::slice::from_ref(otherwise));
        }
        Op::Call { func: _, args, checkpoint: _ } => {
            let owned = args.iter().enumerate().filter(|(place, _)| passing(*place));
            taken.extend(owned.filter_map(|(_, atom)| atom.var()));
        }
        Op::Loop(parts) => {
            take(&parts.init);
            take(&parts.accs);
        }
        Op::While(parts) => take(&parts.init),
        Op::Array(
            ArrayOp::Set | ArrayOp::AddAt | ArrayOp::ScatterAdd | ArrayOp::Add | ArrayOp::AddProduct(_),
            args,
        )
        | Op::Text(TextOp::Append, args) => take(args.get(..1).unwrap_or_default()),
        Op::Array(..)
        | Op::Real(..)
        | Op::Power { .. }
        | Op::Polygamma { .. }
        | Op::Int(..)
        | Op::Compare(..)
        | Op::Convert(..)
        | Op::Not(_)
        | Op::Text(..)
        | Op::Fail { .. }
        | Op::Require { .. }
        | Op::Whole(_)
        | Op::Match { .. }
        | Op::If { .. }
        | Op::Jvp { .. }
        | Op::Linearize { .. }
        | Op::Forward { .. }
        | Op::Backward { .. }
        | Op::Custom(_)
        | Op::StopGradient(_)
        | Op::Taylor { .. } => {}
    }
    taken
}
