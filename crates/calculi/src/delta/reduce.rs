//! Evaluation, call by value, with an explicit stack: every step has the name of a rule, and is counted.
//!
//! The rules of Figure 1's language are its call-by-value reductions (`β`, `let`, `case-inl`, …); those of the monad are
//! the definitions of Figure 10 (`pure`, `bind`, `deltaLet`, `runDelta`), and each equation of `eval` (Figure 10) and
//! `eval₂` (Figure 8) is a rule. A state of the machine stands for a term ([`super::readback`] shows it); moving into a
//! subterm is not a step. So steps are what section 7.4 counts as run time, and cells — pairs, closures, deltas and
//! bindings — what it counts as memory.
//!
//! A `do` under `runDelta` runs in place: a computation is made a value only where it is passed around.

#![expect(clippy::wildcard_enum_match_arm, reason = "typing excludes all other values")]

use super::builtins::{self, Outcome};
use super::errors;
use super::readback;
use super::resolve;
use super::syntax::{Builtin, Const, E, Kind, Pat, Ty};
use super::value::{Closure, Computation, Delta, DeltaMap, DeltaNode, DeltaState, Env, Value};
use crate::kit::trace::{Counts, Limits, Step, Stopped};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::rc::Rc;
use wengert_base::{Diagnostic, Span};

/// Recorded steps take at most this much text.
const RECORDED_BYTES: usize = 32 << 20;

/// Where the machine is.
pub(super) enum State {
    /// A term is to be evaluated.
    Eval(E, Env),
    /// A value has been found.
    Return(Value),
    /// `eval x u um`
    Delta(f64, Delta, Rc<DeltaMap>),
    /// `eval₂ x u v`
    Delta2(f64, Delta, Vec<f64>),
}

/// What happens to the value that is found: an evaluation context, innermost last.
pub(super) enum Kont {
    /// `□ e`
    Argument(E, Env, Span),
    /// `v □`
    Call(Value, Span),
    /// `(□, e)`
    Right(E, Env),
    /// `(v, □)`
    Left(Value),
    /// `fst □` and its like.
    Form(Form),
    /// `let p = □ in e`
    Let(Pat, E, Env),
    /// `case □ of …`
    Case(Pat, E, Pat, E, Env),
    /// `do { p ← □; e }`, where the computation has run once its value comes.
    Bind(Pat, E, Env),
    /// The value is a computation: run it.
    Run,
    /// `runDelta n □`
    EndRun,
    /// `sequence`, with what is done.
    Sequence(Rc<Vec<Value>>, Vec<Value>),
    /// `build (n, f)`, with what is done.
    Build(Value, usize, Vec<Value>),
    /// `eval x u □`
    EvalAfter(f64, Delta),
    /// `case lookup uid □ of Nothing → □, Just x → eval x u (delete uid □)`
    EvalLet(i64, Delta),
    /// `eval₂ x u □`
    Eval2After(f64, Delta),
    /// The vector as a value of the shape of this one.
    EndEval2(Value),
}

/// Forms with one operand.
pub(super) enum Form {
    Fst,
    Snd,
    Inl,
    Inr,
    Pure,
    Roll(Rc<Ty>),
    Unroll,
}

/// What a reduction came to.
pub(crate) struct Reduction {
    /// The value, unless a limit was met.
    pub(crate) value: Option<Value>,
    pub(crate) counts: Counts,
    pub(crate) steps: Vec<Step>,
    pub(crate) stopped: Option<Stopped>,
    /// The last term.
    pub(crate) end: String,
    /// What `eval` was called with first: a factor, and the delta of a whole run.
    pub(crate) first_eval: Option<(f64, Delta)>,
}

