//! The reduction of Corollary 16 on large terms: the same rules, counted, in time and memory proportional to the count.
//!
//! A state of the machine is a term up to `≡`: explicit substitutions live in one heap, youngest last, and a variable is a
//! pointer to its cell ("structural equivalence relates terms which would correspond to the same state of an abstract
//! machine", section 4). Evaluation is by value and does not enter abstractions. What makes it linear:
//!
//! - A pair is not copied: rule (16) and (8) name its parts first, so that (9) copies two variables.
//! - A variable `x′` of type `R^⊥` is not replaced. `x′ g` is kept as a *tagged summand*, and adding two sums factors
//!   (17) the summands of one variable. Only when a number is needed is the **youngest** variable replaced (9) and
//!   applied (7) (11): a cell refers to older ones only, so by then all its occurrences are factored. This is where the
//!   order of backpropagation comes from.
//!
//! The size of a state is counted as it lies in memory: the nodes of the program once, however often they are shared, and what
//! the heap, the stack, the frames, closures, pairs and sums that are alive hold; see [`Space`].
//!
//! Without (17) in the set of rules each `x′ g` is reduced where it stands, which doubles the work at every sharing.

use super::reduce::{Rule, component_variables};
use super::syntax::{self, Kind, Node, Symbol, Tm, Ty, Var, add, app, deep, num, pair, sub, var};
use crate::kit::trace::{Counts, Limits, Stopped};
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use wengert_prim::RealOp;

/// What a reduction by the machine ends in.
pub struct Outcome {
    /// The normal form.
    pub end: Tm,
    /// Counts by rule.
    pub counts: Counts,
}

/// Why there is no outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Halt {
    /// A limit was met; the counts up to there.
    Limit(Stopped, Box<Counts>),
    /// A number depends on a free variable: the term is outside what the machine reduces, [`super::reduce`] does.
    Open,
}

/// Reduces a term without free variables other than tags of type `R^⊥`, by β, η as far as needed, and (17) if `factoring`.
pub fn run(tm: &Tm, factoring: bool, limits: &Limits) -> Result<Outcome, Halt> {
    let mut machine = Machine {
        factoring,
        limits: *limits,
        counts: Counts::default(),
        cells: Vec::new(),
        stack: Vec::new(),
        captured: FxHashMap::default(),
        serial: 0,
        base: syntax::distinct_nodes(tm),
        meter: Rc::default(),
    };
    let value = machine.evaluate(tm)?;
    machine.finish(value)
}

#[derive(Clone)]
enum Value {
    Num(f64),
    Pair(Rc<Parts>),
    Closure(Rc<Closure>),
    /// The variable of a cell: of type `R^⊥`, or a part of a pair.
    Cell(u32),
    /// A free tag.
    Free(Var),
    Sum(Rc<Sum>),
}

/// The nodes that something in memory takes: added to the machine's meter when it is made, taken away when it is dropped.
struct Space {
    meter: Rc<Cell<u64>>,
    nodes: u64,
}

impl Space {
    fn new(meter: &Rc<Cell<u64>>, nodes: u64) -> Space {
        meter.set(meter.get() + nodes);
        Space { meter: meter.clone(), nodes }
    }

    fn set(&mut self, nodes: u64) {
        self.meter.set(self.meter.get() - self.nodes + nodes);
        self.nodes = nodes;
    }
}

impl Clone for Space {
    fn clone(&self) -> Space {
        Space::new(&self.meter, self.nodes)
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        self.meter.set(self.meter.get() - self.nodes);
    }
}

struct Parts {
    first: Value,
    second: Value,
    /// One node, and a pointer to each part.
    _space: Space,
}

struct Closure {
    lam: Tm,
    captured: Vec<(u64, Entry)>,
    /// One node, and one for each variable.
    _space: Space,
}

#[derive(Clone)]
enum Entry {
    Cell(u32),
    /// A linear variable: (11) replaces it at once.
    Linear(f64),
}

