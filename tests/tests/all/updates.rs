//! Derivatives of algorithms that update arrays: every engine gives what the interpreter gives, wherever an update or a read fails, and
//! in a time that does not depend on how large the array is.

use std::time::{Duration, Instant};
use wengert_driver::{Engine, Options};
use wengert_tests::property::complaints;
use wengert_tests::{everywhere, parallel};

const DEFINITIONS: &str = "\
import linalg
def numbers k n = build n (\\i -> sin (real (k * i + 1)) + 0.1)
def matrix n m = build n (\\i -> build m (\\j -> cos (real (3 * i + 5 * j + 1)) + (if i == j then 4.0 else 0.0)))
def weigh xs = sum (map2 (\\i x -> (1.5 + sin (real i)) * x) (iota (length xs)) xs)
def exchange xs i j = set (set xs i xs[j]) j xs[i]
def turned xs = let n = length xs in fold (\\xs i -> exchange xs i ((i * 7 + 3) % n)) xs (iota n)
def sorted xs = let n = length xs in
  let pass xs k = fold (\\xs j -> if xs[j] > xs[j + 1] then exchange xs j (j + 1) else xs) xs (iota (n - 1 - k))
  in fold pass xs (iota (max 0 (n - 1)))
def mixed xs = let n = length xs in
  fold (\\xs i -> let j = (i * i + 1) % n in let ys = set xs i (xs[j] * xs[i]) in set ys j (ys[i] + sin xs[i] * xs[j])) xs (iota n)
def kept xs = let n = length xs in
  fold (\\xs i -> let ys = set xs i (2.0 * xs[i]) in if i % 3 == 0 then xs else map2 (\\a b -> a * 0.5 + b * 0.5) xs ys) xs (iota n)
def prefix xs = let n = length xs in
  fold (\\ys i -> set ys (i + 1) (ys[i] * 0.9 + sin xs[i] * ys[i])) (build (n + 1) (\\_ -> 1.0)) (iota n)
def seidel b = let n = length b in
  iterate 3 (\\x -> fold (\\x i -> set x (i + 1) ((b[i + 1] + x[i] + x[i + 2]) * 0.4)) x (iota (max 0 (n - 2)))) b
def rational b = let n = length b in
  iterate 3 (\\x -> fold (\\x i -> set x (i + 1) (b[i + 1] / (3.0 + x[i] * x[i + 2]))) x (iota (max 0 (n - 2)))) b
def thomas d = let n = length d in
  let (c, d) = fold (\\(c, d) i -> let m = 4.0 + sin d[i] - c[i - 1] in (set c i (1.0 / m), set d i ((d[i] - d[i - 1]) / m)))
    (set (zero d) 0 0.25, set d 0 (d[0] / 4.0)) (map (\\i -> i + 1) (iota (n - 1)))
  in fold (\\x k -> let i = n - 2 - k in set x i (d[i] - c[i] * x[i + 1])) d (iota (n - 1))
def fenwick xs = let n = length xs in
  let add t (i, x) = fst (while_loop (\\(_, i) -> i <= n) (\\(t, i) -> (set t i (t[i] + x * t[i] + x), i + bit_and i (-i))) (t, i + 1))
  in fold add (build (n + 1) (\\_ -> 0.1)) (map2 (\\i x -> (i, x)) (iota n) xs)
def counted xs = let n = length xs in
  let add t i = fst (while_loop (\\(_, j) -> j <= n) (\\(t, j) -> (set t j (t[j] + xs[i]), j + bit_and j (-j))) (t, i + 1))
  let rise h i = fst (while_loop (\\(h, i) -> i > 0 && h[i] < h[(i - 1) / 2]) (\\(h, i) -> let p = (i - 1) / 2 in (exchange h i p, p)) (h, i))
  let t = fold add (build (n + 1) (\\_ -> 0.0)) (iota n)
  in map2 (\\a i -> a * t[i + 1]) (fold rise xs (iota n)) (iota n)
