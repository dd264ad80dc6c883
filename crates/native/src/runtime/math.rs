//! Functions of reals.

use std::ffi::c_void;
use wengert_prim::RealOp;

/// A function of one real.
pub(crate) type Unary = extern "C" fn(f64) -> f64;
/// A function of two reals.
pub(crate) type Binary = extern "C" fn(f64, f64) -> f64;

macro_rules! unary {
    ($($op:ident $name:ident)*) => {
        $(extern "C" fn $name(x: f64) -> f64 { RealOp::$op.eval1(x) })*

        /// The functions of one real that are called, each with a name for the linker.
        pub(crate) const UNARY: &[(RealOp, &str, Unary)] =
            &[$((RealOp::$op, concat!("real_", stringify!($name)), $name)),*];
    };
}

macro_rules! binary {
    ($($op:ident $name:ident)*) => {
        $(extern "C" fn $name(x: f64, y: f64) -> f64 { RealOp::$op.eval2(x, y) })*

        /// The functions of two reals that are called.
        pub(crate) const BINARY: &[(RealOp, &str, Binary)] =
            &[$((RealOp::$op, concat!("real_", stringify!($name)), $name)),*];
    };
}

unary! {
    Exp exp Expm1 expm1 Log log Log1p log1p Log2 log2 Log10 log10 Cbrt cbrt Sin sin Cos cos Tan tan
    Asin asin Acos acos Atan atan Sinh sinh Cosh cosh Tanh tanh Asinh asinh Acosh acosh Atanh atanh
    Gamma gamma Lgamma lgamma Digamma digamma Erf erf Erfc erfc Sigmoid sigmoid Softplus softplus
}

binary! { Pow pow Atan2 atan2 Hypot hypot }

/// See [`crate::loops::Runtime::Power`].
pub(crate) unsafe extern "C" fn power(_: *mut c_void, base: f64, exponent: i64) -> f64 {
    RealOp::PowInt(exponent).eval1(base)
}

/// See [`crate::loops::Runtime::Polygamma`].
pub(crate) unsafe extern "C" fn polygamma(_: *mut c_void, order: i64, x: f64) -> f64 {
    match u32::try_from(order) {
        Ok(0) => RealOp::Digamma.eval1(x),
        Ok(order) => RealOp::Polygamma(order).eval1(x),
        Err(_) => f64::NAN,
    }
}

/// See [`crate::loops::Runtime::IntPower`].
pub(crate) unsafe extern "C" fn int_power(_: *mut c_void, base: i64, exponent: i64) -> i64 {
    let (mut square, mut result, mut rest) = (base, 1_i64, exponent);
    while rest > 0 {
        if rest & 1 == 1 {
            result = result.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        rest >>= 1;
    }
    result
}
