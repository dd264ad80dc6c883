//! The machine: runs prepared functions on explicit stacks.
//!
//! `slots` holds the variables of all calls under way, `frames` the blocks that are entered: each says what is to be done
//! with the results of its block. No Rust recursion follows the program's, so depth costs memory only. A frame stands at
//! the statement that it waits for, so that a failure finds its place.

use super::array::{self, Args};
use super::code::{BlockCode, Code, Kind, Operand, StmtCode, code};
use super::limits::Meter;
use super::scalar::{self, mistyped};
use super::value::{Array, Items, Value};
use super::{Failure, require};
use crate::program::{FuncId, Program};
use crate::ty::Ty;
use std::rc::Rc;
use wengert_base::Span;
use wengert_fault::Fault;
use wengert_prim::RealOp;

/// A block that is entered.
struct Frame {
    block: Rc<BlockCode>,
    /// The next statement, or the one that is waited for.
    next: usize,
    /// Where the variables of the call begin.
    base: usize,
    then: Then,
}

/// What is to be done with the results of a block.
enum Then {
    /// They are the call's.
    Return,
    /// They are the statement's in the frame below.
    Branch,
    /// They are an iteration's.
    Loop(Box<LoopState>),
    /// It says whether a while loop goes on.
    Test(Box<WhileState>),
    /// They are an iteration's of a while loop.
    While(Box<WhileState>),
}

/// A counted loop under way.
struct LoopState {
    body: Rc<BlockCode>,
    /// How many iterations there are, and how many have begun.
    len: usize,
    begun: usize,
    backward: bool,
    inputs: Vec<Rc<Array>>,
    /// How many values are carried.
    carried: usize,
    rows: Vec<Rows>,
}

/// A while loop under way.
struct WhileState {
    cond: Rc<BlockCode>,
    body: Rc<BlockCode>,
    rows: Vec<Rows>,
}

/// The rows of an output so far.
enum Rows {
    /// Elements.
    Flat(Items),
    /// Arrays, and how many axes the output has.
    Arrays(Vec<Rc<Array>>, Ty),
}

/// A running program.
pub(super) struct Machine<'p> {
    program: &'p Program,
    codes: Vec<Option<Rc<Code>>>,
    pub(super) meter: Meter,
    slots: Vec<Value>,
    frames: Vec<Frame>,
}

