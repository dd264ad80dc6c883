//! The steps of a body.

use super::super::asm::{From, RAX, RCX, RDI, RSI};
use super::super::code::{SIGN, offset};
use super::super::program::{Arg, Fused, Id, Int, Join, Op, Real, Step, Test};
use super::super::vex::{self, Short};
use super::{Body, HELP, LANES, MORE, NOW};

/// 2⁵², 2⁸⁴ + 2⁶³, and 2⁸⁴ + 2⁶³ + 2⁵²: with the halves of an integer as their last bits they are numbers of which the integer is a sum.
const LOW: u64 = 0x4330_0000_0000_0000;
const HIGH: u64 = 0x4530_0000_8000_0000;
const BOTH: u64 = 0x4530_0000_8010_0000;

impl Body<'_, '_> {
    pub(super) fn step(&mut self, number: usize, step: Step) {
        self.locked.clear();
        self.locked_masks.clear();
        match step {
            Step::Vector(id, op) => {
                self.op(number, id, op);
                self.vectors.has_read(id, number);
            }
            Step::Compare(id, Test::Real(how), a, b) => {
                let (first, second) = (self.register(a), self.operand(b));
                let target = self.target_mask(number, id, step);
                self.put(vex::compare(how), target, first, second);
                self.read(number, &step.vectors());
            }
            Step::Compare(id, Test::Int(how), a, b) => {
                // Less, and less or equal, are greater with the sides changed.
                let (a, b) = if matches!(how, 1 | 5) { (b, a) } else { (a, b) };
                let (first, second) = (self.register(a), self.operand(b));
                let target = self.target_mask(number, id, step);
                let code = if matches!(how, 0 | 4) { vex::INT_EQUAL } else { vex::INT_GREATER };
                self.put(code, target, first, second);
                if matches!(how, 2 | 4 | 5) {
                    let ones = self.writer.constant(u64::MAX);
                    self.put(vex::XOR, target, target, ones);
                }
                self.read(number, &step.vectors());
            }
            Step::Join(id, join, a, b) => {
                let (a, b) = (self.mask(a, NOW), self.mask(b, MORE));
                let target = self.target_mask(number, id, step);
                let code = match join {
                    Join::And => vex::AND,
                    Join::Or => vex::OR,
                    Join::Xor => vex::XOR,
                };
                self.put(code, target, a, From::Register(b));
            }
            Step::Store { to, value } => {
                let value = self.register(value);
                let place = From::Indexed(self.base(to), RSI, 0);
                if self.manner.masked {
                    self.fetch_left();
                    self.put(vex::STORE_SOME, value, NOW, place);
                } else {
                    self.put(vex::STORE, value, 0, place);
                }
                self.read(number, &step.vectors());
            }
            // There is no code for it.
            Step::Scatter { .. } => {}
        }
    }

    fn op(&mut self, number: usize, id: Id, op: Op) {
        let step = Step::Vector(id, op);
        let read = step.vectors();
        match op {
            Op::Load { from } => {
                let from = From::Indexed(self.base(from), RSI, 0);
                let target = self.target(number, id, &read);
                if self.manner.masked {
                    self.fetch_left();
                    self.put(vex::LOAD_SOME, target, NOW, from);
                } else {
                    self.put(vex::LOAD, target, 0, from);
                }
            }
            Op::Gather { from, index } => {
                let index = self.vector(index);
                // It must be another register than that of the indices.
                let target = self.vector(id);
                let base = self.base(from);
                if self.manner.masked {
                    self.fetch_left();
                } else {
                    self.put(vex::INT_EQUAL, NOW, NOW, From::Register(NOW));
                }
                // It waits for what was there before.
                self.put(vex::XOR, target, target, From::Register(target));
                self.put(vex::GATHER, target, NOW, From::Each(base, index, 0));
                self.read(number, &read);
            }
            Op::Index { first, step } => self.index(number, id, first, step),
            Op::Real(real, a, b) => self.real(number, id, real, (a, b)),
            Op::Fused(how, a, b, c) => self.fused(number, (id, read), how, (a, b, c)),
            Op::FusedZero(how, a, b, c) if self.manner.careful.is_some() => {
                self.fused(number, (id, read), how, (a, b, c));
            }
            Op::FusedZero(how, a, b, c) => self.strong(number, (id, read), how, (a, b, c)),
            Op::Sqrt(a) => self.unary(number, id, vex::SQRT, a),
            Op::Round(how, a) => self.unary(number, id, vex::round(how), a),
            Op::ToReal(a) => self.converted(number, id, a),
            Op::Int(int, a, b) => self.int(number, id, int, (a, b)),
            Op::Choose(cond, a, b) => {
                let (cond, b, a) = (self.mask(cond, NOW), self.register(b), self.operand(a));
                step.masks().into_iter().for_each(|id| self.masks.has_read(id, number));
                let target = self.target(number, id, &read);
                self.put(vex::blend(cond), target, b, a);
            }
        }
    }