def sifted xs = let n = length xs in
  let sift xs i =
    let least xs i = let l = 2 * i + 1 in let j = if l < n && xs[l] < xs[i] then l else i in if l + 1 < n && xs[l + 1] < xs[j] then l + 1 else j
    in fst (while_loop (\\(xs, i) -> least xs i != i) (\\(xs, i) -> let j = least xs i in (exchange xs i j, j)) (xs, i))
  in fold sift (map sin xs) (reverse (iota (n / 2)))
def edited s = let n = length s in let m = length s[0] in
  let t = build (n + 1) (\\i -> build (m + 1) (\\j -> if i == 0 || j == 0 then 0.5 * real (i + j) else 0.0))
  let row t i = fold (\\t j -> set t (i + 1) (set t[i + 1] (j + 1) (min (t[i, j] + s[i, j]) (min t[i, j + 1] t[i + 1, j] + 1.0)))) t (iota m)
  in fold row t (iota n)
def aligned s = let n = length s in let m = length s[0] in
  let t = build (n + 1) (\\_ -> build (m + 1) (\\_ -> 0.1))
  let soft a b = log (exp a + exp b)
  in fold (\\t i -> fold (\\t j -> set t (i + 1) (set t[i + 1] (j + 1) (soft (t[i, j] + s[i, j]) (soft t[i, j + 1] t[i + 1, j])))) t (iota m)) t (iota n)
def rolling s = let m = length s[0] in
  let step s i (row, above, left) j = let up = row[j + 1] in let v = min (min (up + 0.4) (left + 0.4)) (above + s[i, j]) in (set row (j + 1) v, up, v)
  let next row i = let (row, _, _) = fold (step s i) (set row 0 (0.4 * real (i + 1)), row[0], 0.4 * real (i + 1)) (iota m) in row
  in fold next (build (m + 1) (\\j -> 0.4 * real j)) (iota (length s))
def twice s = fold (\\t i -> set t i (set (set t[i] 0 (t[i, 0] * 2.0)) 1 (t[i, 1] * t[i, 0]))) s (iota (length s))
def rows s = let n = length s in fold (\\t i -> let j = (i * 7 + 3) % n in set (set t i t[j]) j t[i]) s (iota n)
def factors a = linalg.cholesky (matmul a (transpose a))
def lower a = (linalg.lu a).factors
def solved a = fold (\\x i -> set x i ((sin (real i) - dot (slice a[i] 0 i) (slice x 0 i)) / a[i, i])) (zero a[0]) (iota (length a))
def solved_back a = linalg.solve_upper a (numbers 3 (length a))
def powers a = let n = length a in fold (\\x i -> set x i (x[i] + dot a[i] x)) (numbers 2 n) (iota n)
def around a = let n = length a in fold (\\l i -> set l i (map2 (\\x y -> x * y + sin x) l[i] l[(i + n - 1) % n])) a (iota n)
def hidden a = let n = length a in
  let step t i = set t (i + 1) (map (\\x -> sin (0.2 * x)) (matvec a (map2 (*) t[i] (map cos t[i]))))
  in fold step (build (n + 1) (\\_ -> build n (\\j -> 1.0 / real (j + 2)))) (iota n)
def squares xs = sum (map (\\x -> x * x) xs)
def recent b = fold (\\x i -> set x i (sin (b[i] + squares (slice x (max 0 (i - 3)) i)))) (zero b) (iota (length b))
def later b = fold (\\x i -> set x i (sin (b[i] + squares (slice x i (length b))))) b (iota (length b))
def overlapping b = fold (\\x i -> set x i (sin (b[i] + 0.1 * squares (slice x 0 (i + 1))))) (map cos b) (iota (length b))
def some b = fold (\\x i -> if b[i] > 0.3 then set x i (sin (b[i] + squares (slice x 0 i))) else x) (zero b) (iota (length b))
def downward b = fold (\\x i -> set x i (sin (b[i] + squares (slice x (i + 1) (length b))))) (zero b) (reverse (iota (length b)))
def both b = let n = length b in
  fold (\\x i -> set (set x i (sin (b[i] + squares (slice x 0 i)))) (n - 1 - i) (cos (squares (slice x 0 i)))) (zero b) (iota n)
