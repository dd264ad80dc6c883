//! The engine: every example, the code in the book, and generated programs go through the lowering to the array IR, and
//! what comes out is well formed.

use arbitrary::Unstructured;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use wengert_base::{Diagnostic, SourceId};
use wengert_core::Program as Core;
use wengert_driver::{Options, Session, scope::Scope, show};
use wengert_gen::{Config, gen_program, gen_value};
use wengert_interp::View;
use wengert_ir::Op;
use wengert_ir::eval::{self as ir, Evaluator, Items, Limits};
use wengert_lower::{Entry, Layout, Lowered};
use wengert_mono::{bridge::bridge_with_notes, simple, simple_check, simple_show};
use wengert_tests::{parallel, project};

fn messages(errors: &[Diagnostic]) -> String {
    errors.iter().map(|error| format!("{}: {}\n", error.code, error.message)).collect()
}

/// The program in the IR, verified.
fn verified((program, notes): &Noted) -> Result<Lowered, String> {
    let simplified = wengert_lower::simplify(program, &mut notes.clone(), &|_: SourceId| false);
    let errors = simple_check::check(&simplified);
    if !errors.is_empty() {
        return Err(format!("{errors:#?}\n{}", simple_show::show(&simplified)));
    }
    let lowered = wengert_lower::lower_with_notes(
        program,
        notes,
        &|_: SourceId| false,
        usize::MAX,
        wengert_lower::Rows::Regular,
    )
    .map_err(|errors| messages(&errors))?;
    if let Err(errors) = wengert_ir::verify(&lowered.program) {
        let errors: String = errors.iter().take(8).map(|error| format!("{error}\n")).collect();
        return Err(format!("{errors}\n{}", wengert_ir::print(&lowered.program)));
    }
    Ok(lowered)
}

/// Whether nothing in the program asks for a derivative.
fn is_plain(program: &wengert_ir::Program) -> bool {
    let mut plain = true;
    for (_, func) in program.funcs.iter() {
        func.body.for_each_stmt(&mut |stmt| {
            plain &= !matches!(
                stmt.op,
                Op::Jvp { .. }
                    | Op::Linearize { .. }
                    | Op::Forward { .. }
                    | Op::Backward { .. }
                    | Op::Taylor { .. }
            );
        });
    }
    plain
}

/// What the reference evaluator says of a program, in the words of the interpreter; nothing if a limit was reached.
fn evaluated(lowered: &Lowered, value: &Result<wengert_interp::Value, Diagnostic>) -> Result<(), String> {
    let limits = Limits { max_steps: Some(50_000_000), max_memory: 1 << 30, ..Limits::default() };
    let mut evaluator = Evaluator::new(&lowered.program, limits);
    let found = evaluator.call(lowered.entry.func, Vec::new());
    match (value, found) {
        (Ok(value), Ok(found)) => {
            let mut text = String::new();
            if same(&lowered.entry, &lowered.entry.result, &found, value, &mut text) {
                return Ok(());
            }
            Err(format!("{} by the interpreter, but {found:?} in {text}", show(value)))
        }
        (Err(wanted), Err(found)) => {
            let found = found.diagnostic();
            if (wanted.code, &wanted.message) == (found.code, &found.message) {
                return Ok(());
            }
            Err(format!("`{}: {}` but `{}: {}`", wanted.code, wanted.message, found.code, found.message))
        }
        (Ok(value), Err(found)) => Err(format!("{} but `{}`", show(value), found.diagnostic().message)),
        (Err(wanted), Ok(found)) => Err(format!("`{}: {}` but {found:?}", wanted.code, wanted.message)),
    }
}

/// Whether values of the IR are the value of the interpreter. Zeros of both signs are the same.
fn same(
    entry: &Entry,
    layout: &Layout,
    found: &[ir::Value],
    value: &wengert_interp::Value,
    at: &mut String,
) -> bool {
    let one = found.first();
    match (layout, value.view()) {
        (Layout::Real, View::Real(x)) => {
            matches!(one, Some(ir::Value::Real(y)) if x == *y || (x.is_nan() && y.is_nan()))
        }
        (Layout::Int, View::Int(x)) => matches!(one, Some(ir::Value::Int(y)) if x == *y),
        (Layout::Bool, View::Bool(x)) => matches!(one, Some(ir::Value::Bool(y)) if x == *y),
        (Layout::Text, View::String(x)) => matches!(one, Some(ir::Value::Text(y)) if x == y.as_str()),
        (Layout::Tuple(items), View::Tuple(parts)) => all_same(entry, items, found, &parts, at),
        (layout, View::Record(fields)) => {
            let parts: Vec<_> = fields.into_iter().map(|(_, value)| value).collect();
            match (layout, parts.as_slice()) {
                (layout, [only]) => same(entry, layout, found, only, at),
                (Layout::Tuple(items), parts) => all_same(entry, items, found, parts, at),
                _ => false,
            }
        }
        (Layout::Array(of), View::Array(rows)) => {
            rows.iter().enumerate().all(|(index, value)| {
                let row: Option<Vec<ir::Value>> =
                    found.iter().map(|array| row(array, index, rows.len())).collect();
                row.is_some_and(|row| same(entry, of, row.get(..of.values()).unwrap_or_default(), value, at))
            }) && found
                .iter()
                .all(|array| matches!(array, ir::Value::Array(array) if array.rows() == rows.len()))
        }
        (Layout::Data(data), View::Data(name, parts)) => {
            let Some(ir::Value::Data(node)) = one else { return false };
            at.push_str(name.as_str());
            let ctors = entry.data.iter().find(|(id, _)| id == data).map(|(_, ctors)| ctors);
            let Some(fields) = ctors.and_then(|ctors| ctors.get(node.ctor as usize)) else { return false };
            all_same(entry, fields, node.fields(), &parts, at)
        }
        (Layout::Dual(of), View::Dual(Some(inner))) => same(entry, of, found, &inner, at),
        (Layout::Function(_), View::Function | View::Dual(None)) => true,
        _ => false,
    }
}

