//! Perturbing values, and taking perturbations off again.
//!
//! Every derivative operator lifts its input under a fresh tag, runs the function, and takes the result apart. Both reach
//! through all data, and through what functions have captured:
//!
//! * *lifting* pairs reals with tangents or gives them slots on a tape, and makes functions [`Fun::Forward`], which
//!   perturb the results when they are applied;
//! * *stripping* removes a tag;
//! * *renaming* gives a function a private copy of its perturbations. The tangent of a function is that function with the
//!   tag as a bound name ([`Fun::TangentOf`]); each call renames the tag, because the argument may contain the old one;
//! * *transferring* moves slots from one tape to another, which is how checkpoints and linear maps remember values
//!   without referring to the tape they are on.
//!
//! Tags decide how reals are nested: the largest is outermost. Bound tags are the exception: those of *formal* slots (bound
//! by a tape's node or a linear map) and, after a transfer, those bound by a [`Fun::TangentOf`] stay outermost; they are
//! replaced by fresh ones when the binder is used, and only then is arithmetic done.

mod slots;

use crate::arith::{self, is_exact_zero, with_tangent};
use crate::derivative::dual::as_function;
use crate::errors;
use crate::step::{Context, Failure};
use crate::tape::Tape;
use crate::value::{Active, Fields, Fun, Perturbation, Tag, Value};
use crate::walk::{self, FunAction, Mapper, Wrapper, Zipper};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use wengert_prim::RealOp;

pub(crate) use slots::{
    add_linear, end_linear, linear_input, linear_tangent, reverse_input, slots_on, transfer, with_tangents,
};

/// How values are perturbed under a tag.
#[derive(Clone)]
pub(crate) enum Mode {
    /// Forward.
    Forward,
    /// Reverse, on this tape.
    Reverse(Rc<Tape>),
    /// Taylor, up to this order.
    Series(usize),
}

/// A real that is perturbed.
pub(crate) fn active(tag: Tag, primal: Value, perturbation: Perturbation) -> Value {
    Value::Active(Rc::new(Active::new(tag, primal, perturbation)))
}

/// A real on a tape.
pub(crate) fn on_tape(tape: &Rc<Tape>, primal: Value, slot: u32) -> Value {
    active(tape.tag(), primal, Perturbation::Reverse { tape: Rc::clone(tape), slot })
}

/// Whether the real's outermost perturbation is a placeholder.
fn is_formal(active: &Active) -> bool {
    matches!(&active.perturbation, Perturbation::Reverse { tape, .. } if tape.is_formal())
}

/// The same perturbation around mapped parts; `None` if nothing changed. Slots stay.
fn map_parts(
    active: &Active,
    change: &mut dyn FnMut(&Value) -> Result<Option<Value>, Failure>,
) -> Result<Option<Value>, Failure> {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let primal = change(&active.primal)?;
        let same = || active.primal.clone();
        match &active.perturbation {
            Perturbation::Forward(tangent) => {
                let changed = change(tangent)?;
                if primal.is_none() && changed.is_none() {
                    return Ok(None);
                }
                let tangent = changed.unwrap_or_else(|| tangent.clone());
                Ok(Some(with_tangent(active.tag, primal.unwrap_or_else(same), Some(tangent))))
            }
            Perturbation::Reverse { tape, slot } => Ok(primal.map(|primal| {
                let perturbation = Perturbation::Reverse { tape: Rc::clone(tape), slot: *slot };
                self::active(active.tag, primal, perturbation)
            })),
            Perturbation::Series(coefs) => {
                let changed: Vec<Option<Value>> =
                    coefs.as_slice().iter().map(&mut *change).collect::<Result<_, _>>()?;
                if primal.is_none() && changed.iter().all(Option::is_none) {
                    return Ok(None);
                }
                let coefs = coefs.as_slice().iter().zip(changed);
                let coefs: Fields = coefs.map(|(old, new)| new.unwrap_or_else(|| old.clone())).collect();
                let perturbation = Perturbation::Series(Rc::new(coefs));
                Ok(Some(self::active(active.tag, primal.unwrap_or_else(same), perturbation)))
            }
        }
    })
}

// Stripping.

