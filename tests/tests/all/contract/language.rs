//! Expressions, definitions, types, arrays, printing.

use super::{definitions_file, prints, prints_about, prints_with, refuses, refuses_with};
use wengert_tests::command::wengert;

const FIRST_PAGE: &str = "
-- a comment runs to the end of the line
def sigmoid (x : Real) : Real = 1 / (1 + exp (-x))

def f (x, y) =                           -- types may be left out: inference is Hindley–Milner
  let a = x + 1
  let b = 2 * x + y ^ 2                  -- `in` may be left out before the next `let`
  in (a * b) ^ 2

def main = grad f (1, 3)                 -- (660.0, 528.0)

type Shape = Circle Real | Rect Real Real
type List a = Nil | Cons a (List a)      -- recursive, parameterised

def area s = match s with | Circle r -> 3.14 * r ^ 2 | Rect w h -> w * h

def sum_list xs = match xs with | Nil -> 0.0 | Cons x rest -> x + sum_list rest
";

#[test]
fn the_first_page_of_the_contract() {
    prints_with(
        FIRST_PAGE,
        &[
            ("main", "(660.0, 528.0)"),
            ("grad f (1, 3)", "(660.0, 528.0)"),
            ("f (1, 3)", "484"),
            ("f (1.0, 3.0)", "484.0"),
            ("sigmoid 0", "0.5"),
            ("derivative sigmoid 0.0", "0.25"),
            ("area (Rect 2 3)", "6.0"),
            ("area (Circle 1)", "3.14"),
            ("grad area (Rect 2 3)", "Rect 3.0 2.0"),
            ("grad area (Circle 1)", "Circle 6.28"),
            ("sum_list (Cons 1 (Cons 2 Nil))", "3.0"),
            ("grad sum_list (Cons 1 (Cons 2 Nil))", "Cons 1.0 (Cons 1.0 Nil)"),
            ("grad sum_list Nil", "Nil"),
            ("Cons 1.0 Nil", "Cons 1.0 Nil"),
            ("Cons (-1.0) Nil", "Cons (-1.0) Nil"),
            ("Cons (1, 2.0) Nil", "Cons (1, 2.0) Nil"),
            ("(Cons [1] Nil, Circle 2)", "(Cons [1] Nil, Circle 2.0)"),
            ("Cons 1 Nil == Cons 1 Nil", "true"),
            ("Cons 1 Nil == Nil", "false"),
            ("Rect 1.0", "<function>"),
        ],
    );
    let file = definitions_file(FIRST_PAGE).expect("there are definitions");
    assert_eq!(wengert(&["run", &file.to_string_lossy()]).value(), Ok("(660.0, 528.0)".to_string()));
}

#[test]
fn values_are_printed_in_the_shortest_form_that_reads_back() {
    prints(&[
        ("660.0", "660.0"),
        ("0.1 + 0.2", "0.30000000000000004"),
        ("1e-9", "1e-9"),
        ("1e300 * 1e10", "Infinity"),
        ("0.0 / 0.0", "NaN"),
        ("1.0 / 0.0", "Infinity"),
        ("-1.0 / 0.0", "-Infinity"),
        ("-0.0", "-0.0"),
        ("100000.0", "100000.0"),
        ("1e22", "1e22"),
        ("123456789.125", "123456789.125"),
        ("(1.0, 2)", "(1.0, 2)"),
        ("[1.0, 2.0]", "[1.0, 2.0]"),
        ("[]", "[]"),
        ("{x = 1.0}", "{x = 1.0}"),
        ("{x = 1.0, y = (1, true)}", "{x = 1.0, y = (1, true)}"),
        ("()", "()"),
        ("true", "true"),
        ("\"a \\\"b\\\" \\n \\\\ λ\"", "\"a \\\"b\\\" \\n \\\\ λ\""),
        ("\\x -> x", "<function>"),
        ("sin", "<function>"),
        ("(sin, 1)", "(<function>, 1)"),
        ("(-1, [-2.5])", "(-1, [-2.5])"),
        ("1_000_000", "1000000"),
        ("9223372036854775807", "9223372036854775807"),
    ]);
}

