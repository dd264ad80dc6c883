//! Running a linked program: one call of the interpreter, with the limits of the session.

use crate::errors;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use wengert_base::{Diagnostic, Name, Span};
use wengert_core::{Program, TypeArg};
use wengert_interp::value::Value;
use wengert_interp::{Interp, Limits};

/// What an evaluation may use, and how it is stopped from outside.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Steps, memory, time.
    pub limits: Limits,
    /// Set by another thread or a signal to stop the evaluation.
    pub interrupt: Arc<AtomicBool>,
    /// Kept up to date by the evaluator, for others to look at: steps done so far.
    pub steps: Arc<AtomicU64>,
}

/// A result and what it took.
pub struct Evaluated {
    /// The result.
    pub value: Value,
    /// Its type, as shown to the user.
    pub ty: String,
    /// Floating-point operations, weighted by their costs.
    pub flops: u64,
    /// What is odd about the program.
    pub warnings: Vec<Diagnostic>,
}

/// An evaluator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// The reference interpreter.
    #[default]
    Interp,
    /// Machine code, in memory.
    Native,
    /// C text, compiled by the system's compiler.
    C,
}

impl Engine {
    /// All engines with their names.
    pub const ALL: [(&'static str, Engine); 3] =
        [("interp", Engine::Interp), ("native", Engine::Native), ("c", Engine::C)];

    /// An error unless this build has the engine.
    pub fn require(self) -> Result<(), Diagnostic> {
        match self {
            Engine::Interp => Ok(()),
            Engine::Native => Err(errors::no_engine("native")),
            Engine::C => Err(errors::no_engine("c")),
        }
    }
}

/// Applies the definition `name` to `args`, and counts.
pub(crate) fn evaluate(
    program: &Arc<Program>,
    name: Name,
    type_args: &[TypeArg],
    args: Vec<Value>,
    options: &Options,
) -> Result<(Value, u64), Diagnostic> {
    if !program.defs.contains_key(&name) {
        return Err(errors::internal(Span::NOWHERE, format!("`{name}` is not linked")));
    }
    let mut interp = Interp::new(program.clone(), options.limits, options.interrupt.clone());
    let value = interp.eval_global(name, type_args, args)?;
    Ok((value, interp.flops()))
}
