//! Products of matrices that are written as loops become products: they run many times faster, and their derivatives are
//! products again.
//!
//! ```text
//! each i < m {                            matmul(a, b)
//!   each j < n {
//!     for l < k, t = 0.0 {      becomes   or, if not all sizes are known to fit,
//!       u = a[i, l]
//!       v = b[l, j]                       fits = length(a, 1) == k
//!       t' = t + u * v                    if fits { matmul(a, b) } else { the loops }
//! ```
//!
//! What matters is which element of which array is a factor, however it is read there: as the row of an input, at indices, as
//! a row of a row. Factors at other places than these lie transposed. The loops stay where sizes do not fit: there they may
//! fail, or go over a part only.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is no part of a product")]

use crate::walk::count_uses;
use rustc_hash::FxHashMap;
use wengert_base::Span;
use wengert_ir::op::{ArrayOp, Compare, Loop, Mode, Op, Requirement};
use wengert_ir::program::VarInfo;
use wengert_ir::{Atom, Block, Elem, Func, Program, Stmt, Ty, Var};
use wengert_prim::RealOp;

/// See the module.
pub(crate) fn run(program: &mut Program) {
    for (_, func) in program.funcs.iter_mut() {
        let mut made = Made::default();
        func.body.for_each_stmt(&mut |stmt| made.note(stmt));
        let mut body = std::mem::take(&mut func.body);
        let uses = count_values(&body);
        Unused { func, uses, gone: FxHashMap::default() }.block(&mut body);
        block(func, &made, &mut body);
        func.body = body;
    }
}

/// Uses of variables, without those that only ask for a shape.
fn count_values(body: &Block) -> FxHashMap<Var, usize> {
    let mut uses = count_uses(body);
    body.for_each_stmt(&mut |stmt| {
        if let Op::Array(ArrayOp::Length(_) | ArrayOp::Zeros, args) = &stmt.op {
            let of = args.first().and_then(Atom::var);
            if let Some(count) = of.and_then(|of| uses.get_mut(&of)) {
                *count -= 1;
            }
        }
    });
    uses.retain(|_, count| *count > 0);
    uses
}

/// Products of which nobody wants more than the shape.
struct Unused<'f> {
    func: &'f mut Func,
    uses: FxHashMap<Var, usize>,
    /// Their factors.
    gone: FxHashMap<Var, [Var; 2]>,
}

