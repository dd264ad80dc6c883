//! The words on the stack in which calls are given numbers, or give them.
//!
//! They are the same for all calls of a function, which read at once what they are given: addresses of different ones would be computed
//! before the loops around, and kept through all of them.

use super::body::Body;
use cranelift_codegen::ir::{InstBuilder, StackSlotData, StackSlotKind, Value, types};

impl Body<'_, '_, '_> {
    /// The address of so many words for a call.
    pub(super) fn area(&mut self, words: usize) -> Value {
        let bytes = u32::try_from(words.max(1) * 8).unwrap_or(u32::MAX);
        let new = || StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 3);
        let area = *self.area.get_or_insert_with(|| self.builder.create_sized_stack_slot(new()));
        if let Some(area) = self.builder.func.sized_stack_slots.get_mut(area) {
            area.size = area.size.max(bytes);
        }
        self.builder.ins().stack_addr(types::I64, area, 0)
    }
}
