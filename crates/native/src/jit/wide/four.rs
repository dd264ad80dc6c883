//! Machine code of a loop in vectors of four, for processors with AVX2: as in [`super::code`], with what these have not made of what they have.
//!
//! Truth values are vectors, of which all bits of a number are set or none. What is given is repeated once, before the loop, so that
//! instructions can take it from memory. There are no other registers than those of the code generator: those that are used are kept, and are
//! at the end as they were.

use super::asm::{Assembler, From, Label, RAX, RCX, RDI, RDX, RSI, When};
use super::code::{At, BASES, Doubtful, MOST_CARRIED, Made, bases, offset};
use super::program::{Arg, Id, Mask, Op, Program, Step};
use super::registers::{Move, Registers};
use super::vex::{self, Short};

mod ops;

/// For operands that instructions cannot take from memory, for masks, and for what else is needed for a moment.
const HELP: u8 = 15;
const NOW: u8 = 14;
const MORE: u8 = 13;
/// The register after the last that the body may use; those before it hold what is carried.
const END: u8 = 13;
/// At most so many registers hold what is carried, and masks; the rest is in memory.
pub(super) const CARRIED: usize = 6;
const MASKS: usize = 3;
/// How many numbers are in a vector, and its bytes.
pub(super) const LANES: usize = 4;
const BYTES: usize = 8 * LANES;
/// Bytes of what a register of the code generator holds.
const REGISTER: usize = 16;

/// The code of a loop; none, if it carries too much, or does what these processors do not.
pub(super) fn code(program: &Program) -> Option<Made> {
    let scatters = program.steps.iter().any(|step| matches!(step, Step::Scatter { .. }));
    if program.carried.len() > MOST_CARRIED || scatters {
        return None;
    }
    // First to see which registers are used.
    let all: Vec<u8> = (0..16).collect();
    let (used, _) = written(program, &all);
    let saved: Vec<u8> = all.into_iter().filter(|register| used >> register & 1 == 1).collect();
    let (_, made) = written(program, &saved);
    Some(made)
}

/// The code, which keeps these registers, and those that it uses.
fn written(program: &Program, saved: &[u8]) -> (u16, Made) {
    let results = (8 * program.given).next_multiple_of(BYTES);
    let registers = results + BYTES * program.carried.len();
    let left = (registers + REGISTER * saved.len()).next_multiple_of(BYTES);
    let given = left + BYTES;
    let repeated = repeated(program);
    let masks = given + BYTES * repeated.len();
    let mut writer = Writer {
        program,
        asm: Assembler::default(),
        bases: bases(program),
        repeated,
        given,
        left,
        masks,
        kept: masks + BYTES * program.masks,
        most: 0,
        used: 0,
    };
    writer.begin((registers, saved));
    writer.turns();
    writer.end(results);
    for (place, register) in saved.iter().enumerate() {
        let from = From::Words(RDI, offset(registers + REGISTER * place));
        writer.asm.short(vex::LOAD_HALF, *register, 0, from);
    }
    writer.asm.done();
    let bytes = writer.kept + BYTES * writer.most;
    (writer.used, Made { code: writer.asm.finish(), results, bytes })
}

/// The places of what is given as a number or a truth value.
fn repeated(program: &Program) -> Vec<usize> {
    let mut places = Vec::new();
    let mut see = |place: usize| {
        if !places.contains(&place) {
            places.push(place);
        }
    };
    for step in &program.steps {
        let (args, masks) = match step {
            // The first number of an index is no vector.
            Step::Vector(_, Op::Index { .. }) => (Vec::new(), Vec::new()),
            Step::Vector(_, op @ Op::Choose(mask, ..)) => (op.args(), vec![*mask]),
            Step::Vector(_, op) => (op.args(), Vec::new()),
            Step::Compare(_, _, a, b) => (vec![*a, *b], Vec::new()),
            Step::Join(_, _, a, b) => (Vec::new(), vec![*a, *b]),
            Step::Store { value, .. } | Step::Scatter { value, .. } => (vec![*value], Vec::new()),
        };
        args.into_iter().for_each(|arg| {
            if let Arg::Given(place) = arg {
                see(place)
            }
        });
        masks.into_iter().for_each(|mask| {
            if let Mask::Given(place) = mask {
                see(place)
            }
        });
    }
    for carried in &program.carried {
        if let Arg::Given(place) = carried.after {
            see(place);
        }
    }
    places
}

/// How a body is written.
#[derive(Clone, Copy)]
struct Manner {
    /// Whether only some of the four iterations are to be done.
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
    /// What is given and repeated, and where that begins.
    repeated: Vec<usize>,
    given: usize,
    /// Where the mask of what is left is, and where masks and vectors without registers are put, and how many of those there are at most.
    left: usize,
    masks: usize,
    kept: usize,
    most: usize,
    /// The registers that are changed.
    used: u16,
}

