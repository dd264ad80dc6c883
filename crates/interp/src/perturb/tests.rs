//! Lifting, stripping and renaming, on towers and inside functions.

use super::*;
use crate::value::Array;

fn real(x: f64) -> Value {
    Value::Real(x)
}

fn tuple(values: impl IntoIterator<Item = Value>) -> Value {
    Value::Tuple(Rc::new(values.into_iter().collect()))
}

/// A function that has captured a value, for walks only: it is never applied.
fn capturing(value: Value) -> Value {
    let func = Value::Bool(true);
    Value::Fun(Rc::new(Fun::Partial { func, args: [value].into_iter().collect() }))
}

fn captured(function: &Value) -> Value {
    let Value::Fun(fun) = function else { panic!("a function") };
    let Fun::Partial { args, .. } = &**fun else { panic!("a partial application") };
    args.get(0).unwrap().clone()
}

/// `1 + 2a + (3 + 4a) b`
fn tower(a: Tag, b: Tag) -> Value {
    let inner = |primal, tangent| with_tangent(a, real(primal), Some(real(tangent)));
    with_tangent(b, inner(1.0, 2.0), Some(inner(3.0, 4.0)))
}

/// The coefficients `[1, a, b, ab]` of a real.
fn coefficients(a: Tag, b: Tag, value: &Value) -> [f64; 4] {
    let zero = || real(0.0);
    let (without_b, with_b) = split_real(b, value).unwrap();
    let (one, just_a) = split_real(a, &without_b).unwrap();
    let (just_b, both) = split_real(a, &with_b.unwrap_or_else(zero)).unwrap();
    [one, just_a.unwrap_or_else(zero), just_b, both.unwrap_or_else(zero)].map(|part| arith::primal(&part))
}

