//! Plots of counts against n, as SVG text.
//!
//! The vertical axis is logarithmic; the horizontal one is, if n spans more than a factor of twenty: then a straight line
//! is a power of n, and what bends up is exponential. Otherwise a straight line is exponential. A series has its color, its
//! marker and its dashes, so that a print without colors can be read; names stand in a legend beside the plot, never on
//! lines.

use super::svg::{escaped, open};
use std::fmt::Write;

/// A named series of points of a plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// Its points, by x.
    pub points: Vec<(f64, f64)>,
    /// Which color, marker and dashes: the same series looks the same in each plot.
    pub look: usize,
}

/// Width and height of the field of lines.
const FIELD: (f64, f64) = (520.0, 340.0);
/// Its left upper corner.
const CORNER: (f64, f64) = (76.0, 40.0);
/// Space below it, for the axis.
const BELOW: f64 = 56.0;
const LEGEND_LINE: f64 = 20.0;
const CHARACTER: f64 = 7.4;
/// Colors that most kinds of color blindness tell apart (Okabe and Ito), with black and two grays.
const COLORS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#e69f00", "#56b4e9", "#7f7f7f"];
/// Shapes of markers.
const MARKERS: usize = 7;
const DASHES: [&str; 5] = ["", "7 3", "2 3", "9 3 2 3", "12 4"];
/// From this ratio of the largest n to the least on, the horizontal axis is logarithmic.
const LOGARITHMIC: f64 = 20.0;

/// An axis: which numbers lie where.
struct Axis {
    logarithmic: bool,
    low: f64,
    high: f64,
}

impl Axis {
    fn scaled(&self, value: f64) -> f64 {
        if self.logarithmic { value.ln() } else { value }
    }

    /// Where a number lies, from 0 to 1.
    fn at(&self, value: f64) -> f64 {
        let (low, high) = (self.scaled(self.low), self.scaled(self.high));
        (self.scaled(value) - low) / (high - low)
    }
}

/// Line plots; points that have no logarithm are left out.
pub fn plot(title: &str, x_axis: &str, y_axis: &str, series: &[Series]) -> String {
    let (x, y) = axes(series);
    let widest = series.iter().map(|series| series.name.chars().count()).max().unwrap_or(0);
    let (left, top) = CORNER;
    let legend = left + FIELD.0 + 16.0;
    let rows = series.len() as f64 * LEGEND_LINE;
    let mut out = open(
        legend + 44.0 + widest as f64 * CHARACTER + 8.0,
        (top + FIELD.1 + BELOW).max(top + rows + LEGEND_LINE),
    );
    let _ = writeln!(out, "<text x=\"{left}\" y=\"24\" font-weight=\"bold\">{}</text>", escaped(title));
    let _ = writeln!(
        out,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text><text x=\"18\" y=\"{:.1}\" \
         transform=\"rotate(-90 18 {:.1})\" text-anchor=\"middle\">{}</text>",
        left + FIELD.0 / 2.0,
        top + FIELD.1 + 42.0,
        escaped(x_axis),
        top + FIELD.1 / 2.0,
        top + FIELD.1 / 2.0,
        escaped(y_axis)
    );
    ticks(&mut out, &x, &y);
    let _ = writeln!(
        out,
        "<rect x=\"{left}\" y=\"{top}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#333\"/>",
        FIELD.0, FIELD.1
    );
    for series in series {
        line(&mut out, series, &x, &y);
    }
    for (row, series) in series.iter().enumerate() {
        entry(&mut out, series, legend, top + 10.0 + LEGEND_LINE * row as f64);
    }
    out.push_str("</svg>\n");
    out
}

fn shown(series: &Series) -> impl Iterator<Item = (f64, f64)> {
    series.points.iter().copied().filter(|(x, y)| *x > 0.0 && *y > 0.0)
}

