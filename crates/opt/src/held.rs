//! Rows that are looked at after their array is updated are copied first: a row is no array of its own, and as long as somebody looks at it,
//! an update of its array is an update of a copy of all of that.
//!
//! ```text
//! row = xs[i]                               row = xs[i]
//! ys = xs with [i] = …                      own = each k < length(row), x in row { yield x }
//! … row …                                   ys = xs with [i] = …
//!                                           … own …
//! ```
//!
//! A loop that hands an array on and updates it is such an update. So the derivative of what is put into a row takes that row's cotangent out in the time that the row takes. The last thing that is done
//! before a program is lowered: copies mean nothing to other passes.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed updates no array")]

use crate::walk::mentioned;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::{ArrayOp, Loop, Mode, Op};
use wengert_ir::{Atom, Block, Func, Program, Stmt, Ty, Var};

/// See the module.
pub(crate) fn run(program: &mut Program) {
    for (_, func) in program.funcs.iter_mut() {
        let mut sources = FxHashMap::default();
        func.body.for_each_stmt(&mut |stmt| {
            if let ([out], Some(array)) = (stmt.outs.as_slice(), looked_into(func, stmt)) {
                sources.insert(*out, array);
            }
        });
        if !sources.is_empty() {
            let mut body = std::mem::take(&mut func.body);
            Held { func, sources }.block(&mut body);
            func.body = body;
        }
    }
}

/// The array into which what a statement gives looks: of which it is a part.
fn looked_into(func: &Func, stmt: &Stmt) -> Option<Var> {
    let Op::Array(op, args) = &stmt.op else { return None };
    let is_array = stmt.outs.iter().all(|out| func.ty(*out).rank() > 0);
    let part = matches!(op, ArrayOp::Index | ArrayOp::Slice) && is_array;
    args.first().and_then(Atom::var).filter(|_| part)
}

struct Held<'p> {
    func: &'p mut Func,
    /// What looks into what.
    sources: FxHashMap<Var, Var>,
}

impl Held<'_> {
    fn block(&mut self, block: &mut Block) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut parts: Vec<Var> = Vec::new();
            let mut at = 0;
            while let Some(stmt) = block.stmts.get_mut(at) {
                stmt.op.blocks_mut().into_iter().for_each(|inner| self.block(inner));
                if !parts.is_empty() {
                    for (array, rest) in updated(stmt) {
                        for part in self.held(block, at, (array, &rest), &parts) {
                            at += self.copy_before(block, at, part);
                        }
                    }
                }
                let outs = block.stmts.get(at).into_iter().flat_map(|stmt| &stmt.outs);
                parts.extend(outs.filter(|out| self.sources.contains_key(out)));
                at += 1;
            }
        });
    }

    /// The array of which something is a part in the end.
    fn root(&self, var: Var) -> Var {
        std::iter::successors(Some(var), |var| self.sources.get(var).copied()).last().unwrap_or(var)
    }

    /// Parts of the array that is updated here, that are looked at in the update or later; none if the array is looked at itself, or if
    /// such a part is none of these.
    fn held(&self, block: &Block, at: usize, (array, rest): (Var, &[Var]), parts: &[Var]) -> Vec<Var> {
        let later = block.stmts.get(at + 1..).unwrap_or_default();
        let results = block.results.iter().filter_map(Atom::var);
        let used = later.iter().flat_map(|stmt| mentioned(&stmt.op)).chain(results);
        let used = used.chain(rest.iter().copied());
        let (mut held, mut seen) = (Vec::new(), FxHashSet::default());
        for var in used.filter(|var| self.root(*var) == array) {
            if var == array || !parts.contains(&var) {
                return Vec::new();
            }
            if seen.insert(var) {
                held.push(var);
            }
        }
        held
    }

    /// Copies a part of an array before the statement there, which and those after it look at the copy. So many statements are new.
    fn copy_before(&mut self, block: &mut Block, at: usize, part: Var) -> usize {
        let ty = self.func.ty(part);
        let name = self.func.vars.at(part).name;
        let row = ty.at(1).unwrap_or(Ty::REAL);
        let (len, index) = (self.func.fresh("n".into(), Ty::INT), self.func.fresh("i".into(), Ty::INT));
        let (own, element) = (self.func.fresh(name, ty), self.func.fresh(name, row));
        for stmt in block.stmts.iter_mut().skip(at) {
            rename(&mut stmt.op, part, own);
        }
        block.results.iter_mut().for_each(|atom| rename_atom(atom, part, own));
        let body =
            Block { params: vec![index, element], stmts: Vec::new(), results: vec![Atom::Var(element)] };
        let parts = Loop {
            mode: Mode::Each,
            backward: false,
            len: Atom::Var(len),
            inputs: vec![Atom::Var(part)],
            init: Vec::new(),
            accs: Vec::new(),
            body,
        };
        let span = block.stmts.get(at).map_or(wengert_base::Span::NOWHERE, |stmt| stmt.span);
        let length = Op::Array(ArrayOp::Length(0), vec![Atom::Var(part)]);
        let new = [(len, length), (own, Op::Loop(Box::new(parts)))];
        block.stmts.splice(at..at, new.map(|(out, op)| Stmt { outs: vec![out], op, span }));
        2
    }
}

/// The arrays that a statement updates, each with what else it looks at: a loop those to which iterations add, and those that it hands on
/// and updates in its body.
fn updated(stmt: &Stmt) -> Vec<(Var, Vec<Var>)> {
    let mut found = Vec::new();
    match &stmt.op {
        Op::Array(ArrayOp::Set | ArrayOp::AddAt, args) => {
            if let Some((Atom::Var(array), rest)) = args.split_first() {
                found.push((*array, rest.iter().filter_map(Atom::var).collect()));
            }
        }
        Op::Loop(parts) => {
            let params = parts.body.params.iter().skip(1);
            for (place, (start, param)) in parts.init.iter().chain(&parts.accs).zip(params).enumerate() {
                let Atom::Var(array) = start else { continue };
                if place < parts.init.len() && !updates(&parts.body, *param) {
                    continue;
                }
                let mut rest: Vec<Var> = mentioned(&stmt.op).collect();
                if let Some(once) = rest.iter().position(|var| var == array) {
                    rest.swap_remove(once);
                }
                found.push((*array, rest));
            }
        }
        _ => {}
    }
    found
}

/// Whether a block updates an array that it is given.
fn updates(block: &Block, array: Var) -> bool {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        block.stmts.iter().any(|stmt| {
            updated(stmt).iter().any(|(var, _)| *var == array)
                || !matches!(stmt.op, Op::Loop(_))
                    && stmt.op.blocks().into_iter().any(|inner| updates(inner, array))
        })
    })
}

fn rename_atom(atom: &mut Atom, from: Var, to: Var) {
    if *atom == Atom::Var(from) {
        *atom = Atom::Var(to);
    }
}

/// Renames a variable in an operation and in its blocks.
fn rename(op: &mut Op, from: Var, to: Var) {
    op.for_each_atom_mut(&mut |atom| rename_atom(atom, from, to));
    for block in op.blocks_mut() {
        block.for_each_atom_mut(&mut |atom| rename_atom(atom, from, to));
    }
}