    /// The target holds one of the three before: which one says which instruction it is.
    fn fused(&mut self, number: usize, (id, read): (Id, Vec<Id>), how: Fused, (a, b, c): (Arg, Arg, Arg)) {
        let (product, sum) = match how {
            Fused::Plus => (vex::TIMES_PLUS, vex::PLUS_TIMES),
            Fused::Less => (vex::TIMES_LESS, vex::LESS_TIMES),
            Fused::From => (vex::TIMES_FROM, vex::FROM_TIMES),
        };
        let (first, second, third) = (self.register(a), self.operand(b), self.operand(c));
        let target = self.target(number, id, &read);
        let is_target = |from: From| matches!(from, From::Register(register) if register == target);
        if is_target(third) {
            return self.put(sum, target, first, second);
        }
        if is_target(second) {
            return self.put(product, target, first, third);
        }
        let factor = match second {
            From::Register(register) => register,
            From::Word(..)
            | From::Words(..)
            | From::Indexed(..)
            | From::Each(..)
            | From::Constant(_)
            | From::Constants(_) => {
                self.put(vex::LOAD, HELP, 0, second);
                HELP
            }
        };
        if first != target {
            self.put(vex::MOVE, target, 0, From::Register(first));
        }
        self.put(product, target, factor, third);
    }

    fn unary(&mut self, number: usize, id: Id, code: Short, a: Arg) {
        let from = self.operand(a);
        let target = self.target(number, id, a.vector().as_slice());
        self.put(code, target, 0, from);
    }

    fn converted(&mut self, number: usize, id: Id, a: Id) {
        let from = self.vector(a);
        let (low, high, both) =
            (self.writer.constant(LOW), self.writer.constant(HIGH), self.writer.constant(BOTH));
        self.put(vex::MIX_HALVES, MORE, from, low);
        self.shift_half(vex::TO_RIGHT, NOW, from);
        self.put(vex::XOR, NOW, NOW, high);
        self.put(vex::SUB, NOW, NOW, both);
        let target = self.target(number, id, &[a]);
        self.put(vex::ADD, target, NOW, From::Register(MORE));
    }

    fn shift_half(&mut self, direction: u8, target: u8, from: u8) {
        self.writer.used |= 1 << target;
        self.writer.asm.short(vex::SHIFT_HALF, direction, target, From::Register(from));
    }

    /// The lower half of a product: the processor multiplies halves.
    fn multiply(&mut self, number: usize, id: Id, (first, second): (u8, From), read: &[Id]) {
        self.shift_half(vex::TO_RIGHT, MORE, first);
        self.put(vex::INT_MUL, MORE, MORE, second);
        self.put(vex::LOAD, NOW, 0, second);
        self.shift_half(vex::TO_RIGHT, NOW, NOW);
        self.put(vex::INT_MUL, NOW, NOW, From::Register(first));
        self.put(vex::INT_ADD, MORE, MORE, From::Register(NOW));
        self.shift_half(vex::TO_LEFT, MORE, MORE);
        let target = self.target(number, id, read);
        self.put(vex::INT_MUL, target, first, second);
        self.put(vex::INT_ADD, target, target, From::Register(MORE));
    }

