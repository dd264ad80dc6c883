//! Sizes: what is known of the lengths of arrays and of integers that are made of them by sums. A `require` that holds is
//! dropped, a size that is another one is called so, `max(n, 0)` of a length `n` is `n`.
//!
//! ```text
//! n = length(xs)  m = max(n, 0)  require n == m          n = length(xs)
//! ys = each i < m { … }                                  ys = each i < n { … }
//! ```
//!
//! Integers are linear forms in others. What a `require` says holds after it, in its block. Carried arrays are taken to keep
//! their shape, which is then checked. As an array without rows has size 0 along every axis, sizes along further axes
//! say something of its rows only.

#![expect(clippy::wildcard_enum_match_arm, reason = "of what is not listed no size is known")]

mod always;
mod before;
mod below;
mod carried;
mod covered;
mod instead;
mod integers;
mod made;
mod paths;
mod places;
mod sides;
mod unmade;
mod whole;

pub(crate) use integers::without_quotients;
pub(crate) use places::{in_range, in_range_there};
pub(crate) use whole::{drop_said, forget_beside};

use self::covered::Covered;
use self::whole::Whole;
use crate::linear::Linear;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::{ArrayOp, Compare, Loop, Op, Requirement};
use wengert_ir::ty::{Ctor, Data};
use wengert_ir::{Atom, Block, DataId, Elem, Func, Program, Stmt, Ty, Var};

/// So many of what is said of integers are looked at.
const NEAR: usize = 16;
/// A carried array's shape is checked by going through the loop once more: so many statements, for each of the function.
const PATIENCE: usize = 8;

/// See the module.
pub(crate) fn run(program: &mut Program) {
    let boxes = boxes(program);
    for (_, func) in program.funcs.iter_mut() {
        ask_first(func);
        let mut shapes = walk(func, &boxes, true);
        if before::run(func, &shapes) {
            shapes = walk(func, &boxes, true);
        }
        unmade::run(func, &shapes);
    }
}

/// Comparisons of indices that always hold, or never do, are not made. Nothing else is changed.
pub(crate) fn decide(func: &mut Func, boxes: &Boxes) {
    let mut body = std::mem::take(&mut func.body);
    let mut sizes = Sizes::new(func, boxes, PATIENCE * body.size() + 1000);
    sizes.decides = true;
    sizes.block(&mut body, false);
    func.body = body;
}

/// The sizes of parameters that a function asks for somewhere outside of loops, it asks for first: so they have their names
/// before something is made that has these sizes.
fn ask_first(func: &mut Func) {
    let params: FxHashSet<Var> = func.body.params.iter().copied().collect();
    let of_param = |stmt: &Stmt| match &stmt.op {
        Op::Array(ArrayOp::Length(_), args) => {
            matches!(args.as_slice(), [Atom::Var(of)] if params.contains(of))
        }
        _ => false,
    };
    let stmts = std::mem::take(&mut func.body.stmts);
    let (asked, rest): (Vec<Stmt>, Vec<Stmt>) = stmts.into_iter().partition(of_param);
    func.body.stmts = asked.into_iter().chain(rest).collect();
}

/// Goes through a function; what is known in the end of the shapes of its arrays.
pub(crate) fn walk(func: &mut Func, boxes: &Boxes, rewrite: bool) -> FxHashMap<Var, Shape> {
    let mut body = std::mem::take(&mut func.body);
    let mut sizes = Sizes::new(func, boxes, PATIENCE * body.size() + 1000);
    sizes.by_others = true;
    sizes.asked = if rewrite { instead::asked(&body) } else { FxHashSet::default() };
    sizes.whole = Whole::of(&body);
    sizes.block(&mut body, rewrite);
    let shapes = sizes.shapes;
    func.body = body;
    shapes
}

/// Data that is a box around an array, and the type of the array.
pub(crate) type Boxes = FxHashMap<DataId, Ty>;

