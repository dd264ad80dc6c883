//! The cotangent of a function is its tangent transposed; what is recorded of it, run again, or refused.

use super::{agree, eval, number};

/// Functionals of a function of one real.
const FUNCTIONALS: &[&str] = &[
    "\\g -> g (g 1.0)",
    "\\g -> g 0.3 * g 0.4 + g (g 0.5) ^ 2",
    "\\g -> sum (map g [0.1, 0.2, 0.3])",
    "\\g -> fold (\\acc x -> acc + g (acc * x)) 0.5 [0.1, 0.2, 0.3]",
    "\\g -> iterate 5 g 0.7",
    "\\g -> while_loop (\\x -> x < 1.0) (\\x -> x + 0.3 + 0.01 * g x) 0.2",
    "\\g -> if g 0.5 > 0.0 then g 0.6 else 0.0",
    "\\g -> derivative g 0.8",
    "\\g -> grad g 0.8",
    "\\g -> derivative (\\x -> g (g x) * x) 0.8",
    "\\g -> grad (\\x -> g (g x) * x) 0.8",
    "\\g -> derivative (derivative g) 0.8",
    "\\g -> derivative (grad g) 0.8",
    "\\g -> grad (derivative g) 0.8",
    "\\g -> grad (grad g) 0.8",
    "\\g -> grad (\\x -> grad (\\y -> g (x * y) * x) 0.4) 0.8",
    "\\g -> derivative (\\x -> grad (\\y -> g (x * y) * x) 0.4) 0.8",
    "\\g -> grad (\\x -> derivative (\\y -> g (x * y) * x) 0.4) 0.8",
    "\\g -> grad (\\x -> derivative (\\y -> grad (\\z -> g (x * y * z)) 0.9) 0.4) 0.8",
    "\\g -> sum (grad (\\v -> g (v[0] * v[1]) + g (v[1])) [0.4, 0.8])",
    "\\g -> g (checkpoint (\\y -> g y * y) 0.8)",
    "\\g -> checkpoint g 0.8 * checkpoint (\\h -> h (h 0.3)) g",
    "\\g -> grad (checkpoint (\\y -> g y * y)) 0.8",
    "\\g -> custom_vjp (\\x -> g x * x) (\\x -> (g x * x, \\w -> w * (grad g x * x + g x))) 0.8",
    "\\g -> (\\(a, b) -> a * b 0.3) (g 0.8, g)",
    "\\g -> (\\h -> h (h 0.3)) (\\x -> g x + x)",
    "\\g -> let (y, l) = linearize g 0.8 in l (g 0.4)",
    "\\g -> let (y, p) = vjp g 0.8 in p y",
    "\\g -> snd (jvp g (0.8, g 0.2))",
    "\\g -> snd (jvp (\\x -> \\y -> g (x * y)) (0.8, 1.0)) 0.4",
    "\\g -> apply_dual (pullback (\\h -> h (g 0.3)) (\\_ -> to_dual 1.0) g) sin",
];

#[test]
fn the_cotangent_of_a_function_is_its_tangent_transposed() {
    for functional in FUNCTIONALS {
        for (point, tangent) in [("sin", "cos"), ("(\\x -> x * x + 0.1)", "(\\x -> exp x)")] {
            agree(
                &format!("apply_dual (pullback ({functional}) (\\_ -> to_dual 1.0) {point}) {tangent}"),
                &format!("snd (jvp ({functional}) ({point}, {tangent}))"),
            );
        }
    }
}

#[test]
fn tangents_of_functionals_are_difference_quotients() {
    for functional in FUNCTIONALS {
        let at = |step: f64| number(&format!("({functional}) (\\x -> sin x + ({step:?}) * cos x)"));
        let quotient = (8.0 * (at(1e-3) - at(-1e-3)) - (at(2e-3) - at(-2e-3))) / 12e-3;
        let tangent = number(&format!("snd (jvp ({functional}) (sin, cos))"));
        assert!(
            (tangent - quotient).abs() <= 1e-7 * (1.0 + tangent.abs()),
            "{functional}: {tangent}, differences give {quotient}"
        );
    }
}

