//! Primitives on arrays, and loops. An array of tuples is several arrays, so most operations are done to each.

#![expect(clippy::wildcard_enum_match_arm, reason = "each function names the primitives that it treats")]

use crate::calls::Callee;
use crate::context::Lower;
use crate::scalars::is_trivial;
use crate::tree::{Kind, Node, Type};
use std::rc::Rc;
use wengert_base::Name;
use wengert_ir as ir;
use wengert_ir::MOST_ELEMENTS;
use wengert_ir::op::{ArrayOp, Atom, IntOp, Loop, Mode, Op, Requirement, Var, While};
use wengert_prim::Prim;

/// A loop to be made.
pub(crate) struct Plan {
    pub(crate) mode: Mode,
    pub(crate) len: Atom,
    pub(crate) inputs: Vec<Atom>,
    pub(crate) init: Vec<Atom>,
    /// Types of the rows of the outputs.
    pub(crate) outputs: Vec<ir::Ty>,
}

/// Where arrays of a component of tuples go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    /// Into the tuples.
    Boxed,
    /// Out of them.
    Opened,
}

/// What the body of a loop sees.
pub(crate) struct Round {
    pub(crate) index: Atom,
    pub(crate) carried: Vec<Atom>,
    pub(crate) rows: Vec<Atom>,
}

