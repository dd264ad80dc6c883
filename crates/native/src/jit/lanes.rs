//! Code for loops in vectors of two reals, several of them at a time, as [`super::vector`] plans.
//!
//! ```text
//!       if len >= width: go to vectors, else to the rest
//! vectors: one iteration of the body with every variable for `width` iterations; where a check would fail, go to the rest
//!       while as many iterations are left
//!       partial sums are added up
//! rest: the loop as it was, from where the vectors have stopped
//! ```

mod carried;
mod quick;

use super::body::Body;
use super::value::{condition, float_condition, integer_of};
use super::vector::Plan;
use super::zeros::{Doubtful, plain};
use super::{fused, real, wide};
use crate::choices::Words;
use crate::loops::{Int, Local, Operand, Round, Stmt, Value as Expr, Word};
use carried::{add_up, start};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::Variable;
use quick::{Done, Stored, put};
use rustc_hash::FxHashMap;
use wengert_prim::RealOp;

/// The values of a variable in the iterations that are run together.
#[derive(Clone)]
enum Lanes {
    /// All the same.
    Uniform(Value),
    /// In the first of them, and by how much more in each further one.
    Moving(Value, i64),
    /// One by one.
    Each(Vec<Value>),
    /// Pairs of reals.
    Vector(Vec<Value>),
    /// Pairs of truth values, all bits set or none.
    Mask(Vec<Value>),
}

/// How the statements of a body are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pass {
    /// One after the other.
    Whole,
    /// Without looking for strong zeros, and what is stored is not yet stored.
    Plain,
    /// With looking for them, and what is stored is not yet stored.
    Careful,
}

/// The loop that is made.
pub(super) struct Loop<'s> {
    pub(super) index: Local,
    pub(super) len: Value,
    /// The same, if it is a constant.
    pub(super) known: Option<i64>,
    pub(super) backward: bool,
    pub(super) body: &'s [Stmt],
    /// How many iterations are done, or backwards, how many are left.
    pub(super) counter: Variable,
    /// Whether to look in each iteration whether to stop.
    pub(super) stops: bool,
}

/// Makes the part in vectors. It ends where the rest of the loop begins; gives whether there is none.
pub(super) fn vectors(body: &mut Body<'_, '_, '_>, plan: &Plan<'_>, made: &Loop<'_>) -> bool {
    let few = |body: &mut Body<'_, '_, '_>| {
        pairs(body, plan, made);
    };
    wide::vectors(body, plan, made, few).unwrap_or_else(|| pairs(body, plan, made))
}

/// The same in vectors of two.
fn pairs(body: &mut Body<'_, '_, '_>, plan: &Plan<'_>, made: &Loop<'_>) -> bool {
    let width = 2 * i64::try_from(plan.unroll).unwrap_or(1);
    let least = width + i64::from(plan.keep_last);
    if made.known.is_some_and(|len| len < least) {
        return false;
    }
    let can_fail = plan.body.iter().any(|stmt| matches!(stmt, Stmt::If { .. }));
    let is_all = made.known.is_some_and(|len| len % width == 0) && !plan.keep_last && !can_fail;
    let (prepare, inside, merge, rest) = (
        body.builder.create_block(),
        body.builder.create_block(),
        body.builder.create_block(),
        body.builder.create_block(),
    );
    if made.known.is_some() {
        body.builder.ins().jump(prepare, &[]);
    } else {
        let enough = body.builder.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, made.len, least);
        body.builder.ins().brif(enough, prepare, &[], rest, &[]);
    }
    body.enter(prepare);
    let partial: Vec<Vec<Variable>> =
        plan.carried.iter().map(|carried| start(body, *carried, plan.unroll)).collect();
    body.builder.ins().jump(inside, &[]);
    body.enter_loop(inside);
    if made.stops {
        body.check_stop();
    }
    let now = body.builder.use_var(made.counter);
    let first = if made.backward { body.builder.ins().iadd_imm_s(now, -width) } else { now };
    iteration(body, plan, made, first, &partial, merge);
    let next = if made.backward { first } else { body.builder.ins().iadd_imm_s(now, width) };
    body.builder.def_var(made.counter, next);
    let left = if made.backward { next } else { body.builder.ins().isub(made.len, next) };
    let more = body.builder.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, left, least);
    body.builder.ins().brif(more, inside, &[], merge, &[]);
    body.builder.seal_block(inside);
    body.enter(merge);
    for (carried, variables) in plan.carried.iter().zip(&partial) {
        add_up(body, *carried, variables);
    }
    body.builder.ins().jump(rest, &[]);
    body.enter(rest);
    is_all
}