impl Unused<'_> {
    fn block(&mut self, place: &mut Block) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut stmts = Vec::with_capacity(place.stmts.len());
            for mut stmt in std::mem::take(&mut place.stmts) {
                stmt.op.blocks_mut().into_iter().for_each(|inner| self.block(inner));
                if !self.check_only(&stmt, &mut stmts) {
                    self.shape(&mut stmt, &mut stmts);
                    stmts.push(stmt);
                }
            }
            place.stmts = stmts;
        });
    }

    /// Of such a product there remains that the sizes must fit.
    fn check_only(&mut self, stmt: &Stmt, stmts: &mut Vec<Stmt>) -> bool {
        let (Op::Array(op, args), [out]) = (&stmt.op, stmt.outs.as_slice()) else { return false };
        let (what, axis) = match op {
            ArrayOp::Dot => (Requirement::SameSize("dot".into()), 0),
            ArrayOp::MatVec => (Requirement::ProductSize("matvec".into()), 1),
            ArrayOp::MatMul => (Requirement::ProductSize("matmul".into()), 1),
            _ => return false,
        };
        let [Atom::Var(x), Atom::Var(y)] = args.as_slice() else { return false };
        if self.uses.contains_key(out) {
            return false;
        }
        let equal = Equal { what, sizes: [Size::Of(*x, axis), Size::Of(*y, 0)], span: stmt.span };
        // Without rows there is nothing to fit.
        let rows = if axis == 1 { Size::Of(*x, 0) } else { Size::Known(Atom::Int(1)) };
        self.write(stmts, stmt.span).require_all(&[equal], &rows);
        self.gone.insert(*out, [*x, *y]);
        true
    }

    /// The shape of such a product is known from its factors.
    fn shape(&mut self, stmt: &mut Stmt, stmts: &mut Vec<Stmt>) {
        let Op::Array(op, args) = &stmt.op else { return };
        let Some(product) = args.first().and_then(Atom::var) else { return };
        let Some([x, y]) = self.gone.get(&product).copied() else { return };
        let matrix = self.func.ty(product).rank() == 2;
        let mut write = self.write(stmts, stmt.span);
        stmt.op = match op {
            ArrayOp::Length(0) => Op::Array(ArrayOp::Length(0), vec![Atom::Var(x)]),
            ArrayOp::Length(_) => {
                let (rows, columns) = (write.size(x, 0), write.size(y, 1));
                let none = Op::Compare(Compare::Eq, rows, Atom::Int(0));
                let cond = write.emit("none", Ty::BOOL, none);
                Op::Select { cond, then: Atom::Int(0), otherwise: columns }
            }
            ArrayOp::Zeros => {
                let rows = write.size(x, 0);
                let mut row = Atom::Real(0.0);
                if matrix {
                    let columns = write.size(y, 1);
                    let op = Op::Array(ArrayOp::Replicate, vec![columns, row]);
                    row = write.emit("zeros", Ty::Array(Elem::Real, 1), op);
                }
                Op::Array(ArrayOp::Replicate, vec![rows, row])
            }
            _ => return,
        };
    }

    fn write<'w>(&'w mut self, stmts: &'w mut Vec<Stmt>, span: Span) -> Write<'w> {
        Write { func: self.func, span, stmts, cond: None }
    }
}

/// What arrays and sizes of a function are.
#[derive(Default)]
struct Made {
    /// Sizes: of which array along which axis.
    sizes: FxHashMap<Var, (Var, u8)>,
    /// Arrays that are others transposed.
    transposed: FxHashMap<Var, Var>,
}

impl Made {
    fn note(&mut self, stmt: &Stmt) {
        let (Op::Array(op, args), [out]) = (&stmt.op, stmt.outs.as_slice()) else { return };
        match (op, args.as_slice()) {
            (ArrayOp::Length(axis), [Atom::Var(array)]) => {
                self.sizes.insert(*out, (*array, *axis));
            }
            (ArrayOp::Transpose, [Atom::Var(array)]) => {
                self.transposed.insert(*out, *array);
            }
            (_, _) => {}
        }
    }
}

fn block(func: &mut Func, made: &Made, place: &mut Block) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let mut stmts = Vec::with_capacity(place.stmts.len());
        for mut stmt in std::mem::take(&mut place.stmts) {
            if let Some(product) = recognized(func, made, &stmt) {
                product.write(func, stmt, &mut stmts);
                continue;
            }
            match &mut stmt.op {
                // Where sizes do not fit, the loops were found before.
                Op::If { cond: _, then, otherwise } => {
                    let is_product =
                        |stmt: &Stmt| matches!(stmt.op, Op::Array(ArrayOp::MatVec | ArrayOp::MatMul, _));
                    let found = then.stmts.iter().any(is_product);
                    block(func, made, then);
                    if !found {
                        block(func, made, otherwise);
                    }
                }
                op => op.blocks_mut().into_iter().for_each(|inner| block(func, made, inner)),
            }
            stmts.push(stmt);
        }
        place.stmts = stmts;
    });
}

/// An element of an array, by the array and its indices; an array by itself has none.
#[derive(Clone, PartialEq)]
struct Place {
    array: Var,
    indices: Vec<Atom>,
}

/// A number of iterations.
#[derive(Clone, PartialEq)]
enum Size {
    /// An operand.
    Known(Atom),
    /// The size of an array along an axis.
    Of(Var, u8),
}

/// Two sizes that must be equal: of an array along an axis, and another.
type Fit = (Var, u8, Size);

