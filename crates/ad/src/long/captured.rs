//! Functions with rules of their own that have captured what varies, where there are several infinitesimals.
//!
//! What is captured keeps all its infinitesimals; those of the point come in one after the other, the last one last, each by the rule at the
//! point with those before it:
//!
//! ```text
//! T₀ = f(x), by what is captured       Tⱼ = Tⱼ₋₁ + eⱼ rule(x with e₁ … eⱼ₋₁, its tangent along eⱼ)
//! ```
//!
//! So mixed derivatives, by what is captured and by the point, are those of the rule, whichever of the two is the outer one. Parts of the
//! tangent that the rule gives that have `eⱼ` already go: its square is 0.

use super::SERIES;
use super::halves::Halves;
use super::ruled::{Given, Ruled};
use crate::jvp::Jvp;
use crate::types::Helper;
use crate::{Ad, BEYOND, Code};
use wengert_ir::op::{ArrayOp, Atom, Compare, Custom, IntOp, Op, Rule, Stmt};
use wengert_ir::program::{Func, FuncId};
use wengert_ir::ty::{DataId, Elem, Ty};
use wengert_prim::RealOp;

/// Which values vary of what a function with a rule has captured, of what the rule has, and of the point.
struct Varying {
    captured: Vec<bool>,
    inner: Vec<bool>,
    point: Vec<bool>,
}

/// Those of them that do.
fn chosen(atoms: &[Atom], mask: &[bool]) -> Vec<Atom> {
    atoms.iter().zip(mask).filter(|(_, varies)| **varies).map(|(atom, _)| atom.clone()).collect()
}

fn count(mask: &[bool]) -> usize {
    mask.iter().filter(|varies| **varies).count()
}

/// Takes so many parameters.
fn take<'p>(params: &mut &'p [Atom], count: usize) -> &'p [Atom] {
    let (taken, rest) = params.split_at_checked(count).unwrap_or_default();
    *params = rest;
    taken
}

impl Jvp<'_, '_> {
    /// A function with a rule of which something captured varies, with the coefficients of its results.
    pub(super) fn custom_with_captured(&mut self, stmt: &Stmt, parts: &Custom) {
        let varying = Varying {
            captured: self.scope.mask(&parts.captured),
            inner: self.scope.mask(&parts.rule_captured),
            point: self.scope.mask(&parts.point),
        };
        let outs: Vec<Atom> = stmt.outs.iter().copied().map(Atom::Var).collect();
        let all = [&parts.captured, &parts.rule_captured, &parts.point];
        let masks = [&varying.captured, &varying.inner, &varying.point];
        let mut args = [all.map(|atoms| atoms.as_slice()).concat(), outs].concat();
        for (atoms, mask) in all.into_iter().zip(masks) {
            for x in chosen(atoms, mask) {
                args.push(self.tangent_or_zero(0, &x));
            }
        }
        let func = self.code.function_with_captured(parts, &varying, &args);
        let order = self.code.order();
        args.extend([order.clone(), order]);
        self.note_made(stmt, func, args);
    }
}

/// What the function that is under way is given.
struct Whole<'a> {
    own: FuncId,
    parts: &'a Custom,
    varying: &'a Varying,
    results: &'a [Ty],
    /// What is captured, by the function and by the rule, the point, and the values.
    fixed: &'a [Atom],
    /// Coefficients of what is captured.
    captured: &'a [Atom],
    inner: &'a [Atom],
    n: &'a Atom,
}

impl Code<'_> {
    /// The function that makes the coefficients of the results: from all values, coefficients of those that vary, those of the point as many
    /// as the next to last parameter says, the others as many as the last one says.
    fn function_with_captured(&mut self, parts: &Custom, varying: &Varying, args: &[Atom]) -> FuncId {
        let types: Vec<Ty> = args.iter().map(|arg| self.b.type_of(arg)).collect();
        let place = parts.captured.len() + parts.rule_captured.len() + parts.point.len();
        let counts = [&varying.captured, &varying.inner, &varying.point].map(|mask| count(mask));
        let values = types.len().saturating_sub(counts.iter().sum());
        let outs = types.get(place..values).unwrap_or_default();
        let results: Vec<Ty> = outs.iter().filter_map(|ty| self.ad.tangent(*ty)).collect();
        let own = self.ad.reserve(results.clone());
        let mut code = Code::new(self.ad, "cube_rule");
        let params: Vec<Atom> = types.iter().map(|ty| code.b.param("x".into(), *ty)).collect();
        let [m, n] = ["m", "n"].map(|name| code.b.param(name.into(), Ty::INT));
        let mut rest = params.as_slice();
        let fixed = take(&mut rest, values);
        let [captured, inner, series] = counts.map(|count| take(&mut rest, count));
        let whole = Whole { own, parts, varying, results: &results, fixed, captured, inner, n: &n };
        let found = code.at_order(n.clone(), |code| whole.coefficients(code, series, &m));
        let made = code.finish(found);
        *self.ad.program.funcs.at_mut(own) = made;
        own
    }
}

