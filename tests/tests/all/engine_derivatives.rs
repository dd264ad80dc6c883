//! The engine's derivatives: examples and programs by hand go through lowering and differentiation;
//! what comes out is well formed, and gives what the interpreter gives, to the last bit (zeros have no sign here).

use std::path::Path;
use wengert_base::{Diagnostic, SourceId};
use wengert_driver::{Engine, Options, Session, show};
use wengert_ir::eval::{Evaluator, Limits, Value};
use wengert_mono::simple;
use wengert_tests::promise::{self, DEFINITIONS};
use wengert_tests::{parallel, project};

fn messages(errors: &[Diagnostic]) -> String {
    errors.iter().map(|error| format!("{}: {}\n", error.code, error.message)).collect()
}

/// What the program, which gives a text, gives through the engine's IR with its derivatives made; and its operations.
fn engine(program: &simple::Program) -> Result<(String, u64), String> {
    let lowered = wengert_lower::lower(program, &|_: SourceId| false).map_err(|errors| messages(&errors))?;
    let made = wengert_ad::differentiate(lowered.program);
    if let Err(errors) = wengert_ir::verify(&made) {
        let errors: String = errors.iter().take(4).map(|error| format!("{error}\n")).collect();
        return Err(format!("ill formed: {errors}"));
    }
    let mut evaluator = Evaluator::new(&made, Limits::default());
    match evaluator.call(lowered.entry.func, Vec::new()) {
        Ok(results) => match results.as_slice() {
            [Value::Text(text)] => Ok((text.as_str().to_owned(), evaluator.flops())),
            other => Err(format!("{} results", other.len())),
        },
        Err(failure) => Err(messages(&[failure.diagnostic()])),
    }
}

/// Zeros have no sign, and records are tuples.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut word = String::new();
    let text = text.replace(['{', '}', '(', ')'], "|").replace(['\\', '"'], "");
    for part in text.split_inclusive([' ', ',', '|', '[', ']']) {
        let (token, end) = part.split_at(part.trim_end_matches([' ', ',', '|', '[', ']']).len());
        if token == "=" {
            word.clear();
            continue;
        }
        plain.push_str(&word);
        word = format!("{}{}", if token == "-0.0" { "0.0" } else { token }, end.replace('|', " ").trim_end());
        word.push(' ');
    }
    plain.push_str(&word);
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether two results are the same but for rounding.
fn close(a: &str, b: &str) -> bool {
    let (a, b): (Vec<&str>, Vec<&str>) = (a.split(' ').collect(), b.split(' ').collect());
    let number = |token: &str| token.trim_end_matches([',', ']']).parse::<f64>().ok();
    a.len() == b.len()
        && a.iter().zip(&b).all(|(x, y)| match (number(x), number(y)) {
            (Some(x), Some(y)) => {
                x == y || (x.is_nan() && y.is_nan()) || (x - y).abs() <= 1e-12 * x.abs().max(1.0)
            }
            (_, _) => x == y,
        })
}

/// What differs, if anything does.
fn compared(
    exact: bool,
    what: &str,
    expected: Result<String, String>,
    program: Result<simple::Program, String>,
) -> Option<String> {
    let found = program.and_then(|program| {
        let made = std::panic::catch_unwind(|| engine(&program));
        made.unwrap_or_else(|panic| Err(format!("panic: {:?}", panic.downcast_ref::<String>())))
    });
    let found = found.map(|(text, _)| text);
    let clean = |result: Result<String, String>| match result {
        Ok(text) => plain(&text),
        Err(error) => format!("fails: {}", error.lines().next().unwrap_or_default()),
    };
    let (expected, found) = (clean(expected), clean(found));
    let short = |text: &str| text.chars().take(600).collect::<String>();
    let same = if exact { expected == found } else { close(&expected, &found) };
    (!same)
        .then(|| format!("{what}\n  interpreter: {}\n  engine:      {}\n", short(&expected), short(&found)))
}

fn expression(exact: bool, text: &str, file: Option<&Path>) -> Option<String> {
    let text = format!("show ({text})");
    let evaluated = Session::new().eval(&text, file, &Options::default());
    let expected = evaluated.map(|evaluated| show(&evaluated.value)).map_err(|errors| messages(&errors));
    let program = Session::new().simple(&text, file).map(|(program, _)| program);
    compared(exact, &text, expected, program.map_err(|errors| messages(&errors)))
}

