/* ---- Loops by parts ---------------------------------------------------------------------------------------------
 *
 * A loop is described by words: its length, its work (a real), whether it goes backward (1) and whether only parts that are not neighbors may be
 * made at once (2; then there are no sums) and whether parts count references to the same objects (4), how many words are captured, how many sums are words, how each of these is put together (four bits for each), how many sums are arrays; then the captured words, the sums, and for each
 * array which captured word is its address, and how many numbers it has.
 *
 * The length and the work say how many parts there are. The first part adds to the sums as they are, the others to zeros; then
 * the sums are added in the order of the parts. Where parts that are not neighbors may add to an array at once, every second
 * part is made before the others. So results do not depend on the number of threads. The failure of a loop is
 * that of the first part that fails in the order of the iterations. */

#include <pthread.h>

enum { WG_HEAD = 7, WG_PARTS = 64, WG_PARTS_WITH_ARRAYS = 16, WG_PATIENCE = 4096, WG_REACH = 8, WG_SOME = 512, WG_LONG = 1024, WG_LOOKS = 16 };
/* The work of a part at least, and of a part for each number of its arrays. */
static const double wg_grain = 65536.0, wg_each = 64.0;

typedef struct {
    wg_entry entry;
    const word *info, *captured, *sums, *arrays;
    word size, parts; /* of iterations of a part, and of parts */
    word *found;      /* the sums of each part */
    ref *own;         /* for each part but the first, its arrays */
    word near, round; /* whether every second part comes first; whether these are done */
    word done;        /* parts of the round that are done */
    /* For each thread, the next part of its own: each begins with as many, which are neighbors, and those of all loops are about
     * the same, so that what a thread has made is still near to it. */
    word *next, threads;
    word failed;      /* the first part that has failed, and how */
    word site, numbers[WG_NUMBERS];
    ref message;
} wg_loop;

typedef struct wg_pool {
    pthread_mutex_t lock;
    pthread_cond_t changed, finished;
    wg_loop *loop;
    word changes, end, busy, threads;
    wg_run **runs;
    pthread_t *handles;
    wg_depot *depot;
} wg_pool;

static void wg_parallel(wg_run *r, wg_entry entry, word *info);

/* What parts make may outlive them, and who frees it may be another thread. So chunks belong to the run that loops belong to, and
 * the free objects of all threads are where all may take them between the parts of loops. While a loop is made, a thread takes a list of its
 * own, for that is near to it, or some objects of a list if it is the last one or another thread's, and asks for a chunk only if there are
 * none at hand: so memory that one thread needs does not lie free with another one for long. Large objects go to the run of the loop, which also frees those that were not the freeing thread's. */

static void wg_lock(wg_depot *d) {
    if (d->lock) pthread_mutex_lock(d->lock);
}
static void wg_unlock(wg_depot *d) {
    if (d->lock) pthread_mutex_unlock(d->lock);
}

/* A list of free objects of a size, or of some of those that there are if several threads are at it; NULL if there are none. */
static ref wg_find(wg_run *r, word room) {
    wg_depot *d = r->depot;
    if (__atomic_load_n(&d->counts[room], __ATOMIC_RELAXED)) {
        wg_lock(d);
        wg_run *owner = NULL;
        for (word i = 0; i <= d->count && !(owner && owner->lists[room]); i++) {
            word number = (r->number + i) % (d->count + 1);
            owner = number ? d->others[number - 1] : d->owner;
        }
        ref first = owner->lists[room], others = NULL;
        if (first) owner->lists[room] = (ref)first[1];
        int alone = owner != r || !owner->lists[room]; /* whether nothing would be left here for others */
        wg_unlock(d);
        /* If another thread is about to put a list back, it is not waited for: it may have been put to sleep. */
        if (!first) return NULL;
        if (r->crowded && alone) {
            ref last = first;
            for (int i = 1; i < WG_SOME && *last; i++) last = (ref)*last;
            others = (ref)*last;
            *last = 0;
        }
        if (others) {
            wg_lock(d);
            others[1] = (word)owner->lists[room];
            owner->lists[room] = others;
            wg_unlock(d);
        } else {
            __atomic_fetch_sub(&d->counts[room], 1, __ATOMIC_RELAXED);
        }
        return first;
    }
    return NULL;
}

