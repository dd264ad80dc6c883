//! Steps that make an array again, most of it as it was: every engine gives what the interpreter gives, whether the array can be changed in place or
//! something still looks at what was there.

use wengert_tests::{everywhere, parallel};

const DEFINITIONS: &str = "\
def numbers k n = build n (\\i -> sin (real (k * i + 1)) + 0.1)
def matrix n m = build n (\\i -> build m (\\j -> cos (real (3 * i + 5 * j + 1)) + (if i == j then 4.0 else 0.0)))
def weigh xs = sum (map2 (\\i x -> (1.5 + sin (real i)) * x) (iota (length xs)) xs)
def lower a = let n = length a in
  fold (\\m k -> build n (\\i -> if i <= k then m[i] else let f = m[i, k] / m[k, k] in build n (\\j -> m[i, j] - f * m[k, j]))) a (iota n)
def pivots a = let n = length a in
  let step (m, total) k = let p = m[k] in
    (build n (\\i -> if i <= k then m[i] else map2 (\\x y -> x - m[i, k] / p[k] * y) m[i] p), total + log (abs p[k]))
  in let (m, total) = fold step (a, 0.0) (iota n) in map (map (\\x -> x + total)) m
def corners a = let n = length a in
  fold (\\m k -> build n (\\i -> build n (\\j -> if i > k && j > k then m[i, j] - m[i, k] / m[k, k] * m[k, j] else m[i, j]))) a (iota n)
def corners_too a = let n = length a in
  fold (\\m k -> build n (\\i -> build n (\\j -> if j <= k || i <= k then m[i, j] else m[i, j] - m[i, k] * m[k, j]))) a (iota n)
def jordan a = let n = length a in
  fold (\\m k -> build n (\\i -> if i == k then m[i] else map2 (\\x y -> x - m[i, k] / m[k, k] * y) m[i] m[k])) a (iota n)
def one a = let n = length a in
  fold (\\m k -> build n (\\i -> if i == k then map2 (\\x y -> sin x * y) m[i] m[max 0 (i - 1)] else m[i])) a (iota n)
def scaled a = let n = length a in
  fold (\\m k -> build n (\\i -> if i < k then m[i] else if i == k then map (\\x -> x / m[k, k]) m[k] else map2 (\\x y -> x - m[i, k] * y) m[i] m[k])) a (iota n)
def upward a = let n = length a in
  fold (\\m s -> let k = n - 1 - s in build n (\\i -> if i < k then map2 (\\x y -> x - 0.3 * y) m[i] m[k] else m[i])) a (iota n)
def chained a = let n = length a in
  fold (\\m k -> build n (\\i -> if i > k then map2 (\\x y -> x - 0.3 * y) m[i] m[i - 1] else m[i])) a (iota n)
def ahead a = let n = length a in
  fold (\\m k -> build n (\\i -> if i < k then map2 (\\x y -> x - 0.3 * y) m[i] m[i + 1] else m[i])) a (iota n)
def crossed a = let n = length a in
  fold (\\m k -> build n (\\i -> if i > k then build n (\\j -> m[i, j] - 0.2 * m[j, i]) else m[i])) a (iota n)
def row_sums a = let n = length a in
  fold (\\m k -> build n (\\i -> if i > k then map (\\x -> x - 0.1 * sum m[i]) m[i] else m[i])) a (iota n)
def row_sum_first a = let n = length a in
  fold (\\m k -> build n (\\i -> if i > k then let s = sum m[i] + sum m[k] in map (\\x -> x - 0.1 * s) m[i] else m[i])) a (iota n)
def in_a_row a = let n = length a in
  fold (\\m k -> build n (\\i -> if i > k then build (length m[i]) (\\j -> if j == 0 then m[i, j] else m[i, j] * m[i, 0] + m[k, j]) else m[i])) a (iota n)
def of_itself a = let n = length a in
  fold (\\m k -> build n (\\i -> if i > k then build (length m[i]) (\\j -> if j > 0 then m[i, j] * m[i, j - 1] else m[i, j]) else m[i])) a (iota n)
def old_and_new a = let n = length a in
  fold (\\m k -> let next = build n (\\i -> if i > k then map2 (\\x y -> x - 0.3 * y) m[i] m[k] else m[i]) in map2 (map2 (\\x y -> 0.9 * x + 0.1 * y)) next m) a (iota n)
def read_after a = let n = length a in
  fst (fold (\\(m, s) k -> let next = build n (\\i -> if i > k then map2 (\\x y -> x - 0.3 * y + 0.1 * s) m[i] m[k] else m[i]) in
    (next, s + m[n - 1, 0] + next[n - 1, 0] + m[k, 0] + sum m[k])) (a, 0.1) (iota n))
def by_value a = let n = length a in
  fold (\\m k -> build n (\\i -> if m[i, 0] > 0.0 then map2 (\\x y -> x - 0.3 * y) m[i] m[k] else m[i])) a (iota n)
