//! Variables in types: simultaneous substitution, instantiation of schemes, free variables.
//!
//! Type, row and size variables are three separate worlds: a substitution has one map for each. It is *simultaneous*,
//! so `{a ↦ b, b ↦ a}` swaps. No capture is possible, because types bind nothing (only schemes do, and bound names
//! of one definition are distinct). Substituting a row merges: `{x : Real | r}` with `r ↦ {y : Int | s}` is
//! `{x : Real, y : Int | s}`; a field that stands in both keeps the type outside, where the checker has put it.

use crate::types::{Kind, Param, Pred, Row, Scheme, Size, Type, TypeArg};
use indexmap::IndexSet;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::Arc;
use wengert_base::Name;

/// Stack to keep free, and to add, where recursion follows the user's types.
const RED_ZONE: usize = 128 * 1024;
const STACK_CHUNK: usize = 2 * 1024 * 1024;

/// What variables stand for.
#[derive(Clone, Debug, Default)]
pub struct Subst {
    types: FxHashMap<Name, Type>,
    rows: FxHashMap<Name, Row>,
    sizes: FxHashMap<Name, Size>,
}

impl Subst {
    /// Maps nothing.
    pub fn new() -> Subst {
        Subst::default()
    }

    /// `params[i] ↦ args[i]`. A parameter without an argument, or with one of another kind, stays as it is; `verify`
    /// reports both.
    pub fn of_params(params: &[Param], args: &[TypeArg]) -> Subst {
        let mut subst = Subst::new();
        for (param, arg) in params.iter().zip(args) {
            match (&param.kind, arg) {
                (Kind::Type(_), TypeArg::Type(ty)) => subst.bind_type(param.name, ty.clone()),
                (Kind::Row, TypeArg::Row(row)) => subst.bind_row(param.name, row.clone()),
                (Kind::Size, TypeArg::Size(size)) => subst.bind_size(param.name, size.clone()),
                (Kind::Type(_) | Kind::Row | Kind::Size, _) => {}
            }
        }
        subst
    }

    /// `params[i] ↦ args[i]` for the parameters of a data type.
    pub fn of_data(params: &[Name], args: &[Type]) -> Subst {
        let mut subst = Subst::new();
        for (param, arg) in params.iter().zip(args) {
            subst.bind_type(*param, arg.clone());
        }
        subst
    }

    /// Maps a type variable.
    pub fn bind_type(&mut self, name: Name, ty: Type) {
        self.types.insert(name, ty);
    }

    /// Maps a row variable.
    pub fn bind_row(&mut self, name: Name, row: Row) {
        self.rows.insert(name, row);
    }

    /// Maps a size variable.
    pub fn bind_size(&mut self, name: Name, size: Size) {
        self.sizes.insert(name, size);
    }

    /// Whether nothing is mapped.
    pub fn is_empty(&self) -> bool {
        self.types.is_empty() && self.rows.is_empty() && self.sizes.is_empty()
    }

    /// The type with its variables replaced.
    pub fn ty(&self, ty: &Type) -> Type {
        if self.is_empty() {
            return ty.clone();
        }
        stacker::maybe_grow(RED_ZONE, STACK_CHUNK, || match ty {
            Type::Real | Type::Int | Type::Bool | Type::String => ty.clone(),
            Type::Tuple(items) => Type::Tuple(items.iter().map(|item| self.ty(item)).collect()),
            Type::Record(row) => Type::Record(self.row(row)),
            Type::Array(size, elem) => Type::Array(self.size(size), Arc::new(self.ty(elem))),
            Type::Fun(from, to) => Type::fun(self.ty(from), self.ty(to)),
            Type::Data(name, args) => Type::Data(*name, args.iter().map(|arg| self.ty(arg)).collect()),
            Type::Dual(of) => Type::Dual(Arc::new(self.ty(of))),
            Type::Var(name) => self.types.get(name).unwrap_or(ty).clone(),
        })
    }

    /// The row with its variables replaced.
    pub fn row(&self, row: &Row) -> Row {
        let mut fields: BTreeMap<Name, Type> =
            row.fields.iter().map(|(name, ty)| (*name, self.ty(ty))).collect();
        let Some(tail) = row.rest.and_then(|rest| self.rows.get(&rest)) else {
            return Row { fields, rest: row.rest };
        };
        for (name, ty) in &tail.fields {
            fields.entry(*name).or_insert_with(|| ty.clone());
        }
        Row { fields, rest: tail.rest }
    }

    /// The size with its variable replaced.
    pub fn size(&self, size: &Size) -> Size {
        match size {
            Size::Var(name) => self.sizes.get(name).unwrap_or(size).clone(),
            Size::Const(_) | Size::Unknown => size.clone(),
        }
    }

