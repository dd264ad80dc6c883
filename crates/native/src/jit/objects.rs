//! Objects in memory: made, counted and freed.

use super::body::Body;
use super::flags;
use crate::loops::{Kind, Operand};
use crate::runtime::context;
use crate::runtime::heap::SMALL;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AtomicRmwOp, Block, InstBuilder, Value, types};

impl Body<'_, '_, '_> {
    /// Does `build` unless the reference is a constructor without fields.
    fn if_object(&mut self, object: Value, kind: Kind, build: impl FnOnce(&mut Self)) {
        if !matches!(kind, Kind::Data(_)) {
            build(self);
            return;
        }
        let odd = self.builder.ins().band_imm_s(object, 1);
        let (inside, after) = (self.builder.create_block(), self.builder.create_block());
        self.builder.ins().brif(odd, after, &[], inside, &[]);
        self.enter(inside);
        build(self);
        self.builder.ins().jump(after, &[]);
        self.enter(after);
    }

    pub(super) fn retain(&mut self, object: Operand, kind: Kind) {
        if matches!(object, Operand::Text(_) | Operand::Int(_)) {
            return;
        }
        let object = self.operand(object);
        self.if_object(object, kind, |this| {
            this.where_shared(
                |this| {
                    let one = this.builder.ins().iconst(types::I64, 1);
                    this.builder.ins().atomic_rmw(types::I64, flags(), AtomicRmwOp::Add, object, one);
                },
                |this| {
                    let count = this.count(object);
                    let count = this.builder.ins().iadd_imm_s(count, 1);
                    this.builder.ins().store(flags(), count, object, 0);
                },
            );
        });
    }

    /// How many references to an object there are. If it is one, that is nobody else's to change.
    pub(super) fn count(&mut self, object: Value) -> Value {
        if self.func.shared {
            self.builder.ins().atomic_load(types::I64, flags(), object)
        } else {
            self.builder.ins().load(types::I64, flags(), object, 0)
        }
    }

    /// Does one thing while other threads may refer to the same objects, and else the other.
    fn where_shared(&mut self, shared: impl FnOnce(&mut Self), own: impl FnOnce(&mut Self)) {
        if !self.func.shared {
            return own(self);
        }
        let sharing = self.builder.ins().load(types::I64, flags(), self.state, context::SHARING);
        let (several, one, after) =
            (self.builder.create_block(), self.builder.create_block(), self.builder.create_block());
        self.builder.ins().brif(sharing, several, &[], one, &[]);
        self.enter(several);
        shared(self);
        self.builder.ins().jump(after, &[]);
        self.enter(one);
        own(self);
        self.builder.ins().jump(after, &[]);
        self.enter(after);
    }

    /// Puts a small object into the list of those of its size.
    pub(super) fn free(&mut self, object: Operand) {
        let object = self.operand(object);
        self.put_among_free(object);
    }

    fn put_among_free(&mut self, object: Value) {
        let words = self.builder.ins().load(types::I64, flags(), object, -8);
        let words = self.builder.ins().band_imm_u(words, i64::from(u32::MAX));
        let large = self.builder.ins().icmp_imm_s(IntCC::UnsignedGreaterThan, words, SMALL as i64);
        let (system, list, after) =
            (self.builder.create_block(), self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(system);
        self.builder.ins().brif(large, system, &[], list, &[]);
        self.enter(system);
        let quiet = std::mem::replace(&mut self.quiet, true);
        self.import("free", &[self.state, object]);
        self.quiet = quiet;
        self.builder.ins().jump(after, &[]);
        self.enter(list);
        let bytes = self.builder.ins().ishl_imm_s(words, 3);
        let first = self.builder.ins().iadd(self.state, bytes);
        let next = self.builder.ins().load(types::I64, flags(), first, context::FREE);
        self.builder.ins().store(flags(), next, object, 0);
        self.builder.ins().store(flags(), object, first, context::FREE);
        self.builder.ins().jump(after, &[]);
        self.enter(after);
    }

    /// A new object; of data, whose words are known, the constructor stands before it with them.
    pub(super) fn alloc(&mut self, words: Operand, site: u32, ctor: Option<u32>) -> Value {
        let object = self.alloc_words(words, site);
        if let Some(ctor) = ctor
            && let Operand::Int(words) = words
        {
            let before = words.min(i64::from(u32::MAX)) | i64::from(ctor) << 32;
            let before = self.builder.ins().iconst(types::I64, before);
            self.builder.ins().store(flags(), before, object, -8);
        }
        object
    }

    /// The first free object of its size, if the size is known to be small and there is one.
    fn alloc_words(&mut self, words: Operand, site: u32) -> Value {
        let small = match words {
            Operand::Int(n) => i32::try_from(n).ok().filter(|n| *n > 0 && *n as usize <= SMALL),
            Operand::Local(_) | Operand::Real(_) | Operand::Text(_) => None,
        };
        let words = self.operand(words);
        let Some(size) = small else {
            let site = self.builder.ins().iconst(types::I64, i64::from(site));
            return self.import("alloc", &[self.state, words, site]).unwrap_or(words);
        };
        let place = context::FREE + 8 * size;
        let (none, some, after) =
            (self.builder.create_block(), self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(none);
        self.builder.append_block_param(after, types::I64);
        let first = self.builder.ins().load(types::I64, flags(), self.state, place);
        self.builder.ins().brif(first, some, &[], none, &[]);
        self.enter(none);
        let site = self.builder.ins().iconst(types::I64, i64::from(site));
        // Of some dozen objects made one after another one is not in the list: what lives across that stays in registers.
        let quiet = std::mem::replace(&mut self.quiet, true);
        let made = self.import("alloc", &[self.state, words, site]).unwrap_or(words);
        self.quiet = quiet;
        self.builder.ins().jump(after, &[made.into()]);
        self.enter(some);
        let next = self.builder.ins().load(types::I64, flags(), first, 0);
        self.builder.ins().store(flags(), next, self.state, place);
        let one = self.builder.ins().iconst(types::I64, 1);
        self.builder.ins().store(flags(), one, first, 0);
        self.builder.ins().jump(after, &[first.into()]);
        self.enter(after);
        self.builder.block_params(after).first().copied().unwrap_or(words)
    }

    pub(super) fn release(&mut self, object: Operand, kind: Kind) {
        if matches!(object, Operand::Text(_) | Operand::Int(_)) {
            return;
        }
        let object = self.operand(object);
        let number = self.compiler.kind(kind);
        self.if_object(object, kind, |this| {
            let (dead, alive) = (this.builder.create_block(), this.builder.create_block());
            if this.func.shared {
                this.release_shared(object, (dead, alive));
            } else {
                let count = this.builder.ins().load(types::I64, flags(), object, 0);
                let count = this.builder.ins().iadd_imm_s(count, -1);
                this.builder.ins().store(flags(), count, object, 0);
                let last = this.builder.ins().icmp_imm_s(IntCC::Equal, count, 0);
                this.builder.ins().brif(last, dead, &[], alive, &[]);
            }
            this.enter(dead);
            if matches!(kind, Kind::Text | Kind::Array(_)) && this.repeats() {
                // It refers to nothing else.
                this.put_among_free(object);
            } else {
                let number = this.builder.ins().iconst(types::I64, number);
                this.import("dismantle", &[this.state, object, number]);
            }
            this.builder.ins().jump(alive, &[]);
            this.enter(alive);
        });
    }

    /// One reference less to an object that other threads may refer to: goes where it is dead, or where it is alive.
    fn release_shared(&mut self, object: Value, (dead, alive): (Block, Block)) {
        let count = self.count(object);
        let others = self.builder.create_block();
        let last = self.builder.ins().icmp_imm_s(IntCC::Equal, count, 1);
        self.builder.ins().brif(last, dead, &[], others, &[]);
        self.enter(others);
        let (several, one) = (self.builder.create_block(), self.builder.create_block());
        let sharing = self.builder.ins().load(types::I64, flags(), self.state, context::SHARING);
        self.builder.ins().brif(sharing, several, &[], one, &[]);
        self.enter(one);
        let less = self.builder.ins().iadd_imm_s(count, -1);
        self.builder.ins().store(flags(), less, object, 0);
        self.builder.ins().jump(alive, &[]);
        self.enter(several);
        let by = self.builder.ins().iconst(types::I64, 1);
        let before = self.builder.ins().atomic_rmw(types::I64, flags(), AtomicRmwOp::Sub, object, by);
        let last = self.builder.ins().icmp_imm_s(IntCC::Equal, before, 1);
        self.builder.ins().brif(last, dead, &[], alive, &[]);
    }
}
