//! The architecture and the rules of the house, as tests: the crate graph, what each crate may touch, the size of files
//! and functions, and that pages, commands and tests which speak of each other do exist.
//!
//! Each list of exceptions gives a reason for each entry and may only shrink: an entry that is no longer needed is an
//! error.
#![expect(clippy::indexing_slicing, reason = "a test that leaves its range fails, as it should")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use wengert_tests::project::{all_files, files, read, relative, root};

/// The crate graph, complete. `ARCHITECTURE.md` draws it; whoever changes one changes the other.
const ALLOWED: &[(&str, &[&str])] = &[
    ("base", &[]),
    ("prim", &["base"]),
    ("fault", &["base"]),
    ("syntax", &["base"]),
    ("core", &["base", "prim"]),
    ("check", &["base", "prim", "syntax", "core"]),
    ("mono", &["base", "prim", "core"]),
    ("calculi", &["base", "prim", "core", "mono"]),
    ("interp", &["base", "prim", "core", "fault"]),
    ("ir", &["base", "prim", "fault"]),
    ("lower", &["base", "prim", "core", "mono", "ir"]),
    ("ad", &["base", "prim", "ir"]),
    ("gen", &["base", "prim", "syntax"]),
    ("opt", &["base", "prim", "ir"]),
    ("vmath", &["prim"]),
    ("native", &["base", "prim", "fault", "ir", "vmath"]),
    ("c", &["base", "prim", "ir", "native", "vmath"]),
    ("engine", &["base", "mono", "ir", "lower", "ad", "opt", "native", "c"]),
    (
        "driver",
        &["base", "prim", "syntax", "core", "check", "interp", "mono", "calculi", "fault", "ir", "engine"],
    ),
    ("cli", &["base", "driver"]),
    ("gradbench", &["base", "driver"]),
    (
        "tests",
        &[
            "base", "prim", "syntax", "core", "check", "interp", "mono", "calculi", "ir", "lower", "ad",
            "opt", "gen", "driver",
        ],
    ),
];

/// What a crate's own tests use beyond that. The interpreter is the oracle: not even its tests know the checker.
const ALLOWED_IN_TESTS: &[(&str, &[&str])] = &[("c", &["fault"])];

/// The crates that may read and write files and start programs.
const MAY_DO_IO: &[&str] = &["driver", "cli", "gradbench"];

const FILE_CAP: usize = 600;
const FUNCTION_CAP: usize = 60;

/// Files above the cap, each with its reason.
const LONG_FILES: &[(&str, &str)] = &[];

/// Functions above the cap: `file::function` and the reason. A flat `match` with a line or two for each case is one.
const LONG_FUNCTIONS: &[(&str, &str, &str)] = &[
    ("crates/check/src/finish.rs", "term_kind", "a case for each kind of node, which becomes a term"),
    ("crates/interp/src/machine/instructions.rs", "execute", "a case for each instruction"),
    (
        "crates/interp/src/machine/instructions.rs",
        "construct",
        "a case for each instruction that makes a value",
    ),
    ("crates/fault/src/words.rs", "message", "a line or two for each fault"),
    ("crates/fault/src/words.rs", "help", "a line or two for each fault"),
    ("crates/ir/src/eval/array.rs", "array_op", "a case for each array operation"),
    ("crates/ir/src/typing.rs", "op", "a case for each operation: one typing rule each"),
    ("crates/ir/src/typing/array.rs", "array", "a case for each array operation: one typing rule each"),
    ("crates/ad/src/linear.rs", "lin", "a case for each kind of linear statement"),
    ("crates/ad/src/tidy.rs", "is_harmless", "a case for each kind of operation"),
    ("crates/ad/src/transpose/arrays.rs", "array", "a case for each array operation"),
    ("crates/c/src/body/expr.rs", "expr", "a case for each kind of value"),
    ("crates/calculi/src/delta/types.rs", "node", "a case for each kind of term: one typing rule each"),
    ("crates/calculi/src/pullback/from_core/arrays.rs", "array_prim", "a case for each array operation"),
];

