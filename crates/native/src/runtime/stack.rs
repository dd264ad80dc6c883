//! The stack of compiled code, and the way onto it and off it.
//!
//! The stack is address space that the system fills with memory as it is used. `enter` saves the registers that a
//! function must keep, goes onto the stack and calls; the call returns normally, or `leave` goes back from anywhere inside.

use std::ffi::c_void;

/// How much address space is asked for at first; less if there is none.
const LARGEST: usize = 64 << 30;
/// Where the process may only have so much of it, the first stack takes this part at most, and those of all helpers
/// together as much: what is computed needs the rest.
const PART: u64 = 8;
const SMALLEST: usize = 1 << 20;
/// Functions of the runtime, called at the end of the stack, need this much.
const RESERVE: usize = 256 << 10;

/// So much keeps its memory from one run to the next.
pub(crate) const KEEP: usize = 8 << 20;

/// A stack.
pub(crate) struct Stack {
    base: *mut c_void,
    size: usize,
}

impl Stack {
    /// A stack as large as can be had by each of so many.
    pub(crate) fn new(sharers: usize) -> Option<Stack> {
        let most = allowed() / PART / sharers.max(1) as u64;
        let mut size = LARGEST;
        while size as u64 > most && size > SMALLEST {
            size /= 2;
        }
        while size >= SMALLEST {
            // SAFETY: an anonymous mapping at an address of the system's choice touches nothing that exists.
            let base = unsafe {
                libc::mmap(
                    std::ptr::null_mut(),
                    size,
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                    -1,
                    0,
                )
            };
            if base != libc::MAP_FAILED {
                return Some(Stack { base, size });
            }
            size /= 2;
        }
        None
    }

    /// Where it starts: it grows downwards.
    pub(crate) fn top(&self) -> u64 {
        (self.base as u64 + self.size as u64) & !63
    }

    /// Below this address there is room for the runtime only, or more than `bytes` are in use.
    pub(crate) fn limit(&self, bytes: u64) -> u64 {
        let most = (self.size - RESERVE) as u64;
        self.top() - bytes.min(most)
    }

    /// Gives memory back that deep recursion has used.
    pub(crate) fn shrink(&self) {
        if self.size > KEEP {
            // SAFETY: the mapping is ours and nothing on the stack is in use between calls.
            unsafe { libc::madvise(self.base, self.size - KEEP, libc::MADV_DONTNEED) };
        }
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and no compiled code is running.
        unsafe { libc::munmap(self.base, self.size) };
    }
}

/// How much address space the process may have in all.
fn allowed() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is there to be written to.
    match unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) } {
        0 => limit.rlim_cur,
        _ => u64::MAX,
    }
}

/// A compiled function with its arguments and results as words: context, arguments, results.
pub(crate) type Entry = unsafe extern "C" fn(*mut c_void, *const u64, *mut u64);

#[cfg(target_arch = "x86_64")]
mod switch {
    use super::Entry;
    use std::ffi::c_void;

    /// Calls `entry` on another stack; 0 if it returned, 1 if it left. `save` keeps this stack's pointer.
    #[unsafe(naked)]
    pub(crate) unsafe extern "C" fn enter(
        entry: Entry,
        context: *mut c_void,
        args: *const u64,
        results: *mut u64,
        top: u64,
        save: *mut u64,
    ) -> u64 {
        std::arch::naked_asm!(
            "push rbp",
            "push rbx",
            "push r12",
            "push r13",
            "push r14",
            "push r15",
            "mov [r9], rsp",
            "mov rbx, r9",
            "mov rsp, r8",
            "mov rax, rdi",
            "mov rdi, rsi",
            "mov rsi, rdx",
            "mov rdx, rcx",
            "call rax",
            "mov rsp, [rbx]",
            "pop r15",
            "pop r14",
            "pop r13",
            "pop r12",
            "pop rbx",
            "pop rbp",
            "xor eax, eax",
            "ret",
        )
    }

    /// Calls `entry` on this stack; else the same.
    #[unsafe(naked)]
    pub(crate) unsafe extern "C" fn enter_here(
        entry: Entry,
        context: *mut c_void,
        args: *const u64,
        results: *mut u64,
        save: *mut u64,
    ) -> u64 {
        std::arch::naked_asm!(
            "push rbp",
            "push rbx",
            "push r12",
            "push r13",
            "push r14",
            "push r15",
            "mov [r8], rsp",
            "mov rbx, r8",
            "sub rsp, 8",
            "mov rax, rdi",
            "mov rdi, rsi",
            "mov rsi, rdx",
            "mov rdx, rcx",
            "call rax",
            "mov rsp, [rbx]",
            "pop r15",
            "pop r14",
            "pop r13",
            "pop r12",
            "pop rbx",
            "pop rbp",
            "xor eax, eax",
            "ret",
        )
    }

