//! Threads that wait for loops.
//!
//! A thread has a context of its own, with its own memory and stack. It takes the next part of the loop that nobody has taken,
//! as long as there is one; so does the thread that the loop belongs to, which then waits until all are done.

use super::context::{Common, Context, Raised};
use super::parallel::Loop;
use super::stack::Entry;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

/// The sums that a part has found, or its failure.
pub(crate) type Outcome = Result<Vec<u64>, Raised>;

/// How compiled code is run.
pub(crate) type Run<'r> = &'r mut dyn FnMut(Entry, &[u64], &mut [u64]) -> Result<(), Raised>;

/// Looks so often whether there is something to do before it sleeps: some microseconds.
const PATIENCE: usize = 4096;

/// A loop, and which of its parts are done.
pub(crate) struct Job {
    pub(crate) parts: Loop,
    /// For each part but the first, arrays of its own to add to.
    pub(crate) buffers: Vec<Vec<u64>>,
    /// For each thread, the next part of its own: each begins with as many, which are neighbors, and those of all loops are about
    /// the same, so that what a thread has made is still near to it.
    next: Vec<AtomicUsize>,
    done: AtomicUsize,
    /// The first part that has failed.
    failed: AtomicUsize,
    /// Which of its parts: see [`Loop::part_of`].
    round: usize,
    outcomes: Vec<Mutex<Outcome>>,
    /// How many other threads are at it.
    others: AtomicUsize,
}

impl Job {
    pub(crate) fn new(parts: Loop, buffers: Vec<Vec<u64>>, round: usize, threads: usize) -> Arc<Job> {
        let count = parts.in_round(round);
        let outcomes = (0..count).map(|_| Mutex::new(Ok(Vec::new()))).collect();
        let next = (0..threads).map(|thread| AtomicUsize::new(first_of(thread, threads, count))).collect();
        let (done, failed) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
        Arc::new(Job { parts, buffers, next, done, failed, round, outcomes, others: AtomicUsize::new(0) })
    }

    /// The next part for a thread: of its own, or else of another one's.
    fn take(&self, thread: usize) -> Option<usize> {
        let threads = self.next.len();
        let take = |others: usize| {
            let owner = (thread + others) % threads;
            let next = self.next.get(owner)?.fetch_add(1, Ordering::Relaxed);
            (next < first_of(owner + 1, threads, self.outcomes.len())).then_some(next)
        };
        (0..threads).find_map(take)
    }

    /// Makes parts until all are taken.
    fn work(&self, thread: usize, run: Run<'_>) {
        while let Some(next) = self.take(thread) {
            let Some(place) = self.outcomes.get(next) else { return };
            let part = self.parts.part_of(self.round, next);
            // What comes after a failure does not matter.
            if part < self.failed.load(Ordering::Relaxed) {
                let own = part.checked_sub(1).and_then(|before| self.buffers.get(before));
                let outcome = self.parts.run(part, own.map_or(&[], Vec::as_slice), run);
                if outcome.is_err() {
                    self.failed.fetch_min(part, Ordering::Relaxed);
                }
                *place.lock().unwrap_or_else(PoisonError::into_inner) = outcome;
            }
            self.done.fetch_add(1, Ordering::Release);
        }
    }

    /// Whether all parts are done, and all threads have handed over what they had.
    fn is_done(&self) -> bool {
        self.done.load(Ordering::Acquire) >= self.outcomes.len() && self.others.load(Ordering::Acquire) == 0
    }

    /// All parts, made here.
    pub(crate) fn run_all(&self, run: Run<'_>) -> Vec<Outcome> {
        self.work(0, run);
        self.outcomes()
    }

    fn outcomes(&self) -> Vec<Outcome> {
        let take = |outcome: &Mutex<Outcome>| {
            let mut outcome = outcome.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *outcome, Ok(Vec::new()))
        };
        self.outcomes.iter().map(take).collect()
    }
}

