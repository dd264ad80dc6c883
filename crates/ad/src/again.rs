//! Keep or compute again: of what linear code mentions of a block, the cheap part is computed again from what is there
//! anyway, so that it need not be kept.
//!
//! ```text
//! loop i: a = xs[i + 1];  b = sin a;  y = a * b        keeps b;  i + 1 and a are computed again
//! ```
//!
//! Cheap are operations on integers, reading elements, and a few sums and products; there is a limit to how many
//! of them one variable may take. Of arrays there are kept as few as everything that is mentioned can be made of ([`fewest`]).
//!
//! Where derivatives are exact and may be differentiated, a number is made only once. Made twice it would be two numbers on the tape of a
//! derivative around, each with a sum of its own; in the interpreter there is one, to which all that uses it adds.
//!
//! ```text
//! loop i: t = b * b;  y = t * b        y' = t · b' + b · t'        keeps t: what y and y' add to its cotangent is one sum
//! ```

#![expect(clippy::wildcard_enum_match_arm, reason = "cheap operations are named")]

use crate::like::Likes;
use crate::linear::LinLoop;
use crate::scoped::Scoped;
use crate::{Ad, Code};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_base::Name;
use wengert_ir::Ty;
use wengert_ir::build::Builder;
use wengert_ir::op::{ArrayOp, Atom, Block, Convert, IntOp, Op, Stmt, Var};
use wengert_ir::program::{Func, VarInfo};
use wengert_ir::ty::{Elem, Table};
use wengert_prim::RealOp;

mod fewest;

/// The cost of computing a variable again, at most.
const LIMIT: u32 = 4;
/// The same of an integer or a truth value that is made of such only: these take less time, and no memory that is far.
const LIMIT_OF_COUNTED: u32 = 12;

impl Ad {
    /// Whether linear code must mention the very numbers of the primal part: a tape around may note them.
    fn makes_numbers_once(&self) -> bool {
        self.exact && self.is_inside
    }
}

/// What of a block is kept and what is computed again.
#[derive(Debug, Default)]
pub(crate) struct Again {
    /// Statements to compute again, in order.
    pub(crate) stmts: Vec<Stmt>,
    /// Variables to keep, in the order in which they are mentioned.
    pub(crate) kept: Vec<Var>,
    /// Those variables that are there in any case which are needed, mentioned or not.
    pub(crate) used: Vec<Var>,
}

/// What to keep of a block of a branch: computed again are integers and truth values, of integers and truth values, reals also of
/// reals that the linear code of the block mentions (`around`, if they are bound outside of the block), so
/// that nothing else is needed from outside of it; and what is read from parameters of the function, of which there is one for
/// all iterations, of arrays of which the same is said (`settled`), or of those that are kept in any case (`kept`).
pub(crate) fn plan_arm(
    code: &Code<'_>,
    block: &Block,
    mentioned: &[Var],
    (around, kept): (&FxHashSet<Var>, &FxHashSet<Var>),
    settled: &FxHashSet<Var>,
) -> Again {
    let func = code.b.func();
    let bound: FxHashSet<Var> = block.stmts.iter().flat_map(|stmt| &stmt.outs).copied().collect();
    let there = |var: &Var| func.ty(*var) == Ty::REAL && (bound.contains(var) || around.contains(var));
    let whole = |stmt: &Stmt| {
        let mut vars = stmt.op.operand_vars();
        let is_settled = stmt.outs.iter().all(|out| settled.contains(out));
        let is_there = |array: &Var| kept.contains(array) || code.b.params().contains(array);
        let reads = matches!(stmt.op, Op::Array(ArrayOp::Index, _));
        if (reads && vars.first().is_some_and(is_there) || is_settled && !vars.is_empty())
            && stmt.outs.iter().all(|out| func.ty(*out).rank() == 0)
        {
            vars.remove(0);
        } else {
            vars.extend(&stmt.outs);
        }
        vars.into_iter().all(|var| matches!(func.ty(var), Ty::INT | Ty::BOOL) || there(&var))
    };
    let once = code.ad.makes_numbers_once();
    let may = |stmt: &Stmt| whole(stmt) && !(once && makes_number(&stmt.op));
    let none = FxHashSet::default();
    Known::new(func, block, (mentioned, &none), &none, &may).again(mentioned, &none)
}

