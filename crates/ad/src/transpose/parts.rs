//! Data and its parts: where sums must be those of a tape, the cotangent of a number stands in one place at a time.
//!
//! A number in data goes by several names: it is a field of the whole, and what a match calls it, or what the whole was made of. For a
//! tape that is one number with one sum. So what has been summed under one name is moved to another one where that is used next: a whole
//! is taken apart before its parts are added to, and put together of them before it goes into a function, which adds to what is there.
//!
//! ```text
//! total t * product t      t_bar = back_product(tape, w);  t_bar2 = back_total(tape2, w2, t_bar)
//! ```
//!
//! Blocks inside of others get sums where they are; inside, only what they bind themselves is moved.

use super::Transposer;
use crate::linear::{Arg, Arm, Choice, Lin, LinBlock, Ref};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::{Atom, Var};
use wengert_ir::ty::{DataId, Ty};

/// Of a block with more data than this nothing is moved.
const MOST: usize = 400;

/// What values are made of.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    wholes: FxHashMap<Var, Made>,
    /// Which values something is a part of.
    around: FxHashMap<Var, Vec<Var>>,
    /// Numbers that are one of two.
    choices: FxHashMap<Var, Chosen>,
}

#[derive(Clone, Debug)]
struct Chosen {
    cond: Atom,
    then: Option<Var>,
    otherwise: Option<Var>,
}

#[derive(Clone, Debug)]
struct Made {
    data: DataId,
    ctor: u32,
    /// The fields that have tangents.
    fields: Vec<Arg>,
}

impl Made {
    fn vars(&self) -> Vec<Var> {
        let field = |field: &Arg| match field {
            Arg::Linear(Ref::Var(var)) => Some(*var),
            Arg::Linear(Ref::At(..)) | Arg::Zero(_) | Arg::Fixed(_) => None,
        };
        self.fields.iter().filter_map(field).collect()
    }
}

impl Parts {
    /// What a block makes, and takes apart.
    pub(super) fn of(block: &LinBlock) -> Parts {
        let mut parts = Parts::default();
        for lin in &block.stmts {
            if let Some((var, chosen)) = choice(lin) {
                parts.choices.insert(var, chosen);
            }
            let Some((whole, made)) = known(lin) else { continue };
            for var in made.vars() {
                parts.around.entry(var).or_default().push(whole);
            }
            parts.wholes.insert(whole, made);
        }
        if parts.wholes.len() > MOST { Parts::default() } else { parts }
    }

    /// Before this statement it is not known.
    pub(super) fn forget(&mut self, lin: &Lin) {
        if let Some((whole, _)) = known(lin) {
            self.wholes.remove(&whole);
        }
        if let Some((var, _)) = choice(lin) {
            self.choices.remove(&var);
        }
    }
}

fn choice(lin: &Lin) -> Option<(Var, Chosen)> {
    let Lin::Branch(branch) = lin else { return None };
    let (Choice::If(cond), [Some(out)], [then, otherwise]) = (&branch.on, &*branch.outs, &*branch.arms)
    else {
        return None;
    };
    let var = |arm: &Arm| match arm.block.results.first() {
        Some(Some(Ref::Var(var))) => Some(*var),
        Some(Some(Ref::At(..)) | None) | None => None,
    };
    let simple = then.block.stmts.is_empty() && otherwise.block.stmts.is_empty();
    let chosen = Chosen { cond: cond.clone(), then: var(then), otherwise: var(otherwise) };
    simple.then_some((*out, chosen))
}

fn known(lin: &Lin) -> Option<(Var, Made)> {
    if let Lin::Make { out, data, ctor, fields } = lin {
        return Some((*out, Made { data: *data, ctor: *ctor, fields: fields.clone() }));
    }
    if let Lin::Fields { of: Ref::Var(whole), data, ctor, outs, .. } = lin {
        let fields = outs.iter().map(|out| Arg::Linear(Ref::Var(*out))).collect();
        return Some((*whole, Made { data: *data, ctor: *ctor, fields }));
    }
    None
}

/// What was gone through: values may be parts of others in many ways.
#[derive(Default)]
struct Seen {
    opened: FxHashSet<(Var, Option<Var>)>,
    put: FxHashSet<Var>,
    chosen: FxHashSet<Var>,
}

impl Transposer<'_, '_> {
    /// Moves what a variable has got under other names to it.
    pub(super) fn hold(&mut self, var: Var) {
        if !self.parts.wholes.is_empty() {
            let mut seen = Seen::default();
            self.open_around(var, None, &mut seen);
            self.put_together(var, &mut seen);
        }
    }

    /// Moves what the one of two numbers has got that a number is to this.
    pub(super) fn hold_chosen(&mut self, var: Var) {
        self.hold_sides(var, &mut Seen::default());
    }

