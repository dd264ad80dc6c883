//! A body done without looking for strong zeros, and then, if that was wrong, with looking for them.

use super::{Lanes, Pass, Place, anywhere, each, once};
use crate::jit::body::Body;
use crate::jit::vector::Plan;
use crate::jit::zeros::Doubtful;
use crate::loops::Local;
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value, types};
use rustc_hash::FxHashMap;

/// What came out of a body.
pub(super) struct Done {
    pub(super) values: FxHashMap<Local, Lanes>,
    pub(super) stores: Vec<Stored>,
    pub(super) doubtful: Doubtful,
    /// Doubtful values that were compared.
    pub(super) looked_at: Vec<Value>,
}

/// What is to be stored.
pub(super) struct Stored {
    pub(super) place: Place,
    pub(super) offset: i32,
    pub(super) value: Lanes,
    pub(super) doubtful: bool,
}

impl Lanes {
    pub(super) fn all(&self) -> Vec<Value> {
        match self {
            Lanes::Uniform(value) | Lanes::Moving(value, _) => vec![*value],
            Lanes::Each(values) | Lanes::Vector(values) | Lanes::Mask(values) => values.clone(),
        }
    }

    /// The same with other values.
    fn like(&self, other: &mut dyn FnMut(Value) -> Value) -> Lanes {
        let mut each = |values: &[Value]| values.iter().map(|value| other(*value)).collect();
        match self {
            Lanes::Uniform(value) => Lanes::Uniform(other(*value)),
            Lanes::Moving(value, step) => Lanes::Moving(other(*value), *step),
            Lanes::Each(values) => Lanes::Each(each(values)),
            Lanes::Vector(values) => Lanes::Vector(each(values)),
            Lanes::Mask(values) => Lanes::Mask(each(values)),
        }
    }
}

/// The body without looking for zeros, and again with looking if something came out that is no number; then what it stores.
pub(super) fn quickly(
    body: &mut Body<'_, '_, '_>,
    plan: &Plan<'_>,
    start: FxHashMap<Local, Lanes>,
    merge: Block,
) -> FxHashMap<Local, Lanes> {
    let mut plain = once(body, plan, start.clone(), Pass::Plain, merge);
    let carried: Vec<Local> = plan.carried.iter().map(|carried| carried.local).collect();
    let carried: Vec<Local> = carried.into_iter().filter(|local| plain.doubtful.has(*local)).collect();
    let outcome = |done: &Done| -> Vec<Lanes> {
        let stored = done.stores.iter().zip(&plain.stores).filter(|(_, plain)| plain.doubtful);
        let stored = stored.map(|(store, _)| store.value.clone());
        let kept = carried.iter().filter_map(|local| done.values.get(local).cloned());
        stored.chain(kept).collect()
    };
    let found = outcome(&plain);
    let mut looked_at = plain.looked_at.clone();
    looked_at.extend(found.iter().flat_map(Lanes::all));
    let wrong = no_number(body, &looked_at);
    let (again, done) = (body.builder.create_block(), body.builder.create_block());
    body.builder.set_cold_block(again);
    let args = |outcome: &[Lanes]| -> Vec<BlockArg> {
        outcome.iter().flat_map(Lanes::all).map(BlockArg::Value).collect()
    };
    body.builder.ins().brif(wrong, again, &[], done, &args(&found));
    body.enter(again);
    let careful = outcome(&once(body, plan, start, Pass::Careful, merge));
    body.builder.ins().jump(done, &args(&careful));
    let outcome: Vec<Lanes> = found
        .iter()
        .map(|lanes| {
            lanes.like(&mut |value| {
                let ty = body.builder.func.dfg.value_type(value);
                body.builder.append_block_param(done, ty)
            })
        })
        .collect();
    body.enter(done);
    let mut outcome = outcome.into_iter();
    for store in &mut plain.stores {
        if store.doubtful
            && let Some(value) = outcome.next()
        {
            store.value = value;
        }
        put(body, plan.unroll, store);
    }
    plain.values.extend(carried.into_iter().zip(outcome));
    plain.values
}

/// Whether any of these is no number: then so is their sum. (It also is none if there are infinities with both signs.)
fn no_number(body: &mut Body<'_, '_, '_>, all: &[Value]) -> Value {
    let wide: Vec<Value> = all
        .iter()
        .map(|value| match body.builder.func.dfg.value_type(*value) == types::F64X2 {
            true => *value,
            false => body.builder.ins().splat(types::F64X2, *value),
        })
        .collect();
    let Some(sum) = wide.into_iter().reduce(|a, b| body.builder.ins().fadd(a, b)) else {
        // Numbers that are the same for all elements may be all there is, and nobody looks at them.
        return body.builder.ins().iconst(types::I8, 0);
    };
    let none = body.builder.ins().fcmp(FloatCC::Unordered, sum, sum);
    body.builder.ins().vany_true(none)
}

/// Stores.
pub(super) fn put(body: &mut Body<'_, '_, '_>, unroll: usize, store: &Stored) {
    let Stored { place, offset, value, .. } = store;
    let offset = offset * 8;
    let width = 2 * unroll;
    if let (Place::Moving(address, 8), Lanes::Vector(pairs)) = (place, value) {
        for (pair, value) in (0..).zip(pairs) {
            body.builder.ins().store(anywhere(), *value, *address, offset + 16 * pair);
        }
        return;
    }
    let values: Vec<Value> = match value {
        Lanes::Vector(pairs) => pairs
            .iter()
            .flat_map(|pair| [(*pair, 0), (*pair, 1)])
            .map(|(pair, lane)| body.builder.ins().extractlane(pair, lane))
            .collect(),
        Lanes::Uniform(_) | Lanes::Moving(..) | Lanes::Each(_) | Lanes::Mask(_) => each(body, width, value),
    };
    let addresses = match place {
        Place::Moving(address, step) => each(body, width, &Lanes::Moving(*address, *step)),
        Place::Each(each) => each.clone(),
    };
    for (address, value) in addresses.into_iter().zip(values) {
        body.builder.ins().store(crate::jit::flags(), value, address, offset);
    }
}
