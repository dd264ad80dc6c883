//! The machine: runs code on explicit stacks.
//!
//! `stack` holds the registers of all calls, `frames` what is to be done after the running function: code frames go on
//! at their program counter, builtin frames hand the result to the state machine of a built-in function (see
//! [`crate::step`]). No Rust recursion follows the program's recursion, so depth costs memory only: 40 bytes a call and
//! 16 for each register.

use crate::builtins;
use crate::compile::instr::{Code, CodeId, InstanceId, Instr, Operand, Range};
use crate::compile::library::{InstanceState, Library};
use crate::errors;
use crate::step::{Context, Failure, Resume, Step};
use crate::value::{Data, Fields, Fun, Record, Value};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::rc::Rc;
use wengert_base::{Name, SourceId, Span};

mod instructions;
mod trace;

/// Arguments of a call.
pub(crate) type Args = SmallVec<[Value; 2]>;

/// A call of a function of the program.
struct Activation {
    code: Rc<Code>,
    captured: Rc<Fields>,
    /// The next instruction.
    pc: u32,
    /// Where its registers begin on the stack.
    base: u32,
    /// The register that waits for the result of the call under way.
    dst: u32,
}

/// What is to be done with the result of the running function.
enum Frame {
    /// Go on with this call.
    Code(Activation),
    /// Go on with this built-in function.
    Builtin(Box<dyn Resume>),
    /// Apply the result to further arguments.
    Rest(Box<Args>),
    /// It is the value of a definition.
    Constant(InstanceId),
}

/// What to do next.
enum Control {
    /// Run code.
    Run(Activation),
    /// Give a value to the topmost frame.
    Return(Value),
    /// Call a function.
    Apply(Value, Args),
}

/// A running program.
pub(crate) struct Machine<'a> {
    library: &'a mut Library,
    cx: &'a mut Context,
    stack: Vec<Value>,
    frames: Vec<Frame>,
    /// What functions capture that capture nothing.
    no_captures: Rc<Fields>,
    /// Bytes of the boxes in `frames`.
    builtin_bytes: u64,
    /// Sources that are not the user's own.
    library_sources: &'a FxHashSet<SourceId>,
    /// Where the user's text was left last by a tail call with nothing below it.
    outermost: Span,
}

/// What a register holds that nobody reads.
const NOTHING: Value = Value::Bool(false);

