//! Wengert source text to surface tree and back. Parsing never fails: it gives a tree and diagnostics.
//!
//! ```
//! use wengert_base::SourceId;
//! let parsed = wengert_syntax::parse(SourceId(0), "def main = 1 +\ndef other = 2");
//! assert_eq!(parsed.module.items.len(), 2);
//! assert_eq!(parsed.diagnostics.len(), 1);
//! ```

pub mod ast;
pub mod errors;
pub mod format;
pub mod lexer;
pub mod parser;
mod precedence;
pub mod token;

pub use format::{format, print_expr, print_module, same_expr, same_module};
pub use parser::{
    Input, MAX_DEPTH, Parse, ParsedExpr, ParsedInput, is_incomplete, parse, parse_expr, parse_input,
};
pub use token::Comment;
