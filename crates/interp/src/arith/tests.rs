//! All modes on all operations, without the machine: functions are Rust closures over [`Value`]s.

use super::*;
use crate::perturb;
use crate::step::Step;
use crate::sweep;
use crate::tape::EntryView;
use crate::value::{Array, live_bytes};
use crate::walk;
use wengert_prim::cost::{JVP_FACTOR, VJP_FACTOR};

/// A function of reals.
type Function<'a> = &'a dyn Fn(&mut Context, &[Value]) -> Value;

fn numbers(xs: &[f64]) -> Vec<Value> {
    xs.iter().map(|x| Value::Real(*x)).collect()
}

fn tuple(values: &[Value]) -> Value {
    Value::Tuple(Rc::new(values.iter().cloned().collect()))
}

fn done(step: Step) -> Value {
    let Step::Done(value) = step else { panic!("no call expected") };
    value
}

/// The derivative of `f` in direction `i`, by forward mode.
fn forward_partial(cx: &mut Context, f: Function, xs: &[Value], i: usize) -> Value {
    let tag = cx.fresh_tag();
    let args: Vec<Value> = xs
        .iter()
        .enumerate()
        .map(|(j, x)| if i == j { with_tangent(tag, x.clone(), Some(Value::Real(1.0))) } else { x.clone() })
        .collect();
    let y = f(cx, &args);
    perturb::split_forward(cx, tag, &y).unwrap().1
}

/// The gradient of `f`, by reverse mode.
fn reverse_gradient(cx: &mut Context, f: Function, xs: &[Value]) -> Vec<Value> {
    let tape = Tape::new(cx.fresh_tag());
    let point = tuple(xs);
    let args = walk::children(&perturb::reverse_input(cx, &tape, &point).unwrap());
    let y = f(cx, &args);
    let map = sweep::linearization(cx, &tape, &point, &y).unwrap();
    walk::children(&done(sweep::apply_linear(cx, &map, true, &Value::Real(1.0)).unwrap())).to_vec()
}

/// The same partial derivative from the recorded map, run forward.
fn linearized_partial(cx: &mut Context, f: Function, xs: &[Value], i: usize) -> Value {
    let tape = Tape::new(cx.fresh_tag());
    let point = tuple(xs);
    let args = walk::children(&perturb::reverse_input(cx, &tape, &point).unwrap());
    let y = f(cx, &args);
    let map = sweep::linearization(cx, &tape, &point, &y).unwrap();
    let direction: Vec<f64> = (0..xs.len()).map(|j| if i == j { 1.0 } else { 0.0 }).collect();
    done(sweep::apply_linear(cx, &map, false, &tuple(&numbers(&direction))).unwrap())
}

/// Value and derivatives up to `order` of a function of one real.
fn taylor(cx: &mut Context, f: Function, x: f64, order: usize) -> Vec<f64> {
    let tag = cx.fresh_tag();
    let y = f(cx, &[series::input(tag, &Value::Real(x), order)]);
    series::coefficients(cx, tag, &y, order).unwrap().iter().map(primal).collect()
}

/// Value and derivatives by nested forward mode.
fn nested(cx: &mut Context, f: Function, x: Value, order: usize) -> Vec<f64> {
    let mut derivatives = vec![primal(&f(cx, std::slice::from_ref(&x)))];
    if order > 0 {
        let derivative: Function = &|cx, args| forward_partial(cx, f, args, 0);
        derivatives.extend(nested(cx, derivative, x, order - 1));
    }
    derivatives
}

fn close(actual: f64, expected: f64, tolerance: f64, what: &str) {
    let fine = (actual - expected).abs() <= tolerance * (1.0 + expected.abs())
        || actual.to_bits() == expected.to_bits();
    assert!(fine, "{what}: {actual} for {expected}");
}

/// A point in the domain of every operation but `acosh`.
fn point(op: RealOp) -> Vec<f64> {
    let x = if op == RealOp::Acosh { 1.7 } else { 0.6 };
    if op.arity() == 1 { vec![x] } else { vec![x, 1.3] }
}

