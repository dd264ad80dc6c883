//! The negation calculus on programs of the whole language: values and derivatives are those of the interpreter, by hand-made
//! and by generated programs; the other ways to a gradient that it offers give the same one; what it does not take it
//! refuses.
//!
//! `WENGERT_PROPERTY_CASES` sets how many programs are generated; `WENGERT_PROPERTY_SEED` chooses others.

use arbitrary::Unstructured;
use std::path::Path;
use std::time::Duration;
use wengert_calculi::kit::ground::Ground;
use wengert_calculi::kit::system::System;
use wengert_calculi::kit::trace::{Limits, Trace};
use wengert_driver::{Options, Session, show};
use wengert_gen::{Config, GenValue, Program, gen_program, gen_value};
use wengert_tests::parallel;

/// Programs of each kind in the normal run.
const DEFAULT_CASES: u64 = 250;

const LIMITS: Limits = Limits { steps: 300_000, size: 1_000_000, recorded: 0 };

/// Programs for each construct that the calculus takes.
const TAKEN: &[&str] = &[
    r"grad (\x -> sin x * x) 2.0",
    r"grad (\(x, y, z) -> x * y + z ^ 3) (2.0, 3.0, 4.0)",
    r"value_and_grad (\(x, (y, z)) -> x * y + z ^ 3) (2.0, (3.0, 4.0))",
    r"grad (\p -> p.a * p.b) {a = 1.0, b = 2.0}",
    r"let f = \x -> x * x in f (f 3.0)",
    r"let f = \x -> x * x in grad (\x -> f (f x)) 3.0",
    r"let f x y = x * y + sin y in let g k = f k (k * 2.0) in grad g 1.5",
    r"let twice h x = h (h x) in grad (twice (twice sin)) 0.7",
    r"let c = 2.0 in let f x = c * x in let g x = f (f x) in value_and_grad g 3.0",
    r"let p = (sin 1.0, cos 1.0) in fst p * snd p",
    r"grad (\x -> let p = (sin x, (cos x, x)) in fst p * fst (snd p) * snd (snd p)) 1.0",
    // Arrays of known length, and folds as Church lists.
    r"grad (\x -> fold (\h a -> sin (h + a * x)) 0.0 [1.0, 2.0, 3.0]) 0.5",
    r"grad (\x -> fold (\h a -> h - a) x (map sin [1.0, 2.0])) 0.5",
    r"grad (\x -> fold atan2 x [1.0, x, 3.0]) 0.5",
    r"grad (\(w, u) -> fold (\h x -> tanh (w * h + u * x)) 0.0 [0.1, 0.2, 0.3]) (0.5, 0.25)",
    r"grad (\x -> (fold (\k a -> \y -> k (sin (a * y))) (\y -> y) [0.1, 0.2]) x) 0.5",
    r"grad (\xs -> fold (\(a, b) x -> (a + x, b * x)) (0.0, 1.0) xs |> \(a, b) -> a * b) [1.0, 2.0, 3.0]",
    r"fold (\h (a, n) -> h * real n - a) 1.0 (zip [1.0, 2.0] [3, 4])",
    r"grad (\xs -> sum (map (\x -> x * x) xs)) [1.0, 2.0, 3.0]",
    r"grad (\x -> sum (build 4 (\i -> x ^ i * real i))) 0.5",
    r"grad (\xs -> sum (scan (\a x -> a * x) 1.0 xs)) [1.0, 2.0, 3.0]",
    r"grad (\xs -> maximum xs * minimum xs * product xs) [3.0, 1.0, 2.0]",
    r"grad (\m -> sum (map sum (matmul m m))) [[1.0, 2.0], [3.0, 4.0]]",
    r"grad (\v -> sum (matvec [[1.0, 2.0], [3.0, 4.0]] v)) [1.0, 2.0]",
    r"grad (\xs -> sum (map2 (\a b -> a / b) (reverse xs) (transpose [xs, xs])[0])) [1.0, 2.0]",
    r"grad (\xs -> product (concat (slice xs 1 3) (gather xs [2, 0]))) [1.0, 2.0, 3.0, 4.0]",
    r"grad (\x -> (set [1.0, 2.0, 3.0] 1 x)[1] * sum (replicate 3 x)) 2.0",
    r"grad (\xs -> let (a, b) = unzip (zip xs [3.0, 4.0]) in sum a * dot a b) [1.0, 2.0]",
    r"grad (\x -> iterate 3 (\y -> y * y) x) 1.1",
    r"(sum (filter (\i -> i % 2 == 1) (iota 6)), length (flatten [[1.0], [2.0]]), real (product [2, 3]))",
    r"grad (\x -> if length [1, 2] > 1 then x * 2.0 else x) 3.0",
    r"(ravel ((1.0, [2.0, 3.0]), 4.0), ravel (unravel ((1.0, [2.0]), 4.0) [5.0, 6.0, 8.0]))",
    r"(ravel (zero (1.0, [2.0])), ravel (add (1.0, 2.0) (3.0, 4.0)), ravel (scale 2.0 (3.0, 4.0)), inner [1.0] [2.0])",
    r"(div (-7) 2, mod (-7) 2, -7 % 2, 7 / 2, min 1 2, max 1 2, abs (-3), 2 ^ 5, sign (-4), 2.0)",
    r"let n = 3 in grad (checkpoint (\x -> x ^ n)) 2.0",
    // Derivatives inside of programs, and of derivatives.
    r"let (y, back) = vjp (\x -> x * x) 3.0 in back 2.0",
    r"let (y, back) = vjp (\(a, b) -> (a * b, a + b)) (3.0, 4.0) in (y, back (1.0, 10.0))",
    r"let (y, back) = vjp (\xs -> map sin xs) [1.0, 2.0] in (y, back [1.0, 10.0], back [0.0, 1.0])",
    r"jvp (\(a, b) -> (a * b, sin a)) ((3.0, 4.0), (1.0, 0.5))",
    r"jvp (\xs -> map sin xs) ([1.0, 2.0], [0.5, 0.25])",
    r"derivative (\x -> (x, sin x)) 1.0",
    r"map (grad sin) [1.0, 2.0]",
    r"let w0 = 1.0 in let w1 = w0 - 0.1 * grad (\w -> (w - 3.0) ^ 2) w0 in w1",
    r"let h = \(f : Real -> Real) -> grad (\x -> f x * x) 2.0 in h sin",
    r"(\y -> grad (\x -> x * y) 2.0) 5.0",
    r"let newton f x = x - f x / derivative f x in newton (\x -> x * x - 2) 1.0",
    r"grad (\x -> grad (\y -> y ^ 3) x) 2.0",
    r"grad (\x -> derivative (\y -> x * y) 1.0) 2.0",
    r"grad (\x -> x * grad (\y -> x + y) 2.0) 1.0",
    r"derivative (\x -> x * grad (\y -> x + y) 2.0) 1.0",
    r"grad (\x -> let (y, back) = vjp (\(a, b) -> (a * b * x, a + b)) (x, x * x) in fst (back y)) 1.5",
    r"grad (grad (\x -> fold (\h a -> tanh (h * x + a)) 0.0 [1.0, 2.0])) 0.5",
    r"grad (\x -> derivative (\y -> log (y * x) / sqrt y - cos y / tan (x * y)) x) 0.75",
    r"hessian (\xs -> xs[0] * xs[1] ^ 2) [2.0, 3.0]",
    r"jacrev (\xs -> map (\x -> x * sum xs) xs) [1.0, 2.0]",
    r"jacfwd (\xs -> map (\x -> x * sum xs) xs) [1.0, 2.0]",
    r"hvp (\(x, y) -> x * y ^ 2) (1.0, 2.0) (0.5, 0.25)",
    r"grad norm [3.0, 4.0]",
    r"grad mean [3.0, 4.0]",
    // The operations on reals with their rules.
    r"grad (\x -> atan2 x 2.0 + x ** 2.5 + hypot x 1.0 + abs x + relu x + softplus x + polygamma 1 x) 0.5",
    r"grad (\x -> gamma x + erf x + sqrt x + cbrt x + log1p x + sigmoid x + max x 1.0 * min x 2.0 + sign x) 1.3",
];

