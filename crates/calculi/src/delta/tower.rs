//! Derivatives of higher order, section 10.4: Karczmarczuk's towers. A real becomes the tuple of its derivatives up to a
//! fixed order along one direction, "triples of reals" for order 2, and every primitive gets the tower that its rule in the
//! table of `wengert_prim` implies: for `z = f(x…)` with `ż = (Σ ± cᵢ·ẋᵢ) / d`, the tower above the value of `z` is that form,
//! computed on towers one order lower.
//!
//! The paper has "not worked out the details". As it says, `ℛ{ℛ{e}}` is impossible, since the output of `𝒟⃖` has shaded
//! constructs; but that of `𝒟⃗` has none, so that `𝒟⃗{𝒟⃗{e}}` and `ℛ{ℱ{e}}` exist, and agree with the towers (a test).

use super::syntax::{E, Expr, Fresh, Kind, Pat, Ty, make};
use super::translate::{Dual, Mode, condition, homomorphic, needs_strong_zero, shaped, shaped_term};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use wengert_base::{Diagnostic, Name};
use wengert_prim::{RealOp, Rule, rules};

struct Tower<'a>(&'a Fresh, usize);

impl Dual for Tower<'_> {
    fn mode(&self) -> Mode {
        Mode::Tower(self.1)
    }

    /// `𝒟ₙ{r} = (r, 0, …, 0)`
    fn literal(&self, r: f64) -> E {
        let zeros = std::iter::repeat_n(0.0, self.1);
        make::tuple(std::iter::once(r).chain(zeros).map(make::real).collect())
    }

    fn real_op(&self, op: RealOp) -> E {
        let names =
            |base: &str| (0..=self.1).map(|k| self.0.name(&format!("{base}{k}"))).collect::<Vec<Name>>();
        let args: Vec<Vec<Name>> = ["x", "y"].iter().take(op.arity()).map(|base| names(base)).collect();
        let pattern = |names: &Vec<Name>| Pat::tuple(names.iter().map(|name| Pat::Var(*name)).collect());
        let towers: Vec<Vec<E>> =
            args.iter().map(|names| names.iter().map(|n| make::var(*n)).collect()).collect();
        let mut block = Block::new(self.0, 0);
        let result = block.op(op, &towers, self.1);
        make::lam(Pat::tuple(args.iter().map(pattern).collect()), block.closed(make::tuple(result)))
    }
}

/// A sequence of `let`s, each for one operation on variables and literals; equal operations are computed once.
struct Block<'a> {
    fresh: &'a Fresh,
    lets: Vec<(Pat, E)>,
    known: FxHashMap<String, E>,
    first: usize,
}

