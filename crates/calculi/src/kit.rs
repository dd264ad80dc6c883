//! What the calculi share: traces, results, the bridge from the core, and what they offer to the command. Terms, types,
//! rules and reducers are each calculus's own.

pub mod errors;
pub mod fit;
pub mod graph;
pub mod ground;
pub mod json;
pub mod plot;
pub mod show;
pub mod svg;
pub mod system;
pub mod trace;

pub use wengert_mono::{bridge, simple, simple_check, simple_show};
