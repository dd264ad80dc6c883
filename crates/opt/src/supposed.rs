//! Arrays that a loop hands on are supposed to have the shape from the first iteration on that it gives them, as the fields of a simulation have, though
//! nothing says so of those that come from outside. If they do, the program is another.
//!
//! ```text
//! func f(u: []Real, v: []Real) {                     func f(u: []Real, v: []Real) {
//!   n = length(u)                                      n = length(u)
//!   for i < 100, x = u, y = v { … }     becomes        if length(v) == n { for … } else { for … }
//! ```
//!
//! Where it is so, what is kept of the iterations is one array and no boxes with arrays, and neighbors are found without looking whether they are
//! there. This is done once, for code that nobody reads, after derivatives are made.

use crate::linear::Linear;
use crate::sizes::{Shape, boxes, walk};
use rustc_hash::FxHashMap;
use wengert_base::Name;
use wengert_ir::build::Builder;
use wengert_ir::op::{ArrayOp, Compare, Op, Requirement};
use wengert_ir::program::FuncId;
use wengert_ir::{Atom, Elem, Func, Program, Stmt, Ty, Var};

/// Functions with more statements stay.
const STATEMENTS: usize = 1000;

/// A size along an axis of what a function is given.
type Size = (Var, u8);

/// What the entry is called for arguments of which the sizes are equal: no definition has such a name.
const NAME: &str = "supposed sizes";

/// A program with a second entry, for arguments of which some sizes are equal.
#[derive(Clone, Debug)]
pub struct Supposed {
    /// The program, for which the rest is to be done as for any other.
    pub program: Program,
    /// Which sizes, along axes of parameters.
    equal: Vec<(Place, Place)>,
}

/// A parameter of an entry, and an axis.
type Place = (usize, u8);

/// See the module. Nothing if there is nothing to suppose.
pub(crate) fn suppose(program: &Program) -> Option<Supposed> {
    let mut entries = program.entries.values();
    let (Some(id), None) = (entries.next(), entries.next()) else { return None };
    let mut func = program.funcs.get(*id).filter(|func| func.body.size() <= STATEMENTS)?.clone();
    let shapes = walk(&mut func, &boxes(program), false);
    let sizes = sizes(&func);
    let pairs = Shapes { func: &func, shapes: &shapes, same: same(&func, &sizes), sizes }.all();
    let place = |(of, axis): Size| {
        let param = func.body.params.iter().position(|param| *param == of)?;
        Some((param, axis))
    };
    let equal: Option<Vec<(Place, Place)>> =
        pairs.iter().map(|(one, other)| Some((place(*one)?, place(*other)?))).collect();
    let equal = equal.filter(|equal| !equal.is_empty())?;
    said(&mut func, &pairs);
    let mut program = program.clone();
    let other = program.funcs.push(func);
    program.entries.insert(Name::new(NAME), other);
    Some(Supposed { program, equal })
}

impl Supposed {
    /// The program with one entry, which asks for the sizes.
    pub fn chosen(mut self) -> Program {
        let other = self.program.entries.shift_remove(&Name::new(NAME));
        if let (Some(id), Some(other)) = (self.program.entries.values_mut().next(), other)
            && let Some(func) = self.program.funcs.get(*id)
        {
            let func = asking(func, &self.equal, (other, *id));
            *id = self.program.funcs.push(func);
        }
        self.program
    }
}

/// A function that calls the first of two others for arguments whose sizes are equal, and else the other.
fn asking(of: &Func, equal: &[(Place, Place)], (one, other): (FuncId, FuncId)) -> Func {
    let mut b = Builder::new(of.name);
    b.set_func_span(of.span);
    b.set_span(of.span);
    let infos = of.body.params.iter().map(|param| *of.vars.at(*param));
    let args: Vec<Atom> = infos.map(|info| b.param(info.name, info.ty)).collect();
    let mut all = Atom::Bool(true);
    for (left, right) in equal {
        let mut length = |(param, axis): &Place| {
            b.array(ArrayOp::Length(*axis), args.get(*param).cloned().into_iter().collect::<Vec<Atom>>())
        };
        let (left, right) = (length(left), length(right));
        let same = b.compare(Compare::Eq, left, right);
        all = if all == Atom::Bool(true) { same } else { b.select(all, same, Atom::Bool(false)) };
    }
    let mut blocks = [one, other].map(|func| {
        b.open();
        let found = b.call(func, args.clone(), &of.results);
        b.close(found)
    });
    let [then, otherwise] = blocks.each_mut().map(std::mem::take);
    let results = b.typed(&of.results, Op::If { cond: all, then, otherwise });
    b.finish(results)
}

