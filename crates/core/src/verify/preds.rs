//! Which types satisfy a predicate.
//!
//! `Data` and `Smooth` look through data types, which may be recursive. [`facts`] summarizes each: which of its
//! parameters occur where they matter, and whether something else in it settles the question. The summaries are the
//! least fixed point over the constructors' fields, which also deals with `type Nest a = End | More a (Nest (a, a))`.
//!
//! A record with a row variable is not `Data`: the rest might hold a function.

use super::Verifier;
use crate::term::DataType;
use crate::types::{Pred, Type};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::Arc;
use wengert_base::Name;

/// What matters about a data type.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Facts {
    /// Its parameters by position, so that arguments can be matched up.
    params: Vec<Name>,
    /// For `Data`: whether it holds a function, and which parameters it holds outside of functions.
    function: Leaves,
    /// For `Smooth`: whether it holds a `Real`, and which parameters.
    real: Leaves,
}

/// What is found in a type.
#[derive(Clone, Debug, Default, PartialEq)]
struct Leaves {
    /// What is looked for.
    found: bool,
    /// Type variables; of a data type, its parameters.
    vars: BTreeSet<Name>,
}

/// The summaries of all data types.
pub(super) fn facts<'d>(types: impl Iterator<Item = &'d Arc<DataType>> + Clone) -> FxHashMap<Name, Facts> {
    let unknown = |data: &DataType| Facts { params: data.params.clone(), ..Facts::default() };
    let mut facts: FxHashMap<Name, Facts> = types.clone().map(|data| (data.name, unknown(data))).collect();
    loop {
        let mut changed = false;
        for data in types.clone() {
            let mut new = unknown(data);
            for field in data.ctors.iter().flat_map(|ctor| &ctor.fields) {
                note(&facts, Pred::Data, field, &mut new.function);
                note(&facts, Pred::Smooth, field, &mut new.real);
            }
            if facts.get(&data.name) != Some(&new) {
                changed = true;
                facts.insert(data.name, new);
            }
        }
        if !changed {
            return facts;
        }
    }
}

/// Adds what `pred` is about in `ty`: functions for `Data`, `Real`s for the others.
fn note(facts: &FxHashMap<Name, Facts>, pred: Pred, ty: &Type, leaves: &mut Leaves) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match ty {
        Type::Real => leaves.found |= pred == Pred::Smooth,
        Type::Int | Type::Bool | Type::String => {}
        Type::Fun(_, to) => match pred {
            Pred::Data | Pred::Tangent => leaves.found = true,
            Pred::Smooth | Pred::Num | Pred::Ord => note(facts, pred, to, leaves),
        },
        Type::Tuple(items) => items.iter().for_each(|item| note(facts, pred, item, leaves)),
        Type::Record(row) => {
            row.fields.values().for_each(|field| note(facts, pred, field, leaves));
            leaves.found |= row.rest.is_some() && matches!(pred, Pred::Data | Pred::Tangent);
        }
        Type::Array(_, inner) | Type::Dual(inner) => note(facts, pred, inner, leaves),
        Type::Var(name) => {
            leaves.vars.insert(*name);
        }
        Type::Data(name, args) => {
            let Some(known) = facts.get(name) else { return };
            let about_functions = matches!(pred, Pred::Data | Pred::Tangent);
            let own = if about_functions { &known.function } else { &known.real };
            leaves.found |= own.found;
            for (param, arg) in known.params.iter().zip(args) {
                if own.vars.contains(param) {
                    note(facts, pred, arg, leaves);
                }
            }
        }
    });
}

impl Verifier<'_, '_> {
    /// Whether `ty` satisfies `pred`, given the predicates on the type parameters in scope.
    pub(super) fn satisfies(&self, pred: Pred, ty: &Type) -> bool {
        match (pred, ty) {
            (_, Type::Var(name)) => self.param_has(pred, *name),
            (Pred::Num, _) => matches!(ty, Type::Int | Type::Real),
            (Pred::Ord, _) => matches!(ty, Type::Int | Type::Real | Type::String),
            (Pred::Data | Pred::Tangent, _) => {
                let leaves = self.leaves(pred, ty);
                !leaves.found && leaves.vars.iter().all(|name| self.param_has(pred, *name))
            }
            (Pred::Smooth, _) => {
                let leaves = self.leaves(pred, ty);
                leaves.found || leaves.vars.iter().any(|name| self.param_has(pred, *name))
            }
        }
    }

    /// What `pred` is about in `ty`.
    fn leaves(&self, pred: Pred, ty: &Type) -> Leaves {
        let mut leaves = Leaves::default();
        note(self.env.facts(), pred, ty, &mut leaves);
        leaves
    }

    /// Whether the type parameter has `pred`, itself or by another that implies it.
    fn param_has(&self, pred: Pred, name: Name) -> bool {
        let implying: &[Pred] = match pred {
            Pred::Num => &[Pred::Num],
            Pred::Ord => &[Pred::Ord, Pred::Num],
            Pred::Data | Pred::Tangent => &[Pred::Data, Pred::Tangent, Pred::Ord, Pred::Num],
            Pred::Smooth => &[Pred::Smooth],
        };
        self.params
            .iter()
            .any(|param| param.name == name && param.preds().iter().any(|has| implying.contains(has)))
    }
}
