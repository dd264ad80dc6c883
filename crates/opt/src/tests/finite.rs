//! Products in which a zero wins over an infinity, and where they may be ordinary ones.

use crate::finite;
use wengert_ir::eval::{Evaluator, Limits, Value};
use wengert_ir::op::Op;
use wengert_ir::{Program, parse};
use wengert_prim::RealOp;

/// What is computed of a number.
const STEPS: &[&str] = &[
    "-@",
    "@ + @",
    "@ * @",
    "2.0 * @",
    "0.25 * @",
    "1e-200 * @",
    "@ + 1.0",
    "@ - 1.0",
    "3.0 - @",
    "@ - 1e200",
    "sqrt(@)",
    "exp(@)",
    "log(@)",
    "sin(@)",
    "cosh(@)",
    "tanh(@)",
    "1.0 / @",
    "abs(@)",
    "3.0 / @",
    "sigmoid(@)",
    "sign(@)",
    "min(@, 1.0)",
    BELOW_ONE,
];

/// 1 below 1 and 0 from there on.
const BELOW_ONE: &str = "c# = @ < 1.0 d# = 1.0 <= @ e# = select(d#, 0.0, NaN) t# = select(c#, 1.0, e#)";

const POINTS: &[f64] = &[
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1.5,
    3.0,
    4.0,
    -3.0,
    2.0,
    1e3,
    1e160,
    1e200,
    1e308,
    -1e308,
    5e-324,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

/// A product of what some steps make of `x`, and of what others do.
fn product(first: &[&str], second: &[&str]) -> Program {
    let mut text = String::from("func f(x: Real) -> Real {\n");
    let mut count = 0;
    let mut ends = Vec::new();
    for steps in [first, second] {
        let mut last = String::from("x");
        for step in steps {
            count += 1;
            let line = if step.contains('#') { (*step).to_owned() } else { format!("t# = {step}") };
            text += &(line.replace('@', &last).replace('#', &count.to_string()) + "\n");
            last = format!("t{count}");
        }
        ends.push(last);
    }
    text += &format!("y = mul_zero({}, {}) return y }} entry f = f", ends[0], ends[1]);
    parse(&text).expect("the text is a program")
}

fn is_ordinary(program: &Program) -> bool {
    let mut found = false;
    for (_, func) in program.funcs.iter() {
        func.body.for_each_stmt(&mut |stmt| found |= matches!(stmt.op, Op::Real(RealOp::MulZero, _)));
    }
    !found
}

fn at(program: &Program, x: f64) -> f64 {
    let entry = *program.entries.values().next().expect("it has an entry");
    let given = Evaluator::new(program, Limits::default()).call(entry, vec![Value::Real(x)]);
    match given.expect("it does not fail").as_slice() {
        [Value::Real(y)] => *y,
        other => panic!("{other:?}"),
    }
}

#[test]
fn ordinary_products_give_the_same() {
    let mut sequences: Vec<Vec<&str>> = vec![Vec::new()];
    sequences.extend(STEPS.iter().map(|step| vec![*step]));
    sequences.extend(STEPS.iter().flat_map(|first| STEPS.iter().map(|second| vec![*first, *second])));
    let mut count = 0;
    for first in &sequences {
        for second in &sequences {
            let before = product(first, second);
            let mut after = before.clone();
            finite::run(&mut after);
            if !is_ordinary(&after) {
                continue;
            }
            count += 1;
            for x in POINTS {
                let (wanted, got) = (at(&before, *x), at(&after, *x));
                let same = wanted == got || (wanted.is_nan() && got.is_nan());
                assert!(same, "{first:?} * {second:?} at {x:e}: {wanted} is now {got}");
            }
        }
    }
    assert!(count > 1000, "only {count} products are ordinary");
}

#[test]
fn what_a_person_would_write_without_a_thought_is_ordinary() {
    for (first, second) in [
        (vec!["2.0 * @"], vec!["2.0 * @", "3.0 - @"]),
        (vec!["@ + @"], vec!["2.0 * @", "3.0 - @"]),
        (vec![], vec!["@ * @", "cos(@)"]),
        (vec![], vec!["@ * @", "@ + 1.0", "sqrt(@)"]),
        (vec!["3.0 - @"], vec!["@ - 1.0"]),
        (vec!["@ - 1.0"], vec!["@ * @", "@ - 1.0"]),
        (vec!["sin(@)", "2.0 * @"], vec!["cos(@)"]),
        (vec!["sin(@)", "exp(@)"], vec!["cos(@)"]),
        (vec!["1.0 / @"], vec!["3.0 / @"]),
        (vec!["sigmoid(@)", "1.0 - @"], vec!["sigmoid(@)"]),
        (vec!["@ - 1.0", "sign(@)"], vec!["sign(@)"]),
        (vec![BELOW_ONE], vec!["abs(@)", BELOW_ONE]),
    ] {
        let mut program = product(&first, &second);
        finite::run(&mut program);
        assert!(is_ordinary(&program), "{first:?} * {second:?}");
    }
    for (first, second) in [
        (vec![], vec!["1.0 / @"]),
        (vec![], vec!["log(@)"]),
        (vec![], vec!["@ - 1.0", "sqrt(@)"]),
        (vec!["2.0 * @"], vec!["@ - 1.0", "sqrt(@)"]),
        (vec!["@ - 1e200"], vec!["@ * @"]),
        (vec!["@ - 1.0"], vec!["@ - 1.0", "1.0 / @"]),
        (vec!["sin(@)"], vec!["exp(@)", "exp(@)"]),
        (vec!["1.0 / @"], vec!["sin(@)", "cos(@)"]),
        (vec![BELOW_ONE], vec![]),
    ] {
        let mut program = product(&first, &second);
        finite::run(&mut program);
        assert!(!is_ordinary(&program), "{first:?} * {second:?}");
    }
}
