//! Recursion that branches has more leaves than anything else. So a call in a function of itself looks first whether it is a leaf, and
//! then needs no call, and nothing on the tape of a derivative.
//!
//! ```text
//! f(n) = if n == 1 { leaf } else { … for …: y = f(m) … }
//!                                    becomes   y = if m == 1 { leaf } else { f(m) }
//! ```
//!
//! Where the leaf is what has a list of one element, and only that element is looked at, the list of a leaf is not made: its element
//! is computed as the loop that makes lists would.
//!
//! This is done once, before derivatives are made: a function that was unrolled would be unrolled again.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is in no leaf")]

use crate::facts::{is_safe, total};
use rustc_hash::FxHashSet;
use wengert_ir::build::Copier;
use wengert_ir::op::{ArrayOp, Compare, Loop, Mode, Op};
use wengert_ir::program::FuncId;
use wengert_ir::{Atom, Block, Func, Program, Stmt, Var};

/// So many statements before the branch, and in a leaf.
const HEAD: usize = 6;
const LEAF: usize = 16;

/// See the module. Whether something has changed.
pub(crate) fn run(program: &mut Program) -> bool {
    let total = total(program);
    let mut changed = false;
    for id in program.funcs.ids() {
        let original = program.funcs.at(id).clone();
        let Some(shape) = Shape::of(&original, id, &total) else { continue };
        let mut func = original.clone();
        let mut body = std::mem::take(&mut func.body);
        let mut unroll = Unroll { original: &original, shape, total: &total, func: &mut func };
        replace_calls(&mut body, id, &mut |call, args, uses, out| unroll.call(call, args, uses, out));
        func.body = body;
        *program.funcs.at_mut(id) = func;
        changed = true;
    }
    changed
}

/// A function that begins with a look whether this is a leaf.
pub(crate) struct Shape<'f> {
    /// What is computed for that.
    pub(crate) head: &'f [Stmt],
    pub(crate) cond: &'f Atom,
    leaf: &'f Block,
    /// What is done where this is no leaf.
    pub(crate) rest: &'f Block,
    /// Whether the leaf is where the condition holds.
    pub(crate) when: bool,
    /// The branch's results.
    pub(crate) outs: &'f [Var],
}

