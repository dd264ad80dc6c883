//! What the steps become, in vectors of eight.

use super::super::asm::{self, Code, From, RAX, RCX, RDI, RSI, When};
use super::super::program::{Arg, Fused, Id, Int, Join, Mask, Op, Real, Step, Test};
use super::super::registers::Move;
use super::{BASES, Body, HELP, LEFT, NOW, SIGN, ZEROS, offset};

impl Body<'_, '_> {
    /// Goes to where one looks for zeros if one of these is no number: then so is their sum.
    pub(super) fn look(&mut self, outcome: &[Id]) {
        let Some(careful) = self.manner.careful else { return };
        let mut sum: Option<u8> = None;
        for id in outcome {
            let register = self.vector(*id);
            self.locked.clear();
            match sum {
                None => {
                    self.put(asm::MOVE, HELP, 0, From::Register(register));
                    sum = Some(HELP);
                }
                Some(sum) => self.put(asm::ADD, sum, sum, From::Register(register)),
            }
        }
        if sum.is_some() {
            self.put(asm::compare(3), NOW, HELP, From::Register(HELP));
            self.writer.asm.mask_test(NOW);
            self.writer.asm.jump(When::NotZero, careful);
        }
    }

    fn put(&mut self, code: Code, target: u8, first: u8, second: From) {
        self.writer.asm.vector(code, target, first, second, 0, false);
    }

    pub(super) fn step(&mut self, number: usize, step: Step) {
        self.locked.clear();
        self.locked_masks.clear();
        match step {
            Step::Vector(id, op) => {
                self.op(number, id, op);
                self.vectors.has_read(id, number);
            }
            Step::Compare(id, test, a, b) => self.compare(number, id, test, (a, b)),
            Step::Join(id, join, a, b) => {
                let (a, b) = (self.mask(a, NOW), self.mask(b, NOW - 1));
                self.masks_read(number, step);
                let target = self.new_mask(id);
                let code = match join {
                    Join::And => 0x41,
                    Join::Or => 0x45,
                    Join::Xor => 0x47,
                };
                self.writer.asm.masks(code, target, a, b);
            }
            Step::Store { to, value } => {
                let value = self.register(value);
                let place = self.words(to);
                let mask = if self.manner.masked { LEFT } else { 0 };
                self.writer.asm.vector(asm::STORE, value, 0, place, mask, false);
                self.read(number, &step.vectors());
            }
            Step::Scatter { to, index, value } => {
                let (index, value) = (self.vector(index), self.register(value));
                let base = self.base(to);
                self.all_left();
                self.writer.asm.vector(asm::SCATTER, value, 0, From::Each(base, index, 0), NOW, false);
                self.read(number, &step.vectors());
            }
        }
    }

    /// The iterations that are to be done, in a mask that may be changed.
    fn all_left(&mut self) {
        if self.manner.masked {
            self.writer.asm.mask_move(NOW, LEFT);
        } else {
            self.writer.asm.masks(0x46, NOW, NOW, NOW);
        }
    }

    fn read(&mut self, number: usize, ids: &[Id]) {
        ids.iter().for_each(|id| self.vectors.has_read(*id, number));
    }

    fn masks_read(&mut self, number: usize, step: Step) {
        step.masks().into_iter().for_each(|id| self.masks.has_read(id, number));
    }

    /// The register of a vector.
    fn vector(&mut self, id: Id) -> u8 {
        let mut moves = Vec::new();
        let register = self.vectors.register(id, &self.locked, &mut moves);
        self.locked.push(register);
        self.writer.used |= 1 << register;
        for done in moves {
            let at = |place: usize| self.writer.place(place);
            let (code, register, at) = match done {
                Move::Keep(register, place) => (asm::STORE, register, at(place)),
                Move::Fetch(register, place) => (asm::LOAD, register, at(place)),
            };
            self.put(code, register, 0, at);
        }
        self.writer.most = self.writer.most.max(self.vectors.kept);
        register
    }

    /// An operand in a register.
    pub(super) fn register(&mut self, arg: Arg) -> u8 {
        let from = self.operand(arg);
        if let From::Register(register) = from {
            return register;
        }
        self.put(asm::BROADCAST, HELP, 0, from);
        HELP
    }

    /// An operand where it is.
    fn operand(&mut self, arg: Arg) -> From {
        match arg {
            Arg::Vector(id) => From::Register(self.vector(id)),
            Arg::Given(place) => From::Word(RDI, offset(8 * place)),
            Arg::Constant(0) => From::Register(ZEROS),
            Arg::Constant(bits) => From::Constant(self.writer.asm.constant(&[bits])),
        }
    }

