//! All numbers of a value, from left to right, in data and arrays: with what is done to each.
//!
//! ```text
//! pair (tag) (x, t)        numbers that vary along tangents         lift x, lower x     to numbers that may vary, and back
//! without (tag) x          the same without it                      tangent (tag) x     their tangents
//! slots (tag, at) x        numbers in slots 0, 1, …                 seed (tag) (y, w)   cotangents of slots
//! collect (cells) x        what slots 0, 1, … have gathered         constant x          nothing varies
//! ```

use super::functions::is_function;
use super::work::{DUAL, NOTED, SERIES, Work};
use super::{Helper, Tagged};
use crate::{BEYOND, deep};
use wengert_base::{Name, Span};
use wengert_ir::Builder;
use wengert_ir::op::{ArrayOp, Atom, Compare, IntOp, Op, Requirement};
use wengert_ir::program::FuncId;
use wengert_ir::ty::{Ctor, DataId, Elem, Role, Ty};

/// What is done to each number.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Walk {
    Lift,
    Lower,
    Constant,
    /// Given: the tag. Of two values.
    Pair,
    /// Given: the tag.
    Without,
    Tangent,
    /// Given: a tag, and what it becomes.
    Rename,
    /// Given: the tag. Carried: whether it was met.
    Mentions,
    /// Given: the tag. A number with a slot of that is 0 there, any other 0.
    Bare,
    /// Given: the tag and the place of the tape. Carried: the next slot.
    Slots,
    /// Given: the tag. Carried: the cells. Of two values.
    Seed,
    /// Given: the cells. Carried: the next slot.
    Collect,
    /// Carried: the cells and the next slot. Of two values.
    Start,
    /// Given: the tag and the cells.
    Output,
    /// Carried: the largest tag so far, its mode, and the place of the tape or the order of the series.
    Largest,
    /// Carried: how many numbers there are.
    Leaves,
    /// Given: the tag. Carried: how many have a slot.
    Slotted,
    /// The same, and the slots.
    SlotsOn,
    /// Given: the tag. Carried: whether there is a tangent for a rule.
    HasMarks,
    /// Given: the tag, another one, the place of its tape, and the slots there. Carried: how many there were.
    Moved,
    /// Given: the tag and the cells. Carried: whether some are not empty.
    Varies,
    /// Given: the tag, another one, and cells that hold tangents under that.
    Along,
    /// Given: the tag and the place of the tape. Carried: the next slot, which numbers get besides.
    Outputs,
    /// Given: the tag and the place of the tape. Carried: the next slot. Tangents with a slot.
    Unknown,
    /// Given: the tag. Carried: the cells. Of two values: such tangents, and cotangents.
    SeedMarked,
    /// Given: the tag. Carried: the cells. Of two values: numbers with slots, and what a pullback gave for them.
    Contribute,
    /// Given: the tag, the place of the tape, and whether all get a slot. Tangents for a rule.
    Marked,
    /// Given: the tag and the place of the tape. Of two values: the second is the tangent that a rule gave.
    Linear,
    /// Given: the tag. Series of one order less, and their derivatives.
    Shorter,
    Velocity,
    /// Given: the tag and the order. Of two values: the second is the derivative that a rule gave.
    Integral,
    /// Given: the tag. Of two values: the second is the tangent of the first, besides; a rule gave it, or a function that was given.
    Rule,
    Plus,
}