    /// Goes back to where `enter` was called, from the other stack.
    #[unsafe(naked)]
    pub(crate) unsafe extern "C" fn leave(save: *const u64) -> ! {
        std::arch::naked_asm!(
            "mov rsp, [rdi]",
            "pop r15",
            "pop r14",
            "pop r13",
            "pop r12",
            "pop rbx",
            "pop rbp",
            "mov eax, 1",
            "ret",
        )
    }
}

#[cfg(target_arch = "aarch64")]
mod switch {
    use super::Entry;
    use std::ffi::c_void;

    /// Calls `entry` on another stack; 0 if it returned, 1 if it left. `save` keeps this stack's pointer.
    #[unsafe(naked)]
    pub(crate) unsafe extern "C" fn enter(
        entry: Entry,
        context: *mut c_void,
        args: *const u64,
        results: *mut u64,
        top: u64,
        save: *mut u64,
    ) -> u64 {
        std::arch::naked_asm!(
            "stp x29, x30, [sp, #-160]!",
            "stp x19, x20, [sp, #16]",
            "stp x21, x22, [sp, #32]",
            "stp x23, x24, [sp, #48]",
            "stp x25, x26, [sp, #64]",
            "stp x27, x28, [sp, #80]",
            "stp d8, d9, [sp, #96]",
            "stp d10, d11, [sp, #112]",
            "stp d12, d13, [sp, #128]",
            "stp d14, d15, [sp, #144]",
            "mov x9, sp",
            "str x9, [x5]",
            "mov x19, x5",
            "mov sp, x4",
            "mov x9, x0",
            "mov x0, x1",
            "mov x1, x2",
            "mov x2, x3",
            "blr x9",
            "ldr x9, [x19]",
            "mov sp, x9",
            "ldp x19, x20, [sp, #16]",
            "ldp x21, x22, [sp, #32]",
            "ldp x23, x24, [sp, #48]",
            "ldp x25, x26, [sp, #64]",
            "ldp x27, x28, [sp, #80]",
            "ldp d8, d9, [sp, #96]",
            "ldp d10, d11, [sp, #112]",
            "ldp d12, d13, [sp, #128]",
            "ldp d14, d15, [sp, #144]",
            "ldp x29, x30, [sp], #160",
            "mov x0, #0",
            "ret",
        )
    }

    /// Calls `entry` on this stack; else the same.
    #[unsafe(naked)]
    pub(crate) unsafe extern "C" fn enter_here(
        entry: Entry,
        context: *mut c_void,
        args: *const u64,
        results: *mut u64,
        save: *mut u64,
    ) -> u64 {
        std::arch::naked_asm!(
            "stp x29, x30, [sp, #-160]!",
            "stp x19, x20, [sp, #16]",
            "stp x21, x22, [sp, #32]",
            "stp x23, x24, [sp, #48]",
            "stp x25, x26, [sp, #64]",
            "stp x27, x28, [sp, #80]",
            "stp d8, d9, [sp, #96]",
            "stp d10, d11, [sp, #112]",
            "stp d12, d13, [sp, #128]",
            "stp d14, d15, [sp, #144]",
            "mov x9, sp",
            "str x9, [x4]",
            "mov x19, x4",
            "mov x9, x0",
            "mov x0, x1",
            "mov x1, x2",
            "mov x2, x3",
            "blr x9",
            "ldr x9, [x19]",
            "mov sp, x9",
            "ldp x19, x20, [sp, #16]",
            "ldp x21, x22, [sp, #32]",
            "ldp x23, x24, [sp, #48]",
            "ldp x25, x26, [sp, #64]",
            "ldp x27, x28, [sp, #80]",
            "ldp d8, d9, [sp, #96]",
            "ldp d10, d11, [sp, #112]",
            "ldp d12, d13, [sp, #128]",
            "ldp d14, d15, [sp, #144]",
            "ldp x29, x30, [sp], #160",
            "mov x0, #0",
            "ret",
        )
    }

    /// Goes back to where `enter` was called, from the other stack.
    #[unsafe(naked)]
    pub(crate) unsafe extern "C" fn leave(save: *const u64) -> ! {
        std::arch::naked_asm!(
            "ldr x9, [x0]",
            "mov sp, x9",
            "ldp x19, x20, [sp, #16]",
            "ldp x21, x22, [sp, #32]",
            "ldp x23, x24, [sp, #48]",
            "ldp x25, x26, [sp, #64]",
            "ldp x27, x28, [sp, #80]",
            "ldp d8, d9, [sp, #96]",
            "ldp d10, d11, [sp, #112]",
            "ldp d12, d13, [sp, #128]",
            "ldp d14, d15, [sp, #144]",
            "ldp x29, x30, [sp], #160",
            "mov x0, #1",
            "ret",
        )
    }
}

pub(crate) use switch::{enter, enter_here, leave};
