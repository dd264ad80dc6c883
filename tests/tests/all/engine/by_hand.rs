//! Expressions with every primitive, every kind of function value and every failure, and derivatives with functions in unusual places.

use super::oracle::{Verdict, agrees};

/// Definitions for the expressions below.
pub(super) const DEFINITIONS: &str = r#"
type List a = Nil | Cons a (List a)
type Tree = Leaf | Node Tree Real Tree
type Op = Plus | Apply (Real -> Real) | Both Op Op
type Named = Named String Int | Anonymous

def rec_map f xs = match xs with | Nil -> Nil | Cons x rest -> Cons (f x) (rec_map f rest)
def from_to i n = if i >= n then Nil else Cons (real i) (from_to (i + 1) n)
def total xs = match xs with | Nil -> 0.0 | Cons x rest -> x + total rest
def grow n = if n == 0 then Leaf else Node (grow (n - 1)) (real n) (grow (n - 1))
def run op x = match op with | Plus -> x + 1.0 | Apply f -> f x | Both a b -> run b (run a x)
def even n = if n == 0 then true else odd (n - 1)
def odd n = if n == 0 then false else even (n - 1)
def twice f x = f (f x)
def adder n = let m = n + 1 in \x -> x + m
def add3 a b c = a + 10 * b + 100 * c
def church n = if n == 0 then \f x -> x else \f x -> f (church (n - 1) f x)
def pick b = if b then \x -> x + 1 else \x -> x * 2
def point = {x = 1.0, y = [2.0, 3.0]}
def upto n = build n (\i -> real i)
def sized (n : Int) (xs : [n]Real) : Real = sum xs
def square_of (xss : [n][n]Real) : Int = length xss
def three (xs : [3]Real) : Real = xs[2]
"#;

