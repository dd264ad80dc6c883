//! Loops that add, or look for the largest, where numbers need not be to the last bit those of the interpreter.
//!
//! A sum may be made in any order, and so in vectors. Besides variables that are only added to, a loop may have *cells*: elements
//! of arrays at a place that does not move, to which it adds. A cell is summed in a variable and added to its array after the
//! loop. Where an array has a cell, the loop may only add to that array: then it does not matter that an element which moves
//! comes to stand on the cell.
//!
//! Arrays that are written belong to nobody else, so that no other array of the loop is the same.

use super::Body;
use crate::scopes::for_each_operand;
use crate::text::Expr;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_native::loops::{Int, Local, Operand, Stmt, Value, Word};
use wengert_prim::RealOp;

/// Longer computations of a place are not looked at.
const MOST: usize = 8;
/// Places that lie farther apart are not looked for.
const FAR: i64 = 64;

/// How a loop can be run in any order.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    /// Variables that are only added to.
    pub(super) sums: Vec<Local>,
    /// Variables that are the largest or smallest so far, and what is called for them.
    pub(super) extremes: Vec<(Local, RealOp)>,
    /// Elements that are only added to: array, place, and the variable instead.
    pub(super) cells: Vec<Cell>,
    /// Variables that hold what was in a cell.
    old: Vec<Local>,
    /// Whether nothing that is written is read: it could run again.
    pub(super) again: bool,
}

impl Plan {
    /// Whether iterations join nothing.
    pub(super) fn is_plain(&self) -> bool {
        self.cells.is_empty() && self.sums.is_empty() && self.extremes.is_empty()
    }

    /// The variables that change.
    pub(super) fn variables(&self) -> Vec<Local> {
        self.sums.iter().copied().chain(self.extremes.iter().map(|(local, _)| *local)).collect()
    }

    /// An element to which a loop adds once more, where the variable held what was there.
    pub(super) fn add_cell(
        &mut self,
        (base, index): (Operand, Operand),
        old: Local,
        name: impl FnOnce() -> String,
    ) {
        self.old.push(old);
        if !self.cells.iter().any(|cell| cell.base == base && cell.index == index) {
            self.cells.push(Cell { base, index, name: name() });
        }
    }
}

/// An element that is only added to.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) base: Operand,
    pub(super) index: Operand,
    pub(super) name: String,
}

/// What iterations hand on and may come in any order.
struct Carried {
    /// What it only adds to.
    sums: Vec<Local>,
    /// Of what it looks for the largest or smallest.
    extremes: Vec<(Local, RealOp)>,
}

/// The body of a loop.
struct Around<'s> {
    index: Local,
    /// What is assigned once in it.
    inside: FxHashMap<Local, &'s Value>,
    reads: FxHashMap<Local, usize>,
    /// What is assigned to variables from outside.
    carried: Vec<(Local, &'s Value)>,
    loads: Vec<(Local, Operand, Operand)>,
    stores: Vec<Store>,
}

/// What is stored: an address, the place from there on, and the value.
type Store = (Operand, Operand, Operand);

impl Body<'_, '_> {
    /// Whether a variable is a sum, to which products are not added with one rounding: that makes no vector code.
    pub(super) fn is_summed(&self, operand: Operand) -> bool {
        matches!(operand, Operand::Local(local) if self.plan.sums.contains(&local) || self.plan.old.contains(&local))
    }

    /// Whether the new value of a variable is a sum in a given order of which a compiler could take several terms at once: an iteration
    /// adds more than one, or the loop is inside of another one, which may be unrolled. See `wg_in_order` in the runtime.
    pub(super) fn is_in_order(&self, local: Local, value: &Value) -> bool {
        self.word(local) == Word::Real
            && !self.assigned_once(local)
            && !self.plan.sums.contains(&local)
            && self
                .terms(local, value, MOST)
                .is_some_and(|terms| self.loops > 1 || self.loops == 1 && terms > 1)
    }

    /// How many terms a value adds to a variable.
    fn terms(&self, sum: Local, value: &Value, depth: usize) -> Option<usize> {
        let (operands, more) = if let Value::Copy(from) = value {
            (std::slice::from_ref(from), 0)
        } else if let Value::Real(RealOp::Add | RealOp::Sub, args) = value {
            (args.as_slice(), 1)
        } else {
            return None;
        };
        if more > 0 && operands.contains(&Operand::Local(sum)) {
            return Some(more);
        }
        if depth == 0 {
            // That many terms were seen.
            return Some(MOST);
        }
        let inner = |operand: &Operand| self.terms(sum, self.values.get(&operand.local()?)?, depth - 1);
        operands.iter().find_map(inner).map(|terms| terms + more)
    }

