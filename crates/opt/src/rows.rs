//! What a loop reads at its index becomes a row that it goes through: the size of the array is known to be the number of
//! iterations, so that nothing has to be checked, and the derivative is an array of rows and no accumulator. The sum of two
//! arrays, one of which a loop has made, is such a loop, and so is the sum of their products, if nothing else is made of that one.
//!
//! ```text
//! n = length(xs)                          n = length(xs)
//! ys = each i < n {              becomes  ys = each i < n, x in xs {
//!   x = xs[i] …                             …
//! ```
//!
//! So does what it adds at its index ([`added`]). What is added to one end of zeros stands beside them ([`beside`]). Many times the same
//! in the shape of an array is rows of the same ([`flattened`]).

mod added;
mod beside;
mod flattened;

use crate::facts::{Lengths, along};
use crate::sizes::{Shape, boxes, walk};
use crate::walk::count_uses;
use added::{Made, become_rows};
use flattened::Same;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_base::Name;
use wengert_ir::op::{ArrayOp, Loop, Mode, Op};
use wengert_ir::program::VarInfo;
use wengert_ir::{Atom, Block, Elem, Func, Program, Stmt, Ty, Var};
use wengert_prim::RealOp;

/// See the module.
pub(crate) fn run(program: &mut Program) {
    let boxes = boxes(program);
    for (_, func) in program.funcs.iter_mut() {
        // Without any of these there is nothing to find.
        let is_other = |stmt: &Stmt| {
            !matches!(
                stmt.op,
                Op::Array(
                    ArrayOp::Index | ArrayOp::Add | ArrayOp::AddAt | ArrayOp::Dot | ArrayOp::UnflattenLike,
                    _
                )
            )
        };
        if func.body.all_stmts(&mut |stmt| is_other(stmt)) {
            continue;
        }
        let shapes = walk(func, &boxes, false);
        let mut lengths = Lengths::defined(along(&shapes, 0));
        let mut body = std::mem::take(&mut func.body);
        let mut known =
            Known { shapes: &shapes, same: Same::of(&body), equal: Vec::new(), uses: count_uses(&body) };
        block(func, &mut body, &mut lengths, &mut known);
        func.body = body;
    }
}

/// What is known of a function's arrays.
struct Known<'s> {
    shapes: &'s FxHashMap<Var, Shape>,
    same: Same,
    /// Numbers of which it is required here that they are equal.
    equal: Vec<(Atom, Atom)>,
    uses: FxHashMap<Var, usize>,
}

impl Known<'_> {
    /// Whether two numbers are equal here.
    fn are_equal(&self, a: &Atom, b: &Atom) -> bool {
        a == b || self.equal.iter().any(|(x, y)| (x, y) == (a, b) || (x, y) == (b, a))
    }
}

fn block(func: &mut Func, place: &mut Block, lengths: &mut Lengths, known: &mut Known<'_>) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let (mark, equal) = (lengths.mark(), known.equal.len());
        let (mut made, mut arrays) = (Made::default(), beside::Arrays::default());
        let mut more: Vec<(usize, Stmt)> = Vec::new();
        for (at, stmt) in place.stmts.iter_mut().enumerate() {
            more.extend(beside::beside(func, stmt, &arrays, known.shapes).map(|zeros| (at, zeros)));
            more.extend(known.same.rows(func, stmt).into_iter().map(|size| (at, size)));
            arrays.note(stmt);
            sum_of_made(func, stmt, &made, lengths, known);
            product_of_made(func, stmt, &made, lengths, known);
            become_rows(func, stmt, &made, lengths);
            made.note(func, stmt);
            if let Op::Require { what: _, left, right } = &stmt.op {
                known.equal.push((left.clone(), right.clone()));
            }
            if let Op::Loop(parts) = &mut stmt.op
                && parts.mode != Mode::Reduce
            {
                go_through(func, parts, lengths);
            }
            lengths.note(func, &stmt.outs, &stmt.op);
            for inner in stmt.op.blocks_mut() {
                block(func, inner, lengths, known);
            }
        }
        more.into_iter().rev().for_each(|(at, zeros)| place.stmts.insert(at, zeros));
        lengths.forget(mark);
        known.equal.truncate(equal);
    });
}

/// The elementwise sum of two arrays, one of which a loop has made, is a loop, so that the two can become one.
fn sum_of_made(func: &mut Func, stmt: &mut Stmt, made: &Made, lengths: &Lengths, known: &Known<'_>) {
    let (Op::Array(ArrayOp::Add, args), [out]) = (&stmt.op, stmt.outs.as_slice()) else { return };
    let [Atom::Var(a), Atom::Var(b)] = args.as_slice() else { return };
    let Some(len) = lengths.of(&Atom::Var(*a)).cloned() else { return };
    let flat = func.ty(*out) == Ty::Array(Elem::Real, 1);
    let equal = lengths.of(&Atom::Var(*b)).is_some_and(|other| known.are_equal(other, &len));
    if !flat || !equal || !(made.by_loop(*a) || made.by_loop(*b)) {
        return;
    }
    let inputs = args.clone();
    let name = func.vars.at(*out).name;
    let index = func.vars.push(VarInfo { name: "i".into(), ty: Ty::INT });
    let mut fresh = |ty| func.vars.push(VarInfo { name, ty });
    let (x, y, sum) = (fresh(Ty::REAL), fresh(Ty::REAL), fresh(Ty::REAL));
    let op = Op::Real(RealOp::Add, vec![Atom::Var(x), Atom::Var(y)]);
    let body = Block {
        params: vec![index, x, y],
        stmts: vec![Stmt { outs: vec![sum], op, span: stmt.span }],
        results: vec![Atom::Var(sum)],
    };
    let (init, accs) = (Vec::new(), Vec::new());
    stmt.op = Op::Loop(Box::new(Loop { mode: Mode::Each, backward: false, len, inputs, init, accs, body }));
}

