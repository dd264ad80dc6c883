//! In strict mode derivatives of functions with rules, and with respect to functions, are the interpreter's to the last bit, however
//! often they are differentiated: what a rule has captured, and what it is given, adds up where it stands.

use std::path::Path;
use wengert_driver::scope::Scope;
use wengert_driver::{Engine, Options, Session, show};
use wengert_tests::property::complaints;

const DEFINITIONS: &str = "type Maybe = None | Some Real
type Box = Box Real Int
type Tree = Leaf Real | Node Tree Tree
type L = Nil | Cons Real L
def len l = match l with | Nil -> 0.0 | Cons x r -> x * x + len r * x
def first t = match t with | Leaf x -> x | Node l r -> first l
def total t = match t with | Leaf x -> x * 1.3 | Node l r -> total l * 1.3 + total r
def mixed t = match t with | Leaf x -> x * x * sin x | Node l r -> mixed l * 1.3 + mixed r * mixed l";

/// Derivatives, up to the fourth, of functions whose rules, or that themselves, have captured what varies: numbers and functions.
const CAPTURED: [&str; 32] = [
    "grad (\\x -> let (y, t) = jvp (\\a -> custom_jvp (\\y -> a*y*sin (a*y)*a) (\\(y,t) -> (y, t*y)) x) (x*1.3, x*x) in y*t + t*t*y) 0.7",
    "grad (\\x -> let (y, t) = jvp (\\a -> custom_jvp (\\y -> a*y*sin (a*y)*a) (\\(y,t) -> (y, t*y)) x) (x*1.3, x*x) in y*t + t*t*y) 0.41",
    "grad (\\x -> let (y, t) = jvp (\\a -> custom_jvp (\\y -> a*y*sin (a*y)*a/y) (\\(y,t) -> (y, t*y)) x) (x*1.3, x*x) in y*t + t*t*y) 0.57",
    "grad (\\x -> let (y, b) = vjp (\\a -> custom_jvp (\\y -> a*y*sin (a*y)*a/y) (\\(y,t) -> (y, t*y)) (x*x)) (x*1.3) in y*b x + y*y*b (x*x)) 0.57",
    "grad (\\x -> let (y, b) = vjp (\\a -> custom_jvp (\\y -> a*y*sin (a*y)*a/y) (\\(y,t) -> (y, t*y)) (x*x*a)) (x*1.3) in y*b x + y*y*b (x*x)) 0.57",
    "map (\\p -> grad (\\z -> grad (\\x -> grad (\\a -> custom_vjp (\\y -> a * y * sin y * z) (\\y -> (y, \\t -> a * y * t * a * x + t * sin a * z)) (a * x * z)) (x * z)) (z * z)) p) [0.3, 0.41, 0.57, 0.73, 0.9, 1.13]",
    "map (\\p -> grad (\\z -> grad (\\x -> grad (\\a -> custom_jvp (\\y -> a * y * sin y * z) (\\(y, t) -> (y, a * y * t * a * x + t * sin a * z)) (a * x * z)) (x * z)) (z * z)) p) [0.3, 0.41, 0.57, 0.73, 0.9, 1.13]",
    "map (\\p -> grad (\\z -> grad (\\x -> derivative (\\a -> custom_jvp (\\y -> a * y * sin y * z) (\\(y, t) -> (y, a * y * t * a * x + t * sin a * z)) (a * x * z)) (x * z)) (z * z)) p) [0.3, 0.41, 0.57, 0.73, 0.9, 1.13]",
    "map (\\p -> grad (\\z -> derivative (\\x -> grad (\\a -> custom_jvp (\\y -> a * y * sin y * z) (\\(y, t) -> (y, a * y * t * a * x + t * sin a * z)) (a * x * z)) (x * z)) (z * z)) p) [0.3, 0.41, 0.57, 0.73, 0.9, 1.13]",
    "map (\\p -> derivative (\\z -> grad (\\x -> grad (\\a -> custom_vjp (\\y -> a * y * sin y * z) (\\y -> (y, \\t -> a * y * t * a * x + t * sin a * z)) (a * x * z)) (x * z)) (z * z)) p) [0.3, 0.41, 0.57, 0.73, 0.9, 1.13]",
    "map (\\p -> derivative (\\z -> derivative (\\x -> grad (\\a -> custom_vjp (\\y -> a * y * sin y * z) (\\y -> (y, \\t -> a * y * t * a * x + t * sin a * z)) (a * x * z)) (x * z)) (z * z)) p) [0.3, 0.41, 0.57, 0.73, 0.9, 1.13]",
    "map (\\p -> derivative (\\z -> derivative (\\x -> derivative (\\a -> custom_vjp (\\y -> a * y * sin y * z) (\\y -> (y, \\t -> a * y * t * a * x + t * sin a * z)) (a * x * z)) (x * z)) (z * z)) p) [0.3, 0.41, 0.57, 0.73, 0.9, 1.13]",
    "map (\\p -> grad (\\z -> grad (\\x -> let (y, b) = vjp (\\(a, c) -> custom_jvp (\\y -> a * y * y) (\\(y, t) -> (y * y, (a * t * y) * c * a + t * c * sin (a * y) + (t * a) / c)) (x * x * a * a)) (0.7, x*z) in let (p, q) = b 1.1 in y * p + q * y * y) (z * z)) p) [0.3, 0.41, 0.57, 0.73, 0.9, 1.13]",
    "map (\\p -> grad (\\x -> let (y, b) = vjp (\\(a, c) -> custom_jvp (\\y -> a * y * y) (\\(y, t) -> (y * y, (a * t * y) * c * a + t * c * sin (a * y) + (t * a) / c)) (x * x * a * a)) (0.7, x) in let (p, q) = b 1.1 in y * p + q * y * y + sum (taylor 2 sin x)) p) [0.3, 0.41, 0.57, 0.73, 0.9, 1.13]",
    "map (\\p -> grad (\\x -> grad (\\a -> let f = (if a > 0.5 then (\\u -> a * u * a) else (\\u -> u / a)) in custom_jvp (\\y -> f y * y * f x) (\\(y, t) -> (y, f t * y + t * f y)) (a * x)) (x * x)) p) [0.3, 0.41, 0.57, 0.73, 0.9, 1.13]",
    "map (\\p -> grad (\\w -> grad (\\z -> grad (\\x -> grad (\\a -> custom_vjp (\\y -> a * y * sin y * z) (\\y -> (y, \\t -> a * y * t * a * x + t * sin a * z * w)) (a * x * z)) (x * z)) (z * z)) (w * 1.1)) p) [0.3, 0.41, 0.57]",
    "map (\\p -> derivative (\\w -> grad (\\z -> derivative (\\x -> grad (\\a -> custom_jvp (\\y -> a * y * sin y * z) (\\(y, t) -> (y, a * y * t * a * x + t * sin a * z * w)) (a * x * z)) (x * z)) (z * z)) (w * 1.1)) p) [0.3, 0.41, 0.57]",
    "map (\\p -> grad (\\z -> sum (flatten (hessian (\\(v : [2]Real) -> let a = v[0] * z in sum (custom_vjp (\\y -> map (\\q -> a * q * sin a) y) (\\y -> (y, \\t -> map2 (\\q u -> a * q * u * a + u * sin a) y t)) [v[1] * a, v[0], v[1]])) [z, 1.1]))) p) [0.3, 0.41, 0.57]",
    "map (\\p -> grad (\\z -> sum (flatten (hessian (\\(v : [2]Real) -> let a = v[0] * z in sum (custom_jvp (\\y -> map (\\q -> a * q * sin a) y) (\\(y, t) -> (y, map2 (\\q u -> a * q * u * a + u * sin a) y t)) [v[1] * a, v[0], v[1]])) [z, 1.1]))) p) [0.3, 0.41, 0.57]",
    "grad (\\b -> grad (\\c -> grad (\\a -> custom_jvp (\\y -> a * sqrt y * c) (\\(y, t) -> (y, a * t / (2.0 * sqrt y))) 0.0) (b*c)) b) 0.7",
    "derivative (\\b -> grad (\\c -> grad (\\a -> custom_jvp (\\y -> a * sqrt y * c) (\\(y, t) -> (y, a * t / (2.0 * sqrt y))) (c - b)) (b*c)) b) 0.7",
    "map (\\p -> let rec f n a x = if n == 0 then x else custom_jvp (\\y -> a * y * y) (\\(y, t) -> (y * y, a * a * t * y)) (f (n - 1) a x) in grad (\\z -> sum (flatten (hessian (\\(v : [2]Real) -> f 3 v[0] (v[1] * z)) [z, 0.9]))) p) [0.3, 0.41]",
    "map (\\p -> grad (\\x -> grad (\\a -> let g = (\\u -> a * u * x) in custom_jvp (\\y -> g y * y * g x) (\\(y, t) -> (y, g t * y + t * g y)) (a * x)) (x * x)) p) [0.3, 0.41, 0.57, 0.73, 0.9, 1.13]",
    "map (\\p -> grad (\\z -> grad (\\x -> grad (\\a -> let g = (\\u -> a * u * x) in custom_jvp (\\y -> g y * y * g x) (\\(y, t) -> (y, g t * y + t * g y * z)) (a * x)) (x * x * z)) z) p) [0.3, 0.41, 0.57, 0.73, 0.9, 1.13]",
    "map (\\p -> hessian (\\(v : [2]Real) -> let g = (if v[0] > 0.5 then (\\u -> v[0] * u) else (\\u -> v[1] * u * v[0])) in custom_vjp (\\y -> g y * sin (y * v[1])) (\\y -> (g y, \\w -> g w * y + w * g y)) (v[0] * v[1])) p) [[0.3, 0.9], [0.7, 0.4]]",
    "map (\\p -> hessian (\\(v : [2]Real) -> let gs = [\\u -> v[0] * u, \\u -> v[1] * u * v[0]] in custom_vjp (\\y -> gs[0] y * sin (y * v[1])) (\\y -> (y, \\w -> sum (map (\\g -> g w * y + w * g y) gs))) (v[0] * v[1])) p) [[0.3, 0.9], [0.7, 0.4]]",
    "map (\\p -> grad (\\x -> sum (taylor 2 (\\s -> s * sin (s * x)) x) * grad (\\a -> custom_jvp (\\y -> a * y * sin y) (\\(y, t) -> (y, a * y * t * a * x + t * sin a / x)) (a * x)) (x * x)) p) [0.3, 0.41, 0.57, 0.73]",
    "map (\\p -> grad (\\x -> grad (\\a -> sum (taylor 2 (\\s -> custom_jvp (\\y -> x * y * sin y) (\\(y, t) -> (y, a * y * t * x + t * sin a / x)) (s * x)) (x * a))) x) p) [0.3, 0.41, 0.57, 0.73]",
    "map (\\p -> jvp (\\x -> jvp (\\a -> custom_vjp (\\(p, q) -> (p * a * q, q * x)) (\\(p, q) -> ((p, q), \\(s, t) -> (s * a * q + t * x / a, p * t * a * a + s * x))) (a * x, x * x)) (x * x, x)) (p, p * 0.7)) [0.3, 0.41, 0.57, 0.73]",
    "map (\\p -> grad (\\x -> let ((y, z), b) = vjp (\\a -> custom_vjp (\\(p, q) -> (p * a * q, q * x)) (\\(p, q) -> ((p, q), \\(s, t) -> (s * a * q + t * x / a, p * t * a * a + s * x))) (a * x, x * x)) (x * x) in b (y, z) * y + z) p) [0.3, 0.41, 0.57, 0.73]",
    "map (\\p -> grad (\\z -> grad (\\x -> let ((y, w), b) = vjp (\\a -> custom_vjp (\\(p, q) -> (p * a * q, q * x)) (\\(p, q) -> ((p, q), \\(s, t) -> (s * a * q + t * x / a, p * t * a * a + s * x))) (a * x, x * x)) (x * x) in b (y, w) * y + w) (z * z)) p) [0.3, 0.41, 0.57, 0.73]",
    "map (\\p -> grad (\\x -> let (y, b) = vjp (\\a -> checkpoint (\\u -> custom_vjp (\\y -> a * y * sin y) (\\y -> (y, \\t -> a * y * t * a * x + t * sin a)) (u * x)) (a * a)) (x * x) in y * b x) p) [0.3, 0.41, 0.57, 0.73]",
];

