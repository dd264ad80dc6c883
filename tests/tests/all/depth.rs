//! Derivatives of functions that are made as deep as running says: `n` derivatives of derivatives, where `n` is data. Every engine gives
//! what the interpreter gives, machine code is made of them, and the numbers are those of closed forms.

use wengert_tests::{everywhere, parallel};

const DEFINITIONS: &str = "\
type Tree = Leaf | Node Tree Real Tree
type Shape = Circle Real | Box Real Real | Group []Shape
def iterated n f x = snd (iterate n (\\(k, g) -> (k + 1, derivative g)) (0, f)) x
def ntimes n f = if n == 0 then f else ntimes (n - 1) (derivative f)
def composed n f x = fold (\\g k -> (if k % 2 == 0 then derivative g else (\\t -> t * g t))) f (iota n) x
def grads n f x = snd (iterate n (\\(k, g) -> (k + 1, grad g)) (0, f)) x
def euler n f x = snd (iterate n (\\(k, g) -> (k + 1, \\t -> t * derivative g t + g t)) (0, f)) x
def euler_back n f x = snd (iterate n (\\(k, g) -> (k + 1, \\t -> t * grad g t + g t)) (0, f)) x
def lies n v g = if n == 0 then g else lies (n - 1) v (\\x -> snd (jvp g (x, v x)))
def lies_back n v g = if n == 0 then g else lies_back (n - 1) v (\\x -> dot (v x) (grad g x))
def total t = match t with Leaf -> 0.0 | Node l x r -> total l + x * x * sin x + total r
def tree n x = if n == 0 then Leaf else Node (tree (n - 1) (x * 0.5)) x (tree (n - 2 + (if n == 1 then 1 else 0)) (x + 0.25))
def area s = match s with Circle r -> 3.0 * r * r | Box a b -> a * b * exp a | Group ss -> sum (map area ss)
def scaled s v = match s with Circle r -> Circle (r * r) | Box a b -> Box (a * b) (sin a) | Group ss -> Group (map (\\s -> scaled s v) ss)
def leaf t = match t with Leaf -> 0.0 | Node _ x _ -> x
def times v s = match s with Circle r -> Circle (v * r) | Box a b -> Box (v * a) (v * v * b) | Group ss -> Group (map (times v) ss)
def newton n f x = fold (\\y k -> y - f y / derivative f y) x (iota n)
def halley n f = if n == 0 then f else halley (n - 1) (\\x -> f x / derivative f x)
def ruled x = custom_jvp (\\y -> sin y) (\\(y, t) -> (sin y, t * cos y)) x
def other x = custom_jvp (\\y -> y * y) (\\(y, t) -> (y * y, t * (y + y * y))) x
def both p = custom_jvp (\\(x, y) -> (x * y, x + y)) (\\((x, y), (s, t)) -> ((x * y, x), (s * y * y + t, s * x))) p
def pulled n p x = if n == 0 then p x else pulled (n - 1) (snd (vjp p x)) x
def weighed n p x = if n == 0 then p x else let (y, b) = vjp p x in weighed (n - 1) (\\z -> b (z * z) * sin z) y
def pushed n p x = if n == 0 then p x else let (y, b) = linearize p x in pushed (n - 1) (\\z -> b z + sin z) y
def both_ways n p v = if n == 0 then p v else let (y, b) = vjp p v in both_ways (n - 1) (\\z -> add (b z) (scale 0.1 (p z))) y
type Maps = None | Map (Real -> Real) Maps
def maps n p x = if n == 0 then None else let (y, b) = vjp p x in Map b (maps (n - 1) (\\z -> p z * 0.5 + b z) y)
def all_at l x = match l with None -> 0.0 | Map f r -> f x + all_at r x
def along n f = if n == 0 then f else along (n - 1) (\\x -> snd (jvp (\\g -> g x * g (g x)) (f, sin)))
type Fun = Fun (Real -> Real)
def back x = custom_vjp (\\y -> exp y) (\\y -> (exp y, \\w -> w * exp y * y)) x
";

