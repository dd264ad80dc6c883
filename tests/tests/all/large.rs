//! Large programs: how long it takes to compile them grows as they do, and none is refused.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;
use wengert_driver::scope::Scope;
use wengert_driver::{Engine, Options, Session, show};

/// The value of an expression in the scope of a program, which the engine itself must give, if `itself`, in a time that is far more
/// than it takes where nothing is looked through again and again.
fn value(program: &str, text: &str, engine: Engine, itself: bool) -> String {
    let mut session = Session::new();
    let report = session.check_text("large.wg", program, Path::new("."));
    assert!(!report.has_errors(), "{:?}", report.diagnostics);
    let scope = Scope::of_file(&report.modules);
    let timeout = Some(Duration::from_secs(60));
    let options = Options { engine, strict: true, timeout, ..Options::default() };
    match session.eval_in(&scope, "test.wg", text, &options) {
        Ok(evaluated) => {
            assert!(!itself || evaluated.engine == engine, "{text}: left to another engine");
            show(&evaluated.value)
        }
        Err(errors) => panic!("{text}: {errors:?}"),
    }
}

#[track_caller]
fn compiled(program: &str, text: &str) {
    let expected = value(program, text, Engine::Interp, true);
    assert_eq!(value(program, text, Engine::Native, true), expected, "{text}");
}

/// Functions of which each calls the one before in a branch.
fn chain(count: usize) -> String {
    let mut program = String::from("def f0 x = sin x\n");
    for k in 1..count {
        let before = k - 1;
        writeln!(
            program,
            "def f{k} x = if x > {k}.0 then x * {k}.5 else if x < -{k}.0 then sin (x + 1.5) else f{before} (x * 0.9 + 0.1) + x"
        )
        .expect("it is written to memory");
    }
    program
}

#[test]
fn derivatives_of_deeply_nested_branches() {
    let program = chain(300);
    compiled(&program, "grad f299 1.0");
    compiled(&program, "derivative f299 1.0");
}

#[test]
fn thousands_of_definitions() {
    let program = chain(3000);
    compiled(&program, "f2999 1.0");
}

#[test]
fn derivatives_of_hundreds_of_loops() {
    let mut program = String::from("def f xs =\n  let a0 = 1.0\n");
    for k in 1..300 {
        let before = k - 1;
        writeln!(program, "  let a{k} = sum (map (\\x -> sin (x * {k}.5) + a{before} * x) xs) * 0.1")
            .expect("it is written to memory");
    }
    program.push_str("  in a299\n");
    compiled(&program, "grad f [0.5, 0.25, 0.125]");
}

#[test]
fn derivatives_of_a_thousand_lines() {
    let mut program = String::from("def f (x, y) =\n  let a0 = x\n  let a1 = y\n");
    for k in 2..1000 {
        let (one, two) = (k - 1, k - 2);
        let value = match k % 3 {
            0 => format!("a{one} * 0.5 + a{two}"),
            1 => format!("sin a{one} + a{two} * 0.1"),
            _ => format!("a{one} * a{two} * 0.01 + 1.0"),
        };
        writeln!(program, "  let a{k} = {value}").expect("it is written to memory");
    }
    program.push_str("  in a999\n");
    compiled(&program, "grad f (1.0, 2.0)");
}

#[test]
fn derivatives_of_matches_with_many_constructors() {
    let mut program = String::from("type T = N T");
    (0..200).for_each(|k| write!(program, " | C{k} Real Real").expect("it is written to memory"));
    program.push_str("\ndef f t = match t with | N u -> f u * 2.0");
    (0..200)
        .for_each(|k| write!(program, " | C{k} a b -> a * {k}.5 + sin b").expect("it is written to memory"));
    program.push('\n');
    compiled(&program, "grad f (N (C3 1.0 2.0))");
}

