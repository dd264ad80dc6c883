//! Typing (Figure 2): infers the types of bound variables by unification, builds the term, and checks the side condition
//! of dual maps, x ∈ lin(S).
//!
//! `literal_lin` is lin as 3.1.1 defines it. The rule checked here is [`linear`], the least extension under which
//! reductions keep terms well typed (corollary 4.7): 0 and sums of linear terms are linear (reductions 13a, 16c, 19b and 20b
//! put them under dual maps), `let` is looked through (A-reduction makes it), and a pattern is linear as a tuple.

use super::errors;
use super::print::print_type;
use super::raw::{File, Raw, RawKind, RawPat, RawPatKind, RawType};
use super::subst::deep;
use super::syntax::{Kind, Pat, PatKind, Term, Type, Var};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use wengert_base::{Diagnostic, Span};

/// Which of the two calculi a text is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    /// DPPL.
    Pullback,
    /// The extended differential λ-calculus of 5.1.
    Differential,
}

type Result<T> = std::result::Result<T, Diagnostic>;

/// Types and builds; unresolved types are R.
pub(crate) fn elaborate(file: &File, language: Language) -> Result<Term> {
    let mut infer = Infer { types: Vec::new(), noted: VecDeque::new(), scope: Vec::new(), language };
    let mut context = Vec::new();
    for (name, ty) in &file.context {
        let ty = infer.raw(ty);
        context.push((name.clone(), ty));
        infer.scope.push((name.clone(), ty));
    }
    infer.term(&file.term)?;
    let mut sizes = Sizes::default();
    if (0..infer.types.len()).any(|ty| infer.size(ty, &mut sizes) > LARGEST_TYPE) {
        return Err(errors::large_type(file.term.span));
    }
    let scope = context.into_iter().map(|(name, ty)| {
        let var = Var::named(&name, infer.finish(ty));
        (name, var)
    });
    let scope = scope.collect();
    Build { infer, scope }.term(&file.term)
}

/// The largest type, in nodes as it is written: `let x1 = ⟨x0,x0⟩; x2 = ⟨x1,x1⟩; …` doubles at each line.
const LARGEST_TYPE: u64 = 100_000;

/// Sizes of types that are known.
type Sizes = FxHashMap<usize, u64>;

#[derive(Clone, Copy)]
enum Node {
    Open,
    Same(usize),
    Real,
    Product(usize, usize),
    Function(usize, usize),
    Dual(usize),
}

struct Infer {
    types: Vec<Node>,
    /// Types of zeros and bound variables, in the order of the text.
    noted: VecDeque<usize>,
    scope: Vec<(String, usize)>,
    language: Language,
}

impl Infer {
    fn new_type(&mut self, node: Node) -> usize {
        self.types.push(node);
        self.types.len() - 1
    }

    /// An open type that the second pass asks for in the same order.
    fn noted_type(&mut self) -> usize {
        let ty = self.new_type(Node::Open);
        self.noted.push_back(ty);
        ty
    }

    fn find(&self, mut ty: usize) -> usize {
        while let Some(Node::Same(other)) = self.types.get(ty) {
            ty = *other;
        }
        ty
    }

    fn node(&self, ty: usize) -> Node {
        self.types.get(self.find(ty)).copied().unwrap_or(Node::Real)
    }

    fn reals(&mut self, n: usize) -> usize {
        let real = self.new_type(Node::Real);
        (1..n).fold(real, |ty, _| self.new_type(Node::Product(ty, real)))
    }

    fn raw(&mut self, ty: &RawType) -> usize {
        match ty {
            RawType::Reals(n) => self.reals(*n),
            RawType::Unknown => self.new_type(Node::Open),
            RawType::Product(a, b) => {
                let (a, b) = (self.raw(a), self.raw(b));
                self.new_type(Node::Product(a, b))
            }
            RawType::Function(a, b) => {
                let (a, b) = (self.raw(a), self.raw(b));
                self.new_type(Node::Function(a, b))
            }
            RawType::Dual(a) => {
                let a = self.raw(a);
                self.new_type(Node::Dual(a))
            }
            RawType::List(a) => {
                let (a, d) = (self.raw(a), self.new_type(Node::Open));
                let step = self.new_type(Node::Function(d, d));
                let cons = self.new_type(Node::Function(a, step));
                self.new_type(Node::Function(cons, step))
            }
        }
    }