/// What to keep of a block so that `mentioned` can be had; `there` is had in any case, and what is bound outside of the
/// block. What statements give that may not be done again is kept. Of some of what is mentioned (`shapes`) only the shape is needed: from matrices
/// among that nothing is read, for the shape may be had without them.
pub(crate) fn plan(
    code: &Code<'_>,
    block: &Block,
    (mentioned, shapes): (&[Var], &FxHashSet<Var>),
    there: &FxHashSet<Var>,
    may: &dyn Fn(&Stmt) -> bool,
) -> Again {
    let (func, once) = (code.b.func(), code.ad.makes_numbers_once());
    let shapes: FxHashSet<Var> = shapes.iter().copied().filter(|var| func.ty(*var).rank() > 1).collect();
    let may = |stmt: &Stmt| may(stmt) && !(once && makes_number(&stmt.op));
    let known = Known::new(func, block, (mentioned, &shapes), there, &may);
    let again = known.again(mentioned, there);
    if once {
        return again;
    }
    let free = |var: Var| {
        !known.bound.contains(&var)
            || there.contains(&var)
            || (func.ty(var).rank() == 0 && known.costs.contains_key(&var))
    };
    let of_value: Vec<Var> = again.kept.iter().copied().filter(|var| !shapes.contains(var)).collect();
    match fewest::fewest(func, block, &of_value, &free) {
        Some(fewest) => known.with(block, &fewest).again_keeping(mentioned, there, fewest.kept),
        None => again,
    }
}

/// What is known of a block.
struct Known<'b> {
    bound: FxHashSet<Var>,
    /// What it costs to have a variable, if that is not too much.
    costs: FxHashMap<Var, u32>,
    /// What makes those that are computed again.
    made: FxHashMap<Var, &'b Stmt>,
}

impl<'b> Known<'b> {
    fn new(
        func: &Func,
        block: &'b Block,
        (mentioned, shapes): (&[Var], &FxHashSet<Var>),
        there: &FxHashSet<Var>,
        may: &dyn Fn(&Stmt) -> bool,
    ) -> Known<'b> {
        let mut bound: FxHashSet<Var> = block.params.iter().copied().collect();
        bound.extend(block.stmts.iter().flat_map(|stmt| &stmt.outs));
        let wanted: FxHashSet<Var> = mentioned.iter().copied().filter(|var| !shapes.contains(var)).collect();
        let mut costs: FxHashMap<Var, u32> = there.iter().map(|var| (*var, 0)).collect();
        let kept = block.params.iter().filter(|param| wanted.contains(*param) && !there.contains(*param));
        costs.extend(kept.map(|param| (*param, 0)));
        let mut made: FxHashMap<Var, &Stmt> = FxHashMap::default();
        let mut counted: FxHashSet<Var> = FxHashSet::default();
        for stmt in &block.stmts {
            let views = is_view(&stmt.op, &|var| !bound.contains(&var) || costs.contains_key(&var));
            let mut total = if !may(stmt) {
                None
            } else if views {
                Some(1)
            } else {
                cost(&stmt.op)
            };
            let is_counted = is_counted(func, stmt);
            let measures = matches!(stmt.op, Op::Array(ArrayOp::Length(_), _));
            stmt.op.for_each_atom(&mut |atom| {
                let part = match atom.var() {
                    Some(var) if measures && shapes.contains(&var) => Some(0),
                    // Where something is read, is needed again in any case: something is added there.
                    Some(var) if !is_counted && counted.contains(&var) => costs.get(&var).map(|_| 0),
                    Some(var) if bound.contains(&var) => costs.get(&var).copied(),
                    _ => Some(0),
                };
                total = total.zip(part).map(|(total, part)| total + part);
            });
            if is_counted {
                counted.extend(&stmt.outs);
            }
            let limit = if is_counted { LIMIT_OF_COUNTED } else { LIMIT };
            match (total.filter(|total| *total <= limit), stmt.outs.as_slice()) {
                (Some(total), [out]) => {
                    // What is wanted itself is there for others.
                    costs.insert(*out, if wanted.contains(out) { 0 } else { total });
                    made.insert(*out, stmt);
                }
                (_, outs) => {
                    costs.extend(outs.iter().filter(|out| wanted.contains(*out)).map(|out| (*out, 0)));
                }
            }
        }
        Known { bound, costs, made }
    }

    /// The same, where statements that make arrays are done again too.
    fn with(mut self, block: &'b Block, fewest: &fewest::Fewest) -> Known<'b> {
        for (at, stmt) in block.stmts.iter().enumerate() {
            if fewest.again.contains(&at) {
                self.made.extend(stmt.outs.iter().map(|out| (*out, stmt)));
            }
        }
        fewest.kept.iter().for_each(|var| {
            self.made.remove(var);
        });
        self
    }

    fn again(&self, mentioned: &[Var], there: &FxHashSet<Var>) -> Again {
        self.again_keeping(mentioned, there, Vec::new())
    }

    fn again_keeping(&self, mentioned: &[Var], there: &FxHashSet<Var>, more: Vec<Var>) -> Again {
        let mut again = Again::default();
        let mut done = FxHashSet::default();
        for var in mentioned {
            if there.contains(var) {
                if done.insert(*var) {
                    again.used.push(*var);
                }
            } else if self.made.contains_key(var) {
                collect(*var, &self.made, there, &mut done, &mut again);
            } else {
                again.kept.push(*var);
            }
        }
        let more = more.into_iter().filter(|var| !mentioned.contains(var));
        again.kept.extend(more);
        again
    }
}

