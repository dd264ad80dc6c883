//! A tape that is nothing but a copy of the data that was walked through is that data.
//!
//! ```text
//! func primal(t: Tree) -> tape { match t { Leaf(x) { tape::Leaf(x) } Node(a, b) { tape::Node(primal(a), primal(b)) } } }
//! ```
//!
//! Where constructors and fields of the two types are the same, the two become one type, and such a function gives what it is
//! given: so it is called no more.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed makes no copy")]

use crate::live::fixed;
use rustc_hash::FxHashSet;
use wengert_ir::op::{ArrayOp, Op, Requirement};
use wengert_ir::program::FuncId;
use wengert_ir::ty::Role;
use wengert_ir::{Atom, Block, DataId, Elem, Func, Program, Ty};

/// See the module.
pub(crate) fn run(program: &mut Program) {
    let (_, keeps) = fixed(program);
    let mut gone: FxHashSet<FuncId> = FxHashSet::default();
    for id in program.funcs.ids() {
        let Some((from, to)) = copied(program.funcs.at(id), id) else { continue };
        let tangents = |data: &wengert_ir::ty::Data| data.role == Role::Tangent(to);
        let free = program.data.at(to).role == Role::Residual
            && !keeps.contains(&to)
            && !program.data.iter().any(|(_, data)| tangents(data));
        if from != to && free && is_same(program, from, to) {
            become_one(program, from, to);
            gone.insert(id);
        }
    }
    if gone.is_empty() {
        return;
    }
    for (_, func) in program.funcs.iter_mut() {
        give(&mut func.body, &gone);
    }
}

/// The types of which a function makes the second from the first, if it does nothing but copy.
fn copied(func: &Func, id: FuncId) -> Option<(DataId, DataId)> {
    let ([param], [Ty::Scalar(Elem::Data(to))], [stmt]) =
        (func.body.params.as_slice(), func.results.as_slice(), func.body.stmts.as_slice())
    else {
        return None;
    };
    let (Op::Match { on, arms }, Ty::Scalar(Elem::Data(from))) = (&stmt.op, func.ty(*param)) else {
        return None;
    };
    let whole = *on == Atom::Var(*param)
        && func.body.results.iter().cloned().eq(stmt.outs.iter().copied().map(Atom::Var));
    let copies = (0..).zip(arms).all(|(ctor, arm)| is_copy(arm, id, (*to, ctor)));
    (whole && copies).then_some((from, *to))
}

/// Whether an arm makes of its fields a constructor's, with copies of some.
fn is_copy(arm: &Block, id: FuncId, made: (DataId, u32)) -> bool {
    let Some((last, calls)) = arm.stmts.split_last() else { return false };
    let Op::Make { data, ctor, fields } = &last.op else { return false };
    let copy_of = |atom: &Atom| {
        let copy = calls.iter().find_map(|stmt| match &stmt.op {
            Op::Call { func, args, checkpoint: false }
                if *func == id && stmt.outs.iter().any(|out| *atom == Atom::Var(*out)) =>
            {
                args.first().cloned()
            }
            _ => None,
        });
        copy.unwrap_or_else(|| atom.clone())
    };
    let only_calls = calls.iter().all(|stmt| {
        matches!(&stmt.op, Op::Call { func, args, checkpoint: false }
            if *func == id && args.iter().all(|arg| arg.var().is_some_and(|var| arm.params.contains(&var))))
    });
    only_calls
        && (*data, *ctor) == made
        && fields.iter().map(copy_of).eq(arm.params.iter().copied().map(Atom::Var))
        && arm.results.iter().cloned().eq(last.outs.iter().copied().map(Atom::Var))
}

/// Whether two types are the same but for what they are called.
fn is_same(program: &Program, from: DataId, to: DataId) -> bool {
    let (one, other) = (&program.data.at(from).ctors, &program.data.at(to).ctors);
    one.len() == other.len()
        && one.iter().zip(other).all(|(one, other)| {
            let renamed = other.fields.iter().map(|ty| instead(*ty, from, to));
            one.fields.iter().copied().map(|ty| instead(ty, from, to)).eq(renamed)
        })
}

fn instead_elem(elem: Elem, from: DataId, to: DataId) -> Elem {
    if elem == Elem::Data(to) { Elem::Data(from) } else { elem }
}

fn instead(ty: Ty, from: DataId, to: DataId) -> Ty {
    Ty::of_rank(instead_elem(ty.elem(), from, to), ty.rank())
}

/// The first type stands for the second.
fn become_one(program: &mut Program, from: DataId, to: DataId) {
    for (_, data) in program.data.iter_mut() {
        data.ctors.iter_mut().flat_map(|ctor| &mut ctor.fields).for_each(|ty| *ty = instead(*ty, from, to));
    }
    for (_, func) in program.funcs.iter_mut() {
        func.results.iter_mut().for_each(|ty| *ty = instead(*ty, from, to));
        func.vars.iter_mut().for_each(|(_, info)| info.ty = instead(info.ty, from, to));
        rename(&mut func.body, from, to);
    }
}

fn rename(block: &mut Block, from: DataId, to: DataId) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        for stmt in &mut block.stmts {
            match &mut stmt.op {
                Op::Make { data, .. } | Op::Require { what: Requirement::SameCtor(_, data), .. }
                    if *data == to =>
                {
                    *data = from;
                }
                Op::Array(ArrayOp::Empty(elem, _), _) => *elem = instead_elem(*elem, from, to),
                op => op.blocks_mut().into_iter().for_each(|inner| rename(inner, from, to)),
            }
        }
    });
}

/// Calls of these functions give their argument.
fn give(block: &mut Block, gone: &FxHashSet<FuncId>) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        for stmt in &mut block.stmts {
            match &mut stmt.op {
                Op::Call { func, args, .. } if gone.contains(func) => {
                    if let Some(arg) = args.first().cloned() {
                        stmt.op = Op::Copy(arg);
                    }
                }
                op => op.blocks_mut().into_iter().for_each(|inner| give(inner, gone)),
            }
        }
    });
}
