//! Machine code of a loop in vectors of eight.
//!
//! ```text
//! head:  as long as eight (or two, or four times eight) iterations are left: the body, and again
//! rest:  as long as any are left: the body, of as many of eight as there are; then to the head
//! ```
//!
//! The function leaves all registers as they were that the code generator uses: a call must not cost the loops around it their registers.
//! So it has the upper sixteen vectors for itself, which nobody else knows.
//!
//! It is given the address of its numbers, the first iteration and the one after the last. Behind the numbers it puts what
//! the carried vectors are at the end, and values for which there is no register. In a body that is done quickly nobody looks for strong
//! zeros; if then something that comes out is no number, the careful body of the rest does these iterations.

use super::asm::{self, Assembler, Code, From, Label, RAX, RCX, RDI, RDX, RSI, When};
use super::program::{Arg, Id, Int, Join, Mask, Op, Program, Real, Step, Test};
use super::registers::{Move, Registers};

/// Always zeros; for operands that instructions cannot take from memory.
const ZEROS: u8 = 16;
const HELP: u8 = 17;
/// What of the eight iterations is to be done, in the rest; for the moment.
const LEFT: u8 = 1;
const NOW: u8 = 7;
/// The first register, and the one after the last, that the body may use; those after them hold what is carried.
const FIRST: u8 = 18;
const END: u8 = 32;
/// At most so many registers hold what is carried.
pub(super) const CARRIED: usize = 8;
/// Registers for addresses.
pub(super) const BASES: [u8; 4] = [8, 9, 10, 11];
/// How many numbers are in a vector, and its bytes.
pub(super) const LANES: usize = 8;
const BYTES: usize = 8 * LANES;

/// The code and how many bytes its numbers, results and values take.
pub(super) struct Made {
    pub(super) code: Vec<u8>,
    /// Where the carried vectors are put.
    pub(super) results: usize,
    pub(super) bytes: usize,
}

/// The code of a loop; none, if it carries too much.
pub(super) fn code(program: &Program) -> Option<Made> {
    if program.carried.len() * program.copies > CARRIED {
        return None;
    }
    let results = (8 * program.given).next_multiple_of(BYTES);
    let masks = results + BYTES * program.carried.len();
    let kept = (masks + 8 * program.masks).next_multiple_of(BYTES);
    let mut writer =
        Writer { program, asm: Assembler::default(), bases: bases(program), masks, kept, most: 0 };
    let (head, rest, done) = (writer.asm.label(), writer.asm.label(), writer.asm.label());
    writer.begin();
    let width = 8 * i32::try_from(program.copies).ok()?;
    writer.asm.here(head);
    writer.asm.general(0x89, RAX, RSI);
    writer.asm.add_number(RAX, width);
    writer.asm.general(0x39, RAX, RDX);
    writer.asm.jump(When::Greater, rest);
    for copy in 0..program.copies {
        writer.body(Manner { masked: false, copy, careful: (program.quick).then_some(rest) });
        writer.asm.add_number(RSI, 8);
    }
    writer.asm.jump(When::Always, head);
    writer.asm.here(rest);
    writer.asm.general(0x39, RSI, RDX);
    writer.asm.jump(When::GreaterOrEqual, done);
    writer.left();
    writer.body(Manner { masked: true, copy: 0, careful: None });
    writer.asm.add_number(RSI, 8);
    writer.asm.jump(When::Always, head);
    writer.asm.here(done);
    writer.end(results);
    let bytes = kept + BYTES * writer.most;
    Some(Made { code: writer.asm.finish(), results, bytes })
}

/// The addresses that are used most.
pub(super) fn bases(program: &Program) -> Vec<usize> {
    let mut uses = vec![0; program.given];
    for step in &program.steps {
        let base = match step {
            Step::Vector(_, Op::Load { from } | Op::Gather { from, .. }) => Some(*from),
            Step::Store { to, .. } | Step::Scatter { to, .. } => Some(*to),
            Step::Vector(..) | Step::Compare(..) | Step::Join(..) => None,
        };
        if let Some(uses) = base.and_then(|base| uses.get_mut(base)) {
            *uses += 1;
        }
    }
    let mut found: Vec<(usize, usize)> = uses.into_iter().enumerate().filter(|(_, uses)| *uses > 0).collect();
    found.sort_by_key(|(_, uses)| std::cmp::Reverse(*uses));
    found.into_iter().map(|(base, _)| base).take(BASES.len()).collect()
}

