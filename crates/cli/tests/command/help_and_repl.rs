//! `doc`, `explain`, `completions`, `--help`, and the interactive mode through a pipe.

use crate::folder::Folder;

#[test]
fn doc_describes_functions_modules_and_everything() {
    let folder = Folder::with(&[]);
    let vjp = folder.run(&["doc", "vjp"]);
    assert!(vjp.value().contains("vjp : ") && vjp.value().contains("(built in)"), "{vjp:?}");
    let grad = folder.run(&["doc", "grad"]);
    assert!(grad.value().contains("grad : ") && grad.value().contains("reverse mode"), "{grad:?}");
    assert_eq!(folder.run(&["doc", "∇"]).stdout, grad.stdout);
    let module = folder.run(&["doc", "linalg"]);
    assert!(module.value().starts_with("linalg\n") && module.value().contains("solve : "), "{module:?}");
    assert_eq!(folder.run(&["doc", "linalg.solve"]).stdout, folder.run(&["doc", "solve"]).stdout);
    let all = folder.run(&["doc"]);
    assert!(all.value().contains("import linalg\n") && all.value().contains(" vjp "), "{all:?}");
    folder.run(&["doc", "hesian"]).fails(1, &["E0820", "did you mean `hessian`?"]);
}

#[test]
fn explain_knows_all_codes() {
    let folder = Folder::with(&[]);
    let all = folder.run(&["explain"]);
    let codes: Vec<&str> =
        all.value().lines().filter_map(|line| line.split_once(' ')).map(|(code, _)| code).collect();
    assert!(codes.len() >= 60, "{}", codes.len());
    assert!(codes.is_sorted());
    for code in codes {
        let text = folder.run(&["explain", code]).stdout;
        assert!(text.starts_with(&format!("{code}: ")) && text.lines().count() >= 3, "{text}");
    }
    assert!(folder.run(&["explain", "e810"]).value().starts_with("E0810: "));
    folder.run(&["explain", "E9999"]).fails(1, &["there is no error code `E9999`"]);
}

#[test]
fn completions_for_shells() {
    let folder = Folder::with(&[]);
    for shell in ["bash", "zsh", "fish"] {
        assert!(folder.run(&["completions", shell]).stdout.contains("wengert"));
    }
    folder.run(&["completions", "clay"]).fails(2, &["possible values"]);
}

#[test]
fn help_has_examples_and_wrong_usage_is_2() {
    let folder = Folder::with(&[]);
    let help = folder.run(&["--help"]);
    assert!(help.status == 0 && help.stdout.contains("Examples:"));
    for command in ["eval", "run", "check", "fmt", "repl", "cost", "doc", "explain", "completions"] {
        let help = folder.run(&[command, "--help"]);
        assert!(help.status == 0 && help.stdout.contains("Usage: wengert"), "{help:?}");
    }
    folder.run(&[]).fails(2, &["Usage"]);
    folder.run(&["frobnicate"]).fails(2, &["frobnicate"]);
}

#[test]
fn the_interactive_mode_reads_a_pipe() {
    let folder = Folder::with(&[("a.wg", "def square_of x = x ^ 2\n")]);
    let ran = folder.run_with(
        &["repl"],
        b"1 + 2\ndef f x =\n  x ^ 3\n:type f\ngrad f 2.0\n:load a.wg\nsquare_of 3\n:quit\nnever\n",
    );
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    assert_eq!(
        ran.stdout,
        "3 : Int\nf : Num a => a -> a\nf : Num a => a -> a\n12.0 : Real\nloaded a.wg (1 definition)\n9 : Int\n"
    );
    let ran = folder.run_with(
        &["repl"],
        b"type T = A | B\nmatch B with\n| A -> 1\n| B -> 2\ndef f t =\n  match t with\n  | A -> 10\n  | B -> 20\n\nf A\nmatch A with\n| _ -> 3",
    );
    assert_eq!(
        (ran.stdout.as_str(), ran.stderr.as_str()),
        ("type T\n2 : Int\nf : Num a => T -> a\n10 : Int\n3 : Int\n", "")
    );
    let ran = folder.run_with(&["repl", "a.wg"], b"nope\nsquare_of 2");
    assert_eq!((ran.status, ran.stdout.as_str()), (1, "loaded a.wg (1 definition)\n4 : Int\n"));
    assert!(ran.stderr.contains("E02"), "{}", ran.stderr);
    let ran = folder.run_with(&["repl", "--engine", "native"], b"def f x = x * x\ngrad f 3.0");
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("f : Num a => a -> a\n6.0 : Real\n", ""));
}
