//! The command: what each subcommand does, exit statuses, JSON in and out.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use wengert_tests::command::{Ran, wengert_in};
use wengert_tests::project;

const PROGRAM: &str = "\
type Shape = Circle Real | Rect Real Real
type List a = Nil | Cons a (List a)

def area s =
  match s with
  | Circle r -> pi * r ^ 2
  | Rect w h -> w * h

def total xs =
  match xs with
  | Nil -> 0.0
  | Cons x rest -> x + total rest

def both (x : Real) (y : Real) = (x + y, [x, y])

def echo x = x

def odd_numbers (x : Real) = [x / 0.0, -x / 0.0, 0.0 / 0.0, x]

def point (p : {x : Real, y : Real}) = {p with x = p.y}

def nothing () = ()

def count (n : Int) (yes : Bool) (word : String) = if yes then word else show n

def shapes = Cons (Rect 1 2) Nil

def main = (1.0, [2, 3])
";

/// A folder with the program in `p.wg`.
fn folder(name: &str) -> PathBuf {
    let folder = project::scratch(&format!("command-{name}"));
    project::write(&folder.join("p.wg"), PROGRAM);
    folder
}

fn go(folder: &Path, arguments: &[&str]) -> Ran {
    wengert_in(folder, arguments, "")
}

fn json_of(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error} in {}", ran.transcript()))
}

#[test]
fn eval_prints_a_value_and_takes_definitions_from_a_file() {
    let folder = folder("eval");
    assert_eq!(go(&folder, &["eval", "1 + 1"]).value(), Ok("2".into()));
    assert_eq!(go(&folder, &["eval", "area (Rect 2 3)", "--file", "p.wg"]).value(), Ok("6.0".into()));
    assert_eq!(go(&folder, &["eval", "--file", "p.wg", "main"]).value(), Ok("(1.0, [2, 3])".into()));
    assert_eq!(go(&folder, &["eval", "--engine", "interp", "1"]).value(), Ok("1".into()));
    let wrong = go(&folder, &["eval", "1 + true"]);
    assert_eq!((wrong.status, wrong.stdout.as_str()), (1, ""));
    assert!(wrong.stderr.contains(":1:"), "{}", wrong.stderr);
}

