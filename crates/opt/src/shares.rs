//! A long `reduce` is made in shares, which threads can make at once; what they come to is combined in their order.
//!
//! ```text
//! s = reduce i < n, s = z, x in xs { t = f(s, x) yield t }
//!
//! s = if n >= 4096 {
//!     size = n / 64
//!     ts = each p < 64 {
//!         s = for k < size - 1, s = xs[p * size], x in slice(xs, p * size + 1, p * size + size) { t = f(s, x) yield t }
//!         yield s
//!     }
//!     s = for p < 64, s = z, t in ts { u = f(s, t) yield u }
//!     s = for k < n - 64 * size, s = s, x in slice(xs, 64 * size, n) { t = f(s, x) yield t }
//!     yield s
//! } else { s = for i < n, s = z, x in xs { t = f(s, x) yield t } yield s }
//! ```
//!
//! `z` is used once, so that it need not be neutral. How many shares there are is always the same, so results do not depend on the
//! number of threads. What is a sum or the largest of numbers is left alone: the loops of these are divided as they are. A loop that
//! makes the elements for nothing else becomes part of all that.

use crate::facts::{Quiet, total};
use crate::sizes::{boxes, in_range};
use crate::walk::count_uses;
use rustc_hash::FxHashMap;
use wengert_ir::build::Copier;
use wengert_ir::op::{ArrayOp, Compare, IntOp, Loop, Mode, Op};
use wengert_ir::{Atom, Block, Elem, Func, Program, Stmt, Ty, Var};
use wengert_prim::RealOp;

/// Shorter arrays are reduced from left to right.
const LONG: i64 = 4096;
/// There are two to the power of this shares.
const SHARES: i64 = 6;
/// Bodies with more statements are not copied.
const MOST: usize = 80;

/// See the module. Whether there was something to do.
pub(crate) fn run(program: &mut Program) -> bool {
    let total = total(program);
    let boxes = boxes(program);
    let mut changed = false;
    for (_, func) in program.funcs.iter_mut() {
        let mut reduces = false;
        func.body.for_each_stmt(&mut |stmt| {
            reduces |= matches!(&stmt.op, Op::Loop(parts) if parts.mode == Mode::Reduce);
        });
        if !reduces {
            continue;
        }
        let from = func.clone();
        let inside = in_range(func, &boxes);
        let uses = count_uses(&from.body);
        let quiet = Quiet { total: &total, inside: &inside };
        let look = Look { from: &from, uses: &uses, quiet };
        let mut body = std::mem::take(&mut func.body);
        changed |= look.block(func, &mut body);
        func.body = body;
    }
    changed
}

struct Look<'a> {
    /// The function as it was.
    from: &'a Func,
    uses: &'a FxHashMap<Var, usize>,
    quiet: Quiet<'a>,
}

