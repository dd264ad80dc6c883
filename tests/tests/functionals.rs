//! Functions as the inputs that are differentiated: functionals (`pullback`) against forward mode (`jvp`, which perturbs the
//! function) and difference quotients, for functionals that apply the function in all kinds of places:
//! inside other derivatives, loops, checkpoints, custom rules, data. And custom rules that capture variables of
//! derivatives around them, against the same function without the rule.

use std::path::Path;
use wengert_driver::scope::Scope;
use wengert_driver::{Options, Session, show};
use wengert_tests::everywhere;

/// The value of an expression as every engine prints it, or the message of the error.
fn eval(text: &str) -> String {
    let mut session = Session::new();
    let report = session.check_text("empty.wg", "def nothing = 0\n", Path::new("."));
    let scope = Scope::of_file(&report.modules);
    everywhere::eval(&mut session, &scope, text)
}

fn number(text: &str) -> f64 {
    let value = eval(text);
    value.parse().unwrap_or_else(|_| panic!("{text}\ngives {value}"))
}

fn agree(first: &str, second: &str) {
    let (a, b) = (number(first), number(second));
    assert!((a - b).abs() <= 1e-9 * (1.0 + a.abs()), "{first}\ngives {a}, but\n{second}\ngives {b}");
}

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

/// Derivatives with respect to functions inside of which reverse mode goes through these functions: `c` says at run time which it was, or
/// `n` how often.
const REVERSE_INSIDE: &[&str] = &[
    "jvp (\\f -> grad f 2.0) (sin, cos)",
    "(\\c -> jvp (\\f -> grad (if c then f else (\\y -> cos (k * y))) k) (sin, \\y -> y * y))",
    "(\\c -> apply_dual (pullback (\\f -> grad (if c then f else cos) k) (\\_ -> to_dual 1.0) sin) exp)",
    "(\\c -> jvp (\\(f, g) -> grad (if c then \\x -> f x * g (f x) else g) k) ((sin, exp), (cos, \\x -> x * x)))",
    "(\\n -> jvp (\\f -> grad (iterate n (\\g -> \\x -> g (f x)) f) k) (sin, \\x -> x ^ 3))",
    "jvp (\\r -> grad (\\x -> r.f x * r.g (r.f x)) k) ({ f = sin, g = exp }, { f = cos, g = \\x -> x ^ 3 })",
    "jvp (\\fs -> sum (map (\\f -> grad f k) fs)) ([sin, cos, \\x -> x * x], [cos, exp, \\x -> x ^ 3])",
    "jvp (\\fs -> grad (\\x -> fold (\\y f -> f y) x fs) k) ([sin, cos, \\x -> x * x], [cos, exp, \\x -> x ^ 3])",
    "(\\c -> let o = if c then Twice sin else Use (\\x -> x * x) in jvp (\\o -> grad (run o) k) (o, o))",
    "jvp (\\t -> grad (through t) k) (Node (Leaf sin) (Node (Leaf cos) (Leaf exp)), Node (Leaf exp) (Node (Leaf cos) (Leaf sin)))",
    "(\\c -> jvp (\\f -> derivative (\\y -> grad (if c then f else (\\z -> y * sin z)) (y * y)) k) (sin, \\y -> y ^ 3))",
    "(\\c -> grad (\\a -> snd (jvp (\\f -> grad (if c then f else (\\z -> a * sin z)) (k * a)) ((\\y -> sin (a * y)), \\y -> a * y ^ 3))) 1.3)",
    "jvp (\\f -> let (y, p) = vjp (\\x -> f (f x)) k in p y) (sin, cos)",
    "jvp (\\f -> let (y, l) = linearize (\\x -> f (f x)) k in l y) (sin, cos)",
    "(\\c -> jvp (\\h -> grad (\\x -> (if c then h else (\\f -> grad f x)) (\\y -> sin (y * x))) k) ((\\f -> grad f 0.5 * f 0.3), \\f -> f (f 0.2)))",
    "jvp (\\f -> iterate 5 (\\x -> x - f x / grad f x) 1.0) ((\\x -> x * x - 2.0), \\_ -> 1.0)",
    "jvp (\\f -> grad (\\x -> while_loop (\\y -> y < 3.0) (\\y -> y + f y + 0.5) x) k) (sin, cos)",
    "(\\c -> jvp (\\f -> grad (\\v -> sum (map (if c then f else \\y -> y * y) v)) [0.1, 0.2]) (sin, \\x -> x ^ 3))",
    "(\\c -> jvp (\\f -> grad (grad (if c then f else (\\y -> exp (k * y)))) k) (sin, \\x -> x ^ 3))",
    "jvp (\\f -> grad (grad (\\x -> f x * x + f (x * x))) k) (sin, \\x -> x ^ 3)",
    "jvp (\\f -> grad (grad (grad (\\x -> f (f x) * x / f (x * x)))) k) (exp, \\x -> x ^ 3)",
    "jvp (\\f -> grad (\\y -> sum (grad (\\v -> f v[0] * v[1] + f (v[0] * v[1])) [y, y * k])) k) (sin, \\x -> x ^ 3)",
    "apply_dual (pullback (\\f -> grad (grad (\\x -> f x * x + f (x * x))) k) to_dual sin) (\\x -> x ^ 3)",
    "(\\n -> jvp (\\f -> grad (tree n f) k) (sin, \\x -> x * x))",
    "(\\c -> let (_, d) = jvp (\\f -> \\x -> grad f x) ((if c then sin else cos), \\x -> x ^ 3) in grad d k)",
    "(\\c -> jvp (\\f -> jvp (\\g -> grad (\\x -> g x * f x) k) (f, if c then f else sin)) (exp, \\x -> x ^ 3))",
    "jvp (\\q -> grad (\\t -> (\\x v -> 0.5 * v * v - x * x) (q t) (derivative q t)) k) (sin, \\t -> t ^ 3)",
    "(\\c -> jvp (\\g -> grad (\\x -> (if c then g else (\\a b -> b)) x (x * x)) k) ((\\a b -> a * b), \\a b -> a * a * b))",
    "jvp (\\f -> checkpoint (grad f) k + grad (checkpoint f) k) (sin, \\x -> x ^ 3)",
    "jvp (\\f -> hessian (\\v -> f (v[0] * v[1])) [k, 0.5]) (sin, \\y -> y ^ 4)",
    "jvp (\\f -> grad (\\(a, b) -> f (a, b) * a) (k, 0.2)) ((\\(a, b) -> sin a * b), \\(a, b) -> a * b * b)",
    "jvp (\\f -> sum (grad (\\v -> sum (f v)) [0.1, k])) ((\\v -> map sin v), \\v -> map (\\x -> x * x) v)",
    "jvp (\\f -> grad (custom_vjp (\\x -> f x * x) (\\x -> (f x * x, \\w -> w * (grad f x * x + f x)))) k) (sin, \\y -> y ^ 4)",
    "(\\c -> jvp (\\f -> apply_dual (pullback (\\g -> grad (if c then g else f) k) (\\y -> to_dual y) f) exp) (sin, cos))",
];

