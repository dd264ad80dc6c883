//! Engines agree: whatever the interpreter gives, machine code gives, errors and their places included.
//!
//! Here are the examples and the wrong programs that fail when they run; `differential` has generated programs.
//! `WENGERT_ENGINE=native WENGERT_STRICT=true cargo test -p wengert-tests` runs everything else in machine code too: the book, the examples, the
//! tests of the command.

use std::path::{Path, PathBuf};
use wengert_tests::command::{wengert, wengert_in};
use wengert_tests::goldens::{mode, try_program};
use wengert_tests::{parallel, project};

#[test]
fn examples_give_the_same() {
    let examples = project::files("examples", "wg");
    parallel::check_all("examples", &examples, |path| {
        let name = project::relative(path);
        let transcript = |engine: &str| wengert(&["run", &name, "--engine", engine, "--strict"]).transcript();
        let (expected, found) = (transcript("interp"), transcript("native"));
        if expected == found { Ok(()) } else { Err(format!("{name} gives\n{found}instead of\n{expected}")) }
    });
}

/// What a compiled program has no form for: functions in results. Arrays whose elements hold arrays of different sizes have another form
/// than regular ones. Rows of different sizes are refused in the input.
const PROGRAM: &str = "\
def functions (x : Real) = (\\y -> x * y, [\\z -> z + x], {f = \\y -> y, x = x})
def chosen (x : Real) = let y = x * 2.0 in if x > 0 then \\z -> z + y else \\z -> z
def records (rs : []{xs : []Real}) = map (\\r -> sum r.xs) rs
def made (n : Int) = map (\\k -> (k, build k (\\i -> real i))) (iota n)
def gradient (y : Real) = grad (\\y -> sum (map (\\(n, xs) -> y * sum xs) (map (\\n -> (n, build n (\\i -> y))) [1, 2]))) y
def rows (xs : [][][]Real) = sum (flatten (flatten xs))
def long xs = length xs
def wide xs = length (transpose xs)
def nothings (xs : [][](Int, [][]())) = map (map (\\(k, ys) -> (k + length ys, ys))) xs
";

