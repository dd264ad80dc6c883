//! Functions of real numbers beyond the elementary ones.
//!
//! * `digamma ψ`: for `x > 0` the recurrence `ψ(x) = ψ(x+1) - 1/x` up to the range where the asymptotic series
//!   `ψ(x) ~ log x - 1/2x - Σ B₂ₖ/(2k x²ᵏ)` is exact to rounding; near the positive root the same two formulas for the
//!   *difference* to the root, so that the relative error stays small there too; for `x < 0` the reflection
//!   `ψ(x) = ψ(1-x) - π cot πx`.
//! * `polygamma ψ⁽ⁿ⁾(x) = (-1)ⁿ⁺¹ n! ζ(n+1, x)` with the Hurwitz zeta function by Euler–Maclaurin summation; for `x < 0` the
//!   sum over the poles is taken apart at the pole next to `x`, which needs no derivatives of the cotangent.
//!
//! At their poles `digamma` and `polygamma n` for even `n` are NaN (the sign depends on the side), `polygamma n` for
//! odd `n` is Infinity.

/// `B₂ₖ` for `k = 1, 2, …`: Bernoulli numbers.
const BERNOULLI: [f64; 15] = [
    1.0 / 6.0,
    -1.0 / 30.0,
    1.0 / 42.0,
    -1.0 / 30.0,
    5.0 / 66.0,
    -691.0 / 2730.0,
    7.0 / 6.0,
    -3617.0 / 510.0,
    43867.0 / 798.0,
    -174611.0 / 330.0,
    854513.0 / 138.0,
    -236364091.0 / 2730.0,
    8553103.0 / 6.0,
    -23749461029.0 / 870.0,
    8615841276005.0 / 14322.0,
];

/// From here on the first terms of the asymptotic series of `digamma` are exact to rounding.
const DIGAMMA_ASYMPTOTIC: f64 = 12.0;

/// The positive root of `digamma`, in two parts whose sum has twice the precision.
const DIGAMMA_ROOT: f64 = 1.461_632_144_968_362_2;
const DIGAMMA_ROOT_LOW: f64 = 9.549_995_429_965_697e-17;

/// So near the root the difference formula is used.
const DIGAMMA_ROOT_RADIUS: f64 = 1.0;

/// The largest `n` for which `n!` is finite.
const MAX_FACTORIAL: u32 = 170;

/// The square of a larger number may overflow.
const LARGEST_ROOT_ARGUMENT: f64 = 1e150;

/// From here on `lgamma x` is `x (log x - 1)` to rounding.
const STIRLING_SUFFICES: f64 = 1e100;

/// The largest exponent for which `x ^ n` is computed by repeated multiplication.
const MAX_BINARY_POWER: u64 = 32;

/// `t·c`, but exactly zero if either is: forward mode multiplies coefficients into a tangent from one end of a chain,
/// reverse mode from the other, and both must find the zero.
pub fn mul_zero(t: f64, c: f64) -> f64 {
    if t == 0.0 || c == 0.0 { 0.0 } else { t * c }
}

/// `t/d`, but exactly zero if `t` is.
pub fn div_zero(t: f64, d: f64) -> f64 {
    if t == 0.0 { 0.0 } else { t / d }
}

/// -1, 0 or 1; NaN for NaN.
pub fn sign(x: f64) -> f64 {
    if x > 0.0 {
        1.0
    } else if x < 0.0 {
        -1.0
    } else if x == 0.0 {
        0.0
    } else {
        x
    }
}

/// The smaller one, the first at ties, NaN if either is.
pub fn min(x: f64, y: f64) -> f64 {
    if x <= y {
        x
    } else if y < x {
        y
    } else {
        f64::NAN
    }
}

/// The larger one, the first at ties, NaN if either is.
pub fn max(x: f64, y: f64) -> f64 {
    if x >= y {
        x
    } else if y > x {
        y
    } else {
        f64::NAN
    }
}

/// `x` where positive, else 0; NaN for NaN.
pub fn relu(x: f64) -> f64 {
    if x <= 0.0 { 0.0 } else { x }
}

