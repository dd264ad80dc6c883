//! Kinds of diagnostics. Each crate that makes diagnostics lists its kinds in `errors::CODES`; the driver joins the
//! lists, and a test demands a golden example of each.
//!
//! `E01xx` text and grammar (syntax) · `E02xx` names and modules, `E03xx` types, `E04xx` patterns, `E05xx` array
//! sizes, `E06xx` derivatives (check) · `E07xx` while running (fault) · `E08xx` inputs and the command (driver).

/// A kind of diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// `E0301`
    pub code: &'static str,
    /// A short title, for the index of errors.
    pub title: &'static str,
}
