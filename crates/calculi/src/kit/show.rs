//! Traces for people: a line for each step, with the rule's name, and the term with the redex marked in it.
//!
//! ```text
//!  start  (λx. x + x) ⟦(1 + 2)⟧
//! 1 +     (λx. x + x) 3
//! ```
//!
//! The names of rules stand in a column. The part of the term that the *next* rule rewrites is marked: by color, or else by
//! the brackets `⟦ ⟧`; of a redex that is too long for that, the part that the rule changes. A term longer than the line is
//! folded around its redex: what is left out is `…`, so the redex and what is next to it stay in view. Where only steps
//! by some rules are shown, each is shown by itself: the term before it, folded around the redex, and the term after it,
//! folded around what the step made.

use super::ground::Ground;
use super::trace::{Step, Stopped, Trace};
use std::fmt::Write;
use std::ops::Range;
use wengert_base::real;

/// How to show a trace.
#[derive(Clone, Debug)]
pub struct Options {
    /// Colors, or brackets.
    pub colored: bool,
    /// How many characters of a term fit in a line.
    pub width: usize,
    /// Show at most so many steps.
    pub steps: Option<usize>,
    /// Show only steps by these rules; all if there are none.
    pub rules: Vec<String>,
}

impl Default for Options {
    fn default() -> Options {
        Options { colored: false, width: 100, steps: None, rules: Vec::new() }
    }
}

impl Options {
    /// Whether steps by this rule are shown.
    pub fn keeps(&self, rule: &str) -> bool {
        self.rules.is_empty() || self.rules.iter().any(|kept| kept == rule)
    }
}

/// A whole trace: steps, result, counts.
pub fn show(trace: &Trace, options: &Options) -> String {
    let mut out = steps(trace, options);
    out.push_str(&outcome(trace, options));
    out
}

/// The steps, each on its line: a rule's name stands before the term that it made.
pub fn steps(trace: &Trace, options: &Options) -> String {
    let limit = options.steps.unwrap_or(usize::MAX);
    let shown: Vec<_> =
        trace.steps.iter().enumerate().filter(|(_, step)| options.keeps(step.rule)).take(limit).collect();
    let names = shown.iter().map(|(_, step)| step.rule.chars().count()).max().unwrap_or(0).max("start".len());
    let digits = shown.last().map_or(1, |(index, _)| (index + 1).to_string().len());
    let filtered = !options.rules.is_empty();
    let mut out = String::new();
    if !filtered {
        let redex = trace.steps.first().and_then(|step| marked(step, options)).filter(|_| limit > 0);
        let _ = writeln!(
            out,
            "{:digits$} {:names$}  {}",
            "",
            "start",
            fold(&trace.start, redex.as_ref(), options)
        );
    }
    for (index, step) in &shown {
        if filtered {
            let before = fold(&step.before, marked(step, options).as_ref(), options);
            let _ = writeln!(out, "{:digits$} {:names$}  {before}", "", "");
        }
        // The redex of the next step is marked in what this step made; the term is the same text. If the next step is not
        // shown, what this step made is in view.
        let next = trace.steps.get(index + 1).filter(|next| !filtered && next.before == step.after);
        let term = match next.and_then(|next| marked(next, options)) {
            Some(redex) => fold(&step.after, Some(&redex), options),
            None if filtered => around(&step.after, &made(step), options),
            None => fold(&step.after, None, options),
        };
        let _ = writeln!(out, "{:>digits$} {:names$}  {term}", index + 1, step.rule);
    }
    let more = trace.counts.steps.saturating_sub(shown.len() as u64);
    if more > 0 && !filtered {
        let _ = writeln!(out, "{:digits$} {:names$}  {more} more steps", "", "…");
    }
    out
}

/// The result, and how much work it was.
pub fn outcome(trace: &Trace, options: &Options) -> String {
    let mut out = String::new();
    match (&trace.result, trace.stopped) {
        (_, Some(Stopped::Steps | Stopped::Size | Stopped::Work)) => {
            let _ = writeln!(out, "stopped at {}", fold(&trace.end, None, options));
        }
        (Some(result), None) => {
            let _ = writeln!(out, "= {}", fold(&ground(result), None, options));
        }
        (None, None) => {
            let _ = writeln!(out, "= {}", fold(&trace.end, None, options));
        }
    }
    if let Some(note) = &trace.note {
        let _ = writeln!(out, "note: {}", one_line(note));
    }
    let counts = &trace.counts;
    let _ = write!(out, "{} steps, at most {} nodes", counts.steps, counts.max_size);
    for (name, count) in &counts.more {
        let _ = write!(out, ", {name} {count}");
    }
    out.push('\n');
    let rules: Vec<String> = counts.by_rule.iter().map(|(rule, count)| format!("{rule} × {count}")).collect();
    if rules.len() > 1 {
        let _ = writeln!(out, "rules: {}", rules.join(", "));
    }
    out
}

