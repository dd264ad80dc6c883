//! A list that one loop makes and another takes apart again becomes arrays: nothing is linked.
//!
//! ```text
//! list = for i < n, l = Nil() { … c = Cons(x, l) yield c }        xs = each i < n { … yield x }
//! while l = list { is Cons? } do match l { Cons(x, r) { … r } }   for backward i < n, x in xs { … }
//! ```
//!
//! So it is if several loops take the list apart, as long as nobody else looks at it, and if a loop takes apart as much as was made because it goes
//! as often. The list is taken apart from its end: the other way round. What is collected on that way stands in the order in which it was
//! collected; if that was backward, it is reversed, and a loop over nothing but what is reversed goes the other way itself.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is no loop")]

use crate::walk::count_uses;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_base::{Name, Span};
use wengert_ir::op::{ArrayOp, Loop, Mode, Op, While};
use wengert_ir::{Atom, Block, Func, Program, Stmt, Ty, Var};

/// See the module.
pub(crate) fn run(program: &mut Program) {
    for (_, func) in program.funcs.iter_mut() {
        let mut body = std::mem::take(&mut func.body);
        let mut ctors = FxHashMap::default();
        body.for_each_stmt(&mut |stmt| {
            if let (Op::Make { ctor, .. }, [out]) = (&stmt.op, stmt.outs.as_slice()) {
                ctors.insert(*out, *ctor);
            }
        });
        let mut lists = Lists { uses: count_uses(&body), ctors, ..Lists::default() };
        lists.block(func, &mut body);
        func.body = body;
    }
}

/// What is known of a function.
#[derive(Default)]
struct Lists {
    /// How often variables are used.
    uses: FxHashMap<Var, usize>,
    /// The constructors of variables that are made with one.
    ctors: FxHashMap<Var, u32>,
    /// What arrays are the reverse of.
    reversed: FxHashMap<Var, Atom>,
    /// Lists that several loops take apart, and nobody else looks at.
    shared: FxHashSet<Var>,
    /// What the loops that make these collect.
    collected: FxHashMap<Var, Collected>,
}

/// What a loop collects that has made a list: what is at the end of the list, whether the list is gone through backward, how many there
/// are, and the arrays.
#[derive(Clone)]
struct Collected {
    end: Atom,
    backward: bool,
    len: Atom,
    arrays: Vec<Atom>,
}

/// A list that a loop makes: where the loop is, and how it pushes.
struct Made {
    at: usize,
    /// Which of the carried values it is.
    carried: usize,
    /// The statement of the body that pushes, and the place of the list among the fields.
    push: usize,
    field: usize,
    ctor: u32,
}

/// A loop that may take a list apart.
struct Taker<'a> {
    init: &'a [Atom],
    body: &'a Block,
    /// The parameters of the body that are carried values.
    params: &'a [Var],
    ends: Ends<'a>,
}

