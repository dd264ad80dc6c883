/* ---- Words and objects ------------------------------------------------------------------------------------------
 *
 * Memory is made of words of 8 bytes. What lives there is an object, known by its address:
 *
 *     array   count  size along axis 0 ... size along the last axis  elements in row-major order
 *     data    count  fields
 *     text    count  bytes  UTF-8, padded with zeros
 *
 * `count` says how many references there are. Before it, in the lower half of a word, stands how many words there are, in the upper
 * half the constructor of data. A constructor without fields is no object, but 2 * constructor + 1. */

/* GCC makes one instruction, which rounds once, of products with sums and differences in turn beside them, also where it is told to
 * fuse nothing. It has none without these sets of instructions. */
#if defined WG_EXACT && defined __x86_64__ && defined __GNUC__ && !defined __clang__
#pragma GCC target("no-fma,no-fma4,no-avx512f")
#endif

#ifdef __SSE2__
#include <emmintrin.h>
#endif
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

typedef int64_t word;
typedef word *ref;

#define WG_USUALLY(condition) __builtin_expect(!!(condition), 1)
#define WG_RARELY(condition) __builtin_expect(!!(condition), 0)
/* Before a loop whose iterations do not need each other. */
#ifdef __clang__
#define WG_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define WG_INDEPENDENT _Pragma("GCC ivdep")
#endif
#define WG_UNUSED __attribute__((unused))
/* Around the new value of a sum whose order is given, if an iteration adds several terms, or may: loops in loops can be unrolled.
 * GCC before 11.5, 12.4 and 13.2 adds some of them more than once where it makes vectors of such a loop (its bug 110381): nothing in
 * the loop is moved past an empty instruction. */
#if defined(__GNUC__) && !defined(__clang__) && (__GNUC__ * 100 + __GNUC_MINOR__ < 1105 || \
    (__GNUC__ == 12 && __GNUC_MINOR__ < 4) || (__GNUC__ == 13 && __GNUC_MINOR__ < 2))
static inline __attribute__((always_inline, unused)) double wg_in_order(double sum) {
#if defined(__x86_64__)
    __asm__("" : "+x"(sum));
#elif defined(__aarch64__)
    __asm__("" : "+w"(sum));
#else
    __asm__("" : "+m"(sum));
#endif
    return sum;
}
#else
#define wg_in_order(sum) (sum)
#endif
#define WG_EXPORT __attribute__((visibility("default"), used))

/* Objects of up to so many words are cut from chunks and kept in lists when they are free; those of more than WG_TINY lie as
 * large ones do, for the sake of vectors, and have one word less than a multiple of 8. */
enum { WG_TINY = 9, WG_SMALL = 255, WG_CHUNK = 1 << 13, WG_LINES = 128, WG_NUMBERS = 64 };
/* Large objects that nobody needs are kept for later: so many of any size, and more while they have no more words than this. */
enum { WG_SPARE = 16, WG_SPARE_WORDS = 4 << 20 };
/* They lie in lists by their size, of which four lead from each power of two to the next. */
enum { WG_SIZES = 64 * 4 };
/* The count of texts of the program, which are not freed. It stays what it is. */
#define WG_FOREVER ((word)1 << 60)

/* A large object, kept in a list; its count is at `object`, where an array's elements after one size are aligned. */
typedef struct wg_large {
    struct wg_large *next, **link;
    void *block; /* the memory that it lies in */
    struct wg_run *owner; /* whose list it is in */
    word room, words; /* `words` stands before every object */
    word object[];
} wg_large;

/* How many words are in use, and how many were at most. */
typedef struct {
    word now, most;
} wg_words;

/* What the threads of a run have in common (`runtime/threads.c`). */
typedef struct wg_depot {
    struct wg_run *owner;    /* the run that loops belong to, and those that help it */
    struct wg_run **others;
    word count;
    void *lock;              /* NULL if there are no other threads */
    word counts[WG_SMALL + 1]; /* for each size, how many lists all have, those included of which one is about to take some objects */
    /* What other threads have left to the owner: chunks, large objects in use, and those that are to be freed. */
    ref chunks, chunks_end;
    wg_large *large, *large_end, *orphans;
    word words; /* words of that */
} wg_depot;

/* The state of a run. One thread at a time uses it. */
typedef struct wg_run {
    char *stack_limit;         /* below this address recursion asks how much deeper it may go */
    const volatile word *stop; /* not 0 when the program is to stop */
    ref free[WG_SMALL + 1];    /* for each size, the first free object; its count is the address of the next */
    ref next, end;             /* the rest of the newest chunk */
    ref chunks;                /* all chunks, the newest first */
    word lines;                /* where the last large object lies */
    wg_large *large;           /* large objects in use */
    wg_large *spare[WG_SIZES]; /* and some that may be used again, by their size, */
    word spares, spare_words;  /* how many, and how many words they have */
    int from;                  /* which list loses the next one if there are too many */
    word words, limit;         /* in use, and at most */
    wg_words all, *all_words;  /* in use by this run and those that help it */
    word threads;              /* how many make loops */
    word crowded, sharing;     /* whether several make one, and may refer to the same objects */
    word number;               /* 0 for the run that loops belong to */
    /* For each size, lists of free objects that all may take, whose first ones lead to the next list by their second word. */
    ref lists[WG_SMALL + 1];
    wg_depot *depot;           /* what they have in common; how a free object is found there */
    ref (*find)(struct wg_run *r, word room);
    int (*release)(struct wg_run *r, ref array, uint16_t kind); /* takes a long array apart with other threads, or gives 0 */
    wg_large *orphans;         /* large objects of other threads that nobody needs any more */
    struct wg_pool *pool;      /* the others, and how they end */
    void (*end_pool)(struct wg_pool *);
    void *saved;               /* where `wg_enter` came from */
    char *stack;
    size_t stack_size;
    char *stack_deep, *stack_end; /* where recursion is called deep, and where it fails */
    word site, numbers[WG_NUMBERS]; /* the failure */
    ref message;                    /* the user's text, if it is `fail` */
    word never;
    char text[1024]; /* the last failure in words, for C programs */
} wg_run;

