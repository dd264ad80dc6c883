//! A tape that runs backward.
//!
//! Every slot has a cell. Entries are gone through from the last to the first; each takes what its slot's cell holds, and adds to the
//! cells of its terms. An entry whose cell holds zero, and nothing else, adds nothing.
//!
//! ```text
//! sweep(tape, n, cells) = while tape is not Start {
//!     n = n - 1;  s = cells[n]
//!     match tape { One(flags, a, c, rest) { cells[a] += ± c · s;  tape = rest }  Two(…) { … } }
//! }
//! ```
//!
//! A tape with nodes has places ([`super::moved`]) beside its cells.

use super::arith::{COEF_A, COEF_B, DIVISOR, NEGATIVE_A, NEGATIVE_B, ONE, START, TERM_A, TERM_B, TWO};
use super::moved::PLACES;
use super::slots::CELLS;
use super::{Helper, state_types};
use crate::{Ad, Code};
use wengert_ir::op::{ArrayOp, Atom, Block, Compare, IntOp, Op, While};
use wengert_ir::program::FuncId;
use wengert_ir::ty::{Ctor, DataId, Ty};
use wengert_prim::RealOp;

/// A term of an entry: where it goes, and what the flags say of it.
struct Term<'a> {
    slot: &'a Atom,
    coef: &'a Atom,
    present: i64,
    negative: i64,
    scaled: i64,
}

impl Ad {
    /// The function that runs tapes of this type: from tape, count and cells to cells.
    pub(super) fn sweep_function(&mut self, tape: DataId) -> FuncId {
        self.recording_helper(Helper::Sweep(tape), vec![CELLS], |ad| {
            let ctors = ad.program.data.at(tape).ctors.clone();
            let [of_tape, of_count] = state_types(tape);
            let mut types = vec![of_tape, of_count, CELLS];
            let names = ["tape", "n", "cells", "places"];
            let has_nodes = ad.recorded.nodes.contains_key(&tape);
            let mut code = Code::new(ad, "sweep");
            let mut init: Vec<Atom> =
                names.iter().zip(&types).map(|(name, ty)| code.b.param((*name).into(), *ty)).collect();
            if let (true, Some(count)) = (has_nodes, init.get(1).cloned()) {
                init.push(code.b.called("places").array(ArrayOp::Replicate, [count, Atom::Int(0)]));
                types.push(PLACES);
            }
            let open = |code: &mut Code<'_>| -> [Atom; 4] {
                code.b.open();
                let mut params = names.iter().zip(&types).map(|(name, ty)| code.b.param((*name).into(), *ty));
                std::array::from_fn(|_| params.next().unwrap_or(Atom::Unit))
            };
            let [list, ..] = open(&mut code);
            let arms = ctors.iter().enumerate().map(|(i, ctor)| {
                code.b.open();
                code.field_params("x", &ctor.fields);
                code.b.close(vec![Atom::Bool(i != START as usize)])
            });
            let arms = arms.collect();
            let more = code.b.called("more").typed1(Ty::BOOL, Op::Match { on: list, arms });
            let cond = code.b.close(vec![more]);
            let [list, count, cells, places] = open(&mut code);
            let mut arms = Vec::new();
            for (i, ctor) in ctors.iter().enumerate() {
                let mut arm = code.sweep_arm(tape, i as u32, ctor, (&list, &count, &cells, &places));
                arm.results.truncate(types.len());
                arms.push(arm);
            }
            let next = code.b.typed(&types, Op::Match { on: list, arms });
            let body = code.b.close(next);
            let op = Op::While(Box::new(While { init, cond, body }));
            let found = code.b.typed(&types, op);
            code.finish(found.into_iter().skip(2).take(1).collect())
        })
    }
}

impl Code<'_> {
    /// The block of a constructor of the tape: the tape, count, cells and places after it.
    fn sweep_arm(
        &mut self,
        tape: DataId,
        index: u32,
        ctor: &Ctor,
        (list, count, cells, places): (&Atom, &Atom, &Atom, &Atom),
    ) -> Block {
        self.b.open();
        let fields = self.field_params("x", &ctor.fields);
        let (mut results, places) = match (index, fields.as_slice()) {
            (ONE, [flags, a, c, rest]) => {
                let one = Term { slot: a, coef: c, present: TERM_A, negative: NEGATIVE_A, scaled: COEF_A };
                (self.entry_back(flags, None, &[one], (rest, count, cells)), places.clone())
            }
            (TWO, [flags, a, b, c, e, d, rest]) => {
                let first = Term { slot: a, coef: c, present: TERM_A, negative: NEGATIVE_A, scaled: COEF_A };
                let second = Term { slot: b, coef: e, present: TERM_B, negative: NEGATIVE_B, scaled: COEF_B };
                (self.entry_back(flags, Some(d), &[first, second], (rest, count, cells)), places.clone())
            }
            (START, _) | (_, []) => (vec![list.clone(), count.clone(), cells.clone()], places.clone()),
            (node, fields) => self.node_back(tape, node, fields, (cells, places)),
        };
        results.push(places);
        self.b.close(results)
    }

    fn entry_back(
        &mut self,
        flags: &Atom,
        divisor: Option<&Atom>,
        terms: &[Term<'_>],
        (rest, count, cells): (&Atom, &Atom, &Atom),
    ) -> Vec<Atom> {
        let count =
            self.b.called("n").typed1(Ty::INT, Op::Int(IntOp::Sub, vec![count.clone(), Atom::Int(1)]));
        let cotangent = self.b.called("s").array(ArrayOp::Index, [cells.clone(), count.clone()]);
        let cond = self.is_zero(&cotangent);
        let then = Block { results: vec![cells.clone()], ..Block::default() };
        self.b.open();
        let scaled = match divisor {
            None => cotangent,
            Some(divisor) => self.only_if(flags, DIVISOR, cotangent, |code, s| {
                code.b.real(RealOp::DivZero, [s, divisor.clone()])
            }),
        };
        let mut cells = cells.clone();
        for term in terms {
            let has = self.has(flags, term.present);
            self.b.open();
            let summand = self.only_if(flags, term.scaled, scaled.clone(), |code, s| {
                code.b.real(RealOp::MulZero, [s, term.coef.clone()])
            });
            let negative = self.has(flags, term.negative);
            let added = self.add_to_cell(&cells, term.slot, &summand, Some(&negative));
            let then = self.b.close(vec![added]);
            let otherwise = Block { results: vec![cells], ..Block::default() };
            cells = self.b.called("cells").typed1(CELLS, Op::If { cond: has, then, otherwise });
        }
        let otherwise = self.b.close(vec![cells]);
        let cells = self.b.called("cells").typed1(CELLS, Op::If { cond, then, otherwise });
        vec![rest.clone(), count, cells]
    }

    fn has(&mut self, flags: &Atom, flag: i64) -> Atom {
        let bit = self.b.int(IntOp::BitAnd, [flags.clone(), Atom::Int(flag)]);
        self.b.compare(Compare::Ne, bit, Atom::Int(0))
    }

    /// What is made of a number if the flags say so; the number itself else.
    fn only_if(
        &mut self,
        flags: &Atom,
        flag: i64,
        number: Atom,
        make: impl FnOnce(&mut Self, Atom) -> Atom,
    ) -> Atom {
        let cond = self.has(flags, flag);
        self.b.open();
        let made = make(self, number.clone());
        let then = self.b.close(vec![made]);
        let otherwise = Block { results: vec![number], ..Block::default() };
        self.b.called("s").typed1(Ty::REAL, Op::If { cond, then, otherwise })
    }
}
