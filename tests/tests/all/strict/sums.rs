//! The order in which cotangents are added up, numbers that go by several names, and signs of zeros.

use super::given;
use std::path::Path;
use wengert_driver::emit::Stage;
use wengert_driver::scope::Scope;
use wengert_driver::{Engine, Options, Session, show};
use wengert_tests::property::complaints;
use wengert_tests::{project, text};

/// Each gives another last digit if cotangents are added up in another order.
const PROGRAMS: [&str; 9] = [
    // What stands there twice is computed once.
    "grad (\\(b, c) -> let a = 0.3 in let x = a * b in (c * b) * (a * b) + exp (0.1 * (b * c)) + (c * b) * (b * c) + exp (0.1 * (c - c / 3.0)) + exp (0.1 * sin c)) (0.2, 0.5)",
    "grad (\\(a, b) -> let m = max a b in m + log (exp (a - m) + exp (b - m))) (0.3, 0.2)",
    "grad (\\(a, b, c) -> let soft = \\x y -> let m = max x y in m + log (exp (x - m) + exp (y - m)) in soft a b * soft a c * soft b c) (0.3, 0.2, 0.1)",
    "grad (\\a -> let m = abs a in m * a + log (exp (a - m) + exp (a + m)) * a * m) 0.3",
    // What does not change in a loop is computed before it.
    "grad (\\(a, b) -> sum (map (\\x -> x * sin (sin a) + sin (x * (exp a * (a * 0.7)))) [0.1, 0.2, 0.3]) * (sin 1.3 + sin b)) (0.3, 1.3)",
    "grad (\\(a, b) -> fold (\\y x -> y * x * ((1.3 * 1.3) * (b + b)) + sin (exp 1.3)) 0.9 [0.1, 0.7, 1.3] * a * b) (0.3, 0.2)",
    // Recursion becomes a loop.
    "grad (\\b -> let rec f n y = if n == 0 then y * 1.1 else sin (f (n - 1) (y * 0.3)) * y in f 3 b * b * sin b) 0.2",
    // Recursion that branches is unrolled.
    "let rec fib n x = if n <= 1 then x * 0.9 else fib (n - 1) (x * 1.01) * 0.7 + (x + 1.1) * (1.1 * x) * sin (fib (n - 2) x) * x in \
        grad (\\x -> fib 6 x * (sin x * (x * x)) * x * sin x) 0.3",
    // Loops over the same indices become one.
    "grad (\\(a, b) -> let p = build 3 (\\i -> sin (real i * a) * sin 0.49) in let q = build 3 (\\i -> exp (a * real i) * sin (b * a)) in \
        (p[1] * p[0] + p[2]) * (q[1] + q[2] * q[0]) * (sin 1.3 * (a * a))) (0.3, 0.2)",
];

#[test]
fn strict_reverse_mode_gives_the_interpreters_bits() {
    let mut session = Session::new();
    let report = session.check_text("strict.wg", "", Path::new("."));
    let scope = Scope::of_file(&report.modules);
    for program in PROGRAMS {
        let mut by = |engine| {
            let options = Options { engine, strict: true, ..Options::default() };
            let evaluated = session.eval_in(&scope, "strict.wg", program, &options);
            show(&evaluated.expect("a program without mistakes").value)
        };
        let expected = by(Engine::Interp);
        assert_eq!(by(Engine::Ir), expected, "{program}");
        assert_eq!(by(Engine::Native), expected, "{program}");
    }
}