/// The modules of `base`, which is not to become a drawer for everything.
const BASE_MODULES: &[&str] = &["codes", "diagnostic", "name", "real", "scan", "source", "text"];

#[test]
fn dependencies_match_the_table() {
    let (normal, development) = workspace_graph();
    let table = |rows: &[(&str, &[&str])]| -> BTreeMap<String, BTreeSet<String>> {
        rows.iter()
            .map(|(name, uses)| (name.to_string(), uses.iter().map(ToString::to_string).collect()))
            .collect()
    };
    let allowed = table(ALLOWED);
    assert_eq!(
        normal.keys().collect::<Vec<_>>(),
        allowed.keys().collect::<Vec<_>>(),
        "the crates changed: edit ALLOWED and ARCHITECTURE.md together"
    );
    for (name, uses) in &normal {
        let extra: Vec<_> = uses.difference(&allowed[name]).collect();
        assert!(
            extra.is_empty(),
            "{name} uses {extra:?}: edit ALLOWED and ARCHITECTURE.md together, or do without"
        );
    }
    let in_tests = table(ALLOWED_IN_TESTS);
    for (name, uses) in &development {
        let own = in_tests.get(name).cloned().unwrap_or_default();
        let extra: Vec<_> = uses.difference(&allowed[name]).filter(|used| !own.contains(*used)).collect();
        assert!(extra.is_empty(), "the tests of {name} use {extra:?}, which ALLOWED_IN_TESTS does not grant");
    }
}

#[test]
fn interp_knows_neither_syntax_nor_check() {
    let (normal, development) = workspace_graph();
    for graph in [&normal, &development] {
        for forbidden in ["syntax", "check", "driver", "gen"] {
            assert!(!graph["interp"].contains(forbidden), "the oracle uses {forbidden}");
        }
    }
}

/// For each crate the crates of this project that it uses, normally and in its tests.
fn workspace_graph() -> (BTreeMap<String, BTreeSet<String>>, BTreeMap<String, BTreeSet<String>>) {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root())
        .output()
        .expect("cargo runs, for it runs this test");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let short = |value: &serde_json::Value| {
        value.as_str().map(|name| name.trim_start_matches("wengert-").to_string())
    };
    let (mut normal, mut development) = (BTreeMap::new(), BTreeMap::new());
    for package in metadata["packages"].as_array().expect("there are packages") {
        let name = short(&package["name"]).expect("a package has a name");
        let uses: &mut BTreeSet<String> = normal.entry(name.clone()).or_default();
        let in_tests: &mut BTreeSet<String> = development.entry(name).or_default();
        for dependency in package["dependencies"].as_array().expect("there is a list") {
            if dependency["path"].is_string() {
                let kind = if dependency["kind"].is_null() { &mut *uses } else { &mut *in_tests };
                kind.extend(short(&dependency["name"]));
            }
        }
    }
    (normal, development)
}

#[test]
fn base_has_only_its_modules() {
    let mut found: Vec<String> = files("crates/base/src", "rs")
        .iter()
        .map(|path| relative(path).trim_start_matches("crates/base/src/").trim_end_matches(".rs").to_string())
        .filter(|name| name != "lib")
        .collect();
    found.sort();
    assert_eq!(found, BASE_MODULES, "what only one crate needs belongs to that crate");
}

#[test]
fn every_crate_has_the_lints_of_the_workspace() {
    for manifest in
        all_files().iter().filter(|path| path.ends_with("Cargo.toml") && path.parent() != Some(root()))
    {
        let text = read(manifest);
        assert!(text.contains("[lints]\nworkspace = true"), "{} sets its own lints", relative(manifest));
        assert!(text.contains("description = \""), "{} has no description", relative(manifest));
    }
}

