//! Cotangents number by number: each by a tangent of its own, in which that number is 1 and all others are 0.
//!
//! What an argument holds is numbered from left to right, as `ravel` does:
//!
//! ```text
//! xs_bar = each i < count x { t = take x (unit i)  _, dy = entry_f(x, t)  yield <w, dy> }       x_bar = take x xs_bar
//! ```

use crate::types::Helper;
use crate::{Ad, Code};
use wengert_base::Name;
use wengert_ir::op::{ArrayOp, Atom, IntOp, Loop, Mode, Op};
use wengert_ir::program::{Func, FuncId};
use wengert_ir::ty::{Ctor, Data, DataId, Elem, Ty};
use wengert_prim::RealOp;

/// What is differentiated with respect to single numbers of an argument.
pub(super) struct Unit<'a> {
    pub(super) of: FuncId,
    pub(super) given: Vec<bool>,
    pub(super) args: &'a [Atom],
    pub(super) cotangents: &'a [Atom],
    pub(super) x: &'a Atom,
}

/// What a constructor gives: from its number, its fields with their types, and the other parameters.
type Arm<'a> = dyn Fn(&mut Code<'_>, u32, &[(Atom, Ty)], &[Atom]) -> Vec<Atom> + 'a;

/// The array of the numbers of a value.
const REALS: Ty = Ty::Array(Elem::Real, 1);