/// Forward mode: the same to the last bit where it must be.
const FORWARD: &[&str] = &[
    "map (\\n -> iterated n (\\x -> x * exp (sin x)) 0.3) (iota 10)",
    "map (\\n -> ntimes n (\\x -> log (1.0 + x * x) / x) 0.7) (iota 9)",
    "map (\\n -> composed n (\\x -> exp (x * x)) 0.4) (iota 10)",
    "map (\\n -> euler n (\\x -> x ^ 3 * sin x) 0.9) (iota 8)",
    "map (\\n -> lies n (\\x -> map (\\a -> sin a) x) (\\x -> sum (map (\\a -> a * a) x)) [0.3, 0.4]) (iota 7)",
    "map (\\n -> lies n (\\x -> [x[1], 0.0 - sin x[0]]) (\\x -> 0.5 * x[1] * x[1] - cos x[0] + x[0]) [0.3, 0.4]) (iota 7)",
    "map (\\n -> lies n (\\(x, y) -> (y, x * y)) (\\(x, y) -> exp x * y) (0.2, 0.6)) (iota 7)",
    "map (\\n -> lies n (\\x -> matvec [[0.0, 1.0], [2.0, 0.5]] x) (\\x -> dot x (matvec [[1.0, 2.0], [0.0, 1.0]] x)) [0.3, 0.4]) (iota 6)",
    "map (\\n -> iterated n (\\x -> total (tree 4 x)) 0.3) (iota 6)",
    "map (\\n -> lies n (\\s -> scaled s 1.0) area (Group [Circle 0.5, Group [Box 0.2 0.3, Circle 0.1], Box 0.4 0.5])) (iota 5)",
    "map (\\n -> halley n (\\x -> x * x - 2.0) 1.3) (iota 5)",
    "map (\\n -> newton 3 (ntimes n (\\x -> exp x - 3.0 * x * x)) 1.1) (iota 4)",
    // Loops, arrays, choices.
    "map (\\n -> iterated n (\\x -> fold (\\s k -> sin (s * x) + real k) x (iota 4)) 0.3) (iota 6)",
    "map (\\n -> iterated n (\\x -> snd (while_loop (\\(k, s) -> s < 10.0) (\\(k, s) -> (k + 1, s * (1.0 + x) + x)) (0, x))) 0.6) (iota 6)",
    "map (\\n -> iterated n (\\x -> sum (sort [x, x * x, sin x, 1.0 - x])) 0.3) (iota 5)",
    "map (\\n -> iterated n (\\x -> product [x, x * x, sin x] * maximum [x, x * x] + minimum [x, cos x]) 0.3) (iota 6)",
    "map (\\n -> iterated n (\\x -> let m = build 2 (\\i -> build 2 (\\j -> x ^ (i + 2 * j + 1))) in sum (flatten (matmul m (transpose m)))) 0.8) (iota 6)",
    "map (\\n -> iterated n (\\x -> sum (scatter_add (replicate 3 x) [0, 2, 0] [x * x, sin x, x]) * (reverse [x, 1.0, exp x])[0]) 0.8) (iota 6)",
    "map (\\n -> iterated n (\\x -> if x > 0.5 then x * x * x else sin x) 0.5) (iota 5)",
    "map (\\n -> iterated n (\\x -> sum (scan (\\s y -> s * y + x) 1.0 [x, 2.0, x * x])) 0.5) (iota 6)",
    "map (\\n -> iterated n (\\x -> sum (concat (slice [x, x * x, x ^ 3] 1 3) [exp x]) + reduce (\\a b -> a * b) 1.0 [x, x, 2.0]) 0.5) (iota 6)",
    "map (\\n -> iterated n (\\x -> sum (filter (\\y -> y > 0.2) [x, x * x, x ^ 5]) + sum (gather [x, x * x] [1, 1, 0])) 0.5) (iota 6)",
    "map (\\n -> iterated n (\\x -> stop_gradient x * x * x + x ^ n) 0.5) (iota 6)",
    // Derivatives inside of what is differentiated, with respect to what is captured too.
    "map (\\n -> iterated n (\\x -> derivative (\\y -> x * y * y * sin (x + y)) (x * x)) 0.5) (iota 6)",
    "map (\\n -> iterated n (\\x -> iterated n (\\y -> exp (x * y)) x) 0.5) (iota 5)",
    "map (\\n -> iterated n (\\x -> x * iterated 1 (\\y -> x + y) 1.0) 2.0) (iota 4)",
    "map (\\n -> iterated n (\\x -> iterated (n - n / 2) (\\y -> x * x * y + y * y * y) (x * 2.0)) 0.5) (iota 5)",
    "map (\\n -> lies n (\\x -> [x[0] * 2.0, derivative (\\s -> s * s * x[0]) x[1]]) (\\x -> x[0] * sin x[1]) [0.3, 0.4]) (iota 6)",
    // Functions chosen among many, in an array, and pairs of them.
    "map (\\(n, f) -> iterated n f 0.5) (zip (iota 6) [sin, exp, \\x -> x * x, \\x -> derivative sin x * x, cos, tanh])",
    "map (\\n -> let (f, g) = iterate n (\\(f, g) -> (\\x -> derivative f x * g x, \\x -> derivative g x + f x)) (sin, exp) in f 0.3 + g 0.4) (iota 5)",
    // Rules of one's own, which are not the derivatives of their functions.
    "map (\\n -> iterated n (\\x -> ruled (x * x)) 0.3) (iota 7)",
    "map (\\n -> iterated n (\\x -> other (x * sin x) * x) 0.3) (iota 7)",
    "map (\\n -> iterated n (\\x -> let (a, b) = both (x * x, sin x) in a * b) 0.3) (iota 6)",
    "map (\\n -> iterated n (\\x -> sum (custom_jvp (map sin) (\\(v, t) -> (map sin v, map (\\(a, b) -> a * b * 2.0) (zip v t))) [x, x * x])) 0.3) (iota 6)",
    "map (\\n -> iterated n (\\x -> ruled (other x) + derivative other (x * x)) 0.3) (iota 6)",
    "map (\\n -> iterated n (\\x -> other (0.0 * x) + other 2.0 + x) 0.3) (iota 4)",
    "map (\\n -> iterated n (\\x -> custom_jvp sqrt (\\(y, t) -> (0.0, t / y)) (x * x)) 0.0) (iota 4)",
    "map (\\n -> iterated n (\\x -> back (x * x)) 0.3) (iota 6)",
    // Zeros that vary with something else are none.
    "map (\\n -> derivative (\\a -> iterated n (\\x -> sin x * (a * exp x)) 0.7) 0.0) (iota 8)",
    // Not numbers, infinities, and zeros that are strong.
    "map (\\n -> iterated n sqrt 0.0) (iota 4)",
    "map (\\n -> iterated n abs 0.0) (iota 4)",
    "map (\\n -> iterated n (\\x -> x ** 2.5) 0.0) (iota 4)",
    "map (\\n -> iterated n (\\x -> (0.0 * x) * log x) 0.0) (iota 3)",
    "map (\\n -> iterated n (\\x -> max x (x * x)) 1.0) (iota 4)",
];

