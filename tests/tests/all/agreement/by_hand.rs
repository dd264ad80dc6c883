//! Programs that are in none of the papers, each with the numbers that it must have by the rules of calculus: zero
//! derivatives, unused arguments, functions that are returned, shadowing, currying, chains of lets, kinks, functions of
//! functions, nested derivatives.

/// An expression, its numbers, and how many calculi must take it at least.
pub(crate) struct Case {
    pub(crate) text: String,
    pub(crate) numbers: Vec<f64>,
    pub(crate) takers: usize,
}

fn case(takers: usize, text: &str, numbers: &[f64]) -> Case {
    Case { text: text.to_owned(), numbers: numbers.to_vec(), takers }
}

/// All of them.
pub(crate) fn cases() -> Vec<Case> {
    let mut all = zero_and_unused();
    all.extend(functions());
    all.extend(names());
    all.extend(lets());
    all.extend(kinks());
    all.extend(lists());
    all.extend(forward_and_several_results());
    all.extend(nested());
    all
}

fn zero_and_unused() -> Vec<Case> {
    let e = 1.0_f64.exp();
    vec![
        case(5, r"grad (\(x : Real) -> 3.0) 2.0", &[0.0]),
        case(5, r"grad (\(x : Real, y : Real) -> x * x) (3.0, 100.0)", &[6.0, 0.0]),
        case(5, r"grad (\(x : Real) -> x - x) 7.0", &[0.0]),
        case(5, r"grad (\(x : Real) -> x * 0.0) 7.0", &[0.0]),
        case(5, r"grad (\(x : Real) -> x / x) 7.0", &[0.0]),
        case(5, r"grad (\(x : Real) -> sin x ^ 2 + cos x ^ 2) 0.7", &[0.0]),
        case(5, r"grad (\(x : Real) -> x ^ 0) 3.0", &[0.0]),
        case(5, r"grad (\(x : Real) -> x ^ 3) 0.0", &[0.0]),
        case(5, r"grad (\(x : Real) -> let unused = exp (x * x) in x) 2.0", &[1.0]),
        case(5, r"grad (\(x : Real) -> (\(z : Real) -> 5.0) (log x)) 1.5", &[0.0]),
        // The unused argument has an infinite derivative where it stands.
        case(5, r"grad (\(x : Real) -> (\(z : Real) -> x) (sqrt (x - x))) 2.0", &[1.0]),
        case(5, r"value_and_grad (\(x : Real) -> exp x - exp 1.0) 1.0", &[0.0, e]),
        case(5, r"grad (\(x : Real, y : Real, z : Real) -> y) (1.0, 2.0, 3.0)", &[0.0, 1.0, 0.0]),
    ]
}

fn functions() -> Vec<Case> {
    vec![
        // A function that is returned, and keeps its variable.
        case(
            5,
            r"let make = \(a : Real) -> \(b : Real) -> a * b * b in grad (\(x : Real) -> make x (x + 1.0)) 2.0",
            &[21.0],
        ),
        // Currying: partial application at one point, applied at two.
        case(
            5,
            r"let f = \(a : Real) -> \(b : Real) -> a * sin b in grad (\(x : Real) -> let g = f x in g 0.0 + g (2.0 * x)) 0.5",
            &[1.0_f64.sin() + 1.0_f64.cos()],
        ),
        case(
            5,
            r"grad (\(x : Real) -> (\(f : Real -> Real) -> f (f (f x))) (\(y : Real) -> x * y)) 2.0",
            &[32.0],
        ),
        case(
            5,
            r"grad (\(x : Real) -> (\(f : (Real -> Real) -> Real) -> f (\(y : Real) -> x * y)) (\(g : Real -> Real) -> g x + g 3.0)) 2.0",
            &[7.0],
        ),
        // A pair of functions of which one is used.
        case(
            5,
            r"grad (\(x : Real) -> let (f, g) = (\(y : Real) -> x * y, \(y : Real) -> x + y) in f (g 1.0)) 3.0",
            &[7.0],
        ),
        // A function that ignores its argument, a function.
        case(5, r"grad (\(x : Real) -> (\(f : Real -> Real) -> x * x) (\(y : Real) -> log y)) 4.0", &[8.0]),
        // Church numerals: 3 of the function y ↦ y².
        case(
            5,
            r"let three = \(f : Real -> Real) -> \(x : Real) -> f (f (f x)) in grad (three (\(y : Real) -> y * y)) 1.5",
            &[8.0 * 1.5_f64.powi(7)],
        ),
        // Twice twice.
        case(
            5,
            r"let twice = \(f : Real -> Real) -> \(x : Real) -> f (f x) in let again = \(t : (Real -> Real) -> Real -> Real) -> \(f : Real -> Real) -> t (t f) in grad (again twice (\(y : Real) -> 2.0 * y)) 1.0",
            &[16.0],
        ),
        // Composition in both orders.
        case(
            5,
            r"let compose = \(f : Real -> Real) -> \(g : Real -> Real) -> \(x : Real) -> f (g x) in grad (\(x : Real) -> compose sin exp x - compose exp sin x) 0.0",
            &[1.0_f64.cos() - 1.0],
        ),
        // A function of the point is differentiated where it is made and where it is called.
        case(
            5,
            r"grad (\(x : Real, y : Real) -> let f = \(a : Real) -> a ^ 2 * y in f x + f y) (1.0, 2.0)",
            &[4.0, 13.0],
        ),
        // A functional of a primitive.
        case(5, r"grad (\(x : Real) -> (\(op : Real -> Real) -> op x * op 1.0) tanh) 0.0", &[1.0_f64.tanh()]),
    ]
}

