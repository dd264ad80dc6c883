//! Functions that call themselves once on each way through them become loops.
//!
//! ```text
//! value(n, x) = if n == 0 { x } else { sin(value(n - 1, x)) }
//!
//! becomes    n2, units = while n != 0 { n - 1 }       the way down: what each call computes before the next one
//!            for backward unit in units, y = x { sin(y) }    the way up, from the result of the innermost call
//! ```
//!
//! What the way up needs of a call is kept as rows of arrays, one after the other, and nothing is kept of what is the same in
//! all calls. Where nothing is left to be done after a call, there is no way up. So a derivative keeps arrays instead of
//! a tape of linked pieces, and a deep call is no matter of the stack.
//!
//! Whether there is a further call is asked before each round, so this must be cheap and sure to give an answer. What a call does first and
//! all calls do alike is done once before, so it need not be either. Everything else is
//! done as often and in the order in which the calls did it. If nothing else is kept, `()` is: what never ends fails
//! for want of memory, as it did.

mod make;
mod plan;

use wengert_ir::Program;

/// See the module.
pub(crate) fn run(program: &mut Program) {
    for id in program.funcs.ids() {
        let func = program.funcs.at(id);
        let Some((first, rest)) = plan::apart(id, func) else { continue };
        if let Some(made) = plan::plan(id, &rest, &first).and_then(|plan| make::make(&rest, &plan, &first)) {
            *program.funcs.at_mut(id) = made;
        }
    }
}

#[cfg(test)]
mod tests;
