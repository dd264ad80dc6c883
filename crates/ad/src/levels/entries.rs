//! The copy of a function that asks for its own derivative, which nothing stands in for: each request becomes one in forward mode, by a
//! function for which there is no limit ([`crate::long`]).
//!
//! ```text
//! y, r = linearize f (x);  x_bar = backward r (w)         y = f(x);  _, t = entry_f(x, 1.0);  x_bar = w t
//! ```
//!
//! In reverse mode there is one such request for each number that varies: functions of one number are what is differentiated so most often.

#![expect(clippy::wildcard_enum_match_arm, reason = "requests are named, the others stay")]

use crate::long::is_same_type;
use crate::{Ad, BEYOND, Code};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::{ArrayOp, Atom, Loop, Mode, Op, Stmt, Var};
use wengert_ir::program::{Func, FuncId, Linear};
use wengert_ir::ty::{Elem, Ty};
use wengert_prim::RealOp;

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
    /// The arguments, by the residual.
    of: FxHashMap<Var, Vec<Atom>>,
    /// What others look at than requests.
    escaped: FxHashSet<Var>,
}

impl Ad {
    /// Whether derivatives that a function asks of itself, or what it calls, can be such. There are none with respect to functions, and in reverse mode
    /// cotangents are added up in an order of their own.
    pub(crate) fn has_entries(&self, func: FuncId) -> bool {
        !(self.meets_given(func) || (self.exact && !self.program.linears.is_empty()))
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
        let is_number = |ty: Ty| !matches!(ty.elem(), Elem::Data(_));
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
                if stmt.outs.last().is_none_or(|residual| escaped.contains(residual)) || !all.all(is_number) {
                    return Asked::NotAll;
                }
                if varying.all(|ty| ty == Ty::REAL) { Asked::Everything } else { Asked::Slowly }
            }
            Op::Custom(parts) => {
                let fixed = parts.captured.iter().chain(&parts.rule_captured);
                let fixed = fixed.into_iter().all(|atom| {
                    matches!(func.type_of(atom).elem(), Elem::Int | Elem::Bool | Elem::Text | Elem::Unit)
                });
                let outs = stmt.outs.iter().map(|out| func.ty(*out));
                let mut all = parts.point.iter().map(|atom| func.type_of(atom)).chain(outs);
                if fixed && all.all(is_number) { Asked::Everything } else { Asked::NotAll }
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
        (Op::Forward { residual, tangents, .. }, Some(linear)) => point(points, residual).map(|args| {
            let count = code.ad.program.funcs.at(of).results.len();
            code.derivative(of, linear.active.clone(), &args, tangents.clone()).split_off(count)
        }),
        (Op::Backward { residual, cotangents, .. }, Some(linear)) => match point(points, residual) {
            Some(args) => code.transposed_by_units(&linear, of, &args, cotangents),
            None => None,
        },
        _ => None,
    };
    Some(found.unwrap_or_else(|| {
        let types: Vec<Ty> = stmt.outs.iter().map(|out| code.b.func().ty(*out)).collect();
        code.fail(&types, BEYOND)
    }))
}

fn point(points: &Points, residual: &Atom) -> Option<Vec<Atom>> {
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
    points.of.insert(*residual, args.to_vec());
    Some(values)
}