const HELPERS: &str = "\
type Op = Use (Real -> Real) | Twice (Real -> Real)
def run o x = match o with Use f -> f x | Twice f -> f (f x)

type Tree = Leaf (Real -> Real) | Node Tree Tree
def through t x = match t with Leaf f -> f x | Node a b -> through b (through a x)

def tree n f x = if n == 0 then f x else tree (n - 1) f (f x) + tree (n - 1) (\\y -> f (y * 0.5)) x
";

/// Functionals of a function on data or functions, that reverse mode goes through inside of them; and functions on these, each of which
/// uses of its argument what others do not.
const OF_DATA: &[(&str, &[&str])] = &[
    ("\\f -> grad (\\x -> f (Cons x (Cons (x * x) Nil))) 0.7", LISTS),
    ("\\f -> grad (\\x -> f (powers 3 x)) 0.7", LISTS),
    ("\\f -> total (grad f (powers 3 0.7))", LISTS),
    ("\\f -> grad (grad (\\x -> f (powers 3 x))) 0.7", LISTS),
    ("\\f -> grad (grad (grad (\\x -> f (powers 3 x)))) 0.7", LISTS),
    (
        "\\f -> let (y, p) = vjp (\\(x, l) -> f (Cons x l)) (0.7, powers 2 0.7) in let (a, b) = p y in a + total b",
        LISTS,
    ),
    ("\\f -> let (y, l) = linearize (\\x -> f (powers 3 x)) 0.7 in l y", LISTS),
    ("\\f -> sum (map (\\s -> grad (\\x -> f (Cons x (Cons (s * x) Nil))) 0.7) [1.0, 2.0])", LISTS),
    (
        "\\f -> checkpoint (grad (\\x -> f (powers 2 x))) 0.7 * grad (checkpoint (\\x -> f (powers 2 x))) 0.3",
        LISTS,
    ),
    ("\\f -> iterate 3 (\\x -> x - f (powers 2 x) / (3.0 + grad (\\y -> f (powers 2 y)) x)) 1.0", LISTS),
    ("\\f -> grad (\\x -> f (Some (x * x))) 0.7", OPTIONS),
    ("\\f -> grad (\\x -> f (if x > 0.5 then Some x else Nothing)) 0.7", OPTIONS),
    ("\\f -> grad (\\x -> f (Both x (Both (x * x) 2.0))) 0.7", PAIRS),
    ("\\f -> grad (\\x -> f [Some x, Some (x * x)]) 0.7", ARRAYS),
    ("\\f -> grad (\\x -> f (\\y -> x * y * y)) 0.7", FUNCTIONS),
    ("\\f -> grad (grad (\\x -> f (\\y -> sin (x * y)))) 0.7", FUNCTIONS),
];

const LISTS: &[&str] = &["head", "total", "(\\_ -> 1.0)", "(\\l -> total l * head l)", "second"];
const OPTIONS: &[&str] = &[
    "(\\_ -> 2.0)",
    "(\\o -> match o with Some x -> sin x | Nothing -> 1.0)",
    "(\\o -> match o with Some _ -> 3.0 | Nothing -> 1.0)",
];
const PAIRS: &[&str] =
    &["(\\p -> match p with Both a _ -> a * a)", "(\\p -> match p with Both a (Both b c) -> a * b * c)"];
const ARRAYS: &[&str] = &[
    "(\\a -> match a[0] with Some x -> x | Nothing -> 1.0)",
    "(\\a -> sum (map (\\o -> match o with Some x -> x ^ 3 | Nothing -> 1.0) a))",
    "(\\a -> 1.0)",
];
const FUNCTIONS: &[&str] =
    &["(\\g -> g 2.0)", "(\\g -> g (g 3.0))", "(\\_ -> 2.0)", "(\\g -> derivative g 0.4)"];