/// What a rule is given is another number than the point: what it does with that adds up first.
const GIVEN: [&str; 6] = [
    "map (\\p -> grad (\\v -> let y = custom_jvp (\\x -> x[0]*x[0]) (\\(x,t) -> (x[0]*x[0], t[0]*x[0]*1.1 + t[0]*x[1] + t[1]*0.3 + t[0]/x[0])) v in y * v[0] * v[0] + v[1]*y*v[0]) [p, p*0.7]) [0.3, 0.41, 0.57, 0.73, 0.9, 1.13]",
    "map (\\p -> grad (\\(a,b) -> let y = custom_jvp (\\x -> fst x*fst x) (\\((x,z),(t,u)) -> (x*x, t*x*1.1 + t*z + u*0.3 + t/x)) (a,b) in y * a * a + b*y*a) (p, p*0.7)) [0.3, 0.41, 0.57, 0.73, 0.9, 1.13]",
    "map (\\p -> grad (\\v -> let y = custom_vjp (\\x -> x[0]*x[0]) (\\x -> (x[0]*x[0], \\t -> [t*x[0]*1.1 + t*x[1] + t*0.3 + t/x[0], t*x[1]])) v in y * v[0] * v[0] + v[1]*y*v[0]) [p, p*0.7]) [0.3, 0.41, 0.57, 0.73, 0.9, 1.13]",
    "map (\\p -> grad (\\t -> let y = custom_jvp total (\\(x, d) -> (total x, total d * 1.1 + first d * first x + first d / first x)) t in y * first t * first t + total t * y) (Node (Leaf p) (Leaf (p * 0.7)))) [0.3, 0.41, 0.57, 0.73, 0.9, 1.13]",
    "map (\\p -> grad (\\x -> let y = custom_jvp (\\v -> v[0] * v[1]) (\\(v, d) -> (v[0] * v[1], d[0] * 1.1 + d[1] * v[0] + d[0] / v[1])) [x, x] in y * x * x + sin (x * y)) p) [0.3, 0.41, 0.57, 0.73, 0.9, 1.13]",
    "map (\\p -> hessian (\\(v : [2]Real) -> let y = custom_jvp (\\x -> x[0] * x[0]) (\\(x, t) -> (x[0] * x[0], t[0] * x[0] * 1.1 + t[0] * x[1] + t[1] * 0.3 + t[0] / x[0])) v in y * v[0] * v[0] + v[1] * y * v[0]) [p, p * 0.7]) [0.3, 0.41, 0.57, 0.73, 0.9, 1.13]",
];

