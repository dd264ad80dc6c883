/* ---- Products of matrices and vectors ---------------------------------------------------------------------------
 *
 * They are added to what is there: `out` (n by width) += `x` (n by m) times `y` (m by width). Element by element the terms
 * come one after the other, from the first to the last or backwards. Tiles of 4 rows and 16 columns are kept in registers, and
 * the columns of `y` that a tile needs are copied side by side, some rows at a time.
 *
 * Where zeros are strong, a zero times anything is zero. That makes a difference only where a factor is infinite or no number,
 * and then the plain sum is not finite: such a tile is done again, carefully.
 *
 * What is added to may be zeros that nobody has filled in. They are then filled in row by row, if the sum is made so.
 *
 * If there is much to do, threads do blocks of rows each. No element of the sum comes out otherwise for that. */

enum { WG_ROWS = 4, WG_COLUMNS = 16, WG_DEPTH = 192, WG_FEW = 64 };
enum { WG_BLOCK = 16 }; /* rows that one thread does at least: some times the rows of a tile */
static const double wg_much = 1048576.0;
static const double wg_long = 536870912.0; /* after so many multiplications one looks whether to stop */
enum { WG_FIRST = 1, WG_SECOND = 2, WG_BACKWARD = 4, WG_STRONG = 8, WG_UNFILLED = 16 };
typedef double wg_vector __attribute__((vector_size(64), aligned(8), may_alias));

/* A factor: element (i, j) is at i * down + j * right. */
typedef struct { const double *items; word down, right; } wg_factor;

static inline double wg_at(wg_factor x, word i, word j) { return x.items[i * x.down + j * x.right]; }
static inline wg_factor wg_factor_of(const double *items, word rows, word columns, int transposed) {
    wg_factor plain = {items, columns, 1}, other = {items, 1, rows};
    return transposed ? other : plain;
}

/* What a tile has is finite: no term of it was infinite or no number. */
static inline int wg_finite(const double *sums, word count) {
    double total = 0.0;
    for (word i = 0; i < count; i++) total += sums[i] - sums[i];
    return total == 0.0;
}

/* The terms of 4 rows at `a`, each `step` after the one before, with the rows of the panel. */
static inline __attribute__((always_inline)) void wg_tile(
    const double *restrict a, word down, word step, const double *restrict panel, word depth, double *restrict tile) {
    wg_vector sums[WG_ROWS][2];
    memcpy(sums, tile, sizeof sums);
    for (word k = 0; k < depth; k++) {
        wg_vector left = *(const wg_vector *)(panel + k * WG_COLUMNS);
        wg_vector right = *(const wg_vector *)(panel + k * WG_COLUMNS + 8);
        for (int i = 0; i < WG_ROWS; i++) {
            double x = a[i * down + k * step];
            sums[i][0] += x * left;
            sums[i][1] += x * right;
        }
    }
    memcpy(tile, sums, sizeof sums);
}

static __attribute__((noinline, cold)) void wg_careful_tile(
    const double *a, word down, word step, const double *panel, word depth, double *tile, word rows) {
    for (word i = 0; i < rows; i++) {
        for (word k = 0; k < depth; k++) {
            for (word j = 0; j < WG_COLUMNS; j++) {
                tile[i * WG_COLUMNS + j] += wg_mul_zero(a[i * down + k * step], panel[k * WG_COLUMNS + j]);
            }
        }
    }
}

/* The same for what may stand out over the edge of `out`. */
static inline __attribute__((always_inline)) void wg_edge_tile(
    const double *a, word down, word step, const double *panel, word depth, double *out, word width, word rows,
    word columns, int strong) {
    double tile[WG_ROWS * WG_COLUMNS] __attribute__((aligned(64)));
    int inside = rows == WG_ROWS && columns == WG_COLUMNS;
    if (inside) {
        for (int i = 0; i < WG_ROWS; i++) memcpy(tile + i * WG_COLUMNS, out + i * width, WG_COLUMNS * 8);
    } else {
        memset(tile, 0, sizeof tile);
        for (word i = 0; i < rows; i++) memcpy(tile + i * WG_COLUMNS, out + i * width, (size_t)columns * 8);
    }
    if (rows == WG_ROWS) {
        wg_tile(a, down, step, panel, depth, tile);
    } else {
        for (word k = 0; k < depth; k++) {
            for (word i = 0; i < rows; i++) {
                double x = a[i * down + k * step];
                for (int j = 0; j < WG_COLUMNS; j++) tile[i * WG_COLUMNS + j] += x * panel[k * WG_COLUMNS + j];
            }
        }
    }
    if (strong && !wg_finite(tile, WG_ROWS * WG_COLUMNS)) {
        for (word i = 0; i < rows; i++) memcpy(tile + i * WG_COLUMNS, out + i * width, (size_t)columns * 8);
        wg_careful_tile(a, down, step, panel, depth, tile, rows);
    }
    for (word i = 0; i < rows; i++) memcpy(out + i * width, tile + i * WG_COLUMNS, (size_t)columns * 8);
}