impl<'a> Block<'a> {
    fn new(fresh: &'a Fresh, first: usize) -> Block<'a> {
        Block { fresh, lets: Vec::new(), known: FxHashMap::default(), first }
    }

    fn next_name(&mut self) -> Name {
        self.first += 1;
        self.fresh.name(&format!("t{}", self.first))
    }

    fn closed(self, result: E) -> E {
        self.lets.into_iter().rev().fold(result, |body, (pat, value)| make::bind(pat, value, body))
    }

    fn scalar(&mut self, op: RealOp, args: Vec<E>) -> E {
        let term = make::real_op(op, args);
        let key = super::print::term(&term);
        if let Some(known) = self.known.get(&key) {
            return Rc::clone(known);
        }
        let name = self.next_name();
        self.lets.push((Pat::Var(name), term));
        let result = make::var(name);
        self.known.insert(key, Rc::clone(&result));
        result
    }

    /// The tower of `op` up to `order`.
    fn op(&mut self, op: RealOp, args: &[Vec<E>], order: usize) -> Vec<E> {
        let base = |tower: &Vec<E>| tower.first().map_or_else(|| make::real(f64::NAN), Rc::clone);
        let mut out = vec![self.scalar(op, args.iter().map(base).collect())];
        let rule = rules::lookup(op);
        // Where a coefficient may be infinite, a tower of zeros stays zero.
        let scaling = if needs_strong_zero(op) { RealOp::MulZero } else { RealOp::Mul };
        // Component k of the result is component k - 1 of the form, which mentions components below k only.
        for k in 1..=order {
            let form = self.rule(&rule, scaling, args, &out, k - 1);
            out.extend(form.into_iter().last());
        }
        out
    }

    /// `(Σ ± cᵢ·ẋᵢ) / d` on towers up to `order`, where `ẋᵢ` is the tower of `xᵢ` without its value.
    fn rule(&mut self, rule: &Rule, scaling: RealOp, args: &[Vec<E>], out: &[E], order: usize) -> Vec<E> {
        match rule {
            Rule::Case(test, a, b) => self.choice(test, args, out, order, &|block, first| {
                block.rule(if first { a } else { b }, scaling, args, out, order)
            }),
            Rule::Linear { terms, divisor } => {
                let mut sum: Option<Vec<E>> = None;
                for term in terms {
                    let tail = args
                        .get(term.arg)
                        .and_then(|tower| tower.get(1..order + 2))
                        .unwrap_or_default()
                        .to_vec();
                    let mut summand = match &term.coef {
                        None => tail,
                        Some(coef) => {
                            let coef = self.expr(coef, args, out, order);
                            self.op(scaling, &[tail, coef], order)
                        }
                    };
                    if term.negative {
                        summand = self.op(RealOp::Neg, &[summand], order);
                    }
                    sum = Some(match sum {
                        None => summand,
                        Some(sum) => self.op(RealOp::Add, &[sum, summand], order),
                    });
                }
                let sum = sum.unwrap_or_else(|| vec![make::real(0.0); order + 1]);
                match divisor {
                    None => sum,
                    Some(divisor) => {
                        let divisor = self.expr(divisor, args, out, order);
                        self.op(RealOp::DivZero, &[sum, divisor], order)
                    }
                }
            }
        }
    }

    /// An expression of a rule on towers.
    fn expr(&mut self, expr: &wengert_prim::Expr, args: &[Vec<E>], out: &[E], order: usize) -> Vec<E> {
        match expr {
            wengert_prim::Expr::In(i) => {
                args.get(*i).map(|t| t.iter().take(order + 1).map(Rc::clone).collect()).unwrap_or_default()
            }
            wengert_prim::Expr::Out => out.iter().take(order + 1).map(Rc::clone).collect(),
            wengert_prim::Expr::Const(x) => {
                let zeros = std::iter::repeat_n(0.0, order);
                std::iter::once(*x).chain(zeros).map(make::real).collect()
            }
            wengert_prim::Expr::Op(op, operands) => {
                let towers: Vec<Vec<E>> =
                    operands.iter().map(|operand| self.expr(operand, args, out, order)).collect();
                self.op(*op, &towers, order)
            }
            wengert_prim::Expr::If(test, a, b) => self.choice(test, args, out, order, &|block, first| {
                block.expr(if first { a } else { b }, args, out, order)
            }),
        }
    }

    /// One of two towers; the operations of each are in its own branch.
    fn choice(
        &mut self,
        test: &wengert_prim::Test,
        args: &[Vec<E>],
        out: &[E],
        order: usize,
        branch: &dyn Fn(&mut Block<'a>, bool) -> Vec<E>,
    ) -> Vec<E> {
        let values: Vec<E> = args.iter().filter_map(|tower| tower.first().map(Rc::clone)).collect();
        let result = out.first().map_or_else(|| make::real(f64::NAN), Rc::clone);
        let mut arm = |first| {
            let mut block = Block::new(self.fresh, self.first);
            let tower = branch(&mut block, first);
            self.first = block.first;
            block.closed(make::tuple(tower))
        };
        let (then, otherwise) = (arm(true), arm(false));
        let chosen = make::choice(condition(test, &values, &result), then, otherwise);
        let names: Vec<Name> = (0..=order).map(|_| self.next_name()).collect();
        self.lets.push((Pat::tuple(names.iter().map(|name| Pat::Var(*name)).collect()), chosen));
        names.into_iter().map(make::var).collect()
    }
}

/// `𝒟ₙ{e}`
pub(crate) fn translate(e: &E, order: usize) -> Result<E, Diagnostic> {
    let fresh = Fresh::avoiding(e);
    homomorphic(e, &Tower(&fresh, order), &fresh)
}

/// The derivatives of `t ↦ e (s + t·ds)` at 0 up to an order, for `e : ℝᵃ → ℝ`: a term `(ℝᵃ × δℝᵃ) → ℝⁿ⁺¹`.
pub(crate) fn wrapper(e: &E, s: &Ty, order: usize) -> Result<E, Diagnostic> {
    let fresh = Fresh::avoiding(e);
    let ((values, value), (tangents, tangent)) = (shaped(s, "s", &fresh), shaped(s, "ds", &fresh));
    let tower = |(s, ds): (E, E)| {
        let zeros = std::iter::repeat_n(0.0, order.saturating_sub(1)).map(make::real);
        let tower: Vec<E> = [s, ds].into_iter().take(order + 1).chain(zeros).collect();
        make::tuple(tower)
    };
    let towers = value.into_iter().zip(tangent).map(tower).collect();
    let body = make::app(translate(e, order)?, shaped_term(s, towers));
    Ok(Expr::new(Kind::Lam(Pat::pair(values, tangents), None, body)))
}
