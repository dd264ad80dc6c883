//! Tangents and cotangents that are divided by the same number are multiplied with its reciprocal, where numbers need not be to the
//! last bit those of the interpreter: a division takes as long as many products.
//!
//! Only derivatives are: what the program itself divides stays exact, so that `6 / 3` is 2 and not nearly 2.

use super::Body;
use rustc_hash::FxHashMap;
use wengert_ir::ty::Id;
use wengert_native::loops::{Local, Operand, Stmt, Value};
use wengert_prim::RealOp;

/// What is known of reciprocals at some place of a function.
#[derive(Debug, Default)]
pub(super) struct Over {
    /// For each block around, which numbers its own statements divide by, and how often.
    blocks: Vec<FxHashMap<Local, usize>>,
    /// Variables that hold reciprocals, how deep they are declared, and their names.
    made: Vec<(Local, usize, String)>,
}

/// The number by which a tangent is divided.
fn divisor(value: &Value) -> Option<Local> {
    let Value::Real(RealOp::DivZero, args) = value else { return None };
    let [_, Operand::Local(by)] = args.as_slice() else { return None };
    Some(*by)
}

impl Over {
    /// Before the statements of a block.
    pub(super) fn enter(&mut self, stmts: &[Stmt]) {
        let mut counts: FxHashMap<Local, usize> = FxHashMap::default();
        for stmt in stmts {
            if let Stmt::Set(_, value) = stmt
                && let Some(by) = divisor(value)
            {
                *counts.entry(by).or_default() += 1;
            }
        }
        self.blocks.push(counts);
    }

    /// After them.
    pub(super) fn leave(&mut self, depth: usize) {
        self.blocks.pop();
        self.close(depth);
    }

    /// What is declared so deep is not there any more.
    pub(super) fn close(&mut self, depth: usize) {
        self.made.retain(|(_, made_at, _)| *made_at < depth);
    }
}

impl Body<'_, '_> {
    /// The reciprocal of the number by which a value divides, if there is one or it is worth making one.
    pub(super) fn reciprocal(&mut self, value: &Value) -> Option<String> {
        let by = divisor(value).filter(|by| self.unit.fast && self.assigned_once(*by))?;
        if let Some((_, _, name)) = self.over.made.iter().find(|(known, _, _)| *known == by) {
            return Some(name.clone());
        }
        let often = self.over.blocks.last().and_then(|counts| counts.get(&by)).copied().unwrap_or(0);
        (often >= 2).then(|| self.one_over(by))
    }

    /// Of a variable that is twice another, the reciprocal is half the reciprocal of that: the derivative of a root is divided by
    /// twice the root, and mostly by the root, too. Whether nobody needs the variable itself then.
    pub(super) fn half_reciprocal(&mut self, local: Local, value: &Value) -> bool {
        let Value::Real(RealOp::Add, args) = value else { return false };
        let [Operand::Local(half), Operand::Local(other)] = args.as_slice() else { return false };
        let known = self.declared.get(half.index()).copied().unwrap_or(false);
        if half != other || !known || !self.unit.fast {
            return false;
        }
        if !self.assigned_once(local) || !self.assigned_once(*half) {
            return false;
        }
        let often = self.over.blocks.last().and_then(|counts| counts.get(&local)).copied().unwrap_or(0);
        let of_half = self.over.made.iter().find(|(known, _, _)| known == half);
        let of_half = of_half.map(|(_, _, name)| name.clone());
        if often == 0 || often == 1 && of_half.is_none() {
            return false;
        }
        let of_half = of_half.unwrap_or_else(|| self.one_over(*half));
        let name = self.unit.temporary();
        self.put(&format!("const double {name} = 0.5 * {of_half};"));
        self.over.made.push((local, self.depth, name));
        self.info(local).reads as usize == often && !self.outcome.contains(&local)
    }

    /// A new variable for the reciprocal of another: its name.
    fn one_over(&mut self, by: Local) -> String {
        let name = self.unit.temporary();
        let divisor = self.name(by).to_string();
        self.put(&format!("const double {name} = 1.0 / {divisor};"));
        self.over.made.push((by, self.depth, name.clone()));
        name
    }

    /// Notes that a variable which is declared here holds a reciprocal.
    pub(super) fn note_reciprocal(&mut self, local: Local, value: &Value) {
        if let Value::Real(RealOp::Div, args) = value
            && let [Operand::Real(1.0), Operand::Local(by)] = args.as_slice()
            && self.unit.fast
            && self.assigned_once(local)
            && self.assigned_once(*by)
        {
            let name = self.name(local).to_string();
            self.over.made.push((*by, self.depth, name));
        }
    }
}
