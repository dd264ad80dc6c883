//! Runs one fuzz target for as long as asked: `cargo run -p wengert-tests --bin fuzz -- parser --seconds 600 --seed 7`.
//! With `--input FILE` it tries that one input instead, for example one that an earlier run saved.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this is a program for the terminal")]

use std::process::ExitCode;
use std::time::Duration;
use wengert_tests::fuzz::{Target, fuzz, try_one};

const USAGE: &str = "usage: fuzz parser|checker|interp [--seconds N] [--seed N] [--input FILE]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| {
        let place = arguments.iter().position(|argument| argument == name)?;
        arguments.get(place + 1).cloned()
    };
    let number = |name: &str, default: u64| option(name).map_or(Some(default), |text| text.parse().ok());
    let target = arguments.first().and_then(|name| Target::by_name(name));
    let (Some(target), Some(seconds), Some(seed)) = (target, number("--seconds", 60), number("--seed", 1))
    else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let outcome = match option("--input") {
        Some(file) => std::fs::read_to_string(&file)
            .map_err(|error| format!("cannot read {file}: {error}"))
            .and_then(|text| try_one(target, text).map(|()| 1)),
        None => fuzz(target, Duration::from_secs(seconds), seed),
    };
    match outcome {
        Ok(tried) => {
            println!("{}: {tried} inputs, seed {seed}, nothing found", target.name());
            ExitCode::SUCCESS
        }
        Err(complaint) => {
            eprintln!("{complaint}");
            ExitCode::FAILURE
        }
    }
}
