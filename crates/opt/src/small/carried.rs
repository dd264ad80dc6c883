//! Small arrays that a loop hands on.

use super::{ELEMENTS, Small, uses};
use wengert_ir::op::{Loop, Op};
use wengert_ir::{Atom, Stmt, Ty, Var};

/// So many elements in all at most.
const MOST: i64 = 2 * ELEMENTS;

/// An array that is handed on.
struct Carried {
    at: usize,
    dims: Vec<i64>,
}

impl Small<'_> {
    /// A loop hands on small arrays as their elements, where its body asks for no more than those, and makes them of such.
    pub(super) fn hand_on(&mut self, stmt: &mut Stmt, out: &mut Vec<Stmt>) -> bool {
        let Op::Loop(parts) = &mut stmt.op else { return false };
        let chosen = self.chosen(parts, &stmt.outs);
        if chosen.is_empty() {
            return false;
        }
        let span = stmt.span;
        let (mut init, mut results, mut outs) = (Vec::new(), Vec::new(), Vec::new());
        let (mut params, mut before, mut after) = (Vec::new(), Vec::new(), Vec::new());
        params.extend(parts.body.params.first().copied());
        for (at, start) in parts.init.iter().enumerate() {
            let given = (parts.body.params.get(1 + at), parts.body.results.get(at), stmt.outs.get(at));
            let (Some(param), Some(result), Some(given)) = given else { return false };
            let Some(array) = chosen.iter().find(|array| array.at == at) else {
                init.push(start.clone());
                params.push(*param);
                results.push(result.clone());
                outs.push(*given);
                continue;
            };
            init.extend(self.elements(start, &array.dims, span, out));
            let elements = self.named(*param, &array.dims);
            let listed: Vec<Atom> = elements.iter().copied().map(Atom::Var).collect();
            self.list(*param, &listed, &array.dims, span, &mut before);
            params.extend(elements);
            results.extend(self.elements(result, &array.dims, span, &mut parts.body.stmts));
            let elements = self.named(*given, &array.dims);
            let listed: Vec<Atom> = elements.iter().copied().map(Atom::Var).collect();
            self.list(*given, &listed, &array.dims, span, &mut after);
            outs.extend(elements);
        }
        let count = parts.init.len();
        params.extend(parts.body.params.iter().skip(1 + count));
        results.extend(parts.body.results.iter().skip(count).cloned());
        outs.extend(stmt.outs.iter().skip(count));
        before.append(&mut parts.body.stmts);
        parts.init = init;
        parts.body.params = params;
        parts.body.results = results;
        parts.body.stmts = before;
        stmt.outs = outs;
        out.push(stmt.clone());
        out.append(&mut after);
        true
    }

    /// Variables for the elements of an array.
    fn named(&mut self, array: Var, dims: &[i64]) -> Vec<Var> {
        let ty = Ty::Scalar(self.func.ty(array).elem());
        let name = self.func.vars.at(array).name;
        (0..dims.iter().product()).map(|_| self.func.fresh(name, ty)).collect()
    }

    /// Which of what it hands on these are.
    fn chosen(&self, parts: &Loop, outs: &[Var]) -> Vec<Carried> {
        let small = |at: usize| {
            let (param, out) = (*parts.body.params.get(1 + at)?, *outs.get(at)?);
            let (start, result) = (parts.init.get(at)?, parts.body.results.get(at)?);
            let dims = self.dims(&Atom::Var(param))?;
            let alike = |array: &Atom| self.dims(array).as_ref() == Some(&dims);
            let fits = alike(start) && alike(result) && alike(&Atom::Var(out));
            (fits && uses::asks_for_elements(self.func, &parts.body, param)).then_some(Carried { at, dims })
        };
        let mut chosen: Vec<Carried> = (0..parts.init.len()).filter_map(small).collect();
        // What is handed on must be made of elements, or be one of those that came.
        loop {
            let came: Vec<Var> =
                chosen.iter().filter_map(|array| parts.body.params.get(1 + array.at)).copied().collect();
            let before = chosen.len();
            chosen.retain(|array| {
                parts.body.results.get(array.at).is_some_and(|result| {
                    result.var().is_some_and(|var| came.contains(&var))
                        || uses::is_made_of_elements(self.func, &parts.body, result)
                })
            });
            if chosen.len() == before {
                break;
            }
        }
        let total: i64 = chosen.iter().map(|array| array.dims.iter().product::<i64>()).sum();
        if total > MOST { Vec::new() } else { chosen }
    }
}
