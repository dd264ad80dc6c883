//! A product to which something is added, as one operation that rounds once, where the processor has it.
//!
//! What carries a number from step to step waits for each operation: one less is that much sooner. The product is one that only this
//! sum reads, and that is made just before it: one that does not change in a loop is made before the loop. In strict mode
//! every operation rounds.

use super::body::Body;
use crate::compiled::Math;
use crate::loops::Operand;
use cranelift_codegen::ir::{InstBuilder, InstructionData, Opcode, Value, ValueDef};
use wengert_prim::RealOp;

/// Whether that is done.
pub(super) fn is_done(math: Math) -> bool {
    math == Math::Fast && is_available()
}

/// Whether this processor has the operation.
fn is_available() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        std::arch::is_x86_feature_detected!("avx") && std::arch::is_x86_feature_detected!("fma")
    }
    #[cfg(not(target_arch = "x86_64"))]
    cfg!(target_arch = "aarch64")
}

/// A sum or difference of these, if one of them is such a product.
pub(super) fn sum(
    body: &mut Body<'_, '_, '_>,
    op: RealOp,
    args: &[Operand],
    values: &[Value],
) -> Option<Value> {
    let is_sum = matches!(op, RealOp::Add | RealOp::Sub);
    let ([left, right], [x, y]) = (args, values) else { return None };
    if !body.compiler.fused || !is_sum || x == y {
        return None;
    }
    let less = op == RealOp::Sub;
    if let Some((a, b)) = factors(body, *right, *y) {
        let a = if less { body.builder.ins().fneg(a) } else { a };
        return Some(body.builder.ins().fma(a, b, *x));
    }
    let (a, b) = factors(body, *left, *x)?;
    let rest = if less { body.builder.ins().fneg(*y) } else { *y };
    Some(body.builder.ins().fma(a, b, rest))
}

/// The factors of a product that nobody else reads.
fn factors(body: &Body<'_, '_, '_>, operand: Operand, value: Value) -> Option<(Value, Value)> {
    operand.local().filter(|local| body.steady.is_read_once(*local))?;
    let func = &body.builder.func;
    let ValueDef::Result(made, _) = func.dfg.value_def(func.dfg.resolve_aliases(value)) else { return None };
    let here = func.layout.inst_block(made) == body.builder.current_block();
    if let InstructionData::Binary { opcode: Opcode::Fmul, args: [a, b] } = func.dfg.insts[made] {
        here.then_some((a, b))
    } else {
        None
    }
}
