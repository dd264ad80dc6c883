//! The type system of appendix A.1, by unification: λ without annotation, operators whose type is apparent, polytypic
//! functions without subscript all find their types, and the term comes back with them.
//!
//! Typing-Var, -Let, -IntConst, -FloatConst, -Lam, -App, -Pair, -Fst, -Snd, -Inl, -Inr, -Case, -OpPlusR and -OpTimesR are
//! the arms of [`Checker::node`] and `constant_type`; the shaded constructs have the types that Figures 7 to 15 give
//! them, so that the output of a translation is checked by the same rules. Types that nothing determines become `ℝ`.

#![expect(clippy::wildcard_enum_match_arm, reason = "types that are alike are compared as they are")]

use super::errors;
use super::names;
use super::print;
use super::syntax::{Builtin, Const, E, Expr, IntOp, Kind, LeafOp, Overloaded, Pat, Poly, Ty, grow};
use super::translate::{Mode, dual_type};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use wengert_base::{Diagnostic, Name, Span};
use wengert_prim::RealOp;

type Checked<T> = Result<T, Diagnostic>;

/// Types with more nodes are refused, since sharing could make them exponentially large.
const LARGEST_TYPE: usize = 10_000;

/// Type-checks a closed term: the term with all types found, and its type.
pub(crate) fn check(e: &E) -> Checked<(E, Ty)> {
    check_open(e, &[])
}

/// As [`check`], in a context Γ.
pub(crate) fn check_open(e: &E, context: &[(Name, Ty)]) -> Checked<(E, Ty)> {
    let mut checker = Checker::default();
    for (name, ty) in context {
        checker.env.entry(*name).or_default().push(ty.clone());
    }
    let (e, ty) = checker.term(e)?;
    for (meta, span, sign) in std::mem::take(&mut checker.overloaded) {
        if let Ty::Meta(_) = checker.head(&meta) {
            checker.unify(&Ty::Real, &meta, span, sign)?;
        }
    }
    checker.modest(&ty, e.span)?;
    let ty = checker.solved(&ty);
    Ok((checker.finished(&e)?, ty))
}

#[derive(Default)]
struct Checker {
    solutions: Vec<Option<Ty>>,
    env: FxHashMap<Name, Vec<Ty>>,
    /// Operators whose type is not known yet.
    overloaded: Vec<(Ty, Span, &'static str)>,
}

impl Checker {
    fn fresh(&mut self) -> Ty {
        self.solutions.push(None);
        Ty::Meta(u32::try_from(self.solutions.len() - 1).unwrap_or(u32::MAX))
    }

    fn solution(&self, meta: u32) -> Option<&Ty> {
        self.solutions.get(meta as usize).and_then(Option::as_ref)
    }

    /// The type with its outermost constructor known if any is.
    fn head(&self, ty: &Ty) -> Ty {
        let mut ty = ty;
        while let Ty::Meta(meta) = ty
            && let Some(solution) = self.solution(*meta)
        {
            ty = solution;
        }
        ty.clone()
    }

    /// The type with everything known put in; what is not known stays.
    fn known(&self, ty: &Ty) -> Ty {
        let again = |a: &Rc<Ty>| Rc::new(grow(|| self.known(a)));
        match ty {
            Ty::Meta(meta) => self.solution(*meta).map_or_else(|| ty.clone(), |ty| grow(|| self.known(ty))),
            Ty::Prod(a, b) => Ty::Prod(again(a), again(b)),
            Ty::Sum(a, b) => Ty::Sum(again(a), again(b)),
            Ty::Fun(a, b) => Ty::Fun(again(a), again(b)),
            Ty::Vector(a) => Ty::Vector(again(a)),
            Ty::Monad(a) => Ty::Monad(again(a)),
            Ty::Rec(name, a) => Ty::Rec(*name, again(a)),
            Ty::Real | Ty::Int | Ty::String | Ty::Unit | Ty::Delta | Ty::DeltaMap | Ty::Var(_) => ty.clone(),
        }
    }

