//! The modules of the suite: files `NAME.wg` in one folder, each compiled once.
//!
//! A function of a module is a definition with one argument. Two definitions are called around it if they are there,
//! outside of what is measured: `prepare` makes the argument from the input, and `present_FUNCTION` makes the output from
//! the result.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use wengert_base::{Diagnostic, SourceMap};
use wengert_driver::json::encode;
use wengert_driver::json::parse::Document;
use wengert_driver::prepared::{Held, Prepared, Runs};
use wengert_driver::render::{Style, text};
use wengert_driver::{Options, Session};

/// Every module that was asked for.
pub(crate) struct Suite {
    programs: PathBuf,
    options: Options,
    session: Session,
    modules: BTreeMap<String, Module>,
}

/// A module that is defined.
struct Module {
    file: PathBuf,
    /// Its definitions.
    names: BTreeSet<String>,
    /// Its functions that have been called.
    functions: BTreeMap<String, Function>,
}

/// A function, and what goes before it and after it.
struct Function {
    prepare: Option<Prepared>,
    call: Prepared,
    present: Option<Prepared>,
    /// What it took to compile the function itself.
    compilation: Duration,
}

/// What an evaluation gave.
pub(crate) struct Outcome {
    /// JSON.
    pub(crate) output: String,
    /// The time of what came before the evaluations.
    pub(crate) preparation: Vec<(&'static str, Duration)>,
    /// The time that compiling the function itself took, if it was compiled now.
    pub(crate) compilation: Option<Duration>,
    /// The time of each.
    pub(crate) evaluations: Vec<Duration>,
}

impl Suite {
    /// The programs of a folder, to be run like this.
    pub(crate) fn new(programs: PathBuf, options: Options) -> Suite {
        Suite { programs, options, session: Session::new(), modules: BTreeMap::new() }
    }

    /// What the responses were made with, as JSON.
    pub(crate) fn config(&self) -> String {
        format!(
            "{{\"version\":\"{}\",\"engine\":\"{}\"}}",
            env!("CARGO_PKG_VERSION"),
            format!("{:?}", self.options.engine).to_lowercase()
        )
    }

    /// Checks the program of a module; the time that took.
    pub(crate) fn define(&mut self, name: &str) -> Result<Duration, String> {
        let begin = Instant::now();
        let is_name = name.starts_with(|first: char| first.is_ascii_lowercase())
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        let file = self.programs.join(format!("{name}.wg"));
        if !is_name || !file.is_file() {
            return Err(format!("there is no module `{name}`"));
        }
        let report = self.session.check_file(&file);
        if report.has_errors() {
            return Err(text::render(self.session.sources(), &report.diagnostics, Style::Plain));
        }
        let names = report.signatures().into_iter().map(|signature| signature.name.to_string()).collect();
        let module = Module { file, names, functions: BTreeMap::new() };
        self.modules.insert(name.to_string(), module);
        Ok(begin.elapsed())
    }

    /// Evaluates a function at the one argument in a JSON array.
    pub(crate) fn evaluate(
        &mut self,
        module: &str,
        function: &str,
        argument: &str,
        runs: Runs,
    ) -> Result<Outcome, String> {
        if !self.modules.contains_key(module) {
            self.define(module)?;
        }
        let Some(entry) = self.modules.get_mut(module) else { return Err("no module".into()) };
        let (session, options) = (&mut self.session, &self.options);
        let crashed = || "the tool crashed; what it said is on standard error".to_string();
        let outcome =
            catch_unwind(AssertUnwindSafe(|| entry.evaluate(session, options, function, argument, runs)));
        outcome.unwrap_or_else(|_| {
            // What a crash left behind is not to be trusted.
            entry.functions.remove(function);
            Err(crashed())
        })
    }
}

impl Module {
    fn evaluate(
        &mut self,
        session: &mut Session,
        options: &Options,
        name: &str,
        argument: &str,
        runs: Runs,
    ) -> Result<Outcome, String> {
        if !self.names.contains(name) {
            return Err(format!("the module has no function `{name}`"));
        }
        let mut sources = SourceMap::default();
        let source = sources.add("input", argument);
        let document = Document::parse(source, argument).map_err(|error| rendered(&sources, &[error]))?;
        let mut preparation = Vec::new();
        let mut compilation = None;
        let begin = Instant::now();
        let known = match self.functions.get_mut(name) {
            Some(function) => function.read(&document).map_err(|error| rendered(&sources, &[error]))?,
            None => None,
        };
        let held = match known {
            Some(held) => held,
            None => {
                let function = self.compile(session, options, name, &document, &sources)?;
                preparation.push(("compile", begin.elapsed()));
                compilation = Some(function.compilation);
                let function = self.functions.entry(name.to_string()).insert_entry(function).into_mut();
                let held = function.read(&document).map_err(|error| rendered(&sources, &[error]))?;
                held.ok_or("the input does not have the types that it had when it was compiled for")?
            }
        };
        let Some(function) = self.functions.get_mut(name) else { return Err("no function".into()) };
        let failed = |error: Diagnostic| rendered(session.sources(), &[error]);
        let begin = Instant::now();
        let argument = match &mut function.prepare {
            Some(prepare) => vec![prepare.call(&held).map_err(failed)?],
            None => held,
        };
        preparation.push(("prepare", begin.elapsed()));
        let mut evaluations = Vec::new();
        let result =
            function.call.time(&argument, runs, &mut |time| evaluations.push(time)).map_err(failed)?;
        drop(argument);
        let value = match &mut function.present {
            Some(present) => {
                let shown = present.call(&[result]).map_err(failed)?;
                present.value(&shown)
            }
            None => function.call.value(&result),
        };
        Ok(Outcome { output: encode::to_string(&value), preparation, compilation, evaluations })
    }

    /// A function, for arguments like those in the document.
    fn compile(
        &self,
        session: &mut Session,
        options: &Options,
        name: &str,
        document: &Document,
        sources: &SourceMap,
    ) -> Result<Function, String> {
        let first = |session: &mut Session, entry: &str| {
            session.prepare(&self.file, entry, document, options).map_err(|errors| {
                let input = |error: &Diagnostic| error.code.starts_with("E081");
                let sources = if errors.iter().any(input) { sources } else { session.sources() };
                rendered(sources, &errors)
            })
        };
        let following = |session: &mut Session, entry: &str, before: &Prepared| {
            let types = [before.result().clone()];
            match session.prepare_for(&self.file, entry, &types, options) {
                Ok(Some(prepared)) => Ok(prepared),
                Ok(None) => Err(format!("`{entry}` does not take a `{}`", before.result())),
                Err(errors) => Err(rendered(session.sources(), &errors)),
            }
        };
        let mut begin = Instant::now();
        let (prepare, call) = if self.names.contains("prepare") {
            let prepare = first(session, "prepare")?;
            begin = Instant::now();
            let call = following(session, name, &prepare)?;
            (Some(prepare), call)
        } else {
            (None, first(session, name)?)
        };
        let compilation = begin.elapsed();
        let presenting = format!("present_{name}");
        let present = match self.names.contains(&presenting) {
            true => Some(following(session, &presenting, &call)?),
            false => None,
        };
        Ok(Function { prepare, call, present, compilation })
    }
}

impl Function {
    /// The input in the form of the engine; `None` if its types are others than before.
    fn read(&mut self, document: &Document) -> Result<Option<Vec<Held>>, Diagnostic> {
        self.prepare.as_mut().unwrap_or(&mut self.call).read(document)
    }
}

fn rendered(sources: &SourceMap, errors: &[Diagnostic]) -> String {
    text::render(sources, errors, Style::Plain)
}
