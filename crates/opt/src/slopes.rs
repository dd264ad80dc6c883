//! What a loop hands on from step to step as a tangent or cotangent is multiplied with the slope of the step.
//!
//! Derivative code is linear in the (co)tangent that a loop carries. Where it goes through several products and quotients, each step
//! waits for all of those of the step before. The slope of a step does not depend on what is carried: it is what comes out for 1. So
//! steps wait for one product only, and what is multiplied with 1 needs no product.
//!
//! ```text
//! a = -x_bar                          a = -1.0
//! b = div_zero(a, d)                  b = a / d
//! c = mul_zero(b, q)                  c = mul_zero(b, q)
//! next = x_bar + c          becomes   slope = 1.0 + c;  next = mul_zero(x_bar, slope)
//! z_bar2 = z_bar + b                  t = mul_zero(x_bar, b);  z_bar2 = z_bar + t
//! ```
//!
//! That rounds differently. The pass is for where numbers need not be to the last bit those of the interpreter.

#![expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is not linear")]

use rustc_hash::FxHashMap;
use wengert_base::{Name, Span};
use wengert_ir::op::{ArrayOp, Compare, Op};
use wengert_ir::program::VarInfo;
use wengert_ir::{Atom, Block, Func, Program, Stmt, Ty, Var};
use wengert_prim::RealOp;

/// The shortest way from one step to the next that is worth it, in sums and products.
const LONG: u32 = 3;
/// A quotient takes as long as so many of them.
const QUOTIENT: u32 = 3;

/// See the module. Whether something has changed.
pub(crate) fn run(program: &mut Program) -> bool {
    let mut changed = false;
    for (_, func) in program.funcs.iter_mut() {
        let mut body = std::mem::take(&mut func.body);
        changed |= block(func, &mut body);
        func.body = body;
    }
    changed
}

fn block(func: &mut Func, place: &mut Block) -> bool {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let mut changed = false;
        for stmt in &mut place.stmts {
            for inner in stmt.op.blocks_mut() {
                changed |= block(func, inner);
            }
            let (body, params) = match &mut stmt.op {
                Op::Loop(parts) => {
                    let count = parts.init.len();
                    (&mut parts.body, 1..count + 1)
                }
                Op::While(parts) => {
                    let count = parts.init.len();
                    (&mut parts.body, 0..count)
                }
                _ => continue,
            };
            if !is_innermost(body) {
                continue;
            }
            for (result, place) in params.enumerate() {
                let Some(param) = body.params.get(place).copied() else { continue };
                if func.ty(param) == Ty::REAL
                    && let Some(better) = with_slope(func, body, param, result)
                {
                    *body = better;
                    changed = true;
                }
            }
        }
        changed
    })
}

/// Whether nothing in the body of a loop takes longer than its operations.
fn is_innermost(body: &Block) -> bool {
    let mut fine = true;
    body.for_each_stmt(&mut |stmt| {
        fine &= !matches!(stmt.op, Op::Loop(_) | Op::While(_) | Op::Call { .. } | Op::Match { .. });
    });
    fine
}

/// A number that is linear in what is carried: `base + seed·slope`.
#[derive(Clone, Debug, PartialEq)]
struct Linear {
    base: Option<Atom>,
    slope: Atom,
    /// How many operations lead to it from the seed.
    length: u32,
    /// Whether it comes from the seed by quotients, signs and constants only: then a slope of 0 says that a divisor is infinite, and is no
    /// strong zero.
    quotient: bool,
}

impl Linear {
    /// What does not depend on the seed.
    fn constant(atom: &Atom) -> Linear {
        let base = Some(atom.clone()).filter(|atom| *atom != Atom::Real(0.0));
        Linear { base, slope: Atom::Real(0.0), length: 0, quotient: false }
    }
}

/// The body of a loop where the carried variable, which result number `result` is for the next step, meets slopes only.
fn with_slope(func: &mut Func, body: &Block, param: Var, result: usize) -> Option<Block> {
    let mut seed = param;
    while let Some(next) = only_sum(body, seed) {
        seed = next;
    }
    let known = Linear { base: None, slope: Atom::Real(1.0), length: 0, quotient: false };
    let mut body = body.clone();
    let mut slopes =
        Slopes { func, seed, known: FxHashMap::from_iter([(seed, known)]), strong: false, exits: 0 };
    let mut stmts = slopes.stmts(std::mem::take(&mut body.stmts))?;
    let length = match body.results.get(result) {
        Some(Atom::Var(var)) => slopes.known.get(var)?.length,
        _ => return None,
    };
    let span = stmts.last()?.span;
    for atom in &mut body.results {
        if let Some(linear) = slopes.known_of(atom) {
            *atom = slopes.leave(&linear, span, &mut stmts);
        }
    }
    body.stmts = stmts;
    (slopes.strong && length >= LONG && slopes.exits <= 2 * length).then_some(body)
}