    fn unify(&mut self, a: usize, b: usize) -> std::result::Result<(), bool> {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return Ok(());
        }
        deep(|| match (self.node(a), self.node(b)) {
            (Node::Open, _) => self.assign(a, b),
            (_, Node::Open) => self.assign(b, a),
            (Node::Real, Node::Real) => Ok(()),
            (Node::Product(a1, a2), Node::Product(b1, b2))
            | (Node::Function(a1, a2), Node::Function(b1, b2)) => {
                self.unify(a1, b1)?;
                self.unify(a2, b2)?;
                // Types are shared: what is equal once is not compared again.
                if let Some(slot) = self.types.get_mut(a).filter(|_| a != b) {
                    *slot = Node::Same(b);
                }
                Ok(())
            }
            (Node::Dual(a), Node::Dual(b)) => self.unify(a, b),
            (Node::Real | Node::Product(..) | Node::Function(..) | Node::Dual(_) | Node::Same(_), _) => {
                Err(false)
            }
        })
    }

    fn assign(&mut self, open: usize, ty: usize) -> std::result::Result<(), bool> {
        let (mut stack, mut seen) = (vec![ty], FxHashSet::default());
        while let Some(part) = stack.pop() {
            let part = self.find(part);
            if part == open {
                return Err(true);
            }
            if seen.insert(part) {
                match self.node(part) {
                    Node::Product(a, b) | Node::Function(a, b) => stack.extend([a, b]),
                    Node::Dual(a) => stack.push(a),
                    Node::Open | Node::Same(_) | Node::Real => {}
                }
            }
        }
        if let Some(slot) = self.types.get_mut(open) {
            *slot = Node::Same(ty);
        }
        Ok(())
    }

    fn need(&mut self, span: Span, expected: usize, found: usize, why: &str) -> Result<()> {
        match self.unify(expected, found) {
            Ok(()) => Ok(()),
            Err(true) => Err(errors::infinite_type(span)),
            Err(false) => {
                let mut sizes = Sizes::default();
                if self.size(expected, &mut sizes).max(self.size(found, &mut sizes)) > LARGEST_TYPE {
                    return Err(errors::large_type(span));
                }
                let (expected, found) = (print_type(&self.finish(expected)), print_type(&self.finish(found)));
                Err(errors::type_mismatch(span, &expected, &found, why))
            }
        }
    }

    /// The nodes of a type as it is written, at most a little more than the largest that is allowed.
    fn size(&self, ty: usize, known: &mut Sizes) -> u64 {
        let ty = self.find(ty);
        if let Some(size) = known.get(&ty) {
            return *size;
        }
        let size = deep(|| match self.node(ty) {
            Node::Open | Node::Same(_) | Node::Real => 1,
            Node::Product(a, b) | Node::Function(a, b) => 1 + self.size(a, known) + self.size(b, known),
            Node::Dual(a) => 1 + self.size(a, known),
        });
        let size = size.min(LARGEST_TYPE + 1);
        known.insert(ty, size);
        size
    }

    /// The type; what is still open is R.
    fn finish(&self, ty: usize) -> Type {
        deep(|| match self.node(ty) {
            Node::Open | Node::Same(_) | Node::Real => Type::real(),
            Node::Product(a, b) => Type::product(self.finish(a), self.finish(b)),
            Node::Function(a, b) => Type::function(self.finish(a), self.finish(b)),
            Node::Dual(a) => Type::dual(self.finish(a)),
        })
    }

    fn bind(&mut self, pat: &RawPat) -> Result<usize> {
        let ty = match &pat.kind {
            RawPatKind::Var(name) => {
                let ty = self.noted_type();
                self.scope.push((name.clone(), ty));
                ty
            }
            RawPatKind::Pair(a, b) => {
                let (a, b) = (deep(|| self.bind(a))?, self.bind(b)?);
                self.new_type(Node::Product(a, b))
            }
        };
        if let Some(written) = &pat.ty {
            let written = self.raw(written);
            self.need(pat.span, written, ty, "its type is written here")?;
        }
        Ok(ty)
    }

    fn under(&mut self, pat: &RawPat, body: &Raw) -> Result<(usize, usize)> {
        let depth = self.scope.len();
        let parameter = self.bind(pat)?;
        let body = self.term(body)?;
        self.scope.truncate(depth);
        Ok((parameter, body))
    }

    fn term(&mut self, term: &Raw) -> Result<usize> {
        deep(|| match &term.kind {
            RawKind::Zero => Ok(self.noted_type()),
            RawKind::Real(_) => Ok(self.new_type(Node::Real)),
            RawKind::Var(name) => self.lookup(name, term.span),
            RawKind::Lam(pat, body) => {
                let (parameter, body) = self.under(pat, body)?;
                Ok(self.new_type(Node::Function(parameter, body)))
            }
            RawKind::App(f, a) => {
                let (func, arg) = (self.term(f)?, self.term(a)?);
                let Node::Function(parameter, result) = self.node(func) else {
                    let result = self.new_type(Node::Open);
                    let wanted = self.new_type(Node::Function(arg, result));
                    self.need(f.span, wanted, func, "it is applied to an argument")?;
                    return Ok(result);
                };
                self.need(a.span, parameter, arg, "it is the argument of a function")?;
                Ok(result)
            }
            RawKind::Let(pat, value, body) => {
                let found = self.term(value)?;
                let (bound, body) = self.under(pat, body)?;
                self.need(value.span, bound, found, "it is bound to this pattern")?;
                Ok(body)
            }
            RawKind::Proj(index, a) => {
                let found = self.term(a)?;
                let (first, second) = (self.new_type(Node::Open), self.new_type(Node::Open));
                let pair = self.new_type(Node::Product(first, second));
                self.need(a.span, pair, found, "a projection is taken of it")?;
                Ok(if *index == 1 { first } else { second })
            }
            RawKind::Pair(a, b) => {
                let (a, b) = (self.term(a)?, self.term(b)?);
                Ok(self.new_type(Node::Product(a, b)))
            }
            RawKind::Fun(func, a) => {
                let (found, wanted) = (self.term(a)?, self.reals(func.inputs()));
                self.need(a.span, wanted, found, &format!("it is the argument of `{}`", func.name()))?;
                Ok(self.reals(func.outputs()))
            }
            RawKind::Sum(a, b) => {
                let (first, second) = (self.term(a)?, self.term(b)?);
                self.need(b.span, first, second, "both sides of `+` have the same type")?;
                Ok(first)
            }
            RawKind::Jac(..)
            | RawKind::DualConst(_)
            | RawKind::DualMap(..)
            | RawKind::Pull(..)
            | RawKind::Diff(..) => self.operator(term),
        })
    }

    /// The operators with `·`, and dual constants: what the λ-calculus does not have.
    fn operator(&mut self, term: &Raw) -> Result<usize> {
        match &term.kind {
            RawKind::Jac(func, a) => {
                let (found, wanted) = (self.term(a)?, self.reals(func.inputs()));
                self.need(
                    a.span,
                    wanted,
                    found,
                    &format!("the Jacobian of `{}` is taken along it", func.name()),
                )?;
                let result = self.reals(func.outputs());
                Ok(self.new_type(Node::Function(wanted, result)))
            }
            RawKind::DualConst(numbers) => {
                self.only(Language::Pullback, term.span, "r*")?;
                let vector = self.reals(numbers.len());
                Ok(self.new_type(Node::Dual(vector)))
            }
            RawKind::DualMap(pat, body, s) => {
                self.only(Language::Pullback, term.span, "(λx.S)* · S'")?;
                let (parameter, result) = self.under(pat, body)?;
                let (found, wanted) = (self.term(s)?, self.new_type(Node::Dual(result)));
                self.need(s.span, wanted, found, "it is the functional that the dual map composes")?;
                Ok(self.new_type(Node::Dual(parameter)))
            }
            RawKind::Pull(pat, body, s) => {
                self.only(Language::Pullback, term.span, "(Ω λx.P) · S")?;
                let (parameter, result) = self.under(pat, body)?;
                let (found, dual) = (self.term(s)?, self.new_type(Node::Dual(result)));
                let wanted = self.new_type(Node::Function(result, dual));
                self.need(s.span, wanted, found, "it is the 1-form that is pulled back")?;
                let dual = self.new_type(Node::Dual(parameter));
                Ok(self.new_type(Node::Function(parameter, dual)))
            }
            RawKind::Diff(f, a) => {
                self.only(Language::Differential, term.span, "D s · t")?;
                let (func, along) = (self.term(f)?, self.term(a)?);
                let result = self.new_type(Node::Open);
                let wanted = self.new_type(Node::Function(along, result));
                self.need(f.span, wanted, func, "it is differentiated along this argument")?;
                Ok(wanted)
            }
            _ => self.term(term),
        }
    }

    fn only(&self, language: Language, span: Span, operator: &str) -> Result<()> {
        if self.language == language {
            return Ok(());
        }
        Err(match language {
            Language::Pullback => errors::foreign_operator(
                span,
                operator,
                "pullback calculus",
                "`calculus pullback translate` gives the translation (−)ₜ of such a term",
            ),
            Language::Differential => errors::foreign_operator(
                span,
                operator,
                "differential λ-calculus",
                "in the pullback calculus derivatives are pullbacks, `(Ω λx.P) · S`; `calculus differential` reduces `D s · t`",
            ),
        })
    }

    fn lookup(&mut self, name: &str, span: Span) -> Result<usize> {
        if let Some((_, ty)) = self.scope.iter().rev().find(|(known, _)| known == name) {
            return Ok(*ty);
        }
        let near = |known: &&(String, usize)| {
            known.0.eq_ignore_ascii_case(name)
                || known.0.strip_prefix(name).is_some_and(|rest| rest.len() < 2)
        };
        let similar = self.scope.iter().rev().find(near).map(|(known, _)| known.clone());
        Err(errors::unknown_variable(span, name, similar.as_deref()))
    }
}

