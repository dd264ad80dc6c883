//! Data and arrays with function values in them that wait for their arguments.
//!
//! What `f x` gives has a *shape*, which is the same with a zero in the place of each function value. That is computed at once, and the zeros
//! are filled with function values that hold `f` and `x` and know which one of all in the data they are, in the order of a walk through it:
//!
//! ```text
//! apply(f, x) = match f { lambda() { a = Inner::lambda(x); b = Inner::sin() in Cons(a, Cons(b, Nil())) } … }
//!
//! apply(f, x) = s = rest(f, x) in t, _ = filled(s, f, x, 0) in t
//! rest(f, x) = match f { lambda() { … in shape(Cons(a, Cons(b, Nil()))) } … }
//! shape(l) = match l { Nil() { Nil_shape() }  Cons(g, r) { Cons_shape(0.0, shape(r)) } }
//! filled(s, f, x, n) = match s { … Cons_shape(_, r) { g = Inner::applied(f, x, n); t, k = filled(r, f, x, n + 1) in Cons(g, t), k } }
//! both(f, x, i, y) = match f { lambda() { … in apply2(functions(Cons(a, Cons(b, Nil())))[i], y) } … }
//! ```
//!
//! Numbers in the data stay in the shape.

use rustc_hash::{FxHashMap, FxHashSet};
use wengert_base::Name;
use wengert_ir::op::{ArrayOp, Atom, IntOp, Loop, Mode, Op};
use wengert_ir::program::{FuncId, Program, VarInfo};
use wengert_ir::ty::{Ctor, Data, DataId, Elem, Role};
use wengert_ir::{Builder, Ty};

/// The types of function values in values of a type, where `is_waiting` tells which types are such; `None` if they are not reached.
pub(super) fn functions_in(
    program: &Program,
    is_waiting: &dyn Fn(DataId) -> bool,
    ty: Ty,
) -> Option<Vec<DataId>> {
    let (mut seen, mut todo) = (FxHashSet::default(), vec![(ty, true)]);
    let mut found = Vec::new();
    while let Some((next, is_reached)) = todo.pop() {
        let Elem::Data(data) = next.elem() else { continue };
        if is_waiting(data) {
            if !is_reached {
                return None;
            }
            found.push(data);
        } else if seen.insert((data, is_reached)) {
            let of = program.data.at(data);
            let is_reached = is_reached && of.role == Role::Declared;
            todo.extend(of.ctors.iter().flat_map(|ctor| &ctor.fields).map(|ty| (*ty, is_reached)));
        }
    }
    found.sort_unstable();
    found.dedup();
    Some(found)
}

/// What is made for types with function values in them, once for each.
#[derive(Default)]
pub(super) struct Holes {
    types: FxHashMap<DataId, DataId>,
    shapes: FxHashMap<Ty, FuncId>,
    lists: FxHashMap<(Ty, DataId), FuncId>,
}

/// Function values that wait: what they hold, and their constructors.
pub(super) struct Filling {
    /// What all of them hold.
    pub(super) params: Vec<VarInfo>,
    /// For each type of function values the constructor; its last field is the number.
    pub(super) ctors: Vec<(DataId, u32)>,
    /// Where what was applied so far is data, that.
    pub(super) steps: Option<Steps>,
    /// The functions that fill shapes with them.
    pub(super) made: FxHashMap<Ty, FuncId>,
}

/// The constructor of the path that ends.
pub(super) const END: u32 = 0;

/// Paths of one step.
pub(super) struct Steps {
    /// The type of paths.
    pub(super) path: DataId,
    /// For each type of function values the constructor of the step that gives them.
    pub(super) ctors: Vec<u32>,
}

/// The program with the types of function values that wait.
pub(super) struct Making<'a> {
    pub(super) program: &'a mut Program,
    pub(super) is_waiting: &'a dyn Fn(DataId) -> bool,
    pub(super) holes: &'a mut Holes,
}