/// Programs that it refuses, with the code.
const REFUSED: &[(&str, &str)] = &[
    (r"grad (\x -> if x > 0.0 then x else -x) 2.0", "E0948"),
    (r"jvp (\g -> g (g 1.0)) (sin, cos)", "E0949"),
    (r"grad (\x -> real (floor x)) 2.0", "E0948"),
    (r"1 + 2", "E0948"),
    (r"let rec f n = if n == 0 then 1.0 else f (n - 1) in f 3", "E0948"),
    (r"grad (\x -> stop_gradient x * x) 2.0", "E0948"),
    (r"pullback sin to_dual 1.0", "E0948"),
    (r"(\(f : Real -> [2]Real) -> f 1.0) (\x -> [x, x] |> map sin) |> sum |> show", "E0948"),
    (r"let n = 2 in [1.0, 2.0][n]", "E0948"),
    (r"grad (\x -> derivative (\y -> y ** x) 2.0) 1.0", "E0948"),
    (r#"("text", 1.0)"#, "E0948"),
];

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn negation() -> &'static dyn System {
    wengert_calculi::system("negation").expect("it is one of the calculi")
}

fn numbers(shown: &str) -> Option<Vec<f64>> {
    // Names of record fields are no numbers.
    let pieces = shown.split(|c: char| "(){}[],= ".contains(c)).filter(|piece| !piece.is_empty());
    let fields = pieces.filter(|piece| !piece.chars().all(|c| c.is_ascii_lowercase()));
    fields.map(|piece| piece.parse().ok()).collect()
}

