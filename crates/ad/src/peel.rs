//! Loops whose values go by another name outside: where sums must be those of a tape, their first iteration stands before them.
//!
//! A loop may begin with an array, or with data, that is used in its body or afterwards too. In the first iteration that is the same
//! array, and only there. So it is made a statement of its own, in which it has the one name:
//!
//! ```text
//! p = for i < 4, q = a { q2 = matmul q a  yield q2 }
//!
//! p1 = matmul a a;  p = for i < 3, q = p1 { q2 = matmul q a  yield q2 }
//! ```
//!
//! And what a loop hands on to its next iteration may be a row of an array that it gives, too. Then that iteration gives it.
//!
//! ```text
//! ys = for i < n, y = x { y2 = f y  yield y2, y2 }
//!
//! last, before = for i < n, y = x { y2 = f y  yield y2, y };  ys = concat (slice before 1 n) [last]
//! ```
//!
//! Numbers that loops begin with are cheaper: [`crate::handed`].

use crate::activity::varies;
use crate::expand::Prepared;
use crate::{Ad, Code, Key, deep};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::build::Copier;
use wengert_ir::op::{ArrayOp, Atom, Block, Compare, IntOp, Loop, Op, Stmt, Var, While};
use wengert_ir::ty::{Elem, Ty};

/// Larger bodies stay whole.
const LARGEST: usize = 400;

/// A function may grow to so many times its size, and this.
const GROWTH: usize = 4;

impl Ad {
    /// The function with loops that begin with what is used elsewhere taken apart.
    pub(crate) fn peeled(&mut self, key: &Key, prepared: &Prepared) -> Option<Prepared> {
        let Prepared { func, active, .. } = prepared;
        let uses = crate::handed::uses(func);
        let mut walk = Peel {
            left: GROWTH * func.body.size() + LARGEST,
            code: Code::like(self, func, func.name.as_str()),
            active,
            seen: FxHashMap::default(),
            uses,
            inside: Vec::new(),
            changed: false,
        };
        let given = walk.block(&func.body);
        let Peel { code, changed, .. } = walk;
        if !changed {
            return None;
        }
        let made = code.b.finish(given);
        Some(self.written_anew(key, func, made))
    }
}

struct Peel<'a> {
    code: Code<'a>,
    active: &'a FxHashSet<Var>,
    /// How often each variable is an operand or a result, altogether and so far.
    uses: FxHashMap<Var, usize>,
    seen: FxHashMap<Var, usize>,
    /// For each loop around, what its body has bound so far.
    inside: Vec<FxHashSet<Var>>,
    left: usize,
    changed: bool,
}

