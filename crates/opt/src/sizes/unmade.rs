//! An array that is asked for nothing but the size of its rows need not be made: there are none, or they are as long as is known.
//!
//! ```text
//! a = each i < m { r = each j < n { … } yield r }
//! k = length(a, 1)                                        becomes     none = m == 0   k = select(none, 0, n)
//! ```

use super::Shape;
use crate::linear::Linear;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_base::Name;
use wengert_ir::op::{ArrayOp, Compare, Op};
use wengert_ir::{Atom, Block, Func, Stmt, Ty, Var};

/// See the module.
pub(super) fn run(func: &mut Func, shapes: &FxHashMap<Var, Shape>) {
    let (mut made, mut kept) = (FxHashSet::default(), FxHashSet::default());
    func.body.for_each_stmt(&mut |stmt| {
        if let Op::Loop(parts) = &stmt.op {
            made.extend(stmt.outs.iter().skip(parts.init.len() + parts.accs.len()).copied());
        }
        let length = matches!(stmt.op, Op::Array(ArrayOp::Length(1..), _));
        if !length {
            stmt.op.for_each_atom(&mut |atom| kept.extend(atom.var()));
        }
        kept.extend(
            stmt.op.blocks().into_iter().flat_map(|inner| inner.results.iter().filter_map(Atom::var)),
        );
    });
    kept.extend(func.body.results.iter().filter_map(Atom::var));
    made.retain(|array| !kept.contains(array) && func.ty(*array).rank() > 1);
    if !made.is_empty() {
        let mut body = std::mem::take(&mut func.body);
        block(func, &mut body, &made, shapes);
        func.body = body;
    }
}

fn block(func: &mut Func, place: &mut Block, made: &FxHashSet<Var>, shapes: &FxHashMap<Var, Shape>) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let mut out = Vec::with_capacity(place.stmts.len());
        for mut stmt in std::mem::take(&mut place.stmts) {
            stmt.op.blocks_mut().into_iter().for_each(|inner| block(func, inner, made, shapes));
            if let Some((rows, size)) = known(&stmt.op, made, shapes)
                && size.var().is_none_or(|var| !stmt.outs.contains(&var))
            {
                let none = func.fresh(Name::new("none"), Ty::BOOL);
                let op = Op::Compare(Compare::Eq, rows, Atom::Int(0));
                out.push(Stmt { outs: vec![none], op, span: stmt.span });
                stmt.op = Op::Select { cond: Atom::Var(none), then: Atom::Int(0), otherwise: size };
            }
            out.push(stmt);
        }
        place.stmts = out;
    });
}

/// The number of rows of such an array and their size, if this asks for it.
fn known(op: &Op, made: &FxHashSet<Var>, shapes: &FxHashMap<Var, Shape>) -> Option<(Atom, Atom)> {
    let Op::Array(ArrayOp::Length(1), args) = op else { return None };
    let array = args.first()?.var().filter(|array| made.contains(array))?;
    let atom = |size: &Option<Linear>| size.as_ref()?.atom();
    let [rows, size, ..] = shapes.get(&array)?.as_slice() else { return None };
    Some((atom(rows)?, atom(size)?))
}
