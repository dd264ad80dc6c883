//! Memory that the threads of a run have in common.
//!
//! What a part of a loop makes may outlive it, and whoever frees it may be another thread. So chunks belong to all threads, and
//! whatever is free is here between the parts of loops, in lists of one size each, and what is left of chunks between loops. A thread
//! takes a list of its own, for that is near to it, or some objects of a list if it is its last one or another thread's, and asks for
//! a chunk only if there are none at hand. So memory that one thread needs does not lie free with another one for long, and programs
//! that make and free the same again and again need no more the longer they run. Large objects go to the thread that the loop belongs to, which also frees those that
//! were not the freeing thread's own.

use super::heap::{CHUNK, SMALL, set_word, word};
use super::large::Block;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// While several threads make a loop, so many free objects are taken at once of a list that is not a thread's own, or is its last.
const SOME: usize = 512;

/// What the threads have in common.
pub(crate) struct Depot {
    /// Words in use, and the most that there were.
    words: AtomicUsize,
    peak: AtomicUsize,
    /// For each size, how many lists there are, those included of which a thread is about to take some objects.
    lists: [AtomicUsize; SMALL + 1],
    kept: Mutex<Kept>,
}

/// What is kept until somebody needs it.
struct Kept {
    chunks: Vec<Vec<u64>>,
    free: Free,
    left: Left,
}

/// What is free.
struct Free {
    /// For each thread and size, the first objects of lists.
    lists: Vec<[Vec<u64>; SMALL + 1]>,
    /// What is left of chunks: where, and how many words.
    rests: Vec<(u64, usize)>,
}

/// What threads leave to the one that loops belong to.
#[derive(Default)]
pub(crate) struct Left {
    /// Large objects that they have made.
    pub(crate) large: Vec<Block>,
    /// Large objects that nobody needs any more.
    pub(crate) orphans: Vec<u64>,
    /// Words that they have asked for.
    pub(crate) words: isize,
}

impl Default for Depot {
    fn default() -> Depot {
        let free = Free { lists: Vec::new(), rests: Vec::new() };
        let kept = Mutex::new(Kept { chunks: Vec::new(), free, left: Left::default() });
        let lists = std::array::from_fn(|_| AtomicUsize::new(0));
        let [words, peak] = [(); 2].map(|()| AtomicUsize::new(0));
        Depot { words, peak, lists, kept }
    }
}

impl Free {
    /// A list of a thread's own, or of another one: whose, and whether it is another one's or the last of its own.
    fn pop(&mut self, thread: usize, size: usize) -> Option<(usize, u64, bool)> {
        let count = self.lists.len().max(1);
        let mut pop = |owner: usize| {
            let lists = self.lists.get_mut(owner)?.get_mut(size)?;
            let first = lists.pop()?;
            Some((owner, first, owner != thread || lists.is_empty()))
        };
        (0..count).find_map(|others| pop((thread + others) % count))
    }

    /// One more list of a thread.
    fn push(&mut self, thread: usize, size: usize, first: u64) {
        while self.lists.len() <= thread {
            self.lists.push(std::array::from_fn(|_| Vec::new()));
        }
        if let Some(lists) = self.lists.get_mut(thread).and_then(|lists| lists.get_mut(size)) {
            lists.push(first);
        }
    }
}