    fn int(&mut self, number: usize, id: Id, int: Int, (a, b): (Arg, Arg)) {
        let read = Step::Vector(id, Op::Int(int, a, b)).vectors();
        let (first, second) = (self.register(a), self.operand(b));
        let code = match int {
            Int::Add => vex::INT_ADD,
            Int::Sub => vex::INT_SUB,
            Int::And => vex::AND,
            Int::Or => vex::OR,
            Int::Xor => vex::XOR,
            Int::ShiftLeft => vex::SHIFT_LEFT,
            Int::ShiftRight => vex::SHIFT_RIGHT,
            Int::Min | Int::Max => {
                self.put(vex::INT_GREATER, NOW, first, second);
                let (mut first, mut second) = (first, second);
                if int == Int::Max {
                    // The other one, where it is greater: both must be in registers.
                    self.put(vex::LOAD, MORE, 0, second);
                    (first, second) = (MORE, From::Register(first));
                }
                let target = self.target(number, id, &read);
                self.put(vex::blend(NOW), target, first, second);
                return;
            }
            Int::Mul => return self.multiply(number, id, (first, second), &read),
        };
        let target = self.target(number, id, &read);
        self.put(code, target, first, second);
    }

    fn index(&mut self, number: usize, id: Id, first: Arg, step: i64) {
        let small = i32::try_from(step).unwrap_or(0);
        let steps: Vec<u64> = (0..).take(LANES).map(|lane: i64| (lane * step).cast_unsigned()).collect();
        let steps = self.writer.asm.constant(&steps);
        self.writer.asm.times(RAX, RSI, small);
        if let Arg::Given(place) = first {
            self.writer.asm.load(RCX, RDI, offset(8 * place));
            self.writer.asm.general(0x01, RAX, RCX);
        }
        let target = self.target(number, id, &[]);
        self.put(vex::FROM_GENERAL, target, 0, From::Register(RAX));
        self.put(vex::BROADCAST_WORD, target, 0, From::Register(target));
        self.put(vex::INT_ADD, target, target, From::Constants(steps));
    }

    fn real(&mut self, number: usize, id: Id, real: Real, (a, b): (Arg, Arg)) {
        let read = Step::Vector(id, Op::Real(real, a, b)).vectors();
        let quick = self.manner.careful.is_some();
        // The first must be in a register.
        let swap = !matches!(real, Real::Sub | Real::Div | Real::DivZero) && !matches!(a, Arg::Vector(_));
        let (a, b) = if swap { (b, a) } else { (a, b) };
        let (first, second) = (self.register(a), self.operand(b));
        let is_strong = matches!(real, Real::MulZero | Real::DivZero) && !quick;
        let code = match real {
            Real::Add => vex::ADD,
            Real::Sub => vex::SUB,
            Real::Mul | Real::MulZero => vex::MUL,
            Real::Div | Real::DivZero => vex::DIV,
            Real::And => vex::AND,
            Real::Xor => vex::XOR,
        };
        if is_strong {
            self.not_zero(first, (real == Real::MulZero).then_some((b, second)));
        }
        let target = self.target(number, id, &read);
        self.put(code, target, first, second);
        if is_strong {
            self.put(vex::AND, target, target, From::Register(NOW));
        }
    }

    /// The mask of where a number is not zero, nor another one.
    fn not_zero(&mut self, first: u8, other: Option<(Arg, From)>) {
        let zeros = self.writer.constant(0);
        self.put(vex::compare(4), NOW, first, zeros);
        if let Some((arg, second)) = other
            && !matches!(arg, Arg::Constant(bits) if bits << 1 != 0)
        {
            self.put(vex::XOR, MORE, MORE, From::Register(MORE));
            self.put(vex::compare(4), MORE, MORE, second);
            self.put(vex::AND, NOW, NOW, From::Register(MORE));
        }
    }

    /// The sum or difference of a product that is zero if a factor is.
    fn strong(&mut self, number: usize, (id, read): (Id, Vec<Id>), how: Fused, (a, b, c): (Arg, Arg, Arg)) {
        let (first, second, third) = (self.register(a), self.operand(b), self.operand(c));
        self.not_zero(first, Some((b, second)));
        self.put(vex::MUL, HELP, first, second);
        self.put(vex::AND, HELP, HELP, From::Register(NOW));
        if how == Fused::From {
            let sign = self.writer.constant(SIGN);
            self.put(vex::XOR, HELP, HELP, sign);
        }
        let target = self.target(number, id, &read);
        self.put(if how == Fused::Less { vex::SUB } else { vex::ADD }, target, HELP, third);
    }
}
