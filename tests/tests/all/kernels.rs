//! The programs of `bench/kernels`: the same numbers in machine code as in the interpreter, at tiny sizes, and a program by
//! hand for each.
#![expect(clippy::indexing_slicing, reason = "a test that leaves its range fails, as it should")]

use serde_json::{Value, json};
use wengert_tests::command::gradbench;
use wengert_tests::project;

/// The kernels, without what they share.
fn kernels() -> Vec<String> {
    let files = project::files("bench/kernels", "wg");
    let names =
        files.iter().filter_map(|file| file.file_stem()).map(|name| name.to_string_lossy().into_owned());
    names.filter(|name| name != "common").collect()
}

/// Two sizes, odd and even.
const SIZES: [usize; 2] = [4, 7];

/// The outputs of all kernels: of their function and its gradient at each size.
fn outputs(engine: &str) -> Vec<(String, Value)> {
    let mut calls = Vec::new();
    for kernel in kernels() {
        for size in SIZES {
            calls.extend(["primal", "gradient"].map(|function| (kernel.clone(), function, size)));
        }
    }
    let messages = calls.iter().enumerate().map(|(id, (kernel, function, size))| {
        let message =
            json!({"id": id, "kind": "evaluate", "module": kernel, "function": function, "input": size});
        format!("{message}\n")
    });
    let ran = gradbench(&["--programs", "bench/kernels", "--engine", engine], &messages.collect::<String>());
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{engine}");
    let responses: Vec<Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).expect("a response is JSON")).collect();
    assert_eq!(responses.len(), calls.len(), "{engine}: one response for each message");
    let outputs = responses.into_iter().zip(calls).map(|(response, (kernel, function, size))| {
        let call = format!("{function} of {kernel} at {size}");
        assert_eq!(response["success"], json!(true), "{engine}, {call}: {}", response["error"]);
        (call, response["output"].clone())
    });
    outputs.collect()
}

/// All numbers of an output.
fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().map_or_else(
        || value.as_f64().into_iter().collect(),
        |items| items.iter().flat_map(numbers).collect(),
    )
}

#[test]
fn every_kernel_gives_the_same_numbers_on_both_engines() {
    let (expected, others) = (outputs("interp"), outputs("native"));
    assert_eq!(expected.len(), kernels().len() * 2 * SIZES.len());
    for ((call, expected), (_, other)) in expected.iter().zip(&others) {
        let (expected, other) = (numbers(expected), numbers(other));
        assert!(!expected.is_empty() && expected.len() == other.len(), "{call}: {expected:?}, {other:?}");
        let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-11 * (1.0 + a.abs());
        assert!(expected.iter().zip(&other).all(near), "{call}: {expected:?}, {other:?}");
    }
}

#[test]
fn every_kernel_is_measured_and_written_by_hand() {
    let measured = project::read(&project::root().join("crates/gradbench/src/kernels.rs"));
    let by_hand = project::read(&project::root().join("bench/kernels/hand.cpp"));
    let names = kernels();
    assert!(names.len() >= 15, "{names:?}");
    for name in names {
        assert!(measured.contains(&format!("name: \"{name}\"")), "{name} is not measured");
        assert!(by_hand.contains(&format!("{{\"{name}\", {name}}}")), "{name} is not written by hand");
    }
}
