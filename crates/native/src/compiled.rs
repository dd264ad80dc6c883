//! A program in machine code, ready to be called.

#![expect(unsafe_code, reason = "machine code is called")]

mod loaded;
mod restored;

pub use loaded::Loaded;

use crate::dead;
use crate::edges;
use crate::faults::fault;
use crate::jit::{Code, Kept, Outside};
use crate::levels;
use crate::library::{Library, Made};
use crate::loops::{Failure, Program as Loops};
use crate::lower::{lower, lower_marked};
use crate::memory;
use crate::parallel;
use crate::runtime::context::{Context, MEMORY, Raised, STOPPED};
use crate::values::{Memory, Misfit, Mover, signature};
use crate::{before, blocks, cells};
use crate::{neighbors, outline, powers, sized, strands, strides};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64};
use wengert_base::Span;
use wengert_fault::Fault;
use wengert_ir::Program;
use wengert_ir::eval::{Failure as Stopped, Value};
use wengert_ir::program::FuncId;

/// A program in machine code. Its entries can be called as often as one likes.
pub struct Compiled {
    program: Program,
    loops: Loops,
    machine: Box<dyn Machine>,
    limit: u64,
    /// How often the memory was given up; what is in it belongs to one such age.
    age: u64,
    /// The machine code, to be kept for another process.
    kept: Option<(Math, Kept)>,
}

/// How functions of reals are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Math {
    /// To the last bit as the interpreter does.
    Strict,
    /// Elementary functions by vector math, which is within one unit in the last place of the exact value too, but may
    /// differ from the interpreter in that place.
    Fast,
}

/// How a program is compiled.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// How functions of reals are computed.
    pub math: Math,
    /// The program keeps storing there which of the spans it is at, counted from 1.
    pub mark: Option<&'static AtomicI64>,
    /// Short loops are divided between threads too: for tests.
    pub short_loops: bool,
    /// Loops run in the widest vectors that the processor has, of at most so many numbers.
    pub lanes: usize,
}

/// No vectors have more numbers.
pub const LANES: usize = 8;

/// Code that can be called, and its memory.
pub(crate) trait Machine {
    /// The memory.
    fn memory(&mut self) -> &mut dyn Memory;
    /// Words of objects in use.
    fn words_in_use(&mut self) -> usize;
    /// The most words that the memory had.
    fn peak_words(&mut self) -> usize;
    /// Gives up all memory: what was in use when a call failed, nobody knows.
    fn renew(&mut self);
    /// How many threads make loops.
    fn set_threads(&mut self, threads: usize);
    /// The number of an entry.
    fn entry(&self, func: FuncId) -> Option<usize>;
    /// Calls an entry by its number; it takes and gives as many words as there are.
    fn run(&mut self, entry: usize, args: &[u64], results: &mut [u64]) -> Result<(), Raised>;
}

/// Code in this process.
struct Jit {
    context: Box<Context>,
    code: Code,
}

impl Machine for Jit {
    fn memory(&mut self) -> &mut dyn Memory {
        self.context.heap()
    }
    fn words_in_use(&mut self) -> usize {
        self.context.heap().words_in_use()
    }
    fn peak_words(&mut self) -> usize {
        self.context.heap().peak_words()
    }
    fn renew(&mut self) {
        if let Some(context) = self.context.renewed() {
            self.context = context;
        }
    }
    fn set_threads(&mut self, threads: usize) {
        self.context.set_threads(threads);
    }
    fn entry(&self, func: FuncId) -> Option<usize> {
        self.code.entries.iter().position(|outside| outside.func == func)
    }
    fn run(&mut self, entry: usize, args: &[u64], results: &mut [u64]) -> Result<(), Raised> {
        let Some(Outside { entry, direct, .. }) = self.code.entries.get(entry).copied() else {
            return Err(nowhere());
        };
        if direct {
            // SAFETY: as below, and it always returns and needs no stack of its own.
            unsafe { self.context.run_direct(entry, args, results) };
            return Ok(());
        }
        // SAFETY: the entry was compiled for this program, and takes and gives as many words as there are.
        unsafe { self.context.run(entry, args, results) }
    }
}

/// What cannot happen.
pub(crate) fn nowhere() -> Raised {
    Raised { site: u32::MAX, numbers: Vec::new(), text: None }
}

impl Compiled {
    /// Compiles a verified program whose derivatives are made. It may use so many bytes of memory, and stops soon after
    /// `stopped` is not 0.
    pub fn new(program: Program, limit: u64, stopped: Arc<AtomicU64>) -> Result<Compiled, String> {
        Compiled::with_math(program, Math::Strict, limit, stopped)
    }

    /// The same with a choice of how functions of reals are computed.
    pub fn with_math(
        program: Program,
        math: Math,
        limit: u64,
        stopped: Arc<AtomicU64>,
    ) -> Result<Compiled, String> {
        let manner = Manner { math, mark: None, short_loops: false, lanes: LANES };
        Compiled::made(program, manner, limit, stopped).map(|(compiled, _)| compiled)
    }

