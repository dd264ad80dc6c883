//! A neighbor that is at the other end where there is none on this side is found by a remainder.
//!
//! ```text
//! each i < n {                                             each i < n {
//!   first = i == 0                                           a = i + n   b = a - 1
//!   x = if first { x = u[last] yield x }         becomes     j = b % n
//!       else { j = i - 1  x = u[j] yield x }                 x = u[j]
//! ```
//!
//! where `last` is `n - 1`, and so with `u[0]` and `u[i + 1]`, and with what is added to such elements. Both must be there for sure. So what is
//! written with a branch is what is written with a remainder, of which the derivative [collects](crate::collect) what neighbors give. Where only the
//! whole program tells that elements are there, it is done when derivatives are made.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is no part of such a choice")]

use crate::facts::{along, is_safe};
use crate::sizes::{boxes, in_range, walk};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_base::{Name, Span};
use wengert_ir::op::{ArrayOp, Compare, IntOp, Op};
use wengert_ir::{Atom, Block, Func, Program, Stmt, Ty, Var};

/// Sums are looked through so deep.
const DEEP: usize = 6;

/// See the module. Whether something has changed.
pub(crate) fn run(program: &mut Program) -> bool {
    let boxes = boxes(program);
    let mut changed = false;
    for (_, func) in program.funcs.iter_mut() {
        if func.body.all_stmts(&mut |stmt| !is_choice(&stmt.op)) {
            continue;
        }
        let there = in_range(func, &boxes);
        let lengths = along(&walk(func, &boxes, false), 0);
        let mut ops = FxHashMap::default();
        func.body.for_each_stmt(&mut |stmt| {
            if let ([out], Op::Int(..) | Op::Compare(..)) = (stmt.outs.as_slice(), &stmt.op) {
                ops.insert(*out, stmt.op.clone());
            }
        });
        let mut body = std::mem::take(&mut func.body);
        let mut pass = Around { func, there, lengths, ops, loops: Vec::new(), changed: false };
        pass.block(&mut body);
        changed |= pass.changed;
        func.body = body;
    }
    changed
}

/// Whether an operation chooses between two places, or what is there.
fn is_choice(op: &Op) -> bool {
    match op {
        Op::Select { .. } => true,
        Op::If { cond: _, then, otherwise } => touched(then).is_some() && touched(otherwise).is_some(),
        _ => false,
    }
}

/// The one thing that a side does but for computing where that is: an element is read, or added to.
struct Touched<'b> {
    array: &'b Atom,
    places: &'b [Atom],
    /// What is added.
    added: Option<&'b Atom>,
    stmt: &'b Stmt,
}

fn touched(side: &Block) -> Option<Touched<'_>> {
    let (stmt, before) = side.stmts.split_last()?;
    let (Op::Array(op, args), [out]) = (&stmt.op, stmt.outs.as_slice()) else { return None };
    let (array, rest) = args.split_first()?;
    let (places, added) = match op {
        ArrayOp::Index => (rest, None),
        ArrayOp::AddAt => rest.split_last().map(|(added, places)| (places, Some(added)))?,
        _ => return None,
    };
    // A division may fail.
    let is_place = |stmt: &Stmt| matches!(stmt.op, Op::Int(..)) && is_safe(&stmt.op, &FxHashSet::default());
    let alone = side.results == [Atom::Var(*out)] && before.iter().all(is_place);
    alone.then_some(Touched { array, places, added, stmt })
}

/// So many times an index, so many times how often the loop goes, and a number.
type Sum = [i64; 3];

/// The neighbors that are meant: of the index of a loop that goes so often, those before it or those after it.
struct Neighbors {
    index: Var,
    len: Atom,
    before: bool,
}

/// Which iteration is another than the others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    First,
    Last,
}

struct Around<'f> {
    func: &'f mut Func,
    /// What is read of elements that are there.
    there: FxHashSet<Var>,
    /// How many rows arrays have.
    lengths: FxHashMap<Var, Atom>,
    /// Sums and comparisons of integers.
    ops: FxHashMap<Var, Op>,
    /// Indices of loops around, and how often these go.
    loops: Vec<(Var, Atom)>,
    changed: bool,
}