impl Code<'_> {
    /// The cotangent of an argument.
    pub(super) fn cotangent_by_units(&mut self, unit: &Unit<'_>, ty: Ty) -> Atom {
        if ty == Ty::REAL {
            return self.cotangent_along(unit, Atom::Real(1.0));
        }
        let n = self.count_of(unit.x, ty);
        self.b.open();
        let i = self.b.param("i".into(), Ty::INT);
        let zeros = self.b.called("zeros").array(ArrayOp::Replicate, [n.clone(), Atom::Real(0.0)]);
        let place = self.b.called("unit").array(ArrayOp::Set, [zeros, i, Atom::Real(1.0)]);
        let (tangent, _) = self.taken(unit.x, &place, Atom::Int(0), ty);
        let made = self.cotangent_along(unit, tangent);
        let body = self.b.close(vec![made]);
        let all = self.each(n, Vec::new(), Vec::new(), body, &[("xs_bar".into(), REALS)]).remove(0);
        self.taken(unit.x, &all, Atom::Int(0), ty).0
    }

    fn cotangent_along(&mut self, unit: &Unit<'_>, tangent: Atom) -> Atom {
        let mut found = self.derivative(unit.of, unit.given.clone(), unit.args, vec![tangent]);
        let tangents = found.split_off(unit.cotangents.len());
        let mut sum: Option<Atom> = None;
        for (tangent, weight) in tangents.iter().zip(unit.cotangents) {
            let ty = self.b.type_of(tangent);
            if self.ad.tangent(ty).is_some() {
                sum = Some(self.paired(sum, weight, tangent, ty));
            }
        }
        sum.unwrap_or(Atom::Real(0.0))
    }

    /// A sum with all products of numbers in two values.
    fn paired(&mut self, sum: Option<Atom>, weight: &Atom, tangent: &Atom, ty: Ty) -> Atom {
        let Some(row) = ty.at(1) else {
            return match ty.elem() {
                Elem::Data(data) => {
                    let func = self.ad.paired_function(data);
                    let sum = sum.unwrap_or(Atom::Real(0.0));
                    let args = [sum, weight.clone(), tangent.clone()];
                    self.b.called("sum").call(func, args, &[Ty::REAL]).remove(0)
                }
                Elem::Real | Elem::Int | Elem::Bool | Elem::Text | Elem::Unit => {
                    let product = self.real(RealOp::MulZero, vec![weight.clone(), tangent.clone()]);
                    match sum {
                        Some(sum) => self.b.real(RealOp::Add, [sum, product]),
                        None => product,
                    }
                }
            };
        };
        let len = self.length(tangent);
        let rows = self.open_rows(&[("sum", Ty::REAL), ("t", row), ("w", row)]);
        let next = match rows.as_slice() {
            [sum, t, w] => self.paired(Some(sum.clone()), w, t, row),
            _ => Atom::Real(0.0),
        };
        let body = self.b.close(vec![next]);
        let inputs = vec![tangent.clone(), weight.clone()];
        let (init, accs) = (vec![sum.unwrap_or(Atom::Real(0.0))], Vec::new());
        let parts = Loop { mode: Mode::Sequence, backward: false, len, inputs, init, accs, body };
        self.b.called("sum").typed1(Ty::REAL, Op::Loop(Box::new(parts)))
    }

    /// How many numbers a value holds.
    fn count_of(&mut self, x: &Atom, ty: Ty) -> Atom {
        if self.ad.tangent(ty).is_none() {
            return Atom::Int(0);
        }
        match (ty.at(1), ty.elem()) {
            (None, Elem::Data(data)) => {
                let func = self.ad.count_function(data);
                self.b.called("count").call(func, [x.clone()], &[Ty::INT]).remove(0)
            }
            (None, _) => Atom::Int(1),
            (Some(Ty::REAL), _) => self.length(x),
            (Some(row), _) => {
                let len = self.length(x);
                let rows = self.open_rows(&[("count", Ty::INT), ("x", row)]);
                let next = match rows.as_slice() {
                    [count, x] => {
                        let more = self.count_of(x, row);
                        self.b.int(IntOp::Add, [count.clone(), more])
                    }
                    _ => Atom::Int(0),
                };
                let body = self.b.close(vec![next]);
                let (inputs, init, accs) = (vec![x.clone()], vec![Atom::Int(0)], Vec::new());
                let parts = Loop { mode: Mode::Sequence, backward: false, len, inputs, init, accs, body };
                self.b.called("count").typed1(Ty::INT, Op::Loop(Box::new(parts)))
            }
        }
    }

    /// A value with these numbers, from a place on, and the place after them.
    fn taken(&mut self, x: &Atom, reals: &Atom, at: Atom, ty: Ty) -> (Atom, Atom) {
        if self.ad.tangent(ty).is_none() {
            return (x.clone(), at);
        }
        let two = |found: Vec<Atom>| {
            let mut found = found.into_iter();
            let mut next = || found.next().unwrap_or(Atom::Unit);
            (next(), next())
        };
        match (ty.at(1), ty.elem()) {
            (None, Elem::Data(data)) => {
                let func = self.ad.take_function(data);
                two(self.b.call(func, [x.clone(), reals.clone(), at], &[ty, Ty::INT]))
            }
            (None, _) => {
                let x = self.b.called("x").array(ArrayOp::Index, [reals.clone(), at.clone()]);
                (x, self.b.int(IntOp::Add, [at, Atom::Int(1)]))
            }
            (Some(row), _) => {
                let len = self.length(x);
                let rows = self.open_rows(&[("at", Ty::INT), ("x", row)]);
                let made = match rows.as_slice() {
                    [at, x] => {
                        let (made, next) = self.taken(x, reals, at.clone(), row);
                        vec![next, made]
                    }
                    _ => Vec::new(),
                };
                let body = self.b.close(made);
                let (inputs, init, accs) = (vec![x.clone()], vec![at], Vec::new());
                let parts = Loop { mode: Mode::Sequence, backward: false, len, inputs, init, accs, body };
                let outs: [(Name, Ty); 2] = [("at".into(), Ty::INT), ("xs".into(), ty)];
                let (at, made) = two(self.b.named(&outs, Op::Loop(Box::new(parts))));
                (made, at)
            }
        }
    }
}

