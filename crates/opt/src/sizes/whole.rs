//! Arrays of arrays that are whole whether they are made or not: their rows have one size in all iterations of the loop that makes them.
//!
//! ```text
//! m = length(xs)
//! rows = each i < n { row = each j < m { … } yield row }
//! whole(rows)                                                   becomes nothing
//! ```
//!
//! Of each array it is known which variables its shape comes from, and of each integer which its value comes from. If those of a row are all
//! bound outside of the loop, the rows agree. Rows of one array have one size, so their shape comes from that array; a carried array that is
//! seen to keep its shape has that of the first.

use super::Sizes;
use crate::facts::{counts, total};
use crate::linear::Linear;
use crate::live::needed;
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::{ArrayOp, Loop, Op, Requirement};
use wengert_ir::{Atom, Block, Program, Stmt, Ty, Var};

/// What comes from more than so many variables comes from itself.
const MANY: usize = 16;

/// What is known for this in a function.
#[derive(Default)]
pub(super) struct Whole {
    /// Whether it is asked for.
    asked: bool,
    /// What shapes of arrays, and integers, come from.
    origins: FxHashMap<Var, Vec<Var>>,
    /// Arrays whose rows agree.
    agree: FxHashSet<Var>,
    /// Arrays that have the shape of others.
    alike: FxHashMap<Var, Atom>,
}

/// What the end of a loop's body tells.
#[derive(Default)]
pub(super) struct Ended {
    /// Carried arrays that keep their shape, by place.
    kept: Vec<bool>,
    /// What each array that is made comes from, if its rows agree.
    rows: Vec<Option<Vec<Var>>>,
}

impl Whole {
    pub(super) fn of(body: &Block) -> Whole {
        let asked = !says_nothing(body);
        // What came in was made.
        let agree = body.params.iter().copied().collect();
        Whole { asked, agree, ..Whole::default() }
    }

    pub(super) fn forget(&mut self, var: Var) {
        self.origins.remove(&var);
        self.agree.remove(&var);
        self.alike.remove(&var);
    }

    /// Whether the rows of an array agree.
    pub(super) fn is(&self, array: &Atom) -> bool {
        array.var().is_some_and(|var| self.agree.contains(&var))
    }

    fn origin(&self, atom: &Atom) -> Vec<Var> {
        let Some(var) = atom.var() else { return Vec::new() };
        self.origins.get(&var).cloned().unwrap_or_else(|| vec![var])
    }

    fn origins<'a>(&self, atoms: impl IntoIterator<Item = &'a Atom>) -> Vec<Var> {
        united(atoms.into_iter().map(|atom| self.origin(atom)))
    }

    fn set(&mut self, var: Var, from: Vec<Var>) {
        if from.len() <= MANY {
            self.origins.insert(var, from);
        }
    }
}

