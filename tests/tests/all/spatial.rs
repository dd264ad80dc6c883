//! Vectors and matrices of space, in loops that hand them on, and loops that count by hand: every engine gives what the interpreter gives, whether they
//! became numbers or stayed arrays.

use wengert_tests::{everywhere, parallel};

const DEFINITIONS: &str = "\
def numbers k n = build n (\\i -> sin (real (k * i + 1)) + 0.1)
def points n m = build n (\\i -> build m (\\j -> cos (real (3 * i + 5 * j + 1)) + 0.2))
def weigh xs = sum (map2 (\\i x -> (1.5 + sin (real i)) * x) (iota (length xs)) xs)
def turn (t : Real) : [2][2]Real = [[cos t, -sin t], [sin t, cos t]]
def arm (angles : []Real) =
  let step ((place, frame) : ([]Real, [][]Real)) t =
    let frame = matmul frame (if t > 0.3 then turn t else [[1.0, t], [-t, 1.0]])
    in (map2 (+) place (matvec frame [t, 0.5]), frame)
  in let (place, frame) = fold step ([0.1, 0.2], [[1.0, 0.0], [0.0, 1.0]]) angles
  in weigh place + weigh (map weigh (transpose frame))
def project (m : [3][3]Real) (t : [3]Real) (xs : [n][3]Real) =
  sum (map (\\p -> let q = map2 (+) (matvec m p) t in (q[0] * q[0] + q[1]) / (2.0 + q[2] * q[2])) xs)
def projected xs = project (points 3 3) (numbers 2 3) xs
def moved (xs : [n][3]Real) = map (\\p -> matvec (points 3 3) p) xs
def flat xs = weigh (map weigh xs)
def nearest (xs : [n][2]Real) (centers : [k][2]Real) =
  sum (map (\\p -> minimum (map (\\c -> sum (map2 (\\a b -> (a - b) ^ 2) p c)) centers)) xs)
def near xs = nearest xs (points 3 2)
def pairs (x : [n][3]Real) (y : [n][3]Real) = sum (map2 (\\p q -> dot p q / (1.0 + maximum p * minimum q)) x y)
def paired x = pairs x (map (map sin) x)
def couples (x : [n][2][2]Real) = sum (map (\\m -> sum (map sum (matmul m (transpose m)))) x)
def coupled (u : []Real) = couples (map (\\t -> [[t, 1.0], [0.5, t * t]]) u)
def picked (u : []Real) =
  fold (\\(v : []Real) t -> let k = length v - 1 - floor (abs t) % 2 in [v[k] * t, v[0], v[k - 1] + t]) [0.1, 0.2, 0.3] u
def written (u : []Real) = fold (\\(v : []Real) t -> set v 1 (v[0] * t + v[1])) [0.5, 0.2] u
def written_at (u : []Real) = fold (\\(v : []Real) (i, t) -> set v (i % 2) (v[0] * t + v[1])) [0.5, 0.2] (zip (iota (length u)) u)
def swapping (u : []Real) = let (a, b) = fold (\\((a, b) : ([]Real, []Real)) t -> (b, map (\\x -> x * t) a)) ([1.0, 2.0], [0.3, 0.4]) u in weigh a + 2.0 * weigh b
def kept (u : []Real) = fold (\\((v, all) : ([]Real, [][]Real)) t -> let w = [v[1], v[0] * t] in (w, concat all [w])) ([0.3, 0.7], [[0.0, 0.0]]) u
def nested (u : []Real) =
  fold (\\(v : []Real) t -> fold (\\(w : []Real) s -> [w[0] + s * w[1], w[1] - t * w[0]]) v [t, 0.5]) [0.1, 0.9] u
def solved (u : []Real) =
  let step ((x, k) : ([]Real, Int)) : ([]Real, Int) =
    let m = [[2.0 + x[1] * x[1], 0.3], [u[0] * 0.1, 3.0]]
    let r = matvec m x
    in ([x[0] - 0.3 * (r[0] - 1.0), x[1] - 0.3 * (r[1] - u[0])], k + 1)
  in weigh (fst (while_loop (\\(x, k) -> norm_squared x < 40.0 && k < 12) step ([0.1, 0.2], 0)))
def framed (u : []Real) =
  let (m, _) = while_loop (\\(m, k) -> k < 5 && m[0, 0] < 4.0) (\\(m, k) -> (matmul m [[1.0, u[0]], [0.2, cos (real k)]], k + 1)) ([[0.9, 0.1], [0.3, 1.1]], 0)
  in sum (map weigh m)
