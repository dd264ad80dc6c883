//! Where a loop reads of an array that it hands on a cotangent that is zero, it does nothing in that iteration: all that it adds is zero.
//!
//! ```text
//! for i < n, b = b0 {                                   for i < n, b = b0 {
//!   t = b[i + 1]                                          t = b[i + 1]
//!   c = b with [i + 1] = 0.0                              some = t != 0.0
//!   u = mul_zero(t, slopes[i])                  becomes   e = if some { c = …  u = …  d = …  yield d } else { yield b }
//!   d = c with [i] += u                                   yield e
//!   yield d
//! }                                                     }
//! ```
//!
//! So a table of which one element is asked for, as that of an edit distance, is gone through backward along the one way that led there; and
//! where the cotangents are not zero, nothing waits for what is not added. It is only done where each iteration waits for the one before it
//! anyway. Places that may not be there are looked at in any case, and what is no number is no zero. What is not added of a zero may leave a
//! zero with another sign: it is for where numbers need not be to the last bit what they are elsewhere.
//!
//! For the same reason what follows a branch that gives a zero on one side is done on the other side only, in a loop that reads so.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is not left out")]

use crate::facts::{Known, counts, is_droppable, is_safe, total};
use crate::walk::Names;
use rustc_hash::FxHashSet;
use wengert_base::Name;
use wengert_ir::op::{ArrayOp, Compare, Loop, Mode, Op};
use wengert_ir::program::FuncId;
use wengert_ir::ty::Elem;
use wengert_ir::{Atom, Block, Func, Program, Stmt, Ty, Var};
use wengert_prim::RealOp;

/// Less arithmetic is done as fast as it is asked whether to do it.
const FEW: usize = 3;

/// See the module. Whether something has changed.
pub(crate) fn run(program: &mut Program) -> bool {
    let adds = |stmt: &Stmt| matches!(stmt.op, Op::Array(ArrayOp::AddAt, _));
    if program.funcs.iter().all(|(_, func)| func.body.all_stmts(&mut |stmt| !adds(stmt))) {
        return false;
    }
    let (total, counts) = (total(program), counts(program));
    let mut changed = false;
    for (id, func) in program.funcs.iter_mut() {
        let mut body = std::mem::take(&mut func.body);
        changed |= Idle { func, total: &total, known: counts.get(&id) }.block(&mut body);
        func.body = body;
    }
    changed
}

struct Idle<'p> {
    func: &'p mut Func,
    /// Functions that always return.
    total: &'p FxHashSet<FuncId>,
    /// Which elements are surely there.
    known: Option<&'p Known>,
}

