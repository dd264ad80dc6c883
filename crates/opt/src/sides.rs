//! What becomes simpler on the sides of a branch is done there: operations on what the sides give, branches on it, and matches on
//! what was matched before.
//!
//! ```text
//! x_bar, t_bar = if p { yield g, 0.0 } else { yield 0.0, 1.0 }
//! a = mul_zero(t_bar, s)                             becomes   x_bar, a = if p { yield g, 0.0 } else { yield 0.0, s }
//!
//! k, r2 = match x { Disk(r) { yield 0, r } Box(u, v) { yield 1, v } }
//! c = k == 0
//! z = if c { y = r2 * 2.0 yield y } else { yield r2 }
//!                                  becomes   z = match x { Disk(r) { y = r * 2.0 yield y } Box(u, v) { yield v } }
//! ```
//!
//! What is computed in between from what the sides give, for the second branch, goes with it.
//!
//! A derivative does first all that is forward, then all that is backward, and each of the two branches. This brings together what
//! belongs together. Nothing is done twice: on all sides together, there are at most as many operations as before.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed stays where it is")]

use crate::branches::may_move;
use crate::cases::{fails_instead, returns};
use crate::facts::{is_quiet, is_safe, total};
use crate::simplify;
use crate::stands::stands_alone;
use crate::walk::mentioned;
use rustc_hash::FxHashSet;
use wengert_ir::build::Copier;
use wengert_ir::op::Op;
use wengert_ir::program::FuncId;
use wengert_ir::{Atom, Block, Func, Program, Stmt, Ty, Var};
use wengert_prim::RealOp;

/// How many statements after a branch are looked at.
const NEAR: usize = 24;
/// So many statements at most become part of a branch together, and so many are on several sides then.
const CHAIN: usize = 5;
const COPIES: usize = 24;

/// See the module.
pub(crate) fn run(program: &mut Program) {
    Sides { total: total(program), signs: Signs::Values }.run(program);
}

/// The same where numbers must be exact, to the signs of zeros.
pub(crate) fn exactly(program: &mut Program) {
    Sides { total: total(program), signs: Signs::All }.run(program);
}

/// The same where the sign of a zero does not count. Whether something has changed.
pub(crate) fn relaxed(program: &mut Program) -> bool {
    Sides { total: total(program), signs: Signs::None }.run(program)
}

struct Sides {
    total: FxHashSet<FuncId>,
    signs: Signs,
}

/// Of which zeros the sign counts.
#[derive(Clone, Copy, PartialEq)]
enum Signs {
    All,
    /// Not of derivatives, as strong zeros are.
    Values,
    None,
}

/// What happens to the statements after a branch, up to one that becomes part of it.
struct Plan {
    /// They stay behind the branch, or come before it if it goes there.
    stays: Vec<usize>,
    /// They are needed for what is moved, and need nothing of the branch.
    before: Vec<usize>,
    /// They become part of the branch.
    moved: Vec<usize>,
}

impl Plan {
    fn of(&self, stmts: &[Stmt], places: &[usize]) -> Vec<Stmt> {
        places.iter().filter_map(|place| stmts.get(*place)).cloned().collect()
    }
}

/// What statements become on one side of a branch.
struct Side {
    stmts: Vec<Stmt>,
    results: Vec<Atom>,
    fails: bool,
}

impl Sides {
    fn run(&self, program: &mut Program) -> bool {
        let mut changed = false;
        for (_, func) in program.funcs.iter_mut() {
            let mut body = std::mem::take(&mut func.body);
            changed |= self.block(func, &mut body);
            func.body = body;
        }
        changed
    }

