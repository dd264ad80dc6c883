//! Takes out what no result depends on: the C compiler does that itself, the code generator of this program does not.
//!
//! A graph has the variables and the statements with parts as nodes: a variable needs what its assignments read, and the
//! statements that they stand in; such a statement needs its condition and what it stands in itself. What is needed by
//! stores, calls, failures and results is kept.

use crate::loops::walk::{map_parts, operands};
use crate::loops::{Operand, Program, Stmt, Sum, Value};
use wengert_ir::ty::Id;

/// Takes out of each function what does nothing.
pub(crate) fn clean(program: &mut Program) {
    for (_, func) in program.funcs.iter_mut() {
        let mut graph = Graph { locals: func.locals.len(), needs: Vec::new(), roots: Vec::new() };
        graph.needs.resize(graph.locals, Vec::new());
        graph.roots.extend(func.results.iter().map(|result| result.index()));
        graph.stmts(&func.body, None);
        let needed = graph.needed();
        let mut next = func.locals.len();
        let body = std::mem::take(&mut func.body);
        func.body = kept(body, &needed, &mut next);
    }
}

/// Nodes are numbers: first the variables, then the statements with parts, in their order.
struct Graph {
    locals: usize,
    needs: Vec<Vec<usize>>,
    roots: Vec<usize>,
}

/// Whether a value can be left out if nobody wants it.
fn is_pure(value: &Value) -> bool {
    !matches!(value, Value::Alloc(..))
}

impl Graph {
    fn need(&mut self, node: usize, operands: &[Operand], around: Option<usize>) {
        let Some(needs) = self.needs.get_mut(node) else { return };
        needs.extend(operands.iter().filter_map(number));
        needs.extend(around);
    }

    /// Something that is done whatever is read later.
    fn root(&mut self, operands: &[Operand], around: Option<usize>) {
        self.roots.extend(operands.iter().filter_map(number));
        self.roots.extend(around);
    }

    fn stmts(&mut self, stmts: &[Stmt], around: Option<usize>) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            for stmt in stmts {
                self.stmt(stmt, around);
            }
        });
    }

    fn stmt(&mut self, stmt: &Stmt, around: Option<usize>) {
        let read = operands(stmt);
        match stmt {
            Stmt::Set(local, value) => {
                self.need(local.index(), &read, around);
                if !is_pure(value) {
                    self.roots.push(local.index());
                    self.root(&read, around);
                }
            }
            Stmt::If { .. } | Stmt::Switch { .. } | Stmt::For { .. } | Stmt::While { .. } => {
                let node = self.needs.len();
                self.needs.push(Vec::new());
                self.need(node, &read, around);
                match stmt {
                    Stmt::If { then, otherwise, .. } => {
                        self.stmts(then, Some(node));
                        self.stmts(otherwise, Some(node));
                    }
                    Stmt::Switch { cases, .. } => {
                        cases.iter().for_each(|case| self.stmts(case, Some(node)));
                    }
                    Stmt::For { sums, body, .. } => {
                        // Whoever divides the loop makes arrays of these sizes.
                        for sum in sums {
                            if let Sum::Array { object: _, first, size } = sum {
                                self.need(node, &[Operand::Local(*first), *size], None);
                            }
                        }
                        self.stmts(body, Some(node));
                    }
                    Stmt::While { head, body, .. } => {
                        // It may never end.
                        self.roots.push(node);
                        self.stmts(head, Some(node));
                        self.stmts(body, Some(node));
                    }
                    Stmt::Set(..)
                    | Stmt::Store { .. }
                    | Stmt::Parallel { .. }
                    | Stmt::Call { .. }
                    | Stmt::Runtime { .. }
                    | Stmt::Retain(..)
                    | Stmt::Release(..)
                    | Stmt::Free(..)
                    | Stmt::Fail(..) => {}
                }
            }
            Stmt::Store { .. }
            | Stmt::Parallel { .. }
            | Stmt::Call { .. }
            | Stmt::Runtime { .. }
            | Stmt::Retain(..)
            | Stmt::Release(..)
            | Stmt::Free(..)
            | Stmt::Fail(..) => self.root(&read, around),
        }
    }

    /// For each node whether it is needed.
    fn needed(mut self) -> Vec<bool> {
        let mut needed = vec![false; self.needs.len()];
        while let Some(node) = self.roots.pop() {
            let Some(known) = needed.get_mut(node).filter(|known| !**known) else { continue };
            *known = true;
            self.roots.extend(self.needs.get(node).into_iter().flatten());
        }
        needed
    }
}