/// `1 / (1 + exp (-x))` without overflow, accurate for large negative `x`.
pub fn sigmoid(x: f64) -> f64 {
    if x >= 0.0 {
        1.0 / (1.0 + pxfm::f_exp(-x))
    } else {
        let e = pxfm::f_exp(x);
        e / (1.0 + e)
    }
}

/// `log (1 + exp x)` without overflow, accurate for large negative `x`.
pub fn softplus(x: f64) -> f64 {
    if x > 0.0 { x + pxfm::f_log1p(pxfm::f_exp(-x)) } else { pxfm::f_log1p(pxfm::f_exp(x)) }
}

/// `x ^ n`; `x ^ 0` is 1 for every `x`.
pub fn pow_int(x: f64, n: i64) -> f64 {
    let magnitude = n.unsigned_abs();
    if magnitude <= MAX_BINARY_POWER {
        let power = binary_power(x, magnitude);
        return if n < 0 { 1.0 / power } else { power };
    }
    // A large exponent may lose its last bit in the conversion, but only that bit says whether it is odd.
    let power = pow(x.abs(), n as f64);
    if x.is_sign_negative() && n % 2 != 0 { -power } else { power }
}

fn binary_power(x: f64, n: u64) -> f64 {
    let (mut result, mut square, mut rest) = (1.0, x, n);
    while rest > 0 {
        if rest % 2 == 1 {
            result *= square;
        }
        rest /= 2;
        if rest > 0 {
            square *= square;
        }
    }
    result
}

/// Hyperbolic sine; the sign of a zero is kept.
pub fn sinh(x: f64) -> f64 {
    if x == 0.0 { x } else { pxfm::f_sinh(x) }
}

/// The angle of the point `(x, y)`; a result too small for a number keeps the sign of `y`.
pub fn atan2(y: f64, x: f64) -> f64 {
    pxfm::f_atan2(y, x).copysign(y)
}

/// `x ** y`. `x ** 0` and `1 ** y` are 1 even for NaN.
pub fn pow(x: f64, y: f64) -> f64 {
    if y == 0.0 || x == 1.0 {
        return 1.0;
    }
    if y == -0.5 && x > LARGEST_ROOT_ARGUMENT {
        // The reciprocal root in `pxfm` squares its argument; scaling by an even power of two is exact.
        return pxfm::f_pow(x * 2f64.powi(-512), y) * 2f64.powi(-256);
    }
    pxfm::f_pow(x, y)
}

/// The logarithm of `|Γ x|`. For huge arguments Stirling's formula needs only its first two terms.
pub fn lgamma(x: f64) -> f64 {
    if x > STIRLING_SUFFICES && x.is_finite() { x * (pxfm::f_log(x) - 1.0) } else { pxfm::f_lgamma(x) }
}

/// The derivative of `lgamma`; NaN at its poles 0, -1, -2, ….
pub fn digamma(x: f64) -> f64 {
    if x.is_nan() || x == f64::NEG_INFINITY {
        return f64::NAN;
    }
    if x > 0.0 {
        return if (x - DIGAMMA_ROOT).abs() < DIGAMMA_ROOT_RADIUS {
            digamma_near_root(x)
        } else {
            digamma_positive(x)
        };
    }
    let offset = x - x.round();
    if offset == 0.0 {
        return f64::NAN;
    }
    digamma(1.0 - x) - std::f64::consts::PI / pxfm::f_tan(std::f64::consts::PI * offset)
}

fn digamma_positive(x: f64) -> f64 {
    let (mut x, mut shifted) = (x, 0.0);
    while x < DIGAMMA_ASYMPTOTIC {
        shifted -= 1.0 / x;
        x += 1.0;
    }
    if x.is_infinite() {
        return x;
    }
    let inverse_square = 1.0 / (x * x);
    let mut power = 1.0;
    let mut series = 0.0;
    for (k, bernoulli) in (1_i32..).zip(BERNOULLI) {
        power *= inverse_square;
        series += bernoulli / f64::from(2 * k) * power;
    }
    pxfm::f_log(x) - 0.5 / x - series + shifted
}

