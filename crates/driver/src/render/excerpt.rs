//! The part of a file that a message shows: the lines from the first to the last label, with very long lines cut down
//! to what is near a label.
//!
//! The renderer underlines by byte offset, so an [`Excerpt`] remembers which stretches of the file it kept and maps
//! offsets into its own text. For a line of a megabyte with one label in its middle the text is
//! `… 60 bytes before, the label, 120 bytes after …`.

use std::ops::Range;
use wengert_base::SourceFile;

/// Lines up to this length are shown whole.
const LONG_LINE: usize = 300;
/// What is kept of a longer line on either side of a label's ends.
const BEFORE: usize = 60;
const AFTER: usize = 120;

/// Some lines of a file.
#[derive(Debug)]
pub struct Excerpt {
    /// What is shown.
    pub text: String,
    /// The number of its first line.
    pub first_line: u32,
    /// Whether a line was cut.
    pub cut: bool,
    kept: Vec<Kept>,
}

/// A stretch of the file that was kept.
#[derive(Debug)]
struct Kept {
    file: Range<usize>,
    start_in_text: usize,
}

impl Excerpt {
    /// The lines of `file` that the byte ranges `labels` touch, and those between.
    pub fn around(file: &SourceFile, labels: &[Range<usize>]) -> Excerpt {
        let start = labels.iter().map(|label| label.start).min().unwrap_or(0);
        let end = labels.iter().map(|label| label.end).max().unwrap_or(0).max(start);
        let (first_line, _) = file.line_col(start as u32);
        let source = file.text.as_str();
        let from = source.get(..start).and_then(|before| before.rfind('\n')).map_or(0, |newline| newline + 1);
        let to = source
            .get(end..)
            .and_then(|after| after.find('\n'))
            .map_or(source.len(), |newline| end + newline);
        let mut excerpt = Excerpt { text: String::new(), first_line, cut: false, kept: Vec::new() };
        let mut line_start = from;
        for line in source.get(from..to).unwrap_or("").split_inclusive('\n') {
            excerpt.add_line(source, line_start..line_start + line.len(), labels);
            line_start += line.len();
        }
        excerpt
    }

    fn add_line(&mut self, source: &str, line: Range<usize>, labels: &[Range<usize>]) {
        if line.len() <= LONG_LINE {
            self.keep(source, line);
            return;
        }
        self.cut = true;
        let newline = source.get(line.clone()).is_some_and(|text| text.ends_with('\n'));
        let content = line.start..if newline { line.end - 1 } else { line.end };
        let mut windows: Vec<Range<usize>> = labels
            .iter()
            .flat_map(|label| [label.start, label.end])
            .filter(|offset| content.start <= *offset && *offset <= content.end)
            .map(|offset| offset.saturating_sub(BEFORE).max(content.start)..(offset + AFTER).min(content.end))
            .collect();
        if windows.is_empty() {
            windows.push(content.start..content.start + AFTER);
        }
        windows.sort_by_key(|window| window.start);
        let mut shown = content.start;
        for window in windows {
            let window = ceil(source, window.start.max(shown))..ceil(source, window.end);
            if window.is_empty() {
                continue;
            }
            if window.start > shown {
                self.text.push('…');
            }
            shown = window.end;
            self.keep(source, window);
        }
        if shown < content.end {
            self.text.push('…');
        }
        if newline {
            self.keep(source, content.end..line.end);
        }
    }

    fn keep(&mut self, source: &str, range: Range<usize>) {
        self.kept.push(Kept { file: range.clone(), start_in_text: self.text.len() });
        self.text.push_str(source.get(range).unwrap_or(""));
    }

    /// Where a byte offset of the file is in the text; a place that was cut out gives the nearest kept one before it.
    pub fn offset(&self, in_file: usize) -> usize {
        let after = self.kept.partition_point(|kept| kept.file.start <= in_file);
        match after.checked_sub(1).and_then(|last| self.kept.get(last)) {
            None => 0,
            Some(kept) => kept.start_in_text + in_file.min(kept.file.end) - kept.file.start,
        }
    }
}

/// The byte range of `start..end` within `text`, whatever it was, moved to character boundaries.
pub fn clamp(text: &str, start: u32, end: u32) -> Range<usize> {
    let start = floor(text, start as usize);
    start..ceil(text, end as usize).max(start)
}

/// The character boundary at or before `offset`.
fn floor(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// The character boundary at or after `offset`.
fn ceil(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset += 1;
    }
    offset
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_lines_are_kept_and_offsets_shift_by_the_lines_before() {
        let file = SourceFile::new("a.wg", "one\ntwo\nthree\nfour\n");
        let excerpt = Excerpt::around(&file, &[5..6, 9..10]);
        assert_eq!((excerpt.text.as_str(), excerpt.first_line, excerpt.cut), ("two\nthree", 2, false));
        assert_eq!(&excerpt.text[excerpt.offset(8)..excerpt.offset(13)], "three");
    }

    #[test]
    fn a_huge_line_is_cut_around_its_labels() {
        let text = format!("{}HERE{}\n", "é".repeat(100_000), "b".repeat(100_000));
        let file = SourceFile::new("a.wg", text);
        let excerpt = Excerpt::around(&file, std::slice::from_ref(&(200_000..200_004)));
        assert!(excerpt.text.len() < 400 && excerpt.cut);
        assert_eq!(&excerpt.text[excerpt.offset(200_000)..excerpt.offset(200_004)], "HERE");
        assert!(excerpt.text.starts_with('…') && excerpt.text.ends_with('…'));
    }

    #[test]
    fn spans_are_moved_to_character_boundaries_inside_the_text() {
        assert_eq!(clamp("aλb", 2, 2), 1..3);
        assert_eq!(clamp("aλb", 90, 80), 4..4);
        assert_eq!(clamp("", 3, 9), 0..0);
    }
}
