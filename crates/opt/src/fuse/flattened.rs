//! The sum of all elements of rows that a loop makes: a loop through the rows, and one through each of them, so that the rows need not
//! be there all at once.
//!
//! ```text
//! ys = each i < n { … yield row }           ys = each i < n { … yield row }
//! zs = flatten(ys)                 becomes  s = for i < n, t = 0.0, row in ys {
//! s = sum(zs)                                 m = length(row)
//!                                             u = for j < m, t2 = t, x in row { v = t2 + x yield v }
//!                                             yield u
//!                                           }
//! ```

use rustc_hash::FxHashMap;
use wengert_base::{Name, Span};
use wengert_ir::op::{ArrayOp, IntOp, Loop, Mode, Op};
use wengert_ir::program::VarInfo;
use wengert_ir::{Atom, Block, Func, Stmt, Ty, Var};
use wengert_prim::RealOp;

/// See the module.
pub(super) fn nested(func: &mut Func, place: &mut Block, uses: &FxHashMap<Var, usize>) {
    let mut rows: FxHashMap<Var, (Var, u32)> = FxHashMap::default();
    let mut lengths: Vec<(usize, Stmt)> = Vec::new();
    for (at, stmt) in place.stmts.iter_mut().enumerate() {
        let once = |var: &&Var| uses.get(*var) == Some(&1);
        match (&stmt.op, stmt.outs.as_slice()) {
            (Op::Loop(parts), outs) if parts.mode == Mode::Each => {
                let arrays = outs.iter().skip(parts.init.len() + parts.accs.len());
                rows.extend(arrays.filter(once).map(|array| (*array, (*array, 0))));
            }
            (Op::Array(ArrayOp::Flatten, args), [out]) => {
                let of = args.first().and_then(Atom::var).and_then(|of| rows.get(&of).copied());
                rows.extend(of.filter(|_| once(&out)).map(|(array, depth)| (*out, (array, depth + 1))));
            }
            (Op::Array(ArrayOp::Sum, args), [out]) => {
                let of = args.first().and_then(Atom::var).and_then(|of| rows.get(&of).copied());
                let Some((array, depth @ 1..)) = of else { continue };
                let mut sum = Sum::new(func, array, *out, stmt.span);
                let (length, op) = sum.of(array, sum.zero(), depth);
                lengths.push((at, length));
                stmt.op = op;
            }
            (_, _) => {}
        }
    }
    lengths.into_iter().rev().for_each(|(at, length)| place.stmts.insert(at, length));
}

/// A sum that becomes a loop.
pub(crate) struct Sum<'f> {
    func: &'f mut Func,
    name: Name,
    elem: Ty,
    span: Span,
}

impl<'f> Sum<'f> {
    /// The sum `out` of the numbers in an array, at a place in the source.
    pub(crate) fn new(func: &'f mut Func, array: Var, out: Var, span: Span) -> Sum<'f> {
        Sum { name: func.vars.at(out).name, elem: Ty::Scalar(func.ty(array).elem()), func, span }
    }

    fn zero(&self) -> Atom {
        if self.elem == Ty::REAL { Atom::Real(0.0) } else { Atom::Int(0) }
    }

    /// The loop that adds up the numbers in an array of this length.
    pub(crate) fn through(mut self, array: Var, len: Atom) -> Op {
        let zero = self.zero();
        self.run(array, len, zero, 0)
    }

    /// The length of an array, and the loop that adds its elements to what is there before: its numbers, or those of its rows that are
    /// so deep in it.
    fn of(&mut self, array: Var, before: Atom, depth: u32) -> (Stmt, Op) {
        let len = self.func.vars.push(VarInfo { name: "n".into(), ty: Ty::INT });
        let length = Op::Array(ArrayOp::Length(0), vec![Atom::Var(array)]);
        let op = self.run(array, Atom::Var(len), before, depth);
        (Stmt { outs: vec![len], op: length, span: self.span }, op)
    }

    fn run(&mut self, array: Var, len: Atom, before: Atom, depth: u32) -> Op {
        let ty = self.func.ty(array);
        let mut fresh = |name: Name, ty| self.func.vars.push(VarInfo { name, ty });
        let index = fresh("i".into(), Ty::INT);
        let (total, sum) = (fresh(self.name, self.elem), fresh(self.name, self.elem));
        let row = fresh(if depth == 0 { "x" } else { "row" }.into(), ty.at(1).unwrap_or(self.elem));
        let terms = vec![Atom::Var(total), Atom::Var(row)];
        let mut stmts = Vec::new();
        let op = match depth.checked_sub(1) {
            Some(inner) => {
                let (length, op) = self.of(row, Atom::Var(total), inner);
                stmts.push(length);
                op
            }
            None if self.elem == Ty::REAL => Op::Real(RealOp::Add, terms),
            None => Op::Int(IntOp::Add, terms),
        };
        stmts.push(Stmt { outs: vec![sum], op, span: self.span });
        Op::Loop(Box::new(Loop {
            mode: Mode::Sequence,
            backward: false,
            len,
            inputs: vec![Atom::Var(array)],
            init: vec![before],
            accs: Vec::new(),
            body: Block { params: vec![index, total, row], stmts, results: vec![Atom::Var(sum)] },
        }))
    }
}