/// Reverse mode that is differentiated with respect to functions that give data, or functions.
const DATA: [&str; 12] = [
    "snd (jvp (\\f -> grad (\\x -> match f (x * x) with | Some a -> a * x * sin a * x | None -> x) 0.7) (\\y -> Some (y * sin y), \\y -> Some (cos y * y)))",
    "map (\\p -> snd (jvp (\\f -> grad (\\x -> match f (x * x) with | Some a -> a * x * sin a * x * (match f (a * x) with | Some b -> b * a * x | None -> x) | None -> x) p) (\\y -> Some (y * sin y), \\y -> Some (cos y * y)))) [0.3, 0.41, 0.57, 0.73, 0.9, 1.13]",
    "map (\\p -> snd (jvp (\\f -> grad (\\x -> match f (x * x) with | Box a n -> a * x * sin a * x * (match f (a * x) with | Box b k -> b * a * x + real (n + k)))  p) (\\y -> Box (y * sin y) 1, \\y -> Box (cos y * y) 0))) [0.3, 0.41, 0.57, 0.73, 0.9, 1.13]",
    "map (\\p -> apply_dual (pullback (\\f -> grad (\\x -> match f (x * x) with | Some a -> a * x * sin a * x | None -> x) p) to_dual (\\y -> Some (y * sin y))) (\\y -> Some (cos y * y))) [0.3, 0.41]",
    "map (\\p -> snd (jvp (\\f -> grad (\\x -> mixed (f x) * mixed (f (x*x))) p) (\\y -> Node (Leaf (y * sin y)) (Leaf (y * y)), \\y -> Node (Leaf (y * cos y)) (Leaf (y / 1.1))))) [0.3, 0.41, 0.57, 0.73, 0.9, 1.13]",
    "map (\\p -> snd (jvp (\\f -> grad (\\x -> let g = f (x * x) in g x * g (x * 2.0) * x * sin x) p) (\\y z -> y * sin z * z, \\y z -> cos (y * z) * z * y))) [0.3, 0.41, 0.57, 0.73, 0.9, 1.13]",
    "map (\\p -> snd (jvp (\\f -> grad (\\x -> let g = f (f (x * x) x) in g x * g (x * 2.0) * x * sin x) p) (\\y z -> y * sin z * z, \\y z -> cos (y * z) * z * y))) [0.3, 0.41, 0.57, 0.73, 0.9, 1.13]",
    "map (\\p -> snd (jvp (\\f -> grad (\\x -> let gs = f (x * x) in gs[0] x * gs[1] (x * 2.0) * x * sin x) p) (\\y -> [\\z -> y * sin z * z, \\z -> z * y], \\y -> [\\z -> cos (y * z) * z * y, \\z -> y]))) [0.3, 0.41, 0.57, 0.73, 0.9, 1.13]",
    "map (\\p -> snd (jvp (\\f -> grad (\\x -> let (g, a) = f (x * x) in g x * a * g (x * a) * x * sin x) p) (\\y -> (\\z -> y * sin z * z, y * y), \\y -> (\\z -> cos (y * z) * z * y, sin y)))) [0.3, 0.41, 0.57, 0.73, 0.9, 1.13]",
    "map (\\p -> snd (jvp (\\f -> grad (\\x -> mixed (f x) * mixed (f (x*x))) p) (\\y -> if y > 0.5 then Node (Leaf (y * sin y)) (Leaf (y * y)) else Leaf y, \\y -> if y > 0.5 then Node (Leaf (y * cos y)) (Leaf (y / 1.1)) else Leaf (y * y)))) [0.3, 0.41, 0.57, 0.73, 0.9, 1.13]",
    "map (\\p -> snd (jvp (\\f -> grad (\\x -> mixed (f x) * mixed (f (x*x)) * x) p) (\\y -> if y > 0.5 then Node (Leaf (y * sin y)) (Leaf (y * y)) else Leaf y, \\y -> if y > 0.5 then Node (Leaf (y * cos y)) (Leaf 0.0) else Leaf (y * y)))) [0.3, 0.41, 0.57, 0.73, 0.9, 1.13]",
    "map (\\p -> snd (jvp (\\(f, c) -> grad (\\x -> len (f x) * len (f (x*x * c)) * x) p) ((\\y -> Cons y (Cons (y*y) Nil), 0.7), (\\y -> Cons 1.0 (Cons (sin y) Nil), p)))) [0.3, 0.41, 0.57, 0.73, 0.9, 1.13]",
];