/// Rules that have captured what varies, and rules for data. Mixed derivatives are those of the rule.
const RULES: &[&str] = &[
    "map (\\n -> iterated n (\\a -> custom_jvp (\\y -> a * sin y) (\\(y, t) -> (sin y, a * t * cos y)) (a * a)) 0.3) (iota 7)",
    "map (\\n -> iterated n (\\a -> custom_jvp (\\y -> a * y * y) (\\(y, t) -> (sin y, t * cos y)) 0.7) 0.3) (iota 7)",
    "map (\\n -> iterated n (\\a -> custom_jvp (\\y -> y * y) (\\(y, t) -> (sin y, a * a * t * cos y)) (a * a)) 0.3) (iota 7)",
    "map (\\n -> iterated n (\\a -> custom_vjp (\\y -> a * y * y) (\\y -> (sin y, \\t -> a * t * cos y)) (a * a)) 0.3) (iota 7)",
    "map (\\n -> iterated n (\\a -> custom_vjp (\\(y, z) -> a * y * y * z) (\\(y, z) -> (sin y, \\t -> (a * t * cos y * a, t * z * a))) (a * a, sin a)) 0.3) (iota 7)",
    "map (\\n -> iterated n (\\a -> let (p, q) = custom_jvp (\\(y, z) -> (a * y * z, y / a)) (\\((y, z), (s, t)) -> ((y, z), (a * s + t * y, t * a * a))) (a * a, exp a) in p * q) 0.3) (iota 7)",
    "map (\\n -> iterated n (\\x -> sum (custom_jvp (\\v -> map (\\y -> x * y) v) (\\(v, t) -> (v, map (\\(a, b) -> x * a * b) (zip v t))) [x, x * x])) 0.3) (iota 6)",
    "map (\\n -> iterated n (\\x -> let f = \\y -> x * sin y in custom_jvp (\\y -> f y * y) (\\(y, t) -> (y, f t * y + t * f y)) (x * x)) 0.3) (iota 6)",
    "map (\\n -> iterated n (\\a -> iterated n (\\b -> custom_jvp (\\y -> a * b * y * y) (\\(y, t) -> (sin y, a * a * t * cos y * b)) (a * b)) (a * a)) 0.3) (iota 4)",
    "map (\\n -> iterated n (\\a -> iterated n (\\b -> custom_jvp (\\y -> b * y * y) (\\(y, t) -> (sin y, b * b * t * cos y)) a) (a * a)) 0.3) (iota 4)",
    "map (\\n -> derivative (\\a -> iterated n (\\b -> custom_jvp (\\y -> y * y) (\\(y, t) -> (sin y, b * b * t * y)) a) 0.7) 0.3) (iota 4)",
    "map (\\n -> derivative (\\a -> derivative (\\a -> iterated n (\\b -> custom_vjp (\\y -> b * y * y) (\\y -> (sin y, \\t -> b * b * t * y)) a) 0.7) a) 0.3) (iota 4)",
    "map (\\n -> derivative (\\a -> iterated n (\\x -> custom_jvp (\\y -> y) (\\(y, t) -> (y, t * custom_jvp (\\z -> z * z) (\\(z, s) -> (z, s * z * x)) a)) x) 0.7) 0.3) (iota 5)",
    "map (\\n -> iterated n (\\x -> custom_jvp total (\\(t, d) -> (total t, total d * total t)) (Node Leaf x Leaf)) 0.3) (iota 7)",
    "map (\\n -> iterated n (\\x -> custom_jvp (\\t -> x * total t) (\\(t, d) -> (total t, leaf d * total t * x)) (Node Leaf x Leaf)) 0.3) (iota 7)",
    "map (\\n -> iterated n (\\x -> area (custom_jvp (times 2.0) (\\(s, d) -> (s, times 3.0 d)) (Group [Circle x, Box x (x * x)]))) 0.3) (iota 6)",
];

