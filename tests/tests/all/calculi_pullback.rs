//! The pullback calculus and the differential λ-calculus on programs of the whole language: what they take has the values and
//! derivatives of the interpreter, for programs written for each construct and for generated ones; and what they do not
//! take they refuse.
//!
//! `WENGERT_PROPERTY_CASES` sets how many programs are generated; `WENGERT_PROPERTY_SEED` chooses others.

use arbitrary::Unstructured;
use std::path::Path;
use std::time::Duration;
use wengert_calculi::kit::ground::Ground;
use wengert_calculi::kit::trace::{Limits, Trace};
use wengert_driver::{Options, Session, show};
use wengert_gen::{Config, GenValue, Program, gen_program, gen_value, minimize};
use wengert_tests::parallel;

/// Programs of each kind in the normal run.
const DEFAULT_CASES: u64 = 400;

const LIMITS: Limits = Limits { steps: 200_000, size: 500_000, recorded: 0 };

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn traced(system: &str, text: &str, file: Option<&Path>) -> Result<Trace, String> {
    let say = |errors: Vec<wengert_base::Diagnostic>| {
        errors.iter().map(|error| format!("{}: {}", error.code, error.message)).collect::<String>()
    };
    let (program, _) = Session::new().simple(text, file).map_err(say)?;
    let system = wengert_calculi::system(system).expect("it is one of the calculi");
    system.trace(&program, &LIMITS).map_err(say)
}

fn evaluated(text: &str, file: Option<&Path>) -> Option<Vec<f64>> {
    let options = Options {
        max_steps: Some(5_000_000),
        max_memory: Some(1 << 29),
        timeout: Some(Duration::from_secs(10)),
        ..Options::default()
    };
    numbers(&show(&Session::new().eval(text, file, &options).ok()?.value))
}

/// The numbers in a value, if it holds nothing else.
fn numbers(shown: &str) -> Option<Vec<f64>> {
    let pieces = shown.split(|c: char| "()[], ".contains(c)).filter(|piece| !piece.is_empty());
    pieces.map(|piece| piece.parse().ok()).collect()
}

fn flat(value: &Ground, out: &mut Vec<f64>) -> bool {
    match value {
        Ground::Real(r) => out.push(*r),
        Ground::Tuple(items) | Ground::Array(items) => return items.iter().all(|item| flat(item, out)),
        Ground::Int(_) | Ground::Bool(_) | Ground::String(_) | Ground::Ctor(..) | Ground::Term(_) => {
            return false;
        }
    }
    true
}

fn close(expected: &[f64], found: &[f64]) -> bool {
    let scale = expected.iter().fold(1.0_f64, |scale, x| scale.max(x.abs()));
    let same = |(x, y): (&f64, &f64)| (x - y).abs() <= 1e-7 * scale;
    expected.len() == found.len() && expected.iter().zip(found).all(same)
}

