//! Functionals of functions that give data with functions in them, of all kinds, and of maps that data keeps.

use super::{compiled, interpreted};
use wengert_tests::everywhere;

const HOLDING: &str = "\
type Stack a = Nil | Cons a (Stack a)
type Tree a = Leaf | Node (Tree a) a (Tree a)
type Maybe a = Nothing | Just a
type Rows = Done | Row (Real -> Real) (Real -> Real -> Real) Rows
type Term = Var | Lit Real | Apply (Real -> Real) Term | Times Term Term
def total l x = match l with Nil -> 0.0 | Cons f r -> f x + total r x
def chain l x = match l with Nil -> x | Cons f r -> chain r (f x)
def each f l = match l with Nil -> Nil | Cons x r -> Cons (f x) (each f r)
def leaves t x = match t with Leaf -> 0.0 | Node l f r -> leaves l x + f x + leaves r x
def grown n x = if n == 0 then Leaf else Node (grown (n - 1) (sin x)) (\\y -> x * y) (grown (n - 1) (cos x))
def other n x = if n == 0 then Leaf else Node (other (n - 1) (x * x)) (\\y -> x + y) (other (n - 1) (2.0 * x))
def rows l x = match l with Done -> 0.0 | Row f g r -> f x + g x x + rows r x
def value e x = match e with Var -> x | Lit c -> c | Apply f a -> f (value a x) | Times a b -> value a x * value b x
";

/// Derivatives with respect to functions that give data, or arrays of arrays, with functions in them, and what they are.
const OF_HOLDERS: &[(&str, &str)] = &[
    (
        "snd (jvp (\\f -> grad (\\x -> total (f x) x) 0.5) ((\\x -> Cons (\\y -> x * y) (Cons sin Nil)), (\\x -> Cons (\\y -> x + y) (Cons cos Nil))))",
        "grad (\\x -> 2.0 * x + cos x) 0.5",
    ),
    (
        "apply_dual (pullback (\\f -> grad (\\x -> total (f x) x) 0.5) (\\_ -> to_dual 1.0) (\\x -> Cons (\\y -> x * y) (Cons sin Nil))) (\\x -> Cons (\\y -> x + y) (Cons cos Nil))",
        "grad (\\x -> 2.0 * x + cos x) 0.5",
    ),
    (
        "snd (jvp (\\f -> derivative (\\x -> chain (f x) x) 0.5) ((\\x -> Cons (\\y -> x * y) (Cons sin Nil)), (\\x -> Cons (\\y -> x + y) (Cons cos Nil))))",
        "derivative (\\x -> cos (x * x) + cos (x * x) * 2.0 * x) 0.5",
    ),
    (
        "snd (jvp (\\f -> grad (\\x -> total (each (\\g y -> g (g y)) (f x)) x) 0.5) ((\\x -> Cons (\\y -> x * y) (Cons sin Nil)), (\\x -> Cons (\\y -> x + y) (Cons cos Nil))))",
        "grad (\\x -> x + x * x + x * 2.0 * x + cos (sin x) + cos (sin x) * cos x) 0.5",
    ),
    (
        "snd (jvp (\\f -> grad (\\x -> leaves (f 2 x) x) 0.5) (grown, other))",
        "grad (\\x -> leaves (other 2 x) x) 0.5",
    ),
    (
        "snd (jvp (\\f -> grad (\\x -> match f x with Just g -> g x | Nothing -> x) 0.5) ((\\x -> if x > 0.0 then Just (\\y -> x * y) else Nothing), (\\x -> if x > 0.0 then Just (\\y -> x + y) else Nothing)))",
        "2.0",
    ),
    (
        "snd (jvp (\\f -> grad (\\x -> match f x with Just (g, y) -> g (x * y) | Nothing -> 0.0) 0.5) ((\\x -> Just ((\\y -> x * y), x * x)), (\\x -> Just ((\\y -> x + y), sin x))))",
        "grad (\\x -> x + x ^ 3 + x * x * sin x) 0.5",
    ),
    // Functions in data that give functions in data.
    (
        "snd (jvp (\\f -> grad (\\x -> match f x with Just g -> (match g x with Just h -> h x | Nothing -> 0.0) | Nothing -> 1.0) 0.5) ((\\a -> Just (\\b -> Just (\\c -> a * b * c))), (\\a -> Just (\\b -> Just (\\c -> a + b * c)))))",
        "grad (\\x -> x + x * x) 0.5",
    ),
    // Functions of two types, in turn.
    (
        "snd (jvp (\\f -> grad (\\x -> rows (f x) x) 0.5) ((\\x -> Row (\\y -> x * y) (\\a b -> a * b * x) (Row sin (\\a b -> a + b) Done)), (\\x -> Row cos (\\a b -> a * x) (Row (\\y -> x * y) (\\a b -> b * x) Done))))",
        "grad (\\x -> cos x + 3.0 * x * x) 0.5",
    ),
    (
        "snd (jvp (\\f -> grad (\\x -> value (f x) x) 0.4) ((\\a -> Times (Apply (\\y -> a * y) Var) (Lit a)), (\\a -> Times (Apply (\\y -> a + y) Var) (Lit 1.0))))",
        "grad (\\x -> 2.0 * x * x + x * x) 0.4",
    ),
    // Arrays of arrays, and arrays of data.
    (
        "snd (jvp (\\f -> grad (\\x -> (f x)[1][0] x * (f x)[0][1] 2.0) 0.5) ((\\a -> [[sin, \\y -> a * y], [\\y -> y * y, cos]]), (\\a -> [[cos, \\y -> y * a * a], [\\y -> a, sin]])))",
        "grad (\\x -> 2.0 * x * x + 2.0 * x ^ 4) 0.5",
    ),
    (
        "snd (jvp (\\f -> grad (\\x -> sum (map (\\l -> sum (map (\\g -> g x) l)) (f x))) 0.5) ((\\a -> [[sin, \\y -> a * y], [exp, cos]]), (\\a -> [[cos, \\y -> y * a], [sin, sin]])))",
        "grad (\\x -> cos x + x * x + 2.0 * sin x) 0.5",
    ),
    (
        "snd (jvp (\\f -> grad (\\x -> sum (map (\\o -> match o with Just g -> g x | Nothing -> x) (f x))) 0.5) ((\\x -> [Just sin, Nothing, Just (\\y -> x * y)]), (\\x -> [Just (\\y -> x * y), Nothing, Just cos])))",
        "grad (\\x -> x * x + cos x) 0.5",
    ),
];

