//! Long Taylor series: the coefficients of orders 1 to `n` of a number that varies are an array beside it. So the code does not grow with
//! the order, which only running need tell.
//!
//! ```text
//! func series_f(x: Real, xs: []Real, n: Int) -> (Real, []Real) { y = exp(x)  ys = series_exp(n, y, x, xs)  return y, ys }
//! ```
//!
//! It is forward mode ([`crate::jvp`]) with tangents of other types: an array has an array with one more axis, the last one, data have
//! data of a type of their own. What moves elements about moves rows of coefficients; each operation on reals is a function,
//! generated once, with loops over coefficients ([`solve`]). The order is a parameter of all of them.
//!
//! The coefficients may also be those of several infinitesimals, where what is differentiated is differentiated once more, as deep as only
//! running tells: [`cube`].

#![expect(clippy::wildcard_enum_match_arm, reason = "operations that are not done row by row are named")]

mod captured;
mod cube;
mod entry;
mod family;
mod halves;
mod ordered;
mod products;
mod ruled;
mod rules;
mod solve;
mod steps;

use crate::given::Derived;
use crate::jvp::Jvp;
use crate::types::Helper;
use crate::{Ad, Code, Key};
pub(crate) use entry::{Entry, is_same_type};
use rustc_hash::FxHashMap;
use solve::Primitive;
use wengert_base::{Name, Span};
use wengert_ir::op::{ArrayOp, Atom, Compare, IntOp, Loop, Mode, Op, Stmt, Var};
use wengert_ir::program::FuncId;
use wengert_ir::ty::{Ctor, Data, DataId, Elem, Role, Ty};
use wengert_prim::RealOp;

/// The coefficients of a number.
const SERIES: Ty = Ty::Array(Elem::Real, 1);

/// What is made for long series, apart from what other derivatives need.
#[derive(Default)]
pub(crate) struct Long {
    /// Whether tangents are long series at the moment.
    on: bool,
    /// Whether the coefficients are those of several infinitesimals.
    cube: bool,
    /// The tangent types, and the helpers, of the others while they are; else those of long series.
    tangents: FxHashMap<DataId, Option<DataId>>,
    helpers: FxHashMap<Helper, FuncId>,
    /// The types of series of data, each with that of the data.
    series: FxHashMap<DataId, DataId>,
    /// Of one infinitesimal, or of several.
    functions: FxHashMap<(Key, bool), FuncId>,
    primitives: FxHashMap<(Primitive, Vec<bool>, bool), FuncId>,
    families: FxHashMap<Primitive, FuncId>,
    scaled: Option<FuncId>,
    /// Functions that begin with an infinitesimal, and those of them that are still to be made.
    entries: FxHashMap<FuncId, Entry>,
    begun: FxHashMap<(Entry, Span), FuncId>,
    pending: Vec<(FuncId, Span)>,
}

/// The name of a type, or constructor, of series.
fn named(name: Name) -> Name {
    Name::new(&format!("{name}_series"))
}

impl Ad {
    /// Whether tangents are long series.
    pub(crate) fn is_long(&self) -> bool {
        self.long.on
    }

    /// Does something where tangents are long series, or where they are not.
    pub(crate) fn with_long<R>(&mut self, on: bool, run: impl FnOnce(&mut Ad) -> R) -> R {
        if self.long.on == on {
            return run(self);
        }
        self.switch();
        let result = run(self);
        self.switch();
        result
    }

    /// Whether tangents are the coefficients of several infinitesimals.
    pub(crate) fn is_cube(&self) -> bool {
        self.long.on && self.long.cube
    }

    /// Does something where tangents are long series of one infinitesimal, or of several.
    pub(crate) fn with_series<R>(&mut self, cube: bool, run: impl FnOnce(&mut Ad) -> R) -> R {
        let before = std::mem::replace(&mut self.long.cube, cube);
        let result = self.with_long(true, run);
        self.long.cube = before;
        result
    }

    fn switch(&mut self) {
        self.long.on = !self.long.on;
        std::mem::swap(&mut self.tangents, &mut self.long.tangents);
        std::mem::swap(&mut self.helpers, &mut self.long.helpers);
    }

