//! A program that is ready to be called: machine code, or the IR with its evaluator.

use crate::{Limits, Unit};
use wengert_ir::Program;
use wengert_ir::eval::{Evaluator, Failure, Limits as EvaluatorLimits, Value};
use wengert_lower::Entry;
use wengert_native::Compiled;

/// A program that can be called.
pub struct Native {
    code: Code,
    entry: Entry,
}

enum Code {
    Machine(Compiled),
    Ir(Program, EvaluatorLimits),
}

/// Arguments in the memory of a program, and the results of the last call.
#[derive(Debug)]
pub struct Loaded(Held);

#[derive(Debug)]
enum Held {
    Machine(wengert_native::Loaded),
    Values { args: Vec<Value>, results: Vec<Value> },
}

impl Native {
    /// Code of which so many threads make long loops, wherever it comes from.
    pub(crate) fn compiled(mut compiled: Compiled, entry: Entry, threads: usize) -> Native {
        compiled.set_threads(threads);
        Native { code: Code::Machine(compiled), entry }
    }

    pub(crate) fn reference(unit: Unit, limits: Limits) -> Native {
        let Unit { program, entry, .. } = unit;
        let Limits { memory, stop, threads: _ } = limits;
        let limits =
            EvaluatorLimits { max_memory: memory, interrupt: Some(stop), ..EvaluatorLimits::default() };
        Native { code: Code::Ir(program, limits), entry }
    }

    /// The most bytes that its memory had, if that is known.
    pub fn peak_bytes(&mut self) -> Option<u64> {
        match &mut self.code {
            Code::Machine(compiled) => Some(compiled.peak_bytes()),
            Code::Ir(..) => None,
        }
    }

    pub(crate) fn machine_code(&self) -> Option<Vec<u8>> {
        match &self.code {
            Code::Machine(compiled) => compiled.save(),
            Code::Ir(..) => None,
        }
    }

    /// How to call it.
    pub fn entry(&self) -> &Entry {
        &self.entry
    }

    /// Calls the entry.
    pub fn call(&mut self, args: &[Value]) -> Result<Vec<Value>, Failure> {
        let func = self.entry.func;
        match &mut self.code {
            Code::Machine(compiled) => compiled.call(func, args),
            Code::Ir(program, limits) => Evaluator::new(program, limits.clone()).call(func, args.to_vec()),
        }
    }

    /// Puts arguments into the program's memory, for any number of calls.
    pub fn load(&mut self, args: &[Value]) -> Result<Loaded, Failure> {
        let func = self.entry.func;
        Ok(Loaded(match &mut self.code {
            Code::Machine(compiled) => Held::Machine(compiled.load(func, args)?),
            Code::Ir(..) => Held::Values { args: args.to_vec(), results: Vec::new() },
        }))
    }

    /// Calls the entry with loaded arguments; the results stay in the program's memory.
    pub fn call_loaded(&mut self, loaded: &mut Loaded) -> Result<(), Failure> {
        match (&mut self.code, &mut loaded.0) {
            (Code::Machine(compiled), Held::Machine(args)) => compiled.call_loaded(args),
            (_, Held::Values { args, results }) => {
                *results = self.call(args)?;
                Ok(())
            }
            // Arguments of another program are none.
            (Code::Ir(..), Held::Machine(_)) => Ok(()),
        }
    }

    /// Takes the results of the last call out of the program's memory.
    pub fn read(&mut self, loaded: &mut Loaded) -> Vec<Value> {
        match (&mut self.code, &mut loaded.0) {
            (Code::Machine(compiled), Held::Machine(args)) => compiled.read(args),
            (_, Held::Values { results, .. }) => std::mem::take(results),
            (Code::Ir(..), Held::Machine(_)) => Vec::new(),
        }
    }

    /// Frees the results of the last call, which nobody wants to read.
    pub fn forget(&mut self, loaded: &mut Loaded) {
        match (&mut self.code, &mut loaded.0) {
            (Code::Machine(compiled), Held::Machine(args)) => compiled.forget(args),
            (_, Held::Values { results, .. }) => results.clear(),
            (Code::Ir(..), Held::Machine(_)) => {}
        }
    }

    /// Frees arguments.
    pub fn unload(&mut self, loaded: Loaded) {
        if let (Code::Machine(compiled), Held::Machine(args)) = (&mut self.code, loaded.0) {
            compiled.unload(args);
        }
    }
}
