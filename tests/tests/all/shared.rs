//! Data that many points share: what all of them give to its cotangent is added up while one goes through it.

use wengert_tests::{everywhere, parallel};

const DEFINITIONS: &str = "\
type Expr = Const Real | Var Int | Add Expr Expr | Mul Expr Expr | Sin Expr
def eval (env : (Real, Real)) e =
  match e with
  | Const c -> c
  | Var i -> let (x, y) = env in if i == 0 then x else y
  | Add a b -> eval env a + eval env b
  | Mul a b -> eval env a * eval env b
  | Sin a -> sin (eval env a)
def expr = Add (Mul (Var 0) (Const 2.0)) (Sin (Mul (Add (Var 1) (Const 0.5)) (Mul (Const 3.0) (Var 0))))
def deep n = if n == 0 then Const 0.5 else if mod n 2 == 0 then Add (deep (n - 1)) (Var 1) else Mul (Sin (deep (n - 1))) (Const 1.1)
def fit (e, points) = mean (map (\\p -> eval p e ^ 2) points)
def fit_twice (e, points) = sum (map (\\p -> eval p e * cos (eval (snd p, fst p) e)) points)
def points n = build n (\\i -> (0.3 * real i - 0.7, sin (real i)))
type Tree = Empty | Node (Real, Real) Tree Tree
def grow n = if n == 0 then Empty else Node (sin (real n), cos (real (3 * n))) (grow (n / 2)) (grow (n / 3))
def distance2 (x, y) (u, v) = (x - u) ^ 2 + (y - v) ^ 2
def nearest tree axis (qx, qy) best =
  match tree with
  | Empty -> best
  | Node (x, y) left right ->
    let best = min best (distance2 (x, y) (qx, qy))
    let gap = if axis == 0 then qx - x else qy - y
    let (near, far) = if gap < 0 then (left, right) else (right, left)
    let best = nearest near (1 - axis) (qx, qy) best
    in if gap * gap < best then nearest far (1 - axis) (qx, qy) best else best
def queries (tree, qs) = sum (map (\\q -> nearest tree 0 q 100.0) qs)
def find key tree =
  match tree with
  | Empty -> key
  | Node (x, y) left right -> if key < x then y * find key left else y + find (key - x) right
def found (tree, qs) = sum (map (\\(q, _) -> find q tree) qs)
def swapped key tree =
  match tree with
  | Empty -> key
  | Node (x, y) left right ->
    let (a, b) = if key < x then (left, right) else (right, left) in x * swapped (key * 0.5) a + y * swapped (x * y) b
def doubled key tree =
  match tree with
  | Empty -> key
  | Node (x, y) left right ->
    let (a, b) = if key < x then (left, left) else (right, left) in y + x * doubled (key * 0.5) a + doubled y b
def thrice key tree =
  match tree with
  | Empty -> key
  | Node (x, y) left right ->
    let (a, b) = if key < x then (left, right) else (right, left) in x * thrice key a + thrice y b * thrice x left
def chosen (tree, qs) = sum (map (\\(q, p) -> swapped q tree * doubled p tree + thrice (q * p) tree) qs)
type List = Nil | Cons Real List
def list n = if n == 0 then Nil else Cons (0.1 * real n) (list (n - 1))
def horner xs t = match xs with | Nil -> 0.0 | Cons x rest -> x + t * horner rest t
def run xs s t = match xs with | Nil -> s | Cons x rest -> run rest (s * t + x) t
def fold_list (xs, ts) = sum (map (\\t -> horner xs t * run xs 0.5 t) ts)
def both a b = match (a, b) with | (Cons x xs, Cons y ys) -> x * y + both xs ys | _ -> 1.0
def itself (xs, ts) = sum (map (\\t -> t * both xs xs) ts)
type Model = Layer [](Real) Model | Scaled {gain : Real, inner : Model} | Output (Real -> Real)
def predict m (x : []Real) =
  match m with
  | Layer w rest -> predict rest (map2 (\\a b -> tanh (a * b)) w x)
  | Scaled {gain = g, inner = rest} -> g * predict rest x
  | Output f -> f (sum x)
def model k = Layer [0.5, 0.2, -0.3] (Scaled {gain = 1.5, inner = Layer [1.0, -1.0, k] (Output (\\y -> k * y * y))})
def loss (a, k, xs) = sum (map (\\x -> predict (Layer a (model k)) x) xs)
type Shape = Circle Real | Pair Shape Shape | Moved (Real, Real) Shape
def sdf s (p : (Real, Real)) =
  match s with
  | Circle r -> sqrt (fst p ^ 2 + snd p ^ 2 + 0.01) - r
  | Pair a b -> min (sdf a p) (sdf b p)
  | Moved (x, y) a -> sdf a (fst p - x, snd p - y)
