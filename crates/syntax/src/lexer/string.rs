//! Strings: `"text"` with the escapes `\n \t \\ \" \u{…}`.

use super::Lexer;
use crate::errors;
use crate::token::TokenKind;
use wengert_base::Span;

impl Lexer<'_> {
    /// Reads a string up to `close` or the end of the line. Precondition: at `open`.
    pub(super) fn string(&mut self, open: char, close: char) {
        let start = self.position;
        self.position += open.len_utf8();
        let mut value = String::new();
        loop {
            let Some(c) = self.peek().filter(|c| *c != '\n') else {
                let text = self.text.get(start..self.position).unwrap_or("").trim_end();
                let span = Span::new(self.source, start as u32, (start + text.len()) as u32);
                self.report(errors::unterminated_string(span));
                break;
            };
            if c == '\\' {
                self.escape(&mut value);
                continue;
            }
            self.position += c.len_utf8();
            if c == close {
                break;
            }
            value.push(c);
        }
        self.out.strings.push(value);
        self.push(TokenKind::Text(self.out.strings.len() as u32 - 1), start);
    }

    /// Reads an escape. Precondition: at a backslash.
    fn escape(&mut self, value: &mut String) {
        let start = self.position;
        self.position += 1;
        let Some(c) = self.peek().filter(|c| *c != '\n') else { return };
        self.position += c.len_utf8();
        match c {
            'n' => value.push('\n'),
            't' => value.push('\t'),
            '\\' | '"' => value.push(c),
            'u' => self.unicode_escape(start, value),
            _ => {
                self.report(errors::bad_escape(self.span(start), c));
                value.push(c);
            }
        }
    }

    /// Reads the `{…}` of `\u{…}`.
    fn unicode_escape(&mut self, start: usize, value: &mut String) {
        let digits = if self.peek() == Some('{') {
            self.position += 1;
            self.take_while(|c| c.is_ascii_hexdigit())
        } else {
            ""
        };
        let closed = self.peek() == Some('}');
        if closed {
            self.position += 1;
        }
        let read = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32).filter(|_| closed);
        match read {
            Some(c) => value.push(c),
            None => self.report(errors::bad_unicode_escape(self.span(start))),
        }
    }
}
