//! Long Taylor series: of high orders, and of orders that only running tells, of functions with branches, recursion, loops, data, arrays and
//! derivatives in them, and under derivatives. Every engine gives what the interpreter gives, and machine code is made for all of them.

use wengert_tests::{everywhere, parallel};

const DEFINITIONS: &str = "\
type L = Nil | Cons Real L
def total l = match l with Nil -> 0.0 | Cons x r -> x + total r
def list n x y = if n == 0 then Nil else Cons (x + y * real n) (list (n - 1) (x * y) x)
def mapped f l = match l with Nil -> Nil | Cons x r -> Cons (f x) (mapped f r)
type T = Leaf Real | Node T [2]Real T
def tree n x = if n == 0 then Leaf x else Node (tree (n - 1) (x * 0.5)) [x, 2.0 * x] (tree (n - 1) (x + 1.0))
def value t = match t with Leaf x -> sin x | Node a v b -> value a * v[0] + value b / v[1]
def power n x = if n == 0 then 1.0 else x * power (n - 1) x
def fib n x = if n < 2 then x else fib (n - 1) (x * 0.9) + fib (n - 2) (sin x)
def exponential x = custom_jvp exp (\\(x, t) -> let y = exp x in (y, y * t)) x
def cube x = custom_vjp (\\x -> x ^ 3) (\\x -> (x ^ 3, \\c -> 3.0 * x * x * c)) x
def scaled a x = custom_jvp (\\y -> a * y * y) (\\(y, t) -> (a * y * y, 2.0 * a * y * t)) x
def slopes l ts = match (l, ts) with | (Cons x r, Cons t s) -> Cons (cos x * t) (slopes r s) | _ -> Nil
def waves l = custom_jvp (mapped sin) (\\(l, ts) -> (mapped sin l, slopes l ts)) l
def sines xs = custom_vjp (map sin) (\\xs -> (map sin xs, \\c -> build (length xs) (\\i -> c[i] * cos xs[i]))) xs
";

/// Functions of a real.
const FUNCTIONS: &[&str] = &[
    "\\x -> exp (sin x) / (1.0 + x * x)",
    "\\x -> if x > 0.2 then log x * x else 1.0 / x",
    "\\x -> 3.0",
    "\\x -> x",
    "power 50",
    "fib 7",
    "\\x -> iterate 8 (\\y -> sin (x * y) + y) x",
    "\\x -> snd (while_loop (\\(i, y) -> y < 10.0) (\\(i, y) -> (i + 1, y * (1.0 + x))) (0, 1.0))",
    "\\x -> total (mapped sin (list 5 (x * x) x))",
    "\\x -> value (tree 3 x)",
    "\\x -> let g = (\\y -> x * y) in g (g x) + sum (map (\\f -> f x) [sin, cos, \\y -> x * y])",
    "\\x -> let xs = build 5 (\\i -> x ^ i) in sum (scan (\\a y -> a * y + x) x xs) + xs[2]",
    "\\x -> let xs = set [x, 1.0, x * x] 1 (sin x) in sum (reverse (concat xs (slice xs 0 2))) * sum (gather xs [2, 0, 2]) + product xs",
    "\\x -> sum (sort [x, sin x, x * x * 3.0]) * maximum [x, 0.2] * sum (filter (\\y -> y > 0.35) [x, sin x])",
    "\\x -> sum (flatten (matmul (transpose [[x, 1.0], [2.0, x * x]]) [[sin x, x], [1.0, x]])) + dot (matvec [[x, 2.0]] [x, x]) [x]",
    "\\x -> reduce (\\a b -> a * b) 1.0 [x, sin x, 2.0] + stop_gradient x * checkpoint (\\y -> sin (x * y)) x",
    "\\x -> grad (\\y -> sin (x * y) * y) x + snd (jvp (\\y -> y * y * x) (x, x * x))",
    "\\x -> sum (grad (\\v -> sum (map (\\a -> sin a * x) v) * v[0]) [x, 2.0 * x, x * x])",
    "\\x -> total (grad (\\l -> total (mapped (\\y -> y * y * x) l)) (list 3 x x))",
    "\\x -> (hessian (\\(v : [2]Real) -> v[0] * v[1] * v[0] * x) [x, 2.0])[0][0]",
    "\\x -> let (a, b) = vjp (\\y -> [y * x, sin y]) x in b [x, 1.0]",
    "\\x -> sum (flatten (grad (\\a -> sum (map sin (flatten (transpose a))) * a[0][1]) [[x, 1.0], [x * x, sin x]]))",
    "\\x -> sum (grad (\\v -> sum (matvec [[x, 1.0], v] v)) [x, x * x])",
    "\\x -> let (a, b) = grad (\\(a, b) -> sum (flatten (matmul (matmul a b) (transpose a)))) ([[x, 1.0], [x * x, sin x]], [[1.0, x], [2.0, x]]) in sum (flatten (matmul a b))",
    "\\x -> sum (grad (\\v -> sum (map (\\m -> sum (matvec m v) * v[0]) [[[x, 2.0], [1.0, x]], [[sin x, x * x], [1.0, 2.0]]])) [x, 1.0])",
    "\\x -> (taylor 3 (\\y -> sin (x * y)) x)[3]",
    "\\x -> (taylor 26 (\\y -> 0.1 * sin (x * y)) x)[26]",
    "\\x -> exponential (sin x) * x + cube (x * x) + scaled 2.0 x",
    "\\x -> fold (\\a y -> exponential (a * y)) x [0.1, 0.2]",
    "\\x -> total (waves (list 3 x (x * x))) + sum (sines [x, 2.0, x * x])",
    "\\x -> grad (\\y -> exponential (x * y)) x + derivative (\\y -> cube (x * y)) x",
    "\\x -> gamma (x + 1.0) + lgamma (x + 1.0) * digamma (x + 1.0) + polygamma 3 (x + 1.0)",
    "\\x -> tanh x + sigmoid x * softplus x + erf x + x ^ 20 + x ^ (-3) + hypot x 0.3 + atan2 x 0.2",
];

