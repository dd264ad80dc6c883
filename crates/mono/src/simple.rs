//! The bridge from the typed core: a closed, simply typed program, from which each calculus translates its fragment.
//!
//! `bridge` makes it from core: definitions are instantiated at the types at which they are used, predicates are gone,
//! library definitions of derivative operators are recognized as [`Derive`], recursion is explicit. Nothing is lost:
//! what a calculus cannot take, it refuses with `fragment`'s message.

use rustc_hash::FxHashMap;
use std::rc::Rc;
use wengert_base::{Name, Span};
use wengert_prim::Prim;

/// A type without variables.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    /// Real numbers.
    Real,
    /// Integers.
    Int,
    /// Truth values.
    Bool,
    /// Text.
    String,
    /// A tuple (a record is the tuple of its fields in the order of their names); unit is the empty one.
    Tuple(Vec<Ty>),
    /// An array.
    Array(Rc<Ty>),
    /// A function.
    Fun(Rc<Ty>, Rc<Ty>),
    /// A declared type at these arguments, see [`Program::data`].
    Data(Name, Vec<Ty>),
    /// Linear functionals.
    Dual(Rc<Ty>),
}

/// A variable, unique in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Var {
    /// The user's name.
    pub name: Name,
    /// Makes it unique.
    pub id: u32,
}

/// A term with the place it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// What it is.
    pub kind: TermKind,
    /// Its type.
    pub ty: Ty,
    /// The user's text.
    pub span: Span,
}

impl Term {
    /// The terms directly inside, from left to right.
    pub fn children(&self) -> impl Iterator<Item = &Term> {
        let mut found: smallvec::SmallVec<[&Term; 4]> = smallvec::SmallVec::new();
        match &self.kind {
            TermKind::Var(_)
            | TermKind::Real(_)
            | TermKind::Int(_)
            | TermKind::Bool(_)
            | TermKind::String(_) => {}
            TermKind::Lam(_, _, body) => found.push(body),
            TermKind::App(func, arg) => found.extend([func.as_ref(), arg.as_ref()]),
            TermKind::Let(_, _, value, body) => found.extend([value.as_ref(), body.as_ref()]),
            TermKind::LetRec(bindings, body) => {
                found.extend(bindings.iter().map(|(_, _, value)| value));
                found.push(body);
            }
            TermKind::If(cond, then, otherwise) => {
                found.extend([cond.as_ref(), then.as_ref(), otherwise.as_ref()]);
            }
            TermKind::Tuple(items)
            | TermKind::Prim(_, items)
            | TermKind::Derive(_, items)
            | TermKind::Ctor(_, items)
            | TermKind::Array(items) => found.extend(items),
            TermKind::Proj(tuple, _, _) => found.push(tuple),
            TermKind::Case(scrutinee, arms) => {
                found.push(scrutinee);
                found.extend(arms.iter().map(|(_, body)| body));
            }
        }
        found.into_iter()
    }
}

/// What a term is.
#[derive(Clone, Debug, PartialEq)]
pub enum TermKind {
    /// A variable.
    Var(Var),
    /// A real literal.
    Real(f64),
    /// An integer literal.
    Int(i64),
    /// A truth value.
    Bool(bool),
    /// A text.
    String(Rc<str>),
    /// `\x : ty -> body`
    Lam(Var, Ty, Rc<Term>),
    /// Application.
    App(Rc<Term>, Rc<Term>),
    /// `let x : ty = value in body`
    Let(Var, Ty, Rc<Term>, Rc<Term>),
    /// Functions that call each other, each a [`TermKind::Lam`], and the scope.
    LetRec(Vec<(Var, Ty, Term)>, Rc<Term>),
    /// `if`
    If(Rc<Term>, Rc<Term>, Rc<Term>),
    /// A tuple.
    Tuple(Vec<Term>),
    /// Component `.1` of a tuple of `.2` components.
    Proj(Rc<Term>, usize, usize),
    /// A saturated primitive; arithmetic carries the type it works at in its arguments.
    Prim(Prim, Vec<Term>),
    /// A derivative operator with its arguments, as many as [`Derive::arity`].
    Derive(Derive, Vec<Term>),
    /// A saturated constructor: the data type is the term's type.
    Ctor(u32, Vec<Term>),
    /// Case analysis on a data type, with an arm for each constructor in order: the variables of its fields and the body.
    Case(Rc<Term>, Vec<(Vec<(Var, Ty)>, Term)>),
    /// An array literal.
    Array(Vec<Term>),
}

