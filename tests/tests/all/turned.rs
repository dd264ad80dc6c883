//! Long loops around short ones, and their derivatives: every engine gives what the interpreter gives, at every size, around the sizes of
//! pieces, where numbers are infinite or none, where places are not there, and with any number of threads.

use wengert_tests::{everywhere, parallel, text};

const DEFINITIONS: &str = "\
def numbers k n = build n (\\i -> sin (real (k * i + 1)) + 0.1)
def matrix n m = build n (\\i -> build m (\\j -> cos (real (3 * i + 5 * j + 1))))
def weigh xs = sum (map2 (\\i x -> (1.5 + sin (real i)) * x) (iota (length xs)) xs)
def convolve (w, x) = let k = length w in build (length x - k + 1) (\\i -> sum (build k (\\j -> w[j] * x[i + j])))
def strided (w, x) = let k = length w in build ((length x - k) / 2 + 1) (\\i -> tanh (sum (build k (\\j -> w[j] * x[2 * i + j]))))
def lagged (w, x) = let k = length w in build (length x - k) (\\t -> x[t + k] - sum (build k (\\j -> w[j] * x[t + k - 1 - j])))
def distant (w, x) = build (length x) (\\i -> sum (build (length w) (\\j -> exp (-0.1 * (w[j] - x[i]) ^ 2))))
def horner (w, x) = map (\\y -> fold (\\s c -> 0.3 * s * y + c) 0.0 w) x
def logistic (w, x) = map (\\y -> fold (\\s c -> 3.1 * s * (1.0 - s) + 0.01 * c) (0.2 + 0.01 * y) w) x
def power (w, x) = map (\\y -> y * fold (\\s c -> 0.5 * s * sin (c * y)) 1.0 w + fold (\\s c -> s + c * y) y w) x
def polynomial (w, x) = map (\\y -> sum (build (length w) (\\j -> w[j] * y ^ j))) x
def legendre (w, x) = map (\\y -> let (s, _, _) = fold (\\(s, p, q) i ->
  (s + w[i] * p, ((2 * real i + 1) * y * p - real i * q) / real (i + 1), p)) (0.0, 1.0, 0.0) (iota (length w)) in s ^ 2) x
def settled (w, x) = map (\\y -> let (u, s) = fold (\\(u, s) c -> (0.5 * (u + w[0] / u), s + c * u)) (1.5 + y * y, y) w in
  s * w[0] + fold (\\v i -> 0.5 * (v + w[0] * y / v)) u (iota 6)) x
def shared (w, x) = let k = length w in build (length x - k + 1) (\\i ->
  let s = sum (build k (\\j -> w[j] * x[i + j])) in s * sum (build k (\\j -> w[j] * s * x[i + j] ^ 2)))
def chosen (w, x) = let k = length w in build (length x - k + 1) (\\i -> sum (build k (\\j -> if w[j] > 0.0 then w[j] * x[i + j] else x[i])))
def total (w, x) = [sum (convolve (w, x)), fold (\\s y -> 0.9 * s + y ^ 2) 1.0 (convolve (w, x))]
def image w x = let k = length w in let l = length w[0] in build (length x - k + 1) (\\i -> build (length x[0] - l + 1) (\\j ->
  sum (build k (\\a -> sum (build l (\\b -> w[a, b] * x[i + a, j + b]))))))
def covariance x = let n = real (length x) in let m = length x[0] in
  let mean = build m (\\j -> sum (map (\\r -> r[j]) x) / n) in
  build m (\\i -> build m (\\j -> sum (map (\\r -> (r[i] - mean[i]) * (r[j] - mean[j])) x) / n))
def covariances sizes = map (\\(n, m) -> let x = matrix n m in let f x = weigh (map weigh (covariance x)) in
  (f x, weigh (map weigh (grad f x)), jvp f (x, x))) sizes
def columns x = build (length x[0]) (\\j -> log (1.5 + sum (build (length x) (\\i -> x[i, j] ^ 2))))
def down sizes = map (\\(n, m) -> let x = matrix n m in let f x = weigh (columns x) in (f x, weigh (map weigh (grad f x)))) sizes
def pairs (w, x) = build (length w) (\\k -> sum (build (length x) (\\i -> sum (build (length x) (\\j ->
  if i < j then let d = x[i] - x[j] in (if d > 0.2 then w[k] * d * d else sqrt (1.0 + w[k] * d)) else 0.0)))))
def nearby (w, x) = map (\\a -> sum (map (\\b -> let d = a - b in if j_of d > 0 then 1.0 / (w[0] + d * d) else 0.0) x)) x
def j_of d = if d < 0.0 then 0 else 1
def values f k sizes = map (\\n -> weigh (f (numbers 5 k, numbers 7 n))) sizes
def gradients f k sizes = map (\\n -> let (a, b) = grad (\\p -> weigh (f p)) (numbers 5 k, numbers 7 n) in (weigh a, weigh b)) sizes
def hessians f k sizes = map (\\n -> let p = (numbers 5 k, numbers 7 n) in
  let (a, b) = snd (jvp (grad (\\p -> weigh (f p))) (p, (numbers 2 k, numbers 3 n))) in (weigh a, weigh b)) sizes
