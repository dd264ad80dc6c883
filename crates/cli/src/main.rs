//! The `wengert` command.
//!
//! [`args`] is the command line, [`commands`] has a function for each command, [`repl`] the terminal side of the interactive
//! mode. Everything else is in the library, `wengert_driver`.

mod args;
mod commands;
mod deadline;
mod interrupt;
mod output;
mod panic;
mod progress;
mod repl;

use args::{Cli, Command};
use clap::CommandFactory;
use clap::error::ErrorKind;
use commands::measure::Measured;
use std::io;
use std::process::ExitCode;
use wengert_driver::Build;
use wengert_driver::prepared::Runs;

/// Recursion over the user's text grows its stack where needed; this is for what little is left.
const STACK_BYTES: usize = 64 << 20;

fn main() -> ExitCode {
    panic::install_hook();
    let cli = Cli::read();
    let worker = std::thread::Builder::new().name("main".into()).stack_size(STACK_BYTES).spawn(|| run(cli));
    let result = match worker {
        Ok(worker) => worker.join().unwrap_or(Ok(output::AT_FAULT)),
        Err(error) => Err(error),
    };
    output::exit_code(result)
}

/// What does not go together, and is seen from more than the options alone.
fn conflict(command: &Command) -> Option<String> {
    if let Command::Eval { how, .. } | Command::Run { how, .. } = command
        && how.limits.max_steps.is_some()
        && !how.engine.counts_steps()
    {
        let message = "machine code counts no steps: `--max-steps` goes with `--engine interp`, and \
                       `--timeout` stops every engine";
        return Some(message.to_string());
    }
    if let Command::Calculus { name, growth, .. } = command
        && name.as_deref() != Some("growth")
    {
        return growth.given().map(|given| format!("`{given}` goes with `wengert calculus growth`"));
    }
    None
}

fn run(cli: Cli) -> std::io::Result<u8> {
    let style = output::error_style(cli.color);
    let looks =
        commands::calculus::Looks { errors: style, colored: output::is_colored(cli.color, &io::stdout()) };
    if let Some(message) = conflict(&cli.command) {
        Cli::command().error(ErrorKind::ArgumentConflict, message).exit()
    }
    match cli.command {
        Command::Eval { expression, file, how } => {
            commands::run::eval(&expression, file.as_deref(), &how, style)
        }
        Command::Run { file, entry, input, how } => {
            commands::run::run(&file, &entry, input.as_deref(), &how, style)
        }
        Command::Check { files, json } => commands::check::check(&files, json, style),
        Command::Fmt { files, check } => commands::fmt::fmt(&files, check, style),
        Command::Repl { file, limits, engine } => {
            repl::repl(file.as_deref(), limits, engine, cli.color, style)
        }
        Command::Cost { file, entry, input, limits } => {
            commands::run::cost(&file, &entry, &input, &limits, style)
        }
        Command::Build { file, entry, output, jvp, vjp, timeout } => {
            commands::build::build(&file, &Build { entry, jvp, vjp }, &output, timeout, style)
        }
        Command::Bench { file, entry, input, runs, seconds, json, with, limits } => {
            let what = Measured { file: &file, entry: &entry, input: &input, limits: &limits, json };
            commands::measure::bench(&what, Runs { count: runs.max(1), time: seconds }, with, style)
        }
        Command::Profile { file, entry, input, of, seconds, json, limits } => {
            let what = Measured { file: &file, entry: &entry, input: &input, limits: &limits, json };
            commands::measure::profile(&what, of.into(), seconds, style)
        }
        Command::Trace { expression, calculus, file, show, svg } => {
            let expression = commands::calculus::Expression { text: &expression, file: file.as_deref() };
            commands::calculus::trace(&expression, &calculus, &show, svg.as_deref(), looks)
        }
        Command::Calculus { name: Some(name), verb, show, growth, .. } if name == "growth" => match verb {
            None => commands::calculus::growth(&growth, show.json, looks),
            Some(_) => {
                let message = "`wengert calculus growth` takes no term: it makes its own programs";
                Cli::command().error(ErrorKind::ArgumentConflict, message).exit()
            }
        },
        Command::Calculus { name, verb, file, show, .. } => {
            commands::calculus::calculus(name.as_deref(), verb, file.as_deref(), &show, looks)
        }
        Command::Doc { name } => commands::help::doc(name.as_deref(), style),
        Command::Explain { code } => commands::help::explain(code.as_deref(), style),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "wengert", &mut script);
            output::print(|out| out.write_all(&script))?;
            Ok(output::FINE)
        }
    }
}