/// Two sizes that the loops require to be equal.
struct Equal {
    what: Requirement,
    sizes: [Size; 2],
    span: Span,
}

/// The index of a product of vectors, which has none.
const NO_INDEX: Var = Var(u32::MAX);

/// Loops that are gone through from the outside to the inside.
#[derive(Default)]
struct Nest {
    /// The index of each loop and the number of its iterations.
    loops: Vec<(Var, Size)>,
    /// What is bound in the loops, and what it is.
    places: FxHashMap<Var, Place>,
    /// Sizes that are equal for sure.
    sure: Vec<Fit>,
    /// Sizes that must be.
    fits: Vec<Fit>,
    /// Arrays that must have rows.
    some: Vec<Var>,
    /// Sizes that are required to be equal.
    equal: Vec<Equal>,
}

/// A product, and what must hold for it to be one.
struct Product {
    op: ArrayOp,
    /// Each with whether it lies transposed.
    factors: [(Var, bool); 2],
    fits: Vec<Fit>,
    /// What must not be 0.
    some: Vec<Size>,
    equal: Vec<Equal>,
    rows: Size,
}

/// Whether a statement makes the product of two matrices in loops: it becomes one operation, unless another loop takes it in before.
pub(crate) fn is_of_matrices(func: &Func, stmt: &Stmt) -> bool {
    recognized(func, &Made::default(), stmt).is_some_and(|product| product.op == ArrayOp::MatMul)
}

fn recognized(func: &Func, made: &Made, stmt: &Stmt) -> Option<Product> {
    let Op::Loop(parts) = &stmt.op else { return None };
    let [out] = stmt.outs.as_slice() else { return None };
    if func.ty(*out).elem() != Elem::Real || func.ty(*out).rank() > 2 {
        return None;
    }
    let mut nest = Nest::default();
    let factors = nest.rows(func, parts)?;
    nest.product(func, made, factors)
}

impl Nest {
    /// What an operand is.
    fn place(&self, atom: &Atom) -> Option<Place> {
        let var = atom.var()?;
        Some(self.places.get(&var).cloned().unwrap_or_else(|| Place { array: var, indices: Vec::new() }))
    }

    /// Whether an operand is bound outside of the loops.
    fn is_outside(&self, atom: &Atom) -> bool {
        atom.var().is_none_or(|var| {
            !self.places.contains_key(&var) && self.loops.iter().all(|(index, _)| *index != var)
        })
    }

    fn enter(&mut self, parts: &Loop, carried: usize) -> Option<()> {
        let index = *parts.body.params.first()?;
        for (param, input) in parts.body.params.iter().skip(1 + carried).zip(&parts.inputs) {
            let mut place = self.place(input)?;
            let axis = u8::try_from(place.indices.len()).ok()?;
            self.sure.push((place.array, axis, Size::Known(parts.len.clone())));
            place.indices.push(Atom::Var(index));
            self.places.insert(*param, place);
        }
        self.loops.push((index, Size::Known(parts.len.clone())));
        self.is_outside(&parts.len).then_some(())
    }

    /// A loop that makes rows, down to the sum of products: the factors.
    fn rows(&mut self, func: &Func, parts: &Loop) -> Option<[Place; 2]> {
        let plain = parts.mode == Mode::Each && parts.accs.is_empty() && !parts.backward;
        let [Atom::Var(result)] = parts.body.results.as_slice() else { return None };
        if !plain || self.loops.len() == 2 {
            return None;
        }
        self.enter(parts, 0)?;
        let mut found = None;
        for stmt in &parts.body.stmts {
            if stmt.outs.first() != Some(result) {
                self.reads(stmt)?;
                continue;
            }
            found = match &stmt.op {
                Op::Loop(inner) if inner.mode == Mode::Each => self.rows(func, inner),
                Op::Loop(inner) => self.sum(func, inner),
                Op::Array(ArrayOp::Dot, args) => self.dot(args, stmt.span),
                _ => None,
            };
            found.as_ref()?;
        }
        found
    }