static void wg_add_tiles(double *restrict out, word n, word m, word width, wg_factor x, wg_factor y, word how) {
    double panel[WG_DEPTH * WG_COLUMNS] __attribute__((aligned(64)));
    int strong = (how & WG_STRONG) != 0;
    word last = how & WG_BACKWARD ? m - 1 : 0, step = how & WG_BACKWARD ? -1 : 1;
    for (word column = 0; column < width; column += WG_COLUMNS) {
        word columns = width - column < WG_COLUMNS ? width - column : WG_COLUMNS;
        if (columns < WG_COLUMNS) memset(panel, 0, sizeof panel);
        for (word start = 0; start < m; start += WG_DEPTH) {
            word depth = m - start < WG_DEPTH ? m - start : WG_DEPTH;
            word first = last + step * start;
            for (word k = 0; k < depth; k++) {
                const double *from = y.items + (first + step * k) * y.down + column * y.right;
                if (y.right == 1) {
                    memcpy(panel + k * WG_COLUMNS, from, (size_t)columns * 8);
                } else {
                    for (word j = 0; j < columns; j++) panel[k * WG_COLUMNS + j] = from[j * y.right];
                }
            }
            for (word i = 0; i < n; i += WG_ROWS) {
                word rows = n - i < WG_ROWS ? n - i : WG_ROWS;
                const double *a = x.items + i * x.down + first * x.right;
                double *to = out + i * width + column;
                if (x.right == 1 && step == 1) {
                    wg_edge_tile(a, x.down, 1, panel, depth, to, width, rows, columns, strong);
                } else {
                    wg_edge_tile(a, x.down, step * x.right, panel, depth, to, width, rows, columns, strong);
                }
            }
        }
    }
}

/* Adds `m` rows, each times a number, to one. */
static inline __attribute__((always_inline)) void wg_add_scaled(
    double *restrict out, word width, const double *scale, word scale_step, const double *rows, word down, word m,
    word how) {
    for (word l = 0; l < m; l++) {
        word k = how & WG_BACKWARD ? m - 1 - l : l;
        double x = scale[k * scale_step];
        const double *restrict row = rows + k * down;
        if ((how & WG_STRONG) && x == 0.0) continue;
        /* A number that is finite and not zero times zero is zero. */
        if (!(how & WG_STRONG) || x - x == 0.0) {
            for (word j = 0; j < width; j++) out[j] += x * row[j];
        } else {
            for (word j = 0; j < width; j++) out[j] += wg_mul_zero(x, row[j]);
        }
    }
}

/* Adds the product of a row with one more to a number. */
static inline __attribute__((always_inline)) void wg_add_dot(
    double *out, const double *restrict row, const double *other, word other_step, word m, word how) {
    double sum = *out;
    if (how & WG_BACKWARD) {
        for (word k = m; k-- > 0;) sum += row[k] * other[k * other_step];
    } else {
        for (word k = 0; k < m; k++) sum += row[k] * other[k * other_step];
    }
    if ((how & WG_STRONG) && !wg_finite(&sum, 1)) {
        sum = *out;
        for (word l = 0; l < m; l++) {
            word k = how & WG_BACKWARD ? m - 1 - l : l;
            sum += wg_mul_zero(row[k], other[k * other_step]);
        }
    }
    *out = sum;
}

/* The same in any order, if both lie so. */
static inline __attribute__((always_inline)) void wg_add_dot_fast(
    double *out, const double *restrict row, const double *other, word other_step, word m, word how) {
#ifdef WG_EXACT
    wg_add_dot(out, row, other, other_step, m, how);
#else
    if (other_step != 1) {
        wg_add_dot(out, row, other, other_step, m, how);
        return;
    }
    double sum = *out;
#pragma omp simd reduction(+ : sum)
    for (word k = 0; k < m; k++) sum += row[k] * other[k];
    if ((how & WG_STRONG) && !wg_finite(&sum, 1)) {
        wg_add_dot(out, row, other, other_step, m, how);
    } else {
        *out = sum;
    }
#endif
}

