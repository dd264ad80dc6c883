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
    let mut lexer = Lexer { rest: text, line: 1, column: 1 };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blank();
        let (line, column) = (lexer.line, lexer.column);
        let token = lexer.token().map_err(|message| ParseError { line, column, message })?;
        let done = token == Token::End;
        tokens.push(Lexed { token, line, column });
        if done {
            return Ok(tokens);
        }
    }
}

/// The text still to be read.
struct Lexer<'a> {
    rest: &'a str,
    line: u32,
    column: u32,
}

impl<'a> Lexer<'a> {
    /// The next character.
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    /// Reads a character.
    fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.rest = self.rest.get(c.len_utf8()..).unwrap_or("");
        if c == '\n' {
            self.line += 1;
            self.column = 1;
        } else {
            self.column += 1;
        }
        Some(c)
    }

    /// Reads characters as long as `wanted` holds.
    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let start = self.rest;
        while self.peek().is_some_and(&wanted) {
            self.bump();
        }
        start.get(..start.len() - self.rest.len()).unwrap_or("")
    }

    /// Skips white space and comments.
    fn skip_blank(&mut self) {
        loop {
            self.take_while(char::is_whitespace);
            if !self.rest.starts_with("--") {
                return;
            }
            self.take_while(|c| c != '\n');
        }
    }

    /// Reads a token.
    fn token(&mut self) -> Result<Token, String> {
        let Some(first) = self.peek() else { return Ok(Token::End) };
        let mut after = self.rest.chars().skip(1);
        let second = after.next();
        if first.is_alphabetic() || (first == '_' && second.is_some_and(is_identifier_char)) {
            return self.identifier();
        }
        if first.is_ascii_digit() || (first == '-' && second.is_some_and(|c| c.is_ascii_digit())) {
            return self.number();
        }
        if self.rest.starts_with("-Infinity") {
            self.take_while(|c| c != 'I');
            self.take_while(is_identifier_char);
            return Ok(Token::Real(f64::NEG_INFINITY));
        }
        match first {
            '`' => {
                let name = Name::new(&self.quoted('`')?);
                Ok(self.local(name)?.unwrap_or(Token::Quoted(name)))
            }
            '"' => Ok(Token::String(self.quoted('"')?.into())),
            '#' => {
                self.bump();
                let word = self.take_while(is_identifier_char);
                let text =
                    if word.is_empty() { self.take_while(|c| OPERATOR_CHARS.contains(c)) } else { word };
                Ok(Token::Hash(Name::new(text)))
            }
            _ => {
                let symbol = SYMBOLS.iter().find(|symbol| self.rest.starts_with(**symbol));
                let symbol = symbol.ok_or_else(|| format!("unexpected character `{first}`"))?;
                symbol.chars().for_each(|_| {
                    self.bump();
                });
                Ok(Token::Symbol(symbol))
            }
        }
    }

    /// `main.f`, `x%3`, or a keyword.
    fn identifier(&mut self) -> Result<Token, String> {
        let start = self.rest;
        self.take_while(is_identifier_char);
        // A point belongs to the identifier if another one follows it directly.
        while let Some(after) = self.rest.strip_prefix('.') {
            let mut chars = after.chars();
            let starts_part = match chars.next() {
                Some('_') => chars.next().is_some_and(is_identifier_char),
                Some(c) => c.is_alphabetic(),
                None => false,
            };
            if !starts_part {
                break;
            }
            self.bump();
            self.take_while(is_identifier_char);
        }
        let text = start.get(..start.len() - self.rest.len()).unwrap_or("");
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
        if self.peek() != Some('%') {
            return Ok(None);
        }
        self.bump();
        let digits = self.take_while(|c| c.is_ascii_digit());
        let id = digits.parse().map_err(|_| format!("`{name}%` needs a number below 2^32"))?;
        Ok(Some(Token::Local(name, id)))
    }

    /// `-3`, `1.5e-3`
    fn number(&mut self) -> Result<Token, String> {
        let start = self.rest;
        if self.peek() == Some('-') {
            self.bump();
        }
        self.take_while(|c| c.is_ascii_digit());
        let mut after_point = self.rest.chars().skip(1);
        let mut real = false;
        if self.peek() == Some('.') && after_point.next().is_some_and(|c| c.is_ascii_digit()) {
            real = true;
            self.bump();
            self.take_while(|c| c.is_ascii_digit());
        }
        if self.peek() == Some('e') {
            real = true;
            self.bump();
            self.take_while(|c| c == '-');
            self.take_while(|c| c.is_ascii_digit());
        }
        let text = start.get(..start.len() - self.rest.len()).unwrap_or("");
        let bad = || format!("`{text}` is not a number");
        if real {
            return text.parse().map(Token::Real).map_err(|_| bad());
        }
        text.parse().map(Token::Int).or_else(|_| text.parse().map(Token::Large)).map_err(|_| bad())
    }

    /// Text between two `quote`s, escapes resolved.
    fn quoted(&mut self, quote: char) -> Result<String, String> {
        self.bump();
        let mut text = String::new();
        loop {
            match self.bump() {
                Some(c) if c == quote => return Ok(text),
                Some('\\') => text.push(self.escape()?),
                Some(c) => text.push(c),
                None => return Err(format!("`{quote}` is never closed")),
            }
        }
    }

    /// What stands after a backslash.
    fn escape(&mut self) -> Result<char, String> {
        match self.bump() {
            Some('n') => Ok('\n'),
            Some('t') => Ok('\t'),
            Some(c @ ('\\' | '"' | '`')) => Ok(c),
            Some('u') => {
                let rest = self.rest.strip_prefix('{').unwrap_or("");
                let digits = rest.split('}').next().unwrap_or("");
                let code = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
                let c = code.ok_or("`\\u{…}` needs the hexadecimal number of a character")?;
                self.take_while(|c| c != '}');
                self.bump();
                Ok(c)
            }
            Some(c) => Err(format!("unknown escape `\\{c}`")),
            None => Err("the text ends in an escape".into()),
        }
    }
}
