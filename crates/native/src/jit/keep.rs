//! Machine code that is kept: the bytes of each function and the places in them where addresses go, so that another process can
//! have them in its own memory without compiling.

use super::{Code, internal, module};
use crate::compiled::Math;
use crate::loops::Kind;
use crate::{saved_enum, saved_struct};
use cranelift_codegen::Context;
use cranelift_codegen::binemit::Reloc;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::isa::TargetIsa;
use cranelift_jit::JITModule;
use cranelift_module::{FuncId as ModuleFunc, Linkage, Module, ModuleReloc, ModuleRelocTarget};
use wengert_ir::program::FuncId;

/// The machine code of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept {
    /// All functions in the order of their numbers: a name, if the runtime has it.
    declared: Vec<Option<String>>,
    functions: Vec<Made>,
    /// What can be called from outside.
    entries: Vec<Callable>,
    kinds: Vec<Kind>,
}

/// The machine code of a function.
#[derive(Clone, Debug)]
pub(super) struct Made {
    number: u32,
    alignment: u64,
    code: Vec<u8>,
    places: Vec<Place>,
}

/// A place where an address goes.
#[derive(Clone, Debug)]
struct Place {
    offset: u32,
    form: Form,
    /// The number of the function whose address it is.
    target: u32,
    addend: i64,
}

/// How an address is written.
#[derive(Clone, Copy, Debug)]
enum Form {
    Absolute,
    Relative,
    Call,
    CallByTable,
    ArmCall,
}

/// A function that can be called from outside, and whether it needs no stack of its own.
#[derive(Clone, Debug)]
struct Callable {
    func: FuncId,
    number: u32,
    direct: bool,
}

saved_struct!(Callable { func, number, direct });
saved_struct!(Kept { declared, functions, entries, kinds });
saved_struct!(Made { number, alignment, code, places });
saved_struct!(Place { offset, form, target, addend });
saved_enum!(Form { 0 = Absolute, 1 = Relative, 2 = Call, 3 = CallByTable, 4 = ArmCall });

const FORMS: &[(Form, Reloc)] = &[
    (Form::Absolute, Reloc::Abs8),
    (Form::Relative, Reloc::X86PCRel4),
    (Form::Call, Reloc::X86CallPCRel4),
    (Form::CallByTable, Reloc::X86CallPLTRel4),
    (Form::ArmCall, Reloc::Arm64Call),
];

/// Functions of vectors begin with a line of the cache.
const BYTES_ALIGNED: u64 = 64;

impl Place {
    fn of(reloc: &ModuleReloc) -> Option<Place> {
        let ModuleReloc { offset, kind, name, addend } = reloc;
        let ModuleRelocTarget::User { namespace: 0, index: target } = *name else { return None };
        let (form, _) = FORMS.iter().find(|(_, known)| known == kind)?;
        Some(Place { offset: *offset, form: *form, target, addend: *addend })
    }

    fn reloc(&self) -> Option<ModuleReloc> {
        let Place { offset, form, target, addend } = *self;
        let (_, kind) = FORMS.get(form as usize)?;
        Some(ModuleReloc { offset, kind: *kind, name: ModuleRelocTarget::user(0, target), addend })
    }
}

/// Makes machine code of a function, for another machine than the module's if one is given, and puts it where it is run. Gives
/// it to be kept, if it can be.
pub(super) fn define(
    module: &mut JITModule,
    other: Option<&dyn TargetIsa>,
    id: ModuleFunc,
    context: &mut Context,
) -> Result<Option<Made>, String> {
    let function_alignment = u64::from(module.isa().function_alignment().minimum);
    let symbol_alignment = module.isa().symbol_alignment();
    context
        .compile(other.unwrap_or(module.isa()), &mut ControlPlane::default())
        .map_err(|error| format!("{:?}", error.inner))?;
    let Some(compiled) = context.compiled_code() else { return Err("there is no code".into()) };
    let alignment = u64::from(compiled.buffer.alignment).max(function_alignment).max(symbol_alignment);
    let code = compiled.code_buffer().to_vec();
    let relocs: Vec<ModuleReloc> = compiled
        .buffer
        .relocs()
        .iter()
        .map(|reloc| ModuleReloc::from_mach_reloc(reloc, &context.func, id))
        .collect();
    module.define_function_bytes(id, alignment, &code, &relocs).map_err(internal)?;
    let places: Option<Vec<Place>> = relocs.iter().map(Place::of).collect();
    Ok(places.map(|places| Made { number: id.as_u32(), alignment, code, places }))
}

/// Puts a function of which the bytes are known where it is run.
pub(super) fn define_bytes(module: &mut JITModule, id: ModuleFunc, code: Vec<u8>) -> Result<Made, String> {
    let alignment = BYTES_ALIGNED.max(module.isa().symbol_alignment());
    module.define_function_bytes(id, alignment, &code, &[]).map_err(internal)?;
    Ok(Made { number: id.as_u32(), alignment, code, places: Vec::new() })
}

impl Kept {
    /// What is kept of a module in which all is defined; nothing if some of it cannot be.
    pub(super) fn new(
        module: &JITModule,
        functions: Option<Vec<Made>>,
        entries: &[(FuncId, ModuleFunc)],
        kinds: &[Kind],
        direct: &dyn Fn(FuncId) -> bool,
    ) -> Option<Kept> {
        let declared = module.declarations().get_functions().map(|(id, declared)| {
            let is_import = declared.linkage == Linkage::Import;
            is_import.then(|| declared.linkage_name(id).into_owned())
        });
        Some(Kept {
            declared: declared.collect(),
            functions: functions?,
            entries: entries
                .iter()
                .map(|(func, entry)| Callable { func: *func, number: entry.as_u32(), direct: direct(*func) })
                .collect(),
            kinds: kinds.to_vec(),
        })
    }

    /// How many functions there are.
    pub(crate) fn functions(&self) -> usize {
        self.declared.len()
    }

    /// The code in this process.
    pub(crate) fn code(self, math: Math) -> Result<Code, String> {
        let mut module = module(math)?;
        let signature = module.make_signature();
        let mut ids = Vec::new();
        for (number, name) in self.declared.iter().enumerate() {
            let id = match name {
                Some(name) => module.declare_function(name, Linkage::Import, &signature),
                None => module.declare_function(&format!("f{number}"), Linkage::Local, &signature),
            };
            ids.push(id.map_err(internal)?);
        }
        let id = |number: u32| ids.get(number as usize).copied().ok_or("there is no such function");
        for Made { number, alignment, code, places } in &self.functions {
            let relocs: Option<Vec<ModuleReloc>> = places.iter().map(Place::reloc).collect();
            let relocs = relocs.ok_or("an address of another form")?;
            module.define_function_bytes(id(*number)?, *alignment, code, &relocs).map_err(internal)?;
        }
        module.finalize_definitions().map_err(internal)?;
        let mut entries = Vec::new();
        for Callable { func, number, direct } in &self.entries {
            let entry = super::address(&module, id(*number)?);
            entries.push(super::Outside { func: *func, entry, direct: *direct });
        }
        let kinds = self.kinds.clone();
        Ok(Code { module: Some(module), entries, kinds, kept: Some(self) })
    }
}
