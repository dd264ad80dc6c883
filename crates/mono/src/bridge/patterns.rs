//! Matches: nested patterns become single steps of case analysis.
//!
//! A place in the scrutinee is a variable or a component of another place ([`Place`]). Rows are tried from the first: tuples,
//! records and variables need no test and are taken apart on the spot; the first test that is left in the first row
//! decides what is looked at next, and every row is specialized to each outcome. An arm that several paths reach becomes
//! a function that they call, so no body is ever copied.
//!
//! ```text
//! match (a, b) with | (Nil, _) -> 1 | (_, Cons x xs) -> x | _ -> 0
//!     becomes    case s.0 of Nil -> 1 | Cons _ _ -> (case s.1 of Nil -> 0 | Cons x xs -> x)
//! ```

use super::terms::{apply, components, field_index};
use super::types::closed;
use super::{Bridge, Local, Scope, Typed};
use crate::errors;
use crate::simple::{Term, TermKind, Ty, Var};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use wengert_base::{Diagnostic, Name, Span};
use wengert_core::{Arm, Binder, Lit, Pattern, Subst, Type};
use wengert_prim::Prim;

/// Leaves of a decision tree at most.
const MAX_LEAVES: usize = 100_000;

/// The number of a place in [`Matching::places`].
type PlaceId = usize;

/// Where in the scrutinee.
struct Place {
    at: At,
    ty: Type,
}

enum At {
    Variable(Var),
    Component(PlaceId, usize),
}