    /// The type of long series of data. It has all its constructors when code needs them.
    pub(crate) fn long_data(&mut self, data: DataId) -> Option<DataId> {
        if let Some(known) = self.tangents.get(&data) {
            return *known;
        }
        if self.with_long(false, |ad| ad.tangent_data(data)).is_none() {
            self.tangents.insert(data, None);
            return None;
        }
        let name = named(self.program.data.at(data).name);
        let zero = vec![Ctor { name: "Zero".into(), fields: Vec::new() }];
        let series = self.program.data.push(Data { name, role: Role::Residual, ctors: zero });
        self.tangents.insert(data, Some(series));
        self.long.series.insert(series, data);
        Some(series)
    }

    /// What a type holds the long series of.
    pub(crate) fn long_series_of(&self, data: DataId) -> Option<DataId> {
        self.long.series.get(&data).copied()
    }

    /// The constructors of a type of long series.
    pub(crate) fn fill_long_data(&mut self, data: DataId, series: DataId) {
        for Ctor { name, fields } in self.program.data.at(data).ctors.clone() {
            let fields = fields.into_iter().filter_map(|ty| self.tangent(ty)).collect();
            self.program.data.at_mut(series).ctors.push(Ctor { name: named(name), fields });
        }
    }

    /// Value and long series of a function: from its arguments, the series of those that vary, and the order.
    pub(crate) fn long_function(&mut self, key: &Key) -> FuncId {
        let of = (key.clone(), self.long.cube);
        if let Some(known) = self.long.functions.get(&of) {
            return *known;
        }
        let results = self.jvp_results(key, 1);
        let id = self.reserve(results);
        self.long.functions.insert(of, id);
        if !self.exact && !self.long.cube {
            self.derived.insert(id, Derived { key: key.clone(), given: 1, orders: 1, is_long: true });
            self.note_derived(id);
        }
        if self.series_of_guard(id, key, 1, 1) {
            return id;
        }
        let made = self.jvp_itself(key, 1, 1);
        *self.program.funcs.at_mut(id) = made;
        id
    }

    /// The function that multiplies coefficients with factorials: it gives value and derivatives.
    fn factorials_function(&mut self) -> FuncId {
        if let Some(known) = self.long.scaled {
            return known;
        }
        let mut code = Code::new(self, "derivatives");
        let value = code.b.param("value".into(), Ty::REAL);
        let coefs = code.b.param("coefs".into(), SERIES);
        let n = code.length(&coefs);
        // The factorial, in factors that are finite: a large one times a small coefficient need not overflow.
        let zeros = code.b.array(ArrayOp::Replicate, [n.clone(), Atom::Real(0.0)]);
        let one = code.b.array(ArrayOp::Literal, [Atom::Real(1.0)]);
        let factors = code.b.called("factors").array(ArrayOp::Concat, [one, zeros]);
        let init = vec![coefs, factors, Atom::Int(0)];
        let found = code.carrying(n, init, |code, i, state| {
            let [coefs, factors, last] = <[Atom; 3]>::try_from(state).unwrap_or([const { Atom::Unit }; 3]);
            let k = code.next(&i);
            let k = code.as_real(&k);
            let factor = code.coefficient(&factors, &last);
            let more = code.real(RealOp::Mul, vec![factor, k.clone()]);
            let finite = code.b.compare(Compare::Lt, more.clone(), Atom::Real(f64::INFINITY));
            let next = code.next(&last);
            let last = code.b.select(finite.clone(), last, next);
            let factor = code.b.select(finite, more, k);
            let factors = code.b.array(ArrayOp::Set, [factors, last.clone(), factor]);
            let coef = code.coefficient(&coefs, &i);
            let count = code.next(&last);
            let coef = code.carrying(count, vec![coef], |code, j, state| {
                let factor = code.coefficient(&factors, &j);
                vec![code.real(RealOp::Mul, state.into_iter().chain([factor]).collect())]
            });
            let coefs = [coefs, i].into_iter().chain(coef).collect::<Vec<Atom>>();
            vec![code.b.array(ArrayOp::Set, coefs), factors, last]
        });
        let value = code.b.array(ArrayOp::Literal, [value]);
        let all = [value].into_iter().chain(found.into_iter().take(1)).collect::<Vec<Atom>>();
        let all = code.b.called("series").array(ArrayOp::Concat, all);
        let made = code.finish(vec![all]);
        let id = self.program.funcs.push(made);
        self.long.scaled = Some(id);
        id
    }
}