#[test]
fn numbers_take_the_type_their_use_demands() {
    prints(&[
        ("1", "1"),
        ("1 + 2.5", "3.5"),
        ("7 / 2", "3"),
        ("7.0 / 2", "3.5"),
        ("-7 / 2", "-3"),
        ("-7 % 2", "-1"),
        ("div (-7) 2", "-4"),
        ("mod (-7) 2", "1"),
        ("2 ^ 10", "1024"),
        ("2.0 ^ 3", "8.0"),
        ("2.0 ^ -1", "0.5"),
        ("2.0 ** 0.5 == sqrt 2", "true"),
        ("4 ** 0.5", "2.0"),
        ("real 3", "3.0"),
        ("real (length [1, 2]) / 4", "0.5"),
        ("floor 2.7", "2"),
        ("floor (-2.1)", "-3"),
        ("sin 0", "0.0"),
        ("(1 : Real)", "1.0"),
        ("let x = 1 in (x + 1, x + 0.5)", "(2, 1.5)"),
        ("let double x = x + x in (double 1, double 1.5)", "(2, 3.0)"),
        ("[1, 2.0]", "[1.0, 2.0]"),
        ("if true then 1 else 2.0", "1.0"),
        ("1 == 1.0", "true"),
        ("9223372036854775807 + 1", "-9223372036854775808"),
    ]);
    refuses(&[
        ("1.5 ^ 2.0", "Int"),
        ("2 ** 3 + (1 : Int)", "Int"),
        ("(floor 1.5) + 1.5", "left side is `Int`"),
        ("1 / 0", "zero"),
        ("1 % 0", "zero"),
        ("2 ^ -1", "negative"),
        ("1.0 % 2.0", "Int"),
        ("9223372036854775808", "9223372036854775807"),
    ]);
}

#[test]
fn operators_bind_as_in_mathematics() {
    prints(&[
        ("1 + 2 * 3", "7"),
        ("(1 + 2) * 3", "9"),
        ("10 - 2 - 3", "5"),
        ("100 / 10 / 5", "2"),
        ("2 ^ 3 ^ 2", "512"),
        ("-3 ^ 2", "-9"),
        ("(-3) ^ 2", "9"),
        ("2 * -3", "-6"),
        ("2 - -3", "5"),
        ("- 3 + 5", "2"),
        ("let f x = x - 1 in f 5", "4"),
        ("let f = 5 in let x = 2 in f -x", "3"),
        ("let f x = x * 2 in f 3 + 1", "7"),
        ("true || false && false", "true"),
        ("(true || false) && false", "false"),
        ("not true || true", "true"),
        ("1 + 1 == 2 && 3 < 4", "true"),
        ("1 < 2", "true"),
        ("2 <= 2", "true"),
        ("3 > 4", "false"),
        ("4 >= 5", "false"),
        ("1 != 2", "true"),
        ("\"a\" ++ \"b\" ++ \"c\"", "\"abc\""),
        ("\"a\" < \"b\"", "true"),
        ("(1, \"x\", [true]) == (1, \"x\", [true])", "true"),
        ("(0.0 / 0.0) == (0.0 / 0.0)", "false"),
        ("(+) 1 2", "3"),
        ("fold (*) 1 [2, 3, 4]", "24"),
        ("3 |> (\\x -> x + 1) |> (\\x -> x * 2)", "8"),
        ("(sin >> cos) 0.0", "1.0"),
        ("[3, 1] |> sum", "4"),
        ("2.0 * 3 ^ 2", "18.0"),
        ("7 % 4 * 2", "6"),
    ]);
    refuses(&[("1 < 2 < 3", "chained"), ("1 == 1 == true", "chained")]);
}

#[test]
fn logic_does_not_evaluate_what_it_does_not_need() {
    prints(&[
        ("false && fail \"evaluated\"", "false"),
        ("true || fail \"evaluated\"", "true"),
        ("if true then 1 else fail \"evaluated\"", "1"),
        ("match 1 with | 1 -> 2 | _ -> fail \"evaluated\"", "2"),
    ]);
    refuses(&[("true && fail \"evaluated\"", "evaluated"), ("let x = fail \"strict\" in 1", "strict")]);
}