/// All Rust files of the project.
fn rust_files() -> Vec<(String, String)> {
    let found: Vec<(String, String)> = all_files()
        .iter()
        .filter(|path| path.extension().is_some_and(|e| e == "rs"))
        .map(|path| (relative(path), read(path)))
        .collect();
    assert!(found.len() > 30, "the Rust files were not found");
    found
}

/// The part of a file before its unit tests.
fn without_tests(text: &str) -> &str {
    text.find("#[cfg(test)]\nmod ").map_or(text, |end| &text[..end])
}

/// The code of a line, without a comment at its end.
fn code_of(line: &str) -> &str {
    line.find("//").map_or(line, |start| &line[..start])
}

/// Whether a file holds only tests, or a program for those who work on the crate.
fn is_test_file(name: &str) -> bool {
    let folders = ["/tests/", "/theorems/", "/examples/"];
    let ends = ["/tests.rs", "/theorems.rs", "/documentation.rs"];
    folders.iter().any(|folder| name.contains(folder)) || ends.iter().any(|end| name.ends_with(end))
}

#[test]
fn every_file_opens_by_explaining_itself() {
    let silent: Vec<String> = rust_files()
        .into_iter()
        .filter(|(_, text)| !text.starts_with("//! "))
        .map(|(name, _)| name)
        .collect();
    assert!(silent.is_empty(), "these files do not open with `//!`: {silent:?}");
}

#[test]
fn no_file_is_too_long() {
    let long: Vec<(String, usize)> = rust_files()
        .into_iter()
        .filter(|(name, _)| !is_test_file(name))
        .map(|(name, text)| (name, without_tests(&text).lines().count()))
        .filter(|(_, lines)| *lines > FILE_CAP)
        .collect();
    let found: Vec<&str> = long.iter().map(|(name, _)| name.as_str()).collect();
    let listed: Vec<&str> = LONG_FILES.iter().map(|(name, _)| *name).collect();
    let new: Vec<&(String, usize)> =
        long.iter().filter(|(name, _)| !listed.contains(&name.as_str())).collect();
    assert!(new.is_empty(), "files above {FILE_CAP} lines without tests: {new:?}");
    let stale: Vec<&&str> = listed.iter().filter(|name| !found.contains(name)).collect();
    assert!(stale.is_empty(), "LONG_FILES lists files that are no longer long: {stale:?}");
}

#[test]
fn no_function_is_too_long() {
    let mut long = Vec::new();
    for (name, text) in rust_files().iter().filter(|(name, _)| !is_test_file(name)) {
        for (function, lines) in functions(without_tests(text)) {
            if lines > FUNCTION_CAP {
                long.push((name.clone(), function, lines));
            }
        }
    }
    let listed =
        |file: &str, function: &str| LONG_FUNCTIONS.iter().any(|(f, g, _)| *f == file && *g == function);
    let new: Vec<_> = long.iter().filter(|(file, function, _)| !listed(file, function)).collect();
    assert!(new.is_empty(), "functions above {FUNCTION_CAP} lines: {new:#?}");
    let stale: Vec<_> = LONG_FUNCTIONS
        .iter()
        .filter(|(file, function, _)| !long.iter().any(|(f, g, _)| f == file && g == function))
        .collect();
    assert!(stale.is_empty(), "LONG_FUNCTIONS lists functions that are no longer long: {stale:?}");
}

/// The functions of a file as rustfmt lays them out, each with its number of lines: a function ends at the brace that
/// stands as far to the right as its first line does.
fn functions(text: &str) -> Vec<(String, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let Some(name) = function_name(line) else { continue };
        let indent = &line[..line.len() - line.trim_start().len()];
        let end = format!("{indent}}}");
        let one_line = line.ends_with('}') || line.ends_with(';');
        let brace = lines[start..].iter().position(|line| **line == end).filter(|_| !one_line);
        let last = start + brace.unwrap_or(0);
        found.push((name.to_string(), last - start + 1));
    }
    found
}

