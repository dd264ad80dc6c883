//! Functions with rules of their own in long series: as in short ones ([`crate::jvp`]) the rule runs on the derivative of the series.
//!
//! ```text
//! custom_jvp f rule x       x' = [1 x₁, 2 x₂, …];  v = tangent of rule(x, x');  y = [v₀ / 1, v₁ / 2, …]
//! ```
//!
//! That has one order less. So that all series have as many coefficients, the last one of `x'` is zero, and the last one of `v` goes.

use crate::jvp::Jvp;
use crate::types::Helper;
use crate::{Ad, Code, Key};
use wengert_ir::op::{Atom, Block, Compare, Custom, IntOp, Op, Rule, Stmt};
use wengert_ir::program::{Func, FuncId};
use wengert_ir::ty::{Ctor, Data, DataId, Elem, Ty};
use wengert_prim::RealOp;

/// Values, and the series of those that vary.
pub(crate) struct Found {
    pub(crate) values: Vec<Atom>,
    pub(crate) series: Vec<Option<Atom>>,
}

impl Jvp<'_, '_> {
    /// A function with a rule, with the series of its results.
    pub(crate) fn custom_long(&mut self, stmt: &Stmt, parts: &Custom) {
        self.code.b.push(stmt.clone());
        if self.code.ad.is_cube() {
            return self.custom_in_cube(stmt, parts);
        }
        let (captured, point) = (self.scope.mask(&parts.rule_captured), self.scope.mask(&parts.point));
        let is_mixed = self.code.ad.is_inside && captured.contains(&true);
        let own = self.varying_captured(parts);
        if !point.contains(&true) && !is_mixed && !own.contains(&true) {
            return;
        }
        if self.refuses_functions(stmt, parts) {
            return;
        }
        let values: Vec<Atom> = stmt.outs.iter().copied().map(Atom::Var).collect();
        let varies = self.code.have_tangents(&values);
        let of = |atoms: &[Atom], mask: &[bool]| -> Vec<Atom> {
            atoms.iter().zip(mask).filter(|(_, varies)| **varies).map(|(atom, _)| atom.clone()).collect()
        };
        let all = [of(&parts.rule_captured, &captured), of(&parts.point, &point), of(&parts.captured, &own)];
        let [inner, tangents, by_function] =
            all.map(|atoms| atoms.iter().map(|atom| self.tangent_or_zero(0, atom)).collect::<Vec<Atom>>());
        let found = if point.contains(&true) {
            self.code.rule_on_series(parts, &values, (&captured, &inner), (&point, &tangents))
        } else {
            self.code.series_by_function(&values, parts, (&own, by_function), 1)
        };
        let mut found = self.code.mixed_series(&values, parts, (&captured, &inner), 1, found).into_iter();
        let outs = stmt.outs.iter().zip(&varies).filter(|(_, varies)| **varies);
        for (out, _) in outs {
            if let (Some(dots), Some(series)) = (self.dots.first_mut(), found.next()) {
                dots.insert(*out, series);
            }
        }
    }
}