impl Depot {
    /// An empty one after another one that had so many words at most.
    pub(crate) fn after(peak: usize) -> Depot {
        Depot { peak: AtomicUsize::new(peak), ..Depot::default() }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Words in use.
    pub(crate) fn words(&self) -> usize {
        self.words.load(Ordering::Relaxed)
    }

    /// The most words that there were.
    pub(crate) fn peak(&self) -> usize {
        self.peak.load(Ordering::Relaxed)
    }

    /// More words are in use.
    pub(crate) fn take(&self, words: usize) {
        let now = self.words.fetch_add(words, Ordering::Relaxed) + words;
        if now > self.peak.load(Ordering::Relaxed) {
            self.peak.fetch_max(now, Ordering::Relaxed);
        }
    }

    /// Fewer words are in use.
    pub(crate) fn give(&self, words: usize) {
        self.words.fetch_sub(words, Ordering::Relaxed);
    }

    /// For a thread a list of free objects of a size, or of some of those that there are; 0 if there are none.
    pub(crate) fn list(&self, thread: usize, size: usize, some: bool) -> u64 {
        let Some(count) = self.lists.get(size).filter(|count| count.load(Ordering::Relaxed) > 0) else {
            return 0;
        };
        // If another thread is about to put a list back, it is not waited for: it may have been put to sleep.
        let Some((owner, first, alone)) = self.kept().free.pop(thread, size) else { return 0 };
        // Without the lock: that takes its time, and the memory is this thread's from here on.
        let others = if some && alone { cut(first) } else { 0 };
        if others == 0 {
            count.fetch_sub(1, Ordering::Relaxed);
        } else {
            self.kept().free.push(owner, size, others);
        }
        first
    }

    /// Puts the lists of a thread here.
    pub(crate) fn share(&self, thread: usize, firsts: &mut [u64; SMALL + 1]) {
        self.put(&mut self.kept().free, thread, firsts);
    }

    fn put(&self, free: &mut Free, thread: usize, firsts: &mut [u64; SMALL + 1]) {
        for (size, (first, count)) in firsts.iter_mut().zip(&self.lists).enumerate() {
            if *first != 0 {
                free.push(thread, size, std::mem::take(first));
                count.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// A thread that helps is done with a loop: whatever it has goes here, what is left of its chunk too.
    pub(crate) fn leave(
        &self,
        (thread, firsts): (usize, &mut [u64; SMALL + 1]),
        rest: (u64, usize),
        large: impl Iterator<Item = Block>,
        orphans: &mut Vec<u64>,
        words: isize,
    ) {
        let mut kept = self.kept();
        let Kept { free, left, .. } = &mut *kept;
        self.put(free, thread, firsts);
        if rest.1 > 0 {
            free.rests.push(rest);
        }
        left.large.extend(large);
        left.orphans.append(orphans);
        left.words += words;
    }

    /// What threads have left to the one that the loop belongs to.
    pub(crate) fn left(&self) -> Left {
        std::mem::take(&mut self.kept().left)
    }

    /// What is left of a chunk; nothing if there is no such.
    pub(crate) fn rest(&self) -> Option<(u64, usize)> {
        self.kept().free.rests.pop()
    }

    /// A new chunk, unless that is too much.
    pub(crate) fn chunk(&self, limit: usize) -> Option<u64> {
        if self.words() + CHUNK > limit {
            return None;
        }
        self.take(CHUNK);
        let mut chunk = vec![0; CHUNK];
        let address = chunk.as_mut_ptr() as u64;
        self.kept().chunks.push(chunk);
        Some(address)
    }

    /// Words that nobody uses, if no thread but this is at work.
    pub(crate) fn free_words(&self) -> usize {
        let kept = self.kept();
        let lists = kept.free.lists.iter().flat_map(|lists| lists.iter().enumerate());
        let free = lists.map(|(size, firsts)| firsts.iter().map(|first| words(size, *first)).sum::<usize>());
        free.sum::<usize>() + kept.free.rests.iter().map(|(_, words)| words).sum::<usize>()
    }
}

/// The words of the objects in lists, one for each size.
pub(crate) fn free_words(lists: &[u64; SMALL + 1]) -> usize {
    lists.iter().enumerate().map(|(size, first)| words(size, *first)).sum()
}

/// The words of the objects in a list, which are of one size.
fn words(size: usize, first: u64) -> usize {
    let (mut address, mut count) = (first, 0);
    while address != 0 {
        count += size + 1;
        address = word(address, 0);
    }
    count
}

/// Ends a list after some objects; gives the first of the others.
fn cut(first: u64) -> u64 {
    let mut last = first;
    for _ in 1..SOME {
        match word(last, 0) {
            0 => return 0,
            next => last = next,
        }
    }
    let others = word(last, 0);
    set_word(last, 0, 0);
    others
}