/// `ψ(x) - ψ(x₀)` for the root `x₀`, term by term: each term is proportional to `x - x₀`, so nothing cancels.
fn digamma_near_root(x: f64) -> f64 {
    let delta = (x - DIGAMMA_ROOT) - DIGAMMA_ROOT_LOW;
    let (mut x, mut root, mut shifted) = (x, DIGAMMA_ROOT, 0.0);
    while x < DIGAMMA_ASYMPTOTIC {
        shifted += delta / (x * root);
        x += 1.0;
        root += 1.0;
    }
    let (u, v) = (1.0 / (x * x), 1.0 / (root * root));
    let first_difference = -delta * (x + root) * u * v;
    // `difference` is u^k - v^k, by u^(k+1) - v^(k+1) = u (u^k - v^k) + v^k (u - v).
    let (mut difference, mut v_power, mut series) = (first_difference, v, 0.0);
    for (k, bernoulli) in (1_i32..).zip(BERNOULLI) {
        series += bernoulli / f64::from(2 * k) * difference;
        difference = u * difference + v_power * first_difference;
        v_power *= v;
    }
    pxfm::f_log1p(delta / root) + 0.5 * delta / (x * root) - series + shifted
}

/// The `n`-th derivative of `digamma`. At its poles 0, -1, -2, … it is Infinity for odd `n` and NaN for even `n`.
pub fn polygamma(n: u32, x: f64) -> f64 {
    if n == 0 {
        return digamma(x);
    }
    if x.is_nan() || x == f64::NEG_INFINITY {
        return f64::NAN;
    }
    let odd = n % 2 == 1;
    let sign = if odd { 1.0 } else { -1.0 };
    if x > 0.0 {
        return sign * scaled_zeta(n, x);
    }
    let offset = x - x.round();
    if offset == 0.0 {
        return if odd { f64::INFINITY } else { f64::NAN };
    }
    // ζ(s, x) = ζ(s, f) ± (ζ(s, 1-f) - ζ(s, 1-x)) with f the fractional part of x.
    let (fraction, rest) = if offset > 0.0 { (offset, 1.0 - offset) } else { (1.0 + offset, -offset) };
    let right = scaled_zeta(n, fraction);
    let left = scaled_zeta(n, rest) - scaled_zeta(n, 1.0 - x);
    if right.is_infinite() || !left.is_finite() {
        // Both sides overflow; the pole next to x decides.
        return if odd || offset > 0.0 { sign * f64::INFINITY } else { f64::INFINITY };
    }
    if odd { right + left } else { left - right }
}

/// `n! ζ(n+1, x)` for `x > 0`.
fn scaled_zeta(n: u32, x: f64) -> f64 {
    if x.is_infinite() {
        return 0.0;
    }
    factorial_over_power(n, x) * zeta_ratio(f64::from(n) + 1.0, x)
}

/// `n! / x^(n+1)`.
fn factorial_over_power(n: u32, x: f64) -> f64 {
    if n <= MAX_FACTORIAL {
        // Factor by factor: the product falls, then rises, so it overflows or underflows only if the result does.
        return (1..=n).fold(1.0 / x, |product, i| product * (f64::from(i) / x));
    }
    let s = f64::from(n) + 1.0;
    pxfm::f_exp(lgamma(s) - s * pxfm::f_log(x))
}

/// `x^s ζ(s, x)` by Euler–Maclaurin summation, for `s ≥ 2` and `x > 0`.
fn zeta_ratio(s: f64, x: f64) -> f64 {
    // The tail below is exact to rounding from here on.
    let asymptotic = 0.5 * s + DIGAMMA_ASYMPTOTIC;
    let (mut sum, mut steps) = (0.0, 0.0);
    let mut start = x;
    while start < asymptotic {
        let term = pow(x / start, s);
        sum += term;
        if term < sum * f64::EPSILON * 0.01 && start > x {
            return sum;
        }
        steps += 1.0;
        start = x + steps;
    }
    let inverse_square = 1.0 / (start * start);
    let mut tail = start / (s - 1.0) + 0.5;
    // (s)(s+1)…(s+2k-2) / (2k)! / start^(2k-1)
    let mut factor = 0.5 * s / start;
    for (k, bernoulli) in (1_i32..).zip(BERNOULLI) {
        let term = bernoulli * factor;
        tail += term;
        if term.abs() < tail.abs() * f64::EPSILON * 0.1 {
            break;
        }
        let k2 = f64::from(2 * k);
        factor *= (s + k2 - 1.0) * (s + k2) / ((k2 + 1.0) * (k2 + 2.0)) * inverse_square;
    }
    sum + pow(x / start, s) * tail
}

