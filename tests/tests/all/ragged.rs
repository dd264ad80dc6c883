//! Arrays whose elements hold arrays of different sizes: every engine compiles programs that make them, derivatives included, and the
//! interpreter is not asked. Where arrays of different sizes would be rows of one array, all fail alike.

use std::fs;
use std::path::Path;
use std::time::Duration;
use wengert_driver::prepared::Runs;
use wengert_driver::profile::Part;
use wengert_driver::scope::Scope;
use wengert_driver::{Engine, Input, Options, PASSES, Session, show};
use wengert_tests::command::shell_in;
use wengert_tests::property::complaints;
use wengert_tests::{parallel, text};

const DEFINITIONS: &str = r#"
def f (rows : []([]Real, Real)) = sum (map (\(xs, w) -> w * sum (map sin xs)) rows)
def vec n = map (\i -> 1.0 + real i) (iota n)
def rows = map (\n -> (vec n, 0.5 + real n)) [2, 1, 0, 3]
def longer rs = map (\(xs, w) -> (concat xs [w], w * 0.5)) rs
def records = map (\n -> {name = "r", xs = vec n}) [2, 0, 1]
def total (rs : []{name : String, xs : []Real}) = sum (map (\r -> sum (map cos r.xs)) rs)
def deep = map (\i -> (map (\j -> (vec j, i)) (iota i), {q = vec i})) (iota 4)
def functions x = map (\i -> let xs = map (\k -> real k * x) (iota i) in \y -> sum xs * y) (iota 5)
def applied x = sum (map (\g -> g x) (functions x))
def squares rs = map (\(xs, w) -> (map (\x -> map (\y -> x * y) xs) xs, w)) rs
def products rs = sum (map (\(m, w) -> w * sum (map (\q -> sum (map sin q)) m)) (squares rs))
type List = Nil | Cons ([]Real) List
def listed n = if n == 0 then Nil else Cons (vec n) (listed (n - 1))
def arrayed l = match l with
  | Nil -> []
  | Cons xs rest -> concat [(xs, 1.0)] (arrayed rest)
def joined rs = reduce (\(a, b) (c, d) -> (concat a c, b + d)) (vec 0, 0.0) rs
def lookup (k : Int) (rs : []([]Real, Real)) = let (xs, w) = rs[k] in sum xs * w
"#;

/// Values.
const EXPRESSIONS: &[&str] = &[
    "rows",
    "f rows",
    "grad f rows",
    "jvp f (rows, map (\\(xs, w) -> (map (\\_ -> 1.0) xs, 1.0)) rows)",
    "jvp (grad f) (rows, rows)",
    "let (y, back) = vjp longer rows in back (longer rows)",
    "let (y, lin) = linearize longer rows in (y, lin rows)",
    "grad (\\r -> f (iterate 3 longer r)) rows",
    "grad (\\r -> norm_squared (ravel (grad f r))) rows",
    "map (\\i -> (iota i, i)) (iota 4)",
    "scan (\\(xs, k) i -> (concat xs [real i], k + 1)) ([1.0], 0) (iota 4)",
    "map (\\i -> {a = iota i}) (iota 4)",
    "show (map (\\i -> {a = iota i, b = [{c = vec i}]}) (iota 3))",
    "records",
    "(total records, grad total records)",
    "deep",
    "grad (\\x -> sum (map (\\(inner, q) -> sum (map (\\(v, k) -> x * sum v * real k) inner) * sum (map (\\y -> y * x) q.q)) deep)) 2.0",
    "(applied 3.0, grad applied 3.0, derivative (grad applied) 3.0)",
    "grad products rows",
    "let (_, b) = unzip (map (\\(xs, w) -> ({xs = xs}, [w, 2.0])) rows) in b",
    "(zero rows, add rows rows, scale 2.0 rows, inner rows rows, ravel rows, unravel rows (vec 10))",
    "(rows == rows, rows == map (\\(a, b) -> (a, b + 1.0)) rows, rows == reverse rows)",
    "set rows 1 (vec 5, 1.0)",
    "map (\\(xs, w) -> (filter (\\x -> x > 1.5) xs, w)) rows",
    "filter (\\(xs, w) -> length xs > 1) rows",
    "(joined rows, grad (\\r -> let (a, b) = joined r in sum (map sin a) * b) rows)",
    "grad (\\r -> sum (map (\\(xs, w) -> sum (grad (\\ys -> sum (map (\\y -> y * y * w) ys)) xs)) r)) rows",
    "unzip (zip (map (\\k -> vec 2) (iota 4)) rows)",
    "while_loop (\\s -> length s < 6) (\\s -> concat s [(vec (length s), 1.0)]) (replicate 1 (vec 3, 2.0))",
    "(concat rows (reverse rows), slice rows 1 3, gather rows [0, 0, 2], flatten [rows, rows], transpose [rows, rows])",
    "map (\\(xs, w) -> pullback (\\ys -> sum (map sin ys)) (\\_ -> to_dual 1.0) xs) rows",
    "arrayed (listed 3)",
    "grad f (arrayed (listed 3))",
    "(lookup 3 rows, grad (lookup 1) rows)",
    "(replicate 2 rows, map2 (\\(xs, w) i -> (slice xs 0 (length xs / 2), i)) rows (iota 4))",
    "checkpoint f rows + custom_jvp f (\\(r, t) -> jvp f (r, t)) rows",
    "grad (\\r -> custom_vjp f (\\p -> vjp f p) r) rows",
    "build 3 (\\i -> if i == 1 then (\"a\", vec 2, vec 1) else (\"b\", vec i, vec i))",
];

