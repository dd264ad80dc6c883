//! What every layer of Wengert names: [`Span`] and [`SourceMap`] (where), [`Name`] (what it is called),
//! [`Diagnostic`] (what went wrong), [`real`] (how a number is written), [`scan`] (how the compiler's own texts are
//! read).
//!
//! The module list is closed: something that only one crate needs belongs to that crate.

pub mod codes;
pub mod diagnostic;
pub mod name;
pub mod real;
pub mod scan;
pub mod source;
pub mod text;

pub use diagnostic::{Diagnostic, Label, Severity};
pub use name::Name;
pub use source::{SourceFile, SourceId, SourceMap, Span};
