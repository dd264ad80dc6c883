//! Names at top level: what a name means in a module, given its imports and the prelude.
//!
//! The module's own declarations come first, then imports, then the prelude, then the primitives. Two imports that give
//! a name different meanings make it ambiguous where it is used, not where it is imported. If an import could not be
//! loaded, names that are found nowhere else may come from it, and nothing is reported about them.

use crate::interface::{AliasInfo, CtorInfo, Interface, KnownTypes, TypeInfo, ValueInfo};
use crate::module::Elsewhere;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::{Arc, LazyLock};
use wengert_base::{Name, Span};
use wengert_prim::Prim;
use wengert_prim::table::PRIMS;

/// One import, or one opened interface.
#[derive(Clone, Debug)]
pub(crate) struct ImportScope {
    /// The name before the point.
    pub(crate) qualifier: Option<Name>,
    /// How the user calls it.
    pub(crate) title: String,
    /// Which names need no qualification.
    pub(crate) visible: Visible,
    /// What it offers; nothing if it could not be loaded.
    pub(crate) interface: Option<Arc<Interface>>,
    pub(crate) span: Span,
}

/// Which names of an import need no qualification.
#[derive(Clone, Debug)]
pub(crate) enum Visible {
    All,
    None,
    Only(FxHashSet<Name>),
}

/// A value at top level.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// A definition of this module that is being or will be inferred.
    Own(Name),
    /// A finished definition.
    Done(ValueInfo),
    /// A primitive.
    Prim(Prim),
}

/// What looking up a name gave.
#[derive(Clone, Debug)]
pub(crate) enum Found<T> {
    One(T),
    /// Several imports disagree; their titles and places.
    Ambiguous(Vec<(String, Span)>),
    /// It may come from an import that could not be loaded.
    Excused,
    Nothing,
}

/// Everything at top level that a module can see.
#[derive(Debug)]
pub(crate) struct Globals {
    /// The module's own interface, growing as its definitions are inferred.
    pub(crate) own: Interface,
    /// Own definitions, finished or not, with the places of their names.
    pub(crate) own_values: FxHashMap<Name, Span>,
    pub(crate) imports: Vec<ImportScope>,
    pub(crate) prelude: Option<Arc<Interface>>,
    /// All data types in sight, by qualified name.
    pub(crate) known_types: KnownTypes,
    /// Later imports hide earlier ones instead of clashing with them: the REPL's rule.
    pub(crate) later_wins: bool,
    /// Where names are that are not in sight.
    pub(crate) elsewhere: Elsewhere,
}

static PRIM_NAMES: LazyLock<FxHashMap<Name, Prim>> =
    LazyLock::new(|| PRIMS.iter().map(|info| (Name::new(info.name), info.prim)).collect());

/// Mathematical spellings of library names.
const MATHEMATICAL: &[(&str, &str)] = &[
    ("∇", "grad"),
    ("∂", "derivative"),
    ("Ω", "pullback"),
    ("π", "pi"),
    ("⊕", "add"),
    ("⊗", "scale"),
    ("⊙", "inner"),
    ("¬", "not"),
];

/// The ASCII name of a mathematical spelling.
pub(crate) fn ascii_name(name: Name) -> Name {
    MATHEMATICAL.iter().find(|(from, _)| *from == name.as_str()).map_or(name, |(_, to)| Name::new(to))
}

/// Whether a name is a sign that one reads as an operator, as in `x ⊕ y`.
pub(crate) fn is_symbol_of_a_function(name: Name) -> bool {
    matches!(name.as_str(), "⊕" | "⊗" | "⊙")
}

impl Globals {
    pub(crate) fn new(
        module: Name,
        imports: Vec<ImportScope>,
        prelude: Option<Arc<Interface>>,
        later_wins: bool,
        elsewhere: Elsewhere,
    ) -> Globals {
        let mut known_types = KnownTypes::default();
        for interface in imports.iter().filter_map(|import| import.interface.as_ref()).chain(&prelude) {
            known_types.extend(interface.known_types.iter().map(|(name, info)| (*name, Arc::clone(info))));
        }
        Globals {
            own: Interface::empty(module),
            own_values: FxHashMap::default(),
            imports,
            prelude,
            known_types,
            later_wins,
            elsewhere,
        }
    }

    /// The name of something of this module in the core.
    pub(crate) fn qualify(&self, name: Name) -> Name {
        Name::new(&format!("{}.{name}", self.own.name))
    }

    /// A value by its unqualified name.
    pub(crate) fn value(&self, name: Name) -> Found<Value> {
        let direct = self.value_as_written(name);
        let ascii = ascii_name(name);
        if matches!(direct, Found::Nothing | Found::Excused) && ascii != name {
            return self.value_as_written(ascii);
        }
        direct
    }

    fn value_as_written(&self, name: Name) -> Found<Value> {
        if let Some(done) = self.own.values.get(&name) {
            return Found::One(Value::Done(done.clone()));
        }
        if self.own_values.contains_key(&name) {
            return Found::One(Value::Own(name));
        }
        let found = self.imported(name, |interface| interface.values.get(&name), |value| value.qualified);
        match found {
            Found::One(value) => Found::One(Value::Done(value.clone())),
            Found::Ambiguous(places) => Found::Ambiguous(places),
            Found::Nothing | Found::Excused => match (PRIM_NAMES.get(&name), found) {
                (Some(prim), _) => Found::One(Value::Prim(*prim)),
                (None, Found::Excused) => Found::Excused,
                (None, _) => Found::Nothing,
            },
        }
    }

