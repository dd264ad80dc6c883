//! Large programs in pieces, beside the evaluator of the IR.

use super::{HEAVY, outline, weight};
use crate::Math;
use crate::beside::Beside;
use std::fmt::Write;
use wengert_ir::Program;
use wengert_ir::eval::Value;

/// So many times a map, a sum, a loop that carries an array and a number out of a branch, and one that runs as often as it wants.
fn text(count: usize) -> String {
    let mut body = String::new();
    for k in 0..count {
        let (x, s) =
            if k == 0 { ("xs".into(), "c".into()) } else { (format!("y{}", k - 1), format!("s{}", k - 1)) };
        write!(
            body,
            "z{k} = each i{k} < n, x{k} in {x} {{ a{k} = x{k} + {s} b{k} = a{k} * 0.5 yield b{k} }}
            t{k} = for j{k} < n, u{k} = 0.0, v{k} in z{k} {{ w{k} = u{k} + v{k} yield w{k} }}
            p{k} = t{k} < 1.0
            y{k}, s{k} = if p{k} {{
                q{k}, o{k} = for l{k} < n, g{k} = z{k}, h{k} = t{k} {{
                    d{k} = g{k}[l{k}] e{k} = h{k} - d{k} f{k} = set(g{k}, l{k}, e{k}) yield f{k}, e{k}
                }}
                yield q{k}, o{k}
            }} else {{
                r{k} = while m{k} = t{k} {{ k{k} = 0.5 < m{k} yield k{k} }} do v{k} {{ nn{k} = v{k} * 0.25 yield nn{k} }}
                yield z{k}, r{k}
            }}
            "
        )
        .expect("it is written to memory");
    }
    let last = count - 1;
    format!(
        "func f(xs: []Real, c: Real) -> ([]Real, Real) {{ n = length(xs) {body} return y{last}, s{last} }} entry f = f"
    )
}

fn program(count: usize) -> Program {
    let text = text(count);
    let program = match wengert_ir::parse::parse(&text) {
        Ok(program) => program,
        Err(error) => panic!("{error:?}\n{text}"),
    };
    assert_eq!(wengert_ir::verify::verify(&program), Ok(()));
    program
}

#[test]
fn large_functions_are_cut_and_give_the_same() {
    let program = program(80);
    let mut beside = Beside::new(&program, &[Math::Strict]);
    let mut loops = crate::lower::lower(&program);
    crate::memory::mark(&mut loops);
    let before = loops.funcs.len();
    assert!(loops.funcs.iter().any(|(_, func)| weight(&func.body) > HEAVY));
    outline(&mut loops);
    assert!(loops.funcs.len() > before + 160, "{} pieces", loops.funcs.len() - before);
    assert!(loops.funcs.iter().all(|(_, func)| weight(&func.body) <= HEAVY));
    for size in [0_i64, 1, 2, 7, 100] {
        let xs: Vec<f64> = (0..size).map(|k| (k * 7919 % 257) as f64 * 0.0125 - 1.5).collect();
        beside.agrees(&[Value::reals(xs), Value::Real(0.75)], format_args!("size {size}"));
    }
}

#[test]
fn small_functions_stay_whole() {
    let mut loops = crate::lower::lower(&program(3));
    let before = loops.clone();
    outline(&mut loops);
    assert_eq!(format!("{:?}", loops.funcs), format!("{:?}", before.funcs));
}

/// A loop that is cut into strips is there twice, with the same variables: neither needs what the other has left in them.
#[test]
fn pieces_take_and_give_what_their_loops_need() {
    let mut text = "func f(xs: []Real, n: Int) -> Real { s0 = 1.0 + 0.0".to_owned();
    for k in 1..160 {
        let before = k - 1;
        write!(
            text,
            " s{k} = for i{k} < n, t{k} = 0.0, x{k} in xs {{
                a{k} = x{k} * s{before} b{k} = sin(a{k}) c{k} = b{k} + a{k} d{k} = t{k} + c{k} yield d{k}
            }}"
        )
        .expect("it is written to memory");
    }
    text.push_str(" return s159 } entry f = f");
    let program = wengert_ir::parse::parse(&text).expect("a program");
    let mut loops = crate::lower::lower(&program);
    crate::memory::mark(&mut loops);
    crate::blocks::split(&mut loops);
    let before = loops.funcs.len();
    outline(&mut loops);
    assert!(loops.funcs.len() > before + 300, "{} pieces", loops.funcs.len() - before);
    for (_, piece) in loops.funcs.iter().skip(before) {
        assert!(
            piece.params.len() <= 8 && piece.results.len() == 1,
            "{:?} {:?}",
            piece.params,
            piece.results
        );
    }
}