    /// As [`Checker::known`], `ℝ` for what is not known.
    fn solved(&mut self, ty: &Ty) -> Ty {
        for solution in &mut self.solutions {
            solution.get_or_insert(Ty::Real);
        }
        self.known(ty)
    }

    /// Refuses a type that is too large once everything known is put in: shared parts count as often as they occur.
    fn modest(&self, ty: &Ty, span: Span) -> Checked<()> {
        let mut open = vec![self.head(ty)];
        let mut nodes = 0;
        while let Some(ty) = open.pop() {
            nodes += 1;
            if nodes > LARGEST_TYPE {
                return Err(errors::large_type(span));
            }
            match &ty {
                Ty::Prod(a, b) | Ty::Sum(a, b) | Ty::Fun(a, b) => open.extend([self.head(a), self.head(b)]),
                Ty::Vector(a) | Ty::Monad(a) | Ty::Rec(_, a) => open.push(self.head(a)),
                Ty::Meta(_) | Ty::Real | Ty::Int | Ty::String | Ty::Unit | Ty::Delta => {}
                Ty::DeltaMap | Ty::Var(_) => {}
            }
        }
        Ok(())
    }

    fn occurs(&self, meta: u32, ty: &Ty) -> bool {
        let mut open = vec![self.head(ty)];
        let mut budget = LARGEST_TYPE;
        while let Some(ty) = open.pop() {
            budget = budget.saturating_sub(1);
            if budget == 0 {
                return false;
            }
            match &ty {
                Ty::Meta(other) if *other == meta => return true,
                Ty::Prod(a, b) | Ty::Sum(a, b) | Ty::Fun(a, b) => open.extend([self.head(a), self.head(b)]),
                Ty::Vector(a) | Ty::Monad(a) | Ty::Rec(_, a) => open.push(self.head(a)),
                Ty::Meta(_) | Ty::Real | Ty::Int | Ty::String | Ty::Unit | Ty::Delta => {}
                Ty::DeltaMap | Ty::Var(_) => {}
            }
        }
        false
    }

    fn unify(&mut self, expected: &Ty, found: &Ty, span: Span, why: &str) -> Checked<()> {
        let mut assumed = FxHashSet::default();
        let mut budget = 16 * LARGEST_TYPE;
        match self.unified(expected, found, &mut assumed, &mut budget) {
            Ok(()) => Ok(()),
            Err(Clash::Large) => Err(errors::large_type(span)),
            Err(Clash::Infinite(ty)) => Err(errors::infinite(span, &print::ty(&self.known(&ty)))),
            Err(Clash::Differ) => {
                let (expected, found) = (self.known(expected), self.known(found));
                Err(errors::mismatch(span, &print::ty(&expected), &print::ty(&found), why))
            }
        }
    }

    fn unified(
        &mut self,
        a: &Ty,
        b: &Ty,
        assumed: &mut FxHashSet<(Ty, Ty)>,
        budget: &mut usize,
    ) -> Result<(), Clash> {
        *budget = budget.checked_sub(1).ok_or(Clash::Large)?;
        let (a, b) = (self.head(a), self.head(b));
        match (&a, &b) {
            (Ty::Meta(x), Ty::Meta(y)) if x == y => Ok(()),
            (Ty::Meta(x), other) | (other, Ty::Meta(x)) => {
                if self.occurs(*x, other) {
                    return Err(Clash::Infinite(other.clone()));
                }
                if let Some(slot) = self.solutions.get_mut(*x as usize) {
                    *slot = Some(other.clone());
                }
                Ok(())
            }
            (Ty::Prod(a1, a2), Ty::Prod(b1, b2))
            | (Ty::Sum(a1, a2), Ty::Sum(b1, b2))
            | (Ty::Fun(a1, a2), Ty::Fun(b1, b2)) => grow(|| {
                self.unified(a1, b1, assumed, budget)?;
                self.unified(a2, b2, assumed, budget)
            }),
            (Ty::Vector(a), Ty::Vector(b)) | (Ty::Monad(a), Ty::Monad(b)) => {
                grow(|| self.unified(a, b, assumed, budget))
            }
            // Recursive types are equal if their infinite unrollings are.
            (Ty::Rec(..), Ty::Rec(..)) => {
                if a == b || !assumed.insert((a.clone(), b.clone())) {
                    return Ok(());
                }
                let (Some(a), Some(b)) = (a.unrolled(), b.unrolled()) else { return Err(Clash::Differ) };
                grow(|| self.unified(&a, &b, assumed, budget))
            }
            _ => {
                if a == b {
                    Ok(())
                } else {
                    Err(Clash::Differ)
                }
            }
        }
    }

