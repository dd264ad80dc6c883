//! Tokens of the pullback calculus, in Unicode and ASCII spellings.

use super::errors;
use wengert_base::{Diagnostic, SourceId, Span};

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    Ident(String),
    Number(f64),
    Lambda,
    Omega,
    /// π₁ or π₂
    Proj(u8),
    Dot,
    Cdot,
    Open,
    Close,
    OpenAngle,
    CloseAngle,
    OpenBracket,
    CloseBracket,
    OpenBrace,
    CloseBrace,
    Comma,
    Semicolon,
    Colon,
    Equals,
    Plus,
    Star,
    Bar,
    Turnstile,
    Underscore,
    Times,
    Arrow,
    Caret,
    Let,
    In,
    Fun,
    J,
    D,
    End,
}

impl Token {
    /// For messages.
    pub(crate) fn text(&self) -> String {
        let text = match self {
            Token::Ident(name) => return format!("`{name}`"),
            Token::Number(x) => return format!("`{}`", wengert_base::real::show(*x)),
            Token::Proj(i) => return format!("`π{i}`"),
            Token::End => return "the end".to_string(),
            Token::Lambda => "λ",
            Token::Omega => "Ω",
            Token::Dot => ".",
            Token::Cdot => "·",
            Token::Open => "(",
            Token::Close => ")",
            Token::OpenAngle => "⟨",
            Token::CloseAngle => "⟩",
            Token::OpenBracket => "[",
            Token::CloseBracket => "]",
            Token::OpenBrace => "{",
            Token::CloseBrace => "}",
            Token::Comma => ",",
            Token::Semicolon => ";",
            Token::Colon => ":",
            Token::Equals => "=",
            Token::Plus => "+",
            Token::Star => "*",
            Token::Bar => "|",
            Token::Turnstile => "⊢",
            Token::Underscore => "_",
            Token::Times => "×",
            Token::Arrow => "⇒",
            Token::Caret => "^",
            Token::Let => "let",
            Token::In => "in",
            Token::Fun => "fun",
            Token::J => "J",
            Token::D => "D",
        };
        format!("`{text}`")
    }
}

/// The tokens with their places; what is no token is an error and left out.
pub(crate) fn lex(source: SourceId, text: &str, errors: &mut Vec<Diagnostic>) -> Vec<(Token, Span)> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let start = text.len() - rest.len();
        let span = |len: usize| {
            let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
            Span::new(source, place(start), place(start + len))
        };
        let (token, len) = if c.is_whitespace() {
            (None, c.len_utf8())
        } else if let Some(comment) = rest.strip_prefix("--") {
            (None, 2 + comment.find('\n').unwrap_or(comment.len()))
        } else if c.is_ascii_digit() || (c == '-' && rest.chars().nth(1).is_some_and(|d| d.is_ascii_digit()))
        {
            let len = number_length(rest);
            let digits = rest.get(..len).unwrap_or_default();
            match digits.parse::<f64>() {
                Ok(x) if x.is_finite() => (Some(Token::Number(x)), len),
                Ok(_) | Err(_) => {
                    errors.push(errors::bad_number(span(len), digits));
                    (Some(Token::Number(0.5)), len)
                }
            }
        } else if let Some((token, len)) = symbol(rest) {
            (Some(token), len)
        } else if c.is_alphabetic() {
            let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '\''));
            let len = end.unwrap_or(rest.len());
            (Some(word(rest.get(..len).unwrap_or_default())), len)
        } else {
            errors.push(errors::unknown_character(span(c.len_utf8()), c));
            (None, c.len_utf8())
        };
        tokens.extend(token.map(|token| (token, span(len))));
        rest = rest.get(len..).unwrap_or_default();
    }
    let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
    tokens.push((Token::End, Span::new(source, end, end)));
    tokens
}

fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let mut at = digits(usize::from(bytes.first() == Some(&b'-')));
    if bytes.get(at) == Some(&b'.') && bytes.get(at + 1).is_some_and(u8::is_ascii_digit) {
        at = digits(at + 1);
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'-' | b'+')));
        if bytes.get(at + 1 + sign).is_some_and(u8::is_ascii_digit) {
            at = digits(at + 1 + sign);
        }
    }
    at
}

fn symbol(text: &str) -> Option<(Token, usize)> {
    const SYMBOLS: &[(&str, Token)] = &[
        ("|-", Token::Turnstile),
        ("=>", Token::Arrow),
        ("->", Token::Arrow),
        ("π1", Token::Proj(1)),
        ("π₁", Token::Proj(1)),
        ("π2", Token::Proj(2)),
        ("π₂", Token::Proj(2)),
        ("λ", Token::Lambda),
        ("\\", Token::Lambda),
        ("Ω", Token::Omega),
        ("𝒥", Token::J),
        ("·", Token::Cdot),
        ("@", Token::Cdot),
        ("⟨", Token::OpenAngle),
        ("〈", Token::OpenAngle),
        ("<", Token::OpenAngle),
        ("⟩", Token::CloseAngle),
        ("〉", Token::CloseAngle),
        (">", Token::CloseAngle),
        ("⊢", Token::Turnstile),
        ("⇒", Token::Arrow),
        ("→", Token::Arrow),
        ("×", Token::Times),
        ("∗", Token::Star),
        ("(", Token::Open),
        (")", Token::Close),
        ("[", Token::OpenBracket),
        ("]", Token::CloseBracket),
        ("{", Token::OpenBrace),
        ("}", Token::CloseBrace),
        (",", Token::Comma),
        (";", Token::Semicolon),
        (":", Token::Colon),
        ("=", Token::Equals),
        ("+", Token::Plus),
        ("*", Token::Star),
        ("|", Token::Bar),
        (".", Token::Dot),
        ("^", Token::Caret),
        ("_", Token::Underscore),
    ];
    SYMBOLS.iter().find(|(s, _)| text.starts_with(s)).map(|(s, token)| (token.clone(), s.len()))
}

fn word(text: &str) -> Token {
    match text {
        "let" => Token::Let,
        "in" => Token::In,
        "fun" => Token::Fun,
        "J" => Token::J,
        "D" => Token::D,
        "Omega" => Token::Omega,
        "pi1" => Token::Proj(1),
        "pi2" => Token::Proj(2),
        _ => Token::Ident(text.to_string()),
    }
}
