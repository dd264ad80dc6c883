//! What needs nothing of the sizes of arrays but what follows from how they are made: it can be done where nobody has looked yet whether they
//! are as they should be.
//!
//! ```text
//! n = length(xs)                                           m = length(ys)
//! a = each i < n, x in xs { … }      stands anywhere       require n == m
//!                                                          b = each i < n, x in xs, y in ys { … }      only after that
//! ```
//!
//! A loop goes through as many rows of its inputs as it has iterations, and does not look whether they are there; so do sums of arrays. Where
//! something before them fails if the sizes are others, they stay behind it.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "what is not listed tells nothing of sizes, or needs none"
)]

use crate::facts::{Keeps, keeps};
use rustc_hash::FxHashMap;
use wengert_ir::op::{ArrayOp, Op};
use wengert_ir::{Atom, Block, Stmt, Var};

/// How an array or a size is made.
#[derive(Clone, Debug)]
enum How {
    /// An array of the sizes of another one.
    Like(Var),
    /// An array of as many rows as another one; they may have another size, for where there is one row only it may be replaced.
    LikeFirst(Var),
    /// A row of an array, so many axes down.
    Row(Var, usize),
    /// An array of so many rows, each of which is that of a loop.
    Rows(Atom, Option<Var>),
    /// The size of an array along an axis.
    Size(Var, usize),
}

/// A size: a number, or that of an array along an axis of which no more is known.
#[derive(Clone, Debug, PartialEq)]
enum Size {
    Number(Atom),
    Of(Var, usize),
}

/// How the arrays and sizes of a function are made.
#[derive(Debug, Default)]
pub(crate) struct Made(FxHashMap<Var, How>);

impl Made {
    /// See the type.
    pub(crate) fn of(body: &Block) -> Made {
        let mut made = Made::default();
        body.for_each_stmt(&mut |stmt| made.note(stmt));
        made
    }

    fn note(&mut self, stmt: &Stmt) {
        let how = match &stmt.op {
            Op::Copy(Atom::Var(array)) => How::Like(*array),
            Op::Loop(parts) => {
                let carried = parts.init.len() + parts.accs.len();
                let made = stmt.outs.iter().zip(&parts.body.results).skip(carried);
                self.0.extend(made.map(|(out, row)| (*out, How::Rows(parts.len.clone(), row.var()))));
                // To what is added up something is added.
                let params = parts.body.params.iter().skip(1);
                let sums = stmt.outs.iter().skip(parts.init.len()).zip(params.clone().skip(parts.init.len()));
                for ((out, param), acc) in sums.zip(&parts.accs) {
                    let like = acc.var().map(How::Like);
                    self.0.extend([out, param].into_iter().zip([like.clone(), like]).filter_map(own));
                }
                let rows = params.skip(carried).zip(&parts.inputs);
                self.0.extend(rows.filter_map(|(row, array)| Some((*row, How::Row(array.var()?, 1)))));
                return;
            }
            Op::Array(op, args) => {
                let Some(how) = of_array_op(*op, args) else { return };
                how
            }
            _ => return,
        };
        self.0.extend(stmt.outs.iter().map(|out| (*out, how.clone())));
    }

    /// The size of an array along an axis. Of a row of an array there is one: then it has the size that the loop gave it which made the rows, if
    /// that is asked for too (`made`).
    fn size(&self, array: Var, axis: usize, made: bool) -> Size {
        let (mut array, mut axis, mut is_there) = (array, axis, false);
        loop {
            match self.0.get(&array) {
                Some(How::Like(other)) => array = *other,
                Some(How::LikeFirst(other)) if axis == 0 => array = *other,
                Some(How::Row(of, down)) => (array, axis, is_there) = (*of, axis + down, made),
                Some(How::Rows(len, _)) if axis == 0 => return self.number(len),
                Some(How::Rows(_, Some(row))) if is_there => (array, axis) = (*row, axis - 1),
                _ => return Size::Of(array, axis),
            }
        }
    }

    fn number(&self, number: &Atom) -> Size {
        match number.var().and_then(|var| self.0.get(&var)) {
            Some(How::Size(array, axis)) => self.size(*array, *axis, false),
            Some(How::Like(other)) => self.number(&Atom::Var(*other)),
            _ => Size::Number(number.clone()),
        }
    }

