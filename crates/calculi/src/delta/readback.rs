//! The term that a state of the machine stands for, for traces: values for variables, the context around the focus, and
//! which part is the redex. Long terms are cut at a budget of nodes; nothing is computed from what is shown.

use super::print;
use super::reduce::{Form, Kont, State};
use super::syntax::{Builtin, Const, E, Expr, Kind, Pat, grow, make};
use super::value::{Closure, Computation, Delta, DeltaMap, DeltaNode, DeltaState, Env, Value};
use std::ops::Range;
use std::rc::Rc;

/// Nodes of a shown term.
const BUDGET: usize = 20_000;
/// Bindings that are shown of a delta state.
const BINDINGS: usize = 12;

/// A state as text, and which bytes of it are the redex.
pub(super) fn state(state: &State, konts: &[Kont], deltas: &[DeltaState]) -> (String, Option<Range<usize>>) {
    let mut show = Show { left: BUDGET };
    let mut konts = konts.iter().rev();
    let mut deltas = deltas.iter().rev();
    let (mut e, mut running) = match state {
        State::Eval(e, env) => (show.term(e, env), false),
        State::Return(value) => {
            let value = show.value(value);
            match konts.next() {
                Some(kont) => show.plug(value, kont, false, &mut deltas),
                None => (value, false),
            }
        }
        State::Delta(x, u, map) => {
            let args = [make::real(*x), show.delta(u), opaque(map_text(map))];
            (make::apps(make::builtin(Builtin::Eval), args), false)
        }
        State::Delta2(x, u, vector) => {
            let vector = make::tuple(vector.iter().map(|x| make::real(*x)).collect());
            (make::apps(make::builtin(Builtin::Eval2), [make::real(*x), show.delta(u), vector]), false)
        }
    };
    let redex = Rc::clone(&e);
    for kont in konts {
        (e, running) = show.plug(e, kont, running, &mut deltas);
    }
    print::marked(&e, Rc::as_ptr(&redex))
}

/// A value as text.
pub(super) fn value(value: &Value) -> String {
    print::term(&Show { left: BUDGET }.value(value))
}

fn opaque(text: String) -> E {
    Expr::new(Kind::Opaque(text.into()))
}

fn map_text(map: &DeltaMap) -> String {
    let mut entries: Vec<(i64, f64)> = map.iter().map(|(id, x)| (*id, *x)).collect();
    entries.sort_by_key(|(id, _)| *id);
    let entries: Vec<String> =
        entries.iter().map(|(id, x)| format!("{id} ↦ {}", wengert_base::real::show(*x))).collect();
    format!("{{{}}}", entries.join(", "))
}

struct Show {
    left: usize,
}

impl Show {
    /// Whether another node may be shown.
    fn spend(&mut self) -> bool {
        let more = self.left > 0;
        self.left = self.left.saturating_sub(1);
        more
    }

    fn value(&mut self, value: &Value) -> E {
        if !self.spend() {
            return opaque("…".into());
        }
        grow(|| match value {
            Value::Real(x) => make::real(*x),
            Value::Int(n) => make::int(*n),
            Value::Str(text) => make::constant(Const::Str(Rc::clone(text))),
            Value::Unit => make::constant(Const::Unit),
            Value::Pair(cell) => make::pair(self.value(&cell.a), self.value(&cell.b)),
            Value::Inl(cell) => Expr::new(Kind::Inl(self.value(&cell.a))),
            Value::Inr(cell) => Expr::new(Kind::Inr(self.value(&cell.a))),
            Value::Roll(cell, ty) => Expr::new(Kind::Roll((**ty).clone(), self.value(&cell.a))),
            Value::Vector(items) => self.items(items),
            Value::Closure(closure) => self.closure(closure),
            Value::Function(constant, args) => {
                let args: Vec<E> = args.iter().map(|arg| self.value(arg)).collect();
                make::apps(make::constant((**constant).clone()), args)
            }
            Value::Delta(u) => self.delta(u),
            Value::Map(map) => opaque(map_text(map)),
            Value::Computation(computation) => self.computation(computation),
        })
    }

