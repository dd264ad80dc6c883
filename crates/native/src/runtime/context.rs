//! What compiled code is given: where its stack ends, whether to stop, and the runtime's own state behind that.

use super::heap::{FOREVER, Heap, set_word, words_mut};
use super::stack::{self, Entry, Stack};
use crate::loops::{Kind, Program};
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// The state of a run. Compiled code knows the first fields by their places.
#[repr(C)]
pub(crate) struct Context {
    /// At [`STACK_LIMIT`]: below this address recursion asks how much deeper it may go.
    stack_limit: u64,
    /// At [`STOP`]: the address of a word that is not 0 when the program is to stop.
    stop: *const AtomicU64,
    /// At [`TEXTS`]: the address of the addresses of the program's texts.
    texts: *const u64,
    save: u64,
    /// At [`FREE`].
    heap: Heap,
    kinds: Vec<Kind>,
    raised: Option<Raised>,
    stack: Stack,
    /// Where recursion is called deep, and where it fails.
    stack_bounds: (u64, u64),
    /// What `texts` points into, and `stop` at.
    _owned: (Vec<u64>, Arc<AtomicU64>),
}

/// Where fields are that compiled code reads.
pub(crate) const STACK_LIMIT: i32 = 0;
/// See [`Context`].
pub(crate) const STOP: i32 = 8;
/// See [`Context`].
pub(crate) const TEXTS: i32 = 16;
/// Where the lists of free objects start, which are the heap's first field.
pub(crate) const FREE: i32 = 32;

/// A failure: its place and the numbers that belong to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Raised {
    /// In [`Program::sites`].
    pub(crate) site: u32,
    /// See [`crate::loops::Failure`].
    pub(crate) numbers: Vec<u64>,
    /// The user's message, if that is what it is.
    pub(crate) text: Option<String>,
}

impl Context {
    /// The state for runs of a program; `None` if there is no address space for a stack.
    pub(crate) fn new(
        program: &Program,
        kinds: Vec<Kind>,
        limit: u64,
        stopped: Arc<AtomicU64>,
    ) -> Option<Box<Context>> {
        let stack = Stack::new()?;
        let mut heap = Heap::new(program.data.clone(), limit);
        let texts: Vec<u64> = program
            .texts
            .iter()
            .map(|text| {
                let object = super::text::object(&mut heap, text);
                if object != 0 {
                    set_word(object, 0, FOREVER);
                }
                object
            })
            .collect();
        if texts.contains(&0) {
            return None;
        }
        let end = stack.limit(limit);
        let deep = stack.limit(super::stack::KEEP as u64).max(end);
        Some(Box::new(Context {
            stack_limit: deep,
            stop: Arc::as_ptr(&stopped),
            texts: texts.as_ptr(),
            save: 0,
            heap,
            kinds,
            raised: None,
            stack,
            stack_bounds: (deep, end),
            _owned: (texts, stopped),
        }))
    }

    /// The memory.
    pub(crate) fn heap(&mut self) -> &mut Heap {
        &mut self.heap
    }

    /// Runs compiled code.
    ///
    /// # Safety
    /// `entry` is compiled for the program of this state and takes and gives as many words as there are.
    pub(crate) unsafe fn run(
        &mut self,
        entry: Entry,
        args: &[u64],
        results: &mut [u64],
    ) -> Result<(), Raised> {
        let save = &raw mut self.save;
        let top = self.stack.top();
        let context: *mut c_void = std::ptr::from_mut(self).cast();
        // SAFETY: the stack is ours and unused; `entry` is as the caller promises.
        let left = unsafe { stack::enter(entry, context, args.as_ptr(), results.as_mut_ptr(), top, save) };
        if self.stack_limit != self.stack_bounds.0 {
            self.stack_limit = self.stack_bounds.0;
            self.stack.shrink();
        }
        if left == 0 {
            return Ok(());
        }
        let nowhere = || Raised { site: u32::MAX, numbers: Vec::new(), text: None };
        Err(self.raised.take().unwrap_or_else(nowhere))
    }
}

