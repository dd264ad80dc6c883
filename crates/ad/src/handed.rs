//! Numbers that are only handed on: where sums must be those of a tape, each use of a number that may be another one says which.
//!
//! A branch gives a number that is there already, a loop begins with one. For a tape that is the same number, to whose one sum all uses
//! add. So before a function is linearized, each use of such a number becomes a choice of its own, whose transpose adds to the sum of
//! the number that was chosen, at the time of that use:
//!
//! ```text
//! m = if c then x else y              m = if c then x else y
//! z = m * sin x                       m1 = select(c, x, y)
//! w = z * m                           z = m1 * sin x
//!                                     m2 = select(c, x, y)
//!                                     w = z * m2
//! ```
//!
//! Only the linear part chooses; the primal part has the number itself. A branch of several blocks, or of nested ones, gives a truth
//! value for each number that it may hand on. The first value of a loop is known by the index, or by a truth value that is carried.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "operations with blocks and calls are named, the others hand on little"
)]

use crate::expand::Prepared;
use crate::{Ad, Code, deep};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::{ArrayOp, Atom, Block, Compare, IntOp, Loop, Op, Stmt, Var, While};
use wengert_ir::program::{Func, FuncId};
use wengert_ir::ty::Ty;

/// More choices than this for one use are not made: sums of such a number are added up apart.
const MOST: usize = 32;

/// So many choices are made in a function, and one for each of its statements.
const ENOUGH: usize = 4000;

impl Ad {
    /// The function with a choice for each use of a number that may be another one.
    pub(crate) fn handed(&mut self, prepared: &Prepared) -> Prepared {
        let Prepared { func, active, results, .. } = prepared;
        let code = &mut Code::like(self, func, func.name.as_str());
        let mut walk = Walk::new(code, func, Some(active.clone()));
        let given = walk.block(&func.body);
        let given = walk.chosen_all(&given);
        let Walk { active, chosen, .. } = walk;
        let mut made = std::mem::replace(&mut walk.code.b, wengert_ir::Builder::new(func.name)).finish(given);
        made.span = func.span;
        Prepared { func: made, active: active.unwrap_or_default(), results: results.clone(), chosen }
    }
}

/// How often each variable is an operand or a result.
pub(crate) fn uses(func: &Func) -> FxHashMap<Var, usize> {
    let mut found = FxHashMap::default();
    let mut body = func.body.clone();
    body.for_each_atom_mut(&mut |atom| {
        if let Some(var) = atom.var() {
            *found.entry(var).or_insert(0) += 1;
        }
    });
    found
}

/// What a number may be.
#[derive(Clone, Debug, PartialEq)]
enum Other {
    /// This one.
    Number(Var),
    /// What stands there in an array.
    Element(Var, Vec<Atom>),
}

/// A number is another one if this holds.
type Case = (Atom, Other);

/// The walk through a function.
pub(crate) struct Walk<'a, 'c> {
    code: &'a mut Code<'c>,
    /// What varies, choices included; if that is not known, anything may, and no choices are made.
    active: Option<FxHashSet<Var>>,
    /// The choices.
    chosen: FxHashSet<Var>,
    /// What numbers may be.
    cases: FxHashMap<Var, Vec<Case>>,
    /// Numbers that are elements of arrays.
    elements: FxHashMap<Var, (Var, Vec<Atom>)>,
    uses: FxHashMap<Var, usize>,
    /// In which order variables are bound.
    order: FxHashMap<Var, usize>,
    /// So many choices may still be made.
    left: usize,
}

impl<'a, 'c> Walk<'a, 'c> {
    fn new(code: &'a mut Code<'c>, func: &Func, active: Option<FxHashSet<Var>>) -> Walk<'a, 'c> {
        let mut walk = Walk {
            uses: uses(func),
            left: ENOUGH + func.body.size(),
            code,
            active,
            chosen: FxHashSet::default(),
            cases: FxHashMap::default(),
            elements: FxHashMap::default(),
            order: FxHashMap::default(),
        };
        walk.define(&func.body.params);
        walk
    }

