//! The slope of a power as one power, where the power itself is not needed.
//!
//! The rule has `x ** (p - 1)` of the power, which is there already, by a quotient, unless the power is 0 or infinite. In a gradient the
//! power is often there for its slope only, and then two operations do instead of five and a branch:
//!
//! ```text
//! t = x ** p
//! d = t + t  c = d == t
//! slope = if c { a = x ** q  b = a * p  yield b }               a = x ** q
//!         else { a = t / x   b = p * a  yield b }    becomes    slope = a * p            (q = p - 1)
//! ```
//!
//! That rounds differently. The pass is for where numbers need not be to the last bit those of the interpreter.

use crate::walk::count_uses;
use rustc_hash::FxHashMap;
use wengert_ir::op::{Compare, Op};
use wengert_ir::{Atom, Block, Program, Stmt, Var};
use wengert_prim::RealOp;

/// See the module. Whether something has changed.
pub(crate) fn run(program: &mut Program) -> bool {
    let mut changed = false;
    for (_, func) in program.funcs.iter_mut() {
        let mut powers = false;
        func.body.for_each_stmt(&mut |stmt| powers |= matches!(stmt.op, Op::Real(RealOp::Pow, _)));
        if powers {
            let uses = count_uses(&func.body);
            changed |= Powers { uses, made: FxHashMap::default() }.block(&mut func.body);
        }
    }
    changed
}

struct Powers {
    uses: FxHashMap<Var, usize>,
    /// What sums, powers and comparisons are made of.
    made: FxHashMap<Var, Op>,
}

impl Powers {
    fn block(&mut self, block: &mut Block) -> bool {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut changed = false;
            let mut out = Vec::with_capacity(block.stmts.len());
            for mut stmt in std::mem::take(&mut block.stmts) {
                stmt.op.blocks_mut().into_iter().for_each(|inner| changed |= self.block(inner));
                if let (Op::Real(RealOp::Add | RealOp::Pow, _) | Op::Compare(..), [var]) =
                    (&stmt.op, stmt.outs.as_slice())
                {
                    self.made.insert(*var, stmt.op.clone());
                }
                match self.slope(&mut stmt) {
                    Some(stmts) => {
                        out.extend(stmts);
                        changed = true;
                    }
                    None => out.push(stmt),
                }
            }
            block.stmts = out;
            changed
        })
    }

    /// What a branch becomes that gives slopes of a power.
    fn slope(&self, stmt: &mut Stmt) -> Option<Vec<Stmt>> {
        let Op::If { cond, then, otherwise } = &mut stmt.op else { return None };
        let (power, base, exponent) = self.asked(cond)?;
        let by_power = hole(then, |op, args| {
            let less = |q: &Atom| matches!(q, Atom::Real(q) if *q == exponent - 1.0);
            op == RealOp::Pow && matches!(args, [x, q] if *x == base && less(q))
        })?;
        let by_quotient = hole(otherwise, |op, args| {
            op == RealOp::Div && matches!(args, [t, x] if t.var() == Some(power) && *x == base)
        })?;
        // Twice in the sum, once in the comparison, once in the quotient.
        let alone = self.uses.get(&power) == Some(&4);
        let of_power: Option<Vec<Factor>> =
            then.results.iter().map(|result| factor(then, by_power, result)).collect();
        let of_quotient: Option<Vec<Factor>> =
            otherwise.results.iter().map(|result| factor(otherwise, by_quotient, result)).collect();
        if !alone || of_power? != of_quotient? {
            return None;
        }
        let mut stmts = std::mem::take(&mut then.stmts);
        for (out, result) in stmt.outs.iter().zip(&then.results) {
            stmts.push(Stmt { outs: vec![*out], op: Op::Copy(result.clone()), span: stmt.span });
        }
        Some(stmts)
    }

    /// The power that is asked whether it is 0 or infinite, which is whether it is twice itself, its base and its exponent.
    fn asked(&self, cond: &Atom) -> Option<(Var, Atom, f64)> {
        let Op::Compare(Compare::Eq, double, power) = self.made.get(&cond.var()?)? else { return None };
        let Op::Real(RealOp::Add, args) = self.made.get(&double.var()?)? else { return None };
        let Op::Real(RealOp::Pow, of) = self.made.get(&power.var()?)? else { return None };
        let [base, Atom::Real(exponent)] = of.as_slice() else { return None };
        let both = args.iter().all(|arg| arg == power);
        both.then_some((power.var()?, base.clone(), *exponent))
    }
}

/// A number times what is looked for, or that alone.
type Factor = Option<u64>;

/// The one operation of its kind in a block that has nothing else but products.
fn hole(block: &Block, is_it: impl Fn(RealOp, &[Atom]) -> bool) -> Option<Var> {
    let mut found = None;
    for stmt in &block.stmts {
        let (Op::Real(op, args), [out]) = (&stmt.op, stmt.outs.as_slice()) else { return None };
        if is_it(*op, args) && found.is_none() {
            found = Some(*out);
        } else if !matches!(op, RealOp::Mul | RealOp::MulZero) {
            return None;
        }
    }
    found
}

/// What a result is of the hole.
fn factor(block: &Block, hole: Var, result: &Atom) -> Option<Factor> {
    let var = result.var()?;
    if var == hole {
        return Some(None);
    }
    let stmt = block.stmts.iter().find(|stmt| stmt.outs.contains(&var))?;
    let Op::Real(RealOp::Mul | RealOp::MulZero, args) = &stmt.op else { return None };
    match args.as_slice() {
        [Atom::Real(x), Atom::Var(y)] | [Atom::Var(y), Atom::Real(x)] if *y == hole => {
            Some(Some(x.to_bits()))
        }
        _ => None,
    }
}
