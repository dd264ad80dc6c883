//! What is known of the integers of a function: sums, how large the indices of loops can be, and what conditions say.

use crate::like::Likes;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use wengert_ir::op::{ArrayOp, Atom, Block, Compare, IntOp, Op, Stmt, Var};
use wengert_ir::ty::Id;

/// Numbers in sums are at most so large: no sum of a few of them and of places in arrays is too large for an integer.
const LARGEST: i64 = 1 << 31;

/// What a condition says is looked for so deep in it.
const DEEP: usize = 8;

/// A sum of integers, each a number of times, and a constant.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in super::super) struct Form {
    terms: BTreeMap<usize, (Var, i64)>,
    constant: i64,
}

impl Form {
    pub(super) fn constant(constant: i64) -> Form {
        Form { constant, ..Form::default() }
    }

    fn var(var: Var) -> Form {
        Form { terms: BTreeMap::from([(var.index(), (var, 1))]), constant: 0 }
    }

    /// The sum of this and so many times another; `None` where numbers are too large.
    pub(super) fn plus(mut self, other: &Form, times: i64) -> Option<Form> {
        let add = |sum: i64, x: i64| {
            let sum = sum.checked_add(x.checked_mul(times)?)?;
            (-LARGEST..=LARGEST).contains(&sum).then_some(sum)
        };
        self.constant = add(self.constant, other.constant)?;
        for (key, (var, count)) in &other.terms {
            let own = self.terms.entry(*key).or_insert((*var, 0));
            own.1 = add(own.1, *count)?;
            if own.1 == 0 {
                self.terms.remove(key);
            }
        }
        Some(self)
    }

    pub(super) fn take(&mut self, var: Var) -> i64 {
        self.terms.remove(&var.index()).map_or(0, |(_, count)| count)
    }

    /// The variables in it, with how often each is there.
    pub(super) fn terms(&self) -> impl Iterator<Item = (Var, i64)> {
        self.terms.values().copied()
    }
}

/// What a condition says of a sum.
#[derive(Clone, Debug)]
pub(in super::super) enum Said {
    /// It is not negative.
    NotNegative(Form),
    /// It is not zero.
    NotZero(Form),
}

/// See the module.
#[derive(Default)]
pub(in super::super) struct Facts {
    forms: FxHashMap<Var, Form>,
    /// Indices of loops, with how many iterations there are, and how many loops come before: those inside come later.
    limits: FxHashMap<Var, (Form, usize)>,
    /// How conditions are made.
    conds: FxHashMap<Var, Op>,
    /// The sizes of arrays of one shape, which is that of this one, along an axis.
    lengths: FxHashMap<(Var, u8), Form>,
}

impl Facts {
    pub(in super::super) fn of(body: &Block, likes: &Likes) -> Facts {
        let mut facts = Facts::default();
        facts.block(body, likes);
        facts
    }

    pub(super) fn form(&self, atom: &Atom) -> Option<Form> {
        match atom {
            Atom::Int(n) => (-LARGEST..=LARGEST).contains(n).then(|| Form::constant(*n)),
            Atom::Var(var) => Some(self.forms.get(var).cloned().unwrap_or_else(|| Form::var(*var))),
            Atom::Real(_) | Atom::Bool(_) | Atom::Text(_) | Atom::Unit => None,
        }
    }

    /// How many iterations the loop with this index has.
    pub(super) fn limit(&self, index: Var) -> Option<&Form> {
        self.limits.get(&index).map(|(limit, _)| limit)
    }

    /// The size of the arrays that have the shape of this one, if somebody asks for it.
    pub(super) fn length(&self, root: Var, axis: u8) -> Option<&Form> {
        self.lengths.get(&(root, axis))
    }

    fn repeat(&mut self, len: &Atom, body: &Block, likes: &Likes) {
        if let (Some(index), Some(len)) = (body.params.first(), self.form(len)) {
            self.limits.insert(*index, (len, self.limits.len()));
        }
        self.block(body, likes);
    }

    fn block(&mut self, block: &Block, likes: &Likes) {
        crate::deep(|| block.stmts.iter().for_each(|stmt| self.stmt(stmt, likes)));
    }

    fn stmt(&mut self, stmt: &Stmt, likes: &Likes) {
        let out = if let [out] = stmt.outs.as_slice() { Some(*out) } else { None };
        let form = match &stmt.op {
            Op::Copy(x) => self.form(x),
            Op::Int(op, args) => self.sum(*op, args),
            Op::Array(ArrayOp::Length(axis), args) => {
                let root = args.first().and_then(Atom::var).map(|array| likes.root(array));
                let key = root.map(|root| (root, *axis));
                key.zip(out)
                    .map(|(key, out)| self.lengths.entry(key).or_insert_with(|| Form::var(out)).clone())
            }
            Op::Loop(parts) => {
                self.repeat(&parts.len, &parts.body, likes);
                None
            }
            op => {
                op.blocks().into_iter().for_each(|inner| self.block(inner, likes));
                None
            }
        };
        let is_cond = matches!(stmt.op, Op::Compare(..) | Op::Not(_) | Op::Select { .. } | Op::Copy(_));
        if let Some(out) = out.filter(|_| is_cond) {
            self.conds.insert(out, stmt.op.clone());
        }
        if let Some((out, form)) = out.zip(form) {
            self.forms.insert(out, form);
        }
    }