#[cfg(test)]
#[expect(clippy::approx_constant, reason = "reference values, computed with 60 digits")]
mod tests {
    use super::*;
    use crate::RealOp;

    const DIGAMMA: &[(f64, f64)] = &[
        (1e-08, -100000000.57721564),
        (0.1, -10.423754940411076),
        (0.5, -1.9635100260214235),
        (1.0, -0.5772156649015329),
        (1.4, -0.06138454458511624),
        (1.461632144968, -3.505395133995687e-13),
        (1.4616321449683622, -9.241265521729427e-17),
        (1.5, 0.03648997397857652),
        (1.7, 0.2085478748734939),
        (2.0, 0.42278433509846713),
        (3.3, 1.0348224890596216),
        (5.0, 1.5061176684318005),
        (11.9, 2.4339335368825377),
        (12.1, 2.4513143481743374),
        (100.0, 4.600161852738087),
        (1000000.0, 13.815510057964191),
        (1000000000000000.0, 34.538776394910684),
        (-0.25, 2.9141391202135276),
        (-0.5, 0.03648997397857652),
        (-1.5, 0.7031566406452432),
        (-3.7, -0.8450768588704194),
        (-20.1, 12.694217212892514),
        (-100.5, 4.6151246013380645),
    ];
    const LGAMMA: &[(f64, f64)] = &[
        (1e-05, 11.512919692895826),
        (0.1, 2.252712651734206),
        (0.5, 0.5723649429247001),
        (1.3, -0.10817480950786047),
        (2.5, 0.2846828704729192),
        (3.0, 0.6931471805599453),
        (10.0, 12.801827480081469),
        (100.5, 361.4355404677776),
        (1000000.0, 12815504.569147611),
        (-0.5, 1.2655121234846454),
        (-1.5, 0.860047015376481),
        (-7.3, -7.779101629826852),
    ];
    const GAMMA: &[(f64, f64)] = &[
        (1e-05, 99999.42279422555),
        (0.1, 9.51350769866873),
        (0.5, 1.772453850905516),
        (1.0, 1.0),
        (1.5, 0.886226925452758),
        (4.0, 6.0),
        (10.3, 716430.6890623764),
        (100.0, 9.332621544394415e+155),
        (170.5, 5.56209241456e+305),
        (-0.5, -3.544907701811032),
        (-1.5, 2.363271801207355),
        (-7.3, 0.000418387873013548),
    ];
    const ERF: &[(f64, f64)] = &[
        (1e-10, 1.1283791670955126e-10),
        (0.1, 0.1124629160182849),
        (0.5, 0.5204998778130465),
        (0.9, 0.7969082124228322),
        (1.5, 0.9661051464753108),
        (2.5, 0.999593047982555),
        (4.0, 0.9999999845827421),
        (-0.3, -0.3286267594591274),
        (-2.0, -0.9953222650189527),
    ];
    const ERFC: &[(f64, f64)] = &[
        (1e-10, 0.999999999887162),
        (0.1, 0.887537083981715),
        (0.5, 0.4795001221869535),
        (0.9, 0.20309178757716786),
        (1.5, 0.033894853524689274),
        (2.5, 0.0004069520174449589),
        (6.0, 2.1519736712498913e-17),
        (20.0, 5.395865611607901e-176),
        (-0.3, 1.3286267594591274),
        (-2.0, 1.9953222650189528),
    ];
    const SIGMOID: &[(f64, f64)] = &[
        (-700.0, 9.85967654375977e-305),
        (-40.0, 4.248354255291589e-18),
        (-1.0, 0.2689414213699951),
        (0.0, 0.5),
        (0.3, 0.574442516811659),
        (2.0, 0.8807970779778824),
        (30.0, 0.9999999999999064),
        (800.0, 1.0),
    ];
    const SOFTPLUS: &[(f64, f64)] = &[
        (-700.0, 9.85967654375977e-305),
        (-40.0, 4.248354255291589e-18),
        (-1.0, 0.3132616875182228),
        (0.0, 0.6931471805599453),
        (0.3, 0.8543552444685271),
        (2.0, 2.1269280110429727),
        (30.0, 30.000000000000092),
        (800.0, 800.0),
    ];
    const POLYGAMMA: &[(u32, f64, f64)] = &[
        (1, 0.1, 101.43329915079275),
        (1, 0.5, 4.934802200544679),
        (1, 1.0, 1.6449340668482264),
        (1, 2.5, 0.49035775610023485),
        (1, 20.0, 0.05127082293520312),
        (1, 100000000.0, 1.000000005e-08),
        (1, -0.5, 8.934802200544679),
        (1, -2.3, 14.725912160961292),
        (2, 0.3, -75.27253658872604),
        (2, 1.0, -2.4041138063191885),
        (2, 7.7, -0.01919812143532196),
        (2, -1.25, 123.72136678366236),
        (2, -4.9, -1998.693665546635),
        (3, 1.0, 6.493939402266829),
        (3, 0.01, 600000006.2510618),
        (3, -0.7, 768.1313523268526),
        (5, 2.2, 1.201921216126424),
        (6, -3.4, 413775.13643222954),
        (10, 1.5, -42108.85876897549),
        (10, 50.0, -4.101091112731268e-12),
        (25, 3.0, 6105747679463.72),
        (60, 10.0, -8.345955089401754e+20),
        (100, 4.5, -9.897824844057006e+91),
        (170, 120.0, -2.7644299457026034e-49),
        (200, 300.0, -2.03430351276749e-123),
        (200, 1000.0, -4.3508192705971016e-228),
    ];