/// The boxes of a program.
pub(crate) fn boxes(program: &Program) -> Boxes {
    let array = |data: &Data| match data.ctors.as_slice() {
        [Ctor { fields, .. }] => match fields.as_slice() {
            [ty @ Ty::Array(Elem::Real | Elem::Int | Elem::Bool, _)] => Some(*ty),
            _ => None,
        },
        _ => None,
    };
    program.data.iter().filter_map(|(id, data)| Some((id, array(data)?))).collect()
}

/// Sizes along the axes of an array, as far as they are known. The axes of boxed arrays come after those of the array that
/// has the boxes.
pub(crate) type Shape = Vec<Option<Linear>>;

struct Sizes<'f> {
    func: &'f Func,
    boxes: &'f Boxes,
    /// How many statements may still be gone through once more.
    budget: usize,
    /// Integers.
    values: FxHashMap<Var, Linear>,
    shapes: FxHashMap<Var, Shape>,
    /// Integers that are not negative.
    natural: FxHashSet<Var>,
    /// Sizes along further axes, the array, and the axis: 0 if it has no rows.
    further: FxHashMap<Var, (Var, usize)>,
    /// Those of which something else is known if there are rows.
    of_rows: Vec<Var>,
    /// How often loops run.
    lengths: Vec<Var>,
    /// Indices of loops, and how many iterations there are.
    limits: FxHashMap<Var, Linear>,
    /// Below what the elements of arrays of indices are.
    below: FxHashMap<Var, Linear>,
    /// Results of reads and updates at places that are there.
    inside: FxHashSet<Var>,
    /// Whether what was read or updated before counts for that.
    by_others: bool,
    /// Indices at which something was there, and sizes.
    found: Vec<(Linear, Linear)>,
    /// Arrays, as far as their sizes have no names, and indices at which something was there.
    read: Vec<(Atom, Vec<Atom>)>,
    /// Places at which elements were chosen, and of how many.
    gathered: Vec<(Atom, Linear)>,
    /// Rows: of which array, at which indices.
    row_of: FxHashMap<Var, (Atom, Vec<Atom>)>,
    /// Arrays made in the shape of others.
    alike: FxHashMap<Var, Var>,
    /// Integers at each of which something was there, and of which arrays variables are elements.
    covered: Vec<Covered>,
    element_of: FxHashMap<Var, Var>,
    /// What held in every iteration of loops before: how many there were, and what is equal.
    always: Vec<(Linear, Linear, Linear)>,
    /// Comparisons of integers.
    compared: FxHashMap<Var, (Compare, Atom, Atom)>,
    /// Conditions, and sums that they say are not negative here.
    conditions: FxHashMap<Var, Op>,
    at_least_zero: Vec<Linear>,
    /// Quotients that are not negative: of what, and by which number.
    quotients: FxHashMap<Var, (Linear, i64)>,
    /// What is found to be equal to something bound before.
    equal: FxHashMap<Var, Linear>,
    learned: Vec<Var>,
    /// Shapes that were found out by a use, and what they were before.
    noted: Vec<(Var, Option<Shape>)>,
    /// What can be mentioned here.
    scope: FxHashSet<Var>,
    /// Rows that loops go through, and fields of data: what is there only because somebody keeps it.
    kept: FxHashSet<Var>,
    /// What is asked for more of than its size.
    asked: FxHashSet<Var>,
    /// Whether comparisons are decided, if nothing else is rewritten.
    decides: bool,
    whole: Whole,
}

