//! Data types that hold themselves at larger and larger arguments: every engine compiles programs with them, derivatives included, and
//! the interpreter is not asked. Values are as deep as the input says, deeper than programs look.

use std::fs;
use std::path::{Path, PathBuf};
use wengert_driver::{Engine, Input, Options, Session, show};
use wengert_tests::command::shell_in;
use wengert_tests::property::complaints;
use wengert_tests::{parallel, text};

const DEFINITIONS: &str = r#"
type Perfect a = Zero a | Succ (Perfect (a, a))
type Nest a = End | More a (Nest (a, a))
type Rec a = Leaf a | Node (Rec {l : a, r : a, n : Int})
type One a = Tip a | Up (One {x : a}) Int
type Arr a = Flat a | Deep String (Arr []a)
type Ping a = Ping a (Pong []a) | Stop
type Pong a = Pong a (Ping (a, Int)) | Halt Bool
type List a = Nil | Cons a (List a)
type Boot a = Nought | Snoc (Boot (List a)) a
type Digit a = One1 a | Two a a
type Pair a = Pair a a
type Finger a = Empty | Single a | Many (Digit a) (Finger (Pair a)) (Digit a)
type Fn a = Const a | Then (Fn (a -> Real)) | Both (Real -> a) (Fn (a, a))
type Wrap = Wrap (Perfect Real) Int | Lone

def energy (p : Perfect Real) = 0.5 * norm_squared p + sum (map sin (ravel p))
def top (p : Perfect Real) = match p with
  | Zero x -> x * x
  | Succ (Zero (x, y)) -> x * y
  | Succ _ -> norm_squared p
def through (p : Perfect Real) = (p, p == p, show p, scale 2.0 p, zero p, unravel p (map sin (ravel p)), top p)
def same (p : Perfect Real) (q : Perfect Real) = (p == q, add p q, inner p q)
def gradients (p : Perfect Real) =
  let (y, back) = vjp energy p in (grad energy p, grad top p, jvp energy (p, p), y, back 2.0, taylor 3 (\t -> energy (scale t p)) 1.0)
def second (p : Perfect Real) =
  (jvp (grad energy) (p, scale 0.5 p), grad (\q -> norm_squared (grad energy q)) p, jvp (grad top) (p, p))
def captured (p : Perfect Real) (x : Real) = let f = \x -> energy (scale x p) in (grad f x, derivative (grad f) x)
def deeper (p : Perfect Real) = match p with
  | Zero x -> Zero (x * 2.0)
  | Succ (Zero (a, b)) -> Succ (Succ (Zero ((a, b), (b, sin a))))
  | Succ r -> Succ r
def grown (p : Perfect Real) = (deeper p, jvp deeper (p, p), let (y, back) = vjp deeper p in back y)
def many (ps : []Perfect Real) = let f = \ps -> sum (map energy ps) in (f ps, grad f ps, set ps 0 (ps[1]), reverse ps)
def wrapped (w : Wrap) =
  let f = \w -> match w with | Wrap p n -> energy p * real n | Lone -> 0.0
  in (f w, grad f w, match w with | Wrap _ n -> n | Lone -> 0)
def ints (p : Perfect Int) = (show p, p == p, p)
def texts (p : Nest (String, Bool)) = (show p, p)
def summed (t : Nest Real) = match t with
  | End -> 0.0
  | More x (More (a, b) s) -> x + a * b + norm_squared s
  | More x End -> x
def nest (t : Nest Real) = (summed t, grad summed t, jvp (grad summed) (t, t))
def records (r : Rec Real) = (show r, r, add r r, grad norm_squared r, match r with | Leaf x -> x | Node (Leaf s) -> s.l | Node _ -> 0.0)
def singles (r : One Real) = (show r, r == r, r, norm_squared r, match r with | Up (Tip s) _ -> s.x | _ -> 0.0)
def arrays (r : Arr Real) = (show r, r, zero r, grad (\r -> norm_squared r * 2.0) r, match r with | Deep _ (Flat xs) -> sum xs | _ -> 0.0)
def sums (a : Arr Real) (b : Arr Real) = (a == b, add a b)
def pings (p : Ping Real) = (show p, p == p, p, grad norm_squared p)
def boots (b : Boot Real) = (show b, norm_squared b, b, match b with | Snoc (Snoc _ (Cons x _)) y -> x * y | _ -> 0.0)
def digit f d = match d with | One1 a -> f a | Two a b -> f a + f b
def pair f p = match p with | Pair a b -> f a * f b
def finger (t : Finger Real) = match t with
  | Empty -> 0.0
  | Single x -> x
  | Many l m r -> digit (\x -> x) l * digit (\x -> x) r + (match m with
    | Empty -> 1.0
    | Single n -> pair (\x -> x) n
    | Many a b c -> digit (pair (\x -> x * x)) a + norm_squared b + digit (pair sin) c)
