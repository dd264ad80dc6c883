//! Numbers, truth values and texts.
//!
//! Integer division is by literals that are not zero, conversions to `Int` are of values that are certainly numbers, and
//! powers have literal exponents: nothing here can fail when the program runs.

use super::{Gen, Made, literal};
use crate::tree::{Form, Node};
use crate::ty::GenType;
use crate::value::GenValue;
use arbitrary::Result;
use wengert_base::Name;
use wengert_syntax::ast::BinOp;

/// Smooth, bounded, without poles.
const BOUNDED: &[&str] = &["sin", "tanh", "cos", "atan", "erf", "sigmoid"];

/// Smooth, growing no faster than linearly.
const SMOOTH: &[&str] = &["sin", "tanh", "cos", "atan", "erf", "sigmoid", "softplus", "asinh", "erfc"];

/// With kinks, poles, or limited domains.
const ROUGH: &[&str] = &[
    "abs",
    "relu",
    "sqrt",
    "log",
    "exp",
    "tan",
    "cbrt",
    "sign",
    "log1p",
    "expm1",
    "asin",
    "acos",
    "sinh",
    "cosh",
    "acosh",
    "atanh",
    "log2",
    "log10",
    "stop_gradient",
    "lgamma",
    "gamma",
    "digamma",
];

/// A call of a library function.
pub(super) fn call(ty: GenType, name: &str, args: Vec<Node>) -> Node {
    Node::new(ty, Form::Call(Name::new(name)), args)
}

/// A literal `Real`.
fn constant(x: f64) -> Node {
    literal(&GenType::Real, GenValue::Real(x))
}

/// `a op b`
fn binary(ty: GenType, op: BinOp, lhs: Node, rhs: Node) -> Node {
    Node::new(ty, Form::Binary(op), vec![lhs, rhs])
}

impl Gen<'_, '_> {
    /// A `Real`, squeezed if the program must be smooth.
    pub(super) fn bounded_real(&mut self) -> Result<Node> {
        let arg = self.expr(&GenType::Real)?;
        if !self.config.smooth {
            return Ok(arg);
        }
        let name = *self.u.choose(BOUNDED)?;
        Ok(call(GenType::Real, name, vec![arg]))
    }

    /// A value of which every `Real` is squeezed if the program must be smooth.
    pub(super) fn bounded(&mut self, ty: &GenType) -> Result<Node> {
        match ty {
            GenType::Real => self.bounded_real(),
            GenType::Tuple(items) if self.config.smooth => {
                let items = items.iter().map(|item| self.bounded(item)).collect::<Result<_>>()?;
                Ok(Node::new(ty.clone(), Form::Tuple, items))
            }
            GenType::Record(fields) if self.config.smooth => {
                let names = fields.iter().map(|(name, _)| *name).collect();
                let items = fields.iter().map(|(_, field)| self.bounded(field)).collect::<Result<_>>()?;
                Ok(Node::new(ty.clone(), Form::Record(names), items))
            }
            GenType::Array(n, elem) if self.config.smooth => {
                let items = (0..*n).map(|_| self.bounded(elem)).collect::<Result<_>>()?;
                Ok(Node::new(ty.clone(), Form::Array, items))
            }
            GenType::Int
            | GenType::Bool
            | GenType::String
            | GenType::Tuple(_)
            | GenType::Record(_)
            | GenType::Array(..)
            | GenType::Data(..)
            | GenType::Fun(..)
            | GenType::Param => self.expr(ty),
        }
    }

    /// A factor: in smooth mode something small, so that products of products stay moderate.
    fn factor(&mut self) -> Result<Node> {
        if self.u.ratio(1, 2)? { self.leaf(&GenType::Real) } else { self.bounded_real() }
    }

