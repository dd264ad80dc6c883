//! Accumulators of a loop are only added to: what an iteration gives back is what it was given plus something that does
//! not depend on it. So iterations may run in any order, each with an accumulator of its own, for all are summed.
//!
//! A *version* of an accumulator is the parameter of the body that stands for it, or a version with something added
//! (`xs with [i] += y`, `x + y`, `x - y`, `scatter_add`, a loop that has a version among its accumulators). Branches and inner loops
//! hand versions on; a branch or a body that fails gives nothing back. A version may be used for nothing else but its shape; what the body gives back is a version of the same
//! accumulator. Of a call that is given versions each result of their type *may* be one of each: it may be given back, and
//! it may be used otherwise.

use crate::op::{ArrayOp, Atom, Block, Loop, Op, Stmt, Var, While};
use crate::program::Func;
use crate::visit::{deep, flat_op};
use rustc_hash::FxHashMap;
use wengert_prim::RealOp;

/// What is wrong with the accumulators of a loop.
pub(super) fn check(func: &Func, parts: &Loop) -> Option<String> {
    if parts.accs.is_empty() {
        return None;
    }
    let first = 1 + parts.init.len();
    let params = parts.body.params.iter().skip(first).take(parts.accs.len());
    let versions = params.enumerate().map(|(i, var)| (*var, Version { of: vec![i], sure: true })).collect();
    let mut walk = Walk { func, versions, wrong: None };
    walk.block(&parts.body);
    if fails(&parts.body) {
        return walk.wrong;
    }
    for i in 0..parts.accs.len() {
        let result = parts.body.results.get(parts.init.len() + i);
        if !result.and_then(|atom| walk.version(atom)).is_some_and(|version| version.of.contains(&i)) {
            walk.complain("the body gives back something else than the accumulator with something added");
        }
    }
    walk.wrong
}

/// Whether running a block never ends otherwise than by a failure: it fails, or all sides of a branch in it do.
fn fails(block: &Block) -> bool {
    let stmt = |stmt: &Stmt| match &stmt.op {
        Op::If { cond: _, then, otherwise } => fails(then) && fails(otherwise),
        Op::Match { on: _, arms } => arms.iter().all(fails),
        op @ (flat_op!() | Op::Loop(_) | Op::While(_)) => op.never_returns(),
    };
    deep(|| block.stmts.iter().any(stmt))
}

/// Which accumulators a variable is, or may be, a version of.
#[derive(Clone, Default, PartialEq)]
struct Version {
    of: Vec<usize>,
    sure: bool,
}

struct Walk<'a> {
    func: &'a Func,
    versions: FxHashMap<Var, Version>,
    wrong: Option<String>,
}