const DATA: &str = "\
type List = Nil | Cons Real List
def head l = match l with Nil -> 0.0 | Cons x _ -> x
def total l = match l with Nil -> 0.0 | Cons x r -> x + total r
def second l = match l with Cons _ (Cons x _) -> x * x | _ -> 0.0
def powers n x = if n == 0 then Nil else Cons (x ^ n) (powers (n - 1) x)
type Option = Nothing | Some Real
type Pair a = Both Real a
";

/// What the tangent of a function uses of its argument and the function does not has a cotangent of its own.
#[test]
fn tangents_that_use_of_the_argument_what_the_function_does_not_are_compiled() {
    let mut session = Session::new();
    let report = session.check_text("data.wg", DATA, Path::new("."));
    let scope = Scope::of_file(&report.modules);
    for (functional, functions) in OF_DATA {
        for (i, f) in functions.iter().enumerate() {
            let h = functions[(i + 1) % functions.len()];
            let program = format!("snd (jvp ({functional}) ({f}, {h}))");
            let tangent = compiled(&mut session, &scope, &program, &[false]);
            let mut at = |step: f64| {
                interpreted(
                    &mut session,
                    &scope,
                    &format!("({functional}) (\\x -> {f} x + ({step:?}) * {h} x)"),
                )
            };
            let quotient = (8.0 * (at(1e-3) - at(-1e-3)) - (at(2e-3) - at(-2e-3))) / 12e-3;
            assert!(
                (tangent - quotient).abs() <= 1e-8 * (1.0 + tangent.abs()),
                "{functional} at {f} along {h}: {tangent}, differences give {quotient}"
            );
        }
    }
}

/// The same where derivatives with respect to functions are differentiated, also with respect to functions.
#[test]
fn derivatives_of_derivatives_with_respect_to_functions_on_data() {
    let mut session = Session::new();
    let report = session.check_text("data.wg", DATA, Path::new("."));
    let scope = Scope::of_file(&report.modules);
    let inner = "\\g a -> snd (jvp (\\f -> grad (\\x -> f (powers 2 x)) (0.7 * a)) (head, \\l -> a * g l))";
    // The derivative is linear in the function: a (2 0.7 a + 1) for `total`.
    for (program, expected) in [
        (format!("({inner}) total 1.3"), "1.3 * (1.4 * 1.3 + 1.0)"),
        (format!("derivative (({inner}) total) 1.3"), "2.8 * 1.3 + 1.0"),
        (format!("grad (({inner}) total) 1.3"), "2.8 * 1.3 + 1.0"),
        (format!("grad (grad (({inner}) total)) 1.3"), "2.8"),
        (format!("snd (jvp (\\g -> ({inner}) g 1.3) (head, total))"), "1.3 * (1.4 * 1.3 + 1.0)"),
        (format!("snd (jvp (\\g -> grad (({inner}) g) 1.3) (head, total))"), "2.8 * 1.3 + 1.0"),
        (
            format!("grad (\\k -> snd (jvp (\\g -> k * ({inner}) g k) (head, total))) 1.3"),
            "4.2 * 1.3 ^ 2 + 2.6",
        ),
        (
            format!("apply_dual (pullback (\\g -> ({inner}) g 1.3) (\\_ -> to_dual 1.0) head) total"),
            "1.3 * (1.4 * 1.3 + 1.0)",
        ),
    ] {
        let mut number = |text: &str| -> f64 {
            let value = everywhere::eval(&mut session, &scope, text);
            value.parse().unwrap_or_else(|_| panic!("{text}\ngives {value}"))
        };
        let (found, expected) = (number(&program), number(expected));
        assert!(
            (found - expected).abs() <= 1e-12 * (1.0 + expected.abs()),
            "{program}\ngives {found}, not {expected}"
        );
    }
}

/// They are compiled, and give what the interpreter gives.
#[test]
fn reverse_mode_through_a_function_that_varies_is_compiled() {
    let mut session = Session::new();
    let report = session.check_text("helpers.wg", HELPERS, Path::new("."));
    let scope = Scope::of_file(&report.modules);
    for program in REVERSE_INSIDE {
        let arguments: &[&str] = match program.get(..4) {
            Some("(\\c ") => &[" true", " false"],
            Some("(\\n ") => &[" 0", " 1", " 3"],
            _ => &[""],
        };
        for argument in arguments {
            let text = format!("(\\k -> {program}{argument}) 0.7");
            let made = everywhere::compiled(&mut session, &scope, &text, &[false]);
            assert!(made.as_ref().is_ok_and(|value| !value.starts_with('E')), "{text}: {made:?}");
        }
    }
}

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

const HOLDING: &str = "\
type Stack a = Nil | Cons a (Stack a)
type Tree a = Leaf | Node (Tree a) a (Tree a)
type Maybe a = Nothing | Just a
type Rows = Done | Row (Real -> Real) (Real -> Real -> Real) Rows
type Term = Var | Lit Real | Apply (Real -> Real) Term | Times Term Term
def total l x = match l with Nil -> 0.0 | Cons f r -> f x + total r x
def chain l x = match l with Nil -> x | Cons f r -> chain r (f x)
def each f l = match l with Nil -> Nil | Cons x r -> Cons (f x) (each f r)
def leaves t x = match t with Leaf -> 0.0 | Node l f r -> leaves l x + f x + leaves r x
def grown n x = if n == 0 then Leaf else Node (grown (n - 1) (sin x)) (\\y -> x * y) (grown (n - 1) (cos x))
def other n x = if n == 0 then Leaf else Node (other (n - 1) (x * x)) (\\y -> x + y) (other (n - 1) (2.0 * x))
def rows l x = match l with Done -> 0.0 | Row f g r -> f x + g x x + rows r x
def value e x = match e with Var -> x | Lit c -> c | Apply f a -> f (value a x) | Times a b -> value a x * value b x
";

