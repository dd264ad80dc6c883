//! A function prepared for evaluation: variables are slots, and each operand says whether it is the last use of its
//! variable on the way through the code. A last use takes the value out of its slot, so that an array that nobody else
//! has is changed in place, and memory is given back early.
//!
//! Uses are found from the end: `live` holds the variables that are needed later. What the body of a loop uses from
//! around it is needed again in the next iteration, and so is never taken out.

use super::value::Value;
use crate::op::{ArrayOp, Atom, Block, Compare, Convert, IntOp, Op, Requirement, Stmt, TextOp, Var};
use crate::program::{Func, FuncId};
use crate::ty::{Id, Ty};
use crate::visit::{deep, flat_op};
use std::rc::Rc;
use wengert_base::Span;
use wengert_prim::RealOp;

/// A function.
#[derive(Debug)]
pub(super) struct Code {
    /// How many variables it has.
    pub(super) slots: usize,
    pub(super) body: Rc<BlockCode>,
}

/// A block.
#[derive(Debug)]
pub(super) struct BlockCode {
    pub(super) params: Vec<u32>,
    pub(super) stmts: Vec<StmtCode>,
    pub(super) results: Vec<Operand>,
}

/// A statement.
#[derive(Debug)]
pub(super) struct StmtCode {
    pub(super) outs: Vec<u32>,
    pub(super) kind: Kind,
    /// Whether it enters a block: its own, or that of a function.
    pub(super) enters: bool,
    /// In the order of [`Op::for_each_atom`]; of a function with a rule of its own, its arguments.
    pub(super) args: Vec<Operand>,
    /// In the order of [`Op::blocks`].
    pub(super) blocks: Vec<Rc<BlockCode>>,
    /// The types of the results of a loop: an array without rows has a type too.
    pub(super) types: Vec<Ty>,
    pub(super) span: Span,
}

/// An operand.
#[derive(Clone, Debug)]
pub(super) enum Operand {
    /// A variable that is needed later too.
    Slot(u32),
    /// The last use of a variable.
    Last(u32),
    /// A constant.
    Const(Value),
}

/// What a statement does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// Gives its operands on: a copy, or constants of a derivative.
    Copy,
    Real(RealOp),
    Power,
    Polygamma,
    Int(IntOp),
    Compare(Compare),
    Convert(Convert),
    Not,
    Select,
    Text(TextOp),
    Fail,
    Require(Requirement),
    Make(u32),
    Match,
    If,
    /// A call; `tail` if nothing is left to be done after it.
    Call {
        func: FuncId,
        tail: bool,
    },
    /// A counted loop: how many values are carried, accumulators included.
    Loop {
        carried: usize,
        backward: bool,
    },
    While,
    Array(ArrayOp),
    /// A request for a derivative, by the word that it is printed with.
    Derivative(&'static str),
}

/// Prepares a function.
pub(super) fn code(func: &Func) -> Code {
    let mut prepare = Prepare { func, live: vec![false; func.vars.len()] };
    Code { slots: func.vars.len(), body: Rc::new(prepare.block(&func.body, true)) }
}

struct Prepare<'a> {
    func: &'a Func,
    /// By variable: whether it is used later.
    live: Vec<bool>,
}

