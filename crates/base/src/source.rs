//! Where something stands: byte ranges in registered source files.

use std::sync::Arc;

/// Identifies a file in a [`SourceMap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceId(pub u32);

/// A half-open byte range `start..end` of one source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The file.
    pub source: SourceId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The range `start..end` of `source`.
    pub fn new(source: SourceId, start: u32, end: u32) -> Span {
        Span { source, start, end }
    }

    /// The smallest span that covers both; `other` must be in the same file (else `self` is returned).
    pub fn to(self, other: Span) -> Span {
        if self.source != other.source {
            return self;
        }
        Span { source: self.source, start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// An empty span at the end of this one, for "expected … here".
    pub fn after(self) -> Span {
        Span { start: self.end, ..self }
    }

    /// A span for generated code that stands nowhere in a file: source `u32::MAX`.
    pub const NOWHERE: Span = Span { source: SourceId(u32::MAX), start: 0, end: 0 };

    /// Whether this is [`Span::NOWHERE`].
    pub fn is_nowhere(self) -> bool {
        self.source == SourceId(u32::MAX)
    }
}

/// A file: its display name, its text, and where its lines start.
#[derive(Debug)]
pub struct SourceFile {
    /// The name shown in messages, as the user wrote the path.
    pub name: String,
    /// The text.
    pub text: String,
    line_starts: Vec<u32>,
}

impl SourceFile {
    /// A file with this name and text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> SourceFile {
        let text = text.into();
        let newlines = text.bytes().enumerate().filter(|(_, b)| *b == b'\n');
        let line_starts = std::iter::once(0).chain(newlines.map(|(i, _)| i as u32 + 1)).collect();
        SourceFile { name: name.into(), text, line_starts }
    }

    /// One-based line and column (in characters) of a byte offset; offsets past the end give the end.
    pub fn line_col(&self, offset: u32) -> (u32, u32) {
        let offset = offset.min(self.text.len() as u32);
        let line = self.line_starts.partition_point(|start| *start <= offset);
        let start = self.line_starts.get(line.saturating_sub(1)).copied().unwrap_or(0);
        let before = self.text.get(start as usize..offset as usize).unwrap_or("");
        (line as u32, before.chars().count() as u32 + 1)
    }
}

/// All source files of a session; cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<Arc<SourceFile>>,
}

impl SourceMap {
    /// An empty map.
    pub fn new() -> SourceMap {
        SourceMap::default()
    }

    /// Registers a file.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> SourceId {
        self.files.push(Arc::new(SourceFile::new(name, text)));
        SourceId(self.files.len() as u32 - 1)
    }

    /// The file, unless `id` is foreign to this map.
    pub fn get(&self, id: SourceId) -> Option<&Arc<SourceFile>> {
        self.files.get(id.0 as usize)
    }

    /// The text a span covers, empty if it covers nothing known.
    pub fn text(&self, span: Span) -> &str {
        self.get(span.source)
            .and_then(|file| file.text.get(span.start as usize..span.end as usize))
            .unwrap_or("")
    }

    /// How many files are registered.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether no file is registered.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one_in_characters() {
        let file = SourceFile::new("a.wg", "λx\ny\n");
        assert_eq!(file.line_col(0), (1, 1));
        assert_eq!(file.line_col(2), (1, 2));
        assert_eq!(file.line_col(4), (2, 1));
        assert_eq!(file.line_col(99), (3, 1));
    }
}
