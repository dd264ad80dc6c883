//! A branch between numbers that cost nothing is a choice, and where two comparisons say that something is no number, it is NaN.
//!
//! The slopes of `relu`, `max` and `min` are one of two numbers, or NaN where an argument is. The rule says the latter with the
//! result, so that it holds for derivatives of it too. Where no derivative is to come any more, that result need not be computed.
//!
//! ```text
//! t = relu(x)
//! c = 0.0 < x                                              c = 0.0 < x
//! y = if c { yield 1.0 } else {                            d = x <= 0.0
//!   d = x <= 0.0  e = select(d, 0.0, t)  yield e           e = select(d, 0.0, NaN)
//! }                                          becomes       y = select(c, 1.0, e)
//! ```
//!
//! What such a choice leaves of a number, `1.0 - y`, is a choice too.

use crate::facts::is_costly;
use crate::walk::holds_loops;
use rustc_hash::FxHashMap;
use wengert_base::Span;
use wengert_ir::op::{Compare, Op};
use wengert_ir::{Atom, Block, Func, Program, Stmt, Ty, Var};
use wengert_prim::RealOp;

/// So many operations may be done though their branch is not taken.
const FEW: usize = 3;
/// And so much arithmetic, where that lets loops be made in vectors.
const LITTLE: usize = 8;
/// Choices in choices are looked at so deep.
const DEEP: usize = 3;

/// See the module. Whether something has changed.
pub(crate) fn run(program: &mut Program) -> bool {
    let mut changed = false;
    for (_, func) in program.funcs.iter_mut() {
        let mut body = std::mem::take(&mut func.body);
        let mut choices =
            Choices { func, made: FxHashMap::default(), numbers: FxHashMap::default(), refused: Vec::new() };
        changed |= choices.block(&mut body);
        func.body = body;
    }
    changed
}

struct Choices<'f> {
    func: &'f mut Func,
    /// Comparisons of numbers, and the operations that are NaN if an operand is.
    made: FxHashMap<Var, Made>,
    /// Choices between numbers: the condition, the two, and how many choices deep they are.
    numbers: FxHashMap<Var, ([Atom; 3], usize)>,
    /// Comparisons that do not hold where we are.
    refused: Vec<Order>,
}

enum Made {
    Order(Order),
    /// `min`, `max` or `relu` of these.
    Extreme(Vec<Atom>),
}

/// `low < high`, or `low <= high`.
#[derive(Clone, PartialEq)]
struct Order {
    low: Atom,
    high: Atom,
    strict: bool,
}

