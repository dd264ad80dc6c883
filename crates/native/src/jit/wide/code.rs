//! Machine code of a loop in vectors of eight.
//!
//! ```text
//! head:  as long as eight (or two, or four times eight) iterations are left: the body, and again
//! rest:  as long as any are left: the body, of as many of eight as there are; then to the head
//! ```
//!
//! The function leaves all registers as they were that the code generator uses: a call must not cost the loops around it their registers.
//! So it has the upper sixteen vectors for itself, which nobody else knows. If they are too few, it keeps those of the others that it uses.
//!
//! It is given the address of its numbers, the first iteration and the one after the last. Behind the numbers it puts what
//! the carried vectors are at the end, and values for which there is no register. In a body that is done quickly nobody looks for strong
//! zeros; if then something that comes out is no number, the careful body of the rest does these iterations.

use super::asm::{self, Assembler, From, Label, RAX, RCX, RDI, RDX, RSI, When};
use super::program::{Arg, Id, Op, Program, Real, Step};
use super::registers::Registers;
use super::vex;

mod ops;

/// Always zeros; for operands that instructions cannot take from memory.
const ZEROS: u8 = 16;
const HELP: u8 = 17;
/// What of the eight iterations is to be done, in the rest; for the moment.
const LEFT: u8 = 1;
const NOW: u8 = 7;
/// The first register, and the one after the last, that the body may use; those after them hold what is carried.
const FIRST: u8 = 18;
const END: u8 = 32;
/// At most so many registers hold what is carried; what is carried besides is in memory, where values without registers are.
pub(super) const CARRIED: usize = 8;
/// A loop that carries more is another kind of loop.
pub(super) const MOST_CARRIED: usize = 32;
/// Registers for addresses.
pub(super) const BASES: [u8; 4] = [8, 9, 10, 11];
/// The registers below this one are also the code generator's; bytes of what one of them holds there.
const LOWER: u8 = 16;
const REGISTER: usize = 16;
/// The bit that is the sign of a real.
pub(super) const SIGN: u64 = 1 << 63;
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
    if program.carried.len() > MOST_CARRIED {
        return None;
    }
    let (kept, _, made) = written(program, Lower::None);
    if kept == 0 {
        return Some(made);
    }
    // First to see which registers are used.
    let all: Vec<u8> = (0..LOWER).collect();
    let (_, used, _) = written(program, Lower::Kept(&all));
    let saved: Vec<u8> = all.into_iter().filter(|register| used >> register & 1 == 1).collect();
    Some(written(program, Lower::Kept(&saved)).2)
}

/// Which of the lower registers are used.
#[derive(Clone, Copy)]
enum Lower<'l> {
    None,
    /// All that are needed, of which these are kept.
    Kept(&'l [u8]),
}

impl Lower<'_> {
    fn kept(&self) -> &[u8] {
        match self {
            Lower::None => &[],
            Lower::Kept(registers) => registers,
        }
    }
}

/// How many values have no register, which registers are used, and the code.
fn written(program: &Program, lower: Lower<'_>) -> (usize, u32, Made) {
    let results = (8 * program.given).next_multiple_of(BYTES);
    let registers = results + BYTES * program.carried.len();
    let masks = registers + REGISTER * lower.kept().len();
    let kept = (masks + 8 * program.masks).next_multiple_of(BYTES);
    let (asm, bases) = (Assembler::default(), bases(program));
    let mut writer = Writer { program, asm, bases, lower, registers, masks, kept, most: 0, used: 0 };
    writer.begin();
    writer.turns();
    writer.end(results);
    let bytes = kept + BYTES * writer.most;
    (writer.most, writer.used, Made { code: writer.asm.finish(), results, bytes })
}

impl Writer<'_> {
    /// All iterations.
    fn turns(&mut self) {
        let program = self.program;
        let (head, rest, done) = (self.asm.label(), self.asm.label(), self.asm.label());
        let width = 8 * i32::try_from(program.copies).unwrap_or(1);
        self.asm.here(head);
        self.asm.general(0x89, RAX, RSI);
        self.asm.add_number(RAX, width);
        self.asm.general(0x39, RAX, RDX);
        self.asm.jump(When::Greater, rest);
        for copy in 0..program.copies {
            self.body(Manner { masked: false, copy, careful: (program.quick).then_some(rest) });
            self.asm.add_number(RSI, 8);
        }
        self.asm.jump(When::Always, head);
        self.asm.here(rest);
        self.asm.general(0x39, RSI, RDX);
        self.asm.jump(When::GreaterOrEqual, done);
        self.left();
        self.body(Manner { masked: true, copy: 0, careful: None });
        self.asm.add_number(RSI, 8);
        self.asm.jump(When::Always, head);
        self.asm.here(done);
    }
}

