//! Tapes of what functions do, also where what varies is a function, or derivatives are nested.

use super::given;
use std::path::Path;
use wengert_driver::scope::Scope;
use wengert_driver::{Engine, Session};
use wengert_tests::property::complaints;

/// Definitions, and programs with them: a tape has what a program did, through branches, data, arrays, closures, rules, checkpoints with
/// loops of any length, derivatives of derivatives and with respect to functions; in the order of the source, whatever loops are joined.
const RECORDED: [(&str, &[&str]); 11] = [
    (
        "",
        &[
            "map (snd (vjp (\\x -> iterate 3 (\\v -> v / v) x) 1.0)) [1.0, 1.0 / 0.0, 0.0 / 0.0]",
            "map (grad (\\x -> x * x - x * x)) [1.0, 1.0 / 0.0, 0.0 / 0.0]",
            "map (grad (\\x -> sin x * 3.0 - 3.0 * sin x)) [1.0, 1.0 / 0.0, 0.0 / 0.0]",
            "grad (\\(x, y) -> let a = (if x > 0.5 then [x, y] else [y, x]) in sum (map (\\t -> sin (t * x) + t / y) a) + a[0] * exp a[1]) (0.7, 1.3)",
            "grad (\\xs -> let m = fold (\\a x -> if x > a then x else a) 0.0 xs in sum (map (\\x -> exp (x - m)) xs) * m) [0.3, 1.7, 1.1, 0.9]",
            "grad (\\xs -> let ys = reverse xs in dot xs ys / sqrt (dot ys ys) + sum (map sin ys) * xs[1]) [0.3, 1.7, 1.1, 0.9]",
            "grad (\\m -> let t = transpose m in sum (map (\\r -> exp (sum r)) t) * sum (map (\\r -> sin (sum r) / r[0]) m)) [[0.3, 1.7], [1.1, 0.9]]",
            "grad (\\(m, v) -> let w = matvec m v in dot w w + sum (map (\\r -> tanh (dot r w)) m)) ([[0.3, 1.7], [1.1, 0.9]], [0.2, 0.7])",
            "grad (\\(a, b) -> sum (map (\\r -> log (1.0 + dot r r)) (matmul a b)) / a[0][1]) ([[0.3, 1.7], [1.1, 0.9]], [[0.2, 0.7], [1.3, 0.31]])",
            "grad (\\x -> let s = while_loop (\\(a, b, i) -> i < 5) (\\(a, b, i) -> (b, a * 0.7 + sin (b * x), i + 1)) (x, x * x, 0) in (\\(a, b, i) -> a * b + a / b) s) 0.83",
            "grad (\\xs -> let ys = scan (\\a x -> a * 0.9 + x * x) 0.1 xs in sum ys * ys[2] + xs[0]) [0.3, 1.7, 1.1, 0.9]",
            "grad (\\x -> taylor 3 (\\t -> sin (t * x)) 0.3 |> sum) 0.4",
            "hessian (\\(v : [3]Real) -> exp (v[0] * v[1]) * v[2] + sin (v[0] * v[2]) / v[1]) [1.1, 0.7, 0.3]",
            "grad (\\x -> grad (\\y -> exp (x * y) * sin y / x) (x * 0.3) * x) 0.7",
            "grad (grad (grad (\\x -> exp (sin x) * x / (1.0 + x * x)))) 0.83",
            "jvp (grad (\\(x, y) -> sin (x * y) * x / y)) ((0.3, 0.7), (1.1, 0.2))",
            "grad (\\x -> let (y, t) = jvp (\\z -> z * sin (z * x)) (x, x * x) in y * t + t / x) 0.77",
            "grad (\\xs -> maximum (map (\\x -> x * x) xs) * minimum xs + sum (sort xs |> map (\\x -> x * xs[0]))) [0.3, 1.7, 1.1, 0.9]",
            "grad (\\xs -> let f = filter (\\x -> x > 0.5) xs in sum (map (\\x -> x * x * xs[1]) f) / f[0]) [0.3, 1.7, 1.1, 0.9]",
            "grad (\\(x, n) -> x ^ 3 + x ^ 2 * sin x + x ** n) (1.3, 2.2)",
            "grad (\\xs -> reduce (\\a b -> a * b + sin a) 1.0 xs) [0.3, 1.7, 1.1, 0.9]",
            "grad (\\xs -> (set xs 1 (xs[0] * xs[2])) |> map (\\x -> exp x * xs[1]) |> sum) [0.3, 1.7, 1.1, 0.9]",
            "grad (\\xs -> sum (scatter_add xs [0, 1, 1, 2] (map (\\x -> x * x) xs) |> map sin) * xs[3]) [0.3, 1.7, 1.1, 0.9]",
            "grad (\\x -> let a = x * 1.7 in let b = a in let c = (a, b) in (\\(p, q) -> p * sin q + q / p + a * b) c) 0.9",
            "vjp (\\(x, ys) -> (map (\\y -> y * x + sin (y / x)) ys, sum ys * x)) (0.7, [0.3, 0.9]) |> (\\(v, b) -> b ([1.1, 0.3], 0.7))",
        ],
    ),
    (
        "type T = L Real | N T T\n\
        def leaf x = L x\n\
        def total t = match t with | L x -> sin x | N a b -> total a * total b + total a\n\
        def mapt f t = match t with | L x -> L (f x) | N a b -> N (mapt f a) (mapt f b)\n\
        def pick t = match t with | L x -> x | N a b -> if total a > total b then pick a else pick b",
        &[
            "grad (\\x -> total (N (L x) (N (L (x * x)) (L x)))) 0.7",
            "grad (\\t -> total t + pick t * total (mapt (\\x -> x * pick t) t)) (N (L 0.3) (N (L 0.7) (L 1.1)))",
            "grad (\\x -> let t = N (L x) (N (L x) (L (x * 2.0))) in total (mapt (\\y -> y * y + x) t) * pick t / x) 0.3",
            "grad (grad (\\x -> total (N (L x) (N (L (x * x)) (L x))))) 0.7",
        ],
    ),
    (
        "type L = Nil | Cons Real L\n\
        def len l = match l with | Nil -> 0.0 | Cons x r -> x * x + len r * x\n\
        def push l x = Cons x l\n\
        def last l = match l with | Nil -> 0.0 | Cons x r -> (match r with | Nil -> x | Cons y q -> last r)",
        &[
            "grad (\\x -> len (push (push (push Nil x) (x * x)) x)) 0.7",
            "grad (\\(a, b) -> let l = fold (\\l i -> push l (last l * a + b)) (Cons a Nil) [1, 2, 3] in len l * last l) (0.7, 0.3)",
            "hessian (\\(v : [2]Real) -> let l = fold (\\l i -> push l (last l * v[0] + v[1])) (Cons v[0] Nil) [1, 2, 3] in len l * last l) [0.7, 0.3]",
            "grad (\\x -> let r = { a = x, b = x * x, c = [x, sin x] } in let s = { r with a = r.b } in s.a * r.a + sum r.c * s.c[0] / r.b) 0.9",
        ],
    ),
    (
        "def norm2 v = custom_jvp (\\x -> sqrt (dot x x)) (\\(x, t) -> (sqrt (dot x x), dot x t / sqrt (dot x x))) v\n\
        def soft x = custom_vjp (\\z -> log (1.0 + exp z)) (\\z -> (log (1.0 + exp z), \\w -> w / (1.0 + exp (-z)))) x\n\
        def ck f x = checkpoint f x",
        &[
            "grad (\\xs -> norm2 xs * soft (xs[0] * xs[1]) + soft xs[0] / norm2 xs) [0.3, 0.7]",
            "grad (\\x -> soft (soft x * x) * x + soft x) 0.7",
            "hessian (\\(v : [2]Real) -> soft (v[0] * v[1]) * v[0] + sin (soft v[1])) [0.7, 0.3]",
            "grad (\\(x, y) -> checkpoint (\\(a, b) -> a * sin b + a / b * a) (x * y, x) * x + checkpoint (\\a -> a * a * y) x) (0.7, 0.3)",
            "grad (\\xs -> fold (\\s i -> checkpoint (\\t -> t * 0.9 + sin (t * xs[i])) s) xs[0] [0, 1, 2]) [0.3, 0.7, 1.1]",
            "grad (grad (\\x -> checkpoint (\\a -> exp a * a * x) (x * x))) 0.3",
            "grad (\\y -> norm_squared (grad (\\((a, b), t) -> custom_jvp (\\v -> product (build 4 (\\i -> a + b))) (jvp (\\v -> product (build 4 (\\i -> a + b)))) 0.5) y)) ((1.9375, 1.1875), \"t\")",
        ],
    ),
    (
        "",
        &[
            "grad (\\x -> sum (map (\\i -> jvp (\\z -> z * sin z * x) (x * real i, 1.0) |> snd) (iota 4))) 0.7",
            "grad (\\xs -> let (y, t) = jvp (\\v -> matvec [v, reverse v] v) (xs, map (\\x -> x * x) xs) in dot y t) [0.3, 0.9]",
            "grad (\\xs -> let (y, b) = vjp (\\v -> map (\\a -> a * sum v) v) xs in dot (b y) xs) [0.3, 0.9, 1.3]",
            "hessian (\\(v : [3]Real) -> dot v (matvec [v, reverse v, v] v)) [0.3, 0.9, 1.1]",
            "hessian (\\(v : [2]Real) -> sum (map (\\r -> exp (sum r)) (matmul [v, v] [v, reverse v]))) [0.3, 0.9]",
            "grad (\\x -> sum (grad (\\(v : [3]Real) -> dot v v * x + v[0]) [x, x * x, 1.0])) 0.3",
            "grad (\\x -> maximum (grad (\\v -> max v[0] v[1] * v[2] + abs (v[0] - v[1]) ) [x, x * x, sin x])) 0.3",
            "hessian (\\(v : [2]Real) -> max (v[0] * v[1]) (v[0] - v[1]) + abs v[0] * relu v[1] + min v[0] (v[1] * v[0])) [0.3, 0.9]",
            "hessian (\\(v : [2]Real) -> atan2 v[0] v[1] * hypot v[0] v[1] + v[0] ** v[1]) [0.3, 0.9]",
            "hessian (\\(v : [3]Real) -> sqrt (v[0] * v[0] + v[1] * v[1]) / v[2] + v[2] * log v[0]) [0.3, 0.9, 1.1]",
            "grad (\\x -> let fs = [\\y -> y * x, \\y -> y + x * x, \\y -> sin y] in fold (\\a f -> f a) x fs) 0.7",
            "grad (\\x -> let f = (if x > 0.5 then (\\y -> y * x) else (\\y -> y / x)) in f (f x) * f 1.0) 0.7",
            "grad (\\(x, y) -> let c = (\\a b -> a * x + b * y) in let d = c y in d x * d y) (0.7, 0.3)",
            "grad (\\xs -> sum (map (\\(a, b) -> a * b + sin a) (zip xs (map (\\x -> x * x) xs)))) [0.3, 0.9, 1.1]",
            "grad (\\xs -> sum (map (\\row -> maximum row * sum row) (build 3 (\\i -> build 2 (\\j -> xs[i] * xs[j] + xs[j]))))) [0.3, 0.9, 1.1]",
            "grad (\\xs -> (\\(a, b) -> a / b) (fold (\\(a, b) x -> (a * x + b, b + sin (a * x))) (1.0, xs[0]) xs)) [0.3, 0.9, 1.1]",
            "grad (\\xs -> sum (concat xs (reverse xs) |> map (\\x -> x * xs[0]))) [0.3, 0.9, 1.1]",
            "grad (\\xs -> sum (slice xs 1 3 |> map (\\x -> x * x / xs[1]))) [0.3, 0.9, 1.1]",
            "grad (\\xs -> sum (replicate 4 (xs[0] * xs[1]) |> map sin) * xs[0]) [0.3, 0.9, 1.1]",
            "grad (\\xs -> product xs * xs[0] + product (map sin xs)) [0.3, 0.9, 1.1]",
            "grad (\\xs -> sum (map (\\i -> xs[i] * xs[2 - i]) [0, 1, 2, 0])) [0.3, 0.9, 1.1]",
            "jacrev (\\xs -> map (\\x -> x * sum xs / xs[0]) xs) [0.3, 0.9, 1.1]",
            "grad (\\x -> stop_gradient (x * x) * x + x * stop_gradient x) 0.7",
            "grad (\\x -> iterate 6 (\\y -> y - (y * y - x) / (2.0 * y)) x) 2.3",
            "grad (\\x -> let r = iterate 5 (\\(a, b) -> (b * x, a + b)) (x, x) in fst r * snd r) 0.3",
            "grad (\\x -> grad (\\y -> while_loop (\\(a, i) -> i < 3) (\\(a, i) -> (a * y + x, i + 1)) (y, 0) |> fst) x) 0.3",
            "grad (\\x -> polygamma 1 x * lgamma x + x ^ 2 * erf x) 1.3",
            "hessian (\\(v : [2]Real) -> gamma v[0] * digamma v[1] + tanh (v[0] * v[1]) + softplus v[0] * sigmoid v[1]) [1.3, 0.9]",
            "grad (\\(x, n) -> x ^ floor n + x ^ 1 + x ^ 0 * n) (1.3, 2.7)",
            "grad (\\x -> let n = floor (x * 3.0) in x ^ n * x ^ (n - 1) * x ^ (n - 2)) 0.9",
            "grad (grad (\\x -> let n = floor (x * 3.0) in x ^ n * x ^ (n - 1) * x ^ (n - 2))) 0.9",
            "vjp (\\xs -> (sort xs, maximum xs)) [0.3, 0.1, 0.7] |> (\\(v, b) -> b ([1.0, 2.0, 3.0], 0.5))",
            "grad (\\(m : [2][2]Real) -> sum (map sum (transpose m)) * m[0][1] + sum (flatten m |> map (\\x -> x * m[1][1]))) [[0.3, 0.9], [1.1, 0.2]]",
        ],
    ),
    (
        "type E = Lit Real | Var Int | Add E E | Mul E E | Sin E | Let E E\n\
        def look env i = env[i]\n\
        def ev env e = match e with | Lit x -> x | Var i -> look env i | Add a b -> ev env a + ev env b | Mul a b -> ev env a * ev env b | Sin a -> sin (ev env a) | Let a b -> let v = ev env a in ev (concat env [v]) b\n\
        def prog = Let (Mul (Var 0) (Var 1)) (Add (Sin (Var 2)) (Mul (Var 2) (Add (Var 0) (Lit 2.0))))",
        &[
            "grad (\\env -> ev env prog) [0.3, 0.7]",
            "hessian (\\(env : [2]Real) -> ev env prog) [0.3, 0.7]",
            "grad (\\(e, env) -> ev env e) (prog, [0.3, 0.7])",
            "grad (\\x -> grad (\\e -> ev [x, x * x] e * x) prog |> (\\g -> ev [x, 1.0] g)) 0.3",
        ],
    ),
    (
        "type L = Nil | Cons Real L\n\
        def fromA xs = fold (\\l x -> Cons x l) Nil xs\n\
        def mapl f l = match l with | Nil -> Nil | Cons x r -> Cons (f x) (mapl f r)\n\
        def suml l = match l with | Nil -> 0.0 | Cons x r -> x + suml r\n\
        def foldl f a l = match l with | Nil -> a | Cons x r -> foldl f (f a x) r\n\
        def app a b = match a with | Nil -> b | Cons x r -> Cons x (app r b)\n\
        def ins x l = match l with | Nil -> Cons x Nil | Cons y r -> if x < y then Cons x l else Cons y (ins x r)\n\
        def sortl l = foldl (\\a x -> ins x a) Nil l\n\
        def nth l i = match l with | Nil -> 0.0 | Cons x r -> if i == 0 then x else nth r (i - 1)",
        &[
            "grad (\\xs -> let l = fromA xs in suml (mapl (\\x -> x * x + suml l) (app l l)) * nth l 1) [0.3, 0.9, 0.5]",
            "grad (\\xs -> let l = sortl (fromA xs) in nth l 0 * nth l 1 / nth l 2 + suml (mapl sin l)) [0.3, 0.9, 0.5]",
            "grad (\\l -> suml (mapl (\\x -> x * nth l 1) (sortl l)) * suml l) (Cons 0.3 (Cons 0.1 (Cons 0.7 Nil)))",
            "hessian (\\(xs : [3]Real) -> let l = sortl (fromA xs) in nth l 0 * nth l 1 / nth l 2 + suml (mapl sin l)) [0.3, 0.9, 0.5]",
            "grad (\\xs -> foldl (\\a x -> if x > a then x * xs[0] else a) 0.0 (fromA xs) * xs[1]) [0.3, 0.9, 0.5]",
        ],
    ),
    (
        "def kstep ((x, p), z) = let pp = p + 0.1 in let k = pp / (pp + 0.5) in ((x + k * (z - x), (1.0 - k) * pp), (x - z) * (x - z) / pp)\n\
        def kalman (q, r, zs) = let s = fold (\\((x, p), acc) z -> let pp = p + q in let k = pp / (pp + r) in let e = z - x in ((x + k * e, (1.0 - k) * pp), acc + e * e / (pp + r) + log (pp + r))) ((zs[0], q * r), 0.0) zs in snd s\n\
        def newton f x = iterate 8 (\\y -> y - f y / grad f y) x\n\
        def ode f y0 n = iterate n (\\(y, t) -> let k1 = f (y, t) in let k2 = f (y + 0.05 * k1, t + 0.05) in let k3 = f (y + 0.05 * k2, t + 0.05) in let k4 = f (y + 0.1 * k3, t + 0.1) in (y + 0.1 / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4), t + 0.1)) (y0, 0.0) |> fst",
        &[
            "grad kalman (0.3, 0.7, [0.1, 0.9, 1.3, 0.4])",
            "grad (\\a -> newton (\\x -> x * x * x - a) a) 2.3",
            "grad (grad (\\a -> newton (\\x -> x * x * x - a) a)) 2.3",
            "grad (\\(k, y) -> ode (\\(y, t) -> k * y * (1.0 - y) + sin t * k) y 5) (0.9, 0.2)",
            "hessian (\\(v : [2]Real) -> ode (\\(y, t) -> v[0] * y * (1.0 - y)) v[1] 3) [0.9, 0.2]",
        ],
    ),
    (
        "",
        &[
            "grad (\\a -> snd (jvp (\\g -> g (g a) * a + g (a * a)) (\\x -> sin (a * x), \\x -> x * x / a))) 0.8",
            "grad (\\x -> snd (jvp (\\gs -> fold (\\a g -> g a * a + x) x gs) ([sin, \\y -> x * y], [cos, \\y -> x + y]))) 0.5",
            "grad (\\x -> apply_dual (pullback (\\f -> f (x * 2.0) * f 3.0 / (1 + f x)) to_dual (\\y -> sin (x * y))) cos) 0.7",
            "grad (\\x -> snd (linearize (\\g -> g (g x)) (\\y -> sin (x * y))) (\\y -> cos y * x)) 0.4",
            "grad (\\xs -> sum (map (\\x -> snd (jvp (\\g -> g (g x)) (\\z -> z * xs[0], cos))) xs)) [0.3, 0.7, 1.9]",
            "let f x = sin x * x / 3 + exp (x * x) in (grad f 1.1, jvp (\\g -> g (g 1.0)) (sin, cos), grad (\\x -> f (f x)) 0.3)",
        ],
    ),
    (
        "",
        &[
            "grad (\\(x, y) -> checkpoint (\\z -> iterate (floor (y * 4)) (\\w -> sin (w * z) + w * y / x) z) x * x) (0.7, 1.3)",
            "grad (\\(x, y) -> checkpoint (\\z -> iterate (floor (y * 8000)) (\\w -> sin (w * z) * 0.5 + w * y / x * 0.1) z) x * x) (0.7, 1.3)",
            "grad (\\(x, y) -> checkpoint (\\z -> fold (\\a i -> sin (a * z) * 0.5 + y * real i / 9000) z (iota (floor (y * 7000)))) x * x) (0.7, 1.3)",
            "grad (\\(x, y) -> checkpoint (\\(a, b) -> fold (\\s v -> sin (s * a) * 0.5 + b * v) a (map (\\i -> real i / 9000 * b) (iota 5000))) (x, y) * x) (0.7, 1.3)",
            "grad (\\(x, y) -> checkpoint (\\z -> fst (while_loop (\\(w, i) -> i < floor (y * 6000)) (\\(w, i) -> (sin (w * z) * 0.5 + w * y / x * 0.1, i + 1)) (z, 0))) x * x) (0.7, 1.3)",
            "grad (\\(x, y) -> checkpoint (\\z -> fst (while_loop (\\(w, i) -> i < floor (y * 6)) (\\(w, i) -> (sin (w * z) * 0.5 + w * y / x * 0.1, i + 1)) (z, 0))) x * x) (0.7, 1.3)",
            "grad (\\xs -> checkpoint (\\v -> iterate 5000 (\\w -> map2 (\\a b -> sin (a * b) * 0.5 + 0.1 * sum v / 3) w v) v) xs |> sum) [0.3, 0.9, 1.3]",
            "grad (\\xs -> sum (checkpoint (\\v -> iterate (length xs * 1700) (\\(a, b) -> (sin (a * b) * 0.5 + 0.1 * sum v, b * 0.99 + a * v[0] * 0.01)) (v[0], v[1]) |> (\\(a, b) -> [a, b])) xs)) [0.3, 0.9, 1.3]",
            "grad (grad (\\x -> checkpoint (\\z -> iterate (floor (x * 10)) (\\w -> sin (w * z) + w / x) z) x * x)) 0.7",
            "derivative (grad (\\x -> checkpoint (\\z -> iterate (floor (x * 10000)) (\\w -> sin (w * z) * 0.5 + w / x * 0.1) z) x * x)) 0.7",
            "grad (\\x -> checkpoint (\\z -> iterate (floor (x * 10)) (\\w -> derivative (\\u -> iterate (floor (x * 10)) (\\t -> sin (t * u) * x) u) w) z) x) 0.7",
            "grad (\\x -> checkpoint (\\z -> iterate 3 (\\w -> grad (\\u -> iterate (floor (x * 10)) (\\t -> sin (t * u) * x) u) w) z) x) 0.7",
            "grad (\\x -> checkpoint (\\z -> let g = (if x > 0.5 then (\\t -> sin (t * z)) else (\\t -> t * x)) in iterate (floor (x * 10)) g z) x) 0.7",
            "grad (\\x -> checkpoint (\\(a, b) -> iterate (floor (x * 10)) (\\t -> sin (t * a) * b + a) b) (x, x)) 0.7",
            "grad (\\x -> checkpoint (\\z -> iterate (floor (x * 100)) (\\w -> checkpoint (\\u -> iterate (floor (x * 50)) (\\t -> sin (t * u) * 0.9) u) w + z) z) x) 0.7",
            "grad (\\x -> checkpoint (\\z -> let s = scan (\\a i -> sin (a * z) + real i / 100) z (iota (floor (x * 50))) in fold (+) 0.0 s * s[3] + reduce (\\a b -> a * b / (a + b + z)) 1.0 s) x) 0.7",
            "grad (\\x -> checkpoint (\\(a, (b, c)) -> a * sin (b * c) / a + c * a * b) (x, (x * x, x))) 0.7",
            "grad (\\xs -> checkpoint (\\(v, w) -> dot v w * v[0] / w[1] + sin (v[1] * w[0])) (xs, reverse xs)) [0.3, 0.7]",
            "grad (grad (\\x -> checkpoint (\\(a, b) -> iterate (floor (x * 10)) (\\t -> sin (t * a) * b + a) b) (x, x))) 0.7",
            "grad (\\(x, b) -> sum (map (\\v -> sin (v * b)) (map (\\i -> sin (real i * b) * x) (iota 50)))) (0.7, 1.3)",
            "grad (\\(x, b) -> fold (\\s v -> sin (s * x) * 0.5 + b * v) x (map (\\i -> real i / 9000 * b) (iota 50))) (0.7, 1.3)",
            "grad (\\(x, b) -> fold (\\s v -> sin (s * x) * 0.5 + b * v) x (map (\\i -> sin (real i / 9000 * b)) (iota 50))) (0.7, 1.3)",
            "grad (\\(xs, b) -> fold (\\s v -> sin (s * b) * 0.5 + b * v) b (map (\\x -> x * b) xs)) ([0.7, 0.9, 1.7, 2.2, 0.3], 1.3)",
            "grad (\\(xs, b) -> fold (\\s v -> sin (s * b) * 0.5 + b * v) b (map (\\x -> sin (x * b)) (map (\\x -> x * b) xs))) ([0.7, 0.9, 1.7, 2.2, 0.3], 1.3)",
            "grad (\\(x, b) -> let a = (if x > 0.5 then sin (x * b) else x) in let d = sin (b * b * x) in let e = (if x > 0.5 then sin (a * b) / b else a) in d * e * b) (0.7, 1.3)",
            "grad (\\(x, b) -> let a = (if x > 0.5 then (sin (x * b), b * b) else (x, b)) in let d = sin (b * b * x) / b in match a with (u, v) -> if u > 0.1 then u * v * d * b else u) (0.7, 1.3)",
            "grad (\\(xs, b) -> let ys = map (\\x -> x * b) xs in let z = sin b * b in sum (map2 (\\x y -> sin (x * y * b) * z) xs ys) * b) ([0.7, 0.9, 1.7, 2.2, 0.3], 1.3)",
            "grad (\\(xs, b) -> let ys = map (\\x -> x * b) xs in let n = length ys in let g i = ys[i] * b / sin b in sum (build n g) + sum (build n (\\i -> xs[i] * b * ys[n - 1 - i]))) ([0.7, 0.9, 1.7, 2.2, 0.3], 1.3)",
            "grad (\\(xs, b) -> let ys = scan (\\a x -> a * x * b) b xs in fold (\\a y -> a * b + y * sin (b * y)) b ys) ([0.7, 0.9, 1.7, 2.2, 0.3], 1.3)",
            "grad (\\(xs, b) -> let m = map (\\x -> map (\\y -> x * y * b) xs) xs in sum (map (\\r -> sin (sum r * b)) m) + sum (map (\\r -> maximum r * b) (transpose m))) ([0.7, 0.9, 1.7, 2.2, 0.3], 1.3)",
            "grad (\\(xs, b) -> sum (map (\\(p, q) -> p * q * b) (zip (map (\\x -> x * b) xs) (map (\\x -> sin (x + b)) xs)))) ([0.7, 0.9, 1.7, 2.2, 0.3], 1.3)",
            "grad (\\(xs, b) -> let h = (\\x -> x * b * x) in let k = (\\x -> sin (x * b)) in sum (map (h >> k >> h) xs) * h b) ([0.7, 0.9, 1.7, 2.2, 0.3], 1.3)",
            "grad (\\(xs, b) -> let n = length xs in sum (map (\\i -> sum (map (\\j -> xs[i] * xs[j] * b / (b + xs[j])) (iota n))) (iota n))) ([0.7, 0.9, 1.7, 2.2, 0.3], 1.3)",
            "grad (\\(xs, b) -> dot (map (\\x -> x * b) xs) (map (\\x -> sin x / b) xs) * dot xs (map (\\x -> b) xs)) ([0.7, 0.9, 1.7, 2.2, 0.3], 1.3)",
            "grad (\\(xs, b) -> let ys = filter (\\x -> x > 0.5) (map (\\x -> x * b) xs) in sum (map (\\y -> y * b * sin (y * b)) ys)) ([0.7, 0.9, 1.7, 2.2, 0.3], 1.3)",
            "grad (\\(xs, b) -> sum (concat (map (\\x -> x * b) xs) (map (\\x -> sin (x * b)) (reverse (map (\\x -> x / b) xs))))) ([0.7, 0.9, 1.7, 2.2, 0.3], 1.3)",
        ],
    ),
    (
        "type Tree = Leaf Real | Node Tree Tree\n\
        type List = Nil | Cons Real List\n\
        def mapt f t = match t with | Leaf x -> Leaf (f x) | Node l r -> Node (mapt f l) (mapt f r)\n\
        def total f t = match t with | Leaf x -> f x | Node l r -> total f l + total f r\n\
        def mapl f l = match l with | Nil -> Nil | Cons x r -> Cons (f x) (mapl f r)\n\
        def suml f l = match l with | Nil -> 0.0 | Cons x r -> f x + suml f r\n\
        def t b = Node (Node (Leaf b) (Leaf (b * b))) (Node (Leaf 0.3) (Leaf 1.7))\n\
        def l b = Cons b (Cons (b * b) (Cons 0.3 (Cons 1.7 Nil)))\n\
        type Shape = Disk Real | Rect Real Real",
        &[
            "grad (\\(x, b) -> total (\\v -> sin (v * b)) (mapt (\\v -> v * b / x) (t x))) (0.7, 1.3)",
            "grad (\\(x, b) -> suml (\\v -> sin (v * b) / x) (mapl (\\v -> v * b / x) (l x))) (0.7, 1.3)",
            "grad (\\(x, b) -> suml (\\v -> sin (v * b) / x) (mapl (\\v -> v * b / x) (mapl (\\v -> sin (v * b) * x) (l x)))) (0.7, 1.3)",
            "grad (\\(x, b) -> let d = (if x > 0.5 then Disk (x * b * sin b) else Rect (x * b) b) in let k = sin (x * b) / b in let z = (match d with | Disk r -> r * b * k | Rect u v -> u * v * b) in z * b * x) (0.7, 1.3)",
            "grad (\\(x, b) -> let c = (if x > 0.5 then cos (x * b) / b else b) in let k = sin (x * b) / b * b in let d = (if x > 0.5 then c * x else x + x) in k * d * b) (0.7, 1.3)",
        ],
    ),
];

