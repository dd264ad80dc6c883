//! A program in machine code, ready to be called.

#![expect(unsafe_code, reason = "machine code is called")]

mod loaded;

pub use loaded::{Given, Loaded};

use crate::faults::fault;
use crate::jit::Code;
use crate::loops::{Failure, Program as Loops};
use crate::lower::lower;
use crate::runtime::context::{Context, MEMORY, Raised, STOPPED};
use crate::values::{Misfit, Mover, signature};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use wengert_base::Span;
use wengert_fault::Fault;
use wengert_ir::Program;
use wengert_ir::eval::{Failure as Stopped, Value};
use wengert_ir::program::FuncId;

/// A program in machine code. Its entries can be called as often as one likes.
pub struct Compiled {
    program: Program,
    loops: Loops,
    context: Box<Context>,
    code: Code,
    limit: u64,
}

impl Compiled {
    /// Compiles a verified program whose derivatives are made. It may use so many bytes of memory, and stops soon after
    /// `stopped` is not 0.
    pub fn new(program: Program, limit: u64, stopped: Arc<AtomicU64>) -> Result<Compiled, String> {
        let loops = lower(&program);
        let entries: Vec<FuncId> = program.entries.values().copied().collect();
        let code = Code::compile(&loops, &entries)?;
        let context = Context::new(&loops, code.kinds.clone(), limit, stopped)
            .ok_or("there is no address space for a stack")?;
        Ok(Compiled { program, loops, context, code, limit })
    }

    /// The program that was compiled.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Calls an entry with a value for each parameter.
    pub fn call(&mut self, func: FuncId, args: &[Value]) -> Result<Vec<Value>, Stopped> {
        let (params, results) = signature(&self.program, func);
        let passing = self.loops.funcs.get(func).map(|func| func.passing.clone()).unwrap_or_default();
        let mut mover = Mover { heap: self.context.heap(), data: &self.program.data };
        let (mut words, mut borrowed) = (Vec::new(), Vec::new());
        for ((arg, ty), passing) in args.iter().zip(params).zip(passing) {
            match mover.argument(arg, ty, passing, &mut words) {
                Ok(kept) => borrowed.extend(kept),
                Err(Misfit::Memory) => {
                    return Err(self.stopped(Fault::Memory { limit: self.limit, wanted: None }));
                }
                Err(Misfit::Type) => return Err(self.stopped(Fault::internal("an argument of another type"))),
            }
        }
        let given = self.run(func, &words).map_err(|raised| self.failure(&raised))?;
        let mut mover = Mover { heap: self.context.heap(), data: &self.program.data };
        borrowed.into_iter().for_each(|(reference, kind)| mover.release(reference, kind));
        Ok(given.into_iter().zip(results).map(|(bits, ty)| mover.result(bits, ty)).collect())
    }

    fn run(&mut self, func: FuncId, args: &[u64]) -> Result<Vec<u64>, Raised> {
        let made = self.loops.funcs.get(func);
        let entry = self.code.entry(func).zip(made).filter(|(_, made)| made.params.len() == args.len());
        let Some((entry, made)) = entry else {
            return Err(Raised { site: u32::MAX, numbers: Vec::new(), text: None });
        };
        let mut results = vec![0; made.results.len()];
        // SAFETY: the entry was compiled for this program, and takes and gives as many words as the function says.
        unsafe { self.context.run(entry, args, &mut results) }?;
        Ok(results)
    }

    fn stopped(&self, fault: Fault) -> Stopped {
        Stopped { fault, span: Span::NOWHERE }
    }

    fn failure(&self, raised: &Raised) -> Stopped {
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
