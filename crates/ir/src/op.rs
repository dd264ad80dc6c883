//! Operations and blocks.
//!
//! A block is a list of statements in the order of evaluation, followed by results. Blocks inside an operation (branches,
//! bodies of loops) see the variables around them.

use crate::program::{FuncId, LinearId};
use crate::ty::{DataId, Elem, Id, ids};
use std::sync::Arc;
use wengert_base::{Name, Span};
use wengert_prim::RealOp;

ids! {
    /// A variable of a function.
    Var;
}

/// Tangents of data belong to its constructor: derivatives fail with this message where one does not. Only of sums of tangents of functions, which
/// may be differentiated in turn, is that not always foreseen.
pub const ASTRAY: &str = "a tangent belongs to another constructor";
/// The same where two tangents are added.
pub const APART: &str = "two tangents at different points are added";

/// An operand: it takes no computation.
#[derive(Clone, Debug, PartialEq)]
pub enum Atom {
    /// A variable.
    Var(Var),
    /// A real number.
    Real(f64),
    /// An integer.
    Int(i64),
    /// A truth value.
    Bool(bool),
    /// A text.
    Text(Arc<str>),
    /// The empty tuple.
    Unit,
}

/// Statements with parameters and results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// Variables that are bound where the block is entered.
    pub params: Vec<Var>,
    /// What is computed.
    pub stmts: Vec<Stmt>,
    /// What is given back.
    pub results: Vec<Atom>,
}

/// `outs = op`
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// The variables that are bound, one for each result of the operation.
    pub outs: Vec<Var>,
    /// The operation.
    pub op: Op,
    /// The source's expression, for messages.
    pub span: Span,
}

/// An operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// An operand by another name.
    Copy(Atom),
    /// Arithmetic on reals; as many operands as [`RealOp::arity`].
    Real(RealOp, Vec<Atom>),
    /// `x ^ n` with an exponent that is not known before running: as [`RealOp::PowInt`] of its value.
    Power {
        /// A real.
        base: Atom,
        /// An integer.
        exponent: Atom,
    },
    /// `polygamma n x`: as [`RealOp::Polygamma`] of the order's value; `n = 0` is `digamma`; fails on a negative order.
    Polygamma {
        /// An integer.
        order: Atom,
        /// A real.
        x: Atom,
    },
    /// Arithmetic on integers.
    Int(IntOp, Vec<Atom>),
    /// A comparison of two reals, integers, truth values or texts; with NaN false, except [`Compare::Ne`].
    Compare(Compare, Atom, Atom),
    /// From one kind of scalar to another.
    Convert(Convert, Atom),
    /// Negation of a truth value.
    Not(Atom),
    /// One of two operands, both computed already.
    Select {
        /// A truth value.
        cond: Atom,
        /// When true.
        then: Atom,
        /// When false.
        otherwise: Atom,
    },
    /// Texts.
    Text(TextOp, Vec<Atom>),
    /// Stops the program with the user's message.
    Fail {
        /// A text.
        message: Atom,
    },
    /// Stops the program if two integers differ. No result.
    Require {
        /// What is wrong then.
        what: Requirement,
        /// An integer.
        left: Atom,
        /// An integer.
        right: Atom,
    },
    /// Nothing at all, but that an array of arrays is made, which fails if its rows differ in size. No result.
    Whole(Atom),

    /// A constructor with its fields.
    Make {
        /// The data type.
        data: DataId,
        /// The constructor.
        ctor: u32,
        /// As declared.
        fields: Vec<Atom>,
    },
    /// Case analysis: the block of the constructor, whose parameters are the fields.
    Match {
        /// A value of the data type.
        on: Atom,
        /// A block for each constructor.
        arms: Vec<Block>,
    },
    /// One of two blocks without parameters.
    If {
        /// A truth value.
        cond: Atom,
        /// When true.
        then: Block,
        /// When false.
        otherwise: Block,
    },
    /// A call.
    Call {
        /// The function.
        func: FuncId,
        /// One for each parameter.
        args: Vec<Atom>,
        /// Whether reverse mode runs the call again instead of keeping what it needs from it.
        checkpoint: bool,
    },
    /// A loop over 0, 1, …, `len - 1`.
    Loop(Box<Loop>),
    /// A loop as long as a condition holds.
    While(Box<While>),

    /// An array operation that takes no function.
    Array(ArrayOp, Vec<Atom>),

    /// Value and tangents of a function at a point. Results: those of the function, then a tangent for each result.
    /// Tangents here are *surface* tangents: they have the type of the point, and what is not real in them stands as it
    /// stands in the point. For a closure the tangent itself may be given too: the data type with role
    /// [`crate::ty::Role::Tangent`] of the closure's.
    Jvp {
        /// The function.
        func: FuncId,
        /// One for each parameter.
        args: Vec<Atom>,
        /// For each parameter its surface tangent, or `None` where the parameter does not vary.
        tangents: Vec<Option<Atom>>,
    },
    /// Value of a function and what its linear part needs. Results: those of the function, then the residual.
    Linearize {
        /// Function, active parameters and type of the residual.
        linear: LinearId,
        /// One for each parameter.
        args: Vec<Atom>,
    },
    /// The linear part: surface tangents of the active arguments to surface tangents of the results.
    Forward {
        /// Which.
        linear: LinearId,
        /// Made by [`Op::Linearize`].
        residual: Atom,
        /// One for each active parameter.
        tangents: Vec<Atom>,
    },
    /// The transpose of the linear part: surface cotangents of the results to surface cotangents of the active arguments.
    Backward {
        /// Which.
        linear: LinearId,
        /// Made by [`Op::Linearize`].
        residual: Atom,
        /// One for each result of the function.
        cotangents: Vec<Atom>,
    },
    /// A function with a derivative rule of its own. Results: those of the function.
    Custom(Box<Custom>),
    /// Operands taken as constants.
    StopGradient(Vec<Atom>),
    /// Taylor coefficients of a function of one real: derivatives of orders 0 to `order`, as an array.
    Taylor {
        /// The function: captured values, then the real.
        func: FuncId,
        /// What it captured.
        captured: Vec<Atom>,
        /// An integer.
        order: Atom,
        /// The real.
        at: Atom,
    },
}

