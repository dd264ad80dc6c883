//! Types of the IR, and tables that are indexed by typed numbers.

use std::marker::PhantomData;
use wengert_base::Name;

/// The type of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ty {
    /// One element.
    Scalar(Elem),
    /// A rectangular array of so many axes, at least one, in row-major order. The rows of an array of arrays agree in size (else
    /// the program fails), so an array of arrays is an array with more axes. An array without rows has size 0 along
    /// every axis.
    Array(Elem, u8),
}

/// What arrays are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Elem {
    /// 64-bit floating point.
    Real,
    /// 64-bit two's complement.
    Int,
    /// A truth value.
    Bool,
    /// Text.
    Text,
    /// The one value of the empty tuple. It stands where something has to stand: as the element of an array of empty tuples.
    Unit,
    /// A sum of constructors.
    Data(DataId),
}

impl Ty {
    /// A real number.
    pub const REAL: Ty = Ty::Scalar(Elem::Real);
    /// An integer.
    pub const INT: Ty = Ty::Scalar(Elem::Int);
    /// A truth value.
    pub const BOOL: Ty = Ty::Scalar(Elem::Bool);
    /// A text.
    pub const TEXT: Ty = Ty::Scalar(Elem::Text);

    /// What it is made of.
    pub fn elem(self) -> Elem {
        match self {
            Ty::Scalar(elem) | Ty::Array(elem, _) => elem,
        }
    }

    /// How many axes it has; a scalar has none.
    pub fn rank(self) -> u8 {
        match self {
            Ty::Scalar(_) => 0,
            Ty::Array(_, rank) => rank,
        }
    }

    /// Elements of this kind with so many axes.
    pub fn of_rank(elem: Elem, rank: u8) -> Ty {
        if rank == 0 { Ty::Scalar(elem) } else { Ty::Array(elem, rank) }
    }

    /// The type of arrays whose rows are of this type; `None` if there are too many axes.
    pub fn array_of(self) -> Option<Ty> {
        self.rank().checked_add(1).map(|rank| Ty::Array(self.elem(), rank))
    }

    /// The type of what `axes` indices select; `None` if it has fewer axes.
    pub fn at(self, axes: usize) -> Option<Ty> {
        let rank = usize::from(self.rank()).checked_sub(axes)?;
        Some(Ty::of_rank(self.elem(), u8::try_from(rank).ok()?))
    }
}

/// A declared sum.
#[derive(Clone, Debug, PartialEq)]
pub struct Data {
    /// Its name: that of the source's type, or what it is for, made unique by the printer.
    pub name: Name,
    /// What it is for.
    pub role: Role,
    /// Its constructors.
    pub ctors: Vec<Ctor>,
}

/// Why there is a data type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// A type of the source program.
    Declared,
    /// The functions that a function value can be: a constructor for each, with what it captured.
    Closure,
    /// What the linear part of a derivative needs from the primal part.
    Residual,
    /// The tangents of another data type: constructor 0 is the zero tangent at every point, constructor `i + 1` holds the
    /// tangents of the fields of constructor `i` that have tangents. Closures may have further constructors.
    Tangent(DataId),
}

/// A constructor.
#[derive(Clone, Debug, PartialEq)]
pub struct Ctor {
    /// Its name.
    pub name: Name,
    /// Types of its fields, flattened.
    pub fields: Vec<Ty>,
}

/// A typed number of an entry of a [`Table`].
pub trait Id: Copy {
    /// From a place in the table.
    fn new(index: usize) -> Self;
    /// The place in the table.
    fn index(self) -> usize;
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);
        impl Id for $name {
            #[expect(clippy::cast_possible_truncation, reason = "tables have fewer than 2^32 entries: each takes memory")]
            fn new(index: usize) -> $name {
                $name(index as u32)
            }
            fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}
pub(crate) use ids;

ids! {
    /// A data type of a program.
    DataId;
}

/// A growing table whose entries are known by typed numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Table<I, T> {
    entries: Vec<T>,
    ids: PhantomData<I>,
}

impl<I, T> Default for Table<I, T> {
    fn default() -> Table<I, T> {
        Table { entries: Vec::new(), ids: PhantomData }
    }
}

impl<I: Id, T> Table<I, T> {
    /// Adds an entry.
    pub fn push(&mut self, entry: T) -> I {
        self.entries.push(entry);
        I::new(self.entries.len() - 1)
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entry, if there is one of that number.
    pub fn get(&self, id: I) -> Option<&T> {
        self.entries.get(id.index())
    }

    /// The entry of a number that `push` gave.
    #[expect(
        clippy::indexing_slicing,
        reason = "numbers come from `push` on this table; the verifier checks those that were read"
    )]
    pub fn at(&self, id: I) -> &T {
        &self.entries[id.index()]
    }

    /// The same, to be changed.
    #[expect(clippy::indexing_slicing, reason = "as for `at`")]
    pub fn at_mut(&mut self, id: I) -> &mut T {
        &mut self.entries[id.index()]
    }

    /// All numbers, in order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = I> + use<I, T> {
        (0..self.entries.len()).map(I::new)
    }

    /// All entries with their numbers, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (I, &T)> {
        self.entries.iter().enumerate().map(|(index, entry)| (I::new(index), entry))
    }

    /// All entries, to be changed.
    pub fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = (I, &mut T)> {
        self.entries.iter_mut().enumerate().map(|(index, entry)| (I::new(index), entry))
    }
}
