//! The fuzz targets, some seconds each, side by side, each in a process of its own: an overflow of the stack or a hang is then
//! a failure with its input like any other. `WENGERT_FUZZ_SECONDS` sets another time, `WENGERT_FUZZ_SEED` other inputs.

use std::process::Command;
use wengert_tests::fuzz::{HUNG, Target, current_file};
use wengert_tests::parallel;

#[test]
fn no_input_breaks_parser_checker_or_interpreter() {
    let setting = |name: &str, default: &str| std::env::var(name).unwrap_or_else(|_| default.to_string());
    let seconds = setting("WENGERT_FUZZ_SECONDS", "8");
    let seed = setting("WENGERT_FUZZ_SEED", "1");
    let workers: Vec<_> = Target::ALL
        .into_iter()
        .map(|target| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_fuzz"));
            command.args([target.name(), "--seconds", &seconds, "--seed", &seed]);
            (target, std::thread::spawn(move || command.output()))
        })
        .collect();
    let mut complaints = Vec::new();
    for (target, worker) in workers {
        let output = worker.join().expect("waiting does not panic").expect("the fuzzer can be started");
        let said = String::from_utf8_lossy(&output.stderr);
        let file = current_file(target);
        let input = || String::from_utf8_lossy(&std::fs::read(&file).unwrap_or_default()).into_owned();
        match output.status.code() {
            Some(0) => println!("{}", String::from_utf8_lossy(&output.stdout).trim()),
            Some(1) => complaints.push(said.into_owned()),
            Some(HUNG) => {
                complaints.push(format!("{} hangs; input {}:\n{}", target.name(), file.display(), input()))
            }
            _ => complaints.push(format!(
                "{} kills the process ({}); input {}:\n{}\n{said}",
                target.name(),
                output.status,
                file.display(),
                input().chars().take(2000).collect::<String>()
            )),
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n\n"));
}

/// The fuzzers would be of little use if they took no notice of a failure: each check must see a broken promise.
#[test]
fn the_corpus_itself_passes_every_target() {
    let mut texts: Vec<String> = Vec::new();
    for folder in ["lib", "examples", "tests/errors"] {
        texts.extend(
            wengert_tests::project::files(folder, "wg").iter().map(|path| wengert_tests::project::read(path)),
        );
    }
    for target in Target::ALL {
        parallel::check_all(target.name(), &texts, |text| {
            target.check(text).map_err(|complaint| format!("{complaint}\n--- input\n{text}"))
        });
    }
}
