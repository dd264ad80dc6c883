//! From expressions and files to the calculi: what `trace` and `calculus` of the command do, without printing.

use crate::errors;
use crate::files::{MAX_PROGRAM_BYTES, STDIN, read_stdin, read_text};
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

/// The names of rules that were asked for, as the calculus writes them: `beta` is `β` if there is no rule `beta`.
pub fn rules(system: &dyn System, wanted: &[String]) -> Result<Vec<String>, Diagnostic> {
    let known: Vec<&'static str> = system.rules().iter().map(|rule| rule.name).collect();
    let find = |name: &String| {
        let own = known.iter().find(|own| *own == name);
        let found = own.or_else(|| known.iter().find(|own| ascii(own) == name.to_lowercase()));
        match found {
            Some(found) => Ok((*found).to_string()),
            None => {
                let spelled: Vec<String> = known.iter().map(|own| ascii(own)).collect();
                let all = known.iter().copied().chain(spelled.iter().map(String::as_str));
                let similar = nearest(name, all);
                Err(errors::unknown_rule(system.name(), name, similar, &known))
            }
        }
    };
    wanted.iter().filter(|name| !name.is_empty()).map(find).collect()
}

/// The name of a rule without signs that a keyboard lacks.
fn ascii(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        match c {
            'β' => out.push_str("beta"),
            'δ' => out.push_str("delta"),
            'λ' => out.push_str("lambda"),
            'π' => out.push_str("pi"),
            'Ω' => out.push_str("omega"),
            '×' => out.push('x'),
            '⊕' => out.push_str("oplus"),
            '⊗' => out.push_str("otimes"),
            '⊙' => out.push_str("odot"),
            '≡' => out.push('='),
            '₂' => out.push('2'),
            _ => out.extend(c.to_lowercase()),
        }
    }
    out
}

/// What programs do wrong in a calculus that takes them: an index outside of an array, a division by zero, values of
/// different shapes, `fail`.
const FAILURES: [&str; 4] = ["E0975", "E0976", "E0977", "E0979"];

/// The other calculi that can take a program, found by trying each for a while: one whose reduction has no end by then has
/// a term for it at least.
fn takers(program: &simple::Program, refused: &dyn System) -> Vec<&'static str> {
    let limits = Limits { steps: 20_000, size: 100_000, recorded: 0 };
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
            // The program is well typed, so what is wrong is that the calculus has no term for it, or that the program fails.
            if let Some(first) = errors.first_mut().filter(|first| !FAILURES.contains(&first.code)) {
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
            (STDIN.to_string(), read_stdin(MAX_PROGRAM_BYTES))
        } else {
            (path.display().to_string(), read_text(path, Span::NOWHERE, MAX_PROGRAM_BYTES))
        };
        let text = text.map_err(|error| vec![error])?;
        let source = self.modules.add_source(&name, &text);
        work(source, &text)
    }
}
