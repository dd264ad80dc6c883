//! Functions with rules that have captured what varies, differentiated twice or more: what the derivative by what is captured does when the
//! point moves is for the rule to say. The rules here are not the derivatives of their functions, so that it shows.

use wengert_driver::{Engine, Options, Session, show};
use wengert_tests::{everywhere, parallel};

const DEFINITIONS: &str = "\
type L = Nil | Cons Real L
def total l = match l with Nil -> 0.0 | Cons x r -> x * x + total r
def mapped f l = match l with Nil -> Nil | Cons x r -> Cons (f x) (mapped f r)
def two a x = custom_jvp (\\y -> Cons (a * y) (Cons y Nil)) (\\(y, t) -> (Nil, Cons (t * a * a) (Cons (t * a) Nil))) x
def by_list c = custom_vjp (\\l -> c * total l) (\\l -> (0.0, \\w -> mapped (\\x -> w * x * c * c) l))
def power a n x = if n == 0 then x else custom_jvp (\\y -> a * y * y) (\\(y, t) -> (y, a * a * t)) (power a (n - 1) x)
def seven a = custom_jvp (\\y -> a * y * y) (\\(y, t) -> (0.0, 7.0 * a * t))
def seven_back a = custom_vjp (\\y -> a * y * y) (\\y -> (0.0, \\w -> 7.0 * a * w))
def fourth x = custom_jvp (\\z -> z * sin (x * z)) (\\(z, t) -> (0.0, t * x * x * x * z)) (x * x)
def fourth_back x = custom_vjp (\\z -> z * sin (x * z)) (\\z -> (0.0, \\w -> w * x * x * x * z)) (x * x)
";

/// Each gives so much.
const KNOWN: &[(&str, f64)] = &[
    // ∂²/∂x∂a of what the rule says, 7 a x.
    ("D (\\x -> E (\\a -> seven a x) 2.0) 3.0", 7.0),
    ("D (\\x -> E (\\a -> seven_back a x) 2.0) 3.0", 7.0),
    ("D (\\a -> E (\\x -> seven a x) 3.0) 2.0", 7.0),
    // The function has not captured it, the rule has.
    ("D (\\x -> E (\\a -> custom_jvp (\\y -> y * y) (\\(y, t) -> (0.0, a * a * t)) x) 2.0) 3.0", 4.0),
    ("D (\\x -> E (\\a -> custom_vjp (\\y -> y * y) (\\y -> (0.0, \\w -> a * a * w)) x) 2.0) 3.0", 4.0),
    // The rule has not, the function has.
    ("D (\\x -> E (\\a -> custom_jvp (\\y -> a * y * y) (\\(y, t) -> (0.0, 11.0 * t)) x) 2.0) 3.0", 0.0),
    // What both have captured depends on the outer variable, too.
    (
        "D (\\x -> E (\\a -> custom_jvp (\\y -> a * x * y) (\\(y, t) -> (0.0, a * x * x * t)) x) 2.0) 3.0",
        12.0,
    ),
    // By functions, data, arrays, loops, recursion.
    (
        "D (\\x -> E (\\a -> let f = (\\u -> u * a) in custom_jvp f (\\(y, t) -> (0.0, f (f t))) x) 2.0) 3.0",
        4.0,
    ),
    ("D (\\x -> E (\\a -> total (two a x)) 0.5) 2.0", 7.0),
    ("D (\\x -> E (\\c -> by_list c (Cons x (Cons (x * x) Nil))) 2.0) 1.5", 33.0),
    ("D (\\x -> E (\\a -> power a 1 x) 0.5) 2.0", 1.0),
    (
        "D (\\x -> E (\\a -> sum (custom_jvp (map (\\q -> q * a)) (\\(v, t) -> (v, map (\\q -> q * a * a * a) t)) [x, x * x])) 2.0) 3.0",
        84.0,
    ),
    ("D (\\x -> E (\\a -> sum (map (\\y -> seven a (x * y)) [1.0, 2.0])) 2.0) 3.0", 21.0),
    ("D (\\x -> E (\\a -> fold (\\s y -> seven a (s * y)) x [2.0, 1.0]) 1.0) 0.5", 196.0),
    (
        "D (\\x -> E (\\a -> snd (while_loop (\\(i, s) -> i < 2) (\\(i, s) -> (i + 1, seven a s)) (0, x))) 1.0) 0.5",
        98.0,
    ),
    ("D (\\x -> E (\\a -> checkpoint (\\a -> seven a x) a) 2.0) 3.0", 7.0),
    ("D (\\x -> E (\\a -> if a > 1.0 then seven a x else a) 2.0) 3.0", 7.0),
    // Three times: of 7 a b x, and of a rule that is not even in one of them.
    ("D (\\x -> E (\\a -> grad (\\b -> seven (a * b) x) 2.0) 3.0) 5.0", 7.0),
    (
        "D (\\b -> E (\\x -> grad (\\a -> custom_jvp (\\y -> y) (\\(y, t) -> (0.0, a * a * b * b * b * t)) x) 2.0) 3.0) 1.0",
        12.0,
    ),
    // Beside it the same function differentiated once.
    (
        "let f a x = seven a x in E (\\a -> f a 3.0) 2.0 + D (\\x -> E (\\a -> f a x) 2.0) 3.0 + E (f 2.0) 3.0",
        30.0,
    ),
];

