//! Generalization: what is still open in the types of a group, and belongs to the group alone, becomes parameters of
//! its scheme. All members of a group share the parameters.
//!
//! A size that occurs only in results (`[n]Real` nowhere measured by an argument) is not a parameter that a caller may
//! choose, but a size nobody knows.
//!
//! `specialize` undoes needless generality: if all uses of a local definition instantiate a parameter alike, the
//! parameter is replaced by that. A polymorphic number `let a = 2` would otherwise be evaluated once for each use, and
//! a chain of such definitions exponentially often.

use super::Infer;
use crate::errors::types;
use crate::show::Shower;
use crate::ty::{
    Arg, Len, MAX_DEPTH, MetaId, MetaState, Preds, Rest, Rigid, RigidId, RigidKind, RowId, RowState, RowTy,
    SizeId, SizeState, Store, Ty, UserVar,
};
use crate::typed::GroupId;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use std::rc::Rc;

/// How many nodes the types of a group may have.
const MAX_NODES: usize = 10_000;

/// Open metas of types in the order in which they appear.
#[derive(Default)]
struct Open {
    items: Vec<Item>,
    seen_metas: FxHashSet<MetaId>,
    seen_rows: FxHashSet<RowId>,
    seen_sizes: FxHashSet<SizeId>,
    /// Sizes that an argument measures.
    measured: FxHashSet<SizeId>,
    nodes: usize,
    depth: u32,
}

#[derive(Clone, Copy)]
enum Item {
    Type(MetaId),
    Row(RowId),
    Size(SizeId),
}