impl Idle<'_> {
    fn block(&mut self, place: &mut Block) -> bool {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut changed = false;
            for stmt in &mut place.stmts {
                for inner in stmt.op.blocks_mut() {
                    changed |= self.block(inner);
                }
                if let Op::Loop(parts) = &mut stmt.op {
                    changed |= self.body(parts);
                }
            }
            changed
        })
    }

    /// Lets iterations of a loop do nothing where the first element that they read of an array that the loop hands on is zero.
    fn body(&mut self, parts: &mut Loop) -> bool {
        let Loop { mode, init, accs, body, .. } = parts;
        if *mode == Mode::Reduce || body.stmts.iter().any(|stmt| matches!(stmt.op, Op::Loop(_))) {
            return false;
        }
        let states: Vec<Var> = body.params.iter().skip(1).take(init.len()).copied().collect();
        let sums: FxHashSet<Var> =
            body.params.iter().skip(1 + init.len()).take(accs.len()).copied().collect();
        let read = body.stmts.iter().enumerate().find_map(|(at, stmt)| {
            let (Op::Array(ArrayOp::Index, args), [element]) = (&stmt.op, stmt.outs.as_slice()) else {
                return None;
            };
            let (array, places) = args.split_first()?;
            let array = array.var().filter(|array| states.contains(array))?;
            let real = self.func.ty(*element) == Ty::REAL;
            let before = body.stmts.iter().take(at).flat_map(|stmt| &stmt.outs);
            let varies = || body.params.iter().chain(before).copied().collect();
            real.then(|| (at, *element, Element { array, places: places.to_vec(), varies: varies() }))
        });
        let Some((at, element, read)) = read else { return false };
        let span = body.stmts.get(at).map_or(wengert_base::Span::NOWHERE, |stmt| stmt.span);
        let mut rest = self.rest(Some(read), sums.clone());
        rest.names.set(element, Atom::Real(0.0));
        let nothing = rest.block(body.stmts.get(at + 1..).unwrap_or_default(), &body.results);
        let Some(nothing) = nothing.filter(|_| rest.is_worth_it()) else {
            return self.after_branches(body, &sums);
        };
        let mut something = Block {
            params: Vec::new(),
            stmts: body.stmts.split_off(at + 1),
            results: std::mem::take(&mut body.results),
        };
        self.after_branches(&mut something, &sums);
        let some = self.func.fresh(Name::new("some"), Ty::BOOL);
        let op = Op::Compare(Compare::Ne, Atom::Var(element), Atom::Real(0.0));
        body.stmts.push(Stmt { outs: vec![some], op, span });
        let outs = self.outs(&something.results);
        body.results = outs.iter().copied().map(Atom::Var).collect();
        let op = Op::If { cond: Atom::Var(some), then: something, otherwise: nothing };
        body.stmts.push(Stmt { outs, op, span });
        true
    }

    /// What is left where an element is zero; to these only may be added.
    fn rest(&mut self, read: Option<Element>, sums: FxHashSet<Var>) -> Rest<'_> {
        let (names, lost) = (Names::default(), FxHashSet::default());
        let (func, total, known) = (&mut *self.func, self.total, self.known);
        Rest {
            func,
            total,
            known,
            names,
            sums,
            lost,
            read,
            saved: 0,
            updates: 0,
            waits: false,
            own: FxHashSet::default(),
        }
    }

    /// Variables for what a block gives.
    fn outs(&mut self, results: &[Atom]) -> Vec<Var> {
        let func = &mut *self.func;
        let out = |result: &Atom| match result {
            Atom::Var(var) => func.fresh(func.vars.at(*var).name, func.ty(*var)),
            Atom::Int(_) => func.fresh(Name::new("n"), Ty::INT),
            Atom::Bool(_) => func.fresh(Name::new("t"), Ty::BOOL),
            Atom::Real(_) => func.fresh(Name::new("t"), Ty::REAL),
            Atom::Text(_) => func.fresh(Name::new("t"), Ty::TEXT),
            Atom::Unit => func.fresh(Name::new("t"), Ty::Scalar(Elem::Unit)),
        };
        results.iter().map(out).collect()
    }

    /// Does what follows a branch on the side that gives no zero only.
    fn after_branches(&mut self, place: &mut Block, sums: &FxHashSet<Var>) -> bool {
        for at in 0..place.stmts.len() {
            let Some(Stmt { outs, op: Op::If { cond: _, then, otherwise }, .. }) = place.stmts.get(at) else {
                continue;
            };
            let zeros = |side: &Block| side.results.iter().any(is_zero) && !ends(side);
            let (side, idle) = match (zeros(then), zeros(otherwise)) {
                (true, false) => (true, then),
                (false, true) => (false, otherwise),
                (_, _) => continue,
            };
            let mut rest = self.rest(None, sums.clone());
            outs.iter().zip(&idle.results).for_each(|(out, result)| rest.names.set(*out, result.clone()));
            let follows = place.stmts.get(at + 1..).unwrap_or_default();
            if let Some(nothing) = rest.block(follows, &place.results)
                && rest.updates > 0
            {
                self.move_to_sides(place, at, side, nothing);
                return true;
            }
        }
        false
    }

    /// Puts what follows a branch to its end, on both sides; what is left of it on the one that gives a zero is known.
    fn move_to_sides(&mut self, place: &mut Block, at: usize, zero: bool, nothing: Block) {
        let follows = place.stmts.split_off(at + 1);
        let results = std::mem::take(&mut place.results);
        let outs = self.outs(&results);
        place.results = outs.iter().copied().map(Atom::Var).collect();
        let Some(stmt) = place.stmts.last_mut() else { return };
        let before = std::mem::replace(&mut stmt.outs, outs);
        let Op::If { cond: _, then, otherwise } = &mut stmt.op else { return };
        let (idle, busy) = if zero { (then, otherwise) } else { (otherwise, then) };
        idle.stmts.extend(nothing.stmts);
        idle.results = nothing.results;
        let mut names = Names::default();
        before.iter().zip(&busy.results).for_each(|(out, result)| names.set(*out, result.clone()));
        let mut moved = Block { params: Vec::new(), stmts: follows, results };
        moved.for_each_atom_mut(&mut |atom| names.replace(atom));
        if !ends(busy) {
            busy.stmts.extend(moved.stmts);
        }
        busy.results = moved.results;
    }
}

/// An element of an array that an iteration reads.
struct Element {
    array: Var,
    places: Vec<Atom>,
    /// What may be another number in each iteration.
    varies: FxHashSet<Var>,
}

