//! Spellings of other languages, recognized so that the message can say what to write here. Each is reported and
//! then read as what was meant.

use super::{Lexer, continues_word};
use crate::ast::BinOp;
use crate::errors;
use crate::token::TokenKind;

/// Spelling, what it is read as, and what to do.
const OPERATORS: [(&str, TokenKind, &str); 27] = [
    ("===", TokenKind::Op(BinOp::Eq), "equality is written `==`"),
    ("!==", TokenKind::Op(BinOp::Ne), "inequality is written `!=` (or `≠`)"),
    ("=/=", TokenKind::Op(BinOp::Ne), "inequality is written `!=` (or `≠`)"),
    ("/=", TokenKind::Op(BinOp::Ne), "inequality is written `!=` (or `≠`)"),
    ("<>", TokenKind::Op(BinOp::Ne), "inequality is written `!=` (or `≠`); strings are joined by `++`"),
    ("~=", TokenKind::Op(BinOp::Ne), "inequality is written `!=` (or `≠`)"),
    (":=", TokenKind::Equals, "a definition is written with `=`; nothing is ever assigned anew"),
    ("+=", TokenKind::Equals, "nothing is ever assigned anew: bind a new name with `let`"),
    ("-=", TokenKind::Equals, "nothing is ever assigned anew: bind a new name with `let`"),
    ("*=", TokenKind::Equals, "nothing is ever assigned anew: bind a new name with `let`"),
    (
        "::",
        TokenKind::Colon,
        "a type annotation has one colon; a list is built with its constructor, `Cons x rest`",
    ),
    ("<|", TokenKind::Op(BinOp::Pipe), "`f <| x` is written `f (x)`, or `x |> f`"),
    ("<<", TokenKind::Op(BinOp::Compose), "`f << g` is written `g >> f`"),
    ("...", TokenKind::Comma, "there are no ranges: `iota n` is the array of 0, 1, …, n - 1"),
    (
        "..",
        TokenKind::Comma,
        "there are no ranges: `iota n` is the array of 0, 1, …, n - 1; see also `slice`",
    ),
    ("&", TokenKind::Op(BinOp::And), "logical and is written `&&` (or `∧`)"),
    ("+.", TokenKind::Op(BinOp::Add), "the same operators serve `Int` and `Real`: write `+`"),
    ("-.", TokenKind::Op(BinOp::Sub), "the same operators serve `Int` and `Real`: write `-`"),
    ("*.", TokenKind::Op(BinOp::Mul), "the same operators serve `Int` and `Real`: write `*`"),
    ("/.", TokenKind::Op(BinOp::Div), "the same operators serve `Int` and `Real`: write `/`"),
    ("÷", TokenKind::Op(BinOp::Div), "division is written `/`"),
    ("·", TokenKind::Op(BinOp::Mul), "multiplication is written `*` (or `×`)"),
    ("⋅", TokenKind::Op(BinOp::Mul), "multiplication is written `*` (or `×`)"),
    ("∗", TokenKind::Op(BinOp::Mul), "multiplication is written `*` (or `×`)"),
    ("∘", TokenKind::Op(BinOp::Compose), "`f ∘ g` is written `g >> f`"),
    ("@", TokenKind::Op(BinOp::Mul), "the product of matrices is `matmul a b`; `p as x` names a pattern"),
    ("⟶", TokenKind::Arrow, "the arrow is written `->` (or `→`)"),
];

/// Characters that look like one of ours.
const LOOKALIKES: [(char, TokenKind, &str); 18] = [
    ('–', TokenKind::Op(BinOp::Sub), "-"),
    ('—', TokenKind::Op(BinOp::Sub), "-"),
    ('‐', TokenKind::Op(BinOp::Sub), "-"),
    ('（', TokenKind::LeftParen, "("),
    ('）', TokenKind::RightParen, ")"),
    ('［', TokenKind::LeftBracket, "["),
    ('］', TokenKind::RightBracket, "]"),
    ('｛', TokenKind::LeftBrace, "{"),
    ('｝', TokenKind::RightBrace, "}"),
    ('，', TokenKind::Comma, ","),
    ('：', TokenKind::Colon, ":"),
    ('；', TokenKind::Semicolon, ";"),
    ('\u{37e}', TokenKind::Semicolon, ";"),
    ('＝', TokenKind::Equals, "="),
    ('＋', TokenKind::Op(BinOp::Add), "+"),
    ('∣', TokenKind::Bar, "|"),
    ('｜', TokenKind::Bar, "|"),
    ('∕', TokenKind::Op(BinOp::Div), "/"),
];

/// Characters that are invisible or look like an ordinary space.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{202a}'..='\u{202e}')
        || (c.is_whitespace() && !matches!(c, ' ' | '\t' | '\r' | '\n'))
}