/// Derivative operators that traces start from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Derive {
    /// `grad f x`
    Grad,
    /// `value_and_grad f x`
    ValueAndGrad,
    /// `derivative f x`
    Derivative,
    /// `jvp f (x, t)`: two arguments, function and pair.
    Jvp,
    /// `vjp f x`
    Vjp,
    /// `pullback f w x`
    Pullback,
}

impl Derive {
    /// How many arguments it takes.
    pub fn arity(self) -> usize {
        match self {
            Derive::Grad | Derive::ValueAndGrad | Derive::Derivative | Derive::Jvp | Derive::Vjp => 2,
            Derive::Pullback => 3,
        }
    }
}

/// A data type at its arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Data {
    /// Constructors in order: name and types of the fields.
    pub ctors: Vec<(Name, Vec<Ty>)>,
}

/// A closed program.
#[derive(Clone, Debug)]
pub struct Program {
    /// The term.
    pub term: Term,
    /// Data types that occur in it, by type.
    pub data: indexmap::IndexMap<Ty, Data>,
}

/// What simple types do not tell, noted on variables of a program.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    /// `let n = size in if … then xs else fail …` checks that the array `xs` has the size `n` along this axis, which the user
    /// called so in a type.
    pub sizes: FxHashMap<Var, (Name, u32)>,
    /// What functions were called before they were put in the place of their names, by their first parameters.
    pub functions: FxHashMap<Var, Name>,
    /// How variables that are shown hold records.
    pub shown: FxHashMap<Var, Shown>,
    /// The fields of the constructors of declared types, see [`Shown::Data`].
    pub shown_data: Vec<Vec<Vec<Shown>>>,
    /// A record with one field, an array, was taken as that field.
    pub singles: bool,
    /// What stands for the parameters of types that hold themselves at larger and larger arguments, deeper than terms look.
    pub uniform: Option<Uniform>,
}

/// A type of the values of many types: a constructor, with one field, for each kind of them. No term has that type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uniform {
    /// The type.
    pub ty: Ty,
    /// Of which values each constructor is.
    pub heads: Vec<Head>,
}

/// What a value is on the outside.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Head {
    /// A real number.
    Real,
    /// An integer.
    Int,
    /// A truth value.
    Bool,
    /// A text.
    Text,
    /// A tuple with so many components.
    Tuple(usize),
    /// A record with these fields, in order.
    Record(Vec<Name>),
    /// An array.
    Array,
    /// A linear functional.
    Dual,
    /// A value of a declared type.
    Data(Name),
}

impl std::fmt::Display for Head {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Head::Real => f.write_str("Real"),
            Head::Int => f.write_str("Int"),
            Head::Bool => f.write_str("Bool"),
            Head::Text => f.write_str("Text"),
            Head::Tuple(count) => write!(f, "Tuple{count}"),
            Head::Record(names) => {
                f.write_str("Record")?;
                names.iter().try_for_each(|name| write!(f, "_{name}"))
            }
            Head::Array => f.write_str("Array"),
            Head::Dual => f.write_str("Dual"),
            Head::Data(name) => f.write_str(name.as_str().rsplit('.').next().unwrap_or_default()),
        }
    }
}

/// Where in a value names of fields are shown.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Shown {
    /// Nowhere.
    Plain,
    /// It is a record: the tuple of these fields, or, if there is one, that field.
    Record(Vec<(Name, Shown)>),
    /// In the components.
    Tuple(Vec<Shown>),
    /// In the elements.
    Array(Box<Shown>),
    /// In the fields of the constructors, see [`Notes::shown_data`].
    Data(usize),
}