    /// The register of an address.
    fn base(&mut self, given: usize) -> u8 {
        let known = self.writer.bases.iter().position(|base| *base == given);
        let register = known.and_then(|place| BASES.get(place).copied());
        register.unwrap_or_else(|| {
            self.writer.asm.load(RAX, RDI, offset(8 * given));
            RAX
        })
    }

    /// Words one after the other, of the iterations that are done.
    fn words(&mut self, given: usize) -> From {
        From::Indexed(self.base(given), RSI, 0)
    }

    /// A mask in a register, maybe in this one.
    fn mask(&mut self, mask: Mask, help: u8) -> u8 {
        match mask {
            Mask::Given(place) => {
                self.writer.asm.load(RAX, RDI, offset(8 * place));
                self.writer.asm.negate(RAX);
                self.writer.asm.mask_from(help, RAX);
                help
            }
            Mask::Made(id) => self.new_mask(id),
        }
    }

    fn new_mask(&mut self, id: Id) -> u8 {
        let mut moves = Vec::new();
        let register = self.masks.register(id, &self.locked_masks, &mut moves);
        self.locked_masks.push(register);
        for done in moves {
            let at = |place: usize| offset(self.writer.masks + 8 * place);
            match done {
                Move::Keep(register, place) => self.writer.asm.mask_store(register, RDI, at(place)),
                Move::Fetch(register, place) => self.writer.asm.mask_load(register, RDI, at(place)),
            }
        }
        register
    }

    /// The register of what a step makes, when it has read what it reads.
    fn target(&mut self, number: usize, id: Id, read: &[Id]) -> u8 {
        self.read(number, read);
        self.locked.clear();
        self.vector(id)
    }

    fn op(&mut self, number: usize, id: Id, op: Op) {
        let step = Step::Vector(id, op);
        let read = step.vectors();
        let mask = if self.manner.masked { LEFT } else { 0 };
        match op {
            Op::Load { from } => {
                let from = self.words(from);
                let target = self.target(number, id, &read);
                self.writer.asm.vector(asm::LOAD, target, 0, from, mask, self.manner.masked);
            }
            Op::Gather { from, index } => {
                let index = self.vector(index);
                // It must be another register than that of the indices.
                let target = self.vector(id);
                let base = self.base(from);
                self.all_left();
                self.writer.asm.vector(asm::GATHER, target, 0, From::Each(base, index, 0), NOW, false);
                self.read(number, &read);
            }
            Op::Index { first, step } => self.index(number, id, first, step),
            Op::Real(real, a, b) => self.real(number, id, real, (a, b)),
            Op::Fused(how, a, b, c) => self.fused(number, (id, read), how, (a, b, c)),
            Op::FusedZero(how, a, b, c) if self.manner.careful.is_some() => {
                self.fused(number, (id, read), how, (a, b, c));
            }
            Op::FusedZero(how, a, b, c) => self.strong(number, (id, read), how, (a, b, c)),
            Op::Sqrt(a) => self.unary(number, id, asm::SQRT, a),
            Op::Round(how, a) => self.unary(number, id, asm::round(how), a),
            Op::ToReal(a) => self.unary(number, id, asm::TO_REAL, Arg::Vector(a)),
            Op::Int(int, a, b) => {
                let code = match int {
                    Int::Add => asm::INT_ADD,
                    Int::Sub => asm::INT_SUB,
                    Int::Mul => asm::INT_MUL,
                    Int::And => asm::INT_AND,
                    Int::Or => asm::INT_OR,
                    Int::Xor => asm::INT_XOR,
                    Int::Min => asm::INT_MIN,
                    Int::Max => asm::INT_MAX,
                    Int::ShiftLeft => asm::SHIFT_LEFT,
                    Int::ShiftRight => asm::SHIFT_RIGHT,
                };
                let (first, second) = (self.register(a), self.operand(b));
                let target = self.target(number, id, &read);
                self.put(code, target, first, second);
            }
            Op::Choose(cond, a, b) => {
                let (cond, b, a) = (self.mask(cond, NOW), self.register(b), self.operand(a));
                self.masks_read(number, step);
                let target = self.target(number, id, &read);
                self.writer.asm.vector(asm::BLEND, target, b, a, cond, false);
            }
        }
    }

    fn unary(&mut self, number: usize, id: Id, code: Code, a: Arg) {
        let from = self.operand(a);
        let read = if let Arg::Vector(a) = a { vec![a] } else { Vec::new() };
        let target = self.target(number, id, &read);
        self.put(code, target, 0, from);
    }