fn all_same(
    entry: &Entry,
    layouts: &[Layout],
    found: &[ir::Value],
    values: &[wengert_interp::Value],
    at: &mut String,
) -> bool {
    let mut found = found;
    layouts.len() == values.len()
        && layouts.iter().zip(values).all(|(layout, value)| {
            let Some((own, rest)) = found.split_at_checked(layout.values()) else { return false };
            found = rest;
            same(entry, layout, own, value, at)
        })
        && found.is_empty()
}

/// Row `index` of `count`.
fn row(array: &ir::Value, index: usize, count: usize) -> Option<ir::Value> {
    let ir::Value::Array(array) = array else { return None };
    let each = array.items().len() / count;
    let items = (index * each..(index + 1) * each).map(|at| array.items().get(at));
    match array.row_shape() {
        [] => array.items().get(index),
        shape => Some(of_items(shape, items.collect::<Option<Vec<_>>>()?, array.items())),
    }
}

/// An array of that shape.
fn of_items(shape: &[usize], values: Vec<ir::Value>, like: &Items) -> ir::Value {
    let mut items = like.clone();
    match &mut items {
        Items::Reals(xs) => {
            *xs = values
                .iter()
                .filter_map(|x| if let ir::Value::Real(x) = x { Some(*x) } else { None })
                .collect()
        }
        Items::Ints(xs) => {
            *xs = values
                .iter()
                .filter_map(|x| if let ir::Value::Int(x) = x { Some(*x) } else { None })
                .collect()
        }
        Items::Bools(xs) => {
            *xs = values
                .iter()
                .filter_map(|x| if let ir::Value::Bool(x) = x { Some(*x) } else { None })
                .collect()
        }
        Items::Texts(xs) => {
            *xs = values
                .into_iter()
                .filter_map(|x| if let ir::Value::Text(x) = x { Some(x) } else { None })
                .collect()
        }
        Items::Units(xs) => *xs = vec![(); values.len()],
        Items::Data(xs) => {
            *xs = values
                .into_iter()
                .filter_map(|x| if let ir::Value::Data(x) = x { Some(x) } else { None })
                .collect()
        }
    }
    ir::Value::array(shape.iter().copied(), items)
}

/// A simply typed program with what is noted on it.
type Noted = (simple::Program, simple::Notes);

/// The program of an expression in the scope of a file.
fn of_expression(text: &str, file: Option<&Path>) -> Result<Noted, String> {
    let (core, entry, _) = Session::new().core(text, file).map_err(|errors| messages(&errors))?;
    bridge_with_notes(&core, entry, &[], false).map_err(|errors| messages(&errors))
}

/// What the interpreter says of an expression.
fn interpreted(
    session: &mut Session,
    scope: &Scope,
    text: &str,
) -> Option<Result<wengert_interp::Value, Diagnostic>> {
    let options = Options { max_steps: Some(20_000_000), max_memory: Some(1 << 30), ..Options::default() };
    match session.eval_in(scope, "engine.wg", text, &options) {
        Ok(evaluated) => Some(Ok(evaluated.value)),
        Err(mut errors) => match errors.pop() {
            Some(error) if matches!(error.code, "E0715" | "E0716" | "E0717") => None,
            Some(error) => Some(Err(error)),
            None => None,
        },
    }
}

/// What became of a program.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Verdict {
    /// The checker refuses it.
    Refused,
    /// It is lowered; it asks for derivatives, or takes too long.
    Lowered,
    /// It is evaluated with the same result.
    Agrees,
}

/// The program of the definition `it` in a module, and what is needed to interpret it; nothing if the checker refuses it.
fn checked(text: &str) -> Result<Option<(Session, Scope, Noted)>, String> {
    let mut session = Session::new();
    let report = session.check_text("generated.wg", text, Path::new("."));
    if report.has_errors() {
        return Ok(None);
    }
    let mut linked = Core::default();
    for module in &report.modules {
        linked.types.extend(module.program.types.clone());
        linked.defs.extend(module.program.defs.clone());
    }
    let own = report.modules.last().and_then(|module| {
        module.program.defs.keys().find(|name| name.as_str().rsplit('.').next() == Some("it")).copied()
    });
    let it = own.ok_or("the module has no `it`")?;
    let program = bridge_with_notes(&linked, it, &[], false).map_err(|errors| messages(&errors))?;
    Ok(Some((session, Scope::of_file(&report.modules), program)))
}

/// The program of the definition `it` in a module.
fn of_module(text: &str) -> Result<Noted, String> {
    checked(text)?.map(|(_, _, program)| program).ok_or_else(|| "the checker refuses it".to_owned())
}

