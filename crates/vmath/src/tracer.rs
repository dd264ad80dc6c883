//! A machine that computes nothing but writes down what it is told to do, each operation once.

use crate::machine::Machine;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// An operation; the numbers are those of earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    /// A parameter.
    Real(u32),
    /// A parameter.
    Word(u32),
    /// The double with these bits.
    Constant(u64),
    /// A word.
    Bits(u64),
    /// An operation of this name.
    Unary(&'static str, usize),
    /// An operation of this name or sign.
    Binary(&'static str, usize, usize),
    /// An operation of this name.
    Ternary(&'static str, usize, usize, usize),
    /// A shift.
    Shift(&'static str, usize, u32),
}

/// What was written down.
#[derive(Debug, Default)]
pub(crate) struct Record {
    pub(crate) nodes: Vec<Node>,
    known: HashMap<Node, usize>,
}

/// The machine.
#[derive(Clone, Copy)]
pub(crate) struct Tracer<'a>(pub(crate) &'a RefCell<Record>);

/// A real, by its number.
#[derive(Clone, Copy)]
pub(crate) struct Real<'a> {
    pub(crate) number: usize,
    to: Tracer<'a>,
}

impl<'a> Tracer<'a> {
    fn put(self, node: Node) -> usize {
        let mut record = self.0.borrow_mut();
        let next = record.nodes.len();
        let number = *record.known.entry(node).or_insert(next);
        if number == next {
            record.nodes.push(node);
        }
        number
    }

    fn make(self, node: Node) -> Real<'a> {
        Real { number: self.put(node), to: self }
    }

    /// A parameter.
    pub(crate) fn parameter(self, place: u32) -> Real<'a> {
        self.make(Node::Real(place))
    }

    /// A parameter that is a word.
    pub(crate) fn word_parameter(self, place: u32) -> usize {
        self.put(Node::Word(place))
    }
}

impl<'a> Add for Real<'a> {
    type Output = Real<'a>;
    fn add(self, other: Real<'a>) -> Real<'a> {
        self.to.make(Node::Binary("+", self.number, other.number))
    }
}

impl<'a> Sub for Real<'a> {
    type Output = Real<'a>;
    fn sub(self, other: Real<'a>) -> Real<'a> {
        self.to.make(Node::Binary("-", self.number, other.number))
    }
}

impl<'a> Mul for Real<'a> {
    type Output = Real<'a>;
    fn mul(self, other: Real<'a>) -> Real<'a> {
        self.to.make(Node::Binary("*", self.number, other.number))
    }
}

impl<'a> Div for Real<'a> {
    type Output = Real<'a>;
    fn div(self, other: Real<'a>) -> Real<'a> {
        self.to.make(Node::Binary("/", self.number, other.number))
    }
}

impl<'a> Neg for Real<'a> {
    type Output = Real<'a>;
    fn neg(self) -> Real<'a> {
        self.to.make(Node::Unary("-", self.number))
    }
}

impl<'a> Machine for Tracer<'a> {
    type Real = Real<'a>;
    type Bits = usize;
    type Mask = usize;

    fn real(self, x: f64) -> Real<'a> {
        self.make(Node::Constant(x.to_bits()))
    }
    fn word(self, x: u64) -> usize {
        self.put(Node::Bits(x))
    }
    fn fma(self, a: Real<'a>, b: Real<'a>, c: Real<'a>) -> Real<'a> {
        self.make(Node::Ternary("wg_fma", a.number, b.number, c.number))
    }
    fn product_error(self, a: Real<'a>, b: Real<'a>, p: Real<'a>) -> Real<'a> {
        self.make(Node::Ternary("wg_product_error", a.number, b.number, p.number))
    }
    fn remainder(self, x: Real<'a>, a: Real<'a>, b: Real<'a>) -> Real<'a> {
        self.make(Node::Ternary("wg_remainder", x.number, a.number, b.number))
    }
    fn sqrt(self, x: Real<'a>) -> Real<'a> {
        self.make(Node::Unary("__builtin_sqrt", x.number))
    }
    fn abs(self, x: Real<'a>) -> Real<'a> {
        self.make(Node::Unary("__builtin_fabs", x.number))
    }
    fn copysign(self, x: Real<'a>, sign: Real<'a>) -> Real<'a> {
        self.make(Node::Binary("__builtin_copysign", x.number, sign.number))
    }
    fn bits(self, x: Real<'a>) -> usize {
        self.put(Node::Unary("wg_bits", x.number))
    }
    fn float(self, b: usize) -> Real<'a> {
        self.make(Node::Unary("wg_real", b))
    }
    fn add(self, a: usize, b: usize) -> usize {
        self.put(Node::Binary("w+", a, b))
    }
    fn sub(self, a: usize, b: usize) -> usize {
        self.put(Node::Binary("w-", a, b))
    }
    fn and(self, a: usize, b: usize) -> usize {
        self.put(Node::Binary("w&", a, b))
    }
    fn xor(self, a: usize, b: usize) -> usize {
        self.put(Node::Binary("w^", a, b))
    }
    fn shift_left(self, a: usize, by: u32) -> usize {
        self.put(Node::Shift("<<", a, by))
    }
    fn shift_right(self, a: usize, by: u32) -> usize {
        self.put(Node::Shift(">>", a, by))
    }
    fn nonzero(self, a: usize) -> usize {
        self.put(Node::Unary("m!=", a))
    }
    fn less(self, a: Real<'a>, b: Real<'a>) -> usize {
        self.put(Node::Binary("m<", a.number, b.number))
    }
    fn at_most(self, a: Real<'a>, b: Real<'a>) -> usize {
        self.put(Node::Binary("m<=", a.number, b.number))
    }
    fn equal(self, a: Real<'a>, b: Real<'a>) -> usize {
        self.put(Node::Binary("m==", a.number, b.number))
    }
    fn both(self, a: usize, b: usize) -> usize {
        self.put(Node::Binary("m&", a, b))
    }
    fn either(self, a: usize, b: usize) -> usize {
        self.put(Node::Binary("m|", a, b))
    }
    fn not(self, a: usize) -> usize {
        self.put(Node::Unary("m!", a))
    }
    fn select(self, mask: usize, a: Real<'a>, b: Real<'a>) -> Real<'a> {
        self.make(Node::Ternary("select", mask, a.number, b.number))
    }
}
