//! Loops that update arrays in place, each iteration at places of its own.
//!
//! ```text
//! for i < n, m = a {
//!   r = i + k + 1
//!   m2 = for j < w, m3 = m { m4 = m3 with [r, j] = m3[r, j] - f * m3[k, j] yield m4 }
//!   yield m2
//! }
//! ```
//!
//! Whatever is changed of the array has one index that is the same within an iteration, and another one in each. What is read has that index too, or one
//! at which no iteration changes anything: `k`, which is below all `r`. Then no iteration looks at what another one changes, as in a map.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed does something else with an array")]

use super::{Kind, Lower, kind};
use crate::forms::{DEEP, Form};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::{ArrayOp, IntOp, Loop, Op};
use wengert_ir::{Atom, Block, Func, Stmt, Ty, Var};

/// Indices of what is there are no further from each other.
const FAR: u64 = 1 << 48;

/// The sums and differences of a function: two numbers, and the sign of the second.
pub(super) type Added = FxHashMap<Var, (i64, Atom, Atom)>;

/// See the type.
fn added(func: &Func) -> Added {
    let mut found = Added::default();
    func.body.for_each_stmt(&mut |stmt| {
        let (Op::Int(op @ (IntOp::Add | IntOp::Sub), args), [out]) = (&stmt.op, stmt.outs.as_slice()) else {
            return;
        };
        if let [a, b] = args.as_slice() {
            let sign = if *op == IntOp::Add { 1 } else { -1 };
            found.insert(*out, (sign, a.clone(), b.clone()));
        }
    });
    found
}

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
            sums: self.added.get_or_init(|| added(self.func)),
            versions: params.iter().copied().zip(0..).collect(),
            looks: Vec::new(),
        };
        columns.block(&parts.body)
            && (parts.body.results.iter().zip(0..carried))
                .all(|(end, place)| columns.version(end) == Some(place))
            && (0..carried).all(|array| columns.is_apart(array, &parts.len))
    }
}

/// An integer as a sum of variables and a number.
type Sum = Form<Var>;

/// What is known of the body of a loop.
struct Columns<'c> {
    index: Var,
    rank: &'c dyn Fn(Var) -> usize,
    /// What the body binds.
    inside: FxHashSet<Var>,
    sums: &'c Added,
    /// Versions of the carried arrays, with the place of the array among them.
    versions: FxHashMap<Var, usize>,
    looks: Vec<Look>,
}

/// Where a carried array is looked at: which it is, whether it is changed there, and the indices that are known sums of the index of the loop and of what does
/// not change in it.
struct Look {
    array: usize,
    changes: bool,
    place: Vec<Option<Sum>>,
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
            (Op::Array(ArrayOp::Length(_), _), _) => true,
            (Op::Array(ArrayOp::Index, args), _) => self.looks(args, false).is_some(),
            (Op::Array(ArrayOp::Set | ArrayOp::AddAt, args), [out]) => {
                let (value, place) = args.split_last().unwrap_or((&Atom::Unit, &[]));
                let Some(array) = self.looks(place, true).filter(|_| self.version(value).is_none()) else {
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
            (Op::Loop(parts), outs) => self.inner(parts, outs),
            (op, _) => {
                op.blocks().is_empty() && !op.operand_vars().iter().any(|var| self.versions.contains_key(var))
            }
        }
    }

    /// A loop inside: carried arrays go through it, or nothing is done with them.
    fn inner(&mut self, parts: &Loop, outs: &[Var]) -> bool {
        let carried = parts.init.len() + parts.accs.len();
        let starts: Vec<Option<usize>> =
            parts.init.iter().chain(&parts.accs).map(|start| self.version(start)).collect();
        self.inside.extend(&parts.body.params);
        let params = parts.body.params.iter().skip(1).zip(&starts);
        self.versions.extend(params.filter_map(|(param, array)| Some((*param, (*array)?))));
        let through = self.block(&parts.body);
        let ends = parts.body.results.iter().map(|end| self.version(end));
        let ends: Vec<Option<usize>> = ends.collect();
        let rows_apart = ends.iter().skip(carried).all(Option::is_none);
        self.versions.extend(outs.iter().zip(&starts).filter_map(|(out, array)| Some((*out, (*array)?))));
        let taken = parts.inputs.iter().any(|input| self.version(input).is_some());
        through && rows_apart && !taken && ends.iter().zip(&starts).all(|(end, start)| end == start)
    }

    /// Notes where an array is looked at or changed. Which carried array it is a version of, if it is one; nothing if not an element is looked at.
    fn looks(&mut self, place: &[Atom], changes: bool) -> Option<Option<usize>> {
        let (array, indices) = place.split_first()?;
        let Some(version) = self.version(array) else { return Some(None) };
        if indices.len() != array.var().map_or(0, self.rank) {
            return None;
        }
        let place = indices.iter().map(|index| self.known(index)).collect();
        self.looks.push(Look { array: version, changes, place });
        Some(Some(version))
    }

