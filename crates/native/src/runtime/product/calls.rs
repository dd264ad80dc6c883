//! Products as compiled code calls them: with sizes and addresses, by several threads, until the program is to stop.

use super::{
    BACKWARD, BLOCK, FIRST, Factor, LONG, MUCH, PANELS, Panels, Product, ROWS, SECOND, STRONG, Task,
    UNFILLED, kernels,
};
use crate::runtime::context::{Context, Raised, STOPPED, leave_with, state};
use crate::runtime::heap::{words, words_mut};
use crate::runtime::parallel::{HEAD, parallel};
use std::ffi::c_void;
use wengert_prim::RealOp;

/// Sizes, and how the factors lie, as compiled code gives them.
#[derive(Clone, Copy)]
pub(super) struct Given {
    pub(super) out: u64,
    pub(super) n: i64,
    pub(super) m: i64,
    pub(super) width: i64,
    pub(super) kind: i64,
}

/// A product of factors that are not part of what is added to.
pub(super) struct Whole<'a> {
    pub(super) product: Product,
    pub(super) given: Given,
    pub(super) xs: &'a [f64],
    pub(super) ys: &'a [f64],
}

impl Whole<'_> {
    /// Adds to some rows.
    pub(super) fn rows(&self, from: usize, rows: usize) {
        let Given { out, n, m, width, kind } = self.given;
        let count = |n: i64| usize::try_from(n).unwrap_or(0);
        let (n, m, width) = (count(n), count(m), count(width));
        let (from, end) = (from.min(n), from.saturating_add(rows).min(n));
        let whole = Factor::new(self.xs, m, kind & FIRST != 0, n);
        let task = Task {
            few: n < ROWS,
            n: end - from,
            m,
            width,
            x: Factor { items: whole.from(from, 0), ..whole },
            y: Factor::new(self.ys, width, kind & SECOND != 0, m),
            backward: kind & BACKWARD != 0,
            strong: kind & STRONG != 0,
            unfilled: kind & UNFILLED != 0,
        };
        let size = i64::try_from((end - from) * width).unwrap_or(0);
        let to = words_mut::<f64>(out + 8 * (from * width) as u64, size);
        if task.is_small() {
            return (self.product)(&task, to, &mut Panels::default());
        }
        let mut panels = PANELS.take();
        (self.product)(&task, to, &mut panels);
        PANELS.replace(panels);
    }

    /// The same, as long as the program is not to stop.
    fn rows_unless_stopped(&self, context: &Context, from: usize, rows: usize) {
        let Given { n, m, width, .. } = self.given;
        let count = |n: i64| usize::try_from(n).unwrap_or(0);
        let end = from.saturating_add(rows).min(count(n));
        let at_once =
            (LONG / count(m).saturating_mul(count(width)).max(1)).next_multiple_of(BLOCK).max(BLOCK);
        let mut from = from;
        while from < end && !context.is_to_stop() {
            self.rows(from, at_once.min(end - from));
            from += at_once;
        }
    }

    /// Adds to all rows, with other threads if there are any and it is much.
    fn add(&self, context: *mut c_void) {
        let Given { n, m, width, .. } = self.given;
        let work = n as f64 * m as f64 * width as f64;
        if work < MUCH {
            return self.rows(0, usize::MAX);
        }
        // SAFETY: compiled code, which has called, has given its context.
        let state = unsafe { state(context) };
        if state.threads() < 2 {
            return self.rows_unless_stopped(state, 0, usize::MAX);
        }
        let blocks = n.cast_unsigned().div_ceil(BLOCK as u64);
        let mut info: [u64; HEAD + 1] =
            [blocks, (work / 2.0).to_bits(), 0, 1, 0, 0, 0, std::ptr::from_ref(self) as u64];
        // SAFETY: the description is that of a loop without sums whose parts are given one word; they do not fail.
        unsafe { parallel(context, blocks_of as *const u8, info.as_mut_ptr()) };
    }
}

