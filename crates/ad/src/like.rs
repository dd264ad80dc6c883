//! Arrays that have the shape of an array that was there before, because they are that with something added, or put in a place.
//!
//! ```text
//! ys = for i, acc ys = xs { zs = ys with [i] += …  yield zs }        ys and zs have the shape of xs
//! ys = for i, ys = xs { zs = ys with [i] = …  yield zs }             so have these
//! ```
//!
//! Where linear code needs the shape of a variable only, it mentions the earliest array of that shape ([`Likes::root`]). So less is
//! kept, and above all no accumulator: that may only be added to. Through calls it goes by what functions give back: a result may
//! be a parameter with something added ([`Like`]), which is found for all functions that call each other together, beginning with the
//! hope that every result is one.

#![expect(clippy::wildcard_enum_match_arm, reason = "operations that keep the shape of an operand are named")]

use crate::{Ad, deep};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::{ArrayOp, Atom, Block, Op, Stmt, Var};
use wengert_ir::program::{Func, FuncId};
use wengert_ir::ty::{Elem, Ty};

/// What a result of a function has its shape of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Like {
    /// Of whatever parameter: nothing is known to the contrary yet.
    Any,
    /// Of that parameter.
    Param(usize),
    /// Of none.
    Own,
}

/// For variables of a function the earliest array of the same shape.
#[derive(Clone, Debug, Default)]
pub(crate) struct Likes(FxHashMap<Var, Var>);

impl Likes {
    /// The earliest array of the shape of a variable: it is bound where the variable is, or outside of that.
    pub(crate) fn root(&self, var: Var) -> Var {
        self.0.get(&var).copied().unwrap_or(var)
    }
}

impl Ad {
    /// What has the shape of what in a function.
    pub(crate) fn likes(&mut self, func: &Func) -> Likes {
        let unfinished = self.settle_likes(func);
        let mut walk = Walk::new(func, &self.alike);
        walk.body();
        let own: Vec<Var> = walk.likes.keys().copied().collect();
        let rooted = own.into_iter().filter_map(|var| match walk.follow(var) {
            Root::Var(root) => Some((var, root)),
            Root::Any => None,
        });
        let likes = Likes(rooted.collect());
        unfinished.iter().for_each(|id| {
            self.alike.remove(id);
        });
        likes
    }

    /// Finds out about the results of all functions that a function calls. Gives those about which more may be known later, because
    /// a function that they call is still under construction.
    fn settle_likes(&mut self, func: &Func) -> Vec<FuncId> {
        let (mut found, mut todo) = (Vec::new(), Vec::new());
        let mut seen = FxHashSet::default();
        collect_calls(func, &mut todo);
        while let Some(id) = todo.pop() {
            if !self.alike.contains_key(&id) && seen.insert(id) {
                found.push(id);
                collect_calls(self.program.funcs.at(id), &mut todo);
            }
        }
        let mut unfinished = false;
        for id in &found {
            let func = self.program.funcs.at(*id);
            let is_done = func.body.results.len() == func.results.len();
            unfinished |= !is_done;
            let hope = |ty: &Ty| if is_done && is_array(*ty) { Like::Any } else { Like::Own };
            self.alike.insert(*id, func.results.iter().map(hope).collect());
        }
        let mut changed = !found.is_empty();
        while changed {
            changed = false;
            for id in &found {
                let mut walk = Walk::new(self.program.funcs.at(*id), &self.alike);
                walk.body();
                let new = walk.results();
                let old = self.alike.get_mut(id).map_or(&mut [][..], Vec::as_mut_slice);
                for (old, new) in old.iter_mut().zip(new) {
                    let joined = match (*old, new) {
                        (Like::Any, new) => new,
                        (old, new) if old == new => old,
                        (_, _) => Like::Own,
                    };
                    changed |= *old != joined;
                    *old = joined;
                }
            }
        }
        if unfinished { found } else { Vec::new() }
    }
}

fn collect_calls(func: &Func, out: &mut Vec<FuncId>) {
    func.body.for_each_stmt(&mut |stmt| {
        if let Op::Call { func, .. } = &stmt.op {
            out.push(*func);
        }
    });
}

fn is_array(ty: Ty) -> bool {
    matches!(ty, Ty::Array(Elem::Real, _))
}

#[derive(Clone, Copy, PartialEq)]
enum Root {
    Var(Var),
    Any,
}

struct Walk<'a> {
    func: &'a Func,
    alike: &'a FxHashMap<FuncId, Vec<Like>>,
    /// For a variable the operand whose shape it has.
    likes: FxHashMap<Var, Root>,
    /// How deep in blocks variables are bound.
    depths: FxHashMap<Var, usize>,
    depth: usize,
}