    /// The argument with its variables replaced.
    pub fn arg(&self, arg: &TypeArg) -> TypeArg {
        match arg {
            TypeArg::Type(ty) => TypeArg::Type(self.ty(ty)),
            TypeArg::Row(row) => TypeArg::Row(self.row(row)),
            TypeArg::Size(size) => TypeArg::Size(self.size(size)),
        }
    }
}

/// What kind of thing a free variable stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum VarSort {
    /// A type.
    Type,
    /// The rest of a record.
    Row,
    /// An array size.
    Size,
}

/// Free variables in order of first appearance, read from left to right as the type is printed.
pub type FreeVars = IndexSet<(VarSort, Name)>;

impl Type {
    /// The variables in the type.
    pub fn free_vars(&self) -> FreeVars {
        let mut vars = FreeVars::new();
        collect(self, &mut vars);
        vars
    }
}

/// Adds the variables of `ty`.
fn collect(ty: &Type, vars: &mut FreeVars) {
    stacker::maybe_grow(RED_ZONE, STACK_CHUNK, || match ty {
        Type::Real | Type::Int | Type::Bool | Type::String => {}
        Type::Tuple(items) | Type::Data(_, items) => items.iter().for_each(|item| collect(item, vars)),
        Type::Record(row) => collect_row(row, vars),
        Type::Array(size, elem) => {
            if let Size::Var(name) = size {
                vars.insert((VarSort::Size, *name));
            }
            collect(elem, vars);
        }
        Type::Fun(from, to) => {
            collect(from, vars);
            collect(to, vars);
        }
        Type::Dual(of) => collect(of, vars),
        Type::Var(name) => {
            vars.insert((VarSort::Type, *name));
        }
    });
}

/// Adds the variables of `row`.
fn collect_row(row: &Row, vars: &mut FreeVars) {
    row.fields.values().for_each(|field| collect(field, vars));
    if let Some(rest) = row.rest {
        vars.insert((VarSort::Row, rest));
    }
}

impl Kind {
    /// Which world of variables it belongs to.
    pub fn sort(&self) -> VarSort {
        match self {
            Kind::Type(_) => VarSort::Type,
            Kind::Row => VarSort::Row,
            Kind::Size => VarSort::Size,
        }
    }
}

impl Param {
    /// The parameter as an argument: what it is instantiated with inside its own scope.
    pub fn as_arg(&self) -> TypeArg {
        match self.kind {
            Kind::Type(_) => TypeArg::Type(Type::Var(self.name)),
            Kind::Row => TypeArg::Row(Row { fields: BTreeMap::new(), rest: Some(self.name) }),
            Kind::Size => TypeArg::Size(Size::Var(self.name)),
        }
    }

    /// The predicates on it, none for rows and sizes.
    pub fn preds(&self) -> &[Pred] {
        match &self.kind {
            Kind::Type(preds) => preds,
            Kind::Row | Kind::Size => &[],
        }
    }
}

impl Scheme {
    /// The type with the bound variables replaced by `args`, in the order of `params`.
    pub fn instantiate(&self, args: &[TypeArg]) -> Type {
        Subst::of_params(&self.params, args).ty(&self.ty)
    }

    /// The variables that the scheme does not bind.
    pub fn free_vars(&self) -> FreeVars {
        let mut vars = self.ty.free_vars();
        for param in &self.params {
            vars.shift_remove(&(param.kind.sort(), param.name));
        }
        vars
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse_scheme;

    #[test]
    fn substitution_is_simultaneous_and_rows_merge() {
        let scheme = parse_scheme("forall a b {r} [n]. (a, b) -> [n]{x : a | r}").unwrap();
        let row = Row { fields: BTreeMap::from([(Name::new("y"), Type::Int)]), rest: Some(Name::new("s")) };
        let ty = scheme.instantiate(&[
            TypeArg::Type(Type::Var(Name::new("b"))),
            TypeArg::Type(Type::Var(Name::new("a"))),
            TypeArg::Row(row),
            TypeArg::Size(Size::Const(3)),
        ]);
        assert_eq!(ty.to_string(), "(b, a) -> [3]{x : b, y : Int | s}");
    }

    #[test]
    fn an_argument_of_another_kind_changes_nothing() {
        let scheme = parse_scheme("forall a. a").unwrap();
        assert_eq!(scheme.instantiate(&[TypeArg::Size(Size::Unknown)]).to_string(), "a");
        assert_eq!(scheme.instantiate(&[]).to_string(), "a");
    }

    #[test]
    fn free_variables_come_in_order_of_appearance() {
        let scheme = parse_scheme("forall b. c -> [n]b -> {x : a | r} -> c").unwrap();
        let names: Vec<_> = scheme.free_vars().iter().map(|(_, name)| name.to_string()).collect();
        assert_eq!(names, ["c", "n", "a", "r"]);
        assert_eq!(scheme.ty.free_vars().len(), 5);
    }
}
