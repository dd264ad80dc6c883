//! What finite differences and counts of operations cannot judge, but what engines must agree on: numbers that are infinite or none, operations that may fail when
//! the program runs, arrays whose sizes only running tells, rules of the user's own for whole functions, derivatives with
//! respect to several functions at once, loops that end when the data says so.

use super::loops::variable;
use super::number::call;
use super::{Gen, Made, literal};
use crate::tree::{Bound, Child, Form, GenPat, Node};
use crate::ty::GenType;
use crate::value::GenValue;
use arbitrary::Result;
use wengert_syntax::ast::BinOp;

/// A literal `Int`.
pub(super) fn int(n: u64) -> Node {
    literal(&GenType::Int, GenValue::Int(n.cast_signed()))
}

impl Gen<'_, '_> {
    /// Something of type `ty`.
    pub(super) fn wide(&mut self, ty: &GenType) -> Made {
        match self.u.int_in_range(0..=14)? {
            0 => self.failing(ty),
            1 => self.own_rule(ty),
            2 | 3 => self.along_functions(ty),
            4 => self.loop_until(ty),
            5 => self.stopped(ty),
            6 if *ty == GenType::Real => self.functional_dual().map(Some),
            12 if *ty == GenType::Real => self.edge().map(Some),
            13 if *ty == GenType::Real => self.ragged_number(ty),
            14 if *ty == GenType::Real => self.rows_by_place(ty),
            _ => match ty {
                GenType::Array(n, elem) if self.config.arrays => self.rearrangement(ty, *n, elem),
                GenType::Real | GenType::Int if self.config.arrays => self.reduction(ty),
                GenType::Real
                | GenType::Int
                | GenType::Bool
                | GenType::String
                | GenType::Tuple(_)
                | GenType::Record(_)
                | GenType::Array(..)
                | GenType::Data(..)
                | GenType::Fun(..)
                | GenType::Param => self.element(ty),
            },
        }
    }

    /// What is infinite or no number, or may be.
    fn edge(&mut self) -> Result<Node> {
        let real = |x: f64| literal(&GenType::Real, GenValue::Real(x));
        let (above, below) = match self.u.int_in_range(0..=4)? {
            0 => (real(1.0), real(0.0)),
            1 => (real(-1.0), real(0.0)),
            2 => (real(0.0), real(0.0)),
            3 => (self.expr(&GenType::Real)?, real(0.0)),
            _ => (self.expr(&GenType::Real)?, self.expr(&GenType::Real)?),
        };
        Ok(Node::new(GenType::Real, Form::Binary(BinOp::Div), vec![above, below]))
    }

    /// A place in an array of `n` elements; now and then one that is not there.
    pub(super) fn place(&mut self, n: u64) -> Result<Node> {
        let any = self.expr(&GenType::Int)?;
        if n == 0 || self.u.ratio(1, 16)? {
            return Ok(any);
        }
        Ok(call(GenType::Int, "mod", vec![any, int(n)]))
    }

    /// Places in an array.
    pub(super) fn places(&mut self, count: u64, n: u64) -> Result<Node> {
        if count > super::SHORT {
            let i = self.unique("i");
            let body = self.inside(vec![Bound::value(i, GenType::Int)], count, |g| g.place(n))?;
            let ty = GenType::array(count, GenType::Int);
            return Ok(Node::binding(ty, Form::Build(count, i), vec![body]));
        }
        let places = (0..count).map(|_| self.place(n)).collect::<Result<_>>()?;
        Ok(Node::new(GenType::array(count, GenType::Int), Form::Array, places))
    }

    /// A function, its parameter annotated.
    fn lambda(&mut self, from: &GenType, to: &GenType, times: u64) -> Result<Node> {
        let param = variable(self.unique("v"), from);
        let body = self.inside(param.binders(), times, |g| g.bounded(to))?;
        let ty = GenType::fun(from.clone(), to.clone());
        Ok(Node::binding(ty, Form::Lambda(param, true), vec![body]))
    }