/// The value of a program, of which machine code must be made.
fn compiled(text: &str) -> Result<String, String> {
    let (mut session, scope) = everywhere::session_with(DEFINITIONS);
    everywhere::compiled(&mut session, &scope, text, &[false])
}

#[test]
fn series_of_any_order_are_compiled() {
    parallel::check_all("functions", FUNCTIONS, |function| {
        for text in
            [format!("taylor 30 ({function}) 0.4"), format!("(\\(n : Int) -> taylor n ({function}) 0.4) 40")]
        {
            compiled(&text)?;
        }
        Ok(())
    });
}

/// The derivative of one coefficient is the next one, in every mode.
/// At a base of 0, where `x ** y` underflows, and where the exponent is 0, its slope is a power again, of which the same is asked.
const POWERS: &[&str] = &[
    "map (\\p -> taylor 30 (\\x -> x ** p) 0.0) [0.0, 1.0, 2.0, 2.5, 3.0, 29.0, 40.0, -1.0, -0.0]",
    "map (\\p -> taylor 30 (\\x -> (x * x) ** p) 0.0) [0.0, 1.0, 2.0, 2.5, 3.0, -1.0]",
    "map (\\p -> taylor 30 (\\x -> x ** (p * x)) 0.0) [0.0, 1.0, 2.5, -1.0]",
    "map (\\p -> taylor 30 (\\x -> x ** (p + x)) 0.0) [0.0, 1.0, 2.0, 2.5, -1.0]",
    "map (\\p -> taylor 26 (\\x -> (1.0e-200 * (1.0 + x)) ** (p + x)) 0.0) [2.0, 3.0]",
    "map (\\p -> sum (taylor 200 (\\x -> x ** p) 0.0)) [0.0, 1.0, 2.0, 3.0]",
    "map (\\n -> sum (taylor n (\\x -> x ** (real n - 3.0)) 0.0)) (iota 30)",
    "map (\\n -> sum (taylor (n + 20) (\\x -> (0.0 - x) ** (real n - 3.0)) 0.0)) (iota 10)",
    "map (\\p -> derivative (\\q -> sum (taylor 30 (\\x -> (x + q) ** p) 0.0)) 0.0) [0.0, 1.0, 2.0, 3.0]",
    "map (\\p -> grad (\\q -> sum (taylor 30 (\\x -> (x * x + q) ** (p + x)) 0.0)) 0.0) [1.0, 31.0, 32.0, 33.5]",
];

#[test]
fn long_series_of_powers_of_zero_are_compiled() {
    parallel::check_all("powers of zero", POWERS, |text| compiled(text).map(|_| ()));
}

