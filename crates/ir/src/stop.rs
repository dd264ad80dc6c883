//! Giving up while compiling: derivatives of derivatives may be more code than anybody wants to wait for.
//!
//! The compiler goes deep, and keeps much on the way. So what works on a program does not hand on that it is to stop: it
//! calls [`check`] now and then, which unwinds to [`stoppable`]. Nothing that was under way is used after that.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

thread_local! {
    /// The word that is not 0 when this thread is to stop what it does.
    static ASKED: RefCell<Option<Arc<AtomicU64>>> = const { RefCell::new(None) };
}

/// That work was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

/// Does some work, which is given up soon after the word is not 0.
pub fn stoppable<R>(stop: &Arc<AtomicU64>, work: impl FnOnce() -> R) -> Result<R, Stopped> {
    let around = ASKED.replace(Some(Arc::clone(stop)));
    let done = catch_unwind(AssertUnwindSafe(work));
    let asked = is_asked();
    ASKED.set(around);
    match done {
        // What was made in a hurry may be broken.
        Ok(_) if asked => Err(Stopped),
        Ok(result) => Ok(result),
        Err(panic) if panic.is::<Stopped>() => Err(Stopped),
        Err(panic) => resume_unwind(panic),
    }
}

/// Whether this thread is to stop what it does.
pub fn is_asked() -> bool {
    ASKED.with_borrow(|stop| stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed) != 0))
}

/// Gives up if this thread is to stop what it does.
pub fn check() {
    if is_asked() {
        resume_unwind(Box::new(Stopped));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_given_up_when_somebody_asks() {
        let stop = Arc::new(AtomicU64::new(0));
        assert_eq!(stoppable(&stop, || 1), Ok(1));
        let asking = || {
            for round in 0.. {
                check();
                if round == 3 {
                    stop.store(1, Ordering::Relaxed);
                }
                assert!(round < 4, "it goes on");
            }
        };
        assert_eq!(stoppable(&stop, asking), Err(Stopped));
        assert!(!is_asked(), "outside nobody is asked");
        // Nobody asks for the inner work, so the outer is given up after it.
        let inner = || stoppable(&Arc::default(), check);
        assert_eq!(stoppable(&stop, inner), Err(Stopped));
        assert!(catch_unwind(|| stoppable(&stop, || resume_unwind(Box::new("another")))).is_err());
    }
}
