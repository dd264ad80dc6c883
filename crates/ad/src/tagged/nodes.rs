//! What needs the program to run again when a tape runs: pullbacks that rules give, and checkpoints. The tape has a node for each, which
//! gives slots to all numbers of a result.
//!
//! ```text
//! node(last, first, tag, pullback, x, y, rest)    slots `first` to `last`: backward pullback(w), which goes to the slots of x
//! node(last, first, tag, args, y, rest)           the same of a checkpoint: its function is run again on a tape of its own
//! leaf(i, rest)                                   slot i, to which nothing leads
//! ```
//!
//! Of `x` there are the slots, of `y` the shape.

use super::walks::{Walk, Way};
use super::work::Work;
use super::{Helper, Tagged};
use rustc_hash::FxHashMap;
use wengert_ir::Builder;
use wengert_ir::op::{ArrayOp, Atom, Compare, IntOp, Op, Rule};
use wengert_ir::program::{FuncId, Program};
use wengert_ir::ty::{Ctor, Elem, Ty};

/// The constructor of slots to which nothing leads, and the first one of nodes.
const LEAF: u32 = 3;
const NODES: u32 = 4;

/// What runs when a node does.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Runs {
    /// The pullbacks of a rule, which this function applies.
    Pullback(FuncId, FuncId),
    /// The function of a checkpoint.
    Again(FuncId),
}

/// A kind of nodes. All types are those of the program.
#[derive(Clone)]
pub(super) struct Kind {
    pub(super) runs: Runs,
    /// The function as it is run again.
    again: FuncId,
    /// The types of what is kept: the pullback, or the arguments.
    kept: Vec<Ty>,
    /// Of the point, if that is kept besides.
    point: Vec<Ty>,
    results: Vec<Ty>,
}

/// A node, taken apart.
struct Node<'a> {
    ends: [&'a Atom; 2],
    tag: &'a Atom,
    kept: &'a [Atom],
    point: &'a [Atom],
    shape: &'a [Atom],
    pub(super) rest: &'a Atom,
}

impl Kind {
    fn apart<'a>(&self, fields: &'a [Atom]) -> Option<Node<'a>> {
        let ([last, first, tag], rest) = fields.split_first_chunk()?;
        let (rest, kept) = rest.split_last()?;
        let (kept, more) = kept.split_at_checked(self.kept.len())?;
        let (point, shape) = more.split_at_checked(self.point.len())?;
        Some(Node { ends: [last, first], tag, kept, point, shape, rest })
    }
}

/// The kinds of nodes of a program.
pub(super) fn kinds(program: &Program, again: &FxHashMap<FuncId, FuncId>) -> Vec<Kind> {
    let mut all: Vec<Kind> = Vec::new();
    for (_, func) in program.funcs.iter() {
        func.body.all_stmts(&mut |stmt| {
            let kind = match &stmt.op {
                Op::Custom(parts) => match parts.rule {
                    Rule::Vjp(rule, apply) => {
                        let given = program.funcs.at(rule).results.last().copied();
                        let point = parts.point.iter().map(|x| func.type_of(x)).collect();
                        let results = program.funcs.at(parts.func).results.clone();
                        let runs = Runs::Pullback(rule, apply);
                        Some(Kind { runs, again: apply, kept: given.into_iter().collect(), point, results })
                    }
                    Rule::Jvp(_) => None,
                },
                Op::Call { func: of, args, checkpoint: true } => {
                    let kept = args.iter().map(|arg| func.type_of(arg)).collect();
                    let results = program.funcs.at(*of).results.clone();
                    let own = again.get(of).copied().unwrap_or(*of);
                    Some(Kind { runs: Runs::Again(*of), again: own, kept, point: Vec::new(), results })
                }
                _ => None,
            };
            if let Some(kind) = kind
                && !all.iter().any(|known| known.runs == kind.runs)
            {
                all.push(kind);
            }
            true
        });
    }
    all
}

impl Tagged {
    /// The constructors of nodes.
    pub(super) fn node_ctors(&mut self) -> Vec<Ctor> {
        let tape = self.tape_ty();
        let mut all = vec![Ctor { name: "leaf".into(), fields: vec![Ty::INT, tape] }];
        for Kind { kept, point, results, .. } in self.kinds.clone() {
            let made = self.tys(&[kept, point, results].concat());
            let fields = [Ty::INT; 3].into_iter().chain(made).chain([tape]).collect();
            all.push(Ctor { name: "node".into(), fields });
        }
        all
    }

