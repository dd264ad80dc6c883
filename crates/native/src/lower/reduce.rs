//! Sums, products, extrema and matrix products, from left to right.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function takes the operations that the one before it leaves"
)]

use super::{ArrayPlace, Lower, Operand, Stmt, Value, Word, word};
use crate::loops::{Failure, Int, Join, Local, Runtime, Sum};
use wengert_base::Name;
use wengert_ir::op::{ArrayOp, Compare, Requirement};
use wengert_ir::{Atom, Elem, Ty, Var};
use wengert_prim::RealOp;

impl Lower<'_> {
    /// An operation that reduces an array.
    pub(super) fn reduction(&mut self, out: Var, op: ArrayOp, first: &Atom, other: Option<&Atom>) {
        let a = self.array(first);
        match (op, other) {
            (ArrayOp::Sum | ArrayOp::Product, _) => {
                let product = op == ArrayOp::Product;
                let size = a.dims.first().copied().unwrap_or(Operand::Int(0));
                let total =
                    self.left_to_right(a.elem, size, product, |this, i| this.load(a.first, i, a.elem));
                self.bind_word(out, Operand::Local(total));
            }
            (ArrayOp::Maximum | ArrayOp::Minimum | ArrayOp::ArgMax | ArrayOp::ArgMin, _) => {
                self.extremum(out, op, first.var(), &a);
            }
            (ArrayOp::Dot, Some(other)) => {
                let b = self.array(other);
                let (Some(n), Some(m)) = (a.dims.first().copied(), b.dims.first().copied()) else { return };
                let differ = self.set(Word::Int, Value::CompareInt(Compare::Ne, n, m));
                self.fail_if(differ, Failure::Required(Requirement::SameSize(Name::new("dot"))), vec![n, m]);
                let total = self.dot(a.elem, n, a.first, b.first);
                self.bind_word(out, Operand::Local(total));
            }
            (ArrayOp::MatVec, Some(other)) => {
                let b = self.array(other);
                self.matvec(out, &a, &b);
            }
            (ArrayOp::MatMul, Some(other)) => {
                let b = self.array(other);
                self.matmul(out, &a, &b);
            }
            (_, _) => self.fail(Failure::Internal, Vec::new()),
        }
    }

    /// The sum or product of `size` numbers.
    fn left_to_right(
        &mut self,
        elem: Elem,
        size: Operand,
        product: bool,
        item: impl Fn(&mut Self, Operand) -> Operand,
    ) -> Local {
        let total = self.made.fresh(word(Ty::Scalar(elem)));
        let neutral = match (elem, product) {
            (Elem::Real, false) => Operand::Real(0.0),
            (Elem::Real, true) => Operand::Real(1.0),
            (_, product) => Operand::Int(i64::from(product)),
        };
        self.emit(Stmt::Set(total, Value::Copy(neutral)));
        let sums = if product { Vec::new() } else { vec![Sum::Word(total, Join::Add)] };
        self.for_each_adding(size, sums, |this, i| {
            let x = item(this, i);
            let sum = Operand::Local(total);
            let next = match (elem, product) {
                (Elem::Real, true) => Value::Real(RealOp::Mul, vec![sum, x]),
                (Elem::Real, false) => Value::Real(RealOp::Add, vec![sum, x]),
                (_, true) => Value::Int(Int::Mul, sum, x),
                (_, false) => Value::Int(Int::Add, sum, x),
            };
            this.emit(Stmt::Set(total, next));
        });
        total
    }

    fn dot(&mut self, elem: Elem, size: Operand, a: Operand, b: Operand) -> Local {
        self.left_to_right(elem, size, false, |this, i| {
            let (x, y) = (this.load(a, i, elem), this.load(b, i, elem));
            match elem {
                Elem::Real => this.set(Word::Real, Value::Real(RealOp::Mul, vec![x, y])),
                _ => this.set(Word::Int, Value::Int(Int::Mul, x, y)),
            }
        })
    }

    /// Where the first largest (or smallest) stands; the first NaN is both. The element and its place are found together, as the derivative of
    /// either wants them.
    fn extremum(&mut self, out: Var, op: ArrayOp, array: Option<Var>, a: &ArrayPlace) {
        let (function, largest, place_only) = match op {
            ArrayOp::Maximum => ("maximum", true, false),
            ArrayOp::Minimum => ("minimum", false, false),
            ArrayOp::ArgMax => ("argmax", true, true),
            _ => ("argmin", false, true),
        };
        let there = self.extremes.iter().find(|(other, most, ..)| Some(*other) == array && *most == largest);
        if let Some((_, _, best, place)) = there {
            let found = Operand::Local(if place_only { *place } else { *best });
            self.bind_word(out, found);
            return;
        }
        let size = a.dims.first().copied().unwrap_or(Operand::Int(0));
        let empty = self.set(Word::Int, Value::CompareInt(Compare::Eq, size, Operand::Int(0)));
        self.fail_if(empty, Failure::Empty(Name::new(function)), Vec::new());
        let best = self.made.fresh(word(Ty::Scalar(a.elem)));
        let place = self.made.fresh(Word::Int);
        let first = self.load(a.first, Operand::Int(0), a.elem);
        self.emit(Stmt::Set(best, Value::Copy(first)));
        self.emit(Stmt::Set(place, Value::Copy(Operand::Int(0))));
        // Almost always the next one is not better: a branch is cheaper than a choice for which the next one waits.
        let not_better = if largest { Compare::Ge } else { Compare::Le };
        let join = if largest { Join::Largest } else { Join::Smallest };
        let sums = vec![Sum::Word(best, join), Sum::Word(place, Join::Place)];
        self.for_each_adding(size, sums, |this, i| {
            let x = this.load(a.first, i, a.elem);
            let best_now = Operand::Local(best);
            let take = |this: &mut Self| {
                this.emit(Stmt::Set(best, Value::Copy(x)));
                this.emit(Stmt::Set(place, Value::Copy(i)));
            };
            let (worse, otherwise) = if a.elem == Elem::Real {
                let worse = this.set(Word::Int, Value::CompareReal(not_better, best_now, x));
                // A NaN beats every number, and nothing beats it.
                let otherwise = this.apart(|this| {
                    let number = this.set(Word::Int, Value::CompareReal(Compare::Eq, best_now, best_now));
                    let then = this.apart(take);
                    this.emit(Stmt::If { cond: number, then, otherwise: Vec::new() });
                });
                (worse, otherwise)
            } else {
                (this.set(Word::Int, Value::CompareInt(not_better, best_now, x)), this.apart(take))
            };
            this.emit(Stmt::If { cond: worse, then: Vec::new(), otherwise });
        });
        self.extremes.extend(array.map(|array| (array, largest, best, place)));
        self.bind_word(out, Operand::Local(if place_only { place } else { best }));
    }

    fn matvec(&mut self, out: Var, a: &ArrayPlace, b: &ArrayPlace) {
        let ([n, m], Some(k)) = (a.dims.as_slice(), b.dims.first().copied()) else { return };
        let (n, m) = (*n, *m);
        let made = self.new_array(out, vec![n]);
        let differ = self.set(Word::Int, Value::CompareInt(Compare::Ne, m, k));
        let some = self.set(Word::Int, Value::CompareInt(Compare::Ne, n, Operand::Int(0)));
        let wrong = self.set(Word::Int, Value::Int(Int::And, differ, some));
        self.fail_if(wrong, Failure::Required(Requirement::ProductSize(Name::new("matvec"))), vec![m, k]);
        if a.elem == Elem::Real {
            let args = vec![a.first, b.first, made.first, n, m];
            self.emit(Stmt::Runtime { call: Runtime::MatVec, args, out: None });
            return;
        }
        self.for_each(n, false, |this, i| {
            let index = this.int(Int::Mul, i, m);
            let row = this.set(Word::Address, Value::Address { base: a.first, index, offset: 0 });
            let total = this.dot(a.elem, m, row, b.first);
            this.emit(Stmt::Store { base: made.first, index: i, offset: 0, value: Operand::Local(total) });
        });
    }

    fn matmul(&mut self, out: Var, a: &ArrayPlace, b: &ArrayPlace) {
        let ([n, m], [k, width]) = (a.dims.as_slice(), b.dims.as_slice()) else { return };
        let (n, m, k, width) = (*n, *m, *k, *width);
        let differ = self.set(Word::Int, Value::CompareInt(Compare::Ne, m, k));
        let some = self.set(Word::Int, Value::CompareInt(Compare::Ne, n, Operand::Int(0)));
        let wrong = self.set(Word::Int, Value::Int(Int::And, differ, some));
        self.fail_if(wrong, Failure::Required(Requirement::ProductSize(Name::new("matmul"))), vec![m, k]);
        let dims = self.with_rows(n, &[width]);
        let made = self.new_array(out, dims);
        if a.elem == Elem::Real {
            let args = vec![a.first, b.first, made.first, n, m, width];
            self.emit(Stmt::Runtime { call: Runtime::MatMul, args, out: None });
            return;
        }
        self.for_each(n, false, |this, i| {
            this.for_each(width, false, |this, j| {
                let total = this.left_to_right(a.elem, m, false, |this, l| {
                    let left = this.int(Int::Mul, i, m);
                    let left = this.int(Int::Add, left, l);
                    let right = this.int(Int::Mul, l, width);
                    let right = this.int(Int::Add, right, j);
                    let (x, y) = (this.load(a.first, left, a.elem), this.load(b.first, right, a.elem));
                    this.set(Word::Int, Value::Int(Int::Mul, x, y))
                });
                let index = this.int(Int::Mul, i, width);
                let index = this.int(Int::Add, index, j);
                this.emit(Stmt::Store { base: made.first, index, offset: 0, value: Operand::Local(total) });
            });
        });
    }
}

