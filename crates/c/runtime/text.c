/* ---- Texts ------------------------------------------------------------------------------------------------------ */

#define WG_TEXTS
static inline WG_UNUSED word wg_text_bytes(ref text) { return text[1]; }
static inline WG_UNUSED char *wg_text_start(ref text) { return (char *)(text + 2); }

/* A new text of so many bytes, to be filled. */
static ref wg_new_text(wg_run *r, word bytes, word site) {
    word words = (bytes + 7) / 8;
    ref text = wg_alloc(r, 2 + words, site);
    text[1] = bytes;
    if (words > 0) text[1 + words] = 0;
    return text;
}

static WG_UNUSED ref wg_text_of(wg_run *r, const char *bytes, word count, word site) {
    ref text = wg_new_text(r, count, site);
    memcpy(wg_text_start(text), bytes, (size_t)count);
    return text;
}

static WG_UNUSED ref wg_text_append(wg_run *r, ref a, ref b, word site) {
    word first = wg_text_bytes(a), second = wg_text_bytes(b);
    ref text = wg_new_text(r, first + second, site);
    memcpy(wg_text_start(text), wg_text_start(a), (size_t)first);
    memcpy(wg_text_start(text) + first, wg_text_start(b), (size_t)second);
    return text;
}

/* The same where the first is released directly after that: if nobody else refers to it, the second is put behind it, or there is
 * room for more in the new text. So a text that grows by parts takes a time that grows with its length; where there is hardly any more
 * room, there is no more memory, for each part would move all. */
static WG_UNUSED ref wg_text_extend(wg_run *r, ref a, ref b, word site) {
    if (__atomic_load_n(a, __ATOMIC_ACQUIRE) != 1) return wg_text_append(r, a, b, site);
    word first = wg_text_bytes(a), second = wg_text_bytes(b), bytes = first + second;
    word words = (bytes + 7) / 8, room = (word)((const wg_half *)a)[WG_LOWER] - 2;
    ref text = a;
    if (words <= room) {
        ++*a;
    } else {
        text = NULL;
        for (word part = 1; part <= 16 && !text; part *= 2) text = wg_try_alloc(r, 2 + words + words / part);
        if (!text && second < bytes / 16) WG_FAIL(site, 0);
        if (!text) return wg_text_append(r, a, b, site);
        memcpy(wg_text_start(text), wg_text_start(a), (size_t)first);
    }
    text[1] = bytes;
    memcpy(wg_text_start(text) + first, wg_text_start(b), (size_t)second);
    memset(wg_text_start(text) + bytes, 0, (size_t)(words * 8 - bytes));
    return text;
}

/* Characters, which are the bytes that do not go on with one. */
static WG_UNUSED word wg_text_length(ref text) {
    word count = 0;
    for (word i = 0; i < wg_text_bytes(text); i++) count += (wg_text_start(text)[i] & 0xC0) != 0x80;
    return count;
}

static WG_UNUSED word wg_text_compare(ref a, ref b) {
    word first = wg_text_bytes(a), second = wg_text_bytes(b);
    int order = memcmp(wg_text_start(a), wg_text_start(b), (size_t)(first < second ? first : second));
    if (order == 0) return (first > second) - (first < second);
    return order < 0 ? -1 : 1;
}

static WG_UNUSED ref wg_show_int(wg_run *r, word n, word site) {
    char text[24];
    return wg_text_of(r, text, snprintf(text, sizeof text, "%lld", (long long)n), site);
}

/* The next form of so many digits, up to `e`; 0 if there is none. */
static int wg_next_form(char *form, char *e) {
    char *last = e - 1;
    while (last >= form && (*last == '9' || *last < '0' || *last > '9')) {
        if (*last == '9') *last = '0';
        last--;
    }
    if (last < form) return 0;
    ++*last;
    return 1;
}

/* Whether a number lies in the middle between a form of so many digits and the next one. */
static int wg_is_between(double x, const char *form, int count) {
    /* All digits that it has. */
    char exact[800];
    snprintf(exact, sizeof exact, "%.*e", 770, x);
    int length = count == 1 ? 1 : count + 1;
    const char *rest = exact + (count == 1 ? 2 : length);
    if (strncmp(exact, form, (size_t)length) || *rest != '5') return 0;
    while (*++rest == '0') {}
    return *rest == 'e';
}

