//! The iterations from one number on and before another one, where that is what a condition says of the index.
//!
//! ```text
//!                                                   first = max(0, k - m + 1)  last = min(n, k + 1)  count = max(0, last - first)
//! for i < n, s = 0.0, x in xs {                     for j < count, s = 0.0 {
//!   p = k - i                                         i = j + first  x = xs[i]
//!   t = if p >= 0 && p < m { … } else { 0.0 }           p = k - i
//!   yield s + t }                     becomes         t = …
//!                                                     yield s + t }
//! ```
//!
//! So one writes convolutions. What is compared are sums of indices, of sizes of what is in memory, and of small numbers, which do not wrap; other numbers
//! are compared as they are, or are how often a loop runs, and are taken to be no farther away than any index.

use super::{Within, without};
use crate::linear::Linear;
use crate::said::conjunction;
use rustc_hash::FxHashSet;
use wengert_base::Span;
use wengert_ir::op::{ArrayOp, Compare, IntOp, Loop, Op};
use wengert_ir::{Atom, Stmt, Var};

/// Coefficients are smaller, and no sum of what is in memory, taken so often, is as far from zero as that.
const SMALL: u64 = 1 << 8;
const FAR: i64 = 1 << 52;
/// How deep sums are looked into, and how many bounds there may be.
const DEEP: usize = 8;
const BOUNDS: usize = 6;

/// What the branch in a loop asks.
pub(super) struct Window {
    at: usize,
    side: bool,
    /// The index is at least all of these.
    lower: Vec<Linear>,
    /// And less than all of those.
    upper: Vec<Linear>,
    /// Which numbers in them are not known to be small.
    unknown: Vec<Var>,
}

