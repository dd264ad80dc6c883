//! Long series of operations that have others of their kind as slopes, one after the other: `x ^ n` has `n x ^ (n - 1)`, `polygamma n x`
//! has `polygamma (n + 1) x`.
//!
//! So there are as many series as orders: the last one is a number, the one before has one coefficient more, and so on.

use super::solve::Primitive;
use crate::{Ad, Code};
use wengert_ir::op::{ArrayOp, Atom, Compare, IntOp, Op};
use wengert_ir::program::FuncId;
use wengert_ir::ty::{Elem, Ty};
use wengert_prim::RealOp;

const SERIES: Ty = Ty::Array(Elem::Real, 1);

impl Ad {
    /// The function that makes the series of a power, or of a polygamma function: from the largest order, the exponent or which function it
    /// is, and all coefficients of the argument to all coefficients of the result, from order 0 on.
    pub(super) fn family_function(&mut self, of: Primitive) -> FuncId {
        if let Some(known) = self.long.families.get(&of) {
            return *known;
        }
        let name = if of == Primitive::Power { "powers" } else { "polygammas" };
        let mut code = Code::new(self, name);
        let n = code.b.param("n".into(), Ty::INT);
        let number = code.b.param("m".into(), Ty::INT);
        let xs = code.b.param("xs".into(), SERIES);
        let x = code.coefficient(&xs, &Atom::Int(0));
        let step = if of == Primitive::Power { IntOp::Sub } else { IntOp::Add };
        let deepest = code.b.int(step, [number.clone(), n.clone()]);
        let value = code.member(of, &deepest, &x);
        let size = code.next(&n);
        let zeros = code.b.called("zeros").array(ArrayOp::Replicate, [size, Atom::Real(0.0)]);
        let last = code.b.called("row").array(ArrayOp::Set, [zeros.clone(), Atom::Int(0), value]);
        let found = code.carrying(n.clone(), vec![last], |code, i, state| {
            let k = code.next(&i);
            let down = code.b.int(IntOp::Sub, [n, k.clone()]);
            let member = code.b.int(step, [number, down]);
            let value = code.member(of, &member, &x);
            let row = code.b.called("row").array(ArrayOp::Set, [zeros, Atom::Int(0), value]);
            let slopes = state.into_iter().next().unwrap_or(Atom::Unit);
            let known = Known { xs: &xs, slopes: &slopes, orders: &k };
            vec![if of == Primitive::Power {
                code.power(&member, row, known)
            } else {
                code.solved(None, row, known)
            }]
        });
        let made = code.finish(found);
        let id = self.program.funcs.push(made);
        self.long.families.insert(of, id);
        id
    }
}

/// What is known of a series that is to be made.
#[derive(Clone, Copy)]
struct Known<'a> {
    xs: &'a Atom,
    /// The series of the next one of its kind.
    slopes: &'a Atom,
    /// The largest order.
    orders: &'a Atom,
}

impl Code<'_> {
    /// The value of one of a kind.
    pub(super) fn member(&mut self, of: Primitive, number: &Atom, x: &Atom) -> Atom {
        let op = if of == Primitive::Power {
            Op::Power { base: x.clone(), exponent: number.clone() }
        } else {
            Op::Polygamma { order: number.clone(), x: x.clone() }
        };
        self.b.typed1(Ty::REAL, op)
    }

    /// The series of a power; `row` has its value.
    fn power(&mut self, exponent: &Atom, row: Atom, known: Known<'_>) -> Atom {
        let none = self.b.compare(Compare::Eq, exponent.clone(), Atom::Int(0));
        self.b.open();
        let then = self.b.close(vec![row.clone()]);
        self.b.open();
        let one = self.b.compare(Compare::Eq, exponent.clone(), Atom::Int(1));
        self.b.open();
        let then_one = self.b.close(vec![known.xs.clone()]);
        self.b.open();
        let two = self.b.compare(Compare::Eq, exponent.clone(), Atom::Int(2));
        self.b.open();
        let square = self.square(row.clone(), known);
        let then_two = self.b.close(vec![square]);
        self.b.open();
        let factor = self.as_real(exponent);
        let solved = self.solved(Some(factor), row, known);
        let otherwise = self.b.close(vec![solved]);
        let found = self.b.typed1(SERIES, Op::If { cond: two, then: then_two, otherwise });
        let otherwise = self.b.close(vec![found]);
        let found = self.b.typed1(SERIES, Op::If { cond: one, then: then_one, otherwise });
        let otherwise = self.b.close(vec![found]);
        self.b.typed1(SERIES, Op::If { cond: none, then, otherwise })
    }

    fn square(&mut self, row: Atom, Known { xs, orders, .. }: Known<'_>) -> Atom {
        self.orders(orders, row, |code, k, _| {
            let count = code.next(k);
            code.series_sum(count, |code, i| {
                let other = code.b.int(IntOp::Sub, [k.clone(), i.clone()]);
                let [a, b] = [i, &other].map(|place| code.coefficient(xs, place));
                code.real(RealOp::MulZero, vec![a, b])
            })
        })
    }

    /// What has the next one of its kind as its slope, times a factor.
    fn solved(&mut self, factor: Option<Atom>, row: Atom, known: Known<'_>) -> Atom {
        let Known { xs, slopes, orders } = known;
        self.orders(orders, row, |code, k, below| {
            let sum = code.series_sum(k.clone(), |code, i| {
                let tangent = code.slope(xs, i);
                let other = code.b.int(IntOp::Sub, [below.clone(), i.clone()]);
                let mut slope = code.coefficient(slopes, &other);
                if let Some(factor) = &factor {
                    slope = code.real(RealOp::MulZero, vec![slope, factor.clone()]);
                }
                code.real(RealOp::MulZero, vec![tangent, slope])
            });
            let k = code.as_real(k);
            code.real(RealOp::DivZero, vec![sum, k])
        })
    }

    /// An array of coefficients, each of which is computed from its order and the one below.
    fn orders(
        &mut self,
        orders: &Atom,
        row: Atom,
        coef: impl FnOnce(&mut Self, &Atom, &Atom) -> Atom,
    ) -> Atom {
        let found = self.carrying(orders.clone(), vec![row], |code, below, state| {
            let k = code.next(&below);
            let coef = coef(code, &k, &below);
            let args: Vec<Atom> = state.into_iter().chain([k, coef]).collect();
            vec![code.b.array(ArrayOp::Set, args)]
        });
        found.into_iter().next().unwrap_or(Atom::Unit)
    }

    /// The sum of so many summands.
    pub(super) fn series_sum(&mut self, count: Atom, summand: impl FnOnce(&mut Self, &Atom) -> Atom) -> Atom {
        let found = self.carrying(count, vec![Atom::Real(0.0)], |code, i, state| {
            let summand = summand(code, &i);
            vec![code.real(RealOp::Add, state.into_iter().chain([summand]).collect())]
        });
        found.into_iter().next().unwrap_or(Atom::Real(0.0))
    }

    /// Coefficient `i` of the derivative of a series.
    pub(super) fn slope(&mut self, xs: &Atom, i: &Atom) -> Atom {
        let k = self.next(i);
        let coef = self.coefficient(xs, &k);
        let k = self.as_real(&k);
        self.real(RealOp::Mul, vec![coef, k])
    }
}