#[cfg(test)]
mod tests {
    /// How many loops there are in a function that is given an array and a condition.
    fn loops(body: &str) -> usize {
        let text = format!("func f(xs: []Real, p: Bool) -> (Real, Int) {{ {body} }} entry f = f");
        let program = wengert_ir::parse::parse(&text).expect("the text is a program");
        assert_eq!(wengert_ir::verify(&program), Ok(()), "{text}");
        crate::loops::print(&crate::lower::lower(&program)).matches("for ").count()
    }

    #[test]
    fn the_largest_element_and_its_place_are_found_together() {
        assert_eq!(loops("a = maximum(xs) k = argmax(xs) return a, k"), 1);
        assert_eq!(
            loops("k = argmin(xs) a = if p { b = minimum(xs) yield b } else { yield 0.0 } return a, k"),
            1
        );
        // Others are not, nor what is looked for where it is not known yet.
        assert_eq!(loops("a = maximum(xs) k = argmin(xs) return a, k"), 2);
        assert_eq!(
            loops("a = if p { b = maximum(xs) yield b } else { yield 0.0 } k = argmax(xs) return a, k"),
            2
        );
        let sides =
            "a, k = if p { b = maximum(xs) yield b, 0 } else { l = argmax(xs) yield 0.0, l } return a, k";
        assert_eq!(loops(sides), 2);
    }
}
