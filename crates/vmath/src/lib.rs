//! Vector math: elementary functions of doubles, at most 2.5 units in the last place from the exact value and right at
//! every edge, from one description in two forms.
//!
//! * [`unary`] and [`binary`] work on blocks of numbers. They are to be inlined into functions for a certain kind of
//!   processor, which is the business of whoever chooses at run time;
//! * [`c_source`] is C text with a function for each [`Function`].
//!
//! Both do the same operations in the same order (see [`Machine`]), so that both give the same bits on processors with a
//! fused multiply-add, and the same on those without one. `examples/fit.rs` makes the polynomials,
//! `tests/accuracy.rs` measures the errors, `examples/speed.rs` the speed.

mod block;
mod coefficients;
mod error;
mod exp;
mod function;
mod gamma;
mod huge;
mod inverse;
mod log;
mod machine;
mod power;
mod text;
mod tracer;
mod trig;

pub use block::{binary, scalar, unary};
pub use function::{Function, function_of};
pub use machine::{Machine, Plain};
pub use text::{C_FLAGS, c_source};
