//! `check` and `fmt`.

use crate::folder::Folder;

#[test]
fn check_prints_types_in_the_order_of_the_file() {
    let folder = Folder::with(&[("a.wg", "def second = first + 1\ndef first = 1.5\ndef id2 x = x\n")]);
    assert_eq!(folder.run(&["check", "a.wg"]).value(), "second : Real\nfirst : Real\nid2 : a -> a");
}

#[test]
fn check_of_several_files_names_them() {
    let folder = Folder::with(&[("a.wg", "def x = 1.5\n"), ("b.wg", "import \"a.wg\"\ndef y = x + 1\n")]);
    assert_eq!(folder.run(&["check", "a.wg", "b.wg"]).value(), "a.wg:\nx : Real\nb.wg:\ny : Real");
}

#[test]
fn check_reports_every_fault_once_and_in_order() {
    let folder = Folder::with(&[
        ("bad.wg", "def x = 1 + true\ndef y = nope\n"),
        ("b.wg", "import \"bad.wg\"\ndef z = x\n"),
        ("c.wg", "import \"./sub/../bad.wg\"\ndef z = y\n"),
        ("sub/d.wg", "import \"../bad.wg\"\n"),
    ]);
    let ran = folder.run(&["check", "b.wg", "c.wg", "sub/d.wg"]);
    ran.fails(1, &["bad.wg:1:", "bad.wg:2:9", "E02"]);
    assert_eq!(ran.stderr.matches("error[").count(), 2, "{}", ran.stderr);
    assert_eq!(ran.stdout, "");
}

