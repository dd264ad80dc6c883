//! Texts: count, bytes, UTF-8.

use super::context::{no_memory, state};
use super::heap::{Heap, is_unique, pointer, room, set_word, word};
use std::ffi::c_void;
use wengert_base::real;
use wengert_base::text::quote;

/// Words before the bytes.
const HEADER: usize = 2;

/// How many words a text of so many bytes takes.
pub(crate) fn size(bytes: usize) -> i64 {
    i64::try_from(HEADER + bytes.div_ceil(8)).unwrap_or(i64::MAX)
}

/// Puts a text into a new object.
pub(crate) fn fill(object: u64, text: &str) {
    put(object, 0, text);
}

/// Puts a text behind the first bytes of an object, as its end. What is left of the last word is zeros.
fn put(object: u64, before: usize, text: &str) {
    let bytes = before + text.len();
    set_word(object, 1, bytes as u64);
    if bytes.div_ceil(8) > before.div_ceil(8) {
        set_word(object, HEADER + bytes.div_ceil(8) - 1, 0);
    }
    let start = pointer(object).wrapping_add(HEADER).cast::<u8>().wrapping_add(before);
    // SAFETY: the object has room for these bytes, and nothing refers to it but what puts them there.
    unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), start, text.len()) };
}

/// A text in a heap; 0 if there is no memory.
pub(crate) fn object(heap: &mut Heap, text: &str) -> u64 {
    let object = heap.alloc(size(text.len()));
    if object != 0 {
        fill(object, text);
    }
    object
}

/// The text in an object.
pub(crate) fn read<'m>(object: u64) -> &'m str {
    let length = word(object, 1) as usize;
    // SAFETY: a text object has so many bytes of UTF-8, for only `fill` makes one.
    unsafe {
        let bytes = std::slice::from_raw_parts(pointer(object).wrapping_add(HEADER).cast::<u8>(), length);
        std::str::from_utf8_unchecked(bytes)
    }
}

/// A new text for compiled code; fails at that site if there is no memory.
unsafe fn make(context: *mut c_void, text: String, site: u64) -> u64 {
    // SAFETY: called by compiled code with its context.
    let object = object(unsafe { state(context) }.heap(), &text);
    drop(text);
    if object == 0 {
        // SAFETY: as above; nothing is left to be dropped.
        unsafe { no_memory(context, site) };
    }
    object
}

/// See [`crate::loops::Runtime::TextAppend`].
pub(crate) unsafe extern "C" fn append(context: *mut c_void, a: u64, b: u64, site: u64) -> u64 {
    let before = read(a).len();
    // SAFETY: called by compiled code with its context.
    let text = unsafe { state(context) }.heap().alloc(size(before + read(b).len()));
    if text == 0 {
        // SAFETY: as above; nothing is left to be dropped.
        unsafe { no_memory(context, site) };
    }
    put(text, 0, read(a));
    put(text, before, read(b));
    text
}

/// See [`crate::loops::Runtime::TextExtend`]. A text that grows by parts takes a time that grows with its length: what is moved
/// gets twice the room, or so much more as there is; and where that is hardly any, there is no more memory, for each part would move all.
pub(crate) unsafe extern "C" fn extend(context: *mut c_void, a: u64, b: u64, site: u64) -> u64 {
    let before = read(a).len();
    let bytes = before + read(b).len();
    let mut text = a;
    if !is_unique(a) {
        // SAFETY: called as this is.
        return unsafe { append(context, a, b, site) };
    }
    if size(bytes) <= room(a) {
        set_word(a, 0, 2);
    } else {
        // SAFETY: called by compiled code with its context.
        let heap = unsafe { state(context) }.heap();
        let rooms = [1, 2, 4, 8, 16].map(|part| size(bytes + bytes / part));
        text = rooms.into_iter().map(|room| heap.alloc(room)).find(|text| *text != 0).unwrap_or(0);
        if text == 0 {
            if bytes - before < bytes / 16 {
                // SAFETY: as above; nothing is left to be dropped.
                unsafe { no_memory(context, site) };
            }
            // SAFETY: called as this is.
            return unsafe { append(context, a, b, site) };
        }
        put(text, 0, read(a));
    }
    put(text, before, read(b));
    text
}

/// See [`crate::loops::Runtime::TextLength`].
pub(crate) unsafe extern "C" fn length(_: *mut c_void, text: u64) -> i64 {
    i64::try_from(read(text).chars().count()).unwrap_or(i64::MAX)
}

/// See [`crate::loops::Runtime::TextCompare`].
pub(crate) unsafe extern "C" fn compare(_: *mut c_void, a: u64, b: u64) -> i64 {
    read(a).cmp(read(b)) as i64
}

/// See [`crate::loops::Runtime::ShowReal`].
pub(crate) unsafe extern "C" fn show_real(context: *mut c_void, x: f64, site: u64) -> u64 {
    // SAFETY: called by compiled code with its context.
    unsafe { make(context, real::show(x), site) }
}

/// See [`crate::loops::Runtime::ShowInt`].
pub(crate) unsafe extern "C" fn show_int(context: *mut c_void, n: i64, site: u64) -> u64 {
    // SAFETY: called by compiled code with its context.
    unsafe { make(context, n.to_string(), site) }
}

/// See [`crate::loops::Runtime::ShowText`].
pub(crate) unsafe extern "C" fn show_text(context: *mut c_void, text: u64, site: u64) -> u64 {
    // SAFETY: called by compiled code with its context.
    unsafe { make(context, quote(read(text)), site) }
}
