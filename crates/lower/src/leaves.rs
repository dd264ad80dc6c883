//! `zero`, `add` and `scale`, leaf by leaf.
//!
//! `zero` treats each array of an array of tuples by itself. `add` and `scale` go through such arrays element by element, as the
//! interpreter does: what uses one number several times adds to its cotangent in the order of the elements.

#![expect(clippy::wildcard_enum_match_arm, reason = "each function names the operations that it treats")]

use crate::arrays::Plan;
use crate::context::{Key, Lower, Vector};
use crate::tree::{DataIx, Type};
use wengert_base::Name;
use wengert_ir::op::{ArrayOp, Atom, Mode, Op, Requirement};
use wengert_ir::ty::{DataId, Elem, Ty};
use wengert_prim::RealOp;

impl Lower<'_> {
    /// `zero`, `add` or `scale` of values of a type; the last argument but the factor first.
    pub(crate) fn vector_call(&mut self, op: Vector, ty: &Type, mut args: Vec<Vec<Atom>>) -> Vec<Atom> {
        let last = args.pop().unwrap_or_default();
        self.leaf_by_leaf(op, ty, args.pop(), last)
    }

    fn leaf_by_leaf(
        &mut self,
        op: Vector,
        ty: &Type,
        first: Option<Vec<Atom>>,
        last: Vec<Atom>,
    ) -> Vec<Atom> {
        match ty {
            Type::Tuple(items) => {
                let others: Vec<Option<Vec<Atom>>> = match (op, first) {
                    (Vector::Add, Some(first)) => self.split(items, first).into_iter().map(Some).collect(),
                    (_, first) => vec![first; items.len()],
                };
                let parts = self.split(items, last).into_iter().zip(others);
                let parts: Vec<_> = items.iter().zip(parts).collect();
                parts
                    .into_iter()
                    .flat_map(|(item, (last, first))| self.leaf_by_leaf(op, item, first, last))
                    .collect()
            }
            Type::Array(elem) if op != Vector::Zero && self.has_several_reals(elem) => {
                self.element_by_element(op, elem, first, last)
            }
            _ => {
                let ixs = self.data_types(ty);
                let mut results = Vec::with_capacity(last.len());
                for (place, value) in last.into_iter().enumerate() {
                    let other = first.as_ref().and_then(|first| match op {
                        Vector::Scale => first.first().cloned(),
                        _ => first.get(place).cloned(),
                    });
                    let ix = ixs.get(place).copied().flatten();
                    results.push(self.component(op, ix, other, value));
                }
                results
            }
        }
    }

    /// Whether elements of the type are several values with reals in them: then arrays of them are several arrays.
    fn has_several_reals(&self, elem: &Type) -> bool {
        fn parts<'t>(ty: &'t Type, into: &mut Vec<&'t Type>) {
            match ty {
                Type::Tuple(items) => items.iter().for_each(|item| parts(item, into)),
                Type::Array(of) | Type::Dual(of) => parts(of, into),
                _ => into.push(ty),
            }
        }
        let mut all = Vec::new();
        parts(elem, &mut all);
        all.into_iter().filter(|part| self.holds_reals(part)).nth(1).is_some()
    }

    fn element_by_element(
        &mut self,
        op: Vector,
        elem: &Type,
        first: Option<Vec<Atom>>,
        last: Vec<Atom>,
    ) -> Vec<Atom> {
        let len = self.length(&last);
        let (factor, mut inputs) = match (op, first) {
            (Vector::Add, Some(first)) => {
                let other = self.length(&first);
                self.require(Requirement::Shape(Name::new("add")), other, len.clone());
                (None, first)
            }
            (_, first) => (first, Vec::new()),
        };
        let count = inputs.len();
        inputs.extend(last);
        let outputs = self.rows(elem);
        let plan = Plan { mode: Mode::Each, len, inputs, init: Vec::new(), outputs };
        self.repeat(plan, |lower, mut round| {
            let last = round.rows.split_off(count);
            let last = lower.unpacked(elem, last);
            let first = match op {
                Vector::Add => Some(lower.unpacked(elem, round.rows)),
                _ => factor,
            };
            let made = lower.leaf_by_leaf(op, elem, first, last);
            (Vec::new(), lower.packed(elem, made))
        })
    }

    /// For each value of a flattened type, the declared type that it (or its elements) belong to.
    fn data_types(&self, ty: &Type) -> Vec<Option<DataIx>> {
        match ty {
            Type::Tuple(items) => items.iter().flat_map(|item| self.data_types(item)).collect(),
            Type::Array(of) => {
                let mut rows = self.data_types(of);
                if rows.is_empty() {
                    rows.push(None);
                }
                rows
            }
            Type::Dual(of) => self.data_types(of),
            Type::Data(ix) => vec![Some(*ix)],
            Type::Real | Type::Int | Type::Bool | Type::Text | Type::Fun(..) => vec![None],
        }
    }

    fn component(&mut self, op: Vector, ix: Option<DataIx>, first: Option<Atom>, x: Atom) -> Atom {
        match self.ty(&x) {
            Ty::Scalar(Elem::Real) => match (op, first) {
                (Vector::Add, Some(y)) => self.real(RealOp::Add, vec![y, x]),
                (Vector::Scale, Some(factor)) => self.real(RealOp::Mul, vec![factor, x]),
                _ => Atom::Real(0.0),
            },
            // Of two, what is not real is taken from the first.
            Ty::Scalar(Elem::Int | Elem::Bool | Elem::Text | Elem::Unit) => match (op, first) {
                (Vector::Add, Some(y)) => y,
                _ => x,
            },
            Ty::Scalar(Elem::Data(data)) => match (self.array_in(data), ix) {
                (Some(array), _) => self.boxed_vector(op, ix, first, x, (data, array)),
                (None, Some(ix)) => self.data_vector(op, ix, first, x),
                (None, None) => x,
            },
            ty @ Ty::Array(elem, rank) => {
                if let (Vector::Add, Some(y)) = (op, &first) {
                    self.check_shape("add", y, &x, rank);
                }
                match (elem, op, first) {
                    (Elem::Real, Vector::Zero, _) => self.array_op(ArrayOp::Zeros, vec![x], ty),
                    (Elem::Real, Vector::Add, Some(y)) => self.array_op(ArrayOp::Add, vec![y, x], ty),
                    (Elem::Real | Elem::Data(_), _, first) => self.elementwise(op, ix, first, x),
                    (_, Vector::Add, Some(y)) => y,
                    _ => x,
                }
            }
        }
    }

    /// The operation on what is in a box.
    fn boxed_vector(
        &mut self,
        op: Vector,
        ix: Option<DataIx>,
        first: Option<Atom>,
        x: Atom,
        (data, array): (DataId, Ty),
    ) -> Atom {
        let first = match op {
            Vector::Add => first.map(|first| self.opened(first, array)),
            _ => first,
        };
        let x = self.opened(x, array);
        let made = self.component(op, ix, first, x);
        self.one(Op::Make { data, ctor: 0, fields: vec![made] }, Ty::Scalar(Elem::Data(data)))
    }

    /// What the objects of a type hold, if they are boxes around arrays.
    fn array_in(&self, data: DataId) -> Option<Ty> {
        self.boxes.iter().find(|(_, known)| **known == data).map(|(array, _)| *array)
    }

    /// Fails unless point and tangent agree in all sizes.
    fn check_shape(&mut self, operation: &str, point: &Atom, tangent: &Atom, rank: u8) {
        for axis in 0..rank {
            let length = |lower: &mut Self, array: &Atom| {
                lower.one(Op::Array(ArrayOp::Length(axis), vec![array.clone()]), Ty::INT)
            };
            let (m, n) = (length(self, point), length(self, tangent));
            self.require(Requirement::Shape(Name::new(operation)), m, n);
        }
    }

    /// The operation on each element of an array with any number of axes.
    fn elementwise(&mut self, op: Vector, ix: Option<DataIx>, first: Option<Atom>, x: Atom) -> Atom {
        let ty = self.ty(&x);
        let one_axis = Ty::Array(ty.elem(), 1);
        let mut inputs = Vec::new();
        for array in first.iter().filter(|_| op == Vector::Add).chain([&x]) {
            let flat = ty.rank() == 1;
            inputs.push(if flat {
                array.clone()
            } else {
                self.array_op(ArrayOp::Ravel, vec![array.clone()], one_axis)
            });
        }
        let len = self.length(&inputs);
        let outputs = vec![Ty::Scalar(ty.elem())];
        let plan = Plan { mode: Mode::Each, len, inputs, init: Vec::new(), outputs };
        let mut done = self.repeat(plan, |lower, mut round| {
            let last = round.rows.pop().unwrap_or(Atom::Unit);
            let other = if op == Vector::Scale { first } else { round.rows.pop() };
            (Vec::new(), vec![lower.component(op, ix, other, last)])
        });
        let done = done.pop().unwrap_or(Atom::Unit);
        if ty.rank() == 1 { done } else { self.array_op(ArrayOp::Reshape, vec![done, x], ty) }
    }

    fn data_vector(&mut self, op: Vector, ix: DataIx, first: Option<Atom>, x: Atom) -> Atom {
        let ty = self.ty(&x);
        if !self.holds_reals(&Type::Data(ix)) && op != Vector::Add {
            return x;
        }
        let name = match op {
            Vector::Zero => "zero",
            Vector::Add => "add",
            _ => "scale",
        };
        let func = self.request(Key::Vector(op, Type::Data(ix)), Type::unit(), Name::new(name), vec![ty]);
        self.call(func, first.into_iter().chain([x]).collect()).pop().unwrap_or(Atom::Unit)
    }
}
