//! The linear part of a function: a program in a language of its own, in which everything is linear.
//!
//! The tangent (or cotangent) of a variable of the primal part goes by the name of that variable. Statements mention
//! variables of the primal part as coefficients, indices, conditions, shapes; what of these the linear part mentions at
//! all is the residual. Blocks nest as in the IR.
//!
//! ```text
//! a = xs[i] * sin y        a' = (sin y) · xs'[i]  +  (xs[i] · cos y) · y'
//! ```
//!
//! An element of an array of reals has no name of its own: it is a *place* in the array ([`Ref::At`]), so that a cotangent
//! is added where it belongs at once. That also makes the order of sums that of a tape on which an element and what was
//! read from the array are the same slot.
//!
//! [`crate::forward`] writes linear code down as IR, [`crate::transpose`] its transpose.

use crate::Key;
use crate::like::Likes;
use indexmap::IndexSet;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;
use wengert_ir::op::{ArrayOp, Atom, Lie, Stmt, Var};
use wengert_ir::program::{FuncId, VarInfo};
use wengert_ir::ty::{DataId, Elem, Table, Ty};

/// A block of linear code.
#[derive(Debug, Default)]
pub(crate) struct LinBlock {
    pub(crate) stmts: Vec<Lin>,
    /// One for each result of the primal block; `None` where it does not vary.
    pub(crate) results: Vec<Option<Ref>>,
    /// What [`captured`] has found.
    captured: OnceCell<IndexSet<Var>>,
    /// What [`Mentions::inside`] has found.
    mentioned: OnceCell<Mentioned>,
    /// Of what [`captured`] has found what gets a cotangent, for results that have one.
    pub(crate) live: RefCell<FxHashMap<Vec<bool>, Rc<[Var]>>>,
}

/// Variables of the primal part that a block of linear code mentions, and does not bind in blocks inside of it.
#[derive(Debug, Default)]
pub(crate) struct Mentioned {
    pub(crate) found: IndexSet<Var>,
    /// Those of them of which more than the shape is needed.
    pub(crate) values: FxHashSet<Var>,
}

impl LinBlock {
    pub(crate) fn new(stmts: Vec<Lin>, results: Vec<Option<Ref>>) -> LinBlock {
        LinBlock { stmts, results, ..LinBlock::default() }
    }

    /// What is mentioned has changed.
    pub(crate) fn forget_mentioned(&mut self) {
        self.mentioned = OnceCell::new();
    }
}

/// A linear operand.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ref {
    /// The tangent of this variable.
    Var(Var),
    /// What stands in the tangent of an array of reals at these indices.
    At(Var, Vec<Atom>),
}

/// `± coef · of`
#[derive(Clone, Debug)]
pub(crate) struct Term {
    pub(crate) of: Ref,
    pub(crate) negative: bool,
    /// `None` for 1.
    pub(crate) coef: Option<Atom>,
}

/// An operand of an operation on tangents.
#[derive(Clone, Debug)]
pub(crate) enum Arg {
    /// A tangent.
    Linear(Ref),
    /// The zero tangent at this point.
    Zero(Atom),
    /// Something of the primal part.
    Fixed(Atom),
}

/// A statement.
#[derive(Debug)]
pub(crate) enum Lin {
    /// `out = (Σ terms) / divisor`, of reals; at least one term.
    Form { out: Var, terms: Vec<Term>, divisor: Option<Atom> },
    /// An array operation that is linear in some of its operands. `extra` is what the transpose needs besides.
    Array { out: Var, op: ArrayOp, args: Vec<Arg>, extra: Vec<Atom> },
    /// A constructor: the operands are its fields that have tangents.
    Make { out: Var, data: DataId, ctor: u32, fields: Vec<Arg> },
    /// The fields of a value of this constructor; `like` are those of its fields that are arrays and have tangents.
    Fields { of: Ref, data: DataId, ctor: u32, outs: Vec<Var>, like: Vec<Atom> },
    /// One of several blocks.
    Branch(Box<Branch>),
    /// A loop.
    Loop(Box<LinLoop>),
    /// A call.
    Call(Box<LinCall>),
    /// Products of matrices and vectors, added to something.
    Product(Box<LinProduct>),
    /// A sum; zero if there are no parts.
    Sum { out: Var, parts: Vec<Ref> },
    /// The transpose of a function that a rule gives.
    Pullback(Box<LinPullback>),
}

/// What decides which block is taken.
#[derive(Clone, Debug)]
pub(crate) enum Choice {
    /// A truth value: the first block when true.
    If(Atom),
    /// The constructor of a value.
    Match(Atom),
}

