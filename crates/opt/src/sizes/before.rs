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

/// An array, and one of its axes.
type Axis = (Var, u8);

/// See the module. Whether something is asked for that was not before.
pub(super) fn run(func: &mut Func, shapes: &FxHashMap<Var, Shape>) -> bool {
    let mut wanted: FxHashSet<Axis> = FxHashSet::default();
    func.body.for_each_stmt(&mut |stmt| {
        if let Op::Loop(parts) = &stmt.op {
            wanted.extend(asked(func, parts));
        }
    });
    let has_name = |(array, axis): &Axis| {
        matches!(shapes.get(array).and_then(|shape| shape.get(usize::from(*axis))), Some(Some(_)))
    };
    wanted.retain(|axis| !has_name(axis));
    if !wanted.is_empty() {
        let mut body = std::mem::take(&mut func.body);
        block(func, &mut body, &wanted);
        func.body = body;
    }
    !wanted.is_empty()
}

fn block(func: &mut Func, place: &mut Block, wanted: &FxHashSet<Axis>) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let mut out = Vec::with_capacity(place.stmts.len());
        let mut known: FxHashSet<Axis> = FxHashSet::default();
        for mut stmt in std::mem::take(&mut place.stmts) {
            if let Op::Array(ArrayOp::Length(axis), args) = &stmt.op {
                known.extend(args.iter().filter_map(Atom::var).map(|array| (array, *axis)));
            }
            if let Op::Loop(parts) = &stmt.op {
                for (array, axis) in asked(func, parts) {
                    if wanted.contains(&(array, axis)) && known.insert((array, axis)) {
                        let size = func.fresh(Name::new("n"), Ty::INT);
                        let op = Op::Array(ArrayOp::Length(axis), vec![Atom::Var(array)]);
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

/// What arrays of which sizes are asked for in a loop are before it, and along which axes; how many rows there are comes first.
fn asked(func: &Func, parts: &Loop) -> Vec<Axis> {
    let is_array = |atom: &&Atom| func.type_of(atom).rank() > 0;
    if !parts.init.iter().any(|init| is_array(&init)) {
        return Vec::new();
    }
    let mut lengths: FxHashMap<Var, u8> = FxHashMap::default();
    parts.body.for_each_stmt(&mut |stmt| {
        if let Op::Array(ArrayOp::Length(axis), args) = &stmt.op {
            for array in args.iter().filter_map(Atom::var) {
                lengths.entry(array).and_modify(|last| *last = (*last).max(*axis)).or_insert(*axis);
            }
        }
    });
    let carried = parts.body.params.iter().skip(1).zip(&parts.init);
    let carried = carried.filter(|(_, init)| is_array(init));
    let asked = carried.filter_map(|(param, init)| Some((init.var()?, *lengths.get(param)?)));
    asked.flat_map(|(init, last)| (0..=last).map(move |axis| (init, axis))).collect()
}
