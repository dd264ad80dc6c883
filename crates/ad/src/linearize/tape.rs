//! The tape of a recursive function that is a branch as a whole has a constructor for each of the branch's blocks:
//!
//! ```text
//! f n x = if n == 0 then x else x * sin (f (n - 1) x)        type f_tape = Then | Else f_tape …
//! ```
//!
//! Otherwise it has one constructor, and what a branch keeps is a value in it.

use crate::Ad;
use crate::like::Likes;
use crate::linear::{Choice, Lin, LinBlock, Mentions};
use rustc_hash::FxHashMap;
use wengert_ir::op::{Atom, Block, Op, Var};
use wengert_ir::program::{Func, VarInfo};
use wengert_ir::ty::{DataId, Elem, Ty};

/// The variable of the branch, if a function's linear part is that branch and nothing more, and if what else the linear part
/// needs is there before it: then the blocks can keep that too.
pub(super) fn whole(
    block: &LinBlock,
    residual: &[Var],
    branches: &FxHashMap<Var, DataId>,
    func: &Func,
) -> Option<Var> {
    let [Lin::Branch(branch)] = block.stmts.as_slice() else { return None };
    let Choice::Match(Atom::Var(var)) = &branch.on else { return None };
    let known = branches.contains_key(var) && residual.contains(var);
    let results = block.results.iter().flatten().all(|of| branch.outs.contains(&Some(of.base())));
    let rest = residual.iter().all(|other| other == var || func.body.params.contains(other));
    (known && results && rest).then_some(*var)
}

impl Ad {
    /// Lets the constructors of the branch's type be those of the tape, and the blocks keep the rest of the residual.
    pub(super) fn tape_of_branch(
        &mut self,
        primal: &mut Func,
        linear: &mut LinBlock,
        (tape, branch): (DataId, Var),
        residual: &[Var],
        likes: &Likes,
    ) {
        let Ty::Scalar(Elem::Data(data)) = primal.ty(branch) else { return };
        let rest: Vec<Var> = residual.iter().copied().filter(|var| *var != branch).collect();
        let mut more: Vec<Vec<Var>> = Vec::new();
        if let [Lin::Branch(parts)] = linear.stmts.as_mut_slice() {
            for arm in &mut parts.arms {
                let mut mentions = Mentions::new(&primal.vars, likes);
                mentions.block(&arm.block);
                mentions.found.extend(arm.again.iter().flat_map(|stmt| stmt.op.operand_vars()));
                // An array may be needed for its shape.
                let needed = |var: &Var| mentions.found.contains(var) || primal.ty(*var).rank() > 0;
                let needed: Vec<Var> = rest.iter().copied().filter(needed).collect();
                arm.params.extend(&needed);
                more.push(needed);
            }
        }
        let mut ctors = self.program.data.at(data).ctors.clone();
        for (ctor, more) in ctors.iter_mut().zip(&more) {
            ctor.fields.extend(more.iter().map(|var| primal.ty(*var)));
        }
        self.program.data.at_mut(tape).ctors = ctors;
        if self.which.contains(&data) {
            self.which.insert(tape);
        }
        let mut body = std::mem::take(&mut primal.body);
        for stmt in body.stmts.iter_mut().filter(|stmt| stmt.outs.contains(&branch)) {
            for (inner, more) in stmt.op.blocks_mut().into_iter().zip(&more) {
                keep_more(primal, inner, (data, tape), more);
            }
        }
        primal.body = body;
        *primal.vars.at_mut(branch) = tape_info(tape);
        primal.results = primal.body.results.iter().map(|atom| primal.type_of(atom)).collect();
    }
}

fn tape_info(tape: DataId) -> VarInfo {
    VarInfo { name: "tape".into(), ty: Ty::Scalar(Elem::Data(tape)) }
}

/// The block keeps these variables too, in a constructor of the tape.
fn keep_more(primal: &mut Func, block: &mut Block, (data, tape): (DataId, DataId), rest: &[Var]) {
    for stmt in &mut block.stmts {
        if let (Op::Make { data: made, fields, .. }, [out]) = (&mut stmt.op, stmt.outs.as_slice())
            && *made == data
        {
            *made = tape;
            fields.extend(rest.iter().copied().map(Atom::Var));
            *primal.vars.at_mut(*out) = tape_info(tape);
        }
    }
}
