//! What the compiler makes of a program, as text, at each of its stages.

use crate::engine::Options;
use crate::errors;
use crate::json::guess::{Numbers, default_arg};
use crate::native;
use crate::session::{Input, Session};
use crate::watch::Watch;
use indexmap::IndexSet;
use std::path::Path;
use wengert_base::{Diagnostic, Name, SourceId, SourceMap, Span};
use wengert_core::{Program, Term, TermKind, TypeArg};

/// A stage of the compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The typed core: what the checker makes.
    Core,
    /// The array IR, which has requests for derivatives.
    Ir,
    /// The array IR with derivatives made, optimized.
    Derivative,
    /// Loops over flat memory.
    Loops,
    /// C text.
    C,
    /// The code of the machine-independent assembler Cranelift.
    Clif,
}

impl Session {
    /// A stage of an expression, with the definitions and imports of `file` in scope. If it is a function, the stage is of a
    /// function of the same arguments.
    pub fn emit(
        &mut self,
        text: &str,
        file: Option<&Path>,
        stage: Stage,
        options: &Options,
    ) -> Result<String, Vec<Diagnostic>> {
        let (expression, mut program) = self.expression_in(text, file)?;
        program.types.extend(expression.program.types);
        program.defs.extend(expression.program.defs);
        let def = expression.def;
        let type_args: Vec<TypeArg> = def.scheme.params.iter().map(default_arg).collect();
        self.stage(&program, (def.name, &type_args), stage, options)
    }

    /// A stage of a definition of a file; the types of its arguments are those of the input, if there is one.
    pub fn emit_entry(
        &mut self,
        file: &Path,
        entry: &str,
        input: Option<&Input>,
        stage: Stage,
        options: &Options,
    ) -> Result<String, Vec<Diagnostic>> {
        let call = self.call(file, entry, input, Numbers::Real)?;
        self.stage(&call.program, (call.def.name, &call.arguments.type_args), stage, options)
    }

    fn stage(
        &self,
        program: &Program,
        entry: (Name, &[TypeArg]),
        stage: Stage,
        options: &Options,
    ) -> Result<String, Vec<Diagnostic>> {
        options.in_time()?;
        if stage == Stage::Core {
            return Ok(wengert_core::print(&needed(program, entry.0)));
        }
        let library = self.modules.library_sources();
        let line = |span: Span| line_of(&self.modules.sources, &library, span);
        let passes = native::passes(options);
        Watch::new(options)
            .compiling(|| native::text(program, entry, &library, stage, &line, &passes))
            .map_err(|error| match native::of_its_types(&error) {
                Some(why) => vec![errors::no_machine_code(error.primary.span, &why)],
                None => vec![error],
            })
    }
}

/// The line of the user's source that a span begins in, by number, and its text.
pub(crate) fn line_of(sources: &SourceMap, library: &[SourceId], span: Span) -> Option<(usize, String)> {
    if span.is_nowhere() || library.contains(&span.source) {
        return None;
    }
    let file = sources.get(span.source)?;
    let (line, _) = file.line_col(span.start);
    let text = file.text.lines().nth((line as usize).checked_sub(1)?)?;
    Some((line as usize, text.trim().to_string()))
}

/// The definitions that a definition needs, itself the last, and the types of all.
pub(crate) fn needed(program: &Program, entry: Name) -> Program {
    let names = reached(program, IndexSet::from([entry]));
    let defs = names.iter().rev().filter_map(|name| Some((*name, program.defs.get(name)?.clone())));
    let text = defs.clone().map(|(_, def)| wengert_core::print_term(&def.body)).collect::<String>();
    let types = program.types.iter().filter(|(name, _)| text.contains(name.as_str()));
    Program { types: types.map(|(name, data)| (*name, data.clone())).collect(), defs: defs.collect() }
}

/// These names, and those of all definitions that they need.
pub(crate) fn reached(program: &Program, mut names: IndexSet<Name>) -> IndexSet<Name> {
    let mut next = 0;
    while let Some(name) = names.get_index(next).copied() {
        next += 1;
        let mut terms: Vec<&Term> = program.defs.get(&name).map(|def| &def.body).into_iter().collect();
        while let Some(term) = terms.pop() {
            if let TermKind::Global { name, .. } = &term.kind {
                names.insert(*name);
            }
            term.push_children(&mut terms);
        }
    }
    names
}
