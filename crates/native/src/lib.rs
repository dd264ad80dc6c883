//! The back ends: from the array IR to machine code.
//!
//! [`loops`] is the language that all back ends print: explicit loops over flat memory, with counted references.

mod before;
mod blocks;
mod cells;
mod choices;
mod compiled;
mod dead;
mod edges;
pub mod faults;
mod forms;
mod headers;
mod jit;
mod levels;
pub mod library;
mod live;
pub mod loops;
pub mod lower;
mod memory;
mod neighbors;
mod outline;
mod parallel;
mod powers;
mod runtime;
pub mod saved;
mod sized;
mod straight;
mod strands;
mod strides;
mod values;

/// The loop program of an IR program, which is verified and has no derivative left to make, with the parts of loops that may be
/// divided between threads. If `exact`, reals are added in the order of the source; else loops that can be run in vectors are
/// without branches, and add to one row of an array each. `short_loops` are divided for tests.
pub fn divided(program: &wengert_ir::Program, exact: bool, short_loops: bool) -> loops::Program {
    let mut loops = lower::lower(program);
    sized::use_numbers(&mut loops);
    headers::read(&mut loops);
    before::places(&mut loops);
    parallel::divide(&mut loops, exact, short_loops);
    // What prints these loops makes checks of innermost ones before them itself.
    edges::split(&mut loops, false);
    strides::free(&mut loops);
    if !exact {
        strands::split(&mut loops);
        straight::straighten(&mut loops);
        powers::split(&mut loops, false);
        powers::straighten(&mut loops);
    }
    loops
}

pub use compiled::{Compiled, LANES, Loaded, Manner, Math, clif};
pub use memory::Reads;
pub use parallel::joins;
pub use runtime::blocks::{Level, levels as vector_levels};

#[cfg(test)]
mod beside;