#[test]
fn every_operation_has_its_derivative_in_every_mode() {
    let mut cx = Context::new();
    for op in RealOp::SAMPLES {
        let xs = point(*op);
        let f: Function = &|cx, args| real(cx, *op, args).unwrap();
        let gradient = reverse_gradient(&mut cx, f, &numbers(&xs));
        for (i, reverse) in gradient.iter().enumerate() {
            let expected = rules::rule(*op).partial(&xs, op.eval(&xs), i);
            let what = format!("{op:?} argument {i}");
            close(primal(&forward_partial(&mut cx, f, &numbers(&xs), i)), expected, 1e-14, &what);
            close(primal(reverse), expected, 1e-14, &what);
            close(primal(&linearized_partial(&mut cx, f, &numbers(&xs), i)), expected, 1e-14, &what);
        }
    }
}

#[test]
fn all_nestings_of_two_modes_agree() {
    let mut cx = Context::new();
    for op in RealOp::SAMPLES {
        // Arguments that depend on both variables in a way that keeps them in the domain.
        let f: Function = &|cx, args| {
            let product = real(cx, RealOp::Mul, args).unwrap();
            let args = [product, args[1].clone()];
            real(cx, *op, &args[..op.arity()]).unwrap()
        };
        let xs = if *op == RealOp::Acosh { numbers(&[1.3, 1.6]) } else { numbers(&[0.5, 1.2]) };
        for i in 0..2 {
            let by_forward: Function = &|cx, args| forward_partial(cx, f, args, i);
            let by_reverse: Function = &|cx, args| reverse_gradient(cx, f, args)[i].clone();
            let by_map: Function = &|cx, args| linearized_partial(cx, f, args, i);
            for j in 0..2 {
                let expected = primal(&forward_partial(&mut cx, by_forward, &xs, j));
                let what = format!("{op:?} {i} {j}");
                for inner in [by_reverse, by_map] {
                    close(primal(&forward_partial(&mut cx, inner, &xs, j)), expected, 1e-12, &what);
                    close(primal(&reverse_gradient(&mut cx, inner, &xs)[j]), expected, 1e-12, &what);
                    close(primal(&linearized_partial(&mut cx, inner, &xs, j)), expected, 1e-12, &what);
                }
                close(primal(&reverse_gradient(&mut cx, by_forward, &xs)[j]), expected, 1e-12, &what);
            }
        }
    }
}

#[test]
fn taylor_series_are_nested_derivatives() {
    let mut cx = Context::new();
    for op in RealOp::SAMPLES {
        let f: Function = &|cx, args| {
            let [x] = args else { panic!("one argument") };
            // x + x²/4 and 1.3 - x/8: series in which no coefficient is special.
            let square = real2(cx, RealOp::Mul, x, x).unwrap();
            let square = real2(cx, RealOp::Div, &square, &Value::Real(4.0)).unwrap();
            let first = real2(cx, RealOp::Add, x, &square).unwrap();
            let eighth = real2(cx, RealOp::Div, x, &Value::Real(8.0)).unwrap();
            let second = real2(cx, RealOp::Sub, &Value::Real(1.3), &eighth).unwrap();
            real(cx, *op, &[first, second][..op.arity()]).unwrap()
        };
        let x = if *op == RealOp::Acosh { 1.4 } else { 0.5 };
        let expected = nested(&mut cx, f, Value::Real(x), 5);
        let actual = taylor(&mut cx, f, x, 5);
        for (k, (actual, expected)) in actual.iter().zip(&expected).enumerate() {
            close(*actual, *expected, 1e-10, &format!("{op:?} order {k}"));
        }
    }
}

#[test]
fn derivatives_whose_factorial_overflows() {
    let mut cx = Context::new();
    // 1 / (10 - x) at 0: the derivative of order k is k! / 10^(k+1), finite up to order 246.
    let f: Function = &|cx, args| {
        let divisor = real2(cx, RealOp::Sub, &Value::Real(10.0), &args[0]).unwrap();
        real2(cx, RealOp::Div, &Value::Real(1.0), &divisor).unwrap()
    };
    let derivatives = taylor(&mut cx, f, 0.0, 240);
    let mut expected = 0.1;
    for (k, derivative) in derivatives.iter().enumerate() {
        if k > 0 {
            expected *= k as f64 / 10.0;
        }
        close(*derivative / expected, 1.0, 1e-12, &format!("order {k}"));
    }
}

