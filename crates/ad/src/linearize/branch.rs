//! Linearization of branches.
//!
//! What the linear part of a branch mentions of the variables inside is given back by the primal part. Where all of it is
//! scalars and arrays of numbers, the blocks share places, and fill those that they do not need; the linear part branches on
//! the same condition. Otherwise (the tape of a recursive call is among it, or an array of such) there is a data type with a
//! constructor for each block, and the linear part is a match on that:
//!
//! ```text
//! y = if n == 0 then x else let (z, tape) = primal_f (n - 1) x in z
//!
//! type Branch = Then | Else f_tape        y, branch = if n == 0 then (x, Then) else …, (z, Else tape)
//! ```
//!
//! A match whose blocks need nothing but the fields matches on the same value again.
//!
//! Of blocks of which all but one fail there is nothing to choose: the linear part is that of the one.
//!
//! A match on functions in whose place others may be given as tangents stays a match: the tangent of what it gives, and of what its
//! transpose gives, is what those others would give, whatever the blocks here look at. So their type of branch always has tangents,
//! and all parameters that vary get a cotangent.

use super::Linearize;
use crate::Code;
use crate::again::Again;
use crate::forward::choose;
use crate::linear::{Arm, Branch, Choice, Lin, LinBlock};
use rustc_hash::FxHashSet;
use wengert_base::Name;
use wengert_ir::op::{ArrayOp, Atom, Block, Op, Stmt, Var};
use wengert_ir::ty::{Ctor, Data, DataId, Elem, Role, Ty};

/// A block of the primal part, with the linear part, and what that mentions of the block's variables.
struct Made {
    block: Block,
    linear: LinBlock,
    kept: Vec<Var>,
    again: Vec<Stmt>,
}

impl Linearize<'_, '_> {
    pub(super) fn if_else(&mut self, stmt: &Stmt, cond: &Atom, then: &Block, otherwise: &Block) -> Lin {
        let side = |(block, holds): (&Block, bool)| {
            let before = self.said.len();
            self.said.extend(self.facts.said(cond, holds));
            let made = self.arm(block, Vec::new());
            self.said.truncate(before);
            made
        };
        let made: Vec<Made> = [(then, true), (otherwise, false)].into_iter().map(side).collect();
        let names = ["Then", "Else"].map(Name::new);
        let again = Choice::If(cond.clone());
        self.keep(stmt, made, &names, again, |blocks| choose(Choice::If(cond.clone()), blocks))
    }

    pub(super) fn match_on(&mut self, stmt: &Stmt, on: &Atom, arms: &[Block]) -> Lin {
        let of = self.scope.of(on);
        let Ty::Scalar(Elem::Data(data)) = self.code.b.type_of(on) else {
            self.code.b.push(stmt.clone());
            return Lin::Branch(Box::new(Branch {
                on: Choice::Match(on.clone()),
                arms: Vec::new(),
                outs: Vec::new(),
                besides: Vec::new(),
                points: Vec::new(),
            }));
        };
        let mut made = Vec::new();
        for (ctor, arm) in arms.iter().enumerate() {
            let ctor = ctor as u32;
            let types = self.code.ad.fields(data, ctor);
            let varying: Vec<Var> = arm
                .params
                .iter()
                .zip(&types)
                .filter(|(_, (_, tangent))| tangent.is_some())
                .map(|(p, _)| *p)
                .collect();
            let mut begin = Vec::new();
            if let (Some(of), false) = (&of, varying.is_empty()) {
                let like = varying
                    .iter()
                    .filter(|var| self.code.b.func().ty(**var).rank() > 0)
                    .map(|var| Atom::Var(*var))
                    .collect();
                begin.push(Lin::Fields { of: of.clone(), data, ctor, outs: varying, like });
            }
            made.push(self.arm(arm, begin));
        }
        let names: Vec<Name> =
            self.code.ad.program.data.at(data).ctors.iter().map(|ctor| ctor.name).collect();
        let again = Choice::Match(on.clone());
        self.keep(stmt, made, &names, again, |blocks| choose(Choice::Match(on.clone()), blocks))
    }

