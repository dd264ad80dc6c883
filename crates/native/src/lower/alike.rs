//! Loops whose rows come from branches that give rows of sizes of which only a run can tell that they are the same.
//!
//! ```text
//! t = each i < n, row in m { yield if i <= k { yield row } else { yield each j < n { … } } }
//!
//! if size(row) == n { t = … its rows are made in their places … } else { t = … as ever … }
//! ```
//!
//! So the array is there before its rows, and none of them is made by itself and copied. Where the sizes do differ, the first row says
//! how long the others must be. The loop is there twice; not those inside of it.

use super::uses::Vars;
use super::{ArrayPlace, Lower, Operand, Place, Stmt, Value, Word};
use crate::loops::Int;
use wengert_ir::op::{Compare, Loop, Mode};
use wengert_ir::{Block, Ty, Var};

/// Sizes that are taken for the same.
#[derive(Default)]
pub(super) struct Alike {
    pairs: Vec<(Operand, Operand)>,
    /// Whether any other two are noted, and taken for the same too.
    asking: bool,
    /// What was computed to ask.
    computed: Vec<(Value, Operand)>,
    /// Whether the code is in a loop that is there twice.
    is_inside: bool,
}

impl Alike {
    /// Whether two arrays have the same sizes.
    pub(super) fn are(&mut self, some: &[Operand], others: &[Operand]) -> bool {
        some.len() == others.len() && some.iter().zip(others).all(|(a, b)| self.same(*a, *b))
    }

    /// What was computed before the loop that is there twice.
    pub(super) fn known(&self, value: &Value) -> Option<Operand> {
        self.computed.iter().find(|(other, _)| other == value).map(|(_, made)| *made)
    }

    pub(super) fn note(&mut self, value: Value, made: Operand) {
        if self.asking {
            self.computed.push((value, made));
        }
    }

    fn same(&mut self, a: Operand, b: Operand) -> bool {
        let known = a == b || self.pairs.contains(&(a, b)) || self.pairs.contains(&(b, a));
        let different = matches!((a, b), (Operand::Int(_), Operand::Int(_)));
        if !known && self.asking && !different {
            self.pairs.push((a, b));
        }
        known || (self.asking && !different)
    }
}

impl<'a> Lower<'a> {
    /// The sizes that must be the same for the rows of a loop to be made in their places; none if that is so already, or cannot be.
    pub(super) fn wanted_alike(&mut self, outs: &[Var], parts: &Loop) -> Vec<(Operand, Operand)> {
        let plain = parts.mode == Mode::Each && parts.init.is_empty() && parts.accs.is_empty();
        let taken = |out: &Var| self.destinations.contains_key(out) || self.beside.room.contains_key(out);
        let apart = !outs.iter().any(taken);
        if !plain || !apart || self.alike.is_inside || !has_rows_of_branches(self, &parts.body) {
            return Vec::new();
        }
        let inputs: Vec<ArrayPlace> = parts.inputs.iter().map(|input| self.array(input)).collect();
        let params = parts.body.params.get(1..).unwrap_or_default();
        self.alike.asking = true;
        let known = self.are_rows_known(parts, params, &inputs);
        self.alike.asking = false;
        if known && !self.alike.pairs.is_empty() {
            return std::mem::take(&mut self.alike.pairs);
        }
        self.alike = Alike::default();
        Vec::new()
    }

    /// Whether the sizes of all rows that a loop gives are known before it.
    fn are_rows_known(&mut self, parts: &Loop, params: &[Var], inputs: &[ArrayPlace]) -> bool {
        let mut known = true;
        for row in &parts.body.results {
            known &= self.ty(row).rank() == 0 || self.row_dims(row, &parts.body, (params, inputs)).is_some();
        }
        known
    }

    /// A loop of which there is one where these sizes are the same, and one where they are not.
    pub(super) fn loop_by_sizes(
        &mut self,
        outs: &[Var],
        parts: &'a Loop,
        pairs: Vec<(Operand, Operand)>,
        dying: &Vars,
    ) {
        let mut alike = None;
        for (a, b) in &pairs {
            let same = self.set(Word::Int, Value::CompareInt(Compare::Eq, *a, *b));
            alike = Some(alike.map_or(same, |alike| self.int(Int::And, alike, same)));
        }
        let cond = alike.unwrap_or(Operand::Int(1));
        let results = self.results(outs);
        self.alike.is_inside = true;
        // What is noted of arrays inside of the one loop says nothing of the other.
        let stable = self.stable.clone();
        let sets = [&self.in_place, &self.changed_in_place, &self.zeros_there, &self.zeros].map(Clone::clone);
        let destinations = self.destinations.clone();
        let mut arm = |pairs: Vec<(Operand, Operand)>| {
            self.alike.pairs = pairs;
            self.stable.clone_from(&stable);
            [self.in_place, self.changed_in_place, self.zeros_there, self.zeros] = sets.clone();
            self.destinations.clone_from(&destinations);
            self.apart(|this| {
                this.loop_over(outs, parts, Vec::new(), &mut dying.clone());
                for (out, result) in outs.iter().zip(&results) {
                    if let Place::Array(array) = this.place(*out)
                        && let Some(object) = array.object
                    {
                        this.emit(Stmt::Set(*result, Value::Copy(Operand::Local(object))));
                    }
                }
            })
        };
        let then = arm(pairs);
        let otherwise = arm(Vec::new());
        self.alike = Alike::default();
        self.emit(Stmt::If { cond, then, otherwise });
        for result in &results {
            self.fresh.insert(*result, self.depth);
        }
        self.bind_results(outs, &results);
    }
}

/// Whether a body has a branch that gives an array.
fn has_rows_of_branches(lower: &Lower<'_>, body: &Block) -> bool {
    let plain = |stmt: &wengert_ir::Stmt| {
        let arrays = stmt.outs.iter().any(|out| matches!(lower.func.ty(*out), Ty::Array(..)));
        !arrays || !matches!(stmt.op, wengert_ir::Op::If { .. } | wengert_ir::Op::Match { .. })
    };
    !body.all_stmts(&mut |stmt| plain(stmt))
}
