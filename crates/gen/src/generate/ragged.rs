//! Arrays whose elements hold arrays of different sizes, which types tell nothing of: numbers that come from such arrays.
//!
//! The elements are pairs of an array and a number. Nothing else sees the arrays: where they became rows of an array of arrays, the
//! program would fail.

use super::loops::variable;
use super::number::call;
use super::wide::int;
use super::{Gen, Made};
use crate::tree::{Bound, Child, Form, GenPat, Node};
use crate::ty::GenType;
use arbitrary::Result;
use wengert_base::Name;
use wengert_syntax::ast::BinOp;

/// The arrays in the elements have at most so many numbers at first.
const LONGEST: u64 = 3;

/// The type of those arrays; their sizes are others.
fn reals() -> GenType {
    GenType::array(LONGEST, GenType::Real)
}

/// The type of the elements.
fn pair() -> GenType {
    GenType::Tuple(vec![reals(), GenType::Real])
}

/// A variable.
fn var(name: Name, ty: GenType) -> Node {
    Node::new(ty, Form::Var(name), Vec::new())
}

/// `map (\(xs, w) -> body) rows`
fn map(xs: Name, w: Name, body: Node, rows: Node, result: GenType) -> Node {
    let param = GenPat::Tuple(vec![variable(xs, &reals()), variable(w, &GenType::Real)]);
    let body = Child { binders: param.binders(), node: body };
    Node::binding(result, Form::Map(param), vec![body, Child::plain(rows)])
}

impl Gen<'_, '_> {
    /// A number, if it may be one.
    pub(super) fn ragged_number(&mut self, ty: &GenType) -> Made {
        if *ty != GenType::Real
            || !self.config.arrays
            || self.repetition.saturating_mul(12) > super::MAX_REPETITION
        {
            return Ok(None);
        }
        let n = self.u.int_in_range(1..=4)?;
        let mut rows = self.rows(n)?;
        for _ in 0..self.u.int_in_range(0..=2)? {
            rows = self.other_rows(n, rows)?;
        }
        let of = GenType::array(n, GenType::Real);
        let (xs, w) = (self.unique("row"), self.unique("w"));
        let (sum, weight) = (self.number_of(xs, w)?, var(w, GenType::Real));
        let product = Node::new(GenType::Real, Form::Binary(BinOp::Mul), vec![sum, weight]);
        Ok(Some(call(GenType::Real, "sum", vec![map(xs, w, product, rows, of)])))
    }

    /// `build n (\i -> …)`
    fn rows(&mut self, n: u64) -> Result<Node> {
        let i = self.unique("i");
        let body = self.inside(vec![Bound::value(i, GenType::Int)], n, Gen::row)?;
        Ok(Node::binding(GenType::array(n, pair()), Form::Build(n, i), vec![body]))
    }

    /// `(slice xs 0 k, w)`
    fn row(&mut self) -> Result<Node> {
        let size = call(GenType::Int, "mod", vec![self.expr(&GenType::Int)?, int(LONGEST + 1)]);
        let xs = call(reals(), "slice", vec![self.expr(&reals())?, int(0), size]);
        Ok(Node::new(pair(), Form::Tuple, vec![xs, self.bounded_real()?]))
    }

    /// A number that depends on the arrays and the number of an element.
    fn number_of(&mut self, xs: Name, w: Name) -> Result<Node> {
        let array = var(xs, reals());
        Ok(match self.u.int_in_range(0..=4)? {
            0 => call(GenType::Real, "dot", vec![array.clone(), array]),
            1 => call(GenType::Real, "real", vec![call(GenType::Int, "length", vec![array])]),
            2 => {
                let (acc, x) = (self.unique("acc"), self.unique("x"));
                let all = [acc, x, w].map(|name| Bound::value(name, GenType::Real));
                let mut body = self.inside(all.to_vec(), 8, Gen::bounded_real)?;
                body.binders.truncate(2);
                let start = Child::plain(var(w, GenType::Real));
                Node::binding(GenType::Real, Form::Fold(acc, x), vec![body, start, Child::plain(array)])
            }
            _ => call(GenType::Real, "sum", vec![self.mapped(xs, w)?]),
        })
    }