    fn block(&self, func: &mut Func, place: &mut Block) -> bool {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut changed = false;
            let mut at = 0;
            while let Some(stmt) = place.stmts.get(at) {
                let moved = is_branch(&stmt.op).then(|| self.next(func, &mut place.stmts, at)).flatten();
                changed |= moved.is_some();
                // The branch may have gone forward; there it is looked at again.
                at = moved.unwrap_or(at + 1);
            }
            for stmt in &mut place.stmts {
                for inner in stmt.op.blocks_mut() {
                    changed |= self.block(func, inner);
                }
            }
            changed
        })
    }

    /// Moves the next statement that becomes simpler into the branch, and says where that is now.
    fn next(&self, func: &mut Func, stmts: &mut Vec<Stmt>, at: usize) -> Option<usize> {
        let first = stmts.get(at)?;
        for place in at + 1..stmts.len().min(at + NEAR) {
            let (Some(second), Some(between)) = (stmts.get(place), stmts.get(at + 1..place)) else { break };
            if !belongs(first, second) {
                continue;
            }
            let down = || {
                let apart = !between.iter().any(|stmt| needs(stmt, &first.outs));
                let plan = Plan { stays: (at + 1..place).collect(), before: Vec::new(), moved: vec![place] };
                (apart && may_move(first, between, &self.total)).then_some((true, plan))
            };
            let up = self.coming(func, stmts, at, place).map(|plan| (false, plan));
            if let Some((down, plan)) = up.or_else(down)
                && let Some(sides) = self.sides(func, first, &plan.of(stmts, &plan.moved))
            {
                return Some(at + apply(func, stmts, at..place + 1, &plan, sides, down));
            }
        }
        None
    }

    /// What comes to a branch so that a statement can become part of it, if that changes nothing else.
    fn coming(&self, func: &Func, stmts: &[Stmt], at: usize, place: usize) -> Option<Plan> {
        let (first, second) = (stmts.get(at)?, stmts.get(place)?);
        let mut plan = Plan { stays: Vec::new(), before: Vec::new(), moved: Vec::new() };
        let mut wanted: FxHashSet<Var> = mentioned(&second.op).collect();
        let mut coming = Vec::new();
        for index in (at + 1..place).rev() {
            let stmt = stmts.get(index)?;
            if stmt.outs.iter().any(|out| wanted.contains(out)) {
                if !is_branch(&second.op) || !self.is_light(func, stmt) {
                    return None;
                }
                wanted.extend(mentioned(&stmt.op));
                coming.push(index);
            } else {
                plan.stays.push(index);
            }
        }
        let mut given = first.outs.clone();
        for index in coming.into_iter().rev() {
            let stmt = stmts.get(index)?;
            if needs(stmt, &given) {
                given.extend(&stmt.outs);
                plan.moved.push(index);
            } else {
                plan.before.push(index);
            }
        }
        plan.stays.reverse();
        plan.moved.push(place);
        let quiet = |stmt: &Stmt| is_quiet(&stmt.op, &self.total);
        // What is updated in one of them must not be looked at later than it was.
        let shared: Vec<Var> = wanted.into_iter().filter(|var| !is_number(func.ty(*var))).collect();
        // What stays may look at sizes that a loop needs.
        let stands = stands_alone(second);
        let staying: Vec<&Stmt> = plan.stays.iter().filter_map(|index| stmts.get(*index)).collect();
        let fine = !staying.iter().any(|stmt| needs(stmt, &shared))
            && (staying.iter().all(|stmt| quiet(stmt)) || quiet(second) && stands)
            && plan.moved.len() <= CHAIN;
        fine.then_some(plan)
    }

    /// Whether it does not matter that a statement stands on several sides.
    fn is_light(&self, func: &Func, stmt: &Stmt) -> bool {
        stmt.op.blocks().is_empty()
            && is_safe(&stmt.op, &self.total)
            && stmt.outs.iter().all(|out| is_number(func.ty(*out)))
            && !stmt.op.operand_vars().iter().any(|var| !is_number(func.ty(*var)))
    }

    /// Whether an operation on what a branch gives is known on each of its sides.
    fn is_known(&self, func: &Func, first: &Stmt, op: &Op) -> bool {
        first.op.blocks().into_iter().filter(|block| returns(block)).all(|block| {
            let mut op = op.clone();
            op.for_each_atom_mut(&mut |atom| {
                let place = atom.var().and_then(|var| first.outs.iter().position(|out| *out == var));
                if let Some(result) = place.and_then(|place| block.results.get(place)) {
                    *atom = result.clone();
                }
            });
            known(func, &op, self.signs).is_some()
        })
    }

    /// What statements become on each side of the first that comes to its end. The last of them may not be more than it was, on all
    /// sides together.
    fn sides(&self, func: &mut Func, first: &Stmt, moved: &[Stmt]) -> Option<Vec<Side>> {
        let (last, others) = moved.split_last()?;
        let sides = first.op.blocks().into_iter().filter(|block| returns(block)).count();
        // A branch goes, and so does an operation: it is known on each side.
        let most = last.op.blocks().into_iter().map(Block::size).sum::<usize>() + others.len() * sides;
        if others.len() * sides > COPIES || !is_branch(&last.op) && !self.is_known(func, first, &last.op) {
            return None;
        }
        let (mut made, mut size) = (Vec::new(), 0);
        for (number, block) in first.op.blocks().into_iter().enumerate() {
            if !returns(block) {
                continue;
            }
            let mut copier = Copier::within();
            for (out, result) in first.outs.iter().zip(&block.results) {
                copier.set(*out, result.clone());
            }
            let mut matched = None;
            match &first.op {
                Op::If { cond: Atom::Var(cond), .. } => copier.set(*cond, Atom::Bool(number == 0)),
                Op::Match { on: Atom::Var(on), .. } => matched = Some((*on, number, block.params.as_slice())),
                _ => {}
            }
            let mut on_side = OnSide { copier, func, matched, signs: self.signs, out: Vec::new() };
            let fails = !on_side.stmts(moved);
            let outs = moved.iter().flat_map(|stmt| &stmt.outs);
            let results = outs.map(|out| on_side.copier.atom(&Atom::Var(*out))).collect();
            let stmts = on_side.out;
            size += stmts
                .iter()
                .map(|stmt| 1 + stmt.op.blocks().into_iter().map(Block::size).sum::<usize>())
                .sum::<usize>();
            if size > most {
                return None;
            }
            made.push(Side { stmts, results, fails });
        }
        (!made.is_empty()).then_some(made)
    }
}

