//! Taylor series: a number whose coefficients of orders 1 to `n` are beside it, numbers with smaller tags. Sums are made coefficient by
//! coefficient, products and quotients by Cauchy's formula; any other operation is solved as the differential equation that its rule is
//! ([`solve`](super::solve)). All as the interpreter does it, in its order.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "powers and polygamma functions have an integer, the others do not"
)]

use super::numbers::Number;
use super::work::{SERIES, Work};
use super::{Helper, Tagged};
use crate::series::is_direct;
use wengert_ir::Builder;
use wengert_ir::op::{ArrayOp, Atom, Compare, Convert, IntOp};
use wengert_ir::program::FuncId;
use wengert_ir::ty::{Elem, Ty};
use wengert_prim::RealOp;

impl Work<'_> {
    /// The type of coefficients.
    pub(super) fn series_ty(&self) -> Ty {
        Ty::Array(Elem::Data(self.to.number), 1)
    }

    /// So many zeros.
    pub(super) fn zeros(&mut self, count: Atom) -> Atom {
        let zero = self.plain(Atom::Real(0.0));
        self.b.called("zeros").array(ArrayOp::Replicate, [count, zero])
    }

    pub(super) fn coefficient(&mut self, xs: &Atom, k: &Atom) -> Atom {
        self.b.array(ArrayOp::Index, [xs.clone(), k.clone()])
    }

    pub(super) fn with_coefficient(&mut self, xs: &Atom, k: &Atom, x: Atom) -> Atom {
        self.b.array(ArrayOp::Set, [xs.clone(), k.clone(), x])
    }

    /// What one side of a branch gives, an array of coefficients.
    pub(super) fn choose_series(
        &mut self,
        cond: Atom,
        then: impl FnOnce(&mut Self) -> Atom,
        otherwise: impl FnOnce(&mut Self) -> Atom,
    ) -> Atom {
        let ty = self.series_ty();
        let found = self.choose(cond, &[ty], |work| vec![then(work)], |work| vec![otherwise(work)]);
        found.into_iter().next().unwrap_or(Atom::Unit)
    }

    /// An operation of which an operand is a series under the tag.
    pub(super) fn series(&mut self, of: Number, which: Option<&Atom>, tag: &Atom, args: &[&Atom]) -> Atom {
        let mut order: Option<Atom> = None;
        for arg in args {
            let own = self.order_under(tag, arg);
            order = Some(match order {
                Some(order) => self.b.int(IntOp::Min, [order, own]),
                None => own,
            });
        }
        let order = order.unwrap_or(Atom::Int(0));
        let mut all = Vec::new();
        for arg in args {
            all.push(self.series_of(tag, &order, arg));
        }
        let found = self.operation(of, which, &order, &all);
        self.with_series(tag, found)
    }

    /// How many coefficients a number has under a tag; very many if it does not vary.
    pub(super) fn order_under(&mut self, tag: &Atom, x: &Atom) -> Atom {
        self.apart(|work| {
            work.cases_of_number(x, Ty::INT, &mut |work, ctor, fields| match (ctor, fields) {
                (SERIES, [own, _, coefs]) => {
                    let same = work.b.compare(Compare::Eq, own.clone(), tag.clone());
                    let len = work.length(coefs);
                    Some(work.b.select(same, len, Atom::Int(i64::MAX)))
                }
                _ => Some(Atom::Int(i64::MAX)),
            })
        })
    }

    /// The coefficients up to an order, zeros where there are none.
    pub(super) fn series_of(&mut self, tag: &Atom, order: &Atom, x: &Atom) -> Atom {
        let func = self.to.series_function();
        let ty = self.series_ty();
        self.b.call(func, [tag.clone(), order.clone(), x.clone()], &[ty]).remove(0)
    }

    /// The number with these coefficients; what is without the tag if all but the first are zero.
    pub(super) fn with_series(&mut self, tag: &Atom, series: Atom) -> Atom {
        let number = self.to.number;
        let constant = self.is_constant(&series);
        let primal = self.coefficient(&series, &Atom::Int(0));
        self.choose_number(
            constant,
            |_| primal.clone(),
            |work| {
                let len = work.length(&series);
                let coefs = work.b.called("coefs").array(ArrayOp::Slice, [series.clone(), Atom::Int(1), len]);
                work.b.make(number, SERIES, [tag.clone(), primal.clone(), coefs])
            },
        )
    }

    /// Whether all coefficients but the first are zero.
    fn is_constant(&mut self, series: &Atom) -> Atom {
        let len = self.length(series);
        let count = self.b.int(IntOp::Sub, [len, Atom::Int(1)]);
        self.all_zero(series, count, 1)
    }

    /// Whether so many coefficients are zero, from one on.
    pub(super) fn all_zero(&mut self, series: &Atom, count: Atom, from: i64) -> Atom {
        self.apart(|work| {
            let init = vec![Atom::Bool(true)];
            let found = work.carrying(count, Vec::new(), init, &[], |work, i, carried, _| {
                let k = work.b.int(IntOp::Add, [i, Atom::Int(from)]);
                let x = work.coefficient(series, &k);
                let zero = work.is_zero(&x);
                let so_far = carried.first().cloned().unwrap_or(Atom::Bool(false));
                (vec![work.b.select(so_far, zero, Atom::Bool(false))], Vec::new())
            });
            found.into_iter().next().unwrap_or(Atom::Bool(false))
        })
    }

    /// An operation on coefficients up to an order.
    pub(super) fn operation(&mut self, of: Number, which: Option<&Atom>, order: &Atom, xs: &[Atom]) -> Atom {
        let func = self.to.operation_function(of);
        let ty = self.series_ty();
        let args = which.into_iter().chain([order]).chain(xs).cloned().collect();
        self.call_number(func, args, &[ty]).into_iter().next().unwrap_or(Atom::Unit)
    }

    /// The same, of an operation as rules name it.
    pub(super) fn operation_on_series(&mut self, op: RealOp, order: &Atom, xs: &[Atom]) -> Atom {
        match op {
            RealOp::PowInt(n) => self.operation(Number::Power, Some(&Atom::Int(n)), order, xs),
            RealOp::Polygamma(n) => self.operation(Number::Polygamma, Some(&Atom::Int(n.into())), order, xs),
            _ => self.operation(Number::Real(op), None, order, xs),
        }
    }

    fn operate(&mut self, of: Number, which: Option<&Atom>, order: &Atom, xs: &[Atom]) -> Atom {
        let mut constant = Atom::Bool(true);
        for series in xs {
            let own = self.all_zero(series, order.clone(), 1);
            constant = self.b.select(constant, own, Atom::Bool(false));
        }
        let mut primals = Vec::new();
        for series in xs {
            primals.push(self.coefficient(series, &Atom::Int(0)));
        }
        let first = |work: &mut Self| {
            let first = work.of_primals(of, which, &primals);
            let count = work.one_more(order);
            let zeros = work.zeros(count);
            (first.clone(), work.with_coefficient(&zeros, &Atom::Int(0), first))
        };
        self.choose_series(
            constant,
            |work| first(work).1,
            |work| {
                let one = which.map(|n| [1, 2].map(|k| work.b.compare(Compare::Eq, n.clone(), Atom::Int(k))));
                match (of, one) {
                    (Number::Power, Some([one, two])) => {
                        let x = xs.first().cloned().unwrap_or(Atom::Unit);
                        work.choose_series(
                            one,
                            |_| x.clone(),
                            |work| {
                                let (value, begun) = first(work);
                                work.choose_series(
                                    two,
                                    |work| work.directly(RealOp::PowInt(2), order, xs, begun.clone()),
                                    |work| work.solved(of, which, order, (xs, &value, begun.clone())),
                                )
                            },
                        )
                    }
                    (Number::Real(op), _) if is_direct(op) => {
                        let (_, begun) = first(work);
                        work.directly(op, order, xs, begun)
                    }
                    (_, _) => {
                        let (value, begun) = first(work);
                        work.solved(of, which, order, (xs, &value, begun))
                    }
                }
            },
        )
    }

    /// All coefficients, one after the other, by those before.
    fn directly(&mut self, op: RealOp, order: &Atom, xs: &[Atom], begun: Atom) -> Atom {
        let found = self.carrying(order.clone(), Vec::new(), vec![begun], &[], |work, i, carried, _| {
            let k = work.one_more(&i);
            let Some(result) = carried.first() else { return (Vec::new(), Vec::new()) };
            let next = work.direct(op, xs, result, &k);
            (vec![work.with_coefficient(result, &k, next)], Vec::new())
        });
        found.into_iter().next().unwrap_or(Atom::Unit)
    }

    /// Coefficient `k`, which is not 0, by those of the operands up to `k` and those of the result below.
    pub(super) fn direct(&mut self, op: RealOp, xs: &[Atom], result: &Atom, k: &Atom) -> Atom {
        let at = |work: &mut Self, i: usize| match xs.get(i) {
            Some(series) => work.coefficient(series, k),
            None => Atom::Unit,
        };
        match (op, xs) {
            (RealOp::Add, _) => {
                let [x, y] = [0, 1].map(|i| at(self, i));
                self.plus(&x, &y)
            }
            (RealOp::Sub, _) => {
                let [x, y] = [0, 1].map(|i| at(self, i));
                let y = self.negated(&y);
                self.plus(&x, &y)
            }
            (RealOp::Neg, _) => {
                let x = at(self, 0);
                self.negated(&x)
            }
            (RealOp::Div | RealOp::DivZero, [_, y]) => {
                let rest = self.convolution(y, result, k, 1);
                let rest = self.negated(&rest);
                let x = at(self, 0);
                let sum = self.plus(&x, &rest);
                let divisor = self.coefficient(y, &Atom::Int(0));
                self.divided(&sum, &divisor)
            }
            (_, [x, y]) => self.convolution(x, y, k, 0),
            (_, [x]) => self.convolution(x, x, k, 0),
            (_, _) => Atom::Unit,
        }
    }

    pub(super) fn plus(&mut self, a: &Atom, b: &Atom) -> Atom {
        let [none, no_more] = [a, b].map(|x| self.is_zero(x));
        self.choose_number(
            none,
            |_| b.clone(),
            |work| {
                work.choose_number(
                    no_more,
                    |_| a.clone(),
                    |work| work.real(RealOp::Add, &[a.clone(), b.clone()]),
                )
            },
        )
    }

    pub(super) fn negated(&mut self, a: &Atom) -> Atom {
        let zero = self.is_zero(a);
        self.choose_number(zero, |_| a.clone(), |work| work.real(RealOp::Neg, std::slice::from_ref(a)))
    }

    pub(super) fn divided(&mut self, a: &Atom, d: &Atom) -> Atom {
        let zero = self.is_zero(a);
        let quotient = |work: &mut Self| work.real(RealOp::DivZero, &[a.clone(), d.clone()]);
        self.choose_number(zero, |_| a.clone(), quotient)
    }

    /// `Σ aᵢ b₍ₖ₋ᵢ₎` from an `i` on, where what has order 0 is no tangent.
    fn convolution(&mut self, a: &Atom, b: &Atom, k: &Atom, from: i64) -> Atom {
        let func = self.to.convolution_function(Helper::Convolution);
        let num = self.to.num();
        let args = vec![a.clone(), b.clone(), k.clone(), Atom::Int(from)];
        self.call_number(func, args, &[num]).into_iter().next().unwrap_or(Atom::Unit)
    }

    /// The same where all `a` are tangents.
    pub(super) fn tangent_convolution(&mut self, a: &Atom, b: &Atom, k: &Atom) -> Atom {
        let func = self.to.convolution_function(Helper::TangentConvolution);
        let num = self.to.num();
        let args = vec![a.clone(), b.clone(), k.clone(), Atom::Int(0)];
        self.call_number(func, args, &[num]).into_iter().next().unwrap_or(Atom::Unit)
    }
}

