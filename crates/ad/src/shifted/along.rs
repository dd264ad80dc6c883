//! Derivatives with respect to functions as derivatives with respect to a number: what moves along something, by how much.

use super::{Request, Shifted, new_ctor};
use crate::Code;
use wengert_base::Name;
use wengert_ir::op::{ArrayOp, Atom, Op, Requirement};
use wengert_ir::program::{FuncId, VarInfo};
use wengert_ir::ty::{Ctor, Data, DataId, Elem, Ty};
use wengert_prim::RealOp;

/// The operator of which failures speak.
const OPERATOR: &str = "jvp";

impl Shifted {
    /// The same request, with respect to numbers.
    pub(super) fn along_numbers(&mut self, code: &mut Code<'_>, request: Request) -> Request {
        let Request { func, args, tangents } = request;
        let by_function: Vec<bool> = args
            .iter()
            .zip(&tangents)
            .map(|(arg, tangent)| tangent.is_some() && self.holds(&code.ad.program, code.b.type_of(arg)))
            .collect();
        if !by_function.contains(&true) {
            return Request { func, args, tangents };
        }
        let func = self.moving(code, func, &by_function);
        let mut along = Vec::new();
        let mut rest = Vec::new();
        for (tangent, by_function) in tangents.into_iter().zip(by_function) {
            rest.push(tangent.clone().filter(|_| !by_function));
            along.extend(tangent.filter(|_| by_function));
        }
        let mut args: Vec<Atom> = args.into_iter().chain(along).collect();
        rest.resize(args.len(), None);
        args.push(Atom::Real(0.0));
        rest.push(Some(Atom::Real(-1.0)));
        Request { func, args, tangents: rest }
    }

    /// A function some of whose arguments move along others, which come after them all, by a number, the last argument.
    fn moving(&mut self, code: &mut Code<'_>, func: FuncId, by_function: &[bool]) -> FuncId {
        let span = code.b.span();
        let of = code.ad.program.funcs.at(func);
        let (name, results) = (of.name, of.results.clone());
        let params: Vec<VarInfo> = of.body.params.iter().map(|var| *of.vars.at(*var)).collect();
        let mut inner = Code::new(code.ad, &format!("{name}_moved"));
        inner.b.set_func_span(span);
        inner.b.set_span(span);
        let args: Vec<Atom> = params.iter().map(|VarInfo { name, ty }| inner.b.param(*name, *ty)).collect();
        let along: Vec<Option<Atom>> = params
            .iter()
            .zip(by_function)
            .map(|(info, by_function)| by_function.then(|| inner.b.param("h".into(), info.ty)))
            .collect();
        let by = inner.b.param("e".into(), Ty::REAL);
        let mut given = Vec::new();
        for ((x, along), VarInfo { ty, .. }) in args.iter().zip(&along).zip(&params) {
            given.push(match along {
                Some(along) => self.moved(&mut inner, [x, along, &by], *ty),
                None => x.clone(),
            });
        }
        let found = inner.b.call(func, given, &results);
        let made = inner.finish(found);
        code.ad.program.funcs.push(made)
    }

    /// What a value is when it moves along another one by a number. They must be of one shape, as a value and its tangent.
    fn moved(&mut self, code: &mut Code<'_>, [x, along, by]: [&Atom; 3], ty: Ty) -> Atom {
        if let Ty::Array(_, rank) = ty {
            for axis in 0..rank {
                let [left, right] =
                    [x, along].map(|array| code.b.called("n").array(ArrayOp::Length(axis), [array.clone()]));
                let what = Requirement::Shape(OPERATOR.into());
                code.b.typed(&[], Op::Require { what, left, right });
            }
        }
        if !self.varies(code, ty) {
            return x.clone();
        }
        match (ty.at(1), ty.elem()) {
            (Some(row), _) => {
                let len = code.length(x);
                let rows = code.open_rows(&[("x", row), ("h", row)]);
                let made = match rows.as_slice() {
                    [x, along] => self.moved(code, [x, along, by], row),
                    _ => Atom::Unit,
                };
                let body = code.b.close(vec![made]);
                let inputs = vec![x.clone(), along.clone()];
                code.each(len, inputs, Vec::new(), body, &[("xs".into(), ty)]).remove(0)
            }
            (None, Elem::Data(data)) if self.closures.contains(&data) => {
                let ctor = self.moved_ctor(code, data);
                code.b.make(data, ctor, [x.clone(), along.clone(), by.clone()])
            }
            (None, Elem::Data(data)) => {
                let func = self.moved_function(code, data);
                code.b.call(func, [x.clone(), along.clone(), by.clone()], &[ty]).remove(0)
            }
            (None, _) => {
                let more = code.b.real(RealOp::MulZero, [by.clone(), along.clone()]);
                code.b.real(RealOp::Sub, [x.clone(), more])
            }
        }
    }

