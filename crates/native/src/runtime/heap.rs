//! The memory of a run.
//!
//! Small objects are cut from chunks, and freed ones are kept in a list for each size, which compiled code knows. Large ones
//! are the system's; a few freed ones are kept ([`super::spare`]), for programs ask for the same sizes again. The lower
//! half of the word before each object says how many words it has, the upper half which constructor data is. Everything is freed
//! with the heap, whatever the program did. Threads that make a loop together have a heap each ([`super::depot`]).

use super::depot::{Depot, Left, free_words};
use super::large::{Block, Blocks};
use super::spare::Spare;
use crate::loops::Kind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Objects of up to so many words are small.
pub(crate) const SMALL: usize = 32;
/// Those of more words lie as large ones do, for the sake of vectors: the elements of an array with one axis begin with a line.
const TINY: usize = 9;
/// Words of a line, and which one of a line stands before such an object.
const LINE: usize = 8;
const BEFORE: usize = LINE - 3;
/// Words of a chunk.
pub(crate) const CHUNK: usize = 1 << 16;
/// Words of which objects of one size are made at once: a chunk is so many times as long.
const RUN: usize = 1 << 10;
/// A count that is never reached again: texts of the program are never freed.
pub(crate) const FOREVER: u64 = 1 << 60;

/// Lines of a page.
const LINES: usize = 64;

/// The memory of a thread of a run.
#[repr(C)]
pub(crate) struct Heap {
    /// Not 0 while other threads may change counts of references to the same objects. Compiled code reads it.
    sharing: u64,
    /// For each size, the first free object; its first word is the address of the next.
    free: [u64; SMALL + 1],
    /// The rest of the newest chunk: where it is, and how many words.
    rest: (u64, usize),
    /// Large objects.
    large: Blocks,
    /// Freed ones.
    spare: Spare,
    /// Before the last long object so many lines are free.
    lines: usize,
    /// Large objects that nobody needs any more and another thread has made.
    orphans: Vec<u64>,
    /// Words in use by chunks and large objects, less those of chunks that are nobody's.
    words: isize,
    /// Of these, words that the thread keeps when it is done with a loop, and large objects that it keeps. Nothing until that is known:
    /// then another thread may be at work, and what is free is not taken from it.
    kept: Option<isize>,
    kept_large: Vec<Vec<u64>>,
    /// Whether several threads make a loop.
    crowded: bool,
    /// The number of the thread: 0 for the one that loops belong to; the others help it.
    thread: usize,
    /// What all threads have in common.
    depot: Arc<Depot>,
    /// Words at most.
    limit: usize,
    /// What is still to be released, while something is freed.
    doomed: Vec<(u64, Kind)>,
    /// The kinds of fields, by data type and constructor.
    data: Vec<Vec<Vec<Kind>>>,
}

impl Heap {
    /// An empty heap for programs with these data types.
    pub(crate) fn new(data: Vec<Vec<Vec<Kind>>>, limit_bytes: u64, depot: Arc<Depot>) -> Heap {
        Heap {
            sharing: 0,
            free: [0; SMALL + 1],
            rest: (0, 0),
            large: Blocks::default(),
            spare: Spare::default(),
            lines: 0,
            orphans: Vec::new(),
            words: 0,
            kept: None,
            kept_large: Vec::new(),
            crowded: false,
            thread: 0,
            depot,
            limit: usize::try_from(limit_bytes / 8).unwrap_or(usize::MAX),
            doomed: Vec::new(),
            data,
        }
    }

    /// Whatever is in use by now is never freed.
    pub(crate) fn keep(&mut self) {
        self.kept = Some(self.words - signed(self.own_free_words()));
        self.kept_large.extend(self.large.drain().map(Block::into_words));
    }

    /// This is the memory of a thread that helps another one with its loops; their numbers are not 0.
    pub(crate) fn help(&mut self, thread: usize) {
        self.thread = thread;
        self.spare.be_modest();
    }

    /// Several threads begin to make a loop, of which this is one; `sharing` if all of them may refer to the same objects.
    pub(crate) fn begin_loop(&mut self, sharing: bool) {
        (self.crowded, self.sharing) = (true, u64::from(sharing));
        self.depot.share(self.thread, &mut self.free);
    }

    /// A part of a loop is done: what is free, all threads may take, if several make the loop.
    pub(crate) fn end_part(&mut self) {
        if self.crowded {
            self.depot.share(self.thread, &mut self.free);
        }
    }

