//! Long series to the last bit, of which derivatives in reverse mode are too: what is computed is computed as often as by the interpreter,
//! and in its order.
//!
//! There, an expression of a rule that does not depend on the result is a series that is made before, one order lower; so sine needs
//! cosine, which needs sine, and each of them is another one. And the derivative of an operand is made once.
//!
//! ```text
//! func series_sin(n, z, x, xs) = if n == 0 { [] } else { x' = [xₖ k]  c = [cos x] ++ series_cos(n - 1, cos x, x, xs)  loop zₖ = Σ x'ᵢ cₖ₋₁₋ᵢ / k }
//! ```

use super::SERIES;
use super::solve::{Kind, Primitive, Solve, Stop, family};
use crate::Code;
use wengert_ir::op::{ArrayOp, Atom, Compare, IntOp, Op};
use wengert_prim::RealOp;

impl Code<'_> {
    /// Arithmetic on numbers. Where it is done on a tape, a product with 1 is a number of its own.
    pub(super) fn real_on_tape(&mut self, op: RealOp, operands: Vec<Atom>) -> Atom {
        let known = operands.iter().all(|atom| matches!(atom, Atom::Real(_)));
        if self.ad.exact && !known && operands.contains(&Atom::Real(1.0)) {
            return self.b.called("t").real(op, operands);
        }
        self.real(op, operands)
    }

    /// A series, unless there is no order.
    pub(super) fn unless_none(&mut self, n: &Atom, series: impl FnOnce(&mut Self) -> Atom) -> Atom {
        let cond = self.b.compare(Compare::Eq, n.clone(), Atom::Int(0));
        self.b.open();
        let none = self.b.called("zs").array(ArrayOp::Replicate, [Atom::Int(0), Atom::Real(0.0)]);
        let then = self.b.close(vec![none]);
        self.b.open();
        let series = series(self);
        let otherwise = self.b.close(vec![series]);
        self.b.called("zs").typed1(SERIES, Op::If { cond, then, otherwise })
    }

    /// The coefficients of the derivative of a series, of which all are given, from order 0 on.
    pub(super) fn all_slopes(&mut self, all: &Atom, n: &Atom) -> Atom {
        let coefs = self.after_order_0(all.clone(), n);
        let count = self.one_less(n);
        let found = self.carrying(count, vec![coefs], |code, i, state| {
            let place = code.next(&i);
            let k = code.next(&place);
            let k = code.as_real(&k);
            let coef = code.coefficient(state.first().unwrap_or(&Atom::Unit), &place);
            let slope = code.real(RealOp::Mul, vec![coef, k]);
            let args: Vec<Atom> = state.into_iter().chain([place, slope]).collect();
            vec![code.b.called("slopes").array(ArrayOp::Set, args)]
        });
        found.into_iter().next().unwrap_or(Atom::Unit)
    }

    fn one_less(&mut self, n: &Atom) -> Atom {
        self.b.int(IntOp::Sub, [n.clone(), Atom::Int(1)])
    }

    /// A series one order lower, with its value: from a value, and series of the operands that vary with all their coefficients.
    fn one_lower(
        &mut self,
        of: Primitive,
        number: Option<Atom>,
        args: &[(Atom, Option<Atom>)],
        (value, n): (&Atom, &Atom),
    ) -> Option<Atom> {
        let below = self.one_less(n);
        let mut given = Vec::new();
        for (x, all) in args {
            let series = all
                .clone()
                .map(|all| self.b.called("xs").array(ArrayOp::Slice, [all, Atom::Int(1), n.clone()]));
            given.push((x.clone(), series));
        }
        let coefs = self.series_at(&below, of, number, &given, value)?;
        let first = self.b.array(ArrayOp::Literal, [value.clone()]);
        Some(self.b.called("cs").array(ArrayOp::Concat, [first, coefs]))
    }

    /// The series of a power or of a polygamma function, whose value is `z`, from order 1 on.
    pub(super) fn member_in_order(
        &mut self,
        of: Primitive,
        (n, number): (&Atom, &Atom),
        z: &Atom,
        (x, xs): (&Atom, &Atom),
    ) -> Atom {
        if of == Primitive::Polygamma {
            let slopes = self.all_slopes(xs, n);
            let coefs = self.next_member(of, (n, number), (x, xs));
            return self.integrated(n, &slopes, &coefs);
        }
        let none = self.b.compare(Compare::Eq, number.clone(), Atom::Int(0));
        self.b.open();
        let zeros = self.b.called("zeros").array(ArrayOp::Replicate, [n.clone(), Atom::Real(0.0)]);
        let then = self.b.close(vec![zeros]);
        self.b.open();
        let one = self.b.compare(Compare::Eq, number.clone(), Atom::Int(1));
        self.b.open();
        let same = self.after_order_0(xs.clone(), n);
        let then_one = self.b.close(vec![same]);
        self.b.open();
        let two = self.b.compare(Compare::Eq, number.clone(), Atom::Int(2));
        self.b.open();
        let coefs = self.after_order_0(xs.clone(), n);
        let square = Primitive::Real(RealOp::PowInt(2));
        let square = self.series_at(n, square, None, &[(x.clone(), Some(coefs))], z);
        let then_two = self.b.close(square.into_iter().collect());
        self.b.open();
        let slopes = self.all_slopes(xs, n);
        let coefs = self.next_member(of, (n, number), (x, xs));
        let solved = self.integrated(n, &slopes, &coefs);
        let otherwise = self.b.close(vec![solved]);
        let found = self.b.typed1(SERIES, Op::If { cond: two, then: then_two, otherwise });
        let otherwise = self.b.close(vec![found]);
        let found = self.b.typed1(SERIES, Op::If { cond: one, then: then_one, otherwise });
        let otherwise = self.b.close(vec![found]);
        self.b.typed1(SERIES, Op::If { cond: none, then, otherwise })
    }

    /// All coefficients of the slope: of the next one of its kind, of powers times a number.
    fn next_member(&mut self, of: Primitive, (n, number): (&Atom, &Atom), (x, xs): (&Atom, &Atom)) -> Atom {
        let is_power = of == Primitive::Power;
        let step = if is_power { IntOp::Sub } else { IntOp::Add };
        let next = self.b.int(step, [number.clone(), Atom::Int(1)]);
        let value = self.member(of, &next, x);
        let args = [(x.clone(), Some(xs.clone()))];
        let all = self.one_lower(of, Some(next), &args, (&value, n)).unwrap_or(Atom::Unit);
        if !is_power {
            return all;
        }
        let factor = self.as_real(number);
        let product = self.b.called("t").real(RealOp::Mul, [factor.clone(), value.clone()]);
        let args = [(factor, None), (value, Some(all))];
        self.one_lower(Primitive::Real(RealOp::Mul), None, &args, (&product, n)).unwrap_or(Atom::Unit)
    }

    /// The series whose derivative is a product, from order 1 on.
    fn integrated(&mut self, n: &Atom, slopes: &Atom, coefs: &Atom) -> Atom {
        let zeros = self.b.called("zs").array(ArrayOp::Replicate, [n.clone(), Atom::Real(0.0)]);
        let found = self.carrying(n.clone(), vec![zeros], |code, below, state| {
            let k = code.next(&below);
            let sum = code.series_sum(k.clone(), |code, i| {
                let other = code.b.int(IntOp::Sub, [below.clone(), i.clone()]);
                let factors = [code.coefficient(slopes, i), code.coefficient(coefs, &other)];
                code.real(RealOp::MulZero, factors.to_vec())
            });
            let k = code.as_real(&k);
            let coef = code.real(RealOp::DivZero, vec![sum, k]);
            let args: Vec<Atom> = state.into_iter().chain([below, coef]).collect();
            vec![code.b.array(ArrayOp::Set, args)]
        });
        found.into_iter().next().unwrap_or(Atom::Unit)
    }
}

