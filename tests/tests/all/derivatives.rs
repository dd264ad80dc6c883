//! The classes of bugs that systems for automatic differentiation had, each as a test: a program and its value, in all
//! combinations of forward and reverse mode where derivatives are nested.
//!
//! In the programs `D`, `D1`, `D2`, `D3` stand for `derivative` or for `grad`; a test runs all choices.

use std::path::Path;
use wengert_driver::scope::Scope;
use wengert_driver::{Options, Session};
use wengert_tests::everywhere;

/// Shared by all programs here.
const DEFINITIONS: &str = "\
type List a = Nil | Cons a (List a)
type Tree = Leaf Real | Node Tree Tree

def sum_list xs = match xs with | Nil -> 0.0 | Cons x rest -> x + sum_list rest

def replicate_list n x = iterate n (Cons x) Nil

def sum_tree t = match t with | Leaf x -> x | Node l r -> sum_tree l + sum_tree r

def tree_of (x : Real) depth = if depth == 0 then Leaf x else Node (tree_of x (depth - 1)) (tree_of (x + 1) (depth - 1))

def while_pow (n : Int) (x : Real) : Real =
  let (_, p) = while_loop (\\(i, _) -> i < n) (\\(i, p) -> (i + 1, p * x)) (0, 1.0)
  in p

def pow_rec n (x : Real) = if n == 0 then 1.0 else x * pow_rec (n - 1) x

def doubling n (x : Real) = if n == 0 then x else let y = doubling (n - 1) x in y + y

def shift o g a = g (a + o)

def lse xs = let m = maximum xs in m + log (sum (map (\\x -> exp (x - m)) xs))

def steep f = custom_jvp f (\\(x, t) -> (f x, 10 * t))

def steep_back f = custom_vjp f (\\x -> (f x, \\c -> 10 * c))
";

/// The value of an expression, as every engine prints it, or the message of the error.
fn eval(text: &str) -> String {
    let mut session = Session::new();
    let report = session.check_text("definitions.wg", DEFINITIONS, Path::new("."));
    assert!(!report.has_errors(), "{:?}", report.diagnostics);
    let scope = Scope::of_file(&report.modules);
    everywhere::eval(&mut session, &scope, text)
}

/// All programs that a text with `D`s stands for.
fn modes(text: &str) -> Vec<String> {
    let mut texts = vec![text.to_string()];
    for letter in ["D1", "D2", "D3", "D"] {
        if texts.iter().any(|text| text.contains(letter)) {
            let choices =
                ["derivative", "grad"].map(|mode| texts.iter().map(move |t| t.replace(letter, mode)));
            texts = choices.into_iter().flatten().collect();
        }
    }
    texts
}

/// In every mode the program prints exactly this.
#[track_caller]
fn prints(text: &str, expected: &str) {
    for program in modes(text) {
        assert_eq!(eval(&program), expected, "{program}");
    }
}

/// In every mode the program's value is nearly this number.
#[track_caller]
fn nearly(text: &str, expected: f64) {
    for program in modes(text) {
        let printed = eval(&program);
        let value: f64 = printed.parse().unwrap_or_else(|_| panic!("{program}\n{printed}"));
        assert!(
            (value - expected).abs() <= 1e-12 * expected.abs().max(1.0),
            "{program}: {value}, not {expected}"
        );
    }
}

#[test]
fn class_01_perturbation_confusion() {
    prints("D1 (\\x -> x * D2 (\\y -> x + y) 1.0) 1.0", "1.0");
    prints("D1 (\\x -> x * D2 (\\y -> x * y) 2.0) 1.0", "2.0");
    prints("D1 (\\x -> x * D2 (\\y -> x) 2.0) 1.0", "0.0");
    prints("D1 (\\x -> x * D2 (\\y -> x * D3 (\\z -> x * y * z) 1.0) 3.0) 2.0", "12.0");
    // The innermost derivative is x y, the middle one x, taken at x.
    prints("D1 (\\x -> x * D2 (\\y -> D3 (\\z -> x * y * z) x) x) 2.0", "4.0");
}

#[test]
fn class_02_a_tag_escapes_in_a_function_that_is_the_result() {
    nearly("let s = snd (jvp shift (3.0, 1.0)) in s (s exp) 5.0", 11f64.exp());
    // Through a data structure, and kept for later.
    nearly("let (_, (s, _)) = jvp (\\o -> (shift o, o)) (3.0, 1.0) in s (s exp) 5.0", 11f64.exp());
    nearly("D (\\o -> let s = snd (jvp shift (o, 1.0)) in s (s exp) 5.0) 3.0", 2.0 * 11f64.exp());
}

