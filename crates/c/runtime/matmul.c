/* ---- Products of matrices and vectors ---------------------------------------------------------------------------
 *
 * They are added to what is there: `out` (n by width) += `x` (n by m) times `y` (m by width). Element by element the terms
 * come one after the other, from the first to the last or backwards. Tiles are kept in registers, as many of their sums as keep the
 * processor busy, and what a tile needs of both factors is copied side by side, so that it does not matter how they lie.
 *
 * Where zeros are strong, a zero times anything is zero. That makes a difference only where a factor is infinite or no number,
 * and then the plain sum is not finite: such a tile is done again, carefully.
 *
 * What is added to may be zeros that nobody has filled in. They are then filled in row by row, if the sum is made so.
 *
 * If there is much to do, threads do blocks of rows each. No element of the sum comes out otherwise for that. */

/* How many numbers are in a vector, and how many rows of two vectors in a tile. */
#if defined __AVX512F__
enum { WG_VECTOR = 8, WG_ROWS = 8 };
#elif defined __AVX__
enum { WG_VECTOR = 4, WG_ROWS = 4 };
#elif defined __aarch64__
enum { WG_VECTOR = 2, WG_ROWS = 8 };
#else
enum { WG_VECTOR = 2, WG_ROWS = 4 };
#endif
enum { WG_COLUMNS = 2 * WG_VECTOR };
/* Terms, rows and columns that are copied at a time; rows and columns that tiles are worth; numbers that are copied to the stack. */
enum { WG_DEPTH = 256, WG_HIGH = 128, WG_WIDE = 512, WG_LEAST = 4, WG_FEW = 64, WG_NEAR = 3072 };
enum { WG_BLOCK = 16 }; /* rows that one thread does at least: some times the rows of a tile */
static const double wg_much = 1048576.0;
static const double wg_long = 536870912.0; /* after so many multiplications one looks whether to stop */
enum { WG_FIRST = 1, WG_SECOND = 2, WG_BACKWARD = 4, WG_STRONG = 8, WG_UNFILLED = 16 };
typedef double wg_vector __attribute__((vector_size(8 * WG_VECTOR), aligned(8), may_alias));

/* sum += x * y, rounded once if the machine can. */
#if !defined WG_EXACT && defined __FMA__
#define WG_PLUS(sum, x, y) __asm__("vfmadd231pd %2, %1, %0" : "+v"(sum) : "v"(x), "v"(y))
#elif !defined WG_EXACT && defined __aarch64__
#define WG_PLUS(sum, x, y) __asm__("fmla %0.2d, %1.2d, %2.2d" : "+w"(sum) : "w"(x), "w"(y))
#else
#define WG_PLUS(sum, x, y) ((sum) += (x) * (y))
#endif

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

static __attribute__((noinline, cold)) void wg_careful_tile(
    const double *left, const double *right, word depth, double *out, word width, word rows) {
    for (word i = 0; i < rows; i++) {
        for (word k = 0; k < depth; k++) {
            for (word j = 0; j < WG_COLUMNS; j++) {
                out[i * width + j] += wg_mul_zero(left[k * rows + i], right[k * WG_COLUMNS + j]);
            }
        }
    }
}

/* Adds the products of so many numbers each of some rows and columns, which lie side by side. */
static inline __attribute__((always_inline)) void wg_tile(
    const double *left, const double *right, word depth, double *out, word width, int rows, int strong) {
    wg_vector sums[WG_ROWS][2];
    for (int i = 0; i < rows; i++) {
        sums[i][0] = *(const wg_vector *)(out + i * width);
        sums[i][1] = *(const wg_vector *)(out + i * width + WG_VECTOR);
    }
    for (word k = 0; k < depth; k++) {
        wg_vector first = *(const wg_vector *)(right + k * WG_COLUMNS);
        wg_vector second = *(const wg_vector *)(right + k * WG_COLUMNS + WG_VECTOR);
        for (int i = 0; i < rows; i++) {
            wg_vector x = left[k * rows + i] - (wg_vector){0};
            WG_PLUS(sums[i][0], x, first);
            WG_PLUS(sums[i][1], x, second);
        }
    }
    if (strong) {
        wg_vector total = {0};
        for (int i = 0; i < rows; i++) total += (sums[i][0] - sums[i][0]) + (sums[i][1] - sums[i][1]);
        double apart[WG_VECTOR];
        memcpy(apart, &total, sizeof apart);
        if (WG_RARELY(!wg_finite(apart, WG_VECTOR))) {
            wg_careful_tile(left, right, depth, out, width, rows);
            return;
        }
    }
    for (int i = 0; i < rows; i++) {
        *(wg_vector *)(out + i * width) = sums[i][0];
        *(wg_vector *)(out + i * width + WG_VECTOR) = sums[i][1];
    }
}

