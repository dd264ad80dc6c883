//! What `doc` and `:help NAME` show: signature and description of everything in the library.
//!
//! Built-in functions are described by the table of primitives; functions of the library by the comment above their
//! definition; a module by the comment at its top.

use crate::errors;
use crate::library;
use crate::modules::CheckedModule;
use crate::session::Session;
use crate::similar::nearest;
use std::fmt::Write;
use std::sync::Arc;
use wengert_base::{Diagnostic, Name, SourceFile, Span};
use wengert_core::{DataType, Type};
use wengert_prim::table::PRIMS;

/// Mathematical spellings of library names.
const SYMBOLS: &[(&str, &str)] = &[
    ("∇", "grad"),
    ("∂", "derivative"),
    ("Ω", "pullback"),
    ("π", "pi"),
    ("⊕", "add"),
    ("⊗", "scale"),
    ("⊙", "inner"),
    ("¬", "not"),
    ("λ", "\\"),
];

impl Session {
    /// The text about `name`: a function, `module.function`, or a module. Without a name, the list of everything.
    pub fn doc(&mut self, name: Option<&str>) -> Result<String, Diagnostic> {
        let Some(asked) = name else { return Ok(self.overview()) };
        let name = SYMBOLS.iter().find(|(symbol, _)| *symbol == asked).map_or(asked, |(_, name)| name);
        let name = name.strip_prefix('(').and_then(|name| name.strip_suffix(')')).unwrap_or(name);
        let mut out = String::new();
        if let Some(info) = PRIMS.iter().find(|info| info.name == name) {
            let _ =
                writeln!(out, "{}\n    {}\n    (built in)", wengert_prim::docs::signature(info), info.doc);
        }
        let (module_name, function) =
            name.split_once('.').map_or((None, name), |(module, f)| (Some(module), f));
        for module in self.library() {
            if module_name.is_some_and(|wanted| wanted != module.name.as_str()) {
                continue;
            }
            if let Some(text) = self.describe(&module, Name::new(function)) {
                let separator = if out.is_empty() { "" } else { "\n" };
                let _ = write!(out, "{separator}{text}");
            }
        }
        if out.is_empty()
            && let Some(module) =
                library::find(name).and_then(|module| self.modules.load_library(module.name))
        {
            out = self.module_page(&module);
        }
        if out.is_empty() {
            let names = self.all_names();
            let similar = nearest(name, names.iter().map(String::as_str));
            return Err(errors::undocumented(asked, similar));
        }
        Ok(out)
    }

    fn library(&mut self) -> Vec<Arc<CheckedModule>> {
        library::MODULES.iter().filter_map(|module| self.modules.load_library(module.name)).collect()
    }

    /// Signature, description and origin of a definition of a library module.
    fn describe(&self, module: &CheckedModule, name: Name) -> Option<String> {
        let interface = &module.interface;
        let (head, span) = match interface.values.get(&name) {
            Some(info) => (format!("{name} : {}", info.scheme.as_ref()?), info.span),
            None => {
                let ctor = interface.ctors.get(&name).map(|ctor| &ctor.info);
                let data = &interface.types.get(&name).or(ctor)?.data;
                (declaration(data), data.span)
            }
        };
        let mut out = format!("{head}\n");
        for line in self.comment_above(span) {
            out.push_str(&indented(&line));
        }
        let origin = match module.name.as_str() {
            library::PRELUDE => "(prelude)".to_string(),
            name => format!("(import {name})"),
        };
        let _ = writeln!(out, "    {origin}");
        Some(out)
    }

    fn module_page(&self, module: &CheckedModule) -> String {
        let mut out = format!("{}\n", module.name);
        for line in self.sources().get(module.tree.span.source).map(|file| header(file)).unwrap_or_default() {
            out.push_str(&indented(&line));
        }
        out.push('\n');
        for info in module.interface.types.values() {
            let _ = writeln!(out, "{}", declaration(&info.data));
        }
        for signature in crate::session::signatures(module) {
            let _ = writeln!(out, "{} : {}", signature.name, signature.ty);
        }
        out
    }

    fn overview(&mut self) -> String {
        let mut out = String::new();
        let mut groups: Vec<wengert_prim::Group> = PRIMS.iter().map(|info| info.group).collect();
        groups.dedup();
        for group in groups {
            let names: Vec<&str> =
                PRIMS.iter().filter(|info| info.group == group).map(|info| info.name).collect();
            let _ = writeln!(out, "{}\n{}", group.title(), wrapped(&names));
        }
        let modules = self.library();
        for module in &modules {
            let names: Vec<&str> = module.interface.values.keys().map(|name| name.as_str()).collect();
            let title = match module.name.as_str() {
                library::PRELUDE => "Prelude, always in scope".to_string(),
                name => format!("import {name}"),
            };
            let _ = writeln!(out, "{title}\n{}", wrapped(&names));
        }
        out.push_str("`wengert doc NAME` tells more about a function or a module.\n");
        out
    }

    /// All names of the library, for suggestions.
    fn all_names(&mut self) -> Vec<String> {
        let mut names: Vec<String> = PRIMS.iter().map(|info| info.name.to_string()).collect();
        for module in self.library() {
            names.push(module.name.to_string());
            names.extend(module.interface.values.keys().map(|name| name.to_string()));
        }
        names
    }

    /// The lines of the comment that ends directly above a definition, without their dashes.
    pub(crate) fn comment_above(&self, definition: Span) -> Vec<String> {
        let Some(file) = self.sources().get(definition.source) else { return Vec::new() };
        let before = file.text.get(..definition.start as usize).unwrap_or("");
        let above: Vec<&str> = before.lines().collect();
        let definition_line = usize::from(!before.ends_with('\n'));
        let mut comment: Vec<String> = above
            .iter()
            .rev()
            .skip(definition_line)
            .map_while(|line| line.strip_prefix("--"))
            .map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end().to_string())
            .collect();
        comment.reverse();
        comment
    }
}

/// `type List a = Nil | Cons a (List a)`
pub(crate) fn declaration(data: &DataType) -> String {
    let name = data.name.as_str();
    let mut out = format!("type {}", name.rsplit('.').next().unwrap_or(name));
    for param in &data.params {
        let _ = write!(out, " {param}");
    }
    for (i, ctor) in data.ctors.iter().enumerate() {
        let _ = write!(out, "{}{}", if i == 0 { " = " } else { " | " }, ctor.name);
        for field in &ctor.fields {
            let text = field.to_string();
            let atomic = !text.contains(' ') || matches!(field, Type::Tuple(_) | Type::Record(_));
            let _ = if atomic { write!(out, " {text}") } else { write!(out, " ({text})") };
        }
    }
    out
}

/// The comment at the top of a file, without its dashes.
fn header(file: &SourceFile) -> Vec<String> {
    let lines = file.text.lines().map_while(|line| line.strip_prefix("--"));
    lines.map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end().to_string()).collect()
}

/// The line, four columns in; an empty one stays empty.
fn indented(line: &str) -> String {
    if line.is_empty() { "\n".into() } else { format!("    {line}\n") }
}

/// Words in lines of at most 100 characters, indented.
fn wrapped(words: &[&str]) -> String {
    let mut out = String::new();
    let mut column = 0;
    for word in words {
        let width = word.chars().count();
        if column > 0 && column + 1 + width > 100 {
            out.push('\n');
            column = 0;
        }
        let space = if column == 0 { "    " } else { " " };
        out.push_str(space);
        out.push_str(word);
        column += space.len() + width;
    }
    out.push('\n');
    out
}
