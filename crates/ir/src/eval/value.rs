//! Run-time values of the reference evaluator.
//!
//! A value is 16 bytes. Arrays are flat: a shape and one buffer of elements, changed in place where nobody else has
//! them. Data is shared and never changed. What is on the heap is counted, by reference and by the memory meter, and is
//! taken apart iteratively: neither a list of a million cells nor a tape of as many steps overflows the stack.

use crate::ty::Elem;
use smallvec::SmallVec;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// A run-time value.
#[derive(Clone, Debug)]
pub enum Value {
    /// A real number.
    Real(f64),
    /// An integer.
    Int(i64),
    /// A truth value.
    Bool(bool),
    /// A text.
    Text(Rc<Text>),
    /// The empty tuple.
    Unit,
    /// A constructor with its fields.
    Data(Rc<Node>),
    /// An array.
    Array(Rc<Array>),
}

/// Text that is known to the memory meter.
#[derive(Debug)]
pub struct Text(String);

/// A constructor with its fields.
#[derive(Debug)]
pub struct Node {
    /// Which constructor.
    pub ctor: u32,
    fields: Box<[Value]>,
}

/// The sizes of an array along its axes.
pub type Shape = SmallVec<[usize; 2]>;

/// A rectangular array in row-major order. After an axis of size 0 all sizes are 0.
#[derive(Debug)]
pub struct Array {
    shape: Shape,
    items: Items,
}

/// Elements of one kind.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "as the kinds of elements")]
pub enum Items {
    Reals(Vec<f64>),
    Ints(Vec<i64>),
    Bools(Vec<bool>),
    Texts(Vec<Rc<Text>>),
    Units(Vec<()>),
    Data(Vec<Rc<Node>>),
}

/// The same expression for each kind of elements.
macro_rules! each_items {
    ($items:expr, $vec:ident => $result:expr) => {
        match $items {
            Items::Reals($vec) => $result,
            Items::Ints($vec) => $result,
            Items::Bools($vec) => $result,
            Items::Texts($vec) => $result,
            Items::Units($vec) => $result,
            Items::Data($vec) => $result,
        }
    };
}

/// The elements that an expression makes of those of each kind.
macro_rules! map_items {
    ($items:expr, $vec:ident => $result:expr) => {
        match $items {
            Items::Reals($vec) => Items::Reals($result),
            Items::Ints($vec) => Items::Ints($result),
            Items::Bools($vec) => Items::Bools($result),
            Items::Texts($vec) => Items::Texts($result),
            Items::Units($vec) => Items::Units($result),
            Items::Data($vec) => Items::Data($result),
        }
    };
}
pub(super) use map_items;

/// An expression on two buffers of the same kind; `$other` if they are of different kinds.
macro_rules! both_items {
    ($left:expr, $right:expr, ($x:ident, $y:ident) => $result:expr, $other:expr) => {
        match ($left, $right) {
            (Items::Reals($x), Items::Reals($y)) => $result,
            (Items::Ints($x), Items::Ints($y)) => $result,
            (Items::Bools($x), Items::Bools($y)) => $result,
            (Items::Texts($x), Items::Texts($y)) => $result,
            (Items::Units($x), Items::Units($y)) => $result,
            (Items::Data($x), Items::Data($y)) => $result,
            _ => $other,
        }
    };
}

thread_local! {
    /// Bytes held by values of this thread.
    static LIVE_BYTES: Cell<u64> = const { Cell::new(0) };
    /// Values that still have to be dropped; `Some` while a drop is under way.
    static DYING: RefCell<Option<Vec<Value>>> = const { RefCell::new(None) };
}

/// What a heap value costs beside its parts: counters, the allocator's overhead.
const HEADER_BYTES: usize = 32;

/// Bytes held by values of this thread.
pub(super) fn live_bytes() -> u64 {
    LIVE_BYTES.with(Cell::get)
}

fn meter(bytes: i64) {
    // At thread exit the meter may be gone already.
    let _ = LIVE_BYTES.try_with(|live| live.set(live.get().wrapping_add_signed(bytes)));
}

fn bytes(parts: usize) -> i64 {
    (HEADER_BYTES + parts) as i64
}

impl Text {
    /// A text.
    pub fn new(text: impl Into<String>) -> Text {
        let text = text.into();
        meter(bytes(text.capacity()));
        Text(text)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Appends (the holder is unique).
    pub(super) fn push_str(&mut self, more: &str) {
        let before = self.0.capacity();
        self.0.push_str(more);
        meter(self.0.capacity() as i64 - before as i64);
    }
}

impl Drop for Text {
    fn drop(&mut self) {
        meter(-bytes(self.0.capacity()));
    }
}

impl Node {
    /// A constructor with its fields.
    pub fn new(ctor: u32, fields: impl Into<Box<[Value]>>) -> Node {
        let fields = fields.into();
        meter(bytes(size_of_val(&*fields)));
        Node { ctor, fields }
    }