    /// Writes a function that tells which results are which parameters; gives what it gives.
    pub(crate) fn told(code: &'a mut Code<'c>, func: &Func, pairs: &[(usize, usize)]) -> Vec<Atom> {
        let start = func.body.params.len();
        let mut walk = Walk::new(code, func, None);
        let mut results = walk.block(&func.body);
        let found: Vec<Vec<Case>> =
            func.body.results.iter().map(|atom| walk.out_of_around(atom, start)).collect();
        for (result, param) in pairs {
            let param = func.body.params.get(*param);
            let is_param = |(_, of): &&Case| matches!(of, Other::Number(var) if Some(var) == param);
            let case = found.get(*result).and_then(|cases| cases.iter().find(is_param));
            results.push(case.map_or(Atom::Bool(false), |(cond, _)| cond.clone()));
        }
        results
    }

    fn varies(&self, var: Var) -> bool {
        self.active.as_ref().is_none_or(|active| active.contains(&var))
    }

    fn mark(&mut self, var: Var) {
        if let Some(active) = &mut self.active {
            active.insert(var);
        }
    }

    fn define(&mut self, vars: &[Var]) {
        for var in vars {
            let place = self.order.len();
            self.order.insert(*var, place);
        }
    }

    /// Whether it is a number that varies.
    fn number(&self, atom: &Atom) -> Option<Var> {
        let var = atom.var()?;
        (self.varies(var) && self.code.b.func().ty(var) == Ty::REAL).then_some(var)
    }

    /// Appends the statements of a block; gives its results.
    fn block(&mut self, block: &Block) -> Vec<Atom> {
        deep(|| block.stmts.iter().for_each(|stmt| self.stmt(stmt)));
        block.results.clone()
    }

    fn stmt(&mut self, stmt: &Stmt) {
        self.code.b.set_span(stmt.span);
        match &stmt.op {
            Op::If { .. } | Op::Match { .. } => self.branch(stmt),
            Op::Loop(parts) => self.repeat(stmt, parts),
            Op::While(parts) => self.while_loop(stmt, parts),
            Op::Call { func, args, checkpoint: false } if self.may_tell(stmt, args) => {
                self.call(stmt, *func, args)
            }
            op => {
                let varies = stmt.outs.iter().any(|out| self.varies(*out));
                let op = if varies { self.with_choices(op) } else { op.clone() };
                self.code.b.push(Stmt { op, ..stmt.clone() });
                self.define(&stmt.outs);
                self.straight(stmt);
            }
        }
    }

    fn may_tell(&self, stmt: &Stmt, args: &[Atom]) -> bool {
        args.iter().any(|arg| self.number(arg).is_some())
            && stmt.outs.iter().any(|out| self.number(&Atom::Var(*out)).is_some())
    }

    /// A call of a function that may give back what it is given.
    fn call(&mut self, stmt: &Stmt, func: FuncId, args: &[Atom]) {
        let mut op = self.with_choices(&stmt.op);
        let mut outs = stmt.outs.clone();
        let mut known: FxHashMap<Var, Vec<Case>> = FxHashMap::default();
        if let (Some((copy, pairs)), Op::Call { func, .. }) = (self.code.ad.telling(func), &mut op) {
            if copy != *func {
                *func = copy;
                outs.extend(pairs.iter().map(|_| self.code.b.fresh("same".into(), Ty::BOOL)));
            }
            let tells = outs.iter().skip(outs.len() - pairs.len());
            for ((result, param), same) in pairs.iter().zip(tells) {
                let (out, arg) = (stmt.outs.get(*result), args.get(*param).and_then(|arg| self.number(arg)));
                if let (Some(out), Some(arg)) = (out, arg) {
                    known.entry(*out).or_default().push((Atom::Var(*same), Other::Number(arg)));
                }
            }
        }
        self.code.b.push(Stmt { outs: outs.clone(), op, span: stmt.span });
        self.define(&outs);
        for out in &stmt.outs {
            if let Some(cases) = known.remove(out) {
                self.know(*out, cases);
            }
        }
    }

