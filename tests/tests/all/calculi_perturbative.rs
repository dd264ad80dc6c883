//! The perturbative calculus on programs of the language: what it takes has the interpreter's value, also by symbolic
//! differentiation and with `T` reduced first; what it does not take it refuses with a message that says why.

use wengert_calculi::kit::ground::Ground;
use wengert_calculi::kit::system::System;
use wengert_calculi::kit::trace::{Limits, Stopped, Trace};
use wengert_calculi::perturbative::Perturbative;
use wengert_driver::{Options, Session, show};
use wengert_tests::parallel;

const LIMITS: Limits = Limits { steps: 200_000, size: 200_000, recorded: 0 };

/// Programs that are taken, with all that is known before they run written out.
const TAKEN: &[&str] = &[
    r"grad (\x -> x * x + sin x) 2.0",
    r"value_and_grad (\(x, y) -> x * y + y) (2.0, 3.0)",
    r"grad (\((a, b), c) -> a * b + c / b) ((1.0, 2.0), 3.0)",
    r"jvp (\(x, y) -> (x * y, x)) ((2.0, 3.0), (1.0, 10.0))",
    r"let (y, back) = vjp (\(x, y) -> (x * y, x - y)) (2.0, 3.0) in (y, back (1.0, 10.0))",
    r"let (y, slope) = linearize (\(x, y) -> x * y) (2.0, 3.0) in (y, slope (1.0, 10.0))",
    r"from_dual (pullback (\(x, y) -> (x * y, x + y)) (\_ -> to_dual (1.0, 10.0)) (2.0, 3.0))",
    r"from_dual (pullback (\x -> x * x) to_dual 3.0)",
    r"apply_dual (to_dual (2.0, 3.0)) (5.0, 7.0)",
    r"inner (scale 3.0 (1.0, 2.0)) (add (1.0, 2.0) (zero (5.0, 5.0)))",
    // Nested derivatives.
    r"derivative (\x -> x * derivative (\y -> x) 2.0) 1.0",
    r"derivative (\x -> x * derivative (\y -> x + y) 1.0) 1.0",
    r"grad (\x -> grad (\y -> x * x * y * y) 3.0) 5.0",
    r"derivative (derivative (derivative (\x -> x ^ 4))) 2.0",
    r"let d = \(f : Real -> Real) -> \(x : Real) -> derivative f x in d (d (\(x : Real) -> x * x * x)) 2.0",
    r"let d = derivative (\(x : Real) -> \(g : Real -> Real) -> \(a : Real) -> g (a + x)) 0.0 in d (d exp) 0.0",
    r"hessian (\xs -> xs[0] * xs[0] * xs[1]) [1.0, 2.0]",
    r"hvp (\xs -> xs[0] * xs[0] * xs[1]) [1.0, 2.0] [1.0, 3.0]",
    // Conditionals.
    r"derivative (\x -> if x > 1.0 && not (x >= 3.0) then x * x else x) 2.0",
    r"grad (\(x, y) -> if x < y || x == 7.0 then x * y else x - y) (1.0, 2.0)",
    r"grad (\x -> if x != 2.0 then x * x else 3.0 * x) 2.0",
    r"grad (\x -> if x <= 2.0 then x * x else 3.0 * x) 2.0",
    r"grad (\x -> if 2 > 1 then x else x * x) 3.0",
    r"let f (x : Real) = x > 1.0 in let p = f 2.0 in let q = f 0.0 in if p && not q then 1.0 else 0.0",
    r"grad (\x -> (if x > 0.0 then [x, x * x] else [1.0, 2.0])[1]) 2.0",
    r"grad (\x -> (if x > 0.0 then sin else cos) x) 0.5",
    r"let bs = [1.0 > 2.0, 2.0 > 1.0] in if bs[1] then 1.0 else 0.0",
    // Integers that are known.
    r"let n = 3 in grad (\x -> x ^ n + real (n * 2 - 1) * x) 2.0",
    r"grad (\x -> let d = \n -> \m -> n - m in let a = d 5 in let b = d 1 in x ^ (a 1) + x ^ (b 1)) 2.0",
    r"polygamma 1 2.5",
    r"grad (\x -> x ^ (7 / 2) + x ^ (7 % 4) + x ^ (-(-2)) + x ^ min 2 3 + x ^ abs (-1)) 2.0",
    r"grad (\x -> iterate 3 (\y -> y * x) x) 2.0",
    // Lists.
    r"grad (\xs -> sum (map square xs)) [1.0, 2.0, 3.0]",
    r"(\(f : [2]Real -> Real) -> grad f) sum [1.0, 2.0]",
    r"grad (\(xs, y) -> y * dot xs xs) ([1.0, 2.0], 3.0)",
    r"grad (\m -> sum (map product m)) [[1.0, 2.0], [3.0, 4.0]]",
    r"value_and_grad (\xs -> fold (\h x -> tanh (h * 0.5 - x)) 0.0 xs) [0.1, 0.2]",
    r"grad (\x -> fold (\h a -> h * h - a) 0.0 [x, 2.0 * x, x * x]) 1.0",
    r"grad (\x -> let (n, s) = fold (\(i, acc) y -> (i + 1, acc + x ^ i * y)) (0, 0.0) [1.0, 2.0, 3.0] in s) 2.0",
    r"grad (\x -> (fold (\k a -> \y -> k (a * y)) (\y -> y * x) [2.0, 3.0]) x) 1.5",
    r"jvp (\xs -> map sin xs) ([0.0, 1.0], [1.0, 2.0])",
    r"derivative (\x -> [x, x * x, 7.0]) 3.0",
    r"jacfwd (\xs -> [xs[0] * xs[1], xs[0]]) [2.0, 3.0]",
    r"grad_fwd (\(x, y) -> x * x * y) (2.0, 3.0)",
    r"grad (\x -> sum (build 4 (\i -> x ^ i))) 2.0",
    r"grad (\x -> (build 4 (\i -> x ^ i))[3]) 2.0",
    r"let f = \(xs : [2]Real) -> xs[0] * xs[1] in grad f [2.0, 3.0]",
    r"grad (\xs -> let n = length xs in sum xs / real n) [1.0, 2.0]",
    r"grad (\xs -> sum (map2 (\a b -> a * b) xs (reverse xs))) [1.0, 2.0, 4.0]",
    r"grad (\xs -> sum (map (\(a, b) -> a * b) (zip xs [3.0, 5.0]))) [1.0, 2.0]",
    r"grad (\xs -> (scan (\a b -> a * b) 1.0 xs)[1]) [2.0, 3.0, 5.0]",
    r"map (\row -> dot row [1.0, 10.0]) (transpose [[1.0, 2.0], [3.0, 4.0]])",
    r"slice (concat [1.0, 2.0] [3.0, 4.0]) 1 3",
    r"fold (\acc x -> acc + x) 0.0 (map real (iota 4))",
    r"set (replicate 3 1.0) 1 5.0",
    r"let f = \xs -> sum xs in f [1.0] + f [1.0, 2.0]",
    r"grad (\x -> let xs = [x, x * x] in let g = \(ys : [2]Real) -> dot xs ys in sum (grad g xs)) 2.0",
    r"unravel (1.0, [2.0, 3.0]) (ravel ([5.0, 6.0], 7.0))",
];

