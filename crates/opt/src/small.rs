//! Small arrays of which the sizes are known are their elements: once, before derivatives are made.
//!
//! ```text
//! for i < n, f = start {                                    for i < n, a = 1.0, b = 0.0, c = 0.0, d = 1.0 {
//!   m = [[x, y], [z, w]]                         becomes
//!   g = matmul(f, m)                                          e = a * x + b * z   …
//!   yield g }                                                 yield e, …, … }
//! ```
//!
//! So vectors and matrices of space cost what their numbers cost: sums and products of them are written out, and loops that make them of others, and what
//! branches give of them, and loops hand on, is handed on as numbers ([`carried`]). Here arrays are listed again where they were, and read where they are used; that
//! nobody needs most of them is for other passes to see, and [`short`](crate::short) loops through them are written out after that.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed stays as it is")]

mod carried;
mod uses;

use crate::collect::facts::Facts;
use crate::facts::total;
use crate::sizes::{boxes, walk};
use crate::unroll::{is_of_most, iterations};
use wengert_base::{Name, Span};
use wengert_ir::op::{ArrayOp, Mode, Op};
use wengert_ir::{Atom, Block, Elem, Func, Program, Stmt, Ty, Var};
use wengert_prim::RealOp;

/// So many elements at most, and so many products.
const ELEMENTS: i64 = 16;
const PRODUCTS: i64 = 64;
/// Of more elements the place of the largest is the better thing to know, and loops through more stay, or are short ones.
const FEW: i64 = 4;
/// So many statements are written out for one array.
const STATEMENTS: usize = 160;

/// See the module. Whether something has changed.
pub(crate) fn run(program: &mut Program) -> bool {
    let (total, boxes) = (total(program), boxes(program));
    let mut changed = false;
    for (_, func) in program.funcs.iter_mut() {
        if func.body.all_stmts(&mut |stmt| !is_loop(&stmt.op)) {
            continue;
        }
        let shapes = walk(func, &boxes, false);
        let from = func.clone();
        let facts = Facts::new(&from, &from.body, &shapes, &total);
        let mut body = std::mem::take(&mut func.body);
        let mut pass = Small { func, facts: &facts, changed: false };
        pass.block(&mut body, false);
        changed |= pass.changed;
        func.body = body;
    }
    changed
}

fn is_loop(op: &Op) -> bool {
    matches!(op, Op::Loop(_) | Op::While(_))
}

struct Small<'f> {
    func: &'f mut Func,
    facts: &'f Facts<'f>,
    changed: bool,
}

