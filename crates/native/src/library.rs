//! Programs that another compiler has made into a shared library: opened, called, closed.
//!
//! The library brings its own runtime, with memory of the layout that [`crate::loops`] describes; see `runtime/library.c` of
//! the C back end. Functions of reals are the library's own, or the ones given here ([`host_functions`]), which agree with
//! the interpreter to the last bit.

#![expect(unsafe_code, reason = "a library is opened and called")]

use crate::compiled::{Machine, nowhere};
use crate::loops::{Kind, Program as Loops};
use crate::runtime::{context::Raised, math, text};
use crate::values::Memory;
use libc::{c_int, c_void};
use std::ffi::{CStr, CString};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use wengert_ir::Program;
use wengert_ir::program::FuncId;

/// So many numbers of a failure are kept.
const NUMBERS: i64 = 64;

/// A function of reals that a library may call.
#[derive(Clone, Copy, Debug)]
pub struct HostFunction {
    /// Its name.
    pub name: &'static str,
    /// Its parameters in C.
    pub params: &'static str,
    address: *const c_void,
}

/// The functions of reals, in the order in which a library wants their addresses.
pub fn host_functions() -> Vec<HostFunction> {
    let short = |name: &'static str| name.trim_start_matches("real_");
    let unary = math::UNARY.iter().map(|(_, name, function)| HostFunction {
        name: short(name),
        params: "double",
        address: *function as *const c_void,
    });
    let binary = math::BINARY.iter().map(|(_, name, function)| HostFunction {
        name: short(name),
        params: "double, double",
        address: *function as *const c_void,
    });
    let power =
        HostFunction { name: "power", params: "void *, double, word", address: math::power as *const c_void };
    let polygamma = HostFunction {
        name: "polygamma",
        params: "void *, word, double",
        address: math::polygamma as *const c_void,
    };
    unary.chain(binary).chain([power, polygamma]).collect()
}

/// A run of a library.
type Run = *mut c_void;
type Open = unsafe extern "C" fn(u64, *const AtomicU64) -> Run;
type OfRun = unsafe extern "C" fn(Run);
type Alloc = unsafe extern "C" fn(Run, i64) -> u64;
type Release = unsafe extern "C" fn(Run, u64, i64);
type Call = unsafe extern "C" fn(Run, i64, *const u64, *mut u64) -> c_int;
type Count = unsafe extern "C" fn(Run) -> i64;
type Number = unsafe extern "C" fn(Run, i64) -> u64;
type Text = unsafe extern "C" fn(Run) -> u64;
type SetThreads = unsafe extern "C" fn(Run, i64);
type Give = unsafe extern "C" fn(*const *const c_void);

/// A library's functions.
struct Interface {
    open: Open,
    close: OfRun,
    alloc: Alloc,
    release: Release,
    call: Call,
    site: Count,
    number: Number,
    text: Text,
    words_in_use: Count,
    peak_words: Count,
    clear: OfRun,
    /// A library without loops that are divided has none.
    threads: Option<SetThreads>,
}

/// A library that is open, and a run of it with its memory.
pub(crate) struct Library {
    handle: *mut c_void,
    run: Run,
    interface: Interface,
    entries: Vec<FuncId>,
    kinds: Vec<Kind>,
    _stopped: Arc<AtomicU64>,
}

/// What a library is made of.
pub struct Made {
    /// The program, of which the loops were made.
    pub program: Program,
    /// The loops.
    pub loops: Loops,
    /// The functions that it can be asked for, in their order there.
    pub entries: Vec<FuncId>,
    /// What it knows kinds by: their places are their numbers.
    pub kinds: Vec<Kind>,
}

impl Library {
    /// Opens the library at a path. It may use so many bytes of memory, and stops soon after `stopped` is not 0.
    pub(crate) fn open(
        path: &str,
        entries: Vec<FuncId>,
        kinds: Vec<Kind>,
        limit: u64,
        stopped: Arc<AtomicU64>,
    ) -> Result<Library, String> {
        let path = CString::new(path).map_err(|_| "a path with a zero byte".to_string())?;
        // SAFETY: the library was made by the C back end; opening it runs no code of its own.
        let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if handle.is_null() {
            return Err(last_error());
        }
        match start(handle, limit, &stopped) {
            Ok((interface, run)) => Ok(Library { handle, run, interface, entries, kinds, _stopped: stopped }),
            Err(error) => {
                // SAFETY: nothing of the library is in use.
                unsafe { libc::dlclose(handle) };
                Err(error)
            }
        }
    }

    fn raised(&self) -> Raised {
        // SAFETY: the run is open.
        let site = unsafe { (self.interface.site)(self.run) };
        // SAFETY: as above.
        let numbers: Vec<u64> =
            (0..NUMBERS).map(|place| unsafe { (self.interface.number)(self.run, place) }).collect();
        // SAFETY: as above.
        let object = unsafe { (self.interface.text)(self.run) };
        let text = (object != 0).then(|| text::read(object).to_owned());
        // The failures that can happen anywhere are the negative numbers -2 and -3.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "as the runtime numbers them"
        )]
        let site = site as u32;
        Raised { site, numbers, text }
    }
}

