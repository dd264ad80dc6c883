//! Vector math on blocks of numbers, for the kind of processor that this is.
//!
//! The kernels of `wengert_vmath` are compiled several times, with what different processors have; which to use is found
//! out once. All kinds with a fused multiply-add give the same bits.

use super::heap::{words, words_mut};
#[cfg(target_arch = "x86_64")]
use super::processor;
use std::cell::RefCell;
use std::ffi::c_void;
use std::sync::OnceLock;
use wengert_vmath::{Function, binary, scalar, unary};

/// A function on each of some numbers, or on pairs of them, in place of the first.
type Unary = fn(Function, &mut [f64]);
type Binary = fn(Function, &mut [f64], &[f64]);

/// A function for the code generator: its name among the functions of reals, and its address.
type Symbol = (&'static str, *const u8);

/// The kernels for a kind of processor.
#[derive(Clone, Copy)]
struct Kernels {
    name: &'static str,
    unary: Unary,
    binary: Binary,
    scalars: fn() -> Vec<Symbol>,
}

/// The kernels for this processor.
fn kernels() -> Kernels {
    static CHOSEN: OnceLock<Kernels> = OnceLock::new();
    *CHOSEN.get_or_init(|| available().last().copied().unwrap_or(PLAIN))
}

const PLAIN: Kernels =
    Kernels { name: "plain", unary: plain::unary, binary: plain::binary, scalars: plain::scalars };

/// The functions one number at a time, with the same bits as the kernels give; in place of those of `math`.
pub(crate) fn scalars() -> Vec<Symbol> {
    (kernels().scalars)()
}

/// Functions of one or two numbers for the code generator, compiled with some attributes.
macro_rules! scalars {
    (@ $fused:expr, $attributes:tt, $($one:ident $one_name:literal)*; $($two:ident $two_name:literal)*) => {
        /// See [`super::scalars`].
        pub(super) fn scalars() -> Vec<super::Symbol> {
            vec![
                $({
                    scalars!(# $attributes, extern "C" fn call(x: f64) -> f64 {
                        super::scalar::<{ $fused }>(Function::$one, x, x)
                    });
                    ($one_name, call as *const u8)
                },)*
                $({
                    scalars!(# $attributes, extern "C" fn call(x: f64, y: f64) -> f64 {
                        super::scalar::<{ $fused }>(Function::$two, x, y)
                    });
                    ($two_name, call as *const u8)
                },)*
            ]
        }
    };
    (# [$(#[$attribute:meta])*], $item:item) => { $(#[$attribute])* $item };
    ($fused:expr, $attributes:tt) => {
        scalars!(
            @ $fused, $attributes,
            Exp "real_exp" Expm1 "real_expm1" Log "real_log" Log2 "real_log2" Log10 "real_log10" Log1p "real_log1p"
            Cbrt "real_cbrt" Sin "real_sin" Cos "real_cos" Tan "real_tan" Asin "real_asin" Acos "real_acos"
            Atan "real_atan" Sinh "real_sinh" Cosh "real_cosh" Tanh "real_tanh" Asinh "real_asinh"
            Acosh "real_acosh" Atanh "real_atanh" Sigmoid "real_sigmoid" Softplus "real_softplus" Erf "real_erf" Erfc "real_erfc"
            Lgamma "real_lgamma" Digamma "real_digamma";
            Pow "real_pow" Atan2 "real_atan2" Hypot "real_hypot"
        );
    };
}

/// The kernels that this processor can run, the best last.
fn available() -> Vec<Kernels> {
    let mut all = vec![PLAIN];
    #[cfg(target_arch = "x86_64")]
    {
        all.extend(processor::has_avx2().then_some(avx2::KERNELS));
        all.extend(processor::has_avx512().then_some(avx512::KERNELS));
    }
    all
}

/// What every processor of this architecture has; among the 64-bit ARM ones that includes a fused multiply-add.
mod plain {
    use super::Function;

    const FUSED: bool = cfg!(target_arch = "aarch64");

    pub(super) fn unary(function: Function, data: &mut [f64]) {
        super::unary::<FUSED>(function, data);
    }
    pub(super) fn binary(function: Function, data: &mut [f64], second: &[f64]) {
        super::binary::<FUSED>(function, data, second);
    }
    scalars!(FUSED, []);
}