impl Lower<'_> {
    /// A loop; its body gives what is carried on, and a row for each output.
    pub(crate) fn repeat(
        &mut self,
        plan: Plan,
        body: impl FnOnce(&mut Self, Round) -> (Vec<Atom>, Vec<Atom>),
    ) -> Vec<Atom> {
        let Plan { mode, len, inputs, init, outputs } = plan;
        let index = self.called("i", ir::Ty::INT);
        let carried: Vec<Var> = init.iter().map(|atom| self.called("acc", self.ty(atom))).collect();
        let rows: Vec<Var> =
            inputs.iter().map(|atom| self.called("x", self.ty(atom).at(1).unwrap_or(ir::Ty::REAL))).collect();
        let params =
            std::iter::once(index).chain(carried.iter().copied()).chain(rows.iter().copied()).collect();
        let mut types: Vec<ir::Ty> = init.iter().map(|atom| self.ty(atom)).collect();
        for row in outputs {
            types.push(self.array_of(row));
        }
        let round = Round {
            index: Atom::Var(index),
            carried: carried.into_iter().map(Atom::Var).collect(),
            rows: rows.into_iter().map(Atom::Var).collect(),
        };
        let body = self.block_of(params, |lower| {
            let (mut results, rows) = body(lower, round);
            results.extend(rows);
            results
        });
        let parts = Loop { mode, backward: false, len, inputs, init, accs: Vec::new(), body };
        self.emit(Op::Loop(Box::new(parts)), &types)
    }

    /// A loop that collects elements of an array; its body gives what is carried on, and an element.
    fn collect(
        &mut self,
        mut plan: Plan,
        elem: &Type,
        body: impl FnOnce(&mut Self, Round) -> (Vec<Atom>, Vec<Atom>),
    ) -> Vec<Atom> {
        plan.outputs = self.rows(elem);
        let depth = if self.ragged() { depth(elem) } else { 0 };
        let is_rows = matches!(elem, Type::Array(_)) && !plan.outputs.is_empty() && !self.ragged();
        plan.outputs.extend((0..depth).map(|_| ir::Ty::INT));
        let len = plan.len.clone();
        let mut results = self.repeat(plan, |lower, round| {
            let (carried, made) = body(lower, round);
            let sizes = lower.sizes(&made, depth);
            let mut row = lower.packed(elem, made);
            row.extend(sizes);
            (carried, row)
        });
        let sizes = results.split_off(results.len().saturating_sub(usize::from(depth)));
        for sizes in sizes {
            self.check_alike(len.clone(), sizes);
        }
        // That rows do not agree comes to light although only they are used.
        if let Some(array) = results.last().filter(|_| is_rows).cloned() {
            self.emit(Op::Whole(array), &[]);
        }
        results
    }

    /// The sizes of an array of arrays along its axes.
    fn sizes(&mut self, arrays: &[Atom], depth: u8) -> Vec<Atom> {
        let first = arrays.first().cloned().unwrap_or(Atom::Unit);
        let size = |axis| self.one(Op::Array(ArrayOp::Length(axis), vec![first.clone()]), ir::Ty::INT);
        (0..depth).map(size).collect()
    }

    /// Fails unless the rows of an array of arrays, of these sizes, agree. Where rows may be ragged this need not come to light when
    /// the array is made, since they may never lie beside each other.
    fn check_alike(&mut self, len: Atom, sizes: Atom) {
        let plan = Plan {
            mode: Mode::Each,
            len,
            inputs: vec![sizes.clone()],
            init: Vec::new(),
            outputs: Vec::new(),
        };
        self.repeat(plan, |lower, mut round| {
            let own = round.rows.pop().unwrap_or(Atom::Unit);
            let first = lower.array_op(ArrayOp::Index, vec![sizes, Atom::Int(0)], ir::Ty::INT);
            lower.require(Requirement::Rows, first, own);
            (Vec::new(), Vec::new())
        });
    }

    /// The number of rows of an array, given by all its arrays.
    pub(crate) fn length(&mut self, arrays: &[Atom]) -> Atom {
        let array = arrays.first().cloned().unwrap_or(Atom::Unit);
        self.one(Op::Array(ArrayOp::Length(0), vec![array]), ir::Ty::INT)
    }

    /// Fails if so many elements cannot be: less than none, or more than any machine has memory for.
    fn check_storable(&mut self, function: &str, count: &Atom) {
        if matches!(count, Atom::Int(n) if (0..=MOST_ELEMENTS).contains(n)) {
            return;
        }
        let not_negative = self.int(IntOp::Max, vec![count.clone(), Atom::Int(0)]);
        let nearest = self.int(IntOp::Min, vec![not_negative, Atom::Int(MOST_ELEMENTS)]);
        self.require(Requirement::Count(Name::new(function)), count.clone(), nearest);
    }

    /// Fails if a count is negative.
    fn check_count(&mut self, function: &str, count: &Atom) {
        if matches!(count, Atom::Int(n) if *n >= 0) {
            return;
        }
        let not_negative = self.int(IntOp::Max, vec![count.clone(), Atom::Int(0)]);
        self.require(Requirement::Count(Name::new(function)), count.clone(), not_negative);
    }

    /// Fails if two arrays have different numbers of rows; gives the number.
    fn check_same_size(&mut self, function: &str, xs: &[Atom], ys: &[Atom]) -> Atom {
        let (m, n) = (self.length(xs), self.length(ys));
        self.require(Requirement::SameSize(Name::new(function)), m.clone(), n);
        m
    }

    /// Does the same to each array.
    fn each(&mut self, op: ArrayOp, arrays: &[Atom], more: &[Atom]) -> Vec<Atom> {
        let mut results = Vec::with_capacity(arrays.len());
        for array in arrays {
            let ty = self.ty(array);
            let args = std::iter::once(array).chain(more).cloned().collect();
            results.push(self.one(Op::Array(op, args), ty));
        }
        results
    }

    /// An operation with one result.
    pub(crate) fn array_op(&mut self, op: ArrayOp, args: Vec<Atom>, ty: ir::Ty) -> Atom {
        self.one(Op::Array(op, args), ty)
    }

    /// A primitive on arrays.
    pub(crate) fn array(&mut self, prim: Prim, args: &[Node], ty: &Type) -> Vec<Atom> {
        match (prim, args) {
            (Prim::Build, [count, func]) => self.build(count, func),
            (Prim::Map, [func, xs]) => {
                let func = self.callee(func);
                let elem = xs.ty.elem();
                let xs = self.term(xs);
                let len = self.length(&xs);
                self.map(len, xs, &[elem], &func, ty)
            }
            (Prim::Map2, [func, xs, ys]) => {
                let func = self.callee(func);
                let elems = [xs.ty.elem(), ys.ty.elem()];
                let (xs, ys) = (self.term(xs), self.term(ys));
                let len = self.check_same_size("map2", &xs, &ys);
                self.map(len, xs.into_iter().chain(ys).collect(), &elems, &func, ty)
            }
            (Prim::Filter, [func, xs]) => self.filter(func, xs),
            (Prim::Fold | Prim::Scan | Prim::Reduce, [func, init, xs]) => self.fold(prim, func, init, xs),
            (Prim::Index, [xs, index]) => self.index(xs, index, ty),
            (Prim::Replicate, [count, row]) => {
                let count = self.single(count);
                let row = self.row_of(row);
                let types: Vec<ir::Ty> = row.iter().map(|atom| self.ty(atom)).collect();
                let mut arrays = Vec::new();
                for (atom, row) in row.into_iter().zip(types) {
                    let array = self.array_of(row);
                    arrays.push(self.array_op(ArrayOp::Replicate, vec![count.clone(), atom], array));
                }
                arrays
            }
            (Prim::SetIndex, [xs, index, row]) => {
                let (xs, index) = (self.term(xs), self.single(index));
                let row = self.row_of(row);
                let mut arrays = Vec::new();
                for (array, row) in xs.into_iter().zip(row) {
                    let ty = self.ty(&array);
                    arrays.push(self.array_op(ArrayOp::Set, vec![array, index.clone(), row], ty));
                }
                arrays
            }
            (Prim::Zip, [xs, ys]) => self.zip(xs, ys),
            (Prim::Unzip, [pairs]) => self.unzip(pairs),
            (prim, args) => self.rearrange(prim, args, ty),
        }
    }

    /// Operations whose result has a type that follows from the arguments'.
    fn rearrange(&mut self, prim: Prim, args: &[Node], ty: &Type) -> Vec<Atom> {
        let mut values = args.iter().map(|arg| self.term(arg)).collect::<Vec<_>>().into_iter();
        let first = values.next().unwrap_or_default();
        let Some(op) = operation(prim) else {
            return match prim {
                Prim::Length => vec![self.length(&first)],
                Prim::Concat => {
                    let second = values.next().unwrap_or_default();
                    let pairs = first.into_iter().zip(second);
                    pairs
                        .map(|(x, y)| {
                            let ty = self.ty(&x);
                            self.array_op(ArrayOp::Concat, vec![x, y], ty)
                        })
                        .collect()
                }
                _ => Vec::new(),
            };
        };
        match prim.info().name {
            "slice" | "gather" | "reverse" | "transpose" => {
                let more: Vec<Atom> = values.flatten().collect();
                self.each(op, &first, &more)
            }
            "flatten" => {
                let mut flat = Vec::with_capacity(first.len());
                for rows in first {
                    let ty = self.ty(&rows).at(1).unwrap_or(ir::Ty::REAL);
                    flat.push(self.array_op(ArrayOp::Flatten, vec![rows], ty));
                }
                flat
            }
            _ => {
                let types = self.flat(ty);
                let args = first.into_iter().chain(values.flatten()).collect();
                self.emit(Op::Array(op, args), &types)
            }
        }
    }

    /// `xs[i]`; in `xs[i][j]` both places at once where nothing can come between.
    fn index(&mut self, xs: &Node, index: &Node, ty: &Type) -> Vec<Atom> {
        let mut places = vec![index];
        let mut array = xs;
        let mut rows = Vec::new();
        while let Kind::Prim(Prim::Index, args) = &array.kind
            && let [outer, place] = args.as_slice()
            && places.iter().all(|place| is_trivial(place))
        {
            places.push(place);
            rows.push(array.span);
            array = outer;
        }
        let span = self.span();
        if !rows.is_empty() && rows.iter().all(|row| row.source == span.source) {
            rows.reverse();
            self.program.rows.insert(span, rows);
        }
        let arrays = self.term(array);
        let places: Vec<Atom> = places.into_iter().rev().map(|place| self.single(place)).collect();
        let mut elements = Vec::with_capacity(arrays.len());
        for array in arrays {
            let row = self.ty(&array).at(places.len()).unwrap_or(ir::Ty::REAL);
            let args = std::iter::once(array).chain(places.iter().cloned()).collect();
            elements.push(self.array_op(ArrayOp::Index, args, row));
        }
        self.unpacked(ty, elements)
    }

    fn zip(&mut self, xs: &Node, ys: &Node) -> Vec<Atom> {
        let (x, y) = (xs.ty.elem(), ys.ty.elem());
        let (xs, ys) = (self.term(xs), self.term(ys));
        let len = self.check_same_size("zip", &xs, &ys);
        let xs = self.columns(&x, xs, len.clone(), Column::Boxed);
        let ys = self.columns(&y, ys, len, Column::Boxed);
        match (self.flat(&x).is_empty(), self.flat(&y).is_empty()) {
            (true, false) => ys,
            (_, true) => xs,
            (false, false) => xs.into_iter().chain(ys).collect(),
        }
    }

    /// The arrays of elements of type `part`, alone or in a tuple, which makes a difference for arrays that may be ragged: those of
    /// a tuple are in boxes.
    fn columns(&mut self, part: &Type, arrays: Vec<Atom>, len: Atom, to: Column) -> Vec<Atom> {
        if !self.ragged() || !matches!(part, Type::Array(_)) {
            return arrays;
        }
        let tuple = Type::Tuple(Rc::from([part.clone()]));
        let elem = if to == Column::Boxed { &tuple } else { part };
        let from = if to == Column::Boxed { part } else { &tuple };
        let plan = Plan { mode: Mode::Each, len, inputs: arrays, init: Vec::new(), outputs: Vec::new() };
        self.collect(plan, elem, |lower, round| (Vec::new(), lower.unpacked(from, round.rows)))
    }

    fn unzip(&mut self, pairs: &Node) -> Vec<Atom> {
        let elem = pairs.ty.elem();
        let parts = [elem.component(0), elem.component(1)];
        let atoms = self.term(pairs);
        let mut columns = atoms.iter().cloned();
        let mut arrays = Vec::new();
        for part in parts {
            match self.flat(&part).len() {
                0 => {
                    let len = self.length(&atoms);
                    let unit = ir::Ty::Array(ir::Elem::Unit, 1);
                    arrays.push(self.array_op(ArrayOp::Replicate, vec![len, Atom::Unit], unit));
                }
                count => {
                    let own: Vec<Atom> = columns.by_ref().take(count).collect();
                    let len = self.length(&own);
                    arrays.extend(self.columns(&part, own, len, Column::Opened));
                }
            }
        }
        arrays
    }

    /// The rows of elements of these types, apart; what takes no value takes no row either, unless it is alone.
    fn arguments(&mut self, elems: &[Type], rows: Vec<Atom>) -> Vec<Vec<Atom>> {
        let mut rows = rows.into_iter();
        let mut args = Vec::with_capacity(elems.len());
        for elem in elems {
            let own: Vec<Atom> = rows.by_ref().take(self.rows(elem).len()).collect();
            args.push(self.unpacked(elem, own));
        }
        args
    }

    /// An array for each component of the function's results on rows of `inputs`, which are arrays of `elems`.
    fn map(
        &mut self,
        len: Atom,
        inputs: Vec<Atom>,
        elems: &[Type],
        func: &Callee<'_>,
        ty: &Type,
    ) -> Vec<Atom> {
        let elem = ty.elem();
        let plan = Plan { mode: Mode::Each, len, inputs, init: Vec::new(), outputs: Vec::new() };
        self.collect(plan, &elem, |lower, round| {
            let args = lower.arguments(elems, round.rows);
            (Vec::new(), lower.call_with(func, args))
        })
    }

    fn build(&mut self, count: &Node, func: &Node) -> Vec<Atom> {
        let result = func.ty.result(1);
        let count = self.single(count);
        let func = self.callee(func);
        self.check_storable("build", &count);
        let (inputs, init, outputs) = (Vec::new(), Vec::new(), Vec::new());
        let plan = Plan { mode: Mode::Each, len: count, inputs, init, outputs };
        self.collect(plan, &result, |lower, round| {
            (Vec::new(), lower.call_with(&func, vec![vec![round.index]]))
        })
    }

    fn filter(&mut self, func: &Node, xs: &Node) -> Vec<Atom> {
        let elem = xs.ty.elem();
        let func = self.callee(func);
        let xs = self.term(xs);
        let len = self.length(&xs);
        let outputs = vec![ir::Ty::BOOL];
        let plan = Plan { mode: Mode::Each, len, inputs: xs.clone(), init: Vec::new(), outputs };
        let keep = self.repeat(plan, |lower, round| {
            let args = lower.arguments(&[elem], round.rows);
            (Vec::new(), lower.call_with(&func, args))
        });
        self.name(&keep, Name::new("keep"), true);
        self.each(ArrayOp::Filter, &xs, &keep)
    }

    fn fold(&mut self, prim: Prim, func: &Node, init: &Node, xs: &Node) -> Vec<Atom> {
        let (elem, state) = (xs.ty.elem(), init.ty.clone());
        let func = self.callee(func);
        let init = self.term(init);
        let xs = self.term(xs);
        let len = self.length(&xs);
        let carried = init.len();
        // Arrays in boxes are combined one after the other.
        let reduces = prim == Prim::Reduce && !init.is_empty() && self.rows(&elem) == self.flat(&elem);
        let mode = if reduces { Mode::Reduce } else { Mode::Sequence };
        let plan = Plan { mode, len, inputs: xs, init, outputs: Vec::new() };
        let next = |lower: &mut Self, round: Round| {
            let mut args = vec![round.carried];
            args.extend(lower.arguments(&[elem], round.rows));
            lower.call_with(&func, args)
        };
        if prim != Prim::Scan {
            return self.repeat(plan, |lower, round| (next(lower, round), Vec::new()));
        }
        let mut results = self.collect(plan, &state, |lower, round| {
            let next = next(lower, round);
            (next.clone(), next)
        });
        results.split_off(carried)
    }

    /// `iterate` and `while_loop`.
    pub(crate) fn repetition(&mut self, prim: Prim, args: &[Node]) -> Vec<Atom> {
        let [first, func, state] = args else { return Vec::new() };
        if prim == Prim::Iterate {
            let count = self.single(first);
            let func = self.callee(func);
            let init = self.term(state);
            self.check_count("iterate", &count);
            let plan =
                Plan { mode: Mode::Sequence, len: count, inputs: Vec::new(), init, outputs: Vec::new() };
            return self
                .repeat(plan, |lower, round| (lower.call_with(&func, vec![round.carried]), Vec::new()));
        }
        let condition = self.callee(first);
        let func = self.callee(func);
        let init = self.term(state);
        let types: Vec<ir::Ty> = init.iter().map(|atom| self.ty(atom)).collect();
        let cond = self.round(&types, &condition);
        let body = self.round(&types, &func);
        self.emit(Op::While(Box::new(While { init, cond, body })), &types)
    }

    /// A block that applies a function to its parameters.
    fn round(&mut self, types: &[ir::Ty], func: &Callee<'_>) -> ir::Block {
        let params: Vec<Var> = types.iter().map(|ty| self.called("acc", *ty)).collect();
        let state = params.iter().copied().map(Atom::Var).collect();
        self.block_of(params, |lower| lower.call_with(func, vec![state]))
    }
}

