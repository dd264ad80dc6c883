//! A function for each command. Each gives the exit status, or the error of a stream that could not be written.

pub(crate) mod build;
pub(crate) mod calculus;
pub(crate) mod check;
pub(crate) mod fmt;
pub(crate) mod help;
pub(crate) mod measure;
pub(crate) mod run;
