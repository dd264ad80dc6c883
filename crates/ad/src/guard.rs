//! Rules of the user's own are not run for a tangent, or a cotangent, that is zero: what they would give is zero, whatever slope they
//! multiply it with.
//!
//! ```text
//! func guarded_rule(x, y, x') { if x' == 0 { 0 } else { rule(x, y, x') } }
//! ```
//!
//! That holds for derivatives too. Where the tangent that is asked about varies, it is zero only if its own tangent is zero as well:
//! otherwise the derivative by it would be zero where it is the rule. So derivatives of such a function are made of the function that it
//! guards, and guarded in turn:
//!
//! ```text
//! func jvp_guarded_rule(x, y, x', dx') { if x' == 0 && dx' == 0 { 0, 0 } else { jvp_rule(x, y, x', dx') } }
//! ```
//!
//! In reverse mode a tangent that varies is not zero, whatever its value. Whether it does, its place on the tape tells where there is one,
//! and a mark where there is none ([`crate::record`]). Where derivatives are taken with respect to functions there are no marks, and what
//! may vary is never taken for zero.

use crate::types::{Helper, ZERO};
use crate::{Ad, Code, Key};
use wengert_ir::op::{ArrayOp, Atom, Block, Compare, IntOp, Op, Stmt, While};
use wengert_ir::program::{FuncId, VarInfo};
use wengert_ir::ty::{DataId, Elem, Ty};

/// Where a zero has its shape from.
#[derive(Clone, Copy, Debug)]
enum Like {
    /// The parameter that is the point of the tangent.
    Param(usize),
    /// The result whose tangent it is.
    Result(usize),
    /// The same of long series, with the parameter that is their order.
    LongParam(usize, usize),
    LongResult(usize, usize),
}

/// A function that gives zeros if tangents that it is given are zero, and is another one otherwise.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    /// The other one.
    itself: FuncId,
    /// Which parameters are these tangents.
    tangents: Vec<bool>,
    /// For each result.
    zeros: Vec<Like>,
}

impl Ad {
    /// The function that is to be linearized: what is guarded itself, if the tangents that are asked about vary.
    pub(crate) fn unguarded(&self, key: Key) -> Key {
        match self.guards.get(&key.0) {
            Some(guard) if guard.tangents.iter().zip(&key.1).any(|(tangent, active)| *tangent && *active) => {
                self.unguarded((guard.itself, key.1))
            }
            Some(_) | None => key,
        }
    }

    /// The function without its guard.
    pub(crate) fn within(&self, func: FuncId) -> FuncId {
        self.guards.get(&func).map_or(func, |guard| guard.itself)
    }

    /// Value and tangents of a guarded function up to an order, from tangents up to the order `given`; `id` is its number.
    pub(crate) fn series_of_guard(&mut self, id: FuncId, key: &Key, given: usize, orders: usize) -> bool {
        let Some(Guard { itself, mut tangents, mut zeros }) = self.guards.get(&key.0).cloned() else {
            return false;
        };
        let reach = self.varying_results(key.0, &key.1);
        let inner = (itself, key.1.clone());
        let inner = if self.is_long() {
            self.long_function(&inner)
        } else {
            self.series_function(&inner, given, orders)
        };
        let more: Vec<bool> =
            tangents.iter().zip(&key.1).filter(|(_, active)| **active).map(|(tangent, _)| *tangent).collect();
        (0..given).for_each(|_| tangents.extend(&more));
        // The order comes last.
        let order = self.is_long().then_some(tangents.len());
        tangents.extend(order.map(|_| false));
        let like = |i: usize| order.map_or(Like::Result(i), |order| Like::LongResult(i, order));
        let varying: Vec<Like> =
            reach.iter().enumerate().filter(|(_, active)| **active).map(|(i, _)| like(i)).collect();
        (0..orders).for_each(|_| zeros.extend(&varying));
        self.make_guard(id, Guard { itself: inner, tangents, zeros });
        true
    }

    fn make_guard(&mut self, id: FuncId, guard: Guard) {
        let inner = self.program.funcs.at(guard.itself);
        let (name, results, span) = (inner.name, inner.results.clone(), inner.span);
        let params: Vec<VarInfo> = inner.body.params.iter().map(|var| *inner.vars.at(*var)).collect();
        let mut code = Code::new(self, &format!("guarded_{name}"));
        code.b.set_func_span(span);
        let params: Vec<Atom> =
            params.into_iter().map(|VarInfo { name, ty }| code.b.param(name, ty)).collect();
        let tangents = params.iter().zip(&guard.tangents).filter(|(_, tangent)| **tangent);
        let tangents: Vec<Atom> = tangents.map(|(param, _)| param.clone()).collect();
        let cond = code.all_zero(&tangents);
        code.b.open();
        let mut zeros: Vec<Atom> = Vec::new();
        for like in &guard.zeros {
            let (point, order) = match like {
                Like::Param(i) => (params.get(*i), None),
                Like::Result(i) => (zeros.get(*i), None),
                Like::LongParam(i, order) => (params.get(*i), params.get(*order)),
                Like::LongResult(i, order) => (zeros.get(*i), params.get(*order)),
            };
            let point = point.cloned().unwrap_or(Atom::Unit);
            let ty = code.b.type_of(&point);
            code.order = order.cloned();
            zeros.push(code.switched(order.is_some(), |code| code.zero(Some(&point), ty)));
        }
        let then = code.b.close(zeros);
        code.b.open();
        let found = code.b.call(guard.itself, params, &results);
        let otherwise = code.b.close(found);
        let found = code.b.typed(&results, Op::If { cond, then, otherwise });
        let made = code.finish(found);
        *self.program.funcs.at_mut(id) = made;
        self.guards.insert(id, guard);
    }

