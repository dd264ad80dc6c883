//! The four papers as executable calculi.
//!
//! Each is a formal system with its paper's syntax, typing, rules and theorems: [`kit`] holds only what a trace, a result
//! and a translation from the core look like, so that they can be compared.

pub mod delta;
pub mod kit;
pub mod negation;
pub mod perturbative;
pub mod pullback;

/// The calculi that the program offers, in the order of the papers. Each adds itself here.
pub fn systems() -> &'static [&'static dyn kit::system::System] {
    &[
        &pullback::Pullback,
        &pullback::Differential,
        &perturbative::Perturbative,
        &negation::Negation,
        &delta::Delta,
    ]
}

/// The calculus of that name.
pub fn system(name: &str) -> Option<&'static dyn kit::system::System> {
    systems().iter().copied().find(|system| system.name() == name)
}
