//! Derivatives of what looks at neighbors: every engine gives what the interpreter gives, at every size, at the edges and around them,
//! where numbers are infinite or none, and with any number of threads.

use wengert_tests::{everywhere, parallel};

const DEFINITIONS: &str = "\
def numbers k n = build n (\\i -> sin (real (k * i + 1)) + 0.1)
def matrix n m = build n (\\i -> build m (\\j -> cos (real (3 * i + 5 * j + 1))))
def weigh xs = sum (map2 (\\i x -> (1.5 + sin (real i)) * x) (iota (length xs)) xs)
def fixed u = let n = length u in build n (\\i -> if i == 0 || i == n - 1 then u[i] else u[i] + 0.1 * (u[i - 1] - 2.0 * u[i] + u[i + 1]))
def periodic u = let n = length u in build n (\\i -> u[i] + 0.1 * (u[(i + n - 1) % n] - 2.0 * u[i] + u[(i + 1) % n]))
def lorenz x = let n = length x in build n (\\i -> (x[(i + 1) % n] - x[(i + n - 2) % n]) * x[(i + n - 1) % n] - x[i] + 8.0)
def turned x = let n = length x in build n (\\i -> x[mod (i - 2) n] * x[mod (i + 1) n])
def differences xs = build (length xs - 1) (\\i -> (xs[i + 1] - xs[i]) ^ 2)
def sliced xs = let n = length xs in map2 (\\a b -> (a - b) ^ 2) (slice xs 1 n) (slice xs 0 (n - 1))
def smooth xs = build (length xs - 4) (\\i -> exp (0.1 * xs[i]) + sqrt (xs[i + 4] ^ 2 + 1.0) * xs[i + 2])
def upwind u = build (length u) (\\i -> if i < 1 then u[i] else u[i] - 0.3 * u[i] * (u[i] - u[i - 1]))
def far u = let n = length u in build n (\\i -> if i >= 3 && i < n - 2 then u[i - 3] * u[i + 2] else 2.0 * u[i])
def inner u = let n = length u in build (n - 2) (\\i -> if u[i] > 0.0 then u[i + 1] * u[i + 2] else u[i + 2])
def at u i = if i < 0 || i >= length u then 0.0 else u[i]
def waves (u, v) = let w = build (length u) (\\i -> v[i] + 0.25 * (at u (i - 1) - 2.0 * u[i] + at u (i + 1))) in (add u w, w)
def wave u = fst (iterate 3 waves (u, zero u))
def heat u = let n = length u in let m = length u[0] in build n (\\i -> build m (\\j ->
  if i == 0 || j == 0 || i == n - 1 || j == m - 1 then u[i][j]
  else u[i][j] * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] - 4.0 * u[i][j + 1])))
def steep u = build (length u - 1) (\\i -> build (length u[0] - 1) (\\j -> (u[i + 1][j] - u[i][j]) ^ 2 + sin (u[i][j + 1] - u[i][j])))
def warm c u = let n = length u in let m = length u[0] in build n (\\i -> build m (\\j ->
  if i == 0 || j == 0 || i == n - 1 || j == m - 1 then u[i, j] else u[i, j] + c * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4.0 * u[i, j])))
def cooled u = iterate 3 (warm (0.1 + u[0, 0])) u
def folded u = fold (\\v k -> warm (0.1 * real k) v) u (iota 3)
def laplace u = build (length u - 2) (\\i -> build (length u[0] - 2) (\\j -> (u[i, j + 1] + u[i + 2, j + 1] + u[i + 1, j] + u[i + 1, j + 2] - 4.0 * u[i + 1, j + 1]) ^ 2))
def varied u = build (length u - 1) (\\i -> build (length u[0] - 1) (\\j -> sqrt ((u[i + 1, j] - u[i, j]) ^ 2 + (u[i, j + 1] - u[i, j]) ^ 2 + 0.01)))
def second xs = let n = length xs in map2 (+) (map2 (\\a b -> a - 2.0 * b) (slice xs 0 (n - 2)) (slice xs 1 (n - 1))) (map (\\c -> c * c) (slice xs 2 n))
def away xs = let n = length xs in map2 (\\a b -> abs (b - a) * b) (slice xs 0 (n - 3)) (slice xs 3 n)
def by c u = flat (warm c) u
def forced ys = let n = length ys in fold (\\m k -> build n (\\i ->
  if i == 0 || i == n - 1 then 0.0 else (6.0 * (ys[i + 1] - 2.0 * ys[i] + ys[i - 1]) - m[i - 1] - m[i + 1]) / 4.0)) (map sin ys) (iota 4)
