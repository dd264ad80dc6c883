//! Conversations, as the user sees them.

use super::Repl;
use crate::engine::{Engine, Options};
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
        expect![[r#"
            > 1 + 2
            3 : Int
            > grad (\x -> x ^ 2) 3.0
            6.0 : Real
            > \x -> x
            <function> : a -> a
            > 
            > -- nothing
            > (1, "a", [true])
            (1, "a", [true]) : (Int, String, [1]Bool)
            > let x = 2 in x * x
            4 : Int
        "#]],
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
            "let rec fact n = if n == 0 then 1 else n * fact (n - 1)",
            "fact 5",
            "def sin x = x",
            "sin 7",
        ],
        expect![[r#"
            > def f x = x + 1
            f : Num a => a -> a
            > def g x = f (f x)
            g : Num a => a -> a
            > def f x = x * 100
            f : Num a => a -> a
            > (f 1, g 1)
            (100, 3) : (Int, Int)
            > let a = 2.5
            a : Real
            > let rec fact n = if n == 0 then 1 else n * fact (n - 1)
            fact : Num a => a -> a
            > fact 5
            120 : Int
            > def sin x = x
            sin : a -> a
            > sin 7
            7 : Int
        "#]],
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
        expect![[r#"
            > type Shape = Circle Real | Square Real
            type Shape
            > alias Point = {x : Real, y : Real}
            alias Point
            > def area s = match s with | Circle r -> pi * r ^ 2 | Square a -> a ^ 2
            area : Shape -> Real
            > area (Square 3)
            9.0 : Real
            > def norm1 (p : Point) = p.x + p.y
            norm1 : {x : Real, y : Real} -> Real
            > norm1 {x = 1, y = 2}
            3.0 : Real
            > import linalg as la
            imported linalg
            > import option
            imported option
            > import nothing
            error[E0804]: the library has no module `nothing`
             --> <input 9>:1:8
              |
            1 | import nothing
              |        ^^^^^^^ not found
              |
              = note: its modules are array, autodiff, complex, linalg, list, ode, optimize, option, poly, quaternion, random, special, stats
              = help: a file is imported by its path: `import "nothing.wg"`

            > import option (nothing)
            error[E0206]: module `option` has nothing called `nothing`
             --> <input 10>:1:16
              |
            1 | import option (nothing)
              |                ^^^^^^^ not found

            > la.solve [[2.0]] [4.0]
            [2.0] : [1]Real
            > type Shape = Line
            type Shape
            > Line
            Line : Shape
            > :browse
            type Shape = Line
            type Option a = None | Some a
            alias Point = {x : Real, y : Real}
            area : Shape -> Real
            norm1 : {x : Real, y : Real} -> Real
            with_default : a -> Option a -> a
            is_some : Option a -> Bool
            is_none : Option a -> Bool
            map_option : (a -> b) -> Option a -> Option b
            and_then : (a -> Option b) -> Option a -> Option b
            or_else : Option a -> Option a -> Option a
            expect : String -> Option a -> a
        "#]],
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
        expect![[r#"
            > def f x = x + 1
            f : Num a => a -> a
            > def f x = x + nope
            error[E0201]: `nope` is not defined
             --> <input 2>:1:15
              |
            1 | def f x = x + nope
              |               ^^^^ not found
              |
              = help: perhaps `norm` is meant

            > f 1
            2 : Int
            > 1 +
            error[E0110]: expected an expression after `+`, found the end of the text
             --> <input 4>:1:4
              |
            1 | 1 +
              |   -^
              |   |
              |   the operator is here

            > [1, 2][7]
            error[E0504]: index 7 is outside of an array of 2 elements
             --> <input 5>:1:8
              |
            1 | [1, 2][7]
              | ------ ^ outside
              | |
              | this array has size 2
              |
              = help: indices go from 0 to 1

            > let boom = 1 / 0
            error[E0702]: `1 / 0`: an `Int` cannot be divided by zero
             --> <input 6>:1:12
              |
            1 | let boom = 1 / 0
              |            ^^^^^
              |
              = help: test the divisor first, or convert with `real`: division of `Real`s gives `Infinity` or `NaN`

            > boom
            error[E0201]: `boom` is not defined
             --> <input 7>:1:1
              |
            1 | boom
              | ^^^^ not found
              |
              = help: perhaps `norm` is meant

            > f 2
            3 : Int
        "#]],
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
            "-- Twice as much.\ndef double x = 2 * x",
            ":help double",
            ":help nonsense",
            ":quit",
        ],
        expect![[r#"
            > :type \x -> x + 1
            \x -> x + 1 : Num a => a -> a
            > :t grad
            grad : (Data a, Smooth a) => (a -> Real) -> a -> a
            > :type
            error[E0824]: `:type` needs an argument
             = help: write `:type EXPR`

            > :cost exp 1.0
            primal 4, jvp 5, vjp 5 floating-point operations
            > :cost 1.0 + 2.0
            1 floating-point operation
            > :cost (\x y -> x * y + sin x) 2 3
            primal 6, jvp 15, vjp 14 floating-point operations
            > :cost map sin [1.0, 2.0]
            8 floating-point operations
            > :cost 1 +
            error[E0110]: expected an expression after `+`, found the end of the text
             --> <input 7>:1:4
              |
            1 | 1 +
              |   -^
              |   |
              |   the operator is here

            > :load
            error[E0824]: `:load` needs an argument
             = help: write `:load FILE`

            > :reload
            error[E0824]: no file has been loaded yet
             = help: write `:load FILE` first

            > :load nowhere.wg
            error[E0801]: the file `nowhere.wg` does not exist

            > :typ 1
            1 : Num a => a
            > :tpye 1
            error[E0823]: there is no command `:tpye`
             = help: did you mean `:type`?

            > :help relu
            relu : Real -> Real
                `max x 0`, with derivative 0 at 0.
                (built in)
            > -- Twice as much.
            def double x = 2 * x
            double : Num a => a -> a
            > :help double
            double : Num a => a -> a
                Twice as much.
            > :help nonsense
            error[E0820]: the library has nothing called `nonsense`
             = help: `wengert doc` lists everything

            > :quit
            (bye)
        "#]],
    );
}

#[test]
fn constants_are_evaluated_once() {
    let mut repl = Repl::new(Options::default(), Style::Plain);
    let reply = repl.answer("let slow = iterate 300000 (\\x -> x + 1) 0.0");
    assert_eq!((reply.output.as_str(), reply.errors.as_str()), ("slow : Real\n", ""));
    assert_eq!(repl.answer(":cost slow").output, "0 floating-point operations\n");
    for other in ["let b = slow + 1", "import linalg", "def f x = x", "type T = T", "slow"] {
        assert_eq!(repl.answer(other).errors, "");
    }
    assert_eq!(repl.answer(":cost slow").output, "0 floating-point operations\n");
    assert_eq!(repl.answer("slow").output, "300000.0 : Real\n");
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
    assert_eq!(names("1 + ", "la.det_"), ["la.det_without_division"]);
    assert_eq!(names("import ", "lin"), ["linalg"]);
    assert_eq!(names(":", "re"), ["reload"]);
    assert_eq!(repl.complete("", "sinful"), [("sinful".to_string(), "Real -> Real".to_string())]);
}

#[test]
fn files_are_loaded_again_and_imported_again() {
    let folder = std::env::temp_dir().join(format!("wengert-repl-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("a.wg");
    let path = file.display().to_string();
    let mut repl = Repl::new(Options::default(), Style::Plain);
    std::fs::write(&file, "type T = A | B\ndef f x = match x with | A -> 1 | B -> 2\n").unwrap();
    assert_eq!(repl.answer(&format!("import \"{path}\"")).output, "imported a\n");
    repl.answer("def old x = f x");
    repl.answer("let a = A");
    std::fs::write(&file, "type T = A | B | C\ndef f x = match x with | A -> 10.0 | B -> 20.0 | C -> 30.0\n")
        .unwrap();
    repl.answer(&format!("import \"{path}\""));
    assert_eq!(repl.answer("(old a, f C)").output, "(1, 30.0) : (Int, Real)\n");
    assert!(repl.answer("f a").failed, "`a` is of the old type");
    assert_eq!(repl.answer(&format!(":load {path}")).output, format!("loaded {path} (1 definition)\n"));
    std::fs::write(&file, "def g x = x\ndef h x = x\n").unwrap();
    assert_eq!(repl.answer(":reload").output, format!("loaded {path} (2 definitions)\n"));
    std::fs::write(&file, "def g x = nope\n").unwrap();
    assert!(repl.answer(":reload").failed);
    assert_eq!(repl.answer("h 1").output, "1 : Int\n");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_long_session_does_not_keep_what_was_only_asked() {
    for engine in [Engine::Interp, Engine::Native] {
        let mut repl = Repl::new(Options { engine, ..Options::default() }, Style::Plain);
        let mut ask = |text: &str| {
            let reply = repl.answer(text);
            assert!(!reply.failed, "{}", reply.errors);
            repl.evaluator.kept()
        };
        let defined = ask("def f x = map (\\y -> sin (x * y)) [1.0, 2.0]");
        assert!(defined > 0);
        let once = ask("grad (\\x -> sum (map (\\y -> y * x) (f x))) 0.5");
        let again =
            (0..20).map(|k| ask(&format!("grad (\\x -> sum (map (\\y -> y * {k}.0) (f x))) 0.5"))).last();
        assert_eq!(again, Some(once), "{}", engine.name());
    }
}

#[test]
fn costs_are_the_same_with_every_engine() {
    let asked = [
        "def slow = sum (map sin [1.0, 2.0])",
        ":cost sin 1.0 + slow",
        ":cost slow",
        ":cost (\\x -> x * exp x) 2.0",
    ];
    let costs = |engine| {
        let mut repl = Repl::new(Options { engine, ..Options::default() }, Style::Plain);
        asked.map(|text| repl.answer(text).output)
    };
    let known = costs(Engine::Interp);
    assert_eq!(known[1], "5 floating-point operations\n");
    assert!([Engine::Ir, Engine::Native].iter().all(|engine| costs(*engine) == known));
}
