//! What is looked at only because it may not be there, and is looked for again: for people, who need not see it.
//!
//! ```text
//! t = xs[i]   … z = zeros(xs)   y = z with [i] += 1.0          becomes   … z = zeros(xs)   y = z with [i] += 1.0
//! m = maximum(xs)   … p = argmax(xs)                           becomes   … p = argmax(xs)
//! ```
//!
//! Where an array has no such element, the program fails still; but it may say so elsewhere.

use crate::walk::count_uses;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::{ArrayOp, Op};
use wengert_ir::{Atom, Block, Program, Stmt, Var};

/// See the module.
pub(crate) fn run(program: &mut Program) {
    for (_, func) in program.funcs.iter_mut() {
        let uses = count_uses(&func.body);
        let mut like = FxHashMap::default();
        func.body.for_each_stmt(&mut |stmt| {
            if let (Some(array), [out]) = (has_size_of(&stmt.op), stmt.outs.as_slice()) {
                like.insert(*out, like.get(&array).copied().unwrap_or(array));
            }
        });
        block(&mut func.body, &|var| uses.contains_key(&var), &like);
    }
}

/// The array whose sizes this has.
fn has_size_of(op: &Op) -> Option<Var> {
    let Op::Array(ArrayOp::Zeros | ArrayOp::Set | ArrayOp::AddAt, args) = op else { return None };
    args.first()?.var()
}

/// What fails if there is no such element.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Asked {
    /// At this place.
    At(Var, Vec<Place>),
    /// Any.
    Some(Var),
}

/// An index.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Place {
    Known(i64),
    Told(Var),
}

fn asked(op: &Op, like: &FxHashMap<Var, Var>) -> Option<Asked> {
    let Op::Array(op, args) = op else { return None };
    let (array, rest) = args.split_first()?;
    let array = array.var().map(|array| like.get(&array).copied().unwrap_or(array))?;
    let at = |indices: &[Atom]| {
        let place = |index: &Atom| match index {
            Atom::Int(n) => Some(Place::Known(*n)),
            Atom::Var(var) => Some(Place::Told(*var)),
            Atom::Real(_) | Atom::Bool(_) | Atom::Text(_) | Atom::Unit => None,
        };
        indices.iter().map(place).collect::<Option<Vec<_>>>().map(|places| Asked::At(array, places))
    };
    if *op == ArrayOp::Index {
        at(rest)
    } else if matches!(op, ArrayOp::Set | ArrayOp::AddAt) {
        at(rest.split_last()?.1)
    } else if matches!(op, ArrayOp::Maximum | ArrayOp::Minimum | ArrayOp::ArgMax | ArrayOp::ArgMin) {
        Some(Asked::Some(array))
    } else {
        None
    }
}

fn block(place: &mut Block, is_used: &dyn Fn(Var) -> bool, like: &FxHashMap<Var, Var>) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        // From the end, so that it is known what is asked later.
        let mut later: FxHashSet<Asked> = FxHashSet::default();
        let mut kept: Vec<Stmt> = Vec::with_capacity(place.stmts.len());
        for mut stmt in std::mem::take(&mut place.stmts).into_iter().rev() {
            stmt.op.blocks_mut().into_iter().for_each(|inner| block(inner, is_used, like));
            let asked = asked(&stmt.op, like);
            let only_asks = !stmt.outs.iter().any(|out| is_used(*out));
            if !only_asks || asked.as_ref().is_none_or(|asked| !later.contains(asked)) {
                kept.push(stmt);
            }
            later.extend(asked);
        }
        kept.reverse();
        place.stmts = kept;
    });
}
