//! The loop over the orders: a step makes the next coefficient of each node.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "sums and quotients are named, what else needs no rule is a product"
)]

use super::SERIES;
use super::solve::{Kind, Solve, Summand};
use crate::Code;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use wengert_ir::op::{ArrayOp, Atom, IntOp};
use wengert_ir::ty::Ty;
use wengert_prim::RealOp;

impl Solve<'_, '_> {
    /// The nodes that a node needs, each after those that it needs at its own order.
    fn needed(&self, root: usize) -> BTreeSet<usize> {
        let (mut found, mut todo) = (BTreeSet::new(), vec![root]);
        while let Some(node) = todo.pop() {
            if self.is_constant(node) || !found.insert(node) {
                continue;
            }
            match self.nodes.get(node).map(|node| &node.kind) {
                Some(Kind::Direct(_, args)) => todo.extend(args),
                Some(Kind::Rule(summands, divisor)) => {
                    todo.extend(summands.iter().flat_map(|(_, coef, arg)| coef.iter().chain([arg])));
                    todo.extend(divisor);
                }
                Some(Kind::Constant | Kind::Given(_)) | None => {}
            }
        }
        found
    }

    /// The coefficients of a node from order 1 on.
    pub(super) fn coefficients(&mut self, root: usize) -> Atom {
        match self.kind(root) {
            Kind::Constant => {
                return self.code.b.array(ArrayOp::Replicate, [self.n.clone(), Atom::Real(0.0)]);
            }
            Kind::Given(all) => return self.code.after_order_0(all, &self.n),
            Kind::Direct(..) | Kind::Rule(..) => {}
        }
        let mut arrays = Arrays::default();
        let (mut init, mut made) = (Vec::new(), Vec::new());
        let zeros = self.code.b.called("zeros").array(ArrayOp::Replicate, [self.n.clone(), Atom::Real(0.0)]);
        for node in self.needed(root) {
            self.value_now(node);
            match self.kind(node) {
                Kind::Given(all) => {
                    arrays.coefs.insert(node, all);
                }
                Kind::Constant => {}
                Kind::Direct(..) | Kind::Rule(..) => {
                    let value = self.code.b.array(ArrayOp::Literal, [self.value(node)]);
                    init.push(self.code.b.called("zs").array(ArrayOp::Concat, [value, zeros.clone()]));
                    made.push((node, false));
                }
            }
            if let Kind::Rule(_, Some(_)) = self.kind(node) {
                init.push(zeros.clone());
                made.push((node, true));
            }
        }
        let n = self.n.clone();
        let types = vec![SERIES; init.len()];
        self.code.b.open();
        let below = self.code.b.param("below".into(), Ty::INT);
        for (node, quotient) in &made {
            let name = if *quotient { "quotients" } else { "zs" };
            let array = self.code.b.param(name.into(), SERIES);
            arrays.of(*quotient).insert(*node, array);
        }
        let k = self.code.next(&below);
        for (node, _) in made.iter().filter(|(_, quotient)| !quotient) {
            self.step(*node, &k, &below, &mut arrays);
        }
        let mut next = Vec::new();
        for (node, quotient) in &made {
            next.extend(arrays.of(*quotient).get(node).cloned());
        }
        let body = self.code.b.close(next);
        let found = self.code.repeat(n.clone(), init, body, &types);
        let place = made.iter().position(|made| *made == (root, false));
        let all = place.and_then(|place| found.get(place)).cloned().unwrap_or(Atom::Unit);
        self.code.after_order_0(all, &n)
    }

    /// Makes the next coefficient of a node.
    fn step(&mut self, node: usize, k: &Atom, below: &Atom, arrays: &mut Arrays) {
        let coef = match self.kind(node) {
            Kind::Constant | Kind::Given(_) => return,
            Kind::Direct(op, args) => self.direct(op, &args, node, k, arrays),
            Kind::Rule(summands, divisor) => {
                let mut sum = self.summands(&summands, k, below, arrays);
                if let Some(divisor) = divisor {
                    sum = self.divided(sum, divisor, node, below, arrays);
                    if let Some(quotients) = arrays.quotients.get(&node).cloned() {
                        let set = [quotients, below.clone(), sum.clone()];
                        let set = self.code.b.called("quotients").array(ArrayOp::Set, set);
                        arrays.quotients.insert(node, set);
                    }
                }
                let k = self.code.as_real(k);
                self.code.real(RealOp::DivZero, vec![sum, k])
            }
        };
        if let Some(array) = arrays.coefs.get(&node).cloned() {
            let set = self.code.b.called("zs").array(ArrayOp::Set, [array, k.clone(), coef]);
            arrays.coefs.insert(node, set);
        }
    }