def swapped a = let n = length a in
  fst (fold (\\(m, l) k -> (build n (\\i -> if i > k then map2 (\\x y -> x - 0.1 * y) m[i] l[k] else m[i]), build n (\\i -> if i <= k then l[i] else map2 (\\x y -> x + 0.2 * y) m[i] l[i]))) (a, a) (iota n))
def by_map a = let n = length a in
  fold (\\m k -> map2 (\\i r -> if i > k then map2 (\\x y -> x - r[k] / m[k, k] * y) r m[k] else r) (iota n) m) a (iota n)
def bordered a = let n = length a in
  iterate 3 (\\m -> build n (\\i -> if i == 0 || i == n - 1 then m[i] else map2 (\\x y -> 0.5 * (x + sin y)) m[i] m[0])) a
def grown a = let n = length a in
  fold (\\m k -> build n (\\i -> if i > k then concat (slice m[i] 0 1) (slice m[i] 1 (length m[i])) else m[i])) a (iota n)
def until a = let n = length a in
  fst (while_loop (\\(m, k) -> k < n) (\\(m, k) -> (build n (\\i -> if i > k then map2 (\\x y -> x - 0.3 * y) m[i] m[k] else m[i]), k + 1)) (a, 0))
def wide a = let n = length a in
  fold (\\m k -> build n (\\i -> if i < k then m[i] else build n (\\j -> m[i, j] * 0.5 + m[i, k]))) a (iota n)
def forward b = let n = length b in
  fold (\\x k -> build n (\\i -> if i > k then x[i] - sin (real (i * k)) * x[k] else x[i])) b (iota n)
def single b = let n = length b in
  fold (\\x k -> build n (\\i -> if i == k then sin x[i] + x[max 0 (i - 1)] * x[n - 1] else x[i])) b (iota n)
def total b = let n = length b in
  fold (\\x k -> build n (\\i -> if i == k then 0.1 * sum x else x[i])) b (iota n)
def shifted b = let n = length b in
  fold (\\x k -> build n (\\i -> if i > k then 0.5 * (x[i] + x[i - 1]) else x[i])) b (iota n)
def away b = let n = length b in
  fold (\\x k -> build n (\\i -> if i == k + 2 then x[i] * x[k] else x[i])) b (iota n)
def table b = let n = length b in
  fold (\\t k -> build (2 * n) (\\c -> if c < k then t[c] else max t[c] (t[c - k] + b[k]))) (replicate (2 * n) 0.0) (iota n)
def gradients f sizes = map (\\n -> weigh (grad (\\u -> weigh (f u)) (numbers 7 n))) sizes
def hessians f sizes = map (\\n -> weigh (snd (jvp (grad (\\u -> weigh (f u))) (numbers 7 n, numbers 3 n)))) sizes
def flat f u = weigh (map weigh (f u))
def gradients2 f sizes = map (\\(n, m) -> weigh (map weigh (grad (flat f) (matrix n m)))) sizes
def hessians2 f sizes = map (\\(n, m) -> weigh (map weigh (snd (jvp (grad (flat f)) (matrix n m, matrix n m))))) sizes
def values f sizes = map (\\(n, m) -> flat f (matrix n m)) sizes
";

const SIZES: &str = "[1, 2, 3, 4, 7, 16, 33]";
const SQUARES: &str = "[(1, 1), (2, 2), (3, 3), (5, 5), (9, 9)]";
/// More columns than rows, and fewer: steps that make rows of as many columns as there are rows fail for the latter.
const OTHERS: [&str; 3] = ["[(1, 3), (2, 5), (4, 9)]", "[(3, 1)]", "[(3, 2)]"];

const OF_MATRICES: [&str; 24] = [
    "lower",
    "pivots",
    "corners",
    "corners_too",
    "jordan",
    "one",
    "scaled",
    "upward",
    "chained",
    "ahead",
    "crossed",
    "row_sums",
    "row_sum_first",
    "in_a_row",
    "of_itself",
    "old_and_new",
    "read_after",
    "by_value",
    "swapped",
    "by_map",
    "bordered",
    "grown",
    "until",
    "wide",
];

/// All programs, each a function and what is asked of it.
fn programs() -> Vec<String> {
    let mut all = Vec::new();
    for f in OF_MATRICES {
        all.push(format!("gradients2 {f} {SQUARES}"));
        all.push(format!("hessians2 {f} {SQUARES}"));
        all.extend(OTHERS.iter().map(|sizes| format!("values {f} {sizes}")));
        all.extend(OTHERS.iter().map(|sizes| format!("gradients2 {f} {sizes}")));
    }
    for f in ["forward", "single", "total", "shifted", "away", "table"] {
        all.push(format!("gradients {f} {SIZES}"));
        all.push(format!("hessians {f} {SIZES}"));
        all.push(format!("{f} (numbers 3 0)"));
    }
    all
}

#[test]
fn what_makes_most_of_an_array_as_it_was_is_the_same_everywhere() {
    parallel::check_all("programs", &programs(), |expression| everywhere::same(DEFINITIONS, expression));
}