impl Element {
    /// Whether other places lie where no other iteration reads, as those in the same column do where each iteration has a column of its own.
    fn is_along(&self, places: &[Atom]) -> bool {
        let varies = |place: &Atom| place.var().is_some_and(|var| self.varies.contains(&var));
        self.places.iter().zip(places).any(|(own, place)| own == place && varies(own))
    }
}

/// What is left of statements if some numbers are zero: nothing that computes.
struct Rest<'f> {
    func: &'f mut Func,
    total: &'f FxHashSet<FuncId>,
    known: Option<&'f Known>,
    names: Names,
    /// What may only be added to.
    sums: FxHashSet<Var>,
    /// What is not computed.
    lost: FxHashSet<Var>,
    /// The element that is zero.
    read: Option<Element>,
    /// So many operations are left out.
    saved: usize,
    /// So many of them add to an element.
    updates: usize,
    /// Whether elements of the array are updated that other iterations may read.
    waits: bool,
    /// Variables that are computed again.
    own: FxHashSet<Var>,
}

impl Rest<'_> {
    /// Whether enough is left out, where each iteration waits for the one before.
    fn is_worth_it(&self) -> bool {
        self.saved >= FEW && self.waits
    }

    fn block(&mut self, stmts: &[Stmt], results: &[Atom]) -> Option<Block> {
        let mut out = Vec::new();
        for stmt in stmts {
            self.stmt(stmt, &mut out)?;
        }
        let results: Vec<Atom> = results.iter().map(|result| self.now(result)).collect();
        self.are_there(results.iter()).then_some(Block { params: Vec::new(), stmts: out, results })
    }

    /// What an operand is.
    fn now(&self, atom: &Atom) -> Atom {
        let mut atom = atom.clone();
        self.names.replace(&mut atom);
        atom
    }

    fn are_there<'a>(&self, atoms: impl IntoIterator<Item = &'a Atom>) -> bool {
        atoms.into_iter().filter_map(Atom::var).all(|var| !self.lost.contains(&var))
    }

    /// What is left of a statement, if there may be something.
    fn stmt(&mut self, stmt: &Stmt, out: &mut Vec<Stmt>) -> Option<()> {
        match &stmt.op {
            Op::Real(op, args) => {
                let args: Vec<Atom> = args.iter().map(|arg| self.now(arg)).collect();
                self.saved += 1;
                let given = number(*op, &args);
                self.becomes(stmt, given)
            }
            Op::Copy(x) => {
                let x = self.now(x);
                self.becomes(stmt, Some(x))
            }
            Op::Array(ArrayOp::AddAt, args) => self.addition(stmt, args, out),
            Op::Array(ArrayOp::Set, args) => {
                let (array, places) =
                    args.split_last().filter(|(x, _)| is_zero(&self.now(x)))?.1.split_first()?;
                let array = self.now(array);
                let read = self.read.as_ref()?;
                let same = array.var() == Some(read.array) && *places == *read.places;
                same.then(|| self.becomes(stmt, Some(array)))?
            }
            Op::If { cond, then, otherwise } => self.branch(stmt, cond, [then, otherwise], out),
            Op::Array(ArrayOp::Index | ArrayOp::Length(_), _)
            | Op::Int(..)
            | Op::Compare(..)
            | Op::Not(_)
            | Op::Select { .. }
            | Op::Convert(..)
            | Op::Fail { .. }
            | Op::Require { .. } => self.keep(stmt, out),
            _ => None,
        }
    }

    /// What is given is known, or not computed.
    fn becomes(&mut self, stmt: &Stmt, given: Option<Atom>) -> Option<()> {
        let [var] = stmt.outs.as_slice() else { return None };
        match given.filter(|given| self.are_there([given])) {
            Some(given) => self.names.set(*var, given),
            None => drop(self.lost.insert(*var)),
        }
        Some(())
    }

    /// What is zero is not added; but the place must be there. To sums it is, where that is not known: nothing else may be done with them.
    fn addition(&mut self, stmt: &Stmt, args: &[Atom], out: &mut Vec<Stmt>) -> Option<()> {
        let args: Vec<Atom> = args.iter().map(|arg| self.now(arg)).collect();
        let (added, element) = args.split_last()?;
        if !is_zero(added) || !self.are_there(element) {
            return None;
        }
        let (array, places) = element.split_first()?;
        if let Some(read) = &self.read {
            let moves = |place: &Atom| {
                place.var().is_some_and(|var| read.varies.contains(&var) || self.own.contains(&var))
            };
            self.waits |=
                array.var() == Some(read.array) && places.iter().any(moves) && !read.is_along(places);
        }
        self.saved += 1;
        self.updates += 1;
        if is_droppable(stmt, self.total, self.known) {
            return self.becomes(stmt, Some(array.clone()));
        }
        let array = array.var()?;
        let span = stmt.span;
        if self.sums.contains(&array) {
            let sum = self.func.fresh(self.func.vars.at(array).name, self.func.ty(array));
            self.sums.insert(sum);
            out.push(Stmt { outs: vec![sum], op: Op::Array(ArrayOp::AddAt, args), span });
            return self.becomes(stmt, Some(Atom::Var(sum)));
        }
        let looked_at = self.func.fresh(Name::new("t"), Ty::REAL);
        let op = Op::Array(ArrayOp::Index, element.to_vec());
        out.push(Stmt { outs: vec![looked_at], op, span });
        self.becomes(stmt, Some(Atom::Var(array)))
    }

    /// A statement that stays, with variables of its own; or is not done, if it cannot be.
    fn keep(&mut self, stmt: &Stmt, out: &mut Vec<Stmt>) -> Option<()> {
        let mut op = stmt.op.clone();
        self.names.replace_in(&mut op);
        let mut there = true;
        op.for_each_atom(&mut |atom| there &= self.are_there([atom]));
        if !there {
            self.lost.extend(&stmt.outs);
            return is_safe(&op, self.total).then_some(());
        }
        let mut outs = Vec::new();
        for var in &stmt.outs {
            let (name, ty) = (self.func.vars.at(*var).name, self.func.ty(*var));
            let own = self.func.fresh(name, ty);
            self.names.set(*var, Atom::Var(own));
            self.own.insert(own);
            outs.push(own);
        }
        out.push(Stmt { outs, op, span: stmt.span });
        Some(())
    }

    /// A branch that gives the same on both sides, or what is not needed.
    fn branch(&mut self, stmt: &Stmt, cond: &Atom, sides: [&Block; 2], out: &mut Vec<Stmt>) -> Option<()> {
        let cond = self.now(cond);
        if !self.are_there([&cond]) || sides.iter().any(|side| ends(side)) {
            return None;
        }
        let [then, otherwise] = sides;
        let (mut then, mut otherwise) =
            (self.side(&then.stmts, &then.results)?, self.side(&otherwise.stmts, &otherwise.results)?);
        let (left, right) = (std::mem::take(&mut then.results), std::mem::take(&mut otherwise.results));
        for ((var, left), right) in stmt.outs.iter().zip(left).zip(right) {
            if left == right && self.are_there([&left]) {
                self.names.set(*var, left);
            } else if self.func.ty(*var).rank() == 0 {
                self.lost.insert(*var);
            } else {
                return None;
            }
        }
        if !then.stmts.is_empty() || !otherwise.stmts.is_empty() {
            let op = Op::If { cond, then, otherwise };
            out.push(Stmt { outs: Vec::new(), op, span: stmt.span });
        }
        Some(())
    }

    /// A side of a branch: what it gives need not be there.
    fn side(&mut self, stmts: &[Stmt], results: &[Atom]) -> Option<Block> {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut side = self.block(stmts, &[])?;
            side.results = results.iter().map(|result| self.now(result)).collect();
            Some(side)
        })
    }
}