    /// The loop is done: what a thread that helps has made goes to the one that the loop belongs to.
    pub(crate) fn end_loop(&mut self) {
        (self.crowded, self.sharing) = (false, 0);
        if self.thread != 0 {
            let rest = std::mem::take(&mut self.rest);
            let kept = self.kept.unwrap_or(0);
            let words = std::mem::replace(&mut self.words, kept) - kept;
            let own = (self.thread, &mut self.free);
            self.depot.leave(own, rest, self.large.drain(), &mut self.orphans, words);
            return;
        }
        let Left { large, orphans, words } = self.depot.left();
        self.words += words;
        large.into_iter().for_each(|block| self.large.put(block));
        let own = std::mem::take(&mut self.orphans);
        orphans.into_iter().chain(own).for_each(|address| self.free(address));
    }

    /// A new object, counted once; 0 if there is no memory.
    pub(crate) fn alloc(&mut self, words: i64) -> u64 {
        let Ok(words) = usize::try_from(words) else { return 0 };
        let address = if words <= SMALL { self.small(words) } else { self.big(words) };
        if address != 0 {
            // SAFETY: `address` is that of an object of at least one word, just made.
            unsafe { *pointer(address) = 1 };
        }
        address
    }

    fn small(&mut self, words: usize) -> u64 {
        let words = words.max(1);
        let mut free = self.free.get(words).copied().unwrap_or(0);
        if free == 0 && self.kept.is_some() {
            free = self.depot.list(self.thread, words, self.crowded);
        }
        if free != 0 {
            // SAFETY: a free object holds the address of the next one.
            let next = unsafe { *pointer(free) };
            if let Some(first) = self.free.get_mut(words) {
                *first = next;
            }
            return free;
        }
        self.run_of(words)
    }

    /// A fresh object; others of the same size beside it become free ones, so that a line of the processor's memory is only one
    /// thread's.
    fn run_of(&mut self, words: usize) -> u64 {
        if self.rest.1 < RUN && !self.next_chunk() {
            return 0;
        }
        let (begin, room) = self.rest;
        self.rest = (begin + 8 * RUN as u64, room - RUN);
        let (skipped, each) = if words > TINY {
            let word = (begin / 8) as usize % LINE;
            ((LINE + BEFORE - word) % LINE, (words + 1).next_multiple_of(LINE))
        } else {
            (0, words + 1)
        };
        let (mut next, count) = (0, (RUN - skipped) / each);
        // What is left of it is nobody's.
        self.words -= signed(RUN - count * (words + 1));
        let first = begin + 8 * skipped as u64;
        for place in (0..count).rev() {
            let before = first + 8 * (place * each) as u64;
            set_word(before, 0, words as u64);
            if place > 0 {
                set_word(before, 1, next);
                next = before + 8;
            }
        }
        if let Some(free) = self.free.get_mut(words) {
            *free = next;
        }
        first + 8
    }

    /// What somebody has left of a chunk, or a new one, for objects of any small size; whether there is one.
    fn next_chunk(&mut self) -> bool {
        let rest = match self.kept.and_then(|_| self.depot.rest()) {
            Some(rest) => rest,
            None => {
                let Some(chunk) = self.depot.chunk(self.limit) else { return false };
                self.words += signed(CHUNK);
                (chunk, CHUNK)
            }
        };
        self.rest = rest;
        true
    }

    fn big(&mut self, words: usize) -> u64 {
        let room = words.saturating_add(1);
        if self.depot.words().saturating_add(self.spare.words()).saturating_add(room) > self.limit {
            self.spare.clear();
        }
        if self.depot.words().saturating_add(room) > self.limit {
            return 0;
        }
        let block = match self.spare.take(words) {
            Some(block) => block,
            None => {
                let lines = self.lines(words);
                let Some(block) = Block::new(words, lines) else { return 0 };
                block
            }
        };
        let (address, room) = (block.address(), block.words() + 1);
        self.words += signed(room);
        self.depot.take(room);
        self.large.put(block);
        address
    }

    /// So many lines are left free before a large object. The system gives each long one pages of its own. If all began at the same
    /// place of a page, a loop through many would need the same few lines of the cache for all of them.
    fn lines(&mut self, words: usize) -> usize {
        const LONG: usize = 1 << 14;
        const STEP: usize = 5;
        if words < LONG {
            return 0;
        }
        self.lines = (self.lines + STEP) % LINES;
        self.lines
    }

    /// The most words that chunks and large objects had.
    pub(crate) fn peak_words(&self) -> usize {
        self.depot.peak()
    }

    /// Words of objects that are in use, if no other thread is at work; counted, not kept.
    pub(crate) fn words_in_use(&self) -> usize {
        let free = self.own_free_words() + self.depot.free_words();
        usize::try_from(self.words - signed(free)).unwrap_or(0)
    }

    /// Words in the thread's lists and in the rest of its chunk.
    fn own_free_words(&self) -> usize {
        free_words(&self.free) + self.rest.1
    }

