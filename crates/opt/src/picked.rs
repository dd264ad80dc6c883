//! Of an array of which only an element or two are looked at, only those are made.
//!
//! ```text
//! ys = each i < n, x in xs { y = exp(x) yield y }
//! y = ys[k]                                             becomes        x = xs[k]  y = exp(x)
//! ```
//!
//! What makes an element is done where it is looked at, so that it may not fail; that there is such a place is seen from an array that the loop
//! goes through, which is as long. Where a loop looks at elements the array stays, if it is not made in that loop.

use crate::facts::{is_safe, total};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::build::Copier;
use wengert_ir::op::{ArrayOp, Loop, Mode, Op};
use wengert_ir::program::FuncId;
use wengert_ir::{Atom, Block, Func, Program, Stmt, Var};

/// So often at most is made again what makes an element, and so many statements.
const OFTEN: usize = 2;
const MOST: usize = 40;

/// See the module.
pub(crate) fn run(program: &mut Program) {
    let total = total(program);
    for (_, func) in program.funcs.iter_mut() {
        let mut looked = Looked { func, total: &total, arrays: FxHashMap::default(), around: 0, loops: 0 };
        looked.block(&func.body);
        let picked: FxHashMap<Var, Array> =
            looked.arrays.into_iter().filter(|(_, array)| (1..=OFTEN).contains(&array.times)).collect();
        if !picked.is_empty() {
            let mut body = std::mem::take(&mut func.body);
            pick(func, &mut body, &picked);
            func.body = body;
        }
    }
}

/// An array, and how its elements are made.
struct Array {
    parts: Loop,
    /// Which of the loop's results it is, and the loop around that.
    at: usize,
    around: usize,
    /// How often elements are looked at.
    times: usize,
}

/// A walk that finds arrays of which nothing but elements is asked.
struct Looked<'t> {
    func: &'t Func,
    total: &'t FxHashSet<FuncId>,
    arrays: FxHashMap<Var, Array>,
    /// The innermost loop around, and how many there were.
    around: usize,
    loops: usize,
}

impl Looked<'_> {
    fn block(&mut self, block: &Block) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            for stmt in &block.stmts {
                self.stmt(stmt);
            }
            block.results.iter().filter_map(Atom::var).for_each(|var| {
                self.arrays.remove(&var);
            });
        });
    }

    fn stmt(&mut self, stmt: &Stmt) {
        let around = self.around;
        let element = if let Op::Array(ArrayOp::Index, args) = &stmt.op { args.as_slice() } else { &[] };
        let looks = match element {
            [Atom::Var(array), _] => self.arrays.get_mut(array).filter(|array| array.around == around),
            _ => None,
        };
        if let Some(array) = looks {
            array.times += 1;
        } else {
            stmt.op.for_each_atom(&mut |atom| {
                if let Atom::Var(var) = atom {
                    self.arrays.remove(var);
                }
            });
        }
        let is_loop = matches!(stmt.op, Op::Loop(_) | Op::While(_));
        if is_loop {
            self.loops += 1;
            self.around = self.loops;
        }
        stmt.op.blocks().into_iter().for_each(|inner| self.block(inner));
        self.around = around;
        if let Op::Loop(parts) = &stmt.op
            && self.makes_elements(parts)
        {
            // Rows must agree in their size.
            let elements = stmt.outs.iter().enumerate().filter(|(_, out)| self.func.ty(**out).rank() == 1);
            for (at, out) in elements {
                self.arrays.insert(*out, Array { parts: Loop::clone(parts), at, around, times: 0 });
            }
        }
    }

    /// Whether a loop makes elements, none of which can fail, of those of other arrays.
    fn makes_elements(&self, parts: &Loop) -> bool {
        let simple = |stmt: &Stmt| !matches!(stmt.op, Op::Loop(_)) && is_safe(&stmt.op, self.total);
        parts.mode == Mode::Each
            && parts.init.is_empty()
            && parts.accs.is_empty()
            && !parts.inputs.is_empty()
            && parts.body.size() <= MOST
            && parts.body.all_stmts(&mut |stmt| simple(stmt))
    }
}

fn pick(func: &mut Func, place: &mut Block, picked: &FxHashMap<Var, Array>) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let mut out = Vec::with_capacity(place.stmts.len());
        for mut stmt in std::mem::take(&mut place.stmts) {
            stmt.op.blocks_mut().into_iter().for_each(|inner| pick(func, inner, picked));
            if let Op::Array(ArrayOp::Index, args) = &stmt.op
                && let [Atom::Var(array), index] = args.as_slice()
                && let Some(Array { parts, at, .. }) = picked.get(array)
            {
                let element = element(func, parts, (*at, index), stmt.span, &mut out);
                stmt.op = Op::Copy(element);
            }
            out.push(stmt);
        }
        place.stmts = out;
    });
}

/// Makes an element that is one of a loop's results.
fn element(
    func: &mut Func,
    parts: &Loop,
    (at, index): (usize, &Atom),
    span: wengert_base::Span,
    out: &mut Vec<Stmt>,
) -> Atom {
    let mut copier = Copier::within();
    if let Some((own, rows)) = parts.body.params.split_first() {
        copier.set(*own, index.clone());
        for (row, input) in rows.iter().zip(&parts.inputs) {
            let element = copier.bind(func, *row);
            let op = Op::Array(ArrayOp::Index, vec![input.clone(), index.clone()]);
            out.push(Stmt { outs: vec![element], op, span });
        }
    }
    for stmt in &parts.body.stmts {
        out.push(copier.stmt(func, stmt));
    }
    parts.body.results.get(at).map_or(Atom::Real(0.0), |result| copier.atom(result))
}
