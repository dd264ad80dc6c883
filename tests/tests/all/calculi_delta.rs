//! The delta calculus on generated programs of the whole language, derivatives of derivatives included: the value and the
//! derivatives in both modes are those of the interpreter, and what it does not take it refuses with a message that says so.
//!
//! `WENGERT_PROPERTY_CASES` sets how many programs are generated; `WENGERT_PROPERTY_SEED` chooses others.

use arbitrary::Unstructured;
use std::path::Path;
use std::time::Duration;
use wengert_calculi::kit::ground::Ground;
use wengert_calculi::kit::trace::Limits;
use wengert_driver::{Options, Session, show};
use wengert_gen::{Config, GenValue, Program, gen_program, gen_value, minimize};
use wengert_tests::expected::compare_file;
use wengert_tests::{parallel, project};

/// Programs of each kind in the normal run.
const DEFAULT_CASES: u64 = 250;

const LIMITS: Limits = Limits { steps: 600_000, size: 2_000_000, recorded: 0 };

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Bytes that look random, the same for each seed.
fn bytes(seed: u64) -> Vec<u8> {
    let seed = seed ^ setting("WENGERT_PROPERTY_SEED", 0).rotate_left(32);
    let mut state = seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..256 + (seed as usize * 2617) % 12_000).map(|_| next()).collect()
}

struct Case {
    program: Program,
    point: GenValue,
}

fn case(seed: u64, config: &Config) -> Case {
    let bytes = bytes(seed);
    let (for_input, for_program) = bytes.split_at(128);
    let program = gen_program(&mut Unstructured::new(for_program), config).expect("there are bytes");
    let point = gen_value(&mut Unstructured::new(for_input), &program.arg_type, program.decls());
    Case { program, point: point.expect("there are bytes").expect("entries take first-order values") }
}

/// What became of a program.
#[derive(PartialEq)]
enum Outcome {
    Same,
    /// Outside of the calculus: the primitive, or the construct.
    Refused(String),
    /// A limit, or numbers that are not finite.
    Skipped,
    Wrong(String),
}

/// Value, forward and reverse derivative, as arrays of numbers.
fn question(case: &Case) -> String {
    let mut step = 0.0;
    let tangent = case.point.map_reals(&mut |_| {
        step += 1.0;
        f64::sin(step * 1.7) + 0.25
    });
    format!(
        "let x = {}\nlet t = {}\nlet (y, y_dot) = jvp entry (x, t)\nlet (_, back) = vjp entry x\n\
         in (ravel y, ravel y_dot, ravel (back y))",
        case.point.text(),
        tangent.text()
    )
}

fn numbers(shown: &str) -> Option<Vec<f64>> {
    let pieces = shown.split(|c: char| "()[], ".contains(c)).filter(|piece| !piece.is_empty());
    pieces.map(|piece| piece.parse().ok()).collect()
}

fn flat(value: &Ground, out: &mut Vec<f64>) {
    match value {
        Ground::Real(r) => out.push(*r),
        Ground::Tuple(items) | Ground::Array(items) => items.iter().for_each(|item| flat(item, out)),
        Ground::Int(_) | Ground::Bool(_) | Ground::String(_) | Ground::Ctor(..) | Ground::Term(_) => {
            panic!("{value:?}")
        }
    }
}

fn judged(case: &Case, name: &str) -> Outcome {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&file, case.program.text()).expect("cargo's folder for tests can be written");
    let text = question(case);
    let mut session = Session::new();
    let options = Options {
        max_steps: Some(5_000_000),
        max_memory: Some(1 << 29),
        timeout: Some(Duration::from_secs(10)),
        ..Options::default()
    };
    let expected = match session.eval(&text, Some(&file), &options) {
        Ok(evaluated) => numbers(&show(&evaluated.value)).expect("the value is made of numbers"),
        Err(_) => return Outcome::Skipped,
    };
    let system = wengert_calculi::system("delta").expect("it is one of the calculi");
    let (program, _) = match session.simple(&text, Some(&file)) {
        Ok(program) => program,
        // A type that contains itself at other types.
        Err(errors) if errors.iter().all(|error| error.code == "E0983") => return Outcome::Skipped,
        Err(errors) => return Outcome::Wrong(format!("{errors:?}")),
    };
    let trace = match system.trace(&program, &LIMITS) {
        Ok(trace) => trace,
        Err(errors) => {
            let message = errors.iter().map(|error| format!("{}: {}", error.code, error.message)).collect();
            let refusal = ["E0973", "E0974", "E0978"];
            let expected = errors.iter().all(|error| refusal.contains(&error.code));
            return if expected { Outcome::Refused(message) } else { Outcome::Wrong(message) };
        }
    };
    let Some(result) = trace.result.filter(|_| trace.stopped.is_none()) else { return Outcome::Skipped };
    let mut found = Vec::new();
    flat(&result, &mut found);
    let wild = |x: &f64| !x.is_finite() || x.abs() > 1e9;
    if expected.iter().any(wild) {
        return Outcome::Skipped;
    }
    let scale = expected.iter().fold(1.0_f64, |scale, x| scale.max(x.abs()));
    let same = |(x, y): (&f64, &f64)| (x - y).abs() <= 1e-6 * scale;
    if expected.len() == found.len() && expected.iter().zip(&found).all(same) {
        Outcome::Same
    } else {
        Outcome::Wrong(format!("expected {expected:?}\nfound    {found:?}"))
    }
}

