//! JSON ⇄ values.
//!
//! * [`parse`]: text to a flat [`parse::Document`], without recursion.
//! * [`arguments`]: the arguments of an entry, all of them.
//! * `decode`: a document to the values of given types, with errors that name the place in the JSON.
//! * [`guess`]: which types the JSON itself suggests, for arguments of polymorphic functions.
//! * [`encode`]: a value to text, without recursion.
//!
//! A real number is a number, or one of the strings `"NaN"`, `"Infinity"`, `"-Infinity"`; tuples and arrays are arrays,
//! unit is `[]`, a record is an object, and a constructor is `{"tag": "Cons", "fields": […]}`.

pub mod arguments;
pub(crate) mod decode;
pub mod encode;
pub mod guess;
pub mod parse;

#[cfg(test)]
mod tests;
