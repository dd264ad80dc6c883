//! Products of the elements of arrays written out: before a function is differentiated, `product` and `dot` become loops wherever
//! their operands vary. Products of matrices stay ([`crate::products`]), unless functions are recorded.
//!
//! ```text
//! d = dot xs ys        d = loop over (x, y) in (xs, ys), total = 0.0: total + x * y
//! ```
//!
//! The loops have the derivatives of loops, which sum in the order in which the products are summed, and keep nothing: what
//! they need of the primal part are rows of arrays that are there anyway. Products that do not vary stay as they are.

use crate::{Ad, Code, Key, activity};
use rustc_hash::FxHashSet;
use std::rc::Rc;
use wengert_ir::op::{ArrayOp, Atom, Compare, Loop, Mode, Op, Requirement, Stmt, Var};
use wengert_ir::program::Func;
use wengert_ir::ty::{Elem, Ty};
use wengert_prim::RealOp;

/// A function, ready to be differentiated.
pub(crate) struct Prepared {
    /// It, with products written out.
    pub(crate) func: Func,
    /// Which of its variables vary.
    pub(crate) active: FxHashSet<Var>,
    /// Which of its results do.
    pub(crate) results: Vec<bool>,
}

/// How products are written out.
#[derive(Clone, Copy)]
struct Written {
    /// Those of matrices, too.
    matrices: bool,
    /// The product of an array begins with 1, not with the first element.
    from_one: bool,
}

impl Prepared {
    /// A function in which these variables vary.
    fn of(func: Func, active: FxHashSet<Var>) -> Prepared {
        let results = func.body.results.iter().map(|atom| activity::varies(&active, atom)).collect();
        Prepared { func, active, results }
    }
}

impl Ad {
    /// A function, ready to be differentiated with respect to these parameters.
    pub(crate) fn prepare(&mut self, key: &Key) -> Rc<Prepared> {
        self.prepare_with(key, Written { matrices: self.writes_matrices(), from_one: false })
    }

    /// The same, to be linearized: there a first product with 1 is as good as none, and no case apart.
    pub(crate) fn prepare_linear(&mut self, key: &Key) -> Rc<Prepared> {
        self.prepare_with(key, Written { matrices: self.writes_matrices(), from_one: true })
    }

    /// The same, with products of matrices written out too.
    pub(crate) fn prepare_products(&mut self, key: &Key) -> Rc<Prepared> {
        self.prepare_with(key, Written { matrices: true, from_one: false })
    }

    /// On a tape there are numbers only.
    fn writes_matrices(&self) -> bool {
        self.exact || self.is_long()
    }

    fn prepare_with(&mut self, key: &Key, written: Written) -> Rc<Prepared> {
        let matrices = written.matrices;
        let known = (key.clone(), [self.is_long(), matrices, written.from_one]);
        if let Some(prepared) = self.prepared.get(&known) {
            return Rc::clone(prepared);
        }
        let func = self.program.funcs.at(key.0).clone();
        let active = self.varying(&func, &key.1);
        let mut products = false;
        func.body.for_each_stmt(&mut |stmt| products |= is_product(stmt, &active, matrices));
        let mut prepared = if products {
            let mut code = Code::like(self, &func, func.name.as_str());
            let results = code.replaced(&func.body, &mut |code, stmt| {
                let Op::Array(op, args) = &stmt.op else { return None };
                is_product(stmt, &active, matrices).then(|| vec![product(code, *op, args, written)])
            });
            let mut made = code.b.finish(results);
            made.span = func.span;
            let active = self.varying(&made, &key.1);
            Prepared::of(made, active)
        } else {
            Prepared::of(func, active)
        };
        if let Some(results) = self.varying_results_of_entry(key.0, &key.1) {
            prepared.results = results;
        }
        let prepared = Rc::new(prepared);
        self.prepared.insert(known, Rc::clone(&prepared));
        prepared
    }
}

fn is_product(stmt: &Stmt, active: &FxHashSet<Var>, matrices: bool) -> bool {
    let product = if let Op::Array(op, _) = &stmt.op {
        matches!(op, ArrayOp::Product | ArrayOp::Dot)
            || (matrices && matches!(op, ArrayOp::MatVec | ArrayOp::MatMul))
    } else {
        false
    };
    product && stmt.outs.iter().any(|out| active.contains(out))
}

fn product(code: &mut Code<'_>, op: ArrayOp, args: &[Atom], written: Written) -> Atom {
    match (op, args) {
        (ArrayOp::Product, [xs]) if written.from_one => multiplied(code, Atom::Real(1.0), xs),
        (ArrayOp::Product, [xs]) => product_of(code, xs),
        (ArrayOp::Dot, [xs, ys]) => {
            let [m, n] = [xs, ys].map(|array| code.length(array));
            require(code, Requirement::SameSize("dot".into()), m, n);
            dot(code, xs, ys)
        }
        (ArrayOp::MatVec, [rows, x]) => mat_vec(code, rows, x),
        (ArrayOp::MatMul, [left, right]) => mat_mul(code, left, right),
        (_, _) => Atom::Unit,
    }
}