/// A side of a branch, where more is known than elsewhere.
struct OnSide<'a, 'f> {
    copier: Copier<'static>,
    func: &'f mut Func,
    /// What the branch matches, with which constructor, and its fields.
    matched: Option<(Var, usize, &'a [Var])>,
    signs: Signs,
    out: Vec<Stmt>,
}

impl OnSide<'_, '_> {
    /// Copies statements, as far as they are not known. Whether they come to their end.
    fn stmts(&mut self, stmts: &[Stmt]) -> bool {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || stmts.iter().all(|stmt| self.stmt(stmt)))
    }

    fn stmt(&mut self, stmt: &Stmt) -> bool {
        if let Some(block) = self.known_side(&stmt.op) {
            let ends = self.stmts(&block.stmts);
            for (out, result) in stmt.outs.iter().zip(&block.results) {
                let result = self.copier.atom(result);
                self.copier.set(*out, result);
            }
            return ends;
        }
        if let [out] = stmt.outs.as_slice()
            && stmt.op.blocks().is_empty()
        {
            let mut op = stmt.op.clone();
            op.for_each_atom_mut(&mut |atom| *atom = self.copier.atom(atom));
            if let Some(known) = known(self.func, &op, self.signs) {
                self.copier.set(*out, known);
                return true;
            }
        }
        self.out.push(self.copier.stmt(self.func, stmt));
        !stmt.op.never_returns()
    }

    /// The block of a branch that is taken here.
    fn known_side<'b>(&mut self, op: &'b Op) -> Option<&'b Block> {
        match op {
            Op::If { cond, then, otherwise } => match self.copier.atom(cond) {
                Atom::Bool(true) => Some(then),
                Atom::Bool(false) => Some(otherwise),
                _ => None,
            },
            Op::Match { on: Atom::Var(on), arms } => {
                let (matched, number, fields) = self.matched?;
                let arm = arms.get(number).filter(|_| matched == *on)?;
                for (param, field) in arm.params.iter().zip(fields) {
                    self.copier.set(*param, Atom::Var(*field));
                }
                Some(arm)
            }
            _ => None,
        }
    }
}

