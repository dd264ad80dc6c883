//! The engine: every example, the code in the book, and generated programs go through the lowering to the array IR, and
//! what comes out is well formed.

use arbitrary::Unstructured;
use std::path::Path;
use wengert_base::{Diagnostic, SourceId};
use wengert_core::Program as Core;
use wengert_driver::Session;
use wengert_gen::{Config, gen_program, gen_value};
use wengert_lower::Lowered;
use wengert_mono::{bridge::bridge, simple, simple_check, simple_show};
use wengert_tests::{parallel, project};

fn messages(errors: &[Diagnostic]) -> String {
    errors.iter().map(|error| format!("{}: {}\n", error.code, error.message)).collect()
}

/// The program in the IR, verified.
fn verified(program: &simple::Program) -> Result<Lowered, String> {
    let simplified = wengert_lower::simplify(program, &|_: SourceId| false);
    let errors = simple_check::check(&simplified);
    if !errors.is_empty() {
        return Err(format!("{errors:#?}\n{}", simple_show::show(&simplified)));
    }
    let lowered = wengert_lower::lower(program, &|_: SourceId| false).map_err(|errors| messages(&errors))?;
    if let Err(errors) = wengert_ir::verify(&lowered.program) {
        let errors: String = errors.iter().take(8).map(|error| format!("{error}\n")).collect();
        return Err(format!("{errors}\n{}", wengert_ir::print(&lowered.program)));
    }
    Ok(lowered)
}

/// The program of an expression in the scope of a file.
fn of_expression(text: &str, file: Option<&Path>) -> Result<simple::Program, String> {
    let (program, _) = Session::new().simple(text, file).map_err(|errors| messages(&errors))?;
    Ok(program)
}

/// The program of the definition `it` in a module.
fn of_module(text: &str) -> Result<simple::Program, String> {
    let report = Session::new().check_text("generated.wg", text, Path::new("."));
    if report.has_errors() {
        return Err(messages(&report.diagnostics));
    }
    let mut linked = Core::default();
    for module in &report.modules {
        linked.types.extend(module.program.types.clone());
        linked.defs.extend(module.program.defs.clone());
    }
    let own = report.modules.last().and_then(|module| {
        module.program.defs.keys().find(|name| name.as_str().rsplit('.').next() == Some("it")).copied()
    });
    let it = own.ok_or("the module has no `it`")?;
    bridge(&linked, it).map_err(|errors| messages(&errors))
}

#[test]
fn try_it() {
    let Ok(text) = std::env::var("WENGERT_TRY") else { return };
    let file = std::env::var("WENGERT_FILE").ok();
    match of_expression(&text, file.as_deref().map(Path::new)).and_then(|program| {
        println!("{}\n", wengert_mono::simple_show::show(&wengert_lower::simplify(&program, &|_| false)));
        verified(&program)
    }) {
        Ok(lowered) => println!("{}", wengert_ir::print(&lowered.program)),
        Err(error) => println!("{error}"),
    }
}

#[test]
fn every_example_is_lowered() {
    let mut failed = Vec::new();
    let examples = project::files("examples", "wg");
    for file in &examples {
        let lowered = of_expression("main", Some(file)).and_then(|program| verified(&program));
        if let Err(error) = lowered {
            failed.push(format!("{}:\n{error}", project::relative(file)));
        }
    }
    println!("{} of {} examples are lowered", examples.len() - failed.len(), examples.len());
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Bytes that look random, the same for each seed.
fn bytes(seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..256 + (seed as usize * 2617) % 30_000).map(|_| next()).collect()
}

/// Expressions about the entry of a generated program at a point.
const EXPRESSIONS: &[&str] = &[
    "entry x",
    "let (y, dy) = jvp entry (x, x) in (show y, ravel dy, y == y)",
    "let (y, back) = vjp entry x in (back y, y)",
    "let (y, forward) = linearize entry x in (inner (forward x) y, add y (scale 2.0 (zero y)))",
    "grad (\\x -> norm_squared (grad (\\x -> norm_squared (entry x)) x)) x",
];

#[test]
fn generated_programs_are_lowered() {
    let cases = std::env::var("WENGERT_PROPERTY_CASES").ok().and_then(|text| text.parse().ok());
    let seeds: Vec<u64> = (0..cases.unwrap_or(60)).collect();
    let failures = parallel::map(&seeds, |seed| {
        let config = if seed % 2 == 0 { Config::default() } else { Config::smooth() };
        let bytes = bytes(*seed);
        let (for_input, for_program) = bytes.split_at(128);
        let program = gen_program(&mut Unstructured::new(for_program), &config).expect("there are bytes");
        let mut input = Unstructured::new(for_input);
        let point = gen_value(&mut input, &program.arg_type, program.decls());
        let point = point.expect("there are bytes").expect("entries take first-order values");
        for expression in EXPRESSIONS {
            let text = format!("{}\ndef it = let x = {} in {expression}\n", program.text(), point.text());
            if let Err(error) = of_module(&text).and_then(|program| verified(&program)) {
                return Some(format!("seed {seed}, {expression}: {error}\n{text}"));
            }
        }
        None
    });
    let failed: Vec<String> = failures.into_iter().flatten().collect();
    println!("{} of {} generated programs are lowered", seeds.len() - failed.len(), seeds.len());
    assert!(failed.is_empty(), "{} fail; the first:\n{}", failed.len(), failed[0]);
}
