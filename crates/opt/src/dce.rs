//! What nobody needs is not computed: statements whose results are unused and that cannot fail, results of branches, outputs and
//! carried values of loops, and functions that nobody calls.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is kept whole")]

use crate::facts::{is_safe, is_total, total};
use crate::inline::callees;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::{ArrayOp, Custom, Loop, Mode, Op, Rule, While};
use wengert_ir::program::FuncId;
use wengert_ir::ty::Table;
use wengert_ir::{Atom, Block, Program, Stmt, Var};

/// See the module.
pub(crate) fn run(program: &mut Program) {
    drop_functions(program);
    let total = total(program);
    for (_, func) in program.funcs.iter_mut() {
        let mut lengths = FxHashSet::default();
        func.body.for_each_stmt(&mut |stmt| {
            if let Op::Array(ArrayOp::Length(_), _) = stmt.op {
                lengths.extend(&stmt.outs);
            }
        });
        let mut live = Live { total: &total, lengths, vars: FxHashSet::default() };
        live.block(&mut func.body);
    }
}

struct Live<'t> {
    total: &'t FxHashSet<FuncId>,
    /// Sizes of arrays.
    lengths: FxHashSet<Var>,
    vars: FxHashSet<Var>,
}

impl Live<'_> {
    fn see(&mut self, atom: &Atom) {
        self.vars.extend(atom.var());
    }

    /// A block whose results are all needed.
    fn block(&mut self, block: &mut Block) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            block.results.iter().for_each(|atom| self.see(atom));
            let mut kept = Vec::with_capacity(block.stmts.len());
            for mut stmt in std::mem::take(&mut block.stmts).into_iter().rev() {
                if !self.is_needed(&stmt) {
                    continue;
                }
                self.narrow(&mut stmt);
                for inner in stmt.op.blocks_mut() {
                    self.block(inner);
                }
                if let Op::Loop(parts) = &mut stmt.op {
                    self.narrow_inputs(parts);
                }
                stmt.op.for_each_atom(&mut |atom| {
                    self.vars.extend(atom.var());
                });
                kept.push(stmt);
            }
            kept.reverse();
            block.stmts = kept;
        });
    }

    fn is_needed(&self, stmt: &Stmt) -> bool {
        stmt.outs.iter().any(|out| self.vars.contains(out))
            || !(is_removable(stmt, self.total) || self.is_as_long_as_another(&stmt.op))
    }

    /// Whether an operation makes an array as long as one that is there: then it does not fail.
    fn is_as_long_as_another(&self, op: &Op) -> bool {
        match op {
            Op::Array(ArrayOp::Replicate | ArrayOp::Iota, args) => {
                args.first().and_then(Atom::var).is_some_and(|count| self.lengths.contains(&count))
            }
            _ => false,
        }
    }

    /// Leaves out arrays that a loop does not look at, after its body was gone through.
    fn narrow_inputs(&self, parts: &mut Loop) {
        if parts.mode == Mode::Reduce {
            return;
        }
        let carried = 1 + parts.init.len() + parts.accs.len();
        let rows = parts.body.params.iter().skip(carried);
        let mut used: Vec<bool> = rows.map(|row| self.vars.contains(row)).collect();
        keep_at(&mut parts.inputs, &used);
        used.splice(0..0, std::iter::repeat_n(true, carried));
        keep_at(&mut parts.body.params, &used);
    }

    /// Leaves out results that nobody needs.
    fn narrow(&self, stmt: &mut Stmt) {
        let live: Vec<bool> = stmt.outs.iter().map(|out| self.vars.contains(out)).collect();
        if live.iter().all(|live| *live) {
            return;
        }
        let keep = match &mut stmt.op {
            Op::If { then, otherwise, .. } => {
                for block in [then, otherwise] {
                    keep_at(&mut block.results, &live);
                }
                live
            }
            Op::Match { arms, .. } => {
                arms.iter_mut().for_each(|arm| keep_at(&mut arm.results, &live));
                live
            }
            Op::Loop(parts) => narrow_loop(parts, live, self.total),
            Op::While(parts) => narrow_while(parts, live, self.total),
            _ => return,
        };
        keep_at(&mut stmt.outs, &keep);
    }
}

/// Whether a statement can be left out if its results are.
fn is_removable(stmt: &Stmt, total: &FxHashSet<FuncId>) -> bool {
    is_safe(&stmt.op, total) && stmt.op.blocks().into_iter().all(|inner| is_total(inner, total))
}

fn keep_at<T>(items: &mut Vec<T>, keep: &[bool]) {
    if items.len() == keep.len() {
        let mut places = keep.iter();
        items.retain(|_| places.next().copied().unwrap_or(true));
    }
}