/// When that loop is over.
enum Ends<'a> {
    /// When a condition does not hold, which is asked of the carried values.
    Asked(&'a Block),
    /// After so many rounds; whether it counts downward, and whether it can as well be done the other way.
    Counted(&'a Atom, bool, bool),
}

/// How a loop takes a list apart.
struct Taken {
    /// Which of the carried values it is.
    carried: usize,
    /// The statement of the body that matches on it, and the result that is the rest.
    take: usize,
    rest: usize,
}

impl Lists {
    fn block(&mut self, func: &mut Func, block: &mut Block) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            self.find_shared(func, &block.stmts);
            let mut out: Vec<Stmt> = Vec::with_capacity(block.stmts.len());
            for mut stmt in std::mem::take(&mut block.stmts) {
                for inner in stmt.op.blocks_mut() {
                    self.block(func, inner);
                }
                if let Some((made, taken)) = self.pair(func, &out, &stmt) {
                    self.join(func, &mut out, (made, taken), stmt);
                } else {
                    if let Op::Loop(_) = stmt.op {
                        self.turn(func, &mut out, stmt);
                        continue;
                    }
                    if let (Op::Array(ArrayOp::Reverse, args), [var]) = (&stmt.op, stmt.outs.as_slice()) {
                        self.reversed.extend(args.first().map(|array| (*var, array.clone())));
                    }
                    out.push(stmt);
                }
            }
            block.stmts = out;
        });
    }

    fn once(&self, var: Var) -> bool {
        self.uses.get(&var) == Some(&1)
    }

    /// Notes the lists that several loops of a block take apart, each of them one list.
    fn find_shared(&mut self, func: &Func, stmts: &[Stmt]) {
        let mut taken: FxHashMap<Var, usize> = FxHashMap::default();
        for (place, stmt) in stmts.iter().enumerate() {
            let Some(taker) = self.taker(stmt) else { continue };
            let before = stmts.get(..place).unwrap_or_default();
            let lists: Vec<Var> = (0..taker.init.len())
                .filter(|carried| self.pair_at(func, before, &taker, *carried).is_some())
                .filter_map(|carried| taker.init.get(carried)?.var())
                .collect();
            if let [list] = lists.as_slice() {
                *taken.entry(*list).or_default() += 1;
            }
        }
        let all = taken.into_iter().filter(|(list, count)| *count > 1 && self.uses.get(list) == Some(count));
        self.shared.extend(all.map(|(list, _)| list));
    }

    /// A statement as a loop that may take lists apart.
    fn taker<'a>(&self, stmt: &'a Stmt) -> Option<Taker<'a>> {
        match &stmt.op {
            Op::While(parts) => Some(Taker {
                init: &parts.init,
                body: &parts.body,
                params: &parts.body.params,
                ends: Ends::Asked(&parts.cond),
            }),
            Op::Loop(parts) if parts.mode == Mode::Sequence && parts.accs.is_empty() => {
                let (index, params) = parts.body.params.split_first()?;
                let turns = parts.inputs.is_empty() && !self.uses.contains_key(index);
                let params = params.get(..parts.init.len())?;
                let ends = Ends::Counted(&parts.len, parts.backward, turns);
                Some(Taker { init: &parts.init, body: &parts.body, params, ends })
            }
            _ => None,
        }
    }

    /// A list that `stmt` takes apart and that one of the statements before makes, for it only.
    fn pair(&self, func: &Func, before: &[Stmt], stmt: &Stmt) -> Option<(Made, Taken)> {
        let taker = self.taker(stmt)?;
        (0..taker.init.len()).find_map(|carried| {
            let list = taker.init.get(carried)?.var()?;
            let only = self.once(list) || self.shared.contains(&list);
            if only { self.pair_at(func, before, &taker, carried) } else { None }
        })
    }

    /// How the list is made and taken apart that a loop carries in one place.
    fn pair_at(
        &self,
        func: &Func,
        before: &[Stmt],
        taker: &Taker<'_>,
        carried: usize,
    ) -> Option<(Made, Taken)> {
        let list = taker.init.get(carried)?.var()?;
        let at = before.iter().position(|stmt| stmt.outs.contains(&list))?;
        let made = self.made(func, before, at, list)?;
        let Op::Loop(maker) = &before.get(at)?.op else { return None };
        match &taker.ends {
            Ends::Asked(cond) => {
                let end = self.end(before, &made)?;
                asks(cond, carried, (made.ctor, end)).then_some(())?;
            }
            // What is counted goes through all of it, from what was made last.
            Ends::Counted(len, backward, turns) => {
                let fits = **len == maker.len && (*turns || *backward != maker.backward);
                fits.then_some(())?;
            }
        }
        let taken = self.taken(func, taker, carried, &made)?;
        Some((made, taken))
    }

    /// How the loop at a place makes a list.
    fn made(&self, func: &Func, before: &[Stmt], at: usize, list: Var) -> Option<Made> {
        let stmt = before.get(at)?;
        let Op::Loop(parts) = &stmt.op else { return None };
        let carried = stmt.outs.iter().position(|out| *out == list).filter(|i| *i < parts.init.len())?;
        let param = parts.body.params.get(1 + carried).copied().filter(|param| self.once(*param))?;
        let next = parts.body.results.get(carried)?.var().filter(|next| self.once(*next))?;
        let push = parts.body.stmts.iter().position(|stmt| stmt.outs == [next])?;
        let Op::Make { ctor, fields, .. } = &parts.body.stmts.get(push)?.op else { return None };
        let field = fields.iter().position(|atom| atom.var() == Some(param))?;
        let scalars = fields.iter().all(|atom| func.type_of(atom).rank() == 0);
        (scalars && parts.mode == Mode::Sequence).then_some(Made { at, carried, push, field, ctor: *ctor })
    }

    /// The constructor at the end of the list.
    fn end(&self, before: &[Stmt], made: &Made) -> Option<u32> {
        let Op::Loop(parts) = &before.get(made.at)?.op else { return None };
        self.ctors.get(&parts.init.get(made.carried)?.var()?).copied()
    }

    /// How a loop takes apart what it carries there, as long as it is of the constructor with which it was made.
    fn taken(&self, func: &Func, taker: &Taker<'_>, carried: usize, made: &Made) -> Option<Taken> {
        let body = taker.body;
        let param = taker.params.get(carried).copied().filter(|param| self.once(*param))?;
        let is_match = |stmt: &Stmt| matches!(&stmt.op, Op::Match { on, .. } if on.var() == Some(param));
        let take = body.stmts.iter().position(is_match)?;
        let stmt = body.stmts.get(take)?;
        let Op::Match { arms, .. } = &stmt.op else { return None };
        let next = body.results.get(carried)?.var().filter(|next| self.once(*next))?;
        let rest = stmt.outs.iter().position(|out| *out == next)?;
        let arm = arms.get(made.ctor as usize)?;
        let tail = arm.params.get(made.field).copied().filter(|tail| self.once(*tail))?;
        let goes_on = arm.results.get(rest)?.var() == Some(tail);
        let rows = body.results.iter().skip(taker.init.len());
        let scalars = rows.into_iter().all(|row| func.type_of(row).rank() == 0);
        (goes_on && scalars).then_some(Taken { carried, take, rest })
    }

    fn join(&mut self, func: &mut Func, out: &mut Vec<Stmt>, (made, taken): (Made, Taken), stmt: Stmt) {
        let Stmt { outs, op, span } = stmt;
        let Some(Taking { init, body, mut inputs, goes_back }) = Taking::of(func, op) else { return };
        let list = init.get(taken.carried).and_then(Atom::var).filter(|list| self.shared.contains(list));
        let known = list.and_then(|list| self.collected.get(&list)).cloned();
        let Some(known) = known.or_else(|| collect(func, out, &made, list.is_some())) else { return };
        self.collected.extend(list.map(|list| (list, known.clone())));
        let Collected { end, backward, len, arrays } = known;
        let carried = init.len();
        let Block { mut params, mut stmts, mut results } = body;
        let took = stmts.remove(taken.take);
        let Op::Match { mut arms, .. } = took.op else { return };
        let mut arm = arms.swap_remove(made.ctor as usize);
        arm.params.remove(made.field);
        params.remove(1 + taken.carried);
        results.remove(taken.carried);
        params.extend(arm.params);
        inputs.extend(arrays);
        arm.results.remove(taken.rest);
        let mut given = took.outs;
        given.remove(taken.rest);
        let copies = given.into_iter().zip(arm.results);
        let copies = copies.map(|(var, atom)| Stmt { outs: vec![var], op: Op::Copy(atom), span });
        let inside: Vec<Stmt> = arm.stmts.into_iter().chain(copies).collect();
        stmts.splice(taken.take..taken.take, inside);
        let mut init = init;
        init.remove(taken.carried);
        let mut outs = outs;
        let last = outs.remove(taken.carried);
        let body = Block { params, stmts, results };
        let rows = outs.split_off((carried - 1).min(outs.len()));
        let mode = if init.is_empty() { Mode::Each } else { Mode::Sequence };
        let (rows, turned) =
            if backward != goes_back { self.turned(func, &rows, span) } else { (rows, Vec::new()) };
        outs.extend(rows);
        let parts = Loop { mode, backward, len, inputs, init, accs: Vec::new(), body };
        out.push(Stmt { outs: vec![last], op: Op::Copy(end), span });
        out.push(Stmt { outs, op: Op::Loop(Box::new(parts)), span });
        out.extend(turned);
    }

    /// Variables for what is then reversed.
    fn turned(&mut self, func: &mut Func, rows: &[Var], span: Span) -> (Vec<Var>, Vec<Stmt>) {
        let (mut fresh, mut stmts) = (Vec::new(), Vec::new());
        for row in rows {
            let info = *func.vars.at(*row);
            let other = func.fresh(info.name, info.ty);
            let op = Op::Array(ArrayOp::Reverse, vec![Atom::Var(other)]);
            self.reversed.insert(*row, Atom::Var(other));
            stmts.push(Stmt { outs: vec![*row], op, span });
            fresh.push(other);
        }
        (fresh, stmts)
    }

    /// A loop over nothing but what is reversed goes the other way.
    fn turn(&mut self, func: &mut Func, out: &mut Vec<Stmt>, mut stmt: Stmt) {
        let Op::Loop(parts) = &mut stmt.op else { return };
        let carried = parts.init.len() + parts.accs.len();
        let rows = stmt.outs.get(carried..).unwrap_or_default().to_vec();
        let straight: Option<Vec<Atom>> = parts
            .inputs
            .iter()
            .map(|input| {
                let var = input.var().filter(|var| rows.is_empty() || self.once(*var))?;
                self.reversed.get(&var).cloned()
            })
            .collect();
        let indexed = parts.body.params.first().is_some_and(|index| self.uses.contains_key(index));
        match straight {
            Some(inputs) if !inputs.is_empty() && !indexed && parts.mode != Mode::Reduce => {
                parts.inputs = inputs;
                parts.backward = !parts.backward;
                let (fresh, turned) = self.turned(func, &rows, stmt.span);
                stmt.outs.truncate(carried);
                stmt.outs.extend(fresh);
                out.push(stmt);
                out.extend(turned);
            }
            _ => out.push(stmt),
        }
    }
}