/// How a body is written.
#[derive(Clone, Copy)]
struct Manner {
    /// Whether only some of the eight iterations are to be done.
    masked: bool,
    /// Which of the copies it is.
    copy: usize,
    /// Where to go if something is no number because nobody has looked for zeros; if nobody looks.
    careful: Option<Label>,
}

struct Writer<'p> {
    program: &'p Program,
    asm: Assembler,
    bases: Vec<usize>,
    /// Where masks and vectors without registers are put, and how many of those there are at most.
    masks: usize,
    kept: usize,
    most: usize,
}

/// Offsets are of a few thousand bytes.
pub(super) fn offset(bytes: usize) -> i32 {
    i32::try_from(bytes).unwrap_or(i32::MAX)
}

impl Writer<'_> {
    /// The register of what is carried.
    fn pinned(&self, place: usize, copy: usize) -> u8 {
        END - 1 - u8::try_from(copy * self.program.carried.len() + place).unwrap_or(0)
    }

    fn begin(&mut self) {
        self.asm.keep();
        self.asm.vector(asm::INT_XOR, ZEROS, ZEROS, From::Register(ZEROS), 0, false);
        for (register, base) in BASES.into_iter().zip(&self.bases) {
            self.asm.load(register, RDI, offset(8 * base));
        }
        for copy in 0..self.program.copies {
            for (place, carried) in self.program.carried.iter().enumerate() {
                let register = self.pinned(place, copy);
                match carried.first {
                    Some(first) => {
                        let from = From::Word(RDI, offset(8 * first));
                        self.asm.vector(asm::BROADCAST, register, 0, from, 0, false);
                    }
                    None => self.asm.vector(asm::MOVE, register, 0, From::Register(ZEROS), 0, false),
                }
            }
        }
    }

    /// The mask of the iterations that are left, at most eight.
    fn left(&mut self) {
        let known = self.asm.label();
        self.asm.general(0x89, RCX, RDX);
        self.asm.general(0x29, RCX, RSI);
        self.asm.number(RAX, 0xff);
        self.asm.compare_number(RCX, 8);
        self.asm.jump(When::GreaterOrEqual, known);
        self.asm.number(RAX, 1);
        self.asm.ones();
        self.asm.here(known);
        self.asm.mask_from(LEFT, RAX);
    }

    /// Puts what is carried into memory: sums added up, all parts of others.
    fn end(&mut self, results: usize) {
        for (place, carried) in self.program.carried.iter().enumerate() {
            let (first, to) = (self.pinned(place, 0), offset(results + BYTES * place));
            if carried.first.is_some() {
                self.asm.vector(asm::STORE, first, 0, From::Words(RDI, to), 0, false);
                continue;
            }
            for copy in 1..self.program.copies {
                let from = From::Register(self.pinned(place, copy));
                self.asm.vector(asm::ADD, first, first, from, 0, false);
            }
            let help = From::Register(HELP);
            self.asm.vector(asm::HALF, first, 0, help, 0, false);
            self.asm.vector(asm::ADD, first, first, help, 0, false);
            self.asm.vector(asm::QUARTER, first, 0, help, 0, false);
            self.asm.vector(asm::ADD, first, first, help, 0, false);
            self.asm.vector(asm::SWAP, HELP, 0, From::Register(first), 0, false);
            self.asm.vector(asm::ADD, HELP, first, help, 0, false);
            self.asm.vector(asm::STORE_FIRST, HELP, 0, From::Words(RDI, to), 0, false);
        }
        self.asm.done();
    }

    fn body(&mut self, manner: Manner) {
        let program = self.program;
        let mut steps: Vec<Step> = program.steps.clone();
        let mut doubtful = Doubtful::default();
        if manner.careful.is_some() {
            doubtful = Doubtful::of(program);
            let (stores, others): (Vec<Step>, Vec<Step>) = steps.iter().partition(|step| step.stores());
            steps = others;
            steps.extend(stores);
        }
        let look = steps.iter().position(Step::stores).unwrap_or(steps.len());
        let pool = FIRST..END - u8::try_from(program.carried.len() * program.copies).unwrap_or(0);
        let vectors = Registers::new(program.vectors, pool);
        let masks = Registers::new(program.masks, 2..NOW - 1);
        let (locked, locked_masks) = (Vec::new(), Vec::new());
        let mut body = Body { writer: self, manner, vectors, masks, locked, locked_masks };
        for (place, carried) in program.carried.iter().enumerate() {
            body.vectors.pin(carried.before, body.writer.pinned(place, manner.copy));
        }
        for (number, step) in steps.iter().enumerate() {
            step.vectors().into_iter().for_each(|id| body.vectors.will_read(id, number));
            step.masks().into_iter().for_each(|id| body.masks.will_read(id, number));
        }
        for id in &doubtful.outcome {
            body.vectors.will_read(*id, look);
        }
        let end = steps.len();
        for carried in &program.carried {
            if let Arg::Vector(id) = carried.after {
                body.vectors.will_read(id, end);
            }
        }
        for (number, step) in steps.iter().enumerate() {
            if number == look {
                body.look(&doubtful.outcome);
            }
            body.step(number, *step);
        }
        if look == end {
            body.look(&doubtful.outcome);
        }
        for (place, carried) in program.carried.iter().enumerate() {
            let from = body.register(carried.after);
            let to = body.writer.pinned(place, manner.copy);
            let mask = if manner.masked { LEFT } else { 0 };
            body.writer.asm.vector(asm::MOVE, to, 0, From::Register(from), mask, false);
            body.locked.clear();
        }
    }
}