    /// `map (\x -> …) xs`
    fn mapped(&mut self, xs: Name, w: Name) -> Result<Node> {
        let x = self.unique("x");
        let both = [x, w].map(|name| Bound::value(name, GenType::Real));
        let mut body = self.inside(both.to_vec(), 8, Gen::bounded_real)?;
        body.binders.truncate(1);
        let form = Form::Map(variable(x, &GenType::Real));
        Ok(Node::binding(reals(), form, vec![body, Child::plain(var(xs, reals()))]))
    }

    /// Other such elements made of these.
    fn other_rows(&mut self, n: u64, rows: Node) -> Result<Node> {
        let ty = GenType::array(n, pair());
        let own = |name: &str, args| call(GenType::array(n, pair()), name, args);
        Ok(match self.u.int_in_range(0..=11)? {
            0 => own("reverse", vec![rows]),
            1 => {
                let places = self.places(n, n)?;
                own("gather", vec![rows, places])
            }
            2 => {
                let place = self.place(n)?;
                own("set", vec![rows, place, self.row()?])
            }
            3 => own("slice", vec![own("concat", vec![self.rows(n)?, rows]), int(1), int(n + 1)]),
            4 => own("add", vec![rows.clone(), rows]),
            5 => own("scale", vec![self.bounded_real()?, rows]),
            6 => {
                let places = GenType::array(n, GenType::Int);
                let both = GenType::array(n, GenType::Tuple(vec![pair(), GenType::Int]));
                let zipped = call(both, "zip", vec![rows, call(places.clone(), "iota", vec![int(n)])]);
                let unzipped = call(GenType::Tuple(vec![ty.clone(), places]), "unzip", vec![zipped]);
                call(ty, "fst", vec![unzipped])
            }
            7 => {
                let param = variable(self.unique("v"), &ty);
                let name = param.binders().first().map_or(Name::new("v"), |bound| bound.name);
                let longer = self.longer(n, var(name, ty.clone()))?;
                let body = Child { binders: param.binders(), node: longer };
                Node::binding(ty, Form::Iterate(2, param), vec![body, Child::plain(rows)])
            }
            8 | 9 => self.longer(n, rows)?,
            10 => self.gradients(n, rows)?,
            _ => {
                let (xs, w) = (self.unique("row"), self.unique("w"));
                let items = vec![self.mapped(xs, w)?, var(w, GenType::Real)];
                map(xs, w, Node::new(pair(), Form::Tuple, items), rows, ty)
            }
        })
    }

    /// `map (\(xs, w) -> (concat xs [w], …)) rows`
    fn longer(&mut self, n: u64, rows: Node) -> Result<Node> {
        let (xs, w) = (self.unique("row"), self.unique("w"));
        let one = GenType::array(1, GenType::Real);
        let last = Node::new(one, Form::Array, vec![var(w, GenType::Real)]);
        let longer = call(reals(), "concat", vec![var(xs, reals()), last]);
        let items = vec![longer, self.number_of(xs, w)?];
        Ok(map(xs, w, Node::new(pair(), Form::Tuple, items), rows, GenType::array(n, pair())))
    }

    /// `map (\(xs, w) -> (grad (\ys -> …) xs, w)) rows`
    fn gradients(&mut self, n: u64, rows: Node) -> Result<Node> {
        let (xs, w, ys) = (self.unique("row"), self.unique("w"), self.unique("ys"));
        let param = variable(ys, &reals());
        let body = Child { binders: param.binders(), node: self.number_of(ys, w)? };
        let function = GenType::fun(reals(), GenType::Real);
        let function = Node::binding(function, Form::Lambda(param, false), vec![body]);
        let items = vec![call(reals(), "grad", vec![function, var(xs, reals())]), var(w, GenType::Real)];
        Ok(map(xs, w, Node::new(pair(), Form::Tuple, items), rows, GenType::array(n, pair())))
    }
}
