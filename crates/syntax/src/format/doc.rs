//! A small pretty printer: a flat list of instructions, laid out in one pass.
//!
//! As in Wadler's and Oppen's printers, a *group* is written on one line if it fits and has all its [`Op::Line`]s
//! broken otherwise. The document is a list with begin and end marks instead of a tree, so neither building, laying
//! out nor dropping it recurses; widths are prefix sums, so whether a group fits is decided in constant time.
//!
//! Comments are part of the document. A group with a comment inside is broken, and after a comment nothing is written
//! on the same line, whatever the document says.

use std::borrow::Cow;

/// The line width.
pub(super) const WIDTH: usize = 100;

/// An instruction.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Op<'t> {
    /// Text without line breaks.
    Text(Cow<'t, str>),
    /// Text only if the group is broken.
    IfBroken(&'static str),
    /// A line break if the group is broken, else this text.
    Line(&'static str),
    /// A line break; breaks all groups around it.
    Hardline,
    /// An empty line, if the next thing is on a line of its own.
    Blank,
    /// Indents the lines that follow by so much more.
    Indent(usize),
    /// Ends an `Indent`.
    Dedent,
    /// A group that is written on one line only if it is at most so wide; if not, all groups around it are broken.
    Begin(usize),
    /// Ends a group.
    End,
    /// A comment behind what stands on the line.
    TrailingComment(&'t str),
    /// A comment on a line of its own.
    OwnComment(&'t str),
}

impl Op<'_> {
    /// The width on one line.
    fn flat_width(&self) -> usize {
        match self {
            Op::Text(text) => text.chars().count(),
            Op::Line(text) => text.chars().count(),
            Op::IfBroken(_)
            | Op::Hardline
            | Op::Blank
            | Op::Indent(_)
            | Op::Dedent
            | Op::Begin(_)
            | Op::End
            | Op::TrailingComment(_)
            | Op::OwnComment(_) => 0,
        }
    }

    /// Whether it forbids that the groups around it stand on one line.
    pub(super) fn breaks(&self) -> bool {
        matches!(self, Op::Hardline | Op::TrailingComment(_) | Op::OwnComment(_))
    }
}

/// The sum of the widths on one line.
pub(super) fn flat_width(ops: &[Op<'_>]) -> usize {
    ops.iter().map(Op::flat_width).sum()
}

/// Moves comments that stand last in a group behind the group, which they need not break then.
fn hoist_comments<'t>(ops: &[Op<'t>]) -> Vec<Op<'t>> {
    let mut hoisted = Vec::with_capacity(ops.len());
    let mut waiting = None;
    for op in ops {
        if matches!(op, Op::TrailingComment(_)) && waiting.is_none() {
            waiting = Some(op);
            continue;
        }
        if !matches!(op, Op::End | Op::Dedent) {
            hoisted.extend(waiting.take().cloned());
        }
        hoisted.push(op.clone());
    }
    hoisted.extend(waiting.cloned());
    hoisted
}

/// What is known of a group before layout.
#[derive(Clone, Copy, Default)]
struct Extent {
    /// Its width on one line.
    width: usize,
    /// The width of what follows it up to the next possible line break.
    tail: usize,
    must_break: bool,
}

/// Lays the document out.
pub(super) fn render(ops: &[Op<'_>]) -> String {
    let ops = &hoist_comments(ops);
    let extents = measure(ops);
    let mut layout =
        Layout { out: String::new(), column: 0, indents: vec![0], broken: vec![true], fresh: false };
    for (op, extent) in ops.iter().zip(extents) {
        layout.step(op, extent);
    }
    layout.out
}

/// The extent of each group, at the place of its beginning.
fn measure(ops: &[Op<'_>]) -> Vec<Extent> {
    let mut extents = vec![Extent::default(); ops.len()];
    // From the end: the width of all that follows, and of what follows the next possible break.
    let (mut after, mut after_break) = (0, 0);
    let mut open: Vec<(usize, usize, bool)> = Vec::new();
    for (op, extent) in ops.iter().zip(&mut extents).rev() {
        if matches!(op, Op::Line(_)) || op.breaks() {
            after_break = after + op.flat_width();
        }
        if matches!(op, Op::End) {
            open.push((after, after - after_break, false));
        } else if let Op::Begin(widest) = op
            && let Some((at_end, tail, has_break)) = open.pop()
        {
            let width = after - at_end;
            let must_break = has_break || width > *widest;
            *extent = Extent { width, tail, must_break };
            if let Some(outer) = open.last_mut() {
                outer.2 |= must_break;
            }
        } else if op.breaks()
            && let Some(innermost) = open.last_mut()
        {
            innermost.2 = true;
        }
        after += op.flat_width();
    }
    extents
}

struct Layout {
    out: String,
    column: usize,
    indents: Vec<usize>,
    /// Whether each open group is broken.
    broken: Vec<bool>,
    /// Whether a comment has been written, so that what follows needs a new line.
    fresh: bool,
}

impl Layout {
    fn indent(&self) -> usize {
        self.indents.last().copied().unwrap_or(0)
    }

    fn is_broken(&self) -> bool {
        self.broken.last().copied().unwrap_or(true)
    }

    fn newline(&mut self) {
        self.trim();
        self.out.push('\n');
        self.column = 0;
        self.fresh = false;
    }

    fn trim(&mut self) {
        self.out.truncate(self.out.trim_end_matches(' ').len());
    }

    fn at_line_start(&self) -> bool {
        self.column == 0
    }

    fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if self.fresh {
            self.newline();
        }
        if self.at_line_start() {
            let text = text.trim_start_matches(' ');
            if text.is_empty() {
                return;
            }
            let indent = self.indent();
            self.out.extend(std::iter::repeat_n(' ', indent));
            self.column = indent;
            self.put(text);
        } else {
            self.put(text);
        }
    }

    fn put(&mut self, text: &str) {
        self.out.push_str(text);
        self.column += text.chars().count();
    }

    fn step(&mut self, op: &Op<'_>, extent: Extent) {
        match op {
            Op::Text(text) => self.text(text),
            Op::IfBroken(text) if self.is_broken() => self.text(text),
            Op::Line(flat) if !self.is_broken() => self.text(flat),
            Op::Line(_) | Op::Hardline => {
                if !self.at_line_start() || self.fresh {
                    self.newline();
                }
            }
            Op::IfBroken(_) => {}
            Op::Blank => {
                if self.fresh {
                    self.newline();
                }
                if self.at_line_start() && !self.out.is_empty() && !self.out.ends_with("\n\n") {
                    self.out.push('\n');
                }
            }
            Op::Indent(more) => self.indents.push(self.indent() + more),
            Op::Dedent => {
                self.indents.pop();
            }
            Op::Begin(_) => {
                let column = if self.fresh || self.at_line_start() { self.indent() } else { self.column };
                let fits = column + extent.width + extent.tail <= WIDTH;
                self.broken.push(self.is_broken() && (extent.must_break || !fits));
            }
            Op::End => {
                self.broken.pop();
            }
            Op::TrailingComment(text) => {
                let gap = if self.at_line_start() || self.fresh { "" } else { "  " };
                self.trim();
                self.text(&format!("{gap}{text}"));
                self.fresh = true;
            }
            Op::OwnComment(text) => {
                if !self.at_line_start() {
                    self.newline();
                }
                self.text(text);
                self.fresh = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &'static str) -> Op<'static> {
        Op::Text(text.into())
    }

    #[test]
    fn a_group_is_flat_if_it_and_what_follows_fit() {
        let wide = "x".repeat(50);
        let group = [Op::Begin(90), text("a"), Op::Line(" "), Op::Text(wide.clone().into()), Op::End];
        assert_eq!(render(&group), format!("a {wide}"));
        let mut followed = group.to_vec();
        followed.push(Op::Text("y".repeat(50).into()));
        assert!(render(&followed).starts_with("a\nx"));
        followed.insert(5, Op::Line(" "));
        assert!(render(&followed).starts_with("a x"), "a break may follow the group");
    }

    #[test]
    fn nothing_is_written_behind_a_comment() {
        let ops = [
            Op::Begin(90),
            text("f"),
            Op::TrailingComment("-- c"),
            Op::Indent(2),
            text("x"),
            Op::OwnComment("-- d"),
            text("y"),
            Op::Dedent,
            Op::End,
        ];
        assert_eq!(render(&ops), "f  -- c\n  x\n  -- d\n  y");
    }
}
