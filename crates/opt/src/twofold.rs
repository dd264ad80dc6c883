//! What a loop adds up of an array that it updates is added up before, in a loop of its own.
//!
//! ```text
//! zs, s = for j < n, zs = ys, s += 0.0 {             s = each j < n, s += 0.0 { y = ys[i, j]  ys[k, j]  yield s + y }
//!   z = zs[i, j]                            becomes
//!   yield zs with [k, j] += z, s + z }               zs = for j < n, zs = ys { z = zs[i, j]  yield zs with [k, j] += z }
//! ```
//!
//! So it is in what goes backward through a step of elimination: a sum waits for nothing then, and is made in several parts, and the other loop is that of
//! a row. No iteration may read what another one writes: along one of the axes they go along together, or never meet. The first loop looks for
//! all places, so that everything fails as before. What both need is computed twice, if that costs little.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is not done twice")]

use crate::collect::copies::prune;
use crate::linear::Linear;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::build::Copier;
use wengert_ir::op::{ArrayOp, IntOp, Loop, Mode, Op};
use wengert_ir::{Atom, Block, Func, Program, Stmt, Ty, Var};
use wengert_prim::RealOp;

/// Bodies with more statements stay as they are.
const MOST: usize = 40;

/// See the module. Whether something has changed.
pub(crate) fn run(program: &mut Program) -> bool {
    let mut changed = false;
    for (_, func) in program.funcs.iter_mut() {
        let updates = |stmt: &Stmt| matches!(stmt.op, Op::Array(ArrayOp::AddAt | ArrayOp::Set, _));
        if func.body.all_stmts(&mut |stmt| !updates(stmt)) {
            continue;
        }
        let mut body = std::mem::take(&mut func.body);
        let mut pass = Twofold { func, forms: FxHashMap::default(), natural: FxHashSet::default() };
        changed |= pass.block(&mut body);
        func.body = body;
    }
    changed
}

struct Twofold<'p> {
    func: &'p mut Func,
    /// Integers that are sums of others.
    forms: FxHashMap<Var, Linear>,
    /// Indices of loops.
    natural: FxHashSet<Var>,
}

/// A loop that is to be two.
struct Plan {
    /// Which of the arrays that it carries an update belongs to.
    updates: FxHashMap<Var, usize>,
    /// Which array a variable is at the beginning of an iteration.
    states: FxHashMap<Var, usize>,
}

/// Places where something is read or written.
type Place<'s> = &'s [Atom];

/// Which array, and where.
type Access<'s> = (usize, Place<'s>);