def again b = iterate 3 (\\x -> fold (\\x i -> set x i (sin (x[i] + 0.2 * squares (slice x 0 i)))) x (iota (length b))) b
def used_later b = let n = length b in
  let x = fold (\\x i -> set x i (sin (b[i] + squares (slice x 0 i)))) (zero b) (iota n)
  in fold (\\x i -> set x i (x[i] * b[i])) x (iota n)
def strided b = let n = length b in
  fold (\\x i -> set x (2 * i) (sin (b[2 * i] + squares (slice x 0 (2 * i))))) (zero b) (iota (n / 2))
def layers a = let n = length a in
  fold (\\t i -> fold (\\t j -> set t i (set t[i] j (sin (a[i, j] + dot (slice t[i] 0 j) (slice t[max 0 (i - 1)] 0 j))))) t (iota n)) (zero a) (iota n)
def gram a = let n = length a in
  fold (\\q i -> let r = fold (\\v j -> if j < i then map2 (\\x y -> x - 0.3 * y * dot q[j] a[i]) v q[j] else v) a[i] (iota n) in
    set q i (map (\\x -> x / sqrt (1.0 + dot r r)) r)) (zero a) (iota n)
def shortest d = let n = length d in
  fold (\\d k -> fold (\\d i -> set d i (build n (\\j -> min d[i, j] (d[i, k] + d[k, j])))) d (iota n)) (map (map abs) d) (iota n)
def shortest_new d = let n = length d in
  fold (\\d k -> build n (\\i -> build n (\\j -> min d[i, j] (d[i, k] + d[k, j])))) (map (map abs) d) (iota n)
def inverse a = let n = length a in
  let step a k =
    let row = build n (\\j -> if j == k then 1.0 / a[k, k] else a[k, j] / a[k, k])
    in build n (\\i -> if i == k then row else build n (\\j -> if j == k then -(a[i, k]) / a[k, k] else a[i, j] - a[i, k] * row[j]))
  in fold step a (iota n)
def eliminated a = let n = length a in
  let row a k i = let f = a[i, k] / a[k, k] in
    fold (\\a d -> let j = k + 1 + d in set a i (set a[i] j (a[i, j] - f * a[k, j]))) (set a i (set a[i] k f)) (iota (n - 1 - k))
  in fold (\\a k -> fold (\\a d -> row a k (k + 1 + d)) a (iota (n - 1 - k))) a (iota n)
def factored a = let n = length a in
  let element l i j = let s = sum (build j (\\k -> l[i, k] * l[j, k])) in
    set l i (set l[i] j (if i == j then sqrt (abs (a[i, i] - s) + 1.0) else (a[i, j] - s) / l[j, j]))
  in fold (\\l i -> fold (\\l j -> element l i j) l (iota (i + 1))) (map (\\r -> zero r) a) (iota n)
def edited_rows s = let m = length s[0] in
  let element (row, diag) (j, x) = let best = min (diag + x) (min row[j] row[j + 1] + 1.0) in (set row (j + 1) best, row[j + 1])
  in [fold (\\row xs -> fst (fold element (set row 0 (row[0] + 1.0), row[0]) (map2 (\\j x -> (j, x)) (iota m) xs))) (map real (iota (m + 1))) s]
def packed vs = let cap = 2 * length vs in
  fold (\\t i -> fold (\\t k -> let c = cap - k in let w = 1 + i % 3 in if c < w then t else set t c (max t[c] (t[c - w] + vs[i]))) t (iota (cap + 1)))
    (replicate (cap + 1) 0.0) (iota (length vs))
def same_row a = let n = length a in
  fold (\\l i -> fold (\\l j -> set l 0 (set l[0] j (sin (a[i, j] + l[0, j] * dot (slice l[0] 0 j) (slice a[i] 0 j))))) l (iota n)) a (iota n)