#[derive(Debug)]
pub(crate) struct Branch {
    pub(crate) on: Choice,
    pub(crate) arms: Vec<Arm>,
    /// For each result of the primal branch the variable, if it varies.
    pub(crate) outs: Vec<Option<Var>>,
    /// What gets a cotangent, even if zero, whatever the arms add to: a function in whose place others may be given as tangents
    /// need not use its argument, where those do.
    pub(crate) besides: Vec<Var>,
    /// Those of them that are kept although no arm looks at them: derivatives of those others may depend on where they are.
    pub(crate) points: Vec<Var>,
}

#[derive(Debug)]
pub(crate) struct Arm {
    /// For a match: the variables of the fields.
    pub(crate) params: Vec<Var>,
    /// Variables of the primal block, and what they are outside of it.
    pub(crate) binds: Vec<(Var, Atom)>,
    /// What is computed again.
    pub(crate) again: Vec<Stmt>,
    pub(crate) block: LinBlock,
}

/// A variable of a loop's body that is kept for every iteration.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) var: Var,
    /// The array of its values.
    pub(crate) array: Atom,
    /// The rows are boxed in this type, because they may differ in size.
    pub(crate) boxed: Option<DataId>,
}

/// Something that is carried from one iteration to the next.
#[derive(Clone, Debug)]
pub(crate) struct Carried {
    pub(crate) param: Var,
    pub(crate) init: Arg,
    pub(crate) out: Var,
    /// Which result of the body is its next value.
    pub(crate) result: usize,
    /// That value, if it is an array that does not vary, maybe of a shape of its own.
    pub(crate) fixed: Option<Atom>,
}

#[derive(Debug)]
pub(crate) struct LinLoop {
    pub(crate) len: Atom,
    pub(crate) backward: bool,
    /// The index, if there is one.
    pub(crate) index: Option<Var>,
    /// What is computed again in each iteration.
    pub(crate) again: Vec<Stmt>,
    pub(crate) rows: Vec<Row>,
    /// Rows of tangents.
    pub(crate) inputs: Vec<(Var, Ref)>,
    pub(crate) carried: Vec<Carried>,
    /// Arrays of results: the variable, and which result of the body the rows are.
    pub(crate) outputs: Vec<(Var, usize)>,
    pub(crate) body: LinBlock,
}

#[derive(Debug)]
pub(crate) struct LinCall {
    pub(crate) key: Key,
    /// What the linear part of the function needs; for a checkpoint, the arguments.
    pub(crate) residual: Vec<Atom>,
    /// Of which of that only the shape is needed.
    pub(crate) shapes: Vec<bool>,
    pub(crate) checkpoint: bool,
    /// Whether its transpose adds to sums so far.
    pub(crate) seeds: bool,
    /// For each parameter, the tangent of the argument if it varies; else a zero at it.
    pub(crate) args: Vec<Arg>,
    /// For each result the variable, if it varies.
    pub(crate) outs: Vec<Option<Var>>,
}

/// `out = sum + Σ` products, at indices of the sum; without one, zeros.
#[derive(Debug)]
pub(crate) struct LinProduct {
    pub(crate) out: Var,
    pub(crate) lie: Lie,
    pub(crate) sum: Option<Arg>,
    pub(crate) indices: Vec<Atom>,
    /// Factors, one of each two a tangent.
    pub(crate) pairs: Vec<(Arg, Arg)>,
    /// Pairs with the same number are of one product of the primal part.
    pub(crate) groups: Vec<usize>,
    /// For each of these the sizes of what varies, where the other factor and the product need not tell them: a matrix without rows shows nothing of its
    /// columns.
    pub(crate) sizes: Vec<Vec<Atom>>,
}

impl LinProduct {
    /// The tangents among the operands.
    pub(crate) fn linear(&self) -> impl Iterator<Item = &Ref> {
        let factors = self.pairs.iter().flat_map(|(x, y)| [x, y]);
        self.sum.iter().chain(factors).filter_map(Arg::linear)
    }
}

#[derive(Debug)]
pub(crate) struct LinPullback {
    /// Applies the function.
    pub(crate) apply: FuncId,
    /// For a function that was made, its transpose: both take and give tangents as derivatives use them.
    pub(crate) forward: Option<FuncId>,
    /// The function from cotangents of the results to cotangents of the point.
    pub(crate) back: Atom,
    /// The point: each part with its tangent, if it varies.
    pub(crate) points: Vec<(Atom, Option<Ref>)>,
    /// The values of the results.
    pub(crate) values: Vec<Atom>,
    /// For each result the variable, if it varies.
    pub(crate) outs: Vec<Option<Var>>,
}

