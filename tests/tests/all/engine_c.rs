//! The engine `c`: what the C compiler makes gives what the interpreter gives, is made once, and can be called from C.
//!
//! Without a C compiler on the machine these tests say so and pass: then the engine says what to install, which
//! `tests/errors/E0822-no-engine.wg` shows.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use wengert_tests::command::{Ran, build_folder, shell_in};
use wengert_tests::goldens::{mode, try_program};
use wengert_tests::text::{close, unsigned};
use wengert_tests::{parallel, project};

/// Whether there is a C compiler.
#[expect(clippy::print_stderr, reason = "whoever runs the tests is told that these test nothing")]
pub(crate) fn has_compiler() -> bool {
    let found = ["cc", "gcc", "clang"].iter().any(|cc| Command::new(cc).arg("--version").output().is_ok());
    if !found {
        eprintln!("there is no C compiler on this machine: nothing is tested");
    }
    found
}

/// A new empty folder.
pub(crate) fn folder(name: &str) -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("wengert-{name}-{}-{number}", std::process::id()));
    fs::create_dir_all(&folder).expect("there is room");
    folder
}

/// Runs a line of shell in the project's root; libraries are kept in the build folder.
fn shell(line: &str) -> Ran {
    let cache = build_folder().join("libraries");
    shell_in(project::root(), &format!("export WENGERT_CACHE='{}'; {line}", cache.display()))
}

/// The library's own tests are a program so long that a C compiler takes a minute for it.
const LEFT_OUT: &[&str] = &["checked_library"];

/// The C compiler is slow: one of so many examples is run in strict mode, too.
const STRICT_IN_TURN: usize = 3;

fn examples() -> Vec<PathBuf> {
    let mut examples = project::files("examples", "wg");
    examples.retain(|path| !LEFT_OUT.iter().any(|name| path.to_string_lossy().contains(name)));
    examples
}

#[test]
fn examples_give_the_same_to_the_last_bit() {
    if !has_compiler() {
        return;
    }
    let examples: Vec<PathBuf> = examples().into_iter().step_by(STRICT_IN_TURN).collect();
    parallel::check_all("examples", &examples, |path| {
        let name = project::relative(path);
        let expected = unsigned(&shell(&format!("wengert run {name} --engine interp")).transcript());
        let found = unsigned(&shell(&format!("wengert run {name} --engine c --strict")).transcript());
        if expected == found { Ok(()) } else { Err(format!("{name} gives\n{found}instead of\n{expected}")) }
    });
}

#[test]
fn examples_give_the_same_but_for_rounding() {
    if !has_compiler() {
        return;
    }
    let examples = examples();
    parallel::check_all("examples", &examples, |path| {
        let name = project::relative(path);
        let expected = unsigned(&shell(&format!("wengert run {name} --engine interp")).transcript());
        let found =
            unsigned(&shell(&format!("env -u WENGERT_STRICT wengert run {name} --engine c")).transcript());
        let same = close(&expected, &found, 1e-6);
        if same { Ok(()) } else { Err(format!("{name} gives\n{found}instead of\n{expected}")) }
    });
}

#[test]
fn programs_that_fail_fail_in_the_same_words_at_the_same_place() {
    if !has_compiler() {
        return;
    }
    // Faults of arithmetic and arrays; the others are the compiler's own, or about limits of the interpreter.
    let wanted = ["E0701", "E0702", "E0703", "E0704", "E0705", "E0706", "E0707", "E0708", "E0709", "E0712"];
    let runs = |path: &PathBuf| {
        let mode = mode(path).unwrap_or_default();
        (mode.starts_with("eval") || mode.starts_with("run"))
            && wanted.iter().any(|code| path.to_string_lossy().contains(code))
    };
    let programs: Vec<PathBuf> = project::files("tests/errors", "wg").into_iter().filter(runs).collect();
    assert!(programs.len() > 5, "{programs:?}");
    parallel::check_all("wrong programs", &programs, |path| {
        let by = |options: &[&str]| try_program(path, options).map(|ran| ran.transcript());
        let (expected, found) = (by(&["--engine", "interp"]), by(&["--engine", "c"]));
        let name = project::relative(path);
        if expected == found { Ok(()) } else { Err(format!("{name}: {found:?}\ninstead of {expected:?}")) }
    });
}

/// A folder with a program, and a compiler that notes each call in the file `calls`.
fn counted() -> PathBuf {
    let folder = folder("counted");
    fs::write(folder.join("cc"), "#!/bin/sh\necho call >> \"$(dirname \"$0\")/calls\"\nexec cc \"$@\"\n")
        .expect("there is room");
    shell_in(&folder, "chmod +x cc");
    folder
}

