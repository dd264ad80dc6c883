//! Factors of two and signs go where they cost nothing: into constants, and into differences.
//!
//! The slope of a square is `x + x`, that of a root is `1/(r + r)`, and differences leave signs behind. A person would write them
//! together with the constants around them.
//!
//! ```text
//! a = x + x   b = a / 2.0                        becomes   b = x
//! a = e + e   b = a * 100.0                      becomes   b = e * 200.0
//! a = x / 3.0   b = a * 6.0                      becomes   b = x * 2.0
//! a = x * 1.5   b = a * 6.0                      becomes   b = x * 9.0
//! a = x * 3.0   b = y * 0.5   c = a * b          becomes   p = x * y     c = p * 1.5
//! a = r + r   b = 1.0 / a   c = b * y  d = c + c  becomes   b = 1.0 / r   d = b * y
//! a = x + x   b = 0.5 / r   c = b * a            becomes   b = 1.0 / r   c = b * x
//! a = 1.0 / x   b = a * a                        becomes   p = x * x     b = 1.0 / p
//! a = sign(x) b = mul_zero(x, a)                  becomes   b = abs(x)
//! a = -x      b = mul_zero(a, y)   c = b + z      becomes   b = mul_zero(x, y)   c = z - b
//! ```
//!
//! Twice a number is exact, so nothing is rounded otherwise, and what is multiplied with two constants that make one is rounded once instead of
//! twice; but where numbers come near to the largest or the smallest there are, and for the signs of zeros, results differ. The pass is for where numbers need not be to the last bit those of the interpreter.

mod constants;
mod uses;

use constants::{in_one, is_power_of_two, scaled, together};
use rustc_hash::{FxHashMap, FxHashSet};
use uses::Uses;
use wengert_base::{Name, Span};
use wengert_ir::op::Op;
use wengert_ir::program::VarInfo;
use wengert_ir::{Atom, Block, Func, Program, Stmt, Ty, Var};
use wengert_prim::RealOp;

/// So deep into products one looks for a constant or a sign.
const DEEP: u32 = 4;

/// See the module. Whether something has changed.
pub(crate) fn run(program: &mut Program) -> bool {
    let mut changed = false;
    for (_, func) in program.funcs.iter_mut() {
        let mut body = std::mem::take(&mut func.body);
        let uses = Uses::of(&body);
        let mut here =
            Here { func, uses, made: FxHashMap::default(), sums: FxHashSet::default(), open: Vec::new() };
        changed |= block(&mut here, &mut body);
        func.body = body;
    }
    changed
}

fn block(here: &mut Here, place: &mut Block) -> bool {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        let mut changed = false;
        let stmts = std::mem::take(&mut place.stmts);
        here.open.push(Vec::with_capacity(stmts.len()));
        for mut stmt in stmts {
            here.sums.extend(handed_on(&stmt.op));
            for inner in stmt.op.blocks_mut() {
                changed |= block(here, inner);
            }
            if let (Op::Real(op, args), [var]) = (&stmt.op, stmt.outs.as_slice()) {
                let (var, found) = (*var, Better { here, span: stmt.span }.of(*op, args));
                changed |= found.is_some();
                stmt.op = found.unwrap_or(stmt.op);
                here.remember(var, &stmt.op, here.open.len());
            }
            here.put(here.open.len(), stmt);
        }
        place.stmts = here.open.pop().unwrap_or_default();
        changed
    })
}

/// What a loop hands on from step to step, as it is known in a step.
pub(crate) fn handed_on(op: &Op) -> &[Var] {
    let handed = if let Op::Loop(parts) = op {
        parts.body.params.get(1..1 + parts.init.len() + parts.accs.len())
    } else if let Op::While(parts) = op {
        parts.body.params.get(..parts.init.len())
    } else {
        None
    };
    handed.unwrap_or_default()
}

