//! Types while they are being inferred, and the [`Store`] of their unknown parts.
//!
//! A type is an immutable tree whose leaves may be *metas*: indices into tables in the store, which say whether the
//! meta is still open (with its level, its predicates and, if the user wrote it as a type variable, its name) or bound.
//! Binding is the only mutation, so unification is cheap and needs no substitution.
//!
//! *Levels* make generalization local: a meta created while the value of a `let` is inferred has a level above that
//! of the surrounding code; binding lowers the levels of everything inside the bound type. What still has the higher
//! level when the value is done belongs to the `let` alone and becomes *rigid*, that is a parameter of its scheme.

use crate::interface::KnownTypes;
use std::collections::BTreeMap;
use std::rc::Rc;
use wengert_base::{Name, Span};
use wengert_core::{Pred, Type};

/// An open or bound type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct MetaId(pub(crate) u32);

/// An open or bound rest of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RowId(pub(crate) u32);

/// An open or bound size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SizeId(pub(crate) u32);

/// A parameter of a scheme: of a type, a row or a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RigidId(pub(crate) u32);

/// Why a predicate is demanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OriginId(pub(crate) u32);

/// A type.
#[derive(Clone, Debug)]
pub(crate) enum Ty {
    Real,
    Int,
    Bool,
    String,
    Tuple(Rc<[Ty]>),
    Record(Rc<RowTy>),
    Array(Len, Rc<Ty>),
    Fun(Rc<Ty>, Rc<Ty>),
    Data(Name, Rc<[Ty]>),
    Dual(Rc<Ty>),
    Meta(MetaId),
    Rigid(RigidId),
    /// Stands where an error was already reported; agrees with everything.
    Error,
}

/// The fields of a record.
#[derive(Clone, Debug)]
pub(crate) struct RowTy {
    pub(crate) fields: BTreeMap<Name, Ty>,
    pub(crate) rest: Rest,
}

/// What a record has beyond its known fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    Closed,
    Meta(RowId),
    Rigid(RigidId),
    Error,
}

/// A size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Len {
    Const(u64),
    Meta(SizeId),
    Rigid(RigidId),
    Unknown,
}

/// What instantiates a parameter of a scheme.
#[derive(Clone, Debug)]
pub(crate) enum Arg {
    Type(Ty),
    Row(RowTy),
    Size(Len),
}

/// A set of predicates, each with the reason for the first demand.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Preds([Option<OriginId>; 5]);

impl Preds {
    fn slot(pred: Pred) -> usize {
        match pred {
            Pred::Num => 0,
            Pred::Ord => 1,
            Pred::Data => 2,
            Pred::Smooth => 3,
            Pred::Tangent => 4,
        }
    }

    pub(crate) fn get(&self, pred: Pred) -> Option<OriginId> {
        self.0.get(Preds::slot(pred)).copied().flatten()
    }

    pub(crate) fn has(&self, pred: Pred) -> bool {
        self.get(pred).is_some()
    }

    pub(crate) fn add(&mut self, pred: Pred, origin: OriginId) {
        if let Some(slot) = self.0.get_mut(Preds::slot(pred)) {
            slot.get_or_insert(origin);
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (Pred, OriginId)> + '_ {
        Pred::ALL.into_iter().filter_map(|pred| self.get(pred).map(|origin| (pred, origin)))
    }

    /// Only `Real` is a number or ordered and holds a `Real`.
    pub(crate) fn force_real(&self) -> bool {
        self.has(Pred::Smooth) && (self.has(Pred::Num) || self.has(Pred::Ord))
    }

    /// Without what the others imply: every number is ordered, everything ordered is first-order.
    pub(crate) fn simplified(&self) -> Vec<Pred> {
        let implied = |pred| match pred {
            Pred::Num | Pred::Smooth | Pred::Tangent => false,
            Pred::Ord => self.has(Pred::Num),
            Pred::Data => self.has(Pred::Num) || self.has(Pred::Ord) || self.has(Pred::Tangent),
        };
        self.iter().map(|(pred, _)| pred).filter(|pred| !implied(*pred)).collect()
    }
}

/// A type or size variable that the user wrote.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UserVar {
    pub(crate) name: Name,
    pub(crate) span: Span,
    /// The definition or local function it belongs to.
    pub(crate) owner: u32,
}

/// How long ways of bindings to something open are at most. What has the shorter ways is bound to the other, so that they
/// are as long as the logarithm of how many there are: in a long array literal each element has a meta of its own.
pub(crate) type Rank = u8;

