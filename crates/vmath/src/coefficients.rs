//! Polynomials, lowest coefficient first, and constants in parts.
//!
//! Written by `cargo run --release -p wengert-vmath --example fit`, which explains how.

#![expect(
    clippy::approx_constant,
    reason = "printed by a program, the shortest digits that give each number"
)]

/// `(eʳ - 1 - r) / r²` for `|r| ≤ log 2 / 2`. Largest weighted error: 2^-59.5.
#[rustfmt::skip]
pub(crate) const EXPM1: [f64; 12] = [
    0.5,
    0.16666666666666666,
    0.0416666666666667,
    0.008333333333334522,
    0.0013888888888864152,
    0.00019841269836516886,
    2.480158736917614e-5,
    2.7557327380628347e-6,
    2.755723379427426e-7,
    2.5045801783293676e-8,
    2.092815303210036e-9,
    1.7857419257968854e-10,
];

/// `(2 atanh s / s - 2) / z` with `z = s²`, for `s = (m - 1) / (m + 1)` and `√½ ≤ m ≤ √2`. Largest weighted error: 2^-65.6.
#[rustfmt::skip]
pub(crate) const LOG: [f64; 8] = [
    0.6666666666666666,
    0.4000000000000493,
    0.2857142856940662,
    0.2222222260787728,
    0.18181778268269025,
    0.1538699316027903,
    0.1325204179081998,
    0.13235812432733576,
];

/// As `LOG`, behind the lowest coefficient, which is `LOG_LONG_HEAD`. Largest weighted error: 2^-76.3.
#[rustfmt::skip]
pub(crate) const LOG_LONG: [f64; 9] = [
    0.4,
    0.2857142857142704,
    0.22222222222658666,
    0.18181818115761902,
    0.1538462128662318,
    0.13333008558457207,
    0.11775726155783363,
    0.10305455245538955,
    0.11838075347746232,
];

/// The lowest coefficient of the above, in parts whose sum it is.
#[rustfmt::skip]
pub(crate) const LOG_LONG_HEAD: [f64; 2] = [0.6666666666666666, 3.7003538374022965e-17];

/// `(sin r / r - 1) / z` with `z = r²`, for `|r| ≤ π/4`. Largest weighted error: 2^-63.2.
#[rustfmt::skip]
pub(crate) const SIN: [f64; 7] = [
    -0.16666666666666666,
    0.008333333333333042,
    -0.00019841269840962473,
    2.755731907398525e-6,
    -2.5052070923675566e-8,
    1.6054311698682157e-10,
    -7.389471560494381e-13,
];

/// `(cos r - 1 + z/2) / z²` with `z = r²`, for `|r| ≤ π/4`. Largest weighted error: 2^-69.0.
#[rustfmt::skip]
pub(crate) const COS: [f64; 7] = [
    0.041666666666666664,
    -0.0013888888888888389,
    2.48015873011809e-5,
    -2.755731906076467e-7,
    2.087672203939193e-9,
    -1.1466866662828871e-11,
    4.5929672906124715e-14,
];

/// `(atan r / r - 1) / z` with `z = r²`, for `|r| ≤ tan (π/8)`. Largest weighted error: 2^-63.9.
#[rustfmt::skip]
pub(crate) const ATAN: [f64; 12] = [
    -0.33333333333333326,
    0.19999999999997098,
    -0.1428571428531708,
    0.11111111083806033,
    -0.09090907988570023,
    0.07692279271828084,
    -0.0666617583663867,
    0.05876528555559319,
    -0.0521526269219864,
    0.044909050913683767,
    -0.03318300063895132,
    0.014901991483894695,
];

/// `(asin r / r - 1) / z` with `z = r²`, for `|r| ≤ 1/2`. Largest weighted error: 2^-59.9.
#[rustfmt::skip]
pub(crate) const ASIN: [f64; 13] = [
    0.1666666666666676,
    0.0749999999997081,
    0.04464285717464561,
    0.03038194270473021,
    0.022372215104013972,
    0.017351609487002432,
    0.013980855219094803,
    0.011398597466063627,
    0.010782171827920349,
    0.0036986300285546227,
    0.021727559610448165,
    -0.021029087274302756,
    0.03264831849467943,
];

