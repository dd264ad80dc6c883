//! The one entrance to the language: checking files, evaluating expressions and entries, counting costs.
//!
//! A [`Session`] keeps every source it has seen, so that diagnostics can be rendered at any time, and every module it has checked,
//! so that nothing is checked twice.

use crate::cost::{self, Cost};
use crate::engine::{Evaluated, Evaluator, Options};
use crate::errors;
use crate::files::{MAX_INPUT_BYTES, read_text};
use crate::json::arguments::{Arguments, arguments};
use crate::json::guess::{Numbers, default_arg};
use crate::json::parse::Document;
use crate::library;
use crate::modules::{CheckedModule, Modules};
use crate::native::{self, Units};
use crate::scope::Scope;
use crate::similar::nearest;
use crate::watch::Watch;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use wengert_base::{Diagnostic, Name, SourceMap, Span};
use wengert_check::{Checked, Interface, ModuleInput, check_module};
use wengert_core::{Def, Program, Scheme, TypeArg};
use wengert_engine::Unit;
use wengert_interp::Value;
use wengert_syntax::ast::{self, Ident, Item};

/// What checking a file gave.
pub struct Report {
    /// The file and everything it needs, the file last.
    pub modules: Vec<Arc<CheckedModule>>,
    /// Everything wrong in any of them.
    pub diagnostics: Vec<Diagnostic>,
}

impl Report {
    /// Whether the file cannot be run.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// The types of the file's own definitions, in the order of the text.
    pub fn signatures(&self) -> Vec<Signature> {
        self.modules.last().map_or_else(Vec::new, |module| signatures(module))
    }
}

/// A name with its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// What the user calls it.
    pub name: Name,
    /// Its type as written.
    pub ty: String,
    /// Where it is defined.
    pub span: Span,
}

/// The arguments of an entry: a JSON array, as text or in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// The text itself.
    Text(String),
    /// A file that holds it.
    File(PathBuf),
}

/// Checks, evaluates and remembers.
#[derive(Default)]
pub struct Session {
    pub(crate) modules: Modules,
    /// How many texts have been checked in a scope: they are modules with numbers for names.
    snippets: u32,
}

/// A call that is ready to run.
pub(crate) struct Call {
    pub(crate) program: Program,
    pub(crate) def: Arc<Def>,
    pub(crate) arguments: Arguments,
    pub(crate) warnings: Vec<Diagnostic>,
}

/// How an evaluator is asked for the value of a definition, and the operations that it took.
type CallOf = fn(&mut Evaluator, Name, &[TypeArg], Vec<Value>) -> Result<(Value, u64), Diagnostic>;

/// An expression as a definition.
pub(crate) struct Expression {
    pub(crate) def: Arc<Def>,
    pub(crate) program: Program,
    pub(crate) warnings: Vec<Diagnostic>,
}

impl Expression {
    /// The expression among the definitions of a checked module, of which it is the last.
    fn new(checked: Option<Checked>, mut warnings: Vec<Diagnostic>) -> Result<Expression, Vec<Diagnostic>> {
        let Some(checked) = checked else { return Err(warnings) };
        warnings.extend(checked.diagnostics);
        if warnings.iter().any(Diagnostic::is_error) {
            return Err(warnings);
        }
        match checked.program.defs.values().last().cloned() {
            Some(def) => Ok(Expression { def, program: checked.program, warnings }),
            None => Err(vec![errors::internal(Span::NOWHERE, "the expression was not elaborated")]),
        }
    }

    /// Its value, in an evaluator that has the definitions it uses.
    pub(crate) fn evaluate(self, evaluator: &mut Evaluator) -> Result<Evaluated, Vec<Diagnostic>> {
        self.with_value(evaluator, Evaluator::call)
    }

    /// The same, with its operations counted whatever the engine.
    pub(crate) fn count(self, evaluator: &mut Evaluator) -> Result<Evaluated, Vec<Diagnostic>> {
        self.with_value(evaluator, Evaluator::counted)
    }

