//! JSON text to a flat document.
//!
//! A [`Document`] is one vector of nodes in the order of the text: after an array's node come the nodes of its elements,
//! after an object's node its keys and values in turn, and every container knows the node after its last. So a list that is
//! nested a hundred thousand levels deep needs no recursion to read, to walk or to drop.
//!
//! The grammar is RFC 8259, nothing more; for the commonest slips (single quotes, trailing commas, a bare `NaN`, comments) the
//! error says what to write instead.

use crate::errors;
use wengert_base::{Diagnostic, SourceId, Span};

/// A JSON text taken apart.
#[derive(Debug)]
pub struct Document {
    /// The text it was read from.
    pub source: SourceId,
    nodes: Vec<Node>,
}

/// A value, or a key of an object, and where it stands.
#[derive(Debug)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    start: u32,
    end: u32,
}

/// What a node is.
#[derive(Debug, PartialEq)]
pub enum NodeKind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number: as a `Real`, and as an `Int` if it is one exactly.
    Number {
        /// The nearest real, infinite if too large.
        real: f64,
        /// The exact integer.
        int: Option<i64>,
        /// Whether it is written with digits and a sign only.
        plain: bool,
    },
    /// A string.
    Text(Box<str>),
    /// A key; the next node is its value.
    Key(Box<str>),
    /// An array.
    Array {
        /// How many elements.
        len: u32,
        /// The node after the last element.
        after: u32,
    },
    /// An object.
    Object {
        /// How many keys.
        len: u32,
        /// The node after the last value.
        after: u32,
    },
}

impl NodeKind {
    /// What it is, for messages.
    pub fn describe(&self) -> &'static str {
        match self {
            NodeKind::Null => "null",
            NodeKind::Bool(_) => "a boolean",
            NodeKind::Number { .. } => "a number",
            NodeKind::Text(_) => "a string",
            NodeKind::Key(_) => "a key",
            NodeKind::Array { .. } => "an array",
            NodeKind::Object { .. } => "an object",
        }
    }
}

impl Document {
    /// Reads `text`, which is registered as `source`.
    pub fn parse(source: SourceId, text: &str) -> Result<Document, Diagnostic> {
        let mut parser = Parser { source, text, at: 0, nodes: Vec::new(), open: Vec::new() };
        parser.document()?;
        Ok(Document { source, nodes: parser.nodes })
    }

    /// The outermost value.
    pub fn root(&self) -> usize {
        0
    }

    /// Node `i`; past the end there is only `null`.
    pub fn kind(&self, i: usize) -> &NodeKind {
        self.nodes.get(i).map_or(&NodeKind::Null, |node| &node.kind)
    }

    /// Where node `i` stands; of a container, its opening bracket.
    pub fn span(&self, i: usize) -> Span {
        let (start, end) = self.nodes.get(i).map_or((0, 0), |node| (node.start, node.end));
        Span::new(self.source, start, end)
    }

    /// The node after node `i` and everything in it.
    pub fn after(&self, i: usize) -> usize {
        match self.kind(i) {
            NodeKind::Array { after, .. } | NodeKind::Object { after, .. } => *after as usize,
            NodeKind::Key(_) => self.after(i + 1),
            NodeKind::Null | NodeKind::Bool(_) | NodeKind::Number { .. } | NodeKind::Text(_) => i + 1,
        }
    }

    /// The elements of an array, or the keys of an object.
    pub fn children(&self, i: usize) -> Children<'_> {
        let left = match self.kind(i) {
            NodeKind::Array { len, .. } | NodeKind::Object { len, .. } => *len,
            NodeKind::Null
            | NodeKind::Bool(_)
            | NodeKind::Number { .. }
            | NodeKind::Text(_)
            | NodeKind::Key(_) => 0,
        };
        Children { document: self, next: i + 1, left }
    }

    /// The key at node `i`, empty for anything else.
    pub fn key(&self, i: usize) -> &str {
        match self.kind(i) {
            NodeKind::Key(text) => text,
            NodeKind::Null
            | NodeKind::Bool(_)
            | NodeKind::Number { .. }
            | NodeKind::Text(_)
            | NodeKind::Array { .. }
            | NodeKind::Object { .. } => "",
        }
    }
}