    /// The variable that stands for an element.
    pub(super) fn cell(&self, base: Operand, index: Operand, offset: i32) -> Option<Expr> {
        let cell =
            self.plan.cells.iter().find(|cell| cell.base == base && cell.index == index && offset == 0)?;
        Some(Expr::primary(cell.name.clone()))
    }

    /// The variables of cells, before the loop.
    pub(super) fn begin_cells(&mut self) {
        let names: Vec<String> = self.plan.cells.iter().map(|cell| cell.name.clone()).collect();
        names.iter().for_each(|name| self.put(&format!("double {name} = 0.0;")));
    }

    /// Adds them to the cells, after the loop.
    pub(super) fn end_cells(&mut self, cells: &[Cell]) {
        for cell in cells {
            let element = self.element(cell.base, cell.index, 0, true).text;
            self.put(&format!("{element} = {element} + {};", cell.name));
        }
    }

    /// What the iterations of a loop add to, in any order.
    pub(super) fn added_up(&self) -> Vec<String> {
        let mut sums: Vec<&str> = self.plan.sums.iter().map(|sum| self.name(*sum)).collect();
        sums.extend(self.plan.cells.iter().map(|cell| cell.name.as_str()));
        sums.extend(self.noted.as_ref().filter(|noted| noted.vectors).map(|noted| noted.name.as_str()));
        sums.into_iter().map(String::from).collect()
    }

    /// What the compiler may know of the loop that follows.
    pub(super) fn hint(&mut self, independent: bool) {
        let mut joined = vec![("+", self.added_up())];
        for (name, op) in [("wg_max", RealOp::Max), ("wg_min", RealOp::Min)] {
            let of_op = self.plan.extremes.iter().filter(|(_, other)| *other == op);
            joined.push((name, of_op.map(|(local, _)| self.name(*local).to_string()).collect()));
        }
        joined.retain(|(_, names)| !names.is_empty());
        if !self.plan.extremes.is_empty() {
            self.unit.joins_extremes();
        }
        if joined.is_empty() {
            if independent {
                self.put("WG_INDEPENDENT");
            }
            return;
        }
        joined.extend(self.rare.clone().map(|note| ("|", vec![note])));
        joined.extend(self.trial_note().map(|note| ("+", vec![note])));
        let clause = |(op, names): &(&str, Vec<String>)| format!(" reduction({op} : {})", names.join(", "));
        let clauses: String = joined.iter().map(clause).collect();
        self.put(&format!("#pragma omp simd{clauses}"));
    }

    /// How an innermost loop can be run in any order, if it can.
    pub(super) fn plan(&mut self, stmts: &[Stmt], index: Local) -> Option<Plan> {
        let around = self.around(stmts, index)?;
        let Carried { sums, extremes } = self.carried(&around)?;
        let mut plan = Plan { sums, extremes, again: true, ..Plan::default() };
        for (base, place, value) in &around.stores {
            let root = self.object(*base)?;
            let old = around.old(*base, *place, *value);
            let loads = around.loads.iter().filter(|(_, base, _)| self.object(*base) == Some(root)).count();
            let updates = around.stores.iter().filter(|(base, _, _)| self.object(*base) == Some(root));
            let updates: Vec<&Store> = updates.collect();
            let all_update =
                updates.iter().all(|(base, place, value)| around.old(*base, *place, *value).is_some());
            let only_updates = all_update && loads == updates.len();
            plan.again &= loads == 0;
            if *place == Operand::Local(index) {
                if loads > 0 && !only_updates || loads == 0 && updates.len() > 1 {
                    return None;
                }
            } else if around.moves(*place, 0) || around.is_in_row(*base, *place) {
                // Two of them could meet, though none that moves and a cell, which is summed apart.
                let moves =
                    |(base, place, _): &&Store| !around.is_fixed(*place) || around.is_in_row(*base, *place);
                let moving: Vec<&Store> = updates.iter().copied().filter(moves).collect();
                let apart = |(base, place, _): &&Store| self.never_meet(&moving, (*base, *place), index);
                if loads > 0 && !only_updates || moving.len() > 1 && !moving.iter().all(apart) {
                    return None;
                }
            } else {
                let old = old.filter(|_| only_updates && around.is_fixed(*place))?;
                plan.add_cell((*base, *place), old, || self.unit.temporary());
            }
        }
        let strided = |(_, base, place): &(Local, Operand, Operand)| {
            *place == Operand::Local(index)
                || around.is_in_row(*base, *place)
                || around.stays_base(*base, 0) && (around.is_fixed(*place) || around.moves(*place, 0))
        };
        let fits = |(base, place, _): &Store| around.is_fixed(*base) || around.is_in_row(*base, *place);
        ((self.trial.is_some() || around.loads.iter().all(strided)) && around.stores.iter().all(fits))
            .then_some(plan)
    }

