//! Derivative operators inside programs: nested to the configured depth, in any mix of modes, with functions that capture
//! what is around them.
//!
//! A tangent must have the structure of its point. At types of fixed structure any value does; elsewhere the tangent is
//! made from the point itself (`scale 0.5 p`). The parameter is annotated, so that the type of the point is known even
//! if the function ignores it.

use super::loops::variable;
use super::number::call;
use super::{Gen, Made};
use crate::tree::{Bound, Child, Form, GenPat, Node, Operator};
use crate::ty::GenType;
use arbitrary::Result;
use wengert_syntax::ast::BinOp;

/// How many times more often the body of a differentiated function is taken to run.
const DERIVATIVE_COST: u64 = 4;

impl Gen<'_, '_> {
    /// A derivative of type `ty`.
    pub(super) fn derivative(&mut self, ty: &GenType) -> Made {
        if self.derivatives >= self.config.max_derivatives {
            return Ok(None);
        }
        self.derivatives += 1;
        let made = self.derivative_here(ty);
        self.derivatives -= 1;
        made
    }

    /// One of the operators that can give a `ty`.
    fn derivative_here(&mut self, ty: &GenType) -> Made {
        let first_order = ty.is_first_order();
        let smooth = first_order && ty.holds_real(&self.decls);
        let matrix = matrix_sizes(ty);
        let vector = self.some_vector()?;
        if matrix.is_none() && self.u.ratio(1, 20)? {
            // No type asks for a matrix by itself.
            return self.sum_of_matrix(ty);
        }
        match self.u.int_in_range(0..=15)? {
            0 | 1 => self.derive(Operator::Derivative, &GenType::Real, ty, ty, &[]).map(Some),
            2 | 3 if smooth => self.derive(Operator::Grad, ty, &GenType::Real, ty, &[]).map(Some),
            4 if smooth => self.derive(Operator::GradForward, ty, &GenType::Real, ty, &[]).map(Some),
            5 if smooth => {
                let cotangent = vector.clone();
                self.derive(Operator::Vjp, ty, &vector, ty, &[cotangent]).map(Some)
            }
            6 => {
                let tangent = vector.clone();
                self.derive(Operator::Jvp, &vector, ty, ty, &[tangent]).map(Some)
            }
            7 => {
                let tangent = vector.clone();
                self.derive(Operator::Linearize, &vector, ty, ty, &[tangent]).map(Some)
            }
            8 => {
                let point = self.some_type(2)?;
                if !point.is_first_order() || !point.holds_real(&self.decls) {
                    return Ok(None);
                }
                self.derive(Operator::JvpAlong, &point, ty, ty, &[]).map(Some)
            }
            9 => match matrix {
                Some((m, n)) => {
                    let (from, to) = (GenType::array(n, GenType::Real), GenType::array(m, GenType::Real));
                    let forward = self.u.arbitrary()?;
                    let operator = if forward { Operator::JacForward } else { Operator::JacReverse };
                    self.derive(operator, &from, &to, ty, &[]).map(Some)
                }
                None => self.derive(Operator::Checkpoint, &vector, ty, ty, &[]).map(Some),
            },
            10 => self.derive_function(ty).map(Some),
            11 if *ty == GenType::Real => {
                let result = self.some_vector()?;
                let others = [result.clone(), vector.clone()];
                self.derive(Operator::Pullback, &vector, &result, ty, &others).map(Some)
            }
            12 if *ty == GenType::Real && self.config.taylor => {
                // Derivatives of high order are large even of smooth functions.
                let order = if self.config.smooth { 2 } else { self.u.int_in_range(1..=7)? };
                self.derive(Operator::Taylor(order), &GenType::Real, ty, ty, &[]).map(Some)
            }
            13..=15 if *ty == GenType::Real && self.config.functions => self.nested_function().map(Some),
            _ => self.derive(Operator::Derivative, &GenType::Real, ty, ty, &[]).map(Some),
        }
    }