impl<'a> Machine<'a> {
    /// A machine with empty stacks.
    pub(crate) fn new(
        library: &'a mut Library,
        cx: &'a mut Context,
        library_sources: &'a FxHashSet<SourceId>,
    ) -> Machine<'a> {
        Machine {
            library,
            cx,
            stack: Vec::new(),
            frames: Vec::new(),
            no_captures: Rc::new(Fields::default()),
            builtin_bytes: 0,
            library_sources,
            outermost: Span::NOWHERE,
        }
    }

    /// Applies a function.
    pub(crate) fn apply(&mut self, func: Value, args: Args) -> Result<Value, Failure> {
        if args.is_empty() { Ok(func) } else { self.run(Control::Apply(func, args)) }
    }

    /// The value of a definition.
    pub(crate) fn global(&mut self, id: InstanceId) -> Result<Value, Failure> {
        let control = self.instance(id)?;
        self.run(control)
    }

    fn run(&mut self, mut control: Control) -> Result<Value, Failure> {
        loop {
            control = match control {
                Control::Run(mut activation) => match self.execute(&mut activation) {
                    Ok(control) => control,
                    Err(failure) => {
                        self.frames.push(Frame::Code(activation));
                        return Err(failure);
                    }
                },
                Control::Apply(func, args) => self.call(func, args)?,
                Control::Return(value) => match self.frames.pop() {
                    None => return Ok(value),
                    Some(Frame::Code(activation)) => {
                        self.set(&activation, activation.dst, value);
                        Control::Run(activation)
                    }
                    Some(Frame::Builtin(resume)) => {
                        self.builtin_bytes -= resume.bytes() as u64;
                        self.cx.work(1)?;
                        let step = resume.resume(self.cx, value)?;
                        self.step(step)?
                    }
                    Some(Frame::Rest(args)) => Control::Apply(value, *args),
                    Some(Frame::Constant(id)) => {
                        self.library.set_state(id, InstanceState::Known(value.clone()));
                        Control::Return(value)
                    }
                },
            };
        }
    }

    /// Does what a built-in function asks for.
    fn step(&mut self, mut step: Step) -> Result<Control, Failure> {
        loop {
            match step {
                Step::Done(value) => return Ok(Control::Return(value)),
                Step::Call { func, args, then } => {
                    if let Some(then) = then {
                        self.push_builtin(then)?;
                    }
                    return Ok(Control::Apply(func, args));
                }
                Step::Chain { first, then } => {
                    self.push_builtin(then)?;
                    step = *first;
                }
            }
        }
    }

    fn push_builtin(&mut self, then: Box<dyn Resume>) -> Result<(), Failure> {
        self.builtin_bytes += then.bytes() as u64;
        self.push_frame(Frame::Builtin(then))
    }

    /// Calls any kind of function with any number of arguments.
    fn call(&mut self, func: Value, mut args: Args) -> Result<Control, Failure> {
        let Value::Fun(fun) = &func else {
            return Err(errors::internal("a value that is no function was called"));
        };
        match &**fun {
            Fun::Closure { code, captured } => {
                let arity = code.arity as usize;
                if args.len() < arity {
                    let args = Fields::new(args);
                    return Ok(Control::Return(Value::Fun(Rc::new(Fun::Partial { func, args }))));
                }
                if args.len() > arity {
                    let rest: Args = args.drain(arity..).collect();
                    self.push_frame(Frame::Rest(Box::new(rest)))?;
                }
                let base = self.stack.len() as u32;
                self.ensure_stack(code.slots as usize)?;
                self.stack.extend(args);
                self.stack.resize(base as usize + code.slots as usize, NOTHING);
                let (code, captured) = (code.clone(), captured.clone());
                Ok(Control::Run(Activation { code, captured, pc: 0, base, dst: 0 }))
            }
            Fun::Partial { func, args: first } => {
                let all = first.as_slice().iter().cloned().chain(args).collect();
                Ok(Control::Apply(func.clone(), all))
            }
            Fun::Forward { .. } | Fun::Reverse { .. } | Fun::TangentOf { .. } | Fun::Linear { .. } => {
                if args.len() > 1 {
                    let rest: Args = args.drain(1..).collect();
                    self.push_frame(Frame::Rest(Box::new(rest)))?;
                }
                let Some(arg) = args.pop() else { return Ok(Control::Return(func)) };
                let step = crate::derivative::apply(self.cx, fun, arg)?;
                self.step(step)
            }
        }
    }

    /// The value of a definition, or the code that computes it.
    fn instance(&mut self, id: InstanceId) -> Result<Control, Failure> {
        match self.library.state(id) {
            InstanceState::Known(value) | InstanceState::Function(_, value) => {
                Ok(Control::Return(value.clone()))
            }
            InstanceState::Constant(code) => {
                let code = code.clone();
                self.library.set_state(id, InstanceState::Running(code.clone()));
                self.push_frame(Frame::Constant(id))?;
                let function = Fun::Closure { code, captured: Rc::new(Fields::default()) };
                self.call(Value::Fun(Rc::new(function)), Args::new())
            }
            InstanceState::Running(_) => Err(errors::cyclic(self.library.name_of(id))),
            InstanceState::Fresh => Err(errors::internal("a definition was not compiled")),
        }
    }

    /// Pushes a frame, within the memory limit.
    #[inline]
    fn push_frame(&mut self, frame: Frame) -> Result<(), Failure> {
        if self.frames.len() == self.frames.capacity() {
            self.grow_frames()?;
        }
        self.frames.push(frame);
        Ok(())
    }

    /// Makes room for `more` registers.
    #[inline]
    fn ensure_stack(&mut self, more: usize) -> Result<(), Failure> {
        if self.stack.capacity() - self.stack.len() < more { self.grow_stack(more) } else { Ok(()) }
    }

    #[cold]
    fn grow_frames(&mut self) -> Result<(), Failure> {
        let more = self.frames.capacity().max(64);
        self.cx.reserve((more * size_of::<Frame>()) as u64)?;
        let grown = self.frames.try_reserve_exact(more);
        grown.map_err(|_| errors::memory_limit((self.frames.len() * size_of::<Frame>()) as u64))?;
        self.note_stack_bytes();
        Ok(())
    }

    #[cold]
    fn grow_stack(&mut self, more: usize) -> Result<(), Failure> {
        let more = more.max(self.stack.capacity()).max(256);
        self.cx.reserve((more * size_of::<Value>()) as u64)?;
        let grown = self.stack.try_reserve_exact(more);
        grown.map_err(|_| errors::memory_limit((self.stack.len() * size_of::<Value>()) as u64))?;
        self.note_stack_bytes();
        Ok(())
    }

    fn note_stack_bytes(&mut self) {
        let stacks = self.stack.capacity() * size_of::<Value>() + self.frames.capacity() * size_of::<Frame>();
        self.cx.stack_bytes = stacks as u64 + self.builtin_bytes;
    }

    /// Writes a register.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "the frame of a call has all registers of its code")]
    fn set(&mut self, activation: &Activation, register: u32, value: Value) {
        self.stack[(activation.base + register) as usize] = value;
    }
}

/// The operand, to look at.
#[inline]
#[expect(clippy::indexing_slicing, reason = "operands come from the compiler, which allocated them")]
fn peek<'v>(stack: &'v [Value], activation: &'v Activation, operand: Operand) -> &'v Value {
    match operand {
        Operand::Local(i) | Operand::Last(i) => &stack[(activation.base + i) as usize],
        Operand::Const(i) => &activation.code.constants[i as usize],
        Operand::Captured(i) => &activation.captured.as_slice()[i as usize],
    }
}

/// The operand, to keep: moved out of its register if this is its last use.
#[inline]
#[expect(clippy::indexing_slicing, reason = "operands come from the compiler, which allocated them")]
fn take(stack: &mut [Value], activation: &Activation, operand: Operand) -> Value {
    match operand {
        Operand::Last(i) => std::mem::replace(&mut stack[(activation.base + i) as usize], NOTHING),
        Operand::Local(i) => stack[(activation.base + i) as usize].clone(),
        Operand::Const(i) => activation.code.constants[i as usize].clone(),
        Operand::Captured(i) => activation.captured.as_slice()[i as usize].clone(),
    }
}
