//! Matrices that are written out: their rows are not made by themselves.
//!
//! ```text
//! a = [x, 1.0]   b = [2.0, y]   m = [a, b]            m[0] = x   m[1] = 1.0   m[2] = 2.0   m[3] = y
//! ```
//!
//! Each row would be an object that is copied and freed, and all of them would wait for the last one: of thousands of rows, as of
//! data that stands in a program, machine code could not be made in reasonable time.

use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::{ArrayOp, Op};
use wengert_ir::ty::Elem;
use wengert_ir::{Atom, Block, Func, Ty, Var};

/// The arrays that are written out as a whole.
#[derive(Default)]
pub(super) struct Written {
    /// What is in them, row after row, and their sizes.
    wholes: FxHashMap<Var, (Vec<usize>, Vec<Atom>)>,
    /// Their rows, which nothing else needs.
    rows: FxHashSet<Var>,
}

impl Written {
    pub(super) fn of_function(func: &Func) -> Written {
        let mut uses: FxHashMap<Var, usize> = FxHashMap::default();
        let mut any = false;
        let mut note = |atom: &Atom| {
            atom.var().into_iter().for_each(|var| *uses.entry(var).or_default() += 1);
        };
        func.body.results.iter().for_each(&mut note);
        func.body.for_each_stmt(&mut |stmt| {
            any |= is_of_rows(func, &stmt.op);
            stmt.op.for_each_atom(&mut note);
            stmt.op.blocks().iter().flat_map(|inner| &inner.results).for_each(&mut note);
        });
        let mut written = Written::default();
        if any {
            written.block(func, &func.body, &uses);
        }
        written
    }

    /// The sizes and the elements of an array, if it is one.
    pub(super) fn whole(&self, var: Var) -> Option<&(Vec<usize>, Vec<Atom>)> {
        self.wholes.get(&var)
    }

    /// Whether an array is a row of such a one.
    pub(super) fn is_row(&self, var: Var) -> bool {
        self.rows.contains(&var)
    }

    fn block(&mut self, func: &Func, block: &Block, uses: &FxHashMap<Var, usize>) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            // Arrays of this block of which all elements are known.
            let mut here: FxHashMap<Var, (Vec<usize>, Vec<Atom>)> = FxHashMap::default();
            for stmt in &block.stmts {
                stmt.op.blocks().into_iter().for_each(|inner| self.block(func, inner, uses));
                let (Op::Array(ArrayOp::Literal, atoms), [out]) = (&stmt.op, stmt.outs.as_slice()) else {
                    continue;
                };
                if !matches!(func.ty(*out), Ty::Array(Elem::Real | Elem::Int | Elem::Bool, _)) {
                    continue;
                }
                if !is_of_rows(func, &stmt.op) {
                    here.insert(*out, (vec![atoms.len()], atoms.clone()));
                    continue;
                }
                let rows: Vec<Var> = atoms.iter().filter_map(Atom::var).collect();
                let used_once = |row: &Var| uses.get(row) == Some(&1);
                let sizes = rows.first().and_then(|row| here.get(row)).map(|(sizes, _)| sizes.clone());
                let alike = |row: &Var| here.get(row).is_some_and(|(other, _)| Some(other) == sizes.as_ref());
                if !rows.iter().all(|row| used_once(row) && alike(row)) {
                    continue;
                }
                let mut elements = Vec::new();
                for row in &rows {
                    elements.extend(here.remove(row).into_iter().flat_map(|(_, row)| row));
                    self.wholes.remove(row);
                }
                self.rows.extend(&rows);
                let sizes: Vec<usize> =
                    std::iter::once(rows.len()).chain(sizes.into_iter().flatten()).collect();
                here.insert(*out, (sizes.clone(), elements.clone()));
                self.wholes.insert(*out, (sizes, elements));
            }
        });
    }
}

/// Whether an operation writes out an array of arrays.
fn is_of_rows(func: &Func, op: &Op) -> bool {
    let Op::Array(ArrayOp::Literal, atoms) = op else { return false };
    let is_array = |var: Var| matches!(func.ty(var), Ty::Array(..));
    atoms.first().and_then(Atom::var).is_some_and(is_array)
}