impl Writer<'_> {
    /// `target = first op second`.
    fn put(&mut self, code: Short, target: u8, first: u8, second: From) {
        self.used |= 1 << target;
        self.asm.short(code, target, first, second);
    }

    fn constant(&mut self, bits: u64) -> From {
        From::Constants(self.asm.constant(&[bits; LANES]))
    }

    /// The register of what is carried, or its place in memory.
    fn carried(&self, place: usize, copy: usize) -> At {
        At::of(copy * self.program.carried.len() + place, CARRIED, END)
    }

    /// A place in memory for a vector.
    fn place(&self, kept: usize) -> From {
        From::Words(RDI, offset(self.kept + BYTES * kept))
    }

    /// Moves what is carried out of a register.
    fn carry(&mut self, from: u8, to: At) {
        match to {
            At::Register(to) => self.put(vex::MOVE, to, 0, From::Register(from)),
            At::Memory(to) => {
                self.most = self.most.max(to + 1);
                self.put(vex::STORE, from, 0, self.place(to));
            }
        }
    }

    /// The register of something carried, maybe this one.
    fn carried_in(&mut self, at: At, help: u8) -> u8 {
        match at {
            At::Register(register) => register,
            At::Memory(kept) => {
                self.put(vex::LOAD, help, 0, self.place(kept));
                help
            }
        }
    }

    fn begin(&mut self, (registers, saved): (usize, &[u8])) {
        self.asm.keep();
        for (place, register) in saved.iter().enumerate() {
            let to = From::Words(RDI, offset(registers + REGISTER * place));
            self.asm.short(vex::STORE_HALF, *register, 0, to);
        }
        for (register, base) in BASES.into_iter().zip(&self.bases) {
            self.asm.load(register, RDI, offset(8 * base));
        }
        for (at, place) in self.repeated.clone().into_iter().enumerate() {
            self.put(vex::BROADCAST, HELP, 0, From::Word(RDI, offset(8 * place)));
            self.put(vex::STORE, HELP, 0, From::Words(RDI, offset(self.given + BYTES * at)));
        }
        for copy in 0..self.program.copies {
            for (place, carried) in self.program.carried.iter().enumerate() {
                match carried.first {
                    Some(first) => self.put(vex::BROADCAST, HELP, 0, From::Word(RDI, offset(8 * first))),
                    None => self.put(vex::XOR, HELP, HELP, From::Register(HELP)),
                }
                self.carry(HELP, self.carried(place, copy));
            }
        }
    }

    /// All iterations.
    fn turns(&mut self) {
        let program = self.program;
        let (head, rest, done) = (self.asm.label(), self.asm.label(), self.asm.label());
        let lanes = i32::try_from(LANES).unwrap_or_default();
        let width = lanes * i32::try_from(program.copies).unwrap_or(1);
        self.asm.here(head);
        self.asm.general(0x89, RAX, RSI);
        self.asm.add_number(RAX, width);
        self.asm.general(0x39, RAX, RDX);
        self.asm.jump(When::Greater, rest);
        for copy in 0..program.copies {
            self.body(Manner { masked: false, copy, careful: (program.quick).then_some(rest) });
            self.asm.add_number(RSI, lanes);
        }
        self.asm.jump(When::Always, head);
        self.asm.here(rest);
        self.asm.general(0x39, RSI, RDX);
        self.asm.jump(When::GreaterOrEqual, done);
        self.left();
        self.body(Manner { masked: true, copy: 0, careful: None });
        self.asm.add_number(RSI, lanes);
        self.asm.jump(When::Always, head);
        self.asm.here(done);
    }

    /// The mask of the iterations that are left, at most four.
    fn left(&mut self) {
        self.asm.general(0x89, RCX, RDX);
        self.asm.general(0x29, RCX, RSI);
        self.put(vex::FROM_GENERAL, NOW, 0, From::Register(RCX));
        self.put(vex::BROADCAST_WORD, NOW, 0, From::Register(NOW));
        let numbers: Vec<u64> = (0..4).collect();
        let numbers = From::Constants(self.asm.constant(&numbers));
        self.put(vex::INT_GREATER, NOW, NOW, numbers);
        let to = From::Words(RDI, offset(self.left));
        self.put(vex::STORE, NOW, 0, to);
    }

    /// Puts what is carried into memory: sums added up, all parts of others.
    fn end(&mut self, results: usize) {
        for (place, carried) in self.program.carried.iter().enumerate() {
            let to = offset(results + BYTES * place);
            let first = self.carried_in(self.carried(place, 0), NOW);
            if carried.first.is_some() {
                self.put(vex::STORE, first, 0, From::Words(RDI, to));
                continue;
            }
            for copy in 1..self.program.copies {
                let from = self.carried_in(self.carried(place, copy), HELP);
                self.put(vex::ADD, first, first, From::Register(from));
            }
            let help = From::Register(HELP);
            self.used |= 1 << HELP;
            self.put(vex::HALF, first, 0, help);
            self.put(vex::ADD, first, first, help);
            self.put(vex::SWAP, HELP, 0, From::Register(first));
            self.put(vex::ADD, HELP, first, help);
            self.put(vex::STORE_FIRST, HELP, 0, From::Words(RDI, to));
        }
        self.asm.forget_upper();
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
        let few = |count: usize| u8::try_from(count).unwrap_or(0);
        let for_masks = few(program.masks.min(MASKS));
        let pool = for_masks..END - few(CARRIED.min(program.carried.len() * program.copies));
        let vectors = Registers::new(program.vectors, pool);
        let masks = Registers::new(program.masks, 0..for_masks);
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
        body.carry();
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
    /// What is carried goes into its registers.
    fn carry(&mut self) {
        for (place, carried) in self.writer.program.carried.iter().enumerate() {
            let mut from = self.register(carried.after);
            let to = self.writer.carried(place, self.manner.copy);
            if self.manner.masked {
                self.fetch_left();
                let before = self.writer.carried_in(to, MORE);
                self.put(vex::blend(NOW), before, before, From::Register(from));
                from = before;
            }
            self.writer.carry(from, to);
            self.locked.clear();
        }
    }

    /// Goes to where one looks for zeros if one of these is no number: then so is their sum.
    fn look(&mut self, outcome: &[Id]) {
        let Some(careful) = self.manner.careful else { return };
        let mut is_first = true;
        for id in outcome {
            let register = self.vector(*id);
            self.locked.clear();
            if is_first {
                self.put(vex::MOVE, HELP, 0, From::Register(register));
            } else {
                self.put(vex::ADD, HELP, HELP, From::Register(register));
            }
            is_first = false;
        }
        if !is_first {
            self.put(vex::compare(3), NOW, HELP, From::Register(HELP));
            self.writer.asm.short(vex::SIGNS, RAX, 0, From::Register(NOW));
            self.writer.asm.test(RAX);
            self.writer.asm.jump(When::NotZero, careful);
        }
    }

    fn put(&mut self, code: Short, target: u8, first: u8, second: From) {
        self.writer.put(code, target, first, second);
    }

    /// The mask of what is left.
    fn fetch_left(&mut self) {
        let left = From::Words(RDI, offset(self.writer.left));
        self.put(vex::LOAD, NOW, 0, left);
    }

    fn read(&mut self, number: usize, ids: &[Id]) {
        ids.iter().for_each(|id| self.vectors.has_read(*id, number));
    }

    /// The register of a vector.
    fn vector(&mut self, id: Id) -> u8 {
        let mut moves = Vec::new();
        let register = self.vectors.register(id, &self.locked, &mut moves);
        self.locked.push(register);
        self.moved(moves, self.writer.kept);
        self.writer.most = self.writer.most.max(self.vectors.kept);
        register
    }

    fn moved(&mut self, moves: Vec<Move>, from: usize) {
        let at = |place: usize| From::Words(RDI, offset(from + BYTES * place));
        for done in moves {
            match done {
                Move::Keep(register, place) => self.put(vex::STORE, register, 0, at(place)),
                Move::Fetch(register, place) => self.put(vex::LOAD, register, 0, at(place)),
            }
        }
    }

    /// An operand in a register.
    fn register(&mut self, arg: Arg) -> u8 {
        let from = self.operand(arg);
        if let From::Register(register) = from {
            return register;
        }
        self.put(vex::LOAD, HELP, 0, from);
        HELP
    }

    /// An operand where it is.
    fn operand(&mut self, arg: Arg) -> From {
        match arg {
            Arg::Vector(id) => From::Register(self.vector(id)),
            Arg::Given(place) => self.repeated(place),
            Arg::Constant(bits) => self.writer.constant(bits),
        }
    }

    /// A number that is given.
    fn repeated(&self, place: usize) -> From {
        let at = self.writer.repeated.iter().position(|known| *known == place).unwrap_or_default();
        From::Words(RDI, offset(self.writer.given + BYTES * at))
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

    /// A mask in a register, maybe in this one.
    fn mask(&mut self, mask: Mask, help: u8) -> u8 {
        match mask {
            Mask::Given(place) => {
                let truth = self.repeated(place);
                self.put(vex::XOR, help, help, From::Register(help));
                self.put(vex::INT_SUB, help, help, truth);
                help
            }
            Mask::Made(id) => self.new_mask(id),
        }
    }

    fn new_mask(&mut self, id: Id) -> u8 {
        let mut moves = Vec::new();
        let register = self.masks.register(id, &self.locked_masks, &mut moves);
        self.locked_masks.push(register);
        self.moved(moves, self.writer.masks);
        register
    }

    /// The register of what a step makes, when it has read what it reads.
    fn target(&mut self, number: usize, id: Id, read: &[Id]) -> u8 {
        self.read(number, read);
        self.locked.clear();
        self.vector(id)
    }

    /// The register of a mask that a step makes, when it has read what it reads.
    fn target_mask(&mut self, number: usize, id: Id, step: Step) -> u8 {
        step.masks().into_iter().for_each(|id| self.masks.has_read(id, number));
        self.locked_masks.clear();
        self.new_mask(id)
    }
}
