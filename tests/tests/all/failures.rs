//! Programs that fail: every engine says the same at the same place, in primal code, in derivatives, in rules of the user's own, in
//! loops that are divided between threads, and a hundred thousand calls deep.

use std::path::Path;
use wengert_driver::scope::Scope;
use wengert_driver::{Engine, Options, Session, show};
use wengert_tests::parallel;
use wengert_tests::property::complaints;

/// Functions that give arrays of any size.
const GROW: &str = "type List = Nil | Cons Real List\n\
    type Box = Box []Real\n\
    def grow n = let rec f n = if n == 0 then [] else concat (f (n - 1)) [1.0] in f n\n\
    def flat l = let rec f l = match l with | Nil -> [] | Cons x r -> concat [x] (f r) in f l";

/// Definitions, and an expression.
const PROGRAMS: &[(&str, &str)] = &[
    // Rows of different sizes, of which only rows are used, or nothing: from recursion, data, what is carried, branches.
    (GROW, "sum (map sum (map grow (iota 4)))"),
    (GROW, "length (map grow (iota 4))"),
    (GROW, "grad (\\x -> sum (map (\\r -> x * sum r) (map grow (iota 4)))) 2.0"),
    (GROW, "sum (map sum (map flat [Nil, Cons 1.0 Nil]))"),
    (GROW, "sum (map sum (map (\\(Box r) -> r) [Box [1.0], Box [1.0, 2.0]]))"),
    (GROW, "grad (\\x -> sum (map sum (map (\\(Box r) -> scale x r) [Box [1.0], Box [1.0, 2.0]]))) 2.0"),
    ("", "sum (map sum (scan (\\acc i -> concat acc [1.0]) [] (iota 4)))"),
    (
        "",
        "snd (fold (\\(acc, t) i -> (concat acc [1.0], t + sum (map sum (map (\\j -> if j == 0 then acc else [1.0]) (iota 2))))) \
            ([1.0], 0.0) (iota 3))",
    ),
    ("", "sum (map sum (map iota [1, 1, 2]))"),
    ("", "sum (map (\\m -> sum (map sum m)) (map (\\i -> map (\\j -> iota i) (iota 2)) [1, 1, 2]))"),
    ("", "grad (\\xs -> sum (map sum (map (\\i -> filter (\\x -> x > real i) xs) (iota 2)))) [0.5, 1.5]"),
    // What is looked for first fails first, also where functions are computed in a loop of their own.
    (
        "def f (xs : [n]Real, ys : [n]Real, ks : []Int) = sum (map (\\k -> xs[k] * real (7 / k) * exp ys[k]) ks)",
        "grad (\\xs -> f (xs, [0.1, 0.2, 0.3], [1, 0, 1, 5, 1, 1, 1, 1])) [1.0, 2.0, 3.0]",
    ),
    (
        "def f (xs : []Real, ys : []Real, ks : []Int) = build (length xs) (\\i -> let b = real (7 / ks[i])\n  \
            let t = sum (map2 (\\x y -> x * y * b) xs ys) in t * exp ys[i])",
        "f ([1.0, 2.0, 3.0], [0.1, 0.2], [1, 0, 1, 5, 1, 1, 1, 1])",
    ),
    // Fields of records are computed in the order in which they are written.
    ("", "{b = fail \"b\", a = fail \"a\"}.a"),
    ("", "{{a = 1, b = 2} with b = fail \"b\", a = fail \"a\"}"),
    ("", "(\\p -> {c = 1, b = 1 / p, a = [1][p + 3]}) 0"),
    ("", "(\\p -> {{b = 1, a = [1][p]} with b = 3 % p, a = [1][p + 3]}) 0"),
    (
        "",
        "grad (\\x -> let r = {z = sqrt x * [1.0][floor x], a = x * real (1 / (1 - floor x))} in r.a * r.z) 1.0",
    ),
    // The function comes before its rule.
    (
        "",
        "derivative (custom_jvp (\\y -> if y > 1.0 then fail \"function\" else y) (\\(y, t) -> (y, fail \"rule\"))) 2.0",
    ),
    (
        "",
        "grad (custom_jvp (\\y -> if y > 1.0 then fail \"function\" else y) (\\(y, t) -> (fail \"rule\", t))) 2.0",
    ),
    ("", "grad (custom_vjp (\\y -> if y > 1.0 then fail \"function\" else y) (\\y -> fail \"rule\")) 2.0"),
    (
        "def r (k : Int) (x : Real) = custom_vjp (\\a -> a) (\\a -> (a, \\w -> fail (\"rule \" ++ show k))) x",
        "grad (\\x -> sum (build 3 (\\i -> r i x))) 1.0",
    ),
    ("", "grad (checkpoint (\\x -> let xs = [x, x * x] in xs[truncate x])) 2.5"),
    ("", "let fs = [\\x -> x * 2.0, \\x -> fail \"second\"] in grad (\\x -> sum (map (\\f -> f x) fs)) 2.0"),
    ("", "let (y, b) = vjp (\\(a : []Real) -> map sin a) [1.0, 2.0] in b [1.0]"),
    ("def f n x = if n == 0 then [x][n + 1] else sin (f (n - 1) (x * 0.5) + x)", "f 1000000 0.5"),
    ("def f n x = if n == 0 then [x][n + 1] else sin (f (n - 1) (x * 0.5) + x)", "grad (f 100000) 0.5"),
    ("", "fold (\\s i -> s + div 10 (4000 - i)) 0 (iota 5000)"),
    ("", "grad (\\x -> maximum (filter (\\y -> y > 5.0) [x, 2.0 * x])) 1.0"),
    ("", "while_loop (\\(n, x) -> 10 / (5 - n) > 0) (\\(n, x) -> (n + 1, x * 2.0)) (0, 1.0)"),
    ("", "grad (\\(v : []Real) -> norm_squared (gather v [0, -1])) [1.0, 2.0, 3.0]"),
    ("", "hessian (\\(v : []Real) -> fold (\\s i -> s * v[i] + v[i + 1]) 1.0 (iota 3)) [1.0, 2.0, 3.0]"),
    (
        "def f (x : Real) = custom_vjp (\\a -> a * 2.0) (\\a -> (a * 2.0, \\w -> let ys = [w, w] in ys[truncate a])) x",
        "grad (\\x -> f x * x) 7.0",
    ),
    (
        "def f (xs : []Real) i = sum (build 5 (\\k -> xs[k + i] * xs[k]))",
        "grad (\\xs -> f xs 3) [1.0,2.0,3.0,4.0,5.0]",
    ),
    (
        "",
        "grad (\\(a : [][]Real) -> sum (build 2 (\\i -> a[i][2 - i] * a[2 - i][i]))) [[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]",
    ),
    ("", "sum (map (\\i -> real (1000 / (i - 777))) (iota 5000))"),
    ("", "jacrev (\\(v : []Real) -> build 2 (\\i -> v[i] * v[i + 1])) [1.0, 2.0]"),
    (
        "def g n = match n with | 0 -> 1.0 | 1 -> 2.0 | _ -> fail (\"bad \" ++ show n)",
        "sum (map (\\n -> g (n % 3)) (iota 10000))",
    ),
    (
        "type L = Nil | Cons Real L\n\
            def hd xs = match xs with | Cons x _ -> x | Nil -> fail \"empty list\"\n\
            def mk n = if n == 0 then Nil else Cons (real n) (mk (n - 1))",
        "grad (\\(xs : []Real) -> sum (map (\\x -> x * hd (mk (if x > 3998.5 then 0 else 2))) xs)) (build 4000 (\\i -> real i))",
    ),
    ("", "grad (\\(a : [][]Real) -> sum (flatten (matmul a [[1.0, 2.0]]))) [[1.0, 2.0], [3.0, 4.0]]"),
    ("", "sum (map (\\i -> real (i % (i - 4999))) (iota 5000))"),
    ("", "scan (\\s n -> s + sum (build (3 - n) (\\i -> real i))) 0.0 (iota 6)"),
    ("", "grad (\\x -> fold (\\s n -> s + sum (build (3 - n) (\\i -> x * real i))) 0.0 (iota 6)) 2.0"),
    ("", "derivative (\\x -> sum (replicate (truncate x - 5) x)) 2.0"),
    ("", "grad (grad (\\x -> let xs = build 3 (\\i -> x * real i) in xs[1] * xs[truncate x] * x)) 3.5"),
    (
        "def f i = if i == 2500 then fail \"a\" else i\n\
            def g i = if i == 1200 then fail \"b\" else 1.0",
        "sum (map g (map f (iota 3000)))",
    ),
    ("", "(fail \"first\", [1][2], 1 / 0)"),
    (
        "def f i = if i == 2500 then fail \"a\" else 1.0\n\
            def g i = if i == 1200 then fail \"b\" else 1.0",
        "let a = map f (iota 3000) in let b = map g (iota 3000) in sum a + sum b",
    ),
    (
        "",
        "sum (map (\\i -> if i == 99999 then fail \"late\" else if i == 5 then real ([1, 2][i]) else 1.0) (iota 100000))",
    ),
    ("", "grad (polygamma (0 - 1)) 2.0"),
    ("", "sum (map (\\i -> real (2 ^ (3 - i))) (iota 8))"),
    ("", "build 4 (\\i -> build i (\\j -> real j))"),
    (
        "",
        "grad (\\x -> sum (flatten (build 4 (\\i -> build (if i == 2 then 1 else 2) (\\j -> x * real j))))) 2.0",
    ),
    (
        "type T = Leaf | Node T Real T\n\
            def mk n = if n == 0 then Leaf else Node (mk (n - 1)) (real n) (mk (n - 1))\n\
            def w t = match t with | Leaf -> 1.0 | Node l v r -> if v > 2.5 && v < 3.5 then w l * v else w l * w r * v + fail \"no\"",
        "grad (\\s -> w (mk 4) * s) 2.0",
    ),
    ("", "grad (\\(v : []Real) -> norm_squared (reshape 2 2 v)) [1.0, 2.0, 3.0]"),
    ("", "sum (map (\\x -> real (floor (sqrt (500.0 - x)))) (map (\\i -> real i) (iota 1000)))"),
    ("", "grad (\\(v : []Real) -> sum (scatter_add [1.0, 2.0] [0, 1, 2] v)) [1.0, 2.0, 3.0]"),
    ("", "grad (\\x -> sum (fold (\\a i -> set a i (x * a[i])) [1.0, 2.0, 3.0] (iota 4))) 2.0"),
    ("", "grad (\\(v : []Real) -> norm_squared (slice 1 5 v)) [1.0, 2.0, 3.0]"),
    ("", "substring 2 9 \"hello\""),
    ("", "let s = show 3 ++ \"x\" in fail s"),
    ("", "jvp (\\(a : []Real) -> sum a) ([1.0, 2.0], [1.0])"),
    ("", "taylor (0 - 1) sin 2.0"),
    ("", "transpose (build 3 (\\i -> build (i % 2 + 1) (\\j -> real j)))"),
    (
        "def f n x = if n == 0 then (if x > 0.9 then fail \"leaf\" else x) else sin (f (n - 1) (x * 0.5)) * f (n - 1) (x * 1.1)",
        "grad (f 8) 0.5",
    ),
    ("", "map (\\x -> truncate (x * 1e300)) [1.0, 2.0]"),
    (
        "",
        "grad (\\y -> snd (while_loop (\\(n, x) -> 10 / (5 - n) > 0) (\\(n, x) -> (n + 1, x * y)) (0, 1.0))) 1.1",
    ),
    (
        "",
        "(matmul (build 0 (\\i -> [1.0])) [[2.0]], transpose (build 0 (\\i -> [1.0])), sum (build 0 (\\i -> 1.0)), minimum (build 0 (\\i -> 1.0)))",
    ),
    ("", "grad (\\(a : []Real) -> dot a (build 3 (\\i -> real i))) [1.0, 2.0]"),
    // Of `a[i][j]` it is `a[i]` that is to blame if `i` is out of range.
    ("", "(\\(a : [][]Real) i j -> a[i][j]) [[1.0, 2.0]] 1 0"),
    ("", "(\\(a : [][]Real) i j -> a[i][j]) [[1.0, 2.0]] 0 2"),
    ("", "(\\(a : [][]Real) i j -> a[i][j]) [[1.0, 2.0]] 3 2"),
    ("", "(\\(a : [][][]Real) i j k -> a[i][j][k] + a[k][j][i]) [[[1.0], [2.0]]] 0 2 0"),
    ("", "(\\(a : [][][]Real) i j k -> a[i][j][k] + a[k][j][i]) [[[1.0], [2.0]]] 0 1 1"),
    ("", "(\\(a : [][][]Real) i j k -> sum (a[i][j]) + a[k][j][i]) [[[1.0], [2.0]]] 0 1 1"),
    ("", "sum (map (\\i -> let a = [[1.0, 2.0], [3.0, 4.0]] in a[i][1] * a[1][i]) (iota 3))"),
    (
        "",
        "(\\(a : [][]Real) -> sum (build 2 (\\i -> sum (build 3 (\\j -> a[i][j]))))) [[1.0, 2.0], [3.0, 4.0]]",
    ),
    (
        "",
        "(\\(a : [][]Real) -> sum (build 3 (\\i -> sum (build 2 (\\j -> a[i][j]))))) [[1.0, 2.0], [3.0, 4.0]]",
    ),
    (
        "",
        "(\\(a : [][]Real) -> sum (build 3 (\\i -> sum (build 3 (\\j -> a[j][i]))))) [[1.0, 2.0, 3.0], [3.0, 4.0, 5.0]]",
    ),
    (
        "",
        "(\\(a : [][][]Real) -> sum (build 2 (\\i -> sum (build 2 (\\j -> a[i][j][i]))))) [[[1.0, 2.0]], [[3.0, 4.0]]]",
    ),
    ("", "grad (\\(a : [][]Real) -> fold (\\s i -> s * a[i + 1][i]) 1.0 (iota 2)) [[1.0, 2.0], [3.0, 4.0]]"),
    ("", "grad (\\(a : [][]Real) -> fold (\\s i -> s * a[i][i + 1]) 1.0 (iota 2)) [[1.0, 2.0], [3.0, 4.0]]"),
    ("", "derivative (\\x -> let a = [[x, x * x]] in a[truncate x][0]) 2.0"),
    ("", "(\\(a : [](Real, []Real)) i j -> let (x, v) = a[i] in v[j] + x) [(1.0, [2.0])] 0 1"),
    ("", "(\\(a : [][](Real, Int)) i j -> let (x, n) = a[i][j] in x + real n) [[(1.0, 2)]] 2 1"),
    (
        "def at (a : [][]Real) i j = a[i][j]\ndef mine (a : [][]Real) i = sum (map (\\j -> at a i j + a[j][i]) (iota 2))",
        "mine [[1.0, 2.0]] 0",
    ),
    (
        "def at (a : [][]Real) i j = a[i][j]\ndef mine (a : [][]Real) i = sum (map (\\j -> a[j][i] + at a i j) (iota 2))",
        "grad (\\a -> mine a 0) [[1.0, 2.0]]",
    ),
];

