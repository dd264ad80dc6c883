//! What is known of operations: whether they may fail, and whether they may be dropped.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed tells nothing of lengths")]

use crate::sizes::{Shape, boxes, in_range_there};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::{APART, ASTRAY, ArrayOp, Convert, IntOp, Op, Requirement};
use wengert_ir::program::FuncId;
use wengert_ir::{Atom, Block, Func, Program, Stmt, Var};
use wengert_prim::RealOp;
use wengert_prim::real_op::ELEMENTARY_COST;

/// Functions that always return.
pub(crate) fn total(program: &Program) -> FxHashSet<FuncId> {
    let mut total = FxHashSet::default();
    // What each function that does nothing unsafe itself calls, and who calls it.
    let mut waits: FxHashMap<FuncId, usize> = FxHashMap::default();
    let mut callers: FxHashMap<FuncId, Vec<FuncId>> = FxHashMap::default();
    let mut ready = Vec::new();
    for (id, func) in program.funcs.iter() {
        let mut called = FxHashSet::default();
        let fine = func.body.all_stmts(&mut |stmt| match &stmt.op {
            Op::Call { func, .. } => {
                called.insert(*func);
                true
            }
            op => is_safe(op, &total),
        });
        if !fine {
            continue;
        }
        match called.len() {
            0 => ready.push(id),
            count => {
                waits.insert(id, count);
            }
        }
        called.into_iter().for_each(|callee| callers.entry(callee).or_default().push(id));
    }
    // A function is total if all that it calls are known to be; recursive ones never get there.
    while let Some(id) = ready.pop() {
        total.insert(id);
        for caller in callers.remove(&id).unwrap_or_default() {
            if let Some(count) = waits.get_mut(&caller) {
                *count -= 1;
                if *count == 0 {
                    ready.push(caller);
                }
            }
        }
    }
    total
}

/// Functions that do not fail but for want of memory, although some of them may go on forever: what these do may be done beside what the others do.
pub(crate) fn sure(program: &Program) -> FxHashSet<FuncId> {
    let mut sure: FxHashSet<FuncId> = program.funcs.ids().collect();
    loop {
        let before = sure.len();
        for (id, func) in program.funcs.iter() {
            if sure.contains(&id) && !func.body.all_stmts(&mut |stmt| is_sure(&stmt.op, &sure)) {
                sure.remove(&id);
            }
        }
        if sure.len() == before {
            return sure;
        }
    }
}

/// Whether an operation does not fail, given functions that do not.
pub(crate) fn is_sure(op: &Op, sure: &FxHashSet<FuncId>) -> bool {
    match op {
        Op::Fail { message: Atom::Text(text) } => [ASTRAY, APART].contains(&&**text),
        _ => is_safe(op, sure),
    }
}

/// Whether nothing in a block fails or goes on forever.
pub(crate) fn is_total(block: &Block, total: &FxHashSet<FuncId>) -> bool {
    block.all_stmts(&mut |stmt| is_safe(&stmt.op, total))
}

/// Whether neither an operation fails or goes on forever, nor anything in its blocks.
pub(crate) fn is_quiet(op: &Op, total: &FxHashSet<FuncId>) -> bool {
    is_safe(op, total) && op.blocks().into_iter().all(|inner| is_total(inner, total))
}

