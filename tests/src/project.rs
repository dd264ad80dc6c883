//! Where the project lies and which files it has.

use std::path::{Path, PathBuf};

/// The root of the project.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests lie in a folder of the project")
}

/// `path` as it is written from the root, with `/` between its parts.
pub fn relative(path: &Path) -> String {
    let inside = path.strip_prefix(root()).unwrap_or(path);
    inside.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// All files under `folder` (from the root) whose name ends in `.extension`, sorted.
pub fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(&root().join(folder), &mut found);
    found.retain(|path| path.extension().is_some_and(|e| e == extension));
    found.sort();
    found
}

/// All text files of the project that a clone would have: everything but build outputs and version control.
pub fn all_files() -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(root(), &mut found);
    found.sort();
    found
}

/// A folder's files, in depth. A hidden folder is left out, but for the one that holds the checks of the project.
fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() {
            let hidden = name.starts_with('.') && name != ".ci";
            if !hidden && !name.starts_with("target") {
                collect(&path, found);
            }
        } else {
            found.push(path);
        }
    }
}

/// The text of a file; a test that cannot read its own project must fail.
pub fn read(path: &Path) -> String {
    match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => panic!("cannot read {}: {error}", path.display()),
    }
}

/// Writes a file of the project (only when blessing).
pub fn write(path: &Path, text: &str) {
    if let Err(error) = std::fs::write(path, text) {
        panic!("cannot write {}: {error}", path.display());
    }
}

/// An empty folder for a test's own files, under the build folder.
pub fn scratch(name: &str) -> PathBuf {
    let folder = crate::command::build_folder().join("wengert-tests").join(name);
    if folder.exists()
        && let Err(error) = std::fs::remove_dir_all(&folder)
    {
        panic!("cannot empty {}: {error}", folder.display());
    }
    if let Err(error) = std::fs::create_dir_all(&folder) {
        panic!("cannot make {}: {error}", folder.display());
    }
    folder
}