/// What is known at a place of a function.
struct Here<'f> {
    func: &'f mut Func,
    uses: Uses,
    /// What statements before compute from reals.
    made: FxHashMap<Var, Computed>,
    /// What loops hand on, and sums with it: what is added up from step to step stays a sum.
    sums: FxHashSet<Var>,
    /// The statements so far of the block that the place is in, last, and of those around it.
    open: Vec<Vec<Stmt>>,
}

/// A number that was computed.
struct Computed {
    op: RealOp,
    args: Vec<Atom>,
    /// In how many blocks the statement stands.
    depth: usize,
}

impl Here<'_> {
    fn remember(&mut self, var: Var, op: &Op, depth: usize) {
        let Op::Real(op, args) = op else { return };
        let is_sum = |atom: &Atom| atom.var().is_some_and(|var| self.sums.contains(&var));
        if matches!(op, RealOp::Add | RealOp::Sub) && args.iter().any(is_sum) {
            self.sums.insert(var);
        }
        self.made.insert(var, Computed { op: *op, args: args.clone(), depth });
    }

    /// Puts a statement after those so far of the block at this depth.
    fn put(&mut self, depth: usize, stmt: Stmt) {
        if let Some(block) = depth.checked_sub(1).and_then(|place| self.open.get_mut(place)) {
            block.push(stmt);
        }
    }

    fn made(&self, atom: &Atom) -> Option<(RealOp, &[Atom])> {
        let made = self.made.get(&atom.var()?)?;
        Some((made.op, &made.args))
    }

    fn is_sum(&self, atom: &Atom) -> bool {
        atom.var().is_some_and(|var| self.sums.contains(&var))
    }

    /// A number and the constant with which it is multiplied.
    fn multiple(&self, atom: &Atom) -> Option<(Atom, f64)> {
        match self.made(atom)? {
            (RealOp::Add, [x, y]) if x == y => Some((x.clone(), 2.0)),
            (RealOp::Mul, [x @ Atom::Var(_), Atom::Real(c)] | [Atom::Real(c), x @ Atom::Var(_)]) => {
                Some((x.clone(), *c))
            }
            _ => None,
        }
    }

    /// The same, also for halves, quarters and so on.
    fn multiple_or_part(&self, atom: &Atom) -> Option<(Atom, f64)> {
        match self.made(atom)? {
            (RealOp::Div, [x @ Atom::Var(_), Atom::Real(c)]) if is_power_of_two(*c) => {
                Some((x.clone(), 1.0 / c))
            }
            _ => self.multiple(atom),
        }
    }

    /// What this is the negative of.
    fn negative(&self, atom: &Atom) -> Option<Atom> {
        match self.made(atom)? {
            (RealOp::Neg, [x]) => Some(x.clone()),
            _ => None,
        }
    }

    /// Half of a number, if it is the sum of two that are the same.
    fn half(&self, atom: &Atom) -> Option<Atom> {
        match self.made(atom)? {
            (RealOp::Add, [half, other]) if half == other => Some(half.clone()),
            _ => None,
        }
    }

    /// Whether its negative is all that is wanted of it.
    fn is_only_negated(&self, atom: &Atom) -> bool {
        let wanted = |var: Var| {
            let count = self.uses.count(var);
            count == 1 || self.uses.negated.count(var) >= count
        };
        atom.var().is_some_and(wanted)
    }

    fn is_used_once(&self, atom: &Atom, times: usize) -> bool {
        atom.var().is_some_and(|var| self.uses.count(var) == times)
    }

    /// Whether twice this number costs no more than the number.
    fn takes_two(&self, atom: &Atom, depth: u32) -> bool {
        let Some(var) = atom.var() else { return false };
        match self.made(atom) {
            Some((RealOp::Mul, [_, Atom::Real(_)] | [Atom::Real(_), _])) => true,
            Some((RealOp::Div, [_, Atom::Real(_)] | [Atom::Real(_), _])) => self.uses.is_only_doubled(var),
            Some((RealOp::Div | RealOp::DivZero, [y, twice])) => {
                self.uses.count(var) == 1
                    && (self.half(twice).is_some()
                        || depth > 0 && self.is_used_once(y, 1) && self.takes_two(y, depth - 1))
            }
            Some((RealOp::Mul | RealOp::MulZero, [x, y])) => {
                depth > 0
                    && self.uses.count(var) == 1
                    && (self.takes_two(x, depth - 1) || self.takes_two(y, depth - 1))
            }
            _ => false,
        }
    }
}