/// Value and derivatives up to an order, 1 or more, of a function of captured values and a real.
pub(crate) fn expansion(code: &mut Code<'_>, func: FuncId, args: &[Atom], order: &Atom) -> Atom {
    let mut key: Key = (func, vec![false; args.len()]);
    if let Some(last) = key.1.last_mut() {
        *last = true;
    }
    let zeros = code.b.array(ArrayOp::Replicate, [order.clone(), Atom::Real(0.0)]);
    let varies = code.ad.varying_results(func, &key.1).contains(&true);
    let (value, coefs) = if varies {
        let series = code.ad.with_series(false, |ad| ad.long_function(&key));
        let ones = code.b.array(ArrayOp::Set, [zeros, Atom::Int(0), Atom::Real(1.0)]);
        let args: Vec<Atom> = args.iter().cloned().chain([ones, order.clone()]).collect();
        let mut found = code.b.call(series, args, &[Ty::REAL, SERIES]);
        let coefs = found.pop().unwrap_or(Atom::Unit);
        (found, coefs)
    } else {
        (code.b.call(func, args, &[Ty::REAL]), zeros)
    };
    let scaled = code.ad.factorials_function();
    let args: Vec<Atom> = value.into_iter().chain([coefs]).collect();
    code.b.call(scaled, args, &[SERIES]).remove(0)
}

impl Code<'_> {
    /// The order of the long series here.
    pub(crate) fn order(&self) -> Atom {
        self.order.clone().unwrap_or(Atom::Int(0))
    }

    /// The zero series of a number.
    pub(crate) fn no_coefficients(&mut self) -> Atom {
        let n = self.order();
        self.b.called("zeros").array(ArrayOp::Replicate, [n, Atom::Real(0.0)])
    }

    /// A loop that carries values.
    fn carrying(
        &mut self,
        len: Atom,
        init: Vec<Atom>,
        body: impl FnOnce(&mut Self, Atom, Vec<Atom>) -> Vec<Atom>,
    ) -> Vec<Atom> {
        let named: Vec<(Name, Ty)> = init
            .iter()
            .map(|atom| (self.b.name_of(atom).unwrap_or("sum".into()), self.b.type_of(atom)))
            .collect();
        self.b.open();
        let i = self.b.param("i".into(), Ty::INT);
        let state = named.iter().map(|(name, ty)| self.b.param(*name, *ty)).collect();
        let next = body(self, i, state);
        let body = self.b.close(next);
        let (inputs, accs) = (Vec::new(), Vec::new());
        let parts = Loop { mode: Mode::Sequence, backward: false, len, inputs, init, accs, body };
        self.b.named(&named, Op::Loop(Box::new(parts)))
    }

    /// A loop that carries values, from its body.
    fn repeat(&mut self, len: Atom, init: Vec<Atom>, body: wengert_ir::op::Block, types: &[Ty]) -> Vec<Atom> {
        let (inputs, accs) = (Vec::new(), Vec::new());
        let parts = Loop { mode: Mode::Sequence, backward: false, len, inputs, init, accs, body };
        self.b.typed(types, Op::Loop(Box::new(parts)))
    }

    fn next(&mut self, i: &Atom) -> Atom {
        self.b.int(IntOp::Add, [i.clone(), Atom::Int(1)])
    }

    fn as_real(&mut self, i: &Atom) -> Atom {
        self.b.convert(wengert_ir::op::Convert::IntToReal, i.clone())
    }

    fn coefficient(&mut self, array: &Atom, i: &Atom) -> Atom {
        self.b.array(ArrayOp::Index, [array.clone(), i.clone()])
    }
}

/// What gives the series of an operation, with the exponent or which polygamma function it is.
fn family_of(op: RealOp) -> (Primitive, Option<Atom>) {
    match solve::family(op) {
        Some((of, number)) => (of, Some(Atom::Int(number))),
        None => (Primitive::Real(op), None),
    }
}