impl Whole<'_> {
    fn point(&self) -> &[Atom] {
        let place = self.parts.captured.len() + self.parts.rule_captured.len();
        self.fixed.get(place..place + self.parts.point.len()).unwrap_or_default()
    }

    fn values(&self) -> &[Atom] {
        let place = self.parts.captured.len() + self.parts.rule_captured.len() + self.parts.point.len();
        self.fixed.get(place..).unwrap_or_default()
    }

    /// The coefficients of the results, where the point has those that are given, so many.
    fn coefficients(&self, code: &mut Code<'_>, series: &[Atom], m: &Atom) -> Vec<Atom> {
        let cond = code.b.compare(Compare::Eq, m.clone(), Atom::Int(0));
        code.b.open();
        let first = self.by_captured(code);
        let then = code.b.close(first);
        code.b.open();
        let more = self.with_next(code, series, m);
        let otherwise = code.b.close(more);
        code.b.typed(self.results, Op::If { cond, then, otherwise })
    }

    /// What the function gives by what it has captured. Where that is differentiated once more, it varies with the point as the rule's
    /// tangent does with what the rule has captured: it is a function with a rule in turn ([`crate::mixed`]).
    fn by_captured(&self, code: &mut Code<'_>) -> Vec<Atom> {
        let values = self.values().iter().cloned();
        let point = code.still(self.point());
        let found: Vec<Option<Atom>> = if self.varying.captured.contains(&true) {
            let mut mask = self.varying.captured.clone();
            mask.resize(mask.len() + point.len(), false);
            let captured = self.fixed.get(..self.parts.captured.len()).unwrap_or_default();
            let args = captured.iter().cloned().chain(point).collect();
            code.long_call(&(self.parts.func, mask), args, self.captured.to_vec()).series
        } else {
            values.clone().map(|_| None).collect()
        };
        let mut made = Vec::new();
        for (value, series) in values.zip(found) {
            let ty = code.b.type_of(&value);
            if code.ad.tangent(ty).is_some() {
                made.push(series.unwrap_or_else(|| code.zero(Some(&value), ty)));
            }
        }
        if code.ad.is_inside && self.varying.inner.contains(&true) {
            return self.with_mixed(code, made);
        }
        made
    }

    fn rule_captured(&self) -> &[Atom] {
        let place = self.parts.captured.len();
        self.fixed.get(place..place + self.parts.rule_captured.len()).unwrap_or_default()
    }

    /// Coefficients that vary with the point by the rule.
    fn with_mixed(&self, code: &mut Code<'_>, made: Vec<Atom>) -> Vec<Atom> {
        if self.results.iter().any(|ty| matches!(ty.elem(), Elem::Data(_))) {
            return code.fail(self.results, BEYOND);
        }
        let types: Vec<Ty> = self.point().iter().map(|x| code.b.type_of(x)).collect();
        let func = code.itself(self.results, &types);
        let of = code.ad.with_long(false, |ad| ad.tangent_rule(self.parts.rule));
        let rule = self.mixed_rule(code, &types, of);
        let rule = code.ad.program.funcs.push(rule);
        code.ad.mixed_rules.insert(rule, of);
        let own = self.rule_captured().iter().chain(self.inner);
        let rule_captured = own.cloned().chain([self.n.clone()]).collect();
        let (captured, point) = (made, self.point().to_vec());
        let op = Custom { func, captured, rule: Rule::Jvp(rule), rule_captured, point };
        code.b.typed(self.results, Op::Custom(Box::new(op)))
    }

    /// From what the rule has captured, coefficients of that, the order, the point and a tangent of it, to the coefficients of the rule's
    /// tangents; these twice, because nobody looks at the values.
    fn mixed_rule(&self, code: &mut Code<'_>, point: &[Ty], of: FuncId) -> Func {
        let types = |code: &Code<'_>, atoms: &[Atom]| -> Vec<Ty> {
            atoms.iter().map(|atom| code.b.type_of(atom)).collect()
        };
        let (captured, series) = (types(code, self.rule_captured()), types(code, self.inner));
        let values = types(code, self.values());
        let mut code = Code::new(code.ad, "mixed");
        let mut args = code.field_params("c", &captured);
        let series = code.field_params("cs", &series);
        let n = code.b.param("n".into(), Ty::INT);
        args.extend(code.field_params("x", point));
        args.extend(code.field_params("dx", point));
        let mut mask = self.varying.inner.clone();
        mask.resize(args.len(), false);
        let results = code.at_order(n, |code| {
            let found = code.long_call(&(of, mask), args, series);
            let all = found.values.iter().zip(found.series).skip(values.len());
            let mut made = Vec::new();
            for ((tangent, series), ty) in all.zip(&values) {
                if code.ad.tangent(*ty).is_some() {
                    made.push(series.unwrap_or_else(|| code.zero(Some(tangent), *ty)));
                }
            }
            made
        });
        code.finish(results.iter().chain(&results).cloned().collect())
    }

    /// The same, with the point's last infinitesimal.
    fn with_next(&self, code: &mut Code<'_>, series: &[Atom], m: &Atom) -> Vec<Atom> {
        let below = code.b.called("m").int(IntOp::Div, [m.clone(), Atom::Int(2)]);
        let mut halves = Vec::new();
        let mut zeros = Vec::new();
        for (x, series) in chosen(self.point(), &self.varying.point).iter().zip(series) {
            let ty = code.b.type_of(x);
            let half = code.at_order(below.clone(), |code| code.halves(x, series, ty));
            zeros.push(code.is_zero_tangent(x, &half.tangent, ty));
            zeros.push(code.is_zero(&half.upper));
            halves.push(half);
        }
        let mut args = self.fixed.to_vec();
        args.extend(self.captured.iter().chain(self.inner).cloned());
        args.extend(halves.iter().map(|half| half.lower.clone()));
        args.extend([below.clone(), self.n.clone()]);
        let before = code.b.call(self.own, args, self.results);
        let cond = code.all_of(zeros);
        code.b.open();
        let then = code.b.close(before.clone());
        code.b.open();
        let with = self.by_rule(code, &halves, before, &below);
        let otherwise = code.b.close(with);
        code.b.typed(self.results, Op::If { cond, then, otherwise })
    }

    fn by_rule(&self, code: &mut Code<'_>, halves: &[Halves], before: Vec<Atom>, below: &Atom) -> Vec<Atom> {
        let captured = self.rule_captured();
        let varying = chosen(self.point(), &self.varying.point);
        let mut all = Vec::new();
        for (x, half) in varying.iter().zip(halves) {
            let ty = code.b.type_of(x);
            let [lower, upper] = [&half.lower, &half.upper].map(|series| code.padded(series, ty));
            all.push(Halves { lower, upper, tangent: half.tangent.clone() });
        }
        let ruled = Ruled {
            own: self.own,
            rule: self.parts.rule,
            captured: captured.len(),
            point: self.varying.point.clone(),
            results: self.results.to_vec(),
        };
        let given = Given {
            captured,
            inner: (&self.varying.inner, self.inner),
            point: self.point(),
            values: self.values(),
        };
        let found = code.rule_in_cube(&ruled, &given, &all, true);
        let mut before = before.into_iter();
        let mut made = Vec::new();
        for (value, (tangent, series)) in self.values().iter().zip(found) {
            let ty = code.b.type_of(value);
            if code.ad.tangent(ty).is_none() {
                continue;
            }
            code.short(|code| code.inward("custom_jvp".into(), value, &tangent, ty));
            let series = series.unwrap_or_else(|| code.zero(Some(&tangent), ty));
            if let Some(before) = before.next() {
                made.push(code.with_shifted([value, &before, &tangent, &series], below, ty));
            }
        }
        made
    }
}

