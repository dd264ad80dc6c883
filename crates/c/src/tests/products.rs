//! Products of matrices, of all sizes around those of tiles, for vectors of several lengths.

use super::{Math, with_options};
use wengert_ir::eval::{Items, Value};
use wengert_prim::RealOp;

/// What the compiler may use: whatever this machine has, vectors of four numbers, of two.
const MACHINES: [&[&str]; 3] = [
    &["-O3", "-fopenmp-simd", "-march=native"],
    #[cfg(target_arch = "x86_64")]
    &["-O3", "-fopenmp-simd", "-mavx2", "-mfma"],
    #[cfg(not(target_arch = "x86_64"))]
    &["-O3", "-fopenmp-simd"],
    &["-O2", "-fopenmp-simd"],
];

const SIZES: [(usize, usize, usize); 12] = [
    (1, 9, 17),
    (9, 20, 1),
    (4, 4, 9),
    (5, 9, 4),
    (8, 16, 16),
    (12, 31, 33),
    (17, 5, 15),
    (21, 300, 18),
    (40, 257, 19),
    (131, 6, 20),
    (133, 70, 45),
    (129, 17, 530),
];

/// Numbers that look random, some of them special.
fn numbers(count: usize, seed: usize, special: &[f64]) -> Vec<f64> {
    let number = |i: usize| match special.get((i * 31 + seed) % 97) {
        Some(special) => *special,
        None => ((i * 7919 + seed * 104_729) % 1009) as f64 / 64.0 - 7.0,
    };
    (0..count).map(number).collect()
}

fn matrix(items: &[f64], rows: usize, columns: usize) -> Value {
    Value::array([rows, columns], Items::Reals(items.to_vec()))
}

/// How the factors lie, and whether the last term comes first.
#[derive(Clone, Copy)]
struct Kind {
    name: &'static str,
    first: bool,
    second: bool,
    backward: bool,
}

const KINDS: [Kind; 8] = [
    Kind { name: "", first: false, second: false, backward: false },
    Kind { name: "_tn", first: true, second: false, backward: false },
    Kind { name: "_nt", first: false, second: true, backward: false },
    Kind { name: "_tt", first: true, second: true, backward: false },
    Kind { name: "_backward", first: false, second: false, backward: true },
    Kind { name: "_tn_backward", first: true, second: false, backward: true },
    Kind { name: "_nt_backward", first: false, second: true, backward: true },
    Kind { name: "_tt_backward", first: true, second: true, backward: true },
];

/// What is to come out: element by element, term by term.
fn expected(
    kind: Kind,
    start: &[f64],
    (n, m, width): (usize, usize, usize),
    (xs, ys): (&[f64], &[f64]),
) -> Vec<f64> {
    let mut out = start.to_vec();
    for (at, sum) in out.iter_mut().enumerate() {
        let (i, j) = (at / width, at % width);
        for l in 0..m {
            let k = if kind.backward { m - 1 - l } else { l };
            let x = if kind.first { xs[k * n + i] } else { xs[i * m + k] };
            let y = if kind.second { ys[j * m + k] } else { ys[k * width + j] };
            *sum += RealOp::MulZero.eval2(x, y);
        }
    }
    out
}

/// A function that does the product of the kind whose number it is given.
fn program() -> String {
    let head = "func f(n: Int, a: [][]Real, x: [][]Real, y: [][]Real) -> [][]Real {";
    let choose = |(number, kind): (usize, &Kind)| {
        let name = kind.name;
        format!(
            "c{number} = n == {number} b{number} = if c{number} {{ p{number} = add_product{name}(a, x, y) yield p{number} }} else {{ "
        )
    };
    let opened: String = KINDS.iter().enumerate().map(choose).collect();
    let close = |number: usize| format!("yield b{} }} ", number + 1);
    let closed: String = (0..KINDS.len() - 1).rev().map(close).collect();
    format!("{head} {opened} yield a }} {closed} return b0 }} entry f = f")
}

fn each_case(math: Math, special: &[f64], same: impl Fn(f64, f64) -> bool) {
    for machine in MACHINES {
        let Some((mut library, entry)) = with_options(&program(), math, machine) else { return };
        let cases = KINDS.iter().enumerate().flat_map(|kind| SIZES.map(|size| (kind, size)));
        for ((number, kind), (n, m, width)) in cases {
            let start = numbers(n * width, 1, &[]);
            let (xs, ys) = (numbers(n * m, 2, special), numbers(m * width, 3, special));
            let x = if kind.first { matrix(&xs, m, n) } else { matrix(&xs, n, m) };
            let y = if kind.second { matrix(&ys, width, m) } else { matrix(&ys, m, width) };
            let number = Value::Int(i64::try_from(number).expect("few"));
            let given = library.call(entry, &[number, matrix(&start, n, width), x, y]).expect("it runs");
            let Some(Value::Array(given)) = given.first() else { panic!("it is a matrix") };
            let Items::Reals(given) = given.items() else { panic!("of reals") };
            let expected = expected(*kind, &start, (n, m, width), (&xs, &ys));
            let all =
                given.len() == expected.len() && expected.iter().zip(given.iter()).all(|(a, b)| same(*a, *b));
            assert!(all, "{} {n} {m} {width} {machine:?}", kind.name);
        }
    }
}

/// The same bits, but for which of the things that are no numbers it is.
fn same(a: f64, b: f64) -> bool {
    a == b || a.is_nan() && b.is_nan()
}

#[test]
fn each_element_has_its_terms_in_order() {
    each_case(Math::Host, &[0.0, f64::INFINITY, -0.0, f64::NAN, 0.0], same);
}

#[test]
fn where_sums_need_not_be_exact_they_are_near() {
    each_case(Math::Library, &[0.0], |a, b| (a - b).abs() <= 1e-9 * (1.0 + a.abs() + b.abs()));
}

#[test]
fn a_zero_factor_lets_no_infinity_through_there_either() {
    let alike = |a: f64, b: f64| a.is_nan() == b.is_nan() && (a.is_finite() == b.is_finite());
    each_case(Math::Library, &[0.0, f64::INFINITY, -0.0, f64::NAN, 0.0], alike);
}
