//! Words of the delta calculus. Unicode and ASCII spellings give the same word: `λ` and `\`, `→` and `->`, `×` and `*`,
//! `⊗` and `otimes`, `ℝ` and `R`, `_ℤ` directly after a sign and `ℤ`.

use super::errors;
use wengert_base::{Diagnostic, SourceId, Span};

/// A word.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// A name or keyword.
    Word(String),
    Real(f64),
    Int(i64),
    Text(String),
    /// A sign, in its canonical spelling.
    Sign(&'static str),
    End,
}

const SIGNS: &[(&str, &str)] = &[
    ("++", "++"),
    ("->", "→"),
    ("<-", "←"),
    ("<=", "≤"),
    ("!=", "≠"),
    ("/=", "≠"),
    ("==", "=="),
    ("_{", "_{"),
    ("λ", "λ"),
    ("\\", "λ"),
    ("→", "→"),
    ("←", "←"),
    ("≤", "≤"),
    ("≠", "≠"),
    ("×", "×"),
    ("*", "×"),
    ("⊗", "⊗"),
    ("⊕", "⊕"),
    ("⊙", "⊙"),
    ("μ", "μ"),
    ("ℝ", "ℝ"),
    ("ℤ", "ℤ"),
    ("ℕ", "ℤ"),
    ("δ", "δ"),
    ("⊸", "→"),
    ("=", "="),
    ("<", "<"),
    ("+", "+"),
    ("-", "-"),
    ("/", "/"),
    ("%", "%"),
    ("^", "^"),
    ("(", "("),
    (")", ")"),
    ("{", "{"),
    ("}", "}"),
    (",", ","),
    (";", ";"),
    (":", ":"),
    (".", "."),
    ("_", "_"),
];

/// Words that spell a sign.
const SPELLED: &[(&str, &str)] =
    &[("otimes", "⊗"), ("oplus", "⊕"), ("odot", "⊙"), ("mu", "μ"), ("R", "ℝ"), ("Z", "ℤ"), ("N", "ℤ")];

/// Signs after which a subscript `ℤ`, `_ℤ` or `_Z` names the type of an operation.
const SUBSCRIPTED: &[&str] = &["+", "-", "×", "/", "%", "==", "≠", "<", "≤"];

/// Splits a text into words.
pub(super) fn lex(source: SourceId, text: &str) -> Result<Vec<(Token, Span)>, Diagnostic> {
    let mut words: Vec<(Token, Span)> = Vec::new();
    let mut rest = text;
    let position = |rest: &str| u32::try_from(text.len() - rest.len()).unwrap_or(u32::MAX);
    loop {
        rest = rest.trim_start();
        if rest.starts_with("--") {
            rest = rest.find('\n').and_then(|end| rest.get(end..)).unwrap_or("");
            continue;
        }
        let start = position(rest);
        let Some(first) = rest.chars().next() else {
            words.push((Token::End, Span::new(source, start, start)));
            return Ok(words);
        };
        let subscript = words.last().is_some_and(|(token, span)| {
            span.end == start && matches!(token, Token::Sign(sign) if SUBSCRIPTED.contains(sign))
        });
        let (token, length) = if first.is_ascii_digit() {
            number(source, start, rest)?
        } else if first == '"' {
            string(source, start, rest)?
        } else if let Some((token, length)) = subscript.then(|| typed(rest)).flatten() {
            (token, length)
        } else if let Some(length) = word_length(rest) {
            let word = rest.get(..length).unwrap_or_default();
            let spelled = SPELLED.iter().find(|(spelling, _)| *spelling == word);
            (spelled.map_or_else(|| Token::Word(word.to_string()), |(_, sign)| Token::Sign(sign)), length)
        } else if let Some((spelling, sign)) = SIGNS.iter().find(|(spelling, _)| rest.starts_with(spelling)) {
            (Token::Sign(sign), spelling.len())
        } else {
            let end = start + u32::try_from(first.len_utf8()).unwrap_or(1);
            return Err(errors::unknown_character(Span::new(source, start, end), first));
        };
        rest = rest.get(length..).unwrap_or_default();
        words.push((token, Span::new(source, start, position(rest))));
    }
}

/// The type right after a sign: `+ℤ`, `+_Z`, `==S`.
fn typed(rest: &str) -> Option<(Token, usize)> {
    let table = [("ℤ", "ℤ"), ("_ℤ", "ℤ"), ("_Z", "ℤ"), ("ℝ", "ℝ"), ("_ℝ", "ℝ"), ("_R", "ℝ"), ("_S", "S")];
    let (spelling, sign) = table.iter().find(|(spelling, _)| rest.starts_with(spelling))?;
    let follows = rest.get(spelling.len()..)?.chars().next();
    let alone = !follows.is_some_and(|c| c.is_alphanumeric() || c == '_');
    alone.then(|| (Token::Word(format!("_{sign}")), spelling.len()))
}

/// The length of the name that a text starts with. A name does not swallow the `_` of a type subscript `_{`.
fn word_length(rest: &str) -> Option<usize> {
    let letter = |c: char| c.is_alphabetic() && !"λμδℝℤℕ".contains(c);
    let mut end = 0;
    let mut chars = rest.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let subscript = c == '_' && chars.peek().is_some_and(|(_, next)| *next == '{');
        let inside = letter(c) || (at > 0 && (c.is_numeric() || c == '\''));
        let underscore = c == '_' && !subscript && (at > 0 || chars.peek().is_some_and(|(_, c)| letter(*c)));
        if !(inside || underscore) {
            break;
        }
        end = at + c.len_utf8();
    }
    (end > 0).then_some(end)
}

fn number(source: SourceId, start: u32, rest: &str) -> Result<(Token, usize), Diagnostic> {
    let mut end = 0;
    let mut real = false;
    let bytes = rest.as_bytes();
    let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
    while byte(end).is_ascii_digit() {
        end += 1;
    }
    if byte(end) == b'.' && byte(end + 1).is_ascii_digit() {
        real = true;
        end += 1;
        while byte(end).is_ascii_digit() {
            end += 1;
        }
    }
    let exponent = end + 1 + usize::from(matches!(byte(end + 1), b'-' | b'+'));
    if matches!(byte(end), b'e' | b'E') && byte(exponent).is_ascii_digit() {
        real = true;
        end = exponent;
        while byte(end).is_ascii_digit() {
            end += 1;
        }
    }
    let text = rest.get(..end).unwrap_or_default();
    let span = Span::new(source, start, start + u32::try_from(end).unwrap_or(0));
    if real {
        let value = text.parse().map_err(|_| errors::literal(span, text, "it cannot be read"))?;
        return Ok((Token::Real(value), end));
    }
    let value = text.parse().map_err(|_| errors::literal(span, text, "it is too large for an integer"))?;
    Ok((Token::Int(value), end))
}

fn string(source: SourceId, start: u32, rest: &str) -> Result<(Token, usize), Diagnostic> {
    let mut value = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((Token::Text(value), at + 1)),
            '\\' => match chars.next() {
                Some((_, 'n')) => value.push('\n'),
                Some((_, 't')) => value.push('\t'),
                Some((_, c @ ('"' | '\\'))) => value.push(c),
                Some(_) | None => break,
            },
            c => value.push(c),
        }
    }
    let span = Span::new(source, start, start + 1);
    Err(errors::literal(
        span,
        "\"",
        "the closing quote is missing, or a `\\` is followed by neither n, t, \" nor \\",
    ))
}