#[test]
fn check_reports_as_json() {
    let folder = Folder::with(&[("good.wg", "def x = 1.5\n"), ("bad.wg", "def y = nope\n")]);
    let ran = folder.run(&["check", "--json", "good.wg", "bad.wg"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (1, ""));
    let all: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(all["ok"], false);
    let good = &all["files"][0];
    assert_eq!(good["ok"], true);
    assert_eq!(
        good["definitions"][0],
        serde_json::json!({"name": "x", "type": "Real", "line": 1, "column": 5})
    );
    let bad = &all["files"][1]["diagnostics"][0];
    assert_eq!(bad["severity"], "error");
    assert_eq!(bad["file"], "bad.wg");
    assert_eq!(bad["start"], serde_json::json!({"line": 1, "column": 9}));
    assert_eq!(bad["end"], serde_json::json!({"line": 1, "column": 13}));
    assert!(bad["code"].as_str().unwrap().starts_with("E02"));
}

#[test]
fn files_that_cannot_be_read() {
    let folder = Folder::with(&[]);
    folder.write("latin1.wg", b"def x = \"\xe9\"\n");
    folder.run(&["check", "none.wg"]).fails(1, &["E0801"]);
    folder.run(&["check", "latin1.wg"]).fails(1, &["E0802", "byte 9"]);
    folder.run(&["check"]).fails(2, &["Usage"]);
}

#[test]
fn a_comment_ends_where_a_line_of_any_system_ends() {
    let folder = Folder::with(&[("old.wg", "-- a comment\rdef x = 1 -- another\rdef main = x + 1\r")]);
    assert_eq!(folder.run(&["run", "old.wg"]).value(), "2");
    folder.run(&["fmt", "old.wg"]);
    assert_eq!(folder.read("old.wg"), "-- a comment\ndef x = 1  -- another\ndef main = x + 1\n");
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_are_fine() {
    let folder = Folder::with(&[("a.wg", "\u{feff}def x = 1.5\r\n-- comment\r\ndef y = x\r\n")]);
    assert_eq!(folder.run(&["check", "a.wg"]).value(), "x : Real\ny : Real");
}

#[test]
fn imports_go_wrong_with_clear_messages() {
    let folder = Folder::with(&[
        ("a.wg", "import \"b.wg\"\ndef x = 1\n"),
        ("b.wg", "import \"sub/c.wg\"\ndef y = 1\n"),
        ("sub/c.wg", "import \"../a.wg\"\ndef z = 1\n"),
        ("self.wg", "import \"self.wg\"\n"),
        ("missing.wg", "import \"nowhere.wg\"\n"),
        ("library.wg", "import linalgg\n"),
        ("again.wg", "import nothing_like_it\n"),
    ]);
    folder
        .run(&["check", "a.wg"])
        .fails(1, &["E0805", "sub/c.wg:1:1", "`sub/c.wg` imports `a.wg` imports `b.wg` imports `sub/c.wg`"]);
    folder.run(&["check", "self.wg"]).fails(1, &["E0805", "`self.wg` imports itself"]);
    folder
        .run(&["check", "missing.wg"])
        .fails(1, &["E0801", "missing.wg:1:8", "`nowhere.wg` does not exist"]);
    folder.run(&["check", "library.wg"]).fails(1, &["E0804", "did you mean `import linalg`?"]);
    folder.run(&["check", "again.wg"]).fails(1, &["E0804", "import \"nothing_like_it.wg\""]);
}

#[test]
fn two_files_of_one_name_are_different_modules() {
    let folder = Folder::with(&[
        ("a/util.wg", "type T = A Int\ndef x = A 1\n"),
        ("b/util.wg", "type T = B Real\ndef x = B 2.5\n"),
        ("list.wg", "def mine = 7\n"),
        (
            "main.wg",
            "import \"a/util.wg\" as a\nimport \"b/util.wg\" as b\nimport \"list.wg\" as l\nimport list\ndef main = (a.x, b.x, l.mine)\n",
        ),
    ]);
    assert_eq!(folder.run(&["run", "main.wg"]).value(), "(A 1, B 2.5, 7)");
}

#[test]
fn fmt_rewrites_lists_and_pipes() {
    let ugly = "def   f x=x+1\n";
    let folder = Folder::with(&[("a.wg", ugly), ("b.wg", "def f x = x + 1\n")]);
    let listed = folder.run(&["fmt", "--check", "a.wg", "b.wg"]);
    assert_eq!((listed.status, listed.stdout.as_str()), (1, "a.wg\n"));
    assert_eq!(folder.read("a.wg"), ugly);
    let piped = folder.run_with(&["fmt", "-"], ugly.as_bytes());
    assert_eq!((piped.status, piped.stdout.as_str()), (0, "def f x = x + 1\n"));
    let done = folder.run(&["fmt", "a.wg", "b.wg"]);
    assert_eq!((done.status, done.stdout.as_str(), done.stderr.as_str()), (0, "", ""));
    assert_eq!(folder.read("a.wg"), "def f x = x + 1\n");
    assert_eq!(folder.run(&["fmt", "--check", "a.wg", "b.wg"]).status, 0);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn fmt_leaves_what_it_cannot_read() {
    let folder = Folder::with(&[("bad.wg", "def f = (1 +\n"), ("ok.wg", "def   x=1\n")]);
    folder.run(&["fmt", "bad.wg", "ok.wg", "none.wg"]).fails(1, &["bad.wg:", "E0801"]);
    assert_eq!(folder.read("bad.wg"), "def f = (1 +\n");
    assert_eq!(folder.read("ok.wg"), "def x = 1\n");
}

#[cfg(unix)]
#[test]
fn fmt_keeps_links_and_permissions() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = Folder::with(&[("real.wg", "def   x=1\n")]);
    let real = folder.path().join("real.wg");
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).unwrap();
    symlink("real.wg", folder.path().join("link.wg")).unwrap();
    assert_eq!(folder.run(&["fmt", "link.wg"]).status, 0);
    assert!(folder.path().join("link.wg").is_symlink());
    assert_eq!(folder.read("real.wg"), "def x = 1\n");
    assert_eq!(std::fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
}
