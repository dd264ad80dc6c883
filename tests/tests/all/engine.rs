//! The engine: every example, the code in the book, and generated programs go through the lowering to the array IR, and
//! what comes out is well formed.

mod by_hand;
mod corpus;
mod oracle;
mod reading;
