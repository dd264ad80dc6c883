//! The corpus and its runner.
