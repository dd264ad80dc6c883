//! The reference interpreter: runs core programs, derivatives included, on an explicit stack.
//!
//! [`Interp`] is the way in. [`value`] says what values are, [`show`] how they are printed, [`inspect`] how to make and
//! take them apart, [`step`] what built-in functions and limits are.
//!
//! ```
//! use wengert_interp::{Interp, Limits};
//! let mut interp = Interp::new(&wengert_core::Program::default(), Limits::default());
//! assert!(interp.eval_global("main.main".into(), &[], Vec::new()).is_err());
//! ```

pub mod errors;
pub mod inspect;
pub mod show;
pub mod step;
pub mod value;

mod arith;
mod builtins;
mod compile;
mod derivative;
mod machine;
mod note;
mod perturb;
mod series;
mod sweep;
mod tape;
mod vector;
mod walk;

pub use inspect::View;
pub use step::Limits;
pub use value::Value;

use compile::library::{Library, NumScope};
use machine::Machine;
use rustc_hash::FxHashSet;
use std::rc::Rc;
use step::{Context, Failure};
use value::CtorInfo;
use wengert_base::{Diagnostic, Name, SourceId, Span};
use wengert_core::{Program, TypeArg};

/// A program ready to run. Definitions are compiled when they are first used, and the values of definitions that are
/// no functions are computed once.
pub struct Interp {
    library: Library,
    cx: Context,
    library_sources: FxHashSet<SourceId>,
}

impl Interp {
    /// The interpreter for a program.
    pub fn new(program: &Program, limits: Limits) -> Interp {
        let mut library = Library::default();
        library.add(program);
        Interp { library, cx: Context::with_limits(limits), library_sources: FxHashSet::default() }
    }

    /// Adds definitions and types, or replaces those of the same name. Values computed so far keep their meaning.
    pub fn add_program(&mut self, program: &Program) {
        self.library.add(program);
    }

    /// Takes a definition away that no other mentions, and whose values are gone.
    pub fn forget(&mut self, name: Name) {
        self.library.forget(name);
    }

    /// How many definitions, and pieces of code made of them, it keeps.
    pub fn kept(&self) -> usize {
        self.library.kept()
    }

    /// Other limits, from the next evaluation on.
    pub fn set_limits(&mut self, limits: Limits) {
        self.cx.set_limits(limits);
    }

    /// Sources that are not the user's own: a failure inside them is reported at the user's call.
    pub fn set_library_sources(&mut self, sources: impl IntoIterator<Item = SourceId>) {
        self.library_sources = sources.into_iter().collect();
    }

    /// The value of a definition (by qualified name) at an instantiation of its scheme, applied to arguments.
    pub fn eval_global(
        &mut self,
        name: Name,
        types: &[TypeArg],
        args: Vec<Value>,
    ) -> Result<Value, Diagnostic> {
        let Some((id, _)) = self.library.instance(name, types, &NumScope::default()) else {
            let failure = errors::internal(&format!("there is no definition `{name}`"));
            return Err(Diagnostic::error(failure.0.code, Span::NOWHERE, failure.0.message));
        };
        self.run(|machine| {
            let value = machine.global(id)?;
            machine.apply(value, args.into_iter().collect())
        })
    }

    /// Applies a function to arguments.
    pub fn apply(&mut self, func: &Value, args: Vec<Value>) -> Result<Value, Diagnostic> {
        self.run(|machine| machine.apply(func.clone(), args.into_iter().collect()))
    }

    /// The constructors of a data type (by qualified name), to make values with.
    pub fn ctors(&self, data: Name) -> Option<&[Rc<CtorInfo>]> {
        self.library.ctors(data)
    }

    /// Floating-point operations so far, an elementary function counted as 4.
    pub fn flops(&self) -> u64 {
        self.cx.flops
    }

    /// Steps so far: instructions, and elements that built-in functions worked on.
    pub fn steps(&self) -> u64 {
        self.cx.steps
    }

    fn run(
        &mut self,
        go: impl FnOnce(&mut Machine<'_>) -> Result<Value, Failure>,
    ) -> Result<Value, Diagnostic> {
        self.cx.start();
        let mut machine = Machine::new(&mut self.library, &mut self.cx, &self.library_sources);
        let result = go(&mut machine).map_err(|failure| machine.diagnose(failure));
        if result.is_err() {
            self.library.forget_running();
        }
        result
    }
}