/// Adds what a variable takes.
fn collect(
    var: Var,
    made: &FxHashMap<Var, &Stmt>,
    there: &FxHashSet<Var>,
    done: &mut FxHashSet<Var>,
    again: &mut Again,
) {
    if there.contains(&var) && done.insert(var) {
        again.used.push(var);
    }
    if let Some(stmt) = made.get(&var)
        && !done.contains(&var)
    {
        done.extend(&stmt.outs);
        crate::deep(|| needs(&stmt.op).into_iter().for_each(|var| collect(var, made, there, done, again)));
        again.stmts.push(Stmt::clone(stmt));
    }
}

/// The variables that an operation needs, those included that its blocks do not bind.
pub(crate) fn needs(op: &Op) -> Vec<Var> {
    let mut vars = op.operand_vars();
    op.blocks().into_iter().for_each(|block| vars.extend(block.free_vars()));
    vars
}

/// What the variables of the primal part are in linear code that is written down.
pub(crate) struct Primal<'a> {
    /// What is not here goes by its own name.
    pub(crate) env: &'a mut Scoped,
    /// The variables; `None` if they are those of the function that is written.
    pub(crate) source: Option<&'a Table<Var, VarInfo>>,
    /// Which of them have the shape of which.
    pub(crate) likes: &'a Likes,
}

impl Primal<'_> {
    fn info(&self, code: &Code<'_>, var: Var) -> VarInfo {
        *self.source.unwrap_or(&code.b.func().vars).at(var)
    }

    /// Computes statements once more.
    pub(crate) fn compute_again(&mut self, code: &mut Code<'_>, stmts: &[Stmt]) {
        for stmt in stmts {
            let op = copy(&mut code.b, &stmt.op, self.source, (self.env, self.likes));
            let infos = stmt.outs.iter().map(|out| self.info(code, *out));
            let named: Vec<(Name, Ty)> = infos.map(|info| (info.name, info.ty)).collect();
            let found = code.b.named(&named, op);
            self.env.extend(stmt.outs.iter().copied().zip(found));
        }
    }

    /// Gives the body of a loop, which was just begun, a parameter for each row that is kept; boxes are opened. What is not kept is
    /// computed once more.
    pub(crate) fn open_rows(&mut self, code: &mut Code<'_>, parts: &LinLoop) {
        let mut boxed = Vec::new();
        for row in &parts.rows {
            let VarInfo { name, ty } = self.info(code, row.var);
            let param_ty = row.boxed.map_or(ty, |data| Ty::Scalar(Elem::Data(data)));
            let param = code.b.param(name, param_ty);
            match row.boxed {
                None => {
                    self.env.insert(row.var, param);
                }
                Some(_) => boxed.push((row.var, param, name, ty)),
            }
        }
        for (var, on, name, ty) in boxed {
            let opened = code.open_box(on, name, ty);
            self.env.insert(var, opened);
        }
        self.compute_again(code, &parts.again);
    }
}

