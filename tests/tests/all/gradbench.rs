//! The programs of `bench/gradbench/` and the tool that runs them: derivatives against differences of the tool's own
//! primal functions and against formulas, on every engine, through the protocol.
#![expect(clippy::indexing_slicing, reason = "a test that leaves its range fails, as it should")]

use serde_json::{Value, json};
use wengert_tests::command::{gradbench, wengert};
use wengert_tests::project;

/// All engines that this machine has.
fn engines() -> Vec<&'static str> {
    let mut engines = vec!["interp", "native"];
    if wengert(&["eval", "1", "--engine", "c"]).status == 0 {
        engines.push("c");
    }
    engines
}

/// The responses to messages.
fn responses(engine: &str, messages: &[String]) -> Vec<Value> {
    let input: String = messages.iter().map(|message| format!("{message}\n")).collect();
    let ran = gradbench(&["--engine", engine], &input);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{engine}");
    let responses: Vec<Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).expect("a response is JSON")).collect();
    assert_eq!(responses.len(), messages.len(), "{engine}: one response for each message");
    responses
}

/// The outputs of a module's functions at inputs.
fn outputs(engine: &str, module: &str, calls: &[(&str, Value)]) -> Vec<Value> {
    let define = json!({"id": 0, "kind": "define", "module": module}).to_string();
    let calls = calls.iter().enumerate().map(|(place, (function, input))| {
        json!({"id": place + 1, "kind": "evaluate", "module": module, "function": function, "input": input})
            .to_string()
    });
    let messages: Vec<String> = std::iter::once(define).chain(calls).collect();
    let mut responses = responses(engine, &messages).into_iter();
    assert_eq!(responses.next().map(|defined| defined["success"].clone()), Some(json!(true)), "{module}");
    responses
        .map(|response| {
            assert_eq!(response["success"], json!(true), "{engine}, {module}: {}", response["error"]);
            response["output"].clone()
        })
        .collect()
}

/// All numbers of a value, in order.
fn numbers(value: &Value) -> Vec<f64> {
    if let Some(items) = value.as_array() {
        items.iter().flat_map(numbers).collect()
    } else if let Some(fields) = value.as_object() {
        fields.values().flat_map(numbers).collect()
    } else {
        value.as_f64().into_iter().collect()
    }
}

/// The number at a path of a value.
fn at<'v>(value: &'v mut Value, path: &[&str]) -> &'v mut Value {
    path.iter().fold(value, |value, key| match key.parse::<usize>() {
        Ok(place) => &mut value[place],
        Err(_) => &mut value[*key],
    })
}

/// The paths of all numbers below a path.
fn leaves(value: &Value, path: &str) -> Vec<String> {
    match value.as_array() {
        Some(items) => {
            let below = items.iter().enumerate();
            below.flat_map(|(place, item)| leaves(item, &format!("{path} {place}"))).collect()
        }
        None => vec![path.to_string()],
    }
}

/// Numbers that look random, between 0 and 1.
struct Draw(u64);

impl Draw {
    fn number(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / (1u64 << 24) as f64
    }

    fn row(&mut self, n: usize) -> Value {
        (0..n).map(|_| self.number()).collect()
    }

    fn table(&mut self, m: usize, n: usize) -> Value {
        (0..m).map(|_| self.row(n)).collect()
    }
}

/// Rows of the Jacobian of the numbers of `primal` with respect to the numbers at these paths, by differences: a row for
/// each of the latter.
fn differences(engine: &str, module: &str, primal: &str, input: &Value, paths: &[String]) -> Vec<Vec<f64>> {
    let step = 1e-6;
    let mut calls = Vec::new();
    for path in paths {
        let path: Vec<&str> = path.split(' ').collect();
        for change in [step, -step] {
            let mut moved = input.clone();
            let place = at(&mut moved, &path);
            *place = json!(place.as_f64().expect("a number") + change);
            calls.push((primal, moved));
        }
    }
    let results = outputs(engine, module, &calls);
    let difference = |pair: &[Value]| {
        let (up, down) = (numbers(&pair[0]), numbers(&pair[1]));
        up.iter().zip(&down).map(|(up, down)| (up - down) / (2.0 * step)).collect()
    };
    results.chunks(2).map(difference).collect()
}

fn assert_near(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (found, expected) in found.iter().zip(expected) {
        let error = (found - expected).abs() / (1.0 + found.abs() + expected.abs());
        assert!(error < 1e-5, "{what}: {found} instead of {expected}");
    }
}

