//! The inner loop: one instruction after the other, until a call or a return needs more than this loop does.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "an instruction names the values that the checker lets through"
)]

use super::*;
use crate::arith;
use crate::builtins::{array, compare};
use crate::compile::instr::{Arith, Compare};

impl Machine<'_> {
    /// Runs from `activation` on. Calls of the program's functions stay in this loop.
    #[expect(
        clippy::indexing_slicing,
        reason = "the compiler ends all code with a return and keeps jumps inside it"
    )]
    pub(super) fn execute(&mut self, activation: &mut Activation) -> Result<Control, Failure> {
        loop {
            self.cx.steps += 1;
            if self.cx.steps >= self.cx.next_check {
                self.note_stack_bytes();
                self.cx.check()?;
            }
            let instr = activation.code.instrs[activation.pc as usize];
            activation.pc += 1;
            match instr {
                Instr::Move { dst, src } => {
                    let value = take(&mut self.stack, activation, src);
                    self.set(activation, dst, value);
                }
                Instr::Arith { op, dst, a, b } => {
                    let x = peek(&self.stack, activation, a);
                    let y = peek(&self.stack, activation, b);
                    let value = match (x, y) {
                        (Value::Real(x), Value::Real(y)) => {
                            self.cx.flops += 1;
                            Value::Real(match op {
                                Arith::Add => x + y,
                                Arith::Sub => x - y,
                                Arith::Mul => x * y,
                                Arith::Div => x / y,
                            })
                        }
                        (Value::Int(x), Value::Int(y)) => Value::Int(int_arith(op, *x, *y)?),
                        (x, y) => arith::real2(self.cx, op.real_op(), x, y)?,
                    };
                    self.set(activation, dst, value);
                }
                Instr::Real1 { op, dst, a } => {
                    let value = arith::real1(self.cx, op, peek(&self.stack, activation, a))?;
                    self.set(activation, dst, value);
                }
                Instr::Compare { op, dst, a, b } => {
                    let truth = self.compare(activation, op, a, b)?;
                    self.set(activation, dst, Value::Bool(truth));
                }
                Instr::JumpUnlessCompare { op, a, b, skip } => {
                    if !self.compare(activation, op, a, b)? {
                        activation.pc += skip;
                    }
                }
                Instr::Index { dst, array, index } => {
                    let array = peek(&self.stack, activation, array);
                    let value = array::element(array, peek(&self.stack, activation, index))?;
                    self.set(activation, dst, value);
                }
                Instr::Jump { skip } => activation.pc += skip,
                Instr::JumpUnless { cond, skip } => match peek(&self.stack, activation, cond) {
                    Value::Bool(true) => {}
                    _ => activation.pc += skip,
                },
                Instr::JumpUnlessCtor { src, index, skip } => match peek(&self.stack, activation, src) {
                    Value::Data(data) if data.ctor.index == index => {}
                    _ => activation.pc += skip,
                },
                Instr::JumpUnlessConst { src, constant, skip } => {
                    let expected = &activation.code.constants[constant as usize];
                    if !compare::equal(self.cx, peek(&self.stack, activation, src), expected)? {
                        activation.pc += skip;
                    }
                }
                Instr::Component { dst, src, index } => {
                    let value = self.component(activation, src, index as usize)?;
                    self.set(activation, dst, value);
                }
                Instr::Call { dst, func, args } => {
                    activation.dst = dst;
                    let func = take(&mut self.stack, activation, func);
                    if let Value::Fun(fun) = &func
                        && let Fun::Closure { code, captured } = &**fun
                        && code.arity == args.len
                    {
                        self.enter(activation, code.clone(), captured.clone(), args)?;
                        continue;
                    }
                    let args = self.collect(activation, args);
                    self.suspend(activation)?;
                    return Ok(Control::Apply(func, args));
                }
                Instr::CallGlobal { dst, id, args } => {
                    activation.dst = dst;
                    let code = self.function(id)?;
                    let captured = self.no_captures.clone();
                    self.enter(activation, code, captured, args)?;
                }
                Instr::CallSibling { dst, code, args } => {
                    activation.dst = dst;
                    let code = self.code(code)?;
                    let captured = activation.captured.clone();
                    self.enter(activation, code, captured, args)?;
                }
                Instr::TailCall { func, args } => {
                    self.note_outermost(activation);
                    let func = take(&mut self.stack, activation, func);
                    let args = self.collect(activation, args);
                    self.stack.truncate(activation.base as usize);
                    if let Value::Fun(fun) = &func
                        && let Fun::Closure { code, captured } = &**fun
                        && code.arity as usize == args.len()
                    {
                        self.replace(activation, code.clone(), captured.clone(), args)?;
                        continue;
                    }
                    return Ok(Control::Apply(func, args));
                }
                Instr::TailCallGlobal { id, args } => {
                    self.note_outermost(activation);
                    let args = self.collect(activation, args);
                    self.stack.truncate(activation.base as usize);
                    let code = self.function(id)?;
                    let captured = self.no_captures.clone();
                    self.replace(activation, code, captured, args)?;
                }
                Instr::TailCallSibling { code, args } => {
                    self.note_outermost(activation);
                    let args = self.collect(activation, args);
                    self.stack.truncate(activation.base as usize);
                    let code = self.code(code)?;
                    let captured = activation.captured.clone();
                    self.replace(activation, code, captured, args)?;
                }
                Instr::Return { src } => {
                    let value = take(&mut self.stack, activation, src);
                    self.stack.truncate(activation.base as usize);
                    if !matches!(self.frames.last(), Some(Frame::Code(_))) {
                        return Ok(Control::Return(value));
                    }
                    if let Some(Frame::Code(caller)) = self.frames.pop() {
                        *activation = caller;
                        self.set(activation, activation.dst, value);
                    }
                }
                Instr::Builtin { prim, num, dst, args } => {
                    activation.dst = dst;
                    let mut values = [NOTHING, NOTHING, NOTHING];
                    for (place, i) in values.iter_mut().zip(args.start..args.start + args.len) {
                        *place = take(&mut self.stack, activation, activation.code.operands[i as usize]);
                    }
                    match builtins::call(self.cx, prim, num, values)? {
                        Step::Done(value) => self.set(activation, dst, value),
                        step => {
                            self.suspend(activation)?;
                            return self.step(step);
                        }
                    }
                }
                Instr::Global { dst, id } => {
                    activation.dst = dst;
                    if let InstanceState::Known(value) | InstanceState::Function(_, value) =
                        self.library.state(id)
                    {
                        let value = value.clone();
                        self.set(activation, dst, value);
                    } else {
                        // A definition that is needed for its own value must not be found running by its own frame.
                        self.ensure_not_running(id)?;
                        self.suspend(activation)?;
                        return self.instance(id);
                    }
                }
                Instr::Field { .. }
                | Instr::Tuple { .. }
                | Instr::Data { .. }
                | Instr::Record { .. }
                | Instr::Update { .. }
                | Instr::Array { .. }
                | Instr::Closure { .. }
                | Instr::Group { .. }
                | Instr::Sibling { .. }
                | Instr::CheckSize { .. }
                | Instr::NoMatch { .. } => self.construct(activation, instr)?,
            }
        }
    }

    /// Instructions that make or take apart composite values.
    #[expect(clippy::indexing_slicing, reason = "indices come from the compiler")]
    fn construct(&mut self, activation: &mut Activation, instr: Instr) -> Result<(), Failure> {
        let (dst, value) = match instr {
            Instr::Field { dst, src, name } => {
                let Value::Record(record) = peek(&self.stack, activation, src) else {
                    return Err(errors::internal("a field of a value that is no record"));
                };
                let place = record.names.iter().position(|other| *other == name);
                let field = place.and_then(|i| record.fields.get(i));
                let field =
                    field.ok_or_else(|| errors::internal("a record without a field that its type has"))?;
                (dst, field.clone())
            }
            Instr::Tuple { dst, args } => {
                (dst, Value::Tuple(Rc::new(Fields::new(self.collect(activation, args)))))
            }
            Instr::Data { dst, ctor, args } => {
                let ctor = activation.code.ctors[ctor as usize].clone();
                let fields = Fields::new(self.collect(activation, args));
                (dst, Value::Data(Rc::new(Data { ctor, fields })))
            }
            Instr::Record { dst, shape, args } => {
                let names = activation.code.shapes[shape as usize].clone();
                let fields = Fields::new(self.collect(activation, args));
                (dst, Value::Record(Rc::new(Record { names, fields })))
            }
            Instr::Update { dst, record, shape, args } => {
                let old = take(&mut self.stack, activation, record);
                let names = activation.code.shapes[shape as usize].clone();
                let fields = self.collect(activation, args);
                (dst, update_record(old, &names, fields)?)
            }
            Instr::Array { dst, args } => {
                let items = self.collect(activation, args);
                (dst, array::from_values(items.into_iter())?)
            }
            Instr::Closure { dst, code, captured } => {
                let code = self.code(code)?;
                let captured = Rc::new(Fields::new(self.collect(activation, captured)));
                (dst, Value::Fun(Rc::new(Fun::Closure { code, captured })))
            }
            Instr::Group { captured, members } => {
                let captured = Rc::new(Fields::new(self.collect(activation, captured)));
                for i in members.start..members.start + members.len {
                    let member = activation.code.members[i as usize];
                    let (code, captured) = (self.code(member.code)?, captured.clone());
                    self.set(activation, member.dst, Value::Fun(Rc::new(Fun::Closure { code, captured })));
                }
                return Ok(());
            }
            Instr::Sibling { dst, code } => {
                let (code, captured) = (self.code(code)?, activation.captured.clone());
                (dst, Value::Fun(Rc::new(Fun::Closure { code, captured })))
            }
            Instr::CheckSize { dst, array, expected, axis, name } => {
                let value = take(&mut self.stack, activation, array);
                array::check_size(&value, peek(&self.stack, activation, expected), axis, name)?;
                (dst, value)
            }
            Instr::NoMatch { src } => {
                let shown =
                    crate::show::show_bounded(peek(&self.stack, activation, src), crate::show::IN_MESSAGES);
                return Err(errors::no_match(&shown));
            }
            other => return Err(errors::internal(&format!("{other:?} is not handled here"))),
        };
        self.set(activation, dst, value);
        Ok(())
    }

    #[inline]
    fn compare(
        &mut self,
        activation: &Activation,
        op: Compare,
        a: Operand,
        b: Operand,
    ) -> Result<bool, Failure> {
        let x = peek(&self.stack, activation, a);
        let y = peek(&self.stack, activation, b);
        match (x, y) {
            (Value::Int(x), Value::Int(y)) => Ok(compare::ordered(op, x, y)),
            (Value::Real(x), Value::Real(y)) => Ok(compare::ordered(op, x, y)),
            (x, y) => compare::compare(self.cx, op, x, y),
        }
    }

    /// A component of a tuple or constructor, moved out where nobody else has the whole.
    #[inline]
    fn component(&mut self, activation: &Activation, src: Operand, index: usize) -> Result<Value, Failure> {
        if let Operand::Last(_) = src {
            match take(&mut self.stack, activation, src) {
                Value::Tuple(mut fields) => {
                    if let Some(fields) = Rc::get_mut(&mut fields) {
                        return part(fields.take(index));
                    }
                    return part(fields.get(index).cloned());
                }
                Value::Data(mut data) => {
                    if let Some(data) = Rc::get_mut(&mut data) {
                        return part(data.fields.take(index));
                    }
                    return part(data.fields.get(index).cloned());
                }
                _ => return part(None),
            }
        }
        match peek(&self.stack, activation, src) {
            Value::Tuple(fields) => part(fields.get(index).cloned()),
            Value::Data(data) => part(data.fields.get(index).cloned()),
            _ => part(None),
        }
    }

    /// Starts a call from `activation`; the new call becomes `activation`.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "operand lists come from the compiler")]
    fn enter(
        &mut self,
        activation: &mut Activation,
        code: Rc<Code>,
        captured: Rc<Fields>,
        args: Range,
    ) -> Result<(), Failure> {
        let slots = code.slots as usize;
        self.ensure_stack(slots)?;
        let base = self.stack.len();
        for i in args.start..args.start + args.len {
            let value = take(&mut self.stack, activation, activation.code.operands[i as usize]);
            self.stack.push(value);
        }
        for _ in args.len as usize..slots {
            self.stack.push(NOTHING);
        }
        let callee = Activation { code, captured, pc: 0, base: base as u32, dst: 0 };
        let caller = std::mem::replace(activation, callee);
        self.push_frame(Frame::Code(caller))
    }

    /// Puts another call in the place of `activation`, whose registers are gone already.
    #[inline]
    fn replace(
        &mut self,
        activation: &mut Activation,
        code: Rc<Code>,
        captured: Rc<Fields>,
        args: Args,
    ) -> Result<(), Failure> {
        let slots = code.slots as usize;
        self.ensure_stack(slots)?;
        let len = args.len();
        self.stack.extend(args);
        for _ in len..slots {
            self.stack.push(NOTHING);
        }
        activation.code = code;
        activation.captured = captured;
        activation.pc = 0;
        Ok(())
    }

    /// Remembers where a tail call leaves the user's text, if no frame will tell.
    #[inline]
    fn note_outermost(&mut self, activation: &Activation) {
        if self.frames.len() <= 1
            && let Some(span) = activation.code.spans.get(activation.pc as usize - 1)
            && (span.source == self.outermost.source || self.is_own(*span))
        {
            self.outermost = *span;
        }
    }

    /// Puts the running call on the frame stack.
    fn suspend(&mut self, activation: &mut Activation) -> Result<(), Failure> {
        let (code, captured) = (activation.code.clone(), activation.captured.clone());
        let Activation { pc, base, dst, .. } = *activation;
        self.push_frame(Frame::Code(Activation { code, captured, pc, base, dst }))
    }

    #[inline]
    #[expect(clippy::indexing_slicing, reason = "operand lists come from the compiler")]
    fn collect(&mut self, activation: &Activation, args: Range) -> Args {
        let range = args.start..args.start + args.len;
        range.map(|i| take(&mut self.stack, activation, activation.code.operands[i as usize])).collect()
    }

    #[inline]
    fn function(&mut self, id: InstanceId) -> Result<Rc<Code>, Failure> {
        match self.library.state(id) {
            InstanceState::Function(code, _) => Ok(code.clone()),
            InstanceState::Fresh
            | InstanceState::Constant(_)
            | InstanceState::Running(_)
            | InstanceState::Known(_) => Err(errors::internal("a call of a definition that is no function")),
        }
    }

    #[inline]
    fn code(&self, id: CodeId) -> Result<Rc<Code>, Failure> {
        self.library.code(id).cloned().ok_or_else(|| errors::internal("code that was never finished"))
    }

    fn ensure_not_running(&mut self, id: InstanceId) -> Result<(), Failure> {
        if matches!(self.library.state(id), InstanceState::Running(_)) {
            return Err(errors::cyclic(self.library.name_of(id)));
        }
        Ok(())
    }
}