/* The free objects of a run go where all may take them. */
static void wg_share(wg_run *r, wg_depot *d) {
    wg_lock(d);
    for (word size = 2; size <= WG_SMALL; size++) {
        ref o = r->free[size];
        if (!o) continue;
        o[1] = (word)r->lists[size];
        r->lists[size] = o;
        __atomic_fetch_add(&d->counts[size], 1, __ATOMIC_RELAXED);
        r->free[size] = NULL;
    }
    wg_unlock(d);
}

/* What is left of a run's chunk becomes free objects. */
static void wg_use_up(wg_run *r) {
    while (r->end - r->next > 2) {
        word words = r->end - r->next - 1;
        ref o = r->next + 1;
        if (words > WG_TINY) words = WG_TINY;
        r->next += words + 1;
        o[-1] = words;
        wg_free(r, o);
    }
}

/* What a run has that is to be closed goes to the one that loops belong to. */
static void wg_bequeath(wg_run *r, wg_depot *d) {
    wg_use_up(r);
    wg_share(r, d);
    for (word size = 2; size <= WG_SMALL; size++) {
        for (ref list = r->lists[size], next; list; list = next) {
            next = (ref)list[1];
            list[1] = (word)d->owner->lists[size];
            d->owner->lists[size] = list;
        }
    }
}

/* Several threads begin with a loop, of which this is one. */
static void wg_begin_loop(wg_run *r, word sharing) {
    r->crowded = 1;
    r->sharing = sharing;
}

/* This thread is done with a loop that belongs to another one: what it has goes there. */
static void wg_hand_over(wg_run *r) {
    wg_depot *d = r->depot;
    ref chunk = r->chunks;
    wg_large *large = r->large;
    while (chunk && *chunk) chunk = (ref)*chunk;
    for (wg_large *l = large; l; l = l->next) {
        l->owner = d->owner;
        large = l;
    }
    wg_share(r, d);
    word kept = r->spare_words;
    wg_lock(d);
    if (chunk) {
        *chunk = (word)d->chunks;
        if (!d->chunks) d->chunks_end = chunk;
        d->chunks = r->chunks;
        r->chunks = NULL;
    }
    if (large) {
        large->next = d->large;
        if (d->large) {
            d->large->link = &large->next;
        } else {
            d->large_end = large;
        }
        d->large = r->large;
        d->large->link = &d->large;
        r->large = NULL;
    }
    while (r->orphans) {
        wg_large *orphan = r->orphans;
        r->orphans = (wg_large *)orphan->object[0];
        orphan->object[0] = (word)d->orphans;
        d->orphans = orphan;
    }
    d->words += r->words - kept;
    r->words = kept;
    wg_unlock(d);
    r->crowded = r->sharing = 0;
}

/* The loop is done, and all other threads have handed over what they had. */
static void wg_end_loop(wg_run *r) {
    wg_depot *d = r->depot;
    r->crowded = r->sharing = 0;
    if (d->chunks) {
        *d->chunks_end = (word)r->chunks;
        r->chunks = d->chunks;
        d->chunks = NULL;
    }
    if (d->large) {
        d->large_end->next = r->large;
        if (r->large) r->large->link = &d->large_end->next;
        r->large = d->large;
        r->large->link = &r->large;
        d->large = NULL;
    }
    r->words += d->words;
    d->words = 0;
    while (d->orphans) {
        wg_large *orphan = d->orphans;
        d->orphans = (wg_large *)orphan->object[0];
        wg_free_large(r, orphan->object);
    }
    while (r->orphans) {
        wg_large *orphan = r->orphans;
        r->orphans = (wg_large *)orphan->object[0];
        wg_free_large(r, orphan->object);
    }
}

static word wg_bounded(double n, word most) { return n >= (double)most ? most : (word)n; }

/* How many parts there are. */
static void wg_divide(wg_loop *l) {
    word len = l->info[0], numbers = 0, parts = wg_bounded(wg_of_bits(l->info[1]) / wg_grain, WG_PARTS);
    if (parts > len) parts = len;
    for (word i = 0; i < l->info[6]; i++) numbers += l->arrays[2 * i + 1];
    if (l->info[6]) {
        word most = wg_bounded(wg_of_bits(l->info[1]) / (wg_each * (double)(numbers > 1 ? numbers : 1)),
                               WG_PARTS_WITH_ARRAYS);
        if (parts > most) parts = most;
    }
    if (parts < 1) parts = 1;
    l->size = (len + parts - 1) / parts;
    if (l->near && l->size < 2 * WG_REACH) l->size = 2 * WG_REACH;
    if (l->size >= 64) l->size = (l->size + 7) / 8 * 8;
    if (l->size < 1) l->size = 1;
    l->parts = (len + l->size - 1) / l->size;
    if (l->parts < 1) l->parts = 1;
}