fn binary(op: RealOp, x: &Atom, y: &Atom) -> Option<Op> {
    Some(Op::Real(op, vec![x.clone(), y.clone()]))
}

/// Looks for something better than a statement.
struct Better<'h, 'f> {
    here: &'h mut Here<'f>,
    span: Span,
}

impl Better<'_, '_> {
    fn of(&mut self, op: RealOp, args: &[Atom]) -> Option<Op> {
        match (op, args) {
            (RealOp::Add, [x, y]) if x == y => self.twice(x, DEEP),
            (RealOp::Add, [Atom::Real(0.0), x] | [x, Atom::Real(0.0)]) => Some(Op::Copy(x.clone())),
            (RealOp::Add, [x, y]) => self.sum(x, y).or_else(|| self.sum(y, x)),
            (RealOp::Sub, [Atom::Real(0.0), x]) => {
                self.negated(x).or_else(|| Some(Op::Real(RealOp::Neg, vec![x.clone()])))
            }
            (RealOp::Sub, [x, y]) if !self.here.is_sum(x) => {
                let y = self.without_sign(y, DEEP)?;
                binary(RealOp::Add, x, &y)
            }
            (RealOp::Neg, [x]) => self.negated(x),
            (RealOp::Mul | RealOp::MulZero, [x, Atom::Real(c)] | [Atom::Real(c), x]) => {
                // A constant is no zero that would make infinities vanish.
                let plain = (op == RealOp::MulZero && c.is_normal()).then(|| (x.clone(), Atom::Real(*c)));
                let times = self.times(x, *c).or_else(|| self.times_two(x, *c));
                times.or_else(|| plain.and_then(|(x, c)| binary(RealOp::Mul, &x, &c)))
            }
            // A zero stays one, divided by zero too.
            (RealOp::DivZero, [_, Atom::Real(c)]) if !c.is_normal() => None,
            (RealOp::Div | RealOp::DivZero, [x, Atom::Real(c)]) => self.divided(x, *c),
            (RealOp::Div, [Atom::Real(c), x]) => self.constant_divided(*c, x),
            (RealOp::Mul | RealOp::MulZero, [x, y]) => {
                let better = self.magnitude(x, y).or_else(|| self.both_negative(op, x, y));
                let better = better.or_else(|| self.both_parts(op, x, y));
                better.or_else(|| self.two_elsewhere(op, x, y)).or_else(|| self.both_multiples(op, x, y))
            }
            (RealOp::Div | RealOp::DivZero, [x, y]) => self.both_negative(op, x, y),
            _ => None,
        }
    }

    /// `x` times its sign: nothing else is 0 if one of them is, and both are no numbers together.
    fn magnitude(&self, x: &Atom, y: &Atom) -> Option<Op> {
        let is_sign = |sign: &Atom, of: &Atom| match self.here.made(sign) {
            Some((RealOp::Sign, [x])) => x == of,
            _ => false,
        };
        let of = if is_sign(y, x) { x } else { Some(y).filter(|y| is_sign(x, y))? };
        Some(Op::Real(RealOp::Abs, vec![of.clone()]))
    }

    fn both_negative(&self, op: RealOp, x: &Atom, y: &Atom) -> Option<Op> {
        binary(op, &self.here.negative(x)?, &self.here.negative(y)?)
    }