/// A program for each construct that the translation takes.
const PROGRAMS: &[&str] = &[
    r"grad (\(x, y) -> ((x + 1) * (2 * x + y ^ 2)) ^ 2) (1, 3)",
    r"value_and_grad (\(p, q) -> let (a, b) = p in a * b * q) ((1.0, 2.0), 3.0)",
    r"let f x y = x * y in grad (\(a, b) -> f a b + f b a) (2.0, 3.0)",
    // Arrays of known length: literals, arguments, all the functions on them.
    r"grad (\(w, u) -> fold (\h x -> tanh (w * h + u * x)) 0.0 [0.1, 0.2, 0.3]) (0.5, 0.25)",
    r"grad (\x -> (fold (\k a -> \y -> k (sin (a * y))) (\y -> y) [0.1, 0.2, 0.3]) x) 0.5",
    r"grad (\x -> fold (\(a, b) c -> (b, a + b * c)) (x, x) [1.0, 2.0] |> fst) 3.0",
    r"grad (\x -> fold (\a i -> a * x + real i) 1.0 [3, 4]) 2.0",
    r"grad (\x -> sum (map (\a -> a * x) [1.0, 2.0])) 2.0",
    r"grad (\x -> sum (build 3 (\i -> x * real (i * i - 1)))) 2.0",
    r"grad (\x -> sum (build 4 (\i -> if i < 2 then x else x * x))) 2.0",
    r"grad (\xs -> sum (map (\a -> a * a) xs)) [1.0, 2.0, 3.0]",
    r"grad (\xs -> mean xs * xs[0]) [1.0, 2.0, 3.0]",
    r"grad (\(xs, y) -> product xs * y) ([2.0, 3.0], 4.0)",
    r"grad (\x -> dot [x, 2.0] [x, x]) 3.0",
    r"grad (\x -> sum (scan (\a b -> a * b) x [1.0, 2.0, 3.0])) 2.0",
    r"grad (\xs -> sum (map2 (\a b -> a * b) xs (reverse xs))) [1.0, 2.0, 3.0]",
    r"grad (\x -> sum (map (\(a, b) -> a * b * x) (zip [1.0, 2.0] [3.0, 4.0]))) 2.0",
    r"grad (\x -> sum (concat (replicate 2 x) [x * x])) 2.0",
    r"let f xs = sum xs * xs[1] in (grad f [1.0, 2.0], grad f [1.0, 2.0, 3.0])",
    r"grad (\x -> iterate 3 (\y -> x * sin y) x) 2.0",
    r"grad (\xs -> sum (set xs 1 (xs[0] * xs[2]))) [1.0, 2.0, 3.0]",
    r"grad (\x -> inner (x, [x]) (2.0, [x]) + checkpoint sin x) 2.0",
    r"grad (\x -> sum (build 3 (\i -> real (i ^ 2 % 3 + max i 1) * x))) 2.0",
    r"scan (\a b -> a + b) 0.0 [1.0, 2.0, 3.0]",
    // Derivatives inside other expressions: as functionals, and as numbers.
    r"let (v, back) = vjp (\(x, y) -> (x * y, x + y)) (2.0, 3.0) in (v, back (1.0, 0.0), back (0.5, 2.0))",
    r"jvp (\(x, y) -> (x * y, x + y)) ((2.0, 3.0), (1.0, 0.5))",
    r"jvp (\xs -> map sin xs) ([2.0, 3.0], [1.0, 0.5])",
    r"derivative (\t -> (t * t, sin t)) 1.0",
    r"2.0 * derivative sin 1.0 + 1.0",
    r"1.0 - derivative sin 1.0 / 4.0",
    r"-(derivative sin 1.0)",
    r"let g = grad (\(x, y) -> x * y * y) (2.0, 3.0) in let (a, b) = g in a + 2.0 * b - a * 3.0",
    r"map (grad (\x -> x * x)) [1.0, 2.0]",
    r"sum (map (grad (\x -> x * x)) [1.0, 2.0])",
    r"let g = grad (\xs -> sum xs * xs[0]) [1.0, 2.0] in g[0] - g[1]",
    r"scale 2.0 (add (grad (\(x, y) -> x * y) (1.0, 2.0)) (grad (\(x, y) -> x + y) (1.0, 2.0)))",
    r"add (scale 2.0 (1.0, 2.0)) (3.0, 4.0)",
    r"from_dual (pullback (\(x, y) -> x * y) (\w -> to_dual (2.0 * w)) (3.0, 4.0))",
    r"from_dual (pullback (\x -> (x, x * x)) (\w -> to_dual w) 3.0)",
    r"derivative sin 1.0 * derivative cos 1.0",
    r"sin (derivative (\x -> x ^ 3) 2.0)",
    r"let f x = x ^ 2 - 2.0 in let x = 1.5 in x - f x / derivative f x",
    r"let a = 2.0 in let b = sin a in exp (derivative (\x -> b * x * x) a)",
    r"let (v, g) = value_and_grad (\(x, y) -> x * y) (2.0, 3.0) in let (a, b) = g in exp (grad sin v) * v",
    r"grad (\x -> polygamma 1 x + x ^ -2 + x ** 1.5) 2.0",
    // Functions of functions that value 1 of remark 3.6 stops where they stand.
    r"grad (\x -> let h = \(f : Real -> Real) -> f x in h sin + h exp) 0.9",
    r"let f = \g -> let u = \(y : Real -> Real) -> y g in u (\z -> z * z) in grad f 0.9",
    r"grad (\(x : Real) -> (fold (\k (a : Real) -> \p -> k (\z -> x * p z)) (\p -> p 2.0) [0.1, 0.2]) sin) 0.5",
    r"grad (\x -> let h = \(f : Real -> Real) -> f x in fold (\(s : Real) (g, a) -> s + g h * a) 0.0 [(\(k : (Real -> Real) -> Real) -> k sin, 2.0)]) 0.9",
];

