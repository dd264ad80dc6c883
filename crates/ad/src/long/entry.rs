//! One more infinitesimal: where a function asks for a derivative, and is differentiated itself, as often as only running tells.
//!
//! An *entry* is a function for such a request, from arguments and tangents to values and tangents. It begins with one infinitesimal. Where
//! it is differentiated, there are some already; then it asks for the same function with one more:
//!
//! ```text
//! func entry_f(x, t) = f(x, [t], 1)                                    the value, and of the coefficients the only one
//! entry_f inside of what has n coefficients                            f(x, xs ++ [t] ++ ts, 2 n + 1), in halves
//! func jvp_entry_f(x, t, x', t')                                       the same with n = 1, packed and unpacked
//! ```

use super::halves::Halves;
use crate::{Ad, Code, Key};
use wengert_base::Span;
use wengert_ir::op::{Atom, Op, Stmt, Var};
use wengert_ir::program::{Func, FuncId, VarInfo};
use wengert_ir::ty::Ty;

/// A request for a derivative in forward mode.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Entry {
    /// The function.
    of: FuncId,
    /// Which parameters have a tangent.
    given: Vec<bool>,
}

/// Values, with the coefficients of those that vary.
type Found = Vec<(Atom, Option<Atom>)>;

impl Ad {
    /// The function for a request: from the arguments, and tangents as the user sees them of those that have such.
    pub(crate) fn entry(&mut self, of: FuncId, given: Vec<bool>, span: Span) -> FuncId {
        let entry = Entry { of, given };
        if let Some(known) = self.long.begun.get(&(entry.clone(), span)) {
            return *known;
        }
        let results = self.program.funcs.at(of).results.repeat(2);
        let id = self.reserve(results);
        self.long.entries.insert(id, entry.clone());
        self.long.begun.insert((entry, span), id);
        self.long.pending.push((id, span));
        id
    }

    /// What an entry is for.
    pub(crate) fn entry_of(&self, func: FuncId) -> Option<&Entry> {
        self.long.entries.get(&func)
    }

    /// Makes the entries that are asked for, after what they are for is there.
    pub(crate) fn make_entries(&mut self) {
        let pending = std::mem::take(&mut self.long.pending);
        for (id, _) in &pending {
            if let Some(of) = self.entry_of(*id).map(|entry| entry.of) {
                self.expand(of);
            }
        }
        for (id, span) in pending {
            let Some(entry) = self.entry_of(id).cloned() else { continue };
            let made = self.make_entry(&entry, span);
            *self.program.funcs.at_mut(id) = made;
        }
    }

    fn make_entry(&mut self, entry: &Entry, span: Span) -> Func {
        let (mut code, args) = self.open_entry(entry, "derivative");
        code.b.set_func_span(span);
        code.b.set_span(span);
        let (xs, ts) = args.split_at(entry.given.len());
        let mut rest = ts.iter();
        for (x, _) in xs.iter().zip(&entry.given).filter(|(_, given)| **given) {
            let ty = code.b.type_of(x);
            if let Some(t) = rest.next() {
                code.inward("jvp".into(), x, t, ty);
            }
        }
        let series = vec![None; args.len()];
        let found = code.with_infinitesimals(0, |code| code.request_in_cube(entry, &args, &series));
        code.finish(found.into_iter().map(|(value, _)| value).collect())
    }

    /// Value and tangent of an entry.
    pub(crate) fn jvp_of_entry(&mut self, key: &Key) -> Option<Func> {
        let entry = self.entry_of(key.0).cloned()?;
        let reach = self.varying_results(key.0, &key.1);
        let (mut code, args) = self.open_entry(&entry, "jvp_derivative");
        let mut tangents = Vec::new();
        for (x, active) in args.iter().zip(&key.1) {
            let ty = code.b.type_of(x);
            let tangent = code.ad.tangent(ty).filter(|_| *active);
            tangents.push(tangent.map(|tangent| code.b.param("t".into(), tangent)));
        }
        let found = code.with_infinitesimals(1, |code| {
            let mut series = Vec::new();
            for (x, t) in args.iter().zip(&tangents) {
                let ty = code.b.type_of(x);
                series.push(t.as_ref().map(|t| code.packed(t, ty)));
            }
            code.request_in_cube(&entry, &args, &series)
        });
        let mut results: Vec<Atom> = found.iter().map(|(value, _)| value.clone()).collect();
        for ((value, series), varies) in found.iter().zip(reach) {
            let ty = code.b.type_of(value);
            if varies && code.ad.tangent(ty).is_some() {
                results.push(match series {
                    Some(series) => code.with_infinitesimals(1, |code| code.unpacked(series, ty)),
                    None => code.zero(Some(value), ty),
                });
            }
        }
        Some(code.finish(results))
    }

