//! Reverse mode inside of functionals, through the functions that vary, and functionals of functions on data.

use super::{compiled, interpreted};
use std::path::Path;
use wengert_driver::Session;
use wengert_driver::scope::Scope;
use wengert_tests::everywhere;

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
