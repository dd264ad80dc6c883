//! How a function calls itself: where its ways part, and where they end.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is neither a branch nor cheap")]

use crate::facts::is_safe;
use crate::walk::mentioned;
use rustc_hash::FxHashSet;
use wengert_ir::op::{ArrayOp, Op, Rule};
use wengert_ir::program::FuncId;
use wengert_ir::{Atom, Block, Elem, Func, Stmt, Ty, Var};
use wengert_prim::RealOp;

/// Computing whether there is a further call takes at most so many operations.
const CHEAP: usize = 8;

/// How a block goes on.
pub(super) enum Way {
    /// Without a call.
    End,
    /// This statement is a call, the only one.
    Call(usize),
    /// This statement is a branch, and calls are in its blocks only: for each how it goes on.
    Branch(usize, Vec<Way>),
}

/// A call: the blocks on the way to it, from the outermost, each with the statement at which the way goes on.
pub(super) type Path<'f> = Vec<(&'f Block, usize)>;

/// What becomes a loop.
pub(super) struct Plan<'f> {
    pub(super) way: Way,
    /// The ways to all calls, in order.
    pub(super) paths: Vec<Path<'f>>,
    /// For each parameter, whether calls hand on another value than they were given.
    pub(super) varying: Vec<bool>,
    /// For each call, what is needed after it of what was there before. Empty where nothing is done after any call.
    pub(super) kept: Vec<Vec<Var>>,
    /// Whether nothing is done after any call.
    pub(super) at_end: bool,
}

/// What each call does first, of what it hands on as it was given, and the function without that. Nothing, if it does not call itself.
pub(super) fn apart(id: FuncId, func: &Func) -> Option<(Vec<Stmt>, Func)> {
    let mut same: Option<FxHashSet<Var>> = None;
    let params = &func.body.params;
    func.body.for_each_stmt(&mut |stmt| {
        if let Op::Call { func, args, .. } = &stmt.op
            && *func == id
        {
            let kept = params.iter().zip(args).filter(|(param, arg)| **arg == Atom::Var(**param));
            let kept: FxHashSet<Var> = kept.map(|(param, _)| *param).collect();
            match &mut same {
                Some(same) => same.retain(|param| kept.contains(param)),
                None => same = Some(kept),
            }
        }
    });
    let mut same = same?;
    let (mut first, mut rest) = (Vec::new(), func.clone());
    let mut fails = false;
    rest.body.stmts.retain(|stmt| {
        let safe = is_safe(&stmt.op, &FxHashSet::default());
        let simple = stmt.op.blocks().is_empty() && !matches!(stmt.op, Op::Call { .. } | Op::Fail { .. });
        let known = mentioned(&stmt.op).all(|var| same.contains(&var));
        let numbers = stmt.outs.iter().all(|out| func.ty(*out).rank() == 0);
        if simple && known && numbers && (safe || !fails) {
            same.extend(&stmt.outs);
            first.push(stmt.clone());
            return false;
        }
        fails |= !safe || !stmt.op.blocks().is_empty();
        true
    });
    Some((first, rest))
}

/// The plan for a function that can become a loop, where all calls have done something `first`.
pub(super) fn plan<'f>(id: FuncId, func: &'f Func, first: &[Stmt]) -> Option<Plan<'f>> {
    let way = way(id, &func.body)?;
    if goes_on(&way).is_some() || !asks_cheaply(func, &func.body, &way) {
        return None;
    }
    let mut paths = Vec::new();
    collect(&func.body, &way, &mut Vec::new(), &mut paths);
    let params = &func.body.params;
    let changes =
        |i: usize, param: &Var| paths.iter().any(|path| args(path).get(i) != Some(&Atom::Var(*param)));
    let varying: Vec<bool> = params.iter().enumerate().map(|(i, param)| changes(i, param)).collect();
    let at_end = paths.iter().all(|path| is_at_end(path));
    let mut same: FxHashSet<Var> =
        params.iter().zip(&varying).filter(|(_, varying)| !**varying).map(|(param, _)| *param).collect();
    same.extend(first.iter().flat_map(|stmt| &stmt.outs));
    let kept: Vec<Vec<Var>> =
        paths.iter().map(|path| if at_end { Vec::new() } else { kept(path, &same) }).collect();
    let scalars = kept.iter().flatten().all(|var| func.ty(*var).rank() == 0);
    scalars.then_some(Plan { way, paths, varying, kept, at_end })
}

