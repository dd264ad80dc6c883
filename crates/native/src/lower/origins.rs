//! What the variables of the loop IR are in the source, so that printed code can be read.

use super::{ArrayPlace, Operand, Place};
use crate::loops::{Local, Origin, Part};
use rustc_hash::FxHashMap;
use wengert_base::Span;
use wengert_ir::{Func, Var};

/// The origins of the variables that hold the values of variables of the IR; the first counts.
pub(super) fn origins(func: &Func, places: &FxHashMap<Var, Place>) -> FxHashMap<Local, Origin> {
    let mut spans: FxHashMap<Var, Span> = FxHashMap::default();
    func.body.for_each_stmt(&mut |stmt| spans.extend(stmt.outs.iter().map(|out| (*out, stmt.span))));
    let mut origins = FxHashMap::default();
    for (var, info) in func.vars.iter() {
        let span = spans.get(&var).copied().unwrap_or(func.span);
        let mut note = |operand: Operand, part: Part| {
            if let Operand::Local(local) = operand {
                origins.entry(local).or_insert(Origin { name: info.name, part, span });
            }
        };
        match places.get(&var) {
            None => {}
            Some(Place::Plain(operand) | Place::Counted(operand)) => note(*operand, Part::Value),
            Some(Place::Array(ArrayPlace { object, first, dims, elem: _ })) => {
                note(*first, Part::Value);
                object.iter().for_each(|object| note(Operand::Local(*object), Part::Object));
                match dims.as_slice() {
                    [size] => note(*size, Part::Size),
                    dims => {
                        dims.iter().enumerate().for_each(|(axis, size)| note(*size, Part::SizeAlong(axis)))
                    }
                }
            }
        }
    }
    origins
}
