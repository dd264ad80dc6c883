//! A whole module, or one expression: sets up the scope, checks declarations, then the definitions group by group.

use crate::declare::declare;
use crate::deps;
use crate::errors::names;
use crate::infer::Infer;
use crate::infer::binding::is_lambda;
use crate::interface::{Interface, ValueInfo};
use crate::scope::{Globals, ImportScope, Visible};
use crate::suggest;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use wengert_base::{Diagnostic, Name, Span};
use wengert_core::{Def, Program};
use wengert_syntax::ast::{self, AliasDecl, Expr, Import, ImportSource, Item, Module, TypeDecl};

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Declared {
    /// A definition.
    Value,
    /// A constructor of a data type.
    Ctor,
    /// A data type or an alias.
    Type,
}

/// Which module that can be imported declares a name; only to say so where the name is unknown.
pub type Elsewhere = fn(Declared, Name) -> Option<&'static str>;

/// What [`check_module`] needs.
#[derive(Clone, Debug)]
pub struct ModuleInput<'a> {
    /// The first part of the qualified names of what the module declares.
    pub name: Name,
    /// The module.
    pub module: &'a Module,
    /// For each import item, in order, its interface, or nothing if it could not be loaded.
    pub imports: Vec<Option<Arc<Interface>>>,
    /// The interface that every module sees.
    pub prelude: Option<Arc<Interface>>,
    /// Where names are that the module does not see.
    pub elsewhere: Elsewhere,
}

/// What [`check_module`] gives.
#[derive(Clone, Debug)]
pub struct Checked {
    /// What importers see.
    pub interface: Arc<Interface>,
    /// This module's data types and definitions, without those that have errors.
    pub program: Program,
    /// Errors and warnings, in the order of their places.
    pub diagnostics: Vec<Diagnostic>,
}

/// What an expression can see.
#[derive(Clone, Debug, Default)]
pub struct Interfaces {
    /// The interface that every module sees.
    pub prelude: Option<Arc<Interface>>,
    /// Further ones, whose names need no qualification and are also known by the interface's name; later ones hide
    /// earlier ones.
    pub opened: Vec<Arc<Interface>>,
}

/// Checks a module against the interfaces of its imports.
pub fn check_module(input: &ModuleInput<'_>) -> Checked {
    let mut diagnostics = Vec::new();
    let imports = import_scopes(input, &mut diagnostics);
    let mut globals = Globals::new(input.name, imports, input.prelude.clone(), false, input.elsewhere);
    let (mut types, mut aliases, mut defs) = (Vec::new(), Vec::new(), Vec::new());
    for item in &input.module.items {
        match item {
            Item::Import(_) => {}
            Item::Def(def) => defs.push(def),
            Item::Type(decl) => types.push(decl),
            Item::Alias(decl) => aliases.push(decl),
        }
    }
    let mut program = declared_types(&mut globals, &types, &aliases, &mut diagnostics);
    let defs = distinct(&defs, &mut globals, &mut diagnostics);
    let mut done: FxHashMap<Name, Def> = FxHashMap::default();
    for (group, recursive) in deps::groups(&defs) {
        let members: Vec<&ast::Def> = group.iter().filter_map(|index| defs.get(*index)).copied().collect();
        let results = check_group(&globals, &members, recursive, &mut diagnostics);
        for (member, result) in members.iter().zip(results) {
            let qualified = globals.qualify(member.name.name);
            let scheme = result.as_ref().map(|def| def.scheme.clone());
            let value = ValueInfo { qualified, scheme, span: member.name.span };
            globals.own.values.insert(member.name.name, value);
            if let Some(def) = result {
                done.insert(member.name.name, def);
            }
        }
    }
    // Importers and printers want the order of the source, not that of dependencies.
    let order: FxHashMap<Name, usize> = defs.iter().enumerate().map(|(i, def)| (def.name.name, i)).collect();
    globals.own.values.sort_by(|a, _, b, _| order.get(a).cmp(&order.get(b)));
    for def in defs {
        if let Some(done) = done.remove(&def.name.name) {
            program.defs.insert(done.name, Arc::new(done));
        }
    }
    diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span);
    let mut interface = globals.own;
    interface.known_types = globals.known_types;
    Checked { interface: Arc::new(interface), program, diagnostics }
}

fn declared_types(
    globals: &mut Globals,
    types: &[&TypeDecl],
    aliases: &[&AliasDecl],
    diagnostics: &mut Vec<Diagnostic>,
) -> Program {
    let mut program = Program::default();
    for data in declare(globals, types, aliases, diagnostics) {
        program.types.insert(data.name, data);
    }
    program
}

/// Definitions without those that repeat a name, or whose name the parser had to make up.
fn distinct<'d>(
    defs: &[&'d ast::Def],
    globals: &mut Globals,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<&'d ast::Def> {
    let mut kept = Vec::with_capacity(defs.len());
    for def in defs.iter().filter(|def| def.name.name.as_str() != "_") {
        match globals.own_values.get(&def.name.name) {
            Some(before) => {
                diagnostics.push(names::duplicate_definition(def.name.name, def.name.span, *before))
            }
            None => {
                globals.own_values.insert(def.name.name, def.name.span);
                kept.push(*def);
            }
        }
    }
    kept
}

