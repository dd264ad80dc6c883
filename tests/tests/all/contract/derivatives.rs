//! The table of derivative operators, the conventions at kinks, and the promises about nesting and cost.

use super::{definitions_file, prints, prints_about, prints_with, refuses, refuses_with};
use wengert_tests::command::wengert;

#[test]
fn each_operator_of_the_table() {
    prints(&[
        ("jvp (\\x -> x * x) (3.0, 1.0)", "(9.0, 6.0)"),
        ("jvp (\\(x, y) -> (x * y, x)) ((2.0, 3.0), (1.0, 10.0))", "((6.0, 2.0), (23.0, 1.0))"),
        ("jvp (\\r -> {s = r.x * r.y}) ({x = 2.0, y = 3.0}, {x = 1.0, y = 0.0})", "({s = 6.0}, {s = 3.0})"),
        ("let (y, back) = vjp (\\x -> x * x) 3.0 in (y, back 1.0, back 2.0)", "(9.0, 6.0, 12.0)"),
        (
            "let (y, back) = vjp (\\(a, b) -> [a * b, a]) (2.0, 3.0) in (y, back [1.0, 0.0], back [0.0, 1.0])",
            "([6.0, 2.0], (3.0, 2.0), (1.0, 0.0))",
        ),
        ("grad (\\(x, y) -> x * y ^ 2) (3.0, 2.0)", "(4.0, 12.0)"),
        ("grad (\\r -> r.x ^ 2 * r.y) {x = 3.0, y = 2.0}", "{x = 12.0, y = 9.0}"),
        ("grad (\\xs -> sum (map (\\x -> x * x) xs)) [1, 2, 3]", "[2.0, 4.0, 6.0]"),
        ("grad (\\m -> sum (map sum m)) [[1.0, 2.0], [3.0, 4.0]]", "[[1.0, 1.0], [1.0, 1.0]]"),
        ("grad (\\(x, n) -> x ^ n) (2.0, (3 : Int))", "(12.0, 3)"),
        ("grad (\\(x, s) -> x * x) (2.0, \"leaf\")", "(4.0, \"leaf\")"),
        ("grad (\\((a, b), c) -> a * b * c[0]) ((1.0, 2.0), [3.0])", "((6.0, 3.0), [2.0])"),
        ("value_and_grad (\\x -> x ^ 3) 2.0", "(8.0, 12.0)"),
        ("derivative (\\t -> (t ^ 2, [t, 3 * t])) 2.0", "(4.0, [1.0, 3.0])"),
        ("pullback (\\x -> x * x) (\\_ -> to_dual 1.0) 3.0 |> from_dual", "6.0"),
        ("from_dual (pullback (\\x -> x * x) to_dual 3.0)", "54.0"),
        ("apply_dual (pullback (\\x -> x * x) (\\_ -> to_dual 1.0) 3.0) 10.0", "60.0"),
        ("from_dual (pullback (\\(x, y) -> x * y) (\\_ -> to_dual 1.0) (2.0, 5.0))", "(5.0, 2.0)"),
        ("apply_dual (to_dual (1.0, 2.0)) (3.0, 4.0)", "11.0"),
        ("from_dual (to_dual {x = 1.0, y = [2.0]})", "{x = 1.0, y = [2.0]}"),
        (
            "let (y, tangent) = linearize (\\x -> x ^ 3) 2.0 in (y, tangent 1.0, tangent 2.0)",
            "(8.0, 12.0, 24.0)",
        ),
        ("grad_fwd (\\(x, y) -> x * y ^ 2) (3.0, 2.0)", "(4.0, 12.0)"),
        ("grad_fwd (\\xs -> product xs) [2.0, 3.0, 4.0]", "[12.0, 8.0, 6.0]"),
        ("jacfwd (\\v -> [v[0] * v[1], v[0], v[1] ^ 2]) [2.0, 3.0]", "[[3.0, 2.0], [1.0, 0.0], [0.0, 6.0]]"),
        ("jacrev (\\v -> [v[0] * v[1], v[0], v[1] ^ 2]) [2.0, 3.0]", "[[3.0, 2.0], [1.0, 0.0], [0.0, 6.0]]"),
        ("hessian (\\v -> v[0] ^ 2 * v[1]) [2.0, 3.0]", "[[6.0, 4.0], [4.0, 0.0]]"),
        ("hvp (\\v -> v[0] ^ 2 * v[1]) [2.0, 3.0] [1.0, 10.0]", "[46.0, 4.0]"),
        ("hvp (\\(x, y) -> x * y) (2.0, 3.0) (1.0, 0.0)", "(0.0, 1.0)"),
        ("taylor 3 exp 0", "[1.0, 1.0, 1.0, 1.0]"),
        ("taylor 4 (\\x -> x ^ 3) 2", "[8.0, 12.0, 12.0, 6.0, 0.0]"),
        ("taylor 0 sin 0", "[0.0]"),
        ("add (1.0, [2.0]) (3.0, [4.0])", "(4.0, [6.0])"),
        ("scale 2 {x = 1.0, y = [2.0]}", "{x = 2.0, y = [4.0]}"),
        ("inner (1.0, [2.0]) (3.0, [4.0])", "11.0"),
        ("zero (1.5, \"a\", [2.5])", "(0.0, \"a\", [0.0])"),
        ("grad (\\x -> x * stop_gradient x) 3.0", "3.0"),
        ("derivative (\\x -> x * stop_gradient x) 3.0", "3.0"),
        ("grad (checkpoint (\\x -> x ^ 2)) 3.0", "6.0"),
        ("checkpoint (\\x -> x ^ 2) 3.0", "9.0"),
        (
            "let f = custom_jvp (\\x -> x * x) (\\(x, t) -> (x * x, 5 * t)) in (f 3.0, derivative f 3.0, grad f 3.0)",
            "(9.0, 5.0, 5.0)",
        ),
        (
            "let f = custom_vjp (\\x -> x * x) (\\x -> (x * x, \\c -> 7 * c)) in (f 3.0, grad f 3.0)",
            "(9.0, 7.0)",
        ),
        (
            "let f = custom_vjp (\\x -> x * x) (\\x -> (x * x, \\c -> 7 * c)) in grad (\\x -> sum (map f [x, x])) 1.0",
            "14.0",
        ),
    ]);
}