#[test]
fn class_03_a_tag_is_captured_on_the_way_in() {
    nearly(
        "let v = \\u f1 f2 x -> f1 f2 (x + u) in let w = snd (jvp v (0.0, 1.0)) in w (w id) exp 1.0",
        1f64.exp(),
    );
}

#[test]
fn class_04_a_nested_rule_looks_at_the_right_level() {
    for (outer, inner) in
        [("grad", "jacfwd"), ("grad", "jacrev"), ("grad_fwd", "jacfwd"), ("grad_fwd", "jacrev")]
    {
        for gradient in ["grad", "grad_fwd"] {
            let program = format!(
                "let r = \\th x -> th[0] * x[0] ^ 2 + th[1] * x[0] * x[1] in
                 {outer} (\\th -> norm_squared ({inner} ({gradient} (r th)) [1.5, 2.5])) [3.0, 4.0]"
            );
            // The Hessian is [[2 a, b], [b, 0]], the sum of its squares 4 a² + 2 b².
            assert_eq!(eval(&program), "[24.0, 16.0]", "{program}");
        }
    }
}

#[test]
fn class_05_the_gradient_goes_through_two_inner_derivatives() {
    prints("D1 (\\p -> D2 (D3 (\\x -> p * x * x)) 2.0) 3.0", "2.0");
    prints("D1 (\\p -> D2 (\\x -> D3 (\\y -> p * p * y ^ 3) x) 2.0) 3.0", "72.0");
}

#[test]
fn class_06_no_nan_from_a_branch_that_is_not_taken() {
    prints("D (\\x -> if x > 0 then log x else 0) 0.0", "0.0");
    prints("grad (\\xs -> sum (map (\\x -> if x > 0 then log x else 0) xs)) [0.0, 2.0]", "[0.0, 0.5]");
    prints("grad_fwd (\\xs -> sum (map (\\x -> if x > 0 then log x else 0) xs)) [0.0, 2.0]", "[0.0, 0.5]");
}

#[test]
fn class_07_zero_times_infinity() {
    prints("D (\\x -> min 1 (1 / x)) 0.0", "0.0");
    prints(
        "D (\\x -> 0 * log x) 0.0".replace("0 * log x", "x * stop_gradient (log 2.0 * 0)").as_str(),
        "0.0",
    );
    prints("D (\\x -> sqrt (x * x * 0)) 0.0", "0.0");
}

#[test]
fn class_08_powers() {
    prints("D (\\x -> x ** 2) 0.0", "0.0");
    prints("D (\\x -> x ^ 2) 0.0", "0.0");
    prints("D (\\x -> x ^ 0) 0.0", "0.0");
    prints("D (\\x -> x ^ 1) 0.0", "1.0");
    prints(
        "hessian (\\v -> v[1] ** 2 + v[2] ** 2) [0.0, 0.0, 0.0]",
        "[[0.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]]",
    );
    prints("taylor 3 (\\x -> x ** 1) 1.0", "[1.0, 1.0, 0.0, 0.0]");
    prints("D1 (D2 (\\x -> x ** 2)) 0.0", "2.0");
    prints("D1 (D2 (\\x -> x ^ 2)) 0.0", "2.0");
    prints("grad (\\(x, y) -> x ** y) (0.0, 2.0)", "(0.0, 0.0)");
    prints("grad_fwd (\\(x, y) -> x ** y) (0.0, 2.0)", "(0.0, 0.0)");
}

#[test]
fn class_09_norms_at_zero() {
    prints("grad (\\v -> norm v ^ 2) [0.0, 0.0]", "[0.0, 0.0]");
    prints("grad norm [0.0, 0.0]", "[0.0, 0.0]");
    prints("grad_fwd norm [0.0, 0.0]", "[0.0, 0.0]");
    prints("grad (\\(x, y) -> hypot x y) (0.0, 0.0)", "(0.0, 0.0)");
}

#[test]
fn class_10_ties_and_kinks() {
    prints("grad maximum [1.0, 1.0]", "[1.0, 0.0]");
    prints("grad_fwd maximum [1.0, 1.0]", "[1.0, 0.0]");
    prints("grad (reduce max (-1.0)) [1.0, 1.0]", "[1.0, 0.0]");
    prints("grad (\\(x, y) -> max x y) (1.0, 1.0)", "(1.0, 0.0)");
    prints("grad (\\(x, y) -> min x y) (1.0, 1.0)", "(1.0, 0.0)");
    prints("D abs 0.0", "0.0");
    prints("D relu 0.0", "0.0");
    prints("D sqrt 0.0", "Infinity");
}