impl Code<'_> {
    /// Does something where tangents are no long series.
    pub(crate) fn short<R>(&mut self, run: impl FnOnce(&mut Self) -> R) -> R {
        self.switched(false, run)
    }

    /// Does something where tangents are long series, or not.
    pub(crate) fn switched<R>(&mut self, on: bool, run: impl FnOnce(&mut Self) -> R) -> R {
        if self.ad.is_long() == on {
            return run(self);
        }
        self.ad.switch();
        let result = run(self);
        self.ad.switch();
        result
    }

    /// The series of those values that have such, where the point varies.
    fn rule_on_series(
        &mut self,
        parts: &Custom,
        values: &[Atom],
        (captured, inner): (&[bool], &[Atom]),
        (point, tangents): (&[bool], &[Atom]),
    ) -> Vec<Atom> {
        let args = parts.rule_captured.iter().chain(&parts.point);
        let order = self.order();
        let fixed: Vec<Atom> = args.chain(values).chain(inner).chain([&order]).cloned().collect();
        let varies = self.have_tangents(values);
        let first = captured.len() + point.len();
        let places: Vec<usize> =
            (first..).zip(varies).filter(|(_, varies)| *varies).map(|(place, _)| place).collect();
        let (Rule::Jvp(func) | Rule::Vjp(func, _)) = parts.rule;
        let name = self.ad.program.funcs.at(func).name;
        self.guarded(name.as_str(), &fixed, tangents, &places, |code, fixed, tangents| {
            let (args, rest) = fixed.split_at(first);
            let (values, rest) = rest.split_at(values.len());
            let inner = rest.get(..inner.len()).unwrap_or_default();
            let (found, operator) = match parts.rule {
                Rule::Jvp(rule) => {
                    (code.tangents_on_series(rule, args, (captured, inner), (point, tangents)), "custom_jvp")
                }
                Rule::Vjp(rule, apply) => {
                    let given = (args, values);
                    (
                        code.transpose_on_series((rule, apply), given, (captured, inner), (point, tangents)),
                        "custom_vjp",
                    )
                }
            };
            let mut made = Vec::new();
            let skipped = found.values.len().saturating_sub(values.len());
            let velocities = found.values.into_iter().zip(found.series).skip(skipped);
            for (value, (velocity, series)) in values.iter().zip(velocities) {
                let ty = code.b.type_of(value);
                if code.ad.tangent(ty).is_none() {
                    continue;
                }
                code.short(|code| code.inward(operator.into(), value, &velocity, ty));
                let series = match series {
                    Some(series) => series,
                    None => code.zero(Some(&velocity), ty),
                };
                made.push(code.of_velocity(value, &velocity, &series, ty));
            }
            made
        })
    }

    /// The rule maps point and tangent to value and tangent.
    fn tangents_on_series(
        &mut self,
        rule: FuncId,
        args: &[Atom],
        (captured, inner): (&[bool], &[Atom]),
        (point, tangents): (&[bool], &[Atom]),
    ) -> Found {
        let (slopes, series) =
            self.slopes_of_series(args.get(captured.len()..).unwrap_or_default(), point, tangents);
        let mask = captured.iter().chain(point).chain(point).copied().collect();
        let args = args.iter().cloned().chain(slopes).collect();
        let tangents = inner.iter().chain(tangents).cloned().chain(series).collect();
        self.long_call(&(rule, mask), args, tangents)
    }

    /// The rule maps the point to the value and a function from cotangents to cotangents.
    fn transpose_on_series(
        &mut self,
        (rule, apply): (FuncId, FuncId),
        (args, values): (&[Atom], &[Atom]),
        (captured, inner): (&[bool], &[Atom]),
        (point, tangents): (&[bool], &[Atom]),
    ) -> Found {
        let (slopes, series) =
            self.slopes_of_series(args.get(captured.len()..).unwrap_or_default(), point, tangents);
        let mask = captured.iter().chain(point).copied().collect();
        let mut found =
            self.long_call(&(rule, mask), args.to_vec(), inner.iter().chain(tangents).cloned().collect());
        let back = found.series.pop().flatten();
        let mut mask = vec![back.is_some()];
        mask.extend(values.iter().map(|_| false));
        mask.extend(point);
        let args = found.values.pop().into_iter().chain(values.iter().cloned()).chain(slopes).collect();
        let transposed = self.ad.with_long(false, |ad| ad.transposed(apply));
        self.long_call(&(transposed, mask), args, back.into_iter().chain(series).collect())
    }

    /// The derivative of the point along the series: its value as the user sees it, and the series of what varies.
    fn slopes_of_series(
        &mut self,
        point: &[Atom],
        varies: &[bool],
        tangents: &[Atom],
    ) -> (Vec<Atom>, Vec<Atom>) {
        let mut tangents = tangents.iter();
        let (mut slopes, mut all) = (Vec::new(), Vec::new());
        for (x, varies) in point.iter().zip(varies) {
            let ty = self.b.type_of(x);
            match if *varies { tangents.next() } else { None } {
                Some(tangent) => {
                    let (slope, series) = self.velocity_of_series(x, tangent, ty);
                    slopes.push(slope);
                    all.push(series);
                }
                None => slopes.push(self.short(|code| code.outward(x, None, ty))),
            }
        }
        (slopes, all)
    }

    /// Values and series of a function.
    pub(crate) fn long_call(&mut self, key: &Key, args: Vec<Atom>, tangents: Vec<Atom>) -> Found {
        let results = self.ad.program.funcs.at(key.0).results.clone();
        if !key.1.contains(&true) {
            let values = self.b.call(key.0, args, &results);
            return Found { series: vec![None; values.len()], values };
        }
        let func = self.ad.long_function(key);
        let types = self.ad.jvp_results(key, 1);
        let reach = self.ad.varying_results(key.0, &key.1);
        let args: Vec<Atom> = args.into_iter().chain(tangents).chain([self.order()]).collect();
        let mut values = self.b.call(func, args, &types);
        let mut series = values.split_off(results.len()).into_iter();
        let series = reach.into_iter().map(|varies| if varies { series.next() } else { None }).collect();
        Found { values, series }
    }

    /// The derivative of a series: the first coefficient as the user sees it, and the others.
    fn velocity_of_series(&mut self, x: &Atom, series: &Atom, ty: Ty) -> (Atom, Atom) {
        let own = self.ad.tangent(ty).unwrap_or(ty);
        let mut found = match ty {
            Ty::Scalar(Elem::Data(data)) => {
                let func = self.ad.split_function(data, own);
                let args = [x.clone(), series.clone(), self.order()];
                self.b.called("slope").call(func, args, &[ty, own])
            }
            Ty::Scalar(_) => {
                let first = self.coefficient(series, &Atom::Int(0));
                let n = self.order();
                self.b.open();
                let i = self.b.param("i".into(), Ty::INT);
                let next = self.next(&i);
                let cond = self.b.compare(Compare::Lt, next.clone(), n.clone());
                self.b.open();
                let coef = self.coefficient(series, &next);
                let k = self.b.int(IntOp::Add, [i, Atom::Int(2)]);
                let k = self.as_real(&k);
                let scaled = self.b.real(RealOp::Mul, [coef, k]);
                let then = self.b.close(vec![scaled]);
                let otherwise = Block { results: vec![Atom::Real(0.0)], ..Block::default() };
                let coef = self.b.typed1(Ty::REAL, Op::If { cond, then, otherwise });
                let body = self.b.close(vec![coef]);
                let rest = self.each(n, Vec::new(), Vec::new(), body, &[("slopes".into(), own)]);
                std::iter::once(first).chain(rest).collect()
            }
            Ty::Array(..) => {
                let len = self.length(x);
                let row = ty.at(1).unwrap_or(Ty::REAL);
                let rows = self.open_rows(&[("x", row), ("xs", own.at(1).unwrap_or(own))]);
                let [x_row, series_row] = <[Atom; 2]>::try_from(rows).unwrap_or([const { Atom::Unit }; 2]);
                let (slope, rest) = self.velocity_of_series(&x_row, &series_row, row);
                let body = self.b.close(vec![slope, rest]);
                let outs = [("slope".into(), ty), ("slopes".into(), own)];
                self.each(len, vec![x.clone(), series.clone()], Vec::new(), body, &outs)
            }
        }
        .into_iter();
        (found.next().unwrap_or(Atom::Unit), found.next().unwrap_or(Atom::Unit))
    }

    /// The series of a value whose derivative this is, with its series.
    fn of_velocity(&mut self, y: &Atom, velocity: &Atom, series: &Atom, ty: Ty) -> Atom {
        let own = self.ad.tangent(ty).unwrap_or(ty);
        match ty {
            Ty::Scalar(Elem::Data(data)) => {
                let func = self.ad.join_function(data, own);
                let args = [y.clone(), velocity.clone(), series.clone(), self.order()];
                self.b.called("ys").call(func, args, &[own]).remove(0)
            }
            Ty::Scalar(_) => {
                let n = self.order();
                self.b.open();
                let i = self.b.param("i".into(), Ty::INT);
                let cond = self.b.compare(Compare::Eq, i.clone(), Atom::Int(0));
                let then = Block { results: vec![velocity.clone()], ..Block::default() };
                self.b.open();
                let before = self.b.int(IntOp::Sub, [i.clone(), Atom::Int(1)]);
                let coef = self.coefficient(series, &before);
                let otherwise = self.b.close(vec![coef]);
                let coef = self.b.typed1(Ty::REAL, Op::If { cond, then, otherwise });
                let k = self.next(&i);
                let k = self.as_real(&k);
                let coef = self.b.real(RealOp::DivZero, [coef, k]);
                let body = self.b.close(vec![coef]);
                self.each(n, Vec::new(), Vec::new(), body, &[("ys".into(), own)]).remove(0)
            }
            Ty::Array(..) => {
                let len = self.length(y);
                let row = ty.at(1).unwrap_or(Ty::REAL);
                let rows = self.open_rows(&[("y", row), ("v", row), ("vs", own.at(1).unwrap_or(own))]);
                let [y_row, v, vs] = <[Atom; 3]>::try_from(rows).unwrap_or([const { Atom::Unit }; 3]);
                let made = self.of_velocity(&y_row, &v, &vs, row);
                let body = self.b.close(vec![made]);
                let inputs = vec![y.clone(), velocity.clone(), series.clone()];
                self.each(len, inputs, Vec::new(), body, &[("ys".into(), own)]).remove(0)
            }
        }
    }

    /// The series of the fields of a constructor, of those that have such.
    pub(super) fn fields_of_series(
        &mut self,
        data: DataId,
        ctor: usize,
        series: &Atom,
        fields: &[Atom],
    ) -> Vec<Option<Atom>> {
        let types = self.ad.fields(data, ctor as u32);
        let results: Vec<Ty> = types.iter().filter_map(|(_, own)| *own).collect();
        let func = if results.is_empty() { None } else { self.ad.fields_function(data, ctor as u32) };
        let Some(func) = func else { return vec![None; fields.len()] };
        let like = fields.iter().zip(&types).filter(|(_, (ty, own))| own.is_some() && ty.rank() > 0);
        let args = [series.clone(), self.order()].into_iter().chain(like.map(|(field, _)| field.clone()));
        let args: Vec<Atom> = args.collect();
        let mut found = self.b.call(func, args, &results).into_iter();
        types.iter().map(|(_, own)| own.and_then(|_| found.next())).collect()
    }
}

