//! Loops by parts, on this thread and others.
//!
//! The length and the work of a loop say how many parts there are. Each part is given the first iteration, how many, and
//! what the loop reads from outside. The first part adds to the sums as they are, the others to zeros; then the sums are
//! added in the order of the parts. With one thread the parts are made one after the other, with the same results.
//!
//! Where parts that are not neighbors may add to an array at once, every second part is made before the others.
//!
//! If parts fail, the failure is that of the first of them in the order of the iterations: the ones before it are
//! complete, so that it is the first failure of the loop.

use super::context::{Context, Raised, leave_with, state};
use super::heap::{word, words, words_mut};
use super::pool::{Job, Outcome, Run};
use super::stack::Entry;
use crate::loops::Join;
use crate::parallel::near::REACH;
use std::ffi::c_void;
use wengert_prim::special;

/// The work of a part at least.
const GRAIN: f64 = 65_536.0;
/// So many parts at most, and so many if they add to arrays.
const MOST: i64 = 64;
const MOST_WITH_ARRAYS: i64 = 16;
/// The work for each number of an array that a part adds to, at least: there is an array for each part.
const EACH: f64 = 64.0;
/// Larger parts start at multiples of this.
const STEP: i64 = 8;

/// What is in front of the description of a loop: its length, its work, whether it goes backward (1) and whether only parts that are
/// not neighbors may be made at once (2), and whether parts count references to the same objects (4), how many words are captured,
/// how many sums are words, how each is put together ([`Join::code`], four bits for each), and how many are arrays. There follow the captured words, the sums,
/// and for each array which captured word is its address, and how many numbers it has.
pub(crate) const HEAD: usize = 7;

/// A loop that is made by parts.
#[derive(Clone)]
pub(crate) struct Loop {
    entry: Entry,
    len: i64,
    backward: bool,
    /// Whether only parts that are not neighbors may be made at once; then there are no sums.
    near: bool,
    /// Whether parts count references to the same objects.
    pub(crate) sharing: bool,
    /// How many iterations a part has.
    size: i64,
    /// How many parts there are.
    pub(crate) parts: usize,
    captured: Vec<u64>,
    /// The sums at the start.
    sums: Vec<u64>,
    /// How each is put together.
    joins: u64,
    /// Among the captured words, and how many numbers.
    arrays: Vec<(usize, i64)>,
}

impl Loop {
    fn new(entry: Entry, info: &[u64]) -> Option<Loop> {
        let (head, mut rest) = info.split_at_checked(HEAD)?;
        let [len, work, way, captured, sums, joins, arrays] = *head else { return None };
        let (backward, near, sharing) = (way & 1 != 0, way & 2 != 0, way & 4 != 0);
        let mut take = |count: u64| {
            let (taken, others) = rest.split_at_checked(usize::try_from(count).ok()?)?;
            rest = others;
            Some(taken)
        };
        let captured = take(captured)?.to_vec();
        let sums = take(sums)?.to_vec();
        let pairs = take(arrays * 2)?;
        let arrays = pairs.chunks_exact(2).filter_map(|pair| {
            let [place, size] = *pair else { return None };
            Some((usize::try_from(place).ok()?, size.cast_signed()))
        });
        let arrays: Vec<(usize, i64)> = arrays.collect();
        let len = len.cast_signed();
        let (size, parts) = division(len, f64::from_bits(work), &arrays, near);
        Some(Loop { entry, len, backward, near, sharing, size, parts, captured, sums, joins, arrays })
    }

    /// A loop that is given these words, may refer to the same objects everywhere, adds nothing up, and is much work.
    pub(crate) fn of_words(entry: Entry, len: i64, captured: Vec<u64>) -> Loop {
        let (size, parts) = division(len, f64::INFINITY, &[], false);
        let (sums, arrays) = (Vec::new(), Vec::new());
        let (backward, near, sharing, joins) = (false, false, true, 0);
        Loop { entry, len, backward, near, sharing, size, parts, captured, sums, joins, arrays }
    }

    /// How often some of the parts are made at once, before the next are.
    fn rounds(&self) -> usize {
        if self.near { 2 } else { 1 }
    }

    /// How many parts a round has.
    pub(crate) fn in_round(&self, round: usize) -> usize {
        if self.near { (self.parts + 1 - round) / 2 } else { self.parts }
    }

    /// A part of a round.
    pub(crate) fn part_of(&self, round: usize, place: usize) -> usize {
        if self.near { 2 * place + round } else { place }
    }

