//! What loops in vectors hand on: in several parts, which are put together after the loop.

use crate::jit::body::Body;
use crate::jit::value::float_condition;
use crate::jit::vector::{Carried, How};
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_frontend::Variable;

/// Variables for what is carried in vectors, and what they are at first.
pub(super) fn start(body: &mut Body<'_, '_, '_>, carried: Carried, unroll: usize) -> Vec<Variable> {
    let value = match carried.how {
        How::Sum => body.builder.ins().f64const(0.0),
        How::Extreme(_) => body.read(carried.local),
    };
    let value = body.builder.ins().splat(types::F64X2, value);
    (0..unroll)
        .map(|_| {
            let variable = body.builder.declare_var(types::F64X2);
            body.builder.def_var(variable, value);
            variable
        })
        .collect()
}

/// The carried variable, from its parts.
pub(super) fn add_up(body: &mut Body<'_, '_, '_>, carried: Carried, variables: &[Variable]) {
    let mut parts: Vec<Value> = variables.iter().map(|variable| body.builder.use_var(*variable)).collect();
    let old = body.read(carried.local);
    let total = match carried.how {
        How::Sum => {
            while parts.len() > 1 {
                parts = parts
                    .chunks(2)
                    .map(|pair| match pair {
                        [a, b] => body.builder.ins().fadd(*a, *b),
                        _ => pair.first().copied().unwrap_or(old),
                    })
                    .collect();
            }
            let part = parts.first().copied().unwrap_or(old);
            let (a, b) = (body.builder.ins().extractlane(part, 0), body.builder.ins().extractlane(part, 1));
            let sum = body.builder.ins().fadd(a, b);
            body.builder.ins().fadd(old, sum)
        }
        How::Extreme(compare) => {
            let mut best = old;
            for part in parts {
                for lane in 0..2 {
                    let x = body.builder.ins().extractlane(part, lane);
                    let better = body.builder.ins().fcmp(float_condition(compare), x, best);
                    let none = body.builder.ins().fcmp(FloatCC::Unordered, x, x);
                    let was_one = body.builder.ins().fcmp(FloatCC::Ordered, best, best);
                    let none = body.builder.ins().band(none, was_one);
                    let better = body.builder.ins().bor(better, none);
                    best = body.builder.ins().select(better, x, best);
                }
            }
            best
        }
    };
    body.assign(carried.local, total);
}