def indexed (u : []Real) =
  weigh (fst (while_loop (\\(v, k) -> v[k % 2] < 5.0 && k < 9) (\\(v, k) -> ([v[1] + 0.3, v[0] * u[0]], k + 1)) ([0.4, 0.5], 0)))
def growing (u : []Real) =
  weigh (fst (while_loop (\\(v, k) -> length v < 6) (\\(v, k) -> (concat v [v[0] * u[0]], k + 1)) ([0.4, 0.5], 0)))
def narrow (u : []Real) = let ws = build (length u - 2) (\\i -> sum (slice u i (i + 3)) * maximum (slice u i (i + 2))) in weigh ws
def weights (ws : [2][2]Real) = sum (build 20 (\\i -> let t = sin (real i) in ws[0, 0] * t + ws[1, 1] * t * t + ws[0, 0] * ws[0, 1]))
def squares xs = let rec go i acc = if i == length xs then acc else go (i + 1) (acc + xs[i] ^ 2) in go 0 0.0
def until xs = let rec go i acc = if i >= length xs then acc else go (i + 1) (acc * xs[i] + xs[i]) in go 0 0.1
def backward xs = let rec go i acc = if i < 0 then acc else go (i - 1) (acc * xs[i] + real i) in go (length xs - 1) 0.1
def down xs = let rec go i acc = if i == 0 then acc else go (i - 1) (acc * xs[i - 1] + real i) in go (length xs) 0.1
def from_one n x = let rec go i acc = if i <= n then go (i + 1) (acc * x + real i) else acc in go 1 0.5
def from_zero n x = let rec go i acc = if i <= n then go (i + 1) (acc * x + real i) else acc in go 0 0.5
def above n x = snd (while_loop (\\(i, y) -> i > 2) (\\(i, y) -> (i - 1, y * x + real i)) (n, 1.0))
def both n x = while_loop (\\(i, y) -> i < n) (\\(i, y) -> (i + 1, y * x + real i)) (0, 1.0)
def past xs n = let rec go i acc = if i < n then go (i + 1) (acc + xs[i]) else acc in go 0 0.0
def warp (xs : []Real) (ys : []Real) =
  let row (above, start) x =
    let cell (left, corner) (up, y) = (abs (x - y) + min corner (min up left), up)
    in (map fst (scan cell (infinity, start) (zip above ys)), infinity)
  let (last, _) = fold row (replicate (length ys) infinity, 0.0) xs
  in last[length ys - 1]
def align u = snd (fold (\\(above, best) x ->
    let next = map fst (scan (\\(left, corner) up -> (max 0 (max (corner + x) (max (up - 0.3) (left - 0.2))), up)) (0.0, 0.0) above)
    in (next, max best (maximum next))) (replicate 4 0.0, 0.0) u)
def chain (q : [n]Real) =
  let at q i = if i < 0 || i >= n q then 0.0 else q[i]
  in weigh (iterate 5 (\\q -> build (n q) (\\i -> at q (i - 1) - 1.9 * q[i] + at q (i + 1) - q[i] ^ 3 / (2.0 + abs q[i]))) q)
def n q = length q
def grid (h : [n][m]Real) (u : [n][m]Real) =
  let step ((h, u) : ([][]Real, [][]Real)) : ([][]Real, [][]Real) =
    (map2 (map2 (\\a b -> a * b + 0.1)) h u, build (n h) (\\i -> build (length u[0]) (\\j -> u[i, j] - 0.3 * h[(i + 1) % n h, j])))
  in let (h, u) = iterate 3 step (h, u) in sum (map sum h) + sum (map (map sin >> sum) u)
def gridded h = grid h (map (map cos) h)
def powers (xs : []Real) (ks : []Int) = map2 (\\x k -> x ^ k) xs ks
def wide (x : [n][3]Real) = sum (map sum x) + dot x[0] x[1]
def on_one_side c x = (if c then wide x else 0.5) + sum (map (\\r -> sum (map sin r)) x) + x[0, 1]
def in_some k x = sum (map (\\i -> if i > k then wide x else weigh x[i]) (iota (length x))) + sum (map weigh x)
def before_the_check c x m =
  (if c then sum (map (\\r -> sum (matvec m r)) x) else 0.0) + sum (map (\\r -> weigh (matvec (m : [2][2]Real) r)) x)
