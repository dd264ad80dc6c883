//! The four papers as executable calculi.
//!
//! Each is a formal system with its paper's syntax, typing, rules and theorems: [`kit`] holds only what a trace, a result
//! and a translation from the core look like, so that they can be compared.

pub mod kit;