impl Ref {
    /// The variable whose tangent it is, or in whose tangent it stands.
    pub(crate) fn base(&self) -> Var {
        match self {
            Ref::Var(var) | Ref::At(var, _) => *var,
        }
    }
}

impl Arg {
    pub(crate) fn linear(&self) -> Option<&Ref> {
        match self {
            Arg::Linear(of) => Some(of),
            Arg::Zero(_) | Arg::Fixed(_) => None,
        }
    }
}

/// Finds the variables of the primal part that linear code mentions and does not bind.
pub(crate) struct Mentions<'a> {
    vars: &'a Table<Var, VarInfo>,
    likes: &'a Likes,
    pub(crate) found: IndexSet<Var>,
    /// Those of them of which more than the shape is needed.
    pub(crate) values: FxHashSet<Var>,
}

impl<'a> Mentions<'a> {
    pub(crate) fn new(vars: &'a Table<Var, VarInfo>, likes: &'a Likes) -> Mentions<'a> {
        Mentions { vars, likes, found: IndexSet::new(), values: FxHashSet::default() }
    }

    /// What the linear part of a function mentions, and of which of that only the shape is needed.
    pub(crate) fn of_function(mut self, block: &LinBlock) -> (Vec<Var>, Vec<bool>) {
        self.block(block);
        self.found.iter().map(|var| (*var, !self.values.contains(var))).unzip()
    }

    pub(crate) fn block(&mut self, block: &LinBlock) {
        block.stmts.iter().for_each(|lin| self.lin(lin));
        block.results.iter().flatten().for_each(|of| self.of(of));
        // What is there shows its sizes itself.
        for lin in &block.stmts {
            let Lin::Product(product) = lin else { continue };
            for ((x, y), sizes) in product.pairs.iter().zip(&product.sizes) {
                let varies = x.linear().or_else(|| y.linear());
                if varies.is_some_and(|of| !self.found.contains(&self.likes.root(of.base()))) {
                    sizes.iter().for_each(|size| self.atom(size));
                }
            }
        }
    }

    fn atom(&mut self, atom: &Atom) {
        self.found.extend(atom.var());
        self.values.extend(atom.var());
    }

    /// A variable of which only the shape is needed.
    fn shape(&mut self, var: Var) {
        self.found.insert(self.likes.root(var));
    }

    /// An operand; the array around an element is needed for its shape.
    fn of(&mut self, of: &Ref) {
        if let Ref::At(array, indices) = of {
            self.shape(*array);
            indices.iter().for_each(|index| self.atom(index));
        }
    }

    /// An operand whose shape is needed, if it is an array.
    fn shaped(&mut self, of: &Ref) {
        self.of(of);
        if self.vars.get(of.base()).is_some_and(|info| info.ty.rank() > 0) {
            self.shape(of.base());
        }
    }

    fn arg(&mut self, arg: &Arg) {
        match arg {
            Arg::Linear(of) => self.of(of),
            Arg::Zero(point) => {
                let shaped = |var: &Var| self.vars.get(*var).is_some_and(|info| info.ty.rank() > 0);
                point.var().filter(shaped).into_iter().for_each(|var| self.shape(var));
            }
            Arg::Fixed(atom) => self.atom(atom),
        }
    }

    fn lin(&mut self, lin: &Lin) {
        match lin {
            Lin::Form { terms, divisor, .. } => {
                for Term { of, coef, .. } in terms {
                    self.of(of);
                    coef.iter().for_each(|coef| self.atom(coef));
                }
                divisor.iter().for_each(|divisor| self.atom(divisor));
            }
            Lin::Array { op, args, extra, .. } => {
                let shapes = crate::arrays::transpose_needs_shape(*op);
                for arg in args {
                    self.arg(arg);
                    if let (Arg::Linear(of), true) = (arg, shapes) {
                        self.shaped(of);
                    }
                }
                extra.iter().for_each(|atom| self.atom(atom));
            }
            Lin::Make { fields, .. } => {
                fields.iter().for_each(|field| self.arg(field));
                fields.iter().filter_map(Arg::linear).for_each(|of| self.shaped(of));
            }
            Lin::Fields { of, like, .. } => {
                self.of(of);
                like.iter().for_each(|atom| self.atom(atom));
            }
            Lin::Branch(branch) => {
                let Branch { on: Choice::If(on) | Choice::Match(on), arms, outs, besides, points } =
                    &**branch;
                self.atom(on);
                points.iter().for_each(|var| self.atom(&Atom::Var(*var)));
                besides.iter().for_each(|var| self.shaped(&Ref::Var(*var)));
                // Where an array is a result that varies in one arm only, the other needs its shape.
                for (i, out) in outs.iter().enumerate() {
                    let Some(out) = out else { continue };
                    let zero = arms.iter().any(|arm| !matches!(arm.block.results.get(i), Some(Some(_))));
                    if zero && self.vars.get(*out).is_some_and(|info| info.ty.rank() > 0) {
                        self.shape(*out);
                    }
                }
                for arm in arms {
                    arm.binds.iter().for_each(|(_, atom)| self.atom(atom));
                    let bound = arm.params.iter().chain(arm.binds.iter().map(|(var, _)| var));
                    let mut bound: FxHashSet<Var> = bound.copied().collect();
                    self.again(&arm.again, &mut bound);
                    self.inside(&arm.block, &bound);
                }
            }
            Lin::Loop(parts) => {
                // Rows tell how many iterations there are.
                if parts.rows.is_empty() {
                    self.atom(&parts.len);
                }
                let mut bound: FxHashSet<Var> = parts.index.into_iter().collect();
                let inner = self.of_block(&parts.body);
                let again: FxHashSet<Var> =
                    parts.again.iter().flat_map(|stmt| crate::again::needs(&stmt.op)).collect();
                for row in &parts.rows {
                    // Of an array of rows of which only the shape is needed, no more is.
                    let value = inner.values.contains(&row.var) || again.contains(&row.var);
                    if value || row.boxed.is_some() {
                        self.atom(&row.array);
                    }
                    self.found.extend(row.array.var());
                    bound.insert(row.var);
                }
                self.again(&parts.again, &mut bound);
                parts.inputs.iter().for_each(|(_, of)| self.of(of));
                for carried in &parts.carried {
                    self.arg(&carried.init);
                    self.shaped(&Ref::Var(carried.out));
                }
                bound.extend(parts.inputs.iter().map(|(row, _)| *row));
                bound.extend(parts.carried.iter().map(|carried| carried.param));
                let fixed = parts.carried.iter().filter_map(|carried| carried.fixed.as_ref()?.var());
                fixed.filter(|var| !bound.contains(&self.likes.root(*var))).for_each(|var| self.shape(var));
                self.inside(&parts.body, &bound);
            }
            Lin::Call(call) => {
                for (atom, shape) in call.residual.iter().zip(&call.shapes) {
                    match atom.var().filter(|_| *shape) {
                        Some(var) => self.shape(var),
                        None => self.atom(atom),
                    }
                }
                for arg in &call.args {
                    self.arg(arg);
                    arg.linear().into_iter().for_each(|of| self.shaped(of));
                }
            }
            Lin::Product(product) => {
                product.indices.iter().for_each(|index| self.atom(index));
                product.sum.iter().for_each(|sum| self.arg(sum));
                for (x, y) in &product.pairs {
                    self.arg(x);
                    self.arg(y);
                }
            }
            Lin::Sum { out, parts } => {
                parts.iter().for_each(|of| self.of(of));
                if parts.is_empty() {
                    // Zeros of that shape.
                    self.shaped(&Ref::Var(*out));
                }
            }
            Lin::Pullback(pullback) => {
                let LinPullback { back, points, values, .. } = &**pullback;
                self.atom(back);
                // Surface cotangents are made at the values and the point.
                let all = points.iter().map(|(point, _)| point).chain(values);
                let vars: Vec<Var> = all.filter_map(Atom::var).collect();
                let unknown = |var: &Var| self.vars.get(*var).is_some_and(|info| info.ty != Ty::REAL);
                let vars: Vec<Var> = vars.into_iter().filter(unknown).collect();
                self.found.extend(vars.iter().copied());
                self.values.extend(vars);
                points.iter().filter_map(|(_, of)| of.as_ref()).for_each(|of| self.of(of));
            }
        }
    }

    /// What statements that are computed again need.
    fn again(&mut self, stmts: &[Stmt], bound: &mut FxHashSet<Var>) {
        bound.extend(stmts.iter().flat_map(|stmt| &stmt.outs));
        let operands = stmts.iter().flat_map(|stmt| crate::again::needs(&stmt.op));
        let free: Vec<Var> = operands.filter(|var| !bound.contains(var)).collect();
        self.found.extend(free.iter().copied());
        self.values.extend(free);
    }

    /// What a block mentions. Blocks nest: each is looked through once.
    pub(crate) fn of_block<'b>(&self, block: &'b LinBlock) -> &'b Mentioned {
        block.mentioned.get_or_init(|| {
            let mut inner = Mentions::new(self.vars, self.likes);
            inner.block(block);
            Mentioned { found: inner.found, values: inner.values }
        })
    }

    /// What a nested block mentions and does not bind; and the arrays whose tangents it uses, for their shapes.
    fn inside(&mut self, block: &LinBlock, bound: &FxHashSet<Var>) {
        let inner = self.of_block(block);
        let arrays = captured(block).iter().copied().filter(|var| {
            self.vars
                .get(*var)
                .is_some_and(|info| matches!(info.ty, Ty::Array(Elem::Real | Elem::Data(_), _)))
        });
        let arrays = arrays.map(|var| self.likes.root(var));
        let found = inner.found.iter().copied().chain(arrays).filter(|var| !bound.contains(var));
        self.found.extend(found);
        self.values.extend(inner.values.iter().copied().filter(|var| !bound.contains(var)));
    }
}

