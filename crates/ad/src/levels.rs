//! Functions that ask for their own derivatives.
//!
//! The function that applies function values is one: among the values may be the tangent of a function, and to apply that is
//! to differentiate the application. What order of derivative is needed only running tells. So there are copies of such a
//! function, and of all that takes part:
//!
//! ```text
//! apply_2 asks for the derivative of apply_1, which asks for that of apply_0, which fails if it would have to ask
//! ```
//!
//! Function values nest as deep as derivatives of functions that give functions do in the program: rarely more than twice.

#![expect(clippy::wildcard_enum_match_arm, reason = "calls and requests are named, the others stay")]

use crate::{Ad, deep};
use wengert_ir::op::{Atom, Block, Op, Rule};
use wengert_ir::program::FuncId;

/// How often a function may ask for its own derivative, each time for that of a copy.
pub(crate) const LEVELS: usize = 2;

/// What running ends with beyond that.
pub(crate) const TOO_DEEP: &str =
    "a derivative of a function that asks for its own derivative, to a higher order than the engine makes";

impl Ad {
    /// A copy of a function that may ask for derivatives of what is not ready so many times more.
    pub(crate) fn at_level(&mut self, func: FuncId, level: usize) -> FuncId {
        if self.is_ready(func) {
            return func;
        }
        if let Some(known) = self.levels.get(&(func, level)) {
            return *known;
        }
        let mut copy = self.program.funcs.at(func).clone();
        let id = self.program.funcs.push(copy.clone());
        self.levels.insert((func, level), id);
        self.redirect(&mut copy.body, level);
        *self.program.funcs.at_mut(id) = copy;
        id
    }

    fn redirect(&mut self, block: &mut Block, level: usize) {
        deep(|| {
            for stmt in &mut block.stmts {
                match &mut stmt.op {
                    Op::Call { func, .. } => *func = self.at_level(*func, level),
                    Op::Custom(parts) => {
                        parts.func = self.at_level(parts.func, level);
                        parts.rule = match parts.rule {
                            Rule::Jvp(rule) => Rule::Jvp(self.at_level(rule, level)),
                            Rule::Vjp(rule, apply) => {
                                Rule::Vjp(self.at_level(rule, level), self.at_level(apply, level))
                            }
                        };
                    }
                    Op::Jvp { func, .. } if !self.is_ready(*func) => match level.checked_sub(1) {
                        Some(below) => *func = self.at_level(*func, below),
                        None => stmt.op = Op::Fail { message: Atom::Text(TOO_DEEP.into()) },
                    },
                    Op::Linearize { linear, .. }
                    | Op::Forward { linear, .. }
                    | Op::Backward { linear, .. } => {
                        let func = self.program.linears.at(*linear).func;
                        if !self.is_ready(func) {
                            stmt.op = Op::Fail { message: Atom::Text(TOO_DEEP.into()) };
                        }
                    }
                    Op::Taylor { func, .. } if !self.is_ready(*func) => {
                        stmt.op = Op::Fail { message: Atom::Text(TOO_DEEP.into()) };
                    }
                    other => other.blocks_mut().into_iter().for_each(|inner| self.redirect(inner, level)),
                }
            }
        });
    }
}
