//! How numbers are used: whether twice the number, or its negative, is all that is wanted.

use crate::walk::count_uses;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::Op;
use wengert_ir::{Atom, Block, Var};
use wengert_prim::RealOp;

/// Uses of variables that want the same of them: twice the number, or its negative.
#[derive(Default)]
pub(super) struct Wish {
    /// Uses that are nothing else.
    plain: FxHashMap<Var, usize>,
    /// Uses in products, and other operations that can hand it on, of which the same is wanted and nothing else.
    inside: FxHashMap<Var, usize>,
}

impl Wish {
    pub(super) fn of(
        plain: FxHashMap<Var, usize>,
        hands_on: &[RealOp],
        body: &Block,
        all: &FxHashMap<Var, usize>,
    ) -> Wish {
        let mut wish = Wish { plain, inside: FxHashMap::default() };
        body.for_each_stmt(&mut |stmt| {
            if let (Op::Real(op, args), [out]) = (&stmt.op, stmt.outs.as_slice())
                && hands_on.contains(op)
                && wish.plain.get(out) == all.get(out)
            {
                for var in args.iter().filter_map(Atom::var) {
                    *wish.inside.entry(var).or_default() += 1;
                }
            }
        });
        wish
    }

    pub(super) fn count(&self, var: Var) -> usize {
        let of = |uses: &FxHashMap<Var, usize>| uses.get(&var).copied().unwrap_or_default();
        of(&self.plain) + of(&self.inside)
    }
}

/// How variables are used, in the whole function.
pub(super) struct Uses {
    all: FxHashMap<Var, usize>,
    /// As both operands of a sum: each counts for two.
    doubled: Wish,
    /// As what has its sign changed.
    pub(super) negated: Wish,
    /// As a factor of what is twice something.
    pub(super) beside_twice: FxHashMap<Var, usize>,
}

impl Uses {
    pub(super) fn of(body: &Block) -> Uses {
        let all = count_uses(body);
        let (mut doubled, mut negated) = (FxHashMap::default(), FxHashMap::default());
        body.for_each_stmt(&mut |stmt| {
            let Op::Real(op, args) = &stmt.op else { return };
            match (op, args.as_slice()) {
                (RealOp::Add, [Atom::Var(x), Atom::Var(y)]) if x == y => {
                    *doubled.entry(*x).or_default() += 2;
                }
                (RealOp::Neg, [Atom::Var(x)]) => *negated.entry(*x).or_default() += 1,
                _ => {}
            }
        });
        let doubled = Wish::of(doubled, &[RealOp::Mul, RealOp::MulZero], body, &all);
        let signed = [RealOp::Mul, RealOp::MulZero, RealOp::Div, RealOp::DivZero];
        let negated = Wish::of(negated, &signed, body, &all);
        Uses { all, doubled, negated, beside_twice: beside_twice(body) }
    }

    pub(super) fn count(&self, var: Var) -> usize {
        self.all.get(&var).copied().unwrap_or_default()
    }

    /// Whether twice the number is all that is wanted of it.
    pub(super) fn is_only_doubled(&self, var: Var) -> bool {
        self.doubled.count(var) >= self.count(var)
    }
}

/// How often numbers are multiplied with what is twice something.
fn beside_twice(body: &Block) -> FxHashMap<Var, usize> {
    let (mut twice, mut beside) = (FxHashSet::<Var>::default(), FxHashMap::default());
    body.for_each_stmt(&mut |stmt| {
        let Op::Real(op, args) = &stmt.op else { return };
        match (op, args.as_slice()) {
            (RealOp::Add, [x, y]) if x == y => twice.extend(&stmt.outs),
            (RealOp::Mul | RealOp::MulZero, [Atom::Var(x), Atom::Var(y)]) => {
                if twice.contains(y) {
                    *beside.entry(*x).or_default() += 1;
                } else if twice.contains(x) {
                    *beside.entry(*y).or_default() += 1;
                }
            }
            _ => {}
        }
    });
    beside
}
