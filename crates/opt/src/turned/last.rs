//! What short loops add to a number of the long one around them, they add up from nothing, and it is added to the number last.
//!
//! ```text
//! each i < n, s += s0 {                            each i < n, s += s0 {
//!   s2 = for j < k, t += s { …  yield t + x }        t2 = for j < k, t += -0.0 { …  yield t + x }
//!   s3 = s2 + y                          becomes     …
//!   …                                                s2 = s + t2
//!   yield s3 }                                       s3 = s2 + y  yield s3 }
//! ```

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed adds nothing")]

use super::{is_real, plan};
use crate::walk::mentioned;
use rustc_hash::FxHashMap;
use wengert_ir::op::{Loop, Op};
use wengert_ir::{Atom, Block, Func, Stmt, Var};
use wengert_prim::RealOp;

/// Does that in all loops around loops that could be turned inside out.
pub(super) fn added_last(func: &mut Func) {
    let mut body = std::mem::take(&mut func.body);
    block(func, &mut body, false);
    func.body = body;
}

fn block(func: &mut Func, place: &mut Block, inside: bool) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        for stmt in &mut place.stmts {
            let inside = inside || plan::is_candidate(stmt);
            match &mut stmt.op {
                Op::Loop(parts) if inside && !parts.accs.is_empty() => numbers(func, parts),
                _ => {}
            }
            stmt.op.blocks_mut().into_iter().for_each(|inner| block(func, inner, inside));
        }
    });
}

/// The numbers to which a loop adds.
fn numbers(func: &mut Func, parts: &mut Loop) {
    let uses = uses(&parts.body);
    for at in parts.init.len()..parts.init.len() + parts.accs.len() {
        let (Some(param), Some(result)) = (parts.body.params.get(1 + at), parts.body.results.get(at)) else {
            continue;
        };
        if let (Some(result), true) = (result.var(), is_real(func, result))
            && let Some(chain) = chain(&parts.body, *param, result, &uses)
        {
            put_last(func, &mut parts.body, &chain);
        }
    }
}

/// How often each variable is mentioned in a block.
fn uses(block: &Block) -> FxHashMap<Var, usize> {
    let mut uses = FxHashMap::default();
    let mut see = |var: Var| *uses.entry(var).or_default() += 1;
    block.stmts.iter().flat_map(|stmt| mentioned(&stmt.op)).for_each(&mut see);
    block.results.iter().filter_map(Atom::var).for_each(&mut see);
    uses
}

/// The statements by which a number becomes another one, each of which adds to it and by some loop among them, if nobody looks at what is between.
fn chain(body: &Block, param: Var, result: Var, uses: &FxHashMap<Var, usize>) -> Option<Vec<(usize, Var)>> {
    let (mut chain, mut last, mut any) = (Vec::new(), param, false);
    for (place, stmt) in body.stmts.iter().enumerate() {
        if last == result {
            break;
        }
        let is_last = |atom: &Atom| atom.var() == Some(last);
        let next = match &stmt.op {
            Op::Real(RealOp::Add, args) if args.iter().filter(|arg| is_last(arg)).count() == 1 => {
                stmt.outs.first()
            }
            Op::Loop(parts) => {
                let at = parts.accs.iter().position(is_last);
                any |= at.is_some();
                at.and_then(|at| stmt.outs.get(parts.init.len() + at))
            }
            _ => None,
        };
        if let Some(next) = next {
            (uses.get(&last) == Some(&1)).then_some(())?;
            chain.push((place, last));
            last = *next;
        }
    }
    (any && last == result && uses.get(&result) == Some(&1)).then_some(chain)
}

fn put_last(func: &mut Func, body: &mut Block, chain: &[(usize, Var)]) {
    let mut out = Vec::with_capacity(body.stmts.len() + chain.len());
    let (mut added, mut chain) = (Vec::new(), chain.iter().peekable());
    for (place, mut stmt) in std::mem::take(&mut body.stmts).into_iter().enumerate() {
        let Some((_, last)) = chain.next_if(|(at, _)| *at == place) else {
            out.push(stmt);
            continue;
        };
        let Op::Loop(parts) = &mut stmt.op else {
            added.push(stmt);
            continue;
        };
        let carried = parts.init.len();
        let found = parts.accs.iter_mut().enumerate().find(|(_, start)| start.var() == Some(*last));
        if let Some((at, start)) = found
            && let Some(sum) = stmt.outs.get_mut(carried + at)
        {
            *start = Atom::Real(-0.0);
            let more = func.vars.push(*func.vars.at(*sum));
            let op = Op::Real(RealOp::Add, vec![Atom::Var(*last), Atom::Var(more)]);
            added.push(Stmt { outs: vec![std::mem::replace(sum, more)], op, span: stmt.span });
        }
        out.push(stmt);
    }
    out.append(&mut added);
    body.stmts = out;
}