    /// What a part is given, with other arrays to add to.
    fn args(&self, part: usize, arrays: &[u64]) -> Vec<u64> {
        let start = self.size * i64::try_from(part).unwrap_or(0);
        let count = self.size.min(self.len - start);
        let from = if self.backward { self.len - start - count } else { start };
        let mut args = vec![from.cast_unsigned(), count.cast_unsigned()];
        args.extend(&self.captured);
        for ((place, _), array) in self.arrays.iter().zip(arrays) {
            if let Some(word) = args.get_mut(2 + place) {
                *word = *array;
            }
        }
        let start = |(place, sum): (usize, &u64)| match (part, self.join(place)) {
            (0, _) => *sum,
            (_, Some((Join::Add, true))) => (-0.0_f64).to_bits(),
            (_, Some((Join::Add, false))) => 0,
            // The largest of all is no larger if one more starts with what was the largest before the loop.
            (_, _) => *sum,
        };
        args.extend(self.sums.iter().enumerate().map(start));
        args
    }

    /// How a sum is put together, and whether it is a real.
    fn join(&self, place: usize) -> Option<(Join, bool)> {
        const JOINS: [Join; 6] =
            [Join::Add, Join::Max, Join::Min, Join::Largest, Join::Smallest, Join::Place];
        let code = self.joins >> (4 * place) & 15;
        Some((*JOINS.get(usize::try_from(code / 2).ok()?)?, code % 2 == 1))
    }

    /// Adds what a part has found.
    fn add(&self, part: usize, sums: &mut [u64], found: &[u64]) {
        // Whether the largest is one of this part, so that its place is too.
        let mut better = false;
        for (place, (sum, more)) in sums.iter_mut().zip(found).enumerate() {
            let Some((join, real)) = self.join(place) else { continue };
            if part == 0 {
                *sum = *more;
                continue;
            }
            let (old, new) = (*sum, *more);
            let value = if real {
                reals(join, f64::from_bits(old), f64::from_bits(new)).map(f64::to_bits)
            } else {
                ints(join, old.cast_signed(), new.cast_signed()).map(i64::cast_unsigned)
            };
            if join != Join::Place {
                better = value.is_some();
            }
            match value {
                Some(value) => *sum = value,
                None if join == Join::Place && better => *sum = new,
                None => {}
            }
        }
    }

    /// Adds what a part has added to arrays of its own.
    fn add_arrays(&self, arrays: &[u64]) {
        for ((place, size), array) in self.arrays.iter().zip(arrays) {
            let to = self.captured.get(*place).copied().unwrap_or(0);
            let from = words::<f64>(*array, *size);
            words_mut::<f64>(to, *size).iter_mut().zip(from).for_each(|(to, from)| *to += from);
        }
    }

    /// Makes a part.
    pub(crate) fn run(&self, part: usize, arrays: &[u64], run: Run<'_>) -> Outcome {
        let mut found = vec![0; self.sums.len()];
        run(self.entry, &self.args(part, arrays), &mut found)?;
        Ok(found)
    }
}

/// Two reals put together; `None` if nothing changes.
fn reals(join: Join, old: f64, new: f64) -> Option<f64> {
    // A number that is none is larger and smaller than all, but not than one that is none.
    let first_that_is_none = new.is_nan() && !old.is_nan();
    match join {
        Join::Add => Some(old + new),
        Join::Max => Some(special::max(old, new)),
        Join::Min => Some(special::min(old, new)),
        Join::Largest => (new > old || first_that_is_none).then_some(new),
        Join::Smallest => (new < old || first_that_is_none).then_some(new),
        Join::Place => None,
    }
}

/// Two integers put together; `None` if nothing changes.
fn ints(join: Join, old: i64, new: i64) -> Option<i64> {
    match join {
        Join::Add => Some(old.wrapping_add(new)),
        Join::Max => Some(old.max(new)),
        Join::Min => Some(old.min(new)),
        Join::Largest => (new > old).then_some(new),
        Join::Smallest => (new < old).then_some(new),
        Join::Place => None,
    }
}

/// How many iterations a part has, and how many parts there are.
fn division(len: i64, work: f64, arrays: &[(usize, i64)], near: bool) -> (i64, usize) {
    let bounded = |n: f64, most: i64| if n >= most as f64 { most } else { n as i64 };
    let numbers: i64 = arrays.iter().map(|(_, size)| *size).sum();
    let mut parts = bounded(work / GRAIN, MOST).min(len);
    if !arrays.is_empty() {
        parts = parts.min(bounded(work / (EACH * numbers.max(1) as f64), MOST_WITH_ARRAYS));
    }
    let size = (len + parts.max(1) - 1) / parts.max(1);
    let size = if near { size.max(2 * REACH) } else { size };
    let size = if size >= STEP * STEP { (size + STEP - 1) / STEP * STEP } else { size.max(1) };
    (size, usize::try_from((len + size - 1) / size).unwrap_or(1))
}

