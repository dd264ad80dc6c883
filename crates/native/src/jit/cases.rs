//! Statements that are one of several, by a number.

use super::body::Body;
use crate::loops::{Operand, Stmt, alike};
use cranelift_codegen::ir::{Block, InstBuilder};
use cranelift_frontend::Switch;

impl Body<'_, '_, '_> {
    pub(super) fn switch(&mut self, on: Operand, cases: &[Vec<Stmt>]) {
        let on = self.operand(on);
        let after = self.builder.create_block();
        let mut blocks: Vec<Block> = Vec::with_capacity(cases.len());
        let first = alike(cases);
        for first in &first {
            let block = blocks.get(*first).copied().unwrap_or_else(|| self.builder.create_block());
            blocks.push(block);
        }
        let Some((last, others)) = blocks.split_last() else {
            self.trap();
            self.enter(after);
            return;
        };
        let mut switch = Switch::new();
        for (number, block) in (0..).zip(others) {
            switch.set_entry(number, *block);
        }
        switch.emit(&mut self.builder, on, *last);
        for (number, (block, stmts)) in blocks.iter().zip(cases).enumerate() {
            if first.get(number) != Some(&number) {
                continue;
            }
            self.enter(*block);
            self.stmts(stmts);
            if !self.is_done() {
                self.builder.ins().jump(after, &[]);
            }
        }
        self.enter(after);
    }
}