/// The call at the end of a path.
pub(super) fn call<'f>(path: &Path<'f>) -> Option<&'f Stmt> {
    path.last().and_then(|(block, at)| block.stmts.get(*at))
}

/// Its arguments.
pub(super) fn args<'f>(path: &Path<'f>) -> &'f [Atom] {
    match call(path).map(|stmt| &stmt.op) {
        Some(Op::Call { args, .. }) => args,
        _ => &[],
    }
}

/// Whether all ways from here lead to a call, or none; `None` if that is to be asked.
pub(super) fn goes_on(way: &Way) -> Option<bool> {
    match way {
        Way::End => Some(false),
        Way::Call(_) => Some(true),
        Way::Branch(_, arms) => {
            let mut all = arms.iter().map(goes_on);
            let first = all.next()??;
            all.all(|other| other == Some(first)).then_some(first)
        }
    }
}

/// How a block goes on; `None` if it may call twice, or where no loop can go on.
fn way(id: FuncId, block: &Block) -> Option<Way> {
    let mut found = Way::End;
    for (place, stmt) in block.stmts.iter().enumerate() {
        if !mentions(id, stmt) {
            continue;
        }
        if !matches!(found, Way::End) {
            return None;
        }
        found = match &stmt.op {
            Op::Call { checkpoint: false, .. } => Way::Call(place),
            Op::If { .. } | Op::Match { .. } => {
                let arms = stmt.op.blocks().into_iter();
                let arms = arms.map(|arm| stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || way(id, arm)));
                Way::Branch(place, arms.collect::<Option<_>>()?)
            }
            _ => return None,
        };
    }
    Some(found)
}

/// Whether a statement has to do with a function.
fn mentions(id: FuncId, stmt: &Stmt) -> bool {
    let one = |op: &Op| match op {
        Op::Call { func, .. } | Op::Jvp { func, .. } | Op::Taylor { func, .. } => *func == id,
        Op::Custom(custom) => {
            custom.func == id
                || match custom.rule {
                    Rule::Jvp(rule) => rule == id,
                    Rule::Vjp(rule, apply) => rule == id || apply == id,
                }
        }
        _ => false,
    };
    let mut found = one(&stmt.op);
    for block in stmt.op.blocks() {
        block.for_each_stmt(&mut |inner| found = found || one(&inner.op));
    }
    found
}

fn collect<'f>(block: &'f Block, way: &Way, around: &mut Path<'f>, paths: &mut Vec<Path<'f>>) {
    match way {
        Way::End => {}
        Way::Call(at) => {
            let path = around.iter().copied().chain([(block, *at)]).collect();
            paths.push(path);
        }
        Way::Branch(at, arms) => {
            around.push((block, *at));
            for (arm, way) in inner(block, *at).into_iter().zip(arms) {
                stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || collect(arm, way, around, paths));
            }
            around.pop();
        }
    }
}

/// The blocks of a statement of a block.
pub(super) fn inner(block: &Block, at: usize) -> Vec<&Block> {
    block.stmts.get(at).map(|stmt| stmt.op.blocks()).unwrap_or_default()
}

/// The statements of a block after one of them.
pub(super) fn after(block: &Block, at: usize) -> &[Stmt] {
    block.stmts.get(at + 1..).unwrap_or_default()
}

