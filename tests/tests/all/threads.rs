//! Threads: long loops give the same bits with any number of them, and about what the interpreter gives.

use wengert_driver::{Engine, Input, Options, Session, show};
use wengert_tests::text::close;

/// Programs with one parameter, a size, whose loops are long enough to be divided.
const PROGRAMS: &[(&str, &str)] = &[
    ("a map", "def main n = map (\\x -> sin x * exp x) (build n (\\i -> real i * 1e-4))"),
    ("a sum", "def main n = sum (build n (\\i -> exp (sin (real i * 0.001))))"),
    ("an inner product", "def main n = let xs = build n (\\i -> cos (real i)) in inner xs xs"),
    ("sums in branches", "def main n = sum (map (\\i -> if i % 3 == 0 then 1.0 else sqrt (real i)) (iota n))"),
    ("integers", "def main n = sum (map (\\i -> i * i % 7) (iota n))"),
    ("the largest", "def main n = let xs = build n (\\i -> sin (real i)) in (maximum xs, argmin xs, fold max 0.0 xs)"),
    (
        "the first of the largest",
        "def main n =
           let xs = build n (\\i -> i * 7 % 5)
           let ys = map real xs
           let zs = map (\\y -> if y > 3.0 then y / 0.0 - y / 0.0 else y) ys
           in (argmax xs, argmin xs, argmax ys, argmin ys, argmax zs, argmin zs)",
    ),
    (
        "equal elements stay in their order",
        "def main n =
           let xs = build n (\\i -> i * 7 % 5)
           let seen places = sum (map2 (\\i place -> i * place % 1009) (iota n) places)
           in (seen (argsort xs), seen (argsort (map real xs)), seen (argsort (map (\\x -> show x) xs)))",
    ),
    ("the largest, differentiated", "def main n = grad (\\w -> maximum (build n (\\i -> sin (w * real i)))) 0.7"),
    ("rows", "def main n = sum (build n (\\i -> sum (build 17 (\\j -> sin (real (i * j))))))"),
    (
        "the gradient of a sum of functions of an array",
        "def main n = grad (\\xs -> sum (map (\\x -> log (1.0 + exp x)) xs)) (build n (\\i -> sin (real i)))",
    ),
    (
        "the gradient with respect to something shared",
        "def main n = let xs = build n (\\i -> sin (real i)) in
         grad (\\w -> sum (map (\\x -> log (1.0 + exp (w * x))) xs)) 0.3",
    ),
    (
        "gradients that are added in an array",
        "def main n = grad (\\w -> sum (build n (\\i -> let j = i % length w in exp (w[j] * 0.1) * sin (w[j]))))
           (build 50 (\\i -> real i * 0.01))",
    ),
    (
        "a Hessian times a vector",
        "def main n = let xs = build n (\\i -> cos (real i)) in
         snd (jvp (grad (\\w -> sum (map (\\x -> tanh (w[0] * x + w[1])) xs))) ([0.2, -0.1], [1.0, 2.0]))",
    ),
    (
        "the gradient of what looks at neighbors",
        "def main n =
           let f xs = sum (build (length xs - 1) (\\i -> (xs[i + 1] - xs[i] * xs[i]) ^ 2 + xs[i]))
           let xs = build n (\\i -> sin (real i))
           in (grad f xs, snd (jvp (grad f) (xs, build n (\\i -> cos (real i)))))",
    ),
    (
        "neighbors that do not exist",
        "def main n = grad (\\xs -> sum (build (length xs) (\\i -> (xs[i + 1] - xs[i]) ^ 2))) (build n (\\i -> sin (real i)))",
    ),
    (
        "trees that are only looked at",
        "type Tree = Leaf Real | Node Tree Tree
         def total t = match t with | Leaf x -> x | Node a b -> total a + total b
         def main n =
           let t = Node (Leaf 1.5) (Node (Leaf 2.0) (Leaf 0.25)) in
           sum (map (\\i -> total t * real i) (iota n))",
    ),
    (
        "what is associative: products of matrices, and moments",
        "def times (a, b, c, d) (p, q, r, s) = (a * p + b * r, a * q + b * s, c * p + d * r, c * q + d * s)
         def turn x = (cos x, -(sin x), sin x, cos x)
         def join (n, m, s) (k, p, t) =
           if n == 0.0 then (k, p, t) else if k == 0.0 then (n, m, s) else
             let d = p - m
             let all = n + k
             in (all, m + d * k / all, s + t + d * d * n * k / all)
         def main n =
           let turns = map (\\i -> turn (real (i % 17) * 0.1)) (iota n)
           let (count, mean, spread) = reduce join (0.0, 0.0, 0.0) (build n (\\i -> (1.0, sin (real i), 0.0)))
           in (reduce times (2.0, 0.0, 1.0, 1.0) turns, count, 3.0 + mean, spread,
               reduce (\\a b -> if abs b > abs a then b else a) 0.0 (map (\\i -> sin (real i)) (iota n)))",
    ),
    (
        "trees that are made, looked at, and put into others",
        "type Tree = Leaf Real | Node Tree Tree | Row ([]Real) String
         def grow depth x = if depth == 0 then Leaf x else Node (grow (depth - 1) (x * 0.5)) (grow (depth - 1) (sin x))
         def total t = match t with
           | Leaf x -> x
           | Node a b -> total a + total b
           | Row xs name -> sum xs + real (string_length name)
         def main n =
           let trees = build n (\\i -> grow (i % 4) (real i)) in
           let rows = build n (\\i -> Row (build (i % 50) (\\j -> real (i + j))) (show i)) in
           let both = build n (\\i -> Node (trees[i * 7 % n]) (Node (rows[n - 1 - i]) (trees[i]))) in
           (map total trees, sum (map total both), total (both[n / 2]), sum (map total (map2 Node both trees)))",
    ),
    (
        "gradients of recursion that keep a tape for each element",
        "def descend depth x = if depth == 0 then x * x else descend (depth - 1) (x * 0.5) + descend (depth - 1) (sin x)
         def main n =
           grad (\\xs -> sum (map2 (\\i x -> exp (0.01 * descend (i % 5) x)) (iota n) xs)) (build n (\\i -> sin (real i)))",
    ),
    (
        "lists that share their ends, and texts",
        "type List = Nil | Cons Real List
         def total l = match l with | Nil -> 0.0 | Cons x rest -> x + total rest
         def main n =
           let few = build 5 (\\i -> Cons (real i) (Cons 1.5 Nil)) in
           let many = map (\\i -> Cons (real (i % 3)) (few[i % 5])) (iota n) in
           let more = map (\\i -> Cons 0.25 (many[i * i % n])) (iota n) in
           let names = map (\\i -> show (i % 10)) (iota n) in
           let again = map2 (\\i name -> if i % 2 == 0 then name else names[i - 1]) (iota n) names in
           (map total more, sum (map string_length again), total (more[n - 1]))",
    ),
    (
        "the first of several failures, with objects around",
        "type List = Nil | Cons Real List
         def total l = match l with | Nil -> 0.0 | Cons x rest -> x + total rest
         def main n =
           let make i = if i == n - 3 || i == n / 2 + 1 then fail (show i) else Cons (real i) (Cons 1.0 Nil) in
           sum (map total (map make (iota n)))",
    ),
    ("an index that does not exist", "def main n = let xs = iota n in sum (map (\\i -> xs[i * 2]) xs)"),
];

