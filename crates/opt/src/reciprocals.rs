//! A derivative that is divided in one loop by a number whose reciprocal another loop has computed, and hands on, is multiplied with
//! that.
//!
//! ```text
//! ys, us = each i < n … { u = a * b y = 1.0 / u yield y, … }
//! each i < n, y2 in ys … { u2 = a2 * b2 z = div_zero(t, u2) … }        z = mul_zero(t, y2)
//! ```
//!
//! That is rounded twice: it is for where numbers need not be to the last bit what they are elsewhere.

use rustc_hash::FxHashMap;
use wengert_ir::op::{Loop, Op};
use wengert_ir::{Atom, Block, Program, Stmt, Var};
use wengert_prim::RealOp;

/// Longer computations are not compared.
const DEEP: usize = 6;

/// See the module. Whether something has changed.
pub(crate) fn run(program: &mut Program) -> bool {
    let mut changed = false;
    for (_, func) in program.funcs.iter_mut() {
        changed |= in_block(&mut func.body);
    }
    changed
}

fn in_block(block: &mut Block) -> bool {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let mut changed = false;
        for place in 0..block.stmts.len() {
            let (before, rest) = block.stmts.split_at_mut(place);
            let Some(stmt) = rest.first_mut() else { continue };
            for inner in stmt.op.blocks_mut() {
                changed |= in_block(inner);
            }
            let Op::Loop(user) = &mut stmt.op else { continue };
            for maker in before.iter() {
                let Op::Loop(parts) = &maker.op else { continue };
                if parts.len == user.len && user.inputs.iter().any(|input| made(maker, input).is_some()) {
                    changed |= multiply(maker, parts, user);
                }
            }
        }
        changed
    })
}

/// The place among the results of a loop of what it makes.
fn made(maker: &Stmt, input: &Atom) -> Option<usize> {
    let var = input.var()?;
    maker.outs.iter().position(|out| *out == var)
}

/// Where a loop divides by what the other has the reciprocal of.
fn multiply(maker: &Stmt, parts: &Loop, user: &mut Loop) -> bool {
    let both = Both { maker, first: Body::of(parts), second: Body::of(user) };
    let mut found: Vec<(usize, Atom)> = Vec::new();
    for (place, stmt) in user.body.stmts.iter().enumerate() {
        let Op::Real(RealOp::DivZero, args) = &stmt.op else { continue };
        let Some(divisor) = args.get(1) else { continue };
        let reciprocal = both.second.rows.iter().find(|(_, input)| both.is_reciprocal(input, divisor));
        found.extend(reciprocal.map(|(row, _)| (place, Atom::Var(*row))));
    }
    for (place, reciprocal) in &found {
        if let Some(Stmt { op: Op::Real(op, args), .. }) = user.body.stmts.get_mut(*place)
            && let Some(divisor) = args.get_mut(1)
        {
            (*op, *divisor) = (RealOp::MulZero, reciprocal.clone());
        }
    }
    !found.is_empty()
}

/// What is known of the body of a loop.
struct Body {
    /// Its rows, and of what.
    rows: FxHashMap<Var, Atom>,
    /// What it computes from reals.
    reals: FxHashMap<Var, (RealOp, Vec<Atom>)>,
    /// What is bound in it.
    bound: Vec<Var>,
    results: Vec<Atom>,
}

impl Body {
    fn of(parts: &Loop) -> Body {
        let carried = 1 + parts.init.len() + parts.accs.len();
        let rows = parts.body.params.iter().skip(carried).copied().zip(parts.inputs.iter().cloned());
        let mut bound = parts.body.params.clone();
        bound.extend(parts.body.stmts.iter().flat_map(|stmt| &stmt.outs));
        let reals = parts.body.stmts.iter().filter_map(|stmt| match (&stmt.op, stmt.outs.as_slice()) {
            (Op::Real(op, args), [out]) => Some((*out, (*op, args.clone()))),
            _ => None,
        });
        Body { rows: rows.collect(), reals: reals.collect(), bound, results: parts.body.results.clone() }
    }
}

/// A loop, and one that goes through what it has made.
struct Both<'s> {
    maker: &'s Stmt,
    first: Body,
    second: Body,
}

impl Both<'_> {
    /// What the first has computed for the row of this input.
    fn result(&self, input: &Atom) -> Option<&Atom> {
        self.first.results.get(made(self.maker, input)?)
    }

    /// Whether an input holds the reciprocals of what stands in the second loop.
    fn is_reciprocal(&self, input: &Atom, divisor: &Atom) -> bool {
        let computed = self.result(input).and_then(Atom::var).and_then(|var| self.first.reals.get(&var));
        match computed {
            Some((RealOp::Div, args)) => {
                matches!(args.as_slice(), [Atom::Real(one), of] if *one == 1.0 && self.is_same(of, divisor, DEEP))
            }
            _ => false,
        }
    }

    /// Whether a number in the first loop and one in the second are the same in each iteration.
    fn is_same(&self, one: &Atom, other: &Atom, depth: usize) -> bool {
        let (Some(a), Some(b)) = (one.var(), other.var()) else { return one == other };
        if let Some(input) = self.second.rows.get(&b) {
            let same_input = self.first.rows.get(&a) == Some(input);
            return same_input || self.result(input) == Some(one);
        }
        match (self.first.reals.get(&a), self.second.reals.get(&b)) {
            (Some((op, args)), Some((op2, args2))) if op == op2 && depth > 0 => {
                args.len() == args2.len()
                    && args.iter().zip(args2).all(|(one, other)| self.is_same(one, other, depth - 1))
            }
            (None, None) => a == b && !self.first.bound.contains(&a) && !self.second.bound.contains(&b),
            _ => false,
        }
    }
}
