//! The rules of operations without blocks: arithmetic, constructors, and array operations, which move elements about and
//! so are their own derivatives.
//!
//! ```text
//! zs = concat xs ys        zs' = concat xs' ys'        transpose: slices of the cotangent
//! z = xs[i]                z' = xs'[i]                 transpose: added in place
//! s = sum xs               s' = sum xs'                transpose: added to every element
//! m = maximum xs           k = argmax xs;  m' = xs'[k]
//! ```
//!
//! [`Scope::straight`] appends an operation to the primal part, with what its derivative needs, and gives its linear
//! part. Sorting and choosing are gathering at places that are computed beside it.

#![expect(clippy::wildcard_enum_match_arm, reason = "operations that vary and have no blocks are named")]

use crate::linear::{Arg, Lin, Ref};
use crate::types::Helper;
use crate::{Code, activity, scalar};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::{ArrayOp, Atom, Compare, Convert, IntOp, Op, Stmt, Var};
use wengert_ir::program::FuncId;
use wengert_ir::ty::{Elem, Ty};
use wengert_prim::RealOp;

/// What is known of the variables of the primal part.
pub(crate) struct Scope<'a> {
    /// Those that vary.
    pub(crate) active: &'a FxHashSet<Var>,
    /// Those that have the tangent of something else.
    pub(crate) same: FxHashMap<Var, Ref>,
    /// Whether an element of an array is a place in its tangent.
    pub(crate) places: bool,
    /// Numbers that have a tangent of their own, though they are elements of an array.
    pub(crate) apart: FxHashSet<Var>,
}

/// Whether an array operation is linear in this operand (of `count`).
pub(crate) fn is_linear(op: ArrayOp, operand: usize, count: usize) -> bool {
    match op {
        ArrayOp::Literal
        | ArrayOp::Add
        | ArrayOp::Concat
        | ArrayOp::Flatten
        | ArrayOp::Reverse
        | ArrayOp::Sum
        | ArrayOp::Ravel => true,
        // Not linear, but their tangents come from these operands.
        ArrayOp::Product
        | ArrayOp::Dot
        | ArrayOp::MatVec
        | ArrayOp::MatMul
        | ArrayOp::AddProduct(_)
        | ArrayOp::Maximum
        | ArrayOp::Minimum
        | ArrayOp::Sort => true,
        ArrayOp::Set | ArrayOp::AddAt => operand == 0 || operand + 1 == count,
        ArrayOp::Replicate => operand == 1,
        ArrayOp::ScatterAdd => operand != 1,
        ArrayOp::Index
        | ArrayOp::Transpose
        | ArrayOp::UnflattenLike
        | ArrayOp::Slice
        | ArrayOp::Gather
        | ArrayOp::Filter
        | ArrayOp::Reshape => operand == 0,
        ArrayOp::Empty(..)
        | ArrayOp::Length(_)
        | ArrayOp::Zeros
        | ArrayOp::Iota
        | ArrayOp::ArgMax
        | ArrayOp::ArgMin
        | ArrayOp::ArgSort => false,
    }
}

/// Whether the transpose of a linear array operation needs the shapes of its operands.
pub(crate) fn transpose_needs_shape(op: ArrayOp) -> bool {
    matches!(
        op,
        ArrayOp::Index
            | ArrayOp::Slice
            | ArrayOp::Gather
            | ArrayOp::Flatten
            | ArrayOp::Transpose
            | ArrayOp::Ravel
            | ArrayOp::Replicate
            | ArrayOp::Sum
            | ArrayOp::Set
    )
}

