//! Built-in functions as values of the program, for state machines that hand one another work through the machine.

use crate::compile::instr::{Code, Instr, NumType, Operand, Range};
use crate::value::{Fields, Fun, Value};
use std::rc::Rc;
use wengert_base::{Name, Span};
use wengert_prim::Prim;

/// The function that takes the parameters of `prim` in the given order (`order[i]` is the parameter that becomes
/// argument `i` of the primitive), and calls it.
pub(crate) fn primitive(prim: Prim, order: &[u32]) -> Value {
    let arity = order.len() as u32;
    let args = Range { start: 0, len: arity };
    function(
        prim.info().name,
        arity,
        arity + 1,
        vec![
            Instr::Builtin { prim, num: NumType::Real, dst: arity, args },
            Instr::Return { src: Operand::Last(arity) },
        ],
        order.iter().map(|i| Operand::Last(*i)).collect(),
    )
}

/// `\f x t -> snd (jvp f (x, t))`
pub(crate) fn tangent() -> Value {
    let instrs = vec![
        Instr::Tuple { dst: 3, args: Range { start: 0, len: 2 } },
        Instr::Builtin { prim: Prim::Jvp, num: NumType::Real, dst: 4, args: Range { start: 2, len: 2 } },
        Instr::Component { dst: 3, src: Operand::Last(4), index: 1 },
        Instr::Return { src: Operand::Last(3) },
    ];
    let operands = vec![Operand::Last(1), Operand::Last(2), Operand::Last(0), Operand::Last(3)];
    function("linearize", 3, 5, instrs, operands)
}

/// `\d f x t -> apply_dual d (snd (jvp f (x, t)))`
pub(crate) fn functional() -> Value {
    let builtin =
        |prim, dst, start| Instr::Builtin { prim, num: NumType::Real, dst, args: Range { start, len: 2 } };
    let instrs = vec![
        Instr::Tuple { dst: 4, args: Range { start: 0, len: 2 } },
        builtin(Prim::Jvp, 5, 2),
        Instr::Component { dst: 4, src: Operand::Last(5), index: 1 },
        builtin(Prim::ApplyDual, 5, 4),
        Instr::Return { src: Operand::Last(5) },
    ];
    let operands = [2, 3, 1, 4, 0, 4].map(Operand::Last).to_vec();
    function("pullback", 4, 6, instrs, operands)
}

/// `func` with its first arguments given.
pub(crate) fn partial(func: Value, args: impl IntoIterator<Item = Value>) -> Value {
    Value::Fun(Rc::new(Fun::Partial { func, args: args.into_iter().collect() }))
}

fn function(name: &str, arity: u32, slots: u32, instrs: Vec<Instr>, operands: Vec<Operand>) -> Value {
    let code = Code {
        name: Name::new(name),
        arity,
        slots,
        spans: vec![Span::NOWHERE; instrs.len()],
        instrs,
        operands,
        constants: Vec::new(),
        ctors: Vec::new(),
        shapes: Vec::new(),
        members: Vec::new(),
    };
    Value::Fun(Rc::new(Fun::Closure { code: Rc::new(code), captured: Rc::new(Fields::default()) }))
}