struct Strip {
    tag: Tag,
}

impl Strip {
    fn tower(&self, value: &Value) -> Result<Option<Value>, Failure> {
        let Value::Active(active) = value else { return Ok(None) };
        if active.tag == self.tag {
            return Ok(Some(active.primal.clone()));
        }
        map_parts(active, &mut |part| self.tower(part))
    }
}

impl Mapper for Strip {
    const SHARES: bool = true;
    const LOOKS_AT_PLAIN: bool = false;

    fn real(&mut self, value: &Value) -> Result<Option<Value>, Failure> {
        self.tower(value)
    }

    fn function(&mut self, fun: &Rc<Fun>) -> Result<FunAction, Failure> {
        Ok(match &**fun {
            Fun::Forward { tag, .. } if *tag == self.tag => FunAction::Primal(Wrapper::None),
            Fun::Reverse { tape, .. } if tape.tag() == self.tag => FunAction::Primal(Wrapper::None),
            Fun::TangentOf { tag, .. } if *tag == self.tag => FunAction::Keep,
            Fun::Closure { .. }
            | Fun::Partial { .. }
            | Fun::Forward { .. }
            | Fun::Reverse { .. }
            | Fun::TangentOf { .. }
            | Fun::Linear { .. } => FunAction::Descend,
        })
    }
}

/// The value without `tag`, also in what its functions have captured.
///
/// Slots on tapes with a larger tag stay as they are, although what is recorded there may depend on `tag`. That happens
/// only where the result is multiplied by a perturbation under `tag` ([`Fun::Forward`] and [`Fun::Reverse`]
/// applied to something), where a further such perturbation does not count.
pub(crate) fn strip(tag: Tag, value: &Value) -> Value {
    if let Value::Real(_) | Value::Int(_) | Value::Bool(_) = value {
        return value.clone();
    }
    // Stripping cannot fail.
    walk::map(value, &mut Strip { tag }).unwrap_or_else(|_| value.clone())
}

struct StripAll {
    bound: FxHashSet<Tag>,
}

impl StripAll {
    fn tower(&self, value: &Value) -> Result<Option<Value>, Failure> {
        let Value::Active(active) = value else { return Ok(None) };
        if is_formal(active) || self.bound.contains(&active.tag) {
            return map_parts(active, &mut |part| self.tower(part));
        }
        Ok(Some(self.tower(&active.primal)?.unwrap_or_else(|| active.primal.clone())))
    }
}

impl Mapper for StripAll {
    const SHARES: bool = true;
    const LOOKS_AT_PLAIN: bool = false;

    fn real(&mut self, value: &Value) -> Result<Option<Value>, Failure> {
        self.tower(value)
    }

    fn function(&mut self, fun: &Rc<Fun>) -> Result<FunAction, Failure> {
        Ok(match &**fun {
            Fun::Forward { tag, .. } if !self.bound.contains(tag) => FunAction::Primal(Wrapper::None),
            Fun::Reverse { tape, .. } if !tape.is_formal() => FunAction::Primal(Wrapper::None),
            Fun::Closure { .. }
            | Fun::Partial { .. }
            | Fun::Forward { .. }
            | Fun::Reverse { .. }
            | Fun::TangentOf { .. }
            | Fun::Linear { .. } => FunAction::Descend,
        })
    }
}

/// The value as a constant: without any perturbation from outside.
pub(crate) fn strip_all(value: &Value) -> Value {
    if let Value::Real(_) | Value::Int(_) | Value::Bool(_) = value {
        return value.clone();
    }
    let bound = Tags::of(value).bound;
    // Stripping cannot fail.
    walk::map(value, &mut StripAll { bound }).unwrap_or_else(|_| value.clone())
}

// Looking for tags.

/// The tags in a value.
#[derive(Default)]
struct Tags {
    found: FxHashMap<Tag, Mode>,
    /// Those that are bound by a [`Fun::TangentOf`].
    bound: FxHashSet<Tag>,
}

impl Tags {
    fn of(value: &Value) -> Tags {
        let mut tags = Tags::default();
        // Looking cannot fail.
        let _ = walk::map(value, &mut tags);
        tags
    }

