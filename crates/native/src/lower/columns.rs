//! Loops that update arrays in place, each iteration at places of its own.
//!
//! ```text
//! for i < n, m = a {
//!   m2 = m with [k, i + 1] = m[k, i + 1] - f * m[j, i + 1]
//!   yield m2
//! }
//! ```
//!
//! Whatever is read or written of the array has one index that is the same within an iteration, and another one in each: then no iteration looks at
//! what another one changes, as in a map.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed does something else with an array")]

use super::{Kind, Lower, kind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use wengert_ir::op::{ArrayOp, IntOp, Loop, Op};
use wengert_ir::{Atom, Block, Stmt, Ty, Var};

/// Longer chains of sums are not looked at.
const DEEP: usize = 8;

impl Lower<'_> {
    /// Whether all that a loop carries are arrays that are updated in place, and no iteration looks at what another one changes.
    pub(super) fn are_apart(&self, parts: &Loop) -> bool {
        let carried = parts.init.len() + parts.accs.len();
        let [index, params @ ..] = parts.body.params.as_slice() else { return false };
        let params = params.get(..carried).unwrap_or_default();
        let in_place = |param: &Var| {
            self.stable.contains_key(param)
                && matches!(self.func.ty(*param), Ty::Array(elem, _) if kind(Ty::Scalar(elem)) == Kind::Plain)
        };
        if params.is_empty() || !params.iter().all(in_place) {
            return false;
        }
        let mut columns = Columns {
            index: *index,
            rank: &|var| usize::from(self.func.ty(var).rank()),
            inside: parts.body.params.iter().copied().collect(),
            sums: FxHashMap::default(),
            versions: params.iter().copied().zip(0..).collect(),
            same: vec![None; carried],
        };
        columns.block(&parts.body)
            && (parts.body.results.iter().zip(0..carried))
                .all(|(end, place)| columns.version(end) == Some(place))
            && columns.same.iter().flatten().all(|axes| axes.iter().any(Option::is_some))
    }
}

/// An integer as a sum of variables and a number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Sum {
    terms: BTreeMap<Var, i64>,
    number: i64,
}

/// What is known of the body of a loop.
struct Columns<'c> {
    index: Var,
    rank: &'c dyn Fn(Var) -> usize,
    /// What the body binds.
    inside: FxHashSet<Var>,
    /// The sums and differences that it computes.
    sums: FxHashMap<Var, (i64, Atom, Atom)>,
    /// Versions of the carried arrays, with the place of the array among them.
    versions: FxHashMap<Var, usize>,
    /// For each carried array that was looked at, by axis: the index, if it is the same wherever one looks, and another one in each iteration.
    same: Vec<Option<Vec<Option<Sum>>>>,
}