impl Choices<'_> {
    fn block(&mut self, place: &mut Block) -> bool {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
            let mut changed = false;
            for mut stmt in std::mem::take(&mut place.stmts) {
                changed |= self.inside(&mut stmt.op);
                let light = self.is_light(&stmt);
                changed |= light;
                let stmts = if light { chosen(stmt) } else { vec![stmt] };
                for mut stmt in stmts {
                    if let Op::Select { cond, then: _, otherwise } = &mut stmt.op
                        && self.is_nan(cond, otherwise)
                    {
                        *otherwise = Atom::Real(f64::NAN);
                        changed = true;
                    }
                    if let Op::Real(RealOp::Sub, args) = &stmt.op
                        && let [Atom::Real(from), number @ Atom::Var(_)] = args.as_slice()
                        && let Some(rest) = self.rest(*from, number, &mut place.stmts)
                    {
                        stmt.op = Op::Copy(rest);
                        changed = true;
                    }
                    self.remember(&stmt);
                    place.stmts.push(stmt);
                }
            }
            changed
        })
    }

    /// The blocks inside of an operation. On the other side of a branch its condition does not hold.
    fn inside(&mut self, op: &mut Op) -> bool {
        if let Op::If { cond, then, otherwise } = op {
            let order = self.order(cond).cloned();
            let changed = self.block(then);
            let before = self.refused.len();
            self.refused.extend(order);
            let changed = self.block(otherwise) | changed;
            self.refused.truncate(before);
            return changed;
        }
        // No short circuit: all of them are to be looked at.
        op.blocks_mut().into_iter().fold(false, |changed, inner| self.block(inner) | changed)
    }

    /// What a choice between numbers leaves of a number: the same choice between what they leave.
    fn rest(&mut self, from: f64, number: &Atom, out: &mut Vec<Stmt>) -> Option<Atom> {
        if let Atom::Real(x) = number {
            return Some(Atom::Real(from - x));
        }
        let ([cond, then, otherwise], _) = self.numbers.get(&number.var()?)?.clone();
        let (then, otherwise) = (self.rest(from, &then, out)?, self.rest(from, &otherwise, out)?);
        let info = *self.func.vars.at(number.var()?);
        let rest = self.func.vars.push(info);
        let op = Op::Select { cond, then, otherwise };
        let stmt = Stmt { outs: vec![rest], op, span: Span::NOWHERE };
        self.remember(&stmt);
        out.push(stmt);
        Some(Atom::Var(rest))
    }

    fn remember(&mut self, stmt: &Stmt) {
        let [out] = stmt.outs.as_slice() else { return };
        if let Op::Select { cond, then, otherwise } = &stmt.op {
            let depth = |side: &Atom| match side {
                Atom::Real(_) => Some(0),
                Atom::Var(var) => self.numbers.get(var).map(|(_, depth)| depth + 1),
                Atom::Int(_) | Atom::Bool(_) | Atom::Text(_) | Atom::Unit => None,
            };
            let deepest = depth(then).zip(depth(otherwise)).map(|(a, b)| a.max(b));
            if let Some(depth) = deepest.filter(|depth| *depth < DEEP) {
                self.numbers.insert(*out, ([cond.clone(), then.clone(), otherwise.clone()], depth));
            }
        }
        let order = |low: &Atom, high: &Atom, strict| {
            Some(Made::Order(Order { low: low.clone(), high: high.clone(), strict }))
        };
        let made = if let Op::Compare(compare, a, b) = &stmt.op {
            match compare {
                Compare::Lt => order(a, b, true),
                Compare::Le => order(a, b, false),
                Compare::Gt => order(b, a, true),
                Compare::Ge => order(b, a, false),
                Compare::Eq | Compare::Ne => None,
            }
        } else if let Op::Real(RealOp::Min | RealOp::Max | RealOp::Relu, args) = &stmt.op {
            Some(Made::Extreme(args.clone()))
        } else {
            None
        };
        if let Some(made) = made {
            self.made.insert(*out, made);
        }
    }

    fn order(&self, cond: &Atom) -> Option<&Order> {
        match self.made.get(&cond.var()?)? {
            Made::Order(order) => Some(order),
            Made::Extreme(_) => None,
        }
    }

    /// Whether a number is NaN where a condition does not hold: then neither `a < b` holds nor `b <= a`.
    fn is_nan(&self, cond: &Atom, number: &Atom) -> bool {
        let (Some(order), Some(var)) = (self.order(cond), number.var()) else { return false };
        let Some(Made::Extreme(args)) = self.made.get(&var) else { return false };
        let other_way = |refused: &&Order| {
            refused.low == order.high && refused.high == order.low && !(refused.strict && order.strict)
        };
        let either = |arg: &Atom| *arg == order.low || *arg == order.high;
        // `relu x` is compared with 0, which is a number.
        let all_compared = [&order.low, &order.high]
            .into_iter()
            .all(|side| matches!(side, Atom::Real(x) if !x.is_nan()) || args.contains(side));
        self.refused.iter().any(|refused| other_way(&refused)) && args.iter().all(either) && all_compared
    }

    /// Whether both sides of a branch are so cheap that they can be done, whichever is taken.
    fn is_light(&self, stmt: &Stmt) -> bool {
        let Op::If { cond: _, then, otherwise } = &stmt.op else { return false };
        let fine = |block: &Block| {
            block.results.len() == stmt.outs.len() && block.stmts.iter().all(|stmt| self.is_cheap(stmt))
        };
        let cost = then.stmts.len() + otherwise.stmts.len();
        !stmt.outs.is_empty()
            && cost <= FEW
            && stmt.outs.iter().all(|out| self.func.ty(*out) == Ty::REAL)
            && fine(then)
            && fine(otherwise)
    }

    fn is_cheap(&self, stmt: &Stmt) -> bool {
        matches!(stmt.op, Op::Compare(..) | Op::Select { .. } | Op::Real(RealOp::Neg, _))
            && stmt.outs.iter().all(|out| self.func.ty(*out).rank() == 0)
    }
}

/// Branches between numbers that take little arithmetic are choices in the bodies of loops that have loops in them.
pub(crate) fn beside_loops(func: &Func, block: &mut Block) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || {
        for stmt in &mut block.stmts {
            if let Op::Loop(parts) = &mut stmt.op
                && holds_loops(parts)
            {
                let stmts = std::mem::take(&mut parts.body.stmts).into_iter();
                let choose = |stmt: Stmt| if takes_little(func, &stmt) { chosen(stmt) } else { vec![stmt] };
                parts.body.stmts = stmts.flat_map(choose).collect();
            }
            stmt.op.blocks_mut().into_iter().for_each(|inner| beside_loops(func, inner));
        }
    });
}

fn takes_little(func: &Func, stmt: &Stmt) -> bool {
    let Op::If { then, otherwise, .. } = &stmt.op else { return false };
    let number = |var: &Var| func.ty(*var) == Ty::REAL;
    let fine = |stmt: &Stmt| {
        matches!(stmt.op, Op::Compare(..) | Op::Select { .. } | Op::Real(..)) && !is_costly(&stmt.op)
    };
    let little = then.stmts.len() + otherwise.stmts.len() <= LITTLE;
    little && stmt.outs.iter().all(number) && then.stmts.iter().chain(&otherwise.stmts).all(fine)
}

/// Does both sides, and chooses between their results.
pub(crate) fn chosen(stmt: Stmt) -> Vec<Stmt> {
    let Op::If { cond, then, otherwise } = stmt.op else { return vec![stmt] };
    let mut out: Vec<Stmt> = then.stmts.into_iter().chain(otherwise.stmts).collect();
    let results = then.results.into_iter().zip(otherwise.results);
    for (var, (then, otherwise)) in stmt.outs.into_iter().zip(results) {
        let op = Op::Select { cond: cond.clone(), then, otherwise };
        out.push(Stmt { outs: vec![var], op, span: stmt.span });
    }
    out
}
