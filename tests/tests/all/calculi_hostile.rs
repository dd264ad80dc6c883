//! Input that means no good, to every calculus: text that is no term, terms that are too long or too deep, types and terms
//! that explode. Each ends soon, with a message or a value, in bounded memory, and nothing panics.
//!
//! Memory is bounded by the shell's `ulimit`: a program that wants more is ended by a signal, and that is a failure.

use std::path::Path;
use std::time::{Duration, Instant};
use wengert_calculi::systems;
use wengert_tests::command::{Ran, shell_in};
use wengert_tests::{parallel, project};

/// A run may take so long, on a busy machine and without optimization.
const PATIENCE: Duration = Duration::from_secs(60);
/// A run may write so much.
const FLOOD: usize = 16_000_000;
/// A run may use so much memory, in KiB.
const MEMORY: u64 = 2 << 20;

/// The four things to do with a term.
const VERBS: [&str; 4] = ["check", "step", "reduce", "translate"];

/// Runs a command with bounded memory; complains if it ends badly.
fn try_command(folder: &Path, line: &str) -> Result<Ran, String> {
    let start = Instant::now();
    let ran =
        shell_in(folder, &format!("ulimit -v {MEMORY}; exec timeout {} wengert {line}", PATIENCE.as_secs()));
    let what = if ran.status > 1 {
        format!("exit status {}", ran.status)
    } else if ran.stderr.contains("panicked") || ran.stderr.contains("internal error") {
        "it broke".to_string()
    } else if start.elapsed() > PATIENCE {
        format!("it took {} s", start.elapsed().as_secs())
    } else if ran.stdout.len() + ran.stderr.len() > FLOOD {
        format!("it wrote {} bytes", ran.stdout.len() + ran.stderr.len())
    } else if ran.status == 1 && !ran.stderr.contains("error[E") {
        "it failed without a message".to_string()
    } else {
        return Ok(ran);
    };
    let message: String = ran.stderr.chars().take(600).collect();
    Err(format!("{line}: {what}\n{message}"))
}