/// Runs all cases; at least `least` percent must have been compared.
fn agree(config: &Config, kind: &str, least: usize) {
    let seeds: Vec<u64> = (0..setting("WENGERT_PROPERTY_CASES", DEFAULT_CASES)).collect();
    let outcomes = parallel::map(&seeds, |seed| judged(&case(*seed, config), &format!("{kind}{seed}.wg")));
    let wrong: Vec<u64> =
        (0..).zip(&outcomes).filter(|(_, o)| matches!(o, Outcome::Wrong(_))).map(|(i, _)| i).collect();
    if let Some(seed) = wrong.first() {
        let Case { program, point } = case(*seed, config);
        let name = format!("{kind}-smaller.wg");
        let at = |program: Program| Case { program, point: point.clone() };
        let smaller = minimize(program, |p| matches!(judged(&at(p.clone()), &name), Outcome::Wrong(_)));
        let smaller = at(smaller);
        let Outcome::Wrong(why) = judged(&smaller, &name) else { panic!("seed {seed} fails at random") };
        panic!("{why}\n{}\nwith\n{}\nseeds {wrong:?}", question(&smaller), smaller.program.text());
    }
    let same = outcomes.iter().filter(|outcome| **outcome == Outcome::Same).count();
    let mut refused: Vec<&str> = outcomes
        .iter()
        .filter_map(|outcome| if let Outcome::Refused(why) = outcome { Some(why.as_str()) } else { None })
        .collect();
    let count = refused.len();
    refused.sort_unstable();
    refused.dedup();
    assert!(
        same * 100 >= least * seeds.len(),
        "{kind}: {same} the same, {count} refused, of {}: {refused:#?}",
        seeds.len()
    );
}

#[test]
fn smooth_programs_have_the_derivatives_of_the_interpreter() {
    agree(&Config::smooth(), "smooth", 30);
}

#[test]
fn programs_of_every_kind_have_the_derivatives_of_the_interpreter() {
    agree(&Config::default(), "any", 30);
}