impl<'f> Shape<'f> {
    pub(crate) fn of(func: &'f Func, id: FuncId, total: &FxHashSet<FuncId>) -> Option<Shape<'f>> {
        let (last, head) = func.body.stmts.split_last()?;
        let Op::If { cond, then, otherwise } = &last.op else { return None };
        let scalar = |stmt: &Stmt| {
            stmt.op.blocks().is_empty()
                && is_safe(&stmt.op, total)
                && stmt.outs.iter().all(|out| func.ty(*out).rank() == 0)
        };
        if head.len() > HEAD || !head.iter().all(scalar) {
            return None;
        }
        let (leaf, rest, calls, when) = match (calls(then, id, false), calls(otherwise, id, false)) {
            (0, n) if n > 0 => (then, otherwise, n, true),
            (n, 0) if n > 0 => (otherwise, then, n, false),
            _ => return None,
        };
        let small = leaf.size() <= LEAF
            && leaf.stmts.iter().all(|stmt| stmt.op.blocks().is_empty() && is_simple(&stmt.op));
        // One call leads to one leaf.
        (calls > 1 && small).then_some(Shape { head, cond, leaf, rest, when, outs: &last.outs })
    }

    /// The parameter of which the leaf has one element and looks at nothing else.
    fn single(&self, func: &Func) -> Option<Var> {
        let Atom::Var(cond) = self.cond else { return None };
        let defined = |var: &Var| self.head.iter().find(|stmt| stmt.outs.contains(var)).map(|stmt| &stmt.op);
        let Some(Op::Compare(Compare::Eq, Atom::Var(length), Atom::Int(1))) = defined(cond) else {
            return None;
        };
        let Some(Op::Array(ArrayOp::Length(0), args)) = defined(length) else { return None };
        let list = args.first()?.var().filter(|list| func.body.params.contains(list))?;
        let fine = |stmt: &Stmt| !stmt.op.operand_vars().contains(&list) || is_first(&stmt.op, list);
        let alone = self.leaf.stmts.iter().all(fine) && !self.leaf.results.contains(&Atom::Var(list));
        (self.when && alone && func.ty(list).rank() == 1).then_some(list)
    }
}

/// `list[0]`
fn is_first(op: &Op, list: Var) -> bool {
    matches!(op, Op::Array(ArrayOp::Index, args) if *args == [Atom::Var(list), Atom::Int(0)])
}

/// What a leaf may do.
fn is_simple(op: &Op) -> bool {
    matches!(
        op,
        Op::Copy(_)
            | Op::Real(..)
            | Op::Power { .. }
            | Op::Int(..)
            | Op::Compare(..)
            | Op::Convert(..)
            | Op::Not(_)
            | Op::Select { .. }
            | Op::Array(ArrayOp::Index | ArrayOp::Length(_), _)
    )
}

/// How often a block calls a function at most, on one way through it; calls in loops count for many.
fn calls(block: &Block, id: FuncId, in_loop: bool) -> usize {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let mut count = 0;
        for stmt in &block.stmts {
            match &stmt.op {
                Op::Call { func, checkpoint: false, .. } if *func == id => {
                    count += if in_loop { 2 } else { 1 }
                }
                op => {
                    let repeats = in_loop || matches!(op, Op::Loop(_) | Op::While(_));
                    let inside = op.blocks().into_iter().map(|inner| calls(inner, id, repeats));
                    count += inside.max().unwrap_or(0);
                }
            }
        }
        count
    })
}

/// What comes in place of a call: given are the call, its arguments, the variables used in the block around it, and what stands before
/// it there.
pub(crate) type Replace<'r> = &'r mut dyn FnMut(Stmt, &[Atom], &[Var], &mut Vec<Stmt>);

/// Replaces the calls of a function in a block.
pub(crate) fn replace_calls(block: &mut Block, id: FuncId, replace: Replace<'_>) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let uses = uses(block);
        let mut out: Vec<Stmt> = Vec::with_capacity(block.stmts.len());
        for mut stmt in std::mem::take(&mut block.stmts) {
            if let Op::Call { func, args, checkpoint: false } = &stmt.op
                && *func == id
            {
                let args = args.clone();
                replace(stmt, &args, &uses, &mut out);
                continue;
            }
            for inner in stmt.op.blocks_mut() {
                replace_calls(inner, id, replace);
            }
            out.push(stmt);
        }
        block.stmts = out;
    });
}

struct Unroll<'f> {
    original: &'f Func,
    shape: Shape<'f>,
    total: &'f FxHashSet<FuncId>,
    func: &'f mut Func,
}