/// Reverse mode of what is differentiated so, or inside of it, in the interpreter's order.
const ORDERED: &[&str] = &[
    "map (\\n -> grad (iterated n (\\x -> x * exp (sin x))) 0.7) (iota 7)",
    "map (\\n -> grad (iterated n (\\x -> x ^ 5 * sin x / x ^ 2)) 0.4) (iota 8)",
    "map (\\n -> iterated n (\\x -> grad (\\y -> x * y * exp (sin y) / y) x * sum (grad (\\v -> v[0] * v[1] * v[1] * x * v[0]) [x, sin x])) 0.7) (iota 6)",
    "map (\\n -> grad (\\x -> grad (iterated n (\\y -> x * y * exp (sin y) / y)) (x * x) * x) 0.7) (iota 6)",
    "map (\\n -> derivative (grad (iterated n (\\x -> x ** x * sqrt x))) 0.7) (iota 5)",
    "map (\\n -> grad (\\x -> iterated n (\\y -> x * ruled (x * y) * other y) (x * x) * x) 0.7) (iota 6)",
    "map (\\n -> grad (iterated n (\\x -> total (tree 3 x) + sum (sort [x, x * x, sin x]) * product [x, x * x, sin x])) 0.3) (iota 5)",
    "map (\\n -> let (y, b) = vjp (iterated n (\\x -> x ^ 5 * sin x)) 0.4 in b 2.0 + y) (iota 8)",
];

/// Every operation on numbers, to order 6.
const OPERATIONS: &[&str] = &[
    "exp x",
    "expm1 x",
    "log x",
    "log1p x",
    "log2 x",
    "log10 x",
    "sqrt x",
    "cbrt x",
    "sin x",
    "cos x",
    "tan x",
    "asin x",
    "acos x",
    "atan x",
    "atan2 (x * x) (sin x)",
    "atan2 (sin x) (x * x * x)",
    "sinh x",
    "cosh x",
    "tanh x",
    "asinh x",
    "acosh (1.0 + x)",
    "atanh x",
    "hypot x (x * x)",
    "gamma x",
    "lgamma x",
    "digamma x",
    "polygamma 2 x",
    "erf x",
    "erfc x",
    "relu (x * x)",
    "sigmoid x",
    "softplus x",
    "x ** x",
    "x ** 1.5",
    "2.0 ** x",
    "x ^ 7",
    "x ^ (0 - 3)",
    "1.0 / x",
    "x / (1.0 + x)",
    "abs (0.0 - x * x)",
    "min (x * x) (sin x)",
    "max (x * x) (sin x)",
    "sign x * x",
    "x - x * x",
];

