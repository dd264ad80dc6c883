//! Branches and loops.
//!
//! Loops look from time to time whether the program is to stop. Where iterations are few, or as many as words of an array,
//! they need not; an innermost loop that may be long is cut into pieces with a look before each, so that nothing stands in
//! the way of vectors.

use super::sums::Plan;
use super::{Body, guards};
use crate::text::{Expr, Level};
use rustc_hash::FxHashMap;
use wengert_native::loops::{Int, Local, Operand, Stmt, Value, alike};
use wengert_prim::real_op::ELEMENTARY_COST;

/// Loops of a known length up to this one never look.
const SHORT: i64 = 1 << 20;
/// Longer sums of places are not looked at, nor places that lie farther apart.
const DEEP: usize = 4;
const FAR: i64 = 64;
/// Sums of fewer numbers are made one by one: what comes before and after vectors costs more than they give.
pub(super) const FEW: i64 = 16;

/// What is in the body of a loop.
#[derive(Clone, Copy, Debug)]
struct Shape {
    /// No loops, no calls, nothing of the runtime, no new objects.
    straight: bool,
    /// An element of an array is read or written in each iteration.
    bounded: bool,
    /// Something is written.
    stores: bool,
}

/// A loop that is to be printed.
#[derive(Clone)]
pub(super) struct Run<'s> {
    pub(super) index: Local,
    pub(super) end: String,
    /// The piece of it: from here on, up to there.
    pub(super) from: String,
    pub(super) to: String,
    pub(super) backward: bool,
    independent: bool,
    /// Whether it looks from time to time whether to stop.
    pub(super) looks: bool,
    /// Whether it is not for vectors.
    one_by_one: bool,
    /// Whether its iterations wait for each other.
    waits: bool,
    shape: Shape,
    pub(super) body: &'s [Stmt],
}

impl Run<'_> {
    /// A piece of it, too short to look whether to stop.
    pub(super) fn piece(&self, from: String, to: String) -> Self {
        Run { from, to, looks: false, ..self.clone() }
    }

    /// It, whose iterations wait for each other, or do not.
    pub(super) fn waiting(&self, waits: bool) -> Self {
        Run { waits, ..self.clone() }
    }

    /// Whether its iterations have nothing to do with each other.
    pub(super) fn independent(&self) -> bool {
        self.independent
    }

    /// It from the first iteration to the last.
    pub(super) fn upward(&self) -> Self {
        Run { backward: false, ..self.clone() }
    }
}

impl Body<'_, '_> {
    pub(super) fn branch(&mut self, cond: Operand, then: &[Stmt], otherwise: &[Stmt]) {
        if self.takes_apart(cond, then, otherwise) {
            return;
        }
        let cond = self.integer(cond);
        self.flush(|pending| pending.reads || !pending.changing.is_empty());
        let rare = matches!(then.last(), Some(Stmt::Fail(..)));
        let otherwise_only = then.is_empty() && !otherwise.is_empty();
        let cond = match (rare, otherwise_only) {
            (true, _) => format!("WG_RARELY({})", cond.text),
            (false, true) => format!("!{}", cond.at(Level::Unary)),
            (false, false) => cond.text,
        };
        self.put(&format!("if ({cond}) {{"));
        if otherwise_only {
            self.blocks += 1;
            let block = self.enter();
            self.stmts(otherwise, block, 0);
            self.leave();
            self.put("}");
            return;
        }
        let block = self.enter();
        self.stmts(then, block, 0);
        self.leave();
        if otherwise.is_empty() {
            self.blocks += 1;
        } else {
            self.put("} else {");
            let block = self.enter();
            self.stmts(otherwise, block, 0);
            self.leave();
        }
        self.put("}");
    }

    pub(super) fn switch(&mut self, on: Operand, cases: &[Vec<Stmt>]) {
        let on = self.integer(on);
        self.flush(|pending| pending.reads || !pending.changing.is_empty());
        if let [first, second] = cases {
            let cond = Expr::binary(Level::Equality, "==", &on, &Expr::primary("0"));
            self.put(&format!("if ({}) {{", cond.text));
            for (place, case) in [first, second].into_iter().enumerate() {
                if place > 0 {
                    self.put("} else {");
                }
                let block = self.enter();
                self.stmts(case, block, 0);
                self.leave();
            }
            self.put("}");
            return;
        }
        self.put(&format!("switch ({}) {{", on.text));
        let first = alike(cases);
        for (number, case) in cases.iter().enumerate() {
            if first.get(number) != Some(&number) {
                self.blocks += 1;
                continue;
            }
            let last = cases.len() - 1;
            let same = first.iter().enumerate().filter(|(_, first)| **first == number);
            let label = |at: usize| if at == last { "default:".into() } else { format!("case {at}:") };
            let labels: Vec<String> = same.map(|(at, _)| label(at)).collect();
            self.put(&format!("{} {{", labels.join(" ")));
            let block = self.enter();
            self.stmts(case, block, 0);
            self.leave();
            self.put("} break;");
        }
        self.put("}");
    }

