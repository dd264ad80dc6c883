//! The four predicates. `Num` and `Ord` hold of a few base types. `Data` (first-order) asks all components.
//!
//! `Smooth` (holds a `Real`) is the one that needs only *some* component. If a component is known to hold one, it is
//! satisfied; if none can, it fails; if exactly one component is still open, that component must; otherwise the demand
//! is put off, and when the surrounding definition is generalized the first component that is still open gets it. That
//! choice is sound (it demands more than necessary, never less) and keeps predicates on single variables.
//!
//! `Data` of a record with an open rest is put off too; if the rest is still open at the end it is closed.

use crate::interface::{KnownTypes, TypeInfo};
use crate::ty::{Deferred, MetaState, OriginId, Rest, RigidKind, RowState, RowTy, Store, Ty};
use crate::unify::Clash;
use std::collections::BTreeMap;
use std::sync::Arc;
use wengert_base::Name;
use wengert_core::{DataType, Pred, Type};

/// What is known about a type holding a `Real`.
#[derive(Clone, Debug)]
pub(crate) enum Smoothness {
    Yes,
    /// If one of these does, or an open rest of a record gets a field that does.
    Open {
        vars: Vec<Ty>,
        rests: bool,
    },
}

impl Store<'_> {
    /// Demands that `ty` satisfies `pred`.
    pub(crate) fn require(&mut self, pred: Pred, ty: &Ty, origin: OriginId) -> Result<(), Clash> {
        if !self.step() {
            return Err(Clash::Exhausted);
        }
        let ty = self.shallow(ty);
        let fails = || Err(Clash::Pred { pred, ty: ty.clone(), origin });
        match &ty {
            Ty::Error => return Ok(()),
            Ty::Meta(id) => return self.require_of_meta(*id, pred, origin),
            Ty::Rigid(id) => {
                let has = match self.rigids.get(id.0 as usize).map(|rigid| rigid.kind) {
                    Some(RigidKind::Type(preds)) => preds.has(pred) || implied(pred, |p| preds.has(p)),
                    Some(RigidKind::Row | RigidKind::Size) | None => false,
                };
                return if has { Ok(()) } else { fails() };
            }
            Ty::Real
            | Ty::Int
            | Ty::Bool
            | Ty::String
            | Ty::Tuple(_)
            | Ty::Record(_)
            | Ty::Array(..)
            | Ty::Fun(..)
            | Ty::Data(..)
            | Ty::Dual(_) => {}
        }
        match pred {
            Pred::Num if matches!(ty, Ty::Int | Ty::Real) => Ok(()),
            Pred::Ord if matches!(ty, Ty::Int | Ty::Real | Ty::String) => Ok(()),
            Pred::Num | Pred::Ord => fails(),
            Pred::Data | Pred::Tangent => self.require_data(pred, &ty, origin),
            Pred::Smooth => self.require_smooth(&ty, origin),
        }
    }

    /// Demands `Data` or `Tangent`. In a type that already holds a `Real`, the other numbers are nobody's to choose: a
    /// literal beside it is an `Int` that is carried along.
    fn require_data(&mut self, pred: Pred, ty: &Ty, origin: OriginId) -> Result<(), Clash> {
        let holds_real = pred == Pred::Tangent && matches!(self.smoothness(ty), Smoothness::Yes);
        let pred = if holds_real { Pred::Data } else { pred };
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match ty {
            Ty::Real | Ty::Int | Ty::Bool | Ty::String | Ty::Error => Ok(()),
            Ty::Meta(_) | Ty::Rigid(_) => self.require(pred, ty, origin),
            Ty::Tuple(items) => items.iter().try_for_each(|item| self.require(pred, item, origin)),
            Ty::Array(_, inner) | Ty::Dual(inner) => self.require(pred, inner, origin),
            Ty::Fun(..) => Err(Clash::Pred { pred, ty: ty.clone(), origin }),
            Ty::Record(row) => {
                let flat = self.flat_row(row);
                if matches!(flat.rest, Rest::Meta(_)) {
                    self.deferred.push(Deferred { pred, ty: ty.clone(), origin });
                }
                flat.fields.values().try_for_each(|field| self.require(pred, field, origin))
            }
            Ty::Data(name, args) => {
                let Some(info) = self.types.get(name).cloned() else { return Ok(()) };
                if info.holds_function && !info.broken {
                    return Err(Clash::Pred { pred, ty: ty.clone(), origin });
                }
                let needed = args.iter().zip(&info.data_params).filter(|(_, needed)| **needed);
                needed.map(|(arg, _)| arg).try_for_each(|arg| self.require(pred, arg, origin))
            }
        })
    }

    fn require_smooth(&mut self, ty: &Ty, origin: OriginId) -> Result<(), Clash> {
        match self.smoothness(ty) {
            Smoothness::Yes => Ok(()),
            Smoothness::Open { vars, rests } => match (vars.as_slice(), rests) {
                ([], false) => Err(Clash::Pred { pred: Pred::Smooth, ty: ty.clone(), origin }),
                ([var], false) => self.require(Pred::Smooth, var, origin),
                _ => {
                    self.deferred.push(Deferred { pred: Pred::Smooth, ty: ty.clone(), origin });
                    Ok(())
                }
            },
        }
    }

    /// Whether the type holds a `Real`, or which open parts decide it.
    pub(crate) fn smoothness(&mut self, ty: &Ty) -> Smoothness {
        if !self.step() {
            return Smoothness::Yes;
        }
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let ty = self.shallow(ty);
            match &ty {
                Ty::Real | Ty::Error => Smoothness::Yes,
                Ty::Int | Ty::Bool | Ty::String => Smoothness::Open { vars: Vec::new(), rests: false },
                Ty::Meta(id) if self.preds_of(*id).has(Pred::Smooth) => Smoothness::Yes,
                Ty::Meta(_) => Smoothness::Open { vars: vec![ty], rests: false },
                Ty::Rigid(id) => match self.rigids.get(id.0 as usize).map(|rigid| rigid.kind) {
                    Some(RigidKind::Type(preds)) if preds.has(Pred::Smooth) => Smoothness::Yes,
                    Some(RigidKind::Type(_) | RigidKind::Row | RigidKind::Size) | None => {
                        Smoothness::Open { vars: Vec::new(), rests: false }
                    }
                },
                Ty::Fun(_, inner) | Ty::Array(_, inner) | Ty::Dual(inner) => self.smoothness(inner),
                Ty::Tuple(items) => self.any_smooth(items.iter(), false),
                Ty::Record(row) => {
                    let flat = self.flat_row(row);
                    self.any_smooth(flat.fields.values(), matches!(flat.rest, Rest::Meta(_)))
                }
                Ty::Data(name, args) => match self.types.get(name).cloned() {
                    Some(info) if !info.holds_real && !info.broken => {
                        let relevant =
                            args.iter().zip(&info.smooth_params).filter(|(_, relevant)| **relevant);
                        self.any_smooth(relevant.map(|(arg, _)| arg), false)
                    }
                    Some(_) | None => Smoothness::Yes,
                },
            }
        })
    }

    fn any_smooth<'t>(&mut self, parts: impl Iterator<Item = &'t Ty>, rest: bool) -> Smoothness {
        let mut all = Vec::new();
        let mut any_rest = rest;
        for part in parts {
            match self.smoothness(part) {
                Smoothness::Yes => return Smoothness::Yes,
                Smoothness::Open { vars, rests } => {
                    all.extend(vars);
                    any_rest |= rests;
                }
            }
        }
        Smoothness::Open { vars: all, rests: any_rest }
    }

    /// Decides the demands that were put off, as far as they concern metas above the current level.
    pub(crate) fn settle_deferred(&mut self) -> Vec<Clash> {
        let mut clashes = Vec::new();
        let mut keep = Vec::new();
        let mut work = std::mem::take(&mut self.deferred);
        // Settling one demand may put off others (a record inside a record), never the same one again.
        while let Some(Deferred { pred, ty, origin }) = work.pop() {
            let outcome = match pred {
                Pred::Data | Pred::Tangent => self.settle_data(pred, &ty, origin),
                Pred::Smooth => self.settle_smooth(&ty, origin),
                Pred::Num | Pred::Ord => self.require(pred, &ty, origin).map(|()| true),
            };
            match outcome {
                Ok(true) => {}
                Ok(false) => keep.push(Deferred { pred, ty, origin }),
                Err(clash) => clashes.push(clash),
            }
            work.append(&mut self.deferred);
        }
        self.deferred = keep;
        clashes
    }

    /// True when decided.
    fn settle_data(&mut self, pred: Pred, ty: &Ty, origin: OriginId) -> Result<bool, Clash> {
        let Ty::Record(row) = self.shallow(ty) else {
            return self.require(pred, ty, origin).map(|()| true);
        };
        let flat = self.flat_row(&row);
        let Rest::Meta(id) = flat.rest else { return self.require(pred, ty, origin).map(|()| true) };
        match self.rows.get(id.0 as usize) {
            Some(RowState::Open { level, .. }) if *level > self.level => {
                self.bind_row(id, RowTy { fields: BTreeMap::new(), rest: Rest::Closed });
                self.require(pred, ty, origin).map(|()| true)
            }
            Some(RowState::Open { .. } | RowState::Bound(_)) | None => Ok(false),
        }
    }

    /// True when decided.
    fn settle_smooth(&mut self, ty: &Ty, origin: OriginId) -> Result<bool, Clash> {
        let Smoothness::Open { vars, rests } = self.smoothness(ty) else { return Ok(true) };
        let own = vars.iter().find(|var| self.is_above_level(var));
        match own {
            Some(var) => self.require(Pred::Smooth, &var.clone(), origin).map(|()| true),
            None if vars.is_empty() && (!rests || self.level == 0) => {
                Err(Clash::Pred { pred: Pred::Smooth, ty: ty.clone(), origin })
            }
            None => Ok(false),
        }
    }

    fn is_above_level(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Meta(id) => {
                matches!(self.metas.get(id.0 as usize), Some(MetaState::Open { level, .. }) if *level > self.level)
            }
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
            | Ty::Rigid(_)
            | Ty::Error => false,
        }
    }
}

