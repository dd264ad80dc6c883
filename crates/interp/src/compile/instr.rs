//! The code of a function.

use crate::value::{CtorInfo, Value};
use std::rc::Rc;
use wengert_base::{Name, Span};
use wengert_prim::{Prim, RealOp};

/// What a `Num` variable stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum NumType {
    /// `Int`, also where nothing is known.
    Int,
    /// `Real`
    Real,
}

/// Where an instruction finds a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operand {
    /// A register that is needed again.
    Local(u32),
    /// A register that nobody reads after this.
    Last(u32),
    /// A constant of the code.
    Const(u32),
    /// A captured variable.
    Captured(u32),
}

/// A stretch of [`Code::operands`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    /// The first.
    pub(crate) start: u32,
    /// How many.
    pub(crate) len: u32,
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// Identifies compiled code in the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CodeId(pub(crate) u32);

/// Identifies an instance of a definition in the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct InstanceId(pub(crate) u32);

/// One instruction. `dst` is always a register; jumps skip that many instructions after this one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Instr {
    /// `dst = src`
    Move { dst: u32, src: Operand },
    /// Arithmetic on `Int`s or reals.
    Arith { op: Arith, dst: u32, a: Operand, b: Operand },
    /// A function of one real.
    Real1 { op: RealOp, dst: u32, a: Operand },
    /// A comparison.
    Compare { op: Compare, dst: u32, a: Operand, b: Operand },
    /// Element of an array.
    Index { dst: u32, array: Operand, index: Operand },
    /// Any other primitive.
    Builtin { prim: Prim, num: NumType, dst: u32, args: Range },
    /// Goes on after `skip` further instructions.
    Jump { skip: u32 },
    /// Jumps if false.
    JumpUnless { cond: Operand, skip: u32 },
    /// Jumps if the comparison is false.
    JumpUnlessCompare { op: Compare, a: Operand, b: Operand, skip: u32 },
    /// Jumps if the value was made by another constructor.
    JumpUnlessCtor { src: Operand, index: u32, skip: u32 },
    /// Jumps if the value is not that constant.
    JumpUnlessConst { src: Operand, constant: u32, skip: u32 },
    /// Component of a tuple or constructor.
    Component { dst: u32, src: Operand, index: u32 },
    /// Field of a record.
    Field { dst: u32, src: Operand, name: Name },
    /// A tuple.
    Tuple { dst: u32, args: Range },
    /// A constructor.
    Data { dst: u32, ctor: u32, args: Range },
    /// A record; the operands are in the order of the shape.
    Record { dst: u32, shape: u32, args: Range },
    /// A record with some fields replaced.
    Update { dst: u32, record: Operand, shape: u32, args: Range },
    /// An array.
    Array { dst: u32, args: Range },
    /// A function that captures.
    Closure { dst: u32, code: CodeId, captured: Range },
    /// Functions of a recursive group: `members` and registers alternate in [`Code::members`].
    Group { captured: Range, members: Range },
    /// A function of the group that the running one belongs to.
    Sibling { dst: u32, code: CodeId },
    /// A definition as a value.
    Global { dst: u32, id: InstanceId },
    /// A call of an unknown function.
    Call { dst: u32, func: Operand, args: Range },
    /// A call of a definition with all its parameters.
    CallGlobal { dst: u32, id: InstanceId, args: Range },
    /// A call of a function of the same group with all its parameters.
    CallSibling { dst: u32, code: CodeId, args: Range },
    /// As `Call`, in place of this frame.
    TailCall { func: Operand, args: Range },
    /// As `CallGlobal`, in place of this frame.
    TailCallGlobal { id: InstanceId, args: Range },
    /// As `CallSibling`, in place of this frame.
    TailCallSibling { code: CodeId, args: Range },
    /// Ends the call.
    Return { src: Operand },
    /// Checks the size of an array along an axis.
    CheckSize { dst: u32, array: Operand, expected: Operand, axis: u32, name: Name },
    /// No pattern matched.
    NoMatch { src: Operand },
}

/// Arithmetic that has an instruction of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arith {
    Add,
    Sub,
    Mul,
    Div,
}

impl Arith {
    /// The operation on reals.
    pub(crate) fn real_op(self) -> RealOp {
        match self {
            Arith::Add => RealOp::Add,
            Arith::Sub => RealOp::Sub,
            Arith::Mul => RealOp::Mul,
            Arith::Div => RealOp::Div,
        }
    }
}

/// The code of a function.
pub struct Code {
    /// What the user called it, for messages.
    pub(crate) name: Name,
    /// How many arguments it takes; 0 for the code of a definition that is no function.
    pub(crate) arity: u32,
    /// Registers of a frame; the first ones are the arguments.
    pub(crate) slots: u32,
    /// The instructions.
    pub(crate) instrs: Vec<Instr>,
    /// Where each instruction comes from.
    pub(crate) spans: Vec<Span>,
    /// Operand lists.
    pub(crate) operands: Vec<Operand>,
    /// Constants.
    pub(crate) constants: Vec<Value>,
    /// Constructors.
    pub(crate) ctors: Vec<Rc<CtorInfo>>,
    /// Field names of records, sorted.
    pub(crate) shapes: Vec<Rc<[Name]>>,
    /// Members of recursive groups.
    pub(crate) members: Vec<Member>,
}

/// A function of a recursive group that the code around it uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    /// Its code.
    pub(crate) code: CodeId,
    /// Where it goes.
    pub(crate) dst: u32,
}