/// Derivatives with respect to functions that give data, or arrays of arrays, with functions in them, and what they are.
const OF_HOLDERS: &[(&str, &str)] = &[
    (
        "snd (jvp (\\f -> grad (\\x -> total (f x) x) 0.5) ((\\x -> Cons (\\y -> x * y) (Cons sin Nil)), (\\x -> Cons (\\y -> x + y) (Cons cos Nil))))",
        "grad (\\x -> 2.0 * x + cos x) 0.5",
    ),
    (
        "apply_dual (pullback (\\f -> grad (\\x -> total (f x) x) 0.5) (\\_ -> to_dual 1.0) (\\x -> Cons (\\y -> x * y) (Cons sin Nil))) (\\x -> Cons (\\y -> x + y) (Cons cos Nil))",
        "grad (\\x -> 2.0 * x + cos x) 0.5",
    ),
    (
        "snd (jvp (\\f -> derivative (\\x -> chain (f x) x) 0.5) ((\\x -> Cons (\\y -> x * y) (Cons sin Nil)), (\\x -> Cons (\\y -> x + y) (Cons cos Nil))))",
        "derivative (\\x -> cos (x * x) + cos (x * x) * 2.0 * x) 0.5",
    ),
    (
        "snd (jvp (\\f -> grad (\\x -> total (each (\\g y -> g (g y)) (f x)) x) 0.5) ((\\x -> Cons (\\y -> x * y) (Cons sin Nil)), (\\x -> Cons (\\y -> x + y) (Cons cos Nil))))",
        "grad (\\x -> x + x * x + x * 2.0 * x + cos (sin x) + cos (sin x) * cos x) 0.5",
    ),
    (
        "snd (jvp (\\f -> grad (\\x -> leaves (f 2 x) x) 0.5) (grown, other))",
        "grad (\\x -> leaves (other 2 x) x) 0.5",
    ),
    (
        "snd (jvp (\\f -> grad (\\x -> match f x with Just g -> g x | Nothing -> x) 0.5) ((\\x -> if x > 0.0 then Just (\\y -> x * y) else Nothing), (\\x -> if x > 0.0 then Just (\\y -> x + y) else Nothing)))",
        "2.0",
    ),
    (
        "snd (jvp (\\f -> grad (\\x -> match f x with Just (g, y) -> g (x * y) | Nothing -> 0.0) 0.5) ((\\x -> Just ((\\y -> x * y), x * x)), (\\x -> Just ((\\y -> x + y), sin x))))",
        "grad (\\x -> x + x ^ 3 + x * x * sin x) 0.5",
    ),
    // Functions in data that give functions in data.
    (
        "snd (jvp (\\f -> grad (\\x -> match f x with Just g -> (match g x with Just h -> h x | Nothing -> 0.0) | Nothing -> 1.0) 0.5) ((\\a -> Just (\\b -> Just (\\c -> a * b * c))), (\\a -> Just (\\b -> Just (\\c -> a + b * c)))))",
        "grad (\\x -> x + x * x) 0.5",
    ),
    // Functions of two types, in turn.
    (
        "snd (jvp (\\f -> grad (\\x -> rows (f x) x) 0.5) ((\\x -> Row (\\y -> x * y) (\\a b -> a * b * x) (Row sin (\\a b -> a + b) Done)), (\\x -> Row cos (\\a b -> a * x) (Row (\\y -> x * y) (\\a b -> b * x) Done))))",
        "grad (\\x -> cos x + 3.0 * x * x) 0.5",
    ),
    (
        "snd (jvp (\\f -> grad (\\x -> value (f x) x) 0.4) ((\\a -> Times (Apply (\\y -> a * y) Var) (Lit a)), (\\a -> Times (Apply (\\y -> a + y) Var) (Lit 1.0))))",
        "grad (\\x -> 2.0 * x * x + x * x) 0.4",
    ),
    // Arrays of arrays, and arrays of data.
    (
        "snd (jvp (\\f -> grad (\\x -> (f x)[1][0] x * (f x)[0][1] 2.0) 0.5) ((\\a -> [[sin, \\y -> a * y], [\\y -> y * y, cos]]), (\\a -> [[cos, \\y -> y * a * a], [\\y -> a, sin]])))",
        "grad (\\x -> 2.0 * x * x + 2.0 * x ^ 4) 0.5",
    ),
    (
        "snd (jvp (\\f -> grad (\\x -> sum (map (\\l -> sum (map (\\g -> g x) l)) (f x))) 0.5) ((\\a -> [[sin, \\y -> a * y], [exp, cos]]), (\\a -> [[cos, \\y -> y * a], [sin, sin]])))",
        "grad (\\x -> cos x + x * x + 2.0 * sin x) 0.5",
    ),
    (
        "snd (jvp (\\f -> grad (\\x -> sum (map (\\o -> match o with Just g -> g x | Nothing -> x) (f x))) 0.5) ((\\x -> [Just sin, Nothing, Just (\\y -> x * y)]), (\\x -> [Just (\\y -> x * y), Nothing, Just cos])))",
        "grad (\\x -> x * x + cos x) 0.5",
    ),
];