impl Small<'_> {
    fn block(&mut self, place: &mut Block, is_in_loop: bool) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut out: Vec<Stmt> = Vec::with_capacity(place.stmts.len());
            for mut stmt in std::mem::take(&mut place.stmts) {
                let inside = is_in_loop || is_loop(&stmt.op);
                stmt.op.blocks_mut().into_iter().for_each(|inner| self.block(inner, inside));
                let before = out.len();
                if is_in_loop && self.is_map(&stmt) {
                    if let Op::Loop(parts) = &stmt.op {
                        iterations(self.func, parts, &stmt, &mut out);
                    }
                    self.changed = true;
                    continue;
                }
                let is_done = match &mut stmt.op {
                    Op::Array(op, args) if is_in_loop => {
                        self.written_out(*op, args, &stmt.outs, stmt.span, &mut out).is_some()
                    }
                    Op::Loop(_) | Op::While(_) => self.hand_on(&mut stmt, &mut out),
                    Op::If { .. } if is_in_loop => self.branch(&mut stmt, &mut out),
                    _ => false,
                };
                if !is_done {
                    out.truncate(before);
                    out.push(stmt);
                }
                self.changed |= is_done;
            }
            place.stmts = out;
        });
    }

    /// Whether a loop makes small arrays, of the elements of others.
    fn is_map(&self, stmt: &Stmt) -> bool {
        let Op::Loop(parts) = &stmt.op else { return false };
        let alone = parts.mode == Mode::Each && parts.init.is_empty() && parts.accs.is_empty();
        let small = |out: &Var| self.dims(&Atom::Var(*out)).is_some();
        alone
            && !stmt.outs.is_empty()
            && stmt.outs.iter().all(small)
            && is_of_most(self.func, parts, (FEW, STATEMENTS))
    }

    /// How large an array is along each axis, if that is known and it is small.
    fn dims(&self, array: &Atom) -> Option<Vec<i64>> {
        let ty = self.func.type_of(array);
        let Ty::Array(Elem::Real | Elem::Int | Elem::Bool, rank @ 1..=2) = ty else { return None };
        let size = |axis: u8| match self.facts.size(array, usize::from(axis))?.atom() {
            Some(Atom::Int(n @ 1..=ELEMENTS)) => Some(n),
            _ => None,
        };
        let dims: Vec<i64> = (0..rank).map(size).collect::<Option<_>>()?;
        (dims.iter().product::<i64>() <= ELEMENTS).then_some(dims)
    }

    fn bind(&mut self, name: &str, ty: Ty, op: Op, span: Span, out: &mut Vec<Stmt>) -> Atom {
        let var = self.func.fresh(Name::new(name), ty);
        out.push(Stmt { outs: vec![var], op, span });
        Atom::Var(var)
    }

    /// The elements of an array of this size, row by row.
    fn elements(&mut self, array: &Atom, dims: &[i64], span: Span, out: &mut Vec<Stmt>) -> Vec<Atom> {
        let ty = Ty::Scalar(self.func.type_of(array).elem());
        let places: Vec<Vec<Atom>> = match dims {
            [n, m] => (0..*n).flat_map(|i| (0..*m).map(move |j| vec![Atom::Int(i), Atom::Int(j)])).collect(),
            [n] => (0..*n).map(|i| vec![Atom::Int(i)]).collect(),
            _ => Vec::new(),
        };
        let read = |place: Vec<Atom>| {
            let args = std::iter::once(array.clone()).chain(place).collect();
            self.bind("x", ty, Op::Array(ArrayOp::Index, args), span, out)
        };
        places.into_iter().map(read).collect()
    }

    /// Lists the elements of an array of this size.
    fn list(&mut self, array: Var, elements: &[Atom], dims: &[i64], span: Span, out: &mut Vec<Stmt>) {
        let items = match dims {
            [_, m] => {
                let ty = Ty::of_rank(self.func.ty(array).elem(), 1);
                let rows = elements.chunks(usize::try_from(*m).unwrap_or(1));
                let row =
                    |row: &[Atom]| self.bind("row", ty, Op::Array(ArrayOp::Literal, row.to_vec()), span, out);
                rows.map(row).collect()
            }
            _ => elements.to_vec(),
        };
        out.push(Stmt { outs: vec![array], op: Op::Array(ArrayOp::Literal, items), span });
    }

    /// Writes out an operation on small arrays.
    fn written_out(
        &mut self,
        op: ArrayOp,
        args: &[Atom],
        outs: &[Var],
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Option<()> {
        let [result] = outs else { return None };
        let dims: Vec<Vec<i64>> = args.iter().map(|arg| self.dims(arg)).collect::<Option<_>>()?;
        let is_real = |arg: &Atom| self.func.type_of(arg).elem() == Elem::Real;
        if !args.iter().all(is_real) {
            return None;
        }
        let sizes: Vec<&[i64]> = dims.iter().map(Vec::as_slice).collect();
        match (op, args, sizes.as_slice()) {
            (ArrayOp::Sum | ArrayOp::Product | ArrayOp::Maximum | ArrayOp::Minimum, [xs], [[n]])
                if *n <= FEW || matches!(op, ArrayOp::Sum | ArrayOp::Product) =>
            {
                let op = match op {
                    ArrayOp::Sum => RealOp::Add,
                    ArrayOp::Product => RealOp::Mul,
                    ArrayOp::Maximum => RealOp::Max,
                    _ => RealOp::Min,
                };
                let elements = self.elements(xs, &[*n], span, out);
                let all = self.folded(op, elements, span, out)?;
                out.push(Stmt { outs: vec![*result], op: Op::Copy(all), span });
            }
            (ArrayOp::Add, [a, b], [a_dims, b_dims]) if a_dims == b_dims => {
                let pairs =
                    self.elements(a, a_dims, span, out).into_iter().zip(self.elements(b, b_dims, span, out));
                let both = |(a, b)| self.bind("t", Ty::REAL, Op::Real(RealOp::Add, vec![a, b]), span, out);
                let sums: Vec<Atom> = pairs.map(both).collect();
                self.list(*result, &sums, a_dims, span, out);
            }
            (ArrayOp::Transpose, [a], [[n, m]]) => {
                let elements = self.elements(a, &[*n, *m], span, out);
                let columns = usize::try_from(*m).ok()?;
                let turned: Vec<Atom> = (0..columns)
                    .flat_map(|column| elements.iter().skip(column).step_by(columns).cloned())
                    .collect();
                self.list(*result, &turned, &[*m, *n], span, out);
            }
            (ArrayOp::Dot | ArrayOp::MatVec | ArrayOp::MatMul, [a, b], [a_dims, b_dims]) => {
                self.multiplied((op, *result), (a, a_dims), (b, b_dims), span, out)?;
            }
            _ => return None,
        }
        Some(())
    }

    /// Writes out a product.
    fn multiplied(
        &mut self,
        (op, result): (ArrayOp, Var),
        (a, a_dims): (&Atom, &[i64]),
        (b, b_dims): (&Atom, &[i64]),
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Option<()> {
        // How many rows and columns there are, and how long these are.
        let (rows, length, columns) = match (op, a_dims, b_dims) {
            (ArrayOp::Dot, [n], [k]) if n == k => (1, *n, 1),
            (ArrayOp::MatVec, [n, m], [k]) if m == k => (*n, *m, 1),
            (ArrayOp::MatMul, [n, m], [k, l]) if m == k => (*n, *m, *l),
            _ => return None,
        };
        (rows * length * columns <= PRODUCTS).then_some(())?;
        let (a, b) = (self.elements(a, a_dims, span, out), self.elements(b, b_dims, span, out));
        let (length, across) = (usize::try_from(length).ok()?, usize::try_from(columns).ok()?);
        let mut sums = Vec::new();
        for row in a.chunks(length) {
            for column in 0..across {
                let column = b.iter().skip(column).step_by(across);
                sums.push(self.product(row.iter().zip(column), span, out)?);
            }
        }
        match op {
            ArrayOp::Dot => {
                let sum = sums.into_iter().next()?;
                out.push(Stmt { outs: vec![result], op: Op::Copy(sum), span });
            }
            ArrayOp::MatVec => self.list(result, &sums, &[rows], span, out),
            _ => self.list(result, &sums, &[rows, columns], span, out),
        }
        Some(())
    }

    /// What an operation makes of all of these, from left to right.
    fn folded(&mut self, op: RealOp, all: Vec<Atom>, span: Span, out: &mut Vec<Stmt>) -> Option<Atom> {
        let both = |a, b| self.bind("t", Ty::REAL, Op::Real(op, vec![a, b]), span, out);
        all.into_iter().reduce(both)
    }

    /// The sum of the products of pairs.
    fn product<'a>(
        &mut self,
        pairs: impl Iterator<Item = (&'a Atom, &'a Atom)>,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Option<Atom> {
        let times = |(x, y): (&Atom, &Atom)| {
            self.bind("t", Ty::REAL, Op::Real(RealOp::Mul, vec![x.clone(), y.clone()]), span, out)
        };
        let products = pairs.map(times).collect();
        self.folded(RealOp::Add, products, span, out)
    }

    /// A branch gives small arrays, which at least one side lists, as their elements.
    fn branch(&mut self, stmt: &mut Stmt, out: &mut Vec<Stmt>) -> bool {
        let Op::If { cond: _, then, otherwise } = &mut stmt.op else { return false };
        let (mut outs, mut lists, mut results) = (Vec::new(), Vec::new(), [Vec::new(), Vec::new()]);
        let [on_then, on_otherwise] = &mut results;
        for (at, array) in stmt.outs.iter().enumerate() {
            let (Some(a), Some(b)) = (then.results.get(at).cloned(), otherwise.results.get(at).cloned())
            else {
                return false;
            };
            let listed = uses::is_listed(then, &a) || uses::is_listed(otherwise, &b);
            let dims = [&Atom::Var(*array), &a, &b].map(|array| self.dims(array));
            match &dims {
                [Some(is), Some(first), Some(second)] if listed && is == first && is == second => {
                    on_then.extend(self.elements(&a, is, stmt.span, &mut then.stmts));
                    on_otherwise.extend(self.elements(&b, is, stmt.span, &mut otherwise.stmts));
                    let elements = self.named(*array, is);
                    lists.push((
                        *array,
                        elements.iter().copied().map(Atom::Var).collect::<Vec<_>>(),
                        is.clone(),
                    ));
                    outs.extend(elements);
                }
                _ => {
                    on_then.push(a);
                    on_otherwise.push(b);
                    outs.push(*array);
                }
            }
        }
        if lists.is_empty() {
            return false;
        }
        [then.results, otherwise.results] = results;
        stmt.outs = outs;
        out.push(stmt.clone());
        for (array, elements, dims) in lists {
            self.list(array, &elements, &dims, stmt.span, out);
        }
        true
    }
}