impl Work<'_> {
    /// `x + t` up to an order.
    pub(super) fn series_input(&mut self, tag: &Atom, order: &Atom, x: &Atom) -> Atom {
        let number = self.to.number;
        let none = self.b.compare(Compare::Eq, order.clone(), Atom::Int(0));
        self.choose_number(
            none,
            |_| x.clone(),
            |work| {
                let zeros = work.zeros(order.clone());
                let one = work.plain(Atom::Real(1.0));
                let coefs = work.with_coefficient(&zeros, &Atom::Int(0), one);
                work.b.make(number, SERIES, [tag.clone(), x.clone(), coefs])
            },
        )
    }

    /// Coefficients times factorials. A factorial that would not be finite is several factors: a large one times a small coefficient need
    /// not overflow.
    pub(super) fn derivatives(&mut self, order: &Atom, series: Atom) -> Atom {
        let count = self.one_more(order);
        let factors = self.b.array(ArrayOp::Replicate, [count, Atom::Real(1.0)]);
        let init = vec![series, factors, Atom::Int(0)];
        let found = self.carrying(order.clone(), Vec::new(), init, &[], |work, i, carried, _| {
            let [series, factors, last] = carried else { return (Vec::new(), Vec::new()) };
            let k = work.one_more(&i);
            let real = work.b.convert(Convert::IntToReal, k.clone());
            let factor = work.coefficient(factors, last);
            let more = work.b.real(RealOp::Mul, [factor, real.clone()]);
            let finite = work.b.compare(Compare::Lt, more.clone(), Atom::Real(f64::INFINITY));
            let next = work.one_more(last);
            let last = work.b.select(finite.clone(), last.clone(), next);
            let factor = work.b.select(finite, more, real);
            let factors = work.with_coefficient(factors, &last, factor);
            let coef = work.coefficient(series, &k);
            let zero = work.is_zero(&coef);
            let first = work.b.compare(Compare::Eq, k.clone(), Atom::Int(1));
            let same = work.b.select(zero, Atom::Bool(true), first);
            let scaled =
                work.choose_number(same, |_| coef.clone(), |work| work.times_all(&coef, &factors, &last));
            (vec![work.with_coefficient(series, &k, scaled), factors, last], Vec::new())
        });
        found.into_iter().next().unwrap_or(Atom::Unit)
    }

    /// A number times factors, up to the last.
    fn times_all(&mut self, x: &Atom, factors: &Atom, last: &Atom) -> Atom {
        let count = self.one_more(last);
        let found = self.carrying(count, Vec::new(), vec![x.clone()], &[], |work, j, carried, _| {
            let factor = work.coefficient(factors, &j);
            let factor = work.plain(factor);
            let args: Vec<Atom> = carried.iter().cloned().chain([factor]).collect();
            (vec![work.real(RealOp::Mul, &args)], Vec::new())
        });
        found.into_iter().next().unwrap_or(Atom::Unit)
    }
}

