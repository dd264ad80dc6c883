//! Primitives on numbers, truth values and texts.

#![expect(clippy::wildcard_enum_match_arm, reason = "each function names the primitives that it treats")]

use crate::context::Lower;
use crate::tree::{Kind, Node, Type};
use std::sync::Arc;
use wengert_ir::op::{Atom, Compare, Convert, IntOp, Op, TextOp};
use wengert_ir::ty::Ty;
use wengert_mono::simple::Shown;
use wengert_prim::{Group, Prim, RealOp};

impl Lower<'_> {
    /// A primitive at its arguments, which are evaluated from left to right; `ty` is the type of the result.
    pub(crate) fn primitive(&mut self, prim: Prim, args: &[Node], ty: &Type) -> Vec<Atom> {
        match prim.info().group {
            Group::Number | Group::Real | Group::Int => self.number(prim, args),
            Group::Misc => self.text(prim, args, ty),
            Group::Array => self.array(prim, args, ty),
            Group::Loop => self.repetition(prim, args),
            Group::Derivative => self.derivative_primitive(prim, args, ty),
            Group::Vector => self.vector(prim, args, ty),
        }
    }

    fn number(&mut self, prim: Prim, args: &[Node]) -> Vec<Atom> {
        if let Some(op) = comparison(prim) {
            return self.comparison(op, args);
        }
        if let (Prim::Power, [base, exponent]) = (prim, args) {
            return self.power(base, exponent);
        }
        if let (Prim::Polygamma, [order, x]) = (prim, args) {
            return self.polygamma(order, x);
        }
        let on_int = matches!(args.first().map(|arg| &arg.ty), Some(Type::Int));
        let atoms = self.all(args);
        let atom = if let Some(convert) = conversion(prim) {
            let x = atoms.into_iter().next().unwrap_or(Atom::Unit);
            let ty = match convert {
                Convert::IntToReal => Ty::REAL,
                Convert::IsNan => Ty::BOOL,
                Convert::Floor | Convert::Ceil | Convert::Round | Convert::Truncate => Ty::INT,
            };
            self.one(Op::Convert(convert, x), ty)
        } else if on_int && let Some(op) = int_op(prim) {
            self.int(op, atoms)
        } else if let Some(op) = real_op(prim) {
            self.real(op, atoms)
        } else {
            Atom::Unit
        };
        vec![atom]
    }

    fn power(&mut self, base: &Node, exponent: &Node) -> Vec<Atom> {
        let on_int = matches!(base.ty, Type::Int);
        let base = self.single(base);
        let exponent = self.single(exponent);
        vec![match exponent {
            exponent if on_int => self.int(IntOp::Power, vec![base, exponent]),
            Atom::Int(n) => self.real(RealOp::PowInt(n), vec![base]),
            exponent => self.one(Op::Power { base, exponent }, Ty::REAL),
        }]
    }

    fn polygamma(&mut self, order: &Node, x: &Node) -> Vec<Atom> {
        let order = self.single(order);
        let x = self.single(x);
        let known = if let Atom::Int(n) = order { u32::try_from(n).ok() } else { None };
        vec![match known {
            Some(0) => self.real(RealOp::Digamma, vec![x]),
            Some(n) => self.real(RealOp::Polygamma(n), vec![x]),
            None => self.one(Op::Polygamma { order, x }, Ty::REAL),
        }]
    }

    fn comparison(&mut self, op: Compare, args: &[Node]) -> Vec<Atom> {
        let [a, b] = args else { return Vec::new() };
        let (x, y) = (self.term(a), self.term(b));
        match (op, &a.ty) {
            (Compare::Lt | Compare::Le | Compare::Gt | Compare::Ge, _)
            | (_, Type::Real | Type::Int | Type::Bool | Type::Text) => {
                let (x, y) = (x.into_iter().next(), y.into_iter().next());
                vec![self.compare(op, x.unwrap_or(Atom::Unit), y.unwrap_or(Atom::Unit))]
            }
            (op, ty) => {
                let equal = self.equal(ty, x, y);
                vec![if op == Compare::Ne { self.one(Op::Not(equal), Ty::BOOL) } else { equal }]
            }
        }
    }

    fn text(&mut self, prim: Prim, args: &[Node], ty: &Type) -> Vec<Atom> {
        let mut atoms = self.all(args);
        match prim {
            Prim::Not => {
                let x = atoms.pop().unwrap_or(Atom::Unit);
                vec![self.one(Op::Not(x), Ty::BOOL)]
            }
            Prim::Append => vec![self.one(Op::Text(TextOp::Append, atoms), Ty::TEXT)],
            Prim::StringLength => vec![self.one(Op::Text(TextOp::Length, atoms), Ty::INT)],
            Prim::Show => {
                let of = args.first().map_or_else(Type::unit, |arg| arg.ty.clone());
                let shown = match args.first().map(|arg| &arg.kind) {
                    Some(Kind::Var(var)) => self.tree.vars.at(*var).shown.clone(),
                    _ => None,
                };
                vec![self.show(&of, &shown.unwrap_or(Shown::Plain), atoms)]
            }
            _ => {
                let message = atoms.pop().unwrap_or_else(|| Atom::Text(Arc::from("")));
                let types = self.flat(ty);
                self.emit(Op::Fail { message }, &types)
            }
        }
    }
}

