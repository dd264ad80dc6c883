//! Ctrl-C: the first one asks the evaluation to stop, a second one ends the program.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that Ctrl-C sets.
pub(crate) fn flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let shared = flag.clone();
    // If there is no handler, Ctrl-C ends the program at once, which is all one needs.
    let _ = ctrlc::set_handler(move || {
        if shared.swap(true, Ordering::SeqCst) {
            std::process::exit(i32::from(crate::output::INTERRUPTED));
        }
    });
    flag
}
