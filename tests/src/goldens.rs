//! Trying the wrong programs of `tests/errors`. The first line of each says how:
//!
//! - `-- mode: check` for `wengert check`, `-- mode: json` for `wengert check --json`;
//! - `-- mode: eval EXPR` for `wengert eval 'EXPR' --file` the program;
//! - `-- mode: run ENTRY JSON` for `wengert run` the program `--entry ENTRY --input 'JSON'`;
//! - `-- mode: calculus NAME WHAT OPTIONS` for `wengert calculus NAME WHAT -` on the text below the line;
//! - `-- mode: shell LINE` for any line of shell, in which `FILE` stands for the program.

use crate::command::{Ran, shell_in, wengert_in};
use std::path::Path;

/// How a program is tried: the words after `-- mode: `.
pub fn mode(path: &Path) -> Option<String> {
    let text = crate::project::read(path);
    Some(text.lines().next()?.strip_prefix("-- mode: ")?.trim().to_owned())
}

/// Tries a program, with these options added where it is evaluated; nothing if its first line does not say how.
pub fn try_program(path: &Path, options: &[&str]) -> Option<Ran> {
    let text = crate::project::read(path);
    let mode = text.lines().next()?.strip_prefix("-- mode: ")?.trim();
    let folder = path.parent()?;
    let file = path.file_name()?.to_str()?;
    let (kind, rest) = mode.split_once(' ').unwrap_or((mode, ""));
    match kind {
        "check" => Some(wengert_in(folder, &["check", file], "")),
        "json" => Some(wengert_in(folder, &["check", "--json", file], "")),
        "eval" => {
            let call = ["eval", rest, "--file", file];
            Some(wengert_in(folder, &[&call, options].concat(), ""))
        }
        "run" => {
            let (entry, input) = rest.split_once(' ')?;
            let call = ["run", file, "--entry", entry, "--input", input];
            Some(wengert_in(folder, &[&call, options].concat(), ""))
        }
        "calculus" => {
            let mut args: Vec<&str> = mode.split_whitespace().collect();
            args.insert(3.min(args.len()), "-");
            let term = text.split_once('\n').map_or("", |(_, term)| term);
            Some(wengert_in(folder, &args, term))
        }
        "shell" => Some(shell_in(folder, &rest.replace("FILE", file))),
        _ => None,
    }
}
