//! The loops that collect.

use super::copies::{Copies, Place, from_arrays, plus, prune};
use super::plan::{Acc, Move, Plan};
use super::{Start, cost};
use crate::asked;
use crate::linear::Linear;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_base::Name;
use wengert_ir::build::Copier;
use wengert_ir::op::{ArrayOp, Compare, IntOp, Loop, Mode, Op};
use wengert_ir::{Atom, Block, Elem, Func, Stmt, Ty, Var};

/// What is computed again wherever it is collected takes as much work as this at most, or less than storing something.
const CHEAP: u32 = 8;

/// What of an iteration is stored, to be read where it is collected.
#[derive(Clone)]
enum Stored {
    /// These numbers.
    Numbers(FxHashSet<Var>),
    /// What is added at each of these places.
    Sums(Vec<Place>),
}

/// Makes them.
pub(super) struct Maker<'m, 's> {
    from: &'m Func,
    func: &'m mut Func,
    plan: &'m Plan<'s>,
    starts: Vec<Start>,
    scope: &'m FxHashSet<Var>,
    like: &'m Stmt,
    /// What is the same in all iterations, and how it is called before them.
    steady: Vec<(Var, Atom)>,
}

/// Arrays with what is stored, and what it is.
#[derive(Default)]
struct Arrays {
    numbers: Vec<(Var, Atom)>,
    sums: Vec<(Place, Atom)>,
}

impl<'m, 's> Maker<'m, 's> {
    pub(super) fn new(
        from: &'m Func,
        func: &'m mut Func,
        (plan, starts): (&'m Plan<'s>, Vec<Start>),
        (scope, like): (&'m FxHashSet<Var>, &'m Stmt),
    ) -> Maker<'m, 's> {
        Maker { from, func, plan, starts, scope, like, steady: Vec::new() }
    }

    /// What stands for the loop.
    pub(super) fn made(mut self) -> Vec<Stmt> {
        let mut made = self.lifted();
        let stored = self.stored();
        let outs = self.collected(&stored, &mut made);
        let copied =
            |(var, atom): (&Var, Atom)| Stmt { outs: vec![*var], op: Op::Copy(atom), span: self.like.span };
        if self.plan.needed.is_empty() {
            made.extend(self.like.outs.iter().zip(outs).map(copied));
            return made;
        }
        let then = Block { params: Vec::new(), stmts: made, results: outs };
        let mut whole = self.like.clone();
        whole.outs = self.like.outs.iter().map(|out| self.func.vars.push(*self.from.vars.at(*out))).collect();
        let results = whole.outs.iter().copied().map(Atom::Var).collect();
        let mut otherwise = Block { params: Vec::new(), stmts: self.zeros(&mut whole), results };
        otherwise.stmts.push(whole);
        let mut stmts = Vec::new();
        let cond = self.asked(&mut stmts);
        let outs = self.like.outs.clone();
        stmts.push(Stmt { outs, op: Op::If { cond, then, otherwise }, span: self.like.span });
        stmts
    }

    /// What is the same in all iterations: it is computed once, before the loops that collect.
    fn lifted(&mut self) -> Vec<Stmt> {
        let mut copier = Copier::new(self.from);
        let mut made = Vec::new();
        for stmt in self.plan.levels.iter().flat_map(|parts| &parts.body.stmts) {
            if let [out] = stmt.outs.as_slice()
                && self.plan.steady.contains(out)
            {
                made.push(copier.stmt(self.func, stmt));
                self.steady.push((*out, copier.atom(&Atom::Var(*out))));
            }
        }
        made
    }

    /// Zeros to which the loop as it was adds: only that needs them.
    fn zeros(&mut self, whole: &mut Stmt) -> Vec<Stmt> {
        let Op::Loop(parts) = &mut whole.op else { return Vec::new() };
        let mut made = Vec::new();
        for (acc, start) in self.plan.accs.iter().zip(&self.starts) {
            if let (Start::Zeros(like), Some(from)) = (start, parts.accs.get_mut(acc.at))
                && let Some(var) = from.var().filter(|_| like != from)
            {
                let zeros = self.func.vars.push(*self.from.vars.at(var));
                let op = Op::Array(ArrayOp::Zeros, vec![like.clone()]);
                made.push(Stmt { outs: vec![zeros], op, span: self.like.span });
                *from = Atom::Var(zeros);
            }
        }
        made
    }

