//! Values as vectors: `zero`, `add`, `scale`, `inner`, `ravel`, `unravel`, and the pairing of `apply_dual`.
//!
//! They work on the reals in a value, and carry everything else along. `zero`, `add` and `scale` are in `leaves`; the others go
//! through a value from left to right, with a place or a sum so far. For a declared type each operation is a function.

#![expect(clippy::wildcard_enum_match_arm, reason = "each function names the operations that it treats")]

use crate::arrays::Plan;
use crate::context::{Key, Lower, Vector};
use crate::tree::{DataIx, Node, Type};
use rustc_hash::FxHashSet;
use wengert_base::{Name, Span};
use wengert_ir::op::{ArrayOp, Atom, IntOp, Mode, Op, Requirement};
use wengert_ir::program::FuncId;
use wengert_ir::ty::{Elem, Ty};
use wengert_prim::{Prim, RealOp};

impl Lower<'_> {
    /// A primitive of the chapter on vectors.
    pub(crate) fn vector(&mut self, prim: Prim, args: &[Node], ty: &Type) -> Vec<Atom> {
        let of = args.last().map_or_else(Type::unit, |arg| arg.ty.clone());
        let values: Vec<Vec<Atom>> = args.iter().map(|arg| self.term(arg)).collect();
        match (prim, values.as_slice()) {
            (Prim::VecZero, [_]) => self.vector_call(Vector::Zero, ty, values),
            (Prim::VecAdd, [_, _]) => self.vector_call(Vector::Add, ty, values),
            (Prim::VecScale, [_, _]) => self.vector_call(Vector::Scale, ty, values),
            (Prim::VecInner, [x, y]) => vec![self.products(Vector::Inner, &of, x.clone(), y.clone())],
            (Prim::Ravel, [x]) => vec![self.ravel(&of, x.clone())],
            (Prim::Unravel, [x, reals]) => self.unravel(ty, x.clone(), reals.clone()),
            _ => Vec::new(),
        }
    }

    /// The pairing of a cotangent and a tangent of a first-order type.
    pub(crate) fn pairing(&mut self, ty: &Type, w: Vec<Atom>, v: Vec<Atom>) -> Atom {
        self.products(Vector::Pair, ty, w, v)
    }

    /// Whether there are reals in values of the type.
    pub(crate) fn holds_reals(&self, ty: &Type) -> bool {
        let mut todo = vec![ty.clone()];
        let mut seen: FxHashSet<DataIx> = FxHashSet::default();
        while let Some(ty) = todo.pop() {
            match ty {
                Type::Real => return true,
                Type::Int | Type::Bool | Type::Text | Type::Fun(..) => {}
                Type::Tuple(items) => todo.extend(items.iter().cloned()),
                Type::Array(of) | Type::Dual(of) => todo.push(of.as_ref().clone()),
                Type::Data(ix) => {
                    if seen.insert(ix) {
                        let ctors = &self.tree.data.at(ix).ctors;
                        todo.extend(ctors.iter().flat_map(|(_, fields)| fields.iter().cloned()));
                    }
                }
            }
        }
        false
    }

    // inner, pairing: a sum from left to right.

    fn products(&mut self, op: Vector, ty: &Type, x: Vec<Atom>, y: Vec<Atom>) -> Atom {
        self.accumulate(op, ty, None, x, y).unwrap_or(Atom::Real(0.0))
    }

    /// The sum so far with the products of two values.
    fn accumulate(
        &mut self,
        op: Vector,
        ty: &Type,
        sum: Option<Atom>,
        mut x: Vec<Atom>,
        mut y: Vec<Atom>,
    ) -> Option<Atom> {
        match ty {
            Type::Int | Type::Bool | Type::Text | Type::Fun(..) => sum,
            Type::Real => {
                let (x, y) = (x.pop().unwrap_or(Atom::Unit), y.pop().unwrap_or(Atom::Unit));
                let times = if op == Vector::Pair { RealOp::MulZero } else { RealOp::Mul };
                let product = self.real(times, vec![x, y]);
                Some(match sum {
                    Some(sum) => self.real(RealOp::Add, vec![sum, product]),
                    None => product,
                })
            }
            Type::Tuple(items) => {
                let parts = self.split(items, x).into_iter().zip(self.split(items, y));
                items.iter().zip(parts).fold(sum, |sum, (item, (x, y))| self.accumulate(op, item, sum, x, y))
            }
            Type::Dual(of) => self.accumulate(op, of, sum, x, y),
            Type::Array(elem) => self.accumulate_rows(op, elem, sum, x, y),
            Type::Data(_) => {
                let name = Name::new(operation_name(op));
                let func = self.request(Key::Vector(op, ty.clone()), Type::unit(), name, vec![Ty::REAL]);
                let sum = sum.unwrap_or(Atom::Real(0.0));
                self.call(func, std::iter::once(sum).chain(x).chain(y).collect()).pop()
            }
        }
    }

    fn accumulate_rows(
        &mut self,
        op: Vector,
        elem: &Type,
        sum: Option<Atom>,
        mut x: Vec<Atom>,
        mut y: Vec<Atom>,
    ) -> Option<Atom> {
        let (m, n) = (self.length(&x), self.length(&y));
        self.require(Requirement::Shape(Name::new(operation_name(op))), m.clone(), n);
        if !self.holds_reals(elem) {
            return sum;
        }
        if *elem == Type::Real && op == Vector::Inner && sum.is_none() {
            x.append(&mut y);
            return Some(self.array_op(ArrayOp::Dot, x, Ty::REAL));
        }
        let count = x.len();
        x.append(&mut y);
        let init = vec![sum.unwrap_or(Atom::Real(0.0))];
        let plan = Plan { mode: Mode::Sequence, len: m, inputs: x, init, outputs: Vec::new() };
        self.repeat(plan, |lower, mut round| {
            let y = round.rows.split_off(count);
            let (x, y) = (lower.unpacked(elem, round.rows), lower.unpacked(elem, y));
            let sum = lower.accumulate(op, elem, round.carried.pop(), x, y);
            (sum.into_iter().collect(), Vec::new())
        })
        .pop()
    }

    // ravel, unravel: a place that moves from left to right.

    /// How many reals there are.
    fn count(&mut self, ty: &Type, mut x: Vec<Atom>) -> Atom {
        if !self.holds_reals(ty) {
            return Atom::Int(0);
        }
        match ty {
            Type::Int | Type::Bool | Type::Text | Type::Fun(..) => Atom::Int(0),
            Type::Real => Atom::Int(1),
            Type::Dual(of) => self.count(of, x),
            Type::Tuple(items) => {
                let parts = self.split(items, x);
                items.iter().zip(parts).fold(Atom::Int(0), |sum, (item, part)| {
                    let more = self.count(item, part);
                    self.plus(sum, more)
                })
            }
            Type::Array(elem) => {
                let len = self.length(&x);
                if let Some(each) = fixed_count(elem) {
                    return if each == 1 { len } else { self.int(IntOp::Mul, vec![len, Atom::Int(each)]) };
                }
                let init = vec![Atom::Int(0)];
                let plan = Plan { mode: Mode::Sequence, len, inputs: x, init, outputs: Vec::new() };
                let mut count = self.repeat(plan, |lower, mut round| {
                    let row = lower.unpacked(elem, round.rows);
                    let more = lower.count(elem, row);
                    let sum = round.carried.pop().unwrap_or(Atom::Int(0));
                    (vec![lower.plus(sum, more)], Vec::new())
                });
                count.pop().unwrap_or(Atom::Int(0))
            }
            Type::Data(_) => {
                let key = Key::Vector(Vector::Count, ty.clone());
                let func = self.request(key, Type::unit(), Name::new("count_reals"), vec![Ty::INT]);
                let x = x.pop().unwrap_or(Atom::Unit);
                self.call(func, vec![x]).pop().unwrap_or(Atom::Unit)
            }
        }
    }

    fn plus(&mut self, a: Atom, b: Atom) -> Atom {
        match (a, b) {
            (Atom::Int(m), Atom::Int(n)) => Atom::Int(m + n),
            (Atom::Int(0), x) | (x, Atom::Int(0)) => x,
            (a, b) => self.int(IntOp::Add, vec![a, b]),
        }
    }

    fn ravel(&mut self, ty: &Type, x: Vec<Atom>) -> Atom {
        let reals = Ty::Array(Elem::Real, 1);
        if x.is_empty() || !self.holds_reals(ty) {
            return self.array_op(ArrayOp::Empty(Elem::Real, 1), Vec::new(), reals);
        }
        if x.iter().all(|atom| self.ty(atom) == Ty::REAL) {
            return self.array_op(ArrayOp::Literal, x, reals);
        }
        if let [only] = x.as_slice()
            && let Ty::Array(Elem::Real, rank) = self.ty(only)
        {
            return if rank == 1 { only.clone() } else { self.array_op(ArrayOp::Ravel, x, reals) };
        }
        let count = self.count(ty, x.clone());
        let empty = self.array_op(ArrayOp::Replicate, vec![count, Atom::Real(0.0)], reals);
        self.fill(ty, x, empty, Atom::Int(0)).0
    }

    /// The array with the reals of a value from a place on, and the place after them.
    fn fill(&mut self, ty: &Type, mut x: Vec<Atom>, out: Atom, at: Atom) -> (Atom, Atom) {
        let reals = Ty::Array(Elem::Real, 1);
        if !self.holds_reals(ty) {
            return (out, at);
        }
        match ty {
            Type::Int | Type::Bool | Type::Text | Type::Fun(..) => (out, at),
            Type::Real => {
                let x = x.pop().unwrap_or(Atom::Unit);
                let out = self.array_op(ArrayOp::Set, vec![out, at.clone(), x], reals);
                (out, self.plus(at, Atom::Int(1)))
            }
            Type::Dual(of) => self.fill(of, x, out, at),
            Type::Tuple(items) => {
                let parts = self.split(items, x);
                items.iter().zip(parts).fold((out, at), |(out, at), (item, x)| self.fill(item, x, out, at))
            }
            Type::Array(elem) => {
                let len = self.length(&x);
                let init = vec![out, at];
                let plan = Plan { mode: Mode::Sequence, len, inputs: x, init, outputs: Vec::new() };
                let done = self.repeat(plan, |lower, round| {
                    let (out, at) = two(round.carried);
                    let row = lower.unpacked(elem, round.rows);
                    let (out, at) = lower.fill(elem, row, out, at);
                    (vec![out, at], Vec::new())
                });
                two(done)
            }
            Type::Data(_) => {
                let key = Key::Vector(Vector::Fill, ty.clone());
                let func = self.request(key, Type::unit(), Name::new("fill_reals"), vec![reals, Ty::INT]);
                x.extend([out, at]);
                two(self.call(func, x))
            }
        }
    }

    fn unravel(&mut self, ty: &Type, x: Vec<Atom>, reals: Vec<Atom>) -> Vec<Atom> {
        let reals = reals.into_iter().next().unwrap_or(Atom::Unit);
        let given = self.length(std::slice::from_ref(&reals));
        let holds = self.count(ty, x.clone());
        self.require(Requirement::Reals(Name::new("unravel")), holds, given);
        if let [only] = x.as_slice()
            && let own @ Ty::Array(Elem::Real, rank) = self.ty(only)
        {
            return vec![match rank {
                1 => reals,
                _ => self.array_op(ArrayOp::Reshape, vec![reals, only.clone()], own),
            }];
        }
        self.take(ty, x, &reals, Atom::Int(0)).0
    }

    /// The value with the reals from a place on, and the place after them.
    fn take(&mut self, ty: &Type, mut x: Vec<Atom>, reals: &Atom, at: Atom) -> (Vec<Atom>, Atom) {
        if !self.holds_reals(ty) {
            return (x, at);
        }
        match ty {
            Type::Int | Type::Bool | Type::Text | Type::Fun(..) => (x, at),
            Type::Real => {
                let x = self.array_op(ArrayOp::Index, vec![reals.clone(), at.clone()], Ty::REAL);
                (vec![x], self.plus(at, Atom::Int(1)))
            }
            Type::Dual(of) => self.take(of, x, reals, at),
            Type::Tuple(items) => {
                let parts = self.split(items, x);
                let mut taken = Vec::new();
                let mut at = at;
                for (item, part) in items.iter().zip(parts) {
                    let (values, next) = self.take(item, part, reals, at);
                    taken.extend(values);
                    at = next;
                }
                (taken, at)
            }
            Type::Array(elem) => {
                let len = self.length(&x);
                let outputs = self.rows(elem);
                let plan = Plan { mode: Mode::Sequence, len, inputs: x, init: vec![at], outputs };
                let mut done = self.repeat(plan, |lower, mut round| {
                    let at = round.carried.pop().unwrap_or(Atom::Int(0));
                    let row = lower.unpacked(elem, round.rows);
                    let (row, at) = lower.take(elem, row, reals, at);
                    (vec![at], lower.packed(elem, row))
                });
                let at = done.remove(0);
                (done, at)
            }
            Type::Data(_) => {
                let key = Key::Vector(Vector::Take, ty.clone());
                let mut types = self.flat(ty);
                types.push(Ty::INT);
                let func = self.request(key, Type::unit(), Name::new("take_reals"), types);
                x.extend([reals.clone(), at]);
                let mut taken = self.call(func, x);
                let at = taken.pop().unwrap_or(Atom::Int(0));
                (taken, at)
            }
        }
    }

    // The functions of declared types.

    /// Makes the function of an operation for a declared type.
    pub(crate) fn make_vector(&mut self, id: FuncId, op: Vector, ty: &Type) {
        let Type::Data(ix) = ty else { return };
        let own = Ty::Scalar(Elem::Data(self.data(*ix)));
        let reals = Ty::Array(Elem::Real, 1);
        let params: &[(&str, Ty)] = match op {
            Vector::Zero | Vector::Count => &[("x", own)],
            Vector::Add => &[("x", own), ("y", own)],
            Vector::Scale => &[("factor", Ty::REAL), ("x", own)],
            Vector::Inner | Vector::Pair => &[("sum", Ty::REAL), ("x", own), ("y", own)],
            Vector::Fill => &[("x", own), ("reals", reals), ("at", Ty::INT)],
            Vector::Take => &[("x", own), ("reals", reals), ("at", Ty::INT)],
        };
        let params: Vec<(Name, Ty)> = params.iter().map(|(name, ty)| (Name::new(name), *ty)).collect();
        self.define(id, Span::NOWHERE, &params, |lower, atoms| match op {
            Vector::Add | Vector::Inner | Vector::Pair => lower.two_values(op, *ix, own, atoms),
            Vector::Zero | Vector::Scale | Vector::Count | Vector::Fill | Vector::Take => {
                lower.one_value(op, *ix, own, atoms)
            }
        });
    }

    fn one_value(&mut self, op: Vector, ix: DataIx, own: Ty, atoms: Vec<Atom>) -> Vec<Atom> {
        let mut atoms = atoms.into_iter();
        let factor = if op == Vector::Scale { atoms.next() } else { None };
        let on = atoms.next().unwrap_or(Atom::Unit);
        let rest: Vec<Atom> = atoms.collect();
        let reals = Ty::Array(Elem::Real, 1);
        let results: &[Ty] = match op {
            Vector::Count => &[Ty::INT],
            Vector::Fill => &[reals, Ty::INT],
            Vector::Take => &[own, Ty::INT],
            _ => &[own],
        };
        let arms = self.arms(ix, "x", |lower, ctor, fields| {
            let tuple = Type::Tuple(lower.field_types(ix, ctor).into());
            let index = u32::try_from(ctor).unwrap_or(u32::MAX);
            match op {
                Vector::Count => vec![lower.count(&tuple, fields)],
                Vector::Fill => {
                    let (out, at) = two(rest.clone());
                    let (out, at) = lower.fill(&tuple, fields, out, at);
                    vec![out, at]
                }
                Vector::Take => {
                    let (reals, at) = two(rest.clone());
                    let (fields, at) = lower.take(&tuple, fields, &reals, at);
                    let mut value = lower.construct(&Type::Data(ix), index, fields);
                    value.push(at);
                    value
                }
                _ => {
                    let args = factor.iter().map(|factor| vec![factor.clone()]).chain([fields]).collect();
                    let fields = lower.vector_call(op, &tuple, args);
                    lower.construct(&Type::Data(ix), index, fields)
                }
            }
        });
        self.emit(Op::Match { on, arms }, results)
    }

    fn two_values(&mut self, op: Vector, ix: DataIx, own: Ty, mut atoms: Vec<Atom>) -> Vec<Atom> {
        let y = atoms.pop().unwrap_or(Atom::Unit);
        let x = atoms.pop().unwrap_or(Atom::Unit);
        let sum = atoms.pop();
        let result = if op == Vector::Add { own } else { Ty::REAL };
        let Ty::Scalar(Elem::Data(data)) = own else { return Vec::new() };
        let what = Requirement::SameCtor(Name::new(operation_name(op)), data);
        let number = |index: usize| Atom::Int(i64::try_from(index).unwrap_or(i64::MAX));
        let outer = self.arms(ix, "x", |lower, ctor, own_fields| {
            let tuple = Type::Tuple(lower.field_types(ix, ctor).into());
            let index = u32::try_from(ctor).unwrap_or(u32::MAX);
            let inner = lower.arms(ix, "y", |lower, other, fields| {
                if other != ctor {
                    lower.require(what, number(ctor), number(other));
                    return vec![if op == Vector::Add { x.clone() } else { Atom::Real(0.0) }];
                }
                if op == Vector::Add {
                    let args = vec![own_fields.clone(), fields];
                    let fields = lower.vector_call(op, &tuple, args);
                    return lower.construct(&Type::Data(ix), index, fields);
                }
                lower.accumulate(op, &tuple, sum.clone(), own_fields.clone(), fields).into_iter().collect()
            });
            lower.emit(Op::Match { on: y.clone(), arms: inner }, &[result])
        });
        self.emit(Op::Match { on: x.clone(), arms: outer }, &[result])
    }
}

/// The operation's name in messages.
fn operation_name(op: Vector) -> &'static str {
    match op {
        Vector::Zero => "zero",
        Vector::Add => "add",
        Vector::Scale => "scale",
        Vector::Inner => "inner",
        Vector::Pair => "apply_dual",
        Vector::Count | Vector::Fill => "ravel",
        Vector::Take => "unravel",
    }
}

/// How many reals every value of the type holds, if that does not depend on the value.
fn fixed_count(ty: &Type) -> Option<i64> {
    match ty {
        Type::Real => Some(1),
        Type::Int | Type::Bool | Type::Text | Type::Fun(..) => Some(0),
        Type::Dual(of) => fixed_count(of),
        Type::Tuple(items) => items.iter().map(fixed_count).sum(),
        Type::Array(_) | Type::Data(_) => None,
    }
}

fn two(atoms: Vec<Atom>) -> (Atom, Atom) {
    let mut atoms = atoms.into_iter();
    (atoms.next().unwrap_or(Atom::Unit), atoms.next().unwrap_or(Atom::Unit))
}
