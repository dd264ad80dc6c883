//! What failures of a library say: a text for each place, with others beside it for numbers of which is spoken otherwise.
//!
//! ```c
//! static const wg_case wg_cases_0[] = {{"... the array has 1 element", {{1, 1, 1}, ...}}, {NULL, {{0}}}};
//! static const wg_site wg_sites[] = {{"file.wg:1:8", "... the array has \2 elements", wg_cases_0, 0}, ...};
//! ```

use crate::text::quoted;
use std::fmt::Write;

/// What a failure says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The place in the source.
    pub place: String,
    /// What happened. A character below 16 stands for a number of the failure, one from 16 to 31 for a real.
    pub text: String,
    /// Other words for some numbers: the first that fits.
    pub cases: Vec<Case>,
    /// Whether it is that arrays of different sizes stand in an array.
    pub uneven: bool,
}

/// Other words of a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Where numbers of the failure lie then: at most [`RANGES`].
    pub ranges: Vec<Range>,
    /// What happened.
    pub text: String,
}

/// Where a number of a failure lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// Which number.
    pub number: usize,
    /// It is at least this.
    pub least: i64,
    /// And at most this.
    pub most: i64,
}

/// So many numbers can decide what is said.
pub const RANGES: usize = 2;

impl Message {
    /// Whether there are reals in it.
    pub(crate) fn shows_reals(&self) -> bool {
        self.text.contains(|c: char| ('\u{10}'..' ').contains(&c))
    }
}

/// The tables of what failures say.
pub(crate) fn tables<'m>(messages: impl Iterator<Item = &'m Message>) -> String {
    // Most places of one kind have the same other words.
    let mut known: Vec<&[Case]> = Vec::new();
    let (mut cases, mut sites) = (String::new(), String::new());
    for message in messages {
        let name = if message.cases.is_empty() {
            "NULL".to_string()
        } else {
            let number = known.iter().position(|other| *other == message.cases).unwrap_or_else(|| {
                known.push(&message.cases);
                cases.push_str(&table(known.len() - 1, &message.cases));
                known.len() - 1
            });
            format!("wg_cases_{number}")
        };
        let (place, text, uneven) = (quoted(&message.place), quoted(&message.text), u8::from(message.uneven));
        let _ = writeln!(sites, "    {{{place}, {text}, {name}, {uneven}}},");
    }
    format!("\n{cases}static const wg_site wg_sites[] = {{\n{sites}    {{\"\", \"\", NULL, 0}}}};\n")
}

/// Other words, with an end.
fn table(number: usize, cases: &[Case]) -> String {
    let mut text = format!("static const wg_case wg_cases_{number}[] = {{\n");
    for case in cases {
        let any = std::iter::repeat(Range { number: 0, least: i64::MIN, most: i64::MAX });
        let ranges = case.ranges.iter().copied().chain(any).take(RANGES);
        let ranges: Vec<String> = ranges
            .map(|range| format!("{{{}, {}, {}}}", range.number, bound(range.least), bound(range.most)))
            .collect();
        let _ = writeln!(text, "    {{{}, {{{}}}}},", quoted(&case.text), ranges.join(", "));
    }
    text.push_str("    {NULL, {{0, 0, 0}, {0, 0, 0}}}};\n");
    text
}

/// The end of a range.
fn bound(n: i64) -> String {
    match n {
        i64::MIN => "INT64_MIN".into(),
        i64::MAX => "INT64_MAX".into(),
        n => n.to_string(),
    }
}
