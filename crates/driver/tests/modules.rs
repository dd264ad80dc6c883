//! Loading modules: each is checked once, and again only when its text or something it imports has changed.

#![expect(clippy::unwrap_used, reason = "this is a test")]

use std::path::PathBuf;
use std::sync::Arc;
use wengert_driver::modules::CheckedModule;
use wengert_driver::{Report, Session};

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("wengert-driver-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn module(report: &Report, name: &str) -> Arc<CheckedModule> {
    assert!(!report.has_errors(), "{:?}", report.diagnostics);
    report.modules.iter().find(|module| module.name.as_str() == name).cloned().expect("the module is there")
}

#[test]
fn a_module_is_checked_again_only_when_something_it_needs_has_changed() {
    let folder = Folder::new("cache");
    let base = folder.write("base.wg", "def a = 1.5\n");
    folder.write("other.wg", "import linalg\ndef o = 2\n");
    let top = folder.write("top.wg", "import \"base.wg\"\nimport \"other.wg\"\ndef t = a\n");
    let mut session = Session::new();
    let first = session.check_file(&top);
    let again = session.check_file(&top);
    for name in ["base", "other", "top", "linalg", "prelude"] {
        assert!(Arc::ptr_eq(&module(&first, name), &module(&again, name)), "{name}");
    }
    std::fs::write(&base, "def a = 2\n").unwrap();
    let changed = session.check_file(&top);
    let names: Vec<&str> = changed.modules.iter().map(|module| module.name.as_str()).collect();
    assert!(names.ends_with(&["top_2"]) && names.contains(&"base_2"), "{names:?}");
    for name in ["other", "linalg", "prelude"] {
        assert!(Arc::ptr_eq(&module(&first, name), &module(&changed, name)), "{name}");
    }
    assert_eq!(changed.signatures()[0].ty, "Num a => a");
    std::fs::write(&base, "def a = 1.5\n").unwrap();
    assert!(Arc::ptr_eq(&module(&first, "top"), &module(&session.check_file(&top), "top")));
}

#[test]
fn what_was_missing_is_found_when_it_is_there() {
    let folder = Folder::new("missing");
    let top = folder.write("top.wg", "import \"late.wg\"\ndef t = late_value\n");
    let mut session = Session::new();
    let report = session.check_file(&top);
    let codes: Vec<&str> = report.diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
    assert_eq!(codes, ["E0801"], "a name that may come from the missing file is not reported too");
    folder.write("late.wg", "def late_value = true\n");
    assert_eq!(session.check_file(&top).signatures()[0].ty, "Bool");
}

#[test]
fn two_files_with_one_name_are_told_apart() {
    let folder = Folder::new("shapes");
    std::fs::create_dir_all(folder.0.join("other")).unwrap();
    folder.write("shapes.wg", "def area x = x * x\n");
    folder.write("other/shapes.wg", "def area x = x\n");
    let both = "import \"shapes.wg\"\nimport \"other/shapes.wg\"\ndef t = shapes.area 2\n";
    let again = "import \"shapes.wg\"\nimport \"other/../shapes.wg\"\ndef t = shapes.area 2\n";
    let named = "import \"shapes.wg\"\nimport \"other/shapes.wg\" as s\ndef t = shapes.area 2 + s.area 1\n";
    for (text, expected) in [(both, &["E0218"][..]), (again, &[]), (named, &[])] {
        let top = folder.write("top.wg", text);
        let report = Session::new().check_file(&top);
        let codes: Vec<&str> = report.diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
        assert_eq!(codes, expected, "{text}");
    }
}

#[test]
fn a_module_that_many_need_is_loaded_once_and_comes_before_them() {
    let folder = Folder::new("diamond");
    folder.write("base.wg", "type T = T\ndef make = T\n");
    folder.write("left.wg", "import \"base.wg\"\ndef l = make\n");
    folder.write("right.wg", "import \"./base.wg\"\ndef r x = match x with | T -> 1\n");
    let top = folder.write("top.wg", "import \"left.wg\"\nimport \"right.wg\"\ndef t : Int = r l\n");
    let report = Session::new().check_file(&top);
    assert!(!report.has_errors(), "{:?}", report.diagnostics);
    let names: Vec<&str> = report.modules.iter().map(|module| module.name.as_str()).collect();
    assert_eq!(names, ["prelude", "base", "left", "right", "top"]);
}

#[test]
fn a_chain_of_a_thousand_imports_needs_no_stack() {
    let folder = Folder::new("chain");
    let count = 1000;
    folder.write("m0.wg", "def v0 = 0.5\n");
    for i in 1..count {
        let text = format!("import \"m{}.wg\" (v{})\ndef v{i} = v{}\n", i - 1, i - 1, i - 1);
        folder.write(&format!("m{i}.wg"), &text);
    }
    let top = folder.0.join(format!("m{}.wg", count - 1));
    let worker = std::thread::Builder::new().stack_size(512 << 10);
    let worker = worker.spawn(move || {
        let report = Session::new().check_file(&top);
        assert_eq!(report.signatures()[0].ty, "Real");
    });
    worker.unwrap().join().unwrap();
}

#[test]
fn every_library_module_checks_without_a_word() {
    let mut session = Session::new();
    for library in wengert_driver::library::MODULES {
        let report = session.check_text(
            "<test>",
            &format!("import {} as m\n", library.name),
            std::path::Path::new(""),
        );
        if library.name != "prelude" {
            assert_eq!(report.diagnostics, [], "{}", library.name);
        }
    }
}