/// A module with a definition `it`: it is lowered, and, where nothing asks for a derivative, evaluated.
fn agrees(text: &str) -> Result<Verdict, String> {
    let Some((mut session, scope, program)) = checked(text)? else { return Ok(Verdict::Refused) };
    let lowered = verified(&program)?;
    if !is_plain(&lowered.program) {
        return Ok(Verdict::Lowered);
    }
    match interpreted(&mut session, &scope, "it") {
        Some(value) => evaluated(&lowered, &value).map(|()| Verdict::Agrees),
        None => Ok(Verdict::Lowered),
    }
}

#[test]
fn every_example_is_lowered() {
    let mut failed = Vec::new();
    let examples = project::files("examples", "wg");
    for file in &examples {
        let lowered = of_expression("main", Some(file)).and_then(|program| verified(&program));
        if let Err(error) = lowered {
            failed.push(format!("{}:\n{error}", project::relative(file)));
        }
    }
    println!("{} of {} examples are lowered", examples.len() - failed.len(), examples.len());
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Bytes that look random, the same for each seed.
fn bytes(seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..256 + (seed as usize * 2617) % 30_000).map(|_| next()).collect()
}

/// Expressions about the entry of a generated program at a point.
const EXPRESSIONS: &[&str] = &[
    "entry x",
    "let y = entry x in (y == y, y != entry x, ravel y, inner y y, add y (scale 2.0 y))",
    "let y = entry x in (unravel y (scale 0.5 (ravel y)), zero y, norm y, apply_dual (to_dual y) y)",
    "let (y, dy) = jvp entry (x, x) in (show y, ravel dy, y == y)",
    "let (y, back) = vjp entry x in (back y, y)",
    "let (y, forward) = linearize entry x in (inner (forward x) y, add y (scale 2.0 (zero y)))",
    "grad (\\x -> norm_squared (grad (\\x -> norm_squared (entry x)) x)) x",
];

#[test]
fn generated_programs_are_lowered() {
    let cases = std::env::var("WENGERT_PROPERTY_CASES").ok().and_then(|text| text.parse().ok());
    let seeds: Vec<u64> = (0..cases.unwrap_or(60)).collect();
    let (lowered, evaluated) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let failures = parallel::map(&seeds, |seed| {
        let config = match seed % 4 {
            0 => Config::default(),
            1 => Config::smooth(),
            // What is evaluated already.
            _ => Config { max_derivatives: 0, taylor: false, ..Config::default() },
        };
        let bytes = bytes(*seed);
        let (for_input, for_program) = bytes.split_at(128);
        let program = gen_program(&mut Unstructured::new(for_program), &config).expect("there are bytes");
        let mut input = Unstructured::new(for_input);
        let point = gen_value(&mut input, &program.arg_type, program.decls());
        let point = point.expect("there are bytes").expect("entries take first-order values");
        for expression in EXPRESSIONS {
            let text = format!("{}\ndef it = let x = {} in {expression}\n", program.text(), point.text());
            match agrees(&text) {
                Ok(Verdict::Refused) => {}
                Ok(Verdict::Lowered) => drop(lowered.fetch_add(1, Ordering::Relaxed)),
                Ok(Verdict::Agrees) => drop(evaluated.fetch_add(1, Ordering::Relaxed)),
                Err(error) => return Some(format!("seed {seed}, {expression}: {error}\n{text}")),
            }
        }
        None
    });
    let failed: Vec<String> = failures.into_iter().flatten().collect();
    let (lowered, evaluated) = (lowered.into_inner(), evaluated.into_inner());
    println!(
        "{lowered} generated programs are lowered, {evaluated} evaluated as well, {} fail",
        failed.len()
    );
    assert!(evaluated > seeds.len(), "only {evaluated} programs are evaluated");
    assert!(failed.is_empty(), "{} fail; the first:\n{}", failed.len(), failed[0]);
}

/// Definitions for the expressions below.
const DEFINITIONS: &str = r#"
type List a = Nil | Cons a (List a)
type Tree = Leaf | Node Tree Real Tree
type Op = Plus | Apply (Real -> Real) | Both Op Op
type Named = Named String Int | Anonymous

def rec_map f xs = match xs with | Nil -> Nil | Cons x rest -> Cons (f x) (rec_map f rest)
def from_to i n = if i >= n then Nil else Cons (real i) (from_to (i + 1) n)
def total xs = match xs with | Nil -> 0.0 | Cons x rest -> x + total rest
def grow n = if n == 0 then Leaf else Node (grow (n - 1)) (real n) (grow (n - 1))
def run op x = match op with | Plus -> x + 1.0 | Apply f -> f x | Both a b -> run b (run a x)
def even n = if n == 0 then true else odd (n - 1)
def odd n = if n == 0 then false else even (n - 1)
def twice f x = f (f x)
def adder n = let m = n + 1 in \x -> x + m
def add3 a b c = a + 10 * b + 100 * c
def church n = if n == 0 then \f x -> x else \f x -> f (church (n - 1) f x)
def pick b = if b then \x -> x + 1 else \x -> x * 2
def point = {x = 1.0, y = [2.0, 3.0]}
def upto n = build n (\i -> real i)
def sized (n : Int) (xs : [n]Real) : Real = sum xs
def square_of (xss : [n][n]Real) : Int = length xss
def three (xs : [3]Real) : Real = xs[2]
"#;

