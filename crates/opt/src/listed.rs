//! What is added to elements of zeros, of which the sizes are known, is listed, where that says half of them or more.
//!
//! ```text
//! zeros = zeros(m)                        row = [d, b]
//! p = zeros with [0, 0] += d              row2 = [c, a]
//! q = p with [1, 1] += a       becomes    s = [row, row2]
//! r = q with [0, 1] += b
//! s = r with [1, 0] += c
//! ```
//!
//! It is the gradient of what looks at elements, as a person would write it.

use crate::collect::facts::Facts;
use crate::facts::total;
use crate::sizes::{boxes, walk};
use crate::walk::count_uses;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_base::{Name, Span};
use wengert_ir::op::{ArrayOp, Op};
use wengert_ir::{Atom, Block, Elem, Func, Program, Stmt, Ty, Var};
use wengert_prim::RealOp;

/// So many elements at most.
const ELEMENTS: usize = 16;

/// See the module. Whether something has changed.
pub(crate) fn run(program: &mut Program) -> bool {
    let mut changed = false;
    let known = (total(program), boxes(program));
    for (_, func) in program.funcs.iter_mut() {
        if func.body.all_stmts(&mut |stmt| added(stmt).is_none()) {
            continue;
        }
        let shapes = walk(func, &known.1, false);
        let from = func.clone();
        let facts = Facts::new(&from, &from.body, &shapes, &known.0);
        let mut body = std::mem::take(&mut func.body);
        let uses = count_uses(&body);
        let mut pass = Listed { func, facts: &facts, uses, changed: false };
        pass.block(&mut body);
        changed |= pass.changed;
        func.body = body;
    }
    changed
}

/// What is added to which array, at which places.
fn added(stmt: &Stmt) -> Option<(Var, Vec<i64>, &Atom)> {
    let Op::Array(ArrayOp::AddAt, args) = &stmt.op else { return None };
    let [Atom::Var(array), places @ .., new] = args.as_slice() else { return None };
    let number = |place: &Atom| if let Atom::Int(place) = place { Some(*place) } else { None };
    let places = places.iter().map(number).collect::<Option<Vec<i64>>>()?;
    Some((*array, places, new))
}

/// Zeros, and what was added to them.
struct Chain {
    dims: Vec<usize>,
    /// What was added to each element.
    items: Vec<Vec<Atom>>,
    /// Where that stands in its block.
    stmts: Vec<usize>,
}

impl Chain {
    /// Notes what is added to an element, if it is there.
    fn add(&mut self, places: &[i64], new: &Atom, at: usize) -> Option<()> {
        let mut index = 0;
        for (place, size) in places.iter().zip(&self.dims) {
            let place = usize::try_from(*place).ok().filter(|place| place < size)?;
            index = index * size + place;
        }
        if places.len() != self.dims.len() {
            return None;
        }
        self.items.get_mut(index)?.push(new.clone());
        self.stmts.push(at);
        Some(())
    }

    /// Whether a list says more than what is added does.
    fn is_worth_it(&self) -> bool {
        let some = self.items.iter().filter(|added| !added.is_empty()).count();
        self.stmts.len() > 2 && 2 * some >= self.items.len()
    }
}

struct Listed<'f> {
    func: &'f mut Func,
    facts: &'f Facts<'f>,
    uses: FxHashMap<Var, usize>,
    changed: bool,
}

impl Listed<'_> {
    fn block(&mut self, place: &mut Block) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            for stmt in &mut place.stmts {
                stmt.op.blocks_mut().into_iter().for_each(|inner| self.block(inner));
            }
            // By the last array of each.
            let mut chains: FxHashMap<Var, Chain> = FxHashMap::default();
            for (at, stmt) in place.stmts.iter().enumerate() {
                let [out] = stmt.outs.as_slice() else { continue };
                if let Some(chain) = self.begun(stmt, at) {
                    chains.insert(*out, chain);
                } else if let Some((array, places, new)) = added(stmt)
                    && self.uses.get(&array) == Some(&1)
                    && let Some(mut chain) = chains.remove(&array)
                    && chain.add(&places, new, at).is_some()
                {
                    chains.insert(*out, chain);
                }
            }
            chains.retain(|_, chain| chain.is_worth_it());
            if !chains.is_empty() {
                self.list(place, &chains);
            }
        });
    }

    /// Zeros of known sizes.
    fn begun(&self, stmt: &Stmt, at: usize) -> Option<Chain> {
        let (Op::Array(ArrayOp::Zeros, args), [out]) = (&stmt.op, stmt.outs.as_slice()) else { return None };
        let Ty::Array(Elem::Real, rank @ 1..=2) = self.func.ty(*out) else { return None };
        let like = args.first()?;
        let size = |axis: u8| match self.facts.size(like, usize::from(axis))?.atom() {
            Some(Atom::Int(size)) => usize::try_from(size).ok(),
            _ => None,
        };
        let dims = (0..rank).map(size).collect::<Option<Vec<usize>>>()?;
        let count = dims.iter().try_fold(1usize, |all, size| all.checked_mul(*size))?;
        (1..=ELEMENTS).contains(&count).then(|| Chain {
            dims,
            items: vec![Vec::new(); count],
            stmts: vec![at],
        })
    }

    /// Puts lists where the last elements were added to.
    fn list(&mut self, place: &mut Block, chains: &FxHashMap<Var, Chain>) {
        self.changed = true;
        let gone: FxHashSet<usize> = chains.values().flat_map(|chain| &chain.stmts).copied().collect();
        let mut out = Vec::with_capacity(place.stmts.len());
        for (at, stmt) in std::mem::take(&mut place.stmts).into_iter().enumerate() {
            match stmt.outs.first().and_then(|array| Some((*array, chains.get(array)?))) {
                Some((array, chain)) => self.written(array, chain, stmt.span, &mut out),
                None if gone.contains(&at) => {}
                None => out.push(stmt),
            }
        }
        place.stmts = out;
    }

    fn written(&mut self, array: Var, chain: &Chain, span: Span, out: &mut Vec<Stmt>) {
        let mut items = Vec::with_capacity(chain.items.len());
        for added in &chain.items {
            let sum = |a: Atom, b: Atom| {
                let sum = self.func.fresh(Name::new("sum"), Ty::REAL);
                out.push(Stmt { outs: vec![sum], op: Op::Real(RealOp::Add, vec![a, b]), span });
                Atom::Var(sum)
            };
            items.push(added.iter().cloned().reduce(sum).unwrap_or(Atom::Real(0.0)));
        }
        if let [_, columns] = chain.dims.as_slice() {
            let row = |row: &[Atom]| {
                let var = self.func.fresh(Name::new("t"), Ty::of_rank(Elem::Real, 1));
                out.push(Stmt { outs: vec![var], op: Op::Array(ArrayOp::Literal, row.to_vec()), span });
                Atom::Var(var)
            };
            items = items.chunks(*columns).map(row).collect();
        }
        out.push(Stmt { outs: vec![array], op: Op::Array(ArrayOp::Literal, items), span });
    }
}
