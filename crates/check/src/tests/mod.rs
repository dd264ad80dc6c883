//! The checker on texts: types it infers, terms it builds (each is verified), and what it says about mistakes.

mod elaborate;
mod errors;
mod fuzz;
mod library;
mod limits;
mod types;

use crate::{Checked, Interface, ModuleInput, check_module};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use wengert_base::{Diagnostic, Name, SourceFile, SourceId};
use wengert_core::Program;
use wengert_syntax::ast::{ImportSource, Item};

/// The standard library's folder.
pub(crate) fn library() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lib")
}

/// A checked module with everything it depends on.
pub(crate) struct Loaded {
    pub(crate) checked: Checked,
    pub(crate) context: Program,
    pub(crate) file: SourceFile,
}

/// Modules that are already checked, by name.
#[derive(Default)]
pub(crate) struct Loader {
    done: Vec<(String, Arc<Interface>, Program)>,
    next: u32,
}

impl Loader {
    fn library_module(&mut self, name: &str) -> Option<(Arc<Interface>, Program)> {
        if let Some((_, interface, program)) = self.done.iter().find(|(other, ..)| other == name) {
            return Some((Arc::clone(interface), program.clone()));
        }
        let text = std::fs::read_to_string(library().join(format!("{name}.wg"))).ok()?;
        let loaded = self.load(name, &text);
        let mut program = loaded.context;
        program.types.extend(loaded.checked.program.types);
        program.defs.extend(loaded.checked.program.defs);
        let interface = Arc::clone(&loaded.checked.interface);
        self.done.push((name.into(), Arc::clone(&interface), program.clone()));
        Some((interface, program))
    }

    /// Checks a text as the module `name`, and verifies what it became.
    pub(crate) fn load(&mut self, name: &str, text: &str) -> Loaded {
        let source = SourceId(self.next);
        self.next += 1;
        let parse = wengert_syntax::parse(source, text);
        let mut context = Program::default();
        let mut prelude = None;
        if name != "prelude"
            && let Some((interface, program)) = self.library_module("prelude")
        {
            prelude = Some(interface);
            context = program;
        }
        let mut imports = Vec::new();
        for item in &parse.module.items {
            let Item::Import(import) = item else { continue };
            let ImportSource::Library(ident) = &import.source else {
                imports.push(None);
                continue;
            };
            let module = self.library_module(ident.name.as_str());
            imports.push(module.map(|(interface, program)| {
                context.types.extend(program.types);
                context.defs.extend(program.defs);
                interface
            }));
        }
        let input = ModuleInput {
            name: Name::new(name),
            module: &parse.module,
            imports,
            prelude,
            elsewhere: |_, _| None,
        };
        let mut checked = check_module(&input);
        if let Err(errors) = wengert_core::verify::verify_module(&checked.program, &context) {
            let all: Vec<String> = errors.iter().map(ToString::to_string).collect();
            if let Ok(file) = std::env::var("FAILED_TEXT") {
                std::fs::write(file, text).unwrap();
            }
            panic!("{name}: the elaborated program is not well formed:\n{}\n{text}", all.join("\n"));
        }
        checked.diagnostics.extend(parse.diagnostics);
        Loaded { checked, context, file: SourceFile::new(name, text) }
    }
}

/// The diagnostics of a module, one paragraph each.
pub(crate) fn render(loaded: &Loaded) -> String {
    loaded.checked.diagnostics.iter().map(|diagnostic| render_one(diagnostic, &loaded.file)).collect()
}

fn render_one(diagnostic: &Diagnostic, file: &SourceFile) -> String {
    let mut out = String::new();
    let place = |span: wengert_base::Span| {
        let (line, column) = file.line_col(span.start);
        let text = file.text.get(span.start as usize..span.end as usize).unwrap_or("?");
        format!("{line}:{column} `{}`", text.lines().next().unwrap_or_default())
    };
    writeln!(out, "{} {}", diagnostic.code, diagnostic.message).unwrap();
    writeln!(out, "  at {} {}", place(diagnostic.primary.span), diagnostic.primary.message).unwrap();
    for label in &diagnostic.secondary {
        writeln!(out, "  and {} {}", place(label.span), label.message).unwrap();
    }
    for note in &diagnostic.notes {
        writeln!(out, "  note: {note}").unwrap();
    }
    if let Some(help) = &diagnostic.help {
        writeln!(out, "  help: {help}").unwrap();
    }
    out
}

/// The types of all definitions of a text, or its diagnostics.
pub(crate) fn types_of(text: &str) -> String {
    let loaded = Loader::default().load("main", text);
    let mut out = render(&loaded);
    for (name, value) in &loaded.checked.interface.values {
        if let Some(scheme) = &value.scheme {
            writeln!(out, "{name} : {scheme}").unwrap();
        }
    }
    out
}

/// The diagnostics of a text.
pub(crate) fn errors_of(text: &str) -> String {
    render(&Loader::default().load("main", text))
}