    fn sum(&self, op: IntOp, args: &[Atom]) -> Option<Form> {
        match (op, args) {
            (IntOp::Add, [x, y]) => self.form(x)?.plus(&self.form(y)?, 1),
            (IntOp::Sub, [x, y]) => self.form(x)?.plus(&self.form(y)?, -1),
            (IntOp::Neg, [x]) => Form::default().plus(&self.form(x)?, -1),
            (_, _) => None,
        }
    }

    /// Whether a sum is not negative, whatever the indices in it are.
    fn is_natural(&self, form: &Form) -> bool {
        let innermost = |form: &Form| {
            let known = form.terms().filter_map(|(var, _)| Some((var, self.limits.get(&var)?)));
            known.max_by_key(|(_, (_, before))| *before).map(|(var, (limit, _))| (var, limit.clone()))
        };
        let least = || {
            let mut least = form.clone();
            while let Some((index, limit)) = innermost(&least) {
                let count = least.take(index);
                if count < 0 {
                    least = least.plus(&limit, count)?.plus(&Form::constant(1), -count)?;
                }
            }
            least.terms.is_empty().then_some(least.constant)
        };
        least().is_some_and(|least| least >= 0)
    }

    /// Whether one sum is at least as large as another one with a number added, where this is said.
    pub(super) fn is_at_least(&self, large: &Form, small: &Form, more: i64, said: &[Said]) -> bool {
        let difference = large.clone().plus(small, -1).and_then(|d| d.plus(&Form::constant(more), -1));
        let Some(difference) = difference else { return false };
        let less =
            |known: &Form| difference.clone().plus(known, -1).is_some_and(|rest| self.is_natural(&rest));
        let beyond = |said: &Said| match said {
            Said::NotNegative(known) => less(known),
            // What is neither negative nor zero is 1 at least.
            Said::NotZero(known) => [1, -1].into_iter().any(|sign| {
                let known = Form::default().plus(known, sign).filter(|known| self.is_natural(known));
                known.and_then(|known| known.plus(&Form::constant(1), -1)).is_some_and(|known| less(&known))
            }),
        };
        self.is_natural(&difference) || said.iter().any(beyond)
    }

    /// Whether two sums are never equal, where this is said.
    pub(super) fn differ(&self, one: &Form, other: &Form, said: &[Said]) -> bool {
        let apart = |said: &Said| match said {
            Said::NotZero(known) => {
                let difference = |a: &Form, b: &Form| a.clone().plus(b, -1);
                [difference(one, other), difference(other, one)].into_iter().flatten().any(|d| d == *known)
            }
            Said::NotNegative(_) => false,
        };
        self.is_at_least(one, other, 1, said)
            || self.is_at_least(other, one, 1, said)
            || said.iter().any(apart)
    }

    /// What a condition says where it holds, or where it does not.
    pub(in super::super) fn said(&self, cond: &Atom, holds: bool) -> Vec<Said> {
        let mut said = Vec::new();
        self.say(cond, holds, DEEP, &mut said);
        said
    }

    fn say(&self, cond: &Atom, holds: bool, deep: usize, said: &mut Vec<Said>) {
        let Some(op) = cond.var().and_then(|cond| self.conds.get(&cond)) else { return };
        let Some(deep) = deep.checked_sub(1) else { return };
        match (op, holds) {
            (Op::Copy(x), _) => self.say(x, holds, deep, said),
            (Op::Not(x), _) => self.say(x, !holds, deep, said),
            (Op::Select { cond, then: Atom::Bool(true), otherwise }, false) => {
                self.say(cond, false, deep, said);
                self.say(otherwise, false, deep, said);
            }
            (Op::Select { cond, then, otherwise: Atom::Bool(false) }, true) => {
                self.say(cond, true, deep, said);
                self.say(then, true, deep, said);
            }
            (Op::Select { cond, then: Atom::Bool(false), otherwise }, true) => {
                self.say(cond, false, deep, said);
                self.say(otherwise, true, deep, said);
            }
            (Op::Compare(compare, x, y), _) => {
                let compare = if holds { *compare } else { compare.opposite() };
                said.extend(self.compared(compare, x, y).into_iter().flatten());
            }
            _ => {}
        }
    }

    fn compared(&self, compare: Compare, x: &Atom, y: &Atom) -> Option<Vec<Said>> {
        let (x, y) = (self.form(x)?, self.form(y)?);
        let at_least = |large: &Form, small: &Form, more: i64| {
            Some(Said::NotNegative(large.clone().plus(small, -1)?.plus(&Form::constant(more), -1)?))
        };
        Some(match compare {
            Compare::Lt => vec![at_least(&y, &x, 1)?],
            Compare::Le => vec![at_least(&y, &x, 0)?],
            Compare::Gt => vec![at_least(&x, &y, 1)?],
            Compare::Ge => vec![at_least(&x, &y, 0)?],
            Compare::Eq => vec![at_least(&x, &y, 0)?, at_least(&y, &x, 0)?],
            Compare::Ne => vec![Said::NotZero(x.plus(&y, -1)?)],
        })
    }
}
