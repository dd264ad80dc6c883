//! What a function with a rule and its rule have captured, where derivatives by that are differentiated once more: both are recorded, the
//! rule with a tangent that is zero and varies with the point ([`crate::velocity`]).

use super::Record;
use crate::Key;
use crate::velocity::Beside;
use wengert_ir::op::{Atom, Block, Custom, Op, Stmt, Var};
use wengert_ir::program::VarInfo;
use wengert_ir::ty::Ty;

impl Record<'_, '_> {
    /// A function with a rule, with the slots that it has by what is captured.
    pub(super) fn by_captures(&mut self, stmt: &Stmt, parts: &Custom) {
        let [captured, rule_captured] = [&parts.captured, &parts.rule_captured]
            .map(|atoms| atoms.iter().map(|x| self.slots_of(x).is_some()).collect::<Vec<bool>>());
        let values: Vec<Ty> = stmt.outs.iter().map(|out| self.code.b.func().ty(*out)).collect();
        let Some(beside) = self.code.beside(parts, &values, (captured, rule_captured)) else {
            self.code.b.push(stmt.clone());
            self.by_captured(stmt, parts);
            if let Some(found) = self.by_captured_of_rule(stmt, parts) {
                self.add_slots(stmt, found);
            }
            return;
        };
        let Beside { func, args, rule, rule_args } = beside;
        let slots = parts.captured.iter().filter_map(|x| self.slots_of(x)).collect();
        let (values, own) = self.recorded_or_called(func, args, slots);
        let slots: Vec<Atom> = parts.rule_captured.iter().filter_map(|x| self.slots_of(x)).collect();
        let mut others = Vec::new();
        for args in rule_args {
            let (mut more, mut slots) = self.recorded_or_called(rule.clone(), args, slots.clone());
            more.drain(..values.len().min(more.len()));
            slots.drain(..values.len().min(slots.len()));
            others.push((more, slots));
        }
        let all: Vec<Atom> = others.iter().flat_map(|(more, _)| more.iter().cloned()).collect();
        let cond = self.code.are_zero(&all);
        let then = self.with_more(stmt, (values, own), others);
        let otherwise = self.by_captures_apart(stmt, parts);
        self.replace(stmt, Op::If { cond, then, otherwise });
    }

    fn recorded_or_called(
        &mut self,
        key: Key,
        args: Vec<Atom>,
        slots: Vec<Atom>,
    ) -> (Vec<Atom>, Vec<Option<Atom>>) {
        let key = self.code.ad.recorded_key(key);
        if key.1.contains(&true) {
            return self.recorded_call(&key, args, slots);
        }
        let results = self.code.ad.program.funcs.at(key.0).results.clone();
        (self.code.b.call(key.0, args, &results), vec![None; results.len()])
    }

    /// The block in which values vary with those others, too.
    fn with_more(
        &mut self,
        stmt: &Stmt,
        (mut values, mut own): (Vec<Atom>, Vec<Option<Atom>>),
        others: Vec<(Vec<Atom>, Vec<Option<Atom>>)>,
    ) -> Block {
        let begin = self.begin();
        self.code.b.open();
        for (more, slots) in others {
            values = self.code.with_others(&values, &more);
            let outs: Vec<Var> = values.iter().filter_map(Atom::var).collect();
            let made = Stmt { outs, ..stmt.clone() };
            for (out, own) in made.outs.iter().zip(own) {
                self.note(*out, own);
            }
            self.add_slots(&made, slots);
            own = values.iter().map(|value| self.slots_of(value)).collect();
        }
        let block = self.close_arm(stmt, values);
        self.end(begin);
        block
    }

    /// The block in which the derivative by what the rule has captured is a function with a rule in turn.
    fn by_captures_apart(&mut self, stmt: &Stmt, parts: &Custom) -> Block {
        let begin = self.begin();
        self.code.b.open();
        let infos: Vec<VarInfo> = stmt.outs.iter().map(|out| *self.code.b.func().vars.at(*out)).collect();
        let outs = infos.into_iter().map(|VarInfo { name, ty }| self.code.b.fresh(name, ty)).collect();
        let made = Stmt { outs, ..stmt.clone() };
        self.code.b.push(made.clone());
        self.by_captured(&made, parts);
        if let Some(found) = self.by_captured_of_rule(&made, parts) {
            self.add_slots(&made, found);
        }
        let results = made.outs.iter().copied().map(Atom::Var).collect();
        let block = self.close_arm(stmt, results);
        self.end(begin);
        block
    }

    /// Closes a block that gives these for a statement, with their slots.
    fn close_arm(&mut self, stmt: &Stmt, mut results: Vec<Atom>) -> Block {
        for (atom, out) in results.clone().iter().zip(&stmt.outs) {
            if self.slot_type(*out).is_some() {
                results.push(self.slots_or_none(atom));
            }
        }
        results.extend(self.state.atoms());
        self.code.b.close(results)
    }
}