    /// Compares with a table; the error may be `tolerance` relative to the value or to 1, whichever is smaller,
    /// so roots count as much as large values.
    fn check(op: RealOp, table: &[(f64, f64)], tolerance: f64) {
        for (x, expected) in table {
            let actual = op.eval1(*x);
            let scale = expected.abs().max(if *x < 0.0 { 1.0 } else { 0.0 });
            assert!((actual - expected).abs() <= tolerance * scale, "{op:?} {x}: {actual} for {expected}");
        }
    }

    #[test]
    fn special_functions_have_their_known_values() {
        check(RealOp::Digamma, DIGAMMA, 2e-15);
        check(RealOp::Lgamma, LGAMMA, 3e-15);
        check(RealOp::Gamma, GAMMA, 2e-15);
        check(RealOp::Erf, ERF, 1e-15);
        check(RealOp::Erfc, ERFC, 1e-15);
        check(RealOp::Sigmoid, SIGMOID, 1e-15);
        check(RealOp::Softplus, SOFTPLUS, 1e-15);
    }

    #[test]
    fn polygamma_has_its_known_values() {
        for (n, x, expected) in POLYGAMMA {
            let actual = polygamma(*n, *x);
            let tolerance = if *n > 100 { 1e-12 } else { 1e-14 };
            assert!(
                (actual - expected).abs() <= tolerance * expected.abs().max(1.0),
                "polygamma {n} {x}: {actual} for {expected}"
            );
        }
    }

    #[test]
    fn polygamma_obeys_the_recurrence() {
        for n in [1_u32, 2, 3, 4, 7, 12] {
            for i in 1..80 {
                let x = f64::from(i) * 0.37 - 9.0;
                let sign = if n % 2 == 0 { 1.0 } else { -1.0 };
                let step = (1..=n).fold(sign / x, |product, i| product * (f64::from(i) / x));
                let (here, next) = (polygamma(n, x), polygamma(n, x + 1.0));
                let scale = here.abs().max(next.abs()).max(step.abs());
                assert!((next - here - step).abs() <= 1e-12 * scale, "{n} {x}: {here} + {step} = {next}");
            }
        }
    }

