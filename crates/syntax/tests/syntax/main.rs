//! The tests of the crate: what texts are read as, what is said of those that are wrong, and how trees are laid out.

mod grammar;
mod layout;
mod messages;
mod picture;
mod properties;
mod random;