/// The first part of a thread's own.
fn first_of(thread: usize, threads: usize, parts: usize) -> usize {
    thread * parts / threads
}

/// What threads look at.
struct Board {
    /// The loop that is being made, and whether the threads are to end.
    state: Mutex<(Option<Arc<Job>>, bool)>,
    /// How often the state has changed.
    changes: AtomicUsize,
    changed: Condvar,
    /// Told when a thread has no more to do.
    finished: Condvar,
}

/// Threads.
pub(crate) struct Pool {
    board: Arc<Board>,
    threads: Vec<JoinHandle<()>>,
}

impl Pool {
    /// So many threads; fewer if the system has no more.
    pub(crate) fn new(count: usize, common: &Arc<Common>) -> Pool {
        let board = Arc::new(Board {
            state: Mutex::new((None, false)),
            changes: AtomicUsize::new(0),
            changed: Condvar::new(),
            finished: Condvar::new(),
        });
        let threads = (1..=count).filter_map(|thread| {
            let (board, common) = (Arc::clone(&board), Arc::clone(common));
            std::thread::Builder::new()
                .name("wengert".into())
                .spawn(move || serve((thread, count), &board, &common))
                .ok()
        });
        let threads = threads.collect();
        Pool { board, threads }
    }

    /// Whether no loop is being made.
    pub(crate) fn is_free(&self) -> bool {
        self.board.state.lock().unwrap_or_else(PoisonError::into_inner).0.is_none()
    }

    /// Makes a loop: this thread helps.
    pub(crate) fn run(&self, job: &Arc<Job>, run: Run<'_>) -> Vec<Outcome> {
        self.tell(|state| state.0 = Some(Arc::clone(job)));
        job.work(0, run);
        let mut patience = PATIENCE;
        while !job.is_done() && patience > 0 {
            std::hint::spin_loop();
            patience -= 1;
        }
        let mut state = self.board.state.lock().unwrap_or_else(PoisonError::into_inner);
        while !job.is_done() {
            state = self.board.finished.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.0 = None;
        drop(state);
        job.outcomes()
    }

    fn tell(&self, change: impl FnOnce(&mut (Option<Arc<Job>>, bool))) {
        let mut state = self.board.state.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut state);
        self.board.changes.fetch_add(1, Ordering::Release);
        drop(state);
        self.board.changed.notify_all();
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.tell(|state| state.1 = true);
        for thread in self.threads.drain(..) {
            // A thread that has panicked has nothing that is still wanted.
            drop(thread.join());
        }
    }
}

/// What a thread does, one of so many.
fn serve((thread, count): (usize, usize), board: &Board, common: &Arc<Common>) {
    let Some(mut context) = Context::of(common, 1, count) else { return };
    context.heap().help(thread);
    let mut seen = 0;
    loop {
        let mut patience = PATIENCE;
        while board.changes.load(Ordering::Acquire) == seen && patience > 0 {
            std::hint::spin_loop();
            patience -= 1;
        }
        let mut state = board.state.lock().unwrap_or_else(PoisonError::into_inner);
        while board.changes.load(Ordering::Acquire) == seen {
            state = board.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        seen = board.changes.load(Ordering::Acquire);
        if state.1 {
            return;
        }
        let job = state.0.clone();
        if let Some(job) = &job {
            job.others.fetch_add(1, Ordering::Relaxed);
        }
        drop(state);
        if let Some(job) = job {
            context.heap().begin_loop(job.parts.sharing);
            job.work(thread, &mut |entry, args, results| {
                // SAFETY: the loop's entry was compiled for the program that this context is for.
                let outcome = unsafe { context.run(entry, args, results) };
                context.heap().end_part();
                outcome
            });
            context.heap().end_loop();
            job.others.fetch_sub(1, Ordering::Release);
            drop(job);
            // So that nobody misses it who has just looked.
            drop(board.state.lock().unwrap_or_else(PoisonError::into_inner));
            board.finished.notify_all();
        }
    }
}
