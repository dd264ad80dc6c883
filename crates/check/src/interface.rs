//! What an importer sees of a module: its types, constructors, aliases and values, each with the qualified name by which
//! the core refers to it. Nothing else crosses a module border, so a module is checked again only when an interface it
//! uses has changed.

use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use wengert_base::{Name, Span};
use wengert_core::{DataType, Scheme, Type};

/// The public face of a checked module.
#[derive(Clone, Debug, PartialEq)]
pub struct Interface {
    /// The module's name, the first part of qualified names.
    pub name: Name,
    /// Data types by the name the user writes.
    pub types: IndexMap<Name, Arc<TypeInfo>>,
    /// Constructors by the name the user writes.
    pub ctors: IndexMap<Name, CtorInfo>,
    /// Aliases by the name the user writes.
    pub aliases: IndexMap<Name, Arc<AliasInfo>>,
    /// Definitions by the name the user writes.
    pub values: IndexMap<Name, ValueInfo>,
    /// Every data type that types in this interface may mention, by qualified name, imported ones included.
    pub known_types: KnownTypes,
}

/// Data types by qualified name.
pub type KnownTypes = FxHashMap<Name, Arc<TypeInfo>>;

/// A data type and what the predicates need to know of it.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeInfo {
    /// The declaration.
    pub data: Arc<DataType>,
    /// Whether it holds a function whatever its arguments are, so that it is never first-order.
    pub holds_function: bool,
    /// Which parameters must be first-order for the type to be.
    pub data_params: Vec<bool>,
    /// Whether it holds a `Real` whatever its arguments are.
    pub holds_real: bool,
    /// Which parameters make the type hold a `Real` when they do.
    pub smooth_params: Vec<bool>,
    /// Whether the declaration has an error: then nothing is reported about values of the type.
    pub broken: bool,
}

/// A constructor.
#[derive(Clone, Debug, PartialEq)]
pub struct CtorInfo {
    /// Its type.
    pub info: Arc<TypeInfo>,
    /// Its place in the declaration.
    pub index: u32,
}

/// A type alias.
#[derive(Clone, Debug, PartialEq)]
pub struct AliasInfo {
    /// Its parameters.
    pub params: Vec<Name>,
    /// What it stands for, over the parameters; nothing if the declaration has an error.
    pub ty: Option<Type>,
    /// The declaration.
    pub span: Span,
}

/// A definition.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueInfo {
    /// Its name in the core.
    pub qualified: Name,
    /// Its type; nothing if the definition has an error, and then nothing is reported about its uses.
    pub scheme: Option<Scheme>,
    /// Where its name is defined.
    pub span: Span,
}

impl Interface {
    /// The interface of an empty module.
    pub fn empty(name: Name) -> Interface {
        Interface {
            name,
            types: IndexMap::new(),
            ctors: IndexMap::new(),
            aliases: IndexMap::new(),
            values: IndexMap::new(),
            known_types: KnownTypes::default(),
        }
    }
}