/// `Σ x′ g + rest`
#[derive(Clone)]
struct Sum {
    tagged: BTreeMap<Tag, (Value, f64)>,
    rest: Option<Value>,
    /// `SUMMAND` nodes for each.
    space: Space,
}

/// `x′ g +`
const SUMMAND: u64 = 4;

impl Sum {
    fn new(meter: &Rc<Cell<u64>>) -> Sum {
        Sum { tagged: BTreeMap::new(), rest: None, space: Space::new(meter, 0) }
    }

    /// Counts anew after a change.
    fn counted(mut self) -> Sum {
        self.space.set(SUMMAND * self.tagged.len() as u64);
        self
    }
}

/// Free tags first, then cells by age; without factoring, summands of one variable stay apart.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Tag {
    Free(u64, u64),
    Cell(u32, u64),
}

/// What the variables of a body are bound to.
type Frame = Rc<RefCell<Entries>>;

struct Entries {
    map: FxHashMap<u64, Entry>,
    space: Space,
}

enum Kont {
    Argument(Tm, Frame),
    Call(Value),
    PairRight(Tm, Frame),
    PairDone(Value),
    Bind(Var, Tm, Frame),
    BindPair(Var, Var, Tm, Frame),
    AddRight(Tm, Frame),
    AddDone(Value),
    Symbol(Symbol, Vec<f64>, Tm, Frame),
    /// The sum whose youngest summand is being replaced.
    Resolve(Sum),
}

enum Control {
    Eval(Tm, Frame),
    Return(Value),
}

struct Machine {
    factoring: bool,
    limits: Limits,
    counts: Counts,
    cells: Vec<(Var, Value)>,
    stack: Vec<Kont>,
    captured: FxHashMap<*const Node, Rc<[u64]>>,
    serial: u64,
    /// The nodes of the program.
    base: u64,
    /// The nodes in memory, apart from heap and stack.
    meter: Rc<Cell<u64>>,
}

type Run<T> = Result<T, Halt>;

impl Machine {
    fn limit(&self, stopped: Stopped) -> Halt {
        Halt::Limit(stopped, Box::new(self.counts.clone()))
    }

    fn frame(&self, entries: impl Iterator<Item = (u64, Entry)>) -> Frame {
        let map: FxHashMap<u64, Entry> = entries.collect();
        let space = Space::new(&self.meter, map.len() as u64);
        Rc::new(RefCell::new(Entries { map, space }))
    }

    fn pair(&self, first: Value, second: Value) -> Value {
        Value::Pair(Rc::new(Parts { first, second, _space: Space::new(&self.meter, 3) }))
    }

    fn step(&mut self, rule: Rule) -> Run<()> {
        if self.counts.steps >= self.limits.steps {
            return Err(self.limit(Stopped::Steps));
        }
        self.counts.step(rule.name());
        let size = self.base + self.meter.get() + 2 * self.cells.len() as u64 + self.stack.len() as u64;
        self.counts.size(size);
        if size > self.limits.size {
            return Err(self.limit(Stopped::Size));
        }
        Ok(())
    }

    fn evaluate(&mut self, tm: &Tm) -> Run<Value> {
        let mut control = Control::Eval(tm.clone(), self.frame(std::iter::empty()));
        loop {
            control = match control {
                Control::Eval(tm, frame) => self.eval(&tm, frame)?,
                Control::Return(value) if self.needs_number() && has_cells(&value) => self.resolve(value)?,
                Control::Return(value) => match self.stack.pop() {
                    Some(kont) => self.resume(kont, value)?,
                    None => return Ok(value),
                },
            };
        }
    }

    /// Whether the value on its way is to be without pending variables: everywhere but in sums and pairs.
    fn needs_number(&self) -> bool {
        match self.stack.last() {
            Some(Kont::AddRight(..) | Kont::AddDone(_) | Kont::Resolve(_)) => false,
            Some(Kont::PairRight(..) | Kont::PairDone(_)) => true,
            Some(Kont::Argument(..) | Kont::Call(_) | Kont::Bind(..) | Kont::BindPair(..)) => true,
            Some(Kont::Symbol(..)) | None => true,
        }
    }

