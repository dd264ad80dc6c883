//! Derivatives one number at a time, beside the evaluator of the IR.

use super::super::Compiler;
use super::super::tests::{agrees, program};
use crate::Math;

/// How often code asks whether something is no number.
fn questions(text: &str, math: Math) -> usize {
    asked(text, math, false)
}

/// The same, with loops divided between threads first, if it is said so.
fn asked(text: &str, math: Math, divided: bool) -> usize {
    let mut loops = crate::lower::lower(&program(text));
    crate::dead::clean(&mut loops);
    if divided {
        crate::parallel::divide(&mut loops, math == Math::Strict, true);
    }
    crate::memory::mark(&mut loops);
    let mut compiler = Compiler::new(&loops, math).expect("there is a code generator");
    let made = loops.funcs.iter().map(|(id, func)| compiler.build(id, func).func.display().to_string());
    made.map(|text| text.matches("fcmp uno").count()).sum()
}

#[test]
fn steps_that_wait_for_each_other_do_not_look_for_zeros_first() {
    let text = "func f(xs: []Real) -> (Real, Real) {
        n = length(xs)
        t, s = for backward i < n, t = 1.0, s = 0.0, x in xs {
            big = x > 1.0
            d, e = if big { yield 0.5, 2.0 } else { y = 1.0 / x z = mul_zero(x, y) yield z, y }
            t2 = mul_zero(t, d)
            c = mul_zero(t, e)
            s2 = s + c
            yield t2, s2
        }
        return t, s
    }
    entry f = f";
    assert_eq!((questions(text, Math::Fast), questions(text, Math::Strict)), (1, 0));
    agrees(text, 0, 0);
}

#[test]
fn steps_that_look_at_what_is_doubtful_are_as_they_were() {
    let text = "func f(xs: []Real) -> Real {
        n = length(xs)
        s = for i < n, s = 1.0, x in xs {
            y = 1.0 / x
            z = mul_zero(x, y)
            w = mul_zero(s, z)
            low = w < 0.5
            t = if low { a = w + 2.0 yield a } else { yield w }
            yield t
        }
        return s
    }
    entry f = f";
    assert_eq!(questions(text, Math::Fast), 0);
    agrees(text, 0, 0);
}

#[test]
fn operations_in_a_line_do_not_look_for_zeros_first() {
    let text = "func f(xs: []Real) -> Real {
        n = length(xs)
        s = for i < n, s = 0.0, x in xs {
            k = for j < i, u = 1.0 { v = u * 0.5 w = v + x yield w }
            a = 1.0 / x
            b = mul_zero(x, a)
            c = mul_zero(b, x)
            d = mul_zero(c, k)
            e = div_zero(x, x)
            f = mul_zero(e, d)
            g = mul_zero(f, b)
            h = mul_zero(g, x)
            l = div_zero(h, x)
            t = s + l
            yield t
        }
        return s
    }
    entry f = f";
    assert_eq!((questions(text, Math::Fast), questions(text, Math::Strict)), (1, 0));
    agrees(text, 0, 0);
}

/// Steps that store what they derive, and read an array.
fn storing(read: &str) -> String {
    format!(
        "func f(xs: []Real) -> (Real, []Real) {{
        n = length(xs)
        zeros = zeros(xs)
        ones = each k < n, x0 in xs {{ one = x0 + 1.0 yield one }}
        m = length(ones)
        t, s = for backward i < m, t = 1.0, s = zeros, x in {read} {{
            big = x > 1.0
            d, e = if big {{ yield 0.5, 2.0 }} else {{ y = 1.0 / x z = mul_zero(x, y) yield z, y }}
            t2 = mul_zero(t, d)
            c = mul_zero(t, e)
            s2 = s with [i] = c
            yield t2, s2
        }}
        return t, s
    }}
    entry f = f"
    )
}

#[test]
fn steps_that_store_into_new_arrays_do_not_look_for_zeros_first() {
    for text in [storing("xs"), storing("ones")] {
        assert_eq!((questions(&text, Math::Fast), questions(&text, Math::Strict)), (1, 0));
        agrees(&text, 1, 1);
    }
}

#[test]
fn steps_that_read_where_they_store_look_for_zeros() {
    let text = storing("xs").replace("s2 = s with [i] = c", "b = s[i] h = b + c s2 = s with [i] = h");
    assert_eq!(questions(&text, Math::Fast), 0);
    agrees(&text, 1, 1);
}

/// An array into which only one parameter of a part of a loop leads is its own.
#[test]
fn steps_that_store_into_arrays_of_their_own_do_not_look_for_zeros_first() {
    let text = "func f(xs: []Real) -> [][]Real {
        n = length(xs)
        rows = each i < n, x in xs {
            t, s = for backward j < n, t = x, y in xs {
                z = 1.0 / y
                t2 = mul_zero(t, z)
                c = mul_zero(t, y)
                yield t2, c
            }
            yield s
        }
        return rows
    }
    entry f = f";
    // Of a loop that is divided there are two texts.
    for (divided, expected) in [(false, 1), (true, 2)] {
        let count = |math| asked(text, math, divided);
        assert_eq!((count(Math::Fast), count(Math::Strict)), (expected, 0), "{divided}");
    }
    agrees(text, 0, 0);
}