    fn tower(&mut self, value: &Value) -> Result<Option<Value>, Failure> {
        let Value::Active(active) = value else { return Ok(None) };
        match &active.perturbation {
            Perturbation::Forward(_) => {
                self.found.insert(active.tag, Mode::Forward);
            }
            Perturbation::Reverse { tape, .. } if tape.is_formal() => {}
            Perturbation::Reverse { tape, .. } => {
                self.found.entry(active.tag).or_insert_with(|| Mode::Reverse(Rc::clone(tape)));
            }
            Perturbation::Series(coefs) => {
                let order = coefs.len();
                let mode = self.found.entry(active.tag).or_insert(Mode::Series(order));
                if let Mode::Series(least) = mode {
                    *least = order.min(*least);
                }
            }
        }
        map_parts(active, &mut |part| self.tower(part))
    }
}

impl Mapper for Tags {
    const SHARES: bool = true;
    const LOOKS_AT_PLAIN: bool = false;

    fn real(&mut self, value: &Value) -> Result<Option<Value>, Failure> {
        self.tower(value)
    }

    fn function(&mut self, fun: &Rc<Fun>) -> Result<FunAction, Failure> {
        match &**fun {
            Fun::Forward { tag, .. } => {
                self.found.insert(*tag, Mode::Forward);
            }
            Fun::Reverse { tape, .. } if !tape.is_formal() => {
                self.found.insert(tape.tag(), Mode::Reverse(Rc::clone(tape)));
            }
            Fun::TangentOf { tag, .. } => {
                self.bound.insert(*tag);
            }
            Fun::Closure { .. } | Fun::Partial { .. } | Fun::Reverse { .. } | Fun::Linear { .. } => {}
        }
        Ok(FunAction::Descend)
    }
}

/// The largest tag in a value, also in what its functions have captured, and how it is perturbed under it.
pub(crate) fn largest_tag(value: &Value) -> Option<(Tag, Mode)> {
    if let Value::Real(_) | Value::Int(_) | Value::Bool(_) | Value::String(_) = value {
        return None;
    }
    let Tags { found, bound } = Tags::of(value);
    found.into_iter().filter(|(tag, _)| !bound.contains(tag)).max_by_key(|(tag, _)| *tag)
}

/// The tags in a value that are larger than `than`, smallest first.
pub(crate) fn tags_above(than: Tag, value: &Value) -> Vec<(Tag, Mode)> {
    let Tags { found, bound } = Tags::of(value);
    let mut tags: Vec<(Tag, Mode)> =
        found.into_iter().filter(|(tag, _)| *tag > than && !bound.contains(tag)).collect();
    tags.sort_by_key(|(tag, _)| *tag);
    tags
}

// Forward mode.

/// The parts of a real without `tag` and of order one in it. Tapes with a larger tag must not depend on it.
pub(crate) fn split_real(tag: Tag, value: &Value) -> Result<(Value, Option<Value>), Failure> {
    let Value::Active(active) = value else { return Ok((value.clone(), None)) };
    if active.tag < tag && matches!(active.perturbation, Perturbation::Reverse { .. }) {
        return Ok((value.clone(), None));
    }
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        if active.tag == tag {
            return match &active.perturbation {
                Perturbation::Forward(tangent) => Ok((active.primal.clone(), Some(tangent.clone()))),
                Perturbation::Reverse { .. } | Perturbation::Series(_) => {
                    Err(errors::internal("a forward tag in another mode"))
                }
            };
        }
        let (primal, primal_dot) = split_real(tag, &active.primal)?;
        match &active.perturbation {
            Perturbation::Forward(tangent) => {
                let (tangent, tangent_dot) = split_real(tag, tangent)?;
                let order_one = match (primal_dot, tangent_dot) {
                    (None, None) => None,
                    (primal, tangent) => {
                        Some(with_tangent(active.tag, primal.unwrap_or(Value::Real(0.0)), tangent))
                    }
                };
                Ok((with_tangent(active.tag, primal, Some(tangent)), order_one))
            }
            Perturbation::Reverse { tape, slot } => {
                if tape.mentions(tag) {
                    return Err(errors::internal(
                        "a function's tangent depends on a tape that is being recorded",
                    ));
                }
                Ok((on_tape(tape, primal, *slot), primal_dot))
            }
            Perturbation::Series(coefs) => {
                let parts: Vec<(Value, Option<Value>)> =
                    coefs.as_slice().iter().map(|coef| split_real(tag, coef)).collect::<Result<_, _>>()?;
                let dots = parts.iter().any(|(_, dot)| dot.is_some()) || primal_dot.is_some();
                let order_one = dots.then(|| {
                    let zero = || Value::Real(0.0);
                    let coefs = parts.iter().map(|(_, dot)| dot.clone().unwrap_or_else(zero));
                    let series = Perturbation::Series(Rc::new(coefs.collect()));
                    self::active(active.tag, primal_dot.unwrap_or_else(zero), series)
                });
                let series = Perturbation::Series(Rc::new(parts.into_iter().map(|(part, _)| part).collect()));
                Ok((self::active(active.tag, primal, series), order_one))
            }
        }
    })
}

