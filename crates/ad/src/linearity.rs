//! Whether a custom rule is linear in its tangents, as far as can be seen without running it.
//!
//! A rule is transposed as if it were linear. Whether it is, the interpreter sees when it runs; here only what is linear
//! whatever the values are passes: sums of tangents, products with what is no tangent, and moving them about. Of the others
//! compiled code sees it when it runs, too ([`crate::record`]).
//!
//! ```text
//! \(x, t) -> (f x, g x * t + t / x)        is linear in t
//! \(x, t) -> (f x, t * t)                  is not;  neither is   \(x, t) -> (f x, 1.0)
//! ```

#![expect(clippy::wildcard_enum_match_arm, reason = "what is linear is named")]

use crate::{Ad, Key, arrays, deep};
use rustc_hash::FxHashSet;
use wengert_ir::op::{ArrayOp, Atom, Block, Loop, Op, Stmt, Var};
use wengert_ir::program::{Func, FuncId};
use wengert_ir::ty::{Data, DataId, Elem, Role, Ty};
use wengert_prim::RealOp;

impl Ad {
    /// Whether the results from `first` on are linear in the parameters that vary; what does not vary of the parameters
    /// from `tangents` on is zero.
    pub(crate) fn is_linear(&mut self, key: &Key, first: usize, tangents: usize) -> bool {
        if let Some(known) = self.is_mixed_linear(key, tangents) {
            return known;
        }
        let zeros = key.1.iter().enumerate().map(|(i, active)| i >= tangents && !active).collect();
        let func = self.program.funcs.at(key.0).clone();
        if self.is_of_functions(key, first, tangents) {
            return false;
        }
        let active = FxHashSet::default();
        let zero = FxHashSet::default();
        let mut check =
            Check { ad: self, func: &func, active: &active, zeros: zero, seen: FxHashSet::default() };
        let wanted = (0..func.results.len()).map(|i| i >= first).collect();
        check.function((key.clone(), wanted, zeros))
    }
}

impl Ad {
    /// Whether a rule is given functions that have captured what varies, or gives functions: these may depend on tangents in any way.
    pub(crate) fn is_of_functions(&self, key: &Key, first: usize, tangents: usize) -> bool {
        let func = self.program.funcs.at(key.0);
        let params = func.param_types().into_iter().zip(&key.1).skip(tangents);
        let varying = params.filter(|(_, active)| **active).map(|(ty, _)| ty);
        let mut types = varying.chain(func.results.iter().skip(first).copied());
        types.any(|ty| self.holds_functions(ty))
    }

    pub(crate) fn holds_functions(&self, ty: Ty) -> bool {
        let (mut seen, mut todo) = (FxHashSet::default(), vec![ty]);
        while let Some(ty) = todo.pop() {
            let Elem::Data(data) = ty.elem() else { continue };
            let Data { role, ctors, .. } = self.program.data.at(data);
            if *role == Role::Closure {
                return true;
            }
            if seen.insert(data) {
                todo.extend(ctors.iter().flat_map(|ctor| &ctor.fields));
            }
        }
        false
    }

    /// Whether a function is given what may hold tangents of itself, as functions do that capture tangents of functions: such tangents
    /// may hold their own tangents, and so on, of which each is of another type.
    pub(crate) fn is_given_own_tangents(&self, func: FuncId) -> bool {
        let own_tangent = |data: DataId| match self.program.data.at(data).role {
            Role::Tangent(of) => self.data_within(&[Ty::Scalar(Elem::Data(of))]).contains(&data),
            Role::Declared | Role::Closure | Role::Residual => false,
        };
        self.data_within(&self.program.funcs.at(func).param_types()).into_iter().any(own_tangent)
    }

    /// The data types of what values of these types may hold.
    fn data_within(&self, types: &[Ty]) -> FxHashSet<DataId> {
        let (mut seen, mut todo) = (FxHashSet::default(), types.to_vec());
        while let Some(ty) = todo.pop() {
            if let Elem::Data(data) = ty.elem()
                && seen.insert(data)
            {
                todo.extend(self.program.data.at(data).ctors.iter().flat_map(|ctor| &ctor.fields));
            }
        }
        seen
    }
}