    /// Its value as `call` gives it. Types that nothing decides get their defaults.
    fn with_value(mut self, evaluator: &mut Evaluator, call: CallOf) -> Result<Evaluated, Vec<Diagnostic>> {
        let scheme = &self.def.scheme;
        let type_args: Vec<TypeArg> = scheme.params.iter().map(default_arg).collect();
        evaluator.add(&self.program);
        let (value, flops) =
            call(evaluator, self.def.name, &type_args, Vec::new()).map_err(|error| vec![error])?;
        self.warnings.extend(evaluator.said.take());
        // Only numbers are settled for the user to see: `Nil` stays a `List a`.
        let shown = scheme.params.iter().zip(&type_args).map(|(param, arg)| match param.preds().is_empty() {
            true => param.as_arg(),
            false => arg.clone(),
        });
        let ty = scheme.instantiate(&shown.collect::<Vec<_>>()).to_string();
        Ok(Evaluated { value, ty, flops, engine: evaluator.used, warnings: self.warnings })
    }
}

impl Session {
    /// A session that has seen nothing yet.
    pub fn new() -> Session {
        Session::default()
    }

    /// Every source seen, to render diagnostics with.
    pub fn sources(&self) -> &SourceMap {
        &self.modules.sources
    }

    /// Checks the file at `path` and everything it imports.
    pub fn check_file(&mut self, path: &Path) -> Report {
        match self.modules.load_file(path) {
            Ok(modules) => report(modules),
            Err(error) => Report { modules: Vec::new(), diagnostics: vec![error] },
        }
    }

    /// Checks a text as if it were a file called `name` in `folder`.
    pub fn check_text(&mut self, name: &str, text: &str, folder: &Path) -> Report {
        report(self.modules.load_text(name, text, folder))
    }

    /// The scope with nothing but the prelude.
    pub fn prelude_scope(&mut self) -> Result<Scope, Vec<Diagnostic>> {
        let prelude = self.modules.load_library(library::PRELUDE);
        match &prelude {
            Some(prelude) if prelude.has_errors() => Err(prelude.diagnostics.clone()),
            _ => Ok(Scope::new(prelude.as_deref())),
        }
    }

    /// The value of an expression, with the definitions and imports of `file` in scope.
    pub fn eval(
        &mut self,
        text: &str,
        file: Option<&Path>,
        options: &Options,
    ) -> Result<Evaluated, Vec<Diagnostic>> {
        let Some(file) = file else {
            let scope = self.prelude_scope()?;
            return self.eval_in(&scope, EXPRESSION, text, options);
        };
        let (expression, program) = self.expression_in(text, Some(file))?;
        options.in_time()?;
        let mut evaluator = Evaluator::new(&program, self.modules.library_sources(), options);
        expression.evaluate(&mut evaluator)
    }

    /// An expression with the definitions and imports of `file` in scope, and the program of all of these.
    pub(crate) fn expression_in(
        &mut self,
        text: &str,
        file: Option<&Path>,
    ) -> Result<(Expression, Program), Vec<Diagnostic>> {
        let Some(file) = file else {
            let scope = self.prelude_scope()?;
            let expression = self.expression(&scope, EXPRESSION, text)?;
            return Ok((expression, scope.program().clone()));
        };
        let report = self.check_file(file).accept()?;
        let (def, warnings) = self.parse_expression(EXPRESSION, text)?;
        let checked = report.modules.last().map(|module| with_definition(module, def));
        let mut expression = Expression::new(checked, warnings)?;
        let (said, new) = (report.diagnostics, std::mem::take(&mut expression.warnings));
        expression.warnings.extend(said.iter().cloned());
        expression.warnings.extend(new.into_iter().filter(|warning| !said.contains(warning)));
        Ok((expression, link(&report.modules)))
    }

