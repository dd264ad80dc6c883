//! Linearization of loops.
//!
//! What the linear part of the body mentions is kept for every iteration, as a further output; but not what can be had
//! otherwise: the index, rows of inputs (their array is there), what comes from around the loop.
//!
//! ```text
//! loop i, carried a, row x of xs: a * x         a * x keeps a;  the linear part is a loop over (a, x) in (as, xs)
//! ```
//!
//! Nor what is read of an array that the loop carries where it does not write any more ([`super::settled`]).
//!
//! Rows that may differ in size from iteration to iteration are boxed. A `while` loop keeps everything that its linear part
//! mentions; that is a loop over as many iterations as there were.

#![expect(clippy::wildcard_enum_match_arm, reason = "operations that keep shapes are named")]

use super::Linearize;
use super::settled::DoneAgain;
use crate::linear::{Carried, Lin, LinBlock, LinLoop, Row};
use crate::transpose::Unknown;
use indexmap::IndexSet;
use rustc_hash::FxHashSet;
use std::rc::Rc;
use wengert_base::Name;
use wengert_ir::op::{ArrayOp, Atom, Block, IntOp, Loop, Mode, Op, Stmt, Var, While};
use wengert_ir::program::VarInfo;
use wengert_ir::ty::{Elem, Ty};

/// What the linear part of a loop has of each iteration.
struct Kept {
    rows: Vec<Row>,
    /// The arrays of what is kept.
    more: Vec<Var>,
    again: Vec<Stmt>,
}

impl Linearize<'_, '_> {
    pub(super) fn repeat(&mut self, stmt: &Stmt, parts: &Loop) -> Lin {
        let kept_count = parts.init.len() + parts.accs.len();
        let params = &parts.body.params;
        let (index, rest) =
            params.split_first().map_or((None, &[][..]), |(index, rest)| (Some(*index), rest));
        let (states, inputs) = rest.split_at_checked(kept_count).unwrap_or((rest, &[]));
        let settled = Rc::new(self.settled(stmt, parts));
        self.around.push(Rc::clone(&settled));
        self.code.b.open();
        let mut linear = self.block(&parts.body);
        let made = self.code.b.close(parts.body.results.clone());
        let mut body = Block { params: params.clone(), ..made };
        settled.in_linear(&mut linear, &mut self.said.clone());
        let done_again = self.done_again(&settled, &body);
        self.around.pop();
        let init: Vec<Atom> = parts.init.iter().chain(&parts.accs).cloned().collect();
        let carried = self.carried((states, &init, &stmt.outs), &linear, &body);
        let mentioned = self.mentioned_by_loop(&linear, &carried, &body);
        let Kept { rows, more, again } =
            self.keep_rows(parts, done_again.as_ref(), (&linear, &mentioned), &mut body);
        self.read_rows(&settled, true, &linear, &again);
        let mode = if parts.mode == Mode::Reduce { Mode::Sequence } else { parts.mode };
        let outs = stmt.outs.iter().copied().chain(more).collect();
        let op = Op::Loop(Box::new(Loop { body, mode, ..parts.clone() }));
        self.code.b.push(Stmt { outs, op, span: stmt.span });
        self.read_rows(&settled, false, &linear, &again);
        let tangents = inputs
            .iter()
            .zip(&parts.inputs)
            .filter_map(|(row, array)| Some((*row, self.scope.of(array)?)))
            .collect();
        Lin::Loop(Box::new(LinLoop {
            len: parts.len.clone(),
            backward: parts.backward,
            index,
            again,
            rows,
            inputs: tangents,
            carried,
            outputs: self.outputs(&stmt.outs, kept_count),
            body: linear,
        }))
    }