    /// Whether values of a type hold numbers or functions.
    fn varies(&mut self, code: &Code<'_>, ty: Ty) -> bool {
        match ty.elem() {
            Elem::Real => true,
            Elem::Int | Elem::Bool | Elem::Text | Elem::Unit => false,
            Elem::Data(data) => code.ad.holds(data, &|data| self.closures.contains(&data)),
        }
    }

    /// The constructor of function values that are moved along others.
    fn moved_ctor(&mut self, code: &mut Code<'_>, data: DataId) -> u32 {
        if let Some(known) = self.moved.get(&data) {
            return *known;
        }
        let own = Ty::Scalar(Elem::Data(data));
        let held = vec![own, own, Ty::REAL];
        let ctor = new_ctor(code.ad, data, "moved", held.clone());
        self.moved.insert(data, ctor);
        for last in self.applies.get(&data).cloned().unwrap_or_default() {
            let both = self.apply_both(code, last);
            self.arms.push((last, held.clone(), both));
        }
        ctor
    }

    /// Applies a function value, and the one that it moves along.
    fn apply_both(&mut self, code: &mut Code<'_>, last: FuncId) -> FuncId {
        let of = code.ad.program.funcs.at(last);
        let (name, results, span) = (of.name, of.results.clone(), of.span);
        let params: Vec<VarInfo> = of.body.params.iter().map(|var| *of.vars.at(*var)).collect();
        let Some((first, rest)) = params.split_first() else { return last };
        let mut inner = Code::new(code.ad, &format!("{name}_moved"));
        inner.b.set_func_span(span);
        inner.b.set_span(span);
        let [x, along] = ["f", "h"].map(|name| inner.b.param(name.into(), first.ty));
        let by = inner.b.param("e".into(), Ty::REAL);
        let rest: Vec<Atom> = rest.iter().map(|VarInfo { name, ty }| inner.b.param(*name, *ty)).collect();
        let [values, more] = [x, along].map(|func| {
            let args: Vec<Atom> = std::iter::once(func).chain(rest.iter().cloned()).collect();
            inner.b.call(last, args, &results)
        });
        let mut found = Vec::new();
        for ((value, more), ty) in values.iter().zip(&more).zip(&results) {
            found.push(self.moved(&mut inner, [value, more, &by], *ty));
        }
        let made = inner.finish(found);
        code.ad.program.funcs.push(made)
    }

    fn moved_function(&mut self, code: &mut Code<'_>, data: DataId) -> FuncId {
        let span = code.b.span();
        if let Some(known) = self.helpers.get(&(data, span)) {
            return *known;
        }
        let own = Ty::Scalar(Elem::Data(data));
        let id = code.ad.reserve(vec![own]);
        self.helpers.insert((data, span), id);
        let Data { name, ctors, .. } = code.ad.program.data.at(data).clone();
        let mut inner = Code::new(code.ad, &format!("moved_{name}"));
        inner.b.set_span(span);
        let [x, along] = ["x", "h"].map(|name| inner.b.param(name.into(), own));
        let by = inner.b.param("e".into(), Ty::REAL);
        let mut arms = Vec::new();
        for (i, Ctor { fields, .. }) in ctors.iter().enumerate() {
            inner.b.open();
            let xs = inner.field_params("x", fields);
            let mut others = Vec::new();
            for (j, other) in ctors.iter().enumerate() {
                inner.b.open();
                let hs = inner.field_params("h", &other.fields);
                let made = if i == j {
                    let mut made = Vec::new();
                    for ((x, along), ty) in xs.iter().zip(&hs).zip(fields) {
                        made.push(self.moved(&mut inner, [x, along, &by], *ty));
                    }
                    inner.b.make(data, i as u32, made)
                } else {
                    let what = Requirement::SameCtor(Name::new(OPERATOR), data);
                    let (left, right) = (Atom::Int(i as i64), Atom::Int(j as i64));
                    inner.b.typed(&[], Op::Require { what, left, right });
                    inner.fail(&[own], "a tangent of another shape").remove(0)
                };
                others.push(inner.b.close(vec![made]));
            }
            let made = inner.b.typed1(own, Op::Match { on: along.clone(), arms: others });
            arms.push(inner.b.close(vec![made]));
        }
        let made = inner.b.typed1(own, Op::Match { on: x, arms });
        let made = inner.finish(vec![made]);
        *code.ad.program.funcs.at_mut(id) = made;
        id
    }
}