/// A row: tests that are left, and variables that are already found.
#[derive(Clone)]
struct RowOf<'p> {
    tests: Vec<(PlaceId, &'p Pattern)>,
    bound: Vec<(&'p Binder, PlaceId)>,
    arm: usize,
}

/// What to look at, and then.
enum Tree<'p> {
    Arm(usize, Vec<(&'p Binder, PlaceId)>),
    Case(PlaceId, Vec<(Vec<Var>, Tree<'p>)>),
    Test(PlaceId, &'p Lit, Box<Tree<'p>>, Box<Tree<'p>>),
    /// The checker has shown that this is not reached.
    Nothing,
}

/// The compilation of one match.
#[derive(Default)]
struct Matching {
    places: Vec<Place>,
    parts: FxHashMap<(PlaceId, usize), PlaceId>,
    /// How often each arm is reached.
    reached: FxHashMap<usize, usize>,
    leaves: usize,
    span: Option<Span>,
}

impl Matching {
    fn place(&mut self, at: At, ty: Type) -> PlaceId {
        self.places.push(Place { at, ty });
        self.places.len() - 1
    }

    fn ty(&self, place: PlaceId) -> Type {
        self.places.get(place).map_or_else(Type::unit, |place| place.ty.clone())
    }

    /// The place of a component.
    fn part(&mut self, place: PlaceId, index: usize) -> PlaceId {
        if let Some(known) = self.parts.get(&(place, index)) {
            return *known;
        }
        let ty = components(&self.ty(place)).get(index).cloned().unwrap_or_else(Type::unit);
        let part = self.place(At::Component(place, index), ty);
        self.parts.insert((place, index), part);
        part
    }

    /// Takes apart what needs no test.
    fn simplify<'p>(&mut self, row: &mut RowOf<'p>) {
        let mut todo: Vec<(PlaceId, &'p Pattern)> = std::mem::take(&mut row.tests);
        todo.reverse();
        while let Some((place, pattern)) = todo.pop() {
            match pattern {
                Pattern::Wildcard => {}
                Pattern::Bind(binder) => row.bound.push((binder, place)),
                Pattern::As(inner, binder) => {
                    row.bound.push((binder, place));
                    todo.push((place, inner));
                }
                Pattern::Tuple(items) => {
                    for (index, item) in items.iter().enumerate().rev() {
                        todo.push((self.part(place, index), item));
                    }
                }
                Pattern::Record(fields) => {
                    for (name, field) in fields.iter().rev() {
                        let index = field_index(&self.ty(place), *name);
                        todo.push((self.part(place, index), field));
                    }
                }
                Pattern::Lit(_) | Pattern::Ctor { .. } => row.tests.push((place, pattern)),
            }
        }
    }
}

impl Bridge<'_> {
    /// A match.
    pub(super) fn match_of(
        &mut self,
        scope: &mut Scope,
        scrutinee: &wengert_core::Term,
        arms: &[Arm],
        span: Span,
    ) -> Result<Typed, Diagnostic> {
        let (scrutinee, ty) = self.term(scope, scrutinee)?;
        let mut matching = Matching { span: Some(span), ..Matching::default() };
        let (var, bound) = if let TermKind::Var(var) = scrutinee.kind {
            (var, None)
        } else {
            (self.fresh(Name::new("it")), Some(scrutinee))
        };
        let root = matching.place(At::Variable(var), ty);
        let mut rows: Vec<RowOf<'_>> = Vec::with_capacity(arms.len());
        for (arm, of) in arms.iter().enumerate() {
            rows.push(RowOf { tests: vec![(root, &of.pattern)], bound: Vec::new(), arm });
        }
        let tree = self.tree(scope, &mut matching, rows)?;
        let (mut term, ty) = self.arms(scope, &matching, tree, arms, span)?;
        if let Some(value) = bound {
            term =
                self.node(TermKind::Let(var, value.ty.clone(), Rc::new(value), Rc::new(term)), &ty, span)?;
        }
        Ok((term, ty))
    }

    /// The decision tree of these rows.
    fn tree<'p>(
        &mut self,
        scope: &Scope,
        matching: &mut Matching,
        mut rows: Vec<RowOf<'p>>,
    ) -> Result<Tree<'p>, Diagnostic> {
        rows.iter_mut().for_each(|row| matching.simplify(row));
        matching.leaves += 1;
        if matching.leaves > MAX_LEAVES {
            let span = matching.span.unwrap_or(Span::NOWHERE);
            return Err(errors::too_large(span, "a match has too many combinations of cases"));
        }
        self.count(rows.len() as u64, matching.span.unwrap_or(Span::NOWHERE))?;
        let Some(first) = rows.first() else { return Ok(Tree::Nothing) };
        let Some((place, pattern)) = first.tests.first().copied() else {
            *matching.reached.entry(first.arm).or_default() += 1;
            return Ok(Tree::Arm(first.arm, first.bound.clone()));
        };
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match pattern {
            Pattern::Lit(lit) => {
                let yes = specialize(&rows, place, |other| literal_rest(place, other, lit, true));
                let no = specialize(&rows, place, |other| literal_rest(place, other, lit, false));
                let yes = self.tree(scope, matching, yes)?;
                Ok(Tree::Test(place, lit, Box::new(yes), Box::new(self.tree(scope, matching, no)?)))
            }
            Pattern::Ctor { ctor, args, .. } => {
                let Some(data) = self.core.types.get(&ctor.data).cloned() else { return Ok(Tree::Nothing) };
                let args: Vec<Type> = args.iter().map(|arg| closed(&scope.subst, arg)).collect();
                let subst = Subst::of_data(&data.params, &args);
                let mut cases = Vec::with_capacity(data.ctors.len());
                for (index, ctor) in data.ctors.iter().enumerate() {
                    let mut vars = Vec::with_capacity(ctor.fields.len());
                    let mut places = Vec::with_capacity(ctor.fields.len());
                    for (field, ty) in ctor.fields.iter().enumerate() {
                        let name = field_name(&rows, place, index as u32, field);
                        let var = self.fresh(name);
                        vars.push(var);
                        let ty = closed(&subst, ty);
                        if !self.nested.grow.is_empty() {
                            // The term names it.
                            self.erase(&ty, matching.span.unwrap_or(Span::NOWHERE))?;
                        }
                        places.push(matching.place(At::Variable(var), ty));
                    }
                    let rows = specialize(&rows, place, |other| {
                        let Pattern::Ctor { ctor, fields, .. } = other else { return None };
                        (ctor.index as usize == index).then(|| places.iter().copied().zip(fields).collect())
                    });
                    cases.push((vars, self.tree(scope, matching, rows)?));
                }
                Ok(Tree::Case(place, cases))
            }
            Pattern::Wildcard
            | Pattern::Bind(_)
            | Pattern::Tuple(_)
            | Pattern::Record(_)
            | Pattern::As(..) => Ok(Tree::Nothing),
        })
    }

    /// The bodies of arms, then the tree that leads to them.
    fn arms(
        &mut self,
        scope: &mut Scope,
        matching: &Matching,
        tree: Tree<'_>,
        arms: &[Arm],
        span: Span,
    ) -> Result<Typed, Diagnostic> {
        let mut bodies: FxHashMap<usize, Typed> = FxHashMap::default();
        let mut shared: Vec<(Var, Term)> = Vec::new();
        let mut ty = None;
        // Shared arms become functions of their variables; the others are translated where their variables are known.
        for (index, arm) in arms.iter().enumerate() {
            if matching.reached.get(&index).copied().unwrap_or(0) < 2 {
                continue;
            }
            let mut binders = Vec::new();
            pattern_binders(&arm.pattern, &mut binders);
            let mut params = Vec::with_capacity(binders.len());
            for binder in binders {
                let param_ty = closed(&scope.subst, &binder.ty);
                params.push((self.bind(scope, binder.var, &param_ty), param_ty));
            }
            if params.is_empty() {
                params.push((self.fresh(Name::new("unit")), Type::unit()));
            }
            let (mut body, mut body_ty) = self.term(scope, &arm.body)?;
            ty.get_or_insert_with(|| body_ty.clone());
            for (var, param_ty) in params.into_iter().rev() {
                let erased = self.erase(&param_ty, span)?;
                body_ty = Type::fun(param_ty, body_ty);
                body = self.node(TermKind::Lam(var, erased, Rc::new(body)), &body_ty, arm.body.span)?;
            }
            let join = self.fresh(Name::new("arm"));
            let variable = self.node(TermKind::Var(join), &body_ty, span)?;
            bodies.insert(index, (variable, body_ty));
            shared.push((join, body));
        }
        let mut emit = Emit { scope, matching, arms, bodies, ty, span };
        let (mut term, ty) = self.emit(&mut emit, tree)?;
        for (join, body) in shared.into_iter().rev() {
            term =
                self.node(TermKind::Let(join, body.ty.clone(), Rc::new(body), Rc::new(term)), &ty, span)?;
        }
        Ok((term, ty))
    }

    fn emit(&mut self, emit: &mut Emit<'_, '_>, tree: Tree<'_>) -> Result<Typed, Diagnostic> {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match tree {
            Tree::Nothing => {
                let ty = emit.ty.clone().unwrap_or_else(Type::unit);
                let text =
                    self.node(TermKind::String("no pattern matches".into()), &Type::String, emit.span)?;
                self.typed(TermKind::Prim(Prim::Fail, vec![text]), ty, emit.span)
            }
            Tree::Arm(index, bound) => self.leaf(emit, index, bound),
            Tree::Case(place, cases) => {
                let scrutinee = self.read(emit.matching, place, emit.span)?;
                let mut arms = Vec::with_capacity(cases.len());
                let mut ty = None;
                let fields: Vec<Vec<Ty>> = self
                    .data
                    .get(&scrutinee.ty)
                    .into_iter()
                    .flat_map(|data| &data.ctors)
                    .map(|c| c.1.clone())
                    .collect();
                for ((vars, tree), fields) in cases.into_iter().zip(fields) {
                    let (body, body_ty) = self.emit(emit, tree)?;
                    ty.get_or_insert(body_ty);
                    arms.push((vars.into_iter().zip(fields).collect(), body));
                }
                let ty = ty.unwrap_or_else(Type::unit);
                self.typed(TermKind::Case(Rc::new(scrutinee), arms), ty, emit.span)
            }
            Tree::Test(place, lit, yes, no) => {
                let scrutinee = self.read(emit.matching, place, emit.span)?;
                let (yes, ty) = self.emit(emit, *yes)?;
                emit.ty.get_or_insert_with(|| ty.clone());
                let (no, _) = self.emit(emit, *no)?;
                let span = emit.span;
                let (yes, no) = (Rc::new(yes), Rc::new(no));
                let kind = match lit {
                    Lit::Bool(true) => TermKind::If(Rc::new(scrutinee), yes, no),
                    Lit::Bool(false) => TermKind::If(Rc::new(scrutinee), no, yes),
                    Lit::Real(_) | Lit::Int(_) | Lit::Num(..) | Lit::String(_) => {
                        let value = self.literal_like(lit, &scrutinee, span);
                        let test = TermKind::Prim(Prim::Eq, vec![scrutinee, value]);
                        TermKind::If(Rc::new(self.node(test, &Type::Bool, span)?), yes, no)
                    }
                };
                self.typed(kind, ty, span)
            }
        })
    }

    /// An arm: its body in place, or a call of the function that it has become.
    fn leaf(
        &mut self,
        emit: &mut Emit<'_, '_>,
        index: usize,
        bound: Vec<(&Binder, PlaceId)>,
    ) -> Result<Typed, Diagnostic> {
        let Some(arm) = emit.arms.get(index) else { return self.emit(emit, Tree::Nothing) };
        if let Some((join, ty)) = emit.bodies.get(&index).cloned() {
            let mut binders = Vec::new();
            pattern_binders(&arm.pattern, &mut binders);
            let mut args = Vec::with_capacity(binders.len());
            for binder in &binders {
                let place =
                    bound.iter().find(|(other, _)| other.var == binder.var).map_or(0, |(_, place)| *place);
                args.push((self.read(emit.matching, place, emit.span)?, emit.span));
            }
            if args.is_empty() {
                let unit = self.node(TermKind::Tuple(Vec::new()), &Type::unit(), emit.span)?;
                args.push((unit, emit.span));
            }
            let ty = super::types::result(&ty, args.len());
            return Ok((apply(join, args), ty));
        }
        let mut lets = Vec::new();
        for (binder, place) in bound {
            let Some(found) = emit.matching.places.get(place) else { continue };
            match found.at {
                At::Variable(var) => {
                    emit.scope.locals.insert(binder.var.id, Local::Mono(var, found.ty.clone()));
                }
                At::Component(..) => {
                    let value = self.read(emit.matching, place, emit.span)?;
                    lets.push((self.bind(emit.scope, binder.var, &found.ty), value));
                }
            }
        }
        let (mut term, ty) = self.term(emit.scope, &arm.body)?;
        emit.ty.get_or_insert_with(|| ty.clone());
        for (var, value) in lets.into_iter().rev() {
            let kind = TermKind::Let(var, value.ty.clone(), Rc::new(value), Rc::new(term));
            term = self.node(kind, &ty, emit.span)?;
        }
        Ok((term, ty))
    }

    /// The value at a place.
    fn read(&mut self, matching: &Matching, place: PlaceId, span: Span) -> Result<Term, Diagnostic> {
        let mut path = Vec::new();
        let mut at = place;
        loop {
            match matching.places.get(at) {
                Some(Place { at: At::Component(of, index), .. }) => {
                    path.push((at, *index, *of));
                    at = *of;
                }
                Some(Place { at: At::Variable(var), ty }) => {
                    let mut term = self.node(TermKind::Var(*var), ty, span)?;
                    for (_, index, of) in path.into_iter().rev() {
                        term = self.component(term, &matching.ty(of), index, span)?.0;
                    }
                    return Ok(term);
                }
                None => return self.node(TermKind::Tuple(Vec::new()), &Type::unit(), span),
            }
        }
    }

    /// A literal of a pattern, at the type of what it is compared with.
    fn literal_like(&self, lit: &Lit, scrutinee: &Term, span: Span) -> Term {
        let kind = match lit {
            Lit::Real(x) => TermKind::Real(*x),
            Lit::Int(n) | Lit::Num(n, _) if scrutinee.ty == Ty::Real => TermKind::Real(*n as f64),
            Lit::Int(n) | Lit::Num(n, _) => TermKind::Int(*n),
            Lit::Bool(b) => TermKind::Bool(*b),
            Lit::String(text) => TermKind::String(Rc::from(text.as_ref())),
        };
        Term { kind, ty: scrutinee.ty.clone(), span }
    }
}