    /// Frees an object, not what it refers to.
    pub(crate) fn free(&mut self, address: u64) {
        let words = (before(address) & LOWER_HALF) as usize;
        if words > SMALL {
            let Some(block) = self.large.remove(address) else {
                return self.orphans.push(address);
            };
            self.words -= signed(block.words() + 1);
            self.depot.give(block.words() + 1);
            self.spare.put(block);
        } else if let Some(first) = self.free.get_mut(words) {
            // SAFETY: an object has at least one word.
            unsafe { *pointer(address) = *first };
            *first = address;
        }
    }

    /// Frees an object to which nothing refers, and what it alone refers to; with a work list, for lists are long.
    pub(crate) fn dismantle(&mut self, address: u64, kind: Kind) {
        self.doomed.push((address, kind));
        while let Some((address, kind)) = self.doomed.pop() {
            self.release_parts(address, kind);
            self.free(address);
        }
    }

    fn release_parts(&mut self, address: u64, kind: Kind) {
        match kind {
            Kind::Plain | Kind::Text | Kind::Array(_) => {}
            Kind::Data(data) => {
                let ctor = constructor(address) as usize;
                let fields = self.data.get(data as usize).and_then(|ctors| ctors.get(ctor));
                let count = fields.map_or(0, Vec::len);
                for field in 0..count {
                    let fields = self.data.get(data as usize).and_then(|ctors| ctors.get(ctor));
                    if let Some(kind) = fields.and_then(|fields| fields.get(field)).copied() {
                        self.release(word(address, 1 + field), kind);
                    }
                }
            }
            Kind::ArrayOfText(rank) => self.release_elements(address, rank, Kind::Text),
            Kind::ArrayOfData(rank, data) => self.release_elements(address, rank, Kind::Data(data)),
        }
    }

    /// Whether nothing else refers to what data refers to.
    pub(crate) fn parts_are_own(&self, address: u64, kind: Kind) -> bool {
        let Kind::Data(data) = kind else { return true };
        let ctor = constructor(address) as usize;
        let fields = self.data.get(data as usize).and_then(|ctors| ctors.get(ctor));
        let is_own = |(field, kind): (usize, &Kind)| {
            let part = word(address, 1 + field);
            *kind == Kind::Plain || part & 1 == 1 || word(part, 0) == 1
        };
        fields.is_none_or(|fields| fields.iter().enumerate().all(is_own))
    }

    fn release_elements(&mut self, address: u64, rank: u8, kind: Kind) {
        let rank = usize::from(rank);
        let size: u64 = (1..=rank).map(|axis| word(address, axis)).product();
        for index in 0..size as usize {
            self.release(word(address, 1 + rank + index), kind);
        }
    }

    /// One reference less to each of some elements of an array of this kind: from which one on, and how many.
    pub(crate) fn release_some(&mut self, address: u64, kind: Kind, (from, count): (usize, usize)) {
        let (rank, kind) = match kind {
            Kind::ArrayOfText(rank) => (rank, Kind::Text),
            Kind::ArrayOfData(rank, data) => (rank, Kind::Data(data)),
            Kind::Plain | Kind::Text | Kind::Data(_) | Kind::Array(_) => return,
        };
        for index in from..from + count {
            self.release_now(word(address, 1 + usize::from(rank) + index), kind);
        }
    }

    /// One reference less; the last one frees the object.
    pub(crate) fn release_now(&mut self, address: u64, kind: Kind) {
        self.release(address, kind);
        if let Some((address, kind)) = self.doomed.pop() {
            self.dismantle(address, kind);
        }
    }

    /// One reference less; the last one dooms the object.
    fn release(&mut self, address: u64, kind: Kind) {
        if kind == Kind::Plain || address & 1 == 1 {
            return;
        }
        // SAFETY: a reference that is no constructor without fields is the address of an object, whose first word is its count.
        let count = unsafe { AtomicU64::from_ptr(pointer(address)) };
        // If it is the last reference, it is nobody else's to change.
        let is_last = if self.sharing != 0 {
            count.load(Ordering::Acquire) == 1 || count.fetch_sub(1, Ordering::AcqRel) == 1
        } else {
            let left = count.load(Ordering::Relaxed) - 1;
            count.store(left, Ordering::Relaxed);
            left == 0
        };
        if is_last {
            self.doomed.push((address, kind));
        }
    }

    /// One more reference to each of these objects.
    pub(crate) fn retain_all(&self, objects: &[u64]) {
        for object in objects {
            if self.sharing != 0 {
                // SAFETY: as for `release`.
                unsafe { AtomicU64::from_ptr(pointer(*object)) }.fetch_add(1, Ordering::Relaxed);
            } else {
                set_word(*object, 0, word(*object, 0) + 1);
            }
        }
    }
}

/// A number of words, which is far below the largest.
fn signed(words: usize) -> isize {
    words.cast_signed()
}

