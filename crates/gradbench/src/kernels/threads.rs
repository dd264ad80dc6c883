//! The kernels with several threads beside themselves with one.

use super::{FUNCTIONS, KERNELS, Kernel, Plan, Time, by_us, page};
use std::fmt::Write as _;
use std::io::{self, Write as _};
use wengert_driver::{Engine, Options};

/// What is measured: through C.
const ENGINE: Engine = Engine::C;

/// The times of a kernel with one thread and with several, primal and gradient.
struct Row {
    kernel: &'static Kernel,
    times: [[f64; 2]; 2],
}

/// Measures and writes the table between its own marks on the page. The process must be allowed so many cores.
pub(crate) fn measure(plan: &Plan, threads: usize) -> io::Result<bool> {
    let mut output = io::stdout().lock();
    ENGINE.require().map_err(|missing| io::Error::other(missing.message))?;
    let mut rows = Vec::new();
    let chosen =
        |kernel: &&Kernel| plan.names.is_empty() || plan.names.iter().any(|name| name == kernel.name);
    for kernel in KERNELS.iter().filter(chosen) {
        let row = row(kernel, plan, threads).map_err(io::Error::other)?;
        writeln!(output, "{}", line(&row))?;
        output.flush()?;
        rows.push(row);
    }
    if plan.names.is_empty() {
        let text = text(&rows, threads);
        crate::report::put_between(&plan.folder.join("README.md"), MARKS, &text)?;
    }
    Ok(true)
}

/// Between these the table stands.
const MARKS: (&str, &str) =
    ("<!-- measured with threads -->", "<!-- end of what was measured with threads -->");

/// In turns, the least of the medians of all rounds.
fn row(kernel: &'static Kernel, plan: &Plan, threads: usize) -> Result<Row, String> {
    let mut times = [[f64::INFINITY; 2]; 2];
    for _ in 0..plan.rounds {
        for (known, threads) in times.iter_mut().zip([1, threads]) {
            let options =
                Options { engine: ENGINE, max_memory: Some(plan.memory), threads, ..Options::default() };
            let measured: [Time; 2] = by_us(&options, kernel, plan)?;
            known.iter_mut().zip(measured).for_each(|(known, time)| *known = known.min(time.median));
        }
    }
    Ok(Row { kernel, times })
}

fn cells(row: &Row) -> Vec<String> {
    let [one, several] = row.times;
    let cell = |(one, several): (f64, f64)| {
        let times = crate::report::factor(one / several);
        format!("{} · {} · {times}", page::nanoseconds(one), page::nanoseconds(several))
    };
    one.into_iter().zip(several).map(cell).collect()
}

fn line(row: &Row) -> String {
    format!("{:13} {}", row.kernel.name, cells(row).join("   "))
}

fn text(rows: &[Row], threads: usize) -> String {
    let [primal, gradient] = FUNCTIONS;
    let mut text = format!(
        "Through C: with one thread · with {threads} · so many times as fast.\n\n| kernel | {primal} | {gradient} |\n|---|---|---|\n"
    );
    for row in rows {
        let _ = writeln!(text, "| {} | {} |", row.kernel.name, cells(row).join(" | "));
    }
    text.push('\n');
    text.push_str(&page::circumstances("The engine is `c`."));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_says_how_many_times_as_fast() {
        let [kernel, ..] = &KERNELS;
        let row = Row { kernel, times: [[4000.0, 1000.0], [1000.0, 2000.0]] };
        let text = text(&[row], 4);
        let expected = "| chain | 4.00 µs · 1.00 µs · 4.00× | 1.00 µs · 2.00 µs · 0.50× |";
        assert!(text.contains(expected), "{text}");
    }
}
