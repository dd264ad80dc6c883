//! Large objects that nobody needs any more, kept for the next ones: fresh memory is slow, for the system clears it, page by page.
//!
//! Short ones are used again for objects of the same size, long ones also for those that need a little less. If there are too many,
//! some go that have another size than the last one: what a program does now is what it needs.

use super::large::Block;

/// So many are kept, of any size,
const SOME: usize = 16;
/// and more while they have no more words than these.
const FEW: usize = 4 << 20;
/// Freed ones of up to so many words have a list for each size, longer ones four for each power of two.
const SHORT: usize = 1 << 10;
/// So many of a list are looked at.
const LOOKS: usize = 8;

/// Freed objects.
#[derive(Default)]
pub(super) struct Spare {
    lists: Vec<Vec<Block>>,
    count: usize,
    words: usize,
    /// The list that loses some if there are too many.
    from: usize,
    /// Whether only few words are kept: no other thread can have them back.
    is_modest: bool,
}

impl Spare {
    /// From now on only few words are kept.
    pub(super) fn be_modest(&mut self) {
        self.is_modest = true;
    }

    /// Their words, and those before them.
    pub(super) fn words(&self) -> usize {
        self.words
    }

    /// Nothing is kept any more.
    pub(super) fn clear(&mut self) {
        *self = Spare { is_modest: self.is_modest, ..Spare::default() };
    }

    /// One of so many words, or of a few more.
    pub(super) fn take(&mut self, words: usize) -> Option<Block> {
        let mut block = if words <= SHORT { self.lists.get_mut(words)?.pop()? } else { self.long(words)? };
        self.count -= 1;
        self.words -= block.words() + 1;
        block.set_size(words);
        Some(block)
    }

    /// A long one out of its list.
    fn long(&mut self, words: usize) -> Option<Block> {
        let first = list_of(words);
        let (place, at) = (first..=first + 1).find_map(|place| {
            let list = self.lists.get(place)?;
            let fits = |block: &Block| block.words() >= words && block.words() - words <= words / 4;
            let last = list.iter().enumerate().rev().take(LOOKS);
            last.filter(|(_, block)| fits(block)).map(|(at, _)| (place, at)).next()
        })?;
        Some(self.lists.get_mut(place)?.swap_remove(at))
    }

    /// One more.
    pub(super) fn put(&mut self, block: Block) {
        let own = list_of(block.words());
        let room = block.words() + 1;
        if self.lists.len() <= own {
            self.lists.resize_with(own + 1, Vec::new);
        }
        while self.has_no_place_for(room) && self.lists.get(own).map(Vec::len) != Some(self.count) {
            let others = self.lists.get_mut(self.from).filter(|_| self.from != own);
            match others.and_then(Vec::pop) {
                Some(other) => {
                    self.count -= 1;
                    self.words -= other.words() + 1;
                }
                None => self.from = (self.from + 1) % self.lists.len(),
            }
        }
        if self.has_no_place_for(room) {
            return;
        }
        if let Some(list) = self.lists.get_mut(own) {
            list.push(block);
            self.count += 1;
            self.words += room;
        }
    }

    fn has_no_place_for(&self, words: usize) -> bool {
        (self.is_modest || self.count >= SOME) && self.words + words > FEW
    }
}

/// The list of objects of so many words.
fn list_of(words: usize) -> usize {
    if words <= SHORT {
        return words;
    }
    let size = |words: usize| words.ilog2() as usize * 4 + (words >> (words.ilog2() - 2) & 3);
    SHORT + 1 + size(words) - size(SHORT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(words: usize) -> Block {
        Block::new(words, 0).expect("there is memory")
    }

    #[test]
    fn long_objects_are_used_again_where_little_is_left_over() {
        let mut spare = Spare::default();
        let address = |block: Option<Block>| block.map(|block| block.address());
        let long = block(100_000);
        let place = long.address();
        spare.put(long);
        assert!(spare.take(100_001).is_none());
        assert!(spare.take(70_000).is_none());
        let again = spare.take(90_000);
        assert_eq!(again.as_ref().map(Block::words), Some(100_000));
        assert_eq!(address(again), Some(place));
        assert_eq!(spare.words(), 0);
        // Short ones only for others of their size.
        spare.put(block(100));
        assert!(spare.take(99).is_none());
        assert!(spare.take(100).is_some());
    }

    #[test]
    fn a_few_objects_are_kept_however_long_they_are() {
        let mut spare = Spare::default();
        (0..40).for_each(|_| spare.put(block(FEW / 2)));
        assert_eq!(spare.count, SOME);
        // What a program does now is what it needs.
        (0..40).for_each(|_| spare.put(block(FEW / 4)));
        assert_eq!((0..40).filter(|_| spare.take(FEW / 4).is_some()).count(), SOME);
        let mut modest = Spare::default();
        modest.be_modest();
        (0..40).for_each(|_| modest.put(block(FEW / 4)));
        assert_eq!(modest.count, 3);
        spare.clear();
        assert_eq!((spare.words(), spare.count), (0, 0));
    }

    #[test]
    fn lists_are_ordered_by_size() {
        let lists: Vec<usize> = (33..5_000).map(list_of).collect();
        assert!(lists.is_sorted());
        assert_eq!(list_of(SHORT) + 1, list_of(SHORT + 1));
        assert!(list_of(1 << 20) + 4 == list_of(1 << 21));
    }
}