    fn arm(&mut self, block: &Block, begin: Vec<Lin>) -> Made {
        self.code.b.open();
        let mut linear = self.block(block);
        // Nobody has asked yet what it captures.
        linear.stmts.splice(0..0, begin);
        let made = self.code.b.close(block.results.clone());
        let block = Block { params: block.params.clone(), ..made };
        let mentioned = self.mentioned(&linear, &block);
        let around = self.mentioned_around(&linear, &block);
        let (other, read) = self.done_again_in_arm(&block).unzip();
        let (done_again, read) = (other.as_ref().unwrap_or(&block), read.unwrap_or_default());
        let Again { stmts: again, kept, .. } =
            crate::again::plan_arm(self.code, done_again, &mentioned, (&around, &self.kept(&around)), &read);
        Made { block, linear, kept, again }
    }

    /// What a loop around keeps of each iteration, if it is mentioned at all: an array that is carried, and has its shape of no other.
    fn kept(&self, mentioned: &FxHashSet<Var>) -> FxHashSet<Var> {
        let carried = self.around.iter().flat_map(|around| around.carried());
        let arrays = carried.filter(|var| self.code.b.func().ty(**var).rank() > 0);
        arrays.copied().filter(|var| mentioned.contains(var) && self.likes.root(*var) == *var).collect()
    }