def around u = let n = length u in build n (\\i -> build (length u[0]) (\\j -> u[i][j] * u[(i + 1) % n][j]))
def lagged k xs = build (length xs - k) (\\i -> sin xs[i] * xs[i + k])
def correlated xs = build 5 (\\k -> sum (build (length xs - 5) (\\i -> xs[i] * xs[i + k])) ^ 2)
def halves xs = let m = length xs / 2 in build m (\\i -> cos xs[i] * xs[i + m] + xs[length xs - 1 - i])
def pooled xs = build (length xs / 2) (\\i -> max xs[2 * i] xs[2 * i + 1] ^ 2)
def thirds xs = build (length xs / 3) (\\i -> xs[3 * i] * xs[3 * i + 2] + exp (0.1 * xs[3 * i + 1]))
def apart xs = build (length xs / 4) (\\i -> xs[2 * i] * xs[2 * i + 3] - xs[4 * i])
def beyond xs = build (length xs / 2) (\\i -> xs[2 * i] * xs[2 * i + 2])
def pools u = build (length u / 2) (\\i -> build (length u[0] / 2) (\\j ->
  max (max u[2 * i, 2 * j] u[2 * i + 1, 2 * j]) (max u[2 * i, 2 * j + 1] u[2 * i + 1, 2 * j + 1]) ^ 2))
def filtered (w, u) = build (length u - 2) (\\i -> max 0.0 (w[0] * u[i] + w[1] * u[i + 1] + w[2] * u[i + 2]))
def filter p = let (w, u) = grad (\\(w, u) -> weigh (filtered (w, filtered (w, u)))) p in (w, weigh u)
def filters sizes = map (\\n -> filter (numbers 5 3, numbers 7 n)) sizes
def nine (w, u) = build (length u - 8) (\\i -> tanh (w[0] * u[i] + w[1] * u[i + 1] + w[2] * u[i + 2] + w[3] * u[i + 3] + w[4] * u[i + 4]
  + w[5] * u[i + 5] + w[6] * u[i + 6] + w[7] * u[i + 7] + w[8] * u[i + 8]))
def nines sizes = map (\\n -> let p = (numbers 5 9, numbers 7 n) in let f p = weigh (nine p) in let (w, u) = grad f p in (w, weigh u, jvp f (p, p))) sizes
def square (w, u) = build (length u - 2) (\\i -> build (length u[0] - 2) (\\j -> max 0.0 (
  w[0, 0] * u[i, j] + w[0, 1] * u[i, j + 1] + w[0, 2] * u[i, j + 2] + w[1, 0] * u[i + 1, j] + w[1, 1] * u[i + 1, j + 1] + w[1, 2] * u[i + 1, j + 2]
  + w[2, 0] * u[i + 2, j] + w[2, 1] * u[i + 2, j + 1] + w[2, 2] * u[i + 2, j + 2])))
def squares sizes = map (\\(n, m) -> let p = (matrix 3 3, matrix n m) in let f (w, u) = weigh (map weigh (square (w, u))) in
  let (w, u) = grad f p in (w, weigh (map weigh u), jvp f (p, p))) sizes
def blurred k (w, u) = build (length u - k + 1) (\\i -> build (length u[0] - k + 1) (\\j -> sum (build k (\\a -> sum (build k (\\b -> w[a, b] * u[i + a, j + b]))))))
def blur (w, u) = build (length u - 2) (\\i -> build (length u[0] - 2) (\\j -> sin (sum (build 3 (\\a -> sum (build 3 (\\b -> w[a, b] * u[i + a, j + b])))))))
def blurs k sizes = map (\\(n, m) -> let p = (matrix k k, matrix n m) in let f (w, u) = flat blur (w, u) in
  let (w, u) = grad f p in (w, weigh (map weigh u), jvp f (p, p), flat (blurred 2) p)) sizes
def close u = build (length u - 2) (\\i -> let d = build 3 (\\k -> u[i + k] - u[i]) in
  let e = map (\\x -> x * x + 0.1) d in sqrt (sum e) * maximum d + sum (map2 (*) d e))
def gradients f sizes = map (\\n -> weigh (grad (\\u -> weigh (f u)) (numbers 7 n))) sizes
def repeated f sizes = map (\\n -> weigh (grad (\\u -> weigh (iterate 3 f u)) (numbers 7 n))) sizes
def hessians f sizes = map (\\n -> weigh (snd (jvp (grad (\\u -> weigh (f u))) (numbers 7 n, numbers 3 n)))) sizes
def flat f u = weigh (map weigh (f u))
def gradients2 f sizes = map (\\(n, m) -> weigh (map weigh (grad (flat f) (matrix n m)))) sizes
";

const SIZES: &str = "[1, 2, 3, 5, 15, 16, 17, 18, 40, 600]";
const LONG: &str = "[4, 5, 15, 16, 17, 18, 40, 600]";
const SIZES2: &str = "[(1, 1), (2, 2), (1, 5), (5, 1), (2, 9), (3, 3), (17, 18), (20, 33)]";

const SIZES3: &str = "[(2, 2), (2, 9), (9, 2), (3, 3), (4, 5), (5, 4), (17, 18), (20, 33)]";

