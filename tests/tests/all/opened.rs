//! Data in and beside loops: looked at again and again, alone, in arrays, by index, as a whole.

use wengert_tests::{everywhere, parallel};

const DEFINITIONS: &str = "\
type Shape = Round (Real, Real) Real | Wall (Real, Real) Real | Nowhere
def distance (x, y) shape =
  match shape with
  | Round (u, v) r -> (x - u) ^ 2 + (y - v) ^ 2 - r * r
  | Wall (a, b) c -> let d = a * x + b * y - c in d * d
  | Nowhere -> 9.0
def shape i =
  if i % 4 == 3 then Nowhere
  else if i % 2 == 0 then Round (0.3 * real i - 1.0, 0.5) (0.1 + 0.2 * real i)
  else Wall (1.0, 0.2 * real i) 0.7
def shapes n = build n shape
def points n = build n (\\i -> (0.4 * real i - 0.7, 0.1 * real (i * i)))
def nearest (ss, ps) = sum (map (\\p -> minimum (map (distance p) ss)) ps)
def all (ss, ps) = sum (map (\\p -> sum (map (\\s -> exp (-(distance p s))) ss)) ps)
def turned (ss, ps) = sum (map (\\s -> sum (map (\\p -> sin (distance p s)) ps)) ss)
def one (s, ps) = sum (map (\\p -> cos (distance p s)) ps)
def by_index (ss, ps, ks) = sum (map (\\k -> k * 0.1 * distance (k, 0.3) ss[truncate k]) ks) + all (ss, ps)
def walk (s, start) = fst (while_loop (\\(x, n) -> n < 5) (\\(x, n) -> (x - 0.1 * distance (x, 0.2) s, n + 1)) (start, 0))
def moved s = match s with | Round (u, v) r -> Round (v, u) (2.0 * r) | Wall n c -> Wall n (c * c) | Nowhere -> Round (0.1, 0.1) 0.3
def both (ss, ps) = all (ss, ps) + nearest (map moved ss, ps)
def changed (ss, ps) = sum (map (\\p -> sum (map (\\s -> distance p (moved s)) ss)) ps)
def last (ss, ps) = sum (map (\\p -> distance p (fold (\\a s -> if distance p s < distance p a then s else a) ss[0] ss)) ps)
type Op = Scale Real | Shift Real | Bend | Clip Int Real
def apply x op =
  match op with
  | Scale a -> a * x
  | Shift a -> x + a
  | Bend -> sin x
  | Clip k a -> if k == 0 then min x a else max x a
def ops n = build n (\\i -> if i % 4 == 0 then Scale (0.5 + 0.2 * real i) else if i % 4 == 1 then Shift 0.3 else if i % 4 == 2 then Bend else Clip (i % 3) 0.4)
def run (os, xs) = sum (map (\\x -> fold apply x os) xs)
type Only = Only Real Int
def single (o, xs) = sum (map (\\x -> match o with | Only a k -> x * a * real k) xs)
def nested (ss, ps) = sum (map (\\p -> sum (grad (\\(a, b) -> all (ss, [(a, b)])) p |> \\(a, b) -> [a, b])) ps)
def ticks n = build n (\\i -> 0.7 * real i - 0.5)
";

fn programs() -> Vec<String> {
    let mut all = Vec::new();
    for n in [0, 1, 2, 7] {
        for m in [1, 2, 5] {
            for f in ["nearest", "all", "turned", "both", "changed", "last"] {
                all.push(format!("grad {f} (shapes {m}, points {n})"));
            }
            all.push(format!("grad run (ops {m}, ticks {n})"));
            all.push(format!(
                "snd (jvp (\\t -> all (map (\\s -> match s with | Round p r -> Round p (r * t) | _ -> s) (shapes {m}), points {n})) (0.9, 1.0))"
            ));
            // Some are before the first or after the last.
            for first in ["0.0", "2.5", "-1.0"] {
                all.push(format!(
                    "grad by_index (shapes {m}, points 2, build {n} (\\i -> {first} + 0.8 * real i))"
                ));
            }
        }
        for k in 0..4 {
            all.push(format!("grad one (shape {k}, points {n})"));
            all.push(format!("grad walk (shape {k}, 0.2 * real {n})"));
            all.push(format!("hvp one (shape {k}, points {n}) (shape {k}, points {n})"));
        }
        all.push(format!("grad single (Only 0.4 3, ticks {n})"));
        all.push(format!("grad all (shapes 0, points {n})"));
        all.push(format!("grad nested (shapes 4, points {n})"));
        all.push(format!("let (y, b) = vjp turned (shapes 5, points {n}) in (b 1.0, b 0.0)"));
    }
    all
}

#[test]
fn derivatives_of_data_that_loops_look_at_are_the_same_everywhere() {
    parallel::check_all("programs", &programs(), |expression| everywhere::same(DEFINITIONS, expression));
}
