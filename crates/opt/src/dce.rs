//! What nobody needs is not computed: statements whose results are unused and that cannot fail, results of branches, outputs,
//! carried values and inputs of loops, parameters and results of functions, fields of data, and functions that nobody calls.
//! What is needed is found by [`crate::live`] for the whole program at once. What can only fail where something before it has
//! failed already, cannot fail.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is kept whole")]

use crate::facts::{Counts, counts, is_droppable, total};
use crate::inline::callees;
use crate::live::{Needed, needed};
use crate::spare;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::{ArrayOp, Custom, Loop, Mode, Op, Rule, While};
use wengert_ir::program::FuncId;
use wengert_ir::ty::{Elem, Table, Ty};
use wengert_ir::{Block, DataId, Func, Program, Stmt, Var};

/// See the module.
pub(crate) fn run(program: &mut Program) {
    drop_functions(program);
    spare::run(program);
    let total = total(program);
    let counts = counts(program);
    let needed = needed(program, &total, &counts);
    let params = program
        .funcs
        .iter()
        .map(|(id, func)| (id, func.body.params.iter().map(|param| needed.param(id, *param)).collect()));
    let params: FxHashMap<FuncId, Vec<bool>> = params.collect();
    for (id, func) in program.funcs.iter_mut() {
        let mut body = std::mem::take(&mut func.body);
        let results: Vec<bool> = (0..body.results.len()).map(|place| needed.result(id, place)).collect();
        keep_at(&mut body.results, &results);
        keep_at(&mut func.results, &results);
        body.params.retain(|param| needed.param(id, *param));
        let sweep = Sweep { id, total: &total, counts: &counts, needed: &needed, params: &params, func };
        sweep.block(&mut body, &mut Vec::new());
        func.body = body;
    }
    for (id, data) in program.data.iter_mut() {
        for (ctor, declared) in data.ctors.iter_mut().enumerate() {
            let keep = kept_fields(&needed, id, ctor, declared.fields.len());
            keep_at(&mut declared.fields, &keep);
        }
    }
}

/// The array whose largest or smallest element a statement looks for: it fails if there is none.
fn extreme_of(stmt: &Stmt) -> Option<Var> {
    match &stmt.op {
        Op::Array(ArrayOp::Maximum | ArrayOp::Minimum | ArrayOp::ArgMax | ArrayOp::ArgMin, args) => {
            args.first()?.var()
        }
        _ => None,
    }
}

fn kept_fields(needed: &Needed, data: DataId, ctor: usize, count: usize) -> Vec<bool> {
    let ctor = u32::try_from(ctor).unwrap_or(u32::MAX);
    (0..count).map(|place| needed.field((data, ctor, place))).collect()
}

/// Leaves out what is not needed in a function.
struct Sweep<'a> {
    id: FuncId,
    total: &'a FxHashSet<FuncId>,
    counts: &'a Counts,
    needed: &'a Needed,
    /// Of each function, which parameters are needed.
    params: &'a FxHashMap<FuncId, Vec<bool>>,
    func: &'a Func,
}

impl Sweep<'_> {
    fn is_needed(&self, var: &Var) -> bool {
        self.needed.var(self.id, *var)
    }

    /// `full` are arrays that have elements, or else the program has failed before.
    fn block(&self, block: &mut Block, full: &mut Vec<Var>) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let before = full.len();
            block.stmts.retain_mut(|stmt| {
                for inner in stmt.op.blocks_mut() {
                    self.block(inner, full);
                }
                let inside = stmt.op.blocks().into_iter().any(|inner| !inner.stmts.is_empty());
                let extreme = extreme_of(stmt);
                let safe = extreme.is_some_and(|array| full.contains(&array));
                let done = inside
                    || stmt.outs.iter().any(|out| self.is_needed(out))
                    || !(safe || is_droppable(stmt, self.total, self.counts.get(&self.id)));
                if done {
                    full.extend(extreme.filter(|_| !safe));
                    self.narrow(stmt);
                }
                done
            });
            full.truncate(before);
        });
    }

    /// Leaves out results and operands that nobody needs.
    fn narrow(&self, stmt: &mut Stmt) {
        let needed: Vec<bool> = stmt.outs.iter().map(|out| self.is_needed(out)).collect();
        let keep = match &mut stmt.op {
            Op::If { cond: _, then, otherwise } => {
                for block in [then, otherwise] {
                    keep_at(&mut block.results, &needed);
                }
                needed
            }
            Op::Match { on, arms } => {
                if let Some(Ty::Scalar(Elem::Data(data))) = on.var().map(|on| self.func.ty(on)) {
                    for (ctor, arm) in arms.iter_mut().enumerate() {
                        let fields = kept_fields(self.needed, data, ctor, arm.params.len());
                        keep_at(&mut arm.params, &fields);
                    }
                }
                arms.iter_mut().for_each(|arm| keep_at(&mut arm.results, &needed));
                needed
            }
            Op::Fail { .. } => needed,
            Op::Loop(parts) => self.repeat(parts, needed),
            Op::While(parts) => self.while_loop(parts, needed),
            Op::Call { func, args, checkpoint: _ } => {
                keep_at(args, self.params.get(func).map_or(&[], Vec::as_slice));
                (0..stmt.outs.len()).map(|place| self.needed.result(*func, place)).collect()
            }
            Op::Make { data, ctor, fields } => {
                let keep = kept_fields(self.needed, *data, *ctor as usize, fields.len());
                keep_at(fields, &keep);
                return;
            }
            _ => return,
        };
        keep_at(&mut stmt.outs, &keep);
    }

    fn repeat(&self, parts: &mut Loop, mut keep: Vec<bool>) -> Vec<bool> {
        if parts.mode == Mode::Reduce {
            return vec![true; keep.len()];
        }
        let inits = parts.init.len();
        let carried = inits + parts.accs.len();
        for (param, keep) in parts.body.params.iter().skip(1).zip(keep.iter_mut().take(carried)) {
            *keep = *keep || self.is_needed(param);
        }
        let rows: Vec<bool> =
            parts.body.params.iter().skip(1 + carried).map(|row| self.is_needed(row)).collect();
        keep_at(&mut parts.inputs, &rows);
        keep_at(&mut parts.init, keep.get(..inits).unwrap_or_default());
        keep_at(&mut parts.accs, keep.get(inits..carried).unwrap_or_default());
        keep_at(&mut parts.body.results, &keep);
        let params: Vec<bool> =
            [true].into_iter().chain(keep.iter().copied().take(carried)).chain(rows).collect();
        keep_at(&mut parts.body.params, &params);
        if parts.init.is_empty() {
            parts.mode = Mode::Each;
        }
        keep
    }

    fn while_loop(&self, parts: &mut While, mut keep: Vec<bool>) -> Vec<bool> {
        let params = parts.cond.params.iter().zip(&parts.body.params);
        for ((tested, param), keep) in params.zip(keep.iter_mut()) {
            *keep = *keep || self.is_needed(tested) || self.is_needed(param);
        }
        let kept = keep.get(..parts.init.len()).unwrap_or_default().to_vec();
        keep_at(&mut parts.init, &kept);
        keep_at(&mut parts.cond.params, &kept);
        keep_at(&mut parts.body.params, &kept);
        keep_at(&mut parts.body.results, &keep);
        keep
    }
}

fn keep_at<T>(items: &mut Vec<T>, keep: &[bool]) {
    if items.len() == keep.len() {
        let mut places = keep.iter();
        items.retain(|_| places.next().copied().unwrap_or(true));
    }
}

/// Drops functions that no entry leads to.
pub fn drop_functions(program: &mut Program) {
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
