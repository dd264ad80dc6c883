//! Small arrays that a loop hands on.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is no loop")]

use super::{ELEMENTS, Small, uses};
use wengert_base::Span;
use wengert_ir::op::{Op, While};
use wengert_ir::{Atom, Block, Stmt, Ty, Var};

/// So many elements in all at most.
const MOST: i64 = 2 * ELEMENTS;

/// An array that is handed on.
struct Carried {
    at: usize,
    dims: Vec<i64>,
}

/// A loop that hands something on: its body, its condition if it has one, and where the parameters for that begin.
struct Around<'s> {
    init: &'s mut Vec<Atom>,
    body: &'s mut Block,
    cond: Option<&'s mut Block>,
    first: usize,
}

impl Small<'_> {
    /// A loop hands on small arrays as their elements, where its body asks for no more than those, and makes them of such.
    pub(super) fn hand_on(&mut self, stmt: &mut Stmt, out: &mut Vec<Stmt>) -> bool {
        let span = stmt.span;
        let Around { init, body, cond, first } = match &mut stmt.op {
            Op::Loop(parts) => Around { init: &mut parts.init, body: &mut parts.body, cond: None, first: 1 },
            Op::While(parts) => {
                let While { init, cond, body } = &mut **parts;
                Around { init, body, cond: Some(cond), first: 0 }
            }
            _ => return false,
        };
        let chosen = self.chosen((&*init, &stmt.outs), (&*body, first), cond.as_deref());
        if chosen.is_empty() {
            return false;
        }
        let starts = std::mem::take(init);
        let mut results = Vec::new();
        let (mut outs, mut after) = (Vec::new(), Vec::new());
        for (at, start) in starts.iter().enumerate() {
            let (Some(result), Some(given)) = (body.results.get(at).cloned(), stmt.outs.get(at)) else {
                return false;
            };
            let Some(array) = chosen.iter().find(|array| array.at == at) else {
                init.push(start.clone());
                results.push(result);
                outs.push(*given);
                continue;
            };
            init.extend(self.elements(start, &array.dims, span, out));
            results.extend(self.elements(&result, &array.dims, span, &mut body.stmts));
            outs.extend(self.listed(*given, &array.dims, span, &mut after));
        }
        results.extend(body.results.iter().skip(starts.len()).cloned());
        outs.extend(stmt.outs.iter().skip(starts.len()));
        body.results = results;
        for block in std::iter::once(body).chain(cond) {
            self.take_elements(block, first, &chosen, span);
        }
        stmt.outs = outs;
        out.push(stmt.clone());
        out.append(&mut after);
        true
    }

    /// A block that was given arrays is given their elements.
    fn take_elements(&mut self, block: &mut Block, first: usize, chosen: &[Carried], span: Span) {
        let (mut params, mut stmts) = (Vec::new(), Vec::new());
        for (place, param) in block.params.iter().enumerate() {
            match chosen.iter().find(|array| first + array.at == place) {
                Some(array) => params.extend(self.listed(*param, &array.dims, span, &mut stmts)),
                None => params.push(*param),
            }
        }
        stmts.append(&mut block.stmts);
        (block.params, block.stmts) = (params, stmts);
    }

    /// Lists an array of new variables, which it gives.
    fn listed(&mut self, array: Var, dims: &[i64], span: Span, out: &mut Vec<Stmt>) -> Vec<Var> {
        let elements = self.named(array, dims);
        let atoms: Vec<Atom> = elements.iter().copied().map(Atom::Var).collect();
        self.list(array, &atoms, dims, span, out);
        elements
    }

    /// Variables for the elements of an array.
    pub(super) fn named(&mut self, array: Var, dims: &[i64]) -> Vec<Var> {
        let ty = Ty::Scalar(self.func.ty(array).elem());
        let name = self.func.vars.at(array).name;
        (0..dims.iter().product()).map(|_| self.func.fresh(name, ty)).collect()
    }

    /// Which of what it hands on these are.
    fn chosen(
        &self,
        (init, outs): (&[Atom], &[Var]),
        (body, first): (&Block, usize),
        cond: Option<&Block>,
    ) -> Vec<Carried> {
        let small = |at: usize| {
            let (param, out) = (*body.params.get(first + at)?, *outs.get(at)?);
            let (start, result) = (init.get(at)?, body.results.get(at)?);
            let dims = self.dims(&Atom::Var(param))?;
            let alike = |array: &Atom| self.dims(array).as_ref() == Some(&dims);
            let fits = alike(start) && alike(result) && alike(&Atom::Var(out));
            let asked = |block: &Block, param| {
                let gives = block.results.iter().any(|result| result.var() == Some(param));
                uses::asks_for_elements(self.func, block, param) && !gives
            };
            let is_asked = match cond {
                Some(cond) => asked(cond, *cond.params.get(at)?),
                None => true,
            };
            (fits && is_asked && uses::asks_for_elements(self.func, body, param))
                .then_some(Carried { at, dims })
        };
        let mut chosen: Vec<Carried> = (0..init.len()).filter_map(small).collect();
        // What is handed on must be made of elements, or be one of those that came.
        loop {
            let came: Vec<Var> =
                chosen.iter().filter_map(|array| body.params.get(first + array.at)).copied().collect();
            let before = chosen.len();
            chosen.retain(|array| {
                body.results.get(array.at).is_some_and(|result| {
                    result.var().is_some_and(|var| came.contains(&var))
                        || uses::is_made_of_elements(self.func, body, result)
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
