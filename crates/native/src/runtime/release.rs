//! Long arrays of objects are taken apart by all threads.
//!
//! What a loop has made by parts would else be freed by one thread, which takes about as long as to make it, and all of that memory would
//! be that thread's.

use super::context::state;
use super::heap::{Heap, word};
use super::parallel::{Loop, sums_of};
use crate::loops::Kind;
use std::ffi::c_void;

/// Arrays with fewer elements are taken apart by one thread.
const MANY: i64 = 1024;
/// So many elements are looked at before that.
const LOOKS: i64 = 16;

/// Releases the elements of an array to which nothing refers any more, with other threads; false if that is not worth it, and
/// nothing has been done. The kind of the array is given with its number.
///
/// # Safety
/// Called by what compiled code has called with its context.
pub(crate) unsafe fn release_together(
    context: *mut c_void,
    address: u64,
    (number, kind): (u64, Kind),
) -> bool {
    let (Kind::ArrayOfText(rank) | Kind::ArrayOfData(rank, _)) = kind else { return false };
    let axes = usize::from(rank);
    let count = (1..=axes).map(|axis| word(address, axis)).product::<u64>().cast_signed();
    // SAFETY: as the caller promises.
    let state = unsafe { state(context) };
    if count < MANY || !state.has_others() {
        return false;
    }
    let element = if let Kind::ArrayOfData(_, data) = kind { Kind::Data(data) } else { Kind::Text };
    if !are_own(state.heap(), element, (address, axes, count)) {
        return false;
    }
    let parts = Loop::of_words(release_part, count, vec![address, number]);
    // SAFETY: as the caller promises; the part takes these words, and cannot fail.
    unsafe { sums_of(context, parts) }.is_ok()
}

/// Whether nothing else refers to most elements, nor to what these refer to themselves, as far as some of them tell: else there is
/// little to do, and threads might wait for each other to count references to the same objects.
fn are_own(heap: &Heap, element: Kind, (address, axes, count): (u64, usize, i64)) -> bool {
    let is_own = |look: &i64| {
        let object = word(address, 1 + axes + (count / LOOKS * look) as usize);
        object & 1 == 0 && word(object, 0) == 1 && heap.parts_are_own(object, element)
    };
    (0..LOOKS).filter(is_own).count() >= 12
}

/// Some of the elements: a part of a loop that is not compiled.
unsafe extern "C" fn release_part(context: *mut c_void, args: *const u64, _: *mut u64) {
    let [from, count, address, number] = [0, 1, 2, 3].map(|place| word(args as u64, place));
    // SAFETY: called with the context as compiled code is.
    let state = unsafe { state(context) };
    let kind = state.kind(number);
    let heap: &mut Heap = state.heap();
    heap.release_some(address, kind, (from as usize, count as usize));
}
