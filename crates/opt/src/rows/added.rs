//! What each iteration of a loop adds at its own index, to an array that was made for it, becomes a row that it gives.
//!
//! ```text
//! ys = each i < n { … yield y }                     ys = each i < n { … yield y }
//! zs = each i < n, a += ys {               becomes  zs = each i < n, y in ys {
//!   b = a with [i] += x yield b }                     b = y + x yield b }
//! ```
//!
//! Then iterations share nothing, and the two loops can become one. An array that was not made just before is better updated where it
//! is.

use crate::facts::Lengths;
use rustc_hash::FxHashMap;
use wengert_ir::op::{ArrayOp, IntOp, Loop, Op};
use wengert_ir::program::VarInfo;
use wengert_ir::{Atom, Block, Elem, Func, Stmt, Ty, Var};
use wengert_prim::RealOp;

/// How arrays of a block were made.
#[derive(Clone, Debug, Default)]
pub(super) struct Made {
    rows: FxHashMap<Var, Option<Atom>>,
}

impl Made {
    /// Notes what a statement makes.
    pub(super) fn note(&mut self, func: &Func, stmt: &Stmt) {
        if let Op::Loop(parts) = &stmt.op {
            let outputs = stmt.outs.iter().skip(parts.init.len() + parts.accs.len());
            self.rows.extend(outputs.map(|out| (*out, None)));
        }
        if let (Op::Array(ArrayOp::Replicate, args), [out]) = (&stmt.op, stmt.outs.as_slice())
            && let [_, row] = args.as_slice()
            && func.type_of(row).rank() == 0
        {
            self.rows.insert(*out, Some(row.clone()));
        }
        if let (Op::Array(ArrayOp::Zeros, _), [out]) = (&stmt.op, stmt.outs.as_slice())
            && func.ty(*out) == Ty::Array(Elem::Real, 1)
        {
            self.rows.insert(*out, Some(Atom::Real(0.0)));
        }
    }

    /// Whether a loop has made it.
    pub(super) fn by_loop(&self, array: Var) -> bool {
        self.rows.get(&array) == Some(&None)
    }
}

/// See the module.
pub(super) fn become_rows(func: &mut Func, stmt: &mut Stmt, made: &Made, lengths: &Lengths) {
    let Op::Loop(parts) = &mut stmt.op else { return };
    let mut at = 0;
    while at < parts.accs.len() {
        let row = acc_of(func, parts, at, made, lengths);
        let place = parts.init.len() + at;
        match row {
            Some(row) if place < stmt.outs.len() => {
                rewrite(func, parts, at, row);
                let out = stmt.outs.remove(place);
                stmt.outs.push(out);
            }
            Some(_) | None => at += 1,
        }
    }
}

/// What stands for a row of an accumulator before the loop, if it can be one: a number, or the array whose row it is.
enum Row {
    Known(Atom),
    Of(Var),
}

fn acc_of(func: &Func, parts: &Loop, at: usize, made: &Made, lengths: &Lengths) -> Option<Row> {
    let start = parts.accs.get(at)?.var()?;
    let known = made.rows.get(&start)?;
    let summable = matches!(func.ty(start), Ty::Array(Elem::Real, _) | Ty::Array(Elem::Int, 1));
    let place = parts.init.len() + at;
    let param = *parts.body.params.get(1 + place)?;
    let fits = summable && lengths.is(start, &parts.len) && only_adds(parts, param, place);
    fits.then(|| known.clone().map_or(Row::Of(start), Row::Known))
}

/// Whether an accumulator is only added to at the index, by one statement of the body after the other.
fn only_adds(parts: &Loop, param: Var, place: usize) -> bool {
    let index = parts.body.params.first().copied().map(Atom::Var);
    let mut current = param;
    for stmt in &parts.body.stmts {
        match (&stmt.op, stmt.outs.as_slice()) {
            (Op::Array(ArrayOp::AddAt, args), [out])
                if matches!(args.as_slice(), [array, at, row]
                    if array.var() == Some(current) && Some(at) == index.as_ref() && row.var() != Some(current)) =>
            {
                current = *out;
            }
            (op, _) => {
                let mut mentioned = false;
                op.for_each_atom(&mut |atom| mentioned |= atom.var() == Some(current));
                let inside = |block: &Block| block.free_vars().contains(&current);
                if mentioned || op.blocks().into_iter().any(inside) {
                    return false;
                }
            }
        }
    }
    let is_current = |atom: &&Atom| atom.var() == Some(current);
    let results = &parts.body.results;
    current != param
        && results.get(place).is_some_and(|end| is_current(&end))
        && results.iter().filter(is_current).count() == 1
}

/// Makes an accumulator an output.
fn rewrite(func: &mut Func, parts: &mut Loop, at: usize, row: Row) {
    let place = parts.init.len() + at;
    let param = parts.body.params.remove(1 + place);
    let end = parts.body.results.remove(place);
    parts.accs.remove(at);
    let ty = func.ty(param).at(1).unwrap_or(Ty::REAL);
    let mut current = match row {
        Row::Known(atom) => atom,
        Row::Of(array) => {
            let name = func.vars.at(param).name;
            let row = func.vars.push(VarInfo { name, ty });
            parts.inputs.push(Atom::Var(array));
            parts.body.params.push(row);
            Atom::Var(row)
        }
    };
    let mut version = param;
    for stmt in &mut parts.body.stmts {
        let Op::Array(ArrayOp::AddAt, args) = &stmt.op else { continue };
        let ([array, _, more], [out]) = (args.as_slice(), stmt.outs.as_slice()) else { continue };
        if array.var() != Some(version) {
            continue;
        }
        let name = func.vars.at(*out).name;
        let sum = func.vars.push(VarInfo { name, ty });
        version = *out;
        let args = vec![current, more.clone()];
        stmt.op = match ty {
            Ty::Array(..) => Op::Array(ArrayOp::Add, args),
            Ty::Scalar(Elem::Real) => Op::Real(RealOp::Add, args),
            Ty::Scalar(_) => Op::Int(IntOp::Add, args),
        };
        stmt.outs = vec![sum];
        current = Atom::Var(sum);
    }
    debug_assert_eq!(end.var(), Some(version), "the last version is the result");
    parts.body.results.push(current);
}