/// The sum of a variable and something else, if it is the only use of the variable.
fn only_sum(body: &Block, var: Var) -> Option<Var> {
    let mut uses = 0;
    let mut count = |atom: &Atom| uses += u32::from(*atom == Atom::Var(var));
    body.results.iter().for_each(&mut count);
    body.for_each_stmt(&mut |stmt| {
        stmt.op.for_each_atom(&mut count);
        stmt.op.blocks().into_iter().flat_map(|inner| &inner.results).for_each(&mut count);
    });
    let is_sum = |stmt: &&Stmt| match &stmt.op {
        Op::Real(RealOp::Add, args) => args.contains(&Atom::Var(var)),
        Op::Real(RealOp::Sub, args) => args.first() == Some(&Atom::Var(var)),
        _ => false,
    };
    let sum = body.stmts.iter().find(is_sum).filter(|_| uses == 1)?;
    sum.outs.first().copied()
}

struct Slopes<'f> {
    func: &'f mut Func,
    seed: Var,
    /// Variables that depend on the seed.
    known: FxHashMap<Var, Linear>,
    /// Whether something was multiplied with the seed as derivatives are.
    strong: bool,
    /// How many products with the seed there are.
    exits: u32,
}

impl Slopes<'_> {
    fn known_of(&self, atom: &Atom) -> Option<Linear> {
        self.known.get(&atom.var()?).cloned()
    }

    fn linear(&self, atom: &Atom) -> Linear {
        self.known_of(atom).unwrap_or_else(|| Linear::constant(atom))
    }

    /// Statements with slopes in place of what depends on the seed; `None` if something is not linear.
    fn stmts(&mut self, stmts: Vec<Stmt>) -> Option<Vec<Stmt>> {
        let mut out = Vec::with_capacity(stmts.len());
        for stmt in stmts {
            self.stmt(stmt, &mut out)?;
        }
        Some(out)
    }

    fn depends(&self, stmt: &Stmt) -> bool {
        let mut found = false;
        let mut see = |atom: &Atom| found |= self.known_of(atom).is_some();
        stmt.op.for_each_atom(&mut see);
        for inner in stmt.op.blocks() {
            inner.results.iter().for_each(&mut see);
            inner.for_each_stmt(&mut |stmt| {
                stmt.op.for_each_atom(&mut see);
                stmt.op.blocks().into_iter().flat_map(|inner| &inner.results).for_each(&mut see);
            });
        }
        found
    }

    fn stmt(&mut self, mut stmt: Stmt, out: &mut Vec<Stmt>) -> Option<()> {
        if !self.depends(&stmt) {
            out.push(stmt);
            return Some(());
        }
        let var = *stmt.outs.first()?;
        let info = *self.func.vars.at(var);
        let linear = match &mut stmt.op {
            Op::Copy(atom) => self.linear(atom),
            Op::Real(op, args) => {
                let args: Vec<Linear> = args.iter().map(|arg| self.linear(arg)).collect();
                self.real(*op, &args, (info, stmt.span), out)?
            }
            Op::Select { cond, then, otherwise } => {
                let (then, otherwise) = (self.linear(then), self.linear(otherwise));
                if then.base != otherwise.base || info.ty != Ty::REAL {
                    return None;
                }
                let op = Op::Select { cond: cond.clone(), then: then.slope, otherwise: otherwise.slope };
                let slope = self.emit(op, (info, stmt.span), out);
                Linear {
                    base: then.base,
                    slope,
                    length: then.length.max(otherwise.length) + 1,
                    quotient: false,
                }
            }
            Op::Array(ArrayOp::AddAt, args) => {
                let (value, others) = args.split_last_mut()?;
                if others.iter().any(|other| self.known_of(other).is_some()) || info.ty.rank() == 0 {
                    return None;
                }
                let linear = self.known_of(value)?;
                *value = self.leave(&linear, stmt.span, out);
                out.push(stmt);
                return Some(());
            }
            Op::Make { fields, .. } => {
                for field in fields {
                    if let Some(linear) = self.known_of(field) {
                        *field = self.leave(&linear, stmt.span, out);
                    }
                }
                out.push(stmt);
                return Some(());
            }
            Op::If { .. } => return self.branch(stmt, out),
            _ => return None,
        };
        self.known.insert(var, linear);
        Some(())
    }

    /// Both branches give slopes where one did depend on the seed.
    fn branch(&mut self, mut stmt: Stmt, out: &mut Vec<Stmt>) -> Option<()> {
        let Op::If { cond, then, otherwise } = &mut stmt.op else { return None };
        if self.known_of(cond).is_some() {
            return None;
        }
        for arm in [&mut *then, &mut *otherwise] {
            let stmts = std::mem::take(&mut arm.stmts);
            arm.stmts = stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || self.stmts(stmts))?;
        }
        for ((x, y), var) in then.results.iter_mut().zip(&mut otherwise.results).zip(&stmt.outs) {
            if self.known_of(x).is_none() && self.known_of(y).is_none() {
                continue;
            }
            let (of_x, of_y) = (self.linear(x), self.linear(y));
            if of_x.base != of_y.base || self.func.ty(*var) != Ty::REAL {
                return None;
            }
            (*x, *y) = (of_x.slope, of_y.slope);
            let length = of_x.length.max(of_y.length) + 1;
            self.known
                .insert(*var, Linear { base: of_x.base, slope: Atom::Var(*var), length, quotient: false });
        }
        out.push(stmt);
        Some(())
    }

    fn real(
        &mut self,
        op: RealOp,
        args: &[Linear],
        at: (VarInfo, Span),
        out: &mut Vec<Stmt>,
    ) -> Option<Linear> {
        let length = args.iter().map(|arg| arg.length).max().unwrap_or(0);
        let is_constant = |arg: &Linear| arg.slope == Atom::Real(0.0);
        let value = |arg: &Linear| arg.base.clone().unwrap_or(Atom::Real(0.0));
        match (op, args) {
            (RealOp::Add | RealOp::Sub, [x, y]) => {
                let base = self.sum(op, x.base.clone(), y.base.clone(), at, out);
                let some = |arg: &Linear| Some(arg.slope.clone()).filter(|_| !is_constant(arg));
                let slope = self.sum(op, some(x), some(y), at, out).unwrap_or(Atom::Real(0.0));
                Some(Linear { base, slope, length: length + 1, quotient: false })
            }
            (RealOp::Neg, [x]) if x.base.is_none() => {
                let slope = self.emit(Op::Real(RealOp::Neg, vec![x.slope.clone()]), at, out);
                Some(Linear { base: None, slope, length: length + 1, quotient: x.quotient })
            }
            (RealOp::Mul | RealOp::MulZero, [x, y]) => {
                self.strong |= op == RealOp::MulZero;
                let (args, by, quotient) = match (is_constant(x), is_constant(y)) {
                    (false, true) if x.base.is_none() => {
                        (vec![x.slope.clone(), value(y)], value(y), x.quotient)
                    }
                    (true, false) if y.base.is_none() => {
                        (vec![value(x), y.slope.clone()], value(x), y.quotient)
                    }
                    (_, _) => return None,
                };
                let slope = self.emit(Op::Real(op, args), at, out);
                let quotient = quotient && matches!(by, Atom::Real(c) if c.is_normal());
                Some(Linear { base: None, slope, length: length + 1, quotient })
            }
            (RealOp::DivZero, [x, d]) if x.base.is_none() && is_constant(d) => {
                self.strong = true;
                let slope = self.emit(Op::Real(op, vec![x.slope.clone(), value(d)]), at, out);
                let quotient = x.quotient || matches!(x.slope, Atom::Real(_));
                Some(Linear { base: None, slope, length: length + QUOTIENT, quotient })
            }
            (_, _) => None,
        }
    }

    /// A sum or difference of what is there.
    fn sum(
        &mut self,
        op: RealOp,
        x: Option<Atom>,
        y: Option<Atom>,
        at: (VarInfo, Span),
        out: &mut Vec<Stmt>,
    ) -> Option<Atom> {
        match (x, y) {
            (x, None) => x,
            (None, Some(y)) if op == RealOp::Add => Some(y),
            (None, Some(y)) => Some(self.emit(Op::Real(RealOp::Neg, vec![y]), at, out)),
            (Some(x), Some(y)) => Some(self.emit(Op::Real(op, vec![x, y]), at, out)),
        }
    }

    /// The number itself.
    fn leave(&mut self, linear: &Linear, span: Span, out: &mut Vec<Stmt>) -> Atom {
        if linear.slope == Atom::Real(0.0) {
            return linear.base.clone().unwrap_or(Atom::Real(0.0));
        }
        self.exits += 1;
        let at = (VarInfo { name: Name::new("t"), ty: Ty::REAL }, span);
        let factors = vec![Atom::Var(self.seed), linear.slope.clone()];
        let product = if linear.quotient {
            let product = self.emit(Op::Real(RealOp::Mul, factors), at, out);
            let truth = (VarInfo { name: Name::new("c"), ty: Ty::BOOL }, span);
            let seed = Atom::Var(self.seed);
            let is_zero = self.emit(Op::Compare(Compare::Eq, seed, Atom::Real(0.0)), truth, out);
            self.emit(Op::Select { cond: is_zero, then: Atom::Real(0.0), otherwise: product }, at, out)
        } else {
            self.emit(Op::Real(RealOp::MulZero, factors), at, out)
        };
        match &linear.base {
            None => product,
            Some(base) => self.emit(Op::Real(RealOp::Add, vec![base.clone(), product]), at, out),
        }
    }

    fn emit(&mut self, op: Op, (info, span): (VarInfo, Span), out: &mut Vec<Stmt>) -> Atom {
        let var = self.func.vars.push(info);
        out.push(Stmt { outs: vec![var], op, span });
        Atom::Var(var)
    }
}
