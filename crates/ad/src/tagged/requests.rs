//! What a program asks for: functions are called on numbers with a new tag, and what they give is taken apart.
//!
//! ```text
//! y, t = jvp f (x, x')        tag;  z = f(pair tag x x');  y = without tag z;  t = tangent tag z
//! y, r = linearize f (x)      tag;  a tape begins;  z = f(slots tag x);  it ends;  y = without tag z;  r = kept(tag, tape, x, z)
//! w' = backward r (w)         cells;  seed tag z w;  the tape runs backward;  w' = collect x
//! ```

#![expect(clippy::wildcard_enum_match_arm, reason = "requests are named, the others are none")]

use super::Tagged;
use super::functions::Rewrite;
use super::walks::{Walk, Way};
use crate::BEYOND;
use wengert_ir::op::{Atom, Compare, Op, Stmt};
use wengert_ir::program::{FuncId, Linear, LinearId};
use wengert_ir::ty::Ty;

/// The most coefficients of a series: an operation costs the square of the order, more than this never ends.
const MOST: i64 = 1 << 24;

/// What is done with what a pullback keeps: tag and tape, the point, and what came out.
type Opened<'r, R> = dyn FnMut(&mut R, [Atom; 2], &[Atom], &[Atom]) -> Vec<Atom> + 'r;

impl Tagged {
    /// What a pullback keeps: the tag, the tape, the point, and what came out.
    pub(super) fn kept_by(&mut self, linear: &Linear) -> Vec<Ty> {
        let (point, results) = self.around(linear);
        let all: Vec<Ty> = point.into_iter().chain(results).collect();
        let fields = self.tys(&all);
        [Ty::INT, self.tape_ty()].into_iter().chain(fields).collect()
    }

    /// The types of what a linearization varies by, and of what varies, in the program.
    fn around(&self, linear: &Linear) -> (Vec<Ty>, Vec<Ty>) {
        let func = self.program.funcs.at(linear.func);
        let params = func.param_types().into_iter().zip(&linear.active);
        let point = params.filter(|(_, active)| **active).map(|(ty, _)| ty).collect();
        (point, func.results.clone())
    }
}

impl Rewrite<'_, '_> {
    /// What a request gives.
    pub(super) fn request(&mut self, stmt: &Stmt) -> Vec<Atom> {
        match &stmt.op {
            Op::Jvp { func, args, tangents } => self.jvp(*func, args, tangents, stmt),
            Op::Linearize { linear, args } => self.linearize(*linear, args),
            Op::Backward { linear, residual, cotangents } => self.backward(*linear, residual, cotangents),
            Op::Forward { linear, residual, tangents } => self.onward(*linear, residual, tangents),
            Op::StopGradient(args) => {
                let mut all = Vec::new();
                for arg in args {
                    let ty = self.source.type_of(arg);
                    let x = self.atom(arg);
                    all.push(self.walked(Walk::Constant, ty, &[], &[x]));
                }
                all
            }
            Op::Custom(parts) => self.custom(parts, stmt),
            Op::Taylor { func, captured, order, at } => self.taylor(*func, captured, [order, at]),
            _ => self.beyond(stmt),
        }
    }

    fn beyond(&mut self, stmt: &Stmt) -> Vec<Atom> {
        let types = self.types(&stmt.outs);
        let types = self.work.to.tys(&types);
        self.work.fail(&types, BEYOND)
    }

