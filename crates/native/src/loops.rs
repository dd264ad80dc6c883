//! The loop IR: functions over machine words, with structured control flow and explicit memory. Both back ends print it.
//!
//! Everything that lives in memory is an *object* of 8-byte words, known by its address:
//!
//! ```text
//! array   count  size along axis 0  …  size along the last axis  elements in row-major order
//! data    count  fields
//! text    count  bytes  UTF-8, padded with zeros
//! ```
//!
//! `count` is the number of references to the object. The word before it has how many words there are in its lower half, and of
//! data the constructor in its upper half. A constructor without fields is no object but the odd number
//! `2·constructor + 1` in place of the address; objects are aligned, so that addresses are even. Truth values are the
//! integers 0 and 1. An element of an array of empty tuples takes a word like the others.
//!
//! A function either *owns* what it is given, and gives each reference away or releases it, or *borrows* it: an array
//! that is only read is passed as the address of its first element and its sizes, so that a row of an array is passed
//! without being copied.

use rustc_hash::FxHashMap;
pub(crate) mod assigned;
mod print;
pub(crate) mod walk;

use std::sync::Arc;
use wengert_base::{Name, Span};
use wengert_ir::op::{Compare, Requirement};
use wengert_ir::program::FuncId;
use wengert_ir::ty::{Id, Table};
use wengert_prim::RealOp;

pub use print::print;
pub use walk::{alike, every};

/// A variable of a function. It may be assigned more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Local(pub u32);

impl Id for Local {
    #[expect(clippy::cast_possible_truncation, reason = "each takes memory: there are fewer than 2^32")]
    fn new(index: usize) -> Local {
        Local(index as u32)
    }
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a machine word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Word {
    /// A 64-bit float.
    Real,
    /// A 64-bit integer, or a truth value.
    Int,
    /// An object, or a constructor without fields.
    Ref,
    /// The address of a word inside of an object.
    Address,
}

/// An operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operand {
    /// A variable.
    Local(Local),
    /// A real.
    Real(f64),
    /// An integer.
    Int(i64),
    /// The text of that number in [`Program::texts`], an object that is never freed.
    Text(u32),
}

impl Operand {
    /// The variable, if it is one.
    pub fn local(self) -> Option<Local> {
        if let Operand::Local(local) = self { Some(local) } else { None }
    }
}

impl Func {
    /// Whether it neither fails nor looks whether it is to stop, and needs little of the stack: it can be called as any function is.
    pub fn always_returns(&self) -> bool {
        always_return(&self.body)
    }
}

fn always_return(stmts: &[Stmt]) -> bool {
    stmts.iter().all(|stmt| match stmt {
        Stmt::Set(_, value) => !matches!(value, Value::Alloc(..)),
        Stmt::Store { .. } => true,
        Stmt::If { cond: _, then, otherwise } => stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            always_return(then) && always_return(otherwise)
        }),
        Stmt::Switch { .. }
        | Stmt::For { .. }
        | Stmt::Parallel { .. }
        | Stmt::While { .. }
        | Stmt::Call { .. }
        | Stmt::Runtime { .. }
        | Stmt::Retain(..)
        | Stmt::Release(..)
        | Stmt::Free(..)
        | Stmt::Fail(..) => false,
    })
}

impl Stmt {
    /// Whether it multiplies or divides with strong zeros.
    pub fn is_strong(&self) -> bool {
        matches!(self, Stmt::Set(_, Value::Real(RealOp::MulZero | RealOp::DivZero, _)))
    }
}

/// A program.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Functions, numbered as in the IR; then the parts of loops that are divided between threads.
    pub funcs: Table<FuncId, Func>,
    /// Texts that occur in it.
    pub texts: Vec<Arc<str>>,
    /// Where and how it can fail.
    pub sites: Vec<Site>,
    /// For each data type, for each constructor, for each field, what it is.
    pub data: Vec<Vec<Vec<Kind>>>,
}

/// What a word in memory refers to, for whoever frees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Nothing: a number.
    Plain,
    /// A text.
    Text,
    /// Data of this type.
    Data(u32),
    /// An array with so many axes whose elements are plain.
    Array(u8),
    /// An array with so many axes of texts.
    ArrayOfText(u8),
    /// An array with so many axes of data of this type.
    ArrayOfData(u8, u32),
}

