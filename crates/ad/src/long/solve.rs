//! Operations on reals for long series: a function for each, with a loop over the orders.
//!
//! ```text
//! z = x * y        zₖ = Σ xᵢ yₖ₋ᵢ
//! z = exp x        zₖ = (Σ (i + 1) xᵢ₊₁ zₖ₋₁₋ᵢ) / k            from its rule, z' = z x'
//! ```
//!
//! As in [`crate::series`], which writes each coefficient out, the expressions in a rule are operations too. They are *nodes*, each with
//! an array of coefficients, which a step of the loop makes one longer: nodes may need each other, as sine and cosine do, since a rule
//! needs what it multiplies with one order lower. What is added up in which order is as in the interpreter. So it is in derivatives of it
//! with what [`super::ordered`] does where numbers must be exact.
//!
//! Cases of a rule depend on the coefficients of order 0. Where one is not decided, there is a loop in both branches.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "operations that need no rule are named, and so are questions"
)]

use super::SERIES;
use crate::decisions::{Decisions, Undecided};
use crate::series::{is_direct, mentions_out};
use crate::{Ad, BEYOND, Code};
use rustc_hash::FxHashMap;
use wengert_ir::op::{ArrayOp, Atom, Op};
use wengert_ir::program::{Func, FuncId};
use wengert_ir::ty::Ty;
use wengert_prim::{Expr, RealOp, Rule, Test, rules};

/// What gives a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Primitive {
    /// Arithmetic.
    Real(RealOp),
    /// `x ^ n`.
    Power,
    /// `polygamma n x`.
    Polygamma,
}

/// So many cases are decided one after the other.
const MOST_CASES: usize = 6;

/// So many nodes an operation may have.
const MOST_NODES: usize = 60;

/// A summand of a rule: whether it is subtracted, the coefficient, and the operand.
pub(super) type Summand = (bool, Option<usize>, usize);

/// How the coefficients of a node come about.
#[derive(Clone)]
pub(super) enum Kind {
    /// It does not vary.
    Constant,
    /// All its coefficients are there.
    Given(Atom),
    /// Sums, products and quotients.
    Direct(RealOp, Vec<usize>),
    /// The solution of a rule, and the divisor.
    Rule(Vec<Summand>, Option<usize>),
}

/// An operation.
pub(super) struct Node {
    pub(super) kind: Kind,
    value: Atom,
}

/// Why nodes are not there.
pub(super) enum Stop {
    /// A case is not decided: its condition.
    Undecided(Atom),
    /// There would be too many.
    Beyond,
}

impl Code<'_> {
    /// The long series of an operation whose value is `out`, if some argument has one; `number` is the exponent of a power, or which
    /// polygamma function it is.
    pub(super) fn series_of(
        &mut self,
        of: Primitive,
        number: Option<Atom>,
        args: &[(Atom, Option<Atom>)],
        out: &Atom,
    ) -> Option<Atom> {
        let order = self.order();
        self.series_at(&order, of, number, args, out)
    }

    /// The same, up to an order.
    pub(super) fn series_at(
        &mut self,
        order: &Atom,
        of: Primitive,
        number: Option<Atom>,
        args: &[(Atom, Option<Atom>)],
        out: &Atom,
    ) -> Option<Atom> {
        let series: Vec<Atom> = args.iter().filter_map(|(_, series)| series.clone()).collect();
        match (of, series.as_slice()) {
            (_, []) => return None,
            (Primitive::Real(RealOp::Add), [one]) => return Some(one.clone()),
            (Primitive::Real(RealOp::Sub), [one])
                if args.first().is_some_and(|(_, series)| series.is_some()) =>
            {
                return Some(one.clone());
            }
            (Primitive::Real(RealOp::Add), _) => return Some(self.b.array(ArrayOp::Add, series)),
            (Primitive::Real(op), _) if self.ad.is_cube() => {
                if let Some(found) = self.each_coefficient(op, order, args) {
                    return Some(found);
                }
            }
            (Primitive::Real(_) | Primitive::Power | Primitive::Polygamma, _) => {}
        }
        let varying = args.iter().map(|(_, series)| series.is_some()).collect();
        let func = self.ad.primitive_function(of, varying);
        let mut all = vec![order.clone()];
        all.extend(number);
        all.push(out.clone());
        all.extend(args.iter().map(|(x, _)| x.clone()));
        all.extend(series);
        Some(self.b.call(func, all, &[SERIES]).remove(0))
    }
}

