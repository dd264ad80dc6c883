//! Tokens: what the lexer cuts the text into, and how a message names one.
//!
//! A token knows whether space or a new line stands before it, because `xs[i]` and `f [x]` differ by that alone,
//! and whether the lexer has already complained about it, so that the parser does not complain again.

use crate::ast::BinOp;
use wengert_base::{Name, Span};

/// A stretch of text with a meaning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it stands.
    pub span: Span,
    /// Whether anything but a token stands directly before it.
    pub space_before: bool,
    /// Whether it is the first token of its line.
    pub newline_before: bool,
    /// Whether the lexer has reported a mistake in it, or in characters skipped before it.
    pub reported: bool,
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "most variants are the text that `TokenKind::text` shows")]
pub enum TokenKind {
    /// A name that begins with a small letter, or one of the symbols `∇ ∂ Ω ¬ ⊕ ⊗ ⊙`.
    Lower(Name),
    /// A name that begins with a capital letter.
    Upper(Name),
    /// Digits only.
    Number(u64),
    /// A number with a point or an exponent.
    Real(f64),
    /// A string; its value is at this place in [`crate::lexer::Lexed::strings`].
    Text(u32),
    Def,
    Type,
    Alias,
    Import,
    As,
    Let,
    Rec,
    And,
    In,
    If,
    Then,
    Else,
    Match,
    With,
    True,
    False,
    LeftParen,
    RightParen,
    LeftBracket,
    RightBracket,
    LeftBrace,
    RightBrace,
    Comma,
    Dot,
    Colon,
    Equals,
    Arrow,
    Bar,
    Lambda,
    Underscore,
    Op(BinOp),
    /// `=>`, which other languages use for `->`.
    FatArrow,
    /// `;`, which other languages use to separate.
    Semicolon,
    /// The end of the text.
    End,
}

impl TokenKind {
    /// The keyword that `word` is.
    pub(crate) fn keyword(word: &str) -> Option<TokenKind> {
        Some(match word {
            "def" => TokenKind::Def,
            "type" => TokenKind::Type,
            "alias" => TokenKind::Alias,
            "import" => TokenKind::Import,
            "as" => TokenKind::As,
            "let" => TokenKind::Let,
            "rec" => TokenKind::Rec,
            "and" => TokenKind::And,
            "in" => TokenKind::In,
            "if" => TokenKind::If,
            "then" => TokenKind::Then,
            "else" => TokenKind::Else,
            "match" => TokenKind::Match,
            "with" => TokenKind::With,
            "true" => TokenKind::True,
            "false" => TokenKind::False,
            _ => return None,
        })
    }

    /// The spelling (ASCII where there are two), or a word for the class of tokens.
    pub fn text(self) -> &'static str {
        match self {
            TokenKind::Lower(name) | TokenKind::Upper(name) => name.as_str(),
            TokenKind::Number(_) | TokenKind::Real(_) => "number",
            TokenKind::Text(_) => "string",
            TokenKind::Def => "def",
            TokenKind::Type => "type",
            TokenKind::Alias => "alias",
            TokenKind::Import => "import",
            TokenKind::As => "as",
            TokenKind::Let => "let",
            TokenKind::Rec => "rec",
            TokenKind::And => "and",
            TokenKind::In => "in",
            TokenKind::If => "if",
            TokenKind::Then => "then",
            TokenKind::Else => "else",
            TokenKind::Match => "match",
            TokenKind::With => "with",
            TokenKind::True => "true",
            TokenKind::False => "false",
            TokenKind::LeftParen => "(",
            TokenKind::RightParen => ")",
            TokenKind::LeftBracket => "[",
            TokenKind::RightBracket => "]",
            TokenKind::LeftBrace => "{",
            TokenKind::RightBrace => "}",
            TokenKind::Comma => ",",
            TokenKind::Dot => ".",
            TokenKind::Colon => ":",
            TokenKind::Equals => "=",
            TokenKind::Arrow => "->",
            TokenKind::Bar => "|",
            TokenKind::Lambda => "\\",
            TokenKind::Underscore => "_",
            TokenKind::Op(op) => op.text(),
            TokenKind::FatArrow => "=>",
            TokenKind::Semicolon => ";",
            TokenKind::End => "end of the text",
        }
    }

    /// How a message speaks of it, with its source text: ``the name `x` ``, ``the keyword `then` ``.
    pub(crate) fn describe(self, source: &str) -> String {
        if matches!(self, TokenKind::Lower(_) | TokenKind::Upper(_)) {
            format!("the name `{source}`")
        } else if matches!(self, TokenKind::Number(_) | TokenKind::Real(_)) {
            format!("the number `{source}`")
        } else if matches!(self, TokenKind::Text(_)) {
            "a string".into()
        } else if self == TokenKind::End {
            "the end of the text".into()
        } else if self.is_word() {
            format!("the keyword `{}`", self.text())
        } else {
            format!("`{source}`")
        }
    }

    /// Whether it is spelled with letters and reserved.
    pub(crate) fn is_word(self) -> bool {
        TokenKind::keyword(self.text()) == Some(self)
    }

    /// Whether it begins an item: such a word ends whatever comes before.
    pub(crate) fn begins_item(self) -> bool {
        matches!(self, TokenKind::Def | TokenKind::Type | TokenKind::Alias | TokenKind::Import)
    }

    /// Whether an argument of an application may begin with it.
    pub(crate) fn begins_atom(self) -> bool {
        matches!(
            self,
            TokenKind::Lower(_)
                | TokenKind::Upper(_)
                | TokenKind::Number(_)
                | TokenKind::Real(_)
                | TokenKind::Text(_)
                | TokenKind::True
                | TokenKind::False
                | TokenKind::LeftParen
                | TokenKind::LeftBracket
                | TokenKind::LeftBrace
        )
    }

    /// Whether it begins one of the forms that extend as far to the right as possible.
    pub(crate) fn begins_open_form(self) -> bool {
        matches!(self, TokenKind::Lambda | TokenKind::Let | TokenKind::If | TokenKind::Match)
    }

    /// The closing bracket for an opening one.
    pub(crate) fn closing(self) -> Option<TokenKind> {
        if self == TokenKind::LeftParen {
            Some(TokenKind::RightParen)
        } else if self == TokenKind::LeftBracket {
            Some(TokenKind::RightBracket)
        } else if self == TokenKind::LeftBrace {
            Some(TokenKind::RightBrace)
        } else {
            None
        }
    }

    /// Whether it is a closing bracket.
    pub(crate) fn closes(self) -> bool {
        matches!(self, TokenKind::RightParen | TokenKind::RightBracket | TokenKind::RightBrace)
    }
}

/// A comment, from its two dashes to the end of its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comment {
    /// Where, without the line end and space before it.
    pub span: Span,
    /// Whether nothing but space stands before it on its line.
    pub own_line: bool,
}