    /// A statement that reads an element or a row, or requires sizes to be equal.
    fn reads(&mut self, stmt: &Stmt) -> Option<()> {
        match (&stmt.op, stmt.outs.as_slice()) {
            (Op::Copy(x), [out]) => {
                let place = self.place(x)?;
                self.places.insert(*out, place);
            }
            (Op::Array(ArrayOp::Index, args), [out]) => {
                let (array, indices) = args.split_first()?;
                let mut place = self.place(array)?;
                for index in indices {
                    let axis = u8::try_from(place.indices.len()).ok()?;
                    match self.loops.iter().find(|(var, _)| index.var() == Some(*var)) {
                        Some((_, len)) => self.fits.push((place.array, axis, len.clone())),
                        None if *index == Atom::Int(0) && axis == 0 => self.some.push(place.array),
                        None => return None,
                    }
                    place.indices.push(index.clone());
                }
                self.places.insert(*out, place);
            }
            (Op::Require { what, left, right }, []) => {
                if !self.is_outside(left) || !self.is_outside(right) {
                    return None;
                }
                let sizes = [left, right].map(|size| Size::Known(size.clone()));
                self.equal.push(Equal { what: *what, sizes, span: stmt.span });
            }
            (_, _) => return None,
        }
        Some(())
    }

    /// A loop that adds up products.
    fn sum(&mut self, func: &Func, parts: &Loop) -> Option<[Place; 2]> {
        let plain = parts.mode == Mode::Sequence && !parts.backward && parts.accs.is_empty();
        let ([Atom::Real(0.0)], [Atom::Var(result)]) = (parts.init.as_slice(), parts.body.results.as_slice())
        else {
            return None;
        };
        let total = *parts.body.params.get(1)?;
        if !plain || func.ty(total) != Ty::REAL {
            return None;
        }
        self.enter(parts, 1)?;
        let mut product: Option<(Var, [Place; 2])> = None;
        for stmt in &parts.body.stmts {
            match (&stmt.op, stmt.outs.as_slice()) {
                (Op::Real(RealOp::Mul, args), [out]) if product.is_none() => {
                    let [x, y] = args.as_slice() else { return None };
                    product = Some((*out, [self.place(x)?, self.place(y)?]));
                }
                (Op::Real(RealOp::Add, args), [out]) if out == result => {
                    let (term, factors) = product?;
                    let is = |atom: &Atom, var: Var| atom.var() == Some(var);
                    let [a, b] = args.as_slice() else { return None };
                    let sums = (is(a, total) && is(b, term)) || (is(b, total) && is(a, term));
                    return sums.then_some(factors);
                }
                (_, _) => self.reads(stmt)?,
            }
        }
        None
    }

    /// The product of two vectors: a loop over both.
    fn dot(&mut self, args: &[Atom], span: Span) -> Option<[Place; 2]> {
        let [x, y] = args else { return None };
        let [mut x, mut y] = [self.place(x)?, self.place(y)?];
        let axis = |place: &Place| u8::try_from(place.indices.len()).ok();
        let (first, second) = (axis(&x)?, axis(&y)?);
        let len = Size::Of(x.array, first);
        let what = Requirement::SameSize("dot".into());
        self.equal.push(Equal { what, sizes: [len.clone(), Size::Of(y.array, second)], span });
        self.loops.push((NO_INDEX, len));
        x.indices.push(Atom::Var(NO_INDEX));
        y.indices.push(Atom::Var(NO_INDEX));
        Some([x, y])
    }

