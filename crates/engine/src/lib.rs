//! The compiler on one page: from a closed, simply typed program to machine code.
//!
//! ```text
//! simple::Program ──lower──► IR with requests for derivatives
//!                 ──optimize──► so that derivatives are made of simple code
//!                 ──differentiate──► IR without requests
//!                 ──optimize──► ──relax (unless strict)──► ──native──► machine code
//! ```
//!
//! What lies between can be printed ([`ir`], [`loops`], [`clif`]), and is verified in builds with debug assertions.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64};
use wengert_base::{Diagnostic, SourceId, Span};
use wengert_c::{Input, Math, Source};
use wengert_ir::{Atom, Op, Program, Ty};
use wengert_mono::simple;
use wengert_native::Compiled;
use wengert_native::library::Made;
use wengert_opt::Supposed;

mod exports;
mod kept;
mod ready;

pub use exports::{CFunction, NO_DATA, NO_TEXTS, Role, c_library};
pub use ready::{Loaded, Native};
pub use wengert_ad::{BEYOND, LEFT, UNSEEN};
pub use wengert_c::{Exported, Line, MOST_THREADS, exported_name};
pub use wengert_ir::stop::{is_asked, stoppable};
pub use wengert_lower::{Entry, Head, Layout, Rows};
pub use wengert_opt::{Options as Passes, PASSES, RELAXED, page as passes};

/// A program in the IR, and how to call it.
#[derive(Clone, Debug)]
pub struct Unit {
    /// The program.
    pub program: Program,
    /// Its one entry. Its function is [`Unit::program`]'s entry of that name.
    pub entry: Entry,
    /// Whether the optimizer has nothing left to do.
    settled: bool,
    /// Whether derivatives were asked for, which are made now.
    asked: bool,
    /// What is left out of what is still to be done.
    passes: Passes,
    /// The program for machines, if it is not the one for people.
    supposed: Option<Supposed>,
}

/// What went wrong in the compiler itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken(pub String);

/// Why there is no program.
#[derive(Clone, Debug)]
pub enum Error {
    /// Something about the user's program.
    Program(Vec<Diagnostic>),
    /// A mistake in the compiler.
    Internal(Broken),
}

/// The program in the IR: if its term is a function, a function of at most `arity` arguments. For ragged rows the program must tell
/// records with one field from that field.
pub fn lower(
    program: &simple::Program,
    notes: &simple::Notes,
    is_library: &dyn Fn(SourceId) -> bool,
    (arity, rows): (usize, Rows),
    passes: &Passes,
) -> Result<Unit, Error> {
    let lowered =
        wengert_lower::lower_with_notes(program, notes, is_library, arity, rows).map_err(Error::Program)?;
    let mut unit = Unit {
        program: lowered.program,
        entry: lowered.entry,
        settled: false,
        asked: false,
        passes: passes.clone(),
        supposed: None,
    };
    verify(&unit.program, "lowering")?;
    let before = passes.before_derivatives();
    optimize(&mut unit, &before, "the optimizer")?;
    if let Some(settled) = wengert_opt::unroll(&mut unit.program, &before) {
        unit.settled = settled;
        optimized(&mut unit, "the optimizer of leaves")?;
    }
    unit.settled &= before == *passes;
    Ok(unit)
}

/// Its derivatives made.
pub fn differentiate(unit: Unit, passes: &Passes) -> Result<Unit, Error> {
    let mut unit = made(unit, passes)?;
    unit.passes = passes.clone();
    unit.supposed = wengert_opt::suppose(&unit.program, passes);
    if let Some(supposed) = &unit.supposed {
        verify(&supposed.program, "the optimizer of supposed shapes")?;
    }
    wengert_opt::finish(&mut unit.program, passes);
    optimized(&mut unit, "the optimizer of short loops")?;
    Ok(unit)
}

fn made(unit: Unit, passes: &Passes) -> Result<Unit, Error> {
    let asked = wengert_ad::asks(&unit.program);
    if unit.settled && !asked {
        return Ok(unit);
    }
    let tagged = if asked && passes.tagged { wengert_ad::tagged(&unit.program) } else { None };
    let mut program = if let Some(tagged) = tagged {
        tagged
    } else if passes.ordered {
        wengert_ad::differentiate_exactly(unit.program)
    } else {
        wengert_ad::differentiate(unit.program)
    };
    // Most of what was made may have been needed on the way only.
    wengert_opt::drop_functions(&mut program);
    let (entry, passes_left) = (unit.entry, passes.clone());
    let mut unit = Unit { program, entry, settled: false, asked, passes: passes_left, supposed: None };
    verify(&unit.program, "making derivatives")?;
    optimize(&mut unit, passes, "the optimizer after derivatives")?;
    Ok(unit)
}

