//! Pages of the library reference, as Markdown, made from the tables so that they cannot disagree with them.

use crate::cost::{JVP_FACTOR, VJP_FACTOR, jvp_cost, vjp_cost};
use crate::kinks::{KINKS, Kink, Subject};
use crate::table::PRIMS;
use crate::{Group, PrimInfo, RealOp};
use std::fmt::Write;
use wengert_base::real::show;

/// The chapters, in the order of the reference.
const GROUPS: [Group; 8] = [
    Group::Number,
    Group::Real,
    Group::Int,
    Group::Misc,
    Group::Array,
    Group::Loop,
    Group::Derivative,
    Group::Vector,
];

impl Group {
    /// Its heading.
    pub fn title(self) -> &'static str {
        match self {
            Group::Number => "Numbers",
            Group::Real => "Real functions",
            Group::Int => "Integers",
            Group::Misc => "Truth values and text",
            Group::Array => "Arrays",
            Group::Loop => "Loops",
            Group::Derivative => "Derivatives",
            Group::Vector => "Tangents as vectors",
        }
    }
}

/// The page of all primitives: a chapter for each group, an entry with signature and description for each primitive.
pub fn primitives_page() -> String {
    let mut page = String::from(
        "# Primitives\n\nThe functions that are built in. In a signature, `#n` is an `Int` argument that is itself the \
         size `n`, and `[]a` is an array whose size only the running program knows.\n",
    );
    for group in GROUPS {
        push(&mut page, format_args!("\n## {}\n\n", group.title()));
        for info in PRIMS.iter().filter(|info| info.group == group) {
            push(&mut page, format_args!("- `{}`  \n  {}\n", signature(info), info.doc));
        }
    }
    page
}

/// `map : (a -> b) -> [n]a -> [n]b`, operators in parentheses.
pub fn signature(info: &PrimInfo) -> String {
    let is_word = info.name.starts_with(|c: char| c.is_alphabetic());
    if is_word { format!("{} : {}", info.name, info.sig) } else { format!("({}) : {}", info.name, info.sig) }
}

/// The page of the values used where a derivative does not exist.
pub fn kinks_page() -> String {
    let mut page = String::from(
        "# Derivatives at kinks\n\nWhere a function has no derivative, these values are used, in every mode and by every \
         engine.\n\nA branch that is not taken contributes nothing to a derivative, and zeros are strong: a tangent or \
         cotangent that is exactly zero contributes exactly zero, even through an infinite or undefined partial \
         derivative.\n\nAt NaN the slopes of what chooses between numbers (`abs`, `relu`, `min`, `max`, `clamp`) are NaN, as its value is; \
         `minimum` and `maximum` choose the NaN of an array, so it has the slope 1.\n\n| function | at | value | partial derivatives | reason |\n|---|---|---|---|---|\n",
    );
    for kink in KINKS {
        let (at, partials) = (numbers(kink.at), numbers(kink.partials));
        push(
            &mut page,
            format_args!(
                "| `{}` | {at} | {} | {partials} | {} |\n",
                subject(kink),
                show(kink.value),
                kink.why
            ),
        );
    }
    page
}

/// The page of the costs of the operations and their derivatives.
pub fn costs_page() -> String {
    let mut page = format!(
        "# Costs\n\nCounted floating-point operations of each operation on reals, of its value together with a tangent \
         (`jvp`), and of its value together with the cotangents of all arguments (`vjp`), in the most expensive case. \
         `jvp` is at most {JVP_FACTOR} times and `vjp` at most {VJP_FACTOR} times the operation itself; what holds for \
         each operation holds for every program.\n\n| operation | value | jvp | vjp |\n|---|---|---|---|\n",
    );
    for op in RealOp::SAMPLES {
        push(
            &mut page,
            format_args!("| {} | {} | {} | {} |\n", title(*op), op.cost(), jvp_cost(*op), vjp_cost(*op)),
        );
    }
    page
}

/// The operation as code, with its parameter.
fn title(op: RealOp) -> String {
    if let RealOp::PowInt(n) = op {
        format!("`x ^ {n}`")
    } else if let RealOp::Polygamma(n) = op {
        format!("`polygamma {n}`")
    } else {
        format!("`{}`", op.name())
    }
}

fn subject(kink: &Kink) -> String {
    match kink.subject {
        Subject::Op(RealOp::PowInt(n)) => format!("x ^ {n}"),
        Subject::Op(op) => op.name().to_owned(),
        Subject::Prim(prim) => prim.info().name.to_owned(),
    }
}

fn numbers(numbers: &[f64]) -> String {
    numbers.iter().map(|number| show(*number)).collect::<Vec<_>>().join(", ")
}

fn push(page: &mut String, text: std::fmt::Arguments<'_>) {
    page.write_fmt(text).expect("writing to a string does not fail");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Prim;

    #[test]
    fn the_page_has_every_primitive_once() {
        let page = primitives_page();
        for info in PRIMS {
            let entry = format!("- `{}`  \n", signature(info));
            assert_eq!(page.matches(&entry).count(), 1, "{entry}");
        }
    }

    #[test]
    fn the_table_is_in_the_order_of_the_enum_and_names_are_unique() {
        for (i, info) in PRIMS.iter().enumerate() {
            assert_eq!(info.prim as usize, i);
            assert_eq!(info.prim.info(), info);
            assert_eq!(Prim::by_name(info.name), Some(info.prim), "{}", info.name);
            assert!(info.doc.ends_with('.') && !info.sig.is_empty(), "{info:?}");
        }
    }

    #[test]
    fn every_operation_of_the_language_is_a_primitive_and_documented() {
        for op in RealOp::SAMPLES {
            assert!(!op.doc().is_empty(), "{op:?}");
            let internal = matches!(op, RealOp::MulZero | RealOp::DivZero);
            assert_eq!(Prim::by_name(op.name()).is_some(), !internal, "{op:?}");
        }
    }

    #[test]
    fn the_other_pages_have_a_row_for_each_entry() {
        let rows = |page: String| page.lines().filter(|line| line.starts_with("| `")).count();
        assert_eq!(rows(kinks_page()), KINKS.len());
        assert_eq!(rows(costs_page()), RealOp::SAMPLES.len());
        assert!(kinks_page().contains("| `abs` | 0.0 | 0.0 | 0.0 |"));
        assert!(costs_page().contains("| `*` | 1 | 4 | 5 |"));
    }
}
