//! The lexer: text to tokens, by hand, one character of decision at a time. It never fails.
//!
//! Characters that mean nothing are skipped with a diagnostic (a run of them with one). Spellings that other
//! languages use (`/=`, `:=`, `'text'`, `# comment`) are reported and then understood, so that one slip costs one
//! message. Comments go to a side table; the formatter puts them back.

mod foreign;
mod number;
mod string;

use crate::ast::BinOp;
use crate::errors;
use crate::token::{Comment, Token, TokenKind};
use wengert_base::{Diagnostic, Name, SourceId, Span};

/// The result of [`lex`].
#[derive(Clone, Debug, Default)]
pub struct Lexed {
    /// The tokens; the last one is [`TokenKind::End`].
    pub tokens: Vec<Token>,
    /// The values of the string literals.
    pub strings: Vec<String>,
    /// The comments in source order.
    pub comments: Vec<Comment>,
    /// What was wrong.
    pub diagnostics: Vec<Diagnostic>,
}

/// Names that consist of one symbol. `Ω` is a letter and is treated in [`Lexer::word`].
const SYMBOL_NAMES: [char; 6] = ['∇', '∂', '¬', '⊕', '⊗', '⊙'];

/// All spellings of tokens that are not words, longest first where one begins another.
const SYMBOLS: [(&str, TokenKind); 41] = [
    ("->", TokenKind::Arrow),
    ("=>", TokenKind::FatArrow),
    ("==", TokenKind::Op(BinOp::Eq)),
    ("!=", TokenKind::Op(BinOp::Ne)),
    ("<=", TokenKind::Op(BinOp::Le)),
    (">=", TokenKind::Op(BinOp::Ge)),
    (">>", TokenKind::Op(BinOp::Compose)),
    ("|>", TokenKind::Op(BinOp::Pipe)),
    ("||", TokenKind::Op(BinOp::Or)),
    ("&&", TokenKind::Op(BinOp::And)),
    ("++", TokenKind::Op(BinOp::Append)),
    ("**", TokenKind::Op(BinOp::RealPower)),
    ("+", TokenKind::Op(BinOp::Add)),
    ("-", TokenKind::Op(BinOp::Sub)),
    ("−", TokenKind::Op(BinOp::Sub)),
    ("*", TokenKind::Op(BinOp::Mul)),
    ("×", TokenKind::Op(BinOp::Mul)),
    ("/", TokenKind::Op(BinOp::Div)),
    ("%", TokenKind::Op(BinOp::Rem)),
    ("^", TokenKind::Op(BinOp::Power)),
    ("<", TokenKind::Op(BinOp::Lt)),
    (">", TokenKind::Op(BinOp::Gt)),
    ("≤", TokenKind::Op(BinOp::Le)),
    ("≥", TokenKind::Op(BinOp::Ge)),
    ("≠", TokenKind::Op(BinOp::Ne)),
    ("∧", TokenKind::Op(BinOp::And)),
    ("∨", TokenKind::Op(BinOp::Or)),
    ("→", TokenKind::Arrow),
    ("⇒", TokenKind::FatArrow),
    ("\\", TokenKind::Lambda),
    ("(", TokenKind::LeftParen),
    (")", TokenKind::RightParen),
    ("[", TokenKind::LeftBracket),
    ("]", TokenKind::RightBracket),
    ("{", TokenKind::LeftBrace),
    ("}", TokenKind::RightBrace),
    (",", TokenKind::Comma),
    (".", TokenKind::Dot),
    (":", TokenKind::Colon),
    ("=", TokenKind::Equals),
    ("|", TokenKind::Bar),
];

/// Cuts `text` into tokens.
pub fn lex(source: SourceId, text: &str) -> Lexed {
    let mut lexer = Lexer {
        source,
        text,
        position: 0,
        out: Lexed::default(),
        space_before: true,
        newline_before: true,
        reported: false,
        unknown_end: usize::MAX,
        absent_closings: Vec::new(),
    };
    if text.starts_with('\u{feff}') {
        lexer.position = '\u{feff}'.len_utf8();
    }
    while lexer.peek().is_some() {
        lexer.step();
    }
    lexer.push(TokenKind::End, lexer.position);
    lexer.out
}

/// Whether a line ends here. A `\r` alone ends one too, or all that follows a comment in such a file would be part of it.
fn ends_line(c: char) -> bool {
    matches!(c, '\n' | '\r')
}

struct Lexer<'t> {
    source: SourceId,
    text: &'t str,
    /// The next byte, always at a character boundary.
    position: usize,
    out: Lexed,
    space_before: bool,
    newline_before: bool,
    reported: bool,
    /// Where the last run of unknown characters ended; one message serves a run.
    unknown_end: usize,
    /// Ends of foreign comments that do not occur in the rest of the text.
    absent_closings: Vec<&'static str>,
}