/// Whether a program is so large that making machine code of it takes more time and memory than running it by other means.
pub fn is_huge(unit: &Unit) -> bool {
    let mut weight = 0;
    for (_, func) in unit.program.funcs.iter() {
        func.body.for_each_stmt(&mut |stmt| {
            let is_array = stmt.outs.iter().any(|out| matches!(func.ty(*out), Ty::Array(..)));
            weight += if is_array { ARRAY } else { 1 };
        });
    }
    weight > MOST_STATEMENTS
}

/// Of a program with so many statements machine code takes some ten seconds and about half a gigabyte to make.
const MOST_STATEMENTS: usize = 120_000;
/// What gives an array becomes so many statements at least: memory that is taken or taken over, a loop, and memory that is given back.
const ARRAY: usize = 12;

/// The message of the failure of programs that are [too large](is_huge).
pub const HUGE: &str = "a program that is too large for machine code";

/// The same of programs for which derivatives were made.
pub const MADE_HUGE: &str = "a program that is too large for machine code with its derivatives";

/// The message of the failure of a program that is too large.
pub fn too_large(unit: &Unit) -> &'static str {
    if unit.asked { MADE_HUGE } else { HUGE }
}

/// Whether every run of the program ends where it needs a derivative that cannot be made beforehand.
pub fn always_beyond(unit: &Unit) -> bool {
    let mut seen = vec![unit.entry.func];
    let mut next = 0;
    while let Some(func) = seen.get(next).and_then(|id| unit.program.funcs.get(*id)) {
        next += 1;
        for stmt in &func.body.stmts {
            if let Op::Fail { message: Atom::Text(text) } = &stmt.op
                && LEFT.contains(&&**text)
            {
                return true;
            }
            if let Op::Call { func, .. } = &stmt.op
                && !seen.contains(func)
            {
                seen.push(*func);
            }
        }
    }
    false
}

/// Whether a run of the program may end where it needs a derivative that cannot be made beforehand.
pub fn may_be_beyond(unit: &Unit) -> bool {
    let is_left =
        |op: &Op| matches!(op, Op::Fail { message: Atom::Text(text) } if [BEYOND, UNSEEN].contains(&&**text));
    let (mut seen, mut next) = (vec![unit.entry.func], 0);
    while let Some(func) = seen.get(next).and_then(|id| unit.program.funcs.get(*id)) {
        next += 1;
        let none = func.body.all_stmts(&mut |stmt| {
            if let Op::Call { func, .. } = &stmt.op
                && !seen.contains(func)
            {
                seen.push(*func);
            }
            !is_left(&stmt.op)
        });
        if !none {
            return true;
        }
    }
    false
}

fn optimize(unit: &mut Unit, passes: &Passes, stage: &str) -> Result<(), Error> {
    unit.settled = wengert_opt::optimize(&mut unit.program, passes);
    optimized(unit, stage)
}

fn optimized(unit: &mut Unit, stage: &str) -> Result<(), Error> {
    // The optimizer drops functions and numbers the others anew.
    if let Some(func) = unit.program.entries.values().next() {
        unit.entry.func = *func;
    }
    verify(&unit.program, stage)
}

fn verify(program: &Program, stage: &str) -> Result<(), Error> {
    if !cfg!(debug_assertions) {
        return Ok(());
    }
    wengert_ir::verify(program).map_err(|errors| {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        Error::Internal(Broken(format!(
            "after {stage}: {}\n{}",
            errors.join("; "),
            wengert_ir::print(program)
        )))
    })
}

/// The IR, as text.
pub fn ir(unit: &Unit) -> String {
    let mut program = unit.program.clone();
    wengert_opt::unsaid(&mut program);
    wengert_ir::print_used(&program)
}

/// The text of the IR as machine code is made from it.
pub fn derivative(unit: Unit, strict: bool) -> String {
    ir(&relaxed(unit, Manner { strict, ..Manner::default() }))
}

/// What Cranelift is given, as text.
pub fn clif(unit: Unit, strict: bool) -> Result<String, Error> {
    wengert_native::clif(&shared(unit, Manner { strict, ..Manner::default() }).program)
        .map_err(|error| Error::Internal(Broken(error)))
}

/// Loops over flat memory, as text.
pub fn loops(unit: Unit, strict: bool) -> String {
    let unit = shared(unit, Manner { strict, ..Manner::default() });
    wengert_native::loops::print(&wengert_native::lower::lower(&unit.program))
}

/// What a compiled program may use.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Bytes of memory.
    pub memory: u64,
    /// The program stops soon after this is not 0.
    pub stop: Arc<AtomicU64>,
    /// How many threads make long loops. Results do not depend on it.
    pub threads: usize,
}

