//! The page of the kernels: a table, a picture, where we lose, and how it was measured.

use super::{KERNELS, Kernel, Measured, Row, TOOLS, Time};
use crate::plot::{self, COLORS, Panel};
use crate::report::{factor, put, time};
use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::process::Command;

/// What we want: our functions over those by hand, a gradient over its own primal.
const LIMIT: f64 = 1.2;

/// A ratio of two times of a kernel.
type Ratio = fn(&Row, usize) -> Option<f64>;

/// The ratios on the page, with the name that each has there.
const RATIOS: [(&str, Ratio); 3] = [
    ("primal / C++", primal_ratio),
    ("gradient / C++", gradient_ratio),
    ("gradient / own primal", own_ratio),
];

fn median(row: &Row, tool: usize, function: usize) -> Option<f64> {
    let time: &Time = row.times.get(tool)?.get(function)?.as_ref()?;
    Some(time.median)
}

fn primal_ratio(row: &Row, tool: usize) -> Option<f64> {
    Some(median(row, tool, 0)? / median(row, 0, 0)?)
}

fn gradient_ratio(row: &Row, tool: usize) -> Option<f64> {
    Some(median(row, tool, 1)? / median(row, 0, 1)?)
}

fn own_ratio(row: &Row, tool: usize) -> Option<f64> {
    Some(median(row, tool, 1)? / median(row, tool, 0)?)
}

/// Writes the page and the picture.
pub(super) fn write(folder: &Path, measured: &Measured) -> io::Result<()> {
    std::fs::write(folder.join("kernels.svg"), picture(measured))?;
    put(&folder.join("README.md"), &text(measured))
}

/// What is printed while it goes on.
pub(super) fn lines(kernel: &Kernel, row: &Row) -> String {
    let mut text = String::new();
    for (tool, (name, _)) in TOOLS.iter().enumerate() {
        let cells = cells(row, tool);
        let _ = writeln!(text, "{:13} {:8} {name:10} {}", kernel.name, kernel.size, cells.join(" "));
    }
    row.complaints.iter().for_each(|complaint| text.push_str(&format!("{}: {complaint}\n", kernel.name)));
    text
}

/// Primal, gradient, and what they are to others.
fn cells(row: &Row, tool: usize) -> Vec<String> {
    let mut cells: Vec<String> =
        [0, 1].iter().map(|function| shown(median(row, tool, *function), nanoseconds)).collect();
    let compile =
        |function: usize| row.times.get(tool).and_then(|times| times.get(function)?.as_ref()?.compile);
    if tool == 0 {
        cells.push(shown(own_ratio(row, 0), factor));
    } else {
        cells.extend(RATIOS.iter().map(|(_, ratio)| shown(ratio(row, tool), factor)));
        cells.push(shown(compile(1), |ms| nanoseconds(ms * 1e6)));
    }
    cells
}

fn shown(number: Option<f64>, show: impl Fn(f64) -> String) -> String {
    number.map_or_else(|| "–".to_string(), show)
}

pub(super) fn nanoseconds(number: f64) -> String {
    time(number.max(0.0).round() as u64)
}

/// What stands between the marks.
pub(super) fn text(measured: &Measured) -> String {
    let mut page = String::new();
    if let Err(missing) = &measured.compiler {
        let _ = writeln!(page, "{missing}\n");
    }
    for (tool, (name, _)) in TOOLS.iter().enumerate().skip(1) {
        let _ = writeln!(page, "### {name}\n");
        page.push_str(
            "| kernel | what | primal | gradient | primal / C++ | gradient / C++ | gradient / own primal | C++: gradient \
             / primal | compile gradient |\n|---|---|---|---|---|---|---|---|---|\n",
        );
        for (kernel, row) in &measured.rows {
            let mut cells = cells(row, tool);
            let compile = cells.pop().unwrap_or_default();
            let by_hand = shown(own_ratio(row, 0), factor);
            let (name, what, cells) = (kernel.name, kernel.what, cells.join(" | "));
            let _ = writeln!(page, "| {name} | {what} | {cells} | {by_hand} | {compile} |");
        }
        let _ = writeln!(page, "\n{}\n", losses(measured, tool));
    }
    page.push_str("![ratios of all kernels](kernels.svg)\n\n");
    page.push_str(&short(measured));
    let latency = &measured.latency;
    let milliseconds = |time: std::time::Duration| nanoseconds(time.as_nanos() as f64);
    let _ = writeln!(
        page,
        "### From text to machine code\n\nA program of {} lines: checked in {}, machine code of the function that needs \
         all of it in {}, of its gradient in {}.\n",
        latency.lines,
        milliseconds(latency.check),
        milliseconds(latency.primal),
        milliseconds(latency.gradient)
    );
    for (kernel, row) in measured.rows.iter().chain(&measured.short) {
        row.complaints.iter().for_each(|complaint| {
            let _ = writeln!(page, "**{} is wrong.** {complaint}\n", kernel.name);
        });
    }
    let by_hand = measured.compiler.as_deref().unwrap_or("no C++ compiler");
    page.push_str(&circumstances(&format!("By hand: {by_hand}.")));
    page
}