/// Reverse mode inside, in which cotangents add up in another order.
const BACKWARD: &[&str] = &[
    "map (\\n -> grads n (\\x -> x * exp (sin x)) 0.3) (iota 9)",
    "map (\\n -> euler_back n (\\x -> x * exp (sin x)) 0.3) (iota 9)",
    "map (\\n -> lies_back n (\\x -> [x[1], 0.0 - sin x[0]]) (\\x -> 0.5 * x[1] * x[1] - cos x[0] + x[0]) [0.3, 0.4]) (iota 5)",
    "map (\\n -> grads n (\\x -> total (tree 3 x)) 0.3) (iota 5)",
    "map (\\n -> iterated n (\\x -> sum (grad (\\v -> sum (matvec [[x, 1.0], [2.0, x * x]] (map sin (matvec [[x, 2.0], [1.0, x]] v)))) [x, 2.0])) 0.5) (iota 5)",
    "map (\\n -> iterated n (\\x -> let m = [[x, 1.0], [2.0, x * x]] in (grad (\\a -> sum (flatten (matmul a (matmul a m)))) m)[0][1]) 0.5) (iota 5)",
    "map (\\n -> grads n (\\x -> x) 0.3) (iota 4)",
    "map (\\n -> grad (\\a -> iterated n (\\x -> sin x * (a * exp x)) 0.7) 0.0) (iota 8)",
    // With respect to data, and by rules.
    "map (\\n -> snd (iterate n (\\(k, g) -> (k + 1, \\t -> total (grad g t) * 0.5)) (0, total)) (Node (Node Leaf 0.2 Leaf) 0.3 Leaf)) (iota 5)",
    "map (\\n -> snd (iterate n (\\(k, g) -> (k + 1, \\t -> area (grad g t) * 0.1)) (0, area)) (Group [Circle 0.5, Box 0.3 0.4, Group []])) (iota 4)",
    "map (\\n -> snd (iterate n (\\(k, g) -> (k + 1, \\t -> let (y, b) = vjp g t in times 0.3 (b y))) (0, times 0.5)) (Group [Circle 0.5, Box 0.3 0.4, Group []])) (iota 4)",
    "map (\\n -> snd (iterate n (\\(k, g) -> (k + 1, \\(a, b) -> let (p, q) = grad g (a, b) in sum p * q[0][1])) (0, \\(a, b) -> sum (matvec b a) * b[0][1])) ([0.5, 0.6], [[0.1, 0.2], [0.3, 0.4]])) (iota 4)",
    "map (\\n -> grads n (\\a -> custom_vjp (\\y -> a * y * y) (\\y -> (sin y, \\t -> a * t * cos y)) (a * a)) 0.3) (iota 6)",
    // Of such derivatives, in reverse mode.
    "map (\\n -> grad (\\x -> iterated n (\\y -> x * sin (x * y)) x) 0.3) (iota 6)",
    "map (\\n -> grad (\\x -> lies n (\\x -> map sin x) (\\x -> sum (map (\\a -> a * a) x)) x) [0.3, 0.4]) (iota 5)",
    "map (\\n -> grad (\\x -> grad (iterated n (\\y -> x * sin (x * y))) x) 0.3) (iota 5)",
    "map (\\n -> let (y, b) = vjp (grads n (\\x -> x ^ 5 * sin x)) 0.4 in b 2.0 + y) (iota 5)",
    "map (\\n -> taylor 3 (iterated n (\\x -> x * exp x)) 0.3) (iota 4)",
];