/// The same where derivatives are taken of that, or inside of it.
const OF_HOLDERS_AGAIN: &[(&str, &str)] = &[
    (
        "grad (\\k -> snd (jvp (\\f -> match f k with Just g -> g k | Nothing -> 0.0) ((\\x -> Just (\\y -> x * y)), (\\x -> Just (\\y -> x + sin y))))) 0.5",
        "grad (\\k -> k + sin k) 0.5",
    ),
    (
        "grad (\\k -> snd (jvp (\\f -> grad (\\x -> total (f (k * x)) x) k) ((\\x -> Cons (\\y -> x * y) (Cons sin Nil)), (\\x -> Cons (\\y -> k * x + y) (Cons cos Nil))))) 0.5",
        "grad (\\k -> k * k + 1.0 - sin k) 0.5",
    ),
    (
        "grad (\\k -> apply_dual (pullback (\\f -> grad (\\x -> total (f x) x) k) (\\_ -> to_dual 1.0) (\\x -> Cons (\\y -> x * y) (Cons sin Nil))) (\\x -> Cons (\\y -> x + y) (Cons cos Nil))) 0.5",
        "grad (grad (\\x -> 2.0 * x + cos x)) 0.5",
    ),
    (
        "snd (jvp (\\f -> (taylor 3 (\\x -> total (f x) x) 0.5)[3]) ((\\x -> Cons (\\y -> x * y) (Cons sin Nil)), (\\x -> Cons (\\y -> x + y * y) (Cons cos Nil))))",
        "sin 0.5",
    ),
    (
        "sum ((snd (jvp (\\f -> hessian (\\v -> total (f v[0]) v[1]) [0.5, 0.6]) ((\\x -> Cons (\\y -> x * y) (Cons sin Nil)), (\\x -> Cons (\\y -> x * x * y) (Cons cos Nil)))))[1])",
        "sum ((hessian (\\v -> v[0] ^ 2 * v[1] + cos v[1]) [0.5, 0.6])[1])",
    ),
];

#[test]
fn functions_that_give_data_with_functions_in_them_are_compiled() {
    let (mut session, scope) = everywhere::session_with(HOLDING);
    for (programs, modes) in [(OF_HOLDERS, &[false, true][..]), (OF_HOLDERS_AGAIN, &[false])] {
        for (program, expected) in programs {
            let found = compiled(&mut session, &scope, program, modes);
            let expected = interpreted(&mut session, &scope, expected);
            let close = (found - expected).abs() <= 1e-12 * (1.0 + expected.abs());
            assert!(close, "{program}\ngives {found}, not {expected}");
        }
    }
}