    fn eval(&mut self, tm: &Tm, frame: Frame) -> Run<Control> {
        let (next, kont) = match &tm.kind {
            Kind::Num(r) => return Ok(Control::Return(Value::Num(*r))),
            Kind::Var(x) => return Ok(Control::Return(self.variable(x, &frame)?)),
            Kind::Lam(..) => return Ok(Control::Return(self.close(tm, &frame)?)),
            Kind::App(t, u) => (t, Kont::Argument(u.clone(), frame.clone())),
            Kind::Pair(t, u) => (t, Kont::PairRight(u.clone(), frame.clone())),
            Kind::Add(t, u) => (t, Kont::AddRight(u.clone(), frame.clone())),
            Kind::Sub(t, x, u) => (u, Kont::Bind(x.clone(), t.clone(), frame.clone())),
            Kind::SubPair(t, x, y, u) => (u, Kont::BindPair(x.clone(), y.clone(), t.clone(), frame.clone())),
            Kind::Fun(f, args) => {
                let Some(first) = args.first() else { return Ok(Control::Return(Value::Num(f.eval(&[])))) };
                (first, Kont::Symbol(*f, Vec::with_capacity(args.len()), tm.clone(), frame.clone()))
            }
        };
        self.stack.push(kont);
        Ok(Control::Eval(next.clone(), frame))
    }

    /// (9), except that a variable of type `R^⊥` is left as it is.
    fn variable(&mut self, x: &Var, frame: &Frame) -> Run<Value> {
        let entry = frame.borrow().map.get(&x.id).cloned();
        match entry {
            Some(Entry::Linear(r)) => Ok(Value::Num(r)),
            Some(Entry::Cell(cell)) => self.read(cell),
            None if matches!(x.ty, Ty::Neg(_)) => Ok(Value::Free(x.clone())),
            None => Err(Halt::Open),
        }
    }

    fn read(&mut self, cell: u32) -> Run<Value> {
        let Some((x, value)) = self.cells.get(cell as usize).cloned() else { return Err(Halt::Open) };
        let alias = matches!(value, Value::Cell(_) | Value::Free(_));
        if matches!(x.ty, Ty::Neg(_)) && !alias {
            return Ok(Value::Cell(cell));
        }
        self.step(Rule::R9)?;
        Ok(value)
    }

    /// The part of a pair, with (9) if it is a variable.
    fn part(&mut self, value: &Value) -> Run<Value> {
        match value {
            Value::Cell(cell) => self.read(*cell),
            Value::Num(_) | Value::Pair(_) | Value::Closure(_) | Value::Free(_) | Value::Sum(_) => {
                Ok(value.clone())
            }
        }
    }

    fn close(&mut self, tm: &Tm, frame: &Frame) -> Run<Value> {
        let free = self
            .captured
            .entry(Rc::as_ptr(tm))
            .or_insert_with(|| syntax::free_vars(tm).iter().map(|x| x.id).collect::<Vec<_>>().into());
        let frame = frame.borrow();
        let captured: Vec<_> = free.iter().filter_map(|id| Some((*id, frame.map.get(id)?.clone()))).collect();
        let space = Space::new(&self.meter, 1 + captured.len() as u64);
        Ok(Value::Closure(Rc::new(Closure { lam: tm.clone(), captured, _space: space })))
    }

