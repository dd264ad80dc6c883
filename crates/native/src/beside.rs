//! For the tests of this crate: compiled code beside the evaluator of the IR, which it has to agree with.

use crate::{Compiled, Math};
use std::fmt::Display;
use std::sync::Arc;
use wengert_ir::eval::{Evaluator, Limits, Value};
use wengert_ir::program::FuncId;
use wengert_ir::{Program, parse};

/// A program with one entry, and what was compiled of it.
pub(crate) struct Beside {
    program: Program,
    entry: FuncId,
    compiled: Vec<(Math, Compiled)>,
    /// Whether a call has failed, which gives up what it has made and frees nothing.
    has_failed: bool,
}

impl Beside {
    /// The program, compiled in each of these ways.
    pub(crate) fn new(program: &Program, maths: &[Math]) -> Beside {
        let entry = *program.entries.values().next().expect("it has an entry");
        let made = |math: &Math| {
            let compiled = Compiled::with_math(program.clone(), *math, 1 << 32, Arc::default());
            (*math, compiled.expect("it compiles"))
        };
        Beside {
            program: program.clone(),
            entry,
            compiled: maths.iter().map(made).collect(),
            has_failed: false,
        }
    }

    /// The same of a program as text.
    pub(crate) fn of_text(text: &str, maths: &[Math]) -> Beside {
        Beside::new(&parse(text).expect("the text is a program"), maths)
    }

    /// That a call gives what the evaluator gives, the signs of zeros included, or fails as that does, at the same place; and that it leaves
    /// nothing behind, as long as none has failed.
    #[track_caller]
    pub(crate) fn agrees(&mut self, args: &[Value], what: impl Display) {
        let expected = Evaluator::new(&self.program, Limits::default()).call(self.entry, args.to_vec());
        self.has_failed |= expected.is_err();
        let expected = format!("{expected:?}");
        for (math, compiled) in &mut self.compiled {
            let given = compiled.call(self.entry, args);
            assert_eq!(format!("{given:?}"), expected, "{math:?}, {what}");
            assert!(self.has_failed || compiled.words_in_use() == 0, "{math:?}, {what}: nothing is left");
        }
    }
}