impl Instr {
    /// Calls `visit` with each operand, those of `operands` included.
    pub(crate) fn visit_operands(&mut self, operands: &mut [Operand], mut visit: impl FnMut(&mut Operand)) {
        let mut range = |range: &Range, visit: &mut dyn FnMut(&mut Operand)| {
            let start = range.start as usize;
            operands.get_mut(start..start + range.len as usize).into_iter().flatten().for_each(visit);
        };
        match self {
            Instr::Move { src, .. }
            | Instr::JumpUnless { cond: src, .. }
            | Instr::JumpUnlessCtor { src, .. }
            | Instr::JumpUnlessConst { src, .. }
            | Instr::Component { src, .. }
            | Instr::Field { src, .. }
            | Instr::Return { src }
            | Instr::NoMatch { src }
            | Instr::Real1 { a: src, .. } => visit(src),
            Instr::Arith { a, b, .. }
            | Instr::Compare { a, b, .. }
            | Instr::JumpUnlessCompare { a, b, .. }
            | Instr::Index { array: a, index: b, .. }
            | Instr::CheckSize { array: a, expected: b, .. } => {
                visit(a);
                visit(b);
            }
            Instr::Builtin { args, .. }
            | Instr::Tuple { args, .. }
            | Instr::Data { args, .. }
            | Instr::Record { args, .. }
            | Instr::Array { args, .. }
            | Instr::Closure { captured: args, .. }
            | Instr::Group { captured: args, .. }
            | Instr::CallGlobal { args, .. }
            | Instr::CallSibling { args, .. }
            | Instr::TailCallGlobal { args, .. }
            | Instr::TailCallSibling { args, .. } => range(args, &mut visit),
            Instr::Update { record: first, args, .. }
            | Instr::Call { func: first, args, .. }
            | Instr::TailCall { func: first, args } => {
                visit(first);
                range(args, &mut visit);
            }
            Instr::Jump { .. } | Instr::Sibling { .. } | Instr::Global { .. } => {}
        }
    }

    /// Calls `visit` with each register it writes.
    pub(crate) fn visit_results(&mut self, members: &mut [Member], mut visit: impl FnMut(&mut u32)) {
        match self {
            Instr::Move { dst, .. }
            | Instr::Arith { dst, .. }
            | Instr::Real1 { dst, .. }
            | Instr::Compare { dst, .. }
            | Instr::Index { dst, .. }
            | Instr::Builtin { dst, .. }
            | Instr::Component { dst, .. }
            | Instr::Field { dst, .. }
            | Instr::Tuple { dst, .. }
            | Instr::Data { dst, .. }
            | Instr::Record { dst, .. }
            | Instr::Update { dst, .. }
            | Instr::Array { dst, .. }
            | Instr::Closure { dst, .. }
            | Instr::Sibling { dst, .. }
            | Instr::Global { dst, .. }
            | Instr::Call { dst, .. }
            | Instr::CallGlobal { dst, .. }
            | Instr::CallSibling { dst, .. }
            | Instr::CheckSize { dst, .. } => visit(dst),
            Instr::Group { members: range, .. } => {
                let start = range.start as usize;
                let members = members.get_mut(start..start + range.len as usize);
                members.into_iter().flatten().for_each(|member| visit(&mut member.dst));
            }
            Instr::Jump { .. }
            | Instr::JumpUnless { .. }
            | Instr::JumpUnlessCompare { .. }
            | Instr::JumpUnlessCtor { .. }
            | Instr::JumpUnlessConst { .. }
            | Instr::TailCall { .. }
            | Instr::TailCallGlobal { .. }
            | Instr::TailCallSibling { .. }
            | Instr::Return { .. }
            | Instr::NoMatch { .. } => {}
        }
    }

    /// How far it jumps, if it does.
    pub(crate) fn skip(&self) -> Option<u32> {
        match self {
            Instr::Jump { skip }
            | Instr::JumpUnless { skip, .. }
            | Instr::JumpUnlessCompare { skip, .. }
            | Instr::JumpUnlessCtor { skip, .. }
            | Instr::JumpUnlessConst { skip, .. } => Some(*skip),
            Instr::Move { .. }
            | Instr::Arith { .. }
            | Instr::Real1 { .. }
            | Instr::Compare { .. }
            | Instr::Index { .. }
            | Instr::Builtin { .. }
            | Instr::Component { .. }
            | Instr::Field { .. }
            | Instr::Tuple { .. }
            | Instr::Data { .. }
            | Instr::Record { .. }
            | Instr::Update { .. }
            | Instr::Array { .. }
            | Instr::Closure { .. }
            | Instr::Group { .. }
            | Instr::Sibling { .. }
            | Instr::Global { .. }
            | Instr::Call { .. }
            | Instr::CallGlobal { .. }
            | Instr::CallSibling { .. }
            | Instr::TailCall { .. }
            | Instr::TailCallGlobal { .. }
            | Instr::TailCallSibling { .. }
            | Instr::Return { .. }
            | Instr::CheckSize { .. }
            | Instr::NoMatch { .. } => None,
        }
    }

    /// Whether control never goes on to the next instruction.
    pub(crate) fn ends(&self) -> bool {
        matches!(
            self,
            Instr::Jump { .. }
                | Instr::Return { .. }
                | Instr::TailCall { .. }
                | Instr::TailCallGlobal { .. }
                | Instr::TailCallSibling { .. }
                | Instr::NoMatch { .. }
        )
    }
}
