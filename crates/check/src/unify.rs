//! Unification: makes two types equal by binding metas, or says how they clash.
//!
//! Sizes are gradual: an unknown size agrees with everything, a size the user named agrees with everything but that is
//! an *assumption* (`Store::assumed_size`) which elaboration may have to check while running, and only two different
//! constants clash. What meets an unknown size becomes unknown itself if it may. Rows are unified by moving the fields that one side lacks into the other side's rest.

use crate::ty::{
    Arg, Len, MetaId, MetaState, OriginId, Rank, Rest, RigidId, RowId, RowState, RowTy, SizeId, SizeMode,
    SizeState, Store, Ty, UserVar, rank_of_both,
};
use std::collections::BTreeMap;
use std::rc::Rc;
use wengert_base::Name;
use wengert_core::Pred;

/// How two types clash.
#[derive(Clone, Debug)]
pub(crate) enum Clash {
    /// They are built differently.
    Shape,
    /// A type lacks a predicate.
    Pred { pred: Pred, ty: Ty, origin: OriginId },
    /// A type would contain itself.
    Infinite,
    /// Two different constant sizes.
    Size(u64, u64),
    /// A type variable that the user wrote would have to be this type.
    TooGeneral { user: UserVar, ty: Ty },
    /// Two type variables that the user wrote would have to be equal.
    SameVars(UserVar, UserVar),
    /// A record lacks a field.
    Field,
    /// The types have become too large.
    Exhausted,
}

/// What must not occur in a type that something is bound to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    Meta(MetaId),
    Row(RowId),
}

type Unified = Result<(), Clash>;

/// A size with what is known about it.
#[derive(Clone, Copy)]
enum View {
    Const(u64),
    /// Of a literal.
    Soft(SizeId, u64),
    Open(SizeId),
    /// Named by the user.
    User(SizeId),
    Rigid(RigidId),
    Unknown,
}