    /// Makes the functions that tell whether tangents of a type are zero.
    pub(crate) fn make_tests(&mut self) {
        while let Some((id, ty)) = self.tests.pop() {
            let name = match ty {
                Ty::Scalar(Elem::Data(tangent)) => format!("is_zero_{}", self.program.data.at(tangent).name),
                Ty::Scalar(_) | Ty::Array(..) => "are_zero".to_owned(),
            };
            let mut code = Code::new(self, &name);
            let t = code.b.param("t".into(), ty);
            let zero = match ty {
                Ty::Scalar(Elem::Data(tangent)) => code.is_zero_by_case(&t, tangent),
                Ty::Array(Elem::Real, rank) if rank > 1 => {
                    let all = code.b.called("ts").array(ArrayOp::Ravel, [t]);
                    code.all_rows(&all, Code::is_zero)
                }
                Ty::Scalar(_) | Ty::Array(..) => code.all_rows(&t, Code::is_zero),
            };
            let made = code.finish(vec![zero]);
            *self.program.funcs.at_mut(id) = made;
        }
    }

    /// Whether a field of a tangent of a function holds a function instead of a tangent.
    fn is_given(&self, tangent: DataId, field: Ty) -> bool {
        let is_tangent_of = |of: &DataId| self.tangents.get(of) == Some(&Some(tangent));
        matches!(field, Ty::Scalar(Elem::Data(data)) if self.given.contains(&data) && is_tangent_of(&data))
    }

    fn test_function(&mut self, ty: Ty) -> FuncId {
        if let Some(known) = self.helpers.get(&Helper::IsZero(ty)) {
            return *known;
        }
        let id = self.reserve(vec![Ty::BOOL]);
        self.helpers.insert(Helper::IsZero(ty), id);
        self.zero_tests.insert(id);
        self.tests.push((id, ty));
        id
    }

    /// The function that tells whether a real is zero and nothing else, whatever it is differentiated by.
    fn real_test_function(&mut self) -> FuncId {
        if let Some(known) = self.helpers.get(&Helper::IsZero(Ty::REAL)) {
            return *known;
        }
        let mut code = Code::new(self, "exact_zero");
        let x = code.b.param("x".into(), Ty::REAL);
        let zero = code.b.called("zero").compare(Compare::Eq, x, Atom::Real(0.0));
        let func = code.finish(vec![zero]);
        let id = self.program.funcs.push(func);
        self.helpers.insert(Helper::IsZero(Ty::REAL), id);
        self.zero_tests.insert(id);
        id
    }

    /// What a statement asks about, whether it is zero and nothing else.
    pub(crate) fn exact_zero_of<'s>(&self, stmt: &'s Stmt) -> Option<&'s Atom> {
        let Op::Call { func, args, .. } = &stmt.op else { return None };
        if self.zero_tests.contains(func) { args.first() } else { None }
    }
}