/// Whether other predicates imply `pred`.
fn implied(pred: Pred, has: impl Fn(Pred) -> bool) -> bool {
    match pred {
        Pred::Num | Pred::Smooth => false,
        Pred::Ord => has(Pred::Num),
        Pred::Data | Pred::Tangent => {
            has(Pred::Num) || has(Pred::Ord) || has(Pred::Data) || has(Pred::Tangent)
        }
    }
}

/// What the predicates need to know about a group of declared types, which may refer to each other: the least
/// solution of "holds a function", "holds a `Real`" and "depends on this parameter" over the fields of constructors.
pub(crate) fn summarize(declared: &[(Arc<DataType>, bool)], known: &mut KnownTypes) {
    for (data, broken) in declared {
        let none = vec![false; data.params.len()];
        let info = TypeInfo {
            data: Arc::clone(data),
            holds_function: false,
            data_params: none.clone(),
            holds_real: false,
            smooth_params: none,
            broken: *broken,
        };
        known.insert(data.name, Arc::new(info));
    }
    loop {
        let mut changed = false;
        for (data, _) in declared {
            let Some(old) = known.get(&data.name).cloned() else { continue };
            let mut new = (*old).clone();
            for field in data.ctors.iter().flat_map(|ctor| &ctor.fields) {
                note_data(field, data, known, &mut new);
                note_smooth(field, data, known, &mut new);
            }
            if new != *old {
                changed = true;
                known.insert(data.name, Arc::new(new));
            }
        }
        if !changed {
            return;
        }
    }
}

