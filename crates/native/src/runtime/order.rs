//! Sorting: stable, NaN last.

use super::context::state;
use super::heap::{words, words_mut};
use super::text::read;
use std::cmp::Ordering;
use std::ffi::c_void;

/// The order of reals: NaN after all others, zeros equal.
fn reals(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

fn places<T: super::heap::Word>(from: u64, count: i64, to: u64, compare: impl Fn(T, T) -> Ordering) {
    let keys = words::<T>(from, count);
    let mut places: Vec<(usize, T)> = keys.iter().copied().enumerate().collect();
    places.sort_by(|(_, a), (_, b)| compare(*a, *b));
    for (place, (from, _)) in words_mut::<i64>(to, count).iter_mut().zip(places) {
        *place = i64::try_from(from).unwrap_or(i64::MAX);
    }
}

fn sorted<T: super::heap::Word>(from: u64, count: i64, to: u64, compare: impl Fn(T, T) -> Ordering) {
    let target = words_mut::<T>(to, count);
    target.copy_from_slice(words(from, count));
    target.sort_by(|a, b| compare(*a, *b));
}

/// See [`crate::loops::Runtime::SortReal`].
pub(crate) unsafe extern "C" fn sort_real(_: *mut c_void, from: u64, count: i64, to: u64, _: u64) {
    sorted::<f64>(from, count, to, reals);
}

/// See [`crate::loops::Runtime::SortInt`].
pub(crate) unsafe extern "C" fn sort_int(_: *mut c_void, from: u64, count: i64, to: u64, _: u64) {
    sorted::<i64>(from, count, to, |a, b| a.cmp(&b));
}

/// See [`crate::loops::Runtime::SortText`].
pub(crate) unsafe extern "C" fn sort_text(context: *mut c_void, from: u64, count: i64, to: u64, _: u64) {
    sorted::<u64>(from, count, to, |a, b| read(a).cmp(read(b)));
    // SAFETY: called by compiled code with its context.
    unsafe { state(context) }.heap().retain_all(words(to, count));
}

/// See [`crate::loops::Runtime::ArgSortReal`].
pub(crate) unsafe extern "C" fn argsort_real(_: *mut c_void, from: u64, count: i64, to: u64, _: u64) {
    places::<f64>(from, count, to, reals);
}

/// See [`crate::loops::Runtime::ArgSortInt`].
pub(crate) unsafe extern "C" fn argsort_int(_: *mut c_void, from: u64, count: i64, to: u64, _: u64) {
    places::<i64>(from, count, to, |a, b| a.cmp(&b));
}

/// See [`crate::loops::Runtime::ArgSortText`].
pub(crate) unsafe extern "C" fn argsort_text(_: *mut c_void, from: u64, count: i64, to: u64, _: u64) {
    places::<u64>(from, count, to, |a, b| read(a).cmp(read(b)));
}