struct Build {
    infer: Infer,
    scope: Vec<(String, Var)>,
}

impl Build {
    fn next_type(&mut self) -> Type {
        let ty = self.infer.noted.pop_front();
        ty.map_or_else(Type::real, |ty| self.infer.finish(ty))
    }

    fn bind(&mut self, pat: &RawPat) -> Pat {
        match &pat.kind {
            RawPatKind::Var(name) => {
                let var = Var::named(name.trim_end_matches('·'), self.next_type());
                self.scope.push((name.clone(), var.clone()));
                Pat::var(var)
            }
            RawPatKind::Pair(a, b) => {
                let a = deep(|| self.bind(a));
                Pat::pair(a, self.bind(b))
            }
        }
    }

    fn under(&mut self, pat: &RawPat, body: &Raw) -> Result<(Pat, Term)> {
        let depth = self.scope.len();
        let pat = self.bind(pat);
        let body = self.term(body)?;
        self.scope.truncate(depth);
        Ok((pat, body))
    }

    fn term(&mut self, term: &Raw) -> Result<Term> {
        deep(|| {
            Ok(match &term.kind {
                RawKind::Zero => Term::zero(self.next_type()),
                RawKind::Real(x) => Term::real(*x),
                RawKind::Var(name) => {
                    let var = self.scope.iter().rev().find(|(known, _)| known == name);
                    let (_, var) = var.ok_or_else(|| errors::unknown_variable(term.span, name, None))?;
                    Term::var(var.clone())
                }
                RawKind::Lam(pat, body) => {
                    let (pat, body) = self.under(pat, body)?;
                    Term::lam(pat, body)
                }
                RawKind::App(f, a) => Term::app(self.term(f)?, self.term(a)?),
                RawKind::Let(pat, value, body) => {
                    let value = self.term(value)?;
                    let (pat, body) = self.under(pat, body)?;
                    match pat.kind() {
                        PatKind::Var(var) => Term::let_in(var.clone(), value, body),
                        PatKind::Pair(..) => Term::app(Term::lam(pat, body), value),
                    }
                }
                RawKind::Proj(i, a) => Term::proj(*i, self.term(a)?),
                RawKind::Pair(a, b) => Term::pair(self.term(a)?, self.term(b)?),
                RawKind::Fun(f, a) => Term::fun(f.clone(), self.term(a)?),
                RawKind::Jac(f, a) => Term::jac(f.clone(), self.term(a)?),
                RawKind::DualConst(numbers) => Term::dual_const(Term::vector(numbers)),
                RawKind::DualMap(pat, body, s) => {
                    let (bound, function) = self.under(pat, body)?;
                    if !linear(&bound, &function) {
                        let names: Vec<String> =
                            bound.vars().iter().rev().map(|v| v.name().to_string()).collect();
                        return Err(errors::not_linear(body.span, &names.join(", ")));
                    }
                    let s = self.term(s)?;
                    Term::dual_map(bound, function, s)
                }
                RawKind::Pull(pat, body, s) => {
                    let (pat, body) = self.under(pat, body)?;
                    let s = self.term(s)?;
                    Term::pull(pat, body, s)
                }
                RawKind::Sum(a, b) => Term::sum(self.term(a)?, self.term(b)?),
                RawKind::Diff(f, a) => Term::diff(self.term(f)?, self.term(a)?),
            })
        })
    }
}