def gradients f ns = map (\\n -> weigh (grad f (numbers 7 n))) ns
def hessians f ns = map (\\n -> weigh (snd (jvp (grad f) (numbers 7 n, numbers 3 n)))) ns
def gradients2 f ns = map (\\(n, m) -> flat (grad f (points n m))) ns
def hessians2 f ns = map (\\(n, m) -> flat (snd (jvp (grad f) (points n m, points n m)))) ns
";

/// All programs, each a function and what is asked of it.
fn programs() -> Vec<String> {
    let mut all = Vec::new();
    for f in [
        "arm",
        "coupled",
        "(picked >> weigh)",
        "(written >> weigh)",
        "(written_at >> weigh)",
        "swapping",
        "(kept >> snd >> flat)",
        "(nested >> weigh)",
        "solved",
        "framed",
        "indexed",
        "growing",
        "squares",
        "until",
        "backward",
        "down",
        "align",
        "chain",
        "(\\u -> warp u (numbers 5 6))",
    ] {
        all.push(format!("gradients {f} [1, 2, 3, 8, 19]"));
        all.push(format!("hessians {f} [1, 2, 5, 20]"));
    }
    for f in ["arm", "squares", "until", "backward", "down", "coupled", "swapping"] {
        all.push(format!("({f} (numbers 1 0), grad {f} (numbers 1 0))"));
    }
    for (f, columns) in
        [("projected", 3), ("(moved >> flat)", 3), ("near", 2), ("paired", 3), ("gridded", 3), ("gridded", 1)]
    {
        let sizes = |all: &str| all.replace('m', &columns.to_string());
        all.push(format!("gradients2 {f} {}", sizes("[(1, m), (2, m), (7, m), (40, m)]")));
        all.push(format!("hessians2 {f} {}", sizes("[(1, m), (3, m), (9, m)]")));
    }
    all.push("couples []".into());
    for f in ["projected", "near", "paired", "moved"] {
        all.push(format!("{f} []"));
        all.push(format!("{f} (points 2 4)"));
    }
    for f in ["projected", "near", "paired"] {
        all.push(format!("grad {f} []"));
        all.push(format!("grad {f} [[], []]"));
    }
    all.push("grad (\\m -> project m (numbers 2 3) (points 30 3)) (points 3 3)".into());
    all.push("grad (\\m -> project m (numbers 2 3) []) (points 3 3)".into());
    all.push("grad (\\m -> project m (numbers 2 3) []) (points 3 2)".into());
    for columns in [2, 3, 4] {
        for c in ["true", "false"] {
            all.push(format!("grad (on_one_side {c}) (points 3 {columns})"));
            all.push(format!("before_the_check {c} (points 3 2) (points 2 {columns})"));
            all.push(format!("before_the_check {c} (points 3 {columns}) (points {columns} {columns})"));
        }
        all.extend([0, 2, 9].map(|k| format!("grad (in_some {k}) (points 4 {columns})")));
    }
    all.push("(grad weights (points 2 2), snd (jvp (grad weights) (points 2 2, points 2 2)))".into());
    all.push("gradients narrow [3, 4, 12]".into());
    all.push("narrow (numbers 5 1)".into());
    all.push("map (\\n -> jvp (from_one n) (0.7, 1.0)) [-3, 0, 1, 6]".into());
    all.push("map (\\n -> jvp (from_zero n) (0.7, 1.0)) [-3, 0, 1, 6]".into());
    all.push("map (\\n -> derivative (above n) 0.7) [-3, 2, 3, 9]".into());
    all.push("map (\\n -> both n 0.7) [-3, 0, 1, 6, -9223372036854775808]".into());
    all.push("map (past (numbers 5 4)) [-9223372036854775808, 0, 4]".into());
    all.push("past (numbers 5 4) 9223372036854775807".into());
    all.push("grad (\\xs -> past xs 5) (numbers 5 4)".into());
    for k in ["-9223372036854775808", "9223372036854775807", "-1", "0"] {
        all.push(format!("grad (\\xs -> weigh (powers xs [{k}, {k}, 2])) [2.0, -1.0, 0.5]"));
    }
    all
}

#[test]
fn vectors_of_space_and_loops_that_count_are_the_same_everywhere() {
    parallel::check_all("programs", &programs(), |expression| everywhere::same(DEFINITIONS, expression));
}
