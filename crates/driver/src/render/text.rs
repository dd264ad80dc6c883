//! Diagnostics as text: title, place, the source with labels underneath, notes, and what to do.

use super::excerpt::{Excerpt, clamp};
use super::{LIMIT, Style, in_source_order};
use annotate_snippets::{
    Annotation, AnnotationKind, Group, Level, Renderer, Snippet, normalize_untrusted_str,
};
use std::borrow::Cow;
use std::fmt::Write;
use std::ops::Range;
use wengert_base::{Diagnostic, Label, Severity, SourceFile, SourceId, SourceMap};

/// Labels of one file further apart than this are shown as separate pieces.
const LINES_BETWEEN: u32 = 200;

/// The text of all `diagnostics`, each followed by an empty line; empty if there are none.
pub fn render(sources: &SourceMap, diagnostics: &[Diagnostic], style: Style) -> String {
    let mut out = String::new();
    for diagnostic in in_source_order(diagnostics).into_iter().take(LIMIT) {
        out.push_str(&render_one(sources, diagnostic, style));
        out.push_str("\n\n");
    }
    if diagnostics.len() > LIMIT {
        let _ = writeln!(out, "… and {} more\n", diagnostics.len() - LIMIT);
    }
    out
}

/// The text of one diagnostic, without a newline at the end.
pub fn render_one(sources: &SourceMap, diagnostic: &Diagnostic, style: Style) -> String {
    let diagnostic = &*clipped(diagnostic);
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut group = Group::with_title(level.primary_title(&diagnostic.message).id(diagnostic.code));
    let mut columns = Vec::new();
    let pieces = pieces(sources, diagnostic);
    if pieces.is_empty() {
        return without_source(group, diagnostic, style);
    }
    for piece in &pieces {
        group = add_piece(group, piece, &mut columns);
    }
    for note in &diagnostic.notes {
        group = group.element(Level::NOTE.message(normalize_untrusted_str(note)));
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(normalize_untrusted_str(help)));
    }
    let mut text = renderer(style).render(&[group]);
    for (shown, meant) in columns {
        text = text.replacen(&shown, &meant, 1);
    }
    text
}

/// No remark is longer, in characters: names and types of the user's can have any length.
const REMARK: usize = 4000;

/// The diagnostic with the middle of long remarks left out.
fn clipped(diagnostic: &Diagnostic) -> Cow<'_, Diagnostic> {
    let label = |label: &Label| label.message.len() > REMARK;
    let long = diagnostic.message.len() > REMARK
        || label(&diagnostic.primary)
        || diagnostic.secondary.iter().any(label)
        || diagnostic.notes.iter().chain(&diagnostic.help).any(|remark| remark.len() > REMARK);
    if !long {
        return Cow::Borrowed(diagnostic);
    }
    let mut diagnostic = diagnostic.clone();
    let labels = diagnostic.secondary.iter_mut().chain(std::iter::once(&mut diagnostic.primary));
    let remarks = labels.map(|label| &mut label.message).chain(std::iter::once(&mut diagnostic.message));
    for remark in remarks.chain(&mut diagnostic.notes).chain(&mut diagnostic.help) {
        let count = remark.chars().count();
        if count > REMARK {
            let start: String = remark.chars().take(REMARK / 2).collect();
            let end: String = remark.chars().skip(count - REMARK / 4).collect();
            *remark = format!("{start} … {end}");
        }
    }
    Cow::Owned(diagnostic)
}

fn renderer(style: Style) -> Renderer {
    match style {
        Style::Plain => Renderer::plain(),
        Style::Colored => Renderer::styled().hyperlink(false),
    }
}

/// A diagnostic that stands nowhere: the remarks follow the title, without a margin for source lines.
fn without_source(title: Group<'_>, diagnostic: &Diagnostic, style: Style) -> String {
    let mut text = renderer(style).render(&[title]);
    let notes = diagnostic.notes.iter().map(|note| ("note", note));
    for (kind, remark) in notes.chain(diagnostic.help.iter().map(|help| ("help", help))) {
        let remark = normalize_untrusted_str(remark).replace('\n', "\n         ");
        let _ = write!(text, "\n = {kind}: {remark}");
    }
    text
}