    /// What is kept of each iteration, as further outputs of the loop, and what is computed again.
    fn keep_rows(
        &mut self,
        parts: &Loop,
        done_again: Option<&DoneAgain>,
        (linear, mentioned): (&LinBlock, &[Var]),
        body: &mut Block,
    ) -> Kept {
        let from = 1 + parts.init.len() + parts.accs.len();
        let inputs: Vec<Var> = parts.body.params.iter().skip(from).copied().collect();
        let there = inputs.iter().chain(parts.body.params.first()).copied().collect();
        let (block, elements) = match done_again {
            Some(DoneAgain { block, kept }) => (block, kept),
            None => (&*body, &FxHashSet::default()),
        };
        let may = |stmt: &Stmt| !stmt.outs.iter().any(|out| elements.contains(out));
        let shapes = self.only_shapes(linear, mentioned);
        let again = crate::again::plan(self.code, block, (mentioned, &shapes), &there, &may);
        let (mut rows, mut more) = (Vec::new(), Vec::new());
        for var in again.used {
            let input = inputs.iter().position(|row| *row == var).and_then(|i| parts.inputs.get(i));
            rows.extend(input.map(|array| Row { var, array: array.clone(), boxed: None }));
        }
        for var in again.kept {
            let (row, out) = self.kept_row(var, body, &inputs);
            rows.push(row);
            more.push(out);
        }
        Kept { rows, more, again: again.stmts }
    }

    fn carried(
        &self,
        (params, init, outs): (&[Var], &[Atom], &[Var]),
        linear: &LinBlock,
        body: &Block,
    ) -> Vec<Carried> {
        let all = params.iter().zip(init).zip(outs).enumerate();
        let varying = all.filter(|(_, ((param, _), _))| self.scope.active.contains(param));
        varying
            .map(|(result, ((param, init), out))| {
                let varies = matches!(linear.results.get(result), Some(Some(_)));
                let next = body.results.get(result).filter(|_| !varies && self.changes_shape(*param));
                Carried { param: *param, init: self.scope.arg(init), out: *out, result, fixed: next.cloned() }
            })
            .collect()
    }

    /// Whether something that is carried is an array that may change its shape.
    fn changes_shape(&self, param: Var) -> bool {
        self.code.b.func().ty(param).rank() > 0 && self.likes.root(param) == param
    }

    /// What the linear part of a body mentions, and the arrays of which its derivatives need zeros: what is carried, where the next state
    /// adds nothing to its cotangent, and the next state, where it does not vary.
    ///
    /// ```text
    /// loop i, carried e: build i (…)        ē has the length of e, the tangent of the next e that of `build i`
    /// ```
    fn mentioned_by_loop(&self, linear: &LinBlock, carried: &[Carried], body: &Block) -> Vec<Var> {
        let mut mentioned: IndexSet<Var> = self.mentioned(linear, body).into_iter().collect();
        let bound = super::bound(body);
        for Carried { param, result, fixed, .. } in carried {
            if self.changes_shape(*param) && !Unknown::gets(linear, *result, *param) {
                mentioned.insert(*param);
            }
            let next = fixed.as_ref().and_then(Atom::var).map(|var| self.likes.root(var));
            mentioned.extend(next.filter(|var| bound.contains(var)));
        }
        mentioned.into_iter().collect()
    }

    fn outputs(&self, outs: &[Var], from: usize) -> Vec<(Var, usize)> {
        let all = outs.iter().enumerate().skip(from);
        all.filter(|(_, out)| self.scope.active.contains(out)).map(|(result, out)| (*out, result)).collect()
    }

    /// Makes a variable of the body a further output.
    fn kept_row(&mut self, var: Var, body: &mut Block, rows: &[Var]) -> (Row, Var) {
        let VarInfo { name, ty } = *self.code.b.func().vars.at(var);
        let boxed =
            (ty.rank() > 0 && !self.has_fixed_shape(var, body, rows)).then(|| self.code.ad.box_of(ty));
        let (value, row_ty) = match boxed {
            None => (var, ty),
            Some(data) => {
                let own = Ty::Scalar(Elem::Data(data));
                let boxed = self.code.b.fresh(name, own);
                let op = Op::Make { data, ctor: 0, fields: vec![Atom::Var(var)] };
                body.stmts.push(Stmt { outs: vec![boxed], op, span: self.code.b.span() });
                (boxed, own)
            }
        };
        body.results.push(Atom::Var(value));
        let out = self.code.b.fresh(plural(name), row_ty.array_of().unwrap_or(row_ty));
        (Row { var, array: Atom::Var(out), boxed }, out)
    }

