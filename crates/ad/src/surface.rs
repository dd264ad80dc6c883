//! Between tangents as the user sees them and tangents as derivatives use them.
//!
//! A *surface* tangent has the type of the point: what is not real in it just stands there. On the way in its shape is
//! compared with that of the point; on the way out the point says what stands where there is no real.
//!
//! ```text
//! point Cons 1.0 "a" Nil, surface tangent Cons 0.5 "a" Nil        tangent Cons' 0.5 Nil'
//! ```
//!
//! Reals are what they are, arrays of reals too once their sizes are checked; for data there are generated functions.

use crate::types::{Helper, ZERO};
use crate::{Ad, BEYOND, Code};
use wengert_base::{Name, Span};
use wengert_ir::op::{ArrayOp, Atom, Op, Requirement};
use wengert_ir::program::{Func, FuncId};
use wengert_ir::ty::{Ctor, Data, DataId, Elem, Role, Ty};

impl Code<'_> {
    /// The tangent at `point` that the surface tangent `t` stands for; the operator is for messages. What has no tangent
    /// gives nothing, after its shape was checked.
    pub(crate) fn inward(&mut self, operator: Name, point: &Atom, t: &Atom, ty: Ty) -> Option<Atom> {
        if let Ty::Array(_, rank) = ty {
            for axis in 0..rank {
                let [left, right] =
                    [point, t].map(|array| self.b.called("n").array(ArrayOp::Length(axis), [array.clone()]));
                self.b.typed(&[], Op::Require { what: Requirement::Shape(operator), left, right });
            }
        }
        let tangent = self.ad.tangent(ty)?;
        if tangent == ty {
            return Some(t.clone());
        }
        match ty {
            Ty::Scalar(Elem::Data(data)) => {
                let span = self.b.span();
                let func = self.ad.inward_function(data, operator, span);
                Some(self.b.call(func, [point.clone(), t.clone()], &[tangent]).remove(0))
            }
            Ty::Scalar(_) => Some(t.clone()),
            Ty::Array(..) => {
                let len = self.length(point);
                let row = ty.at(1).unwrap_or(Ty::REAL);
                let rows = self.open_rows(&[("x", row), ("t", row)]);
                let [x, y] = <[Atom; 2]>::try_from(rows).unwrap_or([Atom::Unit, Atom::Unit]);
                let inner = self.inward(operator, &x, &y, row).unwrap_or(Atom::Unit);
                let body = self.b.close(vec![inner]);
                let inputs = vec![point.clone(), t.clone()];
                Some(self.each(len, inputs, Vec::new(), body, &[("ts".into(), tangent)]).remove(0))
            }
        }
    }

    /// The surface tangent at `point` of a tangent (zero if there is none).
    pub(crate) fn outward(&mut self, point: &Atom, tangent: Option<Atom>, ty: Ty) -> Atom {
        if self.ad.tangent(ty).is_none() {
            return point.clone();
        }
        let tangent = match tangent {
            Some(tangent) => tangent,
            None => self.zero(Some(point), ty),
        };
        if self.b.type_of(&tangent) == ty {
            return tangent;
        }
        match ty {
            Ty::Scalar(Elem::Data(data)) => {
                let func = self.ad.outward_function(data);
                self.b.call(func, [point.clone(), tangent], &[ty]).remove(0)
            }
            Ty::Scalar(_) => tangent,
            Ty::Array(..) => {
                let len = self.length(point);
                let row = ty.at(1).unwrap_or(Ty::REAL);
                let row_tangent = self.ad.tangent(row).unwrap_or(row);
                let rows = self.open_rows(&[("x", row), ("t", row_tangent)]);
                let [x, t] = <[Atom; 2]>::try_from(rows).unwrap_or([Atom::Unit, Atom::Unit]);
                let inner = self.outward(&x, Some(t), row);
                let body = self.b.close(vec![inner]);
                let inputs = vec![point.clone(), tangent];
                self.each(len, inputs, Vec::new(), body, &[("ts".into(), ty)]).remove(0)
            }
        }
    }
}

