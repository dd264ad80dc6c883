//! Calling a program again and again: its arguments stay in its memory, and so do its results until they are read.

use super::Compiled;
use crate::loops::{Kind, Passing};
use crate::lower::kind;
use crate::values::{Misfit, Mover, retain, signature};
use wengert_fault::Fault;
use wengert_ir::eval::{Failure as Stopped, Value};
use wengert_ir::program::FuncId;

/// Arguments in the memory of a program.
#[derive(Debug)]
pub struct Loaded {
    words: Vec<u64>,
    /// References that calls borrow.
    borrowed: Vec<(u64, Kind)>,
    /// References that each call takes over, so that it is given one of its own.
    taken: Vec<(u64, Kind)>,
}

/// Results in the memory of a program.
#[derive(Debug)]
pub struct Given {
    func: FuncId,
    words: Vec<u64>,
}

impl Compiled {
    /// Puts arguments of an entry into memory.
    pub fn load(&mut self, func: FuncId, args: &[Value]) -> Result<Loaded, Stopped> {
        let (params, _) = signature(&self.program, func);
        let passing = self.loops.funcs.get(func).map(|func| func.passing.clone()).unwrap_or_default();
        let mut loaded = Loaded { words: Vec::new(), borrowed: Vec::new(), taken: Vec::new() };
        let mut mover = Mover { heap: self.machine.memory(), data: &self.program.data };
        let mut misfit = None;
        for ((arg, ty), passing) in args.iter().zip(params).zip(passing) {
            let first = loaded.words.len();
            match mover.argument(arg, ty, passing, &mut loaded.words) {
                Ok(Some(reference)) => loaded.borrowed.push(reference),
                Ok(None) if kind(ty) != Kind::Plain && passing == Passing::Owned => {
                    loaded.taken.extend(loaded.words.get(first).map(|word| (*word, kind(ty))));
                }
                Ok(None) => {}
                Err(why) => {
                    misfit = Some(why);
                    break;
                }
            }
        }
        let Some(misfit) = misfit else { return Ok(loaded) };
        self.unload(loaded);
        Err(self.stopped(match misfit {
            Misfit::Memory => Fault::Memory { limit: self.limit, wanted: None },
            Misfit::Type => Fault::internal("an argument of another type"),
        }))
    }

    /// Calls the entry that the arguments were loaded for.
    pub fn call_loaded(&mut self, func: FuncId, args: &Loaded) -> Result<Given, Stopped> {
        for (reference, _) in &args.taken {
            retain(*reference);
        }
        let words = self.run(func, &args.words).map_err(|raised| self.failure(&raised))?;
        Ok(Given { func, words })
    }

    /// The results, which leave the memory.
    pub fn read(&mut self, given: Given) -> Vec<Value> {
        let (_, results) = signature(&self.program, given.func);
        let mut mover = Mover { heap: self.machine.memory(), data: &self.program.data };
        given.words.into_iter().zip(results).map(|(bits, ty)| mover.result(bits, ty)).collect()
    }

    /// Frees results that nobody wants to read.
    pub fn forget(&mut self, given: Given) {
        let (_, results) = signature(&self.program, given.func);
        let mut mover = Mover { heap: self.machine.memory(), data: &self.program.data };
        given.words.into_iter().zip(results).for_each(|(bits, ty)| mover.release(bits, kind(ty)));
    }

    /// Frees arguments.
    pub fn unload(&mut self, args: Loaded) {
        let mut mover = Mover { heap: self.machine.memory(), data: &self.program.data };
        let references = args.borrowed.into_iter().chain(args.taken);
        references.for_each(|(reference, kind)| mover.release(reference, kind));
    }
}
