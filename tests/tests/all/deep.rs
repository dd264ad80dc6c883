//! Deep recursion, long lists, long loops, and limits: that they work, what they cost in memory and in operations, and
//! how they end.

use std::path::Path;
use std::time::{Duration, Instant};
use wengert_driver::scope::Scope;
use wengert_driver::{Engine, Evaluated, Options, Session, show};
use wengert_tests::promise::{self, DEFINITIONS};

fn run(text: &str, options: &Options) -> Result<Evaluated, String> {
    let mut session = Session::new();
    let report = session.check_text("definitions.wg", DEFINITIONS, Path::new("."));
    assert!(!report.has_errors(), "{:?}", report.diagnostics);
    let scope = Scope::of_file(&report.modules);
    let evaluated = session.eval_in(&scope, "test.wg", text, options);
    evaluated.map_err(|errors| errors.iter().map(|d| format!("{}: {}\n", d.code, d.message)).collect())
}

/// The value within so many bytes, which machine code gives too.
#[track_caller]
fn within(bytes: u64, text: &str) -> String {
    let by = |engine| {
        let options = Options { engine, strict: true, max_memory: Some(bytes), ..Options::default() };
        match run(text, &options) {
            Ok(evaluated) => show(&evaluated.value),
            Err(error) => panic!("{text}: {error}"),
        }
    };
    let expected = by(Engine::Interp);
    assert_eq!(by(Engine::Native), expected, "{text}");
    expected
}

const MB: u64 = 1_000_000;

#[test]
fn recursion_a_million_deep_takes_at_most_200_bytes_a_frame() {
    assert_eq!(within(200 * MB, "descend 1000000 2.0"), "2.0");
}

#[test]
fn class_19_reverse_mode_of_recursion_a_million_deep() {
    assert_eq!(within(400 * MB, "grad (descend 1000000) 2.0"), "1.0");
    assert_eq!(within(400 * MB, "derivative (descend 1000000) 2.0"), "1.0");
    assert_eq!(
        within(900 * MB, "grad (\\x -> foldr (\\a b -> a + b) 0.0 (replicate_list 1000000 x)) 1.0"),
        "1000000.0"
    );
}

#[test]
fn lists_of_a_million_are_inputs_and_results_and_are_freed() {
    let text = "let xs = replicate_list 1000000 2.0 in
        match grad sum_list xs with | Nil -> 0.0 | Cons x rest -> x + sum_list rest";
    assert_eq!(within(1500 * MB, text), "1000000.0");
    assert_eq!(within(600 * MB, "replicate_list 1000000 1.0 == replicate_list 1000000 1.0"), "true");
    // Ten lists one after the other need no more room than one.
    let text = "fold (\\acc i -> acc + sum_list (replicate_list 1000000 1.0)) 0.0 (iota 10)";
    assert_eq!(within(400 * MB, text), "10000000.0");
}

#[test]
fn printing_a_list_of_a_million_is_no_recursion() {
    let text = within(2000 * MB, "string_length (show (replicate_list 300000 1.5))");
    assert_eq!(text, (300_000 * "Cons 1.5 ()".len() - "()".len() + "Nil".len()).to_string());
}

#[test]
fn closures_a_million_deep() {
    assert_eq!(within(600 * MB, "iterate 1000000 (\\f -> \\x -> f (x + 1)) (\\x -> x) 0"), "1000000");
    assert_eq!(within(600 * MB, "let f = iterate 1000000 (\\f -> \\x -> x) (\\x -> x) in f 3"), "3");
}

#[test]
fn class_20_a_long_loop_under_a_checkpoint_needs_little_memory() {
    let loop_of = |n: u64| format!("iterate {n} logistic");
    let plain = within(2000 * MB, &format!("grad ({}) 0.3", loop_of(20_000)));
    assert_eq!(within(20 * MB, &format!("grad (checkpoint ({})) 0.3", loop_of(20_000))), plain);
    // A tape of all steps does not fit; with the checkpoint it is easy.
    let euler = "\\x -> x - 0.000001 * x * x";
    let options = Options { max_memory: Some(30 * MB), ..Options::default() };
    let error = run(&format!("grad (iterate 1000000 ({euler})) 0.3"), &options).err().unwrap_or_default();
    assert!(error.starts_with("E0716"), "{error}");
    let text = format!("grad (checkpoint (iterate 1000000 ({euler}))) 0.3");
    let gradient: f64 = within(30 * MB, &text).parse().expect("a number");
    // The step is Euler's for x' = -x², whose value after time 1 is x / (1 + x), with derivative 1 / (1 + x)².
    assert!((gradient - 1.3f64.powi(-2)).abs() < 1e-5, "{gradient}");
    let text = "grad (checkpoint (while_loop (\\x -> x < 1000000.0) (\\x -> x + 1.0))) 0.5";
    assert_eq!(within(30 * MB, text), "1.0");
    let text = "grad (\\k -> checkpoint (\\z -> fold (\\a i -> a + k * real i) z (iota 1000000)) 0.0) 2.0";
    assert_eq!(within(60 * MB, text), "499999500000.0");
}