    /// Whether an array of the body has the same shape in every iteration, as far as can be seen easily. `rows` are the
    /// parameters that are rows of arrays: they agree in shape.
    fn has_fixed_shape(&self, var: Var, body: &Block, rows: &[Var]) -> bool {
        let is_array = |var: &Var| self.code.b.func().ty(*var).rank() > 0;
        let fixed = rows.iter().copied().filter(is_array).collect();
        let mut shapes = Shapes { linearize: self, bound: FxHashSet::default(), fixed };
        shapes.block(body);
        shapes.fixed.contains(&var)
    }

    pub(super) fn while_loop(&mut self, stmt: &Stmt, parts: &While) -> Lin {
        let params = parts.body.params.clone();
        self.code.b.open();
        let linear = self.block(&parts.body);
        let made = self.code.b.close(parts.body.results.clone());
        let mut body = Block { params: params.clone(), ..made };
        let carried_count = parts.init.len();
        let carried = self.carried((&params, &parts.init, &stmt.outs), &linear, &body);
        let mentioned = self.mentioned_by_loop(&linear, &carried, &body);
        let (mut rows, mut more) = (Vec::new(), Vec::new());
        let (shapes, there) = (self.only_shapes(&linear, &mentioned), FxHashSet::default());
        let again = crate::again::plan(self.code, &body, (&mentioned, &shapes), &there, &|_| true);
        for var in again.kept {
            let (row, out) = self.kept_row(var, &mut body, &[]);
            rows.push(row);
            more.push(out);
        }
        let mut parts = While { body, ..parts.clone() };
        let mut outs: Vec<Var> = stmt.outs.clone();
        let counted = more.is_empty().then(|| self.count(&mut parts, carried_count));
        // The counter comes after the other carried values.
        outs.splice(carried_count.min(outs.len())..carried_count.min(outs.len()), counted);
        outs.extend(&more);
        self.code.b.push(Stmt { outs, op: Op::While(Box::new(parts.clone())), span: stmt.span });
        let len = match (counted, more.first()) {
            (Some(count), _) => Atom::Var(count),
            (None, Some(first)) => self.code.length(&Atom::Var(*first)),
            (None, None) => Atom::Int(0),
        };
        Lin::Loop(Box::new(LinLoop {
            len,
            backward: false,
            index: None,
            again: again.stmts,
            rows,
            inputs: Vec::new(),
            carried,
            outputs: self.outputs(&stmt.outs, carried_count),
            body: linear,
        }))
    }

    /// Lets a loop count its iterations, in a further carried value.
    fn count(&mut self, parts: &mut While, at: usize) -> Var {
        let name: Name = "n".into();
        let [out, tested, before, after] = [name; 4].map(|name| self.code.b.fresh(name, Ty::INT));
        parts.init.insert(at, Atom::Int(0));
        parts.cond.params.insert(at, tested);
        parts.body.params.insert(at, before);
        let op = Op::Int(IntOp::Add, vec![Atom::Var(before), Atom::Int(1)]);
        parts.body.stmts.push(Stmt { outs: vec![after], op, span: self.code.b.span() });
        parts.body.results.insert(at, Atom::Var(after));
        out
    }
}

/// Which variables of a body are the same in every iteration: integers themselves, of arrays the shapes.
struct Shapes<'s, 'a, 'c> {
    linearize: &'s Linearize<'a, 'c>,
    /// What is bound in the body.
    bound: FxHashSet<Var>,
    fixed: FxHashSet<Var>,
}

