//! Substitution (Figure 2) and the pushforward of a term along a variable (Figure 4), both linear in the graph: a shared
//! part is copied once. What does not mention the variable is not copied at all by a substitution; `T_x` follows
//! Figure 4 to the leaves, as the paper does.

use super::reduce::is_zero;
use super::syntax::{
    Compare, Const, Half, Kind, Shape, Term, Var, app, constant, deep, inj, lam, node, num, op, pair, proj,
    push, sum, var, zero,
};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use wengert_prim::{Expr, RealOp, Rule, Test};

/// Nodes that were seen, by address, with what became of them. The node itself is kept, so that its address is its own.
type Memo = FxHashMap<*const super::syntax::Node, (Term, Term)>;

/// `M[P/x]`, Figure 2.
pub fn substitute(m: &Term, x: &Var, p: &Term) -> Term {
    Substitution { x, p, memo: Memo::default() }.term(m)
}

struct Substitution<'a> {
    x: &'a Var,
    p: &'a Term,
    memo: Memo,
}

impl Substitution<'_> {
    fn term(&mut self, m: &Term) -> Term {
        if !m.mentions(self.x) {
            return m.clone();
        }
        if let Some((_, known)) = self.memo.get(&Rc::as_ptr(m)) {
            return known.clone();
        }
        let result = deep(|| self.node(m));
        self.memo.insert(Rc::as_ptr(m), (m.clone(), result.clone()));
        result
    }

    fn node(&mut self, m: &Term) -> Term {
        let kind = match m.kind() {
            Kind::Var(y) if y == *self.x => return self.p.clone(),
            kind @ (Kind::Var(_) | Kind::Num(_) | Kind::Const(_)) => kind,
            Kind::Lam(y, _) if y == *self.x => return m.clone(),
            Kind::Lam(y, s) if self.p.mentions(&y) => {
                let fresh = y.renamed();
                let s = substitute(&s, &y, &var(&fresh));
                Kind::Lam(fresh, self.term(&s))
            }
            Kind::Lam(y, s) => Kind::Lam(y, self.term(&s)),
            Kind::App(s, n) => Kind::App(self.term(&s), self.term(&n)),
            Kind::Push(s) => Kind::Push(self.term(&s)),
            Kind::Inj(k, s) => Kind::Inj(k, self.term(&s)),
            Kind::Proj(k, s) => Kind::Proj(k, self.term(&s)),
            Kind::Sum(parts) => Kind::Sum(parts.iter().map(|part| self.term(part)).collect()),
            Kind::Same(s) => Kind::Same(self.term(&s)),
        };
        node(kind, m.span)
    }
}

/// `λx. T_x s` for `T(λx. s)`; the bound variable is a new one, since its type is another.
pub fn push_lambda(x: &Var, s: &Term) -> Term {
    let fresh = x.renamed();
    let body = tangent(x, &fresh, s);
    lam(&fresh, body)
}

/// `T_x M`, Figure 4, in which `x` is called `pushed`.
pub fn tangent(x: &Var, pushed: &Var, m: &Term) -> Term {
    Tangent { x, pushed, memo: Memo::default() }.term(m)
}

struct Tangent<'a> {
    x: &'a Var,
    pushed: &'a Var,
    memo: Memo,
}

impl Tangent<'_> {
    fn term(&mut self, m: &Term) -> Term {
        if let Some((_, known)) = self.memo.get(&Rc::as_ptr(m)) {
            return known.clone();
        }
        let result = deep(|| self.node(m));
        self.memo.insert(Rc::as_ptr(m), (m.clone(), result.clone()));
        result
    }

    fn node(&mut self, m: &Term) -> Term {
        match m.kind() {
            Kind::Var(y) if y == *self.x => var(self.pushed),
            // Constants and numbers are lifted as any other variable is.
            Kind::Var(_) | Kind::Num(_) | Kind::Const(_) => inj(Half::Second, m.clone()),
            Kind::Sum(parts) => sum(parts.iter().map(|part| self.term(part)).collect::<Vec<_>>()),
            Kind::Lam(y, s) if y == *self.x => {
                let fresh = y.renamed();
                let s = substitute(&s, &y, &var(&fresh));
                let s = self.term(&s);
                halves(&s, |half| lam(&fresh, half))
            }
            Kind::Lam(y, s) => {
                let s = self.term(&s);
                halves(&s, |half| lam(&y, half))
            }
            Kind::App(s, n) => {
                let (s, n) = (self.term(&s), self.term(&n));
                diamond(&s, &n)
            }
            Kind::Push(s) => {
                let s = self.term(&s);
                halves(&s, push)
            }
            Kind::Inj(k, s) => {
                let s = self.term(&s);
                halves(&s, |half| inj(k, half))
            }
            Kind::Proj(k, s) => {
                let s = self.term(&s);
                halves(&s, |half| proj(k, half))
            }
            Kind::Same(s) => self.term(&s),
        }
    }
}