    /// The same in any manner, with the spans that are marked.
    pub fn made(
        program: Program,
        manner: Manner,
        limit: u64,
        stopped: Arc<AtomicU64>,
    ) -> Result<(Compiled, Vec<Span>), String> {
        let Manner { math, mark, short_loops, lanes } = manner;
        let address = mark.map(|mark| (mark.as_ptr() as usize).cast_signed() as i64);
        let (mut loops, spans) = lower_marked(&program, address);
        sized::use_numbers(&mut loops);
        dead::clean(&mut loops);
        before::places(&mut loops);
        if math == Math::Fast {
            cells::gather(&mut loops);
        }
        if mark.is_none() {
            parallel::divide(&mut loops, math == Math::Strict, short_loops);
        }
        if math == Math::Fast {
            // Where exponents move there are kernels, which take less code.
            powers::split(&mut loops, true);
        }
        memory::mark(&mut loops);
        edges::split(&mut loops, true);
        if math == Math::Fast && strands::split(&mut loops) {
            memory::mark(&mut loops);
        }
        strides::free(&mut loops);
        neighbors::split(&mut loops, math == Math::Strict);
        if math == Math::Fast {
            blocks::split(&mut loops);
        }
        levels::unroll(&mut loops);
        outline::outline(&mut loops);
        let entries: Vec<FuncId> = program.entries.values().copied().collect();
        let mut code = Code::compile(&loops, &entries, math, lanes)?;
        let kept = code.kept.take().filter(|_| mark.is_none()).map(|kept| (math, kept));
        let context = Context::new(&loops, code.kinds.clone(), limit, stopped)
            .ok_or("there is no address space for a stack")?;
        let machine = Box::new(Jit { context, code });
        Ok((Compiled { program, loops, machine, limit, age: 0, kept }, spans))
    }

    /// Opens a library that another compiler has made of a program.
    pub fn open(path: &str, made: Made, limit: u64, stopped: Arc<AtomicU64>) -> Result<Compiled, String> {
        let machine = Box::new(Library::open(path, made.entries, made.kinds, limit, stopped)?);
        Ok(Compiled { program: made.program, loops: made.loops, machine, limit, age: 0, kept: None })
    }

    /// How many threads make loops from now on. Results do not depend on it.
    pub fn set_threads(&mut self, threads: usize) {
        self.machine.set_threads(threads);
    }

    /// Words of objects that are in use.
    pub fn words_in_use(&mut self) -> usize {
        self.machine.words_in_use()
    }

    /// The most bytes that the memory had.
    pub fn peak_bytes(&mut self) -> u64 {
        8 * self.machine.peak_words() as u64
    }

    /// The program that was compiled.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Calls an entry with a value for each parameter.
    pub fn call(&mut self, func: FuncId, args: &[Value]) -> Result<Vec<Value>, Stopped> {
        let (params, results) = signature(&self.program, func);
        let passing = self.loops.funcs.get(func).map(|func| func.passing.clone()).unwrap_or_default();
        let mut mover = Mover { heap: self.machine.memory(), data: &self.program.data };
        let (mut words, mut borrowed) = (Vec::new(), Vec::new());
        for ((arg, ty), passing) in args.iter().zip(params).zip(passing) {
            match mover.argument(arg, ty, passing, &mut words) {
                Ok(kept) => borrowed.extend(kept),
                Err(misfit) => return Err(self.misfit(&misfit)),
            }
        }
        let given = self.run(func, &words).map_err(|raised| self.failure(&raised))?;
        let mut mover = Mover { heap: self.machine.memory(), data: &self.program.data };
        borrowed.into_iter().for_each(|(reference, kind)| mover.release(reference, kind));
        Ok(given.into_iter().zip(results).map(|(bits, ty)| mover.result(bits, ty)).collect())
    }

    fn run(&mut self, func: FuncId, args: &[u64]) -> Result<Vec<u64>, Raised> {
        let made = self.loops.funcs.get(func).filter(|made| made.params.len() == args.len());
        let mut results = vec![0; made.ok_or_else(nowhere)?.results.len()];
        let entry = self.machine.entry(func).ok_or_else(nowhere)?;
        self.machine.run(entry, args, &mut results)?;
        Ok(results)
    }

    /// An argument does not fit. Some of it may be in memory, which is given up.
    fn misfit(&mut self, misfit: &Misfit) -> Stopped {
        self.renew();
        let fault = match misfit {
            Misfit::Memory => Fault::Memory { limit: self.limit },
            Misfit::Type => Fault::internal("an argument of another type"),
        };
        Stopped { fault, span: Span::NOWHERE }
    }

    fn renew(&mut self) {
        self.machine.renew();
        self.age += 1;
    }

    /// A call has failed, and left memory behind.
    fn failure(&mut self, raised: &Raised) -> Stopped {
        self.renew();
        let known = self.loops.sites.get(raised.site as usize).map(|site| (site.failure, site.span));
        let (failure, span) = known.unwrap_or_else(|| {
            let failure = match raised.site {
                MEMORY => Failure::Memory,
                STOPPED => Failure::Interrupted,
                _ => Failure::Internal,
            };
            (failure, Span::NOWHERE)
        });
        Stopped { fault: fault(&self.program, failure, raised, self.limit), span }
    }
}

/// What the code generator is given for a program, as text.
pub fn clif(program: &Program) -> Result<String, String> {
    Code::text(&lower(program))
}

#[cfg(test)]
mod tests;
