//! Failures of machine code that say nothing about the program: it is compiled in another way then, or left to the interpreter.

use crate::errors;
use wengert_base::{Diagnostic, Span};
use wengert_engine::Unit;

/// The failure of a program that is too large for machine code.
pub(crate) fn huge(unit: &Unit) -> Diagnostic {
    errors::internal(Span::NOWHERE, wengert_engine::too_large(unit))
}

/// Whether there is no machine code since the program is too large.
fn is_huge(error: &Diagnostic) -> bool {
    [wengert_engine::HUGE, wengert_engine::MADE_HUGE].iter().any(|text| is_internal(error, text))
}

fn is_internal(error: &Diagnostic, text: &str) -> bool {
    let own = errors::internal(Span::NOWHERE, text);
    (error.code, &error.message) == (own.code, &own.message)
}

/// Whether the interpreter runs the program after this failure of machine code.
pub(crate) fn is_for_interpreter(error: &Diagnostic) -> bool {
    for_interpreter(error).is_some()
}

/// Whether the program runs after this failure with numbers that know what they vary by: derivatives were not made beforehand, or too many.
pub(crate) fn is_for_tags(error: &Diagnostic) -> bool {
    is_internal(error, wengert_engine::MADE_HUGE) || wengert_engine::LEFT.contains(&error.message.as_str())
}

/// Why there is no machine code, if that is for the types of the program.
pub(crate) fn of_its_types(error: &Diagnostic) -> Option<String> {
    let reason = wengert_mono::errors::reason(error)?;
    Some(format!("because machine code is made for each type anew, and {reason}"))
}

/// Why the interpreter runs the program, if a failure of machine code says nothing about it: that can only be made while running, is too
/// large, or has no simple types.
pub(crate) fn for_interpreter(error: &Diagnostic) -> Option<String> {
    let why = if let Some(reason) = of_its_types(error) {
        return Some(reason);
    } else if wengert_engine::LEFT.contains(&error.message.as_str()) {
        "because it needs a derivative, or a rule of `custom_jvp` or `custom_vjp`, of which only running tells how it is computed, or \
         derivatives of so many functions that they are not made beforehand"
    } else if is_huge(error) {
        "because it is so large, with its derivatives, that making machine code would take longer and more memory than running it"
    } else {
        return None;
    };
    Some(why.to_string())
}
