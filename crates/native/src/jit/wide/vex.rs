//! Instructions of x86-64 on vectors of four reals (AVX2), as bytes: as in [`super::asm`], in the older form that knows sixteen registers and no
//! masks. What `asm` says of operands in memory holds here, but that no instruction repeats a word: only [`BROADCAST`] does.

use super::asm::{Assembler, From};

/// An instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Short {
    pub(super) map: u8,
    pub(super) pp: u8,
    pub(super) code: u8,
    /// What it is told by one bit.
    pub(super) wide: bool,
    /// Whether it works on all of the vector, or on its lower half.
    pub(super) whole: bool,
    pub(super) immediate: Option<u8>,
}

const fn code(map: u8, pp: u8, code: u8) -> Short {
    Short { map, pp, code, wide: false, whole: true, immediate: None }
}

const fn with(code: Short, immediate: u8) -> Short {
    Short { immediate: Some(immediate), ..code }
}

const fn told(code: Short) -> Short {
    Short { wide: true, ..code }
}

const fn half(code: Short) -> Short {
    Short { whole: false, ..code }
}

pub(super) const LOAD: Short = code(1, 1, 0x10);
pub(super) const STORE: Short = code(1, 1, 0x11);
pub(super) const LOAD_HALF: Short = half(code(1, 0, 0x10));
pub(super) const STORE_HALF: Short = half(code(1, 0, 0x11));
pub(super) const STORE_FIRST: Short = half(code(1, 3, 0x11));
/// Where the first source has its highest bit set; elsewhere zeros, or nothing is stored.
pub(super) const LOAD_SOME: Short = code(2, 1, 0x2d);
pub(super) const STORE_SOME: Short = code(2, 1, 0x2f);
pub(super) const MOVE: Short = code(1, 1, 0x28);
pub(super) const BROADCAST: Short = code(2, 1, 0x19);
/// A word of a general register; the lowest word of a vector, everywhere.
pub(super) const FROM_GENERAL: Short = told(half(code(1, 1, 0x6e)));
pub(super) const BROADCAST_WORD: Short = code(2, 1, 0x59);
pub(super) const ADD: Short = code(1, 1, 0x58);
pub(super) const MUL: Short = code(1, 1, 0x59);
pub(super) const SUB: Short = code(1, 1, 0x5c);
pub(super) const DIV: Short = code(1, 1, 0x5e);
pub(super) const SQRT: Short = code(1, 1, 0x51);
pub(super) const AND: Short = code(1, 1, 0x54);
pub(super) const OR: Short = code(1, 1, 0x56);
pub(super) const XOR: Short = code(1, 1, 0x57);
/// What comes of the target times the first, with the second: added, taken away, or taken from.
pub(super) const TIMES_PLUS: Short = told(code(2, 1, 0xa8));
pub(super) const TIMES_LESS: Short = told(code(2, 1, 0xaa));
pub(super) const TIMES_FROM: Short = told(code(2, 1, 0xac));
/// What comes of the first times the second, with the target.
pub(super) const PLUS_TIMES: Short = told(code(2, 1, 0xb8));
pub(super) const LESS_TIMES: Short = told(code(2, 1, 0xba));
pub(super) const FROM_TIMES: Short = told(code(2, 1, 0xbc));
/// The highest bits, into a general register.
pub(super) const SIGNS: Short = code(1, 1, 0x50);
pub(super) const GATHER: Short = told(code(2, 1, 0x93));
pub(super) const INT_ADD: Short = code(1, 1, 0xd4);
pub(super) const INT_SUB: Short = code(1, 1, 0xfb);
/// The product of the lower halves.
pub(super) const INT_MUL: Short = code(1, 1, 0xf4);
pub(super) const INT_EQUAL: Short = code(2, 1, 0x29);
pub(super) const INT_GREATER: Short = code(2, 1, 0x37);
pub(super) const SHIFT_LEFT: Short = told(code(2, 1, 0x47));
pub(super) const SHIFT_RIGHT: Short = told(code(2, 1, 0x45));
/// By 32 bits: the target is named as the first source, and its own number says in which direction.
pub(super) const SHIFT_HALF: Short = with(code(1, 1, 0x73), 32);
pub(super) const TO_RIGHT: u8 = 2;
pub(super) const TO_LEFT: u8 = 6;
/// The upper halves of the words of the second, the lower ones of the first.
pub(super) const MIX_HALVES: Short = with(code(3, 1, 0x02), 0xaa);
/// The upper half, from the first to the second.
pub(super) const HALF: Short = with(code(3, 1, 0x19), 1);
/// Neighbors change places.
pub(super) const SWAP: Short = with(code(3, 1, 0x05), 5);