    /// The fields.
    pub fn fields(&self) -> &[Value] {
        &self.fields
    }

    /// Gives a field away; what is left has no meaning at that place.
    pub(super) fn take(&mut self, index: usize) -> Option<Value> {
        self.fields.get_mut(index).map(|field| std::mem::replace(field, Value::Unit))
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        meter(-bytes(size_of_val(&*self.fields)));
        let fields = self.fields.iter_mut().filter(|field| field.has_parts());
        drop_later(fields.map(|field| std::mem::replace(field, Value::Unit)));
    }
}

impl Array {
    /// An array of that shape, whose product is the number of elements.
    pub fn new(mut shape: Shape, items: Items) -> Array {
        if let Some(zero) = shape.iter().position(|size| *size == 0) {
            shape.iter_mut().skip(zero).for_each(|size| *size = 0);
        }
        debug_assert_eq!(shape.iter().product::<usize>(), items.len());
        meter(bytes(items.bytes()));
        Array { shape, items }
    }

    /// An array with one axis.
    pub fn vector(items: Items) -> Array {
        Array::new([items.len()].into_iter().collect(), items)
    }

    /// The sizes along the axes.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.shape.first().copied().unwrap_or(0)
    }

    /// The shape of a row.
    pub fn row_shape(&self) -> &[usize] {
        self.shape.get(1..).unwrap_or_default()
    }

    /// The elements.
    pub fn items(&self) -> &Items {
        &self.items
    }

    /// The elements, to be changed in place: as many as before.
    pub(super) fn items_mut(&mut self) -> &mut Items {
        &mut self.items
    }

    /// The element or row at that place of the first axis.
    pub fn row(&self, index: usize) -> Option<Value> {
        let shape = self.row_shape();
        if shape.is_empty() {
            return self.items.get(index);
        }
        let size: usize = shape.iter().product();
        let items = self.items.part(index * size, size)?;
        Some(Value::Array(Rc::new(Array::new(shape.iter().copied().collect(), items))))
    }
}

impl Clone for Array {
    fn clone(&self) -> Array {
        Array::new(self.shape.clone(), self.items.clone())
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        meter(-bytes(self.items.bytes()));
        if let Items::Data(nodes) = &mut self.items {
            drop_later(nodes.drain(..).map(Value::Data));
        }
    }
}

impl Items {
    /// No elements so far.
    pub fn with_capacity(elem: Elem, capacity: usize) -> Items {
        match elem {
            Elem::Real => Items::Reals(Vec::with_capacity(capacity)),
            Elem::Int => Items::Ints(Vec::with_capacity(capacity)),
            Elem::Bool => Items::Bools(Vec::with_capacity(capacity)),
            Elem::Text => Items::Texts(Vec::with_capacity(capacity)),
            Elem::Unit => Items::Units(Vec::with_capacity(capacity)),
            Elem::Data(_) => Items::Data(Vec::with_capacity(capacity)),
        }
    }

    /// No elements so far, of the same kind.
    pub(super) fn empty_like(&self) -> Items {
        map_items!(self, _items => Vec::new())
    }