    fn items(&mut self, items: &[Value]) -> E {
        let items: Vec<String> = items.iter().map(|item| print::term(&self.value(item))).collect();
        opaque(format!("[{}]", items.join(", ")))
    }

    fn closure(&mut self, closure: &Closure) -> E {
        if let Some(name) = closure.recursive {
            return make::var(name);
        }
        let depth = closure.env.depth();
        let body = self.open(&closure.body, &closure.env, depth);
        Expr::new(Kind::Lam(closure.pat.clone(), closure.ty.clone(), body))
    }

    fn computation(&mut self, computation: &Computation) -> E {
        match computation {
            Computation::Pure(value) => make::pure(self.value(value)),
            Computation::Do(pat, e, rest, env) => {
                let value = self.term(e, env);
                let rest = self.open(rest, env, env.depth());
                make::monadic(pat.clone(), value, rest)
            }
            Computation::DeltaLet(u) => make::app(make::builtin(Builtin::DeltaLet), self.delta(u)),
            Computation::Sequence(items) => make::app(make::builtin(Builtin::Sequence), self.items(items)),
        }
    }

    fn delta(&mut self, u: &Delta) -> E {
        if !self.spend() {
            return opaque("…".into());
        }
        let builtin = make::builtin;
        grow(|| match &**u {
            DeltaNode::Zero => builtin(Builtin::Zero),
            DeltaNode::OneHot(i) => make::app(builtin(Builtin::OneHot), make::int(*i)),
            DeltaNode::Var(i) => make::app(builtin(Builtin::Var), make::int(*i)),
            DeltaNode::Scale(x, u) => make::apps(builtin(Builtin::Scale), [make::real(*x), self.delta(u)]),
            DeltaNode::Add(a, b) => make::apps(builtin(Builtin::Add), [self.delta(a), self.delta(b)]),
            DeltaNode::Let(id, a, b) => {
                make::apps(builtin(Builtin::Let), [make::int(*id), self.delta(a), self.delta(b)])
            }
        })
    }

    /// A term in its environment.
    fn term(&mut self, e: &E, env: &Env) -> E {
        self.open(e, env, env.depth())
    }

    /// A term with the variables below level `depth` replaced by their values; the others are bound inside.
    fn open(&mut self, e: &E, env: &Env, depth: u32) -> E {
        if !self.spend() {
            return opaque("…".into());
        }
        grow(|| self.open_node(e, env, depth))
    }

    fn open_node(&mut self, e: &E, env: &Env, depth: u32) -> E {
        let mut on = |e: &E| self.open(e, env, depth);
        let kind = match &e.kind {
            Kind::Var(name, level) => {
                let value = if *level < depth { env.get(*level) } else { None };
                return value.map_or_else(|| make::var(*name), |value| self.value(value));
            }
            Kind::Const(_) | Kind::Opaque(_) => return Rc::clone(e),
            Kind::Lam(pat, ty, a) => Kind::Lam(pat.clone(), ty.clone(), on(a)),
            Kind::App(a, b) => Kind::App(on(a), on(b)),
            Kind::Let(pat, a, b) => Kind::Let(pat.clone(), on(a), on(b)),
            Kind::LetRec(name, ty, a, b) => Kind::LetRec(*name, ty.clone(), on(a), on(b)),
            Kind::Pair(a, b) => Kind::Pair(on(a), on(b)),
            Kind::Fst(a) => Kind::Fst(on(a)),
            Kind::Snd(a) => Kind::Snd(on(a)),
            Kind::Inl(a) => Kind::Inl(on(a)),
            Kind::Inr(a) => Kind::Inr(on(a)),
            Kind::Case(e, p, a, q, b) => Kind::Case(on(e), p.clone(), on(a), q.clone(), on(b)),
            Kind::Roll(ty, a) => Kind::Roll(ty.clone(), on(a)),
            Kind::Unroll(a) => Kind::Unroll(on(a)),
            Kind::Ann(a, ty) => Kind::Ann(on(a), ty.clone()),
            Kind::Pure(a) => Kind::Pure(on(a)),
            Kind::Do(pat, a, b) => Kind::Do(pat.clone(), on(a), on(b)),
        };
        Expr::new(kind)
    }

