//! Rules in reverse mode: the rule is run on tangents that have slots, and is what it notes about them. A tangent is marked, by a negative
//! slot: what is not linear in it fails.
//!
//! ```text
//! noted(tag, 0, at, -1 - slot)    a tangent, with this slot
//! ```

use super::numbers::{Number, Operand};
use super::tapes::Term;
use super::walks::{Walk, Way};
use super::work::{DUAL, NOTED, PLAIN, SERIES, Work};
use super::{Helper, Tagged};
use crate::UNSEEN;
use wengert_ir::Builder;
use wengert_ir::op::{ArrayOp, Atom, Compare, IntOp, Op};
use wengert_ir::program::FuncId;
use wengert_ir::ty::Ty;
use wengert_prim::RealOp;

impl Work<'_> {
    /// The other way to write a slot: with or without the mark.
    fn turned(&mut self, slot: &Atom) -> Atom {
        self.b.int(IntOp::Sub, [Atom::Int(-1), slot.clone()])
    }

    fn is_marked(&mut self, slot: &Atom) -> Atom {
        self.b.compare(Compare::Lt, slot.clone(), Atom::Int(0))
    }

    fn both(&mut self, x: Atom, y: Atom) -> Atom {
        self.b.select(x, y, Atom::Bool(false))
    }

    fn either(&mut self, x: Atom, y: Atom) -> Atom {
        self.b.select(x, Atom::Bool(true), y)
    }

    fn not(&mut self, x: Atom) -> Atom {
        self.b.typed1(Ty::BOOL, Op::Not(x))
    }

    /// Fails where something was done to a tangent that is not linear.
    fn unless(&mut self, fine: Atom) {
        self.choose(fine, &[], |_| Vec::new(), |work| work.fail(&[], UNSEEN));
    }

    /// The operands of an operation with their slots, and whether the result is a tangent, which a linear operation on tangents gives.
    pub(super) fn linearity(&mut self, of: Number, operands: &[Operand]) -> (Vec<Operand>, Option<Atom>) {
        if !self.to.has_marks {
            return (operands.to_vec(), None);
        }
        let mut all = operands.to_vec();
        let mut marks = Vec::new();
        for operand in &mut all {
            marks.push(match &operand.varies {
                Some(slot) => {
                    let mark = self.is_marked(slot);
                    let turned = self.turned(slot);
                    operand.varies = Some(self.b.select(mark.clone(), turned, slot.clone()));
                    mark
                }
                None => Atom::Bool(false),
            });
        }
        let first = marks.first().cloned().unwrap_or(Atom::Bool(false));
        let second = marks.get(1).cloned().unwrap_or(Atom::Bool(false));
        let any = self.either(first.clone(), second.clone());
        self.choose(
            any.clone(),
            &[],
            |work| {
                let fine = work.is_fine(of, operands, [first, second]);
                work.unless(fine);
                Vec::new()
            },
            |_| Vec::new(),
        );
        (all, Some(any))
    }

    /// Whether an operation is linear in its marked operands.
    fn is_fine(&mut self, of: Number, operands: &[Operand], [first, second]: [Atom; 2]) -> Atom {
        let Number::Real(op) = of else { return Atom::Bool(false) };
        match op {
            RealOp::Add | RealOp::Sub => {
                let mut fine = Atom::Bool(true);
                for (operand, mark) in operands.iter().zip([first, second]) {
                    let zero = match operand.varies {
                        Some(_) => Atom::Bool(false),
                        None => self.is_zero(&operand.primal),
                    };
                    let own = self.either(mark, zero);
                    fine = self.both(fine, own);
                }
                fine
            }
            RealOp::Mul | RealOp::MulZero => {
                let both = self.both(first, second);
                self.not(both)
            }
            RealOp::Div | RealOp::DivZero => self.not(second),
            RealOp::Neg => Atom::Bool(true),
            _ => Atom::Bool(false),
        }
    }

    /// A slot with the mark, if it is one of a tangent.
    pub(super) fn marked_if(&mut self, mark: Option<&Atom>, slot: Atom) -> Atom {
        let Some(mark) = mark else { return slot };
        let turned = self.turned(&slot);
        self.b.select(mark.clone(), turned, slot)
    }

    /// The innermost number, to be looked at: which nobody may do with a tangent.
    pub(super) fn observed(&mut self, x: &Atom) -> Atom {
        if !self.to.has_marks {
            return self.value(x);
        }
        let func = self.to.observed_function();
        self.b.call(func, [x.clone()], &[Ty::REAL]).remove(0)
    }

    /// Fails if tangents are given to what is not seen to be linear.
    pub(super) fn refuse_marked(&mut self, tag: &Atom, xs: &[Atom], types: &[Ty]) {
        if self.to.has_marks {
            let mut way = Way { given: vec![tag.clone()], carried: vec![Atom::Bool(false)] };
            self.walk_all(Walk::HasMarks, types, &mut way, &[xs]);
            let marked = way.carried.into_iter().next().unwrap_or(Atom::Bool(true));
            let fine = self.not(marked);
            self.unless(fine);
        }
    }

    /// What a number becomes for a rule: its slot again, marked, around zero.
    pub(super) fn marked(&mut self, [tag, at, nested]: [&Atom; 3], x: &Atom) -> Atom {
        let num = self.to.num();
        let other = |work: &mut Self| {
            work.choose_number(
                nested.clone(),
                |work| {
                    let slot = work.leaf(at);
                    work.tangent_at(tag, at, &slot)
                },
                |work| work.plain(Atom::Real(0.0)),
            )
        };
        self.cases_of_number(x, num, &mut |work, ctor, fields| {
            let (NOTED, [own, _, _, slot]) = (ctor, fields) else { return Some(other(work)) };
            let same = work.b.compare(Compare::Eq, own.clone(), tag.clone());
            Some(work.choose_number(
                same,
                |work| {
                    let mark = work.is_marked(slot);
                    let fine = work.not(mark);
                    work.unless(fine);
                    let term = Term { slot: slot.clone(), negative: false, coef: None };
                    let slot = work.note(at, vec![term], None);
                    work.tangent_at(tag, at, &slot)
                },
                other,
            ))
        })
    }

    /// A tangent with a slot.
    pub(super) fn tangent_at(&mut self, tag: &Atom, at: &Atom, slot: &Atom) -> Atom {
        let (number, zero, slot) = (self.to.number, self.plain(Atom::Real(0.0)), self.turned(slot));
        self.b.make(number, NOTED, [tag.clone(), zero, at.clone(), slot])
    }

    /// A number with what a slot holds besides.
    pub(super) fn plus_slot(&mut self, [tag, at]: [&Atom; 2], y: &Atom, slot: &Atom) -> Atom {
        let (num, number) = (self.to.num(), self.to.number);
        let alone =
            |work: &mut Self| work.b.make(number, NOTED, [tag.clone(), y.clone(), at.clone(), slot.clone()]);
        self.cases_of_number(y, num, &mut |work, ctor, fields| {
            let (NOTED, [own, primal, _, old]) = (ctor, fields) else { return Some(alone(work)) };
            let same = work.b.compare(Compare::Eq, own.clone(), tag.clone());
            Some(work.choose_number(
                same,
                |work| {
                    let terms =
                        [old, slot].map(|slot| Term { slot: slot.clone(), negative: false, coef: None });
                    let slot = work.note(at, Vec::from(terms), None);
                    work.b.make(number, NOTED, [tag.clone(), primal.clone(), at.clone(), slot])
                },
                alone,
            ))
        })
    }

    /// A value with the tangent that a rule gave.
    pub(super) fn plus_linear(&mut self, [tag, at]: [&Atom; 2], y: &Atom, tangent: &Atom) -> Atom {
        let (num, [is_linear, unmarked]) = (self.to.num(), self.to.tangent_functions());
        let fine = self.b.call(is_linear, [tag.clone(), tangent.clone()], &[Ty::BOOL]).remove(0);
        self.unless(fine);
        let tangent = self.b.call(unmarked, [tag.clone(), tangent.clone()], &[num]).remove(0);
        let zero = self.is_zero(&tangent);
        let own = self.tag_of(y);
        let below = self.b.compare(Compare::Le, own, tag.clone());
        let added = |work: &mut Self| work.real(RealOp::Add, &[y.clone(), tangent.clone()]);
        self.choose_number(
            zero,
            |_| y.clone(),
            |work| {
                work.choose_number(
                    below,
                    |work| {
                        work.cases_of_number(&tangent, num, &mut |work, ctor, fields| {
                            let (NOTED, [own, _, _, slot]) = (ctor, fields) else { return Some(added(work)) };
                            let same = work.b.compare(Compare::Eq, own.clone(), tag.clone());
                            Some(work.choose_number(same, |work| work.plus_slot([tag, at], y, slot), added))
                        })
                    },
                    added,
                )
            },
        )
    }

    /// Gives what a linear function makes of marked numbers a cotangent.
    pub(super) fn seed_marked(&mut self, tag: &Atom, cells: &Atom, [x, weight]: [&Atom; 2]) -> Atom {
        let ty = self.b.type_of(cells);
        let fails = |work: &mut Self| work.fail(&[ty], UNSEEN).into_iter().next();
        self.cases_of_number(x, ty, &mut |work, ctor, fields| match (ctor, fields) {
            (PLAIN, _) => {
                let zero = work.is_zero(x);
                let found = work.choose(
                    zero,
                    &[ty],
                    |_| vec![cells.clone()],
                    |work| fails(work).into_iter().collect(),
                );
                found.into_iter().next()
            }
            (NOTED, [own, _, _, slot]) => {
                let same = work.b.compare(Compare::Eq, own.clone(), tag.clone());
                let mark = work.is_marked(slot);
                let fine = work.both(same, mark);
                let found = work.choose(
                    fine,
                    &[ty],
                    |work| {
                        let slot = work.turned(slot);
                        vec![work.gather(cells.clone(), &slot, weight.clone(), false)]
                    },
                    |work| fails(work).into_iter().collect(),
                );
                found.into_iter().next()
            }
            (_, _) => fails(work),
        })
    }

    /// Whether a number is a tangent under a tag.
    pub(super) fn has_mark(&mut self, tag: &Atom, x: &Atom) -> Atom {
        self.apart(|work| {
            work.cases_of_number(x, Ty::BOOL, &mut |work, ctor, fields| {
                let (NOTED, [own, _, _, slot]) = (ctor, fields) else { return Some(Atom::Bool(false)) };
                let same = work.b.compare(Compare::Eq, own.clone(), tag.clone());
                let mark = work.is_marked(slot);
                Some(work.both(same, mark))
            })
        })
    }

    /// The tangent of the value of a function with a rule for cotangents: the pullback is run on unknown cotangents, and what that notes
    /// is run backward.
    pub(super) fn transposed(
        &mut self,
        apply: FuncId,
        pullback: &[Atom],
        (point, results): (&[Ty], &[Ty]),
        (shape, tangents): (&[Atom], &[Atom]),
    ) -> Vec<Atom> {
        let (tag, tapes) = (self.fresh_tag(), self.tapes());
        let at = self.length(&tapes);
        let mut way = Way { given: vec![tag.clone(), at], carried: vec![Atom::Int(0)] };
        let unknown = self.walk_all(Walk::Unknown, results, &mut way, &[shape]);
        let slots = way.carried.into_iter().next().unwrap_or(Atom::Int(0));
        let at = self.begin_tape(slots);
        let args = pullback.iter().cloned().chain(unknown).collect();
        let found = self.call_source(apply, args, point);
        let tape = self.end_tape(&at);
        let cells = self.cells_of(&tape);
        let mut way = Way { given: vec![tag], carried: vec![cells] };
        self.walk_all(Walk::SeedMarked, point, &mut way, &[&found, tangents]);
        let cells = way.carried.into_iter().next().unwrap_or(Atom::Unit);
        let cells = self.backward(tape, cells);
        let mut way = Way { given: vec![cells], carried: vec![Atom::Int(0)] };
        self.walk_all(Walk::Collect, results, &mut way, &[shape])
    }
}