fn flat(value: &Ground, out: &mut Vec<f64>) {
    match value {
        Ground::Real(r) => out.push(*r),
        Ground::Int(n) => out.push(*n as f64),
        Ground::Tuple(items) | Ground::Array(items) => items.iter().for_each(|item| flat(item, out)),
        Ground::Bool(_) | Ground::String(_) | Ground::Ctor(..) | Ground::Term(_) => out.push(f64::NAN),
    }
}

fn result(trace: &Trace) -> Vec<f64> {
    let mut found = Vec::new();
    trace.result.iter().for_each(|result| flat(result, &mut found));
    found
}

fn close(a: &[f64], b: &[f64]) -> bool {
    let scale = a.iter().chain(b).fold(1.0_f64, |scale, x| scale.max(x.abs()));
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| (x - y).abs() <= 1e-9 * scale)
}

fn interpreted(session: &mut Session, text: &str, file: Option<&Path>) -> Option<Vec<f64>> {
    let options = Options {
        max_steps: Some(5_000_000),
        max_memory: Some(1 << 29),
        timeout: Some(Duration::from_secs(10)),
        ..Options::default()
    };
    session.eval(text, file, &options).ok().and_then(|value| numbers(&show(&value.value)))
}

#[test]
fn programs_by_hand_have_the_values_of_the_interpreter_in_every_way_to_compute_them() {
    parallel::check_all("programs", TAKEN, |text| {
        let mut session = Session::new();
        let expected = interpreted(&mut session, text, None).ok_or_else(|| format!("{text} has no value"))?;
        let program = session.simple(text, None).map_err(|errors| format!("{text}\n{errors:?}"))?.0;
        let compare = |name: &str, trace: Result<Trace, Vec<wengert_base::Diagnostic>>| {
            let trace = trace.map_err(|errors| format!("{name}: {text}\n{errors:?}"))?;
            let found = result(&trace);
            if trace.stopped.is_none() && close(&found, &expected) {
                return Ok(trace.counts.steps);
            }
            Err(format!("{name}: {text}\nexpected {expected:?}\nfound    {found:?}\n{}", trace.end))
        };
        compare("machine", negation().trace(&program, &LIMITS))?;
        // With recorded steps it is the calculus as Table 2 has it.
        compare("trace", negation().trace(&program, &Limits { recorded: 1, ..LIMITS }))?;
        let gradient = negation()
            .trace(&program, &LIMITS)
            .is_ok_and(|trace| trace.counts.more.contains_key("operations of the read-back"));
        for variant in negation().variants() {
            let only_gradients = ["forward", "injections"].contains(&variant.name);
            if only_gradients && !gradient {
                let refused = (variant.trace)(&program, &LIMITS).is_err_and(|e| e[0].code == "E0949");
                if !refused {
                    return Err(format!("{} takes {text}", variant.name));
                }
                continue;
            }
            compare(variant.name, (variant.trace)(&program, &LIMITS))?;
        }
        Ok(())
    });
}

