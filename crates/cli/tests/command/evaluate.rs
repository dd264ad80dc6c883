//! `eval`, `run` and `cost`.

use crate::folder::Folder;
use expect_test::expect;
use std::io::Read;
use std::process::Stdio;
use std::time::{Duration, Instant};

const PROGRAM: &str = "\
import list (List, from_array, is_empty)

type Shape = Circle Real | Rect Real Real

def f (x, y) =
  let a = x + 1
  let b = 2 * x + y ^ 2
  in (a * b) ^ 2

def area s = match s with | Circle r -> pi * r ^ 2 | Rect w h -> w * h

def distance (p : {x : Real, y : Real}) = sqrt (p.x ^ 2 + p.y ^ 2)

def dot3 (xs : [3]Real) (ys : [3]Real) = dot xs ys

def twice x = x + x

def forever x = if x == x then forever (x + 1) else x

def grow (xs : []Real) : Real = grow (concat xs xs)

def main = grad f (1, 3)
";

#[test]
fn eval_prints_values() {
    let folder = Folder::with(&[]);
    assert_eq!(folder.run(&["eval", "1 + 2"]).value(), "3");
    assert_eq!(folder.run(&["eval", "grad (\\x -> x ^ 3) 2.0"]).value(), "12.0");
    assert_eq!(folder.run(&["eval", "-1 + 2"]).value(), "1");
    assert_eq!(
        folder.run(&["eval", "(1.5, [1, 2], \"a\", {x = true}, ())"]).value(),
        "(1.5, [1, 2], \"a\", {x = true}, ())"
    );
    assert_eq!(folder.run(&["eval", "sin"]).value(), "<function>");
}

#[test]
fn eval_prints_json() {
    let folder = Folder::with(&[]);
    assert_eq!(
        folder.run(&["eval", "--json", "(1.5, [1, 2], \"a\", {x = true}, ())"]).value(),
        r#"[1.5, [1, 2], "a", {"x": true}, []]"#
    );
    assert_eq!(
        folder.run(&["eval", "--json", "[0.0 / 0.0, 1.0 / 0.0, -1.0 / 0.0]"]).value(),
        r#"["NaN", "Infinity", "-Infinity"]"#
    );
}

#[test]
fn eval_sees_a_file_and_its_imports() {
    let folder = Folder::with(&[("p.wg", PROGRAM)]);
    assert_eq!(folder.run(&["eval", "f (1.0, 3.0)", "--file", "p.wg"]).value(), "484.0");
    assert_eq!(folder.run(&["eval", "area (Circle 1.0)", "-f", "p.wg"]).value(), "3.141592653589793");
    assert_eq!(
        folder.run(&["eval", "(is_empty (from_array [1.0]), Cons 1 Nil)", "-f", "p.wg"]).value(),
        "(false, Cons 1 Nil)"
    );
    assert_eq!(
        folder.run(&["eval", "--json", "[Circle 1.0, Rect 1.0 2.0]", "-f", "p.wg"]).value(),
        r#"[{"tag": "Circle", "fields": [1.0]}, {"tag": "Rect", "fields": [1.0, 2.0]}]"#
    );
}

#[test]
fn eval_says_what_is_wrong() {
    let folder = Folder::with(&[]);
    folder.run(&["eval", "1 +"]).fails(1, &["error[E01", "<expression>:1:4"]);
    folder.run(&["eval", "1 + \"a\""]).fails(1, &["error[E03"]);
    folder.run(&["eval", "(\\i -> [1.0, 2.0][i]) 5"]).fails(1, &["error[E0701]", "<expression>:1:"]);
    folder.run(&["eval", "head Nil"]).fails(1, &["error[E02"]);
    folder.run(&["eval", "1", "--file", "none.wg"]).fails(1, &["E0801", "`none.wg` does not exist"]);
    assert_eq!(folder.run(&["eval", "--engine", "native", "1"]).value(), "1");
    folder.run(&["eval"]).fails(2, &["Usage"]);
    folder.run(&["eval", "--engine", "quantum", "1"]).fails(2, &["possible values"]);
}