/// Evaluates a closed term.
pub(crate) fn reduce(e: &E, limits: &Limits) -> Result<Reduction, Diagnostic> {
    // Constants are remembered by their place in the program, which therefore has to stay.
    let program = resolve::resolve(e);
    let mut machine = Machine {
        konts: Vec::new(),
        deltas: Vec::new(),
        counts: Counts::default(),
        cells: 0,
        program: resolve::size(&program),
        operations: 0,
        functions: FxHashMap::default(),
        first_eval: None,
    };
    let mut recorder = Recorder { limit: limits.recorded, bytes: 0, steps: Vec::new(), pending: None };
    let mut state = State::Eval(Rc::clone(&program), Env::default());
    let mut stopped = None;
    loop {
        if let Some(rule) = machine.pending(&state) {
            stopped = machine.over(limits);
            if stopped.is_some() {
                break;
            }
            recorder.before(rule, || readback::state(&state, &machine.konts, &machine.deltas));
            machine.counts.step(rule);
        }
        state = match state {
            State::Return(value) if machine.konts.is_empty() => {
                state = State::Return(value);
                break;
            }
            other => machine.transition(other)?,
        };
    }
    let size = machine.size();
    machine.counts.size(size);
    machine.counts.more.insert("numeric operations", machine.operations);
    machine.counts.more.insert("cells", machine.cells);
    machine.counts.more.insert("program nodes", machine.program);
    let end = readback::state(&state, &machine.konts, &machine.deltas).0;
    let steps = recorder.finish(&end);
    let value = match state {
        State::Return(value) if stopped.is_none() => Some(value),
        State::Return(_) | State::Eval(..) | State::Delta(..) | State::Delta2(..) => None,
    };
    Ok(Reduction { value, counts: machine.counts, steps, stopped, end, first_eval: machine.first_eval })
}

struct Recorder {
    limit: u64,
    bytes: usize,
    steps: Vec<Step>,
    pending: Option<(&'static str, String, Option<Range<usize>>)>,
}

impl Recorder {
    /// A step begins: its first term is the last term of the step before.
    fn before(&mut self, rule: &'static str, show: impl FnOnce() -> (String, Option<Range<usize>>)) {
        let full = self.steps.len() as u64 >= self.limit || self.bytes > RECORDED_BYTES;
        if full || (self.pending.is_some() && self.steps.len() as u64 + 1 > self.limit) {
            return;
        }
        let (text, range) = show();
        self.bytes += 2 * text.len();
        self.close(&text);
        if (self.steps.len() as u64) < self.limit {
            self.pending = Some((rule, text, range));
        }
    }

    fn close(&mut self, after: &str) {
        if let Some((rule, before, redex)) = self.pending.take() {
            self.steps.push(Step { rule, before, redex, after: after.into() });
        }
    }

    fn finish(mut self, end: &str) -> Vec<Step> {
        self.close(end);
        self.steps
    }
}

pub(super) struct Machine {
    konts: Vec<Kont>,
    deltas: Vec<DeltaState>,
    counts: Counts,
    pub(super) cells: u64,
    program: u64,
    pub(super) operations: u64,
    /// Constants that have been met, so that each is allocated once.
    functions: FxHashMap<usize, Rc<Const>>,
    first_eval: Option<(f64, Delta)>,
}

impl Machine {
    fn size(&self) -> u64 {
        self.program + self.cells + self.konts.len() as u64
    }

    fn over(&mut self, limits: &Limits) -> Option<Stopped> {
        let size = self.size();
        self.counts.size(size);
        if self.counts.steps >= limits.steps {
            Some(Stopped::Steps)
        } else if size > limits.size {
            Some(Stopped::Size)
        } else {
            None
        }
    }

    /// The rule that the next transition is, if it is one.
    fn pending(&self, state: &State) -> Option<&'static str> {
        let top = self.konts.last();
        match state {
            State::Eval(e, _) => match &e.kind {
                Kind::LetRec(..) => Some("letrec"),
                Kind::Pure(_) if matches!(top, Some(Kont::Run)) => Some("pure"),
                _ => None,
            },
            State::Delta(_, u, _) => Some(match &**u {
                DeltaNode::Zero => "eval-Zero",
                DeltaNode::OneHot(_) => "eval-OneHot",
                DeltaNode::Scale(..) => "eval-Scale",
                DeltaNode::Add(..) => "eval-Add",
                DeltaNode::Var(_) => "eval-Var",
                DeltaNode::Let(..) => "eval-Let",
            }),
            State::Delta2(_, u, _) => Some(match &**u {
                DeltaNode::Zero => "eval₂-Zero",
                DeltaNode::OneHot(_) => "eval₂-OneHot",
                DeltaNode::Scale(..) => "eval₂-Scale",
                DeltaNode::Add(..) => "eval₂-Add",
                DeltaNode::Var(_) => "eval₂-Var",
                DeltaNode::Let(..) => "eval₂-Let",
            }),
            State::Return(value) => match top? {
                Kont::Call(Value::Closure(_), _) => Some("β"),
                Kont::Call(Value::Function(constant, args), _) => builtins::rule(constant, args.len()),
                Kont::Let(..) => Some("let"),
                Kont::Case(..) => Some(if matches!(value, Value::Inl(_)) { "case-inl" } else { "case-inr" }),
                Kont::Bind(..) => Some("bind"),
                Kont::EndRun => Some("runDelta"),
                Kont::Form(Form::Fst) => Some("fst"),
                Kont::Form(Form::Snd) => Some("snd"),
                Kont::Form(Form::Unroll) => Some("unroll"),
                Kont::EvalLet(uid, _) => {
                    let Value::Map(map) = value else { return None };
                    Some(if map.contains_key(uid) { "eval-Just" } else { "eval-Nothing" })
                }
                Kont::Run => match value {
                    Value::Computation(computation) => match &**computation {
                        Computation::Pure(_) => Some("pure"),
                        Computation::DeltaLet(_) => Some("deltaLet"),
                        Computation::Sequence(_) => Some("sequence"),
                        Computation::Do(..) => None,
                    },
                    _ => None,
                },
                _ => None,
            },
        }
    }

