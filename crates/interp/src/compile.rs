//! From core terms to code for the machine.
//!
//! The code is a register code: every intermediate result has a register of its function's frame, and an operand is a
//! register, a constant or a captured variable. Curried lambdas become one function of several parameters. Control flow
//! inside a function only goes forward (loops are calls), which makes liveness a single backward walk: see [`allocate`],
//! which turns the unlimited virtual registers of the first walk into few slots and marks the last use of each, where
//! the machine moves the value instead of copying it. That is what lets `set` update an array in place.
//!
//! Types are erased, with one exception: a literal at a type variable with `Num`, and a sum over an empty array, depend
//! on the variable. A definition is therefore compiled once for each instantiation of its `Num` variables that is used
//! ([`library`]), and so is a polymorphic local `let` ([`lower`]).
//!
//! * [`instr`]: the code itself.
//! * [`library`]: definitions, data types, and their compiled instances.
//! * [`function`]: the function under construction: registers, constants, captured variables, jumps.
//! * [`lower`], [`binding`], [`pattern`]: terms, `let`s, patterns.

pub(crate) mod allocate;
pub(crate) mod binding;
pub(crate) mod function;
pub(crate) mod instr;
pub(crate) mod library;
pub(crate) mod lower;
pub(crate) mod pattern;

pub(crate) use instr::Code;
