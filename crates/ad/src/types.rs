//! Tangent types: which types have tangents, what those are, and the vector space that they form.
//!
//! The tangent type of a real is a real, of an array an array of the same shape. A data type that holds reals somewhere
//! has a tangent type of its own, with a constructor for the zero tangent at every point:
//!
//! ```text
//! List = Nil | Cons Real List          List' = Zero | Nil' | Cons' Real List'
//! ```
//!
//! Tangents of tangents are tangents: such a type is its own tangent type. So at the tangent `Zero`, which is a list of zeros whatever its
//! length, the tangent may be a list of any length.
//!
//! What holds no reals has no tangent. A function value always has one. Where the program has function values as surface
//! tangents (it declares the tangent type then), that may be a function that the user gives (`Given`), or a sum. What holds such tangents
//! has a tangent type of its own, which has one in turn; so that this ends, the constructors of a tangent type other than `Zero` are
//! made when code needs them ([`Ad::whole_tangent`]).
//!
//! [`Code::zero`] and [`Code::sum`] make zeros and sums; for data they call functions that are generated once.

use crate::{APART, ASTRAY, Ad, BEYOND, Code};
use wengert_base::{Name, Span};
use wengert_ir::Builder;
use wengert_ir::op::{ArrayOp, Atom, Block, Loop, Mode, Op, Var};
use wengert_ir::program::FuncId;
use wengert_ir::ty::{Ctor, Data, DataId, Elem, Role, Ty};
use wengert_prim::RealOp;

/// The constructor of the zero tangent.
pub(crate) const ZERO: u32 = 0;

/// A function that is generated once for a data type.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Helper {
    /// Sum of two tangents of this tangent type.
    Sum(DataId),
    /// Whether a tangent of this type is zero.
    IsZero(Ty),
    /// The tangents of the fields of this constructor of a data type, from a tangent of the whole.
    Fields(DataId, u32),
    /// From a surface tangent of the data type, with the point, to a tangent; for the operator of that name, at a place in the source.
    Inward(DataId, Name, Span),
    /// From a tangent, with the point, to a surface tangent.
    Outward(DataId),
    /// A tangent of this tangent type times a number, or divided by one.
    Scaled(DataId, bool),
    /// The derivative along a long series of this data type, from value and series: its value, and its series.
    Split(DataId),
    /// And back.
    Join(DataId),
    /// Long series of several infinitesimals with one more, of which there is nothing.
    Lift(DataId),
    /// The same, where there is: from value, series, tangent and its series.
    Widen(DataId),
    /// And back, from the value and such a series.
    Halves(DataId),
    /// Coefficients of the first infinitesimals as those of all.
    Pad(DataId),
    /// Coefficients with those of a tangent along one of the infinitesimals added.
    Shifted(DataId),
    /// How many numbers a value holds.
    Count(DataId),
    /// A value with other numbers.
    Take(DataId),
    /// A sum with the products of the numbers in two values.
    Paired(DataId),
    /// The series of one infinitesimal, from a tangent.
    Pack(DataId),
    /// And back.
    Unpack(DataId),
}

impl Ad {
    /// The tangent type, if there is one.
    pub(crate) fn tangent(&mut self, ty: Ty) -> Option<Ty> {
        match ty.elem() {
            Elem::Real if self.is_long() => Some(Ty::of_rank(Elem::Real, ty.rank() + 1)),
            Elem::Real => Some(ty),
            Elem::Int | Elem::Bool | Elem::Text | Elem::Unit => None,
            Elem::Data(data) => {
                self.tangent_data(data).map(|tangent| Ty::of_rank(Elem::Data(tangent), ty.rank()))
            }
        }
    }

    /// The tangent type of a data type, if there is one.
    pub(crate) fn tangent_data(&mut self, data: DataId) -> Option<DataId> {
        if self.is_long() {
            return self.long_data(data);
        }
        if let Some(known) = self.tangents.get(&data) {
            return *known;
        }
        self.asked.insert(data);
        self.complete(data);
        if let Some(known) = self.tangents.get(&data) {
            return *known;
        }
        if !self.varies(data) {
            self.tangents.insert(data, None);
            return None;
        }
        if self.is_own_tangent(data) {
            self.tangents.insert(data, Some(data));
            return Some(data);
        }
        let name = self.program.data.at(data).name;
        let declared = self.declared.get(&data).copied();
        let tangent = declared.unwrap_or_else(|| {
            let tangent = Data { name: dotted(name), role: Role::Tangent(data), ctors: Vec::new() };
            self.program.data.push(tangent)
        });
        self.program.data.at_mut(tangent).ctors = vec![Ctor { name: "Zero".into(), fields: Vec::new() }];
        self.tangents.insert(data, Some(tangent));
        Some(tangent)
    }