/// The same where derivatives are taken of that, or inside of it.
const OF_HOLDERS_AGAIN: &[(&str, &str)] = &[
    (
        "grad (\\k -> snd (jvp (\\f -> match f k with Just g -> g k | Nothing -> 0.0) ((\\x -> Just (\\y -> x * y)), (\\x -> Just (\\y -> x + sin y))))) 0.5",
        "grad (\\k -> k + sin k) 0.5",
    ),
    (
        "grad (\\k -> snd (jvp (\\f -> grad (\\x -> total (f (k * x)) x) k) ((\\x -> Cons (\\y -> x * y) (Cons sin Nil)), (\\x -> Cons (\\y -> k * x + y) (Cons cos Nil))))) 0.5",
        "grad (\\k -> k * k + 1.0 - sin k) 0.5",
    ),
    (
        "grad (\\k -> apply_dual (pullback (\\f -> grad (\\x -> total (f x) x) k) (\\_ -> to_dual 1.0) (\\x -> Cons (\\y -> x * y) (Cons sin Nil))) (\\x -> Cons (\\y -> x + y) (Cons cos Nil))) 0.5",
        "grad (grad (\\x -> 2.0 * x + cos x)) 0.5",
    ),
    (
        "snd (jvp (\\f -> (taylor 3 (\\x -> total (f x) x) 0.5)[3]) ((\\x -> Cons (\\y -> x * y) (Cons sin Nil)), (\\x -> Cons (\\y -> x + y * y) (Cons cos Nil))))",
        "sin 0.5",
    ),
    (
        "sum ((snd (jvp (\\f -> hessian (\\v -> total (f v[0]) v[1]) [0.5, 0.6]) ((\\x -> Cons (\\y -> x * y) (Cons sin Nil)), (\\x -> Cons (\\y -> x * x * y) (Cons cos Nil)))))[1])",
        "sum ((hessian (\\v -> v[0] ^ 2 * v[1] + cos v[1]) [0.5, 0.6])[1])",
    ),
];

#[test]
fn functions_that_give_data_with_functions_in_them_are_compiled() {
    let (mut session, scope) = everywhere::session_with(HOLDING);
    for (programs, modes) in [(OF_HOLDERS, &[false, true][..]), (OF_HOLDERS_AGAIN, &[false])] {
        for (program, expected) in programs {
            let found = compiled(&mut session, &scope, program, modes);
            let expected = interpreted(&mut session, &scope, expected);
            let close = (found - expected).abs() <= 1e-12 * (1.0 + expected.abs());
            assert!(close, "{program}\ngives {found}, not {expected}");
        }
    }
}

/// Data in which functions give such data again, of several forms.
const ENDLESS: &str = "\
type Stream = Next Real (Real -> Stream)
def from x = Next x (\\d -> from (x + d))
def geo x = Next (x * x) (\\d -> geo (x * d))
def taken n s d = if n == 0 then 0.0 else match s with Next x f -> x * x + taken (n - 1) (f d) d

type Object = Object (Real -> Object) (Real -> Real) | End
def made k = Object (\\x -> Object (\\y -> End) (\\y -> k * x * y)) (\\x -> k * x)
def used o x = match o with End -> x | Object f g -> (match f (g x) with End -> x | Object h i -> i x)

type Machine = Machine Real (Real -> State) (Real -> Real)
type State = Halt | On Machine
def rising x = Machine x (\\y -> if y > 0.0 then On (rising (x * y)) else Halt) (\\z -> x * sin z)
def turning x = Machine (sin x) (\\y -> if y > 0.0 then On (turning (x + y)) else Halt) (\\z -> cos (x * z))
def run n m d = if n == 0 then 0.0 else match m with Machine x f g -> (match f (g d) with Halt -> x | On next -> g x + run (n - 1) next d)

type Rose = Rose Real (Real -> []Rose)
def rose n x = Rose x (\\y -> if n == 0 then [] else [rose (n - 1) (x * y), rose (n - 1) (x + y)])
def other n x = Rose (x * x) (\\y -> if n == 0 then [] else [other (n - 1) (x - y), other (n - 1) (sin (x * y))])
def leaves r y = match r with Rose x f -> x + sum (map (\\s -> leaves s y) (f y))

type Twice = Twice Real (Real -> Real -> Twice)
def twice x = Twice x (\\a b -> twice (x * a + b))
def thrice x = Twice (sin x) (\\a b -> thrice (x + a * b))
def along n s d = if n == 0 then 0.0 else match s with Twice x f -> x * x + along (n - 1) (let g = f d in g x) d

type First = First Real (Real -> Second)
type Second = Second Real ((Real -> Real) -> First)
def first x = First x (\\y -> second (x * y))
def second x = Second x (\\g -> first (g x))
def third x = First (x * x) (\\y -> fourth (x + y))
def fourth x = Second (sin x) (\\g -> third (g (x * x)))
def inturn n a d = if n == 0 then 0.0 else match a with First x f -> (match f d with Second y h -> x * y + inturn (n - 1) (h (\\z -> sin (z * d))) d)
";

