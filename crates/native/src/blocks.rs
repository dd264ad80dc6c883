//! Block execution: loops that call elementary functions are cut into strips, and the functions applied to strips.
//!
//! ```text
//! for i in 0..len { x = a[i]  e = exp(x)  y = e + x  l = log(y)  b[i] = l }
//!
//! for s in 0..(len + 511)/512 {
//!     for i in strip s { x = a[i]  u[k] = x }          phase 0
//!     map exp u
//!     for i in strip s { e = u[k]  x = a[i]  y = e + x  v[k] = y }
//!     map log v
//!     for i in strip s { l = v[k]  b[i] = l }          the last phase
//! }
//! ```
//!
//! `map` is a kernel of vector math that works on all of a strip at once; what lies between stays as it was. A loop is
//! cut if its body is straight-line code in which iterations do not meet in memory ([`plan`] says into which phases, and
//! which values go through memory). Sums and other carried values are computed in the last phase, in their order.
//! Short loops run as they were. Kernels differ from the interpreter's functions in the last place: in strict mode, this is not done.

mod plan;
mod units;

use crate::loops::walk::{map_parts, parts};
use crate::loops::{Func, Int, Local, Operand, Program, Runtime, Stmt, Value, Word};
use crate::{choices, powers, straight};
use plan::{Plan, Source};
use wengert_ir::op::Compare;

/// Loops with fewer iterations are not worth it.
const SHORT: i64 = 8;
/// Strips are such that all their buffers have about so many numbers.
const BUFFERS: usize = 4096;
/// And between these.
const STRIPS: (usize, usize) = (64, 512);

/// Cuts the loops of a program for which that is worth it.
pub(crate) fn split(program: &mut Program) {
    for (_, func) in program.funcs.iter_mut() {
        choose_afterwards(func);
        write_powers(func);
        let reads = units::reads_of(func);
        let body = std::mem::take(&mut func.body);
        func.body = stmts(func, &reads, body);
    }
}

/// Writes loops without choices that have functions on their sides, if they can be cut then.
fn choose_afterwards(func: &mut Func) {
    let mut tried = func.clone();
    if !straight::straighten_loops(&mut tried, &choices::pays, &mut |_| true) {
        return;
    }
    let reads = units::reads_of(&tried);
    let mut cut = Vec::new();
    which_are_cut(&tried, &reads, &tried.body, &mut cut);
    straight::straighten_loops(func, &choices::pays, &mut |number| cut.get(number) == Some(&true));
}

/// Writes out the powers in loops that can be cut then.
fn write_powers(func: &mut Func) {
    let mut tried = func.clone();
    if !powers::write_out(&mut tried, &mut |_| true) {
        return;
    }
    let reads = units::reads_of(&tried);
    let mut cut = Vec::new();
    which_are_cut(&tried, &reads, &tried.body, &mut cut);
    powers::write_out(func, &mut |number| cut.get(number) == Some(&true));
}

/// Of each loop, in their order, whether it can be cut.
fn which_are_cut(func: &Func, reads: &units::Reads, stmts: &[Stmt], cut: &mut Vec<bool>) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        for stmt in stmts {
            if let Stmt::For { index, independent, body, .. } = stmt {
                cut.push(plan::plan(func, reads, *index, *independent, body).is_some());
            }
            parts(stmt).into_iter().for_each(|part| which_are_cut(func, reads, part, cut));
        }
    });
}

fn stmts(func: &mut Func, reads: &units::Reads, body: Vec<Stmt>) -> Vec<Stmt> {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let mut made = Vec::with_capacity(body.len());
        for stmt in body {
            one(func, reads, stmt, &mut made);
        }
        made
    })
}

/// A statement with the loops inside of it cut.
fn one(func: &mut Func, reads: &units::Reads, stmt: Stmt, made: &mut Vec<Stmt>) {
    let stmt = map_parts(stmt, &mut |inner| stmts(func, reads, inner));
    if let Stmt::For { index, len, backward, independent, sums: _, body } = &stmt {
        let (index, len, backward, independent) = (*index, *len, *backward, *independent);
        let found = plan::plan(func, reads, index, independent, body);
        let cut = found.map(|plan| Cut::new(func, index, len, backward, &plan).strips(&plan));
        if let Some(strips) = cut {
            let long = func.fresh(Word::Int);
            made.push(Stmt::Set(long, Value::CompareInt(Compare::Ge, len, Operand::Int(SHORT))));
            made.push(Stmt::If { cond: Operand::Local(long), then: strips, otherwise: vec![stmt] });
            return;
        }
    }
    made.push(stmt);
}

/// The cutting of a loop.
struct Cut<'f> {
    func: &'f mut Func,
    index: Local,
    len: Operand,
    backward: bool,
    /// Numbers of a strip.
    strip: i64,
    /// Where each buffer begins.
    buffers: Vec<Local>,
    /// The first iteration of the strip, the number of iterations, and which one of them.
    start: Local,
    count: Local,
    place: Local,
}