impl Store<'_> {
    /// Makes the types equal.
    pub(crate) fn unify(&mut self, a: &Ty, b: &Ty) -> Unified {
        if !self.step() {
            return Err(Clash::Exhausted);
        }
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || self.unify_heads(a, b))
    }

    fn unify_heads(&mut self, a: &Ty, b: &Ty) -> Unified {
        let (a, b) = (self.shallow(a), self.shallow(b));
        match (&a, &b) {
            (Ty::Error, _) | (_, Ty::Error) => Ok(()),
            (Ty::Meta(m), Ty::Meta(n)) => self.unify_metas(*m, *n),
            (Ty::Meta(m), _) => self.bind(*m, &b),
            (_, Ty::Meta(m)) => self.bind(*m, &a),
            (Ty::Real, Ty::Real) | (Ty::Int, Ty::Int) | (Ty::Bool, Ty::Bool) | (Ty::String, Ty::String) => {
                Ok(())
            }
            (Ty::Rigid(x), Ty::Rigid(y)) if x == y => Ok(()),
            (Ty::Tuple(xs), Ty::Tuple(ys)) if Rc::ptr_eq(xs, ys) => Ok(()),
            (Ty::Tuple(xs), Ty::Tuple(ys)) if xs.len() == ys.len() => self.unify_all(xs, ys),
            (Ty::Data(x, xs), Ty::Data(y, ys)) if x == y && xs.len() == ys.len() => self.unify_all(xs, ys),
            (Ty::Fun(x, y), Ty::Fun(u, v)) => {
                self.unify(x, u)?;
                self.unify(y, v)
            }
            (Ty::Array(n, x), Ty::Array(m, y)) => {
                self.unify_sizes(*n, *m)?;
                self.unify(x, y)
            }
            (Ty::Dual(x), Ty::Dual(y)) => self.unify(x, y),
            (Ty::Record(x), Ty::Record(y)) => self.unify_rows(x, y),
            (
                Ty::Real
                | Ty::Int
                | Ty::Bool
                | Ty::String
                | Ty::Tuple(_)
                | Ty::Record(_)
                | Ty::Array(..)
                | Ty::Fun(..)
                | Ty::Data(..)
                | Ty::Dual(_)
                | Ty::Rigid(_),
                _,
            ) => Err(Clash::Shape),
        }
    }

    fn unify_all(&mut self, xs: &[Ty], ys: &[Ty]) -> Unified {
        xs.iter().zip(ys).try_for_each(|(x, y)| self.unify(x, y))
    }

    fn unify_metas(&mut self, m: MetaId, n: MetaId) -> Unified {
        if m == n {
            return Ok(());
        }
        let (
            Some(MetaState::Open { level: lm, preds: pm, user: um, rank: rm }),
            Some(MetaState::Open { level: ln, preds: pn, user: un, rank: rn }),
        ) = (self.metas.get(m.0 as usize).cloned(), self.metas.get(n.0 as usize).cloned())
        else {
            return Ok(());
        };
        if let (Some(x), Some(y)) = (um, un)
            && x.owner == y.owner
        {
            return Err(Clash::SameVars(x, y));
        }
        let keeps_first = um.is_some() || un.is_none() && rm > rn;
        let (from, to, user) = if keeps_first { (n, m, um) } else { (m, n, un) };
        let rank = if keeps_first { rank_of_both(rn, rm) } else { rank_of_both(rm, rn) };
        let mut preds = pm;
        for (pred, origin) in pn.iter() {
            preds.add(pred, origin);
        }
        if let Some(state) = self.metas.get_mut(to.0 as usize) {
            *state = MetaState::Open { level: lm.min(ln), preds, user, rank };
        }
        self.bind_meta(from, Ty::Meta(to));
        self.settle_real(to)
    }

    /// A number with a `Real` inside can only be `Real`.
    fn settle_real(&mut self, id: MetaId) -> Unified {
        if self.preds_of(id).force_real() { self.bind(id, &Ty::Real) } else { Ok(()) }
    }

    /// Binds an open meta to a type that is not a meta.
    fn bind(&mut self, id: MetaId, ty: &Ty) -> Unified {
        let Some(MetaState::Open { level, preds, user, .. }) = self.metas.get(id.0 as usize).cloned() else {
            return Ok(());
        };
        if let Some(user) = user {
            return Err(Clash::TooGeneral { user, ty: ty.clone() });
        }
        self.lower(Target::Meta(id), level, ty)?;
        let satisfied = preds.iter().try_for_each(|(pred, origin)| self.require(pred, ty, origin));
        // After an error nothing more is said about what this meta stands for.
        self.bind_meta(id, if satisfied.is_ok() { ty.clone() } else { Ty::Error });
        satisfied
    }

    /// Demands a predicate of an open meta.
    pub(crate) fn require_of_meta(&mut self, id: MetaId, pred: Pred, origin: OriginId) -> Unified {
        if let Some(MetaState::Open { preds, .. }) = self.metas.get_mut(id.0 as usize) {
            preds.add(pred, origin);
        }
        self.settle_real(id)
    }

    /// Lowers the levels inside `ty` to at most `level`, and sees that `target` does not occur in it.
    fn lower(&mut self, target: Target, level: u32, ty: &Ty) -> Unified {
        if !self.step() {
            return Err(Clash::Exhausted);
        }
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match ty {
            Ty::Real | Ty::Int | Ty::Bool | Ty::String | Ty::Error => Ok(()),
            Ty::Meta(id) => {
                let id = self.end_of(*id);
                if target == Target::Meta(id) {
                    return Err(Clash::Infinite);
                }
                match self.metas.get_mut(id.0 as usize) {
                    Some(MetaState::Open { level: own, .. }) => {
                        *own = level.min(*own);
                        Ok(())
                    }
                    Some(MetaState::Bound(bound)) => {
                        let bound = bound.clone();
                        self.lower(target, level, &bound)
                    }
                    None => Ok(()),
                }
            }
            Ty::Rigid(_) => Ok(()),
            Ty::Tuple(items) | Ty::Data(_, items) => {
                items.iter().try_for_each(|item| self.lower(target, level, item))
            }
            Ty::Fun(from, to) => {
                self.lower(target, level, from)?;
                self.lower(target, level, to)
            }
            Ty::Array(len, elem) => {
                self.lower_size(level, *len);
                self.lower(target, level, elem)
            }
            Ty::Dual(inner) => self.lower(target, level, inner),
            Ty::Record(row) => self.lower_row(target, level, row),
        })
    }

    fn lower_row(&mut self, target: Target, level: u32, row: &RowTy) -> Unified {
        row.fields.values().try_for_each(|field| self.lower(target, level, field))?;
        let Rest::Meta(id) = row.rest else { return Ok(()) };
        if target == Target::Row(id) {
            return Err(Clash::Infinite);
        }
        match self.rows.get_mut(id.0 as usize) {
            Some(RowState::Open { level: own, .. }) => {
                *own = level.min(*own);
                Ok(())
            }
            Some(RowState::Bound(bound)) => {
                let bound = Rc::clone(bound);
                self.lower_row(target, level, &bound)
            }
            None => Ok(()),
        }
    }

    fn lower_size(&mut self, level: u32, len: Len) {
        if let Len::Meta(id) = self.shallow_size(len)
            && let Some(SizeState::Open { level: own, .. } | SizeState::Soft { level: own, .. }) =
                self.sizes.get_mut(id.0 as usize)
        {
            *own = level.min(*own);
        }
    }

    /// Sizes agree, unless they are different constants.
    pub(crate) fn unify_sizes(&mut self, a: Len, b: Len) -> Unified {
        let (a, b) = (self.size_view(a), self.size_view(b));
        match (a, b) {
            (View::Unknown, View::Unknown) => {}
            (View::Const(x), View::Const(y)) if x != y => return Err(Clash::Size(x, y)),
            (View::Const(x), View::Soft(_, y)) | (View::Soft(_, x), View::Const(y)) if x != y => {
                return Err(Clash::Size(x, y));
            }
            (View::Const(_) | View::Soft(..), View::Const(_)) | (View::Const(_), View::Soft(..)) => {}
            (View::Soft(x, n), View::Soft(y, m)) => return self.unify_soft(x, n, y, m),
            (View::Soft(id, _), View::Unknown) | (View::Unknown, View::Soft(id, _)) => {
                self.bind_size(id, Len::Unknown);
            }
            (View::Open(x), View::Open(y)) => self.link_sizes(x, y),
            (View::Open(x), View::User(y)) | (View::User(y), View::Open(x)) => self.bind_to_size(x, y),
            (View::Open(id), View::Unknown) | (View::Unknown, View::Open(id)) => {
                self.bind_size(id, Len::Unknown)
            }
            (View::Open(id), View::Const(n) | View::Soft(_, n))
            | (View::Const(n) | View::Soft(_, n), View::Open(id)) => {
                let learned = if self.size_mode == SizeMode::Loose { Len::Unknown } else { Len::Const(n) };
                self.bind_size(id, learned);
            }
            (View::Open(id), View::Rigid(rigid)) | (View::Rigid(rigid), View::Open(id)) => {
                self.bind_size(id, Len::Rigid(rigid));
            }
            (View::User(x), View::User(y)) if x == y => {}
            (View::Rigid(x), View::Rigid(y)) if x == y => {}
            (View::User(_) | View::Rigid(_), _) | (_, View::User(_) | View::Rigid(_)) => {
                self.assumed_size = true
            }
            (View::Const(_), View::Unknown) | (View::Unknown, View::Const(_)) => self.assumed_size = true,
        }
        Ok(())
    }

    fn size_view(&self, len: Len) -> View {
        match self.shallow_size(len) {
            Len::Const(n) => View::Const(n),
            Len::Unknown => View::Unknown,
            Len::Rigid(id) => View::Rigid(id),
            Len::Meta(id) => match self.sizes.get(id.0 as usize) {
                Some(SizeState::Soft { len, .. }) => View::Soft(id, *len),
                Some(SizeState::Open { user: Some(_), .. }) => View::User(id),
                Some(SizeState::Open { user: None, .. }) => View::Open(id),
                Some(SizeState::Bound(_)) | None => View::Unknown,
            },
        }
    }

    fn unify_soft(&mut self, x: SizeId, n: u64, y: SizeId, m: u64) -> Unified {
        if x == y {
            return Ok(());
        }
        if n == m {
            self.link_sizes(x, y);
        } else if self.size_mode == SizeMode::Strict {
            return Err(Clash::Size(n, m));
        } else {
            self.bind_size(x, Len::Unknown);
            self.bind_size(y, Len::Unknown);
        }
        Ok(())
    }

    /// Binds one of two sizes to the other.
    fn link_sizes(&mut self, x: SizeId, y: SizeId) {
        if self.size_rank(x) > self.size_rank(y) { self.bind_to_size(y, x) } else { self.bind_to_size(x, y) }
    }

    /// Binds one size to another, which keeps the lower level.
    fn bind_to_size(&mut self, from: SizeId, to: SizeId) {
        if from == to {
            return;
        }
        if let Some(SizeState::Open { level, rank: below, .. } | SizeState::Soft { level, rank: below, .. }) =
            self.sizes.get(from.0 as usize).copied()
        {
            self.lower_size(level, Len::Meta(to));
            if let Some(SizeState::Open { rank, .. } | SizeState::Soft { rank, .. }) =
                self.sizes.get_mut(to.0 as usize)
            {
                *rank = rank_of_both(below, *rank);
            }
        }
        self.bind_size(from, Len::Meta(to));
    }

    fn size_rank(&self, id: SizeId) -> Rank {
        match self.sizes.get(id.0 as usize) {
            Some(SizeState::Open { rank, .. } | SizeState::Soft { rank, .. }) => *rank,
            Some(SizeState::Bound(_)) | None => 0,
        }
    }

    fn unify_rows(&mut self, a: &RowTy, b: &RowTy) -> Unified {
        let (a, b) = (self.flat_row(a), self.flat_row(b));
        let mut only_a: BTreeMap<Name, Ty> = BTreeMap::new();
        let mut only_b = b.fields;
        for (name, ty) in a.fields {
            match only_b.remove(&name) {
                Some(other) => self.unify(&ty, &other)?,
                None => {
                    only_a.insert(name, ty);
                }
            }
        }
        // Unifying the common fields may have bound a rest; then the split is no longer right.
        let (rest_a, rest_b) = (self.flat_row(&row(a.rest)), self.flat_row(&row(b.rest)));
        if !rest_a.fields.is_empty() || !rest_b.fields.is_empty() {
            only_a.extend(rest_a.fields);
            only_b.extend(rest_b.fields);
            let a = RowTy { fields: only_a, rest: rest_a.rest };
            let b = RowTy { fields: only_b, rest: rest_b.rest };
            return self.unify_rows(&a, &b);
        }
        self.unify_rests(only_a, rest_a.rest, only_b, rest_b.rest)
    }

    fn unify_rests(
        &mut self,
        only_a: BTreeMap<Name, Ty>,
        rest_a: Rest,
        only_b: BTreeMap<Name, Ty>,
        rest_b: Rest,
    ) -> Unified {
        if rest_a == rest_b {
            return match only_a.keys().chain(only_b.keys()).next() {
                Some(_) if rest_a != Rest::Error => Err(Clash::Field),
                Some(_) | None => Ok(()),
            };
        }
        if rest_a == Rest::Error || rest_b == Rest::Error {
            return Ok(());
        }
        match (only_a.is_empty(), only_b.is_empty()) {
            (true, true) => match (rest_a, rest_b) {
                (Rest::Meta(x), Rest::Meta(y)) if !self.is_user_row(x) && !self.is_user_row(y) => {
                    self.link_rows(x, y)
                }
                (Rest::Meta(id), other) if !self.is_user_row(id) => self.bind_rest(id, row(other)),
                (other, Rest::Meta(id)) => self.bind_rest(id, row(other)),
                (Rest::Meta(_) | Rest::Closed | Rest::Rigid(_) | Rest::Error, _) => Err(Clash::Shape),
            },
            (false, true) => self.extend_rest(rest_b, only_a, rest_a),
            (true, false) => self.extend_rest(rest_a, only_b, rest_b),
            (false, false) => {
                let common = self.fresh_row(None);
                self.extend_rest(rest_b, only_a, common)?;
                self.extend_rest(rest_a, only_b, common)
            }
        }
    }

    /// Binds one of two rests to the other.
    fn link_rows(&mut self, x: RowId, y: RowId) -> Unified {
        let (from, to) = if self.row_rank(x) > self.row_rank(y) { (y, x) } else { (x, y) };
        let below = self.row_rank(from);
        if let Some(RowState::Open { rank, .. }) = self.rows.get_mut(to.0 as usize) {
            *rank = rank_of_both(below, *rank);
        }
        self.bind_rest(from, row(Rest::Meta(to)))
    }

    fn row_rank(&self, id: RowId) -> Rank {
        match self.rows.get(id.0 as usize) {
            Some(RowState::Open { rank, .. }) => *rank,
            Some(RowState::Bound(_)) | None => 0,
        }
    }

    /// Binds `rest` to the given fields and a further rest.
    fn extend_rest(&mut self, rest: Rest, fields: BTreeMap<Name, Ty>, further: Rest) -> Unified {
        match rest {
            Rest::Meta(id) if !self.is_user_row(id) => self.bind_rest(id, RowTy { fields, rest: further }),
            Rest::Meta(_) | Rest::Closed | Rest::Rigid(_) => match fields.keys().next() {
                Some(_) => Err(Clash::Field),
                None => Err(Clash::Shape),
            },
            Rest::Error => Ok(()),
        }
    }

    fn is_user_row(&self, id: RowId) -> bool {
        matches!(self.rows.get(id.0 as usize), Some(RowState::Open { user: Some(_), .. }))
    }

    fn bind_rest(&mut self, id: RowId, to: RowTy) -> Unified {
        let Some(RowState::Open { level, user, .. }) = self.rows.get(id.0 as usize).cloned() else {
            return Ok(());
        };
        if user.is_some() {
            return Err(Clash::Shape);
        }
        self.lower_row(Target::Row(id), level, &to)?;
        self.bind_row(id, to);
        Ok(())
    }

    /// The replacement of rigid parameters by arguments.
    pub(crate) fn substitute(&mut self, ty: &Ty, params: &[RigidId], args: &[Arg]) -> Ty {
        if !self.descend() {
            self.ascend();
            return Ty::Error;
        }
        let result = stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let ty = self.shallow(ty);
            match &ty {
                Ty::Real | Ty::Int | Ty::Bool | Ty::String | Ty::Error | Ty::Meta(_) => ty,
                Ty::Rigid(id) => match position(params, *id).and_then(|i| args.get(i)) {
                    Some(Arg::Type(arg)) => arg.clone(),
                    Some(Arg::Row(_) | Arg::Size(_)) | None => ty,
                },
                Ty::Tuple(items) => {
                    Ty::Tuple(items.iter().map(|t| self.substitute(t, params, args)).collect())
                }
                Ty::Data(name, items) => {
                    Ty::Data(*name, items.iter().map(|t| self.substitute(t, params, args)).collect())
                }
                Ty::Fun(from, to) => {
                    Ty::fun(self.substitute(from, params, args), self.substitute(to, params, args))
                }
                Ty::Dual(inner) => Ty::Dual(Rc::new(self.substitute(inner, params, args))),
                Ty::Array(len, elem) => {
                    let len = match self.shallow_size(*len) {
                        Len::Rigid(id) => match position(params, id).and_then(|i| args.get(i)) {
                            Some(Arg::Size(arg)) => *arg,
                            Some(Arg::Row(_) | Arg::Type(_)) | None => Len::Rigid(id),
                        },
                        len @ (Len::Const(_) | Len::Meta(_) | Len::Unknown) => len,
                    };
                    Ty::array(len, self.substitute(elem, params, args))
                }
                Ty::Record(row) => {
                    let flat = self.flat_row(row);
                    let mut fields: BTreeMap<Name, Ty> =
                        flat.fields.iter().map(|(n, t)| (*n, self.substitute(t, params, args))).collect();
                    let rest = match flat.rest {
                        Rest::Rigid(id) => match position(params, id).and_then(|i| args.get(i)) {
                            Some(Arg::Row(more)) => {
                                fields.extend(more.fields.iter().map(|(n, t)| (*n, t.clone())));
                                more.rest
                            }
                            Some(Arg::Type(_) | Arg::Size(_)) | None => flat.rest,
                        },
                        Rest::Closed | Rest::Meta(_) | Rest::Error => flat.rest,
                    };
                    Ty::Record(Rc::new(RowTy { fields, rest }))
                }
            }
        });
        self.ascend();
        result
    }
}

fn position(params: &[RigidId], id: RigidId) -> Option<usize> {
    params.iter().position(|param| *param == id)
}

fn row(rest: Rest) -> RowTy {
    RowTy { fields: BTreeMap::new(), rest }
}
