//! Functionals of functions that give functions.

use super::{agree, compiled, interpreted, plus};
use std::path::Path;
use wengert_driver::Session;
use wengert_driver::scope::Scope;

/// What a function gives that is given as a tangent may be a function, which is given as a tangent too.
#[test]
fn functions_that_give_functions_are_given_as_tangents() {
    for (functional, expected) in [
        (
            "\\f -> let p = f 0.3 in p 0.5 * p 0.4",
            "\\s -> (sin 0.3 + s * 0.3 * 0.5) * 0.5 * ((sin 0.3 + s * 0.3 * 0.4) * 0.4)",
        ),
        (
            "\\f -> grad (\\x -> let p = f x in p 0.5 * p x) 0.4",
            "\\s -> grad (\\x -> (sin x * 0.5 + s * x * 0.25) * (sin x * x + s * x * x * x)) 0.4",
        ),
    ] {
        agree(
            &format!(
                "snd (jvp ({functional}) ((\\a -> let s = sin a in \\b -> s * b), \\a -> \\b -> a * b * b))"
            ),
            &format!("derivative ({expected}) 0.0"),
        );
    }
}

/// Functionals of functions that give functions.
const CURRIED: &[&str] = &[
    "\\f -> grad (f 2.0) 3.0",
    "\\f -> let g = f 1.0 in g 2.0 * g 3.0",
    "\\f -> sum (map (f 2.0) [1.0, 2.0])",
    "\\f -> sum (map (\\g -> g 2.0) (map f [0.5, 0.6]))",
    "\\f -> derivative (derivative (f 0.5)) 0.3",
    "\\f -> grad (grad (f 0.5)) 0.3",
    "\\f -> (taylor 3 (f 0.5) 0.3)[3]",
    "\\f -> let (y, p) = vjp (f 2.0) 0.3 in p y",
    "\\f -> (f 0.3 >> f 0.2) 0.4",
    "\\f -> grad (f 0.3 >> f 0.2) 0.4",
    "\\f -> iterate 3 (f 0.4) 0.2",
    "\\f -> derivative (\\s -> let g = f s in g s * g 0.3) 0.5",
    "\\f -> grad (\\s -> let g = f s in g s * g 0.3) 0.5",
    "\\f -> grad (\\s -> grad (f s) 0.3) 0.5",
    "\\f -> grad (grad (\\s -> let g = f s in g s * g 0.3)) 0.5",
    "\\f -> grad (\\s -> grad (\\y -> let g = f (s * y) in g y * g s) 0.4) 0.7",
    "\\f -> grad (\\s -> sum (map (\\g -> g s) (map f [0.6, s]))) 0.5",
    "\\f -> grad (\\s -> let g = (if s > 0.2 then f s else f 0.1) in g s * g 0.2) 0.4",
    "\\f -> let g = snd (jvp f (0.4, 1.0)) in grad g 0.3 * g 0.1",
    "\\f -> let (y, p) = vjp (\\x -> let g = f x in (g 0.3, g x)) 0.4 in let a = p y in a",
];

/// The same of functions of three arguments, and of those that give a number besides.
const CURRIED_OTHERWISE: &[(&str, &str, &str)] = &[
    (
        "\\f -> grad (\\x -> let g = f x in let h = g x in h 2.0 * h x * g 0.3 0.4) 0.7",
        "(\\x -> let s = sin x in \\y -> let c = s * y in \\z -> c + y * z)",
        "(\\x y z -> x + y * y * z)",
    ),
    (
        "\\f -> grad (\\x -> let (a, g) = f x in a * g x * g a) 0.6",
        "(\\x -> (sin x, \\y -> x * y))",
        "(\\x -> (x * x, \\y -> x + y))",
    ),
    (
        "\\f -> grad (\\x -> let (g, h) = f x in h x * g x * g 0.3) 0.6",
        "(\\x -> ((\\z -> x * z * z), \\y -> x * y))",
        "(\\x -> (sin, \\y -> x + y))",
    ),
    (
        "\\f -> grad (\\x -> let p = f x in p (\\y -> x * y) * p sin) 0.4",
        "(\\x -> let c = sin x in \\g -> c * g 0.2)",
        "(\\x g -> g (g x))",
    ),
];