impl Infer<'_> {
    /// Makes parameters of what is open above the current level.
    pub(crate) fn generalize(&mut self, group: GroupId, all: &[Ty]) {
        for clash in self.store.settle_deferred() {
            self.explain_late(&clash);
        }
        let mut open = Open::default();
        all.iter().for_each(|ty| collect(&self.store, ty, true, &mut open));
        if open.nodes > MAX_NODES || self.store.fuel == 0 {
            self.report_exhausted();
            return;
        }
        let mut params = Vec::new();
        for item in open.items {
            let id = RigidId(self.store.rigids.len() as u32);
            if let Some(rigid) = self.quantify(item, id, &open.measured) {
                self.store.rigids.push(rigid);
                params.push(id);
            }
        }
        if let Some(group) = self.groups.get_mut(group.0 as usize) {
            group.params = params.into();
        }
    }

    fn quantify(&mut self, item: Item, id: RigidId, measured: &FxHashSet<SizeId>) -> Option<Rigid> {
        let outer = self.store.level;
        let rigid = |kind, user: Option<UserVar>| Some(Rigid { kind, user, replaced: None, name: None });
        match item {
            Item::Type(meta) => match self.store.metas.get(meta.0 as usize).cloned() {
                Some(MetaState::Open { level, preds, user, .. }) if level > outer => {
                    self.store.bind_meta(meta, Ty::Rigid(id));
                    rigid(RigidKind::Type(preds), user)
                }
                Some(MetaState::Open { .. } | MetaState::Bound(_)) | None => None,
            },
            Item::Row(row) => match self.store.rows.get(row.0 as usize).cloned() {
                Some(RowState::Open { level, user, .. }) if level > outer => {
                    self.store.bind_row(row, RowTy { fields: BTreeMap::new(), rest: Rest::Rigid(id) });
                    rigid(RigidKind::Row, user)
                }
                Some(RowState::Open { .. } | RowState::Bound(_)) | None => None,
            },
            Item::Size(size) => match self.store.sizes.get(size.0 as usize).copied() {
                Some(SizeState::Open { level, user, .. }) if level > outer => {
                    if !measured.contains(&size) {
                        self.store.bind_size(size, Len::Unknown);
                        return None;
                    }
                    self.store.bind_size(size, Len::Rigid(id));
                    rigid(RigidKind::Size, user)
                }
                Some(SizeState::Soft { level, len, .. }) if level > outer => {
                    self.store.bind_size(size, Len::Const(len));
                    None
                }
                Some(SizeState::Open { .. } | SizeState::Soft { .. } | SizeState::Bound(_)) | None => None,
            },
        }
    }

    /// Says, once, that types have become too large.
    pub(crate) fn report_exhausted(&mut self) {
        self.failed = true;
        let span = self.current_span;
        self.report(types::inference_too_large(span));
        self.exhausted = true;
    }

    /// Gives the parameters of the definitions' group names for the core: those of the user where possible.
    pub(crate) fn name_parameters(&mut self) {
        let top = self.group_params(self.own_group);
        let mut namer = Shower::new(&self.store);
        let mut names = Vec::with_capacity(self.store.rigids.len());
        for id in top.iter() {
            names.push((*id, namer.name_rigid(*id)));
        }
        for index in 0..self.store.rigids.len() as u32 {
            let id = RigidId(index);
            if !top.contains(&id)
                && self.store.rigids.get(index as usize).is_some_and(|r| r.replaced.is_none())
            {
                names.push((id, namer.name_rigid(id)));
            }
        }
        for (id, name) in names {
            if let Some(rigid) = self.store.rigids.get_mut(id.0 as usize) {
                rigid.name = Some(name);
            }
        }
    }

    /// Decides the metas that nothing decides: a number is an `Int`, something smooth a `Real`, anything else `()`.
    pub(crate) fn default_open_metas(&mut self) {
        for index in 0..self.store.metas.len() as u32 {
            let id = MetaId(index);
            if let Some(MetaState::Open { preds, .. }) = self.store.metas.get(index as usize) {
                let ty = default_type(preds);
                self.store.bind_meta(id, ty);
            }
        }
        for index in 0..self.store.rows.len() as u32 {
            if matches!(self.store.rows.get(index as usize), Some(RowState::Open { .. })) {
                self.store.bind_row(RowId(index), RowTy { fields: BTreeMap::new(), rest: Rest::Closed });
            }
        }
        for index in 0..self.store.sizes.len() as u32 {
            let decided = match self.store.sizes.get(index as usize) {
                Some(SizeState::Open { .. }) => Len::Unknown,
                Some(SizeState::Soft { len, .. }) => Len::Const(*len),
                Some(SizeState::Bound(_)) | None => continue,
            };
            self.store.bind_size(SizeId(index), decided);
        }
    }

    /// Decides open numbers and ordered types.
    pub(crate) fn default_numbers(&mut self) {
        for clash in self.store.settle_deferred() {
            self.explain_late(&clash);
        }
        for index in 0..self.store.metas.len() as u32 {
            if let Some(MetaState::Open { preds, .. }) = self.store.metas.get(index as usize)
                && preds.iter().next().is_some()
            {
                let ty = default_type(preds);
                self.store.bind_meta(MetaId(index), ty);
            }
        }
    }

    /// Replaces parameters of local definitions that all uses instantiate alike.
    pub(crate) fn specialize(&mut self) {
        let ended = std::mem::take(&mut self.ended);
        for group in ended {
            let Some(found) = self.groups.get(group.0 as usize).cloned() else { continue };
            for (index, id) in found.params.iter().enumerate() {
                let args: Vec<&Arg> = found.uses.iter().filter_map(|args| args.get(index)).collect();
                let choice = match args.split_first() {
                    None => Some(self.default_arg(*id)),
                    Some((first, others)) => {
                        let alike = others.iter().all(|other| self.same_arg(first, other));
                        (alike && self.in_scope_at(first, group)).then(|| (*first).clone())
                    }
                };
                if let (Some(choice), Some(rigid)) = (choice, self.store.rigids.get_mut(id.0 as usize)) {
                    rigid.replaced = Some(choice);
                }
            }
            let kept: Rc<[RigidId]> = found
                .params
                .iter()
                .copied()
                .filter(|id| {
                    self.store.rigids.get(id.0 as usize).is_some_and(|rigid| rigid.replaced.is_none())
                })
                .collect();
            if let Some(state) = self.groups.get_mut(group.0 as usize) {
                state.kept = Some(kept);
            }
        }
    }

    fn default_arg(&self, id: RigidId) -> Arg {
        match self.store.rigids.get(id.0 as usize).map(|rigid| rigid.kind) {
            Some(RigidKind::Type(preds)) => Arg::Type(default_type(&preds)),
            Some(RigidKind::Row) => Arg::Row(RowTy { fields: BTreeMap::new(), rest: Rest::Closed }),
            Some(RigidKind::Size) | None => Arg::Size(Len::Unknown),
        }
    }

    fn same_arg(&mut self, a: &Arg, b: &Arg) -> bool {
        match (a, b) {
            (Arg::Type(x), Arg::Type(y)) => self.store.same(x, y),
            (Arg::Row(x), Arg::Row(y)) => {
                self.store.same(&Ty::Record(Rc::new(x.clone())), &Ty::Record(Rc::new(y.clone())))
            }
            (Arg::Size(x), Arg::Size(y)) => self.store.shallow_size(*x) == self.store.shallow_size(*y),
            (Arg::Type(_) | Arg::Row(_) | Arg::Size(_), _) => false,
        }
    }

    /// Whether every rigid parameter in `arg` is in scope where `group` is defined.
    fn in_scope_at(&self, arg: &Arg, group: GroupId) -> bool {
        let ty = match arg {
            Arg::Type(ty) => ty.clone(),
            Arg::Row(row) => Ty::Record(Rc::new(row.clone())),
            Arg::Size(len) => Ty::array(*len, Ty::Real),
        };
        let mut rigids = Vec::new();
        if !collect_rigids(&self.store, &ty, &mut rigids, &mut 0) {
            return false;
        }
        let mut around = Vec::new();
        let mut next = self.groups.get(group.0 as usize).and_then(|g| g.parent);
        while let Some(id) = next {
            let Some(found) = self.groups.get(id.0 as usize) else { break };
            around.extend(found.params.iter().copied());
            next = found.parent;
        }
        rigids.iter().all(|id| around.contains(id))
    }
}