    /// Whether anything runs when a tape does.
    pub(super) fn has_nodes(&self) -> bool {
        self.goes_back && !self.kinds.is_empty()
    }

    /// The kind with this constructor.
    pub(super) fn kind_of(&self, ctor: u32) -> Option<&Kind> {
        self.kinds.get(ctor.checked_sub(NODES)? as usize)
    }

    /// What a node is of that runs this.
    fn kind(&self, runs: Runs) -> Option<(u32, Kind)> {
        let mut all = (NODES..).zip(&self.kinds);
        all.find(|(_, kind)| kind.runs == runs).map(|(ctor, kind)| (ctor, kind.clone()))
    }

    /// A function that is run again when the tape runs, with its arguments: it notes a node.
    pub(super) fn checkpointed_function(&mut self, func: FuncId) -> Option<FuncId> {
        let (ctor, kind) = self.kind(Runs::Again(func))?;
        let holds = |ty: &Ty| match ty.elem() {
            Elem::Data(data) => super::functions::holds_functions(&self.program, data),
            Elem::Real | Elem::Int | Elem::Bool | Elem::Text | Elem::Unit => false,
        };
        if !self.goes_back || kind.results.iter().any(holds) {
            return None;
        }
        let helper = Helper::Again(func);
        if let Some(known) = self.helpers.get(&helper) {
            return Some(*known);
        }
        let name = self.program.funcs.at(func).name;
        let id = self.reserve(name.as_str());
        self.helpers.insert(helper, id);
        let types = self.tys(&kind.kept);
        let mut work = Work::new(self, Builder::new(name));
        work.state_params();
        let args: Vec<Atom> = types.into_iter().map(|ty| work.b.param("x".into(), ty)).collect();
        let found = work.checkpoint(func, (ctor, &kind), &args);
        let made = work.finish(found);
        *self.program.funcs.at_mut(id) = made;
        Some(id)
    }
}

/// The largest tag, its mode, and the place of the tape or the order of the series.
pub(super) struct Largest {
    pub(super) tag: Atom,
    pub(super) mode: Atom,
    pub(super) at: Atom,
}

