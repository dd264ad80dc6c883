/* ---- Operations on reals ---------------------------------------------------------------------------------------- */

/* Zero tangents and cotangents contribute zero, whatever they are multiplied with. It makes a difference only where a product
 * or a quotient is not a number, and to the last bit where it is -0: a branch for that, which nothing is to make a choice of, costs less than
 * to look at zeros. */
#define WG_BRANCH __asm__("")
#ifdef WG_EXACT
#define WG_DOUBTFUL(x) (!(fabs(x) > 0.0))
#else
#define WG_DOUBTFUL(x) ((x) != (x))
#endif
/* In very long texts there are tens of thousands of such products, and branches are what a compiler takes long for. */
#ifdef WG_HUGE
#define WG_OFTEN static __attribute__((noinline)) WG_UNUSED
#else
#define WG_OFTEN static inline WG_UNUSED
#endif
WG_OFTEN double wg_mul_zero(double t, double c) {
    double product = t * c;
    if (WG_RARELY(WG_DOUBTFUL(product))) {
        WG_BRANCH;
        if (t == 0.0 || c == 0.0) product = 0.0;
    }
    return product;
}
WG_OFTEN double wg_div_zero(double t, double d) {
    double quotient = t / d;
    if (WG_RARELY(WG_DOUBTFUL(quotient))) {
        WG_BRANCH;
        if (t == 0.0) quotient = 0.0;
    }
    return quotient;
}
/* The second is the reciprocal of a divisor. */
WG_OFTEN double wg_times_over(double t, double over) {
    double quotient = t * over;
    if (WG_RARELY(quotient != quotient)) {
        WG_BRANCH;
        if (t == 0.0) quotient = 0.0;
    }
    return quotient;
}
/* A number that the compiler does not know to be the same as another. */
static inline WG_UNUSED double wg_again(double x) {
    __asm__("" : "+m"(x));
    return x;
}
static inline WG_UNUSED word wg_again_word(word x) {
    __asm__("" : "+m"(x));
    return x;
}
/* Products and quotients for loops: choices become vector code, one after the other, but no choice by two conditions. The product does not wait
 * for them. */
static inline WG_UNUSED double wg_each_mul_zero(double t, double c) {
    double product = t * c, strong = t == 0.0 ? 0.0 : product;
    return c == 0.0 ? 0.0 : strong;
}
static inline WG_UNUSED double wg_each_div_zero(double t, double d) {
    double quotient = t / d;
    return t == 0.0 ? 0.0 : quotient;
}
static inline WG_UNUSED double wg_each_times_over(double t, double over) {
    double quotient = t * over;
    return t == 0.0 ? 0.0 : quotient;
}
/* A real of an integer. Vectors of them are made where the processor has no instruction for it: the halves become the last bits of large numbers,
 * whose difference and sum round once. */
static inline WG_UNUSED double wg_each_real(word n) {
#if defined __x86_64__ && !defined __AVX512DQ__
    word low = (word)(((uint64_t)n & 0xffffffff) | 0x4330000000000000);
    word high = (word)((uint64_t)n >> 32 ^ 0x4530000080000000);
    return (wg_of_bits(high) - wg_of_bits(0x4530000080100000)) + wg_of_bits(low);
#else
    return (double)n;
#endif
}
/* Whether vectors gather elements from anywhere. */
#if defined __AVX2__ || defined __ARM_FEATURE_SVE
#define WG_GATHERS 1
#else
#define WG_GATHERS 0
#endif
/* The integer of a whole number, and whether that is too far from 0 for it. Vectors of them are made where the processor has no instruction for it:
 * they become the last bits of large numbers. */
#if defined __x86_64__ && !defined __AVX512DQ__
static inline WG_UNUSED word wg_is_far(double x) { return !(fabs(x) < 0x1p51); }
static inline WG_UNUSED word wg_each_word(double x) { return wg_word_of(x + 0x1.8p52) - 0x4338000000000000; }
#else
static inline WG_UNUSED word wg_is_far(double x) { return 0; }
static inline WG_UNUSED word wg_each_word(double x) { return (word)(x + 0.0); }
#endif
/* A tangent that the steps of a loop have made so small that few bits are left of it is zero: below 2^-1060; with such numbers some processors
 * are slow. It is a branch, for which nothing waits: the compiler makes no choice of it. What is zero already does not take it. */