    /// A new cell for `x := value`, with the parts of a pair named by (16) and (8).
    fn store(&mut self, x: &Var, value: Value) -> Run<u32> {
        deep(|| {
            let value = match (value, &x.ty) {
                (Value::Pair(parts), Ty::Prod(a, b)) => {
                    let named = |value: &Value| matches!(value, Value::Cell(_));
                    if named(&parts.first) && named(&parts.second) {
                        Value::Pair(parts)
                    } else {
                        self.step(Rule::R16)?;
                        self.step(Rule::R8)?;
                        let (y, z) = component_variables(x, a, b);
                        let (first, second) = (self.part(&parts.first)?, self.part(&parts.second)?);
                        let first = Value::Cell(self.store(&y, first)?);
                        let second = Value::Cell(self.store(&z, second)?);
                        self.pair(first, second)
                    }
                }
                (value, _) => value,
            };
            if matches!(value, Value::Sum(_)) {
                return Err(Halt::Open);
            }
            let cell = u32::try_from(self.cells.len()).map_err(|_| self.limit(Stopped::Size))?;
            self.cells.push((x.clone(), value));
            Ok(cell)
        })
    }

    fn bind(&mut self, frame: &Frame, x: &Var, value: Value) -> Run<()> {
        let entry = match (&value, x.linear) {
            (Value::Num(r), true) => {
                self.step(Rule::R11)?;
                Entry::Linear(*r)
            }
            (_, true) => return Err(Halt::Open),
            (_, false) => Entry::Cell(self.store(x, value)?),
        };
        let entries = &mut *frame.borrow_mut();
        entries.map.insert(x.id, entry);
        entries.space.set(entries.map.len() as u64);
        Ok(())
    }

    fn resume(&mut self, kont: Kont, value: Value) -> Run<Control> {
        match kont {
            Kont::Argument(u, frame) => {
                self.stack.push(Kont::Call(value));
                Ok(Control::Eval(u, frame))
            }
            Kont::Call(f) => self.call(f, value),
            Kont::PairRight(u, frame) => {
                self.stack.push(Kont::PairDone(value));
                Ok(Control::Eval(u, frame))
            }
            Kont::PairDone(left) => Ok(Control::Return(self.pair(left, value))),
            Kont::Bind(x, body, frame) => {
                self.bind(&frame, &x, value)?;
                Ok(Control::Eval(body, frame))
            }
            Kont::BindPair(x, y, body, frame) => {
                let Value::Pair(parts) = value else { return Err(Halt::Open) };
                self.step(Rule::R8)?;
                let (first, second) = (self.part(&parts.first)?, self.part(&parts.second)?);
                self.bind(&frame, &x, first)?;
                self.bind(&frame, &y, second)?;
                Ok(Control::Eval(body, frame))
            }
            Kont::AddRight(u, frame) => {
                self.stack.push(Kont::AddDone(value));
                Ok(Control::Eval(u, frame))
            }
            Kont::AddDone(left) => Ok(Control::Return(self.add(left, value)?)),
            Kont::Symbol(f, mut done, tm, frame) => {
                let Value::Num(r) = value else { return Err(Halt::Open) };
                done.push(r);
                let args = if let Kind::Fun(_, args) = &tm.kind { args.as_slice() } else { &[] };
                if let Some(next) = args.get(done.len()).cloned() {
                    let again = frame.clone();
                    self.stack.push(Kont::Symbol(f, done, tm, frame));
                    return Ok(Control::Eval(next, again));
                }
                self.step(if f == Symbol::Op(RealOp::Mul) { Rule::R14 } else { Rule::R23 })?;
                Ok(Control::Return(Value::Num(f.eval(&done))))
            }
            Kont::Resolve(pending) => {
                let sum = self.merge(pending, value)?;
                self.resolve(Value::Sum(Rc::new(sum)))
            }
        }
    }

    fn call(&mut self, f: Value, argument: Value) -> Run<Control> {
        match f {
            Value::Closure(closure) => self.enter(&closure, argument),
            Value::Cell(_) | Value::Free(_) => {
                let Value::Num(g) = argument else { return Err(Halt::Open) };
                if let (Value::Cell(cell), false) = (&f, self.factoring) {
                    return self.apply_cell(*cell, g);
                }
                let mut sum = Sum::new(&self.meter);
                let tag = self.tag(&f);
                sum.tagged.insert(tag, (f, g));
                Ok(Control::Return(Value::Sum(Rc::new(sum.counted()))))
            }
            Value::Num(_) | Value::Pair(_) | Value::Sum(_) => Err(Halt::Open),
        }
    }