    fn transition(&mut self, state: State) -> Result<State, Diagnostic> {
        match state {
            State::Eval(e, env) => self.evaluate(&e, env),
            State::Return(value) => match self.konts.pop() {
                Some(kont) => self.plug(value, kont),
                None => Ok(State::Return(value)),
            },
            State::Delta(x, u, map) => Ok(self.eval(x, &u, map)),
            State::Delta2(x, u, vector) => self.eval2(x, &u, vector),
        }
    }

    fn evaluate(&mut self, e: &E, env: Env) -> Result<State, Diagnostic> {
        let go = |e: &E, env: Env| Ok(State::Eval(Rc::clone(e), env));
        match &e.kind {
            Kind::Var(name, level) => {
                let value = env.get(*level).ok_or_else(|| errors::unbound(e.span, name.as_str()))?;
                Ok(State::Return(value.clone()))
            }
            Kind::Const(constant) => Ok(State::Return(self.constant(constant, e))),
            Kind::Lam(pat, ty, body) => {
                self.cells += 1;
                let (pat, ty, body) = (pat.clone(), ty.clone(), Rc::clone(body));
                Ok(State::Return(Value::Closure(Rc::new(Closure { pat, ty, body, env, recursive: None }))))
            }
            Kind::LetRec(name, _, value, body) => {
                let Kind::Lam(pat, ty, inner) = &value.kind else {
                    return Err(errors::recursion(value.span, name.as_str()));
                };
                self.cells += 2;
                let (pat, ty, inner) = (pat.clone(), ty.clone(), Rc::clone(inner));
                let closure = Closure { pat, ty, body: inner, env: env.clone(), recursive: Some(*name) };
                go(body, env.with(Value::Closure(Rc::new(closure))))
            }
            Kind::App(f, x) => self.into(Kont::Argument(Rc::clone(x), env.clone(), e.span), f, env),
            Kind::Let(pat, value, body) => {
                self.into(Kont::Let(pat.clone(), Rc::clone(body), env.clone()), value, env)
            }
            Kind::Pair(a, b) => self.into(Kont::Right(Rc::clone(b), env.clone()), a, env),
            Kind::Fst(a) => self.into(Kont::Form(Form::Fst), a, env),
            Kind::Snd(a) => self.into(Kont::Form(Form::Snd), a, env),
            Kind::Inl(a) => self.into(Kont::Form(Form::Inl), a, env),
            Kind::Inr(a) => self.into(Kont::Form(Form::Inr), a, env),
            Kind::Roll(ty, a) => self.into(Kont::Form(Form::Roll(Rc::new(ty.clone()))), a, env),
            Kind::Unroll(a) => self.into(Kont::Form(Form::Unroll), a, env),
            Kind::Case(scrutinee, p, a, q, b) => {
                let kont = Kont::Case(p.clone(), Rc::clone(a), q.clone(), Rc::clone(b), env.clone());
                self.into(kont, scrutinee, env)
            }
            Kind::Ann(a, _) => go(a, env),
            Kind::Pure(a) => {
                if self.runs() {
                    return go(a, env);
                }
                self.into(Kont::Form(Form::Pure), a, env)
            }
            Kind::Do(pat, value, rest) => {
                if self.runs() {
                    self.konts.push(Kont::Bind(pat.clone(), Rc::clone(rest), env.clone()));
                    return self.into(Kont::Run, value, env);
                }
                self.cells += 1;
                let computation = Computation::Do(pat.clone(), Rc::clone(value), Rc::clone(rest), env);
                Ok(State::Return(Value::Computation(Rc::new(computation))))
            }
            Kind::Opaque(_) => Err(errors::expected(e.span, "a term", "…")),
        }
    }