/// A copy of an operation that is computed again, for the code `into`, with variables of its own in its blocks. `env` says what
/// the others are there; all are in `vars`, or in `into`.
fn copy(
    into: &mut Builder,
    op: &Op,
    vars: Option<&Table<Var, VarInfo>>,
    (env, likes): (&Scoped, &Likes),
) -> Op {
    let mut op = op.clone();
    op.for_each_atom_mut(&mut |atom| *atom = meaning(env, likes, atom));
    let mut own = Own { into, vars, outside: (env, likes), fresh: FxHashMap::default() };
    op.blocks_mut().into_iter().for_each(|block| own.block(block));
    op
}

/// A copy of blocks, of which the variables have names of their own.
struct Own<'a> {
    into: &'a mut Builder,
    vars: Option<&'a Table<Var, VarInfo>>,
    outside: (&'a Scoped, &'a Likes),
    fresh: FxHashMap<Var, Atom>,
}

impl Own<'_> {
    fn block(&mut self, block: &mut Block) {
        block.params.iter_mut().for_each(|param| self.named(param));
        for stmt in &mut block.stmts {
            stmt.op.for_each_atom_mut(&mut |atom| self.say(atom));
            crate::deep(|| stmt.op.blocks_mut().into_iter().for_each(|inner| self.block(inner)));
            stmt.outs.iter_mut().for_each(|out| self.named(out));
        }
        block.results.iter_mut().for_each(|result| self.say(result));
    }

    fn named(&mut self, var: &mut Var) {
        let VarInfo { name, ty } = *self.vars.unwrap_or(&self.into.func().vars).at(*var);
        let fresh = self.into.fresh(name, ty);
        self.fresh.insert(*var, Atom::Var(fresh));
        *var = fresh;
    }

    fn say(&self, atom: &mut Atom) {
        let own = atom.var().and_then(|var| self.fresh.get(&var)).cloned();
        *atom = own.unwrap_or_else(|| meaning(self.outside.0, self.outside.1, atom));
    }
}

/// What an operand of the primal part is in linear code: one of the same shape, where only that is there.
pub(crate) fn meaning(env: &Scoped, likes: &Likes, atom: &Atom) -> Atom {
    let known = |var| env.get(&var).or_else(|| env.get(&likes.root(var)));
    atom.var().and_then(known).unwrap_or(atom).clone()
}

/// Whether a statement makes an integer or a truth value of such only.
fn is_counted(func: &Func, stmt: &Stmt) -> bool {
    let number = |ty: Ty| matches!(ty, Ty::INT | Ty::BOOL);
    let mut counted = stmt.outs.iter().all(|out| number(func.ty(*out)));
    stmt.op.for_each_atom(&mut |atom| counted &= number(func.type_of(atom)));
    counted
}

/// Whether an operation looks into an array that is there, of which nothing is copied.
fn is_view(op: &Op, is_there: &dyn Fn(Var) -> bool) -> bool {
    let Op::Array(ArrayOp::Slice, args) = op else { return false };
    args.first().and_then(Atom::var).is_some_and(is_there)
}

/// Whether an operation computes a number, and does not just hand on one that is there.
fn makes_number(op: &Op) -> bool {
    matches!(op, Op::Real(..))
}

/// What it costs to do an operation again; `None` if it should not be.
fn cost(op: &Op) -> Option<u32> {
    match op {
        Op::Copy(_)
        | Op::Real(RealOp::Add | RealOp::Sub | RealOp::Mul | RealOp::Neg | RealOp::PowInt(2), _)
        | Op::Compare(..)
        | Op::Not(_)
        | Op::Select { .. }
        | Op::Convert(Convert::IntToReal, _)
        | Op::Array(ArrayOp::Length(_) | ArrayOp::Index, _) => Some(1),
        Op::Int(op, _) if *op != IntOp::Power => Some(1),
        Op::Real(RealOp::PowInt(3), _) => Some(2),
        _ => None,
    }
}