/* Failures of which nobody knows the place. */
enum { WG_MEMORY = -2, WG_STOPPED = -3 };

static void wg_leave(void **saved) __attribute__((noreturn));
static void wg_clear(wg_run *r);

static void wg_fail(wg_run *r, word site, const word *numbers, size_t count)
    __attribute__((noreturn, cold, noinline, unused));

static void wg_fail(wg_run *r, word site, const word *numbers, size_t count) {
    r->site = site;
    r->message = NULL;
    for (size_t i = 0; i < WG_NUMBERS; i++) r->numbers[i] = i < count ? numbers[i] : 0;
    wg_leave(&r->saved);
}

/* Fails at a place of the source, with the numbers that belong to it. */
#define WG_FAIL(site, ...) \
    wg_fail(r, site, (const word[]){__VA_ARGS__}, sizeof((const word[]){__VA_ARGS__}) / sizeof(word))

/* `fail text` */
static __attribute__((noreturn, cold, noinline, unused)) void wg_fail_with(wg_run *r, word site, ref message) {
    r->site = site;
    r->message = message;
    wg_leave(&r->saved);
}

static __attribute__((noreturn, cold, noinline, unused)) void wg_stopped(wg_run *r) { WG_FAIL(WG_STOPPED, 0); }
static inline WG_UNUSED void wg_check_stop(wg_run *r) {
    if (WG_RARELY(*r->stop)) wg_stopped(r);
}

/* Recursion has come to the limit: it is deep, and goes on, or fails at that place of the source, at the end of the stack. It takes
 * little, so that functions that call themselves are small enough for the compiler to put some calls into each other. */
static __attribute__((cold, noinline, unused)) void wg_deepen(wg_run *r, word site) {
    if ((char *)__builtin_frame_address(0) < r->stack_end) WG_FAIL(site, 0);
    r->stack_limit = r->stack_end;
}

static inline __attribute__((always_inline, unused)) void wg_check_stack(wg_run *r, word site) {
    char *frame = __builtin_frame_address(0);
    if (WG_RARELY(frame < r->stack_limit)) wg_deepen(r, site);
    wg_check_stop(r);
}

/* Long loops look from time to time whether they are to stop: where to pause next. */
enum { WG_STEPS = 1 << 16 };
static inline WG_UNUSED word wg_pause(wg_run *r, word now, word end) {
    wg_check_stop(r);
    return end - now > WG_STEPS ? now + WG_STEPS : end;
}
static inline WG_UNUSED word wg_pause_down(wg_run *r, word now) {
    wg_check_stop(r);
    return now > WG_STEPS ? now - WG_STEPS : 0;
}

static inline WG_UNUSED double *wg_reals(ref o) { return (double *)o; }
static inline WG_UNUSED int wg_is_object(ref o) { return ((uintptr_t)o & 1) == 0; }
typedef uint32_t __attribute__((may_alias)) wg_half;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
enum { WG_UPPER = -2, WG_LOWER = -1 };
#else
enum { WG_UPPER = -1, WG_LOWER = -2 };
#endif
static inline WG_UNUSED word wg_constructor(ref o) { return ((const wg_half *)o)[WG_UPPER]; }
static inline WG_UNUSED word wg_tag(ref o) { return wg_is_object(o) ? wg_constructor(o) : (word)((uintptr_t)o >> 1); }
static inline WG_UNUSED word wg_unique(ref o) { return *o == 1; }
static inline WG_UNUSED word wg_unique_data(ref o) { return wg_is_object(o) && *o == 1; }
static inline WG_UNUSED word wg_word_of(double x) {
    word bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline WG_UNUSED double wg_of_bits(word bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
/* Whether an index is not one of so many places. */
static inline WG_UNUSED word wg_outside(word index, word size) { return (uint64_t)index >= (uint64_t)size; }
/* Whether all indices from one to another are. */
static inline WG_UNUSED word wg_inside(word first, word last, word size) {
    return !wg_outside(first, size) & !wg_outside(last, size);
}
/* Whether so many indices are that are so far from each other. Of more than any array has, the last would come around to the first. */
static inline WG_UNUSED word wg_inside_steps(word first, word step, word count, word size) {
    return (count < INT64_C(1) << 40) & wg_inside(first, first + step * (count - 1), size);
}
/* The same if they may be as far from each other as numbers are. */
static inline WG_UNUSED word wg_inside_far(word first, word step, word count, word size) {
    word way, last;
    return !__builtin_mul_overflow(step, count - 1, &way) && !__builtin_add_overflow(first, way, &last) && wg_inside(first, last, size);
}
static inline WG_UNUSED void wg_copy(const void *from, void *to, word count) { memcpy(to, from, (size_t)count * 8); }
static inline WG_UNUSED void wg_zero(void *to, word count) { memset(to, 0, (size_t)count * 8); }

/* Integers wrap, and only division by 0 fails. */
static inline WG_UNUSED word wg_negated(word x) { return -x; }
static inline WG_UNUSED word wg_div(word a, word b) { return b == -1 ? -a : a / b; }
static inline WG_UNUSED word wg_rem(word a, word b) { return b == -1 ? 0 : a % b; }
static inline WG_UNUSED word wg_min_int(word a, word b) { return a < b ? a : b; }
static inline WG_UNUSED word wg_max_int(word a, word b) { return a > b ? a : b; }