/* How many parts the round has, and one of them. */
static word wg_in_round(const wg_loop *l) { return l->near ? (l->parts + 1 - l->round) / 2 : l->parts; }
static word wg_part_of(const wg_loop *l, word place) { return l->near ? 2 * place + l->round : place; }

/* How a sum is put together: twice one of these, and 1 more if it is a real. */
enum { WG_ADD, WG_MAX, WG_MIN, WG_LARGEST, WG_SMALLEST, WG_PLACE };
static word wg_join(const wg_loop *l, word sum) { return (word)((uint64_t)l->info[5] >> 4 * sum & 15); }

/* Makes a part; `top` is where its stack begins. 1 if it failed. */
static int wg_part(wg_run *r, wg_loop *l, word part, const ref *own, word *found, void *top) {
    word captured = l->info[3], sums = l->info[4];
    word arguments[2 + captured + sums];
    word start = part * l->size, count = l->info[0] - start < l->size ? l->info[0] - start : l->size;
    arguments[0] = l->info[2] & 1 ? l->info[0] - start - count : start;
    arguments[1] = count;
    memcpy(arguments + 2, l->captured, (size_t)captured * 8);
    for (word i = 0; own && i < l->info[6]; i++) arguments[2 + l->arrays[2 * i]] = (word)own[i];
    for (word i = 0; i < sums; i++) {
        word join = wg_join(l, i), adds = join / 2 == WG_ADD;
        arguments[2 + captured + i] = part == 0 || !adds ? l->sums[i] : join & 1 ? wg_word_of(-0.0) : 0;
    }
    if (!top) return wg_run_entry(r, l->entry, arguments, found);
    void *around = r->saved;
    int failed = wg_enter(r, arguments, found, l->entry, top, &r->saved);
    r->saved = around;
    return failed;
}

/* The first that is no number is larger and smaller than all. */
static int wg_is_better(double old, double new, int better) { return better || (new != new && old == old); }

static void wg_add_sums(const wg_loop *l, word part, word *sums, const word *found) {
    int better = 0; /* whether the largest is one of this part, so that its place is too */
    for (word i = 0; i < l->info[4]; i++) {
        word join = wg_join(l, i), old = sums[i], new = found[i];
        double x = wg_of_bits(old), y = wg_of_bits(new);
        if (part == 0) {
            sums[i] = new;
            continue;
        }
        switch (join) {
        case 2 * WG_ADD: sums[i] = old + new; break;
        case 2 * WG_ADD + 1: sums[i] = wg_word_of(x + y); break;
        case 2 * WG_MAX: sums[i] = wg_max_int(old, new); break;
        case 2 * WG_MAX + 1: sums[i] = wg_word_of(wg_max(x, y)); break;
        case 2 * WG_MIN: sums[i] = wg_min_int(old, new); break;
        case 2 * WG_MIN + 1: sums[i] = wg_word_of(wg_min(x, y)); break;
        case 2 * WG_LARGEST: better = new > old; break;
        case 2 * WG_LARGEST + 1: better = wg_is_better(x, y, y > x); break;
        case 2 * WG_SMALLEST: better = new < old; break;
        case 2 * WG_SMALLEST + 1: better = wg_is_better(x, y, y < x); break;
        }
        if (better && join >= 2 * WG_LARGEST) sums[i] = new;
    }
}

static void wg_add_arrays(const wg_loop *l, const ref *own) {
    for (word i = 0; i < l->info[6]; i++) {
        double *to = (double *)l->captured[l->arrays[2 * i]];
        const double *from = (const double *)own[i];
        for (word k = 0; k < l->arrays[2 * i + 1]; k++) to[k] += from[k];
    }
}