#[test]
fn high_orders_take_polynomial_time() {
    let mut cx = Context::new();
    for op in [RealOp::Tanh, RealOp::Cosh, RealOp::Gamma, RealOp::Tan, RealOp::Asinh, RealOp::PowInt(33)] {
        let f: Function = &|cx, args| real(cx, op, args).unwrap();
        cx.flops = 0;
        let derivatives = taylor(&mut cx, f, 0.4, 40);
        assert_eq!(derivatives.len(), 41);
        assert!(cx.flops < 40 * 40 * 40 * 8, "{op:?}: {}", cx.flops);
    }
    let f: Function = &|cx, args| real1(cx, RealOp::Cosh, &args[0]).unwrap();
    let derivatives = taylor(&mut cx, f, 0.0, 170);
    assert_eq!(&derivatives[..4], &[1.0, 0.0, 1.0, 0.0]);
    assert_eq!(derivatives.len(), 171);
    for (k, derivative) in derivatives.iter().enumerate().filter(|(k, _)| k % 2 == 0) {
        close(*derivative, 1.0, 1e-10, &format!("order {k}"));
    }
}

/// A straight-line program of the given operations over two inputs, each applied to the last results.
fn program(ops: &[RealOp]) -> impl Fn(&mut Context, &[Value]) -> Value {
    let ops = ops.to_vec();
    move |cx, args| {
        let mut values = args.to_vec();
        for op in &ops {
            let operands: Vec<Value> = values.iter().rev().take(op.arity()).cloned().collect();
            let result = real(cx, *op, &operands).unwrap();
            values.push(result);
        }
        values.pop().unwrap()
    }
}

#[test]
fn derivatives_keep_the_cost_promise() {
    let mut random = 12345_u64;
    let mut next = |below: usize| {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (random >> 33) as usize % below
    };
    let mut programs: Vec<Vec<RealOp>> = RealOp::SAMPLES.iter().map(|op| vec![*op]).collect();
    for _ in 0..200 {
        let length = 1 + next(30);
        programs.push((0..length).map(|_| RealOp::SAMPLES[next(RealOp::SAMPLES.len())]).collect());
    }
    for ops in programs {
        let f = program(&ops);
        let xs = numbers(&[0.6, 1.3]);
        let mut cx = Context::new();
        f(&mut cx, &xs);
        let cost = cx.flops;
        cx.flops = 0;
        let tag = cx.fresh_tag();
        let point = tuple(&xs);
        let direction = tuple(&numbers(&[0.3, 0.7]));
        let args = walk::children(&perturb::forward_input(&mut cx, tag, &point, &direction).unwrap());
        f(&mut cx, &args);
        assert!(cx.flops <= JVP_FACTOR * cost, "jvp of {ops:?}: {} for {cost}", cx.flops);
        cx.flops = 0;
        reverse_gradient(&mut cx, &f, &xs);
        assert!(cx.flops <= VJP_FACTOR * cost, "vjp of {ops:?}: {} for {cost}", cx.flops);
    }
}

#[test]
fn zeros_are_strong() {
    let mut cx = Context::new();
    // min 1 (1/x) at 0, in which 1/x has an infinite derivative that does not count.
    let f: Function = &|cx, args| {
        let inverse = real2(cx, RealOp::Div, &Value::Real(1.0), &args[0]).unwrap();
        real2(cx, RealOp::Min, &Value::Real(1.0), &inverse).unwrap()
    };
    assert_eq!(primal(&forward_partial(&mut cx, f, &numbers(&[0.0]), 0)), 0.0);
    assert_eq!(primal(&reverse_gradient(&mut cx, f, &numbers(&[0.0]))[0]), 0.0);
    assert_eq!(taylor(&mut cx, f, 0.0, 3), [1.0, 0.0, 0.0, 0.0]);
    // sqrt (x²)² at 0.
    let f: Function = &|cx, args| {
        let square = real1(cx, RealOp::PowInt(2), &args[0]).unwrap();
        let root = real1(cx, RealOp::Sqrt, &square).unwrap();
        real1(cx, RealOp::PowInt(2), &root).unwrap()
    };
    assert_eq!(primal(&forward_partial(&mut cx, f, &numbers(&[0.0]), 0)), 0.0);
    assert_eq!(primal(&reverse_gradient(&mut cx, f, &numbers(&[0.0]))[0]), 0.0);
}