impl Code<'_> {
    /// Values and tangents.
    fn derivative(&mut self, of: FuncId, given: Vec<bool>, args: &[Atom], tangents: Vec<Atom>) -> Vec<Atom> {
        let types = self.ad.program.funcs.at(of).results.repeat(2);
        let span = self.b.span();
        let entry = self.ad.entry(of, given, span);
        let args: Vec<Atom> = args.iter().cloned().chain(tangents).collect();
        self.b.call(entry, args, &types)
    }

    /// The cotangents of numbers and arrays of numbers: of each number by its own tangent.
    fn transposed_by_units(
        &mut self,
        linear: &Linear,
        of: FuncId,
        args: &[Atom],
        cotangents: &[Atom],
    ) -> Option<Vec<Atom>> {
        let numbers = |ty: &Ty| matches!(ty.elem(), Elem::Real);
        let varies = |ty: Ty| matches!(ty.elem(), Elem::Real | Elem::Data(_));
        let results = self.ad.program.funcs.at(of).results.clone();
        if results.iter().any(|ty| varies(*ty) && !numbers(ty)) {
            return None;
        }
        let mut found = Vec::new();
        for (i, (x, _)) in args.iter().zip(&linear.active).enumerate().filter(|(_, (_, active))| **active) {
            let ty = self.b.type_of(x);
            if !varies(ty) {
                found.push(x.clone());
            } else if numbers(&ty) {
                let given = (0..args.len()).map(|j| i == j).collect();
                found.push(self.cotangent_at(&Unit { of, given, args, cotangents, x }, Vec::new(), ty));
            } else {
                return None;
            }
        }
        Some(found)
    }

    /// The cotangent of an element, or of the elements of a row.
    fn cotangent_at(&mut self, unit: &Unit<'_>, place: Vec<Atom>, ty: Ty) -> Atom {
        if let Some(row) = ty.at(1) {
            let len = ArrayOp::Length(place.len() as u8);
            let len = self.b.called("n").array(len, [unit.x.clone()]);
            self.b.open();
            let i = self.b.param("i".into(), Ty::INT);
            let made = self.cotangent_at(unit, place.into_iter().chain([i]).collect(), row);
            let body = self.b.close(vec![made]);
            return self.each(len, Vec::new(), Vec::new(), body, &[("xs_bar".into(), ty)]).remove(0);
        }
        let mut tangent = Atom::Real(1.0);
        if !place.is_empty() {
            let zeros = self.b.called("zeros").array(ArrayOp::Zeros, [unit.x.clone()]);
            let args: Vec<Atom> = [zeros].into_iter().chain(place).chain([tangent]).collect();
            tangent = self.b.called("unit").array(ArrayOp::Set, args);
        }
        let mut found = self.derivative(unit.of, unit.given.clone(), unit.args, vec![tangent]);
        let tangents = found.split_off(unit.cotangents.len());
        let mut sum: Option<Atom> = None;
        for (tangent, weight) in tangents.iter().zip(unit.cotangents) {
            if self.b.type_of(tangent).elem() == Elem::Real {
                let product = self.weighted(tangent, weight);
                sum = Some(match sum {
                    Some(sum) => self.b.real(RealOp::Add, [sum, product]),
                    None => product,
                });
            }
        }
        sum.unwrap_or(Atom::Real(0.0))
    }

    /// The sum of all products of the elements.
    fn weighted(&mut self, tangent: &Atom, weight: &Atom) -> Atom {
        let ty = self.b.type_of(tangent);
        let Some(row) = ty.at(1) else {
            return self.real(RealOp::MulZero, vec![weight.clone(), tangent.clone()]);
        };
        let len = self.length(tangent);
        let mut params = self.open_rows(&[("sum", Ty::REAL), ("t", row), ("w", row)]);
        let rows = params.split_off(1);
        let next = match rows.as_slice() {
            [t, w] => {
                let product = self.weighted(t, w);
                params.push(product);
                self.b.real(RealOp::Add, params)
            }
            _ => Atom::Real(0.0),
        };
        let body = self.b.close(vec![next]);
        let inputs = vec![tangent.clone(), weight.clone()];
        let (init, accs) = (vec![Atom::Real(0.0)], Vec::new());
        let parts = Loop { mode: Mode::Sequence, backward: false, len, inputs, init, accs, body };
        self.b.called("sum").typed1(Ty::REAL, Op::Loop(Box::new(parts)))
    }
}

/// What is differentiated with respect to single numbers of an argument.
struct Unit<'a> {
    of: FuncId,
    given: Vec<bool>,
    args: &'a [Atom],
    cotangents: &'a [Atom],
    x: &'a Atom,
}