    /// A constructor by its unqualified name.
    pub(crate) fn ctor(&self, name: Name) -> Found<CtorInfo> {
        if let Some(ctor) = self.own.ctors.get(&name) {
            return Found::One(ctor.clone());
        }
        self.imported(name, |interface| interface.ctors.get(&name), |ctor| ctor.info.data.name).cloned()
    }

    /// A data type by its unqualified name.
    pub(crate) fn data_type(&self, name: Name) -> Found<Arc<TypeInfo>> {
        if let Some(info) = self.own.types.get(&name) {
            return Found::One(Arc::clone(info));
        }
        self.imported(name, |interface| interface.types.get(&name), |info| info.data.name).cloned()
    }

    /// An alias by its unqualified name.
    pub(crate) fn alias(&self, name: Name) -> Found<Arc<AliasInfo>> {
        if let Some(info) = self.own.aliases.get(&name) {
            return Found::One(Arc::clone(info));
        }
        self.imported(name, |interface| interface.aliases.get(&name), Arc::as_ptr).cloned()
    }

    /// The imports with that qualifier.
    pub(crate) fn module(&self, qualifier: Name) -> Option<&ImportScope> {
        self.imports.iter().rev().find(|import| import.qualifier == Some(qualifier))
    }

    /// Looks a name up in the imports, then in the prelude. `identity` tells whether two finds are the same thing.
    fn imported<'s, T, I: PartialEq>(
        &'s self,
        name: Name,
        get: impl Fn(&'s Interface) -> Option<&'s T>,
        identity: impl Fn(&T) -> I,
    ) -> Found<&'s T> {
        let mut finds: Vec<(&T, &ImportScope)> = Vec::new();
        let mut excused = false;
        for import in self.imports.iter().rev() {
            if !import.shows(name) {
                continue;
            }
            let Some(interface) = &import.interface else {
                excused = true;
                continue;
            };
            if let Some(item) = get(interface) {
                if self.later_wins {
                    return Found::One(item);
                }
                if finds.iter().all(|(other, _)| identity(other) != identity(item)) {
                    finds.push((item, import));
                }
            }
        }
        match finds.as_slice() {
            [(item, _)] => return Found::One(item),
            [] => {}
            [..] => {
                return Found::Ambiguous(
                    finds.iter().rev().map(|(_, i)| (i.title.clone(), i.span)).collect(),
                );
            }
        }
        match self.prelude.as_deref().and_then(get) {
            Some(item) => Found::One(item),
            None if excused => Found::Excused,
            None => Found::Nothing,
        }
    }

    /// Names of all values in sight, for suggestions.
    pub(crate) fn value_names(&self) -> impl Iterator<Item = Name> + '_ {
        let own = self.own_values.keys().copied();
        let other = self.interfaces().flat_map(|interface| interface.values.keys().copied());
        let is_word = |name: &Name| name.as_str().starts_with(|c: char| c.is_alphabetic());
        own.chain(other).chain(PRIMS.iter().map(|info| Name::new(info.name)).filter(is_word))
    }

    /// Names of all constructors in sight, for suggestions.
    pub(crate) fn ctor_names(&self) -> impl Iterator<Item = Name> + '_ {
        let own = self.own.ctors.keys().copied();
        own.chain(self.interfaces().flat_map(|interface| interface.ctors.keys().copied()))
    }

    /// Names of all types in sight, for suggestions.
    pub(crate) fn type_names(&self) -> impl Iterator<Item = Name> + '_ {
        let own = self.own.types.keys().chain(self.own.aliases.keys()).copied();
        let other = self.interfaces().flat_map(|i| i.types.keys().chain(i.aliases.keys()).copied());
        own.chain(other).chain(BUILT_IN_TYPES.iter().map(|name| Name::new(name)))
    }

    /// Interfaces whose names need no qualification.
    fn interfaces(&self) -> impl Iterator<Item = &Interface> + '_ {
        let open = self.imports.iter().filter(|import| matches!(import.visible, Visible::All));
        open.filter_map(|import| import.interface.as_deref()).chain(self.prelude.as_deref())
    }

    /// Whether a name that is found nowhere may come from an import that could not be loaded.
    pub(crate) fn has_failed_import(&self) -> bool {
        self.imports.iter().any(|import| import.interface.is_none())
    }
}

/// Types that need no declaration.
pub(crate) const BUILT_IN_TYPES: &[&str] = &["Real", "Int", "Bool", "String", "Dual"];

impl ImportScope {
    fn shows(&self, name: Name) -> bool {
        match &self.visible {
            Visible::All => true,
            Visible::None => false,
            Visible::Only(names) => names.contains(&name),
        }
    }
}

impl<T: Clone> Found<&T> {
    fn cloned(self) -> Found<T> {
        match self {
            Found::One(item) => Found::One(item.clone()),
            Found::Ambiguous(places) => Found::Ambiguous(places),
            Found::Excused => Found::Excused,
            Found::Nothing => Found::Nothing,
        }
    }
}