impl Look<'_> {
    /// Loops in loops stay: those around them are divided.
    fn block(&self, func: &mut Func, place: &mut Block) -> bool {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut changed = false;
            let mut at = 0;
            while at < place.stmts.len() {
                if let Some(Stmt { op: op @ (Op::If { .. } | Op::Match { .. }), .. }) =
                    place.stmts.get_mut(at)
                {
                    for inner in op.blocks_mut() {
                        changed |= self.block(func, inner);
                    }
                }
                if let Some(reduction) =
                    place.stmts.get(at).and_then(|stmt| self.reduction(&place.stmts, at, stmt))
                {
                    let stmts = reduction.made(func);
                    let count = stmts.len();
                    place.stmts.splice(at..=at, stmts);
                    at += count - 1;
                    changed = true;
                }
                at += 1;
            }
            changed
        })
    }

    /// A loop that is to be made in shares.
    fn reduction<'s>(&'s self, stmts: &'s [Stmt], at: usize, stmt: &'s Stmt) -> Option<Reduction<'s>> {
        let Op::Loop(parts) = &stmt.op else { return None };
        let is_number = |ty: Ty| matches!(ty, Ty::Scalar(Elem::Real | Elem::Int | Elem::Bool));
        let numbers = stmt.outs.iter().all(|out| is_number(self.from.ty(*out)));
        if parts.mode != Mode::Reduce || parts.backward || !numbers || !self.is_light(&parts.body) {
            return None;
        }
        let states = parts.body.params.get(1..=parts.init.len())?;
        let index = parts.body.params.first()?;
        if self.uses.contains_key(index)
            || states.iter().zip(&parts.body.results).all(|(state, end)| is_joined(&parts.body, *state, end))
        {
            return None;
        }
        let maker =
            parts.inputs.first().and_then(Atom::var).and_then(|var| self.maker(stmts.get(..at)?, stmt, var));
        Some(Reduction { from: self.from, stmt, parts, maker })
    }

    fn is_light(&self, body: &Block) -> bool {
        body.size() <= MOST && self.quiet.block(body)
    }

    /// The loop that makes all elements, for nothing else.
    fn maker<'s>(&self, before: &'s [Stmt], user: &Stmt, var: Var) -> Option<&'s Stmt> {
        let Op::Loop(user) = &user.op else { return None };
        let stmt = before.iter().find(|stmt| stmt.outs.contains(&var))?;
        let Op::Loop(made) = &stmt.op else { return None };
        let alone = made.mode == Mode::Each && made.accs.is_empty() && made.len == user.len;
        let is_input = |out: &Var| user.inputs.contains(&Atom::Var(*out)) && self.uses.get(out) == Some(&1);
        let is_made = |input: &Atom| input.var().is_some_and(|var| stmt.outs.contains(&var));
        (alone
            && self.is_light(&made.body)
            && stmt.outs.iter().all(is_input)
            && user.inputs.iter().all(is_made))
        .then_some(stmt)
    }
}

/// Whether a body does nothing with a number but to add another to it, or to take the larger or the smaller: such loops
/// are divided as they are.
fn is_joined(body: &Block, state: Var, end: &Atom) -> bool {
    let mut uses = 0;
    let mut see = |atom: &Atom| uses += usize::from(*atom == Atom::Var(state) || atom == end);
    body.results.iter().for_each(&mut see);
    let mut joins = false;
    body.for_each_stmt(&mut |stmt| {
        stmt.op.for_each_atom(&mut see);
        stmt.op.blocks().into_iter().flat_map(|inner| &inner.results).for_each(&mut see);
        joins |= matches!(
            &stmt.op,
            Op::Real(RealOp::Add | RealOp::Max | RealOp::Min, args) | Op::Int(IntOp::Add | IntOp::Max | IntOp::Min, args)
                if args.contains(&Atom::Var(state)) && stmt.outs.first().map(|out| Atom::Var(*out)).as_ref() == Some(end)
        );
    });
    joins && uses == 2
}

/// A loop that combines elements associatively, and the loop that makes them, if there is one.
struct Reduction<'s> {
    from: &'s Func,
    stmt: &'s Stmt,
    parts: &'s Loop,
    maker: Option<&'s Stmt>,
}

/// Makes elements at an index of a loop from its rows.
type Elements<'e> = &'e mut dyn FnMut(&mut Code<'_>, &Atom, &[Atom]) -> Vec<Atom>;

/// Statements that are being made.
struct Code<'f> {
    func: &'f mut Func,
    stmts: Vec<Stmt>,
    like: &'f Stmt,
}

impl Code<'_> {
    fn push(&mut self, name: &str, ty: Ty, op: Op) -> Atom {
        let out = self.func.fresh(name.into(), ty);
        self.stmts.push(Stmt { outs: vec![out], op, span: self.like.span });
        Atom::Var(out)
    }

    fn int(&mut self, name: &str, op: IntOp, a: &Atom, b: &Atom) -> Atom {
        self.push(name, Ty::INT, Op::Int(op, vec![a.clone(), b.clone()]))
    }

    /// Makes statements apart.
    fn apart<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> (Vec<Stmt>, T) {
        let before = std::mem::take(&mut self.stmts);
        let made = make(self);
        (std::mem::replace(&mut self.stmts, before), made)
    }
}