    /// The value of an expression in a scope; `source` is the name of its text in messages.
    pub fn eval_in(
        &mut self,
        scope: &Scope,
        source: &str,
        text: &str,
        options: &Options,
    ) -> Result<Evaluated, Vec<Diagnostic>> {
        let expression = self.expression(scope, source, text)?;
        options.in_time()?;
        let mut evaluator = Evaluator::new(scope.program(), self.modules.library_sources(), options);
        expression.evaluate(&mut evaluator)
    }

    /// Evaluates a definition in a scope, by its name there, applied to the arguments in `input`.
    pub fn call_in(
        &mut self,
        scope: &Scope,
        entry: &str,
        input: &Input,
        options: &Options,
    ) -> Result<Evaluated, Vec<Diagnostic>> {
        self.call_sharing(scope, entry, input, options, &Units::default())
    }

    /// The same, with what the compiler made for other calls in this scope, of whatever engine.
    pub fn call_sharing(
        &mut self,
        scope: &Scope,
        entry: &str,
        input: &Input,
        options: &Options,
        units: &Units,
    ) -> Result<Evaluated, Vec<Diagnostic>> {
        let (def, document) = self.called_in(scope, entry, input)?;
        let Arguments { type_args, values, result, .. } =
            arguments(&document, entry, &def.scheme, &scope.program().types, Numbers::Int)
                .map_err(|error| vec![error])?;
        let mut evaluator = Evaluator::new(scope.program(), self.modules.library_sources(), options);
        evaluator.share(units);
        let (value, flops) = evaluator.call(def.name, &type_args, values).map_err(|error| vec![error])?;
        let warnings = Vec::from_iter(evaluator.said.take());
        Ok(Evaluated { value, ty: result.to_string(), flops, engine: evaluator.used, warnings })
    }

    /// The program of the engine that is run when a definition in a scope is applied to arguments of these types.
    pub fn unit_in(
        &mut self,
        scope: &Scope,
        entry: &str,
        input: &Input,
        options: &Options,
    ) -> Result<Unit, Vec<Diagnostic>> {
        let (def, document) = self.called_in(scope, entry, input)?;
        let Arguments { type_args, values, .. } =
            arguments(&document, entry, &def.scheme, &scope.program().types, Numbers::Int)
                .map_err(|error| vec![error])?;
        let (entry, library) = ((def.name, type_args.as_slice()), self.modules.library_sources());
        let (passes, shape) = (native::passes(options), (values.len(), native::rows_of(&values)));
        Watch::new(options)
            .compiling(|| native::unit(scope.program(), entry, &library, shape, &passes))
            .map_err(|error| vec![error])
    }

    fn called_in(
        &mut self,
        scope: &Scope,
        entry: &str,
        input: &Input,
    ) -> Result<(Arc<Def>, Document), Vec<Diagnostic>> {
        let info = scope.visible().values.get(&Name::new(entry));
        let def = info.and_then(|info| scope.program().defs.get(&info.qualified)).cloned();
        let unknown = || vec![errors::unknown_definition(entry, "this scope", None, &[])];
        Ok((def.ok_or_else(unknown)?, self.document(input).map_err(|error| vec![error])?))
    }

    /// The type of an expression in a scope; `source` is the name of its text in messages.
    pub fn type_in(&mut self, scope: &Scope, source: &str, text: &str) -> Result<Scheme, Vec<Diagnostic>> {
        self.expression(scope, source, text).map(|expression| expression.def.scheme.clone())
    }

    /// Checks an expression in a scope.
    pub(crate) fn expression(
        &mut self,
        scope: &Scope,
        source: &str,
        text: &str,
    ) -> Result<Expression, Vec<Diagnostic>> {
        let (def, warnings) = self.parse_expression(source, text)?;
        let span = def.span;
        Expression::new(Some(self.check_items(scope, vec![Item::Def(def)], span)), warnings)
    }

