//! Parameters of functions and fields of data that are the same number wherever they are given, and fields that are given twice:
//! where they are bound, they become that number, or the other field. What nobody needs then is dropped by `dce`.
//!
//! ```text
//! a = T(x, 1.0, x)   b = T(y, 1.0, y)      match t { T(u, v, w) { … } }  becomes  match t { T(u, _, _) { v = 1.0  w = u … } }
//! ```
//!
//! What a function hands on to itself as it is, and what a tape keeps of a parameter, counts as what it was.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "what is not listed neither calls nor makes or takes apart data"
)]

use crate::live::fixed;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::Op;
use wengert_ir::program::FuncId;
use wengert_ir::{Atom, Block, DataId, Elem, Func, Program, Stmt, Ty, Var};

/// After so many rounds nothing is taken for known.
const PATIENCE: usize = 100;

/// A parameter of a function, or a field of a constructor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Slot {
    Param(FuncId, usize),
    Field(DataId, u32, usize),
}

/// What is given there: one number, or more than one.
#[derive(Clone, Debug, PartialEq)]
enum Given {
    One(Atom),
    Several,
}

/// See the module.
pub(crate) fn run(program: &mut Program) {
    let (funcs, data) = fixed(program);
    let mut known = Known { fixed_funcs: funcs, fixed_data: data, ..Known::default() };
    for (id, func) in program.funcs.iter() {
        for (place, param) in func.body.params.iter().enumerate() {
            known.slots.insert((id, *param), Slot::Param(id, place));
        }
        known.look(id, func, &func.body);
    }
    if !known.solve() {
        return;
    }
    for (id, func) in program.funcs.iter_mut() {
        let mut body = std::mem::take(&mut func.body);
        let mut used = FxHashSet::default();
        note_used(&body, &mut used);
        let all = (0..body.params.len()).map(|place| known.number(Slot::Param(id, place))).collect();
        bind(func, &mut body, all, &used);
        known.rewrite(func, &mut body, &used);
        func.body = body;
    }
}

#[derive(Debug, Default)]
struct Known {
    fixed_funcs: FxHashSet<FuncId>,
    fixed_data: FxHashSet<DataId>,
    /// Variables that are bound to what was given somewhere.
    slots: FxHashMap<(FuncId, Var), Slot>,
    /// All that is given.
    given: Vec<(Slot, FuncId, Atom)>,
    found: FxHashMap<Slot, Given>,
    /// For each constructor, for each field, the first that is given the same everywhere.
    first: FxHashMap<(DataId, u32), Vec<usize>>,
}

