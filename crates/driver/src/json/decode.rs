//! JSON to values, directed by types.
//!
//! [`Decoder`] walks document and type together with an explicit stack of [`Frame`]s, one for each open container, so that depth
//! costs memory but no Rust recursion. Types of constructor fields are not instantiated by substitution, which would copy
//! them at every level (and for a type like `type Nest a = Flat a | Deep (Nest (a, a))` double them): a type is read in an
//! *environment* that says what its variables are, a list of pairs (type, environment) in [`Decoder::environments`].
//!
//! The stack is also the path to the current place, which every message begins with:
//! `argument 1, field "x", element 3: expected a number, found a string`.

use super::guess::{self, Open};
use super::parse::{Document, NodeKind};
use crate::errors;
use crate::similar::nearest;
use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use std::rc::Rc;
use std::sync::Arc;
use wengert_base::{Diagnostic, Name};
use wengert_core::{DataType, Row, Scheme, Size, Type, TypeArg};
use wengert_interp::value::{Array, Buffer, CtorInfo, Data, Fields, Record, Text, Value};

/// Declared data types by qualified name.
pub(crate) type DataTypes = IndexMap<Name, Arc<DataType>>;

/// A type and the environment in which it is read.
type Bound<'a> = (&'a Type, usize);

/// The environment of the entry's own type parameters.
const ENTRY: usize = 0;

/// Reads the arguments of one call.
pub(super) struct Decoder<'a> {
    document: &'a Document,
    data_types: &'a DataTypes,
    /// What type variables stand for; the types are never variables of an environment other than [`ENTRY`].
    environments: Vec<Vec<(Name, Bound<'a>)>>,
    rows: FxHashMap<Name, &'a Row>,
    /// What named sizes turned out to be, and where.
    sizes: FxHashMap<Name, (usize, String)>,
    ctors: FxHashMap<(Name, u32), Rc<CtorInfo>>,
    frames: Vec<Frame<'a>>,
    argument: usize,
    /// What stood where the type was an unsettled variable.
    pub(super) open: Open,
}

/// A container whose children are being read.
struct Frame<'a> {
    shape: Shape<'a>,
    environment: usize,
    /// Nodes of the children that are still to be read, last first.
    left: Vec<usize>,
    done: Vec<Value>,
}