impl Ad {
    /// A function for data of a type: for each constructor what its fields, and the other parameters, give.
    fn function_of_fields(
        &mut self,
        helper: Helper,
        data: DataId,
        (others, results): (&[(&str, Ty)], &[Ty]),
        arm: &Arm<'_>,
    ) -> FuncId {
        self.helper(helper, results.to_vec(), |ad| {
            let Data { name, ctors, .. } = ad.program.data.at(data).clone();
            let mut code = Code::new(ad, &format!("numbers_of_{name}"));
            let on = code.b.param("x".into(), Ty::Scalar(Elem::Data(data)));
            let others: Vec<Atom> =
                others.iter().map(|(name, ty)| code.b.param((*name).into(), *ty)).collect();
            let mut arms = Vec::new();
            for (i, Ctor { fields, .. }) in ctors.iter().enumerate() {
                code.b.open();
                let params = code.field_params("x", fields);
                let fields: Vec<(Atom, Ty)> = params.into_iter().zip(fields.iter().copied()).collect();
                let made = arm(&mut code, i as u32, &fields, &others);
                arms.push(code.b.close(made));
            }
            let found = code.b.typed(results, Op::Match { on, arms });
            code.finish(found)
        })
    }

    fn count_function(&mut self, data: DataId) -> FuncId {
        self.function_of_fields(Helper::Count(data), data, (&[], &[Ty::INT]), &|code, _, fields, _| {
            let mut sum = Atom::Int(0);
            for (x, ty) in fields {
                let more = code.count_of(x, *ty);
                sum = code.b.int(IntOp::Add, [sum, more]);
            }
            vec![sum]
        })
    }

    fn take_function(&mut self, data: DataId) -> FuncId {
        let others = [("reals", REALS), ("at", Ty::INT)];
        let results = [Ty::Scalar(Elem::Data(data)), Ty::INT];
        self.function_of_fields(
            Helper::Take(data),
            data,
            (&others, &results),
            &|code, ctor, fields, others| {
                let [reals, at] = others else { return Vec::new() };
                let (mut made, mut at) = (Vec::new(), at.clone());
                for (x, ty) in fields {
                    let (taken, next) = code.taken(x, reals, at, *ty);
                    made.push(taken);
                    at = next;
                }
                vec![code.b.make(data, ctor, made), at]
            },
        )
    }

    fn paired_function(&mut self, data: DataId) -> FuncId {
        self.helper(Helper::Paired(data), vec![Ty::REAL], |ad| ad.make_paired(data))
    }

    /// The weight is of the shape of the tangent: that was looked at before.
    fn make_paired(&mut self, data: DataId) -> Func {
        let Data { name, ctors, .. } = self.program.data.at(data).clone();
        let own = Ty::Scalar(Elem::Data(data));
        let mut code = Code::new(self, &format!("products_of_{name}"));
        let sum = code.b.param("sum".into(), Ty::REAL);
        let [weight, tangent] = ["w", "t"].map(|name| code.b.param(name.into(), own));
        let mut arms = Vec::new();
        for (i, Ctor { fields, .. }) in ctors.iter().enumerate() {
            code.b.open();
            let weights = code.field_params("w", fields);
            let mut inner = Vec::new();
            for (j, Ctor { fields: others, .. }) in ctors.iter().enumerate() {
                code.b.open();
                let tangents = code.field_params("t", others);
                let mut sum = sum.clone();
                for ((w, t), ty) in weights.iter().zip(&tangents).zip(fields).filter(|_| i == j) {
                    if code.ad.tangent(*ty).is_some() {
                        sum = code.paired(Some(sum), w, t, *ty);
                    }
                }
                inner.push(code.b.close(vec![sum]));
            }
            let made = code.b.typed1(Ty::REAL, Op::Match { on: tangent.clone(), arms: inner });
            arms.push(code.b.close(vec![made]));
        }
        let found = code.b.typed1(Ty::REAL, Op::Match { on: weight, arms });
        code.finish(vec![found])
    }
}