/// Each use of a field says something about the record, whose type nobody has written down.
#[test]
fn records_with_hundreds_of_fields() {
    let count = 400;
    let (sum, fields): (Vec<String>, Vec<String>) =
        (0..count).map(|k| (format!("r.x{k} * r.x{}", k * 7 % count), format!("x{k} = {k}.5"))).unzip();
    let program = format!("def f r = {}\ndef p = {{{}}}\n", sum.join(" + "), fields.join(", "));
    compiled(&program, "f p");
    compiled(&program, "(grad f p).x3");
}

/// Data that stands in a program.
#[test]
fn thousands_of_rows() {
    let rows: Vec<String> =
        (0..8000).map(|k| format!("[{k}.5, {}.25, -{}.0, 1.0]", k % 7, k * 7 % 11)).collect();
    let program = format!(
        "def rows = [{}]\ndef f x = sum (map (\\row -> x * row[0] + sin (x * row[1]) * row[2]) rows)\n",
        rows.join(", ")
    );
    compiled(&program, "grad f 0.5");
}

/// Functions of many operations each, of which each calls the one before.
fn wide(count: usize) -> String {
    let mut program = String::from("def f0 (x : Real) = x\n");
    for k in 1..count {
        let terms: Vec<String> = (0..40).map(|j| format!("y * {k}.{j}1")).collect();
        let before = k - 1;
        writeln!(program, "def f{k} x = let y = f{before} (x * 0.5) in {}", terms.join(" + "))
            .expect("it is written to memory");
    }
    program
}

/// The derivative of what is given to an operator that is one of several in an array is that of this function alone, not of all that any
/// operator is given.
#[test]
fn operators_that_are_data_have_derivatives_of_what_each_is_given() {
    let program = "def operators : []((Real -> Real) -> Real -> Real) =\n\
          [derivative, grad, \\f x -> snd (linearize f x) 1.0, \\f x -> (taylor 1 f x)[1]]\n\
        def both f x = map (\\d -> map (\\e -> d (e f) x) operators) operators\n\
        def inner x = map (\\d -> d (\\y -> d (\\z -> y * z * z) y) x) operators\n";
    compiled(program, "inner 2.0");
    compiled(program, "both (\\x -> x * x * x) 0.5");
    compiled(program, "grad (\\x -> sum (inner x)) 2.0");
}

/// Of a program that is not compiled since it is too large the user is told that the interpreter ran it.
#[test]
fn what_is_too_large_is_run_by_the_interpreter_which_says_so() {
    compiled(&wide(850), "map f849 (build 2 real)");
    let mut session = Session::new();
    let report = session.check_text("large.wg", &wide(1700), Path::new("."));
    let scope = Scope::of_file(&report.modules);
    let options = Options { engine: Engine::Native, ..Options::default() };
    let evaluated =
        session.eval_in(&scope, "test.wg", "map f1699 (build 2 real)", &options).expect("numbers");
    assert_eq!(evaluated.engine, Engine::Interp);
    let [warning] = evaluated.warnings.as_slice() else { panic!("one warning") };
    assert_eq!(warning.code, "E0830");
    assert!(warning.notes.iter().any(|note| note.contains("so large")), "{warning:?}");
}

/// The series of a high order of a large function has its coefficients in arrays: written out it would be too long.
#[test]
fn series_of_large_functions_are_compiled() {
    let mut program = String::from("def f0 (x : Real) = x\n");
    for k in 1..400 {
        let before = k - 1;
        let value = format!("tanh (sin y * exp (0.1 * y) + {k}.5) / (y ** 2.5 + 1.0)");
        writeln!(program, "def f{k} x = let y = f{before} (x * 0.5) in {value}")
            .expect("it is written to memory");
    }
    compiled(&program, "map (taylor 24 f399) [0.5]");
}

/// Types without end are no reason to leave a program to the interpreter.
#[test]
fn types_without_end_are_compiled() {
    let program = "type Nest a = End | More a (Nest (a, a))\ndef tree = More 1 (More (2, 3) End)\n
        def depth t = match t with | End -> 0.0 | More _ _ -> 1.0\n";
    let expected = value(program, "depth tree", Engine::Interp, true);
    for engine in [Engine::Native, Engine::C, Engine::Ir] {
        assert_eq!(value(program, "depth tree", engine, true), expected);
    }
}
