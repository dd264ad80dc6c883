//! The paper's theorems and examples, and its chapter of the book.

mod conjectures;
mod documentation;
mod generate;
#[expect(clippy::wildcard_enum_match_arm, reason = "a value of another shape is zero")]
mod model;
mod theorems;