/// Programs for each construct and each primitive that the calculus takes, with what is hard about some of them.
const BY_HAND: &[&str] = &[
    r"grad (\x -> x * x * x) 2.0",
    r"value_and_grad (\(x, y) -> x * sin y) (2.0, 3.0)",
    r"let (y, pb) = vjp (\(x, y) -> [x * y, x + y]) (2.0, 3.0) in (y, ravel (pb [1.0, 10.0]))",
    r"jvp (\(x, y) -> (x * y, [x / y])) ((2.0, 3.0), (1.0, 0.5))",
    r"let (y, f) = linearize (\(x, y) -> x * y) (2.0, 3.0) in (y, f (1.0, 0.0), f (0.0, 1.0))",
    r"let c = 2.0 in grad (\x -> c * x * x) 3.0",
    r"map (\a -> grad (\x -> a * x * x) 3.0) [1.0, 2.0]",
    // Derivatives of derivatives, and no confusion of perturbations.
    r"grad (grad (\x -> x * x * x)) 2.0",
    r"grad (grad (grad (\x -> x ^ 5))) 1.0",
    r"derivative (\x -> grad (\y -> x * y * y) x) 3.0",
    r"grad (\x -> derivative (\y -> x * y * y) x) 3.0",
    r"grad (\x -> grad (\y -> x * y * y) x) 3.0",
    r"grad (\x -> x * derivative (\y -> x * y) 2.0) 1.0",
    r"derivative (\x -> x * grad (\y -> x + y) 2.0) 1.0",
    r"ravel (hvp (\(x, y) -> x * x * y) (2.0, 3.0) (1.0, 0.0))",
    r"hessian (\x -> x[0] * x[0] * sin (x[1])) [2.0, 3.0]",
    r"grad (grad (\x -> fold (\h a -> tanh (h * x + a)) 0.0 [1.0, 2.0])) 0.5",
    r"jacrev (\x -> [x[0] * x[1], sin (x[0])]) [1.0, 2.0]",
    r"jacfwd (\x -> [x[0] * x[1], sin (x[0])]) [1.0, 2.0]",
    r"grad (\xs -> grad (\y -> sum xs * y * y) 2.0) [1.0, 3.0]",
    // Definitions that differentiate their argument.
    r"let newton f x = x - f x / derivative f x in newton (\x -> x * x - 2) 1.0",
    r"let newton f x = x - f x / derivative f x in grad (\a -> newton (\x -> x * x - a) 1.0) 2.0",
    r"let twice d f = d (d f) in twice derivative (\x -> x ^ 4) 2.0",
    r"let d f = \x -> derivative f x in let step f x = x - 0.1 * d f x in step cos (step sin 1.0)",
    r"let shifted d f x = d (\y -> d f y) (f x) in shifted (shifted derivative) sin 0.5",
    r"let twice d f = d (d f) in twice (twice derivative) (\x -> x ^ 5) 1.0",
    // Recursion.
    r"(let rec f x = if x > 10 then x else f (x * 2) in grad f) 3.0",
    r"let rec power x n = if n == 0 then 1.0 else x * power x (n - 1) in grad (\x -> power x 5) 2.0",
    r"let rec f x n = if n == 0 then x else g (sin x) (n - 1) and g x n = if n == 0 then x else f (x * x) (n - 1) in grad (\x -> f x 4) 0.7",
    r"let rec power x n = if n == 0 then 1.0 else x * power x (n - 1) in grad (grad (\x -> power x 5)) 2.0",
    r"grad (\x -> iterate 3 (\y -> x * sin y) 1.0) 0.5",
    r"grad (\x -> while_loop (\y -> y < 20) (\y -> y * x) 1.0) 3.0",
    r"derivative (\x -> iterate 2 (\y -> y * y + grad (\z -> z * x) 1.0) x) 1.5",
    // Arrays.
    r"grad (\xs -> (sort xs)[0] * 2.0 + (sort xs)[2]) [3.0, 1.0, 2.0]",
    r"(sort [2, 1, 2, 0], argsort [2.0, 1.0, 2.0, 0.0], argsort [0.0 / 0.0, 1.0, 0.5])",
    r"grad (\xs -> sum (filter (\x -> x > 1.5) (map (\x -> x * x) xs))) [3.0, 1.0, 2.0]",
    r"(filter (\x -> x != 2) [1, 2, 3, 4, 5, 6], filter (\x -> x > 0) (iota 9))",
    r"(length (filter (\x -> x > 5) [3.0]), length (filter (\x -> x > 5) (filter (\x -> x > 5) [3.0])))",
    r"(scan (\a b -> a + b) 0 [1, 2, 3, 4, 5], length (scan (\a b -> a + b) 0 (iota 0)))",
    r"grad (\xs -> sum (scan (\a b -> a * b) 1.0 xs)) [3.0, 1.0, 2.0]",
    r"grad (\xs -> maximum xs * minimum xs) [3.0, 1.0, 3.0, 1.0]",
    r"(argmax [3.0, 4.0, 4.0], argmin [3, 1, 1], maximum [1, 3, 2], minimum [2, 1, 3])",
    r"grad (\a -> sum (map sum (matmul a [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))) [[1.0, 2.0, 0.5], [3.0, 4.0, 0.25]]",
    r"(matmul [[1, 2]] [[3, 4, 5], [6, 7, 8]], matvec [[1, 2], [3, 4]] [5, 6], dot [1, 2] [3, 4])",
    r"grad (\a -> dot (matvec a [1.0, 2.0]) [3.0, 4.0]) [[1.0, 2.0], [3.0, 4.0]]",
    r"(flatten [[1, 2, 3], [4, 5, 6]], transpose [[1, 2, 3], [4, 5, 6]])",
    r"grad (\xs -> sum (map (\x -> x * x) (scatter_add xs [0, 0, 1] [1.0, 2.0, 3.0]))) [1.0, 2.0]",
    r"grad (\xs -> sum (map2 (\a b -> a * b) (gather xs [1, 1, 0]) [1.0, 2.0, 3.0])) [5.0, 6.0]",
    r"grad (\xs -> product (concat (slice xs 1 3) (reverse xs))) [1.0, 2.0, 3.0, 4.0]",
    r"grad (\x -> (set [1.0, 2.0, 3.0] 1 x)[1] * sum (replicate 3 x)) 2.0",
    r"let (a, b) = unzip (zip [1, 2] [3.0, 4.0]) in (sum a, product b, sum (iota 4), sum (build 3 (\i -> i * i)))",
    r"(ravel ((1.0, [2.0, 3.0]), 4.0), ravel (unravel ((1.0, [2.0, 3.0]), 4.0) [5.0, 6.0, 7.0, 8.0]))",
    r"(ravel (zero (1.0, [2.0])), ravel (add (1.0, 2.0) (3.0, 4.0)), ravel (scale 2.0 (3.0, 4.0)), inner [1.0] [2.0])",
    // Numbers.
    r"(7 % -3, div (-7) 2, mod (-7) 2, div 7 (-2), mod 6 (-3), mod 7 (-2), div (-6) 3, (-7) / 2)",
    r"(round 2.5, round (-2.5), round 2.4999, round (-0.4), truncate (-2.7), truncate 2.7, floor (-0.5), ceil 1.2)",
    r"(round 0.49999999999999994, abs (-3), sign (-3), sign 0, sign 2, min 2 1, max 1 2, abs 2)",
    r"let n = 3 in grad (\x -> x ^ n) 2.0",
    r"(2 ^ 10, 3 ^ 0, let n = -2 in 2.0 ^ n, let n = 7 in 2 ^ n, 2.0 ^ -2)",
    r"grad (\(x, y) -> x ** y + atan2 x y + hypot x y + max x y * min x y) (2.0, 3.0)",
    r"grad (\x -> gamma x + erf x + sqrt x + cbrt x + log1p x + tanh x + abs x + relu x + softplus x) 1.3",
    r"taylor 3 sin 1.0",
    r"grad (\a -> (taylor 2 (\x -> a * x * x * x) 1.0)[2]) 2.0",
    r"grad (checkpoint (\x -> x * x)) 3.0",
    // Where a coefficient is infinite or undefined.
    r"grad (\x -> if x == 0 then 0.0 else sqrt x) 0.0",
    r"derivative (\x -> sqrt (x * 0.0)) 1.0",
    r"grad (\x -> 0.0 * sqrt x) 0.0",
    r"taylor 2 (\y -> 0.5 / 0.0) 0.5",
];