/// The part of the term before a step that is marked: the redex, or of a long redex what the rule changes.
fn marked(step: &Step, options: &Options) -> Option<Range<usize>> {
    let redex = step.redex.clone()?;
    let inside = step.before.get(redex.clone())?;
    if inside.chars().count() <= options.width / REDEX_SHARE {
        return Some(redex);
    }
    let same = |(a, b): &(char, char)| a == b;
    let (before, after) = (&step.before, &step.after);
    let prefix: usize = before.chars().zip(after.chars()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    let room = before.len().min(after.len()) - prefix;
    let mut suffix = 0;
    for (c, _) in before.chars().rev().zip(after.chars().rev()).take_while(same) {
        if suffix + c.len_utf8() > room {
            break;
        }
        suffix += c.len_utf8();
    }
    // Where only something new comes in, the character before it stands for the place.
    let end = before.len() - suffix;
    let start = if prefix < end { prefix } else { before.get(..end)?.char_indices().next_back()?.0 };
    let most = 4 * options.width;
    let part = balanced(before, &redex, start.max(redex.start)..end.min(redex.end), most);
    let short =
        before.get(part.clone()).is_some_and(|text| text.chars().count() <= options.width / REDEX_SHARE);
    if short && !part.is_empty() { Some(part) } else { Some(redex) }
}

/// The part and a little more of what it is a part of, so that it cuts no word and no bracket off from its other half; the
/// whole if that is more than so many bytes.
fn balanced(text: &str, whole: &Range<usize>, part: Range<usize>, most: usize) -> Range<usize> {
    const OPENING: &str = "([{⟨⟦";
    const CLOSING: &str = ")]}⟩⟧";
    let inside = text.get(whole.clone()).unwrap_or_default();
    let in_word = |c: char| c.is_alphanumeric() || "_'.*".contains(c);
    let (mut open, mut pairs, mut words) = (Vec::new(), Vec::new(), Vec::new());
    let mut word: Option<usize> = None;
    for (at, c) in inside.char_indices().map(|(at, c)| (whole.start + at, c)).chain([(whole.end, ' ')]) {
        match (word, in_word(c)) {
            (None, true) => word = Some(at),
            (Some(start), false) => {
                words.push((start, at));
                word = None;
            }
            (None, false) | (Some(_), true) => {}
        }
        if OPENING.contains(c) {
            open.push(at);
        } else if CLOSING.contains(c)
            && let Some(start) = open.pop()
        {
            pairs.push((start, at + c.len_utf8()));
        }
    }
    let (mut start, mut end) = (part.start, part.end);
    for (from, to) in words {
        if from < start && start < to {
            start = from;
        }
        if from < end && end < to {
            end = to;
        }
    }
    // Pairs are in the order of their ends: inner ones before outer ones.
    loop {
        let crossed = pairs.iter().find(|(from, to)| {
            let (opens, closes) = ((start..end).contains(from), *to > start && *to <= end);
            opens != closes && !(*from < start && *to > end)
        });
        match crossed {
            _ if end.saturating_sub(start) > most => return whole.clone(),
            Some((from, to)) => (start, end) = (start.min(*from), end.max(*to)),
            None => return start..end,
        }
    }
}

/// What a step made: the part of the term after it that the term before it has not.
fn made(step: &Step) -> Range<usize> {
    let same = |(a, b): &(char, char)| a == b;
    let (before, after) = (&step.before, &step.after);
    let start: usize = before.chars().zip(after.chars()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    let room = before.len().min(after.len()) - start;
    let mut end = after.len();
    for (c, _) in after.chars().rev().zip(before.chars().rev()).take_while(same) {
        if after.len() - end + c.len_utf8() > room {
            break;
        }
        end -= c.len_utf8();
    }
    start..end
}

/// The longest redex that is shown whole, as a part of the width.
const REDEX_SHARE: usize = 2;

/// A term in one line, with its redex marked, and what is too long left out.
pub fn fold(term: &str, redex: Option<&Range<usize>>, options: &Options) -> String {
    let whole = redex.is_some_and(|redex| redex.start == 0 && redex.end == term.len());
    let redex = redex.filter(|_| !whole);
    let cut = |range: Range<usize>| term.get(range).unwrap_or_default();
    let Some(redex) = redex.filter(|redex| !cut((*redex).clone()).is_empty()) else {
        return middle(&one_line(term), options.width);
    };
    let [before, inside, after] = parts(term, redex, options);
    match options.colored {
        true => format!("{before}\u{1b}[1;33m{inside}\u{1b}[0m{after}"),
        false => format!("{before}⟦{inside}⟧{after}"),
    }
}

/// A term in one line, with this part of it in view, but not marked.
fn around(term: &str, part: &Range<usize>, options: &Options) -> String {
    if term.chars().count() <= options.width { one_line(term) } else { parts(term, part, options).concat() }
}

/// What is before, inside and after the part, each as long as there is room for.
fn parts(term: &str, part: &Range<usize>, options: &Options) -> [String; 3] {
    let cut = |range: Range<usize>| one_line(term.get(range).unwrap_or_default());
    let (before, inside, after) = (cut(0..part.start), cut(part.clone()), cut(part.end..term.len()));
    let inside = middle(&inside, options.width / REDEX_SHARE);
    let room = options.width.saturating_sub(inside.chars().count());
    let (left, right) = (before.chars().count(), after.chars().count());
    // A side that needs less than its half leaves the rest to the other.
    let for_left = room.saturating_sub(right.min(room / 2)).min(left);
    let for_right = room.saturating_sub(for_left).min(right);
    [ending(&before, for_left), inside, beginning(&after, for_right)]
}

/// Line breaks and control characters of a printed term are blanks in a line.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// A text that is too long without its middle.
pub(super) fn middle(text: &str, width: usize) -> String {
    let count = text.chars().count();
    if count <= width {
        return text.to_string();
    }
    let kept = width.saturating_sub(3);
    format!("{} … {}", beginning_plain(text, kept - kept / 2), ending_plain(text, kept / 2))
}

fn beginning(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        text.to_string()
    } else {
        format!("{}…", beginning_plain(text, width.saturating_sub(1)))
    }
}

fn ending(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        text.to_string()
    } else {
        format!("…{}", ending_plain(text, width.saturating_sub(1)))
    }
}