/// Expressions by which symbolic differentiation is compared.
const FORMULAS: &[&str] = &[
    r"grad (\x -> sin x * cos x * exp x) 0.5",
    r"grad (\(x, y) -> x / y - sqrt (x * y)) (2.0, 3.0)",
    r"derivative (\x -> (let y = x * x in y * y) + 3.0 * x) 2.0",
    r"grad (\xs -> fold (\h x -> tanh (h + x * x)) 0.0 xs) [0.1, 0.2, 0.3]",
    r"grad (\x -> max x 2.0 * (if x < 3.0 then x * x else x)) 2.5",
    r"grad (\(x, y) -> (\f -> f (f y)) (\z -> z * z)) (2.0, 3.0)",
];

fn traced(
    text: &str,
    run: &dyn Fn(&wengert_calculi::kit::simple::Program) -> Result<Trace, String>,
) -> Result<Trace, String> {
    let (program, _) = Session::new().simple(text, None).map_err(|errors| format!("{errors:?}"))?;
    run(&program)
}

fn message(errors: Vec<wengert_base::Diagnostic>) -> String {
    errors.iter().map(|error| format!("{} {}", error.code, error.message)).collect()
}

fn flat(value: &Ground, out: &mut Vec<f64>) {
    match value {
        Ground::Real(r) => out.push(*r),
        Ground::Tuple(items) | Ground::Array(items) => items.iter().for_each(|item| flat(item, out)),
        Ground::Int(_) | Ground::Bool(_) | Ground::String(_) | Ground::Ctor(..) | Ground::Term(_) => {
            out.push(f64::NAN);
        }
    }
}

fn compare(text: &str, trace: &Trace) -> Result<(), String> {
    let value = Session::new().eval(text, None, &Options::default()).map_err(message)?;
    let shown = show(&value.value);
    let pieces = shown.split(|c: char| "()[], ".contains(c)).filter(|piece| !piece.is_empty());
    let expected: Vec<f64> = pieces.map(|piece| piece.parse().unwrap_or(f64::NAN)).collect();
    let mut found = Vec::new();
    if let Some(result) = &trace.result {
        flat(result, &mut found);
    }
    let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-12 * (1.0 + b.abs());
    if found.len() != expected.len() || !found.iter().zip(&expected).all(close) {
        return Err(format!("{text}\n{:?} instead of {shown}", trace.result));
    }
    Ok(())
}

#[test]
fn programs_have_the_interpreters_values() {
    parallel::check_all("programs", TAKEN, |text| {
        compare(text, &traced(text, &|program| Perturbative.trace(program, &LIMITS).map_err(message))?)
    });
}