/// The state behind the pointer that compiled code passes on.
///
/// # Safety
/// `context` is what `Context::run` gave to the code that is running, and no other reference to it is in use.
pub(crate) unsafe fn state<'c>(context: *mut c_void) -> &'c mut Context {
    // SAFETY: as promised.
    unsafe { &mut *context.cast::<Context>() }
}

/// A new object. Fails if there is no memory.
pub(crate) unsafe extern "C" fn alloc(context: *mut c_void, words: i64) -> u64 {
    // SAFETY: called by compiled code with its context.
    let state = unsafe { state(context) };
    let address = state.heap.alloc(words);
    if address == 0 {
        // SAFETY: as above.
        unsafe { raise(context, Raised { site: MEMORY, numbers: Vec::new(), text: None }) };
    }
    address
}

/// The site of the failure that memory is full, which can happen anywhere.
pub(crate) const MEMORY: u32 = u32::MAX - 1;
/// The site of the failure that the program was stopped.
pub(crate) const STOPPED: u32 = u32::MAX - 2;

/// Recursion has come to the limit, with its stack pointer here: it is deep, and goes on, or fails at the end of the stack.
pub(crate) unsafe extern "C" fn deepen(context: *mut c_void, pointer: u64) {
    // SAFETY: called by compiled code with its context.
    let state = unsafe { state(context) };
    let (_, end) = state.stack_bounds;
    if pointer < end {
        // SAFETY: as above.
        unsafe { raise(context, Raised { site: MEMORY, numbers: Vec::new(), text: None }) };
    }
    state.stack_limit = end;
}

/// Frees an object.
pub(crate) unsafe extern "C" fn free(context: *mut c_void, address: u64) {
    // SAFETY: called by compiled code with its context.
    unsafe { state(context) }.heap.free(address);
}

/// Frees an object to which nothing refers any more, and what it alone refers to. The kind is given by its number.
pub(crate) unsafe extern "C" fn dismantle(context: *mut c_void, address: u64, kind: u64) {
    // SAFETY: called by compiled code with its context.
    let state = unsafe { state(context) };
    let kind = usize::try_from(kind).ok().and_then(|kind| state.kinds.get(kind)).copied();
    state.heap.dismantle(address, kind.unwrap_or(Kind::Plain));
}

/// A failure at a site, with numbers.
pub(crate) unsafe extern "C" fn fail(context: *mut c_void, site: u64, numbers: *const u64, count: u64) -> ! {
    let site = u32::try_from(site).unwrap_or(u32::MAX);
    let count = i64::try_from(count).unwrap_or(0);
    let numbers = super::heap::words::<u64>(numbers as u64, count).to_vec();
    // SAFETY: called by compiled code with its context.
    unsafe { raise(context, Raised { site, numbers, text: None }) }
}

/// The failure that the program calls itself: the number is a text.
pub(crate) unsafe extern "C" fn fail_with(context: *mut c_void, site: u64, text: u64) -> ! {
    let site = u32::try_from(site).unwrap_or(u32::MAX);
    let text = super::text::read(text).to_owned();
    // SAFETY: called by compiled code with its context.
    unsafe { raise(context, Raised { site, numbers: Vec::new(), text: Some(text) }) }
}

/// Leaves compiled code.
unsafe fn raise(context: *mut c_void, raised: Raised) -> ! {
    // SAFETY: as promised by the caller.
    let state = unsafe { state(context) };
    state.raised = Some(raised);
    // SAFETY: compiled code is running on the stack that `run` entered, which has saved its place.
    unsafe { stack::leave(&raw const state.save) }
}

/// Copies words that do not overlap.
pub(crate) unsafe extern "C" fn copy_words(_: *mut c_void, from: u64, to: u64, count: i64) {
    words_mut::<u64>(to, count).copy_from_slice(super::heap::words(from, count));
}

/// Sets words to 0.
pub(crate) unsafe extern "C" fn zero_words(_: *mut c_void, to: u64, count: i64) {
    words_mut::<u64>(to, count).fill(0);
}