def fingers (t : Finger Real) = (finger t, grad finger t, jvp (grad finger) (t, t))
def functions (x : Real) =
  let f = \x -> (match Then (Then (Const (\(g : Real -> Real) -> g x * x))) with | Then (Then (Const h)) -> h (\y -> sin y) | _ -> 0.0)
  in let g = \x -> (match Both (\y -> y * x) (Const (x, x)) with | Both f (Const (a, b)) -> f a + b | _ -> 1.0)
  in (f x, grad f x, g x, grad g x, derivative (grad g) x)
def made (n : Int) (x : Real) =
  let rec go k p = if k == 0 then p else go (k - 1) (scale x p)
  in norm_squared (go n (Succ (Succ (Zero ((x, 2.0), (3.0, x))))))
def slope (n : Int) (x : Real) = grad (made n) x
"#;

fn tag(name: &str, fields: &[String]) -> String {
    format!(r#"{{"tag": "{name}", "fields": [{}]}}"#, fields.join(", "))
}

/// A value of a type in which each level has `of` the value of the level before.
fn level(depth: usize, next: &mut dyn FnMut() -> String, of: &dyn Fn(&[String; 2]) -> String) -> String {
    if depth == 0 {
        return next();
    }
    let parts = [level(depth - 1, next, of), level(depth - 1, next, of)];
    of(&parts)
}

/// Different numbers.
fn numbers() -> impl FnMut() -> String {
    let mut number = 0.25;
    move || {
        number += 0.25;
        format!("{number:?}")
    }
}

fn tuple(parts: &[String]) -> String {
    format!("[{}]", parts.join(", "))
}

fn pair(parts: &[String; 2]) -> String {
    tuple(parts)
}

fn perfect(depth: usize) -> String {
    let leaves = tag("Zero", &[level(depth, &mut numbers(), &pair)]);
    (0..depth).fold(leaves, |inner, _| tag("Succ", &[inner]))
}

fn nest(depth: usize, next: &mut dyn FnMut() -> String) -> String {
    let levels: Vec<String> = (0..depth).map(|level_of| level(level_of, next, &pair)).collect();
    levels.into_iter().rev().fold(tag("End", &[]), |rest, own| tag("More", &[own, rest]))
}

fn rec(depth: usize) -> String {
    let of = |[l, r]: &[String; 2]| format!(r#"{{"l": {l}, "r": {r}, "n": -3}}"#);
    let leaves = tag("Leaf", &[level(depth, &mut numbers(), &of)]);
    (0..depth).fold(leaves, |inner, _| tag("Node", &[inner]))
}

fn single(depth: usize) -> String {
    let leaf = (0..depth).fold("-1.5".to_string(), |inner, _| format!(r#"{{"x": {inner}}}"#));
    (0..depth).fold(tag("Tip", &[leaf]), |inner, level| tag("Up", &[inner, format!("-{level}")]))
}

fn array(depth: usize, first: &str) -> String {
    let leaves = tag("Flat", &[level(depth, &mut || first.to_string(), &pair)]);
    (0..depth).fold(leaves, |inner, _| tag("Deep", &[r#""d""#.to_string(), inner]))
}

fn ping() -> String {
    let field = |text: &str| text.to_string();
    let last = tag("Pong", &[field("[[[1.0, 2.0], 3], [[4.5, 5.0], -6]]"), tag("Stop", &[])]);
    let inner = tag("Ping", &[field("[[1.5, 2.5], -7]"), last]);
    tag("Ping", &[field("-1.0"), tag("Pong", &[field("[0.5, 0.25]"), inner])])
}

fn boot(depth: usize) -> String {
    let list = |parts: &[String; 2]| {
        parts.iter().rev().fold(tag("Nil", &[]), |rest, part| tag("Cons", &[part.clone(), rest]))
    };
    let mut next = numbers();
    let levels: Vec<String> = (0..depth).map(|depth| level(depth, &mut next, &list)).collect();
    levels.into_iter().rev().fold(tag("Nought", &[]), |rest, own| tag("Snoc", &[rest, own]))
}

fn finger(depth: usize) -> String {
    let of = |parts: &[String; 2]| tag("Pair", parts);
    let mut next = numbers();
    let mut made = tag("Single", &[level(depth, &mut next, &of)]);
    for depth in (0..depth).rev() {
        let mut own = || level(depth, &mut next, &of);
        let digits = [tag("Two", &[own(), own()]), tag("One1", &[own()])];
        made = tag("Many", &[digits[0].clone(), made, digits[1].clone()]);
    }
    made
}

/// Entries with their arguments.
fn calls() -> Vec<(&'static str, String)> {
    let mut calls = vec![
        ("many", vec![tuple(&[0, 3, 1].map(perfect))]),
        ("many", vec![tuple(&[0].map(perfect))]),
        ("wrapped", vec![tag("Lone", &[])]),
        ("wrapped", vec![tag("Wrap", &[perfect(3), "3".into()])]),
        ("wrapped", vec![tag("Wrap", &[perfect(0), "3".into()])]),
        ("pings", vec![ping()]),
        ("sums", vec![array(3, "1.5"), array(3, "1.5")]),
        ("sums", vec![array(2, "1.5"), array(3, "1.5")]),
        ("sums", vec![tag("Deep", &["\"d\"".into(), tag("Flat", &["[]".into()])]), array(1, "1.5")]),
        ("sums", vec![array(2, "1.5"), array(2, "1.5").replace("[1.5, 1.5]", "[1.0]")]),
        ("functions", vec!["0.75".into()]),
        ("made", vec!["3".into(), "0.5".into()]),
        ("slope", vec!["3".into(), "0.5".into()]),
        ("texts", vec![nest(4, &mut || r#"["a\"b", true]"#.into())]),
    ];
    for depth in [0, 1, 2, 4] {
        for entry in ["through", "gradients", "second", "grown"] {
            calls.push((entry, vec![perfect(depth)]));
        }
        calls.push(("same", vec![perfect(depth), perfect(2)]));
        calls.push(("captured", vec![perfect(depth), "1.25".into()]));
        calls.push(("ints", vec![perfect(depth).replace('.', "")]));
        calls.push(("nest", vec![nest(depth, &mut numbers())]));
        calls.push(("records", vec![rec(depth)]));
        calls.push(("singles", vec![single(depth)]));
        calls.push(("arrays", vec![array(depth, "1.5")]));
        calls.push(("boots", vec![boot(depth)]));
        calls.push(("fingers", vec![finger(depth)]));
    }
    calls.into_iter().map(|(entry, args)| (entry, tuple(&args))).collect()
}

fn file(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("wengert-nested-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("there is room");
    let file = folder.join("nested.wg");
    fs::write(&file, DEFINITIONS).expect("there is room");
    file
}

/// What a call gives, or what it says.
fn given(file: &Path, (entry, input): &(&str, String), options: &Options) -> Result<String, String> {
    let input = Input::Text(input.clone());
    match Session::new().run(file, entry, Some(&input), options) {
        Err(errors) => Ok(complaints(&errors)),
        Ok(evaluated) if evaluated.engine != options.engine || !evaluated.warnings.is_empty() => {
            Err(format!("{entry} is not compiled by {}", options.engine.name()))
        }
        Ok(evaluated) => Ok(text::unsigned(&show(&evaluated.value))),
    }
}

#[test]
fn types_that_hold_themselves_at_larger_arguments_are_compiled() {
    let file = file("compiled");
    let calls: Vec<(usize, (&str, String))> = calls().into_iter().enumerate().collect();
    parallel::check_all("calls", &calls, |(turn, call)| {
        let expected = given(&file, call, &Options::default())?;
        let of = |engine, strict| Options { engine, strict, ..Options::default() };
        let mut ways = vec![of(Engine::Ir, true), of(Engine::Native, true), of(Engine::Native, false)];
        if Engine::C.require().is_ok() && turn.is_multiple_of(3) {
            ways.push(of(Engine::C, turn.is_multiple_of(2)));
        }
        for options in ways {
            let found = given(&file, call, &options)?;
            if found != expected && (options.strict || !text::close(&expected, &found, 1e-9)) {
                let engine = options.engine.name();
                return Err(format!("{} {} by {engine}: {found}, not {expected}", call.0, call.1));
            }
        }
        Ok(())
    });
    let _ = fs::remove_dir_all(file.parent().expect("a folder"));
}

#[test]
fn their_code_is_kept() {
    let file = file("kept");
    let folder = file.parent().expect("a folder");
    let run = |engine: &str, entry: &str, input: &str| {
        let call = format!(
            "WENGERT_CACHE=./cache wengert run nested.wg --entry {entry} --input '[{input}]' {engine}"
        );
        shell_in(folder, &call).transcript()
    };
    for (entry, shallow, deep) in
        [("gradients", perfect(1), perfect(4)), ("records", rec(1), rec(4)), ("boots", boot(1), boot(4))]
    {
        let before = fs::read_dir(folder.join("cache")).map_or(0, Iterator::count);
        for input in [shallow, deep] {
            let expected = run("--engine interp", entry, &input);
            assert_eq!(run("--engine native --strict", entry, &input), expected);
        }
        let kept = fs::read_dir(folder.join("cache")).map_or(0, Iterator::count);
        assert_eq!(kept, before + 1, "deeper input needs no other code");
    }
    let _ = fs::remove_dir_all(folder);
}
