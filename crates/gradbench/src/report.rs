//! The tables of the page and a plot for each eval, from what was measured.
//!
//! The page is a file with two marks; what stands between them is replaced.

use crate::plot;
use crate::results::{EVALS, Measured, Results, is_ours, on_four_cores};
use std::fmt::Write as _;
use std::io;
use std::path::Path;

const BEGIN: &str = "<!-- measured -->";
const END: &str = "<!-- end of what was measured -->";

/// Writes the tables into `folder/README.md` and the plots into `folder/plots`.
pub(crate) fn report(results: &[std::path::PathBuf], folder: &Path) -> io::Result<()> {
    let mut text = String::new();
    for file in results {
        text.push_str(&std::fs::read_to_string(file)?);
    }
    let results = Results::read(&text);
    let plots = folder.join("plots");
    std::fs::create_dir_all(&plots)?;
    for (eval, _, _) in EVALS {
        if let Some(measured) = results.evals.get(eval) {
            std::fs::write(plots.join(format!("{eval}.svg")), plot::picture(eval, measured, &results.tools))?;
        }
    }
    put(&folder.join("README.md"), &tables(&results))
}

/// Replaces what stands between the marks of a page.
pub(crate) fn put(page: &Path, text: &str) -> io::Result<()> {
    put_between(page, (BEGIN, END), text)
}

/// The same with other marks.
pub(crate) fn put_between(page: &Path, (first, last): (&str, &str), text: &str) -> io::Result<()> {
    let old = std::fs::read_to_string(page)?;
    let (Some(begin), Some(end)) = (old.find(first), old.find(last)) else {
        return Err(io::Error::other(format!("{} lacks the marks `{first}` and `{last}`", page.display())));
    };
    let (before, after) = (old.get(..begin).unwrap_or_default(), old.get(end..).unwrap_or_default());
    std::fs::write(page, format!("{before}{first}\n\n{text}{after}"))
}

/// The summary, then a table for each eval.
pub(crate) fn tables(results: &Results) -> String {
    let mut page = summary(results);
    page.push_str(&four_cores(results));
    for (eval, primal, derivative) in EVALS {
        let Some(measured) = results.evals.get(eval) else { continue };
        let _ = match primal.is_empty() {
            true => writeln!(page, "### {eval}\n\nOuter and inner mode, time.\n"),
            false => writeln!(page, "### {eval}\n\n`{primal}` · `{derivative}` · ratio.\n"),
        };
        table(&mut page, measured, &results.tools);
        let _ = writeln!(page, "\n![{eval}](plots/{eval}.svg)\n");
    }
    page
}

/// How we stand at the largest size that somebody else has measured too.
fn summary(results: &Results) -> String {
    let mut page = String::from("### Derivatives at the largest size\n\n| eval | size | best other |");
    let ours: Vec<&String> = results.tools.iter().filter(|tool| is_ours(tool)).collect();
    let mut rule = String::from("|---|---|---|");
    for tool in &ours {
        let _ = write!(page, " {tool} | to the best |");
        rule.push_str("---|---|");
    }
    let _ = writeln!(page, "\n{rule}");
    for (eval, _, _) in EVALS {
        let Some(measured) = results.evals.get(eval) else { continue };
        let common = measured.sizes.iter().rev().find_map(|size| {
            let measured_by_us = ours.iter().any(|tool| measured.times(tool, size).derivative.is_some());
            let best = measured.best_other(eval, &results.tools, size)?;
            measured_by_us.then_some((size, best))
        });
        let Some((size, (best, tool))) = common else { continue };
        let _ = write!(page, "| {eval} | {size} | {} ({tool}) |", time(best));
        for tool in &ours {
            match measured.times(tool, size).derivative {
                Some(own) => {
                    let _ = write!(page, " {} | {} |", time(own), factor(own as f64 / best as f64));
                }
                None => page.push_str(" | |"),
            }
        }
        page.push('\n');
    }
    page.push('\n');
    page
}

/// What four cores give, at the largest size that a tool has with one and with four.
fn four_cores(results: &Results) -> String {
    if results.on_four.is_empty() {
        return String::new();
    }
    let mut page = String::from(
        "### Four cores\n\nDerivative on one core · on four · so many times as fast.\n\n| eval | size |",
    );
    let names: String = results
        .on_four
        .iter()
        .filter_map(|tool| on_four_cores(tool))
        .map(|tool| format!(" {tool} |"))
        .collect();
    let _ = writeln!(page, "{names}\n|---|---|{}", "---|".repeat(results.on_four.len()));
    for (eval, _, _) in EVALS {
        let Some(measured) = results.evals.get(eval) else { continue };
        let both = |tool: &String, size: &String| {
            let one = measured.times(on_four_cores(tool)?, size).derivative?;
            Some((one, measured.times(tool, size).derivative?))
        };
        let largest = measured
            .sizes
            .iter()
            .rev()
            .find(|size| results.on_four.iter().any(|tool| both(tool, size).is_some()));
        let Some(size) = largest else { continue };
        let _ = write!(page, "| {eval} | {size} |");
        for tool in &results.on_four {
            match both(tool, size) {
                Some((one, four)) => {
                    let times = factor(one as f64 / four.max(1) as f64);
                    let _ = write!(page, " {} · {} · {times} |", time(one), time(four));
                }
                None => page.push_str(" |"),
            }
        }
        page.push('\n');
    }
    page.push('\n');
    page
}

fn table(page: &mut String, measured: &Measured, tools: &[String]) {
    let tools: Vec<&String> = tools.iter().filter(|tool| measured.has(tool)).collect();
    let names: String = tools.iter().map(|tool| format!(" {tool} |")).collect();
    let _ = writeln!(page, "| size |{names}\n|---|{}", "---|".repeat(tools.len()));
    for size in &measured.sizes {
        let best = tools.iter().filter_map(|tool| measured.times(tool, size).derivative).min();
        let _ = write!(page, "| {} |", if size.is_empty() { "–" } else { size });
        for tool in &tools {
            let times = measured.times(tool, size);
            let derivative = times.derivative.map(|own| match times.derivative == best {
                true => format!("**{}**", time(own)),
                false => time(own),
            });
            let cells = [times.primal.map(time), derivative, times.ratio().map(factor)];
            let _ = write!(page, " {} |", cells.into_iter().flatten().collect::<Vec<_>>().join(" · "));
        }
        page.push('\n');
    }
}

/// Nanoseconds, to three digits.
pub(crate) fn time(nanoseconds: u64) -> String {
    let (unit, name) = match nanoseconds {
        0..1_000 => (1.0, "ns"),
        1_000..1_000_000 => (1e3, "µs"),
        1_000_000..1_000_000_000 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    format!("{} {name}", three_digits(nanoseconds as f64 / unit))
}

/// A ratio, to three digits.
pub(crate) fn factor(factor: f64) -> String {
    format!("{}×", three_digits(factor))
}

fn three_digits(x: f64) -> String {
    let digits = if x < 9.995 { 2 } else { usize::from(x < 99.95) };
    format!("{x:.digits$}")
}

#[cfg(test)]
mod tests;