/// How many axes the arrays have that are these elements.
fn depth(elem: &Type) -> u8 {
    let (mut elem, mut depth) = (elem.clone(), 0);
    while let Type::Array(_) = elem {
        (elem, depth) = (elem.elem(), depth + 1);
    }
    depth
}

/// The operation of the same name.
fn operation(prim: Prim) -> Option<ArrayOp> {
    Some(match prim.info().name {
        "iota" => ArrayOp::Iota,
        "sum" => ArrayOp::Sum,
        "product" => ArrayOp::Product,
        "maximum" => ArrayOp::Maximum,
        "minimum" => ArrayOp::Minimum,
        "argmax" => ArrayOp::ArgMax,
        "argmin" => ArrayOp::ArgMin,
        "transpose" => ArrayOp::Transpose,
        "dot" => ArrayOp::Dot,
        "matvec" => ArrayOp::MatVec,
        "matmul" => ArrayOp::MatMul,
        "flatten" => ArrayOp::Flatten,
        "slice" => ArrayOp::Slice,
        "reverse" => ArrayOp::Reverse,
        "gather" => ArrayOp::Gather,
        "scatter_add" => ArrayOp::ScatterAdd,
        "sort" => ArrayOp::Sort,
        "argsort" => ArrayOp::ArgSort,
        _ => return None,
    })
}
