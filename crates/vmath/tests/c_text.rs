//! The C text gives the same bits as the Rust kernels, with a fused multiply-add and without, where there is a C compiler.

mod common;

use common::{Random, input};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use wengert_vmath::{C_FLAGS, Function, c_source, scalar};

const SAMPLES: usize = 30_000;

/// Numbers at which something may go wrong.
fn special() -> Vec<f64> {
    let magnitudes = [
        0.0,
        5e-324,
        1e-310,
        f64::MIN_POSITIVE,
        1e-300,
        1e-160,
        1e-20,
        1e-9,
        0.25,
        0.3465,
        0.5,
        0.75,
        1.0,
        1.5,
        2.0,
        3.0,
        20.0,
        36.7,
        40.0,
        52.0,
        700.0,
        708.4,
        709.8,
        710.5,
        745.2,
        800.0,
        1e5,
        1073741824.0,
        1073741825.0,
        1e15,
        9007199254740991.0,
        9007199254740993.0,
        1e22,
        1e100,
        1e160,
        1e300,
        f64::MAX,
        f64::INFINITY,
    ];
    magnitudes.iter().flat_map(|x| [*x, -x]).chain([f64::NAN]).collect()
}

fn inputs(function: Function) -> Vec<(f64, f64)> {
    let special = special();
    let mut pairs: Vec<(f64, f64)> = special.iter().flat_map(|x| special.iter().map(|y| (*x, *y))).collect();
    let mut random = Random::new(function as u64 + 99);
    pairs.extend((0..SAMPLES).map(|_| input(function, &mut random)));
    pairs
}

/// A program that reads pairs of doubles and writes for each function in turn its values.
fn program() -> String {
    let mut text = c_source();
    text.push_str("#include <stdio.h>\n#include <stdlib.h>\n");
    for function in Function::ALL {
        let name = function.name();
        let args = if function.arity() == 2 { "x[i], y[i]" } else { "x[i]" };
        let _ = writeln!(
            text,
            "static void apply_{name}(const double *restrict x, const double *restrict y, double *restrict z, long n) {{"
        );
        if function.has_rare_arguments() {
            let _ = writeln!(
                text,
                "    int rare = 0;\n    for (long i = 0; i < n; i++) {{ rare |= wg_{name}_rare({args}); z[i] = \
                 wg_{name}_main({args}); }}\n    if (rare)"
            );
        }
        let _ = writeln!(text, "    for (long i = 0; i < n; i++) z[i] = wg_{name}({args});\n}}");
    }
    text.push_str("int main(void) {\n    long n;\n");
    for function in Function::ALL {
        let name = function.name();
        let _ = writeln!(
            text,
            "    if (fread(&n, 8, 1, stdin) != 1) return 1;\n    {{ double *x = malloc(n * 8), *y = malloc(n * 8), *z = \
             malloc(n * 8);\n    if (fread(x, 8, n, stdin) != (size_t)n || fread(y, 8, n, stdin) != (size_t)n) return \
             1;\n    apply_{name}(x, y, z, n); fwrite(z, 8, n, stdout); }}"
        );
    }
    text.push_str("    return 0;\n}\n");
    text
}

/// The program, made with some flags; nothing where there is no C compiler.
fn compiled(directory: &Path, name: &str, flags: &[&str]) -> Option<PathBuf> {
    let (source, made) = (directory.join(format!("{name}.c")), directory.join(name));
    std::fs::write(&source, program()).expect("the directory is writable");
    let output = Command::new("cc")
        .args(["-std=gnu11", "-O3", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror"])
        .args(C_FLAGS)
        .args(flags)
        .arg("-o")
        .arg(&made)
        .arg(&source)
        .arg("-lm")
        .output()
        .ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(made)
}

fn compare(name: &str, flags: &[&str], evaluate: fn(Function, f64, f64) -> f64) {
    let directory = std::env::temp_dir().join(format!("wengert-vmath-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a temporary directory");
    let Some(made) = compiled(&directory, name, flags) else { return };
    let all: Vec<Vec<(f64, f64)>> = Function::ALL.iter().map(|function| inputs(*function)).collect();
    let mut bytes = Vec::new();
    for pairs in &all {
        bytes.extend((pairs.len() as u64).to_ne_bytes());
        bytes.extend(pairs.iter().flat_map(|(x, _)| x.to_ne_bytes()));
        bytes.extend(pairs.iter().flat_map(|(_, y)| y.to_ne_bytes()));
    }
    let mut child = Command::new(&made)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program was made");
    let mut stdin = child.stdin.take().expect("it is piped");
    let writer = std::thread::spawn(move || stdin.write_all(&bytes));
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("no panic").expect("all is read");
    std::fs::remove_dir_all(&directory).expect("it was made above");
    assert!(output.status.success());
    let mut results = output.stdout.as_chunks::<8>().0.iter().map(|bytes| f64::from_ne_bytes(*bytes));
    for (function, pairs) in Function::ALL.iter().zip(&all) {
        for (x, y) in pairs {
            let (theirs, ours) = (results.next().expect("a number for each"), evaluate(*function, *x, *y));
            // The interpreter's in Rust, the C library's in C.
            if *function == Function::Lgamma && *x < 0.0 && x.is_finite() {
                continue;
            }
            let same = ours.to_bits() == theirs.to_bits() || ours.is_nan() && theirs.is_nan();
            assert!(same, "{} {x:e} {y:e}: {ours:e} in Rust, {theirs:e} in C", function.name());
        }
    }
}

#[test]
fn the_same_bits_with_a_fused_multiply_add() {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("fma") {
        compare("fused", &["-march=native"], scalar::<true>);
    }
    #[cfg(target_arch = "aarch64")]
    compare("fused", &[], scalar::<true>);
}

#[test]
fn the_same_bits_without_one() {
    #[cfg(target_arch = "x86_64")]
    compare("plain", &[], scalar::<false>);
}

/// A chain of calls waits for every operation of every call: numbers that need no reduction do none.
#[test]
fn a_number_near_zero_needs_no_reduction() {
    let text = c_source();
    for name in ["sin", "cos", "tan"] {
        let head = format!(
            "static inline double wg_{name}(double a0) {{\n    if (wg_{name}_near(a0)) return wg_{name}_small(a0);"
        );
        assert!(text.contains(&head), "{name}");
        let (_, small) = text.split_once(&format!("double wg_{name}_small(")).expect("it is there");
        let (small, _) = small.split_once("\n}").expect("it ends");
        assert!(!small.contains("wg_remainder(a0"), "{small}");
    }
}

/// A vector computes the value of each piece and chooses; one number need not.
#[test]
fn one_number_is_computed_in_its_piece_only() {
    let text = c_source();
    for (name, branches) in [
        (
            "lgamma",
            "    if (a0 < 0x1.8p0) return wg_lgamma_piece_0(a0);\n    if (a0 < 0x1.4p1) return wg_lgamma_piece_1(a0);\n    return wg_lgamma_piece_2(a0);\n}",
        ),
        (
            "digamma",
            "    if (a0 < 0x1.8p1) return wg_digamma_piece_0(a0);\n    return wg_digamma_piece_1(a0);\n}",
        ),
    ] {
        let head = format!(
            "static inline double wg_{name}(double a0) {{\n    if (wg_{name}_rare(a0)) return wg_{name}_slow(a0);\n"
        );
        assert!(text.contains(&format!("{head}{branches}")), "{name}");
    }
}
