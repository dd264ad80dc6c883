//! What the functions are at zeros, infinities, NaN, and at and around the ends of their domains: as in the interpreter.

use wengert_prim::RealOp;
use wengert_vmath::{Function, function_of, scalar, unary};

/// Numbers at which something special happens, and their neighbors.
fn edges() -> Vec<f64> {
    let magnitudes = [
        0.0,
        5e-324,
        1e-310,
        f64::MIN_POSITIVE,
        1e-300,
        1e-30,
        0.5,
        1.0,
        // The root of the derivative of the logarithm of the gamma function.
        1.4616321449683622,
        1.5,
        2.0,
        2.5,
        3.0,
        4.0,
        5.0,
        700.0,
        708.3964185322641,
        709.782712893384,
        710.4758600739439,
        745.1332191019411,
        800.0,
        4503599627370496.0,
        4503599627370497.0,
        9007199254740991.0,
        9007199254740992.0,
        1e30,
        1e300,
        // Beyond, the logarithm of the gamma function is infinite.
        2.559983327851638e305,
        f64::MAX,
        f64::INFINITY,
    ];
    let around = |x: f64| {
        let near = [x.next_down(), x, x.next_up()];
        near.into_iter().filter(|x| *x >= 0.0)
    };
    let positive: Vec<f64> = magnitudes.iter().flat_map(|x| around(*x)).collect();
    positive.iter().flat_map(|x| [*x, -x]).chain([-0.0, f64::NAN, -f64::NAN]).collect()
}

/// Whether two results are equally special, or both ordinary and near.
fn agree(ours: f64, theirs: f64) -> bool {
    if ours.is_nan() || theirs.is_nan() {
        return ours.is_nan() && theirs.is_nan();
    }
    if ours == theirs {
        return ours.is_sign_negative() == theirs.is_sign_negative();
    }
    // Neighbors, infinity being that of the largest number.
    ours.is_sign_negative() == theirs.is_sign_negative()
        && ours.abs().to_bits().abs_diff(theirs.abs().to_bits()) <= 4
}

#[test]
fn edges_are_as_in_the_interpreter() {
    let mut wrong = Vec::new();
    for op in RealOp::SAMPLES {
        let Some(function) = function_of(*op) else { continue };
        for x in edges() {
            for y in if function.arity() == 2 { edges() } else { vec![0.0] } {
                let theirs = if function.arity() == 2 { op.eval2(x, y) } else { op.eval1(x) };
                for ours in [scalar::<true>(function, x, y), scalar::<false>(function, x, y)] {
                    if !agree(ours, theirs) {
                        wrong.push(format!("{} {x:e} {y:e}: {ours:e}, not {theirs:e}", function.name()));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong[..wrong.len().min(60)].join("\n"));
}

#[test]
fn every_operation_with_a_kernel_is_known() {
    let known = RealOp::SAMPLES.iter().filter(|op| function_of(**op).is_some()).count();
    // The power of 2 is no operation of the language.
    assert_eq!(known + 1, Function::ALL.len());
}

#[test]
fn powers_of_two_are_exact() {
    for n in -1074..=1023 {
        let exact = if n < -1022 { f64::from_bits(1 << (n + 1074)) } else { 2f64.powi(n) };
        assert_eq!(scalar::<true>(Function::Exp2, f64::from(n), 0.0), exact);
        assert_eq!(scalar::<true>(Function::Log2, exact, 0.0), f64::from(n));
    }
    for n in 0..=22 {
        assert_eq!(scalar::<true>(Function::Log10, 10f64.powi(n), 0.0), f64::from(n));
    }
    for n in 1..=200 {
        let x = f64::from(n);
        assert_eq!(scalar::<true>(Function::Cbrt, x * x * x, 0.0), x);
        assert_eq!(scalar::<true>(Function::Pow, x, 2.0), x * x);
        assert_eq!(scalar::<true>(Function::Hypot, 3.0 * x, 4.0 * x), 5.0 * x);
    }
}

/// One number alone may take a shorter way than numbers in a block.
#[test]
fn one_number_has_the_bits_that_it_has_in_a_block() {
    let mut xs = edges();
    // Through the border up to which there is nothing to reduce, and beyond.
    xs.extend((-20_000..20_000).map(|k| f64::from(k) * 0.000_1));
    xs.extend([0.785, -0.785, 0.785f64.next_up(), 0.785f64.next_down()]);
    // Through the pieces of `lgamma` and `digamma`.
    xs.extend((2_000..20_000).map(|k| f64::from(k) * 0.001));
    for function in Function::ALL.iter().filter(|function| function.arity() == 1) {
        let (mut fused, mut split) = (xs.clone(), xs.clone());
        unary::<true>(*function, &mut fused);
        unary::<false>(*function, &mut split);
        for ((x, fused), split) in xs.iter().zip(fused).zip(split) {
            let same = |a: f64, b: f64| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
            assert!(same(fused, scalar::<true>(*function, *x, 0.0)), "{} {x:e}", function.name());
            assert!(same(split, scalar::<false>(*function, *x, 0.0)), "{} {x:e}", function.name());
        }
    }
}