static inline WG_UNUSED double wg_unless_faint(double t) {
    if (WG_RARELY(2 * (uint64_t)wg_word_of(t) - 1 < 0x7fff)) {
        __asm__ volatile("");
        t = 0.0;
    }
    return t;
}
/* The first at ties, NaN if either is. The processor's own instruction gives its second operand where one is no number, so that only the other
 * one is left to be looked at, and what has all bits is no number: compilers make branches of choices inside of others, and masks of choices by
 * a number about which another choice was made. */
#define WG_IS_KNOWN(x) (__builtin_constant_p(x) && (x) == (x))
static inline WG_UNUSED double wg_each_min(double x, double y) {
    if (WG_IS_KNOWN(x)) return x <= y ? x : y;
    double least = y < x ? y : x;
    return WG_IS_KNOWN(y) ? least : wg_of_bits(wg_word_of(least) | -(word)(y != y));
}
static inline WG_UNUSED double wg_each_max(double x, double y) {
    if (WG_IS_KNOWN(x)) return x >= y ? x : y;
    double most = y > x ? y : x;
    return WG_IS_KNOWN(y) ? most : wg_of_bits(wg_word_of(most) | -(word)(y != y));
}
/* Outside of vectors compilers choose between numbers in registers for integers, which takes longer than the rest. */
#ifdef __SSE2__
static inline WG_UNUSED double wg_min(double x, double y) {
    if (WG_IS_KNOWN(x) && x != 0.0) return x < y ? x : y;
    __m128d a = _mm_set_sd(x), b = _mm_set_sd(y), least = _mm_min_sd(b, a);
    return _mm_cvtsd_f64(WG_IS_KNOWN(y) ? least : _mm_or_pd(least, _mm_cmpunord_sd(b, b)));
}
static inline WG_UNUSED double wg_max(double x, double y) {
    if (WG_IS_KNOWN(x) && x != 0.0) return x > y ? x : y;
    __m128d a = _mm_set_sd(x), b = _mm_set_sd(y), most = _mm_max_sd(b, a);
    return _mm_cvtsd_f64(WG_IS_KNOWN(y) ? most : _mm_or_pd(most, _mm_cmpunord_sd(b, b)));
}
/* One of two numbers, as the first of two others is below the second or not, or NaN where one of those is. */
static inline WG_UNUSED double wg_slope_of(__m128d x, __m128d y, __m128d holds, double yes, double no) {
    __m128d slope = _mm_or_pd(_mm_and_pd(holds, _mm_set_sd(yes)), _mm_andnot_pd(holds, _mm_set_sd(no)));
    return _mm_cvtsd_f64(_mm_or_pd(slope, _mm_cmpunord_sd(x, y)));
}
static inline WG_UNUSED double wg_slope_at_most(double x, double y, double yes, double no) {
    __m128d a = _mm_set_sd(x), b = _mm_set_sd(y);
    return wg_slope_of(a, b, _mm_cmple_sd(a, b), yes, no);
}
static inline WG_UNUSED double wg_slope_below(double x, double y, double yes, double no) {
    __m128d a = _mm_set_sd(x), b = _mm_set_sd(y);
    return wg_slope_of(a, b, _mm_cmplt_sd(a, b), yes, no);
}
#else
static inline WG_UNUSED double wg_min(double x, double y) { return wg_each_min(x, y); }
static inline WG_UNUSED double wg_max(double x, double y) { return wg_each_max(x, y); }
static inline WG_UNUSED double wg_slope_at_most(double x, double y, double yes, double no) {
    return x <= y ? yes : y < x ? no : (double)NAN;
}
static inline WG_UNUSED double wg_slope_below(double x, double y, double yes, double no) {
    return x < y ? yes : y <= x ? no : (double)NAN;
}
#endif
static inline WG_UNUSED double wg_sign(double x) {
    double sign = copysign(1.0, x), known = x == 0.0 ? 0.0 : sign;
    return x == x ? known : x;
}
static inline WG_UNUSED double wg_relu(double x) { return x <= 0.0 ? 0.0 : x; }
/* To the nearest integer, halves away from zero. */
static inline WG_UNUSED double wg_nearest(double x) {
    double whole = trunc(x);
    return fabs(x - whole) >= 0.5 ? whole + copysign(1.0, x) : whole;
}
static WG_UNUSED word wg_int_power(word base, word exponent) {
    uint64_t square = (uint64_t)base, result = 1;
    for (; exponent > 0; exponent >>= 1) {
        if (exponent & 1) result *= square;
        square *= square;
    }
    return (word)result;
}
