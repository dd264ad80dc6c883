//! Modules: from a file to everything it needs, checked.
//!
//! 1. *Load.* From the root, read and parse every module that is imported, directly or not (`Graph`). A module is known
//!    by its place: a library name, or the canonical path of its file.
//! 2. *Order.* A depth-first walk, on an explicit stack, puts importers after what they import. An import that
//!    would close a circle is reported, with the circle, and dropped.
//! 3. *Check.* In that order each module is checked against the interfaces of what it imports.
//!
//! Checking is a pure function of a module's text and the modules it imports, so [`Modules`] keeps the results by exactly
//! these and checks nothing twice.

use crate::errors;
use crate::files::{MAX_PROGRAM_BYTES, read_text};
use crate::library::{self, LibraryModule};
use crate::session::{link, verify};
use crate::similar::nearest;
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use wengert_base::{Diagnostic, Name, SourceId, SourceMap, Span};
use wengert_check::{Interface, ModuleInput, check_module};
use wengert_core::Program;
use wengert_syntax::ast::{Import, ImportSource, Item, Module};
use wengert_syntax::{Parse, parse};

/// A module that has been checked.
#[derive(Debug)]
pub struct CheckedModule {
    /// Different for modules with different texts or different imports.
    serial: u32,
    /// The first part of the qualified names of its definitions.
    pub name: Name,
    /// Its tree.
    pub tree: Arc<Module>,
    /// What importers see.
    pub interface: Arc<Interface>,
    /// Its own definitions.
    pub program: Program,
    /// What is wrong in it.
    pub diagnostics: Vec<Diagnostic>,
    /// The module behind each of its imports, as far as there is one.
    pub imports: Vec<Option<Arc<CheckedModule>>>,
    /// The prelude, except in the prelude.
    pub prelude: Option<Arc<CheckedModule>>,
}

impl CheckedModule {
    /// Whether the module itself has an error.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// All modules that this one uses, directly or not.
    fn needed(&self) -> Vec<Arc<CheckedModule>> {
        let direct = |module: &CheckedModule| -> Vec<Arc<CheckedModule>> {
            module.imports.iter().flatten().chain(&module.prelude).cloned().collect()
        };
        let mut open = direct(self);
        let mut seen = FxHashSet::default();
        let mut needed = Vec::new();
        while let Some(module) = open.pop() {
            if seen.insert(module.serial) {
                open.extend(direct(&module));
                needed.push(module);
            }
        }
        needed
    }
}

/// Where a module comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Place {
    Library(&'static str),
    File(PathBuf),
    /// A text without a file.
    Text(SourceId),
}

/// What determines the result of checking: place, text, and serial numbers of what is imported.
type CacheKey = (Place, SourceId, Vec<Option<u32>>);

/// All modules of a session.
#[derive(Default)]
pub struct Modules {
    /// All sources, those of expressions and inputs included.
    pub sources: SourceMap,
    by_text: FxHashMap<(String, String), SourceId>,
    parsed: FxHashMap<SourceId, Arc<Parse>>,
    checked: FxHashMap<CacheKey, Arc<CheckedModule>>,
    next_serial: u32,
    /// Names of files in messages.
    shown: FxHashMap<PathBuf, String>,
    /// Names given to modules, and the last number appended to a stem.
    taken: FxHashSet<String>,
    numbers: FxHashMap<String, u32>,
    library: Vec<SourceId>,
}

/// A module to check and how it is found by importers.
struct Node {
    place: Place,
    source: SourceId,
    parse: Arc<Parse>,
    /// The directory to which its imports are relative, as the user wrote it.
    folder: PathBuf,
    /// For each import the node it names.
    imports: Vec<Option<usize>>,
    diagnostics: Vec<Diagnostic>,
}

/// The modules reachable from node 0.
#[derive(Default)]
struct Graph {
    nodes: Vec<Node>,
    by_place: FxHashMap<Place, usize>,
}

impl Modules {
    /// Registers a text; the same text under the same name is registered once.
    pub fn add_source(&mut self, name: &str, text: &str) -> SourceId {
        let key = (name.to_string(), text.to_string());
        if let Some(id) = self.by_text.get(&key) {
            return *id;
        }
        let id = self.sources.add(name, text);
        self.by_text.insert(key, id);
        id
    }

    /// The sources of library modules seen so far.
    pub fn library_sources(&self) -> Vec<SourceId> {
        self.library.clone()
    }