/// What uses reverse mode or series, differentiated with respect to functions that are applied inside of it: tapes have what the functions
/// that are given as tangents do, as the interpreter's have.
const BY_FUNCTIONS: [&str; 46] = [
    "jvp (\\f -> grad (\\x -> let a = f x in a * sin a / x + f (a * x) * a) 0.7) (sin, cos)",
    "jvp (\\f -> grad f 0.7) (\\x -> let a = x * x in a * sin a / x + a * exp x, cos)",
    "jvp (\\f -> grad (\\x -> f x * x + f (x * x)) 0.7) (\\x -> let a = x * x in a * sin a / x + a * exp x, \\x -> let a = x / 3.0 in a * sin a / x + a * exp (a * x))",
    "jvp (\\f -> grad (\\xs -> let ys = map f xs in dot ys xs * ys[0]) [0.3, 0.7]) (sin, cos)",
    "jvp (\\f -> grad (\\(x, y) -> let a = f (x * y) in f a * a / y + x * f x) (0.3, 0.7)) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\f -> let (y, b) = vjp (\\x -> f x * f (x * x) / x) 0.7 in b y) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\f -> snd (linearize (\\x -> f x * f (x * x) / x) 0.7) 1.3) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\f -> iterate 4 (\\x -> x - grad f x * 0.1) 0.7) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\f -> grad (\\x -> iterate 3 (\\y -> f (x * y) + y) x) 0.7) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\f -> grad (grad (\\x -> f x * x + f (x * x))) 0.7) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\f -> grad (\\x -> derivative f (x * x) * f x) 0.7) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\f -> derivative (\\x -> grad f (x * x) * f x) 0.7) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\f -> grad (\\x -> f (x, x * x) * x) 0.7) (\\(x, y) -> x * y * sin y + x / y, \\(x, y) -> x * exp y / 3.0 + y * x)",
    "jvp (\\f -> let (y, b) = vjp f (0.3, 0.7) in b y) (\\(x, y) -> (x * y * sin y + x / y, x * x / y + y), \\(x, y) -> (x * exp y / 3.0 + y * x, y * sin x / x))",
    "jvp (\\f -> jacrev f [0.3, 0.7]) (\\v -> map (\\x -> x * v[0] * sin (x * v[1])) v, \\v -> map (\\x -> x / v[0] * exp (x * v[1]) + x * x) v)",
    "jvp (\\f -> grad (\\x -> let rec g n x = if n == 0 then f x else f (g (n - 1) (x * 0.9)) * x in g 3 x) 0.7) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\f -> grad (\\x -> checkpoint f x * x) 0.7) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\fs -> grad (\\x -> fold (\\a f -> f a * x + a) x fs) 0.7) ([sin, \\x -> x * x * sin x], [cos, \\x -> x * exp x / 3.0])",
    "grad (\\z -> snd (jvp (\\f -> grad (\\x -> f x * x + f (x * z)) z) (\\x -> x * x * sin (x * z), \\x -> x * exp (x * z) / z))) 0.7",
    "snd (jvp (\\f y -> grad (\\x -> f x * x + f (x * y)) y) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)) 0.7",
    "jvp (\\(f, z) -> grad (\\x -> f x * x + f (x * z)) z) ((\\x -> x * x * sin x, 0.7), (\\x -> x * exp x / 3.0, 1.3))",
    "hessian (\\(v : [2]Real) -> snd (jvp (\\f -> f v[0] * f (v[1] * v[0])) (\\x -> x * sin x * v[0], \\x -> exp x * x / v[1]))) [0.3, 0.7]",
    "jvp (\\f -> grad f 0.7) (\\x -> sin x, \\x -> let a = sin x in let b = a * x in b * a / x + b * exp a * a)",
    "jvp (\\f -> sum (taylor 3 f 0.7)) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\f -> sum (taylor 3 (\\x -> f x * f (x * x)) 0.7)) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\f -> derivative (\\x -> derivative (\\x -> grad (\\y -> f (x * y) * y) (x * x) * f x) x) 0.7) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\f -> grad (\\x -> jvp (\\y -> f (x * y) * f y) (x, x * x) |> snd) 0.7) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\f -> hessian (\\(v : [2]Real) -> f v[0] * f (v[1] * v[0])) [0.3, 0.7]) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\f -> grad (\\xs -> sum (f xs) * xs[0]) [0.3, 0.7]) (\\v -> map (\\x -> x * v[0] * sin x) v, \\v -> map (\\x -> x / v[1]) v)",
    "snd (jvp (\\f -> jvp (\\g -> grad (\\x -> f x * g (x * x)) 0.7) (\\x -> x * x * sin x, f)) (sin, \\x -> x * exp x / 3.0))",
    "jvp (\\f -> grad (\\x -> f x 0.3 * f 0.3 x) 0.7) (\\a b -> a * b * sin (a * b), \\a b -> a / b * exp (a * b))",
    "jvp (\\r -> grad (\\x -> r.f x * r.g (x * r.a)) 0.7) ({ f = sin, g = exp, a = 0.3 }, { f = \\x -> x * sin x * x, g = cos, a = 1.1 })",
    "jvp (\\f -> grad (\\x -> checkpoint (\\z -> f z * f (z * x)) (x * x) * x) 0.7) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\f -> grad (custom_vjp (\\x -> f x * x) (\\x -> (f x * x, \\w -> w * (grad f x * x + f x)))) 0.7) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\f -> let (y, p) = vjp (\\xs -> map f xs) [0.3, 0.7] in p (map (\\t -> t * y[0]) y)) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\f -> sum (taylor 2 (\\z -> grad f (z * 0.7)) 0.3)) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\f -> grad (\\x -> while_loop (\\y -> y < 3.0) (\\y -> y + f y * x + 0.5) x) 0.7) (sin, cos)",
    "jvp (\\f -> taylor 4 (\\x -> f x * f (x * x)) 0.7) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\f -> taylor 7 (\\x -> f x * f (f x * x)) 0.7) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\f -> grad (\\y -> sum (taylor 3 (\\x -> f (x * y) * f (x * x)) y)) 0.7) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\f -> taylor 2 (\\y -> jvp (\\x -> f (x * y) * f (x * x)) (y, y * y) |> snd) 0.7) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "taylor 3 (\\x -> snd (jvp (\\g -> g (g x) * x) (\\y -> x * y * sin y, \\y -> y * y * x))) 0.7",
    "taylor 3 (\\x -> snd (jvp (\\g -> grad (\\z -> g (g x) * z) x) (\\y -> x * y * sin y, \\y -> y * y * x))) 0.7",
    "jvp (\\f -> map (\\n -> sum (taylor n (\\x -> f x * f (x * x)) 0.7)) [0, 1, 3]) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "jvp (\\f -> taylor 3 (\\x -> snd (jvp (\\g -> g (g x) * f x) (\\y -> x * y * sin y, \\y -> y * y * x))) 0.7) (\\x -> x * x * sin x, \\x -> x * exp x / 3.0)",
    "grad (\\y -> norm_squared (grad (\\((a, b), t) -> custom_jvp (\\v -> product (build 4 (\\i -> a + b))) (jvp (\\v -> product (build 4 (\\i -> a + b)))) 0.5) y)) ((1.9375, 1.1875), \"t\")",
];