    /// Whether a statement can be done where its operands are there, whatever was not looked at yet. `given` are arrays that have as many rows
    /// as the loop has iterations.
    pub(crate) fn stands(&self, stmt: &Stmt, given: &dyn Fn(&Atom) -> bool) -> bool {
        let alone = match &stmt.op {
            Op::Loop(parts) => {
                let len = self.number(&parts.len);
                let has = |array: Var| [false, true].into_iter().any(|made| self.size(array, 0, made) == len);
                let is_long = |input: &Atom| input.var().is_some_and(has);
                parts.inputs.iter().all(|input| given(input) || is_long(input))
            }
            op => !relies_on_sizes(op),
        };
        let mut inside = stmt.op.blocks().into_iter().flat_map(|block| &block.stmts);
        alone
            && stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
                inside.all(|stmt| self.stands(stmt, &|_| false))
            })
    }
}

/// Whether a statement can be done whatever was not looked at yet, and however its operands are made.
pub(crate) fn stands_alone(stmt: &Stmt) -> bool {
    Made::default().stands(stmt, &|_| false)
}

/// What is told of a variable.
fn own((var, how): (&Var, Option<How>)) -> Option<(Var, How)> {
    Some((*var, how?))
}

/// How an operation makes what it gives.
fn of_array_op(op: ArrayOp, args: &[Atom]) -> Option<How> {
    let first = args.first()?;
    match op {
        ArrayOp::Length(axis) => Some(How::Size(first.var()?, usize::from(axis))),
        ArrayOp::Iota | ArrayOp::Replicate => Some(How::Rows(first.clone(), None)),
        ArrayOp::Literal => Some(How::Rows(Atom::Int(i64::try_from(args.len()).ok()?), None)),
        ArrayOp::Index => Some(How::Row(first.var()?, args.len() - 1)),
        _ => Some(match keeps(op)? {
            Keeps::Sizes => How::Like(first.var()?),
            Keeps::Rows => How::LikeFirst(first.var()?),
        }),
    }
}

/// Whether an operation that is said not to fail would read beyond an array of other sizes; a function may.
fn relies_on_sizes(op: &Op) -> bool {
    matches!(
        op,
        Op::Call { .. }
            | Op::Array(ArrayOp::Add | ArrayOp::AddProduct(_) | ArrayOp::UnflattenLike | ArrayOp::Reshape, _)
    )
}

#[cfg(test)]
mod tests {
    use super::Made;
    use wengert_ir::Stmt;

    #[test]
    fn what_relies_on_sizes_stays_behind_what_looks_at_them() {
        let program = wengert_ir::parse(
            "func f(xs: []Real, ys: []Real, ms: [][]Real, m: Int) -> Real {
                n = length(xs)
                require n == m, same_size map2
                alone = each i < n, x in xs { a = x * x yield a }
                after = each i2 < n, x2 in alone, x3 in xs { b = x2 * x3 yield b }
                zs = zeros(after)
                kept = each i3 < n, x4 in zs { yield x4 }
                other = each i4 < m, y in xs { yield y }
                both = each i5 < n, x5 in xs, y2 in ys { c = x5 * y2 yield c }
                w = length(ms, 1)
                k = length(ms)
                rows = each i6 < k, r in ms { t = for i7 < w, s = 0.0, e in r { s2 = s + e yield s2 } yield t }
                wrong = each i8 < k, r2 in ms { u = for i9 < m, s3 = 0.0, e2 in r2 { s4 = s3 + e2 yield s4 } yield u }
                table = each i10 < k { line = each i11 < m { one = real(i11) yield one } yield line }
                over = each i12 < k, r3 in table { v = for i13 < m, s5 = 0.0, e3 in r3 { s6 = s5 + e3 yield s6 } yield v }
                put = ms with [0] = xs
                long = each i14 < k, r4 in put { yield 1.0 }
                wide = each i15 < k, r5 in put { q = for i16 < w, s7 = 0.0, e4 in r5 { s8 = s7 + e4 yield s8 } yield q }
                added = xs + ys
                p = sum(other)
                return p
            }
            entry f = f",
        )
        .expect("the text is a program");
        let func = program.funcs.iter().next().map(|(_, func)| func).expect("it has a function");
        let made = Made::of(&func.body);
        let name = |stmt: &&Stmt| stmt.outs.first().map(|out| func.vars.at(*out).name.to_string());
        let stand = |given: bool| -> Vec<String> {
            let stands = |stmt: &&Stmt| made.stands(stmt, &|_| given);
            func.body.stmts.iter().filter(stands).filter_map(|stmt| name(&stmt)).collect()
        };
        assert_eq!(
            stand(false),
            ["n", "alone", "after", "zs", "kept", "w", "k", "rows", "table", "over", "put", "long", "p"]
        );
        // What a loop is given of that length beside another one; not what loops inside of it need.
        assert_eq!(
            stand(true),
            [
                "n", "alone", "after", "zs", "kept", "other", "both", "w", "k", "rows", "table", "over",
                "put", "long", "p"
            ]
        );
    }
}
