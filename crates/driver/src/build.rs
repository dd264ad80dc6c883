//! `wengert build`: a definition and derivatives of it as a library for C programs, with its header.
//!
//! [`mod@entry`] says at which types the definition is called, [`mod@derivative`] makes definitions of its derivatives; each function
//! is compiled by itself, and all go into one C file.

mod derivative;
mod entry;

use crate::compiler::Compiler;
use crate::cost;
use crate::engine::Options;
use crate::errors;
use crate::native;
use crate::session::Session;
use crate::watch::Watch;
use entry::Entry;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use wengert_base::{Diagnostic, Name, Span};
use wengert_core::{Def, Program, TypeArg};
use wengert_engine::{CFunction, Passes, Role, Rows, Unit};

/// Not 0 when to stop.
type Stop = Arc<AtomicU64>;

/// What to build.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Build {
    /// The definition.
    pub entry: String,
    /// Its forward derivative, too.
    pub jvp: bool,
    /// Its reverse derivative, too.
    pub vjp: bool,
}

/// What was built.
#[derive(Clone, Debug, Default)]
pub struct Built {
    /// The files that were made.
    pub files: Vec<PathBuf>,
}

impl Session {
    /// Builds a library of a definition of a file in a folder.
    pub fn build(
        &mut self,
        file: &Path,
        build: &Build,
        folder: &Path,
        options: &Options,
    ) -> Result<Built, Vec<Diagnostic>> {
        let watch = Watch::new(options);
        let watching = watch.start();
        let built = self.built(file, build, folder, &watch.stop);
        built.map_err(|errors| errors.into_iter().map(|error| watching.explain(error)).collect())
    }

    /// The same, as long as `stop` is 0.
    fn built(
        &mut self,
        file: &Path,
        build: &Build,
        folder: &Path,
        stop: &Stop,
    ) -> Result<Built, Vec<Diagnostic>> {
        let (program, def, _) = self.definition(file, &build.entry)?;
        let entry = entry::entry(&build.entry, &def).map_err(one)?;
        require_derivatives(build, &entry, &def).map_err(one)?;
        let (ty, span) = (&entry.ty, entry.span);
        let name = wengert_engine::exported_name(&build.entry);
        let functions = self.functions(program, build, (&entry, &name), stop)?;
        let library = self.modules.library_sources();
        let line = |span: Span| crate::emit::line_of(&self.modules.sources, &library, span);
        let place = |failing: Span| self.place(failing).or_else(|| self.place(span)).unwrap_or_default();
        let not_for_c = |why: String| errors::not_for_c(span, &build.entry, &ty.to_string(), &why);
        let made = || {
            let made = wengert_engine::c_library(&name, functions, &place, &line).map_err(not_for_c)?;
            write(&Compiler::find()?, folder, &name, &made)
        };
        let files = native::stoppable(stop, made).map_err(one)?;
        Ok(Built { files })
    }

    /// What to build of a definition.
    fn functions(
        &self,
        mut program: Program,
        build: &Build,
        (entry, name): (&Entry, &str),
        stop: &Stop,
    ) -> Result<Vec<CFunction>, Vec<Diagnostic>> {
        let span = entry.span;
        let only_interpreted = || errors::only_interpreted(span, &build.entry);
        // What is left to the interpreter cannot be built.
        let left = |errors: Vec<Diagnostic>| match errors.iter().any(native::is_for_interpreter) {
            true => one(only_interpreted()),
            false => errors,
        };
        let mut functions = Vec::new();
        for (name, doc, role) in wanted(build, entry, name) {
            let (derivative, count) = match role {
                Role::Value => (None, entry.params.len()),
                Role::Jvp => (Some(derivative::jvp(entry)), 2 * entry.params.len()),
                Role::Vjp => (Some(derivative::vjp(entry)), entry.params.len() + 1),
            };
            let called = match derivative {
                None => (entry.def, entry.type_args.as_slice()),
                Some(made) => {
                    let name = made.name;
                    program.defs.insert(name, Arc::new(made));
                    (name, [].as_slice())
                }
            };
            let Forms { regular: unit, ragged, tagged } =
                self.forms(&program, called, count, stop).map_err(left)?;
            functions.push(CFunction { name, doc, role, unit, ragged, tagged });
        }
        let left = |made: &CFunction| is_left(&made.unit) || made.ragged.as_ref().is_some_and(is_left);
        if functions.iter().any(left) {
            return Err(one(only_interpreted()));
        }
        Ok(functions)
    }