/// The variables whose tangents a block uses and does not define. Blocks nest: each is looked through once.
pub(crate) fn captured(block: &LinBlock) -> &IndexSet<Var> {
    block.captured.get_or_init(|| find_captured(block))
}

fn find_captured(block: &LinBlock) -> IndexSet<Var> {
    let (mut used, mut defined) = (IndexSet::new(), FxHashSet::default());
    for lin in &block.stmts {
        uses(lin, &mut |of| {
            if !defined.contains(&of.base()) {
                used.insert(of.base());
            }
        });
        defines(lin, &mut |var| {
            defined.insert(var);
        });
    }
    used.extend(block.results.iter().flatten().map(Ref::base).filter(|var| !defined.contains(var)));
    used
}

/// What a statement uses, from nested blocks what they do not define.
pub(crate) fn uses(lin: &Lin, visit: &mut dyn FnMut(&Ref)) {
    match lin {
        Lin::Form { terms, .. } => terms.iter().for_each(|term| visit(&term.of)),
        Lin::Array { args, .. } | Lin::Make { fields: args, .. } => {
            args.iter().filter_map(Arg::linear).for_each(visit);
        }
        Lin::Fields { of, .. } => visit(of),
        Lin::Branch(branch) => {
            branch.besides.iter().for_each(|var| visit(&Ref::Var(*var)));
            for arm in &branch.arms {
                captured(&arm.block).iter().for_each(|var| visit(&Ref::Var(*var)));
            }
        }
        Lin::Loop(parts) => {
            parts.inputs.iter().for_each(|(_, of)| visit(of));
            parts.carried.iter().filter_map(|carried| carried.init.linear()).for_each(&mut *visit);
            loop_captured(parts).into_iter().for_each(|var| visit(&Ref::Var(var)));
        }
        Lin::Call(call) => call.args.iter().filter_map(Arg::linear).for_each(visit),
        Lin::Product(product) => product.linear().for_each(visit),
        Lin::Sum { parts, .. } => parts.iter().for_each(visit),
        Lin::Pullback(pullback) => pullback.points.iter().filter_map(|(_, of)| of.as_ref()).for_each(visit),
    }
}