impl Work<'_> {
    /// The largest tag in some values, -1 if there is none.
    pub(super) fn largest(&mut self, xs: &[Atom], types: &[Ty]) -> Largest {
        let carried = vec![Atom::Int(-1), Atom::Int(0), Atom::Int(0)];
        let mut way = Way { given: Vec::new(), carried };
        self.walk_all(Walk::Largest, types, &mut way, &[xs]);
        let [tag, mode, at] = <[Atom; 3]>::try_from(way.carried).unwrap_or([const { Atom::Unit }; 3]);
        Largest { tag, mode, at }
    }

    /// A walk through several values, or pairs.
    pub(super) fn walk_all(&mut self, walk: Walk, types: &[Ty], way: &mut Way, xs: &[&[Atom]]) -> Vec<Atom> {
        let mut made = Vec::new();
        for (place, ty) in types.iter().enumerate() {
            let parts: Vec<Atom> = xs.iter().filter_map(|xs| xs.get(place).cloned()).collect();
            made.extend(self.walk(walk, *ty, way, &parts));
        }
        made
    }

    /// The same where nothing is carried.
    pub(super) fn walked_all(
        &mut self,
        walk: Walk,
        types: &[Ty],
        given: &[Atom],
        xs: &[&[Atom]],
    ) -> Vec<Atom> {
        let mut way = Way { given: given.to_vec(), carried: Vec::new() };
        self.walk_all(walk, types, &mut way, xs)
    }

    /// A walk that carries one thing and makes nothing: what it carries in the end.
    fn gathered(
        &mut self,
        walk: Walk,
        types: &[Ty],
        (given, first): (&[Atom], Atom),
        xs: &[&[Atom]],
    ) -> Atom {
        let mut way = Way { given: given.to_vec(), carried: vec![first] };
        self.walk_all(walk, types, &mut way, xs);
        way.carried.into_iter().next().unwrap_or(Atom::Unit)
    }

    /// A slot to which nothing leads.
    pub(super) fn leaf(&mut self, at: &Atom) -> Atom {
        let (tapes, data) = (self.tapes(), self.to.tape);
        let tape = self.b.called("tape").array(ArrayOp::Index, [tapes.clone(), at.clone()]);
        let own = self.slots_of(&tape);
        let entry = self.b.make(data, LEAF, [own.clone(), tape]);
        let tapes = self.b.called("tapes").array(ArrayOp::Set, [tapes, at.clone(), entry]);
        self.set_tapes(tapes);
        own
    }

    /// A node on the tape at a place: the result, with its slots.
    pub(super) fn push_node(
        &mut self,
        runs: Runs,
        (tag, at): (&Atom, &Atom),
        kept: Vec<Atom>,
        values: &[Atom],
    ) -> Vec<Atom> {
        let Some((ctor, kind)) = self.to.kind(runs) else { return values.to_vec() };
        let count = self.gathered(Walk::Leaves, &kind.results, (&[], Atom::Int(0)), &[values]);
        let shape = self.walked_all(Walk::Constant, &kind.results, &[], &[values]);
        let (tapes, data) = (self.tapes(), self.to.tape);
        let tape = self.b.called("tape").array(ArrayOp::Index, [tapes.clone(), at.clone()]);
        let first = self.slots_of(&tape);
        let end = self.b.int(IntOp::Add, [first.clone(), count]);
        let last = self.b.int(IntOp::Sub, [end, Atom::Int(1)]);
        let fields: Vec<Atom> =
            [last, first.clone(), tag.clone()].into_iter().chain(kept).chain(shape).chain([tape]).collect();
        let node = self.b.make(data, ctor, fields);
        let tapes = self.b.called("tapes").array(ArrayOp::Set, [tapes, at.clone(), node]);
        self.set_tapes(tapes);
        let mut way = Way { given: vec![tag.clone(), at.clone()], carried: vec![first] };
        self.walk_all(Walk::Outputs, &kind.results, &mut way, &[values])
    }

    /// Calls the function without what varies with a slot, and notes a node, if that is the largest tag.
    fn checkpoint(&mut self, func: FuncId, (_, kind): (u32, &Kind), args: &[Atom]) -> Vec<Atom> {
        let Largest { tag, mode, at } = self.largest(args, &kind.kept);
        let noted = self.b.compare(Compare::Eq, mode, Atom::Int(Walk::NOTED_MODE));
        let types = self.to.tys(&kind.results);
        self.choose(
            noted,
            &types,
            |work| {
                work.refuse_marked(&tag, args, &kind.kept);
                let inside = work.walked_all(Walk::Without, &kind.kept, std::slice::from_ref(&tag), &[args]);
                let values = work.call_source(func, inside, &kind.results);
                work.push_node(Runs::Again(func), (&tag, &at), args.to_vec(), &values)
            },
            |work| work.call_source(func, args.to_vec(), &kind.results),
        )
    }

    /// Whether a slot has gathered something.
    fn any_cell(&mut self, cells: &Atom, [last, first]: [&Atom; 2]) -> Atom {
        let sum = self.b.int(IntOp::Sub, [last.clone(), first.clone()]);
        let count = self.one_more(&sum);
        self.apart(|work| {
            let init = vec![Atom::Bool(false)];
            let found = work.carrying(count, Vec::new(), init, &[], |work, i, carried, _| {
                let slot = work.b.int(IntOp::Add, [first.clone(), i]);
                let cell = work.cell(cells, &slot);
                let none = work.is_none(&cell);
                let so_far = carried.first().cloned().unwrap_or(Atom::Bool(false));
                let some = work.b.typed1(Ty::BOOL, Op::Not(none));
                (vec![work.b.select(so_far, Atom::Bool(true), some)], Vec::new())
            });
            found.into_iter().next().unwrap_or(Atom::Bool(true))
        })
    }

    /// What goes backward or forward through a node, and what was before it on the tape.
    pub(super) fn run_node(
        &mut self,
        (ctor, fields): (u32, &[Atom]),
        cells: &Atom,
        back: bool,
        next: &mut dyn FnMut(&mut Self, &Atom, Atom) -> Atom,
    ) -> Option<Atom> {
        if let (LEAF, [_, rest]) = (ctor, fields) {
            return Some(next(self, rest, cells.clone()));
        }
        let kind = self.to.kind_of(ctor)?.clone();
        let node = kind.apart(fields)?;
        let ty = self.b.type_of(cells);
        if back {
            let any = self.any_cell(cells, node.ends);
            let found = self.choose(
                any,
                &[ty],
                |work| vec![work.node_backward(&kind, &node, cells.clone())],
                |_| vec![cells.clone()],
            );
            let cells = found.into_iter().next()?;
            return Some(next(self, node.rest, cells));
        }
        let cells = next(self, node.rest, cells.clone());
        let (inputs, types) = match kind.runs {
            Runs::Pullback(..) => (node.point, &kind.point),
            Runs::Again(_) => (node.kept, &kind.kept),
        };
        let given = [node.tag.clone(), cells.clone()];
        let varies = self.gathered(Walk::Varies, types, (&given, Atom::Bool(false)), &[inputs]);
        let unchanged = cells.clone();
        let found = self.choose(
            varies,
            &[ty],
            |work| vec![work.node_forward(&kind, &node, cells)],
            |_| vec![unchanged],
        );
        found.into_iter().next()
    }

    fn node_backward(&mut self, kind: &Kind, node: &Node<'_>, cells: Atom) -> Atom {
        let [_, first] = node.ends;
        let mut way = Way { given: vec![cells.clone()], carried: vec![first.clone()] };
        let weights = self.walk_all(Walk::Collect, &kind.results, &mut way, &[node.shape]);
        match kind.runs {
            Runs::Pullback(_, apply) => {
                let args = node.kept.iter().cloned().chain(weights).collect();
                let found = self.call_source(apply, args, &kind.point);
                let given = std::slice::from_ref(node.tag);
                self.gathered(Walk::Contribute, &kind.point, (given, cells), &[node.point, &found])
            }
            Runs::Again(_) => self.run_again(kind, node, &weights, cells),
        }
    }

    /// A checkpoint is run again, on a tape of its own; what its slots gather goes to those that they stand for.
    fn run_again(&mut self, kind: &Kind, node: &Node<'_>, weights: &[Atom], cells: Atom) -> Atom {
        let given = std::slice::from_ref(node.tag);
        let count = self.gathered(Walk::Slotted, &kind.kept, (given, Atom::Int(0)), &[node.kept]);
        let none = self.b.array(ArrayOp::Replicate, [count.clone(), Atom::Int(0)]);
        let mut way = Way { given: given.to_vec(), carried: vec![none, Atom::Int(0)] };
        self.walk_all(Walk::SlotsOn, &kind.kept, &mut way, &[node.kept]);
        let slots = way.carried.into_iter().next().unwrap_or(Atom::Unit);
        let own = self.first_of_each(&slots);
        let (tag, tapes) = (self.fresh_tag(), self.tapes());
        let at = self.length(&tapes);
        let given = vec![node.tag.clone(), tag.clone(), at.clone(), own.clone()];
        let mut way = Way { given, carried: vec![Atom::Int(0)] };
        let args = self.walk_all(Walk::Moved, &kind.kept, &mut way, &[node.kept]);
        self.begin_tape(count);
        let found = self.call_source(kind.again, args, &kind.results);
        let tape = self.end_tape(&at);
        let inner = self.cells_of(&tape);
        let given = std::slice::from_ref(&tag);
        let inner = self.gathered(Walk::Seed, &kind.results, (given, inner), &[&found, weights]);
        let inner = self.backward(tape, inner);
        self.feed(cells, &slots, &own, &inner)
    }

    /// For each place of an array of slots, the first place of the same slot.
    fn first_of_each(&mut self, slots: &Atom) -> Atom {
        let func = self.to.firsts_function();
        self.b.call(func, [slots.clone()], &[Ty::Array(Elem::Int, 1)]).remove(0)
    }

    /// Adds what the first slots of a tape have gathered to the cells of others.
    fn feed(&mut self, cells: Atom, slots: &Atom, own: &Atom, inner: &Atom) -> Atom {
        let len = self.length(slots);
        let inputs = vec![slots.clone(), own.clone()];
        let found = self.carrying(len, inputs, vec![cells], &[], |work, i, carried, rows| {
            let ([cells], [slot, first]) = (carried, rows) else { return (Vec::new(), Vec::new()) };
            let cell = work.cell(inner, &i);
            let none = work.is_none(&cell);
            let is_first = work.b.compare(Compare::Eq, first.clone(), i);
            let later = work.b.typed1(Ty::BOOL, Op::Not(is_first));
            let skips = work.b.select(none, Atom::Bool(true), later);
            let ty = work.b.type_of(cells);
            let found = work.choose(
                skips,
                &[ty],
                |_| vec![cells.clone()],
                |work| vec![work.gather(cells.clone(), slot, cell.clone(), false)],
            );
            (found, Vec::new())
        });
        found.into_iter().next().unwrap_or(Atom::Unit)
    }

    fn node_forward(&mut self, kind: &Kind, node: &Node<'_>, cells: Atom) -> Atom {
        let [_, first] = node.ends;
        let given = [node.tag.clone(), cells.clone()];
        let tangents = match kind.runs {
            Runs::Pullback(_, apply) => {
                let tangents = self.walked_all(Walk::Output, &kind.point, &given, &[node.point]);
                let of = (kind.point.as_slice(), kind.results.as_slice());
                self.transposed(apply, node.kept, of, (node.shape, &tangents))
            }
            Runs::Again(func) => {
                let tag = self.fresh_tag();
                let given = [node.tag.clone(), tag.clone(), cells.clone()];
                let args = self.walked_all(Walk::Along, &kind.kept, &given, &[node.kept]);
                let found = self.call_source(func, args, &kind.results);
                self.walked_all(Walk::Tangent, &kind.results, &[tag], &[&found])
            }
        };
        let mut way = Way { given: Vec::new(), carried: vec![cells, first.clone()] };
        self.walk_all(Walk::Start, &kind.results, &mut way, &[node.shape, &tangents]);
        way.carried.into_iter().next().unwrap_or(Atom::Unit)
    }
}