    fn into(&mut self, kont: Kont, e: &E, env: Env) -> Result<State, Diagnostic> {
        self.konts.push(kont);
        Ok(State::Eval(Rc::clone(e), env))
    }

    /// Whether the term here is a computation that is to run at once; if so, that is noted by the caller's doing it.
    fn runs(&mut self) -> bool {
        let runs = matches!(self.konts.last(), Some(Kont::Run));
        if runs {
            self.konts.pop();
        }
        runs
    }

    fn constant(&mut self, constant: &Const, e: &E) -> Value {
        match constant {
            Const::Real(x) => Value::Real(*x),
            Const::Int(n) => Value::Int(*n),
            Const::Str(text) => Value::Str(Rc::clone(text)),
            Const::Unit => Value::Unit,
            Const::Fun(Builtin::Zero) => Value::Delta(Rc::new(DeltaNode::Zero)),
            Const::Fun(Builtin::EmptyMap) => Value::Map(Rc::new(DeltaMap::default())),
            Const::Poly(super::syntax::Poly::Zero, Some(ty)) => {
                super::polytypic::zero(ty).unwrap_or(Value::Unit)
            }
            Const::RealOp(_) | Const::Leaf(_) | Const::Overloaded(_) | Const::Poly(..) | Const::Fun(_) => {
                let key = Rc::as_ptr(e) as usize;
                let constant = self.functions.entry(key).or_insert_with(|| Rc::new(constant.clone()));
                Value::Function(Rc::clone(constant), Rc::default())
            }
        }
    }

    /// Binds a pattern, and counts the projections that it stands for.
    fn bind(&mut self, pat: &Pat, value: &Value, env: Env, span: Span) -> Result<Env, Diagnostic> {
        match pat {
            Pat::Wild => Ok(env),
            Pat::Var(_) => {
                self.cells += 1;
                Ok(env.with(value.clone()))
            }
            Pat::Pair(a, b) => {
                let (left, right) = value.halves().ok_or_else(|| errors::shape(span, "a pair pattern"))?;
                for rule in ["fst", "snd"] {
                    self.counts.step(rule);
                }
                let env = self.bind(a, left, env, span)?;
                super::syntax::grow(|| self.bind(b, right, env, span))
            }
        }
    }

    fn enter(&mut self, pat: &Pat, value: &Value, e: &E, env: Env) -> Result<State, Diagnostic> {
        let env = self.bind(pat, value, env, e.span)?;
        Ok(State::Eval(Rc::clone(e), env))
    }

    /// The value in its context.
    fn plug(&mut self, value: Value, kont: Kont) -> Result<State, Diagnostic> {
        match kont {
            Kont::Argument(x, env, span) => self.into(Kont::Call(value, span), &x, env),
            Kont::Call(function, span) => self.call(function, value, span),
            Kont::Right(b, env) => self.into(Kont::Left(value), &b, env),
            Kont::Left(left) => {
                self.cells += 1;
                Ok(State::Return(Value::pair(left, value)))
            }
            Kont::Form(form) => self.form(form, &value),
            Kont::Let(pat, body, env) => self.enter(&pat, &value, &body, env),
            Kont::Case(p, a, q, b, env) => match &value {
                Value::Inl(cell) => self.enter(&p, &cell.a, &a, env),
                Value::Inr(cell) => self.enter(&q, &cell.a, &b, env),
                _ => Err(errors::shape(a.span, "`case`")),
            },
            Kont::Bind(pat, rest, env) => {
                self.konts.push(Kont::Run);
                self.enter(&pat, &value, &rest, env)
            }
            Kont::Run => self.run(&value),
            Kont::EndRun => self.end_run(&value),
            Kont::Sequence(items, mut done) => {
                done.push(value);
                Ok(self.sequence(items, done))
            }
            Kont::Build(f, count, mut done) => {
                done.push(value);
                self.build(f, count, done)
            }
            Kont::EvalAfter(x, u) => match value {
                Value::Map(map) => Ok(State::Delta(x, u, map)),
                _ => Err(errors::shape(Span::NOWHERE, "`eval`")),
            },
            Kont::EvalLet(uid, u1) => match value {
                // eval x (Let uid u₁ u₂) um, after um₂ = eval x u₂ um: what uid contributes goes to u₁.
                Value::Map(mut map) => match Rc::make_mut(&mut map).remove(&uid) {
                    None => Ok(State::Return(Value::Map(map))),
                    Some(x) => Ok(State::Delta(x, u1, map)),
                },
                _ => Err(errors::shape(Span::NOWHERE, "`eval`")),
            },
            Kont::Eval2After(..) | Kont::EndEval2(_) => Err(errors::shape(Span::NOWHERE, "`eval₂`")),
        }
    }