impl<'a> Walk<'a> {
    fn new(func: &'a Func, alike: &'a FxHashMap<FuncId, Vec<Like>>) -> Walk<'a> {
        let (likes, depths) = (FxHashMap::default(), FxHashMap::default());
        Walk { func, alike, likes, depths, depth: 0 }
    }

    fn body(&mut self) {
        let func = self.func;
        self.block(&func.body);
    }

    /// What the results of the function are.
    fn results(&self) -> Vec<Like> {
        let params = &self.func.body.params;
        let like = |(atom, ty): (&Atom, &Ty)| match self.root(atom).filter(|_| is_array(*ty)) {
            Some(Root::Any) => Like::Any,
            Some(Root::Var(root)) => {
                params.iter().position(|param| *param == root).map_or(Like::Own, Like::Param)
            }
            None => Like::Own,
        };
        self.func.body.results.iter().zip(&self.func.results).map(like).collect()
    }

    fn follow(&self, var: Var) -> Root {
        let mut last = var;
        loop {
            match self.likes.get(&last) {
                Some(Root::Var(next)) => last = *next,
                Some(Root::Any) => return Root::Any,
                None => return Root::Var(last),
            }
        }
    }

    fn root(&self, atom: &Atom) -> Option<Root> {
        Some(self.follow(atom.var()?))
    }

    fn block(&mut self, block: &Block) {
        deep(|| {
            self.depth += 1;
            self.depths.extend(block.params.iter().map(|param| (*param, self.depth)));
            for stmt in &block.stmts {
                self.depths.extend(stmt.outs.iter().map(|out| (*out, self.depth)));
                self.stmt(stmt);
            }
            self.depth -= 1;
        });
    }

    /// `out` has the shape of `atom`.
    fn set(&mut self, out: Option<&Var>, atom: Option<&Atom>) {
        if let (Some(out), Some(root)) = (out, atom.and_then(|atom| self.root(atom)))
            && is_array(self.func.ty(*out))
            && root != Root::Var(*out)
        {
            self.likes.insert(*out, root);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        let out = stmt.outs.first();
        match &stmt.op {
            Op::Copy(x) => self.set(out, Some(x)),
            Op::Array(ArrayOp::Set | ArrayOp::AddAt | ArrayOp::ScatterAdd | ArrayOp::AddProduct(_), args) => {
                self.set(out, args.first())
            }
            Op::Array(ArrayOp::Add, args) => {
                let depth = |atom: &&Atom| match self.root(atom) {
                    Some(Root::Var(root)) => self.depths.get(&root).copied(),
                    Some(Root::Any) | None => None,
                };
                self.set(out, args.iter().min_by_key(depth));
            }
            Op::Select { cond: _, then, otherwise } => self.common(out, &[then, otherwise]),
            Op::If { cond: _, then, otherwise } => self.branches(stmt, &[then, otherwise]),
            Op::Match { on: _, arms } => self.branches(stmt, &arms.iter().collect::<Vec<_>>()),
            Op::Loop(parts) => {
                let params = parts.body.params.iter().skip(1);
                let first = parts.init.len();
                for (param, acc) in params.clone().skip(first).zip(&parts.accs) {
                    self.set(Some(param), Some(acc));
                }
                self.block(&parts.body);
                let states: Vec<Var> = params.copied().collect();
                self.carried(stmt, &states, &parts.init, &parts.body.results);
            }
            Op::While(parts) => {
                self.block(&parts.cond);
                self.block(&parts.body);
                self.carried(stmt, &parts.body.params, &parts.init, &parts.body.results);
            }
            Op::Call { func, args, .. } => {
                for (out, like) in stmt.outs.iter().zip(self.alike.get(func).into_iter().flatten()) {
                    match like {
                        Like::Param(i) => self.set(Some(out), args.get(*i)),
                        Like::Any => {
                            self.likes.insert(*out, Root::Any);
                        }
                        Like::Own => {}
                    }
                }
            }
            _ => {}
        }
    }

    /// What is carried keeps its shape, if an iteration gives back what it was given with something added.
    fn carried(&mut self, stmt: &Stmt, params: &[Var], init: &[Atom], results: &[Atom]) {
        for ((param, init), result) in params.iter().zip(init).zip(results) {
            if self.root(result) == Some(Root::Var(*param)) {
                self.set(Some(param), Some(init));
            }
        }
        for (out, param) in stmt.outs.iter().zip(params) {
            if self.likes.contains_key(param) {
                self.set(Some(out), Some(&Atom::Var(*param)));
            }
        }
    }

    fn branches(&mut self, stmt: &Stmt, blocks: &[&Block]) {
        blocks.iter().for_each(|block| self.block(block));
        for (i, out) in stmt.outs.iter().enumerate() {
            let given: Vec<&Atom> = blocks.iter().filter_map(|block| block.results.get(i)).collect();
            self.common(Some(out), &given);
        }
    }

    /// One of several: it has the shape that all of them have.
    fn common(&mut self, out: Option<&Var>, given: &[&Atom]) {
        let roots: Option<Vec<Root>> = given.iter().map(|atom| self.root(atom)).collect();
        let Some((out, roots)) = out.zip(roots).filter(|(out, _)| is_array(self.func.ty(**out))) else {
            return;
        };
        let known = roots.iter().find(|root| **root != Root::Any).copied().unwrap_or(Root::Any);
        let outside = match known {
            Root::Var(root) => self.depths.get(&root).is_some_and(|depth| *depth <= self.depth),
            Root::Any => true,
        };
        if outside && roots.iter().all(|root| *root == known || *root == Root::Any) {
            self.likes.insert(*out, known);
        }
    }
}