/// The body of the loop for several iterations, from the one with this index on.
fn iteration(
    body: &mut Body<'_, '_, '_>,
    plan: &Plan<'_>,
    made: &Loop<'_>,
    first: Value,
    partial: &[Vec<Variable>],
    merge: Block,
) {
    let mut start: FxHashMap<Local, Lanes> = FxHashMap::default();
    start.insert(made.index, Lanes::Moving(first, 1));
    for (carried, variables) in plan.carried.iter().zip(partial) {
        let values = variables.iter().map(|variable| body.builder.use_var(*variable)).collect();
        start.insert(carried.local, Lanes::Vector(values));
    }
    let values = match plan.is_quick() {
        true => quick::quickly(body, plan, start, merge),
        false => once(body, plan, start, Pass::Whole, merge).values,
    };
    for (carried, variables) in plan.carried.iter().zip(partial) {
        if let Some(Lanes::Vector(values)) = values.get(&carried.local) {
            variables
                .iter()
                .zip(values)
                .for_each(|(variable, value)| body.builder.def_var(*variable, *value));
        }
    }
}

/// What the statements of the body give, done in one way.
fn once(
    body: &mut Body<'_, '_, '_>,
    plan: &Plan<'_>,
    start: FxHashMap<Local, Lanes>,
    pass: Pass,
    merge: Block,
) -> Done {
    let mut lanes = LaneCode {
        body,
        unroll: plan.unroll,
        values: start,
        ranges: FxHashMap::default(),
        words: &plan.words,
        pass,
        stores: Vec::new(),
        doubtful: Doubtful::default(),
        looked_at: Vec::new(),
    };
    plan.body.iter().for_each(|stmt| lanes.stmt(stmt, merge));
    let LaneCode { values, stores, doubtful, looked_at, .. } = lanes;
    Done { values, stores, doubtful, looked_at }
}

/// Vectors that begin at any word.
fn anywhere() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

struct LaneCode<'l, 'c, 'a, 'f> {
    body: &'l mut Body<'c, 'a, 'f>,
    unroll: usize,
    values: FxHashMap<Local, Lanes>,
    /// Truth values that ask whether what moves is not in a range: the first, the last, and how many there are.
    ranges: FxHashMap<Local, [Value; 3]>,
    words: &'l Words<'l>,
    pass: Pass,
    /// What is not yet stored.
    stores: Vec<Stored>,
    doubtful: Doubtful,
    looked_at: Vec<Value>,
}

impl LaneCode<'_, '_, '_, '_> {
    fn stmt(&mut self, stmt: &Stmt, merge: Block) {
        match stmt {
            Stmt::Set(local, value) => {
                let word = self.words.get(*local).unwrap_or(Word::Int);
                if let Expr::OutOfRange(index, size) = value {
                    self.note_range(*local, *index, *size);
                }
                if let (Expr::CompareReal(_, a, b), Pass::Plain) = (value, self.pass) {
                    for operand in [a, b] {
                        if self.doubtful.is(operand) {
                            let lanes = self.operand(*operand);
                            self.looked_at.extend(lanes.all());
                        }
                    }
                }
                self.doubtful.note(*local, value);
                let lanes = self.value(value, word);
                self.values.insert(*local, lanes);
            }
            Stmt::Store { base, index, offset, value } => {
                let doubtful = self.doubtful.is(value);
                let value = self.stored(*value);
                let store = Stored { place: self.address(*base, *index), offset: *offset, value, doubtful };
                match self.pass {
                    Pass::Whole => put(self.body, self.unroll, &store),
                    Pass::Plain | Pass::Careful => self.stores.push(store),
                }
            }
            Stmt::If { cond, .. } => {
                let fails = self.any(*cond);
                let on = self.body.builder.create_block();
                self.body.builder.ins().brif(fails, merge, &[], on, &[]);
                self.body.enter(on);
            }
            // The plan has no others.
            Stmt::Switch { .. }
            | Stmt::For { .. }
            | Stmt::While { .. }
            | Stmt::Parallel { .. }
            | Stmt::Call { .. }
            | Stmt::Runtime { .. }
            | Stmt::Retain(..)
            | Stmt::Release(..)
            | Stmt::Free(..)
            | Stmt::Fail(..) => {}
        }
    }

