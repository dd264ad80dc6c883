//! What was measured, by eval, size and tool.

use serde_json::Value;
use std::collections::BTreeMap;

/// The evals in the order of the pages, each with the functions that are its primal and its derivative.
pub(crate) const EVALS: [(&str, &str, &str); 12] = [
    ("hello", "square", "double"),
    ("lse", "primal", "gradient"),
    ("llsq", "primal", "gradient"),
    ("kmeans", "cost", "dir"),
    ("gmm", "objective", "jacobian"),
    ("lstm", "objective", "jacobian"),
    ("ba", "objective", "jacobian"),
    ("ht", "objective", "jacobian"),
    ("ode", "primal", "gradient"),
    ("det", "primal", "gradient"),
    ("particle", "", ""),
    ("saddle", "", ""),
];

/// Derivatives that a tool does not compute but knows: a formula, whatever the number of steps.
const FORMULAS: [(&str, &str); 1] = [("ode", "manual")];

/// Times of a tool at a size, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Times {
    pub(crate) primal: Option<u64>,
    pub(crate) derivative: Option<u64>,
}

impl Times {
    /// How many times the primal the derivative takes.
    pub(crate) fn ratio(self) -> Option<f64> {
        Some(self.derivative? as f64 / self.primal? as f64)
    }
}

/// All that was measured of an eval.
#[derive(Debug, Default)]
pub(crate) struct Measured {
    /// In the order in which they were measured first.
    pub(crate) sizes: Vec<String>,
    times: BTreeMap<(String, String), Times>,
}

impl Measured {
    /// What a tool took at a size.
    pub(crate) fn times(&self, tool: &str, size: &str) -> Times {
        self.times.get(&(tool.to_string(), size.to_string())).copied().unwrap_or_default()
    }

    /// Whether the tool has any time.
    pub(crate) fn has(&self, tool: &str) -> bool {
        self.times.keys().any(|(known, _)| known == tool)
    }

    /// The best derivative of the tools that are not ours and compute it, with the tool.
    pub(crate) fn best_other(&self, eval: &str, tools: &[String], size: &str) -> Option<(u64, String)> {
        let others = tools.iter().filter(|tool| !is_ours(tool) && !FORMULAS.contains(&(eval, tool.as_str())));
        others.filter_map(|tool| Some((self.times(tool, size).derivative?, tool.clone()))).min()
    }
}

/// Whether a tool is this one, with any engine.
pub(crate) fn is_ours(tool: &str) -> bool {
    tool.starts_with("wengert")
}

/// The tool on one core, if this is it on four.
pub(crate) fn on_four_cores(tool: &str) -> Option<&str> {
    tool.strip_suffix("-4")
}

/// Everything that was measured.
#[derive(Debug, Default)]
pub(crate) struct Results {
    /// Ours first, then in the order of the first measurement; on one core.
    pub(crate) tools: Vec<String>,
    /// On four cores.
    pub(crate) on_four: Vec<String>,
    /// By eval.
    pub(crate) evals: BTreeMap<String, Measured>,
}

impl Results {
    /// Reads the lines that `connect` writes. Only valid outputs count; of several rounds the smallest median.
    pub(crate) fn read(text: &str) -> Results {
        let mut results = Results::default();
        for line in text.lines() {
            let line: Value = serde_json::from_str(line).unwrap_or_default();
            let field = |name: &str| line.get(name).and_then(Value::as_str).unwrap_or_default();
            let median = line.get("median").and_then(Value::as_u64);
            let (Some(median), Some(Value::Bool(true))) = (median, line.get("valid")) else { continue };
            results.add(field("tool"), field("eval"), field("function"), field("size"), median);
        }
        let ours_first = |tool: &String| (!is_ours(tool), !tool.contains("-c"));
        results.tools.sort_by_key(ours_first);
        results.on_four.sort_by_key(ours_first);
        results
    }

    fn add(&mut self, tool: &str, eval: &str, function: &str, size: &str, time: u64) {
        let tools = if on_four_cores(tool).is_some() { &mut self.on_four } else { &mut self.tools };
        if !tools.iter().any(|known| known == tool) {
            tools.push(tool.to_string());
        }
        let functions = EVALS.iter().find(|(name, _, _)| *name == eval);
        let measured = self.evals.entry(eval.to_string()).or_default();
        // `particle` and `saddle` have a function for each pair of modes, and no primal; `hello` has one size.
        let (size, is_primal) = match functions {
            Some((_, "", _)) | None => (function.to_string(), false),
            Some((_, primal, _)) => (size.to_string(), function == *primal),
        };
        if !measured.sizes.contains(&size) {
            measured.sizes.push(size.clone());
        }
        let times = measured.times.entry((tool.to_string(), size)).or_default();
        let place = if is_primal { &mut times.primal } else { &mut times.derivative };
        *place = Some(place.map_or(time, |known| known.min(time)));
    }
}