impl Ad {
    /// The function for an operation of which these arguments vary: from the order, an exponent, the value, the arguments, and the series of
    /// those that vary, to the series of the result.
    fn primitive_function(&mut self, of: Primitive, varying: Vec<bool>) -> FuncId {
        let cube = self.is_cube();
        if let Some(known) = self.long.primitives.get(&(of, varying.clone(), cube)) {
            return *known;
        }
        let id = self.reserve(vec![SERIES]);
        self.long.primitives.insert((of, varying.clone(), cube), id);
        let made =
            if cube { self.make_cube_primitive(id, of, &varying) } else { self.make_primitive(of, &varying) };
        *self.program.funcs.at_mut(id) = made;
        id
    }

    fn make_primitive(&mut self, of: Primitive, varying: &[bool]) -> Func {
        let name = match of {
            Primitive::Real(op) => op.name().to_string(),
            Primitive::Power => "power".to_string(),
            Primitive::Polygamma => "polygamma".to_string(),
        };
        let mut code = Code::new(self, &format!("series_{name}"));
        let n = code.b.param("n".into(), Ty::INT);
        let number = match of {
            Primitive::Real(_) => None,
            Primitive::Power | Primitive::Polygamma => Some(code.b.param("m".into(), Ty::INT)),
        };
        let out = code.b.param("z".into(), Ty::REAL);
        let xs: Vec<Atom> = varying.iter().map(|_| code.b.param("x".into(), Ty::REAL)).collect();
        let mut args = Vec::new();
        for (x, varies) in xs.into_iter().zip(varying) {
            let series = varies.then(|| {
                let coefs = code.b.param("xs".into(), SERIES);
                let first = code.b.array(ArrayOp::Literal, [x.clone()]);
                code.b.called("xs").array(ArrayOp::Concat, [first, coefs])
            });
            args.push((x, series));
        }
        let found = if code.ad.exact || asks_for_itself(of) {
            code.unless_none(&n, |code| code.primitive_at(of, (&n, number), &args, &out))
        } else {
            code.primitive_at(of, (&n, number), &args, &out)
        };
        code.finish(vec![found])
    }
}

impl Code<'_> {
    /// What such a function gives.
    fn primitive_at(
        &mut self,
        of: Primitive,
        (n, number): (&Atom, Option<Atom>),
        args: &[(Atom, Option<Atom>)],
        out: &Atom,
    ) -> Atom {
        match (of, number, args) {
            (Primitive::Real(op), _, _) => {
                let (decisions, nodes, n) = (Decisions::default(), Vec::new(), n.clone());
                let (known, slopes) = (FxHashMap::default(), FxHashMap::default());
                let is_ahead = false;
                Solve { code: self, n, op, args, out, decisions, nodes, known, slopes, is_ahead }.solve()
            }
            (_, Some(number), [(x, Some(xs))]) if self.ad.exact => {
                self.member_in_order(of, (n, &number), out, (x, xs))
            }
            (_, Some(number), [(_, Some(xs))]) => {
                let func = self.ad.family_function(of);
                let all = self.b.call(func, [n.clone(), number, xs.clone()], &[SERIES]).remove(0);
                self.after_order_0(all, n)
            }
            (_, _, _) => self.fail(&[SERIES], BEYOND).remove(0),
        }
    }
}

impl Code<'_> {
    /// Coefficients without that of order 0.
    pub(super) fn after_order_0(&mut self, all: Atom, n: &Atom) -> Atom {
        let end = self.next(n);
        self.b.called("zs").array(ArrayOp::Slice, [all, Atom::Int(1), end])
    }
}

/// Writes the code of an operation.
pub(super) struct Solve<'a, 'c> {
    pub(super) code: &'a mut Code<'c>,
    pub(super) n: Atom,
    op: RealOp,
    /// The operands, those that vary with all their coefficients.
    args: &'a [(Atom, Option<Atom>)],
    out: &'a Atom,
    decisions: Decisions,
    pub(super) nodes: Vec<Node>,
    known: FxHashMap<(RealOp, Vec<usize>), usize>,
    /// Coefficients of derivatives of the operands, where each is made once.
    pub(super) slopes: FxHashMap<usize, Atom>,
    /// Whether what is computed at the moment is made before the loop, one order lower.
    is_ahead: bool,
}