impl Twofold<'_> {
    fn block(&mut self, place: &mut Block) -> bool {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut changed = false;
            let mut out: Vec<Stmt> = Vec::with_capacity(place.stmts.len());
            for mut stmt in std::mem::take(&mut place.stmts) {
                self.note(&stmt);
                for inner in stmt.op.blocks_mut() {
                    changed |= self.block(inner);
                }
                match self.split(&stmt) {
                    Some(two) => {
                        out.extend(two);
                        changed = true;
                    }
                    None => out.push(stmt),
                }
            }
            place.stmts = out;
            changed
        })
    }

    fn form(&self, atom: &Atom) -> Option<Linear> {
        match atom {
            Atom::Int(n) => Some(Linear::constant(*n)),
            Atom::Var(var) => Some(self.forms.get(var).cloned().unwrap_or_else(|| Linear::of(*var))),
            _ => None,
        }
    }

    fn note(&mut self, stmt: &Stmt) {
        if let Op::Loop(parts) = &stmt.op {
            self.natural.extend(parts.body.params.first());
        }
        let (Op::Int(op, args), [out]) = (&stmt.op, stmt.outs.as_slice()) else { return };
        let args: Vec<Linear> = args.iter().filter_map(|arg| self.form(arg)).collect();
        let form = match (op, args.as_slice()) {
            (IntOp::Add, [a, b]) => a.plus(b),
            (IntOp::Sub, [a, b]) => a.minus(b),
            (_, _) => return,
        };
        if form.is_small() {
            self.forms.insert(*out, form);
        }
    }

    /// The two loops.
    fn split(&mut self, stmt: &Stmt) -> Option<[Stmt; 2]> {
        let Op::Loop(parts) = &stmt.op else { return None };
        let plan = self.plan(parts)?;
        Some([self.sums(stmt, parts, &plan), self.updates(stmt, parts)])
    }

    fn plan(&self, parts: &Loop) -> Option<Plan> {
        let Loop { mode, init, accs, body, .. } = parts;
        let is_array = |atom: &Atom| matches!(self.func.type_of(atom), Ty::Array(..));
        let adds_up = accs.iter().any(|acc| self.func.type_of(acc) == Ty::REAL);
        let fits = *mode == Mode::Sequence && !init.is_empty() && init.iter().all(is_array) && adds_up;
        if !fits || body.stmts.len() > MOST || !body.stmts.iter().all(|stmt| is_cheap(&stmt.op)) {
            return None;
        }
        let states = body.params.iter().skip(1).take(init.len());
        let mut plan = Plan {
            updates: FxHashMap::default(),
            states: states.enumerate().map(|(at, param)| (*param, at)).collect(),
        };
        let [reads, writes] = self.accesses(body, &mut plan)?;
        let ends = body.results.iter().enumerate().all(|(at, result)| {
            let var = result.var();
            let known = var.and_then(|var| plan.updates.get(&var).or_else(|| plan.states.get(&var)));
            known.copied() == Some(at).filter(|at| *at < init.len())
        });
        let index = *body.params.first()?;
        let inside: FxHashSet<Var> =
            body.params.iter().chain(body.stmts.iter().flat_map(|stmt| &stmt.outs)).copied().collect();
        let meets = |(one, at): &Access<'_>, (other, there): &Access<'_>| {
            one == other && !self.never_meet(at, there, index, &inside)
        };
        let all = reads.iter().chain(&writes);
        let alone = all.clone().all(|access| writes.iter().all(|write| !meets(access, write)));
        (ends && !writes.is_empty() && !reads.is_empty() && alone).then_some(plan)
    }

    /// What is read and written of the arrays that are carried, if nothing else is done with them, and nothing is read of one that is written already.
    fn accesses<'s>(&self, body: &'s Block, plan: &mut Plan) -> Option<[Vec<Access<'s>>; 2]> {
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        let mut current: FxHashMap<usize, Var> = plan.states.iter().map(|(var, at)| (*at, *var)).collect();
        for stmt in &body.stmts {
            let known =
                |var: Var, plan: &Plan| plan.states.get(&var).or_else(|| plan.updates.get(&var)).copied();
            let mut names = stmt.op.operand_vars().into_iter();
            let Op::Array(op, args) = &stmt.op else {
                if names.any(|var| known(var, plan).is_some()) {
                    return None;
                }
                continue;
            };
            let (array, rest) = args.split_first()?;
            if rest.iter().filter_map(Atom::var).any(|var| known(var, plan).is_some()) {
                return None;
            }
            let Some((array, which)) = array.var().and_then(|var| Some((var, known(var, plan)?))) else {
                // Another array may be looked at, and added to where it is an accumulator.
                continue;
            };
            let rank = usize::from(self.func.ty(array).rank());
            match (op, rest) {
                (ArrayOp::Index, place) if plan.states.contains_key(&array) && place.len() == rank => {
                    reads.push((which, place));
                }
                (ArrayOp::Set | ArrayOp::AddAt, [place @ .., _])
                    if current.get(&which) == Some(&array) && place.len() == rank =>
                {
                    let out = *stmt.outs.first()?;
                    plan.updates.insert(out, which);
                    current.insert(which, out);
                    writes.push((which, place));
                }
                (_, _) => return None,
            }
        }
        let last = |(at, var): (&usize, &Var)| body.results.get(*at) == Some(&Atom::Var(*var));
        current.iter().all(last).then_some([reads, writes])
    }

    /// Whether no two iterations come to the same place, one at each of these.
    fn never_meet(&self, one: Place<'_>, other: Place<'_>, index: Var, inside: &FxHashSet<Var>) -> bool {
        let apart = |(one, other): (&Atom, &Atom)| {
            let (one, other) = (self.form(one)?, self.form(other)?);
            let slope = |form: &Linear| {
                let (terms, _) = form.parts();
                let others = terms.iter().all(|(var, _)| *var == index || !inside.contains(var));
                let slope = terms.iter().find(|(var, _)| *var == index).map_or(0, |(_, slope)| *slope);
                others.then_some(slope)
            };
            let difference = one.minus(&other);
            Some(match (slope(&one)?, slope(&other)?) {
                (1, 1) | (-1, -1) => difference.atom() == Some(Atom::Int(0)),
                (_, 0) | (0, _) => self.is_positive(&difference) || self.is_positive(&difference.times(-1)),
                (_, _) => false,
            })
        };
        one.iter().zip(other).any(|pair| apart(pair) == Some(true))
    }

    /// Whether a sum is larger than zero whatever the indices in it are.
    fn is_positive(&self, form: &Linear) -> bool {
        form.minus(&Linear::constant(1)).is_sum_of(&|var| self.natural.contains(&var))
    }

    /// The loop that does all but update the arrays, of which it reads what was there before.
    fn sums(&mut self, stmt: &Stmt, parts: &Loop, plan: &Plan) -> Stmt {
        let Loop { init, body, .. } = parts;
        let count = init.len();
        let mut copier = Copier::within();
        let mut params = Vec::new();
        for (at, param) in body.params.iter().enumerate() {
            match plan.states.get(param).and_then(|which| init.get(*which)) {
                Some(before) if (1..=count).contains(&at) => copier.set(*param, before.clone()),
                _ => params.push(copier.bind(self.func, *param)),
            }
        }
        let mut stmts = Vec::new();
        for inner in &body.stmts {
            let Some(which) = inner.outs.first().and_then(|out| plan.updates.get(out)) else {
                stmts.push(copier.stmt(self.func, inner));
                continue;
            };
            let mut op = copier.op(self.func, &inner.op);
            if let (Some(before), Op::Array(kind, args)) = (init.get(*which), &mut op) {
                args.pop();
                args.splice(..1, [before.clone()]);
                *kind = ArrayOp::Index;
                let element = self.func.type_of(before).elem();
                let looked = self.func.fresh("looked".into(), Ty::Scalar(element));
                stmts.push(Stmt { outs: vec![looked], op, span: inner.span });
            }
        }
        let results = body.results.iter().skip(count).map(|result| copier.atom(result)).collect();
        let body = Block { params, stmts, results };
        let first = Loop { mode: Mode::Each, init: Vec::new(), body, ..parts.clone() };
        let outs = stmt.outs.iter().skip(count).copied().collect();
        Stmt { outs, op: Op::Loop(Box::new(first)), span: stmt.span }
    }

    /// The loop that only updates the arrays, at places that are there.
    fn updates(&mut self, stmt: &Stmt, parts: &Loop) -> Stmt {
        let Loop { init, accs, .. } = parts;
        let count = init.len();
        let mut second = parts.clone();
        second.accs = Vec::new();
        second.backward = false;
        second.body.params.drain(1 + count..1 + count + accs.len());
        second.body.results.truncate(count);
        prune(&mut second.body);
        let outs = stmt.outs.iter().take(count).copied().collect();
        Stmt { outs, op: Op::Loop(Box::new(second)), span: stmt.span }
    }
}

/// Whether an operation costs so little that it can be done twice.
fn is_cheap(op: &Op) -> bool {
    match op {
        Op::Real(op, _) => op.cost() <= 1 && !matches!(op, RealOp::Div | RealOp::DivZero),
        Op::Array(op, _) => matches!(op, ArrayOp::Index | ArrayOp::Set | ArrayOp::AddAt | ArrayOp::Length(_)),
        Op::Int(op, _) => *op != IntOp::Power,
        Op::Copy(_) | Op::Compare(..) | Op::Not(_) | Op::Select { .. } | Op::Convert(..) => true,
        _ => false,
    }
}