/* Arrays for a part to add to; 0 if there is no memory. */
static int wg_zeros(wg_run *r, const wg_loop *l, ref *own) {
    for (word i = 0; i < l->info[6]; i++) {
        own[i] = wg_try_alloc(r, l->arrays[2 * i + 1]);
        if (!own[i]) {
            while (i-- > 0) wg_free(r, own[i]);
            return 0;
        }
        wg_zero(own[i], l->arrays[2 * i + 1]);
    }
    return 1;
}

static void wg_free_zeros(wg_run *r, const wg_loop *l, const ref *own, word parts) {
    for (word i = 0; i < l->info[6] * parts; i++) wg_free(r, own[i]);
}

/* Every second part, then the others; the failure is that of the first of all that fails. */
static int wg_by_turns(wg_run *r, wg_loop *l, word *sums, void *top) {
    for (l->round = 0; l->round < 2; l->round++) {
        for (word place = 0; place < wg_in_round(l); place++) {
            word part = wg_part_of(l, place);
            if (part < l->failed && wg_part(r, l, part, NULL, sums, top)) l->failed = part;
        }
    }
    return l->failed < l->parts;
}

/* The parts one after the other; 1 if one failed. */
static int wg_one_by_one(wg_run *r, wg_loop *l, word *sums, void *top) {
    if (l->near) return wg_by_turns(r, l, sums, top);
    word found[l->info[4] + 1];
    ref own[l->info[6] + 1];
    if (wg_part(r, l, 0, NULL, sums, top)) return 1;
    if (l->parts < 2) return 0;
    if (!wg_zeros(r, l, own)) {
        r->site = WG_MEMORY;
        r->message = NULL;
        return 1;
    }
    for (word part = 1; part < l->parts; part++) {
        for (word i = 0; part > 1 && i < l->info[6]; i++) wg_zero(own[i], l->arrays[2 * i + 1]);
        if (wg_part(r, l, part, own, found, top)) return 1;
        wg_add_sums(l, part, sums, found);
        wg_add_arrays(l, own);
    }
    wg_free_zeros(r, l, own, 1);
    return 0;
}

/* The first part of a thread's own. */
static word wg_first_of(const wg_loop *l, word thread) { return thread * wg_in_round(l) / l->threads; }

/* The next part for a thread: of its own, or else of another one's; -1 if all are taken. */
static word wg_take(wg_loop *l, word thread) {
    for (word i = 0; i < l->threads; i++) {
        word owner = (thread + i) % l->threads;
        word next = __atomic_fetch_add(&l->next[owner], 1, __ATOMIC_RELAXED);
        if (next < wg_first_of(l, owner + 1)) return next;
    }
    return -1;
}

/* Makes parts until all are taken. */
static void wg_work(wg_run *r, wg_loop *l, pthread_mutex_t *lock, void *top) {
    for (word place; (place = wg_take(l, r->number)) >= 0;) {
        word part = wg_part_of(l, place);
        const ref *own = part ? l->own + (part - 1) * l->info[6] : NULL;
        /* What comes after a failure does not matter. */
        if (part < __atomic_load_n(&l->failed, __ATOMIC_RELAXED) &&
            wg_part(r, l, part, own, l->found + part * l->info[4], top)) {
            pthread_mutex_lock(lock);
            if (part < l->failed) {
                l->site = r->site;
                l->message = r->message;
                memcpy(l->numbers, r->numbers, sizeof l->numbers);
                __atomic_store_n(&l->failed, part, __ATOMIC_RELAXED);
            }
            pthread_mutex_unlock(lock);
        }
        wg_share(r, r->depot);
        __atomic_fetch_add(&l->done, 1, __ATOMIC_RELEASE);
    }
}

