//! Carried arrays keep their shapes, as far as going through the loop once more shows that they do.

use super::{Shape, Sizes};
use crate::linear::Linear;
use wengert_ir::op::While;
use wengert_ir::{Atom, Block, Var};

impl Sizes<'_> {
    /// A loop that goes on as long as a condition holds.
    pub(super) fn go_on(&mut self, parts: &mut While, outs: &[Var], rewrite: bool) {
        let before: Vec<Shape> = parts.init.iter().map(|atom| self.shape(atom)).collect();
        self.shapes.extend(parts.body.params.iter().copied().zip(before));
        self.check_carried(&mut parts.body, (0, parts.init.len()));
        let kept = self.carried(&parts.body, (0, parts.init.len()));
        self.shapes.extend(parts.cond.params.iter().copied().zip(kept.iter().cloned()));
        self.inside(&mut parts.cond, rewrite, |_, _| ());
        self.inside(&mut parts.body, rewrite, |_, _| ());
        self.shapes.extend(outs.iter().copied().zip(kept));
    }

    /// Of carried arrays, forgets shapes that they do not keep. They are so many parameters of the body, from the first of them on.
    pub(super) fn check_carried(&mut self, body: &mut Block, (first, carried): (usize, usize)) {
        loop {
            let assumed = self.carried(body, (first, carried));
            if assumed.iter().flatten().all(Option::is_none) {
                return;
            }
            let size = body.size();
            let kept: Vec<Shape> = if size <= self.budget {
                self.budget -= size;
                self.inside(body, false, |sizes, body| {
                    let results = assumed.iter().zip(&body.results);
                    results.map(|(assumed, result)| sizes.still(assumed, result)).collect()
                })
            } else {
                assumed.iter().map(|assumed| vec![None; assumed.len()]).collect()
            };
            for (param, shape) in body.params.iter().skip(first).zip(&kept) {
                self.shapes.insert(*param, shape.clone());
            }
            if kept == assumed {
                return;
            }
        }
    }

    /// What of a shape an array has here, by whatever names: a requirement may have given others.
    fn still(&self, assumed: &Shape, array: &Atom) -> Shape {
        let is_so = |(size, found): (&Option<Linear>, Option<Linear>)| {
            size.clone().filter(|size| found.as_ref() == Some(&self.settle(size.clone())))
        };
        assumed.iter().zip(self.shape(array)).map(is_so).collect()
    }

    pub(super) fn carried(&self, body: &Block, (first, count): (usize, usize)) -> Vec<Shape> {
        let params = body.params.iter().skip(first).take(count);
        params.map(|param| self.shapes.get(param).cloned().unwrap_or_default()).collect()
    }
}
