//! Statements.

use super::steady::Steady;
use super::{Compiler, chosen, constant, flags, lanes, machine, plain, quiet, vector};
use crate::compiled::Math;
use crate::loops::walk::Uses;
use crate::loops::{Func, Local, Operand, Program, Runtime, Stmt, Sum, Value as Expr, Word};
use crate::runtime::{context, parallel};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, Function, InstBuilder, StackSlot, TrapCode, Value, types};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};
use cranelift_module::Module;
use rustc_hash::{FxHashMap, FxHashSet};

/// The building of a function.
pub(super) struct Body<'c, 'a, 'f> {
    pub(super) compiler: &'c mut Compiler<'a>,
    pub(super) program: &'a Program,
    pub(super) func: &'f Func,
    pub(super) builder: FunctionBuilder<'f>,
    variables: Vec<Variable>,
    /// Where the values of variables are known; and what they are.
    pub(super) steady: Steady,
    values: FxHashMap<Local, Value>,
    pub(super) state: Value,
    /// The loops that are run in vectors.
    pub(super) plans: FxHashMap<*const Stmt, vector::Plan<'f>>,
    /// Where calls take numbers from or put them.
    pub(super) area: Option<StackSlot>,
    /// Where the program goes if it is to stop.
    stopped: Option<Block>,
    /// Whether a loop around this looks whether to stop.
    pub(super) looks: bool,
    /// Whether the block that is being built has ended.
    done: bool,
    /// Whether nobody looks for strong zeros now, and what is known for where that may be.
    pub(super) plain: bool,
    /// Whether this is the second text, in which one looks.
    pub(super) careful: bool,
    pub(super) uses: Uses,
    /// Where what refers to objects comes from.
    pub(super) origins: FxHashMap<Local, Option<Local>>,
    /// A sum of what is stored, to see whether it is a number, and of which variables.
    pub(super) note: Option<(Variable, FxHashSet<Local>)>,
    /// What steps hand on that is zero if it is very small.
    pub(super) faint: FxHashSet<Local>,
    /// In how many loops it is.
    loops: usize,
    /// Whether what is built now is rare, in a loop that is not to pay for what it calls.
    pub(super) quiet: bool,
    /// Whether there are loops in which nothing is called.
    pub(super) quick: bool,
}

/// Builds the body of `func` into `into`.
pub(super) fn build<'f>(
    compiler: &mut Compiler<'_>,
    func: &'f Func,
    into: &'f mut Function,
    scratch: &'f mut FunctionBuilderContext,
) {
    let mut builder = FunctionBuilder::new(into, scratch);
    let entry = builder.create_block();
    builder.append_block_params_for_function_params(entry);
    builder.switch_to_block(entry);
    builder.seal_block(entry);
    let variables: Vec<Variable> =
        func.locals.iter().map(|(_, word)| builder.declare_var(machine(*word))).collect();
    let given = builder.block_params(entry).to_vec();
    let Some((state, params)) = given.split_first() else { return };
    let plans = vector::plans(func, compiler.math == Math::Fast);
    let (steady, uses) = (Steady::of(func), plain::uses(func, compiler.math));
    let mut body = Body {
        program: compiler.program,
        compiler,
        func,
        builder,
        variables,
        steady,
        values: FxHashMap::default(),
        state: *state,
        plans,
        area: None,
        stopped: None,
        looks: false,
        done: false,
        plain: false,
        careful: false,
        origins: plain::origins(func, &uses),
        uses,
        note: None,
        faint: FxHashSet::default(),
        loops: 0,
        quiet: false,
        quick: quiet::has_quick_loop(func),
    };
    for (param, value) in func.params.iter().zip(params) {
        body.assign(*param, *value);
    }
    if let Some(site) = func.recursive {
        body.check_stack(site);
    } else if func.pauses {
        body.check_stop();
    }
    body.stmts(&func.body);
    if !body.is_done() {
        body.give(&func.results, params.last().copied());
    }
    body.finish();
}