    /// The checked module at `path`, with everything it imports, in order: what is imported comes first.
    pub fn load_file(&mut self, path: &Path) -> Result<Vec<Arc<CheckedModule>>, Diagnostic> {
        let (place, source, folder) = self.read(path, Span::NOWHERE)?;
        Ok(self.load(place, source, folder))
    }

    /// The place, text and folder of a file. A file keeps the name by which it was first called.
    fn read(&mut self, path: &Path, import: Span) -> Result<(Place, SourceId, PathBuf), Diagnostic> {
        let text = read_text(path, import, MAX_PROGRAM_BYTES)?;
        let place = canonical(path);
        let name = self.shown.entry(place.clone()).or_insert_with(|| path.display().to_string()).clone();
        let source = self.add_source(&name, &text);
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        Ok((Place::File(place), source, folder))
    }

    /// A text as a module; its imports of files are relative to `folder`.
    pub fn load_text(&mut self, name: &str, text: &str, folder: &Path) -> Vec<Arc<CheckedModule>> {
        let source = self.add_source(name, text);
        self.load(Place::Text(source), source, folder.to_path_buf())
    }

    /// A module of the library, nothing if there is none of that name.
    pub fn load_library(&mut self, name: &str) -> Option<Arc<CheckedModule>> {
        let module = library::find(name)?;
        let source = self.add_library(module);
        self.load(Place::Library(module.name), source, PathBuf::new()).pop()
    }

    /// What an import item of a text in `folder` refers to.
    pub fn load_import(
        &mut self,
        import: &Import,
        folder: &Path,
    ) -> Result<Vec<Arc<CheckedModule>>, Diagnostic> {
        let (place, source, folder) = self.resolve(import, folder)?;
        Ok(self.load(place, source, folder))
    }

    fn add_library(&mut self, module: &LibraryModule) -> SourceId {
        let source = self.add_source(module.file, module.text);
        if !self.library.contains(&source) {
            self.library.push(source);
        }
        source
    }

    fn load(&mut self, place: Place, source: SourceId, folder: PathBuf) -> Vec<Arc<CheckedModule>> {
        let mut graph = Graph::default();
        let root = self.node(&mut graph, place, source, folder);
        let prelude = library::find(library::PRELUDE).map(|prelude| {
            let source = self.add_library(prelude);
            self.node(&mut graph, Place::Library(prelude.name), source, PathBuf::new())
        });
        let mut next = 0;
        while let Some(node) = graph.nodes.get(next) {
            let (parse, folder) = (node.parse.clone(), node.folder.clone());
            for item in &parse.module.items {
                let Item::Import(import) = item else { continue };
                let target = match self.resolve(import, &folder) {
                    Ok((place, source, folder)) => Ok(self.node(&mut graph, place, source, folder)),
                    Err(error) => Err(error),
                };
                let Some(node) = graph.nodes.get_mut(next) else { continue };
                node.imports.push(target.as_ref().ok().copied());
                node.diagnostics.extend(target.err());
            }
            next += 1;
        }
        let order = graph.order(prelude, root, &self.sources);
        self.check_all(&graph, &order, prelude)
    }

    /// The node for a place, a new one if there is none yet.
    fn node(&mut self, graph: &mut Graph, place: Place, source: SourceId, folder: PathBuf) -> usize {
        if let Some(index) = graph.by_place.get(&place) {
            return *index;
        }
        let text = self.sources.get(source).cloned();
        let parse = self
            .parsed
            .entry(source)
            .or_insert_with(|| Arc::new(parse(source, text.as_ref().map_or("", |file| file.text.as_str()))));
        let (parse, diagnostics) = (parse.clone(), parse.diagnostics.clone());
        graph.nodes.push(Node {
            place: place.clone(),
            source,
            parse,
            folder,
            imports: Vec::new(),
            diagnostics,
        });
        graph.by_place.insert(place, graph.nodes.len() - 1);
        graph.nodes.len() - 1
    }

    /// The place, text and folder of what is imported.
    fn resolve(&mut self, import: &Import, folder: &Path) -> Result<(Place, SourceId, PathBuf), Diagnostic> {
        match &import.source {
            ImportSource::Library(ident) => {
                let name = ident.name.as_str();
                let Some(module) = library::find(name) else {
                    let names = library::names();
                    let similar = nearest(name, names.iter().copied());
                    return Err(errors::unknown_library_module(ident.span, name, similar, &names));
                };
                let source = self.add_library(module);
                Ok((Place::Library(module.name), source, PathBuf::new()))
            }
            ImportSource::File { path, span } => {
                let path: PathBuf =
                    folder.join(path).components().filter(|part| *part != Component::CurDir).collect();
                self.read(&path, *span)
            }
        }
    }

