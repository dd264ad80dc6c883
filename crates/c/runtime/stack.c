/* ---- The stack --------------------------------------------------------------------------------------------------
 *
 * Programs run on a stack of their own, which is large, so that recursion a million deep is fine: address space that the
 * system fills with memory as it is used. A failure leaves it at once; nothing is to be cleaned up, for all memory
 * belongs to the run. */

typedef void (*wg_entry)(wg_run *r, const word *arguments, word *results);

#if defined __x86_64__ && defined __ELF__ && !defined WG_PORTABLE
/* Saves the registers that a function must keep, goes onto the stack, and calls. */
int wg_enter(wg_run *r, const word *arguments, word *results, wg_entry entry, void *top, void **saved)
    __attribute__((visibility("hidden")));
void wg_return(void **saved) __attribute__((visibility("hidden"), noreturn));
__asm__(".text\n.p2align 4\n.hidden wg_enter\n.globl wg_enter\n.type wg_enter, @function\nwg_enter:\n"
        "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
        "mov %rsp, (%r9)\nmov %r9, %rbx\nmov %r8, %rsp\ncall *%rcx\n"
        "xor %eax, %eax\nmov (%rbx), %rsp\n"
        "1: pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n"
        ".size wg_enter, .-wg_enter\n.hidden wg_return\n.globl wg_return\n.type wg_return, @function\nwg_return:\n"
        "mov $1, %eax\nmov (%rdi), %rsp\njmp 1b\n.size wg_return, .-wg_return\n");
static void wg_leave(void **saved) { wg_return(saved); }
#elif defined __aarch64__ && defined __ELF__ && !defined WG_PORTABLE
int wg_enter(wg_run *r, const word *arguments, word *results, wg_entry entry, void *top, void **saved)
    __attribute__((visibility("hidden")));
void wg_return(void **saved) __attribute__((visibility("hidden"), noreturn));
__asm__(".text\n.p2align 4\n.hidden wg_enter\n.globl wg_enter\n.type wg_enter, %function\nwg_enter:\n"
        "stp x29, x30, [sp, #-160]!\nstp x19, x20, [sp, #16]\nstp x21, x22, [sp, #32]\nstp x23, x24, [sp, #48]\n"
        "stp x25, x26, [sp, #64]\nstp x27, x28, [sp, #80]\nstp d8, d9, [sp, #96]\nstp d10, d11, [sp, #112]\n"
        "stp d12, d13, [sp, #128]\nstp d14, d15, [sp, #144]\n"
        "mov x9, sp\nstr x9, [x5]\nmov x19, x5\nmov sp, x4\nblr x3\nmov x0, #0\nldr x9, [x19]\nmov sp, x9\n"
        "1: ldp x19, x20, [sp, #16]\nldp x21, x22, [sp, #32]\nldp x23, x24, [sp, #48]\n"
        "ldp x25, x26, [sp, #64]\nldp x27, x28, [sp, #80]\nldp d8, d9, [sp, #96]\nldp d10, d11, [sp, #112]\n"
        "ldp d12, d13, [sp, #128]\nldp d14, d15, [sp, #144]\nldp x29, x30, [sp], #160\nret\n"
        ".size wg_enter, .-wg_enter\n.hidden wg_return\n.globl wg_return\n.type wg_return, %function\nwg_return:\n"
        "ldr x9, [x0]\nmov sp, x9\nmov x0, #1\nb 1b\n.size wg_return, .-wg_return\n");