    fn jvp(&mut self, func: FuncId, args: &[Atom], tangents: &[Option<Atom>], stmt: &Stmt) -> Vec<Atom> {
        let types: Vec<Ty> = args.iter().map(|arg| self.source.type_of(arg)).collect();
        let mut same = args.iter().zip(tangents);
        let same =
            same.all(|(x, t)| t.as_ref().is_none_or(|t| self.source.type_of(x) == self.source.type_of(t)));
        if !same {
            return self.beyond(stmt);
        }
        let tag = self.work.fresh_tag();
        let mut given = Vec::new();
        for ((x, t), ty) in args.iter().zip(tangents).zip(types) {
            let x = self.atom(x);
            given.push(match t {
                Some(t) => {
                    let t = self.atom(t);
                    self.walked(Walk::Pair, ty, std::slice::from_ref(&tag), &[x, t])
                }
                None => x,
            });
        }
        let results = self.work.to.program.funcs.at(func).results.clone();
        let found = self.call_with(func, given, &results);
        let mut all = Vec::new();
        for walk in [Walk::Without, Walk::Tangent] {
            for (value, ty) in found.iter().zip(&results) {
                all.push(self.walked(walk, *ty, std::slice::from_ref(&tag), std::slice::from_ref(value)));
            }
        }
        all
    }

    fn linearize(&mut self, linear: LinearId, args: &[Atom]) -> Vec<Atom> {
        let Linear { func, active, residual } = self.work.to.program.linears.at(linear).clone();
        let types: Vec<Ty> = args.iter().map(|arg| self.source.type_of(arg)).collect();
        let tag = self.work.fresh_tag();
        let tapes = self.work.tapes();
        let at = self.work.length(&tapes);
        let mut way = Way { given: vec![tag.clone(), at], carried: vec![Atom::Int(0)] };
        let (mut given, mut point) = (Vec::new(), Vec::new());
        for ((arg, active), ty) in args.iter().zip(&active).zip(types) {
            let x = self.atom(arg);
            if *active {
                given.extend(self.work.walk(Walk::Slots, ty, &mut way, std::slice::from_ref(&x)));
                point.push(x);
            } else {
                given.push(x);
            }
        }
        let slots = way.carried.first().cloned().unwrap_or(Atom::Int(0));
        let at = self.work.begin_tape(slots);
        let results = self.work.to.program.funcs.at(func).results.clone();
        let found = self.call_with(func, given, &results);
        let tape = self.work.end_tape(&at);
        let mut all = Vec::new();
        for (value, ty) in found.iter().zip(&results) {
            all.push(self.walked(
                Walk::Without,
                *ty,
                std::slice::from_ref(&tag),
                std::slice::from_ref(value),
            ));
        }
        let mut outs = Vec::new();
        for (value, ty) in found.iter().zip(&results) {
            outs.push(self.walked(Walk::Bare, *ty, std::slice::from_ref(&tag), std::slice::from_ref(value)));
        }
        let fields: Vec<Atom> = [tag, tape].into_iter().chain(point).chain(outs).collect();
        let residual = self.work.to.data(residual);
        all.push(self.work.b.make(residual, 0, fields));
        all
    }

    /// Value and derivatives up to an order.
    fn taylor(&mut self, func: FuncId, captured: &[Atom], [order, at]: [&Atom; 2]) -> Vec<Atom> {
        let (order, x) = (self.atom(order), self.atom(at));
        let negative = self.work.b.compare(Compare::Lt, order.clone(), Atom::Int(0));
        let large = self.work.b.compare(Compare::Gt, order.clone(), Atom::Int(MOST));
        let refused = self.work.b.select(negative, Atom::Bool(true), large);
        let ty = self.work.series_ty();
        let tag = self.work.fresh_tag();
        let captured = self.atoms(captured);
        let before = self.work.state();
        self.work.b.open();
        let found = self.work.fail(&[ty], crate::ORDER);
        let then = self.work.state_atoms().into_iter().chain(found).collect();
        let then = self.work.b.close(then);
        self.work.b.open();
        let arg = self.work.series_input(&tag, &order, &x);
        let args = captured.into_iter().chain([arg]).collect();
        let found = self.call_with(func, args, &[Ty::REAL]).into_iter().next().unwrap_or(Atom::Unit);
        let series = self.work.series_of(&tag, &order, &found);
        let found = self.work.derivatives(&order, series);
        let otherwise = self.work.state_atoms().into_iter().chain([found]).collect();
        let otherwise = self.work.b.close(otherwise);
        self.work.set_state(before);
        self.joined(Op::If { cond: refused, then, otherwise }, vec![ty])
    }

