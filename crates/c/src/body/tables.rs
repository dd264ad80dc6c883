//! Many known numbers that are stored side by side are a table, and a loop that copies it: C compilers take long over thousands of
//! assignments.
//!
//! ```text
//! p[0] = 1.5; p[1] = 2.5; …        static const double wg_table[] = {1.5, 2.5, …};
//!                                  for (word wg_i = 0; wg_i < 64; wg_i++) (&p[0])[wg_i] = wg_table[wg_i];
//! ```

use super::{Block, Body};
use wengert_native::loops::{Operand, Stmt};

/// Fewer stores stay as they are.
const LEAST: usize = 64;

/// A line of a table has no more characters, but for the last number.
const WIDE: usize = 100;

impl Body<'_, '_> {
    /// How many statements at the beginning are such stores; 0 if they are few.
    pub(super) fn table_length(&self, stmts: &[Stmt]) -> usize {
        let Some(Stmt::Store { base, index: Operand::Int(first), offset, value }) = stmts.first() else {
            return 0;
        };
        let is_real = matches!(value, Operand::Real(_));
        let first = first.wrapping_add(i64::from(*offset));
        let follows = |stmt: &Stmt, place: i64| {
            let Stmt::Store { base: own, index: Operand::Int(index), offset, value } = stmt else {
                return false;
            };
            let is_known = match value {
                Operand::Real(_) => is_real,
                Operand::Int(_) => !is_real,
                Operand::Local(_) | Operand::Text(_) => false,
            };
            let is_next = index.wrapping_add(i64::from(*offset)) == place;
            own == base && is_next && is_known && self.cell(*own, Operand::Int(*index), *offset).is_none()
        };
        let places = stmts.iter().enumerate().map(|(i, stmt)| (stmt, first.wrapping_add(i as i64)));
        let length = places.take_while(|(stmt, place)| follows(stmt, *place)).count();
        if length < LEAST || self.strip.is_some() { 0 } else { length }
    }

    /// Stores as a table.
    pub(super) fn table(&mut self, stmts: &[Stmt], (block, place): (Block, u32)) {
        let (mut lines, mut target) = (vec![String::new()], None);
        for (place, stmt) in (place..).zip(stmts) {
            self.declare((block, place), None);
            let Stmt::Store { base, index, offset, value } = stmt else { continue };
            let text = self.stored(*value).text;
            if target.is_none() {
                let is_real = self.is_real(*value);
                target = Some((is_real, self.element(*base, *index, *offset, is_real).text));
            }
            match lines.last_mut() {
                Some(line) if line.len() + text.len() < WIDE => line.push_str(&format!("{text}, ")),
                Some(_) | None => lines.push(format!("{text}, ")),
            }
        }
        let Some((is_real, target)) = target else { return };
        self.flush_reads();
        let word = if is_real { "double" } else { "word" };
        self.put("{");
        self.put(&format!("    static const {word} wg_table[] = {{"));
        for line in lines {
            self.put(&format!("        {}", line.trim_end()));
        }
        self.put("    };");
        let count = stmts.len();
        self.put(&format!(
            "    for (word wg_i = 0; wg_i < {count}; wg_i++) (&{target})[wg_i] = wg_table[wg_i];"
        ));
        self.put("}");
    }
}