impl Peel<'_> {
    fn block(&mut self, block: &Block) -> Vec<Atom> {
        deep(|| {
            for stmt in &block.stmts {
                self.code.b.set_span(stmt.span);
                stmt.op.for_each_atom(&mut |atom| note(&mut self.seen, atom));
                let apart = self.is_apart(stmt);
                let mut made = stmt.clone();
                let loops = matches!(stmt.op, Op::Loop(_) | Op::While(_));
                for inner in made.op.blocks_mut() {
                    if loops {
                        self.inside.push(inner.params.iter().copied().collect());
                    }
                    self.code.b.open();
                    let results = self.block(inner);
                    let written = self.code.b.close(results);
                    *inner = Block { params: inner.params.clone(), ..written };
                    if loops {
                        self.inside.pop();
                    }
                }
                self.inside.iter_mut().for_each(|bound| bound.extend(&stmt.outs));
                self.write(made, apart);
            }
        });
        block.results.iter().for_each(|atom| note(&mut self.seen, atom));
        block.results.clone()
    }

    /// Whether a loop begins with something that is used in it or after it.
    fn is_apart(&self, stmt: &Stmt) -> bool {
        let init = if let Op::Loop(parts) = &stmt.op {
            &parts.init
        } else if let Op::While(parts) = &stmt.op {
            &parts.init
        } else {
            return false;
        };
        init.iter().zip(&stmt.outs).any(|(init, out)| {
            let Some(var) = init.var() else { return false };
            let ty = self.code.b.func().ty(var);
            let whole = matches!(ty, Ty::Array(Elem::Real | Elem::Data(_), _) | Ty::Scalar(Elem::Data(_)));
            let local = self.inside.last().is_none_or(|bound| bound.contains(&var));
            let all = self.uses.get(&var).copied().unwrap_or(0);
            let before = self.seen.get(&var).copied().unwrap_or(0);
            let elsewhere = if local { all > before } else { all > 1 };
            whole && self.active.contains(&var) && self.active.contains(out) && elsewhere
        })
    }

    fn write(&mut self, stmt: Stmt, apart: bool) {
        let span = stmt.span;
        self.code.b.set_span(span);
        match stmt {
            Stmt { outs, op: Op::Loop(parts), .. } => {
                let (outs, parts, shifted) = self.shift(outs, *parts);
                let fits = apart && self.fits(&parts.body);
                if fits {
                    let found = self.loop_apart(&outs, &parts);
                    self.bind(&outs, found);
                } else {
                    self.code.b.push(Stmt { outs, op: Op::Loop(Box::new(parts)), span });
                }
                shifted.into_iter().for_each(|shifted| self.shift_back(shifted));
            }
            Stmt { outs, op: Op::While(parts), .. } if apart && self.fits(&parts.body) => {
                let found = self.while_apart(&outs, &parts);
                self.bind(&outs, found);
            }
            stmt => self.code.b.push(stmt),
        }
    }

    fn fits(&mut self, body: &Block) -> bool {
        let size = body.size() + 4;
        let left = self.left.checked_sub(size).filter(|_| size <= LARGEST);
        self.left = left.unwrap_or(self.left);
        left.is_some()
    }

    fn bind(&mut self, outs: &[Var], found: Vec<Atom>) {
        self.changed = true;
        for (out, atom) in outs.iter().zip(found) {
            self.code.b.push(Stmt { outs: vec![*out], op: Op::Copy(atom), span: self.code.b.span() });
        }
    }

    fn types(&self, outs: &[Var]) -> Vec<Ty> {
        outs.iter().map(|out| self.code.b.func().ty(*out)).collect()
    }

    /// The first iteration, and the rest, if there is one.
    fn loop_apart(&mut self, outs: &[Var], parts: &Loop) -> Vec<Atom> {
        if matches!(parts.len, Atom::Int(len) if len > 0) {
            return self.first_of_loop(outs, parts);
        }
        let cond = self.code.b.compare(Compare::Gt, parts.len.clone(), Atom::Int(0));
        self.code.b.open();
        let found = self.first_of_loop(outs, parts);
        let then = self.code.b.close(found);
        let kept = parts.init.iter().chain(&parts.accs).cloned().collect();
        self.or_nothing(outs, cond, then, kept)
    }

    fn or_nothing(&mut self, outs: &[Var], cond: Atom, then: Block, mut kept: Vec<Atom>) -> Vec<Atom> {
        let types = self.types(outs);
        self.code.b.open();
        for ty in types.iter().skip(kept.len()) {
            kept.push(self.code.b.called("none").array(ArrayOp::Empty(ty.elem(), ty.rank()), []));
        }
        let otherwise = self.code.b.close(kept);
        self.code.b.typed(&types, Op::If { cond, then, otherwise })
    }

    fn first_of_loop(&mut self, outs: &[Var], parts: &Loop) -> Vec<Atom> {
        let kept = parts.init.len() + parts.accs.len();
        let less = self.int(IntOp::Sub, parts.len.clone(), 1);
        let begin = if parts.backward { less.clone() } else { Atom::Int(0) };
        let mut args = vec![begin.clone()];
        args.extend(parts.init.iter().chain(&parts.accs).cloned());
        for input in &parts.inputs {
            args.push(self.code.b.array(ArrayOp::Index, [input.clone(), begin.clone()]));
        }
        let from = self.code.b.func().clone();
        let mut first = self.code.b.inline(&mut Copier::new(&from), &parts.body, &args);
        let rows = first.split_off(kept);
        let (low, high) =
            if parts.backward { (Atom::Int(0), less.clone()) } else { (Atom::Int(1), parts.len.clone()) };
        let mut rest = parts.clone();
        let accs = first.split_off(parts.init.len());
        (rest.init, rest.accs, rest.len) = (first, accs, less);
        for input in &mut rest.inputs {
            *input = self.code.b.array(ArrayOp::Slice, [input.clone(), low.clone(), high.clone()]);
        }
        if let (Some(index), false) = (rest.body.params.first_mut(), parts.backward) {
            let before = self.code.b.fresh("i".into(), Ty::INT);
            let op = Op::Int(IntOp::Add, vec![Atom::Var(before), Atom::Int(1)]);
            rest.body.stmts.insert(0, Stmt { outs: vec![*index], op, span: self.code.b.span() });
            *index = before;
        }
        let types = self.types(outs);
        let mut found = self.code.b.typed(&types, Op::Loop(Box::new(rest)));
        self.with_rows(&mut found, kept, rows, parts.backward);
        found
    }

    /// Puts the rows of the first iteration to those of the others.
    fn with_rows(&mut self, found: &mut [Atom], kept: usize, rows: Vec<Atom>, last: bool) {
        for (array, row) in found.iter_mut().skip(kept).zip(rows) {
            let first = self.code.b.array(ArrayOp::Literal, [row]);
            let both = if last { [array.clone(), first] } else { [first, array.clone()] };
            *array = self.code.b.array(ArrayOp::Concat, both);
        }
    }

    fn int(&mut self, op: IntOp, x: Atom, y: i64) -> Atom {
        match (op, &x) {
            (IntOp::Sub, Atom::Int(x)) => Atom::Int(x.wrapping_sub(y)),
            _ => self.code.b.int(op, [x, Atom::Int(y)]),
        }
    }

    fn while_apart(&mut self, outs: &[Var], parts: &While) -> Vec<Atom> {
        let kept = parts.init.len();
        let from = self.code.b.func().clone();
        let cond = self.code.b.inline(&mut Copier::new(&from), &parts.cond, &parts.init);
        let Some(cond) = cond.into_iter().next() else { return Vec::new() };
        self.code.b.open();
        let from = self.code.b.func().clone();
        let mut first = self.code.b.inline(&mut Copier::new(&from), &parts.body, &parts.init);
        let rows = first.split_off(kept);
        let rest = While { init: first, ..parts.clone() };
        let types = self.types(outs);
        let mut found = self.code.b.typed(&types, Op::While(Box::new(rest)));
        self.with_rows(&mut found, kept, rows, false);
        let then = self.code.b.close(found);
        self.or_nothing(outs, cond, then, parts.init.clone())
    }

    /// Lets the next iteration give rows that are handed on to it.
    fn shift(&mut self, mut outs: Vec<Var>, mut parts: Loop) -> (Vec<Var>, Loop, Vec<Shifted>) {
        let mut shifted = Vec::new();
        let kept = parts.init.len() + parts.accs.len();
        if parts.backward {
            return (outs, parts, shifted);
        }
        for place in kept..parts.body.results.len() {
            let (Some(row), Some(array)) = (parts.body.results.get(place).cloned(), outs.get(place).copied())
            else {
                continue;
            };
            let handed = parts.body.results.iter().take(parts.init.len()).position(|next| *next == row);
            let Some(state) = handed.filter(|_| varies(self.active, &row) && self.active.contains(&array))
            else {
                continue;
            };
            let (Some(param), Some(last)) =
                (parts.body.params.get(state + 1).copied(), outs.get(state).copied())
            else {
                continue;
            };
            let info = *self.code.b.func().vars.at(array);
            let before = self.code.b.fresh(info.name, info.ty);
            if let (Some(result), Some(out)) = (parts.body.results.get_mut(place), outs.get_mut(place)) {
                *result = Atom::Var(param);
                *out = before;
            }
            shifted.push(Shifted { array, before, last, len: parts.len.clone() });
        }
        self.changed |= !shifted.is_empty();
        (outs, parts, shifted)
    }

    fn shift_back(&mut self, Shifted { array, before, last, len }: Shifted) {
        let ty = self.code.b.func().ty(array);
        if let Atom::Int(len) = len
            && len > 0
        {
            let all = self.moved(before, last, Atom::Int(len));
            return self.bind(&[array], vec![all]);
        }
        let cond = self.code.b.compare(Compare::Gt, len.clone(), Atom::Int(0));
        self.code.b.open();
        let all = self.moved(before, last, len);
        let then = self.code.b.close(vec![all]);
        self.code.b.open();
        let none = self.code.b.called("none").array(ArrayOp::Empty(ty.elem(), ty.rank()), []);
        let otherwise = self.code.b.close(vec![none]);
        let op = Op::If { cond, then, otherwise };
        self.code.b.push(Stmt { outs: vec![array], op, span: self.code.b.span() });
    }

    fn moved(&mut self, before: Var, last: Var, len: Atom) -> Atom {
        let rest = self.code.b.array(ArrayOp::Slice, [Atom::Var(before), Atom::Int(1), len]);
        let last = self.code.b.array(ArrayOp::Literal, [Atom::Var(last)]);
        self.code.b.array(ArrayOp::Concat, [rest, last])
    }
}

/// An array of what a loop hands on.
struct Shifted {
    array: Var,
    /// Its rows, each one place further, after what the loop begins with.
    before: Var,
    /// Its last row.
    last: Var,
    len: Atom,
}

fn note(seen: &mut FxHashMap<Var, usize>, atom: &Atom) {
    if let Some(var) = atom.var() {
        *seen.entry(var).or_insert(0) += 1;
    }
}
