//! What lies between short loops: a loop over the iterations of a piece.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed adds to no array")]

use super::make::{Maker, REALS, Scalar};
use crate::asked::int;
use crate::collect::copies::prune;
use crate::walk::mentioned;
use rustc_hash::FxHashSet;
use wengert_base::Name;
use wengert_ir::op::{ArrayOp, IntOp, Loop, Mode, Op};
use wengert_ir::{Atom, Block, Stmt, Ty, Var};

/// So many statements at most are done once for each array to which they add.
const APART_STATEMENTS: usize = 12;

/// Whether something is computed for two of these.
fn share(stmts: &[&Stmt], chains: &[(Var, FxHashSet<Var>)]) -> bool {
    let computed: Vec<FxHashSet<Var>> = chains.iter().map(|(_, chain)| computed(stmts, chain)).collect();
    let later = |at: usize| computed.iter().skip(at + 1);
    computed.iter().enumerate().any(|(at, own)| later(at).any(|other| !own.is_disjoint(other)))
}

/// What is computed of reals for some of the statements that add to arrays.
fn computed(stmts: &[&Stmt], adding: &FxHashSet<Var>) -> FxHashSet<Var> {
    let (mut needed, mut computed) = (adding.clone(), FxHashSet::default());
    for stmt in stmts.iter().rev() {
        if stmt.outs.iter().any(|out| needed.contains(out)) {
            let adds = stmt.outs.iter().any(|out| adding.contains(out));
            if matches!(stmt.op, Op::Real(..) | Op::Power { .. }) && !adds {
                computed.extend(&stmt.outs);
            }
            needed.extend(stmt.op.operand_vars());
        }
    }
    computed
}

/// What a loop carries or adds up: what it begins with, the parameter, and which it is.
type Numbers = Vec<(Atom, Var, Added)>;

/// A number that the loop outside adds up, or an array, with what it is called last.
enum Added {
    Scalar(usize),
    Array(Var, Ty),
}