impl<'f> Sizes<'f> {
    fn new(func: &'f Func, boxes: &'f Boxes, budget: usize) -> Sizes<'f> {
        Sizes {
            func,
            boxes,
            budget,
            values: FxHashMap::default(),
            shapes: FxHashMap::default(),
            natural: FxHashSet::default(),
            further: FxHashMap::default(),
            of_rows: Vec::new(),
            lengths: Vec::new(),
            limits: FxHashMap::default(),
            below: FxHashMap::default(),
            inside: FxHashSet::default(),
            by_others: false,
            found: Vec::new(),
            read: Vec::new(),
            gathered: Vec::new(),
            row_of: FxHashMap::default(),
            alike: FxHashMap::default(),
            covered: Vec::new(),
            element_of: FxHashMap::default(),
            always: Vec::new(),
            compared: FxHashMap::default(),
            conditions: FxHashMap::default(),
            at_least_zero: Vec::new(),
            quotients: FxHashMap::default(),
            equal: FxHashMap::default(),
            learned: Vec::new(),
            noted: Vec::new(),
            scope: FxHashSet::default(),
            kept: FxHashSet::default(),
            asked: FxHashSet::default(),
            decides: false,
            whole: Whole::default(),
        }
    }

    /// A linear form with everything replaced that is known to be something else.
    fn settle(&self, form: Linear) -> Linear {
        let mut form = form;
        // Each replacement leads to what was bound before.
        loop {
            let Some(var) = form.vars().find(|var| self.equal.contains_key(var)) else { return form };
            if let Some(known) = self.equal.get(&var) {
                form = form.replace(var, known);
            }
        }
    }

    fn value(&self, atom: &Atom) -> Option<Linear> {
        match atom {
            Atom::Int(n) => Some(Linear::constant(*n)),
            Atom::Var(var) => {
                Some(self.settle(self.values.get(var).cloned().unwrap_or_else(|| Linear::of(*var))))
            }
            _ => None,
        }
    }

    fn shape(&self, atom: &Atom) -> Shape {
        let rank = self.axes(self.func.type_of(atom));
        let known = atom.var().and_then(|var| self.shapes.get(&var)).cloned().unwrap_or_default();
        let mut shape: Shape = known.into_iter().map(|size| size.map(|size| self.settle(size))).collect();
        shape.resize(rank, None);
        shape
    }

    /// How many axes there are, those of boxed arrays included.
    fn axes(&self, ty: Ty) -> usize {
        let boxed = match ty.elem() {
            Elem::Data(data) => self.boxes.get(&data).map_or(0, |array| array.rank()),
            _ => 0,
        };
        usize::from(ty.rank()) + usize::from(boxed)
    }

    /// Whether an integer is a count, a sum of sizes, or more than one of those.
    fn is_natural(&self, form: &Linear) -> bool {
        let more = |known: &Linear| self.is_sum(&self.settle(form.minus(known)));
        self.is_sum(form) || self.at_least_zero.iter().rev().take(NEAR).any(more)
    }

    fn is_sum(&self, form: &Linear) -> bool {
        form.is_sum_of(&|var| self.natural.contains(&var))
    }

    /// An array of so many elements was made, or could be.
    fn note_count(&mut self, count: &Atom) {
        if let Some(count) = self.value(count)
            && !self.is_natural(&count)
        {
            self.at_least_zero.push(count);
        }
    }

    /// A use tells the shape of an array, in this block.
    fn note(&mut self, var: Var, shape: Shape) {
        let before = self.shapes.insert(var, shape);
        self.noted.push((var, before));
    }

    /// Two integers are equal from here on.
    fn learn(&mut self, left: &Linear, right: &Linear) {
        let difference = left.minus(right);
        // Variables have larger numbers the later they were made, as a rule: the newer is called by the older.
        if let Some((var, other)) = difference.solve()
            && !self.equal.contains_key(&var)
        {
            self.equal.insert(var, other);
            self.learned.push(var);
        }
    }

    fn block(&mut self, block: &mut Block, rewrite: bool) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            self.scope.extend(&block.params);
            let stmts = std::mem::take(&mut block.stmts);
            for mut stmt in stmts {
                let keep = self.stmt(&mut stmt, rewrite);
                self.scope.extend(&stmt.outs);
                if keep || !rewrite {
                    block.stmts.push(stmt);
                }
            }
        });
    }

    /// A block whose end is followed by `after`, before what it told is forgotten.
    fn inside<R>(
        &mut self,
        block: &mut Block,
        rewrite: bool,
        after: impl FnOnce(&mut Sizes<'f>, &Block) -> R,
    ) -> R {
        let (mark, noted) = (self.learned.len(), self.noted.len());
        let (found, read, always) = (self.found.len(), self.read.len(), self.always.len());
        let (covered, said, gathered) = (self.covered.len(), self.at_least_zero.len(), self.gathered.len());
        self.block(block, rewrite);
        let result = after(self, block);
        self.at_least_zero.truncate(said);
        self.found.truncate(found);
        self.read.truncate(read);
        self.gathered.truncate(gathered);
        self.always.truncate(always);
        self.covered.truncate(covered);
        self.unlearn(mark);
        for (var, before) in self.noted.drain(noted..).rev() {
            match before {
                Some(shape) => self.shapes.insert(var, shape),
                None => self.shapes.remove(&var),
            };
        }
        for var in block.params.iter().chain(block.stmts.iter().flat_map(|stmt| &stmt.outs)) {
            self.scope.remove(var);
        }
        result
    }

    /// Whether a statement is kept.
    fn stmt(&mut self, stmt: &mut Stmt, rewrite: bool) -> bool {
        self.note_range(stmt);
        self.note_like(stmt);
        self.note_element(stmt);
        self.note_condition(stmt);
        for out in &stmt.outs {
            // It may be there from going through a loop with more assumed.
            self.values.remove(out);
            self.shapes.remove(out);
            self.natural.remove(out);
            self.limits.remove(out);
            self.below.remove(out);
            self.quotients.remove(out);
            self.whole.forget(*out);
        }
        if let Op::Whole(array) = &stmt.op {
            return !self.whole.is(array);
        }
        self.learn_from(stmt, rewrite) && {
            self.note_origins(stmt);
            true
        }
    }

    /// Whether a statement is kept, after what it tells was noted.
    fn learn_from(&mut self, stmt: &mut Stmt, rewrite: bool) -> bool {
        match &mut stmt.op {
            Op::Require { what, left, right } => {
                if let (Some(left), Some(right)) = (self.value(left), self.value(right)) {
                    if left == right {
                        return false;
                    }
                    self.learn(&left, &right);
                }
                if matches!(what, Requirement::Count(_)) {
                    self.note_count(left);
                }
            }
            Op::Loop(parts) => self.repeat(parts, &stmt.outs, rewrite),
            Op::While(parts) => self.go_on(parts, &stmt.outs, rewrite),
            Op::If { cond, then, otherwise } => {
                self.holds(cond).filter(|_| rewrite).into_iter().for_each(|holds| *cond = holds);
                self.branches(vec![then, otherwise], Some(cond), &stmt.outs, rewrite);
            }
            Op::Match { on, arms } => {
                if let [Block { params, .. }] = arms.as_slice()
                    && let [param] = params.as_slice()
                {
                    let shape = self.shape(on);
                    self.shapes.insert(*param, shape);
                }
                self.kept.extend(arms.iter().flat_map(|arm| &arm.params));
                self.branches(arms.iter_mut().collect(), None, &stmt.outs, rewrite);
            }
            Op::Array(ArrayOp::Zeros, args) if rewrite && stmt.outs.len() == 1 => {
                if let [Atom::Var(like)] = args.as_slice()
                    && let Some(zeros) = self.zeros(*like)
                {
                    stmt.op = zeros;
                }
                stmt.outs.iter().for_each(|out| self.flat(&stmt.op, *out));
            }
            op => {
                if let [out] = stmt.outs.as_slice() {
                    self.flat(op, *out);
                    if rewrite && self.func.ty(*out) == Ty::INT && !matches!(op, Op::Copy(_)) {
                        self.rename(op, *out);
                    }
                    if (rewrite || self.decides)
                        && let Op::Compare(compare, a, b) = op
                    {
                        self.compared.insert(*out, (*compare, a.clone(), b.clone()));
                        self.compare(*compare, a, b).into_iter().for_each(|known| *op = Op::Copy(known));
                    }
                }
            }
        }
        true
    }

    /// The first of two branches is on the side where the condition holds.
    fn branches(&mut self, blocks: Vec<&mut Block>, cond: Option<&Atom>, outs: &[Var], rewrite: bool) {
        let (mut found, mut columns): (Option<Vec<Shape>>, _) = (None, Vec::new());
        for (place, block) in blocks.into_iter().enumerate() {
            let said = self.at_least_zero.len();
            let zero = cond.map(|cond| self.zero_otherwise(cond, place == 0)).unwrap_or_default();
            cond.into_iter().for_each(|cond| self.assume(cond, place == 0));
            let (shapes, more) = self.inside(block, rewrite, |sizes, block| {
                (sizes.outside(&block.results, block, outs.len()), sizes.columns(block, &zero))
            });
            columns.extend(more);
            self.at_least_zero.truncate(said);
            found = Some(match found {
                None => shapes,
                Some(before) => before.into_iter().zip(shapes).map(|(a, b)| agreed(a, b)).collect(),
            });
        }
        self.shapes.extend(outs.iter().copied().zip(found.unwrap_or_default()));
        self.learn_columns(columns);
    }

    /// The shapes of results of a block, in what can be said outside of it.
    fn outside(&self, results: &[Atom], block: &Block, count: usize) -> Vec<Shape> {
        let mut shapes: Vec<Shape> = results.iter().map(|atom| self.shape(atom)).collect();
        shapes.resize(count, Shape::new());
        // Most results have no sizes.
        if shapes.iter().flatten().any(Option::is_some) {
            let inner: FxHashSet<Var> =
                block.params.iter().chain(block.stmts.iter().flat_map(|stmt| &stmt.outs)).copied().collect();
            let visible =
                |form: &Linear| form.vars().all(|var| self.scope.contains(&var) && !inner.contains(&var));
            let sizes = shapes.iter_mut().flatten();
            sizes.for_each(|size| *size = size.take().filter(&visible));
        }
        shapes
    }

    fn repeat(&mut self, parts: &mut Loop, outs: &[Var], rewrite: bool) {
        let known = self.value(&parts.len);
        parts.inputs.iter().for_each(|input| self.as_long(input, known.as_ref()));
        let len = self.value(&parts.len);
        if rewrite && let Some(atom) = len.as_ref().and_then(|len| self.name_of_length(&parts.len, len)) {
            parts.len = atom;
        }
        let carried = parts.init.len() + parts.accs.len();
        if let Some(index) = parts.body.params.first() {
            self.natural.insert(*index);
            self.limits.extend(len.clone().map(|len| (*index, len)));
        }
        for (param, input) in parts.body.params.iter().skip(1 + carried).zip(&parts.inputs) {
            let shape = self.shape(input).into_iter().skip(1).collect();
            self.shapes.insert(*param, shape);
            self.kept.insert(*param);
        }
        let before: Vec<Shape> = parts.init.iter().chain(&parts.accs).map(|atom| self.shape(atom)).collect();
        for (param, shape) in parts.body.params.iter().skip(1).zip(&before) {
            self.shapes.insert(*param, shape.clone());
        }
        self.note_elements(parts, carried);
        self.note_row_of(parts, carried);
        self.note_added(&parts.accs, parts.body.params.iter().skip(1 + parts.init.len()));
        let mark = self.learn_always(len.as_ref());
        self.begin_rows(parts, carried);
        self.begin_places(parts, carried);
        self.check_carried(&mut parts.body, (1, carried));
        let mut body = std::mem::take(&mut parts.body);
        let before = (self.found.len(), self.read.len());
        let (rows, origins, covered, places) = self.inside(&mut body, rewrite, |sizes, body| {
            let rows = sizes.outside(&body.results, body, body.results.len());
            let places = sizes.end_places(body, carried);
            (rows, sizes.end_rows(parts, body, carried), sizes.covers(parts, body, before), places)
        });
        parts.body = body;
        self.below
            .extend(outs.iter().skip(carried).zip(places).filter_map(|(out, limit)| Some((*out, limit?))));
        self.covered.extend(covered);
        self.note_added(&parts.accs, outs.iter().skip(parts.init.len()));
        self.note_rows(parts, outs, origins);
        let mut shapes = self.carried(&parts.body, (1, carried));
        shapes.extend(
            rows.into_iter().skip(carried).map(|row| [len.clone()].into_iter().chain(row).collect::<Shape>()),
        );
        self.shapes.extend(outs.iter().copied().zip(shapes));
        self.unlearn(mark);
        self.note_always(parts, len);
    }

    /// What an operation without blocks tells of its result.
    fn flat(&mut self, op: &Op, out: Var) {
        match op {
            Op::Copy(x) => {
                self.values.extend(self.value(x).map(|value| (out, value)));
                let shape = self.shape(x);
                self.shapes.insert(out, shape);
            }
            Op::Make { data, ctor: _, fields } if self.boxes.contains_key(data) => {
                let shape = fields.first().map(|array| self.shape(array)).unwrap_or_default();
                self.shapes.insert(out, shape);
            }
            Op::Int(op, args) => self.integer(*op, args, out),
            Op::Select { cond, then, otherwise } => {
                self.values.extend(self.also_zero(cond, then, otherwise).map(|size| (out, size)));
                let shape = agreed(self.shape(then), self.shape(otherwise));
                self.shapes.insert(out, shape);
            }
            Op::Array(ArrayOp::Length(axis), args) => {
                if let [array] = args.as_slice() {
                    self.length(array, usize::from(*axis), out);
                }
            }
            Op::Array(ArrayOp::ArgMax | ArrayOp::ArgMin, args) => {
                self.natural.insert(out);
                let len = args.first().and_then(|array| self.shape(array).first().cloned().flatten());
                self.limits.extend(len.map(|len| (out, len)));
            }
            Op::Array(op, args) => {
                if matches!(op, ArrayOp::Replicate | ArrayOp::Iota) {
                    args.iter().take(1).for_each(|count| self.note_count(count));
                }
                if let (ArrayOp::Index, Some(array)) = (op, args.first()) {
                    self.note_place(out, array);
                }
                let shape = self.array(*op, args, self.func.ty(out));
                self.shapes.insert(out, shape);
            }
            _ => {}
        }
    }

    fn length(&mut self, array: &Atom, axis: usize, out: Var) {
        self.natural.insert(out);
        let mut shape = self.shape(array);
        let known = shape.get(axis).cloned().flatten();
        if let Some(known) = known.clone().filter(|known| axis == 0 || self.is_also_zero(known, &shape, axis))
        {
            self.values.insert(out, known);
            return;
        }
        if let Some(var) = array.var() {
            if axis > 0 {
                self.further.insert(out, (var, axis));
                self.of_rows.extend(known.map(|_| out));
            }
            if let Some(size) = shape.get_mut(axis).filter(|size| size.is_none()) {
                *size = Some(Linear::of(out));
                self.note(var, shape);
            }
        }
    }

    /// Whether what is known of rows holds of an array without rows too: it is a constant size of constant sizes, as large as the number of
    /// rows, or the size of the rows of an array that has no rows then.
    fn is_also_zero(&self, size: &Linear, shape: &Shape, axis: usize) -> bool {
        let around = shape.get(..axis).unwrap_or_default();
        if around.iter().all(is_positive) {
            return true;
        }
        let [Some(rows)] = around else { return false };
        if size == rows {
            return true;
        }
        let of = size.atom().and_then(|atom| atom.var()).and_then(|var| self.further.get(&var));
        of.is_some_and(|(array, _)| self.shape(&Atom::Var(*array)).first() == Some(&Some(rows.clone())))
    }
}

/// Whether a size is a number, and there is something.
fn is_positive(size: &Option<Linear>) -> bool {
    size.as_ref().is_some_and(|size| matches!(size.atom(), Some(Atom::Int(n)) if n > 0))
}

/// What two shapes agree in.
fn agreed(a: Shape, b: Shape) -> Shape {
    a.into_iter().zip(b).map(|(a, b)| a.filter(|a| b.as_ref() == Some(a))).collect()
}