const NAMES: &str = "type Tree = Leaf Real | Node Tree Tree
type List = Nil | Cons Real List
type Maybe = None | Some Real
def total t = match t with | Leaf x -> x * x * sin x | Node l r -> total l + total r * 1.1
def squares t = match t with | Leaf x -> x * exp x | Node l r -> squares l * squares r
def horner l x = match l with | Nil -> 0.0 | Cons c r -> c * c + x * horner r x
def bumps l = match l with | Nil -> 0.2 | Cons x r -> x * sin x + bumps r * x
def mapped f l = match l with | Nil -> Nil | Cons x r -> Cons (f x) (mapped f r)
def look n l = match l with | Nil -> 0.3 | Cons x r -> if n == 0 then x else look (n - 1) r
def orelse d o = match o with | None -> d | Some x -> x
def half x y = if y > 0.5 then Some (x / y) else if y > 0.3 then Some x else None
def turns n x y = if n == 0 then x else turns (n - 1) y (x * y)
def power n x = if n == 1 then x else let h = power (n / 2) x in if n % 2 == 0 then h * h else h * h * x
def rule x = custom_jvp (\\x -> x * x) (\\(x, t) -> (x * x, 2.0 * x * t)) x
def stepped (p, v) = let a = -(p * 1.7) - p * p * 0.3 in (p + v * 0.1, v + a * 0.1)";

/// Numbers that go by several names: a branch or a loop hands them on, they stand in data or in several arrays, functions give them back.
const HANDED_ON: [&str; 31] = [
    "if x > y then x else y",
    "if x > y then x * y else if x * 2.0 > y then y else x",
    "max x (if x < 0.4 then 0.4 else if x > y then y else x)",
    "iterate 3 (\\p -> p * x + p * p * 0.1) x",
    "fold (\\a z -> a * z + sin a * a) x [x, y, x * y]",
    "fst (while_loop (\\(p, i) -> i < 3) (\\(p, i) -> (p * y + p * p, i + 1)) (x, 0))",
    "iterate 3 (\\p -> p - (p * p - x) / derivative (\\q -> q * q - x * q) p) y",
    "let (p, v) = iterate 4 stepped (x, y) in p * v + p",
    "turns 0 x y * turns 3 y x + turns 1 x y",
    "power 1 x * power 3 y",
    "let t = Node (Node (Leaf x) (Leaf y)) (Leaf (x * y)) in total t * squares t",
    "let t = Node (Leaf x) (Leaf y) in total t + x * squares t * total t",
    "orelse y (half x y) * orelse x (half y x)",
    "let f = if x > y then (\\z -> x * z * z) else (\\z -> y * sin (x * z)) in f y * f x",
    "let s = if x > y then { w = x, h = y } else { w = y, h = x * y } in s.w * s.w * s.h",
    "let a = [x, y, x * y] in sum (map (\\v -> v * v * x) a) * a[0] * a[1]",
    "let a = sort [y, x, x * y] in a[0] * a[1] * a[1] + sum (map (\\v -> v * sin v) a)",
    "let a = [x, y, x * y] in let b = reverse a in sum (map2 (\\p q -> p * q * q) a b) + dot a b * b[0]",
    "let a = [x, y, x * y, x + y] in let d = map2 (\\p q -> (q - p) * p) (slice a 0 3) (slice a 1 4) in dot d d * a[1]",
    "let a = [x, y] in let b = concat a (map (\\v -> v * v) a) in sum (map (\\v -> v * v * x) b) * a[0]",
    "let a = [x, y, x * y] in sum (map (\\v -> v * v) (gather a [2, 0, 0, 1])) * dot a a",
    "let a = [[x, y], [y * y, x * y]] in let v = flatten a in dot v v * a[0][1] + sum (map (\\z -> z * z * y) v)",
    "let a = [x, y] in dot a (iterate 3 (\\v -> map2 (\\p q -> p * 0.7 + q * q) v a) a)",
    "let a = [[x, 0.3], [y, 0.7]] in let b = iterate 3 (\\p -> map (map (\\v -> v * 0.5)) (matmul p a)) a in b[0][0] * b[1][0] * a[0][0]",
    "let a = [x, y, 0.8] in let s = scan (\\p q -> p * p * q + q) a[0] a in dot s a * s[1]",
    "let a = [x, y, 0.8] in let (s, m) = fold (\\(s, m) v -> (s + v * m, max m (v * v))) (a[0], a[0]) a in s * m",
    "rule x * rule y * x",
    "checkpoint (\\z -> iterate 2 (\\w -> sin (w * z) + w) z) x * x",
    "let (u, v) = vjp (\\z -> z * z * x) y in u * v x",
    "let l = Cons x (Cons y (Cons (x * y) Nil)) in horner l x * bumps l",
    "derivative (\\z -> z * z * x + sin (z * y)) x",
];

