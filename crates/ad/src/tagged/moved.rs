//! What walks do to numbers with slots that go to another tape, get slots beside those that they have, or are marked; and to series, for
//! rules.

use super::walks::{Walk, Way};
use super::work::{NOTED, Work};
use crate::UNSEEN;
use wengert_ir::op::{ArrayOp, Atom, Compare, Convert, IntOp};
use wengert_ir::ty::Ty;
use wengert_prim::RealOp;

impl Work<'_> {
    /// A number, where the walk is about slots.
    pub(super) fn visit_slot(&mut self, walk: Walk, way: &mut Way, xs: &[Atom]) -> Option<Atom> {
        let (given, carried) = (way.given.clone(), way.carried.clone());
        let (found, carried) = match (walk, given.as_slice(), carried.as_slice(), xs) {
            (Walk::Leaves, _, [count], [_]) => (None, vec![self.one_more(count)]),
            (Walk::Slotted, [tag], [count], [x]) => {
                let next = self.one_more(count);
                let found = self.at_slot(x, tag, Ty::INT, count, &mut |_, _| next.clone());
                (None, vec![found])
            }
            (Walk::HasMarks, [tag], [found], [x]) => {
                let mark = self.has_mark(tag, x);
                (None, vec![self.b.select(found.clone(), Atom::Bool(true), mark)])
            }
            (Walk::SlotsOn, [tag], [slots, count], [x]) => {
                let types = [Ty::Array(wengert_ir::ty::Elem::Int, 1), Ty::INT];
                let found =
                    self.slot_or(x, tag, &types, &[slots.clone(), count.clone()], &mut |work, slot| {
                        let all = [slots.clone(), count.clone(), slot.clone()];
                        vec![work.b.array(ArrayOp::Set, all), work.one_more(count)]
                    });
                (None, found)
            }
            (Walk::Moved, [tag, new, place, own], [count], [x]) => {
                let types = [Ty::INT, self.to.num()];
                let mut found = self.moved([tag, new, place, own], count, x, &types);
                let made = found.pop();
                (made, found)
            }
            (Walk::Varies, [tag, cells], [found], [x]) => {
                let none = self.at_slot(x, tag, Ty::BOOL, &Atom::Bool(true), &mut |work, slot| {
                    let cell = work.cell(cells, slot);
                    work.is_none(&cell)
                });
                (None, vec![self.b.select(none, found.clone(), Atom::Bool(true))])
            }
            (Walk::Unknown, [tag, at], [slot], [_]) => {
                let next = self.one_more(slot);
                (Some(self.tangent_at(tag, at, slot)), vec![next])
            }
            (Walk::Outputs, [tag, at], [slot], [x]) => {
                let next = self.one_more(slot);
                (Some(self.plus_slot([tag, at], x, slot)), vec![next])
            }
            (Walk::SeedMarked, [tag], [cells], [x, weight]) => {
                (None, vec![self.seed_marked(tag, cells, [x, weight])])
            }
            _ => return self.visit_for_rule(walk, &given, xs),
        };
        way.carried = carried;
        found
    }

    /// A number, where the walk is about what a rule is given, or gives.
    fn visit_for_rule(&mut self, walk: Walk, given: &[Atom], xs: &[Atom]) -> Option<Atom> {
        match (walk, given, xs) {
            (Walk::Along, [tag, new, cells], [x]) => {
                let num = self.to.num();
                Some(self.at_noted(
                    x,
                    tag,
                    &mut |work, primal, slot| {
                        let cell = work.cell(cells, slot);
                        work.with_tangent(new, primal, &cell)
                    },
                    num,
                ))
            }
            (Walk::Marked, [tag, at, nested], [x]) => Some(self.marked([tag, at, nested], x)),
            (Walk::Linear, [tag, at], [y, t]) => Some(self.plus_linear([tag, at], y, t)),
            (Walk::Shorter, [tag], [x]) => Some(self.shorter(tag, x)),
            (Walk::Velocity, [tag], [x]) => Some(self.velocity(tag, x)),
            (Walk::Integral, [tag, order], [y, t]) => Some(self.integral(tag, order, y, t)),
            _ => None,
        }
    }

    /// What is done with a number that has a slot under a tag: with what is without it, and the slot.
    fn at_noted(
        &mut self,
        x: &Atom,
        tag: &Atom,
        found: &mut dyn FnMut(&mut Self, &Atom, &Atom) -> Atom,
        num: Ty,
    ) -> Atom {
        self.cases_of_number(x, num, &mut |work, ctor, fields| match (ctor, fields) {
            (NOTED, [own, primal, _, slot]) => {
                let same = work.b.compare(Compare::Eq, own.clone(), tag.clone());
                Some(work.choose_number(same, |work| found(work, primal, slot), |_| x.clone()))
            }
            _ => Some(x.clone()),
        })
    }

    /// The same, where several things come out.
    fn slot_or(
        &mut self,
        x: &Atom,
        tag: &Atom,
        types: &[Ty],
        other: &[Atom],
        found: &mut dyn FnMut(&mut Self, &Atom) -> Vec<Atom>,
    ) -> Vec<Atom> {
        let number = self.to.number;
        self.cases(x.clone(), number, types, &mut |work, ctor, fields| match (ctor, fields.as_slice()) {
            (NOTED, [own, _, _, slot]) => {
                let same = work.b.compare(Compare::Eq, own.clone(), tag.clone());
                work.choose(same, types, |work| found(work, slot), |_| other.to_vec())
            }
            _ => other.to_vec(),
        })
    }

    /// A number with its slot on another tape.
    fn moved(
        &mut self,
        [tag, new, place, own]: [&Atom; 4],
        count: &Atom,
        x: &Atom,
        types: &[Ty],
    ) -> Vec<Atom> {
        let number = self.to.number;
        let same = vec![count.clone(), x.clone()];
        self.cases(x.clone(), number, types, &mut |work, ctor, fields| match (ctor, fields.as_slice()) {
            (NOTED, [at, primal, _, _]) => {
                let here = work.b.compare(Compare::Eq, at.clone(), tag.clone());
                work.choose(
                    here,
                    types,
                    |work| {
                        let slot = work.b.array(ArrayOp::Index, [own.clone(), count.clone()]);
                        let fields = [new.clone(), primal.clone(), place.clone(), slot];
                        vec![work.one_more(count), work.b.make(number, NOTED, fields)]
                    },
                    |_| same.clone(),
                )
            }
            _ => same.clone(),
        })
    }

    // Series.

    /// All coefficients of a number under a tag, and its order.
    fn coefficients(&mut self, tag: &Atom, x: &Atom) -> [Atom; 2] {
        let order = self.order_under(tag, x);
        let none = self.b.compare(Compare::Eq, order.clone(), Atom::Int(i64::MAX));
        let order = self.b.select(none, Atom::Int(0), order);
        [self.series_of(tag, &order, x), order]
    }

    /// A series of one order less.
    fn shorter(&mut self, tag: &Atom, x: &Atom) -> Atom {
        let [series, order] = self.coefficients(tag, x);
        let count = self.b.int(IntOp::Max, [order, Atom::Int(1)]);
        let part = self.b.called("series").array(ArrayOp::Slice, [series, Atom::Int(0), count]);
        self.with_series(tag, part)
    }

    /// Its derivative.
    fn velocity(&mut self, tag: &Atom, x: &Atom) -> Atom {
        let [series, order] = self.coefficients(tag, x);
        let none = self.b.compare(Compare::Eq, order.clone(), Atom::Int(0));
        let num = self.to.num();
        self.choose_number(
            none,
            |work| work.plain(Atom::Real(0.0)),
            |work| {
                let found = work.carrying(order.clone(), Vec::new(), Vec::new(), &[num], |work, i, _, _| {
                    let k = work.one_more(&i);
                    let coef = work.coefficient(&series, &k);
                    let first = work.b.compare(Compare::Eq, i, Atom::Int(0));
                    let zero = work.is_zero(&coef);
                    let same = work.b.select(first, Atom::Bool(true), zero);
                    let made = work.choose_number(
                        same,
                        |_| coef.clone(),
                        |work| {
                            let factor = work.b.convert(Convert::IntToReal, k.clone());
                            let factor = work.plain(factor);
                            work.real(RealOp::Mul, &[coef.clone(), factor])
                        },
                    );
                    (Vec::new(), vec![made])
                });
                let series = found.into_iter().next().unwrap_or(Atom::Unit);
                work.with_series(tag, series)
            },
        )
    }

    /// A value and its derivative, which has one order less, as a series.
    fn integral(&mut self, tag: &Atom, order: &Atom, y: &Atom, velocity: &Atom) -> Atom {
        self.refuse_around(tag, velocity);
        let series = self.series_of(tag, order, y);
        let velocities = self.series_of(tag, order, velocity);
        let found = self.carrying(order.clone(), Vec::new(), vec![series], &[], |work, i, carried, _| {
            let [series] = carried else { return (Vec::new(), Vec::new()) };
            let k = work.one_more(&i);
            let coef = work.coefficient(&velocities, &i);
            let divisor = work.b.convert(Convert::IntToReal, k.clone());
            let divisor = work.plain(divisor);
            let coef = work.divided(&coef, &divisor);
            let own = work.coefficient(series, &k);
            let sum = work.plus(&own, &coef);
            (vec![work.with_coefficient(series, &k, sum)], Vec::new())
        });
        let series = found.into_iter().next().unwrap_or(Atom::Unit);
        self.with_series(tag, series)
    }

    /// What a rule gives may vary under a larger tag, which the rule has captured, and along the series inside of that: then it is no series.
    fn refuse_around(&mut self, tag: &Atom, velocity: &Atom) {
        let own = self.tag_of(velocity);
        let larger = self.b.compare(Compare::Gt, own, tag.clone());
        self.choose(
            larger,
            &[],
            |work| {
                let moves = work.apart(|work| {
                    work.cases_of_number(velocity, Ty::BOOL, &mut |work, ctor, _| {
                        Some(if ctor == NOTED { Atom::Bool(true) } else { work.has_tag(tag, velocity) })
                    })
                });
                work.choose(moves, &[], |work| work.fail(&[], UNSEEN), |_| Vec::new())
            },
            |_| Vec::new(),
        );
    }
}