    /// `if c then e else fail "…"`, or a division of integers, or a conversion, that may fail.
    fn failing(&mut self, ty: &GenType) -> Made {
        if *ty == GenType::Int && self.u.arbitrary()? {
            let op = *self.u.choose(&[BinOp::Div, BinOp::Rem])?;
            let (a, b) = (self.expr(ty)?, self.expr(ty)?);
            return Ok(Some(Node::new(GenType::Int, Form::Binary(op), vec![a, b])));
        }
        let order = [BinOp::Lt, BinOp::Ne, BinOp::Ge];
        let op = *self.u.choose(&order)?;
        let (a, b) = (self.expr(&GenType::Int)?, int(self.u.int_in_range(0..=9)?));
        let cond = Node::new(GenType::Bool, Form::Binary(op), vec![a, b]);
        let text = literal(&GenType::String, GenValue::String("stop".into()));
        let (value, stop) = (self.expr(ty)?, call(ty.clone(), "fail", vec![text]));
        Ok(Some(Node::new(ty.clone(), Form::If, vec![cond, value, stop])))
    }

    /// `custom_jvp f (jvp f) x`, or `custom_vjp f (vjp f) x`; or with a rule that is not the derivative: whose derivatives are to be taken
    /// from where then shows.
    fn own_rule(&mut self, ty: &GenType) -> Made {
        let is_linear = ty.is_first_order() && ty.holds_real(&self.decls);
        if !is_linear || self.derivatives >= self.config.max_derivatives {
            return Ok(None);
        }
        let from = self.some_vector()?;
        let param = variable(self.unique("v"), &from);
        self.derivatives += 1;
        let body = self.inside(param.binders(), 8, |g| g.bounded(ty));
        self.derivatives -= 1;
        let point = Child::plain(self.expr(&from)?);
        let form = Form::OwnRule { vjp: self.u.arbitrary()?, wrong: self.u.arbitrary()?, param, from };
        Ok(Some(Node::binding(ty.clone(), form, vec![body?, point])))
    }

    /// `snd (jvp (\p -> e) ((f, x), (df, dx)))`, where `p` is a function and a vector, or two functions.
    fn along_functions(&mut self, ty: &GenType) -> Made {
        if self.derivatives >= self.config.max_derivatives || !self.config.functions {
            return Ok(None);
        }
        self.derivatives += 1;
        let made = self.along_functions_here(ty);
        self.derivatives -= 1;
        made.map(Some)
    }

    fn along_functions_here(&mut self, ty: &GenType) -> Result<Node> {
        let function = GenType::fun(self.some_vector()?, GenType::Real);
        let other = if self.u.arbitrary()? { function.clone() } else { self.some_vector()? };
        let (g, x) = (self.unique("g"), self.unique("x"));
        let point = GenType::Tuple(vec![function.clone(), other.clone()]);
        let param = GenPat::Tuple(vec![variable(g, &function), variable(x, &other)]);
        let body = self.inside(param.binders(), 4, |g| g.expr(ty))?;
        let of = GenType::fun(point.clone(), ty.clone());
        let lambda = Node::binding(of, Form::Lambda(param, true), vec![body]);
        let (at, along) = (self.pair(&point)?, self.pair(&point)?);
        let both = GenType::Tuple(vec![point.clone(), point]);
        let pair = Node::new(both, Form::Tuple, vec![at, along]);
        let results = GenType::Tuple(vec![ty.clone(), ty.clone()]);
        Ok(call(ty.clone(), "snd", vec![call(results, "jvp", vec![lambda, pair])]))
    }

    /// A tuple written down.
    fn pair(&mut self, ty: &GenType) -> Result<Node> {
        let GenType::Tuple(items) = ty else { return self.expr(ty) };
        let items = items.iter().map(|item| self.expr(item)).collect::<Result<_>>()?;
        Ok(Node::new(ty.clone(), Form::Tuple, items))
    }