    /// Takes apart what a pullback keeps, for something that gives results of these types.
    fn opened(
        &mut self,
        linear: LinearId,
        residual: &Atom,
        results: &[Ty],
        run: &mut Opened<'_, Self>,
    ) -> Vec<Atom> {
        let of = self.work.to.program.linears.at(linear).clone();
        let count = self.work.to.around(&of).0.len();
        let on = self.atom(residual);
        let data = self.work.to.data(of.residual);
        let fields = self.work.to.program.data.at(data).ctors.first().map(|ctor| ctor.fields.clone());
        let before = self.work.state();
        self.work.b.open();
        let mut fields: Vec<Atom> =
            fields.unwrap_or_default().into_iter().map(|ty| self.work.b.param("x".into(), ty)).collect();
        let rest = fields.split_off(2.min(fields.len()));
        let first = <[Atom; 2]>::try_from(fields).unwrap_or([Atom::Unit, Atom::Unit]);
        let (point, outs) = rest.split_at_checked(count).unwrap_or((&rest, &[]));
        let found = run(self, first, point, outs);
        let all = self.work.state_atoms().into_iter().chain(found).collect();
        let arm = self.work.b.close(all);
        self.work.set_state(before);
        let types: Vec<Ty> = self.work.state_types().into_iter().chain(results.iter().copied()).collect();
        let found = self.work.b.typed(&types, Op::Match { on, arms: vec![arm] });
        self.work.take_state(found)
    }

    fn backward(&mut self, linear: LinearId, residual: &Atom, cotangents: &[Atom]) -> Vec<Atom> {
        let of = self.work.to.program.linears.at(linear).clone();
        let (types, results) = self.work.to.around(&of);
        let weights = self.atoms(cotangents);
        let made = self.work.to.tys(&types);
        self.opened(linear, residual, &made, &mut |own, [tag, tape], point, outs| {
            let cells = own.work.cells_of(&tape);
            let mut way = Way { given: vec![tag], carried: vec![cells] };
            for ((y, weight), ty) in outs.iter().zip(&weights).zip(&results) {
                own.work.walk(Walk::Seed, *ty, &mut way, &[y.clone(), weight.clone()]);
            }
            let cells = way.carried.into_iter().next().unwrap_or(Atom::Unit);
            let cells = own.work.backward(tape, cells);
            let mut way = Way { given: vec![cells], carried: vec![Atom::Int(0)] };
            let mut found = Vec::new();
            for (x, ty) in point.iter().zip(&types) {
                found.extend(own.work.walk(Walk::Collect, *ty, &mut way, std::slice::from_ref(x)));
            }
            found
        })
    }

    fn onward(&mut self, linear: LinearId, residual: &Atom, tangents: &[Atom]) -> Vec<Atom> {
        let of = self.work.to.program.linears.at(linear).clone();
        let (types, results) = self.work.to.around(&of);
        let tangents = self.atoms(tangents);
        let made = self.work.to.tys(&results);
        self.opened(linear, residual, &made, &mut |own, [tag, tape], point, outs| {
            let cells = own.work.cells_of(&tape);
            let mut way = Way { given: Vec::new(), carried: vec![cells, Atom::Int(0)] };
            for ((x, t), ty) in point.iter().zip(&tangents).zip(&types) {
                own.work.walk(Walk::Start, *ty, &mut way, &[x.clone(), t.clone()]);
            }
            let cells = way.carried.into_iter().next().unwrap_or(Atom::Unit);
            let cells = own.work.onward(tape, cells);
            let mut found = Vec::new();
            for (y, ty) in outs.iter().zip(&results) {
                found.push(own.walked(
                    Walk::Output,
                    *ty,
                    &[tag.clone(), cells.clone()],
                    std::slice::from_ref(y),
                ));
            }
            found
        })
    }
}