#[test]
fn functions_tuples_records_and_matches() {
    prints(&[
        ("(\\x y -> x - y) 5 3", "2"),
        ("(\\(x, y) -> x - y) (5, 3)", "2"),
        ("(\\{x, y} -> x - y) {x = 5, y = 3, z = 0}", "2"),
        ("let add3 a b c = a + b + c in (add3 1 2) 3", "6"),
        ("let r = {x = 1.0, y = 2.0} in r.x + r.y", "3.0"),
        ("{{x = 1.0, y = 2.0} with x = 3.0}", "{x = 3.0, y = 2.0}"),
        ("let r = {x = 1, y = 2} in {r with x = 10, y = 20}", "{x = 10, y = 20}"),
        ("let getx = \\r -> r.x in (getx {x = 1}, getx {y = 2, x = \"a\"})", "(1, \"a\")"),
        ("let rec fact n = if n == 0 then 1 else n * fact (n - 1) in fact 10", "3628800"),
        (
            "let rec even n = if n == 0 then true else odd (n - 1) and odd n = if n == 0 then false else even (n - 1) in even 101",
            "false",
        ),
        ("let (a, (b, c)) = (1, (2, 3)) in a + b + c", "6"),
        ("match (1, [2]) with | (0, _) -> \"zero\" | (n, xs) -> show (n, xs)", "\"(1, [2])\""),
        ("match \"b\" with | \"a\" -> 1 | \"b\" -> 2 | _ -> 3", "2"),
        ("match -1 with | -1 -> true | _ -> false", "true"),
        ("match (1, 2) with | (x, _) as p -> (x, p)", "(1, (1, 2))"),
        ("let a = 1 let b = 2 in a + b", "3"),
        ("let x = 1 in let x = 2 in x", "2"),
        ("let sin = 3 in sin + 1", "4"),
        ("let id x = x in (id 1, id true, id sin 0.0)", "(1, true, 0.0)"),
    ]);
    refuses(&[
        ("if 1 then 2 else 3", "Bool"),
        ("if true then 1 else \"a\"", "String"),
        ("{x = 1}.y", "y"),
        ("(1, 2, 3) == (1, 2)", "left side"),
        ("sin \"a\"", "Real"),
        ("let f x y = x + y in f 1 2 3", "argument"),
        ("sine 1.0", "sin"),
        ("match 1 with | 1 -> 2", "_"),
        ("\\x -> x x", "infinite"),
        ("1 +", "expression"),
        ("(1, 2", ")"),
        ("\"abc", "\""),
    ]);
}

#[test]
fn definitions_may_refer_to_each_other_in_any_order_and_shadow() {
    let definitions = "
def even n = if n == 0 then true else odd (n - 1)
def max a = a + 100
def odd n = if n == 0 then false else even (n - 1)
def twice f x = f (f x)
type Tree a = Leaf | Node (Tree a) a (Tree a)
type Maybe a = None | Some a
def insert x t = match t with | Leaf -> Node Leaf x Leaf | Node l y r -> if x < y then Node (insert x l) y r else Node l y (insert x r)
def total t = match t with | Leaf -> 0 | Node l x r -> total l + x + total r
def unwrap d m = match m with | Some (Some x) -> x | _ -> d
alias Point = {x : Real, y : Real}
def norm1 (p : Point) : Real = abs p.x + abs p.y
";
    prints_with(
        definitions,
        &[
            ("even 10", "true"),
            ("max 1", "101"),
            ("let max = 3 in max", "3"),
            ("twice (twice (\\x -> x * 2)) 1", "16"),
            ("total (insert 3 (insert 1 (insert 2 Leaf)))", "6"),
            ("insert 1.5 Leaf", "Node Leaf 1.5 Leaf"),
            ("unwrap 0 (Some (Some 5))", "5"),
            ("unwrap 0 (Some None)", "0"),
            ("norm1 {x = -1, y = 2}", "3.0"),
            ("grad norm1 {x = -1, y = 2}", "{x = -1.0, y = 1.0}"),
            ("grad total (insert 3.0 (insert 1.0 Leaf))", "Node Leaf 1.0 (Node Leaf 1.0 Leaf)"),
        ],
    );
    refuses_with(definitions, &[("total (Some 1)", "Tree"), ("match Leaf with | Leaf -> 1", "Node")]);
}