/// Whether an operation can be left out or done where it was not: it neither fails nor goes on forever. Blocks inside of it
/// are not looked into.
pub(crate) fn is_safe(op: &Op, total: &FxHashSet<FuncId>) -> bool {
    match op {
        Op::Copy(_)
        | Op::Real(..)
        | Op::Power { .. }
        | Op::Compare(..)
        | Op::Not(_)
        | Op::Select { .. }
        | Op::Text(..)
        | Op::Make { .. }
        | Op::Match { .. }
        | Op::If { .. }
        | Op::Loop(_)
        | Op::StopGradient(_) => !op.never_returns(),
        Op::Int(op, args) => match op {
            IntOp::Div | IntOp::Rem | IntOp::DivFloor | IntOp::ModFloor => {
                matches!(args.get(1), Some(Atom::Int(n)) if *n != 0)
            }
            IntOp::Power => matches!(args.get(1), Some(Atom::Int(n)) if *n >= 0),
            IntOp::ShiftLeft | IntOp::ShiftRight => matches!(args.get(1), Some(Atom::Int(0..=63))),
            IntOp::Add
            | IntOp::Sub
            | IntOp::Mul
            | IntOp::Neg
            | IntOp::Abs
            | IntOp::Sign
            | IntOp::Min
            | IntOp::Max
            | IntOp::BitAnd
            | IntOp::BitOr
            | IntOp::BitXor => true,
        },
        Op::Convert(convert, _) => match convert {
            Convert::IntToReal | Convert::IsNan => true,
            Convert::Floor | Convert::Ceil | Convert::Round | Convert::Truncate => false,
        },
        Op::Array(op, args) => is_safe_array_op(*op, args),
        Op::Call { func, .. } => total.contains(func),
        Op::Polygamma { .. } | Op::Fail { .. } | Op::Require { .. } | Op::Whole(_) | Op::While(_) => false,
        Op::Jvp { .. }
        | Op::Linearize { .. }
        | Op::Forward { .. }
        | Op::Backward { .. }
        | Op::Custom(_)
        | Op::Taylor { .. } => false,
    }
}

/// What takes longer than a division.
pub(crate) fn is_costly(op: &Op) -> bool {
    matches!(op, Op::Real(op, _) if op.cost() >= ELEMENTARY_COST && !matches!(op, RealOp::Sqrt | RealOp::PowInt(_)))
}

/// What is known of the variables of a function.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// Lengths of arrays: what is so many rows long can be made.
    counts: FxHashSet<Var>,
    /// Results of reads and updates whose indices are in range, arrays of numbers that are given one by one or one after the other,
    /// and rows that were chosen among all.
    inside: FxHashSet<Var>,
}

/// The same of each function.
pub(crate) type Counts = FxHashMap<FuncId, Known>;

/// The lengths that a program asks for, and the elements that are there.
pub(crate) fn counts(program: &mut Program) -> Counts {
    let boxes = boxes(program);
    let of = |func: &mut Func| {
        let (mut counts, mut literals) = (FxHashSet::default(), FxHashSet::<Var>::default());
        func.body.for_each_stmt(&mut |stmt| match &stmt.op {
            Op::Array(ArrayOp::Length(_), _) => counts.extend(&stmt.outs),
            Op::Array(ArrayOp::Literal, items) if items.iter().all(|item| func.type_of(item).rank() == 0) => {
                literals.extend(&stmt.outs);
            }
            _ => {}
        });
        let mut inside = in_range_there(func, &boxes);
        inside.extend(literals);
        inside.extend(chosen(func));
        Known { counts, inside }
    };
    program.funcs.iter_mut().map(|(id, func)| (id, of(func))).collect()
}

/// Arrays of numbers that are put one after the other, and rows at places of the same array: in ascending order, or those that a
/// filter has left.
fn chosen(func: &Func) -> FxHashSet<Var> {
    let mut fine: FxHashSet<Var> = FxHashSet::default();
    // Lengths, places, and the arrays that they are of.
    let mut of: FxHashMap<Var, Var> = FxHashMap::default();
    func.body.for_each_stmt(&mut |stmt| {
        let (Op::Array(op, args), [out]) = (&stmt.op, stmt.outs.as_slice()) else { return };
        let known = |atom: &Atom| atom.var().and_then(|var| of.get(&var).copied());
        match (op, args.as_slice()) {
            (ArrayOp::Concat, _) if func.ty(*out).rank() == 1 => {
                fine.insert(*out);
            }
            (ArrayOp::Gather, [Atom::Var(array), places]) if known(places) == Some(*array) => {
                fine.insert(*out);
            }
            (ArrayOp::Length(0) | ArrayOp::ArgSort, [Atom::Var(array)]) => {
                of.insert(*out, *array);
            }
            (ArrayOp::Iota, [other]) | (ArrayOp::Filter, [other, _]) => {
                known(other).into_iter().for_each(|array| {
                    of.insert(*out, array);
                });
            }
            (_, _) => {}
        }
    });
    fine
}