    /// The length of a loop, which does not change in it.
    fn length(&mut self, len: Operand) -> String {
        let fixed = match len {
            Operand::Local(local) => self.assigned_once(local),
            Operand::Int(_) | Operand::Real(_) | Operand::Text(_) => true,
        };
        let text = self.integer(len).text;
        let simple = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if fixed && simple {
            return text;
        }
        let name = self.unit.temporary();
        self.put(&format!("const word {name} = {text};"));
        name
    }

    /// A loop, after the checks that can be made before it.
    pub(super) fn for_loop(&mut self, stmt: &Stmt) {
        let Stmt::For { index, len, backward, independent, sums: _, body } = stmt else { return };
        if self.extreme(stmt) {
            return;
        }
        self.flush(|pending| pending.reads || !pending.changing.is_empty());
        let end = self.length(*len);
        self.flush(|pending| pending.reads);
        let looks = !*independent && may_be_long(body, *index, *len);
        let shape = shape(body, *index);
        let (index, backward, independent) = (*index, *backward, *independent);
        let (from, to) = ("0".into(), end.clone());
        let run = Run {
            index,
            end,
            from,
            to,
            backward,
            independent,
            looks,
            one_by_one: false,
            waits: false,
            shape,
            body,
        };
        let first = self.checks_before(&run);
        if shape.straight {
            self.guarded(&run);
        } else if !self.columns(&run) {
            self.once(&run);
        }
        self.skipped.retain(|check| !first.contains(check));
    }

    /// Makes checks of a loop before it; which they are.
    fn checks_before(&mut self, run: &Run<'_>) -> Vec<*const Stmt> {
        let some = match run.end.parse::<i64>() {
            Ok(count) if count > 0 => String::new(),
            Ok(_) => return Vec::new(),
            Err(_) => format!("{} > 0 && ", run.end),
        };
        let first = guards::first(self, run.body, run.index);
        for check in &first {
            let level = if some.is_empty() { Level::Conditional } else { Level::And };
            self.put(&format!("if (WG_RARELY({some}{})) {{", check.condition.at(level)));
            self.depth += 1;
            self.fail(check.site, check.numbers);
            self.depth -= 1;
            self.put("}");
        }
        let checks: Vec<*const Stmt> = first.iter().map(|check| std::ptr::from_ref(check.stmt)).collect();
        self.skipped.extend(&checks);
        checks
    }

    /// An innermost loop; twice, if it may run without checks.
    fn guarded(&mut self, run: &Run<'_>) {
        let guards = guards::guards(self, run.body, run.index, &run.end);
        if guards.conditions.is_empty() {
            return self.tried(run);
        }
        self.put(&format!("if (WG_USUALLY({})) {{", guards.conditions.join(" && ")));
        self.depth += 1;
        let before = (self.blocks, self.declared.clone(), self.line);
        self.skipped.extend(&guards.checks);
        self.tried(run);
        self.skipped.retain(|check| !guards.checks.contains(check));
        self.depth -= 1;
        (self.blocks, self.declared, self.line) = before;
        self.put("} else {");
        self.depth += 1;
        self.once(run);
        self.depth -= 1;
        self.put("}");
    }

