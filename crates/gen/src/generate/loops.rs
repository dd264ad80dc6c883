//! Loops: over numbers, over arrays. What goes round must not grow: states hold no text and no data, and in smooth mode
//! their numbers are squeezed.

use super::{Gen, MAX_REPETITION, Made};
use crate::tree::{Bound, Child, Form, GenPat, Node};
use crate::ty::GenType;
use arbitrary::Result;

impl Gen<'_, '_> {
    /// Whether values of the type have a fixed size.
    fn may_go_round(&self, ty: &GenType) -> bool {
        !ty.any(&|part| matches!(part, GenType::Data(..) | GenType::String | GenType::Fun(..)))
    }

    /// `iterate`, `while_loop`, or a local recursive function.
    pub(super) fn loop_over_number(&mut self, ty: &GenType) -> Made {
        let count = self.u.int_in_range(1..=4)?;
        let times = u64::from(count);
        if !self.config.loops
            || !self.may_go_round(ty)
            || self.repetition.saturating_mul(times) > MAX_REPETITION
        {
            return Ok(None);
        }
        let start = Child::plain(self.expr(ty)?);
        Ok(Some(match self.u.int_in_range(0..=2)? {
            0 => {
                let param = self.irrefutable(ty)?;
                let body = self.inside(param.binders(), times, |g| g.bounded(ty))?;
                Node::binding(ty.clone(), Form::Iterate(count, param), vec![body, start])
            }
            1 => {
                let (k, param) = (self.unique("k"), self.irrefutable(ty)?);
                let mut binders = vec![Bound::value(k, GenType::Int)];
                binders.extend(param.binders());
                let body = self.inside(binders, times, |g| g.bounded(ty))?;
                Node::binding(ty.clone(), Form::While(count, k, param), vec![body, start])
            }
            _ => {
                let (go, fuel, state) = (self.unique("go"), self.unique("k"), self.unique("s"));
                let binders = vec![Bound::value(fuel, GenType::Int), Bound::value(state, ty.clone())];
                let body = self.inside(binders, times, |g| g.bounded(ty))?;
                Node::binding(ty.clone(), Form::Loop { count, go, fuel, state }, vec![body, start])
            }
        }))
    }

    /// `fold f z xs`
    pub(super) fn loop_over_array(&mut self, ty: &GenType) -> Made {
        let n = self.u.int_in_range(0..=3)?;
        if !self.config.arrays
            || !self.may_go_round(ty)
            || self.repetition.saturating_mul(n.max(1)) > MAX_REPETITION
        {
            return Ok(None);
        }
        let elem = self.some_type(1)?;
        let (acc, x) = (self.unique("acc"), self.unique("x"));
        let binders = vec![Bound::value(acc, ty.clone()), Bound::value(x, elem.clone())];
        let body = self.inside(binders, n.max(1), |g| g.bounded(ty))?;
        let start = Child::plain(self.expr(ty)?);
        let array = Child::plain(self.expr(&GenType::array(n, elem))?);
        Ok(Some(Node::binding(ty.clone(), Form::Fold(acc, x), vec![body, start, array])))
    }

    /// `scan f z xs`, an array of type `ty` with `n` elements of type `elem`.
    pub(super) fn scan(&mut self, ty: &GenType, n: u64, elem: &GenType) -> Result<Node> {
        if !self.may_go_round(elem) {
            return self.leaf(ty);
        }
        let from = self.some_type(0)?;
        let (acc, x) = (self.unique("acc"), self.unique("x"));
        let binders = vec![Bound::value(acc, elem.clone()), Bound::value(x, from.clone())];
        let body = self.inside(binders, n.max(1), |g| g.bounded(elem))?;
        let start = Child::plain(self.expr(elem)?);
        let array = Child::plain(self.expr(&GenType::array(n, from))?);
        Ok(Node::binding(ty.clone(), Form::Scan(acc, x), vec![body, start, array]))
    }
}

/// The pattern of a plain variable.
pub(super) fn variable(name: wengert_base::Name, ty: &GenType) -> GenPat {
    GenPat::Var(name, ty.clone())
}