/// Makes a loop by parts. The sums are left where they were found.
pub(crate) unsafe extern "C" fn parallel(context: *mut c_void, entry: *const u8, info: *mut u64) {
    let failed = {
        // SAFETY: compiled code gives the address of an entry that it has.
        let entry = unsafe { std::mem::transmute::<*const u8, Entry>(entry) };
        let address = info as u64;
        let (captured, sums, arrays) = (word(address, 3), word(address, 4), word(address, 6));
        let count = HEAD as u64 + captured + sums + 2 * arrays;
        let described = words::<u64>(address, count.cast_signed());
        match Loop::new(entry, described) {
            None => Some(Raised { site: u32::MAX, numbers: Vec::new(), text: None }),
            // SAFETY: called by compiled code with its context.
            Some(parts) => match unsafe { sums_of(context, parts) } {
                Ok(found) => {
                    let place = address + 8 * (HEAD as u64 + captured);
                    words_mut::<u64>(place, sums.cast_signed()).copy_from_slice(&found);
                    None
                }
                Err(raised) => Some(raised),
            },
        }
    };
    if let Some(raised) = failed {
        // SAFETY: called by compiled code with its context; nothing of this function is left to be dropped.
        unsafe { leave_with(context, raised) };
    }
}

/// What the parts add up to.
///
/// # Safety
/// Called by what compiled code has called with its context; the entry takes the words that the loop gives to it.
pub(crate) unsafe fn sums_of(context: *mut c_void, parts: Loop) -> Outcome {
    // SAFETY: as the caller promises; each reference is used only until the next is made.
    let threads = unsafe { state(context) }.threads();
    // SAFETY: as above.
    let mut run = |entry: Entry, args: &[u64], results: &mut [u64]| unsafe {
        let outcome = Context::run_inside(context, entry, args, results);
        state(context).heap().end_part();
        outcome
    };
    let alone = threads < 2
        || parts.parts < 2
        // SAFETY: as above. A loop in a part of a loop is made by the thread that makes the part.
        || unsafe { state(context) }.pool().is_none_or(|pool| !pool.is_free());
    if alone {
        // SAFETY: as above.
        return unsafe { one_by_one(context, &parts, &mut run) };
    }
    if parts.near {
        // SAFETY: as above.
        return unsafe { in_rounds(context, (&parts, threads), &mut run) };
    }
    let mut buffers = Vec::new();
    for _ in 1..parts.parts {
        // SAFETY: as above.
        let made = unsafe { arrays_of_zeros(context, &parts) };
        let Some(made) = made else {
            // SAFETY: as above.
            unsafe { free_all(context, &buffers) };
            // SAFETY: as above.
            return unsafe { one_by_one(context, &parts, &mut run) };
        };
        buffers.push(made);
    }
    // SAFETY: as above.
    unsafe { state(context) }.heap().begin_loop(parts.sharing);
    let job = Job::new(parts, buffers, 0, threads);
    // SAFETY: as above.
    let outcomes = match unsafe { state(context) }.pool() {
        Some(pool) => pool.run(&job, &mut run),
        None => job.run_all(&mut run),
    };
    // SAFETY: as above.
    unsafe { state(context) }.heap().end_loop();
    let mut result = Ok(job.parts.sums.clone());
    for (part, outcome) in outcomes.into_iter().enumerate() {
        let (Ok(sums), Ok(found)) = (&mut result, outcome.as_ref()) else {
            result = result.and(outcome);
            break;
        };
        job.parts.add(part, sums, found);
        if let Some(arrays) = part.checked_sub(1).and_then(|place| job.buffers.get(place)) {
            job.parts.add_arrays(arrays);
        }
    }
    // SAFETY: as above.
    unsafe { free_all(context, &job.buffers) };
    result
}

