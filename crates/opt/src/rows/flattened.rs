//! Many times the same in the shape of an array: rows of the same. The array is needed for its sizes then, and nothing else; so the
//! cotangent of a sum over all elements costs nothing, and the loop that uses it knows what its rows are.
//!
//! ```text
//! t = flatten(xs)               k = length(xs)
//! n = length(t)                 m = length(xs, 1)
//! ys = replicate(n, x) becomes  zs = each i < k {
//! zs = unflatten_like(ys, xs)     ys = replicate(m, x) yield ys
//!                               }
//! ```

use rustc_hash::FxHashMap;
use wengert_ir::op::{ArrayOp, Loop, Mode, Op};
use wengert_ir::program::VarInfo;
use wengert_ir::{Atom, Block, Func, Stmt, Ty, Var};

/// Arrays that have the same everywhere, and what that is.
pub(super) struct Same(FxHashMap<Var, Atom>);

impl Same {
    /// Those of a function.
    pub(super) fn of(body: &Block) -> Same {
        let mut same = FxHashMap::default();
        body.for_each_stmt(&mut |stmt| {
            if let (Op::Array(ArrayOp::Replicate, args), [out]) = (&stmt.op, stmt.outs.as_slice()) {
                same.extend(args.last().map(|element| (*out, element.clone())));
            }
        });
        Same(same)
    }

    /// See the module. Gives the statements that come before.
    pub(super) fn rows(&self, func: &mut Func, stmt: &mut Stmt) -> Vec<Stmt> {
        let known = self.replicated(stmt);
        let (Some((element, like)), [out]) = (known, stmt.outs.as_slice()) else { return Vec::new() };
        let Some(row) = func.ty(*out).at(1) else { return Vec::new() };
        let name = func.vars.at(*out).name;
        let mut fresh = |name: &str, ty| func.vars.push(VarInfo { name: name.into(), ty });
        let [rows, width, index] = ["n", "n", "i"].map(|name| fresh(name, Ty::INT));
        let made = func.vars.push(VarInfo { name, ty: row });
        let size = |var, axis| Stmt {
            outs: vec![var],
            op: Op::Array(ArrayOp::Length(axis), vec![like.clone()]),
            span: stmt.span,
        };
        let before = vec![size(rows, 0), size(width, 1)];
        let op = Op::Array(ArrayOp::Replicate, vec![Atom::Var(width), element]);
        let body = Block {
            params: vec![index],
            stmts: vec![Stmt { outs: vec![made], op, span: stmt.span }],
            results: vec![Atom::Var(made)],
        };
        stmt.op = Op::Loop(Box::new(Loop {
            mode: Mode::Each,
            backward: false,
            len: Atom::Var(rows),
            inputs: Vec::new(),
            init: Vec::new(),
            accs: Vec::new(),
            body,
        }));
        before
    }

    /// What is everywhere in an array that this gives the shape of another, and that other one.
    fn replicated(&self, stmt: &Stmt) -> Option<(Atom, Atom)> {
        let Op::Array(ArrayOp::UnflattenLike, args) = &stmt.op else { return None };
        let [Atom::Var(flat), like] = args.as_slice() else { return None };
        Some((self.0.get(flat)?.clone(), like.clone()))
    }
}