#[test]
fn programs_outside_of_the_calculus_are_refused() {
    for (text, code) in REFUSED {
        let mut session = Session::new();
        let program = match session.simple(text, None) {
            Ok((program, _)) => program,
            Err(errors) => panic!("{text}\n{errors:?}"),
        };
        match negation().trace(&program, &LIMITS) {
            Ok(trace) => panic!("{text} gives {:?}", trace.result),
            Err(errors) => assert_eq!(errors[0].code, *code, "{text}\n{errors:?}"),
        }
    }
}

/// Bytes that look random, the same for each seed.
fn bytes(seed: u64) -> Vec<u8> {
    let seed = seed ^ setting("WENGERT_PROPERTY_SEED", 0).rotate_left(32);
    let mut state = seed.wrapping_add(7).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..256 + (seed as usize * 2617) % 9_000).map(|_| next()).collect()
}

fn case(seed: u64, config: &Config) -> (Program, GenValue) {
    let bytes = bytes(seed);
    let (for_input, for_program) = bytes.split_at(128);
    let program = gen_program(&mut Unstructured::new(for_program), config).expect("there are bytes");
    let point = gen_value(&mut Unstructured::new(for_input), &program.arg_type, program.decls());
    (program, point.expect("there are bytes").expect("entries take first-order values"))
}

/// What became of a program.
enum Outcome {
    Same,
    Refused,
    /// A limit, an error of the program, or numbers that are not finite.
    Skipped,
    Wrong(String),
}

fn judged(seed: u64, config: &Config) -> Outcome {
    let (program, point) = case(seed, config);
    let mut step = 0.0;
    let tangent = point.map_reals(&mut |_| {
        step += 1.0;
        f64::sin(step * 1.7) + 0.25
    });
    let text = format!(
        "let x = {}\nlet t = {}\nlet (y, y_dot) = jvp entry (x, t)\nlet (_, back) = vjp entry x\n\
         in (ravel y, ravel y_dot, ravel (back y))",
        point.text(),
        tangent.text()
    );
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("negation{seed}.wg"));
    std::fs::write(&file, program.text()).expect("cargo's folder for tests can be written");
    let mut session = Session::new();
    let Some(expected) = interpreted(&mut session, &text, Some(&file)) else { return Outcome::Skipped };
    let Ok((simple, _)) = session.simple(&text, Some(&file)) else { return Outcome::Skipped };
    let trace = match negation().trace(&simple, &LIMITS) {
        Ok(trace) => trace,
        Err(errors) if errors.iter().all(|e| ["E0948", "E0949"].contains(&e.code)) => {
            return Outcome::Refused;
        }
        Err(errors) => return Outcome::Wrong(format!("{errors:?}\n{text}\n{}", program.text())),
    };
    let wild = |x: &f64| !x.is_finite() || x.abs() > 1e9;
    if trace.stopped.is_some() || expected.iter().any(wild) {
        return Outcome::Skipped;
    }
    let found = result(&trace);
    if close(&found, &expected) {
        return Outcome::Same;
    }
    let program = program.text();
    Outcome::Wrong(format!("expected {expected:?}\nfound    {found:?}\n{}\n{text}\n{program}", trace.end))
}

#[test]
fn generated_programs_have_the_derivatives_of_the_interpreter() {
    let seeds: Vec<u64> = (0..setting("WENGERT_PROPERTY_CASES", DEFAULT_CASES)).collect();
    let outcomes = parallel::map(&seeds, |seed| judged(*seed, &Config::smooth()));
    let wrong = |outcome: &Outcome| if let Outcome::Wrong(why) = outcome { Some(why.clone()) } else { None };
    let wrong: Vec<String> = outcomes.iter().filter_map(wrong).collect();
    assert!(wrong.is_empty(), "{} of {} programs:\n{}", wrong.len(), seeds.len(), wrong[0]);
    let same = outcomes.iter().filter(|outcome| matches!(outcome, Outcome::Same)).count();
    let refused = outcomes.iter().filter(|outcome| matches!(outcome, Outcome::Refused)).count();
    println!("{same} the same, {refused} refused, of {}", seeds.len());
    assert!(same * 100 >= 15 * seeds.len(), "only {same} of {} agree, {refused} refused", seeds.len());
}
