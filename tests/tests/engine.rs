//! The engine: every example, the code in the book, and generated programs go through the lowering to the array IR and
//! are verified there.

use std::path::Path;
use wengert_base::SourceId;
use wengert_driver::Session;
use wengert_tests::project;

/// The program of an expression in the scope of a file, in the IR.
fn lowered(text: &str, file: Option<&Path>) -> Result<wengert_lower::Lowered, String> {
    let mut session = Session::new();
    let messages = |errors: Vec<wengert_base::Diagnostic>| -> String {
        errors.iter().map(|error| format!("{}: {}\n", error.code, error.message)).collect()
    };
    let (program, _) = session.simple(text, file).map_err(messages)?;
    let lowered = wengert_lower::lower(&program, &|_: SourceId| false).map_err(messages)?;
    if let Err(errors) = wengert_ir::verify(&lowered.program) {
        let errors: String = errors.iter().take(8).map(|error| format!("{error}\n")).collect();
        return Err(format!("{errors}\n{}", wengert_ir::print(&lowered.program)));
    }
    Ok(lowered)
}

#[test]
fn try_it() {
    let Ok(text) = std::env::var("WENGERT_TRY") else { return };
    let file = std::env::var("WENGERT_FILE").ok();
    match lowered(&text, file.as_deref().map(Path::new)) {
        Ok(lowered) => println!("{}", wengert_ir::print(&lowered.program)),
        Err(error) => println!("{error}"),
    }
}

#[test]
fn every_example_is_lowered() {
    let mut failed = Vec::new();
    let examples = project::files("examples", "wg");
    for file in &examples {
        if let Err(error) = lowered("main", Some(file)) {
            failed.push(format!("{}:\n{error}", project::relative(file)));
        }
    }
    println!("{} of {} examples are lowered", examples.len() - failed.len(), examples.len());
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
