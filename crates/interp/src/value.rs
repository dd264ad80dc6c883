//! Run-time values.
//!
//! A value is 16 bytes. Everything on the heap is reference counted; there are no cycles (a recursive closure finds itself
//! through its code, not through what it captured), and [`Fields`] takes values apart iteratively when they die, so that
//! neither a list of a million cells nor a chain of a million closures overflows the stack.
//!
//! Reals may be *active*: perturbed under one or several tags, see [`Active`].

use crate::compile::Code;
use crate::tape::{Linearization, Tape};
use smallvec::SmallVec;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use wengert_base::Name;

/// Identifies one call of a derivative operator. Later calls have larger tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tag(pub u64);

/// A run-time value.
#[derive(Clone)]
pub enum Value {
    /// A real without perturbation.
    Real(f64),
    /// A real with perturbations.
    Active(Rc<Active>),
    /// An integer.
    Int(i64),
    /// A truth value.
    Bool(bool),
    /// Text.
    String(Rc<Text>),
    /// A tuple; unit is the empty one.
    Tuple(Rc<Fields>),
    /// A record.
    Record(Rc<Record>),
    /// A constructor with its fields.
    Data(Rc<Data>),
    /// An array.
    Array(Rc<Array>),
    /// A function.
    Fun(Rc<Fun>),
    /// A linear functional on some type; the one field is its cotangent, see [`Cotangent`].
    Dual(Rc<Fields>),
    /// The cotangent of a function, inside a [`Value::Dual`] only.
    Cotangent(Rc<Cotangent>),
}

/// Children of a heap value. Its `Drop` is the only place where values are taken apart.
pub struct Fields(SmallVec<[Value; 2]>);

/// A record: its shape is shared by all records made at one place.
pub struct Record {
    /// Field names, sorted.
    pub names: Rc<[Name]>,
    /// Field values in the order of `names`.
    pub fields: Fields,
}

/// A constructor's application.
pub struct Data {
    /// Which constructor.
    pub ctor: Rc<CtorInfo>,
    /// Its fields.
    pub fields: Fields,
}

/// A constructor at run time.
pub struct CtorInfo {
    /// The data type's qualified name.
    pub data: Name,
    /// The position in the declaration.
    pub index: u32,
    /// The name shown.
    pub name: Name,
}

/// An array, stored flat where its elements are plain numbers.
pub enum Array {
    /// Plain reals.
    Reals(Buffer<f64>),
    /// Integers.
    Ints(Buffer<i64>),
    /// Anything else; also the empty array of unknown element type.
    Values(Fields),
}

/// A flat buffer that is known to the memory meter.
pub struct Buffer<T>(Vec<T>);

/// Text that is known to the memory meter.
pub struct Text(String);

/// A real with a perturbation under `tag`; nested ones have smaller tags.
pub struct Active {
    /// The tag.
    pub tag: Tag,
    /// The unperturbed part: a real, whose tags are all smaller.
    pub primal: Value,
    /// The perturbation.
    pub perturbation: Perturbation,
}

/// How a real is perturbed under a tag.
#[derive(Clone)]
pub enum Perturbation {
    /// Forward mode: the tangent, a real with smaller tags only.
    Forward(Value),
    /// Reverse mode: the slot on the tape (whose tag is the active's tag) that holds its tangent.
    Reverse {
        /// The tape.
        tape: Rc<Tape>,
        /// The slot.
        slot: u32,
    },
    /// Taylor mode: coefficients of orders 1, 2, …; the primal is the one of order 0.
    Series(Rc<Fields>),
}