/// `⟨f(π₁M), f(π₂M)⟩`
fn halves(m: &Term, f: impl Fn(Term) -> Term) -> Term {
    pair(f(proj(Half::First, m.clone())), f(proj(Half::Second, m.clone())))
}

/// `M ⋄ N = ⟨(π₁M)(π₂N) + π₁((T(π₂M)) N), (π₂M)(π₂N)⟩`, Figure 4.
pub fn diamond(m: &Term, n: &Term) -> Term {
    let function = proj(Half::Second, m.clone());
    let point = proj(Half::Second, n.clone());
    let perturbed_function = app(proj(Half::First, m.clone()), point.clone());
    let perturbed_argument = proj(Half::First, app(push(function.clone()), n.clone()));
    pair(sum([perturbed_function, perturbed_argument]), app(function, point))
}

/// The pushforward of a constant: what `T c` reduces to, from the one table of derivative rules.
pub fn push_constant(c: Const) -> Term {
    let z = Var::fresh("z");
    let point = proj(Half::Second, var(&z));
    let direction = proj(Half::First, var(&z));
    let perturbation = match (c, c.shape()) {
        (Const::Op(op), Shape::Real) => from_rule(op, std::slice::from_ref(&point), &[direction], &point),
        (Const::Op(op), Shape::Pair | Shape::Pairs) => {
            let halves = |of: &Term| [proj(Half::First, of.clone()), proj(Half::Second, of.clone())];
            from_rule(op, &halves(&point), &halves(&direction), &point)
        }
        (Const::Choose(_), _) => {
            // The comparison stays that of the primals.
            let compared = proj(Half::First, point.clone());
            app(constant(c), pair(compared, proj(Half::Second, direction)))
        }
    };
    lam(&z, pair(perturbation, app(constant(c), point)))
}

/// The tangent of an operation at `inputs` along `directions`; what has the direction zero is left out.
pub(super) fn from_rule(f: RealOp, inputs: &[Term], directions: &[Term], argument: &Term) -> Term {
    let out = app(constant(Const::Op(f)), argument.clone());
    let rule = wengert_prim::rules::lookup(f);
    Applied { inputs, directions, out }.rule(&rule)
}

/// A rule at terms.
struct Applied<'a> {
    inputs: &'a [Term],
    directions: &'a [Term],
    out: Term,
}

impl Applied<'_> {
    fn rule(&self, rule: &Rule) -> Term {
        match rule {
            Rule::Linear { terms, divisor } => {
                let moves = |term: &&wengert_prim::Term| {
                    self.directions.get(term.arg).is_some_and(|direction| !is_zero(direction))
                };
                let summands = terms.iter().filter(moves).map(|term| {
                    let direction = self.directions.get(term.arg).cloned().unwrap_or_else(zero);
                    let summand = match &term.coef {
                        Some(coef) => op(RealOp::MulZero, &[direction, self.expr(coef)]),
                        None => direction,
                    };
                    if term.negative { op(RealOp::Neg, &[summand]) } else { summand }
                });
                let mut summands: Vec<Term> = summands.collect();
                let total = match (summands.pop(), summands.is_empty()) {
                    (Some(only), true) => only,
                    (last, _) => sum(summands.into_iter().chain(last)),
                };
                match divisor {
                    Some(divisor) => op(RealOp::DivZero, &[total, self.expr(divisor)]),
                    None => total,
                }
            }
            Rule::Case(test, then, otherwise) => self.choose(test, self.rule(then), self.rule(otherwise)),
        }
    }

    fn expr(&self, expr: &Expr) -> Term {
        match expr {
            Expr::In(i) => self.inputs.get(*i).cloned().unwrap_or_else(zero),
            Expr::Out => self.out.clone(),
            Expr::Const(r) => num(*r),
            Expr::Op(f, args) => op(*f, &args.iter().map(|arg| self.expr(arg)).collect::<Vec<_>>()),
            Expr::If(test, then, otherwise) => self.choose(test, self.expr(then), self.expr(otherwise)),
        }
    }

    fn choose(&self, test: &Test, then: Term, otherwise: Term) -> Term {
        let compared = |compare, a: &Expr, b: &Expr, then, otherwise| {
            let numbers = pair(self.expr(a), self.expr(b));
            app(constant(Const::Choose(compare)), pair(numbers, pair(then, otherwise)))
        };
        match test {
            Test::Eq(a, b) => compared(Compare::Eq, a, b, then, otherwise),
            Test::Lt(a, b) => compared(Compare::Lt, a, b, then, otherwise),
            Test::Le(a, b) => compared(Compare::Le, a, b, then, otherwise),
            Test::Or(a, b) => {
                let second = self.choose(b, then.clone(), otherwise);
                self.choose(a, then, second)
            }
        }
    }
}
