//! The standard library and the examples check without errors.

use super::{Loader, library, render};
use std::path::Path;

fn check_folder(folder: &Path) {
    let mut loader = Loader::default();
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut failures = String::new();
    for file in files.into_iter().filter(|file| file.extension().is_some_and(|ext| ext == "wg")) {
        let text = std::fs::read_to_string(&file).unwrap();
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let loaded = loader.load(&name, &text);
        let rendered = render(&loaded);
        if !rendered.is_empty() {
            failures.push_str(&format!("== {}\n{rendered}", file.display()));
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

#[test]
fn the_library_has_no_errors() {
    check_folder(&library());
}

#[test]
fn the_examples_have_no_errors() {
    check_folder(&library().join("../examples"));
}
