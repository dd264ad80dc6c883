/* ---- Memory ----------------------------------------------------------------------------------------------------- */

/* More words are in use, or fewer. */
static inline void wg_use(wg_run *r, word words) {
    r->words += words;
    word now = __atomic_add_fetch(&r->all_words->now, words, __ATOMIC_RELAXED);
    word most = __atomic_load_n(&r->all_words->most, __ATOMIC_RELAXED);
    while (now > most &&
        !__atomic_compare_exchange_n(&r->all_words->most, &most, now, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
}
/* Words that may be used yet. */
static inline word wg_left(wg_run *r) { return r->limit - __atomic_load_n(&r->all_words->now, __ATOMIC_RELAXED); }

/* The list of spare objects with so much room. */
static inline int wg_size(word room) {
    int log = 63 - __builtin_clzll((unsigned long long)room);
    return log * 4 + (int)(((uint64_t)room >> (log - 2)) & 3);
}

/* The first of a list of spare objects, which is none any more. */
static wg_large *wg_take_spare(wg_run *r, wg_large **list) {
    wg_large *large = *list;
    *list = large->next;
    r->spares--;
    r->spare_words -= large->room;
    return large;
}

static void wg_drop_first(wg_run *r, wg_large **list) {
    wg_large *large = wg_take_spare(r, list);
    wg_use(r, -large->room);
    free(large->block);
}

static void wg_drop_spare(wg_run *r) {
    for (int size = 0; r->spares && size < WG_SIZES; size++) {
        while (r->spare[size]) wg_drop_first(r, &r->spare[size]);
    }
}

/* Whether so many words more would be too many to keep. What a thread keeps that helps another one, no other can have back. */
static inline int wg_is_too_much(const wg_run *r, word room) {
    int helps = r->depot && r->depot->owner != r;
    return (helps || r->spares >= WG_SPARE) && r->spare_words + room > WG_SPARE_WORDS;
}

/* Keeps a large object that nobody needs; for it others go that have another size, in turn: what a program does now is what it needs. */
static void wg_keep_spare(wg_run *r, wg_large *large) {
    int size = wg_size(large->room);
    for (int tries = 0; tries < WG_SIZES && wg_is_too_much(r, large->room); tries++) {
        r->from = (r->from + 1) % WG_SIZES;
        wg_large **list = &r->spare[r->from];
        while (r->from != size && *list && wg_is_too_much(r, large->room)) wg_drop_first(r, list);
    }
    if (wg_is_too_much(r, large->room)) {
        wg_use(r, -large->room);
        free(large->block);
        return;
    }
    large->next = r->spare[size];
    r->spare[size] = large;
    r->spares++;
    r->spare_words += large->room;
}

/* A spare object with so much room and little more, or NULL. */
static wg_large *wg_find_spare(wg_run *r, word words) {
    enum { LOOKS = 8 };
    int size = wg_size(words);
    for (int more = 0; r->spares && more < 2 && size + more < WG_SIZES; more++) {
        wg_large **list = &r->spare[size + more];
        for (int looks = 0; *list && looks < LOOKS; looks++, list = &(*list)->next) {
            word room = (*list)->room;
            if (room >= words && room - words <= words / 4) return wg_take_spare(r, list);
        }
    }
    return NULL;
}

static ref wg_use_large(wg_run *r, wg_large *large, word words) {
    large->words = words < UINT32_MAX ? words : UINT32_MAX;
    large->next = r->large;
    large->link = &r->large;
    large->owner = r;
    if (large->next) large->next->link = &large->next;
    r->large = large;
    large->object[0] = 1;
    return large->object;
}

/* The system gives each long object pages of its own. If all began at the same place of a page, a loop through many would need the
 * same few lines of the cache for all of them: so each begins some lines after the one before. */
static inline size_t wg_skipped(wg_run *r, word words) {
    enum { LONG = 1 << 14, LINES = 64, STEP = 5 };
    if (words < LONG) return 0;
    r->lines = (r->lines + STEP) % LINES;
    return (size_t)r->lines * 64;
}

/* Asks the system for long pages: there are fewer to be cleared, found and looked up then. It may not have any. */
static inline void wg_ask_for_long_pages(char *block, size_t bytes) {
#ifdef MADV_HUGEPAGE
    enum { PAGE = 2 << 20 };
    char *first = block + (PAGE - (uintptr_t)block % PAGE) % PAGE;
    char *end = block + bytes - (uintptr_t)(block + bytes) % PAGE;
    if (first < end) madvise(first, (size_t)(end - first), MADV_HUGEPAGE);
#else
    (void)block, (void)bytes;
#endif
}

/* Fresh memory is slow: the system clears it. So large objects are used again if they fit well. */
static ref wg_alloc_large(wg_run *r, word words) {
    wg_large *spare = wg_find_spare(r, words);
    if (spare) return wg_use_large(r, spare, words);
    if (words > wg_left(r)) wg_drop_spare(r);
    if (words > wg_left(r)) return NULL;
    size_t skipped = wg_skipped(r, words);
    void *block;
    size_t bytes = skipped + sizeof(wg_large) + (size_t)words * 8;
    if (posix_memalign(&block, 64, bytes)) return NULL;
    wg_ask_for_long_pages((char *)block, bytes);
    wg_large *large = (wg_large *)((char *)block + skipped);
    large->block = block;
    large->room = words;
    wg_use(r, words);
    return wg_use_large(r, large, words);
}

/* The words that an object gets that asks for so many: two at least, for lists of lists. */
static inline word wg_room(word words) { return words > WG_TINY ? words | 7 : words < 2 ? 2 : words; }

/* A new chunk; 0 if memory is full. */
static int wg_chunk(wg_run *r) {
    if (WG_CHUNK > wg_left(r)) wg_drop_spare(r);
    if (WG_CHUNK > wg_left(r)) return 0;
    ref chunk;
    if (posix_memalign((void **)&chunk, 64, (size_t)WG_CHUNK * 8)) return 0;
    wg_use(r, WG_CHUNK);
    *chunk = (word)r->chunks;
    r->chunks = chunk;
    r->next = chunk + offsetof(wg_large, object) / 8 - 1;
    r->end = chunk + WG_CHUNK;
    return 1;
}

/* A fresh object of so much room, its length before it; where there are several threads, others of the same size beside it become
 * free ones: so objects of one size lie together, and a line of the processor's memory is only one thread's. */
static ref wg_alloc_small(wg_run *r, word words) {
    word each = words + 1, count = words > WG_TINY || !r->depot ? 1 : WG_LINES * 8 / each;
    for (int tries = 0; tries < 2; tries++) {
        /* Where longer ones are as far from a multiple of 64 bytes as a large one. */
        word at = words > WG_TINY ? offsetof(wg_large, object) / 8 - 1 : 0;
        ref next = r->next + (words > WG_TINY || count > 1 ? (at - (word)((uintptr_t)r->next / 8)) & 7 : 0);
        if (r->end - next < count * each) {
            if (tries || !wg_chunk(r)) return NULL;
            continue;
        }
        for (word k = count - 1; k >= 0; k--) {
            ref o = next + 1 + k * each;
            o[-1] = words;
            *o = (word)r->free[words];
            r->free[words] = o;
        }
        r->next = next + count * each;
        break;
    }
    ref o = r->free[words];
    r->free[words] = (ref)*o;
    *o = 1;
    return o;
}

/* A new object, or NULL if memory is full. */
static __attribute__((noinline)) ref wg_try_alloc(wg_run *r, word words) {
    if (words < 1) words = 1;
    if (words > WG_SMALL) return wg_alloc_large(r, words);
    word room = wg_room(words);
    ref o = r->free[room];
    if (!o && r->depot) o = r->find(r, room);
    if (!o) return wg_alloc_small(r, room);
    r->free[room] = (ref)*o;
    *o = 1;
    return o;
}

/* A new object where no free one is at hand. */
static __attribute__((noinline, unused)) ref wg_alloc_otherwise(wg_run *r, word words, word site) {
    ref o = words < 0 ? NULL : wg_try_alloc(r, words);
    if (WG_RARELY(!o)) WG_FAIL(site, 0);
    return o;
}

/* A new object; fails at that place of the source if memory is full. */
static inline WG_UNUSED ref wg_alloc(wg_run *r, word words, word site) {
    if (WG_USUALLY((uint64_t)words <= WG_SMALL)) {
        word room = wg_room(words);
        ref o = r->free[room];
        if (__builtin_expect(o != NULL, 1)) {
            r->free[room] = (ref)*o;
            *o = 1;
            return o;
        }
    }
    return wg_alloc_otherwise(r, words, site);
}

/* New data of that constructor. */
static inline WG_UNUSED ref wg_make(wg_run *r, word words, word constructor, word site) {
    ref o = wg_alloc(r, words, site);
    o[-1] = (words > WG_SMALL ? words : wg_room(words)) | constructor << 32;
    return o;
}

static __attribute__((noinline)) void wg_free_large(wg_run *r, ref o) {
    wg_large *large = (wg_large *)((char *)o - offsetof(wg_large, object));
    if (WG_RARELY(large->owner != r)) {
        *o = (word)r->orphans;
        r->orphans = large;
        return;
    }
    *large->link = large->next;
    if (large->next) large->next->link = large->link;
    wg_keep_spare(r, large);
}

/* Frees an object, not what it refers to. */
static inline WG_UNUSED void wg_free(wg_run *r, ref o) {
    word words = ((const wg_half *)o)[WG_LOWER];
    if (words > WG_SMALL) {
        wg_free_large(r, o);
    } else {
        *o = (word)r->free[words];
        r->free[words] = o;
    }
}

/* What a word refers to: nothing, something that refers to nothing else, data, or an array of things that refer. */
enum { WG_PLAIN, WG_FLAT, WG_DATA, WG_ARRAY };
/* Of a constructor, the words that refer to something: where they are, and what they refer to. */
typedef struct {
    uint32_t place;
    uint16_t kind;
} wg_field;
typedef struct {
    uint32_t count;
    const wg_field *fields;
} wg_ctor;
typedef struct {
    uint16_t what, axes, element;
    const wg_ctor *ctors;
} wg_kind;
static const wg_kind wg_kinds[];

/* One reference less to what other threads may refer to: whether it was the last one. If there is one only, that is nobody
 * else's to change. */
static inline int wg_was_last(wg_run *r, ref o) {
    if (__atomic_load_n(o, __ATOMIC_ACQUIRE) == 1) return 1;
    if (WG_RARELY(r->sharing)) return __atomic_fetch_sub(o, 1, __ATOMIC_ACQ_REL) == 1;
    --*o;
    return 0;
}

/* Whether it is a text of the program, which all runs of it have in common: nobody counts references to it. */
static inline WG_UNUSED int wg_is_forever(ref o) { return __atomic_load_n(o, __ATOMIC_RELAXED) == WG_FOREVER; }

/* One reference less. Objects to which nothing refers any more are freed if they refer to nothing; the others form a list in
 * their counts, with their kinds in the upper bits. */
static inline __attribute__((always_inline)) uint64_t wg_doom(wg_run *r, uint64_t doomed, ref o, uint16_t kind, int sharing) {
    if (!wg_is_object(o)) return doomed;
    if (wg_kinds[kind].what == WG_FLAT) {
        if (!wg_is_forever(o) && (sharing ? wg_was_last(r, o) : --*o == 0)) wg_free(r, o);
        return doomed;
    }
    if (sharing ? !wg_was_last(r, o) : --*o != 0) return doomed;
    *o = (word)doomed;
    return (uint64_t)kind << 48 | (uint64_t)(uintptr_t)o;
}

/* Frees an object to which nothing refers any more, and what it alone refers to. Lists are long: no recursion. */
static inline __attribute__((always_inline)) void wg_dismantle_as(wg_run *r, ref dead, uint16_t kind, int sharing) {
    *dead = 0;
    uint64_t doomed = (uint64_t)kind << 48 | (uint64_t)(uintptr_t)dead;
    while (doomed) {
        ref o = (ref)(uintptr_t)(doomed & (((uint64_t)1 << 48) - 1));
        const wg_kind *k = &wg_kinds[doomed >> 48];
        doomed = (uint64_t)*o;
        if (k->what == WG_DATA) {
            const wg_ctor *ctor = &k->ctors[wg_constructor(o)];
            for (const wg_field *f = ctor->fields, *end = f + ctor->count; f < end; f++) {
                doomed = wg_doom(r, doomed, (ref)o[f->place], f->kind, sharing);
            }
        } else if (k->what == WG_ARRAY) {
            word count = 1;
            for (word axis = 1; axis <= k->axes; axis++) count *= o[axis];
            for (word i = 0; i < count; i++) doomed = wg_doom(r, doomed, (ref)o[1 + k->axes + i], k->element, sharing);
        }
        wg_free(r, o);
    }
}
static __attribute__((noinline, unused)) void wg_dismantle_shared(wg_run *r, ref dead, uint16_t kind) {
    wg_dismantle_as(r, dead, kind, 1);
}
static __attribute__((noinline, unused)) void wg_dismantle(wg_run *r, ref dead, uint16_t kind) {
    if (WG_RARELY(r->sharing)) {
        wg_dismantle_shared(r, dead, kind);
        return;
    }
    if (wg_kinds[kind].what == WG_ARRAY && r->release && r->release(r, dead, kind)) {
        wg_free(r, dead);
        return;
    }
    wg_dismantle_as(r, dead, kind, 0);
}

static inline WG_UNUSED void wg_retain(ref o) { ++*o; }
static inline WG_UNUSED void wg_retain_data(ref o) {
    if (wg_is_object(o)) ++*o;
}
/* One reference less to something that refers to nothing else. */
static inline WG_UNUSED void wg_release_flat(wg_run *r, ref o) {
    if (--*o == 0) wg_free(r, o);
}
static inline WG_UNUSED void wg_release(wg_run *r, ref o, uint16_t kind) {
    if (wg_is_object(o) && --*o == 0) wg_dismantle(r, o, kind);
}

static inline WG_UNUSED void wg_retain_text(ref o) {
    if (!wg_is_forever(o)) ++*o;
}
static inline WG_UNUSED void wg_release_text(wg_run *r, ref o) {
    if (!wg_is_forever(o)) wg_release_flat(r, o);
}

/* The same as functions that are called: for code that makes and frees in many places, of which each runs seldom. There the compiler
 * would need longer for what stands in all these places than for the rest of the program. */
static __attribute__((noinline, unused)) ref wg_alloc_far(wg_run *r, word words, word site) { return wg_alloc(r, words, site); }
static __attribute__((noinline, unused)) ref wg_make_far(wg_run *r, word words, word constructor, word site) {
    return wg_make(r, words, constructor, site);
}
static __attribute__((noinline, unused)) void wg_free_far(wg_run *r, ref o) { wg_free(r, o); }
static __attribute__((noinline, unused)) void wg_release_flat_far(wg_run *r, ref o) { wg_release_flat(r, o); }
static __attribute__((noinline, unused)) void wg_release_far(wg_run *r, ref o, uint16_t kind) { wg_release(r, o, kind); }
/* Takes the fields out of data, one reference of which goes: whether it stays, for others refer to it, and so do these to its fields.
 * Of the fields some are given, and constructors without fields in place of others. */
static __attribute__((noinline, unused)) int wg_take_apart_far(wg_run *r, ref o, ref a, ref b, ref c, ref d) {
    if (!wg_is_object(o)) return 0;
    if (*o == 1) {
        wg_free(r, o);
        return 0;
    }
    wg_retain_data(a), wg_retain_data(b), wg_retain_data(c), wg_retain_data(d);
    --*o;
    return 1;
}

/* The same where parts of a loop may refer to the same objects: atomically, while several threads make it. */
static inline WG_UNUSED word wg_unique_shared(ref o) { return __atomic_load_n(o, __ATOMIC_ACQUIRE) == 1; }
static inline WG_UNUSED word wg_unique_data_shared(ref o) { return wg_is_object(o) && wg_unique_shared(o); }
static inline WG_UNUSED void wg_retain_shared(wg_run *r, ref o) {
    if (WG_RARELY(r->sharing)) {
        __atomic_fetch_add(o, 1, __ATOMIC_RELAXED);
    } else {
        ++*o;
    }
}
static inline WG_UNUSED void wg_retain_data_shared(wg_run *r, ref o) {
    if (wg_is_object(o)) wg_retain_shared(r, o);
}
static inline WG_UNUSED void wg_release_flat_shared(wg_run *r, ref o) {
    if (wg_was_last(r, o)) wg_free(r, o);
}
static inline WG_UNUSED void wg_release_shared(wg_run *r, ref o, uint16_t kind) {
    if (wg_is_object(o) && wg_was_last(r, o)) wg_dismantle(r, o, kind);
}
static inline WG_UNUSED void wg_retain_text_shared(wg_run *r, ref o) {
    if (!wg_is_forever(o)) wg_retain_shared(r, o);
}
static inline WG_UNUSED void wg_release_text_shared(wg_run *r, ref o) {
    if (!wg_is_forever(o)) wg_release_flat_shared(r, o);
}

/* The same with an object of any kind. */
static inline WG_UNUSED void wg_release_any(wg_run *r, ref o, uint16_t kind) {
    if (wg_is_object(o) && !wg_is_forever(o)) wg_release_shared(r, o, kind);
}

/* Forgets all objects, in use or not. */
static void wg_clear(wg_run *r) {
    wg_drop_spare(r);
    while (r->large) {
        wg_large *large = r->large;
        r->large = large->next;
        free(large->block);
    }
    while (r->chunks) {
        ref chunk = r->chunks;
        r->chunks = (ref)*chunk;
        free(chunk);
    }
    memset(r->free, 0, sizeof r->free);
    r->next = r->end = NULL;
    if (r->depot && r->depot->owner == r) {
        memset(r->lists, 0, sizeof r->lists);
        memset(r->depot->counts, 0, sizeof r->depot->counts);
        for (word i = 0; i < r->depot->count; i++) {
            wg_run *other = r->depot->others[i];
            memset(other->free, 0, sizeof other->free);
            memset(other->lists, 0, sizeof other->lists);
            other->next = other->end = NULL;
        }
    }
    wg_use(r, -r->words);
}
