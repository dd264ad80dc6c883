//! The parser and the formatter: any text gives a tree and messages; every place in the tree lies inside the text; and where
//! there are no errors, the formatter keeps tree and comments, and formatting twice changes nothing.

use super::{Corpus, Random, judge};
use wengert_base::{Diagnostic, SourceId, SourceMap};
use wengert_syntax::{Parse, parse};

/// Deep trees are shown by recursion; the space for that is not what is tested here.
const ROOM_TO_SHOW: usize = 256 << 20;

/// A text.
pub fn input(corpus: &Corpus, random: &mut Random) -> String {
    corpus.wild(random)
}

/// Holds one text against the promises.
pub fn check(text: &str) -> Result<(), String> {
    let (sources, parsed) = read(text);
    judge::diagnostics(&sources, &parsed.diagnostics)?;
    let tree = show_without_places(&parsed, text)?;
    if parsed.diagnostics.iter().any(Diagnostic::is_error) {
        return Ok(());
    }
    let formatted = format(text)?;
    let (_, again) = read(&formatted);
    if let Some(error) = again.diagnostics.iter().find(|diagnostic| diagnostic.is_error()) {
        return Err(format!("the formatted text does not parse: {}\n{formatted}", error.message));
    }
    if show_without_places(&again, &formatted)? != tree {
        return Err(format!("the formatter changes the meaning:\n{formatted}"));
    }
    if comments(&again, &formatted) != comments(&parsed, text) {
        return Err(format!("the formatter changes comments:\n{formatted}"));
    }
    let twice = format(&formatted)?;
    if twice != formatted {
        return Err(format!("formatting again changes something:\n{formatted}\n--- again\n{twice}"));
    }
    Ok(())
}

fn format(text: &str) -> Result<String, String> {
    wengert_syntax::format(text, SourceId(0)).map_err(|diagnostics| {
        let messages: Vec<String> = diagnostics.into_iter().map(|diagnostic| diagnostic.message).collect();
        format!("the formatter refuses what parses: {}", messages.join("; "))
    })
}

fn read(text: &str) -> (SourceMap, Parse) {
    let mut sources = SourceMap::new();
    let id = sources.add("fuzz.wg", text);
    (sources, parse(id, text))
}

fn comments<'a>(parsed: &Parse, text: &'a str) -> Vec<&'a str> {
    let range = |comment: &wengert_syntax::Comment| comment.span.start as usize..comment.span.end as usize;
    parsed.comments.iter().map(|comment| text.get(range(comment)).unwrap_or_default().trim_end()).collect()
}

/// The tree as text without its spans, each of which must lie inside `text`.
fn show_without_places(parsed: &Parse, text: &str) -> Result<String, String> {
    let shown = stacker::grow(ROOM_TO_SHOW, || format!("{:?}", parsed.module));
    let opening = format!("Span {{ source: {:?}, start: ", SourceId(0));
    let mut pieces = shown.split(opening.as_str());
    let mut bare = pieces.next().unwrap_or_default().to_string();
    for piece in pieces {
        let (numbers, rest) = piece.split_once('}').unwrap_or((piece, ""));
        let mut numbers = numbers.split(", end: ").map(|number| number.trim().parse::<usize>());
        let (Some(Ok(start)), Some(Ok(end))) = (numbers.next(), numbers.next()) else {
            return Err(format!("a place that is none: {piece}"));
        };
        if start > end || !text.is_char_boundary(start) || !text.is_char_boundary(end) {
            return Err(format!("a place outside of the text: {start}..{end}"));
        }
        bare.push_str(rest);
    }
    Ok(bare)
}