/// Data in which functions give such data again, of several forms.
const ENDLESS: &str = "\
type Stream = Next Real (Real -> Stream)
def from x = Next x (\\d -> from (x + d))
def geo x = Next (x * x) (\\d -> geo (x * d))
def taken n s d = if n == 0 then 0.0 else match s with Next x f -> x * x + taken (n - 1) (f d) d

type Object = Object (Real -> Object) (Real -> Real) | End
def made k = Object (\\x -> Object (\\y -> End) (\\y -> k * x * y)) (\\x -> k * x)
def used o x = match o with End -> x | Object f g -> (match f (g x) with End -> x | Object h i -> i x)

type Machine = Machine Real (Real -> State) (Real -> Real)
type State = Halt | On Machine
def rising x = Machine x (\\y -> if y > 0.0 then On (rising (x * y)) else Halt) (\\z -> x * sin z)
def turning x = Machine (sin x) (\\y -> if y > 0.0 then On (turning (x + y)) else Halt) (\\z -> cos (x * z))
def run n m d = if n == 0 then 0.0 else match m with Machine x f g -> (match f (g d) with Halt -> x | On next -> g x + run (n - 1) next d)

type Rose = Rose Real (Real -> []Rose)
def rose n x = Rose x (\\y -> if n == 0 then [] else [rose (n - 1) (x * y), rose (n - 1) (x + y)])
def other n x = Rose (x * x) (\\y -> if n == 0 then [] else [other (n - 1) (x - y), other (n - 1) (sin (x * y))])
def leaves r y = match r with Rose x f -> x + sum (map (\\s -> leaves s y) (f y))

type Twice = Twice Real (Real -> Real -> Twice)
def twice x = Twice x (\\a b -> twice (x * a + b))
def thrice x = Twice (sin x) (\\a b -> thrice (x + a * b))
def along n s d = if n == 0 then 0.0 else match s with Twice x f -> x * x + along (n - 1) (let g = f d in g x) d

type First = First Real (Real -> Second)
type Second = Second Real ((Real -> Real) -> First)
def first x = First x (\\y -> second (x * y))
def second x = Second x (\\g -> first (g x))
def third x = First (x * x) (\\y -> fourth (x + y))
def fourth x = Second (sin x) (\\g -> third (g (x * x)))
def inturn n a d = if n == 0 then 0.0 else match a with First x f -> (match f d with Second y h -> x * y + inturn (n - 1) (h (\\z -> sin (z * d))) d)
";

/// Derivatives with respect to it, and to functions that give it.
const OF_ENDLESS: &[&str] = &[
    "snd (jvp (\\f -> grad (\\x -> taken 3 (f x) x) k) (from, geo))",
    "grad (\\k -> snd (jvp (\\f -> taken 3 (f k) k) (from, geo))) k",
    "grad (\\k -> snd (jvp (\\s -> taken 3 s k) (from 0.5, from k))) k",
    "sum (snd (jvp (\\f -> grad (\\v -> taken 3 (f v[0]) v[1]) [k, 0.3]) (from, geo)))",
    "snd (jvp (\\f -> (taylor 3 (\\x -> taken 3 (f x) x) k)[3]) (from, geo))",
    "snd (jvp (\\f -> (taylor 2 (\\x -> match f x with Next y g -> y) k)[2]) (from, geo))",
    "snd (jvp (\\f -> derivative (\\x -> match f x with Next y g -> y) k) (from, geo))",
    "derivative (\\k -> snd (jvp (\\o -> used o k) (made 0.5, made 0.3))) k",
    "grad (\\k -> snd (jvp (\\o -> used o k) (made k, made (sin k)))) k",
    "grad (grad (\\k -> snd (jvp (\\o -> used o k) (made k, made (sin k))))) k",
    "snd (jvp (\\o -> grad (used o) k) (made 0.5, made 0.3))",
    "grad (\\k -> apply_dual (pullback (\\o -> grad (used o) k) (\\_ -> to_dual 1.0) (made k)) (made 0.3)) k",
    "snd (jvp (\\f -> grad (\\x -> run 3 (f x) x) k) (rising, turning))",
    "derivative (\\k -> snd (jvp (\\m -> run 3 m k) (rising k, rising (k * k)))) k",
    "snd (jvp (\\f -> grad (\\x -> leaves (f 2 x) x) k) (rose, other))",
    "grad (\\k -> snd (jvp (\\m -> leaves m k) (rose 2 k, rose 2 (k * k)))) k",
    "snd (jvp (\\f -> grad (\\x -> along 3 (f x) x) k) (twice, thrice))",
    "grad (\\k -> snd (jvp (\\m -> along 3 m k) (twice k, twice (k * k)))) k",
    "snd (jvp (\\f -> grad (\\x -> inturn 2 (f x) x) k) (first, third))",
    "grad (\\k -> snd (jvp (\\m -> inturn 2 m k) (first k, first (k * k)))) k",
    // Reverse mode through reverse mode: on a tape, strict or not.
    "snd (jvp (\\f -> grad (grad (\\x -> taken 3 (f x) x)) k) (from, geo))",
    "snd (jvp (\\f -> grad (grad (grad (\\x -> taken 3 (f x) x))) k) (from, geo))",
    "snd (jvp (\\f -> grad (grad (\\x -> run 3 (f x) x)) k) (rising, turning))",
    "snd (jvp (\\f -> grad (grad (\\x -> leaves (f 2 x) x)) k) (rose, other))",
    "snd (jvp (\\f -> grad (grad (\\x -> along 3 (f x) x)) k) (twice, thrice))",
    "snd (jvp (\\f -> grad (grad (\\x -> inturn 2 (f x) x)) k) (first, third))",
    "snd (jvp (\\o -> grad (grad (used o)) k) (made 0.5, made 0.3))",
    "grad (\\k -> snd (jvp (\\f -> grad (\\x -> taken 3 (f x) x) k) (from, geo))) k",
    "apply_dual (pullback (\\f -> grad (grad (\\x -> taken 3 (f x) x)) k) (\\_ -> to_dual 1.0) from) geo",
    // Tangents that come out of derivatives, inside of what is differentiated.
    "let (s, d) = jvp from (0.3, 1.0) in grad (\\k -> snd (jvp (\\s -> k * taken 3 s k) (s, d))) k",
    "grad (\\x -> let (s, d) = jvp from (x, 1.0) in snd (jvp (\\s -> taken 3 s x) (s, d))) k",
    "derivative (\\x -> let (s, d) = jvp from (x, 1.0) in snd (jvp (\\s -> taken 3 s x) (s, d))) k",
];