    fn width(&self) -> usize {
        2 * self.unroll
    }

    fn operand(&mut self, operand: Operand) -> Lanes {
        let known = if let Operand::Local(local) = operand { self.values.get(&local) } else { None };
        match known {
            Some(lanes) => lanes.clone(),
            None => Lanes::Uniform(self.body.operand(operand)),
        }
    }

    /// Pairs of reals.
    fn pairs(&mut self, lanes: &Lanes) -> Vec<Value> {
        match lanes {
            Lanes::Vector(values) | Lanes::Mask(values) => values.clone(),
            Lanes::Uniform(value) | Lanes::Moving(value, _) => {
                vec![self.body.builder.ins().splat(types::F64X2, *value); self.unroll]
            }
            Lanes::Each(_) => Vec::new(),
        }
    }

    /// Integers one by one.
    fn each(&mut self, lanes: &Lanes) -> Vec<Value> {
        each(self.body, self.width(), lanes)
    }

    /// Truth values as bits.
    fn masks(&mut self, lanes: &Lanes) -> Vec<Value> {
        if let Lanes::Mask(values) = lanes {
            return values.clone();
        }
        let each = self.each(lanes);
        let ins = |this: &mut Self, pair: &[Value]| {
            let [a, b] = pair else { return this.body.state };
            let vector = this.body.builder.ins().splat(types::I64X2, *a);
            let vector = this.body.builder.ins().insertlane(vector, *b, 1);
            this.body.builder.ins().ineg(vector)
        };
        each.chunks(2).map(|pair| ins(self, pair)).collect()
    }

    /// What is stored: truth values as they are in memory.
    fn stored(&mut self, value: Operand) -> Lanes {
        match self.operand(value) {
            Lanes::Mask(values) => {
                let ones = self.body.builder.ins().iconst(types::I64, 1);
                let ones = self.body.builder.ins().splat(types::I64X2, ones);
                Lanes::Vector(
                    values.into_iter().map(|mask| self.body.builder.ins().band(mask, ones)).collect(),
                )
            }
            lanes @ (Lanes::Uniform(_) | Lanes::Moving(..) | Lanes::Each(_) | Lanes::Vector(_)) => lanes,
        }
    }

    /// Whether a truth value holds in any of the iterations.
    fn any(&mut self, cond: Operand) -> Value {
        let range = if let Operand::Local(cond) = cond { self.ranges.get(&cond) } else { None };
        if let Some([first, last, size]) = range.copied() {
            // What moves is in range if the first and the last are.
            let outside = IntCC::UnsignedGreaterThanOrEqual;
            let first = self.body.builder.ins().icmp(outside, first, size);
            let last = self.body.builder.ins().icmp(outside, last, size);
            return self.body.builder.ins().bor(first, last);
        }
        let lanes = self.operand(cond);
        match lanes {
            Lanes::Uniform(value) | Lanes::Moving(value, _) => value,
            Lanes::Mask(values) => {
                let all = values.into_iter().reduce(|a, b| self.body.builder.ins().bor(a, b));
                let all = all.unwrap_or(self.body.state);
                self.body.builder.ins().vany_true(all)
            }
            Lanes::Each(values) | Lanes::Vector(values) => {
                let all = values.into_iter().reduce(|a, b| self.body.builder.ins().bor(a, b));
                all.unwrap_or(self.body.state)
            }
        }
    }