/// The gradient of a module's scalar function, or of the last number of its result.
fn gradient_is_right(module: &str, primal: &str, gradient: &str, input: &Value, fields: &[&str]) {
    for engine in engines() {
        let paths: Vec<String> = fields.iter().flat_map(|field| leaves(&input[*field], field)).collect();
        let rows = differences(engine, module, primal, input, &paths);
        let expected: Vec<f64> = rows.iter().map(|row| row[row.len() - 1]).collect();
        let output = &outputs(engine, module, &[(gradient, input.clone())])[0];
        let found: Vec<f64> = match output.is_object() {
            true => fields.iter().flat_map(|field| numbers(&output[*field])).collect(),
            false => numbers(output),
        };
        assert_near(&found, &expected, &format!("{engine}, {module}"));
    }
}

#[test]
fn the_programs_check_and_are_formatted() {
    let programs = project::files("bench/gradbench", "wg");
    assert_eq!(programs.len(), 13, "twelve evals, and the descent that two of them share");
    for program in programs {
        let name = project::relative(&program);
        assert!(project::read(&program).starts_with("-- "), "{name} explains itself");
        for arguments in [["check", &name].as_slice(), &["fmt", "--check", &name]] {
            let ran = wengert(arguments);
            assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{arguments:?}");
        }
    }
}

#[test]
fn hello() {
    for engine in engines() {
        let found = outputs(engine, "hello", &[("square", json!(3.0)), ("double", json!(3))]);
        assert_eq!(found, [json!(9.0), json!(6.0)], "{engine}");
    }
}

#[test]
fn lse() {
    gradient_is_right("lse", "primal", "gradient", &json!({"x": Draw(1).row(7)}), &["x"]);
}

#[test]
fn llsq() {
    gradient_is_right("llsq", "primal", "gradient", &json!({"x": Draw(2).row(5), "n": 9}), &["x"]);
}

#[test]
fn ode() {
    gradient_is_right("ode", "primal", "gradient", &json!({"x": Draw(3).row(6), "s": 4}), &["x"]);
}

#[test]
fn det() {
    gradient_is_right("det", "primal", "gradient", &json!({"A": Draw(4).row(16), "ell": 4}), &["A"]);
    for engine in engines() {
        let singular = json!({"A": [1, 2, 3, 4, 5, 6, 7, 8, 9], "ell": 3});
        let found = outputs(engine, "det", &[("primal", singular.clone()), ("gradient", singular)]);
        assert_eq!(found, [json!(0.0), json!([-3.0, 6.0, -3.0, 6.0, -12.0, 6.0, -3.0, 6.0, -3.0])]);
    }
}

#[test]
fn gmm() {
    let mut draw = Draw(5);
    for (d, k, n, m, gamma) in [(1, 1, 2, 0, 1.0), (3, 2, 4, 2, 0.7)] {
        let input = json!({
            "d": d, "k": k, "n": n, "x": draw.table(n, d), "m": m, "gamma": gamma, "alpha": draw.row(k),
            "mu": draw.table(k, d), "q": draw.table(k, d), "l": draw.table(k, d * (d - 1) / 2),
        });
        gradient_is_right("gmm", "objective", "jacobian", &input, &["alpha", "mu", "q", "l"]);
    }
    // One point, one component of one dimension: a normal density with a prior that is a gamma distribution.
    let input = json!({
        "d": 1, "k": 1, "n": 1, "x": [[0.5]], "m": 0, "gamma": 1.0, "alpha": [0.3], "mu": [[0.0]], "q": [[0.2]],
        "l": [[]],
    });
    let precision = 0.2f64.exp();
    let likelihood = 0.2 - 0.5 * (2.0 * std::f64::consts::PI).ln() - 0.5 * (0.5 * precision).powi(2);
    let prior = -0.5 * precision.powi(2) - 2f64.ln();
    for engine in engines() {
        let found = outputs(engine, "gmm", &[("objective", input.clone())]);
        assert_near(&numbers(&found[0]), &[likelihood + prior], engine);
    }
}

#[test]
fn lstm() {
    let mut draw = Draw(6);
    let input = json!({
        "main_params": draw.table(4, 12), "extra_params": draw.table(3, 3), "state": draw.table(4, 3),
        "sequence": [[0, 1, 0], [1, 1, 0], [0, 0, 1], [1, 0, 1]],
    });
    gradient_is_right("lstm", "objective", "jacobian", &input, &["main_params", "extra_params"]);
}

/// The direction is that to the mean of the points that a centroid serves, from it.
#[test]
fn kmeans() {
    let input = json!({"points": [[0, 0], [1, 0], [0, 2], [9, 9], [8, 10]], "centroids": [[1, 1], [10, 8]]});
    for engine in engines() {
        let found = outputs(engine, "kmeans", &[("cost", input.clone()), ("dir", input.clone())]);
        assert_near(&numbers(&found[0]), &[2.0 + 1.0 + 2.0 + 2.0 + 8.0], engine);
        let expected = [1.0 - 1.0 / 3.0, 1.0 - 2.0 / 3.0, 10.0 - 8.5, 8.0 - 9.5];
        assert_near(&numbers(&found[1]), &expected, engine);
    }
}