fn function_name(line: &str) -> Option<&str> {
    let code = line.trim_start();
    let before = code.find("fn ")?;
    let words = code[..before].split_whitespace();
    let prefix = |word: &str| {
        matches!(word, "pub" | "const" | "async" | "unsafe" | "extern" | "default")
            || word.starts_with("pub(")
    };
    if code.starts_with("//")
        || !words.clone().all(|word| prefix(word) || word == "in" || word.ends_with(')'))
    {
        return None;
    }
    let name = &code[before + 3..];
    let end = name.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    (end > 0).then(|| &name[..end])
}

#[test]
fn functions_are_measured_as_rustfmt_lays_them_out() {
    let text = "fn a() {\n    x;\n}\nimpl B {\n    pub(crate) fn b(\n        x: u8,\n    ) -> u8 {\n        x\n    }\n\n    \
                fn c() {}\n}\n// fn d() {\nlet f = |fn_: u8| 1;\n";
    assert_eq!(functions(text), [("a".to_string(), 3), ("b".to_string(), 5), ("c".to_string(), 1)]);
}

#[test]
fn only_the_driver_and_the_command_touch_the_world() {
    let words = ["std::fs", "std::process", "std::net", "std::env", "std::io::std", "File::open", "println!"];
    let mut found = Vec::new();
    for (name, text) in rust_files() {
        let crate_name = name.strip_prefix("crates/").and_then(|rest| rest.split('/').next());
        let Some(crate_name) = crate_name else { continue };
        if MAY_DO_IO.contains(&crate_name) || is_test_file(&name) {
            continue;
        }
        for line in without_tests(&text).lines() {
            if words.iter().any(|word| code_of(line).contains(word)) {
                found.push(format!("{name}: {}", line.trim()));
            }
        }
    }
    assert!(found.is_empty(), "input and output belong to the driver and the command:\n{}", found.join("\n"));
}

#[test]
fn only_the_native_back_end_is_unsafe() {
    let keyword = concat!("un", "safe ");
    for (name, text) in rust_files() {
        for line in text.lines() {
            let code = code_of(line);
            let stands_alone = code.split('"').step_by(2).any(|part| part.contains(keyword));
            let may = name.ends_with("tidy.rs") || name.starts_with("crates/native/src/");
            assert!(!stands_alone || may, "{name}: {line}");
        }
    }
}