/* The same for what may stand out over the edge of `out`. */
static inline __attribute__((always_inline)) void wg_edge_tile(
    const double *left, const double *right, word depth, double *out, word width, int tall, word rows, word columns,
    int strong) {
    if (rows == tall && columns == WG_COLUMNS) {
        wg_tile(left, right, depth, out, width, tall, strong);
        return;
    }
    double tile[WG_ROWS * WG_COLUMNS] = {0};
    for (word i = 0; i < rows; i++) memcpy(tile + i * WG_COLUMNS, out + i * width, (size_t)columns * 8);
    wg_tile(left, right, depth, tile, WG_COLUMNS, tall, strong);
    for (word i = 0; i < rows; i++) memcpy(out + i * width, tile + i * WG_COLUMNS, (size_t)columns * 8);
}

/* Copies numbers `item` after `item`, so many side by side and zeros after them, again and again in steps. */
static inline __attribute__((always_inline)) void wg_pack(
    double *restrict to, const double *restrict from, word item, word step, word count, int size, word depth) {
    if (count == size && item == 1) {
        for (word k = 0; k < depth; k++) memcpy(to + k * size, from + k * step, (size_t)size * 8);
    } else if (count == size) {
        for (word k = 0; k < depth; k++) {
            for (int i = 0; i < size; i++) to[k * size + i] = from[i * item + k * step];
        }
    } else {
        for (word k = 0; k < depth; k++) {
            for (int i = 0; i < size; i++) to[k * size + i] = i < count ? from[i * item + k * step] : 0.0;
        }
    }
}

/* The rows of a tile, if there are so many left. */
static inline int wg_tall(word rows) { return rows > WG_ROWS / 2 ? WG_ROWS : WG_ROWS / 2; }
static inline word wg_least(word a, word b) { return a < b ? a : b; }
static inline word wg_whole(word count, word size) { return (count + size - 1) / size * size; }

/* The copies of rows that tiles need, those of a tile side by side. */
static void wg_pack_rows(double *to, const double *from, word down, word right, word rows, word depth) {
    for (word i = 0; i < rows; i += WG_ROWS) {
        if (wg_tall(rows - i) == WG_ROWS) {
            wg_pack(to + i * depth, from + i * down, down, right, wg_least(WG_ROWS, rows - i), WG_ROWS, depth);
        } else {
            wg_pack(to + i * depth, from + i * down, down, right, rows - i, WG_ROWS / 2, depth);
        }
    }
}

static void wg_pack_columns(double *to, const double *from, word right, word down, word columns, word depth) {
    for (word j = 0; j < columns; j += WG_COLUMNS) {
        wg_pack(to + j * depth, from + j * right, right, down, wg_least(WG_COLUMNS, columns - j), WG_COLUMNS, depth);
    }
}

/* The products of copied rows and columns. */
static void wg_add_copies(
    const double *left, const double *right, word depth, double *out, word width, word rows, word columns, int strong) {
    for (word j = 0; j < columns; j += WG_COLUMNS) {
        word across = wg_least(WG_COLUMNS, columns - j);
        for (word i = 0; i < rows; i += WG_ROWS) {
            double *to = out + i * width + j;
            const double *a = left + i * depth, *b = right + j * depth;
            if (wg_tall(rows - i) == WG_ROWS) {
                wg_edge_tile(a, b, depth, to, width, WG_ROWS, wg_least(WG_ROWS, rows - i), across, strong);
            } else {
                wg_edge_tile(a, b, depth, to, width, WG_ROWS / 2, rows - i, across, strong);
            }
        }
    }
}

