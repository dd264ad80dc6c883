//! What compiled code is given: where its stack ends, whether to stop, and the runtime's own state behind that.

use super::depot::Depot;
use super::heap::{FOREVER, Heap, set_word, words_mut};
use super::pool::Pool;
use super::release::release_together;
use super::stack::{self, Entry, Stack};
use crate::loops::{Kind, Program};
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The state of a run. Compiled code knows the first fields by their places.
#[repr(C)]
pub(crate) struct Context {
    /// At [`STACK_LIMIT`]: below this address recursion is deep; then this is [`STACK_END`]'s.
    stack_limit: u64,
    /// At [`STOP`]: the address of a word that is not 0 when the program is to stop.
    stop: *const AtomicU64,
    /// At [`TEXTS`]: the address of the addresses of the program's texts.
    texts: *const u64,
    /// At [`STACK_END`]: below this address recursion fails.
    stack_end: u64,
    save: u64,
    /// At [`SHARING`].
    heap: Heap,
    raised: Option<Raised>,
    stack: Stack,
    /// What `stack_limit` is before recursion is deep.
    stack_deep: u64,
    /// How many threads make loops, this one included, and the others, once there is a loop for them.
    threads: usize,
    pool: Option<Pool>,
    common: Arc<Common>,
    /// What `texts` points into.
    _texts: Vec<u64>,
}

/// What the contexts of all threads have in common; `stop` points into it.
pub(crate) struct Common {
    texts: Vec<Arc<str>>,
    data: Vec<Vec<Vec<Kind>>>,
    kinds: Vec<Kind>,
    limit: u64,
    /// What their memories have in common.
    depot: Arc<Depot>,
    stopped: Arc<AtomicU64>,
}