    /// The tangent type of a data type with all its constructors.
    pub(crate) fn whole_tangent(&mut self, data: DataId) -> Option<DataId> {
        let tangent = self.tangent_data(data)?;
        if self.is_long() {
            if self.whole.insert(tangent) {
                self.fill(data);
                self.fill_long_data(data, tangent);
            }
        } else if tangent == data {
            self.fill(data);
        } else if !self.under_way.contains(&data) && self.whole.insert(tangent) {
            self.fill(data);
            let ctors = self.tangent_ctors(data, tangent);
            self.program.data.at_mut(tangent).ctors = ctors;
        }
        Some(tangent)
    }

    /// Makes the constructors of a type, if it is a tangent type.
    pub(crate) fn fill(&mut self, data: DataId) {
        if let Role::Tangent(of) = self.program.data.at(data).role {
            self.with_long(false, |ad| ad.whole_tangent(of));
        } else if let Some(of) = self.long_series_of(data) {
            self.with_long(true, |ad| ad.whole_tangent(of));
        }
    }

    /// Whether it is a tangent type whose values cannot hold functions of the user's: then tangents of them are such values too.
    fn is_own_tangent(&self, data: DataId) -> bool {
        let Role::Tangent(of) = self.program.data.at(data).role else { return false };
        let (mut seen, mut todo) = (vec![of], vec![of]);
        while let Some(next) = todo.pop() {
            let Data { role, ctors, .. } = self.program.data.at(next);
            // What is not made yet may hold anything.
            if self.given.contains(&next) || (*role == Role::Residual && ctors.is_empty()) {
                return false;
            }
            for ty in ctors.iter().flat_map(|ctor| &ctor.fields) {
                if let Elem::Data(inner) = ty.elem()
                    && !seen.contains(&inner)
                {
                    seen.push(inner);
                    todo.push(inner);
                }
            }
        }
        true
    }

    /// The constructor of the tangents at values of a constructor of a type.
    pub(crate) fn tangent_ctor(&self, data: DataId, ctor: u32) -> u32 {
        if self.tangents.get(&data) == Some(&Some(data)) { ctor } else { ctor + 1 }
    }

    fn tangent_ctors(&mut self, data: DataId, tangent: DataId) -> Vec<Ctor> {
        let ctors = self.program.data.at(data).ctors.clone();
        let mut made = vec![Ctor { name: "Zero".into(), fields: Vec::new() }];
        for Ctor { name, fields } in &ctors {
            let fields = fields.iter().filter_map(|ty| self.tangent(*ty)).collect();
            made.push(Ctor { name: dotted(*name), fields });
        }
        if self.given.contains(&data) {
            let (given, own) = (Ty::Scalar(Elem::Data(data)), Ty::Scalar(Elem::Data(tangent)));
            made.push(Ctor { name: "Given".into(), fields: vec![given] });
            made.push(Ctor { name: "Sum".into(), fields: vec![own, own] });
        }
        made
    }

    /// Makes the linearizations whose residuals a type holds, and the tangent types that the program declares, so that
    /// their constructors are known.
    pub(crate) fn complete(&mut self, data: DataId) {
        let (mut seen, mut todo) = (vec![data], vec![data]);
        while let Some(next) = todo.pop() {
            if let Some(linear) = self.residuals.get(&next).copied()
                && self.program.data.at(next).ctors.is_empty()
                && self.is_ready(self.program.linears.at(linear).func)
            {
                self.make_residual(linear);
            }
            if let Role::Tangent(of) = self.program.data.at(next).role
                && !self.tangents.contains_key(&of)
                && self.asked.insert(of)
            {
                self.tangent_data(of);
            }
            for ty in self.program.data.at(next).ctors.iter().flat_map(|ctor| &ctor.fields) {
                if let Elem::Data(inner) = ty.elem()
                    && !seen.contains(&inner)
                {
                    seen.push(inner);
                    todo.push(inner);
                }
            }
        }
    }

    /// Whether the constructor of a value tells which function it was of those whose tangents may be functions of the user's. What is
    /// made of a value depends on that then, whatever its blocks look at.
    pub(crate) fn tells_given(&self, ty: Ty) -> bool {
        match ty {
            Ty::Scalar(Elem::Data(data)) => self.given.contains(&data) || self.which.contains(&data),
            Ty::Scalar(_) | Ty::Array(..) => false,
        }
    }