/// A tangent that uses less of what varies than the function does; and cotangents, and derivatives, of what functions that give functions
/// are differentiated by.
const OTHERS: &[(&str, &str)] = &[
    (
        "snd (jvp (\\f -> grad (\\x -> grad (\\y -> f (x * y, y) * f (x * y, x)) 0.4) 0.7) ((\\(x, y) -> sin x * y * y), (\\(x, y) -> sin y)))",
        "grad (\\x -> grad (\\y -> sin (x * y) * (y * y * sin x + x * x * sin y)) 0.4) 0.7",
    ),
    (
        "snd (jvp (\\f -> grad (\\x -> grad (\\y -> f (x * y, y) * f (x * y, x)) 0.4) 0.7) ((\\(x, y) -> sin y), (\\(x, y) -> sin x * y * y)))",
        "grad (\\x -> grad (\\y -> sin (x * y) * (y * y * sin x + x * x * sin y)) 0.4) 0.7",
    ),
    (
        "apply_dual (pullback (\\f -> grad (\\x -> let g = f x in g 0.3 * g x) 0.6) (\\_ -> to_dual 1.0) (\\x -> let c = sin x in \\y -> c * y * y)) (\\x y -> x * y)",
        "grad (\\x -> sin x * 0.09 * x * x + sin x * x * x * x * 0.3) 0.6",
    ),
    (
        "grad (\\s -> snd (jvp (\\f -> grad (\\x -> let g = f (x * s) in g x) 0.7) ((\\x -> let c = sin (s * x) in \\y -> c * y * y), (\\x y -> sin (x * y * s))))) 0.4",
        "grad (\\s -> grad (\\x -> sin (x * s * x * s)) 0.7) 0.4",
    ),
    // Arrays of functions.
    (
        "snd (jvp (\\f -> grad (\\x -> sum (map (\\g -> g x) (f x))) 0.5) ((\\a -> [sin, \\y -> a * y]), (\\a -> [cos, \\y -> y * a])))",
        "grad (\\x -> cos x + x * x) 0.5",
    ),
    (
        "snd (jvp (\\f -> grad (\\x -> let fs = f x in fs[1] (fs[0] x)) 0.5) ((\\a -> [sin, \\y -> a * y]), (\\a -> [cos, \\y -> y * a])))",
        "grad (\\x -> x * sin x + x * cos x) 0.5",
    ),
    (
        "apply_dual (pullback (\\f -> grad (\\x -> let fs = f x in fs[1] (fs[0] x)) 0.5) (\\_ -> to_dual 1.0) (\\a -> [sin, \\y -> a * y])) (\\a -> [cos, \\y -> y * a])",
        "grad (\\x -> x * sin x + x * cos x) 0.5",
    ),
    (
        "grad (\\k -> snd (jvp (\\f -> sum (map (\\g -> g k) (f k))) ((\\a -> [sin, \\y -> a * y]), (\\a -> [cos, \\y -> y * k])))) 0.5",
        "grad (\\k -> cos k + k * k) 0.5",
    ),
    (
        "snd (jvp (\\f -> grad (\\x -> let (fs, y) = f x in sum (map (\\g -> g y) fs)) 0.5) ((\\a -> ([sin, \\y -> a * y], a)), (\\a -> ([cos, \\y -> y * a], a * a))))",
        "grad (\\x -> cos x + x * x + (cos x + x) * x * x) 0.5",
    ),
];

/// The functions, and the sum of one of them and a multiple of the next.
const OF_TWO: &[&str] = &[
    "(\\x y -> x * y * y)",
    "(\\x -> let s = sin x in \\y -> cos (s + y))",
    "(\\x -> if x > 0.1 then sin else (\\y -> x * y))",
];

/// Derivatives with respect to these are compiled, also where what varies is handed on from one argument to the next.
#[test]
fn functions_that_give_functions_are_compiled() {
    let mut session = Session::new();
    let report = session.check_text("empty.wg", "def nothing = 0\n", Path::new("."));
    let scope = Scope::of_file(&report.modules);
    let mut programs: Vec<(&str, &str, &str)> = CURRIED_OTHERWISE.to_vec();
    for functional in CURRIED {
        for (i, f) in OF_TWO.iter().enumerate() {
            programs.push((functional, f, OF_TWO[(i + 1) % OF_TWO.len()]));
        }
    }
    for (functional, f, h) in programs {
        let program = format!("snd (jvp ({functional}) ({f}, {h}))");
        let tangent = compiled(&mut session, &scope, &program, &[false, true]);
        let mut at = |step: f64| {
            let text = format!("(\\s -> ({functional}) (({}) {f} {h})) ({step:?})", plus(functional));
            interpreted(&mut session, &scope, &text)
        };
        let quotient = (8.0 * (at(1e-3) - at(-1e-3)) - (at(2e-3) - at(-2e-3))) / 12e-3;
        assert!(
            (tangent - quotient).abs() <= 1e-7 * (1.0 + tangent.abs()),
            "{program}: {tangent}, differences give {quotient}"
        );
    }
    for (program, expected) in OTHERS {
        let found = compiled(&mut session, &scope, program, &[false, true]);
        let expected = interpreted(&mut session, &scope, expected);
        assert!(
            (found - expected).abs() <= 1e-12 * (1.0 + expected.abs()),
            "{program}\ngives {found}, not {expected}"
        );
    }
}