fn is_zero(atom: &Atom) -> bool {
    matches!(atom, Atom::Real(x) if *x == 0.0)
}

/// Whether a block fails.
fn ends(block: &Block) -> bool {
    block.stmts.last().is_some_and(|stmt| stmt.op.never_returns())
}

/// What an operation gives that computes nothing.
fn number(op: RealOp, args: &[Atom]) -> Option<Atom> {
    let is_constant = |x: &Atom| matches!(x, Atom::Real(x) if x.is_finite());
    match (op, args) {
        (RealOp::MulZero, [zero, _] | [_, zero]) | (RealOp::DivZero, [zero, _]) if is_zero(zero) => {
            Some(Atom::Real(0.0))
        }
        (RealOp::Neg, [zero]) if is_zero(zero) => Some(Atom::Real(0.0)),
        (RealOp::Mul, [zero, x] | [x, zero]) if is_zero(zero) && is_constant(x) => Some(Atom::Real(0.0)),
        (RealOp::Div, [zero, x]) if is_zero(zero) && is_constant(x) && !is_zero(x) => Some(Atom::Real(0.0)),
        (RealOp::Add, [zero, x] | [x, zero]) | (RealOp::Sub, [x, zero]) if is_zero(zero) => Some(x.clone()),
        _ => None,
    }
}
