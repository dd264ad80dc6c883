//! Values from outside into the memory of a run, and back. Data may be deep and shared: work lists instead of recursion, and
//! what is shared stays shared.

use crate::loops::{Kind, Passing};
use crate::lower::kind;
use crate::runtime::heap::{Heap, constructor, set_constructor, set_word, word, words, words_mut};
use crate::runtime::text;
use rustc_hash::FxHashMap;
use std::rc::Rc;
use wengert_ir::eval::{Array, Items, Node, Shape, Value};
use wengert_ir::program::Program;
use wengert_ir::ty::{Data, DataId, Table};
use wengert_ir::{Elem, Ty};

/// Memory of objects.
pub(crate) trait Memory {
    /// A new object, counted once; 0 if there is no memory.
    fn alloc(&mut self, words: i64) -> u64;
    /// One reference less; the last one frees the object and what it alone refers to.
    fn release(&mut self, reference: u64, kind: Kind);
}

impl Memory for Heap {
    fn alloc(&mut self, words: i64) -> u64 {
        Heap::alloc(self, words)
    }
    fn release(&mut self, reference: u64, kind: Kind) {
        self.release_now(reference, kind);
    }
}

/// Moves values in and out of memory.
pub(crate) struct Mover<'h> {
    pub(crate) heap: &'h mut dyn Memory,
    pub(crate) data: &'h Table<DataId, Data>,
}

/// Something does not fit: no memory, or a value that is not of its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Misfit {
    Memory,
    Type,
}

/// Data that is being made: what it was, its object, and how many fields are there.
struct Making {
    node: Rc<Node>,
    data: DataId,
    object: u64,
    fields: usize,
}

/// Data that is being read.
struct Reading {
    address: u64,
    data: DataId,
    ctor: u32,
    fields: Vec<Value>,
}

