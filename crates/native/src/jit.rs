//! The Cranelift back end: loop programs to machine code in memory.
//!
//! A compiled function takes the context, then its parameters as words; a single result is returned, several are stored
//! where one more parameter says. An *entry* of each function that can be called from outside takes and gives words in
//! memory. Failures are calls of the runtime that do not return.

#![expect(unsafe_code, reason = "machine code is called by address, and freed when it is no longer")]

mod area;
mod body;
mod cases;
mod chosen;
mod counted;
mod fused;
mod keep;
mod lanes;
mod masked;
mod objects;
mod once;
mod plain;
mod quiet;
mod real;
mod steady;
mod value;
mod vector;
mod wide;
mod zeros;

pub(crate) use keep::Kept;
pub(crate) use vector::is_vector_op;

use crate::compiled::{LANES, Math};
use crate::loops::{Func, Kind, Program, Word};
use crate::runtime::{blocks, context, math, order, parallel, product, stack, text};
use cranelift_codegen::Context;
use cranelift_codegen::ir::{
    AbiParam, Function, InstBuilder, MemFlagsData, Signature, Type, UserFuncName, types,
};
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{ArenaMemoryProvider, JITBuilder, JITModule};
use cranelift_module::{FuncId as ModuleFunc, Linkage, Module, default_libcall_names};
use keep::Made;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::program::FuncId;
use wengert_ir::stop;
use wengert_ir::ty::{Id, Table};

/// Machine code in memory, freed with it.
pub(crate) struct Code {
    module: Option<JITModule>,
    /// What can be called from outside.
    pub(crate) entries: Vec<Outside>,
    /// The kinds that the code gives to the runtime by number.
    pub(crate) kinds: Vec<Kind>,
    /// The same for other processes.
    pub(crate) kept: Option<Kept>,
}

/// A function that can be called from outside.
#[derive(Clone, Copy)]
pub(crate) struct Outside {
    pub(crate) func: FuncId,
    pub(crate) entry: stack::Entry,
    /// Whether it needs no stack of its own.
    pub(crate) direct: bool,
}

impl Code {
    /// Compiles a program; `entries` are the functions that can be called from outside.
    pub(crate) fn compile(
        program: &Program,
        entries: &[FuncId],
        math: Math,
        lanes: usize,
    ) -> Result<Code, String> {
        let mut compiler = Compiler::new(program, math)?;
        compiler.wide = wide::Width::of_most(lanes);
        let wrappers = match compiler.all(entries) {
            Ok(wrappers) => wrappers,
            Err(error) => {
                // SAFETY: nothing of it was ever called.
                unsafe { compiler.module.free_memory() };
                return Err(error);
            }
        };
        let Compiler { mut module, kinds, made, .. } = compiler;
        module.finalize_definitions().map_err(|error| error.to_string())?;
        let direct = |func: FuncId| program.funcs.get(func).is_some_and(Func::always_returns);
        let kept = Kept::new(&module, made, &wrappers, &kinds, &direct);
        let outside =
            |(func, wrapper)| Outside { func, entry: address(&module, wrapper), direct: direct(func) };
        let entries = wrappers.into_iter().map(outside).collect();
        Ok(Code { module: Some(module), entries, kinds, kept })
    }

    /// The code of each function before machine code is made of it.
    pub(crate) fn text(program: &Program) -> Result<String, String> {
        let mut compiler = Compiler::new(program, Math::Strict)?;
        let mut text = String::new();
        for (id, func) in program.funcs.iter() {
            let made = compiler.build(id, func).func;
            text.push_str(&format!("; {}\n{}\n", func.name, made.display()));
        }
        Ok(text)
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: entries are called only through a borrow of this value, so none is running.
            unsafe { module.free_memory() };
        }
    }
}

/// The address of a wrapper.
fn address(module: &JITModule, wrapper: ModuleFunc) -> stack::Entry {
    let code = module.get_finalized_function(wrapper);
    // SAFETY: the wrapper was compiled with exactly this signature.
    unsafe { std::mem::transmute::<*const u8, stack::Entry>(code) }
}