    /// (7) in a new frame.
    fn enter(&mut self, closure: &Closure, argument: Value) -> Run<Control> {
        let Kind::Lam(x, body) = &closure.lam.kind else { return Err(Halt::Open) };
        self.step(Rule::R7)?;
        let frame = self.frame(closure.captured.iter().cloned());
        self.bind(&frame, x, argument)?;
        Ok(Control::Eval(body.clone(), frame))
    }

    /// `x′ g` with `x′` replaced by (9).
    fn apply_cell(&mut self, cell: u32, g: f64) -> Run<Control> {
        let Some((_, Value::Closure(closure))) = self.cells.get(cell as usize).cloned() else {
            return Err(Halt::Open);
        };
        self.step(Rule::R9)?;
        self.enter(&closure, Value::Num(g))
    }

    fn tag(&mut self, f: &Value) -> Tag {
        self.serial += 1;
        let serial = if self.factoring { 0 } else { self.serial };
        match f {
            Value::Cell(cell) => Tag::Cell(*cell, serial),
            Value::Free(x) => Tag::Free(x.id, serial),
            Value::Num(_) | Value::Pair(_) | Value::Closure(_) | Value::Sum(_) => Tag::Free(u64::MAX, serial),
        }
    }

    /// Replaces the youngest variable of a sum; what its body gives is merged when it is there.
    fn resolve(&mut self, value: Value) -> Run<Control> {
        let Value::Sum(sum) = value else { return Ok(Control::Return(value)) };
        let mut sum = Rc::unwrap_or_clone(sum);
        match sum.tagged.last_key_value() {
            Some((Tag::Cell(cell, _), (_, g))) => {
                let (cell, g) = (*cell, *g);
                sum.tagged.pop_last();
                let control = self.apply_cell(cell, g)?;
                self.stack.push(Kont::Resolve(sum.counted()));
                Ok(control)
            }
            Some((Tag::Free(..), _)) => Ok(Control::Return(Value::Sum(Rc::new(sum)))),
            None => Ok(Control::Return(sum.rest.unwrap_or(Value::Num(0.0)))),
        }
    }

    fn add(&mut self, left: Value, right: Value) -> Run<Value> {
        match (left, right) {
            (Value::Num(r), Value::Num(q)) => {
                self.step(Rule::R12)?;
                Ok(Value::Num(r + q))
            }
            (Value::Pair(a), Value::Pair(b)) => deep(|| {
                self.step(Rule::R13)?;
                let (t1, u1) = (self.part(&a.first)?, self.part(&b.first)?);
                let first = self.add(t1, u1)?;
                let (t2, u2) = (self.part(&a.second)?, self.part(&b.second)?);
                let second = self.add(t2, u2)?;
                Ok(self.pair(first, second))
            }),
            (Value::Sum(sum), other) | (other, Value::Sum(sum)) => {
                let sum = self.merge(Rc::unwrap_or_clone(sum), other)?;
                Ok(Value::Sum(Rc::new(sum)))
            }
            _ => Err(Halt::Open),
        }
    }

    /// Adds to a sum; (17) with (12) for each variable in both. The smaller one is walked through.
    fn merge(&mut self, sum: Sum, other: Value) -> Run<Sum> {
        let Value::Sum(other) = other else {
            let rest = self.add_rest(sum.rest, Some(other))?;
            return Ok(Sum { rest, ..sum });
        };
        let other = Rc::unwrap_or_clone(other);
        let (mut large, small) =
            if sum.tagged.len() < other.tagged.len() { (other, sum) } else { (sum, other) };
        for (tag, (f, g)) in small.tagged {
            let factored = match large.tagged.get(&tag) {
                Some((_, h)) => {
                    self.step(Rule::R17)?;
                    self.step(Rule::R12)?;
                    h + g
                }
                None => g,
            };
            large.tagged.insert(tag, (f, factored));
        }
        large.rest = self.add_rest(large.rest.take(), small.rest)?;
        Ok(large.counted())
    }