impl Ad {
    fn split_function(&mut self, data: DataId, own: Ty) -> FuncId {
        let value = Ty::Scalar(Elem::Data(data));
        self.helper(Helper::Split(data), vec![value, own], |ad| ad.make_split(data, own))
    }

    fn make_split(&mut self, data: DataId, own: Ty) -> Func {
        self.whole_tangent(data);
        let Data { name, ctors, .. } = self.program.data.at(data).clone();
        let value = Ty::Scalar(Elem::Data(data));
        let mut code = Code::new(self, &format!("slope_of_{name}"));
        let (x, series) = (code.b.param("x".into(), value), code.b.param("xs".into(), own));
        code.order = Some(code.b.param("n".into(), Ty::INT));
        let mut arms = Vec::new();
        for (i, Ctor { fields, .. }) in ctors.iter().enumerate() {
            code.b.open();
            let xs = code.field_params("x", fields);
            let all = code.fields_of_series(data, i, &series, &xs);
            let (mut slopes, mut rest) = (Vec::new(), Vec::new());
            for ((x, ty), series) in xs.iter().zip(fields).zip(all) {
                let Some(series) = series else {
                    slopes.push(x.clone());
                    continue;
                };
                let (slope, others) = code.velocity_of_series(x, &series, *ty);
                slopes.push(slope);
                rest.push(others);
            }
            let slope = code.b.make(data, i as u32, slopes);
            let rest = code.series_of_ctor(own, data, i, rest);
            arms.push(code.b.close(vec![slope, rest]));
        }
        let found = code.b.typed(&[value, own], Op::Match { on: x, arms });
        code.finish(found)
    }