    /// What a statement without blocks hands on.
    fn straight(&mut self, stmt: &Stmt) {
        let [out] = stmt.outs.as_slice() else { return };
        if self.number(&Atom::Var(*out)).is_none() {
            return;
        }
        if let Op::Copy(x) = &stmt.op
            && let Some(known) = self.number(x).and_then(|x| self.cases.get(&x)).cloned()
        {
            self.cases.insert(*out, known);
        }
        if let Op::Array(ArrayOp::Index, args) = &stmt.op
            && let [Atom::Var(array), indices @ ..] = args.as_slice()
        {
            self.elements.insert(*out, (*array, indices.to_vec()));
        }
        if let Op::Select { cond, then, otherwise } = &stmt.op {
            let cond = cond.clone();
            let otherwise = self.number(otherwise).map(|var| (self.not(cond.clone()), Other::Number(var)));
            let then = self.number(then).map(|var| (cond, Other::Number(var)));
            self.know(*out, then.into_iter().chain(otherwise).collect());
        }
    }

    /// Notes what a number may be, if it is not too much.
    fn know(&mut self, var: Var, cases: Vec<Case>) {
        if !cases.is_empty() && self.cost(&cases) <= MOST {
            self.cases.insert(var, cases);
        }
    }

    /// How many choices a use takes.
    fn cost(&self, cases: &[Case]) -> usize {
        let one = |(_, of): &Case| match of {
            Other::Number(var) => 1 + self.cases.get(var).map_or(0, |cases| self.cost(cases)),
            Other::Element(..) => 2,
        };
        cases.iter().map(one).sum()
    }

    fn not(&mut self, cond: Atom) -> Atom {
        self.code.b.typed1(Ty::BOOL, Op::Not(cond))
    }

    /// The operation on choices. What is chosen last gets its cotangent first, as the first operand does.
    fn with_choices(&mut self, op: &Op) -> Op {
        let mut atoms = Vec::new();
        op.for_each_atom(&mut |atom| atoms.push(atom.clone()));
        let mut chosen = self.chosen_all(&atoms).into_iter();
        let mut op = op.clone();
        op.for_each_atom_mut(&mut |atom| {
            if let Some(chosen) = chosen.next() {
                *atom = chosen;
            }
        });
        op
    }

    fn chosen_all(&mut self, atoms: &[Atom]) -> Vec<Atom> {
        let mut all: Vec<Atom> = atoms.iter().rev().map(|atom| self.chosen(atom)).collect();
        all.reverse();
        all
    }

    /// A use of an operand.
    fn chosen(&mut self, atom: &Atom) -> Atom {
        let known = self.number(atom).filter(|_| self.active.is_some());
        let Some(cases) = known.and_then(|var| self.cases.get(&var)).cloned() else { return atom.clone() };
        let Some(left) = self.left.checked_sub(self.cost(&cases)) else { return atom.clone() };
        self.left = left;
        let mut current = atom.clone();
        let name = self.code.b.name_of(atom).unwrap_or("x".into());
        for (cond, of) in cases.into_iter().rev() {
            let out = self.code.b.fresh(name, Ty::REAL);
            let op = match of {
                Other::Number(var) => {
                    let then = self.chosen(&Atom::Var(var));
                    self.chosen.insert(out);
                    Op::Select { cond, then, otherwise: current }
                }
                Other::Element(array, indices) => {
                    self.code.b.open();
                    let element = self.code.b.fresh(name, Ty::REAL);
                    let args = std::iter::once(Atom::Var(array)).chain(indices).collect();
                    let op = Op::Array(ArrayOp::Index, args);
                    self.code.b.push(Stmt { outs: vec![element], op, span: self.code.b.span() });
                    self.mark(element);
                    let then = self.code.b.close(vec![Atom::Var(element)]);
                    let otherwise = Block { results: vec![current], ..Block::default() };
                    Op::If { cond, then, otherwise }
                }
            };
            self.mark(out);
            self.code.b.push(Stmt { outs: vec![out], op, span: self.code.b.span() });
            current = Atom::Var(out);
        }
        current
    }

