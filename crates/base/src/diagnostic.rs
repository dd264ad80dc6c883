//! The one diagnostics type: plain data. Crates make diagnostics, only the driver renders them (as text with the
//! source line underlined, or as JSON).

use crate::Span;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The program cannot be run.
    Error,
    /// The program runs, but something is probably not meant.
    Warning,
}

/// A remark on a stretch of source text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What is to be said there; may be empty for a primary label.
    pub message: String,
}

/// One message to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The kind, one of those that the crate that makes it lists in `errors::CODES`.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// One sentence: what is wrong, in the user's own names.
    pub message: String,
    /// The place that is at fault.
    pub primary: Label,
    /// Other places that explain it.
    pub secondary: Vec<Label>,
    /// Facts that help to understand, one sentence each.
    pub notes: Vec<String>,
    /// What to do about it, if that is known.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at `span`.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            severity: Severity::Error,
            message: message.into(),
            primary: Label { span, message: String::new() },
            secondary: Vec::new(),
            notes: Vec::new(),
            help: None,
        }
    }

    /// A warning at `span`.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, span, message) }
    }

    /// Sets the text at the primary place.
    pub fn label(mut self, message: impl Into<String>) -> Diagnostic {
        self.primary.message = message.into();
        self
    }

    /// Adds another place.
    pub fn also(mut self, span: Span, message: impl Into<String>) -> Diagnostic {
        self.secondary.push(Label { span, message: message.into() });
        self
    }

    /// Adds a fact.
    pub fn note(mut self, note: impl Into<String>) -> Diagnostic {
        self.notes.push(note.into());
        self
    }

    /// Sets what to do.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Whether this stops the program.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