#[test]
fn derivatives_of_long_series_are_the_next_coefficients() {
    let functions = [
        "\\x -> exp (sin x) / (1.0 + x * x)",
        "\\x -> total (mapped sin (list 4 (x * x) x))",
        "fib 5",
        "power 45",
    ];
    let number = |text: &str| -> Result<f64, String> {
        let value = compiled(text)?;
        value.parse().map_err(|_| format!("{text}\ngives {value}"))
    };
    parallel::check_all("functions", &functions, |function| {
        let expected = number(&format!("(taylor 40 ({function}) 0.4)[40]"))?;
        for derivative in [
            format!("grad (\\x -> (taylor 39 ({function}) x)[39]) 0.4"),
            format!("derivative (\\x -> (taylor 39 ({function}) x)[39]) 0.4"),
            format!("grad (grad (\\x -> (taylor 38 ({function}) x)[38])) 0.4"),
            format!("(\\(n : Int) -> derivative (grad (\\x -> (taylor n ({function}) x)[n])) 0.4) 38"),
            format!(
                "(\\(n : Int) -> (taylor n (\\x -> (taylor (n + 1) ({function}) x)[n + 1]) 0.4)[n - 1]) 20"
            ),
        ] {
            let found = number(&derivative)?;
            if (found - expected).abs() > 1e-7 * (1.0 + expected.abs()) {
                return Err(format!("{derivative}\ngives {found}, not {expected}"));
            }
        }
        Ok(())
    });
}

/// Coefficients along z of a function of x z whose rule has captured z: the derivative by x counts what the rule says of both.
#[test]
fn derivatives_of_series_know_what_rules_have_captured() {
    let rules = [
        "custom_jvp (\\y -> y * y) (\\(y, t) -> (y * y, 2.0 * y * t * z))",
        "custom_vjp (\\y -> y * y) (\\y -> (y * y, \\c -> 2.0 * y * c * z))",
    ];
    let programs: Vec<(String, f64)> = rules
        .iter()
        .flat_map(|rule| ["grad", "derivative"].map(|outer| (rule, outer)))
        .flat_map(|(rule, outer)| {
            // Order 1: 2 x z³ by x, and 2 x z² dx besides, for the point moves where z does. Order 2: 4 x² z.
            [(1, 1, 0.45), (3, 1, 0.45), (3, 2, 1.2), (30, 1, 0.45), (30, 2, 1.2), (30, 4, 0.0)].map(
                |(order, k, expected)| {
                    let series = format!("(taylor {order} (\\z -> {rule} (z * x)) 0.5)[{k}]");
                    (format!("{outer} (\\x -> {series}) 0.3"), expected)
                },
            )
        })
        .collect();
    parallel::check_all("programs", &programs, |(text, expected)| {
        let (mut session, scope) = everywhere::session_with(DEFINITIONS);
        everywhere::same(DEFINITIONS, text)?;
        let value = everywhere::compiled(&mut session, &scope, text, &[false, true])?;
        let found: f64 = value.parse().map_err(|_| format!("{text}\ngives {value}"))?;
        if (found - expected).abs() < 1e-12 {
            Ok(())
        } else {
            Err(format!("{text}\ngives {found}, not {expected}"))
        }
    });
}

/// What a rule gives must be linear in each coefficient, not only at the point.
#[test]
fn rules_in_series_are_linear_in_each_coefficient() {
    let of = |more: &str| {
        let rule =
            format!("custom_jvp (\\y -> y * y) (\\(y, t) -> (y * y, 2.0 * y * t + {more} * (z - 0.5)))");
        format!("grad (\\x -> (taylor 2 (\\z -> {rule} (z * x)) 0.5)[1]) 0.3")
    };
    for (more, fails) in [("1.0", true), ("0.0", false)] {
        let text = of(more);
        everywhere::same(DEFINITIONS, &text).unwrap();
        everywhere::tagged(DEFINITIONS, &text).unwrap();
        let (mut session, scope) = everywhere::session_with(DEFINITIONS);
        assert_eq!(everywhere::eval(&mut session, &scope, &text).contains("is not linear"), fails, "{text}");
    }
}

/// Orders that are too large or negative are the interpreter's to refuse, in its words.
#[test]
fn orders_that_there_are_not() {
    let (mut session, scope) = everywhere::session_with(DEFINITIONS);
    for order in ["-30", "-1", "10000000000000"] {
        let text = format!("(\\(n : Int) -> taylor n (\\x -> x * x) 1.0) ({order})");
        let message = everywhere::eval(&mut session, &scope, &text);
        assert!(message.starts_with("E0719") || message.starts_with("E0716"), "{text}\ngives {message}");
    }
    let all = "(\\(n : Int) -> map (\\k -> sum (taylor k sin 0.3)) (build n (\\k -> k * k))) 8";
    assert!(!compiled(all).expect("numbers").starts_with('E'));
}