/// A place in the source where the program can fail.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// How.
    pub failure: Failure,
    /// The source's expression.
    pub span: Span,
}

/// How a program can fail. The numbers that belong to a failure are given when it happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Failure {
    /// Index, size.
    Index,
    /// `a / b` or the like with these two numbers: the function's name.
    Division(Name),
    /// Two integers that should be equal.
    Required(Requirement),
    /// Rows of different sizes: the number of a row, the sizes of row 0 along so many axes, those of the row.
    Ragged(u8),
    /// An array without elements: the function's name.
    Empty(Name),
    /// From, to, size.
    Slice,
    /// Base and exponent.
    NegativePower,
    /// Bits.
    Shift,
    /// The real: the function's name.
    NotAnInt(Name),
    /// A count below 0: the function's name.
    NegativeCount(Name),
    /// A count that no memory can hold: the function's name.
    TooLarge(Name),
    /// A text.
    User,
    /// An order.
    Polygamma,
    /// The stack or the heap is full.
    Memory,
    /// Stopped from outside.
    Interrupted,
    /// Something that the verifier excludes.
    Internal,
}

/// A function.
#[derive(Clone, Debug, PartialEq)]
pub struct Func {
    /// Its name in the IR.
    pub name: Name,
    /// Its parameters.
    pub params: Vec<Local>,
    /// Its results, assigned before the end of the body.
    pub results: Vec<Local>,
    /// All variables.
    pub locals: Table<Local, Word>,
    /// What it does.
    pub body: Vec<Stmt>,
    /// If a call of it can lead to a call of it, it looks at the stack: the site at which it fails if that is full.
    pub recursive: Option<u32>,
    /// Whether it looks if the program is to stop, for a call of it is very many calls.
    pub pauses: bool,
    /// How it is given each parameter of the IR.
    pub passing: Vec<Passing>,
    /// Parameters that lead to what the caller keeps: addresses of arrays, and references.
    pub borrowed: Vec<Local>,
    /// The source's definition.
    pub span: Span,
    /// What variables are called in the source, and where they are bound: for whoever reads what is made of this.
    pub origins: FxHashMap<Local, Origin>,
    /// If this is a part of a loop: those parameters that are addresses in objects that no other parameter leads to.
    pub part: Option<Vec<Local>>,
    /// Whether parts of a loop run it that may all refer to the same objects: while several threads make that loop, they count
    /// references atomically. Of a part, whether its loop is such a one.
    pub shared: bool,
}

/// What a variable is in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    /// The source's name, or what it is for.
    pub name: Name,
    /// Which part of that.
    pub part: Part,
    /// What binds it.
    pub span: Span,
}

/// What a variable of the loop IR is of a variable of the array IR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// The value, or an array's first element.
    Value,
    /// The object that holds an array.
    Object,
    /// An array's one size.
    Size,
    /// An array's size along this axis.
    SizeAlong(usize),
}

/// How a parameter is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// The function gives it away or releases it.
    Owned,
    /// The caller keeps it. An array is given as the address of its first element and its sizes.
    Borrowed,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    /// An assignment.
    Set(Local, Value),
    /// A word into memory, at `address + 8·(index + offset)`.
    Store {
        /// An address or object.
        base: Operand,
        /// In words.
        index: Operand,
        /// In words.
        offset: i32,
        /// What.
        value: Operand,
    },
    /// One of two.
    If {
        /// An integer; 0 is false.
        cond: Operand,
        /// When true.
        then: Vec<Stmt>,
        /// When false.
        otherwise: Vec<Stmt>,
    },
    /// A case for each number from 0; another number cannot be.
    Switch {
        /// An integer.
        on: Operand,
        /// The cases.
        cases: Vec<Vec<Stmt>>,
    },
    /// `for index in 0..len`, or from the last to the first.
    For {
        /// Assigned before each iteration.
        index: Local,
        /// How often.
        len: Operand,
        /// From the last.
        backward: bool,
        /// Iterations neither read what others write nor write where others write.
        independent: bool,
        /// If not empty: they would be independent but for this, to which each adds something, or of which each finds the largest.
        sums: Vec<Sum>,
        /// The body.
        body: Vec<Stmt>,
    },
    /// A loop by parts, maybe at the same time. What comes out does not depend on how many parts are made at the same time.
    Parallel {
        /// The function. Parameters: the first iteration, how many, what is captured, the sums so far; results: the sums.
        part: FuncId,
        /// How often.
        len: Operand,
        /// From the last.
        backward: bool,
        /// A real: about how much work the loop is.
        work: Operand,
        /// What the parts are given besides.
        captured: Vec<Local>,
        /// What iterations add to.
        sums: Vec<Sum>,
    },
    /// `while head; cond do body`.
    While {
        /// Computes the condition.
        head: Vec<Stmt>,
        /// An integer.
        cond: Operand,
        /// The body.
        body: Vec<Stmt>,
    },
    /// A call.
    Call {
        /// The function.
        func: FuncId,
        /// For its parameters.
        args: Vec<Operand>,
        /// For its results.
        outs: Vec<Local>,
    },
    /// A call of the runtime.
    Runtime {
        /// What.
        call: Runtime,
        /// Its arguments.
        args: Vec<Operand>,
        /// Its result.
        out: Option<Local>,
    },
    /// One more reference to an object, or to what may be one.
    Retain(Operand, Kind),
    /// One reference less; the last frees it and what it alone refers to.
    Release(Operand, Kind),
    /// Frees the object itself, which nothing refers to any more.
    Free(Operand, Kind),
    /// Stops the program; the numbers that belong to the failure, reals as their bits.
    Fail(u32, Vec<Operand>),
}

