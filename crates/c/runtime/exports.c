/* ---- For C programs ---------------------------------------------------------------------------------------------- */

/* The number of elements of an array of these sizes. */
static WG_UNUSED word wg_count(const int64_t *size, int axes) {
    word count = 1;
    for (int axis = 0; axis < axes; axis++) count *= size[axis];
    return count;
}

/* A copy of an array in the run's memory, NULL if that is full. */
static WG_UNUSED ref wg_array_in(wg_run *r, const void *data, const int64_t *size, int axes) {
    word count = wg_count(size, axes);
    ref o = wg_try_alloc(r, 1 + axes + count);
    if (!o) return NULL;
    for (int axis = 0; axis < axes; axis++) o[1 + axis] = size[axis];
    if (count > 0) memcpy(o + 1 + axes, data, (size_t)count * 8);
    return o;
}

/* The elements of an array, in memory of the C library; the array is released. */
static WG_UNUSED void *wg_array_out(wg_run *r, ref o, int64_t *size, int axes, uint16_t kind) {
    for (int axis = 0; axis < axes; axis++) size[axis] = o[1 + axis];
    size_t bytes = (size_t)wg_count(size, axes) * 8;
    void *data = malloc(bytes ? bytes : 8);
    if (data) memcpy(data, o + 1 + axes, bytes);
    wg_release_any(r, o, kind);
    return data;
}

static WG_UNUSED ref wg_text_in(wg_run *r, const char *text) {
    word bytes = (word)strlen(text), words = (bytes + 7) / 8;
    ref o = wg_try_alloc(r, 2 + words);
    if (!o) return NULL;
    o[1] = bytes;
    if (words > 0) o[1 + words] = 0;
    memcpy(o + 2, text, (size_t)bytes);
    return o;
}

static WG_UNUSED char *wg_text_out(wg_run *r, ref o, uint16_t kind) {
    char *text = malloc((size_t)o[1] + 1);
    if (text) {
        memcpy(text, o + 2, (size_t)o[1]);
        text[o[1]] = 0;
    }
    wg_release_any(r, o, kind);
    return text;
}

/* Other words of a failure, where some numbers of it lie in ranges: `1 element`, but `2 elements`. */
typedef struct {
    const char *what; /* NULL after the last */
    struct {
        word number, least, most;
    } ranges[2];
} wg_case;

/* What went wrong: the place, and a text in which a character below 16 stands for an integer of the failure, one from 16 to
 * 31 for a real. Whether arrays of different sizes stand in the elements of an array, for which there is another form. */
typedef struct {
    const char *where, *what;
    const wg_case *cases; /* of which the first one counts that fits */
    int uneven;
} wg_site;
static const wg_site wg_sites[];

static WG_UNUSED int wg_is_uneven(const wg_run *r) { return r->site >= 0 && wg_sites[r->site].uneven; }

/* Whether there is another form, in which no derivative is made beforehand: it was this that failed. */
static const char *const wg_missing[];

static WG_UNUSED int wg_is_missing(const wg_run *r) {
    if (r->site < 0 || !r->message) return 0;
    for (const char *const *text = wg_missing; *text; text++) {
        size_t bytes = (size_t)r->message[1];
        if (strlen(*text) == bytes && !memcmp(*text, r->message + 2, bytes)) return 1;
    }
    return 0;
}

static WG_UNUSED const char *wg_said_of(const wg_run *r, const wg_site *site) {
    for (const wg_case *other = site->cases; other && other->what; other++) {
        int fits = 1;
        for (int i = 0; i < 2; i++) {
            word number = r->numbers[other->ranges[i].number];
            fits &= number >= other->ranges[i].least && number <= other->ranges[i].most;
        }
        if (fits) return other->what;
    }
    return site->what;
}

static WG_UNUSED int wg_failed(wg_run *r) {
    static const wg_site everywhere[] = {{"", "out of memory", NULL, 0}, {"", "stopped", NULL, 0}};
    const wg_site *site = r->site < 0 ? &everywhere[r->site == WG_STOPPED] : &wg_sites[r->site];
    size_t room = sizeof r->text, at = 0;
    at += (size_t)snprintf(r->text, room, "%s%s", site->where, *site->where ? ": " : "");
    for (const char *c = wg_said_of(r, site); *c && at + 40 < room; c++) {
        if (*c == '\1' && r->message) {
            at += (size_t)snprintf(r->text + at, room - at, "%.*s", (int)r->message[1], (char *)(r->message + 2));
        } else if (*c > 0 && *c < 16) {
            at += (size_t)snprintf(r->text + at, room - at, "%lld", (long long)r->numbers[*c - 1]);
        } else if (*c >= 16 && *c < 32) {
#ifdef WG_TEXTS
            at += (size_t)wg_write_real(r->text + at, wg_of_bits(r->numbers[*c - 16]));
#endif
        } else {
            r->text[at++] = *c;
        }
        if (at >= room) at = room - 1;
        r->text[at] = 0;
    }
    wg_clear(r);
    return 1;
}

/* Sizes are not negative. */
static WG_UNUSED int wg_negative_size(wg_run *r, const char *name, int axis, word size) {
    snprintf(r->text, sizeof r->text, "`%s` has the size %lld along axis %d: a size must be 0 or more", name, (long long)size,
             axis);
    return 1;
}

/* Arrays that stand for one array of tuples must have its size. */
static WG_UNUSED int wg_parts_differ(wg_run *r, const char *one, word size, const char *other, word other_size) {
    snprintf(r->text, sizeof r->text, "`%s` has %lld elements, but `%s`, which is of the same array, has %lld", one,
             (long long)size, other, (long long)other_size);
    return 1;
}

static WG_UNUSED int wg_no_memory(wg_run *r) {
    r->site = WG_MEMORY;
    r->message = NULL;
    return wg_failed(r);
}
