//! What passes that go forward through a function have in common: operands are replaced as variables get to be known by
//! other names. And so are those of a block that becomes part of another one.

use rustc_hash::FxHashMap;
use wengert_ir::op::{Loop, Op};
use wengert_ir::{Atom, Block, Func, Stmt, Var};
use wengert_prim::RealOp;

/// What variables stand for.
#[derive(Debug, Default)]
pub(crate) struct Names {
    known: FxHashMap<Var, Atom>,
}

impl Names {
    /// From here on a variable stands for an operand, in which names are already replaced.
    pub(crate) fn set(&mut self, var: Var, atom: Atom) {
        self.known.insert(var, atom);
    }

    /// What a variable stands for, if that is something else.
    pub(crate) fn get(&self, var: Var) -> Option<&Atom> {
        self.known.get(&var)
    }

    /// What an operand is now.
    pub(crate) fn replace(&self, atom: &mut Atom) {
        if let Atom::Var(var) = atom
            && let Some(known) = self.known.get(var)
        {
            *atom = known.clone();
        }
    }

    /// Replaces the operands of an operation, not those inside of its blocks.
    pub(crate) fn replace_in(&self, op: &mut Op) {
        if !self.known.is_empty() {
            op.for_each_atom_mut(&mut |atom| self.replace(atom));
        }
    }

    /// Replaces all operands in a block.
    pub(crate) fn replace_inside(&self, block: &mut Block) {
        if !self.known.is_empty() {
            block.for_each_atom_mut(&mut |atom| self.replace(atom));
        }
    }
}

impl FromIterator<(Var, Atom)> for Names {
    fn from_iter<I: IntoIterator<Item = (Var, Atom)>>(known: I) -> Names {
        Names { known: known.into_iter().collect() }
    }
}

/// If a loop's body gives a carried number and something more as the next one, at this place: the statement that adds, and what it adds.
pub(crate) fn added(body: &Block, at: usize) -> Option<(&Stmt, &Atom)> {
    let param = *body.params.get(1 + at)?;
    let result = body.results.get(at)?.var()?;
    let stmt = body.stmts.iter().find(|stmt| stmt.outs == [result])?;
    let Op::Real(RealOp::Add, args) = &stmt.op else { return None };
    let is_param = |atom: &Atom| atom.var() == Some(param);
    match args.as_slice() {
        [a, b] if is_param(a) && !is_param(b) => Some((stmt, b)),
        [a, b] if is_param(b) && !is_param(a) => Some((stmt, a)),
        _ => None,
    }
}

/// The row of an input in a loop, which goes through that from now on; if it did not before, the row has this name.
pub(crate) fn row_of(parts: &mut Loop, input: Atom, name: Var) -> Var {
    let rows = 1 + parts.init.len() + parts.accs.len();
    let place = parts.inputs.iter().position(|other| *other == input);
    if let Some(row) = place.and_then(|place| parts.body.params.get(rows + place)) {
        return *row;
    }
    parts.inputs.push(input);
    parts.body.params.push(name);
    name
}

/// Whether a loop has loops in it, in no branch.
pub(crate) fn holds_loops(parts: &Loop) -> bool {
    parts.body.stmts.iter().any(|stmt| matches!(stmt.op, Op::Loop(_)))
}

/// The variables that an operation uses, its blocks included, and that are bound outside of it.
pub(crate) fn mentioned(op: &Op) -> impl Iterator<Item = Var> {
    let inside = op.blocks().into_iter().flat_map(Block::free_vars);
    op.operand_vars().into_iter().chain(inside)
}

/// How often the variables in a block are used.
pub(crate) fn count_uses(block: &Block) -> FxHashMap<Var, usize> {
    let mut uses: FxHashMap<Var, usize> = FxHashMap::default();
    let mut see = |atom: &Atom| {
        if let Atom::Var(var) = atom {
            *uses.entry(*var).or_default() += 1;
        }
    };
    block.results.iter().for_each(&mut see);
    block.for_each_stmt(&mut |stmt| {
        stmt.op.for_each_atom(&mut see);
        stmt.op.blocks().into_iter().flat_map(|inner| &inner.results).for_each(&mut see);
    });
    uses
}

/// A pass that goes forward through a function.
pub(crate) trait Forward {
    /// What variables stand for.
    fn names(&mut self) -> &mut Names;

    /// A statement whose operands are replaced: it is changed in place and kept, or what its results are is given and it
    /// is gone. Statements to be put before it go to `out`.
    fn stmt(&mut self, func: &mut Func, out: &mut Vec<Stmt>, stmt: &mut Stmt) -> Option<Vec<Atom>>;

    /// Before the statements of a block inside of an operation; what it gives is given to `leave`.
    fn enter(&mut self) -> usize {
        0
    }

    /// After the statements of the block.
    fn leave(&mut self, _mark: usize) {}

    /// Goes through a block.
    fn block(&mut self, func: &mut Func, block: &mut Block) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mark = self.enter();
            let mut out = Vec::with_capacity(block.stmts.len());
            for mut stmt in std::mem::take(&mut block.stmts) {
                self.one(func, &mut out, &mut stmt);
            }
            block.stmts = out;
            for atom in &mut block.results {
                self.names().replace(atom);
            }
            self.leave(mark);
        });
    }

    /// A statement, and the blocks inside of it.
    fn one(&mut self, func: &mut Func, out: &mut Vec<Stmt>, stmt: &mut Stmt) {
        one(self, func, out, stmt);
    }

    /// The blocks inside of an operation.
    fn inside(&mut self, func: &mut Func, op: &mut Op) {
        sides(self, func, op);
    }

    /// Goes through a function.
    fn function(&mut self, func: &mut Func) {
        let mut body = std::mem::take(&mut func.body);
        self.block(func, &mut body);
        func.body = body;
    }
}

/// A statement, and the blocks inside of it.
pub(crate) fn one<F: Forward + ?Sized>(pass: &mut F, func: &mut Func, out: &mut Vec<Stmt>, stmt: &mut Stmt) {
    pass.names().replace_in(&mut stmt.op);
    if let Some(results) = pass.stmt(func, out, stmt) {
        for (var, atom) in stmt.outs.iter().zip(results) {
            pass.names().set(*var, atom);
        }
        return;
    }
    pass.inside(func, &mut stmt.op);
    let op = std::mem::replace(&mut stmt.op, Op::Copy(Atom::Unit));
    out.push(Stmt { outs: std::mem::take(&mut stmt.outs), op, span: stmt.span });
}

/// The blocks inside of an operation. On the sides of a branch the condition is known.
pub(crate) fn sides<F: Forward + ?Sized>(pass: &mut F, func: &mut Func, op: &mut Op) {
    if let Op::If { cond: Atom::Var(cond), then, otherwise } = op {
        for (side, holds) in [(then, true), (otherwise, false)] {
            let before = pass.names().known.insert(*cond, Atom::Bool(holds));
            pass.block(func, side);
            match before {
                Some(before) => pass.names().known.insert(*cond, before),
                None => pass.names().known.remove(cond),
            };
        }
        return;
    }
    for block in op.blocks_mut() {
        pass.block(func, block);
    }
}