/* A matrix that lies transposed, or backwards, as it should: tiles go through it again and again. */
static const double *wg_straight(wg_factor x, word n, word m, double *to) {
    enum { BLOCK = 32 };
    for (word j = 0; j < m; j += BLOCK) {
        word end = m - j < BLOCK ? m : j + BLOCK;
        for (word i = 0; i < n; i++) {
            for (word k = j; k < end; k++) to[i * m + k] = wg_at(x, i, k);
        }
    }
    return to;
}

/* Small matrices, element by element: there is not enough to do for anything else. */
static inline __attribute__((always_inline)) void wg_add_small(
    double *out, word n, word m, word width, wg_factor x, wg_factor y, word how) {
    double sums[WG_FEW] __attribute__((aligned(64)));
    word last = how & WG_BACKWARD ? m - 1 : 0, step = how & WG_BACKWARD ? -1 : 1;
    for (word i = 0; i < n; i++) {
        for (word j = 0; j < width; j++) {
            double sum = out[i * width + j];
            for (word l = 0; l < m; l++) sum += wg_at(x, i, last + step * l) * wg_at(y, last + step * l, j);
            sums[i * width + j] = sum;
        }
    }
    if ((how & WG_STRONG) && !wg_finite(sums, n * width)) {
        for (word i = 0; i < n; i++) {
            for (word j = 0; j < width; j++) {
                double sum = out[i * width + j];
                for (word l = 0; l < m; l++) {
                    sum += wg_mul_zero(wg_at(x, i, last + step * l), wg_at(y, last + step * l, j));
                }
                sums[i * width + j] = sum;
            }
        }
    }
    for (word i = 0; i < n * width; i++) out[i] = sums[i];
}

/* What is to be added: as `wg_add_product` is given it. */
typedef struct {
    double *out;
    word n, m, width, how;
    const double *xs, *ys;
} wg_product;

/* Adds to some rows. */
static void wg_add_rows(const wg_product *p, word from, word count) {
    word m = p->m, width = p->width, how = p->how;
    wg_factor x = wg_factor_of(p->xs, p->n, m, (how & WG_FIRST) != 0);
    wg_factor y = wg_factor_of(p->ys, m, width, (how & WG_SECOND) != 0);
    x.items += from * x.down;
    double *out = p->out + from * width;
    if (width == 1) {
        if (x.right == 1) {
            for (word i = 0; i < count; i++) wg_add_dot_fast(out + i, x.items + i * x.down, p->ys, 1, m, how);
        } else {
            wg_add_scaled(out, count, p->ys, 1, x.items, x.right, m, how);
        }
    } else if (p->n < WG_ROWS || m < WG_ROWS || width < WG_ROWS) {
        for (word i = 0; i < count; i++) {
            if (how & WG_UNFILLED) memset(out + i * width, 0, (size_t)width * 8);
            if (y.right == 1) {
                wg_add_scaled(out + i * width, width, x.items + i * x.down, x.right, p->ys, y.down, m, how);
            } else {
                for (word j = 0; j < width; j++) {
                    wg_add_dot_fast(out + i * width + j, p->ys + j * y.right, x.items + i * x.down, x.right, m, how);
                }
            }
        }
    } else {
        void *straight = NULL;
        if (x.right != 1 && width > WG_COLUMNS && (straight = malloc((size_t)(count * m) * 8))) {
            x = wg_factor_of(wg_straight(x, count, m, straight), count, m, 0);
        }
        wg_add_tiles(out, count, m, width, x, y, how);
        free(straight);
    }
}

/* The same, as long as the program is not to stop; the caller looks again. */
static void wg_add_rows_unless_stopped(wg_run *r, const wg_product *p, word from, word count) {
    double rows = wg_long / ((double)p->m * (double)p->width);
    word at_once = rows < (double)count ? ((word)rows / WG_BLOCK + 1) * WG_BLOCK : count;
    for (; count > 0 && !*r->stop; from += at_once, count -= at_once) {
        wg_add_rows(p, from, at_once < count ? at_once : count);
    }
}

/* The same for blocks of rows, as a part of a loop. */
static void wg_add_blocks(wg_run *r, const word *arguments, word *results) {
    const wg_product *p = (const wg_product *)arguments[2];
    word from = arguments[0] * WG_BLOCK, count = arguments[1] * WG_BLOCK;
    wg_add_rows_unless_stopped(r, p, from, count < p->n - from ? count : p->n - from);
    (void)results;
}