static void wg_add_tiles(double *restrict out, word n, word m, word width, wg_factor x, wg_factor y, word how) {
    double near[WG_NEAR] __attribute__((aligned(64))), *left = near;
    word last = how & WG_BACKWARD ? m - 1 : 0, step = how & WG_BACKWARD ? -1 : 1;
    /* If all rows are copied at once, columns are copied when they are needed. */
    word high = wg_whole(wg_least(n, WG_HIGH), WG_ROWS), deep = wg_least(m, WG_DEPTH);
    word wide = high < n ? wg_whole(wg_least(width, WG_WIDE), WG_COLUMNS) : WG_COLUMNS;
    if ((high + wide) * deep > WG_NEAR && !(left = aligned_alloc(64, (size_t)wg_whole((high + wide) * deep, 8) * 8))) {
        left = near, high = WG_ROWS, wide = WG_COLUMNS, deep = WG_NEAR / (WG_ROWS + WG_COLUMNS);
    }
    double *right = left + high * deep;
    for (word start = 0; start < m; start += deep) {
        word depth = wg_least(deep, m - start), first = last + step * start;
        for (word column = 0; column < width; column += wide) {
            word columns = wg_least(wide, width - column);
            const double *ys = y.items + first * y.down + column * y.right;
            wg_pack_columns(right, ys, y.right, step * y.down, columns, depth);
            for (word row = 0; row < n; row += high) {
                word rows = wg_least(high, n - row);
                const double *xs = x.items + row * x.down + first * x.right;
                if (high < n || column == 0) wg_pack_rows(left, xs, x.down, step * x.right, rows, depth);
                double *to = out + row * width + column;
                wg_add_copies(left, right, depth, to, width, rows, columns, (how & WG_STRONG) != 0);
            }
        }
    }
    if (left != near) free(left);
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
    } else if (p->n < WG_LEAST || m < WG_LEAST || width < WG_LEAST) {
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
        wg_add_tiles(out, count, m, width, x, y, how);
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

/* Of small matrices, a transposed one times a vector, and a column times a row: vectors times numbers, if nothing is in two places at once. Many are
 * of eight numbers. Whether that was so. */
static inline __attribute__((always_inline)) int wg_add_vectors(
    double *out, word n, word m, word width, const double *xs, const double *ys, word how) {
#ifdef WG_EXACT
    (void)out, (void)n, (void)m, (void)width, (void)xs, (void)ys, (void)how;
    return 0;
#else
    int apart = (out + n * width <= xs || xs + n * m <= out) && (out + n * width <= ys || ys + m * width <= out);
    if (!apart) return 0;
    if (width == 1 && (how & WG_FIRST)) {
        if (n == 8) wg_add_scaled(out, 8, ys, 1, xs, 8, m, how);
        else wg_add_scaled(out, n, ys, 1, xs, n, m, how);
        return 1;
    }
    if (m != 1) return 0;
    for (word i = 0; i < n; i++) {
        if (width == 8) wg_add_scaled(out + i * 8, 8, xs + i, 0, ys, 0, 1, how);
        else wg_add_scaled(out + i * width, width, xs + i, 0, ys, 0, 1, how);
    }
    return 1;
#endif
}

static WG_UNUSED void wg_add_one_product(
    wg_run *r, double *out, word n, word m, word width, word how, const double *xs, const double *ys) {
    if (how & WG_UNFILLED && n > 0 && width > 0) {
        int small = n <= 8 && m <= 8 && width <= 8, by_rows = n < WG_LEAST || m < WG_LEAST || width < WG_LEAST;
        if (small || m <= 0 || width == 1 || !by_rows) memset(out, 0, (size_t)(n * width) * 8);
    }
    if (n <= 0 || m <= 0 || width <= 0) return;
    if (n <= 8 && m <= 8 && width <= 8) {
        if (wg_add_vectors(out, n, m, width, xs, ys, how)) return;
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