/// What iterations of a loop add to.
#[derive(Clone, Debug, PartialEq)]
pub enum Sum {
    /// A variable that is a real or an integer.
    Word(Local, Join),
    /// An array of reals.
    Array {
        /// The object.
        object: Option<Local>,
        /// The address of the first element.
        first: Local,
        /// How many there are.
        size: Operand,
    },
    /// The address of the first element of an array of reals, of which iterations add to elements near to their own place: parts of
    /// the loop that are not neighbors may do so at once.
    Near(Local),
}

/// How what several parts of a loop have found is put together, where all but the first start as nothing was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Join {
    /// The sum.
    Add,
    /// As the primitive `max`.
    Max,
    /// As the primitive `min`.
    Min,
    /// The first of the largest; the first that is no number is larger than all.
    Largest,
    /// The first of the smallest; the first that is no number is smaller than all.
    Smallest,
    /// Where that was found which stands before.
    Place,
}

impl Join {
    /// The number by which the runtime knows it, of a real or of an integer: four bits.
    pub fn code(self, real: bool) -> u64 {
        2 * (self as u64) + u64::from(real)
    }
}

/// What is assigned.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// The same.
    Copy(Operand),
    /// Arithmetic on reals.
    Real(RealOp, Vec<Operand>),
    /// Arithmetic on integers that cannot fail.
    Int(Int, Operand, Operand),
    /// A comparison of reals.
    CompareReal(Compare, Operand, Operand),
    /// A comparison of integers.
    CompareInt(Compare, Operand, Operand),
    /// Whether an index (the first) is not one of a given number of places.
    OutOfRange(Operand, Operand),
    /// One of two.
    Select(Operand, Operand, Operand),
    /// The nearest real.
    IntToReal(Operand),
    /// The integer that a real is; it is one, in range.
    RealToInt(Operand),
    /// To an integer, still a real.
    Round(Round, Operand),
    /// The bits of a real.
    Bits(Operand),
    /// The word at `base + 8·(index + offset)`; it has the type of the variable.
    Load {
        /// An address or object.
        base: Operand,
        /// In words.
        index: Operand,
        /// In words.
        offset: i32,
    },
    /// `base + 8·(index + offset)`.
    Address {
        /// An address or object.
        base: Operand,
        /// In words.
        index: Operand,
        /// In words.
        offset: i32,
    },
    /// The constructor of data; the flag says that it is known to be an object.
    Tag(Operand, bool),
    /// Whether an object has one reference only; data without fields has not.
    Unique(Operand, Kind),
    /// A new object of so many words, counted once, its other words unset; if it is data, of this constructor. Fails at that site if
    /// memory is full.
    Alloc(Operand, u32, Option<u32>),
}

/// Arithmetic on integers; wraps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the name is the operation")]
pub enum Int {
    Add,
    Sub,
    Mul,
    /// Towards zero; the divisor is not 0. The smallest by −1 wraps.
    Div,
    /// With the sign of the dividend; the divisor is not 0.
    Rem,
    And,
    Or,
    Xor,
    /// By 0 to 63.
    ShiftLeft,
    /// By 0 to 63, filling with zeros.
    ShiftRight,
    Min,
    Max,
}

