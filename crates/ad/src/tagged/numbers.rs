//! Operations on numbers: of plain ones the operation itself; else what is without the largest tag, and how the result varies under it.
//!
//! ```text
//! sin(plain x) = plain (sin x)
//! sin(dual(t, x, x')) = let z = sin(x) in dual(t, z, mul_zero(x', cos(x)))
//! sin(noted(t, x, at, i)) = let z = sin(x), c = cos(x) in noted(t, z, at, the tape at `at` with cell j += c · cell i)
//! ```
//!
//! All in the interpreter's order, so that what is noted on tapes further out is, too.

use super::work::{DUAL, NOTED, PLAIN, SERIES, Work};
use super::{Helper, Tagged};
use wengert_ir::Builder;
use wengert_ir::op::{Atom, Compare, IntOp, Op};
use wengert_ir::program::FuncId;
use wengert_ir::ty::Ty;
use wengert_prim::RealOp;

/// An operation. Of powers and polygamma functions an integer says which.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Number {
    Real(RealOp),
    Power,
    Polygamma,
}

impl Number {
    pub(super) fn name(self) -> String {
        match self {
            Number::Real(op) => op.name().to_string(),
            Number::Power => "power".to_string(),
            Number::Polygamma => "polygamma".to_string(),
        }
    }

    pub(super) fn arity(self) -> usize {
        match self {
            Number::Real(op) => op.arity(),
            Number::Power | Number::Polygamma => 1,
        }
    }
}

/// An operand where an operation is done under a tag: without it, and its tangent or slot if it varies under that.
#[derive(Clone)]
pub(super) struct Operand {
    pub(super) primal: Atom,
    pub(super) varies: Option<Atom>,
}

