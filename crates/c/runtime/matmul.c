/* ---- The product of matrices ------------------------------------------------------------------------------------
 *
 * `out` (n by width) is `a` (n by m) times `b` (m by width). Each element is summed from left to right. Tiles of 4 rows and
 * 16 columns are kept in registers, and the columns of `b` that a tile needs are copied side by side, some rows at a time. */

enum { WG_ROWS = 4, WG_COLUMNS = 16, WG_DEPTH = 192 };
typedef double wg_vector __attribute__((vector_size(64), aligned(8), may_alias));

static inline __attribute__((always_inline)) void wg_tile(
    const double *restrict a, word stride, const double *restrict panel, word depth, double *restrict out, word width,
    const int rows) {
    wg_vector sums[WG_ROWS][2];
    for (int i = 0; i < rows; i++) {
        memcpy(&sums[i][0], out + i * width, 64);
        memcpy(&sums[i][1], out + i * width + 8, 64);
    }
    for (word k = 0; k < depth; k++) {
        wg_vector left = *(const wg_vector *)(panel + k * WG_COLUMNS);
        wg_vector right = *(const wg_vector *)(panel + k * WG_COLUMNS + 8);
        for (int i = 0; i < rows; i++) {
            double x = a[i * stride + k];
            sums[i][0] += x * left;
            sums[i][1] += x * right;
        }
    }
    for (int i = 0; i < rows; i++) {
        memcpy(out + i * width, &sums[i][0], 64);
        memcpy(out + i * width + 8, &sums[i][1], 64);
    }
}

static WG_UNUSED void wg_matmul(
    const double *restrict a, const double *restrict b, double *restrict out, word n, word m, word width) {
    double panel[WG_DEPTH * WG_COLUMNS] __attribute__((aligned(64)));
    memset(out, 0, (size_t)(n * width) * 8);
    word tiled = n < WG_ROWS ? 0 : width - width % WG_COLUMNS;
    for (word column = 0; column < tiled; column += WG_COLUMNS) {
        for (word start = 0; start < m; start += WG_DEPTH) {
            word depth = m - start < WG_DEPTH ? m - start : WG_DEPTH;
            for (word k = 0; k < depth; k++) {
                memcpy(panel + k * WG_COLUMNS, b + (start + k) * width + column, WG_COLUMNS * 8);
            }
            word i = 0;
            for (; i + WG_ROWS <= n; i += WG_ROWS) {
                wg_tile(a + i * m + start, m, panel, depth, out + i * width + column, width, WG_ROWS);
            }
            for (; i < n; i++) wg_tile(a + i * m + start, m, panel, depth, out + i * width + column, width, 1);
        }
    }
    for (word i = 0; tiled < width && i < n; i++) {
        for (word k = 0; k < m; k++) {
            double x = a[i * m + k];
            for (word j = tiled; j < width; j++) out[i * width + j] += x * b[k * width + j];
        }
    }
}