impl Shapes<'_, '_, '_> {
    fn known(&self, atom: &Atom) -> bool {
        let of_fixed = |var: Var| {
            let root = self.linearize.likes.root(var);
            root != var && (!self.bound.contains(&root) || self.fixed.contains(&root))
        };
        atom.var().is_none_or(|var| !self.bound.contains(&var) || self.fixed.contains(&var) || of_fixed(var))
    }

    /// Whether an operand has a known shape: scalars have.
    fn shaped(&self, atom: &Atom) -> bool {
        self.linearize.code.b.type_of(atom).rank() == 0 || self.known(atom)
    }

    fn block(&mut self, block: &Block) {
        self.bound.extend(&block.params);
        for stmt in &block.stmts {
            self.bound.extend(&stmt.outs);
            let fixed = self.stmt(stmt);
            self.fixed.extend(stmt.outs.iter().zip(fixed).filter(|(_, fixed)| *fixed).map(|(out, _)| *out));
        }
    }

    /// For each result of a statement whether it is.
    fn stmt(&mut self, stmt: &Stmt) -> Vec<bool> {
        let fixed = match &stmt.op {
            Op::Loop(parts) => return self.repeat(parts),
            Op::Copy(x) => self.known(x),
            Op::Int(_, args) => args.iter().all(|arg| self.known(arg)),
            Op::Array(ArrayOp::Literal, rows) => rows.iter().all(|row| self.shaped(row)),
            Op::Array(ArrayOp::Length(_), args) => args.iter().all(|arg| self.known(arg)),
            Op::Array(ArrayOp::Replicate, args) => match args.as_slice() {
                [count, row] => self.known(count) && self.shaped(row),
                _ => false,
            },
            Op::Array(ArrayOp::Iota, args) => args.iter().all(|arg| self.known(arg)),
            Op::Array(ArrayOp::MatVec, args) => args.first().is_some_and(|rows| self.known(rows)),
            Op::Array(ArrayOp::MatMul | ArrayOp::Concat, args) => args.iter().all(|arg| self.known(arg)),
            Op::Array(
                ArrayOp::Set
                | ArrayOp::AddAt
                | ArrayOp::Zeros
                | ArrayOp::Reverse
                | ArrayOp::Transpose
                | ArrayOp::Sort
                | ArrayOp::ArgSort
                | ArrayOp::ScatterAdd
                | ArrayOp::AddProduct(_)
                | ArrayOp::Ravel
                | ArrayOp::Flatten,
                args,
            ) => args.first().is_some_and(|xs| self.known(xs)),
            // A number that was read is not the same every time; a row has the shape of all rows.
            Op::Array(ArrayOp::Index, args) => {
                let array = stmt.outs.iter().any(|out| self.linearize.code.b.func().ty(*out).rank() > 0);
                array && args.first().is_some_and(|xs| self.known(xs))
            }
            _ => false,
        };
        vec![fixed; stmt.outs.len()]
    }

    fn repeat(&mut self, parts: &Loop) -> Vec<bool> {
        let carried = parts.init.len() + parts.accs.len();
        let params = parts.body.params.iter().skip(1);
        let accs = params.clone().skip(parts.init.len()).zip(&parts.accs);
        let rows = params.skip(carried).zip(&parts.inputs);
        let fixed: Vec<Var> =
            accs.chain(rows).filter(|(_, from)| self.known(from)).map(|(param, _)| *param).collect();
        let is_array = |var: &Var| self.linearize.code.b.func().ty(*var).rank() > 0;
        self.fixed.extend(fixed.into_iter().filter(is_array));
        self.block(&parts.body);
        let mut found = vec![false; parts.init.len()];
        found.extend(parts.accs.iter().map(|acc| self.known(acc)));
        let rows = parts.body.results.iter().skip(carried);
        found.extend(rows.map(|row| self.known(&parts.len) && self.shaped(row)));
        found
    }
}

/// The name of an array of such things.
fn plural(name: Name) -> Name {
    Name::new(&format!("{name}s"))
}