/// What fails.
const FAILURES: &[&str] = &[
    "map iota (iota 3)",
    "map (\\(a, b) -> a) rows",
    "unzip rows",
    "zip (map (\\(a, b) -> a) rows) (iota 4)",
    "[vec 1, vec 1, vec 2]",
    "set (map (\\_ -> vec 2) rows) 1 (vec 3)",
    "concat (map (\\_ -> vec 2) rows) [vec 3]",
    "map (\\(a, _) -> [a, vec 1]) rows",
    "map (\\(xs, w) -> if w < 1.0 then fail \"late\" else xs) rows",
    "map (\\(xs, w) -> (xs, xs[1])) rows",
    "add rows (reverse rows)",
    "inner rows (reverse rows)",
    "unravel rows (vec 9)",
    "grad (\\r -> f (add r (reverse r))) rows",
    "lookup 4 rows",
    // What nobody needs to make fails all the same.
    "sum (map sum (map vec (iota 5)))",
    "fold (\\s r -> s + sum r) 0.0 (map vec (iota 5))",
    "length (map vec (iota 5))",
    "let m = map vec (iota 5) in 1.0",
    "sum (map (\\r -> sum r) (map (\\x -> filter (\\y -> y > x) (vec 3)) (vec 3)))",
    "grad (\\x -> sum (map sum (map (\\k -> build k (\\i -> x * real i)) (iota 4)))) 2.0",
    "maximum (map sum (map (\\k -> if k > 3 then [1.0, 2.0] else [3.0]) (iota 5)))",
    "sum (map2 (\\r q -> sum r * q) (map vec [2, 2, 2, 1]) (vec 4))",
    "sum (map (\\m -> sum (map sum m)) (map (\\k -> build 2 (\\i -> vec k)) (iota 4)))",
    "sum (map sum (map (\\k -> concat [real k] (vec k)) (iota 5)))",
    "sum (map sum (map (\\k -> slice (vec 9) 0 k) (iota 5)))",
    "sum (map sum (map (\\k -> replicate (if k > 2 then 1 else 2) 1.0) (iota 5)))",
];

/// All engines, C for every second program, in its modes in turn; of the passes, every third is left out in its turn.
fn ways(turn: usize) -> Vec<Options> {
    let of = |engine, strict| Options { engine, strict, ..Options::default() };
    let mut ways = vec![of(Engine::Ir, true), of(Engine::Native, true), of(Engine::Native, false)];
    if turn.is_multiple_of(2) && Engine::C.require().is_ok() {
        ways.push(of(Engine::C, turn.is_multiple_of(4)));
    }
    let without = |name: &str| Options { without: vec![name.into()], ..of(Engine::Ir, true) };
    ways.extend(PASSES.iter().skip(turn % 3).step_by(3).map(|pass| without(pass.name)));
    ways
}