    /// The product that elements with these factors are.
    fn product(mut self, func: &Func, made: &Made, [x, y]: [Place; 2]) -> Option<Product> {
        let (along, len) = self.loops.pop()?;
        let (row, rows) = self.loops.first().cloned()?;
        let uses = |place: &Place, var: Var| place.indices.iter().position(|at| at.var() == Some(var));
        let (x, y) = if uses(&x, row).is_some() { (x, y) } else { (y, x) };
        let (i, l) = (uses(&x, row)?, uses(&x, along)?);
        let m = uses(&y, along)?;
        let others = match self.loops.as_slice() {
            [_] => 1,
            [_, (column, _)] => {
                uses(&y, *column)?;
                2
            }
            _ => return None,
        };
        let of_reals = |place: &Place, rank: usize| {
            func.ty(place.array) == Ty::of_rank(Elem::Real, u8::try_from(rank).unwrap_or(u8::MAX))
                && place.indices.len() == rank
                && self.is_outside(&Atom::Var(place.array))
        };
        if !of_reals(&x, 2) || !of_reals(&y, others) || i == l {
            return None;
        }
        let (mut fits, mut equal) = (std::mem::take(&mut self.fits), std::mem::take(&mut self.equal));
        let named = |size: &Size| match size {
            Size::Known(len) => len.var().and_then(|len| made.sizes.get(&len)).copied(),
            Size::Of(array, axis) => Some((*array, *axis)),
        };
        fits.retain(|fit| !self.sure.contains(fit) && named(&fit.2) != Some((fit.0, fit.1)));
        equal.retain(|Equal { sizes: [a, b], .. }| a != b && (named(a).is_none() || named(a) != named(b)));
        let mut product = Product {
            op: if others == 1 { ArrayOp::MatVec } else { ArrayOp::MatMul },
            factors: [(x.array, i == 1), (y.array, others == 2 && m == 1)],
            fits: Vec::new(),
            some: self.some.into_iter().map(|array| Size::Of(array, 0)).collect(),
            equal,
            rows,
        };
        product.fits = fits;
        product.straighten(made, len);
        Some(product)
    }
}

impl Product {
    /// The second factor as it should lie, if it is another matrix transposed; `len` is the number of terms.
    fn straighten(&mut self, made: &Made, len: Size) {
        let [_, (second, transposed)] = &mut self.factors;
        if !*transposed {
            return;
        }
        // A matrix without columns cannot be transposed.
        let Some(other) = made.transposed.get(second).copied() else { return self.some.push(len) };
        // The other matrix has as many columns as this one has rows, and as many rows if there are any.
        let turn = |array: &mut Var, axis: &mut u8| {
            if array == second {
                (*array, *axis) = (other, 1 - *axis);
            }
        };
        let mut sizes: Vec<&mut Size> = self.equal.iter_mut().flat_map(|equal| &mut equal.sizes).collect();
        for (array, axis, size) in &mut self.fits {
            turn(array, axis);
            sizes.push(size);
        }
        for size in sizes {
            if let Size::Of(array, axis) = size {
                turn(array, axis);
            }
        }
        (*second, *transposed) = (other, false);
        let there = Size::Of(other, 0);
        let known = |equal: &Equal| equal.sizes.contains(&there) && equal.sizes.contains(&len);
        if !self.equal.iter().any(known) {
            self.fits.push((other, 0, len));
        }
    }