    /// `apply_dual (pullback (\g -> e) to_dual f) h`, in which `g`, `f` and `h` are functions.
    fn functional_dual(&mut self) -> Result<Node> {
        let real = GenType::Real;
        if self.derivatives >= self.config.max_derivatives || !self.config.functions {
            return self.leaf(&real);
        }
        self.derivatives += 1;
        let function = GenType::fun(real.clone(), real.clone());
        let functional = self.lambda(&function, &real, 4);
        self.derivatives -= 1;
        let param = variable(self.unique("v"), &real);
        let seed = Node::new(
            real.clone(),
            Form::Var(match &param {
                GenPat::Var(name, _) => *name,
                GenPat::Wildcard
                | GenPat::Lit(_)
                | GenPat::Tuple(_)
                | GenPat::Record(_)
                | GenPat::Ctor(..) => self.unique("v"),
            }),
            vec![],
        );
        // Duals have no type here: the form is written as a function into itself.
        let form = Child { binders: param.binders(), node: call(real.clone(), "to_dual", vec![seed]) };
        let form = Node::binding(function.clone(), Form::Lambda(param, true), vec![form]);
        let (f, h) = (self.expr(&function)?, self.expr(&function)?);
        let dual = call(function, "pullback", vec![functional?, form, f]);
        Ok(call(real, "apply_dual", vec![dual, h]))
    }

    /// A loop that may end before its count is reached.
    fn loop_until(&mut self, ty: &GenType) -> Made {
        let count = self.u.int_in_range(1..=4)?;
        let grows = ty.any(&|part| matches!(part, GenType::Data(..) | GenType::String | GenType::Fun(..)));
        if grows || !self.config.loops || self.repetition.saturating_mul(8) > super::MAX_REPETITION {
            return Ok(None);
        }
        let (k, state) = (self.unique("k"), self.irrefutable(ty)?);
        let mut binders = vec![Bound::value(k, GenType::Int)];
        binders.extend(state.binders());
        let cond = self.inside(binders.clone(), 4, |g| g.expr(&GenType::Bool))?;
        let body = self.inside(binders, 4, |g| g.bounded(ty))?;
        let start = Child::plain(self.expr(ty)?);
        Ok(Some(Node::binding(ty.clone(), Form::WhileCond(count, k, state), vec![cond, body, start])))
    }

    /// An array whose elements depend on their places.
    pub(super) fn long_array(&mut self, ty: &GenType, n: u64, elem: &GenType) -> Result<Node> {
        let i = self.unique("i");
        let body = self.inside(vec![Bound::value(i, GenType::Int)], n, |g| {
            let leaf = g.leaf(elem)?;
            if *elem != GenType::Real {
                return Ok(leaf);
            }
            let place = call(GenType::Real, "real", vec![Node::new(GenType::Int, Form::Var(i), vec![])]);
            let wave = call(GenType::Real, "sin", vec![place]);
            Ok(Node::new(GenType::Real, Form::Binary(BinOp::Add), vec![leaf, wave]))
        })?;
        Ok(Node::binding(ty.clone(), Form::Build(n, i), vec![body]))
    }

    /// A constant, as far as derivatives go.
    fn stopped(&mut self, ty: &GenType) -> Made {
        Ok(Some(call(ty.clone(), "stop_gradient", vec![self.expr(ty)?])))
    }

    /// An element of an array, which may not be there.
    fn element(&mut self, ty: &GenType) -> Made {
        if !self.config.arrays {
            return Ok(None);
        }
        let n = self.u.int_in_range(1..=3)?;
        let array = self.expr(&GenType::array(n, ty.clone()))?;
        Ok(Some(call(ty.clone(), "index", vec![array, self.place(n)?])))
    }