    fn push(&mut self, out: &mut Vec<Stmt>, name: &str, ty: Ty, op: Op) -> Atom {
        asked::push(self.func, (out, self.like.span), (name, ty), op)
    }

    fn int(&mut self, out: &mut Vec<Stmt>, op: IntOp, a: Atom, b: Atom) -> Atom {
        asked::int(self.func, (out, self.like.span), op, a, b)
    }

    /// The integer that a sum is.
    fn number(&mut self, out: &mut Vec<Stmt>, form: &Linear) -> Atom {
        asked::number(self.func, (out, self.like.span), form)
    }

    /// Whether all holds that is needed.
    fn asked(&mut self, out: &mut Vec<Stmt>) -> Atom {
        asked::not_negative(self.func, (out, self.like.span), &self.plan.needed)
    }

    fn both(&mut self, out: &mut Vec<Stmt>, a: Atom, b: Atom) -> Atom {
        asked::both(self.func, (out, self.like.span), a, b)
    }

    /// All places to which something is added.
    fn places(&self) -> Vec<Place> {
        let each = |(which, acc): (usize, &Acc)| (0..acc.moves.len()).map(move |number| (which, number));
        self.plan.accs.iter().enumerate().flat_map(each).collect()
    }

    /// What is best stored.
    fn stored(&mut self) -> Stored {
        let vars = self.func.vars.clone();
        let none = Stored::Numbers(FxHashSet::default());
        let (mut best, mut least) = (none.clone(), self.work(&none));
        if least > CHEAP {
            let body = self.plan.levels.last().map(|parts| &parts.body.stmts);
            let real = |out: &Var| self.from.ty(*out) == Ty::REAL;
            let made = body.into_iter().flatten().filter(|stmt| {
                !stmt.outs.is_empty()
                    && stmt.outs.iter().all(|out| real(out) && !self.plan.tracked.contains_key(out))
            });
            let numbers = made.map(|stmt| Stored::Numbers(stmt.outs.iter().copied().collect()));
            let all = numbers.chain([Stored::Sums(self.places())]).collect::<Vec<_>>();
            for stored in all {
                let work = self.work(&stored);
                if work < least {
                    (best, least) = (stored, work);
                }
            }
        }
        self.func.vars = vars;
        best
    }

    /// The work of a way to do it.
    fn work(&mut self, stored: &Stored) -> u32 {
        let mut work = 0u32;
        let count = match stored {
            Stored::Numbers(numbers) => numbers.len(),
            Stored::Sums(places) => places.len(),
        };
        let mut arrays = self.arrays(stored);
        if count > 0 {
            let (wanted, there) = (wanted(stored), FxHashSet::default());
            let mut copies = Copies::new(self.from, self.plan, &wanted, &there);
            let mut block = Block::default();
            for parts in &self.plan.levels {
                copies.stmts(self.func, &self.before(parts), &mut block.stmts);
            }
            block.results = self.results(&copies, stored);
            prune(&mut block);
            let count = u32::try_from(count).unwrap_or(u32::MAX);
            work = cost::of(&block).saturating_add(cost::STORED.saturating_mul(count));
        }
        let indices: Vec<Atom> = self.plan.levels.iter().map(|_| Atom::Int(0)).collect();
        for place in self.places() {
            let block = self.part(place, &indices, &mut arrays);
            work = work.saturating_add(cost::of(&block));
        }
        work
    }

    /// Arrays for what is stored.
    fn arrays(&mut self, stored: &Stored) -> Arrays {
        let ty = Ty::Array(Elem::Real, u8::try_from(self.plan.levels.len()).unwrap_or(1));
        let mut made = Arrays::default();
        match stored {
            Stored::Numbers(numbers) => {
                let mut numbers: Vec<Var> = numbers.iter().copied().collect();
                numbers.sort_unstable();
                for var in numbers {
                    let array = self.func.fresh(self.from.vars.at(var).name, ty);
                    made.numbers.push((var, Atom::Var(array)));
                }
            }
            Stored::Sums(places) => {
                for place in places {
                    let array = self.func.fresh(Name::new("sums"), ty);
                    made.sums.push((*place, Atom::Var(array)));
                }
            }
        }
        made
    }