#[test]
fn ba() {
    let mut draw = Draw(7);
    let mut input = json!({
        "n": 1, "m": 1, "p": 1, "cam": draw.row(11), "x": draw.row(3), "w": 0.4, "feat": draw.row(2),
    });
    for turned in [true, false] {
        if !turned {
            for place in 0..3 {
                input["cam"][place] = json!(0.0);
            }
        }
        // Without a rotation the function is not smooth in the rotation, and its value there is a formula of its own.
        let skipped = if turned { 0 } else { 3 };
        let paths: Vec<String> =
            ["cam", "x", "w"].iter().flat_map(|field| leaves(&input[*field], field)).collect();
        for engine in engines() {
            let rows = differences(engine, "ba", "objective", &input, &paths[skipped..]);
            let output = &outputs(engine, "ba", &[("jacobian", input.clone())])[0];
            let values = numbers(&output["vals"]);
            for error in 0..2 {
                let expected: Vec<f64> = rows.iter().map(|row| row[error]).collect();
                assert_near(&values[15 * error + skipped..15 * (error + 1)], &expected, engine);
            }
            assert_near(&values[30..], &[-0.8], engine);
        }
    }
    let input = json!({
        "n": 2, "m": 3, "p": 11, "cam": draw.row(11), "x": draw.row(3), "w": 0.4, "feat": draw.row(2),
    });
    for engine in engines() {
        let found = &outputs(engine, "ba", &[("jacobian", input.clone())])[0];
        let columns: Vec<usize> = (0..11).chain(22..25).chain([31]).collect();
        let columns: Vec<usize> = columns.iter().chain(&columns).chain([&41]).copied().collect();
        assert_eq!(found["cols"], json!(columns), "{engine}");
        let rows: Vec<usize> =
            (0..22).map(|row| 15 * row).chain((0..8).map(|row| 330 + row)).chain([341]).collect();
        assert_eq!(found["rows"], json!(rows), "{engine}");
    }
}

/// A hand of four bones and three points.
fn hand(draw: &mut Draw, in_triangles: bool) -> Value {
    let bones = 4;
    let matrices = |draw: &mut Draw| -> Value { (0..bones).map(|_| draw.table(4, 4)).collect() };
    json!({
        "theta": draw.row(26),
        "data": {
            "model": {
                "bone_count": bones, "bone_names": ["a", "b", "c", "d"], "parents": [-1, 0, 1, 2],
                "base_relatives": matrices(draw), "inverse_base_absolutes": matrices(draw),
                "base_positions": draw.table(5, 4), "weights": draw.table(5, bones),
                "triangles": [[0, 1, 2], [2, 3, 4]], "is_mirrored": in_triangles,
            },
            "correspondences": if in_triangles { [1, 0, 1] } else { [4, 0, 2] },
            "points": draw.table(3, 3),
        },
        "us": if in_triangles { draw.table(3, 2) } else { json!([]) },
    })
}

#[test]
fn ht() {
    let mut draw = Draw(8);
    for in_triangles in [false, true] {
        let input = hand(&mut draw, in_triangles);
        let paths = leaves(&input["theta"], "theta");
        let of_us = |column: usize| (0..3).map(|point| format!("us {point} {column}")).collect::<Vec<_>>();
        for engine in engines() {
            let mut columns = differences(engine, "ht", "objective", &input, &paths);
            if in_triangles {
                // One column for all: what each error owes to its own.
                for column in [1, 0] {
                    let rows = differences(engine, "ht", "objective", &input, &of_us(column));
                    columns.insert(0, (0..9).map(|error| rows[error / 3][error]).collect());
                }
            }
            let expected: Vec<f64> =
                (0..9).flat_map(|error| columns.iter().map(move |column| column[error])).collect();
            let found = &outputs(engine, "ht", &[("jacobian", input.clone())])[0];
            assert_eq!(found.as_array().map(Vec::len), Some(9));
            assert_near(&numbers(found), &expected, engine);
        }
    }
}

#[test]
fn particle_and_saddle() {
    for engine in engines() {
        for modes in ["rr", "rf", "fr", "ff"] {
            let found = outputs(engine, "particle", &[(modes, json!({"w": 0.0}))]);
            assert_near(&numbers(&found[0]), &[0.207_191_874_648_611_6], &format!("{engine} {modes}"));
            let found = outputs(engine, "saddle", &[(modes, json!({"start": [1.0, 1.0]}))]);
            assert_near(&numbers(&found[0]), &[8.246e-6; 4], &format!("{engine} {modes}"));
        }
    }
}