/// Roundings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "as the primitives of the same names")]
pub enum Round {
    Floor,
    Ceil,
    /// Halves away from zero.
    Nearest,
    Truncate,
}

/// What the runtime does. Arrays that are read are given as the address of the first element and sizes. What makes texts and what
/// sorts is given last the site at which it fails if memory is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Runtime {
    /// Base, exponent: a real.
    Power,
    /// Order (not negative), x: a real.
    Polygamma,
    /// Base, exponent (not negative): an integer.
    IntPower,
    /// Two texts: a new one.
    TextAppend,
    /// Two texts, of which the first is released directly after that: a new one, or one more reference to the first, if nobody else
    /// refers to it and the second fits in behind it.
    TextExtend,
    /// A text: its number of characters.
    TextLength,
    /// Two texts: -1, 0 or 1.
    TextCompare,
    /// A real: a new text.
    ShowReal,
    /// An integer: a new text.
    ShowInt,
    /// A text: a new text, quoted.
    ShowText,
    /// First element, size, first element of the result: reals sorted.
    SortReal,
    /// The same with integers.
    SortInt,
    /// The same with texts (references are retained).
    SortText,
    /// First element, size, first element of the result: places of reals sorted.
    ArgSortReal,
    /// The same with integers.
    ArgSortInt,
    /// The same with texts.
    ArgSortText,
    /// First elements of two matrices and of the result, m, k, n: the product of reals.
    MatMul,
    /// First elements of a matrix, of a vector and of the result, rows, columns: the product of reals.
    MatVec,
    /// First element of a matrix, its rows, terms, its columns, how it is done (the sum of 1: the first factor lies transposed,
    /// 2: the second does, 4: backwards, 8: with strong zeros), first elements of two factors and of two more, or 0: adds
    /// their products.
    AddProduct,
    /// Source, destination, words: copies words that do not overlap.
    CopyWords,
    /// Destination, words: zeros.
    ZeroWords,
    /// Number of a function in `wengert_vmath::Function::ALL`, address, another address, count: the function's value for
    /// each of so many reals there, or for each pair, in place of the first.
    Map,
    /// Words: the address of so many that are nobody's, up to the next call of the runtime for this.
    Scratch,
}

impl Func {
    /// A new variable.
    pub fn fresh(&mut self, word: Word) -> Local {
        self.locals.push(word)
    }

    /// A new variable that is called as another one is.
    pub(crate) fn another(&mut self, local: Local) -> Local {
        let name = self.fresh(self.locals.get(local).copied().unwrap_or(Word::Int));
        if let Some(origin) = self.origins.get(&local).copied() {
            self.origins.insert(name, origin);
        }
        name
    }
}

impl Runtime {
    /// Whether it makes a text.
    pub fn makes_text(self) -> bool {
        matches!(
            self,
            Runtime::TextAppend
                | Runtime::TextExtend
                | Runtime::ShowReal
                | Runtime::ShowInt
                | Runtime::ShowText
        )
    }

    /// What it is called: where the loops are printed, and as a symbol.
    pub fn name(self) -> &'static str {
        match self {
            Runtime::Power => "power",
            Runtime::Polygamma => "polygamma",
            Runtime::IntPower => "int_power",
            Runtime::TextAppend => "text_append",
            Runtime::TextExtend => "text_extend",
            Runtime::TextLength => "text_length",
            Runtime::TextCompare => "text_compare",
            Runtime::ShowReal => "show_real",
            Runtime::ShowInt => "show_int",
            Runtime::ShowText => "show_text",
            Runtime::SortReal => "sort_real",
            Runtime::SortInt => "sort_int",
            Runtime::SortText => "sort_text",
            Runtime::ArgSortReal => "argsort_real",
            Runtime::ArgSortInt => "argsort_int",
            Runtime::ArgSortText => "argsort_text",
            Runtime::MatMul => "matmul",
            Runtime::MatVec => "matvec",
            Runtime::AddProduct => "add_product",
            Runtime::CopyWords => "copy_words",
            Runtime::ZeroWords => "zero_words",
            Runtime::Map => "map",
            Runtime::Scratch => "scratch",
        }
    }
}