/// The labels of a diagnostic in one stretch of one file; the first piece has the primary label.
struct Piece<'a> {
    file: &'a SourceFile,
    source: SourceId,
    labels: Vec<(&'a Label, AnnotationKind, Range<usize>)>,
    lines: Range<u32>,
}

fn pieces<'a>(sources: &'a SourceMap, diagnostic: &'a Diagnostic) -> Vec<Piece<'a>> {
    let mut pieces: Vec<Piece<'a>> = Vec::new();
    let primary = std::iter::once((&diagnostic.primary, AnnotationKind::Primary));
    let secondary = diagnostic.secondary.iter().map(|label| (label, AnnotationKind::Context));
    for (label, kind) in primary.chain(secondary) {
        let Some(file) = sources.get(label.span.source) else { continue };
        let range = clamp(&file.text, label.span.start, label.span.end);
        let lines = file.line_col(range.start as u32).0..file.line_col(range.end as u32).0;
        let near = pieces.iter_mut().find(|piece| {
            piece.source == label.span.source
                && lines.start <= piece.lines.end + LINES_BETWEEN
                && piece.lines.start <= lines.end + LINES_BETWEEN
        });
        match near {
            Some(piece) => {
                piece.lines = piece.lines.start.min(lines.start)..piece.lines.end.max(lines.end);
                piece.labels.push((label, kind, range));
            }
            None => {
                let source = label.span.source;
                pieces.push(Piece { file, source, labels: vec![(label, kind, range)], lines });
            }
        }
    }
    pieces
}

/// The text without line ends and escape sequences: of the user's files even the names can hold anything.
fn in_one_line(text: &str) -> String {
    normalize_untrusted_str(text).replace(['\n', '\r'], " ")
}