/// Derivatives with respect to it, and to functions that give it.
const OF_ENDLESS: &[&str] = &[
    "snd (jvp (\\f -> grad (\\x -> taken 3 (f x) x) k) (from, geo))",
    "grad (\\k -> snd (jvp (\\f -> taken 3 (f k) k) (from, geo))) k",
    "grad (\\k -> snd (jvp (\\s -> taken 3 s k) (from 0.5, from k))) k",
    "sum (snd (jvp (\\f -> grad (\\v -> taken 3 (f v[0]) v[1]) [k, 0.3]) (from, geo)))",
    "snd (jvp (\\f -> (taylor 3 (\\x -> taken 3 (f x) x) k)[3]) (from, geo))",
    "snd (jvp (\\f -> (taylor 2 (\\x -> match f x with Next y g -> y) k)[2]) (from, geo))",
    "snd (jvp (\\f -> derivative (\\x -> match f x with Next y g -> y) k) (from, geo))",
    "derivative (\\k -> snd (jvp (\\o -> used o k) (made 0.5, made 0.3))) k",
    "grad (\\k -> snd (jvp (\\o -> used o k) (made k, made (sin k)))) k",
    "grad (grad (\\k -> snd (jvp (\\o -> used o k) (made k, made (sin k))))) k",
    "snd (jvp (\\o -> grad (used o) k) (made 0.5, made 0.3))",
    "grad (\\k -> apply_dual (pullback (\\o -> grad (used o) k) (\\_ -> to_dual 1.0) (made k)) (made 0.3)) k",
    "snd (jvp (\\f -> grad (\\x -> run 3 (f x) x) k) (rising, turning))",
    "derivative (\\k -> snd (jvp (\\m -> run 3 m k) (rising k, rising (k * k)))) k",
    "snd (jvp (\\f -> grad (\\x -> leaves (f 2 x) x) k) (rose, other))",
    "grad (\\k -> snd (jvp (\\m -> leaves m k) (rose 2 k, rose 2 (k * k)))) k",
    "snd (jvp (\\f -> grad (\\x -> along 3 (f x) x) k) (twice, thrice))",
    "grad (\\k -> snd (jvp (\\m -> along 3 m k) (twice k, twice (k * k)))) k",
    "snd (jvp (\\f -> grad (\\x -> inturn 2 (f x) x) k) (first, third))",
    "grad (\\k -> snd (jvp (\\m -> inturn 2 m k) (first k, first (k * k)))) k",
    // Reverse mode through reverse mode: on a tape, strict or not.
    "snd (jvp (\\f -> grad (grad (\\x -> taken 3 (f x) x)) k) (from, geo))",
    "snd (jvp (\\f -> grad (grad (grad (\\x -> taken 3 (f x) x))) k) (from, geo))",
    "snd (jvp (\\f -> grad (grad (\\x -> run 3 (f x) x)) k) (rising, turning))",
    "snd (jvp (\\f -> grad (grad (\\x -> leaves (f 2 x) x)) k) (rose, other))",
    "snd (jvp (\\f -> grad (grad (\\x -> along 3 (f x) x)) k) (twice, thrice))",
    "snd (jvp (\\f -> grad (grad (\\x -> inturn 2 (f x) x)) k) (first, third))",
    "snd (jvp (\\o -> grad (grad (used o)) k) (made 0.5, made 0.3))",
    "grad (\\k -> snd (jvp (\\f -> grad (\\x -> taken 3 (f x) x) k) (from, geo))) k",
    "apply_dual (pullback (\\f -> grad (grad (\\x -> taken 3 (f x) x)) k) (\\_ -> to_dual 1.0) from) geo",
    // Tangents that come out of derivatives, inside of what is differentiated.
    "let (s, d) = jvp from (0.3, 1.0) in grad (\\k -> snd (jvp (\\s -> k * taken 3 s k) (s, d))) k",
    "grad (\\x -> let (s, d) = jvp from (x, 1.0) in snd (jvp (\\s -> taken 3 s x) (s, d))) k",
    "derivative (\\x -> let (s, d) = jvp from (x, 1.0) in snd (jvp (\\s -> taken 3 s x) (s, d))) k",
];

/// What such functions give, and tangents of data that they are in, is applied again and again; that is compiled, and derivatives of it.
#[test]
fn functions_that_give_data_of_such_functions_are_compiled() {
    let (mut session, scope) = everywhere::session_with(ENDLESS);
    for program in OF_ENDLESS {
        compiled(&mut session, &scope, &format!("(\\k -> {program}) 0.7"), &[false, true]);
    }
    // By hand: the numbers are x and 2 x, and vary by x² and x⁴.
    let found = compiled(
        &mut session,
        &scope,
        "snd (jvp (\\f -> grad (\\x -> taken 2 (f x) x) 0.7) (from, geo))",
        &[false, true],
    );
    let expected =
        interpreted(&mut session, &scope, "grad (\\x -> 2.0 * x * x ^ 2 + 2.0 * (2.0 * x) * x ^ 4) 0.7");
    assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
}

