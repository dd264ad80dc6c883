//! Tokens of the text form. Anything in back-quotes is a name; a minus directly before a digit belongs to the number, and
//! so it does before `Infinity`. `--` starts a comment. Line ends mean nothing.

use super::ParseError;
use crate::words::{INFIX, is_name_char};
use std::fmt;
use std::sync::Arc;

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// A name or word.
    Word(String),
    /// A name in back-quotes.
    Quoted(String),
    /// `3`
    Int(i64),
    /// `3.0`
    Real(f64),
    /// `"text"`
    Text(Arc<str>),
    /// One of [`SYMBOLS`] or an infix operation.
    Symbol(&'static str),
    /// The end of the text.
    End,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(name) | Token::Quoted(name) => write!(f, "`{name}`"),
            Token::Symbol(text) => write!(f, "`{text}`"),
            Token::Int(n) => write!(f, "`{n}`"),
            Token::Real(x) => write!(f, "`{}`", wengert_base::real::show(*x)),
            Token::Text(text) => write!(f, "{text:?}"),
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

/// Longer symbols before their prefixes; those that begin as an infix operation does before these.
const SYMBOLS: &[&str] = &["->", "+=", "::", "(", ")", "[", "]", "{", "}", ",", ";", ":"];

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
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

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

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let start = self.rest;
        while self.peek().is_some_and(&wanted) {
            self.bump();
        }
        self.since(start)
    }

    /// What was read since `start` was the rest.
    fn since(&self, start: &'a str) -> &'a str {
        start.get(..start.len() - self.rest.len()).unwrap_or("")
    }

    fn skip_blank(&mut self) {
        loop {
            self.take_while(char::is_whitespace);
            if !self.rest.starts_with("--") {
                return;
            }
            self.take_while(|c| c != '\n');
        }
    }

    fn token(&mut self) -> Result<Token, String> {
        let Some(first) = self.peek() else { return Ok(Token::End) };
        let second = self.rest.chars().nth(1);
        if first.is_ascii_digit() || (first == '-' && second.is_some_and(|c| c.is_ascii_digit())) {
            return self.number();
        }
        if let Some(rest) = self.rest.strip_prefix("-Infinity")
            && !rest.starts_with(is_name_char)
        {
            self.bump();
            self.take_while(is_name_char);
            return Ok(Token::Real(f64::NEG_INFINITY));
        }
        if first.is_alphabetic() || first == '_' {
            return Ok(Token::Word(self.take_while(is_name_char).to_owned()));
        }
        match first {
            '`' => self.quoted('`').map(Token::Quoted),
            '"' => self.quoted('"').map(|text| Token::Text(text.into())),
            _ => {
                let infix = INFIX.iter().map(|(symbol, _)| *symbol);
                let mut all = SYMBOLS.iter().copied().chain(infix).chain(["="]);
                let symbol = all.find(|symbol| self.rest.starts_with(*symbol));
                let symbol = symbol.ok_or_else(|| format!("unexpected character `{first}`"))?;
                for _ in symbol.chars() {
                    self.bump();
                }
                Ok(Token::Symbol(symbol))
            }
        }
    }

    fn number(&mut self) -> Result<Token, String> {
        let start = self.rest;
        if self.peek() == Some('-') {
            self.bump();
        }
        self.take_while(|c| c.is_ascii_digit());
        let mut real = false;
        if self.peek() == Some('.') && self.rest.chars().nth(1).is_some_and(|c| c.is_ascii_digit()) {
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
        let text = self.since(start);
        let bad = || format!("`{text}` is not a number");
        if real {
            return text.parse().map(Token::Real).map_err(|_| bad());
        }
        text.parse().map(Token::Int).map_err(|_| bad())
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

    fn escape(&mut self) -> Result<char, String> {
        match self.bump() {
            Some('n') => Ok('\n'),
            Some('t') => Ok('\t'),
            Some(c @ ('\\' | '"' | '`')) => Ok(c),
            Some('u') => {
                let digits = self.rest.strip_prefix('{').unwrap_or("").split('}').next().unwrap_or("");
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