static void wg_leave(void **saved) { wg_return(saved); }
#else
#include <ucontext.h>
/* The same by the system's functions; the call is described in memory, for they pass only integers. */
typedef struct {
    ucontext_t outside, inside;
    wg_run *r;
    const word *arguments;
    word *results;
    wg_entry entry;
    volatile int failed;
} wg_call;
static void wg_start(unsigned high, unsigned low) {
    wg_call *call = (wg_call *)((uintptr_t)high << 16 << 16 | (uintptr_t)low);
    call->entry(call->r, call->arguments, call->results);
}
static int wg_enter(wg_run *r, const word *arguments, word *results, wg_entry entry, void *top, void **saved) {
    wg_call call = {.r = r, .arguments = arguments, .results = results, .entry = entry};
    *saved = &call;
    getcontext(&call.inside);
    call.inside.uc_stack.ss_sp = r->stack;
    call.inside.uc_stack.ss_size = (size_t)((char *)top - r->stack);
    call.inside.uc_link = &call.outside;
    uintptr_t address = (uintptr_t)&call;
    makecontext(&call.inside, (void (*)(void))wg_start, 2, (unsigned)(address >> 16 >> 16), (unsigned)address);
    swapcontext(&call.outside, &call.inside);
    return call.failed;
}
static void wg_leave(void **saved) {
    wg_call *call = *saved;
    call->failed = 1;
    setcontext(&call->outside);
    abort();
}
#endif

/* So much of the stack keeps its memory from one run to the next. */
static const size_t wg_keep = (size_t)8 << 20;

/* Gives memory back that deep recursion has used. */
static __attribute__((cold, noinline)) void wg_shrink(wg_run *r) {
    r->stack_limit = r->stack_deep;
    if (r->stack_size > wg_keep) madvise(r->stack, r->stack_size - wg_keep, MADV_DONTNEED);
}

/* Runs an entry; 1 if it failed. */
static int wg_run_entry(wg_run *r, wg_entry entry, const word *arguments, word *results) {
    char *top = (char *)((uintptr_t)(r->stack + r->stack_size) & ~(uintptr_t)63);
    int failed = wg_enter(r, arguments, results, entry, top, &r->saved);
    if (WG_RARELY(r->stack_limit != r->stack_deep)) wg_shrink(r);
    return failed;
}

/* For functions that do not look at the stack. */
static const size_t wg_reserve = (size_t)256 << 10;

/* How much address space each of so many stacks should ask for: where the process may only have so much in all, the
   first takes an eighth, and those of all helpers together as much. What is computed needs the rest. */
static size_t wg_stack_size(word sharers) {
    size_t size = (size_t)64 << 30;
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit)) return size;
    while (size > limit.rlim_cur / 8 / (size_t)sharers && size > wg_reserve * 4) size /= 2;
    return size;
}

/* A run, one of so many that share what there is for stacks, that may use so many bytes and stops soon after `*stop` is
   not 0; NULL if there is no address space. */
static wg_run *wg_open_one_of(word sharers, uint64_t bytes, const volatile word *stop) {
    wg_run *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    for (r->stack_size = wg_stack_size(sharers); r->stack_size >= wg_reserve * 4; r->stack_size /= 2) {
        void *stack = mmap(NULL, r->stack_size, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (stack != MAP_FAILED) {
            size_t most = r->stack_size - wg_reserve;
            r->stack = stack;
            r->stack_end = r->stack + r->stack_size - (bytes < most ? bytes : most);
            r->stack_deep = r->stack + r->stack_size - (wg_keep < most ? wg_keep : most);
            if (r->stack_deep < r->stack_end) r->stack_deep = r->stack_end;
            r->stack_limit = r->stack_deep;
            r->stop = stop ? stop : &r->never;
            r->limit = (word)(bytes / 8);
            r->all_words = &r->all;
            r->threads = 1;
            return r;
        }
    }
    free(r);
    return NULL;
}

static wg_run *wg_open(uint64_t bytes, const volatile word *stop) { return wg_open_one_of(1, bytes, stop); }

static void wg_close(wg_run *r) {
    if (!r) return;
    if (r->pool) r->end_pool(r->pool);
    wg_clear(r);
    if (r->depot && r->depot->owner == r) free(r->depot);
    munmap(r->stack, r->stack_size);
    free(r);
}
