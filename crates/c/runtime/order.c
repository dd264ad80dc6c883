/* ---- Sorting: stable, NaN last ---------------------------------------------------------------------------------- */

typedef struct {
    union {
        double real;
        word number;
    } key;
    word place;
} wg_item;

static int wg_real_before(wg_item a, wg_item b) {
    return a.key.real < b.key.real || (isnan(b.key.real) && !isnan(a.key.real));
}
static int wg_int_before(wg_item a, wg_item b) { return a.key.number < b.key.number; }

/* Sorts runs of a few items by insertion, then merges runs; `spare` has as much room. The result is in `items`. */
static inline __attribute__((always_inline)) void wg_sort_items(
    wg_item *items, wg_item *spare, word count, int (*before)(wg_item, wg_item)) {
    enum { RUN = 12 };
    for (word start = 0; start < count; start += RUN) {
        word end = start + RUN < count ? start + RUN : count;
        for (word i = start + 1; i < end; i++) {
            wg_item item = items[i];
            word to = i;
            for (; to > start && before(item, items[to - 1]); to--) items[to] = items[to - 1];
            items[to] = item;
        }
    }
    wg_item *from = items, *to = spare;
    for (word run = RUN; run < count; run *= 2) {
        for (word start = 0; start < count; start += 2 * run) {
            word middle = start + run < count ? start + run : count;
            word end = middle + run < count ? middle + run : count;
            word a = start, b = middle;
            for (word i = start; i < end; i++) {
                int second = a == middle || (b < end && before(from[b], from[a]));
                to[i] = second ? from[b++] : from[a++];
            }
        }
        wg_item *other = from;
        from = to;
        to = other;
    }
    if (from != items) memcpy(items, from, (size_t)count * sizeof *items);
}

static int wg_text_before(wg_item a, wg_item b) { return wg_text_compare((ref)a.key.number, (ref)b.key.number) < 0; }

/* Sorts; gives the words, or where they were. */
static inline __attribute__((always_inline)) void wg_sort_words(
    wg_run *r, const word *from, word count, word *to, int places, int (*before)(wg_item, wg_item),
    word site) {
    ref room = wg_alloc(r, 1 + 4 * count, site);
    wg_item *items = (wg_item *)(room + 1);
    for (word i = 0; i < count; i++) {
        memcpy(&items[i].key, &from[i], 8);
        items[i].place = i;
    }
    wg_sort_items(items, items + count, count, before);
    for (word i = 0; i < count; i++) memcpy(&to[i], places ? (void *)&items[i].place : (void *)&items[i].key, 8);
    wg_free(r, room);
}

static WG_UNUSED void wg_sort_real(wg_run *r, const void *from, word count, void *to, word site) {
    wg_sort_words(r, from, count, to, 0, wg_real_before, site);
}
static WG_UNUSED void wg_sort_int(wg_run *r, const void *from, word count, void *to, word site) {
    wg_sort_words(r, from, count, to, 0, wg_int_before, site);
}
static WG_UNUSED void wg_sort_text(wg_run *r, const void *from, word count, void *to, word site) {
    wg_sort_words(r, from, count, to, 0, wg_text_before, site);
    for (word i = 0; i < count; i++) wg_retain_text_shared(r, (ref)((word *)to)[i]);
}
static WG_UNUSED void wg_argsort_real(wg_run *r, const void *from, word count, void *to, word site) {
    wg_sort_words(r, from, count, to, 1, wg_real_before, site);
}
static WG_UNUSED void wg_argsort_int(wg_run *r, const void *from, word count, void *to, word site) {
    wg_sort_words(r, from, count, to, 1, wg_int_before, site);
}
static WG_UNUSED void wg_argsort_text(wg_run *r, const void *from, word count, void *to, word site) {
    wg_sort_words(r, from, count, to, 1, wg_text_before, site);
}