impl Lexer<'_> {
    /// Reads a foreign spelling if one begins here.
    pub(super) fn foreign(&mut self, c: char) -> bool {
        // With these none of them begins, and most of a text is such.
        let ours = matches!(c, '_' | ')' | '[' | ']' | '}' | ',' | '\\' | '^' | '%' | '|' | '"');
        if ours || c.is_ascii_alphanumeric() {
            return false;
        }
        self.foreign_comment()
            || self.foreign_quote(c)
            || self.foreign_operator()
            || self.lookalike(c)
            || self.invisible(c)
    }

    fn foreign_operator(&mut self) -> bool {
        let rest = self.rest();
        let Some((spelling, kind, help)) = OPERATORS.iter().find(|(spelling, ..)| rest.starts_with(spelling))
        else {
            return false;
        };
        let after = rest.get(spelling.len()..).unwrap_or("");
        // `a &&b`, `x ==-1`, `a +.5` (reported as a number), `f *=> …` are not what the table is about.
        let part_of_ours = (*spelling == "&" && after.starts_with('&'))
            || (spelling.ends_with('=') && spelling.len() == 2 && after.starts_with(['=', '>']))
            || (spelling.len() == 2
                && spelling.ends_with('.')
                && *spelling != ".."
                && after.starts_with(|c: char| c.is_ascii_digit()));
        if part_of_ours {
            return false;
        }
        let start = self.position;
        self.position += spelling.len();
        self.report(errors::foreign_operator(self.span(start), spelling, help));
        self.push(*kind, start);
        true
    }

    fn lookalike(&mut self, c: char) -> bool {
        let Some((_, kind, ours)) = LOOKALIKES.iter().find(|(character, ..)| *character == c) else {
            return false;
        };
        let start = self.position;
        self.position += c.len_utf8();
        self.report(errors::confusable_character(self.span(start), c, ours));
        self.push(*kind, start);
        true
    }

    fn invisible(&mut self, c: char) -> bool {
        if !is_invisible(c) {
            return false;
        }
        let start = self.position;
        self.take_while(is_invisible);
        self.report(errors::invisible_character(self.span(start), c));
        self.reported = false;
        self.space_before = true;
        true
    }

    /// `'text'`, `“text”`, and the `'a` of ML's type variables.
    fn foreign_quote(&mut self, c: char) -> bool {
        let close = match c {
            '\'' => '\'',
            '“' | '”' => '”',
            '‘' | '’' => '’',
            _ => return false,
        };
        let start = self.position;
        let after = self.rest().get(c.len_utf8()..).unwrap_or("");
        let line = line_start(after);
        let mut letters = line.chars();
        let type_variable = letters.next().is_some_and(|c| c.is_lowercase())
            && letters.next().is_none_or(|c| c != close && !continues_word(c));
        if c == '\'' && (type_variable || !line.contains(close)) {
            self.position += c.len_utf8();
            self.report(errors::stray_quote(self.span(start)));
            self.space_before = true;
            return true;
        }
        let index = self.out.tokens.len();
        self.string(c, close);
        let span = self.span(start);
        let terminated = self.out.tokens.get(index).is_some_and(|token| !token.reported);
        if terminated {
            let straight = c == '\'';
            let diagnostic = if straight {
                errors::wrong_quotes(span)
            } else {
                errors::confusable_character(span, c, "\"")
            };
            self.out.diagnostics.push(diagnostic);
            if let Some(token) = self.out.tokens.get_mut(index) {
                token.reported = true;
            }
        }
        true
    }

    /// The length of the block comment that begins here, if `close` occurs. That it does not occur is looked up once, so
    /// that many openings do not each search the whole text.
    fn block_length(&mut self, close: &'static str) -> Option<usize> {
        if self.absent_closings.contains(&close) {
            return None;
        }
        let found = self.rest().find(close);
        if found.is_none() {
            self.absent_closings.push(close);
        }
        found.map(|at| at + close.len())
    }

    /// `# …`, `// …`, `/* … */`, `{- … -}`, `(* … *)`.
    fn foreign_comment(&mut self) -> bool {
        let rest = self.rest();
        let (spelling, length) = if rest.starts_with('#') {
            ("#", line_length(rest))
        } else if rest.starts_with("//") && !rest.starts_with("//=") {
            if self.newline_before || !closes_more_than_it_opens(line_start(rest)) {
                ("//", line_length(rest))
            } else {
                ("//", 2)
            }
        } else if rest.starts_with("/*") {
            ("/*", self.block_length("*/").unwrap_or(line_length(rest)))
        } else if rest.starts_with("{-")
            && !rest.starts_with("{--")
            && let Some(length) = self.block_length("-}")
        {
            ("{-", length)
        } else if rest.starts_with("(* ")
            && let Some(length) = self.block_length("*)")
        {
            ("(*", length)
        } else {
            return false;
        };
        let start = self.position;
        self.position += length;
        let skipped = self.text.get(start..self.position).unwrap_or("");
        self.report(errors::foreign_comment(self.span(start), spelling));
        if spelling == "//" && length == 2 {
            self.push(TokenKind::Op(BinOp::Div), start);
        } else {
            self.reported = false;
            self.space_before = true;
            self.newline_before |= skipped.contains('\n');
        }
        true
    }
}

/// How many bytes of a line are looked at to decide what a character in it means.
const GLANCE: usize = 200;

/// The beginning of the line that begins here.
fn line_start(rest: &str) -> &str {
    let end =
        rest.char_indices().find(|(at, c)| *c == '\n' || *at >= GLANCE).map_or(rest.len(), |(at, _)| at);
    rest.get(..end).unwrap_or("")
}

fn line_length(rest: &str) -> usize {
    rest.find('\n').unwrap_or(rest.len())
}

/// Then `//` was meant as an operator inside brackets, as in Python's `(a // b)`.
fn closes_more_than_it_opens(line: &str) -> bool {
    let count = |set: [char; 3]| line.chars().filter(|c| set.contains(c)).count();
    count([')', ']', '}']) > count(['(', '[', '{'])
}
