//! What a loop makes of a vector that is zero but for one element: only the iteration at that element does something.
//!
//! ```text
//! each j < n {                                           each j < n {
//!   zeros = zeros(xs)                                      x = xs[j]
//!   e = zeros with [j] = 1.0                               s = cos(x)
//!   y = each i < n, x in xs, d in e {        becomes       zeros = zeros(xs)
//!     s = cos(x)                                           y = zeros with [j] = s
//!     t = mul_zero(d, s)                                   yield y
//!     yield t                                            }
//!   }
//!   yield y
//! }
//! ```
//!
//! Zeros are strong: the tangent of what does not vary is zero, and a sum does not change by it. So in the Jacobian of a function that
//! does the same with each element, each element is looked at once. The product of a matrix and such a vector is a column of the matrix, or a
//! row. What else the loop does stays there. What is done at the one
//! element only must not need what the loop carries besides, and not fail; or fail in each iteration alike, and then nothing else does: as where
//! each adds to its own row of an array that has as many, in the column of a loop around. So the cotangent of the largest of some numbers goes back to
//! what that one was made of, and to nothing else.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "what is not listed is not known to leave a sum as it is"
)]

use crate::facts::{is_quiet, total};
use crate::sizes::{Boxes, Shape, boxes, walk};
use crate::still::vanish;
use crate::walk::mentioned;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_base::Span;
use wengert_ir::build::Copier;
use wengert_ir::op::{ArrayOp, Loop, Mode, Op};
use wengert_ir::program::FuncId;
use wengert_ir::{Atom, Block, Elem, Func, Program, Stmt, Ty, Var};
use wengert_prim::RealOp;

/// See the module. Whether there was something to do.
pub(crate) fn run(program: &mut Program) -> bool {
    with(program, false)
}

/// The same where numbers must be exact, to the signs of zeros: an element of an array that is -0 is not when zero was added.
pub(crate) fn exactly(program: &mut Program) -> bool {
    with(program, true)
}

fn with(program: &mut Program, exact: bool) -> bool {
    let (total, boxes) = (total(program), boxes(program));
    let mut changed = false;
    for (_, func) in program.funcs.iter_mut() {
        let shapes = if exact { FxHashMap::default() } else { shapes(func, &boxes) };
        let mut body = std::mem::take(&mut func.body);
        let mut pass = Single {
            func,
            total: &total,
            exact,
            shapes,
            zeros: FxHashMap::default(),
            units: FxHashMap::default(),
            lengths: FxHashMap::default(),
            diagonals: FxHashSet::default(),
            changed: false,
        };
        pass.block(&mut body);
        changed |= pass.changed;
        func.body = body;
    }
    changed
}

/// The shapes of arrays, if there are vectors of which elements are set or added to.
fn shapes(func: &mut Func, boxes: &Boxes) -> FxHashMap<Var, Shape> {
    let changes = |stmt: &Stmt| {
        matches!(&stmt.op, Op::Array(ArrayOp::Set | ArrayOp::AddAt, args) if args.len() == 3)
            && stmt.outs.iter().all(|out| func.ty(*out) == Ty::Array(Elem::Real, 1))
    };
    let any = !func.body.all_stmts(&mut |stmt| !changes(stmt));
    if any { walk(func, boxes, false) } else { FxHashMap::default() }
}

/// A vector that is zero but for one element.
#[derive(Clone)]
struct Unit {
    /// It has the length of this, and was made from these zeros.
    like: Atom,
    zeros: Atom,
    place: Atom,
    element: Atom,
    span: Span,
}

struct Single<'p> {
    func: &'p mut Func,
    total: &'p FxHashSet<FuncId>,
    exact: bool,
    shapes: FxHashMap<Var, Shape>,
    /// Vectors of zeros, and what they are as long as.
    zeros: FxHashMap<Var, Atom>,
    units: FxHashMap<Var, Unit>,
    /// How many rows arrays have.
    lengths: FxHashMap<Var, Atom>,
    /// Square matrices that are zero but for their diagonals.
    diagonals: FxHashSet<Var>,
    changed: bool,
}