impl Mover<'_> {
    /// The words for an argument, and the reference that is to be released after the call, if the function borrows it.
    pub(crate) fn argument(
        &mut self,
        value: &Value,
        ty: Ty,
        passing: Passing,
        words: &mut Vec<u64>,
    ) -> Result<Option<(u64, Kind)>, Misfit> {
        let reference = self.word_of(value, ty)?;
        let kind = kind(ty);
        if kind == Kind::Plain || passing == Passing::Owned {
            words.push(reference);
            return Ok(None);
        }
        match ty {
            Ty::Scalar(_) => words.push(reference),
            Ty::Array(_, rank) => {
                let rank = usize::from(rank);
                words.push(reference + 8 * (1 + rank as u64));
                words.extend((1..=rank).map(|axis| word(reference, axis)));
            }
        }
        Ok(Some((reference, kind)))
    }

    /// The value of a result; its reference is released.
    pub(crate) fn result(&mut self, bits: u64, ty: Ty) -> Value {
        let value = self.value_of(bits, ty);
        self.release(bits, kind(ty));
        value
    }

    /// One reference less.
    pub(crate) fn release(&mut self, bits: u64, kind: Kind) {
        self.heap.release(bits, kind);
    }

    fn word_of(&mut self, value: &Value, ty: Ty) -> Result<u64, Misfit> {
        match (value, ty) {
            (Value::Real(x), Ty::Scalar(Elem::Real)) => Ok(x.to_bits()),
            (Value::Int(n), Ty::Scalar(Elem::Int)) => Ok(n.cast_unsigned()),
            (Value::Bool(b), Ty::Scalar(Elem::Bool)) => Ok(u64::from(*b)),
            (Value::Unit, Ty::Scalar(Elem::Unit)) => Ok(0),
            (Value::Text(text), Ty::Scalar(Elem::Text)) => self.text(text.as_str()),
            (Value::Data(node), Ty::Scalar(Elem::Data(data))) => self.data(node, data),
            (Value::Array(array), Ty::Array(elem, rank)) => self.array(array, elem, rank),
            (_, _) => Err(Misfit::Type),
        }
    }

    fn text(&mut self, text: &str) -> Result<u64, Misfit> {
        let words = usize::try_from(text::size(text.len())).unwrap_or(usize::MAX);
        let object = self.alloc(words)?;
        text::fill(object, text);
        Ok(object)
    }

    fn alloc(&mut self, words: usize) -> Result<u64, Misfit> {
        match self.heap.alloc(i64::try_from(words).unwrap_or(i64::MAX)) {
            0 => Err(Misfit::Memory),
            object => Ok(object),
        }
    }

    fn array(&mut self, array: &Array, elem: Elem, rank: u8) -> Result<u64, Misfit> {
        if array.shape().len() != usize::from(rank) {
            return Err(Misfit::Type);
        }
        let rank = usize::from(rank);
        let count = array.items().len();
        let object = self.alloc(1 + rank + count)?;
        for (axis, size) in (1..).zip(array.shape()) {
            set_word(object, axis, *size as u64);
        }
        let first = object + 8 * (1 + rank as u64);
        let n = i64::try_from(count).unwrap_or(0);
        match (array.items(), elem) {
            (Items::Reals(items), Elem::Real) => words_mut(first, n).copy_from_slice(items),
            (Items::Ints(items), Elem::Int) => words_mut(first, n).copy_from_slice(items),
            (items, elem) => {
                for place in 0..count {
                    let item = items.get(place).unwrap_or(Value::Unit);
                    let bits = self.word_of(&item, Ty::Scalar(elem))?;
                    set_word(object, 1 + rank + place, bits);
                }
            }
        }
        Ok(object)
    }

    fn field_ty(&self, data: DataId, ctor: u32, field: usize) -> Option<Ty> {
        self.data.get(data)?.ctors.get(ctor as usize)?.fields.get(field).copied()
    }

    /// Data lies in the order in which one walks through it: each object before what it refers to.
    fn data(&mut self, root: &Rc<Node>, data: DataId) -> Result<u64, Misfit> {
        let mut known: FxHashMap<*const Node, u64> = FxHashMap::default();
        let mut stack = vec![self.start_node(root, data)?];
        let mut done: Option<u64> = None;
        while let Some(top) = stack.last_mut() {
            if let Some(field) = done.take() {
                set_word(top.object, 1 + top.fields, field);
                top.fields += 1;
            }
            let (node, data, next) = (top.node.clone(), top.data, top.fields);
            let Some(field) = node.fields().get(next) else {
                known.insert(Rc::as_ptr(&node), top.object);
                done = Some(top.object);
                stack.pop();
                continue;
            };
            let ty = self.field_ty(data, node.ctor, next).ok_or(Misfit::Type)?;
            done = match (field, ty) {
                (Value::Data(inner), Ty::Scalar(Elem::Data(inner_data))) => {
                    match known.get(&Rc::as_ptr(inner)) {
                        Some(made) => {
                            retain(*made);
                            Some(*made)
                        }
                        None => {
                            stack.push(self.start_node(inner, inner_data)?);
                            None
                        }
                    }
                }
                (field, ty) => Some(self.word_of(field, ty)?),
            };
        }
        done.ok_or(Misfit::Type)
    }

    /// The object of a node, whose fields are not there yet.
    fn start_node(&mut self, node: &Rc<Node>, data: DataId) -> Result<Making, Misfit> {
        let count = node.fields().len();
        let object = if count == 0 {
            2 * u64::from(node.ctor) + 1
        } else {
            let object = self.alloc(1 + count)?;
            set_constructor(object, node.ctor);
            object
        };
        Ok(Making { node: node.clone(), data, object, fields: 0 })
    }

    fn value_of(&self, bits: u64, ty: Ty) -> Value {
        match ty {
            Ty::Scalar(Elem::Real) => Value::Real(f64::from_bits(bits)),
            Ty::Scalar(Elem::Int) => Value::Int(bits.cast_signed()),
            Ty::Scalar(Elem::Bool) => Value::Bool(bits != 0),
            Ty::Scalar(Elem::Unit) => Value::Unit,
            Ty::Scalar(Elem::Text) => Value::text(text::read(bits)),
            Ty::Scalar(Elem::Data(data)) => Value::Data(self.node_of(bits, data)),
            Ty::Array(elem, rank) => self.array_of(bits, elem, rank),
        }
    }

    fn array_of(&self, object: u64, elem: Elem, rank: u8) -> Value {
        let rank = usize::from(rank);
        let shape: Shape = (1..=rank).map(|axis| word(object, axis) as usize).collect();
        let count: usize = shape.iter().product();
        let first = object + 8 * (1 + rank as u64);
        let n = i64::try_from(count).unwrap_or(0);
        let items = match elem {
            Elem::Real => Items::Reals(words(first, n).to_vec()),
            Elem::Int => Items::Ints(words(first, n).to_vec()),
            Elem::Bool => Items::Bools(words::<u64>(first, n).iter().map(|bits| *bits != 0).collect()),
            Elem::Unit => Items::Units(vec![(); count]),
            Elem::Text => {
                let texts = words::<u64>(first, n).iter();
                Items::Texts(
                    texts.map(|bits| Rc::new(wengert_ir::eval::Text::new(text::read(*bits)))).collect(),
                )
            }
            Elem::Data(data) => {
                Items::Data(words::<u64>(first, n).iter().map(|bits| self.node_of(*bits, data)).collect())
            }
        };
        Value::array(shape, items)
    }

    fn start(&self, address: u64, data: DataId) -> Reading {
        let number = |address: u64| u32::try_from(address >> 1).unwrap_or(u32::MAX);
        let ctor = if address & 1 == 1 { number(address) } else { constructor(address) };
        Reading { address, data, ctor, fields: Vec::new() }
    }

    fn node_of(&self, address: u64, data: DataId) -> Rc<Node> {
        let mut known: FxHashMap<u64, Rc<Node>> = FxHashMap::default();
        let mut stack = vec![self.start(address, data)];
        let mut done: Option<Value> = None;
        while let Some(top) = stack.last_mut() {
            top.fields.extend(done.take());
            let place = top.fields.len();
            let (address, ctor, data) = (top.address, top.ctor, top.data);
            let Some(ty) = self.field_ty(data, ctor, place) else {
                let fields = stack.pop().map(|top| top.fields).unwrap_or_default();
                let node = Rc::new(Node::new(ctor, fields));
                known.insert(address, node.clone());
                done = Some(Value::Data(node));
                continue;
            };
            let bits = word(address, 1 + place);
            let Ty::Scalar(Elem::Data(inner)) = ty else {
                done = Some(self.value_of(bits, ty));
                continue;
            };
            match known.get(&bits).filter(|_| bits & 1 == 0) {
                Some(node) => done = Some(Value::Data(node.clone())),
                None => stack.push(self.start(bits, inner)),
            }
        }
        match done {
            Some(Value::Data(node)) => node,
            _ => Rc::new(Node::new(0, Vec::new())),
        }
    }
}

/// One reference more, if it is one to an object.
pub(crate) fn retain(reference: u64) {
    if reference & 1 == 0 {
        set_word(reference, 0, word(reference, 0) + 1);
    }
}

/// The types of what a function takes and gives.
pub(crate) fn signature(program: &Program, func: wengert_ir::FuncId) -> (Vec<Ty>, Vec<Ty>) {
    program.funcs.get(func).map(|func| (func.param_types(), func.results.clone())).unwrap_or_default()
}