def diagonals a = let n = length a in
  let element l k d = let j = (k + d) in if j < 1 || j >= n then l else set l d (set l[d] j (sin (l[d, j - 1] * a[k, d] + l[d, j])))
  in fold (\\l k -> fold (\\l d -> element l k d) l (iota n)) a (iota n)
def overtaken b = let n = length b in
  fold (\\x k -> fold (\\x d -> set x (k + d) (sin (x[max 0 (k + d - 1)] * x[k] + b[d]))) x (iota (n - k))) (zero b) (iota n)
def columns a = let n = length a in
  fold (\\l j -> fold (\\l i -> set l i (set l[i] j (sin (l[i, j] + sum (build j (\\k -> l[i, k] * l[j, k])))))) l (iota n)) a (iota n)
def upward a = let n = length a in
  let row l i k = if l[i, k] > 0.0 then set l i (map2 (\\x y -> x - 0.2 * l[i, k] * y) l[i] l[k]) else set l i (map2 (\\x y -> x * l[k, 0] + y) l[i] l[k])
  in fold (\\l s -> let k = n - 1 - s in fold (\\l i -> row l i k) l (iota k)) a (iota n)
def jordan a = let n = length a in
  let step a k =
    let p = a[k, k]
    let a = fold (\\a j -> set a k (set a[k] j (a[k, j] / p))) a (iota n)
    in fold (\\a i -> if i == k then a else let f = a[i, k] in fold (\\a j -> set a i (set a[i] j (sin (a[i, j] - f * a[k, j])))) a (iota n)) a (iota n)
  in fold step a (iota n)
def jordan_rows a = let n = length a in
  let step a k =
    let row = map (\\x -> x / a[k, k]) a[k]
    in fold (\\a i -> if i == k then a else let f = a[i, k] in set a i (map2 (\\x y -> x - f * y) a[i] row)) (set a k row) (iota n)
  in fold step a (iota n)
def almost a = let n = length a in
  let step a k = fold (\\a i -> if i == k + 1 then a else fold (\\a j -> set a i (set a[i] j (sin (a[i, j] - 0.3 * a[k, j])))) a (iota n)) a (iota n)
  in fold step a (iota n)
def below a = let n = length a in
  let step a k = fold (\\a i -> if i <= k || k == 1 then a else fold (\\a j -> if j < k then a else set a i (set a[i] j (a[i, j] * a[k, j]))) a (iota n)) a (iota n)
  in fold step a (iota n)
def reflected a = let n = length a in
  let step a k =
    let v = build (n - k) (\\d -> a[k + d, k] + (if d == 0 then 2.0 else 0.0))
    let w = sum (map (\\x -> x * x) v)
    in fold (\\a j -> let c = fold (\\s d -> s + v[d] * a[k + d, j]) 0.0 (iota (n - k)) / w in fold (\\a d -> set a (k + d) (set a[k + d] j (a[k + d, j] - c * v[d]))) a (iota (n - k))) a (iota n)
  in fold step a (iota n)
def after a = let n = length a in
  let step a k = fold (\\a i -> if i == k || k + 1 >= n || i == k + 1 then a else fold (\\a j -> set a i (set a[i] j (sin (a[i, j] * a[k + 1, j])))) a (iota n)) a (iota n)
  in fold step a (iota n)
def minors a = let n = length a in
  fold (\\a k -> fold (\\a d -> let i = k + 1 + d in let f = a[i, k] / a[k, k] in fold (\\a e -> let j = k + 1 + e in set a i (set a[i] j (a[i, j] - f * a[k, j]))) (set a i (set a[i] k f)) (iota (n - k - 1))) a (iota (n - k - 1))) a (iota n)
def soft a = let n = length a in
  fold (\\d k -> fold (\\d i -> fold (\\d j -> set d i (set d[i] j (min d[i, j] (d[i, k] + d[k, j])))) d (iota n)) d (iota n)) a (iota n)