/// Each gives the same in all engines.
const PROGRAMS: &[&str] = &[
    "hessian (\\(v : [2]Real) -> seven v[0] v[1] * v[0]) [2.0, 3.0]",
    "hessian (\\(v : [2]Real) -> seven_back v[0] v[1] * v[0]) [2.0, 3.0]",
    "hessian (\\(v : [3]Real) -> custom_jvp (\\(y, z) -> v[0] * y * z) (\\((y, z), (s, t)) -> (0.0, v[0] * v[2] * s * z + 5.0 * y * t)) (v[1] * v[2], v[0])) [2.0, 3.0, 5.0]",
    "hessian (\\(v : [3]Real) -> sum (custom_vjp (\\w -> map (\\q -> q * v[0]) w) (\\w -> (w, \\b -> map (\\q -> q * v[1] * v[1]) b)) (map (\\q -> q * q) v))) [2.0, 3.0, 5.0]",
    "hessian (\\(v : [2]Real) -> let r = custom_jvp (\\y -> { p = v[0] * y, q = [y, v[1]] }) (\\(y, t) -> ({ p = y, q = [y, y] }, { p = t * v[0] * v[0], q = [t, 3.0 * t * v[0]] })) v[1] in r.p * r.q[1]) [0.5, 1.3]",
    "hessian (\\(v : [2]Real) -> total (two v[0] v[1])) [0.5, 1.3]",
    "hessian (\\(v : [2]Real) -> by_list v[0] (Cons v[1] (Cons (v[1] * v[0]) Nil))) [2.0, 1.5]",
    "hessian (\\(v : [2]Real) -> power v[0] 3 v[1]) [0.9, 1.1]",
    "hessian (\\(v : [2]Real) -> checkpoint (\\(a, x) -> seven a (x * a)) (v[0], v[1] * v[0])) [0.5, 1.3]",
    "hessian (\\(v : [2]Real) -> fold (\\s i -> seven_back v[0] s) v[1] (iota 3)) [0.5, 1.3]",
    "hessian (\\(v : [2]Real) -> custom_jvp (\\y -> v[0] * y) (\\(y, t) -> (y, (if y > 0.0 then v[0] else v[1]) * t)) v[1]) [0.5, 1.3]",
    "(derivative (derivative fourth) 0.77, grad (grad fourth) 0.77, derivative (grad fourth) 0.77, grad (derivative fourth) 0.77)",
    "(derivative (derivative (derivative fourth)) 0.77, grad (grad (grad fourth)) 0.77, grad (derivative (grad fourth_back)) 0.77)",
    "(grad (grad fourth_back) 0.77, derivative (grad fourth_back) 0.77, grad (derivative fourth_back) 0.77)",
    "taylor 3 (\\x -> derivative (\\a -> seven a x * x) 2.0) 3.0",
    "taylor 3 (\\a -> custom_jvp (\\y -> y * y) (\\(y, t) -> (0.0, 7.0 * a * a * t)) a + derivative (derivative sin) a) 2.0",
    "grad (\\x -> let (y, back) = vjp (\\a -> seven a x) 2.0 in back (x * x)) 3.0",
    "derivative (\\x -> let (y, push) = linearize (\\a -> seven_back a x) 2.0 in push (x * x)) 3.0",
    "grad (\\x -> let (y, push) = linearize (\\a -> seven_back a x) 2.0 in push (x * x)) 3.0",
    "jvp (\\g -> derivative (\\x -> derivative (\\a -> custom_jvp (\\y -> g a * y) (\\(y, t) -> (y, g a * t * y)) x) 2.0) 3.0) (sin, cos)",
    "let rec f n x = if n == 0 then fourth x else derivative (f (n - 1)) x in (f 0 1.0, f 1 1.0, f 2 1.0, f 3 1.0)",
    "jvp (\\(a, x) -> grad (\\(a, x) -> seven a x + seven_back x a) (a, x)) ((2.0, 3.0), (1.0, 0.5))",
];

