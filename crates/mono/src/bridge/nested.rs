//! Declared types that hold themselves at larger and larger arguments, for an engine.
//!
//! Functions recur at one type, so a program looks only so deep into a value of such a type as its text says: the types that its terms
//! name are exact. What lies deeper was in the input. It is carried, compared, shown, and calculated with as a vector, and there
//! all parameters of the type stand for one [uniform](Uniform) type, whose constructors tell what a value is.
//!
//! ```text
//! type Perfect a = Zero a | Succ (Perfect (a, a))
//!
//! \(p : Perfect Real) -> match p with | Zero x -> x | Succ _ -> 0.0
//!
//! Perfect Real         = Zero Real         | Succ (Perfect (Real, Real))
//! Perfect (Real, Real) = Zero (Real, Real) | Succ (Perfect Any)
//! Perfect Any          = Zero Any          | Succ (Perfect Any)
//! Any                  = Real Real | Tuple2 (Any, Any)
//! ```

use super::{Bridge, assemble, types};
use crate::simple::{Data, Head, Ty, Uniform};
use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxHashSet;
use std::rc::Rc;
use std::sync::Arc;
use wengert_base::{Diagnostic, Name, Span};
use wengert_core::{Program as Core, Row, Size, Subst, Type};

/// What is known of such types.
#[derive(Default)]
pub(super) struct Nested {
    /// The declared types whose parameters grow without end.
    pub(super) grow: FxHashSet<Name>,
    /// Whether the type of a field is translated, which no term may name.
    pub(super) inside: bool,
    /// Those of them that occur.
    names: IndexSet<Name>,
    /// What can stand for their parameters, with what the constructor of the uniform type holds.
    heads: IndexMap<Head, Type>,
}

/// The uniform type; its name is that of no declared type, all of which name their module.
fn any() -> Type {
    Type::Data(Name::new(".Any"), Vec::new())
}

/// Whether that is the uniform type.
pub(super) fn is_any(name: Name) -> bool {
    name.as_str() == ".Any"
}

fn any_ty() -> Ty {
    Ty::Data(Name::new(".Any"), Vec::new())
}

/// The declared types that have no end of types as parts. A parameter goes to a parameter of each type that a field holds at it, and
/// grows on the way if it is not the whole argument: such types are those through which a parameter comes back to itself and has grown.
pub(super) fn growing(core: &Core) -> FxHashSet<Name> {
    let mut places: IndexMap<(Name, usize), Vec<usize>> = IndexMap::new();
    for (name, data) in &core.types {
        places.extend((0..data.params.len()).map(|param| ((*name, param), Vec::new())));
    }
    let mut grown = Vec::new();
    for (name, data) in &core.types {
        let mut todo: Vec<&Type> = data.ctors.iter().flat_map(|ctor| &ctor.fields).collect();
        while let Some(ty) = todo.pop() {
            push_parts(ty, &mut todo);
            let Type::Data(held, args) = ty else { continue };
            for (index, arg) in args.iter().enumerate() {
                let Some(to) = places.get_index_of(&(*held, index)) else { continue };
                for param in variables(arg) {
                    let Some(place) = data.params.iter().position(|known| *known == param) else { continue };
                    let Some((from, _, edges)) = places.get_full_mut(&(*name, place)) else { continue };
                    edges.push(to);
                    if !matches!(arg, Type::Var(_)) {
                        grown.push((from, to));
                    }
                }
            }
        }
    }
    let edges: Vec<Vec<usize>> = places.values().cloned().collect();
    let mut found = FxHashSet::default();
    for component in assemble::components(&edges) {
        let within = |place: &usize| component.binary_search(place).is_ok();
        if grown.iter().any(|(from, to)| within(from) && within(to)) {
            let names = component.iter().filter_map(|place| places.get_index(*place));
            found.extend(names.map(|((name, _), _)| *name));
        }
    }
    found
}

/// Whether there are records with one field in the declarations of types that grow: these do not grow by what is that field.
pub(super) fn grow_by_singles(core: &Core, grow: &FxHashSet<Name>) -> bool {
    let declared = core.types.values().filter(|data| grow.contains(&data.name));
    let mut todo: Vec<&Type> = declared.flat_map(|data| &data.ctors).flat_map(|ctor| &ctor.fields).collect();
    while let Some(ty) = todo.pop() {
        push_parts(ty, &mut todo);
        if matches!(ty, Type::Record(row) if row.fields.len() == 1) {
            return true;
        }
    }
    false
}

