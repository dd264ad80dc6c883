//! Whether an argument needs ragged rows: whether arrays of different sizes stand at one place in the elements of an array.

use wengert_interp::Value;
use wengert_interp::value::Array;

/// Whether there is such an array in a value.
pub(super) fn is_ragged(value: &Value) -> bool {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let parts = parts(value);
        (matches!(value, Value::Array(_)) && differ(parts)) || parts.iter().any(is_ragged)
    })
}

/// What a value consists of. Numbers in arrays do not count.
fn parts(value: &Value) -> &[Value] {
    match value {
        Value::Tuple(parts) | Value::Dual(parts) => parts.as_slice(),
        Value::Record(record) => record.fields.as_slice(),
        Value::Data(data) => data.fields.as_slice(),
        Value::Array(array) => match &**array {
            Array::Values(items) => items.as_slice(),
            Array::Reals(_) | Array::Ints(_) => &[],
        },
        Value::Real(_)
        | Value::Active(_)
        | Value::Int(_)
        | Value::Bool(_)
        | Value::String(_)
        | Value::Fun(_)
        | Value::Cotangent(_) => &[],
    }
}

/// Whether the arrays in these elements are of different sizes.
fn differ(items: &[Value]) -> bool {
    let Some((first, rest)) = items.split_first() else { return false };
    let (mut sizes, mut own) = (Vec::new(), Vec::new());
    sizes_in(first, &mut sizes);
    rest.iter().any(|item| {
        own.clear();
        sizes_in(item, &mut own);
        own != sizes
    })
}

/// The sizes of the arrays in an element, one after the other. The elements of such an array agree, or it is ragged itself.
fn sizes_in(value: &Value, out: &mut Vec<usize>) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        if let Value::Array(array) = value {
            out.push(array.len());
            parts(value).first().into_iter().for_each(|item| sizes_in(item, out));
        } else if !matches!(value, Value::Data(_)) {
            parts(value).iter().for_each(|part| sizes_in(part, out));
        }
    });
}