/// Whether a term is a literal or a variable, so that evaluating it does nothing.
pub(crate) fn is_trivial(node: &Node) -> bool {
    matches!(node.kind, Kind::Var(_) | Kind::Int(_) | Kind::Real(_) | Kind::Bool(_) | Kind::Text(_))
}

fn comparison(prim: Prim) -> Option<Compare> {
    match prim.info().name {
        "==" => Some(Compare::Eq),
        "!=" => Some(Compare::Ne),
        "<" => Some(Compare::Lt),
        "<=" => Some(Compare::Le),
        ">" => Some(Compare::Gt),
        ">=" => Some(Compare::Ge),
        _ => None,
    }
}

fn conversion(prim: Prim) -> Option<Convert> {
    match prim.info().name {
        "real" => Some(Convert::IntToReal),
        "floor" => Some(Convert::Floor),
        "ceil" => Some(Convert::Ceil),
        "round" => Some(Convert::Round),
        "truncate" => Some(Convert::Truncate),
        "is_nan" => Some(Convert::IsNan),
        _ => None,
    }
}

fn int_op(prim: Prim) -> Option<IntOp> {
    Some(match prim {
        Prim::Add => IntOp::Add,
        Prim::Sub => IntOp::Sub,
        Prim::Mul => IntOp::Mul,
        Prim::Div => IntOp::Div,
        Prim::Neg => IntOp::Neg,
        Prim::Abs => IntOp::Abs,
        Prim::Sign => IntOp::Sign,
        Prim::Min => IntOp::Min,
        Prim::Max => IntOp::Max,
        Prim::Rem => IntOp::Rem,
        Prim::DivFloor => IntOp::DivFloor,
        Prim::ModFloor => IntOp::ModFloor,
        Prim::BitAnd => IntOp::BitAnd,
        Prim::BitOr => IntOp::BitOr,
        Prim::BitXor => IntOp::BitXor,
        Prim::ShiftLeft => IntOp::ShiftLeft,
        Prim::ShiftRight => IntOp::ShiftRight,
        _ => return None,
    })
}

fn real_op(prim: Prim) -> Option<RealOp> {
    Some(match prim {
        Prim::Add => RealOp::Add,
        Prim::Sub => RealOp::Sub,
        Prim::Mul => RealOp::Mul,
        Prim::Div => RealOp::Div,
        Prim::Neg => RealOp::Neg,
        Prim::Abs => RealOp::Abs,
        Prim::Sign => RealOp::Sign,
        Prim::Min => RealOp::Min,
        Prim::Max => RealOp::Max,
        Prim::Pow => RealOp::Pow,
        Prim::Exp => RealOp::Exp,
        Prim::Expm1 => RealOp::Expm1,
        Prim::Log => RealOp::Log,
        Prim::Log1p => RealOp::Log1p,
        Prim::Log2 => RealOp::Log2,
        Prim::Log10 => RealOp::Log10,
        Prim::Sqrt => RealOp::Sqrt,
        Prim::Cbrt => RealOp::Cbrt,
        Prim::Sin => RealOp::Sin,
        Prim::Cos => RealOp::Cos,
        Prim::Tan => RealOp::Tan,
        Prim::Asin => RealOp::Asin,
        Prim::Acos => RealOp::Acos,
        Prim::Atan => RealOp::Atan,
        Prim::Atan2 => RealOp::Atan2,
        Prim::Sinh => RealOp::Sinh,
        Prim::Cosh => RealOp::Cosh,
        Prim::Tanh => RealOp::Tanh,
        Prim::Asinh => RealOp::Asinh,
        Prim::Acosh => RealOp::Acosh,
        Prim::Atanh => RealOp::Atanh,
        Prim::Hypot => RealOp::Hypot,
        Prim::Gamma => RealOp::Gamma,
        Prim::Lgamma => RealOp::Lgamma,
        Prim::Digamma => RealOp::Digamma,
        Prim::Erf => RealOp::Erf,
        Prim::Erfc => RealOp::Erfc,
        Prim::Relu => RealOp::Relu,
        Prim::Sigmoid => RealOp::Sigmoid,
        Prim::Softplus => RealOp::Softplus,
        _ => return None,
    })
}
