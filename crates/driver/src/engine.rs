//! Running linked programs, with the limits of the session.

use crate::ahead;
use crate::compiler::Compiler;
use crate::errors;
use crate::native::{self, Target, Units};
use crate::watch::Watch;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use wengert_base::{Diagnostic, Name, SourceId, Span};
use wengert_core::{Program, TypeArg};
use wengert_fault::Fault;
use wengert_interp::{Interp, Limits, Value};

/// What an evaluation may use, how it is stopped from outside, and how far it is.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Steps: instructions, and elements that built-in functions work on.
    pub max_steps: Option<u64>,
    /// Bytes of values; the interpreter has a default.
    pub max_memory: Option<u64>,
    /// Time of one evaluation.
    pub timeout: Option<Duration>,
    /// When that time began to count, if what comes before the evaluation is in it; else each evaluation begins anew.
    pub begun: Option<Instant>,
    /// Set by another thread or a signal to stop the evaluation.
    pub interrupt: Arc<AtomicBool>,
    /// Kept up to date by the evaluator, for others to look at: steps done so far.
    pub steps: Arc<AtomicU64>,
    /// Which evaluator.
    pub engine: Engine,
    /// How many threads machine code makes long loops with; 0 is 1. Results do not depend on it.
    pub threads: usize,
    /// Numbers are to the last bit what the interpreter gives, on every engine; else the C compiler may round differently.
    pub strict: bool,
    /// Machine code divides short loops between threads too: for tests.
    pub short_loops: bool,
    /// No derivative is made beforehand, as where that cannot be done: for tests.
    pub tagged: bool,
    /// Machine code is kept on disk for later, and was perhaps kept before.
    pub cache: bool,
    /// Passes of the optimizer to leave out.
    pub without: Vec<String>,
    /// How long the interpreter may look for the calls that led to a failure of machine code; not at all if there is nothing here.
    pub retrace: Option<Duration>,
}

impl Options {
    /// What is said when the time is up, if it is limited.
    pub fn too_late(&self) -> Option<Diagnostic> {
        self.timeout.map(|limit| Fault::Time { limit }.diagnostic(Span::NOWHERE))
    }

    /// An error if the time is up already: it took that long to come here.
    pub(crate) fn in_time(&self) -> Result<(), Vec<Diagnostic>> {
        let late = self.begun.zip(self.timeout).is_some_and(|(begun, limit)| begun.elapsed() > limit);
        self.too_late().filter(|_| late).map_or(Ok(()), |error| Err(vec![error]))
    }
}

/// A result and what it took.
pub struct Evaluated {
    /// The result.
    pub value: Value,
    /// Its type, as shown to the user.
    pub ty: String,
    /// Floating-point operations, weighted by their costs.
    pub flops: u64,
    /// What evaluated it: the engine that was asked for, or the interpreter where that cannot.
    pub engine: Engine,
    /// What is odd about the program.
    pub warnings: Vec<Diagnostic>,
}

/// Which evaluator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// The reference interpreter.
    #[default]
    Interp,
    /// The reference evaluator of the compiler's array IR.
    Ir,
    /// Machine code, in memory.
    Native,
    /// C text, compiled by the system's compiler.
    C,
}

impl Engine {
    /// What it is called on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Interp => "interp",
            Engine::Ir => "ir",
            Engine::Native => "native",
            Engine::C => "c",
        }
    }

    /// An error if the engine lacks something on this machine.
    pub fn require(self) -> Result<(), Diagnostic> {
        match self {
            Engine::Interp | Engine::Ir | Engine::Native => Ok(()),
            Engine::C => Compiler::find().map(|_| ()),
        }
    }
}

/// A program that can be run, and added to.
pub(crate) struct Evaluator {
    interp: Interp,
    /// What machine code is made of, if that is the engine.
    native: Option<Source>,
    /// The engine that was asked for.
    wanted: Engine,
    /// What did the last call.
    pub(crate) used: Engine,
    /// Why that was the interpreter, if another engine was asked for.
    pub(crate) said: Option<Diagnostic>,
    limits: Limits,
    retrace: Option<Duration>,
}

/// What machine code is made of.
struct Source {
    target: Target,
    program: Program,
    library: Vec<SourceId>,
    memory: u64,
    threads: usize,
    watch: Watch,
}

impl Source {
    /// Whether that failure may be one of a constant that the interpreter would not have computed yet.
    fn fails_ahead(&self, error: &Diagnostic, entry: Name) -> bool {
        let stopped = [Fault::Interrupted, Fault::Time { limit: Duration::ZERO }];
        !stopped.iter().any(|fault| fault.code() == error.code)
            && ahead::may_be_of_a_constant(&self.program, entry, error.primary.span)
    }
}

/// Bytes that the interpreter may use to find the calls that led to a failure.
const RETRACE_MEMORY: u64 = 1 << 30;