/// What a rule has captured varies inside of a series: with a tangent, and with a tape, which does not hold how that moves along the series.
const IN_SERIES: &[(&str, &str)] = &[
    (
        "taylor 3 (\\x -> derivative (\\a -> custom_jvp (\\y -> y) (\\(y, t) -> (0.0, a * y * t)) x) 2.0) 3.0",
        "[0.0, 3.0, 1.0, 0.0]",
    ),
    (
        "taylor 3 (\\x -> derivative (\\a -> custom_vjp (\\y -> y) (\\y -> (0.0, \\w -> a * y * w)) x) 2.0) 3.0",
        "[0.0, 3.0, 1.0, 0.0]",
    ),
    (
        "taylor 2 (\\x -> (taylor 2 (\\a -> custom_jvp (\\y -> y) (\\(y, t) -> (0.0, a * a * y * t)) x) 2.0)[1]) 3.0",
        "[0.0, 12.0, 4.0]",
    ),
    (
        "taylor 3 (\\x -> grad (\\a -> custom_jvp (\\y -> y) (\\(y, t) -> (0.0, a * y * t)) x) 2.0) 3.0",
        "E0724",
    ),
    (
        "taylor 2 (\\y -> grad (\\x -> x * custom_vjp (\\b -> 1.5) (\\b -> (0.0, \\w -> x * w)) x) y) 0.7",
        "E0724",
    ),
];

/// The value of a program, of which machine code must be made.
fn compiled(text: &str) -> Result<String, String> {
    let (mut session, scope) = everywhere::session_with(DEFINITIONS);
    everywhere::compiled(&mut session, &scope, text, &[false, true])
}

#[test]
fn mixed_derivatives_are_what_the_rule_says_in_every_mode() {
    parallel::check_all("programs", KNOWN, |(program, expected)| {
        for outer in ["grad", "derivative"] {
            for inner in ["grad", "derivative"] {
                let text =
                    program.replace("D (", &format!("{outer} (")).replace("E (", &format!("{inner} ("));
                let value = compiled(&text)?;
                if value.parse() != Ok(*expected) {
                    return Err(format!("{text}\ngives {value}, not {expected}"));
                }
            }
        }
        Ok(())
    });
}

#[test]
fn engines_agree_on_mixed_derivatives() {
    parallel::check_all("programs", PROGRAMS, |program| compiled(program).map(|_| ()));
}

#[test]
fn what_rules_have_captured_inside_of_series_moves_along_them_or_is_refused() {
    parallel::check_all("programs", IN_SERIES, |(program, expected)| {
        let mut session = Session::new();
        for (engine, strict) in
            [(Engine::Interp, false), (Engine::Native, false), (Engine::Native, true), (Engine::C, false)]
        {
            let options = Options { engine, strict, ..Options::default() };
            let found = match session.eval(program, None, &options) {
                Ok(evaluated) => show(&evaluated.value),
                Err(errors) => errors.first().map(|error| error.code.to_string()).unwrap_or_default(),
            };
            if found != *expected {
                return Err(format!("{program}\ngives {found}, not {expected}, by {}", engine.name()));
            }
        }
        Ok(())
    });
}