/// The operand that is the result of an operation.
fn known(func: &Func, op: &Op, signs: Signs) -> Option<Atom> {
    let zero = |atom: &Atom| matches!(atom, Atom::Real(x) if *x == 0.0);
    if signs == Signs::None
        && let Op::Real(op, args) = op
    {
        match (op, args.as_slice()) {
            (RealOp::Add, [x, other] | [other, x]) if zero(other) => return Some(x.clone()),
            (RealOp::Sub, [x, other]) if zero(other) => return Some(x.clone()),
            _ => {}
        }
    }
    simplify::known(func, op, signs == Signs::All)
}

fn is_branch(op: &Op) -> bool {
    matches!(op, Op::If { .. } | Op::Match { .. })
}

fn is_number(ty: Ty) -> bool {
    ty == Ty::REAL || ty == Ty::INT || ty == Ty::BOOL
}

/// Whether the second is about what the first gives or looks at, so that it may become simpler on each of its sides.
fn belongs(first: &Stmt, second: &Stmt) -> bool {
    let is_known = |var: Var, wanted: &dyn Fn(&Atom) -> bool| {
        let Some(place) = first.outs.iter().position(|out| *out == var) else { return false };
        let sides = first.op.blocks().into_iter().filter(|block| returns(block));
        sides.map(|block| block.results.get(place)).all(|result| result.is_some_and(wanted))
    };
    match (&first.op, &second.op) {
        (Op::If { cond, .. }, Op::If { cond: Atom::Var(other), .. }) if cond.var() == Some(*other) => true,
        (_, Op::If { cond: Atom::Var(cond), .. }) => is_known(*cond, &|atom| matches!(atom, Atom::Bool(_))),
        (Op::Match { on, .. }, Op::Match { on: other, .. }) => on == other,
        (_, Op::Real(..) | Op::Int(..) | Op::Compare(..) | Op::Not(_) | Op::Select { .. }) => {
            let constant = |atom: &Atom| atom.var().is_none();
            let some_known = |var: Var| {
                let place = first.outs.iter().position(|out| *out == var);
                place.is_some_and(|place| {
                    first.op.blocks().into_iter().filter_map(|block| block.results.get(place)).any(constant)
                })
            };
            second.op.operand_vars().into_iter().any(some_known)
        }
        _ => false,
    }
}

fn needs(stmt: &Stmt, made: &[Var]) -> bool {
    !made.is_empty() && mentioned(&stmt.op).any(|var| made.contains(&var))
}

/// Does what was planned for the statements at these places, of which the first is the branch. Gives how far that has gone.
fn apply(
    func: &mut Func,
    stmts: &mut Vec<Stmt>,
    places: std::ops::Range<usize>,
    plan: &Plan,
    sides: Vec<Side>,
    down: bool,
) -> usize {
    let outs = plan.of(stmts, &plan.moved).into_iter().flat_map(|stmt| stmt.outs).collect();
    let mut before = plan.of(stmts, &plan.before);
    let mut after = plan.of(stmts, &plan.stays);
    if down {
        before.append(&mut after);
    }
    let gone = before.len();
    let Some(mut first) = stmts.get(places.start).cloned() else { return 0 };
    join(func, &mut first, outs, sides);
    stmts.splice(places, before.into_iter().chain([first]).chain(after));
    gone
}

/// Puts the sides into the blocks of the branch, which gives their results too.
fn join(func: &mut Func, first: &mut Stmt, outs: Vec<Var>, sides: Vec<Side>) {
    first.outs.extend(outs);
    let mut sides = sides.into_iter();
    for block in first.op.blocks_mut() {
        let side = returns(block).then(|| sides.next()).flatten();
        let Some(side) = side else {
            fails_instead(func, block, &first.outs);
            continue;
        };
        block.stmts.extend(side.stmts);
        block.results.extend(side.results);
        if side.fails {
            fails_instead(func, block, &first.outs);
        }
    }
}