    /// The last becomes the first.
    pub(super) fn reverse(&mut self) {
        each_items!(self, items => items.reverse());
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        each_items!(self, items => items.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// An element.
    pub fn get(&self, index: usize) -> Option<Value> {
        Some(match self {
            Items::Reals(items) => Value::Real(*items.get(index)?),
            Items::Ints(items) => Value::Int(*items.get(index)?),
            Items::Bools(items) => Value::Bool(*items.get(index)?),
            Items::Texts(items) => Value::Text(items.get(index)?.clone()),
            Items::Units(items) => items.get(index).map(|()| Value::Unit)?,
            Items::Data(items) => Value::Data(items.get(index)?.clone()),
        })
    }

    /// So many elements from that place on.
    pub(super) fn part(&self, from: usize, len: usize) -> Option<Items> {
        let range = from..from.checked_add(len)?;
        Some(map_items!(self, items => items.get(range)?.to_vec()))
    }

    /// Appends an element; whether it was of the right kind.
    pub fn push(&mut self, value: Value) -> bool {
        match (self, value) {
            (Items::Reals(items), Value::Real(x)) => items.push(x),
            (Items::Ints(items), Value::Int(n)) => items.push(n),
            (Items::Bools(items), Value::Bool(truth)) => items.push(truth),
            (Items::Texts(items), Value::Text(text)) => items.push(text),
            (Items::Units(items), Value::Unit) => items.push(()),
            (Items::Data(items), Value::Data(node)) => items.push(node),
            _ => return false,
        }
        true
    }

    /// Appends the elements of others of the same kind; whether they were.
    pub fn extend(&mut self, others: &Items) -> bool {
        both_items!(self, others, (items, others) => {
            items.extend_from_slice(others);
            true
        }, false)
    }

    /// Puts others in the place of as many from `at` on; whether that was possible.
    pub(super) fn replace(&mut self, at: usize, others: &Items) -> bool {
        both_items!(self, others, (items, others) => {
            let place = items.get_mut(at..at + others.len());
            place.map(|place| place.clone_from_slice(others)).is_some()
        }, false)
    }

    fn bytes(&self) -> usize {
        fn of<T>(items: &Vec<T>) -> usize {
            items.capacity().saturating_mul(size_of::<T>())
        }
        match self {
            // Empty tuples take no space, however many.
            Items::Units(_) => 0,
            Items::Reals(items) => of(items),
            Items::Ints(items) => of(items),
            Items::Bools(items) => of(items),
            Items::Texts(items) => of(items),
            Items::Data(items) => of(items),
        }
    }
}

impl Value {
    /// A text.
    pub fn text(text: impl Into<String>) -> Value {
        Value::Text(Rc::new(Text::new(text)))
    }

    /// A constructor with its fields.
    pub fn data(ctor: u32, fields: impl Into<Box<[Value]>>) -> Value {
        Value::Data(Rc::new(Node::new(ctor, fields)))
    }

    /// An array of reals with one axis.
    pub fn reals(items: impl Into<Vec<f64>>) -> Value {
        Value::Array(Rc::new(Array::vector(Items::Reals(items.into()))))
    }

    /// An array of integers with one axis.
    pub fn ints(items: impl Into<Vec<i64>>) -> Value {
        Value::Array(Rc::new(Array::vector(Items::Ints(items.into()))))
    }

    /// An array of that shape, whose product is the number of elements.
    pub fn array(shape: impl IntoIterator<Item = usize>, items: Items) -> Value {
        Value::Array(Rc::new(Array::new(shape.into_iter().collect(), items)))
    }

    /// Whether dropping it may drop data.
    fn has_parts(&self) -> bool {
        match self {
            Value::Real(_) | Value::Int(_) | Value::Bool(_) | Value::Text(_) | Value::Unit => false,
            Value::Data(_) => true,
            Value::Array(array) => matches!(array.items, Items::Data(_)),
        }
    }

    /// Whether two values are the same: `NaN` is `NaN`, and `-0.0` is `0.0`. A work list instead of recursion, as lists
    /// are deep.
    pub fn same(&self, other: &Value) -> bool {
        fn reals(x: f64, y: f64) -> bool {
            x == y || (x.is_nan() && y.is_nan())
        }
        let mut todo = vec![(self.clone(), other.clone())];
        while let Some((x, y)) = todo.pop() {
            let same = match (&x, &y) {
                (Value::Real(x), Value::Real(y)) => reals(*x, *y),
                (Value::Int(x), Value::Int(y)) => x == y,
                (Value::Bool(x), Value::Bool(y)) => x == y,
                (Value::Text(x), Value::Text(y)) => x.as_str() == y.as_str(),
                (Value::Unit, Value::Unit) => true,
                (Value::Data(x), Value::Data(y)) => {
                    let same = x.ctor == y.ctor && x.fields.len() == y.fields.len();
                    if !Rc::ptr_eq(x, y) {
                        todo.extend(x.fields.iter().cloned().zip(y.fields.iter().cloned()));
                    }
                    same
                }
                (Value::Array(x), Value::Array(y)) if x.shape == y.shape => match (&x.items, &y.items) {
                    (Items::Reals(x), Items::Reals(y)) => x.iter().zip(y).all(|(x, y)| reals(*x, *y)),
                    (Items::Ints(x), Items::Ints(y)) => x == y,
                    (Items::Bools(x), Items::Bools(y)) => x == y,
                    (Items::Texts(x), Items::Texts(y)) => {
                        x.iter().zip(y).all(|(x, y)| x.as_str() == y.as_str())
                    }
                    (Items::Units(x), Items::Units(y)) => x.len() == y.len(),
                    (Items::Data(x), Items::Data(y)) => {
                        let nodes =
                            |nodes: &[Rc<Node>]| nodes.iter().cloned().map(Value::Data).collect::<Vec<_>>();
                        todo.extend(nodes(x).into_iter().zip(nodes(y)));
                        true
                    }
                    _ => false,
                },
                _ => false,
            };
            if !same {
                return false;
            }
        }
        true
    }
}

/// Drops values without recursion: those that may drop others are queued, and the outermost drop empties the queue.
fn drop_later(mut values: impl Iterator<Item = Value>) {
    let Some(first) = values.next() else { return };
    let outermost = DYING.try_with(|dying| {
        let mut dying = dying.borrow_mut();
        let outermost = dying.is_none();
        let queue = dying.get_or_insert_default();
        queue.push(first);
        queue.extend(values);
        outermost
    });
    // At thread exit the queue may be gone already; then the values were dropped above, recursively.
    if outermost != Ok(true) {
        return;
    }
    while let Some(value) = DYING.with(|dying| dying.borrow_mut().as_mut().and_then(Vec::pop)) {
        drop(value);
    }
    DYING.with(|dying| *dying.borrow_mut() = None);
}