impl Body<'_, '_, '_> {
    /// Ends the function, when all of its statements are built.
    fn finish(mut self) {
        if let Some(stopped) = self.stopped {
            self.enter(stopped);
            self.fail(context::STOPPED, &[]);
        }
        self.builder.seal_all_blocks();
        let config = self.compiler.module.target_config();
        self.builder.finalize(config);
    }

    /// Returns results; several go to memory.
    fn give(&mut self, results: &[Local], to: Option<Value>) {
        if let [result] = results {
            let value = self.read(*result);
            self.builder.ins().return_(&[value]);
            return;
        }
        if let Some(to) = to {
            for (place, result) in (0..).zip(results) {
                let value = self.read(*result);
                self.builder.ins().store(flags(), value, to, place * 8);
            }
        }
        self.builder.ins().return_(&[]);
    }

    /// Whether the place that is being built is never reached.
    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    /// Goes on in another block, to which all ways have been made.
    pub(super) fn enter(&mut self, block: Block) {
        self.enter_loop(block);
        self.builder.seal_block(block);
    }

    /// Goes on in a block to which there will be a way back; it is to be sealed then.
    pub(super) fn enter_loop(&mut self, block: Block) {
        self.builder.switch_to_block(block);
        self.done = false;
    }

    /// The place is left by a trap.
    pub(super) fn trap(&mut self) {
        self.builder.ins().trap(TrapCode::unwrap_user(1));
        self.done = true;
    }

    /// How many variables there are.
    pub(super) fn variables(&self) -> usize {
        self.variables.len()
    }

    /// One more variable, with this number.
    pub(super) fn fresh(&mut self, local: Local, word: Word) {
        while self.variables.len() <= local.0 as usize {
            let variable = self.builder.declare_var(machine(word));
            self.variables.push(variable);
        }
    }

    /// Whether the code is written twice, so that no value is known after it.
    fn twice(&self) -> bool {
        self.plain || self.careful
    }

    /// In how many loops the code is.
    pub(super) fn loops(&self) -> usize {
        self.loops
    }

    /// Whether the code is run more than once in a call of the program, as far as is known.
    pub(super) fn repeats(&self) -> bool {
        self.func.recursive.is_some() || self.loops > 0
    }

    pub(super) fn assign(&mut self, local: Local, value: Value) {
        if !self.twice() && self.steady.once(local) {
            self.values.insert(local, value);
            return;
        }
        self.values.remove(&local);
        if let Some(variable) = self.variables.get(local.0 as usize) {
            self.builder.def_var(*variable, value);
        }
    }

    pub(super) fn read(&mut self, local: Local) -> Value {
        if let Some(value) = self.values.get(&local) {
            return *value;
        }
        match self.variables.get(local.0 as usize) {
            Some(variable) => self.builder.use_var(*variable),
            None => self.builder.ins().iconst(types::I64, 0),
        }
    }

    /// An operand in a register.
    pub(super) fn operand(&mut self, operand: Operand) -> Value {
        match operand {
            Operand::Local(local) => self.read(local),
            Operand::Real(x) => self.builder.ins().f64const(x),
            Operand::Int(n) => self.builder.ins().iconst(types::I64, n),
            Operand::Text(number) => {
                let table = self.builder.ins().load(types::I64, constant(), self.state, context::TEXTS);
                let offset = i32::try_from(number).unwrap_or(0) * 8;
                self.builder.ins().load(types::I64, flags(), table, offset)
            }
        }
    }

    pub(super) fn stmts(&mut self, stmts: &[Stmt]) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut rest = stmts;
            // So many are known to be worth nothing else than to be done one after the other.
            let mut known = 0;
            while let Some((stmt, others)) = rest.split_first() {
                if self.is_done() {
                    return;
                }
                // A line begins with the first strong zero.
                if known == 0 && stmt.is_strong() {
                    let (length, outcome) = plain::line(self, rest);
                    if let Some((line, others)) =
                        rest.split_at_checked(length).filter(|_| !outcome.is_empty())
                    {
                        plain::quickly(self, line, &outcome);
                        rest = others;
                        continue;
                    }
                    known = length;
                }
                self.stmt(stmt);
                self.settle(stmt);
                rest = others;
                known = known.saturating_sub(1);
            }
        });
    }

    /// Remembers the values of variables that do not change any more.
    fn settle(&mut self, stmt: &Stmt) {
        if self.twice() {
            return;
        }
        for i in 0..self.steady.after(stmt).len() {
            if !self.is_done()
                && let Some(local) = self.steady.after(stmt).get(i).copied()
            {
                let value = self.read(local);
                self.values.insert(local, value);
            }
        }
    }

    pub(super) fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Set(local, value) => {
                let word = *self.func.locals.at(*local);
                let mut value = self.value(value, word);
                if self.faint.contains(local) {
                    value = plain::unless_faint(self, value);
                }
                self.assign(*local, value);
            }
            Stmt::Store { base, index, offset, value } => {
                let number = self.operand(*value);
                let (address, offset) = self.address(*base, *index, *offset);
                self.builder.ins().store(flags(), number, address, offset);
                if let (Some((note, stored)), Operand::Local(local)) = (&self.note, value)
                    && stored.contains(local)
                {
                    let (note, before) = (*note, self.builder.use_var(*note));
                    let sum = self.builder.ins().fadd(before, number);
                    self.builder.def_var(note, sum);
                }
            }
            Stmt::If { cond, then, otherwise } if chosen::both(self, *cond, then, otherwise) => {}
            Stmt::If { cond, then, otherwise } => self.branch(*cond, then, otherwise),
            Stmt::Switch { on, cases } => self.switch(*on, cases),
            Stmt::For { .. } => self.counted(stmt),
            Stmt::Parallel { part, len, backward, work, captured, sums } => {
                let near = sums.iter().any(|sum| matches!(sum, Sum::Near(_)));
                let shared = self.compiler.program.funcs.get(*part).is_some_and(|part| part.shared);
                let way = i64::from(*backward) + 2 * i64::from(near) + 4 * i64::from(shared);
                self.parallel(*part, &[*len, *work, Operand::Int(way)], captured, sums);
            }
            Stmt::While { head, cond, body } => self.while_loop(head, *cond, body),
            Stmt::Call { func, args, outs } => self.call(*func, args, outs),
            Stmt::Runtime { call, args, out } => self.runtime(*call, args, *out),
            Stmt::Retain(object, kind) => self.retain(*object, *kind),
            Stmt::Release(object, kind) => self.release(*object, *kind),
            Stmt::Free(object, _) => self.free(*object),
            Stmt::Fail(site, numbers) => self.fail(*site, numbers),
        }
    }

    /// Calls a function of the runtime.
    pub(super) fn import(&mut self, name: &'static str, args: &[Value]) -> Option<Value> {
        if let Some(given) = quiet::call(self, name, args) {
            return given;
        }
        let id = *self.compiler.imports.get(name)?;
        let target = self.compiler.module.declare_func_in_func(id, self.builder.func);
        let call = self.builder.ins().call(target, args);
        self.builder.inst_results(call).first().copied()
    }

    /// A new block, entered if the condition holds; the builder goes on in the other one.
    pub(super) fn unlikely(&mut self, cond: Value, build: impl FnOnce(&mut Self)) {
        let (rare, rest) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(rare);
        self.builder.ins().brif(cond, rare, &[], rest, &[]);
        self.enter(rare);
        build(self);
        if !self.is_done() {
            self.builder.ins().jump(rest, &[]);
        }
        self.enter(rest);
    }

    /// Fails at that site if little of the stack is left, and says so when recursion becomes deep.
    fn check_stack(&mut self, site: u32) {
        let pointer = self.builder.ins().get_stack_pointer(types::I64);
        let limit = self.builder.ins().load(types::I64, flags(), self.state, context::STACK_LIMIT);
        let over = self.builder.ins().icmp(IntCC::UnsignedLessThan, pointer, limit);
        self.unlikely(over, |this| {
            // No call that comes back: registers would be kept in memory for it.
            let end = this.builder.ins().load(types::I64, flags(), this.state, context::STACK_END);
            let over = this.builder.ins().icmp(IntCC::UnsignedLessThan, pointer, end);
            this.unlikely(over, |this| this.fail(site, &[]));
            this.builder.ins().store(flags(), end, this.state, context::STACK_LIMIT);
        });
        self.check_stop();
    }

    /// Fails if the program is to stop.
    pub(super) fn check_stop(&mut self) {
        let address = self.builder.ins().load(types::I64, constant(), self.state, context::STOP);
        // Somebody else writes it: an atomic load is done each time.
        let stop = self.builder.ins().atomic_load(types::I64, flags(), address);
        let stopped = match self.stopped {
            Some(stopped) => stopped,
            None => {
                let stopped = self.builder.create_block();
                self.builder.set_cold_block(stopped);
                self.stopped = Some(stopped);
                stopped
            }
        };
        let rest = self.builder.create_block();
        self.builder.ins().brif(stop, stopped, &[], rest, &[]);
        self.enter(rest);
    }

    fn fail(&mut self, site: u32, numbers: &[Operand]) {
        let user = self.program.sites.get(site as usize).map(|site| site.failure);
        let number = self.builder.ins().iconst(types::I64, i64::from(site));
        if user == Some(crate::loops::Failure::User) {
            let text = numbers.first().map(|text| self.operand(*text)).unwrap_or(number);
            self.import("fail_with", &[self.state, number, text]);
        } else {
            let address = match numbers {
                [] => self.builder.ins().iconst(types::I64, 0),
                numbers => {
                    let address = self.area(numbers.len());
                    for (place, operand) in (0..).zip(numbers) {
                        let value = self.operand(*operand);
                        self.builder.ins().store(flags(), value, address, place * 8);
                    }
                    address
                }
            };
            let count = self.builder.ins().iconst(types::I64, numbers.len() as i64);
            self.import("fail", &[self.state, number, address, count]);
        }
        self.trap();
    }

    fn branch(&mut self, cond: Operand, then: &[Stmt], otherwise: &[Stmt]) {
        let cond = self.operand(cond);
        let (yes, no, after) =
            (self.builder.create_block(), self.builder.create_block(), self.builder.create_block());
        let makes_room = otherwise.is_empty() && quiet::makes_room(then);
        if makes_room || matches!(then, [Stmt::Fail(..)]) {
            self.builder.set_cold_block(yes);
        }
        self.builder.ins().brif(cond, yes, &[], no, &[]);
        for (block, stmts) in [(yes, then), (no, otherwise)] {
            self.enter(block);
            let before = self.quiet;
            self.quiet |= makes_room;
            self.stmts(stmts);
            self.quiet = before;
            if !self.is_done() {
                self.builder.ins().jump(after, &[]);
            }
        }
        self.enter(after);
    }

    /// Counts in a variable of its own, for the body may be anything. What is to be done is tested at the end.
    pub(super) fn for_loop(&mut self, made: &lanes::Loop<'_>) {
        let (inside, after) = (self.builder.create_block(), self.builder.create_block());
        let now = self.builder.use_var(made.counter);
        self.again(made, now, inside, after);
        self.enter_loop(inside);
        let now = self.builder.use_var(made.counter);
        let next = self.builder.ins().iadd_imm_s(now, if made.backward { -1 } else { 1 });
        self.assign(made.index, if made.backward { next } else { now });
        self.builder.def_var(made.counter, next);
        if made.stops {
            self.check_stop();
        }
        self.loops += 1;
        self.stmts(made.body);
        self.loops -= 1;
        if !self.is_done() {
            let now = self.builder.use_var(made.counter);
            self.again(made, now, inside, after);
        }
        self.builder.seal_block(inside);
        self.enter(after);
    }

    /// Goes into a loop if there is more to do.
    fn again(&mut self, made: &lanes::Loop<'_>, now: Value, inside: Block, after: Block) {
        let more = if made.backward {
            self.builder.ins().icmp_imm_s(IntCC::SignedGreaterThan, now, 0)
        } else {
            self.builder.ins().icmp(IntCC::SignedLessThan, now, made.len)
        };
        self.builder.ins().brif(more, inside, &[], after, &[]);
    }

    fn while_loop(&mut self, head: &[Stmt], cond: Operand, body: &[Stmt]) {
        let (start, inside, after) =
            (self.builder.create_block(), self.builder.create_block(), self.builder.create_block());
        self.builder.ins().jump(start, &[]);
        self.enter_loop(start);
        self.check_stop();
        self.stmts(head);
        if !self.is_done() {
            let cond = self.operand(cond);
            self.builder.ins().brif(cond, inside, &[], after, &[]);
            self.enter(inside);
            self.loops += 1;
            self.stmts(body);
            self.loops -= 1;
            if !self.is_done() {
                self.builder.ins().jump(start, &[]);
            }
        }
        self.builder.seal_block(start);
        self.enter(after);
    }

    fn call(&mut self, func: wengert_ir::program::FuncId, args: &[Operand], outs: &[Local]) {
        let mut values = vec![self.state];
        for arg in args {
            values.push(self.operand(*arg));
        }
        let area = (outs.len() != 1).then(|| self.area(outs.len()));
        values.extend(area);
        let id = *self.compiler.funcs.at(func);
        let target = self.compiler.module.declare_func_in_func(id, self.builder.func);
        let call = self.builder.ins().call(target, &values);
        match area {
            None => {
                if let (Some(out), Some(result)) =
                    (outs.first(), self.builder.inst_results(call).first().copied())
                {
                    self.assign(*out, result);
                }
            }
            Some(area) => {
                for (place, out) in (0..).zip(outs) {
                    let ty = machine(*self.func.locals.at(*out));
                    let value = self.builder.ins().load(ty, flags(), area, place * 8);
                    self.assign(*out, value);
                }
            }
        }
    }

    /// Describes the loop on the stack, as [`parallel::HEAD`] says, and takes the sums from there.
    fn parallel(
        &mut self,
        part: wengert_ir::program::FuncId,
        first: &[Operand],
        captured: &[Local],
        sums: &[Sum],
    ) {
        let words: Vec<Local> = crate::parallel::words(sums).map(|(local, _)| local).collect();
        let is_real = |local: Local| self.func.locals.get(local) == Some(&Word::Real);
        let joins = crate::parallel::joins(sums, &is_real);
        let count = |n: usize| Operand::Int(i64::try_from(n).unwrap_or(0));
        let mut info: Vec<Operand> = first.to_vec();
        let arrays = sums.iter().filter(|sum| matches!(sum, Sum::Array { .. })).count();
        info.extend([
            count(captured.len()),
            count(words.len()),
            Operand::Int(joins.cast_signed()),
            count(arrays),
        ]);
        info.extend(captured.iter().chain(&words).map(|local| Operand::Local(*local)));
        for sum in sums {
            if let Sum::Array { object: _, first, size } = sum {
                let place = captured.iter().position(|local| local == first);
                info.extend([count(place.unwrap_or(captured.len())), *size]);
            }
        }
        let address = self.area(info.len());
        for (place, operand) in (0..).zip(info) {
            let value = self.operand(operand);
            self.builder.ins().store(flags(), value, address, place * 8);
        }
        let Some(entry) = self.compiler.parts.get(&part).copied() else { return self.trap() };
        let entry = self.compiler.module.declare_func_in_func(entry, self.builder.func);
        let entry = self.builder.ins().func_addr(types::I64, entry);
        self.import("parallel", &[self.state, entry, address]);
        let before = parallel::HEAD + captured.len();
        for (place, local) in (before..).zip(words) {
            let ty = machine(*self.func.locals.at(local));
            let offset = i32::try_from(place * 8).unwrap_or(0);
            let value = self.builder.ins().load(ty, flags(), address, offset);
            self.assign(local, value);
        }
    }

    fn runtime(&mut self, call: Runtime, args: &[Operand], out: Option<Local>) {
        let mut values = vec![self.state];
        for arg in args {
            values.push(self.operand(*arg));
        }
        if let (Some(value), Some(out)) = (self.import(call.name(), &values), out) {
            self.assign(out, value);
        }
    }

    /// The value of an expression for a variable of this word.
    pub(super) fn value(&mut self, value: &Expr, word: Word) -> Value {
        super::value::value(self, value, word)
    }

    /// An address and a byte offset that fits an instruction.
    pub(super) fn address(&mut self, base: Operand, index: Operand, offset: i32) -> (Value, i32) {
        let base = self.operand(base);
        if let Operand::Int(n) = index
            && let Some(n) = i32::try_from(n).ok().filter(|n| n.abs() < 1 << 24)
        {
            return (base, (n + offset) * 8);
        }
        let index = self.operand(index);
        let bytes = self.builder.ins().ishl_imm_s(index, 3);
        (self.builder.ins().iadd(base, bytes), offset * 8)
    }
}