    fn join_function(&mut self, data: DataId, own: Ty) -> FuncId {
        self.helper(Helper::Join(data), vec![own], |ad| ad.make_join(data, own))
    }

    fn make_join(&mut self, data: DataId, own: Ty) -> Func {
        self.whole_tangent(data);
        let Data { name, ctors, .. } = self.program.data.at(data).clone();
        let value = Ty::Scalar(Elem::Data(data));
        let mut code = Code::new(self, &format!("series_of_{name}"));
        let [y, velocity] = ["y", "v"].map(|name| code.b.param(name.into(), value));
        let series = code.b.param("vs".into(), own);
        code.order = Some(code.b.param("n".into(), Ty::INT));
        let mut arms = Vec::new();
        for (i, Ctor { fields, .. }) in ctors.iter().enumerate() {
            code.b.open();
            let ys = code.field_params("y", fields);
            let mut inner = Vec::new();
            for (j, Ctor { fields: others, .. }) in ctors.iter().enumerate() {
                code.b.open();
                let vs = code.field_params("v", others);
                let made = if i == j {
                    let all = code.fields_of_series(data, i, &series, &vs);
                    let mut parts = Vec::new();
                    for (((y, v), ty), series) in ys.iter().zip(&vs).zip(fields).zip(all) {
                        parts.extend(series.map(|series| code.of_velocity(y, v, &series, *ty)));
                    }
                    code.series_of_ctor(own, data, i, parts)
                } else {
                    code.fail(&[own], "a tangent of another shape").remove(0)
                };
                inner.push(code.b.close(vec![made]));
            }
            let made = code.b.typed1(own, Op::Match { on: velocity.clone(), arms: inner });
            arms.push(code.b.close(vec![made]));
        }
        let made = code.b.typed1(own, Op::Match { on: y, arms });
        code.finish(vec![made])
    }
}

impl Code<'_> {
    /// The series of a value that is made by a constructor.
    pub(super) fn series_of_ctor(&mut self, own: Ty, data: DataId, ctor: usize, parts: Vec<Atom>) -> Atom {
        let place = self.ad.tangent_ctor(data, ctor as u32);
        match own.elem() {
            Elem::Data(series) => self.b.make(series, place, parts),
            Elem::Real | Elem::Int | Elem::Bool | Elem::Text | Elem::Unit => Atom::Unit,
        }
    }
}