    /// Appends the branch to the primal part, so that it gives what the linear part needs.
    fn keep(
        &mut self,
        stmt: &Stmt,
        mut made: Vec<Made>,
        names: &[Name],
        again: Choice,
        op: impl FnOnce(Vec<Block>) -> Op,
    ) -> Lin {
        let outs = self.outs(&stmt.outs);
        if let Some(which) = only_one_returns(&made)
            && !self.is_on_given(&again)
            && !self.is_on_which(&again)
        {
            return self.keep_of_one(stmt, made, which, op);
        }
        let points = if self.is_on_which(&again) { self.params_with_tangents() } else { Vec::new() };
        let besides: Vec<Var> =
            points.iter().copied().filter(|var| self.scope.active.contains(var)).collect();
        let is_match = matches!(again, Choice::Match(_));
        let fields_only =
            is_match && made.iter().all(|made| made.kept.iter().all(|var| made.block.params.contains(var)));
        if fields_only || made.iter().all(|made| made.kept.is_empty()) {
            let (arms, blocks) = made
                .into_iter()
                .map(|Made { block, linear, again, .. }| {
                    (Arm { params: block.params.clone(), binds: Vec::new(), again, block: linear }, block)
                })
                .unzip();
            self.code.b.push(Stmt { op: op(blocks), ..stmt.clone() });
            return Lin::Branch(Box::new(Branch { on: again, arms, outs, besides, points }));
        }
        let types = |code: &Code<'_>, kept: &[Var]| -> Vec<Ty> {
            kept.iter().map(|var| code.b.func().ty(*var)).collect()
        };
        let data_inside = made
            .iter()
            .flat_map(|made| types(self.code, &made.kept))
            .any(|ty| matches!(ty.elem(), Elem::Data(_)));
        let most = made.iter().map(|made| made.kept.len()).max().unwrap_or(0);
        let fillers = !data_inside && !is_match && most <= super::MANY;
        if fillers {
            let binds = self.share_places(&mut made);
            let (places, binds) = binds;
            let (mut arms, mut blocks) = (Vec::new(), Vec::new());
            for (Made { block, linear, again, .. }, binds) in made.into_iter().zip(binds) {
                arms.push(Arm { params: Vec::new(), binds, again, block: linear });
                blocks.push(block);
            }
            let outs_there = stmt.outs.iter().copied().chain(places).collect();
            self.code.b.push(Stmt { outs: outs_there, op: op(blocks), span: stmt.span });
            return Lin::Branch(Box::new(Branch { on: again, arms, outs, besides, points: Vec::new() }));
        }
        let data = self.branch_type(&made, names, is_match);
        if self.is_on_which(&again) {
            self.code.ad.which.insert(data);
        }
        self.keep_as_data(stmt, made, data, besides, op)
    }

    /// Whether a match is on functions whose tangents may be given: then what varies may be which function it is.
    fn is_on_given(&self, on: &Choice) -> bool {
        let Choice::Match(on) = on else { return false };
        match self.code.b.type_of(on) {
            Ty::Scalar(Elem::Data(data)) => self.code.ad.declared.contains_key(&data),
            Ty::Scalar(_) | Ty::Array(..) => false,
        }
    }

    /// The same, or on what tells which it was.
    fn is_on_which(&self, on: &Choice) -> bool {
        let Choice::Match(on) = on else { return false };
        self.code.ad.tells_given(self.code.b.type_of(on))
    }

    /// The parameters of the function that may vary when this is differentiated again, whether they do so here or not. Nobody else may ask:
    /// the tangents of a parameter may hold what this function keeps.
    fn params_with_tangents(&mut self) -> Vec<Var> {
        let Linearize { code, params, .. } = self;
        let has_tangent = |param: &Var| {
            let ty = code.b.func().ty(*param);
            code.ad.tangent(ty).is_some()
        };
        params.iter().copied().filter(has_tangent).collect()
    }

    /// What the one block that does not fail keeps are further results.
    fn keep_of_one(
        &mut self,
        stmt: &Stmt,
        made: Vec<Made>,
        which: usize,
        op: impl FnOnce(Vec<Block>) -> Op,
    ) -> Lin {
        let outs = self.outs(&stmt.outs);
        let zeros = LinBlock::new(Vec::new(), vec![None; stmt.outs.len()]);
        let none = Arm { params: Vec::new(), binds: Vec::new(), again: Vec::new(), block: zeros };
        let kept = made.get(which).map(|made| made.kept.clone()).unwrap_or_default();
        let infos: Vec<_> = kept.iter().map(|var| *self.code.b.func().vars.at(*var)).collect();
        let fresh = |this: &mut Self| -> Vec<Var> {
            infos.iter().map(|info| this.code.b.fresh(info.name, info.ty)).collect()
        };
        let there = fresh(self);
        let binds = kept.iter().copied().zip(there.iter().copied().map(Atom::Var)).collect();
        let (mut one, mut blocks) = (None, Vec::new());
        for (place, Made { mut block, linear, kept, again }) in made.into_iter().enumerate() {
            let given = if place == which { kept } else { fresh(self) };
            block.results.extend(given.iter().copied().map(Atom::Var));
            if place == which {
                one = Some(Arm { params: Vec::new(), binds: Vec::clone(&binds), again, block: linear });
            } else if let Some(fails) = block.stmts.iter_mut().find(|stmt| matches!(stmt.op, Op::Fail { .. }))
            {
                fails.outs.extend(given);
            }
            blocks.push(block);
        }
        let all = stmt.outs.iter().copied().chain(there).collect();
        self.code.b.push(Stmt { outs: all, op: op(blocks), span: stmt.span });
        let on = Choice::If(Atom::Bool(true));
        Lin::Branch(Box::new(Branch {
            on,
            arms: one.into_iter().chain([none]).collect(),
            outs,
            besides: Vec::new(),
            points: Vec::new(),
        }))
    }

    /// A data type with a constructor for each block.
    fn branch_type(&mut self, made: &[Made], names: &[Name], is_match: bool) -> DataId {
        let name: Name = if is_match { "Case".into() } else { "Branch".into() };
        let fields = |made: &Made| made.kept.iter().map(|var| self.code.b.func().ty(*var)).collect();
        let ctors =
            made.iter().zip(names).map(|(made, name)| Ctor { name: *name, fields: fields(made) }).collect();
        self.code.ad.program.data.push(Data { name, role: Role::Residual, ctors })
    }

    /// What a block keeps goes into a constructor of its own.
    fn keep_as_data(
        &mut self,
        stmt: &Stmt,
        made: Vec<Made>,
        data: DataId,
        besides: Vec<Var>,
        op: impl FnOnce(Vec<Block>) -> Op,
    ) -> Lin {
        let outs = self.outs(&stmt.outs);
        let branch = self.code.b.fresh("branch".into(), Ty::Scalar(Elem::Data(data)));
        self.branches.insert(branch, data);
        let (mut arms, mut blocks) = (Vec::new(), Vec::new());
        for (ctor, Made { mut block, linear, kept, again }) in made.into_iter().enumerate() {
            let own = self.code.b.fresh("branch".into(), Ty::Scalar(Elem::Data(data)));
            let fields = kept.iter().copied().map(Atom::Var).collect();
            let op = Op::Make { data, ctor: ctor as u32, fields };
            block.stmts.push(Stmt { outs: vec![own], op, span: stmt.span });
            block.results.push(Atom::Var(own));
            arms.push(Arm { params: kept, binds: Vec::new(), again, block: linear });
            blocks.push(block);
        }
        let outs_there = stmt.outs.iter().copied().chain([branch]).collect();
        self.code.b.push(Stmt { outs: outs_there, op: op(blocks), span: stmt.span });
        let on = Choice::Match(Atom::Var(branch));
        Lin::Branch(Box::new(Branch { on, arms, outs, besides, points: Vec::new() }))
    }

    /// Gives the blocks common further results for what they keep: the variables of the branch, and for each block what
    /// they are inside.
    fn share_places(&mut self, made: &mut [Made]) -> (Vec<Var>, Vec<Vec<(Var, Atom)>>) {
        let mut places: Vec<(Var, Ty)> = Vec::new();
        let mut binds = Vec::new();
        let mut taken: Vec<Vec<Option<Var>>> = Vec::new();
        for Made { kept, .. } in made.iter() {
            let (mut used, mut bound) = (vec![None; places.len()], Vec::new());
            for var in kept {
                let info = *self.code.b.func().vars.at(*var);
                let free = places
                    .iter()
                    .enumerate()
                    .position(|(i, (_, ty))| *ty == info.ty && used.get(i).is_none_or(Option::is_none));
                let place = free.unwrap_or_else(|| {
                    places.push((self.code.b.fresh(info.name, info.ty), info.ty));
                    places.len() - 1
                });
                used.resize(places.len(), None);
                if let (Some(used), Some((out, _))) = (used.get_mut(place), places.get(place)) {
                    *used = Some(*var);
                    bound.push((*var, Atom::Var(*out)));
                }
            }
            taken.push(used);
            binds.push(bound);
        }
        for (Made { block, .. }, taken) in made.iter_mut().zip(taken) {
            for (i, (_, ty)) in places.iter().enumerate() {
                let value = match taken.get(i).copied().flatten() {
                    Some(var) => Atom::Var(var),
                    None => filler(self.code, *ty, block),
                };
                block.results.push(value);
            }
        }
        (places.into_iter().map(|(var, _)| var).collect(), binds)
    }
}