/// The rank of what two were bound to of which one had the rank `from` and the other `to`.
pub(crate) fn rank_of_both(from: Rank, to: Rank) -> Rank {
    to.max(from.saturating_add(1))
}

/// State of a type meta.
#[derive(Clone, Debug)]
pub(crate) enum MetaState {
    Open { level: u32, preds: Preds, user: Option<UserVar>, rank: Rank },
    Bound(Ty),
}

/// State of a row meta.
#[derive(Clone, Debug)]
pub(crate) enum RowState {
    Open { level: u32, user: Option<UserVar>, rank: Rank },
    Bound(Rc<RowTy>),
}

/// State of a size meta. `Soft` is the size of an array literal: a constant as long as nothing else flows to the same
/// place, as in `if c then [] else [x]` or in the accumulator of a `fold` that starts with `[]`; then it is unknown.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SizeState {
    Open { level: u32, user: Option<UserVar>, rank: Rank },
    Soft { level: u32, len: u64, rank: Rank },
    Bound(Len),
}

/// How sizes are made equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SizeMode {
    /// Different sizes of literals make the size unknown.
    Join,
    /// Different sizes of literals clash: the rows of one literal.
    Strict,
    /// Nothing is learned about sizes: arguments of a function inside its own recursive group, which may be called with
    /// arrays of other sizes.
    Loose,
}

/// What a parameter of a scheme stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RigidKind {
    Type(Preds),
    Row,
    Size,
}

/// A parameter of a scheme.
#[derive(Clone, Debug)]
pub(crate) struct Rigid {
    pub(crate) kind: RigidKind,
    pub(crate) user: Option<UserVar>,
    /// Set when all uses of a local definition turned out to instantiate the parameter alike.
    pub(crate) replaced: Option<Arg>,
    /// Its name in the core, assigned at the end.
    pub(crate) name: Option<Name>,
}

/// Why a predicate is demanded: of what, and where that stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    pub(crate) source: Source,
    pub(crate) span: Span,
}

/// What demands a predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A function or operator, by its surface name.
    Function(Name),
    /// A number literal.
    Literal,
}

/// A predicate on a type of which not enough is known yet.
#[derive(Clone, Debug)]
pub(crate) struct Deferred {
    pub(crate) pred: Pred,
    pub(crate) ty: Ty,
    pub(crate) origin: OriginId,
}

/// How deeply types may be nested: they are cloned, compared and dropped by recursion.
pub(crate) const MAX_DEPTH: u32 = 1000;

/// How many elementary steps the types of one group of definitions may take.
const FUEL: u64 = 20_000_000;

/// The unknown parts of types, for one group of definitions.
pub(crate) struct Store<'a> {
    pub(crate) types: &'a KnownTypes,
    pub(crate) metas: Vec<MetaState>,
    pub(crate) rows: Vec<RowState>,
    pub(crate) sizes: Vec<SizeState>,
    pub(crate) rigids: Vec<Rigid>,
    pub(crate) origins: Vec<Origin>,
    pub(crate) deferred: Vec<Deferred>,
    pub(crate) level: u32,
    /// Set when an equality of sizes was taken on trust; whoever cares resets it before and looks after.
    pub(crate) assumed_size: bool,
    pub(crate) size_mode: SizeMode,
    pub(crate) fuel: u64,
    /// How deep the type is that is being built.
    depth: u32,
}