    /// A term in a context, and whether it is a computation that runs there.
    fn plug<'a>(
        &mut self,
        e: E,
        kont: &Kont,
        running: bool,
        deltas: &mut impl Iterator<Item = &'a DeltaState>,
    ) -> (E, bool) {
        // What a computation that has run returns is the computation `pure v`.
        let computation = |e: E| if running { e } else { make::pure(e) };
        let plugged = match kont {
            Kont::Run => return (e, true),
            Kont::Argument(x, env, _) => make::app(e, self.term(x, env)),
            Kont::Call(f, _) => make::app(self.value(f), e),
            Kont::Right(b, env) => make::pair(e, self.term(b, env)),
            Kont::Left(a) => make::pair(self.value(a), e),
            Kont::Form(form) => Expr::new(match form {
                Form::Fst => Kind::Fst(e),
                Form::Snd => Kind::Snd(e),
                Form::Inl => Kind::Inl(e),
                Form::Inr => Kind::Inr(e),
                Form::Pure => Kind::Pure(e),
                Form::Roll(ty) => Kind::Roll((**ty).clone(), e),
                Form::Unroll => Kind::Unroll(e),
            }),
            Kont::Let(pat, body, env) => make::bind(pat.clone(), e, self.term(body, env)),
            Kont::Case(p, a, q, b, env) => {
                let (a, b) = (self.term(a, env), self.term(b, env));
                make::case(e, p.clone(), a, q.clone(), b)
            }
            Kont::Bind(pat, rest, env) => make::monadic(pat.clone(), computation(e), self.term(rest, env)),
            Kont::EndRun => make::app(
                opaque(deltas.next().map_or_else(String::new, |d| self.state_text(d))),
                computation(e),
            ),
            Kont::Sequence(items, done) => {
                let waiting = items.get(done.len() + 1..).unwrap_or_default();
                let text = format!("sequence [{}", self.list(done));
                let rest = format!("{}]", self.list(waiting));
                make::apps(opaque(text), [computation(e), opaque(rest)])
            }
            Kont::Build(f, count, done) => {
                let text = format!("build⟨{} of {count}: {}⟩", done.len(), self.list(done));
                make::apps(opaque(text), [e, self.value(f)])
            }
            Kont::EvalAfter(x, u) => {
                make::apps(make::builtin(Builtin::Eval), [make::real(*x), self.delta(u), e])
            }
            Kont::EvalLet(id, u) => self.after_let(*id, u, e),
            Kont::Eval2After(x, u) => {
                make::apps(make::builtin(Builtin::Eval2), [make::real(*x), self.delta(u), e])
            }
            Kont::EndEval2(_) => e,
        };
        (plugged, false)
    }

    /// `let um = e in case lookup id um of Nothing → um, Just x → eval x u (delete id um)`
    fn after_let(&mut self, id: i64, u: &Delta, e: E) -> E {
        let (map, x) = (wengert_base::Name::new("um"), wengert_base::Name::new("x"));
        let of_map = |word: &str| make::apps(opaque(word.into()), [make::int(id), make::var(map)]);
        let just = make::apps(make::builtin(Builtin::Eval), [make::var(x), self.delta(u), of_map("delete")]);
        let case = make::case(of_map("lookup"), Pat::Wild, make::var(map), Pat::Var(x), just);
        make::bind(Pat::Var(map), e, case)
    }

    fn list(&mut self, values: &[Value]) -> String {
        let shown: Vec<String> = values.iter().map(|value| print::term(&self.value(value))).collect();
        shown.join(", ")
    }

    /// `runDelta` under way: the next identifier and the latest bindings.
    fn state_text(&mut self, state: &DeltaState) -> String {
        let mut binds: Vec<String> = Vec::new();
        for (id, u) in state.binds.iter().rev().take(BINDINGS) {
            binds.push(format!("{id} ↦ {}", print::term(&self.delta(u))));
        }
        if state.binds.len() > BINDINGS {
            binds.push("…".into());
        }
        format!("runDelta⟨{}, [{}]⟩", state.next, binds.join(", "))
    }
}
