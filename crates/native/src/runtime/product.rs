//! Products of matrices and vectors, added to what is there: `out += x y`.
//!
//! Element `(i, j)` of the sum gets its terms one after the other, from the first to the last or backwards, so that in strict
//! mode every bit is that of the loops that the product stands for. Matrices are cut into tiles that are summed in registers,
//! from copies of both factors in which what a tile needs lies side by side; how the factors lie matters to the copying only.
//!
//! Where zeros are strong, a zero times anything is zero. That makes a difference only where a factor is infinite or no number,
//! and then the plain sum is not finite: such a tile is done again, carefully.
//!
//! If there is much to do, threads do blocks of rows each. No element of the sum comes out otherwise for that.

mod calls;

#[cfg(target_arch = "x86_64")]
use super::processor;
pub(crate) use calls::{exact, fast, matmul_exact, matmul_fast, matvec_exact, matvec_fast};
use std::cell::RefCell;
use std::sync::OnceLock;
use wengert_prim::RealOp;

/// The first factor lies transposed.
pub(crate) const FIRST: i64 = 1;
/// The second factor does.
pub(crate) const SECOND: i64 = 2;
/// Terms are added from the last to the first.
pub(crate) const BACKWARD: i64 = 4;
/// Zeros are strong.
pub(crate) const STRONG: i64 = 8;
/// What is added to is zero, but nobody has filled it.
pub(crate) const UNFILLED: i64 = 16;

/// Products of matrices with so many rows and columns at most need no tiles.
const SMALL: usize = 8;
/// Rows of a tile.
const ROWS: usize = 4;
/// Rows that one thread does at least: whole tiles.
const BLOCK: usize = 16;
/// After so many multiplications one looks whether the program is to stop.
const LONG: usize = 1 << 29;
/// Products with less multiplications are not divided.
const MUCH: f64 = 1_048_576.0;
/// Terms that are summed in registers at a time.
const DEPTH: usize = 256;
/// Rows and columns whose copies are kept at a time.
const HIGH: usize = 128;
const WIDE: usize = 1024;

/// A factor: element `(i, j)` is at `i * down + j * right`.
#[derive(Clone, Copy)]
struct Factor<'a> {
    items: &'a [f64],
    down: usize,
    right: usize,
}

impl<'a> Factor<'a> {
    fn new(items: &'a [f64], columns: usize, transposed: bool, rows: usize) -> Factor<'a> {
        let (down, right) = if transposed { (1, rows) } else { (columns, 1) };
        Factor { items, down, right }
    }

    #[inline(always)]
    fn at(&self, i: usize, j: usize) -> f64 {
        self.items.get(i * self.down + j * self.right).copied().unwrap_or(0.0)
    }

    /// From element `(i, j)` on, row by row or column by column, as it lies in memory.
    fn from(&self, i: usize, j: usize) -> &'a [f64] {
        self.items.get(i * self.down + j * self.right..).unwrap_or_default()
    }
}

/// What is to be done.
#[derive(Clone, Copy)]
struct Task<'a> {
    /// Whether the sum has so few rows, these and others, that tiles are not worth it.
    few: bool,
    n: usize,
    m: usize,
    width: usize,
    x: Factor<'a>,
    y: Factor<'a>,
    backward: bool,
    strong: bool,
    unfilled: bool,
}

impl Task<'_> {
    /// The number of the term that comes as number `k`.
    #[inline(always)]
    fn term(&self, k: usize) -> usize {
        if self.backward { self.m - 1 - k } else { k }
    }

    /// Whether a row of the sum, and each factor, is in a few registers.
    #[inline(always)]
    fn is_small(&self) -> bool {
        self.n.max(self.m).max(self.width) <= SMALL
    }

    /// Whether rows of the sum are made one after the other, without tiles of so many rows.
    #[inline(always)]
    fn goes_by_rows(&self, rows: usize) -> bool {
        !self.is_small() && (self.few || self.m < rows || self.width < rows)
    }
}

/// Copies of the factors.
#[derive(Default)]
struct Panels {
    left: Vec<f64>,
    right: Vec<f64>,
}