#[test]
fn variants_compute_the_same() {
    assert_eq!(Perturbative.variants().len(), 2);
    parallel::check_all("programs", FORMULAS, |text| {
        for variant in Perturbative.variants() {
            let trace = traced(text, &|program| (variant.trace)(program, &LIMITS).map_err(message))?;
            if trace.stopped == Some(Stopped::Size) && variant.name == "T first" {
                continue;
            }
            compare(text, &trace).map_err(|why| format!("{}: {why}", variant.name))?;
        }
        Ok(())
    });
}

/// Section 2: the derivative of a product of n functions costs O(n) through `T` and O(n²) through the product rule.
#[test]
fn a_product_is_linear_by_t_and_quadratic_by_the_product_rule() {
    let steps = |n: usize, variant: Option<usize>| {
        let factors: Vec<&str> = ["sin x", "cos x", "exp x"].into_iter().cycle().take(n).collect();
        let text = format!(r"grad (\x -> {}) 0.5", factors.join(" * "));
        let run = |program: &_| match variant.and_then(|at| Perturbative.variants().get(at)) {
            Some(variant) => (variant.trace)(program, &LIMITS).map_err(message),
            None => Perturbative.trace(program, &LIMITS).map_err(message),
        };
        traced(&text, &run).unwrap().counts.steps
    };
    let differences = |variant| {
        let [a, b, c] = [12, 24, 36].map(|n| steps(n, variant));
        [b - a, c - b]
    };
    let [first, second] = differences(None);
    assert_eq!(first, second);
    let [first, second] = differences(Some(0));
    assert!(3 * second > 4 * first, "{first} {second}");
}

/// A sum that doubles at every line, `x + x`, is a bag that holds one term twice.
#[test]
fn shared_bags_stay_shared() {
    let steps = |n: usize| {
        let lets: String = (1..=n).map(|i| format!("let x{i} = x{} + x{} in ", i - 1, i - 1)).collect();
        let text = format!(r"grad (\x0 -> {lets}x{n}) 1.0");
        traced(&text, &|program| Perturbative.trace(program, &LIMITS).map_err(message)).unwrap().counts.steps
    };
    assert_eq!(steps(200) - steps(100), steps(100) - steps(50) + (steps(100) - steps(50)));
}

#[test]
fn what_has_no_term_is_refused() {
    let texts = [
        "1 + 2",
        "true",
        "show 3.0",
        r"let rec f x = if x < 1.0 then x else f (x - 1.0) in grad f 3.5",
        r"grad (\x -> real (floor x) * x) 2.5",
        r"grad (\x -> x ^ truncate x) 2.5",
        r"(\n -> [1.0, 2.0][n]) (truncate 1.5)",
        r"jacrev (\xs -> [xs[0] * xs[1], xs[0]]) [2.0, 3.0]",
        r"let g = \(xs : [2]Real) -> \(c : Real) -> xs in derivative (\x -> g [x, x]) 1.0 2.0",
        r"if (1.0, 2.0) == (1.0, 2.0) then 1.0 else 2.0",
        r"taylor 3 sin 1.0",
        r"sort [2.0, 1.0]",
        r"build 20000 (\i -> 1.0)",
    ];
    let said = texts.map(|text| {
        let refused = traced(text, &|program| Perturbative.trace(program, &LIMITS).map_err(message));
        format!(
            "{text}\n  {}\n",
            refused.err().unwrap_or_else(|| "taken".into()).chars().take(140).collect::<String>()
        )
    });
    expect_test::expect![[r#"
        1 + 2
          E0926 an integer is outside of the perturbative calculus
        true
          E0926 a truth value outside of `if` is outside of the perturbative calculus
        show 3.0
          E0926 `show` here is outside of the perturbative calculus
        let rec f x = if x < 1.0 then x else f (x - 1.0) in grad f 3.5
          E0926 recursion is outside of the perturbative calculus
        grad (\x -> real (floor x) * x) 2.5
          E0926 `floor` here is outside of the perturbative calculus
        grad (\x -> x ^ truncate x) 2.5
          E0926 `truncate` here is outside of the perturbative calculus
        (\n -> [1.0, 2.0][n]) (truncate 1.5)
          E0926 `truncate` here is outside of the perturbative calculus
        jacrev (\xs -> [xs[0] * xs[1], xs[0]]) [2.0, 3.0]
          E0926 a cotangent of arrays is outside of the perturbative calculus
        let g = \(xs : [2]Real) -> \(c : Real) -> xs in derivative (\x -> g [x, x]) 1.0 2.0
          E0926 a derivative of arrays whose lengths are not known is outside of the perturbative calculus
        if (1.0, 2.0) == (1.0, 2.0) then 1.0 else 2.0
          E0926 `==` here is outside of the perturbative calculus
        taylor 3 sin 1.0
          E0926 `taylor` here is outside of the perturbative calculus
        sort [2.0, 1.0]
          E0926 `sort` here is outside of the perturbative calculus
        build 20000 (\i -> 1.0)
          E0926 an array of more than 10000 elements is outside of the perturbative calculus
    "#]]
    .assert_eq(&said.concat());
}