impl Reduction<'_> {
    /// What takes its place.
    fn made(&self, func: &mut Func) -> Vec<Stmt> {
        let mut code = Code { func, stmts: Vec::new(), like: self.stmt };
        let len = &self.parts.len;
        let long = Op::Compare(Compare::Ge, len.clone(), Atom::Int(LONG));
        let cond = code.push("long", Ty::BOOL, long);
        let (stmts, results) = code.apart(|code| self.in_shares(code));
        let then = Block { params: Vec::new(), stmts, results };
        let sources = self.sources();
        let (stmts, results) =
            code.apart(|code| self.fold(code, len.clone(), (&self.parts.init, &sources), &Atom::Int(0)));
        let otherwise = Block { params: Vec::new(), stmts, results };
        let op = Op::If { cond, then, otherwise };
        code.stmts.push(Stmt { outs: self.stmt.outs.clone(), op, span: self.stmt.span });
        code.stmts
    }

    fn in_shares(&self, code: &mut Code<'_>) -> Vec<Atom> {
        let (len, sources, one) = (&self.parts.len, self.sources(), Atom::Int(1));
        let size = code.int("size", IntOp::ShiftRight, len, &Atom::Int(SHARES));
        let others = code.int("others", IntOp::Sub, &size, &one);
        let share = code.func.fresh("share".into(), Ty::INT);
        let (stmts, results) = code.apart(|code| {
            let from = code.int("from", IntOp::Mul, &Atom::Var(share), &size);
            let to = code.int("to", IntOp::Add, &from, &size);
            let firsts = self.rows(code, &sources, &from);
            let init = self.elements(code, &from, &firsts);
            let next = code.int("next", IntOp::Add, &from, &one);
            let inputs = self.slices(code, &sources, (&next, &to));
            self.fold(code, others.clone(), (&init, &inputs), &next)
        });
        let body = Block { params: vec![share], stmts, results };
        let shares = Atom::Int(1 << SHARES);
        let outs: Vec<Var> = (self.stmt.outs.iter())
            .map(|out| {
                let elem = code.func.ty(*out).elem();
                let name = code.func.vars.at(*out).name;
                code.func.fresh(name, Ty::Array(elem, 1))
            })
            .collect();
        let ends: Vec<Atom> = outs.iter().map(|out| Atom::Var(*out)).collect();
        let (mode, len_of_shares) = (Mode::Each, shares.clone());
        let parts = Loop {
            mode,
            backward: false,
            len: len_of_shares,
            inputs: Vec::new(),
            init: Vec::new(),
            accs: Vec::new(),
            body,
        };
        code.stmts.push(Stmt { outs, op: Op::Loop(Box::new(parts)), span: self.stmt.span });
        let init = &self.parts.init;
        let together = self.loop_over(code, shares, (init, &ends), &mut |_, _, rows| rows.to_vec());
        let done = code.push("done", Ty::INT, Op::Int(IntOp::ShiftLeft, vec![size, Atom::Int(SHARES)]));
        let left = code.int("left", IntOp::Sub, len, &done);
        let inputs = self.slices(code, &sources, (&done, len));
        self.fold(code, left, (&together, &inputs), &done)
    }

    /// The arrays that elements are made of.
    fn sources(&self) -> Vec<Atom> {
        match self.maker.map(|maker| &maker.op) {
            Some(Op::Loop(made)) => made.inputs.clone(),
            _ => self.parts.inputs.clone(),
        }
    }

    /// The type of an element or a row of an array.
    fn row_type(&self, array: &Atom) -> Ty {
        match self.from.type_of(array) {
            Ty::Array(elem, rank @ 2..) => Ty::Array(elem, rank - 1),
            Ty::Array(elem, _) | Ty::Scalar(elem) => Ty::Scalar(elem),
        }
    }

    /// The rows at a place.
    fn rows(&self, code: &mut Code<'_>, sources: &[Atom], at: &Atom) -> Vec<Atom> {
        let row = |source: &Atom| {
            let op = Op::Array(ArrayOp::Index, vec![source.clone(), at.clone()]);
            code.push("first", self.row_type(source), op)
        };
        sources.iter().map(row).collect()
    }

    fn slices(&self, code: &mut Code<'_>, sources: &[Atom], (from, to): (&Atom, &Atom)) -> Vec<Atom> {
        let slice = |source: &Atom| {
            let op = Op::Array(ArrayOp::Slice, vec![source.clone(), from.clone(), to.clone()]);
            code.push("xs", self.from.type_of(source), op)
        };
        sources.iter().map(slice).collect()
    }

    /// The elements that are made at a place of rows.
    fn elements(&self, code: &mut Code<'_>, at: &Atom, rows: &[Atom]) -> Vec<Atom> {
        let Some(Stmt { outs, op: Op::Loop(made), .. }) = self.maker else { return rows.to_vec() };
        let mut copier = Copier::new(self.from);
        for (param, atom) in made.body.params.iter().zip(std::iter::once(at).chain(rows)) {
            copier.set(*param, atom.clone());
        }
        for stmt in &made.body.stmts {
            let stmt = copier.stmt(code.func, stmt);
            code.stmts.push(stmt);
        }
        let element = |input: &Atom| {
            let place = outs.iter().position(|out| *input == Atom::Var(*out));
            let result = place.and_then(|place| made.body.results.get(place));
            result.map_or(Atom::Unit, |result| copier.atom(result))
        };
        self.parts.inputs.iter().map(element).collect()
    }

    /// A loop that combines the elements made of rows of these arrays, the first of which is at a place.
    fn fold(&self, code: &mut Code<'_>, len: Atom, given: (&[Atom], &[Atom]), first: &Atom) -> Vec<Atom> {
        self.loop_over(code, len, given, &mut |code, index, rows| {
            let at = code.int("at", IntOp::Add, first, index);
            self.elements(code, &at, rows)
        })
    }

    /// A loop that begins with states and combines elements made of its rows.
    fn loop_over(
        &self,
        code: &mut Code<'_>,
        len: Atom,
        (init, inputs): (&[Atom], &[Atom]),
        elements: Elements<'_>,
    ) -> Vec<Atom> {
        let mut copier = Copier::new(self.from);
        let (carried, given) = self.parts.body.params.split_at(1 + self.parts.init.len());
        let mut params: Vec<Var> = carried.iter().map(|param| copier.bind(code.func, *param)).collect();
        let index = params.first().map_or(Atom::Int(0), |index| Atom::Var(*index));
        let row = |input: &Atom| {
            let elem = code.func.type_of(input).elem();
            let rank = code.func.type_of(input).rank();
            code.func.fresh("x".into(), if rank > 1 { Ty::Array(elem, rank - 1) } else { Ty::Scalar(elem) })
        };
        let rows: Vec<Var> = inputs.iter().map(row).collect();
        params.extend(&rows);
        let rows: Vec<Atom> = rows.into_iter().map(Atom::Var).collect();
        let (stmts, results) = code.apart(|code| {
            for (param, element) in given.iter().zip(elements(code, &index, &rows)) {
                copier.set(*param, element);
            }
            for stmt in &self.parts.body.stmts {
                let stmt = copier.stmt(code.func, stmt);
                code.stmts.push(stmt);
            }
            self.parts.body.results.iter().map(|result| copier.atom(result)).collect::<Vec<Atom>>()
        });
        let outs: Vec<Var> = (self.stmt.outs.iter())
            .map(|out| {
                let info = *code.func.vars.at(*out);
                code.func.vars.push(info)
            })
            .collect();
        let body = Block { params, stmts, results };
        let (init, inputs, accs) = (init.to_vec(), inputs.to_vec(), Vec::new());
        let parts = Loop { mode: Mode::Sequence, backward: false, len, inputs, init, accs, body };
        code.stmts.push(Stmt { outs: outs.clone(), op: Op::Loop(Box::new(parts)), span: self.stmt.span });
        outs.into_iter().map(Atom::Var).collect()
    }
}
