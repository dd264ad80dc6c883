//! Coefficients of several infinitesimals with one more, and without it.
//!
//! ```text
//! lower half xs, tangent t, its coefficients ts          xs ++ [t] ++ ts
//! ```
//!
//! That is so for each number in arrays and data, which have functions that go through them. Of one infinitesimal the coefficients are the
//! tangents of ordinary forward mode, in other types: they are packed and unpacked.

use crate::types::{Helper, ZERO};
use crate::{Ad, BEYOND, Code};
use wengert_base::Name;
use wengert_ir::op::{ArrayOp, Atom, IntOp, Op};
use wengert_ir::program::{Func, FuncId};
use wengert_ir::ty::{Ctor, Data, DataId, Elem, Role, Ty};

/// A tangent as the user sees it, with its coefficients if it varies.
pub(super) type Given<'a> = (&'a Atom, Option<&'a Atom>);

/// The coefficients of a result: of the value, those of the tangent, and the tangent as the user sees it.
#[derive(Clone)]
pub(super) struct Halves {
    pub(super) lower: Atom,
    pub(super) tangent: Atom,
    pub(super) upper: Atom,
}

impl Code<'_> {
    /// How many coefficients there are with one more infinitesimal.
    pub(super) fn wide_order(&mut self) -> Atom {
        match self.order() {
            Atom::Int(n) => Atom::Int(2 * n + 1),
            n => {
                let twice = self.b.int(IntOp::Add, [n.clone(), n]);
                self.next(&twice)
            }
        }
    }

    /// Does something where there are so many coefficients.
    pub(super) fn at_order<R>(&mut self, order: Atom, run: impl FnOnce(&mut Self) -> R) -> R {
        let before = self.order.replace(order);
        let result = run(self);
        self.order = before;
        result
    }

    /// Coefficients with one more infinitesimal: of a value, and of a tangent, if there is one.
    pub(super) fn widened(&mut self, x: &Atom, series: Option<&Atom>, t: Option<Given<'_>>, ty: Ty) -> Atom {
        let zero = |code: &mut Self, point: &Atom| code.zero(Some(point), ty);
        match (series, t) {
            (series, Some((t, upper))) => {
                let lower = series.cloned().unwrap_or_else(|| zero(self, x));
                let upper = upper.cloned().unwrap_or_else(|| zero(self, t));
                self.widen([x, &lower, t, &upper], ty)
            }
            (Some(series), None) => self.lift(series, ty),
            (None, None) => {
                let order = self.wide_order();
                self.at_order(order, |code| zero(code, x))
            }
        }
    }

    fn lift(&mut self, series: &Atom, ty: Ty) -> Atom {
        let own = self.ad.tangent(ty).unwrap_or(ty);
        match ty {
            Ty::Scalar(Elem::Data(data)) => {
                let func = self.ad.lift_function(data, own);
                let args = [series.clone(), self.order()];
                self.b.called("ts").call(func, args, &[own]).remove(0)
            }
            Ty::Scalar(_) => {
                let n = self.order();
                let more = self.next(&n);
                let zeros = self.b.called("zeros").array(ArrayOp::Replicate, [more, Atom::Real(0.0)]);
                self.b.called("ts").array(ArrayOp::Concat, [series.clone(), zeros])
            }
            Ty::Array(..) => {
                let row = ty.at(1).unwrap_or(Ty::REAL);
                let made = |code: &mut Self, rows: &[Atom]| match rows {
                    [series] => vec![code.lift(series, row)],
                    _ => Vec::new(),
                };
                self.of_each(std::slice::from_ref(series), &[("ts", own)], made).remove(0)
            }
        }
    }

    fn widen(&mut self, parts: [&Atom; 4], ty: Ty) -> Atom {
        let own = self.ad.tangent(ty).unwrap_or(ty);
        let [_, lower, t, upper] = parts;
        match ty {
            Ty::Scalar(Elem::Data(data)) => {
                let func = self.ad.widen_function(data, own);
                let args: Vec<Atom> = parts.into_iter().cloned().chain([self.order()]).collect();
                self.b.called("ts").call(func, args, &[own]).remove(0)
            }
            Ty::Scalar(_) => {
                let middle = self.b.array(ArrayOp::Literal, [t.clone()]);
                let first = self.b.array(ArrayOp::Concat, [lower.clone(), middle]);
                self.b.called("ts").array(ArrayOp::Concat, [first, upper.clone()])
            }
            Ty::Array(..) => {
                let row = ty.at(1).unwrap_or(Ty::REAL);
                let made = |code: &mut Self, rows: &[Atom]| match rows {
                    [x, lower, t, upper] => vec![code.widen([x, lower, t, upper], row)],
                    _ => Vec::new(),
                };
                self.of_each(&parts.map(Atom::clone), &[("ts", own)], made).remove(0)
            }
        }
    }

    /// A value's coefficients, which are those with one more infinitesimal than here.
    pub(super) fn halves(&mut self, y: &Atom, series: &Atom, ty: Ty) -> Halves {
        let own = self.ad.tangent(ty).unwrap_or(ty);
        let mut found = match ty {
            Ty::Scalar(Elem::Data(data)) => {
                let func = self.ad.halves_function(data, own);
                let args = [y.clone(), series.clone(), self.order()];
                self.b.call(func, args, &[own, ty, own])
            }
            Ty::Scalar(_) => {
                let n = self.order();
                let (after, end) = (self.one_more(&n), self.wide_order());
                let lower = [series.clone(), Atom::Int(0), n.clone()];
                let lower = self.b.called("ys").array(ArrayOp::Slice, lower);
                let tangent = self.b.called("t").array(ArrayOp::Index, [series.clone(), n]);
                let upper = self.b.called("ts").array(ArrayOp::Slice, [series.clone(), after, end]);
                vec![lower, tangent, upper]
            }
            Ty::Array(..) => {
                let row = ty.at(1).unwrap_or(Ty::REAL);
                let outs = [("ys", own), ("t", ty), ("ts", own)];
                self.of_each(&[y.clone(), series.clone()], &outs, |code, rows| match rows {
                    [y, series] => {
                        let Halves { lower, tangent, upper } = code.halves(y, series, row);
                        vec![lower, tangent, upper]
                    }
                    _ => Vec::new(),
                })
            }
        }
        .into_iter();
        let mut next = || found.next().unwrap_or(Atom::Unit);
        Halves { lower: next(), tangent: next(), upper: next() }
    }

    fn one_more(&mut self, n: &Atom) -> Atom {
        if let Atom::Int(n) = n { Atom::Int(n + 1) } else { self.next(n) }
    }

    /// The coefficients of one infinitesimal, from a tangent.
    pub(super) fn packed(&mut self, t: &Atom, ty: Ty) -> Atom {
        let own = self.ad.tangent(ty).unwrap_or(ty);
        match ty {
            Ty::Scalar(Elem::Data(data)) => {
                let func = self.ad.pack_function(data, own);
                self.b.called("ts").call(func, [t.clone()], &[own]).remove(0)
            }
            Ty::Scalar(_) => self.b.called("ts").array(ArrayOp::Literal, [t.clone()]),
            Ty::Array(..) => {
                let row = ty.at(1).unwrap_or(Ty::REAL);
                let made = |code: &mut Self, rows: &[Atom]| match rows {
                    [t] => vec![code.packed(t, row)],
                    _ => Vec::new(),
                };
                self.of_each(std::slice::from_ref(t), &[("ts", own)], made).remove(0)
            }
        }
    }

    /// And back.
    pub(super) fn unpacked(&mut self, series: &Atom, ty: Ty) -> Atom {
        let tangent = self.short(|code| code.ad.tangent(ty)).unwrap_or(ty);
        match ty {
            Ty::Scalar(Elem::Data(data)) => {
                let func = self.ad.unpack_function(data, tangent);
                self.b.called("t").call(func, [series.clone()], &[tangent]).remove(0)
            }
            Ty::Scalar(_) => self.b.called("t").array(ArrayOp::Index, [series.clone(), Atom::Int(0)]),
            Ty::Array(..) => {
                let row = ty.at(1).unwrap_or(Ty::REAL);
                let made = |code: &mut Self, rows: &[Atom]| match rows {
                    [series] => vec![code.unpacked(series, row)],
                    _ => Vec::new(),
                };
                self.of_each(std::slice::from_ref(series), &[("ts", tangent)], made).remove(0)
            }
        }
    }

    /// Arrays that are made row by row of others.
    pub(super) fn of_each(
        &mut self,
        inputs: &[Atom],
        outs: &[(&str, Ty)],
        made: impl FnOnce(&mut Self, &[Atom]) -> Vec<Atom>,
    ) -> Vec<Atom> {
        let len = inputs.first().map_or(Atom::Int(0), |first| self.length(first));
        let mut params = Vec::new();
        for input in inputs {
            params.push(("x", self.b.type_of(input).at(1).unwrap_or(Ty::REAL)));
        }
        let rows = self.open_rows(&params);
        let made = made(self, &rows);
        let body = self.b.close(made);
        let outs: Vec<(Name, Ty)> = outs.iter().map(|(name, ty)| (Name::new(name), *ty)).collect();
        self.each(len, inputs.to_vec(), Vec::new(), body, &outs)
    }

    /// Data of one of the types that tangents and coefficients at values of `data` have, as data of another one, field by field.
    fn of_ctors(&mut self, data: DataId, on: &Atom, to: Ty, field: fn(&mut Self, &Atom, Ty) -> Atom) -> Atom {
        let (Elem::Data(from), Elem::Data(into)) = (self.b.type_of(on).elem(), to.elem()) else {
            return Atom::Unit;
        };
        // Tangents that are their own tangents have no other zero than their own.
        let [first, place] = [from, into].map(|ty| usize::from(ty != data));
        let ctors = self.ad.program.data.at(data).ctors.len();
        let mut arms = Vec::new();
        for (i, Ctor { fields, .. }) in self.ad.program.data.at(from).ctors.clone().iter().enumerate() {
            self.b.open();
            let params = self.field_params("t", fields);
            let made = match i.checked_sub(first) {
                None => self.b.make(into, ZERO, []),
                Some(ctor) if ctor < ctors => {
                    let types = self.ad.fields(data, ctor as u32);
                    let types = types.iter().filter(|(_, own)| own.is_some());
                    let mut made = Vec::new();
                    for (param, (ty, _)) in params.iter().zip(types) {
                        made.push(field(self, param, *ty));
                    }
                    self.b.make(into, (ctor + place) as u32, made)
                }
                Some(_) => self.fail(&[to], BEYOND).remove(0),
            };
            arms.push(self.b.close(vec![made]));
        }
        self.b.typed1(to, Op::Match { on: on.clone(), arms })
    }

    /// Fields of a constructor, with their coefficients.
    fn with_series(&mut self, (data, ctor): (DataId, usize), series: &Atom, fields: &[Atom]) -> Vec<Field> {
        let all = self.fields_of_series(data, ctor, series, fields);
        fields.iter().cloned().zip(all).collect()
    }
}