/// The program whose loops make objects, of which `bench/kernels/README.md` has measurements.
const OBJECTS: &[(&str, &str)] =
    &[("objects that are made and read", include_str!("../../../bench/threads/objects.wg"))];

/// Programs whose products of matrices are divided.
const PRODUCTS: &[(&str, &str)] = &[
    (
        "a product of matrices, and its pullback",
        "def main n =
           let matrix k = build n (\\i -> build (n + k) (\\j -> sin (real (i * 7 + j * k)))) in
           let weigh m = sum (map2 (\\i row -> real i * sum row) (iota n) m) in
           grad (\\(a, b) -> weigh (matmul a b)) (matrix 0, matrix 3)",
    ),
    (
        "a matrix times a vector, and its pullback",
        "def main n =
           let a = build (40 * n) (\\i -> build (2 * n) (\\j -> cos (real (i + 3 * j)))) in
           let x = build (2 * n) (\\j -> real (j % 5)) in
           let (_, back) = vjp (matvec a) x in (sum (matvec a x), back (matvec a x))",
    ),
];

/// The result of a program as text, or what went wrong, rendered.
fn run(text: &str, size: usize, options: &Options) -> String {
    let mut session = Session::new();
    let report = session.check_text("threads.wg", text, std::path::Path::new("."));
    assert!(!report.has_errors(), "{text}");
    let scope = wengert_driver::scope::Scope::of_file(&report.modules);
    let input = Input::Text(format!("[{size}]"));
    match session.call_in(&scope, "main", &input, options) {
        Ok(evaluated) => show(&evaluated.value),
        Err(errors) => errors.iter().map(|error| error.message.clone()).collect(),
    }
}

