//! The tests of the command: the built program runs in folders of their own.

mod check_and_fmt;
mod evaluate;
mod folder;
mod help_and_repl;