    fn bind(&mut self, pat: &Pat) -> Ty {
        match pat {
            Pat::Wild => self.fresh(),
            Pat::Var(name) => {
                let ty = self.fresh();
                self.env.entry(*name).or_default().push(ty.clone());
                ty
            }
            Pat::Pair(a, b) => grow(|| {
                let a = self.bind(a);
                Ty::prod(a, self.bind(b))
            }),
        }
    }

    fn unbind(&mut self, pat: &Pat) {
        pat.each(&mut |name| {
            self.env.entry(name).or_default().pop();
        });
    }

    /// A term under a binder for values of type `ty`.
    fn under(&mut self, pat: &Pat, ty: &Ty, e: &E, span: Span) -> Checked<(E, Ty)> {
        let bound = self.bind(pat);
        self.unify(
            ty,
            &bound,
            span,
            "the variables of the pattern must fit the value that they are bound to",
        )?;
        let result = self.term(e)?;
        self.unbind(pat);
        Ok(result)
    }

    fn term(&mut self, e: &E) -> Checked<(E, Ty)> {
        grow(|| self.node(e))
    }

    fn node(&mut self, e: &E) -> Checked<(E, Ty)> {
        let span = e.span;
        let (kind, ty) = match &e.kind {
            Kind::Var(name, level) => {
                let bound = self.env.get(name).and_then(|types| types.last()).cloned();
                let ty = bound.ok_or_else(|| errors::unbound(span, name.as_str()))?;
                (Kind::Var(*name, *level), ty)
            }
            Kind::Const(constant) => return self.constant(constant, span),
            Kind::Opaque(_) => return Err(errors::expected(span, "a term", "…")),
            Kind::Lam(pat, annotation, body) => {
                let parameter = self.bind(pat);
                if let Some(annotation) = annotation {
                    self.written(annotation, span)?;
                    self.unify(annotation, &parameter, span, "the parameter is annotated with this type")?;
                }
                let (body, result) = self.term(body)?;
                self.unbind(pat);
                (Kind::Lam(pat.clone(), Some(parameter.clone()), body), Ty::fun(parameter, result))
            }
            Kind::App(f, x) => {
                let (f, function) = self.term(f)?;
                let (parameter, result) = match self.head(&function) {
                    Ty::Fun(a, b) => ((*a).clone(), (*b).clone()),
                    _ => (self.fresh(), self.fresh()),
                };
                self.unify(&Ty::fun(parameter.clone(), result.clone()), &function, f.span, "it is applied")?;
                let (x, argument) = self.term(x)?;
                self.unify(&parameter, &argument, x.span, "it is the argument of a function")?;
                (Kind::App(f, x), result)
            }
            Kind::Let(pat, value, body) => {
                let (value, bound) = self.term(value)?;
                let (body, ty) = self.under(pat, &bound, body, span)?;
                (Kind::Let(pat.clone(), value, body), ty)
            }
            Kind::LetRec(name, annotation, value, body) => {
                self.recursive(*name, annotation.as_ref(), value, body)?
            }
            Kind::Pair(a, b) => {
                let (a, left) = self.term(a)?;
                let (b, right) = self.term(b)?;
                let ty = Ty::prod(left, right);
                self.modest(&ty, span)?;
                (Kind::Pair(a, b), ty)
            }
            Kind::Fst(a) => {
                let (a, left, _) = self.product(a)?;
                (Kind::Fst(a), left)
            }
            Kind::Snd(a) => {
                let (a, _, right) = self.product(a)?;
                (Kind::Snd(a), right)
            }
            Kind::Inl(a) => {
                let (a, ty) = self.term(a)?;
                (Kind::Inl(a), Ty::sum(ty, self.fresh()))
            }
            Kind::Inr(a) => {
                let (a, ty) = self.term(a)?;
                (Kind::Inr(a), Ty::sum(self.fresh(), ty))
            }
            Kind::Case(scrutinee, p, a, q, b) => self.case(scrutinee, (p, a), (q, b))?,
            Kind::Roll(ty, a) => {
                self.written(ty, span)?;
                let content =
                    ty.unrolled().ok_or_else(|| errors::expected(span, "a type `μX. A`", &print::ty(ty)))?;
                let (a, found) = self.term(a)?;
                self.unify(&content, &found, a.span, "`roll` makes a recursive type from its content")?;
                (Kind::Roll(ty.clone(), a), ty.clone())
            }
            Kind::Unroll(a) => {
                let (a, ty) = self.term(a)?;
                let known = self.head(&ty);
                let content = known.unrolled().ok_or_else(|| {
                    let why = "`unroll` needs a term whose type is known to be recursive; annotate it, `(e : μX. A)`";
                    errors::mismatch(a.span, "μX. A", &print::ty(&self.known(&known)), why)
                })?;
                (Kind::Unroll(a), content)
            }
            Kind::Ann(a, ty) => {
                self.written(ty, span)?;
                let (a, found) = self.term(a)?;
                self.unify(ty, &found, a.span, "it is annotated with this type")?;
                return Ok((a, ty.clone()));
            }
            Kind::Pure(a) => {
                let (a, ty) = self.term(a)?;
                (Kind::Pure(a), Ty::monad(ty))
            }
            Kind::Do(pat, value, rest) => {
                let (value, found) = self.term(value)?;
                let bound = self.fresh();
                self.unify(&Ty::monad(bound.clone()), &found, value.span, "`p ← e` runs a computation")?;
                let (rest, ty) = self.under(pat, &bound, rest, span)?;
                let result = Ty::monad(self.fresh());
                self.unify(&result, &ty, rest.span, "the last statement of `do` is a computation")?;
                (Kind::Do(pat.clone(), value, rest), result)
            }
        };
        Ok((Expr::at(kind, span), ty))
    }