    /// An innermost loop that may become vector code.
    pub(super) fn vector(&mut self, run: &Run<'_>) {
        if !run.independent && self.in_strips(run) {
            return;
        }
        if !self.unit.fast {
            return self.once(run);
        }
        // Where nothing can fail, nobody sees which of independent iterations comes first.
        let upward = Run { backward: run.backward && self.may_fail(run.body), ..run.clone() };
        let run = if run.independent { &upward } else { run };
        if run.independent {
            let again = !run.backward && self.can_run_again(run.index, run.body);
            if let Some(factors) = self.steady(run.body, run.index) {
                return self.unless_zero(&factors, &mut |body| body.perhaps_again(run, again, &[]));
            }
            if !run.backward
                && let Some(doubt) = self.doubt(run, None)
            {
                return self.without_zeros(run, &Plan::default(), doubt);
            }
            return self.perhaps_again(run, again, &[]);
        }
        let Some(plan) = self.plan(run.body, run.index) else {
            if !self.steps(run) {
                self.once(&run.waiting(self.waits_for_itself(run)));
            }
            return;
        };
        let plain = plan.is_plain();
        if plain || has_functions(run.body) || self.trial.is_some() {
            return self.in_any_order(run, plan);
        }
        let few = Run { one_by_one: true, ..run.clone() };
        if let Ok(count) = run.end.parse::<i64>() {
            return if count < FEW { self.once(&few) } else { self.in_any_order(run, plan) };
        }
        self.put(&format!("if ({} < {FEW}) {{", run.end));
        self.depth += 1;
        let before = (self.blocks, self.declared.clone(), self.line);
        self.once(&few);
        (self.blocks, self.declared, self.line) = before;
        self.depth -= 1;
        self.put("} else {");
        self.depth += 1;
        self.in_any_order(run, plan);
        self.depth -= 1;
        self.put("}");
    }

    /// The loop in strips, if it is one that can be and not too short.
    fn in_strips(&mut self, run: &Run<'_>) -> bool {
        let Some(added) = self.added(run) else { return false };
        // Where all may come in any order, that is better.
        if added.in_any_order() && self.plan(run.body, run.index).is_some() {
            return false;
        }
        let short = run.end.parse::<i64>().ok().map(|count| count < FEW);
        if short == Some(true) {
            return false;
        }
        if short.is_none() {
            self.put(&format!("if ({} < {FEW}) {{", run.end));
            self.depth += 1;
            let before = (self.blocks, self.declared.clone(), self.line);
            self.once(&Run { one_by_one: true, ..run.clone() });
            (self.blocks, self.declared, self.line) = before;
            self.depth -= 1;
            self.put("} else {");
            self.depth += 1;
        }
        match self.steady(run.body, run.index) {
            Some(factors) => self.unless_zero(&factors, &mut |body| body.strips(run, added.clone())),
            None => self.strips(run, added),
        }
        if short.is_none() {
            self.depth -= 1;
            self.put("}");
        }
        true
    }