/// What such functions give, and tangents of data that they are in, is applied again and again; that is compiled, and derivatives of it.
#[test]
fn functions_that_give_data_of_such_functions_are_compiled() {
    let (mut session, scope) = everywhere::session_with(ENDLESS);
    for program in OF_ENDLESS {
        compiled(&mut session, &scope, &format!("(\\k -> {program}) 0.7"), &[false, true]);
    }
    // By hand: the numbers are x and 2 x, and vary by x² and x⁴.
    let found = compiled(
        &mut session,
        &scope,
        "snd (jvp (\\f -> grad (\\x -> taken 2 (f x) x) 0.7) (from, geo))",
        &[false, true],
    );
    let expected =
        interpreted(&mut session, &scope, "grad (\\x -> 2.0 * x * x ^ 2 + 2.0 * (2.0 * x) * x ^ 4) 0.7");
    assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
}

/// What is given as a tangent of a function comes out of another derivative: what varies of what a function gives.
const OF_TANGENTS: &[&str] = &[
    "let h = snd (jvp (\\x -> \\y -> x * sin y) (k, 1.0)) in snd (jvp (\\g -> g (g 0.3)) (sin, h))",
    "let h = snd (jvp (\\x -> \\y -> x * sin y) (k, 1.0)) in snd (jvp (\\g -> grad g 0.3) (sin, h))",
    "let h = snd (jvp (\\f -> \\x -> f (f x)) (sin, cos)) in snd (jvp (\\g -> grad (grad g) k) (sin, h))",
    "let h = derivative (\\x -> \\y -> \\z -> x * x * sin (y * z)) k in snd (jvp (\\g -> grad (\\a -> g a a) 0.4) ((\\a b -> a * b), h))",
    "grad (\\k -> let h = derivative (\\x -> \\y -> \\z -> x * x * sin (y * z)) k in snd (jvp (\\g -> grad (\\a -> g a a) k) ((\\a b -> a * b), h))) k",
    "let (f, h) = jvp (\\x -> \\y z -> x * sin (y * z)) (k, 1.0) in snd (jvp (\\g -> grad (grad (\\a -> g a a)) k) (f, h))",
    "let (f, h) = jvp (\\x -> \\y -> [\\z -> x * y * z, \\z -> x + z]) (k, 1.0) in snd (jvp (\\g -> grad (\\a -> (g a)[0] 0.4 * (g a)[1] a) 0.3) (f, h))",
    "let (p, dp) = jvp (\\x -> snd (vjp (\\z -> z * x * sin z) x)) (k, 1.0) in snd (jvp (\\q -> grad (\\a -> q a * q 2.0) 0.3) (p, dp))",
    // Pullbacks of pullbacks, at points without functions.
    "apply_dual (pullback (\\x -> \\y -> x * y * y) (pullback (\\h -> h (h 3.0)) (\\_ -> to_dual 1.0)) k) 1.0",
    "grad (\\k -> from_dual (pullback (\\x -> \\y -> x * y * y * k) (pullback (\\h -> grad h (h k)) (\\_ -> to_dual 1.0)) k)) k",
    // The same inside of what is differentiated.
    "derivative (\\k -> let h = derivative (\\x -> \\y -> x * sin y) k in snd (jvp (\\g -> g (g k)) (cos, h))) k",
    "derivative (\\k -> let (f, h) = jvp (\\x -> \\y -> x * sin y) (k, 1.0) in snd (jvp (\\g -> g (g k)) (f, h))) k",
    "grad (\\k -> let (f, h) = jvp (\\x -> \\y -> x * sin y) (k, 1.0) in snd (jvp (\\g -> g (g k)) (f, h))) k",
    "grad (\\k -> let (p, dp) = jvp (\\x -> snd (vjp (\\z -> z * x * sin z) x)) (k, 1.0) in snd (jvp (\\q -> q k * q 2.0) (p, dp))) k",
    "(taylor 4 (\\k -> let (f, h) = jvp (\\x -> \\y -> x * sin (y * k)) (k, 1.0) in snd (jvp (\\g -> g (g k)) (f, h))) k)[3]",
    "let h = derivative (\\x -> \\y -> x * y) k in apply_dual (pullback (\\g -> apply_dual (pullback (\\h -> h (g 0.3)) (\\_ -> to_dual 1.0) g) h) (\\_ -> to_dual 1.0) sin) h",
    "let rec h n = if n == 0 then cos else snd (jvp (\\f -> \\x -> f (f x)) (sin, h (n - 1))) in snd (jvp (\\g -> grad g k) (sin, h 5))",
];

