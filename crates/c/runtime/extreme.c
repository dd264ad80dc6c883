/* ---- The largest and the smallest -------------------------------------------------------------------------------- */

/* Which of few numbers is better than all before it, nobody can foretell: so it is chosen without a branch. Of many numbers, several
 * are looked at at once. What is no number is better than all, and the first of these stays: where there is one, they are
 * looked at one by one. */
typedef double wg_lanes __attribute__((vector_size(64)));
typedef int64_t wg_places __attribute__((vector_size(64)));
enum { WG_LANES = 8, WG_MANY = 64 };
/* The best so far, and where it stands. */
typedef struct {
    double best;
    word place;
} wg_found;

#ifdef __clang__
#define WG_OFTEN_OR_NOT(condition) __builtin_unpredictable(condition)
#else
#define WG_OFTEN_OR_NOT(condition) __builtin_expect_with_probability(condition, 1, 0.5)
#endif

#define WG_EXTREME(name, BETTER)                                                                                              \
    static __attribute__((cold, noinline, unused)) wg_found name##_carefully(const double *xs, word count, wg_found found) {  \
        for (word i = 0; i < count; i++) {                                                                                    \
            if (found.best == found.best && !(found.best BETTER xs[i]) && found.best != xs[i]) found = (wg_found){xs[i], i};  \
        }                                                                                                                     \
        return found;                                                                                                         \
    }                                                                                                                         \
    static __attribute__((noinline, unused)) wg_found name##_of_many(const double *xs, word count, wg_found first) {          \
        wg_lanes best, x;                                                                                                     \
        wg_places at, now = {0, 1, 2, 3, 4, 5, 6, 7}, odd = {0};                                                              \
        for (int lane = 0; lane < WG_LANES; lane++) best[lane] = first.best, at[lane] = -1;                                   \
        word whole = count - count % WG_LANES;                                                                                \
        for (word i = 0; i < whole; i += WG_LANES) {                                                                          \
            memcpy(&x, xs + i, sizeof x);                                                                                     \
            wg_places better = (wg_places)(x BETTER best);                                                                    \
            best = (wg_lanes)(((wg_places)x & better) | ((wg_places)best & ~better));                                         \
            at = (now & better) | (at & ~better);                                                                             \
            odd |= (wg_places)(x != x);                                                                                       \
            now += WG_LANES;                                                                                                  \
        }                                                                                                                     \
        word careful = first.best != first.best;                                                                              \
        wg_found found = {first.best, -1};                                                                                    \
        for (int lane = 0; lane < WG_LANES; lane++) {                                                                         \
            careful |= odd[lane];                                                                                             \
            word as_good = best[lane] == found.best && at[lane] < found.place;                                                \
            if (at[lane] >= 0 && (best[lane] BETTER found.best || as_good)) found = (wg_found){best[lane], at[lane]};         \
        }                                                                                                                     \
        for (word i = whole; i < count; i++) {                                                                                \
            careful |= xs[i] != xs[i];                                                                                        \
            if (xs[i] BETTER found.best) found = (wg_found){xs[i], i};                                                        \
        }                                                                                                                     \
        if (WG_RARELY(careful)) return name##_carefully(xs, count, first);                                                    \
        return found.place < 0 ? first : found;                                                                               \
    }                                                                                                                         \
    static inline WG_UNUSED wg_found name(const double *xs, word count, double best, word place) {                            \
        wg_found first = {best, place};                                                                                       \
        if (count >= WG_MANY) return name##_of_many(xs, count, first);                                                        \
        double odd = best - best;                                                                                             \
        for (word i = 0; i < count; i++) {                                                                                    \
            double x = xs[i];                                                                                                 \
            word better = WG_OFTEN_OR_NOT(x BETTER best);                                                                     \
            place = better ? i : place;                                                                                       \
            best = better ? x : best;                                                                                         \
            odd += x - x;                                                                                                     \
        }                                                                                                                     \
        return WG_RARELY(odd != 0.0) ? name##_carefully(xs, count, first) : (wg_found){best, place};                          \
    }
WG_EXTREME(wg_first_largest, >)
WG_EXTREME(wg_first_smallest, <)