#[test]
fn tapes_give_the_interpreters_bits() {
    for (definitions, programs) in RECORDED {
        let mut session = Session::new();
        let report = session.check_text("strict.wg", definitions, Path::new("."));
        assert!(!report.has_errors(), "{}", complaints(&report.diagnostics));
        let scope = Scope::of_file(&report.modules);
        for program in programs {
            let expected = given(&mut session, &scope, Engine::Interp, program);
            for engine in [Engine::Native, Engine::Ir] {
                assert_eq!(given(&mut session, &scope, engine, program), expected, "{program}");
            }
        }
    }
}

#[test]
fn what_is_differentiated_by_functions_gives_the_interpreters_bits() {
    let mut session = Session::new();
    let scope = Scope::of_file(&session.check_text("strict.wg", "", Path::new(".")).modules);
    for program in BY_FUNCTIONS {
        let expected = given(&mut session, &scope, Engine::Interp, program);
        for engine in [Engine::Native, Engine::Ir] {
            assert_eq!(given(&mut session, &scope, engine, program), expected, "{program}");
        }
    }
}

/// Functionals on functions, and what is made of them by further derivatives.
const PULLED_BACK: [&str; 21] = [
    "apply_dual (pullback (\\f -> f (f 0.7)) to_dual sin) cos",
    "apply_dual (pullback (\\g -> sum (map g [0.1, 0.2, 0.3, 0.7, 0.9])) to_dual sin) exp",
    "apply_dual (pullback (\\g -> iterate 7 g 0.7) to_dual sin) cos",
    "apply_dual (pullback (\\g -> derivative (\\x -> g (g x) * x) 0.8) to_dual sin) cos",
    "apply_dual (pullback (\\g -> grad (\\x -> g (g x) * x) 0.8) to_dual sin) cos",
    "apply_dual (pullback (\\(g, a) -> g (g a * a)) to_dual (sin, 1.3)) (cos, 0.7)",
    "apply_dual (pullback (\\(a, g) -> g (g a * a) * a) to_dual (1.3, sin)) (0.7, cos)",
    "apply_dual (pullback (\\gs -> sum (map (\\g -> g 0.5 * g 0.3) gs)) to_dual [sin, cos]) [cos, exp]",
    "apply_dual (pullback (\\g -> g 1.3 2.1 * g 0.3 0.4) to_dual (\\x y -> x * sin y)) (\\x y -> x + cos y)",
    "grad (\\a -> apply_dual (pullback (\\f -> f (f (a * 0.7)) * a) to_dual (\\x -> sin (a * x))) (\\y -> a * cos y)) 0.83",
    "grad (\\a -> apply_dual (pullback (\\f -> f (f (a * 0.7)) * a) (\\y -> to_dual (y * a)) (\\x -> sin (a * x))) (\\y -> a * cos y)) 0.83",
    "grad (\\(a, b) -> apply_dual (pullback (\\(f, c) -> f (f (a * c)) * b) (\\y -> to_dual (y * a)) ((\\x -> sin (a * x)), b)) ((\\y -> a * cos y), a * b)) (0.83, 0.37)",
    "taylor 4 (\\a -> apply_dual (pullback (\\f -> f (f (a * 0.7)) * a) to_dual (\\x -> sin (a * x))) (\\y -> a * cos y)) 0.83",
    "hessian (\\v -> apply_dual (pullback (\\(f, c) -> f (f (v[0] * c)) * v[1]) (\\y -> to_dual (y * v[0])) ((\\x -> sin (v[1] * x)), v[1])) ((\\y -> v[0] * cos y), v[0] * v[1])) [0.83, 0.37]",
    "apply_dual (pullback (\\f -> checkpoint (\\x -> f (f x * x)) 0.3 * f 0.7) to_dual sin) cos",
    "apply_dual (pullback (\\f -> custom_jvp (\\x -> f (f x * x)) (\\(x, t) -> (f x, f x * t)) 0.3 * f 0.7) to_dual sin) cos",
    "grad (\\c -> apply_dual (pullback (\\f -> (\\f -> f 0.3 * f 0.7) (custom_jvp (\\x -> f (f x * x)) (\\(x, t) -> (f x, f x * t)))) to_dual (\\y -> sin (c * y))) cos) 0.7",
    "apply_dual (pullback (\\d -> apply_dual d cos * apply_dual d exp) to_dual (pullback (\\f -> f (f 0.7)) to_dual sin)) (pullback (\\f -> f (f 0.3)) to_dual sin)",
    "snd (jvp (\\g -> apply_dual (pullback (\\f -> f (f 0.7) * g 0.3) to_dual (\\x -> sin (g x))) (\\y -> g y)) (exp, cos))",
    "snd (jvp (\\g -> apply_dual (pullback (\\f -> f (f 0.7) * g 0.3) to_dual g) g) (exp, cos))",
    "grad (\\x -> sum (map (\\t -> apply_dual (pullback (\\f -> f (f (x * t)) * f t) to_dual (\\y -> sin (x * y))) (\\y -> y * x)) [0.3, 0.7, 1.1])) 0.9",
];

