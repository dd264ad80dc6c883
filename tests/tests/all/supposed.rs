//! Arrays that loops hand on, which have the shape from the first iteration on that they get, or another one.

use std::fs;
use wengert_tests::command::{build_folder, wengert_in};
use wengert_tests::parallel;
use wengert_tests::text::{close, unsigned};

const DEFINITIONS: &str = "\
def weigh (xs : []Real) = sum (map2 (\\i x -> x * (1.0 + 0.1 * real i)) (iota (length xs)) xs)
def flat (rows : [][]Real) = weigh (map weigh rows)
def around (times : Int) (u0 : []Real, v0 : []Real, c : Real) =
  let n = length u0
  let step (u : []Real, v : []Real) =
    let w = build n (\\i -> v[i] + c * (u[(i + 1) % n] + u[(i + n - 1) % n] - 2.0 * u[i]))
    in (build n (\\i -> u[i] + 0.1 * w[i] * w[i]), w)
  let (u, v) = fold (\\s _ -> step s) (u0, v0) (iota times)
  in weigh u + weigh v
def three (times : Int) (a0 : []Real, b0 : []Real, c0 : []Real) =
  let n = length b0
  let step (a : []Real, b : []Real, c : []Real) =
    (build n (\\i -> 0.9 * a[i] + 0.1 * b[i] * c[i]), build n (\\i -> sin b[i] + c[n - 1 - i]), build n (\\i -> c[i] * a[i]))
  let (a, b, c) = fold (\\s _ -> step s) (a0, b0, c0) (iota times)
  in weigh a * weigh b + weigh c
def field (times : Int) (u0 : [][]Real, v0 : [][]Real) =
  let n = length u0
  let m = length u0[0]
  let lap (a : [][]Real) i j = a[(i + n - 1) % n][j] + a[(i + 1) % n][j] + a[i][(j + m - 1) % m] + a[i][(j + 1) % m] - 4.0 * a[i][j]
  let step (u : [][]Real, v : [][]Real) =
    (build n (\\i -> build m (\\j -> u[i][j] + 0.1 * lap u i j - u[i][j] * v[i][j] ^ 2)),
     build n (\\i -> build m (\\j -> v[i][j] + 0.05 * lap v i j + u[i][j] * v[i][j])))
  let (u, v) = fold (\\s _ -> step s) (u0, v0) (iota times)
  in flat u + flat v
def square (times : Int) (u0 : [][]Real, c : Real) =
  let n = length u0
  let step (u : [][]Real, v : [][]Real) =
    let lap i j = if i == 0 || j == 0 || i == n - 1 || j == n - 1 then 0.0 else u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 4.0 * u[i][j]
    let w = build n (\\i -> build n (\\j -> v[i][j] + c * lap i j))
    in (build n (\\i -> build n (\\j -> u[i][j] + w[i][j] ^ 2)), w)
  let (u, _) = fold (\\s _ -> step s) (u0, zero u0) (iota times)
  in flat u
def gradients times args = (grad (around times) args, around times args)
def of_three times args = grad (three times) args
def of_field times args = (grad (field times) args, field times args)
def of_square times args = (grad (square times) args, snd (jvp (square times) (args, args)))
def twice times (u, v, w) = hvp (\\u -> around times (u, v, 0.3)) u w
";

fn numbers(k: usize, n: usize) -> String {
    let number = |i: usize| {
        format!("{:.2}", f64::from(u32::try_from((i * k * 37 + 11) % 101).unwrap_or(0)) / 50.0 - 1.0)
    };
    format!("[{}]", (0..n).map(number).collect::<Vec<_>>().join(", "))
}

fn matrix(k: usize, n: usize, m: usize) -> String {
    format!("[{}]", (0..n).map(|i| numbers(k + i, m)).collect::<Vec<_>>().join(", "))
}

/// Entries and arguments: what is given agrees in its sizes, or not, so that something is missing or is too much.
fn calls() -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    for times in [0, 1, 4] {
        for (n, m) in [(5, 5), (5, 7), (5, 3), (1, 1), (0, 0), (17, 17)] {
            let [a, b, c] = [numbers(3, n), numbers(5, m), numbers(7, n)];
            all.push(("gradients", format!("[{times}, [{a}, {b}, 0.3]]")));
            all.push(("of_three", format!("[{times}, [{a}, {b}, {c}]]")));
            all.push(("of_three", format!("[{times}, [{b}, {a}, {c}]]")));
            all.push(("of_square", format!("[{times}, [{}, 0.2]]", matrix(3, n, m))));
            all.push(("twice", format!("[{times}, [{a}, {b}, {c}]]")));
        }
        for (n, m, h, w) in
            [(4, 5, 4, 5), (4, 5, 4, 6), (4, 5, 5, 5), (4, 5, 4, 3), (4, 5, 3, 5), (1, 2, 1, 2)]
        {
            all.push(("of_field", format!("[{times}, [{}, {}]]", matrix(3, n, m), matrix(5, h, w))));
        }
    }
    all
}

#[test]
fn loops_that_keep_the_shape_of_arrays_or_change_it_are_the_same_everywhere() {
    let folder = build_folder().join("supposed");
    fs::create_dir_all(&folder).expect("the folder for builds can be written to");
    fs::write(folder.join("loops.wg"), DEFINITIONS).expect("a file can be written there");
    let run = |engine: &[&str], entry: &str, input: &str| {
        let call = ["run", "loops.wg", "--entry", entry, "--input", input];
        unsigned(&wengert_in(&folder, &[&call, engine].concat(), "").without_note().transcript())
    };
    let calls: Vec<(usize, (&str, String))> = calls().into_iter().enumerate().collect();
    parallel::check_all("calls", &calls, |(place, (entry, input))| {
        let expected = run(&["--engine", "interp"], entry, input);
        // A compiler takes longer than all else, and compiles each entry once for the types that it is given.
        let ways: [&[&str]; 3] =
            [&["--engine", "native"], &["--engine", "native", "--strict"], &["--engine", "c"]];
        for engine in ways.iter().take(if place % 3 == 0 { 3 } else { 2 }) {
            let found = run(engine, entry, input);
            if !close(&expected, &found, 1e-9) {
                return Err(format!(
                    "{entry} {input}\nthe interpreter gives\n{expected}\n{engine:?}\n{found}"
                ));
            }
        }
        Ok(())
    });
}