    fn value(&mut self, value: &Expr, word: Word) -> Lanes {
        match value {
            Expr::Copy(x) => self.operand(*x),
            Expr::Real(op, args) => self.real(*op, args),
            Expr::Int(op, a, b) => self.integer(*op, *a, *b),
            Expr::CompareReal(compare, a, b) => self.compare(float_condition(*compare), *a, *b),
            Expr::CompareInt(compare, a, b) => self.test(condition(*compare), *a, *b),
            Expr::OutOfRange(index, size) => self.test(IntCC::UnsignedGreaterThanOrEqual, *index, *size),
            Expr::Select(cond, a, b) => self.select(*cond, *a, *b, word),
            Expr::IntToReal(x) => {
                let x = self.operand(*x);
                if let Lanes::Uniform(x) = x {
                    return Lanes::Uniform(self.body.builder.ins().fcvt_from_sint(types::F64, x));
                }
                let each = self.each(&x);
                let each: Vec<Value> =
                    each.into_iter().map(|x| self.body.builder.ins().fcvt_from_sint(types::F64, x)).collect();
                self.together(&each)
            }
            Expr::Round(round, x) => {
                let x = self.operand(*x);
                if let Lanes::Uniform(x) = x {
                    return Lanes::Uniform(super::value::rounded(self.body, *round, x));
                }
                let pairs = self.pairs(&x);
                let each = pairs.into_iter().map(|x| match round {
                    Round::Floor => self.body.builder.ins().floor(x),
                    Round::Ceil => self.body.builder.ins().ceil(x),
                    Round::Truncate | Round::Nearest => self.body.builder.ins().trunc(x),
                });
                Lanes::Vector(each.collect())
            }
            Expr::Load { base, index, offset } => self.load(*base, *index, *offset, word),
            Expr::Address { base, index, offset } => match self.address(*base, *index) {
                Place::Moving(address, step) => {
                    let address = self.body.builder.ins().iadd_imm_s(address, i64::from(*offset) * 8);
                    if step == 0 { Lanes::Uniform(address) } else { Lanes::Moving(address, step) }
                }
                Place::Each(_) => Lanes::Uniform(self.body.state),
            },
            // The plan has it only where it is the same in all iterations.
            Expr::RealToInt(x) => {
                let x = match self.operand(*x) {
                    Lanes::Uniform(x) => x,
                    Lanes::Moving(..) | Lanes::Each(_) | Lanes::Vector(_) | Lanes::Mask(_) => self.body.state,
                };
                Lanes::Uniform(self.body.builder.ins().fcvt_to_sint_sat(types::I64, x))
            }
            // The plan has none of these.
            Expr::Bits(_) | Expr::Tag(..) | Expr::Unique(..) | Expr::Alloc(..) => {
                Lanes::Uniform(self.body.state)
            }
        }
    }

    fn real(&mut self, op: RealOp, args: &[Operand]) -> Lanes {
        let op = if self.pass == Pass::Plain { plain(op) } else { op };
        let lanes: Vec<Lanes> = args.iter().map(|arg| self.operand(*arg)).collect();
        if let Some(values) = uniform(&lanes) {
            return Lanes::Uniform(real::apply(self.body, op, &values));
        }
        let lanes: Vec<Vec<Value>> = lanes.iter().map(|arg| self.pairs(arg)).collect();
        let each = (0..self.unroll).map(|place| {
            let values: Vec<Value> = lanes.iter().filter_map(|values| values.get(place).copied()).collect();
            let fused = fused::sum(self.body, op, args, &values);
            fused.unwrap_or_else(|| real::apply_pairs(self.body, op, &values))
        });
        Lanes::Vector(each.collect())
    }

    /// A comparison of reals.
    fn compare(&mut self, condition: FloatCC, a: Operand, b: Operand) -> Lanes {
        let (a, b) = (self.operand(a), self.operand(b));
        if let Some([a, b]) = uniform(&[a.clone(), b.clone()]).as_deref() {
            let flag = self.body.builder.ins().fcmp(condition, *a, *b);
            return Lanes::Uniform(self.body.builder.ins().uextend(types::I64, flag));
        }
        let (a, b) = (self.pairs(&a), self.pairs(&b));
        let pairs = a.into_iter().zip(b);
        Lanes::Mask(pairs.map(|(a, b)| self.body.builder.ins().fcmp(condition, a, b)).collect())
    }

