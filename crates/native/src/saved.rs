//! Values as bytes, for files of this program's own making: what was written is read back by the same program.
//!
//! Reading takes from the front of the bytes, and gives nothing where they are none of such a value; whoever keeps files guards
//! them with a checksum besides.

use crate::loops::{Failure, Kind, Passing, Site};
use std::sync::Arc;
use wengert_base::{Name, SourceId, Span};
use wengert_ir::op::Requirement;
use wengert_ir::program::FuncId;
use wengert_ir::ty::{Ctor, Data, DataId, Elem, Id, Role, Table, Ty};

/// A value that can be written as bytes and read back.
pub trait Saved: Sized {
    /// Appends the value.
    fn put(&self, out: &mut Vec<u8>);
    /// Takes a value from the front.
    fn take(from: &mut &[u8]) -> Option<Self>;
}

/// Implements [`Saved`] for an enum of which each variant has a number.
#[macro_export]
macro_rules! saved_enum {
    ($ty:ident { $($tag:literal = $variant:ident $(($($field:ident),*))?),* $(,)? }) => {
        impl $crate::saved::Saved for $ty {
            fn put(&self, out: &mut Vec<u8>) {
                match self {
                    $($ty::$variant $(($($field),*))? => {
                        out.push($tag);
                        $($($crate::saved::Saved::put($field, out);)*)?
                    })*
                }
            }
            fn take(from: &mut &[u8]) -> Option<$ty> {
                match <u8 as $crate::saved::Saved>::take(from)? {
                    $($tag => {
                        $($(let $field = $crate::saved::Saved::take(from)?;)*)?
                        Some($ty::$variant $(($($field),*))?)
                    })*
                    _ => None,
                }
            }
        }
    };
}

/// Implements [`Saved`] for a struct with these fields.
#[macro_export]
macro_rules! saved_struct {
    ($ty:ident { $($field:ident),* $(,)? }) => {
        impl $crate::saved::Saved for $ty {
            fn put(&self, out: &mut Vec<u8>) {
                $($crate::saved::Saved::put(&self.$field, out);)*
            }
            fn take(from: &mut &[u8]) -> Option<$ty> {
                $(let $field = $crate::saved::Saved::take(from)?;)*
                Some($ty { $($field),* })
            }
        }
    };
}

macro_rules! numbers {
    ($($ty:ty),*) => {$(
        impl Saved for $ty {
            fn put(&self, out: &mut Vec<u8>) {
                out.extend(self.to_le_bytes());
            }
            fn take(from: &mut &[u8]) -> Option<$ty> {
                let (own, rest) = from.split_first_chunk()?;
                *from = rest;
                Some(<$ty>::from_le_bytes(*own))
            }
        }
    )*};
}
numbers!(u8, u32, u64, i64);

impl Saved for usize {
    fn put(&self, out: &mut Vec<u8>) {
        (*self as u64).put(out);
    }
    fn take(from: &mut &[u8]) -> Option<usize> {
        usize::try_from(u64::take(from)?).ok()
    }
}

impl Saved for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }
    fn take(from: &mut &[u8]) -> Option<bool> {
        Some(u8::take(from)? != 0)
    }
}

impl Saved for String {
    fn put(&self, out: &mut Vec<u8>) {
        self.len().put(out);
        out.extend(self.as_bytes());
    }
    fn take(from: &mut &[u8]) -> Option<String> {
        let (own, rest) = { usize::take(from).and_then(|length| from.split_at_checked(length)) }?;
        *from = rest;
        String::from_utf8(own.to_vec()).ok()
    }
}

impl Saved for Name {
    fn put(&self, out: &mut Vec<u8>) {
        self.as_str().to_string().put(out);
    }
    fn take(from: &mut &[u8]) -> Option<Name> {
        String::take(from).map(|text| Name::new(&text))
    }
}

impl Saved for Arc<str> {
    fn put(&self, out: &mut Vec<u8>) {
        self.to_string().put(out);
    }
    fn take(from: &mut &[u8]) -> Option<Arc<str>> {
        String::take(from).map(Arc::from)
    }
}

impl<T: Saved> Saved for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.len().put(out);
        self.iter().for_each(|item| item.put(out));
    }
    fn take(from: &mut &[u8]) -> Option<Vec<T>> {
        let count = usize::take(from)?;
        // Each takes a byte at least.
        let mut items = Vec::with_capacity(count.min(from.len()));
        for _ in 0..count {
            items.push(T::take(from)?);
        }
        Some(items)
    }
}

impl<T: Saved> Saved for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        self.iter().for_each(|item| item.put(out));
    }
    fn take(from: &mut &[u8]) -> Option<Option<T>> {
        if bool::take(from)? { T::take(from).map(Some) } else { Some(None) }
    }
}

impl<A: Saved, B: Saved> Saved for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }
    fn take(from: &mut &[u8]) -> Option<(A, B)> {
        Some((A::take(from)?, B::take(from)?))
    }
}

impl<T: Saved> Saved for Box<T> {
    fn put(&self, out: &mut Vec<u8>) {
        T::put(self, out);
    }
    fn take(from: &mut &[u8]) -> Option<Box<T>> {
        T::take(from).map(Box::new)
    }
}

impl<I: Id, T: Saved> Saved for Table<I, T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.len().put(out);
        self.iter().for_each(|(_, item)| item.put(out));
    }
    fn take(from: &mut &[u8]) -> Option<Table<I, T>> {
        let mut table = Table::default();
        for item in Vec::<T>::take(from)? {
            table.push(item);
        }
        Some(table)
    }
}

impl Saved for FuncId {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
    }
    fn take(from: &mut &[u8]) -> Option<FuncId> {
        u32::take(from).map(FuncId)
    }
}

impl Saved for DataId {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
    }
    fn take(from: &mut &[u8]) -> Option<DataId> {
        u32::take(from).map(DataId)
    }
}

impl Saved for SourceId {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
    }
    fn take(from: &mut &[u8]) -> Option<SourceId> {
        u32::take(from).map(SourceId)
    }
}

saved_struct!(Span { source, start, end });
saved_struct!(Site { failure, span });
saved_struct!(Ctor { name, fields });
saved_struct!(Data { name, role, ctors });
saved_enum!(Elem { 0 = Real, 1 = Int, 2 = Bool, 3 = Text, 4 = Unit, 5 = Data(id) });
saved_enum!(Ty { 0 = Scalar(elem), 1 = Array(elem, rank) });
saved_enum!(Role { 0 = Declared, 1 = Closure, 2 = Residual, 3 = Tangent(of) });
saved_enum!(Kind {
    0 = Plain, 1 = Text, 2 = Data(id), 3 = Array(rank), 4 = ArrayOfText(rank), 5 = ArrayOfData(rank, id),
});
saved_enum!(Passing { 0 = Owned, 1 = Borrowed });
saved_enum!(Requirement {
    0 = SameSize(function), 1 = ProductSize(function), 2 = NamedSize(name, axis), 3 = Rows, 4 = Count(function),
    5 = Shape(operation), 6 = SameCtor(operation, data), 7 = Reals(operation), 8 = Beside,
});
saved_enum!(Failure {
    0 = Index, 1 = Division(function), 2 = Required(what), 3 = Ragged(axes), 4 = Empty(function), 5 = Slice,
    6 = NegativePower, 7 = Shift, 8 = NotAnInt(function), 9 = NegativeCount(function), 10 = TooLarge(function),
    11 = User, 12 = Polygamma, 13 = Memory, 14 = Interrupted, 15 = Internal,
});