/// How machine code is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Manner {
    /// Numbers are to the last bit what they are elsewhere.
    pub strict: bool,
    /// Short loops are divided between threads too: for tests.
    pub short_loops: bool,
}

/// Optimized further, where numbers need not be to the last bit what they are elsewhere.
fn relaxed(mut unit: Unit, manner: Manner) -> Unit {
    if !manner.strict {
        wengert_opt::relax(&mut unit.program, &unit.passes);
        let sound = optimized(&mut unit, "the passes that round otherwise");
        debug_assert!(sound.is_ok(), "{sound:?}");
    }
    unit
}

/// The same, with what is associative made in shares, and rows that would keep arrays from being updated copied.
fn shared(mut unit: Unit, manner: Manner) -> Unit {
    let mut supposed = unit.supposed.take().filter(|_| !manner.strict);
    if let Some(supposed) = &mut supposed {
        std::mem::swap(&mut unit.program, &mut supposed.program);
    }
    let mut unit = relaxed(unit, manner);
    if !manner.strict {
        wengert_opt::share(&mut unit.program, &unit.passes);
        if let Some(mut supposed) = supposed {
            std::mem::swap(&mut unit.program, &mut supposed.program);
            unit.program = supposed.chosen();
        }
        let sound = optimized(&mut unit, "the optimizer of shares");
        debug_assert!(sound.is_ok(), "{sound:?}");
    }
    let last = Passes { ordered: manner.strict, ..unit.passes.clone() };
    wengert_opt::ready(&mut unit.program, &last);
    let sound = optimized(&mut unit, "what copies rows");
    debug_assert!(sound.is_ok(), "{sound:?}");
    unit
}

/// Machine code of a program whose derivatives are made.
pub fn native(unit: Unit, manner: Manner, limits: Limits) -> Result<Native, Error> {
    let Unit { program, entry, .. } = shared(unit, manner);
    let math = if manner.strict { wengert_native::Math::Strict } else { wengert_native::Math::Fast };
    let manner = wengert_native::Manner {
        math,
        mark: None,
        short_loops: manner.short_loops,
        lanes: wengert_native::LANES,
    };
    let (compiled, _) = Compiled::made(program, manner, limits.memory, limits.stop)
        .map_err(|error| Error::Internal(Broken(error)))?;
    Ok(Native::compiled(compiled, entry, limits.threads))
}

/// The program as it is, to be run by the evaluator of the IR: slowly, and to the last bit as the interpreter runs the source.
pub fn reference(unit: Unit, limits: Limits) -> Native {
    Native::reference(unit, limits)
}

/// A program as C text, of which a compiler makes a library.
pub struct CSource {
    text: String,
    made: Made,
    entry: Entry,
}

/// The C text of a program whose derivatives are made. The lines of the source that `line` gives are put in as comments.
pub fn c(unit: Unit, manner: Manner, line: &Line<'_>) -> CSource {
    let Unit { program, entry, .. } = shared(unit, manner);
    let loops = wengert_native::divided(&program, manner.strict, manner.short_loops);
    let func = program.funcs.get(entry.func);
    let types = func.map(|func| func.param_types().into_iter().chain(func.results.iter().copied()));
    let kinds = types.into_iter().flatten().map(wengert_native::lower::kind).collect();
    let input = Input { program: &loops, entries: vec![entry.func], kinds };
    let math = if manner.strict { Math::Host } else { Math::Library };
    let Source { text, kinds } = wengert_c::source(&input, math, line);
    let made = Made { program, loops, entries: vec![entry.func], kinds };
    CSource { text, made, entry }
}

impl CSource {
    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The program in the library at a path, which was made of this text.
    pub fn open(self, path: &str, limits: Limits) -> Result<Native, Error> {
        let compiled = Compiled::open(path, self.made, limits.memory, limits.stop)
            .map_err(|error| Error::Internal(Broken(error)))?;
        Ok(Native::compiled(compiled, self.entry, limits.threads))
    }
}

/// The same, of a program that keeps storing at `mark` which of the spans it is at, counted from 1.
pub fn marked(unit: Unit, limits: Limits, mark: &'static AtomicI64) -> Result<(Native, Vec<Span>), Error> {
    let Unit { program, entry, .. } = unit;
    let manner = wengert_native::Manner {
        math: wengert_native::Math::Fast,
        mark: Some(mark),
        short_loops: false,
        lanes: wengert_native::LANES,
    };
    let (compiled, spans) = Compiled::made(program, manner, limits.memory, limits.stop)
        .map_err(|error| Error::Internal(Broken(error)))?;
    // Its loops are not divided: lines are counted where they are.
    Ok((Native::compiled(compiled, entry, 1), spans))
}