/// Whether `tag` occurs in the value (not as a bound name).
pub(crate) fn mentions(tag: Tag, value: &Value) -> bool {
    Tags::of(value).found.contains_key(&tag)
}

struct Lift<'a> {
    cx: &'a mut Context,
    tag: Tag,
}

impl Zipper for Lift<'_> {
    fn reals(&mut self, x: &Value, t: &Value) -> Result<Value, Failure> {
        Ok(with_tangent(self.tag, x.clone(), Some(t.clone())))
    }

    fn functions(&mut self, x: &Value, t: &Value) -> Result<Value, Failure> {
        let function = Fun::Forward { tag: self.tag, primal: as_function(x), tangent: as_function(t) };
        Ok(Value::Fun(Rc::new(function)))
    }

    fn mismatch(&self, x: &Value, t: &Value) -> Failure {
        errors::shapes("jvp", &walk::describe(x), &walk::describe(t))
    }

    fn work(&mut self, steps: usize) -> Result<(), Failure> {
        self.cx.work(steps as u64)
    }
}

/// The point `x` with the tangent `t` under `tag`, which is larger than all tags in both.
pub(crate) fn forward_input(cx: &mut Context, tag: Tag, x: &Value, t: &Value) -> Result<Value, Failure> {
    walk::zip(x, t, &mut Lift { cx, tag })
}

struct PlusTangent<'a> {
    cx: &'a mut Context,
    tag: Tag,
    epsilon: Value,
    /// The operator whose rule gave the tangent, if one did.
    rule: Option<&'static str>,
}

impl Zipper for PlusTangent<'_> {
    fn reals(&mut self, y: &Value, dy: &Value) -> Result<Value, Failure> {
        if is_exact_zero(dy) {
            return Ok(y.clone());
        }
        let is_below = |value: &Value| !matches!(value, Value::Active(active) if active.tag >= self.tag);
        if is_below(y) && is_below(dy) {
            return Ok(with_tangent(self.tag, y.clone(), Some(dy.clone())));
        }
        if let Value::Active(active) = y
            && let Perturbation::Forward(tangent) = &active.perturbation
            && active.tag == self.tag
            && is_below(dy)
        {
            let tangent = arith::real2(self.cx, RealOp::Add, tangent, dy)?;
            return Ok(with_tangent(self.tag, active.primal.clone(), Some(tangent)));
        }
        let change = arith::real2(self.cx, RealOp::Mul, &self.epsilon, dy)?;
        arith::real2(self.cx, RealOp::Add, y, &change)
    }

    fn functions(&mut self, y: &Value, dy: &Value) -> Result<Value, Failure> {
        let function = Fun::Forward { tag: self.tag, primal: as_function(y), tangent: as_function(dy) };
        Ok(Value::Fun(Rc::new(function)))
    }

    fn mismatch(&self, y: &Value, dy: &Value) -> Failure {
        let (point, tangent) = (walk::describe(y), walk::describe(dy));
        match self.rule {
            Some(rule) => errors::rule_result(rule, &point, &tangent),
            None => errors::shapes("jvp", &point, &tangent),
        }
    }

    fn work(&mut self, steps: usize) -> Result<(), Failure> {
        self.cx.work(steps as u64)
    }
}