impl Solve<'_, '_> {
    fn solve(&mut self) -> Atom {
        wengert_ir::stop::check();
        self.nodes.clear();
        self.decisions.begin();
        self.known.clear();
        self.slopes.clear();
        match self.root() {
            Ok(root) => self.coefficients(root),
            Err(Stop::Undecided(cond)) if self.decisions.count() < MOST_CASES => {
                let [then, otherwise] = [true, false].map(|decision| {
                    self.decisions.push(decision);
                    self.code.b.open();
                    let series = self.solve();
                    let block = self.code.b.close(vec![series]);
                    self.decisions.pop();
                    block
                });
                self.code.b.called("zs").typed1(SERIES, Op::If { cond, then, otherwise })
            }
            Err(Stop::Undecided(_) | Stop::Beyond) => self.code.fail(&[SERIES], BEYOND).remove(0),
        }
    }

    fn root(&mut self) -> Result<usize, Stop> {
        let mut args = Vec::new();
        for (x, series) in self.args {
            let kind = series.clone().map_or(Kind::Constant, Kind::Given);
            args.push(self.push(kind, x.clone()));
        }
        self.real(self.op, args, Some(self.out.clone()))
    }

    pub(super) fn push(&mut self, kind: Kind, value: Atom) -> usize {
        self.nodes.push(Node { kind, value });
        self.nodes.len() - 1
    }

    pub(super) fn constant(&mut self, value: Atom) -> usize {
        let same = |node: &Node| matches!(node.kind, Kind::Constant) && node.value == value;
        match self.nodes.iter().position(same) {
            Some(known) => known,
            None => self.push(Kind::Constant, value),
        }
    }

    pub(super) fn kind(&self, node: usize) -> Kind {
        self.nodes.get(node).map_or(Kind::Constant, |node| node.kind.clone())
    }

    pub(super) fn value(&self, node: usize) -> Atom {
        self.nodes.get(node).map_or(Atom::Real(0.0), |node| node.value.clone())
    }

    pub(super) fn is_constant(&self, node: usize) -> bool {
        matches!(self.nodes.get(node).map(|node| &node.kind), Some(Kind::Constant) | None)
    }

    /// Arithmetic; its value, if it is known.
    fn real(&mut self, op: RealOp, args: Vec<usize>, out: Option<Atom>) -> Result<usize, Stop> {
        match (op, args.as_slice()) {
            (RealOp::PowInt(1), [x]) => return Ok(*x),
            // What is negated twice is what it was.
            (RealOp::Neg, [x]) => {
                if let Kind::Direct(RealOp::Neg, inner) = self.kind(*x) {
                    return inner.first().copied().ok_or(Stop::Beyond);
                }
            }
            (_, _) => {}
        }
        let exact = self.code.ad.exact;
        if let Some(known) = self.known.get(&(op, args.clone())).filter(|_| !exact) {
            return Ok(*known);
        }
        if self.nodes.len() > MOST_NODES || (exact && out.is_none() && !is_direct(op)) {
            return Err(Stop::Beyond);
        }
        let values: Vec<Atom> = args.iter().map(|arg| self.value(*arg)).collect();
        let out = match out {
            // It is made later, see `value_now`.
            None if exact => Atom::Unit,
            out => out.unwrap_or_else(|| self.code.real(op, values.clone())),
        };
        if args.iter().all(|arg| self.is_constant(*arg)) {
            return Ok(self.constant(out));
        }
        if let Some((of, number)) = family(op).filter(|_| !exact) {
            let Some(Kind::Given(xs)) = args.first().map(|arg| self.kind(*arg)) else {
                return Err(Stop::Beyond);
            };
            let func = self.code.ad.family_function(of);
            let all = self.code.b.call(func, [self.n.clone(), Atom::Int(number), xs], &[SERIES]).remove(0);
            let node = self.push(Kind::Given(all), out);
            self.known.insert((op, args), node);
            return Ok(node);
        }
        let kind = if is_direct(op) { Kind::Direct(op, args.clone()) } else { Kind::Constant };
        // The node is there before its rule, which may mention it.
        let node = self.push(kind, out.clone());
        self.known.insert((op, args.clone()), node);
        if !is_direct(op) {
            let mark = Kind::Rule(Vec::new(), None);
            self.set(node, mark);
            let kind = self.rule(op, &args, node, &values, &out)?;
            self.set(node, kind);
        }
        Ok(node)
    }

