//! Large objects: each has a block of its own, with some room before it, where its size stands and which block it is. So freeing one
//! needs no search, nor does making one of a size of which one was freed.

use super::heap::pointer;

/// Words of a line of the processor's memory, which is as long as its longest vectors.
pub(super) const LINE: usize = 8;
/// Bytes of the system's long pages.
#[cfg(target_os = "linux")]
const LONG_PAGE: usize = 2 << 20;

/// A large object: the words before it, and room for it.
pub(crate) struct Block {
    before: Vec<u64>,
    words: usize,
}

impl Block {
    /// For an object of so many words, with so many lines left free before it; nothing if there is no memory.
    pub(super) fn new(words: usize, lines: usize) -> Option<Block> {
        let mut before: Vec<u64> = Vec::new();
        let room = words.saturating_add(1).saturating_add((lines + 1) * LINE);
        before.try_reserve_exact(room).ok()?;
        #[cfg(target_os = "linux")]
        ask_for_long_pages(&mut before);
        before.resize(before_line(before.as_ptr() as u64) + lines * LINE, 0);
        before.push(size_of_large(words));
        Some(Block { before, words })
    }

    /// The words that there is room for.
    pub(super) fn words(&self) -> usize {
        self.words
    }

    /// Where it is.
    pub(super) fn address(&self) -> u64 {
        self.before.as_ptr().wrapping_add(self.before.len()) as u64
    }

    /// All of it.
    pub(super) fn into_words(self) -> Vec<u64> {
        self.before
    }

    /// It is an object of so many words now, which it has room for.
    pub(super) fn set_size(&mut self, words: usize) {
        if let Some(size) = self.before.last_mut() {
            *size = size_of_large(words);
        }
    }

    /// Notes which one it is.
    fn set_place(&mut self, place: usize) {
        if let [.., word, _] = self.before.as_mut_slice() {
            *word = place as u64;
        }
    }
}

/// The blocks of a thread. An object knows the place of its block.
#[derive(Default)]
pub(super) struct Blocks {
    places: Vec<Option<Block>>,
    free: Vec<usize>,
}

impl Blocks {
    /// One more.
    pub(super) fn put(&mut self, mut block: Block) {
        let place = self.free.pop().unwrap_or(self.places.len());
        block.set_place(place);
        match self.places.get_mut(place) {
            Some(free) => *free = Some(block),
            None => self.places.push(Some(block)),
        }
    }

    /// That of an object, if it is among these.
    pub(super) fn remove(&mut self, address: u64) -> Option<Block> {
        // SAFETY: callers give the address of a large object, before which stand its size and the place of its block.
        let place = unsafe { *pointer(address).wrapping_sub(2) } as usize;
        let block = self.places.get_mut(place)?;
        if block.as_ref()?.address() != address {
            return None;
        }
        self.free.push(place);
        block.take()
    }

    /// All, which are elsewhere then.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Block> {
        self.free.clear();
        std::mem::take(&mut self.places).into_iter().flatten()
    }
}

/// Asks the system for long pages where a block is: there are fewer to be cleared, found and looked up then. It may not have any.
#[cfg(target_os = "linux")]
fn ask_for_long_pages(block: &mut Vec<u64>) {
    let begin = block.as_ptr() as usize;
    let end = begin + 8 * block.capacity();
    let (first, end) = (begin.next_multiple_of(LONG_PAGE), end - end % LONG_PAGE);
    if first < end {
        let address = block.as_mut_ptr().wrapping_byte_add(first - begin);
        // SAFETY: this is memory of the block, and nothing that is in it changes.
        unsafe { libc::madvise(address.cast(), end - first, libc::MADV_HUGEPAGE) };
    }
}

/// What stands before a large object of so many words: their number, if it has room there.
fn size_of_large(words: usize) -> u64 {
    (words as u64).min(u64::from(u32::MAX))
}

/// So many words from where a block lies the size of its object stands, so that the elements of an array with one axis, which come
/// after its size and its count, begin on a line: vectors that cross lines take twice as long. There is room for one word before.
fn before_line(block: u64) -> usize {
    let header = 3;
    let line = LINE as u64;
    let before = ((line - (block / 8 + header) % line) % line) as usize;
    if before == 0 { LINE } else { before }
}