#[test]
fn functions_can_be_what_is_differentiated() {
    let (s, c) = (1f64.sin(), 1f64.cos());
    let tangent = s.cos() + s.cos() * c;
    prints_about(&[
        ("jvp (\\g -> g (g 1.0)) (sin, cos)", format!("({:?}, {tangent:?})", s.sin())),
        ("apply_dual (pullback (\\g -> g (g 1.0)) (\\_ -> to_dual 1.0) sin) cos", format!("{tangent:?}")),
        (
            "apply_dual (pullback (\\g -> g 2.0) (\\_ -> to_dual 3.0) sin) cos",
            format!("{:?}", 3.0 * 2f64.cos()),
        ),
        ("let (_, dg) = jvp (\\x y -> x * y) (3.0, 1.0) in dg 5.0", "5.0".into()),
        ("snd (jvp (\\x -> {f = \\y -> x ^ 2 * y}) (3.0, 1.0)) |> (\\r -> r.f 2.0)", "12.0".into()),
        (
            "let (g, tangent) = linearize (\\h -> h 1.0 + h 2.0) sin in tangent cos",
            format!("{:?}", c + 2f64.cos()),
        ),
        ("derivative (\\x y -> sin (x * y)) 2.0 3.0", format!("{:?}", 3.0 * 6f64.cos())),
        ("jvp (\\(f, x) -> f x) ((sin, 1.0), (cos, 10.0)) |> snd", format!("{:?}", c + 10.0 * c)),
    ]);
}

#[test]
fn nesting_never_confuses_perturbations() {
    prints(&[
        ("grad (\\x -> x * grad (\\y -> x) 2.0) 1.0", "0.0"),
        ("grad (\\x -> x * grad (\\y -> x + y) 1.0) 1.0", "1.0"),
        ("derivative (\\x -> x * derivative (\\y -> x + y) 1.0) 1.0", "1.0"),
        ("derivative (\\x -> x * grad (\\y -> x * y) 2.0) 1.0", "2.0"),
        ("grad (\\x -> x * derivative (\\y -> x * y) 2.0) 1.0", "2.0"),
        ("grad (\\p -> derivative (derivative (\\x -> p * x * x)) 2.0) 3.0", "2.0"),
        ("grad (grad (grad (\\x -> x ^ 4))) 2.0", "48.0"),
        ("derivative (grad (derivative (\\x -> x ^ 5))) 1.0", "60.0"),
        ("let d = derivative in d (d (d (d (\\x -> x ^ 4)))) 7.0", "24.0"),
        ("let shift o g a = g (a + o) in let s = derivative shift 3.0 in s (s exp) 5.0 == exp 11.0", "true"),
        ("map (grad (\\x -> x ^ 2)) [1.0, 2.0]", "[2.0, 4.0]"),
        (
            "let fs = [grad (\\x -> x ^ 2), derivative (\\x -> x ^ 3), \\x -> x] in map (\\f -> f 2.0) fs",
            "[4.0, 12.0, 2.0]",
        ),
        ("hessian (\\v -> sum (map (\\x -> x ^ 3) v)) [1.0, 2.0]", "[[6.0, 0.0], [0.0, 12.0]]"),
    ]);
}