/// A function.
pub enum Fun {
    /// Code with what it captured. Functions of one recursive group share what they captured.
    Closure {
        /// The code.
        code: Rc<Code>,
        /// Captured variables.
        captured: Rc<Fields>,
    },
    /// A function applied to fewer arguments than it takes.
    Partial {
        /// The function.
        func: Value,
        /// The arguments so far.
        args: Fields,
    },
    /// A function input perturbed in forward mode: applied to `x` it is `primal x`, plus `tag` times `tangent` at `x`
    /// without `tag`.
    Forward {
        /// The tag.
        tag: Tag,
        /// The function.
        primal: Value,
        /// Its tangent, a function too.
        tangent: Value,
    },
    /// A function that a checkpoint gave in reverse mode: each application is noted on the tape.
    Reverse {
        /// The tape.
        tape: Rc<Tape>,
        /// The slot whose cotangent collects points and cotangents of results.
        slot: u32,
        /// The function.
        primal: Value,
    },
    /// The tangent under `tag` of a function that captured perturbations; each call renames the tag first.
    TangentOf {
        /// The tag, bound here.
        tag: Tag,
        /// The function.
        func: Value,
    },
    /// The tangent map of `linearize`, or its transpose as made by `vjp`.
    Linear {
        /// The recorded linear program.
        map: Rc<Linearization>,
        /// Whether it goes from cotangents of the result to cotangents of the argument.
        transposed: bool,
    },
}

/// The cotangent of a function: the functional `h ↦ Σ ⟨wᵢ, h xᵢ⟩`.
#[derive(Default)]
pub struct Cotangent {
    /// Points and cotangents, alternating: `x₀, w₀, x₁, w₁, …`.
    pub pairs: Fields,
}

thread_local! {
    /// Bytes held by values of this thread, as the memory meter counts them.
    static LIVE_BYTES: Cell<u64> = const { Cell::new(0) };
    /// Children of dead values that still have to be dropped; `Some` while a drop is under way.
    static DYING: RefCell<Option<Vec<Value>>> = const { RefCell::new(None) };
}

/// Bytes held by values of this thread.
pub fn live_bytes() -> u64 {
    LIVE_BYTES.with(Cell::get)
}

/// Tells the memory meter of `bytes` more (or less).
pub(crate) fn meter(bytes: i64) {
    LIVE_BYTES.with(|live| live.set(live.get().wrapping_add_signed(bytes)));
}

/// What a heap value costs beside its children: counters, allocator overhead, enum tag.
const HEADER_BYTES: usize = 32;

fn bytes_of_fields(fields: &SmallVec<[Value; 2]>) -> i64 {
    (HEADER_BYTES + fields.capacity() * size_of::<Value>()) as i64
}

impl Fields {
    /// Fields with these children.
    pub fn new(children: SmallVec<[Value; 2]>) -> Fields {
        meter(bytes_of_fields(&children));
        Fields(children)
    }

    /// The children.
    pub fn as_slice(&self) -> &[Value] {
        &self.0
    }