    fn check_all(
        &mut self,
        graph: &Graph,
        order: &[Visit],
        prelude: Option<usize>,
    ) -> Vec<Arc<CheckedModule>> {
        let mut done: FxHashMap<usize, Arc<CheckedModule>> = FxHashMap::default();
        let mut modules = Vec::new();
        for Visit { node: index, imports, circles } in order {
            let Some(node) = graph.nodes.get(*index) else { continue };
            let prelude =
                prelude.filter(|prelude| prelude != index).and_then(|prelude| done.get(&prelude)).cloned();
            let imports =
                imports.iter().map(|import| import.and_then(|import| done.get(&import)).cloned()).collect();
            let module = self.check(node, circles, imports, prelude);
            done.insert(*index, module.clone());
            modules.push(module);
        }
        modules
    }

    fn check(
        &mut self,
        node: &Node,
        circles: &[Diagnostic],
        imports: Vec<Option<Arc<CheckedModule>>>,
        prelude: Option<Arc<CheckedModule>>,
    ) -> Arc<CheckedModule> {
        let complete = circles.is_empty() && node.imports.iter().all(Option::is_some);
        let mut serials: Vec<Option<u32>> = imports.iter().map(|m| m.as_ref().map(|m| m.serial)).collect();
        serials.push(prelude.as_ref().map(|prelude| prelude.serial));
        let key = (node.place.clone(), node.source, serials);
        if let Some(module) = self.checked.get(&key) {
            return module.clone();
        }
        let name = self.module_name(&node.place);
        let serial = self.next_serial;
        self.next_serial += 1;
        let mut diagnostics = node.diagnostics.clone();
        diagnostics.extend(circles.iter().cloned());
        let tree = Arc::new(node.parse.module.clone());
        let mut module = check_tree(serial, name, tree, imports, prelude, diagnostics);
        let needed = module.needed();
        if !module.has_errors() && !needed.iter().any(|needed| needed.has_errors()) {
            let context = link(&needed);
            module.diagnostics.extend(verify(&module.program, &context));
        }
        let module = Arc::new(module);
        // What is wrong with an import is not in the key: the file may exist the next time.
        if complete {
            self.checked.insert(key, module.clone());
        }
        module
    }

    /// A name for a module at a place: a library name, or the stem of the file, made different from all others. A
    /// module that has changed gets another name, so that what was checked against the old one keeps meaning that.
    fn module_name(&mut self, place: &Place) -> Name {
        let stem = match place {
            Place::Library(name) => return Name::new(name),
            Place::File(path) => {
                path.file_stem().map_or("main".into(), |stem| stem.to_string_lossy().into_owned())
            }
            Place::Text(_) => "main".into(),
        };
        let mut name = stem.clone();
        while library::find(&name).is_some() || self.taken.contains(&name) {
            let number = self.numbers.entry(stem.clone()).or_insert(1);
            *number += 1;
            name = format!("{stem}_{number}");
        }
        self.taken.insert(name.clone());
        Name::new(&name)
    }
}

/// Checks a tree that stands for itself, with imports that are known already.
fn check_tree(
    serial: u32,
    name: Name,
    tree: Arc<Module>,
    imports: Vec<Option<Arc<CheckedModule>>>,
    prelude: Option<Arc<CheckedModule>>,
    mut diagnostics: Vec<Diagnostic>,
) -> CheckedModule {
    let interfaces = imports.iter().map(|m| m.as_ref().map(|m| m.interface.clone())).collect();
    let checked = check_module(&ModuleInput {
        name,
        module: &tree,
        imports: interfaces,
        prelude: prelude.as_ref().map(|prelude| prelude.interface.clone()),
        elsewhere: library::declaring,
    });
    let broken = broken_items(&tree, &diagnostics);
    let is_consequence = |found: &Diagnostic| broken.iter().any(|item| touches(*item, found.primary.span));
    diagnostics.extend(checked.diagnostics.into_iter().filter(|found| !is_consequence(found)));
    CheckedModule {
        serial,
        name,
        tree,
        interface: checked.interface,
        program: checked.program,
        diagnostics,
        imports,
        prelude,
    }
}

