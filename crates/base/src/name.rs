//! Interned names: a [`Name`] is a small copyable handle to a string that lives as long as the program.
//!
//! Names compare for equality by handle and are ordered by their text, so that ordered maps of names print in a
//! stable, human order.

use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::fmt;
use std::sync::{LazyLock, RwLock};

/// An interned string.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Name(&'static InternedStr);

/// The interned text; equality is by address, which interning makes equivalent to equality of text.
struct InternedStr(Box<str>);

impl PartialEq for InternedStr {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for InternedStr {}

impl std::hash::Hash for InternedStr {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        std::ptr::from_ref(self).hash(state);
    }
}

static TABLE: LazyLock<RwLock<FxHashMap<&'static str, Name>>> = LazyLock::new(RwLock::default);

impl Name {
    /// Interns `text`.
    pub fn new(text: &str) -> Name {
        if let Some(name) = TABLE.read().unwrap_or_else(|e| e.into_inner()).get(text) {
            return *name;
        }
        let mut table = TABLE.write().unwrap_or_else(|e| e.into_inner());
        if let Some(name) = table.get(text) {
            return *name;
        }
        let interned: &'static InternedStr = Box::leak(Box::new(InternedStr(text.into())));
        let name = Name(interned);
        table.insert(&interned.0, name);
        name
    }

    /// The text of the name.
    pub fn as_str(self) -> &'static str {
        &self.0.0
    }
}

impl From<&str> for Name {
    fn from(text: &str) -> Name {
        Name::new(text)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Name) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Name {
    fn cmp(&self, other: &Name) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::Name;

    #[test]
    fn same_text_is_the_same_name_and_order_is_by_text() {
        assert_eq!(Name::new("sin"), Name::new("sin"));
        assert_ne!(Name::new("sin"), Name::new("cos"));
        assert!(Name::new("cos") < Name::new("sin"));
        assert_eq!(Name::new("λ").to_string(), "λ");
    }
}
