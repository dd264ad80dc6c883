//! Tapes: what numbers with slots were computed of, the last entry first; and how they run.
//!
//! ```text
//! start(n)                                    the slots 0 to n - 1 are those of the point
//! one(i, j, minus, c, d, rest)                slot i = ± c · slot j / d
//! two(i, j, minus, c, j', minus', c', d, rest)    slot i = (± c · slot j ± c' · slot j') / d
//! ```
//!
//! And there are [`nodes`], which need the program to run.
//!
//! What is 1 is left out: no number. A cell for each slot holds its cotangent, as a tape runs backward, or its tangent, as it runs forward.

use super::walks::{Walk, Way};
use super::work::{NONE, Work};
use super::{Helper, Tagged, nodes};
use wengert_ir::Builder;
use wengert_ir::op::{ArrayOp, Atom, Block, Op};
use wengert_ir::program::FuncId;
use wengert_ir::ty::{Elem, Ty};
use wengert_prim::RealOp;

/// The constructors of tapes.
const START: u32 = 0;
const ONE: u32 = 1;
const TWO: u32 = 2;

/// A term of an entry.
pub(super) struct Term {
    pub(super) slot: Atom,
    pub(super) negative: bool,
    pub(super) coef: Option<Atom>,
}

/// An entry, taken apart.
struct Entry<'a> {
    own: &'a Atom,
    /// Slot, whether it is subtracted, and what it is multiplied with.
    terms: Vec<[&'a Atom; 3]>,
    divisor: &'a Atom,
    rest: &'a Atom,
}

fn entry(ctor: u32, fields: &[Atom]) -> Option<Entry<'_>> {
    match (ctor, fields) {
        (ONE, [own, a, minus, c, divisor, rest]) => {
            Some(Entry { own, terms: vec![[a, minus, c]], divisor, rest })
        }
        (TWO, [own, a, minus, c, b, other, d, divisor, rest]) => {
            Some(Entry { own, terms: vec![[a, minus, c], [b, other, d]], divisor, rest })
        }
        _ => None,
    }
}

