//! A function under construction, with what all functions hand on: the next tag, and the tapes under way.

use super::{Helper, NEVER, Tagged};
use crate::deep;
use wengert_ir::Builder;
use wengert_ir::op::{ArrayOp, Atom, Block, Loop, Mode, Op};
use wengert_ir::program::{Func, FuncId};
use wengert_ir::ty::{DataId, Elem, Ty};

/// The constructors of numbers.
pub(super) const PLAIN: u32 = 0;
pub(super) const DUAL: u32 = 1;
pub(super) const NOTED: u32 = 2;
pub(super) const NONE: u32 = 3;
pub(super) const SERIES: u32 = 4;

/// A function under construction.
pub(super) struct Work<'a> {
    pub(super) to: &'a mut Tagged,
    pub(super) b: Builder,
    /// The next tag, if it is handed on.
    next: Option<Atom>,
    /// The tapes under way, if they are handed on.
    tapes: Option<Atom>,
}

/// What is done of a constructor, with its fields.
type Arm<'r, 'a> = dyn FnMut(&mut Work<'a>, u32, Vec<Atom>) -> Vec<Atom> + 'r;

/// The same of a number, if that can be.
type NumberArm<'r, 'a> = dyn FnMut(&mut Work<'a>, u32, &[Atom]) -> Option<Atom> + 'r;

/// What is handed on.
#[derive(Clone)]
pub(super) struct State {
    next: Option<Atom>,
    tapes: Option<Atom>,
}

impl State {
    fn atoms(&self) -> Vec<Atom> {
        self.next.iter().chain(&self.tapes).cloned().collect()
    }
}

impl<'a> Work<'a> {
    pub(super) fn new(to: &'a mut Tagged, b: Builder) -> Work<'a> {
        Work { to, b, next: None, tapes: None }
    }

    /// The function, which gives what it hands on besides.
    pub(super) fn finish(self, results: Vec<Atom>) -> Func {
        wengert_ir::stop::check();
        let all = self.state().atoms().into_iter().chain(results).collect();
        self.b.finish(all)
    }

    fn tapes_ty(&self) -> Ty {
        Ty::Array(Elem::Data(self.to.tape), 1)
    }

    /// What is handed on begins.
    pub(super) fn begin(&mut self, next: Atom, tapes: Atom) {
        self.next = Some(next);
        self.tapes = self.to.goes_back.then_some(tapes);
    }

    /// It ends.
    pub(super) fn forget(&mut self) {
        (self.next, self.tapes) = (None, None);
    }

    /// Parameters for all that is handed on.
    pub(super) fn state_params(&mut self) {
        self.next = Some(self.b.param("tag".into(), Ty::INT));
        self.tape_params();
    }

    /// Parameters for the tapes.
    pub(super) fn tape_params(&mut self) {
        let ty = self.tapes_ty();
        if self.to.goes_back {
            self.tapes = Some(self.b.param("tapes".into(), ty));
        }
    }

    pub(super) fn state(&self) -> State {
        State { next: self.next.clone(), tapes: self.tapes.clone() }
    }

    /// What is handed on, as it is now.
    pub(super) fn state_atoms(&self) -> Vec<Atom> {
        self.state().atoms()
    }

    /// Parameters for what is handed on already.
    pub(super) fn state_again(&mut self) {
        let (next, tapes, ty) = (self.next.is_some(), self.tapes.is_some(), self.tapes_ty());
        self.next = next.then(|| self.b.param("tag".into(), Ty::INT));
        self.tapes = tapes.then(|| self.b.param("tapes".into(), ty));
    }

    pub(super) fn set_state(&mut self, state: State) {
        (self.next, self.tapes) = (state.next, state.tapes);
    }

    pub(super) fn state_types(&self) -> Vec<Ty> {
        let next = self.next.iter().map(|_| Ty::INT);
        next.chain(self.tapes.iter().map(|_| self.tapes_ty())).collect()
    }

    /// Takes what is handed on from the beginning of results.
    pub(super) fn take_state(&mut self, mut all: Vec<Atom>) -> Vec<Atom> {
        let mut rest = all.split_off(self.state().atoms().len().min(all.len())).into_iter();
        let mut first = all.into_iter();
        if self.next.is_some() {
            self.next = first.next();
        }
        if self.tapes.is_some() {
            self.tapes = first.next();
        }
        rest.by_ref().collect()
    }

    pub(super) fn tapes(&self) -> Atom {
        self.tapes.clone().unwrap_or(Atom::Unit)
    }

    pub(super) fn set_tapes(&mut self, tapes: Atom) {
        self.tapes = Some(tapes);
    }

    /// A new tag.
    pub(super) fn fresh_tag(&mut self) -> Atom {
        let tag = self.next.clone().unwrap_or(Atom::Int(0));
        self.next = Some(self.b.called("tag").int(wengert_ir::op::IntOp::Add, [tag.clone(), Atom::Int(1)]));
        tag
    }

    /// Calls a function of numbers, which hands on the tapes.
    pub(super) fn call_number(&mut self, func: FuncId, args: Vec<Atom>, results: &[Ty]) -> Vec<Atom> {
        let Some(tapes) = self.tapes.clone() else { return self.b.call(func, args, results) };
        let all: Vec<Atom> = [tapes].into_iter().chain(args).collect();
        let types: Vec<Ty> = [self.tapes_ty()].into_iter().chain(results.iter().copied()).collect();
        let mut found = self.b.call(func, all, &types);
        let rest = found.split_off(1.min(found.len()));
        self.tapes = found.pop();
        rest
    }

    /// Calls what a function of the program is here; `results` are those of the program.
    pub(super) fn call_touching(
        &mut self,
        func: FuncId,
        touches: bool,
        args: Vec<Atom>,
        results: &[Ty],
    ) -> Vec<Atom> {
        let types = self.to.tys(results);
        if !touches {
            return self.b.call(func, args, &types);
        }
        let all: Vec<Atom> = self.state().atoms().into_iter().chain(args).collect();
        let types: Vec<Ty> = self.state_types().into_iter().chain(types).collect();
        let found = self.b.call(func, all, &types);
        self.take_state(found)
    }

    /// One of two blocks.
    pub(super) fn choose(
        &mut self,
        cond: Atom,
        types: &[Ty],
        then: impl FnOnce(&mut Self) -> Vec<Atom>,
        otherwise: impl FnOnce(&mut Self) -> Vec<Atom>,
    ) -> Vec<Atom> {
        let before = self.state();
        let then = self.side(then);
        self.set_state(before.clone());
        let otherwise = self.side(otherwise);
        self.set_state(before);
        let types: Vec<Ty> = self.state_types().into_iter().chain(types.iter().copied()).collect();
        let found = self.b.typed(&types, Op::If { cond, then, otherwise });
        self.take_state(found)
    }

    /// The same for one number.
    pub(super) fn choose_number(
        &mut self,
        cond: Atom,
        then: impl FnOnce(&mut Self) -> Atom,
        otherwise: impl FnOnce(&mut Self) -> Atom,
    ) -> Atom {
        let num = self.to.num();
        let found = self.choose(cond, &[num], |work| vec![then(work)], |work| vec![otherwise(work)]);
        found.into_iter().next().unwrap_or(Atom::Unit)
    }

    fn side(&mut self, side: impl FnOnce(&mut Self) -> Vec<Atom>) -> Block {
        self.b.open();
        let found = deep(|| side(self));
        let all = self.state().atoms().into_iter().chain(found).collect();
        self.b.close(all)
    }

    /// Case analysis: of each constructor, with its fields.
    pub(super) fn cases(&mut self, on: Atom, data: DataId, types: &[Ty], arm: &mut Arm<'_, 'a>) -> Vec<Atom> {
        let before = self.state();
        let ctors = self.to.program.data.at(data).ctors.clone();
        let mut arms = Vec::new();
        for (number, ctor) in (0..).zip(&ctors) {
            self.b.open();
            let fields: Vec<Atom> = ctor.fields.iter().map(|ty| self.b.param("x".into(), *ty)).collect();
            let found = arm(self, number, fields);
            let all = self.state().atoms().into_iter().chain(found).collect();
            arms.push(self.b.close(all));
            self.set_state(before.clone());
        }
        let types: Vec<Ty> = self.state_types().into_iter().chain(types.iter().copied()).collect();
        let found = self.b.typed(&types, Op::Match { on, arms });
        self.take_state(found)
    }

    /// The same of a number, with one result.
    pub(super) fn cases_of_number(&mut self, on: &Atom, ty: Ty, arm: &mut NumberArm<'_, 'a>) -> Atom {
        let number = self.to.number;
        let found = self.cases(on.clone(), number, &[ty], &mut |work, ctor, fields| {
            let found = arm(work, ctor, &fields);
            vec![found.unwrap_or_else(|| work.never(ty))]
        });
        found.into_iter().next().unwrap_or(Atom::Unit)
    }

    /// A loop that carries what is handed on, and more, over arrays: the next values of those, and a row of each output.
    pub(super) fn carrying(
        &mut self,
        len: Atom,
        inputs: Vec<Atom>,
        init: Vec<Atom>,
        outs: &[Ty],
        body: impl FnOnce(&mut Self, Atom, &[Atom], &[Atom]) -> (Vec<Atom>, Vec<Atom>),
    ) -> Vec<Atom> {
        let before = self.state();
        let types: Vec<Ty> = init.iter().map(|atom| self.b.type_of(atom)).collect();
        let rows: Vec<Ty> = inputs.iter().filter_map(|xs| self.b.type_of(xs).at(1)).collect();
        self.b.open();
        let i = self.b.param("i".into(), Ty::INT);
        self.state_again();
        let carried: Vec<Atom> = types.iter().map(|ty| self.b.param("x".into(), *ty)).collect();
        let rows: Vec<Atom> = rows.iter().map(|ty| self.b.param("x".into(), *ty)).collect();
        let (next, made) = body(self, i, &carried, &rows);
        let all = self.state().atoms().into_iter().chain(next).chain(made).collect();
        let body = self.b.close(all);
        self.set_state(before.clone());
        let outs = outs.iter().filter_map(|ty| ty.array_of());
        let types: Vec<Ty> = self.state_types().into_iter().chain(types).chain(outs).collect();
        let init: Vec<Atom> = before.atoms().into_iter().chain(init).collect();
        let mode = if init.is_empty() { Mode::Each } else { Mode::Sequence };
        let parts = Loop { mode, backward: false, len, inputs, init, accs: Vec::new(), body };
        let found = self.b.typed(&types, Op::Loop(Box::new(parts)));
        self.take_state(found)
    }

    /// Does something that hands nothing on.
    pub(super) fn apart<R>(&mut self, run: impl FnOnce(&mut Self) -> R) -> R {
        let before = self.state();
        self.forget();
        let found = run(self);
        self.set_state(before);
        found
    }

    pub(super) fn fail(&mut self, types: &[Ty], message: &str) -> Vec<Atom> {
        self.b.typed(types, Op::Fail { message: Atom::Text(message.into()) })
    }

    /// What never happens.
    pub(super) fn never(&mut self, ty: Ty) -> Atom {
        self.fail(&[ty], NEVER).into_iter().next().unwrap_or(Atom::Unit)
    }

    // Numbers.

    pub(super) fn plain(&mut self, x: Atom) -> Atom {
        let number = self.to.number;
        self.b.make(number, PLAIN, [x])
    }

    pub(super) fn none(&mut self) -> Atom {
        let number = self.to.number;
        self.b.make(number, NONE, [])
    }

    /// The innermost number.
    pub(super) fn value(&mut self, x: &Atom) -> Atom {
        let func = self.to.value_function();
        self.b.call(func, [x.clone()], &[Ty::REAL]).remove(0)
    }

    /// Whether a number is plain and 0.
    pub(super) fn is_zero(&mut self, x: &Atom) -> Atom {
        self.apart(|work| {
            work.cases_of_number(x, Ty::BOOL, &mut |work, ctor, fields| match (ctor, fields) {
                (PLAIN, [x]) => Some(work.b.compare(wengert_ir::op::Compare::Eq, x.clone(), Atom::Real(0.0))),
                _ => Some(Atom::Bool(false)),
            })
        })
    }

    /// The tag of a number, -1 if it is plain.
    pub(super) fn tag_of(&mut self, x: &Atom) -> Atom {
        self.apart(|work| {
            work.cases_of_number(x, Ty::INT, &mut |_, ctor, fields| match (ctor, fields) {
                (DUAL | NOTED | SERIES, [tag, ..]) => Some(tag.clone()),
                _ => Some(Atom::Int(-1)),
            })
        })
    }

    /// A number that varies along a tangent, unless that is zero or none.
    pub(super) fn with_tangent(&mut self, tag: &Atom, primal: &Atom, tangent: &Atom) -> Atom {
        let (num, number) = (self.to.num(), self.to.number);
        self.apart(|work| {
            work.cases_of_number(tangent, num, &mut |work, ctor, fields| match (ctor, fields) {
                (PLAIN, [x]) => {
                    let zero = work.b.compare(wengert_ir::op::Compare::Eq, x.clone(), Atom::Real(0.0));
                    let made = |work: &mut Work<'_>| {
                        work.b.make(number, DUAL, [tag.clone(), primal.clone(), tangent.clone()])
                    };
                    Some(work.choose_number(zero, |_| primal.clone(), made))
                }
                (NONE, _) => Some(primal.clone()),
                _ => Some(work.b.make(number, DUAL, [tag.clone(), primal.clone(), tangent.clone()])),
            })
        })
    }

    /// A number without a tag.
    pub(super) fn without(&mut self, tag: &Atom, x: &Atom) -> Atom {
        let (func, num) = (self.to.without_function(), self.to.num());
        self.b.call(func, [tag.clone(), x.clone()], &[num]).remove(0)
    }

    /// Something of each coefficient.
    pub(super) fn each_coefficient(&mut self, coefs: &Atom, of: &dyn Fn(&mut Self, &Atom) -> Atom) -> Atom {
        let (len, num) = (self.length(coefs), self.to.num());
        let found = self.carrying(len, vec![coefs.clone()], Vec::new(), &[num], |work, _, _, rows| {
            (Vec::new(), rows.first().map(|x| of(work, x)).into_iter().collect())
        });
        found.into_iter().next().unwrap_or(Atom::Unit)
    }

    /// The tangent of a number under a tag that is not smaller than its own.
    pub(super) fn tangent_under(&mut self, tag: &Atom, x: &Atom) -> Atom {
        let num = self.to.num();
        self.apart(|work| {
            work.cases_of_number(x, num, &mut |work, ctor, fields| match (ctor, fields) {
                (DUAL, [own, _, tangent]) => {
                    let same = work.b.compare(wengert_ir::op::Compare::Eq, own.clone(), tag.clone());
                    let zero = |work: &mut Work<'_>| work.plain(Atom::Real(0.0));
                    Some(work.choose_number(
                        same,
                        |_| tangent.clone(),
                        |work| if work.to.has_series { work.tangent_inside(tag, x) } else { zero(work) },
                    ))
                }
                (SERIES, _) => Some(work.tangent_inside(tag, x)),
                _ => Some(work.plain(Atom::Real(0.0))),
            })
        })
    }

    /// The same of one in which there may be larger tags.
    fn tangent_inside(&mut self, tag: &Atom, x: &Atom) -> Atom {
        let [_, tangent] = self.split(tag, x);
        let none = self.is_none(&tangent);
        self.choose_number(none, |work| work.plain(Atom::Real(0.0)), |_| tangent.clone())
    }

    pub(super) fn length(&mut self, xs: &Atom) -> Atom {
        self.b.called("n").array(ArrayOp::Length(0), [xs.clone()])
    }
}

impl Tagged {
    fn value_function(&mut self) -> FuncId {
        let num = self.num();
        if let Some(known) = self.helpers.get(&Helper::Value) {
            return *known;
        }
        let own = self.reserve("value");
        self.helpers.insert(Helper::Value, own);
        let mut work = Work::new(self, Builder::new("value".into()));
        let x = work.b.param("x".into(), num);
        let found = work.cases_of_number(&x, Ty::REAL, &mut |work, ctor, fields| match (ctor, fields) {
            (PLAIN, [x]) => Some(x.clone()),
            (DUAL | NOTED | SERIES, [_, primal, ..]) => {
                Some(work.b.call(own, [primal.clone()], &[Ty::REAL]).remove(0))
            }
            _ => None,
        });
        let made = work.finish(vec![found]);
        *self.program.funcs.at_mut(own) = made;
        own
    }

    /// Numbers with larger tags keep them, around what is without this one.
    fn without_function(&mut self) -> FuncId {
        let (num, number) = (self.num(), self.number);
        if let Some(known) = self.helpers.get(&Helper::Without) {
            return *known;
        }
        let own = self.reserve("without");
        self.helpers.insert(Helper::Without, own);
        let mut work = Work::new(self, Builder::new("without".into()));
        let tag = work.b.param("tag".into(), Ty::INT);
        let x = work.b.param("x".into(), num);
        let found = work.cases_of_number(&x, num, &mut |work, ctor, fields| match (ctor, fields) {
            (DUAL | NOTED | SERIES, [at, primal, rest @ ..]) => {
                let same = work.b.compare(wengert_ir::op::Compare::Eq, at.clone(), tag.clone());
                let smaller = work.is_below(ctor, at, &tag);
                let inside = |work: &mut Work<'_>, x: &Atom| {
                    work.b.call(own, [tag.clone(), x.clone()], &[num]).remove(0)
                };
                Some(work.choose_number(
                    same,
                    |_| primal.clone(),
                    |work| {
                        work.choose_number(
                            smaller,
                            |_| x.clone(),
                            |work| {
                                let primal = inside(work, primal);
                                match rest {
                                    [coefs] if ctor == SERIES => {
                                        let coefs = work.each_coefficient(coefs, &inside);
                                        work.b.make(number, SERIES, [at.clone(), primal, coefs])
                                    }
                                    [tangent] => {
                                        let tangent = inside(work, tangent);
                                        work.with_tangent(at, &primal, &tangent)
                                    }
                                    _ => {
                                        let fields =
                                            [at.clone(), primal].into_iter().chain(rest.iter().cloned());
                                        work.b.make(number, NOTED, fields.collect::<Vec<_>>())
                                    }
                                }
                            },
                        )
                    },
                ))
            }
            _ => Some(x.clone()),
        });
        let made = work.finish(vec![found]);
        *self.program.funcs.at_mut(own) = made;
        own
    }
}
