//! From the surface tree to the typed core: names and modules, Hindley–Milner inference with the predicates `Num`, `Ord`,
//! `Data` and `Smooth`, rows for records, gradual array sizes, exhaustiveness of matches, elaboration.
//!
//! [`check_module`] is a pure function of a module and the interfaces of what it imports; [`check_expr`] does the same
//! for one expression. Both report as many errors as they can: a definition with an error is left out of the program
//! and poisons its uses instead of causing follow-up errors.
//!
//! The passes: `declare` (types), `deps` (order of definitions), then for each group of definitions that depend on each
//! other `infer` (which uses `ty`, `unify`, `pred`, and builds the terms of `typed`), and `finish` (to the core).

mod annotate;
mod declare;
mod deps;
pub mod errors;
pub mod exhaustive;
mod finish;
mod infer;
mod interface;
mod module;
mod pred;
mod scope;
mod show;
mod suggest;
#[cfg(test)]
mod tests;
mod ty;
mod typed;
mod unify;

pub use interface::{AliasInfo, CtorInfo, Interface, KnownTypes, TypeInfo, ValueInfo};
pub use module::{Checked, Declared, Elsewhere, Interfaces, ModuleInput, check_expr, check_module};