    /// What a result of a block is that was there before variable number `start`: in the order of bindings.
    fn out_of_around(&mut self, atom: &Atom, start: usize) -> Vec<Case> {
        let Some(var) = self.number(atom) else { return Vec::new() };
        let around = |this: &Self, var: &Var| this.order.get(var).is_some_and(|place| *place < start);
        if around(self, &var) {
            return vec![(Atom::Bool(true), Other::Number(var))];
        }
        if let Some((array, indices)) = self.elements.get(&var)
            && around(self, array)
            && indices.iter().all(|index| index.var().is_none_or(|index| around(self, &index)))
        {
            return vec![(Atom::Bool(true), Other::Element(*array, indices.clone()))];
        }
        let mut found: Vec<Case> = Vec::new();
        for (cond, of) in self.cases.get(&var).cloned().unwrap_or_default() {
            let inner = match of {
                Other::Number(var) => self.out_of_around(&Atom::Var(var), start),
                Other::Element(..) => Vec::new(),
            };
            for (also, of) in inner {
                let both = self.choose(cond.clone(), also, Atom::Bool(false));
                match found.iter().position(|(_, other)| *other == of) {
                    Some(place) => {
                        let (before, of) = found.swap_remove(place);
                        let either = self.choose(before, Atom::Bool(true), both);
                        found.push((either, of));
                    }
                    None => found.push((both, of)),
                }
            }
        }
        found
    }

    /// One of two truth values.
    fn choose(&mut self, cond: Atom, then: Atom, otherwise: Atom) -> Atom {
        match (&then, &otherwise) {
            (Atom::Bool(true), Atom::Bool(false)) => cond,
            _ if cond == Atom::Bool(true) => then,
            _ if cond == Atom::Bool(false) => otherwise,
            _ => self.code.b.typed1(Ty::BOOL, Op::Select { cond, then, otherwise }),
        }
    }

    fn branch(&mut self, stmt: &Stmt) {
        let start = self.order.len();
        let mut op = stmt.op.clone();
        // For each block, for each result, what it may be.
        let mut found: Vec<Vec<Vec<Case>>> = Vec::new();
        for arm in op.blocks_mut() {
            self.code.b.open();
            self.define(&arm.params);
            let results = self.block(arm);
            let handed =
                results.iter().zip(&stmt.outs).map(|(atom, out)| match self.number(&Atom::Var(*out)) {
                    Some(_) => self.out_of_around(atom, start),
                    None => Vec::new(),
                });
            found.push(handed.collect());
            let made = self.code.b.close(results);
            *arm = Block { params: std::mem::take(&mut arm.params), ..made };
        }
        let mut outs = stmt.outs.clone();
        let mut known: Vec<(Var, Vec<(Which, Other)>)> = Vec::new();
        for (place, out) in stmt.outs.iter().enumerate() {
            let mut others: Vec<Other> = Vec::new();
            for (_, of) in found.iter().filter_map(|arm| arm.get(place)).flatten() {
                if !others.contains(of) {
                    others.push(of.clone());
                }
            }
            let mut cases = Vec::new();
            for of in others.into_iter().take(MOST) {
                let holds = |arm: &Vec<Vec<Case>>| {
                    let mut cases = arm.get(place).into_iter().flatten();
                    cases.find(|(_, other)| *other == of).map_or(Atom::Bool(false), |(cond, _)| cond.clone())
                };
                let holds: Vec<Atom> = found.iter().map(holds).collect();
                cases.push((self.which(&mut op, &mut outs, holds), of));
            }
            known.push((*out, cases));
        }
        self.code.b.push(Stmt { outs: outs.clone(), op, span: stmt.span });
        self.define(&outs);
        for (out, cases) in known {
            let cases = cases.into_iter().map(|(which, of)| match which {
                Which::Holds(cond) => (cond, of),
                Which::Not(cond) => (self.not(cond), of),
            });
            let cases = cases.collect();
            self.know(out, cases);
        }
    }

    /// A truth value that a branch gives: in each block this one.
    fn which(&mut self, op: &mut Op, outs: &mut Vec<Var>, holds: Vec<Atom>) -> Which {
        if holds.iter().all(|atom| *atom == Atom::Bool(true)) {
            return Which::Holds(Atom::Bool(true));
        }
        if let Op::If { cond, .. } = op {
            match holds.as_slice() {
                [Atom::Bool(true), Atom::Bool(false)] => return Which::Holds(cond.clone()),
                [Atom::Bool(false), Atom::Bool(true)] => return Which::Not(cond.clone()),
                _ => {}
            }
        }
        let out = self.code.b.fresh("same".into(), Ty::BOOL);
        outs.push(out);
        for (arm, holds) in op.blocks_mut().into_iter().zip(holds) {
            arm.results.push(holds);
        }
        Which::Holds(Atom::Var(out))
    }