/// The sum of the products of two arrays, one of which a loop has made for that alone, is a loop.
fn product_of_made(func: &mut Func, stmt: &mut Stmt, made: &Made, lengths: &Lengths, known: &Known<'_>) {
    let (Op::Array(ArrayOp::Dot, args), [out]) = (&stmt.op, stmt.outs.as_slice()) else { return };
    let [Atom::Var(a), Atom::Var(b)] = args.as_slice() else { return };
    let Some(len) = lengths.of(&Atom::Var(*a)).cloned() else { return };
    let equal = lengths.of(&Atom::Var(*b)).is_some_and(|other| known.are_equal(other, &len));
    let uses = if a == b { 2 } else { 1 };
    let alone = |array: &Var| made.by_loop(*array) && known.uses.get(array) == Some(&uses);
    if !equal || !(alone(a) || alone(b)) {
        return;
    }
    let inputs = if a == b { vec![Atom::Var(*a)] } else { args.clone() };
    let name = func.vars.at(*out).name;
    let index = func.vars.push(VarInfo { name: "i".into(), ty: Ty::INT });
    let mut fresh = |name: Name| func.vars.push(VarInfo { name, ty: Ty::REAL });
    let (total, x, term, sum) = (fresh(name), fresh("x".into()), fresh("t".into()), fresh(name));
    let mut params = vec![index, total, x];
    let y = if a == b { x } else { fresh("y".into()) };
    params.extend((a != b).then_some(y));
    let real = |out: Var, op: RealOp, x: Var, y: Var| {
        let op = Op::Real(op, vec![Atom::Var(x), Atom::Var(y)]);
        Stmt { outs: vec![out], op, span: stmt.span }
    };
    let stmts = vec![real(term, RealOp::Mul, x, y), real(sum, RealOp::Add, total, term)];
    let body = Block { params, stmts, results: vec![Atom::Var(sum)] };
    let (mode, init, accs) = (Mode::Sequence, vec![Atom::Real(0.0)], Vec::new());
    stmt.op = Op::Loop(Box::new(Loop { mode, backward: false, len, inputs, init, accs, body }));
}

/// Makes rows of what a loop reads at its index.
fn go_through(func: &mut Func, parts: &mut Loop, lengths: &Lengths) {
    let Some(index) = parts.body.params.first().copied() else { return };
    let inside = parts.body.bound_vars();
    let carried = parts.init.len() + parts.accs.len();
    let mut rows: Vec<(Var, Var)> = Vec::new();
    for (param, input) in parts.body.params.iter().skip(1 + carried).zip(&parts.inputs) {
        rows.extend(input.var().map(|input| (input, *param)));
    }
    let known = rows.len();
    let mut reads = Reads { index, len: parts.len.clone(), lengths, inside, rows };
    reads.block(func, &mut parts.body);
    for (array, row) in reads.rows.drain(known..) {
        parts.inputs.push(Atom::Var(array));
        parts.body.params.push(row);
    }
}

struct Reads<'l> {
    index: Var,
    len: Atom,
    lengths: &'l Lengths,
    inside: FxHashSet<Var>,
    /// Arrays and the parameters for their rows.
    rows: Vec<(Var, Var)>,
}

impl Reads<'_> {
    fn block(&mut self, func: &mut Func, block: &mut Block) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            for stmt in &mut block.stmts {
                if let Op::Array(ArrayOp::Index, args) = &stmt.op
                    && let [Atom::Var(array), Atom::Var(first), rest @ ..] = args.as_slice()
                    && *first == self.index
                    && self.is_as_long(*array)
                    && let Some(row) = self.row(func, *array, stmt.outs.first().copied())
                {
                    let mut rest = rest.to_vec();
                    stmt.op = if rest.is_empty() {
                        Op::Copy(Atom::Var(row))
                    } else {
                        rest.insert(0, Atom::Var(row));
                        Op::Array(ArrayOp::Index, rest)
                    };
                }
                for inner in stmt.op.blocks_mut() {
                    self.block(func, inner);
                }
            }
        });
    }

    fn is_as_long(&self, array: Var) -> bool {
        !self.inside.contains(&array) && self.lengths.is(array, &self.len)
    }

    fn row(&mut self, func: &mut Func, array: Var, like: Option<Var>) -> Option<Var> {
        if let Some((_, row)) = self.rows.iter().find(|(known, _)| *known == array) {
            return Some(*row);
        }
        let ty = func.ty(array).at(1)?;
        let same = like.filter(|like| func.ty(*like) == ty);
        let name = same.unwrap_or(array);
        let name = func.vars.at(name).name;
        let row = func.vars.push(VarInfo { name, ty });
        self.rows.push((array, row));
        Some(row)
    }
}