    fn recursive(&mut self, name: Name, annotation: Option<&Ty>, value: &E, body: &E) -> Checked<(Kind, Ty)> {
        let ty = match annotation {
            Some(ty) => {
                self.written(ty, value.span)?;
                ty.clone()
            }
            None => self.fresh(),
        };
        self.env.entry(name).or_default().push(ty.clone());
        let (value, found) = self.term(value)?;
        self.unify(&ty, &found, value.span, "a recursive function has one type")?;
        let (body, result) = self.term(body)?;
        self.env.entry(name).or_default().pop();
        Ok((Kind::LetRec(name, Some(ty), value, body), result))
    }

    fn product(&mut self, e: &E) -> Checked<(E, Ty, Ty)> {
        let (e, ty) = self.term(e)?;
        let (left, right) = (self.fresh(), self.fresh());
        self.unify(&Ty::prod(left.clone(), right.clone()), &ty, e.span, "`fst` and `snd` take a pair apart")?;
        Ok((e, left, right))
    }

    fn case(&mut self, e: &E, left: (&Pat, &E), right: (&Pat, &E)) -> Checked<(Kind, Ty)> {
        let (e, ty) = self.term(e)?;
        let (a, b) = (self.fresh(), self.fresh());
        self.unify(&Ty::sum(a.clone(), b.clone()), &ty, e.span, "`case` takes a sum apart")?;
        let (then, first) = self.under(left.0, &a, left.1, e.span)?;
        let (otherwise, second) = self.under(right.0, &b, right.1, e.span)?;
        self.unify(&first, &second, otherwise.span, "both arms have one type")?;
        Ok((Kind::Case(e, left.0.clone(), then, right.0.clone(), otherwise), first))
    }