/// Programs whose result is not made of numbers.
const ANSWERS: &[(&str, &str)] = &[
    (r#"(1, true, "a") == (1, true, "a")"#, "Bool(true)"),
    (r#"(1, false, "a") == (1, true, "a")"#, "Bool(false)"),
    (r"[1.0, 2.0] != [1.0, 3.0]", "Bool(true)"),
    (r"[1.0, 2.0] == [1.0]", "Bool(false)"),
    (r"[[1], [2]] == [[1], [2]]", "Bool(true)"),
    (r#""a" ++ "b""#, r#"String("ab")"#),
    (
        r"(is_nan (0.0 / 0.0), not true, 1.0 >= 2.0, 2 > 1)",
        "Tuple([Bool(true), Bool(false), Bool(false), Bool(true)])",
    ),
    (r#"if 1 > 2 then fail "bad" else 1.0"#, "Real(1.0)"),
];

fn traced(text: &str, session: &mut Session, system: &dyn wengert_calculi::kit::system::System) -> Ground {
    let (program, _) = session.simple(text, None).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
    let trace = system.trace(&program, &LIMITS).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
    trace.result.unwrap_or_else(|| panic!("{text} stopped"))
}

#[test]
fn programs_by_hand_have_the_value_of_the_interpreter() {
    let system = wengert_calculi::system("delta").expect("it is one of the calculi");
    for text in BY_HAND {
        let mut session = Session::new();
        let value = session.eval(text, None, &Options::default());
        let value = value.unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
        let expected =
            numbers(&show(&value.value)).unwrap_or_else(|| panic!("{text} is not made of numbers"));
        let mut found = Vec::new();
        collect(&traced(text, &mut session, system), &mut found);
        let same = |(x, y): (&f64, &f64)| {
            x == y || (x - y).abs() <= 1e-9 * x.abs().max(1.0) || x.is_nan() && y.is_nan()
        };
        assert!(
            expected.len() == found.len() && expected.iter().zip(&found).all(same),
            "{text}\n{expected:?}\n{found:?}"
        );
    }
    for (text, expected) in ANSWERS {
        assert_eq!(format!("{:?}", traced(text, &mut Session::new(), system)), *expected, "{text}");
    }
}

fn collect(value: &Ground, out: &mut Vec<f64>) {
    match value {
        Ground::Int(n) => out.push(*n as f64),
        Ground::Tuple(items) | Ground::Array(items) => items.iter().for_each(|item| collect(item, out)),
        Ground::Real(_) | Ground::Bool(_) | Ground::String(_) | Ground::Ctor(..) | Ground::Term(_) => {
            flat(value, out)
        }
    }
}

#[test]
fn variants_have_the_same_gradients_and_the_costs_of_the_paper() {
    let system = wengert_calculi::system("delta").expect("it is one of the calculi");
    let names: Vec<&str> = system.variants().iter().map(|variant| variant.name).collect();
    assert_eq!(names, ["D1", "D2", "forward"]);
    let doubling = |n: usize| {
        let lets: String = (1..=n).map(|i| format!("let x{i} = x{0} + x{0} in ", i - 1)).collect();
        format!(r"grad (\x0 -> {lets}x{n}) 1.0")
    };
    let wide = |n: usize| {
        let names: Vec<String> = (0..n).map(|i| format!("x{i}")).collect();
        let point: Vec<String> = (0..n).map(|i| format!("0.{i}5")).collect();
        format!(r"grad (\({}) -> sin ({})) ({})", names.join(", "), names.join(" * "), point.join(", "))
    };
    // Steps, and numeric operations: ⊕ and ⊗ are one step each, and as many operations as the gradient has numbers.
    let costs = |text: &str| -> Vec<(u64, u64)> {
        let (program, _) = Session::new().simple(text, None).expect("it is a program");
        let all = std::iter::once(system.trace(&program, &LIMITS))
            .chain(system.variants().iter().map(|variant| (variant.trace)(&program, &LIMITS)));
        let traces: Vec<_> = all.map(|trace| trace.expect("it is `ℝᵃ → ℝ`")).collect();
        let mut expected = Vec::new();
        flat(traces[0].result.as_ref().expect("it ends"), &mut expected);
        for trace in &traces {
            let mut found = Vec::new();
            flat(trace.result.as_ref().expect("it ends"), &mut found);
            let same = |(x, y): (&f64, &f64)| (x - y).abs() <= 1e-9 * x.abs().max(1.0);
            assert!(expected.iter().zip(&found).all(same), "{text}\n{expected:?}\n{found:?}");
        }
        traces.iter().map(|trace| (trace.counts.steps, trace.counts.more["numeric operations"])).collect()
    };
    let (small, large) = (costs(&doubling(7)), costs(&doubling(14)));
    let growth = |at: usize| large[at].0 as f64 / small[at].0 as f64;
    // 𝒟⃖, 𝒟⃖¹ and ℱ are linear, 𝒟⃖² doubles with each `let`.
    assert!(growth(0) < 2.1 && growth(1) < 2.1 && growth(2) > 60.0 && growth(3) < 2.1, "{small:?} {large:?}");
    let (small, large) = (costs(&wide(4)), costs(&wide(9)));
    let operations = |at: usize| large[at].1 as f64 / small[at].1 as f64;
    // 9 inputs for 4: linear is 2.25, quadratic 5.1.
    assert!(operations(0) < 2.6 && operations(1) > 3.0 && operations(3) > 3.0, "{small:?} {large:?}");
}

/// The picture in the book is the one that `--svg` draws of the program there.
#[test]
fn the_picture_of_figure_12_is_current() {
    let page = project::read(&project::root().join("docs/delta.md"));
    let program = page.split("```wengert quaternion.wg\n").nth(1).and_then(|rest| rest.split("```").next());
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("quaternion.wg");
    std::fs::write(&file, program.expect("the page has the program")).expect("there is such a folder");
    let system = wengert_calculi::system("delta").expect("it is one of the calculi");
    let (program, _) = Session::new().simple("main", Some(&file)).expect("the program is well typed");
    let drawn = system.picture(&program, &LIMITS).expect("it is in the fragment");
    assert!(drawn.contains(">qx<") && drawn.contains(">91.96<") && drawn.contains("40 bindings"), "{drawn}");
    let compared = compare_file(&project::root().join("docs/pictures/quaternion.svg"), &drawn);
    assert_eq!(compared.err(), None);
}