#[test]
fn arrays_and_loops() {
    prints(&[
        ("[1.0, 2.0][1]", "2.0"),
        ("let xs = [10, 20, 30] in xs[2] - xs[0]", "20"),
        ("let m = [[1, 2], [3, 4]] in (m[1, 0], m[0][1])", "(3, 2)"),
        ("length [1, 2, 3]", "3"),
        ("length []", "0"),
        ("build 4 (\\i -> i * i)", "[0, 1, 4, 9]"),
        ("build 0 (\\i -> i)", "[]"),
        ("iota 4", "[0, 1, 2, 3]"),
        ("map (\\x -> 2 * x) [1, 2]", "[2, 4]"),
        ("map2 (\\x y -> x - y) [5, 6] [1, 3]", "[4, 3]"),
        ("zip [1, 2] [\"a\", \"b\"]", "[(1, \"a\"), (2, \"b\")]"),
        ("unzip [(1, true), (2, false)]", "([1, 2], [true, false])"),
        ("fold (\\a x -> a - x) 10 [1, 2, 3]", "4"),
        ("fold (\\a x -> a ++ show x) \"\" [1, 2, 3]", "\"123\""),
        ("scan (+) 0 [1, 2, 3]", "[1, 3, 6]"),
        ("scan (\\a x -> 2 * a + x) 1 [1, 1]", "[3, 7]"),
        ("scan (+) 0 []", "[]"),
        ("reduce max 0 [3, 7, 2]", "7"),
        ("sum [1.5, 2.5]", "4.0"),
        ("sum []", "0"),
        ("product [2, 3, 4]", "24"),
        ("maximum [3.0, 9.0, 2.0]", "9.0"),
        ("transpose [[1, 2, 3], [4, 5, 6]]", "[[1, 4], [2, 5], [3, 6]]"),
        ("dot [1, 2, 3] [4, 5, 6]", "32"),
        ("matvec [[1, 2], [3, 4]] [1, 1]", "[3, 7]"),
        ("matmul [[1, 2], [3, 4]] [[0, 1], [1, 0]]", "[[2, 1], [4, 3]]"),
        ("concat [1] [2, 3]", "[1, 2, 3]"),
        ("slice [0, 1, 2, 3, 4] 1 3", "[1, 2]"),
        ("iterate 3 (\\x -> 2 * x) 1", "8"),
        ("iterate 0 (\\x -> 2 * x) 1", "1"),
        ("while_loop (\\x -> x < 100) (\\x -> 2 * x) 1", "128"),
        ("sum [1.0]", "1.0"),
        ("let f xs = sum xs in f [1, 2]", "3"),
        ("[sin, cos][1] 0.0", "1.0"),
        ("map length [[1], [2]]", "[1, 1]"),
    ]);
    refuses(&[
        ("[1, 2][2]", "2"),
        ("[1, 2][-1]", "-1"),
        ("let xs = [1, 2] in xs[5]", "5"),
        ("maximum []", "empty"),
        ("[1, \"a\"]", "String"),
        ("map2 (+) [1, 2] [1, 2, 3]", "3"),
        ("matmul [[1, 2]] [[1, 2]]", "2"),
        ("dot [1.0] [1.0, 2.0]", "2"),
        ("([1.0, 2.0] : [3]Real)", "3"),
        ("slice [1, 2] 1 5", "5"),
        ("build (-1) (\\i -> i)", "-1"),
        ("let n = length [1] - 2 in iota n", "-1"),
    ]);
}