    /// Whether values of the type hold reals or functions, or tell which function it was. What is being made may.
    fn varies(&self, data: DataId) -> bool {
        self.holds(data, &|data| {
            let role = self.program.data.at(data).role;
            let is_tangent =
                matches!(role, Role::Closure | Role::Tangent(_)) || self.under_way.contains(&data);
            is_tangent || self.which.contains(&data) || self.long_series_of(data).is_some()
        })
    }

    /// Whether values of the type hold reals, or data of types of which this is so.
    pub(crate) fn holds(&self, data: DataId, such: &dyn Fn(DataId) -> bool) -> bool {
        let (mut seen, mut todo) = (vec![data], vec![data]);
        while let Some(next) = todo.pop() {
            if such(next) {
                return true;
            }
            for ty in self.program.data.at(next).ctors.iter().flat_map(|ctor| &ctor.fields) {
                match ty.elem() {
                    Elem::Real => return true,
                    Elem::Int | Elem::Bool | Elem::Text | Elem::Unit => {}
                    Elem::Data(inner) if seen.contains(&inner) => {}
                    Elem::Data(inner) => {
                        seen.push(inner);
                        todo.push(inner);
                    }
                }
            }
        }
        false
    }

    /// The types of the fields of a constructor, each with its tangent type.
    pub(crate) fn fields(&mut self, data: DataId, ctor: u32) -> Vec<(Ty, Option<Ty>)> {
        self.fill(data);
        let fields = self.program.data.at(data).ctors.get(ctor as usize);
        let fields = fields.map(|ctor| ctor.fields.clone()).unwrap_or_default();
        fields.into_iter().map(|ty| (ty, self.tangent(ty))).collect()
    }

    /// A function that is generated once: `make` builds it, after its number is known.
    pub(crate) fn helper(
        &mut self,
        helper: Helper,
        results: Vec<Ty>,
        make: impl FnOnce(&mut Ad) -> wengert_ir::Func,
    ) -> FuncId {
        if let Some(known) = self.helpers.get(&helper) {
            return *known;
        }
        let id = self.reserve(results);
        self.helpers.insert(helper, id);
        let func = make(self);
        *self.program.funcs.at_mut(id) = func;
        id
    }

    /// A number for a function that is about to be made.
    pub(crate) fn reserve(&mut self, results: Vec<Ty>) -> FuncId {
        let mut func = Builder::new("reserved".into()).finish(Vec::new());
        func.results = results;
        self.program.funcs.push(func)
    }

    /// The function that adds two tangents. It is made at the end, when it is known which constructors there are.
    fn sum_function(&mut self, tangent: DataId) -> FuncId {
        if let Some(known) = self.helpers.get(&Helper::Sum(tangent)) {
            return *known;
        }
        let id = self.reserve(vec![Ty::Scalar(Elem::Data(tangent))]);
        self.helpers.insert(Helper::Sum(tangent), id);
        self.linear_helpers.insert(id, Helper::Sum(tangent));
        self.sums.push((id, tangent));
        id
    }

    /// Makes the functions that add tangents.
    pub(crate) fn make_sums(&mut self) {
        while let Some((id, tangent)) = self.sums.pop() {
            let made = self.make_sum(tangent, false);
            *self.program.funcs.at_mut(id) = made;
        }
    }

    /// The same of two of one type. `apart` if tangents of function values that hold tangents of a higher order stay beside each other, where
    /// they can: their types have no end.
    pub(crate) fn make_sum(&mut self, tangent: DataId, apart: bool) -> wengert_ir::Func {
        let own = Ty::Scalar(Elem::Data(tangent));
        let Data { name, ctors, .. } = self.program.data.at(tangent).clone();
        let closure_sum = ctors.iter().position(|ctor| ctor.name == Name::new("Sum"));
        let mut code = Code::new(self, &format!("add_{name}"));
        let (a, b) = (code.b.param("a".into(), own), code.b.param("b".into(), own));
        let mut arms = Vec::new();
        for (i, ctor) in ctors.iter().enumerate() {
            code.b.open();
            let left = code.field_params("a", &ctor.fields);
            let apart = apart && ctor.fields.iter().any(|ty| code.ad.order(*ty) > code.ad.order(own));
            let result = if i == 0 {
                b.clone()
            } else {
                let mut inner = Vec::new();
                for (j, other) in ctors.iter().enumerate() {
                    code.b.open();
                    let right = code.field_params("b", &other.fields);
                    let result = if j == 0 {
                        a.clone()
                    } else if i == j && !apart && closure_sum.is_none_or(|sum| i + 1 < sum) {
                        let fields: Vec<Atom> =
                            left.iter().zip(right).map(|(x, y)| code.sum(x.clone(), y)).collect();
                        code.b.make(tangent, i as u32, fields)
                    } else if apart && closure_sum.is_none() {
                        code.fail(&[own], BEYOND).remove(0)
                    } else if let Some(sum) = closure_sum {
                        code.b.make(tangent, sum as u32, [a.clone(), b.clone()])
                    } else {
                        code.fail(&[own], APART).remove(0)
                    };
                    inner.push(code.b.close(vec![result]));
                }
                let op = Op::Match { on: b.clone(), arms: inner };
                code.b.called("sum").typed1(own, op)
            };
            arms.push(code.b.close(vec![result]));
        }
        let sum = code.b.called("sum").typed1(own, Op::Match { on: a, arms });
        code.finish(vec![sum])
    }