/* The digits of a positive number's shortest form that reads back, without a point; `*exponent` is that of the first digit. Of two that are
 * equally near it is the upper one. */
static int wg_digits(double x, char *digits, int *exponent) {
    /* Forms of up to 15 digits are read as different numbers, but for numbers so small that they have fewer bits: if one of them is read as
     * this, it is the one of 15 digits less the zeros. */
    for (int count = x < 2.2250738585072014e-308 ? 1 : 15;; count++) {
        char form[40];
        snprintf(form, sizeof form, "%.*e", count - 1, x);
        char *e = strchr(form, 'e');
        double read = strtod(form, NULL);
        /* The nearest form of so many digits; or the next one up, for numbers below a power of two lie closer. */
        if (read != x || wg_is_between(x, form, count)) {
            char next[40];
            strcpy(next, form);
            int fits = wg_next_form(next, next + (e - form)) && strtod(next, NULL) == x;
            if (read != x && !fits) continue;
            if (fits) strcpy(form, next);
        }
        int length = 0;
        for (char *c = form; c < e; c++) {
            if (*c >= '0' && *c <= '9') digits[length++] = *c;
        }
        while (length > 1 && digits[length - 1] == '0') length--;
        *exponent = atoi(e + 1);
        return length;
    }
}

/* The shortest form that reads back, always with a point or an exponent: at most WG_REAL characters, of which it gives the number. */
enum { WG_REAL = 40 };
static WG_UNUSED int wg_write_real(char *text, double x) {
    if (isnan(x) || isinf(x)) {
        const char *special = isnan(x) ? "NaN" : x > 0 ? "Infinity" : "-Infinity";
        memcpy(text, special, strlen(special));
        return (int)strlen(special);
    }
    char digits[24];
    int at = 0, exponent = 0, count;
    if (signbit(x)) text[at++] = '-';
    double size = fabs(x);
    if (size == 0) {
        memcpy(text + at, "0.0", 3);
        return at + 3;
    }
    count = wg_digits(size, digits, &exponent);
    if (size < 1e-4 || size >= 1e16) {
        text[at++] = digits[0];
        if (count > 1) text[at++] = '.';
        memcpy(text + at, digits + 1, (size_t)(count - 1));
        at += count - 1;
        at += snprintf(text + at, 8, "e%d", exponent);
        return at;
    }
    int whole = exponent < 0 ? 0 : exponent + 1; /* digits before the point */
    if (whole == 0) text[at++] = '0';
    for (int i = 0; i < whole; i++) text[at++] = i < count ? digits[i] : '0';
    text[at++] = '.';
    for (int i = exponent + 1; i < 0; i++) text[at++] = '0';
    for (int i = whole; i < count; i++) text[at++] = digits[i];
    if (whole >= count) text[at++] = '0';
    return at;
}

static WG_UNUSED ref wg_show_real(wg_run *r, double x, word site) {
    char text[WG_REAL];
    return wg_text_of(r, text, wg_write_real(text, x), site);
}

/* Quoted as in a program; control characters are written as numbers. */
static WG_UNUSED ref wg_show_text(wg_run *r, ref text, word site) {
    const unsigned char *from = (const unsigned char *)wg_text_start(text);
    word bytes = wg_text_bytes(text);
    ref room = wg_new_text(r, bytes * 8 + 2, site);
    char *to = wg_text_start(room);
    *to++ = '"';
    for (word i = 0; i < bytes; i++) {
        unsigned c = from[i];
        if (c == '\n' || c == '\t' || c == '"' || c == '\\') {
            *to++ = '\\';
            *to++ = (char)(c == '\n' ? 'n' : c == '\t' ? 't' : c);
        } else if (c < 0x20 || c == 0x7F) {
            to += sprintf(to, "\\u{%x}", c);
        } else if (c == 0xC2 && i + 1 < bytes && from[i + 1] < 0xA0) {
            to += sprintf(to, "\\u{%x}", from[++i]);
        } else {
            *to++ = (char)c;
        }
    }
    *to++ = '"';
    ref quoted = wg_text_of(r, wg_text_start(room), to - wg_text_start(room), site);
    wg_free(r, room);
    return quoted;
}