#[test]
fn tangents_of_functions_that_come_out_of_derivatives_are_compiled() {
    let (mut session, scope) = everywhere::session_with("def nothing = 0\n");
    for program in OF_TANGENTS {
        compiled(&mut session, &scope, &format!("(\\k -> {program}) 0.7"), &[false, true]);
    }
    // The tangent of `x sin y` by `x` is `sin y`.
    let found = compiled(&mut session, &scope, &format!("(\\k -> {}) 0.7", OF_TANGENTS[1]), &[false, true]);
    assert!((found - 0.3_f64.cos()).abs() < 1e-12, "{found}");
}

const MAPS: &str = "\
type List a = Nil | Cons a (List a)
def total l = match l with Nil -> 0.0 | Cons x r -> x + total r
def each f l = match l with Nil -> Nil | Cons x r -> Cons (f x) (each f r)
";

/// Pullbacks and tangent maps of functions in data, kept in data of the same type: what a map keeps holds function values that may be such
/// maps.
const OF_MAPS: &[&str] = &[
    "total (each (\\p -> p 1.0) (each (\\f -> snd (vjp f k)) (Cons sin (Cons cos Nil))))",
    "grad (\\x -> total (each (\\p -> p x) (each (\\f -> snd (vjp f x)) (Cons sin (Cons (\\y -> x * y * y) Nil))))) k",
    "derivative (\\x -> total (each (\\p -> p x) (each (\\f -> snd (linearize f x)) (Cons sin (Cons cos Nil))))) k",
    "grad (\\x -> total (each (\\p -> grad p x) (each (\\f -> snd (linearize f x)) (Cons sin (Cons cos Nil))))) k",
    "grad (\\x -> grad (\\z -> total (each (\\p -> p x) (each (\\f -> snd (vjp f z)) (Cons sin (Cons cos Nil))))) x) k",
    "snd (jvp (\\f -> grad (\\x -> total (each (\\p -> p x) (each (\\f -> snd (vjp f x)) (Cons f (Cons cos Nil))))) k) (sin, exp))",
];

#[test]
fn pullbacks_in_data_that_functions_come_from_are_compiled() {
    let (mut session, scope) = everywhere::session_with(MAPS);
    for program in OF_MAPS {
        compiled(&mut session, &scope, &format!("(\\k -> {program}) 0.7"), &[false, true]);
    }
    let found = compiled(&mut session, &scope, &format!("(\\k -> {}) 0.7", OF_MAPS[0]), &[false, true]);
    assert!((found - (0.7_f64.cos() - 0.7_f64.sin())).abs() < 1e-12, "{found}");
}