impl Within<'_> {
    /// In which iterations of a loop something is done, if it asks for nothing else.
    pub(super) fn window(&self, parts: &Loop) -> Option<Window> {
        if !self.sums {
            return None;
        }
        let (at, side) = self.only_branch(parts)?;
        let Op::If { cond, .. } = &parts.body.stmts.get(at)?.op else { return None };
        let said = conjunction(cond, side, &self.made).filter(|said| said.len() <= BOUNDS)?;
        let mut window = Window { at, side, lower: Vec::new(), upper: Vec::new(), unknown: Vec::new() };
        for (compare, a, b) in said {
            self.limit(parts, &mut window, compare, [&a, &b])?;
        }
        Some(window)
    }

    fn limit(&self, parts: &Loop, window: &mut Window, compare: Compare, sides: [&Atom; 2]) -> Option<()> {
        let body = &parts.body;
        let index = *body.params.first()?;
        let [a, b] = sides.map(|side| self.form(side, DEEP));
        let (a, b) = (a?, b?);
        for form in [&a, &b] {
            let large = form.vars().find(|var| *var != index && !self.is_small(*var, DEEP));
            let Some(large) = large else { continue };
            let (terms, constant) = form.parts();
            let is_length =
                parts.len == Atom::Var(large) || self.around.iter().any(|(_, len)| *len == Atom::Var(large));
            if terms != [(large, 1)] || constant > 0 || (constant < 0 && !is_length) {
                return None;
            }
            window.unknown.push(large);
        }
        let difference = a.minus(&b);
        let (terms, _) = difference.parts();
        let (_, times) = terms.iter().find(|(var, _)| *var == index)?;
        let inside: FxHashSet<Var> =
            body.params.iter().chain(body.stmts.iter().flat_map(|stmt| &stmt.outs)).copied().collect();
        if terms.iter().any(|(var, _)| *var != index && inside.contains(var)) {
            return None;
        }
        // The index for which both are equal.
        let (equal, compare) = match times {
            1 => (Linear::of(index).minus(&difference), compare),
            -1 => (difference.plus(&Linear::of(index)), compare.turned()),
            _ => return None,
        };
        let next = equal.plus(&Linear::constant(1));
        match compare {
            Compare::Ge => window.lower.push(equal),
            Compare::Gt => window.lower.push(next),
            Compare::Lt => window.upper.push(equal),
            Compare::Le => window.upper.push(next),
            Compare::Eq => {
                window.lower.push(equal);
                window.upper.push(next);
            }
            Compare::Ne => return None,
        }
        Some(())
    }

    /// An integer as a sum, no part of which wraps if its variables are small.
    fn form(&self, atom: &Atom, depth: usize) -> Option<Linear> {
        let form = match atom {
            Atom::Int(n) => Linear::constant(*n),
            Atom::Var(var) => match self.made.get(var) {
                Some(Op::Copy(x)) if depth > 0 => self.form(x, depth - 1)?,
                Some(Op::Int(op @ (IntOp::Add | IntOp::Sub), args)) if depth > 0 => {
                    let [a, b] = args.as_slice() else { return None };
                    let (a, b) = (self.form(a, depth - 1)?, self.form(b, depth - 1)?);
                    if *op == IntOp::Add { a.plus(&b) } else { a.minus(&b) }
                }
                _ => Linear::of(*var),
            },
            Atom::Real(_) | Atom::Bool(_) | Atom::Text(_) | Atom::Unit => return None,
        };
        let (terms, constant) = form.parts();
        let small = terms.iter().all(|(_, n)| n.unsigned_abs() < SMALL) && constant.unsigned_abs() < 1 << 32;
        (small && form.is_small()).then_some(form)
    }

    /// Whether a number is an index, or not larger than what is in memory.
    fn is_small(&self, var: Var, depth: usize) -> bool {
        let small = |atom: &Atom| match atom {
            Atom::Int(n) => n.unsigned_abs() < 1 << 32,
            Atom::Var(var) => depth > 0 && self.is_small(*var, depth - 1),
            Atom::Real(_) | Atom::Bool(_) | Atom::Text(_) | Atom::Unit => false,
        };
        let is_index = self.around.iter().any(|(index, _)| *index == var);
        is_index
            || match self.made.get(&var) {
                Some(Op::Array(ArrayOp::Length(_), _)) => true,
                Some(Op::Copy(x)) => small(x),
                Some(Op::Int(IntOp::Min | IntOp::Max | IntOp::Div | IntOp::DivFloor, args)) => {
                    args.iter().all(small)
                }
                _ => false,
            }
    }

    /// Lets a loop go through those iterations only.
    pub(super) fn open(&mut self, parts: &mut Loop, window: Window, out: &mut Vec<Stmt>, span: Span) {
        self.opened = true;
        let Window { at, side, mut lower, mut upper, unknown } = window;
        for var in unknown {
            let least = self.int(IntOp::Max, vec![Atom::Var(var), Atom::Int(-FAR)], out, span);
            let near = self.int(IntOp::Min, vec![least, Atom::Int(FAR)], out, span);
            let near = near.var().map(Linear::of);
            for bound in lower.iter_mut().chain(&mut upper) {
                near.iter().for_each(|near| *bound = bound.replace(var, near));
            }
        }
        let (mut first, mut last) = (Atom::Int(0), parts.len.clone());
        for (bounds, op, limit) in [(lower, IntOp::Max, &mut first), (upper, IntOp::Min, &mut last)] {
            for limited in bounds {
                let bound = self.sum(&limited, out, span);
                *limit = match (&*limit, bound) {
                    (Atom::Int(a), Atom::Int(b)) => {
                        Atom::Int(if op == IntOp::Max { *a.max(&b) } else { *a.min(&b) })
                    }
                    (limit, bound) => self.int(op, vec![limit.clone(), bound], out, span),
                };
            }
        }
        let first = Some(first).filter(|first| *first != Atom::Int(0));
        let count = match &first {
            Some(first) => self.int(IntOp::Sub, vec![last, first.clone()], out, span),
            None => last,
        };
        let count = self.int(IntOp::Max, vec![Atom::Int(0), count], out, span);
        without(&mut parts.body, at, side);
        self.shift(parts, first, count, span);
    }

    fn sum(&mut self, form: &Linear, out: &mut Vec<Stmt>, span: Span) -> Atom {
        let (terms, constant) = form.parts();
        let mut sum = Atom::Int(constant);
        for (var, times) in terms {
            let (var, op) = (Atom::Var(var), if times < 0 { IntOp::Sub } else { IntOp::Add });
            let term = match times.abs() {
                1 => var,
                times => self.int(IntOp::Mul, vec![var, Atom::Int(times)], out, span),
            };
            sum = match (&sum, op) {
                (Atom::Int(0), IntOp::Add) => term,
                _ => self.int(op, vec![sum, term], out, span),
            };
        }
        sum
    }
}