#[test]
fn run_evaluates_main_or_applies_an_entry_to_json() {
    let folder = folder("run");
    let value = |arguments: &[&str]| go(&folder, arguments).value();
    assert_eq!(value(&["run", "p.wg"]), Ok("(1.0, [2, 3])".into()));
    assert_eq!(value(&["run", "p.wg", "--entry", "main"]), Ok("(1.0, [2, 3])".into()));
    assert_eq!(
        value(&["run", "p.wg", "--entry", "both", "--input", "[1, 2.5]"]),
        Ok("(3.5, [1.0, 2.5])".into())
    );
    let list =
        r#"[{"tag": "Cons", "fields": [1.5, {"tag": "Cons", "fields": [2, {"tag": "Nil", "fields": []}]}]}]"#;
    assert_eq!(value(&["run", "p.wg", "--entry", "total", "--input", list]), Ok("3.5".into()));
    project::write(&folder.join("input.json"), list);
    assert_eq!(value(&["run", "p.wg", "--entry", "total", "--input", "@input.json"]), Ok("3.5".into()));
    let point = r#"[{"y": 2, "x": 1}]"#;
    assert_eq!(
        value(&["run", "p.wg", "--entry", "point", "--input", point]),
        Ok("{x = 2.0, y = 2.0}".into())
    );
    let mixed = r#"[3, false, "w\n"]"#;
    assert_eq!(value(&["run", "p.wg", "--entry", "count", "--input", mixed]), Ok("\"3\"".into()));
    assert_eq!(value(&["run", "p.wg", "--entry", "nothing", "--input", "[[]]"]), Ok("()".into()));
    assert_eq!(
        value(&["run", "p.wg", "--entry", "both", "--input", r#"["Infinity", "-Infinity"]"#]),
        Ok("(NaN, [Infinity, -Infinity])".into())
    );
}

#[test]
fn run_prints_json_when_asked() {
    let folder = folder("json");
    let run = |entry: &str, input: &str| {
        let ran = go(&folder, &["run", "p.wg", "--entry", entry, "--input", input, "--json"]);
        assert_eq!(ran.status, 0, "{}", ran.transcript());
        json_of(&ran)
    };
    assert_eq!(json_of(&go(&folder, &["run", "p.wg", "--json"])), json!([1.0, [2, 3]]));
    assert_eq!(run("odd_numbers", "[1.5]"), json!(["Infinity", "-Infinity", "NaN", 1.5]));
    assert_eq!(run("point", r#"[{"x": 1, "y": 2}]"#), json!({"x": 2.0, "y": 2.0}));
    assert_eq!(run("nothing", "[[]]"), json!([]));
    assert_eq!(run("count", r#"[1, true, "λ\"\n"]"#), json!("λ\"\n"));
    let nil = json!({"tag": "Nil", "fields": []});
    let rect = json!({"tag": "Rect", "fields": [1.0, 2.0]});
    assert_eq!(
        json_of(&go(&folder, &["run", "p.wg", "--entry", "shapes", "--json"])),
        json!({"tag": "Cons", "fields": [rect, nil]})
    );
}

#[test]
fn wrong_inputs_are_errors_of_the_user_with_exit_status_1() {
    let folder = folder("inputs");
    for (entry, input) in [
        ("both", "[1, 2, 3]"),
        ("both", "[1, \"a\"]"),
        ("both", "{\"x\": 1}"),
        ("both", "[1, 2"),
        ("both", ""),
        ("both", "@missing.json"),
        ("total", r#"[{"tag": "Snoc", "fields": []}]"#),
        ("total", r#"[{"tag": "Cons", "fields": [1.0]}]"#),
        ("total", "[[1.0]]"),
        ("point", r#"[{"x": 1}]"#),
        ("point", r#"[{"x": 1, "y": 2, "z": 3}]"#),
        ("count", "[1.5, true, \"a\"]"),
        ("count", "[1e30, true, \"a\"]"),
        ("count", "[1, 1, \"a\"]"),
        ("absent", "[1]"),
        ("area", "[\"Infinity and beyond\"]"),
    ] {
        let ran = go(&folder, &["run", "p.wg", "--entry", entry, "--input", input]);
        assert_eq!((ran.status, ran.stdout.as_str()), (1, ""), "{entry} {input}: {}", ran.transcript());
        assert!(ran.stderr.contains("error[E"), "{entry} {input}: {}", ran.stderr);
    }
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    project::write(&folder.join("deep.json"), &deep);
    let ran = go(&folder, &["run", "p.wg", "--entry", "both", "--input", "@deep.json"]);
    assert_eq!(ran.status, 1, "{}", ran.transcript());
}

#[test]
fn check_shows_types_or_diagnostics_and_speaks_json() {
    let folder = folder("check");
    let good = go(&folder, &["check", "p.wg"]);
    assert_eq!(good.status, 0, "{}", good.transcript());
    for line in [
        "area : Shape -> Real",
        "total : List Real -> Real",
        "echo : a -> a",
        "both : Real -> Real -> (Real, [2]Real)",
    ] {
        assert!(good.stdout.contains(line), "no `{line}` in:\n{}", good.stdout);
    }
    project::write(&folder.join("bad.wg"), "def f x = x + true\n\ndef g = f 1 2\n\ndef h = unknown_name\n");
    let bad = go(&folder, &["check", "bad.wg"]);
    assert_eq!((bad.status, bad.stdout.as_str()), (1, ""), "{}", bad.transcript());
    assert!(
        bad.stderr.contains("bad.wg:1:") && bad.stderr.contains("bad.wg:5:"),
        "several errors at once:\n{}",
        bad.stderr
    );
    let as_json = go(&folder, &["check", "bad.wg", "--json"]);
    assert_eq!(as_json.status, 1);
    assert!(as_json.stdout.contains("\"E0"), "{}", as_json.transcript());
    let parsed = json_of(&as_json);
    assert!(parsed.is_object() || parsed.is_array());
    let good_json = go(&folder, &["check", "p.wg", "--json"]);
    assert_eq!(good_json.status, 0);
    assert!(good_json.stdout.contains("Shape -> Real"), "{}", good_json.transcript());
    json_of(&good_json);
}

#[test]
fn fmt_rewrites_and_fmt_check_only_looks() {
    let folder = folder("fmt");
    project::write(&folder.join("ugly.wg"), "def   f x=x+1 -- keep me\ndef g =f   2");
    let looked = go(&folder, &["fmt", "--check", "ugly.wg"]);
    assert_eq!(looked.status, 1, "{}", looked.transcript());
    assert_eq!(project::read(&folder.join("ugly.wg")), "def   f x=x+1 -- keep me\ndef g =f   2");
    assert_eq!(go(&folder, &["fmt", "ugly.wg"]).status, 0);
    let pretty = project::read(&folder.join("ugly.wg"));
    assert!(
        pretty.contains("def f x = x + 1") && pretty.contains("-- keep me") && pretty.ends_with('\n'),
        "{pretty}"
    );
    assert_eq!(go(&folder, &["fmt", "--check", "ugly.wg", "ugly.wg"]).status, 0);
    project::write(&folder.join("broken.wg"), "def f = (1 +\n");
    let broken = go(&folder, &["fmt", "broken.wg"]);
    assert_eq!(broken.status, 1, "{}", broken.transcript());
    assert_eq!(project::read(&folder.join("broken.wg")), "def f = (1 +\n", "a broken file is left alone");
}

#[test]
fn cost_prints_three_counts_as_json() {
    let folder = folder("cost");
    project::write(&folder.join("c.wg"), "def f (x : Real) = exp x * x\n");
    let counts = json_of(&go(&folder, &["cost", "c.wg", "--entry", "f", "--input", "[2.0]"]));
    assert_eq!(counts["primal"], json!(5), "an elementary function counts as 4 operations: {counts}");
    assert!(counts["jvp"].as_u64().is_some_and(|n| (6..=20).contains(&n)), "{counts}");
    assert!(counts["vjp"].as_u64().is_some_and(|n| (6..=30).contains(&n)), "{counts}");
}

#[test]
fn imports_of_files_and_of_the_library() {
    let folder = folder("imports");
    project::write(
        &folder.join("geometry.wg"),
        "def double x = x + x\n\ndef hidden x = x * 100\n\ntype Side = Left | Right\n",
    );
    project::write(
        &folder.join("main.wg"),
        "import \"geometry.wg\"\nimport \"p.wg\" (total)\n\ndef main = (double 2, geometry.hidden 1, Left)\n",
    );
    assert_eq!(go(&folder, &["run", "main.wg"]).value(), Ok("(4, 100, Left)".into()));
    project::write(
        &folder.join("lists.wg"),
        "import linalg as la\n\ndef main = la.solve [[2.0, 0.0], [0.0, 4.0]] [2.0, 8.0]\n",
    );
    assert_eq!(go(&folder, &["run", "lists.wg"]).value(), Ok("[1.0, 2.0]".into()));
    project::write(&folder.join("a.wg"), "import \"b.wg\"\n\ndef x = 1\n");
    project::write(&folder.join("b.wg"), "import \"a.wg\"\n\ndef y = 2\n");
    let cycle = go(&folder, &["check", "a.wg"]);
    assert_eq!(cycle.status, 1, "{}", cycle.transcript());
    project::write(&folder.join("lost.wg"), "import \"nowhere.wg\"\n\ndef x = 1\n");
    assert_eq!(go(&folder, &["check", "lost.wg"]).status, 1);
}

#[test]
fn exit_status_2_is_wrong_usage_and_bad_bytes_are_an_error() {
    let folder = folder("usage");
    for arguments in
        [&["frobnicate"][..], &["eval"], &["run"], &["eval", "1", "--engine", "abacus"], &["cost", "p.wg"]]
    {
        let ran = go(&folder, arguments);
        assert_eq!(ran.status, 2, "{arguments:?}: {}", ran.transcript());
    }
    std::fs::write(folder.join("bytes.wg"), [0x64, 0x65, 0x66, 0xff, 0xfe, 0x00])
        .expect("a scratch file can be written");
    for arguments in
        [&["check", "bytes.wg"][..], &["run", "bytes.wg"], &["fmt", "bytes.wg"], &["run", "absent.wg"]]
    {
        let ran = go(&folder, arguments);
        assert_eq!((ran.status, ran.stdout.as_str()), (1, ""), "{arguments:?}: {}", ran.transcript());
        assert!(ran.stderr.contains("error"), "{}", ran.stderr);
    }
    for arguments in [&["--help"][..], &["eval", "--help"], &["run", "--help"], &["--version"]] {
        let ran = go(&folder, arguments);
        assert!(ran.status == 0 && !ran.stdout.is_empty(), "{}", ran.transcript());
    }
}

#[test]
fn limits_end_a_program_with_a_clear_error() {
    let folder = folder("limits");
    let endless = "let rec f x = f (x + 1) in f 0";
    for (option, value) in [("--max-steps", "10000"), ("--timeout", "0.3")] {
        let ran = go(&folder, &["eval", endless, option, value]);
        assert_eq!(ran.status, 1, "{option}: {}", ran.transcript());
        assert!(ran.stderr.contains("error[E07"), "{}", ran.stderr);
    }
    let hungry = "while_loop (\\xs -> true) (\\xs -> concat xs xs) [1.0]";
    let ran = go(&folder, &["eval", hungry, "--max-memory", "50000000"]);
    assert_eq!(ran.status, 1, "{}", ran.transcript());
    assert!(ran.stderr.contains("memory"), "{}", ran.stderr);
    let deep = "let rec f n = if n == 0 then 0 else 1 + f (n - 1) in f 1000000";
    assert_eq!(go(&folder, &["eval", deep]).value(), Ok("1000000".into()));
}