/// Texts that no calculus should stumble over, by name.
fn texts() -> Vec<(&'static str, Vec<u8>)> {
    let many = 30_000;
    let lets = |item: &dyn Fn(usize) -> String, n: usize, end: &str| {
        let lets: String = (0..n).map(|i| format!("let x{} = {} in ", i + 1, item(i))).collect();
        format!("let x0 = 1 in {lets}{end}")
    };
    let texts: Vec<(&'static str, String)> = vec![
        ("empty", String::new()),
        ("blank", "\n\t  \n".into()),
        ("zeros", "\0".repeat(1000)),
        ("controls", (0..32u8).map(char::from).collect()),
        ("open", "(".repeat(many)),
        ("closed", ")".repeat(many)),
        ("parentheses", format!("{}1{}", "(".repeat(many), ")".repeat(many))),
        ("lambdas", format!("{}x", "λx. ".repeat(many))),
        ("some_lambdas", format!("{}x", "λx. ".repeat(1500))),
        ("application", "f ".repeat(many)),
        ("sum", vec!["1"; many].join(" + ")),
        ("product", vec!["1"; many].join(" · ")),
        ("pairs", format!("{}1{}", "⟨".repeat(many), ", 1⟩".repeat(many))),
        ("lets", lets(&|_| "1".into(), many, "x1")),
        ("nested_lets", format!("{}1{}", "let x = ".repeat(1500), " in x".repeat(1500))),
        ("doubling_tuples", lets(&|i| format!("(x{i}, x{i})"), 60, "x60")),
        ("doubling_pairs", lets(&|i| format!("⟨x{i}, x{i}⟩"), 60, "x60")),
        ("doubling_sums", lets(&|i| format!("x{i} + x{i}"), 60, "x60")),
        ("doubling_redexes", (0..60).fold("1".to_string(), |term, _| format!("(λx. ⟨x, x⟩) ({term})"))),
        (
            "doubling_substitutions",
            (0..60).fold("x0".to_string(), |term, i| format!("{term}[x{i} := ⟨x{}, x{}⟩]", i + 1, i + 1)),
        ),
        ("tower", format!("{} (λx. x + 1) 0", ["(λf. λx. f (f x))"; 6].join(" "))),
        (
            "typed_tower",
            "(λf:!(!(!(!R → R) → !R → R) → !(!R → R) → !R → R). λx:!(!(!R → R) → !R → R). f (f x)) \
             (λf:!(!(!R → R) → !R → R). λx:!(!R → R). f (f x)) (λf:!(!R → R). λx:!R. f (f x)) (λy:!R. sin(y)) 0.5"
                .into(),
        ),
        ("self_application", "(λx. x x) (λx. x x)".into()),
        ("endless", "letrec f = λx. f x in f 1.0".into()),
        ("endless_and_growing", "letrec f = λx. f (x + 1.0) + f x in f 1.0".into()),
        ("huge_array", "build 1000000000 (λi. 1.0)".into()),
        ("long_number", "1".repeat(100_000)),
        ("large_exponent", "1e999999999999999999".into()),
        ("small_exponent", "1e-999999999999999999".into()),
        ("large_power", "(λx. x^99999999999999999999) 2".into()),
        ("minus_signs", format!("{}1", "-".repeat(many))),
        ("long_name", "x".repeat(300_000)),
        ("pushforwards", format!("{} sin", "T ".repeat(many))),
        ("some_pushforwards", format!("{} sin", "T ".repeat(25))),
        ("long_list", format!("[{}] (λx. λy. x + y) 0", vec!["1"; 10_000].join(", "))),
    ];
    let mut texts: Vec<(&'static str, Vec<u8>)> =
        texts.into_iter().map(|(name, text)| (name, text.into_bytes())).collect();
    texts.push(("binary", (0..20_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect()));
    texts
}

#[test]
fn no_text_breaks_a_calculus() {
    let folder = project::scratch("hostile-terms");
    let mut lines = Vec::new();
    for (name, text) in texts() {
        std::fs::write(folder.join(name), text).expect("a scratch folder can be written");
        for system in systems() {
            lines.extend(VERBS.map(|verb| format!("calculus {} {verb} {name}", system.name())));
        }
    }
    parallel::check_all("runs", &lines, |line| try_command(&folder, line).map(|_| ()));
}

/// Programs that end, or grow, or fail, in ways that a translation might not expect.
fn programs() -> Vec<(&'static str, String)> {
    let lets = |item: &dyn Fn(usize) -> String, n: usize| {
        let lets: String = (0..n).map(|i| format!("let x{} = {} in ", i + 1, item(i))).collect();
        format!("grad (\\x0 -> {lets}x{n}) 1.0")
    };
    let pairs: String = (0..25).map(|i| format!("let x{} = (x{i}, x{i}) in ", i + 1)).collect();
    vec![
        ("endless", r"let rec f x = f (x + 1.0) in grad (\x -> f x) 1.0".into()),
        ("endless_and_growing", r"let rec f x = f x + f (x + 1.0) in grad f 1.0".into()),
        ("endless_loop", r"while_loop (\x -> true) (\x -> x) 0".into()),
        ("deep", r"let rec f n x = if n == 0 then x else sin (f (n - 1) x) in grad (f 1000000) 1.0".into()),
        ("tower", format!("grad (\\x -> ({} sin) x) 0.5", ["(\\f y -> f (f y))"; 5].join(" "))),
        ("doubling_pairs", format!("grad (\\x0 -> {pairs}1.0) 1.0")),
        ("doubling_products", lets(&|i| format!("x{i} * x{i}"), 900)),
        ("long_sum", format!("grad (\\x -> {}) 1.0", vec!["x"; 1900].join(" + "))),
        (
            "long_array",
            format!("grad (\\x -> sum (map (\\a -> a * x) [{}])) 1.0", vec!["1.0"; 300].join(", ")),
        ),
        ("huge_array", r"grad (\x -> sum (generate 1000000000 (\i -> x))) 1.0".into()),
        ("large_power", r"grad (\x -> x ^ 1000000000) 1.0".into()),
        ("large_integer", r"grad (\x -> x * real 9223372036854775807) 1.0".into()),
        ("outside", r"grad (\xs -> xs[5]) [1.0]".into()),
        ("by_zero", r"grad (\x -> x * real (1 / 0)) 1.0".into()),
        ("failing", "grad (\\x -> fail \"no\") 1.0".into()),
        ("nested", format!("{}(\\x -> sin x * x){} 1.0", "grad (".repeat(5), ")".repeat(5))),
        ("taylor", "taylor 300 sin 1.0".into()),
        ("no_number", r"grad sqrt (0.0 - 1.0)".into()),
        ("function", r"\x -> x".into()),
        ("text", "\"a\" ++ \"b\"".into()),
        ("nothing", "()".into()),
    ]
}

#[test]
fn no_program_breaks_a_calculus() {
    let folder = project::scratch("hostile-programs");
    let mut lines = Vec::new();
    for (name, program) in programs() {
        // The expression is in the file, since a command line has no room for a long one.
        project::write(&folder.join(format!("{name}.wg")), &format!("def it = {program}\n"));
        for system in systems() {
            // Once with the limits that hold if none are given.
            for options in
                ["--steps 3", "--max-steps 20K --json --steps 2", "--max-steps 20K --steps 0 --svg /dev/null"]
            {
                lines.push(format!("trace it --file {name}.wg --in {} {options}", system.name()));
            }
        }
    }
    parallel::check_all("runs", &lines, |line| try_command(&folder, line).map(|_| ()));
}

#[test]
fn limits_are_kept_and_named() {
    let folder = project::scratch("hostile-limits");
    let program = "'grad (\\x -> sin (x * x)) 1.0'";
    for system in systems() {
        let name = system.name();
        let stopped = |limit: &str| {
            let ran = try_command(&folder, &format!("trace {program} --in {name} {limit}"))
                .unwrap_or_else(|complaint| panic!("{complaint}"));
            assert_eq!(ran.status, 1, "{}", ran.transcript());
            ran
        };
        let ran = stopped("--max-steps 3");
        assert!(ran.stderr.contains("E0984") && ran.stderr.contains("after 3 steps"), "{}", ran.transcript());
        assert!(ran.stdout.contains("\nstopped at "), "{}", ran.transcript());
        let ran = stopped("--max-size 5");
        assert!(
            ran.stderr.contains("E0984") && ran.stderr.contains("more than 5 nodes"),
            "{}",
            ran.transcript()
        );
        let ran = stopped("--max-steps 3 --json");
        assert!(ran.stdout.contains("\"stopped\": \"steps\""), "{}", ran.transcript());
    }
}

#[test]
fn texts_that_are_no_text_are_refused() {
    let folder = project::scratch("hostile-files");
    std::fs::write(folder.join("no-text"), [0xff, 0xfe, 0x41]).expect("a scratch folder can be written");
    for system in systems() {
        let name = system.name();
        let cases = [("no-text", "E0802"), ("- < no-text", "E0802"), (".", "E0801"), ("nowhere", "E0801")];
        for (file, code) in cases {
            let ran = try_command(&folder, &format!("calculus {name} check {file}"))
                .unwrap_or_else(|complaint| panic!("{complaint}"));
            assert!(ran.status == 1 && ran.stderr.contains(code), "{file}: {}", ran.transcript());
        }
    }
}
