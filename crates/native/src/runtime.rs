//! What compiled programs call: memory, failures, texts, sorting, functions of reals. And how they are entered and left.
//!
//! Compiled code runs on a stack of its own, which is large, so that recursion a million deep is fine ([`stack`]). A failure
//! leaves it at once: the code has nothing to clean up, for all memory belongs to the [`heap`] of the run.

#![expect(
    unsafe_code,
    reason = "compiled code and the runtime share memory that Rust does not know the types of"
)]

pub(crate) mod blocks;
pub(crate) mod context;
pub(crate) mod depot;
pub(crate) mod heap;
pub(crate) mod large;
pub(crate) mod math;
pub(crate) mod order;
pub(crate) mod parallel;
pub(crate) mod pool;
pub(crate) mod processor;
pub(crate) mod product;
pub(crate) mod release;
mod spare;
pub(crate) mod stack;
pub(crate) mod text;
