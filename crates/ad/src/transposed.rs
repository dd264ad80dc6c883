//! The transpose of what a rule of `custom_vjp` gives: a function from cotangents of the values to cotangents of the point, which is
//! linear. Its transpose gives tangents of the values, from tangents of the point; both as the user sees them.
//!
//! Where numbers must be exact it is recorded and its tape runs backward, as the interpreter does it; else it is linearized.

use crate::transpose::Variant;
use crate::types::Helper;
use crate::{Ad, Code, Key, record};
use wengert_ir::op::{Atom, Op};
use wengert_ir::program::{Func, FuncId};
use wengert_ir::ty::{Ctor, Data, DataId, Elem, Ty};
use wengert_prim::RealOp;

impl Ad {
    /// The transpose of `apply`, which applies the rule's function to cotangents: from that function, values and tangents of the point.
    pub(crate) fn transposed(&mut self, apply: FuncId) -> FuncId {
        if let Some(known) = self.transposes.get(&apply) {
            return *known;
        }
        let values = self.program.funcs.at(apply).param_types().split_off(1);
        let id = self.reserve(values);
        self.transposes.insert(apply, id);
        let made = self.make_transposed(apply);
        *self.program.funcs.at_mut(id) = made;
        id
    }

    /// Whether the transpose of what a rule gives is recorded.
    pub(crate) fn is_transposed_exactly(&self, apply: FuncId) -> bool {
        let func = self.program.funcs.at(apply);
        let types = func.param_types().into_iter().skip(1).chain(func.results.iter().copied());
        self.exact && types.into_iter().all(|ty| self.is_first_order(ty))
    }

    fn make_transposed(&mut self, apply: FuncId) -> Func {
        let func = self.program.funcs.at(apply);
        let (name, params, points, span) = (func.name, func.param_types(), func.results.clone(), func.span);
        let mut code = Code::new(self, &format!("transposed_{name}"));
        code.b.set_func_span(span);
        code.b.set_span(span);
        let mut params = params.into_iter();
        let back = code.b.param("back".into(), params.next().unwrap_or(Ty::REAL));
        let types: Vec<Ty> = params.collect();
        let values: Vec<Atom> = types.iter().map(|ty| code.b.param("y".into(), *ty)).collect();
        let tangents: Vec<Atom> = points.iter().map(|ty| code.b.param("t".into(), *ty)).collect();
        let (mut args, mut active) = (vec![back], vec![false]);
        for (value, ty) in values.iter().zip(&types) {
            active.push(code.ad.tangent(*ty).is_some());
            args.push(code.outward(value, None, *ty));
        }
        let key: Key = (apply, active);
        if !code.ad.is_linear(&key, 0, 1) {
            code.watch(&key, &args, 0, 1);
        }
        let found = if code.ad.is_transposed_exactly(apply) {
            record::transpose(&mut code, &key, &args, &tangents)
        } else {
            code.linearized_transpose(&key, &args, &tangents)
        };
        let mut results = Vec::new();
        for ((value, found), ty) in values.iter().zip(found.into_iter().skip(1)).zip(&types) {
            results.push(match found {
                Some(found) => found,
                None => code.outward(value, None, *ty),
            });
        }
        code.finish(results)
    }
}

impl Code<'_> {
    /// Cotangents of the arguments, as the user sees them, from those of the results.
    fn linearized_transpose(&mut self, key: &Key, args: &[Atom], weights: &[Atom]) -> Vec<Option<Atom>> {
        let linearized = self.ad.linearize(key);
        let (_, mut given) = linearized.call(self, args);
        for (weight, varies) in weights.iter().zip(&linearized.results) {
            let ty = self.b.type_of(weight);
            let weight = self.inward("custom_vjp".into(), weight, weight, ty);
            given.extend(weight.filter(|_| *varies));
        }
        let weighted: Vec<bool> = linearized.results.iter().filter(|varies| **varies).copied().collect();
        let live = self.ad.live_params(key, &weighted);
        let seeded = vec![false; live.len()];
        let mut found = Vec::new();
        if live.contains(&true) {
            let func =
                self.ad.backward_function(&Variant { key: key.clone(), weighted, seeded, checkpoint: false });
            let types = self.ad.program.funcs.at(func).results.clone();
            found = self.b.call(func, given, &types);
        }
        let (mut live, mut found) = (live.into_iter(), found.into_iter());
        let mut bars = Vec::new();
        for (arg, active) in args.iter().zip(&key.1) {
            let bar = if *active && live.next() == Some(true) { found.next() } else { None };
            let ty = self.b.type_of(arg);
            bars.push(bar.map(|bar| self.outward(arg, Some(bar), ty)));
        }
        bars
    }

    /// A tangent whose reals are multiplied with, or divided by, a number.
    pub(crate) fn scaled(&mut self, tangent: &Atom, op: RealOp, factor: usize) -> Atom {
        // On a tape a quotient is a number of its own.
        if factor == 1 && !(self.ad.exact && op == RealOp::DivZero) {
            return tangent.clone();
        }
        self.scaled_by(tangent, op, &Atom::Real(factor as f64))
    }

    fn scaled_by(&mut self, tangent: &Atom, op: RealOp, factor: &Atom) -> Atom {
        let ty = self.b.type_of(tangent);
        match ty {
            Ty::Scalar(Elem::Data(data)) => {
                let func = self.ad.scaled_function(data, op);
                self.b.called("t").call(func, [tangent.clone(), factor.clone()], &[ty]).remove(0)
            }
            Ty::Scalar(_) => self.b.called("t").real(op, [tangent.clone(), factor.clone()]),
            Ty::Array(..) => {
                let len = self.length(tangent);
                let rows = self.open_rows(&[("t", ty.at(1).unwrap_or(Ty::REAL))]);
                let found = rows.first().map(|row| self.scaled_by(row, op, factor));
                let body = self.b.close(found.into_iter().collect());
                self.each(len, vec![tangent.clone()], Vec::new(), body, &[("ts".into(), ty)]).remove(0)
            }
        }
    }
}

impl Ad {
    /// The function that multiplies, or divides, the reals of tangents of this type.
    fn scaled_function(&mut self, tangent: DataId, op: RealOp) -> FuncId {
        self.fill(tangent);
        let own = Ty::Scalar(Elem::Data(tangent));
        self.helper(Helper::Scaled(tangent, op == RealOp::Mul), vec![own], |ad| {
            let Data { name, ctors, .. } = ad.program.data.at(tangent).clone();
            let mut code = Code::new(ad, &format!("scaled_{name}"));
            let t = code.b.param("t".into(), own);
            let factor = code.b.param("factor".into(), Ty::REAL);
            let mut arms = Vec::new();
            for (i, Ctor { fields, .. }) in ctors.iter().enumerate() {
                code.b.open();
                let fields = code.field_params("t", fields);
                let parts: Vec<Atom> =
                    fields.iter().map(|field| code.scaled_by(field, op, &factor)).collect();
                let made = code.b.make(tangent, i as u32, parts);
                arms.push(code.b.close(vec![made]));
            }
            let found = code.b.called("t").typed1(own, Op::Match { on: t, arms });
            code.finish(vec![found])
        })
    }
}