impl Making<'_> {
    fn functions_in(&self, ty: Ty) -> Vec<DataId> {
        functions_in(self.program, self.is_waiting, ty).unwrap_or_default()
    }

    fn is_function(&self, ty: Ty) -> bool {
        matches!(ty, Ty::Scalar(Elem::Data(data)) if (self.is_waiting)(data))
    }

    fn ctors(&self, ty: Ty) -> Vec<Ctor> {
        match ty.elem() {
            Elem::Data(data) => self.program.data.at(data).ctors.clone(),
            Elem::Real | Elem::Int | Elem::Bool | Elem::Text | Elem::Unit => Vec::new(),
        }
    }

    /// The type of shapes of values of a type.
    pub(super) fn shape_type(&mut self, ty: Ty) -> Ty {
        let Elem::Data(data) = ty.elem() else { return ty };
        if (self.is_waiting)(data) {
            return Ty::of_rank(Elem::Real, ty.rank());
        }
        if self.functions_in(ty).is_empty() {
            return ty;
        }
        let shape = match self.holes.types.get(&data) {
            Some(known) => *known,
            None => self.make_shape_type(data),
        };
        Ty::of_rank(Elem::Data(shape), ty.rank())
    }

    fn make_shape_type(&mut self, data: DataId) -> DataId {
        let Data { name, ctors, .. } = self.program.data.at(data).clone();
        let named = |name: Name| Name::new(&format!("{name}_shape"));
        let shape =
            self.program.data.push(Data { name: named(name), role: Role::Declared, ctors: Vec::new() });
        self.holes.types.insert(data, shape);
        let mut made = Vec::new();
        for Ctor { name, fields } in ctors {
            let fields = fields.into_iter().map(|ty| self.shape_type(ty)).collect();
            made.push(Ctor { name: named(name), fields });
        }
        self.program.data.at_mut(shape).ctors = made;
        shape
    }

    /// A function that is about to be made.
    fn reserve(&mut self) -> FuncId {
        self.program.funcs.push(Builder::new(Name::new("reserved")).finish(Vec::new()))
    }

    /// The function that gives the shape of a value.
    pub(super) fn shape(&mut self, ty: Ty) -> FuncId {
        if let Some(known) = self.holes.shapes.get(&ty) {
            return *known;
        }
        let id = self.reserve();
        self.holes.shapes.insert(ty, id);
        let of = self.shape_type(ty);
        let mut b = Builder::new(Name::new("shape"));
        let value = b.param(Name::new("value"), ty);
        let result = if self.is_function(ty) {
            Atom::Real(0.0)
        } else if let Some(row) = ty.at(1).filter(|_| ty.rank() > 0) {
            self.shape_of_rows(&mut b, value, row, of)
        } else {
            let mut arms = Vec::new();
            for (place, ctor) in self.ctors(ty).into_iter().enumerate() {
                b.open();
                let mut fields = Vec::new();
                for ty in ctor.fields {
                    let field = b.param(Name::new("x"), ty);
                    fields.push(self.shape_of_field(&mut b, field, ty));
                }
                let made = make(&mut b, of, place, fields);
                arms.push(b.close(vec![made]));
            }
            b.typed1(of, Op::Match { on: value, arms })
        };
        *self.program.funcs.at_mut(id) = b.finish(vec![result]);
        id
    }

    fn shape_of_field(&mut self, b: &mut Builder, field: Atom, ty: Ty) -> Atom {
        if self.functions_in(ty).is_empty() {
            return field;
        }
        let (func, of) = (self.shape(ty), self.shape_type(ty));
        b.call(func, [field], &[of]).remove(0)
    }

    fn shape_of_rows(&mut self, b: &mut Builder, rows: Atom, row: Ty, of: Ty) -> Atom {
        let len = b.called("n").array(ArrayOp::Length(0), [rows.clone()]);
        b.open();
        b.param(Name::new("i"), Ty::INT);
        let value = b.param(Name::new("row"), row);
        let result = self.shape_of_field(b, value, row);
        let body = b.close(vec![result]);
        let (init, accs, inputs) = (Vec::new(), Vec::new(), vec![rows]);
        let op = Loop { mode: Mode::Each, backward: false, len, inputs, init, accs, body };
        b.typed1(of, Op::Loop(Box::new(op)))
    }

    /// The function that gives the function values of one type that are in a value, as an array.
    pub(super) fn list(&mut self, ty: Ty, data: DataId) -> FuncId {
        if let Some(known) = self.holes.lists.get(&(ty, data)) {
            return *known;
        }
        let id = self.reserve();
        self.holes.lists.insert((ty, data), id);
        let all = Ty::Array(Elem::Data(data), 1);
        let mut b = Builder::new(Name::new("functions"));
        let value = b.param(Name::new("value"), ty);
        let result = if self.is_function(ty) {
            b.array(ArrayOp::Literal, [value])
        } else if let Some(row) = ty.at(1).filter(|_| ty.rank() > 0 && ty != all) {
            self.list_of_rows(&mut b, value, row, data)
        } else if ty == all {
            value
        } else {
            let mut arms = Vec::new();
            for ctor in self.ctors(ty) {
                b.open();
                let fields: Vec<(Atom, Ty)> =
                    ctor.fields.into_iter().map(|ty| (b.param(Name::new("x"), ty), ty)).collect();
                let mut sum: Option<Atom> = None;
                for (field, ty) in fields {
                    if self.functions_in(ty).contains(&data) {
                        let func = self.list(ty, data);
                        let list = b.call(func, [field], &[all]).remove(0);
                        sum = Some(match sum {
                            Some(sum) => b.array(ArrayOp::Concat, [sum, list]),
                            None => list,
                        });
                    }
                }
                let sum = sum.unwrap_or_else(|| b.array(ArrayOp::Empty(Elem::Data(data), 1), []));
                arms.push(b.close(vec![sum]));
            }
            b.typed1(all, Op::Match { on: value, arms })
        };
        *self.program.funcs.at_mut(id) = b.finish(vec![result]);
        id
    }

    fn list_of_rows(&mut self, b: &mut Builder, rows: Atom, row: Ty, data: DataId) -> Atom {
        let all = Ty::Array(Elem::Data(data), 1);
        let func = self.list(row, data);
        let len = b.called("n").array(ArrayOp::Length(0), [rows.clone()]);
        let none = b.array(ArrayOp::Empty(Elem::Data(data), 1), []);
        b.open();
        b.param(Name::new("i"), Ty::INT);
        let sum = b.param(Name::new("sum"), all);
        let row = b.param(Name::new("row"), row);
        let list = b.call(func, [row], &[all]).remove(0);
        let sum = b.array(ArrayOp::Concat, [sum, list]);
        let body = b.close(vec![sum]);
        let (init, accs, inputs) = (vec![none], Vec::new(), vec![rows]);
        let op = Loop { mode: Mode::Sequence, backward: false, len, inputs, init, accs, body };
        b.typed1(all, Op::Loop(Box::new(op)))
    }

    /// The function that fills a shape with function values: from the shape, what they hold, and for each type of them how many there were
    /// before, to the value, and how many there are then.
    pub(super) fn filled(&mut self, filling: &mut Filling, ty: Ty) -> FuncId {
        if let Some(known) = filling.made.get(&ty) {
            return *known;
        }
        let id = self.reserve();
        filling.made.insert(ty, id);
        let shape = self.shape_type(ty);
        let mut b = Builder::new(Name::new("filled"));
        let on = b.param(Name::new("shape"), shape);
        let held: Vec<Atom> = filling.params.iter().map(|info| b.param(info.name, info.ty)).collect();
        let mut counts: Vec<Atom> = filling.ctors.iter().map(|_| b.param(Name::new("n"), Ty::INT)).collect();
        let result = if self.is_function(ty) {
            function(&mut b, filling, ty, &held, &mut counts)
        } else if let Some(row) = ty.at(1).filter(|_| ty.rank() > 0) {
            self.filled_rows(&mut b, filling, (on, row, ty), &held, &mut counts)
        } else {
            self.filled_data(&mut b, filling, (on, ty), &held, &mut counts)
        };
        counts.insert(0, result);
        *self.program.funcs.at_mut(id) = b.finish(counts);
        id
    }

    /// A part filled.
    fn filled_part(
        &mut self,
        b: &mut Builder,
        filling: &mut Filling,
        (part, ty): (Atom, Ty),
        held: &[Atom],
        counts: &mut Vec<Atom>,
    ) -> Atom {
        if self.functions_in(ty).is_empty() {
            return part;
        }
        let func = self.filled(filling, ty);
        let args: Vec<Atom> = std::iter::once(&part).chain(held).chain(counts.iter()).cloned().collect();
        let types: Vec<Ty> = std::iter::once(ty).chain(counts.iter().map(|_| Ty::INT)).collect();
        let mut found = b.call(func, args, &types);
        *counts = found.split_off(1);
        found.remove(0)
    }

    fn filled_data(
        &mut self,
        b: &mut Builder,
        filling: &mut Filling,
        (on, ty): (Atom, Ty),
        held: &[Atom],
        counts: &mut Vec<Atom>,
    ) -> Atom {
        let mut arms = Vec::new();
        for (place, ctor) in self.ctors(ty).into_iter().enumerate() {
            b.open();
            let mut parts = Vec::new();
            for ty in ctor.fields {
                let shape = self.shape_type(ty);
                parts.push((b.param(Name::new("x"), shape), ty));
            }
            let mut counts = counts.clone();
            let mut fields = Vec::new();
            for part in parts {
                fields.push(self.filled_part(b, filling, part, held, &mut counts));
            }
            let made = make(b, ty, place, fields);
            counts.insert(0, made);
            arms.push(b.close(counts));
        }
        let types: Vec<Ty> = std::iter::once(ty).chain(counts.iter().map(|_| Ty::INT)).collect();
        let mut found = b.typed(&types, Op::Match { on, arms });
        *counts = found.split_off(1);
        found.remove(0)
    }

    fn filled_rows(
        &mut self,
        b: &mut Builder,
        filling: &mut Filling,
        (rows, row, ty): (Atom, Ty, Ty),
        held: &[Atom],
        counts: &mut Vec<Atom>,
    ) -> Atom {
        let len = b.called("n").array(ArrayOp::Length(0), [rows.clone()]);
        let shape = self.shape_type(row);
        b.open();
        b.param(Name::new("i"), Ty::INT);
        let mut inside: Vec<Atom> = counts.iter().map(|_| b.param(Name::new("n"), Ty::INT)).collect();
        let part = b.param(Name::new("row"), shape);
        let result = self.filled_part(b, filling, (part, row), held, &mut inside);
        inside.push(result);
        let body = b.close(inside);
        let types: Vec<Ty> = counts.iter().map(|_| Ty::INT).chain([ty]).collect();
        let (init, accs, inputs) = (std::mem::take(counts), Vec::new(), vec![rows]);
        let op = Loop { mode: Mode::Sequence, backward: false, len, inputs, init, accs, body };
        *counts = b.typed(&types, Op::Loop(Box::new(op)));
        counts.pop().unwrap_or(Atom::Unit)
    }
}

