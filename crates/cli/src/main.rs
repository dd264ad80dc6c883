//! The `wengert` command.
fn main() {}