/* What a thread does. Its number is how many runs are in the pool before it. */
static void *wg_serve(void *given) {
    wg_pool *pool = given;
    pthread_mutex_lock(&pool->lock);
    wg_run *r = pool->runs[pool->threads++];
    pthread_cond_broadcast(&pool->finished);
    word seen = 0;
    for (;;) {
        while (pool->changes == seen) pthread_cond_wait(&pool->changed, &pool->lock);
        seen = pool->changes;
        if (pool->end) break;
        wg_loop *loop = pool->loop;
        if (!loop) continue;
        pool->busy++;
        pthread_mutex_unlock(&pool->lock);
        wg_begin_loop(r, loop->info[2] >> 2 & 1);
        wg_work(r, loop, &pool->lock, NULL);
        wg_hand_over(r);
        pthread_mutex_lock(&pool->lock);
        if (--pool->busy == 0) pthread_cond_broadcast(&pool->finished);
        pthread_mutex_unlock(&pool->lock);
        for (int i = 0; i < WG_PATIENCE && __atomic_load_n(&pool->changes, __ATOMIC_RELAXED) == seen; i++) {
#if defined __x86_64__
            __builtin_ia32_pause();
#endif
        }
        pthread_mutex_lock(&pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static void wg_end_pool(wg_pool *pool) {
    pthread_mutex_lock(&pool->lock);
    pool->end = 1;
    __atomic_store_n(&pool->changes, pool->changes + 1, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
    for (word i = 0; i < pool->threads; i++) {
        pthread_join(pool->handles[i], NULL);
        wg_bequeath(pool->runs[i], pool->depot);
        wg_close(pool->runs[i]);
    }
    pool->depot->count = 0;
    pthread_cond_destroy(&pool->changed);
    pthread_cond_destroy(&pool->finished);
    pthread_mutex_destroy(&pool->lock);
    pool->depot->lock = NULL;
    pool->depot->others = NULL;
    free(pool->runs);
    free(pool->handles);
    free(pool);
}

/* Some elements of an array are released: a part of a loop. */
static void wg_release_part(wg_run *r, const word *arguments, word *results) {
    (void)results;
    const wg_kind *k = &wg_kinds[arguments[3]];
    ref elements = (ref)arguments[2] + 1 + k->axes;
    for (word i = 0; i < arguments[1]; i++) wg_release_any(r, (ref)elements[arguments[0] + i], k->element);
}

/* Whether nothing else refers to an object, nor to what it refers to itself. */
static int wg_is_own(ref o, uint16_t kind) {
    if (!wg_unique_data(o)) return 0;
    if (wg_kinds[kind].what != WG_DATA) return 1;
    const wg_ctor *ctor = &wg_kinds[kind].ctors[wg_constructor(o)];
    for (uint32_t i = 0; i < ctor->count; i++) {
        ref part = (ref)o[ctor->fields[i].place];
        if (wg_is_object(part) && *part != 1 && !wg_is_forever(part)) return 0;
    }
    return 1;
}

/* Releases the elements of an array that nothing refers to any more, with other threads; 0 if that is not worth it. If many elements
 * are something else's too, or share parts, there is little to do, and threads might wait for each other to count references to the
 * same objects. */
static int wg_release_together(wg_run *r, ref array, uint16_t kind) {
    word count = 1, last = 0, axes = wg_kinds[kind].axes;
    for (word axis = 1; axis <= axes; axis++) count *= array[axis];
    if (count < WG_LONG || r->crowded || !r->pool) return 0;
    for (word i = 0; i < WG_LOOKS; i++) last += wg_is_own((ref)array[1 + axes + count / WG_LOOKS * i], wg_kinds[kind].element);
    if (last < WG_LOOKS * 3 / 4) return 0;
    word info[] = {count, wg_word_of(1e18), 4, 2, 0, 0, 0, (word)array, kind};
    wg_parallel(r, wg_release_part, info);
    return 1;
}

/* The other threads of a run; NULL if there are none. */
static wg_pool *wg_pool_of(wg_run *r) {
    if (r->pool || r->threads < 2) return r->pool;
    wg_pool *pool = calloc(1, sizeof *pool);
    word count = r->threads - 1;
    if (!r->depot) r->depot = calloc(1, sizeof *r->depot);
    if (!pool || !r->depot) {
        free(pool);
        return NULL;
    }
    r->find = wg_find;
    r->release = wg_release_together;
    r->depot->owner = r;
    r->depot->lock = &pool->lock;
    pool->depot = r->depot;
    pool->runs = calloc((size_t)count, sizeof *pool->runs);
    r->depot->others = pool->runs;
    pool->handles = calloc((size_t)count, sizeof *pool->handles);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->changed, NULL);
    pthread_cond_init(&pool->finished, NULL);
    for (word made = 0; pool->runs && pool->handles && made < count; made++) {
        wg_run *other = wg_open_one_of(count, (uint64_t)r->limit * 8, r->stop);
        if (!other) break;
        other->all_words = r->all_words;
        other->depot = r->depot;
        other->find = wg_find;
        other->number = made + 1;
        pool->runs[made] = other;
        if (pthread_create(&pool->handles[made], NULL, wg_serve, pool)) {
            wg_close(other);
            break;
        }
        pthread_mutex_lock(&pool->lock);
        while (pool->threads <= made) pthread_cond_wait(&pool->finished, &pool->lock);
        pthread_mutex_unlock(&pool->lock);
        r->depot->count = made + 1;
    }
    r->end_pool = wg_end_pool;
    return r->pool = pool;
}

/* Makes the parts of a round with the other threads. */
static void wg_round(wg_run *r, wg_loop *l, wg_pool *pool, void *top) {
    pthread_mutex_lock(&pool->lock);
    pool->loop = l;
    __atomic_store_n(&pool->changes, pool->changes + 1, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
    wg_work(r, l, &pool->lock, top);
    for (int i = 0; i < WG_PATIENCE && __atomic_load_n(&l->done, __ATOMIC_ACQUIRE) < wg_in_round(l); i++) {
#if defined __x86_64__
        __builtin_ia32_pause();
#endif
    }
    pthread_mutex_lock(&pool->lock);
    pool->loop = NULL;
    /* No thread may look at the loop any more. */
    while (pool->busy) pthread_cond_wait(&pool->finished, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

/* Makes a loop with the other threads; 1 if it failed. */
static int wg_together(wg_run *r, wg_loop *l, wg_pool *pool, word *sums, void *top) {
    wg_share(r, r->depot);
    wg_begin_loop(r, l->info[2] >> 2 & 1);
    for (l->round = 0; l->round <= l->near; l->round++) {
        l->done = 0;
        for (word thread = 0; thread < l->threads; thread++) l->next[thread] = wg_first_of(l, thread);
        wg_round(r, l, pool, top);
    }
    wg_end_loop(r);
    if (l->failed < l->parts) {
        r->site = l->site;
        r->message = l->message;
        memcpy(r->numbers, l->numbers, sizeof r->numbers);
        return 1;
    }
    for (word part = 0; part < l->parts; part++) {
        wg_add_sums(l, part, sums, l->found + part * l->info[4]);
        if (part) wg_add_arrays(l, l->own + (part - 1) * l->info[6]);
    }
    return 0;
}

/* Makes a loop by parts. The sums are left where they were found. */
static __attribute__((noinline)) void wg_parallel(wg_run *r, wg_entry entry, word *info) {
    wg_loop l = {.entry = entry, .info = info, .failed = INT64_MAX};
    l.captured = info + WG_HEAD;
    l.sums = l.captured + info[3];
    l.arrays = l.sums + info[4];
    l.near = info[2] >> 1 & 1;
    wg_divide(&l);
    word sums[info[4] + 1], next[r->threads];
    /* Parts that are made here go on below this function. */
    char *here = __builtin_alloca(64);
    void *top = (void *)(((uintptr_t)here - 8192) & ~(uintptr_t)63);
    wg_pool *pool = l.parts > 1 ? wg_pool_of(r) : NULL;
    if (pool && pool->loop) pool = NULL; /* a loop in a part of a loop */
    word others = 0;
    if (pool && pool->threads) {
        l.found = malloc((size_t)(l.parts * info[4] + 1) * sizeof *l.found);
        l.own = malloc((size_t)(l.parts * info[6] + 1) * sizeof *l.own);
        while (l.found && l.own && others < l.parts - 1 && wg_zeros(r, &l, l.own + others * info[6])) others++;
    }
    l.next = next;
    l.threads = pool ? pool->threads + 1 : 1;
    int together = pool && pool->threads && others == l.parts - 1;
    int failed = together ? wg_together(r, &l, pool, sums, top) : wg_one_by_one(r, &l, sums, top);
    if (l.own && !failed) wg_free_zeros(r, &l, l.own, others);
    free(l.found);
    free(l.own);
    if (failed) wg_leave(&r->saved);
    memcpy(info + WG_HEAD + info[3], sums, (size_t)info[4] * 8);
}

/* How many threads make loops from now on. */
static WG_UNUSED void wg_set_threads(wg_run *r, word threads) {
    if (r->pool) r->end_pool(r->pool);
    r->pool = NULL;
    r->threads = threads;
}

