//! Instructions of x86-64 on vectors of eight reals (AVX-512), as bytes.
//!
//! Each is given by the numbers in the processor's manual: the table of operation codes (`map`), the prefix that selects in it (`pp`),
//! and the code. Addresses always have a displacement of four bytes; constants stand behind the code.

/// General registers, by their numbers.
pub(super) const RAX: u8 = 0;
pub(super) const RCX: u8 = 1;
pub(super) const RDX: u8 = 2;
pub(super) const RSI: u8 = 6;
pub(super) const RDI: u8 = 7;

/// Where the second source of an instruction is.
#[derive(Clone, Copy, Debug)]
pub(super) enum From {
    /// A vector register, or a mask.
    Register(u8),
    /// A word in memory at `base + offset`, the same for all eight.
    Word(u8, i32),
    /// Eight words in memory at `base + offset`.
    Words(u8, i32),
    /// Eight words at `base + 8·index + offset`.
    Indexed(u8, u8, i32),
    /// Eight words, each at `base + 8·index + offset`, where the indices are in a vector.
    Each(u8, u8, i32),
    /// A constant of one word, the same for all.
    Constant(usize),
    /// A constant of eight words.
    Constants(usize),
}

/// An instruction on vectors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Code {
    pub(super) map: u8,
    pub(super) pp: u8,
    pub(super) code: u8,
    pub(super) immediate: Option<u8>,
}

/// The codes of what is used.
pub(super) const fn code(map: u8, pp: u8, code: u8) -> Code {
    Code { map, pp, code, immediate: None }
}

pub(super) const LOAD: Code = code(1, 1, 0x10);
pub(super) const STORE: Code = code(1, 1, 0x11);
pub(super) const STORE_FIRST: Code = code(1, 3, 0x11);
pub(super) const MOVE: Code = code(1, 1, 0x28);
pub(super) const BROADCAST: Code = code(2, 1, 0x19);
pub(super) const BROADCAST_WORD: Code = code(2, 1, 0x7c);
pub(super) const ADD: Code = code(1, 1, 0x58);
pub(super) const MUL: Code = code(1, 1, 0x59);
pub(super) const SUB: Code = code(1, 1, 0x5c);
pub(super) const DIV: Code = code(1, 1, 0x5e);
/// `target = first · target + second`, less the second, and that less the product.
pub(super) const TIMES_PLUS: Code = code(2, 1, 0xa8);
pub(super) const TIMES_LESS: Code = code(2, 1, 0xaa);
pub(super) const TIMES_FROM: Code = code(2, 1, 0xac);
/// `target = first · second + target`, less the target, and that less the product.
pub(super) const PLUS_TIMES: Code = code(2, 1, 0xb8);
pub(super) const LESS_TIMES: Code = code(2, 1, 0xba);
pub(super) const FROM_TIMES: Code = code(2, 1, 0xbc);
pub(super) const SQRT: Code = code(1, 1, 0x51);
pub(super) const AND: Code = code(1, 1, 0x54);
pub(super) const XOR: Code = code(1, 1, 0x57);
pub(super) const BLEND: Code = code(2, 1, 0x65);
pub(super) const TO_REAL: Code = code(1, 2, 0xe6);
pub(super) const GATHER: Code = code(2, 1, 0x93);
pub(super) const SCATTER: Code = code(2, 1, 0xa3);
pub(super) const INT_ADD: Code = code(1, 1, 0xd4);
pub(super) const INT_SUB: Code = code(1, 1, 0xfb);
pub(super) const INT_MUL: Code = code(2, 1, 0x40);
pub(super) const INT_AND: Code = code(1, 1, 0xdb);
pub(super) const INT_OR: Code = code(1, 1, 0xeb);
pub(super) const INT_XOR: Code = code(1, 1, 0xef);
pub(super) const INT_MIN: Code = code(2, 1, 0x39);
pub(super) const INT_MAX: Code = code(2, 1, 0x3d);
pub(super) const SHIFT_LEFT: Code = code(2, 1, 0x47);
pub(super) const SHIFT_RIGHT: Code = code(2, 1, 0x45);

/// A comparison of reals.
pub(super) const fn compare(how: u8) -> Code {
    Code { map: 1, pp: 1, code: 0xc2, immediate: Some(how) }
}

/// A comparison of integers.
pub(super) const fn compare_int(how: u8) -> Code {
    Code { map: 3, pp: 1, code: 0x1f, immediate: Some(how) }
}

/// To an integer: 1 down, 2 up, 3 towards zero.
pub(super) const fn round(how: u8) -> Code {
    Code { map: 3, pp: 1, code: 0x09, immediate: Some(8 | how) }
}

/// The upper half, or the second quarter, from the first to the second.
pub(super) const HALF: Code = Code { map: 3, pp: 1, code: 0x1b, immediate: Some(1) };
pub(super) const QUARTER: Code = Code { map: 3, pp: 1, code: 0x19, immediate: Some(1) };
/// Neighbors change places.
pub(super) const SWAP: Code = Code { map: 3, pp: 1, code: 0x05, immediate: Some(0x55) };