    #[test]
    fn poles_and_infinities() {
        for x in [0.0, -0.0, -1.0, -5.0, -1e300, f64::NEG_INFINITY, f64::NAN] {
            assert!(digamma(x).is_nan(), "{x}");
            assert!(polygamma(2, x).is_nan(), "{x}");
        }
        for x in [0.0, -1.0, -17.0] {
            assert_eq!(polygamma(1, x), f64::INFINITY);
            assert_eq!(polygamma(3, x), f64::INFINITY);
        }
        assert_eq!(digamma(f64::INFINITY), f64::INFINITY);
        assert_eq!(polygamma(4, f64::INFINITY), 0.0);
        assert_eq!(polygamma(0, 2.5), digamma(2.5));
    }

    #[test]
    fn extreme_parameters_end_quickly() {
        for n in [171, 1000, 1_000_000, u32::MAX] {
            for x in [1e-300, 0.5, 3.0, 1e6, 1e12, 1e300, -0.5, -2.25, -1e9 - 0.5] {
                let value = polygamma(n, x);
                assert!(!value.is_nan() || x < 0.0, "polygamma {n} {x} is NaN");
            }
        }
    }

    #[test]
    fn integer_powers() {
        assert_eq!(pow_int(3.0, 4), 81.0);
        assert_eq!(pow_int(2.0, -3), 0.125);
        assert_eq!(pow_int(-2.0, 3), -8.0);
        assert_eq!(pow_int(f64::NAN, 0), 1.0);
        assert_eq!(pow_int(0.0, 0), 1.0);
        assert_eq!(pow_int(0.0, -1), f64::INFINITY);
        assert_eq!(pow_int(-0.0, -1), f64::NEG_INFINITY);
        assert_eq!(pow_int(2.0, 33), 8_589_934_592.0);
        assert_eq!(pow_int(-1.0, i64::MAX), -1.0);
        assert_eq!(pow_int(-1.0, i64::MIN), 1.0);
        assert_eq!(pow_int(-2.0, 1023), -(2.0_f64.powi(1023)));
        assert_eq!(pow_int(2.0, i64::MIN), 0.0);
        for n in -32..=32 {
            let (ours, theirs) = (pow_int(1.1, n), pow(1.1, n as f64));
            assert!((ours / theirs - 1.0).abs() < 1e-14, "{n}");
        }
    }

    #[test]
    fn selection_at_ties_and_at_nan() {
        assert_eq!(min(0.0, -0.0).to_bits(), 0.0_f64.to_bits());
        assert_eq!(max(-0.0, 0.0).to_bits(), (-0.0_f64).to_bits());
        for (x, y) in [(f64::NAN, 1.0), (1.0, f64::NAN)] {
            assert!(min(x, y).is_nan() && max(x, y).is_nan());
        }
        assert!(relu(f64::NAN).is_nan() && sign(f64::NAN).is_nan());
        assert_eq!((relu(-1.0), relu(2.0), sign(-0.0).to_bits()), (0.0, 2.0, 0));
        assert_eq!(mul_zero(0.0, f64::INFINITY), 0.0);
        assert_eq!(mul_zero(f64::INFINITY, 0.0), 0.0);
        assert_eq!(div_zero(-0.0, 0.0).to_bits(), 0);
    }

    #[test]
    fn edges_of_the_elementary_functions() {
        assert_eq!(sinh(-0.0).to_bits(), (-0.0f64).to_bits());
        assert_eq!(atan2(-5e-324, 2.0).to_bits(), (-0.0f64).to_bits());
        assert_eq!((pow(f64::NAN, 0.0), pow(1.0, f64::NAN), pow(0.0, -1.0)), (1.0, 1.0, f64::INFINITY));
        assert_eq!(pow(f64::MAX, -0.5), 7.458340731200207e-155);
        assert_eq!(pow(f64::INFINITY, -0.5), 0.0);
        assert_eq!(lgamma(1e300), 6.897755278982137e302);
        assert_eq!(lgamma(f64::INFINITY), f64::INFINITY);
    }
}