    /// `let d = derivative (\x -> \g -> \a -> … g (a + x) …) e in d (d f) e'`: the tangent of a curried function is a
    /// function, and here it meets itself. An implementation that does not keep the two uses apart gives a wrong value.
    fn nested_function(&mut self) -> Result<Node> {
        let real = GenType::Real;
        let function = GenType::fun(real.clone(), real.clone());
        let operator = GenType::fun(function.clone(), function.clone());
        let [x, g, a, d] = ["x", "g", "a", "d"].map(|prefix| self.unique(prefix));
        let var = |name, ty: &GenType| Node::new(ty.clone(), Form::Var(name), vec![]);
        let apply = |ty: &GenType, func, arg| Node::new(ty.clone(), Form::Apply, vec![func, arg]);

        let x_pattern = variable(x, &real);
        let derived = self.inside(x_pattern.binders(), DERIVATIVE_COST, |generator| {
            let outer = variable(g, &function);
            let inner = generator.inside(outer.binders(), 1, |generator| {
                let param = variable(a, &real);
                let body = generator.inside(param.binders(), 1, |generator| {
                    let shifted =
                        Node::new(real.clone(), Form::Binary(BinOp::Add), vec![var(a, &real), var(x, &real)]);
                    let arg = if generator.u.ratio(2, 3)? { shifted } else { generator.bounded_real()? };
                    let applied = apply(&real, var(g, &function), arg);
                    if generator.u.ratio(1, 2)? {
                        return Ok(applied);
                    }
                    let other = generator.bounded_real()?;
                    Ok(Node::new(real.clone(), Form::Binary(BinOp::Mul), vec![applied, other]))
                })?;
                Ok(Node::binding(function.clone(), Form::Lambda(param, true), vec![body]))
            })?;
            Ok(Node::binding(operator.clone(), Form::Lambda(outer, true), vec![inner]))
        })?;
        let point = Child::plain(self.expr(&real)?);
        let form = Form::Derive(Operator::Derivative, x_pattern, real.clone());
        let tangent = Node::binding(operator.clone(), form, vec![derived, point]);

        let target = variable(d, &operator);
        let body = self.inside(target.binders(), 2, |generator| {
            let once = apply(&function, var(d, &operator), generator.expr(&function)?);
            let twice = apply(&function, var(d, &operator), once);
            let arg = generator.bounded_real()?;
            Ok(apply(&real, twice, arg))
        })?;
        Ok(Node::binding(real.clone(), Form::Let(target), vec![Child::plain(tangent), body]))
    }

    /// A `ty` beside a Jacobian matrix, whose product with a vector is bound for it.
    fn sum_of_matrix(&mut self, ty: &GenType) -> Made {
        if !self.config.arrays {
            return Ok(None);
        }
        let (m, n) = (self.u.int_in_range(1..=3)?, self.u.int_in_range(1..=3)?);
        let vector = |n| GenType::array(n, GenType::Real);
        let forward = self.u.arbitrary()?;
        let operator = if forward { Operator::JacForward } else { Operator::JacReverse };
        let jacobian = self.derive(operator, &vector(n), &vector(m), &GenType::array(m, vector(n)), &[])?;
        let along = self.bounded(&vector(n))?;
        let product = call(vector(m), "matvec", vec![jacobian, along]);
        let target = variable(self.unique("v"), &vector(m));
        let body = self.body(&target, 1, ty)?;
        Ok(Some(Node::binding(ty.clone(), Form::Let(target), vec![Child::plain(product), body])))
    }

    /// `operator` of a function from `from` to `to`, at a point, with `others`: a `ty`.
    fn derive(
        &mut self,
        operator: Operator,
        from: &GenType,
        to: &GenType,
        ty: &GenType,
        others: &[GenType],
    ) -> Result<Node> {
        let mut param = self.irrefutable(from)?;
        if param == GenPat::Wildcard {
            param = variable(self.unique("v"), from);
        }
        let mut children = vec![self.body(&param, DERIVATIVE_COST, to)?];
        children.push(Child::plain(self.expr(from)?));
        for other in others {
            children.push(Child::plain(self.bounded(other)?));
        }
        Ok(Node::binding(ty.clone(), Form::Derive(operator, param, from.clone()), children))
    }

    /// A derivative with respect to a function.
    fn derive_function(&mut self, ty: &GenType) -> Result<Node> {
        let (g, x) = (self.unique("g"), self.unique("x"));
        let function = Bound::value(g, GenType::fun(GenType::Real, GenType::Real));
        let body = self.inside(vec![function], DERIVATIVE_COST, |g| g.expr(ty))?;
        let argument = || vec![Bound::value(x, GenType::Real)];
        let point = self.inside(argument(), DERIVATIVE_COST, Gen::bounded_real)?;
        let tangent = self.inside(argument(), DERIVATIVE_COST, Gen::bounded_real)?;
        Ok(Node::binding(ty.clone(), Form::DeriveFun { g, x }, vec![body, point, tangent]))
    }
}

/// Rows and columns of a matrix of `Real`s that is not empty.
fn matrix_sizes(ty: &GenType) -> Option<(u64, u64)> {
    let GenType::Array(m, row) = ty else { return None };
    let GenType::Array(n, elem) = row.as_ref() else { return None };
    (**elem == GenType::Real && *n > 0 && *m > 0).then_some((*m, *n))
}