/// All programs, each a function and what is asked of it.
fn programs() -> Vec<String> {
    let mut all = Vec::new();
    for f in ["fixed", "periodic", "turned", "differences", "sliced", "upwind", "far", "wave"] {
        all.push(format!("gradients {f} {SIZES}"));
        all.push(format!("hessians {f} {SIZES}"));
    }
    for f in ["lorenz", "smooth", "inner", "close"] {
        all.push(format!("gradients {f} {LONG}"));
        all.push(format!("hessians {f} {LONG}"));
    }
    for f in ["fixed", "periodic", "upwind", "far"] {
        all.push(format!("repeated {f} {SIZES}"));
    }
    for f in ["second", "away", "forced"] {
        all.push(format!("gradients {f} {LONG}"));
        all.push(format!("hessians {f} {LONG}"));
    }
    for f in ["heat", "steep", "around", "cooled", "folded", "varied"] {
        all.push(format!("gradients2 {f} {SIZES2}"));
    }
    for f in ["halves", "pooled", "thirds"] {
        all.push(format!("gradients {f} {SIZES}"));
        all.push(format!("hessians {f} {SIZES}"));
    }
    for f in ["lagged 0", "lagged 1", "lagged 7", "correlated", "apart", "\\xs -> lagged (length xs / 2) xs"]
    {
        all.push(format!("gradients ({f}) [8, 15, 16, 17, 18, 40, 600, 1700]"));
        all.push(format!("hessians ({f}) [8, 40, 600]"));
    }
    all.push(format!("gradients2 pools {SIZES2}"));
    all.push("filters [5, 15, 16, 17, 18, 40, 600, 1700]".into());
    all.push("filters [5, 3]".into());
    all.push("nines [8, 9, 12, 24, 25, 40, 600]".into());
    all.push("nines [9, 5]".into());
    all.push("squares [(2, 2), (3, 3), (3, 18), (20, 5), (6, 40), (4, 530)]".into());
    all.push("squares [(3, 3), (3, 1)]".into());
    all.push("blurs 3 [(3, 3), (3, 18), (20, 5), (6, 40), (4, 530)]".into());
    all.push("blurs 2 [(3, 3)]".into());
    all.push("blurs 3 [(3, 3), (3, 2)]".into());
    all.push(format!("gradients2 laplace {SIZES3}"));
    all.push(format!("map (\\(n, m) -> grad (\\c -> by c (matrix n m)) 0.3) {SIZES2}"));
    all.push(format!(
        "map (\\(n, m) -> let (c, u) = grad (\\(c, u) -> by c u) (0.3, matrix n m) in c + flat id u) {SIZES2}"
    ));
    // Rows that are too short, and none at all.
    all.push("gradients2 laplace [(5, 5), (2, 1)]".into());
    all.push("gradients2 laplace [(5, 5), (3, 1)]".into());
    all.push("grad (flat varied) (matrix 0 3)".into());
    all.push("gradients second [4, 2, 1]".into());
    all.push("gradients away [4, 3, 2]".into());
    all.push("grad (\\u -> weigh (fixed u)) (numbers 7 0)".into());
    all.push("grad (\\u -> weigh (upwind u)) (numbers 7 0)".into());
    all.push("grad (\\u -> weigh (periodic u)) (numbers 7 0)".into());
    all.push("gradients beyond [7, 601, 40]".into());
    all.push("gradients (lagged (-2)) [40]".into());
    all.push("grad (\\u -> weigh (pooled u)) (numbers 7 0)".into());
    // What is infinite or no number shows where it is looked at, and nowhere else.
    for odd in ["1.0 / 0.0", "0.0 / 0.0", "-0.0"] {
        for f in [
            "fixed",
            "lorenz",
            "upwind",
            "far",
            "inner",
            "differences",
            "second",
            "away",
            "lagged 7",
            "halves",
            "pooled",
            "thirds",
        ] {
            all.push(format!("grad (\\u -> weigh ({f} u)) (set (numbers 7 40) 20 ({odd}))"));
        }
        all.push(format!("filter (numbers 5 3, set (numbers 7 40) 20 ({odd}))"));
        all.push(format!("filter (set (numbers 5 3) 1 ({odd}), numbers 7 40)"));
        for f in ["laplace", "varied", "warm 0.3", "cooled"] {
            all.push(format!("grad (flat ({f})) (let u = matrix 9 20 in set u 4 (set u[4] 7 ({odd})))"));
        }
    }
    // Places that are not there.
    all.push("map (\\n -> weigh (grad (\\u -> weigh (smooth u)) (numbers 7 n))) [9, 3]".into());
    all.push("grad (\\u -> sum (build 20 (\\i -> u[i + 1] - u[i]))) (numbers 7 20)".into());
    all.push("gradients lorenz [5, 1]".into());
    all
}

#[test]
fn derivatives_of_what_looks_at_neighbors_are_the_same_everywhere() {
    parallel::check_all("programs", &programs(), |expression| everywhere::same(DEFINITIONS, expression));
}

/// Loops that are long enough for threads.
#[test]
fn long_ones_are_the_same_with_any_number_of_threads() {
    let expressions = [
        "gradients lorenz [60000]",
        "gradients far [60000]",
        "gradients smooth [60000]",
        "filters [60000]",
        "nines [60000]",
        "gradients2 heat [(200, 150)]",
    ];
    everywhere::same_by_threads(DEFINITIONS, &expressions);
}