fn number(operand: &Operand) -> Option<usize> {
    if let Operand::Local(local) = operand { Some(local.index()) } else { None }
}

/// The statements without those that are not needed; `next` is the number of the next statement with parts.
fn kept(stmts: Vec<Stmt>, needed: &[bool], next: &mut usize) -> Vec<Stmt> {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let mut made = Vec::with_capacity(stmts.len());
        for stmt in stmts {
            let place = *next;
            let is_needed = |node: usize| needed.get(node).copied().unwrap_or(true);
            if matches!(&stmt, Stmt::Set(local, value) if !is_needed(local.index()) && is_pure(value)) {
                continue;
            }
            if matches!(stmt, Stmt::If { .. } | Stmt::Switch { .. } | Stmt::For { .. } | Stmt::While { .. }) {
                *next += 1;
            }
            let mut stmt = map_parts(stmt, &mut |inner| kept(inner, needed, next));
            if let Stmt::For { sums, independent, .. } = &mut stmt {
                let had = !sums.is_empty();
                sums.retain(|sum| match sum {
                    Sum::Word(local, _) => is_needed(local.index()),
                    Sum::Array { .. } | Sum::Near(_) => true,
                });
                *independent |= had && sums.is_empty();
            }
            if *next == place || is_needed(place) {
                made.push(stmt);
            }
        }
        made
    })
}

#[cfg(test)]
mod tests {
    use crate::loops::walk::{every, writes};
    use crate::loops::{Local, Operand, Stmt, Sum};
    use expect_test::expect;

    #[test]
    fn the_sizes_of_arrays_that_loops_add_to_stay() {
        let text = "func f(xs: []Real, zs: [][]Real, n: Int) -> [][]Real {
            ys = for i < n, ys += zs {
                x = xs[i]
                j = i / 2
                us = add_at(ys, j, 0, x)
                yield us
            }
            return ys
        }
        entry f = f";
        let program = wengert_ir::parse::parse(text).expect("the text is a program");
        let mut loops = crate::lower::lower(&program);
        let before = crate::loops::print(&loops);
        assert!(before.contains("adding to"), "{before}");
        super::clean(&mut loops);
        let mut sizes = Vec::new();
        for (_, func) in loops.funcs.iter() {
            let mut assigned: Vec<Local> = func.params.clone();
            every(&func.body, &mut |stmt| assigned.extend(writes(stmt)));
            every(&func.body, &mut |stmt| {
                let Stmt::For { sums, .. } = stmt else { return };
                sizes.extend(sums.iter().map(|sum| match sum {
                    Sum::Array { size: Operand::Local(size), .. } => assigned.contains(size),
                    Sum::Array { .. } | Sum::Near(_) | Sum::Word(..) => true,
                }));
            });
        }
        assert!(!sizes.is_empty() && sizes.into_iter().all(|known| known), "{}", crate::loops::print(&loops));
    }

    #[test]
    fn a_maximum_does_not_look_for_its_place_and_what_nobody_wants_goes() {
        let text = "func f(xs: []Real) -> Real {
            a = maximum(xs)
            b = minimum(xs)
            n = length(xs)
            s = for i < n, s = 0.0, x in xs { t = s + x yield t }
            p = s > 0.0
            c = if p { d = b * 2.0 yield d } else { yield s }
            return a
        }
        entry f = f";
        let program = wengert_ir::parse::parse(text).expect("the text is a program");
        let mut loops = crate::lower::lower(&program);
        super::clean(&mut loops);
        expect![[r#"
            func f_0(p1: address, i2: int) -> (r0: real) {
                i3 = i2 == 0
                if i3 {
                    fail empty()
                }
                r6 = real p1[0]
                r4 = r6
                for i7 in 0..i2 adding to r4 {
                    r8 = real p1[i7]
                    i9 = r4 >= r8
                    if i9 {
                    }
                    else {
                        i10 = r4 == r4
                        if i10 {
                            r4 = r8
                        }
                    }
                }
                i11 = i2 == 0
                if i11 {
                    fail empty()
                }
                r0 = r4
            }
        "#]]
        .assert_eq(&crate::loops::print(&loops));
    }
}