/// Whether the results of a call are the results of the function.
fn is_at_end(path: &Path<'_>) -> bool {
    path.iter().all(|(block, at)| {
        let outs = block.stmts.get(*at).map(|stmt| stmt.outs.as_slice()).unwrap_or_default();
        after(block, *at).is_empty()
            && block.results.iter().map(Atom::var).eq(outs.iter().map(|out| Some(*out)))
    })
}

/// What is needed after a call of what was there before, but for what is always the same.
fn kept(path: &Path<'_>, same: &FxHashSet<Var>) -> Vec<Var> {
    let mut here = FxHashSet::default();
    let mut kept = Vec::new();
    for (block, at) in path.iter().rev() {
        here.extend(block.stmts.get(*at).iter().flat_map(|stmt| &stmt.outs).copied());
        let rest =
            Block { params: Vec::new(), stmts: after(block, *at).to_vec(), results: block.results.clone() };
        for var in rest.free_vars() {
            if !here.contains(&var) && !same.contains(&var) && !kept.contains(&var) {
                kept.push(var);
            }
        }
        here.extend(rest.stmts.iter().flat_map(|stmt| &stmt.outs));
    }
    kept
}

/// Whether it is cheap, and sure to give an answer, to ask whether there is a further call.
fn asks_cheaply(func: &Func, block: &Block, way: &Way) -> bool {
    let Way::Branch(at, arms) = way else { return true };
    if goes_on(way).is_some() {
        return true;
    }
    let question = question(block, *at, arms);
    let is_data = |atom: &Atom| matches!(func.type_of(atom), Ty::Scalar(Elem::Data(_)));
    let can_match = match block.stmts.get(*at).map(|stmt| &stmt.op) {
        Some(Op::Match { on, .. }) => is_data(on),
        _ => true,
    };
    let mut inside = inner(block, *at).into_iter().zip(arms);
    can_match
        && question.len() <= CHEAP
        && question.iter().all(is_cheap)
        && inside.all(|(arm, way)| {
            stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || asks_cheaply(func, arm, way))
        })
}

/// The statements before a branch that are needed to decide it, and the branches inside of it.
pub(super) fn question(block: &Block, at: usize, arms: &[Way]) -> Vec<Stmt> {
    let mut needed = FxHashSet::default();
    needs(block, at, arms, &mut needed);
    let mut found: Vec<Stmt> = block.stmts.get(..at).unwrap_or_default().to_vec();
    found.retain(|stmt| stmt.outs.iter().any(|out| needed.contains(out)));
    found
}

/// Adds the variables that are needed to decide a branch, and those inside of it.
fn needs(block: &Block, at: usize, arms: &[Way], needed: &mut FxHashSet<Var>) {
    if let Some(Op::If { cond: on, .. } | Op::Match { on, .. }) = block.stmts.get(at).map(|stmt| &stmt.op) {
        needed.extend(on.var());
    }
    for (arm, way) in inner(block, at).into_iter().zip(arms) {
        if let (Way::Branch(at, arms), None) = (way, goes_on(way)) {
            stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || needs(arm, *at, arms, needed));
        }
    }
    for stmt in block.stmts.get(..at).unwrap_or_default().iter().rev() {
        if stmt.outs.iter().any(|out| needed.contains(out)) {
            needed.extend(mentioned(&stmt.op));
        }
    }
}

fn is_cheap(stmt: &Stmt) -> bool {
    let quick = match &stmt.op {
        Op::Real(op, _) => {
            matches!(op, RealOp::Add | RealOp::Sub | RealOp::Mul | RealOp::Neg | RealOp::Abs)
        }
        Op::Copy(_) | Op::Int(..) | Op::Compare(..) | Op::Convert(..) | Op::Not(_) | Op::Select { .. } => {
            true
        }
        Op::Array(op, _) => matches!(op, ArrayOp::Length(_)),
        _ => false,
    };
    quick && is_safe(&stmt.op, &FxHashSet::default())
}