impl Walk {
    fn name(self) -> &'static str {
        match self {
            Walk::Lift => "lift",
            Walk::Lower => "lower",
            Walk::Constant => "constant",
            Walk::Pair => "pair",
            Walk::Without => "without",
            Walk::Tangent => "tangent",
            Walk::Rename => "rename",
            Walk::Mentions => "mentions",
            Walk::Bare => "bare",
            Walk::Slots => "slots",
            Walk::Seed => "seed",
            Walk::Collect => "collect",
            Walk::Start => "start",
            Walk::Output => "output",
            Walk::Largest => "largest",
            Walk::Leaves => "leaves",
            Walk::Slotted => "slotted",
            Walk::SlotsOn => "slots_on",
            Walk::HasMarks => "has_marks",
            Walk::Moved => "moved",
            Walk::Varies => "varies",
            Walk::Along => "along",
            Walk::Outputs => "outputs",
            Walk::Unknown => "unknown",
            Walk::SeedMarked => "seed_marked",
            Walk::Contribute => "contribute",
            Walk::Marked => "marked",
            Walk::Linear => "linear",
            Walk::Shorter => "shorter",
            Walk::Velocity => "velocity",
            Walk::Integral => "integral",
            Walk::Rule => "rule",
            Walk::Plus => "plus",
        }
    }

    /// The operator of which failures speak, if two values must be of one shape.
    fn operator(self) -> Option<Name> {
        match self {
            Walk::Pair => Some("jvp".into()),
            Walk::Seed => Some("vjp".into()),
            Walk::Start => Some("linearize".into()),
            Walk::Plus => Some("jvp".into()),
            Walk::Rule | Walk::Linear | Walk::Integral => Some("custom_jvp".into()),
            Walk::SeedMarked | Walk::Contribute => Some("custom_vjp".into()),
            Walk::Lift
            | Walk::Lower
            | Walk::Constant
            | Walk::Without
            | Walk::Tangent
            | Walk::Rename
            | Walk::Mentions
            | Walk::Bare
            | Walk::Slots
            | Walk::Collect
            | Walk::Output
            | Walk::Largest
            | Walk::Leaves
            | Walk::Slotted
            | Walk::SlotsOn
            | Walk::HasMarks
            | Walk::Moved
            | Walk::Varies
            | Walk::Along
            | Walk::Outputs
            | Walk::Unknown
            | Walk::Marked
            | Walk::Shorter
            | Walk::Velocity => None,
        }
    }

    /// Whether it makes a value.
    pub(super) fn makes(self) -> bool {
        !matches!(
            self,
            Walk::Seed
                | Walk::Start
                | Walk::Largest
                | Walk::Mentions
                | Walk::Leaves
                | Walk::Slotted
                | Walk::SlotsOn
                | Walk::HasMarks
                | Walk::Varies
                | Walk::SeedMarked
                | Walk::Contribute
        )
    }

    /// Whether it goes through all that functions have captured, and does nothing else to functions.
    pub(super) fn goes_through(self) -> bool {
        matches!(
            self,
            Walk::Slotted | Walk::SlotsOn | Walk::HasMarks | Walk::Moved | Walk::Varies | Walk::Along
        )
    }

    /// Modes: what varies with a slot, and series; 0 is what varies along a tangent.
    pub(super) const NOTED_MODE: i64 = 1;
    pub(super) const SERIES_MODE: i64 = 2;

    /// Whether it computes with numbers.
    fn computes(self) -> bool {
        matches!(
            self,
            Walk::Seed
                | Walk::Plus
                | Walk::Rule
                | Walk::Outputs
                | Walk::SeedMarked
                | Walk::Contribute
                | Walk::Marked
                | Walk::Linear
                | Walk::Velocity
                | Walk::Integral
        )
    }

    /// Whether functions have something of their own there.
    fn meets_functions(self) -> bool {
        let goes_on = matches!(
            self,
            Walk::Lift
                | Walk::Lower
                | Walk::Constant
                | Walk::Without
                | Walk::Largest
                | Walk::Rename
                | Walk::Mentions
        );
        !goes_on && !self.goes_through()
    }
}

/// What a walk is given, and hands on.
#[derive(Clone)]
pub(super) struct Way {
    pub(super) given: Vec<Atom>,
    pub(super) carried: Vec<Atom>,
}