impl Tagged {
    fn firsts_function(&mut self) -> FuncId {
        self.helper(Helper::Firsts, "firsts", |work| {
            let slots = work.b.param("slots".into(), Ty::Array(Elem::Int, 1));
            let places = work.b.called("places").array(ArrayOp::ArgSort, [slots.clone()]);
            let len = work.length(&slots);
            let none = work.b.array(ArrayOp::Replicate, [len.clone(), Atom::Int(0)]);
            let init = vec![none, Atom::Int(-1)];
            let found = work.carrying(len, vec![places], init, &[], |work, _, carried, rows| {
                let ([firsts, before], [place]) = (carried, rows) else { return (Vec::new(), Vec::new()) };
                let begins = work.b.compare(Compare::Lt, before.clone(), Atom::Int(0));
                let found = work.choose(
                    begins,
                    &[Ty::INT],
                    |_| vec![place.clone()],
                    |work| {
                        let [own, other] = [place, before]
                            .map(|at| work.b.array(ArrayOp::Index, [slots.clone(), at.clone()]));
                        let same = work.b.compare(Compare::Eq, own, other);
                        let first = work.b.array(ArrayOp::Index, [firsts.clone(), before.clone()]);
                        vec![work.b.select(same, first, place.clone())]
                    },
                );
                let first = found.into_iter().next().unwrap_or(Atom::Unit);
                let firsts = work.b.array(ArrayOp::Set, [firsts.clone(), place.clone(), first]);
                (vec![firsts, place.clone()], Vec::new())
            });
            found.into_iter().take(1).collect()
        })
    }
}

/// A walk through what a node keeps: as much of it as is looked at.
pub(super) fn walk_node(
    work: &mut Work<'_>,
    walk: Walk,
    way: &mut Way,
    ctor: u32,
    fields: &[Atom],
) -> Vec<Atom> {
    let kept = work.to.kind_of(ctor).map(|kind| kind.kept.clone()).unwrap_or_default();
    let first = 3.min(fields.len());
    let mut all: Vec<Atom> = fields.iter().take(first).cloned().collect();
    for (field, ty) in fields.iter().skip(first).zip(&kept) {
        let made = work.walk(walk, *ty, way, std::slice::from_ref(field));
        all.extend(made);
    }
    all.extend(fields.iter().skip(first + kept.len()).cloned());
    all
}
