//! Matrices of short rows, whose elements are read by place, on the sides of choices: compilers unroll loops of a known few iterations, and make
//! vectors of what several of them read.

use super::number::call;
use super::wide::int;
use super::{Gen, Made};
use crate::tree::{Bound, Child, Form, GenPat, Node};
use crate::ty::GenType;
use arbitrary::Result;
use wengert_base::Name;
use wengert_syntax::ast::BinOp;

/// Rows and columns, at most.
const MOST: u64 = 7;
/// Choices stand in each other at most so deep.
const DEEP: usize = 2;

/// What elements are read of, and where.
struct Place {
    matrices: [Name; 2],
    size: [u64; 2],
    at: [Name; 2],
}

fn binary(op: BinOp, ty: GenType, a: Node, b: Node) -> Node {
    Node::new(ty, Form::Binary(op), vec![a, b])
}

fn integer(name: Name) -> Node {
    Node::new(GenType::Int, Form::Var(name), Vec::new())
}

impl Gen<'_, '_> {
    /// The sum of a matrix that is made of two others, if it may be one.
    pub(super) fn rows_by_place(&mut self, ty: &GenType) -> Made {
        if *ty != GenType::Real || !self.config.arrays || self.repetition > 4 {
            return Ok(None);
        }
        let size = [self.u.int_in_range(2..=MOST)?, self.u.int_in_range(2..=MOST)?];
        let [rows, columns] = size;
        let matrix = GenType::array(rows, GenType::array(columns, GenType::Real));
        let matrices = [self.unique("m"), self.unique("m")];
        let given = [self.waves(size)?, self.waves(size)?];
        let at = [self.unique("i"), self.unique("j")];
        let body = self.chosen(&Place { matrices, size, at }, DEEP)?;
        let inner = self.built(columns, at[1], body);
        let whole = self.built(rows, at[0], inner);
        let all = call(GenType::array(rows * columns, GenType::Real), "ravel", vec![whole]);
        let sum = call(GenType::Real, "sum", vec![all]);
        let bound = matrices.into_iter().zip(given).rev();
        Ok(Some(bound.fold(sum, |body, (name, value)| {
            let target = GenPat::Var(name, matrix.clone());
            let body = Child { binders: target.binders(), node: body };
            Node::binding(GenType::Real, Form::Let(target), vec![Child::plain(value), body])
        })))
    }

    /// `build n (\i -> body)`
    fn built(&self, count: u64, i: Name, body: Node) -> Node {
        let ty = GenType::array(count, body.ty.clone());
        let body = Child { binders: vec![Bound::value(i, GenType::Int)], node: body };
        Node::binding(ty, Form::Build(count, i), vec![body])
    }

    /// A matrix in which all elements differ, and depend on what is in scope.
    fn waves(&mut self, [rows, columns]: [u64; 2]) -> Result<Node> {
        let base = self.bounded_real()?;
        let factors = [self.u.int_in_range(1..=9)?, self.u.int_in_range(1..=9)?];
        let (i, j) = (self.unique("i"), self.unique("j"));
        let times = |at: Name, factor| binary(BinOp::Mul, GenType::Int, integer(at), int(factor));
        let place = binary(BinOp::Add, GenType::Int, times(i, factors[0]), times(j, factors[1]));
        let wave = call(GenType::Real, "sin", vec![call(GenType::Real, "real", vec![place])]);
        let element = binary(BinOp::Add, GenType::Real, wave, base);
        let row = self.built(columns, j, element);
        Ok(self.built(rows, i, row))
    }

    /// An element at the place, or at that of the same row from its end.
    fn element_at(&mut self, place: &Place) -> Result<Node> {
        let [rows, columns] = place.size;
        let row = GenType::array(columns, GenType::Real);
        let matrix = *self.u.choose(&place.matrices)?;
        let matrix = Node::new(GenType::array(rows, row.clone()), Form::Var(matrix), Vec::new());
        let column = match self.u.int_in_range(0..=3)? {
            0 => binary(BinOp::Sub, GenType::Int, int(columns - 1), integer(place.at[1])),
            _ => integer(place.at[1]),
        };
        let of = call(row, "index", vec![matrix, integer(place.at[0])]);
        Ok(call(GenType::Real, "index", vec![of, column]))
    }

    /// A choice between elements, or what is made of them.
    fn chosen(&mut self, place: &Place, depth: usize) -> Result<Node> {
        if depth == 0 {
            let simple = GenType::Real;
            return match self.u.int_in_range(0..=4)? {
                0 => self.leaf(&simple),
                _ => self.element_at(place),
            };
        }
        match self.u.int_in_range(0..=4)? {
            0 => {
                let op = *self.u.choose(&[BinOp::Add, BinOp::Sub, BinOp::Mul])?;
                let (a, b) = (self.chosen(place, depth - 1)?, self.chosen(place, depth - 1)?);
                Ok(binary(op, GenType::Real, a, b))
            }
            1 => {
                let name = *self.u.choose(&["sin", "tanh", "exp"])?;
                Ok(call(GenType::Real, name, vec![self.element_at(place)?]))
            }
            _ => {
                let op = *self.u.choose(&[BinOp::Lt, BinOp::Ge])?;
                let (a, b) = (self.element_at(place)?, self.chosen(place, 0)?);
                let cond = binary(op, GenType::Bool, a, b);
                let (then, otherwise) = (self.chosen(place, depth - 1)?, self.chosen(place, depth - 1)?);
                Ok(Node::new(GenType::Real, Form::If, vec![cond, then, otherwise]))
            }
        }
    }
}