/// The sizes of what a function is given that it asks for outside of loops and branches.
fn sizes(func: &Func) -> FxHashMap<Var, Size> {
    let size = |stmt: &Stmt| match (&stmt.op, stmt.outs.as_slice()) {
        (Op::Array(ArrayOp::Length(axis), args), [out]) => {
            let of = args.first()?.var().filter(|of| func.body.params.contains(of))?;
            Some((*out, (of, *axis)))
        }
        (_, _) => None,
    };
    func.body.stmts.iter().filter_map(size).collect()
}

/// Sizes that are equal anyway, by the first of them that is asked for.
fn same(func: &Func, sizes: &FxHashMap<Var, Size>) -> FxHashMap<Size, Size> {
    let mut same: FxHashMap<Size, Size> = FxHashMap::default();
    for stmt in &func.body.stmts {
        let Op::Require { left, right, .. } = &stmt.op else { continue };
        let size = |atom: &Atom| sizes.get(&atom.var()?).copied();
        if let (Some(one), Some(other)) = (size(left), size(right)) {
            let of = |size: Size| same.get(&size).copied().unwrap_or(size);
            let (one, other) = (of(one), of(other));
            same.values_mut().filter(|size| **size == other).for_each(|size| *size = one);
            same.insert(other, one);
        }
    }
    same
}

/// What is known of the arrays of a function.
struct Shapes<'f> {
    func: &'f Func,
    shapes: &'f FxHashMap<Var, Shape>,
    sizes: FxHashMap<Var, Size>,
    same: FxHashMap<Size, Size>,
}

impl Shapes<'_> {
    /// Which sizes are supposed to be equal.
    fn all(&self) -> Vec<(Size, Size)> {
        let mut all: Vec<(Size, Size)> = Vec::new();
        for stmt in &self.func.body.stmts {
            let Op::Loop(parts) = &stmt.op else { continue };
            for (init, result) in parts.init.iter().zip(&parts.body.results) {
                for pair in self.of_array(init, result).unwrap_or_default() {
                    let of = |size: Size| self.same.get(&size).copied().unwrap_or(size);
                    let (one, other) = (of(pair.0), of(pair.1));
                    let pair = (one, other);
                    if one != other && !all.contains(&pair) && !all.contains(&(other, one)) {
                        all.push(pair);
                    }
                }
            }
        }
        all
    }

    /// The same of an array that a loop begins with, and one that it goes on with; nothing if that has another shape in each iteration.
    fn of_array(&self, init: &Atom, result: &Atom) -> Option<Vec<(Size, Size)>> {
        let (init, result) = (init.var()?, result.var()?);
        let rank = match self.func.ty(init) {
            Ty::Array(Elem::Real | Elem::Int | Elem::Bool, rank) => rank,
            Ty::Scalar(_) | Ty::Array(..) => return None,
        };
        let pair = |axis: u8| Some((self.before(init, axis)?, self.size(self.along(result, axis)?)?));
        (0..rank).map(pair).collect()
    }

    fn along(&self, array: Var, axis: u8) -> Option<&Linear> {
        self.shapes.get(&array)?.get(usize::from(axis))?.as_ref()
    }

    fn size(&self, form: &Linear) -> Option<Size> {
        self.sizes.get(&form.atom()?.var()?).copied()
    }

    /// The size of an array before the loop: of one that is given, or of zeros like it.
    fn before(&self, array: Var, axis: u8) -> Option<Size> {
        if let Some(size) = self.along(array, axis).and_then(|form| self.size(form)) {
            return Some(size);
        }
        let params = &self.func.body.params;
        let made = self.func.body.stmts.iter().find(|stmt| stmt.outs.as_slice() == [array]);
        let like = match made.map(|stmt| &stmt.op) {
            Some(Op::Array(ArrayOp::Zeros, args)) => args.first()?.var()?,
            _ => array,
        };
        params.contains(&like).then_some((like, axis))
    }
}

/// Lets a function know that sizes are equal: it says so first.
fn said(func: &mut Func, equal: &[(Size, Size)]) {
    let span = func.span;
    let mut known = Vec::new();
    for (one, other) in equal {
        let mut length = |(of, axis): &Size| {
            let len = func.fresh("n".into(), Ty::INT);
            let op = Op::Array(ArrayOp::Length(*axis), vec![Atom::Var(*of)]);
            known.push(Stmt { outs: vec![len], op, span });
            Atom::Var(len)
        };
        let (left, right) = (length(one), length(other));
        let op = Op::Require { what: Requirement::Beside, left, right };
        known.push(Stmt { outs: Vec::new(), op, span });
    }
    func.body.stmts.splice(0..0, known);
}