    /// A number from an array, whose size may not be known.
    fn reduction(&mut self, ty: &GenType) -> Made {
        let long = self.u.ratio(1, 4)?;
        let n = if long { *self.u.choose(super::LONG)? } else { self.u.int_in_range(0..=4)? };
        let array = GenType::array(n, ty.clone());
        let source = match self.u.int_in_range(0..=6)? {
            0 | 1 => {
                let keep = self.lambda(ty, &GenType::Bool, n.max(1))?;
                call(array.clone(), "filter", vec![keep, self.expr(&array)?])
            }
            2 => {
                let end = self.place(n + 1)?;
                call(array.clone(), "slice", vec![self.expr(&array)?, int(0), end])
            }
            3 => {
                let rows = GenType::array(n, GenType::array(2, ty.clone()));
                call(array.clone(), "flatten", vec![self.expr(&rows)?])
            }
            4 => call(array.clone(), "concat", vec![self.expr(&array)?, self.expr(&array)?]),
            5 if *ty == GenType::Real => {
                let (rows, columns) = (self.u.int_in_range(1..=3)?, self.u.int_in_range(1..=3)?);
                let matrix = GenType::array(rows, GenType::array(columns, GenType::Real));
                call(array.clone(), "ravel", vec![self.expr(&matrix)?])
            }
            _ => self.expr(&array)?,
        };
        Ok(Some(match self.u.int_in_range(0..=5)? {
            0 if *ty == GenType::Int => call(GenType::Int, "length", vec![source]),
            0 | 1 => {
                let (a, b) = (self.unique("a"), self.unique("b"));
                let binders = vec![Bound::value(a, ty.clone()), Bound::value(b, ty.clone())];
                let body = self.inside(binders, n.max(1), |g| g.bounded(ty))?;
                let start = Child::plain(self.expr(ty)?);
                Node::binding(ty.clone(), Form::Reduce(a, b), vec![body, start, Child::plain(source)])
            }
            2 if *ty == GenType::Int => {
                let name = *self.u.choose(&["argmax", "argmin"])?;
                call(ty.clone(), name, vec![source])
            }
            2 => {
                let largest: bool = self.u.arbitrary()?;
                call(ty.clone(), if largest { "maximum" } else { "minimum" }, vec![source])
            }
            3 => call(ty.clone(), "product", vec![source]),
            4 => call(ty.clone(), "dot", vec![source.clone(), source]),
            _ => call(ty.clone(), "sum", vec![source]),
        }))
    }

    /// An array made of others.
    fn rearrangement(&mut self, ty: &GenType, n: u64, elem: &GenType) -> Made {
        let m = self.u.int_in_range(0..=3)?;
        let other = GenType::array(m, elem.clone());
        let number = matches!(elem, GenType::Real | GenType::Int);
        Ok(Some(match self.u.int_in_range(0..=9)? {
            0 | 1 => call(ty.clone(), "gather", vec![self.expr(&other)?, self.places(n, m)?]),
            2 if number => {
                let (xs, places, ys) = (self.expr(ty)?, self.places(m, n)?, self.expr(&other)?);
                call(ty.clone(), "scatter_add", vec![xs, places, ys])
            }
            3 => {
                let place = self.place(n)?;
                call(ty.clone(), "set", vec![self.expr(ty)?, place, self.expr(elem)?])
            }
            4 => {
                let left = self.u.int_in_range(0..=n)?;
                let parts = [left, n - left].map(|size| GenType::array(size, elem.clone()));
                let parts = parts.iter().map(|part| self.expr(part)).collect::<Result<_>>()?;
                call(ty.clone(), "concat", parts)
            }
            5 => {
                let whole = self.expr(&GenType::array(n + m, elem.clone()))?;
                call(ty.clone(), "slice", vec![whole, int(m), int(n + m)])
            }
            6 => call(ty.clone(), "replicate", vec![int(n), self.expr(elem)?]),
            7 if *elem == GenType::Int => {
                let of = GenType::array(n, GenType::Real);
                call(ty.clone(), "argsort", vec![self.expr(&of)?])
            }
            7 if number => call(ty.clone(), "sort", vec![self.expr(ty)?]),
            8 => {
                let beside = GenType::array(n, self.some_type(0)?);
                let GenType::Array(_, right) = &beside else { return Ok(None) };
                let pairs = GenType::array(n, GenType::Tuple(vec![elem.clone(), right.as_ref().clone()]));
                let zipped = call(pairs, "zip", vec![self.expr(ty)?, self.expr(&beside)?]);
                let both = GenType::Tuple(vec![ty.clone(), beside.clone()]);
                call(ty.clone(), "fst", vec![call(both, "unzip", vec![zipped])])
            }
            _ if n > 0 => {
                let half = GenType::array(n, GenType::array(1, elem.clone()));
                call(ty.clone(), "flatten", vec![self.expr(&half)?])
            }
            _ => self.expr(ty)?,
        }))
    }
}
