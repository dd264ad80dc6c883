//! From the polymorphic core to closed, simply typed programs: what the calculi and the engine both start from.
//!
//! [`simple`] is the language of such programs, [`bridge`] the way there; [`simple_check`] checks one and [`simple_show`] prints it.

pub mod bridge;
pub mod errors;
pub mod simple;
pub mod simple_check;
pub mod simple_show;