/// The compilation of a program.
struct Compiler<'a> {
    program: &'a Program,
    math: Math,
    module: JITModule,
    scratch: FunctionBuilderContext,
    funcs: Table<FuncId, ModuleFunc>,
    /// Functions of the runtime, by name, with their signatures.
    imports: FxHashMap<&'static str, ModuleFunc>,
    /// Functions by way of which those are called that leave all registers as they were.
    quiet: FxHashMap<&'static str, ModuleFunc>,
    kinds: Vec<Kind>,
    /// The entries of parts of loops.
    parts: FxHashMap<FuncId, ModuleFunc>,
    /// Machine code to be kept, as long as all of it can be.
    made: Option<Vec<Made>>,
    /// Functions of which machine code is made with less care, and the machine for those.
    once: FxHashSet<FuncId>,
    plain: Option<OwnedTargetIsa>,
    /// Whether a product and a sum are one operation.
    fused: bool,
    /// In what vectors loops are done that are not of two, and how many are.
    wide: Option<wide::Width>,
    wides: usize,
}

/// A failure of the code generator; it is a bug.
fn internal(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// So much address space is set aside for the code of a program, or less if there is no more: functions call each other
/// over less than 2 GiB, and pieces of memory that the system gives one by one may lie further apart.
const ROOM: [usize; 3] = [1 << 30, 1 << 28, 1 << 26];

/// The machine, and how much care is taken of the code for it, and of its registers.
fn isa(care: &str, registers: &str) -> Result<OwnedTargetIsa, String> {
    let mut flags = settings::builder();
    for (name, value) in [
        ("regalloc_algorithm", registers),
        ("use_colocated_libcalls", "false"),
        ("is_pic", "false"),
        ("opt_level", care),
        // It takes a tenth of the time of whoever makes machine code: only the tests of this crate have it.
        ("enable_verifier", if cfg!(test) { "true" } else { "false" }),
    ] {
        flags.set(name, value).map_err(internal)?;
    }
    cranelift_native::builder()?.finish(settings::Flags::new(flags)).map_err(internal)
}

/// An empty module that knows the runtime.
fn module(math: Math) -> Result<JITModule, String> {
    let isa = isa("speed", "backtracking")?;
    let mut builder = JITBuilder::with_isa(isa, default_libcall_names());
    if let Some(room) = ROOM.into_iter().find_map(|bytes| ArenaMemoryProvider::new_with_size(bytes).ok()) {
        builder.memory_provider(Box::new(room));
    }
    for (name, address) in symbols() {
        builder.symbol(name, address);
    }
    if math == Math::Fast {
        builder.symbols(blocks::scalars());
        builder.symbol("matmul", product::matmul_fast as *const u8);
        builder.symbol("matvec", product::matvec_fast as *const u8);
        builder.symbol("add_product", product::fast as *const u8);
    }
    Ok(JITModule::new(builder))
}

impl<'a> Compiler<'a> {
    fn new(program: &'a Program, math: Math) -> Result<Compiler<'a>, String> {
        let mut module = module(math)?;
        let once = once::once(program);
        let mut imports = FxHashMap::default();
        for (name, params, result) in signatures() {
            let mut signature = module.make_signature();
            signature.params = params.into_iter().map(AbiParam::new).collect();
            signature.returns = result.into_iter().map(AbiParam::new).collect();
            let id = module.declare_function(name, Linkage::Import, &signature).map_err(internal)?;
            imports.insert(name, id);
        }
        let mut funcs = Table::default();
        for (id, func) in program.funcs.iter() {
            let signature = signature(&module, func);
            let name = format!("f{}", id.index());
            funcs.push(module.declare_function(&name, Linkage::Local, &signature).map_err(internal)?);
        }
        Ok(Compiler {
            program,
            math,
            module,
            scratch: FunctionBuilderContext::new(),
            funcs,
            imports,
            quiet: FxHashMap::default(),
            parts: FxHashMap::default(),
            kinds: Vec::new(),
            made: Some(Vec::new()),
            plain: if once.is_empty() { None } else { Some(isa("none", "single_pass")?) },
            once,
            fused: fused::is_done(math),
            wide: wide::Width::of_most(LANES),
            wides: 0,
        })
    }

    /// Compiles all functions; gives how each of the entries is called from outside.
    fn all(&mut self, entries: &[FuncId]) -> Result<Vec<(FuncId, ModuleFunc)>, String> {
        for (id, _) in self.program.funcs.iter().filter(|(_, func)| func.part.is_some()) {
            let part = self.entry(id)?;
            self.parts.insert(id, part);
        }
        for (id, func) in self.program.funcs.iter() {
            if stop::is_asked() {
                return Err("nobody waits for it any more".into());
            }
            self.function(id, func)?;
        }
        entries.iter().map(|entry| Ok((*entry, self.entry(*entry)?))).collect()
    }

    fn function(&mut self, id: FuncId, func: &Func) -> Result<(), String> {
        let mut context = self.build(id, func);
        let isa = self.plain.as_deref().filter(|_| self.once.contains(&id));
        let made = keep::define(&mut self.module, isa, *self.funcs.at(id), &mut context)?;
        self.keep(made);
        Ok(())
    }

    fn keep(&mut self, made: Option<Made>) {
        self.made = self.made.take().zip(made).map(|(mut all, made)| {
            all.push(made);
            all
        });
    }

    fn build(&mut self, id: FuncId, func: &Func) -> Context {
        let mut context = self.module.make_context();
        let signature = signature(&self.module, func);
        context.func = Function::with_name_signature(name(id.index()), signature);
        let mut scratch = std::mem::take(&mut self.scratch);
        body::build(self, func, &mut context.func, &mut scratch);
        self.scratch = scratch;
        context
    }

    /// A function that takes arguments from memory and puts results there.
    fn entry(&mut self, id: FuncId) -> Result<ModuleFunc, String> {
        let func = self.program.funcs.at(id);
        let mut signature = self.module.make_signature();
        signature.params = vec![AbiParam::new(types::I64); 3];
        let name_text = format!("entry{}", id.index());
        let wrapper =
            self.module.declare_function(&name_text, Linkage::Local, &signature).map_err(internal)?;
        let mut context = self.module.make_context();
        context.func = Function::with_name_signature(name(self.program.funcs.len() + id.index()), signature);
        let target = self.module.declare_func_in_func(*self.funcs.at(id), &mut context.func);
        let mut builder = FunctionBuilder::new(&mut context.func, &mut self.scratch);
        let block = builder.create_block();
        builder.append_block_params_for_function_params(block);
        builder.switch_to_block(block);
        builder.seal_block(block);
        let [state, args, results] = *builder.block_params(block) else {
            return Err("an entry has three parameters".into());
        };
        let mut values = vec![state];
        for (place, param) in (0..).zip(&func.params) {
            let ty = machine(*func.locals.at(*param));
            values.push(builder.ins().load(ty, flags(), args, place * 8));
        }
        if func.results.len() != 1 {
            values.push(results);
        }
        let call = builder.ins().call(target, &values);
        if let [result] = *builder.inst_results(call) {
            builder.ins().store(flags(), result, results, 0);
        }
        builder.ins().return_(&[]);
        builder.finalize(self.module.target_config());
        let made = keep::define(&mut self.module, None, wrapper, &mut context)?;
        self.keep(made);
        Ok(wrapper)
    }

    /// The number by which the runtime knows a kind.
    fn kind(&mut self, kind: Kind) -> i64 {
        let known = self.kinds.iter().position(|known| *known == kind);
        let place = known.unwrap_or_else(|| {
            self.kinds.push(kind);
            self.kinds.len() - 1
        });
        i64::try_from(place).unwrap_or(i64::MAX)
    }
}

fn name(index: usize) -> UserFuncName {
    UserFuncName::user(0, u32::try_from(index).unwrap_or(u32::MAX))
}

/// How memory is read and written: aligned, and never at a wrong address.
fn flags() -> MemFlagsData {
    MemFlagsData::trusted()
}

/// The same, of what does not change during a run.
fn constant() -> MemFlagsData {
    MemFlagsData::trusted().with_readonly()
}

/// The type of a word in registers.
fn machine(word: Word) -> Type {
    match word {
        Word::Real => types::F64,
        Word::Int | Word::Ref | Word::Address => types::I64,
    }
}

fn signature(module: &JITModule, func: &Func) -> Signature {
    let mut signature = module.make_signature();
    signature.params.push(AbiParam::new(types::I64));
    for param in &func.params {
        signature.params.push(AbiParam::new(machine(*func.locals.at(*param))));
    }
    match func.results.as_slice() {
        [result] => signature.returns.push(AbiParam::new(machine(*func.locals.at(*result)))),
        _ => signature.params.push(AbiParam::new(types::I64)),
    }
    signature
}

/// The functions of the runtime and their addresses.
fn symbols() -> Vec<(&'static str, *const u8)> {
    let mut symbols = vec![
        ("alloc", context::alloc as *const u8),
        ("free", context::free as *const u8),
        ("dismantle", context::dismantle as *const u8),
        ("fail", context::fail as *const u8),
        ("fail_with", context::fail_with as *const u8),
        ("parallel", parallel::parallel as *const u8),
        ("copy_words", context::copy_words as *const u8),
        ("zero_words", context::zero_words as *const u8),
        ("text_append", text::append as *const u8),
        ("text_extend", text::extend as *const u8),
        ("text_length", text::length as *const u8),
        ("text_compare", text::compare as *const u8),
        ("show_real", text::show_real as *const u8),
        ("show_int", text::show_int as *const u8),
        ("show_text", text::show_text as *const u8),
        ("sort_real", order::sort_real as *const u8),
        ("sort_int", order::sort_int as *const u8),
        ("sort_text", order::sort_text as *const u8),
        ("argsort_real", order::argsort_real as *const u8),
        ("argsort_int", order::argsort_int as *const u8),
        ("argsort_text", order::argsort_text as *const u8),
        ("power", math::power as *const u8),
        ("polygamma", math::polygamma as *const u8),
        ("int_power", math::int_power as *const u8),
        ("matmul", product::matmul_exact as *const u8),
        ("matvec", product::matvec_exact as *const u8),
        ("add_product", product::exact as *const u8),
        ("map", blocks::map as *const u8),
        ("scratch", blocks::scratch as *const u8),
    ];
    symbols.extend(math::UNARY.iter().map(|(_, name, address)| (*name, *address as *const u8)));
    symbols.extend(math::BINARY.iter().map(|(_, name, address)| (*name, *address as *const u8)));
    symbols
}

/// Their signatures; all but the functions of reals take the context first.
fn signatures() -> Vec<(&'static str, Vec<Type>, Option<Type>)> {
    use types::{F64, I64};
    let word = Some(I64);
    let mut all = vec![
        ("alloc", vec![I64, I64, I64], word),
        ("free", vec![I64, I64], None),
        ("dismantle", vec![I64, I64, I64], None),
        ("fail", vec![I64, I64, I64, I64], None),
        ("fail_with", vec![I64, I64, I64], None),
        ("parallel", vec![I64, I64, I64], None),
        ("copy_words", vec![I64, I64, I64, I64], None),
        ("zero_words", vec![I64, I64, I64], None),
        ("text_append", vec![I64, I64, I64, I64], word),
        ("text_extend", vec![I64, I64, I64, I64], word),
        ("text_length", vec![I64, I64], word),
        ("text_compare", vec![I64, I64, I64], word),
        ("show_real", vec![I64, F64, I64], word),
        ("show_int", vec![I64, I64, I64], word),
        ("show_text", vec![I64, I64, I64], word),
        ("power", vec![I64, F64, I64], Some(F64)),
        ("polygamma", vec![I64, I64, F64], Some(F64)),
        ("int_power", vec![I64, I64, I64], word),
        ("matmul", vec![I64; 7], None),
        ("matvec", vec![I64; 6], None),
        ("add_product", vec![I64; 10], None),
        ("map", vec![I64; 5], None),
        ("scratch", vec![I64; 2], word),
    ];
    for name in ["sort_real", "sort_int", "sort_text", "argsort_real", "argsort_int", "argsort_text"] {
        all.push((name, vec![I64; 5], None));
    }
    all.extend(math::UNARY.iter().map(|(_, name, _)| (*name, vec![F64], Some(F64))));
    all.extend(math::BINARY.iter().map(|(_, name, _)| (*name, vec![F64, F64], Some(F64))));
    all
}

#[cfg(test)]
mod tests;