/// Elements of an array or keys of an object, by node.
#[derive(Clone, Debug)]
pub struct Children<'a> {
    document: &'a Document,
    next: usize,
    left: u32,
}

impl Iterator for Children<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        let this = self.next;
        self.next = self.document.after(this);
        Some(this)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl ExactSizeIterator for Children<'_> {}

/// What is expected where a value should begin.
const VALUE: &str = "expected a value";

struct Parser<'a> {
    source: SourceId,
    text: &'a str,
    at: usize,
    nodes: Vec<Node>,
    /// Nodes of the containers that are not closed yet, outermost first.
    open: Vec<usize>,
}

impl Parser<'_> {
    fn document(&mut self) -> Result<(), Diagnostic> {
        loop {
            self.skip_space();
            if self.value()? {
                continue;
            }
            if !self.after_value()? {
                break;
            }
        }
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.error("expected the end of the JSON text")),
        }
    }

    /// Reads a scalar, or opens a container; `true` says that the container's first value comes next.
    fn value(&mut self) -> Result<bool, Diagnostic> {
        let start = self.at;
        match self.peek() {
            Some(b'{') => return self.open(true),
            Some(b'[') => return self.open(false),
            Some(b'"') => {
                let text = self.string()?;
                self.push(NodeKind::Text(text), start);
            }
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ => {
                let (word, kind) = match self.rest() {
                    rest if rest.starts_with("null") => ("null", NodeKind::Null),
                    rest if rest.starts_with("true") => ("true", NodeKind::Bool(true)),
                    rest if rest.starts_with("false") => ("false", NodeKind::Bool(false)),
                    _ => return Err(self.error(VALUE)),
                };
                self.at += word.len();
                self.push(kind, start);
            }
        }
        Ok(false)
    }

    fn open(&mut self, is_object: bool) -> Result<bool, Diagnostic> {
        let start = self.at;
        self.open.push(self.nodes.len());
        self.at += 1;
        let kind = match is_object {
            true => NodeKind::Object { len: 0, after: 0 },
            false => NodeKind::Array { len: 0, after: 0 },
        };
        self.push(kind, start);
        self.skip_space();
        match (self.peek(), is_object) {
            (Some(b'}'), true) | (Some(b']'), false) => Ok(false),
            (_, true) => {
                self.key()?;
                Ok(true)
            }
            (_, false) => Ok(true),
        }
    }

    /// After a value, or after the bracket of an empty container: closes containers until one goes on, or none is open.
    fn after_value(&mut self) -> Result<bool, Diagnostic> {
        let mut fresh = matches!(self.nodes.last(), Some(node) if is_fresh(&node.kind));
        while let Some(container) = self.open.last().copied() {
            let after = self.nodes.len() as u32;
            let Some(node) = self.nodes.get_mut(container) else { break };
            let (is_object, len) = match &mut node.kind {
                NodeKind::Object { len, after: end } => {
                    *end = after;
                    (true, len)
                }
                NodeKind::Array { len, after: end } => {
                    *end = after;
                    (false, len)
                }
                NodeKind::Null
                | NodeKind::Bool(_)
                | NodeKind::Number { .. }
                | NodeKind::Text(_)
                | NodeKind::Key(_) => break,
            };
            if !std::mem::take(&mut fresh) {
                *len += 1;
            }
            self.skip_space();
            match (self.peek(), is_object) {
                (Some(b','), _) => {
                    self.at += 1;
                    self.skip_space();
                    if is_object {
                        self.key()?;
                    }
                    return Ok(true);
                }
                (Some(b'}'), true) | (Some(b']'), false) => {
                    self.at += 1;
                    self.open.pop();
                }
                (_, true) => return Err(self.error("expected `,` or `}`")),
                (_, false) => return Err(self.error("expected `,` or `]`")),
            }
        }
        self.skip_space();
        Ok(false)
    }

    fn key(&mut self) -> Result<(), Diagnostic> {
        let start = self.at;
        if self.peek() != Some(b'"') {
            return Err(self.error("expected a key in double quotes"));
        }
        let text = self.string()?;
        self.push(NodeKind::Key(text), start);
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err(self.error("expected `:` after the key"));
        }
        self.at += 1;
        self.skip_space();
        Ok(())
    }

    fn number(&mut self) -> Result<(), Diagnostic> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        let leading_zero = self.peek() == Some(b'0');
        let digits = self.digits();
        if digits == 0 {
            return Err(self.error("expected a digit after `-`"));
        }
        if leading_zero && digits > 1 {
            return Err(self.error_from(start, "a number cannot start with 0"));
        }
        let mut plain = true;
        if self.peek() == Some(b'.') {
            plain = false;
            self.at += 1;
            if self.digits() == 0 {
                return Err(self.error("expected a digit after the point"));
            }
        }
        if let Some(b'e' | b'E') = self.peek() {
            plain = false;
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            if self.digits() == 0 {
                return Err(self.error("expected a digit in the exponent"));
            }
        }
        let written = self.text.get(start..self.at).unwrap_or("");
        let real: f64 = written.parse().unwrap_or(f64::NAN);
        let int = if plain { written.parse().ok() } else { integral(real, written) };
        self.push(NodeKind::Number { real, int, plain }, start);
        Ok(())
    }

    /// Skips digits and says how many there were.
    fn digits(&mut self) -> usize {
        let count = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        self.at += count;
        count
    }

    /// A string, from quote to quote.
    fn string(&mut self) -> Result<Box<str>, Diagnostic> {
        let start = self.at;
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = self.rest();
            let plain = rest.bytes().take_while(|b| !matches!(b, b'"' | b'\\' | 0..0x20)).count();
            out.push_str(rest.get(..plain).unwrap_or(""));
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out.into_boxed_str());
                }
                Some(b'\\') => out.push(self.escape()?),
                Some(_) => {
                    return Err(
                        self.error("a control character must be written as an escape, `\\n` or `\\u000a`")
                    );
                }
                None => return Err(self.error_from(start, "this string has no closing quote")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Diagnostic> {
        let start = self.at;
        self.at += 1;
        let simple = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(start),
            _ => return Err(self.error_from(start, "unknown escape")),
        };
        self.at += 1;
        Ok(simple)
    }

    /// `\u00e9`, or a surrogate pair `\ud83d\ude00`.
    fn unicode_escape(&mut self, start: usize) -> Result<char, Diagnostic> {
        let first = self.code_unit(start)?;
        if !(0xd800..0xe000).contains(&first) {
            return char::from_u32(first).ok_or_else(|| self.error_from(start, "not a character"));
        }
        if first < 0xdc00 && self.rest().starts_with("\\u") {
            self.at += 1;
            let second = self.code_unit(start)?;
            if (0xdc00..0xe000).contains(&second) {
                let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return char::from_u32(code).ok_or_else(|| self.error_from(start, "not a character"));
            }
        }
        Err(self.error_from(start, "half of a surrogate pair"))
    }

    /// `u` and four hexadecimal digits.
    fn code_unit(&mut self, start: usize) -> Result<u32, Diagnostic> {
        let digits = self.text.get(self.at + 1..self.at + 5).unwrap_or("");
        let valid = digits.len() == 4 && digits.bytes().all(|b| b.is_ascii_hexdigit());
        let unit = if valid { u32::from_str_radix(digits, 16).ok() } else { None };
        let unit =
            unit.ok_or_else(|| self.error_from(start, "expected four hexadecimal digits after `\\u`"))?;
        self.at += 5;
        Ok(unit)
    }

    fn push(&mut self, kind: NodeKind, start: usize) {
        self.nodes.push(Node { kind, start: start as u32, end: self.at as u32 });
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        self.at += self.rest().bytes().take_while(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r')).count();
    }

    /// An error at the current character.
    fn error(&self, expected: &str) -> Diagnostic {
        let span = Span::new(self.source, self.at as u32, self.at as u32);
        let rest = self.rest();
        let found = rest.chars().next();
        let span = Span { end: span.end + found.map_or(0, char::len_utf8) as u32, ..span };
        let word: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '-').take(20).collect();
        let help = match (found, word.as_str()) {
            (Some('\''), _) => Some("JSON strings stand in double quotes"),
            (Some(']' | '}'), _) if expected == VALUE => {
                Some("a comma cannot stand before the closing bracket")
            }
            (Some('/' | '#'), _) => Some("JSON has no comments"),
            (Some('('), _) => Some("a tuple is written as an array, `[1.0, 2.0]`"),
            (_, "NaN" | "Infinity" | "nan" | "inf" | "Inf") => {
                Some("write \"NaN\", \"Infinity\" or \"-Infinity\", in quotes")
            }
            (_, "True" | "False" | "None") => Some("JSON writes `true`, `false` and `null`"),
            (Some('.' | '+'), _) => Some("a number starts with a digit or `-`"),
            _ => None,
        };
        errors::bad_json(span, expected, found, help)
    }

    /// An error about everything since `start`.
    fn error_from(&self, start: usize, message: &str) -> Diagnostic {
        let end =
            self.text.get(start..).and_then(|rest| rest.find('\n')).map_or(self.text.len(), |n| start + n);
        let end = end.min(self.at.max(start + 1));
        errors::bad_json_token(Span::new(self.source, start as u32, end as u32), message)
    }
}