    fn hold_sides(&mut self, var: Var, seen: &mut Seen) {
        if !seen.chosen.insert(var) {
            return;
        }
        let Some(Chosen { cond, then, otherwise }) = self.parts.choices.get(&var).cloned() else { return };
        if self.info(var).ty != Ty::REAL || then == otherwise {
            return;
        }
        let mut found = Vec::new();
        for side in [then, otherwise] {
            let bar = side.and_then(|side| {
                self.hold(side);
                crate::deep(|| self.hold_sides(side, seen));
                let free = !self.rows.contains_key(&side) && !self.accumulators.contains(&side);
                if free { self.bars.remove(&side).map(|bar| (side, bar)) } else { None }
            });
            found.push(bar);
        }
        let bar = |found: &[Option<(Var, Atom)>], place: usize| match found.get(place) {
            Some(Some((_, bar))) => bar.clone(),
            Some(None) | None => Atom::Real(0.0),
        };
        if found.iter().all(Option::is_none) {
            return;
        }
        let cond = self.primal(&cond);
        let (name, _) = self.barred(var);
        let [first, second] = [bar(&found, 0), bar(&found, 1)];
        let own = self.code.b.called(name).select(cond.clone(), first.clone(), second.clone());
        for (place, side) in found.into_iter().enumerate() {
            let Some((side, bar)) = side else { continue };
            let (name, _) = self.barred(side);
            let (then, otherwise) = if place == 0 { (Atom::Real(0.0), bar) } else { (bar, Atom::Real(0.0)) };
            let rest = self.code.b.called(name).select(cond.clone(), then, otherwise);
            self.bars.insert(side, rest);
        }
        self.put(super::Place { var, indices: Vec::new() }, own, false);
    }

    /// Takes apart what a variable is a part of, but this.
    fn open_around(&mut self, part: Var, but: Option<Var>, seen: &mut Seen) {
        if !seen.opened.insert((part, but)) {
            return;
        }
        for whole in self.parts.around.get(&part).cloned().unwrap_or_default() {
            let Some(made) = self.parts.wholes.get(&whole).cloned() else { continue };
            if Some(whole) == but {
                continue;
            }
            crate::deep(|| self.open_around(whole, None, seen));
            if let Some(bar) = self.bars.remove(&whole) {
                self.take_apart(&made, bar);
            }
        }
    }

    fn take_apart(&mut self, made: &Made, bar: Atom) {
        let Made { data, ctor, fields } = made;
        let bars = self.bars_of_fields((*data, *ctor), fields, bar);
        for (field, bar) in fields.iter().zip(bars) {
            if let Arg::Linear(of) = field {
                let place = self.place(of);
                self.put(place, bar, false);
            }
        }
    }

    /// The cotangents of those fields of data that have one, from that of the data.
    pub(super) fn bars_of_fields(
        &mut self,
        (data, ctor): (DataId, u32),
        fields: &[Arg],
        bar: Atom,
    ) -> Vec<Atom> {
        let Some(func) = self.code.ad.fields_function(data, ctor) else { return Vec::new() };
        let types: Vec<Ty> =
            self.code.ad.fields(data, ctor).into_iter().filter_map(|(_, tangent)| tangent).collect();
        let mut args = vec![bar];
        for (field, ty) in fields.iter().zip(&types) {
            if ty.rank() > 0 {
                args.push(self.shape(field));
            }
        }
        self.code.b.call(func, args, &types)
    }

    fn put_together(&mut self, whole: Var, seen: &mut Seen) {
        if !seen.put.insert(whole) {
            return;
        }
        let Some(made) = self.parts.wholes.get(&whole).cloned() else { return };
        let vars = made.vars();
        for var in &vars {
            self.open_around(*var, Some(whole), seen);
            crate::deep(|| self.put_together(*var, seen));
        }
        let there = |this: &Self, var: &Var| {
            this.bars.contains_key(var) && !this.rows.contains_key(var) && !this.accumulators.contains(var)
        };
        if !vars.iter().any(|var| there(self, var)) {
            return;
        }
        let Some(tangent) = self.code.ad.whole_tangent(made.data) else { return };
        let types: Vec<Ty> = self
            .code
            .ad
            .fields(made.data, made.ctor)
            .into_iter()
            .filter_map(|(ty, tangent)| tangent.and(Some(ty)))
            .collect();
        let mut fields = Vec::new();
        for (field, ty) in made.fields.iter().zip(types) {
            let own = match field {
                Arg::Linear(Ref::Var(var)) if there(self, var) => self.bars.remove(var),
                Arg::Linear(_) | Arg::Zero(_) | Arg::Fixed(_) => None,
            };
            let own = own.unwrap_or_else(|| {
                let point = (ty.rank() > 0).then(|| self.shape(field));
                self.code.zero(point.as_ref(), ty)
            });
            fields.push(own);
        }
        let bar = self.code.b.make(tangent, made.ctor + 1, fields);
        let place = super::Place { var: whole, indices: Vec::new() };
        self.put(place, bar, false);
    }
}
