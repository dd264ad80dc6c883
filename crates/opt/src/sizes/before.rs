//! The size of an array that a loop hands on, if an iteration asks for it, is asked for before the loop: most loops hand on arrays of one size,
//! and if they do, it is known by that name in the loop and after it. Then no array has to be kept for its size.
//!
//! ```text
//!                                                                      n = length(x)
//! y = for i < 20, u = x { m = length(u) … }           becomes          y = for i < 20, u = x { m = length(u) … }
//! ```

use super::Shape;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_base::Name;
use wengert_ir::op::{ArrayOp, Loop, Op};
use wengert_ir::{Atom, Block, Func, Stmt, Ty, Var};

/// See the module. Whether something is asked for that was not before.
pub(super) fn run(func: &mut Func, shapes: &FxHashMap<Var, Shape>) -> bool {
    let mut wanted: FxHashSet<Var> = FxHashSet::default();
    func.body.for_each_stmt(&mut |stmt| {
        if let Op::Loop(parts) = &stmt.op {
            wanted.extend(asked(func, parts));
        }
    });
    let has_name = |array: &Var| matches!(shapes.get(array).and_then(|shape| shape.first()), Some(Some(_)));
    wanted.retain(|array| !has_name(array));
    if !wanted.is_empty() {
        let mut body = std::mem::take(&mut func.body);
        block(func, &mut body, &wanted);
        func.body = body;
    }
    !wanted.is_empty()
}

fn block(func: &mut Func, place: &mut Block, wanted: &FxHashSet<Var>) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let mut out = Vec::with_capacity(place.stmts.len());
        let mut known: FxHashSet<Var> = FxHashSet::default();
        for mut stmt in std::mem::take(&mut place.stmts) {
            if let Op::Array(ArrayOp::Length(0), args) = &stmt.op {
                known.extend(args.iter().filter_map(Atom::var));
            }
            if let Op::Loop(parts) = &stmt.op {
                for array in asked(func, parts) {
                    if wanted.contains(&array) && known.insert(array) {
                        let size = func.fresh(Name::new("n"), Ty::INT);
                        let op = Op::Array(ArrayOp::Length(0), vec![Atom::Var(array)]);
                        out.push(Stmt { outs: vec![size], op, span: stmt.span });
                    }
                }
            }
            stmt.op.blocks_mut().into_iter().for_each(|inner| block(func, inner, wanted));
            out.push(stmt);
        }
        place.stmts = out;
    });
}

/// What arrays of which the size is asked for in a loop are before it.
fn asked(func: &Func, parts: &Loop) -> Vec<Var> {
    let is_array = |atom: &&Atom| func.type_of(atom).rank() > 0;
    if !parts.init.iter().any(|init| is_array(&init)) {
        return Vec::new();
    }
    let mut lengths: FxHashSet<Var> = FxHashSet::default();
    parts.body.for_each_stmt(&mut |stmt| {
        if let Op::Array(ArrayOp::Length(0), args) = &stmt.op {
            lengths.extend(args.iter().filter_map(Atom::var));
        }
    });
    let carried = parts.body.params.iter().skip(1).zip(&parts.init);
    let carried = carried.filter(|(param, init)| is_array(init) && lengths.contains(*param));
    carried.filter_map(|(_, init)| init.var()).collect()
}