impl Maker<'_> {
    /// Does what waits, for all iterations: of that, and of what is asked for by `forced`, what is needed later is kept in arrays.
    pub(super) fn flush(
        &mut self,
        pending: &mut Vec<&Stmt>,
        later: &FxHashSet<Var>,
        forced: &[Atom],
        out: &mut Vec<Stmt>,
    ) -> Option<()> {
        let stmts = std::mem::take(pending);
        let mut yields: Vec<Var> = Vec::new();
        let made = stmts.iter().flat_map(|stmt| &stmt.outs).filter(|var| later.contains(var));
        let is_scalar =
            |var: &&Var| self.from.ty(**var).rank() == 0 && self.sums.iter().all(|(sum, ..)| sum != *var);
        yields.extend(made.filter(is_scalar));
        for var in forced.iter().filter_map(Atom::var) {
            if !self.varying.contains(&var) || self.array(var).is_some() || yields.contains(&var) {
                continue;
            }
            // What the loop outside carries is no array.
            let is_made = self.near.contains(&var) || stmts.iter().any(|stmt| stmt.outs.contains(&var));
            is_made.then(|| yields.push(var))?;
        }
        yields.retain(|var| self.scalars.iter().all(|scalar| scalar.result != Atom::Var(*var)));
        if !yields.iter().all(|var| self.from.ty(*var) == Ty::REAL) {
            return None;
        }
        if stmts.is_empty() && yields.is_empty() {
            return Some(());
        }
        self.is_known(&stmts)?;
        if !yields.is_empty() || stmts.len() > APART_STATEMENTS {
            return self.segment(&stmts, &yields, out);
        }
        let is_number = |stmt: &Stmt| {
            let param = |scalar: &Scalar| stmt.op.operand_vars().contains(&scalar.param);
            self.scalars.iter().any(param)
        };
        let chains = self.chains(&stmts);
        if chains.len() < 2 || stmts.iter().any(|stmt| is_number(stmt)) || share(&stmts, &chains) {
            return self.segment(&stmts, &yields, out);
        }
        // What adds to one array goes through the iterations without what adds to another: sums wait for nothing else then.
        for (_, chain) in chains {
            let own = |stmt: &&&Stmt| self.adds(stmt).is_none_or(|(_, made)| chain.contains(&made));
            let own: Vec<&Stmt> = stmts.iter().filter(own).copied().collect();
            self.segment(&own, &yields, out)?;
        }
        Some(())
    }

    /// What adds to one array each: what that is called last, and all that is added to it.
    fn chains(&self, stmts: &[&Stmt]) -> Vec<(Var, FxHashSet<Var>)> {
        let mut chains: Vec<(Var, FxHashSet<Var>)> = Vec::new();
        for stmt in stmts {
            if let Some((array, made)) = self.adds(stmt) {
                match chains.iter_mut().find(|(last, _)| *last == array) {
                    Some((last, all)) => (*last, _) = (made, all.insert(made)),
                    None => chains.push((made, FxHashSet::from_iter([made]))),
                }
            }
        }
        chains
    }

    /// If a statement adds to an array: which, and what that is called then.
    fn adds(&self, stmt: &Stmt) -> Option<(Var, Var)> {
        let out = *stmt.outs.first()?;
        let sum = self.sums.iter().find(|(var, ..)| *var == out).map(|(_, _, param)| (*param, out));
        sum.or_else(|| match &stmt.op {
            Op::Array(ArrayOp::AddAt, args) => Some((args.first()?.var()?, out)),
            _ => None,
        })
    }

    /// Whether all that statements need is made by them, or can be had otherwise.
    fn is_known(&self, stmts: &[&Stmt]) -> Option<()> {
        let mut made: FxHashSet<Var> = self.near.iter().copied().collect();
        made.extend(self.arrays.iter().chain(&self.accs).map(|(var, _)| *var));
        made.extend(self.scalars.iter().map(|scalar| scalar.param));
        for stmt in stmts {
            let known = |var: &Var| !self.varying.contains(var) || made.contains(var);
            stmt.op.operand_vars().iter().all(known).then_some(())?;
            made.extend(&stmt.outs);
        }
        Some(())
    }

    /// A loop over the iterations.
    fn segment(&mut self, stmts: &[&Stmt], yields: &[Var], out: &mut Vec<Stmt>) -> Option<()> {
        let mut body = Block::default();
        let index = self.param(&mut body, Name::new("i"), Ty::INT);
        let span = self.span;
        let place = int(self.func, (&mut body.stmts, span), IntOp::Add, self.first.clone(), index.clone());
        self.copier.set(self.index, place);
        // Rows of arrays: those that nobody looks at are left out again.
        let arrays = self.arrays.clone();
        let mut inputs: Vec<(Atom, Var)> = Vec::new();
        for (var, array) in &arrays {
            let row = self.copier.bind(self.func, *var);
            inputs.push((array.clone(), row));
        }
        for stmt in self.cheap.clone() {
            let mut copy = self.copier.stmt(self.func, &stmt);
            if let (Op::Array(ArrayOp::Index, from), Op::Array(ArrayOp::Index, args)) =
                (&stmt.op, &mut copy.op)
            {
                self.last_place(from.last()?, &index, (args.last_mut()?, &mut body), out)?;
            }
            body.stmts.push(copy);
        }
        let uses: FxHashSet<Var> = stmts.iter().flat_map(|stmt| stmt.op.operand_vars()).collect();
        let numbers: Vec<usize> = (0..self.scalars.len())
            .filter(|at| self.scalars.get(*at).is_some_and(|scalar| uses.contains(&scalar.param)))
            .collect();
        let (mut carried, mut accs) = (Vec::new(), Vec::new());
        for at in &numbers {
            let scalar = self.scalars.get(*at)?;
            let here = stmts.iter().any(|stmt| stmt.outs.first().copied() == scalar.result.var());
            if scalar.is_done || !here {
                return None;
            }
            let (param, is_acc, value) = (scalar.param, scalar.is_acc, scalar.value.clone());
            let param = self.copier.bind(self.func, param);
            if is_acc { &mut accs } else { &mut carried }.push((value, param, Added::Scalar(*at)));
        }
        for stmt in stmts {
            self.added(stmt, &index, &mut accs, (&mut body, out))?;
        }
        for (_, _, kind) in carried.iter().chain(&accs) {
            let result = match kind {
                Added::Scalar(at) => self.copier.atom(&self.scalars.get(*at)?.result),
                Added::Array(last, _) => self.copier.atom(&Atom::Var(*last)),
            };
            body.results.push(result);
        }
        body.results.extend(yields.iter().map(|var| self.copier.atom(&Atom::Var(*var))));
        self.finish((carried, accs), inputs, (yields, body), out)
    }

    /// The place of an element along the last axis, as a sum of what is the same in all iterations, and what is not.
    fn last_place(
        &mut self,
        from: &Atom,
        index: &Atom,
        (place, body): (&mut Atom, &mut Block),
        before: &mut Vec<Stmt>,
    ) -> Option<()> {
        let form = self.facts.value(from)?;
        let (terms, constant) = form.parts();
        let (span, mut base) = (self.span, Atom::Int(constant));
        let mut step = 0;
        for (var, times) in terms {
            let term = if var == self.index {
                step = times;
                self.first.clone()
            } else {
                self.copier.atom(&Atom::Var(var))
            };
            let term = match times {
                1 => term,
                _ => int(self.func, (before, span), IntOp::Mul, term, Atom::Int(times)),
            };
            base = match base {
                Atom::Int(0) => term,
                base => int(self.func, (before, span), IntOp::Add, term, base),
            };
        }
        *place = match step {
            0 => base,
            1 => int(self.func, (&mut body.stmts, span), IntOp::Add, index.clone(), base),
            _ => {
                let far = int(self.func, (&mut body.stmts, span), IntOp::Mul, index.clone(), Atom::Int(step));
                int(self.func, (&mut body.stmts, span), IntOp::Add, far, base)
            }
        };
        Some(())
    }

    /// A statement of a loop over the iterations; if it adds to an array, that is handed on.
    fn added(
        &mut self,
        stmt: &Stmt,
        index: &Atom,
        accs: &mut Vec<(Atom, Var, Added)>,
        (body, before): (&mut Block, &mut Vec<Stmt>),
    ) -> Option<()> {
        let out = *stmt.outs.first()?;
        let sum = self.sums.iter().find(|(var, ..)| *var == out).cloned();
        let (array, args) = match (&sum, &stmt.op) {
            (Some((_, more, param)), _) => (*param, vec![index.clone(), self.copier.atom(more)]),
            (None, Op::Array(ArrayOp::AddAt, args)) => {
                let ([array, rest @ ..], last) = (args.as_slice(), args.len().checked_sub(3)?) else {
                    return None;
                };
                let mut copies: Vec<Atom> = rest.iter().map(|atom| self.copier.atom(atom)).collect();
                self.last_place(rest.get(last)?, index, (copies.get_mut(last)?, body), before)?;
                (array.var()?, copies)
            }
            (None, op) => {
                let mut copy = self.copier.stmt(self.func, stmt);
                if let (Op::Array(ArrayOp::Index, from), Op::Array(ArrayOp::Index, args)) = (op, &mut copy.op)
                {
                    self.last_place(from.last()?, index, (args.last_mut()?, body), before)?;
                }
                body.stmts.push(copy);
                return Some(());
            }
        };
        let known =
            accs.iter().position(|(_, _, kind)| matches!(kind, Added::Array(last, _) if *last == array));
        let (place, before) = match known {
            Some(place) => (place, self.copier.atom(&Atom::Var(array))),
            None => {
                let start = self.acc(array)?;
                let info = *self.from.vars.at(array);
                let ty = if sum.is_some() { REALS } else { info.ty };
                let param = self.func.fresh(info.name, ty);
                accs.push((start, param, Added::Array(array, ty)));
                (accs.len() - 1, Atom::Var(param))
            }
        };
        let ty = match &accs.get(place)?.2 {
            Added::Array(_, ty) => *ty,
            Added::Scalar(_) => return None,
        };
        let name = self.from.vars.at(out).name;
        let var = self.func.fresh(name, ty);
        let args = [before].into_iter().chain(args).collect();
        body.stmts.push(Stmt { outs: vec![var], op: Op::Array(ArrayOp::AddAt, args), span: stmt.span });
        self.copier.set(out, Atom::Var(var));
        if let Some((_, _, kind)) = accs.get_mut(place) {
            *kind = Added::Array(out, ty);
        }
        Some(())
    }

    /// The loop, and what is known of what it gives.
    fn finish(
        &mut self,
        (carried, accs): (Numbers, Numbers),
        inputs: Vec<(Atom, Var)>,
        (yields, mut body): (&[Var], Block),
        out: &mut Vec<Stmt>,
    ) -> Option<()> {
        body.params.extend(carried.iter().chain(&accs).map(|(_, param, _)| *param));
        prune(&mut body);
        let mut used: FxHashSet<Var> = body.results.iter().filter_map(Atom::var).collect();
        used.extend(body.stmts.iter().flat_map(|stmt| mentioned(&stmt.op)));
        let inputs: Vec<(Atom, Var)> = inputs.into_iter().filter(|(_, row)| used.contains(row)).collect();
        body.params.extend(inputs.iter().map(|(_, row)| *row));
        let mut outs = Vec::new();
        for (_, _, kind) in carried.iter().chain(&accs) {
            match kind {
                Added::Scalar(at) => {
                    let scalar = self.scalars.get_mut(*at)?;
                    let var = self.func.vars.push(*self.from.vars.at(scalar.param));
                    (scalar.value, scalar.is_done) = (Atom::Var(var), true);
                    outs.push(var);
                }
                Added::Array(last, ty) => {
                    let var = self.func.fresh(self.from.vars.at(*last).name, *ty);
                    self.accs.push((*last, Atom::Var(var)));
                    outs.push(var);
                }
            }
        }
        for var in yields {
            let array = self.func.fresh(self.from.vars.at(*var).name, REALS);
            self.arrays.push((*var, Atom::Var(array)));
            outs.push(array);
        }
        let mode = if carried.is_empty() { Mode::Each } else { Mode::Sequence };
        let whole = Loop {
            mode,
            backward: self.backward && mode == Mode::Sequence,
            len: self.len.clone(),
            inputs: inputs.into_iter().map(|(array, _)| array).collect(),
            init: carried.into_iter().map(|(value, ..)| value).collect(),
            accs: accs.into_iter().map(|(value, ..)| value).collect(),
            body,
        };
        out.push(Stmt { outs, op: Op::Loop(Box::new(whole)), span: self.span });
        Some(())
    }
}
