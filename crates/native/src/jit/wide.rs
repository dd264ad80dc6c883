//! Loops in vectors of eight reals, or of four, where the processor has them (AVX-512, AVX2) and the code generator has not.
//!
//! A loop that [`super::vector`] has planned becomes a function of its own, if it does no more than this page knows: what is the same in all
//! iterations is computed before it is called, as are the addresses and checks of what moves with the loop, which look at the first and
//! the last iteration; the rest is straight-line code on vectors ([`program`]), of which [`code`] or [`four`] makes instructions. Where a check fails,
//! the loop runs one iteration at a time, and fails where it would have failed. The iterations that do not fill a vector are done in one of
//! which only a part counts. Loops with few iterations are faster in vectors of two.

mod asm;
mod code;
mod four;
mod program;
mod read;
mod registers;
mod vex;

use super::body::Body;
use super::lanes::Loop;
use super::value::float_condition;
use super::vector::{Carried, How, Plan};
use super::{Compiler, flags};
use crate::loops::Operand;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{AbiParam, Block, InstBuilder, Value, types};
use cranelift_codegen::isa::CallConv;
use cranelift_module::{FuncId as ModuleFunc, Linkage, Module};
use program::Program;
use read::{Before, Reader};

/// Loops whose bodies have at most so many steps, and that have fewer iterations, are as fast in vectors of two.
const SMALL: (usize, i64) = (16, 64);
/// Those inside of so many loops mostly have few, and a second way costs them registers.
const DEEP: usize = 2;
/// And others that have fewer iterations.
const FEW: i64 = 16;
/// Loops with more iterations take so long that somebody may want to stop them.
const MANY: i64 = 1 << 24;
/// Words that lie apart are read one by one: at most one of so many steps may do that.
const APART: usize = 12;
/// So many bytes the numbers of a loop in a function that calls itself may take, for there may be many at a time.
const FRAME: usize = 512;

/// How many numbers the vectors have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    Four,
    Eight,
}

impl Width {
    /// The widest that this processor has, of at most so many numbers.
    pub(super) fn of_most(lanes: usize) -> Option<Width> {
        let (four, eight) = has();
        let width = if eight && lanes >= Width::Eight.lanes() { Width::Eight } else { Width::Four };
        (width.lanes() <= lanes && (four || eight)).then_some(width)
    }

    fn lanes(self) -> usize {
        match self {
            Width::Four => four::LANES,
            Width::Eight => code::LANES,
        }
    }

    /// So many registers hold what is carried.
    fn carried(self) -> usize {
        match self {
            Width::Four => four::CARRIED,
            Width::Eight => code::CARRIED,
        }
    }

    fn code(self, program: &Program) -> Option<code::Made> {
        match self {
            Width::Four => four::code(program),
            Width::Eight => code::code(program),
        }
    }
}

/// Whether this processor has vectors of four, and of eight.
fn has() -> (bool, bool) {
    #[cfg(all(target_arch = "x86_64", unix))]
    {
        (crate::runtime::processor::has_avx2(), crate::runtime::processor::has_avx512())
    }
    #[cfg(not(all(target_arch = "x86_64", unix)))]
    (false, false)
}

/// Makes the loop in vectors if it is one of those; it ends where the rest of the loop begins. Gives whether there is none.
/// What has few iterations is done by `narrow`.
pub(super) fn vectors(
    body: &mut Body<'_, '_, '_>,
    plan: &Plan<'_>,
    made: &Loop<'_>,
    narrow: impl FnOnce(&mut Body<'_, '_, '_>),
) -> Option<bool> {
    let width = body.compiler.wide?;
    let mut reader = Reader::new(plan, body.variables());
    let read = plan.body.iter().try_for_each(|stmt| reader.stmt(stmt));
    read.and_then(|()| reader.finish(plan, width.carried()))?;
    let Reader { before, mut program, given, .. } = reader;
    let around = if plan.is_piece { 0 } else { body.loops() };
    let shortest = shortest(&program, around, made.known)?;
    if body.compiler.fused {
        program.fuse();
    }
    let code = width.code(&program)?;
    if body.func.recursive.is_some() && code.bytes > FRAME {
        return None;
    }
    let target = body.compiler.bytes(code.code).ok()?;
    let can_fail = before.iter().any(|before| !matches!(before, Before::Set(..)));
    let is_all = !plan.keep_last && !can_fail && made.known.is_some();
    let least = if is_all { 1 } else { shortest + i64::from(plan.keep_last) };
    let (inside, few, rest) =
        (body.builder.create_block(), body.builder.create_block(), body.builder.create_block());
    // Nobody can stop it: what is very long goes on in vectors of two, unless nobody could stop that.
    let most = if made.stops { MANY } else { i64::MAX };
    let over = body.builder.ins().iadd_imm_s(made.len, -least);
    let enough = body.builder.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, over, most - least);
    body.builder.ins().brif(enough, inside, &[], few, &[]);
    if !is_all {
        // So that what is short has the registers and stands in a line.
        body.builder.set_cold_block(inside);
    }
    body.enter(inside);
    prepare(body, &before, made, few);
    let numbers = body.area(code.bytes.div_ceil(8));
    for (place, operand) in (0..).zip(&given) {
        let value = body.operand(*operand);
        body.builder.ins().store(flags(), value, numbers, place * 8);
    }
    let [from, to, counter] = range(body, plan, made);
    body.builder.def_var(made.counter, counter);
    let target = body.compiler.module.declare_func_in_func(target, body.builder.func);
    body.builder.ins().call(target, &[numbers, from, to]);
    for (place, carried) in plan.carried.iter().enumerate() {
        let offset = i32::try_from(code.results + 8 * width.lanes() * place).ok()?;
        let total = total(body, *carried, width.lanes(), (numbers, offset));
        body.assign(carried.local, total);
    }
    body.builder.ins().jump(rest, &[]);
    body.enter(few);
    if made.known.is_none() {
        narrow(body);
    }
    body.builder.ins().jump(rest, &[]);
    body.enter(rest);
    Some(is_all)
}