#[test]
fn kinks_and_zeros_have_the_documented_values() {
    prints(&[
        ("derivative abs 0.0", "0.0"),
        ("grad abs 0.0", "0.0"),
        ("derivative relu 0.0", "0.0"),
        ("grad relu 0.0", "0.0"),
        ("grad (\\(x, y) -> min x y) (1.0, 1.0)", "(1.0, 0.0)"),
        ("grad (\\(x, y) -> max x y) (1.0, 1.0)", "(1.0, 0.0)"),
        ("grad maximum [1.0, 1.0]", "[1.0, 0.0]"),
        ("derivative sqrt 0.0", "Infinity"),
        ("grad sqrt 0.0", "Infinity"),
        ("derivative (\\x -> if x > 0 then log x else 0) 0.0", "0.0"),
        ("grad (\\x -> if x > 0 then log x else 0) 0.0", "0.0"),
        ("derivative (\\x -> min 1 (1 / x)) 0.0", "0.0"),
        ("grad (\\x -> min 1 (1 / x)) 0.0", "0.0"),
        ("grad (\\v -> norm v ^ 2) [0.0, 0.0]", "[0.0, 0.0]"),
        ("grad (\\v -> sqrt (dot v v) ^ 2) [0.0, 0.0]", "[0.0, 0.0]"),
        ("grad norm [0.0, 0.0]", "[0.0, 0.0]"),
        ("derivative (\\x -> x ** 2) 0.0", "0.0"),
        ("derivative (\\x -> x ^ 0) 0.0", "0.0"),
        ("derivative (\\x -> real (floor x)) 0.3", "0.0"),
        ("derivative (\\x -> 20.0) 45.0", "0.0"),
        ("derivative (\\x -> 20) 45", "0.0"),
        ("grad (\\x -> 20.0) 45.0", "0.0"),
        ("derivative tanh 200.0", "0.0"),
        ("grad sum []", "[]"),
        ("grad (\\xs -> xs[0] + xs[0] + xs[2]) [1.0, 2.0, 3.0]", "[2.0, 0.0, 1.0]"),
        ("derivative (\\x -> iterate 0 (\\y -> y * y) x) 3.0", "1.0"),
        // 3 is squared to 9, 81 and 6561: the loop gives `x ^ 8`, whose derivative at 3 is `8 * 3 ^ 7`.
        ("derivative (\\x -> while_loop (\\y -> y < 100) (\\y -> y * y) x) 3.0", "17496.0"),
        ("grad (\\x -> while_loop (\\y -> y < 100) (\\y -> y * y) x) 3.0", "17496.0"),
    ]);
}

#[test]
fn what_cannot_be_differentiated_is_said() {
    refuses(&[
        ("grad (\\n -> real n) (3 : Int)", "Real"),
        ("grad (\\s -> 1.0) \"text\"", "Real"),
        ("derivative (\\x -> x) (1 : Int)", "Real"),
        ("grad (\\x -> (x, x)) 1.0", "Real"),
        ("grad (\\f -> f 1.0) sin", "without functions"),
        ("vjp (\\x y -> x + y) 1.0", "without functions"),
        ("vjp sin 1.0 1.0", "argument"),
        ("jvp sin 1.0 1.0", "jvp"),
        ("jvp sin 1.0", "("),
        ("from_dual (pullback (\\g -> g 1.0) (\\_ -> to_dual 1.0) sin)", "without functions"),
        ("taylor (-1) sin 0.0", "-1"),
    ]);
    let definitions = "
def quadratic = custom_vjp (\\x -> x * x) (\\x -> (x * x, \\c -> c * c))
def affine = custom_jvp (\\x -> x * x) (\\(x, t) -> (x * x, t + 1))
";
    prints_with(definitions, &[("quadratic 2.0", "4.0"), ("affine 2.0", "4.0")]);
    refuses_with(definitions, &[("derivative quadratic 2.0", "linear"), ("grad affine 2.0", "linear")]);
}

#[test]
fn the_cost_promise_holds_on_the_worst_shapes() {
    let definitions = "
def double_up n x = if n == 0 then x else let y = double_up (n - 1) x in y + y
def deep (x : Real) = double_up 60 x
def prod (xs : [n]Real) = fold (\\a x -> a * x) 1 xs
def long (x : Real) = iterate 2000 (\\y -> sin y) x
def elementary (x : Real) = exp x
";
    let file = definitions_file(definitions).expect("there are definitions");
    let file = file.to_string_lossy();
    for (entry, input) in [
        ("deep", "[1.0]"),
        ("prod", "[[1.1, 0.9, 1.2, 0.8, 1.1, 0.9, 1.2, 0.8, 1.1, 0.9, 1.2, 0.8, 1.1, 0.9, 1.2, 0.8]]"),
        ("long", "[0.5]"),
        ("elementary", "[1.0]"),
    ] {
        let printed =
            wengert(&["cost", &file, "--entry", entry, "--input", input]).value().expect("cost runs");
        let counts: serde_json::Value = serde_json::from_str(&printed).expect("cost prints JSON");
        let count = |name: &str| counts[name].as_u64().expect("counts are whole numbers");
        let (primal, jvp, vjp) = (count("primal"), count("jvp"), count("vjp"));
        assert!(primal > 0 && jvp <= 4 * primal && vjp <= 6 * primal, "{entry}: {printed}");
        if entry == "elementary" {
            assert_eq!(primal, 4, "an elementary function counts as 4 operations");
        }
    }
    prints_with(
        definitions,
        &[("derivative deep 1.0 == 2.0 ^ 60", "true"), ("grad deep 1.0 == 2.0 ^ 60", "true")],
    );
}