#[test]
fn constants_cost_nothing_and_stay_plain() {
    let mut cx = Context::new();
    let tag = cx.fresh_tag();
    let x = with_tangent(tag, Value::Real(2.0), Some(Value::Real(0.0)));
    assert!(matches!(x, Value::Real(_)));
    let x = with_tangent(tag, Value::Real(2.0), Some(Value::Real(1.0)));
    for (op, expected) in [(RealOp::Sign, 1.0), (RealOp::PowInt(0), 1.0)] {
        let result = real1(&mut cx, op, &x).unwrap();
        assert!(matches!(result, Value::Real(y) if y == expected), "{op:?}");
    }
    let tape = Tape::new(cx.fresh_tag());
    let x = perturb::reverse_input(&mut cx, &tape, &Value::Real(2.0)).unwrap();
    let before = tape.len();
    real2(&mut cx, RealOp::Add, &x, &Value::Real(1.0)).unwrap();
    assert_eq!(tape.len(), before, "an entry for a sum with a constant");
    real2(&mut cx, RealOp::Max, &Value::Real(3.0), &x).unwrap();
    assert_eq!(tape.len(), before, "an entry for a constant that was chosen");
    real2(&mut cx, RealOp::Max, &x, &Value::Real(1.0)).unwrap();
    assert_eq!(tape.len(), before + 1, "cotangents of what was chosen are added up apart");
}

#[test]
fn tangents_of_custom_rules_may_only_be_used_linearly() {
    let mut cx = Context::new();
    let tape = Tape::new(cx.fresh_tag());
    let x = perturb::reverse_input(&mut cx, &tape, &Value::Real(2.0)).unwrap();
    let t = perturb::linear_tangent(&mut cx, &tape, &x, false).unwrap();
    let three = Value::Real(3.0);
    for (op, args) in [
        (RealOp::Mul, [t.clone(), three.clone()]),
        (RealOp::Mul, [x.clone(), t.clone()]),
        (RealOp::Div, [t.clone(), x.clone()]),
        (RealOp::Add, [t.clone(), t.clone()]),
        (RealOp::Sub, [Value::Real(0.0), t.clone()]),
    ] {
        let result = real(&mut cx, op, &args).unwrap();
        assert_eq!(primal(&result), 0.0);
        assert!(observe(&result).is_err(), "{op:?} loses the mark");
    }
    for (op, args) in [
        (RealOp::Mul, [t.clone(), t.clone()]),
        (RealOp::Div, [three.clone(), t.clone()]),
        (RealOp::Add, [t.clone(), three.clone()]),
        (RealOp::Add, [x.clone(), t.clone()]),
        (RealOp::Max, [t.clone(), three.clone()]),
        (RealOp::Pow, [t.clone(), three.clone()]),
    ] {
        let failure = real(&mut cx, op, &args).map(|_| ()).unwrap_err();
        assert!(failure.0.message.contains("custom_jvp"), "{op:?}: {}", failure.0.message);
    }
    for op in RealOp::SAMPLES.iter().filter(|op| op.arity() == 1) {
        let is_linear = matches!(op, RealOp::Neg | RealOp::PowInt(0 | 1));
        assert_eq!(real1(&mut cx, *op, &t).is_ok(), is_linear, "{op:?}");
    }
    let scaled = real2(&mut cx, RealOp::Mul, &t, &three).unwrap();
    perturb::end_linear(&tape, &scaled).unwrap();
    let sum = perturb::add_linear(&mut cx, &tape, &x, &scaled).unwrap();
    assert!(observe(&sum).is_ok() && observe(&t).is_ok(), "the marks are gone when the rule has run");
    for (wrong, what) in [(&three, "a constant tangent"), (&x, "a tangent that is no tangent")] {
        perturb::linear_tangent(&mut cx, &tape, &x, false).unwrap();
        assert!(perturb::end_linear(&tape, wrong).is_err(), "{what}");
    }
}