impl Work<'_> {
    /// A value of the program as one here.
    pub(super) fn lifted(&mut self, x: &Atom, ty: Ty) -> Atom {
        self.walked(Walk::Lift, ty, &[], std::slice::from_ref(x))
    }

    /// And back.
    pub(super) fn lowered(&mut self, x: &Atom, ty: Ty) -> Atom {
        self.walked(Walk::Lower, ty, &[], std::slice::from_ref(x))
    }

    /// A walk that carries nothing and makes a value. Types are those of the program.
    pub(super) fn walked(&mut self, walk: Walk, ty: Ty, given: &[Atom], xs: &[Atom]) -> Atom {
        let mut way = Way { given: given.to_vec(), carried: Vec::new() };
        self.walk(walk, ty, &mut way, xs).unwrap_or(Atom::Unit)
    }

    /// A walk through a value, or two.
    pub(super) fn walk(&mut self, walk: Walk, ty: Ty, way: &mut Way, xs: &[Atom]) -> Option<Atom> {
        let first = xs.first()?.clone();
        if let (Ty::Array(_, rank), Some(operator), [x, t]) = (ty, walk.operator(), xs) {
            for axis in 0..rank {
                let [left, right] =
                    [x, t].map(|array| self.b.called("n").array(ArrayOp::Length(axis), [array.clone()]));
                self.b.typed(&[], Op::Require { what: Requirement::Shape(operator), left, right });
            }
        }
        if !self.to.is_walked(walk, ty) {
            return walk.makes().then_some(first);
        }
        match (ty.at(1), ty.elem()) {
            (Some(row), _) => self.walk_rows(walk, row, way, xs),
            (None, Elem::Data(data)) if self.to.program.data.at(data).role == Role::Residual => {
                self.walk_kept(walk, data, way, &first)
            }
            (None, Elem::Data(data)) if walk.meets_functions() && is_function(&self.to.program, data) => {
                self.walk_function_value(walk, data, way, xs)
            }
            (None, Elem::Data(data)) => self.walk_data(walk, data, way, xs),
            (None, _) => self.visit(walk, way, xs),
        }
    }

    fn walk_rows(&mut self, walk: Walk, row: Ty, way: &mut Way, xs: &[Atom]) -> Option<Atom> {
        let len = self.length(xs.first()?);
        let outs = if walk.makes() { vec![self.to.made_by(walk, row)] } else { Vec::new() };
        let (inputs, init) = (xs.to_vec(), way.carried.clone());
        let given = way.given.clone();
        let inside = |work: &mut Self| {
            work.carrying(len, inputs, init, &outs, |work, _, carried, rows| {
                let mut way = Way { given, carried: carried.to_vec() };
                let made = deep(|| work.walk(walk, row, &mut way, rows));
                (way.carried, made.into_iter().collect())
            })
        };
        let mut found = if walk.computes() { inside(self) } else { self.apart(inside) };
        let made = found.split_off(way.carried.len().min(found.len()));
        way.carried = found;
        made.into_iter().next()
    }

    fn walk_data(&mut self, walk: Walk, data: DataId, way: &mut Way, xs: &[Atom]) -> Option<Atom> {
        let span = if walk.operator().is_some() { self.b.span() } else { Span::NOWHERE };
        let types = |work: &Self, atoms: &[Atom]| -> Vec<Ty> {
            atoms.iter().map(|atom| work.b.type_of(atom)).collect()
        };
        let (given, carried) = (types(self, &way.given), types(self, &way.carried));
        let func = self.to.walk_function(walk, data, span, &given, &carried);
        let args: Vec<Atom> = way.given.iter().chain(&way.carried).chain(xs).cloned().collect();
        let made = walk.makes().then(|| self.to.made_by(walk, Ty::Scalar(Elem::Data(data))));
        let results: Vec<Ty> = carried.into_iter().chain(made).collect();
        let mut found = if walk.computes() {
            self.call_number(func, args, &results)
        } else {
            self.b.call(func, args, &results)
        };
        let made = found.split_off(way.carried.len().min(found.len()));
        way.carried = found;
        made.into_iter().next()
    }

    /// A number.
    fn visit(&mut self, walk: Walk, way: &mut Way, xs: &[Atom]) -> Option<Atom> {
        match (walk, way.given.as_slice(), xs) {
            (Walk::Lift, _, [x]) => Some(self.plain(x.clone())),
            (Walk::Lower, _, [x]) => Some(self.value(x)),
            (Walk::Constant, _, [x]) => {
                let value = self.value(x);
                Some(self.plain(value))
            }
            (Walk::Pair, [tag], [x, t]) => Some(self.with_tangent(tag, x, t)),
            (Walk::Without, [tag], [x]) => Some(self.without(tag, x)),
            (Walk::Tangent, [tag], [x]) => Some(self.tangent_under(tag, x)),
            (Walk::Rename, [from, to], [x]) => Some(self.renamed(from, to, x)),
            (Walk::Bare, [tag], [x]) => {
                let (num, zero, number) = (self.to.num(), self.plain(Atom::Real(0.0)), self.to.number);
                let none = zero.clone();
                Some(self.at_slot(x, tag, num, &zero, &mut |work, slot| {
                    let fields = [tag.clone(), none.clone(), Atom::Int(0), slot.clone()];
                    work.b.make(number, NOTED, fields)
                }))
            }
            (Walk::Output, [tag, cells], [y]) => {
                let (num, zero) = (self.to.num(), self.plain(Atom::Real(0.0)));
                Some(self.at_slot(y, tag, num, &zero, &mut |work, slot| work.cell_or_zero(cells, slot)))
            }
            (Walk::Plus | Walk::Rule, [tag], [y, t]) => Some(self.plus_tangent(tag, y, t)),
            (_, _, _) => self.visit_on(walk, way, xs),
        }
    }

    /// A number, where the walk carries something.
    fn visit_on(&mut self, walk: Walk, way: &mut Way, xs: &[Atom]) -> Option<Atom> {
        let number = self.to.number;
        let (found, carried) = match (walk, way.given.as_slice(), way.carried.as_slice(), xs) {
            (Walk::Mentions, [tag], [found], [x]) => {
                let more = self.has_tag(tag, x);
                (None, vec![self.b.select(found.clone(), Atom::Bool(true), more)])
            }
            (Walk::Slots, [tag, at], [slot], [x]) => {
                let fields = [tag.clone(), x.clone(), at.clone(), slot.clone()];
                let next = self.one_more(slot);
                (Some(self.b.make(number, NOTED, fields)), vec![next])
            }
            (Walk::Seed | Walk::Contribute, [tag], [cells], [y, weight]) => {
                let ty = self.b.type_of(cells);
                let found = self.at_slot(y, tag, ty, cells, &mut |work, slot| {
                    work.gather(cells.clone(), slot, weight.clone(), false)
                });
                (None, vec![found])
            }
            (Walk::Collect, [cells], [slot], [_]) => {
                let next = self.one_more(slot);
                (Some(self.cell_or_zero(cells, slot)), vec![next])
            }
            (Walk::Start, _, [cells, slot], [_, t]) => {
                let next = self.one_more(slot);
                (None, vec![self.set_tangent(cells.clone(), slot, t), next])
            }
            (Walk::Largest, _, [tag, mode, at], [x]) => {
                let types = [Ty::INT; 3];
                (None, self.larger_of([tag, mode, at], x, &types))
            }
            _ => return self.visit_slot(walk, way, xs),
        };
        way.carried = carried;
        found
    }

    /// The larger of a tag and that of a number, its mode, and the place of the tape or the least order of series.
    fn larger_of(&mut self, best: [&Atom; 3], x: &Atom, types: &[Ty]) -> Vec<Atom> {
        let (number, [best, mode, at]) = (self.to.number, best.map(Atom::clone));
        let before = vec![best.clone(), mode, at.clone()];
        self.cases(x.clone(), number, types, &mut |work, ctor, fields| {
            let found = match (ctor, fields.as_slice()) {
                (DUAL, [tag, ..]) => [tag.clone(), Atom::Int(0), Atom::Int(0)],
                (NOTED, [tag, _, at, _]) => [tag.clone(), Atom::Int(Walk::NOTED_MODE), at.clone()],
                (SERIES, [tag, _, coefs]) => {
                    let order = work.length(coefs);
                    let least = work.b.int(IntOp::Min, [order.clone(), at.clone()]);
                    let same = work.b.compare(Compare::Eq, tag.clone(), best.clone());
                    let order = work.b.select(same, least, order);
                    [tag.clone(), Atom::Int(Walk::SERIES_MODE), order]
                }
                _ => return before.clone(),
            };
            let [tag, ..] = &found;
            let more = work.b.compare(Compare::Ge, tag.clone(), best.clone());
            work.choose(more, types, |_| found.to_vec(), |_| before.clone())
        })
    }

    /// What is done with the slot of a number that has one under a tag; else what is given.
    pub(super) fn at_slot(
        &mut self,
        x: &Atom,
        tag: &Atom,
        ty: Ty,
        other: &Atom,
        found: &mut dyn FnMut(&mut Self, &Atom) -> Atom,
    ) -> Atom {
        self.cases_of_number(x, ty, &mut |work, ctor, fields| match (ctor, fields) {
            (NOTED, [own, _, _, slot]) => {
                let same = work.b.compare(Compare::Eq, own.clone(), tag.clone());
                let all = work.choose(same, &[ty], |work| vec![found(work, slot)], |_| vec![other.clone()]);
                all.into_iter().next()
            }
            _ => Some(other.clone()),
        })
    }

    /// A number that varies along a tangent besides.
    fn plus_tangent(&mut self, tag: &Atom, y: &Atom, t: &Atom) -> Atom {
        let zero = self.is_zero(t);
        self.choose_number(
            zero,
            |_| y.clone(),
            |work| {
                let [own, other] = [y, t].map(|x| work.tag_of(x));
                let largest = work.b.compare(Compare::Gt, own.clone(), other.clone());
                let largest = work.b.select(largest, own, other);
                let below = work.b.compare(Compare::Lt, largest, tag.clone());
                work.choose_number(
                    below,
                    |work| work.with_tangent(tag, y, t),
                    |work| {
                        let number = work.to.number;
                        let [none, one] = [0.0, 1.0].map(|x| work.plain(Atom::Real(x)));
                        let epsilon = work.b.make(number, DUAL, [tag.clone(), none, one]);
                        let change = work.real(wengert_prim::RealOp::Mul, &[epsilon, t.clone()]);
                        work.real(wengert_prim::RealOp::Add, &[y.clone(), change])
                    },
                )
            },
        )
    }
}