/// What uses such a number, beside those that it may be.
const USES: [&str; 4] = [
    "m * m * sin x + exp m * x * y",
    "m * x + y * m * m * x",
    "sin (m * y) * m * x * x + y",
    "x * y * m * m + x * x * m * y",
];

/// A number that is only handed on is the same number: all its uses add to one sum, in the order of the tape.
#[test]
fn what_is_only_handed_on_has_one_sum() {
    let mut session = Session::new();
    let report = session.check_text("names.wg", NAMES, Path::new("."));
    assert!(!report.has_errors(), "{}", complaints(&report.diagnostics));
    let scope = Scope::of_file(&report.modules);
    let mut by = |engine, handed: &str| {
        let one = |used: &&str| format!("grad (\\(x, y) -> let m = {handed} in {used}) p");
        let twice = format!(
            "grad (\\(x, y) -> let m = {handed} in let n = (let (x, y) = (y, x) in {handed}) in m * n * x * y + m * sin n) p"
        );
        let all: Vec<String> = USES.iter().map(one).chain([twice]).collect();
        let text = format!(
            "map (\\i -> let p = (0.31 + 0.173 * real i, 1.27 - 0.211 * real i) in ({})) (iota 6)",
            all.join(", ")
        );
        given(&mut session, &scope, engine, &text)
    };
    for handed in HANDED_ON {
        let expected = by(Engine::Interp, handed);
        assert_eq!(by(Engine::Native, handed), expected, "{handed}");
        assert_eq!(by(Engine::Ir, handed), expected, "{handed}");
    }
}

/// Zeros are strong in derivatives, and never -0; sums begin with 0; no integer is -0.
const SIGNS: &[&str] = &[
    "map (\\x -> (derivative (\\x -> x * x) x, derivative (\\x -> x ** 2) x, derivative (\\x -> x ^ 2) x, derivative cos x)) [0.0, -0.0]",
    "map (\\x -> (derivative (\\x -> -(x * x)) x, derivative (derivative cos) x, derivative (\\x -> 0.5 * cos x - 1.0) x)) [0.0, -0.0]",
    "map (\\y -> (derivative (\\x -> x * y) 1.0, grad (\\x -> x * y) 1.0, derivative (\\x -> x / y) 1.0)) [-0.0, -1.0 / 0.0]",
    "map (derivative (\\x -> if x > 0.0 then x else cos x)) [0.0, -0.0]",
    "map (\\x -> (sum [x, x], sum (map (\\y -> y * x) [1.0, 2.0]), fold (+) x [x], reduce (+) 0.0 [x])) [-0.0]",
    "map (\\x -> (dot [x] [1.0], matvec [[x]] [1.0], matmul [[x]] [[1.0]])) [-0.0]",
    "map (\\x -> (inner x 1.0, inner [x] [1.0], inner (x, x) (1.0, 1.0), inner (x, [x]) (1.0, [1.0]), inner ([x], x) ([1.0], 1.0))) [-0.0]",
    "map (\\x -> jvp (\\x -> (sum [x, x], inner [x] [x])) (x, 1.0)) [-0.0]",
    "map (\\x -> taylor 3 (\\x -> -(cos x)) x) [0.0]",
    "map (\\x -> (real (floor x), real (ceil x), real (round x), real (truncate x), round_to 9 (1e-9 * x))) [-0.3, -0.0, -1.7, 2.5]",
];