/// A field, with its coefficients, if it varies.
type Field = (Atom, Option<Atom>);

impl Ad {
    /// A function for data of one type, with the order as a parameter or without.
    pub(super) fn function_of_ctors(
        &mut self,
        helper: Helper,
        (data, from, to): (DataId, Ty, Ty),
        order: bool,
        field: fn(&mut Code<'_>, &Atom, Ty) -> Atom,
    ) -> FuncId {
        self.helper(helper, vec![to], |ad| {
            ad.whole_tangent(data);
            let name = ad.program.data.at(data).name;
            let mut code = Code::new(ad, &format!("infinitesimals_of_{name}"));
            let on = code.b.param("t".into(), from);
            code.order = order.then(|| code.b.param("n".into(), Ty::INT));
            let made = code.of_ctors(data, &on, to, field);
            code.finish(vec![made])
        })
    }

    fn lift_function(&mut self, data: DataId, own: Ty) -> FuncId {
        self.function_of_ctors(Helper::Lift(data), (data, own, own), true, |code, field, ty| {
            code.lift(field, ty)
        })
    }

    fn pack_function(&mut self, data: DataId, own: Ty) -> FuncId {
        let tangent = self.whole_ordinary(data);
        self.function_of_ctors(Helper::Pack(data), (data, tangent, own), false, |code, field, ty| {
            code.packed(field, ty)
        })
    }

    fn unpack_function(&mut self, data: DataId, tangent: Ty) -> FuncId {
        let own = self.tangent(Ty::Scalar(Elem::Data(data))).unwrap_or(tangent);
        self.whole_ordinary(data);
        self.function_of_ctors(Helper::Unpack(data), (data, own, tangent), false, |code, field, ty| {
            code.unpacked(field, ty)
        })
    }

    /// The type of tangents in ordinary forward mode, with all its constructors.
    fn whole_ordinary(&mut self, data: DataId) -> Ty {
        Ty::Scalar(Elem::Data(self.with_long(false, |ad| ad.whole_tangent(data)).unwrap_or(data)))
    }

    fn widen_function(&mut self, data: DataId, own: Ty) -> FuncId {
        self.helper(Helper::Widen(data), vec![own], |ad| {
            ad.make_joined(("widen", data, own), false, |code, parts, _, ty| code.widen(parts, ty))
        })
    }

    /// A function for data of one type: of a value with its coefficients and a tangent with its coefficients, the order, and, if it is asked
    /// for, a place.
    pub(super) fn make_joined(
        &mut self,
        (what, data, own): (&str, DataId, Ty),
        placed: bool,
        joined: fn(&mut Code<'_>, [&Atom; 4], &Atom, Ty) -> Atom,
    ) -> Func {
        self.whole_tangent(data);
        let Data { name, ctors, .. } = self.program.data.at(data).clone();
        let value = Ty::Scalar(Elem::Data(data));
        let mut code = Code::new(self, &format!("{what}_{name}"));
        let (x, lower) = (code.b.param("x".into(), value), code.b.param("xs".into(), own));
        let (t, upper) = (code.b.param("t".into(), value), code.b.param("ts".into(), own));
        code.order = Some(code.b.param("n".into(), Ty::INT));
        let place = if placed { code.b.param("place".into(), Ty::INT) } else { Atom::Int(0) };
        let mut arms = Vec::new();
        for (i, Ctor { fields, .. }) in ctors.iter().enumerate() {
            code.b.open();
            let xs = code.field_params("x", fields);
            let mut inner = Vec::new();
            for (j, Ctor { fields: others, .. }) in ctors.iter().enumerate() {
                code.b.open();
                let ts = code.field_params("t", others);
                let made = if i == j {
                    let lowers = code.with_series((data, i), &lower, &xs);
                    let uppers = code.with_series((data, i), &upper, &ts);
                    let mut parts = Vec::new();
                    for (((x, lower), (t, upper)), ty) in lowers.iter().zip(&uppers).zip(fields) {
                        if let (Some(lower), Some(upper)) = (lower, upper) {
                            parts.push(joined(&mut code, [x, lower, t, upper], &place, *ty));
                        }
                    }
                    code.series_of_ctor(own, data, i, parts)
                } else {
                    code.fail(&[own], "a tangent of another shape").remove(0)
                };
                inner.push(code.b.close(vec![made]));
            }
            let made = code.b.typed1(own, Op::Match { on: t.clone(), arms: inner });
            arms.push(code.b.close(vec![made]));
        }
        let made = code.b.typed1(own, Op::Match { on: x, arms });
        code.finish(vec![made])
    }

    fn halves_function(&mut self, data: DataId, own: Ty) -> FuncId {
        let value = Ty::Scalar(Elem::Data(data));
        self.helper(Helper::Halves(data), vec![own, value, own], |ad| ad.make_halves(data, own))
    }

    fn make_halves(&mut self, data: DataId, own: Ty) -> Func {
        self.whole_tangent(data);
        let Data { name, ctors, role } = self.program.data.at(data).clone();
        let value = Ty::Scalar(Elem::Data(data));
        let types = [own, value, own];
        let mut code = Code::new(self, &format!("halves_{name}"));
        let (y, series) = (code.b.param("y".into(), value), code.b.param("ys".into(), own));
        code.order = Some(code.b.param("n".into(), Ty::INT));
        if role != Role::Declared {
            let none = code.fail(&types, BEYOND);
            return code.finish(none);
        }
        let mut arms = Vec::new();
        for (i, Ctor { fields, .. }) in ctors.iter().enumerate() {
            code.b.open();
            let ys = code.field_params("y", fields);
            let order = code.wide_order();
            let all = code.at_order(order, |code| code.with_series((data, i), &series, &ys));
            let (mut lowers, mut ts, mut uppers) = (Vec::new(), Vec::new(), Vec::new());
            for ((y, series), ty) in all.iter().zip(fields) {
                let Some(series) = series else {
                    ts.push(y.clone());
                    continue;
                };
                let Halves { lower, tangent, upper } = code.halves(y, series, *ty);
                lowers.push(lower);
                ts.push(tangent);
                uppers.push(upper);
            }
            let lower = code.series_of_ctor(own, data, i, lowers);
            let tangent = code.b.make(data, i as u32, ts);
            let upper = code.series_of_ctor(own, data, i, uppers);
            arms.push(code.b.close(vec![lower, tangent, upper]));
        }
        let found = code.b.typed(&types, Op::Match { on: y, arms });
        code.finish(found)
    }
}