    /// Makes the value of a sum, a product or a quotient in a rule, where what does not depend on the result is made before.
    pub(super) fn value_now(&mut self, node: usize) {
        let (Kind::Direct(op, args), Atom::Unit) = (self.kind(node), self.value(node)) else { return };
        let values = args.iter().map(|arg| self.value(*arg)).collect();
        let value = self.code.real_on_tape(op, values);
        if let Some(node) = self.nodes.get_mut(node) {
            node.value = value;
        }
    }

    fn set(&mut self, node: usize, kind: Kind) {
        if let Some(node) = self.nodes.get_mut(node) {
            node.kind = kind;
        }
    }

    /// The case of the rule of an operation that applies.
    fn rule(
        &mut self,
        op: RealOp,
        args: &[usize],
        node: usize,
        values: &[Atom],
        out: &Atom,
    ) -> Result<Kind, Stop> {
        let rule = rules::lookup(op);
        let mut rule: &Rule = &rule;
        let (terms, divisor) = loop {
            match rule {
                Rule::Linear { terms, divisor } => break (terms, divisor),
                Rule::Case(test, then, otherwise) => {
                    rule = if self.decide(test, values, out)? { then } else { otherwise };
                }
            }
        };
        let mut summands = Vec::new();
        for term in terms {
            let Some(arg) = args.get(term.arg).copied().filter(|arg| !self.is_constant(*arg)) else {
                continue;
            };
            if let (true, Kind::Given(all)) = (self.code.ad.exact, self.kind(arg)) {
                let n = self.n.clone();
                let slopes = self.code.all_slopes(&all, &n);
                self.slopes.insert(arg, slopes);
            }
            let coef = match &term.coef {
                Some(coef) => Some(self.expr(coef, args, node)?),
                None => None,
            };
            summands.push((term.negative, coef, arg));
        }
        if summands.is_empty() {
            return Ok(Kind::Constant);
        }
        let divisor = match divisor {
            Some(divisor) => Some(self.expr(divisor, args, node)?),
            None => None,
        };
        Ok(Kind::Rule(summands, divisor))
    }

    /// Whether a case applies.
    fn decide(&mut self, test: &Test, values: &[Atom], out: &Atom) -> Result<bool, Stop> {
        self.decisions.decide(self.code, test, values, out).map_err(|Undecided(cond)| Stop::Undecided(cond))
    }

    /// An expression of a rule.
    fn expr(&mut self, expr: &Expr, args: &[usize], out: usize) -> Result<usize, Stop> {
        match expr {
            Expr::In(i) => Ok(args.get(*i).copied().unwrap_or(out)),
            Expr::Out => Ok(out),
            Expr::Const(value) => Ok(self.constant(Atom::Real(*value))),
            Expr::Op(op, operands) => {
                let before = self.is_ahead;
                self.is_ahead |= holds_power(expr) || (self.code.ad.exact && !mentions_out(expr));
                let nodes: Result<Vec<usize>, Stop> =
                    operands.iter().map(|operand| self.expr(operand, args, out)).collect();
                let ahead = std::mem::replace(&mut self.is_ahead, before);
                if ahead { self.ahead(*op, &nodes?) } else { self.real(*op, nodes?, None) }
            }
            Expr::If(test, then, otherwise) => {
                let values: Vec<Atom> = args.iter().map(|arg| self.value(*arg)).collect();
                let value = self.value(out);
                let chosen = if self.decide(test, &values, &value)? { then } else { otherwise };
                self.expr(chosen, args, out)
            }
        }
    }
}

/// Whether there is a power with an exponent that may vary in an expression. Such a power has others in its rule, at a base of 0 or where it
/// underflows, as many as there are orders: they are made by the function that asks for them, each one order lower.
fn holds_power(expr: &Expr) -> bool {
    match expr {
        Expr::In(_) | Expr::Out | Expr::Const(_) => false,
        Expr::Op(op, operands) => *op == RealOp::Pow || operands.iter().any(holds_power),
        Expr::If(_, then, otherwise) => holds_power(then) || holds_power(otherwise),
    }
}

/// Whether the function for an operation calls itself, one order lower.
fn asks_for_itself(of: Primitive) -> bool {
    of == Primitive::Real(RealOp::Pow)
}

/// Operations that have others of their kind as slopes.
pub(super) fn family(op: RealOp) -> Option<(Primitive, i64)> {
    match op {
        RealOp::PowInt(n) if !(0..=2).contains(&n) => Some((Primitive::Power, n)),
        RealOp::Digamma => Some((Primitive::Polygamma, 0)),
        RealOp::Polygamma(n) => Some((Primitive::Polygamma, i64::from(n))),
        _ => None,
    }
}
