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

use super::entries::{COEF_A, COEF_B, NEGATIVE_A, NEGATIVE_B, ONE, QUOTIENT, START, TERM_B, TWO};
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
    negative: i64,
    scaled: i64,
    /// Whether it may not be there.
    open: bool,
}

/// An entry: the flags, if it has such, its terms and its divisor.
struct Entry<'a> {
    flags: Option<&'a Atom>,
    terms: Vec<Term<'a>>,
    divisor: Option<&'a Atom>,
    rest: &'a Atom,
}

impl<'a> Entry<'a> {
    /// The entry with this constructor and these fields; `None` if it is a node.
    fn of(ctor: u32, fields: &'a [Atom], has_flags: bool) -> Option<Entry<'a>> {
        let (flags, fields) = match fields {
            [flags, fields @ ..] if has_flags => (Some(flags), fields),
            fields => (None, fields),
        };
        let first = |slot, coef| Term { slot, coef, negative: NEGATIVE_A, scaled: COEF_A, open: false };
        let second = |slot, coef, open| Term { slot, coef, negative: NEGATIVE_B, scaled: COEF_B, open };
        let (terms, divisor, rest) = match (ctor, fields) {
            (ONE, [a, c, rest]) => (vec![first(a, c)], None, rest),
            (TWO, [a, b, c, e, rest]) => (vec![first(a, c), second(b, e, false)], None, rest),
            (QUOTIENT, [a, b, c, e, d, rest]) => (vec![first(a, c), second(b, e, true)], Some(d), rest),
            _ => return None,
        };
        Some(Entry { flags, terms, divisor, rest })
    }
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
                let mut arm = code.sweep_arm(tape, i as u32, ctor, (&count, &cells, &places));
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
        (count, cells, places): (&Atom, &Atom, &Atom),
    ) -> Block {
        self.b.open();
        let fields = self.field_params("x", &ctor.fields);
        let entry = Entry::of(index, &fields, !self.ad.is_last(tape));
        let (mut results, places) = match (entry, fields.as_slice()) {
            (Some(entry), _) => (self.entry_back(&entry, count, cells), places.clone()),
            (None, []) => {
                // It is there again, so that what was there may be taken apart.
                let end = self.b.called("tape").make(tape, START, []);
                (vec![end, count.clone(), cells.clone()], places.clone())
            }
            (None, fields) => self.node_back(tape, index, fields, (cells, places)),
        };
        results.push(places);
        self.b.close(results)
    }

    fn entry_back(&mut self, entry: &Entry<'_>, count: &Atom, cells: &Atom) -> Vec<Atom> {
        let count =
            self.b.called("n").typed1(Ty::INT, Op::Int(IntOp::Sub, vec![count.clone(), Atom::Int(1)]));
        let cotangent = self.b.called("s").array(ArrayOp::Index, [cells.clone(), count.clone()]);
        let cond = self.is_zero(&cotangent);
        let then = Block { results: vec![cells.clone()], ..Block::default() };
        self.b.open();
        let scaled = match entry.divisor {
            None => cotangent,
            Some(divisor) => self.b.real(RealOp::DivZero, [cotangent, divisor.clone()]),
        };
        let mut cells = cells.clone();
        for term in &entry.terms {
            if !term.open {
                cells = self.term_back(term, entry.flags, &scaled, &cells);
                continue;
            }
            let none = match entry.flags {
                Some(flags) => {
                    let there = self.has(flags, TERM_B);
                    self.b.typed1(Ty::BOOL, Op::Not(there))
                }
                None => self.none_of(term.slot),
            };
            let then = Block { results: vec![cells.clone()], ..Block::default() };
            self.b.open();
            let added = self.term_back(term, entry.flags, &scaled, &cells);
            let otherwise = self.b.close(vec![added]);
            cells = self.b.called("cells").typed1(CELLS, Op::If { cond: none, then, otherwise });
        }
        let otherwise = self.b.close(vec![cells]);
        let cells = self.b.called("cells").typed1(CELLS, Op::If { cond, then, otherwise });
        vec![entry.rest.clone(), count, cells]
    }

    /// Cells with what a term adds. That is added even if it is zero where nothing is differentiated of it.
    fn term_back(&mut self, term: &Term<'_>, flags: Option<&Atom>, scaled: &Atom, cells: &Atom) -> Atom {
        let Some(flags) = flags else {
            let summand = self.b.real(RealOp::MulZero, [scaled.clone(), term.coef.clone()]);
            let args = [cells.clone(), term.slot.clone(), summand];
            return self.b.called("cells").array(ArrayOp::AddAt, args);
        };
        let summand = self.only_if(flags, term.scaled, scaled.clone(), |code, s| {
            code.b.real(RealOp::MulZero, [s, term.coef.clone()])
        });
        let negative = self.has(flags, term.negative);
        self.add_to_cell(cells, term.slot, &summand, Some(&negative))
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