#[test]
fn functions_of_several_arguments_and_of_functions() {
    for (functional, point, tangent) in [
        ("\\g -> g 1.0 2.0", "(\\x y -> x * y)", "(\\x y -> x + y)"),
        ("\\g -> derivative (\\x -> g x (x * x)) 2.0", "(\\x y -> x * y)", "(\\x y -> x ^ 3 * y)"),
        ("\\g -> g (\\x -> x * 2.0)", "(\\f -> f (f 1.0))", "(\\f -> f 3.0)"),
        ("\\(g, a) -> g (g a)", "(sin, 1.0)", "(cos, 2.0)"),
        ("\\(g, h) -> g (h 0.5) * h (g 0.4)", "(sin, exp)", "(cos, sin)"),
        ("\\gs -> sum (map (\\g -> g 0.5) gs)", "[sin, cos]", "[cos, exp]"),
    ] {
        agree(
            &format!("apply_dual (pullback ({functional}) (\\_ -> to_dual 1.0) {point}) {tangent}"),
            &format!("snd (jvp ({functional}) ({point}, {tangent}))"),
        );
    }
}

#[test]
fn functions_as_results_are_pulled_back() {
    // The form on the function that results takes its value, or its derivative, somewhere.
    for (form, expected) in [
        ("\\h -> h 3.0", "\\x -> x * 3.0 * 3.0"),
        ("\\h -> derivative h 3.0", "\\x -> 2.0 * x * 3.0"),
        ("\\h -> grad h 3.0", "\\x -> 2.0 * x * 3.0"),
        ("\\h -> h (h 1.5)", "\\x -> x * (x * 1.5 ^ 2) ^ 2"),
    ] {
        agree(
            &format!(
                "apply_dual (pullback (\\x -> (\\y -> x * y * y)) (pullback ({form}) (\\_ -> to_dual 1.0)) 2.0) 1.0"
            ),
            &format!("derivative ({expected}) 2.0"),
        );
    }
}

#[test]
fn rules_that_capture_variables_of_derivatives_around_them() {
    let plain = "k * (k * k * z) * z * z";
    let by_jvp = "custom_jvp (\\x -> k * x * z * z) (\\(x, t) -> (k * x * z * z, k * t * z * z)) (k * k * z)";
    let by_vjp =
        "custom_vjp (\\x -> k * x * z * z) (\\x -> (k * x * z * z, \\w -> k * w * z * z)) (k * k * z)";
    let checkpointed = "checkpoint (\\x -> k * x * z * z) (k * k * z)";
    for outer in ["grad", "derivative"] {
        for inner in ["grad", "derivative"] {
            let program = |body: &str| format!("{outer} (\\k -> {inner} (\\z -> {body}) 1.5) 2.0");
            for body in [by_jvp, by_vjp, checkpointed] {
                agree(&program(body), &program(plain));
            }
        }
    }
}

#[test]
fn tangents_of_functions_are_recorded_and_run_again() {
    for (program, expected) in [
        ("grad (\\a -> snd (jvp (\\x -> \\y -> x * y * y * a) (2.0, 1.0)) a) 5.0", 75.0),
        ("grad (checkpoint (\\a -> snd (jvp (\\x -> \\y -> x * y * y * a) (a, 1.0)) a)) 5.0", 75.0),
        (
            "grad (\\a -> let f = snd (jvp (\\x -> \\y -> x * y * y * a) (a, 1.0)) in checkpoint f a) 5.0",
            75.0,
        ),
        ("let (_, l) = linearize (\\x -> \\y -> x * x * y) 3.0 in l 1.0 2.0", 12.0),
        ("derivative (\\x -> let (_, l) = linearize (\\z -> x * z * z) 2.0 in l x) 3.0", 24.0),
        ("grad (\\x -> let (_, p) = vjp (\\z -> x * z * z) 2.0 in p x) 3.0", 24.0),
        (
            "let (_, dl) = jvp (\\x -> linearize (\\z -> x * z * z) 2.0) (3.0, 1.0) in let (_, l) = dl in l 1.0",
            4.0,
        ),
    ] {
        assert!((number(program) - expected).abs() < 1e-9, "{program}");
    }
}

