//! Runs one fuzz target for as long as asked.

fn main() {}