/// How it ends: the value, or for each error its words and where the expression stands that is at fault.
fn end(definitions: &str, expression: &str, options: &Options) -> (bool, String) {
    let mut session = Session::new();
    let report = session.check_text("failures.wg", definitions, Path::new("."));
    assert!(!report.has_errors(), "{}", complaints(&report.diagnostics));
    let scope = Scope::of_file(&report.modules);
    match session.eval_in(&scope, "expression.wg", expression, options) {
        Ok(evaluated) => (true, show(&evaluated.value)),
        Err(errors) => {
            let places = errors.iter().map(|error| error.primary.span);
            let places: Vec<String> =
                places.map(|span| format!("{:?} {}..{}", span.source, span.start, span.end)).collect();
            (false, format!("{} at {}", complaints(&errors), places.join(", ")))
        }
    }
}

#[test]
fn what_fails_fails_in_the_same_words_at_the_same_place() {
    let by = |engine, strict, threads| Options { engine, strict, threads, ..Options::default() };
    let mut ways = vec![
        by(Engine::Ir, true, 1),
        by(Engine::Native, true, 1),
        by(Engine::Native, false, 1),
        by(Engine::Native, false, 4),
    ];
    ways.extend(Engine::C.require().is_ok().then(|| by(Engine::C, false, 1)));
    parallel::check_all("programs", PROGRAMS, |(definitions, expression)| {
        let (ends, expected) = end(definitions, expression, &Options::default());
        if ends {
            return Err(format!("{expression} gives {expected}"));
        }
        let differ = |way: &Options| {
            let (_, found) = end(definitions, expression, way);
            let name = way.engine.name();
            (found != expected).then(|| format!("{expression}\n{name}: {found}\ninstead of\n{expected}"))
        };
        ways.iter().find_map(differ).map_or(Ok(()), Err)
    });
}
