//! What is known of integers where a loop runs: sums, what is not negative, and what conditions say on the sides of branches.
//!
//! What is not known there, but can be asked before the loop, is noted: `n - 2 >= 0`.

#![expect(clippy::wildcard_enum_match_arm, reason = "of what is not listed nothing is known")]

use crate::facts::is_safe;
use crate::linear::Linear;
use crate::said;
use crate::sizes::{Shape, without_quotients};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::{ArrayOp, Compare, IntOp, Loop, Mode, Op};
use wengert_ir::program::FuncId;
use wengert_ir::{Atom, Block, Func, Stmt, Ty, Var};

/// By which integers something is multiplied in a sum.
const FACTORS: std::ops::Range<i64> = 1..16;

/// What is known of the integers and truth values of a function.
pub(crate) struct Facts<'f> {
    func: &'f Func,
    shapes: &'f FxHashMap<Var, Shape>,
    total: &'f FxHashSet<FuncId>,
    values: FxHashMap<Var, Linear>,
    natural: FxHashSet<Var>,
    conds: FxHashMap<Var, Op>,
    /// What the sizes of arrays are called outside of loops.
    lengths: FxHashMap<(Var, u8), Var>,
    /// Remainders: of what, and by what.
    remainders: FxHashMap<Var, (Linear, Linear)>,
    /// Quotients that are not negative: of what, and by which number.
    quotients: FxHashMap<Var, (Linear, i64)>,
}

impl<'f> Facts<'f> {
    pub(crate) fn new(
        func: &'f Func,
        body: &Block,
        shapes: &'f FxHashMap<Var, Shape>,
        total: &'f FxHashSet<FuncId>,
    ) -> Facts<'f> {
        let mut facts = Facts {
            func,
            shapes,
            total,
            values: FxHashMap::default(),
            natural: FxHashSet::default(),
            conds: FxHashMap::default(),
            lengths: lengths(body),
            remainders: FxHashMap::default(),
            quotients: FxHashMap::default(),
        };
        // What is required before any loop holds in all of them, also in those of branches.
        let loops = |stmt: &Stmt| matches!(stmt.op, Op::Loop(_) | Op::While(_));
        let has_none = |stmt: &&Stmt| {
            !loops(stmt)
                && stmt.op.blocks().into_iter().all(|inner| inner.all_stmts(&mut |stmt| !loops(stmt)))
        };
        for stmt in body.stmts.iter().take_while(has_none) {
            facts.note(stmt);
            facts.require(stmt);
        }
        body.for_each_stmt(&mut |stmt| facts.note(stmt));
        facts
    }

    /// Of two sizes that are required to be equal, one is called as the other.
    fn require(&mut self, stmt: &Stmt) {
        let Op::Require { what: _, left, right } = &stmt.op else { return };
        let difference = self.value(left).zip(self.value(right)).map(|(left, right)| left.minus(&right));
        if let Some((var, value)) = difference.and_then(|difference| difference.solve()) {
            self.values.insert(var, value);
        }
    }

    fn note(&mut self, stmt: &Stmt) {
        if let Op::Loop(parts) = &stmt.op {
            self.natural.extend(parts.body.params.first());
        }
        let [out] = stmt.outs.as_slice() else { return };
        match &stmt.op {
            Op::Int(op, args) => {
                let args: Vec<Linear> = args.iter().filter_map(|arg| self.value(arg)).collect();
                if let (IntOp::Rem | IntOp::ModFloor, [whole, by]) = (op, args.as_slice()) {
                    self.remainders.insert(*out, (whole.clone(), by.clone()));
                }
                if let (IntOp::Div | IntOp::DivFloor, [whole, by]) = (op, args.as_slice())
                    && let Some(Atom::Int(by @ 1..)) = by.atom()
                    && whole.is_sum_of(&|var| self.natural.contains(&var))
                {
                    self.natural.insert(*out);
                    self.quotients.insert(*out, (whole.clone(), by));
                }
                let value = match (op, args.as_slice()) {
                    (IntOp::Add, [a, b]) => a.plus(b),
                    (IntOp::Sub, [a, b]) => a.minus(b),
                    (IntOp::Neg, [a]) => a.times(-1),
                    (IntOp::Mul, [a, b]) => match (a.atom(), b.atom()) {
                        (Some(Atom::Int(n)), _) if FACTORS.contains(&n) => b.times(n),
                        (_, Some(Atom::Int(n))) if FACTORS.contains(&n) => a.times(n),
                        (_, _) => return,
                    },
                    _ => return,
                };
                if value.is_small() {
                    self.values.insert(*out, value);
                }
            }
            Op::Copy(x) if self.func.ty(*out) == Ty::INT => {
                self.values.extend(self.value(x).map(|value| (*out, value)));
            }
            Op::Array(ArrayOp::Length(axis), args) => {
                self.natural.insert(*out);
                let size = args.first().and_then(|array| self.size(array, usize::from(*axis)));
                let named =
                    args.first().and_then(Atom::var).and_then(|array| self.lengths.get(&(array, *axis)));
                let named = named.filter(|named| *named != out).map(|named| Linear::of(*named));
                self.values.extend(size.filter(|_| *axis == 0).or(named).map(|size| (*out, size)));
            }
            Op::Compare(..) | Op::Not(_) | Op::Select { .. } | Op::Copy(_)
                if self.func.ty(*out) == Ty::BOOL =>
            {
                self.conds.insert(*out, stmt.op.clone());
            }
            _ => {}
        }
    }

    /// An integer as a sum.
    pub(crate) fn value(&self, atom: &Atom) -> Option<Linear> {
        match atom {
            Atom::Int(n) => Some(Linear::constant(*n)),
            Atom::Var(var) => Some(self.values.get(var).cloned().unwrap_or_else(|| Linear::of(*var))),
            _ => None,
        }
    }

    /// The comparisons of integers that a condition is, or its opposite, if it is nothing else.
    pub(crate) fn said(&self, cond: &Atom, holds: bool) -> Option<Vec<(Compare, Linear, Linear)>> {
        let said = said::conjunction(cond, holds, &self.conds)?.into_iter();
        said.map(|(compare, a, b)| {
            let numbers = [&a, &b].iter().all(|x| self.func.type_of(x) == Ty::INT);
            Some((compare, self.value(&a).filter(|_| numbers)?, self.value(&b)?))
        })
        .collect()
    }

    /// What it is the remainder of, and by what.
    pub(crate) fn remainder(&self, atom: &Atom) -> Option<&(Linear, Linear)> {
        self.remainders.get(&atom.var()?)
    }

    /// The size of an array along an axis.
    pub(crate) fn size(&self, array: &Atom, axis: usize) -> Option<Linear> {
        let known = self.shapes.get(&array.var()?)?.get(axis)?.clone()?;
        // Sizes may be called by names that are sums themselves.
        let vars: Vec<Var> = known.vars().collect();
        let replaced = vars.into_iter().fold(known, |form, var| match self.values.get(&var) {
            Some(value) => form.replace(var, value),
            None => form,
        });
        Some(replaced)
    }
}

