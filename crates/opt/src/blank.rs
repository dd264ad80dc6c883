//! Zeros in the shape of what a loop makes, where nobody needs more of that than its shape: they have the shape of what the loop goes
//! through, and the other is not made.
//!
//! ```text
//! ys, cs = each i < n, x in xs { y = sin(x)  c = cos(x)  yield y, c }        zeros(ys) = zeros(xs)
//! ```

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is neither a loop nor zeros")]

use crate::walk::count_uses;
use rustc_hash::FxHashMap;
use wengert_ir::op::{ArrayOp, Loop, Op};
use wengert_ir::{Atom, Block, Elem, Func, Program, Stmt, Ty, Var};

/// See the module.
pub(crate) fn run(program: &mut Program) {
    for (_, func) in program.funcs.iter_mut() {
        let mut like: FxHashMap<Var, Var> = FxHashMap::default();
        let mut zeros: FxHashMap<Var, usize> = FxHashMap::default();
        func.body.for_each_stmt(&mut |stmt| match &stmt.op {
            Op::Loop(parts) => note(func, stmt, parts, &mut like),
            Op::Array(ArrayOp::Zeros, args) => {
                let var = args.first().and_then(Atom::var);
                var.into_iter().for_each(|var| *zeros.entry(var).or_default() += 1);
            }
            _ => {}
        });
        if !like.keys().any(|var| zeros.contains_key(var)) {
            continue;
        }
        let uses = count_uses(&func.body);
        like.retain(|var, _| zeros.contains_key(var) && zeros.get(var) == uses.get(var));
        block(&mut func.body, &like);
    }
}

/// What a loop makes is as long as what it goes through.
fn note(func: &Func, stmt: &Stmt, parts: &Loop, like: &mut FxHashMap<Var, Var>) {
    let is_row = |var: &Var| func.ty(*var) == Ty::Array(Elem::Real, 1);
    let Some(input) = parts.inputs.iter().filter_map(Atom::var).find(is_row) else { return };
    let made = stmt.outs.iter().skip(parts.init.len() + parts.accs.len());
    like.extend(made.copied().filter(is_row).map(|out| (out, input)));
}

fn block(place: &mut Block, like: &FxHashMap<Var, Var>) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        for stmt in &mut place.stmts {
            if let Op::Array(ArrayOp::Zeros, args) = &mut stmt.op
                && let [Atom::Var(shape)] = args.as_mut_slice()
                && let Some(input) = like.get(shape)
            {
                *shape = *input;
            }
            stmt.op.blocks_mut().into_iter().for_each(|inner| block(inner, like));
        }
    });
}