impl Work<'_> {
    fn cells_ty(&self) -> Ty {
        Ty::Array(Elem::Data(self.to.number), 1)
    }

    /// A tape for so many numbers begins; at which place.
    pub(super) fn begin_tape(&mut self, slots: Atom) -> Atom {
        let (tape, tapes) = (self.to.tape, self.tapes());
        let at = self.length(&tapes);
        let start = self.b.make(tape, START, [slots]);
        let one = self.b.array(ArrayOp::Literal, [start]);
        let tapes = self.b.called("tapes").array(ArrayOp::Concat, [tapes, one]);
        self.set_tapes(tapes);
        at
    }

    /// The last tape ends.
    pub(super) fn end_tape(&mut self, at: &Atom) -> Atom {
        let tapes = self.tapes();
        let tape = self.b.called("tape").array(ArrayOp::Index, [tapes.clone(), at.clone()]);
        let before = self.b.called("tapes").array(ArrayOp::Slice, [tapes, Atom::Int(0), at.clone()]);
        self.set_tapes(before);
        tape
    }

    /// An entry, of one or two terms; its slot.
    pub(super) fn note(&mut self, at: &Atom, terms: Vec<Term>, divisor: Option<Atom>) -> Atom {
        let tapes = self.tapes();
        let data = self.to.tape;
        let tape = self.b.called("tape").array(ArrayOp::Index, [tapes.clone(), at.clone()]);
        let own = self.slots_of(&tape);
        let mut fields = vec![own.clone()];
        let ctor = if terms.len() == 1 { ONE } else { TWO };
        for Term { slot, negative, coef } in terms {
            let coef = coef.unwrap_or_else(|| self.none());
            fields.extend([slot, Atom::Bool(negative), coef]);
        }
        fields.push(divisor.unwrap_or_else(|| self.none()));
        fields.push(tape);
        let entry = self.b.make(data, ctor, fields);
        let tapes = self.b.called("tapes").array(ArrayOp::Set, [tapes, at.clone(), entry]);
        self.set_tapes(tapes);
        own
    }

    /// How many slots there are.
    pub(super) fn slots_of(&mut self, tape: &Atom) -> Atom {
        let func = self.to.count_function();
        self.b.call(func, [tape.clone()], &[Ty::INT]).remove(0)
    }

    /// A cell for each slot, all empty.
    pub(super) fn cells_of(&mut self, tape: &Atom) -> Atom {
        let slots = self.slots_of(tape);
        let none = self.none();
        self.b.called("cells").array(ArrayOp::Replicate, [slots, none])
    }

    /// Adds to what a cell has gathered, or takes from it.
    pub(super) fn gather(&mut self, cells: Atom, slot: &Atom, more: Atom, negative: bool) -> Atom {
        let func = self.to.gather_function(negative);
        let ty = self.cells_ty();
        let found = self.call_number(func, vec![cells, slot.clone(), more], &[ty]);
        found.into_iter().next().unwrap_or(Atom::Unit)
    }

    /// Runs a tape backward.
    pub(super) fn backward(&mut self, tape: Atom, cells: Atom) -> Atom {
        self.run(Helper::Backward, tape, cells)
    }

    /// Runs it forward.
    pub(super) fn onward(&mut self, tape: Atom, cells: Atom) -> Atom {
        self.run(Helper::Forward, tape, cells)
    }

    fn run(&mut self, how: Helper, tape: Atom, cells: Atom) -> Atom {
        let func = self.to.running_function(how);
        self.run_by(func, tape, cells)
    }

    /// What runs a tape may run the program, which needs all that is handed on.
    fn run_by(&mut self, func: FuncId, tape: Atom, cells: Atom) -> Atom {
        let ty = self.cells_ty();
        let found = if self.to.has_nodes() {
            let args: Vec<Atom> = self.state_atoms().into_iter().chain([tape, cells]).collect();
            let types: Vec<Ty> = self.state_types().into_iter().chain([ty]).collect();
            let found = self.b.call(func, args, &types);
            self.take_state(found)
        } else {
            self.call_number(func, vec![tape, cells], &[ty])
        };
        found.into_iter().next().unwrap_or(Atom::Unit)
    }

    /// What is in a cell; none if nothing has been gathered.
    pub(super) fn cell(&mut self, cells: &Atom, slot: &Atom) -> Atom {
        self.b.called("cell").array(ArrayOp::Index, [cells.clone(), slot.clone()])
    }

    /// The same; zero if nothing has been gathered.
    pub(super) fn cell_or_zero(&mut self, cells: &Atom, slot: &Atom) -> Atom {
        let cell = self.cell(cells, slot);
        self.or(&cell, |work| work.plain(Atom::Real(0.0)))
    }

    /// A number, or something else if it is none.
    fn or(&mut self, x: &Atom, other: impl FnOnce(&mut Self) -> Atom) -> Atom {
        let is_none = self.is_none(x);
        self.choose_number(is_none, other, |_| x.clone())
    }

    pub(super) fn is_none(&mut self, x: &Atom) -> Atom {
        self.apart(|work| work.cases_of_number(x, Ty::BOOL, &mut |_, ctor, _| Some(Atom::Bool(ctor == NONE))))
    }

    /// What goes backward through an entry.
    fn entry_backward(&mut self, entry: &Entry<'_>, cells: Atom) -> Atom {
        let cell = self.cell(&cells, entry.own);
        let ty = self.cells_ty();
        let none = self.is_none(&cell);
        let unchanged = cells.clone();
        let found = self.choose(
            none,
            &[ty],
            |_| vec![unchanged],
            |work| {
                let plain = work.is_none(entry.divisor);
                let scaled = work.choose_number(
                    plain,
                    |_| cell.clone(),
                    |work| work.real(RealOp::DivZero, &[cell.clone(), entry.divisor.clone()]),
                );
                let mut cells = cells;
                for [slot, minus, coef] in &entry.terms {
                    let summand = work.times(&scaled, coef);
                    let before = cells;
                    let found = work.choose(
                        (*minus).clone(),
                        &[ty],
                        |work| vec![work.gather(before.clone(), slot, summand.clone(), true)],
                        |work| vec![work.gather(before.clone(), slot, summand.clone(), false)],
                    );
                    cells = found.into_iter().next().unwrap_or(Atom::Unit);
                }
                vec![cells]
            },
        );
        found.into_iter().next().unwrap_or(Atom::Unit)
    }

    /// A number times what an entry has it multiplied with.
    fn times(&mut self, x: &Atom, coef: &Atom) -> Atom {
        let plain = self.is_none(coef);
        self.choose_number(
            plain,
            |_| x.clone(),
            |work| work.real(RealOp::MulZero, &[x.clone(), coef.clone()]),
        )
    }

    /// What goes forward through an entry. Positive terms come first, so that no negation is needed where a subtraction does.
    fn entry_forward(&mut self, entry: &Entry<'_>, cells: Atom) -> Atom {
        let mut sum = self.none();
        for negative in [false, true] {
            for [slot, minus, coef] in &entry.terms {
                let cell = self.cell(&cells, slot);
                let none = self.is_none(&cell);
                let (now, later) = ((*minus).clone(), self.b.typed1(Ty::BOOL, Op::Not((*minus).clone())));
                let other = if negative { later } else { now };
                let skips = self.b.select(none, Atom::Bool(true), other);
                let before = sum.clone();
                sum = self.choose_number(
                    skips,
                    |_| before.clone(),
                    |work| {
                        let summand = work.times(&cell, coef);
                        let first = work.is_none(&before);
                        let op = if negative { RealOp::Sub } else { RealOp::Add };
                        work.choose_number(
                            first,
                            |work| {
                                if negative {
                                    work.real(RealOp::Neg, std::slice::from_ref(&summand))
                                } else {
                                    summand.clone()
                                }
                            },
                            |work| work.real(op, &[before.clone(), summand.clone()]),
                        )
                    },
                );
            }
        }
        let nothing = self.is_none(&sum);
        let ty = self.cells_ty();
        let unchanged = cells.clone();
        let found = self.choose(
            nothing,
            &[ty],
            |_| vec![unchanged],
            |work| {
                let plain = work.is_none(entry.divisor);
                let divided = work.choose_number(
                    plain,
                    |_| sum.clone(),
                    |work| work.real(RealOp::DivZero, &[sum.clone(), entry.divisor.clone()]),
                );
                vec![work.set_tangent(cells, entry.own, &divided)]
            },
        );
        found.into_iter().next().unwrap_or(Atom::Unit)
    }

    /// A tangent in its cell, unless it is zero.
    pub(super) fn set_tangent(&mut self, cells: Atom, slot: &Atom, tangent: &Atom) -> Atom {
        let zero = self.is_zero(tangent);
        let none = self.none();
        let kept = self.choose_number(zero, |_| none, |_| tangent.clone());
        self.b.called("cells").array(ArrayOp::Set, [cells, slot.clone(), kept])
    }
}

