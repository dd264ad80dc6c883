//! The rules of the pullback calculus by name.

use crate::kit::system::Rule;

const B: &str = "appendix B";
const F: &str = "Figure 3";
const S: &str = "section 3.4";
const C: &str = "3.1.1 and 3.1.3";

/// All of them, in the order of the paper.
pub(crate) const RULES: &[Rule] = &[
    rule("≡0", C, "0 is the unit of sums, and 0 in a linear position makes the term 0"),
    rule("≡+", C, "a sum in a linear position is a sum of terms"),
    rule("+", C, "adds numbers, vectors and dual constants; used in appendix A.2"),
    rule("A-0", B, "names 0"),
    rule("A-+", B, "names a sum of two named terms"),
    rule("A-x", B, "names a variable, or the tuple of an enclosing pattern"),
    rule("A-λ", B, "names a function whose body is a let series"),
    rule("A-app", B, "names an application of a named term to another"),
    rule("A-π", B, "names a projection of a named term"),
    rule("A-pair", B, "names a pair of two named terms"),
    rule("A-r", B, "names a number"),
    rule("A-f", B, "names a function symbol at a named term"),
    rule("A-J", B, "names a Jacobian along a named term"),
    rule("A-dual", B, "names a dual map of a named functional"),
    rule("A-Ω", B, "names a pullback of a named 1-form"),
    rule("A-r*", B, "names a dual constant"),
    rule("A-let", B, "joins the series of a `let` of the source to that of its body"),
    rule("7", F, "the pullback along the last let is that along its elementary term"),
    rule("8", F, "the pullback along a let series is a pullback along ⟨y,E⟩ of that along the rest"),
    rule("9", F, "constant function: the pullback is 0"),
    rule("10a", F, "sum of which one side is of y"),
    rule("10b", F, "sum of which both sides are of y"),
    rule("11", F, "identity"),
    rule("12", F, "projection"),
    rule("13a", F, "pair whose first component is of y"),
    rule("13b", F, "pair whose second component is of y"),
    rule("13c", F, "pair whose components are both of y"),
    rule("14", F, "Jacobian of a function symbol along a component of y"),
    rule("15", F, "function symbol"),
    rule("16a", F, "dual map of a functional that is of y"),
    rule("16b", F, "dual map along a function that is of y"),
    rule("16c", F, "dual map whose function and functional are of y"),
    rule("17", F, "pullback inside a pullback: it becomes the function that it is"),
    rule("18", F, "abstraction"),
    rule("19a", F, "application of a function that is of y"),
    rule("19b", F, "application whose function and argument are of y"),
    rule("19c", F, "the same, where the function is constant"),
    rule("20a", F, "⟨y,E⟩ where y is free in E"),
    rule("20b", F, "⟨y,E⟩ where y is not free in E"),
    rule("1", S, "β, by value"),
    rule("2", S, "projection of a pair"),
    rule("3", S, "function symbol at a vector"),
    rule("4", S, "Jacobian at a vector along a vector"),
    rule("5", S, "dual of a linear map at a dual constant: a vector"),
    rule("6", S, "dual maps compose the other way round"),
];

const fn rule(name: &'static str, place: &'static str, what: &'static str) -> Rule {
    Rule { name, place, what }
}