/// Whether a statement can be left out: as [`is_safe`], arrays as long as others or of numbers, and elements that are there.
pub(crate) fn is_droppable(stmt: &Stmt, total: &FxHashSet<FuncId>, known: Option<&Known>) -> bool {
    let has = |of: fn(&Known) -> &FxHashSet<Var>, var: Option<Var>| {
        var.is_some_and(|var| known.is_some_and(|known| of(known).contains(&var)))
    };
    let fine = match &stmt.op {
        Op::Array(ArrayOp::Replicate | ArrayOp::Iota, args) => {
            has(|known| &known.counts, args.first().and_then(Atom::var))
        }
        Op::Array(
            ArrayOp::Index
            | ArrayOp::Set
            | ArrayOp::AddAt
            | ArrayOp::Literal
            | ArrayOp::Slice
            | ArrayOp::MatVec
            | ArrayOp::Concat
            | ArrayOp::Gather,
            _,
        ) => has(|known| &known.inside, stmt.outs.first().copied()),
        _ => false,
    };
    fine || is_safe(&stmt.op, total)
}

/// What is known of a function that says what in it does not fail.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quiet<'a> {
    /// Functions that always return.
    pub(crate) total: &'a FxHashSet<FuncId>,
    /// What reads and updates of elements that are there give, and arrays of sizes that can be.
    pub(crate) inside: &'a FxHashSet<Var>,
}

impl Quiet<'_> {
    /// Whether a statement neither fails nor goes on forever, nor anything in its blocks.
    pub(crate) fn stmt(self, stmt: &Stmt) -> bool {
        self.alone(stmt) && stmt.op.blocks().into_iter().all(|inner| self.block(inner))
    }

    /// Whether nothing in a block fails or goes on forever.
    pub(crate) fn block(self, block: &Block) -> bool {
        block.all_stmts(&mut |stmt| self.alone(stmt))
    }

    /// The same of a statement without its blocks.
    pub(crate) fn alone(self, stmt: &Stmt) -> bool {
        is_safe(&stmt.op, self.total) || stmt.outs.first().is_some_and(|out| self.inside.contains(out))
    }
}

fn is_safe_array_op(op: ArrayOp, args: &[Atom]) -> bool {
    match op {
        ArrayOp::Empty(..)
        | ArrayOp::Length(_)
        | ArrayOp::Zeros
        | ArrayOp::Add
        | ArrayOp::AddProduct(_)
        | ArrayOp::Flatten
        | ArrayOp::UnflattenLike
        | ArrayOp::Reverse
        | ArrayOp::Transpose
        | ArrayOp::Filter
        | ArrayOp::Sum
        | ArrayOp::Product
        | ArrayOp::Sort
        | ArrayOp::ArgSort
        | ArrayOp::Ravel
        | ArrayOp::Reshape => true,
        ArrayOp::Iota | ArrayOp::Replicate => matches!(args.first(), Some(Atom::Int(0..=0xFFFF))),
        ArrayOp::Dot => matches!(args, [x, y] if x == y),
        ArrayOp::Literal
        | ArrayOp::Index
        | ArrayOp::Set
        | ArrayOp::AddAt
        | ArrayOp::Concat
        | ArrayOp::Slice
        | ArrayOp::Gather
        | ArrayOp::ScatterAdd
        | ArrayOp::Maximum
        | ArrayOp::Minimum
        | ArrayOp::ArgMax
        | ArrayOp::ArgMin
        | ArrayOp::MatVec
        | ArrayOp::MatMul => false,
    }
}

/// What an array that an operation makes has of its first operand.
pub(crate) enum Keeps {
    /// The size along each axis.
    Sizes,
    /// As many rows. Where there is one only, another that takes its place may have another size.
    Rows,
}