/// `erf x / x - 1`, behind the lowest coefficient, with `z = x²`, for `|x| ≤ 7/8`. Largest weighted error: 2^-61.1.
#[rustfmt::skip]
pub(crate) const ERF: [f64; 11] = [
    -0.37612638903183737,
    0.11283791670954174,
    -0.026866170644902834,
    0.005223977622617992,
    -0.0008548326817428899,
    0.00012055323441610893,
    -1.4925358828448326e-5,
    1.6456147566113515e-6,
    -1.6284624633406055e-7,
    1.4096644587021442e-8,
    -8.602550109067624e-10,
];

/// The lowest coefficient of the above, in parts whose sum it is.
#[rustfmt::skip]
pub(crate) const ERF_HEAD: [f64; 2] = [0.1283791670955126, -1.278088054830506e-17];

/// `(1 + 2x) exp x² erfc x`, behind the lowest coefficient, with `t = (x - 4) / (x + 4)`, for `1/2 ≤ x ≤ 28`. Largest weighted error: 2^-58.0.
#[rustfmt::skip]
pub(crate) const ERFC: [f64; 24] = [
    -0.1396211168405625,
    0.01537965210262004,
    0.06809705425469147,
    -0.10103906603632493,
    0.09373283499840043,
    -0.06633036581165196,
    0.037167515536534655,
    -0.016197734065874093,
    0.00503196998736322,
    -0.0007577732206258396,
    -0.00019925674811134073,
    0.00015062131664597244,
    -2.439903193862137e-5,
    -1.122080202342977e-5,
    5.709362766825178e-6,
    2.910725113287852e-7,
    -8.250196916050155e-7,
    7.856286376061162e-8,
    1.0991625026963754e-7,
    -2.1382646440160813e-8,
    -1.4246000679643116e-8,
    3.509065783775638e-9,
    1.3797428524312543e-9,
    -3.217430302425423e-10,
];

/// The lowest coefficient of the above, in parts whose sum it is.
#[rustfmt::skip]
pub(crate) const ERFC_HEAD: [f64; 2] = [1.2329951186255526, -4.624416706147202e-17];

/// The cube root, roughly, for `1 ≤ x < 2`. Largest weighted error: 2^-16.7.
#[rustfmt::skip]
pub(crate) const CBRT: [f64; 5] = [
    0.5069793855740466,
    0.718153920538992,
    -0.30061154441474414,
    0.0860913421235363,
    -0.010603896067479066,
];

/// `lgamma (2 + z) / z`, behind the lowest two coefficients, for `|z| ≤ 1/2`. Largest weighted error: 2^-56.7.
#[rustfmt::skip]
pub(crate) const LGAMMA: [f64; 17] = [
    -0.06735230105319817,
    0.020580808427780335,
    -0.0073855510286640995,
    0.0028905103310367716,
    -0.001192753912167517,
    0.0005096695153484225,
    -0.0002231547473201098,
    9.94576744013693e-5,
    -4.4926390683424275e-5,
    2.0505584368899676e-5,
    -9.43819005024244e-6,
    4.384731951479828e-6,
    -2.045983017456965e-6,
    9.19989759858708e-7,
    -4.2808838718627953e-7,
    2.788001795603662e-7,
    -1.3614376824200362e-7,
];

/// The lowest coefficient of the above, in parts whose sum it is.
#[rustfmt::skip]
pub(crate) const LGAMMA_HEAD: [f64; 2] = [0.42278433509846713, 5.056880715065866e-18];

/// The second coefficient of the above, in parts whose sum it is.
#[rustfmt::skip]
pub(crate) const LGAMMA_SECOND: [f64; 2] = [0.32246703342411326, -2.2693964747946547e-17];

/// `x·(lgamma x - (x - 1/2)·(log x - 1) - (log 2π - 1) / 2)` with `z = 1/x²`, for `x ≥ 5/2`. Largest weighted error: 2^-58.1.
#[rustfmt::skip]
pub(crate) const LGAMMA_FAR: [f64; 12] = [
    0.08333333333332603,
    -0.0027777777751865304,
    0.000793650450466884,
    -0.0005952141330089079,
    0.000840724628280046,
    -0.0018881046522476292,
    0.005809844420842722,
    -0.020342956517520713,
    0.06646685900159681,
    -0.1698670806297423,
    0.28343117015101654,
    -0.22444945086064344,
];