/// A loop over 0, 1, …, `len - 1`. Results: the carried values, the accumulators, then for each output the array of its rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// What is known of the iterations.
    pub mode: Mode,
    /// Whether iterations go from the last to the first. Outputs stand in their places all the same.
    pub backward: bool,
    /// How many iterations; not negative.
    pub len: Atom,
    /// Arrays whose first axis has size `len`; an iteration is given its row of each.
    pub inputs: Vec<Atom>,
    /// What is carried from iteration to iteration: the values before the first.
    pub init: Vec<Atom>,
    /// Accumulators: arrays or reals to which iterations only add, so that their order does not matter but for rounding.
    pub accs: Vec<Atom>,
    /// Parameters: the index, the carried values, the accumulators, a row of each input. Results: the carried values for
    /// the next iteration, the accumulators, and a row of each output.
    pub body: Block,
}

/// What is known of the iterations of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// They do not depend on each other: nothing is carried.
    Each,
    /// Each needs the one before.
    Sequence,
    /// Nothing but carried values in and out, which the body combines with a row of each input associatively, with `init`
    /// neutral: the user said so with `reduce`.
    Reduce,
}

/// A loop as long as a condition holds. Results: the carried values, then for each output the array of its rows.
#[derive(Clone, Debug, PartialEq)]
pub struct While {
    /// The values before the first iteration.
    pub init: Vec<Atom>,
    /// Parameters: the carried values. One result, a truth value.
    pub cond: Block,
    /// Parameters: the carried values. Results: the carried values for the next iteration, and a row of each output.
    pub body: Block,
}

/// A function with a rule of its own: `func` on `captured` and the point.
#[derive(Clone, Debug, PartialEq)]
pub struct Custom {
    /// The function.
    pub func: FuncId,
    /// What it captured: its first arguments.
    pub captured: Vec<Atom>,
    /// The rule.
    pub rule: Rule,
    /// What the rule captured: its first arguments.
    pub rule_captured: Vec<Atom>,
    /// The point: the other arguments of the function.
    pub point: Vec<Atom>,
}

/// A derivative rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// Captured values, the point, a surface tangent for each of its values; to the results and a surface tangent of each.
    Jvp(FuncId),
    /// Captured values and the point, to the results and a function (one value, a closure) from cotangents of the results
    /// to cotangents of the point; the second function applies it.
    Vjp(FuncId, FuncId),
}

/// Arithmetic on integers; `Add`, `Sub`, `Mul`, `Neg`, `Abs` wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "as the primitives of the same names")]
pub enum IntOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    DivFloor,
    ModFloor,
    Neg,
    Abs,
    Sign,
    Min,
    Max,
    Power,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "as the primitives of the same names")]
pub enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Compare {
    /// As it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            Compare::Eq => "==",
            Compare::Ne => "!=",
            Compare::Lt => "<",
            Compare::Le => "<=",
            Compare::Gt => ">",
            Compare::Ge => ">=",
        }
    }

    /// Whether it holds. Of NaN nothing holds but that it is different.
    pub fn holds<T: PartialOrd + ?Sized>(self, x: &T, y: &T) -> bool {
        match self {
            Compare::Eq => x == y,
            Compare::Ne => x != y,
            Compare::Lt => x < y,
            Compare::Le => x <= y,
            Compare::Gt => x > y,
            Compare::Ge => x >= y,
        }
    }

    /// The same with its sides exchanged.
    pub fn turned(self) -> Compare {
        match self {
            Compare::Eq | Compare::Ne => self,
            Compare::Lt => Compare::Gt,
            Compare::Le => Compare::Ge,
            Compare::Gt => Compare::Lt,
            Compare::Ge => Compare::Le,
        }
    }

    /// What holds if and only if this does not. Of NaN neither of two holds that say which is larger.
    pub fn opposite(self) -> Compare {
        match self {
            Compare::Eq => Compare::Ne,
            Compare::Ne => Compare::Eq,
            Compare::Lt => Compare::Ge,
            Compare::Le => Compare::Gt,
            Compare::Gt => Compare::Le,
            Compare::Ge => Compare::Lt,
        }
    }
}