/// See there.
pub(crate) fn keeps(op: ArrayOp) -> Option<Keeps> {
    match op {
        ArrayOp::Zeros
        | ArrayOp::ScatterAdd
        | ArrayOp::AddProduct(_)
        | ArrayOp::Reverse
        | ArrayOp::Sort
        | ArrayOp::ArgSort => Some(Keeps::Sizes),
        ArrayOp::Set | ArrayOp::AddAt => Some(Keeps::Rows),
        _ => None,
    }
}

/// How long arrays are: for a variable, an operand that is its number of rows.
#[derive(Debug, Default)]
pub(crate) struct Lengths {
    known: FxHashMap<Var, Atom>,
    /// What follows from how the array is made.
    defined: FxHashMap<Var, Atom>,
    /// What was noted, in order.
    noted: Vec<Var>,
}

/// The sizes of arrays along an axis, where they are numbers or have names.
pub(crate) fn along(shapes: &FxHashMap<Var, Shape>, axis: usize) -> FxHashMap<Var, Atom> {
    let size = |shape: &Shape| shape.get(axis)?.as_ref()?.atom();
    shapes.iter().filter_map(|(array, shape)| Some((*array, size(shape)?))).collect()
}

impl Lengths {
    /// How much is known, to forget the rest at the end of a block: a length may be a variable of the block.
    pub(crate) fn mark(&self) -> usize {
        self.noted.len()
    }

    /// Forgets what was noted since.
    pub(crate) fn forget(&mut self, mark: usize) {
        for var in self.noted.drain(mark..) {
            self.known.remove(&var);
        }
    }

    /// The number of rows of an array.
    pub(crate) fn of(&self, array: &Atom) -> Option<&Atom> {
        self.known.get(&array.var()?)
    }

    /// Whether an array has so many rows, as far as is known.
    pub(crate) fn is(&self, array: Var, length: &Atom) -> bool {
        self.known.get(&array) == Some(length) || self.defined.get(&array) == Some(length)
    }

    /// What follows from how arrays are made.
    pub(crate) fn defined(defined: FxHashMap<Var, Atom>) -> Lengths {
        Lengths { defined, ..Lengths::default() }
    }

    /// Notes a length.
    pub(crate) fn set(&mut self, array: &Atom, length: Atom) {
        if let Some(var) = array.var()
            && self.known.insert(var, length).is_none()
        {
            self.noted.push(var);
        }
    }

    /// Notes what a statement tells.
    pub(crate) fn note(&mut self, func: &Func, outs: &[Var], op: &Op) {
        match op {
            Op::Array(ArrayOp::Length(0), args) => {
                if let (Some(array), Some(out)) = (args.first(), outs.first())
                    && self.of(array).is_none()
                {
                    self.set(array, Atom::Var(*out));
                }
            }
            Op::Array(ArrayOp::Iota | ArrayOp::Replicate, args) => self.first(outs, args.first().cloned()),
            Op::Array(ArrayOp::Literal, args) => {
                self.first(outs, i64::try_from(args.len()).ok().map(Atom::Int));
            }
            Op::Array(op, args) if keeps(*op).is_some() => {
                let is_array = args.first().is_some_and(|array| func.type_of(array).rank() > 0);
                let length = args.first().filter(|_| is_array).and_then(|array| self.of(array)).cloned();
                self.first(outs, length);
            }
            Op::Loop(parts) => {
                for output in outs.iter().skip(parts.init.len() + parts.accs.len()) {
                    self.set(&Atom::Var(*output), parts.len.clone());
                }
                for input in &parts.inputs {
                    if self.of(input).is_none() {
                        self.set(input, parts.len.clone());
                    }
                }
            }
            Op::Require { what: Requirement::Beside, left, right } => self.beside(left, right),
            _ => {}
        }
    }

    /// Two lengths are the same wherever they are known: the second is called by the first.
    fn beside(&mut self, first: &Atom, second: &Atom) {
        for var in &self.noted {
            if let Some(length) = self.known.get_mut(var)
                && *length == *second
            {
                *length = first.clone();
            }
        }
    }

    fn first(&mut self, outs: &[Var], length: Option<Atom>) {
        if let (Some(out), Some(length)) = (outs.first(), length) {
            self.set(&Atom::Var(*out), length);
        }
    }
}