impl Tagged {
    fn series_function(&mut self) -> FuncId {
        let (num, number) = (self.num(), self.number);
        self.helper(Helper::Series, "series", |work| {
            let tag = work.b.param("tag".into(), Ty::INT);
            let order = work.b.param("n".into(), Ty::INT);
            let x = work.b.param("x".into(), num);
            let count = work.one_more(&order);
            let zeros = work.zeros(count);
            let ty = work.series_ty();
            let plain = |work: &mut Work<'_>| vec![work.with_coefficient(&zeros, &Atom::Int(0), x.clone())];
            work.cases(x.clone(), number, &[ty], &mut |work, ctor, fields| {
                let (SERIES, [own, primal, coefs]) = (ctor, fields.as_slice()) else { return plain(work) };
                let same = work.b.compare(Compare::Eq, own.clone(), tag.clone());
                work.choose(
                    same,
                    &[ty],
                    |work| {
                        let len = work.length(coefs);
                        let len = work.b.int(IntOp::Min, [len, order.clone()]);
                        let begun = work.with_coefficient(&zeros, &Atom::Int(0), primal.clone());
                        work.carrying(len, Vec::new(), vec![begun], &[], |work, i, carried, _| {
                            let x = work.coefficient(coefs, &i);
                            let k = work.one_more(&i);
                            let all = carried.first().cloned().unwrap_or(Atom::Unit);
                            (vec![work.with_coefficient(&all, &k, x)], Vec::new())
                        })
                    },
                    plain,
                )
            })
        })
    }

