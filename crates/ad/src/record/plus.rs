//! Derivatives of tapes with respect to functions. What a function of the user's adds, which is given as the tangent of a function value,
//! is noted on the tape with a weight that is 0 and has the tangent 1:
//!
//! ```text
//! plus_apply(f, x, h, ε) = apply(f, x) + ε * apply(h, x)
//! jvp_recorded_apply(f, x, …, f', x', …) = match f' { …, Given(h) { jvp_recorded_plus_apply(f, x, h, 0, …, x', 1, …) } }
//! ```
//!
//! That is what the interpreter does, so cotangents add up as there.

use super::Helper;
use crate::given::Derived;
use crate::{ASTRAY, Ad, BEYOND, Code, Key};
use wengert_ir::op::{Atom, Op};
use wengert_ir::program::{FuncId, VarInfo};
use wengert_ir::ty::{Ctor, Data, DataId, Elem, Role, Ty};
use wengert_prim::RealOp;

/// A function that applies two function values and adds what they give, the second times a weight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plus {
    func: FuncId,
    /// Where the second function value and the weight stand among the parameters.
    at: usize,
}

impl Ad {
    /// Whether what function values give adds up number by number, wherever others may be given as tangents.
    pub(super) fn adds_up(&self) -> bool {
        let all: Vec<FuncId> = self.program.funcs.ids().filter(|id| self.applies(*id).is_some()).collect();
        all.into_iter().flat_map(|id| &self.program.funcs.at(id).results).all(|ty| match ty.elem() {
            Elem::Real | Elem::Int | Elem::Bool | Elem::Text | Elem::Unit => true,
            Elem::Data(data) => {
                let such = |data| self.program.data.at(data).role != Role::Declared;
                self.is_first_order(Ty::Scalar(Elem::Data(data))) || !self.holds(data, &such)
            }
        })
    }

    /// Whether a function that is given as a tangent may vary with these arguments where the one that is applied does not.
    pub(super) fn misses(&mut self, func: FuncId, active: &[bool]) -> bool {
        if !self.has_weights() || !active.contains(&true) || self.applies(func).is_none() {
            return false;
        }
        let Some(there) = self.ready_at_given(func) else { return true };
        let [here, there] = [func, there].map(|func| {
            let key = self.recorded_key((func, active.to_vec()));
            if key.1.contains(&true) { self.recorded_results(&key) } else { Vec::new() }
        });
        let varies = |results: &[bool], i: usize| results.get(i) == Some(&true);
        (0..there.len()).any(|i| varies(&there, i) && !varies(&here, i))
    }

    /// Whether functions for which others are given as tangents are given those besides, with a weight.
    pub(crate) fn has_weights(&self) -> bool {
        self.recorded.adds_up
    }

    /// Notes what a function on series is made of.
    pub(crate) fn note_series(&mut self, id: FuncId, key: &Key, given: usize, orders: usize) {
        self.recorded.series.insert(id, (key.clone(), given, orders));
    }

    /// Whether a function records or is one on series, or is made of one.
    pub(crate) fn is_recording(&self, func: FuncId) -> bool {
        let derived = || self.derived.get(&func).is_some_and(|derived| self.is_recording(derived.key.0));
        self.recorded.of.contains_key(&func) || self.recorded.series.contains_key(&func) || derived()
    }

    /// What a function is with another function value besides.
    fn plus(&mut self, func: FuncId) -> Option<Plus> {
        if let Some(known) = self.recorded.plus.get(&func) {
            return *known;
        }
        let with = |active: &[bool], at: usize| {
            let (before, after) = active.split_at_checked(at).unwrap_or((active, &[]));
            [before, &[false, false], after].concat()
        };
        let made = if let Some(((of, active), tape)) = self.recorded.of.get(&func).cloned() {
            self.plus(of).map(|Plus { func, at }| Plus {
                func: self.recorded_function(&(func, with(&active, at)), tape),
                at,
            })
        } else if let Some(((of, active), given, orders)) = self.recorded.series.get(&func).cloned() {
            self.plus(of).map(|Plus { func, at }| Plus {
                func: self.series_function(&(func, with(&active, at)), given, orders),
                at,
            })
        } else if let (Some(Derived { key: (of, active), .. }), true) =
            (self.derived.get(&func).cloned(), self.is_recording(func))
        {
            self.plus(of)
                .map(|Plus { func, at }| Plus { func: self.jvp_function(&(func, with(&active, at))), at })
        } else {
            self.make_plus(func)
        };
        let results = |id: FuncId| &self.program.funcs.at(id).results;
        let made = made.filter(|made| results(made.func) == results(func));
        self.recorded.plus.insert(func, made);
        made
    }

    fn make_plus(&mut self, func: FuncId) -> Option<Plus> {
        let application = self.application(func)?;
        let there = self.ready_at_given(func)?;
        let of = self.program.funcs.at(func);
        let (name, results, span) = (of.name, of.results.clone(), of.span);
        let params: Vec<VarInfo> = of.body.params.iter().map(|var| *of.vars.at(*var)).collect();
        let first = params.first()?.ty;
        // What holds functions has no numbers to which a weighted one could be added.
        let mut whole = |ty: &Ty| self.tangent(*ty).is_none() || self.is_first_order(*ty);
        let mut counted = results.iter().enumerate().filter(|(place, _)| !application.is_same(*place));
        if !counted.all(|(_, ty)| whole(ty)) {
            return None;
        }
        let mut code = Code::new(self, &format!("plus_{name}"));
        code.b.set_func_span(span);
        code.b.set_span(span);
        let args: Vec<Atom> = params.into_iter().map(|VarInfo { name, ty }| code.b.param(name, ty)).collect();
        let other = code.b.param("h".into(), first);
        let weight = code.b.param("e".into(), Ty::REAL);
        let at = args.len();
        let mut others: Vec<Atom> = std::iter::once(&other).chain(args.iter().skip(1)).cloned().collect();
        code.without_tangents(&application, &mut others);
        let values = code.b.call(func, args, &results);
        let more = code.b.call(there, others, &results);
        let mut sums = Vec::new();
        for (place, ((value, more), ty)) in values.into_iter().zip(more).zip(results).enumerate() {
            sums.push(if application.is_same(place) {
                value
            } else {
                code.plus_weighted(value, &more, ty, &weight)
            });
        }
        let made = code.finish(sums);
        Some(Plus { func: self.program.funcs.push(made), at })
    }
}