impl Tagged {
    fn count_function(&mut self) -> FuncId {
        let (ty, tape) = (self.tape_ty(), self.tape);
        self.helper(Helper::Count, "slots", |work| {
            let on = work.b.param("tape".into(), ty);
            work.cases(on, tape, &[Ty::INT], &mut |work, _, fields| {
                let own = fields.first().cloned().unwrap_or(Atom::Int(0));
                vec![if fields.len() == 1 { own } else { work.one_more(&own) }]
            })
        })
    }

    /// From cells, a slot, and what is added there.
    fn gather_function(&mut self, negative: bool) -> FuncId {
        self.helper(Helper::Gather(negative), "gather", |work| {
            let (num, ty) = (work.to.num(), work.cells_ty());
            work.tape_params();
            let cells = work.b.param("cells".into(), ty);
            let slot = work.b.param("i".into(), Ty::INT);
            let more = work.b.param("x".into(), num);
            let zero = work.is_zero(&more);
            let unchanged = cells.clone();
            work.choose(
                zero,
                &[ty],
                |_| vec![unchanged],
                |work| {
                    let cell = work.cell(&cells, &slot);
                    let first = work.is_none(&cell);
                    let op = if negative { RealOp::Sub } else { RealOp::Add };
                    let sum = work.choose_number(
                        first,
                        |work| {
                            if negative {
                                work.real(RealOp::Neg, std::slice::from_ref(&more))
                            } else {
                                more.clone()
                            }
                        },
                        |work| work.real(op, &[cell.clone(), more.clone()]),
                    );
                    vec![work.b.called("cells").array(ArrayOp::Set, [cells, slot.clone(), sum])]
                },
            )
        })
    }

    /// From a tape and cells: those after it has run.
    fn running_function(&mut self, how: Helper) -> FuncId {
        if let Some(known) = self.helpers.get(&how) {
            return *known;
        }
        let back = how == Helper::Backward;
        let name = if back { "backward" } else { "forward" };
        let own = self.reserve(name);
        self.helpers.insert(how, own);
        let (ty, data) = (self.tape_ty(), self.tape);
        let mut work = Work::new(self, Builder::new(name.into()));
        let cells_ty = work.cells_ty();
        if work.to.has_nodes() {
            work.state_params();
        } else {
            work.tape_params();
        }
        let tape = work.b.param("tape".into(), ty);
        let cells = work.b.param("cells".into(), cells_ty);
        let found = work.cases(tape, data, &[cells_ty], &mut |work, ctor, fields| {
            let mut next =
                |work: &mut Work<'_>, rest: &Atom, cells: Atom| work.run_by(own, rest.clone(), cells);
            if let Some(entry) = entry(ctor, &fields) {
                return vec![if back {
                    let cells = work.entry_backward(&entry, cells.clone());
                    next(work, entry.rest, cells)
                } else {
                    let cells = next(work, entry.rest, cells.clone());
                    work.entry_forward(&entry, cells)
                }];
            }
            vec![work.run_node((ctor, &fields), &cells, back, &mut next).unwrap_or_else(|| cells.clone())]
        });
        let made = work.finish(found);
        *self.program.funcs.at_mut(own) = made;
        own
    }
}