impl Work<'_> {
    /// Runs a rule on tangents. What that noted on tapes further in forgets afterwards that they were such.
    pub(super) fn with_marks(
        &mut self,
        [tag, at]: [&Atom; 2],
        others: &Atom,
        run: impl FnOnce(&mut Self) -> Vec<Atom>,
    ) -> Vec<Atom> {
        let (tapes, next) = (self.tapes(), self.one_more(at));
        let len = self.length(&tapes);
        let larger = self.b.compare(Compare::Gt, others.clone(), tag.clone());
        let all = self.b.int(IntOp::Sub, [len, next.clone()]);
        let count = self.b.select(larger, all, Atom::Int(0));
        let slots = self.apart(|work| {
            let found = work.carrying(count.clone(), Vec::new(), Vec::new(), &[Ty::INT], |work, i, _, _| {
                let place = work.b.int(IntOp::Add, [next.clone(), i]);
                let tape = work.b.array(ArrayOp::Index, [tapes.clone(), place]);
                (Vec::new(), vec![work.slots_of(&tape)])
            });
            found.into_iter().next().unwrap_or(Atom::Unit)
        });
        let found = run(self);
        let (func, ty, tapes) = (self.to.unmarked_tape_function(), self.to.tape_ty(), self.tapes());
        let tapes = self.apart(|work| {
            let found = work.carrying(count, vec![slots], vec![tapes], &[], |work, i, carried, rows| {
                let ([tapes], [slots]) = (carried, rows) else { return (Vec::new(), Vec::new()) };
                let place = work.b.int(IntOp::Add, [next.clone(), i]);
                let tape = work.b.array(ArrayOp::Index, [tapes.clone(), place.clone()]);
                let tape = work.b.call(func, [tag.clone(), slots.clone(), tape], &[ty]).remove(0);
                (vec![work.b.array(ArrayOp::Set, [tapes.clone(), place, tape])], Vec::new())
            });
            found.into_iter().next().unwrap_or(Atom::Unit)
        });
        self.set_tapes(tapes);
        found
    }
}