/// A comparison of reals.
pub(super) const fn compare(how: u8) -> Short {
    with(code(1, 1, 0xc2), how)
}

/// To an integer: 1 down, 2 up, 3 towards zero.
pub(super) const fn round(how: u8) -> Short {
    with(code(3, 1, 0x09), 8 | how)
}

/// The second source where the mask in this register has bits, else the first.
pub(super) const fn blend(mask: u8) -> Short {
    with(code(3, 1, 0x4b), mask << 4)
}

impl Assembler {
    /// `target = first op second`.
    pub(super) fn short(&mut self, code: Short, target: u8, first: u8, second: From) {
        let Short { map, pp, code, wide, whole, immediate } = code;
        let high = |number: u8| number >> 3 & 1;
        // The fourth bits of the numbers of registers, which are stored negated.
        let (x, b) = match second {
            From::Register(from) => (0, high(from)),
            From::Word(base, _) | From::Words(base, _) => (0, high(base)),
            From::Indexed(base, index, _) | From::Each(base, index, _) => (high(index), high(base)),
            From::Constant(_) | From::Constants(_) => (0, 0),
        };
        let numbers = (high(target) << 7 | x << 6 | b << 5) ^ 0xe0;
        let rest = u8::from(wide) << 7 | (!first & 15) << 3 | u8::from(whole) << 2 | pp;
        self.put(&[0xc4, numbers | map, rest, code]);
        self.second(target, second, immediate.map_or(0, |_| 1));
        self.put(immediate.as_slice());
    }

    /// Compares a general register of four bytes with zero, for a jump.
    pub(super) fn test(&mut self, register: u8) {
        self.put(&[0x85, 0xc0 | register << 3 | register]);
    }

    /// The upper halves of all vectors become zeros: code that knows no such halves need not take care of them.
    pub(super) fn forget_upper(&mut self) {
        self.put(&[0xc5, 0xf8, 0x77]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As another assembler writes them.
    #[test]
    fn instructions_are_the_processors() {
        type Write = fn(&mut Assembler);
        let known: [(Write, &[u8]); 9] = [
            // vaddpd ymm3, ymm12, ymm9
            (|asm| asm.short(ADD, 3, 12, From::Register(9)), &[0xc4, 0xc1, 0x1d, 0x58, 0xd9]),
            // vmulpd ymm9, ymm2, [rdi+64]
            (|asm| asm.short(MUL, 9, 2, From::Words(7, 64)), &[0xc4, 0x61, 0x6d, 0x59, 0x8f, 64, 0, 0, 0]),
            // vmovupd ymm1, [r9+8*rsi]
            (
                |asm| asm.short(LOAD, 1, 0, From::Indexed(9, 6, 0)),
                &[0xc4, 0xc1, 0x7d, 0x10, 0x8c, 0xf1, 0, 0, 0, 0],
            ),
            // vcmppd ymm4, ymm5, ymm6, 14
            (|asm| asm.short(compare(14), 4, 5, From::Register(6)), &[0xc4, 0xe1, 0x55, 0xc2, 0xe6, 14]),
            // vblendvpd ymm1, ymm2, ymm3, ymm14
            (|asm| asm.short(blend(14), 1, 2, From::Register(3)), &[0xc4, 0xe3, 0x6d, 0x4b, 0xcb, 0xe0]),
            // vgatherqpd ymm1, [r8+8*ymm10], ymm14
            (
                |asm| asm.short(GATHER, 1, 14, From::Each(8, 10, 0)),
                &[0xc4, 0x82, 0x8d, 0x93, 0x8c, 0xd0, 0, 0, 0, 0],
            ),
            // vpsrlq ymm14, ymm3, 32
            (
                |asm| asm.short(SHIFT_HALF, TO_RIGHT, 14, From::Register(3)),
                &[0xc4, 0xe1, 0x0d, 0x73, 0xd3, 32],
            ),
            // vmovq xmm5, rax
            (|asm| asm.short(FROM_GENERAL, 5, 0, From::Register(0)), &[0xc4, 0xe1, 0xf9, 0x6e, 0xe8]),
            // vmovmskpd eax, ymm14
            (|asm| asm.short(SIGNS, 0, 0, From::Register(14)), &[0xc4, 0xc1, 0x7d, 0x50, 0xc6]),
        ];
        for (number, (write, expected)) in known.into_iter().enumerate() {
            let mut asm = Assembler::default();
            write(&mut asm);
            assert!(asm.finish().starts_with(expected), "{number}");
        }
    }
}