fn default_type(preds: &Preds) -> Ty {
    use wengert_core::Pred;
    let number = preds.has(Pred::Num) || preds.has(Pred::Ord);
    if preds.has(Pred::Smooth) || (number && preds.has(Pred::Tangent)) {
        Ty::Real
    } else if number {
        Ty::Int
    } else {
        Ty::unit()
    }
}

/// Notes the open metas of a type; `positive` says whether it is a result.
fn collect(store: &Store<'_>, ty: &Ty, positive: bool, open: &mut Open) {
    open.nodes += 1;
    open.depth += 1;
    if open.depth > MAX_DEPTH {
        open.nodes = MAX_NODES + 1;
    }
    if open.nodes <= MAX_NODES {
        collect_parts(store, ty, positive, open);
    }
    open.depth -= 1;
}

fn collect_parts(store: &Store<'_>, ty: &Ty, positive: bool, open: &mut Open) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match store.shallow(ty) {
        Ty::Real | Ty::Int | Ty::Bool | Ty::String | Ty::Rigid(_) | Ty::Error => {}
        Ty::Meta(id) => {
            if open.seen_metas.insert(id) {
                open.items.push(Item::Type(id));
            }
        }
        Ty::Tuple(items) | Ty::Data(_, items) => {
            items.iter().for_each(|item| collect(store, item, positive, open));
        }
        Ty::Fun(from, to) => {
            collect(store, &from, !positive, open);
            collect(store, &to, positive, open);
        }
        Ty::Dual(inner) => collect(store, &inner, positive, open),
        Ty::Array(len, elem) => {
            if let Len::Meta(id) = store.shallow_size(len) {
                if !positive {
                    open.measured.insert(id);
                }
                if open.seen_sizes.insert(id) {
                    open.items.push(Item::Size(id));
                }
            }
            collect(store, &elem, positive, open);
        }
        Ty::Record(row) => {
            let flat = store.flat_row(&row);
            flat.fields.values().for_each(|field| collect(store, field, positive, open));
            if let Rest::Meta(id) = flat.rest
                && open.seen_rows.insert(id)
            {
                open.items.push(Item::Row(id));
            }
        }
    });
}