fn scope(session: &mut Session) -> Scope {
    let report = session.check_text("ragged.wg", DEFINITIONS, Path::new("."));
    assert!(!report.has_errors(), "{}", complaints(&report.diagnostics));
    Scope::of_file(&report.modules)
}

#[test]
fn what_holds_arrays_of_different_sizes_is_compiled() {
    let expressions: Vec<(usize, &str)> = EXPRESSIONS.iter().copied().enumerate().collect();
    parallel::check_all("expressions", &expressions, |(turn, expression)| {
        let mut session = Session::new();
        let scope = scope(&mut session);
        let mut eval = |options: &Options| {
            let evaluated = session.eval_in(&scope, "it.wg", expression, options);
            let evaluated = evaluated.map_err(|errors| format!("{expression}: {}", complaints(&errors)))?;
            if evaluated.engine != options.engine || !evaluated.warnings.is_empty() {
                return Err(format!("{expression} is not compiled by {}", options.engine.name()));
            }
            Ok(text::unsigned(&show(&evaluated.value)))
        };
        let expected = eval(&Options::default())?;
        for options in ways(*turn) {
            let found = eval(&options)?;
            if found != expected && (options.strict || !text::close(&expected, &found, 1e-9)) {
                let (engine, without) = (options.engine.name(), &options.without);
                return Err(format!("{expression} by {engine} without {without:?}: {found}, not {expected}"));
            }
        }
        Ok(())
    });
}

#[test]
fn what_fails_fails_in_the_same_words_at_the_same_place() {
    let expressions: Vec<(usize, &str)> = FAILURES.iter().copied().enumerate().collect();
    parallel::check_all("expressions", &expressions, |(turn, expression)| {
        let mut session = Session::new();
        let scope = scope(&mut session);
        let mut said = |options: &Options| match session.eval_in(&scope, "it.wg", expression, options) {
            Ok(evaluated) => (show(&evaluated.value), None),
            Err(errors) => (complaints(&errors), errors.first().map(|error| error.primary.span)),
        };
        let expected = said(&Options::default());
        if expected.1.is_none() {
            return Err(format!("{expression} gives {}", expected.0));
        }
        for options in ways(*turn) {
            let found = said(&options);
            if found != expected {
                return Err(format!(
                    "{expression} by {}: {found:?}, not {expected:?}",
                    options.engine.name()
                ));
            }
        }
        Ok(())
    });
}

const INPUT: &str = "[[[[1.0, 2.0], 1.0], [[3.0], 2.0], [[], 3.0]]]";

fn folder(name: &str) -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("wengert-ragged-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("there is room");
    let text = format!("{DEFINITIONS}\ndef slope (rs : []([]Real, Real)) = grad f rs\n");
    fs::write(folder.join("ragged.wg"), text).expect("there is room");
    folder
}

#[test]
fn arguments_may_be_ragged_and_the_code_is_kept() {
    let folder = folder("kept");
    let run = |engine: &str, cache: &str, input: &str| {
        let line = format!(
            "WENGERT_CACHE={cache} wengert run ragged.wg --entry slope --input '{input}' --engine {engine}"
        );
        shell_in(&folder, &line).transcript()
    };
    let expected = run("interp", "./none", INPUT);
    assert!(expected.contains("1.7507684116335782"), "{expected}");
    let kept = || fs::read_dir(folder.join("cache")).map_or(0, Iterator::count);
    for _ in 0..2 {
        assert_eq!(run("native --strict", "./cache", INPUT), expected);
        assert_eq!(kept(), 1, "the form for ragged arrays is made at once, and once");
    }
    let regular = "[[[[1.0, 2.0], 1.0], [[3.0, 4.0], 2.0]]]";
    assert_eq!(run("native --strict", "./cache", regular), run("interp", "./none", regular));
    assert_eq!(kept(), 2, "regular arrays have another form");
    let _ = fs::remove_dir_all(folder);
}