/// Nothing of a kernel is a closure that is given away: it would be compiled for any processor.
type Product = fn(&Task<'_>, &mut [f64], &mut Panels);

/// The products for a kind of processor: with sums rounded after each product and after each sum, or once for both.
#[derive(Clone, Copy)]
struct Kernels {
    exact: Product,
    fused: Product,
}

fn kernels() -> Kernels {
    static CHOSEN: OnceLock<Kernels> = OnceLock::new();
    *CHOSEN.get_or_init(|| available().last().copied().unwrap_or(PLAIN))
}

const PLAIN: Kernels =
    Kernels { exact: add::<false, ROWS, 4>, fused: add::<{ cfg!(target_arch = "aarch64") }, ROWS, 4> };

/// The kernels that this processor can run, the best last.
fn available() -> Vec<Kernels> {
    let mut all = vec![PLAIN];
    #[cfg(target_arch = "x86_64")]
    {
        all.extend(processor::has_avx2().then_some(avx2::KERNELS));
        all.extend(processor::has_avx512().then_some(avx512::KERNELS));
    }
    all
}

#[cfg(target_arch = "x86_64")]
macro_rules! level {
    ($module:ident, $features:literal, $columns:literal, $doc:literal) => {
        #[doc = $doc]
        mod $module {
            use super::{Kernels, Panels, ROWS, Task, add};

            /// Chosen only where the processor has the features.
            pub(super) const KERNELS: Kernels = Kernels { exact, fused };

            #[target_feature(enable = $features)]
            fn here<const FUSED: bool>(task: &Task<'_>, out: &mut [f64], panels: &mut Panels) {
                add::<FUSED, ROWS, $columns>(task, out, panels);
            }
            fn exact(task: &Task<'_>, out: &mut [f64], panels: &mut Panels) {
                // SAFETY: these kernels are only available where the processor has the features.
                unsafe { here::<false>(task, out, panels) };
            }
            fn fused(task: &Task<'_>, out: &mut [f64], panels: &mut Panels) {
                // SAFETY: as above.
                unsafe { here::<true>(task, out, panels) };
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
level!(avx2, "avx2,fma", 8, "Vectors of four numbers.");
#[cfg(target_arch = "x86_64")]
level!(avx512, "avx512f,avx512dq,avx512vl,avx2,fma", 16, "Vectors of eight numbers.");

/// `sum + x * y`
#[inline(always)]
fn plus<const FUSED: bool>(sum: f64, x: f64, y: f64) -> f64 {
    if FUSED { x.mul_add(y, sum) } else { sum + x * y }
}

/// The same with strong zeros.
#[inline(always)]
fn plus_careful(sum: f64, x: f64, y: f64) -> f64 {
    sum + RealOp::MulZero.eval2(x, y)
}

/// Whether all are finite.
#[inline(always)]
fn finite(sums: &[f64]) -> bool {
    sums.iter().fold(0.0, |total, sum| total + sum * 0.0) == 0.0
}

#[inline(always)]
fn add<const FUSED: bool, const R: usize, const C: usize>(
    task: &Task<'_>,
    out: &mut [f64],
    panels: &mut Panels,
) {
    if task.unfilled && (task.m == 0 || task.width == 1 || !task.goes_by_rows(R)) {
        out.fill(0.0);
    }
    if task.n * task.m * task.width == 0 {
        return;
    }
    if task.is_small() {
        return add_small::<FUSED>(task, out);
    }
    if task.goes_by_rows(R) {
        return add_rows::<FUSED>(task, out, &mut panels.left);
    }
    let Panels { left, right } = panels;
    left.resize(HIGH.next_multiple_of(R) * DEPTH, 0.0);
    right.resize(WIDE.min(task.width).next_multiple_of(C) * DEPTH, 0.0);
    for column in (0..task.width).step_by(WIDE) {
        let columns = WIDE.min(task.width - column);
        for start in (0..task.m).step_by(DEPTH) {
            let depth = DEPTH.min(task.m - start);
            pack::<C>(right, columns, depth, |j, k| task.y.at(task.term(start + k), column + j));
            for row in (0..task.n).step_by(HIGH) {
                let rows = HIGH.min(task.n - row);
                pack::<R>(left, rows, depth, |i, k| task.x.at(row + i, task.term(start + k)));
                for j in (0..columns).step_by(C) {
                    let right = right.get(j * depth..(j + C) * depth).unwrap_or_default();
                    for i in (0..rows).step_by(R) {
                        let left = left.get(i * depth..(i + R) * depth).unwrap_or_default();
                        let to = out.get_mut((row + i) * task.width + column + j..).unwrap_or_default();
                        let size = (R.min(rows - i), C.min(columns - j));
                        edge_tile::<FUSED, R, C>(left, right, to, task.width, size, task.strong);
                    }
                }
            }
        }
    }
}

thread_local! {
    /// The copies of the factors.
    static PANELS: RefCell<Panels> = const { RefCell::new(Panels { left: Vec::new(), right: Vec::new() }) };
}

/// Copies rows (or columns) so that `N` of them lie side by side; what is missing at the end is 0.
#[inline(always)]
fn pack<const N: usize>(to: &mut [f64], count: usize, depth: usize, at: impl Fn(usize, usize) -> f64) {
    for (strip, part) in to.chunks_mut(N * depth).take(count.div_ceil(N)).enumerate() {
        let (first, full) = (strip * N, count >= (strip + 1) * N);
        for (k, line) in part.chunks_exact_mut(N).enumerate() {
            if full {
                for (i, value) in line.iter_mut().enumerate() {
                    *value = at(first + i, k);
                }
            } else {
                for (i, value) in line.iter_mut().enumerate() {
                    *value = if first + i < count { at(first + i, k) } else { 0.0 };
                }
            }
        }
    }
}

/// A tile that may stand out over the edge.
#[inline(always)]
fn edge_tile<const FUSED: bool, const R: usize, const C: usize>(
    left: &[f64],
    right: &[f64],
    out: &mut [f64],
    width: usize,
    (rows, columns): (usize, usize),
    strong: bool,
) {
    let mut sums = [[0.0; C]; R];
    let before = |sums: &mut [[f64; C]; R], out: &[f64]| {
        for (sums, out) in sums.iter_mut().zip(out.chunks(width)).take(rows) {
            match out.first_chunk::<C>() {
                Some(out) if columns == C => *sums = *out,
                _ => sums.iter_mut().zip(out).take(columns).for_each(|(sum, out)| *sum = *out),
            }
        }
    };
    before(&mut sums, out);
    tile::<R, C>(left, right, &mut sums, plus::<FUSED>);
    if strong && !sums.iter().all(|sums| finite(sums)) {
        sums = [[0.0; C]; R];
        before(&mut sums, out);
        careful_tile(left, right, &mut sums);
    }
    for (sums, out) in sums.iter().zip(out.chunks_mut(width)).take(rows) {
        match out.first_chunk_mut::<C>() {
            Some(out) if columns == C => *out = *sums,
            _ => sums.iter().zip(out).take(columns).for_each(|(sum, out)| *out = *sum),
        }
    }
}

#[inline(always)]
fn tile<const R: usize, const C: usize>(
    left: &[f64],
    right: &[f64],
    sums: &mut [[f64; C]; R],
    plus: impl Fn(f64, f64, f64) -> f64,
) {
    let mut here = *sums;
    for (x, y) in left.chunks_exact(R).zip(right.chunks_exact(C)) {
        let (Some(x), Some(y)) = (x.first_chunk::<R>(), y.first_chunk::<C>()) else { return };
        for (sums, x) in here.iter_mut().zip(x) {
            for (sum, y) in sums.iter_mut().zip(y) {
                *sum = plus(*sum, *x, *y);
            }
        }
    }
    *sums = here;
}

#[cold]
#[inline(never)]
fn careful_tile<const R: usize, const C: usize>(left: &[f64], right: &[f64], sums: &mut [[f64; C]; R]) {
    tile(left, right, sums, plus_careful);
}

/// Small matrices: each row of the sum in a register, and the second factor in a few.
#[inline(always)]
fn add_small<const FUSED: bool>(task: &Task<'_>, out: &mut [f64]) {
    let mut ys = [[0.0; SMALL]; SMALL];
    for (k, row) in ys.iter_mut().enumerate().take(task.m) {
        for (j, y) in row.iter_mut().enumerate().take(task.width) {
            *y = task.y.at(task.term(k), j);
        }
    }
    for (i, out) in out.chunks_exact_mut(task.width).enumerate().take(task.n) {
        let mut sums = [0.0; SMALL];
        sums.iter_mut().zip(&*out).for_each(|(sum, out)| *sum = *out);
        for (k, row) in ys.iter().enumerate().take(task.m) {
            let x = task.x.at(i, task.term(k));
            for (sum, y) in sums.iter_mut().zip(row) {
                *sum = plus::<FUSED>(*sum, x, *y);
            }
        }
        if task.strong && !finite(sums.get(..task.width).unwrap_or_default()) {
            sums.iter_mut().zip(&*out).for_each(|(sum, out)| *sum = *out);
            for (k, row) in ys.iter().enumerate().take(task.m) {
                let x = task.x.at(i, task.term(k));
                sums.iter_mut().zip(row).for_each(|(sum, y)| *sum = plus_careful(*sum, x, *y));
            }
        }
        out.iter_mut().zip(&sums).for_each(|(out, sum)| *out = *sum);
    }
}

/// A few rows, or short ones: each row of the sum by itself.
#[inline(always)]
fn add_rows<const FUSED: bool>(task: &Task<'_>, out: &mut [f64], copy: &mut Vec<f64>) {
    copy.clear();
    if task.width == 1 && task.x.right == 1 {
        // A matrix and a column: rows times the column.
        for k in 0..task.m {
            copy.push(task.y.at(k, 0));
        }
        return add_dots::<FUSED>(out, (task.x, task.n), copy, task);
    }
    if task.width == 1 {
        return add_scaled::<FUSED>(out, |k| task.y.at(k, 0), |k| task.x.from(0, k), task);
    }
    for (i, out) in out.chunks_exact_mut(task.width).take(task.n).enumerate() {
        if task.unfilled {
            out.fill(0.0);
        }
        if task.y.right == 1 {
            add_scaled::<FUSED>(out, |k| task.x.at(i, k), |k| task.y.from(k, 0), task);
        } else {
            copy.clear();
            for k in 0..task.m {
                copy.push(task.x.at(i, k));
            }
            let columns = Factor { items: task.y.items, down: task.y.right, right: task.y.down };
            add_dots::<FUSED>(out, (columns, task.width), copy, task);
        }
    }
}

/// Adds rows, each times a number.
#[inline(always)]
fn add_scaled<'r, const FUSED: bool>(
    out: &mut [f64],
    scale: impl Fn(usize) -> f64,
    row: impl Fn(usize) -> &'r [f64],
    task: &Task<'_>,
) {
    for k in 0..task.m {
        let k = task.term(k);
        let (x, row) = (scale(k), row(k));
        if task.strong && x == 0.0 {
            continue;
        }
        // A number that is finite and not zero times zero is zero.
        if !task.strong || x.is_finite() {
            for (sum, y) in out.iter_mut().zip(row) {
                *sum = plus::<FUSED>(*sum, x, *y);
            }
        } else {
            for (sum, y) in out.iter_mut().zip(row) {
                *sum = plus_careful(*sum, x, *y);
            }
        }
    }
}

/// Adds the products of rows (that lie in memory as such) with one more.
#[inline(always)]
fn add_dots<const FUSED: bool>(
    out: &mut [f64],
    (rows, count): (Factor<'_>, usize),
    other: &[f64],
    task: &Task<'_>,
) {
    for (i, out) in out.iter_mut().take(count).enumerate() {
        let row = rows.from(i, 0).get(..other.len()).unwrap_or_default();
        let sum = if FUSED {
            dot(*out, row, other)
        } else {
            in_order(*out, row, other, task.backward, plus::<false>)
        };
        let again = task.strong && !finite(&[sum]);
        *out = if again { in_order(*out, row, other, task.backward, plus_careful) } else { sum };
    }
}

/// The products of two rows added one after the other.
#[inline(always)]
fn in_order(
    start: f64,
    row: &[f64],
    other: &[f64],
    backward: bool,
    plus: impl Fn(f64, f64, f64) -> f64,
) -> f64 {
    let pairs = row.iter().zip(other);
    let step = |sum, (x, y): (&f64, &f64)| plus(sum, *x, *y);
    if backward { pairs.rev().fold(start, step) } else { pairs.fold(start, step) }
}

/// The same in any order.
#[inline(always)]
fn dot(start: f64, row: &[f64], other: &[f64]) -> f64 {
    const LANES: usize = 16;
    let mut sums = [0.0; LANES];
    let (rows, others) = (row.chunks_exact(LANES), other.chunks_exact(LANES));
    let mut total = start;
    for (x, y) in rows.remainder().iter().zip(others.remainder()) {
        total = x.mul_add(*y, total);
    }
    for (x, y) in rows.zip(others) {
        let (Some(x), Some(y)) = (x.first_chunk::<LANES>(), y.first_chunk::<LANES>()) else { break };
        for ((sum, x), y) in sums.iter_mut().zip(x).zip(y) {
            *sum = x.mul_add(*y, *sum);
        }
    }
    for sum in sums {
        total += sum;
    }
    total
}

#[cfg(test)]
mod tests {
    use super::calls::{Given, Whole, add_product, two};
    use super::*;

    /// Numbers without a pattern, some of them special.
    fn numbers(count: usize, seed: usize, special: &[f64]) -> Vec<f64> {
        let ordinary = |k: usize| ((k * 7 + seed) as f64 * 12.9898).sin() * 10f64.powi((k % 5) as i32);
        let chosen = |k: usize| special.get((k + seed) / 13 % special.len().max(1)).copied();
        (0..count)
            .map(|k| chosen(k).filter(|_| (k + seed) % 13 == 5).unwrap_or_else(|| ordinary(k)))
            .collect()
    }

    /// Term by term.
    fn expected(task: &Task<'_>, before: &[f64]) -> Vec<f64> {
        let mut sums = before.to_vec();
        for (place, sum) in sums.iter_mut().enumerate() {
            let (i, j) = (place / task.width, place % task.width);
            for k in (0..task.m).map(|k| task.term(k)) {
                let (x, y) = (task.x.at(i, k), task.y.at(k, j));
                *sum = if task.strong { plus_careful(*sum, x, y) } else { *sum + x * y };
            }
        }
        sums
    }

    const SIZES: &[(usize, usize, usize)] = &[
        (1, 1, 1),
        (3, 1, 5),
        (1, 40, 33),
        (9, 20, 1),
        (2, 3, 50),
        (4, 4, 4),
        (8, 8, 8),
        (5, 7, 3),
        (5, 7, 16),
        (17, 300, 35),
        (131, 9, 21),
        (6, 5, 1030),
    ];

    /// Each way that factors can lie, with each kernel; `check` is given what is expected, what is found, and how it was done.
    fn each_case(special: &[f64], check: impl Fn(&[f64], &[f64], &[f64], &str)) {
        for (n, m, width) in SIZES.iter().copied() {
            let (xs, ys) = (numbers(n * m, 1, special), numbers(m * width, 2, special));
            for kind in 0..32 {
                let unfilled = kind & UNFILLED != 0;
                let there = numbers(n * width, 3, &[]);
                let before = if unfilled { vec![0.0; n * width] } else { there.clone() };
                let task = Task {
                    few: n < ROWS,
                    n,
                    m,
                    width,
                    x: Factor::new(&xs, m, kind & FIRST != 0, n),
                    y: Factor::new(&ys, width, kind & SECOND != 0, m),
                    backward: kind & BACKWARD != 0,
                    strong: kind & STRONG != 0,
                    unfilled,
                };
                let expected = expected(&task, &before);
                for (level, kernels) in available().into_iter().enumerate() {
                    let (mut exact, mut fused) = (there.clone(), there.clone());
                    (kernels.exact)(&task, &mut exact, &mut Panels::default());
                    (kernels.fused)(&task, &mut fused, &mut Panels::default());
                    check(&expected, &exact, &fused, &format!("{n} {m} {width}, {kind}, {level}"));
                }
            }
        }
    }

    fn same(a: f64, b: f64) -> bool {
        a == b || a.is_nan() && b.is_nan()
    }

    #[test]
    fn each_sum_is_exactly_that_of_its_terms_in_order() {
        each_case(&[0.0, -0.0], |expected, exact, fused, what| {
            assert!(expected.iter().zip(exact).all(|(a, b)| same(*a, *b)), "{what}");
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + a.abs() + b.abs());
            assert!(exact.iter().zip(fused).all(|(a, b)| near(*a, *b) || a.abs() > 1e6), "{what}");
        });
    }

    #[test]
    fn a_zero_factor_lets_no_infinity_through() {
        each_case(&[0.0, f64::INFINITY, -0.0, f64::NAN, 0.0], |expected, exact, fused, what| {
            assert!(expected.iter().zip(exact).all(|(a, b)| same(*a, *b)), "{what}");
            let alike = |a: f64, b: f64| a.is_nan() == b.is_nan() && (a.is_finite() || same(a, b));
            assert!(exact.iter().zip(fused).all(|(a, b)| alike(*a, *b)), "{what}");
        });
    }

    /// Threads may do blocks of rows: every bit is as if one did all.
    #[test]
    fn rows_come_out_the_same_in_blocks() {
        for (n, m, width) in SIZES.iter().copied().chain([(33, 40, 24), (65, 12, 1), (40, 3, 50)]) {
            let (xs, ys) = (numbers(n * m, 1, &[]), numbers(m * width, 2, &[f64::INFINITY, 0.0]));
            for (kind, product) in (0..32).flat_map(|kind| [(kind, kernels().exact), (kind, kernels().fused)])
            {
                let sum = |rows: usize| {
                    let mut sum = numbers(n * width, 3, &[]);
                    let size = |n: usize| i64::try_from(n).expect("small");
                    let given = Given {
                        out: sum.as_mut_ptr() as u64,
                        n: size(n),
                        m: size(m),
                        width: size(width),
                        kind,
                    };
                    let whole = Whole { product, given, xs: &xs, ys: &ys };
                    (0..n).step_by(rows).for_each(|from| whole.rows(from, rows));
                    sum
                };
                let (all, blocks) = (sum(n), sum(BLOCK));
                let alike = all.iter().zip(&blocks).all(|(a, b)| a.to_bits() == b.to_bits() || same(*a, *b));
                assert!(alike, "{n} {m} {width}, {kind}");
            }
        }
    }

    #[test]
    fn zeros_that_nobody_has_filled_in_are_there_without_terms_too() {
        let mut sums = [7.0; 6];
        let given = Given { out: sums.as_mut_ptr() as u64, n: 2, m: 0, width: 3, kind: UNFILLED | STRONG };
        add_product(std::ptr::null_mut(), kernels().exact, given, 0, 0);
        assert_eq!(sums, [0.0; 6]);
    }

    #[test]
    fn what_is_added_to_may_be_a_factor() {
        let (mut sums, x) = (vec![1.0, 2.0, 3.0, 4.0], vec![1.0, 1.0, 0.0, 2.0]);
        let at = sums.as_mut_ptr() as u64;
        let given = Given { out: at, n: 2, m: 2, width: 2, kind: STRONG };
        add_product(std::ptr::null_mut(), kernels().exact, given, x.as_ptr() as u64, at);
        assert_eq!(sums, [5.0, 8.0, 9.0, 12.0]);
    }

    #[test]
    fn two_products_of_a_term_are_added_up_first() {
        let given =
            |out: &mut [f64]| Given { out: out.as_mut_ptr() as u64, n: 1, m: 1, width: 1, kind: STRONG };
        let ([x, y, x2, y2], mut sum) = ([1e16, 1.0, -1e16, 1.0], [1.0]);
        let at = |number: &f64| std::ptr::from_ref(number) as u64;
        two(|| false, given(&mut sum), (at(&x), at(&y)), (at(&x2), at(&y2)));
        assert_eq!(sum, [1.0]);
    }
}