    /// What a loop carries, if it only adds to it.
    pub(super) fn sums_of(&self, stmts: &[Stmt], index: Local) -> Option<Vec<Local>> {
        let Carried { sums, extremes } = self.carried(&self.around(stmts, index)?)?;
        extremes.is_empty().then_some(sums)
    }

    /// What is handed on, if all of it may come in any order.
    fn carried(&self, around: &Around<'_>) -> Option<Carried> {
        let (mut sums, mut extremes) = (Vec::new(), Vec::new());
        let mut seen = FxHashSet::default();
        for (local, value) in &around.carried {
            if !seen.insert(*local) || self.word(*local) != Word::Real {
                return None;
            }
            let op = around.joined(*local, value)?;
            if op == RealOp::Add { sums.push(*local) } else { extremes.push((*local, op)) }
        }
        Some(Carried { sums, extremes })
    }

    /// Whether what is stored at a place is at none of the other ones in any iteration: an index goes into all of them as often, and what is between
    /// them is no multiple of that.
    fn never_meet(&self, stores: &[&Store], (base, place): (Operand, Operand), index: Local) -> bool {
        let form = |base: Operand, place: Operand| {
            let mut form = self.form(place, MOST);
            self.add_offset(base, &mut form);
            form
        };
        let (terms, number) = form(base, place);
        let Some(step) = terms.get(&index).copied().filter(|step| *step > 1) else { return false };
        let others = stores.iter().filter(|(other, at, _)| (*other, *at) != (base, place));
        let apart = |(other, at): (Operand, Operand)| {
            let (same, far) = form(other, at);
            same == terms && far.wrapping_sub(number).rem_euclid(step) != 0
        };
        let once = stores.len() - 1 == others.clone().count();
        once && others.into_iter().all(|(other, at, _)| apart((*other, *at)))
    }

    fn around<'s>(&self, stmts: &'s [Stmt], index: Local) -> Option<Around<'s>> {
        let mut around = Around {
            index,
            inside: FxHashMap::default(),
            reads: FxHashMap::default(),
            carried: Vec::new(),
            loads: Vec::new(),
            stores: Vec::new(),
        };
        for stmt in stmts {
            let mut read = |operand: &Operand| {
                if let Operand::Local(read) = operand {
                    *around.reads.entry(*read).or_default() += 1;
                }
            };
            match stmt {
                Stmt::Set(local, value) => {
                    for_each_operand(value, &mut read);
                    if let Value::Load { base, index, offset } = value {
                        (*offset == 0).then_some(())?;
                        around.loads.push((*local, *base, *index));
                    }
                    if self.assigned_once(*local) {
                        around.inside.insert(*local, value);
                    } else {
                        around.carried.push((*local, value));
                    }
                }
                Stmt::Store { base, index, offset, value } => {
                    [base, index, value].into_iter().for_each(read);
                    (*offset == 0).then_some(())?;
                    around.stores.push((*base, *index, *value));
                }
                check if self.skipped.contains(&std::ptr::from_ref(check)) => {}
                Stmt::If { .. }
                | Stmt::Switch { .. }
                | Stmt::For { .. }
                | Stmt::Parallel { .. }
                | Stmt::While { .. }
                | Stmt::Call { .. }
                | Stmt::Runtime { .. }
                | Stmt::Retain(..)
                | Stmt::Release(..)
                | Stmt::Free(..)
                | Stmt::Fail(..) => return None,
            }
        }
        Some(around)
    }

    /// The variable that holds the object into which an address leads, or the parameter that is the address.
    pub(super) fn object(&self, operand: Operand) -> Option<Local> {
        let Operand::Local(mut local) = operand else { return None };
        loop {
            match (self.word(local), self.values.get(&local)) {
                (
                    _,
                    Some(
                        Value::Address { base: Operand::Local(base), .. } | Value::Copy(Operand::Local(base)),
                    ),
                ) => {
                    local = *base;
                }
                (Word::Ref, _) => return Some(local),
                (Word::Address, _) if self.is_own(local) => {
                    return Some(local);
                }
                (_, _) => return None,
            }
        }
    }
}

