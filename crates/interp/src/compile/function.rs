//! The function under construction: instructions so far, registers, constants, captured variables.

use super::allocate::{assign_slots, mark_last_uses};
use super::instr::{Code, CodeId, Instr, Member, NumType, Operand, Range};
use crate::value::{CtorInfo, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::rc::Rc;
use wengert_base::{Name, Span};

/// The types that the `Num` variables of a scheme stand for, in the order of its parameters.
pub(crate) type Nums = SmallVec<[NumType; 2]>;

/// A variable at one instantiation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct VarKey {
    /// The variable.
    pub(crate) id: u32,
    /// Its instantiation; empty for most.
    pub(crate) nums: Nums,
}

/// Where a variable is, as seen from the function that binds it.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// There.
    At(Operand),
    /// The function's own recursive group.
    Sibling {
        /// The code.
        code: CodeId,
        /// How many arguments it takes.
        arity: u32,
    },
    /// A `let` that is compiled once for each instantiation that its scope asks for.
    PerInstance {
        /// The `Num` parameters of its scheme.
        params: Rc<[usize]>,
        /// Registers of the instances asked for so far.
        registers: Vec<(Nums, u32)>,
    },
}

/// What a function captures, in the order of [`crate::value::Fun::Closure`].
#[derive(Default)]
pub(crate) struct Captures {
    /// The variables.
    pub(crate) keys: Vec<VarKey>,
    /// Their positions.
    pub(crate) places: FxHashMap<VarKey, u32>,
}

/// Instructions with their spans.
#[derive(Default)]
pub(crate) struct Block {
    /// The instructions.
    pub(crate) instrs: Vec<Instr>,
    /// Where each comes from.
    pub(crate) spans: Vec<Span>,
}

/// A jump whose target is not known yet.
#[must_use]
pub(crate) struct PendingJump(usize);

/// A function under construction.
#[derive(Default)]
pub(crate) struct Function {
    /// What was emitted.
    pub(crate) block: Block,
    /// Variables bound in this function.
    pub(crate) scope: FxHashMap<u32, Place>,
    /// Captured variables.
    pub(crate) captures: Captures,
    operands: Vec<Operand>,
    constants: Vec<Value>,
    ctors: Vec<Rc<CtorInfo>>,
    shapes: Vec<Rc<[Name]>>,
    members: Vec<Member>,
    registers: u32,
}

impl Function {
    /// A new register.
    pub(crate) fn register(&mut self) -> u32 {
        self.registers += 1;
        self.registers - 1
    }

    /// Emits an instruction.
    pub(crate) fn emit(&mut self, span: Span, instr: Instr) {
        self.block.instrs.push(instr);
        self.block.spans.push(span);
    }

    /// Emits a jump whose target will be set by [`Function::land`]. Its `skip` holds the position until then.
    pub(crate) fn emit_jump(&mut self, span: Span, instr: Instr) -> PendingJump {
        self.emit(span, instr);
        PendingJump(self.block.instrs.len() - 1)
    }

    /// Lets a jump go to what is emitted next.
    pub(crate) fn land(&mut self, jump: PendingJump) {
        let distance = (self.block.instrs.len() - jump.0 - 1) as u32;
        match self.block.instrs.get_mut(jump.0) {
            Some(
                Instr::Jump { skip }
                | Instr::JumpUnless { skip, .. }
                | Instr::JumpUnlessCompare { skip, .. }
                | Instr::JumpUnlessCtor { skip, .. }
                | Instr::JumpUnlessConst { skip, .. },
            ) => *skip = distance,
            other => debug_assert!(false, "not a jump: {other:?}"),
        }
    }

    /// A constant.
    pub(crate) fn constant(&mut self, value: Value) -> u32 {
        let same = |other: &Value| match (other, &value) {
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Real(a), Value::Real(b)) => a.to_bits() == b.to_bits(),
            _ => false,
        };
        // Looking back a little is enough to share most, and keeps long array literals linear.
        const WINDOW: usize = 32;
        let recent = self.constants.len().saturating_sub(WINDOW);
        let found = self.constants.iter().skip(recent).position(same);
        if let Some(i) = found {
            return (recent + i) as u32;
        }
        self.constants.push(value);
        self.constants.len() as u32 - 1
    }

    /// A list of operands.
    pub(crate) fn operands(&mut self, operands: impl IntoIterator<Item = Operand>) -> Range {
        let start = self.operands.len() as u32;
        self.operands.extend(operands);
        Range { start, len: self.operands.len() as u32 - start }
    }

    /// A constructor.
    pub(crate) fn ctor(&mut self, ctor: Rc<CtorInfo>) -> u32 {
        if let Some(i) = self.ctors.iter().position(|other| Rc::ptr_eq(other, &ctor)) {
            return i as u32;
        }
        self.ctors.push(ctor);
        self.ctors.len() as u32 - 1
    }

    /// Field names.
    pub(crate) fn shape(&mut self, shape: Rc<[Name]>) -> u32 {
        self.shapes.push(shape);
        self.shapes.len() as u32 - 1
    }

    /// A list of members of a recursive group.
    pub(crate) fn members(&mut self, members: impl IntoIterator<Item = Member>) -> Range {
        let start = self.members.len() as u32;
        self.members.extend(members);
        Range { start, len: self.members.len() as u32 - start }
    }

    /// The finished code, and what it captures.
    pub(crate) fn finish(mut self, name: Name, arity: u32) -> (Code, Captures) {
        let Block { mut instrs, spans } = self.block;
        mark_last_uses(&mut instrs, &mut self.operands, &mut self.members, self.registers);
        let slots = assign_slots(&mut instrs, &mut self.operands, &mut self.members, arity, self.registers);
        let code = Code {
            name,
            arity,
            slots,
            instrs,
            spans,
            operands: self.operands,
            constants: self.constants,
            ctors: self.ctors,
            shapes: self.shapes,
            members: self.members,
        };
        (code, self.captures)
    }
}