impl Single<'_> {
    fn block(&mut self, place: &mut Block) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut out = Vec::with_capacity(place.stmts.len());
            for mut stmt in std::mem::take(&mut place.stmts) {
                self.twice(&mut stmt, &mut out);
                self.note(&stmt);
                self.product(&mut stmt, &mut out);
                let made = self.reduced(&mut stmt);
                self.changed |= !made.is_empty();
                stmt.op.blocks_mut().into_iter().for_each(|inner| self.block(inner));
                self.diagonal(&mut stmt);
                out.push(stmt);
                out.extend(made);
            }
            place.stmts = out;
        });
    }

    /// Where something is added to the element of a unit vector, there is another unit vector.
    fn twice(&mut self, stmt: &mut Stmt, out: &mut Vec<Stmt>) {
        let (false, Op::Array(ArrayOp::AddAt, args)) = (self.exact, &mut stmt.op) else { return };
        let [array, place, element] = args.as_mut_slice() else { return };
        let Some(unit) = array.var().and_then(|array| self.units.get(&array)) else { return };
        if unit.place != *place {
            return;
        }
        let sum = self.func.fresh("sum".into(), Ty::REAL);
        let op = Op::Real(RealOp::Add, vec![unit.element.clone(), element.clone()]);
        out.push(Stmt { outs: vec![sum], op, span: stmt.span });
        (*array, *element) = (unit.zeros.clone(), Atom::Var(sum));
        self.changed = true;
    }

    fn note(&mut self, stmt: &Stmt) {
        let (Op::Array(op, args), [out]) = (&stmt.op, stmt.outs.as_slice()) else { return };
        match (op, args.as_slice()) {
            (ArrayOp::Length(0), [Atom::Var(array)]) => {
                self.lengths.insert(*array, Atom::Var(*out));
            }
            (ArrayOp::Zeros, [like]) if self.func.ty(*out) == Ty::Array(Elem::Real, 1) => {
                self.zeros.insert(*out, like.clone());
            }
            (ArrayOp::Replicate, [_, Atom::Real(0.0)]) => {
                self.zeros.insert(*out, Atom::Var(*out));
            }
            (ArrayOp::Literal, items) if items.iter().all(|item| matches!(item, Atom::Real(0.0))) => {
                self.zeros.insert(*out, Atom::Var(*out));
            }
            (ArrayOp::Set | ArrayOp::AddAt, [Atom::Var(array), place, element]) => {
                if let Some(like) = self.zeros.get(array) {
                    let (like, zeros) = (like.clone(), Atom::Var(*array));
                    let (place, element) = (place.clone(), element.clone());
                    self.units.insert(*out, Unit { like, zeros, place, element, span: stmt.span });
                }
            }
            (_, _) => {}
        }
    }

    /// Notes the matrices of which a loop makes the rows with one element each, at its index; what is so is its own transpose.
    fn diagonal(&mut self, stmt: &mut Stmt) {
        if let Op::Array(ArrayOp::Transpose, args) = &stmt.op
            && let [Atom::Var(matrix)] = args.as_slice()
            && self.diagonals.contains(matrix)
        {
            stmt.op = Op::Copy(Atom::Var(*matrix));
            self.changed = true;
        }
        let Op::Loop(parts) = &stmt.op else { return };
        let carried = parts.init.len() + parts.accs.len();
        let index = parts.body.params.first().copied().map(Atom::Var);
        for (out, row) in stmt.outs.iter().zip(&parts.body.results).skip(carried) {
            self.lengths.insert(*out, parts.len.clone());
            let Some(unit) = row.var().and_then(|row| self.units.get(&row)) else { continue };
            let long = unit.like.var().and_then(|like| self.lengths.get(&like));
            if Some(&unit.place) == index.as_ref() && long == Some(&parts.len) {
                self.diagonals.insert(*out);
            }
        }
    }

    /// The product of a matrix and a unit vector is a column of it, or a row.
    fn product(&mut self, stmt: &mut Stmt, out: &mut Vec<Stmt>) {
        let Op::Array(ArrayOp::AddProduct(lie), args) = &stmt.op else { return };
        let [sum, matrix, vector] = args.as_slice() else { return };
        let Some(unit) = vector.var().and_then(|var| self.units.get(&var)).cloned() else { return };
        if lie.second || self.func.type_of(matrix).rank() != 2 {
            return;
        }
        let (sum, matrix, span) = (sum.clone(), matrix.clone(), stmt.span);
        let starts_at_zero = sum.var().is_some_and(|sum| self.zeros.contains_key(&sum));
        let row = Op::Array(ArrayOp::Index, vec![matrix.clone(), unit.place.clone()]);
        self.changed = true;
        if lie.first && starts_at_zero && unit.element == Atom::Real(1.0) {
            stmt.op = row;
            return;
        }
        let through = if lie.first {
            let var = self.func.fresh("row".into(), Ty::Array(Elem::Real, 1));
            out.push(Stmt { outs: vec![var], op: row, span });
            Atom::Var(var)
        } else {
            matrix
        };
        let len = self.func.fresh("n".into(), Ty::INT);
        out.push(Stmt { outs: vec![len], op: Op::Array(ArrayOp::Length(0), vec![through.clone()]), span });
        let sum = (!starts_at_zero).then_some(sum);
        stmt.op = self.scaled(through, sum, Atom::Var(len), &unit, span);
    }

    /// A loop through rows of which the element at a place, or numbers, are multiplied with the element of a unit vector, and added to what
    /// stands in another array: that has as many, which the loop asks again.
    fn scaled(&mut self, through: Atom, sum: Option<Atom>, len: Atom, unit: &Unit, span: Span) -> Op {
        let index = self.func.fresh("i".into(), Ty::INT);
        let mut body = Block { params: vec![index], ..Block::default() };
        let add = |func: &mut Func, body: &mut Block, name: &str, op| {
            let made = func.fresh(name.into(), Ty::REAL);
            body.stmts.push(Stmt { outs: vec![made], op, span });
            Atom::Var(made)
        };
        let mut x = if self.func.type_of(&through).rank() == 2 {
            let row = self.func.fresh("row".into(), Ty::Array(Elem::Real, 1));
            body.params.push(row);
            let op = Op::Array(ArrayOp::Index, vec![Atom::Var(row), unit.place.clone()]);
            add(self.func, &mut body, "x", op)
        } else {
            let x = self.func.fresh("x".into(), Ty::REAL);
            body.params.push(x);
            Atom::Var(x)
        };
        if unit.element != Atom::Real(1.0) {
            let op = Op::Real(RealOp::MulZero, vec![x, unit.element.clone()]);
            x = add(self.func, &mut body, "t", op);
        }
        if let Some(sum) = sum {
            let op = Op::Array(ArrayOp::Index, vec![sum, Atom::Var(index)]);
            let before = add(self.func, &mut body, "sum", op);
            x = add(self.func, &mut body, "t", Op::Real(RealOp::Add, vec![before, x]));
        }
        body.results = vec![x];
        Op::Loop(Box::new(Loop {
            mode: Mode::Each,
            backward: false,
            len,
            inputs: vec![through],
            init: Vec::new(),
            accs: Vec::new(),
            body,
        }))
    }

    /// Takes from a statement what only one element of a unit vector makes something of, and gives what is done there.
    fn reduced(&mut self, stmt: &mut Stmt) -> Vec<Stmt> {
        if let Op::Array(ArrayOp::Sum, args) = &stmt.op
            && let Some(Unit { element: element @ Atom::Real(x), .. }) =
                args.first().and_then(Atom::var).and_then(|var| self.units.get(&var))
            && *x != 0.0
        {
            stmt.op = Op::Copy(element.clone());
            self.changed = true;
        }
        let Op::Loop(parts) = &stmt.op else { return Vec::new() };
        let carried = parts.init.len() + parts.accs.len();
        let rows = parts.body.params.iter().skip(1 + carried).zip(&parts.inputs);
        let found = rows.filter_map(|(row, input)| Some((*row, self.units.get(&input.var()?)?.clone())));
        let plans = found.filter_map(|(row, unit)| self.plan(parts, row, unit));
        let Some(plan) = plans.max_by_key(|plan| plan.moved.len()) else { return Vec::new() };
        let made = self.single(stmt, &plan);
        made.iter().for_each(|stmt| self.note(stmt));
        made
    }
}