    fn form(&mut self, form: Form, value: &Value) -> Result<State, Diagnostic> {
        let wrong = |what| errors::shape(Span::NOWHERE, what);
        let built = match form {
            Form::Fst => return Ok(State::Return(value.halves().ok_or_else(|| wrong("`fst`"))?.0.clone())),
            Form::Snd => return Ok(State::Return(value.halves().ok_or_else(|| wrong("`snd`"))?.1.clone())),
            Form::Unroll => match value {
                Value::Roll(cell, _) => return Ok(State::Return(cell.a.clone())),
                _ => return Err(wrong("`unroll`")),
            },
            Form::Inl => Value::inl(value.clone()),
            Form::Inr => Value::inr(value.clone()),
            Form::Pure => Value::Computation(Rc::new(Computation::Pure(value.clone()))),
            Form::Roll(ty) => Value::roll(value.clone(), ty),
        };
        self.cells += 1;
        Ok(State::Return(built))
    }

    fn call(&mut self, function: Value, argument: Value, span: Span) -> Result<State, Diagnostic> {
        match function {
            Value::Closure(closure) => {
                let mut env = closure.env.clone();
                if closure.recursive.is_some() {
                    env = env.with(Value::Closure(Rc::clone(&closure)));
                }
                self.enter(&closure.pat, &argument, &closure.body, env)
            }
            Value::Function(constant, args) => {
                match builtins::apply(self, &constant, &args, argument, span)? {
                    Outcome::Value(value) => Ok(State::Return(value)),
                    Outcome::RunDelta(first, computation) => {
                        self.deltas.push(DeltaState { next: first, binds: Vec::new() });
                        self.konts.extend([Kont::EndRun, Kont::Run]);
                        Ok(State::Return(computation))
                    }
                    Outcome::Eval(x, u, map) => {
                        self.first_eval.get_or_insert_with(|| (x, Rc::clone(&u)));
                        Ok(State::Delta(x, u, map))
                    }
                    Outcome::Eval2(x, u, vector, shape) => {
                        self.konts.push(Kont::EndEval2(shape));
                        Ok(State::Delta2(x, u, vector))
                    }
                    Outcome::Build(f, count) => self.build(f, count, Vec::new()),
                }
            }
            _ => Err(errors::shape(span, "an application")),
        }
    }

    fn build(&mut self, f: Value, count: usize, done: Vec<Value>) -> Result<State, Diagnostic> {
        self.cells += 1;
        if done.len() >= count {
            return Ok(State::Return(Value::Vector(Rc::new(done))));
        }
        let index = i64::try_from(done.len()).unwrap_or(i64::MAX);
        self.konts.push(Kont::Build(f.clone(), count, done));
        self.konts.push(Kont::Call(f, Span::NOWHERE));
        Ok(State::Return(Value::Int(index)))
    }

    /// `m s` for a computation `m` and the state at hand.
    fn run(&mut self, value: &Value) -> Result<State, Diagnostic> {
        let Value::Computation(computation) = value else {
            return Err(errors::shape(Span::NOWHERE, "`runDelta`"));
        };
        match &**computation {
            Computation::Pure(value) => Ok(State::Return(value.clone())),
            Computation::Do(pat, e, rest, env) => {
                self.konts.push(Kont::Bind(pat.clone(), Rc::clone(rest), env.clone()));
                self.into(Kont::Run, e, env.clone())
            }
            Computation::DeltaLet(u) => {
                let state =
                    self.deltas.last_mut().ok_or_else(|| errors::shape(Span::NOWHERE, "`deltaLet`"))?;
                let id = state.next;
                state.next += 1;
                state.binds.push((id, Rc::clone(u)));
                self.cells += 1;
                Ok(State::Return(Value::Int(id)))
            }
            Computation::Sequence(items) => Ok(self.sequence(Rc::clone(items), Vec::new())),
        }
    }