static WG_UNUSED void wg_add_one_product(
    wg_run *r, double *out, word n, word m, word width, word how, const double *xs, const double *ys) {
    if (how & WG_UNFILLED && n > 0 && width > 0) {
        int small = n <= 8 && m <= 8 && width <= 8, by_rows = n < WG_ROWS || m < WG_ROWS || width < WG_ROWS;
        if (small || m <= 0 || width == 1 || !by_rows) memset(out, 0, (size_t)(n * width) * 8);
    }
    if (n <= 0 || m <= 0 || width <= 0) return;
    if (n <= 8 && m <= 8 && width <= 8) {
        wg_factor x = wg_factor_of(xs, n, m, (how & WG_FIRST) != 0);
        wg_factor y = wg_factor_of(ys, m, width, (how & WG_SECOND) != 0);
        /* Rows of four, as of motions in space, are so frequent that they are worth code of their own. */
        if (m == 4 && width == 4 && !(how & (WG_FIRST | WG_SECOND | WG_BACKWARD))) {
            wg_add_small(out, n, 4, 4, (wg_factor){xs, 4, 1}, (wg_factor){ys, 4, 1}, how);
        } else {
            wg_add_small(out, n, m, width, x, y, how);
        }
        return;
    }
    /* A factor that is part of what is added to is copied first. */
    void *kept[2] = {NULL, NULL};
    if (xs < out + n * width && out < xs + n * m && (kept[0] = malloc((size_t)(n * m) * 8))) {
        xs = memcpy(kept[0], xs, (size_t)(n * m) * 8);
    }
    if (ys < out + n * width && out < ys + m * width && (kept[1] = malloc((size_t)(m * width) * 8))) {
        ys = memcpy(kept[1], ys, (size_t)(m * width) * 8);
    }
    wg_product product = {out, n, m, width, how, xs, ys};
    double work = (double)n * (double)m * (double)width;
    if (r->threads > 1 && work >= wg_much) {
        word info[WG_HEAD + 1] = {(n + WG_BLOCK - 1) / WG_BLOCK, wg_word_of(work / 2), 0, 1, 0, 0, 0, (word)&product};
        wg_parallel(r, wg_add_blocks, info);
    } else {
        wg_add_rows_unless_stopped(r, &product, 0, n);
    }
    free(kept[0]);
    free(kept[1]);
    wg_check_stop(r);
}

static WG_UNUSED void wg_add_product(
    wg_run *r, double *out, word n, word m, word width, word how, const double *x, const double *y, const double *x2,
    const double *y2) {
#ifdef WG_EXACT
    if (x2) {
        /* The two products of each term are added up first. */
        if (how & WG_UNFILLED && n > 0 && width > 0) memset(out, 0, (size_t)(n * width) * 8);
        wg_factor a = wg_factor_of(x, n, m, (how & WG_FIRST) != 0), c = wg_factor_of(x2, n, m, (how & WG_FIRST) != 0);
        wg_factor b = wg_factor_of(y, m, width, (how & WG_SECOND) != 0);
        wg_factor d = wg_factor_of(y2, m, width, (how & WG_SECOND) != 0);
        for (word i = 0; i < n; i++) {
            wg_check_stop(r);
            for (word l = 0; l < m; l++) {
                word k = how & WG_BACKWARD ? m - 1 - l : l;
                for (word j = 0; j < width; j++) {
                    double first = wg_mul_zero(wg_at(a, i, k), wg_at(b, k, j));
                    out[i * width + j] += first + wg_mul_zero(wg_at(c, i, k), wg_at(d, k, j));
                }
            }
        }
        return;
    }
#endif
    wg_add_one_product(r, out, n, m, width, how, x, y);
    if (x2) wg_add_one_product(r, out, n, m, width, how & ~WG_UNFILLED, x2, y2);
}

static WG_UNUSED void wg_matmul(
    wg_run *r, const double *restrict a, const double *restrict b, double *restrict out, word n, word m, word width) {
    wg_add_one_product(r, out, n, m, width, WG_UNFILLED, a, b);
}

static inline WG_UNUSED void wg_matvec(
    wg_run *r, const double *restrict a, const double *restrict b, double *restrict out, word n, word m) {
    if (r->threads > 1 && (double)n * (double)m >= wg_much) {
        wg_add_one_product(r, out, n, m, 1, WG_UNFILLED, a, b);
        return;
    }
    for (word i = 0; i < n; i++) {
        double sum = 0.0;
        wg_add_dot_fast(&sum, a + i * m, b, 1, m, 0);
        out[i] = sum;
    }
}