    /// The types of the tangents of a constructor's fields that have some.
    pub(crate) fn field_tangents(&mut self, data: DataId, ctor: u32) -> Vec<Ty> {
        self.fields(data, ctor).into_iter().filter_map(|(_, tangent)| tangent).collect()
    }

    /// The function that gives the tangents of the fields of a constructor: from a tangent of the whole and those fields
    /// that are arrays (for the shapes of zeros).
    pub(crate) fn fields_function(&mut self, data: DataId, ctor: u32) -> Option<FuncId> {
        let fields = self.fields(data, ctor);
        let tangent = self.whole_tangent(data)?;
        let results = fields.iter().filter_map(|(_, tangent)| *tangent).collect();
        // The tangent of a zero is zero.
        let place = self.tangent_ctor(data, ctor);
        let is_tangent = matches!(self.program.data.at(data).role, Role::Tangent(_));
        let zeros = if is_tangent && tangent != data { 2 } else { 1 };
        let id = self.helper(Helper::Fields(data, ctor), results, |ad| {
            let Data { name, ctors, .. } = ad.program.data.at(tangent).clone();
            let shown = ctors.get(place as usize).map_or(name, |ctor| ctor.name);
            let mut code = Code::new(ad, &format!("fields_{shown}"));
            let whole = code.b.param("tangent".into(), Ty::Scalar(Elem::Data(tangent)));
            code.order = code.ad.is_long().then(|| code.b.param("n".into(), Ty::INT));
            let witnesses: Vec<Option<Atom>> = fields
                .iter()
                .map(|(ty, tangent)| {
                    (tangent.is_some() && ty.rank() > 0).then(|| code.b.param("like".into(), *ty))
                })
                .collect();
            let results: Vec<Ty> = fields.iter().filter_map(|(_, tangent)| *tangent).collect();
            let mut arms = Vec::new();
            for (i, made) in ctors.iter().enumerate() {
                code.b.open();
                let params = code.field_params("t", &made.fields);
                let given = if i == place as usize {
                    params
                } else if i < zeros || results.is_empty() {
                    let mut zeros = Vec::new();
                    for ((ty, tangent), witness) in fields.iter().zip(&witnesses) {
                        if tangent.is_some() {
                            zeros.push(code.zero(witness.as_ref(), *ty));
                        }
                    }
                    zeros
                } else {
                    code.fail(&results, ASTRAY)
                };
                arms.push(code.b.close(given));
            }
            let fields = code.b.typed(&results, Op::Match { on: whole, arms });
            code.finish(fields)
        });
        if !self.is_long() {
            self.linear_helpers.insert(id, Helper::Fields(data, ctor));
        }
        Some(id)
    }
}