enum Shape<'a> {
    Tuple(&'a [Type]),
    Array(&'a Type),
    Record(Rc<[Name]>, Vec<&'a Type>),
    Ctor(Rc<CtorInfo>, &'a [Type]),
}

/// What reading a node leads to.
enum Started<'a> {
    Done(Value),
    Open(Frame<'a>),
}

impl<'a> Decoder<'a> {
    /// A decoder for the arguments of an entry of that type, instantiated like this; without type arguments its variables
    /// are unsettled.
    pub(super) fn new(
        document: &'a Document,
        data_types: &'a DataTypes,
        scheme: &Scheme,
        type_args: &'a [TypeArg],
    ) -> Self {
        let mut entry = Vec::new();
        let mut rows = FxHashMap::default();
        for (param, arg) in scheme.params.iter().zip(type_args) {
            match arg {
                TypeArg::Type(ty) => entry.push((param.name, (ty, ENTRY))),
                TypeArg::Row(row) => {
                    rows.insert(param.name, row);
                }
                TypeArg::Size(_) => {}
            }
        }
        Decoder {
            document,
            data_types,
            environments: vec![entry],
            rows,
            sizes: FxHashMap::default(),
            ctors: FxHashMap::default(),
            frames: Vec::new(),
            argument: 0,
            open: Open::default(),
        }
    }

    /// Reads argument number `index` (from 0).
    pub(super) fn argument(&mut self, index: usize, node: usize, ty: &'a Type) -> Result<Value, Diagnostic> {
        self.argument = index;
        self.frames.clear();
        let mut started = self.start(node, (ty, ENTRY))?;
        loop {
            match started {
                Started::Open(frame) => self.frames.push(frame),
                Started::Done(value) => match self.frames.last_mut() {
                    None => return Ok(value),
                    Some(frame) => frame.done.push(value),
                },
            }
            let Some(frame) = self.frames.last_mut() else { break };
            started = match (frame.left.pop(), frame.child()) {
                (Some(child), Some(ty)) => {
                    let environment = frame.environment;
                    self.start(child, (ty, environment))?
                }
                _ => match self.frames.pop() {
                    Some(frame) => Started::Done(frame.finish()),
                    None => break,
                },
            };
        }
        Err(errors::internal(self.document.span(node), "the JSON reader lost its place"))
    }

    /// The type parameters with the sizes that the arguments turned out to have.
    pub(super) fn with_sizes(&self, scheme: &Scheme, type_args: &[TypeArg]) -> Vec<TypeArg> {
        scheme
            .params
            .iter()
            .zip(type_args)
            .map(|(param, arg)| match (arg, self.sizes.get(&param.name)) {
                (TypeArg::Size(_), Some((size, _))) => TypeArg::Size(Size::Const(*size as u64)),
                _ => arg.clone(),
            })
            .collect()
    }

    fn start(&mut self, node: usize, bound: Bound<'a>) -> Result<Started<'a>, Diagnostic> {
        let (ty, environment) = self.resolve(bound);
        let value = match ty {
            Type::Real => Value::Real(self.real(node)?),
            Type::Int => Value::Int(self.int(node)?),
            Type::Bool => {
                let NodeKind::Bool(b) = self.document.kind(node) else {
                    return Err(self.wrong(node, "a boolean"));
                };
                Value::Bool(*b)
            }
            Type::String => {
                let NodeKind::Text(text) = self.document.kind(node) else {
                    return Err(self.wrong(node, "a string"));
                };
                Value::String(Rc::new(Text::new(text.to_string())))
            }
            Type::Tuple(types) => return self.tuple(node, types, environment),
            Type::Array(size, elem) => return self.array(node, size, elem, environment),
            Type::Record(row) => return self.record(node, row, environment),
            Type::Data(name, args) => return self.data(node, *name, args, environment),
            Type::Fun(..) | Type::Dual(_) => {
                let (span, path) = (self.document.span(node), self.path());
                return Err(errors::no_json_form(span, &path, &self.show(ty, environment)));
            }
            Type::Var(name) => {
                self.open.types.entry(*name).or_default().push(node);
                Value::Bool(false)
            }
        };
        Ok(Started::Done(value))
    }

    /// What a type variable stands for.
    fn resolve(&self, (mut ty, mut environment): Bound<'a>) -> Bound<'a> {
        while let Type::Var(name) = ty {
            let bindings = self.environments.get(environment);
            match bindings.and_then(|bindings| bindings.iter().find(|(bound, _)| bound == name)) {
                Some((_, bound)) => (ty, environment) = *bound,
                None => break,
            }
        }
        (ty, environment)
    }

    fn real(&self, node: usize) -> Result<f64, Diagnostic> {
        match self.document.kind(node) {
            NodeKind::Number { real, .. } if real.is_finite() => Ok(*real),
            NodeKind::Number { .. } => {
                let span = self.document.span(node);
                Err(errors::number_out_of_range(span, &self.path(), "a number this large", "a `Real`"))
            }
            NodeKind::Text(text) => guess::special_real(text).ok_or_else(|| self.wrong(node, "a number")),
            NodeKind::Null
            | NodeKind::Bool(_)
            | NodeKind::Key(_)
            | NodeKind::Array { .. }
            | NodeKind::Object { .. } => Err(self.wrong(node, "a number")),
        }
    }

    fn int(&self, node: usize) -> Result<i64, Diagnostic> {
        let NodeKind::Number { real, int, .. } = self.document.kind(node) else {
            return Err(self.wrong(node, "an integer"));
        };
        int.ok_or_else(|| {
            // What is not an integer by less than a `Real` can tell is not shown as one.
            let looks_whole = real.fract() == 0.0 && real.abs() < i64::MAX as f64;
            let number = if looks_whole { "this".into() } else { wengert_base::real::show(*real) };
            let span = self.document.span(node);
            errors::number_out_of_range(span, &self.path(), &number, "an `Int`")
        })
    }

    fn tuple(&self, node: usize, types: &'a [Type], environment: usize) -> Result<Started<'a>, Diagnostic> {
        let NodeKind::Array { len, .. } = self.document.kind(node) else {
            return Err(self.wrong(node, &tuple_words(types.len())));
        };
        if *len as usize != types.len() {
            let (span, path) = (self.document.span(node), self.path());
            return Err(errors::wrong_length(span, &path, &tuple_words(types.len()), *len as usize, None));
        }
        Ok(self.open_frame(Shape::Tuple(types), environment, self.document.children(node).collect()))
    }

    fn array(
        &mut self,
        node: usize,
        size: &'a Size,
        elem: &'a Type,
        environment: usize,
    ) -> Result<Started<'a>, Diagnostic> {
        let NodeKind::Array { len, .. } = self.document.kind(node) else {
            return Err(self.wrong(node, "an array"));
        };
        self.check_size(node, size, *len as usize)?;
        self.check_row(node, *len as usize)?;
        let (elem, environment) = self.resolve((elem, environment));
        let children = self.document.children(node);
        // Arrays of plain numbers are by far the longest: no frame for them.
        let array = match elem {
            Type::Real => {
                let mut items = Vec::with_capacity(children.len());
                for (i, child) in children.enumerate() {
                    items.push(self.real(child).map_err(|error| self.in_element(i, error))?);
                }
                Array::Reals(Buffer::new(items))
            }
            Type::Int => {
                let mut items = Vec::with_capacity(children.len());
                for (i, child) in children.enumerate() {
                    items.push(self.int(child).map_err(|error| self.in_element(i, error))?);
                }
                Array::Ints(Buffer::new(items))
            }
            Type::Bool
            | Type::String
            | Type::Tuple(_)
            | Type::Record(_)
            | Type::Array(..)
            | Type::Fun(..)
            | Type::Data(..)
            | Type::Dual(_)
            | Type::Var(_) => {
                return Ok(self.open_frame(Shape::Array(elem), environment, children.collect()));
            }
        };
        Ok(Started::Done(Value::Array(Rc::new(array))))
    }

    /// Adds the element to the path that a message begins with.
    fn in_element(&self, index: usize, mut error: Diagnostic) -> Diagnostic {
        let path = self.path();
        if let Some(rest) = error.message.strip_prefix(&path) {
            error.message = format!("{path}, element {}{rest}", index + 1);
        }
        error
    }

    /// The rows of an array agree in size.
    fn check_row(&self, node: usize, found: usize) -> Result<(), Diagnostic> {
        let arrays = self.frames.iter().rev().take_while(|frame| matches!(frame.shape, Shape::Array(_)));
        for (up, frame) in arrays.enumerate() {
            let Some(mut other) = frame.done.first() else { continue };
            for _ in 0..up {
                let Value::Array(array) = other else { return Ok(()) };
                let Array::Values(rows) = array.as_ref() else { return Ok(()) };
                let Some(first) = rows.get(0) else { return Ok(()) };
                other = first;
            }
            let Value::Array(other) = other else { return Ok(()) };
            if other.len() == found {
                return Ok(());
            }
            let (expected, why) =
                (format!("an array of {}", other.len()), "the rows of an array have one size");
            let (span, path) = (self.document.span(node), self.path());
            return Err(errors::wrong_length(span, &path, &expected, found, Some(why.into())));
        }
        Ok(())
    }

    fn check_size(&mut self, node: usize, size: &Size, found: usize) -> Result<(), Diagnostic> {
        let (span, path) = (self.document.span(node), self.path());
        match size {
            Size::Unknown => Ok(()),
            Size::Const(expected) if *expected == found as u64 => Ok(()),
            Size::Const(expected) => {
                Err(errors::wrong_length(span, &path, &format!("an array of {expected}"), found, None))
            }
            Size::Var(name) => match self.sizes.get(name) {
                None => {
                    self.sizes.insert(*name, (found, path));
                    Ok(())
                }
                Some((expected, _)) if *expected == found => Ok(()),
                Some((expected, place)) => {
                    let why = format!("the size `{name}` is {expected} in {place}");
                    Err(errors::wrong_length(
                        span,
                        &path,
                        &format!("an array of {expected}"),
                        found,
                        Some(why),
                    ))
                }
            },
        }
    }

    fn record(&mut self, node: usize, row: &'a Row, environment: usize) -> Result<Started<'a>, Diagnostic> {
        if !matches!(self.document.kind(node), NodeKind::Object { .. }) {
            return Err(self.wrong(node, "an object"));
        }
        let mut fields: Vec<(Name, &'a Type)> = row.fields.iter().map(|(name, ty)| (*name, ty)).collect();
        let settled = row.rest.and_then(|rest| self.rows.get(&rest).copied());
        if let Some(more) = settled {
            fields.extend(
                more.fields.iter().filter(|(name, _)| !row.fields.contains_key(name)).map(|(n, t)| (*n, t)),
            );
            fields.sort_by_key(|(name, _)| *name);
        }
        let mut nodes: Vec<Option<usize>> = vec![None; fields.len()];
        for key in self.document.children(node) {
            let name = self.document.key(key);
            let position = fields.iter().position(|(field, _)| field.as_str() == name);
            match (position.and_then(|position| nodes.get_mut(position)), row.rest) {
                (Some(slot @ None), _) => *slot = Some(key + 1),
                (Some(Some(_)), _) => {
                    return Err(errors::repeated_field(self.document.span(key), &self.path(), name));
                }
                (None, Some(rest)) if settled.is_none() => {
                    let row = self.open.rows.entry(rest).or_default();
                    row.entry(Name::new(name)).or_default().push(key + 1);
                }
                (None, _) => {
                    let (span, ty) = (self.document.span(key), self.show_row(row, environment));
                    let similar = nearest(name, fields.iter().map(|(field, _)| field.as_str()));
                    return Err(errors::extra_field(span, &self.path(), name, &ty, similar));
                }
            }
        }
        for (slot, (name, _)) in nodes.iter().zip(&fields) {
            if slot.is_none() {
                let (span, ty) = (self.document.span(node), self.show_row(row, environment));
                return Err(errors::missing_field(span, &self.path(), name.as_str(), &ty));
            }
        }
        let names: Rc<[Name]> = fields.iter().map(|(name, _)| *name).collect();
        let types = fields.into_iter().map(|(_, ty)| ty).collect();
        Ok(self.open_frame(Shape::Record(names, types), environment, nodes.into_iter().flatten().collect()))
    }

    fn data(
        &mut self,
        node: usize,
        name: Name,
        args: &'a [Type],
        environment: usize,
    ) -> Result<Started<'a>, Diagnostic> {
        let span = self.document.span(node);
        if !matches!(self.document.kind(node), NodeKind::Object { .. }) {
            return Err(self.wrong(node, "an object with \"tag\" and \"fields\""));
        }
        let (mut tag, mut fields, mut other) = (None, None, None);
        for key in self.document.children(node) {
            let slot = match self.document.key(key) {
                "tag" => &mut tag,
                "fields" => &mut fields,
                _ => &mut other,
            };
            if slot.replace(key + 1).is_some() {
                return Err(errors::repeated_field(
                    self.document.span(key),
                    &self.path(),
                    self.document.key(key),
                ));
            }
        }
        let shown = self.show(&Type::Data(name, args.to_vec()), environment);
        let (Some(tag), None) = (tag, other) else {
            return Err(errors::not_a_constructor(span, &self.path(), &shown));
        };
        let NodeKind::Text(tag_text) = self.document.kind(tag) else {
            return Err(errors::not_a_constructor(self.document.span(tag), &self.path(), &shown));
        };
        let Some(data) = self.data_types.get(&name) else {
            return Err(errors::internal(span, format!("the type `{name}` is not known")));
        };
        let found = data.ctors.iter().enumerate().find(|(_, ctor)| ctor.name.as_str() == &**tag_text);
        let Some((index, ctor)) = found else {
            let all: Vec<&str> = data.ctors.iter().map(|ctor| ctor.name.as_str()).collect();
            let similar = nearest(tag_text, all.iter().copied());
            let span = self.document.span(tag);
            return Err(errors::unknown_tag(span, &self.path(), tag_text, &shown, &all, similar));
        };
        let children: Vec<usize> = match fields {
            None => Vec::new(),
            Some(fields) if matches!(self.document.kind(fields), NodeKind::Array { .. }) => {
                self.document.children(fields).collect()
            }
            Some(fields) => return Err(self.wrong(fields, "an array of fields")),
        };
        if children.len() != ctor.fields.len() {
            let span = self.document.span(fields.unwrap_or(tag));
            let expected = format!("{} for `{}`", count(ctor.fields.len(), "field"), ctor.name);
            return Err(errors::wrong_length(span, &self.path(), &expected, children.len(), None));
        }
        let environment = self.enter(data, args, environment);
        let info = self.ctor_info(name, index as u32, ctor.name);
        Ok(self.open_frame(Shape::Ctor(info, &ctor.fields), environment, children))
    }

    /// The environment in which the fields of `data args` are read.
    fn enter(&mut self, data: &DataType, args: &'a [Type], environment: usize) -> usize {
        if data.params.is_empty() {
            return ENTRY;
        }
        let bindings: Vec<(Name, Bound<'a>)> = data
            .params
            .iter()
            .zip(args)
            .map(|(param, arg)| (*param, self.resolve((arg, environment))))
            .collect();
        // In a list, each cell has the environment of the one before.
        let same = |(a, b): (&(Name, Bound<'a>), &(Name, Bound<'a>))| {
            a.0 == b.0 && std::ptr::eq(a.1.0, b.1.0) && a.1.1 == b.1.1
        };
        let before = self.environments.get(environment);
        if before
            .is_some_and(|before| before.len() == bindings.len() && before.iter().zip(&bindings).all(same))
        {
            return environment;
        }
        self.environments.push(bindings);
        self.environments.len() - 1
    }

    fn ctor_info(&mut self, data: Name, index: u32, name: Name) -> Rc<CtorInfo> {
        self.ctors.entry((data, index)).or_insert_with(|| Rc::new(CtorInfo { data, index, name })).clone()
    }

    fn open_frame(&self, shape: Shape<'a>, environment: usize, mut left: Vec<usize>) -> Started<'a> {
        left.reverse();
        let done = Vec::with_capacity(left.len());
        Started::Open(Frame { shape, environment, left, done })
    }

    fn wrong(&self, node: usize, expected: &str) -> Diagnostic {
        let found = self.document.kind(node).describe();
        errors::wrong_json(self.document.span(node), &self.path(), expected, found)
    }

    /// Where the decoder is: `argument 1, field "x", element 3`. The middle of a very long path is left out.
    fn path(&self) -> String {
        const SHOWN: usize = 4;
        let mut path = format!("argument {}", self.argument + 1);
        for (depth, frame) in self.frames.iter().enumerate() {
            let from_end = self.frames.len() - depth;
            if depth == SHOWN && from_end > SHOWN {
                path.push_str(&format!(", … ({} more) …", self.frames.len() - 2 * SHOWN));
            }
            if depth < SHOWN || from_end <= SHOWN {
                path.push_str(", ");
                path.push_str(&frame.place());
            }
        }
        path
    }

    fn show(&self, ty: &Type, environment: usize) -> String {
        let mut budget = 60;
        self.instantiate(ty, environment, &mut budget).to_string()
    }

    fn show_row(&self, row: &Row, environment: usize) -> String {
        self.show(&Type::Record(row.clone()), environment)
    }

    /// The type with its variables replaced, for messages; what exceeds the budget becomes `…`.
    fn instantiate(&self, ty: &Type, environment: usize, budget: &mut usize) -> Type {
        let Some(left) = budget.checked_sub(1) else { return Type::Var(Name::new("…")) };
        *budget = left;
        match ty {
            Type::Real | Type::Int | Type::Bool | Type::String => ty.clone(),
            Type::Tuple(items) => {
                Type::Tuple(items.iter().map(|item| self.instantiate(item, environment, budget)).collect())
            }
            Type::Record(row) => {
                let mut shown = Row { fields: Default::default(), rest: row.rest };
                for (name, field) in &row.fields {
                    shown.fields.insert(*name, self.instantiate(field, environment, budget));
                }
                Type::Record(shown)
            }
            Type::Array(size, elem) => Type::array(size.clone(), self.instantiate(elem, environment, budget)),
            Type::Fun(from, to) => {
                let from = self.instantiate(from, environment, budget);
                Type::fun(from, self.instantiate(to, environment, budget))
            }
            Type::Data(name, args) => {
                Type::Data(*name, args.iter().map(|arg| self.instantiate(arg, environment, budget)).collect())
            }
            Type::Dual(of) => Type::Dual(Arc::new(self.instantiate(of, environment, budget))),
            Type::Var(name) => {
                let bindings = self.environments.get(environment);
                match bindings.and_then(|bindings| bindings.iter().find(|(bound, _)| bound == name)) {
                    Some((_, (bound, inner)))
                        if !(matches!(bound, Type::Var(_)) && *inner == environment) =>
                    {
                        self.instantiate(bound, *inner, budget)
                    }
                    _ => ty.clone(),
                }
            }
        }
    }
}

impl<'a> Frame<'a> {
    /// The type of the child that is read next.
    fn child(&self) -> Option<&'a Type> {
        match &self.shape {
            Shape::Array(elem) => Some(elem),
            Shape::Tuple(types) | Shape::Ctor(_, types) => types.get(self.done.len()),
            Shape::Record(_, types) => types.get(self.done.len()).copied(),
        }
    }

    /// Which child is being read.
    fn place(&self) -> String {
        let number = self.done.len() + 1;
        match &self.shape {
            Shape::Tuple(_) => format!("component {number}"),
            Shape::Array(_) => format!("element {number}"),
            Shape::Record(names, _) => {
                format!("field \"{}\"", names.get(self.done.len()).map_or("", |name| name.as_str()))
            }
            Shape::Ctor(info, _) => format!("`{}` field {number}", info.name),
        }
    }

    /// The value, when all children are there.
    fn finish(self) -> Value {
        let fields: Fields = self.done.into_iter().collect();
        match self.shape {
            Shape::Tuple(_) => Value::Tuple(Rc::new(fields)),
            Shape::Array(_) => Value::Array(Rc::new(Array::Values(fields))),
            Shape::Record(names, _) => Value::Record(Rc::new(Record { names, fields })),
            Shape::Ctor(ctor, _) => Value::Data(Rc::new(Data { ctor, fields })),
        }
    }
}

/// `an array of 2 for a tuple`
fn tuple_words(len: usize) -> String {
    match len {
        0 => "an empty array, for `()`".into(),
        _ => format!("an array of {len}, for a tuple"),
    }
}

/// `1 field`, `2 fields`
fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}