/// What is jumped to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Label(usize);

/// When a jump is made, after a comparison of integers.
#[derive(Clone, Copy, Debug)]
pub(super) enum When {
    Always,
    Greater,
    GreaterOrEqual,
    NotZero,
}

/// The bytes so far.
#[derive(Default)]
pub(super) struct Assembler {
    bytes: Vec<u8>,
    /// Constants behind the code, in words.
    constants: Vec<Vec<u64>>,
    /// Four bytes that are to hold the distance from a place to a constant.
    uses: Vec<(usize, usize, usize)>,
    /// Where labels are, and four bytes that are to hold the distance to one.
    labels: Vec<usize>,
    jumps: Vec<(usize, Label)>,
}

impl Assembler {
    pub(super) fn put(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// A constant, or one that is the same.
    pub(super) fn constant(&mut self, words: &[u64]) -> usize {
        let known = self.constants.iter().position(|known| known == words);
        known.unwrap_or_else(|| {
            self.constants.push(words.to_vec());
            self.constants.len() - 1
        })
    }

    /// `target = first op second`, where `mask` has bits; elsewhere zeros, or what was there. Mask 0 is all.
    pub(super) fn vector(&mut self, code: Code, target: u8, first: u8, second: From, mask: u8, zeros: bool) {
        let Code { map, pp, code, immediate } = code;
        let bit = |number: u8, bit: u8| number >> bit & 1;
        // The third and fourth bits of the numbers of registers, which are stored negated.
        let (x, b, high) = match second {
            From::Register(from) => (bit(from, 4), bit(from, 3), bit(first, 4)),
            From::Word(base, _) | From::Words(base, _) => (0, bit(base, 3), bit(first, 4)),
            From::Indexed(base, index, _) => (bit(index, 3), bit(base, 3), bit(first, 4)),
            From::Each(base, index, _) => (bit(index, 3), bit(base, 3), bit(index, 4)),
            From::Constant(_) | From::Constants(_) => (0, 0, bit(first, 4)),
        };
        let (r, r_high) = (bit(target, 3), bit(target, 4));
        let repeated = matches!(second, From::Word(..) | From::Constant(_)) && needs_repeating(code, map);
        let numbers = (r << 7 | x << 6 | b << 5 | r_high << 4) ^ 0xf0;
        let rest = u8::from(zeros) << 7 | 2 << 5 | u8::from(repeated) << 4 | (high ^ 1) << 3 | mask;
        self.put(&[0x62, numbers | map, 0x84 | (!first & 15) << 3 | pp, rest, code]);
        self.second(target, second, immediate.map_or(0, |_| 1));
        self.put(immediate.as_slice());
    }

    /// The bytes that say where the second source is; so many follow them.
    pub(super) fn second(&mut self, target: u8, second: From, following: usize) {
        let target = (target & 7) << 3;
        let low = |number: u8| number & 7;
        match second {
            From::Register(from) => self.put(&[0xc0 | target | low(from)]),
            From::Word(base, offset) | From::Words(base, offset) => {
                self.put(&[0x80 | target | low(base)]);
                self.put(&offset.to_le_bytes());
            }
            From::Indexed(base, index, offset) | From::Each(base, index, offset) => {
                self.put(&[0x84 | target, 3 << 6 | low(index) << 3 | low(base)]);
                self.put(&offset.to_le_bytes());
            }
            From::Constant(constant) | From::Constants(constant) => {
                self.put(&[target | 5]);
                self.uses.push((self.bytes.len(), self.bytes.len() + 4 + following, constant));
                self.put(&[0; 4]);
            }
        }
    }

    /// `target = first op second` on masks: 0x41 and, 0x45 or, 0x46 equal, 0x47 exclusive or.
    pub(super) fn masks(&mut self, code: u8, target: u8, first: u8, second: u8) {
        self.put(&[0xc5, 0x80 | (!first & 15) << 3 | 0x05, code, 0xc0 | target << 3 | second]);
    }

    /// A mask from a mask.
    pub(super) fn mask_move(&mut self, target: u8, from: u8) {
        self.put(&[0xc5, 0xf9, 0x90, 0xc0 | target << 3 | from]);
    }

    /// A mask from a general register.
    pub(super) fn mask_from(&mut self, target: u8, from: u8) {
        self.put(&[0xc5, 0xf9, 0x92, 0xc0 | target << 3 | from]);
    }

    /// A mask from memory.
    pub(super) fn mask_load(&mut self, target: u8, base: u8, offset: i32) {
        self.put(&[0xc5, 0xf9, 0x90, 0x80 | target << 3 | base]);
        self.put(&offset.to_le_bytes());
    }

    /// A mask to memory.
    pub(super) fn mask_store(&mut self, from: u8, base: u8, offset: i32) {
        self.put(&[0xc5, 0xf9, 0x91, 0x80 | from << 3 | base]);
        self.put(&offset.to_le_bytes());
    }

    /// Compares a mask with nothing, for a jump.
    pub(super) fn mask_test(&mut self, mask: u8) {
        self.put(&[0xc5, 0xf9, 0x98, 0xc0 | mask << 3 | mask]);
    }

    /// A general register from memory.
    pub(super) fn load(&mut self, target: u8, base: u8, offset: i32) {
        self.put(&[0x48 | (target >> 3) << 2, 0x8b, 0x80 | (target & 7) << 3 | base]);
        self.put(&offset.to_le_bytes());
    }

    /// `target op= from` on general registers: 0x01 add, 0x29 subtract, 0x39 compare, 0x89 move.
    pub(super) fn general(&mut self, code: u8, target: u8, from: u8) {
        self.put(&[0x48, code, 0xc0 | from << 3 | target]);
    }

    /// `target += number`.
    pub(super) fn add_number(&mut self, target: u8, number: i32) {
        self.put(&[0x48, 0x81, 0xc0 | target]);
        self.put(&number.to_le_bytes());
    }

    /// Compares with a number.
    pub(super) fn compare_number(&mut self, target: u8, number: i32) {
        self.put(&[0x48, 0x81, 0xf8 | target]);
        self.put(&number.to_le_bytes());
    }

    /// `target = from · number`.
    pub(super) fn times(&mut self, target: u8, from: u8, number: i32) {
        self.put(&[0x48, 0x69, 0xc0 | target << 3 | from]);
        self.put(&number.to_le_bytes());
    }

    /// `target = -target`.
    pub(super) fn negate(&mut self, target: u8) {
        self.put(&[0x48, 0xf7, 0xd8 | target]);
    }

    /// `target = number`.
    pub(super) fn number(&mut self, target: u8, number: i32) {
        self.put(&[0xb8 | target]);
        self.put(&number.to_le_bytes());
    }

    /// `rax = (1 << rcx) - 1`, where `rax` is 1.
    pub(super) fn ones(&mut self) {
        self.put(&[0xd3, 0xe0, 0xff, 0xc8]);
    }

    pub(super) fn label(&mut self) -> Label {
        self.labels.push(usize::MAX);
        Label(self.labels.len() - 1)
    }

    pub(super) fn here(&mut self, label: Label) {
        if let Some(place) = self.labels.get_mut(label.0) {
            *place = self.bytes.len();
        }
    }

    pub(super) fn jump(&mut self, when: When, to: Label) {
        self.put(match when {
            When::Always => &[0xe9],
            When::Greater => &[0x0f, 0x8f],
            When::GreaterOrEqual => &[0x0f, 0x8d],
            When::NotZero => &[0x0f, 0x85],
        });
        self.jumps.push((self.bytes.len(), to));
        self.put(&[0; 4]);
    }

    /// Keeps the general registers that are used: `rax`, `rcx`, `rsi`, `r8` to `r11`.
    pub(super) fn keep(&mut self) {
        self.put(&[0x50, 0x51, 0x56, 0x41, 0x50, 0x41, 0x51, 0x41, 0x52, 0x41, 0x53]);
    }

    /// Back to the caller, who has all registers as they were.
    pub(super) fn done(&mut self) {
        self.put(&[0x41, 0x5b, 0x41, 0x5a, 0x41, 0x59, 0x41, 0x58, 0x5e, 0x59, 0x58, 0xc3]);
    }

    /// The code with its constants.
    pub(super) fn finish(mut self) -> Vec<u8> {
        while !self.bytes.len().is_multiple_of(8) {
            self.bytes.push(0xcc);
        }
        let mut places = Vec::new();
        for words in &self.constants {
            places.push(self.bytes.len());
            words.iter().for_each(|word| self.bytes.extend(word.to_le_bytes()));
        }
        let known = |place: Option<&usize>| place.copied().unwrap_or_default();
        let uses = self.uses.iter().map(|(at, from, constant)| (*at, *from, known(places.get(*constant))));
        let jumps = self.jumps.iter().map(|(at, to)| (*at, at + 4, known(self.labels.get(to.0))));
        let all: Vec<(usize, usize, usize)> = uses.chain(jumps).collect();
        for (at, from, to) in all {
            let distance = i32::try_from(to.cast_signed() - from.cast_signed()).unwrap_or_default();
            if let Some(bytes) = self.bytes.get_mut(at..at + 4) {
                bytes.copy_from_slice(&distance.to_le_bytes());
            }
        }
        self.bytes
    }
}

/// Whether an instruction that reads one word must be told to repeat it: all but the one that only repeats.
fn needs_repeating(code: u8, map: u8) -> bool {
    (map, code) != (BROADCAST.map, BROADCAST.code)
}