impl Sizes<'_> {
    /// What the results of a statement come from.
    pub(super) fn note_origins(&mut self, stmt: &Stmt) {
        if !self.whole.asked {
            return;
        }
        for out in &stmt.outs {
            if self.takes_whole(&stmt.op) {
                self.whole.agree.insert(*out);
            }
            if let Some(from) = self.of_shape(*out).or_else(|| self.of_operands(&stmt.op, *out)) {
                self.whole.set(*out, from);
            }
        }
    }

    /// Whether what an operation makes at once has rows that agree: those of an array that it takes do.
    fn takes_whole(&self, op: &Op) -> bool {
        #![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed makes no array at once")]
        let agree =
            |arg: &Atom| arg.var().is_none_or(|var| self.func.ty(var).rank() < 2) || self.whole.is(arg);
        match op {
            Op::Copy(of) => self.whole.is(of),
            Op::Array(_, args) => args.iter().all(agree),
            _ => false,
        }
    }

    /// What an array comes from whose shape is known.
    fn of_shape(&self, var: Var) -> Option<Vec<Var>> {
        let rank = usize::from(self.func.ty(var).rank());
        let shape = self.shape(&Atom::Var(var));
        let sizes: Option<Vec<Linear>> = shape.into_iter().take(rank).collect();
        Some(self.of_sizes(&sizes.filter(|_| rank > 0)?))
    }

    fn of_sizes(&self, sizes: &[Linear]) -> Vec<Var> {
        let vars: Vec<Atom> = sizes.iter().flat_map(Linear::vars).map(Atom::Var).collect();
        self.whole.origins(&vars)
    }

    fn of_operands(&self, op: &Op, out: Var) -> Option<Vec<Var>> {
        #![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed comes from itself")]
        Some(match op {
            Op::Copy(x) | Op::Convert(_, x) => self.whole.origin(x),
            Op::Int(_, args) => self.whole.origins(args),
            Op::Select { cond, then, otherwise } => self.whole.origins([cond, then, otherwise]),
            // Whatever the function does, it does the same with the same.
            Op::Call { args, .. } => united(args.iter().filter_map(Atom::var).map(|var| {
                let is_number = self.func.ty(var) == Ty::INT;
                if is_number { self.whole.origin(&Atom::Var(var)) } else { vec![var] }
            })),
            Op::Array(ArrayOp::Length(_), args) => self.whole.origins(args),
            // Between two places there may be as many rows wherever they are.
            Op::Array(ArrayOp::Slice, args)
                if let [Some(count), ..] = self.shape(&Atom::Var(out)).as_slice() =>
            {
                united([self.of_sizes(std::slice::from_ref(count)), self.whole.origins(args.first())])
            }
            // Numbers, and how many are left, come from elements.
            Op::Array(ArrayOp::Filter, _) => return None,
            Op::Array(..) if self.func.ty(out).rank() == 0 => return None,
            Op::Array(
                ArrayOp::Index
                | ArrayOp::Set
                | ArrayOp::AddAt
                | ArrayOp::ScatterAdd
                | ArrayOp::Zeros
                | ArrayOp::AddProduct(_),
                args,
            ) => self.whole.origins(args.first()),
            Op::Array(_, args) => self.whole.origins(args),
            _ => return None,
        })
    }

    /// The rows of a loop come from what it goes through.
    pub(super) fn begin_rows(&mut self, parts: &Loop, carried: usize) {
        if !self.whole.asked {
            return;
        }
        let (own, rows) = parts.body.params.split_at_checked(1 + carried).unwrap_or_default();
        own.iter().for_each(|param| self.whole.forget(*param));
        for (param, input) in rows.iter().zip(&parts.inputs) {
            self.whole.forget(*param);
            if self.func.ty(*param).rank() > 0 {
                let from = self.whole.origin(input);
                self.whole.set(*param, from);
                if self.whole.is(input) {
                    self.whole.agree.insert(*param);
                }
            }
        }
    }

    /// At the end of the body of a loop.
    pub(super) fn end_rows(&self, parts: &Loop, body: &Block, carried: usize) -> Ended {
        if !self.whole.asked {
            return Ended::default();
        }
        let params = body.params.iter().skip(1);
        let kept: Vec<bool> = params
            .zip(&body.results)
            .take(carried)
            .map(|(param, result)| self.keeps_shape(*param, result))
            .collect();
        let starts = parts.init.iter().chain(&parts.accs);
        let first: FxHashMap<Var, Vec<Var>> = (body.params.iter().skip(1).zip(starts).zip(&kept))
            .filter(|(_, kept)| **kept)
            .map(|((param, start), _)| (*param, self.whole.origin(start)))
            .collect();
        let inner: FxHashSet<Var> =
            body.params.iter().chain(body.stmts.iter().flat_map(|stmt| &stmt.outs)).copied().collect();
        let outside = |row: &Atom| {
            let from = self.whole.origin(row).into_iter();
            let from = united(from.map(|var| first.get(&var).cloned().unwrap_or_else(|| vec![var])));
            from.iter().all(|var| !inner.contains(var)).then_some(from)
        };
        let rows = body.results.iter().skip(carried).map(outside).collect();
        Ended { kept, rows }
    }

    /// Whether a carried array is handed on in the shape in which it came.
    fn keeps_shape(&self, param: Var, result: &Atom) -> bool {
        let mut like = result;
        while let Some(other) = like.var().and_then(|var| self.whole.alike.get(&var)) {
            like = other;
        }
        let shape = self.shape(&Atom::Var(param));
        matches!(self.func.ty(param), Ty::Array(..))
            && (like == &Atom::Var(param) || shape.iter().all(Option::is_some) && shape == self.shape(result))
    }

    /// After a loop: what its results come from.
    pub(super) fn note_rows(&mut self, parts: &Loop, outs: &[Var], ended: Ended) {
        let Ended { kept, rows } = ended;
        let starts = parts.init.iter().chain(&parts.accs);
        for ((out, start), kept) in outs.iter().zip(starts).zip(&kept) {
            if *kept {
                let from = self.whole.origin(start);
                self.whole.set(*out, from);
                self.whole.alike.insert(*out, start.clone());
            }
        }
        let len = self.whole.origin(&parts.len);
        let single = matches!(parts.len, Atom::Int(0 | 1));
        for (out, row) in outs.iter().skip(kept.len()).zip(rows) {
            if single || row.is_some() {
                self.whole.agree.insert(*out);
            }
            if let Some(row) = row {
                self.whole.set(*out, united([len.clone(), row]));
            }
        }
    }
}

/// The variables in any of these.
fn united(sets: impl IntoIterator<Item = Vec<Var>>) -> Vec<Var> {
    let mut all: Vec<Var> = sets.into_iter().flatten().collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// What somebody needs is made: that need not be said any more, when nothing is left to be done. What only uses itself, as an array that a
/// loop hands on and gives to nobody, is needed by nobody but who says so.
pub(crate) fn drop_said(program: &mut Program) {
    if program.funcs.iter().all(|(_, func)| says_nothing(&func.body)) {
        return;
    }
    let mut bare = program.clone();
    bare.funcs.iter_mut().for_each(|(_, func)| drop_in(&mut func.body, &|_| true));
    let (total, counts) = (total(&bare), counts(&mut bare));
    let needed = needed(&bare, &total, &counts);
    for (id, func) in program.funcs.iter_mut() {
        drop_in(&mut func.body, &|array| needed.var(id, array));
    }
}

/// That arrays come in beside each other always holds: nobody need look.
pub(crate) fn forget_beside(program: &mut Program) {
    for (_, func) in program.funcs.iter_mut() {
        func.body.stmts.retain(|stmt| !matches!(stmt.op, Op::Require { what: Requirement::Beside, .. }));
    }
}

/// Whether a block says of no array that it is made.
fn says_nothing(block: &Block) -> bool {
    block.all_stmts(&mut |stmt| !matches!(stmt.op, Op::Whole(_)))
}

/// Leaves out what says that arrays are made, if they are such.
fn drop_in(block: &mut Block, made: &dyn Fn(Var) -> bool) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        block.stmts.retain_mut(|stmt| {
            stmt.op.blocks_mut().into_iter().for_each(|inner| drop_in(inner, made));
            !matches!(&stmt.op, Op::Whole(Atom::Var(array)) if made(*array))
        });
    });
}
