//! Long loops under checkpoints: what is run again runs a long loop in segments, each a checkpoint of its own, as the interpreter does;
//! so no tape holds all of its rounds.
//!
//! ```text
//! s = for i < n, s = s0 { step(i, s) }        s = loop(n, 0, s0)
//! s = while s = s0 { more(s) } do { step(s) } s = loop(rounds(s0), 0, s0)
//!
//! loop(n, first, s) = if n <= 4096 { for i < n, s { step(first + i, s) } }
//!                     else { size = (n + 15) / 16;  for j < (n + size - 1) / size, s {
//!                              checkpoint loop(min(size, n - j size), first + j size, s) } }
//! ```

#![expect(clippy::wildcard_enum_match_arm, reason = "loops and calls are named, the others stay")]

use crate::{Ad, Code, deep};
use rustc_hash::FxHashMap;
use wengert_ir::Copier;
use wengert_ir::op::{ArrayOp, Atom, Block, Compare, IntOp, Loop, Mode, Op, Rule, Stmt, Var, While};
use wengert_ir::program::{Func, FuncId, Program, VarInfo};
use wengert_ir::ty::Ty;

/// Loops of at most so many rounds are recorded.
const RECORDED_ROUNDS: i64 = 4096;
/// Segments that a longer loop is split into.
const SEGMENTS: i64 = 16;

/// Whether a loop does nothing but carry, and may be long.
fn may_be_long(stmt: &Stmt) -> bool {
    match &stmt.op {
        Op::Loop(parts) => {
            let short = matches!(parts.len, Atom::Int(len) if len <= RECORDED_ROUNDS);
            let carries = parts.mode == Mode::Sequence && parts.accs.is_empty();
            carries && !parts.backward && !short && stmt.outs.len() == parts.init.len()
        }
        Op::While(parts) => stmt.outs.len() == parts.init.len(),
        _ => false,
    }
}

/// A program, and for each function of a checkpoint the function as it is when the checkpoint is run again.
pub(crate) fn run_again(program: &Program) -> (Program, FxHashMap<FuncId, FuncId>) {
    let mut called = Vec::new();
    for (_, func) in program.funcs.iter() {
        func.body.all_stmts(&mut |stmt| {
            if let Op::Call { func, checkpoint: true, .. } = &stmt.op {
                called.push(*func);
            }
            true
        });
    }
    if called.is_empty() {
        return (program.clone(), FxHashMap::default());
    }
    let mut ad = Ad::new(program.clone(), true);
    ad.sources = ad.program.funcs.ids().collect();
    for func in called {
        ad.in_segments(func);
    }
    (ad.program, ad.recorded.again)
}

impl Ad {
    /// A function as it is when a checkpoint runs it again.
    pub(super) fn in_segments(&mut self, func: FuncId) -> FuncId {
        if let Some(known) = self.recorded.again.get(&func) {
            return *known;
        }
        let has_loops = self.reaches(func, &|op| matches!(op, Op::Loop(_) | Op::While(_)));
        if !has_loops || !self.sources.contains(&func) {
            self.recorded.again.insert(func, func);
            return func;
        }
        let from = self.program.funcs.at(func).clone();
        let id = self.program.funcs.push(from.clone());
        self.recorded.again.extend([(func, id), (id, id)]);
        let mut code = Code::like(self, &from, from.name.as_str());
        let results = code.block_again(&from.body);
        let made = code.finish(results);
        *self.program.funcs.at_mut(id) = made;
        id
    }
}

/// A loop to be split.
struct Long<'a> {
    stmt: &'a Stmt,
    inputs: &'a [Atom],
    init: &'a [Atom],
    /// With a parameter for the index, if there is one.
    body: &'a Block,
    /// Variables from outside that the body uses.
    free: Vec<Var>,
}