    /// A type that the user wrote must have all its variables bound.
    fn written(&self, ty: &Ty, span: Span) -> Checked<()> {
        let mut bound = Vec::new();
        match unbound_in(ty, &mut bound) {
            Some(name) => Err(errors::unbound(span, name.as_str())),
            None => Ok(()),
        }
    }

    fn constant(&mut self, constant: &Const, span: Span) -> Checked<(E, Ty)> {
        let this = Expr::at(Kind::Const(constant.clone()), span);
        Ok(match constant {
            Const::Overloaded(op) => {
                let operand = self.fresh();
                self.overloaded.push((operand.clone(), span, op.sign()));
                let two = Ty::prod(operand.clone(), operand.clone());
                let ty = match op {
                    Overloaded::Neg => Ty::fun(operand.clone(), operand.clone()),
                    Overloaded::Compare(_) => Ty::fun(two, Ty::truth()),
                    Overloaded::Add | Overloaded::Sub | Overloaded::Mul | Overloaded::Div => {
                        Ty::fun(two, operand.clone())
                    }
                };
                (Expr::at(Kind::Ann(this, operand), span), ty)
            }
            Const::Poly(poly, subscript) => {
                let needs = !matches!(poly, Poly::Scale | Poly::Add | Poly::Dot | Poly::Zero | Poly::OneHot);
                let at = match subscript {
                    Some(ty) => {
                        self.written(ty, span)?;
                        ty.clone()
                    }
                    None if needs => return Err(errors::subscript(span, names::poly(*poly))),
                    None => self.fresh(),
                };
                let ty = poly_type(*poly, &at);
                (Expr::at(Kind::Const(Const::Poly(*poly, Some(at))), span), ty)
            }
            Const::Fun(builtin) => {
                let (a, b) = (self.fresh(), self.fresh());
                (this, builtin_type(*builtin, a, b))
            }
            Const::Real(_) => (this, Ty::Real),
            Const::Int(_) => (this, Ty::Int),
            Const::Str(_) => (this, Ty::String),
            Const::Unit => (this, Ty::Unit),
            Const::RealOp(op) => (this, real_op_type(*op)),
            Const::Leaf(op) => (this, leaf_type(*op)),
        })
    }

    /// The term with the types that were found.
    fn finished(&self, e: &E) -> Checked<E> {
        grow(|| self.finished_node(e))
    }

