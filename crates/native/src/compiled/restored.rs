//! A compiled program as bytes, and back.
//!
//! Beside the machine code there is what a call needs to know: types and passing of what goes in and comes out, the places where
//! it can fail, texts, and the fields of data. The programs of the IR and of loops that are restored have no bodies.

use super::{Compiled, Jit, Math};
use crate::jit::Kept;
use crate::loops::{Func as LoopFunc, Kind, Local, Passing, Program as Loops, Site, Word};
use crate::runtime::context::Context;
use crate::saved::Saved;
use crate::values::signature;
use crate::{saved_enum, saved_struct};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use wengert_base::{Name, Span};
use wengert_ir::op::{Block, Var};
use wengert_ir::program::{Func, FuncId, Program, VarInfo};
use wengert_ir::ty::{Data, DataId, Id, Table, Ty};

/// What is written.
struct Whole {
    math: Math,
    kept: Kept,
    data: Table<DataId, Data>,
    texts: Vec<Arc<str>>,
    sites: Vec<Site>,
    kinds: Vec<Vec<Vec<Kind>>>,
    entries: Vec<Callable>,
}

/// A function that can be called.
struct Callable {
    name: Name,
    func: FuncId,
    params: Vec<Ty>,
    results: Vec<Ty>,
    passing: Vec<Passing>,
    /// Words of parameters and results.
    words: (usize, usize),
}

saved_enum!(Math { 0 = Strict, 1 = Fast });
saved_struct!(Whole { math, kept, data, texts, sites, kinds, entries });
saved_struct!(Callable { name, func, params, results, passing, words });

impl Compiled {
    /// The program as bytes, for another process of this same compiler on a machine of this kind; nothing if it cannot be.
    pub fn save(&self) -> Option<Vec<u8>> {
        let (math, kept) = self.kept.clone()?;
        let mut entries = Vec::new();
        for (name, func) in &self.program.entries {
            let (params, results) = signature(&self.program, *func);
            let made = self.loops.funcs.get(*func)?;
            let words = (made.params.len(), made.results.len());
            let (name, func, passing) = (*name, *func, made.passing.clone());
            entries.push(Callable { name, func, params, results, passing, words });
        }
        let (data, loops) = (self.program.data.clone(), &self.loops);
        let (texts, sites, kinds) = (loops.texts.clone(), loops.sites.clone(), loops.data.clone());
        let mut bytes = Vec::new();
        Whole { math, kept, data, texts, sites, kinds, entries }.put(&mut bytes);
        Some(bytes)
    }

    /// The program that was saved; nothing if these bytes are none. They must come from this same compiler: they are run.
    pub fn restore(bytes: &mut &[u8], limit: u64, stopped: Arc<AtomicU64>) -> Option<Compiled> {
        let Whole { math, kept, data, texts, sites, kinds, entries } = Whole::take(bytes)?;
        let mut program = Program { data, ..Program::default() };
        let mut loops = Loops { texts, sites, data: kinds, ..Loops::default() };
        let count = entries.iter().map(|entry| entry.func.index() + 1).max()?;
        if count > kept.functions() {
            return None;
        }
        for _ in 0..count {
            program.funcs.push(without_body(&[], &[]));
            loops.funcs.push(without_code(&[], (0, 0)));
        }
        for Callable { name, func, params, results, passing, words } in entries {
            *program.funcs.at_mut(func) = without_body(&params, &results);
            *loops.funcs.at_mut(func) = without_code(&passing, words);
            program.entries.insert(name, func);
        }
        let code = kept.code(math).ok()?;
        let context = Context::new(&loops, code.kinds.clone(), limit, stopped)?;
        let machine = Box::new(Jit { context, code });
        Some(Compiled { program, loops, machine, limit, age: 0, kept: None })
    }
}

/// A function of these types.
fn without_body(params: &[Ty], results: &[Ty]) -> Func {
    let mut vars = Table::default();
    let name = Name::new("restored");
    let params: Vec<Var> = params.iter().map(|ty| vars.push(VarInfo { name, ty: *ty })).collect();
    let body = Block { params, stmts: Vec::new(), results: Vec::new() };
    Func { name, results: results.to_vec(), vars, body, span: Span::NOWHERE }
}

/// A function that takes and gives so many words.
fn without_code(passing: &[Passing], (params, results): (usize, usize)) -> LoopFunc {
    let mut locals = Table::default();
    let mut words = |count: usize| (0..count).map(|_| locals.push(Word::Int)).collect::<Vec<Local>>();
    let (params, results) = (words(params), words(results));
    LoopFunc {
        name: Name::new("restored"),
        params,
        results,
        locals,
        body: Vec::new(),
        recursive: None,
        pauses: false,
        passing: passing.to_vec(),
        borrowed: Vec::new(),
        span: Span::NOWHERE,
        origins: FxHashMap::default(),
        part: None,
        shared: false,
    }
}
