//! The reference evaluator: runs any verified program without requests for derivatives, exactly as the interpreter runs
//! the source: the same results to the last bit, the same errors in the same order, the same count of floating-point
//! operations.
//!
//! `code` prepares a function, `machine` runs it on explicit stacks (recursion a million deep takes memory and nothing
//! else), `scalar`, `array` and `reduce` are the operations, `value` the values, `limits` what stops it.
//!
//! ```
//! use wengert_ir::eval::{Evaluator, Limits, Value};
//! let program = wengert_ir::parse("func square(x: Real) -> Real { y = x * x  return y }").expect("this is IR");
//! let mut evaluator = Evaluator::new(&program, Limits::default());
//! let results = evaluator.call(wengert_ir::FuncId(0), vec![Value::Real(3.0)]).expect("it runs");
//! assert!(matches!(results.as_slice(), [Value::Real(9.0)]));
//! assert_eq!(evaluator.flops(), 1);
//! ```

mod array;
mod code;
mod limits;
mod machine;
mod product;
mod reduce;
mod require;
mod scalar;
mod show;
mod value;

pub use limits::Limits;
pub use require::broken;
pub use value::{Array, Items, Node, Shape, Text, Value};

use crate::program::{FuncId, Program};
use limits::Meter;
use machine::Machine;
use wengert_base::{Diagnostic, Span};
use wengert_fault::Fault;

/// Why a call stopped, and at which statement's source.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// What went wrong.
    pub fault: Fault,
    /// The statement that was being run.
    pub span: Span,
}

impl Failure {
    /// The failure as a diagnostic.
    pub fn diagnostic(&self) -> Diagnostic {
        self.fault.diagnostic(self.span)
    }
}

/// Runs functions of a program.
pub struct Evaluator<'p> {
    machine: Machine<'p>,
}

impl<'p> Evaluator<'p> {
    /// For a verified program. Functions are prepared when they are first called.
    pub fn new(program: &'p Program, limits: Limits) -> Evaluator<'p> {
        Evaluator { machine: Machine::new(program, Meter::new(limits)) }
    }

    /// Calls a function with arguments of the types of its parameters.
    pub fn call(&mut self, func: FuncId, args: Vec<Value>) -> Result<Vec<Value>, Failure> {
        self.machine.call(func, args)
    }

    /// Floating-point operations so far, all calls together, an elementary function counted as 4.
    pub fn flops(&self) -> u64 {
        self.machine.meter.flops
    }

    /// Steps so far: statements, and elements that array operations worked on.
    pub fn steps(&self) -> u64 {
        self.machine.meter.steps()
    }
}

#[cfg(test)]
mod tests;
