//! Recursion that branches calls itself most often just before its leaves. So a call in a function of itself looks whether only leaves
//! come after it, and is then what the function does in this case: without calls, and without loops.
//!
//! ```text
//! f(n) = if n == 1 { leaf } else { … for i < n: y = if n - 1 == 1 { leaf } else { f(n - 1) } … }
//!                                                becomes   y = … else if n - 1 == 2 { leaf … leaf } else { f(n - 1) }
//! ```
//!
//! Which case is just before the leaves is known where a leaf is told by a number: a parameter, or the length of one. A list that
//! is made for the call, whose elements are looked at one by one, need not be made then. Where calls are in no loop there is less to
//! gain, and the function stays shorter as it is.
//!
//! This is done once, before derivatives are made, after calls look for [leaves](crate::leaves).

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is no loop")]

use crate::facts::total;
use crate::leaves::{Shape, made_before, replace_calls};
use crate::{simplify, unroll};
use wengert_ir::build::Copier;
use wengert_ir::op::{ArrayOp, Compare, Op};
use wengert_ir::program::{FuncId, VarInfo};
use wengert_ir::{Atom, Block, Elem, Func, Program, Stmt, Ty, Var};

/// So many statements in a twig.
const TWIG: usize = 64;
/// So many loops in each other become iterations.
const ROUNDS: usize = 4;

/// See the module. Whether something has changed.
pub(crate) fn run(program: &mut Program) -> bool {
    let total = total(program);
    let mut changed = false;
    for id in program.funcs.ids() {
        let original = program.funcs.at(id).clone();
        let shape = Shape::of(&original, id, &total).filter(|shape| calls_in_loop(shape.rest, id));
        let Some(twig) = shape.and_then(|shape| Twig::of(&original, &shape)) else { continue };
        let mut func = original.clone();
        let mut body = std::mem::take(&mut func.body);
        let is_safe = |stmt: &Stmt| crate::facts::is_safe(&stmt.op, &total);
        let mut grow = Grow { twig: &twig, is_safe: &is_safe, func: &mut func };
        replace_calls(&mut body, id, &mut |call, args, uses, out| grow.call(call, args, uses, out));
        func.body = body;
        *program.funcs.at_mut(id) = func;
        changed = true;
    }
    changed
}

/// Whether a loop of a block calls a function.
fn calls_in_loop(block: &Block, id: FuncId) -> bool {
    let is_call = |stmt: &Stmt| matches!(stmt.op, Op::Call { func, .. } if func == id);
    !block.all_stmts(&mut |stmt| match &stmt.op {
        Op::Loop(parts) => parts.body.all_stmts(&mut |stmt| !is_call(stmt)),
        _ => true,
    })
}

/// A function where only leaves come after it.
struct Twig {
    /// What it does then.
    func: Func,
    /// Which parameter tells, or the length of which.
    param: usize,
    is_length: bool,
    /// The number that it is then.
    number: i64,
}

impl Twig {
    fn of(original: &Func, shape: &Shape<'_>) -> Option<Twig> {
        let head = |var: Var| shape.head.iter().find(|stmt| stmt.outs.contains(&var)).map(|stmt| &stmt.op);
        let Op::Compare(compare, Atom::Var(n), Atom::Int(known)) = head(shape.cond.var()?)? else {
            return None;
        };
        let number = match (compare, shape.when) {
            (Compare::Eq, true) | (Compare::Ne, false) | (Compare::Le, true) | (Compare::Gt, false) => {
                known.checked_add(1)?
            }
            (Compare::Lt, true) | (Compare::Ge, false) => *known,
            (Compare::Eq | Compare::Le | Compare::Lt, false)
            | (Compare::Ne | Compare::Gt | Compare::Ge, true) => return None,
        };
        let place = |var: &Var| original.body.params.iter().position(|param| param == var);
        let (param, is_length) = match head(*n) {
            Some(Op::Array(ArrayOp::Length(0), args)) => (place(&args.first()?.var()?)?, true),
            Some(_) => return None,
            None => (place(n)?, false),
        };
        let func = specialized(original, shape, *n, number);
        let flat = func.body.all_stmts(&mut |stmt| {
            !matches!(stmt.op, Op::Loop(_) | Op::While(_) | Op::Call { .. } | Op::Custom(_))
        });
        (flat && func.body.size() <= TWIG).then_some(Twig { func, param, is_length, number })
    }
}

