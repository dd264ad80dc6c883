//! A short loop around longer ones: the longer ones are gone through once, and do in each iteration what the short one does for each of
//! its indices.
//!
//! ```text
//! ys = each k < 2, m in ms {                            y, y2 = for i < n, s = 0.0, s2 = 0.0, x in xs, w in m, w2 in m2 {
//!   y = for i < n, s = 0.0, x in xs, w in m {             t = x * w
//!     t = x * w                                           s3 = s + t
//!     s3 = s + t                               becomes    t2 = x * w2
//!     yield s3                                            s4 = s2 + t2
//!   }                                                     yield s3, s4
//!   yield y                                             }
//! }                                                     ys = [y, y2]
//! ```
//!
//! What does not depend on the index of the short loop is computed, read and looked at once, and sums do not wait for each other. Each
//! sum is added up in the order in which it was. Loops that go through what has come of a short one, and are as short, become
//! their iterations, so that it need not be made; and so do those without loops inside that have one iteration, or make a unit vector for each index, as in a Jacobian. What may fail stands in one place, and fails in the order in which it did.
//!
//! The pass comes once, after derivatives are made, for it does not make code simpler. Before all that, what loops make of unit vectors is
//! made at their one element (`single`).

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "what is not listed is done for one index after the other"
)]

use crate::facts::{is_quiet, total};
use crate::sizes::boxes;
use crate::still::{fails_at_once, vanishing};
use crate::walk::mentioned;
use crate::{alike, blank, cse, dce, ends, fuse, hoist, rows, simplify, single, sizes, units, unroll};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::build::Copier;
use wengert_ir::op::{ArrayOp, Loop, Mode, Op};
use wengert_ir::program::FuncId;
use wengert_ir::{Atom, Block, Func, Program, Stmt, Var};
use wengert_prim::RealOp;

/// So many indices at most, and so many statements in all of them together.
const INDICES: i64 = 4;
const STATEMENTS: usize = 160;

/// See the module.
pub(crate) fn run(program: &mut Program) {
    with(program, simplify::run, single::run);
}

/// The same where numbers must be exact, to the signs of zeros.
pub(crate) fn exactly(program: &mut Program) {
    with(program, simplify::exactly, single::exactly);
}

fn with(program: &mut Program, simplify: fn(&mut Program), single: fn(&mut Program) -> bool) {
    if single(program) {
        for pass in [
            simplify,
            alike::run,
            cse::run,
            rows::run,
            simplify,
            ends::run,
            sizes::run,
            blank::run,
            dce::run,
            fuse::run,
            dce::run,
            hoist::run,
            simplify,
            cse::run,
            dce::run,
        ] {
            pass(program);
        }
    }
    let total = total(program);
    let mut changed = false;
    for (_, func) in program.funcs.iter_mut() {
        let mut body = std::mem::take(&mut func.body);
        let mut pass = Abreast { func, total: &total, made: FxHashSet::default(), changed: false };
        pass.block(&mut body);
        changed |= pass.changed;
        func.body = body;
    }
    let boxes = boxes(program);
    for (_, func) in program.funcs.iter_mut() {
        changed |= units::run(func, &boxes);
    }
    if changed {
        for pass in [simplify, cse::run, dce::run] {
            pass(program);
        }
    }
}

struct Abreast<'p> {
    func: &'p mut Func,
    total: &'p FxHashSet<FuncId>,
    /// What came of short loops.
    made: FxHashSet<Var>,
    changed: bool,
}