/// What is given as a tangent of a function comes out of another derivative: what varies of what a function gives.
const OF_TANGENTS: &[&str] = &[
    "let h = snd (jvp (\\x -> \\y -> x * sin y) (k, 1.0)) in snd (jvp (\\g -> g (g 0.3)) (sin, h))",
    "let h = snd (jvp (\\x -> \\y -> x * sin y) (k, 1.0)) in snd (jvp (\\g -> grad g 0.3) (sin, h))",
    "let h = snd (jvp (\\f -> \\x -> f (f x)) (sin, cos)) in snd (jvp (\\g -> grad (grad g) k) (sin, h))",
    "let h = derivative (\\x -> \\y -> \\z -> x * x * sin (y * z)) k in snd (jvp (\\g -> grad (\\a -> g a a) 0.4) ((\\a b -> a * b), h))",
    "grad (\\k -> let h = derivative (\\x -> \\y -> \\z -> x * x * sin (y * z)) k in snd (jvp (\\g -> grad (\\a -> g a a) k) ((\\a b -> a * b), h))) k",
    "let (f, h) = jvp (\\x -> \\y z -> x * sin (y * z)) (k, 1.0) in snd (jvp (\\g -> grad (grad (\\a -> g a a)) k) (f, h))",
    "let (f, h) = jvp (\\x -> \\y -> [\\z -> x * y * z, \\z -> x + z]) (k, 1.0) in snd (jvp (\\g -> grad (\\a -> (g a)[0] 0.4 * (g a)[1] a) 0.3) (f, h))",
    "let (p, dp) = jvp (\\x -> snd (vjp (\\z -> z * x * sin z) x)) (k, 1.0) in snd (jvp (\\q -> grad (\\a -> q a * q 2.0) 0.3) (p, dp))",
    // Pullbacks of pullbacks, at points without functions.
    "apply_dual (pullback (\\x -> \\y -> x * y * y) (pullback (\\h -> h (h 3.0)) (\\_ -> to_dual 1.0)) k) 1.0",
    "grad (\\k -> from_dual (pullback (\\x -> \\y -> x * y * y * k) (pullback (\\h -> grad h (h k)) (\\_ -> to_dual 1.0)) k)) k",
    // The same inside of what is differentiated.
    "derivative (\\k -> let h = derivative (\\x -> \\y -> x * sin y) k in snd (jvp (\\g -> g (g k)) (cos, h))) k",
    "derivative (\\k -> let (f, h) = jvp (\\x -> \\y -> x * sin y) (k, 1.0) in snd (jvp (\\g -> g (g k)) (f, h))) k",
    "grad (\\k -> let (f, h) = jvp (\\x -> \\y -> x * sin y) (k, 1.0) in snd (jvp (\\g -> g (g k)) (f, h))) k",
    "grad (\\k -> let (p, dp) = jvp (\\x -> snd (vjp (\\z -> z * x * sin z) x)) (k, 1.0) in snd (jvp (\\q -> q k * q 2.0) (p, dp))) k",
    "(taylor 4 (\\k -> let (f, h) = jvp (\\x -> \\y -> x * sin (y * k)) (k, 1.0) in snd (jvp (\\g -> g (g k)) (f, h))) k)[3]",
    "let h = derivative (\\x -> \\y -> x * y) k in apply_dual (pullback (\\g -> apply_dual (pullback (\\h -> h (g 0.3)) (\\_ -> to_dual 1.0) g) h) (\\_ -> to_dual 1.0) sin) h",
    "let rec h n = if n == 0 then cos else snd (jvp (\\f -> \\x -> f (f x)) (sin, h (n - 1))) in snd (jvp (\\g -> grad g k) (sin, h 5))",
];

#[test]
fn tangents_of_functions_that_come_out_of_derivatives_are_compiled() {
    let (mut session, scope) = everywhere::session_with("def nothing = 0\n");
    for program in OF_TANGENTS {
        compiled(&mut session, &scope, &format!("(\\k -> {program}) 0.7"), &[false, true]);
    }
    // The tangent of `x sin y` by `x` is `sin y`.
    let found = compiled(&mut session, &scope, &format!("(\\k -> {}) 0.7", OF_TANGENTS[1]), &[false, true]);
    assert!((found - 0.3_f64.cos()).abs() < 1e-12, "{found}");
}

const MAPS: &str = "\
type List a = Nil | Cons a (List a)
def total l = match l with Nil -> 0.0 | Cons x r -> x + total r
def each f l = match l with Nil -> Nil | Cons x r -> Cons (f x) (each f r)
";

/// Pullbacks and tangent maps of functions in data, kept in data of the same type: what a map keeps holds function values that may be such
/// maps.
const OF_MAPS: &[&str] = &[
    "total (each (\\p -> p 1.0) (each (\\f -> snd (vjp f k)) (Cons sin (Cons cos Nil))))",
    "grad (\\x -> total (each (\\p -> p x) (each (\\f -> snd (vjp f x)) (Cons sin (Cons (\\y -> x * y * y) Nil))))) k",
    "derivative (\\x -> total (each (\\p -> p x) (each (\\f -> snd (linearize f x)) (Cons sin (Cons cos Nil))))) k",
    "grad (\\x -> total (each (\\p -> grad p x) (each (\\f -> snd (linearize f x)) (Cons sin (Cons cos Nil))))) k",
    "grad (\\x -> grad (\\z -> total (each (\\p -> p x) (each (\\f -> snd (vjp f z)) (Cons sin (Cons cos Nil))))) x) k",
    "snd (jvp (\\f -> grad (\\x -> total (each (\\p -> p x) (each (\\f -> snd (vjp f x)) (Cons f (Cons cos Nil))))) k) (sin, exp))",
];

#[test]
fn pullbacks_in_data_that_functions_come_from_are_compiled() {
    let (mut session, scope) = everywhere::session_with(MAPS);
    for program in OF_MAPS {
        compiled(&mut session, &scope, &format!("(\\k -> {program}) 0.7"), &[false, true]);
    }
    let found = compiled(&mut session, &scope, &format!("(\\k -> {}) 0.7", OF_MAPS[0]), &[false, true]);
    assert!((found - (0.7_f64.cos() - 0.7_f64.sin())).abs() < 1e-12, "{found}");
}