#[test]
fn no_file_says_what_the_house_forbids() {
    let forbidden = [
        concat!("crates", ".io"),
        concat!("pypi", ".org"),
        concat!("/wo", "rk/"),
        concat!("/ho", "me/"),
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("XX", "X"),
        concat!("#[ign", "ore"),
        concat!("should_", "panic"),
    ];
    let mut found = Vec::new();
    for path in all_files().iter().filter(|path| !path.ends_with("Cargo.lock")) {
        let Ok(text) = std::fs::read_to_string(path) else {
            found.push(format!("{} is not text", relative(path)));
            continue;
        };
        for (number, line) in text.lines().enumerate() {
            let unused = concat!("(dead", "_code");
            let in_program = relative(path).ends_with(".rs") && !is_test_file(&relative(path));
            for word in
                forbidden.iter().chain(in_program.then_some(&unused)).filter(|word| line.contains(**word))
            {
                found.push(format!("{}:{}: {word}", relative(path), number + 1));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn identifiers_have_american_spelling() {
    let stems = [
        "lineari", "normali", "optimi", "seriali", "initiali", "generali", "speciali", "minimi", "maximi",
        "reali",
    ];
    let mut found = Vec::new();
    for (name, text) in rust_files() {
        for line in text.lines() {
            let code = code_of(line).to_lowercase();
            let quoted = code.split('"').step_by(2).collect::<String>();
            if stems
                .iter()
                .any(|stem| quoted.contains(&format!("{stem}se")) || quoted.contains(&format!("{stem}sa")))
            {
                found.push(format!("{name}: {}", line.trim()));
            }
        }
    }
    assert!(found.is_empty(), "`linearize`, not with an s:\n{}", found.join("\n"));
}

#[test]
fn every_invariant_names_an_existing_test() {
    let text = read(&root().join("ARCHITECTURE.md"));
    let sources: String = rust_files().into_iter().map(|(_, text)| text).collect();
    let invariants: Vec<&str> = text.lines().filter(|line| line.contains("Invariant:")).collect();
    assert!(invariants.len() >= 12, "ARCHITECTURE.md has only {} invariants", invariants.len());
    for line in invariants {
        let (_, test) = line.split_once("— test").unwrap_or_else(|| panic!("no `— test` in: {line}"));
        let names: Vec<&str> = test.split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty(), "no test is named in: {line}");
        for name in names {
            assert!(sources.contains(&format!("fn {name}(")), "there is no test `{name}`, named in: {line}");
        }
    }
}

#[test]
fn every_dependency_is_explained() {
    let manifest = read(&root().join("Cargo.toml"));
    let page = read(&root().join("docs/dependencies.md"));
    let section = manifest.split("[workspace.dependencies]").nth(1).expect("the section exists");
    let names: Vec<&str> = section
        .lines()
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split_once(" = ").map(|(name, _)| name))
        .filter(|name| !name.starts_with("wengert-"))
        .collect();
    assert!(names.len() > 3, "the dependencies were not found");
    let silent: Vec<&&str> = names.iter().filter(|name| !page.contains(&format!("`{name}`"))).collect();
    assert!(silent.is_empty(), "docs/dependencies.md does not explain {silent:?}");
    let used: String =
        all_files().iter().filter(|path| path.ends_with("Cargo.toml")).map(|path| read(path)).collect();
    let unused: Vec<&&str> =
        names.iter().filter(|name| !used.contains(&format!("\n{name}.workspace = true"))).collect();
    assert!(unused.is_empty(), "no crate uses {unused:?}");
}

#[test]
fn the_checks_run_what_the_readme_says() {
    let readme = read(&root().join("README.md"));
    let checks = read(&root().join(".ci/run"));
    let commands: Vec<String> = wengert_tests::book::blocks(&readme)
        .into_iter()
        .filter(|block| block.language == "sh")
        .flat_map(|block| block.lines)
        .map(|line| line.split(" #").next().unwrap_or_default().trim().to_string())
        .filter(|line| line.starts_with("cargo "))
        .collect();
    assert_eq!(
        commands.len(),
        2,
        "the README has one command that builds and runs, and one that tests: {commands:?}"
    );
    for command in commands {
        assert!(checks.lines().any(|line| line.trim() == command), ".ci/run does not run `{command}`");
    }
}

#[test]
fn every_link_leads_somewhere() {
    let mut broken = Vec::new();
    for path in all_files().iter().filter(|path| path.extension().is_some_and(|e| e == "md")) {
        for target in links(&read(path)) {
            let file = target.split('#').next().unwrap_or_default();
            let outside = target.contains("://") || target.starts_with('#') || file.is_empty();
            let folder = path.parent().unwrap_or(Path::new(""));
            if !outside && !folder.join(file).exists() {
                broken.push(format!("{}: {target}", relative(path)));
            }
        }
    }
    assert!(broken.is_empty(), "links to nowhere:\n{}", broken.join("\n"));
}

/// The targets of `[text](target)` outside of code blocks.
fn links(text: &str) -> Vec<String> {
    let mut in_block = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        }
        let prose: String = line.split('`').step_by(2).collect();
        for part in prose.split("](").skip(1).filter(|_| !in_block) {
            found.extend(part.split(')').next().map(str::to_string));
        }
    }
    found
}
