//! What was computed before, in this block or in one around it, is not computed again.
//!
//! Operations that may fail are included: where the second would fail the first has failed already. So are calls, and loops whose bodies
//! do the same: a system of equations that is solved twice has its matrix factorized once. Loops that do little for each element of an array are not:
//! they become part of the loops that use it. Nor are branches and data: equal ones are rare.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is computed again")]

use crate::alike::is_again;
use crate::walk::{Forward, Names, holds_loops};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;
use wengert_ir::op::{ArrayOp, Compare, Convert, IntOp, Mode, Op, TextOp};
use wengert_ir::program::FuncId;
use wengert_ir::{Atom, Func, Program, Stmt, Var};
use wengert_prim::RealOp;

/// See the module.
pub(crate) fn run(program: &mut Program) {
    for (_, func) in program.funcs.iter_mut() {
        Cse::default().function(func);
    }
}

/// An operation that can be compared.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Head {
    Real(RealOp),
    Power,
    Polygamma,
    Int(IntOp),
    Compare(Compare),
    Convert(Convert),
    Not,
    Select,
    Text(TextOp),
    Array(ArrayOp),
    Call(FuncId),
    /// How many statements its body has.
    Loop(usize),
}

#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Operand {
    Var(Var),
    Real(u64),
    Int(i64),
    Bool(bool),
    Text(Arc<str>),
    Unit,
}

/// Those of what is the same either way are sorted.
type Key = (Head, SmallVec<[Operand; 3]>);

/// What was computed: its results, and the loop that it is.
type Known = (Vec<Var>, Option<Op>);

#[derive(Default)]
struct Cse {
    names: Names,
    known: FxHashMap<Key, Known>,
    /// What was noted, in order, so that it can be forgotten at the end of a block.
    noted: Vec<Key>,
}

impl Forward for Cse {
    fn names(&mut self) -> &mut Names {
        &mut self.names
    }

    fn stmt(&mut self, _: &mut Func, _: &mut Vec<Stmt>, stmt: &mut Stmt) -> Option<Vec<Atom>> {
        if stmt.outs.is_empty() {
            return None;
        }
        let key = key(&stmt.op)?;
        let mut around = None;
        if let Op::Loop(parts) = &mut stmt.op {
            self.names.replace_inside(&mut parts.body);
            around = Some(stmt.op.clone());
        }
        if let Some((outs, before)) = self.known.get(&key) {
            let same = match (before, &around) {
                (Some(before), Some(now)) => is_again(before, now),
                _ => true,
            };
            return same.then(|| outs.iter().copied().map(Atom::Var).collect());
        }
        self.known.insert(key.clone(), (stmt.outs.clone(), around));
        self.noted.push(key);
        None
    }

    fn enter(&mut self) -> usize {
        self.noted.len()
    }

    fn leave(&mut self, mark: usize) {
        for key in self.noted.drain(mark..) {
            self.known.remove(&key);
        }
    }
}

fn key(op: &Op) -> Option<Key> {
    let head = match op {
        Op::Real(op, _) => Head::Real(*op),
        Op::Power { .. } => Head::Power,
        Op::Polygamma { .. } => Head::Polygamma,
        Op::Int(op, _) => Head::Int(*op),
        Op::Compare(op, ..) => Head::Compare(*op),
        Op::Convert(op, _) => Head::Convert(*op),
        Op::Not(_) => Head::Not,
        Op::Select { .. } => Head::Select,
        Op::Text(op, _) => Head::Text(*op),
        // A copy of an array that is updated would cost more than making it again.
        Op::Array(ArrayOp::Zeros | ArrayOp::Replicate | ArrayOp::Iota | ArrayOp::Literal, _) => return None,
        Op::Array(op, _) => Head::Array(*op),
        Op::Call { func, checkpoint: false, .. } => Head::Call(*func),
        Op::Loop(parts) if parts.mode != Mode::Each || holds_loops(parts) => {
            Head::Loop(parts.body.stmts.len())
        }
        _ => return None,
    };
    let mut operands = SmallVec::new();
    op.for_each_atom(&mut |atom| operands.push(operand(atom)));
    if is_commutative(&head) {
        operands.sort_unstable();
    }
    Some((head, operands))
}

/// Whether the operands may be exchanged, to the last bit.
fn is_commutative(head: &Head) -> bool {
    matches!(
        head,
        Head::Real(RealOp::Add | RealOp::Mul | RealOp::MulZero)
            | Head::Int(IntOp::Add | IntOp::Mul | IntOp::Min | IntOp::Max)
            | Head::Compare(Compare::Eq | Compare::Ne)
    )
}

fn operand(atom: &Atom) -> Operand {
    match atom {
        Atom::Var(var) => Operand::Var(*var),
        Atom::Real(x) => Operand::Real(x.to_bits()),
        Atom::Int(n) => Operand::Int(*n),
        Atom::Bool(b) => Operand::Bool(*b),
        Atom::Text(text) => Operand::Text(text.clone()),
        Atom::Unit => Operand::Unit,
    }
}