    /// Reals one by one, in pairs.
    fn together(&mut self, each: &[Value]) -> Lanes {
        let pair = |this: &mut Self, pair: &[Value]| {
            let [a, b] = pair else { return this.body.state };
            let vector = this.body.builder.ins().scalar_to_vector(types::F64X2, *a);
            this.body.builder.ins().insertlane(vector, *b, 1)
        };
        Lanes::Vector(each.chunks(2).map(|values| pair(self, values)).collect())
    }

    fn integer(&mut self, op: Int, a: Operand, b: Operand) -> Lanes {
        let (x, y) = (self.operand(a), self.operand(b));
        if let Some([x, y]) = uniform(&[x.clone(), y.clone()]).as_deref() {
            return Lanes::Uniform(integer_of(self.body, op, *x, *y));
        }
        let moving = |lanes: &Lanes| match lanes {
            Lanes::Uniform(value) => Some((*value, 0)),
            Lanes::Moving(value, step) => Some((*value, *step)),
            Lanes::Each(_) | Lanes::Vector(_) | Lanes::Mask(_) => None,
        };
        if let (Some((first, step)), Some((second, other))) = (moving(&x), moving(&y)) {
            let step = match (op, a, b) {
                (Int::Add, _, _) => Some(step + other),
                (Int::Sub, _, _) => Some(step - other),
                (Int::Mul, _, Operand::Int(n)) => step.checked_mul(n),
                (Int::Mul, Operand::Int(n), _) => other.checked_mul(n),
                (_, _, _) => None,
            };
            if let Some(step) = step.filter(|step| step.abs() < 1 << 32) {
                let value = integer_of(self.body, op, first, second);
                return if step == 0 { Lanes::Uniform(value) } else { Lanes::Moving(value, step) };
            }
        }
        if let (Lanes::Mask(x), Lanes::Mask(y)) = (&x, &y) {
            let pairs = x.iter().zip(y);
            return Lanes::Mask(pairs.map(|(x, y)| integer_of(self.body, op, *x, *y)).collect());
        }
        let (x, y) = (self.each(&x), self.each(&y));
        let pairs = x.into_iter().zip(y);
        Lanes::Each(pairs.map(|(x, y)| integer_of(self.body, op, x, y)).collect())
    }

    /// A comparison of integers.
    fn test(&mut self, condition: IntCC, a: Operand, b: Operand) -> Lanes {
        let (a, b) = (self.operand(a), self.operand(b));
        // The plan has no other comparison of these: it is whether they do not hold.
        if let Lanes::Mask(values) = a {
            return Lanes::Mask(values.into_iter().map(|mask| self.body.builder.ins().bnot(mask)).collect());
        }
        let test = |this: &mut Self, a: Value, b: Value| {
            let flag = this.body.builder.ins().icmp(condition, a, b);
            this.body.builder.ins().uextend(types::I64, flag)
        };
        if let Some([a, b]) = uniform(&[a.clone(), b.clone()]).as_deref() {
            return Lanes::Uniform(test(self, *a, *b));
        }
        let (a, b) = (self.each(&a), self.each(&b));
        Lanes::Each(a.into_iter().zip(b).map(|(a, b)| test(self, a, b)).collect())
    }

    fn note_range(&mut self, local: Local, index: Operand, size: Operand) {
        if let (Lanes::Moving(first, step), Lanes::Uniform(size)) = (self.operand(index), self.operand(size))
        {
            let lanes = i64::try_from(self.width()).unwrap_or(1);
            let last = self.body.builder.ins().iadd_imm_s(first, (lanes - 1) * step);
            self.ranges.insert(local, [first, last, size]);
        }
    }