/// A loop that is about to take a list apart: what it needs whatever ends it.
struct Taking {
    init: Vec<Atom>,
    /// The index, the carried values, and rows of the inputs.
    body: Block,
    inputs: Vec<Atom>,
    /// Whether it counts downward.
    goes_back: bool,
}

impl Taking {
    fn of(func: &mut Func, op: Op) -> Option<Taking> {
        match op {
            Op::While(parts) => {
                let While { init, cond: _, mut body } = *parts;
                body.params.insert(0, func.fresh("i".into(), Ty::INT));
                Some(Taking { init, body, inputs: Vec::new(), goes_back: false })
            }
            Op::Loop(parts) => {
                let Loop { init, body, inputs, backward, .. } = *parts;
                Some(Taking { init, body, inputs, goes_back: backward })
            }
            _ => None,
        }
    }
}

/// Whether a condition holds as long as a carried value is of one constructor, and not if it is of the other.
fn asks(cond: &Block, carried: usize, (made, end): (u32, u32)) -> bool {
    let (Some(asked), [Stmt { op: Op::Match { on, arms }, outs, .. }]) =
        (cond.params.get(carried), cond.stmts.as_slice())
    else {
        return false;
    };
    let answer = |ctor: u32| arms.get(ctor as usize).map(|arm| (arm.stmts.len(), arm.results.as_slice()));
    on.var() == Some(*asked)
        && cond.results.iter().map(Atom::var).eq(outs.iter().map(|out| Some(*out)))
        && answer(made) == Some((0, &[Atom::Bool(true)]))
        && answer(end) == Some((0, &[Atom::Bool(false)]))
}