    /// An expression as a definition, and warnings.
    fn parse_expression(
        &mut self,
        source: &str,
        text: &str,
    ) -> Result<(ast::Def, Vec<Diagnostic>), Vec<Diagnostic>> {
        let source = self.modules.add_source(source, text);
        let parsed = wengert_syntax::parse_expr(source, text);
        if parsed.diagnostics.iter().any(Diagnostic::is_error) {
            return Err(parsed.diagnostics);
        }
        let span = parsed.expr.span;
        let name = Ident { name: Name::new(EXPRESSION), span: Span { end: span.start, ..span } };
        let def = ast::Def { name, params: Vec::new(), result: None, body: parsed.expr, span };
        Ok((def, parsed.diagnostics))
    }

    /// Checks declarations in a scope, as a module of their own.
    pub(crate) fn check_items(&mut self, scope: &Scope, items: Vec<Item>, span: Span) -> Checked {
        let (mut all, imports) = scope.as_imports();
        all.extend(items);
        self.snippets += 1;
        let tree = ast::Module { items: all, span };
        let name = Name::new(&format!("it{}", self.snippets));
        let mut checked = check_module(&ModuleInput {
            name,
            module: &tree,
            imports,
            prelude: scope.prelude().cloned(),
            elsewhere: library::declaring,
        });
        if !checked.diagnostics.iter().any(Diagnostic::is_error) {
            checked.diagnostics.extend(verify(&checked.program, scope.program()));
        }
        checked
    }

    /// What the checker says of import items alone.
    pub(crate) fn check_imports(
        &mut self,
        items: Vec<Item>,
        imports: Vec<Option<Arc<Interface>>>,
        span: Span,
    ) -> Vec<Diagnostic> {
        let tree = ast::Module { items, span };
        check_module(&ModuleInput {
            name: Name::new("it"),
            module: &tree,
            imports,
            prelude: None,
            elsewhere: library::declaring,
        })
        .diagnostics
    }

    /// Evaluates the definition `entry` of a file, applied to the arguments in `input`.
    pub fn run(
        &mut self,
        file: &Path,
        entry: &str,
        input: Option<&Input>,
        options: &Options,
    ) -> Result<Evaluated, Vec<Diagnostic>> {
        let call = self.call(file, entry, input, Numbers::Int)?;
        options.in_time()?;
        let Arguments { type_args, values, result, .. } = call.arguments;
        let mut evaluator = Evaluator::new(&call.program, self.modules.library_sources(), options);
        let (value, flops) =
            evaluator.call(call.def.name, &type_args, values).map_err(|error| vec![error])?;
        let warnings = call.warnings.into_iter().chain(evaluator.said.take()).collect();
        Ok(Evaluated { value, ty: result.to_string(), flops, engine: evaluator.used, warnings })
    }

    /// Counts the operations of the definition `entry` of a file, of its `jvp` and its `vjp`, at the arguments in `input`.
    pub fn cost(
        &mut self,
        file: &Path,
        entry: &str,
        input: &Input,
        options: &Options,
    ) -> Result<Cost, Vec<Diagnostic>> {
        let call = self.call(file, entry, Some(input), Numbers::Real)?;
        options.in_time()?;
        let mut evaluator = Evaluator::new(&call.program, self.modules.library_sources(), options);
        cost::count(&call, entry, &mut evaluator).map_err(|error| vec![error])
    }

    pub(crate) fn call(
        &mut self,
        file: &Path,
        entry: &str,
        input: Option<&Input>,
        numbers: Numbers,
    ) -> Result<Call, Vec<Diagnostic>> {
        let (program, def, warnings) = self.definition(file, entry)?;
        let arguments = match input {
            None => {
                let type_args: Vec<TypeArg> = def.scheme.params.iter().map(default_arg).collect();
                let result = def.scheme.instantiate(&type_args);
                Arguments { type_args, values: Vec::new(), types: Vec::new(), result }
            }
            Some(input) => {
                let document = self.document(input).map_err(|error| vec![error])?;
                arguments(&document, entry, &def.scheme, &program.types, numbers)
                    .map_err(|error| vec![error])?
            }
        };
        Ok(Call { program, def, arguments, warnings })
    }

