//! Every construct of the language, as text and as tree.

use crate::picture::{self, FILE};
use expect_test::{Expect, expect};
use wengert_syntax::{parse, parse_expr};

fn check(text: &str, expected: Expect) {
    let parsed = parse_expr(FILE, text);
    let problems = picture::diagnostics(text, &parsed.diagnostics);
    expected.assert_eq(&format!("{problems}{}", picture::expr(&parsed.expr)));
}

fn check_module(text: &str, expected: Expect) {
    let parsed = parse(FILE, text);
    let problems = picture::diagnostics(text, &parsed.diagnostics);
    expected.assert_eq(&format!("{problems}{}", picture::module(&parsed.module)));
}

#[test]
fn the_contract() {
    check_module(
        "-- a comment runs to the end of the line
def sigmoid (x : Real) : Real = 1 / (1 + exp (-x))

def f (x, y) =                           -- types may be left out: inference is Hindley–Milner
  let a = x + 1
  let b = 2 * x + y ^ 2                  -- `in` may be left out before the next `let`
  in (a * b) ^ 2

def main = grad f (1, 3)                 -- (660.0, 528.0)

type Shape = Circle Real | Rect Real Real
type List a = Nil | Cons a (List a)      -- recursive, parameterised

def area s = match s with | Circle r -> 3.14 * r ^ 2 | Rect w h -> w * h

def sum_list xs = match xs with | Nil -> 0.0 | Cons x rest -> x + sum_list rest
",
        expect![[r#"
            def sigmoid (: x Real) : Real = (/ 1 (paren (+ 1 (@ exp (paren (neg x))))))
            def f (tuple x y) = (let [a = (+ x 1)] (let [b = (+ (* 2 x) (^ y 2))] (^ (paren (* a b)) 2)))
            def main = (@ grad f (tuple 1 3))
            type Shape  = Circle Real | Rect Real Real
            type List a = Nil | Cons a (paren (List a))
            def area s = (match s [(Circle r) -> (* 3.14 (^ r 2))] [(Rect w h) -> (* w h)])
            def sum_list xs = (match xs [Nil -> 0.0] [(Cons x rest) -> (+ x (@ sum_list rest))])
        "#]],
    );
}

#[test]
fn operators() {
    check("-x^2", expect!["(neg (^ x 2))"]);
    check("2 ^ -x ^ 2", expect!["(^ 2 (neg (^ x 2)))"]);
    check("a - b - c", expect!["(- (- a b) c)"]);
    check("-9223372036854775808", expect!["(neg 9223372036854775808)"]);
    check("a ∧ ¬ b || c ≤ d × e", expect!["(|| (&& a (@ ¬ b)) (<= c (* d e)))"]);
    check("f >> g >> \\x -> x |> h", expect!["(>> (>> f g) (fn x -> (|> x h)))"]);
    check("xs |> map f |> sum", expect!["(|> (|> xs (@ map f)) sum)"]);
    check("\"a\" ++ b ++ c", expect![[r#"(++ "a" (++ b c))"#]]);
    check("-a * b % -c ** 2.0", expect!["(% (* (neg a) b) (neg (** c 2.0)))"]);
    check("a + if b then c else d + e", expect!["(+ a (if b c (+ d e)))"]);
    check("f -x", expect!["(- f x)"]);
    check("(+) (-) (**) (×)", expect!["(@ (op +) (op -) (op **) (op *))"]);
}

#[test]
fn atoms_and_selections() {
    check("xs[i, j].y[0] [x]", expect!["(@ (index (. (index xs i j) y) 0) (array x))"]);
    check("f [x] xs[i] (e : t)", expect!["(@ f (array x) (index xs i) (: e t))"]);
    check("f (-x) m.Cons m.cons Nil ()", expect!["(@ f (paren (neg x)) m.Cons (. m cons) Nil (tuple))"]);
    check("{r with x = 3.0, y = {z = 1}}", expect!["(update r x=3.0 y=(record z=1))"]);
    check(
        "{f r |> g with x = 3.0} {} {x = 1,}",
        expect!["(@ (update (|> (@ f r) g) x=3.0) (record) (record x=1))"],
    );
    check("\\r -> r.x", expect!["(fn r -> (. r x))"]);
    check("λx (y, _) → ∇ f ∂ Ω", expect!["(fn x (tuple y _) -> (@ ∇ f ∂ Ω))"]);
    check(
        "(a : Real, [1, 2,], 1_000.5e-3, \"\\u{3bb}\\n\")",
        expect![[r#"(tuple (: a Real) (array 1 2) 1.0005 "λ\n")"#]],
    );
}

#[test]
fn bindings_and_choices() {
    check(
        "let rec f x = g x and g (Cons y _) : Real = f y in f",
        expect!["(letrec [f x = (@ g x)] [g (paren (Cons y _)) : Real = (@ f y)] f)"],
    );
    check(
        "let (a, b) : (Int, Int) = p let Wrap w = q in w",
        expect!["(let [(tuple a b) : (tuple Int Int) = p] (let [(Wrap w) = q] w))"],
    );
    check("let a = let b = 1 in b let c = 2 in c", expect!["(let [a = (let [b = 1] b)] (let [c = 2] c))"]);
    check(
        "if a == b then match c with A -> 1 | B -> 2 else if d then e else f",
        expect!["(if (== a b) (match c [A -> 1] [B -> 2]) (if d e f))"],
    );
    check(
        "match a with | -1 -> match b with | _ -> 1 | {x, y = Cons p _ as q} -> 2",
        expect!["(match a [-1 -> (match b [_ -> 1] [(record x y=(as (Cons p _) q)) -> 2])])"],
    );
    check(
        "match a with | m.Cons -1 (x : Real) -> 1 | true -> 2 | \"s\" -> 3",
        expect![[r#"(match a [(m.Cons -1 (: x Real)) -> 1] [true -> 2] ["s" -> 3])"#]],
    );
}

#[test]
fn types() {
    check_module(
        "alias A n = [n][m]Real -> Real
alias B = (a, b) -> {x : Real | r} -> {}
alias C = Dual (a -> b) × [3]List a -> ()
alias D = List [3]Real m.Shape -> []Int
type T a b = | A | B (a -> b) {x : a} [2]b",
        expect![[r#"
            alias A n = (-> ([n] ([m] Real)) Real)
            alias B  = (-> (tuple a b) (-> (record x:Real | r) (record)))
            alias C  = (-> (tuple (Dual (paren (-> a b))) ([3] (List a))) (tuple))
            alias D  = (-> (List ([3] Real) m.Shape) ([] Int))
            type T a b = A | B (paren (-> a b)) (record x:a) ([2] b)
        "#]],
    );
}

#[test]
fn imports() {
    check_module(
        "import linalg\nimport linalg as la\nimport linalg (solve, Det)\nimport \"dir/file.wg\" as f (g)",
        expect![[r#"
            import linalg
            import linalg as la
            import linalg (solve Det)
            import "dir/file.wg" as f (g)
        "#]],
    );
}
