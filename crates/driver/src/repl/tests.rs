//! Conversations, as the user sees them.

use super::Repl;
use crate::engine::Options;
use crate::render::Style;
use expect_test::{Expect, expect};

/// Types the inputs one after the other; the answers, errors included.
fn talk(inputs: &[&str], expected: Expect) {
    let mut repl = Repl::new(Options::default(), Style::Plain);
    let mut transcript = String::new();
    for input in inputs {
        let reply = repl.answer(input);
        transcript.push_str(&format!("> {input}\n{}{}", reply.output, reply.errors));
        if reply.quit {
            transcript.push_str("(bye)\n");
        }
    }
    expected.assert_eq(&transcript);
}

#[test]
fn expressions_show_value_and_type() {
    talk(
        &[
            "1 + 2",
            "grad (\\x -> x ^ 2) 3.0",
            "\\x -> x",
            "",
            "-- nothing",
            "(1, \"a\", [true])",
            "let x = 2 in x * x",
        ],
        expect![[""]],
    );
}

#[test]
fn definitions_stay_and_later_ones_shadow_earlier_ones() {
    talk(
        &[
            "def f x = x + 1",
            "def g x = f (f x)",
            "def f x = x * 100",
            "(f 1, g 1)",
            "let a = 2.5",
            "let (p, q) = (a, a ^ 2)",
            "p + q",
            "let rec fact n = if n == 0 then 1 else n * fact (n - 1)",
            "fact 5",
            "def sin x = x",
            "sin 7",
        ],
        expect![[""]],
    );
}

#[test]
fn types_aliases_and_imports_stay() {
    talk(
        &[
            "type Shape = Circle Real | Square Real",
            "alias Point = {x : Real, y : Real}",
            "def area s = match s with | Circle r -> pi * r ^ 2 | Square a -> a ^ 2",
            "area (Square 3)",
            "def norm1 (p : Point) = p.x + p.y",
            "norm1 {x = 1, y = 2}",
            "import linalg as la",
            "import option",
            "import nothing",
            "import option (nothing)",
            "la.solve [[2.0]] [4.0]",
            "type Shape = Line",
            "Line",
            ":browse",
        ],
        expect![[""]],
    );
}

#[test]
fn errors_leave_the_conversation_as_it_was() {
    talk(
        &[
            "def f x = x + 1",
            "def f x = x + nope",
            "f 1",
            "1 +",
            "[1, 2][7]",
            "let boom = 1 / 0",
            "boom",
            "f 2",
        ],
        expect![[""]],
    );
}

#[test]
fn commands() {
    talk(
        &[
            ":type \\x -> x + 1",
            ":t grad",
            ":type",
            ":cost exp 1.0",
            ":cost 1.0 + 2.0",
            ":cost (\\x y -> x * y + sin x) 2 3",
            ":cost map sin [1.0, 2.0]",
            ":cost 1 +",
            ":load",
            ":reload",
            ":load nowhere.wg",
            ":typ 1",
            ":tpye 1",
            ":help relu",
            ":help nonsense",
            ":quit",
        ],
        expect![[""]],
    );
}

#[test]
fn constants_are_evaluated_once() {
    let mut repl = Repl::new(Options::default(), Style::Plain);
    let reply = repl.answer("let slow = iterate 300000 (\\x -> x + 1) 0.0");
    assert_eq!((reply.output.as_str(), reply.errors.as_str()), ("slow : Real\n", ""));
    let start = std::time::Instant::now();
    for _ in 0..200 {
        assert_eq!(repl.answer("slow").output, "300000.0 : Real\n");
    }
    assert!(start.elapsed() < std::time::Duration::from_secs(5), "{:?}", start.elapsed());
}

#[test]
fn an_interrupt_ends_the_evaluation_and_not_the_conversation() {
    let options = Options::default();
    let flag = options.interrupt.clone();
    let mut repl = Repl::new(options, Style::Plain);
    repl.answer("def forever x = forever (x + 1)");
    flag.store(true, std::sync::atomic::Ordering::SeqCst);
    let reply = repl.answer("forever 1");
    assert!(reply.errors.contains("interrupted"), "{}", reply.errors);
    flag.store(false, std::sync::atomic::Ordering::SeqCst);
    assert_eq!(repl.answer("1 + 1").output, "2 : Int\n");
}

#[test]
fn completion_knows_what_is_in_scope() {
    let mut repl = Repl::new(Options::default(), Style::Plain);
    repl.answer("def sinful x = x + 1.0");
    repl.answer("import linalg as la");
    let names = |before: &str, prefix: &str| -> Vec<String> {
        repl.complete(before, prefix).into_iter().map(|(name, _)| name).collect()
    };
    assert_eq!(names("", "sin"), ["sin", "sinful", "sinh"]);
    assert_eq!(names("1 + ", "la.so"), ["la.solve"]);
    assert_eq!(names("import ", "lin"), ["linalg"]);
    assert_eq!(names(":", "re"), ["reload"]);
    assert_eq!(repl.complete("", "sinful"), [("sinful".to_string(), "Real -> Real".to_string())]);
}