/// Adds the lines with their labels. Where a line was cut, the renderer would count the column from the cut: `columns`
/// gets the place as it will be shown and as it is meant.
fn add_piece<'a>(group: Group<'a>, piece: &Piece<'a>, columns: &mut Vec<(String, String)>) -> Group<'a> {
    let ranges: Vec<Range<usize>> = piece.labels.iter().map(|(_, _, range)| range.clone()).collect();
    let excerpt = Excerpt::around(piece.file, &ranges);
    let annotations: Vec<Annotation<'a>> = piece
        .labels
        .iter()
        .map(|(label, kind, range)| {
            let annotation = kind.span(excerpt.offset(range.start)..excerpt.offset(range.end));
            let message = (!label.message.is_empty()).then_some(label.message.as_str());
            annotation.label(message.map(in_one_line))
        })
        .collect();
    let name = in_one_line(&piece.file.name);
    let start = ranges.first().map_or(0, |range| range.start);
    if excerpt.cut {
        let (line, column) = piece.file.line_col(start as u32);
        let before = excerpt.text.get(..excerpt.offset(start)).unwrap_or("");
        let shown = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        columns.push((format!("{name}:{line}:{shown}"), format!("{name}:{line}:{column}")));
    }
    let snippet = Snippet::source(excerpt.text).line_start(excerpt.first_line as usize);
    group.element(snippet.path(name).annotations(annotations))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use wengert_base::Span;

    fn check(text: &str, make: impl Fn(&dyn Fn(u32, u32) -> Span) -> Vec<Diagnostic>, expected: Expect) {
        let mut sources = SourceMap::new();
        let id = sources.add("a.wg", text);
        let diagnostics = make(&|start, end| Span::new(id, start, end));
        expected.assert_eq(&render(&sources, &diagnostics, Style::Plain));
    }

    #[test]
    fn a_full_message() {
        check(
            "def f x =\n  x + \"one\"\n",
            |at| {
                vec![
                    Diagnostic::error("E0301", at(16, 21), "a number and a String cannot be added")
                        .label("this is a String")
                        .also(at(12, 13), "this is a number")
                        .note("`+` takes two numbers of one type")
                        .help("join texts with `++`"),
                ]
            },
            expect![[r#"
                error[E0301]: a number and a String cannot be added
                 --> a.wg:2:7
                  |
                2 |   x + "one"
                  |   -   ^^^^^ this is a String
                  |   |
                  |   this is a number
                  |
                  = note: `+` takes two numbers of one type
                  = help: join texts with `++`

            "#]],
        );
    }

    #[test]
    fn an_empty_file_a_place_past_the_end_and_no_place_at_all() {
        check(
            "",
            |at| {
                vec![
                    Diagnostic::error("E0801", Span::NOWHERE, "nowhere").help("do this"),
                    Diagnostic::warning("E0802", at(7, 99), "past the end").label("here"),
                ]
            },
            expect![[r#"
                warning[E0802]: past the end
                 --> a.wg:1:1
                  |
                1 |
                  | ^ here

                error[E0801]: nowhere
                 = help: do this

            "#]],
        );
    }

    #[test]
    fn tabs_wide_characters_and_control_characters() {
        check(
            "\tlet 漢字 = \u{1b}[31mλ in λ\n",
            |at| vec![Diagnostic::error("E0201", at(22, 24), "`λ` is \u{1b}[31mred").label("\u{1b}[0mhere")],
            expect![[r#"
                error[E0201]: `λ` is ␛[31mred
                 --> a.wg:1:18
                  |
                1 |     let 漢字 = ␛[31mλ in λ
                  |                       ^^ ␛[0mhere

            "#]],
        );
    }

    #[test]
    fn a_huge_line_is_cut_and_still_says_its_column() {
        check(
            &format!("{} oops {}\n", "a".repeat(5000), "b".repeat(5000)),
            |at| vec![Diagnostic::error("E0201", at(5001, 5005), "here").label("this")],
            expect![[r#"
                error[E0201]: here
                 --> a.wg:1:5002
                  |
                1 | …aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa oops bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb...
                  |                                                              ^^^^ this

            "#]],
        );
    }

    #[test]
    fn a_label_over_several_lines_and_labels_far_apart() {
        check(
            &format!("first = (1,\n  2,\n  3)\n{}last\n", "\n".repeat(1000)),
            |at| {
                vec![
                    Diagnostic::error("E0201", at(8, 20), "wide")
                        .label("all of it")
                        .also(at(1021, 1025), "far"),
                ]
            },
            expect![[r#"
                error[E0201]: wide
                    --> a.wg:1:9
                     |
                   1 |   first = (1,
                     |  _________^
                   2 | |   2,
                   3 | |   3)
                     | |___^ all of it
                     |
                    ::: a.wg:1003:1
                     |
                1003 | /
                1004 | | last
                     | |___- far

            "#]],
        );
    }

    #[test]
    fn after_the_limit_the_rest_is_counted() {
        let mut sources = SourceMap::new();
        let id = sources.add("a.wg", "x\n".repeat(50));
        let diagnostics: Vec<Diagnostic> = (0..25)
            .rev()
            .map(|i| Diagnostic::error("E0201", Span::new(id, i * 2, i * 2 + 1), "here"))
            .collect();
        let text = render(&sources, &diagnostics, Style::Plain);
        assert!(text.ends_with("… and 5 more\n\n"), "{text}");
        assert_eq!(text.matches("error[E0201]").count(), LIMIT);
        assert!(text.starts_with("error[E0201]: here\n --> a.wg:1:1\n"), "{text}");
    }

    #[test]
    fn a_name_without_end_does_not_flood_the_message() {
        let mut sources = SourceMap::new();
        let name = "é".repeat(100_000);
        let id = sources.add("a.wg", name.as_str());
        let diagnostic = Diagnostic::error("E0201", Span::new(id, 0, 2), format!("`{name}` is unknown"))
            .label(name.as_str())
            .note(name.as_str())
            .help(format!("define {name}"));
        let text = render_one(&sources, &diagnostic, Style::Plain);
        assert!(text.starts_with("error[E0201]: `ééé") && text.contains("é` is unknown"));
        assert!(text.chars().count() < 5 * REMARK, "{} characters", text.chars().count());
    }

    #[test]
    fn colors_are_escape_sequences_around_the_same_text() {
        let mut sources = SourceMap::new();
        let id = sources.add("a.wg", "x\n");
        let diagnostic = Diagnostic::error("E0201", Span::new(id, 0, 1), "here");
        let colored = render_one(&sources, &diagnostic, Style::Colored);
        assert!(colored.contains("\u{1b}["));
        assert!(!render_one(&sources, &diagnostic, Style::Plain).contains('\u{1b}'));
    }
}
