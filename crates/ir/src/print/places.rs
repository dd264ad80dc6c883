//! Which expressions stand in their place: `return cos(x * x) * x` instead of a line for each operation.
//!
//! What is used once, in the same block, and has no name of the source, is written where it is used, as long as the line does not
//! become long. What may fail does not go past anything else that may fail. What is used is what is shown (`shapes`): `2.0 * t` uses `t` once.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed has a line of its own")]

use super::shapes::Shapes;
use crate::op::{ArrayOp, Atom, Block, Convert, IntOp, Op, Stmt, Var};
use crate::program::Func;
use crate::ty::Ty;
use crate::visit::{deep, flat_op};
use rustc_hash::{FxHashMap, FxHashSet};

/// The variables that are not shown, with what is shown in their place.
pub(super) type Places<'a> = FxHashMap<Var, &'a Op>;

/// So many operations stand in one line.
const LINE: usize = 7;
/// So many are an operand of another one.
const OPERAND: usize = 5;
/// A line that opens a loop is as long as so many operations; so is each thing that is made of many.
const HEAD: usize = 2;

/// Names that the compiler gives, and a person would not miss.
const NAMELESS: [&str; 12] =
    ["", "t", "c", "d", "n", "k", "slope", "sum", "place", "product", "none", "zeros"];

/// What stands in its place in a function.
pub(super) fn places<'a>(func: &'a Func, shapes: &Shapes<'a>) -> Places<'a> {
    let (uses, gone) = shapes.uses(func);
    let mut walk = Walk { func, shapes, uses, places: gone.into_iter().collect() };
    walk.block(&func.body);
    walk.places
}

/// Whether a block ends with an expression or a branch that gives what the block gives: `return if c { … }`.
pub(super) fn is_end(block: &Block) -> bool {
    let Some(Stmt { outs, op, span: _ }) = block.stmts.last() else { return false };
    let all = outs.len() == block.results.len()
        && outs.iter().zip(&block.results).all(|(out, result)| result.var() == Some(*out));
    all && match op {
        Op::If { .. } | Op::Match { .. } => true,
        Op::Fail { .. } => true,
        Op::Loop(_) | Op::While(_) => false,
        _ => outs.len() == 1,
    }
}

/// The branch that a block consists of, if it is all that there is to see: its condition and its sides.
pub(super) fn only_branch<'b>(
    block: &'b Block,
    places: &Places<'_>,
) -> Option<(&'b Atom, &'b Block, &'b Block)> {
    let (last, before) = block.stmts.split_last()?;
    let Stmt { outs, op: Op::If { cond, then, otherwise }, span: _ } = last else { return None };
    let hidden = before.iter().flat_map(|stmt| &stmt.outs).all(|out| places.contains_key(out));
    let alone = hidden && before.iter().all(|stmt| !stmt.outs.is_empty());
    (alone && (is_end(block) || outs.is_empty() && block.results.is_empty()))
        .then_some((cond, then, otherwise))
}

/// The variable that both of two operands are.
pub(super) fn same(args: &[Atom]) -> Option<&Atom> {
    match args {
        [x @ Atom::Var(_), y] if x == y => Some(x),
        _ => None,
    }
}

struct Walk<'a, 's> {
    func: &'a Func,
    shapes: &'s Shapes<'a>,
    uses: FxHashMap<Var, usize>,
    places: Places<'a>,
}

/// What could stand in its place: where it is computed, and of how many operations it is then.
type Waiting = FxHashMap<Var, (usize, usize)>;