    /// `0` is neutral.
    fn add_rest(&mut self, a: Option<Value>, b: Option<Value>) -> Run<Option<Value>> {
        match (a, b) {
            (Some(a), Some(b)) if is_zero(&b) => Ok(Some(a)),
            (Some(a), Some(b)) if is_zero(&a) => Ok(Some(b)),
            (Some(a), Some(b)) => Ok(Some(self.add(a, b)?)),
            (a, b) => Ok(a.or(b)),
        }
    }

    /// The last term: parts of pairs replaced (9), substitutions that nothing uses dropped (10), the others kept.
    fn finish(mut self, value: Value) -> Run<Outcome> {
        let mut used = FxHashMap::default();
        let mut end = self.write(&value, &mut used)?;
        let mut cell = self.cells.len();
        while cell > 0 {
            cell -= 1;
            let (x, value) = match self.cells.get(cell) {
                Some((_, value)) => match used.get(&cell).cloned() {
                    Some(x) => (x, value.clone()),
                    None => {
                        self.step(Rule::R10)?;
                        continue;
                    }
                },
                None => continue,
            };
            let written = self.write(&value, &mut used)?;
            end = sub(end, &x, written);
        }
        Ok(Outcome { end, counts: self.counts })
    }

    fn write(&mut self, value: &Value, used: &mut FxHashMap<usize, Var>) -> Run<Tm> {
        deep(|| match value {
            Value::Num(r) => Ok(num(*r)),
            Value::Pair(parts) => {
                let (first, second) = (self.part(&parts.first)?, self.part(&parts.second)?);
                Ok(pair(self.write(&first, used)?, self.write(&second, used)?))
            }
            Value::Free(x) => Ok(var(x)),
            Value::Cell(cell) => Ok(var(&self.name(*cell, used))),
            Value::Closure(closure) => {
                let entries: FxHashMap<u64, Entry> = closure.captured.iter().cloned().collect();
                let lam = syntax::map_vars(&closure.lam, &mut |x| match entries.get(&x.id)? {
                    Entry::Cell(cell) => Some(var(&self.name(*cell, used))),
                    Entry::Linear(r) => Some(num(*r)),
                });
                Ok(syntax::renew(&lam))
            }
            Value::Sum(sum) => {
                let mut summands = Vec::with_capacity(sum.tagged.len() + 1);
                for (f, g) in sum.tagged.values() {
                    summands.push(app(self.write(f, used)?, num(*g)));
                }
                if let Some(rest) = sum.rest.as_ref().filter(|rest| summands.is_empty() || !is_zero(rest)) {
                    summands.push(self.write(rest, used)?);
                }
                Ok(summands.into_iter().reduce(add).unwrap_or_else(|| num(0.0)))
            }
        })
    }

    fn name(&self, cell: u32, used: &mut FxHashMap<usize, Var>) -> Var {
        let cell = cell as usize;
        let fresh = || self.cells.get(cell).map_or_else(|| Var::linear("a"), |(x, _)| x.renewed());
        used.entry(cell).or_insert_with(fresh).clone()
    }
}

fn has_cells(value: &Value) -> bool {
    matches!(value, Value::Sum(sum) if matches!(sum.tagged.last_key_value(), Some((Tag::Cell(..), _))))
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Num(r) => *r == 0.0,
        Value::Pair(parts) => deep(|| is_zero(&parts.first) && is_zero(&parts.second)),
        Value::Closure(_) | Value::Cell(_) | Value::Free(_) | Value::Sum(_) => false,
    }
}