#[test]
fn a_tag_is_stripped_at_every_level() {
    let (a, b) = (Tag(1), Tag(2));
    assert_eq!(coefficients(a, b, &tower(a, b)), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(coefficients(a, b, &strip(b, &tower(a, b))), [1.0, 2.0, 0.0, 0.0]);
    assert_eq!(coefficients(a, b, &strip(a, &tower(a, b))), [1.0, 0.0, 3.0, 0.0]);
    assert_eq!(coefficients(a, b, &strip_all(&tower(a, b))), [1.0, 0.0, 0.0, 0.0]);
}

#[test]
fn a_renamed_tag_is_outermost() {
    let (a, b, fresh) = (Tag(1), Tag(2), Tag(3));
    let renamed = rename(a, fresh, &tower(a, b)).unwrap();
    let Value::Active(active) = &renamed else { panic!("perturbed") };
    assert_eq!(active.tag, fresh);
    // The roles are exchanged: b is now the smaller tag.
    assert_eq!(coefficients(b, fresh, &renamed), [1.0, 3.0, 2.0, 4.0]);
    let product = arith::real2(&mut Context::new(), RealOp::Mul, &renamed, &renamed).unwrap();
    // (1 + 2a + 3b + 4ab)² = 1 + 4a + 6b + 20ab
    assert_eq!(coefficients(b, fresh, &product), [1.0, 6.0, 4.0, 20.0]);
}

#[test]
fn perturbations_are_found_in_what_functions_have_captured() {
    let (a, b) = (Tag(1), Tag(2));
    let function = capturing(tuple([tower(a, b), Value::Int(3)]));
    assert!(matches!(largest_tag(&function), Some((tag, Mode::Forward)) if tag == b));
    let plain = strip_all(&function);
    assert!(largest_tag(&plain).is_none());
    assert!(mentions(a, &function) && !mentions(a, &strip(a, &function)));
    // A bound tag is no tag of the function, and stays.
    let tangent = Value::Fun(Rc::new(Fun::TangentOf { tag: b, func: function }));
    assert!(matches!(largest_tag(&tangent), Some((tag, _)) if tag == a));
    assert!(is_unchanged(&strip(b, &tangent), &tangent));
    assert!(is_unchanged(&rename(b, Tag(9), &tangent).unwrap(), &tangent));
    assert!(largest_tag(&strip_all(&tangent)).is_none());
}

fn is_unchanged(a: &Value, b: &Value) -> bool {
    walk::is_same(a, b)
}

#[test]
fn what_does_not_change_is_not_copied() {
    let (a, b) = (Tag(1), Tag(2));
    let big = tuple((0..1000).map(|i| tuple([real(f64::from(i)), Value::Int(1)])));
    let value = tuple([big.clone(), capturing(tower(a, b)), capturing(big.clone())]);
    assert!(is_unchanged(&strip(Tag(7), &value), &value));
    let stripped = walk::children(&strip(b, &value));
    assert!(is_unchanged(&stripped[0], &big));
    assert!(is_unchanged(&captured(&stripped[2]), &big));
    assert_eq!(coefficients(a, b, &captured(&stripped[1])), [1.0, 2.0, 0.0, 0.0]);
}

#[test]
fn the_tangent_of_a_function_input_is_the_function_given() {
    let mut cx = Context::new();
    let (function, tangent) = (capturing(real(1.0)), capturing(real(2.0)));
    let tag = cx.fresh_tag();
    let lifted = forward_input(&mut cx, tag, &function, &tangent).unwrap();
    let (primal, dot) = split_forward(&mut cx, tag, &lifted).unwrap();
    assert!(is_unchanged(&primal, &function) && is_unchanged(&dot, &tangent));
    // A function that captured it is something else: its tangent has to be computed at each call.
    let (_, dot) = split_forward(&mut cx, tag, &capturing(lifted)).unwrap();
    assert!(matches!(&dot, Value::Fun(fun) if matches!(&**fun, Fun::TangentOf { .. })));
}

#[test]
fn slots_move_between_tapes_with_their_order() {
    let mut cx = Context::new();
    let tape = Tape::new(cx.fresh_tag());
    let point = tuple([real(1.0), walk::array([real(2.0), real(3.0)])]);
    let lifted = reverse_input(&mut cx, &tape, &point).unwrap();
    assert_eq!(tape.len(), 3);
    let [x, ys] = <[Value; 2]>::try_from(walk::children(&lifted).to_vec()).ok().unwrap();
    let noted =
        Fun::Reverse { tape: Rc::clone(&tape), slot: tape.add_leaf().unwrap(), primal: capturing(real(0.0)) };
    let function = Value::Fun(Rc::new(noted));
    let Value::Array(ys) = &ys else { panic!("an array") };
    assert!(matches!(&**ys, Array::Values(_)));
    // The second element first, twice, and hidden in a function.
    let second = walk::elements(ys).nth(1).unwrap();
    let value = tuple([capturing(second.clone()), second, x, function]);
    let other = Tape::new(cx.fresh_tag());
    let (moved, slots) = transfer(&mut cx, &tape, &other, &value).unwrap();
    assert_eq!(slots, [2, 0, 3]);
    let numbers = tuple([walk::children(&moved)[1].clone(), walk::children(&moved)[2].clone()]);
    assert_eq!(slots_on(&other, &numbers).unwrap(), [0, 1]);
    assert!(slots_on(&tape, &moved).unwrap().is_empty());
    // That of a function has no number for a cotangent.
    assert!(slots_on(&other, &moved).is_err());
    let tag = cx.fresh_tag();
    let tangents = |slot: u32| (slot != 1).then(|| real(f64::from(slot) + 10.0));
    let forward = with_tangents(&other, tag, &moved, &tangents).unwrap();
    let (primal, tangent) = split_forward(&mut cx, tag, &forward).unwrap();
    assert_eq!(arith::primal(&walk::children(&primal)[1]), 3.0);
    let tangent = walk::children(&tangent);
    assert_eq!((arith::primal(&tangent[1]), arith::primal(&tangent[2])), (10.0, 0.0));
    assert_eq!(arith::primal(&tangent[3]), 12.0, "the tangent of the function is what its slot holds");
}

#[test]
fn a_second_perturbation_under_one_tag_does_not_count() {
    let mut cx = Context::new();
    let (a, b) = (cx.fresh_tag(), cx.fresh_tag());
    // y + a·dy where dy itself has a part in a: that part vanishes.
    let dy = tower(a, b);
    let sum = plus_tangent(&mut cx, a, &real(10.0), &dy).unwrap();
    assert_eq!(coefficients(a, b, &sum), [10.0, 1.0, 0.0, 3.0]);
}
