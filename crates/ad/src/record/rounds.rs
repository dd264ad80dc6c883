//! Loops where there are [marks](super::marks) and no tape. Where it matters what varies they hand on marks beside what they hand on.
//!
//! What surely varies before the first round is taken for sure in all rounds, unless a round shows that it is not; then the rounds are
//! written again.

use super::Record;
use rustc_hash::FxHashSet;
use wengert_ir::op::{Atom, Block, Loop, Mode, Op, Stmt, Var, While};

/// What a loop does in each round.
struct Rounds<'p> {
    /// What is handed on, with what it is before the first round.
    kept: &'p [Var],
    init: &'p [Atom],
    /// What is added to.
    added: &'p [Var],
    /// Rows of arrays.
    rows: &'p [Var],
    inputs: &'p [Atom],
    body: &'p Block,
}

/// The rounds, with marks.
struct Written {
    /// What is handed on and not sure, with its place, and the variables of its marks.
    states: Vec<(Var, usize)>,
    of_states: Vec<Var>,
    /// The same for rows.
    rows: Vec<(Var, usize)>,
    of_rows: Vec<Var>,
    /// Marks come after what is handed on, and after the rows that are given.
    block: Block,
    /// Which of the results surely vary.
    sure: Vec<bool>,
}

impl Record<'_, '_> {
    /// Appends a loop as it is, if it asks for no zeros and all that it gives is sure.
    fn stays(&mut self, stmt: &Stmt, body: &Block, written: &Written) -> bool {
        let quiet =
            written.states.is_empty() && body.all_stmts(&mut |stmt| !self.code.ad.has_tests(&stmt.op));
        let varying = self.numbered(&stmt.outs);
        if !quiet || !varying.iter().all(|(_, i)| written.sure.get(*i) == Some(&true)) {
            return false;
        }
        self.code.b.push(stmt.clone());
        varying.into_iter().for_each(|(out, _)| self.surely(out));
        true
    }

    pub(super) fn marked_loop(&mut self, stmt: &Stmt, parts: &Loop) {
        let Loop { mode, backward, len, inputs, init, accs, body } = parts;
        let (index, params) = body.params.split_at_checked(1).unwrap_or_default();
        let (kept, params) = params.split_at_checked(init.len()).unwrap_or_default();
        let (added, rows) = params.split_at_checked(accs.len()).unwrap_or_default();
        let written = self.rounds(stmt, &Rounds { kept, init, added, rows, inputs, body });
        if self.stays(stmt, body, &written) {
            return;
        }
        let params = [index, kept, &written.of_states, added, rows, &written.of_rows].concat();
        let mode = if written.states.is_empty() { *mode } else { Mode::Sequence };
        let made = Loop {
            mode,
            backward: *backward,
            len: len.clone(),
            inputs: self.beside(inputs, &written.rows),
            init: self.beside(init, &written.states),
            accs: accs.clone(),
            body: Block { params, ..written.block.clone() },
        };
        self.push_rounds(stmt, Op::Loop(Box::new(made)), &written, init.len(), accs.len());
    }

    pub(super) fn marked_while(&mut self, stmt: &Stmt, parts: &While) {
        let While { init, cond, body } = parts;
        let kept = &body.params;
        let rounds = Rounds { kept, init, added: &[], rows: &[], inputs: &[], body };
        let written = self.rounds(stmt, &rounds);
        if self.stays(stmt, body, &written) {
            return;
        }
        let mut cond = cond.clone();
        cond.params.extend(self.fresh_for(&written.states));
        let params = [kept.as_slice(), &written.of_states].concat();
        let init = self.beside(init, &written.states);
        let made = While { init, cond, body: Block { params, ..written.block.clone() } };
        self.push_rounds(stmt, Op::While(Box::new(made)), &written, kept.len(), 0);
    }

    fn rounds(&mut self, stmt: &Stmt, parts: &Rounds<'_>) -> Written {
        let Rounds { kept, init, added, rows, inputs, body } = parts;
        let sure_rows = self.sure_ones(rows, inputs);
        let mut assumed = self.sure_ones(kept, init);
        loop {
            let before = self.sure_now();
            let begin = self.begin();
            self.code.b.open();
            let sure: Vec<Var> = added.iter().chain(&sure_rows).chain(&assumed).copied().collect();
            sure.into_iter().for_each(|var| self.surely(var));
            let mut states = self.numbered(kept);
            states.retain(|(var, _)| !assumed.contains(var));
            let mut varying_rows = self.numbered(rows);
            varying_rows.retain(|(var, _)| !sure_rows.contains(var));
            let (of_states, of_rows) = (self.fresh_for(&states), self.fresh_for(&varying_rows));
            self.block(body);
            let next = kept.iter().zip(&body.results);
            let wrong: FxHashSet<Var> = next
                .filter(|(var, next)| assumed.contains(var) && !self.is_sure(next))
                .map(|(var, _)| *var)
                .collect();
            let sums = kept.len()..kept.len() + added.len();
            let results = body.results.iter().enumerate();
            let sure = results.map(|(i, atom)| sums.contains(&i) || self.is_sure(atom)).collect();
            let (next, rest) = body.results.split_at_checked(kept.len()).unwrap_or_default();
            let (sums, given) = rest.split_at_checked(added.len()).unwrap_or_default();
            let given_outs = stmt.outs.get(kept.len() + added.len()..).unwrap_or_default();
            let varying_given = self.numbered(given_outs);
            let mut results = self.beside(next, &states);
            results.extend(sums.iter().cloned());
            results.extend(self.beside(given, &varying_given));
            let block = self.code.b.close(results);
            self.end(begin);
            self.sure_again(before);
            if wrong.is_empty() {
                return Written { states, of_states, rows: varying_rows, of_rows, block, sure };
            }
            assumed.retain(|var| !wrong.contains(var));
        }
    }

    /// Those variables that stand for something that surely varies.
    fn sure_ones(&mut self, vars: &[Var], atoms: &[Atom]) -> Vec<Var> {
        let sure = vars.iter().zip(atoms).filter(|(_, atom)| self.is_sure(atom)).map(|(var, _)| *var);
        let sure: Vec<Var> = sure.collect();
        sure.into_iter().filter(|var| self.slot_type(*var).is_some()).collect()
    }

    /// Appends a loop with marks in place of a statement.
    fn push_rounds(&mut self, stmt: &Stmt, op: Op, written: &Written, kept: usize, added: usize) {
        let (kept_outs, rest) = stmt.outs.split_at_checked(kept).unwrap_or_default();
        let (added_outs, given_outs) = rest.split_at_checked(added).unwrap_or_default();
        let mut outs = kept_outs.to_vec();
        for (_, place) in &written.states {
            let Some(out) = kept_outs.get(*place).copied() else { continue };
            // What is carried may vary where the result does not.
            let slots = self.fresh_slots(out).or_else(|| self.unused_slots(out));
            outs.extend(slots);
        }
        outs.extend(added_outs);
        outs.extend(given_outs);
        let varying_given = self.numbered(given_outs);
        outs.extend(self.fresh_for(&varying_given));
        self.code.b.push(Stmt { outs, op, span: stmt.span });
        for (out, i) in self.numbered(&stmt.outs) {
            if written.sure.get(i) == Some(&true) && !written.states.iter().any(|(_, state)| *state == i) {
                self.surely(out);
            }
        }
    }

    /// A variable for slots that nobody asks for.
    fn unused_slots(&mut self, out: Var) -> Option<Var> {
        let ty = self.code.b.func().ty(out);
        let own = self.code.ad.slots(ty)?;
        Some(self.code.b.fresh("slots".into(), own))
    }
}