fn part(part: Option<Value>) -> Result<Value, Failure> {
    part.ok_or_else(|| errors::internal("a component that the value does not have"))
}

#[inline]
fn int_arith(op: Arith, x: i64, y: i64) -> Result<i64, Failure> {
    match op {
        Arith::Add => Ok(x.wrapping_add(y)),
        Arith::Sub => Ok(x.wrapping_sub(y)),
        Arith::Mul => Ok(x.wrapping_mul(y)),
        Arith::Div if y == 0 => Err(errors::division_by_zero("/", x)),
        Arith::Div => Ok(x.wrapping_div(y)),
    }
}

/// The record with new values for some fields; in place if nobody else has it.
fn update_record(old: Value, names: &[Name], values: Args) -> Result<Value, Failure> {
    let Value::Record(mut record) = old else {
        return Err(errors::internal("an update of a value that is no record"));
    };
    if Rc::get_mut(&mut record).is_none() {
        let fields = record.fields.as_slice().iter().cloned().collect();
        record = Rc::new(Record { names: record.names.clone(), fields });
    }
    let Some(unique) = Rc::get_mut(&mut record) else { return Err(errors::internal("a shared record")) };
    let Record { names: all, fields } = unique;
    fields.update(|fields| {
        for (name, value) in names.iter().zip(values) {
            let place = all.iter().position(|other| other == name).and_then(|i| fields.get_mut(i));
            if let Some(place) = place {
                *place = value;
            }
        }
    });
    Ok(Value::Record(record))
}