/// What the emission of a tree needs.
struct Emit<'s, 'm> {
    scope: &'s mut Scope,
    matching: &'m Matching,
    arms: &'m [Arm],
    /// Arms that are functions.
    bodies: FxHashMap<usize, Typed>,
    /// The type of the match, once an arm has told it.
    ty: Option<Type>,
    span: Span,
}

/// The rows that are left after an outcome at `place`: `rest` gives what is left of a test there, or nothing if it fails.
fn specialize<'p>(
    rows: &[RowOf<'p>],
    place: PlaceId,
    rest: impl Fn(&'p Pattern) -> Option<Vec<(PlaceId, &'p Pattern)>>,
) -> Vec<RowOf<'p>> {
    let mut kept = Vec::new();
    for row in rows {
        let mut left = RowOf { tests: Vec::with_capacity(row.tests.len()), ..row.clone() };
        let mut possible = true;
        for (at, pattern) in &row.tests {
            match *at == place {
                false => left.tests.push((*at, pattern)),
                true => match rest(pattern) {
                    Some(tests) => left.tests.extend(tests),
                    None => possible = false,
                },
            }
        }
        if possible {
            kept.push(left);
        }
    }
    kept
}

/// What is left of a pattern when the value at `place` is (`equal`) or is not the literal.
fn literal_rest<'p>(
    place: PlaceId,
    pattern: &'p Pattern,
    lit: &Lit,
    equal: bool,
) -> Option<Vec<(PlaceId, &'p Pattern)>> {
    let Pattern::Lit(other) = pattern else { return None };
    // Of two truth values, what is not the one is the other.
    let settled = matches!(other, Lit::Bool(_));
    match (same_literal(other, lit), equal) {
        (true, true) => Some(Vec::new()),
        (false, false) if settled => Some(Vec::new()),
        (false, false) => Some(vec![(place, pattern)]),
        (true, false) | (false, true) => None,
    }
}

