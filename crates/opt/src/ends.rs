//! What goes into a loop and comes out of it: no array goes in twice, none that is known without reading it, and none comes
//! out twice or as it went in. What is kept in each iteration, and is the same in all, is known without reading it. The sizes of rows are those of the array.
//!
//! ```text
//! each i < n, x in xs, y in xs, j in iota(n), c in replicate(n, 2.0) { … yield x, z, z }
//! each i < n, x in xs { … yield z }               with y = x, j = i, c = 2.0; the first result is xs
//! ```

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed stays as it is")]

use crate::known::is_same;
use crate::walk::{Forward, Names};
use rustc_hash::FxHashMap;
use wengert_ir::op::{ArrayOp, Loop, Mode, Op, While};
use wengert_ir::{Atom, Block, Func, Program, Stmt, Var};

/// See the module.
pub(crate) fn run(program: &mut Program) {
    for (_, func) in program.funcs.iter_mut() {
        Ends::default().function(func);
    }
}

#[derive(Default)]
struct Ends {
    names: Names,
    /// Arrays whose rows are known.
    known: FxHashMap<Var, Rows>,
    /// Rows, the arrays in which they stand, and after how many axes.
    rows: FxHashMap<Var, (Atom, u8)>,
}

/// The rows of an array.
#[derive(Clone)]
enum Rows {
    /// All the same.
    All(Atom),
    /// Each the number of its place.
    Places,
}

impl Forward for Ends {
    fn names(&mut self) -> &mut Names {
        &mut self.names
    }

    fn stmt(&mut self, func: &mut Func, _: &mut Vec<Stmt>, stmt: &mut Stmt) -> Option<Vec<Atom>> {
        match &mut stmt.op {
            Op::Array(op, args) => {
                let rows = match (*op, args.as_slice()) {
                    (ArrayOp::Replicate, [_, row]) => Some(Rows::All(row.clone())),
                    (ArrayOp::Iota, _) => Some(Rows::Places),
                    (ArrayOp::Zeros, [xs]) if func.type_of(xs).rank() == 1 => {
                        Some(Rows::All(Atom::Real(0.0)))
                    }
                    _ => None,
                };
                if let (Some(rows), [out]) = (rows, stmt.outs.as_slice()) {
                    self.known.insert(*out, rows);
                }
                if let (ArrayOp::Index, [array, ..], [out]) = (*op, args.as_slice(), stmt.outs.as_slice())
                    && func.ty(*out).rank() > 0
                {
                    let axes = func.type_of(array).rank().saturating_sub(func.ty(*out).rank());
                    self.rows.insert(*out, (array.clone(), axes));
                }
                if let (ArrayOp::Length(axis), [xs]) = (op, args.as_mut_slice()) {
                    // Rows of rows of …
                    while let Some((array, axes)) = xs.var().and_then(|row| self.rows.get(&row)).cloned() {
                        (*axis, *xs) = (*axis + axes, array);
                    }
                }
            }
            Op::Loop(parts) if parts.mode != Mode::Reduce => {
                self.inputs(parts);
                self.outputs(parts, &mut stmt.outs);
                let carried = 1 + parts.init.len() + parts.accs.len();
                for (param, input) in parts.body.params.iter().skip(carried).zip(&parts.inputs) {
                    if func.ty(*param).rank() > 0 {
                        self.rows.insert(*param, (input.clone(), 1));
                    }
                }
            }
            Op::While(parts) => self.rows_of_while(parts, &mut stmt.outs),
            _ => {}
        }
        None
    }
}

impl Ends {
    fn inputs(&mut self, parts: &mut Loop) {
        let carried = 1 + parts.init.len() + parts.accs.len();
        let index = parts.body.params.first().copied();
        let rows = parts.body.params.split_off(carried.min(parts.body.params.len()));
        let mut kept: Vec<(Atom, Var)> = Vec::new();
        for (param, input) in rows.into_iter().zip(std::mem::take(&mut parts.inputs)) {
            let row = match (input.var().and_then(|var| self.known.get(&var)), index) {
                (Some(Rows::All(row)), _) => Some(row.clone()),
                (Some(Rows::Places), Some(index)) => Some(Atom::Var(index)),
                (_, _) => kept.iter().find(|(other, _)| *other == input).map(|(_, row)| Atom::Var(*row)),
            };
            match row {
                Some(row) => self.names.set(param, row),
                None => kept.push((input, param)),
            }
        }
        (parts.inputs, parts.body.params) = {
            let (inputs, rows): (Vec<Atom>, Vec<Var>) = kept.into_iter().unzip();
            let params = std::mem::take(&mut parts.body.params);
            (inputs, params.into_iter().chain(rows).collect())
        };
    }

    fn outputs(&mut self, parts: &mut Loop, outs: &mut Vec<Var>) {
        let carried = parts.init.len() + parts.accs.len();
        let rows: Vec<(Atom, Var)> = parts
            .body
            .params
            .iter()
            .skip(1 + carried)
            .zip(&parts.inputs)
            .map(|(row, input)| (input.clone(), *row))
            .collect();
        let results = parts.body.results.split_off(carried.min(parts.body.results.len()));
        let given = outs.split_off(carried.min(outs.len()));
        self.same_in_all(&parts.body, &results, &given);
        self.given_once(results, given, &rows, &mut parts.body.results, outs);
    }

    /// What each iteration gives, if it does not come from the iteration.
    fn same_in_all(&mut self, body: &Block, results: &[Atom], outs: &[Var]) {
        for (result, out) in results.iter().zip(outs) {
            let mut row = result.clone();
            self.names.replace(&mut row);
            let comes_from_here =
                |var| body.params.contains(&var) || body.stmts.iter().any(|stmt| stmt.outs.contains(&var));
            if !row.var().is_some_and(comes_from_here) {
                self.known.insert(*out, Rows::All(row));
            }
        }
    }

    /// Adds those rows, with the arrays they make, that are given for the first time and are not rows of an input.
    fn given_once(
        &mut self,
        results: Vec<Atom>,
        outs: Vec<Var>,
        rows: &[(Atom, Var)],
        kept: &mut Vec<Atom>,
        arrays: &mut Vec<Var>,
    ) {
        let first = kept.len();
        for (mut result, out) in results.into_iter().zip(outs) {
            self.names.replace(&mut result);
            let same =
                rows.iter().find(|(_, row)| result.var() == Some(*row)).map(|(input, _)| input.clone());
            let twice = kept.iter().zip(arrays.iter()).skip(first).find(|(other, _)| is_same(other, &result));
            match same.or(twice.map(|(_, array)| Atom::Var(*array))) {
                Some(known) => self.names.set(out, known),
                None => {
                    kept.push(result);
                    arrays.push(out);
                }
            }
        }
    }

    /// The rows that a loop gives which goes on as long as a condition holds.
    fn rows_of_while(&mut self, parts: &mut While, outs: &mut Vec<Var>) {
        let carried = parts.init.len();
        let results = parts.body.results.split_off(carried.min(parts.body.results.len()));
        let rows = outs.split_off(carried.min(outs.len()));
        self.same_in_all(&parts.body, &results, &rows);
        self.given_once(results, rows, &[], &mut parts.body.results, outs);
    }
}