fn beginning_plain(text: &str, count: usize) -> String {
    text.chars().take(count).collect()
}

fn ending_plain(text: &str, count: usize) -> String {
    let skipped = text.chars().count().saturating_sub(count);
    text.chars().skip(skipped).collect()
}

/// A value as the program prints values.
pub fn ground(value: &Ground) -> String {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match value {
        Ground::Real(x) => real::show(*x),
        Ground::Int(n) => n.to_string(),
        Ground::Bool(b) => b.to_string(),
        Ground::String(text) => format!("{text:?}"),
        Ground::Tuple(items) => format!("({})", listed(items)),
        Ground::Array(items) => format!("[{}]", listed(items)),
        Ground::Ctor(name, fields) => {
            let fields: String = fields.iter().map(|field| format!(" {}", argument(field))).collect();
            format!("{name}{fields}")
        }
        Ground::Term(text) => text.clone(),
    })
}

/// A field of a constructor: in parentheses if it has fields itself or is negative.
fn argument(value: &Ground) -> String {
    let text = ground(value);
    let needs = match value {
        Ground::Ctor(_, fields) => !fields.is_empty(),
        Ground::Real(_) | Ground::Int(_) => text.starts_with('-'),
        Ground::Term(text) => text.contains(' '),
        Ground::Bool(_) | Ground::String(_) | Ground::Tuple(_) | Ground::Array(_) => false,
    };
    if needs { format!("({text})") } else { text }
}