/// The rows' products with a vector.
fn mat_vec(code: &mut Code<'_>, rows: &Atom, x: &Atom) -> Atom {
    let [m, n] = [ArrayOp::Length(1), ArrayOp::Length(0)];
    let width = code.b.called("n").array(m, [rows.clone()]);
    let count = code.b.called("m").array(n, [rows.clone()]);
    let n = code.length(x);
    // Without rows every vector fits.
    let empty = code.b.compare(Compare::Eq, count.clone(), Atom::Int(0));
    let width = code.b.select(empty, n.clone(), width);
    require(code, Requirement::ProductSize("matvec".into()), width, n);
    products_of_rows(code, count, rows, |code, row| (dot(code, row, x), Ty::REAL))
}

/// The rows' products with the columns.
fn mat_mul(code: &mut Code<'_>, left: &Atom, right: &Atom) -> Atom {
    let width = code.b.called("n").array(ArrayOp::Length(1), [left.clone()]);
    let count = code.length(left);
    let n = code.length(right);
    let empty = code.b.compare(Compare::Eq, count.clone(), Atom::Int(0));
    let width = code.b.select(empty, n.clone(), width);
    require(code, Requirement::ProductSize("matmul".into()), width, n);
    let columns = code.b.called("columns").array(ArrayOp::Transpose, [right.clone()]);
    products_of_rows(code, count, left, |code, row| {
        let count = code.length(&columns);
        (products_of_rows(code, count, &columns, |code, column| (dot(code, row, column), Ty::REAL)), ROW)
    })
}

/// A row of a product of matrices.
const ROW: Ty = Ty::Array(Elem::Real, 1);

fn products_of_rows(
    code: &mut Code<'_>,
    count: Atom,
    rows: &Atom,
    product: impl FnOnce(&mut Code<'_>, &Atom) -> (Atom, Ty),
) -> Atom {
    let params = code.open_rows(&[("row", ROW)]);
    let (made, ty) = params.first().map_or((Atom::Unit, Ty::REAL), |row| product(code, row));
    let body = code.b.close(vec![made]);
    let ty = Ty::of_rank(Elem::Real, ty.rank() + 1);
    code.each(count, vec![rows.clone()], Vec::new(), body, &[("product".into(), ty)]).remove(0)
}

/// The first element times the others, one after the other; 1 if there is none.
fn product_of(code: &mut Code<'_>, xs: &Atom) -> Atom {
    let n = code.length(xs);
    let cond = code.b.compare(Compare::Eq, n.clone(), Atom::Int(0));
    code.b.open();
    let then = code.b.close(vec![Atom::Real(1.0)]);
    code.b.open();
    let first = code.b.called("first").array(ArrayOp::Index, [xs.clone(), Atom::Int(0)]);
    let rest = code.b.called("rest").array(ArrayOp::Slice, [xs.clone(), Atom::Int(1), n]);
    let product = multiplied(code, first, &rest);
    let otherwise = code.b.close(vec![product]);
    code.b.called("product").typed1(Ty::REAL, Op::If { cond, then, otherwise })
}

/// A number times elements, one after the other.
fn multiplied(code: &mut Code<'_>, start: Atom, xs: &Atom) -> Atom {
    fold(code, start, std::slice::from_ref(xs), |code, total, rows| {
        code.b.called("product").real(RealOp::Mul, [total].into_iter().chain(rows).collect::<Vec<_>>())
    })
}

pub(crate) fn require(code: &mut Code<'_>, what: Requirement, left: Atom, right: Atom) {
    code.b.typed(&[], Op::Require { what, left, right });
}

fn dot(code: &mut Code<'_>, xs: &Atom, ys: &Atom) -> Atom {
    fold(code, Atom::Real(0.0), &[xs.clone(), ys.clone()], |code, total, rows| {
        let term = code.b.real(RealOp::Mul, rows);
        code.b.called("total").real(RealOp::Add, [total, term])
    })
}

/// A loop that carries one real along arrays of reals of one size.
pub(crate) fn fold(
    code: &mut Code<'_>,
    start: Atom,
    inputs: &[Atom],
    step: impl FnOnce(&mut Code<'_>, Atom, Vec<Atom>) -> Atom,
) -> Atom {
    let len = inputs.first().map_or(Atom::Int(0), |array| code.length(array));
    let names = [("total", Ty::REAL), ("x", Ty::REAL), ("y", Ty::REAL)];
    let mut params = code.open_rows(names.get(..=inputs.len()).unwrap_or(&names));
    let total = params.remove(0);
    let next = step(code, total, params);
    let body = code.b.close(vec![next]);
    let parts = Loop {
        mode: Mode::Sequence,
        backward: false,
        len,
        inputs: inputs.to_vec(),
        init: vec![start],
        accs: Vec::new(),
        body,
    };
    code.b.named(&[("total".into(), Ty::REAL)], Op::Loop(Box::new(parts))).remove(0)
}