/// Programs that fail: in a called function, in a loop, in the library, deep in a recursion.
const FAILING: [&str; 4] = [
    "def f (xs : []Real) i = xs[i] * 2\ndef main = grad (\\xs -> f xs 3 + sum xs) [1.0, 2.0]\n",
    "type T = A Real | B Int\ndef f t = match t with | A x -> x | B n -> real (10 / n)\ndef main = map f [A 1.0, B 2, B 0]\n",
    "import linalg\ndef main = derivative (\\x -> (solve [[x, 2 * x], [1.0, 2.0]] [1.0, 2.0])[0]) 1.0\n",
    "def deep (n : Int) x = if n == 0 then fail \"bottom\" else 1.0 + deep (n - 1) (x * x)\ndef main = grad (deep 1000) 0.5\n",
];

#[test]
fn failures_read_alike_on_all_engines() {
    for program in FAILING {
        let folder = Folder::with(&[("p.wg", program)]);
        let said = |engine: &str| {
            let ran = folder.run(&["run", "p.wg", "--engine", engine]);
            assert_eq!(ran.status, 1, "{engine}");
            ran.stderr
        };
        let expected = said("interp");
        assert!(expected.contains("called here") || expected.contains("it happened inside"), "{expected}");
        for engine in ["ir", "native", "c"] {
            assert_eq!(said(engine), expected, "{engine}");
        }
    }
}

#[test]
fn colors_only_when_asked() {
    let folder = Folder::with(&[]);
    assert!(folder.run(&["eval", "nope", "--color", "always"]).stderr.contains("\u{1b}["));
    assert!(!folder.run(&["eval", "nope"]).stderr.contains("\u{1b}["));
}