/// Functionals that no tape holds: what they do with the function is run again in forward mode.
#[test]
fn functionals_that_cannot_be_recorded_are_pulled_back() {
    for (functional, point, tangent) in [
        ("\\h -> grad (\\y -> h y y) 2.0", "(\\a b -> a * b)", "(\\a b -> a * a * b)"),
        (
            "\\h -> sum (map (\\s -> grad (\\y -> h y s) 2.0) [1.0, 3.0])",
            "(\\a b -> a * b)",
            "(\\a b -> a * a * b)",
        ),
        ("\\h -> (taylor 2 h 2.0)[2]", "sin", "cos"),
        ("\\h -> (taylor 2 h 2.0)[2] * h 1.0", "sin", "cos"),
        ("\\(h, a) -> a * (taylor 2 h a)[2]", "(sin, 2.0)", "(cos, 3.0)"),
        (
            "\\h -> let k = (taylor 1 h 2.0)[1] in custom_jvp (\\x -> k * x) (\\(x, t) -> (k * x, k * t)) (h 1.0)",
            "sin",
            "cos",
        ),
        (
            "\\f -> apply_dual (pullback f (\\_ -> to_dual 1.0) sin) cos",
            "(\\g -> g 0.2)",
            "(\\g -> g (g 0.3))",
        ),
        ("\\f -> apply_dual (pullback f (\\_ -> to_dual 1.0) sin) cos", "(\\_ -> 2.0)", "(\\g -> g (g 0.3))"),
        (
            "\\f -> apply_dual (pullback (\\(g, a) -> f (\\y -> g (a * y)) * a) (\\_ -> to_dual 1.0) (sin, 0.4)) (cos, 1.0)",
            "(\\g -> g 0.2)",
            "(\\g -> g (g 0.3))",
        ),
        (
            "\\f -> apply_dual (pullback (\\g -> grad (\\x -> f (\\y -> g (y * x))) 0.7) (\\_ -> to_dual 1.0) sin) cos",
            "(\\g -> g 0.2)",
            "(\\g -> g (g 0.3))",
        ),
    ] {
        agree(
            &format!("apply_dual (pullback ({functional}) (\\_ -> to_dual 1.0) {point}) {tangent}"),
            &format!("snd (jvp ({functional}) ({point}, {tangent}))"),
        );
    }
    for (program, expected) in [
        (
            "apply_dual (pullback (\\h -> grad (\\y -> h y y) 2.0) (\\_ -> to_dual 1.0) (\\a b -> a * b)) (\\a b -> a * a * b)",
            12.0,
        ),
        (
            "apply_dual (pullback (\\h -> (taylor 2 h 2.0)[2]) (\\_ -> to_dual 1.0) sin) cos",
            0.4161468365471424,
        ),
    ] {
        assert!((number(program) - expected).abs() < 1e-12, "{program}");
    }
}