impl Scope<'_> {
    /// The tangent of an operand, if it varies.
    pub(crate) fn of(&self, atom: &Atom) -> Option<Ref> {
        let var = atom.var()?;
        if let Some(known) = self.same.get(&var) {
            return Some(known.clone());
        }
        self.active.contains(&var).then_some(Ref::Var(var))
    }

    /// The tangent of an operand, zero if it does not vary.
    pub(crate) fn arg(&self, atom: &Atom) -> Arg {
        self.of(atom).map_or_else(|| Arg::Zero(atom.clone()), Arg::Linear)
    }

    /// Appends an operation without blocks to the primal part and gives its linear part.
    pub(crate) fn straight(&mut self, code: &mut Code<'_>, stmt: &Stmt) -> Vec<Lin> {
        code.b.set_span(stmt.span);
        let out = stmt.outs.iter().copied().find(|out| self.active.contains(out));
        let Some(out) = out else {
            code.b.push(stmt.clone());
            return Vec::new();
        };
        match &stmt.op {
            Op::Copy(x) => {
                code.b.push(stmt.clone());
                self.alias(out, self.of(x));
                Vec::new()
            }
            Op::Real(op, args) => {
                code.b.push(stmt.clone());
                let of: Vec<Option<Ref>> = args.iter().map(|arg| self.of(arg)).collect();
                let (terms, divisor) = scalar::form(code, *op, args, &Atom::Var(out), &of);
                self.form(code, out, terms, divisor)
            }
            Op::Power { base, exponent } => {
                code.b.push(stmt.clone());
                let coef = power_slope(code, base, exponent, out);
                self.scaled(out, base, coef)
            }
            Op::Polygamma { order, x } => {
                code.b.push(stmt.clone());
                let next = code.b.int(IntOp::Add, [order.clone(), Atom::Int(1)]);
                let op = Op::Polygamma { order: next, x: x.clone() };
                let coef = code.b.called("slope").typed1(Ty::REAL, op);
                self.scaled(out, x, coef)
            }
            Op::Make { data, ctor, fields } => {
                code.b.push(stmt.clone());
                let types = code.ad.fields(*data, *ctor);
                let varying = fields.iter().zip(types).filter(|(_, (_, tangent))| tangent.is_some());
                let fields = varying.map(|(field, _)| self.arg(field)).collect();
                vec![Lin::Make { out, data: *data, ctor: *ctor, fields }]
            }
            Op::Array(op, args) => self.array(code, stmt, out, *op, args),
            // What else varies has blocks or is a call; the rest has no tangents.
            _ => {
                code.b.push(stmt.clone());
                Vec::new()
            }
        }
    }

    /// A call of a function that adds tangents, or gives the fields of one: linear.
    pub(crate) fn helper(
        &mut self,
        code: &mut Code<'_>,
        stmt: &Stmt,
        func: FuncId,
        args: &[Atom],
    ) -> Vec<Lin> {
        code.b.push(stmt.clone());
        match (code.ad.linear_helpers.get(&func).copied(), args, stmt.outs.as_slice()) {
            (Some(Helper::Sum(_)), _, [out]) => {
                vec![Lin::Sum { out: *out, parts: args.iter().filter_map(|arg| self.of(arg)).collect() }]
            }
            (Some(Helper::Fields(data, ctor)), [whole, ..], outs) => {
                let Some(of) = self.of(whole) else { return Vec::new() };
                let tangent = code.ad.with_long(false, |ad| {
                    ad.whole_tangent(data).map(|of| (of, ad.tangent_ctor(data, ctor)))
                });
                let Some((data, ctor)) = tangent else { return Vec::new() };
                let arrays = outs.iter().filter(|var| code.b.func().ty(**var).rank() > 0);
                let like = arrays.map(|var| Atom::Var(*var)).collect();
                vec![Lin::Fields { of, data, ctor, outs: outs.to_vec(), like }]
            }
            (_, _, _) => Vec::new(),
        }
    }

    fn alias(&mut self, out: Var, of: Option<Ref>) {
        if let Some(of) = of {
            self.same.insert(out, of);
        }
    }

    fn form(
        &mut self,
        code: &mut Code<'_>,
        out: Var,
        terms: Vec<crate::linear::Term>,
        divisor: Option<Atom>,
    ) -> Vec<Lin> {
        if let ([term], None) = (&*terms, &divisor)
            && !term.negative
            && term.coef.is_none()
        {
            self.alias(out, Some(term.of.clone()));
            return Vec::new();
        }
        // Rules without terms belong to operations that do not vary.
        debug_assert!(!terms.is_empty(), "{}", code.name(out));
        vec![Lin::Form { out, terms, divisor }]
    }

    fn scaled(&mut self, out: Var, x: &Atom, coef: Atom) -> Vec<Lin> {
        let Some(of) = self.of(x) else { return Vec::new() };
        let term = crate::linear::Term { of, negative: false, coef: Some(coef) };
        vec![Lin::Form { out, terms: vec![term], divisor: None }]
    }

    fn array(&mut self, code: &mut Code<'_>, stmt: &Stmt, out: Var, op: ArrayOp, args: &[Atom]) -> Vec<Lin> {
        if let Some(lins) = self.product(code, stmt, out, op, args) {
            return lins;
        }
        match (op, args) {
            (ArrayOp::Maximum | ArrayOp::Minimum, [xs]) => {
                code.b.push(stmt.clone());
                let place = if op == ArrayOp::Maximum { ArrayOp::ArgMax } else { ArrayOp::ArgMin };
                let place = code.b.called("place").array(place, [xs.clone()]);
                self.element(out, xs, &[place], false)
            }
            (ArrayOp::Sort, [xs]) => {
                let places = code.b.called("places").array(ArrayOp::ArgSort, [xs.clone()]);
                self.gather(code, stmt, out, xs, places)
            }
            (ArrayOp::Filter, [xs, keep]) => {
                let n = code.length(xs);
                let all = code.b.called("places").array(ArrayOp::Iota, [n]);
                let places = code.b.called("places").array(ArrayOp::Filter, [all, keep.clone()]);
                self.gather(code, stmt, out, xs, places)
            }
            (ArrayOp::Index, [xs, indices @ ..]) => {
                code.b.push(stmt.clone());
                let data = matches!(code.b.type_of(xs).elem(), Elem::Data(_));
                self.element(out, xs, indices, data)
            }
            (ArrayOp::Concat, [xs, _]) => {
                code.b.push(stmt.clone());
                let n = code.length(xs);
                vec![self.linear_array(out, op, args, vec![n])]
            }
            (_, _) => {
                code.b.push(stmt.clone());
                vec![self.linear_array(out, op, args, Vec::new())]
            }
        }
    }

    fn linear_array(&self, out: Var, op: ArrayOp, args: &[Atom], extra: Vec<Atom>) -> Lin {
        let arg = |(i, atom): (usize, &Atom)| {
            if is_linear(op, i, args.len()) { self.arg(atom) } else { Arg::Fixed(atom.clone()) }
        };
        Lin::Array { out, op, args: args.iter().enumerate().map(arg).collect(), extra }
    }

    fn gather(&mut self, code: &mut Code<'_>, stmt: &Stmt, out: Var, xs: &Atom, places: Atom) -> Vec<Lin> {
        let args = [xs.clone(), places];
        code.b.push(Stmt { op: Op::Array(ArrayOp::Gather, args.to_vec()), ..stmt.clone() });
        vec![self.linear_array(out, ArrayOp::Gather, &args, Vec::new())]
    }

    /// An element or a row of an array.
    fn element(&mut self, out: Var, xs: &Atom, indices: &[Atom], data: bool) -> Vec<Lin> {
        if self.places && !data {
            let place = match self.of(xs) {
                Some(Ref::Var(array)) => Ref::At(array, indices.to_vec()),
                Some(Ref::At(array, outer)) => Ref::At(array, outer.iter().chain(indices).cloned().collect()),
                None => return Vec::new(),
            };
            if self.apart.contains(&out) {
                let term = crate::linear::Term { of: place, negative: false, coef: None };
                return vec![Lin::Form { out, terms: vec![term], divisor: None }];
            }
            self.alias(out, Some(place));
            return Vec::new();
        }
        let args: Vec<Atom> = std::iter::once(xs).chain(indices).cloned().collect();
        vec![self.linear_array(out, ArrayOp::Index, &args, Vec::new())]
    }

    /// Which of these vary.
    pub(crate) fn mask(&self, atoms: &[Atom]) -> Vec<bool> {
        atoms.iter().map(|atom| activity::varies(self.active, atom)).collect()
    }
}

/// The slope of `x ^ n`: `n x ^ (n - 1)`, and 0 for `n = 0`.
fn power_slope(code: &mut Code<'_>, base: &Atom, exponent: &Atom, out: Var) -> Atom {
    let less = code.b.int(IntOp::Sub, [exponent.clone(), Atom::Int(1)]);
    let op = Op::Power { base: base.clone(), exponent: less };
    let power = code.b.typed1(Ty::REAL, op);
    // One less than the smallest exponent is no exponent.
    let least = code.b.compare(Compare::Eq, exponent.clone(), Atom::Int(i64::MIN));
    let quotient = code.b.real(RealOp::Div, [Atom::Var(out), base.clone()]);
    let power = code.b.select(least, quotient, power);
    let factor = code.b.convert(Convert::IntToReal, exponent.clone());
    let slope = code.b.real(RealOp::Mul, [factor, power]);
    let none = code.b.compare(Compare::Eq, exponent.clone(), Atom::Int(0));
    code.b.called("slope").select(none, Atom::Real(0.0), slope)
}