    /// The statements of a loop but for the loop in it.
    fn before(&self, parts: &Loop) -> Vec<Stmt> {
        let inner = self.plan.inner.map(|stmt| &stmt.outs);
        parts.body.stmts.iter().filter(|stmt| Some(&stmt.outs) != inner).cloned().collect()
    }

    /// What a copy has of what is stored.
    fn results(&self, copies: &Copies<'_, '_>, stored: &Stored) -> Vec<Atom> {
        match stored {
            Stored::Numbers(numbers) => {
                let mut numbers: Vec<Var> = numbers.iter().copied().collect();
                numbers.sort_unstable();
                numbers.into_iter().map(|var| copies.copier.atom(&Atom::Var(var))).collect()
            }
            Stored::Sums(places) => {
                let ends = |which: usize| {
                    let body = &self.plan.levels.last()?.body;
                    body.results.iter().find(|result| self.plan.which(result) == Some(which))
                };
                let sum = |(at, (which, _)): (usize, &Place)| {
                    let sums = ends(*which).map(|end| copies.added(end)).unwrap_or_default();
                    sums.get(at).cloned().unwrap_or(Atom::Real(0.0))
                };
                places.iter().enumerate().map(sum).collect()
            }
        }
    }

    /// What is added at a place by the iteration with these indices.
    fn part(&mut self, place: Place, indices: &[Atom], arrays: &mut Arrays) -> Block {
        let mut block = Block::default();
        if let Some((_, sums)) = arrays.sums.iter().find(|(other, _)| *other == place) {
            let args = [sums.clone()].into_iter().chain(indices.iter().cloned()).collect();
            let sum = self.push(&mut block.stmts, "sum", Ty::REAL, Op::Array(ArrayOp::Index, args));
            block.results.push(sum);
            return block;
        }
        let known = arrays.numbers.iter().map(|(var, _)| *var);
        let (wanted, there) = ([place], known.chain(self.steady.iter().map(|(var, _)| *var)).collect());
        let mut copies = Copies::new(self.from, self.plan, &wanted, &there);
        self.steady.iter().for_each(|(var, name)| copies.copier.set(*var, name.clone()));
        for (var, array) in &arrays.numbers {
            let args = [array.clone()].into_iter().chain(indices.iter().cloned()).collect();
            let number = self.func.vars.push(*self.from.vars.at(*var));
            let op = Op::Array(ArrayOp::Index, args);
            block.stmts.push(Stmt { outs: vec![number], op, span: self.like.span });
            copies.copier.set(*var, Atom::Var(number));
        }
        for (parts, index) in self.plan.levels.iter().zip(indices) {
            let (first, params) = (1 + parts.accs.len(), &parts.body.params);
            if let Some(param) = params.first() {
                copies.copier.set(*param, index.clone());
            }
            for (param, input) in params.iter().skip(first).zip(&parts.inputs) {
                let args = vec![copies.copier.atom(input), index.clone()];
                let row = copies.copier.bind(self.func, *param);
                let op = Op::Array(ArrayOp::Index, args);
                block.stmts.push(Stmt { outs: vec![row], op, span: self.like.span });
            }
            let stmts = self.before(parts);
            copies.stmts(self.func, &stmts, &mut block.stmts);
        }
        let end = self.plan.levels.last().and_then(|parts| {
            parts.body.results.iter().find(|result| self.plan.which(result) == Some(place.0))
        });
        block.results = end.map(|end| copies.added(end)).unwrap_or_default();
        from_arrays(&mut block, &mut FxHashMap::default());
        prune(&mut block);
        block
    }

    /// The loops, and what they give for each result of the loop.
    fn collected(&mut self, stored: &Stored, made: &mut Vec<Stmt>) -> Vec<Atom> {
        let mut arrays = self.arrays(stored);
        let others = self.others(stored, &arrays, made);
        let mut outs: Vec<Atom> = Vec::new();
        let mut others = others.into_iter();
        for at in 0..self.like.outs.len() {
            match self.plan.accs.iter().position(|acc| acc.at == at) {
                Some(which) => {
                    let array = self.gathered(which, &mut arrays, made);
                    outs.push(array);
                }
                None => outs.extend(others.next()),
            }
        }
        outs
    }