impl<'a> Store<'a> {
    pub(crate) fn new(types: &'a KnownTypes) -> Store<'a> {
        Store {
            types,
            metas: Vec::new(),
            rows: Vec::new(),
            sizes: Vec::new(),
            rigids: Vec::new(),
            origins: Vec::new(),
            deferred: Vec::new(),
            level: 0,
            assumed_size: false,
            size_mode: SizeMode::Join,
            fuel: FUEL,
            depth: 0,
        }
    }

    /// A fresh type.
    pub(crate) fn fresh(&mut self) -> Ty {
        self.fresh_with(Preds::default(), None)
    }

    pub(crate) fn fresh_with(&mut self, preds: Preds, user: Option<UserVar>) -> Ty {
        let id = MetaId(self.metas.len() as u32);
        self.metas.push(MetaState::Open { level: self.level, preds, user, rank: 0 });
        Ty::Meta(id)
    }

    /// A fresh type that satisfies `pred`.
    pub(crate) fn fresh_pred(&mut self, pred: Pred, source: Source, span: Span) -> Ty {
        let origin = self.origin(source, span);
        let mut preds = Preds::default();
        preds.add(pred, origin);
        self.fresh_with(preds, None)
    }

    pub(crate) fn fresh_row(&mut self, user: Option<UserVar>) -> Rest {
        let id = RowId(self.rows.len() as u32);
        self.rows.push(RowState::Open { level: self.level, user, rank: 0 });
        Rest::Meta(id)
    }

    pub(crate) fn fresh_size(&mut self, user: Option<UserVar>) -> Len {
        let id = SizeId(self.sizes.len() as u32);
        self.sizes.push(SizeState::Open { level: self.level, user, rank: 0 });
        Len::Meta(id)
    }

    /// The size of an array literal.
    pub(crate) fn soft_size(&mut self, len: u64) -> Len {
        let id = SizeId(self.sizes.len() as u32);
        self.sizes.push(SizeState::Soft { level: self.level, len, rank: 0 });
        Len::Meta(id)
    }

    /// The constant that a size is, as far as is known.
    pub(crate) fn constant_size(&self, len: Len) -> Option<u64> {
        match self.shallow_size(len) {
            Len::Const(len) => Some(len),
            Len::Meta(id) => match self.sizes.get(id.0 as usize) {
                Some(SizeState::Soft { len, .. }) => Some(*len),
                Some(SizeState::Open { .. } | SizeState::Bound(_)) | None => None,
            },
            Len::Rigid(_) | Len::Unknown => None,
        }
    }

    pub(crate) fn origin(&mut self, source: Source, span: Span) -> OriginId {
        self.origins.push(Origin { source, span });
        OriginId(self.origins.len() as u32 - 1)
    }

    pub(crate) fn origin_of(&self, id: OriginId) -> Origin {
        self.origins
            .get(id.0 as usize)
            .copied()
            .unwrap_or(Origin { source: Source::Literal, span: Span::NOWHERE })
    }

    /// Follows bindings at the root of a type.
    pub(crate) fn shallow(&self, ty: &Ty) -> Ty {
        let mut ty = ty.clone();
        loop {
            let next = match &ty {
                Ty::Meta(id) => match self.metas.get(id.0 as usize) {
                    Some(MetaState::Bound(bound)) => bound.clone(),
                    Some(MetaState::Open { .. }) | None => return ty,
                },
                Ty::Rigid(id) => match self.rigids.get(id.0 as usize).and_then(|r| r.replaced.as_ref()) {
                    Some(Arg::Type(bound)) => bound.clone(),
                    Some(Arg::Row(_) | Arg::Size(_)) | None => return ty,
                },
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
                | Ty::Error => return ty,
            };
            ty = next;
        }
    }

    /// Follows bindings from meta to meta. What was gone through is bound to the end: there may be as many metas as uses.
    pub(crate) fn end_of(&mut self, id: MetaId) -> MetaId {
        let next = |store: &Store<'_>, id: MetaId| match store.metas.get(id.0 as usize) {
            Some(MetaState::Bound(Ty::Meta(next))) => Some(*next),
            Some(MetaState::Bound(_) | MetaState::Open { .. }) | None => None,
        };
        let mut end = id;
        while let Some(further) = next(self, end) {
            end = further;
        }
        let mut here = id;
        while let Some(further) = next(self, here).filter(|_| here != end) {
            self.bind_meta(here, Ty::Meta(end));
            here = further;
        }
        end
    }

    /// Follows the bindings of a size.
    pub(crate) fn shallow_size(&self, len: Len) -> Len {
        let mut len = len;
        loop {
            let next = match len {
                Len::Meta(id) => match self.sizes.get(id.0 as usize) {
                    Some(SizeState::Bound(bound)) => *bound,
                    Some(SizeState::Open { .. } | SizeState::Soft { .. }) | None => return len,
                },
                Len::Rigid(id) => match self.rigids.get(id.0 as usize).and_then(|r| r.replaced.as_ref()) {
                    Some(Arg::Size(bound)) => *bound,
                    Some(Arg::Row(_) | Arg::Type(_)) | None => return len,
                },
                Len::Const(_) | Len::Unknown => return len,
            };
            len = next;
        }
    }

    /// All known fields of a row, and what remains.
    pub(crate) fn flat_row(&self, row: &RowTy) -> RowTy {
        let mut flat = row.clone();
        loop {
            let next = match flat.rest {
                Rest::Meta(id) => match self.rows.get(id.0 as usize) {
                    Some(RowState::Bound(bound)) => (**bound).clone(),
                    Some(RowState::Open { .. }) | None => return flat,
                },
                Rest::Rigid(id) => match self.rigids.get(id.0 as usize).and_then(|r| r.replaced.as_ref()) {
                    Some(Arg::Row(bound)) => bound.clone(),
                    Some(Arg::Size(_) | Arg::Type(_)) | None => return flat,
                },
                Rest::Closed | Rest::Error => return flat,
            };
            flat.rest = next.rest;
            for (name, ty) in next.fields {
                flat.fields.entry(name).or_insert(ty);
            }
        }
    }