/// Which results of a loop come from one iteration only, and the statements that make them there.
struct Plan {
    row: Var,
    unit: Unit,
    moved: Vec<usize>,
    code: Vec<usize>,
    /// Those of the statements that nothing else in the loop needs.
    only: Vec<usize>,
}

impl Single<'_> {
    /// What only the one iteration makes, if the row of a unit vector is zero in all others.
    fn plan(&self, parts: &Loop, row: Var, unit: Unit) -> Option<Plan> {
        if parts.mode == Mode::Reduce {
            return None;
        }
        let mut zeros = FxHashSet::from_iter([row]);
        vanish(&parts.body, &mut zeros);
        let same = unchanged(&parts.body, &zeros);
        let starts: Vec<&Atom> = parts.init.iter().chain(&parts.accs).collect();
        let idle = |(place, result): (usize, &Atom)| {
            let result = result.var()?;
            let idle = match starts.get(place) {
                // What is no constant may be -0, which a sum with zero is not.
                Some(Atom::Real(start)) if *start == 0.0 && start.is_sign_negative() => false,
                Some(start) => {
                    let param = parts.body.params.get(place + 1)?;
                    let fixed = self.func.ty(*param).rank() > 0 || matches!(start, Atom::Real(_));
                    fixed && *param != result && same.get(&result) == Some(param)
                }
                None => zeros.contains(&result) && self.func.ty(result) == Ty::REAL,
            };
            idle.then_some(place)
        };
        let mut moved: Vec<usize> = parts.body.results.iter().enumerate().filter_map(idle).collect();
        loop {
            let (code, needed) = slice(&parts.body, |place| moved.contains(&place));
            let (kept_code, kept) = slice(&parts.body, |place| !moved.contains(&place));
            let carries = |vars: &FxHashSet<Var>, place: usize| {
                place < starts.len()
                    && parts.body.params.get(place + 1).is_some_and(|param| vars.contains(param))
            };
            let before = moved.len();
            moved.retain(|place| !carries(&kept, *place));
            if moved.len() < before {
                continue;
            }
            let apart = (0..starts.len()).all(|place| moved.contains(&place) || !carries(&needed, place));
            let quiet = |stmt: &Stmt| is_quiet(&stmt.op, self.total);
            let of_code = |index: &usize| parts.body.stmts.get(*index);
            let alike = |stmt: &Stmt| self.fails_not(stmt, parts) || self.fails_alike(stmt, parts);
            let only: Vec<usize> = code.iter().filter(|index| !kept_code.contains(index)).copied().collect();
            let is_last = || {
                let others = parts.body.stmts.iter().enumerate().filter(|(index, _)| !only.contains(index));
                others.map(|(_, stmt)| stmt).all(quiet)
            };
            let fails_not = code.iter().filter_map(of_code).all(quiet)
                || !self.exact && code.iter().filter_map(of_code).all(alike) && is_last();
            let fine = !moved.is_empty() && apart && fails_not;
            return fine.then_some(Plan { row, unit, moved, code, only });
        }
    }

    /// Whether an element is read or added to in each iteration that is there in none of them or in all.
    fn fails_alike(&self, stmt: &Stmt, parts: &Loop) -> bool {
        let Some((array, places)) = looked_at(stmt) else { return false };
        let bound = |var: Var| {
            let stmts = parts.body.stmts.iter().flat_map(|stmt| &stmt.outs);
            parts.body.params.iter().chain(stmts).any(|other| *other == var)
        };
        let is_alike = |(axis, place): (usize, &Atom)| {
            place.var().is_none_or(|var| !bound(var)) || self.is_there(array, axis, place, parts)
        };
        places.iter().enumerate().all(is_alike)
    }

    /// Whether a statement fails in no iteration, also where it stands on a side of a branch.
    fn fails_not(&self, stmt: &Stmt, parts: &Loop) -> bool {
        let is_there = |(array, places): (Var, &[Atom])| {
            places.iter().enumerate().all(|(axis, place)| self.is_there(array, axis, place, parts))
        };
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            is_quiet(&stmt.op, self.total)
                || looked_at(stmt).is_some_and(is_there)
                || matches!(&stmt.op, Op::If { then, otherwise, .. }
                    if then.stmts.iter().chain(&otherwise.stmts).all(|inner| self.fails_not(inner, parts)))
        })
    }

    /// Whether a place is the index of a loop, and the array has as many along this axis.
    fn is_there(&self, array: Var, axis: usize, place: &Atom, parts: &Loop) -> bool {
        let size = self.shapes.get(&array).and_then(|shape| shape.get(axis)?.as_ref()?.atom());
        place.var().as_ref() == parts.body.params.first() && size.as_ref() == Some(&parts.len)
    }

    /// Takes these results from a loop; gives what makes them at the one place.
    fn single(&mut self, stmt: &mut Stmt, plan: &Plan) -> Vec<Stmt> {
        let span = stmt.span;
        let Op::Loop(parts) = &mut stmt.op else { return Vec::new() };
        let mut copier = Copier::within();
        let mut out = Vec::new();
        let carried = parts.init.len() + parts.accs.len();
        let starts =
            [Some(&plan.unit.place)].into_iter().chain(parts.init.iter().chain(&parts.accs).map(Some));
        let (first, rows) = parts.body.params.split_at_checked(1 + carried).unwrap_or_default();
        for (param, start) in first.iter().zip(starts.flatten()) {
            copier.set(*param, start.clone());
        }
        let code: Vec<&Stmt> = plan.code.iter().filter_map(|index| parts.body.stmts.get(*index)).collect();
        let used: FxHashSet<Var> = code.iter().flat_map(|stmt| mentioned(&stmt.op)).collect();
        for (row, input) in rows.iter().zip(&parts.inputs) {
            if *row == plan.row {
                copier.set(*row, plan.unit.element.clone());
            } else if used.contains(row) {
                let op = Op::Array(ArrayOp::Index, vec![input.clone(), plan.unit.place.clone()]);
                out.push(Stmt { outs: vec![copier.bind(self.func, *row)], op, span });
            }
        }
        for stmt in code {
            let mut copy = copier.stmt(self.func, stmt);
            first_summand(&mut copy.op);
            out.push(copy);
        }
        for place in &plan.moved {
            let (Some(result), Some(made)) = (parts.body.results.get(*place), stmt.outs.get(*place)) else {
                continue;
            };
            let result = copier.atom(result);
            let op = if *place < carried {
                Op::Copy(result)
            } else {
                let zeros = self.func.fresh("zeros".into(), Ty::Array(Elem::Real, 1));
                let op = Op::Array(ArrayOp::Zeros, vec![plan.unit.like.clone()]);
                out.push(Stmt { outs: vec![zeros], op, span: plan.unit.span });
                Op::Array(ArrayOp::Set, vec![Atom::Var(zeros), plan.unit.place.clone(), result])
            };
            out.push(Stmt { outs: vec![*made], op, span: plan.unit.span });
        }
        take_out(parts, &mut stmt.outs, plan);
        out
    }
}