    /// Whether something in the body of an innermost loop fails that is not checked before the loop.
    pub(super) fn may_fail(&self, stmts: &[Stmt]) -> bool {
        stmts.iter().any(|stmt| match stmt {
            Stmt::Set(..) | Stmt::Store { .. } => false,
            check if self.skipped.contains(&std::ptr::from_ref(check)) => false,
            Stmt::If { cond: _, then, otherwise } => stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
                self.may_fail(then) || self.may_fail(otherwise)
            }),
            Stmt::Switch { .. }
            | Stmt::For { .. }
            | Stmt::Parallel { .. }
            | Stmt::While { .. }
            | Stmt::Call { .. }
            | Stmt::Runtime { .. }
            | Stmt::Retain(..)
            | Stmt::Release(..)
            | Stmt::Free(..)
            | Stmt::Fail(..) => true,
        })
    }

    /// An innermost loop whose iterations may come in any order.
    fn in_any_order(&mut self, run: &Run<'_>, plan: Plan) {
        // Upwards.
        let run = run.upward();
        let plain = plan.is_plain();
        let (sums, again) = (plan.variables(), plan.again);
        self.plan = plan;
        self.begin_cells();
        let planned = self.plan.clone();
        let again = again && self.has_rare(run.body);
        let independent = Run { independent: plain, ..run.clone() };
        let run = if again { &run } else { &independent };
        if let Some(factors) = self.steady(run.body, run.index) {
            self.unless_zero(&factors, &mut |body| body.perhaps_again(run, again, &sums));
        } else if let Some(doubt) = self.doubt(run, Some(&planned)) {
            self.without_zeros(&independent, &planned, doubt);
        } else {
            self.perhaps_again(run, again, &sums);
        }
        let plan = std::mem::take(&mut self.plan);
        self.end_cells(&plan.cells);
    }

    /// A loop made of vectors, which runs again where arguments of its functions may be rare.
    fn perhaps_again(&mut self, run: &Run<'_>, again: bool, sums: &[Local]) {
        if again { self.main_paths(run, sums) } else { self.once(run) }
    }

    /// A loop that calls the main paths of functions; if that was wrong somewhere, it runs again with the whole functions.
    fn main_paths(&mut self, run: &Run<'_>, sums: &[Local]) {
        let note = self.unit.temporary();
        self.put(&format!("int {note} = 0;"));
        let mut saved = Vec::new();
        for sum in sums {
            let (name, before) = (self.name(*sum).to_string(), self.unit.temporary());
            self.put(&format!("const double {before} = {name};"));
            saved.push(format!("{name} = {before};"));
        }
        let before = (self.blocks, self.declared.clone(), self.line);
        self.rare = Some(note.clone());
        self.once(run);
        self.rare = None;
        (self.blocks, self.declared, self.line) = before;
        self.put(&format!("if (WG_RARELY({note})) {{"));
        self.depth += 1;
        saved.iter().for_each(|line| self.put(line));
        self.once(run);
        self.depth -= 1;
        self.put("}");
    }

    /// A loop as it is.
    pub(super) fn once(&mut self, run: &Run<'_>) {
        if !run.backward && run.shape.straight && self.is_kept(run) {
            return self.kept(run);
        }
        let Run { index, from, to, backward, independent, looks, shape, .. } = run;
        let (index, backward) = (*index, *backward);
        let (counter, own) = self.counter(index);
        let pieces = *looks && shape.straight;
        let (begin, end) = (from, to);
        let (from, to) =
            if pieces { (self.unit.temporary(), self.unit.temporary()) } else { (from.clone(), to.clone()) };
        match (pieces, backward) {
            (false, _) => {}
            (true, false) => self.put(&format!("for (word {from} = {begin}; {from} < {end};) {{")),
            (true, true) => self.put(&format!("for (word {to} = {end}; {to} > 0;) {{")),
        }
        if pieces {
            // A piece of it.
            self.depth += 1;
            self.put(&if backward {
                format!("const word {from} = wg_pause_down(r, {to});")
            } else {
                format!("const word {to} = wg_pause(r, {from}, {end});")
            });
        }
        self.hint(*independent && shape.straight && shape.stores && !backward);
        self.put(&if backward {
            format!("for (word {counter} = {to} - 1; {counter} >= {from}; {counter}--) {{")
        } else {
            format!("for (word {counter} = {from}; {counter} < {to}; {counter}++) {{")
        });
        self.body_of(run, (&counter, own), *looks && !pieces);
        self.put("}");
        if pieces {
            let (next, reached) = if backward { (&to, &from) } else { (&from, &to) };
            self.put(&format!("{next} = {reached};"));
            self.depth -= 1;
            self.put("}");
        }
    }

    /// What counts the iterations of a loop that comes next, and whether that is its index.
    pub(super) fn counter(&mut self, index: Local) -> (String, bool) {
        let info = self.info(index);
        let own = info.sets == 1 && info.declared == Some((self.blocks + 1, 0));
        (if own { self.name(index).to_string() } else { self.unit.temporary() }, own)
    }

    /// The body of a loop, whose index may be its counter itself.
    pub(super) fn body_of(&mut self, run: &Run<'_>, (counter, own): (&str, bool), looks: bool) {
        let block = self.enter();
        if looks {
            self.put("wg_check_stop(r);");
        }
        if !own {
            // What the first statement assigns is declared there.
            self.declare_those((block, 0), |local, _| local == run.index);
            let line = format!("{} = {counter};", self.name(run.index));
            self.put(&line);
        }
        self.is_declared(run.index);
        self.unit.in_loop = run.shape.straight && !run.one_by_one;
        self.unit.in_vectors = self.unit.in_loop && !run.waits;
        // GCC makes branches of choices inside of others. Where steps are long, these take less than to gather and to scatter vectors.
        let near =
            |stmt: &Stmt| !matches!(stmt, Stmt::Store { index, .. } if *index != Operand::Local(run.index));
        self.flat = self.unit.in_vectors && run.body.iter().all(near);
        self.loops += 1;
        self.noted.iter_mut().for_each(|noted| noted.depth = self.depth);
        self.begin_trial(run.index);
        self.stmts(run.body, block, 0);
        self.note_waiting();
        self.end_trial(run.index);
        self.loops -= 1;
        self.leave();
        (self.unit.in_loop, self.unit.in_vectors, self.flat) = (false, false, false);
    }

    pub(super) fn while_loop(&mut self, head: &[Stmt], cond: Operand, body: &[Stmt]) {
        self.flush(|pending| pending.reads || !pending.changing.is_empty());
        self.loops += 1;
        if head.is_empty() {
            let cond = self.integer(cond);
            self.put(&format!("while ({}) {{", cond.text));
            let block = self.enter();
            self.put("wg_check_stop(r);");
            self.stmts(body, block, 1);
        } else {
            self.put("for (;;) {");
            let block = self.enter();
            self.put("wg_check_stop(r);");
            self.stmts(head, block, 0);
            self.declare((block, Self::end_of(head)), None);
            let cond = self.integer(cond);
            self.flush(|pending| pending.reads || !pending.changing.is_empty());
            self.put(&format!("if (!{}) break;", cond.at(Level::Unary)));
            self.stmts(body, block, Self::end_of(head) + 1);
        }
        self.leave();
        self.put("}");
        self.loops -= 1;
    }
}