    /// A function with the parameters of an entry.
    fn open_entry(&mut self, entry: &Entry, what: &str) -> (Code<'_>, Vec<Atom>) {
        let func = self.program.funcs.at(entry.of);
        let params: Vec<VarInfo> = func.body.params.iter().map(|var| *func.vars.at(*var)).collect();
        let name = format!("{what}_{}", func.name);
        let mut code = Code::new(self, &name);
        let mut args: Vec<Atom> = params.iter().map(|info| code.b.param(info.name, info.ty)).collect();
        for (info, _) in params.iter().zip(&entry.given).filter(|(_, given)| **given) {
            args.push(code.b.param("t".into(), info.ty));
        }
        (code, args)
    }

    /// Which results of an entry vary if these parameters do: values where the function's do, and all tangents of what the function
    /// varies by.
    pub(crate) fn varying_results_of_entry(&mut self, func: FuncId, active: &[bool]) -> Option<Vec<bool>> {
        let Entry { of, given } = self.entry_of(func).cloned()?;
        let types = self.program.funcs.at(of).param_types();
        let own = active.get(..given.len()).unwrap_or_default().to_vec();
        let mut wide = own.clone();
        for ((wide, given), ty) in wide.iter_mut().zip(&given).zip(types) {
            *wide |= *given && self.tangent(ty).is_some();
        }
        let count = self.program.funcs.at(of).results.len();
        let mut found = if own.contains(&true) { self.varying_results(of, &own) } else { vec![false; count] };
        if active.contains(&true) {
            found.extend(self.varying_results(of, &wide));
        } else {
            found.resize(2 * count, false);
        }
        Some(found)
    }
}

impl Code<'_> {
    /// Does something where tangents are so many coefficients of infinitesimals.
    fn with_infinitesimals<R>(&mut self, order: i64, run: impl FnOnce(&mut Self) -> R) -> R {
        let before = std::mem::replace(&mut self.ad.long.cube, true);
        let result = self.switched(true, |code| code.at_order(Atom::Int(order), run));
        self.ad.long.cube = before;
        result
    }

    /// What an entry gives, where its arguments have coefficients.
    pub(crate) fn request_in_cube(&mut self, entry: &Entry, args: &[Atom], series: &[Option<Atom>]) -> Found {
        let Entry { of, given } = entry;
        let (xs, ts) = args.split_at_checked(given.len()).unwrap_or((args, &[]));
        let (lower, upper) = series.split_at_checked(given.len()).unwrap_or((series, &[]));
        let mut rest = ts.iter().zip(upper);
        let (mut mask, mut wide) = (Vec::new(), Vec::new());
        for ((x, series), given) in xs.iter().zip(lower).zip(given) {
            let ty = self.b.type_of(x);
            let t = if *given { rest.next() } else { None };
            let has = self.ad.tangent(ty).is_some();
            let t = t.filter(|_| has).map(|(t, upper)| (t, upper.as_ref()));
            mask.push(t.is_some() || (series.is_some() && has));
            if mask.last() == Some(&true) {
                wide.push(self.widened(x, series.as_ref(), t, ty));
            }
        }
        let varies = series.iter().any(Option::is_some);
        let order = self.wide_order();
        let key: Key = (*of, mask);
        let found = self.at_order(order, |code| code.long_call(&key, xs.to_vec(), wide));
        let (mut values, mut tangents) = (Vec::new(), Vec::new());
        for (value, series) in found.values.into_iter().zip(found.series) {
            let ty = self.b.type_of(&value);
            let (lower, tangent) = match series {
                Some(series) => {
                    let Halves { lower, tangent, upper } = self.halves(&value, &series, ty);
                    (Some(lower), (tangent, Some(upper)))
                }
                None => (None, (self.short(|code| code.outward(&value, None, ty)), None)),
            };
            values.push((value, lower.filter(|_| varies)));
            tangents.push((tangent.0, tangent.1.filter(|_| varies)));
        }
        values.extend(tangents);
        values
    }
}

impl crate::jvp::Jvp<'_, '_> {
    /// A call of an entry, where there are infinitesimals.
    pub(crate) fn call_entry(&mut self, stmt: &Stmt, entry: &Entry, args: &[Atom]) {
        let series: Vec<Option<Atom>> = args.iter().map(|arg| self.tangent(0, arg)).collect();
        let found = self.code.request_in_cube(entry, args, &series);
        for (out, (value, series)) in stmt.outs.iter().zip(found) {
            self.code.b.push(Stmt { outs: vec![*out], op: Op::Copy(value), span: stmt.span });
            self.note(*out, series);
        }
    }

    pub(super) fn note(&mut self, out: Var, series: Option<Atom>) {
        if self.scope.active.contains(&out)
            && let (Some(dots), Some(series)) = (self.dots.first_mut(), series)
        {
            dots.insert(out, series);
        }
    }
}

/// The type of a tangent as the user sees it.
pub(crate) fn is_same_type(code: &Code<'_>, x: &Atom, t: &Atom) -> bool {
    let [x, t]: [Ty; 2] = [x, t].map(|atom| code.b.type_of(atom));
    x == t
}