impl Tagged {
    /// From a tag, a slot and a tape: the tape, without marks under the tag in entries from that slot on.
    fn unmarked_tape_function(&mut self) -> FuncId {
        if let Some(known) = self.helpers.get(&Helper::UnmarkedTape) {
            return *known;
        }
        let own = self.reserve("unmarked_tape");
        self.helpers.insert(Helper::UnmarkedTape, own);
        let [_, unmarked] = self.tangent_functions();
        let (ty, num, data) = (self.tape_ty(), self.num(), self.tape);
        let mut work = Work::new(self, Builder::new("unmarked_tape".into()));
        let tag = work.b.param("tag".into(), Ty::INT);
        let until = work.b.param("until".into(), Ty::INT);
        let tape = work.b.param("tape".into(), ty);
        let found = work.cases(tape.clone(), data, &[ty], &mut |work, ctor, fields| {
            let Some(slot) = fields.first().filter(|_| fields.len() > 1) else { return vec![tape.clone()] };
            let before = work.b.compare(Compare::Lt, slot.clone(), until.clone());
            let entry = |work: &mut Work<'_>| {
                let mut all = Vec::new();
                for field in &fields {
                    let of = work.b.type_of(field);
                    all.push(if of == ty {
                        let args = [tag.clone(), until.clone(), field.clone()];
                        work.b.call(own, args, &[ty]).remove(0)
                    } else if of == num {
                        work.b.call(unmarked, [tag.clone(), field.clone()], &[num]).remove(0)
                    } else {
                        field.clone()
                    });
                }
                vec![work.b.make(data, ctor, all)]
            };
            work.choose(before, &[ty], |_| vec![tape.clone()], entry)
        });
        let made = work.finish(found);
        *self.program.funcs.at_mut(own) = made;
        own
    }

    fn observed_function(&mut self) -> FuncId {
        let num = self.num();
        if let Some(known) = self.helpers.get(&Helper::Observed) {
            return *known;
        }
        let own = self.reserve("observed");
        self.helpers.insert(Helper::Observed, own);
        let mut work = Work::new(self, Builder::new("observed".into()));
        let x = work.b.param("x".into(), num);
        let found = work.cases_of_number(&x, Ty::REAL, &mut |work, ctor, fields| {
            let inner = |work: &mut Work<'_>, x: &Atom| work.b.call(own, [x.clone()], &[Ty::REAL]);
            match (ctor, fields) {
                (PLAIN, [x]) => Some(x.clone()),
                (NOTED, [_, primal, _, slot]) => {
                    let mark = work.is_marked(slot);
                    let types = [Ty::REAL];
                    let found = work.choose(
                        mark,
                        &types,
                        |work| work.fail(&types, UNSEEN),
                        |work| inner(work, primal),
                    );
                    found.into_iter().next()
                }
                (DUAL | SERIES, [_, primal, ..]) => inner(work, primal).into_iter().next(),
                _ => None,
            }
        });
        let made = work.finish(vec![found]);
        *self.program.funcs.at_mut(own) = made;
        own
    }

    /// Whether a number is linear in the slots of a tape, each part of it under larger tags; and the same without marks.
    fn tangent_functions(&mut self) -> [FuncId; 2] {
        [self.is_linear_function(), self.unmarked_function()]
    }

    fn is_linear_function(&mut self) -> FuncId {
        let num = self.num();
        if let Some(known) = self.helpers.get(&Helper::IsLinear) {
            return *known;
        }
        let own = self.reserve("is_linear");
        self.helpers.insert(Helper::IsLinear, own);
        let mut work = Work::new(self, Builder::new("is_linear".into()));
        let [tag, x] = [("tag", Ty::INT), ("x", num)].map(|(name, ty)| work.b.param(name.into(), ty));
        let found = work.cases_of_number(&x, Ty::BOOL, &mut |work, ctor, fields| {
            let [at, primal, rest @ ..] = fields else { return Some(work.is_zero(&x)) };
            let same = work.b.compare(Compare::Eq, at.clone(), tag.clone());
            let larger = work.b.compare(Compare::Gt, at.clone(), tag.clone());
            let marked = match (ctor, rest) {
                (NOTED, [_, slot]) => work.is_marked(slot),
                _ => Atom::Bool(false),
            };
            let here = work.both(same, marked);
            let found = work.choose(
                larger,
                &[Ty::BOOL],
                |work| {
                    let part = |work: &mut Work<'_>, x: &Atom| {
                        work.b.call(own, [tag.clone(), x.clone()], &[Ty::BOOL]).remove(0)
                    };
                    let first = part(work, primal);
                    match (ctor, rest) {
                        (DUAL, [tangent]) => {
                            let second = part(work, tangent);
                            vec![work.both(first, second)]
                        }
                        (SERIES, [coefs]) => {
                            let len = work.length(coefs);
                            work.carrying(
                                len,
                                vec![coefs.clone()],
                                vec![first],
                                &[],
                                |work, _, fine, rows| {
                                    let next = rows.first().map(|x| part(work, x));
                                    let both = fine
                                        .first()
                                        .cloned()
                                        .zip(next)
                                        .map(|(fine, next)| work.both(fine, next));
                                    (both.into_iter().collect(), Vec::new())
                                },
                            )
                        }
                        _ => vec![first],
                    }
                },
                |_| vec![here],
            );
            found.into_iter().next()
        });
        let made = work.finish(vec![found]);
        *self.program.funcs.at_mut(own) = made;
        own
    }

    fn unmarked_function(&mut self) -> FuncId {
        let (num, number) = (self.num(), self.number);
        if let Some(known) = self.helpers.get(&Helper::Unmarked) {
            return *known;
        }
        let own = self.reserve("unmarked");
        self.helpers.insert(Helper::Unmarked, own);
        let mut work = Work::new(self, Builder::new("unmarked".into()));
        let [tag, x] = [("tag", Ty::INT), ("x", num)].map(|(name, ty)| work.b.param(name.into(), ty));
        let found = work.cases_of_number(&x, num, &mut |work, ctor, fields| {
            let [at, primal, rest @ ..] = fields else { return Some(x.clone()) };
            let smaller = work.b.compare(Compare::Lt, at.clone(), tag.clone());
            let part =
                |work: &mut Work<'_>, x: &Atom| work.b.call(own, [tag.clone(), x.clone()], &[num]).remove(0);
            Some(work.choose_number(
                smaller,
                |_| x.clone(),
                |work| match (ctor, rest) {
                    (DUAL, [tangent]) => {
                        let parts = [primal, tangent].map(|x| part(work, x));
                        work.b.make(number, DUAL, [at.clone()].into_iter().chain(parts).collect::<Vec<_>>())
                    }
                    (NOTED, [place, slot]) => {
                        let same = work.b.compare(Compare::Eq, at.clone(), tag.clone());
                        let mark = work.is_marked(slot);
                        let turns = work.both(same, mark);
                        let slot = work.marked_if(Some(&turns), slot.clone());
                        let primal = part(work, primal);
                        work.b.make(number, NOTED, [at.clone(), primal, place.clone(), slot])
                    }
                    (SERIES, [coefs]) => {
                        let primal = part(work, primal);
                        let coefs = work.each_coefficient(coefs, &part);
                        work.b.make(number, SERIES, [at.clone(), primal, coefs])
                    }
                    _ => x.clone(),
                },
            ))
        });
        let made = work.finish(vec![found]);
        *self.program.funcs.at_mut(own) = made;
        own
    }
}
