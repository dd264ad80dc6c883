//! A sum of what is the same in all iterations of a loop is a product.
//!
//! ```text
//! s, t = for i < n, s = a, t = b, x in xs {            t = for i < n, t = b, x in xs {
//!   s2 = s + k  t2 = t + x                     becomes   t2 = t + x  yield t2
//!   yield s2, t2                                       }
//! }                                                    count = real(n)  all = mul_zero(k, count)  s = a + all
//! ```
//!
//! So the logarithm of a width is in the derivative of a likelihood. Where there are no iterations nothing is added, whatever `k` is: the zero
//! is strong. What changes from one iteration to the next and is added to the same sum may be about what is taken away again: then all stays as it is.
//! A product is rounded once, and a sum at each step: it is for where numbers need not be to the last bit what they are elsewhere.

use crate::addends::step;
use crate::walk::count_uses;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_base::Span;
use wengert_ir::op::{Convert, Loop, Mode, Op};
use wengert_ir::{Atom, Block, Func, Program, Stmt, Ty, Var};
use wengert_prim::RealOp;

/// See the module. Whether something has changed.
pub(crate) fn run(program: &mut Program) -> bool {
    let mut changed = false;
    for (_, func) in program.funcs.iter_mut() {
        let mut body = std::mem::take(&mut func.body);
        let uses = count_uses(&body);
        changed |= block(func, &uses, &mut body);
        func.body = body;
    }
    changed
}

fn block(func: &mut Func, uses: &FxHashMap<Var, usize>, place: &mut Block) -> bool {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let mut changed = false;
        let mut out = Vec::with_capacity(place.stmts.len());
        for mut stmt in std::mem::take(&mut place.stmts) {
            for inner in stmt.op.blocks_mut() {
                changed |= block(func, uses, inner);
            }
            let made = products(func, uses, &mut stmt);
            changed |= !made.is_empty();
            out.push(stmt);
            out.extend(made);
        }
        place.stmts = out;
        changed
    })
}

/// What computes the sums of a loop that are products, which nobody asks of the loop then.
fn products(func: &mut Func, uses: &FxHashMap<Var, usize>, stmt: &mut Stmt) -> Vec<Stmt> {
    let Stmt { outs, op: Op::Loop(parts), span } = stmt else { return Vec::new() };
    let mut made = Made { func, span: *span, stmts: Vec::new() };
    let mut count = None;
    for (at, (out, start)) in outs.iter_mut().zip(parts.init.iter().chain(&parts.accs)).enumerate() {
        let Some(terms) = alike(made.func, uses, parts, at) else { continue };
        let count = count
            .get_or_insert_with(|| made.real("count", Op::Convert(Convert::IntToReal, parts.len.clone())))
            .clone();
        let mut sum = start.clone();
        for Term { less, term } in terms {
            let is_positive = matches!(term, Atom::Real(k) if k > 0.0);
            let all = made.real("all", Op::Real(RealOp::MulZero, vec![term, count.clone()]));
            // What is not below zero is the sum of that and zero.
            sum = if sum == Atom::Real(0.0) && is_positive && !less {
                all
            } else {
                made.real("sum", Op::Real(if less { RealOp::Sub } else { RealOp::Add }, vec![sum, all]))
            };
        }
        let unused = made.func.fresh(made.func.vars.at(*out).name, Ty::REAL);
        let out = std::mem::replace(out, unused);
        made.stmts.push(Stmt { outs: vec![out], op: Op::Copy(sum), span: made.span });
    }
    made.stmts
}

/// What is added to a sum, or taken from it.
struct Term {
    less: bool,
    term: Atom,
}

/// What an iteration adds to a number that a loop hands on, if that is the same in all iterations, and nothing but the end needs the number.
fn alike(func: &Func, uses: &FxHashMap<Var, usize>, parts: &Loop, at: usize) -> Option<Vec<Term>> {
    let body = &parts.body;
    let mut current = body.params.get(1 + at).copied()?;
    let end = body.results.get(at)?.var()?;
    if parts.mode == Mode::Reduce || func.ty(current) != Ty::REAL || uses.get(&end) != Some(&1) {
        return None;
    }
    let mut terms = Vec::new();
    for stmt in &body.stmts {
        if let Some((next, less, term)) = step(stmt, current)
            && uses.get(&current) == Some(&1)
        {
            terms.push(Term { less, term });
            current = next;
        }
    }
    if current != end || terms.is_empty() {
        return None;
    }
    // Only now: few numbers that loops hand on are such sums, and a body may be long.
    let bound = body.stmts.iter().flat_map(|stmt| &stmt.outs);
    let own: FxHashSet<Var> = body.params.iter().chain(bound).copied().collect();
    let fixed = terms.iter().all(|Term { term, .. }| term.var().is_none_or(|var| !own.contains(&var)));
    fixed.then_some(terms)
}

/// Statements that are made.
struct Made<'f> {
    func: &'f mut Func,
    span: Span,
    stmts: Vec<Stmt>,
}

impl Made<'_> {
    fn real(&mut self, name: &str, op: Op) -> Atom {
        let var = self.func.fresh(name.into(), Ty::REAL);
        self.stmts.push(Stmt { outs: vec![var], op, span: self.span });
        Atom::Var(var)
    }
}
