//! Loops in forward mode: they carry the tangents of what they carry, of each order, and give those of what they give.

use super::Jvp;
use wengert_ir::op::{Atom, Block, Loop, Mode, Op, Stmt, Var, While};

/// What the body of a loop gives.
#[derive(Default)]
struct Given {
    results: Vec<Atom>,
    /// The variable, or its tangent of an order.
    outs: Vec<(Var, Option<usize>)>,
}

impl Jvp<'_, '_> {
    pub(super) fn repeat(&mut self, stmt: &Stmt, parts: &Loop) {
        if self.code.ad.is_long() && !parts.accs.is_empty() {
            // What is added to a series is not only an addition.
            let mut parts = parts.clone();
            parts.init.append(&mut parts.accs);
            return self.repeat(stmt, &Loop { mode: Mode::Sequence, ..parts });
        }
        let (carried, summed) = (parts.init.len(), parts.accs.len());
        let params = &parts.body.params;
        let from = |start: usize, count: usize| params.get(start..start + count).unwrap_or_default();
        let states = self.varying(from(1, carried), &(0..carried).collect::<Vec<_>>());
        let sums = self.varying(from(1 + carried, summed), &(0..summed).collect::<Vec<_>>());
        let rows = from(1 + carried + summed, parts.inputs.len());
        let rows: Vec<(Var, usize)> = self.varying(rows, &(0..rows.len()).collect::<Vec<_>>());
        let extend = |this: &mut Self, atoms: &[Atom], varying: &[(Var, usize)]| {
            let varying: Vec<Atom> = varying.iter().filter_map(|(_, i)| atoms.get(*i).cloned()).collect();
            let tangents = this.tangents_or_zeros(&varying);
            atoms.iter().cloned().chain(tangents).collect::<Vec<Atom>>()
        };
        let init = extend(self, &parts.init, &states);
        let accs = extend(self, &parts.accs, &sums);
        let inputs = extend(self, &parts.inputs, &rows);
        let dots = self.begin();
        let vars = |varying: &[(Var, usize)]| varying.iter().map(|(var, _)| *var).collect::<Vec<Var>>();
        let mut all: Vec<Var> = from(0, 1 + carried).to_vec();
        all.extend(self.fresh(&vars(&states)));
        all.extend(from(1 + carried, summed));
        all.extend(self.fresh(&vars(&sums)));
        all.extend(from(1 + carried + summed, parts.inputs.len()));
        all.extend(self.fresh(&vars(&rows)));
        self.code.b.open();
        self.block(&parts.body);
        let mut given = Given::default();
        let groups = [(0, carried), (carried, carried + summed), (carried + summed, stmt.outs.len())];
        for (start, end) in groups {
            let slice = start..end;
            let results = parts.body.results.get(slice.clone()).unwrap_or_default();
            self.give(results, stmt.outs.get(slice).unwrap_or_default(), &mut given);
        }
        let made = self.code.b.close(given.results);
        self.end(dots);
        let outs = self.outs(&given.outs);
        let body = Block { params: all, ..made };
        let mode = if parts.mode == Mode::Reduce { Mode::Sequence } else { parts.mode };
        let (len, backward) = (parts.len.clone(), parts.backward);
        let op = Op::Loop(Box::new(Loop { mode, backward, len, inputs, init, accs, body }));
        self.code.b.push(Stmt { outs, op, span: stmt.span });
    }

    pub(super) fn while_loop(&mut self, stmt: &Stmt, parts: &While) {
        let carried = parts.init.len();
        let varying: Vec<usize> = (0..carried).collect();
        let states = self.varying(&parts.body.params, &varying);
        let mut init = parts.init.clone();
        let varying: Vec<Atom> = states.iter().filter_map(|(_, i)| parts.init.get(*i).cloned()).collect();
        init.extend(self.tangents_or_zeros(&varying));
        let dots = self.begin();
        let vars: Vec<Var> = states.iter().map(|(var, _)| *var).collect();
        let mut cond = parts.cond.clone();
        cond.params.extend(self.fresh(&vars));
        let params: Vec<Var> = parts.body.params.iter().copied().chain(self.fresh(&vars)).collect();
        self.code.b.open();
        self.block(&parts.body);
        let (kept, rows) = parts.body.results.split_at_checked(carried).unwrap_or((&parts.body.results, &[]));
        let (kept_outs, row_outs) = stmt.outs.split_at_checked(carried).unwrap_or((&stmt.outs, &[]));
        let mut given = Given::default();
        self.give(kept, kept_outs, &mut given);
        self.give(rows, row_outs, &mut given);
        let made = self.code.b.close(given.results);
        self.end(dots);
        let outs = self.outs(&given.outs);
        let body = Block { params, ..made };
        let op = Op::While(Box::new(While { init, cond, body }));
        self.code.b.push(Stmt { outs, op, span: stmt.span });
    }

    /// Notes results of a body, and the tangents of those that vary.
    fn give(&mut self, results: &[Atom], outs: &[Var], given: &mut Given) {
        given.results.extend(results.iter().cloned());
        given.outs.extend(outs.iter().map(|out| (*out, None)));
        let (varying, vars): (Vec<Atom>, Vec<Var>) = self.pairs(results, outs).into_iter().unzip();
        given.results.extend(self.tangents_or_zeros(&varying));
        for order in 0..self.dots.len() {
            given.outs.extend(vars.iter().map(|var| (*var, Some(order))));
        }
    }

    /// Variables for what a loop gives.
    fn outs(&mut self, outs: &[(Var, Option<usize>)]) -> Vec<Var> {
        let mut all = Vec::new();
        for (var, order) in outs {
            let Some(dots) = order.and_then(|order| self.dots.get_mut(order)) else {
                all.push(*var);
                continue;
            };
            let (name, ty) = self.code.tangent_of(*var);
            let tangent = self.code.b.fresh(name, ty);
            dots.insert(*var, Atom::Var(tangent));
            all.push(tangent);
        }
        all
    }
}
