//! The standard library, written in Wengert and embedded in the program.

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
