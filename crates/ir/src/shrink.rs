//! Small programs from large ones: what is not needed for a failure is taken away as long as the program fails.
//!
//! The steps: statements go, many at once and one by one, and scalars that they bound become literals; a branch takes the place of its `if`; an output
//! of a loop goes. A step that leaves an ill-formed program is not tried. The result is a program from which no single
//! step can be made without losing the failure.

use crate::op::{Atom, Block, Op, Stmt, Var};
use crate::program::{Func, Program};
use crate::ty::{Elem, Ty};
use crate::verify::verify;
use crate::visit::{deep, flat_op};
use rustc_hash::FxHashMap;

/// The smallest program found for which `fails` still holds; it is asked for well-formed programs only.
pub fn shrink(program: &Program, fails: &mut dyn FnMut(&Program) -> bool) -> Program {
    let mut smallest = program.clone();
    loop {
        let mut progress = false;
        for func in smallest.funcs.ids() {
            for step in [Step::Remove(32), Step::Remove(8), Step::Inline, Step::Remove(1), Step::DropOutput] {
                // From the end: what a statement needs goes after it.
                for place in (0..smallest.funcs.at(func).body.size()).rev() {
                    let mut candidate = smallest.clone();
                    let changed = apply(candidate.funcs.at_mut(func), step, place);
                    if changed && verify(&candidate).is_ok() && fails(&candidate) {
                        smallest = candidate;
                        progress = true;
                    }
                }
            }
        }
        if !progress {
            return smallest;
        }
    }
}

/// A way to make a program smaller.
#[derive(Clone, Copy)]
enum Step {
    /// So many statements of a block go.
    Remove(usize),
    /// The first branch, or else the second, takes the place of its `if`.
    Inline,
    /// The last output of a loop goes.
    DropOutput,
}

/// Makes a step at the statement of that number, in the order of [`Block::for_each_stmt`]; whether there was anything to do.
fn apply(func: &mut Func, step: Step, place: usize) -> bool {
    let mut change = Change { step, left: place, meaning: FxHashMap::default(), changed: false };
    let mut body = std::mem::take(&mut func.body);
    change.block(func, &mut body);
    let meaning = std::mem::take(&mut change.meaning);
    // A branch that is put in the place of its `if` may give what a meaning was found for.
    body.for_each_atom_mut(&mut |atom| {
        while let Some(other) = atom.var().and_then(|var| meaning.get(&var)) {
            *atom = other.clone();
        }
    });
    func.body = body;
    change.changed
}

/// A step under way.
struct Change {
    step: Step,
    /// How many statements come before the one.
    left: usize,
    /// What variables that are bound no more stand for.
    meaning: FxHashMap<Var, Atom>,
    changed: bool,
}

impl Change {
    fn block(&mut self, func: &Func, block: &mut Block) {
        deep(|| {
            let mut index = 0;
            while index < block.stmts.len() && !self.changed {
                if self.left == 0 {
                    self.changed = self.stmt(func, &mut block.stmts, index);
                    return;
                }
                self.left -= 1;
                let stmt = block.stmts.get_mut(index);
                let blocks = stmt.map(|stmt| stmt.op.blocks_mut()).unwrap_or_default();
                for inner in blocks {
                    let size = inner.size();
                    if self.left < size {
                        return self.block(func, inner);
                    }
                    self.left -= size;
                }
                index += 1;
            }
        });
    }

    fn stmt(&mut self, func: &Func, stmts: &mut Vec<Stmt>, index: usize) -> bool {
        let Some(stmt) = stmts.get_mut(index) else { return false };
        match self.step {
            Step::Remove(count) => {
                let end = stmts.len().min(index + count);
                for out in stmts.drain(index..end).flat_map(|stmt| stmt.outs) {
                    if let Some(literal) = literal(func.ty(out)) {
                        self.meaning.insert(out, literal);
                    }
                }
                true
            }
            Step::Inline => {
                let Op::If { cond: _, then, otherwise } = &mut stmt.op else { return false };
                let fails = then.stmts.iter().any(|stmt| stmt.op.never_returns());
                let branch = std::mem::take(if fails { otherwise } else { then });
                self.meaning.extend(stmt.outs.iter().copied().zip(branch.results));
                stmts.splice(index..=index, branch.stmts);
                true
            }
            Step::DropOutput => {
                let (kept, body) = match &mut stmt.op {
                    Op::Loop(parts) => (parts.init.len() + parts.accs.len(), &mut parts.body),
                    Op::While(parts) => (parts.init.len(), &mut parts.body),
                    Op::If { .. } | Op::Match { .. } | flat_op!() => return false,
                };
                if stmt.outs.len() <= kept {
                    return false;
                }
                stmt.outs.pop();
                body.results.pop();
                true
            }
        }
    }
}

/// A value of a type that takes no computation.
fn literal(ty: Ty) -> Option<Atom> {
    match ty {
        Ty::Scalar(Elem::Real) => Some(Atom::Real(1.5)),
        Ty::Scalar(Elem::Int) => Some(Atom::Int(1)),
        Ty::Scalar(Elem::Bool) => Some(Atom::Bool(true)),
        Ty::Scalar(Elem::Text) => Some(Atom::Text("t".into())),
        Ty::Scalar(Elem::Unit) => Some(Atom::Unit),
        Ty::Scalar(Elem::Data(_)) | Ty::Array(..) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Config, Random};
    use crate::{parse, print};

    #[test]
    fn what_is_not_needed_for_a_failure_goes() {
        let text = "\
func f(x: Real, n: Int) -> Real {
  a = sin(x)
  c = n < 3
  y, m = if c {
    b = a * a
    xs = [b, b]
    d = sum(xs)
    yield d, 3
  } else {
    yield x, n
  }
  s, rows = for i < m, t = y {
    u = exp(t)
    yield u, u
  }
  z = y + s
  return z
}
";
        let mut fails = |program: &Program| print(program).contains("sum(");
        let small = shrink(&parse(text).expect("it is read"), &mut fails);
        let expected = "\
func f(x: Real, n: Int) -> Real {
  xs = [1.5, 1.5]
  d = sum(xs)
  return 1.5
}
";
        assert_eq!(print(&small), expected);
    }

    #[test]
    fn generated_programs_become_small_and_stay_well_formed() {
        for seed in 0..12 {
            let (program, _) = crate::generate::program(&mut Random::new(seed), &Config::default());
            let mut asked = 0;
            let small = shrink(&program, &mut |program| {
                asked += 1;
                assert_eq!(verify(program), Ok(()));
                print(program).contains("reverse(")
            });
            let size =
                |program: &Program| program.funcs.iter().map(|(_, func)| func.body.size()).sum::<usize>();
            if print(&program).contains("reverse(") {
                assert!(size(&small) < 40, "seed {seed}: {}", print(&small));
            }
            assert!(asked > 0);
        }
    }
}