/// The function where this is no leaf and `n` is that number.
fn specialized(original: &Func, shape: &Shape<'_>, n: Var, number: i64) -> Func {
    let mut func = original.clone();
    let mut copier = Copier::new(original);
    copier.set(n, Atom::Int(number));
    let mut stmts = Vec::new();
    for stmt in shape.head.iter().filter(|stmt| !stmt.outs.contains(&n)).chain(&shape.rest.stmts) {
        stmts.push(copier.stmt(&mut func, stmt));
    }
    for (out, result) in shape.outs.iter().zip(&shape.rest.results) {
        copier.set(*out, copier.atom(result));
    }
    let results = original.body.results.iter().map(|atom| copier.atom(atom)).collect();
    func.body = Block { params: original.body.params.clone(), stmts, results };
    for _ in 0..ROUNDS {
        simplify::function(&mut func);
        let mut body = std::mem::take(&mut func.body);
        let changed = unroll::block(&mut func, &mut body);
        func.body = body;
        if !changed {
            break;
        }
    }
    func
}

struct Grow<'a> {
    twig: &'a Twig,
    is_safe: &'a dyn Fn(&Stmt) -> bool,
    func: &'a mut Func,
}

impl Grow<'_> {
    fn call(&mut self, call: Stmt, args: &[Atom], uses: &[Var], out: &mut Vec<Stmt>) {
        let span = call.span;
        let Some(arg) = args.get(self.twig.param).cloned() else { return out.push(call) };
        let made = arg
            .var()
            .filter(|_| self.twig.is_length)
            .and_then(|list| made_before(list, uses, out, self.is_safe))
            .map(|place| out.remove(place));
        let number = match &made {
            Some(Stmt { op: Op::Loop(parts), .. }) => parts.len.clone(),
            _ if self.twig.is_length => {
                self.push("n", Elem::Int, Op::Array(ArrayOp::Length(0), vec![arg.clone()]), &call, out)
            }
            _ => arg.clone(),
        };
        let known = Atom::Int(self.twig.number);
        let cond = self.push("is_last", Elem::Bool, Op::Compare(Compare::Eq, number, known), &call, out);
        let twig = self.twig(&arg, args, made.as_ref());
        let outs: Vec<Var> =
            call.outs.iter().map(|out| self.func.vars.push(*self.func.vars.at(*out))).collect();
        let results = outs.iter().copied().map(Atom::Var).collect();
        let again = Stmt { outs, op: call.op, span };
        let deeper = Block { params: Vec::new(), stmts: made.into_iter().chain([again]).collect(), results };
        out.push(Stmt { outs: call.outs, op: Op::If { cond, then: twig, otherwise: deeper }, span });
    }

    /// What the call is where only leaves come after it, with its list made before.
    fn twig(&mut self, arg: &Atom, args: &[Atom], made: Option<&Stmt>) -> Block {
        let mut block = Block::default();
        let mut list = arg.clone();
        if let Some(made) = made {
            let mut copy = Copier::within().stmt(self.func, made);
            if let Op::Loop(parts) = &mut copy.op {
                parts.len = Atom::Int(self.twig.number);
            }
            list = copy.outs.first().copied().map_or(list, Atom::Var);
            block.stmts.push(copy);
            unroll::block(self.func, &mut block);
        }
        let mut copier = Copier::new(&self.twig.func);
        for (place, (param, arg)) in self.twig.func.body.params.iter().zip(args).enumerate() {
            let told = if self.twig.is_length { list.clone() } else { Atom::Int(self.twig.number) };
            copier.set(*param, if place == self.twig.param { told } else { arg.clone() });
        }
        for stmt in &self.twig.func.body.stmts {
            block.stmts.push(copier.stmt(self.func, stmt));
        }
        block.results = self.twig.func.body.results.iter().map(|atom| copier.atom(atom)).collect();
        block
    }

    /// Appends an operation at the place of a call.
    fn push(&mut self, name: &'static str, elem: Elem, op: Op, call: &Stmt, out: &mut Vec<Stmt>) -> Atom {
        let var = self.func.vars.push(VarInfo { name: name.into(), ty: Ty::Scalar(elem) });
        out.push(Stmt { outs: vec![var], op, span: call.span });
        Atom::Var(var)
    }
}
