//! Which register a value is in, in straight-line code: the one whose value is used last goes to memory if there is none.

use std::collections::VecDeque;

/// Where a value is.
#[derive(Clone, Debug, Default)]
struct Place {
    register: Option<u8>,
    /// Its place in memory, once it is there.
    kept: Option<usize>,
    /// The steps that still read it.
    uses: VecDeque<usize>,
}

/// What is to be done so that a register is as it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Move {
    /// From the register to a place in memory.
    Keep(u8, usize),
    /// From a place in memory to the register.
    Fetch(u8, usize),
}

/// The registers of one kind.
pub(super) struct Registers {
    places: Vec<Place>,
    /// Those that may be used, with what they hold.
    pool: Vec<(u8, Option<usize>)>,
    /// How many places in memory there are, of this kind.
    pub(super) kept: usize,
}

impl Registers {
    /// For so many values.
    pub(super) fn new(values: usize, pool: impl IntoIterator<Item = u8>) -> Registers {
        Registers {
            places: vec![Place::default(); values],
            pool: pool.into_iter().map(|register| (register, None)).collect(),
            kept: 0,
        }
    }

    /// Notes that a step reads a value; steps come in their order.
    pub(super) fn will_read(&mut self, value: usize, step: usize) {
        if let Some(place) = self.places.get_mut(value) {
            place.uses.push_back(step);
        }
    }

    /// A value has a register of its own outside of the pool.
    pub(super) fn pin(&mut self, value: usize, register: u8) {
        if let Some(place) = self.places.get_mut(value) {
            place.register = Some(register);
        }
    }

    /// A value begins in memory, at a place of its own.
    pub(super) fn put(&mut self, value: usize, kept: usize) {
        if let Some(place) = self.places.get_mut(value) {
            place.kept = Some(kept);
        }
        self.kept = self.kept.max(kept + 1);
    }

    /// A register for a value that is read or made now, none of those that are locked.
    pub(super) fn register(&mut self, value: usize, locked: &[u8], moves: &mut Vec<Move>) -> u8 {
        if let Some(register) = self.places.get(value).and_then(|place| place.register) {
            return register;
        }
        let register = self.free(locked, moves);
        if let Some((_, holds)) = self.pool.iter_mut().find(|(known, _)| *known == register) {
            *holds = Some(value);
        }
        if let Some(place) = self.places.get_mut(value) {
            place.register = Some(register);
            moves.extend(place.kept.map(|kept| Move::Fetch(register, kept)));
        }
        register
    }

    /// A register that is free now.
    pub(super) fn free(&mut self, locked: &[u8], moves: &mut Vec<Move>) -> u8 {
        if let Some((register, _)) =
            self.pool.iter().find(|(register, holds)| holds.is_none() && !locked.contains(register))
        {
            return *register;
        }
        let next = |holds: Option<usize>| {
            let place = holds.and_then(|value| self.places.get(value));
            place.and_then(|place| place.uses.front().copied()).unwrap_or(usize::MAX)
        };
        let candidates = self.pool.iter().filter(|(register, _)| !locked.contains(register));
        let Some((register, holds)) = candidates.max_by_key(|(_, holds)| next(*holds)).copied() else {
            return 0;
        };
        if let Some(place) = holds.and_then(|value| self.places.get_mut(value)) {
            place.register = None;
            if place.kept.is_none() {
                place.kept = Some(self.kept);
                moves.push(Move::Keep(register, self.kept));
                self.kept += 1;
            }
        }
        if let Some((_, holds)) = self.pool.iter_mut().find(|(known, _)| *known == register) {
            *holds = None;
        }
        register
    }

    /// A step has read a value: if no other will, its register is free.
    pub(super) fn has_read(&mut self, value: usize, step: usize) {
        if let Some(place) = self.places.get_mut(value) {
            while place.uses.front().is_some_and(|next| *next <= step) {
                place.uses.pop_front();
            }
            if place.uses.is_empty() {
                self.pool
                    .iter_mut()
                    .filter(|(_, holds)| *holds == Some(value))
                    .for_each(|(_, holds)| *holds = None);
            }
        }
    }
}
