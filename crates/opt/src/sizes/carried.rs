//! Carried arrays keep their shapes, as far as going through the loop once more shows that they do.

use super::{Shape, Sizes};
use crate::linear::Linear;
use wengert_ir::Atom;
use wengert_ir::op::Loop;

impl Sizes<'_> {
    /// Of carried arrays, forgets shapes that they do not keep.
    pub(super) fn check_carried(&mut self, parts: &mut Loop, carried: usize) {
        loop {
            let assumed = self.carried(parts, carried);
            if assumed.iter().flatten().all(Option::is_none) {
                return;
            }
            let size = parts.body.size();
            let kept: Vec<Shape> = if size <= self.budget {
                self.budget -= size;
                self.inside(&mut parts.body, false, |sizes, body| {
                    let results = assumed.iter().zip(&body.results);
                    results.map(|(assumed, result)| sizes.still(assumed, result)).collect()
                })
            } else {
                assumed.iter().map(|assumed| vec![None; assumed.len()]).collect()
            };
            for (param, shape) in parts.body.params.iter().skip(1).zip(&kept) {
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

    pub(super) fn carried(&self, parts: &Loop, count: usize) -> Vec<Shape> {
        let params = parts.body.params.iter().skip(1).take(count);
        params.map(|param| self.shapes.get(param).cloned().unwrap_or_default()).collect()
    }
}