impl Jvp<'_, '_> {
    /// Whether an operation needs more than that it is done for rows of coefficients.
    pub(crate) fn is_for_long(op: &Op) -> bool {
        match op {
            Op::Real(..) | Op::Power { .. } | Op::Polygamma { .. } | Op::Select { .. } => true,
            Op::Array(ArrayOp::Transpose, args) => args.len() > 1,
            Op::Array(op, _) => matches!(
                op,
                ArrayOp::Sum
                    | ArrayOp::Ravel
                    | ArrayOp::Reshape
                    | ArrayOp::UnflattenLike
                    | ArrayOp::AddProduct(_)
            ),
            _ => false,
        }
    }

    /// Such an operation, with the series of its result.
    pub(crate) fn long(&mut self, stmt: &Stmt, outs: &[Var]) {
        self.code.b.push(stmt.clone());
        let Some(out) = outs.first() else { return };
        let found = match &stmt.op {
            Op::Select { cond, then, otherwise } => {
                let [then, otherwise] = [then, otherwise].map(|side| self.tangent_or_zero(0, side));
                self.code.chosen(cond, then, otherwise)
            }
            Op::Array(op, args) => self.long_array(*op, args),
            op => self.primitive(op, &Atom::Var(*out)),
        };
        if let (Some(found), Some(dots)) = (found, self.dots.first_mut()) {
            dots.insert(*out, found);
        }
    }

    fn primitive(&mut self, op: &Op, out: &Atom) -> Option<Atom> {
        let (primitive, number, args) = match op {
            Op::Real(RealOp::PowInt(n), args) if !(0..=2).contains(n) => {
                (Primitive::Power, Some(Atom::Int(*n)), args.as_slice())
            }
            Op::Real(op, args) if self.code.ad.is_cube() => {
                let (of, number) = family_of(*op);
                (of, number, args.as_slice())
            }
            Op::Real(op, args) => (Primitive::Real(*op), None, args.as_slice()),
            Op::Power { base, exponent } => {
                (Primitive::Power, Some(exponent.clone()), std::slice::from_ref(base))
            }
            Op::Polygamma { order, x } => {
                (Primitive::Polygamma, Some(order.clone()), std::slice::from_ref(x))
            }
            _ => return None,
        };
        let args: Vec<(Atom, Option<Atom>)> =
            args.iter().map(|arg| (arg.clone(), self.tangent(0, arg))).collect();
        self.code.series_of(primitive, number, &args, out)
    }

    fn long_array(&mut self, op: ArrayOp, args: &[Atom]) -> Option<Atom> {
        let first = args.first()?;
        let rank = self.code.b.type_of(first).rank();
        if matches!(op, ArrayOp::AddProduct(_)) {
            return self.long_products(op, args);
        }
        let series = self.tangent(0, first)?;
        match op {
            ArrayOp::Sum => Some(self.code.sum_of_rows(series)),
            ArrayOp::Ravel => Some(self.code.flattened(series, rank)),
            _ => {
                let like = args.get(1)?;
                let ty = self.code.b.type_of(like);
                let like = self.code.zero(Some(like), ty);
                let series = match op {
                    ArrayOp::Reshape => self.code.b.array(ArrayOp::Ravel, [series]),
                    _ => series,
                };
                Some(self.code.b.array(op, [series, like]))
            }
        }
    }
}

impl Code<'_> {
    /// One of two series.
    fn chosen(&mut self, cond: &Atom, then: Atom, otherwise: Atom) -> Option<Atom> {
        let ty = self.b.type_of(&then);
        self.b.open();
        let then = self.b.close(vec![then]);
        self.b.open();
        let otherwise = self.b.close(vec![otherwise]);
        Some(self.b.typed1(ty, Op::If { cond: cond.clone(), then, otherwise }))
    }

    /// The sum of rows, from the first to the last.
    fn sum_of_rows(&mut self, rows: Atom) -> Atom {
        let len = self.length(&rows);
        let zeros = self.no_coefficients();
        let sum = self.carrying(len, vec![zeros], |code, i, state| {
            let row = code.coefficient(&rows, &i);
            vec![code.b.array(ArrayOp::Add, state.into_iter().chain([row]).collect::<Vec<Atom>>())]
        });
        sum.into_iter().next().unwrap_or(Atom::Unit)
    }

    /// The rows of coefficients of all elements of an array with so many axes.
    fn flattened(&mut self, mut series: Atom, rank: u8) -> Atom {
        for _ in 1..rank {
            series = self.b.array(ArrayOp::Flatten, [series]);
        }
        series
    }
}
