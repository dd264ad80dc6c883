//! Calls of the runtime that leave all registers as they were. A function that is called may change all registers of reals, so that what lives
//! across the call is in memory, also where the call is rare and the loop around it short: the loop that fills a column calls the
//! runtime only when the column is full, and should not pay for that in each iteration. So such calls go by way of
//! a function that saves all registers first. What the runtime gives, it puts into memory.
//!
//! So do calls before, between and after loops in which nothing is called, if they are in no loop themselves: what lives across them
//! would be in memory in those loops, too.

use super::body::Body;
use super::real::has_instructions;
use super::{Compiler, flags, keep};
use crate::loops::walk::every;
use crate::loops::{Func, Operand, Runtime, Stmt, Value as Expr};
use cranelift_codegen::ir::{
    AbiParam, Function, InstBuilder, StackSlotData, StackSlotKind, Type, UserFuncName, Value, types,
};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_module::{FuncId as ModuleFunc, Linkage, Module};

/// What is called so where it is rare.
const QUIET: [&str; 3] = ["alloc", "free", "copy_words"];
/// What does not come back.
const LEAVES: [&str; 2] = ["fail", "fail_with"];
/// Loops with fewer iterations are not worth it.
const SHORT: i64 = 16;

/// Whether statements make room for more in what is full: something new, to which the old is copied. That is rare.
pub(super) fn makes_room(stmts: &[Stmt]) -> bool {
    let copies = |stmt: &Stmt| matches!(stmt, Stmt::Runtime { call: Runtime::CopyWords, .. });
    let makes = |stmt: &Stmt| matches!(stmt, Stmt::Set(_, Expr::Alloc(..)));
    let frees = |stmt: &Stmt| matches!(stmt, Stmt::Free(..));
    stmts.iter().any(copies) && stmts.iter().any(makes) && stmts.iter().any(frees)
}

/// Whether a function has a loop of some length in which nothing is called, and is not called again and again.
pub(super) fn has_quick_loop(func: &Func) -> bool {
    let mut found = false;
    every(&func.body, &mut |stmt| {
        let Stmt::For { len, body, .. } = stmt else { return };
        found |= !matches!(len, Operand::Int(n) if *n < SHORT) && !calls(body);
    });
    found && func.recursive.is_none()
}

/// Whether statements call anything.
fn calls(stmts: &[Stmt]) -> bool {
    let mut found = false;
    every(stmts, &mut |stmt| {
        found |= match stmt {
            Stmt::Set(_, Expr::Real(op, _)) => !has_instructions(*op),
            Stmt::Set(_, value) => matches!(value, Expr::Alloc(..)),
            Stmt::Parallel { .. }
            | Stmt::Call { .. }
            | Stmt::Runtime { .. }
            | Stmt::Release(..)
            | Stmt::Free(..) => true,
            Stmt::Store { .. }
            | Stmt::If { .. }
            | Stmt::Switch { .. }
            | Stmt::For { .. }
            | Stmt::While { .. }
            | Stmt::Retain(..)
            | Stmt::Fail(..) => false,
        };
    });
    found
}

/// Calls a function of the runtime so, if that can be done: then what it gives, if it gives something.
pub(super) fn call(body: &mut Body<'_, '_, '_>, name: &'static str, args: &[Value]) -> Option<Option<Value>> {
    let beside = body.quick && body.loops() == 0 && !LEAVES.contains(&name);
    let rare = body.quiet && QUIET.contains(&name) || beside;
    if !cfg!(target_arch = "x86_64") || !rare {
        return None;
    }
    let (id, gives) = function(body.compiler, name)?;
    let target = body.compiler.module.declare_func_in_func(id, body.builder.func);
    let mut args = args.to_vec();
    let slot = gives.map(|_| {
        let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, 8, 3);
        body.builder.create_sized_stack_slot(slot)
    });
    args.extend(slot.map(|slot| body.builder.ins().stack_addr(types::I64, slot, 0)));
    body.builder.ins().call(target, &args);
    let given = slot.zip(gives);
    Some(given.map(|(slot, word)| body.builder.ins().stack_load(types::I64, word, slot, 0)))
}

/// The function by way of which another is called, and what it gives, if it gives something.
fn function(compiler: &mut Compiler<'_>, name: &'static str) -> Option<(ModuleFunc, Option<Type>)> {
    let target = *compiler.imports.get(name)?;
    let plain = compiler.module.declarations().get_function_decl(target).signature.clone();
    let gives = plain.returns.first().map(|given| given.value_type);
    if let Some(known) = compiler.quiet.get(name) {
        return Some((*known, gives));
    }
    let mut signature = plain;
    signature.call_conv = CallConv::PreserveAll;
    signature.returns.clear();
    signature.params.extend(gives.map(|_| AbiParam::new(types::I64)));
    let id = compiler.module.declare_function(&format!("quiet_{name}"), Linkage::Local, &signature).ok()?;
    let mut context = compiler.module.make_context();
    context.func = Function::with_name_signature(UserFuncName::user(0, id.as_u32()), signature);
    let target = compiler.module.declare_func_in_func(target, &mut context.func);
    let mut scratch = FunctionBuilderContext::new();
    let mut builder = FunctionBuilder::new(&mut context.func, &mut scratch);
    let block = builder.create_block();
    builder.append_block_params_for_function_params(block);
    builder.switch_to_block(block);
    builder.seal_block(block);
    let mut args = builder.block_params(block).to_vec();
    let to = gives.and_then(|_| args.pop());
    let call = builder.ins().call(target, &args);
    if let (Some(to), [given]) = (to, builder.inst_results(call)) {
        let given = *given;
        builder.ins().store(flags(), given, to, 0);
    }
    builder.ins().return_(&[]);
    builder.finalize(compiler.module.target_config());
    let made = keep::define(&mut compiler.module, None, id, &mut context).ok()?;
    compiler.keep(made);
    compiler.quiet.insert(name, id);
    Some((id, gives))
}

#[cfg(test)]
mod tests;