#[test]
fn updates_in_a_loop_are_in_place() {
    // Copying the array each time would be 10^10 steps.
    let start = Instant::now();
    let text = "sum (fold (\\xs i -> set xs i (real i)) (replicate 100000 0.0) (iota 100000))";
    assert_eq!(within(100 * MB, text), "4999950000.0");
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn texts_grow_in_place() {
    // Copying what is there each time would be 10^12 bytes.
    let text = "string_length (fold (\\s i -> s ++ show (i > 500)) \"\" (iota 1000000))";
    assert_eq!(within(100 * MB, text), (501 * 5 + 999_499 * 4).to_string());
    // What somebody else still needs is copied.
    let text = "let s = show 12345 ++ \"-\" in let (a, b) = (s ++ \"a\", s ++ \"bc\") in (a, b, s, a ++ a, b ++ s ++ b)";
    within(MB, text);
    let text = "let rec all n s = if n == 0 then [s, s, s] else let abc = all (n - 1) (s ++ \"x\") in [s, abc[0] ++ s, abc[1] ++ abc[2]] in all 9 \"y\"";
    within(MB, text);
    let rose = |n: usize| format!("string_length (show (iterate {n} (\\r -> Rose [r]) (Rose [])))");
    assert_eq!(within(1000 * MB, &rose(100_000)), (("Rose []".len()) * 100_001).to_string());
}

fn flops(text: &str) -> u64 {
    match run(text, &Options::default()) {
        Ok(evaluated) => evaluated.flops,
        Err(error) => panic!("{text}: {error}"),
    }
}

#[test]
fn the_cost_promise_in_its_worst_cases() {
    promise::check(flops);
}

/// The diagnostic's code and message.
fn fails(text: &str, options: &Options) -> String {
    run(text, options).err().unwrap_or_else(|| panic!("{text} has a value"))
}

#[test]
fn limits_end_with_a_clear_error() {
    let endless = "while_loop (\\x -> true) (\\x -> x + 1) 0";
    let steps = Options { max_steps: Some(10_000), ..Options::default() };
    assert!(
        fails(endless, &steps).starts_with("E0715: stopped after 10000 steps"),
        "{}",
        fails(endless, &steps)
    );
    let time = Options { timeout: Some(Duration::from_millis(100)), ..Options::default() };
    assert!(fails(endless, &time).starts_with("E0717"), "{}", fails(endless, &time));
    let memory = Options { max_memory: Some(10 * MB), ..Options::default() };
    for text in [
        "let rec f n = 1 + f (n + 1) in f 0",
        "while_loop (\\xs -> true) (\\xs -> Cons 1.0 xs) Nil",
        "iterate 60 (\\s -> s ++ s) \"ab\"",
        "iterate 60 (\\xs -> concat xs xs) [1.0]",
        "replicate 1000000000 1.0",
        "iota 1000000000",
        "build 1000000000 (\\i -> i)",
        "show (iterate 40 (\\t -> (t, t) |> fst |> Cons 1.0) Nil) |> \\s -> iterate 30 (\\s -> s ++ s) s",
        "let x = replicate 2000 1.0 in let m = replicate 2000 x in matmul m m",
        "grad (\\x -> iterate 1000000 sin x) 1.0",
        "taylor 16000000 sin 1.0",
    ] {
        let error = fails(text, &memory);
        assert!(error.starts_with("E0716") || error.starts_with("E0710"), "{text}: {error}");
    }
    // Without a limit of the user's own, absurd sizes are errors too.
    for text in ["build 1000000000000 (\\i -> i)", "replicate 9000000000000000000 1", "iota 4000000000000"] {
        let error = fails(text, &Options::default());
        assert!(error.starts_with("E0716") || error.starts_with("E0710"), "{text}: {error}");
    }
}

#[test]
fn an_interrupt_stops_a_program() {
    let options = Options::default();
    let flag = options.interrupt.clone();
    let stopper = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        flag.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    let error = fails("while_loop (\\x -> true) (\\x -> x + 1) 0", &options);
    assert!(error.starts_with("E0718"), "{error}");
    stopper.join().expect("it only sleeps");
}
