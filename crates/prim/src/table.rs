//! Every built-in function of the language: surface name, signature, documentation.
//!
//! Signatures are written as in the surface language. Type variables are lower-case; `Num a =>` and the like are the
//! predicates; sizes are named in brackets, `[]a` is an array whose size only the running program knows, and `#n` is an
//! `Int` argument that is itself the size `n` (known before running where it is a literal or the `length` of an array).

/// What a primitive is about; the chapters of the library reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Group {
    /// Arithmetic and comparison, on `Int` and `Real`.
    Number,
    /// Functions of real numbers.
    Real,
    /// `Int` only.
    Int,
    /// Truth values and text.
    Misc,
    /// Arrays.
    Array,
    /// Loops.
    Loop,
    /// Derivatives.
    Derivative,
    /// Tangents and cotangents as vectors.
    Vector,
}

/// What there is to know about a primitive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrimInfo {
    /// The primitive.
    pub prim: Prim,
    /// Its surface name; operators as written, `+`.
    pub name: &'static str,
    /// Its chapter.
    pub group: Group,
    /// Its type.
    pub sig: &'static str,
    /// How many arguments make it saturated.
    pub arity: usize,
    /// What it does, in one sentence of Markdown.
    pub doc: &'static str,
}

macro_rules! prims {
    ($($prim:ident $name:literal $group:ident $arity:literal $sig:literal $doc:literal;)*) => {
        /// A built-in function.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Prim { $(#[doc = $doc] $prim,)* }

        /// The table, in the order of the reference.
        pub const PRIMS: &[PrimInfo] = &[$(PrimInfo {
            prim: Prim::$prim, name: $name, group: Group::$group, sig: $sig, arity: $arity, doc: $doc,
        },)*];
    };
}