impl Memory for Library {
    fn alloc(&mut self, words: i64) -> u64 {
        // SAFETY: the run is open.
        unsafe { (self.interface.alloc)(self.run, words) }
    }
    fn release(&mut self, reference: u64, kind: Kind) {
        let number = self.kinds.iter().position(|known| *known == kind).unwrap_or(0);
        // SAFETY: the run is open, and `reference` is of that kind.
        unsafe { (self.interface.release)(self.run, reference, i64::try_from(number).unwrap_or(0)) };
    }
}

impl Machine for Library {
    fn memory(&mut self) -> &mut dyn Memory {
        self
    }
    fn words_in_use(&mut self) -> usize {
        // SAFETY: the run is open.
        usize::try_from(unsafe { (self.interface.words_in_use)(self.run) }).unwrap_or(0)
    }
    fn peak_words(&mut self) -> usize {
        // SAFETY: the run is open.
        usize::try_from(unsafe { (self.interface.peak_words)(self.run) }).unwrap_or(0)
    }
    fn renew(&mut self) {
        // SAFETY: the run is open, no code of the library is running, and its host refers to nothing in its memory any more.
        unsafe { (self.interface.clear)(self.run) };
    }
    fn set_threads(&mut self, threads: usize) {
        if let Some(set) = self.interface.threads {
            // SAFETY: the run is open, and no code of the library is running.
            unsafe { set(self.run, i64::try_from(threads).unwrap_or(1)) };
        }
    }
    fn entry(&self, func: FuncId) -> Option<usize> {
        self.entries.iter().position(|entry| *entry == func)
    }
    fn run(&mut self, entry: usize, args: &[u64], results: &mut [u64]) -> Result<(), Raised> {
        if entry >= self.entries.len() {
            return Err(nowhere());
        }
        let entry = i64::try_from(entry).unwrap_or(i64::MAX);
        // SAFETY: the entry is one of the library's, and takes and gives as many words as there are.
        let failed = unsafe { (self.interface.call)(self.run, entry, args.as_ptr(), results.as_mut_ptr()) };
        if failed == 0 { Ok(()) } else { Err(self.raised()) }
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: no code of the library is running, and nothing refers to its memory any more.
        unsafe {
            (self.interface.close)(self.run);
            libc::dlclose(self.handle);
        }
    }
}

fn last_error() -> String {
    // SAFETY: the system gives a text or nothing.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return "it cannot be opened".into();
    }
    // SAFETY: it is a text that ends with a zero byte.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

fn symbol(handle: *mut c_void, name: &CStr) -> Result<*mut c_void, String> {
    // SAFETY: the library is open.
    let address = unsafe { libc::dlsym(handle, name.as_ptr()) };
    if address.is_null() { Err(format!("{} is missing", name.to_string_lossy())) } else { Ok(address) }
}

/// Finds a library's functions, gives it the host's, and opens a run.
fn start(
    handle: *mut c_void,
    limit: u64,
    stopped: &Arc<AtomicU64>,
) -> Result<(Interface, *mut c_void), String> {
    use std::mem::transmute;
    // SAFETY: these are the types of the functions of `runtime/library.c`.
    let interface = unsafe {
        Interface {
            open: transmute::<Run, Open>(symbol(handle, c"wengert_open")?),
            close: transmute::<Run, OfRun>(symbol(handle, c"wengert_close")?),
            alloc: transmute::<Run, Alloc>(symbol(handle, c"wengert_alloc")?),
            release: transmute::<Run, Release>(symbol(handle, c"wengert_release")?),
            call: transmute::<Run, Call>(symbol(handle, c"wengert_call")?),
            site: transmute::<Run, Count>(symbol(handle, c"wengert_site")?),
            number: transmute::<Run, Number>(symbol(handle, c"wengert_number")?),
            text: transmute::<Run, Text>(symbol(handle, c"wengert_text")?),
            words_in_use: transmute::<Run, Count>(symbol(handle, c"wengert_words_in_use")?),
            peak_words: transmute::<Run, Count>(symbol(handle, c"wengert_peak_words")?),
            clear: transmute::<Run, OfRun>(symbol(handle, c"wengert_clear")?),
            threads: symbol(handle, c"wengert_threads").ok().map(|set| transmute::<Run, SetThreads>(set)),
        }
    };
    if let Ok(give) = symbol(handle, c"wengert_functions") {
        let table: Vec<*const c_void> = host_functions().iter().map(|function| function.address).collect();
        // SAFETY: the library copies as many addresses as the C back end has declared, which is this table.
        unsafe { transmute::<Run, Give>(give)(table.as_ptr()) };
    }
    // SAFETY: `stopped` lives as long as the library is open.
    let run = unsafe { (interface.open)(limit, Arc::as_ptr(stopped)) };
    if run.is_null() { Err("there is no address space for a stack".into()) } else { Ok((interface, run)) }
}