    /// A definition, and its other forms.
    fn forms(
        &self,
        program: &Program,
        entry: (Name, &[TypeArg]),
        arity: usize,
        stop: &Stop,
    ) -> Result<Forms, Vec<Diagnostic>> {
        let library = self.modules.library_sources();
        let made = |rows, passes: &Passes| native::unit(program, entry, &library, (arity, rows), passes);
        // Numbers may know what they vary by instead.
        let tagged = |rows| {
            let tagged = made(rows, &Passes { ordered: true, tagged: true, ..Passes::default() })?;
            Ok(Some(tagged).filter(|unit| !is_left(unit)))
        };
        let forms = || {
            let mut regular = made(Rows::Regular, &Passes::default())?;
            let mut instead = if lacks(&regular) { tagged(Rows::Regular)? } else { None };
            if is_left(&regular) {
                regular = instead.take().unwrap_or(regular);
            }
            let mut ragged = None;
            if regular.entry.uneven {
                let made = made(Rows::Ragged, &Passes::default())?;
                let instead = if lacks(&made) { tagged(Rows::Ragged)? } else { None };
                ragged = Some(instead.unwrap_or(made));
            }
            Ok(Forms { regular, ragged, tagged: instead })
        };
        native::stoppable(stop, forms).map_err(one)
    }

    /// File, line and column.
    fn place(&self, span: Span) -> Option<String> {
        let file = self.modules.sources.get(span.source).filter(|_| !span.is_nowhere())?;
        let (line, column) = file.line_col(span.start);
        Some(format!("{}:{line}:{column}", file.name))
    }
}

/// Writes the files and compiles.
fn write(
    compiler: &Compiler,
    folder: &Path,
    name: &str,
    made: &wengert_engine::Exported,
) -> Result<Vec<PathBuf>, Diagnostic> {
    let unwritable =
        |path: &Path, error: &std::io::Error| errors::unwritable(&path.display().to_string(), error);
    fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
    let (source, header) = (folder.join(format!("{name}.c")), folder.join(format!("{name}.h")));
    let library = folder.join(format!("lib{name}.so"));
    for (path, text) in [(&source, &made.source), (&header, &made.header)] {
        fs::write(path, text).map_err(|error| unwritable(path, &error))?;
    }
    compiler.build(&source, &library)?;
    Ok(vec![library, header, source])
}

/// A definition in the forms that a library needs.
struct Forms {
    regular: Unit,
    /// For ragged rows, if that is another program.
    ragged: Option<Unit>,
    /// Where no derivative is made beforehand, if one may be missing that is.
    tagged: Option<Unit>,
}

/// Whether some runs, or all, are left to the interpreter.
fn lacks(unit: &Unit) -> bool {
    is_left(unit) || wengert_engine::may_be_beyond(unit)
}

/// Whether a program is left to the interpreter, whatever it is called with.
fn is_left(unit: &Unit) -> bool {
    wengert_engine::always_beyond(unit) || wengert_engine::is_huge(unit)
}

/// An error unless there is a derivative, if one is asked for.
fn require_derivatives(build: &Build, entry: &Entry, def: &Def) -> Result<(), Diagnostic> {
    let why = if entry.params.is_empty() {
        "it takes no arguments"
    } else if !entry.params.iter().any(cost::holds_a_real) {
        "its arguments hold no `Real`, so there is nothing to differentiate"
    } else {
        return Ok(());
    };
    let asked = build.jvp || build.vjp;
    let error = || errors::no_derivative(def.span, &build.entry, &entry.ty.to_string(), why);
    if asked { Err(error()) } else { Ok(()) }
}

/// The functions that are asked for: their names in C, what the header says of them, and what they are.
fn wanted(build: &Build, entry: &Entry, name: &str) -> Vec<(String, String, Role)> {
    let what = |text: &str| format!("{}: {text}", build.entry);
    let jvp = what("the value, and its derivative in the direction of a tangent of the arguments");
    let vjp = what("the value, and the cotangent of the arguments for a cotangent of the value");
    let all = [
        (true, name.to_string(), format!("{} : {}", build.entry, entry.ty), Role::Value),
        (build.jvp, format!("{name}_jvp"), jvp, Role::Jvp),
        (build.vjp, format!("{name}_vjp"), vjp, Role::Vjp),
    ];
    all.into_iter().filter(|(asked, ..)| *asked).map(|(_, name, doc, role)| (name, doc, role)).collect()
}

fn one(error: Diagnostic) -> Vec<Diagnostic> {
    vec![error]
}
