//! What the tests of the whole project share: where the project lies, how the `wengert` program is built and run, how
//! expected texts are compared and blessed, how the pages of the book are read, and the fuzz targets.
//!
//! The tests themselves are in `tests/tests`; the programs they run in `tests/errors`, `examples/`, `lib/` and the
//! code blocks of `docs/`. `BLESS=1 cargo test -p wengert-tests` rewrites every expected text to what is printed now.

pub mod book;
pub mod command;
pub mod differential;
pub mod everywhere;
pub mod expected;
pub mod fuzz;
pub mod goldens;
pub mod parallel;
pub mod project;
pub mod promise;
pub mod property;
pub mod text;
