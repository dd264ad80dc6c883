//! The typed core: what the surface language means, and what every engine and calculus starts from.
//!
//! [`types`] and [`term`] are the data; `verify` says what is well formed, `print` and `parse` are its text form,
//! `sig` gives the types of the primitives.

pub mod term;
pub mod types;

pub use term::{
    Arm, Binder, Ctor, CtorRef, DataType, Def, Lit, Pattern, Program, RecBinding, Term, TermKind, Var,
};
pub use types::{Kind, Param, Pred, Row, Scheme, Size, Type, TypeArg};
