//! Programs about which two engines once disagreed, made small: now all agree, whatever pass is left out.

mod programs;

use programs::{FOUND, Found};
use std::path::Path;
use wengert_driver::scope::Scope;
use wengert_driver::{Engine, Options, PASSES, RELAXED, Session, show};
use wengert_tests::property::complaints;
use wengert_tests::{parallel, text};

/// Machine code is made without one of so many passes for each program, in turn.
const IN_TURN: usize = 3;

/// Ways to evaluate what was found, and whether they round as the interpreter does.
fn ways(what: &str) -> Vec<(Options, bool)> {
    let turn = what.len();
    let names: Vec<String> = PASSES.iter().map(|pass| pass.name.to_string()).collect();
    let mut ways = vec![
        (strict(Engine::Ir), true),
        (Options { without: names.clone(), ..strict(Engine::Ir) }, true),
        (strict(Engine::Native), true),
        (fast(Engine::Native), false),
    ];
    let without = |engine, name: &String| (Options { without: vec![name.clone()], ..strict(engine) }, true);
    let in_turn = |times: usize| names.iter().skip(turn % times).step_by(times);
    ways.extend(in_turn(2).map(|name| without(Engine::Ir, name)));
    ways.extend(in_turn(IN_TURN).map(|name| without(Engine::Native, name)));
    let relaxed = RELAXED.iter().skip(turn % IN_TURN).step_by(IN_TURN);
    let relaxed = relaxed.map(|pass| vec![pass.name.to_string()]);
    ways.extend(relaxed.map(|without| (Options { without, ..fast(Engine::Native) }, false)));
    if Engine::C.require().is_ok() {
        // The compiler takes long: both ways where the fault was in what it is given.
        let both = [(strict(Engine::C), true), (fast(Engine::C), false)];
        let own = what.starts_with("C:");
        let picked = both.into_iter().enumerate().filter(|(number, _)| own || turn % 2 == *number);
        ways.extend(picked.map(|(_, way)| way));
    }
    ways
}

fn strict(engine: Engine) -> Options {
    Options { engine, strict: true, ..Options::default() }
}

fn fast(engine: Engine) -> Options {
    Options { engine, ..Options::default() }
}

#[test]
fn what_was_found_is_mended() {
    parallel::check_all("programs", FOUND, |Found { what, definitions, expression, exact }| {
        let mut session = Session::new();
        let report = session.check_text("found.wg", definitions, Path::new("."));
        if report.has_errors() {
            return Err(format!("{what}: {}", complaints(&report.diagnostics)));
        }
        let scope = Scope::of_file(&report.modules);
        let mut eval = |options: &Options| match session.eval_in(&scope, "it.wg", expression, options) {
            Ok(evaluated) => text::unsigned(&show(&evaluated.value)),
            Err(errors) => complaints(&errors),
        };
        let expected = eval(&Options::default());
        if expected.starts_with('E') {
            return Err(format!("{what}: the interpreter says {expected}"));
        }
        for (options, rounds_alike) in ways(what) {
            let found = eval(&options);
            let same = found == expected;
            if !same && ((*exact && rounds_alike) || !text::close(&expected, &found, 1e-9)) {
                return Err(format!(
                    "{what}: {} (strict {}) without {:?} gives {found} instead of {expected}",
                    options.engine.name(),
                    options.strict,
                    options.without
                ));
            }
        }
        Ok(())
    });
}

/// What every engine must say about a rule that gives a tangent of another constructor.
#[test]
fn tangents_of_another_constructor_are_the_rules_fault() {
    let definitions = "type T = A Real | B (Real, Real)\n\
        def wrong x = custom_jvp (\\y -> A y) (\\(x, t) -> (A x, B (t, t))) x\n\
        def f x = match wrong x with | A y -> y | B (y, z) -> y + z";
    let mut session = Session::new();
    let report = session.check_text("found.wg", definitions, Path::new("."));
    let scope = Scope::of_file(&report.modules);
    for (options, _) in ways("C:") {
        for expression in ["derivative f 2.0", "grad f 2.0", "linearize f 2.0", "derivative (grad f) 2.0"] {
            let mut said = |options: &Options| {
                let errors = session.eval_in(&scope, "it.wg", expression, options).err().unwrap_or_default();
                let places = errors.iter().map(|error| (error.primary.span.start, error.primary.span.end));
                (complaints(&errors), places.collect::<Vec<_>>())
            };
            let expected = said(&Options::default());
            assert!(expected.0.starts_with("E0722"), "{expected:?}");
            assert_eq!(said(&options), expected, "{expression} by {}", options.engine.name());
        }
    }
}