/// The first name of the size of an array along each axis.
fn lengths(body: &Block) -> FxHashMap<(Var, u8), Var> {
    let mut lengths = FxHashMap::default();
    for stmt in &body.stmts {
        if let (Op::Array(ArrayOp::Length(axis), args), [out]) = (&stmt.op, stmt.outs.as_slice())
            && let Some(array) = args.first().and_then(Atom::var)
        {
            lengths.entry((array, *axis)).or_insert(*out);
        }
    }
    lengths
}

/// Walks through loops, and finds whether all that they do can be done, and what has to be asked before.
pub(crate) struct Walk<'w, 'f> {
    facts: &'w Facts<'f>,
    /// Remainders that are not negative.
    natural: FxHashSet<Var>,
    /// What is not negative here.
    known: Vec<Linear>,
    /// What must not be negative, which is to be asked before.
    pub(crate) needed: Vec<Linear>,
    /// What the loops bind, and the largest that an index can be.
    inside: FxHashSet<Var>,
    last: FxHashMap<Var, Linear>,
    /// Sizes that are taken to be others.
    equal: &'w [(Var, Linear)],
}

impl<'w, 'f> Walk<'w, 'f> {
    pub(crate) fn new(facts: &'w Facts<'f>, equal: &'w [(Var, Linear)]) -> Walk<'w, 'f> {
        Walk {
            facts,
            equal,
            natural: FxHashSet::default(),
            known: Vec::new(),
            needed: Vec::new(),
            inside: FxHashSet::default(),
            last: FxHashMap::default(),
        }
    }

    fn is_sum(&self, form: &Linear) -> bool {
        form.is_sum_of(&|var| self.natural.contains(&var) || self.facts.natural.contains(&var))
    }

    fn value(&self, atom: &Atom) -> Option<Linear> {
        self.facts.value(atom).map(|value| settled(value, self.equal))
    }

    /// Notes the index of a loop.
    pub(crate) fn enter(&mut self, parts: &Loop) -> Option<()> {
        let (index, len) = (*parts.body.params.first()?, self.value(&parts.len)?);
        let last = len.minus(&Linear::constant(1));
        self.known.push(last.minus(&Linear::of(index)));
        self.last.insert(index, last);
        self.inside.extend(&parts.body.params);
        Some(())
    }