/// Expressions that use every primitive and every kind of function value, and fail in every way.
const BY_HAND: &[&str] = &[
    "(1 + 2, 3 - 4, 5 * 6, 7 / 2, -7 / 2, -(3), 2 ^ 10, abs (-3), sign (-2), min 3 2, max 3 2)",
    "(1.0 + 2.5, 3.0 - 4.5, 5.0 * 6.5, 7.0 / 2.0, -(3.5), 2.0 ^ 10, 2.0 ^ -2, abs (-3.5), sign (-2.5), min 3.5 2.5, max 3.5 2.5)",
    "let n = 3 in (2.0 ^ n, 2 ^ n, 2.0 ** 0.5)",
    "map (\\f -> f 0.7) [exp, expm1, log, log1p, log2, log10, sqrt, cbrt, sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, asinh, atanh]",
    "map (\\f -> f 1.3) [acosh, gamma, lgamma, digamma, erf, erfc, relu, sigmoid, softplus, abs, sign]",
    "(atan2 1.0 2.0, hypot 3.0 4.0, polygamma 0 1.5, polygamma 2 1.5, map (\\n -> polygamma n 2.0) [0, 1, 3])",
    "(floor 2.7, ceil 2.2, round 2.5, truncate (-2.7), real 3, is_nan (0.0 / 0.0))",
    "(7 % 3, -7 % 3, div (-7) 2, mod (-7) 2, bit_and 12 10, bit_or 12 10, bit_xor 12 10, shift_left 1 4, shift_right (-1) 60)",
    "(1 == 1, 1.0 == 2.0, \"a\" == \"a\", true == false, (1, \"x\") == (1, \"y\"), [1, 2] == [1, 2], [[1], [2]] == [[1], [3]], 0.0 / 0.0 == 0.0 / 0.0)",
    "(1 < 2, 1.5 <= 1.5, \"a\" < \"b\", 2 > 1, 2.0 >= 3.0, 1 != 2, [1] != [1], () == ())",
    "(Cons 1 (Cons 2 Nil) == Cons 1 (Cons 2 Nil), Cons 1 Nil == Nil, Nil == Cons 1 Nil, grow 3 == grow 3, grow 3 == grow 2)",
    "(not true, \"a\" ++ \"b\", string_length \"häh\", \"\" ++ \"\")",
    "(show 1, show (-1), show 1.5, show (-0.0), show true, show \"a\\n\\\"b\", show (1, 2.0, \"x\"), show (), show [1, 2], show [[1.0], [2.0]])",
    "(show (Cons (-1) (Cons 2 Nil)), show (Cons (-1.5) Nil), show (Cons (1, -2) Nil), show [Nil, Cons 1 Nil], show (Named \"a\" (-1)), show Anonymous, show (grow 2))",
    "(show (Cons (-0.0) Nil), show (Cons (0.0 / 0.0) Nil), show (Cons (-1.0 / 0.0) Nil), show [(), ()], show (to_dual 1.0), show [\"a\", \"b\"])",
    "(length [1, 2, 3], [1, 2, 3][1], [[1, 2], [3, 4]][1][0], [[1, 2], [3, 4]][1], [(1, 2.0), (3, 4.0)][1])",
    "(build 3 (\\i -> i * i), build 2 (\\i -> build 3 (\\j -> i * j)), build 0 (\\i -> i), iota 4, replicate 2 1.5, replicate 2 [1, 2], replicate 2 (1, \"a\"), replicate 3 ())",
    "(set [1, 2, 3] 1 9, set [[1, 2], [3, 4]] 0 [5, 6], set [(1, 2.0)] 0 (3, 4.0))",
    "(map (\\x -> x + 1) [1, 2], map (\\x -> (x, x + 1)) [1, 2], map (\\(x, y) -> x * y) [(1, 2), (3, 4)], map (\\_ -> ()) [1, 2], map (\\x -> [x, x]) [1, 2])",
    "(map2 (\\x y -> x + y) [1, 2] [3, 4], map2 (\\(a, b) c -> a + b + c) [(1, 2)] [3], zip [1, 2] [3.0, 4.0], unzip [(1, \"a\"), (2, \"b\")], zip [(), ()] [1, 2], unzip (zip [(), ()] [1, 2]))",
    "(fold (\\acc x -> acc + x) 0 [1, 2, 3], fold (\\(a, b) x -> (b, a + x)) (0, 1) [1, 2, 3], scan (\\a x -> a + x) 0 [1, 2, 3], scan (\\(a, b) x -> (b, a + x)) (0, 1) [1, 2], reduce (\\a b -> a * b) 1 [2, 3, 4], reduce (\\(a, b) (c, d) -> (a + c, b * d)) (0, 1) [(1, 2), (3, 4)])",
    "(filter (\\x -> x > 1) [1, 2, 3], filter (\\(x, _) -> x > 1) [(1, \"a\"), (2, \"b\")], filter (\\_ -> true) [(), ()])",
    "(sum [1, 2, 3], sum [1.5, 2.5], sum ([] : []Real), product [2, 3], product [1.5, 2.0], maximum [1, 3, 2], minimum [1.5, 0.5], argmax [1, 3, 3], argmin [2.0, 1.0, 1.0])",
    "(maximum [1.0, 0.0 / 0.0, 3.0], argmin [1.0, 0.0 / 0.0], sort [3.0, 0.0 / 0.0, 1.0])",
    "(transpose [[1, 2, 3], [4, 5, 6]], transpose [[(1, 2.0)], [(3, 4.0)]], dot [1.0, 2.0] [3.0, 4.0], dot [1, 2] [3, 4], matvec [[1, 2], [3, 4]] [5, 6], matmul [[1.0, 2.0]] [[3.0], [4.0]])",
    "(concat [1] [2, 3], concat [] [1], concat [(1, 2)] [(3, 4)], flatten [[1, 2], [3, 4]], flatten [[(1, 2)], [(3, 4)]], slice [1, 2, 3, 4] 1 3, reverse [1, 2, 3], gather [1, 2, 3] [2, 0], gather [(1, 2), (3, 4)] [1, 1])",
    "(scatter_add [1.0, 2.0] [0, 0] [3.0, 4.0], scatter_add [1, 2] [1] [5], sort [3, 1, 2], sort [\"b\", \"a\"], argsort [3.0, 1.0, 2.0], argsort [2, 1, 2])",
    "(iterate 3 (\\x -> x * 2) 1, iterate 0 (\\x -> x) 1, iterate 2 (\\(a, b) -> (b, a + b)) (0, 1), while_loop (\\x -> x < 100) (\\x -> x * 3) 1, while_loop (\\(a, b) -> a < b) (\\(a, b) -> (a + 2, b + 1)) (0, 5))",
    "(zero (1.5, 2, [3.0]), add (1.0, [2.0, 3.0]) (4.0, [5.0, 6.0]), scale 2.0 (1.0, [[2.0], [3.0]]), inner (1.0, [2.0, 3.0]) (4.0, [5.0, 6.0]), inner [1.0, 2.0] [3.0, 4.0], ravel ((1.0, 2), [[3.0, 4.0]]), unravel ((1.0, 2), [[3.0, 4.0]]) [5.0, 6.0, 7.0])",
    "(zero (grow 2), add (grow 2) (grow 2), scale 2.0 (grow 2), inner (grow 2) (grow 2), ravel (grow 2), unravel (grow 2) [1.0, 2.0, 3.0], norm (grow 2))",
    "(add [(1.0, 2)] [(3.0, 4)], ravel [(1.0, [2.0]), (3.0, [4.0])], unravel [(1.0, [2.0]), (3.0, [4.0])] [5.0, 6.0, 7.0, 8.0], inner [(1.0, [2.0])] [(3.0, [4.0])], scale 2.0 [grow 1], zero [[grow 1]], zero \"a\", ravel 3, unravel [grow 1, grow 2] [5.0, 6.0, 7.0, 8.0])",
    "(total (rec_map (\\x -> x * 2) (from_to 0 10)), rec_map show (from_to 0 3), even 10, odd 7, twice (twice (\\x -> x + 1)) 3, adder 1 2)",
    "(run (Both Plus (Both (Apply (\\x -> x * 2)) (Apply sin))) 1.0, map (add3 1 2) [3, 4], map (\\f -> f 1) [add3 1 2, \\x -> x, adder 5], fold (\\f g -> \\x -> g (f x)) (\\x -> x) [adder 1, pick true, pick false] 10)",
    "(church 3 (\\x -> x * 2) 1, church 2 (twice (adder 0)) 0, (pick true >> pick false) 5, [1, 2, 3] |> map (adder 1) |> sum)",
    "let fs = build 3 (\\i -> \\x -> x + real i) in (fs[2] 1.0, map (\\f -> f 0.5) fs, length fs)",
    "let f = if length [1] == 1 then sin else (\\x -> x) in (f 1.0, [f, cos][1] 0.0, twice f 1.0)",
    "let rec go n acc = if n == 0 then acc else go (n - 1) (acc + n) in (go 100 0, map (go 3) [1, 2])",
    "let rec walk f n = if n == 0 then f 0 else walk (\\x -> f (x + n)) (n - 1) in walk (\\x -> x * 2) 5",
    "let k = 3 in let rec f n = if n <= 0 then k else g (n - 1) and g n = f (n - k) + 1 in (f 10, g 10)",
    "(point.x, {point with x = 2.0}.y, let {x, y} = point in x + y[0], (\\{x} -> x) point)",
    "(apply_dual (to_dual [1.0, 2.0]) [3.0, 4.0], from_dual (to_dual (1.0, 2)), apply_dual (to_dual (1.0, [2.0])) (3.0, [4.0]))",
    "(stop_gradient (1.0, [2]), checkpoint (\\x -> x * 2) 4, custom_jvp sin (\\(x, t) -> (sin x, cos x * t)) 1.0, custom_vjp sin (\\x -> (sin x, \\t -> cos x * t)) 1.0)",
    "(linspace 0.0 1.0 5, mean [1.0, 2.0], clamp 0.0 1.0 2.0, curry (\\(a, b) -> a + b) 1 2, uncurry add3 (1, 2) 3, flip (\\a b -> a - b) 1 2, round_to 2 (1.23456, [2.34567]), norm_squared (3.0, 4.0))",
    "match (1, 2.5, \"x\") with | (0, _, _) -> 0.0 | (1, x, \"y\") -> x | (n, x, _) -> x + real n",
    "(match [1, 2] with | xs -> sum xs, match () with | () -> 3)",
    "let (a, b) = (1, (2, 3)) in let (c, d) = b in a + c * d",
    "build 3 (\\i -> build 2 (\\j -> (i, real j)))",
    "map (\\row -> sum row) (build 3 (\\i -> map (\\x -> x * i) (iota 4)))",
    "(upto 2)[2]",
    "(upto 2)[0 - 1]",
    "([] : []Int)[0]",
    "1 / 0",
    "5 % (1 - 1)",
    "div 3 0",
    "mod 3 (2 - 2)",
    "zip (upto 1) (upto 2)",
    "map2 (\\a b -> a) (upto 1) (upto 2)",
    "dot (upto 1) (upto 2)",
    "matvec [upto 2] (upto 1)",
    "matmul [upto 2] [upto 1]",
    "[upto 1, upto 2]",
    "map (\\n -> iota n) [1, 2]",
    "build 2 (\\n -> iota (n + 1))",
    "maximum ([] : []Int)",
    "argmin ([] : []Real)",
    "slice [1, 2, 3] 2 1",
    "slice [1, 2, 3] 0 4",
    "2 ^ (0 - 1)",
    "shift_left 1 64",
    "floor (0.0 / 0.0)",
    "round 1e30",
    "build (-1) (\\i -> i)",
    "iota (-1)",
    "replicate (-2) 1",
    "iterate (-1) (\\x -> x) 1",
    "(fail \"no\" : Int)",
    "if length [1] == 1 then (fail (\"a\" ++ \"b\") : Real) else 1.0",
    "gather [1] [1]",
    "scatter_add (upto 1) (iota 1) (upto 2)",
    "scatter_add [1.0] [1] [1.0]",
    "set [1] 1 2",
    "set [[1], [2]] 0 [1, 2]",
    "polygamma (0 - 1) 1.0",
    "add [1.0] [1.0, 2.0]",
    "add [[1.0]] [[1.0, 2.0]]",
    "add (grow 1) (grow 0)",
    "inner [1.0] [1.0, 2.0]",
    "inner (grow 1) (grow 2)",
    "unravel [1.0, 2.0] [1.0]",
    "unravel (grow 1) [1.0, 2.0]",
    "apply_dual (to_dual [1.0]) [1.0, 2.0]",
    "(let x = 1 / 0 in 5, (upto 1)[3])",
    "(\\x y -> (upto 1)[x]) (1 / 0) ((upto 1)[7])",
    "let f x = [1][x] in (f 5, 1 / 0)",
    "fold (\\acc x -> acc / x) 1 [1, 0, 2]",
    "map (\\x -> 1 / x) [1, 0]",
    "(show point, show [point], show {only = 1}, show (Cons {a = 1, b = Cons {c = -1} Nil} Nil), show ({x = 1}, [{y = ()}]), show (Named \"a\" 1, point))",
    "(three (upto 3), square_of (build 2 (\\i -> upto 2)), square_of ([] : [][]Real))",
    "three (upto 4)",
    "square_of (build 2 (\\i -> upto 3))",
];