    /// What the loop does besides: gives what it gives but for the arrays to which it adds. And stores what is to be stored.
    fn others(&mut self, stored: &Stored, arrays: &Arrays, made: &mut Vec<Stmt>) -> Vec<Atom> {
        let (wanted, there) = (wanted(stored), FxHashSet::default());
        let mut copies = Copies::new(self.from, self.plan, &wanted, &there);
        let more: Vec<Atom> = arrays
            .numbers
            .iter()
            .map(|(_, array)| array.clone())
            .chain(arrays.sums.iter().map(|(_, array)| array.clone()))
            .collect();
        let more: Vec<Var> = more.iter().filter_map(Atom::var).collect();
        let mut outs = self.level(0, &mut copies, (stored, &more), self.like);
        let given = outs.outs.len() - more.len();
        let kept = outs.outs.iter().take(given).copied().map(Atom::Var).collect();
        if !outs.outs.is_empty() {
            if let Op::Loop(parts) = &mut outs.op {
                prune(&mut parts.body);
            }
            made.push(outs);
        }
        kept
    }

    /// A loop without the arrays to which it adds, which gives `more` besides.
    fn level(
        &mut self,
        level: usize,
        copies: &mut Copies<'_, '_>,
        (stored, more): (&Stored, &[Var]),
        stmt: &Stmt,
    ) -> Stmt {
        let Some(parts) = self.plan.levels.get(level) else { return stmt.clone() };
        let body = &parts.body;
        let len = copies.copier.atom(&parts.len);
        let inputs = parts.inputs.iter().map(|input| copies.copier.atom(input)).collect();
        let own = |param: &Var| !self.plan.tracked.contains_key(param);
        let params = body.params.iter().copied().filter(own).collect::<Vec<Var>>();
        let params = params.into_iter().map(|param| copies.copier.bind(self.func, param)).collect();
        let kept = |at: usize| body.params.get(1 + at).is_some_and(own);
        let accs: Vec<Atom> = parts
            .accs
            .iter()
            .enumerate()
            .filter(|(at, _)| kept(*at))
            .map(|(_, acc)| copies.copier.atom(acc))
            .collect();
        let (mut stmts, mut last) = (Vec::new(), Vec::new());
        let at =
            |stmt: &Stmt| self.plan.inner.filter(|_| level == 0).is_some_and(|inner| inner.outs == stmt.outs);
        for stmt in &body.stmts {
            if at(stmt) {
                let rows: Vec<Var> = more
                    .iter()
                    .map(|array| self.func.fresh(self.func.vars.at(*array).name, Ty::Array(Elem::Real, 1)))
                    .collect();
                let made = self.level(1, copies, (stored, &rows), stmt);
                stmts.push(made);
                last.extend(rows.into_iter().map(Atom::Var));
            } else {
                copies.stmts(self.func, std::slice::from_ref(stmt), &mut stmts);
            }
        }
        if level + 1 == self.plan.levels.len() {
            last = self.results(copies, stored);
        }
        let mut results: Vec<Atom> = Vec::new();
        let mut outs: Vec<Var> = Vec::new();
        for (at, (result, out)) in body.results.iter().zip(&stmt.outs).enumerate() {
            let is_array = at < parts.accs.len() && !kept(at);
            if !is_array {
                results.push(copies.copier.atom(result));
                outs.push(copies.copier.bind(self.func, *out));
            }
        }
        results.extend(last);
        outs.extend(more);
        let body = Block { params, stmts, results };
        let op =
            Loop { mode: Mode::Each, backward: parts.backward, len, inputs, init: Vec::new(), accs, body };
        Stmt { outs, op: Op::Loop(Box::new(op)), span: stmt.span }
    }

