//! The way in: the program's term as a function of the IR, and how the values that go in and come out are laid out.

#![expect(clippy::wildcard_enum_match_arm, reason = "elements of other types are laid out as they are")]

use crate::context::{Key, Lower};
use crate::flow::is_first_order;
use crate::layout::{Rep, parameter};
use crate::tree::{DataIx, Type};
use rustc_hash::FxHashSet;
use std::rc::Rc;
use wengert_base::Name;
use wengert_ir::Ty;
use wengert_ir::op::{ArrayOp, Atom, Op, Requirement};
use wengert_ir::program::FuncId;
use wengert_ir::ty::DataId;
use wengert_mono::simple::Head;

/// How to call a program: a term that is a function of first-order arguments takes them all at once.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The function.
    pub func: FuncId,
    /// What it takes.
    pub params: Vec<Layout>,
    /// What it gives.
    pub result: Layout,
    /// The fields of the constructors of the data types in these.
    pub data: Vec<(DataId, Vec<Vec<Layout>>)>,
    /// The type among these that is [uniform](wengert_mono::simple::Uniform), with what its constructors are of.
    pub uniform: Option<(DataId, Vec<Head>)>,
    /// Whether with [ragged rows](crate::Rows::Ragged) the program is another one: where this one fails since arrays have different
    /// sizes, that one need not.
    pub uneven: bool,
}

/// How a value is laid out: as several values of the IR, one after the other.
#[derive(Clone, Debug, PartialEq)]
pub enum Layout {
    /// One value.
    Real,
    /// One value.
    Int,
    /// One value.
    Bool,
    /// One value.
    Text,
    /// The components, one after the other. A record is its fields in the order of their names; if it has one field, it is
    /// that field.
    Tuple(Vec<Layout>),
    /// An array for each value of an element; if it takes none, one array of units.
    Array(Box<Layout>),
    /// One value.
    Data(DataId),
    /// A linear functional, as a vector.
    Dual(Box<Layout>),
    /// An element of an array: those of its values that are arrays are each in an object of such a type.
    Boxed(Vec<Option<DataId>>, Box<Layout>),
    /// A function: so many values, which nobody outside can read.
    Function(usize),
}