impl Tagged {
    /// Whether a walk goes into values of a type.
    fn is_walked(&self, walk: Walk, ty: Ty) -> bool {
        match ty.elem() {
            Elem::Real => true,
            Elem::Data(data) => {
                self.relevant.contains(&data)
                    || (walk.meets_functions() && super::functions::holds_functions(&self.program, data))
            }
            Elem::Int | Elem::Bool | Elem::Text | Elem::Unit => false,
        }
    }

    /// The type of what a walk makes of values of a type of the program.
    pub(super) fn made_by(&mut self, walk: Walk, ty: Ty) -> Ty {
        if walk == Walk::Lower { ty } else { self.ty(ty) }
    }

    fn walk_function(
        &mut self,
        walk: Walk,
        data: DataId,
        span: Span,
        given: &[Ty],
        carried: &[Ty],
    ) -> FuncId {
        let helper = Helper::Walk(walk, data, span);
        if let Some(known) = self.helpers.get(&helper) {
            return *known;
        }
        let name = format!("{}_{}", walk.name(), self.program.data.at(data).name);
        let id = self.reserve(&name);
        self.helpers.insert(helper, id);
        let own = Ty::Scalar(Elem::Data(data));
        let from = if walk == Walk::Lift { own } else { self.ty(own) };
        let mut work = Work::new(self, Builder::new(name.as_str().into()));
        work.b.set_span(span);
        if walk.computes() {
            work.tape_params();
        }
        let params = |work: &mut Work<'_>, name: &str, types: &[Ty]| -> Vec<Atom> {
            types.iter().map(|ty| work.b.param(name.into(), *ty)).collect()
        };
        let given = params(&mut work, "g", given);
        let carried = params(&mut work, "c", carried);
        let count = if walk.operator().is_some() { 2 } else { 1 };
        let xs = params(&mut work, "x", &vec![from; count]);
        let way = Way { given, carried };
        let found = work.walk_ctors(walk, data, &way, &xs);
        let made = work.finish(found);
        *self.program.funcs.at_mut(id) = made;
        id
    }
}