/// Expressions that use every primitive and every kind of function value, and fail in every way.
const BY_HAND: &[&str] = &[
    "(1 + 2, 3 - 4, 5 * 6, 7 / 2, -7 / 2, -(3), 2 ^ 10, abs (-3), sign (-2), min 3 2, max 3 2)",
    "(1.0 + 2.5, 3.0 - 4.5, 5.0 * 6.5, 7.0 / 2.0, -(3.5), 2.0 ^ 10, 2.0 ^ -2, abs (-3.5), sign (-2.5), min 3.5 2.5, max 3.5 2.5)",
    "let n = 3 in (2.0 ^ n, 2 ^ n, 2.0 ** 0.5)",
    "map (\\f -> f 0.7) [exp, expm1, log, log1p, log2, log10, sqrt, cbrt, sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, asinh, atanh]",
    "map (\\f -> f 1.3) [acosh, gamma, lgamma, digamma, erf, erfc, relu, sigmoid, softplus, abs, sign]",
    "(atan2 1.0 2.0, hypot 3.0 4.0, polygamma 0 1.5, polygamma 2 1.5, map (\\n -> polygamma n 2.0) [0, 1, 3])",
    "(floor 2.7, ceil 2.2, round 2.5, truncate (-2.7), real 3, is_nan (0.0 / 0.0))",
    "(7 % 3, -7 % 3, div (-7) 2, mod (-7) 2, bit_and 12 10, bit_or 12 10, bit_xor 12 10, shift_left 1 4, shift_right (-1) 60)",
    "(1 == 1, 1.0 == 2.0, \"a\" == \"a\", true == false, (1, \"x\") == (1, \"y\"), [1, 2] == [1, 2], [[1], [2]] == [[1], [3]], 0.0 / 0.0 == 0.0 / 0.0)",
    "(1 < 2, 1.5 <= 1.5, \"a\" < \"b\", 2 > 1, 2.0 >= 3.0, 1 != 2, [1] != [1], () == ())",
    "(Cons 1 (Cons 2 Nil) == Cons 1 (Cons 2 Nil), Cons 1 Nil == Nil, Nil == Cons 1 Nil, grow 3 == grow 3, grow 3 == grow 2)",
    "(not true, \"a\" ++ \"b\", string_length \"häh\", \"\" ++ \"\")",
    "(show 1, show (-1), show 1.5, show (-0.0), show true, show \"a\\n\\\"b\", show (1, 2.0, \"x\"), show (), show [1, 2], show [[1.0], [2.0]])",
    "(show (Cons (-1) (Cons 2 Nil)), show (Cons (-1.5) Nil), show (Cons (1, -2) Nil), show [Nil, Cons 1 Nil], show (Named \"a\" (-1)), show Anonymous, show (grow 2))",
    "(show (Cons (-0.0) Nil), show (Cons (0.0 / 0.0) Nil), show (Cons (-1.0 / 0.0) Nil), show [(), ()], show (to_dual 1.0), show [\"a\", \"b\"])",
    "(length [1, 2, 3], [1, 2, 3][1], [[1, 2], [3, 4]][1][0], [[1, 2], [3, 4]][1], [(1, 2.0), (3, 4.0)][1])",
    "(build 3 (\\i -> i * i), build 2 (\\i -> build 3 (\\j -> i * j)), build 0 (\\i -> i), iota 4, replicate 2 1.5, replicate 2 [1, 2], replicate 2 (1, \"a\"), replicate 3 ())",
    "(set [1, 2, 3] 1 9, set [[1, 2], [3, 4]] 0 [5, 6], set [(1, 2.0)] 0 (3, 4.0))",
    "(map (\\x -> x + 1) [1, 2], map (\\x -> (x, x + 1)) [1, 2], map (\\(x, y) -> x * y) [(1, 2), (3, 4)], map (\\_ -> ()) [1, 2], map (\\x -> [x, x]) [1, 2])",
    "(map2 (\\x y -> x + y) [1, 2] [3, 4], map2 (\\(a, b) c -> a + b + c) [(1, 2)] [3], zip [1, 2] [3.0, 4.0], unzip [(1, \"a\"), (2, \"b\")], zip [(), ()] [1, 2], unzip (zip [(), ()] [1, 2]))",
    "(fold (\\acc x -> acc + x) 0 [1, 2, 3], fold (\\(a, b) x -> (b, a + x)) (0, 1) [1, 2, 3], scan (\\a x -> a + x) 0 [1, 2, 3], scan (\\(a, b) x -> (b, a + x)) (0, 1) [1, 2], reduce (\\a b -> a * b) 1 [2, 3, 4], reduce (\\(a, b) (c, d) -> (a + c, b * d)) (0, 1) [(1, 2), (3, 4)])",
    "(filter (\\x -> x > 1) [1, 2, 3], filter (\\(x, _) -> x > 1) [(1, \"a\"), (2, \"b\")], filter (\\_ -> true) [(), ()])",
    "(sum [1, 2, 3], sum [1.5, 2.5], sum ([] : []Real), product [2, 3], product [1.5, 2.0], maximum [1, 3, 2], minimum [1.5, 0.5], argmax [1, 3, 3], argmin [2.0, 1.0, 1.0])",
    "(maximum [1.0, 0.0 / 0.0, 3.0], argmin [1.0, 0.0 / 0.0], sort [3.0, 0.0 / 0.0, 1.0])",
    "(transpose [[1, 2, 3], [4, 5, 6]], transpose [[(1, 2.0)], [(3, 4.0)]], dot [1.0, 2.0] [3.0, 4.0], dot [1, 2] [3, 4], matvec [[1, 2], [3, 4]] [5, 6], matmul [[1.0, 2.0]] [[3.0], [4.0]])",
    "(concat [1] [2, 3], concat [] [1], concat [(1, 2)] [(3, 4)], flatten [[1, 2], [3, 4]], flatten [[(1, 2)], [(3, 4)]], slice [1, 2, 3, 4] 1 3, reverse [1, 2, 3], gather [1, 2, 3] [2, 0], gather [(1, 2), (3, 4)] [1, 1])",
    "(scatter_add [1.0, 2.0] [0, 0] [3.0, 4.0], scatter_add [1, 2] [1] [5], sort [3, 1, 2], sort [\"b\", \"a\"], argsort [3.0, 1.0, 2.0], argsort [2, 1, 2])",
    "(iterate 3 (\\x -> x * 2) 1, iterate 0 (\\x -> x) 1, iterate 2 (\\(a, b) -> (b, a + b)) (0, 1), while_loop (\\x -> x < 100) (\\x -> x * 3) 1, while_loop (\\(a, b) -> a < b) (\\(a, b) -> (a + 2, b + 1)) (0, 5))",
    "(zero (1.5, 2, [3.0]), add (1.0, [2.0, 3.0]) (4.0, [5.0, 6.0]), scale 2.0 (1.0, [[2.0], [3.0]]), inner (1.0, [2.0, 3.0]) (4.0, [5.0, 6.0]), inner [1.0, 2.0] [3.0, 4.0], ravel ((1.0, 2), [[3.0, 4.0]]), unravel ((1.0, 2), [[3.0, 4.0]]) [5.0, 6.0, 7.0])",
    "(zero (grow 2), add (grow 2) (grow 2), scale 2.0 (grow 2), inner (grow 2) (grow 2), ravel (grow 2), unravel (grow 2) [1.0, 2.0, 3.0], norm (grow 2))",
    "(add [(1.0, 2)] [(3.0, 4)], ravel [(1.0, [2.0]), (3.0, [4.0])], unravel [(1.0, [2.0]), (3.0, [4.0])] [5.0, 6.0, 7.0, 8.0], inner [(1.0, [2.0])] [(3.0, [4.0])], scale 2.0 [grow 1], zero [[grow 1]], zero \"a\", ravel 3, unravel [grow 1, grow 2] [5.0, 6.0, 7.0, 8.0])",
    "(total (rec_map (\\x -> x * 2) (from_to 0 10)), rec_map show (from_to 0 3), even 10, odd 7, twice (twice (\\x -> x + 1)) 3, adder 1 2)",
    "(run (Both Plus (Both (Apply (\\x -> x * 2)) (Apply sin))) 1.0, map (add3 1 2) [3, 4], map (\\f -> f 1) [add3 1 2, \\x -> x, adder 5], fold (\\f g -> \\x -> g (f x)) (\\x -> x) [adder 1, pick true, pick false] 10)",
    "(church 3 (\\x -> x * 2) 1, church 2 (twice (adder 0)) 0, (pick true >> pick false) 5, [1, 2, 3] |> map (adder 1) |> sum)",
    "let fs = build 3 (\\i -> \\x -> x + real i) in (fs[2] 1.0, map (\\f -> f 0.5) fs, length fs)",
    "let f = if length [1] == 1 then sin else (\\x -> x) in (f 1.0, [f, cos][1] 0.0, twice f 1.0)",
    "let rec go n acc = if n == 0 then acc else go (n - 1) (acc + n) in (go 100 0, map (go 3) [1, 2])",
    "let rec walk f n = if n == 0 then f 0 else walk (\\x -> f (x + n)) (n - 1) in walk (\\x -> x * 2) 5",
    "let k = 3 in let rec f n = if n <= 0 then k else g (n - 1) and g n = f (n - k) + 1 in (f 10, g 10)",
    "(point.x, {point with x = 2.0}.y, let {x, y} = point in x + y[0], (\\{x} -> x) point)",
    "(apply_dual (to_dual [1.0, 2.0]) [3.0, 4.0], from_dual (to_dual (1.0, 2)), apply_dual (to_dual (1.0, [2.0])) (3.0, [4.0]))",
    "(stop_gradient (1.0, [2]), checkpoint (\\x -> x * 2) 4, custom_jvp sin (\\(x, t) -> (sin x, cos x * t)) 1.0, custom_vjp sin (\\x -> (sin x, \\t -> cos x * t)) 1.0)",
    "(linspace 0.0 1.0 5, mean [1.0, 2.0], clamp 0.0 1.0 2.0, curry (\\(a, b) -> a + b) 1 2, uncurry add3 (1, 2) 3, flip (\\a b -> a - b) 1 2, round_to 2 (1.23456, [2.34567]), norm_squared (3.0, 4.0))",
    "match (1, 2.5, \"x\") with | (0, _, _) -> 0.0 | (1, x, \"y\") -> x | (n, x, _) -> x + real n",
    "(match [1, 2] with | xs -> sum xs, match () with | () -> 3)",
    "let (a, b) = (1, (2, 3)) in let (c, d) = b in a + c * d",
    "build 3 (\\i -> build 2 (\\j -> (i, real j)))",
    "map (\\row -> sum row) (build 3 (\\i -> map (\\x -> x * i) (iota 4)))",
    "(upto 2)[2]",
    "(upto 2)[0 - 1]",
    "([] : []Int)[0]",
    "1 / 0",
    "5 % (1 - 1)",
    "div 3 0",
    "mod 3 (2 - 2)",
    "zip (upto 1) (upto 2)",
    "map2 (\\a b -> a) (upto 1) (upto 2)",
    "dot (upto 1) (upto 2)",
    "matvec [upto 2] (upto 1)",
    "matmul [upto 2] [upto 1]",
    "[upto 1, upto 2]",
    "map (\\n -> iota n) [1, 2]",
    "build 2 (\\n -> iota (n + 1))",
    "maximum ([] : []Int)",
    "argmin ([] : []Real)",
    "slice [1, 2, 3] 2 1",
    "slice [1, 2, 3] 0 4",
    "2 ^ (0 - 1)",
    "shift_left 1 64",
    "floor (0.0 / 0.0)",
    "round 1e30",
    "build (-1) (\\i -> i)",
    "iota (-1)",
    "replicate (-2) 1",
    "iterate (-1) (\\x -> x) 1",
    "(fail \"no\" : Int)",
    "if length [1] == 1 then (fail (\"a\" ++ \"b\") : Real) else 1.0",
    "gather [1] [1]",
    "scatter_add (upto 1) (iota 1) (upto 2)",
    "scatter_add [1.0] [1] [1.0]",
    "set [1] 1 2",
    "set [[1], [2]] 0 [1, 2]",
    "polygamma (0 - 1) 1.0",
    "add [1.0] [1.0, 2.0]",
    "add [[1.0]] [[1.0, 2.0]]",
    "add (grow 1) (grow 0)",
    "inner [1.0] [1.0, 2.0]",
    "inner (grow 1) (grow 2)",
    "unravel [1.0, 2.0] [1.0]",
    "unravel (grow 1) [1.0, 2.0]",
    "apply_dual (to_dual [1.0]) [1.0, 2.0]",
    "(let x = 1 / 0 in 5, (upto 1)[3])",
    "(\\x y -> (upto 1)[x]) (1 / 0) ((upto 1)[7])",
    "let f x = [1][x] in (f 5, 1 / 0)",
    "fold (\\acc x -> acc / x) 1 [1, 0, 2]",
    "map (\\x -> 1 / x) [1, 0]",
    "(show point, show [point], show {only = 1}, show (Cons {a = 1, b = Cons {c = -1} Nil} Nil), show ({x = 1}, [{y = ()}]), show (Named \"a\" 1, point))",
    "(three (upto 3), square_of (build 2 (\\i -> upto 2)), square_of ([] : [][]Real))",
    "three (upto 4)",
    "square_of (build 2 (\\i -> upto 3))",
];