fn given(session: &mut Session, scope: &Scope, engine: Engine, program: &str) -> String {
    let options = Options { engine, strict: true, ..Options::default() };
    let evaluated = session.eval_in(scope, "exact.wg", program, &options);
    let evaluated = evaluated.map_err(|errors| complaints(&errors)).expect(program);
    assert_eq!(evaluated.engine, engine, "nothing of {program} is left to the interpreter");
    show(&evaluated.value)
}

fn agree(programs: &[&str]) {
    let mut session = Session::new();
    let report = session.check_text("exact.wg", DEFINITIONS, Path::new("."));
    assert!(!report.has_errors(), "{}", complaints(&report.diagnostics));
    let scope = Scope::of_file(&report.modules);
    for program in programs {
        let expected = given(&mut session, &scope, Engine::Interp, program);
        for engine in [Engine::Native, Engine::Ir] {
            assert_eq!(given(&mut session, &scope, engine, program), expected, "{program}");
        }
    }
}

#[test]
fn what_rules_have_captured_adds_up_as_in_the_interpreter() {
    agree(&CAPTURED);
}

#[test]
fn what_rules_are_given_adds_up_before_it_goes_to_the_point() {
    agree(&GIVEN);
}

#[test]
fn functions_that_give_data_are_noted_on_the_tape() {
    agree(&DATA);
}