/// Every second part, then the others: the first failure, if there is one. There are no sums.
unsafe fn in_rounds(context: *mut c_void, (parts, threads): (&Loop, usize), run: Run<'_>) -> Outcome {
    // SAFETY: as the caller promises.
    unsafe { state(context) }.heap().begin_loop(parts.sharing);
    let mut first: Option<(usize, Raised)> = None;
    for round in 0..parts.rounds() {
        let job = Job::new(parts.clone(), Vec::new(), round, threads);
        // SAFETY: as the caller promises.
        let outcomes = match unsafe { state(context) }.pool() {
            Some(pool) => pool.run(&job, run),
            None => job.run_all(run),
        };
        for (place, outcome) in outcomes.into_iter().enumerate() {
            note(&mut first, parts.part_of(round, place), outcome);
        }
    }
    // SAFETY: as above.
    unsafe { state(context) }.heap().end_loop();
    first.map_or(Ok(Vec::new()), |(_, raised)| Err(raised))
}

/// Keeps the failure of the first part that has failed.
fn note(first: &mut Option<(usize, Raised)>, part: usize, outcome: Outcome) {
    if let Err(raised) = outcome
        && first.as_ref().is_none_or(|(before, _)| part < *before)
    {
        *first = Some((part, raised));
    }
}

/// The parts, one after the other.
unsafe fn one_by_one(context: *mut c_void, parts: &Loop, run: Run<'_>) -> Outcome {
    if parts.near {
        let mut first = None;
        for round in 0..parts.rounds() {
            for part in (0..parts.in_round(round)).map(|place| parts.part_of(round, place)) {
                if first.as_ref().is_none_or(|(failed, _)| part < *failed) {
                    note(&mut first, part, parts.run(part, &[], run));
                }
            }
        }
        return first.map_or(Ok(Vec::new()), |(_, raised)| Err(raised));
    }
    let mut sums = parts.run(0, &[], run)?;
    if parts.parts < 2 {
        return Ok(sums);
    }
    // SAFETY: as the caller promises.
    let Some(arrays) = (unsafe { arrays_of_zeros(context, parts) }) else {
        return Err(Raised { site: super::context::MEMORY, numbers: Vec::new(), text: None });
    };
    for part in 1..parts.parts {
        if part > 1 {
            for ((_, size), array) in parts.arrays.iter().zip(&arrays) {
                words_mut::<f64>(*array, *size).fill(0.0);
            }
        }
        let found = parts.run(part, &arrays, run)?;
        parts.add(part, &mut sums, &found);
        parts.add_arrays(&arrays);
    }
    // SAFETY: as above.
    unsafe { free_all(context, &[arrays]) };
    Ok(sums)
}

/// Arrays for a part to add to; `None` if there is no memory.
unsafe fn arrays_of_zeros(context: *mut c_void, parts: &Loop) -> Option<Vec<u64>> {
    // SAFETY: as the caller promises.
    let heap = unsafe { state(context) }.heap();
    let mut made = Vec::with_capacity(parts.arrays.len());
    for (_, size) in &parts.arrays {
        let array = heap.alloc(*size);
        if array == 0 {
            made.into_iter().for_each(|array| heap.free(array));
            return None;
        }
        words_mut::<f64>(array, *size).fill(0.0);
        made.push(array);
    }
    Some(made)
}

unsafe fn free_all(context: *mut c_void, buffers: &[Vec<u64>]) {
    // SAFETY: as the caller promises.
    let heap = unsafe { state(context) }.heap();
    buffers.iter().flatten().for_each(|array| heap.free(*array));
}

#[cfg(test)]
mod tests {
    use super::division;

    /// All iterations are in parts, none of which is empty, and there are no more than is said.
    #[test]
    fn parts_are_all_of_a_loop() {
        for len in [1, 2, 7, 63, 64, 65, 100, 4096, 1_000_003] {
            for work in [0.0, 1e5, 1e6, 1e9, f64::INFINITY, f64::NAN] {
                for arrays in [vec![], vec![(0, 10)], vec![(0, 1000), (1, 1 << 40)]] {
                    let (size, parts) = division(len, work, &arrays, false);
                    let parts = i64::try_from(parts).expect("few");
                    assert!(size >= 1 && (1..=64).contains(&parts), "{len} {work}");
                    assert!(
                        (parts - 1) * size < len && len <= parts * size,
                        "{len} {work}: {parts} of {size}"
                    );
                }
            }
        }
        assert_eq!(division(1_000_000, 1e9, &[], false), (15_632, 64));
        assert_eq!(division(1000, 1e6, &[(0, 1000)], false), (72, 14));
        assert_eq!(division(100, 1e4, &[], false).1, 1);
        // Neighbors of neighbors are far enough from each other.
        assert_eq!(division(100, 1e9, &[], true), (16, 7));
    }
}
