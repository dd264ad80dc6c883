/* ---- More functions of reals -------------------------------------------------------------------------------------
 *
 * polygamma n is (-1)^(n+1) n! zeta(n + 1, x) with the Hurwitz zeta function by Euler-Maclaurin summation. */

static WG_UNUSED double wg_power(double x, word n) {
    uint64_t size = n < 0 ? -(uint64_t)n : (uint64_t)n;
    if (size <= 32) {
        double result = 1.0, square = x;
        for (; size > 0; size >>= 1) {
            if (size & 1) result *= square;
            square *= square;
        }
        return n < 0 ? 1.0 / result : result;
    }
    /* A large exponent may lose its last bit in the conversion, but only that bit says whether it is odd. */
    double result = wg_pow(fabs(x), (double)n);
    return signbit(x) && n % 2 != 0 ? -result : result;
}

/* At both zeros the limit from the right, where the library goes by the sign of the zero. */
static WG_UNUSED double wg_gamma(double x) { return x == 0.0 ? (double)INFINITY : tgamma(x); }

static const double wg_bernoulli[] = {
    1.0 / 6.0,       -1.0 / 30.0,       1.0 / 42.0,      -1.0 / 30.0,         5.0 / 66.0,
    -691.0 / 2730.0, 7.0 / 6.0,         -3617.0 / 510.0, 43867.0 / 798.0,     -174611.0 / 330.0,
    854513.0 / 138.0, -236364091.0 / 2730.0, 8553103.0 / 6.0, -23749461029.0 / 870.0, 8615841276005.0 / 14322.0};
enum { WG_TERMS = sizeof wg_bernoulli / sizeof *wg_bernoulli };

/* x^s zeta(s, x) for s >= 2 and x > 0. */
static double wg_zeta_ratio(double s, double x) {
    double sum = 0.0, steps = 0.0, start = x;
    while (start < 0.5 * s + 12.0) {
        double term = wg_pow(x / start, s);
        sum += term;
        if (term < sum * 2.220446049250313e-18 && start > x) return sum;
        steps += 1.0;
        start = x + steps;
    }
    double inverse_square = 1.0 / (start * start), tail = start / (s - 1.0) + 0.5, factor = 0.5 * s / start;
    for (int k = 1; k <= WG_TERMS; k++) {
        double term = wg_bernoulli[k - 1] * factor, k2 = 2 * k;
        tail += term;
        if (fabs(term) < fabs(tail) * 2.220446049250313e-17) break;
        factor *= (s + k2 - 1.0) * (s + k2) / ((k2 + 1.0) * (k2 + 2.0)) * inverse_square;
    }
    return sum + wg_pow(x / start, s) * tail;
}

/* n! zeta(n + 1, x) for x > 0. */
static double wg_scaled_zeta(word n, double x) {
    if (isinf(x)) return 0.0;
    double s = (double)n + 1.0, factor;
    if (n <= 170) {
        factor = 1.0 / x;
        for (word i = 1; i <= n; i++) factor *= (double)i / x;
    } else {
        factor = wg_exp(wg_lgamma(s) - s * wg_log(x));
    }
    return factor * wg_zeta_ratio(s, x);
}

static WG_UNUSED double wg_polygamma(word n, double x) {
    if (n == 0) return wg_digamma(x);
    if (isnan(x) || x == -INFINITY) return NAN;
    int odd = n % 2 == 1;
    double sign = odd ? 1.0 : -1.0;
    if (x > 0.0) return sign * wg_scaled_zeta(n, x);
    double offset = x - wg_nearest(x);
    if (offset == 0.0) return odd ? (double)INFINITY : (double)NAN;
    double right = wg_scaled_zeta(n, offset > 0.0 ? offset : 1.0 + offset);
    double left = wg_scaled_zeta(n, offset > 0.0 ? 1.0 - offset : -offset) - wg_scaled_zeta(n, 1.0 - x);
    if (isinf(right) || !isfinite(left)) return odd || offset > 0.0 ? sign * INFINITY : INFINITY;
    return odd ? right + left : left - right;
}