/// Whether the body of an innermost loop calls functions of reals: that is what takes long in it.
fn has_functions(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::Set(_, Value::Real(op, _)) => op.cost() == ELEMENTARY_COST,
        Stmt::If { cond: _, then, otherwise } => stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            has_functions(then) || has_functions(otherwise)
        }),
        Stmt::Set(..)
        | Stmt::Store { .. }
        | Stmt::Switch { .. }
        | Stmt::For { .. }
        | Stmt::Parallel { .. }
        | Stmt::While { .. }
        | Stmt::Call { .. }
        | Stmt::Runtime { .. }
        | Stmt::Retain(..)
        | Stmt::Release(..)
        | Stmt::Free(..)
        | Stmt::Fail(..) => false,
    })
}

/// Whether a loop is to look from time to time whether to stop, if its iterations need each other.
pub(super) fn may_be_long(body: &[Stmt], index: Local, len: Operand) -> bool {
    let (shape, short) = (shape(body, index), matches!(len, Operand::Int(n) if n <= SHORT));
    !(shape.straight && (shape.bounded || short))
}

/// What is in the body of a loop with this index.
fn shape(body: &[Stmt], index: Local) -> Shape {
    let mut shape = Shape { straight: true, bounded: false, stores: false };
    let mut values: FxHashMap<Local, &Value> = FxHashMap::default();
    let is_index = |operand: &Operand| *operand == Operand::Local(index);
    for stmt in body {
        if let Stmt::Set(_, Value::Load { index, .. }) | Stmt::Store { index, .. } = stmt {
            shape.bounded |= is_index(index);
        }
        // Whoever counts places of an array does not count for long.
        if let Stmt::Set(_, Value::OutOfRange(place, _)) = stmt {
            shape.bounded |= counts(*place, index, &values, DEEP);
        }
        if let Stmt::Set(local, value) = stmt {
            values.insert(*local, value);
        }
    }
    look(body, &mut shape);
    shape
}

/// Whether a number is an index, or so many times that, and something that a body does not assign.
fn counts(number: Operand, index: Local, values: &FxHashMap<Local, &Value>, depth: usize) -> bool {
    let Operand::Local(local) = number else { return false };
    let is_fixed = |operand: &Operand| match operand {
        Operand::Local(other) => *other != index && !values.contains_key(other),
        Operand::Int(_) | Operand::Real(_) | Operand::Text(_) => true,
    };
    let inner = |operand: &Operand| depth > 0 && counts(*operand, index, values, depth - 1);
    local == index
        || match values.get(&local) {
            Some(Value::Int(Int::Add | Int::Sub, a, b)) => is_fixed(a) && inner(b) || is_fixed(b) && inner(a),
            Some(
                Value::Int(Int::Mul, Operand::Int(1..=FAR), x)
                | Value::Int(Int::Mul, x, Operand::Int(1..=FAR)),
            ) => inner(x),
            Some(_) | None => false,
        }
}

fn look(stmts: &[Stmt], shape: &mut Shape) {
    for stmt in stmts {
        match stmt {
            Stmt::Set(_, Value::Alloc(..)) => shape.straight = false,
            Stmt::Set(..) | Stmt::Fail(..) => {}
            Stmt::Store { .. } => shape.stores = true,
            Stmt::If { cond: _, then, otherwise } => {
                stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
                    look(then, shape);
                    look(otherwise, shape);
                });
            }
            Stmt::Switch { .. }
            | Stmt::For { .. }
            | Stmt::Parallel { .. }
            | Stmt::While { .. }
            | Stmt::Call { .. }
            | Stmt::Runtime { .. }
            | Stmt::Retain(..)
            | Stmt::Release(..)
            | Stmt::Free(..) => shape.straight = false,
        }
    }
}