impl Code<'_> {
    /// Whether a tangent as the user sees it is zero.
    pub(super) fn is_zero_tangent(&mut self, x: &Atom, t: &Atom, ty: Ty) -> Atom {
        let tangent = self.short(|code| code.inward("jvp".into(), x, t, ty));
        tangent.map_or(Atom::Bool(true), |tangent| self.is_zero(&tangent))
    }

    /// Coefficients of the first infinitesimals as those of all: the others are zero.
    fn padded(&mut self, series: &Atom, ty: Ty) -> Atom {
        let own = self.ad.tangent(ty).unwrap_or(ty);
        match ty {
            Ty::Scalar(Elem::Data(data)) => {
                let func = self.ad.pad_function(data, own);
                let args = [series.clone(), self.order()];
                self.b.called("ts").call(func, args, &[own]).remove(0)
            }
            Ty::Scalar(_) => {
                let (n, there) = (self.order(), self.length(series));
                let more = self.b.int(IntOp::Sub, [n, there]);
                let zeros = self.b.called("zeros").array(ArrayOp::Replicate, [more, Atom::Real(0.0)]);
                self.b.called("ts").array(ArrayOp::Concat, [series.clone(), zeros])
            }
            Ty::Array(..) => {
                let row = ty.at(1).unwrap_or(Ty::REAL);
                let made = |code: &mut Self, rows: &[Atom]| match rows {
                    [series] => vec![code.padded(series, row)],
                    _ => Vec::new(),
                };
                self.of_each(std::slice::from_ref(series), &[("ts", own)], made).remove(0)
            }
        }
    }

    /// Coefficients of a value with those of a tangent added, times the infinitesimal whose place in products is `below + 1`.
    fn with_shifted(&mut self, parts: [&Atom; 4], below: &Atom, ty: Ty) -> Atom {
        let own = self.ad.tangent(ty).unwrap_or(ty);
        match ty {
            Ty::Scalar(Elem::Data(data)) => {
                let func = self.ad.shift_function(data, own);
                let args: Vec<Atom> =
                    parts.into_iter().cloned().chain([self.order(), below.clone()]).collect();
                self.b.called("ys").call(func, args, &[own]).remove(0)
            }
            Ty::Scalar(_) => self.shifted_number(parts, below),
            Ty::Array(..) => {
                let row = ty.at(1).unwrap_or(Ty::REAL);
                let made = |code: &mut Self, rows: &[Atom]| match rows {
                    [y, ys, t, ts] => vec![code.with_shifted([y, ys, t, ts], below, row)],
                    _ => Vec::new(),
                };
                self.of_each(&parts.map(Atom::clone), &[("ys", own)], made).remove(0)
            }
        }
    }

    fn shifted_number(&mut self, [_, series, t, more]: [&Atom; 4], below: &Atom) -> Atom {
        let n = self.order();
        self.b.open();
        let i = self.b.param("i".into(), Ty::INT);
        let own = self.b.param("y".into(), Ty::REAL);
        let [place, factor] = [&i, below].map(|count| self.next(count));
        let quotient = self.b.int(IntOp::Div, [place.clone(), factor.clone()]);
        let odd = self.b.int(IntOp::Rem, [quotient, Atom::Int(2)]);
        let cond = self.b.compare(Compare::Eq, odd, Atom::Int(1));
        self.b.open();
        let other = self.b.int(IntOp::Sub, [place, factor]);
        let first = self.b.compare(Compare::Eq, other.clone(), Atom::Int(0));
        self.b.open();
        let then = self.b.close(vec![t.clone()]);
        self.b.open();
        let at = self.b.int(IntOp::Sub, [other, Atom::Int(1)]);
        let coef = self.coefficient(more, &at);
        let otherwise = self.b.close(vec![coef]);
        let coef = self.b.called("t").typed1(Ty::REAL, Op::If { cond: first, then, otherwise });
        let sum = self.b.real(RealOp::Add, [own.clone(), coef]);
        let then = self.b.close(vec![sum]);
        self.b.open();
        let otherwise = self.b.close(vec![own]);
        let made = self.b.typed1(Ty::REAL, Op::If { cond, then, otherwise });
        let body = self.b.close(vec![made]);
        self.each(n, vec![series.clone()], Vec::new(), body, &[("ys".into(), SERIES)]).remove(0)
    }
}

impl Ad {
    fn pad_function(&mut self, data: DataId, own: Ty) -> FuncId {
        self.function_of_ctors(Helper::Pad(data), (data, own, own), true, |code, field, ty| {
            code.padded(field, ty)
        })
    }

    fn shift_function(&mut self, data: DataId, own: Ty) -> FuncId {
        self.helper(Helper::Shifted(data), vec![own], |ad| {
            ad.make_joined(("shifted", data, own), true, |code, parts, below, ty| {
                code.with_shifted(parts, below, ty)
            })
        })
    }
}