/// Conversions; the four roundings fail on what no integer is near to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "as the primitives of the same names")]
pub enum Convert {
    IntToReal,
    Floor,
    Ceil,
    Round,
    Truncate,
    IsNan,
}

/// Operations on texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TextOp {
    /// One after the other.
    Append,
    /// Number of characters.
    Length,
    /// A real as it is printed.
    ShowReal,
    /// An integer as it is printed.
    ShowInt,
    /// A text as it is printed, quoted.
    ShowText,
}

/// What [`Op::Require`] is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Requirement {
    /// `function` needs arrays of one size.
    SameSize(Name),
    /// `function`: the rows of the first (left) must be as long as the second (right).
    ProductSize(Name),
    /// The user's type says that the array (right) has this size (left) along this axis.
    NamedSize(Name, u32),
    /// Rows of an array literal.
    Rows,
    /// `function` cannot be given a negative count, nor one that no memory can hold: the count (left) and the nearest that it can be
    /// given (right).
    Count(Name),
    /// `operation`: the size of an array in the point (left) and in the tangent (right).
    Shape(Name),
    /// `operation`: the number of the constructor of the point (left) and of the tangent (right), values of this type.
    SameCtor(Name, DataId),
    /// `operation`: how many reals the point holds (left), and how many are given (right).
    Reals(Name),
    /// Arrays that come in are one array of tuples outside. It always holds, and is there to be known.
    Beside,
}

/// How the factors of [`ArrayOp::AddProduct`] lie, and how it is summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lie {
    /// The first of two factors lies transposed.
    pub first: bool,
    /// The second does.
    pub second: bool,
    /// Terms are added from the last to the first.
    pub backward: bool,
}

/// Array operations that take no function. Shapes that do not fit fail as the primitives of these names do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ArrayOp {
    /// Rows, at least one, of one type and shape, to an array.
    Literal,
    /// An array without rows.
    Empty(Elem, u8),
    /// Array; its size along this axis (from 0).
    Length(u8),
    /// Array, one index or several: an element or a row. Fails out of range.
    Index,
    /// Array, one index or several, an element or a row: the array with that in its place.
    Set,
    /// Array of reals, one index or several, an element or a row: the array with that added in its place.
    AddAt,
    /// Two arrays of reals of one shape: their elementwise sum. A shorter one (an array without rows) counts as zero.
    Add,
    /// Array of reals or scalar: zeros of the same shape.
    Zeros,
    /// Integer: `[0, 1, …]`. Fails if negative or huge.
    Iota,
    /// Integer and a row: an array of so many. Fails if negative or huge.
    Replicate,
    /// Two arrays, one after the other.
    Concat,
    /// Array of arrays: rows one after the other.
    Flatten,
    /// Array of arrays of reals and one more array: the first one's elements in the other's two first axes; undoes `Flatten`.
    UnflattenLike,
    /// Array, from, to.
    Slice,
    /// The rows from last to first.
    Reverse,
    /// The two first axes exchanged. With a second array the result has the shape of that one, which is lost where there are no
    /// elements: rows that have none become no rows.
    Transpose,
    /// Array and places: the rows there.
    Gather,
    /// Array of numbers, places, and an array: with each row added at its place.
    ScatterAdd,
    /// Array and an array of truth values: the rows where it is true.
    Filter,
    /// Of the elements of an array of numbers with one axis: their sum, from left to right.
    Sum,
    /// Their product, from left to right.
    Product,
    /// The largest. Fails on an empty array.
    Maximum,
    /// The smallest. Fails on an empty array.
    Minimum,
    /// Where the first largest stands. Fails on an empty array.
    ArgMax,
    /// Where the first smallest stands. Fails on an empty array.
    ArgMin,
    /// Two arrays with one axis: the sum of products, from left to right.
    Dot,
    /// Matrix and vector.
    MatVec,
    /// Two matrices.
    MatMul,
    /// Array of reals, indices or none, and factors, two by two, at most four (two matrices, a matrix and a vector, or a column and a row):
    /// the array with the products of each two added in its place. Term by term: of each pair a product as
    /// [`RealOp::MulZero`], the sum of these to the sum so far. Factors that do not fit there, and a place that is not there, add nothing: this never fails.
    AddProduct(Lie),
    /// Elements in ascending order, NaN last, stable.
    Sort,
    /// The places of the elements in ascending order.
    ArgSort,
    /// All elements of an array in one axis.
    Ravel,
    /// Elements in one axis, and an array: the elements in the shape of the array.
    Reshape,
}