impl Work<'_> {
    /// Of each constructor, all fields.
    fn walk_ctors(&mut self, walk: Walk, data: DataId, way: &Way, xs: &[Atom]) -> Vec<Atom> {
        let own = Ty::Scalar(Elem::Data(data));
        let here = self.to.data(data);
        let from = if walk == Walk::Lift { data } else { here };
        let into = if walk == Walk::Lower { data } else { here };
        let fields: Vec<Vec<Ty>> = self.to.fields_of(data);
        let made = walk.makes().then(|| self.to.made_by(walk, own));
        let types: Vec<Ty> = way.carried.iter().map(|atom| self.b.type_of(atom)).chain(made).collect();
        let Some(x) = xs.first().cloned() else { return Vec::new() };
        self.cases(x, from, &types, &mut |work, ctor, firsts| {
            if walk != Walk::Lift
                && let Some(found) = work.walk_own_ctor(walk, (data, ctor), way, &firsts)
            {
                return found;
            }
            let own = work.to.functions.contains(&data) && ctor as usize + 1 >= fields.len();
            let Some(fields) = fields.get(ctor as usize).filter(|_| !own) else {
                return work.fail(&types, BEYOND);
            };
            let Some(other) = xs.get(1) else {
                let parts: Vec<Vec<Atom>> = firsts.into_iter().map(|x| vec![x]).collect();
                return work.walk_fields(walk, (into, ctor), way, (fields, &parts));
            };
            let operator = walk.operator().unwrap_or("jvp".into());
            work.cases(other.clone(), from, &types, &mut |work, second, seconds| {
                if second == ctor {
                    let parts: Vec<Vec<Atom>> =
                        firsts.iter().cloned().zip(seconds).map(|(x, t)| vec![x, t]).collect();
                    return work.walk_fields(walk, (into, ctor), way, (fields, &parts));
                }
                let what = Requirement::SameCtor(operator, data);
                let (left, right) = (Atom::Int(i64::from(ctor)), Atom::Int(i64::from(second)));
                work.b.typed(&[], Op::Require { what, left, right });
                work.fail(&types, super::NEVER)
            })
        })
    }

    fn walk_fields(
        &mut self,
        walk: Walk,
        (into, ctor): (DataId, u32),
        way: &Way,
        (fields, parts): (&[Ty], &[Vec<Atom>]),
    ) -> Vec<Atom> {
        let mut way = way.clone();
        let mut made = Vec::new();
        for (ty, xs) in fields.iter().zip(parts) {
            made.extend(self.walk(walk, *ty, &mut way, xs));
        }
        let made = walk.makes().then(|| self.b.make(into, ctor, made));
        way.carried.into_iter().chain(made).collect()
    }
}

impl Tagged {
    /// The fields of each constructor, in types of the program; of what a pullback keeps, in those of the program that it keeps.
    fn fields_of(&self, data: DataId) -> Vec<Vec<Ty>> {
        self.program.data.at(data).ctors.iter().map(|Ctor { fields, .. }| fields.clone()).collect()
    }
}
