//! The paper's worked examples, step by step.

use super::print::{Notation, print};
use super::reduce::Reducer;
use super::syntax::Term;
use super::types::Language;
use crate::kit::trace::{Limits, Stopped, Trace};
use expect_test::{Expect, expect};
use wengert_base::SourceId;

pub(super) fn term(text: &str) -> Term {
    match super::read(SourceId(0), text, Language::Pullback) {
        Ok(term) => term,
        Err(errors) => panic!("{text}: {errors:?}"),
    }
}

pub(super) fn reduce(text: &str) -> (Trace, Term) {
    Reducer::new(&Limits::default(), Notation::Paper).trace(&term(text))
}

fn steps(text: &str) -> String {
    let (trace, _) = reduce(text);
    let mut out = format!("{}\n", trace.start);
    for step in &trace.steps {
        out += &format!("{:>6}  {}\n", step.rule, step.after);
    }
    out
}

fn check(actual: &str, expect: &Expect) {
    expect.assert_eq(actual);
}

/// `g⟨x,y⟩ = ⟨x+1, 2x+y²⟩` of example 3.1.
const G: &str = "fun g⟨x,y⟩ = ⟨add(x,1), add(mult(2,x), pow2(y))⟩;\n";

#[test]
fn example_3_9() {
    check(
        &steps(&format!("{G}((Ω λ⟨x,y⟩. pow2(mult(g(⟨x,y⟩)))) · Ω [1]) ⟨1,3⟩")),
        &expect![[r#"
        ((Ω λ⟨x, y⟩. pow2(mult(g(⟨x, y⟩)))) · (λx. [1]*)) ⟨1, 3⟩
           A-x  ((Ω λ⟨x, y⟩. pow2(mult(g(let z1 = ⟨x, y⟩ in z1)))) · (λx. [1]*)) ⟨1, 3⟩
           A-f  ((Ω λ⟨x, y⟩. pow2(mult(let z1 = ⟨x, y⟩; z2 = g(z1) in z2))) · (λx. [1]*)) ⟨1, 3⟩
           A-f  ((Ω λ⟨x, y⟩. pow2(let z1 = ⟨x, y⟩; z2 = g(z1); z3 = mult(z2) in z3)) · (λx. [1]*)) ⟨1, 3⟩
           A-f  ((Ω λ⟨x, y⟩. let z1 = ⟨x, y⟩; z2 = g(z1); z3 = mult(z2); z4 = pow2(z3) in z4) · (λx. [1]*)) ⟨1, 3⟩
             8  ((Ω λ⟨x, y⟩. ⟨x, y, ⟨x, y⟩⟩) · (Ω λ⟨x, y, z1⟩. let z2 = g(z1); z3 = mult(z2); z4 = pow2(z3) in z4) · (λx. [1]*)) ⟨1, 3⟩
             8  ((Ω λ⟨x, y⟩. ⟨x, y, ⟨x, y⟩⟩) · (Ω λ⟨x, y, z1⟩. ⟨x, y, z1, g(z1)⟩) · (Ω λ⟨x, y, z1, z2⟩. let z3 = mult(z2); z4 = pow2(z3) in z4) · (λx. [1]*)) ⟨1, 3⟩
             8  ((Ω λ⟨x, y⟩. ⟨x, y, ⟨x, y⟩⟩) · (Ω λ⟨x, y, z1⟩. ⟨x, y, z1, g(z1)⟩) · (Ω λ⟨x, y, z1, z2⟩. ⟨x, y, z1, z2, mult(z2)⟩) · (Ω λ⟨x, y, z1, z2, z3⟩. let z4 = pow2(z3) in z4) · (λx. [1]*)) ⟨1, 3⟩
             7  ((Ω λ⟨x, y⟩. ⟨x, y, ⟨x, y⟩⟩) · (Ω λ⟨x, y, z1⟩. ⟨x, y, z1, g(z1)⟩) · (Ω λ⟨x, y, z1, z2⟩. ⟨x, y, z1, z2, mult(z2)⟩) · (Ω λ⟨x, y, z1, z2, z3⟩. pow2(z3)) · (λx. [1]*)) ⟨1, 3⟩
           20a  (λ⟨v1, v2⟩. ⟨v1, v2, ⟨v1, v2⟩⟩)* · ((Ω λ⟨x, y, z1⟩. ⟨x, y, z1, g(z1)⟩) · (Ω λ⟨x, y, z1, z2⟩. ⟨x, y, z1, z2, mult(z2)⟩) · (Ω λ⟨x, y, z1, z2, z3⟩. pow2(z3)) · (λx. [1]*)) ⟨1, 3, ⟨1, 3⟩⟩
           20a  (λ⟨v1, v2⟩. ⟨v1, v2, ⟨v1, v2⟩⟩)* · (λ⟨v1, v2, v3⟩. ⟨v1, v2, v3, (J g · v3) ⟨1, 3⟩⟩)* · ((Ω λ⟨x, y, z1, z2⟩. ⟨x, y, z1, z2, mult(z2)⟩) · (Ω λ⟨x, y, z1, z2, z3⟩. pow2(z3)) · (λx. [1]*)) ⟨1, 3, ⟨1, 3⟩, g(⟨1, 3⟩)⟩
             3  (λ⟨v1, v2⟩. ⟨v1, v2, ⟨v1, v2⟩⟩)* · (λ⟨v1, v2, v3⟩. ⟨v1, v2, v3, (J g · v3) ⟨1, 3⟩⟩)* · ((Ω λ⟨x, y, z1, z2⟩. ⟨x, y, z1, z2, mult(z2)⟩) · (Ω λ⟨x, y, z1, z2, z3⟩. pow2(z3)) · (λx. [1]*)) ⟨1, 3, ⟨1, 3⟩, ⟨2, 11⟩⟩
           20a  (λ⟨v1, v2⟩. ⟨v1, v2, ⟨v1, v2⟩⟩)* · (λ⟨v1, v2, v3⟩. ⟨v1, v2, v3, (J g · v3) ⟨1, 3⟩⟩)* · (λ⟨v1, v2, v3, v4⟩. ⟨v1, v2, v3, v4, (J mult · v4) ⟨2, 11⟩⟩)* · ((Ω λ⟨x, y, z1, z2, z3⟩. pow2(z3)) · (λx. [1]*)) ⟨1, 3, ⟨1, 3⟩, ⟨2, 11⟩, mult(⟨2, 11⟩)⟩
             3  (λ⟨v1, v2⟩. ⟨v1, v2, ⟨v1, v2⟩⟩)* · (λ⟨v1, v2, v3⟩. ⟨v1, v2, v3, (J g · v3) ⟨1, 3⟩⟩)* · (λ⟨v1, v2, v3, v4⟩. ⟨v1, v2, v3, v4, (J mult · v4) ⟨2, 11⟩⟩)* · ((Ω λ⟨x, y, z1, z2, z3⟩. pow2(z3)) · (λx. [1]*)) ⟨1, 3, ⟨1, 3⟩, ⟨2, 11⟩, 22⟩
            15  (λ⟨v1, v2⟩. ⟨v1, v2, ⟨v1, v2⟩⟩)* · (λ⟨v1, v2, v3⟩. ⟨v1, v2, v3, (J g · v3) ⟨1, 3⟩⟩)* · (λ⟨v1, v2, v3, v4⟩. ⟨v1, v2, v3, v4, (J mult · v4) ⟨2, 11⟩⟩)* · (λ⟨v1, v2, v3, v4, v5⟩. (J pow2 · v5) 22)* · (λx. [1]*) pow2(22)
             3  (λ⟨v1, v2⟩. ⟨v1, v2, ⟨v1, v2⟩⟩)* · (λ⟨v1, v2, v3⟩. ⟨v1, v2, v3, (J g · v3) ⟨1, 3⟩⟩)* · (λ⟨v1, v2, v3, v4⟩. ⟨v1, v2, v3, v4, (J mult · v4) ⟨2, 11⟩⟩)* · (λ⟨v1, v2, v3, v4, v5⟩. (J pow2 · v5) 22)* · (λx. [1]*) 484
             1  (λ⟨v1, v2⟩. ⟨v1, v2, ⟨v1, v2⟩⟩)* · (λ⟨v1, v2, v3⟩. ⟨v1, v2, v3, (J g · v3) ⟨1, 3⟩⟩)* · (λ⟨v1, v2, v3, v4⟩. ⟨v1, v2, v3, v4, (J mult · v4) ⟨2, 11⟩⟩)* · (λ⟨v1, v2, v3, v4, v5⟩. (J pow2 · v5) 22)* · [1]*
             5  (λ⟨v1, v2⟩. ⟨v1, v2, ⟨v1, v2⟩⟩)* · (λ⟨v1, v2, v3⟩. ⟨v1, v2, v3, (J g · v3) ⟨1, 3⟩⟩)* · (λ⟨v1, v2, v3, v4⟩. ⟨v1, v2, v3, v4, (J mult · v4) ⟨2, 11⟩⟩)* · [0; 0; 0; 0; 0; 0; 44]*
             5  (λ⟨v1, v2⟩. ⟨v1, v2, ⟨v1, v2⟩⟩)* · (λ⟨v1, v2, v3⟩. ⟨v1, v2, v3, (J g · v3) ⟨1, 3⟩⟩)* · [0; 0; 0; 0; 484; 88]*
             5  (λ⟨v1, v2⟩. ⟨v1, v2, ⟨v1, v2⟩⟩)* · [0; 0; 660; 528]*
             5  [660; 528]*
    "#]],
    );
}

#[test]
fn appendix_a_2() {
    check(
        &steps("{ω : Ω R} ⊢ ((Ω λl. l (λx y. x + y) 0) · ω) [7, -1]"),
        &expect![[r#"
        ((Ω λl. l (λx. λy. x + y) 0) · ω) (λf. λd. f -1 (f 7 d))
           A-x  ((Ω λl. (let z1 = l in z1) (λx. λy. x + y) 0) · ω) (λf. λd. f -1 (f 7 d))
           A-x  ((Ω λl. (let z1 = l in z1) (λx. λy. (let z1 = x in z1) + y) 0) · ω) (λf. λd. f -1 (f 7 d))
           A-x  ((Ω λl. (let z1 = l in z1) (λx. λy. (let z1 = x in z1) + (let z1 = y in z1)) 0) · ω) (λf. λd. f -1 (f 7 d))
           A-+  ((Ω λl. (let z1 = l in z1) (λx. λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3) 0) · ω) (λf. λd. f -1 (f 7 d))
           A-λ  ((Ω λl. (let z1 = l in z1) (λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1) 0) · ω) (λf. λd. f -1 (f 7 d))
           A-λ  ((Ω λl. (let z1 = l in z1) (let z1 = λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1 in z1) 0) · ω) (λf. λd. f -1 (f 7 d))
         A-app  ((Ω λl. (let z1 = l; z2 = λx. let z2 = λy. let z2 = x; z3 = y; z4 = z2 + z3 in z4 in z2; z3 = z1 z2 in z3) 0) · ω) (λf. λd. f -1 (f 7 d))
           A-0  ((Ω λl. (let z1 = l; z2 = λx. let z2 = λy. let z2 = x; z3 = y; z4 = z2 + z3 in z4 in z2; z3 = z1 z2 in z3) (let z1 = 0 in z1)) · ω) (λf. λd. f -1 (f 7 d))
         A-app  ((Ω λl. let z1 = l; z2 = λx. let z2 = λy. let z2 = x; z3 = y; z4 = z2 + z3 in z4 in z2; z3 = z1 z2; z4 = 0; z5 = z3 z4 in z5) · ω) (λf. λd. f -1 (f 7 d))
             8  ((Ω λl. ⟨l, l⟩) · (Ω λ⟨l, z1⟩. let z2 = λx. let z2 = λy. let z2 = x; z3 = y; z4 = z2 + z3 in z4 in z2; z3 = z1 z2; z4 = 0; z5 = z3 z4 in z5) · ω) (λf. λd. f -1 (f 7 d))
             8  ((Ω λl. ⟨l, l⟩) · (Ω λ⟨l, z1⟩. ⟨l, z1, λx. let z2 = λy. let z2 = x; z3 = y; z4 = z2 + z3 in z4 in z2⟩) · (Ω λ⟨l, z1, z2⟩. let z3 = z1 z2; z4 = 0; z5 = z3 z4 in z5) · ω) (λf. λd. f -1 (f 7 d))
             8  ((Ω λl. ⟨l, l⟩) · (Ω λ⟨l, z1⟩. ⟨l, z1, λx. let z2 = λy. let z2 = x; z3 = y; z4 = z2 + z3 in z4 in z2⟩) · (Ω λ⟨l, z1, z2⟩. ⟨l, z1, z2, z1 z2⟩) · (Ω λ⟨l, z1, z2, z3⟩. let z4 = 0; z5 = z3 z4 in z5) · ω) (λf. λd. f -1 (f 7 d))
             8  ((Ω λl. ⟨l, l⟩) · (Ω λ⟨l, z1⟩. ⟨l, z1, λx. let z2 = λy. let z2 = x; z3 = y; z4 = z2 + z3 in z4 in z2⟩) · (Ω λ⟨l, z1, z2⟩. ⟨l, z1, z2, z1 z2⟩) · (Ω λ⟨l, z1, z2, z3⟩. ⟨l, z1, z2, z3, 0⟩) · (Ω λ⟨l, z1, z2, z3, z4⟩. let z5 = z3 z4 in z5) · ω) (λf. λd. f -1 (f 7 d))
             7  ((Ω λl. ⟨l, l⟩) · (Ω λ⟨l, z1⟩. ⟨l, z1, λx. let z2 = λy. let z2 = x; z3 = y; z4 = z2 + z3 in z4 in z2⟩) · (Ω λ⟨l, z1, z2⟩. ⟨l, z1, z2, z1 z2⟩) · (Ω λ⟨l, z1, z2, z3⟩. ⟨l, z1, z2, z3, 0⟩) · (Ω λ⟨l, z1, z2, z3, z4⟩. z3 z4) · ω) (λf. λd. f -1 (f 7 d))
           20a  (λv1. ⟨v1, v1⟩)* · ((Ω λ⟨l, z1⟩. ⟨l, z1, λx. let z2 = λy. let z2 = x; z3 = y; z4 = z2 + z3 in z4 in z2⟩) · (Ω λ⟨l, z1, z2⟩. ⟨l, z1, z2, z1 z2⟩) · (Ω λ⟨l, z1, z2, z3⟩. ⟨l, z1, z2, z3, 0⟩) · (Ω λ⟨l, z1, z2, z3, z4⟩. z3 z4) · ω) ⟨λf. λd. f -1 (f 7 d), λf. λd. f -1 (f 7 d)⟩
           20b  (λv1. ⟨v1, v1⟩)* · (λ⟨v1, v2⟩. ⟨v1, v2, 0⟩)* · ((Ω λ⟨l, z1, z2⟩. ⟨l, z1, z2, z1 z2⟩) · (Ω λ⟨l, z1, z2, z3⟩. ⟨l, z1, z2, z3, 0⟩) · (Ω λ⟨l, z1, z2, z3, z4⟩. z3 z4) · ω) ⟨λf. λd. f -1 (f 7 d), λf. λd. f -1 (f 7 d), λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1⟩
           20a  (λv1. ⟨v1, v1⟩)* · (λ⟨v1, v2⟩. ⟨v1, v2, 0⟩)* · (λ⟨v1, v2, v3⟩. ⟨v1, v2, v3, v2 (λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1) + (λd. v3 -1 (7 + d) + v3 7 d)⟩)* · ((Ω λ⟨l, z1, z2, z3⟩. ⟨l, z1, z2, z3, 0⟩) · (Ω λ⟨l, z1, z2, z3, z4⟩. z3 z4) · ω) ⟨λf. λd. f -1 (f 7 d), λf. λd. f -1 (f 7 d), λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1, (λf. λd. f -1 (f 7 d)) (λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1)⟩
             1  (λv1. ⟨v1, v1⟩)* · (λ⟨v1, v2⟩. ⟨v1, v2, 0⟩)* · (λ⟨v1, v2, v3⟩. ⟨v1, v2, v3, v2 (λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1) + (λd. v3 -1 (7 + d) + v3 7 d)⟩)* · ((Ω λ⟨l, z1, z2, z3⟩. ⟨l, z1, z2, z3, 0⟩) · (Ω λ⟨l, z1, z2, z3, z4⟩. z3 z4) · ω) ⟨λf. λd. f -1 (f 7 d), λf. λd. f -1 (f 7 d), λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1, λd. (λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1) -1 ((λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1) 7 d)⟩
           20b  (λv1. ⟨v1, v1⟩)* · (λ⟨v1, v2⟩. ⟨v1, v2, 0⟩)* · (λ⟨v1, v2, v3⟩. ⟨v1, v2, v3, v2 (λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1) + (λd. v3 -1 (7 + d) + v3 7 d)⟩)* · (λ⟨v1, v2, v3, v4⟩. ⟨v1, v2, v3, v4, 0⟩)* · ((Ω λ⟨l, z1, z2, z3, z4⟩. z3 z4) · ω) ⟨λf. λd. f -1 (f 7 d), λf. λd. f -1 (f 7 d), λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1, λd. (λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1) -1 ((λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1) 7 d), 0⟩
           19b  (λv1. ⟨v1, v1⟩)* · (λ⟨v1, v2⟩. ⟨v1, v2, 0⟩)* · (λ⟨v1, v2, v3⟩. ⟨v1, v2, v3, v2 (λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1) + (λd. v3 -1 (7 + d) + v3 7 d)⟩)* · (λ⟨v1, v2, v3, v4⟩. ⟨v1, v2, v3, v4, 0⟩)* · (λ⟨v1, v2, v3, v4, v5⟩. v4 0 + v5)* · ω ((λd. (λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1) -1 ((λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1) 7 d)) 0)
             1  (λv1. ⟨v1, v1⟩)* · (λ⟨v1, v2⟩. ⟨v1, v2, 0⟩)* · (λ⟨v1, v2, v3⟩. ⟨v1, v2, v3, v2 (λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1) + (λd. v3 -1 (7 + d) + v3 7 d)⟩)* · (λ⟨v1, v2, v3, v4⟩. ⟨v1, v2, v3, v4, 0⟩)* · (λ⟨v1, v2, v3, v4, v5⟩. v4 0 + v5)* · ω ((λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1) -1 ((λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1) 7 0))
             1  (λv1. ⟨v1, v1⟩)* · (λ⟨v1, v2⟩. ⟨v1, v2, 0⟩)* · (λ⟨v1, v2, v3⟩. ⟨v1, v2, v3, v2 (λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1) + (λd. v3 -1 (7 + d) + v3 7 d)⟩)* · (λ⟨v1, v2, v3, v4⟩. ⟨v1, v2, v3, v4, 0⟩)* · (λ⟨v1, v2, v3, v4, v5⟩. v4 0 + v5)* · ω ((let z1 = λy. let z1 = -1; z2 = y; z3 = z1 + z2 in z3 in z1) ((λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1) 7 0))
             1  (λv1. ⟨v1, v1⟩)* · (λ⟨v1, v2⟩. ⟨v1, v2, 0⟩)* · (λ⟨v1, v2, v3⟩. ⟨v1, v2, v3, v2 (λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1) + (λd. v3 -1 (7 + d) + v3 7 d)⟩)* · (λ⟨v1, v2, v3, v4⟩. ⟨v1, v2, v3, v4, 0⟩)* · (λ⟨v1, v2, v3, v4, v5⟩. v4 0 + v5)* · ω ((λy. let z1 = -1; z2 = y; z3 = z1 + z2 in z3) ((λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1) 7 0))
             1  (λv1. ⟨v1, v1⟩)* · (λ⟨v1, v2⟩. ⟨v1, v2, 0⟩)* · (λ⟨v1, v2, v3⟩. ⟨v1, v2, v3, v2 (λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1) + (λd. v3 -1 (7 + d) + v3 7 d)⟩)* · (λ⟨v1, v2, v3, v4⟩. ⟨v1, v2, v3, v4, 0⟩)* · (λ⟨v1, v2, v3, v4, v5⟩. v4 0 + v5)* · ω ((λy. let z1 = -1; z2 = y; z3 = z1 + z2 in z3) ((let z1 = λy. let z1 = 7; z2 = y; z3 = z1 + z2 in z3 in z1) 0))
             1  (λv1. ⟨v1, v1⟩)* · (λ⟨v1, v2⟩. ⟨v1, v2, 0⟩)* · (λ⟨v1, v2, v3⟩. ⟨v1, v2, v3, v2 (λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1) + (λd. v3 -1 (7 + d) + v3 7 d)⟩)* · (λ⟨v1, v2, v3, v4⟩. ⟨v1, v2, v3, v4, 0⟩)* · (λ⟨v1, v2, v3, v4, v5⟩. v4 0 + v5)* · ω ((λy. let z1 = -1; z2 = y; z3 = z1 + z2 in z3) ((λy. let z1 = 7; z2 = y; z3 = z1 + z2 in z3) 0))
             1  (λv1. ⟨v1, v1⟩)* · (λ⟨v1, v2⟩. ⟨v1, v2, 0⟩)* · (λ⟨v1, v2, v3⟩. ⟨v1, v2, v3, v2 (λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1) + (λd. v3 -1 (7 + d) + v3 7 d)⟩)* · (λ⟨v1, v2, v3, v4⟩. ⟨v1, v2, v3, v4, 0⟩)* · (λ⟨v1, v2, v3, v4, v5⟩. v4 0 + v5)* · ω ((λy. let z1 = -1; z2 = y; z3 = z1 + z2 in z3) (let z1 = 7; z2 = 0; z3 = z1 + z2 in z3))
             1  (λv1. ⟨v1, v1⟩)* · (λ⟨v1, v2⟩. ⟨v1, v2, 0⟩)* · (λ⟨v1, v2, v3⟩. ⟨v1, v2, v3, v2 (λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1) + (λd. v3 -1 (7 + d) + v3 7 d)⟩)* · (λ⟨v1, v2, v3, v4⟩. ⟨v1, v2, v3, v4, 0⟩)* · (λ⟨v1, v2, v3, v4, v5⟩. v4 0 + v5)* · ω ((λy. let z1 = -1; z2 = y; z3 = z1 + z2 in z3) (let z1 = 0; z2 = 7 + z1 in z2))
             1  (λv1. ⟨v1, v1⟩)* · (λ⟨v1, v2⟩. ⟨v1, v2, 0⟩)* · (λ⟨v1, v2, v3⟩. ⟨v1, v2, v3, v2 (λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1) + (λd. v3 -1 (7 + d) + v3 7 d)⟩)* · (λ⟨v1, v2, v3, v4⟩. ⟨v1, v2, v3, v4, 0⟩)* · (λ⟨v1, v2, v3, v4, v5⟩. v4 0 + v5)* · ω ((λy. let z1 = -1; z2 = y; z3 = z1 + z2 in z3) (let z1 = 7 + 0 in z1))
            ≡0  (λv1. ⟨v1, v1⟩)* · (λ⟨v1, v2⟩. ⟨v1, v2, 0⟩)* · (λ⟨v1, v2, v3⟩. ⟨v1, v2, v3, v2 (λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1) + (λd. v3 -1 (7 + d) + v3 7 d)⟩)* · (λ⟨v1, v2, v3, v4⟩. ⟨v1, v2, v3, v4, 0⟩)* · (λ⟨v1, v2, v3, v4, v5⟩. v4 0 + v5)* · ω ((λy. let z1 = -1; z2 = y; z3 = z1 + z2 in z3) (let z1 = 7 in z1))
             1  (λv1. ⟨v1, v1⟩)* · (λ⟨v1, v2⟩. ⟨v1, v2, 0⟩)* · (λ⟨v1, v2, v3⟩. ⟨v1, v2, v3, v2 (λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1) + (λd. v3 -1 (7 + d) + v3 7 d)⟩)* · (λ⟨v1, v2, v3, v4⟩. ⟨v1, v2, v3, v4, 0⟩)* · (λ⟨v1, v2, v3, v4, v5⟩. v4 0 + v5)* · ω ((λy. let z1 = -1; z2 = y; z3 = z1 + z2 in z3) 7)
             1  (λv1. ⟨v1, v1⟩)* · (λ⟨v1, v2⟩. ⟨v1, v2, 0⟩)* · (λ⟨v1, v2, v3⟩. ⟨v1, v2, v3, v2 (λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1) + (λd. v3 -1 (7 + d) + v3 7 d)⟩)* · (λ⟨v1, v2, v3, v4⟩. ⟨v1, v2, v3, v4, 0⟩)* · (λ⟨v1, v2, v3, v4, v5⟩. v4 0 + v5)* · ω (let z1 = -1; z2 = 7; z3 = z1 + z2 in z3)
             1  (λv1. ⟨v1, v1⟩)* · (λ⟨v1, v2⟩. ⟨v1, v2, 0⟩)* · (λ⟨v1, v2, v3⟩. ⟨v1, v2, v3, v2 (λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1) + (λd. v3 -1 (7 + d) + v3 7 d)⟩)* · (λ⟨v1, v2, v3, v4⟩. ⟨v1, v2, v3, v4, 0⟩)* · (λ⟨v1, v2, v3, v4, v5⟩. v4 0 + v5)* · ω (let z1 = 7; z2 = -1 + z1 in z2)
             1  (λv1. ⟨v1, v1⟩)* · (λ⟨v1, v2⟩. ⟨v1, v2, 0⟩)* · (λ⟨v1, v2, v3⟩. ⟨v1, v2, v3, v2 (λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1) + (λd. v3 -1 (7 + d) + v3 7 d)⟩)* · (λ⟨v1, v2, v3, v4⟩. ⟨v1, v2, v3, v4, 0⟩)* · (λ⟨v1, v2, v3, v4, v5⟩. v4 0 + v5)* · ω (let z1 = -1 + 7 in z1)
             +  (λv1. ⟨v1, v1⟩)* · (λ⟨v1, v2⟩. ⟨v1, v2, 0⟩)* · (λ⟨v1, v2, v3⟩. ⟨v1, v2, v3, v2 (λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1) + (λd. v3 -1 (7 + d) + v3 7 d)⟩)* · (λ⟨v1, v2, v3, v4⟩. ⟨v1, v2, v3, v4, 0⟩)* · (λ⟨v1, v2, v3, v4, v5⟩. v4 0 + v5)* · ω (let z1 = 6 in z1)
             1  (λv1. ⟨v1, v1⟩)* · (λ⟨v1, v2⟩. ⟨v1, v2, 0⟩)* · (λ⟨v1, v2, v3⟩. ⟨v1, v2, v3, v2 (λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1) + (λd. v3 -1 (7 + d) + v3 7 d)⟩)* · (λ⟨v1, v2, v3, v4⟩. ⟨v1, v2, v3, v4, 0⟩)* · (λ⟨v1, v2, v3, v4, v5⟩. v4 0 + v5)* · ω 6
             6  (λv1. ⟨v1, v1⟩)* · (λ⟨v1, v2⟩. ⟨v1, v2, 0⟩)* · (λ⟨v1, v2, v3⟩. ⟨v1, v2, v3, v2 (λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1) + (λd. v3 -1 (7 + d) + v3 7 d)⟩)* · (λ⟨v1, v2, v3, v4⟩. v4 0 + 0)* · ω 6
            ≡0  (λv1. ⟨v1, v1⟩)* · (λ⟨v1, v2⟩. ⟨v1, v2, 0⟩)* · (λ⟨v1, v2, v3⟩. ⟨v1, v2, v3, v2 (λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1) + (λd. v3 -1 (7 + d) + v3 7 d)⟩)* · (λ⟨v1, v2, v3, v4⟩. v4 0)* · ω 6
             6  (λv1. ⟨v1, v1⟩)* · (λ⟨v1, v2⟩. ⟨v1, v2, 0⟩)* · (λ⟨v1, v2, v3⟩. (v2 (λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1) + (λd. v3 -1 (7 + d) + v3 7 d)) 0)* · ω 6
            ≡+  (λv1. ⟨v1, v1⟩)* · (λ⟨v1, v2⟩. ⟨v1, v2, 0⟩)* · (λ⟨v1, v2, v3⟩. v2 (λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1) 0 + (λd. v3 -1 (7 + d) + v3 7 d) 0)* · ω 6
             1  (λv1. ⟨v1, v1⟩)* · (λ⟨v1, v2⟩. ⟨v1, v2, 0⟩)* · (λ⟨v1, v2, v3⟩. v2 (λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1) 0 + v3 -1 (7 + 0) + v3 7 0)* · ω 6
            ≡0  (λv1. ⟨v1, v1⟩)* · (λ⟨v1, v2⟩. ⟨v1, v2, 0⟩)* · (λ⟨v1, v2, v3⟩. v2 (λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1) 0 + v3 -1 7 + v3 7 0)* · ω 6
             6  (λv1. ⟨v1, v1⟩)* · (λ⟨v1, v2⟩. v2 (λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1) 0 + 0 -1 7 + 0 7 0)* · ω 6
            ≡0  (λv1. ⟨v1, v1⟩)* · (λ⟨v1, v2⟩. v2 (λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1) 0 + 0 7 + 0 7 0)* · ω 6
            ≡0  (λv1. ⟨v1, v1⟩)* · (λ⟨v1, v2⟩. v2 (λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1) 0 + 0 + 0 7 0)* · ω 6
            ≡0  (λv1. ⟨v1, v1⟩)* · (λ⟨v1, v2⟩. v2 (λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1) 0 + 0 + 0 0)* · ω 6
            ≡0  (λv1. ⟨v1, v1⟩)* · (λ⟨v1, v2⟩. v2 (λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1) 0 + 0 + 0)* · ω 6
            ≡0  (λv1. ⟨v1, v1⟩)* · (λ⟨v1, v2⟩. v2 (λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1) 0 + 0)* · ω 6
            ≡0  (λv1. ⟨v1, v1⟩)* · (λ⟨v1, v2⟩. v2 (λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1) 0)* · ω 6
             6  (λv1. v1 (λx. let z1 = λy. let z1 = x; z2 = y; z3 = z1 + z2 in z3 in z1) 0)* · ω 6
    "#]],
    );
}

#[test]
fn figure_5() {
    let (trace, end) = reduce("{ω : Ω R, d : R} ⊢ ((Ω λf. f -1 (f 7 d)) · ω) (λx y. add(x, y))");
    check(
        &format!("{}\n{:?}\n", print(&end), trace.counts.by_rule),
        &expect![[r#"
            (λv1. (v1 -1 add(⟨7, d⟩) + (J add · ⟨0, 0⟩) ⟨-1, add(⟨7, d⟩)⟩) + (J add · ⟨0, (v1 7 d + (J add · ⟨0, 0⟩) ⟨7, d⟩) + (J add · ⟨0, 0⟩) ⟨7, d⟩⟩) ⟨-1, add(⟨7, d⟩)⟩)* · ω add(⟨-1, add(⟨7, d⟩)⟩)
            {"1": 6, "11": 3, "12": 3, "13c": 4, "15": 4, "18": 2, "19b": 4, "20a": 13, "20b": 7, "6": 20, "7": 5, "8": 20, "A-app": 4, "A-f": 4, "A-pair": 4, "A-r": 4, "A-x": 9, "≡+": 2}
        "#]],
    );
}

#[test]
fn machine_of_3_5() {
    let text = format!("{G}((Ω λ⟨x,y⟩. pow2(mult(g(⟨x,y⟩)))) · Ω [1]) ⟨1,3⟩");
    let (trace, end) = super::machine::run(&term(&text), &Limits::default());
    let (plain, _) = reduce(&text);
    assert_eq!(plain.counts.by_rule, trace.counts.by_rule);
    check(&print(&end), &expect!["[660; 528]*"]);
    let configurations: Vec<&str> =
        trace.steps.iter().map(|step| step.after.as_str()).skip(3).take(6).collect();
    check(
        &configurations.join("\n"),
        &expect![[r#"
        ⟨let z1 = ⟨x, y⟩; z2 = g(z1); z3 = mult(z2); z4 = pow2(z3) in z4 | λx. [1]*⟩_⟨x, y⟩ ⟨1, 3⟩
        ⟨⟨x, y, ⟨x, y⟩⟩ | ⟨let z2 = g(z1); z3 = mult(z2); z4 = pow2(z3) in z4 | λx. [1]*⟩_⟨x, y, z1⟩⟩_⟨x, y⟩ ⟨1, 3⟩
        ⟨⟨x, y, ⟨x, y⟩⟩ | ⟨⟨x, y, z1, g(z1)⟩ | ⟨let z3 = mult(z2); z4 = pow2(z3) in z4 | λx. [1]*⟩_⟨x, y, z1, z2⟩⟩_⟨x, y, z1⟩⟩_⟨x, y⟩ ⟨1, 3⟩
        ⟨⟨x, y, ⟨x, y⟩⟩ | ⟨⟨x, y, z1, g(z1)⟩ | ⟨⟨x, y, z1, z2, mult(z2)⟩ | ⟨let z4 = pow2(z3) in z4 | λx. [1]*⟩_⟨x, y, z1, z2, z3⟩⟩_⟨x, y, z1, z2⟩⟩_⟨x, y, z1⟩⟩_⟨x, y⟩ ⟨1, 3⟩
        ⟨⟨x, y, ⟨x, y⟩⟩ | ⟨⟨x, y, z1, g(z1)⟩ | ⟨⟨x, y, z1, z2, mult(z2)⟩ | ⟨pow2(z3) | λx. [1]*⟩_⟨x, y, z1, z2, z3⟩⟩_⟨x, y, z1, z2⟩⟩_⟨x, y, z1⟩⟩_⟨x, y⟩ ⟨1, 3⟩
        (λ⟨v1, v2⟩. ⟨v1, v2, ⟨v1, v2⟩⟩)* · ⟨⟨x, y, z1, g(z1)⟩ | ⟨⟨x, y, z1, z2, mult(z2)⟩ | ⟨pow2(z3) | λx. [1]*⟩_⟨x, y, z1, z2, z3⟩⟩_⟨x, y, z1, z2⟩⟩_⟨x, y, z1⟩ ⟨1, 3, ⟨1, 3⟩⟩"#]],
    );
}

#[test]
fn functions_as_arguments() {
    for (text, expect) in [
        ("((Ω λx. (λf. f (f x)) (λy. mult(y, x))) · Ω [1]) 3", expect!["[27]*"]),
        ("((Ω λx. let y = mult(x,x); z = sin(y) in add(y,z)) · Ω [1]) 3", expect!["[0.5332184286919384]*"]),
        (
            "((Ω λ⟨x, y⟩. (λg. g (λa. mult(a, y))) (λh. h (h x))) · Ω [1]) ⟨3, 5⟩",
            expect![
                "((Ω λ⟨x, y⟩. ⟨x, y, λh. let z1 = h; z2 = h; z3 = x; z4 = z2 z3; z5 = z1 z4 in z5⟩) · (Ω λ⟨x, y, g⟩. ⟨x, y, g, g⟩) · (Ω λ⟨x, y, g, z1⟩. ⟨x, y, g, z1, λa. let z2 = a; z3 = y; z4 = ⟨z2, z3⟩; z5 = mult(z4) in z5⟩) · (Ω λ⟨x, y, g, z1, z2⟩. z1 z2) · (λx. [1]*)) ⟨3, 5⟩"
            ],
        ),
        // Value 1 of remark 3.6: the function f is not known where its argument is differentiated.
        (
            "{ω : Ω((R ⇒ R) ⇒ R)} ⊢ ((Ω λx. λf. f x) · ω) 3",
            expect!["((Ω λx. λf. let z1 = f; z2 = x; z3 = z1 z2 in z3) · ω) 3"],
        ),
    ] {
        expect.assert_eq(&print(&reduce(text).1));
    }
}

#[test]
fn every_kind_of_error() {
    let mut codes = Vec::new();
    let mut all = String::new();
    let deep = format!("{}x{}", "(".repeat(3000), ")".repeat(3000));
    let lines: Vec<String> = (1..40).map(|i| format!("x{i} = ⟨x{}, x{}⟩", i - 1, i - 1)).collect();
    let doubling = format!("{{x0 : R}} ⊢ let {} in x39", lines.join("; "));
    for text in [
        "x # y",
        "(λx. x",
        "{x : R} ⊢ y",
        "(λx. sin(x)) ⟨1, 2⟩",
        "(Ω λx. x)",
        "(λx. sin(x))* · [1]*",
        deep.as_str(),
        "J h · 1",
        "λx. x x",
        "D (λx. x) · 1",
        "fun g⟨x, y⟩ = λz. x; g⟨1, 2⟩",
        "λ⟨x, x⟩. x",
        "1e999",
        doubling.as_str(),
    ] {
        let errors = super::read(SourceId(0), text, Language::Pullback).expect_err(text);
        for error in errors {
            codes.push(error.code);
            all += &format!("{} {}\n", error.code, error.message);
        }
    }
    check(
        &all,
        &expect![[r#"
            E0901 the character `#` has no meaning in this calculus
            E0902 expected `)`, found the end
            E0903 the variable `y` is not bound here
            E0904 this term has type `R^2`, but `R` is needed
            E0905 `(Ω λx.P)` must be followed by `·` and a term
            E0906 `x` is not in a linear position of this function
            E0907 this term is nested more than 2000 levels deep
            E0908 `h` is not a function symbol, so `J h` has no meaning
            E0909 this term would need a type that contains itself
            E0910 `D s · t` belongs to the differential λ-calculus
            E0911 a function symbol cannot be defined with this term
            E0912 `x` occurs twice in this pattern
            E0913 `1e999` is not a number
            E0914 this term has a part whose type is too large to be written
        "#]],
    );
    for code in super::CODES {
        let of_programs = ["E0917", "E0918"].contains(&code.code);
        assert!(codes.contains(&code.code) || of_programs, "{} is never reported", code.code);
    }
}

#[test]
fn from_core() {
    use crate::kit::simple::{Derive, Program, Term as Core, TermKind, Ty, Var};
    use crate::kit::system::System;
    use std::rc::Rc;
    use wengert_base::{Name, Span};
    use wengert_prim::Prim;
    let at = Span::new(SourceId(0), 0, 0);
    let core = |kind: TermKind, ty: Ty| Core { kind, ty, span: at };
    let real = |kind: TermKind| core(kind, Ty::Real);
    let pair = Ty::Tuple(vec![Ty::Real, Ty::Real, Ty::Real]);
    let p = Var { name: Name::new("p"), id: 1 };
    let component = |i: usize| real(TermKind::Proj(Rc::new(core(TermKind::Var(p), pair.clone())), i, 3));
    let prim =
        |name: &str, args: Vec<Core>| real(TermKind::Prim(Prim::by_name(name).expect("a primitive"), args));
    // \p -> p.0 * sin p.1 + p.2
    let product = prim("*", vec![component(0), prim("sin", vec![component(1)])]);
    let body = prim("+", vec![product, component(2)]);
    let function = core(
        TermKind::Lam(p, pair.clone(), Rc::new(body)),
        Ty::Fun(Rc::new(pair.clone()), Rc::new(Ty::Real)),
    );
    let point =
        core(TermKind::Tuple([2.0, 0.0, 5.0].map(|x| real(TermKind::Real(x))).to_vec()), pair.clone());
    let program = |derive: Derive, args: Vec<Core>, ty: Ty| Program {
        term: core(TermKind::Derive(derive, args), ty),
        data: indexmap::IndexMap::default(),
    };
    let args = vec![function, point];
    let both = program(Derive::ValueAndGrad, args.clone(), Ty::Tuple(vec![Ty::Real, pair.clone()]));
    for system in [&super::Pullback as &dyn System, &super::Differential] {
        let trace = system.trace(&both, &Limits::default()).expect("in the fragment");
        expect!["Some(Tuple([Real(5.0), Tuple([Real(0.0), Real(2.0), Real(1.0)])]))"]
            .assert_eq(&format!("{:?}", trace.result));
    }
    let errors =
        super::Pullback.trace(&program(Derive::Jvp, args, pair), &Limits::default()).expect_err("forward");
    assert_eq!(errors.first().map(|error| error.code), Some("E0917"));
}

/// At every number of steps: the end is the term that the last of them gave, recorded or not.
fn check_ends(text: &str, reduce: &dyn Fn(&Term, &Limits) -> Trace) {
    let start = term(text);
    let whole = reduce(&start, &Limits::default());
    let ends = (1..=whole.counts.steps).map(|steps| {
        let trace = reduce(&start, &Limits { steps, ..Limits::default() });
        // 20a comes with the step that is its premise.
        assert!((steps..=steps + 1).contains(&trace.counts.steps), "{text}");
        assert_eq!(trace.stopped, Some(Stopped::Steps), "{text}");
        assert_eq!(trace.end, trace.steps.last().map_or(trace.start, |step| step.after.clone()), "{text}");
        // The same without a record: the steps of one A-reduction are then taken together.
        let unseen = reduce(&start, &Limits { steps, recorded: 0, ..Limits::default() });
        assert!(unseen.counts.steps >= steps && unseen.result.is_none(), "{text}");
        (unseen.counts.steps, unseen.end)
    });
    let ends: Vec<(u64, String)> = ends.collect();
    for (steps, end) in &ends {
        let seen = reduce(&start, &Limits { steps: *steps, ..Limits::default() });
        assert_eq!(seen.end, *end, "{text} after {steps}");
    }
}

#[test]
fn a_reduction_that_stops_ends_with_the_term_after_its_last_step() {
    let pullback = |term: &Term, limits: &Limits| Reducer::new(limits, Notation::Paper).trace(term).0;
    let differential = |term: &Term, limits: &Limits| {
        super::differential::trace(&super::differential::translate(term), limits).0
    };
    for text in [
        "((Ω λ⟨x,y⟩. pow2(mult(x, add(y, 1)))) · Ω [1]) ⟨1,3⟩",
        "((Ω λx. (λf. f (f x)) (λy. mult(y, x))) · Ω [1]) 3",
        "add(1, 2) + mult(3, (λx. x) 4)",
    ] {
        check_ends(text, &pullback);
        for limit in 1..12.min(differential(&term(text), &Limits::default()).counts.steps) {
            let start = term(text);
            let all = differential(&start, &Limits::default());
            let limits = Limits { steps: limit, ..Limits::default() };
            let stopped = differential(&start, &limits);
            let expected = all.steps.get(limit as usize - 1).map(|step| step.after.clone());
            assert_eq!(Some(stopped.end), expected, "{text} after {limit}");
            let unseen = differential(&start, &Limits { recorded: 0, ..limits });
            assert_eq!((unseen.counts.steps, unseen.stopped), (limit, Some(Stopped::Steps)), "{text}");
            assert!(unseen.end != all.start, "{text} after {limit}: {}", unseen.end);
        }
    }
}

/// The rules of Figure 2 and of lin(S), each broken once.
#[test]
fn ill_typed_terms_are_refused() {
    for (text, code) in [
        ("let ⟨a, b⟩ = 1 in a", "E0904"),
        ("π1(3)", "E0904"),
        ("1 + ⟨1, 2⟩", "E0904"),
        ("sin(⟨1, 2⟩)", "E0904"),
        ("(λ(x : R). x) ⟨1, 2⟩", "E0904"),
        ("J sin · ⟨1, 2⟩", "E0904"),
        ("(λx. ⟨x, x⟩)* · [1]*", "E0904"),
        ("(Ω λx. ⟨x, x⟩) · Ω [1]", "E0904"),
        ("(λf. f 1) 2", "E0904"),
        ("(λx. (λy. y) x)* · [1]*", "E0906"),
        ("(λx. ⟨x, 1⟩)* · [1; 2]*", "E0906"),
        ("{c : R} ⊢ (λx. ⟨x, c⟩)* · [1; 2]*", "E0906"),
        ("{c : R} ⊢ (λx. c)* · [1]*", "E0906"),
        ("{s : ((R ⇒ R)*)*} ⊢ (λ⟨c, k⟩. (λg. g c)* · k)* · s", "E0906"),
        ("(λx. let z = 0 in sin(x))* · [1]*", "E0906"),
        ("{k : R*} ⊢ (λ⟨f, x⟩. f (sin(x)))* · k", "E0906"),
    ] {
        let errors = super::read(SourceId(0), text, Language::Pullback).map(|term| print(&term));
        assert_eq!(
            errors.map_err(|errors| errors.first().map(|error| error.code)),
            Err(Some(code)),
            "{text}"
        );
    }
    let differential = |text: &str| super::read(SourceId(0), text, Language::Differential);
    assert_eq!(differential("D 3 · 1").err().and_then(|e| e.first().map(|e| e.code)), Some("E0904"));
    for (text, ty) in [
        ("{l : List(R^2)} ⊢ l", "(R^2 ⇒ R ⇒ R) ⇒ R ⇒ R"),
        ("λp. ⟨π2(p), sin(π1(p))⟩", "R^2 ⇒ R^2"),
        ("{k : R*, f : R ⇒ R} ⊢ ⟨(λx. ⟨x, 0⟩)* · [1; 2]*, (λg. g 1)* · k⟩", "R* × (R ⇒ R)*"),
    ] {
        assert_eq!(super::print::print_type(term(text).ty()), ty, "{text}");
    }
}

#[test]
fn sums_in_linear_positions() {
    for (text, expected) in [
        ("{p : R × R, q : R × R} ⊢ π1(p + q)", "π1(p) + π1(q)"),
        ("{k : R*, l : R*} ⊢ (λx. x)* · (k + l)", "(λx. x)* · k + (λx. x)* · l"),
        ("{x : R, y : R} ⊢ (J sin · (x + y)) 0", "(J sin · x) 0 + (J sin · y) 0"),
        ("{f : R ⇒ R, g : R ⇒ R} ⊢ (f + g) 2", "f 2 + g 2"),
        ("{k : R*} ⊢ 0 + k", "k"),
        ("fun g⟨x⟩ = sin(sin(x)); (J g · 2) 0", "2"),
        ("fun g⟨x⟩ = mult(sin(x), sin(x)); (J g · 1) 0.5", "0.8414709848078965"),
    ] {
        assert_eq!(print(&reduce(text).1), expected, "{text}");
    }
}

/// A-reduction step by step and all at once are the same.
#[test]
fn counts_do_not_depend_on_what_is_recorded() {
    for text in [
        "((Ω λ⟨x,y⟩. pow2(mult(⟨x, y⟩))) · Ω [1]) ⟨1,3⟩",
        "{ω : Ω R} ⊢ ((Ω λ⟨x,y⟩. (λ⟨a, b⟩. mult(⟨a, b⟩)) ⟨x, y⟩) · ω) ⟨1,3⟩",
        "((Ω λx. let y = mult(x,x); z = (λf. f (f y)) (λu. mult(u, x)) in add(y,z)) · Ω [1]) 3",
        "(λg. ((Ω λx. add(g x, g (g x))) · Ω [1]) 2) (λu. let a = sin(u) in mult(a, u))",
    ] {
        let (seen, end) = reduce(text);
        let limits = Limits { recorded: 0, ..Limits::default() };
        let (unseen, other) = Reducer::new(&limits, Notation::Paper).trace(&term(text));
        assert_eq!(seen.counts.by_rule, unseen.counts.by_rule, "{text}");
        assert_eq!(print(&end), print(&other), "{text}");
    }
}

#[test]
fn rules_of_the_differential_calculus() {
    let limits = Limits::default();
    for (text, expected) in [
        ("D (λx. J sin · x) · 1", "λx. J sin · 1"),
        ("D (λp. π2(p)) · ⟨1, 2⟩", "λp. 2"),
        ("D (λx. sin(x)) · 1", "λx. (J sin · 1) x"),
        ("{f : R ⇒ R, g : R ⇒ R} ⊢ D (f + g) · 1", "D f · 1 + D g · 1"),
        ("{f : R ⇒ R, g : R ⇒ R} ⊢ (f + g) 2", "f 2 + g 2"),
        ("{p : R × R, q : R × R} ⊢ π1(p + q)", "π1(p) + π1(q)"),
        ("{x : R, y : R} ⊢ (J sin · (x + y)) 0", "(J sin · x) 0 + (J sin · y) 0"),
        ("{g : R ⇒ R ⇒ R} ⊢ D (λx. D (g x) · x) · 1", "λx. D ((D g · 1) x) · x + D (g x) · 1"),
    ] {
        let read = super::read(SourceId(0), text, Language::Differential).expect(text);
        let trace = super::differential::trace(&super::differential::translate(&read), &limits).0;
        assert_eq!(trace.end, expected, "{text}");
    }
}
