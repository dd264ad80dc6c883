//! From expressions and files to the calculi: what `trace` and `calculus` of the command do, without printing.

use crate::errors;
use crate::files::{MAX_PROGRAM_BYTES, read_text};
use crate::session::Session;
use crate::similar::nearest;
use std::path::Path;
use wengert_base::{Diagnostic, Name, SourceId, Span};
use wengert_calculi::kit as calculi;
use wengert_calculi::kit::system::System;
use wengert_calculi::kit::trace::{Limits, Trace};
use wengert_core::Program;
use wengert_mono::bridge::bridge;
use wengert_mono::simple;

impl Session {
    /// The core of an expression with the definitions and imports of `file` in scope: a closed program, the name of the
    /// expression's definition in it, and warnings.
    pub fn core(
        &mut self,
        text: &str,
        file: Option<&Path>,
    ) -> Result<(Program, Name, Vec<Diagnostic>), Vec<Diagnostic>> {
        let (expression, mut program) = self.expression_in(text, file)?;
        let name = expression.def.name;
        program.types.extend(expression.program.types);
        program.defs.extend(expression.program.defs);
        Ok((program, name, expression.warnings))
    }

    /// The same as a closed, simply typed program, which calculi translate.
    pub fn simple(
        &mut self,
        text: &str,
        file: Option<&Path>,
    ) -> Result<(simple::Program, Vec<Diagnostic>), Vec<Diagnostic>> {
        let (program, entry, warnings) = self.core(text, file)?;
        Ok((bridge(&program, entry)?, warnings))
    }
}

/// The calculus of that name.
pub fn find(name: &str) -> Result<&'static dyn System, Diagnostic> {
    wengert_calculi::system(name).ok_or_else(|| {
        let known = wengert_calculi::systems().iter().map(|system| system.name());
        errors::unknown_calculus(name, nearest(name, known))
    })
}

/// The other calculi that can take a program, found by trying each.
fn takers(program: &simple::Program, refused: &dyn System) -> Vec<&'static str> {
    let limits = Limits { steps: 0, recorded: 0, ..Limits::default() };
    wengert_calculi::systems()
        .iter()
        .filter(|system| system.name() != refused.name() && system.trace(program, &limits).is_ok())
        .map(|system| system.name())
        .collect()
}

impl Session {
    /// The trace of an expression in a calculus, and warnings.
    pub fn trace(
        &mut self,
        text: &str,
        file: Option<&Path>,
        system: &dyn System,
        limits: &Limits,
    ) -> Result<(Trace, Vec<Diagnostic>), Vec<Diagnostic>> {
        let (program, warnings) = self.simple(text, file)?;
        let trace = system.trace(&program, limits).map_err(|mut errors| {
            // The program is well typed, so what is wrong is that the calculus has no term for it.
            if let Some(first) = errors.first_mut() {
                first.help = Some(calculi::errors::takers(&takers(&program, system)));
            }
            errors
        })?;
        Ok((trace, warnings))
    }

    /// Draws a picture of an expression in a calculus into a file.
    pub fn draw(
        &mut self,
        text: &str,
        file: Option<&Path>,
        system: &dyn System,
        limits: &Limits,
        to: &Path,
    ) -> Result<(), Vec<Diagnostic>> {
        let (program, _) = self.simple(text, file)?;
        let drawing = system.picture(&program, limits)?;
        std::fs::write(to, drawing)
            .map_err(|error| vec![errors::unwritable(&to.display().to_string(), &error)])
    }

    /// Gives `work` the text of a file (`-` is standard input), in which it can point at places.
    pub fn with_text<T>(
        &mut self,
        path: &Path,
        work: impl FnOnce(SourceId, &str) -> Result<T, Vec<Diagnostic>>,
    ) -> Result<T, Vec<Diagnostic>> {
        let (name, text) = if path.as_os_str() == "-" {
            ("<stdin>".to_string(), std::io::read_to_string(std::io::stdin().lock()))
        } else {
            let text = read_text(path, Span::NOWHERE, MAX_PROGRAM_BYTES).map_err(|error| vec![error])?;
            (path.display().to_string(), Ok(text))
        };
        let text = text.map_err(|error| vec![errors::unreadable(Span::NOWHERE, &name, &error)])?;
        let source = self.modules.add_source(&name, &text);
        work(source, &text)
    }
}