#[test]
fn expressions_give_the_same() {
    let mut failed = Vec::new();
    let mut counts = [0, 0, 0];
    for expression in BY_HAND {
        match agrees(&format!("{DEFINITIONS}\ndef it = {expression}\n")) {
            Ok(Verdict::Refused) => {
                println!("refused: {expression}");
                counts[0] += 1;
            }
            Ok(Verdict::Lowered) => counts[1] += 1,
            Ok(Verdict::Agrees) => counts[2] += 1,
            Err(error) => failed.push(format!("{expression}\n  {error}")),
        }
    }
    println!("{counts:?}");
    assert!(failed.is_empty(), "{} fail\n{}", failed.len(), failed.join("\n"));
    assert_eq!(counts, [0, 0, BY_HAND.len()], "all are evaluated");
}

#[test]
fn the_code_of_the_book_is_lowered() {
    let mut failed = Vec::new();
    let mut count = 0;
    for page in wengert_tests::book::pages() {
        for block in page.blocks.iter().filter(|block| block.language == "wengert-eval") {
            for case in wengert_tests::book::eval_cases(block) {
                // What is refused before it runs is shown in the book, too.
                let Ok(program) = of_expression(&case.source, None) else { continue };
                count += 1;
                if let Err(error) = verified(&program) {
                    failed.push(format!("{} line {}: {}\n{error}", page.name, case.line, case.source));
                }
            }
        }
    }
    println!("{} of {count} expressions of the book are lowered", count - failed.len());
    assert!(count > 60, "only {count} expressions are found");
    assert!(failed.is_empty(), "{} fail\n{}", failed.len(), failed.join("\n"));
}