    /// Coefficient `k` of a sum, a product or a quotient.
    fn direct(&mut self, op: RealOp, args: &[usize], own: usize, k: &Atom, arrays: &Arrays) -> Atom {
        let x = args.first().copied().unwrap_or(own);
        let y = args.get(1).copied().unwrap_or(x);
        match op {
            RealOp::Add | RealOp::Sub => {
                let [a, b] = [x, y].map(|node| self.coef(node, k, arrays));
                self.sum(a, op == RealOp::Sub, b)
            }
            RealOp::Neg => {
                let a = self.coef(x, k, arrays);
                self.sum(None, true, a)
            }
            RealOp::Div | RealOp::DivZero => {
                let rest = match (arrays.coefs.get(&y), arrays.coefs.get(&own)) {
                    (Some(ys), Some(zs)) => Some(self.convolution(ys, zs, k, 1)),
                    (_, _) => None,
                };
                let a = self.coef(x, k, arrays);
                let sum = self.sum(a, true, rest);
                let divisor = self.value(y);
                self.code.real(RealOp::DivZero, vec![sum, divisor])
            }
            _ => match (arrays.coefs.get(&x), arrays.coefs.get(&y)) {
                (Some(xs), Some(ys)) => self.convolution(xs, ys, k, 0),
                (xs, ys) => {
                    let factor = self.value(if xs.is_some() { y } else { x });
                    let Some(array) = xs.or(ys) else { return Atom::Real(0.0) };
                    let coef = self.code.coefficient(array, k);
                    self.code.real(RealOp::MulZero, vec![coef, factor])
                }
            },
        }
    }

    fn coef(&mut self, node: usize, k: &Atom, arrays: &Arrays) -> Option<Atom> {
        arrays.coefs.get(&node).map(|array| self.code.coefficient(array, k))
    }

    fn sum(&mut self, a: Option<Atom>, negative: bool, b: Option<Atom>) -> Atom {
        let op = if negative { RealOp::Sub } else { RealOp::Add };
        match (a, b) {
            (None, None) => Atom::Real(0.0),
            (Some(a), None) => a,
            (None, Some(b)) if negative => self.code.real(RealOp::Neg, vec![b]),
            (None, Some(b)) => b,
            (Some(a), Some(b)) => self.code.real(op, vec![a, b]),
        }
    }

    /// `Σ aᵢ b₍ₖ₋ᵢ₎` for `i` from `from` to `k`.
    fn convolution(&mut self, a: &Atom, b: &Atom, k: &Atom, from: i64) -> Atom {
        let count = if from == 0 { self.code.next(k) } else { k.clone() };
        self.code.series_sum(count, |code, i| {
            let i = if from == 0 { i.clone() } else { code.next(i) };
            let other = code.b.int(IntOp::Sub, [k.clone(), i.clone()]);
            let factors = [code.coefficient(a, &i), code.coefficient(b, &other)];
            code.real(RealOp::MulZero, factors.to_vec())
        })
    }

    /// The sum of the summands of a rule.
    fn summands(&mut self, summands: &[Summand], k: &Atom, below: &Atom, arrays: &Arrays) -> Atom {
        let mut sum = None;
        for (negative, coef, arg) in summands {
            let Some(xs) = arrays.coefs.get(arg) else { continue };
            let summand = match coef {
                None => slope(self.code, self.slopes.get(arg), xs, below),
                Some(coef) => match arrays.coefs.get(coef) {
                    Some(cs) => self.code.series_sum(k.clone(), |code, i| {
                        let tangent = slope(code, self.slopes.get(arg), xs, i);
                        let other = code.b.int(IntOp::Sub, [below.clone(), i.clone()]);
                        let factor = code.coefficient(cs, &other);
                        code.real(RealOp::MulZero, vec![tangent, factor])
                    }),
                    None => {
                        let tangent = slope(self.code, self.slopes.get(arg), xs, below);
                        let factor = self.value(*coef);
                        self.code.real(RealOp::MulZero, vec![tangent, factor])
                    }
                },
            };
            sum = Some(self.sum(sum, *negative, Some(summand)));
        }
        sum.unwrap_or(Atom::Real(0.0))
    }

    /// A sum divided by the divisor of a rule.
    fn divided(&mut self, sum: Atom, divisor: usize, own: usize, below: &Atom, arrays: &Arrays) -> Atom {
        let mut sum = sum;
        if let (Some(ds), Some(quotients)) = (arrays.coefs.get(&divisor), arrays.quotients.get(&own)) {
            let found = self.code.carrying(below.clone(), vec![sum.clone()], |code, i, state| {
                let i = code.next(&i);
                let other = code.b.int(IntOp::Sub, [below.clone(), i.clone()]);
                let factors = [code.coefficient(ds, &i), code.coefficient(quotients, &other)];
                let product = code.real(RealOp::MulZero, factors.to_vec());
                vec![code.real(RealOp::Sub, state.into_iter().chain([product]).collect())]
            });
            sum = found.into_iter().next().unwrap_or(sum);
        }
        let divisor = self.value(divisor);
        self.code.real(RealOp::DivZero, vec![sum, divisor])
    }
}

/// Coefficient `i` of the derivative of a series: of those that are there, if they are.
fn slope(code: &mut Code<'_>, slopes: Option<&Atom>, xs: &Atom, i: &Atom) -> Atom {
    match slopes {
        Some(slopes) => code.coefficient(slopes, i),
        None => code.slope(xs, i),
    }
}

/// The arrays of the nodes that vary.
#[derive(Default)]
struct Arrays {
    coefs: FxHashMap<usize, Atom>,
    /// Of a rule with a divisor: the coefficients of the derivative.
    quotients: FxHashMap<usize, Atom>,
}

impl Arrays {
    fn of(&mut self, quotient: bool) -> &mut FxHashMap<usize, Atom> {
        if quotient { &mut self.quotients } else { &mut self.coefs }
    }
}