prims! {
    Add "+" Number 2 "Num a => a -> a -> a" "Sum.";
    Sub "-" Number 2 "Num a => a -> a -> a" "Difference.";
    Mul "*" Number 2 "Num a => a -> a -> a" "Product.";
    Div "/" Number 2 "Num a => a -> a -> a" "Quotient; on `Int` rounded towards zero, and division by zero is an error.";
    Neg "negate" Number 1 "Num a => a -> a" "The number with the other sign; written `-x`.";
    Power "^" Number 2 "Num a => a -> Int -> a" "Power with an `Int` exponent; a negative exponent of an `Int` is an error.";
    Abs "abs" Number 1 "Num a => a -> a" "Absolute value; its derivative at 0 is 0.";
    Sign "sign" Number 1 "Num a => a -> a" "-1, 0 or 1; its derivative is 0.";
    Min "min" Number 2 "Num a => a -> a -> a" "The smaller; at ties the derivative goes to the first argument.";
    Max "max" Number 2 "Num a => a -> a -> a" "The larger; at ties the derivative goes to the first argument.";
    Eq "==" Number 2 "Data a => a -> a -> Bool" "Equality of first-order values; `NaN` equals nothing.";
    Ne "!=" Number 2 "Data a => a -> a -> Bool" "Not equal.";
    Lt "<" Number 2 "Ord a => a -> a -> Bool" "Less.";
    Le "<=" Number 2 "Ord a => a -> a -> Bool" "Less or equal.";
    Gt ">" Number 2 "Ord a => a -> a -> Bool" "Greater.";
    Ge ">=" Number 2 "Ord a => a -> a -> Bool" "Greater or equal.";

    Pow "**" Real 2 "Real -> Real -> Real" "Power with a `Real` exponent.";
    Exp "exp" Real 1 "Real -> Real" "The exponential.";
    Expm1 "expm1" Real 1 "Real -> Real" "`exp x - 1`, accurate near 0.";
    Log "log" Real 1 "Real -> Real" "Natural logarithm.";
    Log1p "log1p" Real 1 "Real -> Real" "`log (1 + x)`, accurate near 0.";
    Log2 "log2" Real 1 "Real -> Real" "Logarithm to base 2.";
    Log10 "log10" Real 1 "Real -> Real" "Logarithm to base 10.";
    Sqrt "sqrt" Real 1 "Real -> Real" "Square root; its derivative at 0 is `Infinity`.";
    Cbrt "cbrt" Real 1 "Real -> Real" "Cube root.";
    Sin "sin" Real 1 "Real -> Real" "Sine.";
    Cos "cos" Real 1 "Real -> Real" "Cosine.";
    Tan "tan" Real 1 "Real -> Real" "Tangent.";
    Asin "asin" Real 1 "Real -> Real" "Inverse sine.";
    Acos "acos" Real 1 "Real -> Real" "Inverse cosine.";
    Atan "atan" Real 1 "Real -> Real" "Inverse tangent.";
    Atan2 "atan2" Real 2 "Real -> Real -> Real" "`atan2 y x`: the angle of the point `(x, y)`.";
    Sinh "sinh" Real 1 "Real -> Real" "Hyperbolic sine.";
    Cosh "cosh" Real 1 "Real -> Real" "Hyperbolic cosine.";
    Tanh "tanh" Real 1 "Real -> Real" "Hyperbolic tangent.";
    Asinh "asinh" Real 1 "Real -> Real" "Inverse hyperbolic sine.";
    Acosh "acosh" Real 1 "Real -> Real" "Inverse hyperbolic cosine.";
    Atanh "atanh" Real 1 "Real -> Real" "Inverse hyperbolic tangent.";
    Hypot "hypot" Real 2 "Real -> Real -> Real" "`sqrt (x ^ 2 + y ^ 2)` without overflow; its derivative at the origin is 0.";
    Gamma "gamma" Real 1 "Real -> Real" "The gamma function.";
    Lgamma "lgamma" Real 1 "Real -> Real" "Logarithm of the absolute value of the gamma function.";
    Digamma "digamma" Real 1 "Real -> Real" "Derivative of `lgamma`.";
    Polygamma "polygamma" Real 2 "Int -> Real -> Real" "`polygamma n`: the `n`-th derivative of `digamma`; `n` must not be negative.";
    Erf "erf" Real 1 "Real -> Real" "The error function.";
    Erfc "erfc" Real 1 "Real -> Real" "`1 - erf x`, accurate for large `x`.";
    Relu "relu" Real 1 "Real -> Real" "`max x 0`, with derivative 0 at 0.";
    Sigmoid "sigmoid" Real 1 "Real -> Real" "`1 / (1 + exp (-x))`.";
    Softplus "softplus" Real 1 "Real -> Real" "`log (1 + exp x)`, without overflow.";
    Real "real" Real 1 "Int -> Real" "The `Real` nearest to an `Int`.";
    Floor "floor" Real 1 "Real -> Int" "The largest `Int` not above; its derivative is 0.";
    Ceil "ceil" Real 1 "Real -> Int" "The smallest `Int` not below.";
    Round "round" Real 1 "Real -> Int" "The nearest `Int`, halves away from zero.";
    Truncate "truncate" Real 1 "Real -> Int" "The `Int` towards zero.";
    IsNan "is_nan" Real 1 "Real -> Bool" "Whether it is `NaN`.";

    Rem "%" Int 2 "Int -> Int -> Int" "Remainder of `/`, with the sign of the dividend.";
    DivFloor "div" Int 2 "Int -> Int -> Int" "Quotient rounded down.";
    ModFloor "mod" Int 2 "Int -> Int -> Int" "Remainder of `div`, with the sign of the divisor.";
    BitAnd "bit_and" Int 2 "Int -> Int -> Int" "Bitwise and.";
    BitOr "bit_or" Int 2 "Int -> Int -> Int" "Bitwise or.";
    BitXor "bit_xor" Int 2 "Int -> Int -> Int" "Bitwise exclusive or.";
    ShiftLeft "shift_left" Int 2 "Int -> Int -> Int" "Shift left by 0 to 63 bits.";
    ShiftRight "shift_right" Int 2 "Int -> Int -> Int" "Shift right by 0 to 63 bits, filling with zeros.";

    Not "not" Misc 1 "Bool -> Bool" "Negation.";
    Append "++" Misc 2 "String -> String -> String" "One text after the other.";
    StringLength "string_length" Misc 1 "String -> Int" "Number of characters.";
    Show "show" Misc 1 "Data a => a -> String" "The value as `eval` prints it.";
    Fail "fail" Misc 1 "String -> a" "Stops the program with a message.";

    Length "length" Array 1 "[n]a -> Int" "Number of elements.";
    Index "index" Array 2 "[n]a -> Int -> a" "Element `i`, counted from 0; written `xs[i]`.";
    Build "build" Array 2 "#n -> (Int -> a) -> [n]a" "The array of `f 0`, `f 1`, …, `f (n - 1)`.";
    Iota "iota" Array 1 "#n -> [n]Int" "`[0, 1, …, n - 1]`.";
    Replicate "replicate" Array 2 "#n -> a -> [n]a" "`n` times the same.";
    SetIndex "set" Array 3 "[n]a -> Int -> a -> [n]a" "The array with element `i` replaced.";
    Map "map" Array 2 "(a -> b) -> [n]a -> [n]b" "The function applied to each element.";
    Map2 "map2" Array 3 "(a -> b -> c) -> [n]a -> [n]b -> [n]c" "The function applied to elements of two arrays of one size.";
    Zip "zip" Array 2 "[n]a -> [n]b -> [n](a, b)" "Pairs of elements.";
    Unzip "unzip" Array 1 "[n](a, b) -> ([n]a, [n]b)" "The two arrays that `zip` joined.";
    Fold "fold" Array 3 "(b -> a -> b) -> b -> [n]a -> b" "`f (… (f (f z xs[0]) xs[1]) …)`.";
    Scan "scan" Array 3 "(b -> a -> b) -> b -> [n]a -> [n]b" "All results of `fold` but the first: as long as the array.";
    Reduce "reduce" Array 3 "(a -> a -> a) -> a -> [n]a -> a" "As `fold`, for an associative function with neutral element `z`.";
    Filter "filter" Array 2 "(a -> Bool) -> [n]a -> []a" "The elements for which the function is true.";
    Sum "sum" Array 1 "Num a => [n]a -> a" "Sum of the elements.";
    Product "product" Array 1 "Num a => [n]a -> a" "Product of the elements.";
    Maximum "maximum" Array 1 "Num a => [n]a -> a" "The largest element; at ties the derivative goes to the first.";
    Minimum "minimum" Array 1 "Num a => [n]a -> a" "The smallest element; at ties the derivative goes to the first.";
    ArgMax "argmax" Array 1 "Num a => [n]a -> Int" "Where the first largest element stands.";
    ArgMin "argmin" Array 1 "Num a => [n]a -> Int" "Where the first smallest element stands.";
    Transpose "transpose" Array 1 "[n][m]a -> [m][n]a" "Rows become columns.";
    Dot "dot" Array 2 "Num a => [n]a -> [n]a -> a" "Sum of products.";
    MatVec "matvec" Array 2 "Num a => [m][n]a -> [n]a -> [m]a" "Matrix times vector.";
    MatMul "matmul" Array 2 "Num a => [m][k]a -> [k][n]a -> [m][n]a" "Matrix product.";
    Concat "concat" Array 2 "[n]a -> [m]a -> []a" "One array after the other.";
    Flatten "flatten" Array 1 "[n][m]a -> []a" "The rows one after the other.";
    Slice "slice" Array 3 "[n]a -> Int -> Int -> []a" "`slice xs i j`: the elements from `i` up to but not including `j`.";
    Reverse "reverse" Array 1 "[n]a -> [n]a" "The elements from last to first.";
    Gather "gather" Array 2 "[n]a -> [m]Int -> [m]a" "The elements at the given places.";
    ScatterAdd "scatter_add" Array 3 "Num a => [n]a -> [m]Int -> [m]a -> [n]a" "The array with each value added at its place.";
    Sort "sort" Array 1 "Ord a => [n]a -> [n]a" "The elements in ascending order, equal ones in their old order, `NaN` last.";
    ArgSort "argsort" Array 1 "Ord a => [n]a -> [n]Int" "The places of the elements in ascending order.";

    Iterate "iterate" Loop 3 "Int -> (a -> a) -> a -> a" "The function applied `n` times.";
    WhileLoop "while_loop" Loop 3 "(a -> Bool) -> (a -> a) -> a -> a" "The function applied as long as the condition holds.";

    Jvp "jvp" Derivative 2 "Smooth a => (a -> b) -> (a, a) -> (b, b)" "Value and directional derivative: `jvp f (x, t)`.";
    Vjp "vjp" Derivative 2 "(Data a, Smooth a, Data b) => (a -> b) -> a -> (b, b -> a)" "Value and the function from cotangents of the result to cotangents of the argument.";
    Linearize "linearize" Derivative 2 "Smooth a => (a -> b) -> a -> (b, a -> b)" "Value and tangent map; the map is computed once.";
    Pullback "pullback" Derivative 3 "Smooth a => (a -> b) -> (b -> Dual b) -> a -> Dual a" "The pullback of a 1-form along a function (`Ω`).";
    ApplyDual "apply_dual" Derivative 2 "Dual a -> a -> Real" "A linear functional at a tangent.";
    ToDual "to_dual" Derivative 1 "Tangent a => a -> Dual a" "The functional that takes the inner product with a vector.";
    FromDual "from_dual" Derivative 1 "Tangent a => Dual a -> a" "The vector of a functional.";
    Taylor "taylor" Derivative 3 "Int -> (Real -> Real) -> Real -> []Real" "`taylor n f x`: f, f′, f″, … up to order `n`, at polynomial cost.";
    CustomJvp "custom_jvp" Derivative 3 "(a -> b) -> ((a, a) -> (b, b)) -> a -> b" "The function with its own rule for tangents, which must be linear in them.";
    CustomVjp "custom_vjp" Derivative 3 "(Data a, Data b) => (a -> b) -> (a -> (b, b -> a)) -> a -> b" "The function with its own rule for cotangents, which must be linear in them.";
    StopGradient "stop_gradient" Derivative 1 "a -> a" "The same value, taken as a constant.";
    Checkpoint "checkpoint" Derivative 2 "(a -> b) -> a -> b" "The same function; reverse mode runs it again instead of storing its steps.";

    VecZero "zero" Vector 1 "Tangent a => a -> a" "The zero tangent at a point: its `Real`s are 0, the rest is as it was.";
    VecAdd "add" Vector 2 "Tangent a => a -> a -> a" "Sum of two tangents at one point (`⊕`).";
    VecScale "scale" Vector 2 "Tangent a => Real -> a -> a" "A multiple of a tangent (`⊗`).";
    VecInner "inner" Vector 2 "Tangent a => a -> a -> Real" "Inner product of two tangents (`⊙`).";
    Ravel "ravel" Vector 1 "Tangent a => a -> []Real" "All `Real`s of a value, from left to right.";
    Unravel "unravel" Vector 2 "Tangent a => a -> [n]Real -> a" "The value with its `Real`s replaced, from left to right.";
}

impl Prim {
    /// Its entry in the table.
    #[expect(clippy::indexing_slicing, reason = "the table has an entry for each variant, in order")]
    pub fn info(self) -> &'static PrimInfo {
        &PRIMS[self as usize]
    }

    /// The primitive of that surface name.
    pub fn by_name(name: &str) -> Option<Prim> {
        PRIMS.iter().find(|info| info.name == name).map(|info| info.prim)
    }
}