impl<'f> Cut<'f> {
    fn new(func: &'f mut Func, index: Local, len: Operand, backward: bool, plan: &Plan<'_>) -> Cut<'f> {
        let room = (BUFFERS / plan.buffers.max(1)).clamp(STRIPS.0, STRIPS.1) & !(STRIPS.0 - 1);
        let buffers = (0..plan.buffers).map(|_| func.fresh(Word::Address)).collect();
        let [start, count, place] = [(); 3].map(|()| func.fresh(Word::Int));
        let strip = i64::try_from(room).unwrap_or(64);
        Cut { func, index, len, backward, strip, buffers, start, count, place }
    }

    fn int(&mut self, made: &mut Vec<Stmt>, op: Int, a: Operand, b: Operand) -> Operand {
        let local = self.func.fresh(Word::Int);
        made.push(Stmt::Set(local, Value::Int(op, a, b)));
        Operand::Local(local)
    }

    /// The loop over the strips.
    fn strips(mut self, plan: &Plan<'_>) -> Vec<Stmt> {
        let mut made = Vec::new();
        let room = self.func.fresh(Word::Address);
        let buffers = self.buffers.clone();
        let words = i64::try_from(buffers.len()).unwrap_or(0) * self.strip;
        let scratch = Runtime::Scratch;
        made.push(Stmt::Runtime { call: scratch, args: vec![Operand::Int(words)], out: Some(room) });
        for (offset, buffer) in (0_i64..).zip(&buffers) {
            let index = Operand::Int(offset * self.strip);
            let value = Value::Address { base: Operand::Local(room), index, offset: 0 };
            made.push(Stmt::Set(*buffer, value));
        }
        let more = self.int(&mut made, Int::Add, self.len, Operand::Int(self.strip - 1));
        let strips = self.int(&mut made, Int::Div, more, Operand::Int(self.strip));
        let number = self.func.fresh(Word::Int);
        let mut body = Vec::new();
        let (strip, len) = (Operand::Int(self.strip), self.len);
        body.push(Stmt::Set(self.start, Value::Int(Int::Mul, Operand::Local(number), strip)));
        let rest = self.int(&mut body, Int::Sub, len, Operand::Local(self.start));
        body.push(Stmt::Set(self.count, Value::Int(Int::Min, rest, strip)));
        for phase in 0..plan.phases {
            self.phase(plan, phase, &mut body);
        }
        made.push(Stmt::For {
            index: number,
            len: strips,
            backward: self.backward,
            independent: false,
            sums: Vec::new(),
            body,
        });
        made
    }

    /// The scalar part of a phase, then its kernels.
    fn phase(&mut self, plan: &Plan<'_>, phase: usize, made: &mut Vec<Stmt>) {
        let mut body = Vec::new();
        for source in plan.needed(phase) {
            body.push(match source {
                Source::Buffer(local, buffer) => {
                    let (base, index) = self.slot(buffer);
                    Stmt::Set(local, Value::Load { base, index, offset: 0 })
                }
                Source::Again(stmt) => stmt.clone(),
            });
        }
        for unit in plan.of(phase) {
            match &unit.call {
                None => body.push(unit.stmt.clone()),
                Some(call) => {
                    for (arg, buffer) in call.args.iter().zip(&call.buffers).filter(|_| !call.chained) {
                        let (base, index) = self.slot(*buffer);
                        body.push(Stmt::Store { base, index, offset: 0, value: *arg });
                    }
                }
            }
            for (local, buffer) in &unit.kept {
                let (base, index) = self.slot(*buffer);
                body.push(Stmt::Store { base, index, offset: 0, value: Operand::Local(*local) });
            }
        }
        self.scalar_loop(body, made);
        for call in plan.of(phase).filter_map(|unit| unit.call.as_ref()) {
            let number = i64::try_from(call.function as usize).unwrap_or(i64::MAX);
            let at = |place: usize| call.buffers.get(place).map_or(Operand::Int(0), |b| self.slot(*b).0);
            let args = vec![Operand::Int(number), at(0), at(1), Operand::Local(self.count)];
            made.push(Stmt::Runtime { call: Runtime::Map, args, out: None });
        }
    }

    /// Where the number of an iteration is in a buffer.
    fn slot(&self, buffer: usize) -> (Operand, Operand) {
        let base = self.buffers.get(buffer).map_or(Operand::Int(0), |local| Operand::Local(*local));
        (base, Operand::Local(self.place))
    }

    /// The loop over a strip, or a copy if it only copies.
    fn scalar_loop(&mut self, mut body: Vec<Stmt>, made: &mut Vec<Stmt>) {
        if body.is_empty() {
            return;
        }
        if let Some((from, to)) = self.copies(&body) {
            let mut addresses = Vec::new();
            for (base, index, offset) in [from, to] {
                let index = if index == self.index { Operand::Local(self.start) } else { Operand::Int(0) };
                let local = self.func.fresh(Word::Address);
                made.push(Stmt::Set(local, Value::Address { base, index, offset }));
                addresses.push(Operand::Local(local));
            }
            addresses.push(Operand::Local(self.count));
            made.push(Stmt::Runtime { call: Runtime::CopyWords, args: addresses, out: None });
            return;
        }
        let now = Value::Int(Int::Add, Operand::Local(self.start), Operand::Local(self.place));
        body.insert(0, Stmt::Set(self.index, now));
        made.push(Stmt::For {
            index: self.place,
            len: Operand::Local(self.count),
            backward: self.backward,
            independent: true,
            sums: Vec::new(),
            body,
        });
    }

    /// Where from and where to, if that is all: from a buffer or to one, and everything in its order.
    fn copies(&self, body: &[Stmt]) -> Option<(Words, Words)> {
        let [Stmt::Set(local, Value::Load { base: from, index: i, offset: m }), rest] = body else {
            return None;
        };
        let Stmt::Store { base: to, index: j, offset: n, value } = rest else { return None };
        let (Operand::Local(i), Operand::Local(j)) = (*i, *j) else { return None };
        let is_buffer = |base: &Operand| self.buffers.iter().any(|buffer| *base == Operand::Local(*buffer));
        let in_order = [i, j].iter().all(|index| [self.index, self.place].contains(index));
        let one_is_a_buffer = is_buffer(from) != is_buffer(to);
        let same = *value == Operand::Local(*local);
        (in_order && one_is_a_buffer && same).then_some(((*from, i, *m), (*to, j, *n)))
    }
}

/// A base, an index and an offset.
type Words = (Operand, Local, i32);

#[cfg(test)]
mod tests;