    /// Child `i`.
    pub fn get(&self, i: usize) -> Option<&Value> {
        self.0.get(i)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Gives child `i` away; what is left has no meaning at that place.
    pub(crate) fn take(&mut self, i: usize) -> Option<Value> {
        self.0.get_mut(i).map(|child| std::mem::replace(child, Value::Bool(false)))
    }

    /// Gives the children away.
    pub fn into_inner(mut self) -> SmallVec<[Value; 2]> {
        let children = std::mem::take(&mut self.0);
        // What is left behind is an empty vector: correct the meter so that its drop balances.
        meter(bytes_of_fields(&self.0) - bytes_of_fields(&children));
        children
    }

    /// Changes the children in place (the holder is unique).
    pub fn update<R>(&mut self, change: impl FnOnce(&mut SmallVec<[Value; 2]>) -> R) -> R {
        let before = bytes_of_fields(&self.0);
        let result = change(&mut self.0);
        meter(bytes_of_fields(&self.0) - before);
        result
    }
}

impl Default for Fields {
    fn default() -> Fields {
        Fields::new(SmallVec::new())
    }
}

impl FromIterator<Value> for Fields {
    fn from_iter<I: IntoIterator<Item = Value>>(iter: I) -> Fields {
        Fields::new(iter.into_iter().collect())
    }
}

impl Value {
    /// Whether dropping this value may drop others.
    fn has_children(&self) -> bool {
        match self {
            Value::Real(_) | Value::Int(_) | Value::Bool(_) | Value::String(_) => false,
            Value::Array(array) => matches!(**array, Array::Values(_)),
            Value::Active(_)
            | Value::Tuple(_)
            | Value::Record(_)
            | Value::Data(_)
            | Value::Fun(_)
            | Value::Dual(_)
            | Value::Cotangent(_) => true,
        }
    }
}

/// Drops values without recursion: children that may die are queued, and the outermost drop empties the queue.
pub(crate) fn drop_later(children: impl Iterator<Item = Value>) {
    let mut children = children.filter(Value::has_children);
    let Some(first) = children.next() else { return };
    let queued = DYING.try_with(|dying| {
        let mut dying = dying.borrow_mut();
        let outermost = dying.is_none();
        let queue = dying.get_or_insert_default();
        queue.push(first);
        queue.extend(children);
        outermost
    });
    // At thread exit the queue may be gone already; then the values were dropped above, recursively.
    if queued != Ok(true) {
        return;
    }
    while let Some(value) = DYING.with(|dying| dying.borrow_mut().as_mut().and_then(Vec::pop)) {
        drop(value);
    }
    DYING.with(|dying| *dying.borrow_mut() = None);
}

impl Drop for Fields {
    fn drop(&mut self) {
        meter(-bytes_of_fields(&self.0));
        if self.0.iter().any(Value::has_children) {
            drop_later(self.0.drain(..));
        }
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        meter(-(ACTIVE_BYTES as i64));
        if matches!(self.primal, Value::Active(_)) {
            drop_later(std::iter::once(std::mem::replace(&mut self.primal, Value::Real(0.0))));
        }
        if let Perturbation::Forward(tangent) = &mut self.perturbation
            && matches!(tangent, Value::Active(_))
        {
            drop_later(std::iter::once(std::mem::replace(tangent, Value::Real(0.0))));
        }
    }
}

const ACTIVE_BYTES: usize = size_of::<Active>() + HEADER_BYTES;

impl Active {
    /// A perturbed real.
    pub fn new(tag: Tag, primal: Value, perturbation: Perturbation) -> Active {
        meter(ACTIVE_BYTES as i64);
        Active { tag, primal, perturbation }
    }
}

impl<T> Buffer<T> {
    /// A metered buffer.
    pub fn new(items: Vec<T>) -> Buffer<T> {
        meter((HEADER_BYTES + items.capacity() * size_of::<T>()) as i64);
        Buffer(items)
    }

    /// The items.
    pub fn as_slice(&self) -> &[T] {
        &self.0
    }

    /// The items, to change in place.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T> Drop for Buffer<T> {
    fn drop(&mut self) {
        meter(-((HEADER_BYTES + self.0.capacity() * size_of::<T>()) as i64));
    }
}

impl<T> Buffer<T> {
    /// Gives the items away.
    pub fn into_inner(mut self) -> Vec<T> {
        let items = std::mem::take(&mut self.0);
        meter(-((items.capacity() * size_of::<T>()) as i64));
        items
    }
}

impl Text {
    /// Metered text.
    pub fn new(text: impl Into<String>) -> Text {
        let text = text.into();
        meter((HEADER_BYTES + text.capacity()) as i64);
        Text(text)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Appends (the holder is unique).
    pub(crate) fn push_str(&mut self, more: &str) {
        let before = self.0.capacity();
        self.0.push_str(more);
        meter(self.0.capacity() as i64 - before as i64);
    }
}

impl Drop for Text {
    fn drop(&mut self) {
        meter(-((HEADER_BYTES + self.0.capacity()) as i64));
    }
}

impl Drop for Fun {
    fn drop(&mut self) {
        let nothing = || Value::Bool(false);
        match self {
            Fun::Partial { func, .. } | Fun::TangentOf { func, .. } => {
                drop_later(std::iter::once(std::mem::replace(func, nothing())));
            }
            Fun::Forward { primal, tangent, .. } => {
                let parts = [std::mem::replace(primal, nothing()), std::mem::replace(tangent, nothing())];
                drop_later(parts.into_iter());
            }
            Fun::Reverse { primal, .. } => {
                drop_later(std::iter::once(std::mem::replace(primal, nothing())));
            }
            Fun::Closure { .. } | Fun::Linear { .. } => {}
        }
    }
}