fn same_literal(a: &Lit, b: &Lit) -> bool {
    match (a, b) {
        (Lit::Int(a) | Lit::Num(a, _), Lit::Int(b) | Lit::Num(b, _)) => a == b,
        (Lit::Int(a) | Lit::Num(a, _), Lit::Real(b)) | (Lit::Real(b), Lit::Int(a) | Lit::Num(a, _)) => {
            *a as f64 == *b
        }
        (Lit::Real(a), Lit::Real(b)) => a == b,
        (Lit::Bool(a), Lit::Bool(b)) => a == b,
        (Lit::String(a), Lit::String(b)) => a == b,
        (Lit::Real(_) | Lit::Int(_) | Lit::Num(..) | Lit::Bool(_) | Lit::String(_), _) => false,
    }
}

/// The variables of a pattern in order.
fn pattern_binders<'p>(pattern: &'p Pattern, out: &mut Vec<&'p Binder>) {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match pattern {
        Pattern::Wildcard | Pattern::Lit(_) => {}
        Pattern::Bind(binder) => out.push(binder),
        Pattern::As(inner, binder) => {
            out.push(binder);
            pattern_binders(inner, out);
        }
        Pattern::Tuple(items) | Pattern::Ctor { fields: items, .. } => {
            items.iter().for_each(|item| pattern_binders(item, out));
        }
        Pattern::Record(fields) => fields.iter().for_each(|(_, field)| pattern_binders(field, out)),
    });
}

/// What the user calls a field of a constructor in the first row that names it.
fn field_name(rows: &[RowOf<'_>], place: PlaceId, index: u32, field: usize) -> Name {
    let named =
        rows.iter().flat_map(|row| &row.tests).filter(|(at, _)| *at == place).find_map(|(_, pattern)| {
            let Pattern::Ctor { ctor, fields, .. } = pattern else { return None };
            match fields.get(field) {
                Some(Pattern::Bind(binder) | Pattern::As(_, binder)) if ctor.index == index => {
                    Some(binder.var.name)
                }
                _ => None,
            }
        });
    named.unwrap_or_else(|| Name::new("part"))
}
