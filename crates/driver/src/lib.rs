//! Wengert as a library: the one API of the language.
//!
//! A [`Session`] checks files, evaluates expressions and entries, and counts costs. Errors are plain
//! [`Diagnostic`](wengert_base::Diagnostic)s; [`render`] makes text or JSON of them. This is the only library crate that
//! reads files, and it never prints.
//!
//! ```
//! use wengert_driver::{Options, Session};
//!
//! let mut session = Session::new();
//! let evaluated = session.eval(r"grad (\x -> x ^ 3) 2.0", None, &Options::default()).map_err(|_| "an error")?;
//! assert_eq!(wengert_driver::show(&evaluated.value), "12.0");
//! # Ok::<(), &str>(())
//! ```
//!
//! From a text to a value: [`modules`] loads and checks, `session` links and calls, [`engine`] runs, [`json`] reads
//! arguments and writes results.

mod ahead;
pub mod bench;
mod build;
mod cache;
pub mod calculus;
mod compiler;
pub mod cost;
pub mod docs;
pub mod emit;
pub mod engine;
pub mod errors;
pub mod explain;
pub mod files;
pub mod growth;
pub mod json;
pub mod library;
pub mod modules;
mod native;
pub mod prepared;
pub mod profile;
pub mod render;
pub mod repl;
pub mod scope;
pub mod session;
mod similar;
mod watch;

pub use build::{Build, Built};
pub use cost::Cost;
pub use engine::{Engine, Evaluated, Options};
pub use explain::{all_codes, explain, find_code};
pub use native::Units;
pub use repl::{Repl, Reply};
pub use session::{Input, Report, Session, Signature};
pub use wengert_calculi as calculi;
pub use wengert_engine::{BEYOND, MOST_THREADS, PASSES, RELAXED, passes};
pub use wengert_interp::Value;
pub use wengert_interp::show::show;
pub use wengert_syntax::format::format;
pub use wengert_syntax::is_incomplete;
