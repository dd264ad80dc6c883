//! The drawing: boxes in two halves of one layout, with what flows along the lines between them.

use super::layout::Layout;
use super::{Node, Phases};
use crate::kit::svg::{escaped, open};
use std::fmt::Write;

/// Nodes that are drawn; of more, the first and the last.
const MAX_NODES: usize = 40;

const FORWARD: &str = "#1f4e9c";
const BACK: &str = "#b03030";
const TOP: f64 = 78.0;
const HEIGHT: f64 = 46.0;

impl Phases {
    /// The picture, with the 1-form at the turn.
    pub(super) fn draw(&self, form: &str) -> String {
        let shown = self.shown();
        let widths: Vec<f64> = self.nodes.iter().map(|node| node.width()).collect();
        let uses: Vec<Vec<usize>> =
            self.nodes.iter().map(|node| node.uses.iter().map(|(used, _)| *used).collect()).collect();
        let layout = Layout::of(&shown, &widths, &uses, self.inputs);
        let lane = layout.width.max(320.0);
        let (width, bottom) = (2.0 * lane + 60.0, TOP + layout.height);
        let mut out = open(width, bottom + 120.0);
        out.push_str(ARROWS);
        self.headings(&mut out, lane, shown.len());
        let shift = |right: bool| {
            let middle = (lane - layout.width) / 2.0;
            if right { lane + 40.0 + middle } else { 20.0 + middle }
        };
        for node in &shown {
            self.edges(&mut out, *node, &layout, &shift);
        }
        for node in &shown {
            self.boxes(&mut out, *node, &layout, &shift);
        }
        self.turn(&mut out, form, &layout, &shift, (width, bottom));
        out.push_str("</svg>\n");
        out
    }

    /// The nodes that are drawn.
    fn shown(&self) -> Vec<usize> {
        let count = self.nodes.len();
        let half = MAX_NODES / 2;
        (0..count).filter(|node| count <= MAX_NODES || *node < half || *node + half >= count).collect()
    }

    fn headings(&self, out: &mut String, lane: f64, shown: usize) {
        let line = |out: &mut String, x: f64, y: f64, color: &str, weight: &str, text: &str| {
            let _ = writeln!(
                out,
                "<text x=\"{x:.1}\" y=\"{y}\" fill=\"{color}\" font-weight=\"{weight}\" text-anchor=\"middle\">{}</text>",
                escaped(text)
            );
        };
        let (left, right) = (20.0 + lane / 2.0, 40.0 + 1.5 * lane);
        line(out, left, 22.0, FORWARD, "bold", "forward phase: values");
        line(out, right, 22.0, BACK, "bold", "reverse phase: dual constants");
        let left_out = self.nodes.len() - shown;
        let lines = match left_out {
            0 => format!("{} lines; those that only name or pair are not drawn", self.lines),
            n => format!(
                "{} lines; {n} that compute and those that only name or pair are not drawn",
                self.lines
            ),
        };
        line(out, left, 40.0, "#555", "normal", &lines);
        let how =
            if self.composed { "reduction 6 composes maps before 5" } else { "reduction 5, map by map" };
        let result = match self.result.as_str() {
            "" => how.to_string(),
            result => format!("{how}; result [{result}]*").replace("[[", "[").replace("]]", "]"),
        };
        line(out, right, 40.0, "#555", "normal", &cut_to(&result, 60));
    }

    /// What a node uses, in both halves.
    fn edges(&self, out: &mut String, node: usize, layout: &Layout, shift: &dyn Fn(bool) -> f64) {
        let Some(found) = self.nodes.get(node) else { return };
        for (nth, (used, flow)) in found.uses.iter().enumerate() {
            let Some(source) = self.nodes.get(*used) else { continue };
            let Some(way) = layout.way(node, nth) else { continue };
            let at = |(x, y): &(f64, f64), right: bool| (x + shift(right), TOP + y);
            let down: Vec<(f64, f64)> = way.iter().map(|point| at(point, false)).collect();
            path(out, &down, FORWARD, "forward", &source.value, way.len() as f64 - 1.45);
            let mut up: Vec<(f64, f64)> = way.iter().map(|point| at(point, true)).collect();
            up.reverse();
            path(out, &up, BACK, "back", flow.as_deref().unwrap_or(""), 0.45);
        }
    }

    fn boxes(&self, out: &mut String, node: usize, layout: &Layout, shift: &dyn Fn(bool) -> f64) {
        let (Some(found), Some((x, y))) = (self.nodes.get(node), layout.place(node)) else { return };
        let y = TOP + y;
        let input = node < self.inputs;
        let title = if input { found.name.clone() } else { format!("{} = {}", found.name, found.text) };
        let under = if found.value.is_empty() { String::new() } else { format!("= {}", found.value) };
        boxed(out, (x + shift(false), y), found.width(), "#e4eefb", FORWARD, &title, &under);
        let weight = |before: &str, after: &str| {
            found.weight.as_ref().map_or_else(String::new, |weight| format!("{before}{weight}{after}"))
        };
        let (map, under) = match input {
            true => (format!("{}*", found.name), weight("= ", "")),
            false => (found.map.clone(), weight("· [", "]*").replace("[[", "[").replace("]]", "]")),
        };
        boxed(out, (x + shift(true), y), found.width(), "#fbe9e7", BACK, &map, &under);
    }