impl Code<'_> {
    /// Code that is run only if some of these tangents are not zero: it is given what is `fixed`, then the tangents, and gives tangents at
    /// the `points`, which stand among what is fixed.
    pub(crate) fn guarded(
        &mut self,
        name: &str,
        fixed: &[Atom],
        tangents: &[Atom],
        points: &[usize],
        run: impl FnOnce(&mut Code<'_>, &[Atom], &[Atom]) -> Vec<Atom>,
    ) -> Vec<Atom> {
        let span = self.b.span();
        let all: Vec<Atom> = fixed.iter().chain(tangents).cloned().collect();
        let infos = all.iter().map(|atom| (self.b.name_of(atom).unwrap_or("x".into()), self.b.type_of(atom)));
        let infos: Vec<_> = infos.collect();
        let mut code = Code::new(self.ad, name);
        code.b.set_func_span(span);
        code.b.set_span(span);
        let params: Vec<Atom> = infos.into_iter().map(|(name, ty)| code.b.param(name, ty)).collect();
        let (fixed_there, tangents_there) = params.split_at(fixed.len());
        // What is given last where there are long series is the order.
        let order = code.ad.is_long().then(|| fixed.len().saturating_sub(1));
        code.order = order.and_then(|order| fixed_there.get(order)).cloned();
        let like = |i: usize| order.map_or(Like::Param(i), |order| Like::LongParam(i, order));
        let results = run(&mut code, fixed_there, tangents_there);
        let types: Vec<Ty> = results.iter().map(|result| code.b.type_of(result)).collect();
        let mut made = code.finish(results);
        made.results.clone_from(&types);
        let itself = self.ad.program.funcs.push(made);
        let id = self.ad.reserve(types.clone());
        let guard = Guard {
            itself,
            tangents: (0..all.len()).map(|i| i >= fixed.len()).collect(),
            zeros: points.iter().copied().map(like).collect(),
        };
        self.ad.make_guard(id, guard);
        self.b.call(id, all, &types)
    }

    /// Whether tangents are all zero and nothing else.
    fn all_zero(&mut self, tangents: &[Atom]) -> Atom {
        let zeros = tangents.iter().map(|tangent| self.is_zero(tangent)).collect();
        self.all_of(zeros)
    }

    /// Whether a number, or all numbers in a value, are zero and nothing else.
    pub(crate) fn is_zero(&mut self, x: &Atom) -> Atom {
        let func = match (x, self.b.type_of(x)) {
            (Atom::Real(x), _) => return Atom::Bool(*x == 0.0),
            (_, Ty::Scalar(Elem::Real)) => self.ad.real_test_function(),
            (_, Ty::Scalar(Elem::Int | Elem::Bool | Elem::Text | Elem::Unit)) => return Atom::Bool(true),
            (_, ty) => self.ad.test_function(ty),
        };
        self.b.called("zero").call(func, [x.clone()], &[Ty::BOOL]).remove(0)
    }

    /// Whether a tangent of this type is zero, by its constructor.
    fn is_zero_by_case(&mut self, t: &Atom, tangent: DataId) -> Atom {
        let ctors = self.ad.program.data.at(tangent).ctors.clone();
        let mut arms = Vec::new();
        for (i, ctor) in ctors.iter().enumerate() {
            self.b.open();
            let fields = self.field_params("t", &ctor.fields);
            // A function of the user's is no zero, whatever it gives.
            let given = ctor.fields.first().is_some_and(|ty| self.ad.is_given(tangent, *ty));
            let zero = if i == ZERO as usize {
                Atom::Bool(true)
            } else if given {
                Atom::Bool(false)
            } else {
                self.each_zero(&fields)
            };
            arms.push(self.b.close(vec![zero]));
        }
        self.b.called("zero").typed1(Ty::BOOL, Op::Match { on: t.clone(), arms })
    }

    /// Whether tangents are all zero; asks no more after the first that is not.
    fn each_zero(&mut self, tangents: &[Atom]) -> Atom {
        let mut asked: Option<Atom> = None;
        for tangent in tangents {
            asked = Some(match asked {
                None => self.is_zero(tangent),
                Some(cond) => {
                    self.b.open();
                    let zero = self.is_zero(tangent);
                    let then = self.b.close(vec![zero]);
                    let otherwise = Block { results: vec![Atom::Bool(false)], ..Block::default() };
                    self.b.called("zero").typed1(Ty::BOOL, Op::If { cond, then, otherwise })
                }
            });
        }
        asked.unwrap_or(Atom::Bool(true))
    }

    /// Whether something holds of all rows of an array: a loop to the first of which it does not.
    pub(crate) fn all_rows(&mut self, array: &Atom, holds: impl FnOnce(&mut Self, &Atom) -> Atom) -> Atom {
        let len = self.length(array);
        self.b.open();
        let i = self.b.param("i".into(), Ty::INT);
        let inside = self.b.compare(Compare::Lt, i.clone(), len.clone());
        self.b.open();
        let row = self.b.called("t").array(ArrayOp::Index, [array.clone(), i]);
        let holds = holds(self, &row);
        let then = self.b.close(vec![holds]);
        let otherwise = Block { results: vec![Atom::Bool(false)], ..Block::default() };
        let more = self.b.called("more").typed1(Ty::BOOL, Op::If { cond: inside, then, otherwise });
        let cond = self.b.close(vec![more]);
        self.b.open();
        let i = self.b.param("i".into(), Ty::INT);
        let next = self.b.int(IntOp::Add, [i, Atom::Int(1)]);
        let body = self.b.close(vec![next]);
        let parts = While { init: vec![Atom::Int(0)], cond, body };
        let i = self.b.called("i").typed1(Ty::INT, Op::While(Box::new(parts)));
        self.b.compare(Compare::Eq, i, len)
    }

    /// Whether all of these hold.
    pub(crate) fn all_of(&mut self, conditions: Vec<Atom>) -> Atom {
        let mut conditions = conditions.into_iter();
        let first = conditions.next().unwrap_or(Atom::Bool(true));
        conditions.fold(first, |all, next| self.b.called("zero").select(all, next, Atom::Bool(false)))
    }
}
