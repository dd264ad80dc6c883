//! The shapes on which the cost promise is hardest to keep, for every engine that counts operations.

/// What they are made of.
pub const DEFINITIONS: &str = "\
type List a = Nil | Cons a (List a)
type Rose = Rose ([]Rose)

def replicate_list n x = iterate n (Cons x) Nil

def sum_list xs = match xs with | Nil -> 0.0 | Cons x rest -> x + sum_list rest

def foldr f z xs = match xs with | Nil -> z | Cons x rest -> f x (foldr f z rest)

def descend n (x : Real) = if n == 0 then x else 1.0 * descend (n - 1) x

def doubling n (x : Real) = if n == 0 then x else let y = doubling (n - 1) x in y + y

def product_of fs (x : Real) = fold (\\acc f -> acc * f x) 1.0 fs

def logistic (x : Real) = 3.7 * x * (1 - x)
";

/// Functions, each with a point.
const WORST: &[(&str, &str)] = &[
    ("doubling 1000", "0.001"),
    ("product_of (replicate 300 sin)", "0.5"),
    ("product_of (build 300 (\\i x -> x / (x + real i)))", "0.5"),
    ("descend 10000", "2.0"),
    ("iterate 10000 logistic", "0.3"),
    ("while_loop (\\x -> x < 1000.0) (\\x -> x * 1.001 + exp (-x))", "1.0"),
    ("\\xs -> sum (map (\\x -> sin x * x) xs)", "replicate 1000 0.5"),
    ("\\xs -> product xs", "replicate 1000 1.001"),
    ("\\xs -> maximum (scan (\\a b -> max a b * 0.5) 0.0 xs)", "replicate 1000 1.5"),
    ("\\m -> sum (flatten (matmul m m))", "replicate 20 (replicate 20 0.1)"),
    ("\\x -> iterate 50 (\\f -> \\y -> f (y * x)) (\\y -> y) x", "1.1"),
    ("sum_list", "replicate_list 1000 1.5"),
    ("norm_squared", "replicate_list 1000 1.5"),
];

/// That `jvp` costs at most 4 times and `vjp` at most 6 times what these functions cost, if that many operations evaluate a text.
pub fn check(flops: impl Fn(&str) -> u64) {
    for (function, point) in WORST {
        let of = |call: &str| {
            let bound = format!("let f = {function} in let x = {point} in ");
            flops(&format!("{bound}{call}")) - flops(&format!("{bound}0"))
        };
        let primal = of("f x");
        // The tangent is 1 in every component: zeros would be skipped.
        let jvp = of("jvp f (x, unravel x (replicate (length (ravel x)) 1.0))");
        let vjp = of("let (_, back) = vjp f x in back 1.0");
        assert!(primal > 0, "{function}");
        assert!(jvp <= 4 * primal, "{function}: jvp {jvp}, primal {primal}");
        assert!(vjp <= 6 * primal, "{function}: vjp {vjp}, primal {primal}");
    }
}