    fn index(&mut self, number: usize, id: Id, first: Arg, step: i64) {
        let small = i32::try_from(step).unwrap_or(0);
        let steps: Vec<u64> = (0..8).map(|lane| (lane * step).cast_unsigned()).collect();
        let steps = self.writer.asm.constant(&steps);
        self.writer.asm.times(RAX, RSI, small);
        if let Arg::Given(place) = first {
            self.writer.asm.load(RCX, RDI, offset(8 * place));
            self.writer.asm.general(0x01, RAX, RCX);
        }
        let target = self.target(number, id, &[]);
        self.put(asm::BROADCAST_WORD, target, 0, From::Register(RAX));
        self.put(asm::INT_ADD, target, target, From::Constants(steps));
    }

    fn real(&mut self, number: usize, id: Id, real: Real, (a, b): (Arg, Arg)) {
        let quick = self.manner.careful.is_some();
        let real = match real {
            Real::MulZero if quick => Real::Mul,
            Real::DivZero if quick => Real::Div,
            Real::Add
            | Real::Sub
            | Real::Mul
            | Real::Div
            | Real::MulZero
            | Real::DivZero
            | Real::And
            | Real::Xor => real,
        };
        // The first must be in a register.
        let swap = !matches!(real, Real::Sub | Real::Div | Real::DivZero) && !matches!(a, Arg::Vector(_));
        let (a, b) = if swap { (b, a) } else { (a, b) };
        let (first, second) = (self.register(a), self.operand(b));
        let code = match real {
            Real::Add => asm::ADD,
            Real::Sub => asm::SUB,
            Real::Mul | Real::MulZero => asm::MUL,
            Real::Div | Real::DivZero => asm::DIV,
            Real::And => asm::AND,
            Real::Xor => asm::XOR,
        };
        let mut mask = 0;
        if matches!(real, Real::MulZero | Real::DivZero) {
            mask = NOW;
            self.not_zero(first, (real == Real::MulZero).then_some((b, second)));
        }
        let read = Step::Vector(id, Op::Real(real, a, b)).vectors();
        let target = self.target(number, id, &read);
        self.writer.asm.vector(code, target, first, second, mask, mask != 0);
    }

    /// The mask of where a number is not zero, nor another one.
    fn not_zero(&mut self, first: u8, other: Option<(Arg, From)>) {
        self.put(asm::compare(4), NOW, first, From::Register(ZEROS));
        if let Some((arg, second)) = other
            && !matches!(arg, Arg::Constant(bits) if bits << 1 != 0)
        {
            self.writer.asm.vector(asm::compare(4), NOW, ZEROS, second, NOW, false);
        }
    }

    /// The target holds one of the three before: which one says which instruction it is.
    fn fused(&mut self, number: usize, (id, read): (Id, Vec<Id>), how: Fused, (a, b, c): (Arg, Arg, Arg)) {
        let (product, sum) = match how {
            Fused::Plus => (asm::TIMES_PLUS, asm::PLUS_TIMES),
            Fused::Less => (asm::TIMES_LESS, asm::LESS_TIMES),
            Fused::From => (asm::TIMES_FROM, asm::FROM_TIMES),
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
        if let From::Register(factor) = second {
            if first != target {
                self.put(asm::MOVE, target, 0, From::Register(first));
            }
            return self.put(product, target, factor, third);
        }
        if first == target {
            self.put(asm::BROADCAST, HELP, 0, second);
            return self.put(product, target, HELP, third);
        }
        self.put(asm::BROADCAST, target, 0, second);
        self.put(product, target, first, third);
    }

    /// The same of a product that is zero if a factor is.
    fn strong(&mut self, number: usize, (id, read): (Id, Vec<Id>), how: Fused, (a, b, c): (Arg, Arg, Arg)) {
        let (first, second, third) = (self.register(a), self.operand(b), self.operand(c));
        self.not_zero(first, Some((b, second)));
        self.writer.asm.vector(asm::MUL, HELP, first, second, NOW, true);
        if how == Fused::From {
            let sign = From::Constant(self.writer.asm.constant(&[SIGN]));
            self.put(asm::XOR, HELP, HELP, sign);
        }
        let target = self.target(number, id, &read);
        self.put(if how == Fused::Less { asm::SUB } else { asm::ADD }, target, HELP, third);
    }

    fn compare(&mut self, number: usize, id: Id, test: Test, (a, b): (Arg, Arg)) {
        let code = match test {
            Test::Real(how) => asm::compare(how),
            Test::Int(how) => asm::compare_int(how),
        };
        let (first, second) = (self.register(a), self.operand(b));
        let target = self.new_mask(id);
        self.put(code, target, first, second);
        self.read(number, &Step::Compare(id, test, a, b).vectors());
    }
}
