//! The back ends: from the array IR to machine code.
//!
//! [`loops`] is the language that all back ends print: explicit loops over flat memory, with counted references.

mod blocks;
mod compiled;
pub mod faults;
mod jit;
pub mod library;
pub mod loops;
pub mod lower;
mod runtime;
mod values;

pub use compiled::{Compiled, Loaded, Math, clif};
pub use runtime::blocks::{Level, levels as vector_levels};