impl Abreast<'_> {
    fn block(&mut self, place: &mut Block) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut out = Vec::with_capacity(place.stmts.len());
            for mut stmt in std::mem::take(&mut place.stmts) {
                stmt.op.blocks_mut().into_iter().for_each(|inner| self.block(inner));
                let Op::Loop(parts) = &stmt.op else {
                    out.push(stmt);
                    continue;
                };
                let through = parts.inputs.iter().filter_map(Atom::var).any(|var| self.made.contains(&var));
                let has_units = has_unit_vector(&parts.body);
                if let Some(varying) = self.varying(parts) {
                    self.made.extend(&stmt.outs);
                    self.changed = true;
                    out.extend(abreast(self.func, parts, &stmt, &varying));
                } else if (through || parts.len == Atom::Int(1) || has_units)
                    && unroll::is_short(self.func, parts)
                    && is_flat(&parts.body)
                {
                    self.changed = true;
                    let from = out.len();
                    unroll::iterations(self.func, parts, &stmt, &mut out);
                    if has_units {
                        let (before, made) = out.split_at_mut(from);
                        without_zeros(before, made);
                    }
                } else {
                    out.push(stmt);
                }
            }
            place.stmts = out;
        });
    }

    /// What depends on the index of a loop that is short and has longer ones inside, and whose iterations can be done at once.
    fn varying(&self, parts: &Loop) -> Option<FxHashSet<Var>> {
        let Atom::Int(len @ 2..=INDICES) = parts.len else { return None };
        let body = &parts.body;
        let numbers = body.results.iter().all(|row| self.func.type_of(row).rank() == 0);
        let size = usize::try_from(len).ok()?.checked_mul(body.size())?;
        let plain = parts.mode == Mode::Each && parts.init.is_empty() && parts.accs.is_empty();
        if !plain || !numbers || size > STATEMENTS {
            return None;
        }
        let mut varying: FxHashSet<Var> = body.params.iter().copied().collect();
        vary(body, &mut varying);
        (holds_long_loop(body, &varying) && self.fails_in_order(body, &varying)).then_some(varying)
    }

    /// Whether what may fail fails for the first index first: it stands in one place. What depends on no index may come before.
    fn fails_in_order(&self, body: &Block, varying: &FxHashSet<Var>) -> bool {
        // Before, at, and after the place.
        let (mut at, mut after) = (false, false);
        for stmt in &body.stmts {
            if is_quiet(&stmt.op, self.total) {
                after |= at && !stmt.op.blocks().is_empty();
                continue;
            }
            if after {
                return false;
            }
            match &stmt.op {
                Op::Loop(parts) if !at && !depends(&parts.len, varying) && is_first(parts, varying) => {
                    if fails_at_once(parts, self.total).is_none() {
                        return false;
                    }
                    (at, after) = (true, true);
                }
                op if !op.blocks().is_empty() => return false,
                _ => at |= touches(stmt, varying),
            }
        }
        true
    }
}

/// Whether no block stands between those statements of a body that may fail: they are done for one index after the other.
fn is_first(parts: &Loop, varying: &FxHashSet<Var>) -> bool {
    let mut seen_block = false;
    parts.body.stmts.iter().all(|stmt| {
        let splits = !stmt.op.blocks().is_empty() && touches(stmt, varying);
        let may = matches!(&stmt.op, Op::Require { .. } | Op::Array(ArrayOp::Index | ArrayOp::Dot, _));
        let fine = !(may && seen_block);
        seen_block |= splits;
        fine
    })
}

fn depends(atom: &Atom, varying: &FxHashSet<Var>) -> bool {
    atom.var().is_some_and(|var| varying.contains(&var))
}

/// Whether something in a statement depends on the index.
fn touches(stmt: &Stmt, varying: &FxHashSet<Var>) -> bool {
    mentioned(&stmt.op).any(|var| varying.contains(&var))
}

/// Whether a statement with blocks is done once for all indices.
fn is_shared(stmt: &Stmt, varying: &FxHashSet<Var>) -> bool {
    match &stmt.op {
        Op::If { cond, .. } => !depends(cond, varying),
        Op::Loop(parts) => parts.mode != Mode::Reduce && !depends(&parts.len, varying),
        _ => false,
    }
}

/// Adds what depends on the index because of what does.
fn vary(block: &Block, varying: &mut FxHashSet<Var>) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        for stmt in &block.stmts {
            if !is_shared(stmt, varying) {
                if touches(stmt, varying) {
                    varying.extend(&stmt.outs);
                }
                continue;
            }
            match &stmt.op {
                Op::Loop(parts) => vary_loop(stmt, parts, varying),
                op => {
                    for inner in op.blocks() {
                        vary(inner, varying);
                        let found = stmt.outs.iter().zip(&inner.results);
                        let found: Vec<Var> = found
                            .filter(|(_, result)| depends(result, varying))
                            .map(|(out, _)| *out)
                            .collect();
                        varying.extend(found);
                    }
                }
            }
        }
    });
}

fn vary_loop(stmt: &Stmt, parts: &Loop, varying: &mut FxHashSet<Var>) {
    let given = parts.init.iter().chain(&parts.accs).chain(&parts.inputs);
    for (param, atom) in parts.body.params.iter().skip(1).zip(given) {
        if depends(atom, varying) {
            varying.insert(*param);
        }
    }
    let carried = parts.init.len() + parts.accs.len();
    loop {
        vary(&parts.body, varying);
        let before = varying.len();
        for (place, (result, out)) in parts.body.results.iter().zip(&stmt.outs).enumerate() {
            let param = parts.body.params.get(place + 1).filter(|_| place < carried);
            if depends(result, varying) || param.is_some_and(|param| varying.contains(param)) {
                varying.extend(param);
                varying.insert(*out);
            }
        }
        if varying.len() == before {
            return;
        }
    }
}