    fn finished_node(&self, e: &E) -> Checked<E> {
        let known = |ty: &Option<Ty>| ty.as_ref().map(|ty| self.known(ty));
        let kind = match &e.kind {
            Kind::Var(..) | Kind::Opaque(_) => return Ok(Rc::clone(e)),
            Kind::Const(Const::Poly(poly, Some(ty))) => {
                let ty = self.known(ty);
                if !ty.is_first_order() || (*poly == Poly::OneHot && ty.real_arity().is_none()) {
                    return Err(errors::not_first_order(e.span, names::poly(*poly), &print::ty(&ty)));
                }
                Kind::Const(Const::Poly(*poly, Some(ty)))
            }
            Kind::Const(_) => return Ok(Rc::clone(e)),
            Kind::Ann(a, ty) => {
                if let Kind::Const(Const::Overloaded(op)) = &a.kind {
                    let ty = self.known(ty);
                    let constant = overloaded_at(*op, &ty)
                        .ok_or_else(|| errors::overloaded(e.span, op.sign(), &print::ty(&ty)))?;
                    return Ok(Expr::at(Kind::Const(constant), e.span));
                }
                return self.finished(a);
            }
            Kind::Lam(pat, ty, body) => {
                ty.iter().try_for_each(|ty| self.modest(ty, e.span))?;
                Kind::Lam(pat.clone(), known(ty), self.finished(body)?)
            }
            Kind::App(a, b) => Kind::App(self.finished(a)?, self.finished(b)?),
            Kind::Let(pat, a, b) => Kind::Let(pat.clone(), self.finished(a)?, self.finished(b)?),
            Kind::LetRec(name, ty, a, b) => {
                Kind::LetRec(*name, known(ty), self.finished(a)?, self.finished(b)?)
            }
            Kind::Pair(a, b) => Kind::Pair(self.finished(a)?, self.finished(b)?),
            Kind::Fst(a) => Kind::Fst(self.finished(a)?),
            Kind::Snd(a) => Kind::Snd(self.finished(a)?),
            Kind::Inl(a) => Kind::Inl(self.finished(a)?),
            Kind::Inr(a) => Kind::Inr(self.finished(a)?),
            Kind::Case(e, p, a, q, b) => {
                Kind::Case(self.finished(e)?, p.clone(), self.finished(a)?, q.clone(), self.finished(b)?)
            }
            Kind::Roll(ty, a) => Kind::Roll(ty.clone(), self.finished(a)?),
            Kind::Unroll(a) => Kind::Unroll(self.finished(a)?),
            Kind::Pure(a) => Kind::Pure(self.finished(a)?),
            Kind::Do(pat, a, b) => Kind::Do(pat.clone(), self.finished(a)?, self.finished(b)?),
        };
        Ok(Expr::at(kind, e.span))
    }
}

/// Why two types are not one.
enum Clash {
    Differ,
    Infinite(Ty),
    Large,
}

fn unbound_in(ty: &Ty, bound: &mut Vec<Name>) -> Option<Name> {
    match ty {
        Ty::Var(name) => (!bound.contains(name)).then_some(*name),
        Ty::Rec(name, body) => {
            bound.push(*name);
            let found = grow(|| unbound_in(body, bound));
            bound.pop();
            found
        }
        Ty::Prod(a, b) | Ty::Sum(a, b) | Ty::Fun(a, b) => {
            grow(|| unbound_in(a, bound).or_else(|| unbound_in(b, bound)))
        }
        Ty::Vector(a) | Ty::Monad(a) => grow(|| unbound_in(a, bound)),
        Ty::Real | Ty::Int | Ty::String | Ty::Unit | Ty::Delta | Ty::DeltaMap | Ty::Meta(_) => None,
    }
}

/// Which primitive an operator is at a type.
fn overloaded_at(op: Overloaded, ty: &Ty) -> Option<Const> {
    let arithmetic = |real, int| match ty {
        Ty::Real => Some(Const::RealOp(real)),
        Ty::Int => Some(Const::Leaf(LeafOp::Int(int))),
        _ => None,
    };
    match op {
        Overloaded::Add => arithmetic(RealOp::Add, IntOp::Add),
        Overloaded::Sub => arithmetic(RealOp::Sub, IntOp::Sub),
        Overloaded::Mul => arithmetic(RealOp::Mul, IntOp::Mul),
        Overloaded::Div => arithmetic(RealOp::Div, IntOp::Div),
        Overloaded::Neg => arithmetic(RealOp::Neg, IntOp::Neg),
        Overloaded::Compare(compare) => match ty {
            Ty::Real => Some(Const::Leaf(LeafOp::CompareReal(compare))),
            Ty::Int => Some(Const::Leaf(LeafOp::CompareInt(compare))),
            Ty::String => Some(Const::Leaf(LeafOp::CompareString(compare))),
            _ => None,
        },
    }
}

fn real_op_type(op: RealOp) -> Ty {
    Ty::fun(Ty::tuple(vec![Ty::Real; op.arity()]), Ty::Real)
}

fn leaf_type(op: LeafOp) -> Ty {
    let two = |ty: Ty| Ty::prod(ty.clone(), ty);
    match op {
        LeafOp::Int(IntOp::Neg) => Ty::fun(Ty::Int, Ty::Int),
        LeafOp::Int(_) => Ty::fun(two(Ty::Int), Ty::Int),
        LeafOp::CompareReal(_) => Ty::fun(two(Ty::Real), Ty::truth()),
        LeafOp::CompareInt(_) => Ty::fun(two(Ty::Int), Ty::truth()),
        LeafOp::CompareString(_) => Ty::fun(two(Ty::String), Ty::truth()),
        LeafOp::ToReal => Ty::fun(Ty::Int, Ty::Real),
        LeafOp::Floor => Ty::fun(Ty::Real, Ty::Int),
        LeafOp::Append => Ty::fun(two(Ty::String), Ty::String),
    }
}

/// The table of Figure 1, and the new polytypic primitives of Figure 15.
fn poly_type(poly: Poly, at: &Ty) -> Ty {
    let a = || at.clone();
    match poly {
        Poly::Scale => Ty::fun(Ty::prod(Ty::Real, a()), a()),
        Poly::Add => Ty::fun(Ty::prod(a(), a()), a()),
        Poly::Dot => Ty::fun(Ty::prod(a(), a()), Ty::Real),
        Poly::Primal | Poly::Delta => Ty::fun(dual_type(at, &Mode::Forward), a()),
        Poly::OneHot => Ty::fun(Ty::Int, a()),
        Poly::Zero => a(),
        Poly::Zip => Ty::fun(Ty::prod(a(), a()), dual_type(at, &Mode::Forward)),
        Poly::InitVars => Ty::fun(Ty::prod(a(), Ty::Int), Ty::prod(dual_type(at, &Mode::Monadic), Ty::Int)),
        Poly::InitZeros => Ty::fun(a(), dual_type(at, &Mode::Monadic)),
        Poly::Lookup => Ty::fun(Ty::prod(Ty::DeltaMap, dual_type(at, &Mode::Monadic)), a()),
    }
}

/// Figures 7, 8 and 10, and section 10.2, at the types `a` and `b` where there is a choice.
fn builtin_type(builtin: Builtin, a: Ty, b: Ty) -> Ty {
    let curried =
        |types: Vec<Ty>, result: Ty| types.into_iter().rev().fold(result, |rest, ty| Ty::fun(ty, rest));
    let vector = |ty: Ty| Ty::Vector(Rc::new(ty));
    match builtin {
        Builtin::Zero => Ty::Delta,
        Builtin::OneHot | Builtin::Var => Ty::fun(Ty::Int, Ty::Delta),
        Builtin::Scale => curried(vec![Ty::Real, Ty::Delta], Ty::Delta),
        Builtin::Add => curried(vec![Ty::Delta, Ty::Delta], Ty::Delta),
        Builtin::Let => curried(vec![Ty::Int, Ty::Delta, Ty::Delta], Ty::Delta),
        Builtin::DeltaLet => Ty::fun(Ty::Delta, Ty::monad(Ty::Int)),
        Builtin::RunDelta => curried(vec![Ty::Int, Ty::monad(Ty::prod(Ty::Real, Ty::Delta))], Ty::Delta),
        Builtin::Eval => curried(vec![Ty::Real, Ty::Delta, Ty::DeltaMap], Ty::DeltaMap),
        Builtin::Eval2 => curried(vec![Ty::Real, Ty::Delta, b.clone()], b),
        Builtin::EmptyMap => Ty::DeltaMap,
        Builtin::LookupOrZero => curried(vec![Ty::Int, Ty::DeltaMap], Ty::Real),
        Builtin::Fail => Ty::fun(Ty::String, a),
        Builtin::Build => Ty::fun(Ty::prod(Ty::Int, Ty::fun(Ty::Int, a.clone())), vector(a)),
        Builtin::Index => Ty::fun(Ty::prod(vector(a.clone()), Ty::Int), a),
        Builtin::Length => Ty::fun(vector(a), Ty::Int),
        Builtin::Sequence => Ty::fun(vector(Ty::monad(a.clone())), Ty::monad(vector(a))),
    }
}
