//! Statements with blocks: branches and loops.

use super::{Gen, LIST, SHAPE, SIZE};
use crate::op::{ArrayOp, Atom, Block, Compare, IntOp, Loop, Mode, Op, While};
use crate::ty::{Elem, Ty};
use wengert_base::Name;
use wengert_prim::RealOp;

const REALS: Ty = Ty::Array(Elem::Real, 1);

impl Gen<'_> {
    /// A block with these parameters: a few statements, and what `results` makes of the parameters. With `seen` the
    /// parameters may be used by the statements.
    fn block(
        &mut self,
        params: &[Ty],
        seen: bool,
        results: impl FnOnce(&mut Self, &[Atom]) -> Vec<Atom>,
    ) -> Block {
        let before = self.scope.len();
        self.b.open();
        self.depth += 1;
        let named: Vec<(Name, Ty)> = params.iter().map(|ty| (self.variable_name(*ty), *ty)).collect();
        let params: Vec<Atom> = named.iter().map(|(name, ty)| self.b.param(*name, *ty)).collect();
        if seen {
            self.scope.extend(params.iter().cloned());
        }
        for _ in 0..self.random.below(4) {
            self.stmt();
        }
        let results = results(self, &params);
        self.depth -= 1;
        self.scope.truncate(before);
        self.b.close(results)
    }

    fn types(&mut self, at_most: usize) -> Vec<Ty> {
        (0..1 + self.random.below(at_most)).map(|_| self.inner_type()).collect()
    }

    fn values(&mut self, types: &[Ty]) -> Vec<Atom> {
        types.iter().map(|ty| self.value(*ty)).collect()
    }

    pub(super) fn if_else(&mut self) {
        let (cond, types) = (self.value(Ty::BOOL), self.types(2));
        let then = self.block(&[], true, |g, _| g.values(&types));
        let otherwise = if self.random.once_in(12) {
            self.block(&[], true, |g, _| g.b.typed(&types, Op::Fail { message: Atom::Text("stop".into()) }))
        } else {
            self.block(&[], true, |g, _| g.values(&types))
        };
        self.emit(Op::If { cond, then, otherwise });
    }

    pub(super) fn match_on(&mut self) {
        let data = if self.random.once_in(2) { LIST } else { SHAPE };
        let (on, types) = (self.value(Ty::Scalar(Elem::Data(data))), self.types(2));
        let ctors = self.program.data.at(data).ctors.clone();
        let arms = ctors.iter().map(|ctor| self.block(&ctor.fields, true, |g, _| g.values(&types))).collect();
        self.emit(Op::Match { on, arms });
    }

    /// Arrays to go through, and the types of their rows.
    fn inputs(&mut self, at_most: usize) -> (Vec<Atom>, Vec<Ty>) {
        let kinds = [
            REALS,
            REALS,
            Ty::Array(Elem::Real, 2),
            Ty::Array(Elem::Int, 1),
            Ty::Array(Elem::Data(SHAPE), 1),
        ];
        let kinds: Vec<Ty> =
            (0..self.random.below(at_most + 1)).filter_map(|_| self.random.pick(&kinds)).collect();
        let inputs = self.values(&kinds);
        (inputs, kinds.iter().filter_map(|ty| ty.at(1)).collect())
    }

    /// Types of rows of outputs: arrays have two axes at most here.
    fn row_types(&mut self) -> Vec<Ty> {
        let kinds = [Ty::REAL, Ty::REAL, REALS, Ty::INT, Ty::BOOL, Ty::Scalar(Elem::Data(SHAPE))];
        (0..1 + self.random.below(2)).filter_map(|_| self.random.pick(&kinds)).collect()
    }

    /// A loop whose iterations do not depend on each other, perhaps with an accumulator.
    pub(super) fn each(&mut self) {
        self.counted(Mode::Each, Vec::new());
    }

    /// A loop that carries something.
    pub(super) fn sequence(&mut self) {
        let carried = self.types(2);
        self.counted(Mode::Sequence, carried);
    }

    fn counted(&mut self, mode: Mode, carried: Vec<Ty>) {
        let (inputs, rows) = self.inputs(2);
        let accs: Vec<Ty> = [Ty::REAL, REALS].into_iter().filter(|_| self.random.once_in(4)).collect();
        let outputs = self.row_types();
        let (init, acc_values) = (self.values(&carried), self.values(&accs));
        // Accumulators are not to be seen by the statements: they are only added to.
        let (first, last) = (1 + carried.len(), 1 + carried.len() + accs.len());
        let params: Vec<Ty> = [Ty::INT].iter().chain(&carried).chain(&accs).chain(&rows).copied().collect();
        let body = self.block(&params, false, |g, params| {
            let hidden = params.get(first..last).unwrap_or_default();
            g.scope.extend(params.iter().filter(|param| !hidden.contains(param)).cloned());
            for _ in 0..1 + g.random.below(3) {
                g.stmt();
            }
            let mut results = g.values(&carried);
            results.extend(hidden.iter().map(|acc| g.added(acc)).collect::<Vec<Atom>>());
            results.extend(g.values(&outputs));
            results
        });
        let (len, backward) = (Atom::Int(SIZE as i64), self.random.once_in(3));
        self.emit(Op::Loop(Box::new(Loop { mode, backward, len, inputs, init, accs: acc_values, body })));
    }

    /// An accumulator with something added.
    fn added(&mut self, acc: &Atom) -> Atom {
        let x = self.value(Ty::REAL);
        if self.b.type_of(acc) == Ty::REAL {
            return self.b.called("sum").real(RealOp::Add, [acc.clone(), x]);
        }
        let place = self.random.below(SIZE) as i64;
        self.b.called("sums").array(ArrayOp::AddAt, [acc.clone(), Atom::Int(place), x])
    }

    pub(super) fn reduce(&mut self) {
        let (op, neutral) = self
            .random
            .pick(&[
                (RealOp::Add, 0.0),
                (RealOp::Mul, 1.0),
                (RealOp::Max, f64::NEG_INFINITY),
                (RealOp::Min, f64::INFINITY),
            ])
            .unwrap_or((RealOp::Add, 0.0));
        let inputs = vec![self.value(REALS)];
        self.b.open();
        self.b.param("i".into(), Ty::INT);
        let (x, y) = (self.b.param("x".into(), Ty::REAL), self.b.param("y".into(), Ty::REAL));
        let z = self.b.called("z").real(op, [x, y]);
        let body = self.b.close(vec![z]);
        let (len, init) = (Atom::Int(SIZE as i64), vec![Atom::Real(neutral)]);
        let (mode, backward, accs) = (Mode::Reduce, false, Vec::new());
        self.emit(Op::Loop(Box::new(Loop { mode, backward, len, inputs, init, accs, body })));
    }

    /// A loop that ends after a few iterations, or before.
    pub(super) fn while_loop(&mut self) {
        let mut carried = self.types(2);
        let outputs = if self.random.once_in(2) { Vec::new() } else { vec![Ty::REAL] };
        let mut init = self.values(&carried);
        carried.push(Ty::INT);
        init.push(Atom::Int(0));
        let most = Atom::Int(1 + self.random.below(4) as i64);
        let cond = self.block(&carried, true, |g, params| {
            let rounds = params.last().cloned().unwrap_or(Atom::Int(9));
            let few = g.b.called("few").compare(Compare::Lt, rounds, most);
            let wanted = g.value(Ty::BOOL);
            let wanted = if g.random.once_in(2) { wanted } else { Atom::Bool(true) };
            vec![g.b.called("go").select(few, wanted, Atom::Bool(false))]
        });
        let body = self.block(&carried, true, |g, params| {
            let rounds = params.last().cloned().unwrap_or(Atom::Int(9));
            let (_, others) = carried.split_last().unwrap_or((&Ty::INT, &[]));
            let mut results = g.values(others);
            results.push(g.b.called("rounds").int(IntOp::Add, [rounds, Atom::Int(1)]));
            results.extend(g.values(&outputs));
            results
        });
        let outs = self.b.emit(self.program, Op::While(Box::new(While { init, cond, body })));
        // The rows of a while loop are as many as its rounds: other arrays have another size.
        self.scope.extend(outs.into_iter().take(carried.len()));
    }
}