impl Code<'_> {
    /// What a function that the user gave adds to a tangent: as the tangent of that. The two add up constructor by constructor.
    fn tangent_at_tangent(
        &mut self,
        point: &Atom,
        t: &Atom,
        (data, tangent): (DataId, DataId),
        operator: Name,
    ) -> Atom {
        let result = Ty::Scalar(Elem::Data(tangent));
        let ctors = self.ad.program.data.at(data).ctors.clone();
        let order = self.ad.order(Ty::Scalar(Elem::Data(data)));
        let mut arms = Vec::new();
        for (i, Ctor { fields, .. }) in ctors.iter().enumerate() {
            self.b.open();
            let ts = self.field_params("t", fields);
            let made = if i == ZERO as usize {
                self.b.make(tangent, ZERO, [])
            } else {
                let mut inner = Vec::new();
                for (j, other) in ctors.iter().enumerate() {
                    self.b.open();
                    let xs = self.field_params("x", &other.fields);
                    let made = if i == j && fields.iter().all(|ty| self.ad.order(*ty) <= order) {
                        let mut parts = Vec::new();
                        for ((x, t), ty) in xs.iter().zip(&ts).zip(fields) {
                            parts.extend(self.inward(operator, x, t, *ty));
                        }
                        self.b.make(tangent, i as u32 + 1, parts)
                    } else {
                        // Tangents of tangents of functions hold tangents of higher and higher order.
                        self.fail(&[result], BEYOND).remove(0)
                    };
                    inner.push(self.b.close(vec![made]));
                }
                self.b.typed1(result, Op::Match { on: point.clone(), arms: inner })
            };
            arms.push(self.b.close(vec![made]));
        }
        self.b.typed1(result, Op::Match { on: t.clone(), arms })
    }
}

impl Ad {
    /// How often a type is the tangent type of another.
    pub(crate) fn order(&self, ty: Ty) -> usize {
        match ty.elem() {
            Elem::Data(data) => match self.program.data.at(data).role {
                Role::Tangent(of) => 1 + self.order(Ty::Scalar(Elem::Data(of))),
                Role::Declared | Role::Closure | Role::Residual => match self.long_series_of(data) {
                    Some(of) => 1 + self.order(Ty::Scalar(Elem::Data(of))),
                    None => 0,
                },
            },
            Elem::Real | Elem::Int | Elem::Bool | Elem::Text | Elem::Unit => 0,
        }
    }

    /// There is one for each place in the source, so that failures tell it.
    fn inward_function(&mut self, data: DataId, operator: Name, span: Span) -> FuncId {
        let tangent = self.whole_tangent(data).unwrap_or(data);
        let result = Ty::Scalar(Elem::Data(tangent));
        self.helper(Helper::Inward(data, operator, span), vec![result], |ad| {
            ad.make_inward(data, tangent, operator, span)
        })
    }

