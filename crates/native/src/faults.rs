//! The faults that a program's failures are: the words of the interpreter.

use crate::loops::Failure;
use crate::runtime::context::Raised;
use wengert_fault::Fault;
use wengert_ir::Program;
use wengert_ir::eval::broken;

/// The fault that a failure is when these numbers belong to it; the user's message is `text`.
pub fn example(program: &Program, failure: Failure, numbers: &[u64], text: &str) -> Fault {
    let raised = Raised { site: 0, numbers: numbers.to_vec(), text: Some(text.to_string()) };
    fault(program, failure, &raised, 0)
}

/// The fault that a failure is, with the numbers that belong to it.
pub(crate) fn fault(program: &Program, failure: Failure, raised: &Raised, limit: u64) -> Fault {
    let number = |place: usize| raised.numbers.get(place).copied().unwrap_or(0).cast_signed();
    let size = |place: usize| usize::try_from(number(place)).unwrap_or(0);
    match failure {
        Failure::Index => Fault::Index { index: number(0), size: size(1) },
        Failure::Division(function) => Fault::Division { function, dividend: number(0) },
        Failure::Required(what) => broken(program, what, number(0), number(1)),
        Failure::Ragged(axes) => {
            let axes = usize::from(axes);
            let sizes = |from: usize| {
                let sizes: Vec<String> = (from..from + axes).map(|place| number(place).to_string()).collect();
                sizes.join(" x ")
            };
            Fault::Ragged { first: (0, sizes(1)), second: (size(0), sizes(1 + axes)) }
        }
        Failure::Empty(function) => Fault::Empty { function },
        Failure::Slice => Fault::Slice { from: number(0), to: number(1), size: size(2) },
        Failure::NegativePower => Fault::NegativePower { base: number(0), exponent: number(1) },
        Failure::Shift => Fault::Shift { bits: number(0) },
        Failure::NotAnInt(function) => {
            Fault::NotAnInt { function, x: f64::from_bits(number(0).cast_unsigned()) }
        }
        Failure::NegativeCount(function) => Fault::NegativeCount { function, count: number(0) },
        Failure::TooLarge(function) => Fault::TooLarge { function, count: number(0) },
        Failure::User => Fault::Failed { message: raised.text.clone().unwrap_or_default() },
        Failure::Polygamma => Fault::Polygamma { order: number(0) },
        Failure::Memory => Fault::Memory { limit },
        Failure::Interrupted => Fault::Interrupted,
        Failure::Internal => Fault::internal("compiled code came to a place that cannot be reached"),
    }
}