    /// `(k / z) * (c / z)`, of numbers that are needed for nothing else.
    fn both_parts(&mut self, op: RealOp, x: &Atom, y: &Atom) -> Option<Op> {
        let times = if x == y { 2 } else { 1 };
        let alone = [x, y].iter().all(|part| self.here.is_used_once(part, times));
        let (RealOp::Div, [Atom::Real(k), z]) = self.here.made(x)? else { return None };
        let (RealOp::Div, [Atom::Real(c), w]) = self.here.made(y)? else { return None };
        if op != RealOp::Mul || !alone || z != w || z.var().is_none() {
            return None;
        }
        let (constant, z) = (in_one(*k, *c)?, z.clone());
        let square = self.emit_here(binary(RealOp::Mul, &z, &z)?);
        binary(RealOp::Div, &constant, &square)
    }

    /// `x * y`, where both have constants and are needed for nothing else.
    fn both_multiples(&mut self, op: RealOp, x: &Atom, y: &Atom) -> Option<Op> {
        if !self.here.is_used_once(x, 1) || !self.here.is_used_once(y, 1) {
            return None;
        }
        let ((a, k), (b, c)) = (self.here.multiple_or_part(x)?, self.here.multiple_or_part(y)?);
        if k * c == 1.0 {
            return binary(op, &a, &b);
        }
        let constant = in_one(k, c)?;
        let product = self.emit_here(binary(op, &a, &b)?);
        binary(RealOp::Mul, &product, &constant)
    }

    /// A statement before this one.
    fn emit_here(&mut self, op: Op) -> Atom {
        let var = self.here.func.fresh(Name::new("t"), Ty::REAL);
        let depth = self.here.open.len();
        self.here.remember(var, &op, depth);
        self.here.put(depth, Stmt { outs: vec![var], op, span: self.span });
        Atom::Var(var)
    }

    /// `x * y`, where one of them is twice something and the other has a constant that takes the two.
    fn two_elsewhere(&mut self, op: RealOp, x: &Atom, y: &Atom) -> Option<Op> {
        if let Some(y) = self.here.half(y) {
            let x = self.constant_twice(x)?;
            return binary(op, &x, &y);
        }
        let x = self.here.half(x)?;
        let y = self.constant_twice(y)?;
        binary(op, &x, &y)
    }

    /// Twice what has a constant, and is used for nothing but this and its like.
    fn constant_twice(&mut self, x: &Atom) -> Option<Atom> {
        let var = x.var()?;
        let beside = self.here.uses.beside_twice.get(&var).copied().unwrap_or_default();
        if self.here.uses.count(var) > beside.max(1) {
            return None;
        }
        let op = match self.here.made(x)? {
            (RealOp::Div, [Atom::Real(c), y]) => binary(RealOp::Div, &together(2.0, *c, 2.0 * c)?, y)?,
            (RealOp::Mul, [y, Atom::Real(c)] | [Atom::Real(c), y]) => {
                binary(RealOp::Mul, y, &together(2.0, *c, 2.0 * c)?)?
            }
            _ => return None,
        };
        Some(self.emit(x, op))
    }

    /// `x + y`, where `y` is the negative of something.
    fn sum(&mut self, x: &Atom, y: &Atom) -> Option<Op> {
        if self.here.is_sum(x) || matches!(x, Atom::Real(_)) {
            return None;
        }
        let y = self.without_sign(y, DEEP)?;
        binary(RealOp::Sub, x, &y)
    }

    /// `x * c`
    fn times(&self, x: &Atom, c: f64) -> Option<Op> {
        if let Some((y, k)) = self.here.multiple(x) {
            return binary(RealOp::Mul, &y, &in_one(k, c)?);
        }
        match self.here.made(x)? {
            (RealOp::Neg, [y]) => binary(RealOp::Mul, y, &Atom::Real(-c)),
            (RealOp::Div, [Atom::Real(k), y]) if self.here.is_used_once(x, 1) => {
                binary(RealOp::Div, &together(*k, c, k * c)?, y)
            }
            (RealOp::Div, [y, Atom::Real(k)]) => scaled(y, c, *k),
            _ => None,
        }
    }

