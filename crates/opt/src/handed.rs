//! What a loop hands on from step to step as it came is what the loop began with.
//!
//! ```text
//! a, b = for i < n, s = 1.0, t = b0 {                   a, b = for i < n, s = 1.0, t = b0 {
//!   c, d = for j < m, u = s, v = t {         becomes      c, d = for j < m, u = 1.0, v = t {
//!     yield u, v + u                                        yield 1.0, v + 1.0
//!   }                                                     }
//!   yield c, d                                            yield 1.0, d
//! }                                                     }
//! ```
//!
//! So it is in derivatives of sums of sums: a cotangent goes through all loops as it is. What is then neither used nor asked for is
//! dropped by `dce`. Cotangents of what is read in each step add up in another order than those of what is handed on: this is for
//! where the order may be another one.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed hands nothing on")]

use crate::known::is_same;
use crate::walk::{Forward, Names};
use wengert_ir::op::{Mode, Op};
use wengert_ir::{Atom, Block, Func, Program, Stmt, Var};

/// See the module.
pub(crate) fn run(program: &mut Program) {
    for (_, func) in program.funcs.iter_mut() {
        Handed::default().function(func);
    }
}

#[derive(Default)]
struct Handed {
    names: Names,
}

impl Forward for Handed {
    fn names(&mut self) -> &mut Names {
        &mut self.names
    }

    fn stmt(&mut self, _func: &mut Func, _out: &mut Vec<Stmt>, stmt: &mut Stmt) -> Option<Vec<Atom>> {
        let carried = Carried::of(&stmt.op)?;
        let begins = carried.init.iter().enumerate().filter(|(place, _)| carried.hands_on(*place));
        for (place, begin) in begins {
            let params = [Some(carried.body), carried.cond].into_iter().flatten();
            let bound = params.filter_map(|block| block.params.get(carried.first + place));
            for var in bound.chain(stmt.outs.get(place)) {
                self.names.set(*var, begin.clone());
            }
        }
        None
    }
}

/// What a loop carries from step to step.
struct Carried<'o> {
    init: &'o [Atom],
    cond: Option<&'o Block>,
    body: &'o Block,
    /// The place of the first carried value among the parameters of the body.
    first: usize,
}

impl<'o> Carried<'o> {
    fn of(op: &'o Op) -> Option<Carried<'o>> {
        match op {
            Op::Loop(parts) if parts.mode != Mode::Reduce => {
                Some(Carried { init: &parts.init, cond: None, body: &parts.body, first: 1 })
            }
            Op::While(parts) => {
                Some(Carried { init: &parts.init, cond: Some(&parts.cond), body: &parts.body, first: 0 })
            }
            _ => None,
        }
    }

    /// Whether each step hands the value at a place on as it came.
    fn hands_on(&self, place: usize) -> bool {
        let ends =
            (self.init.get(place), self.body.params.get(self.first + place), self.body.results.get(place));
        let (Some(begin), Some(param), Some(end)) = ends else { return false };
        is_same(begin, end) || is_still(self.body, *param, end)
    }
}

/// Whether what a block gives is its parameter, perhaps handed on by loops inside.
fn is_still(body: &Block, param: Var, end: &Atom) -> bool {
    let Some(end) = end.var() else { return false };
    if end == param {
        return true;
    }
    let makes = |stmt: &&Stmt| stmt.outs.contains(&end);
    let Some(stmt) = body.stmts.iter().rev().find(makes) else { return false };
    let Some(carried) = Carried::of(&stmt.op) else { return false };
    let place = stmt.outs.iter().position(|out| *out == end);
    place.is_some_and(|place| {
        let began = carried.init.get(place).is_some_and(|begin| is_still(body, param, begin));
        began && stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || carried.hands_on(place))
    })
}