#[test]
fn a_tape_is_compact_and_is_given_back() {
    let before = live_bytes();
    {
        let mut cx = Context::new();
        let tape = Tape::new(cx.fresh_tag());
        let mut x = perturb::reverse_input(&mut cx, &tape, &Value::Real(1.0)).unwrap();
        let steps = 1 << 16;
        let empty = live_bytes();
        for _ in 0..steps {
            x = real2(&mut cx, RealOp::Mul, &x, &x).unwrap();
        }
        let each = (live_bytes() - empty) / steps;
        assert!(each <= 64 + 2 * 16, "{each} bytes for a product");
        assert_eq!(tape.len() as u64, steps + 1);
    }
    assert_eq!(live_bytes(), before);
}

#[test]
fn deep_towers_do_not_overflow_the_stack() {
    let mut cx = Context::new();
    let mut x = Value::Real(1.0);
    for _ in 0..20_000 {
        x = with_tangent(cx.fresh_tag(), x, Some(Value::Real(1.0)));
    }
    let sum = real2(&mut cx, RealOp::Add, &x, &x).unwrap();
    assert_eq!(primal(&sum), 2.0);
    assert!(perturb::largest_tag(&sum).is_some());
    assert!(matches!(perturb::strip_all(&sum), Value::Real(y) if y == 2.0));
}

#[test]
fn inputs_of_arrays_stay_arrays() {
    let mut cx = Context::new();
    let tape = Tape::new(cx.fresh_tag());
    let xs = walk::array(numbers(&[1.0, 2.0]));
    let lifted = perturb::reverse_input(&mut cx, &tape, &xs).unwrap();
    assert_eq!(tape.len(), 2);
    let Value::Array(back) = perturb::strip(tape.tag(), &lifted) else { panic!("an array") };
    assert!(matches!(&*back, Array::Reals(reals) if reals.as_slice() == [1.0, 2.0]));
}

#[test]
fn the_fast_case_is_the_general_one() {
    let mut random = 7_u64;
    let mut next = || {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (random >> 40) as f64 / 1e6 - 8.0
    };
    for op in [RealOp::Add, RealOp::Sub, RealOp::Mul, RealOp::Div] {
        for case in 0..60 {
            let mut cx = Context::new();
            let tag = cx.fresh_tag();
            let (x, y) =
                (Value::Real(next()), if case % 10 == 9 { Value::Real(0.0) } else { Value::Real(next()) });
            let tangent = |wanted: bool, value: f64| wanted.then_some(Value::Real(value));
            let args = [
                with_tangent(tag, x.clone(), tangent(case % 3 != 1, next())),
                with_tangent(tag, y.clone(), tangent(case % 3 != 2, next())),
            ];
            cx.flops = 0;
            let fast = real2(&mut cx, op, &args[0], &args[1]).unwrap();
            let fast_flops = std::mem::take(&mut cx.flops);
            let general = perturbed(&mut cx, op, &args).unwrap();
            assert_eq!((primal(&fast), fast_flops), (primal(&general), cx.flops), "{op:?}");
            let dot = |value: &Value| tangent_under(value, tag).map(|tangent| primal(&tangent).to_bits());
            assert_eq!(dot(&fast), dot(&general), "{op:?}");
            // In reverse mode, both record the same entry.
            let tape = Tape::new(cx.fresh_tag());
            let lift = |cx: &mut Context, wanted: bool, x: &Value| {
                if wanted { perturb::reverse_input(cx, &tape, x).unwrap() } else { x.clone() }
            };
            let args = [lift(&mut cx, case % 3 != 1, &x), lift(&mut cx, case % 3 != 2, &y)];
            let fast = real2(&mut cx, op, &args[0], &args[1]).unwrap();
            let general = perturbed(&mut cx, op, &args).unwrap();
            let entry = |value: &Value| {
                let slot = slot_under(value, tape.tag()).unwrap() as usize;
                let mut coefs = tape.values().len();
                let end = (slot..tape.len()).rev();
                let mut view = None;
                for slot in end {
                    view = Some(tape.entry_before(slot, &mut coefs));
                }
                let Some(EntryView::Linear(entry)) = view else { return None };
                let number = |value: &Option<Value>| value.as_ref().map(|value| primal(value).to_bits());
                let terms = entry.terms.iter().map(|term| (term.slot, term.negative, number(&term.coef)));
                Some((terms.collect::<Vec<_>>(), number(&entry.divisor)))
            };
            assert_eq!(entry(&fast), entry(&general), "{op:?}");
        }
    }
}
