//! The codes of faults: `E07xx`.

use crate::Fault;
use wengert_base::codes::Code;

const INDEX: &str = "E0701";
const DIVISION: &str = "E0702";
const SIZES: &str = "E0703";
const RAGGED: &str = "E0704";
const EMPTY: &str = "E0705";
const RANGE: &str = "E0706";
const NEGATIVE_POWER: &str = "E0707";
const SHIFT: &str = "E0708";
const NOT_AN_INT: &str = "E0709";
const SIZE_ARGUMENT: &str = "E0710";
const NAMED_SIZE: &str = "E0711";
const FAILED: &str = "E0712";
const NO_MATCH: &str = "E0713";
const CYCLIC: &str = "E0714";
const STEPS: &str = "E0715";
const MEMORY: &str = "E0716";
const TIME: &str = "E0717";
const INTERRUPTED: &str = "E0718";
const TAYLOR_ORDER: &str = "E0719";
const SHAPES: &str = "E0720";
const NONLINEAR_RULE: &str = "E0721";
const RULE_RESULT: &str = "E0722";
const DUAL_TANGENT: &str = "E0723";
const TAYLOR_MODE: &str = "E0724";
const POLYGAMMA: &str = "E0725";
const INTERNAL: &str = "E0799";

/// All kinds, with titles.
pub const CODES: &[Code] = &[
    Code { code: INDEX, title: "index out of range" },
    Code { code: DIVISION, title: "division of an Int by zero" },
    Code { code: SIZES, title: "arrays of different sizes" },
    Code { code: RAGGED, title: "rows of different sizes" },
    Code { code: EMPTY, title: "no element in an empty array" },
    Code { code: RANGE, title: "slice out of range" },
    Code { code: NEGATIVE_POWER, title: "negative power of an Int" },
    Code { code: SHIFT, title: "shift out of range" },
    Code { code: NOT_AN_INT, title: "no Int near this Real" },
    Code { code: SIZE_ARGUMENT, title: "a count that cannot be" },
    Code { code: NAMED_SIZE, title: "array of another size than its type says" },
    Code { code: FAILED, title: "the program called `fail`" },
    Code { code: NO_MATCH, title: "no pattern matches" },
    Code { code: CYCLIC, title: "a definition needs its own value" },
    Code { code: STEPS, title: "step limit reached" },
    Code { code: MEMORY, title: "memory limit reached" },
    Code { code: TIME, title: "time limit reached" },
    Code { code: INTERRUPTED, title: "interrupted" },
    Code { code: TAYLOR_ORDER, title: "an order of a Taylor series that cannot be" },
    Code { code: SHAPES, title: "point and tangent of different shapes" },
    Code { code: NONLINEAR_RULE, title: "a custom rule that is not linear" },
    Code { code: RULE_RESULT, title: "a custom rule's result of the wrong shape" },
    Code { code: DUAL_TANGENT, title: "the derivative of a functional on functions" },
    Code { code: TAYLOR_MODE, title: "not supported inside taylor" },
    Code { code: POLYGAMMA, title: "negative order of polygamma" },
    Code { code: INTERNAL, title: "internal error" },
];

impl Fault {
    /// Its kind.
    pub fn code(&self) -> &'static str {
        match self {
            Fault::Index { .. } => INDEX,
            Fault::Division { .. } => DIVISION,
            Fault::Sizes { .. } | Fault::ProductSizes { .. } => SIZES,
            Fault::Ragged { .. } => RAGGED,
            Fault::Empty { .. } => EMPTY,
            Fault::Slice { .. } => RANGE,
            Fault::NegativePower { .. } => NEGATIVE_POWER,
            Fault::Shift { .. } => SHIFT,
            Fault::NotAnInt { .. } => NOT_AN_INT,
            Fault::NegativeCount { .. } | Fault::TooLarge { .. } => SIZE_ARGUMENT,
            Fault::NamedSize { .. } => NAMED_SIZE,
            Fault::Failed { .. } => FAILED,
            Fault::NoMatch { .. } => NO_MATCH,
            Fault::Cyclic { .. } => CYCLIC,
            Fault::Steps { .. } => STEPS,
            Fault::Memory { .. } => MEMORY,
            Fault::Time { .. } => TIME,
            Fault::Interrupted => INTERRUPTED,
            Fault::TaylorOrder { .. } => TAYLOR_ORDER,
            Fault::Shapes { .. } => SHAPES,
            Fault::NonlinearRule { .. } => NONLINEAR_RULE,
            Fault::RuleResult { .. } => RULE_RESULT,
            Fault::DualTangent => DUAL_TANGENT,
            Fault::TaylorMode { .. } => TAYLOR_MODE,
            Fault::Polygamma { .. } => POLYGAMMA,
            Fault::Internal { .. } => INTERNAL,
        }
    }
}