impl Known {
    fn look(&mut self, id: FuncId, func: &Func, block: &Block) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            for stmt in &block.stmts {
                match &stmt.op {
                    Op::Call { func: callee, args, .. } => {
                        let args = args.iter().cloned().enumerate();
                        self.given.extend(args.map(|(place, arg)| (Slot::Param(*callee, place), id, arg)));
                    }
                    Op::Make { data, ctor, fields } => {
                        self.same(*data, *ctor, fields);
                        let fields = fields.iter().cloned().enumerate();
                        self.given.extend(
                            fields.map(|(place, field)| (Slot::Field(*data, *ctor, place), id, field)),
                        );
                    }
                    Op::Match { on, arms } => {
                        if let Ty::Scalar(Elem::Data(data)) = func.type_of(on) {
                            for (ctor, arm) in (0..).zip(arms) {
                                let params = arm.params.iter().enumerate();
                                self.slots
                                    .extend(params.map(|(place, param)| {
                                        ((id, *param), Slot::Field(data, ctor, place))
                                    }));
                            }
                        }
                    }
                    _ => {}
                }
                stmt.op.blocks().into_iter().for_each(|inner| self.look(id, func, inner));
            }
        });
    }

    /// Notes which fields are given the same.
    fn same(&mut self, data: DataId, ctor: u32, fields: &[Atom]) {
        let here: Vec<usize> = (0..)
            .zip(fields)
            .map(|(place, field)| fields.iter().position(|other| is_same(other, field)).unwrap_or(place))
            .collect();
        let before = self.first.entry((data, ctor)).or_insert_with(|| vec![0; fields.len()]);
        let both: Vec<(usize, usize)> = before.iter().copied().zip(here).collect();
        *before = (0..)
            .zip(&both)
            .map(|(place, pair)| both.iter().position(|other| other == pair).unwrap_or(place))
            .collect();
    }

    /// Finds what is given everywhere; whether that was found.
    fn solve(&mut self) -> bool {
        for _ in 0..PATIENCE {
            let mut changed = false;
            for (slot, id, atom) in &self.given {
                let given = match atom {
                    Atom::Real(_) | Atom::Int(_) | Atom::Bool(_) => Some(Given::One(atom.clone())),
                    Atom::Var(var) => match self.slots.get(&(*id, *var)) {
                        Some(from) if self.is_fixed(*from) => Some(Given::Several),
                        Some(from) => self.found.get(from).cloned(),
                        None => Some(Given::Several),
                    },
                    Atom::Text(_) | Atom::Unit => Some(Given::Several),
                };
                let Some(given) = given else { continue };
                let known = self.found.entry(*slot).or_insert_with(|| {
                    changed = true;
                    given.clone()
                });
                if !agree(known, &given) {
                    *known = Given::Several;
                    changed = true;
                }
            }
            if !changed {
                return true;
            }
        }
        false
    }

    fn is_fixed(&self, slot: Slot) -> bool {
        match slot {
            Slot::Param(func, _) => self.fixed_funcs.contains(&func),
            Slot::Field(data, ..) => self.fixed_data.contains(&data),
        }
    }

    /// The number that is given everywhere.
    fn number(&self, slot: Slot) -> Option<Atom> {
        match self.found.get(&slot).filter(|_| !self.is_fixed(slot))? {
            Given::One(atom) => Some(atom.clone()),
            Given::Several => None,
        }
    }

    fn rewrite(&self, func: &mut Func, block: &mut Block, used: &FxHashSet<Var>) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            for stmt in &mut block.stmts {
                if let Op::Match { on, arms } = &mut stmt.op
                    && let Ty::Scalar(Elem::Data(data)) = func.type_of(on)
                    && !self.fixed_data.contains(&data)
                {
                    for (ctor, arm) in (0..).zip(arms) {
                        let first = self.first.get(&(data, ctor));
                        let known = |place: usize| {
                            let other =
                                first.and_then(|first| first.get(place)).filter(|other| **other < place);
                            let other =
                                other.and_then(|other| arm.params.get(*other)).copied().map(Atom::Var);
                            self.number(Slot::Field(data, ctor, place)).or(other)
                        };
                        let all = (0..arm.params.len()).map(known).collect();
                        bind(func, arm, all, used);
                    }
                }
                stmt.op.blocks_mut().into_iter().for_each(|inner| self.rewrite(func, inner, used));
            }
        });
    }
}

/// Whether no more is given than was known.
fn agree(known: &Given, given: &Given) -> bool {
    match (known, given) {
        (Given::Several, _) => true,
        (Given::One(known), Given::One(given)) => is_same(known, given),
        (Given::One(_), Given::Several) => false,
    }
}

/// Whether two operands are the same, zeros with their signs.
pub(crate) fn is_same(a: &Atom, b: &Atom) -> bool {
    match (a, b) {
        (Atom::Real(x), Atom::Real(y)) => x.to_bits() == y.to_bits(),
        (a, b) => a == b,
    }
}

/// Binds those parameters of a block that are known to what they are, if they are used.
fn bind(func: &mut Func, block: &mut Block, known: Vec<Option<Atom>>, used: &FxHashSet<Var>) {
    let mut copies = Vec::new();
    for (param, known) in block.params.iter_mut().zip(known) {
        let Some(atom) = known.filter(|_| used.contains(param)) else { continue };
        let info = *func.vars.at(*param);
        let copy = Stmt { outs: vec![*param], op: Op::Copy(atom), span: func.span };
        *param = func.vars.push(info);
        copies.push(copy);
    }
    block.stmts.splice(0..0, copies);
}

fn note_used(block: &Block, used: &mut FxHashSet<Var>) {
    used.extend(block.results.iter().filter_map(Atom::var));
    block.for_each_stmt(&mut |stmt| {
        used.extend(stmt.op.operand_vars());
        used.extend(stmt.op.blocks().into_iter().flat_map(|inner| &inner.results).filter_map(Atom::var));
    });
}