    /// A `Real` made of `Real`s.
    pub(super) fn real(&mut self) -> Result<Node> {
        let real = GenType::Real;
        Ok(match self.u.int_in_range(0..=17)? {
            0 | 1 => binary(real.clone(), BinOp::Add, self.expr(&real)?, self.expr(&real)?),
            2 => binary(real.clone(), BinOp::Sub, self.expr(&real)?, self.expr(&real)?),
            3..=5 => binary(real, BinOp::Mul, self.factor()?, self.factor()?),
            6 | 7 => {
                let name = *self.u.choose(SMOOTH)?;
                call(real.clone(), name, vec![self.expr(&real)?])
            }
            8 => Node::new(real.clone(), Form::Neg, vec![self.expr(&real)?]),
            9 => Node::new(real, Form::Power(self.u.int_in_range(0..=3)?), vec![self.factor()?]),
            10 => self.tame_pole()?,
            11 => {
                let vjp = self.u.arbitrary()?;
                Node::new(real.clone(), Form::CustomRule { vjp }, vec![self.expr(&real)?])
            }
            12 => call(real.clone(), "real", vec![self.small_int()?]),
            13 => self.array_to_real()?,
            14 => Node::new(real.clone(), Form::Annotated, vec![self.expr(&real)?]),
            _ if self.config.smooth => call(real.clone(), "hypot", vec![constant(1.0), self.expr(&real)?]),
            _ => self.rough()?,
        })
    }

    /// A function with a singularity, at a safe distance from it.
    fn tame_pole(&mut self) -> Result<Node> {
        let real = GenType::Real;
        let squeezed = call(real.clone(), "sin", vec![self.expr(&real)?]);
        let positive = binary(real.clone(), BinOp::Add, constant(1.75), squeezed);
        Ok(match self.u.int_in_range(0..=5)? {
            0 => binary(real, BinOp::Div, self.factor()?, positive),
            1 => call(real, "log", vec![positive]),
            2 => call(real, "sqrt", vec![positive]),
            3 => call(real, "lgamma", vec![positive]),
            4 => binary(real, BinOp::RealPower, positive, self.bounded_real()?),
            _ => call(real, "exp", vec![positive]),
        })
    }

    /// Kinks and poles.
    fn rough(&mut self) -> Result<Node> {
        let real = GenType::Real;
        Ok(match self.u.int_in_range(0..=5)? {
            0 => call(real.clone(), "min", vec![self.expr(&real)?, self.expr(&real)?]),
            1 => call(real.clone(), "max", vec![self.expr(&real)?, self.expr(&real)?]),
            2 => binary(real.clone(), BinOp::Div, self.expr(&real)?, self.expr(&real)?),
            3 => call(real.clone(), "atan2", vec![self.expr(&real)?, self.expr(&real)?]),
            _ => {
                let name = *self.u.choose(ROUGH)?;
                call(real.clone(), name, vec![self.expr(&real)?])
            }
        })
    }

    /// `sum xs`, `dot xs ys`, and the like.
    fn array_to_real(&mut self) -> Result<Node> {
        let real = GenType::Real;
        if !self.config.arrays {
            return self.leaf(&real);
        }
        let array = GenType::array(self.u.int_in_range(1..=3)?, real.clone());
        Ok(match self.u.int_in_range(0..=5)? {
            5 => {
                let (m, n) = (self.u.int_in_range(1..=3)?, self.u.int_in_range(1..=3)?);
                let matrix = self.expr(&GenType::array(m, GenType::array(n, real.clone())))?;
                let vector = self.bounded(&GenType::array(n, real.clone()))?;
                let product = call(GenType::array(m, real.clone()), "matvec", vec![matrix, vector]);
                call(real, "sum", vec![product])
            }
            0 | 1 => call(real, "sum", vec![self.expr(&array)?]),
            2 => call(real, "dot", vec![self.bounded(&array)?, self.bounded(&array)?]),
            3 => call(real, "inner", vec![self.bounded(&array)?, self.bounded(&array)?]),
            _ if self.config.smooth => call(real, "product", vec![self.bounded(&array)?]),
            _ => {
                let name = *self.u.choose(&["product", "maximum", "minimum", "norm"])?;
                call(real, name, vec![self.expr(&array)?])
            }
        })
    }

    /// An `Int` between -10 and 10, for conversion to `Real`.
    fn small_int(&mut self) -> Result<Node> {
        let int = self.expr(&GenType::Int)?;
        Ok(binary(GenType::Int, BinOp::Rem, int, literal(&GenType::Int, GenValue::Int(7))))
    }

