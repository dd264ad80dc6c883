//! A loop that collects arrays in boxes, since their sizes might differ, collects rows of an array with more axes where the sizes
//! are found to be the same in all iterations.
//!
//! ```text
//! rows = each i < n { … y = Row(x) yield y }              rows = each i < n { … yield x }
//! each i < n, y in rows { match y { Row(x) { … } } }      each i < n, x in rows { … }
//! ```
//!
//! Variables between which a box goes belong together: either all of them change their type or none.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed keeps its boxes")]

use crate::sizes::{Boxes, Shape, boxes, walk};
use rustc_hash::{FxHashMap, FxHashSet};
use wengert_ir::op::{ArrayOp, Loop, Op};
use wengert_ir::{Atom, Block, Elem, Func, Program, Stmt, Ty, Var};

/// See the module.
pub(crate) fn run(program: &mut Program) {
    let boxes = boxes(program);
    if boxes.is_empty() {
        return;
    }
    for (_, func) in program.funcs.iter_mut() {
        let held: FxHashMap<Var, Ty> =
            func.vars.iter().filter_map(|(var, info)| Some((var, boxed(&boxes, info.ty)?))).collect();
        if held.is_empty() {
            continue;
        }
        let shapes = walk(func, &boxes, false);
        let mut classes =
            Classes { held: &held, shapes: &shapes, parents: FxHashMap::default(), kept: Vec::new() };
        classes.mention(&func.body.params);
        classes.block(&func.body);
        classes.results(&func.body);
        let kept: FxHashSet<Var> =
            std::mem::take(&mut classes.kept).into_iter().map(|var| classes.class(var)).collect();
        let free: FxHashMap<Var, Ty> = held
            .iter()
            .filter(|(var, _)| !kept.contains(&classes.class(**var)))
            .map(|(var, ty)| (*var, *ty))
            .collect();
        if !free.is_empty() {
            open(func, &free);
        }
    }
}

/// What the type of a variable is without boxes, if there are any.
fn boxed(boxes: &Boxes, ty: Ty) -> Option<Ty> {
    let Elem::Data(data) = ty.elem() else { return None };
    let array = boxes.get(&data)?;
    Some(Ty::of_rank(array.elem(), array.rank().checked_add(ty.rank())?))
}

/// Variables that belong together.
struct Classes<'a> {
    held: &'a FxHashMap<Var, Ty>,
    shapes: &'a FxHashMap<Var, Shape>,
    parents: FxHashMap<Var, Var>,
    /// Variables that keep their boxes.
    kept: Vec<Var>,
}