fn listed(items: &[Ground]) -> String {
    items.iter().map(ground).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::trace::Counts;

    fn example() -> Trace {
        let mut counts = Counts::default();
        counts.step("numeric");
        counts.step("β");
        counts.step("numeric");
        counts.size(7);
        let step = |rule, before: &str, redex, after: &str| Step {
            rule,
            before: before.into(),
            redex: Some(redex),
            after: after.into(),
        };
        Trace {
            start: "(λx. x + x) (1 + 2)".into(),
            steps: vec![
                step("numeric", "(λx. x + x) (1 + 2)", 13..20, "(λx. x + x) 3"),
                step("β", "(λx. x + x) 3", 0..14, "3 + 3"),
                step("numeric", "3 + 3", 0..5, "6"),
            ],
            end: "6".into(),
            result: Some(Ground::Tuple(vec![
                Ground::Real(6.0),
                Ground::Ctor("Cons".into(), vec![Ground::Int(-1)]),
            ])),
            counts,
            stopped: None,
            note: None,
        }
    }

    #[test]
    fn steps_are_aligned_and_redexes_marked() {
        expect_test::expect![[r#"
              start    (λx. x + x) ⟦(1 + 2)⟧
            1 numeric  (λx. x + x) 3
            2 β        3 + 3
            3 numeric  6
            = (6.0, Cons (-1))
            3 steps, at most 7 nodes
            rules: numeric × 2, β × 1
        "#]]
        .assert_eq(&show(&example(), &Options::default()));
    }

    #[test]
    fn steps_can_be_filtered_and_limited() {
        let options = Options { rules: vec!["β".into()], ..Options::default() };
        expect_test::expect![[r#"
                     (λx. x + x) 3
            2 β      3 + 3
        "#]]
        .assert_eq(&steps(&example(), &options));
        let options = Options { steps: Some(1), ..Options::default() };
        expect_test::expect![[r#"
              start    (λx. x + x) ⟦(1 + 2)⟧
            1 numeric  (λx. x + x) 3
              …        2 more steps
        "#]]
        .assert_eq(&steps(&example(), &options));
    }

    #[test]
    fn a_step_by_itself_has_what_it_made_in_view() {
        let (left, right) = ("a ".repeat(100), " b".repeat(100));
        let step = Step {
            rule: "numeric",
            before: format!("{left}(1 + 2){right}"),
            redex: Some(left.len()..left.len() + 7),
            after: format!("{left}3{right}"),
        };
        let trace = Trace { steps: vec![step], ..example() };
        let options = Options { rules: vec!["numeric".into()], width: 30, ..Options::default() };
        expect_test::expect![[r#"
                       … a a a a a ⟦(1 + 2)⟧ b b b b b…
            1 numeric  …a a a a a a a 3 b b b b b b …
        "#]]
        .assert_eq(&steps(&trace, &options));
        let grown = Step { rule: "", before: "aa".into(), redex: None, after: "aaa".into() };
        let shrunk = Step { rule: "", before: "aaa".into(), redex: None, after: "aa".into() };
        assert_eq!((made(&grown), made(&shrunk)), (2..3, 2..2));
    }

    #[test]
    fn the_marked_part_of_a_long_redex_has_all_its_brackets() {
        let part = |text: &str, from: &str, to: &str| {
            let (start, end) = (text.find(from).unwrap_or(0), text.find(to).unwrap_or(0) + to.len());
            text[balanced(text, &(0..text.len()), start..end, 100)].to_string()
        };
        assert_eq!(part("f ⟨x, (y + 1)⟩ z", "x", "y"), "x, (y + 1)");
        assert_eq!(part("f ⟨x, (y + 1)⟩ z", "(y", "z"), "⟨x, (y + 1)⟩ z");
        assert_eq!(part("f ⟨x, (y + 1)⟩ z", "y", "+"), "y +");
        assert_eq!(part("let abc = 12.5 in x", "bc", "12"), "abc = 12.5");
        assert_eq!(part("(a) + (b)", ") +", "+ ("), "(a) + (b)");
        // A bracket without its half, as in a text, is no reason to look on.
        assert_eq!(part("\"(\" + b", "+", "b"), "+ b");
    }

    #[test]
    fn long_terms_are_folded_around_the_redex() {
        let term = format!("{} (λx. x) 1 {}", "a ".repeat(100), "b ".repeat(100));
        let start = term.find('(').unwrap_or_default();
        let redex = start..start + "(λx. x) 1".len();
        let options = Options { width: 40, ..Options::default() };
        expect_test::expect!["…a a a a a a a  ⟦(λx. x) 1⟧ b b b b b b b…"].assert_eq(&fold(
            &term,
            Some(&redex),
            &options,
        ));
        let colored = Options { colored: true, ..options };
        assert!(fold(&term, Some(&redex), &colored).contains("\u{1b}[1;33m(λx. x) 1\u{1b}[0m"));
        assert_eq!(fold("short", Some(&(0..5)), &colored), "short");
        // Ranges that do not fit the text are no reason to fail.
        assert_eq!(fold("é", Some(&(1..9)), &colored), "é");
        assert!(fold(&term, None, &colored).chars().count() <= 40);
    }

    #[test]
    fn the_last_term_of_a_reduction_that_was_stopped_is_folded() {
        let stopped = Trace { end: "x ".repeat(20_000), stopped: Some(Stopped::Size), ..example() };
        let text = crate::kit::json::trace("pullback", &stopped, &|_| true);
        assert!(
            text.len() < 3_000 && text.contains(" … ") && text.contains("\"stopped\": \"size\""),
            "{text}"
        );
        let whole = Trace { stopped: None, ..stopped };
        assert!(crate::kit::json::trace("pullback", &whole, &|_| true).len() > 40_000);
    }

    #[test]
    fn json_is_complete() {
        expect_test::expect![[r#"{"calculus": "pullback", "start": "(λx. x + x) (1 + 2)", "steps": [{"rule": "numeric", "term": "(λx. x + x) 3"}, {"rule": "β", "term": "3 + 3"}, {"rule": "numeric", "term": "6"}], "end": "6", "result": [6.0, {"tag": "Cons", "fields": [-1]}], "counts": {"steps": 3, "max_size": 7, "rules": {"numeric": 2, "β": 1}}, "stopped": null}"#]].assert_eq(&crate::kit::json::trace("pullback", &example(), &|_| true));
    }
}
