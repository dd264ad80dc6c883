//! Branches and loops that record: they hand on slots beside what they hand on, and the tape.

use super::{Record, State};
use crate::scoped::Begin;
use wengert_ir::op::{Atom, Block, Loop, Mode, Op, Stmt, Var, While};
use wengert_ir::ty::{DataId, Elem};

impl Record<'_, '_> {
    /// Appends an operation in place of a statement: after what the statement gave it gives slots, tape and count.
    pub(super) fn replace(&mut self, stmt: &Stmt, op: Op) {
        let mut outs = stmt.outs.clone();
        for out in &stmt.outs {
            outs.extend(self.fresh_slots(*out));
        }
        outs.extend(self.fresh_state());
        let arms = op.blocks().len();
        self.code.b.push(Stmt { outs, op, span: stmt.span });
        self.sure_of_arms(stmt, arms);
    }

    /// A block of a branch; with the slots of what is taken apart, and its type and constructor.
    pub(super) fn arm(
        &mut self,
        stmt: &Stmt,
        block: &Block,
        of: Option<(&Atom, DataId, u32, bool)>,
    ) -> Block {
        let begin = self.begin();
        self.code.b.open();
        if let Some((slots, data, ctor, sure)) = of {
            let fields: Vec<Atom> = block.params.iter().copied().map(Atom::Var).collect();
            let found = self.code.slots_of_fields(slots, data, ctor, &fields);
            for (param, slots) in block.params.iter().zip(found) {
                self.note(*param, slots);
                if sure && self.slot_type(*param).is_some() {
                    self.surely(*param);
                }
            }
        }
        self.block(block);
        let mut results = block.results.clone();
        for (atom, out) in block.results.iter().zip(&stmt.outs) {
            if self.slot_type(*out).is_some() {
                results.push(self.slots_or_none(atom));
            }
        }
        results.extend(self.state.atoms());
        self.note_arm(block);
        let made = self.code.b.close(results);
        self.end(begin);
        Block { params: block.params.clone(), ..made }
    }

    pub(super) fn match_on(&mut self, stmt: &Stmt, on: &Atom, arms: &[Block]) {
        let (slots, sure) = (self.slots_of(on), self.is_sure(on));
        let data = match self.code.b.type_of(on).elem() {
            Elem::Data(data) => Some(data),
            Elem::Real | Elem::Int | Elem::Bool | Elem::Text | Elem::Unit => None,
        };
        let mut blocks = Vec::new();
        for (ctor, arm) in arms.iter().enumerate() {
            let of = slots.as_ref().zip(data).map(|(slots, data)| (slots, data, ctor as u32, sure));
            blocks.push(self.arm(stmt, arm, of));
        }
        self.replace(stmt, Op::Match { on: on.clone(), arms: blocks });
    }

    /// Operands, followed by the slots of those at these places.
    pub(super) fn beside(&mut self, atoms: &[Atom], places: &[(Var, usize)]) -> Vec<Atom> {
        let mut all = atoms.to_vec();
        for (_, i) in places {
            if let Some(atom) = atoms.get(*i) {
                all.push(self.slots_or_none(atom));
            }
        }
        all
    }

    pub(super) fn fresh_for(&mut self, vars: &[(Var, usize)]) -> Vec<Var> {
        vars.iter().filter_map(|(var, _)| self.fresh_slots(*var)).collect()
    }

    pub(super) fn numbered(&mut self, vars: &[Var]) -> Vec<(Var, usize)> {
        self.with_slots(vars.iter().enumerate().map(|(i, var)| (*var, i)))
    }

    /// A loop: one iteration after the other. What iterations add to is carried as well.
    pub(super) fn repeat(&mut self, stmt: &Stmt, parts: &Loop) {
        let carried = parts.init.len() + parts.accs.len();
        let params = parts.body.params.as_slice();
        let kept = params.get(1..1 + carried).unwrap_or_default();
        let rows = params.get(1 + carried..).unwrap_or_default();
        let (states, varying_rows) = (self.numbered(kept), self.numbered(rows));
        let first: Vec<Atom> = parts.init.iter().chain(&parts.accs).cloned().collect();
        let mut init = self.beside(&first, &states);
        init.extend(self.state.atoms());
        let inputs = self.beside(&parts.inputs, &varying_rows);
        let begin = self.begin();
        let mut all: Vec<Var> = params.get(..1 + carried).unwrap_or_default().to_vec();
        all.extend(self.fresh_for(&states));
        all.extend(self.fresh_state());
        all.extend(rows);
        all.extend(self.fresh_for(&varying_rows));
        let (body, outs) = self.body(stmt, &parts.body, all, &states, carried, begin);
        let (len, backward, mode) = (parts.len.clone(), parts.backward, Mode::Sequence);
        let op = Op::Loop(Box::new(Loop { mode, backward, len, inputs, init, accs: Vec::new(), body }));
        self.code.b.push(Stmt { outs, op, span: stmt.span });
    }

    pub(super) fn while_loop(&mut self, stmt: &Stmt, parts: &While) {
        let states = self.numbered(&parts.body.params);
        let mut init = self.beside(&parts.init, &states);
        init.extend(self.state.atoms());
        let begin = self.begin();
        let mut cond = parts.cond.clone();
        cond.params.extend(self.fresh_for(&states));
        cond.params.extend(self.fresh_state());
        let mut params = parts.body.params.clone();
        params.extend(self.fresh_for(&states));
        params.extend(self.fresh_state());
        let (body, outs) = self.body(stmt, &parts.body, params, &states, parts.init.len(), begin);
        let op = Op::While(Box::new(While { init, cond, body }));
        self.code.b.push(Stmt { outs, op, span: stmt.span });
    }

    /// The body of a loop with these parameters, which began at `begin` and carries so many values and the slots of `states`; and what
    /// the loop gives.
    fn body(
        &mut self,
        stmt: &Stmt,
        body: &Block,
        params: Vec<Var>,
        states: &[(Var, usize)],
        carried: usize,
        begin: (Begin, State),
    ) -> (Block, Vec<Var>) {
        self.code.b.open();
        self.block(body);
        let (next, given) = body.results.split_at_checked(carried).unwrap_or_default();
        let (kept_outs, given_outs) = stmt.outs.split_at_checked(carried).unwrap_or_default();
        let varying_given = self.numbered(given_outs);
        let mut results = self.beside(next, states);
        results.extend(self.state.atoms());
        results.extend(self.beside(given, &varying_given));
        let made = self.code.b.close(results);
        self.end(begin);
        let mut outs = kept_outs.to_vec();
        outs.extend(
            states.iter().filter_map(|(_, i)| kept_outs.get(*i)).filter_map(|out| self.fresh_slots(*out)),
        );
        outs.extend(self.fresh_state());
        outs.extend(given_outs);
        outs.extend(self.fresh_for(&varying_given));
        (Block { params, ..made }, outs)
    }
}