def triangles a = let n = length a in
  let step a k =
    let a = fold (\\a i -> if k < i then set a i (set a[i] k (a[i, k] / a[k, k])) else a) a (iota n)
    let a = fold (\\a j -> if not (j <= k) then fold (\\a i -> if i >= j then set a i (set a[i] j (a[i, j] - a[i, k] * a[j, k])) else a) a (iota n) else a) a (iota n)
    let a = fold (\\a (i, r) -> if i < k && r[0] > 0.0 then set a k (map2 (\\x y -> x + 0.2 * y) a[k] r) else a) a (zip (iota n) a)
    in fold (\\a i -> if i == k then set a i (map sin a[i]) else a) a (iota n)
  in fold step a (iota n)
def likely a = let n = length a in
  fold (\\v i -> build n (\\j -> maximum (build n (\\k -> v[k] * a[k, j])) + a[i, j])) (numbers 3 n) (iota n)
def gradients f sizes = map (\\n -> weigh (grad (\\u -> weigh (f u)) (numbers 7 n))) sizes
def hessians f sizes = map (\\n -> weigh (snd (jvp (grad (\\u -> weigh (f u))) (numbers 7 n, numbers 3 n)))) sizes
def flat f u = weigh (map weigh (f u))
def gradients2 f sizes = map (\\(n, m) -> weigh (map weigh (grad (flat f) (matrix n m)))) sizes
def hessians2 f sizes = map (\\(n, m) -> weigh (map weigh (snd (jvp (grad (flat f)) (matrix n m, matrix n m))))) sizes
def to_vector f sizes = map (\\(n, m) -> weigh (map weigh (grad (\\a -> weigh (f a)) (matrix n m)))) sizes
";

const SIZES: &str = "[1, 2, 3, 4, 7, 16, 33]";
const SQUARES: &str = "[(1, 1), (2, 2), (3, 3), (5, 5), (9, 9), (17, 17)]";
const TABLES: &str = "[(1, 2), (2, 2), (3, 5), (7, 4), (17, 9)]";

/// All programs, each a function and what is asked of it.
fn programs() -> Vec<String> {
    let mut all = Vec::new();
    for f in [
        "turned",
        "sorted",
        "mixed",
        "kept",
        "prefix",
        "seidel",
        "rational",
        "thomas",
        "fenwick",
        "sifted",
        "packed",
        "overtaken",
        "counted",
    ] {
        all.push(format!("gradients {f} {SIZES}"));
        all.push(format!("hessians {f} {SIZES}"));
    }
    for f in ["edited", "aligned", "twice", "rows", "around", "edited_rows"] {
        all.push(format!("gradients2 {f} {TABLES}"));
        all.push(format!("hessians2 {f} {TABLES}"));
    }
    for f in [
        "factors",
        "lower",
        "hidden",
        "layers",
        "gram",
        "shortest",
        "shortest_new",
        "inverse",
        "eliminated",
        "factored",
        "same_row",
        "diagonals",
        "columns",
        "upward",
        "jordan",
        "jordan_rows",
        "almost",
        "below",
        "reflected",
        "after",
        "minors",
        "soft",
        "triangles",
    ] {
        all.push(format!("gradients2 {f} {SQUARES}"));
        all.push(format!("hessians2 {f} {SQUARES}"));
    }
    for f in ["solved", "solved_back", "powers", "likely"] {
        all.push(format!("to_vector {f} {SQUARES}"));
    }
    all.push(format!("to_vector rolling {TABLES}"));
    all.push("to_vector likely [(3, 2)]".to_owned());
    all.extend(odd());
    all.extend(failing());
    all
}

