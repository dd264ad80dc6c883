//! `wengert build`: a definition and derivatives of it as a library for C programs, with its header.
//!
//! A derivative is an expression in the scope of the file, `\x t -> jvp f (x, t)` or what `vjp` gives at a cotangent; each
//! function is compiled by itself, and all go into one C file.

use crate::compiler::Compiler;
use crate::engine::Options;
use crate::errors;
use crate::json::guess::{Numbers, default_arg};
use crate::native;
use crate::session::{Call, EXPRESSION, Session};
use crate::watch::Watch;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use wengert_base::{Diagnostic, Name, Span};
use wengert_core::{Program, Type, TypeArg};
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
        let call = self.call(file, &build.entry, None, Numbers::Real)?;
        let ty = call.arguments.result.clone();
        let span = call.def.span;
        let name = wengert_engine::exported_name(&build.entry);
        let functions = self.functions(file, build, (&call, &name), stop)?;
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

    /// What to build of a definition, called so.
    fn functions(
        &mut self,
        file: &Path,
        build: &Build,
        (call, name): (&Call, &str),
        stop: &Stop,
    ) -> Result<Vec<CFunction>, Vec<Diagnostic>> {
        let what = |text: &str| format!("{}: {text}", build.entry);
        let span = call.def.span;
        // What is left to the interpreter cannot be built.
        let left = |errors: Vec<Diagnostic>| match errors.iter().any(native::is_for_interpreter) {
            true => one(errors::only_interpreted(span, &build.entry)),
            false => errors,
        };
        let mut functions = Vec::new();
        let mut add = |name: String, doc, role, Forms { regular: unit, ragged, tagged }: Forms| {
            functions.push(CFunction { name, doc, role, unit, ragged, tagged });
        };
        let ty = &call.arguments.result;
        let count = arity(ty);
        let entry = (call.def.name, call.arguments.type_args.as_slice());
        let forms = self.forms(&call.program, entry, count, stop).map_err(left)?;
        add(name.to_string(), format!("{} : {ty}", build.entry), Role::Value, forms);
        if build.jvp {
            let doc = what("the value, and its derivative in the direction of a tangent of the arguments");
            let forms =
                self.expression_forms(file, &jvp(&build.entry, count), 2 * count, stop).map_err(left)?;
            add(format!("{name}_jvp"), doc, Role::Jvp, forms);
        }
        if build.vjp {
            let doc = what("the value, and the cotangent of the arguments for a cotangent of the value");
            let forms =
                self.expression_forms(file, &vjp(&build.entry, count), count + 1, stop).map_err(left)?;
            add(format!("{name}_vjp"), doc, Role::Vjp, forms);
        }
        let left = |made: &CFunction| is_left(&made.unit) || made.ragged.as_ref().is_some_and(is_left);
        if functions.iter().any(left) {
            return Err(one(errors::only_interpreted(span, &build.entry)));
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

    /// An expression in the scope of a file, as a function of so many arguments.
    fn expression_forms(
        &mut self,
        file: &Path,
        text: &str,
        arity: usize,
        stop: &Stop,
    ) -> Result<Forms, Vec<Diagnostic>> {
        let (expression, mut program) = self.expression_in(text, Some(file))?;
        program.types.extend(expression.program.types);
        program.defs.extend(expression.program.defs);
        let def = expression.def;
        let type_args: Vec<TypeArg> = def.scheme.params.iter().map(default_arg).collect();
        self.forms(&program, (def.name, &type_args), arity, stop)
    }

    /// File, line and column; nothing for the text of a derivative, which is nobody's.
    fn place(&self, span: Span) -> Option<String> {
        let file = self.modules.sources.get(span.source).filter(|_| !span.is_nowhere())?;
        let (line, column) = file.line_col(span.start);
        (file.name != EXPRESSION).then(|| format!("{}:{line}:{column}", file.name))
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

/// How many arguments a definition of this type takes.
fn arity(ty: &Type) -> usize {
    let (mut ty, mut count) = (ty, 0);
    while let Type::Fun(_, result) = ty {
        ty = result;
        count += 1;
    }
    count
}

/// `x1 x2 …`
fn variables(letter: &str, count: usize) -> Vec<String> {
    (1..=count)
        .map(|place| if count == 1 { letter.to_string() } else { format!("{letter}{place}") })
        .collect()
}

/// Several as a tuple.
fn tuple(variables: &[String]) -> String {
    match variables {
        [one] => one.clone(),
        several => format!("({})", several.join(", ")),
    }
}

/// The definition as a function of one argument.
fn of_one(entry: &str, args: &[String]) -> String {
    match args {
        [_] => entry.to_string(),
        several => format!("(\\{} -> {entry} {})", tuple(several), several.join(" ")),
    }
}

fn jvp(entry: &str, count: usize) -> String {
    let (args, tangents) = (variables("x", count), variables("t", count));
    let (params, function) = ([args.clone(), tangents.clone()].concat().join(" "), of_one(entry, &args));
    format!("\\{params} -> jvp {function} ({}, {})", tuple(&args), tuple(&tangents))
}

fn vjp(entry: &str, count: usize) -> String {
    let args = variables("x", count);
    let function = of_one(entry, &args);
    let value_and_back = format!("let (value, back) = vjp {function} {}", tuple(&args));
    format!("\\{} cotangent -> {value_and_back} in (value, back cotangent)", args.join(" "))
}

fn one(error: Diagnostic) -> Vec<Diagnostic> {
    vec![error]
}