/// Of which array an element is read or added to, and where.
fn looked_at(stmt: &Stmt) -> Option<(Var, &[Atom])> {
    let Op::Array(op @ (ArrayOp::Index | ArrayOp::AddAt), args) = &stmt.op else { return None };
    let (Atom::Var(array), rest) = args.split_first()? else { return None };
    let added_to = *op == ArrayOp::AddAt;
    Some((*array, if added_to { rest.split_last().map_or(rest, |(_, places)| places) } else { rest }))
}

/// Of a sum that begins with zero the first summand is the sum: it is a derivative, of which the sign of zero does not count.
fn first_summand(op: &mut Op) {
    if let Op::Real(RealOp::Add, args) = op
        && let [Atom::Real(zero), other] | [other, Atom::Real(zero)] = args.as_slice()
        && *zero == 0.0
    {
        *op = Op::Copy(other.clone());
    }
}

/// Leaves out results of a loop, and what is carried for them.
fn take_out(parts: &mut Loop, outs: &mut Vec<Var>, plan: &Plan) {
    let inits = parts.init.len();
    for index in plan.only.iter().rev() {
        parts.body.stmts.remove(*index);
    }
    for place in plan.moved.iter().rev() {
        if *place < inits + parts.accs.len() {
            parts.body.params.remove(place + 1);
            match place.checked_sub(inits) {
                Some(acc) => parts.accs.remove(acc),
                None => parts.init.remove(*place),
            };
        }
        parts.body.results.remove(*place);
        outs.remove(*place);
    }
    if parts.init.is_empty() {
        parts.mode = Mode::Each;
    }
}