/// Whether there is a loop that is done once for all indices, and not short itself.
fn holds_long_loop(body: &Block, varying: &FxHashSet<Var>) -> bool {
    body.stmts.iter().any(|stmt| {
        let long = match &stmt.op {
            Op::Loop(parts) => !matches!(parts.len, Atom::Int(n) if n <= INDICES),
            _ => false,
        };
        touches(stmt, varying)
            && is_shared(stmt, varying)
            && (long || stmt.op.blocks().into_iter().any(|inner| holds_long_loop(inner, varying)))
    })
}

/// Whether the body of a loop makes an array in which the element at the index is a constant: most of what it does with that is nothing
/// once the index is known.
fn has_unit_vector(body: &Block) -> bool {
    let index = body.params.first().copied().map(Atom::Var);
    body.stmts.iter().any(|stmt| match &stmt.op {
        Op::Array(ArrayOp::Set, args) => {
            matches!(args.as_slice(), [_, place, Atom::Real(_)] if Some(place) == index.as_ref())
        }
        _ => false,
    })
}

/// Elements of unit vectors that are zero, and what is zero because of them, are not added: in sums of derivatives the sign of a zero does
/// not count. The vectors begin with zeros that may have been made before.
fn without_zeros(before: &[Stmt], made: &mut [Stmt]) {
    let mut blank: FxHashSet<Var> =
        before.iter().filter(|stmt| is_blank(stmt)).flat_map(|stmt| &stmt.outs).copied().collect();
    let mut units: FxHashMap<Var, i64> = FxHashMap::default();
    let mut zeros: FxHashSet<Var> = FxHashSet::default();
    for stmt in made {
        if is_blank(stmt) {
            blank.extend(&stmt.outs);
        }
        let is_zero = |atom: &Atom| atom.var().is_some_and(|var| zeros.contains(&var));
        let kept = match (&stmt.op, stmt.outs.as_slice()) {
            (Op::Array(ArrayOp::Set, args), [out]) => {
                if let [Atom::Var(array), Atom::Int(place), Atom::Real(_)] = args.as_slice()
                    && blank.contains(array)
                {
                    units.insert(*out, *place);
                }
                None
            }
            (Op::Array(ArrayOp::Index, args), [out]) => {
                if let [Atom::Var(array), Atom::Int(place)] = args.as_slice()
                    && units.get(array).is_some_and(|one| one != place)
                {
                    zeros.insert(*out);
                }
                None
            }
            (Op::Real(RealOp::Add, args), [_]) => match args.as_slice() {
                [x, y] if is_zero(y) => Some(x.clone()),
                [x, y] if is_zero(x) => Some(y.clone()),
                _ => None,
            },
            (Op::Real(RealOp::Sub, args), [_]) => match args.as_slice() {
                [x, y] if is_zero(y) => Some(x.clone()),
                _ => None,
            },
            (_, _) => None,
        };
        if let Some(kept) = kept {
            stmt.op = Op::Copy(kept);
        }
        let found = vanishing(stmt, &mut zeros);
        zeros.extend(found);
    }
}

/// Whether a statement makes a vector of zeros.
fn is_blank(stmt: &Stmt) -> bool {
    match &stmt.op {
        Op::Array(ArrayOp::Zeros, _) => true,
        Op::Array(ArrayOp::Literal, items) => items.iter().all(|item| matches!(item, Atom::Real(0.0))),
        _ => false,
    }
}

fn is_flat(body: &Block) -> bool {
    body.stmts.iter().all(|stmt| stmt.op.blocks().is_empty())
}

/// What a loop does for each of its indices, at once.
fn abreast(func: &mut Func, parts: &Loop, stmt: &Stmt, varying: &FxHashSet<Var>) -> Vec<Stmt> {
    let Atom::Int(len) = parts.len else { return Vec::new() };
    let mut out = Vec::new();
    let mut lanes = Vec::new();
    for index in 0..len {
        let mut copier = Copier::within();
        let Some((param, rows)) = parts.body.params.split_first() else { continue };
        copier.set(*param, Atom::Int(index));
        for (row, input) in rows.iter().zip(&parts.inputs) {
            let row = copier.bind(func, *row);
            let op = Op::Array(ArrayOp::Index, vec![input.clone(), Atom::Int(index)]);
            out.push(Stmt { outs: vec![row], op, span: stmt.span });
        }
        lanes.push(copier);
    }
    let mut lanes = Lanes { func, lanes, varying };
    out.extend(lanes.stmts(&parts.body.stmts));
    for (made, row) in stmt.outs.iter().zip(&parts.body.results) {
        let items = lanes.lanes.iter().map(|lane| lane.atom(row)).collect();
        out.push(Stmt { outs: vec![*made], op: Op::Array(ArrayOp::Literal, items), span: stmt.span });
    }
    out
}