    /// The size of an array along an axis.
    fn size(&mut self, which: usize, axis: usize, made: &mut Vec<Stmt>) -> Atom {
        let Some(acc) = self.plan.accs.get(which) else { return Atom::Int(0) };
        let known = acc.sizes.get(axis).and_then(Linear::atom);
        if let Some(atom) = known
            && atom.var().is_none_or(|var| self.scope.contains(&var))
        {
            return atom;
        }
        let array = match self.starts.get(which) {
            Some(Start::Zeros(like)) => like.clone(),
            Some(Start::Array) | None => acc.start.clone(),
        };
        let axis = ArrayOp::Length(u8::try_from(axis).unwrap_or(0));
        self.push(made, "n", Ty::INT, Op::Array(axis, vec![array]))
    }

    /// The loop that collects what is added to an array.
    fn gathered(&mut self, which: usize, arrays: &mut Arrays, made: &mut Vec<Stmt>) -> Atom {
        let axes = self.plan.levels.len();
        let sizes: Vec<Atom> = (0..axes).map(|axis| self.size(which, axis, made)).collect();
        let Some(acc) = self.plan.accs.get(which) else { return Atom::Unit };
        let indices: Vec<Var> = sizes.iter().map(|_| self.func.fresh(Name::new("j"), Ty::INT)).collect();
        let has_start = matches!(self.starts.get(which), Some(Start::Array) | None);
        // The names of the array, its rows, and its elements.
        let rows: Vec<Var> = (1..=axes)
            .map(|axis| {
                let ty = self.from.type_of(&acc.start).at(axis).unwrap_or(Ty::REAL);
                self.func.fresh(Name::new("before"), ty)
            })
            .collect();
        let places: Vec<Atom> = indices.iter().copied().map(Atom::Var).collect();
        let mut body = Vec::new();
        let mut sum = rows.last().filter(|_| has_start).map_or(Atom::Real(0.0), |row| Atom::Var(*row));
        for number in 0..acc.moves.len() {
            let more = self.given_there((which, number), &places, &sizes, arrays, &mut body);
            sum = plus(self.func, sum, more, self.like, &mut body);
        }
        let mut inner = (body, sum);
        for (axis, (index, len)) in indices.iter().zip(sizes).enumerate().rev() {
            let mut params = vec![*index];
            let mut inputs = Vec::new();
            if has_start {
                params.extend(rows.get(axis));
                let row = axis.checked_sub(1).and_then(|before| rows.get(before));
                inputs.push(row.map_or_else(|| acc.start.clone(), |row| Atom::Var(*row)));
            }
            let body = Block { params, stmts: inner.0, results: vec![inner.1] };
            let parts = Loop {
                mode: Mode::Each,
                backward: false,
                len,
                inputs,
                init: Vec::new(),
                accs: Vec::new(),
                body,
            };
            let ty = Ty::Array(Elem::Real, u8::try_from(axes - axis).unwrap_or(1));
            let mut stmts = Vec::new();
            let array = self.push(&mut stmts, "collected", ty, Op::Loop(Box::new(parts)));
            inner = (stmts, array);
        }
        made.append(&mut inner.0);
        inner.1
    }

    /// What comes to a place from the iteration that adds there, if there is one.
    fn given_there(
        &mut self,
        place: Place,
        here: &[Atom],
        sizes: &[Atom],
        arrays: &mut Arrays,
        out: &mut Vec<Stmt>,
    ) -> Atom {
        let Some(acc) = self.plan.accs.get(place.0) else { return Atom::Real(0.0) };
        let Some(moves) = acc.moves.get(place.1) else { return Atom::Real(0.0) };
        let (mut cond, mut indices) = (Atom::Bool(true), Vec::new());
        for (axis, (step, here)) in moves.iter().zip(here).enumerate() {
            let (index, some) = self.back(acc, axis, *step, (here, sizes.get(axis)), out);
            indices.push(index);
            for holds in some {
                cond = self.both(out, cond, holds);
            }
        }
        let mut then = self.part(place, &indices, arrays);
        self.around(&mut then, out);
        if cond == Atom::Bool(true) {
            out.append(&mut then.stmts);
            return then.results.pop().unwrap_or(Atom::Real(0.0));
        }
        let otherwise = Block { params: Vec::new(), stmts: Vec::new(), results: vec![Atom::Real(0.0)] };
        self.push(out, "from", Ty::REAL, Op::If { cond, then, otherwise })
    }