impl Classes<'_> {
    fn class(&mut self, var: Var) -> Var {
        let mut top = var;
        while let Some(parent) = self.parents.get(&top) {
            top = *parent;
        }
        if top != var {
            self.parents.insert(var, top);
        }
        top
    }

    fn join(&mut self, a: &Atom, b: Var) {
        match a.var() {
            Some(a) if self.held.contains_key(&a) => {
                let (a, b) = (self.class(a), self.class(b));
                if a != b {
                    self.parents.insert(a, b);
                }
            }
            _ => self.mention(&[b]),
        }
    }

    /// Variables that stand where a box has to be.
    fn mention(&mut self, vars: &[Var]) {
        self.kept.extend(vars.iter().filter(|var| self.held.contains_key(var)));
    }

    fn results(&mut self, block: &Block) {
        let vars: Vec<Var> = block.results.iter().filter_map(Atom::var).collect();
        self.mention(&vars);
    }

    fn block(&mut self, block: &Block) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            block.stmts.iter().for_each(|stmt| self.stmt(stmt))
        });
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.op {
            Op::Make { data: _, ctor: _, fields }
                if stmt.outs.iter().any(|out| self.held.contains_key(out)) =>
            {
                let vars: Vec<Var> = fields.iter().filter_map(Atom::var).collect();
                self.mention(&vars);
            }
            Op::Match { on, arms } if on.var().is_some_and(|on| self.held.contains_key(&on)) => {
                self.mention(&stmt.outs);
                arms.iter().for_each(|arm| self.inside(arm));
            }
            Op::Copy(x) => {
                for out in stmt.outs.iter().filter(|out| self.held.contains_key(out)) {
                    self.join(x, *out);
                }
            }
            Op::Array(ArrayOp::Index, args) => {
                for out in stmt.outs.iter().filter(|out| self.held.contains_key(out)) {
                    args.first().into_iter().for_each(|array| self.join(array, *out));
                }
            }
            Op::Array(ArrayOp::Length(_), _) => {}
            Op::Loop(parts) => self.repeat(parts, &stmt.outs),
            op => {
                self.mention(&stmt.outs);
                self.mention(&op.operand_vars());
                op.blocks().into_iter().for_each(|inner| self.inside(inner));
            }
        }
    }

    /// A block whose parameters and results are boxes if they are of that type.
    fn inside(&mut self, block: &Block) {
        self.mention(&block.params);
        self.block(block);
        self.results(block);
    }

    fn repeat(&mut self, parts: &Loop, outs: &[Var]) {
        let carried = parts.init.len() + parts.accs.len();
        let before: Vec<Var> = parts.init.iter().chain(&parts.accs).filter_map(Atom::var).collect();
        self.mention(&before);
        self.mention(parts.body.params.get(..=carried).unwrap_or_default());
        self.mention(outs.get(..carried).unwrap_or_default());
        let after = parts.body.results.iter().take(carried);
        let after: Vec<Var> = after.filter_map(Atom::var).collect();
        self.mention(&after);
        for (param, input) in parts.body.params.iter().skip(1 + carried).zip(&parts.inputs) {
            if self.held.contains_key(param) {
                self.join(input, *param);
            }
        }
        for (out, result) in outs.iter().zip(&parts.body.results).skip(carried) {
            if let Some(ty) = self.held.get(out) {
                let shape = self.shapes.get(out).filter(|shape| shape.len() == usize::from(ty.rank()));
                if !shape.is_some_and(|shape| shape.iter().all(Option::is_some)) {
                    self.mention(&[*out]);
                }
                self.join(result, *out);
            }
        }
        self.block(&parts.body);
    }
}

/// Opens the boxes of these variables.
fn open(func: &mut Func, free: &FxHashMap<Var, Ty>) {
    for (var, info) in func.vars.iter_mut() {
        info.ty = free.get(&var).copied().unwrap_or(info.ty);
    }
    let mut body = std::mem::take(&mut func.body);
    open_in(&mut body, free);
    func.body = body;
}

fn open_in(block: &mut Block, free: &FxHashMap<Var, Ty>) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let mut out = Vec::with_capacity(block.stmts.len());
        for mut stmt in std::mem::take(&mut block.stmts) {
            stmt.op.blocks_mut().into_iter().for_each(|inner| open_in(inner, free));
            match &mut stmt.op {
                Op::Make { data: _, ctor: _, fields }
                    if stmt.outs.iter().any(|var| free.contains_key(var)) =>
                {
                    if let Some(array) = fields.pop() {
                        stmt.op = Op::Copy(array);
                    }
                    out.push(stmt);
                }
                Op::Match { on, arms } if on.var().is_some_and(|on| free.contains_key(&on)) => {
                    let (on, Block { params, stmts, results }) = (on.clone(), arms.pop().unwrap_or_default());
                    let copy =
                        |var: Var, atom: Atom| Stmt { outs: vec![var], op: Op::Copy(atom), span: stmt.span };
                    out.extend(params.into_iter().map(|param| copy(param, on.clone())));
                    out.extend(stmts);
                    out.extend(stmt.outs.iter().zip(results).map(|(var, result)| copy(*var, result)));
                }
                _ => out.push(stmt),
            }
        }
        block.stmts = out;
    });
}