#[test]
fn constants_that_fail_are_computed_where_they_are_needed() {
    let definitions = "def nothing = fail \"nothing\"\n\
        def weights = [1.0, 2.0]\n\
        def third = weights[3]\n\
        def more = third + 1.0\n\
        def pick xs = xs[length xs + 2]\n\
        def table = map (\\i -> if i > 50 then pick [1.0] else real i) (iota 100)\n\
        def zero = let xs = build 10 (\\i -> i) in 7 / xs[0]\n\
        def g x = if x > 0.0 then x else if x < -1.0 then sum table + real zero else real zero + sum table\n\
        def f x = if x > 0.0 then x else if x < -1.0 then more else nothing";
    let mut session = Session::new();
    let report = session.check_text("found.wg", definitions, Path::new("."));
    let scope = Scope::of_file(&report.modules);
    for (options, _) in ways("C:") {
        for expression in [
            "f 1.0",
            "f 0.0",
            "f (-2.0)",
            "grad f 1.0",
            "grad f 0.0",
            "if true then 1.0 else more",
            "g 1.0",
            "g 0.0",
            "g (-2.0)",
            "grad g 1.0",
            "map g [1.0, -2.0]",
            "if true then 1.0 else table[3]",
            "table[3]",
            "pick [2.0] + table[3]",
        ] {
            let mut said = |options: &Options| match session.eval_in(&scope, "it.wg", expression, options) {
                Ok(evaluated) => (show(&evaluated.value), None),
                Err(errors) => (complaints(&errors), errors.first().map(|error| error.primary.span.start)),
            };
            let expected = said(&Options::default());
            assert_eq!(said(&options), expected, "{expression} by {}", options.engine.name());
        }
    }
}

/// Arrays of other sizes are said to be so, whatever else could be done before.
#[test]
fn sizes_are_looked_at_before_what_needs_them() {
    let definitions = "def long k = build k (\\j -> real j + 0.5)\n\
        def apart k b = map2 (*) b (long k)\n\
        def around n k b = let c = long k in (c[1], iterate n (\\e -> e + fold (\\s (x, y) -> s + x * y) 0.0 (zip c b)) 0.0)\n\
        def slope k b = grad (\\b -> sum (fold (\\e i -> map2 (*) e (long k)) b (iota 2))) b\n\
        def twice n k b = let c = long k\n\
        \x20 let ys = build n (\\i -> let d = map2 (*) c b in sin (real i))\n\
        \x20 let s = build n (\\i -> fold (\\s (x, y) -> s + x * y * real i) 0.0 (zip c b))\n\
        \x20 in (sum ys, s, sum c)\n\
        def later n k b = let c = long k in build n (\\i ->\n\
        \x20 let u = round (exp (fold (\\s x -> s + x * 0.0 * real i) 0.0 c))\n\
        \x20 let p = map2 (+) c (build u (\\j -> 1.0))\n\
        \x20 let q = map2 (*) b (build u (\\j -> 1.0))\n\
        \x20 in sin (fold (\\s (x, y) -> s + x * y * real i) 0.0 (zip c b)))\n\
        def unused b = let v = map (\\y -> filter (\\z -> z < y) b) (reverse b) in sum b\n\
        def b = map sin [0.7, 2.0, 3.0]";
    let mut session = Session::new();
    let report = session.check_text("found.wg", definitions, Path::new("."));
    let scope = Scope::of_file(&report.modules);
    for (options, _) in ways("C:") {
        for expression in [
            "apart (length b + 2) b",
            "around 2 (length b + 2) b",
            "slope (length b - 1) b",
            "twice 2 (length b + 2) b",
            "later 2 (length b + 2) b",
            "unused b",
            "jvp (\\x -> map (\\y -> y * y) x) (concat b [], long 5)",
            "snd (vjp (\\x -> map sin x) (concat b [])) (long 70000)",
        ] {
            let mut said = |options: &Options| {
                let errors = session.eval_in(&scope, "it.wg", expression, options).err().unwrap_or_default();
                complaints(&errors)
            };
            let expected = said(&Options::default());
            assert!(expected.starts_with("E07"), "{expression}: {expected:?}");
            assert_eq!(said(&options), expected, "{expression} by {}", options.engine.name());
        }
    }
}

