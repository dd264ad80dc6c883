//! The copy of a function that asks for its own derivative, which nothing stands in for: each request becomes one in forward mode, by a
//! function for which there is no limit ([`crate::long`]).
//!
//! ```text
//! y, r = linearize f (x);  x_bar = backward r (w)         y = f(x);  _, t = entry_f(x, 1.0);  x_bar = w t
//! ```
//!
//! In reverse mode there is one such request for each number that varies: functions of one number are what is differentiated so most often.

#![expect(clippy::wildcard_enum_match_arm, reason = "requests are named, the others stay")]

use super::units::Unit;
use crate::long::is_same_type;
use crate::{Ad, BEYOND, Code};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::{Atom, Op, Stmt, Var};
use wengert_ir::program::{Func, FuncId, Linear};
use wengert_ir::ty::{Elem, Ty};

/// What a function asks for, as deep as running says.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Asked {
    /// What entries give.
    Everything,
    /// The same, in reverse mode by more than some numbers.
    Slowly,
    /// What they do not give, too.
    NotAll,
}

/// Where functions were linearized.
struct Points {
    /// By the residual.
    of: FxHashMap<Var, Point>,
    /// What others look at than requests.
    escaped: FxHashSet<Var>,
}

/// Arguments of a function, and what it gives.
#[derive(Clone)]
struct Point {
    args: Vec<Atom>,
    values: Vec<Atom>,
}

impl Ad {
    /// Whether derivatives that a function asks of itself, or what it calls, can be such. There are none with respect to functions, and in reverse mode
    /// cotangents are added up in an order of their own.
    pub(crate) fn has_entries(&self, func: FuncId) -> bool {
        !(self.meets_given(func) || (self.exact && (self.goes_back(func) || self.adds_apart(func))))
    }

    /// Whether a function, or what it calls, has rules that have captured reals, and there is reverse mode: to that cotangents would be
    /// added up apart.
    fn adds_apart(&self, func: FuncId) -> bool {
        let captures = |func: &Func, stmt: &Stmt| match &stmt.op {
            Op::Custom(parts) => {
                let mut all = parts.captured.iter().chain(&parts.rule_captured);
                all.any(|atom| matches!(func.type_of(atom).elem(), Elem::Real | Elem::Data(_)))
            }
            _ => false,
        };
        !self.program.linears.is_empty()
            && self
                .reachable(vec![func])
                .into_iter()
                .map(|id| self.program.funcs.at(id))
                .any(|func| !func.body.all_stmts(&mut |stmt| !captures(func, stmt)))
    }

    /// Whether a function, or what it calls, asks for what is not ready in reverse mode.
    fn goes_back(&self, func: FuncId) -> bool {
        let asks = |stmt: &Stmt| match &stmt.op {
            Op::Linearize { linear, .. } => !self.is_ready(self.program.linears.at(*linear).func),
            _ => false,
        };
        let all = self.reachable(vec![func]);
        all.into_iter().any(|id| !self.program.funcs.at(id).body.all_stmts(&mut |stmt| !asks(stmt)))
    }

    /// What a function asks for, or those that take part, that is not ready.
    pub(super) fn asked_beyond(&self, func: FuncId) -> Asked {
        let all = self.reachable(vec![func]);
        let found = all.into_iter().flat_map(|id| {
            let func = self.program.funcs.at(id);
            let escaped = super::escaped(func);
            let mut found = Vec::new();
            func.body.for_each_stmt(&mut |stmt| found.push(self.asked_by(func, stmt, &escaped)));
            found
        });
        found.max().unwrap_or(Asked::Everything)
    }

    fn asked_by(&self, func: &Func, stmt: &Stmt, escaped: &FxHashSet<Var>) -> Asked {
        match &stmt.op {
            Op::Linearize { linear, .. } => {
                let Linear { func: asked, active, .. } = self.program.linears.at(*linear);
                let (types, results) = {
                    let asked = self.program.funcs.at(*asked);
                    (asked.param_types(), &asked.results)
                };
                let mut varying =
                    types.into_iter().zip(active).filter(|(_, active)| **active).map(|(ty, _)| ty);
                if self.is_ready(*asked) {
                    return Asked::Everything;
                }
                let mut all = varying.clone().chain(results.iter().copied());
                if stmt.outs.last().is_none_or(|residual| escaped.contains(residual))
                    || !all.all(|ty| self.is_first_order(ty))
                {
                    return Asked::NotAll;
                }
                if varying.all(|ty| ty == Ty::REAL) { Asked::Everything } else { Asked::Slowly }
            }
            Op::Custom(parts) => {
                let outs = stmt.outs.iter().map(|out| func.ty(*out));
                let mut all = parts.point.iter().map(|atom| func.type_of(atom)).chain(outs);
                if all.all(|ty| self.is_first_order(ty)) { Asked::Everything } else { Asked::NotAll }
            }
            // Who applies the tangent of a function asks with that.
            Op::Jvp { func: asked, args, tangents } if !self.is_ready(*asked) => {
                let mut varying = args.iter().zip(tangents).filter(|(_, tangent)| tangent.is_some());
                let functions = varying.any(|(arg, _)| self.holds_functions(func.type_of(arg)));
                if functions { Asked::NotAll } else { Asked::Everything }
            }
            _ => Asked::Everything,
        }
    }