/// Lets the loop that makes a list collect what it pushes; if others need it, it goes on making the list.
fn collect(func: &mut Func, out: &mut [Stmt], made: &Made, others: bool) -> Option<Collected> {
    let stmt = out.get_mut(made.at)?;
    let Op::Loop(parts) = &mut stmt.op else { return None };
    let pushed = parts.body.stmts.get(made.push)?;
    let Op::Make { mut fields, .. } = pushed.op.clone() else { return None };
    fields.remove(made.field);
    let end = parts.init.get(made.carried)?.clone();
    if !others {
        parts.body.stmts.remove(made.push);
        parts.body.params.remove(1 + made.carried);
        parts.body.results.remove(made.carried);
        parts.init.remove(made.carried);
        stmt.outs.remove(made.carried);
    }
    let mut arrays = Vec::new();
    for field in &fields {
        let ty = func.type_of(field);
        let name: Name = field.var().map_or("items".into(), |var| func.vars.at(var).name);
        let array = func.fresh(Name::new(&format!("{name}s")), ty.array_of().unwrap_or(ty));
        stmt.outs.push(array);
        arrays.push(Atom::Var(array));
    }
    parts.body.results.extend(fields);
    if parts.init.is_empty() && parts.accs.is_empty() {
        parts.mode = Mode::Each;
    }
    Some(Collected { end, backward: !parts.backward, len: parts.len.clone(), arrays })
}

#[cfg(test)]
mod tests;