#[test]
fn functionals_and_mixed_derivatives_give_the_interpreters_bits() {
    let mut session = Session::new();
    let report = session.check_text("strict.wg", "", Path::new("."));
    let scope = Scope::of_file(&report.modules);
    for program in PULLED_BACK.into_iter().chain(MIXED) {
        let expected = given(&mut session, &scope, Engine::Interp, program);
        for engine in [Engine::Native, Engine::Ir] {
            assert_eq!(given(&mut session, &scope, engine, program), expected, "{program}");
        }
    }
}

/// Derivatives of derivatives of functions whose rules have captured what varies, with infinite slopes, and third derivatives, too.
const MIXED: [&str; 21] = [
    "let rec f n a x = if n == 0 then x else custom_jvp (\\y -> a * y * y) (\\(y, t) -> (y * y, a * a * t)) (f (n - 1) a x) in hessian (\\(v : [2]Real) -> f 3 v[0] v[1]) [0.9, 1.1]",
    "let rec f n a x = if n == 0 then x else custom_vjp (\\y -> a * y * y) (\\y -> (y * y, \\t -> a * a * t)) (f (n - 1) a x) in hessian (\\(v : [2]Real) -> f 3 v[0] v[1]) [0.9, 1.1]",
    "hessian (\\(v : [3]Real) -> let (a, b) = (v[0], v[2]) in fold (\\s x -> custom_jvp (\\y -> a * y * y * sin b) (\\(y, t) -> (y * y, a * b * t * sin (a * y) + b * t)) (x * a * s) * a) 0.3 v) [0.9, 1.1, 0.3]",
    "grad (\\x -> let (y, b) = vjp (\\(a, c) -> custom_jvp (\\y -> a * y * y) (\\(y, t) -> (y * y, (a * t) * c * a + t * c)) x) (0.7, 1.3) in let (p, q) = b 1.0 in y * p + q * y * y) 0.9",
    "grad (\\x -> let (y, p) = jvp (\\(a, c) -> custom_jvp (\\y -> a * y * y) (\\(y, t) -> (y * y, (a * t) * c * a + t * c)) x) ((0.7, 1.3), (0.3, 0.9)) in y * p + p * y * y) 0.9",
    "grad (\\x -> let (y, b) = vjp (\\(a, c) -> custom_jvp (\\y -> a * y * y) (\\(y, t) -> (y * y, (a * t * y) * c * a + t * c * sin (a * y) + (t * a) / c)) (x * x)) (0.7, x) in let (p, q) = b 1.1 in y * p + q * y * y) 0.9",
    "grad (\\x -> let (y, p) = jvp (\\(a, c) -> custom_vjp (\\y -> a * y * y) (\\y -> (y * y, \\t -> (a * t * y) * c * a + t * c * sin (a * y) + (t * a) / c)) (x * x)) ((0.7, x), (0.3, 0.9)) in y * p + p * y * y) 0.9",
    "grad (\\x -> let (y, b) = vjp (\\(a, c) -> custom_jvp (\\y -> a * y * y) (\\(y, t) -> (y * y, (a * t * y) * c * a + t * c * sin (a * y) + (t * a) / c)) (x * x * a * a)) (0.7, x) in let (p, q) = b 1.1 in y * p + q * y * y) 0.9",
    "grad (\\x -> let (y, p) = jvp (\\(a, c) -> custom_jvp (\\y -> a * y * y) (\\(y, t) -> (y * y, (a * t * y) * c * a + t * c * sin (a * y) + (t * a) / c)) (x * x * a * a)) ((0.7, x), (0.3, 0.9)) in y * p + p * y * y) 0.9",
    "grad (\\x -> let (y, p) = jvp (\\(a, c) -> custom_jvp (\\y -> a * y * y) (\\(y, t) -> (y * y, (a * t * y) * c * a + t * c * sin (a * y) + (t * a) / c)) (x * x)) ((0.7, x), (0.3, 0.9)) in y * p + p * y * y) 0.41",
    "grad (\\x -> let (y, p) = jvp (\\(a, c) -> custom_vjp (\\y -> a * y * y) (\\y -> (y * y, \\t -> (a * t * y) * c * a + t * c * sin (a * y) + (t * a) / c)) (x * x)) ((0.7, x), (0.3, 0.9)) in y * p + p * y * y) 0.41",
    "grad (\\x -> let (y, b) = vjp (\\(a, c) -> custom_jvp (\\y -> a * y * y) (\\(y, t) -> (y * y, (a * t * y) * c * a + t * c * sin (a * y) + (t * a) / c)) (x * x * a * a)) (0.7, x) in let (p, q) = b 1.1 in y * p + q * y * y) 0.41",
    "grad (\\x -> let (y, p) = jvp (\\(a, c) -> custom_jvp (\\y -> a * y * y) (\\(y, t) -> (y * y, (a * t * y) * c * a + t * c * sin (a * y) + (t * a) / c)) (x * x * a * a)) ((0.7, x), (0.3, 0.9)) in y * p + p * y * y) 0.41",
    "grad (\\x -> let (y, p) = jvp (\\(a, c) -> custom_jvp (\\y -> a * y * y) (\\(y, t) -> (y * y, (a * t * y) * c * a + t * c * sin (a * y) + (t * a) / c)) (x * x)) ((0.7, x), (0.3, 0.9)) in y * p + p * y * y) 0.57",
    "grad (\\x -> let (y, p) = jvp (\\(a, c) -> custom_vjp (\\y -> a * y * y) (\\y -> (y * y, \\t -> (a * t * y) * c * a + t * c * sin (a * y) + (t * a) / c)) (x * x)) ((0.7, x), (0.3, 0.9)) in y * p + p * y * y) 0.57",
    "grad (\\x -> let (y, b) = vjp (\\(a, c) -> custom_jvp (\\y -> a * y * y) (\\(y, t) -> (y * y, (a * t) * c * a + t * c)) x) (0.7, 1.3) in let (p, q) = b 1.0 in y * p + q * y * y) 1.13",
    "hessian (\\(v : [2]Real) -> let a = v[0] in sum (custom_vjp (\\y -> map (\\q -> a * q * sin a) y) (\\y -> (y, \\t -> map2 (\\q u -> a * q * u * a + u * sin a) y t)) [v[1] * a, v[0], v[1]])) [0.9, 1.1]",
    "grad (\\b -> grad (\\a -> custom_jvp (\\y -> a * sqrt y) (\\(y, t) -> (y, a * t / (2.0 * sqrt y))) 0.0) b) 0.7",
    "derivative (\\b -> grad (\\a -> custom_jvp (\\y -> a * sqrt y) (\\(y, t) -> (y, a * t / (2.0 * sqrt y))) (b - 0.7)) b) 0.7",
    "grad (\\z -> sum (flatten (hessian (\\(v : [2]Real) -> let a = v[0] * z in custom_jvp (\\y -> a * y * sin y) (\\(y, t) -> (y, a * y * t * a + t * sin a)) (a * v[1])) [z, 1.1]))) 0.9",
    "derivative (\\z -> grad (\\x -> grad (\\a -> custom_jvp (\\y -> a * y * sin y * z) (\\(y, t) -> (y, a * y * t * a * x + t * sin a * z)) (a * x * z)) (x * z)) (z * z)) 0.9",
];