    fn operation_function(&mut self, of: Number) -> FuncId {
        let helper = Helper::Operation(of);
        if let Some(known) = self.helpers.get(&helper) {
            return *known;
        }
        let name = format!("{}_of_series", of.name());
        let id = self.reserve(&name);
        self.helpers.insert(helper, id);
        let mut work = Work::new(self, Builder::new(name.as_str().into()));
        work.tape_params();
        let which = match of {
            Number::Real(_) => None,
            Number::Power | Number::Polygamma => Some(work.b.param("m".into(), Ty::INT)),
        };
        let order = work.b.param("n".into(), Ty::INT);
        let ty = work.series_ty();
        let xs: Vec<Atom> = (0..of.arity()).map(|_| work.b.param("xs".into(), ty)).collect();
        let found = work.operate(of, which.as_ref(), &order, &xs);
        let made = work.finish(vec![found]);
        *self.program.funcs.at_mut(id) = made;
        id
    }

    fn convolution_function(&mut self, how: Helper) -> FuncId {
        self.helper(how, "convolution", |work| {
            work.tape_params();
            let ty = work.series_ty();
            let [a, b] = ["a", "b"].map(|name| work.b.param(name.into(), ty));
            let [k, from] = ["k", "i"].map(|name| work.b.param(name.into(), Ty::INT));
            let after = work.one_more(&k);
            let len = work.b.int(IntOp::Sub, [after, from.clone()]);
            let zero = work.plain(Atom::Real(0.0));
            work.carrying(len, Vec::new(), vec![zero], &[], |work, j, carried, _| {
                let i = work.b.int(IntOp::Add, [j, from.clone()]);
                let rest = work.b.int(IntOp::Sub, [k.clone(), i.clone()]);
                let (x, y) = (work.coefficient(&a, &i), work.coefficient(&b, &rest));
                let first = work.b.compare(Compare::Eq, i, Atom::Int(0));
                // Of order 0 the first is a factor, unless all are tangents.
                let turned = if how == Helper::Convolution { first } else { Atom::Bool(false) };
                let tangent = work.choose_number(turned.clone(), |_| y.clone(), |_| x.clone());
                let factor = work.choose_number(turned.clone(), |_| x.clone(), |_| y.clone());
                let above = work.b.compare(Compare::Gt, rest, Atom::Int(0));
                let above = work.b.select(turned, Atom::Bool(false), above);
                let [none, nothing] = [&tangent, &factor].map(|x| work.is_zero(x));
                let nothing = work.b.select(above, nothing, Atom::Bool(false));
                let skips = work.b.select(none, Atom::Bool(true), nothing);
                let sum = carried.first().cloned().unwrap_or(Atom::Unit);
                let next = work.choose_number(
                    skips,
                    |_| sum.clone(),
                    |work| {
                        let product = work.real(RealOp::MulZero, &[tangent.clone(), factor.clone()]);
                        work.plus(&sum, &product)
                    },
                );
                (vec![next], Vec::new())
            })
        })
    }
}