    /// The 1-form, where the forward phase turns into the reverse phase.
    fn turn(
        &self,
        out: &mut String,
        form: &str,
        layout: &Layout,
        shift: &dyn Fn(bool) -> f64,
        (width, bottom): (f64, f64),
    ) {
        let text = format!("ω = {form}");
        let y = bottom + 70.0;
        let wide = text.chars().count() as f64 * 7.6 + 24.0;
        if let Some((x, top, node)) = self.output.and_then(|node| {
            let (x, y) = layout.place(node)?;
            Some((x, TOP + y + HEIGHT / 2.0, self.nodes.get(node)?))
        }) {
            let (left, right) = (width / 2.0 - wide / 2.0, width / 2.0 + wide / 2.0);
            path(
                out,
                &[(x + shift(false), top), (x + shift(false), y), (left, y)],
                FORWARD,
                "forward",
                &node.value,
                0.3,
            );
            let weight = node.weight.clone().unwrap_or_default();
            path(
                out,
                &[(right, y), (x + shift(true), y), (x + shift(true), top)],
                BACK,
                "back",
                &weight,
                1.6,
            );
        }
        boxed(out, (width / 2.0, y), wide, "#f4f0dc", "#7a6a1e", &text, "");
    }
}

fn cut_to(text: &str, count: usize) -> String {
    if text.chars().count() <= count {
        text.into()
    } else {
        text.chars().take(count - 1).chain(['…']).collect()
    }
}

impl Node {
    fn width(&self) -> f64 {
        let title = self.name.chars().count() + 3 + self.text.chars().count();
        let weight = self.weight.as_ref().map_or(0, |weight| weight.chars().count());
        let most = [title, self.map.chars().count(), self.value.chars().count() + 2, weight];
        (most.into_iter().max().unwrap_or(0) as f64 * 8.2 + 18.0).max(56.0)
    }
}

const ARROWS: &str = "<defs><marker id=\"forward\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" \
    markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#1f4e9c\"/></marker><marker id=\"back\" \
    viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path \
    d=\"M0 0L8 4L0 8z\" fill=\"#b03030\"/></marker></defs>\n";

fn boxed(
    out: &mut String,
    (x, y): (f64, f64),
    width: f64,
    fill: &str,
    color: &str,
    title: &str,
    under: &str,
) {
    let _ = writeln!(
        out,
        "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{HEIGHT}\" rx=\"7\" fill=\"{fill}\" stroke=\"{color}\"/>",
        x - width / 2.0,
        y - HEIGHT / 2.0
    );
    let lines: &[(&str, f64, &str)] = match under {
        "" => &[(title, 4.5, "normal")],
        _ => &[(title, -4.5, "normal"), (under, 14.5, "bold")],
    };
    for (text, down, weight) in lines {
        let _ = writeln!(
            out,
            "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-weight=\"{weight}\">{}</text>",
            y + down,
            escaped(text)
        );
    }
}

/// A smooth line down or up through points, with a number at `along`, counted in segments.
fn path(out: &mut String, points: &[(f64, f64)], color: &str, arrow: &str, label: &str, along: f64) {
    let mut way = String::new();
    for (from, to) in points.iter().zip(points.iter().skip(1)) {
        if way.is_empty() {
            let _ = write!(way, "M{:.1} {:.1}", from.0, from.1);
        }
        let middle = (to.1 - from.1) / 2.0;
        let straight = (from.0 - to.0).abs() < 0.1 || middle.abs() < 0.1;
        let _ = match straight {
            true => write!(way, " L{:.1} {:.1}", to.0, to.1),
            false => write!(
                way,
                " C{:.1} {:.1} {:.1} {:.1} {:.1} {:.1}",
                from.0,
                from.1 + middle,
                to.0,
                to.1 - middle,
                to.0,
                to.1
            ),
        };
    }
    let _ = writeln!(
        out,
        "<path d=\"{way}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"1.4\" marker-end=\"url(#{arrow})\"/>"
    );
    if label.is_empty() {
        return;
    }
    let segment = along.floor();
    let pair = points.iter().zip(points.iter().skip(1)).nth(segment as usize);
    let Some(((x1, y1), (x2, y2))) = pair else { return };
    let t = along - segment;
    // The curve's own course: slow at the ends in x, even in y nearly.
    let (x, y) =
        (x1 + (x2 - x1) * t * t * (3.0 - 2.0 * t), y1 + (y2 - y1) * (1.5 * t * (1.0 - t) + t * t * t));
    let slant = (x2 - x1) * (y2 - y1);
    let (anchor, x) = match (slant.abs() < 1.0, slant > 0.0) {
        (true, _) | (_, true) => ("start", x + 6.0),
        _ => ("end", x - 6.0),
    };
    // First a white edge around the text, so that lines do not run through it.
    for style in ["stroke=\"white\" stroke-width=\"4\" stroke-linejoin=\"round\"", ""] {
        let _ = writeln!(
            out,
            "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\" fill=\"{color}\" font-size=\"12\" {style}>{}</text>",
            y + 4.0,
            escaped(label)
        );
    }
}