#[test]
fn a_rule_that_gives_a_function_has_no_series() {
    let definitions = "def pair x = (sin x, \\z -> z * x)\n\
        def lifted f = custom_jvp f (\\(x, t) -> jvp f (x, t))\n\
        def f x = let (a, g) = lifted pair x in a + g x\n\
        def ruled = custom_jvp pair (\\(x, t) -> (pair x, (cos x * t, \\z -> z * t)))\n\
        def g x = let (a, h) = ruled x in a + h x";
    let mut session = Session::new();
    let report = session.check_text("found.wg", definitions, Path::new("."));
    let scope = Scope::of_file(&report.modules);
    // C is made of what machine code is made of, which takes its compiler long.
    for (options, many) in [
        (strict(Engine::Ir), 4),
        (strict(Engine::Native), 4),
        (fast(Engine::Native), 4),
        (strict(Engine::C), 1),
        (fast(Engine::C), 1),
    ] {
        if options.engine.require().is_err() {
            continue;
        }
        let expressions =
            ["taylor 2 f 0.3", "(\\n -> taylor n f 0.3) 3", "taylor 1 g 0.3", "taylor 40 g 0.3"];
        for expression in expressions.into_iter().take(many) {
            let mut said = |options: &Options| match session.eval_in(&scope, "it.wg", expression, options) {
                Ok(evaluated) => show(&evaluated.value),
                Err(errors) => complaints(&errors),
            };
            let expected = said(&Options::default());
            assert!(expected.starts_with("E0724"), "{expected:?}");
            assert_eq!(said(&options), expected, "{expression} by {}", options.engine.name());
        }
    }
}

/// Rows of one array that may be the same, and elements that are a number apart which may be 0: what is added to both is added twice.
#[test]
fn rows_that_may_be_one_are_added_to_one_after_the_other() {
    let definitions = "def first_row (w : [][]Real) is = \
            fold (\\a i -> let r = a[i] in set a 0 (map2 (\\u v -> u - v * r[0]) a[0] r)) w is\n\
        def pulled is w c = let (y, b) = vjp (\\w -> first_row w is) w in b c\n\
        def sums rows = map sum rows\n\
        def long m = [build m (\\k -> 0.5 + real (mod k 7) * 0.1), build m (\\k -> 0.25)]\n\
        def mk m = build m (\\k -> 0.5 + real (mod (k * 3) 7) * 0.1)\n\
        def shifted s m p = fold (\\u t -> build m (\\i -> if i + s < m then u[i] - u[i + s] * u[s] else u[i])) p [0, 1]\n\
        def back s m p = let (y, b) = vjp (shifted s m) p in b (map cos y)\n\
        def turn s m = let (y, t) = jvp (back s m) (mk m, map sin (mk m)) in (sum y, sum t)";
    let mut programs: Vec<String> = Vec::new();
    for is in ["[0]", "[1]", "[0, 1]", "[1, 0, 0]"] {
        programs.push(format!("pulled {is} [[0.5], [0.3]] [[1.0], [2.0]]"));
        programs.push(format!(
            "jvp (\\w -> pulled {is} w w) ([[0.5, 2.0], [0.3, 1.0]], [[1.0, 0.1], [0.7, 0.2]])"
        ));
        programs.push(format!("sums (pulled {is} (long 20000) (long 20000))"));
    }
    for s in [0, 1, 3] {
        programs.push(format!("sum (back {s} 20000 (mk 20000))"));
        programs.push(format!("turn {s} 40"));
    }
    wengert_tests::parallel::check_all("programs", &programs, |it| {
        wengert_tests::everywhere::same(definitions, it)
    });
}

/// Rows of different sizes that a loop hands on and gives to nobody fail, also where other numbers need not be exact.
#[test]
fn rows_that_only_a_loop_looks_at_are_made() {
    let definitions = "def handed n (xs : []Real) = \
            let k = sum (map (\\i -> xs[0]) [0.5, 0.2, 0.3]) \
            let m = iterate n (\\m -> build 2 (\\r -> if r <= 0 then m[r] else xs)) [[0.5, 1.0], [1.5, -0.5]] in k\n\
        def folded n (xs : []Real) = \
            let k = sum (map (\\x -> x * xs[0]) xs) \
            let m = fold (\\m i -> build (length m) (\\r -> if r <= i then m[r] else xs)) [[0.5, 1.0], [1.5, -0.5]] (iota n) \
            in k * xs[1]";
    let mut programs = Vec::new();
    for n in [0, 1, 2, 4] {
        for xs in ["[0.7, 2.0]", "[0.7, 2.0, 3.0]"] {
            for f in ["handed", "folded"] {
                programs.push(format!("{f} {n} {xs}"));
                programs.push(format!("grad ({f} {n}) {xs}"));
            }
        }
    }
    wengert_tests::parallel::check_all("programs", &programs, |it| {
        wengert_tests::everywhere::same(definitions, it)
    });
}