fn names() -> Vec<Case> {
    vec![
        case(5, r"grad (\(x : Real) -> let x = x * x in let x = x * x in x) 2.0", &[32.0]),
        case(5, r"grad (\(x : Real) -> (\(x : Real) -> x * 3.0) (x * x)) 2.0", &[12.0]),
        case(5, r"let x = 10.0 in grad (\(y : Real) -> x * y + (\(x : Real) -> x * y) 2.0) 1.0", &[12.0]),
        case(5, r"grad (\(x : Real, y : Real) -> let (x, y) = (y, x) in x * x * y) (2.0, 3.0)", &[9.0, 12.0]),
        // `y` of the inner function is not the `y` that it is applied to.
        case(5, r"grad (\(y : Real) -> (\(x : Real) -> \(y : Real) -> x - y) y (y * y)) 3.0", &[-5.0]),
        case(
            5,
            r"let f = \(x : Real) -> \(f : Real -> Real) -> f x in grad (\(x : Real) -> f x (\(f : Real) -> f * x)) 3.0",
            &[6.0],
        ),
    ]
}

fn lets() -> Vec<Case> {
    let chain: String = (1..=40).map(|i| format!("let x{i} = sin x{} + x{} in ", i - 1, i - 1)).collect();
    let (mut value, mut slope) = (0.1_f64, 1.0);
    for _ in 0..40 {
        slope *= value.cos() + 1.0;
        value += value.sin();
    }
    let doubling: String = (1..=12).map(|i| format!("let x{i} = x{} + x{} in ", i - 1, i - 1)).collect();
    vec![
        // Too many terms for the differential λ-calculus.
        case(4, &format!(r"grad (\(x0 : Real) -> {chain}x40) 0.1"), &[slope]),
        case(5, &format!(r"value_and_grad (\(x0 : Real) -> {doubling}x12) 1.5"), &[1.5 * 4096.0, 4096.0]),
        // A let in the argument of a let in a function of a let.
        case(
            5,
            r"grad (\(x : Real) -> let a = (let b = (let c = x * x in c + x) in b * b) in let d = a in d - x) 1.0",
            &[11.0],
        ),
        // A let-bound function, used at two points and under another let.
        case(
            5,
            r"grad (\(x : Real) -> let f = \(y : Real) -> y * y * x in let a = f 1.0 in let b = f a in b) 2.0",
            &[12.0],
        ),
        case(
            5,
            r"grad (\((a : Real, b : Real), c : Real) -> let s = (a * b, (b, c)) in let (p, (q, r)) = s in p * q + r * r) ((2.0, 3.0), 4.0)",
            &[9.0, 12.0, 8.0],
        ),
    ]
}

fn kinks() -> Vec<Case> {
    vec![
        // The conventions of the one table of derivative rules, the same in all calculi.
        case(5, r"grad (\(x : Real) -> abs x) 0.0", &[0.0]),
        case(5, r"grad (\(x : Real) -> abs (abs x - 2.0)) (-1.0)", &[1.0]),
        case(5, r"grad (\(x : Real, y : Real) -> max x y) (2.0, 2.0)", &[1.0, 0.0]),
        case(5, r"grad (\(x : Real, y : Real) -> min (x * x) y) (2.0, 5.0)", &[4.0, 0.0]),
        case(5, r"grad (\(x : Real) -> max x (-x)) 0.0", &[1.0]),
        case(5, r"grad (\(x : Real, y : Real) -> hypot x y) (0.0, 0.0)", &[0.0, 0.0]),
        case(2, r"grad (\(x : Real) -> if x > 1.0 then x * x else x) 1.0", &[1.0]),
        case(2, r"grad (\(x : Real) -> if x >= 1.0 then x * x else x) 1.0", &[2.0]),
        case(2, r"grad (\(x : Real) -> (if x > 0.0 then sin else cos) x) 0.0", &[0.0]),
    ]
}