impl Prepare<'_> {
    fn is_live(&self, var: Var) -> bool {
        self.live.get(var.index()).copied().unwrap_or(true)
    }

    fn use_var(&mut self, var: Var) {
        self.live.get_mut(var.index()).into_iter().for_each(|live| *live = true);
    }

    /// Operands that are read from left to right: the last of several uses is the last use.
    fn operands<'a>(&mut self, atoms: impl DoubleEndedIterator<Item = &'a Atom>) -> Vec<Operand> {
        let mut found: Vec<Operand> = atoms
            .rev()
            .map(|atom| match atom {
                Atom::Var(var) if self.is_live(*var) => Operand::Slot(var.0),
                Atom::Var(var) => {
                    self.use_var(*var);
                    Operand::Last(var.0)
                }
                Atom::Real(x) => Operand::Const(Value::Real(*x)),
                Atom::Int(n) => Operand::Const(Value::Int(*n)),
                Atom::Bool(truth) => Operand::Const(Value::Bool(*truth)),
                Atom::Text(text) => Operand::Const(Value::text(&**text)),
                Atom::Unit => Operand::Const(Value::Unit),
            })
            .collect();
        found.reverse();
        found
    }

    /// A block; `tail` if the function has nothing left to do after it.
    fn block(&mut self, block: &Block, tail: bool) -> BlockCode {
        deep(|| {
            let results = self.operands(block.results.iter());
            let last = block.stmts.len().saturating_sub(1);
            let mut stmts: Vec<StmtCode> = Vec::with_capacity(block.stmts.len());
            for (i, stmt) in block.stmts.iter().enumerate().rev() {
                let gives = || stmt.outs.iter().map(|var| Atom::Var(*var)).eq(block.results.iter().cloned());
                stmts.push(self.stmt(stmt, tail && i == last && gives()));
            }
            stmts.reverse();
            BlockCode { params: block.params.iter().map(|var| var.0).collect(), stmts, results }
        })
    }

    fn stmt(&mut self, stmt: &Stmt, tail: bool) -> StmtCode {
        let blocks = match &stmt.op {
            Op::If { .. } | Op::Match { .. } => self.branches(&stmt.op.blocks(), tail),
            Op::Loop(parts) => {
                parts.body.free_vars().into_iter().for_each(|var| self.use_var(var));
                vec![Rc::new(self.block(&parts.body, false))]
            }
            Op::While(parts) => {
                let free = parts.cond.free_vars().into_iter().chain(parts.body.free_vars());
                free.for_each(|var| self.use_var(var));
                let body = self.block(&parts.body, false);
                // What the condition looks at goes on to the body.
                parts.cond.params.iter().for_each(|var| self.use_var(*var));
                vec![Rc::new(self.block(&parts.cond, false)), Rc::new(body)]
            }
            flat_op!() => Vec::new(),
        };
        let mut atoms = Vec::new();
        if let Op::Custom(parts) = &stmt.op {
            atoms.extend(parts.captured.iter().chain(&parts.point));
        } else {
            stmt.op.for_each_atom(&mut |atom| atoms.push(atom));
        }
        let args = self.operands(atoms.into_iter());
        let outs = stmt.outs.iter().map(|var| var.0).collect();
        let is_loop = matches!(stmt.op, Op::Loop(_) | Op::While(_));
        let types = stmt.outs.iter().filter(|_| is_loop).map(|var| self.func.ty(*var)).collect();
        let kind = kind(&stmt.op, tail);
        let enters = !blocks.is_empty() || matches!(kind, Kind::Call { .. } | Kind::Match);
        StmtCode { outs, kind, enters, args, blocks, types, span: stmt.span }
    }

    /// Blocks of which one is run.
    fn branches(&mut self, blocks: &[&Block], tail: bool) -> Vec<Rc<BlockCode>> {
        let after = self.live.clone();
        let mut before = after.clone();
        let mut found = Vec::with_capacity(blocks.len());
        for block in blocks {
            self.live.clone_from(&after);
            found.push(Rc::new(self.block(block, tail)));
            before.iter_mut().zip(&self.live).for_each(|(all, one)| *all |= one);
        }
        self.live = before;
        found
    }
}

fn kind(op: &Op, tail: bool) -> Kind {
    match op {
        // For what is whole there is nothing to be done: there is no result.
        Op::Copy(_) | Op::StopGradient(_) | Op::Whole(_) => Kind::Copy,
        Op::Real(op, _) => Kind::Real(*op),
        Op::Power { .. } => Kind::Power,
        Op::Polygamma { .. } => Kind::Polygamma,
        Op::Int(op, _) => Kind::Int(*op),
        Op::Compare(op, _, _) => Kind::Compare(*op),
        Op::Convert(op, _) => Kind::Convert(*op),
        Op::Not(_) => Kind::Not,
        Op::Select { .. } => Kind::Select,
        Op::Text(op, _) => Kind::Text(*op),
        Op::Fail { .. } => Kind::Fail,
        Op::Require { what, .. } => Kind::Require(*what),
        Op::Make { ctor, .. } => Kind::Make(*ctor),
        Op::Match { .. } => Kind::Match,
        Op::If { .. } => Kind::If,
        Op::Call { func, .. } => Kind::Call { func: *func, tail },
        Op::Loop(parts) => {
            Kind::Loop { carried: parts.init.len() + parts.accs.len(), backward: parts.backward }
        }
        Op::While(_) => Kind::While,
        Op::Array(op, _) => Kind::Array(*op),
        Op::Jvp { .. } => Kind::Derivative("jvp"),
        Op::Linearize { .. } => Kind::Derivative("linearize"),
        Op::Forward { .. } => Kind::Derivative("forward"),
        Op::Backward { .. } => Kind::Derivative("backward"),
        // Without a derivative the rule is not asked.
        Op::Custom(parts) => Kind::Call { func: parts.func, tail },
        Op::Taylor { .. } => Kind::Derivative("taylor"),
    }
}