    /// An `Int` made of parts.
    pub(super) fn int(&mut self) -> Result<Node> {
        let int = GenType::Int;
        let divisor = literal(&int, GenValue::Int(self.u.int_in_range(1..=5)?));
        Ok(match self.u.int_in_range(0..=9)? {
            0 => binary(int.clone(), BinOp::Add, self.expr(&int)?, self.expr(&int)?),
            1 => binary(int.clone(), BinOp::Sub, self.expr(&int)?, self.expr(&int)?),
            2 => binary(int.clone(), BinOp::Mul, self.expr(&int)?, self.expr(&int)?),
            3 => binary(int.clone(), BinOp::Div, self.expr(&int)?, divisor),
            4 => binary(int.clone(), BinOp::Rem, self.expr(&int)?, divisor),
            5 => {
                let name = *self.u.choose(&["mod", "div", "min", "max", "bit_and", "bit_xor"])?;
                call(int.clone(), name, vec![self.expr(&int)?, divisor])
            }
            6 => {
                let name = *self.u.choose(&["abs", "negate", "sign"])?;
                call(int.clone(), name, vec![self.expr(&int)?])
            }
            7 if self.config.arrays => {
                let array = GenType::array(self.u.int_in_range(0..=3)?, self.some_type(0)?);
                call(int, "length", vec![self.expr(&array)?])
            }
            8 if !self.config.smooth => {
                let name = *self.u.choose(&["floor", "ceil", "round", "truncate"])?;
                let real = call(GenType::Real, "real", vec![self.small_int()?]);
                let half = binary(GenType::Real, BinOp::Mul, real, constant(0.4375));
                call(int, name, vec![half])
            }
            _ => Node::new(int.clone(), Form::Power(self.u.int_in_range(0..=3)?), vec![self.expr(&int)?]),
        })
    }

    /// A truth value made of parts.
    pub(super) fn boolean(&mut self) -> Result<Node> {
        let bool = GenType::Bool;
        let logic = [BinOp::And, BinOp::Or, BinOp::Eq, BinOp::Ne];
        let order = [BinOp::Lt, BinOp::Le, BinOp::Gt, BinOp::Ge, BinOp::Eq, BinOp::Ne];
        Ok(match self.u.int_in_range(0..=6)? {
            0 | 1 => {
                let op = *self.u.choose(&logic)?;
                binary(bool.clone(), op, self.expr(&bool)?, self.expr(&bool)?)
            }
            2 => call(bool.clone(), "not", vec![self.expr(&bool)?]),
            3 if !self.config.smooth => {
                let op = *self.u.choose(&order)?;
                let a = self.expr(&GenType::Real)?;
                // A number that is no number is not equal to itself.
                let again = matches!(a.form, Form::Var(_)) && self.u.ratio(1, 3)?;
                let b = if again { a.clone() } else { self.expr(&GenType::Real)? };
                binary(bool, op, a, b)
            }
            4 if self.config.strings => {
                let op = *self.u.choose(&order)?;
                binary(bool, op, self.expr(&GenType::String)?, self.expr(&GenType::String)?)
            }
            _ => {
                let op = *self.u.choose(&order)?;
                binary(bool, op, self.expr(&GenType::Int)?, self.expr(&GenType::Int)?)
            }
        })
    }

    /// A text made of parts.
    pub(super) fn string(&mut self) -> Result<Node> {
        let string = GenType::String;
        let shown = match self.u.int_in_range(0..=3)? {
            0 => return Ok(binary(string.clone(), BinOp::Append, self.expr(&string)?, self.expr(&string)?)),
            1 if !self.config.smooth => GenType::Real,
            2 => GenType::Bool,
            _ => GenType::Int,
        };
        Ok(call(string, "show", vec![self.expr(&shown)?]))
    }

    /// `xs[i]`, the index being kept in range.
    pub(super) fn index(&mut self, ty: &GenType) -> Made {
        if !self.config.arrays {
            return Ok(None);
        }
        let n = self.u.int_in_range(1..=3)?;
        let array = self.expr(&GenType::array(n, ty.clone()))?;
        if self.u.ratio(1, 2)? {
            let i = self.u.int_in_range(0..=n - 1)?;
            return Ok(Some(Node::new(ty.clone(), Form::Index(i), vec![array])));
        }
        let int = self.expr(&GenType::Int)?;
        let size = literal(&GenType::Int, GenValue::Int(n.cast_signed()));
        let inside = call(GenType::Int, "mod", vec![int, size]);
        Ok(Some(call(ty.clone(), "index", vec![array, inside])))
    }
}
