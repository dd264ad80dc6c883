//! Products of an array with itself: where sums must be those of a tape, they become loops, which add to the array term by term.
//!
//! ```text
//! b = matmul a a       both factors get terms of each element of the cotangent of b, in turn
//! ```

use crate::expand::Prepared;
use crate::{Ad, Code, Key, deep};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::{ArrayOp, Atom, Block, Loop, Mode, Op, Requirement, Stmt, Var};
use wengert_ir::ty::{Elem, Ty};
use wengert_prim::RealOp;

impl Ad {
    /// The function with such products written out.
    pub(crate) fn squares(&mut self, key: &Key, prepared: &Prepared) -> Option<Prepared> {
        let Prepared { func, active, .. } = prepared;
        let mut walk = Squares {
            code: Code::like(self, func, func.name.as_str()),
            active,
            bases: FxHashMap::default(),
            found: false,
        };
        let given = walk.block(&func.body);
        let Squares { code, found, .. } = walk;
        if !found {
            return None;
        }
        let made = code.b.finish(given);
        Some(self.written_anew(key, func, made))
    }
}

struct Squares<'a> {
    code: Code<'a>,
    active: &'a FxHashSet<Var>,
    /// Of what array rows and parts are.
    bases: FxHashMap<Var, Var>,
    found: bool,
}

impl Squares<'_> {
    fn block(&mut self, block: &Block) -> Vec<Atom> {
        deep(|| block.stmts.iter().for_each(|stmt| self.stmt(stmt)));
        block.results.clone()
    }

    fn stmt(&mut self, stmt: &Stmt) {
        self.code.b.set_span(stmt.span);
        self.note_bases(stmt);
        if let Op::Array(op @ (ArrayOp::MatMul | ArrayOp::MatVec), args) = &stmt.op
            && let ([x, y], [out]) = (args.as_slice(), stmt.outs.as_slice())
            && self.is_own(*out, x, y)
        {
            self.found = true;
            let found = if *op == ArrayOp::MatMul { self.mat_mul(x, y) } else { self.mat_vec(x, y) };
            self.code.b.push(Stmt { op: Op::Copy(found), ..stmt.clone() });
            return;
        }
        let mut stmt = stmt.clone();
        for inner in stmt.op.blocks_mut() {
            self.code.b.open();
            let results = self.block(inner);
            let written = self.code.b.close(results);
            *inner = Block { params: inner.params.clone(), ..written };
        }
        self.code.b.push(stmt);
    }

    /// Notes of what array something is a part.
    fn note_bases(&mut self, stmt: &Stmt) {
        let part = |op: &ArrayOp| {
            matches!(
                op,
                ArrayOp::Index | ArrayOp::Slice | ArrayOp::Reverse | ArrayOp::Gather | ArrayOp::Transpose
            )
        };
        let mut pairs: Vec<(Var, Atom)> = Vec::new();
        match (&stmt.op, stmt.outs.as_slice()) {
            (Op::Copy(x), [out]) => pairs.push((*out, x.clone())),
            (Op::Array(op, args), [out]) if part(op) => pairs.extend(args.first().map(|x| (*out, x.clone()))),
            (Op::Loop(parts), _) => {
                let rows = parts.body.params.iter().skip(1 + parts.init.len() + parts.accs.len());
                pairs.extend(rows.copied().zip(parts.inputs.iter().cloned()));
            }
            (_, _) => {}
        }
        for (var, of) in pairs {
            if let Some(of) = of.var() {
                let base = self.bases.get(&of).copied().unwrap_or(of);
                self.bases.insert(var, base);
            }
        }
    }

    /// Whether it is a product of two parts of one array that varies.
    fn is_own(&self, out: Var, x: &Atom, y: &Atom) -> bool {
        let base = |atom: &Atom| atom.var().map(|var| self.bases.get(&var).copied().unwrap_or(var));
        self.active.contains(&out) && base(x).is_some() && base(x) == base(y)
    }

    fn mat_vec(&mut self, x: &Atom, y: &Atom) -> Atom {
        let [n, width, size] = [(x, 0), (x, 1), (y, 0)]
            .map(|(array, axis)| self.code.b.array(ArrayOp::Length(axis), [array.clone()]));
        let row = self.code.open_rows(&[("xs", Ty::Array(Elem::Real, 1))]);
        crate::expand::require(&mut self.code, Requirement::ProductSize("matvec".into()), width, size);
        let inputs: Vec<Atom> = row.into_iter().chain([y.clone()]).collect();
        let total = crate::expand::fold(&mut self.code, Atom::Real(0.0), &inputs, |code, total, rows| {
            let term = code.b.real(RealOp::Mul, rows);
            code.b.called("total").real(RealOp::Add, [total, term])
        });
        let body = self.code.b.close(vec![total]);
        let out = [("ts".into(), Ty::Array(Elem::Real, 1))];
        self.code.each(n, vec![x.clone()], Vec::new(), body, &out).remove(0)
    }

    fn mat_mul(&mut self, x: &Atom, y: &Atom) -> Atom {
        let [n, width, size, columns] = [(x, 0), (x, 1), (y, 0), (y, 1)]
            .map(|(array, axis)| self.code.b.array(ArrayOp::Length(axis), [array.clone()]));
        let row = self.code.open_rows(&[("xs", Ty::Array(Elem::Real, 1))]);
        crate::expand::require(
            &mut self.code,
            Requirement::ProductSize("matmul".into()),
            width,
            size.clone(),
        );
        self.code.b.open();
        let column = self.code.b.param("j".into(), Ty::INT);
        self.code.b.open();
        let place = self.code.b.param("k".into(), Ty::INT);
        let [total, first] = ["total", "x"].map(|name| self.code.b.param(name.into(), Ty::REAL));
        let second = self.code.b.array(ArrayOp::Index, [y.clone(), place, column]);
        let term = self.code.b.real(RealOp::Mul, [first, second]);
        let next = self.code.b.called("total").real(RealOp::Add, [total, term]);
        let body = self.code.b.close(vec![next]);
        let (mode, init) = (Mode::Sequence, vec![Atom::Real(0.0)]);
        let sum = Loop { mode, backward: false, len: size, inputs: row, init, accs: Vec::new(), body };
        let total = self.code.b.named(&[("total".into(), Ty::REAL)], Op::Loop(Box::new(sum))).remove(0);
        let body = self.code.b.close(vec![total]);
        let out = [("ts".into(), Ty::Array(Elem::Real, 1))];
        let products = self.code.each(columns, Vec::new(), Vec::new(), body, &out).remove(0);
        let body = self.code.b.close(vec![products]);
        let out = [("ts".into(), Ty::Array(Elem::Real, 2))];
        self.code.each(n, vec![x.clone()], Vec::new(), body, &out).remove(0)
    }
}
