//! Numbers: `1`, `1_000`, `1.0`, `1e5`, `1.5e-3`, and messages for the forms that other languages have.

use super::{Lexer, continues_word};
use crate::errors;
use crate::token::TokenKind;

/// The magnitude of the smallest `Int`; it is a literal only because `-9223372036854775808` must be.
const LARGEST: u64 = 1 << 63;

impl Lexer<'_> {
    /// Reads a number. Precondition: at a digit, or at a point before a digit.
    pub(super) fn number(&mut self) {
        let start = self.position;
        let mut is_real = false;
        let mut problem = None;
        if self.peek() == Some('.') {
            problem = Some("a number begins with a digit: write a zero before the point");
        }
        self.take_while(is_digit);
        if self.peek() == Some('.') {
            let next = self.second();
            if next.is_some_and(|c| c.is_ascii_digit()) {
                is_real = true;
                self.position += 1;
                self.take_while(is_digit);
            } else if next != Some('.') {
                is_real = true;
                self.position += 1;
                problem = Some("a digit must follow the point: write a zero after it");
            }
        }
        if let Some(exponent) = self.exponent_length() {
            is_real = true;
            self.position += exponent;
            if self.take_while(is_digit).trim_matches('_').is_empty() {
                problem = Some("digits must follow the `e` of an exponent");
            }
        }
        let digits = self.text.get(start..self.position).unwrap_or("");
        if problem.is_none() && (digits.contains("__") || has_loose_underscore(digits)) {
            problem = Some("`_` may stand only between two digits");
        }
        let clean: String = digits.chars().filter(|c| *c != '_').collect();
        let suffix_start = self.position;
        let suffix = self.take_while(continues_word);
        if problem.is_none() && !suffix.is_empty() {
            let diagnostic = errors::number_with_suffix(self.span(start), digits, suffix);
            self.report(diagnostic);
            // `2x` is understood as `2`, and the name is left to be read on its own unless it is a radix prefix.
            if suffix.starts_with(char::is_alphabetic) && digits != "0" {
                self.position = suffix_start;
            }
        }
        self.push_number(start, &clean, is_real, problem);
        if self.position == suffix_start && !suffix.is_empty() {
            self.space_before = true;
            self.reported = true;
        }
    }

    fn push_number(&mut self, start: usize, clean: &str, is_real: bool, problem: Option<&str>) {
        let span = self.span(start);
        if let Some(problem) = problem {
            self.report(errors::malformed_number(span, problem, &repaired(clean)));
        }
        if is_real || clean.starts_with('.') {
            let value = repaired(clean).parse::<f64>().unwrap_or(0.0);
            if value.is_infinite() {
                self.report(errors::real_too_large(span));
            }
            self.push(TokenKind::Real(if value.is_finite() { value } else { f64::MAX }), start);
            return;
        }
        let value = clean.parse::<u64>().ok().filter(|value| *value <= LARGEST);
        if value.is_none() && !clean.is_empty() {
            self.report(errors::int_too_large(span, clean));
        }
        self.push(TokenKind::Number(value.unwrap_or(0)), start);
    }

    /// The length of `e`, `e+` or `e-` if an exponent begins here. A bare `e` that starts a longer word (`2else`)
    /// is not one.
    fn exponent_length(&self) -> Option<usize> {
        let rest = self.rest();
        if !rest.starts_with(['e', 'E']) {
            return None;
        }
        let after = rest.get(1..).unwrap_or("");
        if after.starts_with(['+', '-']) {
            return after.get(1..).unwrap_or("").starts_with(|c: char| c.is_ascii_digit()).then_some(2);
        }
        (after.starts_with(|c: char| c.is_ascii_digit()) || !after.starts_with(continues_word)).then_some(1)
    }
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit() || c == '_'
}

/// Whether an underscore stands at an edge of a run of digits.
fn has_loose_underscore(digits: &str) -> bool {
    digits.split(['.', 'e', 'E', '+', '-']).any(|run| run.starts_with('_') || run.ends_with('_'))
}

/// The number as it should have been written: a digit on both sides of the point and after the exponent.
fn repaired(clean: &str) -> String {
    let (mantissa, exponent) = match clean.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (clean, None),
    };
    let mut text = String::new();
    if mantissa.starts_with('.') || mantissa.is_empty() {
        text.push('0');
    }
    text.push_str(mantissa);
    if mantissa.ends_with('.') {
        text.push('0');
    }
    if let Some(exponent) = exponent.filter(|e| e.ends_with(|c: char| c.is_ascii_digit())) {
        text.push('e');
        text.push_str(exponent);
    }
    text
}