#[test]
fn class_11_saturation_and_cancellation() {
    prints("D tanh 200.0", "0.0");
    nearly("D tanh 10.0", 10f64.cosh().powi(-2));
    prints("D sigmoid (-800.0)", "0.0");
    prints("D (\\x -> lse [x, x]) 1e50", "1.0");
}

#[test]
fn class_12_sharing_is_kept() {
    prints(
        "D (doubling 60) 1.0",
        "1152921504606846976.0".parse::<f64>().map(wengert_base::real::show).unwrap().as_str(),
    );
    // A value whose parts are shared sixty times over, as input, as result, and captured.
    prints(
        "snd (jvp (\\x -> let t = iterate 60 (\\t -> Node t t) (Leaf x) in match t with | Node (Node _ _) _ -> x | _ -> 0.0) (1.0, 1.0))",
        "1.0",
    );
    nearly("D (\\x -> (iterate 50 (\\f -> \\y -> f y) (\\y -> x * y)) 3.0) 2.0", 3.0);
}

#[test]
fn class_13_the_tenth_derivative() {
    let nested = format!(
        "{} (\\t -> 0.3 * sin t * t ^ 10) {} 1.1",
        "derivative (".repeat(9) + "derivative",
        ")".repeat(9)
    );
    let nested: f64 = eval(&nested).parse().unwrap();
    let series: Vec<f64> = eval("taylor 10 (\\t -> 0.3 * sin t * t ^ 10) 1.1")
        .trim_matches(['[', ']'])
        .split(", ")
        .map(|x| x.parse().unwrap())
        .collect();
    // Leibniz: Σ C(10, k) sin⁽ᵏ⁾(t) (t¹⁰)⁽¹⁰⁻ᵏ⁾.
    let t = 1.1f64;
    let (mut expected, mut binomial) = (0.0, 1.0);
    for k in 0..=10 {
        let sine = [t.sin(), t.cos(), -t.sin(), -t.cos()][k % 4];
        let power: f64 = (k + 1..=10).map(|i| i as f64).product::<f64>() * t.powi(k as i32);
        expected += 0.3 * binomial * sine * power;
        binomial *= (10 - k) as f64 / (k + 1) as f64;
    }
    assert!((series[10] - expected).abs() < 1e-9 * expected.abs(), "{} {expected}", series[10]);
    assert!((nested - expected).abs() < 1e-9 * expected.abs(), "{nested} {expected}");
}

#[test]
fn class_14_deeply_nested_conditionals() {
    let mut body = "x".to_string();
    for i in 0..25 {
        body = format!("if x > {i}.5 then x * 2 else x + ({body})");
    }
    // At 0.1 all conditions are false: 26 x.
    nearly(&format!("D (\\x -> {body}) 0.1"), 26.0);
}

#[test]
fn class_15_while_under_reverse() {
    prints("D (while_pow 3) 4.0", "48.0");
    prints("D (while_pow 9) 3.0", "59049.0");
    prints("D1 (D2 (while_pow 3)) 4.0", "24.0");
}

#[test]
fn class_16_states_of_a_loop_are_kept() {
    let forward: f64 = eval("derivative (iterate 5 tanh) 0.7").parse().unwrap();
    nearly("grad (iterate 5 tanh) 0.7", forward);
}

#[test]
fn class_17_each_call_takes_its_own_branch() {
    prints("let g = D (\\x -> if x < 0 then 0 else x) in (g (-1.3), g 1.34)", "(0.0, 1.0)");
}

#[test]
fn class_18_recursion() {
    prints("D (pow_rec 3) 5.0", "75.0");
    prints("grad sum_tree (tree_of 1.0 2)", "Node (Node (Leaf 1.0) (Leaf 1.0)) (Node (Leaf 1.0) (Leaf 1.0))");
    prints("jvp sum_tree (tree_of 1.0 1, tree_of 5.0 1)", "(3.0, 11.0)");
}

