//! From closed, simply typed, higher-order programs to the array IR.
//!
//! ```text
//! simple::Program ──simplify──► simple::Program ──flow──► Tree ──captures──► Tree ──code──► ir::Program
//! ```
//!
//! - [`mod@simplify`] inlines, so that fewer functions are values and the code reads well.
//! - [`flow`] finds which functions each function value can be; [`tree`] is the program with that knowledge.
//! - [`captures`] finds what each function needs from around it.
//! - [`layout`] decides how values are represented: tuples as several values, functions by what they captured.
//! - [`context`] is the translation under way; [`code`], [`calls`], [`scalars`], [`arrays`], [`mod@derive`] translate terms;
//!   [`equal`], [`show`], [`vector`] make the functions that primitives on values of any type need.
//! - [`entry`] says how to pass values in and out.

mod arrays;
mod calls;
mod captures;
mod code;
mod context;
mod derive;
mod entry;
mod equal;
mod errors;
mod flow;
mod layout;
mod leaves;
mod names;
mod scalars;
mod show;
mod simplify;
mod tree;
mod vector;

pub use entry::{Entry, Layout};
pub use layout::Rows;
pub use simplify::simplify;
pub use wengert_mono::simple::Head;

use context::{Key, Lower};
use wengert_base::{Diagnostic, SourceId};
use wengert_mono::simple;

/// A program in the IR, and how to call it.
#[derive(Clone, Debug, PartialEq)]
pub struct Lowered {
    /// The program; requests for derivatives are operations in it.
    pub program: wengert_ir::Program,
    /// Its one entry.
    pub entry: Entry,
}

/// Translates a program of which nothing is noted: texts do not name the fields of records, and a failed check of a size in a type is
/// a `fail`.
pub fn lower(
    program: &simple::Program,
    is_library: &dyn Fn(SourceId) -> bool,
) -> Result<Lowered, Vec<Diagnostic>> {
    lower_with_notes(program, &simple::Notes::default(), is_library, usize::MAX, Rows::Regular)
}

/// Translates a program, with what [`wengert_mono::bridge::bridge_with_notes`] noted on it. What happens inside of a library
/// (`is_library`) is said to happen where the user's text calls it. If the term is a function, the entry takes its arguments,
/// at most `arity` of them. For ragged rows the program must tell records with one field from that field.
pub fn lower_with_notes(
    program: &simple::Program,
    notes: &simple::Notes,
    is_library: &dyn Fn(SourceId) -> bool,
    arity: usize,
    rows: Rows,
) -> Result<Lowered, Vec<Diagnostic>> {
    let mut notes = notes.clone();
    let program = simplify(program, &mut notes, is_library);
    let tree = flow::analyze(&program, &notes);
    simplify::dismantle(program.term);
    let mut tree = tree.map_err(|error| vec![error])?;
    captures::find(&mut tree);
    let mut lower = Lower::new(&tree, is_library, arity, rows);
    let entry = lower.request_entry();
    loop {
        while let Some((key, ty, id)) = lower.queue.pop_front() {
            match key {
                Key::Entry => lower.make_entry(id),
                Key::Lam(lam) => lower.make_code(id, lam),
                Key::Apply(flow, count) => lower.make_apply(id, flow, count, &ty),
                Key::Functional(site) => lower.make_functional(id, site),
                Key::Equal(ty) => lower.make_equal(id, &ty),
                Key::Show(ty, shown, argument) => lower.make_show(id, &ty, &shown, argument),
                Key::Vector(op, ty) => lower.make_vector(id, op, &ty),
            }
        }
        let types = lower.finish_types();
        let linears = lower.complete_linears();
        if !types && linears && lower.queue.is_empty() {
            break;
        }
    }
    let mut entry = lower.describe(entry);
    entry.uneven = rows == Rows::Regular && (lower.uneven || notes.singles);
    if lower.errors.is_empty() { Ok(Lowered { program: lower.program, entry }) } else { Err(lower.errors) }
}
