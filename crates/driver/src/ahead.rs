//! Constants, which machine code computes before all else.
//!
//! ```text
//! def table = build 100 (\i -> if i > 50 then fail "no row" else row i)
//! def f x = if x > 0.0 then x else sum table
//! ```
//!
//! The interpreter computes `table` when it is first needed, and perhaps never; compiled code when it starts. Both find the same
//! value. If there is none, it may be that nobody needs it, or that something else would have failed before: then the
//! interpreter has to say what happens. Whether that may be so the place of the failure tells.

use crate::emit::reached;
use indexmap::IndexSet;
use wengert_base::{Name, Span};
use wengert_core::{Program, TermKind};

/// Whether what fails at that place may be a constant that `entry` uses, or what is needed to compute one.
pub(crate) fn may_be_of_a_constant(program: &Program, entry: Name, place: Span) -> bool {
    let is_constant = |name: &Name| {
        let body = program.defs.get(name).map(|def| &def.body.kind);
        *name != entry && body.is_some_and(|kind| !matches!(kind, TermKind::Lam { .. }))
    };
    let names = reached(program, IndexSet::from([entry]));
    let constants: IndexSet<Name> = names.into_iter().filter(is_constant).collect();
    reached(program, constants).iter().filter_map(|name| program.defs.get(name)).any(|def| {
        let span = def.body.span;
        span.source == place.source && span.start <= place.start && place.end <= span.end
    })
}