/// From how many iterations on a loop inside of so many others is worth it, if it is at all.
fn shortest(program: &Program, loops: usize, known: Option<i64>) -> Option<i64> {
    let steps = program.steps.len();
    let apart = program.steps.iter().filter(|step| step.is_apart()).count();
    let (is_small, is_deep) = (steps <= SMALL.0, loops >= DEEP && known.is_none());
    let shortest = if is_small { SMALL.1 } else { FEW };
    let fits = known.is_none_or(|len| (shortest..=MANY).contains(&len));
    (fits && !(is_small && is_deep) && APART * apart <= steps).then_some(shortest)
}

/// What is done before the loop; where a check fails, the loop runs one by one.
fn prepare(body: &mut Body<'_, '_, '_>, before: &[Before], made: &Loop<'_>, rest: Block) {
    for before in before {
        let fails = match before {
            Before::Set(local, word, value) => {
                body.fresh(*local, *word);
                let value = body.value(value, *word);
                body.assign(*local, value);
                continue;
            }
            Before::Check(cond) => body.operand(*cond),
            Before::Range(first, step, size) => leaves(body, made.len, *first, *step, *size),
        };
        let on = body.builder.create_block();
        body.builder.set_cold_block(on);
        body.builder.ins().brif(fails, rest, &[], on, &[]);
        body.enter(on);
    }
}

/// The first iteration, the one after the last, and what the counter is then.
fn range(body: &mut Body<'_, '_, '_>, plan: &Plan<'_>, made: &Loop<'_>) -> [Value; 3] {
    let zero = body.builder.ins().iconst(types::I64, 0);
    let one_less = body.builder.ins().iadd_imm_s(made.len, -1);
    // The last iteration, which of a loop backwards is the first one of its indices, is done alone if it is to be kept.
    match (plan.keep_last, made.backward) {
        (false, false) => [zero, made.len, made.len],
        (false, true) => [zero, made.len, zero],
        (true, false) => [zero, one_less, one_less],
        (true, true) => {
            let one = body.builder.ins().iconst(types::I64, 1);
            [one, made.len, one]
        }
    }
}

/// Whether what moves leaves a range: if neither its first nor its last number does, none does.
fn leaves(body: &mut Body<'_, '_, '_>, len: Value, first: Operand, step: i64, size: Operand) -> Value {
    let (first, size) = (body.operand(first), body.operand(size));
    let steps = body.builder.ins().iadd_imm_s(len, -1);
    let way = body.builder.ins().imul_imm_s(steps, step);
    let last = body.builder.ins().iadd(first, way);
    let outside = IntCC::UnsignedGreaterThanOrEqual;
    let first = body.builder.ins().icmp(outside, first, size);
    let last = body.builder.ins().icmp(outside, last, size);
    body.builder.ins().bor(first, last)
}

/// What is carried, of what is in memory: the sum, or as many parts as there are in a vector.
fn total(body: &mut Body<'_, '_, '_>, carried: Carried, lanes: usize, (base, offset): (Value, i32)) -> Value {
    let old = body.read(carried.local);
    match carried.how {
        How::Sum => {
            let sum = body.builder.ins().load(types::F64, flags(), base, offset);
            body.builder.ins().fadd(old, sum)
        }
        How::Extreme(compare) => {
            let mut best = old;
            for at in (offset..).step_by(8).take(lanes) {
                let x = body.builder.ins().load(types::F64, flags(), base, at);
                let better = body.builder.ins().fcmp(float_condition(compare), x, best);
                let none = body.builder.ins().fcmp(FloatCC::Unordered, x, x);
                let was_one = body.builder.ins().fcmp(FloatCC::Ordered, best, best);
                let none = body.builder.ins().band(none, was_one);
                let better = body.builder.ins().bor(better, none);
                best = body.builder.ins().select(better, x, best);
            }
            best
        }
    }
}

impl Compiler<'_> {
    /// A function of which the bytes are known.
    fn bytes(&mut self, code: Vec<u8>) -> Result<ModuleFunc, String> {
        let mut signature = self.module.make_signature();
        signature.params = vec![AbiParam::new(types::I64); 3];
        signature.call_conv = CallConv::PreserveAll;
        let name = format!("wide{}", self.wides);
        self.wides += 1;
        let id = self.module.declare_function(&name, Linkage::Local, &signature).map_err(super::internal)?;
        let made = super::keep::define_bytes(&mut self.module, id, code)?;
        self.keep(Some(made));
        Ok(id)
    }
}

#[cfg(test)]
pub(super) mod tests;