fn lists() -> Vec<Case> {
    vec![
        case(
            3,
            r"grad (\(x : Real) -> fold (\(h : Real) (a : Real) -> h * x + a) 0.0 [1.0, 2.0, 3.0]) 2.0",
            &[6.0],
        ),
        // The order of the fold matters: (x² - 2x)² - x².
        case(
            3,
            r"grad (\(x : Real) -> fold (\(h : Real) (a : Real) -> h * h - a) 0.0 [x, 2.0 * x, x * x]) 1.0",
            &[-2.0],
        ),
        case(3, r"grad (\(x : Real) -> fold (\(h : Real) (a : Real) -> a) x [1.0, x * x * x]) 2.0", &[12.0]),
        // A fold that makes a function.
        case(
            3,
            r"grad (\(x : Real) -> (fold (\(k : Real -> Real) (a : Real) -> \(y : Real) -> k (a * y)) (\(y : Real) -> y * x) [2.0, 3.0]) x) 1.5",
            &[18.0],
        ),
        // A fold whose state is a pair: Fibonacci's numbers in x.
        case(
            3,
            r"grad (\(x : Real) -> let (a, b) = fold (\(a : Real, b : Real) (c : Real) -> (b, a + b * c)) (0.0, 1.0) [x, x, x, x] in b) 1.0",
            &[10.0],
        ),
        case(3, r"grad (\(x : Real) -> fold (\(h : Real) (a : Real) -> h) 3.0 [x]) 1.0", &[0.0]),
        case(2, r"grad (\(x : Real) -> sum (map (\(a : Real) -> a * x * x) [1.0, 2.0, x])) 2.0", &[24.0]),
    ]
}

fn forward_and_several_results() -> Vec<Case> {
    vec![
        case(
            2,
            r"jvp (\(x : Real, y : Real) -> (x * y, x)) ((2.0, 3.0), (1.0, 10.0))",
            &[6.0, 2.0, 23.0, 1.0],
        ),
        case(2, r"jvp (\(x : Real) -> (x, (x * x, 7.0))) (3.0, 2.0)", &[3.0, 9.0, 7.0, 2.0, 12.0, 0.0]),
        case(4, r"derivative (\(x : Real) -> x ^ -2) 2.0", &[-0.25]),
        case(2, r"derivative (\(x : Real) -> (sin x, x * x)) 0.0", &[1.0, 0.0]),
        case(
            1,
            r"let (y, back) = vjp (\(x : Real, y : Real) -> (x * y, x + y)) (2.0, 3.0) in (y, back (1.0, 10.0))",
            &[6.0, 5.0, 13.0, 12.0],
        ),
    ]
}

fn nested() -> Vec<Case> {
    vec![
        // Perturbation confusion: the inner derivative is 0, or 1, but not what the outer one makes of it.
        case(1, r"derivative (\(x : Real) -> x * derivative (\(y : Real) -> x) 2.0) 1.0", &[0.0]),
        case(1, r"derivative (\(x : Real) -> x * derivative (\(y : Real) -> x + y) 1.0) 1.0", &[1.0]),
        case(1, r"derivative (\(x : Real) -> x * derivative (\(y : Real) -> x * y) 2.0) 3.0", &[6.0]),
        case(2, r"derivative (derivative (derivative (\(x : Real) -> x ^ 4))) 2.0", &[48.0]),
        case(1, r"grad (\(x : Real) -> derivative (\(y : Real) -> x * y * y) 3.0) 5.0", &[6.0]),
        case(1, r"grad (\(x : Real) -> grad (\(y : Real) -> x * x * y) 3.0) 5.0", &[10.0]),
        // A derivative that is passed as a function, and applied to itself.
        case(
            1,
            r"let d = \(f : Real -> Real) -> \(x : Real) -> derivative f x in d (d (\(x : Real) -> x * x * x)) 2.0",
            &[12.0],
        ),
        case(
            1,
            r"let d = derivative (\(x : Real) -> \(g : Real -> Real) -> \(a : Real) -> g (a + x)) 0.0 in d (d exp) 0.0",
            &[1.0],
        ),
    ]
}