/// Notes the rigid parameters of a type; false if it is too large to tell.
fn collect_rigids(store: &Store<'_>, ty: &Ty, into: &mut Vec<RigidId>, nodes: &mut usize) -> bool {
    *nodes += 1;
    if *nodes > MAX_NODES {
        return false;
    }
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match store.shallow(ty) {
        Ty::Real | Ty::Int | Ty::Bool | Ty::String | Ty::Error | Ty::Meta(_) => true,
        Ty::Rigid(id) => {
            into.push(id);
            true
        }
        Ty::Tuple(items) | Ty::Data(_, items) => {
            items.iter().all(|item| collect_rigids(store, item, into, nodes))
        }
        Ty::Fun(from, to) => {
            collect_rigids(store, &from, into, nodes) && collect_rigids(store, &to, into, nodes)
        }
        Ty::Dual(inner) => collect_rigids(store, &inner, into, nodes),
        Ty::Array(len, elem) => {
            if let Len::Rigid(id) = store.shallow_size(len) {
                into.push(id);
            }
            collect_rigids(store, &elem, into, nodes)
        }
        Ty::Record(row) => {
            let flat = store.flat_row(&row);
            if let Rest::Rigid(id) = flat.rest {
                into.push(id);
            }
            flat.fields.values().all(|field| collect_rigids(store, field, into, nodes))
        }
    })
}

impl Store<'_> {
    /// Whether two types are equal, without binding anything.
    pub(crate) fn same(&mut self, a: &Ty, b: &Ty) -> bool {
        if !self.step() {
            return false;
        }
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match (self.shallow(a), self.shallow(b)) {
            (Ty::Real, Ty::Real) | (Ty::Int, Ty::Int) | (Ty::Bool, Ty::Bool) | (Ty::String, Ty::String) => {
                true
            }
            (Ty::Meta(x), Ty::Meta(y)) => x == y,
            (Ty::Rigid(x), Ty::Rigid(y)) => x == y,
            (Ty::Tuple(xs), Ty::Tuple(ys)) => self.all_same(&xs, &ys),
            (Ty::Data(x, xs), Ty::Data(y, ys)) => x == y && self.all_same(&xs, &ys),
            (Ty::Fun(x, y), Ty::Fun(u, v)) => self.same(&x, &u) && self.same(&y, &v),
            (Ty::Dual(x), Ty::Dual(y)) => self.same(&x, &y),
            (Ty::Array(n, x), Ty::Array(m, y)) => {
                self.shallow_size(n) == self.shallow_size(m) && self.same(&x, &y)
            }
            (Ty::Record(x), Ty::Record(y)) => {
                let (x, y) = (self.flat_row(&x), self.flat_row(&y));
                x.rest == y.rest
                    && x.fields.keys().eq(y.fields.keys())
                    && x.fields.values().zip(y.fields.values()).all(|(a, b)| self.same(a, b))
            }
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
                | Ty::Meta(_)
                | Ty::Rigid(_)
                | Ty::Error,
                _,
            ) => false,
        })
    }

    fn all_same(&mut self, xs: &[Ty], ys: &[Ty]) -> bool {
        xs.len() == ys.len() && xs.iter().zip(ys).all(|(x, y)| self.same(x, y))
    }
}