def scene = Pair (Moved (0.3, -0.2) (Circle 0.5)) (Pair (Circle 0.2) (Moved (-1.0, 0.4) (Moved (0.1, 0.1) (Circle 0.3))))
def area (s, ps) = mean (map (\\p -> exp (-(sdf s p) ^ 2)) ps)
def own e = match e with
  | Const c ->
    let heavy x w = if w > 1.0 then fail \"above\" else if w < -0.5 then fail \"below\" else 2.0 * x * w
    in custom_vjp (\\x -> x * x) (\\x -> (x * x, heavy x)) c
  | Add a b -> own a + own b
  | Mul a b -> own a * own b
  | Sin a -> sin (own a)
  | Var i -> real i
def ruled (e, ps) = sum (map (\\p -> fst p * own e) ps)
def checked limit e = match e with
  | Const c -> if c > limit then fail \"too large\" else c
  | Add a b -> checked limit a + checked limit b
  | Mul a b -> checked limit a * checked limit b
  | Sin a -> checked limit a
  | Var i -> 1.0
def limited (e, ls) = sum (map (\\l -> checked l e) ls)
def ticks n = build n (\\i -> 0.2 * real i - 0.5)
";

fn programs() -> Vec<String> {
    let mut all = Vec::new();
    for n in [0, 1, 2, 5] {
        for f in ["fit", "fit_twice"] {
            for e in ["expr", "(deep 7)", "(Var 1)", "(Const 2.0)"] {
                all.push(format!("grad {f} ({e}, points {n})"));
            }
            all.push(format!(
                "snd (jvp (\\t -> grad {f} (Add (Const t) (Mul expr (Const t)), points {n})) (0.7, 1.0))"
            ));
        }
        for tree in [0, 1, 6, 11] {
            for f in ["queries", "found", "chosen"] {
                all.push(format!("grad {f} (grow {tree}, points {n})"));
            }
        }
        for xs in [0, 1, 4] {
            for f in ["fold_list", "itself"] {
                all.push(format!("grad {f} (list {xs}, ticks {n})"));
                all.push(format!(
                    "derivative (\\t -> fst (vjp {f} (Cons t (list {xs}), ticks {n})) * t) 0.4"
                ));
            }
        }
        all.push(format!("grad (\\(a, k) -> loss (a, k, build {n} (\\i -> [0.1 * real i, 0.5, -0.2]))) ([0.3, 0.1, 0.9], 0.6)"));
        all.push(format!("grad area (scene, points {n})"));
        all.push(format!(
            "grad (\\s -> sum (map (\\p -> let (x, y) = grad (sdf s) p in x * y) (points {n}))) scene"
        ));
        all.push(format!("grad ruled (Mul (Const 3.0) (Sin (Add (Const 0.5) (Var 0))), points {n})"));
        all.push(format!("grad ruled (Add (Const 0.3) (Mul (Const 0.5) (Var 1)), points {n})"));
        all.push(format!("grad ruled (Add (Const 0.5) (Const 3.0), points {})", 2 * n));
        all.push(format!("grad limited (Mul (Const 0.1) (Add (Const 0.2) (Const (-0.3))), ticks {n})"));
        all.push(format!("grad limited (Mul (Const (-4.0)) (Add (Const (-0.7)) (Var 1)), ticks {n})"));
    }
    // Elements of arrays are no variables that a sum could go through.
    for n in [2, 5] {
        all.push(format!(
            "grad (\\(e, xs) -> sum (build (length xs - 1) (\\i -> xs[i] * eval (xs[i], xs[i + 1]) e))) (expr, ticks {n})"
        ));
        all.push(format!("grad (\\(e, xs) -> eval (xs[0], xs[1]) e * xs[0]) (expr, ticks {n})"));
        all.push(format!(
            "grad (\\(e, xs) -> fold (\\s x -> eval (s, xs[1]) e + x) xs[0] xs) (expr, ticks {n})"
        ));
    }
    all.push("let (y, b) = vjp fit (expr, points 3) in (b 1.0, b (-0.5))".into());
    all.push(
        "grad (\\(xs, ts) -> fold (\\s t -> s * 0.5 + horner xs (t + s)) 0.1 ts) (list 3, ticks 4)".into(),
    );
    all.push("grad (\\(xs, ts) -> snd (while_loop (\\(i, s) -> i < 3) (\\(i, s) -> (i + 1, s + run xs s ts[i])) (0, 0.2))) (list 3, ticks 4)".into());
    all
}

#[test]
fn gradients_of_data_that_many_points_share_are_the_same_everywhere() {
    parallel::check_all("programs", &programs(), |expression| everywhere::same(DEFINITIONS, expression));
}
