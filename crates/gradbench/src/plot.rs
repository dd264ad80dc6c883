//! A picture of an eval: the time of the derivative over the sizes on the left, derivative over primal on the right, a line
//! for each tool, both on logarithmic scales.

use crate::report::time;
use crate::results::{Measured, is_ours};
use std::fmt::Write as _;

const HEIGHT: f64 = 250.0;
const PANEL: f64 = 330.0;
const LEFT: f64 = 64.0;
const TOP: f64 = 34.0;
const LEGEND: f64 = 120.0;
/// Room below a panel for the names of the sizes.
const BELOW: f64 = 92.0;
/// Ours are the first two.
pub(crate) const COLORS: [&str; 10] = [
    "#c0392b", "#e67e22", "#2c6fbb", "#2e8b57", "#8e44ad", "#7f8c8d", "#16a2a2", "#b8860b", "#34495e",
    "#d35d9e",
];

/// A panel: what it shows of a tool at a size.
pub(crate) struct Panel<'a> {
    pub(crate) title: &'a str,
    pub(crate) sizes: &'a [String],
    /// A tool, its color, and its values.
    pub(crate) lines: Vec<(&'a str, &'a str, Vec<Option<f64>>)>,
    /// The text at a power of ten.
    pub(crate) tick: fn(i32) -> String,
    /// Whether a line goes from each value to the next.
    pub(crate) joined: bool,
}

/// A power of ten as a ratio.
pub(crate) fn times(power: i32) -> String {
    format!("{}×", 10f64.powi(power))
}

/// The picture, as SVG.
pub(crate) fn picture(eval: &str, measured: &Measured, tools: &[String]) -> String {
    let shown: Vec<(&str, &str)> = tools
        .iter()
        .zip(COLORS.iter().cycle())
        .filter(|(tool, _)| measured.has(tool))
        .map(|(tool, color)| (tool.as_str(), *color))
        .collect();
    let lines = |value: &dyn Fn(&str, &str) -> Option<f64>| {
        shown
            .iter()
            .map(|(tool, color)| {
                (*tool, *color, measured.sizes.iter().map(|size| value(tool, size)).collect::<Vec<_>>())
            })
            .collect::<Vec<_>>()
    };
    let derivatives = Panel {
        title: "derivative",
        sizes: &measured.sizes,
        lines: lines(&|tool, size| measured.times(tool, size).derivative.map(|time| time as f64)),
        tick: |power| {
            time(10u64.saturating_pow(power.max(0).unsigned_abs())).replace(".00", "").replace(".0", "")
        },
        joined: true,
    };
    let ratios = Panel {
        title: "derivative / primal",
        sizes: &measured.sizes,
        lines: lines(&|tool, size| measured.times(tool, size).ratio()),
        tick: times,
        joined: true,
    };
    let has_ratios = ratios.lines.iter().any(|(_, _, values)| values.iter().any(Option::is_some));
    let panels = if has_ratios { vec![derivatives, ratios] } else { vec![derivatives] };
    draw(eval, &panels, &shown)
}

/// Panels beside each other, and what the colors mean.
pub(crate) fn draw(title: &str, panels: &[Panel<'_>], shown: &[(&str, &str)]) -> String {
    let width = panels.len() as f64 * (LEFT + PANEL) + LEGEND;
    let height = TOP + HEIGHT + BELOW;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-family=\"sans-serif\" font-size=\"11\">\n<title>{title}</title>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    for (place, panel) in panels.iter().enumerate() {
        panel.draw(&mut svg, LEFT + place as f64 * (LEFT + PANEL));
    }
    for (place, (tool, color)) in shown.iter().enumerate() {
        let (x, y) = (width - LEGEND + 14.0, TOP + 8.0 + 18.0 * place as f64);
        let _ = writeln!(
            svg,
            "<path d=\"M{x} {y}h18\" stroke=\"{color}\" stroke-width=\"{}\"/>\
             <text x=\"{}\" y=\"{}\">{tool}</text>",
            thickness(tool),
            x + 24.0,
            y + 4.0
        );
    }
    svg.push_str("</svg>\n");
    svg
}

fn thickness(tool: &str) -> f64 {
    if is_ours(tool) { 2.6 } else { 1.4 }
}

impl Panel<'_> {
    fn draw(&self, svg: &mut String, left: f64) {
        let values = || self.lines.iter().flat_map(|(_, _, values)| values.iter().flatten().copied());
        let least = values().fold(f64::INFINITY, f64::min).max(1e-3).log10().floor() as i32;
        let most = values().fold(0.0, f64::max).max(1e-3).log10().ceil() as i32;
        let (least, most) = (least.min(most), most.max(least + 1));
        let y_of = |value: f64| {
            let part = (value.max(1e-3).log10() - f64::from(least)) / f64::from(most - least);
            TOP + HEIGHT * (1.0 - part)
        };
        let x_of = |place: usize| left + PANEL * (place as f64 + 0.5) / self.sizes.len().max(1) as f64;
        let right = left + PANEL;
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" font-size=\"13\" font-weight=\"bold\">{}</text>",
            left,
            TOP - 14.0,
            self.title
        );
        for power in least..=most {
            let y = y_of(10f64.powi(power));
            let _ = writeln!(
                svg,
                "<path d=\"M{:.1} {y:.1}H{right:.1}\" stroke=\"#ddd\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#555\">{}</text>",
                left,
                left - 6.0,
                y + 4.0,
                (self.tick)(power)
            );
        }
        for (place, size) in self.sizes.iter().enumerate() {
            let (x, y) = (x_of(place), TOP + HEIGHT + 12.0);
            let _ = writeln!(
                svg,
                "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"end\" fill=\"#555\" font-size=\"9\" \
                 transform=\"rotate(-40 {x:.1} {y:.1})\">{size}</text>"
            );
        }
        for (tool, color, values) in &self.lines {
            self.line(svg, tool, color, values, &|place, value| (x_of(place), y_of(value)));
        }
    }

    /// A tool's line, with a dot at each size; where there is no value the line has a gap.
    fn line(
        &self,
        svg: &mut String,
        tool: &str,
        color: &str,
        values: &[Option<f64>],
        point: &dyn Fn(usize, f64) -> (f64, f64),
    ) {
        let mut path = String::new();
        let mut drawing = false;
        for (place, value) in values.iter().enumerate() {
            let Some(value) = value else {
                drawing = false;
                continue;
            };
            let (x, y) = point(place, *value);
            let _ = write!(path, "{}{x:.1} {y:.1}", if drawing && self.joined { "L" } else { "M" });
            let _ = writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.2\" fill=\"{color}\"/>");
            drawing = true;
        }
        let thickness = thickness(tool);
        let _ = writeln!(
            svg,
            "<path d=\"{path}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{thickness}\"/>"
        );
    }
}
