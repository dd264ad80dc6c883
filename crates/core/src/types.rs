//! Types of the core, written as in the surface language.
//!
//! A [`Scheme`] binds type, row and size variables; inside it they are named. Within one definition all bound
//! type-variable names are distinct, so no substitution can capture.

use std::collections::BTreeMap;
use std::sync::Arc;
use wengert_base::Name;

/// A type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// 64-bit floating point.
    Real,
    /// 64-bit two's complement; arithmetic wraps.
    Int,
    /// Truth values.
    Bool,
    /// Text.
    String,
    /// `()`, `(a, b)`, …; never one component.
    Tuple(Vec<Type>),
    /// `{x : Real | r}`
    Record(Row),
    /// `[n]a`
    Array(Size, Arc<Type>),
    /// `a -> b`
    Fun(Arc<Type>, Arc<Type>),
    /// A declared type, by qualified name, with its arguments.
    Data(Name, Vec<Type>),
    /// Linear functionals on a type.
    Dual(Arc<Type>),
    /// A variable bound by an enclosing [`Scheme`] (or by a data type's parameters).
    Var(Name),
}

/// The fields of a record type, and the row variable that stands for further ones.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Row {
    /// Fields by name.
    pub fields: BTreeMap<Name, Type>,
    /// Further fields.
    pub rest: Option<Name>,
}

/// The size of an array, as far as it is known before running.
///
/// Sizes are gradual: [`Size::Unknown`] agrees with every size, two different variables may turn out equal, and only
/// two different constants are a contradiction. What is not settled by types is checked when the program runs
/// (by `CheckSize` terms where the user named sizes, and by the array primitives themselves).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Size {
    /// `[3]a`
    Const(u64),
    /// `[n]a`
    Var(Name),
    /// `[]a`
    Unknown,
}

/// What a type variable may be instantiated to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Pred {
    /// `Int` or `Real`.
    Num,
    /// `Int`, `Real` or `String`: has `<`.
    Ord,
    /// First-order: holds no function and no `Dual` of one. Has `==`, `zero`, `add`, and is what `grad` and `vjp` take.
    Data,
    /// Holds a `Real`: something to differentiate.
    Smooth,
    /// `Data`, in the arithmetic of tangents: in a type without a `Real`, numbers that nothing else decides are `Real`, so
    /// that the length of `[3, 4]` is 5. It holds of the same types as `Data`.
    Tangent,
}

impl Pred {
    /// All predicates.
    pub const ALL: [Pred; 5] = [Pred::Num, Pred::Ord, Pred::Data, Pred::Smooth, Pred::Tangent];

    /// Its name in a written type, `Num a => …`.
    pub fn text(self) -> &'static str {
        match self {
            Pred::Num => "Num",
            Pred::Ord => "Ord",
            Pred::Data => "Data",
            Pred::Smooth => "Smooth",
            Pred::Tangent => "Tangent",
        }
    }
}

/// What kind of thing a bound variable stands for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A type that satisfies the predicates (sorted, without repetition).
    Type(Vec<Pred>),
    /// The rest of a record.
    Row,
    /// An array size.
    Size,
}

/// A bound variable of a scheme.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Param {
    /// Its name.
    pub name: Name,
    /// Its kind.
    pub kind: Kind,
}

/// A polymorphic type: `forall params. ty`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Scheme {
    /// Bound variables.
    pub params: Vec<Param>,
    /// The type.
    pub ty: Type,
}

/// What a bound variable is instantiated with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TypeArg {
    /// For [`Kind::Type`].
    Type(Type),
    /// For [`Kind::Row`].
    Row(Row),
    /// For [`Kind::Size`].
    Size(Size),
}

impl Type {
    /// The type with one value.
    pub fn unit() -> Type {
        Type::Tuple(Vec::new())
    }

    /// `from -> to`
    pub fn fun(from: Type, to: Type) -> Type {
        Type::Fun(Arc::new(from), Arc::new(to))
    }

    /// `[size]elem`
    pub fn array(size: Size, elem: Type) -> Type {
        Type::Array(size, Arc::new(elem))
    }
}

impl Scheme {
    /// A type that binds nothing.
    pub fn mono(ty: Type) -> Scheme {
        Scheme { params: Vec::new(), ty }
    }
}