fn options(engine: Engine, strict: bool, threads: usize, short_loops: bool) -> Options {
    Options { engine, strict, threads, short_loops, ..Options::default() }
}

/// Sizes, and whether short loops are divided too. The C compiler, which takes long, has half of the programs strict.
fn all_agree(programs: &[(&str, &str)], engine: Engine, sizes: &[(usize, bool)]) {
    for (number, (what, text)) in programs.iter().enumerate() {
        let modes: &[bool] = if engine != Engine::C {
            &[true, false]
        } else if number % 2 == 0 {
            &[true]
        } else {
            &[false]
        };
        for (size, short_loops) in sizes {
            let truth = run(text, *size, &options(Engine::Interp, true, 1, false));
            for strict in modes.iter().copied() {
                let one = run(text, *size, &options(engine, strict, 1, *short_loops));
                assert!(close(&one, &truth, 1e-9), "{what}, size {size}, {}", engine.name());
                for threads in [2, 4, 7] {
                    let some = run(text, *size, &options(engine, strict, threads, *short_loops));
                    assert!(
                        some == one,
                        "{what}, size {size}, {}, {threads} threads, strict: {strict}",
                        engine.name()
                    );
                }
            }
        }
    }
}

#[test]
fn machine_code_gives_the_same_with_any_number_of_threads() {
    all_agree(PROGRAMS, Engine::Native, &[(1, true), (1000, true), (100_000, false)]);
    all_agree(PRODUCTS, Engine::Native, &[(1, false), (125, false)]);
    all_agree(OBJECTS, Engine::Native, &[(1, true), (600, true)]);
}

#[test]
fn what_the_c_compiler_makes_gives_the_same_with_any_number_of_threads() {
    if Engine::C.require().is_ok() {
        all_agree(PROGRAMS, Engine::C, &[(50_000, true)]);
        all_agree(PRODUCTS, Engine::C, &[(125, false)]);
        all_agree(OBJECTS, Engine::C, &[(600, true)]);
    }
}

/// Where a process may only have so much address space, the stacks of its threads leave some for what is computed.
#[test]
fn threads_leave_address_space() {
    let folder = wengert_tests::project::scratch("address_space");
    let text = "def n = 60000
def xs = build n (\\i -> sin (real i * 0.37) + 1.5)
def f (a, xs) =
  let high = reduce max (-1e30) (map (\\x -> sin (a * x)) xs)
  in high + sum (map2 (*) (slice xs 1 n) (slice xs 0 (n - 1))) + sum (map (\\x -> sin (x * a)) xs)
def main = let (a, g) = grad (\\p -> inner (grad f p) (1.0, xs)) (0.8, xs) in round (a + sum g)
";
    std::fs::write(folder.join("shared.wg"), text).expect("the file can be written");
    let engines = [Engine::Native, Engine::C];
    for engine in engines.into_iter().filter(|engine| engine.require().is_ok()) {
        for (kib, threads) in [(3_000_000, 32), (6_000_000, 8), (12_000_000, 8), (40_000_000, 32)] {
            let run = format!("exec wengert run shared.wg --engine {} --threads {threads}", engine.name());
            let ran = wengert_tests::command::shell_in(&folder, &format!("ulimit -v {kib}; {run}"));
            assert_eq!((ran.status, ran.stdout.trim()), (0, "-182179"), "{run}, {kib} KiB\n{}", ran.stderr);
        }
    }
}