impl Evaluator {
    /// An evaluator for `program`; failures inside `library` sources are reported at the user's own call.
    pub(crate) fn new(program: &Program, library: Vec<SourceId>, options: &Options) -> Evaluator {
        let limits = limits(options);
        let native = Target::of(options).map(|target| Source {
            target,
            program: program.clone(),
            library: library.clone(),
            memory: limits.max_memory,
            threads: options.threads,
            watch: Watch::new(options),
        });
        let mut interp = Interp::new(program, limits.clone());
        interp.set_library_sources(library);
        let (wanted, retrace) = (options.engine, options.retrace);
        Evaluator { interp, native, wanted, used: wanted, said: None, limits, retrace }
    }

    /// Takes what was made for other calls, and keeps what is made for this one.
    pub(crate) fn share(&mut self, units: &Units) {
        if let Some(native) = &mut self.native {
            native.target.units = Some(units.clone());
        }
    }

    /// Adds definitions.
    pub(crate) fn add(&mut self, program: &Program) {
        self.interp.add_program(program);
        if let Some(native) = &mut self.native {
            native.program.types.extend(program.types.clone());
            native.program.defs.extend(program.defs.clone());
        }
    }

    /// Takes a definition away that no other mentions, and whose values are gone: a long session does not keep what was only asked once.
    pub(crate) fn forget(&mut self, name: Name) {
        self.interp.forget(name);
        if let Some(native) = &mut self.native {
            native.program.defs.shift_remove(&name);
        }
    }

    /// How many definitions are kept, and pieces of code made of them.
    #[cfg(test)]
    pub(crate) fn kept(&self) -> usize {
        self.interp.kept() + self.native.as_ref().map_or(0, |native| native.program.defs.len())
    }

    /// Applies the definition `name` to `args`; gives the result and the floating-point operations it took.
    pub(crate) fn call(
        &mut self,
        name: Name,
        type_args: &[TypeArg],
        args: Vec<Value>,
    ) -> Result<(Value, u64), Diagnostic> {
        self.said = None;
        if let Some(source) = &self.native {
            let watching = source.watch.start();
            let limits = native::limits(source.memory, &source.watch.stop, source.threads);
            let interp = &mut self.interp;
            let entry = (name, type_args);
            let value =
                native::call(&source.target, &source.program, entry, &args, &source.library, limits, interp);
            let error = match value.map_err(|error| watching.explain(error)) {
                Ok(value) => {
                    self.used = self.wanted;
                    return Ok((value, 0));
                }
                Err(error) => error,
            };
            // Nothing was changed so far.
            let ahead =
                "because a constant of it fails, which the interpreter computes only where it is needed";
            let why = native::for_interpreter(&error);
            // It computes all rows before it looks at their sizes, so that another failure may come first.
            let uneven = "because arrays of different sizes stand in an array, which it alone can tell from other failures";
            let why = why.or_else(|| native::is_uneven(&error).then(|| uneven.to_string()));
            let Some(why) = why.or_else(|| source.fails_ahead(&error, name).then(|| ahead.to_string()))
            else {
                self.used = self.wanted;
                return Err(self.traced(error, entry, args));
            };
            self.said = Some(errors::interpreted(self.wanted.name(), &why));
        }
        self.used = Engine::Interp;
        let before = self.interp.flops();
        let value = self.interp.eval_global(name, type_args, args)?;
        Ok((value, self.interp.flops() - before))
    }

    /// The same in the interpreter, whatever the engine: it alone counts operations.
    pub(crate) fn counted(
        &mut self,
        name: Name,
        type_args: &[TypeArg],
        args: Vec<Value>,
    ) -> Result<(Value, u64), Diagnostic> {
        let native = self.native.take();
        let result = self.call(name, type_args, args);
        self.native = native;
        result
    }

    /// A failure of machine code with the calls that led to it, which only the interpreter knows: it runs the program again, if
    /// that does not take long. In a library the failure is at the user's own call.
    fn traced(
        &mut self,
        error: Diagnostic,
        (name, type_args): (Name, &[TypeArg]),
        args: Vec<Value>,
    ) -> Diagnostic {
        let Some(time) = self.retrace else { return error };
        let Limits { max_memory, timeout, begun, interrupt, .. } = self.limits.clone();
        let spent = begun.map_or(Duration::ZERO, |begun| begun.elapsed());
        self.interp.set_limits(Limits {
            max_memory: max_memory.min(RETRACE_MEMORY),
            timeout: Some(timeout.map_or(time, |timeout| timeout.saturating_sub(spent).min(time))),
            interrupt,
            ..Limits::default()
        });
        let again = self.interp.eval_global(name, type_args, args);
        self.interp.set_limits(self.limits.clone());
        again
            .err()
            .filter(|again| (again.code, &again.message) == (error.code, &error.message))
            .unwrap_or(error)
    }
}

pub(crate) fn limits(options: &Options) -> Limits {
    let default = Limits::default();
    let steps = options.steps.clone();
    Limits {
        max_steps: options.max_steps,
        max_memory: options.max_memory.unwrap_or(default.max_memory),
        timeout: options.timeout,
        begun: options.begun,
        interrupt: Some(options.interrupt.clone()),
        progress: Some(Rc::new(move |done| steps.store(done, Ordering::Relaxed))),
    }
}