impl Around<'_> {
    fn block(&mut self, place: &mut Block) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut out = Vec::with_capacity(place.stmts.len());
            for mut stmt in std::mem::take(&mut place.stmts) {
                let depth = self.loops.len();
                if let Op::Loop(parts) = &stmt.op
                    && let Some(index) = parts.body.params.first()
                {
                    self.loops.push((*index, parts.len.clone()));
                }
                stmt.op.blocks_mut().into_iter().for_each(|inner| self.block(inner));
                self.loops.truncate(depth);
                let made = match &stmt.op {
                    Op::If { cond, then, otherwise } => self.touched(cond, then, otherwise, &mut out),
                    Op::Select { cond, then, otherwise } => {
                        let neighbors = self.neighbors(cond, [then, otherwise]);
                        neighbors.map(|neighbors| Op::Copy(self.place(&neighbors, stmt.span, &mut out)))
                    }
                    _ => None,
                };
                if let Some(op) = made {
                    stmt.op = op;
                    self.changed = true;
                }
                out.push(stmt);
            }
            place.stmts = out;
        });
    }

    /// The element that both sides of a branch read, or add to, which differ in one place only.
    fn touched(&mut self, cond: &Atom, then: &Block, otherwise: &Block, out: &mut Vec<Stmt>) -> Option<Op> {
        let (one, other) = (touched(then)?, touched(otherwise)?);
        let alike =
            (one.array, one.added, one.places.len()) == (other.array, other.added, other.places.len());
        if !alike {
            return None;
        }
        let mut differ = (0..one.places.len()).filter(|at| one.places.get(*at) != other.places.get(*at));
        let (Some(at), None) = (differ.next(), differ.next()) else { return None };
        let places = [one.places.get(at)?, other.places.get(at)?];
        let neighbors = self.neighbors(cond, places)?;
        let there = |side: &Touched<'_>| side.stmt.outs.iter().all(|out| self.there.contains(out));
        let as_long = |array: Var| self.lengths.get(&array) == Some(&neighbors.len);
        let all = one.places.len() == 1 && one.array.var().is_some_and(as_long);
        if !(all || there(&one) && there(&other)) {
            return None;
        }
        let place = self.place(&neighbors, one.stmt.span, out);
        let Op::Array(op, mut args) = one.stmt.op.clone() else { return None };
        *args.get_mut(at + 1)? = place;
        Some(Op::Array(op, args))
    }

    /// The loop whose index a condition looks at, if it chooses one of two neighbors around the ends of that; whether these are those before it.
    fn neighbors(&self, cond: &Atom, [then, otherwise]: [&Atom; 2]) -> Option<Neighbors> {
        let Op::Compare(compare, x, y) = self.ops.get(&cond.var()?)? else { return None };
        if self.func.type_of(x) != Ty::INT || self.func.type_of(then) != Ty::INT {
            return None;
        }
        self.loops.iter().rev().find_map(|(index, len)| {
            let sum = |atom: &Atom| self.sum(atom, (*index, len), DEEP);
            let (end, holds) = end(*compare, sum(x)?, sum(y)?)?;
            let [at_end, else_where] = if holds { [then, otherwise] } else { [otherwise, then] };
            let before = match (end, sum(at_end)?, sum(else_where)?) {
                (End::First, [0, 1, -1], [1, 0, -1]) => true,
                (End::Last, [0, 0, 0], [1, 0, 1]) => false,
                _ => return None,
            };
            Some(Neighbors { index: *index, len: len.clone(), before })
        })
    }

    /// The place of a neighbor.
    fn place(&mut self, neighbors: &Neighbors, span: Span, out: &mut Vec<Stmt>) -> Atom {
        let Neighbors { index, len, before } = neighbors;
        let mut int = |op: IntOp, a: Atom, b: Atom| {
            let var = self.func.fresh(Name::new("n"), Ty::INT);
            out.push(Stmt { outs: vec![var], op: Op::Int(op, vec![a, b]), span });
            Atom::Var(var)
        };
        let next = if *before {
            let all = int(IntOp::Add, Atom::Var(*index), len.clone());
            int(IntOp::Sub, all, Atom::Int(1))
        } else {
            int(IntOp::Add, Atom::Var(*index), Atom::Int(1))
        };
        int(IntOp::Rem, next, len.clone())
    }

    fn sum(&self, atom: &Atom, (index, len): (Var, &Atom), deep: usize) -> Option<Sum> {
        match atom {
            atom if atom == len => Some([0, 1, 0]),
            Atom::Int(n) if n.unsigned_abs() < 1 << 31 => Some([0, 0, *n]),
            Atom::Var(var) if *var == index => Some([1, 0, 0]),
            Atom::Var(var) => {
                let deep = deep.checked_sub(1)?;
                let Op::Int(op @ (IntOp::Add | IntOp::Sub), args) = self.ops.get(var)? else { return None };
                let [x, y] = args.as_slice() else { return None };
                let (x, y) = (self.sum(x, (index, len), deep)?, self.sum(y, (index, len), deep)?);
                let sign = if *op == IntOp::Add { 1 } else { -1 };
                Some(plus(x, y, sign))
            }
            _ => None,
        }
    }
}

fn plus([a, b, c]: Sum, [x, y, z]: Sum, times: i64) -> Sum {
    [a + times * x, b + times * y, c + times * z]
}

/// The iteration for which a comparison gives another answer than for all others, and that answer.
fn end(compare: Compare, x: Sum, y: Sum) -> Option<(End, bool)> {
    let (compare, [_, times, number]) = match plus(x, y, -1) {
        [1, times, number] => (compare, [1, -times, -number]),
        [-1, times, number] => (compare.turned(), [1, times, number]),
        _ => return None,
    };
    // The index is compared with so many times how often the loop goes, and a number.
    match (compare, times, number) {
        (Compare::Eq | Compare::Le, 0, 0) | (Compare::Lt, 0, 1) => Some((End::First, true)),
        (Compare::Ne | Compare::Gt, 0, 0) | (Compare::Ge, 0, 1) => Some((End::First, false)),
        (Compare::Eq | Compare::Ge, 1, -1) | (Compare::Gt, 1, -2) => Some((End::Last, true)),
        (Compare::Ne | Compare::Lt, 1, -1) | (Compare::Le, 1, -2) => Some((End::Last, false)),
        _ => None,
    }
}