/// The next function value that waits.
fn function(b: &mut Builder, filling: &Filling, ty: Ty, held: &[Atom], counts: &mut [Atom]) -> Atom {
    let mut made = Atom::Unit;
    for (i, ((data, ctor), count)) in filling.ctors.iter().zip(counts).enumerate() {
        if ty.elem() == Elem::Data(*data) {
            let mut fields: Vec<Atom> = held.iter().chain([&*count]).cloned().collect();
            if let Some(Steps { path, ctors }) = &filling.steps {
                let step = ctors.get(i).copied().unwrap_or_default();
                let mut step_fields = fields.split_off(1);
                step_fields.push(b.make(*path, END, []));
                fields.push(b.called("path").make(*path, step, step_fields));
            }
            made = b.called("f").make(*data, *ctor, fields);
            *count = b.int(IntOp::Add, [count.clone(), Atom::Int(1)]);
        }
    }
    made
}

/// A constructor of the type of a value.
fn make(b: &mut Builder, ty: Ty, place: usize, fields: Vec<Atom>) -> Atom {
    match ty.elem() {
        Elem::Data(data) => b.make(data, place as u32, fields),
        Elem::Real | Elem::Int | Elem::Bool | Elem::Text | Elem::Unit => Atom::Unit,
    }
}
