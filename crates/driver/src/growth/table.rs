//! Measurements as a table for people, and as JSON.

use super::{FAMILIES, Family, Measured, Point};
use std::fmt::Write;
use wengert_calculi::kit::fit::{Growth, fit};
use wengert_calculi::kit::json;

/// Characters for a number and the space before it.
const COLUMN: usize = 8;
const ORDER: usize = 8;

/// How much is shown.
#[derive(Clone, Copy)]
pub struct Shown {
    /// Every count that a calculus makes, not only steps and sizes.
    pub everything: bool,
}

/// The measurements as a table: for each family what was counted, with a row for each way.
pub fn table(all: &[Measured], shown: Shown) -> String {
    let mut out = String::new();
    for family in FAMILIES {
        let own: Vec<&Measured> = all.iter().filter(|measured| measured.family.name == family.name).collect();
        if own.is_empty() {
            continue;
        }
        if !out.is_empty() {
            out.push('\n');
        }
        let _ = writeln!(out, "{}: {}", family.name, family.what);
        let width = own.iter().map(|measured| measured.way.name().chars().count()).max().unwrap_or(0);
        let width = width.max("milliseconds".len());
        for name in counts(&own, shown) {
            let rows: Vec<Row<'_>> = own.iter().map(|measured| (*measured, measured.series(name))).collect();
            let title = if name == "max_size" { "largest term" } else { name };
            block(&mut out, family, title, width, &rows, &|count| number(count));
        }
        let rows: Vec<Row<'_>> = own.iter().map(|measured| (*measured, measured.times())).collect();
        block(&mut out, family, "milliseconds", width, &rows, &|seconds| milliseconds(seconds));
        out.push_str(&ends(&own));
    }
    out
}

type Row<'a> = (&'a Measured, Vec<(f64, f64)>);

fn counts(own: &[&Measured], shown: Shown) -> Vec<&'static str> {
    let mut names = vec!["steps", "max_size"];
    if shown.everything {
        for name in own.iter().flat_map(|measured| measured.names()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

/// What was counted under one name.
fn block(
    out: &mut String,
    family: &Family,
    title: &str,
    width: usize,
    rows: &[Row<'_>],
    show: &dyn Fn(f64) -> String,
) {
    let rows: Vec<&Row<'_>> = rows.iter().filter(|(_, series)| !series.is_empty()).collect();
    if rows.is_empty() {
        return;
    }
    let sizes: String = family
        .sizes
        .iter()
        .enumerate()
        .map(|(index, n)| format!("{:>COLUMN$}", if index == 0 { format!("n = {n}") } else { n.to_string() }))
        .collect();
    out.push('\n');
    let mut title = title;
    if title.chars().count() > width {
        let _ = writeln!(out, "  {title}");
        title = "";
    }
    let _ = writeln!(out, "  {title:width$}  {:ORDER$}{sizes}", "growth");
    for (measured, series) in rows {
        let order = fit(series).map_or_else(|| "?".into(), |order| order.to_string());
        let numbers: String = series.iter().map(|(_, y)| format!("{:>COLUMN$}", show(*y))).collect();
        let _ = writeln!(out, "  {:width$}  {order:ORDER$}{numbers}", measured.way.name());
    }
}

/// Why series ended.
fn ends(own: &[&Measured]) -> String {
    let mut out = String::new();
    for measured in own {
        if let Some(ended) = &measured.ended {
            let name = measured.way.name();
            let _ = match ended.refused {
                true => writeln!(out, "  {name}: {}", ended.why),
                false => writeln!(out, "  {name} ends before n = {}: {}", ended.n, ended.why),
            };
        }
    }
    if out.is_empty() { out } else { format!("\n{out}") }
}

fn number(count: f64) -> String {
    if count < 1e7 { format!("{count}") } else { format!("{count:.2e}") }
}

fn milliseconds(seconds: f64) -> String {
    let time = seconds * 1000.0;
    match time {
        ..10.0 => format!("{time:.2}"),
        ..100.0 => format!("{time:.1}"),
        _ => format!("{time:.0}"),
    }
}

/// The measurements as JSON.
pub fn to_json(all: &[Measured]) -> String {
    let rows: Vec<String> = all.iter().map(row_json).collect();
    format!("[{}]\n", rows.join(",\n "))
}

fn row_json(measured: &Measured) -> String {
    let text = |text: &str| {
        let mut out = String::new();
        json::string(&mut out, text);
        out
    };
    let order = |order: Option<Growth>| order.map_or_else(|| "null".into(), |order| text(&order.to_string()));
    let points: Vec<String> = measured.points.iter().map(point_json).collect();
    let mut orders: Vec<String> = measured
        .names()
        .into_iter()
        .map(|name| format!("{}: {}", text(name), order(measured.order(name))))
        .collect();
    let times = measured.times();
    if !times.is_empty() {
        orders.push(format!("\"seconds\": {}", order(fit(&times))));
    }
    format!(
        "{{\"program\": {}, \"calculus\": {}, \"variant\": {}, \"points\": [{}], \"orders\": {{{}}}, \"ended\": {}}}",
        text(measured.family.name),
        text(measured.way.system.name()),
        measured.way.variant.map_or_else(|| "null".into(), |variant| text(variant.name)),
        points.join(", "),
        orders.join(", "),
        measured.ended.as_ref().map_or_else(
            || "null".into(),
            |ended| format!(
                "{{\"n\": {}, \"refused\": {}, \"why\": {}}}",
                ended.n,
                ended.refused,
                text(&ended.why)
            )
        )
    )
}

fn point_json(point: &Point) -> String {
    let mut out = format!("{{\"n\": {}", point.n);
    for (name, count) in &point.counts {
        out.push_str(", ");
        json::string(&mut out, name);
        let _ = write!(out, ": {count}");
    }
    if let Some(time) = point.time {
        let _ = write!(out, ", \"seconds\": {}", time.as_secs_f64());
    }
    out.push('}');
    out
}
