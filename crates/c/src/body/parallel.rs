//! Loops by parts: the words that describe one, as `runtime/threads.c` says.

use super::Body;
use crate::text::Level;
use wengert_ir::program::FuncId;
use wengert_native::joins;
use wengert_native::loops::{Local, Operand, Sum, Word};

/// How many words stand before the captured ones.
const HEAD: usize = 7;

impl Body<'_, '_> {
    pub(super) fn parallel(
        &mut self,
        part: FuncId,
        (len, backward, work): (Operand, bool, Operand),
        captured: &[Local],
        sums: &[Sum],
    ) {
        self.unit.needs_threads();
        let words: Vec<Local> = words(sums).collect();
        let joins = joins(sums, &|local| self.word(local) == Word::Real);
        let real: Vec<bool> = words.iter().map(|local| self.word(*local) == Word::Real).collect();
        let arrays = sums.iter().filter(|sum| matches!(sum, Sum::Array { .. })).count();
        let near = sums.iter().any(|sum| matches!(sum, Sum::Near(_)));
        let shared = self.unit.program.funcs.get(part).is_some_and(|part| part.shared);
        let way = u8::from(backward) + 2 * u8::from(near) + 4 * u8::from(shared);
        let mut info = vec![self.word_text(len), self.word_text(work), way.to_string()];
        info.extend([captured.len(), words.len()].map(|count| count.to_string()));
        info.extend([format!("{joins:#x}"), arrays.to_string()]);
        for local in captured.iter().chain(&words) {
            info.push(self.word_text(Operand::Local(*local)));
        }
        for sum in sums {
            if let Sum::Array { object: _, first, size } = sum {
                let place = captured.iter().position(|local| local == first).unwrap_or(0);
                info.push(place.to_string());
                info.push(self.word_text(*size));
            }
        }
        self.flush(|pending| pending.reads);
        let name = self.unit.temporary();
        self.put(&format!("word {name}[] = {{{}}};", info.join(", ")));
        let line = format!("wg_parallel(r, {}, {name});", self.unit.part(part));
        self.put(&line);
        for ((place, local), real) in (HEAD + captured.len()..).zip(words).zip(real) {
            let found = format!("{name}[{place}]");
            let found = if real { format!("wg_of_bits({found})") } else { found };
            let line = format!("{} = {found};", self.name(local));
            self.put(&line);
        }
    }

    fn word_text(&mut self, operand: Operand) -> String {
        self.integer(operand).at(Level::Conditional)
    }
}

/// The variables among sums.
fn words(sums: &[Sum]) -> impl Iterator<Item = Local> + '_ {
    sums.iter().filter_map(|sum| if let Sum::Word(local, _) = sum { Some(*local) } else { None })
}