/// The variables that a block needs for some of its results.
fn needs(block: &Block, wanted: &[bool], total: &FxHashSet<FuncId>) -> FxHashSet<Var> {
    let mut vars: FxHashSet<Var> = FxHashSet::default();
    vars.extend(
        block.results.iter().zip(wanted).filter(|(_, wanted)| **wanted).filter_map(|(atom, _)| atom.var()),
    );
    for stmt in block.stmts.iter().rev() {
        if stmt.outs.iter().any(|out| vars.contains(out)) || !is_removable(stmt, total) {
            vars.extend(stmt.op.operand_vars());
            vars.extend(stmt.op.blocks().into_iter().flat_map(Block::free_vars));
        }
    }
    vars
}

/// Carried values are kept if they are needed outside, or for what is kept.
fn narrow_loop(parts: &mut Loop, mut live: Vec<bool>, total: &FxHashSet<FuncId>) -> Vec<bool> {
    let carried = parts.init.len() + parts.accs.len();
    loop {
        let needed = needs(&parts.body, &live, total);
        let before = live.clone();
        for (param, live) in parts.body.params.iter().skip(1).zip(live.iter_mut().take(carried)) {
            *live = *live || needed.contains(param);
        }
        if live == before {
            break;
        }
    }
    let inits = parts.init.len();
    keep_at(&mut parts.init, live.get(..inits).unwrap_or_default());
    keep_at(&mut parts.accs, live.get(inits..carried).unwrap_or_default());
    keep_at(&mut parts.body.results, &live);
    let mut params = vec![true];
    params.extend(live.iter().take(carried));
    params.resize(parts.body.params.len(), true);
    keep_at(&mut parts.body.params, &params);
    live
}

fn narrow_while(parts: &mut While, mut live: Vec<bool>, total: &FxHashSet<FuncId>) -> Vec<bool> {
    let carried = parts.init.len();
    let tested = needs(&parts.cond, &[true], total);
    for (param, live) in parts.cond.params.iter().zip(live.iter_mut()) {
        *live = *live || tested.contains(param);
    }
    loop {
        let needed = needs(&parts.body, &live, total);
        let before = live.clone();
        for (param, live) in parts.body.params.iter().zip(live.iter_mut().take(carried)) {
            *live = *live || needed.contains(param);
        }
        if live == before {
            break;
        }
    }
    let kept = live.get(..carried).unwrap_or_default().to_vec();
    keep_at(&mut parts.init, &kept);
    keep_at(&mut parts.cond.params, &kept);
    keep_at(&mut parts.body.params, &kept);
    keep_at(&mut parts.body.results, &live);
    live
}

/// Drops functions that no entry leads to.
fn drop_functions(program: &mut Program) {
    let mut reached: FxHashSet<FuncId> = FxHashSet::default();
    let mut todo: Vec<FuncId> = program.entries.values().copied().collect();
    todo.extend(program.linears.iter().map(|(_, linear)| linear.func));
    while let Some(id) = todo.pop() {
        if reached.insert(id)
            && let Some(func) = program.funcs.get(id)
        {
            todo.extend(callees(&func.body));
        }
    }
    if reached.len() == program.funcs.len() {
        return;
    }
    let mut numbers: FxHashMap<FuncId, FuncId> = FxHashMap::default();
    let mut kept = Table::default();
    for (id, func) in program.funcs.iter() {
        if reached.contains(&id) {
            numbers.insert(id, kept.push(func.clone()));
        }
    }
    let renumber = |id: &mut FuncId| {
        if let Some(new) = numbers.get(id) {
            *id = *new;
        }
    };
    for (_, func) in kept.iter_mut() {
        renumber_in(&mut func.body, &renumber);
    }
    program.linears.iter_mut().for_each(|(_, linear)| renumber(&mut linear.func));
    program.entries.values_mut().for_each(renumber);
    program.funcs = kept;
}

fn renumber_in(block: &mut Block, renumber: &dyn Fn(&mut FuncId)) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        for stmt in &mut block.stmts {
            match &mut stmt.op {
                Op::Call { func, .. } | Op::Jvp { func, .. } | Op::Taylor { func, .. } => renumber(func),
                Op::Custom(custom) => {
                    let Custom { func, rule, .. } = &mut **custom;
                    renumber(func);
                    match rule {
                        Rule::Jvp(rule) => renumber(rule),
                        Rule::Vjp(first, second) => {
                            renumber(first);
                            renumber(second);
                        }
                    }
                }
                _ => {}
            }
            stmt.op.blocks_mut().into_iter().for_each(|inner| renumber_in(inner, renumber));
        }
    });
}