impl<'p> Machine<'p> {
    pub(super) fn new(program: &'p Program, meter: Meter) -> Machine<'p> {
        let codes = vec![None; program.funcs.len()];
        Machine { program, codes, meter, slots: Vec::new(), frames: Vec::new() }
    }

    /// Calls a function.
    pub(super) fn call(&mut self, func: FuncId, args: Vec<Value>) -> Result<Vec<Value>, Failure> {
        self.meter.start();
        let result = self.enter(func, args.into_iter().collect()).and_then(|()| self.run());
        let result = result.map_err(|fault| {
            let span = self.program.indexed(self.place(), self.meter.indices_after);
            Failure { fault, span }
        });
        self.frames.clear();
        self.slots.clear();
        result
    }

    /// The statement that is being run.
    fn place(&self) -> Span {
        let stmt = self.frames.last().and_then(|frame| frame.block.stmts.get(frame.next));
        stmt.map_or(Span::NOWHERE, |stmt| stmt.span)
    }

    /// The function's code; prepared when it is first called.
    fn code(&mut self, func: FuncId) -> Result<Rc<Code>, Fault> {
        let unknown = || Fault::internal("a function that does not exist was called");
        let known = self.codes.get_mut(func.0 as usize).ok_or_else(unknown)?;
        if let Some(code) = known {
            return Ok(Rc::clone(code));
        }
        let prepared = Rc::new(code(self.program.funcs.get(func).ok_or_else(unknown)?));
        *known = Some(Rc::clone(&prepared));
        Ok(prepared)
    }

    /// Begins a call.
    fn enter(&mut self, func: FuncId, args: Args) -> Result<(), Fault> {
        let code = self.code(func)?;
        let base = self.slots.len();
        self.make_room(code.slots)?;
        self.slots.resize(base + code.slots, Value::Unit);
        let params = code.body.params.iter();
        if params.len() != args.len() {
            return Err(mistyped("as many arguments as parameters"));
        }
        for (param, arg) in params.zip(args) {
            self.set(base, *param, arg);
        }
        self.push(Frame { block: Rc::clone(&code.body), next: 0, base, then: Then::Return })
    }

    /// Puts a call in the place of the one under way.
    fn replace(&mut self, func: FuncId, args: Args) -> Result<(), Fault> {
        while let Some(frame) = self.frames.pop() {
            if matches!(frame.then, Then::Return) {
                self.slots.truncate(frame.base);
                break;
            }
        }
        self.enter(func, args)
    }

    fn push(&mut self, frame: Frame) -> Result<(), Fault> {
        if self.frames.len() == self.frames.capacity() {
            let more = self.frames.capacity().max(64);
            self.meter.reserve((more * size_of::<Frame>()) as u64)?;
            self.frames.reserve_exact(more);
            self.note_stack_bytes();
        }
        self.frames.push(frame);
        Ok(())
    }

    fn make_room(&mut self, more: usize) -> Result<(), Fault> {
        if self.slots.capacity() - self.slots.len() < more {
            let more = self.slots.capacity().max(more).max(64);
            self.meter.reserve((more * size_of::<Value>()) as u64)?;
            self.slots.reserve_exact(more);
            self.note_stack_bytes();
        }
        Ok(())
    }

    fn note_stack_bytes(&mut self) {
        let frames = self.frames.capacity() * size_of::<Frame>();
        self.meter.stack_bytes = (frames + self.slots.capacity() * size_of::<Value>()) as u64;
    }

    fn set(&mut self, base: usize, slot: u32, value: Value) {
        if let Some(place) = self.slots.get_mut(base + slot as usize) {
            *place = value;
        }
    }

    fn get(&mut self, base: usize, operand: &Operand) -> Value {
        match operand {
            Operand::Slot(slot) => self.slots.get(base + *slot as usize).cloned().unwrap_or(Value::Unit),
            Operand::Last(slot) => {
                let place = self.slots.get_mut(base + *slot as usize);
                place.map_or(Value::Unit, |place| std::mem::replace(place, Value::Unit))
            }
            Operand::Const(value) => value.clone(),
        }
    }

    fn gather(&mut self, base: usize, operands: &[Operand]) -> Args {
        operands.iter().map(|operand| self.get(base, operand)).collect()
    }

    /// Runs to the end of the outermost call.
    fn run(&mut self) -> Result<Vec<Value>, Fault> {
        loop {
            let Some(frame) = self.frames.last() else { return Err(Fault::internal("no call under way")) };
            let (block, base, first) = (Rc::clone(&frame.block), frame.base, frame.next);
            if self.stmts(&block, base, first)? {
                continue;
            }
            let results = self.gather(base, &block.results);
            let Some(frame) = self.frames.pop() else { return Err(Fault::internal("no call under way")) };
            if let Some(results) = self.leave(frame, results)? {
                return Ok(results.into_vec());
            }
        }
    }

    /// Runs the statements of the topmost frame's block from `first` on; whether one of them entered a block.
    fn stmts(&mut self, block: &BlockCode, base: usize, first: usize) -> Result<bool, Fault> {
        for (i, stmt) in block.stmts.iter().enumerate().skip(first) {
            self.meter.work(1).inspect_err(|_| self.stand_at(i))?;
            if stmt.enters {
                self.stand_at(i);
                self.enter_block(base, stmt)?;
                return Ok(true);
            }
            self.stmt(base, stmt).inspect_err(|_| self.stand_at(i))?;
        }
        Ok(false)
    }

    /// Notes which statement the topmost frame is at.
    fn stand_at(&mut self, stmt: usize) {
        if let Some(frame) = self.frames.last_mut() {
            frame.next = stmt;
        }
    }

    /// Does what is to be done with a block's results; gives those of the outermost call.
    fn leave(&mut self, frame: Frame, results: Args) -> Result<Option<Args>, Fault> {
        match frame.then {
            Then::Return => {
                self.slots.truncate(frame.base);
                if self.frames.is_empty() {
                    return Ok(Some(results));
                }
                self.finish(results);
            }
            Then::Branch => self.finish(results),
            Then::Loop(state) => self.iterated(frame.base, state, results)?,
            Then::Test(state) => self.tested(frame.base, state, results)?,
            Then::While(mut state) => {
                let carried = state.cond.params.len();
                let mut results = results.into_iter();
                let values: Args = results.by_ref().take(carried).collect();
                collect(&mut state.rows, results)?;
                self.test(frame.base, state, values)?;
            }
        }
        Ok(None)
    }

    /// Gives results to the statement that the topmost frame waits for.
    fn finish(&mut self, results: Args) {
        let Some(frame) = self.frames.last_mut() else { return };
        let (block, base, stmt) = (Rc::clone(&frame.block), frame.base, frame.next);
        frame.next += 1;
        for (out, value) in block.stmts.get(stmt).into_iter().flat_map(|stmt| &stmt.outs).zip(results) {
            self.set(base, *out, value);
        }
    }

    /// The value of an operand where it stands.
    #[inline]
    fn peek<'v>(&'v self, base: usize, operand: &'v Operand) -> &'v Value {
        match operand {
            Operand::Slot(slot) | Operand::Last(slot) => {
                self.slots.get(base + *slot as usize).unwrap_or(&Value::Unit)
            }
            Operand::Const(value) => value,
        }
    }

    /// Arithmetic and comparisons of two numbers, which need not be taken out of their places.
    #[inline]
    fn numbers(&mut self, base: usize, stmt: &StmtCode) -> Option<Value> {
        let [a, b] = stmt.args.as_slice() else { return None };
        match (stmt.kind, self.peek(base, a), self.peek(base, b)) {
            (Kind::Real(op), Value::Real(x), Value::Real(y)) => {
                let value = Value::Real(op.eval2(*x, *y));
                self.meter.flops += op.cost();
                Some(value)
            }
            (Kind::Compare(op), Value::Real(x), Value::Real(y)) => Some(scalar::ordered(op, *x, *y)),
            (Kind::Compare(op), Value::Int(x), Value::Int(y)) => Some(scalar::ordered(op, *x, *y)),
            _ => None,
        }
    }

    /// Runs a statement that enters no block.
    fn stmt(&mut self, base: usize, stmt: &StmtCode) -> Result<(), Fault> {
        let result = match self.numbers(base, stmt) {
            Some(result) => result,
            None => {
                let args = self.gather(base, &stmt.args);
                match self.flat(base, stmt, args)? {
                    Some(result) => result,
                    None => return Ok(()),
                }
            }
        };
        if let Some(out) = stmt.outs.first() {
            self.set(base, *out, result);
        }
        Ok(())
    }

    /// The one result of a statement that enters no block; or `None`, and the results are in their places.
    fn flat(&mut self, base: usize, stmt: &StmtCode, mut args: Args) -> Result<Option<Value>, Fault> {
        Ok(Some(match stmt.kind {
            Kind::Real(op) => scalar::real_op(&mut self.meter, op, &args)?,
            Kind::Int(op) => scalar::int_op(op, &args)?,
            Kind::Array(op) => array::array_op(&mut self.meter, op, args)?,
            Kind::Text(op) => scalar::text_op(&mut self.meter, op, &mut args)?,
            Kind::Make(ctor) => Value::data(ctor, args.into_vec()),
            Kind::Require(what) => {
                require::require(self.program, what, &args)?;
                return Ok(None);
            }
            Kind::Copy => {
                for (out, value) in stmt.outs.iter().zip(args) {
                    self.set(base, *out, value);
                }
                return Ok(None);
            }
            Kind::Derivative(word) => {
                return Err(Fault::internal(format!("`{word}`: derivatives must be made first")));
            }
            Kind::Power
            | Kind::Polygamma
            | Kind::Compare(_)
            | Kind::Convert(_)
            | Kind::Not
            | Kind::Select
            | Kind::Fail => self.scalar(stmt.kind, args)?,
            Kind::Match | Kind::If | Kind::Call { .. } | Kind::Loop { .. } | Kind::While => {
                return Err(Fault::internal("a statement with blocks has none"));
            }
        }))
    }

    /// Enters the block of a statement, or the function that it calls.
    fn enter_block(&mut self, base: usize, stmt: &StmtCode) -> Result<(), Fault> {
        let args = self.gather(base, &stmt.args);
        match stmt.kind {
            Kind::If => self.if_else(base, stmt, &args),
            Kind::Match => self.match_on(base, stmt, args),
            Kind::Call { func, tail: false } => self.enter(func, args),
            Kind::Call { func, tail: true } => self.replace(func, args),
            Kind::Loop { carried, backward } => self.begin_loop(base, stmt, args, carried, backward),
            Kind::While => self.begin_while(base, stmt, args),
            Kind::Copy
            | Kind::Real(_)
            | Kind::Power
            | Kind::Polygamma
            | Kind::Int(_)
            | Kind::Compare(_)
            | Kind::Convert(_)
            | Kind::Not
            | Kind::Select
            | Kind::Text(_)
            | Kind::Fail
            | Kind::Require(_)
            | Kind::Make(_)
            | Kind::Array(_)
            | Kind::Derivative(_) => Err(Fault::internal("a statement without blocks enters one")),
        }
    }

    fn scalar(&mut self, kind: Kind, mut args: Args) -> Result<Value, Fault> {
        match (kind, args.as_mut_slice()) {
            (Kind::Power, [x, Value::Int(n)]) => {
                scalar::real_op(&mut self.meter, RealOp::PowInt(*n), std::slice::from_ref(x))
            }
            (Kind::Polygamma, [Value::Int(n), x]) => scalar::polygamma(&mut self.meter, *n, x.clone()),
            (Kind::Compare(op), [x, y]) => scalar::compare(op, x, y),
            (Kind::Convert(op), [x]) => scalar::convert(op, x),
            (Kind::Not, [Value::Bool(truth)]) => Ok(Value::Bool(!*truth)),
            (Kind::Select, [Value::Bool(cond), then, otherwise]) => {
                Ok(std::mem::replace(if *cond { then } else { otherwise }, Value::Unit))
            }
            (Kind::Fail, [Value::Text(message)]) => {
                Err(Fault::Failed { message: message.as_str().to_owned() })
            }
            _ => Err(mistyped("operands of the operation")),
        }
    }

    fn if_else(&mut self, base: usize, stmt: &StmtCode, args: &[Value]) -> Result<(), Fault> {
        let Some(Value::Bool(truth)) = args.first() else { return Err(mistyped("a truth value")) };
        self.branch(base, stmt.blocks.get(usize::from(!truth)), Args::new())
    }

    fn match_on(&mut self, base: usize, stmt: &StmtCode, args: Args) -> Result<(), Fault> {
        let Some(Value::Data(mut node)) = args.into_iter().next() else { return Err(mistyped("data")) };
        let block = stmt.blocks.get(node.ctor as usize);
        let fields = match Rc::get_mut(&mut node) {
            Some(node) => (0..node.fields().len()).filter_map(|i| node.take(i)).collect(),
            None => node.fields().iter().cloned().collect(),
        };
        self.branch(base, block, fields)
    }

    fn branch(&mut self, base: usize, block: Option<&Rc<BlockCode>>, params: Args) -> Result<(), Fault> {
        let block = block.ok_or_else(|| mistyped("a branch"))?;
        for (param, value) in block.params.iter().zip(params) {
            self.set(base, *param, value);
        }
        self.push(Frame { block: Rc::clone(block), next: 0, base, then: Then::Branch })
    }

    fn begin_loop(
        &mut self,
        base: usize,
        stmt: &StmtCode,
        args: Args,
        carried: usize,
        backward: bool,
    ) -> Result<(), Fault> {
        let mut args = args.into_iter();
        let Some(Value::Int(len)) = args.next() else { return Err(mistyped("a count")) };
        let outputs_stored = stmt.types.len() > carried;
        let len = match usize::try_from(len) {
            Ok(_) if outputs_stored => self.meter.storable("build", len)?,
            Ok(len) => len,
            Err(_) => return Err(Fault::internal("a loop of negative length")),
        };
        let values: Args = args.by_ref().take(carried).collect();
        let mut inputs = Vec::new();
        for input in args {
            let Value::Array(input) = input else { return Err(mistyped("an array")) };
            if input.rows() != len {
                let message = format!("a loop of length {len} has an input of size {}", input.rows());
                return Err(Fault::internal(message));
            }
            inputs.push(input);
        }
        let Some(body) = stmt.blocks.first() else { return Err(mistyped("a block")) };
        let rows = outputs(stmt.types.get(carried..).unwrap_or_default(), len);
        let state = LoopState { body: Rc::clone(body), len, begun: 0, backward, inputs, carried, rows };
        self.iterate(base, Box::new(state), values)
    }

    /// Begins the next iteration with these carried values, or ends the loop.
    fn iterate(&mut self, base: usize, mut state: Box<LoopState>, values: Args) -> Result<(), Fault> {
        if state.begun == state.len {
            let mut results = values;
            for rows in state.rows {
                results.push(rows.finish(state.backward)?);
            }
            self.finish(results);
            return Ok(());
        }
        let index = if state.backward { state.len - 1 - state.begun } else { state.begun };
        state.begun += 1;
        let body = Rc::clone(&state.body);
        let mut params = body.params.iter();
        if let Some(param) = params.next() {
            self.set(base, *param, Value::Int(index as i64));
        }
        for (value, param) in values.into_iter().zip(params.by_ref()) {
            self.set(base, *param, value);
        }
        for (param, input) in params.zip(&state.inputs) {
            self.set(base, *param, input.row(index).unwrap_or(Value::Unit));
        }
        self.push(Frame { block: body, next: 0, base, then: Then::Loop(state) })
    }

    /// An iteration is done.
    fn iterated(&mut self, base: usize, mut state: Box<LoopState>, results: Args) -> Result<(), Fault> {
        self.meter.work(1)?;
        let mut results = results.into_iter();
        let values: Args = results.by_ref().take(state.carried).collect();
        collect(&mut state.rows, results)?;
        self.iterate(base, state, values)
    }

    fn begin_while(&mut self, base: usize, stmt: &StmtCode, args: Args) -> Result<(), Fault> {
        let [cond, body] = stmt.blocks.as_slice() else { return Err(mistyped("two blocks")) };
        let rows = outputs(stmt.types.get(args.len()..).unwrap_or_default(), 0);
        let state = WhileState { cond: Rc::clone(cond), body: Rc::clone(body), rows };
        self.test(base, Box::new(state), args)
    }

    /// Looks whether a while loop goes on with these values.
    fn test(&mut self, base: usize, state: Box<WhileState>, values: Args) -> Result<(), Fault> {
        let cond = Rc::clone(&state.cond);
        for (param, value) in cond.params.iter().zip(values) {
            self.set(base, *param, value);
        }
        self.push(Frame { block: cond, next: 0, base, then: Then::Test(state) })
    }

    fn tested(&mut self, base: usize, state: Box<WhileState>, results: Args) -> Result<(), Fault> {
        let Some(Value::Bool(goes_on)) = results.first() else { return Err(mistyped("a truth value")) };
        let values: Args =
            state.cond.params.iter().map(|slot| self.get(base, &Operand::Last(*slot))).collect();
        if !goes_on {
            let mut results = values;
            for rows in state.rows {
                results.push(rows.finish(false)?);
            }
            self.finish(results);
            return Ok(());
        }
        let body = Rc::clone(&state.body);
        for (param, value) in body.params.iter().zip(values) {
            self.set(base, *param, value);
        }
        self.push(Frame { block: body, next: 0, base, then: Then::While(state) })
    }
}

/// Places for the rows of outputs of these types.
fn outputs(types: &[Ty], len: usize) -> Vec<Rows> {
    let output = |ty: &Ty| match ty.rank() {
        0 | 1 => Rows::Flat(Items::with_capacity(ty.elem(), len)),
        _ => Rows::Arrays(Vec::with_capacity(len), *ty),
    };
    types.iter().map(output).collect()
}

fn collect(rows: &mut [Rows], values: impl Iterator<Item = Value>) -> Result<(), Fault> {
    for (rows, value) in rows.iter_mut().zip(values) {
        let fits = match (rows, value) {
            (Rows::Arrays(rows, _), Value::Array(row)) => {
                rows.push(row);
                true
            }
            (Rows::Arrays(..), _) => false,
            (Rows::Flat(items), value) => items.push(value),
        };
        if !fits {
            return Err(mistyped("a row of the output's type"));
        }
    }
    Ok(())
}

impl Rows {
    /// The output.
    fn finish(self, backward: bool) -> Result<Value, Fault> {
        match self {
            Rows::Flat(mut items) => {
                if backward {
                    items.reverse();
                }
                Ok(Value::Array(Rc::new(Array::vector(items))))
            }
            Rows::Arrays(rows, ty) if rows.is_empty() => Ok(array::empty(ty.elem(), ty.rank())),
            Rows::Arrays(mut rows, _) => {
                if backward {
                    rows.reverse();
                }
                array::of_rows(&rows)
            }
        }
    }
}