impl Unroll<'_> {
    fn call(&mut self, call: Stmt, args: &[Atom], uses: &[Var], out: &mut Vec<Stmt>) {
        let list = self.list(args, uses, out);
        let made = list.as_ref().map(|(_, place)| out.remove(*place));
        let (original, span) = (self.original, call.span);
        let mut copier = Copier::new(original);
        for (param, arg) in original.body.params.iter().zip(args) {
            copier.set(*param, arg.clone());
        }
        for stmt in self.shape.head {
            let mut copy = copier.stmt(self.func, stmt);
            // The length of a list that is made later.
            if let (Some(Stmt { op: Op::Loop(parts), outs, .. }), Op::Array(ArrayOp::Length(0), args)) =
                (&made, &copy.op)
                && args.first().and_then(Atom::var) == outs.first().copied()
            {
                copy.op = Op::Copy(parts.len.clone());
            }
            out.push(copy);
        }
        let cond = copier.atom(self.shape.cond);
        let mut leaf = Vec::new();
        for stmt in &self.shape.leaf.stmts {
            match (&list, &made) {
                (Some((param, _)), Some(Stmt { op: Op::Loop(parts), .. })) if is_first(&stmt.op, *param) => {
                    let element = self.first_of(parts, &mut leaf);
                    stmt.outs.iter().for_each(|var| copier.set(*var, element.clone()));
                }
                (_, _) => leaf.push(copier.stmt(self.func, stmt)),
            }
        }
        let results = self.shape.leaf.results.iter().map(|atom| copier.atom(atom));
        // In the order of the function's results.
        let by_out: Vec<(Var, Atom)> = self.shape.outs.iter().copied().zip(results).collect();
        let of = |atom: &Atom| {
            let known = by_out.iter().find(|(out, _)| Atom::Var(*out) == *atom);
            known.map_or_else(|| copier.atom(atom), |(_, result)| result.clone())
        };
        let results = original.body.results.iter().map(of).collect();
        let leaf = Block { params: Vec::new(), stmts: leaf, results };
        let outs: Vec<Var> =
            call.outs.iter().map(|out| self.func.vars.push(*self.func.vars.at(*out))).collect();
        let results = outs.iter().copied().map(Atom::Var).collect();
        let again = Stmt { outs, op: call.op, span };
        let deeper = Block { params: Vec::new(), stmts: made.into_iter().chain([again]).collect(), results };
        let (then, otherwise) = if self.shape.when { (leaf, deeper) } else { (deeper, leaf) };
        out.push(Stmt { outs: call.outs, op: Op::If { cond, then, otherwise }, span });
    }

    /// The parameter that is a list, and where the list is made: for this call only.
    fn list(&self, args: &[Atom], uses: &[Var], out: &[Stmt]) -> Option<(Var, usize)> {
        let param = self.shape.single(self.original)?;
        let place = self.original.body.params.iter().position(|other| *other == param)?;
        let made = made_before(args.get(place)?.var()?, uses, out, &|stmt| is_safe(&stmt.op, self.total))?;
        Some((param, made))
    }

    /// The first element of what a loop makes.
    fn first_of(&mut self, parts: &Loop, out: &mut Vec<Stmt>) -> Atom {
        let mut copier = Copier::within();
        if let Some(index) = parts.body.params.first() {
            copier.set(*index, Atom::Int(0));
        }
        for stmt in &parts.body.stmts {
            out.push(copier.stmt(self.func, stmt));
        }
        parts.body.results.first().map_or(Atom::Int(0), |result| copier.atom(result))
    }
}

/// Where a list is made that is used once: by a loop that makes nothing else, with nothing after it that may fail.
pub(crate) fn made_before(
    list: Var,
    uses: &[Var],
    out: &[Stmt],
    is_safe: &dyn Fn(&Stmt) -> bool,
) -> Option<usize> {
    let made = out.iter().rposition(|stmt| stmt.outs == [list])?;
    let Op::Loop(parts) = &out.get(made)?.op else { return None };
    let plain = parts.mode == Mode::Each && parts.accs.is_empty() && parts.inputs.is_empty();
    let once = uses.iter().filter(|var| **var == list).count() == 1;
    let safe = out.iter().skip(made + 1).all(|stmt| is_safe(stmt) && stmt.op.blocks().is_empty());
    (plain && once && safe && parts.body.results.len() == 1).then_some(made)
}

/// The variables that a block uses, blocks inside of it included, as often as it does.
fn uses(block: &Block) -> Vec<Var> {
    let mut found: Vec<Var> = block.results.iter().filter_map(Atom::var).collect();
    block.for_each_stmt(&mut |stmt| {
        stmt.op.for_each_atom(&mut |atom| found.extend(atom.var()));
        found.extend(stmt.op.blocks().into_iter().flat_map(|inner| &inner.results).filter_map(Atom::var));
    });
    found
}