#[test]
fn zeros_have_the_interpreters_signs() {
    let mut session = Session::new();
    let report = session.check_text("strict.wg", "", Path::new("."));
    let scope = Scope::of_file(&report.modules);
    // C takes long to compile: it is given all at once.
    let all = format!("({})", SIGNS.join(", "));
    for program in SIGNS {
        let expected = given(&mut session, &scope, Engine::Interp, program);
        for engine in [Engine::Native, Engine::Ir] {
            assert_eq!(given(&mut session, &scope, engine, program), expected, "{program}");
        }
    }
    if Engine::C.require().is_ok() {
        let expected = given(&mut session, &scope, Engine::Interp, &all);
        assert_eq!(given(&mut session, &scope, Engine::C, &all), expected);
    }
}

const SKIN: &str = "def skin weights points angles =
  let turns = map (\\a -> [[cos a, -(sin a), a * a], [sin a, cos a, 0.5]]) angles
  in map2 (\\ws p -> build 2 (\\k -> sum (map2 (\\w t -> w * dot t[k] p) ws turns))) weights points
def jacobian weights points angles =
  let (_, along) = linearize (skin weights points) angles
  in build (length angles) (\\i -> along (set (zero angles) i 1.0))
def weights m n = build m (\\i -> build n (\\j -> if (i + j) % 3 == 0 then 0.0 else 0.3 * real (i - j)))
def points m x = build m (\\i -> [0.1 * real i, x, 1.5])
def angles n = build n (\\i -> 0.1 * real i)";

/// In a Jacobian each direction moves few rows, and only those are gone through. Elsewhere, and where something fails, all is as it was.
#[test]
fn rows_of_tangents_that_are_zero_are_left_out_and_nothing_else() {
    let mut session = Session::new();
    let report = session.check_text("skin.wg", SKIN, Path::new("."));
    assert!(!report.has_errors(), "{}", complaints(&report.diagnostics));
    let scope = Scope::of_file(&report.modules);
    let file = project::root().join("bench/gradbench/ht.wg");
    let code = session.emit("jacobian", Some(&file), Stage::Derivative, &Options::default());
    let code = code.map_err(|errors| complaints(&errors)).expect("code");
    assert!(code.contains("in places {"), "{code}");
    for program in [
        "jacobian (weights 5 12) (points 5 0.7) (angles 12)",
        "jacobian (weights 5 12) (points 5 (1.0 / 0.0)) (angles 12)",
        "jacobian (weights 4 9) (points 4 (0.0 / 0.0)) (map (\\a -> if a > 0.4 then 1.0 / 0.0 else a) (angles 9))",
        "jacobian (weights 0 0) (points 0 0.7) (angles 9)",
        "jacobian (weights 5 12) (points 5 0.7) (angles 11)",
        "jacobian (weights 5 12) (map (\\p -> slice p 0 2) (points 5 0.7)) (angles 12)",
        "let (_, along) = linearize (skin (weights 5 12) (points 5 0.7)) (angles 12) in along (map sin (angles 12))",
        "derivative (\\x -> sum (flatten (flatten (jacobian (weights 3 9) (points 3 x) (map (\\a -> a * x) (angles 9)))))) 0.7",
    ] {
        let mut by = |engine, strict| {
            let options = Options { engine, strict, ..Options::default() };
            match session.eval_in(&scope, "skin.wg", program, &options) {
                Ok(evaluated) => text::unsigned(&show(&evaluated.value)),
                Err(errors) => complaints(&errors),
            }
        };
        let expected = by(Engine::Interp, true);
        let mut engines = vec![Engine::Ir, Engine::Native];
        engines.extend(Engine::C.require().is_ok().then_some(Engine::C));
        for engine in engines {
            assert_eq!(by(engine, true), expected, "{program}");
            let fast = by(engine, false);
            assert!(text::close(&expected, &fast, 1e-9), "{program}: {fast} instead of {expected}");
        }
    }
}
