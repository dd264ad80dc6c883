//! Calling a program again and again: its arguments stay in its memory, and so do its results until they are read. What a
//! call needs is found and made once, so that a call is little more than that of a function.

use super::Compiled;
use crate::loops::{Kind, Passing};
use crate::lower::kind;
use crate::values::{Mover, retain, signature};
use wengert_base::Span;
use wengert_fault::Fault;
use wengert_ir::eval::{Failure as Stopped, Value};
use wengert_ir::program::FuncId;

/// Arguments in the memory of a program, and the results of the last call.
#[derive(Debug)]
pub struct Loaded {
    func: FuncId,
    /// When they were: a call that fails gives up all memory, and they are not there any more.
    age: u64,
    /// Where the machine has it.
    entry: usize,
    words: Vec<u64>,
    results: Vec<u64>,
    /// References that calls borrow.
    borrowed: Vec<(u64, Kind)>,
    /// References that each call takes over, so that it is given one of its own.
    taken: Vec<(u64, Kind)>,
}

impl Compiled {
    /// Puts arguments of an entry into memory.
    pub fn load(&mut self, func: FuncId, args: &[Value]) -> Result<Loaded, Stopped> {
        let (params, _) = signature(&self.program, func);
        let passing = self.loops.funcs.get(func).map(|func| func.passing.clone()).unwrap_or_default();
        let results = self.loops.funcs.get(func).map_or(0, |func| func.results.len());
        let mut loaded = Loaded {
            func,
            age: self.age,
            entry: self.machine.entry(func).unwrap_or(usize::MAX),
            words: Vec::new(),
            results: vec![0; results],
            borrowed: Vec::new(),
            taken: Vec::new(),
        };
        let mut mover = Mover { heap: self.machine.memory(), data: &self.program.data };
        for ((arg, ty), passing) in args.iter().zip(params).zip(passing) {
            let first = loaded.words.len();
            match mover.argument(arg, ty, passing, &mut loaded.words) {
                Ok(Some(reference)) => loaded.borrowed.push(reference),
                Ok(None) if kind(ty) != Kind::Plain && passing == Passing::Owned => {
                    loaded.taken.extend(loaded.words.get(first).map(|word| (*word, kind(ty))));
                }
                Ok(None) => {}
                Err(misfit) => return Err(self.misfit(&misfit)),
            }
        }
        Ok(loaded)
    }

    /// Calls the entry that the arguments were loaded for. Its results are to be read or forgotten before the next call. After a call
    /// has failed all arguments must be loaded anew.
    pub fn call_loaded(&mut self, args: &mut Loaded) -> Result<(), Stopped> {
        if args.age != self.age {
            return Err(Stopped {
                fault: Fault::internal("arguments are not loaded any more"),
                span: Span::NOWHERE,
            });
        }
        for (reference, _) in &args.taken {
            retain(*reference);
        }
        let Loaded { entry, words, results, .. } = args;
        self.machine.run(*entry, words, results).map_err(|raised| self.failure(&raised))
    }

    /// The results of the last call, which leave the memory.
    pub fn read(&mut self, args: &mut Loaded) -> Vec<Value> {
        if args.age != self.age {
            return Vec::new();
        }
        let (_, results) = signature(&self.program, args.func);
        let mut mover = Mover { heap: self.machine.memory(), data: &self.program.data };
        args.results.iter().zip(results).map(|(bits, ty)| mover.result(*bits, ty)).collect()
    }

    /// Frees the results of the last call, which nobody wants to read.
    pub fn forget(&mut self, args: &mut Loaded) {
        let Some(func) = self.program.funcs.get(args.func).filter(|_| args.age == self.age) else { return };
        let mut mover = Mover { heap: self.machine.memory(), data: &self.program.data };
        for (bits, ty) in args.results.iter().zip(&func.results) {
            let kind = kind(*ty);
            if kind != Kind::Plain {
                mover.release(*bits, kind);
            }
        }
    }

    /// Frees arguments.
    pub fn unload(&mut self, args: Loaded) {
        if args.age != self.age {
            return;
        }
        let mut mover = Mover { heap: self.machine.memory(), data: &self.program.data };
        let references = args.borrowed.into_iter().chain(args.taken);
        references.for_each(|(reference, kind)| mover.release(reference, kind));
    }
}