    /// The predicates of an open meta.
    pub(crate) fn preds_of(&self, id: MetaId) -> Preds {
        match self.metas.get(id.0 as usize) {
            Some(MetaState::Open { preds, .. }) => *preds,
            Some(MetaState::Bound(_)) | None => Preds::default(),
        }
    }

    pub(crate) fn bind_meta(&mut self, id: MetaId, ty: Ty) {
        if let Some(state) = self.metas.get_mut(id.0 as usize) {
            *state = MetaState::Bound(ty);
        }
    }

    pub(crate) fn bind_row(&mut self, id: RowId, row: RowTy) {
        if let Some(state) = self.rows.get_mut(id.0 as usize) {
            *state = RowState::Bound(Rc::new(row));
        }
    }

    pub(crate) fn bind_size(&mut self, id: SizeId, len: Len) {
        if let Some(state) = self.sizes.get_mut(id.0 as usize) {
            *state = SizeState::Bound(len);
        }
    }

    /// Takes a step; false when the budget is spent.
    pub(crate) fn step(&mut self) -> bool {
        self.fuel = self.fuel.saturating_sub(1);
        self.fuel > 0
    }

    /// Takes a step into a part of a type that is being built, if that gets neither too deep nor too expensive; to be
    /// followed by [`Store::ascend`] in any case.
    pub(crate) fn descend(&mut self) -> bool {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            self.fuel = 0;
        }
        self.step()
    }

    /// Goes back to the surrounding type.
    pub(crate) fn ascend(&mut self) {
        self.depth -= 1;
    }
}

impl Ty {
    pub(crate) fn fun(from: Ty, to: Ty) -> Ty {
        Ty::Fun(Rc::new(from), Rc::new(to))
    }

    pub(crate) fn unit() -> Ty {
        Ty::Tuple(Rc::from([]))
    }

    pub(crate) fn array(len: Len, elem: Ty) -> Ty {
        Ty::Array(len, Rc::new(elem))
    }
}

/// What the parameters of a scheme of the core are instantiated with.
pub(crate) type Subst = rustc_hash::FxHashMap<Name, Arg>;

/// A type of the core with its variables replaced.
pub(crate) fn from_core(ty: &Type, subst: &Subst) -> Ty {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match ty {
        Type::Real => Ty::Real,
        Type::Int => Ty::Int,
        Type::Bool => Ty::Bool,
        Type::String => Ty::String,
        Type::Tuple(items) => Ty::Tuple(items.iter().map(|item| from_core(item, subst)).collect()),
        Type::Record(row) => Ty::Record(Rc::new(row_from_core(row, subst))),
        Type::Array(size, elem) => Ty::array(size_from_core(size, subst), from_core(elem, subst)),
        Type::Fun(from, to) => Ty::fun(from_core(from, subst), from_core(to, subst)),
        Type::Data(name, args) => Ty::Data(*name, args.iter().map(|arg| from_core(arg, subst)).collect()),
        Type::Dual(inner) => Ty::Dual(Rc::new(from_core(inner, subst))),
        Type::Var(name) => match subst.get(name) {
            Some(Arg::Type(ty)) => ty.clone(),
            Some(Arg::Row(_) | Arg::Size(_)) | None => Ty::Error,
        },
    })
}

fn row_from_core(row: &wengert_core::Row, subst: &Subst) -> RowTy {
    let mut fields: BTreeMap<Name, Ty> =
        row.fields.iter().map(|(name, ty)| (*name, from_core(ty, subst))).collect();
    let rest = match row.rest.map(|name| subst.get(&name)) {
        None => Rest::Closed,
        Some(Some(Arg::Row(more))) => {
            for (name, ty) in &more.fields {
                fields.entry(*name).or_insert_with(|| ty.clone());
            }
            more.rest
        }
        Some(Some(Arg::Type(_) | Arg::Size(_)) | None) => Rest::Error,
    };
    RowTy { fields, rest }
}

fn size_from_core(size: &wengert_core::Size, subst: &Subst) -> Len {
    match size {
        wengert_core::Size::Const(n) => Len::Const(*n),
        wengert_core::Size::Unknown => Len::Unknown,
        wengert_core::Size::Var(name) => match subst.get(name) {
            Some(Arg::Size(len)) => *len,
            Some(Arg::Row(_) | Arg::Type(_)) | None => Len::Unknown,
        },
    }
}