#[test]
fn measurements_are_of_compiled_code() {
    let folder = folder("measured");
    let file = folder.join("ragged.wg");
    let text = "def made (x : Real) = sum (map (\\(xs, w) -> x * sum xs * w) (map (\\n -> (build n (\\i -> x * real i), x)) (iota 5)))\n";
    fs::write(&file, format!("{DEFINITIONS}\n{text}")).expect("there is room");
    let options = Options { engine: Engine::Native, ..Options::default() };
    let runs = Runs { count: 3, time: Duration::ZERO };
    for (entry, input) in [("f", INPUT), ("made", "[2.0]")] {
        let input = Input::Text(input.to_string());
        let mut session = Session::new();
        let measured = session.bench(&file, entry, &input, runs, &options).expect("it is measured");
        assert!(measured.interpreted.is_empty() && measured.vjp.is_some(), "{entry}: {measured:?}");
        let time = Duration::from_millis(5);
        session.profile(&file, entry, &input, Part::Vjp, time, &options).expect("it is profiled");
    }
    let _ = fs::remove_dir_all(folder);
}

const LIBRARY: &str = r#"
def made (x : Real) : Real =
  sum (map (\(xs, w) -> sum (map (\y -> y * x) xs) * w) (map (\n -> (build n (\i -> x * real i), x + real n)) [3, 1, 2]))
def reported (name : String) (rows : [][]Real) : (Real, []Real) =
  let kept = map (\row -> (filter (\x -> x > 0.0) row, 2.0)) rows
  in (sum (map (\(row, w) -> w * sum row) (reverse kept)), map (\(row, w) -> w * real (length row)) kept)
def larger (xs : []Real) : []([]Real, Real) = map (\x -> (filter (\y -> y > x) xs, x)) xs
"#;

const PROGRAM: &str = r#"
#include "made.h"
#include "reported.h"
#include "larger.h"
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    double value, slope, matrix[] = {1, -2, 3, 4, 5, 6}, same[] = {2, 2};
    made_run *run = made_open((uint64_t)1 << 26);
    for (int i = 0; i < 1000; i++) {
        if (made_vjp(run, 2.0, 1.0, &value, &slope)) return 1;
    }
    printf("%g %g", value, slope);
    if (made(run, 2.0, &value)) return 2;
    printf(" %g\n", value);
    made_close(run);

    reported_run *other = reported_open((uint64_t)1 << 26);
    wengert_reals_1 sums;
    if (reported(other, "name", (wengert_reals_2){matrix, {2, 3}}, &value, &sums)) return 3;
    printf("%g [%g %g]\n", value, sums.data[0], sums.data[1]);
    free(sums.data);
    reported_close(other);

    larger_run *third = larger_open((uint64_t)1 << 26);
    wengert_reals_2 rows;
    if (larger(third, (wengert_reals_1){same, {2}}, &rows, &sums)) return 4;
    printf("%d %d [%g %g]\n", (int)rows.size[0], (int)rows.size[1], sums.data[0], sums.data[1]);
    free(rows.data);
    free(sums.data);
    printf("%d ", larger(third, (wengert_reals_1){matrix, {3}}, &rows, &sums));
    puts(larger_message(third));
    larger_close(third);
    return 0;
}
"#;

const OUTPUT: &str = "\
76 92 76
38 [4 6]
2 0 [2 2]
1 library.wg:7:47: arrays of different sizes stand in the elements of an array, which the arguments or results in C cannot hold
";

#[test]
fn a_c_program_calls_what_makes_ragged_arrays() {
    if Engine::C.require().is_err() {
        return;
    }
    let folder = folder("library");
    for (name, text) in [("library.wg", LIBRARY), ("program.c", PROGRAM)] {
        fs::write(folder.join(name), text).expect("there is room");
    }
    let line = "for entry in made reported larger; do wengert build library.wg --entry $entry --vjp -o out || exit 1; done \
                && cc -Wall -Wextra -Werror -Iout program.c -o program -Lout -lmade -lreported -llarger -Wl,-rpath,$PWD/out \
                && ./program";
    let ran = shell_in(&folder, line);
    let program = ran.stdout.split_once("out/larger.c\n").map(|(_, program)| program);
    assert_eq!(program, Some(OUTPUT), "{}", ran.transcript());
    let _ = fs::remove_dir_all(folder);
}