    /// In a copy for an iteration that is itself a remainder: remainders of sums with that by the same divisor are those of sums with what it
    /// is the remainder of.
    fn around(&mut self, block: &mut Block, before: &[Stmt]) {
        let remainder = |stmt: &Stmt| match (&stmt.op, stmt.outs.as_slice()) {
            (Op::Int(IntOp::Rem, args), [out]) => match args.as_slice() {
                [whole, by] => Some((*out, whole.clone(), by.clone())),
                _ => None,
            },
            _ => None,
        };
        let known: Vec<(Var, Atom, Atom)> = before.iter().filter_map(remainder).collect();
        if known.is_empty() {
            return;
        }
        let mut sums: FxHashMap<Var, Linear> = FxHashMap::default();
        let mut made = Vec::with_capacity(block.stmts.len());
        for mut stmt in std::mem::take(&mut block.stmts) {
            let value = |atom: &Atom| match atom {
                Atom::Int(n) => Some(Linear::constant(*n)),
                _ => atom.var().map(|var| sums.get(&var).cloned().unwrap_or_else(|| Linear::of(var))),
            };
            if let (Op::Int(op, args), [out]) = (&stmt.op, stmt.outs.as_slice())
                && let [a, b] = args.as_slice()
                && let (Some(x), Some(y)) = (value(a), value(b))
            {
                match op {
                    IntOp::Add => drop(sums.insert(*out, x.plus(&y))),
                    IntOp::Sub => drop(sums.insert(*out, x.minus(&y))),
                    IntOp::Rem | IntOp::ModFloor => {
                        let inner =
                            known.iter().find(|(var, _, by)| by == b && x.vars().any(|other| other == *var));
                        let whole = inner.and_then(|(var, whole, _)| {
                            let rest = x.minus(&Linear::of(*var));
                            let once = rest.vars().all(|other| other != *var);
                            whole.var().filter(|_| once).map(|whole| rest.plus(&Linear::of(whole)))
                        });
                        if let Some(whole) = whole {
                            let (op, by) = (*op, b.clone());
                            let whole = self.number(&mut made, &whole);
                            stmt.op = Op::Int(op, vec![whole, by]);
                        }
                    }
                    _ => {}
                }
            }
            made.push(stmt);
        }
        block.stmts = made;
    }

    /// The iteration that adds at a place, and what must hold so that there is one.
    fn back(
        &mut self,
        acc: &Acc,
        axis: usize,
        step: Move,
        (here, size): (&Atom, Option<&Atom>),
        out: &mut Vec<Stmt>,
    ) -> (Atom, Vec<Atom>) {
        let mut some = Vec::new();
        match step {
            Move::By(by) => {
                let index = self.int(out, IntOp::Sub, here.clone(), Atom::Int(by));
                if by > 0 {
                    let op = Op::Compare(Compare::Ge, here.clone(), Atom::Int(by));
                    some.push(self.push(out, "c", Ty::BOOL, op));
                }
                let lens = self.plan.lens.get(axis).zip(acc.sizes.get(axis));
                let rest = lens.and_then(|(len, size)| len.minus(size).atom());
                let all = matches!(rest, Some(Atom::Int(more)) if more.wrapping_add(by) >= 0);
                if !all && let Some(parts) = self.plan.levels.get(axis) {
                    let op = Op::Compare(Compare::Lt, index.clone(), parts.len.clone());
                    some.push(self.push(out, "c", Ty::BOOL, op));
                }
                (index, some)
            }
            Move::Round(by) => {
                let size = size.cloned().unwrap_or(Atom::Int(1));
                let whole =
                    if by > 0 { self.int(out, IntOp::Add, here.clone(), size.clone()) } else { here.clone() };
                let whole = self.int(out, IntOp::Sub, whole, Atom::Int(by));
                (self.int(out, IntOp::Rem, whole, size), some)
            }
        }
    }
}

/// The sums that are wanted for what is stored.
fn wanted(stored: &Stored) -> Vec<Place> {
    match stored {
        Stored::Numbers(_) => Vec::new(),
        Stored::Sums(places) => places.clone(),
    }
}
