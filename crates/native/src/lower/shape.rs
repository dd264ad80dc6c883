//! The sizes of a row of a loop's output, found before the loop where they do not depend on the iteration.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a size that is not found is no mistake: the array is made later"
)]

use super::stable::Versions;
use super::{ArrayPlace, Lower, Operand, Place, Value, Word};
use crate::loops::Int;
use wengert_ir::op::{ArrayOp, Compare, IntOp, Loop};
use wengert_ir::{Atom, Block, Op, Stmt, Var};

/// What is known inside of the bodies of loops, from the outermost.
struct Inside<'b> {
    body: &'b Block,
    /// Parameters that are rows, and the sizes of these.
    rows: Vec<(Var, Vec<Operand>)>,
}

impl Lower<'_> {
    /// The sizes of a row that the body of a loop gives.
    pub(super) fn row_dims(
        &mut self,
        row: &Atom,
        body: &Block,
        (params, inputs): (&[Var], &[ArrayPlace]),
    ) -> Option<Vec<Operand>> {
        let tail = |input: &ArrayPlace| input.dims.get(1..).unwrap_or_default().to_vec();
        let rows = params.iter().copied().zip(inputs.iter().map(tail)).collect();
        self.dims_of(row, &[Inside { body, rows }])
    }

    fn dims_of(&mut self, atom: &Atom, inside: &[Inside<'_>]) -> Option<Vec<Operand>> {
        let var = atom.var()?;
        if let Some((_, dims)) = inside.iter().flat_map(|level| &level.rows).find(|(row, _)| *row == var) {
            return Some(dims.clone());
        }
        let Some(stmt) = definition(var, inside) else {
            return match self.places.get(&var) {
                Some(Place::Array(array)) if !is_bound_inside(var, inside) => Some(array.dims.clone()),
                _ => None,
            };
        };
        match &stmt.op {
            Op::Copy(atom) => self.dims_of(atom, inside),
            Op::Loop(parts) => self.loop_dims(stmt, parts, var, inside),
            Op::Array(op, args) => self.array_dims(*op, args, inside),
            Op::If { then, otherwise, .. } => self.branch_dims(stmt, &[then, otherwise], var, inside),
            Op::Match { arms, .. } => {
                self.branch_dims(stmt, &arms.iter().collect::<Vec<&Block>>(), var, inside)
            }
            _ => None,
        }
    }

    /// The sizes that an array has whichever branch it is from.
    fn branch_dims(
        &mut self,
        stmt: &Stmt,
        branches: &[&Block],
        var: Var,
        inside: &[Inside<'_>],
    ) -> Option<Vec<Operand>> {
        let place = stmt.outs.iter().position(|out| *out == var)?;
        let mut found: Option<Vec<Operand>> = None;
        for branch in branches {
            let mut deeper: Vec<Inside<'_>> =
                inside.iter().map(|level| Inside { body: level.body, rows: level.rows.clone() }).collect();
            deeper.push(Inside { body: branch, rows: Vec::new() });
            let dims = self.dims_of(branch.results.get(place)?, &deeper)?;
            match &found {
                Some(found) if !self.alike.are(found, &dims) => return None,
                Some(_) => {}
                None => found = Some(dims),
            }
        }
        found
    }

    fn loop_dims(
        &mut self,
        stmt: &Stmt,
        parts: &Loop,
        var: Var,
        inside: &[Inside<'_>],
    ) -> Option<Vec<Operand>> {
        let place = stmt.outs.iter().position(|out| *out == var)?;
        let carried = parts.init.len() + parts.accs.len();
        let row = parts.body.results.get(place)?;
        if place < carried {
            return self.carried_dims(place, parts, row, inside);
        }
        let len = self.size_of(&parts.len, inside)?;
        if usize::from(self.func.ty(var).rank()) == 1 {
            return Some(vec![len]);
        }
        let mut rows = Vec::new();
        for (param, input) in parts.body.params.iter().skip(1 + carried).zip(&parts.inputs) {
            if let Some(dims) = self.dims_of(input, inside) {
                rows.push((*param, dims.get(1..).unwrap_or_default().to_vec()));
            }
        }
        let mut deeper: Vec<Inside<'_>> =
            inside.iter().map(|level| Inside { body: level.body, rows: level.rows.clone() }).collect();
        deeper.push(Inside { body: &parts.body, rows });
        let row = self.dims_of(row, &deeper)?;
        Some(self.with_rows(len, &row))
    }

    /// The sizes of an array that a loop carries: those that it has before, if the loop only updates it.
    fn carried_dims(
        &mut self,
        place: usize,
        parts: &Loop,
        end: &Atom,
        inside: &[Inside<'_>],
    ) -> Option<Vec<Operand>> {
        let start = parts.init.iter().chain(&parts.accs).nth(place)?;
        let param = *parts.body.params.get(place + 1)?;
        let taken = |op: &Op, place: usize| self.passes_on(op, place);
        let mut versions =
            Versions { views: &self.views, free: &self.free, taken: &taken, found: Vec::new() };
        versions.follow(&parts.body, param, end).then(|| self.dims_of(start, inside))?
    }

    fn array_dims(&mut self, op: ArrayOp, args: &[Atom], inside: &[Inside<'_>]) -> Option<Vec<Operand>> {
        let first = args.first()?;
        match op {
            ArrayOp::Set
            | ArrayOp::AddAt
            | ArrayOp::ScatterAdd
            | ArrayOp::AddProduct(_)
            | ArrayOp::Zeros
            | ArrayOp::Reverse
            | ArrayOp::Sort
            | ArrayOp::ArgSort => self.dims_of(first, inside),
            ArrayOp::Reshape => self.dims_of(args.get(1)?, inside),
            ArrayOp::Index => {
                let dims = self.dims_of(first, inside)?;
                Some(dims.get(args.len() - 1..)?.to_vec())
            }
            ArrayOp::Iota => Some(vec![self.size_of(first, inside)?]),
            ArrayOp::Replicate => {
                let n = self.size_of(first, inside)?;
                let row = args.get(1)?;
                if self.ty(row).rank() == 0 {
                    return Some(vec![n]);
                }
                let dims = self.dims_of(row, inside)?;
                Some(self.with_rows(n, &dims))
            }
            ArrayOp::Literal => {
                let n = Operand::Int(i64::try_from(args.len()).ok()?);
                if self.ty(first).rank() == 0 {
                    return Some(vec![n]);
                }
                let dims = self.dims_of(first, inside)?;
                Some(std::iter::once(n).chain(dims).collect())
            }
            ArrayOp::MatVec => Some(vec![*self.dims_of(first, inside)?.first()?]),
            ArrayOp::Slice => {
                let (from, to) = (self.int_of(args.get(1)?, inside)?, self.int_of(args.get(2)?, inside)?);
                let dims = self.dims_of(first, inside)?;
                let rows = self.sized(Value::Int(Int::Sub, to, from));
                let rows = self.not_negative(rows);
                Some(self.with_rows(rows, dims.get(1..)?))
            }
            ArrayOp::Concat if self.ty(first).rank() == 1 => {
                let (a, b) = (self.dims_of(first, inside)?, self.dims_of(args.get(1)?, inside)?);
                Some(vec![self.sized(Value::Int(Int::Add, *a.first()?, *b.first()?))])
            }
            _ => None,
        }
    }

    /// The value of an integer that is a size, never negative.
    fn size_of(&mut self, atom: &Atom, inside: &[Inside<'_>]) -> Option<Operand> {
        let n = self.int_of(atom, inside)?;
        Some(self.not_negative(n))
    }

    /// A number, or 0 if it is less.
    fn not_negative(&mut self, n: Operand) -> Operand {
        match n {
            Operand::Int(n) => Operand::Int(n.max(0)),
            Operand::Local(local) if self.sizes.contains(&local) => n,
            other => self.sized(Value::Int(Int::Max, other, Operand::Int(0))),
        }
    }

    fn int_of(&mut self, atom: &Atom, inside: &[Inside<'_>]) -> Option<Operand> {
        let Some(var) = atom.var() else { return Some(self.word(atom)) };
        let Some(stmt) = definition(var, inside) else {
            return match self.places.get(&var) {
                Some(Place::Plain(operand)) if !is_bound_inside(var, inside) => Some(*operand),
                _ => None,
            };
        };
        match &stmt.op {
            Op::Copy(atom) => self.int_of(atom, inside),
            Op::Array(ArrayOp::Length(axis), args) => {
                let dims = self.dims_of(args.first()?, inside)?;
                dims.get(usize::from(*axis)).copied()
            }
            Op::Int(op, args) => {
                let op = match op {
                    IntOp::Add => Int::Add,
                    IntOp::Sub => Int::Sub,
                    IntOp::Mul => Int::Mul,
                    IntOp::Max => Int::Max,
                    IntOp::Min => Int::Min,
                    _ => return None,
                };
                let a = self.int_of(args.first()?, inside)?;
                let b = self.int_of(args.get(1)?, inside)?;
                Some(self.sized(Value::Int(op, a, b)))
            }
            _ => None,
        }
    }

    /// A number that sizes are made of: one that was found already where it was asked whether sizes may be the same.
    fn sized(&mut self, value: Value) -> Operand {
        if let Some(known) = self.alike.known(&value) {
            return known;
        }
        let made = match value {
            Value::Int(op, a, b) => self.int(op, a, b),
            ref value => self.set(Word::Int, value.clone()),
        };
        self.alike.note(value, made);
        made
    }

    /// The sizes of an array of `n` such rows: without rows it has size 0 along every axis.
    pub(super) fn with_rows(&mut self, n: Operand, row: &[Operand]) -> Vec<Operand> {
        let mut dims = vec![n];
        if row.is_empty() || matches!(n, Operand::Int(n) if n != 0) {
            dims.extend(row);
            return dims;
        }
        let some = self.sized(Value::CompareInt(Compare::Ne, n, Operand::Int(0)));
        for size in row {
            let same = *size == n || *size == Operand::Int(0);
            dims.push(if same { *size } else { self.sized(Value::Select(some, *size, Operand::Int(0))) });
        }
        dims
    }
}

/// The statement of a body that binds a variable.
fn definition<'b>(var: Var, inside: &[Inside<'b>]) -> Option<&'b Stmt> {
    inside.iter().flat_map(|level| &level.body.stmts).find(|stmt| stmt.outs.contains(&var))
}

/// Whether a variable is a parameter of a body.
fn is_bound_inside(var: Var, inside: &[Inside<'_>]) -> bool {
    inside.iter().any(|level| level.body.params.contains(&var))
}