/// Where fields are that compiled code reads.
pub(crate) const STACK_LIMIT: i32 = 0;
/// See [`Context`].
pub(crate) const STOP: i32 = 8;
/// See [`Context`].
pub(crate) const TEXTS: i32 = 16;
/// See [`Context`].
pub(crate) const STACK_END: i32 = 24;
/// Where the heap starts: whether other threads may count references to the same objects.
pub(crate) const SHARING: i32 = 40;
/// Where the lists of free objects start, the heap's second field.
pub(crate) const FREE: i32 = 48;

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
        let (texts, data) = (program.texts.clone(), program.data.clone());
        let depot = Arc::default();
        Context::of(&Arc::new(Common { texts, data, kinds, limit, depot, stopped }), 1, 1)
    }

    /// The same for a thread, with others to help it; so many share what there is for stacks.
    pub(crate) fn of(common: &Arc<Common>, threads: usize, sharers: usize) -> Option<Box<Context>> {
        let stack = Stack::new(sharers)?;
        let mut heap = Heap::new(common.data.clone(), common.limit, Arc::clone(&common.depot));
        let texts: Vec<u64> = common
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
        heap.keep();
        let end = stack.limit(common.limit);
        let deep = stack.limit(super::stack::KEEP as u64).max(end);
        Some(Box::new(Context {
            stack_limit: deep,
            stack_end: end,
            stop: Arc::as_ptr(&common.stopped),
            texts: texts.as_ptr(),
            save: 0,
            heap,
            raised: None,
            stack,
            stack_deep: deep,
            threads,
            pool: None,
            common: Arc::clone(common),
            _texts: texts,
        }))
    }

    /// The same with nothing in its memory but texts; nothing if there is no address space for another stack.
    pub(crate) fn renewed(&self) -> Option<Box<Context>> {
        let Common { texts, data, kinds, limit, depot, stopped } = &*self.common;
        let (texts, data, kinds) = (texts.clone(), data.clone(), kinds.clone());
        let depot = Arc::new(Depot::after(depot.peak()));
        let common = Common { texts, data, kinds, limit: *limit, depot, stopped: Arc::clone(stopped) };
        Context::of(&Arc::new(common), self.threads, 1)
    }

    /// How many threads make loops from now on.
    pub(crate) fn set_threads(&mut self, threads: usize) {
        if threads != self.threads {
            (self.threads, self.pool) = (threads.max(1), None);
        }
    }

    /// Whether the program is to stop.
    pub(crate) fn is_to_stop(&self) -> bool {
        self.common.stopped.load(Ordering::Relaxed) != 0
    }

    /// How many threads make loops.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// The other threads, if there are any.
    pub(crate) fn pool(&mut self) -> Option<&Pool> {
        if self.pool.is_none() && self.threads > 1 {
            self.pool = Some(Pool::new(self.threads - 1, &self.common));
        }
        self.pool.as_ref()
    }

    /// Whether there are other threads, and they are not at work.
    pub(crate) fn has_others(&self) -> bool {
        self.threads > 1 && self.pool.as_ref().is_some_and(Pool::is_free)
    }

    /// A kind by its number.
    pub(crate) fn kind(&self, number: u64) -> Kind {
        let kind = usize::try_from(number).ok().and_then(|number| self.common.kinds.get(number));
        kind.copied().unwrap_or(Kind::Plain)
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
        if self.stack_limit != self.stack_deep {
            self.stack_limit = self.stack_deep;
            self.stack.shrink();
        }
        self.outcome(left)
    }

    /// Runs compiled code that always returns, on the stack that is there.
    ///
    /// # Safety
    /// As for `run`; the code calls nothing but functions of reals, and neither fails nor looks whether it is to stop.
    pub(crate) unsafe fn run_direct(&mut self, entry: Entry, args: &[u64], results: &mut [u64]) {
        let context: *mut c_void = std::ptr::from_mut(self).cast();
        // SAFETY: as the caller promises.
        unsafe { entry(context, args.as_ptr(), results.as_mut_ptr()) };
    }

    fn outcome(&mut self, left: u64) -> Result<(), Raised> {
        if left == 0 {
            return Ok(());
        }
        let nowhere = || Raised { site: u32::MAX, numbers: Vec::new(), text: None };
        Err(self.raised.take().unwrap_or_else(nowhere))
    }

    /// Runs compiled code that is called by a function that compiled code has called.
    ///
    /// # Safety
    /// As for `run`; `context` is what that function was given.
    pub(crate) unsafe fn run_inside(
        context: *mut c_void,
        entry: Entry,
        args: &[u64],
        results: &mut [u64],
    ) -> Result<(), Raised> {
        // SAFETY: as promised.
        let around = unsafe { state(context) }.save;
        // SAFETY: as promised.
        let save = unsafe { &raw mut state(context).save };
        // SAFETY: the code runs on what is left of the stack.
        let left = unsafe { stack::enter_here(entry, context, args.as_ptr(), results.as_mut_ptr(), save) };
        // SAFETY: the code is done.
        let state = unsafe { state(context) };
        state.save = around;
        state.outcome(left)
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

/// A new object. Fails at that site if there is no memory.
pub(crate) unsafe extern "C" fn alloc(context: *mut c_void, words: i64, site: u64) -> u64 {
    // SAFETY: called by compiled code with its context.
    let state = unsafe { state(context) };
    let address = state.heap.alloc(words);
    if address == 0 {
        // SAFETY: as above.
        unsafe { no_memory(context, site) };
    }
    address
}

/// Fails since there is no memory.
///
/// # Safety
/// `context` is what the function was given that compiled code has called, and nothing of that function is left to be dropped.
pub(crate) unsafe fn no_memory(context: *mut c_void, site: u64) -> ! {
    let site = u32::try_from(site).unwrap_or(MEMORY);
    // SAFETY: as promised.
    unsafe { raise(context, Raised { site, numbers: Vec::new(), text: None }) }
}

/// The site of the failure that memory is full where nobody knows the place: in a thread that begins.
pub(crate) const MEMORY: u32 = u32::MAX - 1;
/// The site of the failure that the program was stopped.
pub(crate) const STOPPED: u32 = u32::MAX - 2;

/// Frees an object.
pub(crate) unsafe extern "C" fn free(context: *mut c_void, address: u64) {
    // SAFETY: called by compiled code with its context.
    unsafe { state(context) }.heap.free(address);
}

/// Frees an object to which nothing refers any more, and what it alone refers to. The kind is given by its number.
pub(crate) unsafe extern "C" fn dismantle(context: *mut c_void, address: u64, kind: u64) {
    // SAFETY: called by compiled code with its context.
    let state = unsafe { state(context) };
    let number = kind;
    let kind = state.kind(number);
    // SAFETY: as above; `state` is not used after it.
    if unsafe { release_together(context, address, (number, kind)) } {
        // SAFETY: as above.
        return unsafe { free(context, address) };
    }
    // SAFETY: as above.
    unsafe { self::state(context) }.heap.dismantle(address, kind);
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

/// Leaves compiled code with a failure.
///
/// # Safety
/// `context` is what the function was given that compiled code has called, and nothing of that function is left to be dropped.
pub(crate) unsafe fn leave_with(context: *mut c_void, raised: Raised) -> ! {
    // SAFETY: as promised.
    unsafe { raise(context, raised) }
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