/// What gradients cost that need not wait for memory.
fn short(measured: &Measured) -> String {
    let mut text = String::from(
        "### Short arrays\n\nThe cache of one core holds all that these read and write. A sum only reads its array, and its gradient \
         writes another: where arrays are as long as above, that alone may take longer than the arithmetic, by hand as well.\n\n\
         | kernel | size |",
    );
    let tools = || TOOLS.iter().enumerate().skip(1);
    for (_, (name, _)) in tools() {
        let _ = write!(
            text,
            " {name}: primal | gradient | primal / C++ | gradient / C++ | gradient / own primal |"
        );
    }
    text.push_str(" C++: gradient / primal |\n|---|---|");
    let columns = (RATIOS.len() + 2) * tools().count() + 1;
    let _ = writeln!(text, "{}", "---|".repeat(columns));
    for (kernel, row) in &measured.short {
        let _ = write!(text, "| {} | {} |", kernel.name, kernel.size);
        for (tool, _) in tools() {
            let mut cells = cells(row, tool);
            cells.pop();
            let _ = write!(text, " {} |", cells.join(" | "));
        }
        let _ = writeln!(text, " {} |", shown(own_ratio(row, 0), factor));
    }
    text.push('\n');
    text
}

/// Where a tool takes longer than C++, worst first.
fn losses(measured: &Measured, tool: usize) -> String {
    let mut lost: Vec<(f64, String)> = Vec::new();
    for (kernel, row) in &measured.rows {
        for (what, ratio) in RATIOS.iter().take(2) {
            let what = what.split(' ').next().unwrap_or_default();
            if let Some(ratio) = ratio(row, tool).filter(|ratio| *ratio > LIMIT) {
                lost.push((ratio, format!("{} {what} {}", kernel.name, factor(ratio))));
            }
        }
    }
    lost.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let names: Vec<String> = lost.into_iter().map(|(_, name)| name).collect();
    let total = 2 * KERNELS.len();
    match names.is_empty() {
        true => format!("Never more than {LIMIT} times C++."),
        false => format!(
            "More than {LIMIT} times C++ in {} of {total}, worst first: {}.",
            names.len(),
            names.join(", ")
        ),
    }
}

/// Machine, date, versions.
pub(super) fn circumstances(more: &str) -> String {
    let processor = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let processor = processor.lines().find_map(|line| line.strip_prefix("model name"));
    let processor =
        processor.map_or("an unknown processor", |name| name.trim_start_matches([' ', '\t', ':']));
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or_default().to_string();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let pinned = if cores == 1 { "pinned to one core" } else { "not pinned to one core" };
    let (date, commit) = (
        first_line("date", &["-u", "+%Y-%m-%d %H:%M UTC"]),
        first_line("git", &["rev-parse", "--short", "HEAD"]),
    );
    let c = first_line("cc", &["--version"]);
    format!(
        "Measured on {date} at commit {commit} (version {}), {processor}, {pinned}, load {load} at the end. {more} \
         `wengert-c` uses {c}.\n\n",
        env!("CARGO_PKG_VERSION")
    )
}

/// The first line that a program prints; its name, if it does not run.
pub(super) fn first_line(program: &str, arguments: &[&str]) -> String {
    let ran = Command::new(program).args(arguments).output();
    let text = ran.map(|ran| String::from_utf8_lossy(&ran.stdout).into_owned()).unwrap_or_default();
    text.lines().next().filter(|line| !line.is_empty()).unwrap_or(program).to_string()
}

/// A panel for each ratio, with a dot for each kernel and engine.
fn picture(measured: &Measured) -> String {
    let names: Vec<String> = measured.rows.iter().map(|(kernel, _)| kernel.name.to_string()).collect();
    let shown: Vec<(usize, &str, &str)> = TOOLS
        .iter()
        .enumerate()
        .skip(1)
        .zip(COLORS)
        .map(|((tool, (name, _)), color)| (tool, *name, color))
        .collect();
    let panels: Vec<Panel<'_>> = RATIOS
        .iter()
        .map(|(title, ratio)| Panel {
            title,
            sizes: &names,
            lines: shown
                .iter()
                .map(|(tool, name, color)| {
                    (*name, *color, measured.rows.iter().map(|(_, row)| ratio(row, *tool)).collect())
                })
                .collect(),
            tick: plot::times,
            joined: false,
        })
        .collect();
    let legend: Vec<(&str, &str)> = shown.iter().map(|(_, name, color)| (*name, *color)).collect();
    plot::draw("kernels", &panels, &legend)
}