#[test]
fn class_21_indexing_is_cheap() {
    // Horner's scheme: 2 operations for each coefficient, and at most six times that with the gradient.
    let program = "\\cs -> fold (\\acc i -> acc * 0.5 + cs[i]) 0.0 (iota (length cs))";
    let mut session = Session::new();
    let text = format!("def horner (cs : []Real) : Real = ({program}) cs\n");
    let report = session.check_text("horner.wg", &text, Path::new("."));
    let scope = Scope::of_file(&report.modules);
    let mut flops = |text: &str| {
        let evaluated = session.eval_in(&scope, "test.wg", text, &Options::default());
        evaluated.unwrap_or_else(|errors| panic!("{errors:?}")).flops
    };
    let primal = flops("horner (replicate 10000 1.5)");
    let gradient = flops("grad horner (replicate 10000 1.5)");
    assert!(gradient <= 6 * primal, "{gradient} {primal}");
}

#[test]
fn class_22_repeated_indices_accumulate() {
    prints("grad (\\xs -> sum (map (\\i -> xs[i]) [0, 0, 2])) [5.0, 6.0, 7.0]", "[2.0, 0.0, 1.0]");
    prints("grad (\\xs -> sum (gather xs [0, 0, 2])) [5.0, 6.0, 7.0]", "[2.0, 0.0, 1.0]");
    prints("grad (\\v -> norm_squared (scatter_add [1.0, 1.0] [0, 0] v)) [1.0, 2.0]", "[8.0, 8.0]");
}

#[test]
fn class_23_updates_and_aliases() {
    let diagonal = "[[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]";
    prints("jacfwd (\\xs -> set xs 0 0.0) [1.0, 2.0, 3.0]", diagonal);
    prints("jacrev (\\xs -> set xs 0 0.0) [1.0, 2.0, 3.0]", diagonal);
    prints("grad (\\xs -> (reverse xs)[0]) [1.0, 2.0, 3.0]", "[0.0, 0.0, 1.0]");
    prints("let xs = [1.0, 2.0] in let ys = set xs 0 9.0 in (xs, ys)", "([1.0, 2.0], [9.0, 2.0])");
    prints("let xs = [1, 2] in let f = \\i -> set xs i 0 in (f 0, f 1, xs)", "([0, 2], [1, 0], [1, 2])");
}

#[test]
fn class_24_forward_and_reverse_agree() {
    for f in [
        "\\v -> [v[0] * sin v[1], exp (v[0] / v[2]), v[1] ** v[2], hypot v[0] v[2], 3.0]",
        "\\v -> scan (\\a b -> a * b + sin a) 0.5 v",
        "\\v -> matvec [[v[0], 1.0, v[1]], [v[2], v[2], 0.0]] (sort v)",
        "\\v -> map (\\x -> if x > 1.2 then tanh x else log x) (concat v (reverse v))",
    ] {
        let difference = format!(
            "let (a, b) = (jacfwd ({f}) [1.5, 0.5, 2.5], jacrev ({f}) [1.5, 0.5, 2.5]) in norm (add a (scale (-1.0) b))"
        );
        nearly(&difference, 0.0);
        let program = format!(
            "let f = {f} in let x = [1.5, 0.5, 2.5] in let t = [0.3, -1.0, 2.0] in
             let (y, dy) = jvp f (x, t) in let (_, back) = vjp f x in
             let w = map (\\y -> cos y + 2) y in abs (inner w dy - inner (back w) t) < 1e-12"
        );
        assert_eq!(eval(&program), "true", "{f}");
    }
}

#[test]
fn class_25_integers_comparisons_rounding() {
    prints("D (\\x -> x * real (1 + 1)) 1.0", "2.0");
    prints("D (\\x -> real (floor x)) 0.3", "0.0");
    prints("D (\\x -> if x > 0 then 1.0 else 0.0) 1.0", "0.0");
    prints("grad (\\(x, n) -> x ^ n) (2.0, (3 : Int))", "(12.0, 3)");
    assert!(
        eval("grad (\\n -> real (n + 1)) (3 : Int)").starts_with("E06"),
        "{}",
        eval("grad (\\n -> real (n + 1)) (3 : Int)")
    );
}

#[test]
fn class_26_constants_have_real_zeros() {
    prints("D (\\x -> 20.0) 45.0", "0.0");
    prints("let (_, back) = vjp (\\(x, y) -> (x + y, 0.0)) (1.0, 2.0) in back (1.0, 0.0)", "(1.0, 1.0)");
    prints("grad (\\xs -> 3.0) [1.0, 2.0]", "[0.0, 0.0]");
    prints("grad (\\t -> 3.0) (tree_of 1.0 1)", "Node (Leaf 0.0) (Leaf 0.0)");
    prints("jvp (\\x -> [1.0, 2.0]) (1.0, 1.0)", "([1.0, 2.0], [0.0, 0.0])");
}