impl Lower<'_> {
    /// Asks for the entry.
    pub(crate) fn request_entry(&mut self) -> FuncId {
        let ty = self.tree.root.ty.clone();
        let result = ty.result(self.entry_params().len());
        let results = self.flat(&result);
        self.request(Key::Entry, Type::unit(), Name::new("main"), results)
    }

    /// The types of the arguments that the program's term takes at once.
    fn entry_params(&self) -> Vec<Type> {
        let mut params = Vec::new();
        let mut ty = self.tree.root.ty.clone();
        while params.len() < self.arity
            && ty.fun().is_some()
            && is_first_order(&self.tree.data, &parameter(&ty))
        {
            params.push(parameter(&ty));
            ty = ty.result(1);
        }
        params
    }

    /// Makes the entry.
    pub(crate) fn make_entry(&mut self, id: FuncId) {
        let types = self.entry_params();
        let root = Rc::clone(&self.tree.root);
        let mut params = Vec::new();
        let own = self.parameter_vars();
        for (place, ty) in types.iter().enumerate() {
            let flat = self.flat(ty);
            let named = own.get(place).map(|var| self.signature_of(*var));
            let named = named.filter(|named| named.len() == flat.len());
            params.extend(named.unwrap_or_else(|| flat.into_iter().map(|ty| (Name::new("x"), ty)).collect()));
        }
        self.define(id, root.span, &params, |lower, atoms: Vec<Atom>| {
            let args = lower.split(&types, atoms);
            for (ty, arg) in types.iter().zip(&args) {
                if matches!(ty, Type::Tuple(_)) {
                    lower.rename_later(arg);
                }
                lower.say_beside(ty, arg, 0);
            }
            let callee = lower.callee(&root);
            if args.is_empty() { lower.callee_value(&callee).1 } else { lower.call_with(&callee, args) }
        });
        self.program.entries.insert(Name::new("main"), id);
    }

    /// Says that the arrays which an array of tuples is have one size; this one stands in arrays with so many axes.
    fn say_beside(&mut self, ty: &Type, atoms: &[Atom], axis: u8) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match ty {
            Type::Tuple(items) => {
                let parts = self.split(items, atoms.to_vec());
                for (item, part) in items.iter().zip(&parts) {
                    self.say_beside(item, part, axis);
                }
            }
            Type::Array(of) => {
                // Boxes hide what is inside of them.
                let arrays: Vec<&Atom> = atoms.iter().filter(|atom| self.ty(atom).rank() > axis).collect();
                if let [first, others @ ..] = arrays.as_slice() {
                    let size = |array: &Atom| Op::Array(ArrayOp::Length(axis), vec![array.clone()]);
                    for other in others {
                        let (left, right) = (self.one(size(first), Ty::INT), self.one(size(other), Ty::INT));
                        self.require(Requirement::Beside, left, right);
                    }
                }
                self.say_beside(of, atoms, axis + 1);
            }
            Type::Real
            | Type::Int
            | Type::Bool
            | Type::Text
            | Type::Data(_)
            | Type::Dual(_)
            | Type::Fun(..) => {}
        });
    }

    /// The description of the entry.
    pub(crate) fn describe(&mut self, func: FuncId) -> Entry {
        let types = self.entry_params();
        let result = self.tree.root.ty.result(types.len());
        let mut found = FxHashSet::default();
        let mut order = Vec::new();
        let params = types.iter().map(|ty| self.layout(ty, &mut found, &mut order)).collect();
        let result = self.layout(&result, &mut found, &mut order);
        let (mut data, mut uniform) = (Vec::new(), None);
        let mut next = 0;
        while let Some(ix) = order.get(next).copied() {
            next += 1;
            let tree = self.tree;
            let mut ctors = Vec::new();
            for (_, fields) in &tree.data.at(ix).ctors {
                ctors.push(fields.iter().map(|field| self.layout(field, &mut found, &mut order)).collect());
            }
            data.push((self.data(ix), ctors));
            let heads = &tree.data.at(ix).heads;
            if !heads.is_empty() {
                uniform = Some((self.data(ix), heads.clone()));
            }
        }
        self.finish_types();
        Entry { func, params, result, data, uniform, uneven: false }
    }

    /// The boxes of the values of an element of an array.
    fn boxes_of(&mut self, elem: &Type) -> Vec<Option<DataId>> {
        let (types, rows) = (self.flat(elem), self.rows(elem));
        let of = |(ty, row): (&wengert_ir::Ty, wengert_ir::Ty)| match row.elem() {
            wengert_ir::Elem::Data(data) if *ty != row => Some(data),
            _ => None,
        };
        types.iter().zip(rows).map(of).collect()
    }

    fn layout(&mut self, ty: &Type, found: &mut FxHashSet<DataIx>, order: &mut Vec<DataIx>) -> Layout {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match ty {
            Type::Real => Layout::Real,
            Type::Int => Layout::Int,
            Type::Bool => Layout::Bool,
            Type::Text => Layout::Text,
            Type::Tuple(items) => {
                Layout::Tuple(items.iter().map(|item| self.layout(item, found, order)).collect())
            }
            Type::Array(of) => {
                let layout = self.layout(of, found, order);
                let boxes = self.boxes_of(of);
                let layout = if boxes.iter().any(Option::is_some) {
                    Layout::Boxed(boxes, Box::new(layout))
                } else {
                    layout
                };
                Layout::Array(Box::new(layout))
            }
            Type::Dual(of) => Layout::Dual(Box::new(self.layout(of, found, order))),
            Type::Fun(_, flow, _) => match self.rep(*flow) {
                Rep::Nothing => Layout::Function(0),
                Rep::Inline(_) | Rep::Data(_) => Layout::Function(self.flat(ty).len()),
            },
            Type::Data(ix) => {
                if found.insert(*ix) {
                    order.push(*ix);
                }
                Layout::Data(self.data(*ix))
            }
        })
    }
}

impl Layout {
    /// How many values of the IR it takes.
    pub fn values(&self) -> usize {
        match self {
            Layout::Real | Layout::Int | Layout::Bool | Layout::Text | Layout::Data(_) => 1,
            Layout::Tuple(items) => items.iter().map(Layout::values).sum(),
            Layout::Array(of) => of.values().max(1),
            Layout::Dual(of) | Layout::Boxed(_, of) => of.values(),
            Layout::Function(count) => *count,
        }
    }
}