    fn make_inward(&mut self, data: DataId, tangent: DataId, operator: Name, span: Span) -> Func {
        let Data { name, ctors, role } = self.program.data.at(data).clone();
        let (own, result) = (Ty::Scalar(Elem::Data(data)), Ty::Scalar(Elem::Data(tangent)));
        let mut code = Code::new(self, &format!("tangent_of_{name}"));
        code.b.set_span(span);
        let (point, t) = (code.b.param("x".into(), own), code.b.param("t".into(), own));
        let of_functions = |of| code.ad.holds_given(Ty::Scalar(Elem::Data(of)));
        if matches!(role, Role::Tangent(_)) || code.ad.long_series_of(data).is_some_and(of_functions) {
            let made = code.tangent_at_tangent(&point, &t, (data, tangent), operator);
            return code.finish(vec![made]);
        }
        if role == Role::Closure {
            let given = if code.ad.given.contains(&data) {
                code.b.make(tangent, ctors.len() as u32 + 1, [t])
            } else {
                code.fail(&[result], "a function as a tangent that is not declared").remove(0)
            };
            return code.finish(vec![given]);
        }
        let mut arms = Vec::new();
        for (i, Ctor { fields, .. }) in ctors.iter().enumerate() {
            code.b.open();
            let xs = code.field_params("x", fields);
            let mut inner = Vec::new();
            for (j, other) in ctors.iter().enumerate() {
                code.b.open();
                let ts = code.field_params("t", &other.fields);
                let made = if i == j {
                    let mut parts = Vec::new();
                    for ((x, t), ty) in xs.iter().zip(&ts).zip(fields) {
                        parts.extend(code.inward(operator, x, t, *ty));
                    }
                    code.b.make(tangent, i as u32 + 1, parts)
                } else {
                    let what = Requirement::SameCtor(operator, data);
                    let (left, right) = (Atom::Int(i as i64), Atom::Int(j as i64));
                    code.b.typed(&[], Op::Require { what, left, right });
                    code.fail(&[result], "a tangent of another shape").remove(0)
                };
                inner.push(code.b.close(vec![made]));
            }
            let made = code.b.typed1(result, Op::Match { on: t.clone(), arms: inner });
            arms.push(code.b.close(vec![made]));
        }
        let made = code.b.typed1(result, Op::Match { on: point, arms });
        code.finish(vec![made])
    }

    fn outward_function(&mut self, data: DataId) -> FuncId {
        let own = Ty::Scalar(Elem::Data(data));
        self.helper(Helper::Outward(data), vec![own], |ad| ad.make_outward(data))
    }

    fn make_outward(&mut self, data: DataId) -> Func {
        let tangent = self.whole_tangent(data).unwrap_or(data);
        let Data { name, ctors, role } = self.program.data.at(data).clone();
        let (own, given) = (Ty::Scalar(Elem::Data(data)), Ty::Scalar(Elem::Data(tangent)));
        let mut code = Code::new(self, &format!("surface_of_{name}"));
        let (point, t) = (code.b.param("x".into(), own), code.b.param("t".into(), given));
        if role == Role::Closure {
            // The last constructor is that of tangents of such functions.
            let made = if code.ad.declared.contains_key(&data) {
                code.b.make(data, (ctors.len() as u32).saturating_sub(1), [point, t])
            } else {
                code.fail(&[own], "the tangent of a function that is not declared").remove(0)
            };
            return code.finish(vec![made]);
        }
        let mut arms = Vec::new();
        for (i, Ctor { fields, .. }) in ctors.iter().enumerate() {
            code.b.open();
            let xs = code.field_params("x", fields);
            let types = code.ad.fields(data, i as u32);
            let tangents: Vec<Ty> = types.iter().filter_map(|(_, tangent)| *tangent).collect();
            let mut parts = Vec::new();
            let func = if tangents.is_empty() { None } else { code.ad.fields_function(data, i as u32) };
            if let Some(func) = func {
                let varying =
                    xs.iter().zip(&types).filter(|(_, (ty, tangent))| tangent.is_some() && ty.rank() > 0);
                let like: Vec<Atom> = varying.map(|(x, _)| x.clone()).collect();
                let args: Vec<Atom> = std::iter::once(t.clone()).chain(like).collect();
                let mut found = code.b.call(func, args, &tangents).into_iter();
                for (x, (ty, tangent)) in xs.iter().zip(&types) {
                    let tangent = tangent.and_then(|_| found.next());
                    parts.push(if tangent.is_some() { code.outward(x, tangent, *ty) } else { x.clone() });
                }
            } else {
                parts = xs;
            }
            let made = code.b.make(data, i as u32, parts);
            arms.push(code.b.close(vec![made]));
        }
        let made = code.b.typed1(own, Op::Match { on: point, arms });
        code.finish(vec![made])
    }
}
