//! Sorting: stable, `NaN` last, by the numbers themselves; elements keep their perturbations.

use super::array::{self, array};
use super::{misplaced, mistyped, rearrange};
use crate::arith::observe;
use crate::step::{Context, Failure};
use crate::value::{Array, Value};
use std::cmp::Ordering;
use wengert_prim::Prim;

/// Calls a primitive of this module.
pub(crate) fn call(cx: &mut Context, prim: Prim, [a, _, _]: [Value; 3]) -> Result<Value, Failure> {
    let xs = array(&a)?;
    let order = ascending(cx, xs)?;
    match prim {
        Prim::Sort => rearrange::rearranged(cx, xs, order.into_iter()),
        Prim::ArgSort => Ok(array::of_ints(order.into_iter().map(|i| i as i64).collect())),
        other => Err(misplaced(other)),
    }
}

/// The places of the elements in ascending order.
fn ascending(cx: &mut Context, xs: &Array) -> Result<Vec<usize>, Failure> {
    let size = xs.len();
    // A comparison sort makes about this many steps.
    cx.work(size as u64 * u64::from(size.max(1).ilog2()))?;
    let mut places: Vec<usize> = array::vector(cx, "sort", size)?;
    places.extend(0..size);
    match xs.get(0) {
        None => {}
        Some(Value::Int(_)) => sort_by_key(&mut places, &ints(xs)?, Ord::cmp),
        Some(Value::String(_)) => {
            let texts: Vec<Value> = xs.items().collect();
            sort_by_key(&mut places, &texts, |a, b| match (a, b) {
                (Value::String(a), Value::String(b)) => a.as_str().cmp(b.as_str()),
                _ => Ordering::Equal,
            });
        }
        Some(_) => {
            let keys: Result<Vec<f64>, Failure> = xs.items().map(|x| observe(&x)).collect();
            sort_by_key(&mut places, &keys?, |a, b| {
                a.partial_cmp(b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
            });
        }
    }
    Ok(places)
}

fn ints(xs: &Array) -> Result<Vec<i64>, Failure> {
    xs.items().map(|x| if let Value::Int(n) = x { Ok(n) } else { Err(mistyped("an Int")) }).collect()
}

fn sort_by_key<K>(places: &mut [usize], keys: &[K], compare: impl Fn(&K, &K) -> Ordering) {
    places.sort_by(|a, b| match (keys.get(*a), keys.get(*b)) {
        (Some(a), Some(b)) => compare(a, b),
        _ => Ordering::Equal,
    });
}
