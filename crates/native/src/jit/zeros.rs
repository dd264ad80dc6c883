//! Zero tangents are strong: zero times whatever is zero. To look for zeros at each product and quotient costs several times
//! the product; and it makes a difference only where one is not a number, which then is true of what is made of it too. So
//! a run of such operations is done without looking, as plain products and quotients; if something comes out of it that is no
//! number, it is done again, carefully, in a place aside.
//!
//! What so comes out differs in the signs of zeros only; in strict mode it is not done.

use crate::loops::{Local, Operand, Stmt, Value};
use rustc_hash::FxHashSet;
use wengert_prim::RealOp;

/// So many products and quotients are worth a second text.
pub(super) const WORTH: usize = 6;
/// So many, where the second text is there in any case.
pub(super) const WORTH_OF_LOOKING: usize = 2;

/// The operation without looking for zeros.
pub(super) fn plain(op: RealOp) -> RealOp {
    if op == RealOp::MulZero {
        RealOp::Mul
    } else if op == RealOp::DivZero {
        RealOp::Div
    } else {
        op
    }
}

/// Values that may be no numbers only because nobody has looked for zeros.
#[derive(Clone, Debug, Default)]
pub(super) struct Doubtful {
    locals: FxHashSet<Local>,
}

impl Doubtful {
    pub(super) fn has(&self, local: Local) -> bool {
        self.locals.contains(&local)
    }

    pub(super) fn add(&mut self, local: Local) {
        self.locals.insert(local);
    }

    pub(super) fn count(&self) -> usize {
        self.locals.len()
    }

    pub(super) fn is(&self, operand: &Operand) -> bool {
        matches!(operand, Operand::Local(local) if self.has(*local))
    }

    /// Notes an assignment. All operations on reals hand on what is no number, and a choice does not matter if it does not choose
    /// it. Comparisons do not: what they compare is looked at.
    pub(super) fn note(&mut self, local: Local, value: &Value) {
        let doubtful = match value {
            Value::Real(RealOp::MulZero | RealOp::DivZero, _) => true,
            Value::Real(_, args) => args.iter().any(|arg| self.is(arg)),
            Value::Copy(x) | Value::Round(_, x) => self.is(x),
            Value::Select(_, a, b) => self.is(a) || self.is(b),
            Value::Int(..)
            | Value::CompareReal(..)
            | Value::CompareInt(..)
            | Value::OutOfRange(..)
            | Value::IntToReal(_)
            | Value::RealToInt(_)
            | Value::Bits(_)
            | Value::Load { .. }
            | Value::Address { .. }
            | Value::Tag(..)
            | Value::Unique(..)
            | Value::Alloc(..) => false,
        };
        if doubtful {
            self.locals.insert(local);
        } else {
            self.locals.remove(&local);
        }
    }
}

/// How many products and quotients there are in a body without branches for which that can be done: it stores what it makes after it has read all
/// that it reads. None, if it cannot.
pub(super) fn strong(body: &[Stmt]) -> usize {
    let strong = body.iter().filter(|stmt| stmt.is_strong()).count();
    let (mut doubtful, mut stored) = (Doubtful::default(), false);
    let can = body.iter().all(|stmt| {
        let fine = match stmt {
            Stmt::Set(_, Value::Load { .. }) => !stored,
            Stmt::Set(_, Value::RealToInt(x) | Value::Bits(x)) => !doubtful.is(x),
            Stmt::Set(..) | Stmt::If { .. } => true,
            Stmt::Store { .. } => {
                stored = true;
                true
            }
            Stmt::Switch { .. }
            | Stmt::For { .. }
            | Stmt::While { .. }
            | Stmt::Parallel { .. }
            | Stmt::Call { .. }
            | Stmt::Runtime { .. }
            | Stmt::Retain(..)
            | Stmt::Release(..)
            | Stmt::Free(..)
            | Stmt::Fail(..) => false,
        };
        if let Stmt::Set(local, value) = stmt {
            doubtful.note(*local, value);
        }
        fine
    });
    if can { strong } else { 0 }
}