/// The items that hold a syntax error. What the checker finds in them may be a consequence of how the parser recovered, so it is
/// not shown before the syntax is right.
fn broken_items(tree: &Module, diagnostics: &[Diagnostic]) -> Vec<Span> {
    let syntax =
        |found: &&Diagnostic| wengert_syntax::errors::CODES.iter().any(|code| code.code == found.code);
    let errors: Vec<Span> = diagnostics.iter().filter(syntax).map(|found| found.primary.span).collect();
    let spans = tree.items.iter().map(|item| match item {
        Item::Import(import) => import.span,
        Item::Def(def) => def.span,
        Item::Type(declaration) => declaration.span,
        Item::Alias(declaration) => declaration.span,
    });
    spans.filter(|item| errors.iter().any(|error| touches(*item, *error))).collect()
}

/// Whether `inner` begins in `outer` or directly behind it.
fn touches(outer: Span, inner: Span) -> bool {
    outer.source == inner.source && (outer.start..=outer.end).contains(&inner.start)
}

/// The path by which a file is recognized: links resolved where possible.
fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

/// How far the walk has come with a node.
#[derive(Clone, Copy, PartialEq)]
enum Mark {
    New,
    Open,
    Done,
}

impl Graph {
    /// The nodes in checking order, each with the circles its imports would close and with the imports that are left.
    fn order(&self, prelude: Option<usize>, root: usize, sources: &SourceMap) -> Vec<Visit> {
        let mut marks = vec![Mark::New; self.nodes.len()];
        let mut order = Vec::new();
        for start in prelude.into_iter().chain([root]) {
            let mut path: Vec<Visit> = Vec::new();
            self.enter(start, &mut marks, &mut path);
            while let Some(visit) = path.last_mut() {
                let node = visit.node;
                let position = visit.imports.len();
                let Some(target) = self.nodes.get(node).and_then(|node| node.imports.get(position)).copied()
                else {
                    set(&mut marks, node, Mark::Done);
                    order.extend(path.pop());
                    continue;
                };
                let mark = target.and_then(|target| marks.get(target)).copied();
                if mark == Some(Mark::Open) {
                    visit.imports.push(None);
                    let circle = self.circle(&path, target.unwrap_or(node), position, sources);
                    if let Some(visit) = path.last_mut() {
                        visit.circles.push(circle);
                    }
                    continue;
                }
                visit.imports.push(target);
                if let (Some(Mark::New), Some(target)) = (mark, target) {
                    self.enter(target, &mut marks, &mut path);
                }
            }
        }
        order
    }

    fn enter(&self, node: usize, marks: &mut [Mark], path: &mut Vec<Visit>) {
        if marks.get(node) == Some(&Mark::New) {
            set(marks, node, Mark::Open);
            path.push(Visit { node, imports: Vec::new(), circles: Vec::new() });
        }
    }

    /// The message about an import (number `position` of the last node on the path) of `target`, which is on the path.
    fn circle(&self, path: &[Visit], target: usize, position: usize, sources: &SourceMap) -> Diagnostic {
        let start = path.iter().position(|visit| visit.node == target).unwrap_or(0);
        let mut members: Vec<usize> = path.iter().skip(start).map(|visit| visit.node).collect();
        members.rotate_right(1);
        let names: Vec<String> = members.iter().map(|node| self.file_name(*node, sources)).collect();
        let last = path.last().and_then(|visit| self.nodes.get(visit.node));
        let span = last.and_then(|node| {
            let items = node.parse.module.items.iter();
            let mut imports = items.filter_map(|item| match item {
                Item::Import(import) => Some(import.span),
                Item::Def(_) | Item::Type(_) | Item::Alias(_) => None,
            });
            imports.nth(position)
        });
        errors::import_cycle(span.unwrap_or(Span::NOWHERE), &names)
    }

    fn file_name(&self, node: usize, sources: &SourceMap) -> String {
        let source = self.nodes.get(node).and_then(|node| sources.get(node.source));
        source.map_or_else(String::new, |file| file.name.clone())
    }
}

/// A node on the path of the walk, and afterwards in the order that the walk found.
struct Visit {
    node: usize,
    /// Its imports so far, without those that would close a circle.
    imports: Vec<Option<usize>>,
    circles: Vec<Diagnostic>,
}

fn set(marks: &mut [Mark], node: usize, mark: Mark) {
    if let Some(slot) = marks.get_mut(node) {
        *slot = mark;
    }
}