/// What may be no number because nobody has looked for zeros.
#[derive(Default)]
pub(super) struct Doubtful {
    /// Of it, what is stored, carried or compared.
    pub(super) outcome: Vec<Id>,
}

impl Doubtful {
    pub(super) fn of(program: &Program) -> Doubtful {
        let mut is = vec![false; program.vectors];
        let mut outcome = Vec::new();
        let known = |is: &[bool], arg: Arg| match arg {
            Arg::Vector(id) => is.get(id).copied().unwrap_or(false).then_some(id),
            Arg::Given(_) | Arg::Constant(_) => None,
        };
        for step in &program.steps {
            match step {
                Step::Vector(id, op) => {
                    let strong = matches!(op, Op::Real(Real::MulZero | Real::DivZero, ..));
                    let doubtful = strong || op.args().into_iter().any(|arg| known(&is, arg).is_some());
                    if let Some(is) = is.get_mut(*id) {
                        *is = doubtful;
                    }
                }
                Step::Compare(_, _, a, b) => {
                    outcome.extend([*a, *b].into_iter().filter_map(|arg| known(&is, arg)))
                }
                Step::Join(..) => {}
                Step::Store { value, .. } | Step::Scatter { value, .. } => outcome.extend(known(&is, *value)),
            }
        }
        outcome.extend(program.carried.iter().filter_map(|carried| known(&is, carried.after)));
        outcome.sort_unstable();
        outcome.dedup();
        Doubtful { outcome }
    }
}

/// A body that is being written.
struct Body<'w, 'p> {
    writer: &'w mut Writer<'p>,
    manner: Manner,
    vectors: Registers,
    masks: Registers,
    /// Registers that the step needs.
    locked: Vec<u8>,
    locked_masks: Vec<u8>,
}

impl Body<'_, '_> {
    /// Goes to where one looks for zeros if one of these is no number: then so is their sum.
    fn look(&mut self, outcome: &[Id]) {
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

    fn step(&mut self, number: usize, step: Step) {
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
        for done in moves {
            let at = |place: usize| From::Words(RDI, offset(self.writer.kept + BYTES * place));
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
    fn register(&mut self, arg: Arg) -> u8 {
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
            // Only vectors of four have it.
            Op::Fused(..) => {}
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
        let is_constant = |arg: Arg| matches!(arg, Arg::Constant(bits) if bits << 1 != 0);
        if matches!(real, Real::MulZero | Real::DivZero) {
            mask = NOW;
            self.writer.asm.vector(asm::compare(4), NOW, first, From::Register(ZEROS), 0, false);
        }
        if real == Real::MulZero && !is_constant(b) {
            self.writer.asm.vector(asm::compare(4), NOW, ZEROS, second, NOW, false);
        }
        let read = Step::Vector(id, Op::Real(real, a, b)).vectors();
        let target = self.target(number, id, &read);
        self.writer.asm.vector(code, target, first, second, mask, mask != 0);
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
