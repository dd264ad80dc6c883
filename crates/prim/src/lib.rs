//! The primitives of Wengert, stated once: type, value, derivative, cost, and the value at points where the derivative
//! does not exist. Every engine and calculus reads these tables; none has a rule of its own.
//!
//! * [`table`]: every built-in function of the language ([`Prim`]), its surface name, signature and documentation.
//! * [`real_op`]: the operations on real numbers ([`RealOp`]) that those come down to, with value and cost.
//! * [`rule`]: the shape of a derivative rule, as data; [`rules`] has one for each [`RealOp`].
//! * [`cost`]: what value and derivatives cost by these rules.
//! * [`kinks`]: the values used where there is no derivative.
//! * [`special`]: special functions that the platform lacks.
//! * [`docs`]: the pages of the library reference that are generated from all this.

pub mod cost;
pub mod docs;
pub mod kinks;
pub mod real_op;
pub mod rule;
pub mod rules;
pub mod special;
pub mod table;

pub use real_op::RealOp;
pub use rule::{Expr, Rule, Term, Test};
pub use table::{Group, Prim, PrimInfo};
