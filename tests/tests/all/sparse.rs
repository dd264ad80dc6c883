//! Rows of sparse matrices: loops that begin where an array says, and go on to where it says; and what such programs are made of.

use wengert_tests::{everywhere, parallel};

const DEFINITIONS: &str = "\
import linalg
def numbers k n = build n (\\i -> real ((i * k * 37 + 11) % 101) / 50.0 - 1.0)
def weigh (xs : []Real) = sum (map2 (\\i x -> x * (1.0 + 0.1 * real i)) (iota (length xs)) xs)
def matrix n m = build n (\\i -> map (\\x -> x + 0.3 * real i) (numbers 5 m))
def flat (rows : [][]Real) = weigh (map weigh rows)
def equal (starts : []Int) (xs : []Real) =
  let row i =
    let rec go k s = if k == starts[i + 1] then s else go (k + 1) (s + xs[k] * sin xs[k])
    in go starts[i] 0.0
  in sum (build (length starts - 1) row)
def below (starts : []Int) (xs : []Real) =
  let row i =
    let end = starts[i + 1]
    let rec go k s = if k >= end then s else go (k + 1) (s * 0.9 + xs[k] * exp (0.0 - s * s))
    in go starts[i] 0.0
  in sum (build (length starts - 1) row)
def looping (starts : []Int) (xs : []Real) =
  sum (build (length starts - 1) (\\i ->
    snd (while_loop (\\(k, s) -> k < starts[i + 1]) (\\(k, s) -> (k + 1, s + xs[k] / (1.0 + s * s))) (starts[i], 0.0))))
def first (starts : []Int) (xs : []Real) =
  let rec go k s = if k >= starts[0] then s else go (k + 1) (s + xs[k] * xs[k]) in go 0 0.0
def sides (starts : []Int) (xs : []Real) =
  let rec go k s =
    if k == starts[1] then s else if xs[k] > 0.2 then go (k + 1) (s + xs[k]) else go (k + 1) (s * xs[k])
  in go starts[0] 1.0
def upward (starts : []Int) (xs : []Real) =
  let rec go k = if k == starts[1] then 0.0 else xs[k] + 0.5 * go (k + 1) in go starts[0]
def times (starts : []Int) (places : []Int) (xs : []Real) (us : []Real) =
  let rec go i k s = if k == starts[i + 1] then s else go i (k + 1) (s + xs[k] * us[places[k]])
  in build (length starts - 1) (\\i -> go i starts[i] 0.0)
def halving (ps : []Real) =
  sum (map (\\p ->
    let rec go lo hi n =
      let m = 0.5 * (lo + hi) in if n == 0 then m * p else if m * m < p * p then go m hi (n - 1) else go lo m (n - 1)
    in go 0.0 2.0 30) ps)
def twice (a : [][]Real) (xs : []Real) = linalg.solve (matrix_plus a) xs
def matrix_plus (a : [][]Real) =
  build (length a) (\\i -> build (length a) (\\j -> a[i, j] * 0.1 + (if i == j then 3.0 else 0.0)))
def solved (xs : []Real) =
  let a = matrix (length xs) (length xs) in weigh (twice a xs) * weigh (twice a (map sin xs)) + linalg.det (matrix_plus a)
def solving (a : [][]Real) = norm_squared (twice a (numbers 3 (length a)))
def rooted a =
  let n = length a
  let row l i =
    let entry r j =
      if i == j then set r j (sqrt (2.0 + a[i, i] * a[i, i] + sum (build j (\\k -> r[k] * r[k]))))
      else set r j ((a[i, j] - sum (build j (\\k -> r[k] * l[j, k]))) / l[j, j])
    in set l i (fold entry (replicate n 0.0) (iota (i + 1)))
  in fold row (replicate n (replicate n 0.0)) (iota n)
def spread (a : [][]Real) =
  let step rows k =
    let q = scale (1 / (2.0 + norm_squared rows[k])) rows[k]
    in build (length rows) (\\i ->
      if i < k then rows[i] else if i == k then q else add rows[i] (scale (-(dot q rows[i])) q))
  in fold step a (iota (length a))
def apart (a : [][]Real) =
  sum (map (\\r -> sum (map (\\s -> exp (-(norm_squared (map2 (-) r s)))) a)) a)
def forces (ps : [n][3]Real) =
  let pull (a : [3]Real) (b : [3]Real) : [3]Real = let d = map2 (-) b a in map (\\x -> x / (dot d d + 0.1)) d
  in sum (map (\\p -> let s : [3]Real = fold (\\s q -> add s (pull p q)) [0, 0, 0] ps in s[0] * s[1] + s[2]) ps)
def filtered (zs : [][2]Real) =
  let f : [2][2]Real = [[1, 0.1], [-0.1, 0.9]]
  let step (x : [2]Real, p : [2][2]Real) (z : [2]Real) =
    let p = map2 (map2 (+)) (matmul (matmul f p) (transpose f)) (map (map (\\e -> 0.1 * e)) [[1, 0], [0, 1]])
    in (add (matvec f x) (matvec p (map2 (-) z x)), map (map (\\e -> e / (1.0 + p[0, 0] * p[0, 0]))) p)
  let (x, p) = fold step ([0.5, 0.2], [[1, 0], [0, 1]]) zs
  in x[0] * x[1] + p[0, 1] + p[1, 1]
def inside (u : []Real) = sum (map (\\x -> if x > -0.5 && x < 0.4 then x * x else if x < -0.9 || x > 0.9 then 1.0 else sin x) u)
def pumped (u : []Real) =
  let n = length u in weigh (iterate 5 (\\u -> build n (\\i ->
    0.5 * u[i] + 0.2 * ((if i == 0 then 0.0 else u[i - 1]) + (if i == n - 1 then 0.0 else u[i + 1])) + (if i == n / 2 then u[0] else 0.0))) u)