const CALLS: &[(&str, &str)] = &[
    ("functions", "[2.0]"),
    ("chosen", "[-1.0]"),
    ("records", r#"[[{"xs": [1.0]}, {"xs": [1.0, 2.0]}]]"#),
    ("made", "[4]"),
    ("gradient", "[2.0]"),
    ("rows", "[[[[1.0]], [[2.0]]]]"),
    ("rows", "[[[[1.0], [2.0]], [[2.0, 1.0], [2.0, 1.0]]]]"),
    ("rows", "[[[], [[1.0]]]]"),
    ("long", "[[[]]]"),
    ("long", "[[[[], []], [[], []]]]"),
    ("wide", "[[[]]]"),
    ("wide", "[[[[]], [[]]]]"),
    ("nothings", "[[[[1, [[], []]]]]]"),
    ("nothings", "[[[[1, [[[], []]]]], [[2, [[[], []]]]]]]"),
];

#[test]
fn what_has_no_form_in_machine_code_gives_the_same() {
    let folder = std::env::temp_dir().join(format!("wengert-forms-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("there is room");
    std::fs::write(folder.join("forms.wg"), PROGRAM).expect("there is room");
    parallel::check_all("calls", CALLS, |(entry, input)| {
        let by = |engine: &str| {
            let call = ["run", "forms.wg", "--entry", entry, "--input", input, "--engine", engine];
            wengert_in(&folder, &call, "").without_note().transcript()
        };
        let expected = by("interp");
        for engine in ["ir", "native"] {
            let found = by(engine);
            if expected != found {
                return Err(format!("{entry} {input} gives\n{found}instead of\n{expected}"));
            }
        }
        Ok(())
    });
    let _ = std::fs::remove_dir_all(folder);
}

/// Wrong programs whose texts are about limits of the interpreter: machine code counts no steps, and differentiates these.
const OF_THE_INTERPRETER: &[&str] = &["E0715", "E0723", "E0724"];

/// A rule that gives something else than a cotangent: machine code shows the rule, the interpreter what runs it.
const AT_THE_RULE: &[&str] = &["E0722"];

fn is_one_of(path: &Path, names: &[&str]) -> bool {
    names.iter().any(|name| path.to_string_lossy().contains(name))
}

#[test]
fn programs_that_fail_fail_in_the_same_words_at_the_same_place() {
    let runs = |path: &PathBuf| {
        let mode = mode(path).unwrap_or_default();
        (mode.starts_with("eval") || mode.starts_with("run")) && !is_one_of(path, OF_THE_INTERPRETER)
    };
    let programs: Vec<PathBuf> = project::files("tests/errors", "wg").into_iter().filter(runs).collect();
    parallel::check_all("wrong programs", &programs, |path| {
        let transcript =
            |engine: &str| try_program(path, &["--engine", engine, "--strict"]).map(|ran| ran.transcript());
        let (mut expected, mut found) = (transcript("interp"), transcript("native"));
        let name = project::relative(path);
        if is_one_of(path, AT_THE_RULE) {
            let message = |text: Option<String>| text.map(|text| text.lines().take(1).collect());
            (expected, found) = (message(expected), message(found));
        }
        if expected == found {
            Ok(())
        } else {
            Err(format!("{name} gives\n{found:?}\ninstead of\n{expected:?}"))
        }
    });
}

/// How a suite of tests sees to it that all engines are put to it.
enum How {
    /// It asks `everywhere`, or names the engines itself.
    Itself,
    /// Another test puts its programs to the engines.
    By(&'static str),
    /// There is nothing to put to an engine.
    Nothing(&'static str),
}

/// All suites.
const SUITES: &[(&str, How)] = &[
    ("tests/tests/all/agreement.rs", How::Nothing("the calculi are judged by the interpreter")),
    ("tests/tests/all/audit.rs", How::Itself),
    ("tests/tests/all/book.rs", How::Itself),
    ("tests/tests/all/calculi.rs", How::Nothing("calculi")),
    ("tests/tests/all/calculi_chapter.rs", How::Nothing("calculi")),
    ("tests/tests/all/calculi_delta.rs", How::Nothing("calculi")),
    ("tests/tests/all/calculi_hostile.rs", How::Nothing("calculi")),
    ("tests/tests/all/calculi_negation.rs", How::Nothing("calculi")),
    ("tests/tests/all/calculi_perturbative.rs", How::Nothing("calculi")),
    ("tests/tests/all/calculi_pullback.rs", How::Nothing("calculi")),
    ("tests/tests/all/contract.rs", How::Itself),
    ("tests/tests/all/deep.rs", How::Itself),
    ("tests/tests/all/depth.rs", How::Itself),
    ("tests/tests/all/derivatives.rs", How::Itself),
    ("tests/tests/all/differential.rs", How::Itself),
    ("tests/tests/all/engine.rs", How::Itself),
    ("tests/tests/all/engine_c.rs", How::Itself),
    ("tests/tests/all/engine_cache.rs", How::Itself),
    ("tests/tests/all/engine_derivatives.rs", How::Itself),
    ("tests/tests/all/engine_passes.rs", How::Nothing("programs of the IR, by its evaluator")),
    ("tests/tests/all/engines.rs", How::Itself),
    ("tests/tests/all/examples.rs", How::By("examples_give_the_same")),
    ("tests/tests/all/found.rs", How::Itself),
    ("tests/tests/all/functionals.rs", How::Itself),
    ("tests/tests/all/fuzz.rs", How::Nothing("texts that are no programs, mostly")),
    ("tests/tests/all/generated.rs", How::By("every_engine_gives_the_same")),
    ("tests/tests/all/goldens.rs", How::By("programs_that_fail_fail_in_the_same_words_at_the_same_place")),
    ("tests/tests/all/gradbench.rs", How::Itself),
    ("tests/tests/all/growth.rs", How::Nothing("calculi")),
    ("tests/tests/all/kernels.rs", How::Itself),
    ("tests/tests/all/large.rs", How::Itself),
    ("tests/tests/all/libraries.rs", How::Itself),
    ("tests/tests/all/limits.rs", How::Itself),
    ("tests/tests/all/nested.rs", How::Itself),
    ("tests/tests/all/pages.rs", How::Nothing("generated pages")),
    ("tests/tests/all/failures.rs", How::Itself),
    ("tests/tests/all/ragged.rs", How::Itself),
    ("tests/tests/all/rules.rs", How::Itself),
    ("tests/tests/all/mixed.rs", How::Itself),
    ("tests/tests/all/series.rs", How::Itself),
    ("tests/tests/all/opened.rs", How::Itself),
    ("tests/tests/all/shared.rs", How::Itself),
    ("tests/tests/all/supposed.rs", How::Itself),
    ("tests/tests/all/sparse.rs", How::Itself),
    ("tests/tests/all/spatial.rs", How::Itself),
    ("tests/tests/all/stencils.rs", How::Itself),
    ("tests/tests/all/updates.rs", How::Itself),
    ("tests/tests/all/remade.rs", How::Itself),
    ("tests/tests/all/turned.rs", How::Itself),
    ("tests/tests/all/strict.rs", How::Itself),
    ("tests/tests/all/exact.rs", How::Itself),
    ("tests/tests/all/threads.rs", How::Itself),
    ("tests/tests/all/tidy.rs", How::Nothing("the files of the project")),
    ("crates/ad/tests", How::Nothing("programs of the IR, by its evaluator")),
    ("crates/cli/tests", How::Itself),
    ("crates/core/tests", How::Nothing("the text form of the core")),
    ("crates/driver/tests", How::Itself),
    ("crates/gen/tests", How::Nothing("the generator")),
    ("crates/interp/tests", How::Nothing("programs in the core's text form, which no engine is given")),
    ("crates/prim/tests", How::Nothing("rules, with no evaluator")),
    ("crates/syntax/tests", How::Nothing("syntax")),
    ("crates/vmath/tests", How::Nothing("vector math")),
];

/// The suites that there are: files of the one program, and the folders of the other crates.
fn suites() -> Vec<PathBuf> {
    let root = project::root();
    let entries = |folder: &Path| -> Vec<PathBuf> {
        let found = std::fs::read_dir(folder).map(|entries| entries.flatten().map(|entry| entry.path()));
        found.map(Iterator::collect).unwrap_or_default()
    };
    let own = entries(&root.join("tests/tests/all"));
    let own = own.into_iter().filter(|path| path.is_file() && !path.ends_with("main.rs"));
    let crates = entries(&root.join("crates")).into_iter().map(|path| path.join("tests"));
    own.chain(crates.filter(|path| path.is_dir())).collect()
}

/// All files of a suite: those of a folder, or the file and those of the folder beside it.
fn files(suite: &Path) -> Vec<PathBuf> {
    let folder = suite.with_extension("");
    let inside = if folder.is_dir() { project::files(&project::relative(&folder), "rs") } else { Vec::new() };
    suite.is_file().then(|| suite.to_path_buf()).into_iter().chain(inside).collect()
}

#[test]
fn every_suite_is_put_to_every_engine_or_says_why_not() {
    let mut wrong = Vec::new();
    let texts = |suite: &Path| -> String {
        files(suite).iter().map(|file| std::fs::read_to_string(file).expect("tests can be read")).collect()
    };
    let all: String = suites().iter().map(|path| texts(path)).collect();
    for path in suites() {
        let name = project::relative(&path);
        let words = ["everywhere", "Engine::", "--engine", "wengert_engine"];
        let fine = match SUITES.iter().find(|(known, _)| *known == name).map(|(_, how)| how) {
            Some(How::Itself) => words.iter().any(|word| texts(&path).contains(word)),
            Some(How::By(test)) => all.contains(&format!("fn {test}()")),
            Some(How::Nothing(why)) => !why.is_empty(),
            None => false,
        };
        if !fine {
            wrong.push(name);
        }
    }
    assert!(wrong.is_empty(), "not put to every engine: {wrong:?}");
    let gone = SUITES.iter().filter(|(name, _)| !project::root().join(name).exists());
    assert_eq!(gone.count(), 0, "the list names suites that there are");
}