#[test]
fn run_evaluates_main_or_an_entry() {
    let folder = Folder::with(&[("p.wg", PROGRAM), ("empty.wg", "")]);
    assert_eq!(folder.run(&["run", "p.wg"]).value(), "(660.0, 528.0)");
    assert_eq!(folder.run(&["run", "p.wg", "--entry", "f", "--input", "[[1.0, 3.0]]"]).value(), "484.0");
    assert_eq!(folder.run(&["run", "p.wg", "--entry", "f"]).value(), "<function>");
    assert_eq!(folder.run(&["run", "p.wg", "--entry", "twice", "--input", "[3]"]).value(), "6");
    assert_eq!(folder.run(&["run", "p.wg", "--entry", "twice", "--input", "[3.5]"]).value(), "7.0");
    assert_eq!(
        folder
            .run(&["run", "p.wg", "--entry", "distance", "--input", r#"[{"x": 3, "y": 4}]"#, "--json"])
            .value(),
        "5.0"
    );
    assert_eq!(
        folder
            .run(&["run", "p.wg", "--entry", "area", "--input", r#"[{"tag": "Rect", "fields": [2, 3]}]"#])
            .value(),
        "6.0"
    );
    folder.run(&["run", "p.wg", "--entry", "twoce"]).fails(1, &["E0820", "did you mean `twice`?"]);
    folder.run(&["run", "empty.wg"]).fails(1, &["E0820", "`empty.wg` does not define `main`", "--entry"]);
    folder.run(&["run", "none.wg"]).fails(1, &["E0801"]);
    folder.run(&["run", "."]).fails(1, &["E0801", "is a directory"]);
}

#[test]
fn input_comes_from_a_file_or_standard_input() {
    let folder = Folder::with(&[("p.wg", PROGRAM), ("in.json", "[[1.0, 3.0]]\n")]);
    assert_eq!(folder.run(&["run", "p.wg", "-e", "f", "-i", "@in.json"]).value(), "484.0");
    assert_eq!(folder.run_with(&["run", "p.wg", "-e", "f", "-i", "@-"], b"[[1, 3]]").value(), "484");
    folder.run(&["run", "p.wg", "-e", "f", "-i", "@none.json"]).fails(1, &["E0801", "none.json"]);
    folder.run_with(&["run", "p.wg", "-e", "f", "-i", "@-"], b"[\xff").fails(1, &["E0810"]);
}

#[test]
fn bad_inputs_are_explained_where_they_stand() {
    let folder = Folder::with(&[("p.wg", PROGRAM)]);
    let run = |entry: &str, input: &str| folder.run(&["run", "p.wg", "--entry", entry, "--input", input]);
    run("f", "[[1.0, 3.0]").fails(1, &["E0810", "<input>:1:12"]);
    run("f", "[[1.0, \"three\"]]")
        .fails(1, &["E0813", "argument 1, component 2: expected a number, found a string"]);
    run("f", "[1.0, 3.0]").fails(1, &["E0812"]);
    run("dot3", "[[1, 2, 3], [1, 2]]").fails(1, &["E0815", "argument 2: expected an array of 3, found 2"]);
    run("distance", r#"[{"x": 3}]"#).fails(1, &["E0816", "the field \"y\" is missing"]);
    run("area", r#"[{"tag": "Circel", "fields": [1]}]"#).fails(1, &["E0817", "did you mean \"Circle\"?"]);
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    folder
        .run_with(&["run", "p.wg", "-e", "f", "-i", "@-"], deep.as_bytes())
        .fails(1, &["E0815", "argument 1"]);
}

#[test]
fn limits_stop_a_program() {
    let folder = Folder::with(&[("p.wg", PROGRAM)]);
    let start = Instant::now();
    folder.run(&["eval", "forever 1", "-f", "p.wg", "--max-steps", "100K"]).fails(1, &["error[E07", "step"]);
    folder.run(&["eval", "forever 1", "-f", "p.wg", "--timeout", "0.2"]).fails(1, &["error[E07"]);
    folder
        .run(&["eval", "grow [1.0]", "-f", "p.wg", "--max-memory", "64M"])
        .fails(1, &["error[E07", "memory"]);
    assert!(start.elapsed() < Duration::from_secs(60));
    folder.run(&["eval", "1", "--max-memory", "lots"]).fails(2, &["64M"]);
    folder.run(&["eval", "1", "--timeout", "-1"]).fails(2, &[]);
    folder.run(&["eval", "1", "--max-steps", "many"]).fails(2, &["10M"]);
    for engine in ["native", "c"] {
        let ran = folder.run(&["eval", "forever 1", "-f", "p.wg", "--max-steps", "100K", "--engine", engine]);
        ran.fails(2, &["counts no steps", "--timeout"]);
    }
}

#[test]
fn the_time_of_a_command_counts_from_its_start() {
    let folder = Folder::with(&[("p.wg", PROGRAM)]);
    let commands: [&[&str]; 6] = [
        &["eval", "1"],
        &["eval", "f (1.0, 2.0)", "--file", "p.wg", "--engine", "native"],
        &["run", "p.wg"],
        &["run", "p.wg", "--emit", "core"],
        &["cost", "p.wg", "--entry", "f", "--input", "[[1, 3]]"],
        &["bench", "p.wg", "--entry", "f", "--input", "[[1, 3]]"],
    ];
    for command in commands {
        let late = [command, &["--timeout", "0.000000001"]].concat();
        folder.run(&late).fails(1, &["error[E0717]", "0.000000001 s"]);
        let endless = [command, &["--timeout", "1e30"]].concat();
        assert!(!folder.run(&endless).value().is_empty());
    }
}

#[cfg(unix)]
#[test]
fn nothing_makes_a_command_wait_for_longer_than_it_may() {
    let folder = Folder::with(&[("p.wg", "import \"pipe\"\ndef main = 1\n")]);
    let mut make = std::process::Command::new("mkfifo");
    assert!(make.arg(folder.path().join("pipe")).status().unwrap().success());
    // Nobody ever writes into the pipe. The user may name it, a program may not.
    folder.run(&["run", "pipe", "--timeout", "0.2"]).fails(1, &["error[E0717]", "0.2 s"]);
    folder.run(&["run", "p.wg"]).fails(1, &["error[E0801]", "p.wg:1:8", "not a regular file"]);
}

#[test]
fn cost_counts_the_function_and_its_derivatives() {
    let folder = Folder::with(&[("p.wg", PROGRAM)]);
    let ran = folder.run(&["cost", "p.wg", "--entry", "f", "--input", "[[1, 3]]"]);
    let cost: serde_json::Value = serde_json::from_str(ran.value()).unwrap();
    let (primal, jvp, vjp) = (cost["primal"].as_u64(), cost["jvp"].as_u64(), cost["vjp"].as_u64());
    let (primal, jvp, vjp) = (primal.unwrap(), jvp.unwrap(), vjp.unwrap());
    assert!(primal > 0 && primal < jvp && jvp <= 4 * primal, "{ran:?}");
    assert!(primal < vjp && vjp <= 6 * primal, "{ran:?}");
    let ran = folder.run(&["cost", "p.wg", "--entry", "dot3", "--input", "[[1, 2, 3], [1, 2, 3]]"]);
    expect![[r#"{"primal": 5, "jvp": 16, "vjp": 11}"#]].assert_eq(ran.value());
    folder.run(&["cost", "p.wg", "--entry", "area", "--input", "[1]"]).fails(1, &["E0813"]);
    folder
        .run(&["cost", "p.wg", "--entry", "main", "--input", "[]"])
        .fails(1, &["E0821", "applied to nothing"]);
    folder
        .run(&["cost", "p.wg", "--entry", "dot3", "--input", "[[1, 2, 3]]"])
        .fails(1, &["E0821", "not first-order"]);
    folder.run(&["cost", "p.wg", "--entry", "f"]).fails(2, &["--input"]);
}

#[test]
fn huge_outputs_stream_and_a_closed_pipe_is_no_error() {
    let folder = Folder::with(&[]);
    let ran = folder.run(&["eval", "iota 1000000"]);
    assert!(ran.value().ends_with(", 999999]"));
    let mut command = folder.command(&["eval", "iota 1000000"]);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
    assert_eq!(&first, b"[0, 1, 2, ");
}

#[cfg(unix)]
#[test]
fn ctrl_c_stops_an_evaluation_with_a_message() {
    let folder = Folder::with(&[("p.wg", PROGRAM)]);
    let mut command = folder.command(&["eval", "forever 1", "-f", "p.wg", "--timeout", "60"]);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert!(stderr.contains("interrupted"), "{stderr}");
}

#[test]
fn eval_sees_names_exactly_as_the_file_does() {
    let folder = Folder::with(&[
        ("a.wg", "def x = 1\ndef y = 10\n"),
        ("b.wg", "def x = 2\ndef z = 20\n"),
        ("both.wg", "import \"a.wg\"\nimport \"b.wg\"\ndef sin x = x\n"),
        ("named.wg", "import \"a.wg\" as first\nimport \"b.wg\" (z)\ndef x = 3\n"),
    ]);
    assert_eq!(
        folder.run(&["eval", "(y, z, a.x, b.x, sin 4)", "-f", "both.wg"]).value(),
        "(10, 20, 1, 2, 4)"
    );
    folder.run(&["eval", "x", "-f", "both.wg"]).fails(1, &["error[E02", "<expression>:1:1"]);
    assert_eq!(folder.run(&["eval", "(x, first.x, z)", "-f", "named.wg"]).value(), "(3, 1, 20)");
    folder.run(&["eval", "y", "-f", "named.wg"]).fails(1, &["error[E02"]);
}

const COMPILED: &str = "\
def square (x : Real) = x * x

def slow (xs : []Real) =
  let few = sum (map square xs)
  let many = sum (map (\\x -> iterate 200 (\\y -> sin (y + x)) x) xs)
  in few + many

def names = [\"a\", \"b\"]
";

#[test]
fn every_stage_is_printed() {
    let folder = Folder::with(&[("p.wg", COMPILED)]);
    let emitted = |stage: &str| {
        folder.run(&["eval", "grad square", "--file", "p.wg", "--emit", stage]).value().to_string()
    };
    assert!(emitted("core").contains("square"), "{}", emitted("core"));
    assert!(emitted("ir").contains("x * x"), "{}", emitted("ir"));
    // The derivative of a square, as a person would write it.
    assert!(emitted("derivative").contains("return 2.0 * x\n"), "{}", emitted("derivative"));
    assert!(emitted("loops").contains("add(r"), "{}", emitted("loops"));
    assert!(emitted("clif").contains("fadd"), "{}", emitted("clif"));
    folder.run(&["run", "p.wg", "--entry", "square", "--emit", "assembly"]).fails(2, &["possible values"]);
    folder.run(&["run", "p.wg", "--entry", "cube", "--emit", "ir"]).fails(1, &["E0820"]);
}

#[test]
fn derivatives_are_shown_as_a_person_writes_them() {
    let folder = Folder::with(&[]);
    for (function, lines) in [
        ("grad (\\x -> x ^ 3)", "return 3.0 * x ^ 2"),
        ("grad (\\x -> x ** 3)", "return 3.0 * x ^ 2"),
        ("grad (\\x -> x ** 2.5)", "return 2.5 * x ** 1.5"),
        ("derivative (derivative (\\x -> x ** 2.5))", "return 3.75 * x ** 0.5"),
        ("\\x -> (x ** 2.5, derivative (\\y -> y ** 2.5) x)", "return x ** 2.5, 2.5 * x ** 1.5"),
        ("grad (\\(x, y) -> if y > 0 then x ** y else 0)", "yield mul_zero(y, t / x), t * log(x)"),
        ("grad (\\y -> 2 ** y)", "return 0.6931471805599453 * 2.0 ** y"),
        ("grad (\\theta -> theta ^ 2)", "return 2.0 * theta"),
        ("grad (\\s -> s.mass * s.speed)", "return speed, mass"),
        ("\\x -> grad (\\(w : [][]Real) -> sum (matvec w x))", "return outer(ts, x)"),
        ("grad (\\(m : [2][2]Real) -> m[0, 0] * m[1, 1])", "return [[m[1, 1], 0.0], [0.0, t]]"),
        ("grad (\\x -> if x > 0 && x < 1 then x * x else x)", "return if x > 0.0 && x < 1.0 {"),
        ("grad (\\x -> sqrt x)", "return 0.5 / sqrt(x)"),
        ("grad (\\x -> x * log x)", "return log(x) + 1.0"),
        ("grad (\\x -> 1 / x)", "return -1.0 / (x * x)"),
        ("grad (\\x -> (x + 1) * (x - 1))", "return 2.0 * x"),
        ("grad (\\x -> 4 / 3 * pi * x ^ 3)", "return 12.566370614359172 * x ^ 2"),
        ("grad (\\x -> sin x ^ 2)", "return 2.0 * sin(x) * cos(x)"),
        ("grad (\\x -> while_loop (\\y -> y < 9) (\\y -> y * x) x)", "_, ys = while y = x, y < 9.0 {"),
        (
            "grad (\\(xs : []Real) -> maximum xs)",
            "place = argmax(xs)\n  return zeros(xs) with [place] += 1.0",
        ),
        ("grad relu", "return [x > 0.0]"),
        ("grad (\\x -> sin x * cos x)", "t = sin(x)\n  t2 = cos(x)\n  return t2 * t2 - t * t"),
        ("derivative (derivative (derivative (\\x -> exp (2 * x))))", "return 8.0 * exp(2.0 * x)"),
    ] {
        let shown = folder.run(&["eval", function, "--emit", "derivative"]).value().to_string();
        let body = shown.split("func main(").nth(1).unwrap_or_default();
        assert!(body.contains(&format!("  {lines}\n")), "{function}:\n{shown}");
    }
}

#[test]
fn bench_measures_a_function_and_its_derivatives() {
    let folder = Folder::with(&[("p.wg", COMPILED)]);
    for engine in ["native", "c", "interp"] {
        let bench = ["bench", "p.wg", "--entry", "slow", "--input", "[[1.0, 2.0]]", "--seconds", "0.01"];
        let ran = folder.run(&[&bench[..], &["--json", "--engine", engine]].concat());
        let value: serde_json::Value = serde_json::from_str(ran.value()).expect("JSON");
        assert_eq!(value["engine"], engine);
        for time in ["primal_ns", "jvp_ns", "vjp_ns"] {
            assert!(value[time].as_u64().is_some_and(|time| time > 0), "{value}");
        }
        assert!(value["runs"].as_u64().is_some_and(|runs| runs >= 10), "{value}");
        assert_eq!(
            value["peak_bytes"].as_u64().is_some_and(|bytes| bytes > 0),
            engine != "interp",
            "{value}"
        );
        assert!(folder.run(&[&bench[..], &["--engine", engine]].concat()).value().contains("× primal"));
    }
    let text = ["bench", "p.wg", "--entry", "names", "--input", "[]", "--seconds", "0.01", "--json"];
    assert!(folder.run(&text).value().contains("\"vjp_ns\": null"));
    folder.run(&["bench", "p.wg", "--entry", "slow", "--input", "[1]"]).fails(1, &["E0813"]);
}

#[test]
fn profile_names_the_line_that_takes_the_time() {
    let folder = Folder::with(&[("p.wg", COMPILED)]);
    for part in ["primal", "vjp"] {
        let input = "[[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]]";
        let call = ["profile", "p.wg", "--entry", "slow", "--input", input, "--of", part, "--seconds", "0.2"];
        let text = folder.run(&call).value().to_string();
        let first = text.lines().next().unwrap_or_default();
        assert!(first.contains("p.wg:5") && first.contains("iterate 200"), "{text}");
    }
}

/// What `build` and `profile` compile has an end too, and what they cannot compile is said.
#[test]
fn build_and_profile_are_stopped() {
    let nested = (0..24).fold("f".to_string(), |inner, _| format!("(\\y -> grad {inner} y)"));
    let program = format!(
        "def f x = sin (x * cos x) * exp (x / (1.0 + x * x))\n\ndef slow (x : Real) = {nested} x\n\n\
         def long (x : Real) = iterate 1000000000000 (\\y -> sin (y + x)) x\n\n\
         def odd (x : Real) = grad (custom_jvp (\\y -> y) (\\(y, t) -> (y, t * t))) x\n"
    );
    let folder = Folder::with(&[("p.wg", &program)]);
    let start = Instant::now();
    folder.run(&["build", "p.wg", "-e", "slow", "-o", "lib", "--timeout", "0.1"]).fails(1, &["E0717", "0.1"]);
    for entry in ["slow", "long"] {
        let call = ["profile", "p.wg", "-e", entry, "-i", "[0.5]", "--timeout", "0.5"];
        folder.run(&call).fails(1, &["E0717", "0.5"]);
    }
    assert!(start.elapsed() < Duration::from_secs(60));
    folder.run(&["profile", "p.wg", "-e", "odd", "-i", "[0.5]"]).fails(1, &["E0829", "`odd`"]);
}

#[test]
fn what_has_too_many_types_for_machine_code_is_said_to_have_them() {
    let deep = format!("def main = {}1.0{}\n", "[".repeat(256), "]".repeat(256));
    let mut many = String::from("def f0 x = 1\n");
    for n in 1..=12 {
        many.push_str(&format!("def f{n} x = f{0} (x, 1) + f{0} (x, true)\n", n - 1));
    }
    many.push_str("def main = f12 1.0\ndef g (x : Real) = x * real (f12 x)\n");
    let folder = Folder::with(&[("deep.wg", &deep), ("many.wg", &many)]);
    for engine in ["ir", "native"] {
        let ran = folder.run(&["run", "deep.wg", "--engine", engine]);
        ran.fails(0, &["E0830", "one of its arrays has hundreds of axes"]);
        assert_eq!(ran.stdout.matches('[').count(), 256);
    }
    let reason =
        "because machine code is made for each type anew, and its definitions are used at thousands of types";
    let ran = folder.run(&["run", "many.wg", "--engine", "native"]);
    ran.fails(0, &["E0830", reason]);
    assert_eq!(ran.stdout, "4096\n");
    folder.run(&["run", "many.wg", "--emit", "c"]).fails(1, &["error[E0829]", reason]);
    folder.run(&["profile", "many.wg", "-e", "g", "-i", "[1.0]"]).fails(1, &["error[E0829]", reason]);
    let short = ["--runs", "1", "--seconds", "0.001"];
    folder.run(&[&["bench", "many.wg", "-e", "g", "-i", "[1.0]"], &short[..]].concat()).fails(0, &[reason]);
}

#[test]
fn what_many_points_share_is_added_to_as_one_goes_through_it() {
    let tree = "type Tree = Leaf Real | Node Tree Tree\n\
        def value tree x = match tree with | Leaf w -> w * x | Node l r -> value l x + value r (x * x)\n\
        def fit (tree, xs) = sum (map (value tree) xs)\n";
    let folder = Folder::with(&[("tree.wg", tree)]);
    let shown =
        folder.run(&["eval", "grad fit", "--file", "tree.wg", "--emit", "derivative"]).value().to_string();
    let lines = "  tree_bar, xs_bar = for i < length(xs), tree_bar2 = Zero(), x in xs {
    tape = primal_value(tree, x)
    tree_bar3, x_bar = back_value(tape, tree_bar2, 0.0)
    yield tree_bar3, x_bar
  }";
    assert!(shown.contains(lines) && !shown.contains("add_Tree'"), "{shown}");
}

#[test]
fn library_functions_say_what_they_do_not_take() {
    let folder =
        Folder::with(&[("p.wg", "import linalg\nimport array\nimport stats\ndef read (n : Int) = n\n")]);
    let eval = |text: &str| folder.run(&["eval", text, "--file", "p.wg"]);
    eval("linalg.matrix_power [[2.0]] (-1)").fails(1, &["E0712", "matrix_power: the exponent is negative"]);
    eval("array.interpolate [] [] 1.0").fails(1, &["E0712", "interpolate: there are no points"]);
    for fraction in ["1.5", "(-0.5)", "(0.0 / 0.0)"] {
        let wrong = eval(&format!("stats.quantile {fraction} [1.0, 2.0]"));
        wrong.fails(1, &["E0712", "quantile: the fraction is not between 0 and 1"]);
    }
    assert_eq!(eval("linalg.matrix_power [[2.0]] 5").value(), "[[32.0]]");
    assert_eq!(eval("array.interpolate [1.0] [2.0] 7.0").value(), "2.0");
    assert_eq!(eval("(stats.quantile 0.0 [1.0, 2.0], stats.quantile 1.0 [1.0, 2.0])").value(), "(1.0, 2.0)");
    let read = |input: &str| folder.run(&["run", "p.wg", "--entry", "read", "--input", input]);
    assert_eq!(read("[9007199254740993.0]").value(), "9007199254740993");
    read("[3.00000000000000000001]").fails(1, &["E0814", "argument 1: this is not an `Int`"]);
}

#[test]
fn empty_variables_of_the_environment_are_as_if_they_were_not_there() {
    let folder = Folder::with(&[]);
    let with = |name: &str, value: &str| {
        folder.command(&["eval", "1"]).env(name, value).output().unwrap().status.code()
    };
    for name in ["WENGERT_THREADS", "WENGERT_ENGINE", "WENGERT_STRICT", "WENGERT_WITHOUT"] {
        assert_eq!(with(name, ""), Some(0), "{name}");
    }
    for value in ["0", "1", "true", "false"] {
        assert_eq!(with("WENGERT_STRICT", value), Some(0), "{value}");
    }
    assert_eq!(with("WENGERT_STRICT", "perhaps"), Some(2));
    assert_eq!(with("WENGERT_ENGINE", "steam"), Some(2));
}
