//! A program in machine code, ready to be called.

#![expect(unsafe_code, reason = "machine code is called")]

use crate::jit::Code;
use crate::loops::{Failure, Program as Loops};
use crate::lower::lower;
use crate::runtime::context::{Context, MEMORY, Raised, STOPPED};
use indexmap::IndexMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use wengert_base::{Name, Span};
use wengert_ir::Program;
use wengert_ir::program::FuncId;

/// A program in machine code.
pub struct Compiled {
    entries: IndexMap<Name, FuncId>,
    loops: Loops,
    context: Box<Context>,
    code: Code,
}

impl Compiled {
    /// Compiles a program whose derivatives are made. It may use so many bytes of memory, and stops when `stopped` is not 0.
    pub fn new(program: &Program, limit: u64, stopped: Arc<AtomicU64>) -> Result<Compiled, String> {
        let loops = lower(program);
        let entries: Vec<FuncId> = program.entries.values().copied().collect();
        let code = Code::compile(&loops, &entries)?;
        let context = Context::new(&loops, code.kinds.clone(), limit, stopped)
            .ok_or("there is no address space for a stack")?;
        Ok(Compiled { entries: program.entries.clone(), loops, context, code })
    }

    /// The functions that can be called.
    pub fn entries(&self) -> &IndexMap<Name, FuncId> {
        &self.entries
    }

    /// Calls an entry with words, as [`crate::loops`] says what is in them; gives words.
    pub fn call_words(&mut self, func: FuncId, args: &[u64]) -> Result<Vec<u64>, Failed> {
        self.run(func, args).map_err(|raised| self.failed(raised))
    }

    fn run(&mut self, func: FuncId, args: &[u64]) -> Result<Vec<u64>, Raised> {
        let made = self.loops.funcs.at(func);
        let entry = self.code.entry(func).filter(|_| made.params.len() == args.len());
        let Some(entry) = entry else {
            return Err(Raised { site: u32::MAX, numbers: Vec::new(), text: None });
        };
        let mut results = vec![0; made.results.len()];
        // SAFETY: the entry was compiled for this program, and takes and gives as many words as the function says.
        unsafe { self.context.run(entry, args, &mut results) }?;
        Ok(results)
    }

    fn failed(&self, raised: Raised) -> Failed {
        let Raised { site, numbers, text } = raised;
        let known = self.loops.sites.get(site as usize).map(|site| (site.failure, site.span));
        let (failure, span) = known.unwrap_or_else(|| {
            let failure = match site {
                MEMORY => Failure::Memory,
                STOPPED => Failure::Interrupted,
                _ => Failure::Internal,
            };
            (failure, Span::NOWHERE)
        });
        Failed { failure, span, numbers, text }
    }
}

/// How a call failed.
#[derive(Clone, Debug, PartialEq)]
pub struct Failed {
    /// In which way.
    pub failure: Failure,
    /// The source's expression.
    pub span: Span,
    /// The numbers that belong to it, reals as their bits.
    pub numbers: Vec<u64>,
    /// The program's own message, if it failed itself.
    pub text: Option<String>,
}

#[cfg(test)]
mod tests;