def both f k sizes = map (\\n -> let (y, (a, b)) = value_and_grad (\\p -> weigh (f p)) (numbers 5 k, numbers 7 n) in (y, weigh a, weigh b)) sizes
def images k l sizes = map (\\(n, m) -> let (a, b) = grad (\\(w, x) -> weigh (map (\\r -> weigh (map sin r)) (image w x))) (matrix k l, matrix n m) in
  (weigh (map weigh a), weigh (map weigh b))) sizes
";

/// Sizes around those of vectors, from which on it pays, and of pieces.
const SIZES: &str = "[9, 31, 40, 41, 127, 128, 137, 1023, 1024, 1033, 2100]";

/// All programs, each a function and what is asked of it.
fn programs() -> Vec<String> {
    let mut all = Vec::new();
    let all_of = [
        "convolve",
        "strided",
        "lagged",
        "distant",
        "horner",
        "logistic",
        "power",
        "shared",
        "chosen",
        "total",
        "polynomial",
        "legendre",
        "settled",
    ];
    for f in all_of {
        all.push(format!("values {f} 9 {SIZES}"));
        all.push(format!("gradients {f} 9 {SIZES}"));
        all.push(format!("hessians {f} 3 [40, 130, 1100]"));
        all.push(format!("map (\\k -> gradients {f} k [60, 130, 200]) [1, 60]"));
    }
    for f in ["horner", "polynomial", "settled", "pairs", "nearby"] {
        all.push(format!("both {f} 3 [0, 1, 5, 40]"));
    }
    all.push("hessians pairs 2 [3, 20]".into());
    for (k, l) in [(3, 3), (1, 5), (5, 1)] {
        all.push(format!("images {k} {l} [(5, 5), (6, 50), (50, 6), (7, 1100)]"));
    }
    all.push("covariances [(2, 1), (3, 7), (5, 8), (60, 9), (4, 17), (50, 40)]".into());
    all.push("down [(1, 1), (60, 7), (60, 8), (49, 9), (3, 40), (200, 33)]".into());
    // None at all, and fewer than that.
    all.push("gradients convolve 0 [40]".into());
    all.push("gradients horner 0 [40]".into());
    all.push("gradients horner 5 [0]".into());
    all.push("gradients convolve 9 [50, 8]".into());
    all.push("gradients convolve 9 [50, 7]".into());
    // What is infinite or no number shows where it is looked at, and nowhere else.
    for odd in ["1.0 / 0.0", "0.0 / 0.0", "-0.0"] {
        for f in ["convolve", "lagged", "horner", "shared"] {
            all.push(format!("{f} (numbers 5 3, set (numbers 7 50) 20 ({odd}))"));
            all.push(format!("grad (\\p -> weigh ({f} p)) (numbers 5 3, set (numbers 7 50) 20 ({odd}))"));
            all.push(format!("grad (\\p -> weigh ({f} p)) (set (numbers 5 3) 1 ({odd}), numbers 7 50)"));
        }
    }
    all.push("map (\\y -> 1.0 / y) (horner ([-0.0, 0.0 * -1.0], map (\\x -> -0.0) (iota 40)))".into());
    // Places that are not there.
    all.push(
        "grad (\\x -> sum (build 40 (\\i -> sum (build 3 (\\j -> x[i + j] ^ 2))))) (numbers 7 41)".into(),
    );
    all.push("sum (build 40 (\\i -> sum (build 3 (\\j -> (numbers 7 9)[i * j]))))".into());
    all.push(
        "gradients (\\(w, x) -> build 50 (\\i -> sum (build 5 (\\j -> w[j] * x[i - j + 3])))) 5 [60]".into(),
    );
    all
}

#[test]
fn long_loops_around_short_ones_are_the_same_everywhere() {
    parallel::check_all("programs", &programs(), |expression| {
        // The sign of a zero counts in values, and does not in derivatives.
        let is_value = !expression.contains("grad") && !expression.contains("hess");
        let left = |text: &str| if is_value { text.to_owned() } else { text::unsigned(text) };
        everywhere::same_but_for(DEFINITIONS, expression, &left)
    });
}

#[test]
fn long_loops_around_short_ones_are_the_same_with_any_number_of_threads() {
    let expressions =
        ["gradients convolve 9 [90000]", "gradients horner 9 [30000]", "values logistic 40 [50000]"];
    everywhere::same_by_threads(DEFINITIONS, &expressions);
}
