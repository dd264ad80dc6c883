//! Terms: one case for each kind of term of the core.
//!
//! A polymorphic `let` is translated body first: the body says at which types the value is needed, and for each of these
//! the value gets a `let` of its own. Recursive groups likewise. Numbers of the core (ids of binders) are unique in a
//! definition, so a scope is a plain map.

use super::operators::{Lets, inside, is_value};
use super::types::{closed, closed_arg, result};
use super::{Bridge, Group, Local, Scope, Typed, bind_params, operators, union_of_params, without_sizes};
use crate::simple::{Term, TermKind, Ty, Var};
use indexmap::IndexMap;
use std::collections::BTreeMap;
use std::rc::Rc;
use wengert_base::{Diagnostic, Name, Span};
use wengert_core::{self as core, Lit, RecBinding, Row, Scheme, Type, TypeArg, signature};
use wengert_prim::Prim;

impl Bridge<'_> {
    /// The term, and its type in the core.
    pub(super) fn term(&mut self, scope: &mut Scope, term: &core::Term) -> Result<Typed, Diagnostic> {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || self.term_inner(scope, term))
    }

    fn term_inner(&mut self, scope: &mut Scope, term: &core::Term) -> Result<Typed, Diagnostic> {
        let span = term.span;
        match &term.kind {
            core::TermKind::Var { var, args } => self.variable(scope, *var, args, span),
            core::TermKind::Global { .. } | core::TermKind::App { .. } => self.application(scope, term),
            core::TermKind::Lit(lit) => self.literal(scope, lit, span),
            core::TermKind::Lam { param, body } => {
                let from = closed(&scope.subst, &param.ty);
                let var = self.bind(scope, param.var, &from);
                let erased = self.erase(&from, span)?;
                self.note_fields(var, &from);
                let (body, to) = self.term(scope, body)?;
                self.typed(TermKind::Lam(var, erased, Rc::new(body)), Type::fun(from, to), span)
            }
            core::TermKind::Let { var, scheme, value, body } => {
                self.let_in(scope, *var, scheme, (value, body), span)
            }
            core::TermKind::LetRec { bindings, body } => self.let_rec(scope, bindings, body, span),
            core::TermKind::If { cond, then, otherwise } => {
                let (cond, _) = self.term(scope, cond)?;
                let (then, ty) = self.term(scope, then)?;
                let (otherwise, _) = self.term(scope, otherwise)?;
                self.typed(TermKind::If(Rc::new(cond), Rc::new(then), Rc::new(otherwise)), ty, span)
            }
            core::TermKind::Tuple(items) => {
                let (items, types) = self.terms(scope, items)?;
                self.typed(TermKind::Tuple(items), Type::Tuple(types), span)
            }
            core::TermKind::Proj { tuple, index } => {
                let (tuple, ty) = self.term(scope, tuple)?;
                self.component(tuple, &ty, *index as usize, span)
            }
            core::TermKind::Record(fields) => self.record(scope, fields, span),
            core::TermKind::Field { record, field } => {
                let (record, ty) = self.term(scope, record)?;
                self.component(record, &ty, field_index(&ty, *field), span)
            }
            core::TermKind::Update { record, fields } => self.update(scope, record, fields, span),
            core::TermKind::Ctor { ctor, args, fields } => {
                let args = args.iter().map(|arg| closed(&scope.subst, arg)).collect();
                let (fields, _) = self.terms(scope, fields)?;
                self.typed(TermKind::Ctor(ctor.index, fields), Type::Data(ctor.data, args), span)
            }
            core::TermKind::Match { scrutinee, arms } => self.match_of(scope, scrutinee, arms, span),
            core::TermKind::Array { elem, items } => {
                let elem = closed(&scope.subst, elem);
                let (items, _) = self.terms(scope, items)?;
                self.typed(TermKind::Array(items), Type::array(core::Size::Unknown, elem), span)
            }
            core::TermKind::Prim { prim, type_args, args } => {
                self.primitive(scope, *prim, type_args, args, span)
            }
            core::TermKind::CheckSize { array, axis, expected, name } => {
                let array = self.term(scope, array)?;
                let expected = self.term(scope, expected)?;
                self.check_size(array, *axis, expected, *name, span)
            }
        }
    }

    /// A node with its type.
    pub(super) fn typed(&mut self, kind: TermKind, ty: Type, span: Span) -> Result<Typed, Diagnostic> {
        Ok((self.node(kind, &ty, span)?, ty))
    }

    /// A variable of the core that stands for a fresh one.
    pub(super) fn bind(&mut self, scope: &mut Scope, var: core::Var, ty: &Type) -> Var {
        let fresh = self.fresh(var.name);
        scope.locals.insert(var.id, Local::Mono(fresh, ty.clone()));
        fresh
    }

    fn terms(
        &mut self,
        scope: &mut Scope,
        terms: &[core::Term],
    ) -> Result<(Vec<Term>, Vec<Type>), Diagnostic> {
        let mut all = (Vec::with_capacity(terms.len()), Vec::with_capacity(terms.len()));
        for term in terms {
            let (term, ty) = self.term(scope, term)?;
            all.0.push(term);
            all.1.push(ty);
        }
        Ok(all)
    }

    fn literal(&mut self, scope: &Scope, lit: &Lit, span: Span) -> Result<Typed, Diagnostic> {
        let (kind, ty) = match lit {
            Lit::Real(x) => (TermKind::Real(*x), Type::Real),
            Lit::Int(n) => (TermKind::Int(*n), Type::Int),
            Lit::Num(n, variable) if scope.subst.ty(&Type::Var(*variable)) == Type::Real => {
                (TermKind::Real(*n as f64), Type::Real)
            }
            Lit::Num(n, _) => (TermKind::Int(*n), Type::Int),
            Lit::Bool(b) => (TermKind::Bool(*b), Type::Bool),
            Lit::String(text) => (TermKind::String(Rc::from(text.as_ref())), Type::String),
        };
        self.typed(kind, ty, span)
    }

    fn variable(
        &mut self,
        scope: &mut Scope,
        var: core::Var,
        args: &[TypeArg],
        span: Span,
    ) -> Result<Typed, Diagnostic> {
        let args: Vec<TypeArg> = args.iter().map(|arg| closed_arg(&scope.subst, arg)).collect();
        let Scope { subst, locals, groups } = scope;
        let (var, ty) = match locals.get_mut(&var.id) {
            None => return Err(super::errors::unknown_definition(span, var.name)),
            Some(Local::Mono(fresh, ty)) => (*fresh, ty.clone()),
            Some(Local::Poly(scheme, wanted)) => {
                let key = without_sizes(&args);
                if let Some(known) = wanted.get(&key) {
                    known.clone()
                } else {
                    let ty = super::types::unsized_type(&subst.ty(&scheme.instantiate(&args)));
                    let fresh = self.fresh(var.name);
                    wanted.insert(key, (fresh, ty.clone()));
                    (fresh, ty)
                }
            }
            Some(Local::Member(group, member)) => match groups.get_mut(*group) {
                None => return Err(super::errors::unknown_definition(span, var.name)),
                Some(group) => self.member(subst, group, *member, &args, span)?,
            },
        };
        self.typed(TermKind::Var(var), ty, span)
    }

    /// An occurrence of a member of a recursive group.
    fn member(
        &mut self,
        subst: &core::Subst,
        group: &mut Group,
        member: usize,
        args: &[TypeArg],
        span: Span,
    ) -> Result<(Var, Type), Diagnostic> {
        let index = match group.current {
            Some(current) => current,
            None => {
                let own = group.members.get(member).map(|(_, scheme)| scheme.params.clone());
                let mut given = core::Subst::new();
                bind_params(&mut given, &own.unwrap_or_default(), args);
                let of_group = |param: &core::Param| match given.arg(&param.as_arg()) {
                    arg if arg == param.as_arg() => super::default_arg(param),
                    arg => arg,
                };
                let key = without_sizes(&group.params.iter().map(of_group).collect::<Vec<_>>());
                match group.wanted.get_index_of(&key) {
                    Some(index) => index,
                    None => {
                        let mut here = subst.clone();
                        bind_params(&mut here, &group.params, &key);
                        let mut all = Vec::with_capacity(group.members.len());
                        for (name, scheme) in &group.members {
                            all.push((self.fresh(*name), closed(&here, &scheme.ty)));
                        }
                        group.wanted.insert_full(key, all).0
                    }
                }
            }
        };
        let found = group.wanted.get_index(index).and_then(|(_, all)| all.get(member));
        let missing = || super::errors::unknown_definition(span, Name::new("?"));
        found.cloned().ok_or_else(missing)
    }

    fn let_in(
        &mut self,
        scope: &mut Scope,
        var: core::Var,
        scheme: &Scheme,
        (value, body): (&core::Term, &core::Term),
        span: Span,
    ) -> Result<Typed, Diagnostic> {
        if scheme.params.is_empty() {
            let (value, value_ty) = self.term(scope, value)?;
            let fresh = self.bind(scope, var, &value_ty);
            let (body, ty) = self.term(scope, body)?;
            let kind = TermKind::Let(fresh, value.ty.clone(), Rc::new(value), Rc::new(body));
            return self.typed(kind, ty, span);
        }
        scope.locals.insert(var.id, Local::Poly(scheme.clone(), IndexMap::new()));
        let (mut term, ty) = self.term(scope, body)?;
        let Some(Local::Poly(_, wanted)) = scope.locals.remove(&var.id) else { return Ok((term, ty)) };
        for (args, (fresh, _)) in wanted {
            bind_params(&mut scope.subst, &scheme.params, &args);
            let (value, _) = self.term(scope, value)?;
            let kind = TermKind::Let(fresh, value.ty.clone(), Rc::new(value), Rc::new(term));
            term = self.node(kind, &ty, span)?;
        }
        Ok((term, ty))
    }

    fn let_rec(
        &mut self,
        scope: &mut Scope,
        bindings: &[RecBinding],
        body: &core::Term,
        span: Span,
    ) -> Result<Typed, Diagnostic> {
        let place = scope.groups.len();
        let params = union_of_params(bindings.iter().map(|binding| &binding.scheme));
        let members = bindings.iter().map(|b| (b.var.name, b.scheme.clone())).collect();
        scope.groups.push(Group { params, members, wanted: IndexMap::new(), current: None });
        for (member, binding) in bindings.iter().enumerate() {
            scope.locals.insert(binding.var.id, Local::Member(place, member));
        }
        let (mut term, ty) = self.term(scope, body)?;
        let mut index = 0;
        while let Some(group) = scope.groups.get_mut(place)
            && let Some((args, all)) = group.wanted.get_index(index)
        {
            let (args, all) = (args.clone(), all.clone());
            group.current = Some(index);
            bind_params(&mut scope.subst, &group.params, &args);
            let mut values = Vec::with_capacity(bindings.len());
            for (binding, (var, _)) in bindings.iter().zip(&all) {
                let (value, _) = self.term(scope, &binding.value)?;
                values.push((*var, value.ty.clone(), value));
            }
            term = self.node(TermKind::LetRec(values, Rc::new(term)), &ty, span)?;
            index += 1;
        }
        Ok((term, ty))
    }

    /// A definition or a call, with all arguments of nested calls at once.
    fn application(&mut self, scope: &mut Scope, term: &core::Term) -> Result<Typed, Diagnostic> {
        let mut args = Vec::new();
        let mut head = term;
        while let core::TermKind::App { func, arg } = &head.kind {
            args.push((arg, head.span));
            head = func;
        }
        args.reverse();
        let (func, mut ty) = if let core::TermKind::Global { name, args: type_args } = &head.kind {
            let type_args: Vec<TypeArg> = type_args.iter().map(|arg| closed_arg(&scope.subst, arg)).collect();
            match operators::of_definition(*name) {
                None => self.global(*name, &type_args, head.span)?,
                Some(operator) => {
                    let def = self.definition(*name, head.span)?;
                    let ty = super::types::unsized_type(&def.scheme.instantiate(&type_args));
                    let own = args.len().min(operator.arity());
                    let last = own.checked_sub(1).and_then(|last| args.get(last));
                    let span = last.map_or(head.span, |(_, span)| *span);
                    let mut given = Vec::with_capacity(own);
                    for (arg, _) in args.drain(..own) {
                        given.push(self.term(scope, arg)?);
                    }
                    self.operator(operator, &ty, given, span)?
                }
            }
        } else {
            self.term(scope, head)?
        };
        let mut given = Vec::with_capacity(args.len());
        for (arg, span) in args {
            given.push((self.term(scope, arg)?.0, span));
            ty = result(&ty, 1);
        }
        Ok((apply(func, given), ty))
    }

    fn primitive(
        &mut self,
        scope: &mut Scope,
        prim: Prim,
        type_args: &[TypeArg],
        args: &[core::Term],
        span: Span,
    ) -> Result<Typed, Diagnostic> {
        let type_args: Vec<TypeArg> = type_args.iter().map(|arg| closed_arg(&scope.subst, arg)).collect();
        let ty = super::types::unsized_type(&signature(prim).scheme.instantiate(&type_args));
        let mut given = Vec::with_capacity(args.len());
        for arg in args {
            given.push(self.term(scope, arg)?);
        }
        if prim == Prim::Show
            && let Some(only) = given.pop()
        {
            return self.show_prim(only, span);
        }
        match operators::of_prim(prim) {
            Some(operator) => self.operator(operator, &ty, given, span),
            None => {
                let args = given.into_iter().map(|(arg, _)| arg).collect();
                self.typed(TermKind::Prim(prim, args), result(&ty, prim.info().arity), span)
            }
        }
    }

    /// Component `index` of a tuple or record.
    pub(super) fn component(
        &mut self,
        tuple: Term,
        ty: &Type,
        index: usize,
        span: Span,
    ) -> Result<Typed, Diagnostic> {
        let parts = components(ty);
        let Some(part) = parts.get(index).cloned() else {
            return Err(super::errors::unknown_definition(span, Name::new("?")));
        };
        match parts.len() {
            // A record with one field is that field.
            1 if !self.singles => Ok((tuple, part)),
            count => self.typed(TermKind::Proj(Rc::new(tuple), index, count), part, span),
        }
    }

    fn record(
        &mut self,
        scope: &mut Scope,
        fields: &[(Name, core::Term)],
        span: Span,
    ) -> Result<Typed, Diagnostic> {
        let (parts, lets) = self.written(scope, fields)?;
        let tuple = self.tuple_of(parts, span)?;
        Ok(inside(lets, tuple))
    }

    /// Fields, and the variables that hold those which are computed in another order than that of the names, as they were written.
    fn written(
        &mut self,
        scope: &mut Scope,
        fields: &[(Name, core::Term)],
    ) -> Result<(BTreeMap<Name, Typed>, Lets), Diagnostic> {
        let mut parts = Vec::with_capacity(fields.len());
        for (name, field) in fields {
            parts.push((*name, self.term(scope, field)?));
        }
        let work = parts.iter().filter(|(_, (term, _))| !is_value(term)).map(|(name, _)| *name);
        let mut lets = Vec::new();
        if !work.is_sorted() {
            for (name, (term, _)) in parts.iter_mut().filter(|(_, (term, _))| !is_value(term)) {
                let var = self.fresh(*name);
                let held = Term { kind: TermKind::Var(var), ty: term.ty.clone(), span: term.span };
                lets.push((var, std::mem::replace(term, held)));
            }
        }
        Ok((parts.into_iter().collect(), lets))
    }

    fn tuple_of(&mut self, parts: BTreeMap<Name, Typed>, span: Span) -> Result<Typed, Diagnostic> {
        let fields = parts.iter().map(|(name, (_, ty))| (*name, ty.clone())).collect();
        let ty = Type::Record(Row { fields, rest: None });
        let mut terms: Vec<Term> = parts.into_values().map(|(term, _)| term).collect();
        match (terms.pop(), terms.is_empty()) {
            (Some(only), true) if !self.singles => Ok((only, ty)),
            (last, _) => {
                terms.extend(last);
                self.typed(TermKind::Tuple(terms), ty, span)
            }
        }
    }

    fn update(
        &mut self,
        scope: &mut Scope,
        record: &core::Term,
        fields: &[(Name, core::Term)],
        span: Span,
    ) -> Result<Typed, Diagnostic> {
        let (record, ty) = self.term(scope, record)?;
        let known = if let TermKind::Var(var) = record.kind { Some(var) } else { None };
        let var = known.unwrap_or_else(|| self.fresh(Name::new("record")));
        let (mut parts, lets) = self.written(scope, fields)?;
        if let Type::Record(row) = &ty {
            for (index, name) in row.fields.keys().enumerate() {
                if !parts.contains_key(name) {
                    let whole = self.node(TermKind::Var(var), &ty, record.span)?;
                    parts.insert(*name, self.component(whole, &ty, index, span)?);
                }
            }
        }
        let whole = self.tuple_of(parts, span)?;
        let (tuple, ty) = inside(lets, whole);
        if known.is_some() {
            return Ok((tuple, ty));
        }
        self.typed(TermKind::Let(var, record.ty.clone(), Rc::new(record), Rc::new(tuple)), ty, span)
    }

    /// The array, or `fail` if its size along an axis is another one.
    fn check_size(
        &mut self,
        (array, ty): Typed,
        axis: u32,
        (expected, _): Typed,
        name: Name,
        span: Span,
    ) -> Result<Typed, Diagnostic> {
        let (xs, n) = (self.fresh(Name::new("xs")), self.fresh(Name::new("n")));
        self.note_size(n, name, axis);
        let whole = self.node(TermKind::Var(xs), &ty, span)?;
        let wanted = self.node(TermKind::Var(n), &Type::Int, span)?;
        let fits = self.fits(whole.clone(), &ty, axis, &wanted, span)?;
        let text = format!("the size of an array is not {name}");
        let text = self.node(TermKind::String(text.into()), &Type::String, span)?;
        let fail = self.node(TermKind::Prim(Prim::Fail, vec![text]), &ty, span)?;
        let checked = self.node(TermKind::If(Rc::new(fits), Rc::new(whole), Rc::new(fail)), &ty, span)?;
        let inner = TermKind::Let(n, Ty::Int, Rc::new(expected), Rc::new(checked));
        let inner = self.node(inner, &ty, span)?;
        self.typed(TermKind::Let(xs, array.ty.clone(), Rc::new(array), Rc::new(inner)), ty, span)
    }

    /// Whether the size of `array` along `axis` is `wanted`: no row is of another size.
    fn fits(
        &mut self,
        array: Term,
        ty: &Type,
        axis: u32,
        wanted: &Term,
        span: Span,
    ) -> Result<Term, Diagnostic> {
        let (counted, expected) = match (axis, ty) {
            (1.., Type::Array(_, elem)) => {
                let row = self.fresh(Name::new("row"));
                let variable = self.node(TermKind::Var(row), elem, span)?;
                let erased = variable.ty.clone();
                let inner = self.fits(variable, elem, axis - 1, wanted, span)?;
                let outer = self.node(TermKind::Prim(Prim::Not, vec![inner]), &Type::Bool, span)?;
                let test = TermKind::Lam(row, erased, Rc::new(outer));
                let test = self.node(test, &Type::fun(elem.as_ref().clone(), Type::Bool), span)?;
                let zero = self.node(TermKind::Int(0), &Type::Int, span)?;
                (self.node(TermKind::Prim(Prim::Filter, vec![test, array]), ty, span)?, zero)
            }
            _ => (array, wanted.clone()),
        };
        let length = self.node(TermKind::Prim(Prim::Length, vec![counted]), &Type::Int, span)?;
        self.node(TermKind::Prim(Prim::Eq, vec![length, expected]), &Type::Bool, span)
    }
}