    /// A function, with its requests for what is not ready as requests to such functions.
    pub(super) fn with_entries(&mut self, func: &Func) -> Func {
        let mut code = Code::like(self, func, func.name.as_str());
        let mut points = Points { of: FxHashMap::default(), escaped: super::escaped(func) };
        let results = code.replaced(&func.body, &mut |code, stmt| request(code, stmt, &mut points));
        code.finish(results)
    }
}

/// What a request gives, if it is one for what is not ready.
fn request(code: &mut Code<'_>, stmt: &Stmt, points: &mut Points) -> Option<Vec<Atom>> {
    let (func, linear) = match &stmt.op {
        Op::Jvp { func, .. } | Op::Taylor { func, .. } => (*func, None),
        Op::Linearize { linear, .. } | Op::Forward { linear, .. } | Op::Backward { linear, .. } => {
            let linear = code.ad.program.linears.at(*linear).clone();
            (linear.func, Some(linear))
        }
        _ => return None,
    };
    if code.ad.is_ready(func) {
        return None;
    }
    let of = code.ad.at_level(func, 0);
    let found = match (&stmt.op, linear) {
        (Op::Jvp { args, tangents, .. }, _) => {
            let same =
                args.iter().zip(tangents).all(|(x, t)| t.as_ref().is_none_or(|t| is_same_type(code, x, t)));
            let given: Vec<bool> = tangents.iter().map(Option::is_some).collect();
            same.then(|| code.derivative(of, given, args, tangents.iter().flatten().cloned().collect()))
        }
        (Op::Linearize { args, .. }, Some(_)) => linearized(code, stmt, of, args, points),
        (Op::Forward { residual, tangents, .. }, Some(linear)) => point(points, residual).map(|point| {
            let given = linear.active.clone();
            code.derivative(of, given, &point.args, tangents.clone()).split_off(point.values.len())
        }),
        (Op::Backward { residual, cotangents, .. }, Some(linear)) => match point(points, residual) {
            Some(point) => code.transposed_by_units(&linear, of, &point, cotangents),
            None => None,
        },
        _ => None,
    };
    Some(found.unwrap_or_else(|| {
        let types: Vec<Ty> = stmt.outs.iter().map(|out| code.b.func().ty(*out)).collect();
        code.fail(&types, BEYOND)
    }))
}

fn point(points: &Points, residual: &Atom) -> Option<Point> {
    points.of.get(&residual.var()?).cloned()
}

/// The values of a function. Nobody else than requests here must look at the residual.
fn linearized(
    code: &mut Code<'_>,
    stmt: &Stmt,
    of: FuncId,
    args: &[Atom],
    points: &mut Points,
) -> Option<Vec<Atom>> {
    let residual = stmt.outs.last().filter(|residual| !points.escaped.contains(residual))?;
    let types = code.ad.program.funcs.at(of).results.clone();
    let values = code.b.call(of, args, &types);
    points.of.insert(*residual, Point { args: args.to_vec(), values: values.clone() });
    Some(values)
}

impl Code<'_> {
    /// Values and tangents.
    pub(super) fn derivative(
        &mut self,
        of: FuncId,
        given: Vec<bool>,
        args: &[Atom],
        tangents: Vec<Atom>,
    ) -> Vec<Atom> {
        let types = self.ad.program.funcs.at(of).results.repeat(2);
        let span = self.b.span();
        let entry = self.ad.entry(of, given, span);
        let args: Vec<Atom> = args.iter().cloned().chain(tangents).collect();
        self.b.call(entry, args, &types)
    }

    /// The cotangents of arguments: of each number in them by its own tangent.
    fn transposed_by_units(
        &mut self,
        linear: &Linear,
        of: FuncId,
        Point { args, values }: &Point,
        cotangents: &[Atom],
    ) -> Option<Vec<Atom>> {
        for (value, weight) in values.iter().zip(cotangents) {
            let ty = self.b.type_of(value);
            if !self.ad.is_first_order(ty) {
                return None;
            }
            // They must belong together.
            self.inward("vjp".into(), value, weight, ty);
        }
        let mut found = Vec::new();
        for (i, (x, _)) in args.iter().zip(&linear.active).enumerate().filter(|(_, (_, active))| **active) {
            let ty = self.b.type_of(x);
            if !self.ad.is_first_order(ty) {
                return None;
            }
            let given = (0..args.len()).map(|j| i == j).collect();
            found.push(match self.ad.tangent(ty) {
                Some(_) => self.cotangent_by_units(&Unit { of, given, args, cotangents, x }, ty),
                None => x.clone(),
            });
        }
        Some(found)
    }
}