#[cfg(target_arch = "x86_64")]
macro_rules! level {
    ($module:ident, $features:literal, $doc:literal) => {
        #[doc = $doc]
        mod $module {
            use super::{Function, Kernels};

            /// Chosen only where the processor has the features.
            pub(super) const KERNELS: Kernels =
                Kernels { name: stringify!($module), unary, binary, scalars };

            #[target_feature(enable = $features)]
            fn unary_here(function: Function, data: &mut [f64]) {
                super::unary::<true>(function, data);
            }
            #[target_feature(enable = $features)]
            fn binary_here(function: Function, data: &mut [f64], second: &[f64]) {
                super::binary::<true>(function, data, second);
            }
            scalars!(true, [#[target_feature(enable = $features)]]);
            fn unary(function: Function, data: &mut [f64]) {
                // SAFETY: these kernels are only available where the processor has the features.
                unsafe { unary_here(function, data) };
            }
            fn binary(function: Function, data: &mut [f64], second: &[f64]) {
                // SAFETY: as above.
                unsafe { binary_here(function, data, second) };
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
level!(avx2, "avx2,fma", "Vectors of four numbers.");
#[cfg(target_arch = "x86_64")]
level!(avx512, "avx512f,avx512dq,avx512vl,avx2,fma", "Vectors of eight numbers.");

/// A kind of kernels, to compare it with others.
pub struct Level {
    /// What the processor needs.
    pub name: &'static str,
    /// A function of one argument on each number.
    pub unary: fn(Function, &mut [f64]),
    /// A function of two arguments on each pair, in place of the first.
    pub binary: fn(Function, &mut [f64], &[f64]),
}

/// The kinds of kernels that this processor can run, the best last.
pub fn levels() -> Vec<Level> {
    let level = |kernels: Kernels| Level { name: kernels.name, unary: kernels.unary, binary: kernels.binary };
    available().into_iter().map(level).collect()
}

/// See [`crate::loops::Runtime::Map`].
pub(crate) unsafe extern "C" fn map(_: *mut c_void, function: u64, data: u64, second: u64, count: i64) {
    let place = usize::try_from(function).unwrap_or(usize::MAX);
    let Some(function) = Function::ALL.get(place) else { return };
    let data = words_mut::<f64>(data, count);
    if function.arity() == 1 {
        (kernels().unary)(*function, data);
    } else {
        (kernels().binary)(*function, data, words::<f64>(second, count));
    }
}

/// A line of the cache.
type Line = Aligned<[u64; 8]>;

#[repr(align(64))]
#[derive(Clone, Copy)]
struct Aligned<T>(T);

thread_local! {
    static SCRATCH: RefCell<Vec<Line>> = const { RefCell::new(Vec::new()) };
}

/// See [`crate::loops::Runtime::Scratch`]. Loops that use it call nothing that may ask for it again.
pub(crate) unsafe extern "C" fn scratch(_: *mut c_void, words: i64) -> u64 {
    let lines = usize::try_from(words).unwrap_or(0).div_ceil(8);
    SCRATCH.with_borrow_mut(|scratch| {
        if scratch.len() < lines {
            scratch.resize(lines, Aligned([0; 8]));
        }
        scratch.as_mut_ptr() as u64
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers small and large, and what is no number.
    fn numbers(count: usize) -> Vec<f64> {
        let ordinary = |k: usize| (k as f64 * 0.377).sin() * 10f64.powi((k % 9) as i32 - 3);
        let special = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e300, -3e-310, 1e10, 710.0];
        (0..count).map(|k| if k % 7 == 3 { special[k / 7 % special.len()] } else { ordinary(k) }).collect()
    }

    fn same(a: f64, b: f64) -> bool {
        a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
    }

    #[test]
    fn all_kernels_give_the_bits_of_the_description() {
        for kernels in available() {
            let expected = if kernels.name == "plain" && !cfg!(target_arch = "aarch64") {
                scalar::<false>
            } else {
                scalar::<true>
            };
            for count in [0, 1, 7, 63, 64, 65, 200] {
                let (x, y) = (numbers(count), numbers(count + 5).split_off(5));
                for function in Function::ALL {
                    let mut found = x.clone();
                    if function.arity() == 1 {
                        (kernels.unary)(*function, &mut found);
                    } else {
                        (kernels.binary)(*function, &mut found, &y);
                    }
                    for ((x, y), found) in x.iter().zip(&y).zip(&found) {
                        let expected = expected(*function, *x, *y);
                        assert!(same(*found, expected), "{} {function:?} {x:e} {y:e}", kernels.name);
                    }
                }
            }
        }
    }

    #[test]
    fn every_function_that_is_called_has_a_scalar_form() {
        use crate::runtime::math;
        let known: Vec<&str> = scalars().iter().map(|(name, _)| *name).collect();
        let called = math::UNARY
            .iter()
            .map(|(op, name, _)| (*op, *name))
            .chain(math::BINARY.iter().map(|(op, name, _)| (*op, *name)));
        for (op, name) in called {
            let has_kernel = wengert_vmath::function_of(op).is_some();
            assert_eq!(known.contains(&name), has_kernel, "{name}");
        }
    }
}
