//! The array IR: what the engine compiles. Typed, first-order, in static single assignment, with structured control flow.
//!
//! There are no tuples and no closures here. A tuple is several values, an array of tuples several arrays, and a function
//! value is data whose constructors are the functions that it can be, so that a pass has few kinds of things to look at:
//! scalars, arrays and data.
//!
//! - [`ty`]: types, data declarations.
//! - [`op`]: operations, blocks.
//! - [`program`]: functions and programs.
//! - [`visit`]: operands and nested blocks of operations; [`build`]: making and copying code.
//! - [`typing`]: the types of an operation's results; [`mod@verify`]: what makes a program well formed.
//! - [`mod@print`] and [`mod@parse`]: the text form.
//! - [`eval`]: the reference evaluator; [`generate`]: random programs for tests of passes and engines;
//!   [`shrink`]: small programs that still fail.

pub mod build;
pub mod eval;
pub mod generate;
pub mod op;
pub mod parse;
pub mod print;
pub mod program;
pub mod shrink;
pub mod stop;
pub mod ty;
pub mod typing;
pub mod verify;
pub mod visit;
mod words;

pub use build::{Builder, Copier};
pub use op::{Atom, Block, Op, Stmt, Var};
pub use parse::{ParseError, parse};
pub use print::{print, print_used};
pub use program::{Func, FuncId, Program};
pub use ty::{DataId, Elem, Ty};
pub use typing::types_of;
pub use verify::{VerifyError, verify};
pub use wengert_fault::MOST_ELEMENTS;