/// The axes: n as it is, counts in full powers of ten.
fn axes(series: &[Series]) -> (Axis, Axis) {
    let range = |of: fn((f64, f64)) -> f64| {
        let all = series.iter().flat_map(shown).map(of);
        all.fold((f64::INFINITY, 0.0f64), |(low, high), value| (low.min(value), high.max(value)))
    };
    let (low, high) = range(|point| point.0);
    let x = if low < high {
        Axis { logarithmic: high / low > LOGARITHMIC, low, high }
    } else {
        Axis { logarithmic: false, low: 0.0, high: 1.0f64.max(2.0 * high) }
    };
    let (low, high) = range(|point| point.1);
    let (low, high) = if low <= high { (low.log10().floor(), high.log10().ceil()) } else { (0.0, 1.0) };
    (x, Axis { logarithmic: true, low: 10f64.powf(low), high: 10f64.powf(high.max(low + 1.0)) })
}

/// Powers of ten along the vertical axis; powers of two, or round numbers, along the horizontal one.
fn ticks(out: &mut String, x: &Axis, y: &Axis) {
    let (left, top) = CORNER;
    let (first, last) = (y.low.log10().round() as i32, y.high.log10().round() as i32);
    for exponent in first..=last {
        let place = top + FIELD.1 * (1.0 - y.at(10f64.powi(exponent)));
        let _ = writeln!(
            out,
            "<line x1=\"{left}\" x2=\"{:.1}\" y1=\"{place:.1}\" y2=\"{place:.1}\" stroke=\"#ddd\"/><text x=\"{:.1}\" \
             y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            left + FIELD.0,
            left - 7.0,
            place + 4.5,
            power(exponent)
        );
    }
    let values: Vec<f64> = if x.logarithmic {
        (0..=40).map(|exponent| 2f64.powi(exponent)).collect()
    } else {
        let step = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0].into_iter().find(|step| x.high / step <= 12.0);
        (0..=12).map(|i| f64::from(i) * step.unwrap_or(x.high / 4.0)).collect()
    };
    for value in values.into_iter().filter(|value| (x.low..=x.high).contains(value)) {
        let place = left + FIELD.0 * x.at(value);
        let _ = writeln!(
            out,
            "<line x1=\"{place:.1}\" x2=\"{place:.1}\" y1=\"{top}\" y2=\"{:.1}\" stroke=\"#eee\"/><text \
             x=\"{place:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{value}</text>",
            top + FIELD.1,
            top + FIELD.1 + 18.0
        );
    }
}

/// `1000`, `10⁴`
fn power(exponent: i32) -> String {
    match exponent {
        0..=3 => 10f64.powi(exponent).to_string(),
        _ => {
            let digit = |c: char| match c {
                '-' => '⁻',
                '0' => '⁰',
                '1' => '¹',
                '2' => '²',
                '3' => '³',
                _ => char::from_u32(0x2070 + c.to_digit(10).unwrap_or(0)).unwrap_or(c),
            };
            format!("10{}", exponent.to_string().chars().map(digit).collect::<String>())
        }
    }
}

fn color(look: usize) -> &'static str {
    COLORS.get(look % COLORS.len()).unwrap_or(&"#000000")
}

fn stroke(look: usize) -> String {
    let dashes = DASHES.get(look % DASHES.len()).unwrap_or(&"");
    format!("stroke=\"{}\" stroke-width=\"1.8\" stroke-dasharray=\"{dashes}\"", color(look))
}

/// A series: its lines and a marker at each point.
fn line(out: &mut String, series: &Series, x: &Axis, y: &Axis) {
    let (left, top) = CORNER;
    let place = |(n, count): (f64, f64)| (left + FIELD.0 * x.at(n), top + FIELD.1 * (1.0 - y.at(count)));
    let places: Vec<(f64, f64)> = shown(series).map(place).collect();
    let path: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let _ = writeln!(out, "<polyline points=\"{}\" fill=\"none\" {}/>", path.join(" "), stroke(series.look));
    for place in places {
        marker(out, series.look, place);
    }
}