#[test]
fn class_27_custom_rules_and_captured_variables() {
    prints("D (\\k -> custom_jvp (\\x -> k * x) (\\(x, t) -> (k * x, k * t)) 3.0) 2.0", "3.0");
    prints("D (\\k -> custom_vjp (\\x -> k * x) (\\x -> (k * x, \\c -> k * c)) 3.0) 2.0", "3.0");
    // Captured and argument at once: d (k * (2 k)) = 4 k, the rule's factor 10 on the argument's part: 2 k + 10 * 2 k.
    prints("D (\\k -> custom_jvp (\\x -> k * x) (\\(x, t) -> (k * x, 10 * k * t)) (2 * k)) 3.0", "66.0");
    prints("D (\\k -> custom_vjp (\\x -> k * x) (\\x -> (k * x, \\c -> 10 * k * c)) (2 * k)) 3.0", "66.0");
    // The inner derivative sees the argument, the outer one the captured variable.
    prints(
        "D1 (\\k -> D2 (custom_jvp (\\x -> k * x * x) (\\(x, t) -> (k * x * x, 2 * k * x * t))) 3.0) 2.0",
        "6.0",
    );
    prints(
        "D1 (\\k -> D2 (custom_vjp (\\x -> k * x * x) (\\x -> (k * x * x, \\c -> 2 * k * x * c))) 3.0) 2.0",
        "6.0",
    );
}

#[test]
fn class_28_custom_rules_are_never_dropped() {
    prints("D (steep (\\x -> x)) 1.0", "10.0");
    prints("D (steep_back (\\x -> x)) 1.0", "10.0");
    prints("grad (\\xs -> sum (map (steep (\\x -> x)) xs)) [1.0, 2.0]", "[10.0, 10.0]");
    prints("D (\\x -> match Cons x Nil with | Cons y _ -> steep (\\z -> z) y | Nil -> 0.0) 1.0", "10.0");
    prints("D1 (\\x -> x * D2 (steep (\\y -> y)) x) 2.0", "10.0");
    // The value carries the rule to the outer level too.
    prints("D1 (\\x -> fst (jvp (steep (\\y -> y)) (x, 1.0))) 2.0", "10.0");
    prints("D1 (\\x -> fst (jvp (steep_back (\\y -> y)) (x, 1.0))) 2.0", "10.0");
    prints("D (\\x -> fst (value_and_grad (steep (\\y -> y)) x)) 2.0", "10.0");
    prints("D (steep (steep (\\x -> x))) 1.0", "10.0");
    prints("taylor 2 (steep (\\x -> x)) 1.0", "[1.0, 10.0, 0.0]");
    prints("taylor 2 (steep_back (\\x -> x)) 1.0", "[1.0, 10.0, 0.0]");
}

#[test]
fn class_29_zero_tangents_are_no_special_case() {
    prints("derivative (\\x -> steep (\\y -> y) (0 * x)) 1.0", "0.0");
    prints("grad (\\x -> steep (\\y -> y) (0 * x)) 1.0", "0.0");
    prints(
        "grad (\\(x, y) -> custom_jvp (\\(a, b) -> a * b) (\\((a, b), (da, db)) -> (a * b, da * b + a * db)) (x, 2.0)) (3.0, 1.0)",
        "(2.0, 0.0)",
    );
    // The zero tangent of the constant meets a number that is perturbed by the outer derivative.
    prints(
        "D1 (D2 (\\x -> custom_jvp (\\(a, b) -> a * b) (\\((a, b), (da, db)) -> (a * b, da * b + a * db)) (x * x, 3.0))) 2.0",
        "6.0",
    );
}

#[test]
fn a_rule_that_is_not_linear_is_an_error() {
    for rule in
        ["(x, t * t)", "(x, if t > 0 then t else 0)", "(x, sin t)", "(x, t + 1)", "(x, real (floor t))"]
    {
        let text = eval(&format!("grad (custom_jvp (\\x -> x) (\\(x, t) -> {rule})) 1.0"));
        assert!(text.starts_with("E0721"), "{rule}: {text}");
    }
    let text = eval("derivative (custom_vjp (\\x -> x) (\\x -> (x, \\c -> c * c))) 1.0");
    assert!(text.starts_with("E0721"), "{text}");
}

