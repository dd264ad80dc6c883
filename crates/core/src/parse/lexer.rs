//! Tokens of the core's text form.
//!
//! Identifiers may contain points (`main.f` is one token) but a local variable is an identifier, `%` and its number
//! (`x%3`), so that `x%3.y` is a field of `x%3`. Anything in back-quotes is a name. `#` starts a primitive, `#sin` or
//! `#+`. A minus directly before a digit, `Infinity` or `NaN` belongs to the number. `--` starts a comment.

use super::ParseError;
use crate::type_text::is_identifier_char;
use std::fmt;
use std::sync::Arc;
use wengert_base::Name;
use wengert_base::scan::Scan;

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// `main.f`
    Ident(Name),
    /// A name in back-quotes.
    Quoted(Name),
    /// `x%3`
    Local(Name, u32),
    /// One of [`KEYWORDS`].
    Keyword(&'static str),
    /// `3`, `-3`
    Int(i64),
    /// A number from `2^63` on, which only a size can be.
    Large(u64),
    /// `3.0`
    Real(f64),
    /// `"text"`
    String(Arc<str>),
    /// `#sin`: the text after the `#`.
    Hash(Name),
    /// One of [`SYMBOLS`].
    Symbol(&'static str),
    /// The end of the text.
    End,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Ident(name) | Token::Quoted(name) => write!(f, "`{name}`"),
            Token::Local(name, id) => write!(f, "`{name}%{id}`"),
            Token::Keyword(text) | Token::Symbol(text) => write!(f, "`{text}`"),
            Token::Int(n) => write!(f, "`{n}`"),
            Token::Large(n) => write!(f, "`{n}`"),
            Token::Real(x) => write!(f, "`{}`", wengert_base::real::show(*x)),
            Token::String(text) => write!(f, "{text:?}"),
            Token::Hash(name) => write!(f, "`#{name}`"),
            Token::End => f.write_str("the end of the text"),
        }
    }
}

/// A token and where it stands.
pub(super) struct Lexed {
    pub(super) token: Token,
    pub(super) line: u32,
    pub(super) column: u32,
}

/// Identifiers with a meaning of their own.
const KEYWORDS: &[&str] = &[
    "type",
    "def",
    "forall",
    "let",
    "rec",
    "and",
    "in",
    "if",
    "then",
    "else",
    "match",
    "with",
    "end",
    "as",
    "true",
    "false",
    "row",
    "data",
    "check_size",
    "NaN",
    "Infinity",
    "Num",
    "Ord",
    "Data",
    "Smooth",
    "Tangent",
];

/// Longer symbols before their prefixes.
const SYMBOLS: &[&str] =
    &["->", "=>", "::", "=", ":", "\\", "(", ")", "[", "]", "{", "}", ",", ".", "@", "|", "~", "!", "_", "-"];

/// Characters of operator-named primitives.
const OPERATOR_CHARS: &str = "+-*/^=!<>%&|";

/// Whether an identifier has a meaning of its own.
pub(crate) fn is_keyword(text: &str) -> bool {
    KEYWORDS.contains(&text)
}

/// All tokens of `text`, and [`Token::End`].
pub(super) fn lex(text: &str) -> Result<Vec<Lexed>, ParseError> {
    let mut lexer = Lexer { scan: Scan::new(text) };
    let mut tokens = Vec::new();
    loop {
        lexer.scan.skip_blank();
        let (line, column) = (lexer.scan.line, lexer.scan.column);
        let token = lexer.token().map_err(|message| ParseError { line, column, message })?;
        let done = token == Token::End;
        tokens.push(Lexed { token, line, column });
        if done {
            return Ok(tokens);
        }
    }
}

/// Reads tokens.
struct Lexer<'a> {
    scan: Scan<'a>,
}

impl Lexer<'_> {
    /// Reads a token.
    fn token(&mut self) -> Result<Token, String> {
        let Some(first) = self.scan.peek() else { return Ok(Token::End) };
        let second = self.scan.second();
        if first.is_alphabetic() || (first == '_' && second.is_some_and(is_identifier_char)) {
            return self.identifier();
        }
        if first.is_ascii_digit() || (first == '-' && second.is_some_and(|c| c.is_ascii_digit())) {
            return self.number();
        }
        if self.scan.rest().starts_with("-Infinity") {
            self.scan.take_while(|c| c != 'I');
            self.scan.take_while(is_identifier_char);
            return Ok(Token::Real(f64::NEG_INFINITY));
        }
        match first {
            '`' => {
                let name = Name::new(&self.scan.quoted('`')?);
                Ok(self.local(name)?.unwrap_or(Token::Quoted(name)))
            }
            '"' => Ok(Token::String(self.scan.quoted('"')?.into())),
            '#' => {
                self.scan.bump();
                let word = self.scan.take_while(is_identifier_char);
                let text =
                    if word.is_empty() { self.scan.take_while(|c| OPERATOR_CHARS.contains(c)) } else { word };
                Ok(Token::Hash(Name::new(text)))
            }
            _ => self.scan.symbol(SYMBOLS.iter().copied()).map(Token::Symbol),
        }
    }

    /// `main.f`, `x%3`, or a keyword.
    fn identifier(&mut self) -> Result<Token, String> {
        let start = self.scan.rest();
        self.scan.take_while(is_identifier_char);
        // A point belongs to the identifier if another one follows it directly.
        while let Some(after) = self.scan.rest().strip_prefix('.') {
            let mut chars = after.chars();
            let starts_part = match chars.next() {
                Some('_') => chars.next().is_some_and(is_identifier_char),
                Some(c) => c.is_alphabetic(),
                None => false,
            };
            if !starts_part {
                break;
            }
            self.scan.bump();
            self.scan.take_while(is_identifier_char);
        }
        let text = self.scan.since(start);
        if let Some(local) = self.local(Name::new(text))? {
            return Ok(local);
        }
        Ok(match KEYWORDS.iter().find(|keyword| **keyword == text) {
            Some(keyword) => Token::Keyword(keyword),
            None => Token::Ident(Name::new(text)),
        })
    }

    /// The rest of a local variable: `%` and its number.
    fn local(&mut self, name: Name) -> Result<Option<Token>, String> {
        if self.scan.peek() != Some('%') {
            return Ok(None);
        }
        self.scan.bump();
        let digits = self.scan.take_while(|c| c.is_ascii_digit());
        let id = digits.parse().map_err(|_| format!("`{name}%` needs a number below 2^32"))?;
        Ok(Some(Token::Local(name, id)))
    }

    fn number(&mut self) -> Result<Token, String> {
        let (text, real) = self.scan.number();
        let bad = || format!("`{text}` is not a number");
        if real {
            return text.parse().map(Token::Real).map_err(|_| bad());
        }
        text.parse().map(Token::Int).or_else(|_| text.parse().map(Token::Large)).map_err(|_| bad())
    }
}