impl Around<'_> {
    /// How a value is made of the variable and something else, if that may be done in any order, and neither it nor what is on the way is
    /// used for anything else.
    fn joined<'v>(&'v self, local: Local, mut value: &'v Value) -> Option<RealOp> {
        while let Value::Copy(Operand::Local(copied)) = value
            && let Some(of) = self.inside.get(copied)
        {
            if self.reads.get(copied) != Some(&1) {
                return None;
            }
            value = of;
        }
        let Value::Real(op @ (RealOp::Add | RealOp::Max | RealOp::Min), args) = value else { return None };
        let once = args.iter().filter(|arg| **arg == Operand::Local(local)).count() == 1;
        (once && self.reads.get(&local) == Some(&1)).then_some(*op)
    }

    /// The variable with what was there, if what is stored is that and something more, and it is used for nothing else.
    fn old(&self, base: Operand, place: Operand, value: Operand) -> Option<Local> {
        let Operand::Local(sum) = value else { return None };
        let Value::Real(RealOp::Add, args) = self.inside.get(&sum)? else { return None };
        if self.reads.get(&sum) != Some(&1) {
            return None;
        }
        let is_old = |(local, from, index): &&(Local, Operand, Operand)| {
            *from == base
                && *index == place
                && args.contains(&Operand::Local(*local))
                && self.reads.get(local) == Some(&1)
        };
        self.loads.iter().find(is_old).map(|(local, _, _)| *local)
    }

    /// Whether an operand moves with the index: that, or a multiple of it, and something that is the same in each iteration.
    fn moves(&self, operand: Operand, depth: usize) -> bool {
        let Operand::Local(local) = operand else { return false };
        if local == self.index {
            return true;
        }
        match self.inside.get(&local) {
            Some(Value::Copy(x)) if depth < MOST => self.moves(*x, depth + 1),
            Some(Value::Int(Int::Add, a, b)) if depth < MOST => {
                self.moves(*a, depth + 1) && self.stays(*b, depth + 1)
                    || self.stays(*a, depth + 1) && self.moves(*b, depth + 1)
            }
            Some(Value::Int(Int::Sub, a, b)) if depth < MOST => {
                self.moves(*a, depth + 1) && self.stays(*b, depth + 1)
                    || self.stays(*a, depth + 1) && self.moves(*b, depth + 1)
            }
            // So far that no two iterations come to the same place.
            Some(
                Value::Int(Int::Mul, Operand::Int(2..=FAR), of)
                | Value::Int(Int::Mul, of, Operand::Int(2..=FAR)),
            ) if depth < MOST => self.moves(*of, depth + 1),
            Some(_) | None => false,
        }
    }

    /// Whether an operand is the same in each iteration, though it may be computed there.
    fn stays(&self, operand: Operand, depth: usize) -> bool {
        let Operand::Local(local) = operand else { return true };
        match self.inside.get(&local) {
            Some(Value::Copy(x)) if depth < MOST => self.stays(*x, depth + 1),
            Some(Value::Int(_, a, b)) if depth < MOST => {
                self.stays(*a, depth + 1) && self.stays(*b, depth + 1)
            }
            Some(_) => false,
            None => self.is_fixed(operand),
        }
    }

    /// Whether the base of an address is the same in each iteration, as that of a row is which each of them looks up.
    fn stays_base(&self, base: Operand, depth: usize) -> bool {
        let inside = base.local().and_then(|local| self.inside.get(&local));
        match inside {
            Some(Value::Address { base, index, offset: _ }) if depth < MOST => {
                self.stays_base(*base, depth + 1) && self.stays(*index, depth + 1)
            }
            Some(_) => false,
            None => self.is_fixed(base),
        }
    }

    /// Whether this is one place in a row of which each iteration has its own.
    fn is_in_row(&self, row: Operand, place: Operand) -> bool {
        let inside = row.local().and_then(|local| self.inside.get(&local));
        let Some(Value::Address { base, index, offset: _ }) = inside else { return false };
        self.is_fixed(place) && self.stays_base(*base, 0) && self.moves(*index, 0)
    }

    /// Whether the loop leaves an operand as it is.
    fn is_fixed(&self, operand: Operand) -> bool {
        let Operand::Local(local) = operand else { return true };
        local != self.index
            && !self.inside.contains_key(&local)
            && !self.carried.iter().any(|(own, _)| *own == local)
    }
}