/// Adds to blocks of rows: a part of a loop.
unsafe extern "C" fn blocks_of(context: *mut c_void, args: *const u64, _: *mut u64) {
    let [from, count, whole] = *words::<u64>(args as u64, 3) else { return };
    // SAFETY: `Whole::add` waits until all parts are done.
    let whole = unsafe { &*(whole as *const Whole<'_>) };
    let rows = |blocks: u64| usize::try_from(blocks).unwrap_or(0).saturating_mul(BLOCK);
    // SAFETY: the part is given the context of its thread.
    whole.rows_unless_stopped(unsafe { state(context) }, rows(from), rows(count));
}

/// Calls a product for factors at these addresses. Where a factor is part of what is added to, it is copied first.
fn run(context: *mut c_void, product: Product, given: Given, x: u64, y: u64) {
    add_product(context, product, given, x, y);
    leave_if_stopped(context);
}

/// Nothing of the functions that call this must be left to be dropped.
fn leave_if_stopped(context: *mut c_void) {
    // SAFETY: compiled code has given its context to what calls this, which is done with everything else.
    unsafe {
        if state(context).is_to_stop() {
            leave_with(context, Raised { site: STOPPED, numbers: Vec::new(), text: None });
        }
    }
}

pub(super) fn add_product(context: *mut c_void, product: Product, given: Given, x: u64, y: u64) {
    let Given { out, n, m, width, .. } = given;
    let (size_x, size_y, size) = (n * m, m * width, n * width);
    let overlaps = |address: u64, count: i64| {
        let end = |from: u64, count: i64| from + 8 * u64::try_from(count).unwrap_or(0);
        address < end(out, size) && out < end(address, count)
    };
    let copies = [(x, size_x), (y, size_y)]
        .map(|(address, count)| overlaps(address, count).then(|| words::<f64>(address, count).to_vec()));
    let [own_x, own_y] = &copies;
    let xs = own_x.as_deref().unwrap_or_else(|| words::<f64>(x, size_x));
    let ys = own_y.as_deref().unwrap_or_else(|| words::<f64>(y, size_y));
    Whole { product, given, xs, ys }.add(context);
}

/// See [`crate::loops::Runtime::AddProduct`].
pub(crate) unsafe extern "C" fn exact(
    context: *mut c_void,
    out: u64,
    n: i64,
    m: i64,
    width: i64,
    kind: i64,
    x: u64,
    y: u64,
    x2: u64,
    y2: u64,
) {
    let given = Given { out, n, m, width, kind };
    if x2 == 0 {
        return run(context, kernels().exact, given, x, y);
    }
    // SAFETY: compiled code, which has called, has given its context.
    let state = unsafe { state(context) };
    two(|| state.is_to_stop(), given, (x, y), (x2, y2));
    leave_if_stopped(context);
}

/// Two products at once, as long as the program is not to stop: those of each term are added up first.
pub(super) fn two(is_to_stop: impl Fn() -> bool, given: Given, first: (u64, u64), second: (u64, u64)) {
    let Given { out, n, m, width, kind } = given;
    let count = |n: i64| usize::try_from(n).unwrap_or(0);
    let copies =
        [first, second].map(|(x, y)| (words::<f64>(x, n * m).to_vec(), words::<f64>(y, m * width).to_vec()));
    let out = words_mut::<f64>(out, n * width);
    if kind & UNFILLED != 0 {
        out.fill(0.0);
    }
    let (n, m, width) = (count(n), count(m), count(width));
    let [first, second] = &copies;
    let [(x, y), (x2, y2)] = [first, second].map(|(x, y)| {
        (Factor::new(x, m, kind & FIRST != 0, n), Factor::new(y, width, kind & SECOND != 0, m))
    });
    let product = |x: f64, y: f64| RealOp::MulZero.eval2(x, y);
    for (i, sums) in out.chunks_exact_mut(width.max(1)).enumerate() {
        if is_to_stop() {
            return;
        }
        for k in 0..m {
            let k = if kind & BACKWARD != 0 { m - 1 - k } else { k };
            let (a, b) = (x.at(i, k), x2.at(i, k));
            for (j, sum) in sums.iter_mut().enumerate() {
                *sum += product(a, y.at(k, j)) + product(b, y2.at(k, j));
            }
        }
    }
}

/// The same, rounded as is fastest.
pub(crate) unsafe extern "C" fn fast(
    context: *mut c_void,
    out: u64,
    n: i64,
    m: i64,
    width: i64,
    kind: i64,
    x: u64,
    y: u64,
    x2: u64,
    y2: u64,
) {
    let given = Given { out, n, m, width, kind };
    run(context, kernels().fused, given, x, y);
    if x2 != 0 {
        let given = Given { kind: kind & !UNFILLED, ..given };
        run(context, kernels().fused, given, x2, y2);
    }
}

/// See [`crate::loops::Runtime::MatMul`].
pub(crate) unsafe extern "C" fn matmul_exact(
    context: *mut c_void,
    a: u64,
    b: u64,
    out: u64,
    n: i64,
    m: i64,
    width: i64,
) {
    matmul(context, kernels().exact, Given { out, n, m, width, kind: 0 }, a, b);
}

/// See [`crate::loops::Runtime::MatVec`].
pub(crate) unsafe extern "C" fn matvec_exact(context: *mut c_void, a: u64, b: u64, out: u64, n: i64, m: i64) {
    matmul(context, kernels().exact, Given { out, n, m, width: 1, kind: 0 }, a, b);
}

/// The same, rounded as is fastest.
pub(crate) unsafe extern "C" fn matvec_fast(context: *mut c_void, a: u64, b: u64, out: u64, n: i64, m: i64) {
    matmul(context, kernels().fused, Given { out, n, m, width: 1, kind: 0 }, a, b);
}

/// The same, rounded as is fastest.
pub(crate) unsafe extern "C" fn matmul_fast(
    context: *mut c_void,
    a: u64,
    b: u64,
    out: u64,
    n: i64,
    m: i64,
    width: i64,
) {
    matmul(context, kernels().fused, Given { out, n, m, width, kind: 0 }, a, b);
}

fn matmul(context: *mut c_void, product: Product, given: Given, a: u64, b: u64) {
    run(context, product, Given { kind: UNFILLED, ..given }, a, b);
}