impl Ad {
    /// The function that adds to the numbers in data those in other data of the same shape, times a weight.
    fn plus_function(&mut self, data: DataId) -> FuncId {
        let ty = Ty::Scalar(Elem::Data(data));
        self.recording_helper(Helper::Plus(data), vec![ty], |ad| {
            let Data { name, ctors, .. } = ad.program.data.at(data).clone();
            let mut code = Code::new(ad, &format!("plus_{name}"));
            let [value, more] = ["y", "t"].map(|name| code.b.param(name.into(), ty));
            let weight = code.b.param("e".into(), Ty::REAL);
            let mut arms = Vec::new();
            for (i, Ctor { fields, .. }) in ctors.iter().enumerate() {
                code.b.open();
                let own = code.field_params("y", fields);
                let mut inner = Vec::new();
                for (j, Ctor { fields: others, .. }) in ctors.iter().enumerate() {
                    code.b.open();
                    let theirs = code.field_params("t", others);
                    let made = if i == j {
                        let fields = own.iter().zip(theirs).zip(fields);
                        let sums = fields.map(|((y, t), ty)| match code.ad.slots(*ty) {
                            Some(_) => code.plus_each(y.clone(), &t, *ty, &weight),
                            None => y.clone(),
                        });
                        let sums: Vec<Atom> = sums.collect();
                        vec![code.b.make(data, i as u32, sums)]
                    } else {
                        code.fail(&[ty], ASTRAY)
                    };
                    inner.push(code.b.close(made));
                }
                let sum = code.b.typed(&[ty], Op::Match { on: more.clone(), arms: inner });
                arms.push(code.b.close(sum));
            }
            let found = code.b.typed(&[ty], Op::Match { on: value, arms });
            code.finish(found)
        })
    }
}

impl Code<'_> {
    /// A number, or each in an array or in data, and another one times a weight.
    fn plus_weighted(&mut self, value: Atom, more: &Atom, ty: Ty, weight: &Atom) -> Atom {
        if self.ad.slots(ty).is_none() || !self.ad.is_first_order(ty) {
            return value;
        }
        if ty != Ty::REAL {
            // They must belong together.
            self.inward("jvp".into(), &value, more, ty);
        }
        self.plus_each(value, more, ty, weight)
    }

    fn plus_each(&mut self, value: Atom, more: &Atom, ty: Ty, weight: &Atom) -> Atom {
        let Some(row) = ty.at(1) else {
            return match ty.elem() {
                Elem::Data(data) => {
                    let func = self.ad.plus_function(data);
                    let args = [value, more.clone(), weight.clone()];
                    self.b.called("sum").call(func, args, &[ty]).remove(0)
                }
                Elem::Real | Elem::Int | Elem::Bool | Elem::Text | Elem::Unit => {
                    let change = self.b.real(RealOp::Mul, [weight.clone(), more.clone()]);
                    self.b.called("sum").real(RealOp::Add, [value, change])
                }
            };
        };
        let len = self.length(&value);
        let rows = self.open_rows(&[("y", row), ("t", row)]);
        let sum = match rows.as_slice() {
            [y, t] => self.plus_each(y.clone(), t, row, weight),
            _ => Atom::Unit,
        };
        let body = self.b.close(vec![sum]);
        let inputs = vec![value, more.clone()];
        self.each(len, inputs, Vec::new(), body, &[("sums".into(), ty)]).remove(0)
    }

    /// Value and tangent of a function that records what a function value gives, whose tangent is another one.
    pub(crate) fn recorded_given(
        &mut self,
        key: &Key,
        given: &[Atom],
        args: &[Atom],
        tangents: &[Atom],
    ) -> Vec<Atom> {
        let results = self.ad.jvp_results(key, 1);
        let (Some(Plus { func, at }), [other]) = (self.ad.plus(key.0), given) else {
            return self.fail(&results, BEYOND);
        };
        let mut all = args.to_vec();
        let mut active = key.1.clone();
        if let Some(first) = active.first_mut() {
            *first = false;
        }
        let (at, before) = (at.min(all.len()), active.iter().take(at).filter(|active| **active).count());
        all.splice(at..at, [other.clone(), Atom::Real(0.0)]);
        active.splice(at..at, [false, true]);
        let mut dots = tangents.to_vec();
        let before = before.min(dots.len());
        dots.insert(before, Atom::Real(1.0));
        let (values, dots) = self.call_jvp(&(func, active), &all, &dots);
        let reach = self.ad.varying_results(key.0, &key.1);
        let mut all = values.clone();
        for ((value, dot), varies) in values.iter().zip(dots).zip(reach) {
            let ty = self.b.type_of(value);
            if varies && self.ad.tangent(ty).is_some() {
                all.push(match dot {
                    Some(dot) => dot,
                    None => self.zero(Some(value), ty),
                });
            }
        }
        all
    }

    /// The same, whose tangent is a sum.
    pub(crate) fn recorded_sum(&mut self, key: &Key) -> Vec<Atom> {
        let results = self.ad.jvp_results(key, 1);
        self.fail(&results, BEYOND)
    }
}