def around (u : []Real) = sum (build (length u) (\\i -> u[mod (i - 3) 8 % length u] * u[i] + real (mod (i - 20) 16) * u[i]))
def ringed (u : []Real) =
  let n = length u in weigh (iterate 3 (\\u -> build n (\\i ->
    let l = if i == 0 then u[n - 1] else u[i - 1] let r = u[if i + 1 < n then i + 1 else 0]
    in sin u[i] + l * r - 0.3 * (if i >= n - 1 then u[0] else u[i + 1]))) u)
def torus (a : [][]Real) =
  let n = length a let m = length a[0] in flat (iterate 2 (\\a -> build n (\\i -> build m (\\j ->
    let up = if i == 0 then a[n - 1, j] else a[i - 1, j] let right = if j == m - 1 then a[i, 0] else a[i, j + 1]
    in a[i, j] * 0.5 + up * right))) a)
def longer (v : []Real) (u : []Real) = let n = length u in sum (build n (\\i -> (if i == 0 then v[n - 1] else v[i - 1]) * u[i]))
def divided k (u : []Real) =
  let n = length u in weigh (build n (\\i -> if i == 0 then (let d = div 7 k in u[n - 1]) else (let d = mod 5 (i - k) in u[i - 1])))
def warped (u : []Real) =
  let row before x = scan (\\left j -> (x - u[j]) ^ 2 + min left (min before[j] (if j > 0 then before[j - 1] else 9.0))) 9.0 (iota (length u))
  in weigh (fold row (replicate (length u) 0.0) u)
def typed (u : [5]Real) : Real = tanh u[1]
def listed (v : [3]Real) (m : [2][2]Real) = v[0] * v[1] * sin v[2] + m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0] * v[0]
def gradient f u = grad f u
def curved f u = snd (jvp (grad f) (u, map sin u))
def curved_rows f a = flat (snd (jvp (grad f) (a, map (map sin) a)))
";

/// Where rows begin and end: as they should, the other way round, and where nothing is.
const STARTS: [&str; 14] = [
    "[0, 2, 5]",
    "[0, 0, 5, 5]",
    "[2, 4]",
    "[5, 5]",
    "[0]",
    "[]",
    "[3, 1]",
    "[4, 6]",
    "[-1, 2]",
    "[1, -2]",
    "[2, 9223372036854775807]",
    "[-9223372036854775808, 1]",
    "[-9223372036854775808, 9223372036854775807]",
    "[1000000000000, 3]",
];

fn programs() -> Vec<String> {
    let mut all = Vec::new();
    for starts in STARTS {
        for f in ["equal", "below", "looping", "first", "sides", "upward"] {
            all.push(format!("{f} {starts} (numbers 7 5)"));
            all.push(format!("gradient ({f} {starts}) (numbers 7 5)"));
            all.push(format!("curved ({f} {starts}) (numbers 7 5)"));
        }
        all.push(format!(
            "let s = {starts} in grad (\\(xs, us) -> weigh (times s [2, 0, 1, 1, 2] xs us)) (numbers 7 5, numbers 3 3)"
        ));
    }
    all.push("weigh (times [0, 2, 5] [2, 0, 3, 1, 2] (numbers 7 5) (numbers 3 3))".into());
    for n in [0, 1, 2, 3, 7, 16, 40] {
        for f in ["halving", "inside", "warped"] {
            all.push(format!("({f} (numbers 7 {n}), gradient {f} (numbers 7 {n}))"));
        }
        all.push(format!("curved warped (numbers 7 {n})"));
        if n > 0 {
            for f in ["pumped", "around", "ringed", "longer (numbers 3 7)"] {
                all.push(format!(
                    "({f} (numbers 7 {n}), gradient {f} (numbers 7 {n}), curved {f} (numbers 7 {n}))"
                ));
            }
        }
    }
    for n in [1, 2, 3, 6] {
        all.push(format!("(solved (numbers 7 {n}), gradient solved (numbers 7 {n}))"));
        for f in ["solving", "(rooted >> flat)", "(spread >> flat)", "apart", "torus"] {
            all.push(format!("(grad {f} (matrix {n} {n}), curved_rows {f} (matrix {n} {n}))"));
        }
        all.push(format!("grad forces (matrix {n} 3)"));
        all.push(format!("(grad filtered (matrix {n} 2), curved_rows filtered (matrix {n} 2))"));
    }
    for k in [0, 1, 9] {
        all.push(format!("(divided {k} (numbers 7 4), gradient (divided {k}) (numbers 7 4))"));
    }
    all.push("apart [[1.0, 2.0], [1.0]]".into());
    all.push("spread [[1.0, 2.0], [1.0]]".into());
    all.push("solving (matrix 2 3)".into());
    all.push("forces (matrix 2 4)".into());
    for n in [0, 1, 4, 5] {
        all.push(format!("let us = numbers 3 {n} in build 2 (\\i -> typed us + real i)"));
        all.push(format!("gradient (\\us -> sum (build 3 (\\i -> typed us * real i))) (numbers 3 {n})"));
    }
    all.push("grad (\\(v, m) -> listed v m) (numbers 3 3, matrix 2 2)".into());
    all.push("grad (\\(v, m) -> listed v m) (numbers 3 3, matrix 2 3)".into());
    all.push(
        "snd (jvp (grad (\\(v, m) -> listed v m)) ((numbers 3 3, matrix 2 2), (numbers 5 3, matrix 2 2)))"
            .into(),
    );
    all
}

#[test]
fn rows_that_begin_anywhere_are_the_same_everywhere() {
    parallel::check_all("programs", &programs(), |expression| everywhere::same(DEFINITIONS, expression));
}