/// Where something carried is.
#[derive(Clone, Copy)]
pub(super) enum At {
    Register(u8),
    /// Among the values without registers.
    Memory(usize),
}

impl At {
    /// So many of all that is carried have the last registers.
    pub(super) fn of(number: usize, registers: usize, end: u8) -> At {
        match u8::try_from(number) {
            Ok(place) if number < registers => At::Register(end - 1 - place),
            Ok(_) | Err(_) => At::Memory(number.saturating_sub(registers)),
        }
    }
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
    /// Which of the lower registers are used, where they are kept, and all that are used.
    lower: Lower<'p>,
    registers: usize,
    used: u32,
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
    /// So many registers hold what is carried.
    fn pins(&self) -> usize {
        match self.lower {
            Lower::None => CARRIED,
            Lower::Kept(_) => usize::from(END - FIRST),
        }
    }

    /// The register of what is carried, or its place in memory.
    fn carried(&self, place: usize, copy: usize) -> At {
        At::of(copy * self.program.carried.len() + place, self.pins(), END)
    }

    /// A place in memory for a vector.
    fn place(&self, kept: usize) -> From {
        From::Words(RDI, offset(self.kept + BYTES * kept))
    }

    /// Moves what is carried out of a register.
    fn carry(&mut self, from: u8, to: At, mask: u8) {
        match to {
            At::Register(to) => self.asm.vector(asm::MOVE, to, 0, From::Register(from), mask, false),
            At::Memory(to) => {
                self.most = self.most.max(to + 1);
                self.asm.vector(asm::STORE, from, 0, self.place(to), mask, false);
            }
        }
    }

    fn begin(&mut self) {
        self.asm.keep();
        for (place, register) in self.lower.kept().iter().enumerate() {
            let to = From::Words(RDI, offset(self.registers + REGISTER * place));
            self.asm.short(vex::STORE_HALF, *register, 0, to);
        }
        self.asm.vector(asm::INT_XOR, ZEROS, ZEROS, From::Register(ZEROS), 0, false);
        for (register, base) in BASES.into_iter().zip(&self.bases) {
            self.asm.load(register, RDI, offset(8 * base));
        }
        for copy in 0..self.program.copies {
            for (place, carried) in self.program.carried.iter().enumerate() {
                let from = carried.first.map_or(ZEROS, |first| {
                    let from = From::Word(RDI, offset(8 * first));
                    self.asm.vector(asm::BROADCAST, HELP, 0, from, 0, false);
                    HELP
                });
                self.carry(from, self.carried(place, copy), 0);
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
            let to = offset(results + BYTES * place);
            let first = match self.carried(place, 0) {
                At::Register(first) => first,
                // No register of the body is needed any longer.
                At::Memory(kept) => {
                    self.asm.vector(asm::LOAD, ZEROS, 0, self.place(kept), 0, false);
                    ZEROS
                }
            };
            if carried.first.is_some() {
                self.asm.vector(asm::STORE, first, 0, From::Words(RDI, to), 0, false);
                continue;
            }
            for copy in 1..self.program.copies {
                let from = match self.carried(place, copy) {
                    At::Register(from) => From::Register(from),
                    At::Memory(kept) => self.place(kept),
                };
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
        if !self.lower.kept().is_empty() {
            self.asm.forget_upper();
        }
        for (place, register) in self.lower.kept().iter().enumerate() {
            let from = From::Words(RDI, offset(self.registers + REGISTER * place));
            self.asm.short(vex::LOAD_HALF, *register, 0, from);
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
        let pinned = self.pins().min(program.carried.len() * program.copies);
        let upper = FIRST..END - u8::try_from(pinned).unwrap_or(0);
        let lower = if matches!(self.lower, Lower::None) { 0 } else { LOWER };
        let vectors = Registers::new(program.vectors, upper.chain(0..lower));
        let masks = Registers::new(program.masks, 2..NOW - 1);
        let (locked, locked_masks) = (Vec::new(), Vec::new());
        let mut body = Body { writer: self, manner, vectors, masks, locked, locked_masks };
        for (place, carried) in program.carried.iter().enumerate() {
            match body.writer.carried(place, manner.copy) {
                At::Register(register) => body.vectors.pin(carried.before, register),
                At::Memory(kept) => body.vectors.put(carried.before, kept),
            }
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
            let to = body.writer.carried(place, manner.copy);
            body.writer.carry(from, to, if manner.masked { LEFT } else { 0 });
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
                    let strong =
                        matches!(op, Op::Real(Real::MulZero | Real::DivZero, ..) | Op::FusedZero(..));
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
