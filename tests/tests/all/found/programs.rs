//! The programs, each with what was wrong.

/// A program that was found.
pub(super) struct Found {
    /// What was wrong.
    pub(super) what: &'static str,
    pub(super) definitions: &'static str,
    pub(super) expression: &'static str,
    /// Whether sums are made in the interpreter's order.
    pub(super) exact: bool,
}

/// Data of functions that give such data.
const OBJECTS: &str = "type F = F (Real -> F) (Real -> Real) | E\n\
    def fe k = F (\\x -> F (\\y -> E) (\\y -> k * x * y)) (\\x -> k * x)\n\
    def usef t x = match t with | E -> x | F f g -> (match f (g x) with | E -> x | F h i -> i x)";

/// All of them.
pub(super) const FOUND: &[Found] = &[
    Found {
        what: "a sum of tangents of functions in data was varied as one of them: its tangent had another constructor",
        definitions: OBJECTS,
        expression: "derivative (\\k -> snd (jvp (\\t -> usef t k) (fe 0.5, fe 0.3))) 0.7",
        exact: true,
    },
    Found {
        what: "the same in reverse mode",
        definitions: OBJECTS,
        expression: "grad (\\k -> snd (jvp (\\t -> usef t k) (fe 0.5, fe 0.3))) 0.7",
        exact: true,
    },
    Found {
        what: "strict: sums of tangents of higher and higher order were made until there were too many",
        definitions: "type Stream = Next Real (Real -> Stream)\n\
            def from x = Next x (\\d -> from (x + d))\n\
            def total n s d = if n == 0 then 0.0 else match s with | Next x f -> x * x + total (n - 1) (f d) d",
        expression: "grad (\\k -> snd (jvp (\\s -> total 2 s k) (from 0.5, from k))) 0.3",
        exact: true,
    },
    Found {
        what: "a sum was taken for one that nobody looks at on the way: parts of the loop began it at zero",
        definitions: "",
        expression: "fold (\\(k, total) _ -> (k + 1, total + k)) (2, 0) (iota 20)",
        exact: true,
    },
    Found {
        what: "machine code: in a vector loop, what both branches give alike was not given",
        definitions: "def entry (x0 : [1]Real) : [4]Real = scan (\\acc y -> if 0.5 < 0.5 then y else y) 0.5 [0.5, 0.5, 0.5, x0[0]]",
        expression: "snd (jvp (grad (\\y -> norm_squared (entry y))) ([2.0], [2.0]))",
        exact: true,
    },
    Found {
        what: "C: a loop whose index is not its own declared what its first statement declares",
        definitions: "def powers (k : Int) (x : Real) = sum (build k (\\j -> x ^ j))",
        expression: "map (\\k -> jvp (powers k) (1.5, 1.0)) [4, 40]",
        exact: false,
    },
    Found {
        what: "of two sums that are added at an element that need not be there, only the first was asked for",
        definitions: "def f n (b : []Real) = sum (map sin (build n (\\i -> if i > 0 then b[i] * b[0] else 0.5)))\n\
            def both n = let b = build n real in (grad (f n) b, snd (jvp (grad (f n)) (b, b)))",
        expression: "map (\\n -> map sum (let (g, h) = both n in [g, h])) [0, 1, 3]",
        exact: false,
    },
    Found {
        what: "what an outer product without rows is made of had a cotangent of another size",
        definitions: "def f (v, m) = sum (matvec m v)\n\
            def slope v m = grad (\\q -> norm_squared (grad f q)) (v, m)",
        expression: "(slope [1.0, 2.0] (build 0 (\\i -> [0.5, 0.7])), slope [1.0, 2.0] (build 2 (\\i -> [0.5, 0.7])))",
        exact: false,
    },
    Found {
        what: "of a loop that is there twice the second updated what the first had made",
        definitions: "def wide a = let n = length a in\n\
            \x20 fold (\\m k -> build n (\\i -> if i < k then m[i] else build n (\\j -> m[i, j] * 0.5 + m[i, k]))) a (iota n)",
        expression: "map (\\k -> map sum (grad (\\a -> sum (map sum (wide a))) (build 2 (\\i -> build k (\\j -> real (i + j)))))) [2, 5]",
        exact: false,
    },
    Found {
        what: "strict: a point that is its own tangent is one number on the tape",
        definitions: "def repeated n z = sin (sum (build n (\\_ -> z)))",
        expression: "grad (\\q -> snd (jvp (repeated (length (iota 7))) (q, q))) 0.909",
        exact: true,
    },
    Found {
        what: "the cotangent of a row that a function was given beside the array was lost",
        definitions: "def f b = let m = [[b]] in\n\
            \x20 sum (build 1 (\\i -> sum (snd (jvp (\\z -> map (\\x -> x * x * m[i, 0]) z) (m[i], [b])))))",
        expression: "grad (grad f) 0.9",
        exact: false,
    },
    Found {
        what: "an array with which a loop begins twice was taken over by the first, and looked at by the second",
        definitions: "def f a = let n = length a in\n\
            \x20 fst (fold (\\(m, l) k -> (fold (\\x i -> set x i (l[n - 1 - i] - 0.2 * x[i])) m (iota n), map (\\x -> x * l[k]) l)) (a, a) (iota n))",
        expression: "f (build 4 (\\i -> real (i + 1)))",
        exact: true,
    },
    Found {
        what: "a number that is none was taken for equal to itself, and an array was changed that was still to be read",
        definitions: "def f a zs = let n = length a in\n\
            \x20 fold (\\m k -> let x = zs[k] / zs[k] in\n\
            \x20\x20 build n (\\i -> if i > k then (if x != x then m[i] - 0.3 * m[i - 1] else m[i]) else m[i])) a (iota n)",
        expression: "f (build 4 (\\i -> real (i + 1))) (build 4 (\\i -> 0.0))",
        exact: false,
    },
    Found {
        what: "a branch that only fails seemed to give back no accumulator",
        definitions: "",
        expression: "grad (\\a -> sum (build 3 (\\i -> let rec f n x = if n == 0 then max x a else f (n - 1) x in f 3 (a + real i)))) 0.3",
        exact: true,
    },
    Found {
        what: "an accumulator that a called function adds to was kept for its shape",
        definitions: "def rows z = (jacrev (\\(v : [2]Real) -> build 2 (\\i -> softplus v[1])) [0.5, z])[1]",
        expression: "grad (\\y -> norm_squared (grad (\\z -> norm_squared (rows z)) y)) 0.5",
        exact: false,
    },
    Found {
        what: "C: a value of the block around was written down in an inner block",
        definitions: "def half (u : [1]Real) = 0.5\n\
            def last x = snd (while_loop (\\(k, _) -> k < 1) (\\(k, v) -> (k + 1, x)) (0, 0.5))\n\
            def turned x acc = snd (jvp (\\((g, y) : ([1]Real -> Real, Real)) -> atan2 0.5 y) ((half, last x), (half, acc)))\n\
            def entry (x : Real) : Real = fold (\\acc _ -> turned x acc) 0.5 [0.5, 0.5, 0.5]",
        expression: "snd (jvp (grad (\\y -> norm_squared (entry y))) (1.5, 1.5))",
        exact: false,
    },
    Found {
        what: "the second tangent of a product was summed in another order",
        definitions: "def entry x = sum (matvec [[x, 0.5, x], [0.5, 0.5, 0.5], [0.5, 0.5, 0.5]] [x, 0.5, atan x])",
        expression: "snd (jvp (\\y -> snd (jvp entry (y, 1.0))) (0.6875, 1.0))",
        exact: true,
    },
    Found {
        what: "the third tangent of products of matrices was summed in another order",
        definitions: "def entry x = matmul (matmul [[x, 0.3], [sin x, x]] [[0.7, x], [x, cos x]]) [[x, exp x], [0.1, x]]",
        expression: "derivative (derivative (derivative entry)) 0.6875",
        exact: true,
    },
    Found {
        what: "machine code: a loop of which nothing had to be looked at was looked at all the same",
        definitions: "def entry (x : Real) : Real = fold (\\acc y -> erf (hypot 0.5 y)) 0.5 [0.5, x]",
        expression: "snd (jvp (\\y -> snd (jvp entry (y, 2.5))) (2.5, 2.5))",
        exact: true,
    },
    Found {
        what: "C: the second variable with the name `text` hid a text of the program",
        definitions: "def entry (x : [1]Real) = {x = \"\", y = 0.5, z = {x = 0.5, y = \"\", z = \"a\"}}",
        expression: "let t = [2.0] in snd (jvp (\\f -> f [2.0]) (entry, \\y -> snd (jvp entry (y, t))))",
        exact: true,
    },
    Found {
        what: "interpreter: a rule inside a rule took away the marks of the outer rule's tangents",
        definitions: "def inner x v = custom_jvp (\\w -> 0.25 * v) (\\(w, t) -> (0.25 * v, 0.0)) x\n\
            def entry (x : Real) : Real = custom_jvp (\\v -> 0.25 * v) (jvp (inner x)) x",
        expression: "(grad entry 0.5, derivative (grad entry) 0.5)",
        exact: true,
    },
    Found {
        what: "a rule of the user's own was run for a tangent that is zero, and divided it by zero",
        definitions: "type List = Nil | Cons Real List\n\
            def total xs = match xs with | Nil -> 0.0 | Cons x rest -> x + total rest\n\
            def root x = custom_jvp sqrt (\\(y, t) -> (sqrt y, t / (2.0 * sqrt y))) x\n\
            def roots xs = custom_jvp (map sqrt) (\\(ys, ts) -> (map sqrt ys, build (length ys) (\\i -> ts[i] / (2.0 * sqrt ys[i])))) xs\n\
            def lists xs = custom_jvp total (\\(xs, ts) -> (total xs, total ts / total xs)) xs",
        expression: "map (\\k -> (snd (jvp root (0.0, k)), snd (jvp roots ([0.0, 1.0], [k, 0.0])), snd (jvp lists (Cons 0.0 Nil, Cons k Nil)))) [0.0, 1.0]",
        exact: true,
    },
    Found {
        what: "the function of a rule of the user's own was run for a cotangent that is zero",
        definitions: "def root x = custom_vjp sqrt (\\y -> (sqrt y, \\c -> c / (2.0 * sqrt y))) x\n\
            def roots xs = custom_vjp (map sqrt) (\\ys -> (map sqrt ys, \\cs -> build (length ys) (\\i -> cs[i] / (2.0 * sqrt ys[i])))) xs",
        expression: "map (\\k -> (grad (\\(x, l) -> l * root x) (0.0, k), grad (\\(l, x) -> l * sum (roots x)) (k, [0.0, 1.0]))) [0.0, 1.0]",
        exact: true,
    },
    Found {
        what: "a rule that fails was run for a tangent or cotangent that is zero",
        definitions: "def once x = custom_jvp id (\\(y, t) -> (y, if y > 0.0 then t else fail \"no\")) x\n\
            def back x = custom_vjp id (\\y -> (y, \\c -> if y > 0.0 then c else fail \"no\")) x",
        expression: "map (\\k -> (snd (jvp once (0.0, k)), grad (\\(x, l) -> l * back x) (k, 0.0))) [0.0]",
        exact: true,
    },
    Found {
        what: "the value of a function with a rule was the rule's in the interpreter, and only if the tangent was not zero",
        definitions: "def forward x = custom_jvp (\\y -> y) (\\(y, t) -> (y + 1.0, t)) x\n\
            def back x = custom_vjp (\\y -> y) (\\y -> (y + 1.0, id)) x",
        expression: "map (\\t -> (jvp forward (2.0, t), jvp back (2.0, t), grad (\\x -> t * forward x * back x) 2.0)) [0.0, 1.0]",
        exact: true,
    },
    Found {
        what: "derivatives by a tangent that is zero itself, which a rule of the user's own is given",
        definitions: "def root x = custom_jvp sqrt (\\(y, t) -> (sqrt y, t / (2.0 * sqrt y))) x\n\
            def back x = custom_vjp sqrt (\\y -> (sqrt y, \\c -> c / (2.0 * sqrt y))) x\n\
            def along x s = snd (jvp root (x, s))",
        expression: "map (\\t -> (derivative (along 0.25) t, snd (jvp (along 0.0) (0.0, t)), grad (along 0.25) t, taylor 3 (along 0.25) t, \
            grad (\\(a, x) -> fst (grad (\\(y, l) -> l * back y) (x, a))) (t, 0.25))) [0.0, 1.0]",
        exact: true,
    },
    Found {
        what: "which function it was that reverse mode went through was lost where its tangent is another function",
        definitions: "def twice f y = f (f y)\n\
            def summed x = sum [0.5, 0.5, x]\n\
            def along f = snd (jvp f (summed, \\x -> x * x))",
        expression: "(snd (jvp (\\g -> twice (\\v -> grad (\\w -> twice g w) 0.5) 0.5) (summed, \\x -> x)), \
            along (\\g -> twice (\\v -> snd (linearize (\\w -> twice g w) 0.5) 1.0) 0.5), \
            along (\\g -> twice (\\v -> grad (\\u -> grad (\\w -> twice g (w * u)) 0.5) 0.5) 0.5), \
            along (\\g -> twice (\\v -> snd (jvp (\\w -> grad (\\u -> twice g u) w) (0.5, 1.0))) 0.5))",
        exact: true,
    },
    Found {
        what: "the same with every pass: a function as result, and a loop",
        definitions: "def twice f y = f (f y)\n\
            def summed x = sum [0.5, 0.5, x]",
        expression: "(snd (jvp (\\g -> \\y -> grad (\\w -> twice g w) y) (summed, \\x -> x)) 0.5, \
            snd (jvp (\\g -> snd (while_loop (\\(k, _) -> k < 2) (\\(k, a) -> (k + 1, grad (\\w -> twice g w) a)) (0, 0.5))) (summed, \\x -> x * x)))",
        exact: true,
    },
    Found {
        what: "a function that does not use its argument, or that is linear, hid what the function that is its tangent does there",
        definitions: "def twice f y = f (f y)\n\
            def along f = snd (jvp f (\\x -> 1.0, \\x -> x * x))\n\
            def at f = along (\\g -> twice (\\v -> f g) 0.5)",
        expression: "(at (\\g -> grad (\\w -> g w) 0.5), at (\\g -> derivative (grad g) 0.5), \
            at (\\g -> fst (snd (vjp (\\(w, x) -> g w) (0.5, 0.5)) 1.0)), \
            along (\\g -> \\y -> grad (\\w -> g w) y) 0.5, \
            snd (jvp (\\g -> twice (\\v -> derivative (grad g) 0.5) 0.5) (\\x -> 2.0 * x, \\x -> x * x)), \
            snd (jvp (\\g -> twice (\\v -> sum (grad (\\ws -> sum (g ws)) [0.5, 1.0])) 0.5) (\\x -> [1.0, 2.0], \\x -> x)))",
        exact: true,
    },
    Found {
        what: "in a loop, an infinite tangent divided by infinity was zero",
        definitions: "def f (x : Real) = fold (\\acc _ -> log2 acc) (x ^ 2) [\"\"]",
        expression: "map (\\t -> jvp f (1.0 / 0.0, t)) [1.0, 0.0]",
        exact: true,
    },
    Found {
        what: "of a matrix without columns that is transposed, the cotangent had no rows",
        definitions: "def one m = sum (map sum (transpose m))\n\
            def two m = sum (map sum (transpose (map (map sin) m)))\n\
            def three m = m[0][1] + sum (map sum (transpose (map (\\r -> slice r 0 0) m)))",
        expression: "(add [[], []] (grad one [[], []]), grad two [[], []], grad three [[1.0, 2.0], [3.0, 4.0]], \
            snd (jvp (grad two) ([[], []], [[], []])), grad (\\m -> norm (grad two m)) [[0.5, 1.0]])",
        exact: true,
    },
    Found {
        what: "a number that is no number was equal to itself",
        definitions: "def same x = (x == x, x != x, (x, x) == (x, x), if x == x then 1 else 2)",
        expression: "(map same [0.0 / 0.0, 1.0], sum (filter (\\x -> x == x) [0.0 / 0.0, 2.0]), \
            grad (\\xs -> sum (filter (\\x -> x == x) xs)) [0.0 / 0.0, 2.0], let m = map (\\x -> x / x) [0.0] in m == m)",
        exact: true,
    },
    Found {
        what: "an array of arrays of functions, of which parts were asked to be whole, was gone",
        definitions: "def rows n x = build n (\\v -> [\\u -> 0.5, \\u -> x, \\u -> 0.25 * u])",
        expression: "(fold (\\a x -> 0.5) 0.5 (rows 3 2.0)[0], sum (map (\\f -> f 2.0) (rows 2 1.5)[1]), \\x -> 1.0) |> (\\(a, b, f) -> (a, b, f b))",
        exact: true,
    },
    Found {
        what: "the compiler of C rounded products with differences and sums in turn beside them once, although it was told not to",
        definitions: "",
        expression: "map (\\i -> let x = 1 / (real i + 3) in [x * x - 0.1, x * x + 0.1]) (iota 30)",
        exact: true,
    },
    Found {
        what: "reverse mode: a rule was run for a tangent that is zero and does not vary, where another one might",
        definitions: "type List = Nil | Cons Real List
            def nan : Real = 0.0 / 0.0
            def bent x = custom_jvp sin (\\(y, t) -> (sin y, cos y * t)) x
            def along x t = snd (jvp bent (x, t))
            def both f = let (y, back) = vjp f 0.0 in (y, back 1.0)
            def summed xs = match xs with | Nil -> 0.0 | Cons x rest -> x + summed rest
            def total xs = custom_jvp summed (\\(xs, ts) -> (summed xs, match xs with | Nil -> 0.0 | Cons x _ -> x * summed ts)) xs
            def by_branch k = both (\\x -> along nan (if k > 0.0 then x else 0.0))
            def by_data k = both (\\x -> along (nan * x) (match (if k > 0.0 then Cons x Nil else Cons 0.0 Nil) with | Nil -> x | Cons y _ -> y))
            def by_array k = both (\\x -> along nan ([0.0, x, 0.0])[floor k])
            def by_case k = both (\\x -> along nan (max x k))
            def by_recursion k = both (\\x -> let rec f n a = if n == 0 then a else f (n - 1) (if k > 0.0 then x * a else 0.0 * 2.0) in along nan (f 3 x))
            def of_data k = both (\\x -> snd (jvp total (Cons nan Nil, if k > 0.0 then Cons x Nil else Cons 0.0 Nil)))
            def in_loop k = both (\\x -> sum (map (along nan) [0.0, if k > 0.0 then x else 0.0]))
            def in_steps k = both (\\x -> fold (\\a t -> if k > 1.0 then along nan a else a * 2.0 + t) (if k > 0.0 then x else 0.0) [0.0, 0.0])
            def all k = (by_branch k, by_data k, by_array k, by_case k, by_recursion k, of_data k, in_loop k, in_steps k)",
        expression: "(all 0.0, all 1.0, all 2.0)",
        exact: true,
    },
    Found {
        what: "the same where functions have captured the tangents",
        definitions: "def entry x =
            let d = derivative (\\y -> \\f -> \\z -> f y * custom_jvp sin (\\(x, t) -> (sin x, cos x * t)) x) 0.5
            in d (d (\\v -> v)) 0.5",
        expression: "(grad entry (0.0 / 0.0), grad entry 0.5)",
        exact: true,
    },
    Found {
        what: "GCC 12 added terms of a sum in a given order more than once, where an iteration adds several",
        definitions: "def pairs = build 19 (\\i -> [real i, 0.5])
            def entry x = sum (flatten (reverse (build 19 (\\i -> [x, x]))))
            def ask x = let (y, back) = vjp entry x in (y, back y)
            def backward rows = fold (\\s row -> fold (\\a x -> a + x) s (reverse row)) 0.0 rows
            def three rows = fold (\\s row -> s + row[2] - row[0] + row[1]) 0.0 rows",
        expression: "(ask 1.5, backward pairs, three (build 23 (\\i -> [real i, 0.5, 2.0 * real i])), grad backward pairs)",
        exact: true,
    },
    Found {
        what: "a zero that is divided by zero was no strong zero once its sign was in the divisor",
        definitions: "",
        expression: "map (\\i -> grad (\\x -> atan2 x (x / 0.0)) (real i)) (iota 3)",
        exact: true,
    },
    Found {
        what: "strict: what was used of a product with one, or of a difference from zero, was added to its operand one by one",
        definitions: "def times h = let a = h * 1.0 let b = h * 0.5 let k = h / 2.0 let p = a + k * (a + 1.0) let q = b + k * (b + 1.0) in p * p + q * q\n\
            def minus h = let a = h - 0.0 let b = h / 1.0 let k = b / 2.0 let p = a + k * (a + 1.0) let q = b + k * (b + 1.0) in p * p + q * q\n\
            def vectors h = let v = scale h (1.0, 0.5) in norm_squared (add v (scale (h / 2.0) (add v (1.0, 1.0))))\n\
            def zeros h = let a = 0.0 + h * h let b = h ^ 1 let k = a / 2.0 let p = a + k * (a + b) let q = b + k * (b + a) in p * p + q * q",
        expression: "map (\\i -> map (\\f -> let x = 0.1 + 0.7 * real i / 16.0 in (grad f x, derivative (grad f) x)) [times, minus, vectors, zeros]) (iota 16)",
        exact: true,
    },
    Found {
        what: "strict: arrays of tuples were scaled and added component by component, so what scaled them was added up in another order",
        definitions: "def ps = [(0.1, 0.3), (0.7, -0.1)]\n\
            def both h = let q = scale h ps let (a, b) = q[0] let (c, d) = q[1] in (a - c) ^ 2 + (b - d) ^ 2 + a * b * c * d\n\
            def added h = let q = add (replicate 2 (h, h)) ps let (a, b) = q[0] let (c, d) = q[1] in a * sin b * exp c * d\n\
            def deeper h = let q = scale h [[{a = 0.1, b = [0.3, 0.7]}], [{a = 0.4, b = [0.2, 0.9]}]] in inner q (scale h q)",
        expression: "map (\\i -> map (\\f -> let x = 0.1 + 0.7 * real i / 16.0 in (grad f x, derivative (grad f) x)) [both, added, deeper]) (iota 16)",
        exact: true,
    },
    Found {
        what: "strict: the interpreter scaled and added what a value holds twice once, where both were one in memory",
        definitions: "def twice xs = let s = scale xs[0] (zip xs xs) in inner s s\n\
            def pairs xs = let p = (xs[0], xs[1]) in let s = add [p, p] [p, p] in inner s s * xs[0] * exp xs[1]\n\
            type Tree = Leaf Real | Node Tree Tree\n\
            def trees xs = let t = Node (Leaf xs[0]) (Leaf xs[1]) in let s = scale xs[1] (Node t t) in inner s (add (Node t t) (Node t t)) * exp xs[0]",
        expression: "map (\\i -> map (\\f -> let x = [0.1 * real i, 0.2 + 0.07 * real i] in (grad f x, jacfwd (grad f) x)) [twice, pairs, trees]) (iota 16)",
        exact: true,
    },
    Found {
        what: "the interpreter lost what the function of a `custom_vjp` had captured, in reverse mode around another derivative",
        definitions: "def f x = custom_vjp (\\y -> x * x) (\\y -> (y, \\t -> t * 0.7)) x\n\
            def g x = custom_vjp (\\y -> 1.0) (\\y -> (y, \\t -> t * y)) (f x)",
        expression: "map (\\f -> (grad (derivative f) 0.3, derivative (derivative f) 0.3, grad (grad f) 0.3, derivative (grad f) 0.3)) [f, g]",
        exact: true,
    },
    Found {
        what: "C: the gamma function of -0",
        definitions: "",
        expression: "map (\\x -> gamma (x * 0.0)) [1.0, -1.0]",
        exact: true,
    },
    Found {
        what: "compiled code: a row that is made where one loop wants it was not copied to where another one wants it, inside of that",
        definitions: "def rows m = map (\\r -> let row = map sin r in (row, build 2 (\\i -> row), build 2 (\\i -> if i == 1 then row else r))) m\n\
            def step m k = let row = map (\\x -> x / m[k, k]) m[k] in\n\
              build (length m) (\\i -> if i == k then row else map2 (\\x y -> x - 0.5 * y) m[i] row)",
        expression: "let m = [[2.0, 1.0], [1.0, 3.0]] in (rows m, grad (\\m -> sum (map sum (fold step m (iota 2)))) m)",
        exact: true,
    },
    Found {
        what: "C: elements that are read only if they are chosen, of short rows, which GCC mixes up in vectors",
        definitions: "def a = build 6 (\\i -> build 6 (\\j -> real (mod (i * 7 + j * 5) 11) / 3.0 - 1.2))",
        expression: "let c = fold add (replicate 6 (replicate 6 0.0)) [a] in map2 (\\r s -> map2 (\\x y -> if x > 0.0 then y else 0.0) r s) c a",
        exact: true,
    },
    Found {
        what: "the interpreter gave another coefficient of a Taylor series where it varies: zero times infinity was no number then",
        definitions: "",
        expression: "(map (\\x -> taylor 2 (\\x -> atan (sqrt x)) x) [0.0], map (\\x -> jvp (taylor 2 (\\x -> atan (sqrt x) * x)) (x, 1.0)) [0.0])",
        exact: true,
    },
    Found {
        what: "weights of values that do not vary were given to what goes back through the rule of a rule",
        definitions: "def f x0 = \\v -> (0.5, v * x0, v, v * v * x0)\n\
            def e x0 = custom_vjp (f x0) (vjp (f x0)) x0\n\
            def g x = let (a, b, c, d) = e x in a * b + c * d",
        expression: "(grad (grad g) 2.5, derivative (grad g) 2.5, grad (derivative g) 2.5, grad (grad (grad g)) 2.5)",
        exact: true,
    },
    Found {
        what: "what no iteration adds to an element was added to it after the loop, also where the element is not there",
        definitions: "def f n = grad (\\(b : []Real) -> fold (\\s i -> s + b[0] * b[i]) 0.0 (iota n)) (build n (\\i -> 2.0))",
        expression: "map (\\n -> sum (f n)) [0, 1, 2, 20]",
        exact: false,
    },
    Found {
        what: "an array whose tangent comes from a rule that gives none had no shape where that is handed on",
        definitions: "def still x = custom_vjp (\\y -> 1.0) (vjp (\\y -> 1.0)) x\n\
            def row x = custom_jvp (\\y -> [0.5, 0.5]) (jvp (\\y -> [0.5, still y])) x\n\
            def f x = let r = row x in r[0] * x",
        expression: "map (\\x -> ((snd (linearize (grad f) x)) 0.5, derivative (grad f) x, grad (grad f) x)) [0.7, 0.0]",
        exact: true,
    },
    Found {
        what: "the interpreter took a rule for one that is not linear, inside of which another rule has captured the argument",
        definitions: "def inside y = custom_jvp (\\v -> y * v) (\\(v, t) -> (y * v, y * t)) y\n\
            def f x = custom_jvp inside (jvp inside) x",
        expression: "(grad f 2.0, grad (grad f) 2.0, derivative (grad f) 2.0, grad (derivative f) 2.0, grad (grad (grad f)) 2.0)",
        exact: true,
    },
    Found {
        what: "the interpreter took a tangent that is always zero, divided by what varies, for one that does not vanish",
        definitions: "def f x = custom_jvp (\\y -> y) (\\(y, t) -> (y, (snd (vjp (\\z -> -0.7) y)) (y * t) / (1.5 + x ^ 2))) x",
        expression: "(grad f 0.7, grad (grad f) 0.7, derivative f 0.7)",
        exact: true,
    },
    Found {
        what: "the interpreter and strict code refused a rule that is a derivative of a function with another rule, as both had captured \
               what varies",
        definitions: "def g x y = custom_jvp (\\v -> y * v * v) (\\(v, t) -> (y * v * v, 2.0 * y * v * t)) x\n\
                      def f x = custom_jvp (g x) (jvp (g x)) x\n\
                      def h x y = custom_jvp (\\v -> y * v) (\\(v, t) -> (y * v, custom_jvp (\\u -> u * t) (\\(u, s) -> (u * t, s * t)) y)) x",
        expression: "(grad f 2.0, grad (grad f) 2.0, grad (\\y -> snd (jvp (\\x -> custom_jvp (g (x * y)) (jvp (g (y * x))) x) (2.0, 1.0))) 1.5, \
                     grad (\\x -> h x x) 3.0)",
        exact: true,
    },
    Found {
        what: "strict: in reverse mode over forward mode a checkpoint added up what the interpreter, which notes none there, adds term by term",
        definitions: "def f p t = t * t * p + sin (checkpoint (\\x -> t * x) p * p)\n\
            def steps p t = fold (\\a k -> sin (checkpoint (\\x -> t) p * p) + 0.7 * a) 1.0 (iota 3)",
        expression: "let at g = map (grad (\\p -> snd (jvp (g p) (p, 0.7)))) [0.3, 0.7, 1.1, 2.1, 0.4581, 0.55, 0.66, 0.88, 1.05] in (at f, at steps)",
        exact: true,
    },
    Found {
        what: "whether the tangent of a captured function is one in a rule was asked of tangents of tangents without end",
        definitions: "def lifted f = custom_jvp f (\\(x, t) -> (f x, snd (jvp f (x, t))))",
        expression: "grad (\\k -> snd (jvp (\\f -> lifted f k) (\\x -> k * x * x, \\x -> k * x))) 0.5",
        exact: true,
    },
    Found {
        what: "parts of a loop were given another array to add to than the one whose address had been computed before",
        definitions: "def loss (w, v) = sum (map (\\x -> sum (matvec v (map (\\a -> a * w) x))) \
            (build 40 (\\k -> build 1500 (\\i -> real (i + k)))))",
        expression: "let (a, b) = grad loss (2.0, build 2 (\\i -> build 1500 (\\j -> 1.0))) in (a, map sum b)",
        exact: true,
    },
    Found {
        what: "C: what nothing assigns, since what would always fails before, was not declared",
        definitions: "type S = S Real (() -> S)\n\
            def from a d = S a (\\u -> from (a * d) d)\n\
            def acc (S a ra) = let (S b rb) = ra () in S (a * b) (\\u -> acc (ra ()))\n\
            def nth n (S x r) = if n == 0 then x else nth (n - 1) (r ())",
        expression: "derivative (grad (\\a -> nth 4 (acc (from a a)))) 1.7",
        exact: true,
    },
    Found {
        what: "machine code: in a vector loop, a choice between 0 and 1 was a truth value where it was chosen beside other integers",
        definitions: "def mk x = if x > 0.6 then (\\y -> x + y) else if x > 0.0 then (\\y -> y * x) else (\\y -> 100.0 + x)\n\
            def sgn x = if x < 0.0 then -1 else if x > 0.0 then 1 else 0\n\
            def near xs = map (\\x -> if x > 0.6 then length xs else if x > 0.0 then 0 else 1) xs\n\
            def f xs = let fs = map mk xs in (map sgn xs, near xs, fold (\\a g -> a * g 1.0) 1.0 fs)",
        expression: "(f [0.5, 1.2, 0.5, -0.3, 0.0], f (build 9 (\\i -> cos (2.0 * real i))))",
        exact: true,
    },
    Found {
        what: "machine code: what is rounded, and the same in all iterations of a vector loop, was 0",
        definitions: "def f c xs = map (\\x -> x * real (floor c) + real (round (2.0 * c))) xs\n\
            def g c n = build n (\\i -> real (i + truncate c))\n\
            def h c xs = grad (\\ys -> sum (map (\\y -> y * y * real (ceil c)) ys)) xs",
        expression: "(\\n -> let xs = build n (\\i -> real i - 3.5) in (f 2.7 xs, g (-3.2) n, h 1.2 xs)) 9",
        exact: true,
    },
    Found {
        what: "an index was compared with a number so small that what is between edges had no end",
        definitions: "def f k xs = build (length xs) (\\i -> let x = xs[i] in if i < k\n\
              then sin x * cos x + exp x * tanh x - log (x + 3.0) * sqrt (x + 3.0) + atan x * sinh x / cosh x + sin (x * 2.0) * cos (x * 3.0)\n\
              else cos (x + 1.0) * sin (x + 2.0) + tanh (x + 1.5) * exp (x - 1.0) - log (x + 4.0) * sqrt (x + 5.0) + atan (x + 1.0) * sinh (x - 1.0))",
        expression: "map (\\k -> let xs = build 40 (\\i -> 0.1 * real i) in (f k xs, grad (\\ys -> sum (f k ys)) xs))\n\
            [-9223372036854775750, -4611686018427387905, 9223372036854775807, 5]",
        exact: true,
    },
    Found {
        what: "a sum with an index was taken not to wrap, for a loop was as long as a number that is near the largest, less another",
        definitions: "def f k xs = build (k - 9223372036854775757) (\\i -> if i + k < k then 1.0 else xs[i])\n\
            def g k xs = sum (build (k - 9223372036854775757) (\\i -> if i + k <= k + 3 then xs[i] else 0.0))",
        expression: "(\\k -> let xs = build 50 (\\i -> 0.1 * real i) in (f k xs, g k xs)) 9223372036854775807",
        exact: true,
    },
    Found {
        what: "C: the same in a part of a loop",
        definitions: "def f n k = sum (build n (\\i -> if i < k then 1.0 else sin (real i)))\n\
            def g n k = sum (build n (\\i -> if i + k < 0 then 1.0 else sin (real i)))",
        expression: "(\\n -> map (\\k -> (f n k, g n k)) [-9223372036854775807 - 1, -4611686018427387904, 5000000000000000000, 7]) 40000",
        exact: true,
    },
    Found {
        what: "what a loop reads was taken to be small before it was read, where it is compared with its own sum with the index",
        definitions: "def count v = sum (build (length v) (\\k -> if v[k] + k > v[k] then 1 else 0))\n\
            def choose v = sum (build (length v) (\\k -> let x = v[k] in if x + k > x then 3.0 else real k))",
        expression: "(\\v -> (count v, choose v)) (replicate 40 9223372036854775807)",
        exact: true,
    },
    Found {
        what: "C: an array that a branch makes had two declarations where an inner loop compares its index with a sum with that",
        definitions: "def f a = sum (build (length a) (\\k -> sum (build (length a) (\\i ->\n\
              if i + k > i then maximum (concat [0.0] a) else 0.0))))",
        expression: "(f [0.3, 0.4], f (build 40 (\\i -> real i)))",
        exact: true,
    },
    Found {
        what: "forward derivatives handed on what `max` and its like chose as the number it was, and reverse mode over them added up in another order",
        definitions: "def f b = let s = sin b in let u = max 0.3 s in u * u * u + s\n\
            def g b = let s = sin b in let u = relu s + clamp 0.1 0.9 s + min s 0.8 + atan2 s s in u * u * u * s",
        expression: "map (\\x -> (grad (\\q -> derivative f q) x, grad (\\q -> derivative g q) x)) [0.4, 0.6, 0.7, 0.9, -0.3]",
        exact: true,
    },
    Found {
        what: "strict: where reverse mode went through the map of `linearize`, what that computed again in loops and branches had a sum of its own",
        definitions: "def push f q = (snd (linearize f q)) (q * q)\n\
            def f b = (build 1 (\\i -> b * b * b))[0]\n\
            def g b = fold (\\a x -> a * b * x + x * b * a) b [0.3, b * b, b]\n\
            def h b = if b < 0.2 then b * b * b else b * sin b * b * b\n\
            def k b = sum (map (\\y -> checkpoint (\\x -> sin (x * x) * x * b) (b * y)) [b, 0.3, b * b])",
        expression: "map (\\x -> (grad (push f) x, grad (push g) x, grad (push h) x, grad (grad (push k)) x)) [0.05, 0.1, 0.3, 0.7]",
        exact: true,
    },
    Found {
        what: "strict: there a checkpoint was one on the tape around too, where the interpreter notes what it does",
        definitions: "def push f q = (snd (linearize f q)) (q * q)\n\
            def f b = checkpoint (\\c -> c * c * c) (checkpoint (\\c -> c * c * c) b)\n\
            def g b = fold (\\a x -> checkpoint (\\c -> c * b * x * b + sum (map (\\z -> z * c * c) [b, c])) a) b [0.3, b]",
        expression: "map (\\x -> (grad (push f) x, grad (push g) x, grad (grad (push g)) x)) [0.05, 0.1, 0.3, 0.7]",
        exact: true,
    },
    Found {
        what: "C: the size of the smallest integer was taken to be larger than a number",
        definitions: "def f n = abs n / 3 < 2\n\
            def g n = (if n >= 0 then n else -n) < 5\n\
            def h n = sum (build 40 (\\i -> if abs (n + i) < 2 then 1 else 0))",
        expression: "map (\\n -> (f n, g n, h n)) [-9223372036854775807 - 1, 9223372036854775807, -4, 3, 0]",
        exact: true,
    },
    Found {
        what: "a choice between 0.0 and -0.0 was taken for none",
        definitions: "def s q = if q == 1 then -0.0 else 0.0\n\
            def f n = build 3 (\\i -> if i < n then 0.0 else -0.0)",
        expression: "map (\\q -> (1.0 / s q, map (\\x -> 1.0 / x) (f q))) [0, 1, 2]",
        exact: true,
    },
    Found {
        what: "reverse mode: what a loop hands on had a zero cotangent of the size of its next state, if only its own size was used",
        definitions: "def f b = sum (fold (\\e i -> build i (\\j -> 0.5)) (map (\\x -> x * x) b) (iota 2))\n\
            def g b = sum (fold (\\e i -> build (length e - 1) (\\j -> 0.5)) (map exp b) (iota 2)) * sum b\n\
            def h b = sum (fst (while_loop (\\(e, s) -> length e < 9) (\\(e, s) -> (build (length e + 1) (\\j -> s), s * 0.5)) (b, b[1])))\n\
            def k b = let (e, g) = fold (\\(e, g) i -> (g, slice e 0 1)) (b, concat b b) (iota 3) in sum (map sin e) + sum g\n\
            def two b = map (\\f -> grad f b) [f, g, h, k]",
        expression: "(two [0.7, 2.0, 3.0], grad (\\b -> sum (map sum (two b))) [0.7, 2.0, 3.0, 0.1], \
            norm (grad f (build 1000 real)))",
        exact: false,
    },
    Found {
        what: "forward mode: the tangent of what a loop hands on had the size of that before, if the next did not vary",
        definitions: "def f b = fold (\\e i -> build i (\\j -> 0.5)) b (iota 3)\n\
            def g b = fst (fold (\\(e, f) i -> (f, build (length e - 1) (\\j -> 0.5))) (b, map sin b) (iota 2))\n\
            def h b = fst (while_loop (\\(e, i) -> i < 3) (\\(e, i) -> (build i (\\j -> 0.5), i + 1)) (b, 0))",
        expression: "map (\\f -> snd (linearize f [0.7, 2.0, 3.0]) [1.0, 1.0, 1.0]) [f, g, h]",
        exact: false,
    },
    Found {
        what: "a loop was done before it was looked whether its arrays are as long: beside another one, and before a loop around or a condition",
        definitions: "def long k = build k (\\j -> real j + 0.5)\n\
            def apart k b = map2 (*) b (long k)\n\
            def around n k b = let c = long k in (c[1], iterate n (\\e -> e + fold (\\s (x, y) -> s + x * y) 0.0 (zip c b)) 0.0)\n\
            def slope n k b = grad (\\b -> fold (\\e i -> e + sum (map2 (\\x y -> x * y) (long k) b)) 0.0 (iota n)) b\n\
            def asked k b = while_loop (\\e -> length b == k && e < 100.0) (\\e -> e + sum (map2 (*) b (long k))) 1.0",
        expression: "(apart 3 [0.7, 2.0, 3.0], around 0 70000 [0.7, 2.0], around 2 2 [0.7, 2.0], slope 0 2 [0.7, 2.0, 3.0], \
            slope 2 3 [0.7, 2.0, 3.0], map (\\k -> asked k [0.7, 2.0, 3.0]) [3, 70000])",
        exact: false,
    },
    Found {
        what: "the cotangent of what a matrix without rows is multiplied with had no elements",
        definitions: "def rows n = build n (\\j -> build 3 (\\i -> 0.5 + real (i * j)))\n\
            def by n b = sum (matvec (rows n) b)\n\
            def of n b = sum (map sum (matmul (rows n) (map (\\x -> [x, x * x]) b)))\n\
            def back n b = norm (snd (vjp (\\b -> matvec (rows n) (map sin b)) b) (build n (\\j -> 0.5)))\n\
            def steps n b = sum (fold (\\x i -> matvec (rows n) x) b (iota 1))",
        expression: "map (\\n -> map (\\f -> grad (f n) [0.7, 2.0, 3.0]) [by, of, back, steps]) [0, 2]",
        exact: false,
    },
    Found {
        what: "what loops looked at that had no iteration was known after them; and a product of matrices had columns that the second did not",
        definitions: "def loops n k b =\n\
            \x20 let c = build k (\\j -> real j)\n\
            \x20 let s = iterate n (\\e -> sin (e + fold (\\s (x, y) -> s + x * y) 0.0 (zip c b))) 0.5\n\
            \x20 in (c[1], iterate n (\\e -> cos (e + s * fold (\\s (x, y) -> s + x * y * y) 0.0 (zip c b))) s)\n\
            def columns n z k = map length (matmul (build n (\\i -> build z (\\j -> 0.5))) (build z (\\j -> build k (\\l -> 0.5))))",
        expression: "(loops 0 70000 [0.7], loops 2 2 [0.7, 0.3], columns 2 0 3, columns 2 1 3)",
        exact: false,
    },
];
