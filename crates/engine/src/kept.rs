//! Machine code as bytes, for a later process of this same compiler: the code, and how its entry is called.

use crate::{Limits, Native};
use wengert_base::Name;
use wengert_ir::DataId;
use wengert_ir::program::FuncId;
use wengert_lower::{Entry, Head, Layout};
use wengert_native::Compiled;
use wengert_native::saved::Saved;

impl Native {
    /// The program as bytes; nothing if it cannot be written.
    pub fn save(&self) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        let Entry { func, params, result, data, uniform, uneven } = self.entry();
        func.put(&mut bytes);
        put_all(params, &mut bytes);
        put(result, &mut bytes);
        data.len().put(&mut bytes);
        for (id, ctors) in data {
            id.put(&mut bytes);
            ctors.len().put(&mut bytes);
            ctors.iter().for_each(|fields| put_all(fields, &mut bytes));
        }
        uniform.is_some().put(&mut bytes);
        if let Some((id, heads)) = uniform {
            id.put(&mut bytes);
            heads.len().put(&mut bytes);
            heads.iter().for_each(|head| put_head(head, &mut bytes));
        }
        uneven.put(&mut bytes);
        bytes.extend(self.machine_code()?);
        Some(bytes)
    }

    /// The program that [`Native::save`] of this same compiler has written; nothing if these bytes are none.
    pub fn restore(mut bytes: &[u8], limits: Limits) -> Option<Native> {
        let from = &mut bytes;
        let func = FuncId::take(from)?;
        let (params, result) = (take_all(from)?, take(from)?);
        let mut data = Vec::new();
        for _ in 0..usize::take(from)? {
            let id = DataId::take(from)?;
            let mut ctors = Vec::new();
            for _ in 0..usize::take(from)? {
                ctors.push(take_all(from)?);
            }
            data.push((id, ctors));
        }
        let uniform = if bool::take(from)? { Some((DataId::take(from)?, take_heads(from)?)) } else { None };
        let uneven = bool::take(from)?;
        let compiled = Compiled::restore(from, limits.memory, limits.stop)?;
        let entry = Entry { func, params, result, data, uniform, uneven };
        from.is_empty().then(|| Native::compiled(compiled, entry, limits.threads))
    }
}

fn put_head(head: &Head, out: &mut Vec<u8>) {
    let tag = |out: &mut Vec<u8>, tag: u8| out.push(tag);
    match head {
        Head::Real => tag(out, 0),
        Head::Int => tag(out, 1),
        Head::Bool => tag(out, 2),
        Head::Text => tag(out, 3),
        Head::Tuple(count) => {
            tag(out, 4);
            count.put(out);
        }
        Head::Record(names) => {
            tag(out, 5);
            names.put(out);
        }
        Head::Array => tag(out, 6),
        Head::Dual => tag(out, 7),
        Head::Data(name) => {
            tag(out, 8);
            name.put(out);
        }
    }
}

fn take_heads(from: &mut &[u8]) -> Option<Vec<Head>> {
    let count = usize::take(from)?;
    let mut heads = Vec::new();
    for _ in 0..count {
        heads.push(match u8::take(from)? {
            0 => Head::Real,
            1 => Head::Int,
            2 => Head::Bool,
            3 => Head::Text,
            4 => Head::Tuple(usize::take(from)?),
            5 => Head::Record(Vec::take(from)?),
            6 => Head::Array,
            7 => Head::Dual,
            8 => Head::Data(Name::take(from)?),
            _ => return None,
        });
    }
    Some(heads)
}

fn put_all(layouts: &[Layout], out: &mut Vec<u8>) {
    layouts.len().put(out);
    layouts.iter().for_each(|layout| put(layout, out));
}

fn take_all(from: &mut &[u8]) -> Option<Vec<Layout>> {
    let count = usize::take(from)?;
    let mut all = Vec::new();
    for _ in 0..count {
        all.push(take(from)?);
    }
    Some(all)
}

/// Layouts are no deeper than the types in a program.
fn put(layout: &Layout, out: &mut Vec<u8>) {
    let tag = |out: &mut Vec<u8>, tag: u8| out.push(tag);
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match layout {
        Layout::Real => tag(out, 0),
        Layout::Int => tag(out, 1),
        Layout::Bool => tag(out, 2),
        Layout::Text => tag(out, 3),
        Layout::Tuple(items) => {
            tag(out, 4);
            put_all(items, out);
        }
        Layout::Array(of) => {
            tag(out, 5);
            put(of, out);
        }
        Layout::Data(id) => {
            tag(out, 6);
            id.put(out);
        }
        Layout::Dual(of) => {
            tag(out, 7);
            put(of, out);
        }
        Layout::Function(count) => {
            tag(out, 8);
            count.put(out);
        }
        Layout::Boxed(boxes, of) => {
            tag(out, 9);
            boxes.put(out);
            put(of, out);
        }
    });
}

fn take(from: &mut &[u8]) -> Option<Layout> {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        Some(match u8::take(from)? {
            0 => Layout::Real,
            1 => Layout::Int,
            2 => Layout::Bool,
            3 => Layout::Text,
            4 => Layout::Tuple(take_all(from)?),
            5 => Layout::Array(Box::new(take(from)?)),
            6 => Layout::Data(DataId::take(from)?),
            7 => Layout::Dual(Box::new(take(from)?)),
            8 => Layout::Function(usize::take(from)?),
            9 => Layout::Boxed(Vec::take(from)?, Box::new(take(from)?)),
            _ => return None,
        })
    })
}