fn push_parts<'t>(ty: &'t Type, out: &mut Vec<&'t Type>) {
    match ty {
        Type::Real | Type::Int | Type::Bool | Type::String | Type::Var(_) => {}
        Type::Tuple(items) | Type::Data(_, items) => out.extend(items),
        Type::Record(row) => out.extend(row.fields.values()),
        Type::Array(_, of) | Type::Dual(of) => out.push(of),
        Type::Fun(from, to) => out.extend([from.as_ref(), to.as_ref()]),
    }
}

fn variables(ty: &Type) -> IndexSet<Name> {
    let mut found = IndexSet::new();
    let mut todo = vec![ty];
    while let Some(ty) = todo.pop() {
        push_parts(ty, &mut todo);
        if let Type::Var(name) = ty {
            found.insert(*name);
        }
    }
    found
}

impl Bridge<'_> {
    /// Notes that a type that grows occurs at these arguments.
    pub(super) fn note_growing(&mut self, name: Name, args: &[Type]) {
        self.nested.names.insert(name);
        let mut todo: Vec<&Type> = args.iter().collect();
        while let Some(ty) = todo.pop() {
            push_parts(ty, &mut todo);
            let of_any = |count: usize| vec![any(); count];
            let (head, payload) = match ty {
                Type::Data(name, _) if is_any(*name) => continue,
                Type::Real => (Head::Real, Type::Real),
                Type::Int => (Head::Int, Type::Int),
                Type::Bool => (Head::Bool, Type::Bool),
                Type::String => (Head::Text, Type::String),
                Type::Tuple(items) => (Head::Tuple(items.len()), Type::Tuple(of_any(items.len()))),
                Type::Record(row) => {
                    let names: Vec<Name> = row.fields.keys().copied().collect();
                    let fields = names.iter().map(|name| (*name, any())).collect();
                    (Head::Record(names), Type::Record(Row { fields, rest: None }))
                }
                Type::Array(..) => (Head::Array, Type::array(Size::Unknown, any())),
                Type::Data(name, args) => (Head::Data(*name), Type::Data(*name, of_any(args.len()))),
                Type::Dual(_) => (Head::Dual, Type::Dual(Arc::new(any()))),
                // No function is read as input.
                Type::Fun(..) => continue,
                Type::Var(_) => (Head::Tuple(0), Type::unit()),
            };
            self.nested.heads.entry(head).or_insert(payload);
        }
    }

    /// When all terms are translated: where the fields of types hold what no term names, that is the type at the uniform one.
    pub(super) fn close_data(&mut self) -> Result<(), Diagnostic> {
        if self.nested.names.is_empty() {
            return Ok(());
        }
        self.nested.inside = true;
        let (mut uniform, mut payloads) = (0, Vec::new());
        loop {
            if let Some(name) = self.nested.names.get_index(uniform).copied() {
                uniform += 1;
                self.note_uniform(name)?;
            } else if let Some((_, payload)) = self.nested.heads.get_index(payloads.len()) {
                let payload = payload.clone();
                payloads.push(self.erase(&payload, Span::NOWHERE)?);
            } else {
                break;
            }
        }
        let known: FxHashSet<Ty> = self.data.keys().cloned().collect();
        let mut data = std::mem::take(&mut self.data);
        for fields in data.values_mut().flat_map(|data| &mut data.ctors).flat_map(|(_, fields)| fields) {
            *fields = self.cut(fields, &known);
        }
        for payload in &mut payloads {
            // Data that holds functions is not read as input either.
            if holds_functions(payload, &data) {
                *payload = Ty::Tuple(Vec::new());
            }
        }
        let heads: Vec<Head> = self.nested.heads.keys().cloned().collect();
        let ctors = heads.iter().map(|head| Name::new(&head.to_string()));
        let ctors = ctors.zip(payloads.into_iter().map(|payload| vec![payload])).collect();
        data.insert(any_ty(), Data { ctors });
        self.data = data;
        if let Some(notes) = &mut self.notes {
            notes.uniform = Some(Uniform { ty: any_ty(), heads });
        }
        Ok(())
    }

    /// The type at the uniform one.
    fn note_uniform(&mut self, name: Name) -> Result<(), Diagnostic> {
        let count = self.core.types.get(&name).map_or(0, |data| data.params.len());
        let ctors = self.ctors_of(name, &vec![any(); count], Span::NOWHERE)?;
        self.data.insert(Ty::Data(name, vec![any_ty(); count]), Data { ctors });
        Ok(())
    }

    /// The type of a field, in which types that grow and that are not `known` are uniform.
    fn cut(&self, ty: &Ty, known: &FxHashSet<Ty>) -> Ty {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match ty {
            Ty::Real | Ty::Int | Ty::Bool | Ty::String => ty.clone(),
            Ty::Tuple(items) => Ty::Tuple(items.iter().map(|item| self.cut(item, known)).collect()),
            Ty::Array(of) => Ty::Array(Rc::new(self.cut(of, known))),
            Ty::Dual(of) => Ty::Dual(Rc::new(self.cut(of, known))),
            Ty::Fun(from, to) => Ty::Fun(Rc::new(self.cut(from, known)), Rc::new(self.cut(to, known))),
            Ty::Data(name, args) if self.nested.grow.contains(name) && !known.contains(ty) => {
                Ty::Data(*name, vec![any_ty(); args.len()])
            }
            Ty::Data(..) => ty.clone(),
        })
    }

    /// The types of the fields of the constructors of a declared type, or of the uniform one.
    pub(super) fn fields(&mut self, ty: &Type) -> Vec<Vec<Type>> {
        let Type::Data(name, args) = ty else { return Vec::new() };
        if is_any(*name) {
            return self.nested.heads.values().map(|payload| vec![payload.clone()]).collect();
        }
        let Some(data) = self.core.types.get(name).cloned() else { return Vec::new() };
        let subst = Subst::of_data(&data.params, args);
        let mut ctors = Vec::with_capacity(data.ctors.len());
        for ctor in &data.ctors {
            ctors
                .push(ctor.fields.iter().map(|field| self.cut_type(&types::closed(&subst, field))).collect());
        }
        ctors
    }

    /// The same as [`Bridge::cut`] for a type of the core. While terms are translated, it is not known which types they name: what
    /// grows is uniform then.
    fn cut_type(&mut self, ty: &Type) -> Type {
        if self.nested.grow.is_empty() {
            return ty.clone();
        }
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match ty {
            Type::Real | Type::Int | Type::Bool | Type::String | Type::Var(_) => ty.clone(),
            Type::Tuple(items) => Type::Tuple(items.iter().map(|item| self.cut_type(item)).collect()),
            Type::Record(row) => {
                let fields = row.fields.iter().map(|(name, field)| (*name, self.cut_type(field))).collect();
                Type::Record(Row { fields, rest: row.rest })
            }
            Type::Array(size, of) => Type::array(size.clone(), self.cut_type(of)),
            Type::Dual(of) => Type::Dual(Arc::new(self.cut_type(of))),
            Type::Fun(from, to) => Type::fun(self.cut_type(from), self.cut_type(to)),
            Type::Data(name, args) if self.nested.grow.contains(name) && !self.is_exact(ty) => {
                Type::Data(*name, vec![any(); args.len()])
            }
            Type::Data(..) => ty.clone(),
        })
    }

    /// Whether all terms are translated and one names that type.
    fn is_exact(&mut self, ty: &Type) -> bool {
        let erased = if self.nested.inside { self.erase(ty, Span::NOWHERE).ok() } else { None };
        erased.is_some_and(|erased| self.data.contains_key(&erased))
    }
}

/// Whether there are functions in values of the type; in those of the uniform type there are none.
fn holds_functions(ty: &Ty, data: &IndexMap<Ty, Data>) -> bool {
    let mut todo = vec![ty];
    let mut seen: FxHashSet<&Ty> = FxHashSet::default();
    while let Some(ty) = todo.pop() {
        match ty {
            Ty::Real | Ty::Int | Ty::Bool | Ty::String => {}
            Ty::Tuple(items) => todo.extend(items),
            Ty::Array(of) | Ty::Dual(of) => todo.push(of),
            Ty::Fun(..) => return true,
            Ty::Data(..) => {
                if seen.insert(ty) {
                    let ctors = data.get(ty).into_iter().flat_map(|data| &data.ctors);
                    todo.extend(ctors.flat_map(|(_, fields)| fields));
                }
            }
        }
    }
    false
}