impl Code<'_> {
    /// Parameters for fields.
    pub(crate) fn field_params(&mut self, name: &str, fields: &[Ty]) -> Vec<Atom> {
        fields.iter().map(|ty| self.b.param(name.into(), *ty)).collect()
    }

    /// A failure that stands for results of these types.
    pub(crate) fn fail(&mut self, types: &[Ty], message: &str) -> Vec<Atom> {
        self.b.typed(types, Op::Fail { message: Atom::Text(message.into()) })
    }

    /// The zero tangent at a point of type `ty`, which has tangents; an array needs the point, for its shape.
    pub(crate) fn zero(&mut self, point: Option<&Atom>, ty: Ty) -> Atom {
        match (ty, point) {
            (Ty::Scalar(Elem::Data(data)), _) => match self.ad.tangent_data(data) {
                Some(tangent) => self.b.make(tangent, ZERO, []),
                None => Atom::Unit,
            },
            (Ty::Scalar(_), _) if self.ad.is_long() => self.no_coefficients(),
            (Ty::Scalar(_), _) => Atom::Real(0.0),
            (Ty::Array(Elem::Real, _), Some(point)) if !self.ad.is_long() => {
                self.b.called("zeros").array(ArrayOp::Zeros, [point.clone()])
            }
            (Ty::Array(..), Some(point)) => {
                let len = self.length(point);
                let row = ty.at(1).unwrap_or(Ty::REAL);
                let tangent = self.ad.tangent(ty).unwrap_or(ty);
                let mut body = self.open_rows(&[("row", row)]);
                let zero = self.zero(body.pop().as_ref(), row);
                let body = self.b.close(vec![zero]);
                self.each(len, vec![point.clone()], Vec::new(), body, &[("zeros".into(), tangent)]).remove(0)
            }
            (Ty::Array(elem, rank), None) => {
                let rank = if self.ad.is_long() { rank + 1 } else { rank };
                self.b.array(ArrayOp::Empty(elem, rank), [])
            }
        }
    }

    /// The sum of two tangents.
    pub(crate) fn sum(&mut self, a: Atom, b: Atom) -> Atom {
        self.sum_called("sum".into(), a, b)
    }

    /// The same, with a name for the result.
    pub(crate) fn sum_called(&mut self, name: Name, a: Atom, b: Atom) -> Atom {
        if is_zero(&a) {
            return b;
        }
        if is_zero(&b) {
            return a;
        }
        match self.b.type_of(&a) {
            Ty::Scalar(Elem::Data(tangent)) => {
                let ty = Ty::Scalar(Elem::Data(tangent));
                let func = self.ad.sum_function(tangent);
                self.b.called(name).call(func, [a, b], &[ty]).remove(0)
            }
            Ty::Scalar(_) => self.b.called(name).real(RealOp::Add, [a, b]),
            Ty::Array(Elem::Real, _) => self.b.called(name).array(ArrayOp::Add, [a, b]),
            ty @ Ty::Array(..) => {
                let len = self.length(&a);
                let row = ty.at(1).unwrap_or(Ty::REAL);
                let rows = self.open_rows(&[("x", row), ("y", row)]);
                let [x, y] = <[Atom; 2]>::try_from(rows).unwrap_or([Atom::Unit, Atom::Unit]);
                let sum = self.sum(x, y);
                let body = self.b.close(vec![sum]);
                self.each(len, vec![a, b], Vec::new(), body, &[(name, ty)]).remove(0)
            }
        }
    }

    /// The size of an array.
    pub(crate) fn length(&mut self, array: &Atom) -> Atom {
        self.b.called("n").array(ArrayOp::Length(0), [array.clone()])
    }

    /// Opens the body of a loop: an index, and parameters that are given back.
    pub(crate) fn open_rows(&mut self, params: &[(&str, Ty)]) -> Vec<Atom> {
        self.b.open();
        self.b.param("i".into(), Ty::INT);
        params.iter().map(|(name, ty)| self.b.param((*name).into(), *ty)).collect()
    }

    /// A loop whose iterations are independent, over `inputs`, adding to `accs`.
    pub(crate) fn each(
        &mut self,
        len: Atom,
        inputs: Vec<Atom>,
        accs: Vec<Atom>,
        body: Block,
        outs: &[(Name, Ty)],
    ) -> Vec<Atom> {
        self.each_in_order(false, len, inputs, accs, body, outs)
    }

    /// The same from the last to the first, if `backward`.
    pub(crate) fn each_in_order(
        &mut self,
        backward: bool,
        len: Atom,
        inputs: Vec<Atom>,
        accs: Vec<Atom>,
        body: Block,
        outs: &[(Name, Ty)],
    ) -> Vec<Atom> {
        let parts = Loop { mode: Mode::Each, backward, len, inputs, init: Vec::new(), accs, body };
        self.b.named(outs, Op::Loop(Box::new(parts)))
    }

    /// The type and name of a variable that this function has.
    pub(crate) fn name(&self, var: Var) -> Name {
        self.b.func().vars.at(var).name
    }
}

/// Whether it is the real number 0.
pub(crate) fn is_zero(atom: &Atom) -> bool {
    matches!(atom, Atom::Real(x) if *x == 0.0)
}

/// The name of the tangent of what has this name.
pub(crate) fn dotted(name: Name) -> Name {
    Name::new(&format!("{name}'"))
}
