//! Arrays of the IR: what their elements are made of, and how rows become one.

use wengert_engine::Layout;
use wengert_ir::Elem;
use wengert_ir::eval::{Items, Value as Flat};

/// What the components of an element are made of, and their axes.
pub(super) fn leaf_elems(layout: &Layout, rank: u8, out: &mut Vec<(wengert_ir::Elem, u8)>) {
    match layout {
        Layout::Real => out.push((Elem::Real, rank)),
        Layout::Int => out.push((Elem::Int, rank)),
        Layout::Bool => out.push((Elem::Bool, rank)),
        Layout::Text => out.push((Elem::Text, rank)),
        Layout::Data(data) => out.push((Elem::Data(*data), rank)),
        Layout::Tuple(items) => items.iter().for_each(|item| leaf_elems(item, rank, out)),
        Layout::Array(of) => {
            let before = out.len();
            leaf_elems(of, rank + 1, out);
            // Elements that are nothing are still counted.
            if out.len() == before {
                out.push((Elem::Unit, rank + 1));
            }
        }
        Layout::Dual(of) => leaf_elems(of, rank, out),
        Layout::Boxed(boxes, of) => {
            let mut own = Vec::new();
            leaf_elems(of, 0, &mut own);
            let boxed = |(boxed, (elem, own)): (&Option<_>, (Elem, u8))| match boxed {
                Some(data) => (Elem::Data(*data), rank),
                None => (elem, rank + own),
            };
            out.extend(boxes.iter().zip(own).map(boxed));
        }
        Layout::Function(count) => out.extend(std::iter::repeat_n((Elem::Unit, rank), *count)),
    }
}

/// The array of these rows, which agree in shape.
pub(super) fn stacked(rows: &[Flat], elem: Elem, rank: u8) -> Flat {
    let mut items = Items::with_capacity(elem, rows.len());
    let mut shape = vec![rows.len()];
    match rows.first() {
        Some(Flat::Array(first)) => shape.extend(first.shape()),
        _ => shape.resize(usize::from(rank), 0),
    }
    for row in rows {
        // Rows are of one kind: the checker says so.
        if let Flat::Array(row) = row {
            debug_assert_eq!(
                row.shape(),
                shape.get(1..).unwrap_or_default(),
                "a ragged array in the regular form"
            );
            items.extend(row.items());
        } else {
            items.push(row.clone());
        }
    }
    shape.truncate(usize::from(rank));
    Flat::array(shape, items)
}