/// `func` applied to `args` (each with the place of its call): a `let` for each parameter that it names, calls for the rest.
pub(super) fn apply(func: Term, args: Vec<(Term, Span)>) -> Term {
    let mut lets = Vec::new();
    let mut term = func;
    for (arg, span) in args {
        term = if let TermKind::Lam(var, ty, body) = term.kind {
            lets.push((var, ty, arg, span));
            Rc::try_unwrap(body).unwrap_or_else(|shared| Term::clone(&shared))
        } else {
            let ty = if let Ty::Fun(_, to) = &term.ty { to.as_ref().clone() } else { term.ty.clone() };
            Term { kind: TermKind::App(Rc::new(term), Rc::new(arg)), ty, span }
        };
    }
    for (var, var_ty, value, span) in lets.into_iter().rev() {
        let ty = term.ty.clone();
        term = Term { kind: TermKind::Let(var, var_ty, Rc::new(value), Rc::new(term)), ty, span };
    }
    term
}

/// The types of the components of a tuple or the fields of a record.
pub(super) fn components(ty: &Type) -> Vec<Type> {
    match ty {
        Type::Tuple(items) => items.clone(),
        Type::Record(row) => row.fields.values().cloned().collect(),
        Type::Real
        | Type::Int
        | Type::Bool
        | Type::String
        | Type::Array(..)
        | Type::Fun(..)
        | Type::Data(..)
        | Type::Dual(_)
        | Type::Var(_) => Vec::new(),
    }
}

/// Where a field stands in a record.
pub(super) fn field_index(ty: &Type, field: Name) -> usize {
    let Type::Record(row) = ty else { return 0 };
    row.fields.keys().position(|name| *name == field).unwrap_or(usize::MAX)
}

/// How many nodes a term has, counted no further than just above `limit`.
pub(super) fn size(term: &core::Term, limit: usize) -> usize {
    let mut count = 0;
    let mut stack = vec![term];
    while let Some(term) = stack.pop() {
        count += 1;
        if count > limit {
            break;
        }
        term.push_children(&mut stack);
    }
    count
}

/// Whether a definition occurs in a term.
pub(super) fn mentions(term: &core::Term, name: Name) -> bool {
    let mut stack = vec![term];
    while let Some(term) = stack.pop() {
        if matches!(&term.kind, core::TermKind::Global { name: found, .. } if *found == name) {
            return true;
        }
        term.push_children(&mut stack);
    }
    false
}