    /// Whether nothing in a block fails, if what is needed holds.
    pub(crate) fn block(&mut self, block: &Block) -> Option<()> {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            for stmt in &block.stmts {
                self.stmt(stmt)?;
                self.inside.extend(&stmt.outs);
            }
            Some(())
        })
    }

    fn stmt(&mut self, stmt: &Stmt) -> Option<()> {
        let mark = self.known.len();
        match &stmt.op {
            Op::If { cond, then, otherwise } => {
                for (side, holds) in [(then, true), (otherwise, false)] {
                    self.learn(cond, holds);
                    self.block(side)?;
                    self.known.truncate(mark);
                }
            }
            Op::Loop(parts) if parts.mode != Mode::Reduce => {
                self.enter(parts)?;
                self.block(&parts.body)?;
                self.known.truncate(mark);
            }
            Op::Array(ArrayOp::Index, args) => self.places(args.first()?, args.get(1..)?)?,
            Op::Array(ArrayOp::AddAt, args) => {
                let (_, args) = args.split_last()?;
                self.places(args.first()?, args.get(1..)?)?;
            }
            Op::Int(IntOp::Rem | IntOp::ModFloor, args) => self.remainder(stmt, args)?,
            Op::Require { what: _, left, right } => {
                let difference = self.value(left)?.minus(&self.value(right)?);
                self.need(&difference)?;
                self.need(&difference.times(-1))?;
            }
            op => return (is_safe(op, self.facts.total) && op.blocks().is_empty()).then_some(()),
        }
        Some(())
    }

    /// What a remainder is: below the divisor, and not negative.
    fn remainder(&mut self, stmt: &Stmt, args: &[Atom]) -> Option<()> {
        let ([whole, by], [out]) = (args, stmt.outs.as_slice()) else { return None };
        let (whole, by) = (self.value(whole)?, self.value(by)?);
        let less = by.minus(&Linear::constant(1));
        self.need(&less)?;
        if matches!(stmt.op, Op::Int(IntOp::ModFloor, _)) || self.need(&whole).is_some() {
            self.natural.insert(*out);
        }
        self.known.push(less.minus(&Linear::of(*out)));
        Some(())
    }

    /// These are places of an array.
    fn places(&mut self, array: &Atom, indices: &[Atom]) -> Option<()> {
        for (axis, index) in indices.iter().enumerate() {
            let (index, size) = (self.value(index)?, settled(self.facts.size(array, axis)?, self.equal));
            self.need(&index)?;
            self.need(&size.minus(&index).minus(&Linear::constant(1)))?;
        }
        Some(())
    }

    fn holds(&self, form: &Linear) -> bool {
        let fact = |known: &Linear| self.is_sum(&form.minus(known));
        let two = |one: &Linear| {
            let rest = form.minus(one);
            self.known.iter().any(|other| self.is_sum(&rest.minus(other)))
        };
        let quotients = || {
            let some = form.vars().any(|var| self.facts.quotients.contains_key(&var));
            some && self.is_sum(&without_quotients(form, &self.facts.quotients))
        };
        self.is_sum(form) || self.known.iter().any(fact) || self.known.iter().any(two) || quotients()
    }

    /// This must not be negative: it is known, or can be asked before the loop.
    fn need(&mut self, form: &Linear) -> Option<()> {
        if self.holds(form) {
            return Some(());
        }
        // The least that it can be.
        let mut least = form.clone();
        let vars: Vec<Var> = form.vars().filter(|var| self.last.contains_key(var)).collect();
        for var in vars {
            let first = least.replace(var, &Linear::constant(0));
            let rises = self.is_sum(&least.minus(&first));
            least = if rises { first } else { least.replace(var, self.last.get(&var)?) };
        }
        if least.vars().any(|var| self.inside.contains(&var)) {
            return None;
        }
        if least.vars().next().is_none() && !self.is_sum(&least) {
            return None;
        }
        if !self.holds(&least) && !self.needed.contains(&least) {
            self.needed.push(least);
        }
        Some(())
    }

    /// A condition holds here, or it does not.
    fn learn(&mut self, cond: &Atom, holds: bool) {
        for (compare, a, b) in said::comparisons(cond, holds, &self.facts.conds) {
            let numbers = [&a, &b].iter().all(|x| self.facts.func.type_of(x) == Ty::INT);
            if let (Some(a), Some(b)) = (self.value(&a), self.value(&b))
                && numbers
            {
                let known = said::not_negative(compare, &a.minus(&b), |form| self.holds(form));
                self.known.extend(known);
            }
        }
    }
}

/// A sum in which sizes are called as those that they are taken to be.
pub(crate) fn settled(form: Linear, equal: &[(Var, Linear)]) -> Linear {
    equal.iter().fold(form, |form, (var, other)| form.replace(*var, other))
}
