//! Tokens of the text form. Anything in back-quotes is a name; a minus directly before a digit belongs to the number, and
//! so it does before `Infinity`. `--` starts a comment. Line ends mean nothing.

use super::ParseError;
use crate::words::{INFIX, is_name_char};
use std::fmt;
use std::sync::Arc;
use wengert_base::scan::Scan;

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
    fn token(&mut self) -> Result<Token, String> {
        let Some(first) = self.scan.peek() else { return Ok(Token::End) };
        let second = self.scan.second();
        if first.is_ascii_digit() || (first == '-' && second.is_some_and(|c| c.is_ascii_digit())) {
            return self.number();
        }
        if let Some(rest) = self.scan.rest().strip_prefix("-Infinity")
            && !rest.starts_with(is_name_char)
        {
            self.scan.bump();
            self.scan.take_while(is_name_char);
            return Ok(Token::Real(f64::NEG_INFINITY));
        }
        if first.is_alphabetic() || first == '_' {
            return Ok(Token::Word(self.scan.take_while(is_name_char).to_owned()));
        }
        match first {
            '`' => self.scan.quoted('`').map(Token::Quoted),
            '"' => self.scan.quoted('"').map(|text| Token::Text(text.into())),
            _ => {
                let infix = INFIX.iter().map(|(symbol, _)| *symbol);
                let all = SYMBOLS.iter().copied().chain(infix).chain(["="]);
                self.scan.symbol(all).map(Token::Symbol)
            }
        }
    }

    fn number(&mut self) -> Result<Token, String> {
        let (text, real) = self.scan.number();
        let bad = || format!("`{text}` is not a number");
        if real {
            return text.parse().map(Token::Real).map_err(|_| bad());
        }
        text.parse().map(Token::Int).map_err(|_| bad())
    }
}