impl<'t> Lexer<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.position..).unwrap_or("")
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn second(&self) -> Option<char> {
        self.rest().chars().nth(1)
    }

    fn span(&self, start: usize) -> Span {
        Span::new(self.source, start as u32, self.position as u32)
    }

    /// Moves over all characters that satisfy `accept` and returns them.
    fn take_while(&mut self, accept: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let length = rest.find(|c| !accept(c)).unwrap_or(rest.len());
        self.position += length;
        rest.get(..length).unwrap_or("")
    }

    fn push(&mut self, kind: TokenKind, start: usize) {
        self.out.tokens.push(Token {
            kind,
            span: self.span(start),
            space_before: self.space_before,
            newline_before: self.newline_before,
            reported: self.reported,
        });
        self.space_before = false;
        self.newline_before = false;
        self.reported = false;
    }

    /// Reports a mistake in the token that is being read, or before the next one.
    fn report(&mut self, diagnostic: Diagnostic) {
        self.out.diagnostics.push(diagnostic);
        self.reported = true;
    }

    /// Whether the last token could end an operand and stands directly before the current place.
    fn after_operand(&self) -> bool {
        !self.space_before
            && self.out.tokens.last().is_some_and(|token| {
                matches!(token.kind, TokenKind::Lower(_) | TokenKind::Upper(_)) || token.kind.closes()
            })
    }

    /// Reads one token, one comment or one stretch of space. Precondition: not at the end.
    fn step(&mut self) {
        let start = self.position;
        let Some(c) = self.peek() else { return };
        let before = self.position;
        if c == '\n' || matches!(c, ' ' | '\t' | '\r') {
            self.position += 1;
            self.space_before = true;
            self.newline_before |= ends_line(c);
        } else if self.rest().starts_with("--") {
            self.comment();
        } else if self.foreign(c) {
            // Reported and read there.
        } else if c == '"' {
            self.string('"', '"');
        } else if c.is_ascii_digit() || (c == '.' && self.point_begins_number()) {
            self.number();
        } else if c == 'λ' {
            self.position += c.len_utf8();
            self.push(TokenKind::Lambda, start);
        } else if SYMBOL_NAMES.contains(&c) {
            self.position += c.len_utf8();
            self.push(TokenKind::Lower(Name::new(self.text.get(start..self.position).unwrap_or(""))), start);
        } else if c == '_' || (c.is_alphabetic() && continues_word(c)) {
            self.word();
        } else if let Some((spelling, kind)) = SYMBOLS.iter().find(|(s, _)| self.rest().starts_with(s)) {
            self.position += spelling.len();
            self.push(*kind, start);
        } else if c == ';' {
            self.position += 1;
            self.push(TokenKind::Semicolon, start);
        } else {
            self.unknown(c);
        }
        debug_assert!(self.position > before, "the lexer must move on");
    }

    /// `.5` is a number, but in `r.x.5` or `f .5` the parser should say what is wrong.
    fn point_begins_number(&self) -> bool {
        self.second().is_some_and(|c| c.is_ascii_digit()) && !self.after_operand()
    }

    fn comment(&mut self) {
        let start = self.position;
        let length = self.take_while(|c| !ends_line(c)).trim_end().len();
        let span = Span::new(self.source, start as u32, (start + length) as u32);
        self.out.comments.push(Comment { span, own_line: self.newline_before_text(start) });
        self.space_before = true;
    }

    /// Whether only space stands between the start of the line and `position`.
    fn newline_before_text(&self, position: usize) -> bool {
        let before = self.text.get(..position).unwrap_or("");
        let line = before.rsplit(ends_line).next().unwrap_or("");
        line.trim_start_matches('\u{feff}').trim().is_empty()
    }

    fn word(&mut self) {
        let start = self.position;
        let word = self.take_while(continues_word);
        let kind = if word == "_" {
            TokenKind::Underscore
        } else if let Some(keyword) = TokenKind::keyword(word) {
            keyword
        } else if word.starts_with(char::is_uppercase) && word != "Ω" && word != "\u{2126}" {
            TokenKind::Upper(Name::new(word))
        } else {
            TokenKind::Lower(Name::new(word))
        };
        self.push(kind, start);
    }

    fn unknown(&mut self, c: char) {
        let start = self.position;
        self.position += c.len_utf8();
        if self.unknown_end != start {
            self.report(errors::unknown_character(self.span(start), c));
        }
        self.reported = true;
        self.unknown_end = self.position;
        self.space_before = true;
    }
}

/// Letters, digits (also those written low, as in `x₀`), `_`, primes and combining marks. Digits written high are
/// not part of a name: `x²` is more likely meant as a power.
fn continues_word(c: char) -> bool {
    let superscript = matches!(c, '²' | '³' | '¹' | '\u{2070}'..='\u{207f}');
    (c.is_alphanumeric() && !superscript) || matches!(c, '_' | '\'' | '\u{300}'..='\u{36f}')
}
