//! Liveness and registers.
//!
//! Jumps only go forward, so one backward walk finds what is live after each instruction: at a jump the sets of both
//! successors are joined, and the set at a jump's target is kept from when the walk passes the target until it has
//! passed the last jump to it. An operand whose register is not live afterwards becomes [`Operand::Last`].
//!
//! Registers are then assigned in one forward walk: a virtual register occupies a slot from its first write to its last
//! mention, slots of ended intervals are used again, and the parameters begin in slots 0, 1, ….

use super::instr::{Instr, Member, Operand};
use rustc_hash::FxHashMap;

/// A set of virtual registers.
#[derive(Clone)]
struct Live(Vec<u64>);

impl Live {
    fn insert(&mut self, register: u32) -> bool {
        let Some(word) = self.0.get_mut(register as usize / 64) else { return false };
        let bit = 1 << (register % 64);
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    fn remove(&mut self, register: u32) {
        if let Some(word) = self.0.get_mut(register as usize / 64) {
            *word &= !(1 << (register % 64));
        }
    }

    fn join(&mut self, other: &Live) {
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            *word |= more;
        }
    }
}

/// Marks last uses.
pub(crate) fn mark_last_uses(
    instrs: &mut [Instr],
    operands: &mut [Operand],
    members: &mut [Member],
    registers: u32,
) {
    let mut jumps_to: FxHashMap<usize, u32> = FxHashMap::default();
    for (at, instr) in instrs.iter().enumerate() {
        if let Some(skip) = instr.skip() {
            *jumps_to.entry(at + 1 + skip as usize).or_default() += 1;
        }
    }
    let nothing = Live(vec![0; registers as usize / 64 + 1]);
    let mut live = nothing.clone();
    let mut live_at: FxHashMap<usize, Live> = FxHashMap::default();
    for (at, instr) in instrs.iter_mut().enumerate().rev() {
        if jumps_to.contains_key(&(at + 1)) {
            live_at.insert(at + 1, live.clone());
        }
        if instr.ends() {
            live = nothing.clone();
        }
        if let Some(skip) = instr.skip() {
            let target = at + 1 + skip as usize;
            if let Some(there) = live_at.get(&target) {
                live.join(there);
            }
            if let Some(count) = jumps_to.get_mut(&target) {
                *count -= 1;
                if *count == 0 {
                    live_at.remove(&target);
                }
            }
        }
        instr.visit_results(members, |dst| live.remove(*dst));
        // The last mention within one instruction is the one that moves; the ones before it copy.
        let mut mentions = Vec::new();
        instr.visit_operands(operands, |operand| {
            if let Operand::Local(register) = operand {
                mentions.push(*register);
            }
        });
        let moves: Vec<bool> = mentions.iter().rev().map(|register| live.insert(*register)).collect();
        let mut moves = moves.into_iter().rev();
        instr.visit_operands(operands, |operand| {
            if let Operand::Local(register) = *operand
                && moves.next() == Some(true)
            {
                *operand = Operand::Last(register);
            }
        });
    }
}

/// Replaces virtual registers by slots; gives the size of the frame. The first `params` registers are the parameters.
pub(crate) fn assign_slots(
    instrs: &mut [Instr],
    operands: &mut [Operand],
    members: &mut [Member],
    params: u32,
    registers: u32,
) -> u32 {
    let last_mention = last_mentions(instrs, operands, members, registers);
    let ends_at =
        |register: u32, at: usize| last_mention.get(register as usize).is_none_or(|last| *last <= at + 1);
    let mut slots: FxHashMap<u32, u32> = (0..params).map(|param| (param, param)).collect();
    let mut free: Vec<u32> =
        (0..params).rev().filter(|p| last_mention.get(*p as usize) == Some(&0)).collect();
    let mut size = params;
    for (at, instr) in instrs.iter_mut().enumerate() {
        // Operands are read before results are written, so a slot that ends here may be written here; but not if the
        // same register is written as well.
        let mut ended = Vec::new();
        instr.visit_operands(operands, |operand| {
            if let Operand::Local(register) | Operand::Last(register) = operand {
                let slot = slots.get(register).copied().unwrap_or(0);
                if ends_at(*register, at) && slots.remove(register).is_some() {
                    ended.push((*register, slot));
                }
                let slot = ended.iter().find(|(r, _)| r == register).map_or(slot, |(_, slot)| *slot);
                *register = slot;
            }
        });
        free.extend(ended.iter().map(|(_, slot)| *slot));
        let mut unused = Vec::new();
        instr.visit_results(members, |dst| {
            let register = *dst;
            let slot = *slots.entry(register).or_insert_with(|| {
                free.pop().unwrap_or_else(|| {
                    size += 1;
                    size - 1
                })
            });
            // A result that nobody mentions again is free at once, but only for later instructions.
            if ends_at(register, at) {
                slots.remove(&register);
                unused.push(slot);
            }
            *dst = slot;
        });
        free.extend(unused);
    }
    size
}

/// Position of the last mention of each register, counted from 1; 0 if it has none.
fn last_mentions(
    instrs: &mut [Instr],
    operands: &mut [Operand],
    members: &mut [Member],
    registers: u32,
) -> Vec<usize> {
    let mut last_mention = vec![0_usize; registers as usize];
    for (at, instr) in instrs.iter_mut().enumerate() {
        let mut mention = |register: u32| {
            if let Some(last) = last_mention.get_mut(register as usize) {
                *last = at + 1;
            }
        };
        instr.visit_operands(operands, |operand| {
            if let Operand::Local(register) | Operand::Last(register) = operand {
                mention(*register);
            }
        });
        instr.visit_results(members, |dst| mention(*dst));
    }
    last_mention
}
