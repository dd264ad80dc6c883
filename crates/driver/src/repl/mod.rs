//! The interactive mode without a terminal: text in, text out.
//!
//! A [`Repl`] holds a [`Scope`] that grows. An input of definitions is checked as a module of its own in that scope, and then its names
//! become visible, above older ones of the same spelling: what was defined with an older one keeps meaning it. An
//! expression is checked and evaluated in the scope. One evaluator lives as long as the conversation, so a definition without
//! parameters is evaluated once, when it is made.

mod command;

use crate::engine::{Engine, Evaluated, Evaluator, Options};
use crate::json::guess::default_arg;
use crate::library;
use crate::modules::CheckedModule;
use crate::render::{Style, text};
use crate::scope::Scope;
use crate::session::{Expression, Session};
use std::path::{Path, PathBuf};
use wengert_base::{Diagnostic, Name, Severity, Span};
use wengert_core::{Type, TypeArg};
use wengert_interp::show::show;
use wengert_prim::table::PRIMS;
use wengert_syntax::ast::{Import, Item};
use wengert_syntax::{Input, parse_input};

/// A conversation.
pub struct Repl {
    session: Session,
    scope: Scope,
    evaluator: Evaluator,
    options: Options,
    style: Style,
    /// The file of the last `:load`.
    loaded: Option<PathBuf>,
    /// Files are imported relative to this.
    folder: PathBuf,
    inputs: u32,
}

/// What an input led to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// For standard output.
    pub output: String,
    /// For standard error.
    pub errors: String,
    /// Whether the input was refused or stopped; warnings alone are no failure.
    pub failed: bool,
    /// Whether the user wants to leave.
    pub quit: bool,
}

impl Reply {
    fn output(output: impl Into<String>) -> Reply {
        Reply { output: output.into(), ..Reply::default() }
    }
}

impl Repl {
    /// A fresh conversation; errors are rendered in `style`.
    pub fn new(options: Options, style: Style) -> Repl {
        let mut session = Session::new();
        let scope = session.prelude_scope().unwrap_or_else(|_| Scope::new(None));
        let evaluator = Evaluator::new(scope.program(), session.modules.library_sources(), &options);
        Repl { session, scope, evaluator, options, style, loaded: None, folder: PathBuf::new(), inputs: 0 }
    }

    /// Answers an input: a `:command`, definitions, or an expression.
    pub fn answer(&mut self, text: &str) -> Reply {
        let trimmed = text.trim();
        let result = match trimmed.strip_prefix(':') {
            Some(command) => self.command(command),
            None => self.program_text(trimmed),
        };
        match result {
            Ok(reply) => reply,
            Err(diagnostics) => Reply { errors: self.render(&diagnostics), failed: true, ..Reply::default() },
        }
    }

    fn render(&self, diagnostics: &[Diagnostic]) -> String {
        text::render(self.session.sources(), diagnostics, self.style)
    }

    /// The name under which the next input is shown in messages.
    fn next_source(&mut self) -> String {
        self.inputs += 1;
        format!("<input {}>", self.inputs)
    }

    fn program_text(&mut self, text: &str) -> Result<Reply, Vec<Diagnostic>> {
        let name = self.next_source();
        let source = self.session.modules.add_source(&name, text);
        let parsed = parse_input(source, text);
        if parsed.diagnostics.iter().any(Diagnostic::is_error) {
            return Err(parsed.diagnostics);
        }
        match parsed.input {
            Input::Nothing => Ok(Reply::default()),
            Input::Items(items) => self.define(items, Span::new(source, 0, text.len() as u32)),
            Input::Expr(_) => {
                let evaluated = self.evaluate(&name, text)?;
                let output = format!("{} : {}\n", show(&evaluated.value), evaluated.ty);
                Ok(Reply { output, errors: self.render(&evaluated.warnings), ..Reply::default() })
            }
        }
    }

    fn evaluate(&mut self, source: &str, text: &str) -> Result<Evaluated, Vec<Diagnostic>> {
        self.evaluate_by(source, text, Expression::evaluate)
    }

    /// An expression with its operations counted, which only the interpreter does. What definitions are that are no functions
    /// is known by then, and not counted.
    fn count(&mut self, source: &str, text: &str) -> Result<Evaluated, Vec<Diagnostic>> {
        if self.options.engine != Engine::Interp {
            self.evaluate_by(source, text, Expression::count)?;
        }
        self.evaluate_by(source, text, Expression::count)
    }

    fn evaluate_by(
        &mut self,
        source: &str,
        text: &str,
        evaluate: impl FnOnce(Expression, &mut Evaluator) -> Result<Evaluated, Vec<Diagnostic>>,
    ) -> Result<Evaluated, Vec<Diagnostic>> {
        let expression = self.session.expression(&self.scope, source, text)?;
        let name = expression.def.name;
        let evaluated = evaluate(expression, &mut self.evaluator);
        // Its value is shown and then gone: functions in it are not called.
        self.evaluator.forget(name);
        evaluated
    }