/// A line of the legend.
fn entry(out: &mut String, series: &Series, x: f64, y: f64) {
    let _ = writeln!(
        out,
        "<line x1=\"{x:.1}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\" {}/>",
        x + 34.0,
        stroke(series.look)
    );
    marker(out, series.look, (x + 17.0, y));
    let _ =
        writeln!(out, "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>", x + 42.0, y + 4.5, escaped(&series.name));
}

/// The marker of a series: seven shapes, then the same without filling.
fn marker(out: &mut String, look: usize, (x, y): (f64, f64)) {
    let corners: &[(f64, f64)] = match look % MARKERS {
        0 => &[],
        1 => &[(-3.6, -3.6), (3.6, -3.6), (3.6, 3.6), (-3.6, 3.6)],
        2 => &[(0.0, -4.8), (4.5, 3.4), (-4.5, 3.4)],
        3 => &[(0.0, -5.2), (5.2, 0.0), (0.0, 5.2), (-5.2, 0.0)],
        4 => &[(0.0, 4.8), (4.5, -3.4), (-4.5, -3.4)],
        5 => &[(-5.0, -1.7), (5.0, -1.7), (5.0, 1.7), (-5.0, 1.7)],
        _ => &[(-1.7, -5.0), (1.7, -5.0), (1.7, 5.0), (-1.7, 5.0)],
    };
    let fill = if (look / MARKERS).is_multiple_of(2) { color(look) } else { "white" };
    let style = format!("fill=\"{fill}\" stroke=\"{}\" stroke-width=\"1.2\"", color(look));
    if corners.is_empty() {
        let _ = writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.8\" {style}/>");
    } else {
        let corners: Vec<String> =
            corners.iter().map(|(dx, dy)| format!("{:.1},{:.1}", x + dx, y + dy)).collect();
        let _ = writeln!(out, "<polygon points=\"{}\" {style}/>", corners.join(" "));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(name: &str, look: usize, points: &[(f64, f64)]) -> Series {
        Series { name: name.into(), points: points.to_vec(), look }
    }

    #[test]
    fn plots_leave_out_what_has_no_logarithm() {
        let all = [
            series("steps", 0, &[(1.0, 10.0), (2.0, 100.0), (4.0, 1000.0)]),
            series("none", 1, &[(0.0, 1.0), (1.0, -1.0)]),
        ];
        let drawn = plot("growth", "n", "count", &all);
        // One circle for each point and one in the legend; the other series has only its place in the legend.
        assert_eq!(drawn.matches("<circle").count(), 4, "{drawn}");
        assert_eq!(drawn.matches("<polygon").count(), 1, "{drawn}");
        for empty in [plot("", "", "", &[]), plot("", "", "", &[series("one", 0, &[(3.0, 7.0)])]), drawn] {
            assert!(!empty.contains("NaN") && !empty.contains("inf"), "{empty}");
        }
    }

    #[test]
    fn axes_fit_the_points() {
        let (x, y) = axes(&[series("a", 0, &[(1.0, 30.0), (256.0, 20_000.0)])]);
        assert!(x.logarithmic && (x.low, x.high) == (1.0, 256.0));
        assert_eq!((y.low.round(), y.high.round()), (10.0, 100_000.0));
        assert!((x.at(16.0) - 0.5).abs() < 1e-9 && (y.at(1000.0) - 0.5).abs() < 1e-9);
        let (x, _) = axes(&[series("a", 0, &[(2.0, 30.0), (14.0, 40.0)])]);
        assert!(!x.logarithmic && (x.at(8.0) - 0.5).abs() < 1e-9);
        assert_eq!([power(0), power(3), power(4), power(12)], ["1", "1000", "10⁴", "10¹²"]);
    }

    #[test]
    fn each_series_looks_different() {
        let looks: Vec<String> = (0..14)
            .map(|look| {
                let mut out = stroke(look);
                marker(&mut out, look, (0.0, 0.0));
                out
            })
            .collect();
        for (index, look) in looks.iter().enumerate() {
            assert!(!looks.iter().skip(index + 1).any(|other| other == look), "{look}");
        }
    }
}