/// Each gives these numbers.
const KNOWN: &[(&str, &[f64])] = &[
    (
        "map (\\n -> iterated n (\\x -> exp (2.0 * x)) 0.0) (iota 10)",
        &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0],
    ),
    (
        "map (\\n -> iterated n (\\x -> x ^ 8) 1.0) (iota 10)",
        &[1.0, 8.0, 56.0, 336.0, 1680.0, 6720.0, 20160.0, 40320.0, 40320.0, 0.0],
    ),
    (
        "map (\\n -> iterated n (\\x -> 1.0 / x) 1.0) (iota 8)",
        &[1.0, -1.0, 2.0, -6.0, 24.0, -120.0, 720.0, -5040.0],
    ),
    (
        "map (\\n -> grads n (\\x -> 1.0 / x) 1.0) (iota 8)",
        &[1.0, -1.0, 2.0, -6.0, 24.0, -120.0, 720.0, -5040.0],
    ),
    // (x d/dx + 1)^n of x² is 3^n x².
    (
        "map (\\n -> euler n (\\x -> x * x) 2.0) (iota 8)",
        &[4.0, 12.0, 36.0, 108.0, 324.0, 972.0, 2916.0, 8748.0],
    ),
    (
        "map (\\n -> euler_back n (\\x -> x * x) 2.0) (iota 8)",
        &[4.0, 12.0, 36.0, 108.0, 324.0, 972.0, 2916.0, 8748.0],
    ),
    // Along v x = x, what is homogeneous of degree 3 is multiplied by 3.
    (
        "map (\\n -> lies n (\\x -> x) (\\x -> x[0] * x[1] * x[1]) [1.0, 2.0]) (iota 7)",
        &[4.0, 12.0, 36.0, 108.0, 324.0, 972.0, 2916.0],
    ),
    (
        "map (\\n -> lies_back n (\\x -> x) (\\x -> x[0] * x[1] * x[1]) [1.0, 2.0]) (iota 6)",
        &[4.0, 12.0, 36.0, 108.0, 324.0, 972.0],
    ),
    // d/dx (x · d/dy (x + y)) = 1: no infinitesimal is taken for another one.
    ("map (\\n -> iterated n (\\x -> x * iterated n (\\y -> x + y) 1.0) 2.0) [1]", &[1.0]),
    // ∂ⁿ/∂xⁿ ∂ⁿ/∂yⁿ of xⁿ yⁿ, y = 1, as a function of x.
    (
        "map (\\n -> iterated n (\\x -> iterated n (\\y -> (x * y) ^ n) 1.0) 1.0) (iota 5)",
        &[1.0, 1.0, 4.0, 36.0, 576.0],
    ),
    ("map (\\n -> grad (iterated n (\\x -> x ^ 6)) 1.0) (iota 5)", &[6.0, 30.0, 120.0, 360.0, 720.0]),
];

/// Pullbacks of pullbacks, kept by functions that are made as deep as running says.
const PULLBACKS: &[&str] = &[
    "map (\\n -> pulled n (\\x -> x * x * x) 0.7) (iota 8)",
    "map (\\n -> pulled n (\\x -> map (\\a -> a * sin a) x) [0.7, 0.3]) (iota 6)",
    "map (\\n -> weighed n (\\x -> x * x * sin x) 0.7) (iota 5)",
    "map (\\n -> grad (weighed n (\\x -> x * x * sin x)) 0.7) (iota 4)",
    "map (\\n -> derivative (weighed n (\\x -> x * x * sin x)) 0.7) (iota 4)",
    "map (\\n -> pushed n (\\x -> x * x * sin x) 0.7) (iota 7)",
    "map (\\n -> grad (pushed n (\\x -> x * x * sin x)) 0.7) (iota 5)",
    "map (\\n -> both_ways n (\\(a, b) -> (a * b, sin a)) (0.7, 0.3)) (iota 6)",
    "map (\\n -> all_at (maps n (\\x -> x * sin x) 0.7) 0.3) (iota 6)",
    "map (\\n -> grad (all_at (maps n (\\x -> x * sin x) 0.7)) 0.3) (iota 5)",
    "map (\\n -> grad (\\x -> all_at (maps n (\\x -> x * sin x) x) x) 0.3) (iota 4)",
];

