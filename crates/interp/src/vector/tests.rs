//! Values as vectors: shared, deep and mismatched ones.

use super::*;
use crate::value::{CtorInfo, Data, Text};
use wengert_base::Name;

fn real(x: f64) -> Value {
    Value::Real(x)
}

fn tuple(values: impl IntoIterator<Item = Value>) -> Value {
    Value::Tuple(Rc::new(values.into_iter().collect()))
}

fn ctor(index: u32, name: &str, fields: impl IntoIterator<Item = Value>) -> Value {
    let ctor = Rc::new(CtorInfo { data: Name::new("main.List"), index, name: Name::new(name) });
    Value::Data(Rc::new(Data { ctor, fields: fields.into_iter().collect() }))
}

/// `Cons x (Cons x … Nil)`
fn list(length: usize, x: f64) -> Value {
    (0..length).fold(ctor(0, "Nil", []), |rest, _| ctor(1, "Cons", [real(x), rest]))
}

/// A tree of that depth whose two branches are always the same one.
fn shared_tree(depth: usize, x: f64) -> Value {
    (0..depth).fold(real(x), |branch, _| tuple([branch.clone(), branch]))
}

fn leftmost(value: &Value) -> f64 {
    let mut value = value.clone();
    loop {
        match walk::children(&value).first() {
            Some(first) => value = first.clone(),
            None => return arith::primal(&value),
        }
    }
}

fn reals(value: &Value) -> Vec<f64> {
    let Value::Array(array) = value else { panic!("an array") };
    walk::elements(array).map(|x| arith::primal(&x)).collect()
}

#[test]
fn the_rest_of_a_value_is_carried_along() {
    let mut cx = Context::new();
    let text = Value::String(Rc::new(Text::new("text")));
    let x = tuple([real(1.0), Value::Int(7), walk::array([real(2.0), real(3.0)]), text, Value::Bool(true)]);
    assert_eq!(reals(&ravel(&mut cx, &x).unwrap()), [1.0, 2.0, 3.0]);
    let sum = add(&mut cx, &x, &x).unwrap();
    assert_eq!(reals(&ravel(&mut cx, &sum).unwrap()), [2.0, 4.0, 6.0]);
    assert!(matches!(
        walk::children(&sum).as_slice(),
        [_, Value::Int(7), _, Value::String(_), Value::Bool(true)]
    ));
    assert_eq!(arith::primal(&inner(&mut cx, &x, &x).unwrap()), 14.0);
    assert_eq!(reals(&ravel(&mut cx, &zero(&x).unwrap()).unwrap()), [0.0, 0.0, 0.0]);
    let scaled = scale(&mut cx, &real(-2.0), &x).unwrap();
    assert_eq!(reals(&ravel(&mut cx, &scaled).unwrap()), [-2.0, -4.0, -6.0]);
    let other = unravel(&mut cx, &x, &walk::array([real(4.0), real(5.0), real(6.0)])).unwrap();
    assert_eq!(reals(&ravel(&mut cx, &other).unwrap()), [4.0, 5.0, 6.0]);
}

#[test]
fn lists_of_a_million_cells() {
    let mut cx = Context::new();
    let xs = list(1_000_000, 2.0);
    let sum = add(&mut cx, &xs, &zero(&xs).unwrap()).unwrap();
    assert_eq!(arith::primal(&inner(&mut cx, &sum, &xs).unwrap()), 4e6);
    let flat = ravel(&mut cx, &xs).unwrap();
    assert_eq!(reals(&flat).len(), 1_000_000);
    let back = unravel(&mut cx, &xs, &flat).unwrap();
    let tag = cx.fresh_tag();
    let lifted = perturb::forward_input(&mut cx, tag, &back, &xs).unwrap();
    let (primal, tangent) = perturb::split_forward(&mut cx, tag, &lifted).unwrap();
    assert_eq!((leftmost(&primal), leftmost(&tangent)), (2.0, 2.0));
}

#[test]
fn shared_parts_are_treated_once() {
    let mut cx = Context::new();
    let tree = shared_tree(60, 1.5);
    assert_eq!(leftmost(&zero(&tree).unwrap()), 0.0);
    assert_eq!(leftmost(&add(&mut cx, &tree, &tree).unwrap()), 3.0);
    assert_eq!(leftmost(&scale(&mut cx, &real(2.0), &tree).unwrap()), 3.0);
    let tag = cx.fresh_tag();
    let lifted = perturb::forward_input(&mut cx, tag, &tree, &tree).unwrap();
    let (primal, tangent) = perturb::split_forward(&mut cx, tag, &lifted).unwrap();
    assert_eq!((leftmost(&primal), leftmost(&tangent)), (1.5, 1.5));
    assert!(perturb::largest_tag(&lifted).is_some_and(|(largest, _)| largest == tag));
    assert_eq!(leftmost(&perturb::strip_all(&lifted)), 1.5);
}

#[test]
fn values_of_different_shapes_are_explained() {
    let mut cx = Context::new();
    let message = |result: Result<Value, Failure>| result.map(|_| ()).unwrap_err().0.message;
    assert_eq!(
        message(add(&mut cx, &list(2, 1.0), &list(1, 1.0))),
        "`add`: the point is a `Cons`, but the tangent is a `Nil`"
    );
    let (short, long) = (walk::array([real(1.0)]), walk::array([real(1.0), real(2.0)]));
    assert_eq!(
        message(inner(&mut cx, &short, &long)),
        "`inner`: the point is an array of 1 element, but the tangent is an array of 2 elements"
    );
    assert_eq!(
        message(unravel(&mut cx, &tuple([real(1.0), Value::Int(2)]), &long)),
        "`unravel`: the point is a value that holds 1 `Real`, but the tangent is an array of 2 `Real`s"
    );
    let tag = cx.fresh_tag();
    assert!(message(perturb::forward_input(&mut cx, tag, &list(1, 1.0), &list(0, 1.0))).starts_with("`jvp`"));
}

#[test]
fn a_bound_pair_is_opened_under_a_fresh_tag() {
    let mut cx = Context::new();
    let tag = cx.fresh_tag();
    let point = arith::with_tangent(tag, real(1.0), Some(real(5.0)));
    let [bound, unit] = bound_pair(tag, point, real(2.0));
    assert!(perturb::largest_tag(&bound).is_none(), "the tag is bound");
    let open = open_pair(&mut cx, &bound, &unit).unwrap();
    let [fresh] = open.tags.as_slice() else { panic!("one tag") };
    assert!(*fresh > tag);
    let (primal, tangent) = perturb::split_real(*fresh, &open.point).unwrap();
    assert_eq!((arith::primal(&primal), tangent.map(|t| arith::primal(&t))), (1.0, Some(5.0)));
}