fn calls(folder: &Path) -> usize {
    fs::read_to_string(folder.join("calls")).map_or(0, |text| text.lines().count())
}

const TWICE: &str =
    r"CC=./cc WENGERT_CACHE=./cache wengert eval 'sum (map (\x -> 2.0 * x) [1.0, 2.0])' --engine c";

#[test]
fn a_program_is_compiled_once() {
    if !has_compiler() {
        return;
    }
    let folder = counted();
    for _ in 0..3 {
        assert_eq!(shell_in(&folder, TWICE).transcript(), "[stdout]\n6.0\n[exit status 0]\n");
        assert_eq!(calls(&folder), 1, "a program that was compiled before is compiled again");
    }
    assert_eq!(shell_in(&folder, &TWICE.replace("2.0 * x", "3.0 * x")).value().as_deref(), Ok("9.0"));
    assert_eq!(calls(&folder), 2, "another program is compiled");
    assert_eq!(shell_in(&folder, &format!("{TWICE} --strict")).value().as_deref(), Ok("6.0"));
    assert_eq!(calls(&folder), 3, "other options make another library");
    let _ = fs::remove_dir_all(folder);
}

#[test]
fn what_is_broken_in_the_cache_is_made_anew() {
    if !has_compiler() {
        return;
    }
    let folder = counted();
    let libraries = || {
        let files = fs::read_dir(folder.join("cache")).expect("the cache is there").flatten();
        files
            .map(|file| file.path())
            .filter(|path| path.extension().is_some_and(|e| e == "so"))
            .collect::<Vec<_>>()
    };
    assert_eq!(shell_in(&folder, TWICE).value().as_deref(), Ok("6.0"));
    let broken: [&dyn Fn(&Path); 3] = [
        &|path| fs::write(path, "no library").expect("it is a file"),
        &|path| {
            let mut bytes = fs::read(path).expect("it is a file");
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            fs::write(path, bytes).expect("it is a file");
        },
        &|path| fs::remove_file(path.with_extension("c")).expect("the text lies beside it"),
    ];
    for (number, damage) in (2..).zip(broken) {
        libraries().iter().for_each(|path| damage(path));
        assert_eq!(shell_in(&folder, TWICE).value().as_deref(), Ok("6.0"));
        assert_eq!(calls(&folder), number);
    }
    let many: Vec<usize> = (0..8).collect();
    let _ = fs::remove_dir_all(folder.join("cache"));
    parallel::check_all("programs at once", &many, |_| shell_in(&folder, TWICE).value().map(|_| ()));
    assert_eq!(libraries().len(), 1, "what is unfinished does not stay");
    // A cache where nothing can be written does no harm.
    let line = TWICE.replace("./cache", "/dev/null/cache");
    assert_eq!(shell_in(&folder, &line).value().as_deref(), Ok("6.0"));
    let _ = fs::remove_dir_all(folder);
}