/// A container whose end is not known yet, as the last node: nothing has been read in it.
fn is_fresh(kind: &NodeKind) -> bool {
    matches!(kind, NodeKind::Array { len: 0, after: 0 } | NodeKind::Object { len: 0, after: 0 })
}

/// The integer that a number with a point or an exponent is exactly: `1.5e1` is 15, and `9007199254740993.0` not the nearest real.
fn integral(real: f64, written: &str) -> Option<i64> {
    if real.fract() != 0.0 {
        return None;
    }
    // So few digits are a whole number if their nearest real is one.
    if written.len() <= 15 && real.abs() < 1e15 {
        return Some(real as i64);
    }
    let (sign, written) = written.strip_prefix('-').map_or(("", written), |rest| ("-", rest));
    let (mantissa, exponent) = written.split_once(['e', 'E']).unwrap_or((written, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let digits = all.trim_end_matches('0');
    if digits.is_empty() {
        return Some(0);
    }
    let dropped = all.len() as i64 - digits.len() as i64;
    // An exponent that is no integer itself is that of nothing in range.
    let exponent: i64 = exponent.parse().ok()?;
    let zeros = exponent.checked_sub(fraction.len() as i64)?.checked_add(dropped)?;
    let zeros = usize::try_from(zeros).ok().filter(|zeros| *zeros < 19)?;
    format!("{sign}{digits}{}", "0".repeat(zeros)).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::{Style, text::render_one};
    use expect_test::{Expect, expect};
    use wengert_base::SourceMap;

    fn parse(text: &str) -> Result<Document, Diagnostic> {
        Document::parse(SourceId(0), text)
    }

    fn fails(text: &str, expected: Expect) {
        let mut sources = SourceMap::new();
        let id = sources.add("<input>", text);
        let error = Document::parse(id, text).expect_err("the text is wrong");
        expected.assert_eq(&render_one(&sources, &error, Style::Plain));
    }

    /// Writes the document back, by its structure alone.
    fn rebuild(document: &Document, i: usize) -> serde_json::Value {
        match document.kind(i) {
            NodeKind::Null => serde_json::Value::Null,
            NodeKind::Bool(b) => (*b).into(),
            NodeKind::Number { int: Some(int), plain: true, .. } => (*int).into(),
            NodeKind::Number { real, .. } => (*real).into(),
            NodeKind::Text(text) => text.to_string().into(),
            NodeKind::Key(_) => panic!("a key is no value"),
            NodeKind::Array { .. } => document.children(i).map(|child| rebuild(document, child)).collect(),
            NodeKind::Object { .. } => serde_json::Value::Object(
                document
                    .children(i)
                    .map(|k| (document.key(k).to_string(), rebuild(document, k + 1)))
                    .collect(),
            ),
        }
    }

    #[test]
    fn reads_what_serde_reads() {
        for text in [
            "[]",
            "{}",
            " [ [ ] , [[]], {} ] ",
            r#"{"a": [1, 2.5, -3e2], "b": {"c": null}, "d": [true, false]}"#,
            r#""quotes \" and \\ and \u00e9 and \ud83d\ude00 and é""#,
            "-0.0",
            "[9223372036854775807, -9223372036854775808]",
        ] {
            let expected: serde_json::Value = serde_json::from_str(text).unwrap();
            assert_eq!(rebuild(&parse(text).unwrap(), 0), expected, "{text}");
        }
    }

    #[test]
    fn numbers_know_whether_they_are_integers() {
        let int = |text: &str| {
            let document = parse(text).unwrap();
            let NodeKind::Number { int, .. } = document.kind(0) else { panic!("{text} is a number") };
            *int
        };
        assert_eq!(int("3"), Some(3));
        assert_eq!(int("3.0"), Some(3));
        assert_eq!(int("1e3"), Some(1000));
        assert_eq!(int("3.5"), None);
        assert_eq!(int("9223372036854775808"), None);
        assert_eq!(int("1e400"), None);
        assert_eq!(int("9007199254740993.0"), Some(9007199254740993));
        assert_eq!(int("-9223372036854775808.00"), Some(i64::MIN));
        assert_eq!(int("922337203685477580.7e+1"), Some(i64::MAX));
        assert_eq!(int("9223372036854775808.0"), None);
        assert_eq!(int("3.00000000000000000001"), None);
        assert_eq!(int("0.0e99999999999999999999"), Some(0));
        assert_eq!(int("1e-99999999999999999999"), None);
        assert_eq!(int("1200e-2"), Some(12));
        assert_eq!(int("-0.0"), Some(0));
    }

    #[test]
    fn a_hundred_thousand_levels_are_no_trouble() {
        let depth = 100_000;
        let text = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(parse(&text).unwrap().nodes.len(), depth);
        assert!(parse(&"[{\"a\":".repeat(depth)).is_err());
    }

    #[test]
    fn messages() {
        fails(
            "[1, 2,]",
            expect![[r#"
            error[E0810]: this is not JSON: expected a value, found `]`
             --> <input>:1:7
              |
            1 | [1, 2,]
              |       ^
              |
              = help: a comma cannot stand before the closing bracket"#]],
        );
        fails(
            "[1 2]",
            expect![[r#"
            error[E0810]: this is not JSON: expected `,` or `]`, found `2`
             --> <input>:1:4
              |
            1 | [1 2]
              |    ^"#]],
        );
        fails(
            "{x: 1}",
            expect![[r#"
            error[E0810]: this is not JSON: expected a key in double quotes, found `x`
             --> <input>:1:2
              |
            1 | {x: 1}
              |  ^"#]],
        );
        fails(
            "[NaN]",
            expect![[r#"
            error[E0810]: this is not JSON: expected a value, found `N`
             --> <input>:1:2
              |
            1 | [NaN]
              |  ^
              |
              = help: write "NaN", "Infinity" or "-Infinity", in quotes"#]],
        );
        fails(
            "['a']",
            expect![[r#"
            error[E0810]: this is not JSON: expected a value, found `'`
             --> <input>:1:2
              |
            1 | ['a']
              |  ^
              |
              = help: JSON strings stand in double quotes"#]],
        );
        fails(
            "[1.]",
            expect![[r#"
                error[E0810]: this is not JSON: expected a digit after the point, found `]`
                 --> <input>:1:4
                  |
                1 | [1.]
                  |    ^"#]],
        );
        fails(
            "[1] 2",
            expect![[r#"
            error[E0810]: this is not JSON: expected the end of the JSON text, found `2`
             --> <input>:1:5
              |
            1 | [1] 2
              |     ^"#]],
        );
        fails(
            "",
            expect![[r#"
            error[E0810]: this is not JSON: expected a value, found the end of the text
             --> <input>:1:1
              |
            1 |
              | ^"#]],
        );
        fails(
            "[\"abc",
            expect![[r#"
            error[E0810]: this is not JSON: this string has no closing quote
             --> <input>:1:2
              |
            1 | ["abc
              |  ^^^^"#]],
        );
        fails(
            r#"["\ud800"]"#,
            expect![[r#"
                error[E0810]: this is not JSON: half of a surrogate pair
                 --> <input>:1:3
                  |
                1 | ["\ud800"]
                  |   ^^^^^^"#]],
        );
        fails(
            "[012]",
            expect![[r#"
                error[E0810]: this is not JSON: a number cannot start with 0
                 --> <input>:1:2
                  |
                1 | [012]
                  |  ^^^"#]],
        );
    }
}