/// The block that does not fail, if there is one such and others.
fn only_one_returns(made: &[Made]) -> Option<usize> {
    // A match without blocks may be on a type whose constructors are not known yet.
    let returns = |made: &Made| !made.block.stmts.iter().any(|stmt| matches!(stmt.op, Op::Fail { .. }));
    let mut all = made.iter().enumerate().filter(|(_, made)| returns(made));
    let (which, _) = all.next()?;
    (made.len() > 1 && all.next().is_none()).then_some(which)
}

/// A value that is never looked at.
fn filler(code: &mut Code<'_>, ty: Ty, block: &mut Block) -> Atom {
    match ty {
        Ty::Scalar(Elem::Real) => Atom::Real(0.0),
        Ty::Scalar(Elem::Int) => Atom::Int(0),
        Ty::Scalar(Elem::Bool) => Atom::Bool(false),
        Ty::Scalar(Elem::Text) => Atom::Text("".into()),
        // A scalar of data has no filler: the caller has seen to it.
        Ty::Scalar(Elem::Unit | Elem::Data(_)) => Atom::Unit,
        Ty::Array(elem, rank) => {
            code.b.open();
            let empty = code.b.called("none").array(ArrayOp::Empty(elem, rank), []);
            block.stmts.extend(code.b.close(Vec::new()).stmts);
            empty
        }
    }
}