/// What is infinite or no number shows where it is looked at, and nowhere else; and nothing at all.
fn odd() -> Vec<String> {
    let mut all = Vec::new();
    for number in ["1.0 / 0.0", "0.0 / 0.0", "-0.0"] {
        for f in ["turned", "sorted", "prefix", "rational", "thomas"] {
            all.push(format!("grad (\\u -> weigh ({f} u)) (set (numbers 7 12) 5 ({number}))"));
        }
        for f in ["edited", "twice", "around"] {
            all.push(format!("grad (flat {f}) (let u = matrix 5 6 in set u 2 (set u[2] 3 ({number})))"));
        }
        for f in ["(edited u)[5, 6]", "(soft u)[1, 3]"] {
            all.push(format!("grad (\\u -> {f}) (let u = matrix 5 6 in set u 1 (set u[1] 2 ({number})))"));
        }
    }
    for f in ["turned", "sorted", "kept", "prefix", "seidel", "fenwick"] {
        all.push(format!("grad (\\u -> weigh ({f} u)) (numbers 7 0)"));
    }
    all
}

/// Places that are not there: what fails first says so, where it stands.
fn failing() -> Vec<String> {
    let mut all =
        vec!["grad (\\u -> weigh (thomas u)) (numbers 7 0)".into(), "grad (flat twice) (matrix 3 1)".into()];
    for (i, j) in [(1, 2), (9, 2), (1, 9), (-1, 2), (9, 10), (-1, 9), (2, 2), (9, 9)] {
        all.push(format!("exchange (numbers 7 5) ({i}) ({j})"));
        all.push(format!("grad (\\u -> weigh (exchange u ({i}) ({j}))) (numbers 7 5)"));
        all.push(format!(
            "let u = numbers 7 5 in let v = set u ({i}) 1.0 in let w = u[{j}] + u[{i}] in (set v ({j}) w, w)"
        ));
        all.push(format!(
            "let u = numbers 7 5 in let v = set u ({i}) 1.0 in let w = v[{j}] in (v, w * u[{i} + 1])"
        ));
        all.push(format!("let t = matrix 4 3 in set t ({i}) (set t[{i}] ({j}) 1.0)"));
        all.push(format!("let t = matrix 4 3 in set t ({i}) (set t[{j}] ({i}) 1.0)"));
        all.push(format!(
            "let t = matrix 4 3 in let r = set t[{i}] ({j}) 1.0 in let x = t[{j}, {i}] in (set t ({i}) r, x)"
        ));
        all.push(format!(
            "let t = matrix 4 3 in let r = set (set t[{i}] ({j}) 1.0) 1 2.0 in (set t ({i}) r, r)"
        ));
        all.push(format!(
            "grad (flat (\\t -> set t ({i}) (set (set t[{i}] ({j}) t[1, 1]) 0 t[{i}, 2]))) (matrix 4 3)"
        ));
    }
    all
}

#[test]
fn derivatives_of_what_updates_arrays_are_the_same_everywhere() {
    parallel::check_all("programs", &programs(), |expression| everywhere::same(DEFINITIONS, expression));
}

/// A step that took as long as the array is would take minutes here.
#[test]
fn a_step_takes_the_same_time_whatever_the_size() {
    let expressions = [
        "weigh (turned (numbers 7 300000))",
        "weigh (grad (\\u -> weigh (turned u)) (numbers 7 300000))",
        "weigh (grad (\\u -> weigh (prefix u)) (numbers 7 300000))",
        "weigh (grad (\\u -> weigh (fenwick u)) (numbers 7 100000))",
        "weigh (map weigh (grad (\\s -> (edited s)[400, 500]) (matrix 400 500)))",
        "weigh (map weigh (grad (\\s -> weigh (rolling s)) (matrix 1 300000)))",
    ];
    for (engine, expression) in
        [Engine::Native, Engine::C].into_iter().flat_map(|engine| expressions.map(|e| (engine, e)))
    {
        let (mut session, scope) = everywhere::session_with(DEFINITIONS);
        let options = Options { engine, ..Options::default() };
        let begin = Instant::now();
        let evaluated = session.eval_in(&scope, "it.wg", expression, &options);
        assert!(
            evaluated.is_ok(),
            "{expression}: {}",
            evaluated.map_or_else(|e| complaints(&e), |_| String::new())
        );
        let took = begin.elapsed();
        assert!(took < Duration::from_secs(20), "{expression} takes {took:?} by {}", engine.name());
    }
}