/// A failure has a text, whatever was wrong, and the session goes on.
#[test]
fn bad_messages_are_answered() {
    let evaluate = |module: &str, function: &str, input: &str| {
        format!(
            "{{\"id\": 7, \"kind\": \"evaluate\", \"module\": {module}, \"function\": {function}, \"input\": {input}}}"
        )
    };
    let bad = [
        "no JSON".to_string(),
        "[1]".to_string(),
        "{\"id\": 7, \"kind\": \"define\"}".to_string(),
        "{\"id\": 7, \"kind\": \"define\", \"module\": 3}".to_string(),
        "{\"id\": 7, \"kind\": \"define\", \"module\": \"nothing\"}".to_string(),
        "{\"id\": 7, \"kind\": \"define\", \"module\": \"../gradbench/hello\"}".to_string(),
        "{\"id\": 7, \"kind\": \"evaluate\", \"module\": \"hello\"}".to_string(),
        evaluate("\"nothing\"", "\"square\"", "1"),
        evaluate("\"hello\"", "\"nothing\"", "1"),
        evaluate("\"hello\"", "\"square\"", "\"text\""),
        evaluate("\"hello\"", "\"square\"", "{\"min_runs\": 3}"),
        evaluate("\"lse\"", "\"primal\"", "{\"x\": [1], \"min_runs\": \"three\"}"),
        evaluate("\"lse\"", "\"primal\"", "{\"x\": [1], \"min_seconds\": -1}"),
        evaluate("\"lse\"", "\"primal\"", "{\"x\": 1}"),
        evaluate("\"lse\"", "\"primal\"", "{\"x\": [1], \"y\": 2}"),
        evaluate("\"lse\"", "\"primal\"", "{\"x\": []}"),
        evaluate("\"det\"", "\"primal\"", "{\"A\": [1, 2, 3], \"ell\": 2}"),
        evaluate("\"kmeans\"", "\"cost\"", "{\"points\": [[1, 2]], \"centroids\": [[1]]}"),
    ];
    for engine in engines() {
        let mut messages = Vec::new();
        for message in &bad {
            messages.push(message.clone());
            messages.push(evaluate("\"hello\"", "\"square\"", "3.0"));
        }
        let found = responses(engine, &messages);
        for (message, pair) in messages.chunks(2).zip(found.chunks(2)) {
            let (refused, next) = (&pair[0], &pair[1]);
            assert_eq!(refused["success"], json!(false), "{engine}: {message:?}");
            let error = refused["error"].as_str().expect("there is a text");
            assert!(!error.is_empty() && !error.contains("crash") && !error.contains("E0000"), "{error}");
            assert_eq!(next["output"], json!(9.0), "{engine}: after {message:?}");
        }
    }
}

#[test]
fn messages_without_a_question_are_acknowledged() {
    let messages = [
        json!({"id": 0, "kind": "start", "eval": "hello"}),
        json!({"id": 1, "kind": "analysis", "of": 0, "valid": true}),
        json!({"id": "last", "kind": "end"}),
    ];
    let messages: Vec<String> = messages.iter().map(ToString::to_string).collect();
    let found = responses("native", &messages);
    assert_eq!(found[0]["tool"], json!("wengert"));
    assert_eq!(found[1], json!({"id": 1}));
    assert_eq!(found[2], json!({"id": "last"}));
}

/// As many timings as asked for, and a program is compiled once whatever the sizes of its inputs.
#[test]
fn a_function_is_compiled_once_and_run_as_often_as_asked() {
    let evaluate = |x: Value, runs: u64, seconds: f64| {
        json!({
            "id": 1, "kind": "evaluate", "module": "lse", "function": "gradient",
            "input": {"x": x, "min_runs": runs, "min_seconds": seconds},
        })
        .to_string()
    };
    let messages = [
        evaluate(json!([0.0, 0.0]), 5, 0.0),
        evaluate(json!([1, 1, 1]), 0, 0.0),
        evaluate(json!([1]), 2, 0.02),
    ];
    for engine in engines() {
        let found = responses(engine, &messages);
        let named = |response: &Value, name: &str| -> Vec<u64> {
            let timings = response["timings"].as_array().expect("there are timings").iter();
            timings
                .filter(|timing| timing["name"] == json!(name))
                .filter_map(|timing| timing["nanoseconds"].as_u64())
                .collect()
        };
        assert_eq!(found[0]["output"], json!([0.5, 0.5]));
        let counts: Vec<usize> = found.iter().map(|response| named(response, "compile").len()).collect();
        assert_eq!(counts, [1, 0, 0], "{engine}");
        assert_eq!(named(&found[0], "evaluate").len(), 5, "{engine}");
        assert_eq!(named(&found[1], "evaluate").len(), 1, "{engine}");
        let times = named(&found[2], "evaluate");
        assert!(times.len() >= 2 && times.iter().sum::<u64>() >= 20_000_000, "{engine}: {}", times.len());
    }
}
