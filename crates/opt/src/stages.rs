//! A loop that computes functions of numbers between other things does each of that in a loop of its own.
//!
//! ```text
//! ys = each i < n, w in ws {                          ts = each i < n, w in ws { t = dot(w, x)  yield t }
//!   t = dot(w, x)                         becomes     ys = each i < n, t in ts { y = tanh(t)  yield y }
//!   y = tanh(t)
//!   yield y }
//!
//! v, l = for i < n, v2 = 1.0, l2 = 0.0, x in xs {     v, vs = for i < n, v2 = 1.0, x in xs { v3 = 0.9 * v2 + x  yield v3, v3 }
//!   v3 = 0.9 * v2 + x                     becomes     l = for i < n, l2 = 0.0, v3 in vs { t = log(v3)  yield l2 + t }
//!   t = log(v3)
//!   yield v3, l2 + t }
//! ```
//!
//! A loop that does nothing but compute numbers is made in vectors, in which functions take a fraction of the time. Loops inside of it, steps that wait
//! for the one before, and what is looked for where it may not be keep it from that. What one of the new loops gives another are arrays of numbers, where there are arrays
//! as long already. What may fail stands in one of them, so that it fails as before, and rows are gone through in one of them.
//!
//! It is done after other passes, which would put it together again.

mod plan;

use self::plan::Plan;
use crate::facts::{Quiet, total};
use crate::sizes::{boxes, in_range};
use crate::walk::{Names, mentioned};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::build::Copier;
use wengert_ir::op::{ArrayOp, Compare, IntOp, Loop, Mode, Op};
use wengert_ir::{Atom, Block, Func, Program, Stmt, Ty, Var};

/// So many numbers stay near.
const NEAR: i64 = 1 << 15;
/// So often loops are taken apart anew, without those that may not be.
const TRIES: usize = 4;

/// See the module.
pub(crate) fn run(program: &mut Program) {
    with(program, true);
}

/// The same where numbers are added up one after the other.
pub(crate) fn exactly(program: &mut Program) {
    with(program, false);
}

fn with(program: &mut Program, sums: bool) {
    let (total, boxes) = (total(program), boxes(program));
    for (_, func) in program.funcs.iter_mut() {
        let may_pay = |stmt: &Stmt| matches!(&stmt.op, Op::Loop(parts) if Plan::may_pay(parts));
        if func.body.all_stmts(&mut |stmt| !may_pay(stmt)) {
            continue;
        }
        let mut refused = FxHashSet::default();
        for _ in 0..TRIES {
            let mut trial = func.clone();
            let inside = in_range(&mut trial, &boxes);
            let mut body = std::mem::take(&mut trial.body);
            let quiet = Quiet { total: &total, inside: &inside };
            let mut stages = Stages { func: &mut trial, quiet, sums, refused: &refused, made: Vec::new() };
            stages.block(&mut body);
            let made = stages.made;
            if made.is_empty() {
                break;
            }
            trial.body = body;
            let inside = in_range(&mut trial, &boxes);
            let wrong = made_wrong(&trial, &made, Quiet { total: &total, inside: &inside });
            if wrong.is_empty() {
                *func = trial;
                break;
            }
            refused.extend(wrong);
        }
    }
}

/// The loops that have become several of which more than one may fail: what does not fail in one because of what another looks for would fail before.
fn made_wrong(func: &Func, made: &[Made], quiet: Quiet<'_>) -> Vec<Var> {
    let mut fails: FxHashSet<Var> = FxHashSet::default();
    func.body.for_each_stmt(&mut |stmt| {
        if !quiet.stmt(stmt) {
            fails.extend(index(stmt));
        }
    });
    let wrong = |made: &&Made| made.stages.iter().filter(|stage| fails.contains(stage)).count() > 1;
    made.iter().filter(wrong).map(|made| made.of).collect()
}

/// The index of a loop: each has its own, and one that only looks for something gives nothing.
fn index(stmt: &Stmt) -> Option<Var> {
    if let Op::Loop(parts) = &stmt.op { parts.body.params.first().copied() } else { None }
}

/// A loop that has become several: what it was known by, and their indices.
struct Made {
    of: Var,
    stages: Vec<Var>,
}

struct Stages<'p> {
    func: &'p mut Func,
    quiet: Quiet<'p>,
    /// Whether a loop that adds numbers up is made in vectors.
    sums: bool,
    /// Loops that are not to be taken apart.
    refused: &'p FxHashSet<Var>,
    made: Vec<Made>,
}

