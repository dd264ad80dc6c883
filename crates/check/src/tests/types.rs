//! Types that are inferred.

use super::types_of;
use expect_test::{Expect, expect};

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&types_of(text));
}

#[test]
fn the_contracts_examples() {
    check(
        "def logistic (x : Real) : Real = 1 / (1 + exp (-x))

def f (x, y) =
  let a = x + 1
  let b = 2 * x + y ^ 2
  in (a * b) ^ 2

def main = grad f (1, 3)

type Shape = Circle Real | Rect Real Real
type List a = Nil | Cons a (List a)

def area s = match s with | Circle r -> 3.14 * r ^ 2 | Rect w h -> w * h

def sum_list xs = match xs with | Nil -> 0.0 | Cons x rest -> x + sum_list rest

def g = derivative (\\x -> x ^ 2) 3
def nested = grad (\\x -> x * grad (\\y -> x) 2.0) 1.0
def of_functions = jvp (\\g -> g (g 1.0)) (sin, cos)
def kinked = derivative (\\x -> min 1 (1 / x)) 0.0
",
        expect![[r#"
            logistic : Real -> Real
            f : Num a => (a, a) -> a
            main : (Real, Real)
            area : Shape -> Real
            sum_list : List Real -> Real
            g : Real
            nested : Real
            of_functions : (Real, Real)
            kinked : Real
        "#]],
    );
}

#[test]
fn polymorphism_is_general_over_types_numbers_rows_and_sizes() {
    check(
        "def id x = x
def twice f x = f (f x)
def square x = x * x
def field = \\r -> r.x
def norm r = sqrt (r.x ^ 2 + r.y ^ 2)
def move r = {r with x = r.x + 1}
def apply = (|>)
def compose = (>>)
def both = (&&)
def dot3 (xs : [3]Real) ys = dot xs ys
def firsts xs = map (\\(a, _) -> a) xs
def count xs = fold (\\n _ -> n + 1) 0 xs
def equal x y = x == y
def less x y = x < y && y != x
def local =
  let pair x = (x, x)
  let two = 2
  in (pair two, pair \"a\", two * 1.5, [1, 2][two])
def {x, y} = 1
",
        expect![[r#"
            E0137 expected the name of a definition, found `{`
              at 19:5 `{` 
            id : a -> a
            twice : (a -> a) -> a -> a
            square : Num a => a -> a
            field : {x : a | r} -> a
            norm : {x : Real, y : Real | r} -> Real
            move : Num a => {x : a | r} -> {x : a | r}
            apply : a -> (a -> b) -> b
            compose : (a -> b) -> (b -> c) -> a -> c
            both : Bool -> Bool -> Bool
            dot3 : [3]Real -> [3]Real -> Real
            firsts : [n](a, b) -> [n]a
            count : Num b => [n]a -> b
            equal : Data a => a -> a -> Bool
            less : Ord a => a -> a -> Bool
            local : (Num a, Num b) => ((a, a), (String, String), Real, b)
        "#]],
    );
}

#[test]
fn local_numbers_are_specialized_when_their_uses_agree() {
    check(
        "def f x = let a = 2 in let b = a * a in let c = b * b in c * x + 1.5
def g = let rec go n acc = if n == 0 then acc else go (n - 1) (acc * 2) in (go 3 1, go 2 1.0)
",
        expect![[r#"
            f : Real -> Real
            g : Num a => (a, Real)
        "#]],
    );
}

#[test]
fn recursion_in_any_order() {
    check(
        "def even n = if n == 0 then true else odd (n - 1)
def main = even 10
def odd n = if n == 0 then false else even (n - 1)
def ping (x : a) n : a = if n == 0 then x else pong x (n - 1)
def pong (y : b) n : b = if n == 0 then y else ping y (n - 1)
def first = second + 1
def second = 2
",
        expect![[r#"
            even : Num a => a -> Bool
            main : Bool
            odd : Num a => a -> Bool
            ping : Num b => a -> b -> a
            pong : Num b => a -> b -> a
            first : Num a => a
            second : Num a => a
        "#]],
    );
}

#[test]
fn predicates_reach_through_data() {
    check(
        "type Tree a = Leaf a | Node (Tree a) (Tree a)
type Rose a = Rose a ([]Rose a)
def g f t = grad f (Leaf t)
def h f (a, b) = jvp f ((a, b), (a, b))
def v f x = vjp f x
def eq (t : Tree a) u = t == u
def p = pullback (\\g -> g 1.0)
def s = show (Rose 1.0 [])
def z xs = add xs (scale 2 xs)
",
        expect![[r#"
            g : (Data a, Smooth a) => (Tree a -> Real) -> a -> Tree a
            h : Smooth a => ((a, b) -> c) -> (a, b) -> (c, c)
            v : (Data a, Smooth a, Data b) => (a -> b) -> a -> (b, b -> a)
            eq : Data a => Tree a -> Tree a -> Bool
            p : Smooth a => (a -> Dual a) -> (Real -> a) -> Dual (Real -> a)
            s : String
            z : Tangent a => a -> a
        "#]],
    );
}

#[test]
fn sizes_are_gradual() {
    check(
        "def axpy (a : Real) (xs : [n]Real) (ys : [n]Real) : [n]Real = map2 (\\x y -> a * x + y) xs ys
def outer xs ys = map (\\x -> map (\\y -> x * y) ys) xs
def three = [1.0, 2.0, 3.0]
def grid = build 2 (\\i -> build 3 (\\j -> i + j))
def same xs = build (length xs) (\\i -> xs[i])
def unknown k = build k (\\i -> i)
def ones (n : Int) : [n]Real = build n (\\_ -> 1.0)
def positive xs = filter (\\x -> x > 0) xs
def choice c x = if c then [] else [x]
def collect xs = fold (\\acc x -> concat acc [x]) [] xs
def halve xs = if length xs <= 1 then xs else halve (slice xs 0 (length xs / 2))
def known = (positive [1, 2] : [2]Int)
def m (a : [n][m]Real) (x : [m]Real) : [n]Real = matvec a x
",
        expect![[r#"
            axpy : Real -> [n]Real -> [n]Real -> [n]Real
            outer : Num a => [n]a -> [o]a -> [n][o]a
            three : [3]Real
            grid : [2][3]Int
            same : [n]a -> [n]a
            unknown : Int -> []Int
            ones : Int -> []Real
            positive : Num a => [n]a -> []a
            choice : Bool -> a -> []a
            collect : [n]a -> []a
            halve : []a -> []a
            known : [2]Int
            m : [n][m]Real -> [m]Real -> [n]Real
        "#]],
    );
}

#[test]
fn annotations_with_variables() {
    check(
        "alias Point = {x : Real, y : Real}
alias Pair a = (a, a)
type Option a = None | Some a
def origin : Point = {x = 0, y = 0}
def swap ((a, b) : Pair t) : Pair t = (b, a)
def get (d : a) (o : Option a) : a = match o with | None -> d | Some v -> v
def num (x : a) : a = x + 1
def open (r : {x : a | rest}) = r.x
def shadow sin = sin 1
def unicode = (∇ (λ(x, y) → x × y) (2.0, π), ∂ (\\x -> x) 1)
",
        expect![[r#"
            origin : {x : Real, y : Real}
            swap : (t, t) -> (t, t)
            get : a -> Option a -> a
            num : Num a => a -> a
            open : {x : a | rest} -> a
            shadow : Num a => (a -> b) -> b
            unicode : ((Real, Real), Real)
        "#]],
    );
}