    fn sequence(&mut self, items: Rc<Vec<Value>>, done: Vec<Value>) -> State {
        self.cells += 1;
        let Some(next) = items.get(done.len()).cloned() else {
            return State::Return(Value::Vector(Rc::new(done)));
        };
        self.konts.extend([Kont::Sequence(items, done), Kont::Run]);
        State::Return(next)
    }

    /// `runDelta`: the result's delta in its bindings, the oldest outermost.
    fn end_run(&mut self, value: &Value) -> Result<State, Diagnostic> {
        let wrong = || errors::shape(Span::NOWHERE, "`runDelta`");
        let state = self.deltas.pop().ok_or_else(wrong)?;
        let body = value.halves().and_then(|(_, u)| u.delta()).ok_or_else(wrong)?;
        let count = self.counts.more.entry("delta bindings").or_default();
        *count += state.binds.len() as u64;
        let wrap = |body: Delta, (id, u): (i64, Delta)| Rc::new(DeltaNode::Let(id, u, body));
        self.cells += state.binds.len() as u64;
        Ok(State::Return(Value::Delta(state.binds.into_iter().rev().fold(Rc::clone(body), wrap))))
    }

    /// The equations of `eval` in Figure 10.
    fn eval(&mut self, x: f64, u: &Delta, mut map: Rc<DeltaMap>) -> State {
        match &**u {
            DeltaNode::Zero => State::Return(Value::Map(map)),
            DeltaNode::Scale(y, u) => {
                self.operations += 1;
                State::Delta(wengert_prim::special::mul_zero(x, *y), Rc::clone(u), map)
            }
            DeltaNode::Add(u1, u2) => {
                self.konts.push(Kont::EvalAfter(x, Rc::clone(u2)));
                State::Delta(x, Rc::clone(u1), map)
            }
            DeltaNode::Var(id) | DeltaNode::OneHot(id) => {
                self.operations += 1;
                *Rc::make_mut(&mut map).entry(*id).or_insert(0.0) += x;
                State::Return(Value::Map(map))
            }
            DeltaNode::Let(id, u1, u2) => {
                self.konts.push(Kont::EvalLet(*id, Rc::clone(u1)));
                State::Delta(x, Rc::clone(u2), map)
            }
        }
    }

    /// The equations of `eval₂` in Figure 8.
    fn eval2(&mut self, x: f64, u: &Delta, mut vector: Vec<f64>) -> Result<State, Diagnostic> {
        match &**u {
            DeltaNode::Scale(y, u) => {
                self.operations += 1;
                return Ok(State::Delta2(wengert_prim::special::mul_zero(x, *y), Rc::clone(u), vector));
            }
            DeltaNode::Add(u1, u2) => {
                self.konts.push(Kont::Eval2After(x, Rc::clone(u2)));
                return Ok(State::Delta2(x, Rc::clone(u1), vector));
            }
            DeltaNode::OneHot(i) => {
                self.operations += 1;
                let length = vector.len();
                let slot = usize::try_from(*i - 1).ok().and_then(|i| vector.get_mut(i));
                *slot.ok_or_else(|| errors::index(Span::NOWHERE, *i, length))? += x;
            }
            DeltaNode::Zero => {}
            DeltaNode::Var(_) | DeltaNode::Let(..) => return Err(errors::shape(Span::NOWHERE, "`eval₂`")),
        }
        match self.konts.pop() {
            Some(Kont::Eval2After(x, u)) => Ok(State::Delta2(x, u, vector)),
            Some(Kont::EndEval2(shape)) => {
                self.cells += vector.len() as u64;
                let filled = builtins::fill(&shape, &mut vector.into_iter());
                Ok(State::Return(filled.ok_or_else(|| errors::shape(Span::NOWHERE, "`eval₂`"))?))
            }
            Some(_) | None => Err(errors::shape(Span::NOWHERE, "`eval₂`")),
        }
    }
}