/// Derivatives with respect to functions, and of functions that give functions, deeper than there are copies for.
const FUNCTIONS: &[&str] = &[
    "map (\\n -> along n (\\x -> x * cos x) 0.03) (iota 7)",
    "map (\\n -> iterate n derivative (\\a -> \\b -> a ^ 5 * sin (a * b)) 2.5 3.0) (iota 7)",
    "map (\\n -> derivative (iterate n derivative (\\a -> \\b -> a ^ 5 * sin (a * b)) 2.5) 3.0) (iota 7)",
    "map (\\n -> iterate n derivative (\\a -> \\b -> \\c -> a ^ 5 * sin (a * b) * c) 2.5 3.0 0.3) (iota 7)",
    "map (\\n -> let (f, y) = iterate n derivative (\\a -> ((\\b -> a ^ 5 * b), a * a)) 2.5 in f 3.0 + y) (iota 7)",
    "map (\\n -> iterate n derivative (\\a -> if a > 2.0 then sin else (\\b -> a * b)) 1.5 0.3) (iota 7)",
    "map (\\n -> snd (jvp (\\f -> ntimes n f 0.3) (sin, exp))) (iota 9)",
    "map (\\n -> derivative (\\a -> snd (jvp (\\f -> ntimes n f 0.3 * f a) (\\x -> sin (a * x), \\x -> exp (a * x)))) 0.7) (iota 8)",
    "map (\\n -> snd (jvp (\\f -> map (\\x -> f x) [0.1, 0.2]) (\\x -> ntimes n sin x, cos))) (iota 8)",
    "map (\\n -> snd (jvp (\\(f, y) -> f y * ntimes n f y) ((sin, 0.3), (cos, 1.0)))) (iota 8)",
    "map (\\n -> snd (jvp (\\f -> let (a, b) = f 0.3 in a * b) (\\x -> (ntimes n sin x, x), \\x -> (x, ntimes n exp x)))) (iota 8)",
    "map (\\n -> snd (jvp (\\f -> derivative (f 0.3) 0.4) (\\a -> \\b -> ntimes n sin (a * b), \\a -> \\b -> a * ntimes n cos b))) (iota 8)",
    "map (\\n -> snd (jvp (\\f -> dot (f [0.3, 0.4]) [1.0, 2.0] + ntimes n (\\x -> sum (f [x, x * x])) 0.3) (map sin, map (\\x -> x * x)))) (iota 7)",
    "map (\\n -> snd (jvp (\\(Fun f) -> ntimes n f 0.3) (Fun sin, Fun exp))) (iota 9)",
    "map (\\n -> snd (jvp (\\fs -> fold (\\s f -> s + ntimes n f 0.3) 0.0 fs) ([sin, cos], [exp, \\x -> x * x]))) (iota 8)",
    "map (\\n -> let (y, l) = linearize (\\f -> ntimes n f 0.3) sin in y + l exp) (iota 8)",
    "map (\\n -> apply_dual (pullback (\\f -> ntimes n f 0.3) to_dual sin) exp) (iota 8)",
    "taylor 30 (\\x -> snd (jvp (\\f -> f (f x)) (sin, cos))) 0.3",
    "map (\\n -> sum (taylor n (\\x -> snd (jvp (\\f -> f (f x)) (sin, cos))) 0.3)) [0, 3, 14]",
    // Zeros, infinities, and what fails: only where it is applied.
    "map (\\n -> jvp (\\f -> ntimes n f 0.0) (\\x -> -x, \\x -> x * x)) (iota 8)",
    "map (\\n -> snd (jvp (\\f -> ntimes n f 0.0) (sqrt, \\x -> 1.0 / x))) (iota 8)",
    "map (\\n -> let (f, t) = jvp (\\g -> \\x -> ntimes n g x) (sin, \\x -> fail \"no\") in f 0.3) (iota 7)",
];

/// What fails, at its place.
const FAILING: &[&str] = &[
    "map (\\n -> pulled n (\\x -> if x[0] > 100.0 then fail \"large\" else map (\\a -> a * a * 30.0) x) [0.7]) (iota 5)",
    "map (\\n -> let (y, b) = vjp (pulled n (\\x -> map (\\a -> a * a) x)) [0.7, 0.2] in b [1.0]) (iota 3)",
    "map (\\n -> snd (jvp (\\f -> ntimes n f 0.3) (sin, \\x -> if x < 1.0 then fail \"no\" else x))) (iota 7)",
    "map (\\n -> snd (jvp (\\f -> sum (f 0.3) + ntimes n (\\x -> sum (f x)) 0.2) (\\x -> [x, x], \\x -> [x]))) (iota 7)",
    "map (\\n -> snd (jvp (\\f -> all_at (f 0.3) (ntimes n sin 0.2)) (\\x -> Map sin None, \\x -> None))) (iota 7)",
];

