//! Loops that add to elements that lie apart, beside the evaluator of the IR.

use crate::Math;
use crate::beside::Beside;
use wengert_ir::Program;
use wengert_ir::eval::Value;

/// Adds at so many times the index and something more.
fn program(way: &str, places: &[(i64, i64)]) -> Program {
    let mut body = String::new();
    let mut sum = "g".to_string();
    for (number, (times, more)) in places.iter().enumerate() {
        body += &format!(
            "f{number} = i * {times} k{number} = f{number} + {more} x{number} = xs[k{number}] c{number} = x{number} * {number}.5
             g{number} = {sum} with [k{number}] += c{number} "
        );
        sum = format!("g{number}");
    }
    let text = format!(
        "func f(xs: []Real, l: Int) -> []Real {{
            zeros = zeros(xs)
            s = {way} i < l, g += zeros {{ {body} yield {sum} }}
            return s
        }}
        entry f = f"
    );
    wengert_ir::parse::parse(&text).expect("the text is a program")
}

/// The loops of a program, as text.
fn freed(program: &Program) -> String {
    let mut loops = crate::lower::lower(program);
    crate::dead::clean(&mut loops);
    super::free(&mut loops);
    crate::loops::print(&loops)
}

/// The same for any number of elements and iterations, failures included.
fn agrees(program: &Program, maths: &[Math]) {
    let mut beside = Beside::new(program, maths);
    for count in [0, 1, 2, 3, 4, 5, 33, 34, 35, 64, 513] {
        let xs: Vec<f64> = (0..count).map(|i| 1.0 / f64::from(i % 37 + 1)).collect();
        for len in [0, count / 4, count / 3, (count - 1) / 2, count / 2, count / 2 + 1, count] {
            let args = [Value::reals(xs.clone()), Value::Int(i64::from(len))];
            beside.agrees(&args, format_args!("{count} {len}"));
        }
    }
}

#[test]
fn iterations_that_add_to_elements_that_lie_apart_are_independent() {
    for way in ["each", "each backward"] {
        for places in
            [&[(2, 0), (2, 1)][..], &[(3, 2), (3, 0), (3, 1)], &[(1, 2)], &[(4, 1), (4, 3)], &[(-1, 4)]]
        {
            let program = program(way, places);
            let loops = freed(&program);
            assert!(loops.contains(" independent"), "{loops}");
            // All that is stored is stored after all checks.
            let stored = loops.find("] = r").expect("something is stored");
            assert!(!loops[stored..].contains("fail "), "{loops}");
            agrees(&program, &[Math::Strict, Math::Fast]);
        }
    }
}

#[test]
fn iterations_that_may_add_to_the_same_element_wait_for_each_other() {
    for way in ["each", "each backward"] {
        let meeting = [
            &[(2, 0), (2, 2)][..],
            &[(2, 1), (2, 1)],
            &[(1, 0), (1, 1)],
            &[(2, 0), (3, 1)],
            &[(4, 0), (2, 1)],
            &[(0, 1)],
        ];
        for places in meeting {
            let program = program(way, places);
            assert!(!freed(&program).contains(" independent"), "{places:?}");
            agrees(&program, &[Math::Strict]);
        }
    }
}