/// The variables from around a loop whose tangents its body uses.
pub(crate) fn loop_captured(parts: &LinLoop) -> IndexSet<Var> {
    let mut used = captured(&parts.body).clone();
    used.retain(|var| {
        parts.inputs.iter().all(|(row, _)| row != var)
            && parts.carried.iter().all(|carried| carried.param != *var)
    });
    used
}

/// The variables whose tangents a statement defines.
pub(crate) fn defines(lin: &Lin, visit: &mut dyn FnMut(Var)) {
    match lin {
        Lin::Form { out, .. } | Lin::Array { out, .. } | Lin::Make { out, .. } | Lin::Sum { out, .. } => {
            visit(*out)
        }
        Lin::Product(product) => visit(product.out),
        Lin::Fields { outs, .. } => outs.iter().copied().for_each(visit),
        Lin::Branch(branch) => branch.outs.iter().flatten().copied().for_each(visit),
        Lin::Loop(parts) => {
            let carried = parts.carried.iter().map(|carried| carried.out);
            carried.chain(parts.outputs.iter().map(|(out, _)| *out)).for_each(visit);
        }
        Lin::Call(call) => call.outs.iter().flatten().copied().for_each(visit),
        Lin::Pullback(pullback) => pullback.outs.iter().flatten().copied().for_each(visit),
    }
}