    /// Whether no iteration looks at what another one changes of an array.
    fn is_apart(&self, array: usize, len: &Atom) -> bool {
        let looks: Vec<&Look> = self.looks.iter().filter(|look| look.array == array).collect();
        let Some(first) = looks.iter().find(|look| look.changes) else { return true };
        let len = self.known(len);
        let keeps_to = |axis: usize, own: &Sum| {
            looks.iter().all(|look| match look.place.get(axis) {
                Some(Some(sum)) if sum == own => true,
                Some(Some(sum)) => !look.changes && self.differ(own, sum, len.as_ref()),
                _ => false,
            })
        };
        let mut axes = first.place.iter().enumerate();
        axes.any(|(axis, own)| own.as_ref().is_some_and(|own| self.moves(own) && keeps_to(axis, own)))
    }

    /// Whether a sum is one more in each iteration.
    fn moves(&self, sum: &Sum) -> bool {
        sum.terms.get(&self.index) == Some(&1)
    }

    /// Whether a number that is another one in each iteration is never this one, which is the same in all of them.
    fn differ(&self, own: &Sum, fixed: &Sum, len: Option<&Sum>) -> bool {
        if fixed.terms.contains_key(&self.index) {
            return false;
        }
        let mut rest = own.clone();
        rest.terms.remove(&self.index);
        rest.add(fixed, -1);
        let last = len.map(|len| {
            let mut last = rest.clone();
            last.add(len, 1);
            last.places = last.places.wrapping_sub(1);
            last
        });
        // The first and the last are on the same side of it, and there is no other between them.
        let side = |sum: &Sum| {
            (sum.terms.is_empty() && sum.places.unsigned_abs() < FAR).then_some(sum.places.signum())
        };
        side(&rest) == Some(1) || last.as_ref().and_then(side) == Some(-1)
    }

    /// An index as a sum of that of the loop and of what does not change in it.
    fn known(&self, index: &Atom) -> Option<Sum> {
        let mut sum = Sum::default();
        self.add(&mut sum, index, 1, DEEP)?;
        sum.terms.retain(|_, times| *times != 0);
        let known = |var: &Var| *var == self.index || !self.inside.contains(var);
        sum.terms.keys().all(known).then_some(sum)
    }

    fn add(&self, sum: &mut Sum, index: &Atom, times: i64, depth: usize) -> Option<()> {
        let var = match index {
            Atom::Int(n) => {
                sum.places = sum.places.wrapping_add(times.wrapping_mul(*n));
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

    /// Which loops of a program are independent, in their order.
    fn independent(text: &str) -> Vec<bool> {
        let program = wengert_ir::parse::parse(text).expect("the text is a program");
        let mut found = Vec::new();
        for (_, func) in super::super::lower(&program).funcs.iter() {
            every(&func.body, &mut |stmt| {
                if let Stmt::For { independent, .. } = stmt {
                    found.push(*independent);
                }
            });
        }
        found
    }

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
        independent(&text).last().copied().expect("there are loops")
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

    /// For a step that goes through a row in a loop inside: whether the loop over rows is independent.
    fn rows_are(rows: &str, row: &str, other: &str) -> bool {
        let text = format!(
            "func f(n: Int, w: Int, is: []Int, a: [][]Real) -> [][]Real {{
                y = for k < n, m = a {{
                    u = k + 1 l = k - 1 rest = n - u
                    z = for i < {rows}, m2 = m {{
                        v = i + u t = l - i
                        f = m2[{row}, k]
                        b = for j < w, m3 = m2 {{ x = m3[{row}, j] y2 = m3[{other}, j] d = f * y2 e = x - d m4 = m3 with [{row}, j] = e yield m4 }}
                        yield b
                    }}
                    yield z
                }}
                return y
            }}
            entry f = f"
        );
        let found = independent(&text);
        assert_eq!(found.len(), 3, "{text}");
        found.get(1).copied().expect("there are three")
    }

    #[test]
    fn rows_that_look_at_one_that_stays_are_independent() {
        for (rows, row, other) in
            [("rest", "v", "k"), ("rest", "v", "v"), ("k", "i", "k"), ("k", "i", "u"), ("rest", "v", "l")]
        {
            assert!(rows_are(rows, row, other), "{rows} {row} {other}");
        }
        for (rows, row, other) in [
            ("n", "i", "k"),
            ("rest", "v", "u"),
            ("rest", "v", "i"),
            ("k", "i", "l"),
            ("u", "i", "k"),
            ("rest", "k", "v"),
            ("rest", "v", "0"),
            ("k", "t", "k"),
        ] {
            assert!(!rows_are(rows, row, other), "{rows} {row} {other}");
        }
    }
}