impl<'a> Walk<'a, '_> {
    fn block(&mut self, block: &'a Block) {
        let mut waiting = Waiting::default();
        for (at, stmt) in block.stmts.iter().enumerate() {
            let operands = self.shapes.operands(&stmt.op);
            let size = self.line(block, &waiting, at, own_size(&stmt.op), &operands);
            deep(|| stmt.op.blocks().into_iter().for_each(|block| self.block(block)));
            let is_last = at + 1 == block.stmts.len() && is_end(block);
            if let [out] = stmt.outs.as_slice()
                && !is_last
                && size <= OPERAND
                && self.uses.get(out) == Some(&1)
                && (is_safe(&stmt.op) || is_read(&stmt.op) || self.is_row(&stmt.op))
                && (is_length(&stmt.op) || self.is_nameless(*out))
            {
                waiting.insert(*out, (at, size));
            }
        }
        if is_end(block) {
            return;
        }
        let results: Vec<Var> = block.results.iter().filter_map(Atom::var).collect();
        self.line(block, &waiting, block.stmts.len(), results.len().saturating_sub(1), &results);
    }

    /// Puts what waits into the line of this statement; gives how many operations stand there.
    fn line(
        &mut self,
        block: &'a Block,
        waiting: &Waiting,
        at: usize,
        own: usize,
        operands: &[Var],
    ) -> usize {
        let own_operands: FxHashSet<Var> = operands.iter().copied().collect();
        let mut total = own;
        for var in operands {
            let Some((from, size)) = waiting.get(var) else { continue };
            let Some(stmt) = block.stmts.get(*from) else { continue };
            let between = block.stmts.get(from + 1..at).unwrap_or_default();
            let in_order = is_safe(&stmt.op)
                || self.is_row(&stmt.op)
                || between
                    .iter()
                    .all(|other| is_safe(&other.op) || is_read(&other.op) && is_one_of(other, &own_operands));
            if in_order && total + size <= LINE {
                total += size;
                self.places.insert(*var, &stmt.op);
            }
        }
        total
    }

    /// An array of scalars, which cannot disagree in size.
    fn is_row(&self, op: &Op) -> bool {
        let is_scalar = |atom: &Atom| matches!(self.func.type_of(atom), Ty::Scalar(_));
        matches!(op, Op::Array(ArrayOp::Literal, rows) if rows.iter().all(is_scalar))
    }

    fn is_nameless(&self, var: Var) -> bool {
        let name = self.func.vars.get(var).map_or("", |info| info.name.as_str());
        let name = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let stem = name.trim_end_matches('\'');
        stem.ends_with("_bar") || stem.len() < name.len() || NAMELESS.contains(&stem)
    }
}

fn is_one_of(stmt: &Stmt, vars: &FxHashSet<Var>) -> bool {
    stmt.outs.iter().all(|out| vars.contains(out))
}

fn own_size(op: &Op) -> usize {
    match op {
        Op::If { .. } | Op::Match { .. } => HEAD,
        Op::Loop(parts) => HEAD + parts.inputs.len() + parts.init.len() + parts.accs.len(),
        Op::While(parts) => HEAD + parts.init.len(),
        flat_op!() => op.operand_vars().len().max(2) - 1,
    }
}

fn is_length(op: &Op) -> bool {
    matches!(op, Op::Array(ArrayOp::Length(_), _))
}

/// An element that may not be there.
fn is_read(op: &Op) -> bool {
    matches!(op, Op::Array(ArrayOp::Index, _))
}

/// Whether it gives a value wherever it stands.
fn is_safe(op: &Op) -> bool {
    match op {
        Op::Copy(_)
        | Op::Real(..)
        | Op::Power { .. }
        | Op::Compare(..)
        | Op::Convert(Convert::IntToReal | Convert::IsNan, _)
        | Op::Not(_)
        | Op::Select { .. }
        | Op::Text(..)
        | Op::Make { .. }
        | Op::Array(ArrayOp::Length(_) | ArrayOp::Zeros | ArrayOp::Empty(..), _) => true,
        Op::Int(op, _) => matches!(
            op,
            IntOp::Add
                | IntOp::Sub
                | IntOp::Mul
                | IntOp::Neg
                | IntOp::Abs
                | IntOp::Sign
                | IntOp::Min
                | IntOp::Max
        ),
        _ => false,
    }
}