/// `y + ε·dy` with `ε` the perturbation under `tag`; both may be perturbed under any tags.
pub(crate) fn plus_tangent(cx: &mut Context, tag: Tag, y: &Value, dy: &Value) -> Result<Value, Failure> {
    let epsilon = with_tangent(tag, Value::Real(0.0), Some(Value::Real(1.0)));
    walk::zip(y, dy, &mut PlusTangent { cx, tag, epsilon, rule: None })
}

/// The same with the tangent that a rule gave to this operator.
pub(crate) fn plus_tangent_of_rule(
    cx: &mut Context,
    tag: Tag,
    rule: &'static str,
    y: &Value,
    dy: &Value,
) -> Result<Value, Failure> {
    let epsilon = with_tangent(tag, Value::Real(0.0), Some(Value::Real(1.0)));
    walk::zip(y, dy, &mut PlusTangent { cx, tag, epsilon, rule: Some(rule) })
}

struct TangentPart {
    tag: Tag,
}

impl Mapper for TangentPart {
    const SHARES: bool = true;
    const LOOKS_AT_PLAIN: bool = true;

    fn real(&mut self, value: &Value) -> Result<Option<Value>, Failure> {
        let (_, tangent) = split_real(self.tag, value)?;
        Ok(Some(tangent.unwrap_or(Value::Real(0.0))))
    }

    fn function(&mut self, fun: &Rc<Fun>) -> Result<FunAction, Failure> {
        if let Fun::Forward { tag, primal, tangent } = &**fun
            && *tag == self.tag
            && !mentions(self.tag, primal)
        {
            return Ok(FunAction::Replace(tangent.clone()));
        }
        let func = Value::Fun(Rc::clone(fun));
        Ok(FunAction::Replace(Value::Fun(Rc::new(Fun::TangentOf { tag: self.tag, func }))))
    }
}

/// The primal part and the tangent of a result under `tag`.
pub(crate) fn split_forward(_cx: &mut Context, tag: Tag, y: &Value) -> Result<(Value, Value), Failure> {
    if let Value::Real(_) | Value::Active(_) = y {
        let (primal, tangent) = split_real(tag, y)?;
        return Ok((primal, tangent.unwrap_or(Value::Real(0.0))));
    }
    Ok((strip(tag, y), walk::map(y, &mut TangentPart { tag })?))
}

// Renaming.

struct Rename {
    from: Tag,
    to: Tag,
}

impl Rename {
    fn tower(&self, value: &Value) -> Result<Option<Value>, Failure> {
        let Value::Active(active) = value else { return Ok(None) };
        if is_formal(active) {
            return map_parts(active, &mut |part| self.tower(part));
        }
        let (primal, tangent) = split_real(self.from, value)?;
        Ok(tangent.map(|tangent| with_tangent(self.to, primal, Some(tangent))))
    }
}

impl Mapper for Rename {
    const SHARES: bool = true;
    const LOOKS_AT_PLAIN: bool = false;

    fn real(&mut self, value: &Value) -> Result<Option<Value>, Failure> {
        self.tower(value)
    }

    fn function(&mut self, fun: &Rc<Fun>) -> Result<FunAction, Failure> {
        Ok(match &**fun {
            Fun::Forward { tag, tangent, .. } if *tag == self.from => {
                let tangent = walk::map(tangent, &mut Rename { ..*self })?;
                FunAction::Primal(Wrapper::Forward(self.to, tangent))
            }
            Fun::TangentOf { tag, .. } if *tag == self.from => FunAction::Keep,
            Fun::Closure { .. }
            | Fun::Partial { .. }
            | Fun::Forward { .. }
            | Fun::Reverse { .. }
            | Fun::TangentOf { .. }
            | Fun::Linear { .. } => FunAction::Descend,
        })
    }
}

/// The value with forward perturbations under `from` moved to the fresh tag `to`.
pub(crate) fn rename(from: Tag, to: Tag, value: &Value) -> Result<Value, Failure> {
    walk::map(value, &mut Rename { from, to })
}

#[cfg(test)]
mod tests;