    /// Puts the product in the place of the loops.
    fn write(self, func: &mut Func, loops: Stmt, stmts: &mut Vec<Stmt>) {
        let span = loops.span;
        let mut write = Write { func, span, stmts, cond: None };
        if self.op == ArrayOp::MatVec && self.fits.is_empty() && self.some.is_empty() {
            // Nothing but what is required anyway, of each row.
            write.require_all(&self.equal, &self.rows);
            let op = write.product(&self);
            return stmts.push(Stmt { op, ..loops });
        }
        for (array, axis, len) in &self.fits {
            let (size, len) = (write.size(*array, *axis), write.known(len));
            write.require(Compare::Eq, size, len);
        }
        for Equal { sizes: [left, right], .. } in &self.equal {
            let (left, right) = (write.known(left), write.known(right));
            write.require(Compare::Eq, left, right);
        }
        for size in &self.some {
            let size = write.known(size);
            write.require(Compare::Ne, size, Atom::Int(0));
        }
        let cond = write.cond.take();
        let Some(cond) = cond else {
            let op = write.product(&self);
            return stmts.push(Stmt { op, ..loops });
        };
        let mut then = Vec::new();
        let out = loops.outs.first().copied();
        let info = out.map(|out| *func.vars.at(out));
        let mut write = Write { func, span, stmts: &mut then, cond: None };
        let op = write.product(&self);
        let mut fresh = || info.map(|info| func.vars.push(info));
        let (made, kept) = (fresh(), fresh());
        then.push(Stmt { outs: made.into_iter().collect(), op, span });
        let then =
            Block { params: Vec::new(), stmts: then, results: made.map(Atom::Var).into_iter().collect() };
        let slow = Stmt { outs: kept.into_iter().collect(), op: loops.op, span };
        let results = kept.map(Atom::Var).into_iter().collect();
        let otherwise = Block { params: Vec::new(), stmts: vec![slow], results };
        stmts.push(Stmt { outs: loops.outs, op: Op::If { cond, then, otherwise }, span });
    }
}

/// Writes statements.
struct Write<'a> {
    func: &'a mut Func,
    span: Span,
    stmts: &'a mut Vec<Stmt>,
    /// What must hold so far.
    cond: Option<Atom>,
}

impl Write<'_> {
    fn emit(&mut self, name: &str, ty: Ty, op: Op) -> Atom {
        let out = self.func.vars.push(VarInfo { name: name.into(), ty });
        self.stmts.push(Stmt { outs: vec![out], op, span: self.span });
        Atom::Var(out)
    }

    fn size(&mut self, array: Var, axis: u8) -> Atom {
        self.emit("n", Ty::INT, Op::Array(ArrayOp::Length(axis), vec![Atom::Var(array)]))
    }

    fn known(&mut self, size: &Size) -> Atom {
        match size {
            Size::Known(atom) => atom.clone(),
            Size::Of(array, axis) => self.size(*array, *axis),
        }
    }

    /// A loop over rows that requires what is required.
    fn require_all(&mut self, all: &[Equal], rows: &Size) {
        if all.is_empty() {
            return;
        }
        let len = self.known(rows);
        let mut stmts = Vec::new();
        for Equal { what, sizes: [left, right], span } in all {
            let (left, right) = (self.known(left), self.known(right));
            stmts.push(Stmt { outs: Vec::new(), op: Op::Require { what: *what, left, right }, span: *span });
        }
        if len == Atom::Int(1) {
            return self.stmts.append(&mut stmts);
        }
        let index = self.func.vars.push(VarInfo { name: "i".into(), ty: Ty::INT });
        let body = Block { params: vec![index], stmts, results: Vec::new() };
        let none = Vec::new;
        let (inputs, init, accs) = (none(), none(), none());
        let parts = Loop { mode: Mode::Each, backward: false, len, inputs, init, accs, body };
        self.stmts.push(Stmt { outs: Vec::new(), op: Op::Loop(Box::new(parts)), span: self.span });
    }

    fn require(&mut self, compare: Compare, left: Atom, right: Atom) {
        let holds = self.emit("fits", Ty::BOOL, Op::Compare(compare, left, right));
        self.cond = Some(match self.cond.take() {
            None => holds,
            Some(before) => {
                let op = Op::Select { cond: before, then: holds, otherwise: Atom::Bool(false) };
                self.emit("fits", Ty::BOOL, op)
            }
        });
    }

    fn product(&mut self, product: &Product) -> Op {
        let factors = product.factors.map(|(array, transposed)| {
            let ty = self.func.ty(array);
            if transposed {
                self.emit("transposed", ty, Op::Array(ArrayOp::Transpose, vec![Atom::Var(array)]))
            } else {
                Atom::Var(array)
            }
        });
        Op::Array(product.op, factors.to_vec())
    }
}

#[cfg(test)]
mod tests;