impl Work<'_> {
    /// The end of one side of a branch that gives a number.
    pub(super) fn close_side(&mut self, found: Atom) -> Block {
        let all = self.state_atoms().into_iter().chain([found]).collect();
        self.b.close(all)
    }
}

/// A walk through the numbers on a tape.
pub(super) fn walk_tape(work: &mut Work<'_>, walk: Walk, way: &mut Way, tape: &Atom) -> Option<Atom> {
    let types = |atoms: &[Atom]| -> Vec<Ty> { atoms.iter().map(|atom| work.b.type_of(atom)).collect() };
    let (given, carried) = (types(&way.given), types(&way.carried));
    let func = work.to.walking_function(walk, &given, &carried);
    let args: Vec<Atom> = way.given.iter().chain(&way.carried).chain([tape]).cloned().collect();
    let made = walk.makes().then(|| work.to.tape_ty());
    let results: Vec<Ty> = carried.into_iter().chain(made).collect();
    let mut found = work.b.call(func, args, &results);
    let made = found.split_off(way.carried.len().min(found.len()));
    way.carried = found;
    made.into_iter().next()
}

impl Tagged {
    fn walking_function(&mut self, walk: Walk, given: &[Ty], carried: &[Ty]) -> FuncId {
        if let Some(known) = self.helpers.get(&Helper::Tape(walk)) {
            return *known;
        }
        let id = self.reserve("tape");
        self.helpers.insert(Helper::Tape(walk), id);
        let (ty, data, number) = (self.tape_ty(), self.tape, self.num());
        let mut work = Work::new(self, Builder::new("tape".into()));
        let given: Vec<Atom> = given.iter().map(|ty| work.b.param("g".into(), *ty)).collect();
        let begun: Vec<Atom> = carried.iter().map(|ty| work.b.param("c".into(), *ty)).collect();
        let tape = work.b.param("tape".into(), ty);
        let made = walk.makes().then_some(ty);
        let results: Vec<Ty> = carried.iter().copied().chain(made).collect();
        let found = work.cases(tape, data, &results, &mut |work, ctor, fields| {
            let mut way = Way { given: given.clone(), carried: begun.clone() };
            let mut all = Vec::new();
            let (fields, rest) = match fields.split_last() {
                // The rest of the tape comes last.
                Some((rest, first)) if work.to.kind_of(ctor).is_some() => {
                    (nodes::walk_node(work, walk, &mut way, ctor, first), vec![rest.clone()])
                }
                _ => (Vec::new(), fields),
            };
            all.extend(fields);
            for field in &rest {
                let of = work.b.type_of(field);
                let made = if of == ty {
                    walk_tape(work, walk, &mut way, field)
                } else if of == number {
                    work.walk_coefficient(walk, &mut way, field)
                } else {
                    Some(field.clone())
                };
                all.extend(made);
            }
            let made = walk.makes().then(|| work.b.make(data, ctor, all));
            way.carried.into_iter().chain(made).collect()
        });
        let made = work.finish(found);
        *self.program.funcs.at_mut(id) = made;
        id
    }
}

impl Work<'_> {
    /// What a walk makes of a number, or of none.
    fn walk_coefficient(&mut self, walk: Walk, way: &mut Way, x: &Atom) -> Option<Atom> {
        let none = self.is_none(x);
        let types: Vec<Ty> = way.carried.iter().map(|atom| self.b.type_of(atom)).collect();
        let made = walk.makes().then(|| self.to.num());
        let types: Vec<Ty> = types.into_iter().chain(made).collect();
        let unchanged: Vec<Atom> = way.carried.iter().cloned().chain(made.map(|_| x.clone())).collect();
        let start = way.clone();
        let mut found = self.choose(
            none,
            &types,
            |_| unchanged,
            |work| {
                let mut way = start;
                let made = work.walk(walk, Ty::REAL, &mut way, std::slice::from_ref(x));
                way.carried.into_iter().chain(made).collect()
            },
        );
        let made = found.split_off(way.carried.len().min(found.len()));
        way.carried = found;
        made.into_iter().next()
    }
}