    /// Adds definitions to the scope, imports first.
    fn define(&mut self, items: Vec<Item>, span: Span) -> Result<Reply, Vec<Diagnostic>> {
        let mut scope = self.scope.clone();
        let mut output = String::new();
        let mut rest = Vec::new();
        for item in items {
            match item {
                Item::Import(import) => output.push_str(&self.import(&mut scope, &import)?),
                Item::Def(_) | Item::Type(_) | Item::Alias(_) => rest.push(item),
            }
        }
        let checked = self.session.check_items(&scope, rest, span);
        if checked.diagnostics.iter().any(Diagnostic::is_error) {
            return Err(checked.diagnostics);
        }
        scope.add_names(&checked.interface, None);
        scope.add_program(&checked.program);
        for (keyword, names) in [
            ("type", checked.interface.types.keys().collect::<Vec<_>>()),
            ("alias", checked.interface.aliases.keys().collect()),
        ] {
            names.iter().for_each(|name| output.push_str(&format!("{keyword} {name}\n")));
        }
        self.evaluator.add(&checked.program);
        for def in checked.program.defs.values().filter(|def| !matches!(def.scheme.ty, Type::Fun(..))) {
            let type_args: Vec<TypeArg> = def.scheme.params.iter().map(default_arg).collect();
            self.evaluator.call(def.name, &type_args, Vec::new()).map_err(|error| vec![error])?;
        }
        for (name, info) in &checked.interface.values {
            if let Some(scheme) = &info.scheme {
                output.push_str(&format!("{name} : {scheme}\n"));
            }
        }
        self.scope = scope;
        let warnings: Vec<Diagnostic> =
            checked.diagnostics.into_iter().filter(|d| d.severity == Severity::Warning).collect();
        Ok(Reply { output, errors: self.render(&warnings), ..Reply::default() })
    }

    fn import(&mut self, scope: &mut Scope, import: &Import) -> Result<String, Vec<Diagnostic>> {
        let folder = self.folder.clone();
        let modules = self.session.modules.load_import(import, &folder).map_err(|error| vec![error])?;
        let report = crate::session::report(modules).accept()?;
        let Some(module) = report.modules.last() else { return Ok(String::new()) };
        let unknown = import.names.iter().flatten().find(|ident| !exports(module, ident.name));
        if unknown.is_some() {
            // The checker words this best: it knows similar names.
            let item = vec![Item::Import(import.clone())];
            let diagnostics =
                self.session.check_imports(item, vec![Some(module.interface.clone())], import.span);
            if diagnostics.iter().any(Diagnostic::is_error) {
                return Err(diagnostics);
            }
        }
        for needed in &report.modules {
            // What is there already stays: it may have values that took long to compute.
            if scope.add_module(needed) {
                self.evaluator.add(&needed.program);
            }
        }
        scope.add_import(import, &module.interface);
        Ok(format!("imported {}\n", module.name))
    }

    /// Puts the definitions of a file in scope, in place of everything before.
    fn load(&mut self, path: &Path) -> Result<Reply, Vec<Diagnostic>> {
        let report = self.session.check_file(path).accept()?;
        self.scope = Scope::of_file(&report.modules);
        let library = self.session.modules.library_sources();
        self.evaluator = Evaluator::new(self.scope.program(), library, &self.options);
        self.loaded = Some(path.to_path_buf());
        self.folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        let count = report.signatures().len();
        let plural = if count == 1 { "" } else { "s" };
        let output = format!("loaded {} ({count} definition{plural})\n", path.display());
        Ok(Reply { output, errors: self.render(&report.diagnostics), ..Reply::default() })
    }

    /// Names that begin with `prefix`, with their types, for completion after the text `before`; `m.` completes in the
    /// module `m`.
    pub fn complete(&self, before: &str, prefix: &str) -> Vec<(String, String)> {
        if before.trim_end() == "import" {
            let modules = library::names().into_iter().filter(|name| name.starts_with(prefix));
            return modules.map(|name| (name.to_string(), String::new())).collect();
        }
        if before.trim_start() == ":" {
            let commands = command::NAMES.iter().filter_map(|name| name.strip_prefix(':'));
            let matching = commands.filter(|name| name.starts_with(prefix));
            return matching.map(|name| (name.to_string(), String::new())).collect();
        }
        let mut found: Vec<(String, String)> = Vec::new();
        let mut add = |name: String, ty: String| {
            if name.starts_with(prefix) && !found.iter().any(|(other, _)| *other == name) {
                found.push((name, ty));
            }
        };
        for (alias, interface) in self.scope.aliases() {
            for (name, info) in &interface.values {
                add(
                    format!("{alias}.{name}"),
                    info.scheme.as_ref().map_or_else(String::new, |s| s.to_string()),
                );
            }
            add(format!("{alias}."), "module".into());
        }
        let visible = self.scope.visible();
        for interface in std::iter::once(visible).chain(self.scope.prelude().map(|prelude| prelude.as_ref()))
        {
            for (name, info) in &interface.values {
                add(name.to_string(), info.scheme.as_ref().map_or_else(String::new, |s| s.to_string()));
            }
            for (name, info) in &interface.ctors {
                add(name.to_string(), info.info.data.name.to_string());
            }
            for name in interface.types.keys().chain(interface.aliases.keys()) {
                add(name.to_string(), "type".into());
            }
        }
        for info in PRIMS.iter().filter(|info| info.name.starts_with(char::is_alphabetic)) {
            add(info.name.to_string(), info.sig.to_string());
        }
        for keyword in KEYWORDS {
            add((*keyword).to_string(), String::new());
        }
        found.sort();
        found
    }
}

const KEYWORDS: &[&str] = &[
    "def", "type", "alias", "import", "as", "let", "rec", "and", "in", "if", "then", "else", "match", "with",
    "true", "false",
];

fn exports(module: &CheckedModule, name: Name) -> bool {
    let interface = &module.interface;
    interface.values.contains_key(&name)
        || interface.types.contains_key(&name)
        || interface.ctors.contains_key(&name)
        || interface.aliases.contains_key(&name)
}

#[cfg(test)]
mod tests;