impl Columns<'_> {
    /// Which of the carried arrays this is a version of.
    fn version(&self, atom: &Atom) -> Option<usize> {
        self.versions.get(&atom.var()?).copied()
    }

    /// Goes through statements; whether that is all that they do with these arrays.
    fn block(&mut self, block: &Block) -> bool {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || block.stmts.iter().all(|stmt| self.stmt(stmt)))
    }

    fn stmt(&mut self, stmt: &Stmt) -> bool {
        self.inside.extend(&stmt.outs);
        match (&stmt.op, stmt.outs.as_slice()) {
            (Op::Int(op @ (IntOp::Add | IntOp::Sub), args), [out]) => {
                if let [a, b] = args.as_slice() {
                    let sign = if *op == IntOp::Add { 1 } else { -1 };
                    self.sums.insert(*out, (sign, a.clone(), b.clone()));
                }
                true
            }
            (Op::Array(ArrayOp::Length(_), _), _) => true,
            (Op::Array(ArrayOp::Index, args), _) => self.looks(args).is_some(),
            (Op::Array(ArrayOp::Set | ArrayOp::AddAt, args), [out]) => {
                let (value, place) = args.split_last().unwrap_or((&Atom::Unit, &[]));
                let Some(array) = self.looks(place).filter(|_| self.version(value).is_none()) else {
                    return false;
                };
                self.versions.extend(array.map(|array| (*out, array)));
                true
            }
            (Op::If { then, otherwise, .. }, outs) => {
                let through = self.block(then) && self.block(otherwise);
                let ends = then
                    .results
                    .iter()
                    .zip(&otherwise.results)
                    .map(|(a, b)| (self.version(a), self.version(b)));
                let ends: Vec<(Option<usize>, Option<usize>)> = ends.collect();
                let given = outs.iter().zip(&ends).filter_map(|(out, (array, _))| Some((*out, (*array)?)));
                self.versions.extend(given);
                through && ends.iter().all(|(a, b)| a == b)
            }
            (op, _) => {
                op.blocks().is_empty() && !op.operand_vars().iter().any(|var| self.versions.contains_key(var))
            }
        }
    }

    /// Notes where an array is looked at or changed. Which carried array it is a version of, if it is one; nothing if not an element is looked at.
    fn looks(&mut self, place: &[Atom]) -> Option<Option<usize>> {
        let (array, indices) = place.split_first()?;
        let Some(version) = self.version(array) else { return Some(None) };
        if indices.len() != array.var().map_or(0, self.rank) {
            return None;
        }
        let sums: Vec<Option<Sum>> = indices.iter().map(|index| self.moving(index)).collect();
        let known = self.same.get_mut(version)?;
        match known {
            Some(known) => {
                for (known, sum) in known.iter_mut().zip(sums) {
                    *known = known.take().filter(|known| sum.as_ref() == Some(known));
                }
            }
            None => *known = Some(sums),
        }
        Some(Some(version))
    }

    /// An index that is another one in each iteration.
    fn moving(&self, index: &Atom) -> Option<Sum> {
        let mut sum = Sum::default();
        self.add(&mut sum, index, 1, DEEP)?;
        sum.terms.retain(|_, times| *times != 0);
        let moves = sum.terms.get(&self.index).is_some_and(|times| times.abs() == 1);
        let others = sum.terms.keys().all(|var| *var == self.index || !self.inside.contains(var));
        (moves && others).then_some(sum)
    }

    fn add(&self, sum: &mut Sum, index: &Atom, times: i64, depth: usize) -> Option<()> {
        let var = match index {
            Atom::Int(n) => {
                sum.number = sum.number.wrapping_add(times.wrapping_mul(*n));
                return Some(());
            }
            index => index.var()?,
        };
        match self.sums.get(&var) {
            Some((sign, a, b)) => {
                let depth = depth.checked_sub(1)?;
                self.add(sum, a, times, depth)?;
                self.add(sum, b, times * sign, depth)
            }
            None => {
                *sum.terms.entry(var).or_default() += times;
                Some(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::loops::Stmt;
    use crate::loops::walk::every;

    /// Whether the inner loop of a step that changes a matrix is independent.
    fn is_independent(step: &str) -> bool {
        let text = format!(
            "func f(n: Int, is: []Int, a: [][]Real) -> [][]Real {{
                y = for k < n, m = a {{
                    z = for i < n, m2 = m {{ j = i + 1 h = j - k {step} }}
                    yield z
                }}
                return y
            }}
            entry f = f"
        );
        let program = wengert_ir::parse::parse(&text).expect("the text is a program");
        let loops = super::super::lower(&program);
        let mut last = None;
        for (_, func) in loops.funcs.iter() {
            every(&func.body, &mut |stmt| {
                if let Stmt::For { independent, .. } = stmt {
                    last = Some(*independent);
                }
            });
        }
        last.expect("there are loops")
    }

    #[test]
    fn iterations_that_keep_to_a_column_are_independent() {
        for step in [
            "x = m2[k, j] y2 = sin(x) m3 = m2 with [n, j] = y2 yield m3",
            "x = m2[k, h] m3 = m2 with [n, h] = x x2 = m3[n, h] m4 = m3 with [0, h] += x2 yield m4",
            "x = m2[k, i] c = x < 0.0 m3 = if c { m4 = m2 with [k, i] = 0.0 yield m4 } else { yield m2 } yield m3",
            "p = is[i] x = m2[i, p] m3 = m2 with [i, k] = x yield m3",
        ] {
            assert!(is_independent(step), "{step}");
        }
        for step in [
            "x = m2[k, i] m3 = m2 with [n, j] = x yield m3",
            "x = m2[j, k] m3 = m2 with [n, j] = x yield m3",
            "p = is[i] m3 = m2 with [k, p] = 0.0 yield m3",
            "p = i * 2 q = i - p s = q + i m3 = m2 with [k, s] = 0.0 yield m3",
            "m3 = m2 with [k, n] += 1.0 yield m3",
            "x = m2[k, j] m3 = m2 with [j, n] = x yield m3",
            "r = m2[i] c = length(r) x = sum(r) m3 = m2 with [k, i] = x yield m3",
        ] {
            assert!(!is_independent(step), "{step}");
        }
    }
}