    /// What a loop begins with, if it is a number that is used elsewhere too.
    fn start(&self, param: Var, init: &Atom) -> Option<Var> {
        let var = self.number(init)?;
        self.number(&Atom::Var(param))?;
        let often = |var: &Var| self.uses.get(var).is_some_and(|count| *count > 1);
        let elsewhere = often(&var)
            || self.cases.contains_key(&var)
            || self.elements.get(&var).is_some_and(|(array, _)| often(array));
        elsewhere.then_some(var)
    }

    fn repeat(&mut self, stmt: &Stmt, parts: &Loop) {
        let params = parts.body.params.get(1..).unwrap_or_default();
        let starts: Vec<(Var, Var, Var)> = params
            .iter()
            .zip(&parts.init)
            .zip(&stmt.outs)
            .filter_map(|((param, init), out)| Some((*param, *out, self.start(*param, init)?)))
            .collect();
        let last = (parts.backward && !starts.is_empty())
            .then(|| self.code.b.int(IntOp::Sub, [parts.len.clone(), Atom::Int(1)]));
        let Op::Loop(mut made) = self.with_choices(&stmt.op) else { return };
        self.code.b.open();
        self.define(&parts.body.params);
        if let (Some(index), false) = (parts.body.params.first(), starts.is_empty()) {
            let begin = last.unwrap_or(Atom::Int(0));
            let first = self.code.b.called("first").compare(Compare::Eq, Atom::Var(*index), begin);
            for (param, _, start) in &starts {
                self.know(*param, vec![(first.clone(), Other::Number(*start))]);
            }
        }
        made.body = self.body(&parts.body);
        self.code.b.push(Stmt { outs: stmt.outs.clone(), op: Op::Loop(made), span: stmt.span });
        self.define(&stmt.outs);
        if starts.is_empty() || matches!(parts.len, Atom::Int(len) if len > 0) {
            return;
        }
        let none = self.code.b.called("none").compare(Compare::Eq, parts.len.clone(), Atom::Int(0));
        for (_, out, start) in starts {
            self.know(out, vec![(none.clone(), Other::Number(start))]);
        }
    }

    /// Closes the open block, a body of a loop.
    fn body(&mut self, block: &Block) -> Block {
        let results = self.block(block);
        let results = self.chosen_all(&results);
        let made = self.code.b.close(results);
        Block { params: block.params.clone(), ..made }
    }

    fn while_loop(&mut self, stmt: &Stmt, parts: &While) {
        let starts: Vec<(Var, Var, Var)> = parts
            .body
            .params
            .iter()
            .zip(&parts.init)
            .zip(&stmt.outs)
            .filter_map(|((param, init), out)| Some((*param, *out, self.start(*param, init)?)))
            .collect();
        let Op::While(mut made) = self.with_choices(&stmt.op) else { return };
        let (count, mut outs) = (parts.init.len(), stmt.outs.clone());
        let flags =
            (!starts.is_empty()).then(|| [(); 3].map(|()| self.code.b.fresh("first".into(), Ty::BOOL)));
        if let Some([_, first, _]) = flags {
            for (param, _, start) in &starts {
                self.know(*param, vec![(Atom::Var(first), Other::Number(*start))]);
            }
        }
        self.code.b.open();
        self.define(&parts.body.params);
        made.body = self.body(&parts.body);
        if let Some([tested, first, out]) = flags {
            made.init.push(Atom::Bool(true));
            made.cond.params.push(tested);
            made.body.params.insert(count, first);
            made.body.results.insert(count, Atom::Bool(false));
            outs.insert(count, out);
        }
        self.code.b.push(Stmt { outs: outs.clone(), op: Op::While(made), span: stmt.span });
        self.define(&outs);
        if let Some([_, _, none]) = flags {
            for (_, out, start) in starts {
                self.know(out, vec![(Atom::Var(none), Other::Number(start))]);
            }
        }
    }
}

/// When a number is another one.
enum Which {
    Holds(Atom),
    Not(Atom),
}
