//! Whatever comes in, something sensible comes out: JSON texts, and diagnostics about any place in any text.

use arbtest::arbtest;
use wengert_base::{Diagnostic, SourceId, SourceMap, Span};
use wengert_driver::json::parse::Document;
use wengert_driver::render::{Style, json, text};

/// Pieces that make JSON, and pieces that break it.
const PIECES: &[&str] = &[
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    " ",
    "\n",
    "\"",
    "\"a\"",
    "\"b\": ",
    "1",
    "-",
    "0",
    "01",
    "2.5",
    "1e3",
    "1e",
    ".5",
    "true",
    "false",
    "null",
    "nul",
    "NaN",
    "\\",
    "\\u00e9",
    "\\ud800",
    "\\udc00",
    "é",
    "\u{1}",
    "[1, 2]",
    "{\"a\": 1}",
    "'",
    "//",
];

/// Random pieces of text, mostly of the list.
fn pieces(u: &mut arbitrary::Unstructured<'_>, list: &[&str]) -> arbitrary::Result<String> {
    let mut out = String::new();
    while !u.is_empty() && out.len() < 400 {
        if u.ratio(1, 20)? {
            out.push(u.arbitrary()?);
        } else {
            out.push_str(u.choose(list)?);
        }
    }
    Ok(out)
}

#[test]
fn the_reader_of_json_accepts_exactly_json() {
    arbtest(|u| {
        let text = pieces(u, PIECES)?;
        let ours = Document::parse(SourceId(0), &text);
        let theirs = serde_json::from_str::<serde_json::Value>(&text);
        assert_eq!(ours.is_ok(), theirs.is_ok(), "{text:?}: {:?} and {theirs:?}", ours.err());
        Ok(())
    })
    .budget_ms(1_500);
}

#[test]
fn every_value_that_serde_writes_is_read() {
    fn value(u: &mut arbitrary::Unstructured<'_>, depth: u32) -> arbitrary::Result<serde_json::Value> {
        Ok(match u.int_in_range(0..=if depth < 6 { 6 } else { 4 })? {
            0 => serde_json::Value::Null,
            1 => u.arbitrary::<bool>()?.into(),
            2 => u.arbitrary::<i64>()?.into(),
            3 => u.arbitrary::<f64>()?.into(),
            4 => u.arbitrary::<String>()?.into(),
            5 => (0..u.int_in_range(0..=4)?).map(|_| value(u, depth + 1)).collect::<Result<_, _>>()?,
            _ => {
                let mut map = serde_json::Map::new();
                for _ in 0..u.int_in_range(0..=4)? {
                    map.insert(u.arbitrary()?, value(u, depth + 1)?);
                }
                serde_json::Value::Object(map)
            }
        })
    }
    arbtest(|u| {
        let value = value(u, 0)?;
        for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap_or_default()] {
            assert!(Document::parse(SourceId(0), &text).is_ok(), "{text}");
        }
        Ok(())
    })
    .budget_ms(1_000);
}

#[test]
fn any_place_in_any_text_can_be_shown() {
    const TEXT: &[&str] = &[
        "x",
        " ",
        "\n",
        "\r\n",
        "\r",
        "\t",
        "漢字",
        "e\u{301}",
        "👩‍👩‍👧",
        "\u{202e}",
        "\u{0}",
        "\u{1b}[31m",
        "def f x = x + 1",
        "\u{feff}",
    ];
    arbtest(|u| {
        let mut source = pieces(u, TEXT)?;
        if u.ratio(1, 4)? {
            source = source.repeat(u.int_in_range(1..=20)?);
        }
        let mut sources = SourceMap::new();
        let id = sources.add(*u.choose(&["a.wg", "", "dir/\u{1b}[0m\n.wg"])?, source.as_str());
        let other = sources.add("b.wg", "one line");
        let mut span = || -> arbitrary::Result<Span> {
            let length = source.len() as u32 + 3;
            let (a, b) = (u.int_in_range(0..=length)?, u.int_in_range(0..=length)?);
            let file = *u.choose(&[id, id, id, other, SourceId(u32::MAX), SourceId(77)])?;
            Ok(Span::new(file, a, b))
        };
        let mut diagnostic =
            Diagnostic::error("E0301", span()?, "message\nin two lines").label("label\nlabel");
        for _ in 0..3 {
            diagnostic = diagnostic.also(span()?, "also").note("note\nnote");
        }
        let diagnostics = [diagnostic.help("help")];
        for style in [Style::Plain, Style::Colored] {
            let text = text::render(&sources, &diagnostics, style);
            assert!(text.contains("message") && text.contains("help"), "{text}");
        }
        let plain = text::render(&sources, &diagnostics, Style::Plain);
        assert!(!plain.contains('\u{1b}'), "{plain:?}");
        assert!(json::render(&sources, &diagnostics).is_array());
        Ok(())
    })
    .budget_ms(2_000);
}