impl Code<'_> {
    /// Appends what a block does when it is run again; gives its results.
    fn block_again(&mut self, block: &Block) -> Vec<Atom> {
        deep(|| block.stmts.iter().for_each(|stmt| self.stmt_again(stmt)));
        block.results.clone()
    }

    fn stmt_again(&mut self, stmt: &Stmt) {
        self.b.set_span(stmt.span);
        let mut made = stmt.clone();
        for inner in made.op.blocks_mut() {
            self.b.open();
            let results = self.block_again(inner);
            let again = self.b.close(results);
            *inner = Block { params: inner.params.clone(), ..again };
        }
        match (&mut made.op, &stmt.op) {
            (Op::Loop(parts), _) if may_be_long(stmt) => {
                let Loop { len, inputs, init, body, .. } = parts.as_ref();
                let free = body.free_vars();
                self.split(len.clone(), &Long { stmt, inputs, init, body, free });
            }
            (Op::While(parts), Op::While(plain)) if may_be_long(stmt) => {
                let rounds = self.rounds(stmt, plain);
                let (init, body) = (parts.init.as_slice(), &parts.body);
                let free = body.free_vars();
                self.split(rounds, &Long { stmt, inputs: &[], init, body, free });
            }
            (Op::Call { func, .. }, _) => {
                *func = self.ad.in_segments(*func);
                self.b.push(made);
            }
            (Op::Custom(parts), _) if self.ad.delay(parts).is_none() => {
                parts.func = self.ad.in_segments(parts.func);
                if let Rule::Jvp(rule) = &mut parts.rule {
                    *rule = self.ad.in_segments(*rule);
                }
                self.b.push(made);
            }
            _ => self.b.push(made),
        }
    }

    /// How often a loop runs: it is run without the tape, to count.
    fn rounds(&mut self, stmt: &Stmt, parts: &While) -> Atom {
        let mut free = parts.cond.free_vars();
        free.extend(parts.body.free_vars());
        free.sort_unstable();
        free.dedup();
        let from = self.b.func().clone();
        let args: Vec<Atom> = parts.init.iter().cloned().chain(free.iter().copied().map(Atom::Var)).collect();
        let types: Vec<Ty> = args.iter().map(|arg| from.type_of(arg)).collect();
        let args = self.b.typed(&types, Op::StopGradient(args));

        let mut code = Code::new(self.ad, &format!("rounds_of_{}", from.name));
        code.b.set_span(stmt.span);
        let mut copier = Copier::new(&from);
        let mut init: Vec<Atom> = code.like_params(&from, &parts.body.params);
        for (var, param) in free.iter().zip(code.like_params(&from, &free)) {
            copier.set(*var, param);
        }
        let count = init.len();
        init.push(Atom::Int(0));
        let mut turn = |block: &Block, goes_on: bool| {
            code.b.open();
            let states = code.like_params(&from, &parts.body.params);
            let k = code.b.param("k".into(), Ty::INT);
            let mut results = code.b.inline(&mut copier, block, &states);
            if goes_on {
                results.push(code.b.int(IntOp::Add, [k, Atom::Int(1)]));
            }
            code.b.close(results)
        };
        let (cond, body) = (turn(&parts.cond, false), turn(&parts.body, true));
        let types: Vec<Ty> = init.iter().map(|atom| code.b.type_of(atom)).collect();
        let found = code.b.typed(&types, Op::While(Box::new(While { init, cond, body })));
        let made = code.finish(found.into_iter().skip(count).collect());
        let func = self.ad.program.funcs.push(made);
        self.b.called("rounds").call(func, args, &[Ty::INT]).pop().unwrap_or(Atom::Int(0))
    }

    /// A loop as a call of a function that splits it.
    fn split(&mut self, len: Atom, long: &Long<'_>) {
        let func = self.split_function(long);
        let mut args = vec![len, Atom::Int(0)];
        args.extend(long.inputs.iter().chain(long.init).cloned());
        args.extend(long.free.iter().copied().map(Atom::Var));
        let op = Op::Call { func, args, checkpoint: false };
        self.b.push(Stmt { outs: long.stmt.outs.clone(), op, span: long.stmt.span });
    }

    fn split_function(&mut self, long: &Long<'_>) -> FuncId {
        let from = self.b.func().clone();
        let types: Vec<Ty> = long.stmt.outs.iter().map(|out| from.ty(*out)).collect();
        let id = self.ad.reserve(types.clone());
        self.ad.recorded.again.insert(id, id);
        let mut code = Code::new(self.ad, &format!("loop_of_{}", from.name));
        code.b.set_func_span(from.span);
        code.b.set_span(long.stmt.span);
        let len = code.b.param("n".into(), Ty::INT);
        let first = code.b.param("first".into(), Ty::INT);
        let inputs: Vec<Atom> =
            long.inputs.iter().map(|atom| code.b.param("xs".into(), from.type_of(atom))).collect();
        let init = code.like_params(&from, &long.stmt.outs);
        let free = code.like_params(&from, &long.free);

        code.b.open();
        let body = code.round(&from, long, &first, &free);
        let whole = Whole { len: len.clone(), inputs: inputs.clone(), init: init.clone(), types: &types };
        let found = code.sequence(&whole, body);
        let short = code.b.close(found);

        code.b.open();
        let sum = code.b.int(IntOp::Add, [len.clone(), Atom::Int(SEGMENTS - 1)]);
        let size = code.b.called("size").int(IntOp::Div, [sum, Atom::Int(SEGMENTS)]);
        let sum = code.b.int(IntOp::Add, [len.clone(), size.clone()]);
        let sum = code.b.int(IntOp::Sub, [sum, Atom::Int(1)]);
        let count = code.b.called("count").int(IntOp::Div, [sum, size.clone()]);
        code.b.open();
        let j = code.b.param("j".into(), Ty::INT);
        let states = code.like_params(&from, &long.stmt.outs);
        let at = code.b.called("at").int(IntOp::Mul, [j, size.clone()]);
        let left = code.b.int(IntOp::Sub, [len.clone(), at.clone()]);
        let steps = code.b.called("steps").int(IntOp::Min, [size, left]);
        let end = code.b.int(IntOp::Add, [at.clone(), steps.clone()]);
        let mut args = vec![steps, code.b.int(IntOp::Add, [first, at.clone()])];
        for input in &inputs {
            args.push(code.b.array(ArrayOp::Slice, [input.clone(), at.clone(), end.clone()]));
        }
        args.extend(states.into_iter().chain(free));
        let found = code.b.typed(&types, Op::Call { func: id, args, checkpoint: true });
        let body = code.b.close(found);
        let found = code.sequence(&Whole { len: count, inputs: Vec::new(), init, types: &types }, body);
        let split = code.b.close(found);

        let is_short = code.b.compare(Compare::Le, len, Atom::Int(RECORDED_ROUNDS));
        let found = code.b.typed(&types, Op::If { cond: is_short, then: short, otherwise: split });
        let made = code.finish(found);
        *self.ad.program.funcs.at_mut(id) = made;
        id
    }

    /// The body of a segment that begins with round `first`.
    fn round(&mut self, from: &Func, long: &Long<'_>, first: &Atom, free: &[Atom]) -> Block {
        self.b.open();
        let i = self.b.param("i".into(), Ty::INT);
        let mut copier = Copier::new(from);
        long.free.iter().zip(free).for_each(|(var, atom)| copier.set(*var, atom.clone()));
        let mut args = Vec::new();
        let mut params = long.body.params.as_slice();
        if let (Op::Loop(_), [_, rest @ ..]) = (&long.stmt.op, params) {
            args.push(self.b.int(IntOp::Add, [first.clone(), i]));
            params = rest;
        }
        args.extend(self.like_params(from, params));
        let results = self.b.inline(&mut copier, long.body, &args);
        self.b.close(results)
    }

    /// Parameters like these variables.
    fn like_params(&mut self, from: &Func, vars: &[Var]) -> Vec<Atom> {
        vars.iter()
            .map(|var| {
                let VarInfo { name, ty } = *from.vars.at(*var);
                self.b.param(name, ty)
            })
            .collect()
    }

    fn sequence(&mut self, whole: &Whole<'_>, body: Block) -> Vec<Atom> {
        let Whole { len, inputs, init, types } = whole;
        let (len, inputs, init) = (len.clone(), inputs.clone(), init.clone());
        let parts = Loop { mode: Mode::Sequence, backward: false, len, inputs, init, accs: Vec::new(), body };
        self.b.typed(types, Op::Loop(Box::new(parts)))
    }
}

/// A loop but for its body.
struct Whole<'t> {
    len: Atom,
    inputs: Vec<Atom>,
    init: Vec<Atom>,
    types: &'t [Ty],
}