#[test]
fn programs_of_each_construct_have_the_values_of_the_interpreter() {
    for text in PROGRAMS {
        let expected = evaluated(text, None).unwrap_or_else(|| panic!("{text} has no numbers as value"));
        for system in ["pullback", "differential"] {
            let trace =
                traced(system, text, None).unwrap_or_else(|error| panic!("{system}: {text}: {error}"));
            let mut found = Vec::new();
            let ground = trace.result.as_ref().is_some_and(|result| flat(result, &mut found));
            assert!(ground && close(&expected, &found), "{system}: {text}\n{expected:?}\n{:?}", trace.result);
        }
    }
}

#[test]
fn what_the_calculus_has_not_is_refused_with_the_construct() {
    let refused = [
        (r"grad (\x -> if x > 0.0 then x else 0.0) 1.0", "`>` at these types"),
        (r"grad (\x -> x * derivative sin x) 1.0", "derivatives of derivatives"),
        (r"grad (\x -> sin (derivative sin x)) 1.0", "derivatives of derivatives"),
        (r"grad (grad (\x -> x ^ 3)) 1.0", "derivatives of derivatives"),
        (r"let d = derivative sin 1.0 in d * d", "number for the derivative that is an argument of `mult`"),
        (r"let d = derivative sin 1.0 in d < 1.0", "`<` at these types"),
        (r"product [derivative sin 1.0, 2.0]", "number for the derivative that is a factor of `product`"),
        (r"let rec f x = if x > 9.0 then x else f (x * x) in grad f 2.0", "recursion"),
        (r#"show (grad sin 1.0)"#, "`show` at these types"),
        (r"grad (\x -> sum (filter (\a -> a > x) [1.0, 2.0])) 1.0", "`filter` at these types"),
        (r"let n = floor 2.5 in sum (build n real)", "`floor` at these types"),
        (r"apply_dual (to_dual 2.0) 3.0", "`apply_dual` at these types"),
        (r"(1, true)", "integers, except those that are known before the reduction"),
    ];
    for (text, why) in refused {
        for system in ["pullback", "differential"] {
            let error = traced(system, text, None).expect_err(text);
            assert!(
                error.starts_with("E0917: the pullback calculus has no ") && error.contains(why),
                "{text}: {error}"
            );
        }
    }
}

#[test]
fn calls_of_unknown_functions_are_refused_where_they_stand() {
    let onto_sin = r"pullback (\(k : (Real -> Real) -> Real) -> k sin) (\r -> to_dual 1.0)";
    for (text, name) in [
        (format!(r"pullback (\x -> \(f : Real -> Real) -> f x) ({onto_sin}) 2.0"), "`f`"),
        (format!(r"pullback (\x -> \(g : Real -> Real) -> let y = g x in y * y) ({onto_sin}) 2.0"), "`g`"),
    ] {
        let error = traced("pullback", &text, None).expect_err("no number is its value");
        let wanted = format!("E0918: the pullback calculus cannot differentiate this call of {name},");
        assert!(error.starts_with(&wanted), "{error}");
        // The value is cos 2, or sin 4, as the differential λ-calculus finds.
        let Ok(trace) = traced("differential", &text, None) else { panic!("{text}") };
        let mut found = Vec::new();
        assert!(trace.result.is_some_and(|result| flat(&result, &mut found)), "{text}");
        let expected = if name == "`f`" { 2.0_f64.cos() } else { 4.0_f64.sin() };
        assert!(close(&[expected], &found), "{found:?}");
    }
}

/// The picture in the chapter is the command's; `BLESS=1` rewrites it.
#[test]
fn the_picture_of_the_phases_is_the_command_s() {
    let (program, _) =
        Session::new().simple(PROGRAMS.first().expect("the running example"), None).expect("it checks");
    let system = wengert_calculi::system("pullback").expect("it is one of the calculi");
    let picture = system.picture(&program, &Limits::default()).expect("it is in the fragment");
    let file = wengert_tests::project::root().join("docs/pictures/pullback-phases.svg");
    if let Err(complaint) = wengert_tests::expected::compare_file(&file, &picture) {
        panic!("{complaint}");
    }
}

struct Case {
    program: Program,
    point: GenValue,
}

fn case(seed: u64, config: &Config) -> Case {
    let seed = seed ^ setting("WENGERT_PROPERTY_SEED", 0).rotate_left(32);
    let mut state = seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    let bytes: Vec<u8> = (0..256 + (seed as usize * 2617) % 8_000).map(|_| next()).collect();
    let (for_input, for_program) = bytes.split_at(128);
    let program = gen_program(&mut Unstructured::new(for_program), config).expect("there are bytes");
    let point = gen_value(&mut Unstructured::new(for_input), &program.arg_type, program.decls());
    Case { program, point: point.expect("there are bytes").expect("entries take first-order values") }
}

/// What became of a program in one system: `Err` is a wrong result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Same,
    /// Outside of the calculus.
    Refused,
    /// A limit, a function of nothing real, or numbers that are not finite.
    Skipped,
}