#[test]
fn class_32_empty_arrays_and_loops() {
    prints("grad (\\xs -> sum xs) ([] : []Real)", "[]");
    prints("grad product [3.0]", "[1.0]");
    prints("D (iterate 0 sin) 2.0", "1.0");
    prints(
        "D (fold (\\a b -> a * b) 1.0) 0.0"
            .replace(
                "D (fold (\\a b -> a * b) 1.0) 0.0",
                "grad (\\xs -> fold (\\a b -> a * b) 1.0 xs) [4.0, 5.0]",
            )
            .as_str(),
        "[5.0, 4.0]",
    );
    prints("jacfwd (\\xs -> map sin xs) ([] : []Real)", "[]");
}

#[test]
fn functions_as_inputs() {
    let (s, c) = (1f64.sin(), 1f64.cos());
    let tangent = s.cos() + s.cos() * c;
    nearly("snd (jvp (\\g -> g (g 1.0)) (sin, cos))", tangent);
    nearly("snd (linearize (\\g -> g (g 1.0)) sin) cos", tangent);
    nearly("apply_dual (pullback (\\g -> g (g 1.0)) (\\_ -> to_dual 1.0) sin) cos", tangent);
    nearly("apply_dual (pullback (\\(g, x) -> g (g x)) (\\_ -> to_dual 1.0) (sin, 1.0)) (cos, 0.0)", tangent);
    // With a derivative inside: the tangent of g ↦ g' 1 is h ↦ h' 1.
    nearly("snd (jvp (\\g -> D g 1.0) (sin, cos))", -s);
    nearly("apply_dual (pullback (\\g -> D g 1.0) (\\_ -> to_dual 1.0) sin) cos", -s);
    // And outside: d/dk of the tangent of g ↦ g 1 at sin in direction k cos.
    nearly("D (\\k -> snd (jvp (\\g -> g (g k)) (sin, cos))) 1.0", {
        // f k = cos (sin k) + cos (sin k) cos k
        -s.sin() * c - s.sin() * c * c - s.cos() * s
    });
    // Curried inputs.
    nearly("snd (jvp (\\g -> g 2.0 3.0) (\\x y -> x * y, \\x y -> x + y))", 5.0);
    nearly(
        "apply_dual (pullback (\\g -> g 2.0 3.0) (\\_ -> to_dual 2.0) (\\x y -> x * y)) (\\x y -> x + y)",
        10.0,
    );
}

#[test]
fn functions_as_results() {
    nearly("let (_, dg) = jvp (\\x y -> x * y) (3.0, 1.0) in dg 5.0", 5.0);
    nearly("snd (linearize (\\x y -> x * x * y) 3.0) 1.0 5.0", 30.0);
    // A functional on functions: evaluate the tangent at 2.
    nearly(
        "apply_dual (pullback (\\x y -> x * x * y) (\\f -> pullback (\\g -> g 2.0) (\\_ -> to_dual 1.0) f) 3.0) 1.0",
        12.0,
    );
    // The tangent of a function keeps what the function has captured.
    nearly("D (\\k -> let (_, dg) = jvp (\\x y -> k * x * y) (3.0, 1.0) in dg 5.0) 2.0", 5.0);
}

#[test]
fn stop_gradient_reaches_what_functions_captured() {
    prints("D (\\x -> stop_gradient (\\y -> x * y) x) 3.0", "3.0");
    prints("D1 (\\x -> D2 (\\y -> stop_gradient x * y) x) 3.0", "0.0");
}

#[test]
fn checkpoints_change_nothing() {
    nearly("D (checkpoint (\\x -> sin (x * x))) 1.5", 3.0 * 2.25f64.cos());
    nearly("D1 (D2 (checkpoint (\\x -> x ^ 4))) 2.0", 48.0);
    nearly("D (\\k -> checkpoint (\\x -> k * x) 3.0) 2.0", 3.0);
    nearly("D (\\k -> checkpoint (\\x -> k * x * checkpoint (\\y -> y * k) x) k) 2.0", 32.0);
    nearly("D1 (\\k -> k * D2 (checkpoint (\\x -> k * x * x)) k) 2.0", 24.0);
    prints(
        "grad (checkpoint (\\(xs, y) -> sum (map (\\x -> x * y) xs))) ([1.0, 2.0], 3.0)",
        "([3.0, 3.0], 3.0)",
    );
}
