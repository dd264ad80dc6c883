//! What can be chosen by name: stages of the compiler, parts to profile, evaluators.

use clap::ValueEnum;
use wengert_driver::Engine;
use wengert_driver::emit::Stage;
use wengert_driver::profile::Part;

/// The stages of the compiler by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EmitArg {
    /// The typed core
    Core,
    /// The array IR, with requests for derivatives
    Ir,
    /// The array IR with derivatives made, optimized
    Derivative,
    /// Loops over flat memory
    Loops,
    /// C, as `--engine c` compiles it
    C,
    /// The code that machine code is made of
    Clif,
}

impl From<EmitArg> for Stage {
    fn from(stage: EmitArg) -> Stage {
        match stage {
            EmitArg::Core => Stage::Core,
            EmitArg::Ir => Stage::Ir,
            EmitArg::Derivative => Stage::Derivative,
            EmitArg::Loops => Stage::Loops,
            EmitArg::C => Stage::C,
            EmitArg::Clif => Stage::Clif,
        }
    }
}

/// What can be profiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PartArg {
    /// The function itself
    Primal,
    /// Its value and directional derivative
    Jvp,
    /// Its pullback, and of its value what that needs
    Vjp,
}

impl From<PartArg> for Part {
    fn from(part: PartArg) -> Part {
        match part {
            PartArg::Primal => Part::Primal,
            PartArg::Jvp => Part::Jvp,
            PartArg::Vjp => Part::Vjp,
        }
    }
}

/// The evaluators by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineArg {
    /// The reference interpreter
    Interp,
    /// The compiler's array IR, evaluated as it is: slow, for comparing
    Ir,
    /// Machine code
    Native,
    /// C text through the system's compiler
    C,
}

impl EngineArg {
    /// Whether steps are counted, so that there may be a limit on them.
    pub(crate) fn counts_steps(self) -> bool {
        match self {
            EngineArg::Interp | EngineArg::Ir => true,
            EngineArg::Native | EngineArg::C => false,
        }
    }
}

impl From<EngineArg> for Engine {
    fn from(engine: EngineArg) -> Engine {
        match engine {
            EngineArg::Interp => Engine::Interp,
            EngineArg::Ir => Engine::Ir,
            EngineArg::Native => Engine::Native,
            EngineArg::C => Engine::C,
        }
    }
}