    fn select(&mut self, cond: Operand, a: Operand, b: Operand, word: Word) -> Lanes {
        let (cond, a, b) = (self.operand(cond), self.operand(a), self.operand(b));
        if let Some([cond, a, b]) = uniform(&[cond.clone(), a.clone(), b.clone()]).as_deref() {
            return Lanes::Uniform(self.body.builder.ins().select(*cond, *a, *b));
        }
        if word == Word::Int && [&cond, &a, &b].into_iter().any(|lanes| matches!(lanes, Lanes::Mask(_))) {
            let (masks, a, b) = (self.masks(&cond), self.masks(&a), self.masks(&b));
            let all = masks.into_iter().zip(a).zip(b);
            return Lanes::Mask(
                all.map(|((mask, a), b)| self.body.builder.ins().bitselect(mask, a, b)).collect(),
            );
        }
        if word != Word::Real {
            let (cond, a, b) = (self.each(&cond), self.each(&a), self.each(&b));
            let all = cond.into_iter().zip(a).zip(b);
            return Lanes::Each(
                all.map(|((cond, a), b)| self.body.builder.ins().select(cond, a, b)).collect(),
            );
        }
        let (a, b) = (self.pairs(&a), self.pairs(&b));
        if let Lanes::Uniform(cond) = cond {
            let all = a.into_iter().zip(b);
            return Lanes::Vector(all.map(|(a, b)| self.body.builder.ins().select(cond, a, b)).collect());
        }
        let masks = self.masks(&cond);
        let all = masks.into_iter().zip(a).zip(b);
        Lanes::Vector(all.map(|((mask, a), b)| real::choose(self.body, mask, a, b)).collect())
    }

    /// `base + 8·index` for each.
    fn address(&mut self, base: Operand, index: Operand) -> Place {
        let (base, place) = (self.operand(base), self.operand(index));
        let (base, step) = match base {
            Lanes::Uniform(base) => (base, 0),
            Lanes::Moving(base, step) => (base, step),
            Lanes::Each(_) | Lanes::Vector(_) | Lanes::Mask(_) => (self.body.state, 0),
        };
        let at = |this: &mut Self, index: Value| {
            let bytes = this.body.builder.ins().ishl_imm_s(index, 3);
            this.body.builder.ins().iadd(base, bytes)
        };
        match place {
            Lanes::Uniform(index) => Place::Moving(at(self, index), step),
            Lanes::Moving(index, more) => Place::Moving(at(self, index), step + 8 * more),
            Lanes::Each(each) | Lanes::Vector(each) | Lanes::Mask(each) => {
                Place::Each(each.into_iter().map(|index| at(self, index)).collect())
            }
        }
    }

    fn load(&mut self, base: Operand, index: Operand, offset: i32, word: Word) -> Lanes {
        let offset = offset * 8;
        let each = match self.address(base, index) {
            Place::Moving(address, 0) => {
                let ty = super::machine(word);
                return Lanes::Uniform(self.body.builder.ins().load(ty, super::flags(), address, offset));
            }
            Place::Moving(address, 8) if word == Word::Real => {
                let load = |pair: i32| {
                    self.body.builder.ins().load(types::F64X2, anywhere(), address, offset + 16 * pair)
                };
                return Lanes::Vector((0..).take(self.unroll).map(load).collect());
            }
            Place::Moving(address, step) => self.each(&Lanes::Moving(address, step)),
            Place::Each(each) => each,
        };
        let ty = super::machine(word);
        let each: Vec<Value> = each
            .into_iter()
            .map(|address| self.body.builder.ins().load(ty, super::flags(), address, offset))
            .collect();
        if word == Word::Real { self.together(&each) } else { Lanes::Each(each) }
    }
}

/// Integers one by one.
fn each(body: &mut Body<'_, '_, '_>, width: usize, lanes: &Lanes) -> Vec<Value> {
    match lanes {
        Lanes::Uniform(value) => vec![*value; width],
        Lanes::Moving(value, step) => (0..)
            .take(width)
            .map(|lane: i64| match lane * step {
                0 => *value,
                more => body.builder.ins().iadd_imm_s(*value, more),
            })
            .collect(),
        Lanes::Each(values) | Lanes::Vector(values) | Lanes::Mask(values) => values.clone(),
    }
}

/// Addresses.
enum Place {
    /// The first, and by how much more each further one is.
    Moving(Value, i64),
    /// One by one.
    Each(Vec<Value>),
}

/// The values, if each is the same in all iterations.
fn uniform(all: &[Lanes]) -> Option<Vec<Value>> {
    all.iter().map(|lanes| if let Lanes::Uniform(value) = lanes { Some(*value) } else { None }).collect()
}
