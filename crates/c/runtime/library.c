/* ---- For the program that has opened this library --------------------------------------------------------------- */

WG_EXPORT wg_run *wengert_open(uint64_t bytes, const volatile word *stop) { return wg_open(bytes, stop); }
WG_EXPORT void wengert_close(wg_run *r) { wg_close(r); }
WG_EXPORT ref wengert_alloc(wg_run *r, word words) { return words < 0 ? NULL : wg_try_alloc(r, words); }
WG_EXPORT void wengert_release(wg_run *r, ref o, word kind) {
    if (kind != WG_PLAIN) wg_release_any(r, o, (uint16_t)kind);
}
/* Calls an entry by its number; 1 if it failed. One that does nothing but compute needs no stack of its own. */
WG_EXPORT int wengert_call(wg_run *r, word entry, const word *arguments, word *results) {
    if (wg_direct[entry]) {
        wg_entries[entry](r, arguments, results);
        return 0;
    }
    return wg_run_entry(r, wg_entries[entry], arguments, results);
}
/* The place of the last failure, and the numbers that belong to it. */
WG_EXPORT word wengert_site(wg_run *r) { return r->site; }
WG_EXPORT word wengert_number(wg_run *r, word place) { return place < WG_NUMBERS ? r->numbers[place] : 0; }
/* The user's message, if the failure has one. */
WG_EXPORT ref wengert_text(wg_run *r) { return r->message; }
/* Words of objects that are in use, if no other thread is at work. */
static word wg_unused(const wg_run *r) {
    word words = r->end - r->next;
    for (word size = 1; size <= WG_SMALL; size++) {
        for (ref o = r->free[size]; o; o = (ref)*o) words += size + 1;
        for (ref list = r->lists[size]; list; list = (ref)list[1]) {
            for (ref o = list; o; o = (ref)*o) words += size + 1;
        }
    }
    return words;
}
/* Gives up all memory: what was in use when a call failed, nobody knows. */
WG_EXPORT void wengert_clear(wg_run *r) { wg_clear(r); }
WG_EXPORT word wengert_peak_words(wg_run *r) { return r->all_words->most; }
WG_EXPORT word wengert_words_in_use(wg_run *r) {
    const wg_depot *d = r->depot;
    word words = r->words - wg_unused(r) - r->spare_words;
    for (word i = 0; d && i < d->count; i++) words -= wg_unused(d->others[i]);
    return words;
}
