//! Statements without blocks: arithmetic, arrays, data, calls.

use super::{Gen, SIZE};
use crate::op::{ArrayOp, Atom, Compare, Convert, IntOp, Lie, Op, TextOp};
use crate::program::FuncId;
use crate::ty::{Elem, Id, Ty};
use wengert_prim::RealOp;

const REALS: Ty = Ty::Array(Elem::Real, 1);
const ROWS: Ty = Ty::Array(Elem::Real, 2);
const INTS: Ty = Ty::Array(Elem::Int, 1);
const BOOLS: Ty = Ty::Array(Elem::Bool, 1);

impl Gen<'_> {
    /// Any statement.
    pub(super) fn stmt(&mut self) {
        let nested = self.depth < self.config.depth;
        match self.random.below(if nested { 20 } else { 13 }) {
            0..4 => self.real_stmt(),
            4 => self.int_stmt(),
            5 => self.test(),
            6..9 => self.array_of_reals(),
            9 => self.other_array(),
            10 => self.select(),
            11 => self.call(),
            12 => self.rare(),
            13 => self.if_else(),
            14 => self.match_on(),
            15 | 16 => self.each(),
            17 => self.sequence(),
            18 => self.reduce(),
            _ => self.while_loop(),
        }
    }

    fn real_stmt(&mut self) {
        if self.random.once_in(4) {
            return self.reduction();
        }
        let common =
            [RealOp::Add, RealOp::Sub, RealOp::Mul, RealOp::Mul, RealOp::Sin, RealOp::Tanh, RealOp::Neg];
        let ops: &[RealOp] = if self.random.once_in(2) { &common } else { RealOp::SAMPLES };
        let op = self.random.pick(ops).unwrap_or(RealOp::Add);
        let args = (0..op.arity()).map(|_| self.value(Ty::REAL)).collect();
        self.emit1(Ty::REAL, Op::Real(op, args));
    }

    /// A real from an array.
    fn reduction(&mut self) {
        let op = match self.random.below(7) {
            0 | 1 => Op::Array(ArrayOp::Index, vec![self.value(REALS), self.place()]),
            2 => Op::Array(ArrayOp::Index, vec![self.value(ROWS), self.place(), self.place()]),
            3 => Op::Array(ArrayOp::Sum, vec![self.value(REALS)]),
            4 => Op::Array(ArrayOp::Product, vec![self.value(REALS)]),
            5 => Op::Array(ArrayOp::Dot, vec![self.value(REALS), self.value(REALS)]),
            _ => {
                let op = if self.random.once_in(2) { ArrayOp::Maximum } else { ArrayOp::Minimum };
                Op::Array(op, vec![self.value(REALS)])
            }
        };
        self.emit1(Ty::REAL, op);
    }

    /// An index that is in range.
    fn place(&mut self) -> Atom {
        if self.random.once_in(2) {
            return Atom::Int(self.random.below(SIZE) as i64);
        }
        let index = self.value(Ty::INT);
        self.emit1(Ty::INT, Op::Int(IntOp::ModFloor, vec![index, Atom::Int(SIZE as i64)]))
    }

    /// Indices that are in range.
    fn places(&mut self) -> Atom {
        match self.random.below(3) {
            0 => self.emit1(INTS, Op::Array(ArrayOp::Iota, vec![Atom::Int(SIZE as i64)])),
            1 => {
                let keys = self.value(REALS);
                self.emit1(INTS, Op::Array(ArrayOp::ArgSort, vec![keys]))
            }
            _ => {
                let places = (0..SIZE).map(|_| self.place()).collect();
                self.emit1(INTS, Op::Array(ArrayOp::Literal, places))
            }
        }
    }

    fn int_stmt(&mut self) {
        let total =
            [IntOp::Add, IntOp::Sub, IntOp::Mul, IntOp::Min, IntOp::Max, IntOp::BitAnd, IntOp::BitXor];
        let parts = [IntOp::Div, IntOp::Rem, IntOp::DivFloor, IntOp::ModFloor];
        let op = match self.random.below(8) {
            0 => Op::Array(ArrayOp::Length(0), vec![self.value(REALS)]),
            1 => Op::Array(ArrayOp::ArgMax, vec![self.value(REALS)]),
            2 => {
                let op = self.random.pick(&[IntOp::Neg, IntOp::Abs, IntOp::Sign]).unwrap_or(IntOp::Neg);
                Op::Int(op, vec![self.value(Ty::INT)])
            }
            3 => Op::Array(ArrayOp::Sum, vec![self.value(INTS)]),
            4 => {
                // Sometimes the divisor is 0.
                let divisor = if self.random.once_in(20) { self.value(Ty::INT) } else { Atom::Int(3) };
                let op = self.random.pick(&parts).unwrap_or(IntOp::Div);
                Op::Int(op, vec![self.value(Ty::INT), divisor])
            }
            5 => {
                // What is larger than 1 or NaN counts as a moderate number: few programs fail.
                let bound = self.value(Ty::REAL);
                let bound = self.emit1(Ty::REAL, Op::Real(RealOp::Sin, vec![bound]));
                let nan = self.emit1(Ty::BOOL, Op::Convert(Convert::IsNan, bound.clone()));
                let select = Op::Select { cond: nan, then: Atom::Real(0.5), otherwise: bound };
                let x = self.emit1(Ty::REAL, select);
                let x = self.emit1(Ty::REAL, Op::Real(RealOp::Mul, vec![x, Atom::Real(9.5)]));
                let all = [Convert::Floor, Convert::Ceil, Convert::Round, Convert::Truncate];
                Op::Convert(self.random.pick(&all).unwrap_or(Convert::Floor), x)
            }
            _ => {
                let op = self.random.pick(&total).unwrap_or(IntOp::Add);
                Op::Int(op, vec![self.value(Ty::INT), self.value(Ty::INT)])
            }
        };
        self.emit1(Ty::INT, op);
    }

    /// A truth value.
    fn test(&mut self) {
        let all = [Compare::Eq, Compare::Ne, Compare::Lt, Compare::Le, Compare::Gt, Compare::Ge];
        let op = self.random.pick(&all).unwrap_or(Compare::Lt);
        let op = match self.random.below(6) {
            0 => Op::Not(self.value(Ty::BOOL)),
            1 => Op::Convert(Convert::IsNan, self.value(Ty::REAL)),
            2 => Op::Compare(op, self.value(Ty::INT), self.value(Ty::INT)),
            3 => Op::Compare(Compare::Ne, self.value(Ty::BOOL), self.value(Ty::BOOL)),
            _ => Op::Compare(op, self.value(Ty::REAL), self.value(Ty::REAL)),
        };
        self.emit1(Ty::BOOL, op);
    }

    fn select(&mut self) {
        let ty = self.inner_type();
        let op = Op::Select { cond: self.value(Ty::BOOL), then: self.value(ty), otherwise: self.value(ty) };
        self.emit1(ty, op);
    }

    /// An array of reals with one axis or two.
    fn array_of_reals(&mut self) {
        let ty = if self.random.once_in(3) { ROWS } else { REALS };
        let row = ty.at(1).unwrap_or(Ty::REAL);
        let op = match self.random.below(12) {
            0 => Op::Array(ArrayOp::Set, vec![self.value(ty), self.place(), self.value(row)]),
            1 => Op::Array(ArrayOp::AddAt, vec![self.value(ty), self.place(), self.value(row)]),
            2 => Op::Array(ArrayOp::Add, vec![self.value(ty), self.value(ty)]),
            3 => Op::Array(ArrayOp::Zeros, vec![self.value(ty)]),
            4 => Op::Array(ArrayOp::Replicate, vec![Atom::Int(SIZE as i64), self.value(row)]),
            5 => Op::Array(ArrayOp::Reverse, vec![self.value(ty)]),
            6 => Op::Array(ArrayOp::Gather, vec![self.value(ty), self.places()]),
            7 => Op::Array(ArrayOp::ScatterAdd, vec![self.value(ty), self.places(), self.value(ty)]),
            8 => return self.cut_and_join(ty),
            9 => return self.reshaped(),
            10 if ty == ROWS => Op::Array(ArrayOp::Transpose, vec![self.value(ROWS)]),
            10 => Op::Array(ArrayOp::Sort, vec![self.value(REALS)]),
            _ if ty == ROWS => self.product(),
            _ => match self.random.below(3) {
                0 if self.random.once_in(2) => {
                    let lie = Lie {
                        first: self.random.once_in(2),
                        second: false,
                        backward: self.random.once_in(2),
                    };
                    let factors = [self.value(ROWS), self.value(REALS)];
                    Op::Array(
                        ArrayOp::AddProduct(lie),
                        [self.value(REALS)].into_iter().chain(factors).collect(),
                    )
                }
                0 => Op::Array(ArrayOp::MatVec, vec![self.value(ROWS), self.value(REALS)]),
                1 => Op::Array(ArrayOp::Index, vec![self.value(ROWS), self.place()]),
                _ => Op::Array(ArrayOp::Literal, (0..SIZE).map(|_| self.value(Ty::REAL)).collect()),
            },
        };
        self.emit1(ty, op);
    }

    /// `concat (slice xs k n) (slice ys 0 k)`; what is in between is not to be used otherwise, for it has another size.
    fn cut_and_join(&mut self, ty: Ty) {
        let (xs, ys, size) = (self.value(ty), self.value(ty), SIZE as i64);
        let cut = Atom::Int(self.random.below(SIZE + 1) as i64);
        let first = self.b.called("end").array(ArrayOp::Slice, [xs, cut.clone(), Atom::Int(size)]);
        let second = self.b.called("start").array(ArrayOp::Slice, [ys, Atom::Int(0), cut]);
        self.emit1(ty, Op::Array(ArrayOp::Concat, vec![first, second]));
    }

    /// A product of matrices, or a product added to one, with one pair of factors or two.
    fn product(&mut self) -> Op {
        let [x, y, sum] = [0; 3].map(|_| self.value(ROWS));
        if self.random.once_in(2) {
            return Op::Array(ArrayOp::MatMul, vec![x, y]);
        }
        let mut bit = || self.random.once_in(2);
        let lie = Lie { first: bit(), second: bit(), backward: bit() };
        let mut args = vec![sum, x, y];
        match self.random.below(3) {
            0 => args.extend([self.value(ROWS), self.value(ROWS)]),
            1 => {
                let (x, y) = (self.value(REALS), self.value(REALS));
                let lie = Lie { first: false, second: false, ..lie };
                return Op::Array(ArrayOp::AddProduct(lie), vec![self.value(ROWS), x, y]);
            }
            _ => {}
        }
        Op::Array(ArrayOp::AddProduct(lie), args)
    }

    /// To one axis and back.
    fn reshaped(&mut self) {
        let (xs, like) = (self.value(ROWS), self.value(ROWS));
        let to = if self.random.once_in(2) { ArrayOp::Flatten } else { ArrayOp::Ravel };
        let flat = self.b.called("flat").array(to, [xs]);
        let flat = self.b.called("flat").array(ArrayOp::Reverse, [flat]);
        let back = if self.random.once_in(2) { ArrayOp::UnflattenLike } else { ArrayOp::Reshape };
        self.emit1(ROWS, Op::Array(back, vec![flat, like]));
    }

    /// Arrays of other things, and what is left of one.
    fn other_array(&mut self) {
        match self.random.below(5) {
            0 => {
                self.places();
            }
            1 => {
                let op = Op::Array(ArrayOp::Set, vec![self.value(INTS), self.place(), self.value(Ty::INT)]);
                self.emit1(INTS, op);
            }
            2 => {
                let (xs, keep) = (self.value(REALS), self.value(BOOLS));
                let kept = self.b.called("kept").array(ArrayOp::Filter, [xs, keep]);
                self.emit1(Ty::REAL, Op::Array(ArrayOp::Sum, vec![kept]));
            }
            3 => {
                let op = Op::Array(ArrayOp::Index, vec![self.value(BOOLS), self.place()]);
                self.emit1(Ty::BOOL, op);
            }
            _ => {
                let shapes = Ty::Array(Elem::Data(super::SHAPE), 1);
                let op = Op::Array(ArrayOp::Index, vec![self.value(shapes), self.place()]);
                self.emit1(Ty::Scalar(Elem::Data(super::SHAPE)), op);
            }
        }
    }

    /// A call of a function that is there already.
    fn call(&mut self) {
        let func = FuncId::new(self.random.below(self.program.funcs.len()));
        let mut types = self.program.funcs.at(func).param_types();
        let checkpoint = self.random.once_in(5);
        let mut args = Vec::new();
        if func == FuncId(0) {
            // `count` counts down: to a small number only.
            types.remove(0);
            args.push(Atom::Int(self.random.below(6) as i64));
        }
        args.extend(types.into_iter().map(|ty| self.value(ty)));
        self.emit(Op::Call { func, args, checkpoint });
    }

    fn rare(&mut self) {
        match self.random.below(6) {
            0 => {
                let op = Op::Text(TextOp::ShowReal, vec![self.value(Ty::REAL)]);
                self.emit1(Ty::TEXT, op);
            }
            1 => {
                let op = Op::Text(TextOp::Append, vec![self.value(Ty::TEXT), self.value(Ty::TEXT)]);
                self.emit1(Ty::TEXT, op);
            }
            2 => {
                let exponent = self.random.below(7) as i64 - 3;
                let exponent = self.emit1(Ty::INT, Op::Copy(Atom::Int(exponent)));
                let op = Op::Power { base: self.value(Ty::REAL), exponent };
                self.emit1(Ty::REAL, op);
            }
            3 => {
                let x = self.value(Ty::REAL);
                self.emit1(Ty::REAL, Op::StopGradient(vec![x]));
            }
            4 => {
                let n = self.value(Ty::INT);
                self.emit1(Ty::REAL, Op::Convert(Convert::IntToReal, n));
            }
            _ => {
                let data = if self.random.once_in(2) { super::LIST } else { super::SHAPE };
                self.make(data, Ty::Scalar(Elem::Data(data)));
            }
        }
    }
}