/// A function with what varies, which results are to be linear, and which parameters are zero.
type Question = (Key, Vec<bool>, Vec<bool>);

struct Check<'a> {
    ad: &'a mut Ad,
    func: &'a Func,
    active: &'a FxHashSet<Var>,
    /// Arrays of zeros.
    zeros: FxHashSet<Var>,
    /// Functions that were looked at, or are being looked at.
    seen: FxHashSet<Question>,
}

impl Check<'_> {
    fn function(&mut self, question: Question) -> bool {
        if !self.seen.insert(question.clone()) {
            return true;
        }
        let (key, wanted, zero) = question;
        let func = self.ad.program.funcs.at(key.0).clone();
        let active = self.ad.varying(&func, &key.1);
        let params = func.body.params.iter().zip(zero).filter(|(_, zero)| *zero);
        let zeros = params.map(|(param, _)| *param).collect();
        let seen = std::mem::take(&mut self.seen);
        let mut inner = Check { ad: &mut *self.ad, func: &func, active: &active, zeros, seen };
        let results = func.body.results.iter().zip(wanted).filter(|(_, wanted)| *wanted);
        let fine = inner.block(&func.body) && inner.vanish(results.map(|(result, _)| result));
        self.seen = inner.seen;
        fine
    }

    fn is_active(&self, atom: &Atom) -> bool {
        atom.var().is_some_and(|var| self.active.contains(&var))
    }

    fn is_zero(&self, atom: &Atom) -> bool {
        *atom == Atom::Real(0.0) || atom.var().is_some_and(|var| self.zeros.contains(&var))
    }

    /// Notes what is zero.
    fn note(&mut self, stmt: &Stmt) {
        let any = |args: &[Atom]| args.iter().any(|arg| self.is_zero(arg));
        let all = |args: &[Atom]| args.iter().all(|arg| self.is_zero(arg));
        let zero: Vec<bool> = match &stmt.op {
            Op::Copy(x) => vec![self.is_zero(x)],
            // Tangents stand around zeros.
            Op::StopGradient(args) => {
                args.iter().map(|arg| self.is_zero(arg) || self.is_active(arg)).collect()
            }
            Op::Make { fields, .. } => {
                let none = |ad: &mut Ad, field: &Atom| ad.tangent(self.func.type_of(field)).is_none();
                vec![fields.iter().all(|field| self.is_zero(field) || none(&mut *self.ad, field))]
            }
            Op::Real(RealOp::Mul | RealOp::MulZero, args) => vec![any(args)],
            Op::Real(RealOp::Add | RealOp::Sub | RealOp::Neg, args) => vec![all(args)],
            Op::Array(ArrayOp::Zeros | ArrayOp::Empty(..), _) => vec![true],
            Op::Array(ArrayOp::Replicate, args) => vec![args.last().is_some_and(|row| self.is_zero(row))],
            Op::Array(
                ArrayOp::Index
                | ArrayOp::Reverse
                | ArrayOp::Transpose
                | ArrayOp::Slice
                | ArrayOp::Gather
                | ArrayOp::Flatten
                | ArrayOp::Ravel
                | ArrayOp::Reshape
                | ArrayOp::Sum,
                args,
            ) => vec![args.first().is_some_and(|xs| self.is_zero(xs))],
            Op::Array(ArrayOp::Dot | ArrayOp::MatVec | ArrayOp::MatMul, args) => vec![any(args)],
            Op::Array(ArrayOp::AddProduct(_), args) => match self.func.product(args) {
                Some((sum, _, factors)) => vec![self.is_zero(sum) && factors.chunks(2).all(any)],
                None => Vec::new(),
            },
            Op::Array(ArrayOp::Literal | ArrayOp::Add | ArrayOp::Concat, args) => vec![all(args)],
            Op::Select { cond: _, then, otherwise } => vec![self.is_zero(then) && self.is_zero(otherwise)],
            Op::If { cond: _, then, otherwise } => self.zeros_of_arms([then, otherwise]),
            Op::Match { on, arms } => {
                if self.is_zero(on) {
                    self.zeros.extend(arms.iter().flat_map(|arm| &arm.params));
                }
                self.zeros_of_arms(arms)
            }
            Op::Loop(parts) => self.zeros_of_loop(parts),
            _ => Vec::new(),
        };
        self.zeros.extend(stmt.outs.iter().zip(zero).filter(|(_, zero)| *zero).map(|(out, _)| *out));
    }

    /// Which results of a branch are zero: in all of its blocks that give any.
    fn zeros_of_arms<'b>(&mut self, arms: impl IntoIterator<Item = &'b Block>) -> Vec<bool> {
        let mut zeros: Option<Vec<bool>> = None;
        for arm in arms.into_iter().filter(|arm| !ends(arm)) {
            deep(|| arm.stmts.iter().for_each(|stmt| self.note(stmt)));
            let found = arm.results.iter().map(|result| self.is_zero(result));
            zeros = Some(match zeros {
                Some(zeros) => zeros.into_iter().zip(found).map(|(a, b)| a && b).collect(),
                None => found.collect(),
            });
        }
        zeros.unwrap_or_default()
    }

    /// Which results of a loop are zero.
    fn zeros_of_loop(&mut self, parts: &Loop) -> Vec<bool> {
        let before = self.zeros.clone();
        let given = parts.init.iter().chain(&parts.accs).chain(&parts.inputs);
        let mut zeros: Vec<bool> = given.map(|atom| self.is_zero(atom)).collect();
        let carried = parts.init.len() + parts.accs.len();
        // What is carried is zero if it stays so.
        loop {
            let params = parts.body.params.iter().skip(1).zip(&zeros).filter(|(_, zero)| **zero);
            self.zeros.extend(params.map(|(param, _)| *param));
            parts.body.stmts.iter().for_each(|inner| self.note(inner));
            let found: Vec<bool> = parts.body.results.iter().map(|result| self.is_zero(result)).collect();
            let mut fine = true;
            for (zero, found) in zeros.iter_mut().zip(&found).take(carried) {
                fine &= *found || !*zero;
                *zero &= found;
            }
            if fine {
                return zeros.into_iter().take(carried).chain(found.into_iter().skip(carried)).collect();
            }
            self.zeros.clone_from(&before);
        }
    }

    /// Whether operands are tangents, or zero, or nothing that has tangents.
    fn vanish<'t>(&mut self, atoms: impl IntoIterator<Item = &'t Atom>) -> bool {
        atoms.into_iter().all(|atom| {
            let ty = self.func.type_of(atom);
            self.is_active(atom) || self.is_zero(atom) || self.ad.tangent(ty).is_none()
        })
    }

    /// A block of a branch, which may give no results.
    fn arm(&mut self, arm: &Block, outs: &[Var]) -> bool {
        ends(arm) || (self.block(arm) && self.agree(&arm.results, outs))
    }

    /// The same as `vanish` for those of them that stand where a tangent does.
    fn agree(&mut self, atoms: &[Atom], outs: &[Var]) -> bool {
        let wanted: Vec<Atom> = atoms
            .iter()
            .zip(outs)
            .filter(|(_, out)| self.active.contains(out))
            .map(|(atom, _)| atom.clone())
            .collect();
        self.vanish(&wanted)
    }

    fn block(&mut self, block: &Block) -> bool {
        deep(|| block.stmts.iter().all(|stmt| self.stmt(stmt)))
    }

    fn stmt(&mut self, stmt: &Stmt) -> bool {
        let outs = stmt.outs.as_slice();
        self.note(stmt);
        match &stmt.op {
            Op::If { cond: _, then, otherwise } => self.arm(then, outs) && self.arm(otherwise, outs),
            // Which constructor it is does not depend on tangents, as nothing that does is compared; and what a tangent holds are
            // tangents.
            Op::Match { on: _, arms } => arms.iter().all(|arm| self.arm(arm, outs)),
            Op::Loop(parts) => {
                let carried = parts.init.len() + parts.accs.len();
                let params: Vec<Var> = parts.body.params.iter().skip(1).copied().collect();
                let before: Vec<Atom> = parts.init.iter().chain(&parts.accs).cloned().collect();
                let after: Vec<Atom> = parts.body.results.iter().take(carried).cloned().collect();
                let rows: Vec<Atom> = parts.body.results.iter().skip(carried).cloned().collect();
                self.block(&parts.body)
                    && self.agree(&before, &params)
                    && self.agree(&after, &params)
                    && self.agree(&rows, outs.get(carried..).unwrap_or_default())
            }
            Op::While(parts) => {
                let carried = parts.init.len();
                let before: Vec<Atom> = parts.init.clone();
                let (after, rows) = parts.body.results.split_at_checked(carried).unwrap_or_default();
                self.block(&parts.cond)
                    && self.block(&parts.body)
                    && self.agree(&before, &parts.body.params)
                    && self.agree(after, &parts.body.params)
                    && self.agree(rows, outs.get(carried..).unwrap_or_default())
            }
            // It depends on a tangent, but not what is made of that: where it holds, zero is added otherwise.
            Op::Call { .. } if self.ad.exact_zero_of(stmt).is_some() => true,
            Op::Call { func, args, checkpoint } => {
                let mask: Vec<bool> = args.iter().map(|arg| self.is_active(arg)).collect();
                !mask.contains(&true) || !checkpoint && self.call(*func, args, mask)
            }
            Op::StopGradient(_) => true,
            op => {
                let mut any = false;
                op.for_each_atom(&mut |atom| any |= self.is_active(atom));
                let inside = op.blocks().into_iter().flat_map(Block::free_vars);
                any |= inside.into_iter().any(|var| self.active.contains(&var));
                !any || self.flat(op)
            }
        }
    }

    fn call(&mut self, func: FuncId, args: &[Atom], mask: Vec<bool>) -> bool {
        // What is linearized has no guard: a tangent that varies is not taken for zero.
        let (func, mask) = self.ad.unguarded((func, mask));
        let reach = self.ad.varying_results(func, &mask);
        let zeros = args.iter().map(|arg| self.is_zero(arg)).collect();
        self.function(((func, mask), reach, zeros))
    }

    /// Whether an operation on tangents is linear in them.
    fn flat(&mut self, op: &Op) -> bool {
        match op {
            Op::Copy(_) | Op::Whole(_) => true,
            Op::Real(op, args) => {
                let tangents: Vec<bool> = args.iter().map(|arg| self.is_active(arg)).collect();
                match (op, tangents.as_slice()) {
                    (RealOp::Neg, _) => true,
                    (RealOp::Add | RealOp::Sub, _) => self.vanish(args),
                    (RealOp::Mul | RealOp::MulZero, [a, b]) => a != b,
                    (RealOp::Div | RealOp::DivZero, [a, b]) => *a && !b,
                    (_, _) => false,
                }
            }
            Op::Select { cond: _, then, otherwise } => self.vanish([then, otherwise]),
            Op::Make { fields, .. } => self.vanish(fields),
            Op::Array(ArrayOp::Dot | ArrayOp::MatVec | ArrayOp::MatMul, args) => {
                args.iter().filter(|arg| self.is_active(arg)).count() == 1
            }
            Op::Array(ArrayOp::AddProduct(_), args) => {
                let Some((sum, _, factors)) = self.func.product(args) else { return false };
                let (sum, pairs) = (sum.clone(), factors.chunks(2));
                let one = |this: &Self, pair: &[Atom]| {
                    let active = pair.iter().filter(|factor| this.is_active(factor)).count();
                    active == 1 || active == 0 && pair.iter().any(|factor| this.is_zero(factor))
                };
                pairs.into_iter().all(|pair| one(self, pair)) && self.vanish([&sum])
            }
            Op::Array(ArrayOp::Product | ArrayOp::Maximum | ArrayOp::Minimum | ArrayOp::Sort, _) => false,
            Op::Array(ArrayOp::Length(_) | ArrayOp::Zeros, _) => true,
            Op::Array(op, args) => {
                let count = args.len();
                let linear: Vec<Atom> = args
                    .iter()
                    .enumerate()
                    .filter(|(i, _)| arrays::is_linear(*op, *i, count))
                    .map(|(_, arg)| arg.clone())
                    .collect();
                !linear.is_empty() && self.vanish(&linear)
            }
            _ => false,
        }
    }
}

/// Whether a block gives no results.
fn ends(block: &Block) -> bool {
    block.stmts.iter().any(|stmt| stmt.op.never_returns())
}
