//! The core's text form, read back. `print` of the crate shows and explains the form; this is its inverse:
//! `parse(print(p)) == p` up to spans.
//!
//! A hand-written recursive descent over the tokens of `lexer`; `types` and `terms` are the grammar. The first
//! error ends the parse: this text is written by the printer and by compiler engineers.

mod lexer;
mod terms;
mod types;

use crate::sig::Signature;
use crate::term::{Program, Term};
use crate::types::{Scheme, Type};
use lexer::{Lexed, Token};
use std::fmt;
use wengert_base::Name;

pub(crate) use lexer::is_keyword;

/// What is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// What was expected and what was found.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for ParseError {}

/// How deep terms, patterns and types may nest, so that the tree can be walked and dropped safely.
pub const MAX_DEPTH: u32 = 10_000;

/// Reads a whole program.
pub fn parse(text: &str) -> Result<Program, ParseError> {
    whole(text, Parser::program)
}

/// Reads a term.
pub fn parse_term(text: &str) -> Result<Term, ParseError> {
    whole(text, Parser::term)
}

/// Reads a type.
pub fn parse_type(text: &str) -> Result<Type, ParseError> {
    whole(text, Parser::ty)
}

/// Reads a scheme in exact form, `forall a [n]. Num a => …`.
pub fn parse_scheme(text: &str) -> Result<Scheme, ParseError> {
    whole(text, Parser::scheme)
}

/// Reads the signature of a primitive, whose variables are bound implicitly.
pub(crate) fn parse_signature(text: &str) -> Result<Signature, ParseError> {
    whole(text, Parser::signature)
}

/// Reads `text` from start to end by `rule`.
fn whole<T>(text: &str, rule: fn(&mut Parser) -> Result<T, ParseError>) -> Result<T, ParseError> {
    let mut parser = Parser { tokens: lexer::lex(text)?, next: 0, depth: 0 };
    let result = rule(&mut parser)?;
    parser.expect(&Token::End)?;
    Ok(result)
}

/// The tokens and how far they are read.
struct Parser {
    /// Ends with [`Token::End`].
    tokens: Vec<Lexed>,
    next: usize,
    depth: u32,
}

impl Parser {
    /// The next token.
    fn peek(&self) -> &Token {
        self.tokens.get(self.next).map_or(&Token::End, |lexed| &lexed.token)
    }

    /// Whether the next token is `token`; reads it if so.
    fn eat(&mut self, token: &Token) -> bool {
        let found = self.peek() == token;
        self.next += usize::from(found);
        found
    }

    /// Whether the next token is that symbol; reads it if so.
    fn eat_symbol(&mut self, symbol: &'static str) -> bool {
        self.eat(&Token::Symbol(symbol))
    }

    /// Whether the next token is that keyword; reads it if so.
    fn eat_keyword(&mut self, keyword: &'static str) -> bool {
        self.eat(&Token::Keyword(keyword))
    }

    /// Reads `token`.
    fn expect(&mut self, token: &Token) -> Result<(), ParseError> {
        if self.eat(token) { Ok(()) } else { Err(self.error(&token.to_string())) }
    }

    /// Reads that symbol.
    fn symbol(&mut self, symbol: &'static str) -> Result<(), ParseError> {
        self.expect(&Token::Symbol(symbol))
    }

    /// Reads that keyword.
    fn keyword(&mut self, keyword: &'static str) -> Result<(), ParseError> {
        self.expect(&Token::Keyword(keyword))
    }

    /// Reads a name: an identifier, or anything in back-quotes.
    fn name(&mut self, what: &str) -> Result<Name, ParseError> {
        let (Token::Ident(name) | Token::Quoted(name)) = *self.peek() else { return Err(self.error(what)) };
        self.next += 1;
        Ok(name)
    }

    /// The error that `expected` does not stand here.
    fn error(&self, expected: &str) -> ParseError {
        self.error_at(self.next, format!("expected {expected}, found {}", self.peek()))
    }

    /// An error at token `index`.
    fn error_at(&self, index: usize, message: String) -> ParseError {
        let (line, column) =
            self.tokens.get(index).or(self.tokens.last()).map_or((1, 1), |lexed| (lexed.line, lexed.column));
        ParseError { line, column, message }
    }

    /// Counts a level of nesting around `rule`.
    fn nested<T>(
        &mut self,
        rule: impl FnOnce(&mut Parser) -> Result<T, ParseError>,
    ) -> Result<T, ParseError> {
        if self.depth >= MAX_DEPTH {
            return Err(self.error_at(self.next, format!("nested deeper than {MAX_DEPTH} levels")));
        }
        self.depth += 1;
        let result = stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || rule(self));
        self.depth -= 1;
        result
    }

    /// Items separated by commas up to `close`; also says whether a comma followed the last one.
    fn comma_list<T>(
        &mut self,
        close: &'static str,
        mut item: impl FnMut(&mut Parser) -> Result<T, ParseError>,
    ) -> Result<(Vec<T>, bool), ParseError> {
        let mut items = Vec::new();
        let mut trailing = false;
        while !self.eat_symbol(close) {
            if !items.is_empty() && !trailing {
                return Err(self.error(&format!("`,` or `{close}`")));
            }
            items.push(item(self)?);
            trailing = self.eat_symbol(",");
        }
        Ok((items, trailing))
    }
}