impl Solve<'_, '_> {
    /// A series that does not depend on the result, one order lower.
    pub(super) fn ahead(&mut self, op: RealOp, args: &[usize]) -> Result<usize, Stop> {
        if let (RealOp::PowInt(1), [x]) = (op, args) {
            return Ok(*x);
        }
        let values: Vec<Atom> = args.iter().map(|arg| self.value(*arg)).collect();
        let value = self.code.real_on_tape(op, values.clone());
        if args.iter().all(|arg| self.is_constant(*arg)) {
            return Ok(self.constant(value));
        }
        let mut given = Vec::new();
        for (arg, value) in args.iter().zip(values) {
            given.push(match self.kind(*arg) {
                Kind::Given(all) => (value, Some(all)),
                Kind::Constant => (value, None),
                Kind::Direct(..) | Kind::Rule(..) => return Err(Stop::Beyond),
            });
        }
        let (of, number) = match family(op) {
            Some((of, number)) => (of, Some(Atom::Int(number))),
            None => (Primitive::Real(op), None),
        };
        let n = self.n.clone();
        let all = self.code.one_lower(of, number, &given, (&value, &n)).ok_or(Stop::Beyond)?;
        // What depends on the result goes on to the last order, at which nobody looks at it.
        let end = self.code.b.array(ArrayOp::Literal, [Atom::Real(0.0)]);
        let all = self.code.b.called("cs").array(ArrayOp::Concat, [all, end]);
        Ok(self.push(Kind::Given(all), value))
    }
}
