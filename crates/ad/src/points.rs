//! Pullbacks that outlive the function that asks for them, of functions that apply such pullbacks: instead of what the linearization needs
//! they hold the point, and linearize there when they are applied.
//!
//! ```text
//! y, r = linearize f (x)  …  make Pullback(r)          y = f(x);  r = Point(x)  …  make Pullback(r)
//! x_bar = backward r (w)                               x_bar = match r { Point(x) { _, s = linearize f (x)  yield backward s (w) } }
//! ```
//!
//! What `f` needs for its way back may be such a pullback in turn: of what type, and how much, would depend on how deep derivatives nest,
//! which only running tells ([`crate::levels`]). A point has one type however deep they do. The function has run there before, so that
//! what it does again fails nowhere, and gives the same numbers.

#![expect(clippy::wildcard_enum_match_arm, reason = "requests are named, the others stay")]

use crate::levels::escaped;
use crate::{Ad, Code};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::{Atom, Op, Stmt, Var};
use wengert_ir::program::{Func, FuncId, Linear, LinearId};
use wengert_ir::ty::{Ctor, Data, Ty};

/// For linearizations whose residuals become points: those that are made at these.
type Pointed = FxHashMap<LinearId, LinearId>;

impl Ad {
    /// Puts points in the place of residuals that functions keep which ask for their own derivatives.
    pub(crate) fn keep_points(&mut self) {
        let kept = self.kept_residuals();
        let mut pointed = Pointed::default();
        for linear in kept {
            let again = self.at_point(linear);
            pointed.insert(linear, again);
        }
        if pointed.is_empty() {
            return;
        }
        for id in self.program.funcs.ids() {
            let mut asks = false;
            self.program.funcs.at(id).body.for_each_stmt(&mut |stmt| {
                asks |= asked(stmt).is_some_and(|linear| pointed.contains_key(&linear));
            });
            if asks {
                let func = self.program.funcs.at(id).clone();
                let mut code = Code::like(self, &func, func.name.as_str());
                let results = code.replaced(&func.body, &mut |code, stmt| with_points(code, stmt, &pointed));
                let made = code.finish(results);
                *self.program.funcs.at_mut(id) = made;
            }
        }
    }

    /// The linearizations, of functions that ask for them again, whose residuals others look at than those that apply them where they are
    /// made.
    fn kept_residuals(&self) -> Vec<LinearId> {
        let mut kept: FxHashSet<LinearId> = FxHashSet::default();
        let mut asking: FxHashMap<LinearId, Vec<(FuncId, bool)>> = FxHashMap::default();
        for (id, func) in self.program.funcs.iter() {
            let mut own: FxHashSet<Var> = FxHashSet::default();
            let mut applied = Vec::new();
            let mut made = Vec::new();
            func.body.for_each_stmt(&mut |stmt| {
                let Some(linear) = asked(stmt) else { return };
                let makes = matches!(stmt.op, Op::Linearize { .. });
                asking.entry(linear).or_default().push((id, makes));
                match &stmt.op {
                    Op::Forward { residual, .. } | Op::Backward { residual, .. } => {
                        applied.push((residual.var(), linear));
                    }
                    _ => made.extend(stmt.outs.last().map(|residual| (*residual, linear))),
                }
            });
            if made.is_empty() && applied.is_empty() {
                continue;
            }
            own.extend(made.iter().map(|(residual, _)| *residual));
            let escaped = escaped(func);
            kept.extend(made.iter().filter(|(residual, _)| escaped.contains(residual)).map(|(_, l)| *l));
            let others =
                applied.iter().filter(|(residual, _)| residual.is_none_or(|var| !own.contains(&var)));
            kept.extend(others.map(|(_, linear)| *linear));
        }
        let mut kept: Vec<LinearId> = kept.into_iter().collect();
        kept.sort_unstable();
        kept.retain(|linear| {
            let below = self.reachable(vec![self.program.linears.at(*linear).func]);
            let by = asking.get(linear).map_or(&[][..], Vec::as_slice);
            by.iter().any(|(func, _)| below.binary_search(func).is_ok())
        });
        if self.exact {
            // What is computed at a point twice would have two cotangents.
            let back = self.reachable(self.program.linears.iter().map(|(_, linear)| linear.func).collect());
            kept.retain(|linear| {
                let by = asking.get(linear).map_or(&[][..], Vec::as_slice);
                !by.iter().any(|(func, makes)| *makes && back.binary_search(func).is_ok())
            });
        }
        kept
    }

    /// Makes what a linearization keeps its point; the one that is made there.
    fn at_point(&mut self, linear: LinearId) -> LinearId {
        let Linear { func, active, residual } = self.program.linears.at(linear).clone();
        let fields = self.program.funcs.at(func).param_types();
        let own = Data { ctors: Vec::new(), ..self.program.data.at(residual).clone() };
        let own = self.program.data.push(own);
        let again = self.program.linears.push(Linear { func, active, residual: own });
        self.residuals.remove(&residual);
        self.residuals.insert(own, again);
        self.program.data.at_mut(residual).ctors = vec![Ctor { name: "Point".into(), fields }];
        again
    }
}

/// The linearization that a request is for.
fn asked(stmt: &Stmt) -> Option<LinearId> {
    match &stmt.op {
        Op::Linearize { linear, .. } | Op::Forward { linear, .. } | Op::Backward { linear, .. } => {
            Some(*linear)
        }
        _ => None,
    }
}

/// What a request gives where residuals are points.
fn with_points(code: &mut Code<'_>, stmt: &Stmt, pointed: &Pointed) -> Option<Vec<Atom>> {
    let linear = asked(stmt)?;
    let again = *pointed.get(&linear)?;
    let Linear { func, residual: point, .. } = code.ad.program.linears.at(linear).clone();
    let of: &Func = code.ad.program.funcs.at(func);
    let (fields, values) = (of.param_types(), of.results.clone());
    let on = match &stmt.op {
        Op::Linearize { args, .. } => {
            let mut found = code.b.call(func, args.clone(), &values);
            found.push(code.b.called("residual").make(point, 0, args.clone()));
            return Some(found);
        }
        Op::Forward { residual, .. } | Op::Backward { residual, .. } => residual.clone(),
        _ => return None,
    };
    let types: Vec<Ty> = stmt.outs.iter().map(|out| code.b.func().ty(*out)).collect();
    code.b.open();
    let args = code.field_params("x", &fields);
    let own = Ty::Scalar(wengert_ir::Elem::Data(code.ad.program.linears.at(again).residual));
    let all: Vec<Ty> = values.into_iter().chain([own]).collect();
    let residual = code.b.typed(&all, Op::Linearize { linear: again, args }).pop()?;
    let op = match stmt.op.clone() {
        Op::Forward { tangents, .. } => Op::Forward { linear: again, residual, tangents },
        Op::Backward { cotangents, .. } => Op::Backward { linear: again, residual, cotangents },
        other => other,
    };
    let found = code.b.typed(&types, op);
    let arm = code.b.close(found);
    Some(code.b.typed(&types, Op::Match { on, arms: vec![arm] }))
}