/// Taylor series of derivatives with respect to functions, and derivatives of such series with respect to functions: of any order. With
/// `--strict` up to order 24.
const SERIES: &[(&str, &str)] = &[
    (
        "(taylor ORDER (\\a -> snd (jvp (\\g -> g (g a)) (sin, cos))) 0.7)[5]",
        "(taylor 5 (\\a -> cos (sin a) + cos (sin a) * cos a) 0.7)[5]",
    ),
    (
        "(\\n -> (taylor n (\\a -> snd (jvp (\\g -> g (g a)) (sin, cos))) 0.7)[5]) ORDER",
        "(taylor 5 (\\a -> cos (sin a) + cos (sin a) * cos a) 0.7)[5]",
    ),
    (
        "(taylor ORDER (\\a -> snd (jvp (\\g -> g (g a)) ((\\y -> sin (a * y)), (\\y -> cos (a + y))))) 0.7)[4]",
        "(taylor 4 (\\a -> cos (a + sin (a * a)) + a * cos (a * sin (a * a)) * cos (a + a)) 0.7)[4]",
    ),
    (
        "(taylor ORDER (\\a -> apply_dual (pullback (\\g -> grad g (g a)) (\\_ -> to_dual 1.0) (\\y -> sin (a * y))) (\\y -> cos (a + y))) 0.7)[4]",
        "(taylor 4 (\\a -> 0.0 - sin (a + sin (a * a)) - a * a * sin (a * sin (a * a)) * cos (a + a)) 0.7)[4]",
    ),
    (
        "snd (jvp (\\h -> (taylor ORDER (\\x -> h (h x)) 0.3)[6]) (sin, cos))",
        "(taylor 6 (\\x -> cos (sin x) + cos (sin x) * cos x) 0.3)[6]",
    ),
    (
        "apply_dual (pullback (\\h -> (taylor ORDER (\\x -> h (h x)) 0.3)[6]) (\\_ -> to_dual 1.0) sin) cos",
        "(taylor 6 (\\x -> cos (sin x) + cos (sin x) * cos x) 0.3)[6]",
    ),
    (
        "snd (jvp (\\h -> grad (\\k -> (taylor ORDER (\\x -> h (k * h x)) 0.3)[3]) 0.8) (sin, cos))",
        "grad (\\k -> (taylor 3 (\\x -> cos (k * sin x) + cos (k * sin x) * k * cos x) 0.3)[3]) 0.8",
    ),
    (
        "snd (jvp (\\h -> (taylor ORDER (\\x -> grad (\\k -> h (k * h x)) 0.8) 0.3)[3]) (sin, cos))",
        "(taylor 3 (\\x -> grad (\\k -> cos (k * sin x) + cos (k * sin x) * k * cos x) 0.8) 0.3)[3]",
    ),
    // Rules that have captured what varies along the series.
    (
        "(taylor ORDER (\\a -> grad (grad (\\x -> custom_jvp (\\y -> a * a * y * y) (\\(y, t) -> (a * a * y * y, 2.0 * a * a * y * t)) (x * x))) 0.5) 0.3)[2]",
        "6.0",
    ),
    (
        "(taylor ORDER (\\a -> let (y, p) = vjp (\\x -> custom_vjp (\\y -> a * y * y) (\\y -> (a * y * y, \\w -> 2.0 * a * y * w)) x) 0.5 in p a) 0.3)[2]",
        "2.0",
    ),
    // Rules that are given functions which do not vary along the series.
    (
        "(taylor ORDER (\\a -> snd (jvp (\\h -> custom_jvp (\\g -> g a) (\\(g, t) -> (g a, t a)) h) (sin, cos))) 0.3)[5]",
        "(taylor 5 cos 0.3)[5]",
    ),
    (
        "(taylor ORDER (\\a -> custom_jvp (\\y -> y * sin a) (\\(g, t) -> (g, t)) 0.5) 0.3)[5]",
        "0.5 * (taylor 5 sin 0.3)[5]",
    ),
];

#[test]
fn series_of_any_order_of_derivatives_with_respect_to_functions_are_compiled() {
    let (mut session, scope) = everywhere::session_with("def nothing = 0\n");
    for (program, expected) in SERIES {
        for (order, modes) in [("6", &[false, true][..]), ("26", &[false])] {
            let program = program.replace("ORDER", order);
            // Where only running tells the order there are fewer in strict mode.
            let modes = if program.starts_with("(\\n") { &[false] } else { modes };
            let found = compiled(&mut session, &scope, &program, modes);
            let expected = interpreted(&mut session, &scope, expected);
            let close = (found - expected).abs() <= 1e-11 * (1.0 + expected.abs());
            assert!(close, "{program}\ngives {found}, not {expected}");
        }
    }
}

/// A function and a multiple of another one added, for functions as a functional takes them.
fn plus(functional: &str) -> &'static str {
    match functional {
        of if of.contains("let (a, g) =") => {
            "\\f h -> \\x -> let (a, g) = f x in let (b, k) = h x in (a + s * b, \\y -> g y + s * k y)"
        }
        of if of.contains("let (g, h) =") => {
            "\\f h -> \\x -> let (a, g) = f x in let (b, k) = h x in ((\\y -> a y + s * b y), \\y -> g y + s * k y)"
        }
        of if of.contains("let h = g x") => "\\f h -> \\x y z -> f x y z + s * h x y z",
        _ => "\\f h -> \\x y -> f x y + s * h x y",
    }
}

/// The number that the interpreter gives for an expression: for closed forms and difference quotients.
fn interpreted(session: &mut Session, scope: &Scope, text: &str) -> f64 {
    let evaluated = session.eval_in(scope, "test.wg", text, &Options::default());
    let value = show(&evaluated.unwrap_or_else(|_| panic!("{text}")).value);
    value.parse().unwrap_or_else(|_| panic!("{text}\ngives {value}"))
}

/// The number that every engine gives, where machine code is made, strict or not.
fn compiled(session: &mut Session, scope: &Scope, text: &str, modes: &[bool]) -> f64 {
    let value = everywhere::compiled(session, scope, text, modes).unwrap_or_else(|error| panic!("{error}"));
    value.parse().unwrap_or_else(|_| panic!("{text}\ngives {value}"))
}
