//! Wengert source text to surface tree and back. Parsing never fails: it gives a tree and diagnostics.

pub mod ast;