impl Walk<'_> {
    fn version(&self, atom: &Atom) -> Option<&Version> {
        self.versions.get(&atom.var()?)
    }

    fn is_sure(&self, atom: &Atom) -> bool {
        self.version(atom).is_some_and(|version| version.sure)
    }

    fn complain(&mut self, message: &str) {
        self.wrong.get_or_insert_with(|| message.to_owned());
    }

    fn block(&mut self, block: &Block) {
        deep(|| block.stmts.iter().for_each(|stmt| self.stmt(stmt)));
    }

    /// Takes a version into the next variable.
    fn hand_on(&mut self, from: Option<&Atom>, to: Option<&Var>) {
        if let Some(which) = from.and_then(|atom| self.version(atom)).cloned()
            && let Some(to) = to
        {
            self.versions.insert(*to, which);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.op {
            Op::If { cond: _, then, otherwise } => self.branches(stmt, &[then, otherwise]),
            Op::Match { on: _, arms } => self.branches(stmt, &arms.iter().collect::<Vec<&Block>>()),
            Op::Loop(parts) => self.inner_loop(stmt, parts),
            Op::While(parts) => {
                let While { init, cond, body } = &**parts;
                for ((from, outer), inner) in init.iter().zip(&cond.params).zip(&body.params) {
                    self.hand_on(Some(from), Some(outer));
                    self.hand_on(Some(from), Some(inner));
                }
                self.block(cond);
                self.block(body);
                for (result, out) in body.results.iter().zip(&stmt.outs).take(init.len()) {
                    self.hand_on(Some(result), Some(out));
                }
            }
            op @ flat_op!() => self.flat(stmt, op),
        }
    }

    /// An operation without blocks inside.
    fn flat(&mut self, stmt: &Stmt, op: &Op) {
        let out = stmt.outs.first();
        if let Op::Copy(x) = op {
            self.hand_on(Some(x), out);
        } else if let Op::Array(ArrayOp::AddAt | ArrayOp::ScatterAdd | ArrayOp::AddProduct(_), args) = op {
            self.hand_on(args.first(), out);
            self.forbid(args.get(1..).unwrap_or_default());
        } else if let Op::Array(ArrayOp::Add, args) | Op::Real(RealOp::Add, args) = op {
            let sure: Vec<&Atom> = args.iter().filter(|arg| self.is_sure(arg)).collect();
            match sure.as_slice() {
                [] => {
                    let one = args.iter().find(|arg| self.version(arg).is_some());
                    self.hand_on(one, out);
                }
                [one] => self.hand_on(Some(one), out),
                _ => self.complain("an accumulator is added to itself"),
            }
        } else if let Op::Real(RealOp::Sub, args) = op {
            // To subtract is to add the negative.
            self.hand_on(args.first(), out);
            self.forbid(args.get(1..).unwrap_or_default());
        } else if let Op::Call { args, .. } = op {
            for arg in args {
                let ty = self.func.type_of(arg);
                let Some(which) = self.version(arg).cloned() else { continue };
                for out in stmt.outs.iter().filter(|out| self.func.ty(**out) == ty) {
                    self.versions.entry(*out).or_default().of.extend(&which.of);
                }
            }
        } else if let Op::Select { cond: _, then, otherwise } = op {
            self.common(&[Some(then), Some(otherwise)], out);
        } else if !matches!(op, Op::Array(ArrayOp::Zeros | ArrayOp::Length(_), _)) {
            let vars: Vec<Atom> = op.operand_vars().into_iter().map(Atom::Var).collect();
            self.forbid(&vars);
        }
    }

    fn inner_loop(&mut self, stmt: &Stmt, parts: &Loop) {
        let given = parts.init.iter().chain(&parts.accs);
        for (from, to) in given.clone().zip(parts.body.params.iter().skip(1)) {
            self.hand_on(Some(from), Some(to));
        }
        self.forbid(&parts.inputs);
        self.block(&parts.body);
        for (result, out) in parts.body.results.iter().zip(&stmt.outs).take(given.count()) {
            self.hand_on(Some(result), Some(out));
        }
    }

    fn branches(&mut self, stmt: &Stmt, blocks: &[&Block]) {
        blocks.iter().for_each(|block| self.block(block));
        // A block that fails gives nothing back.
        let ending: Vec<&&Block> = blocks.iter().filter(|block| !fails(block)).collect();
        for (i, out) in stmt.outs.iter().enumerate() {
            let given: Vec<Option<&Atom>> = ending.iter().map(|block| block.results.get(i)).collect();
            self.common(&given, Some(out));
        }
    }

    /// One of several operands is a version of what all of them are versions of.
    fn common(&mut self, given: &[Option<&Atom>], out: Option<&Var>) {
        let versions: Option<Vec<&Version>> =
            given.iter().map(|atom| atom.and_then(|atom| self.version(atom))).collect();
        let (Some([first, rest @ ..]), Some(out)) = (versions.as_deref(), out) else { return };
        let common = first.of.iter().filter(|i| rest.iter().all(|other| other.of.contains(i)));
        let of: Vec<usize> = common.copied().collect();
        if !of.is_empty() {
            let sure = first.sure && rest.iter().all(|other| other.sure);
            self.versions.insert(*out, Version { of, sure });
        }
    }

    fn forbid(&mut self, atoms: &[Atom]) {
        if let Some(used) = atoms.iter().find(|atom| self.is_sure(atom)) {
            let name =
                used.var().and_then(|var| self.func.vars.get(var)).map_or("?", |info| info.name.as_str());
            self.complain(&format!("the accumulator `{name}` is used where it is not only added to"));
        }
    }
}