#[test]
fn every_example_gives_the_same() {
    let examples = project::files("examples", "wg");
    let failed: Vec<String> =
        parallel::map(&examples, |file| expression(true, "main", Some(file))).into_iter().flatten().collect();
    println!("{} of {} examples agree", examples.len() - failed.len(), examples.len());
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Programs by hand, one for each thing that derivatives must get right.
const PROGRAMS: &[&str] = &[
    // A branch that gives arrays of different shapes.
    "grad (\\(xs : []Real) -> let zs = map (\\x -> x * 2.0) (concat xs xs) in let ys = if sum xs > 100.0 then xs else zs in ys[3] * ys[3]) [1.0, 2.0]",
    "grad (\\(xs : []Real) -> let ys = if sum xs > 100.0 then xs else concat xs xs in fold (\\s i -> s * ys[i] + s) 1.0 [0, 3]) [1.0, 2.0]",
    "grad (\\(x, y) -> (x + 1) * (2 * x + y ^ 2)) (1.0, 3.0)",
    "grad (\\x -> x * grad (\\y -> x) 2.0) 1.0",
    "derivative (\\x -> x * derivative (\\y -> x * y) 2.0) 3.0",
    "grad (\\x -> if x > 0 then log x else 0) 0.5",
    "grad (\\x -> max x (x * x)) 2.0",
    "grad (\\xs -> product xs) [1.5, 0.7, 2.0]",
    "grad (\\xs -> sum (map (\\x -> sin x * x) xs)) [1.0, 2.0, 3.0]",
    "grad (\\xs -> maximum (scan (\\a b -> max a b * 0.5) 0.0 xs)) [1.0, 5.0, 2.0]",
    "grad (\\xs -> sum (scan (\\a b -> a * b + 1.0) 1.0 xs)) [1.1, 0.3, 2.7, 0.9]",
    "grad (\\(m, v) -> sum (matvec m v)) ([[0.1, 0.3], [0.7, 1.9]], [1.1, 0.6])",
    "grad (\\xs -> dot xs (reverse xs)) [0.1, 0.7, 1.3]",
    "grad (\\xs -> (sort xs)[1] * (sort xs)[0]) [3.0, 1.0, 2.0]",
    "grad (\\xs -> sum (slice xs 1 3) * xs[0]) [3.0, 1.0, 2.0]",
    "grad (\\xs -> sum (concat xs (map (\\x -> x * x) xs))) [3.0, 1.0, 2.0]",
    "grad (\\xs -> dot (gather xs [0, 0, 2]) [1.0, 2.0, 3.0]) [3.0, 1.0, 2.0]",
    "grad (\\(xs, ys) -> sum (map (\\x -> x * x) (scatter_add xs [0, 1, 0] ys))) ([3.0, 1.0], [0.1, 0.2, 0.3])",
    "grad (\\xs -> sum (filter (\\x -> x > 1.5) (map (\\x -> x * x) xs))) [3.0, 1.0, 2.0]",
    "grad (\\xs -> sum (set xs 1 (xs[0] * xs[2]))) [3.0, 1.0, 2.0]",
    "grad (\\x -> sum (replicate 3 (x * x))) 1.5",
    "grad (\\xs -> fold (\\a x -> a * x + xs[0]) 1.0 xs) [1.1, 0.3, 0.7]",
    "grad (iterate 10 (\\x -> 3.7 * x * (1 - x))) 0.3",
    "grad (while_loop (\\x -> x < 100.0) (\\x -> x * x)) 1.5",
    "grad (while_loop (\\x -> x < 100.0) (\\x -> x + x)) 1.5",
    "grad (checkpoint (iterate 10 (\\x -> 3.7 * x * (1 - x)))) 0.3",
    "derivative (checkpoint (iterate 10 (\\x -> 3.7 * x * (1 - x)))) 0.3",
    "let rec f n x = if n == 0 then x else x * sin (f (n - 1) x) in grad (f 5) 1.1",
    "let rec f n x = if n == 0 then x else x * sin (f (n - 1) x) in derivative (grad (f 5)) 1.1",
    "hessian (\\xs -> xs[0] ^ 3 * sin xs[1] / (1 + xs[0] * xs[1])) [1.3, 0.4]",
    "jacrev (\\xs -> map (\\x -> x * sum xs) xs) [1.0, 2.0, 3.0]",
    "jacfwd (\\xs -> map (\\x -> x * sum xs) xs) [1.0, 2.0, 3.0]",
    "grad (\\x -> x ** 2.5 + 2.0 ** x + atan2 x 0.3 + hypot x 2.0 + abs x + erf x + lgamma x) 1.7",
    "grad (\\x -> stop_gradient x * x) 3.0",
    "derivative (\\x -> stop_gradient (x * x) * x) 3.0",
    "jvp (\\g -> g (g 1.0)) (sin, cos)",
    "snd (jvp (\\(g, x) -> g (g x)) ((sin, 1.0), (cos, 0.5)))",
    "(snd (jvp (\\x -> \\y -> x * x * y) (3.0, 1.0))) 2.0",
    "derivative (\\x -> (derivative (\\y -> \\z -> x * y * z) 2.0) 5.0) 3.0",
    "let f = derivative (\\x -> \\g -> \\y -> g (x + y)) 3.0 in f (f exp) 1.0",
    "grad (\\x -> iterate 5 (\\f -> \\y -> f (y * x)) (\\y -> y) x) 1.1",
    "grad (\\x -> fold (\\acc f -> acc * f x) 1.0 [sin, cos, exp]) 0.5",
    "grad (custom_jvp (\\x -> x * x) (\\(x, t) -> (x * x, 3.0 * x * t))) 2.0",
    "derivative (custom_jvp (\\x -> x * x) (\\(x, t) -> (x * x, 3.0 * x * t))) 2.0",
    "grad (custom_vjp (\\x -> x * x) (\\x -> (x * x, \\w -> 5.0 * x * w))) 2.0",
    "derivative (custom_vjp (\\x -> x * x) (\\x -> (x * x, \\w -> 5.0 * x * w))) 2.0",
    "grad (\\a -> custom_jvp (\\x -> a * x) (\\(x, t) -> (a * x, 3.0 * t)) (a * 2.0)) 2.0",
    "derivative (grad (custom_vjp (\\x -> x * x) (\\x -> (x * x, \\w -> 5.0 * x * w)))) 2.0",
    "apply_dual (pullback (\\(x, y) -> x * y) to_dual (2.0, 3.0)) (1.0, 1.0)",
    "let (y, back) = vjp (\\xs -> map (\\x -> x * xs[0]) xs) [2.0, 3.0] in (y, back [1.0, 0.5])",
    "let (y, f) = linearize (\\(x, n) -> (x * real n, n)) (2.0, 3) in (y, f (0.5, 3))",
    "let (y, back) = vjp (\\xs -> map (\\x -> x * xs[0]) xs) [2.0, 3.0] in back [1.0]",
    "grad (\\xs -> sum (map (\\x -> sum (map (\\y -> x * y) xs)) xs)) [1.1, 0.3, 0.7]",
    "grad (\\xss -> sum (map sum xss)) [[1.1, 0.3], [0.7, 0.2]]",
    "grad (\\xs -> fold (\\a i -> a + sum (slice xs 0 i) * xs[i]) 0.0 (iota (length xs))) [1.1, 0.3, 0.7]",
    "derivative (\\x -> reduce (\\a b -> a * b) 1.0 [x, x * x, 2.0]) 1.5",
    "grad (\\x -> polygamma 1 x + x ^ -2 + cbrt x + tanh x + softplus x + sigmoid x + relu x) 0.8",
];

/// Programs whose sums are made in another order than the interpreter's: an operand that is a result goes by another name,
/// the two factors of a product are the same array, derivatives nest in reverse mode.
const ROUNDED_PROGRAMS: &[&str] = &[
    "grad (\\(x, y) -> let z = max x y in z * z + x) (1.3, 0.7)",
    "grad (\\m -> sum (flatten (matmul m (transpose m)))) [[0.1, 0.3], [0.7, 1.9]]",
    "let rec f n x = if n == 0 then x else x * sin (f (n - 1) x) in grad (grad (f 4)) 1.1",
    "taylor 4 (\\x -> exp (2 * x)) 0.3",
    "let f = \\x -> let d = derivative (\\y -> \\g -> \\a -> g (a + y) * tanh y) (x - 0.3) in d (\\z -> z * x) 0.7 in grad (grad f) 0.4",
    "let f = \\x -> let d = derivative (\\y -> \\a -> a * sin y) (x * x) in d 0.7 in grad (grad f) 0.4",
];

#[test]
fn programs_whose_sums_are_in_another_order_differ_by_rounding_only() {
    let failed: Vec<String> =
        parallel::map(ROUNDED_PROGRAMS, |text| expression(false, text, None)).into_iter().flatten().collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn programs_by_hand_give_the_same() {
    let failed: Vec<String> =
        parallel::map(PROGRAMS, |text| expression(true, text, None)).into_iter().flatten().collect();
    println!("{} of {} programs agree", PROGRAMS.len() - failed.len(), PROGRAMS.len());
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Programs in which derivatives of functions that apply function values nest, and where running tells to what order a
/// derivative is needed.
const NESTED_PROGRAMS: &[&str] = &[
    "let rec nth n f = if n == 0 then f else nth (n - 1) (derivative f) in nth 4 (\\x -> x ^ 5) 0.5",
    "let rec nth n f = if n == 0 then f else nth (n - 1) (grad f) in nth 3 (\\x -> x ^ 5) 0.5",
    "let rec f n x = if n == 0 then sin x else x * grad (f (n - 1)) x in f 3 0.7",
    "let rec f n x = if n == 0 then sin x else x * (snd (vjp (f (n - 1)) x)) 1.0 in f 2 0.7",
    "let shift o g a = g (a + o) in let s g = (let (_, d) = jvp shift (3.0, 1.0) in d) g in s (s exp) 5.0",
    "let v u f1 f2 x = f1 f2 (x + u) in let (_, w) = jvp v (0.0, 1.0) in w (w (\\x -> x)) exp 1.0",
    "let f = \\x -> (\\g -> \\y -> g (x + y)) in let d = derivative f 1.0 in d (d (d (d exp))) 1.0",
    "jvp (\\g -> snd (jvp (\\h -> h (h 1.0)) (g, g))) (sin, cos)",
    "jvp (\\g -> derivative g 1.0 + g 2.0) (sin, cos)",
    "grad (grad (\\a -> (snd (jvp (\\x -> \\y -> \\z -> x * y * z * a) (2.0, 1.0))) 3.0 a)) 5.0",
    "derivative (\\a -> snd (jvp (\\f -> \\x -> f (f (a * x))) (sin, cos)) 0.3) 2.0",
    "grad (\\a -> snd (jvp (\\f -> \\x -> f (f (a * x))) (\\x -> sin (a * x), cos)) 0.3) 2.0",
    "grad (grad (\\x -> let d = derivative (\\y -> \\g -> \\a -> g (a + y) * tanh y) (x - 0.3) in d (\\z -> z * x) 0.7)) 0.4",
];

#[test]
fn nested_derivatives_give_the_same_in_little_code() {
    let failed = parallel::map(NESTED_PROGRAMS, |text| {
        let (program, _) = Session::new().simple(text, None).ok()?;
        let lowered = wengert_lower::lower(&program, &|_: SourceId| false).ok()?;
        let mut made = wengert_ad::differentiate(lowered.program);
        wengert_opt::optimize(&mut made, &wengert_opt::Options::default());
        let size: usize = made.funcs.iter().map(|(_, func)| func.body.size()).sum();
        let large = (size > 5_000).then(|| format!("{text}: {size} statements"));
        large.or_else(|| expression(false, text, None))
    });
    let failed: Vec<String> = failed.into_iter().flatten().collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn what_only_running_tells_is_left_to_the_interpreter() {
    let programs = [
        "taylor 30 (\\x -> snd (jvp (\\f -> f x) (sin, cos))) 0.3",
        "let rec nth n f = if n == 0 then f else nth (n - 1) (derivative f) in nth 9 (\\x -> x ^ 10) 0.5",
        "jvp (\\g -> grad g 1.0 * g 2.0) (sin, cos)",
        "grad (custom_jvp (\\x -> x * x) (\\(x, t) -> (x * x, t * t))) 2.0",
        "derivative (custom_vjp (\\x -> x * x) (\\x -> (x * x, \\w -> 1.0))) 2.0",
        "grad (custom_jvp (\\x -> x * x) (\\(x, t) -> (x * x, if t > 0 then t else 2.0 * t))) 2.0",
    ];
    for text in programs {
        let [expected, found] = [Engine::Interp, Engine::Native].map(|engine| {
            let options = Options { engine, ..Options::default() };
            let evaluated = Session::new().eval(text, None, &options);
            evaluated.map(|evaluated| show(&evaluated.value)).map_err(|errors| messages(&errors))
        });
        assert_eq!(expected, found, "{text}");
    }
}

/// What an expression gives in the scope of the definitions, and its operations.
fn with_definitions(text: &str) -> (String, u64) {
    let number: u64 = text.bytes().fold(7, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte)));
    let path = std::env::temp_dir().join(format!("engine-definitions-{number}.wg"));
    std::fs::write(&path, DEFINITIONS).expect("there is a folder for it");
    let program = Session::new().simple(&format!("show ({text})"), Some(&path));
    let _ = std::fs::remove_file(&path);
    let (program, _) = program.unwrap_or_else(|errors| panic!("{text}: {}", messages(&errors)));
    engine(&program).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn the_cost_promise_holds_in_the_ir() {
    promise::check(|text| with_definitions(text).1);
}

#[test]
fn recursion_a_million_deep_is_differentiated() {
    let cases = [
        ("grad (descend 1000000) 2.0", "1.0"),
        ("derivative (descend 1000000) 2.0", "1.0"),
        ("grad (\\x -> foldr (\\a b -> a + b) 0.0 (replicate_list 1000000 x)) 1.0", "1000000.0"),
        ("sum_list (grad sum_list (replicate_list 1000000 2.0))", "1000000.0"),
    ];
    for (text, expected) in cases {
        assert_eq!(with_definitions(text).0, expected, "{text}");
    }
}
