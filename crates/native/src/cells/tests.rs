//! Loops with cells, beside the evaluator of the IR.

use crate::Math;
use crate::beside::Beside;
use wengert_ir::eval::{Items, Value};

/// Each element gives to itself and takes from one that does not move.
const TEXT: &str = "func f(xs: []Real, k: Int) -> ([]Real, []Real) {
        n = length(xs)
        zs = replicate(n, 0.5)
        ws = replicate(n, 1.5)
        us, vs = for backward i < n, us += zs, vs += ws, x in xs {
            y = x * 2.0
            a = add_at(us, i, y)
            z = -y
            b = add_at(a, k, z)
            w = z * x
            c = add_at(vs, k, w)
            d = add_at(c, i, x)
            yield b, d
        }
        return us, vs
    }
    entry f = f";

fn loops(text: &str) -> crate::loops::Program {
    let program = wengert_ir::parse::parse(text).expect("the text is a program");
    assert_eq!(wengert_ir::verify::verify(&program), Ok(()));
    let mut loops = crate::lower::lower(&program);
    crate::dead::clean(&mut loops);
    crate::memory::mark(&mut loops);
    loops
}

/// How many loops are independent before, and after.
fn independent(text: &str) -> (usize, usize) {
    let count = |loops: &crate::loops::Program| crate::loops::print(loops).matches(" independent").count();
    let mut loops = loops(text);
    let before = count(&loops);
    super::gather(&mut loops);
    (before, count(&loops))
}

#[test]
fn cells_are_summed_apart() {
    let (before, after) = independent(TEXT);
    assert_eq!(after, before + 1);
    // Sums of these numbers are exact, so that their order does not matter.
    let mut beside = Beside::of_text(TEXT, &[Math::Strict, Math::Fast]);
    for size in [0_i64, 1, 2, 3, 4, 5, 7, 8, 9, 33, 100] {
        for k in [0, 1, size - 1, size, -1] {
            let xs: Vec<f64> = (0..size).map(|k| (k * 7919 % 257) as f64 * 0.125 - 16.0).collect();
            beside.agrees(&[Value::reals(xs), Value::Int(k)], format_args!("size {size}, cell {k}"));
        }
    }
}

#[test]
fn what_is_read_stays_where_it_is() {
    // An element that is looked at, or a place that moves otherwise.
    for (from, to) in
        [("yield b, d", "e = b[i] g = add_at(d, i, e) yield b, g"), ("add_at(c, i, x)", "add_at(c, j, x)")]
    {
        let text = TEXT.replace(from, to).replace("y = x * 2.0", "y = x * 2.0 j = i / 2");
        let Ok(program) = wengert_ir::parse::parse(&text) else { panic!("{text}") };
        if wengert_ir::verify::verify(&program).is_ok() {
            let (before, after) = independent(&text);
            assert_eq!(before, after, "{text}");
        }
    }
}

#[test]
fn places_along_several_axes_are_computed_before() {
    let text = "func f(xs: []Real, zs: [][]Real, k: Int, l: Int) -> ([][]Real, []Real) {
        n = length(xs)
        ws = replicate(n, 1.5)
        us, vs = for i < n, us += zs, vs += ws, x in xs {
            y = x * 2.0
            a = add_at(us, k, l, y)
            c = add_at(vs, i, x)
            yield a, c
        }
        return us, vs
    }
    entry f = f";
    let (before, after) = independent(text);
    assert_eq!(after, before + 1);
    // A place that depends on the iteration is none of those.
    let text = text.replace("add_at(us, k, l, y)", "add_at(us, i, l, y)");
    let (before, after) = independent(&text);
    assert_eq!(after, before);
    let mut beside = Beside::of_text(&text.replace("(us, i, l", "(us, k, l"), &[Math::Fast]);
    for size in [0_i64, 1, 2, 9, 40] {
        for (k, l) in [(0, 0), (1, 11), (2, 3), (0, 12), (3, 0), (-1, 0)] {
            let xs: Vec<f64> = (0..size).map(|k| (k * 7919 % 257) as f64 * 0.125).collect();
            let xs = Value::reals(xs);
            let matrix = Value::array([3, 12], Items::Reals((0..36).map(f64::from).collect()));
            let what = format_args!("size {size}, cell {k}, {l}");
            beside.agrees(&[xs, matrix, Value::Int(k), Value::Int(l)], what);
        }
    }
}

#[test]
fn where_neighbors_are_added_to_cells_are_summed_too_and_the_loop_can_be_divided() {
    let text = "func f(xs: []Real, ws: []Real, k: Int) -> ([]Real, []Real) {
        n = length(xs)
        m = n - 1
        l = max(m, 0)
        zs = zeros(xs)
        vs = zeros(ws)
        us, ts = each backward i < l, us += zs, ts += vs {
            x = xs[i] j = i + 1 y = xs[j] w = ws[k] v = ws[0]
            p = x * w q = y * v
            a = add_at(us, j, p)
            c = add_at(ts, k, q)
            b = add_at(a, i, y)
            d = add_at(c, 0, x)
            yield b, d
        }
        return us, ts
    }
    entry f = f";
    let sums = |loops: &crate::loops::Program| {
        let text = crate::loops::print(loops);
        let line = text.lines().find(|line| line.contains("backward")).map(str::to_owned);
        line.map_or(0, |line| line.matches(" r").count())
    };
    let mut loops = loops(text);
    assert_eq!(sums(&loops), 0);
    super::gather(&mut loops);
    assert_eq!(sums(&loops), 2, "{}", crate::loops::print(&loops));
    crate::neighbors::split(&mut loops, false);
    assert!(crate::loops::print(&loops).contains("512"), "{}", crate::loops::print(&loops));
    // Sums of these numbers are exact, so that their order does not matter.
    let mut beside = Beside::of_text(text, &[Math::Strict, Math::Fast]);
    for size in [0_i64, 1, 2, 3, 9, 33, 34, 100, 600] {
        for k in [0, 1, 2, -1] {
            let xs: Vec<f64> = (0..size).map(|k| (k * 7919 % 257) as f64 * 0.125 - 16.0).collect();
            let args = [Value::reals(xs), Value::reals([0.5, 2.0]), Value::Int(k)];
            beside.agrees(&args, format_args!("size {size}, cell {k}"));
        }
    }
}
