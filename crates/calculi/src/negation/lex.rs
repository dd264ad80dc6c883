//! Tokens of the notation, in Unicode and ASCII spellings.

use super::errors;
use wengert_base::{Diagnostic, SourceId, Span};

/// A token and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) span: Span,
}

/// What a token is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TokenKind {
    Name(String),
    Num(f64),
    Lambda,
    Dot,
    Comma,
    Semicolon,
    Colon,
    Assign,
    Bang,
    Plus,
    Minus,
    Times,
    Cross,
    Slash,
    Hat,
    Bottom,
    Arrow,
    Turnstile,
    Underscore,
    OpenParen,
    CloseParen,
    OpenAngle,
    CloseAngle,
    OpenBracket,
    CloseBracket,
}

/// Spellings, longer ones first.
const SPELLINGS: &[(&str, TokenKind)] = &[
    ("_|_", TokenKind::Bottom),
    (":=", TokenKind::Assign),
    ("->", TokenKind::Arrow),
    ("|-", TokenKind::Turnstile),
    ("→", TokenKind::Arrow),
    ("⊢", TokenKind::Turnstile),
    ("λ", TokenKind::Lambda),
    ("\\", TokenKind::Lambda),
    (".", TokenKind::Dot),
    (",", TokenKind::Comma),
    (";", TokenKind::Semicolon),
    (":", TokenKind::Colon),
    ("!", TokenKind::Bang),
    ("+", TokenKind::Plus),
    ("-", TokenKind::Minus),
    ("−", TokenKind::Minus),
    ("·", TokenKind::Times),
    ("*", TokenKind::Times),
    ("×", TokenKind::Cross),
    ("/", TokenKind::Slash),
    ("^", TokenKind::Hat),
    ("⊥", TokenKind::Bottom),
    ("_", TokenKind::Underscore),
    ("(", TokenKind::OpenParen),
    (")", TokenKind::CloseParen),
    ("⟨", TokenKind::OpenAngle),
    ("<", TokenKind::OpenAngle),
    ("⟩", TokenKind::CloseAngle),
    (">", TokenKind::CloseAngle),
    ("[", TokenKind::OpenBracket),
    ("]", TokenKind::CloseBracket),
];

impl TokenKind {
    /// How a message names it.
    pub(crate) fn text(&self) -> String {
        if let TokenKind::Name(name) = self {
            return format!("`{name}`");
        }
        if let TokenKind::Num(r) = self {
            return format!("`{}`", wengert_base::real::show(*r));
        }
        let spelling = SPELLINGS.iter().rev().find(|(_, kind)| kind == self);
        format!("`{}`", spelling.map_or("", |(text, _)| text))
    }
}

pub(crate) fn lex(source: SourceId, text: &str) -> Result<Vec<Token>, Diagnostic> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let first = rest.chars().next().unwrap_or(' ');
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        if rest.starts_with("--") {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        }
        let (kind, length) = token(rest, first).ok_or_else(|| {
            let span = Span::new(source, at as u32, (at + first.len_utf8()) as u32);
            errors::syntax(span, &format!("`{first}`"), "a term")
        })?;
        tokens.push(Token { kind, span: Span::new(source, at as u32, (at + length) as u32) });
        at += length;
    }
    Ok(tokens)
}

fn token(rest: &str, first: char) -> Option<(TokenKind, usize)> {
    if first.is_ascii_digit() {
        return number(rest);
    }
    if first != 'λ' && (first.is_alphabetic() || first == '∂') {
        let end =
            rest.char_indices().find(|(i, c)| *i > 0 && !continues_name(*c)).map_or(rest.len(), |(i, _)| i);
        return rest.get(..end).map(|name| (TokenKind::Name(name.to_owned()), end));
    }
    SPELLINGS
        .iter()
        .find(|(spelling, _)| rest.starts_with(spelling))
        .map(|(spelling, kind)| (kind.clone(), spelling.len()))
}

fn continues_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '\'' | '′' | '₀'..='₉') && c != 'λ'
}

/// Digits, a fraction only if a digit follows the dot (so that `λx:R. 1.` is no puzzle), and an exponent.
fn number(rest: &str) -> Option<(TokenKind, usize)> {
    let digits =
        |from: usize| rest.get(from..).map_or(0, |s| s.bytes().take_while(u8::is_ascii_digit).count());
    let mut end = digits(0);
    if rest.get(end..).is_some_and(|s| s.starts_with('.')) && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    if let Some(exponent) = rest.get(end..).filter(|s| s.starts_with(['e', 'E'])) {
        let sign = usize::from(exponent.get(1..).is_some_and(|s| s.starts_with(['-', '+'])));
        let count = digits(end + 1 + sign);
        if count > 0 {
            end += 1 + sign + count;
        }
    }
    let value = rest.get(..end)?.parse().ok()?;
    Some((TokenKind::Num(value), end))
}
