//! Types: instantiated, without sizes; then erased to simple ones, with the data types that occur in them.

use super::{Bridge, MAX_INSTANCES, nested};
use crate::errors;
use crate::simple::{Data, Ty};
use std::rc::Rc;
use std::sync::Arc;
use wengert_base::{Diagnostic, Name, Span};
use wengert_core::{Row, Size, Subst, Type, TypeArg};

/// Data types at different arguments at most: more are a sign that there is no end of them.
const MAX_DATA: usize = 500;
/// Nodes of one type at most.
const MAX_TYPE: u64 = 20_000;
/// Arrays inside of each other in one type at most: the IR has 255 axes, and derivatives keep arrays of arrays of loops.
const MAX_AXES: u32 = 128;

/// The type with its variables replaced and all sizes unknown.
pub(super) fn closed(subst: &Subst, ty: &Type) -> Type {
    unsized_type(&subst.ty(ty))
}

/// The argument with its variables replaced and all sizes unknown.
pub(super) fn closed_arg(subst: &Subst, arg: &TypeArg) -> TypeArg {
    match arg {
        TypeArg::Type(ty) => TypeArg::Type(closed(subst, ty)),
        TypeArg::Row(row) => TypeArg::Row(unsized_row(&subst.row(row))),
        TypeArg::Size(_) => TypeArg::Size(Size::Unknown),
    }
}

/// The type with all sizes unknown.
pub(super) fn unsized_type(ty: &Type) -> Type {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match ty {
        Type::Real | Type::Int | Type::Bool | Type::String | Type::Var(_) => ty.clone(),
        Type::Tuple(items) => Type::Tuple(items.iter().map(unsized_type).collect()),
        Type::Record(row) => Type::Record(unsized_row(row)),
        Type::Array(_, elem) => Type::array(Size::Unknown, unsized_type(elem)),
        Type::Fun(from, to) => Type::fun(unsized_type(from), unsized_type(to)),
        Type::Data(name, args) => Type::Data(*name, args.iter().map(unsized_type).collect()),
        Type::Dual(of) => Type::Dual(Arc::new(unsized_type(of))),
    })
}

fn unsized_row(row: &Row) -> Row {
    Row { fields: row.fields.iter().map(|(name, ty)| (*name, unsized_type(ty))).collect(), rest: row.rest }
}

/// The result type of a function of `count` arguments.
pub(super) fn result(mut ty: &Type, count: usize) -> Type {
    for _ in 0..count {
        if let Type::Fun(_, to) = ty {
            ty = to;
        }
    }
    ty.clone()
}

/// The types of the first arguments.
pub(super) fn parameters(mut ty: &Type, count: usize) -> Vec<Type> {
    let mut found = Vec::with_capacity(count);
    while let (Type::Fun(from, to), true) = (ty, found.len() < count) {
        found.push(from.as_ref().clone());
        ty = to;
    }
    found
}

/// What a type may still have.
struct Room {
    parts: u64,
    axes: u32,
}