#[test]
fn functionals_on_functionals_are_pulled_back() {
    for program in [
        "let d = pullback (\\g -> g 2.0) (\\_ -> to_dual 1.0) sin in \
         apply_dual (pullback (\\e -> apply_dual e cos) (\\_ -> to_dual 1.0) d) d",
        "let d = pullback (\\g -> (taylor 0 g 2.0)[0]) (\\_ -> to_dual 1.0) sin in \
         apply_dual (pullback (\\e -> apply_dual e cos) (\\_ -> to_dual 1.0) d) d",
        "let d = pullback (\\(g, a) -> a * (taylor 0 g 2.0)[0]) (\\_ -> to_dual 1.0) (exp, 1.0) in \
         snd (jvp (\\e -> apply_dual e (cos, 0.0)) (d, d))",
        "let d = pullback (\\(g, a) -> a * (taylor 0 g 2.0)[0]) (\\_ -> to_dual 1.0) (exp, 1.0) in \
         let c = pullback (\\(g, a) -> a * g 2.0) (\\_ -> to_dual 1.0) (exp, 1.0) in \
         snd (jvp (\\e -> apply_dual e (cos, 0.0)) (c, d))",
        "let d = pullback (\\(g, a) -> a * (taylor 0 g 2.0)[0]) (\\_ -> to_dual 1.0) (exp, 1.0) in \
         let c = pullback (\\(g, a) -> a * g 2.0) (\\_ -> to_dual 1.0) (exp, 1.0) in \
         apply_dual (pullback (\\e -> apply_dual e (cos, 0.0)) (\\_ -> to_dual 1.0) d) c",
    ] {
        assert!((number(program) - 2.0_f64.cos()).abs() < 1e-12, "{program} gives {}", eval(program));
    }
}

#[test]
fn functionals_that_cannot_be_recorded_are_differentiated() {
    for (functional, point, tangent) in [
        ("\\h -> grad (\\y -> k * h y y) 2.0", "(\\a b -> a * b * k)", "(\\a b -> k * k * a * a * b)"),
        ("\\h -> k * (taylor 2 h k)[2]", "(\\x -> sin (k * x))", "(\\x -> cos (k * x))"),
        ("\\h -> (taylor 2 h k)[2] * h (h k)", "(\\x -> sin (k * x))", "(\\x -> cos (k * x))"),
    ] {
        let pulled =
            format!("apply_dual (pullback ({functional}) (\\y -> to_dual (k * y)) {point}) {tangent}");
        let pushed = format!("let (y, t) = jvp ({functional}) ({point}, {tangent}) in k * y * t");
        for outer in ["derivative", "grad", "derivative (grad", "grad (derivative", "grad (grad"] {
            let close = if outer.contains('(') { ")" } else { "" };
            let program = |body: &str| format!("{outer} (\\k -> {body}){close} 1.5");
            agree(&program(&pulled), &program(&pushed));
        }
        // The functional leaves the derivative.
        let dual = format!("pullback ({functional}) (\\y -> to_dual (k * y)) {point}");
        agree(
            &format!("let k = 1.5 in apply_dual (snd (jvp (\\k -> {dual}) (k, 1.0))) {tangent}"),
            &format!("derivative (\\k -> apply_dual ({dual}) ((\\k -> {tangent}) 1.5)) 1.5"),
        );
    }
}

#[test]
fn what_cannot_be_seen_to_be_linear_is_refused() {
    for rule in [
        "\\(x, t) -> (sin x, t * t)",
        "\\(x, t) -> (sin x, t + 1.0)",
        "\\(x, t) -> (sin x, exp t)",
        "\\(x, t) -> (sin x, if t > 0.0 then t else 0.0 * t)",
        "\\(x, t) -> (sin x, checkpoint (\\s -> s * s) t)",
        "\\(x, t) -> (sin x, custom_jvp cos (\\(y, s) -> (cos y, s)) t)",
        "\\(x, t) -> (sin x, cos x)",
    ] {
        let message = eval(&format!("grad (custom_jvp sin ({rule})) 1.0"));
        assert!(message.starts_with("E0721"), "{rule} gives {message}");
    }
    for pullback in ["\\w -> w * w", "\\w -> w + 1.0", "\\w -> 1.0", "\\w -> abs w"] {
        let message = eval(&format!("derivative (custom_vjp sin (\\x -> (sin x, {pullback}))) 1.0"));
        assert!(message.starts_with("E0721"), "{pullback} gives {message}");
    }
}
