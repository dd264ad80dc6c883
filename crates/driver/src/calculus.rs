//! From expressions and files to the calculi: what `trace` and `calculus` of the command do, without printing.

use crate::session::Session;
use std::path::Path;
use wengert_base::{Diagnostic, Name};
use wengert_calculi::kit::bridge::bridge;
use wengert_calculi::kit::simple;
use wengert_core::Program;

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
