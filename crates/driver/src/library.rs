//! The standard library, written in Wengert and embedded in the program.

use rustc_hash::FxHashMap;
use std::sync::LazyLock;
use wengert_base::{Name, SourceId};
use wengert_check::Declared;
use wengert_syntax::ast::Item;
use wengert_syntax::parse;

/// A module of the library.
#[derive(Clone, Copy, Debug)]
pub struct LibraryModule {
    /// The name by which it is imported.
    pub name: &'static str,
    /// The name shown for its source in messages.
    pub file: &'static str,
    /// Its text.
    pub text: &'static str,
}

macro_rules! library {
    ($($name:literal)*) => {
        &[$(LibraryModule {
            name: $name,
            file: concat!("lib/", $name, ".wg"),
            text: include_str!(concat!("../../../lib/", $name, ".wg")),
        }),*]
    };
}

/// All modules; the prelude, which every module imports, comes first.
pub const MODULES: &[LibraryModule] = library! {
    "prelude"
    "array"
    "autodiff"
    "complex"
    "linalg"
    "list"
    "ode"
    "optimize"
    "option"
    "poly"
    "quaternion"
    "random"
    "special"
    "stats"
};

/// The module every other module imports.
pub const PRELUDE: &str = "prelude";

/// The module of that name.
pub fn find(name: &str) -> Option<&'static LibraryModule> {
    MODULES.iter().find(|module| module.name == name)
}

/// The module that declares a name, the first if there are several; the prelude is not asked, as nobody imports it.
pub fn declaring(what: Declared, name: Name) -> Option<&'static str> {
    static DECLARED: LazyLock<FxHashMap<(Declared, Name), &'static str>> = LazyLock::new(|| {
        let mut declared = FxHashMap::default();
        for module in MODULES.iter().filter(|module| module.name != PRELUDE) {
            for item in &parse(SourceId(0), module.text).module.items {
                for key in declarations(item) {
                    declared.entry(key).or_insert(module.name);
                }
            }
        }
        declared
    });
    DECLARED.get(&(what, name)).copied()
}

fn declarations(item: &Item) -> Vec<(Declared, Name)> {
    match item {
        Item::Import(_) => Vec::new(),
        Item::Def(def) => vec![(Declared::Value, def.name.name)],
        Item::Alias(alias) => vec![(Declared::Type, alias.name.name)],
        Item::Type(data) => {
            let ctors = data.ctors.iter().map(|ctor| (Declared::Ctor, ctor.name.name));
            std::iter::once((Declared::Type, data.name.name)).chain(ctors).collect()
        }
    }
}

/// The names of all modules that can be imported.
pub fn names() -> Vec<&'static str> {
    MODULES.iter().map(|module| module.name).filter(|name| *name != PRELUDE).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_library_is_embedded() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../lib");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|file| file.ends_with(".wg"))
            .map(|file| format!("lib/{file}"))
            .collect();
        files.sort();
        let mut embedded: Vec<&str> = MODULES.iter().map(|module| module.file).collect();
        embedded.sort();
        assert_eq!(files, embedded);
    }
}