/// The same in reverse mode around and inside of them.
const FUNCTIONS_BACK: &[&str] = &[
    "map (\\n -> grad (\\x -> iterate n derivative (\\a -> \\b -> a ^ 5 * b) x 3.0) 2.5) (iota 6)",
    "map (\\n -> grad (\\a -> snd (jvp (\\f -> ntimes n f 0.3) (\\x -> sin (a * x), \\x -> exp (a * x)))) 0.7) (iota 7)",
    "map (\\n -> snd (jvp (\\f -> grads n f 0.3) (sin, exp))) (iota 7)",
];

fn check(texts: &[String], strict: &[bool]) {
    parallel::check_all("derivatives as deep as running says", texts, |text| {
        let (mut session, scope) = everywhere::session_with(DEFINITIONS);
        everywhere::compiled(&mut session, &scope, text, strict).map(|_| ())
    });
}

#[test]
fn forward_mode_is_as_deep_as_running_says() {
    let texts: Vec<String> = FORWARD.iter().map(|text| text.to_string()).collect();
    check(&texts, &[true, false]);
}

#[test]
fn every_operation_is_differentiated_as_often_as_running_says() {
    let of = |op: &&str| format!("map (\\n -> iterated n (\\x -> {op}) 0.6) (iota 7)");
    check(&OPERATIONS.iter().map(of).collect::<Vec<String>>(), &[true, false]);
}

#[test]
fn rules_are_differentiated_as_often_as_running_says() {
    let texts: Vec<String> = RULES.iter().map(|text| text.to_string()).collect();
    check(&texts, &[true, false]);
}

#[test]
fn reverse_mode_around_them_adds_up_in_the_interpreters_order() {
    let texts = ORDERED.iter().map(|text| text.to_string());
    let of = |op: &&str| format!("map (\\n -> grad (iterated n (\\x -> {op})) 0.6) (iota 6)");
    check(&texts.chain(OPERATIONS.iter().map(of)).collect::<Vec<String>>(), &[true]);
}

#[test]
fn reverse_mode_inside_of_derivatives_is_compiled_too() {
    let texts: Vec<String> = BACKWARD.iter().map(|text| text.to_string()).collect();
    check(&texts, &[true, false]);
}

#[test]
fn pullbacks_of_pullbacks_are_compiled_however_deep() {
    let texts: Vec<String> = PULLBACKS.iter().map(|text| text.to_string()).collect();
    check(&texts, &[true, false]);
}

#[test]
fn derivatives_by_functions_and_of_what_gives_them_are_as_deep_as_running_says() {
    let texts: Vec<String> = FUNCTIONS.iter().map(|text| text.to_string()).collect();
    check(&texts, &[true, false]);
    parallel::check_all("what fails where derivatives are as deep as running says", FAILING, |text| {
        let (mut session, scope) = everywhere::session_with(DEFINITIONS);
        everywhere::eval(&mut session, &scope, text);
        Ok(())
    });
    let texts: Vec<String> = FUNCTIONS_BACK.iter().map(|text| text.to_string()).collect();
    check(&texts, &[true, false]);
}

#[test]
fn derivatives_as_deep_as_running_says_are_those_of_closed_forms() {
    parallel::check_all("closed forms", KNOWN, |(text, expected)| {
        let (mut session, scope) = everywhere::session_with(DEFINITIONS);
        let given = everywhere::compiled(&mut session, &scope, text, &[false])?;
        let numbers: Result<Vec<f64>, _> =
            given.trim_matches(['[', ']']).split(", ").map(str::parse::<f64>).collect();
        let numbers = numbers.map_err(|error| format!("{text}\ngives {given}: {error}"))?;
        let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-9 * b.abs().max(1.0);
        if numbers.len() == expected.len() && numbers.iter().zip(*expected).all(close) {
            Ok(())
        } else {
            Err(format!("{text}\ngives {given}, not {expected:?}"))
        }
    });
}

/// Where no derivative is made beforehand, numbers know what they vary by.
#[test]
fn derivatives_that_are_not_made_beforehand_are_the_interpreters() {
    let all = [FORWARD, RULES, ORDERED, BACKWARD, PULLBACKS, FUNCTIONS, FUNCTIONS_BACK, FAILING].concat();
    let texts: Vec<&str> = all.into_iter().step_by(3).collect();
    parallel::check_all("derivatives that are not made beforehand", &texts, |text| {
        everywhere::tagged(DEFINITIONS, text)
    });
}