impl Bridge<'_> {
    /// The simple type; notes the data types in it.
    pub(super) fn erase(&mut self, ty: &Type, span: Span) -> Result<Ty, Diagnostic> {
        let mut room = Room { parts: MAX_TYPE, axes: MAX_AXES };
        let erased = self.erase_within(ty, span, &mut room)?;
        self.count(1 + (MAX_TYPE - room.parts), span)?;
        Ok(erased)
    }

    fn erase_within(&mut self, ty: &Type, span: Span, room: &mut Room) -> Result<Ty, Diagnostic> {
        room.parts = room
            .parts
            .checked_sub(1)
            .ok_or_else(|| errors::too_large(span, "one of its types has thousands of parts"))?;
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match ty {
            Type::Real => Ok(Ty::Real),
            Type::Int => Ok(Ty::Int),
            Type::Bool => Ok(Ty::Bool),
            Type::String => Ok(Ty::String),
            Type::Tuple(items) => self.erase_all(items.iter(), span, room).map(Ty::Tuple),
            Type::Record(row) => {
                let mut fields = self.erase_all(row.fields.values(), span, room)?;
                match (fields.pop(), fields.is_empty()) {
                    (Some(only), true) if !self.singles => {
                        if let (Ty::Array(_), Some(notes)) = (&only, &mut self.notes) {
                            notes.singles = true;
                        }
                        Ok(only)
                    }
                    (last, _) => {
                        fields.extend(last);
                        Ok(Ty::Tuple(fields))
                    }
                }
            }
            Type::Array(_, elem) => {
                room.axes = room
                    .axes
                    .checked_sub(1)
                    .ok_or_else(|| errors::too_large(span, "one of its arrays has hundreds of axes"))?;
                let elem = self.erase_within(elem, span, room)?;
                room.axes += 1;
                Ok(Ty::Array(Rc::new(elem)))
            }
            Type::Fun(from, to) => {
                let from = self.erase_within(from, span, room)?;
                Ok(Ty::Fun(Rc::new(from), Rc::new(self.erase_within(to, span, room)?)))
            }
            Type::Data(name, args) => {
                let erased = Ty::Data(*name, self.erase_all(args.iter(), span, room)?);
                self.note_data(*name, args, &erased, span)?;
                Ok(erased)
            }
            Type::Dual(of) => Ok(Ty::Dual(Rc::new(self.erase_within(of, span, room)?))),
            // A variable that no use decides: nothing has its type, or nothing looks at what has it.
            Type::Var(_) => Ok(Ty::Tuple(Vec::new())),
        })
    }

    fn erase_all<'t>(
        &mut self,
        types: impl Iterator<Item = &'t Type>,
        span: Span,
        room: &mut Room,
    ) -> Result<Vec<Ty>, Diagnostic> {
        types.map(|ty| self.erase_within(ty, span, room)).collect()
    }

    /// Notes a data type at these arguments, with all that its fields hold.
    fn note_data(&mut self, name: Name, args: &[Type], erased: &Ty, span: Span) -> Result<(), Diagnostic> {
        if nested::is_any(name) {
            return Ok(());
        }
        if self.nested.grow.contains(&name) {
            self.note_growing(name, args);
            if self.nested.inside {
                return Ok(());
            }
        }
        if self.data.contains_key(erased) {
            return Ok(());
        }
        if self.notes.is_none() && self.data.len() >= MAX_DATA {
            return Err(errors::irregular_data(span, name));
        }
        if self.data.len() >= MAX_INSTANCES {
            return Err(errors::too_large(span, "its data types are used at thousands of types"));
        }
        // Entered before its fields are, which may be of this very type.
        self.data.insert(erased.clone(), Data { ctors: Vec::new() });
        let inside = std::mem::replace(&mut self.nested.inside, true);
        let ctors = self.ctors_of(name, args, span);
        self.nested.inside = inside;
        let ctors = ctors?;
        if let Some(entry) = self.data.get_mut(erased) {
            entry.ctors = ctors;
        }
        Ok(())
    }

    /// The constructors of a declared type at these arguments.
    pub(super) fn ctors_of(
        &mut self,
        name: Name,
        args: &[Type],
        span: Span,
    ) -> Result<Vec<(Name, Vec<Ty>)>, Diagnostic> {
        let Some(data) = self.core.types.get(&name).cloned() else { return Ok(Vec::new()) };
        let subst = Subst::of_data(&data.params, args);
        let mut ctors = Vec::with_capacity(data.ctors.len());
        for ctor in &data.ctors {
            let mut fields = Vec::with_capacity(ctor.fields.len());
            for field in &ctor.fields {
                let mut room = Room { parts: MAX_TYPE, axes: MAX_AXES };
                let field = closed(&subst, field);
                let field = self.erase_within(&field, span, &mut room);
                fields.push(field.map_err(|_| errors::irregular_data(span, name))?);
            }
            ctors.push((ctor.name, fields));
        }
        Ok(ctors)
    }
}