/// `digamma x / (x - DIGAMMA_ROOT)`, behind the lowest coefficient, with `t = x - 3/2`, for `1 ≤ x ≤ 2`. Largest weighted error: 2^-55.4.
#[rustfmt::skip]
pub(crate) const DIGAMMA: [f64; 21] = [
    -0.4236274212814606,
    0.24054248424077398,
    -0.14840492305389005,
    0.09498872445497336,
    -0.06192213327469704,
    0.040760833810764265,
    -0.026975796691201363,
    0.01790725248276108,
    -0.01190821942065197,
    0.007926943996374504,
    -0.0052799462398451505,
    0.003519012338135642,
    -0.0023454209307942125,
    0.0015565982033135686,
    -0.0010368412925248298,
    0.0007234411314270996,
    -0.0004847332695347099,
    0.00022701682467732003,
    -0.0001469719767419287,
    0.00025985850643130007,
    -0.00017656772994949173,
];

/// The lowest coefficient of the above, in parts whose sum it is.
#[rustfmt::skip]
pub(crate) const DIGAMMA_HEAD: [f64; 2] = [0.951055876031833, -5.429448453332287e-17];

/// `x²·(log x - 1/(2x) - digamma x)` with `z = 1/x²`, for `x ≥ 3`. Largest weighted error: 2^-57.6.
#[rustfmt::skip]
pub(crate) const DIGAMMA_FAR: [f64; 11] = [
    0.08333333333331168,
    -0.008333333322848979,
    0.003968252124445387,
    -0.004166499491640879,
    0.007566657193666517,
    -0.020768617894038822,
    0.075324919159686,
    -0.2990424532513462,
    1.0417390614796362,
    -2.526365582627931,
    3.0001318525267755,
];

/// log 2: the first part has 41 bits, its products with exponents are exact, in parts whose sum it is.
#[rustfmt::skip]
pub(crate) const LN_2: [f64; 2] = [0.6931471805601177, -1.7239444525614835e-13];

/// log 2 / log 10: the first part has 40 bits, in parts whose sum it is.
#[rustfmt::skip]
pub(crate) const LOG10_2: [f64; 2] = [0.3010299956640665, -8.532344317057107e-14];

/// 1 / log 2, in parts whose sum it is.
#[rustfmt::skip]
pub(crate) const INV_LN_2: [f64; 2] = [1.4426950408889634, 2.0355273740931033e-17];

/// 1 / log 10, in parts whose sum it is.
#[rustfmt::skip]
pub(crate) const INV_LN_10: [f64; 2] = [0.4342944819032518, 1.098319650216765e-17];

/// π/2, in parts whose sum it is.
#[rustfmt::skip]
pub(crate) const HALF_PI: [f64; 4] = [1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33, 5.562271104316826e-50];

/// π, in parts whose sum it is.
#[rustfmt::skip]
pub(crate) const PI: [f64; 2] = [3.141592653589793, 1.2246467991473532e-16];

/// π/4, in parts whose sum it is.
#[rustfmt::skip]
pub(crate) const QUARTER_PI: [f64; 2] = [0.7853981633974483, 3.061616997868383e-17];

/// 3π/4, in parts whose sum it is.
#[rustfmt::skip]
pub(crate) const THREE_QUARTER_PI: [f64; 2] = [2.356194490192345, 9.184850993605148e-17];

/// 2/π, in parts whose sum it is.
#[rustfmt::skip]
pub(crate) const TWO_OVER_PI: [f64; 1] = [0.6366197723675814];

/// (log 2π - 1) / 2, in parts whose sum it is.
#[rustfmt::skip]
pub(crate) const HALF_LOG_TWO_PI: [f64; 2] = [0.4189385332046727, 1.6728209650585413e-17];

/// The positive root of `digamma`, in parts whose sum it is.
#[rustfmt::skip]
pub(crate) const DIGAMMA_ROOT: [f64; 2] = [1.4616321449683622, 9.549995429965697e-17];

/// 64 zeros, then the bits of 2/π behind the point.
#[rustfmt::skip]
pub(crate) const TWO_OVER_PI_BITS: [u64; 20] = [
    0,
    0xa2f9836e4e441529,
    0xfc2757d1f534ddc0,
    0xdb6295993c439041,
    0xfe5163abdebbc561,
    0xb7246e3a424dd2e0,
    0x06492eea09d1921c,
    0xfe1deb1cb129a73e,
    0xe88235f52ebb4484,
    0xe99c7026b45f7e41,
    0x3991d639835339f4,
    0x9c845f8bbdf9283b,
    0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f,
    0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea,
    0x6bfb5fb11f8d5d08,
    0x56033046fc7b6bab,
];