fn note_data(ty: &Type, data: &DataType, known: &KnownTypes, into: &mut TypeInfo) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match ty {
        Type::Real | Type::Int | Type::Bool | Type::String => {}
        Type::Fun(..) => into.holds_function = true,
        Type::Tuple(items) => items.iter().for_each(|item| note_data(item, data, known, into)),
        Type::Record(row) => row.fields.values().for_each(|item| note_data(item, data, known, into)),
        Type::Array(_, inner) | Type::Dual(inner) => note_data(inner, data, known, into),
        Type::Var(name) => mark(*name, data, &mut into.data_params),
        Type::Data(name, args) => {
            let Some(info) = known.get(name).cloned() else { return };
            into.holds_function |= info.holds_function;
            let needed = args.iter().zip(&info.data_params).filter(|(_, needed)| **needed);
            needed.for_each(|(arg, _)| note_data(arg, data, known, into));
        }
    });
}

fn note_smooth(ty: &Type, data: &DataType, known: &KnownTypes, into: &mut TypeInfo) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match ty {
        Type::Real => into.holds_real = true,
        Type::Int | Type::Bool | Type::String => {}
        Type::Tuple(items) => items.iter().for_each(|item| note_smooth(item, data, known, into)),
        Type::Record(row) => row.fields.values().for_each(|item| note_smooth(item, data, known, into)),
        Type::Fun(_, inner) | Type::Array(_, inner) | Type::Dual(inner) => {
            note_smooth(inner, data, known, into)
        }
        Type::Var(name) => mark(*name, data, &mut into.smooth_params),
        Type::Data(name, args) => {
            let Some(info) = known.get(name).cloned() else { return };
            into.holds_real |= info.holds_real;
            let relevant = args.iter().zip(&info.smooth_params).filter(|(_, relevant)| **relevant);
            relevant.for_each(|(arg, _)| note_smooth(arg, data, known, into));
        }
    });
}

fn mark(name: Name, data: &DataType, params: &mut [bool]) {
    if let Some(slot) = data.params.iter().position(|param| *param == name).and_then(|i| params.get_mut(i)) {
        *slot = true;
    }
}
