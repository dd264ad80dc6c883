//! Values from outside, and for the outside: what a library or a JSON reader needs to make values and to look at them.

use crate::builtins::array;
use crate::step::Failure;
use crate::value::{Array, CtorInfo, Data, Record, Text, Value};
use std::rc::Rc;
use wengert_base::Name;

/// A value, taken apart one level.
#[derive(Clone)]
pub enum View {
    /// A number; perturbations are left out.
    Real(f64),
    /// An integer.
    Int(i64),
    /// A truth value.
    Bool(bool),
    /// Text.
    String(String),
    /// Components.
    Tuple(Vec<Value>),
    /// Fields, sorted by name.
    Record(Vec<(Name, Value)>),
    /// Constructor name and fields.
    Data(Name, Vec<Value>),
    /// Elements.
    Array(Vec<Value>),
    /// A function.
    Function,
    /// A functional, with its vector if it is one on a first-order type.
    Dual(Option<Value>),
}

impl Value {
    /// A tuple; unit if there are no components.
    pub fn tuple(items: impl IntoIterator<Item = Value>) -> Value {
        Value::Tuple(Rc::new(items.into_iter().collect()))
    }

    /// Text.
    pub fn string(text: impl Into<String>) -> Value {
        Value::String(Rc::new(Text::new(text)))
    }

    /// A record; fields may come in any order.
    pub fn record(fields: impl IntoIterator<Item = (Name, Value)>) -> Value {
        let mut fields: Vec<(Name, Value)> = fields.into_iter().collect();
        fields.sort_by_key(|(name, _)| *name);
        let names = fields.iter().map(|(name, _)| *name).collect();
        let fields = fields.into_iter().map(|(_, value)| value).collect();
        Value::Record(Rc::new(Record { names, fields }))
    }

    /// A constructor with its fields.
    pub fn data(ctor: Rc<CtorInfo>, fields: impl IntoIterator<Item = Value>) -> Value {
        Value::Data(Rc::new(Data { ctor, fields: fields.into_iter().collect() }))
    }

    /// An array, stored flat if that is possible. Rows of different sizes are refused.
    pub fn array(items: impl IntoIterator<Item = Value>) -> Result<Value, Failure> {
        array::from_values(items.into_iter())
    }

    /// An array of numbers.
    pub fn reals(items: Vec<f64>) -> Value {
        array::of_reals(items)
    }

    /// An array of integers.
    pub fn ints(items: Vec<i64>) -> Value {
        array::of_ints(items)
    }

    /// What it is, and its parts.
    pub fn view(&self) -> View {
        match self {
            Value::Real(x) => View::Real(*x),
            Value::Active(_) => View::Real(crate::arith::primal(self)),
            Value::Int(n) => View::Int(*n),
            Value::Bool(truth) => View::Bool(*truth),
            Value::String(text) => View::String(text.as_str().to_owned()),
            Value::Tuple(items) => View::Tuple(items.as_slice().to_vec()),
            Value::Record(record) => View::Record(
                record.names.iter().copied().zip(record.fields.as_slice().iter().cloned()).collect(),
            ),
            Value::Data(data) => View::Data(data.ctor.name, data.fields.as_slice().to_vec()),
            Value::Array(array) => View::Array(array.items().collect()),
            Value::Fun(_) | Value::Cotangent(_) => View::Function,
            Value::Dual(inner) => View::Dual(inner.get(0).cloned()),
        }
    }

    /// The elements, if it is an array of plain numbers.
    pub fn as_reals(&self) -> Option<&[f64]> {
        let Value::Array(array) = self else { return None };
        match &**array {
            Array::Reals(items) => Some(items.as_slice()),
            Array::Ints(_) | Array::Values(_) => None,
        }
    }
}

impl std::fmt::Debug for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&crate::show::show_bounded(self, 2000))
    }
}