/// Whether the term is linear in the tuple of the pattern's variables.
pub(crate) fn linear(pat: &Pat, term: &Term) -> bool {
    let mut vars: FxHashSet<u32> = pat.vars().iter().map(Var::id).collect();
    jointly(term, &mut vars, &mut FxHashSet::default())
}

/// Whether the term is linear in `vars` together; `zeros` stand for 0, which is linear in anything and constant too.
fn jointly(term: &Term, vars: &mut FxHashSet<u32>, zeros: &mut FxHashSet<u32>) -> bool {
    let absent = |term: &Term, vars: &FxHashSet<u32>| !term.mentions(&|id| vars.contains(&id));
    deep(|| match term.kind() {
        Kind::Zero => true,
        Kind::Real(x) => *x == 0.0,
        Kind::Var(var) => vars.contains(&var.id()) || zeros.contains(&var.id()),
        Kind::Lam(_, body) => jointly(body, vars, zeros),
        Kind::App(f, a) => absent(a, vars) && jointly(f, vars, zeros),
        Kind::Let(var, value, body) => {
            let is_linear = jointly(value, vars, zeros);
            match (absent(value, vars), is_linear) {
                (true, false) => jointly(body, vars, zeros),
                (true, true) => {
                    zeros.insert(var.id());
                    let linear = jointly(body, vars, zeros);
                    zeros.remove(&var.id());
                    linear
                }
                (false, true) => {
                    vars.insert(var.id());
                    let linear = jointly(body, vars, zeros);
                    vars.remove(&var.id());
                    linear
                }
                (false, false) => false,
            }
        }
        Kind::Proj(_, a) | Kind::Jac(_, a) => jointly(a, vars, zeros),
        Kind::Pair(a, b) | Kind::Sum(a, b) => jointly(a, vars, zeros) && jointly(b, vars, zeros),
        Kind::DualMap(_, body, s) => {
            (absent(s, vars) && jointly(body, vars, zeros)) || (absent(body, vars) && jointly(s, vars, zeros))
        }
        Kind::Fun(..) | Kind::DualConst(_) | Kind::Pull(..) | Kind::Diff(..) => false,
    })
}

/// x ∈ lin(S), exactly as 3.1.1 defines it.
#[cfg(test)]
pub(crate) fn literal_lin(x: &Var, term: &Term) -> bool {
    let free = |term: &Term| term.mentions(&|id| id == x.id());
    match term.kind() {
        Kind::Var(var) => var == x,
        Kind::Lam(pat, body) => !pat.binds(x.id()) && literal_lin(x, body),
        Kind::App(f, a) => literal_lin(x, f) && !free(a),
        Kind::Let(_, value, body) => literal_lin(x, body) && !free(value),
        Kind::Proj(_, a) | Kind::Jac(_, a) => literal_lin(x, a),
        Kind::Pair(a, b) => literal_lin(x, a) && literal_lin(x, b),
        Kind::DualMap(_, body, s) => (literal_lin(x, body) && !free(s)) || (literal_lin(x, s) && !free(body)),
        Kind::Zero
        | Kind::Real(_)
        | Kind::Fun(..)
        | Kind::DualConst(_)
        | Kind::Pull(..)
        | Kind::Sum(..)
        | Kind::Diff(..) => false,
    }
}