impl Stages<'_> {
    fn block(&mut self, place: &mut Block) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut out = Vec::with_capacity(place.stmts.len());
            for mut stmt in std::mem::take(&mut place.stmts) {
                stmt.op.blocks_mut().into_iter().for_each(|inner| self.block(inner));
                let plan = if let Op::Loop(parts) = &stmt.op
                    && stmt.outs.first().is_some_and(|out| !self.refused.contains(out))
                {
                    Plan::of(self.func, parts, self.quiet, self.sums)
                } else {
                    None
                };
                let of = stmt.outs.first().copied();
                let stages = match plan {
                    Some(plan) if plan.shared.is_empty() => {
                        let stages = self.stages(&stmt, &plan);
                        let indices = indices(&stages);
                        out.extend(stages);
                        indices
                    }
                    Some(plan) => self.while_near(stmt, &plan, &mut out),
                    None => {
                        out.push(stmt);
                        continue;
                    }
                };
                self.made.extend(of.map(|of| Made { of, stages }));
            }
            place.stmts = out;
        });
    }

    fn stages(&mut self, stmt: &Stmt, plan: &Plan) -> Vec<Stmt> {
        let Op::Loop(parts) = &stmt.op else { return Vec::new() };
        let arrays = self.arrays(parts, &stmt.outs, plan);
        (0..plan.count).filter_map(|at| self.stage((parts, stmt), plan, &arrays, at)).collect()
    }

    /// Where several of the loops need the same rows, they are several only if all rows together are few. Gives what they are known by.
    fn while_near(&mut self, stmt: Stmt, plan: &Plan, out: &mut Vec<Stmt>) -> Vec<Var> {
        let span = stmt.span;
        let mut number = |func: &mut Func, ty: Ty, op: Op| {
            let var = func.fresh("t".into(), ty);
            out.push(Stmt { outs: vec![var], op, span });
            Atom::Var(var)
        };
        let mut near: Option<Atom> = None;
        for array in &plan.shared {
            let mut count: Option<Atom> = None;
            for axis in 0..self.func.type_of(array).rank() {
                let length =
                    number(self.func, Ty::INT, Op::Array(ArrayOp::Length(axis), vec![array.clone()]));
                count = Some(match count {
                    Some(count) => number(self.func, Ty::INT, Op::Int(IntOp::Mul, vec![count, length])),
                    None => length,
                });
            }
            let count = count.unwrap_or(Atom::Int(0));
            let few = number(self.func, Ty::BOOL, Op::Compare(Compare::Le, count, Atom::Int(NEAR)));
            near = Some(match near {
                Some(cond) => {
                    let both = Op::Select { cond, then: few, otherwise: Atom::Bool(false) };
                    number(self.func, Ty::BOOL, both)
                }
                None => few,
            });
        }
        let cond = near.unwrap_or(Atom::Bool(true));
        let results = |outs: &[Var]| outs.iter().copied().map(Atom::Var).collect();
        let whole = Copier::within().stmt(self.func, &stmt);
        let otherwise = Block { params: Vec::new(), results: results(&whole.outs), stmts: vec![whole] };
        let outs =
            stmt.outs.iter().map(|out| self.func.fresh(self.func.vars.at(*out).name, self.func.ty(*out)));
        let apart = Stmt { outs: outs.collect(), op: stmt.op, span };
        let results = results(&apart.outs);
        let stages = self.stages(&apart, plan);
        let indices = indices(&stages);
        let then = Block { params: Vec::new(), stmts: stages, results };
        out.push(Stmt { outs: stmt.outs, op: Op::If { cond, then, otherwise }, span });
        indices
    }

    /// The arrays in which loops give others what these need: those that the loop gives anyway, or new ones.
    fn arrays(&mut self, parts: &Loop, outs: &[Var], plan: &Plan) -> FxHashMap<Var, Var> {
        let carried = plan.carried.len();
        let rows = parts.body.results.iter().zip(outs).skip(carried);
        let anyway: FxHashMap<Var, Var> = rows.filter_map(|(row, out)| Some((row.var()?, *out))).collect();
        let array = |(var, _): &(Var, usize)| {
            let array = match anyway.get(var) {
                Some(out) => *out,
                None => {
                    let name = self.func.vars.at(*var).name;
                    self.func.fresh(name, self.func.ty(*var).array_of()?)
                }
            };
            Some((*var, array))
        };
        plan.given.iter().filter_map(array).collect()
    }

    /// One of the loops.
    fn stage(
        &mut self,
        (parts, whole): (&Loop, &Stmt),
        plan: &Plan,
        arrays: &FxHashMap<Var, Var>,
        stage: usize,
    ) -> Option<Stmt> {
        let (results, outs) = results((parts, whole), plan, arrays, stage)?;
        let stmts = parts.body.stmts.iter().zip(&plan.stmts).filter(|(_, of)| **of == stage);
        let stmts = stmts.map(|(stmt, _)| stmt.clone()).collect();
        let mut body = Block { params: Vec::new(), stmts, results };
        let (inputs, names) = self.enter(parts, &mut body, plan, arrays, stage)?;
        for stmt in &mut body.stmts {
            names.replace_in(&mut stmt.op);
            stmt.op.blocks_mut().into_iter().for_each(|inner| names.replace_inside(inner));
        }
        body.results.iter_mut().for_each(|result| names.replace(result));
        let begin = parts.init.iter().chain(&parts.accs).zip(&plan.carried).enumerate();
        let mine = begin.filter(|(_, (_, of))| **of == stage);
        let (init, accs): (Vec<_>, Vec<_>) = mine.partition(|(at, _)| *at < parts.init.len());
        let [init, accs] =
            [init, accs].map(|all| all.into_iter().map(|(_, (first, _))| first.clone()).collect());
        let init: Vec<Atom> = init;
        let mode = if init.is_empty() { Mode::Each } else { Mode::Sequence };
        let (backward, len) = (parts.backward, parts.len.clone());
        let op = Op::Loop(Box::new(Loop { mode, backward, len, inputs, init, accs, body }));
        Some(Stmt { outs, op, span: whole.span })
    }

    /// The parameters of one of the loops: names of its own for the index and the rows that it needs, what it carries as before. Gives the arrays that it goes
    /// through.
    fn enter(
        &mut self,
        parts: &Loop,
        body: &mut Block,
        plan: &Plan,
        arrays: &FxHashMap<Var, Var>,
        stage: usize,
    ) -> Option<(Vec<Atom>, Names)> {
        let needs: FxHashSet<Var> = (body.stmts.iter().flat_map(|stmt| mentioned(&stmt.op)))
            .chain(body.results.iter().filter_map(Atom::var))
            .collect();
        let (index, rest) = parts.body.params.split_first()?;
        let (carried, rows) = rest.split_at_checked(plan.carried.len())?;
        let (mut names, mut inputs) = (Names::default(), Vec::new());
        let mut own = |func: &mut Func, var: Var| {
            let new = func.fresh(func.vars.at(var).name, func.ty(var));
            names.set(var, Atom::Var(new));
            new
        };
        body.params.push(own(self.func, *index));
        body.params.extend(
            carried.iter().zip(&plan.carried).filter(|(_, of)| **of == stage).map(|(param, _)| *param),
        );
        let given = plan.given.iter().filter(|(_, of)| *of < stage);
        let given = given.filter_map(|(var, _)| Some((var, Atom::Var(*arrays.get(var)?))));
        for (row, input) in rows.iter().zip(parts.inputs.iter().cloned()).chain(given) {
            if needs.contains(row) {
                body.params.push(own(self.func, *row));
                inputs.push(input);
            }
        }
        Some((inputs, names))
    }
}

/// What loops are known by.
fn indices(stages: &[Stmt]) -> Vec<Var> {
    stages.iter().filter_map(index).collect()
}

/// What one of the loops gives: what of the whole comes from it, and what others need.
fn results(
    (parts, whole): (&Loop, &Stmt),
    plan: &Plan,
    arrays: &FxHashMap<Var, Var>,
    stage: usize,
) -> Option<(Vec<Atom>, Vec<Var>)> {
    let of = plan.carried.iter().chain(&plan.rows);
    let all = parts.body.results.iter().zip(&whole.outs).zip(of);
    let (mut results, mut outs): (Vec<Atom>, Vec<Var>) =
        all.filter(|(_, of)| **of == stage).map(|((result, out), _)| (result.clone(), *out)).unzip();
    for (var, _) in plan.given.iter().filter(|(_, of)| *of == stage) {
        let array = *arrays.get(var)?;
        if !outs.contains(&array) {
            results.push(Atom::Var(*var));
            outs.push(array);
        }
    }
    Some((results, outs))
}