    /// A file's definition, with the program that it is part of and the warnings about it.
    pub(crate) fn definition(
        &mut self,
        file: &Path,
        entry: &str,
    ) -> Result<(Program, Arc<Def>, Vec<Diagnostic>), Vec<Diagnostic>> {
        let report = self.check_file(file).accept()?;
        let program = link(&report.modules);
        let module = report.modules.last();
        let info = module.and_then(|module| module.interface.values.get(&Name::new(entry)));
        if let Some(def) = info.and_then(|info| program.defs.get(&info.qualified)).cloned() {
            return Ok((program, def, report.diagnostics));
        }
        let names: Vec<&str> = module
            .into_iter()
            .flat_map(|module| module.interface.values.keys().map(|name| name.as_str()))
            .collect();
        let similar = nearest(entry, names.iter().copied());
        let place = format!("`{}`", file.display());
        Err(vec![errors::unknown_definition(entry, &place, similar, &names)])
    }

    fn document(&mut self, input: &Input) -> Result<Document, Diagnostic> {
        let (name, text) = match input {
            Input::Text(text) => ("<input>".to_string(), text.clone()),
            Input::File(path) => {
                (path.display().to_string(), read_text(path, Span::NOWHERE, MAX_INPUT_BYTES)?)
            }
        };
        let source = self.modules.sources.add(name, text.as_str());
        Document::parse(source, &text)
    }
}

/// The name of the definition that an expression becomes; no user can write it.
pub(crate) const EXPRESSION: &str = "<expression>";

/// Checks a module again with one more definition at its end, which sees exactly what the module sees.
fn with_definition(module: &CheckedModule, def: ast::Def) -> Checked {
    let mut tree = ast::Module::clone(&module.tree);
    tree.items.push(Item::Def(def));
    check_module(&ModuleInput {
        name: module.name,
        module: &tree,
        imports: module.imports.iter().map(|m| m.as_ref().map(|m| m.interface.clone())).collect(),
        prelude: module.prelude.as_ref().map(|prelude| prelude.interface.clone()),
        elsewhere: library::declaring,
    })
}

pub(crate) fn report(modules: Vec<Arc<CheckedModule>>) -> Report {
    let mut diagnostics: Vec<Diagnostic> =
        modules.iter().flat_map(|module| module.diagnostics.iter().cloned()).collect();
    diagnostics.dedup();
    Report { modules, diagnostics }
}

impl Report {
    /// The report, or its diagnostics if there is an error.
    pub fn accept(self) -> Result<Report, Vec<Diagnostic>> {
        if self.has_errors() { Err(self.diagnostics) } else { Ok(self) }
    }
}

/// In debug builds: what the verifier of the core says of definitions that the checker has accepted. Anything is a bug.
pub(crate) fn verify(module: &Program, context: &Program) -> Vec<Diagnostic> {
    if !cfg!(debug_assertions) {
        return Vec::new();
    }
    let errors = wengert_core::verify_module(module, context).err().unwrap_or_default();
    errors.into_iter().map(|error| errors::internal(error.span, error)).collect()
}

/// One program of several modules.
pub(crate) fn link(modules: &[Arc<CheckedModule>]) -> Program {
    let mut program = Program::default();
    for module in modules {
        program.types.extend(module.program.types.iter().map(|(name, data)| (*name, data.clone())));
        program.defs.extend(module.program.defs.iter().map(|(name, def)| (*name, def.clone())));
    }
    program
}

pub(crate) fn signatures(module: &CheckedModule) -> Vec<Signature> {
    let mut all: Vec<Signature> = module
        .interface
        .values
        .iter()
        .filter_map(|(name, info)| {
            let ty = info.scheme.as_ref()?.to_string();
            Some(Signature { name: *name, ty, span: info.span })
        })
        .collect();
    all.sort_by_key(|signature| signature.span);
    all
}
