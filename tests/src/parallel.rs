//! Runs many small cases on all cores and reports all failures at once, so that one run shows everything that is wrong.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Applies `f` to all items on all cores; the results are in the order of the items.
pub fn map<T: Sync, R: Send>(items: &[T], f: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::with_capacity(items.len()));
    let workers = std::thread::available_parallelism().map_or(2, usize::from).min(items.len().max(1));
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { break };
                    let result = f(item);
                    results.lock().unwrap_or_else(|e| e.into_inner()).push((index, result));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(|e| e.into_inner());
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Runs a check on all items and panics with all its complaints, if there are any.
pub fn check_all<T: Sync>(what: &str, items: &[T], check: impl Fn(&T) -> Result<(), String> + Sync) {
    assert!(!items.is_empty(), "there are no {what} to check");
    let complaints: Vec<String> = map(items, check).into_iter().filter_map(Result::err).collect();
    assert!(
        complaints.is_empty(),
        "{} of {} {what} failed:\n\n{}",
        complaints.len(),
        items.len(),
        complaints.join("\n\n")
    );
}