fn judged(case: &Case, system: &str, name: &str) -> Result<Outcome, String> {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&file, case.program.text()).expect("cargo's folder for tests can be written");
    let text = format!("let x = {}\nlet (y, back) = vjp entry x\nin (y, back y)", case.point.text());
    let Some(expected) = evaluated(&text, Some(&file)) else { return Ok(Outcome::Skipped) };
    if expected.iter().any(|x| !x.is_finite() || x.abs() > 1e9) {
        return Ok(Outcome::Skipped);
    }
    let trace = match traced(system, &text, Some(&file)) {
        Ok(trace) => trace,
        Err(error) if ["E0917", "E0918", "E0983"].iter().any(|code| error.starts_with(code)) => {
            return Ok(Outcome::Refused);
        }
        Err(error) => return Err(error),
    };
    let Some(result) = trace.result.filter(|_| trace.stopped.is_none()) else { return Ok(Outcome::Skipped) };
    let mut found = Vec::new();
    if !flat(&result, &mut found) {
        return Err(format!("no numbers: {result:?}\n{text}"));
    }
    if close(&expected, &found) { Ok(Outcome::Same) } else { Err(format!("{expected:?}\n{found:?}\n{text}")) }
}

#[test]
fn generated_programs_have_the_derivatives_of_the_interpreter() {
    let config = Config {
        max_derivatives: 0,
        loops: false,
        data: false,
        strings: false,
        recursion: false,
        taylor: false,
        ..Config::smooth()
    };
    let seeds: Vec<u64> = (0..setting("WENGERT_PROPERTY_CASES", DEFAULT_CASES)).collect();
    for system in ["pullback", "differential"] {
        let name = |seed: u64| format!("{system}{seed}.wg");
        let outcomes = parallel::map(&seeds, |seed| judged(&case(*seed, &config), system, &name(*seed)));
        let mut counts = std::collections::BTreeMap::new();
        for (seed, outcome) in seeds.iter().zip(outcomes) {
            match outcome {
                Ok(outcome) => *counts.entry(outcome).or_insert(0u64) += 1,
                Err(_) => fail(case(*seed, &config), system, *seed),
            }
        }
        println!("{system}: {counts:?}");
        let same = counts.get(&Outcome::Same).copied().unwrap_or(0);
        assert!(same * 4 >= seeds.len() as u64, "{system}: only {same}: {counts:?}");
    }
}

/// Shows the smallest program that is wrong in the same way.
fn fail(case: Case, system: &str, seed: u64) {
    let name = format!("{system}-smaller.wg");
    let at = |program: Program| Case { program, point: case.point.clone() };
    let smaller = at(minimize(case.program.clone(), |p| judged(&at(p.clone()), system, &name).is_err()));
    let why = judged(&smaller, system, &name).expect_err("it still fails");
    panic!("{system}, seed {seed}: {why}\n{}", smaller.program.text());
}