#[test]
fn expressions_give_the_same() {
    let mut failed = Vec::new();
    let mut counts = [0, 0, 0];
    for expression in BY_HAND {
        match agrees(&format!("{DEFINITIONS}\ndef it = {expression}\n")) {
            Ok(Verdict::Refused) => {
                println!("refused: {expression}");
                counts[0] += 1;
            }
            Ok(Verdict::Lowered) => counts[1] += 1,
            Ok(Verdict::Agrees) => counts[2] += 1,
            Err(error) => failed.push(format!("{expression}\n  {error}")),
        }
    }
    println!("{counts:?}");
    assert!(failed.is_empty(), "{} fail\n{}", failed.len(), failed.join("\n"));
    assert_eq!(counts, [0, 0, BY_HAND.len()], "all are evaluated");
}

/// Expressions about derivatives with functions in unusual places.
const HIGHER_ORDER: &[&str] = &[
    "jvp (\\g -> g (g 1.0)) (sin, cos)",
    "snd (jvp (\\(g, x) -> g x) ((sin, 2.0), (cos, 3.0)))",
    "let (y, map) = linearize (\\g -> g 2.0) sin in (y, map cos)",
    "let (g, map) = linearize (\\x -> \\y -> x * y) 2.0 in (g 3.0, map 1.0 4.0)",
    "apply_dual (pullback (\\g -> g 2.0) to_dual sin) cos",
    "from_dual (pullback (\\x -> \\y -> x * y) (\\g -> pullback (\\k -> k 2.0) to_dual g) 3.0)",
    "from_dual (pullback (\\(x, y) -> x * y) to_dual (2.0, 3.0))",
    "snd (jvp (\\x -> Cons x (Cons (x * x) Nil)) (1.0, 1.0))",
    "map (\\f -> grad f 1.0) [sin, cos, \\x -> x * x]",
    "map (\\d -> d sin 1.0) [grad, derivative, \\f x -> f x]",
    "(id grad) sin 1.0",
    "let (y, back) = vjp (\\xs -> total xs) (from_to 0 4) in (y, back 1.0)",
    "let backs = map (\\x -> snd (vjp sin x)) [1.0, 2.0] in map (\\back -> back 1.0) backs",
    "(taylor 3 sin 0.5, taylor 2 (if even 2 then sin else cos) 0.5, map (\\f -> taylor 2 f 1.0) [sin, cos])",
    "grad (\\x -> checkpoint (if x > 0.0 then sin else cos) x) 1.0",
    "grad (\\a -> custom_jvp (\\x -> a * x) (\\(x, t) -> (a * x, a * t)) a) 2.0",
    "let rules = [\\x -> (sin x, \\t -> cos x * t), \\x -> (cos x, \\t -> -sin x * t)] in map (\\rule -> grad (custom_vjp sin rule) 1.0) rules",
    "grad (\\x -> run (Both (Apply (\\y -> x * y)) (Apply sin)) x) 2.0",
    "snd (jvp (\\op -> run op 2.0) (Apply sin, Apply cos))",
    "derivative (\\x -> derivative (\\y -> x * y) x) 2.0",
    "grad (\\x -> sum (map (\\f -> f x) (build 3 (\\i -> \\y -> y ^ i)))) 2.0",
    "hessian (\\xs -> sum (map (\\x -> x * x * x) xs)) [1.0, 2.0]",
    "grad (\\x -> church 3 (\\y -> x * y) x) 2.0",
    "(jacfwd (map sin) [1.0, 2.0], jacrev (map sin) [1.0, 2.0], hvp (\\x -> inner x x) [1.0] [2.0], grad_fwd norm (1.0, [2.0]))",
    "let g = snd (jvp (\\x -> \\y -> x * x * y) (3.0, 1.0)) in derivative g 2.0",
    "grad (\\t -> norm_squared (add t (scale 2.0 (zero t)))) (grow 2)",
    "grad (\\x -> stop_gradient (x * x) * x) 2.0",
];

#[test]
fn derivatives_with_functions_everywhere_are_lowered() {
    let mut failed = Vec::new();
    for expression in HIGHER_ORDER {
        match agrees(&format!("{DEFINITIONS}\ndef it = {expression}\n")) {
            Ok(Verdict::Refused) => failed.push(format!("{expression}\n  the checker refuses it")),
            Ok(Verdict::Lowered | Verdict::Agrees) => {}
            Err(error) => failed.push(format!("{expression}\n  {error}")),
        }
    }
    assert!(failed.is_empty(), "{} fail\n{}", failed.len(), failed.join("\n"));
}