/// The lower half of a word.
const LOWER_HALF: u64 = u32::MAX as u64;

/// The word before an object.
fn before(address: u64) -> u64 {
    // SAFETY: callers give the address of an object, which has a word before it.
    unsafe { *pointer(address).wrapping_sub(1) }
}

/// So many words an object has at least.
pub(crate) fn room(address: u64) -> i64 {
    (before(address) & LOWER_HALF) as i64
}

/// Whether there is one reference to an object, which is nobody else's to change then.
pub(crate) fn is_unique(address: u64) -> bool {
    // SAFETY: callers give the address of an object, whose first word is its count.
    unsafe { AtomicU64::from_ptr(pointer(address)) }.load(Ordering::Acquire) == 1
}

/// The constructor of data that is an object.
pub(crate) fn constructor(address: u64) -> u32 {
    (before(address) >> 32) as u32
}

/// Says which constructor an object is.
pub(crate) fn set_constructor(address: u64, ctor: u32) {
    let word = before(address) & LOWER_HALF | u64::from(ctor) << 32;
    // SAFETY: as for `before`.
    unsafe { *pointer(address).wrapping_sub(1) = word };
}

/// The words of an object.
pub(crate) fn pointer(address: u64) -> *mut u64 {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

/// A word of an object.
pub(crate) fn word(address: u64, offset: usize) -> u64 {
    // SAFETY: callers give the address of an object and an offset inside of it, as the layout of `crate::loops` says.
    unsafe { *pointer(address).wrapping_add(offset) }
}

/// Sets a word of an object.
pub(crate) fn set_word(address: u64, offset: usize, value: u64) {
    // SAFETY: as for `word`.
    unsafe { *pointer(address).wrapping_add(offset) = value };
}

/// Words as they lie in memory.
pub(crate) fn words<'m, T: Word>(address: u64, count: i64) -> &'m [T] {
    let count = usize::try_from(count).unwrap_or(0);
    if count == 0 {
        return &[];
    }
    // SAFETY: compiled code gives the address of the first of `count` words, aligned and set; `Word` types have 8 bytes and any
    // bits are a value of them.
    unsafe { std::slice::from_raw_parts(pointer(address).cast::<T>(), count) }
}

/// Words to be set.
pub(crate) fn words_mut<'m, T: Word>(address: u64, count: i64) -> &'m mut [T] {
    let count = usize::try_from(count).unwrap_or(0);
    if count == 0 {
        return &mut [];
    }
    // SAFETY: as for `words`; what is written to is a new object's, to which nothing else refers.
    unsafe { std::slice::from_raw_parts_mut(pointer(address).cast::<T>(), count) }
}

/// Types of 8 bytes for which any bits are a value.
pub(crate) trait Word: Copy {}
impl Word for u64 {}
impl Word for i64 {}
impl Word for f64 {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_objects_begin_at_different_places_of_a_page() {
        let mut heap = Heap::new(Vec::new(), 1 << 24, Arc::default());
        let begin: std::collections::BTreeSet<u64> = (0..16).map(|_| heap.alloc(20_000) % 4096).collect();
        assert!(begin.len() > 8, "{begin:?}");
    }

    #[test]
    fn what_an_object_was_before_does_not_matter() {
        let mut heap = Heap::new(vec![vec![vec![Kind::Plain; 3]; 3]], 1 << 24, Arc::default());
        for words in [4, SMALL as i64 + 1] {
            let data = heap.alloc(words);
            set_constructor(data, 2);
            assert_eq!(constructor(data), 2);
            heap.release_now(data, Kind::Data(0));
            let array = heap.alloc(words);
            heap.release_now(array, Kind::Array(1));
            assert_eq!(heap.words_in_use(), 0);
            assert_eq!(heap.alloc(words), data);
            heap.release_now(data, Kind::Array(1));
        }
    }

    #[test]
    fn elements_of_arrays_begin_on_a_line() {
        let mut heap = Heap::new(Vec::new(), 1 << 24, Arc::default());
        let sizes = [10, 17, 32, 33, 34, 40, 41, 100, 4_097, 100_000];
        let made: Vec<u64> = sizes.iter().map(|size| heap.alloc(*size)).collect();
        for (address, size) in made.iter().zip(sizes) {
            assert_eq!((address + 16) % 64, 0, "{size}");
            assert_eq!(word(*address, 0), 1);
            set_word(*address, size as usize - 1, 7);
        }
        assert_eq!(heap.words_in_use(), sizes.iter().map(|size| *size as usize + 1).sum::<usize>());
        made.iter().for_each(|address| heap.free(*address));
        assert_eq!(heap.words_in_use(), 0);
        // Again in the same places.
        assert!(sizes.iter().zip(&made).all(|(size, before)| heap.alloc(*size) == *before));
    }
}