    /// `x * 2`, where `x` is a product that is needed for nothing else.
    fn times_two(&mut self, x: &Atom, c: f64) -> Option<Op> {
        let is_product = matches!(self.here.made(x)?.0, RealOp::Mul | RealOp::MulZero);
        let fits = c == 2.0 && is_product && self.here.is_used_once(x, 1);
        if fits { self.product_with_two(x, DEEP) } else { None }
    }

    /// `x / c`
    fn divided(&self, x: &Atom, c: f64) -> Option<Op> {
        if c == -1.0 {
            return Some(Op::Real(RealOp::Neg, vec![x.clone()]));
        }
        if let Some((y, k)) = self.here.multiple(x) {
            return if k == c {
                Some(Op::Copy(y))
            } else if is_power_of_two(c) {
                binary(RealOp::Mul, &y, &together(k, c, k / c)?)
            } else if let Some(by) = together(k, c, c / k).filter(|_| k % c != 0.0) {
                binary(RealOp::Div, &y, &by)
            } else {
                scaled(&y, k, c)
            };
        }
        let y = self.here.negative(x)?;
        binary(RealOp::Div, &y, &Atom::Real(-c))
    }

    /// `c / x`
    fn constant_divided(&self, c: f64, x: &Atom) -> Option<Op> {
        if let Some((y, k)) = self.here.multiple(x) {
            return binary(RealOp::Div, &together(k, c, c / k)?, &y);
        }
        let y = self.here.negative(x)?;
        binary(RealOp::Div, &Atom::Real(-c), &y)
    }

    /// `x + x`, if it costs less than that.
    fn twice(&mut self, x: &Atom, depth: u32) -> Option<Op> {
        let only = x.var().is_some_and(|var| self.here.uses.is_only_doubled(var));
        match self.here.made(x)? {
            (RealOp::Mul, [y, Atom::Real(c)] | [Atom::Real(c), y]) => {
                binary(RealOp::Mul, y, &together(2.0, *c, 2.0 * c)?)
            }
            (RealOp::Div, [Atom::Real(c), y]) if only => binary(RealOp::Div, &together(2.0, *c, 2.0 * c)?, y),
            (RealOp::Div, [y, Atom::Real(2.0)]) => Some(Op::Copy(y.clone())),
            (RealOp::Div, [y, Atom::Real(c)]) if only => binary(RealOp::Div, y, &together(2.0, *c, c / 2.0)?),
            (RealOp::Mul | RealOp::MulZero, _) if self.here.is_used_once(x, 2) => {
                self.product_with_two(x, depth)
            }
            _ => None,
        }
    }

    /// Twice a product that is needed for nothing else: one of its factors takes the two.
    fn product_with_two(&mut self, x: &Atom, depth: u32) -> Option<Op> {
        let (op, [a, b]) = self.here.made(x)? else { return None };
        let (a, b) = (a.clone(), b.clone());
        let inner = depth.checked_sub(1)?;
        if self.here.takes_two(&a, inner) {
            let a = self.factor_with_two(&a, inner)?;
            binary(op, &a, &b)
        } else if self.here.takes_two(&b, inner) {
            let b = self.factor_with_two(&b, inner)?;
            binary(op, &a, &b)
        } else {
            None
        }
    }