#[test]
fn named_sizes_are_checked_before_running_or_while_running() {
    let definitions = "
def weighted (ws : [n]Real) (xs : [n]Real) : Real = sum (map2 (\\w x -> w * x) ws xs)
def same (xs : [n]a) (ys : [n]a) : [n]a = xs
def pairs (m : [n][2]Real) : [n]Real = map (\\p -> p[0] + p[1]) m
def keep (xs : [n]Real) : []Real = filter (\\x -> x > 0) xs
def first3 (xs : [3]Real) : Real = xs[0]
";
    prints_with(
        definitions,
        &[
            ("weighted [1, 2] [3, 4]", "11.0"),
            ("same [1] [2]", "[1]"),
            ("pairs [[1, 2], [3, 4], [5, 6]]", "[3.0, 7.0, 11.0]"),
            ("weighted [1] (keep [1, -1])", "1.0"),
            ("grad (weighted [1, 2]) [3, 4]", "[1.0, 2.0]"),
            ("first3 (build 3 real)", "0.0"),
        ],
    );
    refuses_with(
        definitions,
        &[
            ("weighted [1, 2] [3, 4, 5]", "3"),
            ("same [1] [2, 3]", "2"),
            ("pairs [[1, 2, 3]]", "3"),
            ("weighted [1, 2] (keep [1, -1])", "1"),
            ("first3 [1, 2]", "2"),
            ("first3 (keep [1, 2])", "3"),
        ],
    );
}

#[test]
fn real_functions_have_their_values() {
    let cases: &[(&str, f64)] = &[
        ("exp 1", std::f64::consts::E),
        ("log 10", 10f64.ln()),
        ("sqrt 2", 2f64.sqrt()),
        ("sin 1", 1f64.sin()),
        ("cos 1", 1f64.cos()),
        ("tan 1", 1f64.tan()),
        ("asin 0.5", 0.5f64.asin()),
        ("acos 0.5", 0.5f64.acos()),
        ("atan 2", 2f64.atan()),
        ("atan2 1 (-2)", 1f64.atan2(-2.0)),
        ("sinh 1", 1f64.sinh()),
        ("cosh 1", 1f64.cosh()),
        ("tanh 1", 1f64.tanh()),
        ("abs (-3.5)", 3.5),
        ("min 1.5 2", 1.5),
        ("max 1.5 2", 2.0),
        ("lgamma 5", 24f64.ln()),
        ("gamma 5", 24.0),
        ("erf 0.5", 0.520_499_877_813_046_5),
        ("erfc 0.5", 0.479_500_122_186_953_5),
        ("relu (-2)", 0.0),
        ("relu 2", 2.0),
        ("sigmoid 1", 1.0 / (1.0 + (-1f64).exp())),
        ("softplus 1", (1.0 + 1f64.exp()).ln()),
        ("pi", std::f64::consts::PI),
        ("2 ** 0.5", 2f64.sqrt()),
        ("log1p 1e-10", 1e-10f64.ln_1p()),
        ("expm1 1e-10", 1e-10f64.exp_m1()),
        ("asinh 1", 1f64.asinh()),
        ("acosh 2", 2f64.acosh()),
        ("atanh 0.5", 0.5f64.atanh()),
        ("hypot 3 4", 5.0),
        ("digamma 1", -0.577_215_664_901_532_9),
        ("polygamma 1 1", std::f64::consts::PI.powi(2) / 6.0),
        ("cbrt 27", 3.0),
        ("log2 8", 3.0),
        ("log10 1000", 3.0),
    ];
    prints_about(&cases.iter().map(|(e, x)| (*e, format!("{x:?}"))).collect::<Vec<_>>());
}

#[test]
fn unicode_spellings_mean_the_same() {
    prints(&[
        ("(λx → x × 2) 3", "6"),
        ("∇ (λx → x ^ 3) 2.0", "12.0"),
        ("∂ sin 0.0", "1.0"),
        ("π == pi", "true"),
        ("1 ≤ 2 ∧ ¬ (2 ≠ 2)", "true"),
        ("2 ≥ 3 ∨ false", "false"),
        ("apply_dual (Ω (λx → x × x) (λ_ → to_dual 1.0) 3.0) 1.0", "6.0"),
        ("⊕ (1.0, 2.0) (3.0, 4.0)", "(4.0, 6.0)"),
        ("⊗ 2.0 [1.0]", "[2.0]"),
        ("⊙ [1.0, 2.0] [3.0, 4.0]", "11.0"),
        ("((1.0, 2.0) : Real × Real)", "(1.0, 2.0)"),
        ("match 1 with | x → x", "1"),
        ("let ℓ = 2 in ℓ + 1", "3"),
        ("let θ = 2.0 in θ ^ 2", "4.0"),
    ]);
}