/// Copies of code, one for each index.
struct Lanes<'f> {
    func: &'f mut Func,
    lanes: Vec<Copier<'static>>,
    varying: &'f FxHashSet<Var>,
}

impl Lanes<'_> {
    fn stmts(&mut self, stmts: &[Stmt]) -> Vec<Stmt> {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut out = Vec::new();
            let mut waiting: Vec<&Stmt> = Vec::new();
            for stmt in stmts {
                if is_shared(stmt, self.varying) && touches(stmt, self.varying) {
                    self.one_after_the_other(&std::mem::take(&mut waiting), &mut out);
                    let shared = self.shared(stmt);
                    out.push(shared);
                } else {
                    waiting.push(stmt);
                }
            }
            self.one_after_the_other(&waiting, &mut out);
            out
        })
    }

    /// Statements for the first index, then what depends on the index for the others.
    fn one_after_the_other(&mut self, stmts: &[&Stmt], out: &mut Vec<Stmt>) {
        for (index, lane) in self.lanes.iter_mut().enumerate() {
            for stmt in stmts {
                if touches(stmt, self.varying) {
                    out.push(lane.stmt(self.func, stmt));
                } else if index == 0 {
                    out.push((*stmt).clone());
                }
            }
        }
    }

    fn shared(&mut self, stmt: &Stmt) -> Stmt {
        let op = match &stmt.op {
            Op::If { cond, then, otherwise } => {
                let widths: Vec<bool> = stmt.outs.iter().map(|out| self.varying.contains(out)).collect();
                let then = self.block(then, &widths);
                let otherwise = self.block(otherwise, &widths);
                Op::If { cond: cond.clone(), then, otherwise }
            }
            Op::Loop(parts) => self.turns(stmt, parts),
            other => other.clone(),
        };
        Stmt { outs: self.bind(&stmt.outs), op, span: stmt.span }
    }

    fn turns(&mut self, stmt: &Stmt, parts: &Loop) -> Op {
        let mut inputs = Vec::new();
        let mut given: [Vec<Atom>; 2] = Default::default();
        let params = parts.body.params.iter().skip(1);
        let carried = params.clone().zip(parts.init.iter().chain(&parts.accs)).enumerate();
        for (place, (param, atom)) in carried {
            let [init, accs] = &mut given;
            let to = if place < parts.init.len() { init } else { accs };
            to.extend(self.atoms(atom, self.varying.contains(param)));
        }
        for (param, atom) in params.skip(parts.init.len() + parts.accs.len()).zip(&parts.inputs) {
            inputs.extend(self.atoms(atom, self.varying.contains(param)));
        }
        let widths: Vec<bool> = stmt.outs.iter().map(|out| self.varying.contains(out)).collect();
        let body = self.block(&parts.body, &widths);
        let [init, accs] = given;
        Op::Loop(Box::new(Loop {
            mode: parts.mode,
            backward: parts.backward,
            len: parts.len.clone(),
            inputs,
            init,
            accs,
            body,
        }))
    }

    /// A block whose results are one for each index where it is said so.
    fn block(&mut self, block: &Block, widths: &[bool]) -> Block {
        let params = self.bind(&block.params);
        let stmts = self.stmts(&block.stmts);
        let results = block.results.iter().zip(widths).flat_map(|(result, wide)| self.atoms(result, *wide));
        Block { params, stmts, results: results.collect() }
    }

    /// Variables, one for each index where they depend on it.
    fn bind(&mut self, vars: &[Var]) -> Vec<Var> {
        let mut bound = Vec::with_capacity(vars.len());
        for var in vars {
            if self.varying.contains(var) {
                bound.extend(self.lanes.iter_mut().map(|lane| lane.bind(self.func, *var)));
            } else {
                bound.push(*var);
            }
        }
        bound
    }

    fn atoms(&self, atom: &Atom, wide: bool) -> Vec<Atom> {
        if wide { self.lanes.iter().map(|lane| lane.atom(atom)).collect() } else { vec![atom.clone()] }
    }
}
