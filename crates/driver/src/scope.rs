//! What an expression outside of any file can refer to: the prelude, and in the interactive mode everything defined so far.
//!
//! A [`Scope`] keeps the unqualified names in one merged interface, where later entries replace earlier ones, and the
//! module aliases beside it. To the checker it looks like a list of imports: one of the merged interface, and `import m
//! as m` for each alias. So shadowing costs nothing, and nothing that was checked before is checked again.

use crate::modules::CheckedModule;
use indexmap::IndexMap;
use std::sync::Arc;
use wengert_base::{Name, Span};
use wengert_check::Interface;
use wengert_core::Program;
use wengert_syntax::ast::{Ident, Import, ImportSource, Item};

/// Names in scope, and the modules they need.
#[derive(Clone, Debug)]
pub struct Scope {
    /// Unqualified names.
    visible: Interface,
    /// Interfaces by the alias that qualifies their names.
    aliases: IndexMap<Name, Arc<Interface>>,
    /// Everything that may be needed to run, by module name.
    program: Program,
    /// What every module has in scope.
    prelude: Option<Arc<Interface>>,
}

/// The import of the merged interface; no user can write such a name.
const MERGED: &str = "<scope>";

impl Scope {
    /// Nothing but the prelude.
    pub fn new(prelude: Option<&CheckedModule>) -> Scope {
        let mut scope = Scope {
            visible: Interface::empty(Name::new(MERGED)),
            aliases: IndexMap::new(),
            program: Program::default(),
            prelude: prelude.map(|prelude| prelude.interface.clone()),
        };
        if let Some(prelude) = prelude {
            scope.add_program(&prelude.program);
        }
        scope
    }

    /// The scope at the end of a file: its imports, and above them its own definitions. `modules` are the file's and
    /// all that it needs, the file's last.
    pub fn of_file(modules: &[Arc<CheckedModule>]) -> Scope {
        let file = modules.last();
        let mut scope = Scope::new(None);
        for module in modules {
            scope.add_program(&module.program);
        }
        let Some(file) = file else { return scope };
        scope.prelude = file.prelude.as_ref().map(|prelude| prelude.interface.clone());
        for (import, module) in imports(file) {
            scope.add_import(import, &module.interface);
        }
        scope.add_names(&file.interface, None);
        scope
    }

    /// Makes the names of an import visible.
    pub fn add_import(&mut self, import: &Import, interface: &Arc<Interface>) {
        match (&import.names, &import.alias) {
            (Some(names), _) => {
                let mut wanted: Vec<Name> = names.iter().map(|ident| ident.name).collect();
                let types = names.iter().filter_map(|ident| interface.types.get(&ident.name));
                wanted.extend(types.flat_map(|info| info.data.ctors.iter().map(|ctor| ctor.name)));
                self.add_names(interface, Some(&wanted));
            }
            (None, None) => self.add_names(interface, None),
            (None, Some(_)) => {}
        }
        if import.names.is_none() || import.alias.is_some() {
            self.aliases.insert(alias(import), interface.clone());
        }
    }

    /// Makes names of an interface visible, all of them or those in `only`.
    pub fn add_names(&mut self, interface: &Interface, only: Option<&[Name]>) {
        let wanted = |name: &Name| only.is_none_or(|only| only.contains(name));
        let visible = &mut self.visible;
        for (name, info) in interface.values.iter().filter(|(name, _)| wanted(name)) {
            visible.values.insert(*name, info.clone());
        }
        for (name, info) in interface.types.iter().filter(|(name, _)| wanted(name)) {
            visible.types.insert(*name, info.clone());
            visible.aliases.shift_remove(name);
        }
        for (name, info) in interface.aliases.iter().filter(|(name, _)| wanted(name)) {
            visible.aliases.insert(*name, info.clone());
            visible.types.shift_remove(name);
        }
        for (name, info) in interface.ctors.iter().filter(|(name, _)| wanted(name)) {
            visible.ctors.insert(*name, info.clone());
        }
        visible.known_types.extend(interface.known_types.iter().map(|(name, info)| (*name, info.clone())));
    }

    /// Makes the definitions of a module available to run; says whether they were not so already.
    pub fn add_module(&mut self, module: &CheckedModule) -> bool {
        let known = |(name, def)| self.program.defs.get(name).is_some_and(|there| Arc::ptr_eq(there, def));
        let new = !module.program.defs.iter().all(known);
        self.add_program(&module.program);
        new
    }

    /// Makes definitions available to run.
    pub fn add_program(&mut self, program: &Program) {
        self.program.types.extend(program.types.iter().map(|(name, data)| (*name, data.clone())));
        self.program.defs.extend(program.defs.iter().map(|(name, def)| (*name, def.clone())));
    }

    /// The scope as imports: items for a tree, and the interface of each.
    pub(crate) fn as_imports(&self) -> (Vec<Item>, Vec<Option<Arc<Interface>>>) {
        let merged = (Name::new(MERGED), Arc::new(self.visible.clone()), None);
        let aliased = self.aliases.iter().map(|(alias, interface)| (*alias, interface.clone(), Some(*alias)));
        let ident = |name: Name| Ident { name, span: Span::NOWHERE };
        std::iter::once(merged)
            .chain(aliased)
            .map(|(name, interface, alias)| {
                let source = ImportSource::Library(ident(name));
                let import = Import { source, alias: alias.map(ident), names: None, span: Span::NOWHERE };
                (Item::Import(import), Some(interface))
            })
            .unzip()
    }

    /// Everything that may be needed to run.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The prelude's interface.
    pub fn prelude(&self) -> Option<&Arc<Interface>> {
        self.prelude.as_ref()
    }

    /// Unqualified names that are not from the prelude.
    pub fn visible(&self) -> &Interface {
        &self.visible
    }

    /// Module aliases with their interfaces.
    pub fn aliases(&self) -> impl Iterator<Item = (Name, &Arc<Interface>)> {
        self.aliases.iter().map(|(name, interface)| (*name, interface))
    }
}

/// The import items of a module, each with the module it names, as far as there is one.
fn imports(module: &CheckedModule) -> Vec<(&Import, &Arc<CheckedModule>)> {
    let items = module.tree.items.iter().filter_map(|item| match item {
        Item::Import(import) => Some(import),
        Item::Def(_) | Item::Type(_) | Item::Alias(_) => None,
    });
    items.zip(&module.imports).filter_map(|(import, module)| Some((import, module.as_ref()?))).collect()
}

/// The name that qualifies what an import brings.
fn alias(import: &Import) -> Name {
    match (&import.alias, &import.source) {
        (Some(alias), _) => alias.name,
        (None, ImportSource::Library(ident)) => ident.name,
        (None, ImportSource::File { path, .. }) => {
            let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
            Name::new(file.split('.').next().unwrap_or(file))
        }
    }
}