/// A program as text, for reading.
fn shown(text: &str) -> String {
    match of_module(text).and_then(|program| verified(&program)) {
        Ok(lowered) => wengert_ir::print(&lowered.program),
        Err(error) => error,
    }
}

#[test]
fn lowered_code_reads_well() {
    let programs = [
        "def norm (xs : [n]Real) = sqrt (sum (map (\\x -> x * x) xs))\ndef it (xs : []Real) = grad norm xs",
        "type List a = Nil | Cons a (List a)\n\
         def fold_list f z xs = match xs with | Nil -> z | Cons x rest -> fold_list f (f z x) rest\n\
         def it (xs : List Real) = fold_list (\\total x -> total + x) 0 xs",
        "def it (n : Int) = map (\\f -> f 2.0) (build n (\\i -> if i == 0 then sin else \\x -> x * real i))",
        "def f (x, y) = if x > 0.0 then x * sin y else exp y\ndef it (p : (Real, Real)) = let (y, back) = vjp f p in back y",
        "def it (a : Real) = snd (jvp (\\x -> \\y -> x * y) (a, 1.0)) 3.0",
    ];
    let all: String = programs.iter().map(|text| format!("{text}\n\n{}\n", shown(text))).collect();
    expect_test::expect![[r#"
        def norm (xs : [n]Real) = sqrt (sum (map (\x -> x * x) xs))
        def it (xs : []Real) = grad norm xs

        residual Residual {}

        linear norm_map of norm(varies) keeps Residual

        func main(xs: []Real) -> []Real {
          t, residual = linearize norm_map(xs)
          t2 = backward norm_map(residual, 1.0)
          return t2
        }

        func norm(xs: []Real) -> Real {
          t = length(xs)
          t2 = each i < t, x in xs {
            t3 = x * x
            yield t3
          }
          t4 = sum(t2)
          t5 = sqrt(t4)
          return t5
        }

        entry main = main

        type List a = Nil | Cons a (List a)
        def fold_list f z xs = match xs with | Nil -> z | Cons x rest -> fold_list f (f z x) rest
        def it (xs : List Real) = fold_list (\total x -> total + x) 0 xs

        data List {
          Nil()
          Cons(Real, List)
        }

        func main(xs: List) -> Real {
          t = fold_list(0.0, xs)
          return t
        }

        func fold_list(z: Real, xs: List) -> Real {
          t = match xs {
            Nil() {
              yield z
            }
            Cons(x, rest) {
              t2 = z + x
              t3 = fold_list(t2, rest)
              yield t3
            }
          }
          return t
        }

        entry main = main

        def it (n : Int) = map (\f -> f 2.0) (build n (\i -> if i == 0 then sin else \x -> x * real i))

        closure Function {
          `sin`()
          lambda(Int)
        }

        func main(n: Int) -> []Real {
          t = max(n, 0)
          t2 = min(t, 8796093022208)
          require n == t2, count build
          t3 = each i < n {
            t4 = i == 0
            t5 = if t4 {
              t6 = Function::`sin`()
              yield t6
            } else {
              t7 = Function::lambda(i)
              yield t7
            }
            yield t5
          }
          t8 = length(t3)
          t9 = each i2 < t8, f in t3 {
            t10 = apply(f, 2.0)
            yield t10
          }
          return t9
        }

        func apply(f: Function, x: Real) -> Real {
          t = match f {
            `sin`() {
              t2 = `sin`(x)
              yield t2
            }
            lambda(i) {
              t3 = lambda(i, x)
              yield t3
            }
          }
          return t
        }

        func `sin`(x: Real) -> Real {
          t = sin(x)
          return t
        }

        func lambda(i: Int, x: Real) -> Real {
          t = real(i)
          t2 = x * t
          return t2
        }

        entry main = main

        def f (x, y) = if x > 0.0 then x * sin y else exp y
        def it (p : (Real, Real)) = let (y, back) = vjp f p in back y

        residual Residual {}

        linear f_map of f(varies, varies) keeps Residual

        func main(p: Real, p2: Real) -> (Real, Real) {
          y, residual = linearize f_map(p, p2)
          t, t2 = backward f_map(residual, y)
          return t, t2
        }

        func f(x: Real, y: Real) -> Real {
          t = x > 0.0
          t2 = if t {
            t3 = sin(y)
            t4 = x * t3
            yield t4
          } else {
            t5 = exp(y)
            yield t5
          }
          return t2
        }

        entry main = main

        def it (a : Real) = snd (jvp (\x -> \y -> x * y) (a, 1.0)) 3.0

        closure Function {
          lambda(Real)
          tangent_of(Function, Tangent)
        }

        tangent Tangent of Function {}

        func main(a: Real) -> Real {
          p, y = jvp apply(a; 1.0)
          t = apply2(y, 3.0)
          return t
        }

        func apply(x: Real) -> Function {
          t = Function::lambda(x)
          return t
        }

        func apply2(f: Function, x: Real) -> Real {
          t = match f {
            lambda(x2) {
              t2 = lambda(x2, x)
              yield t2
            }
            tangent_of(f2, df) {
              t3, t4 = jvp apply2(f2, x; df, _)
              yield t4
            }
          }
          return t
        }

        func lambda(x: Real, y: Real) -> Real {
          t = x * y
          return t
        }

        entry main = main

    "#]]
    .assert_eq(&all);
}

/// Whether deep terms are lowered, evaluated and dropped on a small stack.
#[test]
fn deep_programs_are_lowered_on_a_small_stack() {
    let nest =
        |open: &str, inner: &str, close: &str| format!("{}{inner}{}", open.repeat(400), close.repeat(400));
    let texts = [
        nest("(if length [1] == 1 then ", "1", " else 0)"),
        nest("(let x = 1 in ", "2", ")"),
        nest("((\\x -> ", "x", ") 1)"),
        nest("(1, ", "2", ")"),
        nest("[", "1", "]")
            .replace(&"[".repeat(400), &"[".repeat(200))
            .replace(&"]".repeat(400), &"]".repeat(200)),
        nest("(1 + ", "2", ")"),
        nest("(match Cons 1 Nil with | Nil -> 0 | Cons y _ -> y + ", "2", ")"),
        format!("total ({})", nest("(Cons 1.0 ", "Nil", ")")),
        (0..900)
            .map(|n| {
                format!("let f{n} x = {}x in ", if n == 0 { String::new() } else { format!("f{} ", n - 1) })
            })
            .collect::<String>()
            + "f899 1",
        "let rec down n = if n == 0 then 0 else 1 + down (n - 1) in down 1000000".to_owned(),
        "total (rec_map (\\x -> x) (from_to 0 300000))".to_owned(),
        "(from_to 0 300000 == from_to 0 300000, inner (from_to 0 300000) (from_to 0 300000))".to_owned(),
    ];
    for text in texts {
        let start: String = text.chars().take(60).collect();
        let verdict = agrees(&format!("{DEFINITIONS}\ndef it = {text}\n"));
        assert!(
            matches!(verdict, Ok(Verdict::Agrees)),
            "{start}: {:?}",
            verdict.map(|verdict| format!("{verdict:?}"))
        );
    }
}

/// Expressions about derivatives with functions in unusual places.
const HIGHER_ORDER: &[&str] = &[
    "jvp (\\g -> g (g 1.0)) (sin, cos)",
    "snd (jvp (\\(g, x) -> g x) ((sin, 2.0), (cos, 3.0)))",
    "let (y, map) = linearize (\\g -> g 2.0) sin in (y, map cos)",
    "let (g, map) = linearize (\\x -> \\y -> x * y) 2.0 in (g 3.0, map 1.0 4.0)",
    "apply_dual (pullback (\\g -> g 2.0) to_dual sin) cos",
    "from_dual (pullback (\\x -> \\y -> x * y) (\\g -> pullback (\\k -> k 2.0) to_dual g) 3.0)",
    "from_dual (pullback (\\(x, y) -> x * y) to_dual (2.0, 3.0))",
    "snd (jvp (\\x -> Cons x (Cons (x * x) Nil)) (1.0, 1.0))",
    "map (\\f -> grad f 1.0) [sin, cos, \\x -> x * x]",
    "map (\\d -> d sin 1.0) [grad, derivative, \\f x -> f x]",
    "(id grad) sin 1.0",
    "let (y, back) = vjp (\\xs -> total xs) (from_to 0 4) in (y, back 1.0)",
    "let backs = map (\\x -> snd (vjp sin x)) [1.0, 2.0] in map (\\back -> back 1.0) backs",
    "(taylor 3 sin 0.5, taylor 2 (if even 2 then sin else cos) 0.5, map (\\f -> taylor 2 f 1.0) [sin, cos])",
    "grad (\\x -> checkpoint (if x > 0.0 then sin else cos) x) 1.0",
    "grad (\\a -> custom_jvp (\\x -> a * x) (\\(x, t) -> (a * x, a * t)) a) 2.0",
    "let rules = [\\x -> (sin x, \\t -> cos x * t), \\x -> (cos x, \\t -> -sin x * t)] in map (\\rule -> grad (custom_vjp sin rule) 1.0) rules",
    "grad (\\x -> run (Both (Apply (\\y -> x * y)) (Apply sin)) x) 2.0",
    "snd (jvp (\\op -> run op 2.0) (Apply sin, Apply cos))",
    "derivative (\\x -> derivative (\\y -> x * y) x) 2.0",
    "grad (\\x -> sum (map (\\f -> f x) (build 3 (\\i -> \\y -> y ^ i)))) 2.0",
    "hessian (\\xs -> sum (map (\\x -> x * x * x) xs)) [1.0, 2.0]",
    "grad (\\x -> church 3 (\\y -> x * y) x) 2.0",
    "(jacfwd (map sin) [1.0, 2.0], jacrev (map sin) [1.0, 2.0], hvp (\\x -> inner x x) [1.0] [2.0], grad_fwd norm (1.0, [2.0]))",
    "let g = snd (jvp (\\x -> \\y -> x * x * y) (3.0, 1.0)) in derivative g 2.0",
    "grad (\\t -> norm_squared (add t (scale 2.0 (zero t)))) (grow 2)",
    "grad (\\x -> stop_gradient (x * x) * x) 2.0",
];

#[test]
fn derivatives_with_functions_everywhere_are_lowered() {
    let mut failed = Vec::new();
    for expression in HIGHER_ORDER {
        match agrees(&format!("{DEFINITIONS}\ndef it = {expression}\n")) {
            Ok(Verdict::Refused) => failed.push(format!("{expression}\n  the checker refuses it")),
            Ok(Verdict::Lowered | Verdict::Agrees) => {}
            Err(error) => failed.push(format!("{expression}\n  {error}")),
        }
    }
    assert!(failed.is_empty(), "{} fail\n{}", failed.len(), failed.join("\n"));
}