    fn factor_with_two(&mut self, x: &Atom, depth: u32) -> Option<Atom> {
        let constant = |args: &[Atom]| args.iter().any(|arg| matches!(arg, Atom::Real(_)));
        let op = match self.here.made(x)? {
            (RealOp::Mul | RealOp::MulZero, args) if !constant(args) => self.product_with_two(x, depth)?,
            (op @ (RealOp::Div | RealOp::DivZero), [y, twice]) if self.here.half(twice).is_some() => {
                binary(op, y, &self.here.half(twice)?)?
            }
            (op @ (RealOp::Div | RealOp::DivZero), [y @ Atom::Var(_), by @ Atom::Var(_)]) => {
                let (y, by) = (y.clone(), by.clone());
                binary(op, &self.factor_with_two(&y, depth.checked_sub(1)?)?, &by)?
            }
            _ => self.twice(x, depth)?,
        };
        Some(self.emit(x, op))
    }

    /// The negative of `x`, if that costs nothing: `x` is not needed but for this.
    fn negated(&mut self, x: &Atom) -> Option<Op> {
        if let Some(y) = self.here.negative(x) {
            return Some(Op::Copy(y));
        }
        if !self.here.is_only_negated(x) {
            return None;
        }
        match self.here.made(x)? {
            (RealOp::Sub, _) => self.negated_difference(x),
            (RealOp::Add, [a, b]) if a == b && self.here.negative(a).is_some() => {
                let a = self.here.negative(a)?;
                binary(RealOp::Add, &a, &a)
            }
            (RealOp::Add, [a, b]) if a == b && self.here.is_used_once(a, 2) => {
                let (a, op) = (a.clone(), self.negated_difference(a)?);
                let a = self.emit(&a, op);
                binary(RealOp::Add, &a, &a)
            }
            (op @ (RealOp::Mul | RealOp::Div), [a, Atom::Real(c)]) => binary(op, a, &Atom::Real(-c)),
            (op @ (RealOp::Mul | RealOp::Div), [Atom::Real(c), a]) => binary(op, &Atom::Real(-c), a),
            _ => self.product_without_sign(x, DEEP),
        }
    }

    fn negated_difference(&self, x: &Atom) -> Option<Op> {
        let (RealOp::Sub, [a, b]) = self.here.made(x)? else { return None };
        if self.here.is_sum(a) { None } else { binary(RealOp::Sub, b, a) }
    }

    /// What `x` is the negative of, if a sign is saved so.
    fn without_sign(&mut self, x: &Atom, depth: u32) -> Option<Atom> {
        if let Some(y) = self.here.negative(x) {
            return Some(y);
        }
        if !self.here.is_only_negated(x) {
            return None;
        }
        let op = self.product_without_sign(x, depth)?;
        Some(self.emit(x, op))
    }

    fn product_without_sign(&mut self, x: &Atom, depth: u32) -> Option<Op> {
        let (op @ (RealOp::Mul | RealOp::MulZero | RealOp::Div | RealOp::DivZero), [a, b]) =
            self.here.made(x)?
        else {
            return None;
        };
        if let (RealOp::Div, Atom::Real(c)) = (op, a)
            && *c < 0.0
        {
            return binary(op, &Atom::Real(-c), b);
        }
        let (a, b) = (a.clone(), b.clone());
        let inner = depth.checked_sub(1)?;
        if let Some(a) = self.without_sign(&a, inner) {
            return binary(op, &a, &b);
        }
        let b = self.without_sign(&b, inner)?;
        binary(op, &a, &b)
    }

    /// A statement before this one, in place of the one that makes `like` and in the same block.
    fn emit(&mut self, like: &Atom, op: Op) -> Atom {
        if let Op::Copy(atom) = op {
            return atom;
        }
        let name = like.var().map_or_else(|| Name::new("t"), |var| self.here.func.vars.at(var).name);
        let there = like.var().and_then(|var| self.here.made.get(&var)).map(|made| made.depth);
        let depth = there.unwrap_or(self.here.open.len());
        let var = self.here.func.vars.push(VarInfo { name, ty: Ty::REAL });
        self.here.remember(var, &op, depth);
        self.here.put(depth, Stmt { outs: vec![var], op, span: self.span });
        Atom::Var(var)
    }
}