const LIBRARY: &str = "\
def loss : []Real -> Real -> Real = \\xs rate -> sum (map (\\x -> (rate * x) ^ 2) xs) + xs[2]
def mixed : (Bool, [][]Real) -> String -> (Int, {big : []Real, text : String}) =
  \\(up, rows) name -> let row = rows[if up then 1 else 0] in (length row, {big = map (\\x -> 2.0 * x) row, text = name ++ \"!\"})
def deep : Int -> Real = \\n -> if n == 0 then 0.0 else 1.0 + deep (n - 1)
type Held = Held (Real -> Real)
def steep : Real -> Real = \\x -> let (Held f) = iterate (truncate x) derivative (\\a -> Held (\\b -> a ^ 5 * b)) x in f 3.0
def parts : [](Real, Int) -> [](Real, [](Int, Real)) -> Real =
  \\pairs rows -> sum (map (\\(x, n) -> x ^ n) pairs) + sum (map (\\(x, row) -> sum (map (\\(n, y) -> real n * x * y) row)) rows)
def odd : Real -> Real = \\x -> grad (custom_jvp (\\y -> y) (\\(y, t) -> (y, t * t))) x
";

const PROGRAM: &str = r#"
#include "loss.h"
#include "mixed.h"
#include "deep.h"
#include "steep.h"
#include "parts.h"
#include "odd.h"
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    double data[] = {1, 2, 3}, toward[] = {1, 0, 0}, value, slope, rate;
    wengert_reals_1 xs = {data, {3}}, direction = {toward, {3}}, gradient;
    loss_run *run = loss_open((uint64_t)1 << 26);
    for (int i = 0; i < 1000; i++) {
        if (loss_vjp(run, xs, 0.5, 1.0, &value, &gradient, &rate)) return 1;
        if (i < 999) free(gradient.data);
    }
    printf("%g [%g %g %g] %g\n", value, gradient.data[0], gradient.data[1], gradient.data[2], rate);
    free(gradient.data);
    if (loss_jvp(run, xs, 0.5, direction, 0.0, &value, &slope)) return 2;
    printf("%g %g\n", value, slope);
    xs.size[0] = 2;
    printf("%d %s\n", loss(run, xs, 0.5, &value), loss_message(run));
    xs.size[0] = 3;
    printf("%d %g\n", loss(run, xs, 0.5, &value), value);
    loss_close(run);

    mixed_run *other = mixed_open((uint64_t)1 << 26);
    double matrix[] = {1, 2, 3, 4, 5, 6};
    int64_t count;
    wengert_reals_1 row;
    char *text;
    if (mixed(other, true, (wengert_reals_2){matrix, {2, 3}}, "name", &count, &row, &text)) return 3;
    printf("%d %g %g %s\n", (int)count, row.data[0], row.data[2], text);
    free(row.data);
    free(text);
    mixed_close(other);

    deep_run *third = deep_open((uint64_t)1 << 30);
    printf("%d", deep(third, 1000000, &value));
    printf(" %g\n", value);
    printf("%d %s\n", deep(third, 1000000000, &value), deep_message(third));
    deep_close(third);
    steep_run *fourth = steep_open((uint64_t)1 << 26);
    for (int times = 0; times < 5; times++) {
        if (steep(fourth, times + 0.5, &value)) return 3;
        printf("%g%c", value, times < 4 ? ' ' : '\n');
    }
    steep_close(fourth);

    parts_run *last = parts_open((uint64_t)1 << 26);
    int64_t powers[] = {2, 3}, times[] = {1, 2, 3, 4, 5, 6};
    wengert_reals_1 bases = {data, {2}}, factors = {toward, {2}}, base_bar, factor_bar;
    wengert_ints_1 exponents = {powers, {2}}, exponent_bar;
    wengert_ints_2 counts = {times, {2, 3}}, count_bar;
    wengert_reals_2 others = {matrix, {2, 3}}, other_bar;
    printf("%d", parts(last, bases, exponents, factors, counts, others, &value));
    printf(" %g\n", value);
    exponents.size[0] = 1;
    printf("%d %s\n", parts(last, bases, exponents, factors, counts, others, &value), parts_message(last));
    exponents.size[0] = 2;
    others.size[0] = 1;
    printf("%d %s\n", parts(last, bases, exponents, factors, counts, others, &value), parts_message(last));
    others = (wengert_reals_2){matrix, {2, 2}};
    printf("%d %s\n", parts_vjp(last, bases, exponents, factors, counts, others, 1.0, &value, &base_bar, &exponent_bar,
                                &factor_bar, &count_bar, &other_bar), parts_message(last));
    parts_close(last);

    odd_run *never = odd_open((uint64_t)1 << 26);
    printf("%d %s\n", odd(never, 0.5, &value), odd_message(never));
    odd_close(never);
    return 0;
}
"#;

const OUTPUT: &str = "\
6.5 [0.5 1 2.5] 14
6.5 0.5
1 loss.wg:1:87: index 2 is out of range: the array has 2 elements
0 6.5
3 8 12 name!
0 1e+06
1 loss.wg:4:62: out of memory
0.09375 75.9375 937.5 2205 1620
0 23
1 `pairs` has 2 elements, but `pairs_2`, which is of the same array, has 1
1 `rows` has 2 elements, but `rows_3`, which is of the same array, has 1
1 `rows_2` has 3 elements, but `rows_3`, which is of the same array, has 2
1 loss.wg:9:5: a rule of `custom_jvp` or `custom_vjp` is not linear
";

#[test]
fn a_c_program_calls_a_library() {
    if !has_compiler() {
        return;
    }
    let folder = folder("library");
    for (name, text) in [("loss.wg", LIBRARY), ("program.c", PROGRAM)] {
        fs::write(folder.join(name), text).expect("there is room");
    }
    let line = "wengert build loss.wg --entry loss -o out --jvp --vjp && wengert build loss.wg --entry mixed -o out \
                && wengert build loss.wg --entry parts -o out --vjp && wengert build loss.wg --entry steep -o out \
                && wengert build loss.wg --entry odd -o out && wengert build loss.wg --entry deep -o out \
                && cc -Wall -Wextra -Werror -Iout program.c -o program -Lout -lloss -lmixed -ldeep -lsteep -lparts -lodd -Wl,-rpath,$PWD/out \
                && ./program";
    let ran = shell_in(&folder, line);
    let program = ran.stdout.split_once("out/deep.c\n").map(|(_, program)| program);
    assert_eq!(program, Some(OUTPUT), "{}", ran.transcript());
    let _ = fs::remove_dir_all(folder);
}