/// The statements of a body that make some of its results, and all that these need.
fn slice(body: &Block, wanted: impl Fn(usize) -> bool) -> (Vec<usize>, FxHashSet<Var>) {
    let results = body.results.iter().enumerate().filter(|(place, _)| wanted(*place));
    let mut needed: FxHashSet<Var> = results.filter_map(|(_, result)| result.var()).collect();
    let mut code = Vec::new();
    for (index, stmt) in body.stmts.iter().enumerate().rev() {
        if stmt.outs.iter().any(|out| needed.contains(out)) {
            needed.extend(mentioned(&stmt.op));
            code.push(index);
        }
    }
    code.reverse();
    (code, needed)
}

/// What parameters of a body are called after zeros were added to them.
fn unchanged(body: &Block, zeros: &FxHashSet<Var>) -> FxHashMap<Var, Var> {
    let mut same: FxHashMap<Var, Var> = body.params.iter().map(|param| (*param, *param)).collect();
    unchanged_in(body, zeros, &mut same);
    same
}

fn unchanged_in(body: &Block, zeros: &FxHashSet<Var>, same: &mut FxHashMap<Var, Var>) {
    let zero = |atom: &Atom| match atom {
        Atom::Real(x) => *x == 0.0,
        other => other.var().is_some_and(|var| zeros.contains(&var)),
    };
    for stmt in &body.stmts {
        let kept = match &stmt.op {
            Op::Real(RealOp::Add, args) => match args.as_slice() {
                [x, y] if zero(y) => Some(x),
                [x, y] if zero(x) => Some(y),
                _ => None,
            },
            Op::Real(RealOp::Sub, args) | Op::Array(ArrayOp::AddAt, args) => {
                args.last().filter(|last| zero(last)).and_then(|_| args.first())
            }
            Op::If { then, otherwise, .. } => {
                for side in [then, otherwise] {
                    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || unchanged_in(side, zeros, same));
                }
                let known = |side: &Block, place: usize| same.get(&side.results.get(place)?.var()?).copied();
                let agreed = |place| known(then, place).filter(|var| known(otherwise, place) == Some(*var));
                let outs = stmt.outs.iter().enumerate();
                let found: Vec<(Var, Var)> =
                    outs.filter_map(|(place, out)| Some((*out, agreed(place)?))).collect();
                same.extend(found);
                continue;
            }
            _ => None,
        };
        let param = kept.and_then(Atom::var).and_then(|var| same.get(&var)).copied();
        if let (Some(param), [out]) = (param, stmt.outs.as_slice()) {
            same.insert(*out, param);
        }
    }
}