impl Work<'_> {
    /// An operation on numbers.
    pub(super) fn real(&mut self, op: RealOp, args: &[Atom]) -> Atom {
        match (op, args) {
            (RealOp::PowInt(n), [x]) => self.numbered(Number::Power, Atom::Int(n), x),
            (RealOp::Polygamma(n), [x]) => self.numbered(Number::Polygamma, Atom::Int(n.into()), x),
            (_, _) => self.number(Number::Real(op), args.to_vec()),
        }
    }

    /// A power or a polygamma function.
    pub(super) fn numbered(&mut self, of: Number, n: Atom, x: &Atom) -> Atom {
        self.number(of, vec![n, x.clone()])
    }

    fn number(&mut self, of: Number, args: Vec<Atom>) -> Atom {
        let func = self.to.number_function(of);
        let num = self.to.num();
        self.call_number(func, args, &[num]).into_iter().next().unwrap_or(Atom::Unit)
    }

    /// The operation on plain numbers.
    fn plainly(&mut self, of: Number, which: Option<&Atom>, xs: &[Atom]) -> Atom {
        let which = which.cloned().unwrap_or(Atom::Int(0));
        let x = xs.first().cloned().unwrap_or(Atom::Unit);
        let found = match of {
            Number::Real(op) => self.b.real(op, xs),
            Number::Power => self.b.typed1(Ty::REAL, Op::Power { base: x, exponent: which }),
            Number::Polygamma => self.b.typed1(Ty::REAL, Op::Polygamma { order: which, x }),
        };
        self.plain(found)
    }

    /// Plain operands are taken apart, one after the other.
    fn if_plain(&mut self, of: Number, which: Option<&Atom>, args: &[Atom], found: &[Atom]) -> Atom {
        let Some(first) = args.get(found.len()) else { return self.plainly(of, which, found) };
        let num = self.to.num();
        self.cases_of_number(first, num, &mut |work, ctor, fields| match (ctor, fields) {
            (PLAIN, [x]) => {
                let found: Vec<Atom> = found.iter().chain([x]).cloned().collect();
                Some(work.if_plain(of, which, args, &found))
            }
            (DUAL | NOTED | SERIES, _) => {
                let func = work.to.slow_function(of);
                let args = which.into_iter().chain(args).cloned().collect();
                work.call_number(func, args, &[num]).into_iter().next()
            }
            _ => None,
        })
    }

    /// What an operation gives if a number is not plain.
    fn slowly(&mut self, of: Number, which: Option<&Atom>, args: &[Atom]) -> Atom {
        match (of, args) {
            (Number::Real(op @ (RealOp::MulZero | RealOp::DivZero)), [x, y]) => {
                let zero = |work: &mut Work<'_>| work.plain(Atom::Real(0.0));
                let first = self.is_zero(x);
                self.choose_number(first, zero, |work| {
                    if op == RealOp::DivZero {
                        return work.under_largest(of, which, args);
                    }
                    let second = work.is_zero(y);
                    work.choose_number(second, zero, |work| work.under_largest(of, which, args))
                })
            }
            (Number::Power, [x]) => {
                let [none, one] = [0, 1].map(|n| {
                    let which = which.cloned().unwrap_or(Atom::Int(0));
                    self.b.compare(Compare::Eq, which, Atom::Int(n))
                });
                self.choose_number(
                    none,
                    |work| work.plain(Atom::Real(1.0)),
                    |work| work.choose_number(one, |_| x.clone(), |work| work.under_largest(of, which, args)),
                )
            }
            (_, _) => self.under_largest(of, which, args),
        }
    }

    fn under_largest(&mut self, of: Number, which: Option<&Atom>, args: &[Atom]) -> Atom {
        let [x, y] = match args {
            [x] => return self.under_tag(of, which, &[(x, true)], &[]),
            [x, y] => [x, y],
            _ => return Atom::Unit,
        };
        let [own, other] = [x, y].map(|arg| self.tag_of(arg));
        let less = self.b.compare(Compare::Lt, own.clone(), other.clone());
        let greater = self.b.compare(Compare::Gt, own, other);
        self.choose_number(
            less,
            |work| work.under_tag(of, which, &[(x, false), (y, true)], &[]),
            |work| {
                work.choose_number(
                    greater,
                    |work| work.under_tag(of, which, &[(x, true), (y, false)], &[]),
                    |work| work.under_tag(of, which, &[(x, true), (y, true)], &[]),
                )
            },
        )
    }

    /// The operands that vary under the largest tag are taken apart, one after the other; then it is done.
    fn under_tag(
        &mut self,
        of: Number,
        which: Option<&Atom>,
        args: &[(&Atom, bool)],
        done: &[Operand],
    ) -> Atom {
        let (mut done, mut rest) = (done.to_vec(), args.get(done.len()..).unwrap_or_default());
        while let [(x, false), after @ ..] = rest {
            done.push(Operand { primal: (*x).clone(), varies: None });
            rest = after;
        }
        let num = self.to.num();
        let Some((x, _)) = rest.first() else { return self.never(num) };
        let last = rest.iter().skip(1).all(|(_, varies)| !varies);
        let others: Vec<Operand> = rest
            .iter()
            .skip(1)
            .filter(|_| last)
            .map(|(x, _)| Operand { primal: (*x).clone(), varies: None })
            .collect();
        self.cases_of_number(x, num, &mut |work, ctor, fields| {
            let mut all = done.clone();
            match (ctor, fields) {
                (DUAL, [tag, primal, tangent]) => {
                    all.push(Operand { primal: primal.clone(), varies: Some(tangent.clone()) });
                    if !last {
                        return Some(work.second(of, which, (DUAL, args), &all));
                    }
                    all.extend(others.iter().cloned());
                    Some(work.forward(of, which, tag, &all))
                }
                (NOTED, [tag, primal, at, slot]) => {
                    all.push(Operand { primal: primal.clone(), varies: Some(slot.clone()) });
                    if !last {
                        return Some(work.second(of, which, (NOTED, args), &all));
                    }
                    all.extend(others.iter().cloned());
                    Some(work.reverse(of, which, (tag, at), &all))
                }
                (SERIES, [tag, ..]) if work.to.has_series => {
                    let args: Vec<&Atom> = args.iter().map(|(arg, _)| *arg).collect();
                    Some(work.series(of, which, tag, &args))
                }
                _ => None,
            }
        })
    }

    /// The second of two operands that vary under one tag, in one mode.
    fn second(
        &mut self,
        of: Number,
        which: Option<&Atom>,
        (mode, args): (u32, &[(&Atom, bool)]),
        done: &[Operand],
    ) -> Atom {
        let num = self.to.num();
        let Some((y, _)) = args.last() else { return self.never(num) };
        self.cases_of_number(y, num, &mut |work, ctor, fields| {
            let mut all = done.to_vec();
            match (ctor, fields) {
                (DUAL, [tag, primal, tangent]) if mode == DUAL => {
                    all.push(Operand { primal: primal.clone(), varies: Some(tangent.clone()) });
                    Some(work.forward(of, which, tag, &all))
                }
                (NOTED, [tag, primal, at, slot]) if mode == NOTED => {
                    all.push(Operand { primal: primal.clone(), varies: Some(slot.clone()) });
                    Some(work.reverse(of, which, (tag, at), &all))
                }
                _ => None,
            }
        })
    }

    /// The operation on what is without the tag.
    pub(super) fn inside(&mut self, of: Number, which: Option<&Atom>, operands: &[Operand]) -> Atom {
        let args = which.cloned().into_iter().chain(operands.iter().map(|operand| operand.primal.clone()));
        self.number(of, args.collect())
    }

    /// A number one larger.
    pub(super) fn one_more(&mut self, n: &Atom) -> Atom {
        self.b.int(IntOp::Add, [n.clone(), Atom::Int(1)])
    }
}

impl Tagged {
    fn number_function(&mut self, of: Number) -> FuncId {
        self.function_of(Helper::Number(of), of, &of.name(), |work, which, args| {
            work.if_plain(of, which, args, &[])
        })
    }

    fn slow_function(&mut self, of: Number) -> FuncId {
        let name = format!("{}_varying", of.name());
        self.function_of(Helper::Slowly(of), of, &name, |work, which, args| work.slowly(of, which, args))
    }

    /// A function of the operands of an operation.
    fn function_of(
        &mut self,
        helper: Helper,
        of: Number,
        name: &str,
        make: impl FnOnce(&mut Work<'_>, Option<&Atom>, &[Atom]) -> Atom,
    ) -> FuncId {
        if let Some(known) = self.helpers.get(&helper) {
            return *known;
        }
        let id = self.reserve(name);
        self.helpers.insert(helper, id);
        let num = self.num();
        let mut work = Work::new(self, Builder::new(name.into()));
        work.tape_params();
        let which = match of {
            Number::Real(_) => None,
            Number::Power | Number::Polygamma => Some(work.b.param("n".into(), Ty::INT)),
        };
        let args: Vec<Atom> = (0..of.arity()).map(|_| work.b.param("x".into(), num)).collect();
        let found = make(&mut work, which.as_ref(), &args);
        let made = work.finish(vec![found]);
        *self.program.funcs.at_mut(id) = made;
        id
    }
}
