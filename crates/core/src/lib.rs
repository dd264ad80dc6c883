//! The typed core: what the surface language means, and what every engine and calculus starts from.
//!
//! [`types`] and [`term`] are the data; `verify` says what is well formed, `print` and `parse` are its text form,
//! `sig` gives the types of the primitives, `subst` replaces variables in types.

pub mod parse;
pub mod print;
pub mod sig;
pub mod subst;
pub mod term;
mod type_text;
pub mod types;
pub mod verify;

pub use parse::{ParseError, parse};
pub use print::{print, print_term, strip_spans};
pub use sig::{Signature, signature};
pub use subst::{FreeVars, Subst, VarSort};

pub use term::{
    Arm, Binder, Ctor, CtorRef, DataType, Def, Lit, Pattern, Program, RecBinding, Term, TermKind, Var,
};
pub use types::{Kind, Param, Pred, Row, Scheme, Size, Type, TypeArg};
pub use verify::{VerifyError, verify, verify_module};