/// Definitions that depend on each other; nothing for those that have errors.
fn check_group(
    globals: &Globals,
    defs: &[&ast::Def],
    recursive: bool,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Option<Def>> {
    let mut infer = Infer::new(globals);
    if recursive {
        for def in defs.iter().filter(|def| def.params.is_empty() && !is_lambda(&def.body)) {
            let through = defs.iter().map(|other| other.name.name).find(|name| *name != def.name.name);
            infer.report(names::recursive_value(def.name.name, def.name.span, through));
        }
    }
    let typed = infer.definitions(defs);
    let mut results = Vec::with_capacity(defs.len());
    if !infer.failed {
        infer.settle_all();
        for (def, (node, ty)) in defs.iter().zip(typed) {
            let scheme = infer.finished_scheme(&ty);
            let body = infer.term(node);
            let name = globals.qualify(def.name.name);
            results.push(Some(Def { name, scheme, body, span: def.name.span }));
        }
    }
    if infer.failed {
        results = defs.iter().map(|_| None).collect();
    }
    diagnostics.append(&mut infer.diagnostics);
    results
}

impl Infer<'_> {
    /// Decides everything that is still open, before the terms are built.
    fn settle_all(&mut self) {
        self.default_open_metas();
        self.specialize();
        self.name_parameters();
    }
}

/// Checks an expression; it becomes the definition `it`. A number whose type nothing decides is an `Int`.
pub fn check_expr(expr: &Expr, env: &Interfaces) -> Result<Def, Vec<Diagnostic>> {
    let imports = env.opened.iter().map(|interface| ImportScope {
        qualifier: Some(interface.name),
        title: interface.name.to_string(),
        visible: Visible::All,
        interface: Some(Arc::clone(interface)),
        span: Span::NOWHERE,
    });
    let globals = Globals::new(Name::new("it"), imports.collect(), env.prelude.clone(), true, |_, _| None);
    let mut infer = Infer::new(&globals);
    let (node, ty) = infer.expression(expr);
    if !infer.failed {
        infer.settle_all();
        let scheme = infer.finished_scheme(&ty);
        let body = infer.term(node);
        if !infer.failed {
            return Ok(Def { name: Name::new("it"), scheme, body, span: expr.span });
        }
    }
    let mut diagnostics = infer.diagnostics;
    diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span);
    Err(diagnostics)
}

fn import_scopes(input: &ModuleInput<'_>, diagnostics: &mut Vec<Diagnostic>) -> Vec<ImportScope> {
    let items = input.module.items.iter().filter_map(|item| match item {
        Item::Import(import) => Some(import),
        Item::Def(_) | Item::Type(_) | Item::Alias(_) => None,
    });
    let mut scopes: Vec<ImportScope> = Vec::new();
    for (index, import) in items.enumerate() {
        let interface = input.imports.get(index).cloned().flatten();
        let title = source_name(import);
        let qualifier = match (&import.alias, &import.names) {
            (Some(alias), _) => Some(alias.name),
            (None, None) => Some(Name::new(&title)),
            (None, Some(_)) => None,
        };
        let before = scopes.iter().find(|scope| qualifier.is_some() && scope.qualifier == qualifier);
        if let (Some(before), Some(qualifier)) = (before, qualifier)
            && (import.alias.is_some() || !is_same_module(before.interface.as_ref(), interface.as_ref()))
        {
            let span = import.alias.as_ref().map_or(import.span, |alias| alias.span);
            diagnostics.push(names::duplicate_alias(qualifier, span, before.span));
        }
        let visible = match (&import.alias, &import.names) {
            (_, Some(names)) => listed(names, interface.as_deref(), &title, diagnostics),
            (Some(_), None) => Visible::None,
            (None, None) => Visible::All,
        };
        scopes.push(ImportScope { qualifier, title, visible, interface, span: import.span });
    }
    scopes
}

/// Whether two imports are of one module, or may be.
fn is_same_module(one: Option<&Arc<Interface>>, other: Option<&Arc<Interface>>) -> bool {
    one.zip(other).is_none_or(|(one, other)| one.name == other.name)
}

/// The names in an import list, each of which must be there. A type brings its constructors.
fn listed(
    wanted: &[ast::Ident],
    interface: Option<&Interface>,
    title: &str,
    diagnostics: &mut Vec<Diagnostic>,
) -> Visible {
    let mut visible = rustc_hash::FxHashSet::default();
    for ident in wanted {
        visible.insert(ident.name);
        let Some(interface) = interface else { continue };
        if let Some(info) = interface.types.get(&ident.name) {
            visible.extend(info.data.ctors.iter().map(|ctor| ctor.name));
        }
        let known = interface.values.contains_key(&ident.name)
            || interface.types.contains_key(&ident.name)
            || interface.ctors.contains_key(&ident.name)
            || interface.aliases.contains_key(&ident.name);
        if !known {
            let all = interface.values.keys().chain(interface.types.keys()).chain(interface.ctors.keys());
            let similar = suggest::similar(ident.name, all.chain(interface.aliases.keys()).copied());
            diagnostics.push(names::not_imported(ident.name, ident.span, title, similar));
        }
    }
    Visible::Only(visible)
}

/// The name of an imported module: the library module's, or the stem of the file.
fn source_name(import: &Import) -> String {
    match &import.source {
        ImportSource::Library(ident) => ident.name.to_string(),
        ImportSource::File { path, .. } => {
            let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
            file.split_once('.').map_or(file, |(stem, _)| stem).to_owned()
        }
    }
}
